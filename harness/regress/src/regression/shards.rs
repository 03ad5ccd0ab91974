//! Several journals of parts of a plan as one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{self, Header, Journal, Line, Reproducer};
use super::outcome::Signature;
use super::plan::{RegressionPlan, Shard};
use super::report::{RegressionReport, buckets};
use super::run::{journal_in, sorted};
use crate::JobError;

/// Merges the regressions in these folders into a journal of the whole plan in `out`, with their reproducers, and reports on it. Cases that none of them has run are missing
/// in it: the regression can be resumed.
///
/// # Errors
/// When a folder has no journal, or one of another plan or other RTL; or `out` cannot be written.
pub fn merge(
    plan: &RegressionPlan,
    folders: &[PathBuf],
    out: &Path,
    options: &[String],
) -> Result<RegressionReport, JobError> {
    let mut all: Vec<Line> = Vec::new();
    let mut first: Option<Header> = None;
    for folder in folders {
        let path = journal_in(folder);
        let wrong = |why: &str| JobError::Input(format!("--merge {}: {why}", folder.display()));
        let (header, lines, _) = journal::read(&path).map_err(|e| wrong(&e.to_string()))?;
        let header = header.ok_or_else(|| wrong("its journal has not begun"))?;
        if header.tier != plan.tier || header.plan != plan.digest() {
            return Err(wrong("it is of another plan, or tier"));
        }
        if first.as_ref().is_some_and(|first| first.rtl != header.rtl) {
            return Err(wrong("its RTL is not that of the others"));
        }
        first.get_or_insert(header);
        // Folders are named from where the shard has them.
        all.extend(lines.into_iter().map(|line| match line {
            Line::Reproducer(Reproducer { folder: Some(below), signature, case }) => {
                Line::Reproducer(Reproducer { folder: Some(folder.join(below)), signature, case })
            }
            other => other,
        }));
    }
    let first = first.ok_or_else(|| JobError::Input("--merge: which folders?".into()))?;
    let (outcomes, candidates) = sorted(all);
    fs::create_dir_all(out).map_err(|e| JobError::Build(format!("cannot make the folder {}: {e}", out.display())))?;
    let mut journal = Journal::create(&journal_in(out), &Header { shard: Shard::WHOLE, ..first })?;
    let runs = || plan.cases.iter().filter_map(|case| Some((case, outcomes.get(&case.id)?)));
    for (_, outcome) in runs() {
        journal.append(&Line::Outcome(Box::new(outcome.clone())))?;
    }
    let mut reproducers = Vec::new();
    for (signature, cases) in buckets(runs()) {
        let of_first = |r: &&Reproducer| r.signature == signature && r.case == cases[0].id;
        let Some(found) = candidates.iter().find(of_first) else { continue };
        let folder = found.folder.as_deref().map(|from| take_over(&signature, from, out)).transpose();
        let folder = folder.map_err(|e| JobError::Build(format!("cannot write in {}: {e}", out.display())))?;
        let reproducer = Reproducer { folder, ..found.clone() };
        journal.append(&Line::Reproducer(reproducer.clone()))?;
        reproducers.push(reproducer);
    }
    Ok(RegressionReport::new(plan, Shard::WHOLE, &outcomes, &reproducers, options))
}

/// Copies a failure folder below `out`; gives its name there.
fn take_over(signature: &Signature, from: &Path, out: &Path) -> io::Result<PathBuf> {
    let name = PathBuf::from("failures").join(signature.folder()).join(from.file_name().unwrap_or_default());
    let to = out.join(&name);
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(name)
}

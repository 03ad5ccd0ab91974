//! Merges the journals of several parts of a plan.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{self, Header, Journal, Line, Reproducer};
use super::outcome::Signature;
use super::plan::{RegressionPlan, Shard};
use super::report::{RegressionReport, buckets};
use super::run::{journal_in, make_folder, sorted};
use crate::JobError;

/// Merges the regressions in these folders into a journal of the whole plan in `out`, with their reproducers, and reports on it. Cases that none of them has run are
/// missing; the merged regression can be resumed to run them.
///
/// # Errors
/// When a folder has no journal, or one of another plan or other RTL; when `out` is one of the folders, or cannot be written.
pub fn merge(
    plan: &RegressionPlan,
    folders: &[PathBuf],
    out: &Path,
    options: &[String],
) -> Result<RegressionReport, JobError> {
    // Otherwise the reproducers in this folder would be lost.
    if let Ok(out) = out.canonicalize()
        && folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| folder == out))
    {
        let why = "--merge: --out has to be another folder than those that are merged";
        return Err(JobError::Input(why.into()));
    }
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
        if first.as_ref().is_some_and(|first| first.kernels != header.kernels) {
            return Err(wrong("its kernels or goldens are not those of the others"));
        }
        first.get_or_insert(header);
        // Failure folders are named relative to the folder of their shard.
        all.extend(lines.into_iter().map(|line| match line {
            Line::Reproducer(Reproducer { folder: Some(below), signature, case }) => {
                Line::Reproducer(Reproducer { folder: Some(folder.join(below)), signature, case })
            }
            other => other,
        }));
    }
    let first = first.ok_or_else(|| JobError::Input("--merge: which folders?".into()))?;
    let (outcomes, candidates) = sorted(all);
    make_folder(out)?;
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

/// Copies a failure folder below `out`; returns its new name.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn header(plan: &RegressionPlan, gpurf_journal: u32) -> Header {
        let [rtl, kernels, program] = ["r", "k", "s"].map(str::to_owned);
        let (tier, plan, shard) = ("smoke".into(), plan.digest(), Shard::WHOLE);
        Header { gpurf_journal, tier, plan, rtl, kernels, program, shard }
    }

    #[test]
    fn a_shard_of_another_format_is_refused_and_leaves_the_folder_as_it_is() {
        let plan = RegressionPlan::of_saxpy();
        let folder = tempfile::tempdir().unwrap();
        let [part, out] = ["part", "out"].map(|name| folder.path().join(name));
        for folder in [&part, &out] {
            fs::create_dir(folder).unwrap();
        }
        let results = out.join(journal::RESULTS);
        fs::write(&results, "before").unwrap();
        let merged = |gpurf_journal: u32| {
            drop(Journal::create(&journal_in(&part), &header(&plan, gpurf_journal)).unwrap());
            merge(&plan, std::slice::from_ref(&part), &out, &[])
        };
        let message = merged(2).unwrap_err().to_string();
        let start = format!("--merge {}: ", part.display());
        assert!(message.starts_with(&start) && message.contains("format 2, not 1"), "{message}");
        assert!(results.exists());
        assert_eq!(merged(journal::VERSION).unwrap().not_run.len(), plan.cases.len());
        assert!(!results.exists() && out.join(journal::EARLIER).exists());
    }

    #[test]
    fn a_folder_is_not_merged_into_itself() {
        let plan = RegressionPlan::of_saxpy();
        let folder = tempfile::tempdir().unwrap();
        let [part, other] = ["part", "other"].map(|name| folder.path().join(name));
        for folder in [&part, &other] {
            fs::create_dir(folder).unwrap();
            drop(Journal::create(&journal_in(folder), &header(&plan, journal::VERSION)).unwrap());
        }
        let before = fs::read(journal_in(&part)).unwrap();
        for out in [part.clone(), folder.path().join("other/../part")] {
            let message = merge(&plan, &[other.clone(), part.clone()], &out, &[]).unwrap_err().to_string();
            assert_eq!(message, "--merge: --out has to be another folder than those that are merged");
        }
        assert_eq!(fs::read(journal_in(&part)).unwrap(), before);
        assert_eq!(fs::read_dir(&part).unwrap().count(), 1, "nothing but its journal");
    }
}

//! Merges the journals of several parts of a plan.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{self, Header, Journal, Line, Reproducer};
use super::outcome::{CaseOutcome, Signature};
use super::plan::{RegressionPlan, Shard};
use super::report::{RegressionReport, buckets};
use super::run::{journal_in, make_folder, sorted};
use crate::JobError;

/// Merges the regressions in these folders into a journal of the whole plan in `out`, with their reproducers, and reports on it. Cases that none of them has run are
/// missing; the merged regression can be resumed to run them. `rtl` is the digest of the RTL that `options` name.
///
/// # Errors
/// When a folder has no journal, or one of another plan or other RTL; when two of them have different results of one case; when `out` is one of the
/// folders, or cannot be written.
pub fn merge(
    plan: &RegressionPlan,
    folders: &[PathBuf],
    out: &Path,
    rtl: &str,
    options: &[String],
) -> Result<RegressionReport, JobError> {
    // Otherwise the reproducers in this folder would be lost.
    if let Ok(out) = out.canonicalize()
        && folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| folder == out))
    {
        let why = "--merge: --out has to be another folder than those that are merged";
        return Err(JobError::Input(why.into()));
    }
    let mut outcomes: BTreeMap<String, CaseOutcome> = BTreeMap::new();
    let mut candidates: Vec<Reproducer> = Vec::new();
    let mut first: Option<Header> = None;
    for folder in folders {
        let path = journal_in(folder);
        let wrong = |why: &str| JobError::Input(format!("--merge {}: {why}", folder.display()));
        let (header, lines, _) = journal::read(&path).map_err(|e| wrong(&e.to_string()))?;
        let header = header.ok_or_else(|| wrong("its journal has not begun"))?;
        if header.tier != plan.tier || header.plan != plan.digest() {
            return Err(wrong("it is of another plan, or tier"));
        }
        if header.rtl != rtl {
            return Err(wrong("its RTL is not that of this checkout and these options: name its --rtl and --rtl-list"));
        }
        if first.as_ref().is_some_and(|first| first.kernels != header.kernels) {
            return Err(wrong("its kernels or goldens are not those of the others"));
        }
        first.get_or_insert(header);
        let (found, reproducers) = sorted(lines);
        for (case, outcome) in found {
            match outcomes.get(&case) {
                Some(other) if other.is_final() && outcome.is_final() && other.result != outcome.result => {
                    let (other, own) = (other.result.word(), outcome.result.word());
                    return Err(wrong(&format!("its result of {case} is {own}, that of another folder is {other}")));
                }
                Some(other) if other.is_final() || !outcome.is_final() => {}
                _ => _ = outcomes.insert(case, outcome),
            }
        }
        // Failure folders are named relative to the folder of their shard.
        candidates.extend(
            reproducers.into_iter().map(|reproducer| Reproducer {
                folder: reproducer.folder.map(|below| folder.join(below)),
                ..reproducer
            }),
        );
    }
    let first = first.ok_or_else(|| JobError::Input("--merge: which folders?".into()))?;
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
    copy_folder(from, &to)?;
    Ok(name)
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?
        } else {
            fs::copy(entry.path(), to).map(drop)?
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gpurf_lockstep::Verdict;

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
            merge(&plan, std::slice::from_ref(&part), &out, "r", &[])
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
            let message = merge(&plan, &[other.clone(), part.clone()], &out, "r", &[]).unwrap_err().to_string();
            assert_eq!(message, "--merge: --out has to be another folder than those that are merged");
        }
        assert_eq!(fs::read(journal_in(&part)).unwrap(), before);
        assert_eq!(fs::read_dir(&part).unwrap().count(), 1, "nothing but its journal");
    }

    #[test]
    fn a_case_with_two_results_is_refused_in_either_order_and_one_without_takes_the_others() {
        let plan = RegressionPlan::of_saxpy();
        let case = &plan.cases[0];
        let folder = tempfile::tempdir().unwrap();
        let [pass, failed, broken, out] = ["pass", "failed", "broken", "out"].map(|name| folder.path().join(name));
        let not_built = CaseOutcome::refused(case, &JobError::Build("no compiler".into()));
        for (folder, outcome) in [
            (&pass, CaseOutcome::new(case, Verdict::Pass, "")),
            (&failed, CaseOutcome::new(case, Verdict::GoldenChanged, "cycles 1 -> 2")),
            (&broken, not_built),
        ] {
            fs::create_dir(folder).unwrap();
            let mut journal = Journal::create(&journal_in(folder), &header(&plan, journal::VERSION)).unwrap();
            journal.append(&Line::Outcome(Box::new(outcome))).unwrap();
        }
        let merged = |folders: [&PathBuf; 2], rtl| merge(&plan, &folders.map(Clone::clone), &out, rtl, &[]);
        for (folders, own, other) in
            [([&pass, &failed], "golden_changed", "pass"), ([&failed, &pass], "pass", "golden_changed")]
        {
            let message = merged(folders, "r").unwrap_err().to_string();
            let expected = format!("its result of {} is {own}, that of another folder is {other}", case.id);
            assert_eq!(message, format!("--merge {}: {expected}", folders[1].display()));
        }
        for folders in [[&failed, &broken], [&broken, &failed]] {
            assert_eq!(merged(folders, "r").unwrap().runs[0].outcome.result, Verdict::GoldenChanged);
        }
        let message = merged([&pass, &pass], "other").unwrap_err().to_string();
        assert!(message.contains("its RTL is not that of this checkout and these options"), "{message}");
    }
}

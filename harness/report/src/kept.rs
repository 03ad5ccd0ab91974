//! Results of runs on disk: an interrupted report resumes where it stopped.
//!
//! Each run has a file of its own, which is written atomically. Its name is a digest of everything that decides the result: the program with its
//! models, kernel, configuration. The file repeats this text and has a digest of the result. A damaged or foreign file therefore does not count as a
//! result, and the run is repeated.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gpurf_regress::files;
use gpurf_regress::golden::digest_of;
use serde::{Deserialize, Serialize};

use crate::sweep::Outcome;

/// A folder with the results of runs.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    /// Digest of the program.
    program: String,
    /// Whether existing results are ignored.
    fresh: bool,
    /// The error of the first result that could not be written.
    unwritten: Mutex<Option<String>>,
}

/// Contents of a file.
#[derive(Serialize, Deserialize)]
struct Record<'a> {
    /// The text of everything that decides the result.
    key: Cow<'a, str>,
    /// Digest of the result.
    digest: String,
    result: Cow<'a, Outcome>,
}

impl Kept {
    /// Results in this folder, of the program with this digest. If `fresh`, existing results are not read.
    pub fn new(folder: PathBuf, program: String, fresh: bool) -> Self {
        Self { folder, program, fresh, unwritten: Mutex::default() }
    }

    /// The folder of the results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The error of the first result that could not be written.
    pub fn unwritten(&self) -> Option<String> {
        self.unwritten.lock().expect("no panic with the lock").clone()
    }

    /// The text of everything that decides the result of a run.
    pub(crate) fn key(&self, run: &str) -> String {
        format!("program {}, {run}", self.program)
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}.json", digest_of(key.as_bytes())))
    }

    /// The stored result of a run, if there is a valid one.
    pub(crate) fn read(&self, key: &str) -> Option<Outcome> {
        if self.fresh {
            return None;
        }
        let bytes = fs::read(self.file(key)).ok()?;
        let record: Record<'_> = serde_json::from_slice(&bytes).ok()?;
        (record.key == key && record.digest == digest(&record.result)).then(|| record.result.into_owned())
    }

    /// Stores a result.
    pub(crate) fn write(&self, key: &str, result: &Outcome) {
        let record = Record { key: key.into(), digest: digest(result), result: Cow::Borrowed(result) };
        let bytes = serde_json::to_vec(&record).map_err(io::Error::from);
        if let Err(error) = bytes.and_then(|bytes| files::write_below(&self.file(key), &bytes)) {
            let folder = self.folder.display();
            let mut unwritten = self.unwritten.lock().expect("no panic with the lock");
            unwritten.get_or_insert_with(|| format!("cannot write to {folder}: {error}"));
        }
    }
}

fn digest(result: &Outcome) -> String {
    digest_of(&serde_json::to_vec(result).expect("words, numbers and maps of them are JSON"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use gpurf_launch::{Manifest, Source};
    use gpurf_oracle::host::assembled;

    use super::*;
    use crate::follow::{Flushed, FollowedCache};
    use crate::{Code, Ended, Kernel, Point, RunName, Size, SweepPlan, Watcher, sweep};

    /// Adds the thread index to each word of a file.
    const MANIFEST: &str = r#"
kernel = "sums"
grid = [1, 1, 1]
block = [32, 1, 1]
[assembly]
name = "sums"
registers = 6
code = """
    S2R.TID.X R0
    LDC.B32 R2, [RZ]
    SHL R3, R0, 2
    IADD R2, PT, R2, R3, !PT
    LD.GLOBAL.B32 R4, [R2]
    IADD R5, PT, R4, R0, !PT
    ST.GLOBAL.B32 [R2], R5
    EXIT
"""
[[arg]]
buffer = { name = "data", type = "u32", len = 32, init = { file = "data.bin" }, output = true }
"#;

    fn kernel(folder: &Path, manifest: &str) -> Kernel {
        let file = folder.join("sums.toml");
        fs::write(&file, manifest).unwrap();
        let manifest = Manifest::load(&file).unwrap();
        let Source::Assembly(assembly) = &manifest.source else { panic!("it has its code") };
        let image = assembled(&manifest, assembly).unwrap();
        let (name, path) = ("sums".to_owned(), "sums.toml".to_owned());
        Kernel { name, path, image, ptx: None, manifest, code: Code::PTX, size: Size::Own, data: None, sample: None }
    }

    /// A temporary folder with the data file.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("data.bin"), [1; 128]).unwrap();
        folder
    }

    /// One run of each kind, and two runs of the model.
    fn plan() -> SweepPlan {
        let mut plan = SweepPlan::default();
        plan.usage();
        plan.some_levels(true);
        plan.cache(FollowedCache { entries: 6, live: true, flushed: Flushed::Leaving });
        plan.point(Point::preset("baseline"));
        plan.point(Point::preset("mrf-1r1w").with("mrf.banks=8"));
        plan
    }

    fn kept(folder: &Path) -> Kept {
        Kept::new(folder.join("runs"), "program".into(), false)
    }

    /// Records which runs are made and how many are skipped, and stops the sweep after `until` made runs.
    struct Watched {
        made: Mutex<BTreeSet<String>>,
        kept: Mutex<usize>,
        until: usize,
        stop: &'static AtomicBool,
    }

    impl Watcher for Watched {
        fn begin(&self, _: usize, name: &RunName) {
            assert!(self.made.lock().unwrap().insert(name.to_string()));
        }

        fn end(&self, _: usize, _: &RunName, how: Ended<'_>) {
            *self.kept.lock().unwrap() += usize::from(matches!(how, Ended::Kept));
            if self.made.lock().unwrap().len() == self.until {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Sweeps the plan until `until` runs are made. Returns the results, the names of the runs made, and the number of stored results used.
    fn ran(kernel: &Kernel, plan: &SweepPlan, kept: &Kept, until: usize) -> (String, BTreeSet<String>, usize) {
        let stop: &'static AtomicBool = Box::leak(Box::default());
        let watched = Watched { made: Mutex::default(), kept: Mutex::default(), until, stop };
        let kernels = [kernel.clone()];
        let results = sweep(plan, &kernels, 1, stop, kept, &watched);
        (format!("{results:?}"), watched.made.into_inner().unwrap(), watched.kept.into_inner().unwrap())
    }

    /// The number of runs made.
    fn made(kernel: &Kernel, plan: &SweepPlan, kept: &Kept) -> usize {
        ran(kernel, plan, kept, usize::MAX).1.len()
    }

    #[test]
    fn an_interrupted_sweep_goes_on_where_it_ended() {
        let folder = folder();
        let (kernel, plan, kept) = (kernel(folder.path(), MANIFEST), plan(), kept(folder.path()));
        let apart = Kept::new(folder.path().join("apart"), "program".into(), false);
        let (whole, all, _) = ran(&kernel, &plan, &apart, usize::MAX);
        assert_eq!(all.len(), plan.runs(1));
        for until in 1..=plan.runs(1) {
            let kept = Kept::new(folder.path().join(until.to_string()), "program".into(), false);
            let (part, first, there) = ran(&kernel, &plan, &kept, until);
            assert_eq!((first.len(), there, part == whole), (until, 0, until == plan.runs(1)));
            let (again, second, there) = ran(&kernel, &plan, &kept, usize::MAX);
            assert_eq!((there, again == whole), (until, true));
            assert!(first.is_disjoint(&second) && first.union(&second).eq(&all));
        }
        // A fresh sweep makes all runs, and stores them.
        assert_eq!(made(&kernel, &plan, &kept), 3);
        let fresh = Kept { fresh: true, ..self::kept(folder.path()) };
        assert_eq!((made(&kernel, &plan, &fresh), made(&kernel, &plan, &kept)), (3, 0));
    }

    #[test]
    fn a_damaged_or_foreign_file_is_no_result() {
        let folder = folder();
        let (kernel, plan, kept) = (kernel(folder.path(), MANIFEST), plan(), kept(folder.path()));
        let whole = ran(&kernel, &plan, &kept, usize::MAX).0;
        let mut files: Vec<PathBuf> = fs::read_dir(&kept.folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        for (place, (file, bytes)) in files.iter().zip(&contents).enumerate() {
            let foreign = &contents[(place + 1) % contents.len()];
            let at = bytes.iter().rposition(u8::is_ascii_digit).unwrap();
            let mut wrong = bytes.clone();
            wrong[at] = if wrong[at] == b'1' { b'2' } else { b'1' };
            for damaged in [&b""[..], &bytes[..bytes.len() / 2], b"{}", b"\xff", foreign, &wrong] {
                fs::write(file, damaged).unwrap();
                let (again, second, there) = ran(&kernel, &plan, &kept, usize::MAX);
                // Of the counts made in one run on the oracle, those that are stored are not made again.
                assert_eq!((second.len(), there), (1, plan.runs(1) - 1), "{}", String::from_utf8_lossy(damaged));
                assert_eq!((again == whole, &fs::read(file).unwrap()), (true, bytes));
            }
        }
    }

    #[test]
    fn what_decides_a_result_is_another_run_when_it_changes() {
        let folder = folder();
        let (first, plan) = (kernel(folder.path(), MANIFEST), plan());
        let here = kept(folder.path());
        assert_eq!((made(&first, &plan, &here), made(&first, &plan, &here)), (3, 0));
        // A change of the code, a number of the manifest, the contents of a file, or the program makes new runs.
        let code = kernel(folder.path(), &MANIFEST.replace("R4, R0, !PT", "R4, 7, !PT"));
        let grid = kernel(folder.path(), &MANIFEST.replace("grid = [1", "grid = [2"));
        for changed in [&code, &grid] {
            assert_eq!((made(changed, &plan, &here), made(changed, &plan, &here)), (3, 0));
        }
        // Compiler options that do not change the code make no new run. A sample changes only the runs of the model, as does another sample.
        let tree = Code::PTX.with_setting("compiler.schedule=tree").unwrap();
        assert_eq!(made(&Kernel { code: tree, ..first.clone() }, &plan, &here), 0);
        for sample in [Some(1000), Some(2000)] {
            let sampled = Kernel { sample, ..first.clone() };
            assert_eq!((made(&sampled, &plan, &here), made(&sampled, &plan, &here)), (2, 0));
        }
        let other = Kept::new(here.folder.clone(), "another program".into(), false);
        assert_eq!((made(&first, &plan, &other), made(&first, &plan, &here)), (3, 0));
        fs::write(folder.path().join("data.bin"), [2; 128]).unwrap();
        assert_eq!((made(&first, &plan, &here), made(&first, &plan, &here)), (3, 0));
        // Another configuration, other compiler options and another cache are new runs.
        let mut changed = SweepPlan::default();
        changed.point(Point::preset("baseline").with("sm.scheduler=round_robin"));
        changed.some_levels(false);
        changed.cache(FollowedCache { entries: 6, live: false, flushed: Flushed::Leaving });
        assert_eq!((made(&first, &changed, &here), made(&first, &changed, &here)), (2, 0));
    }

    #[test]
    fn one_machine_of_two_names_is_run_once() {
        let folder = folder();
        let (kernel, here) = (kernel(folder.path(), MANIFEST), kept(folder.path()));
        let (plain, same) = (Point::preset("baseline"), Point::preset("baseline").with("mrf.banks=16"));
        let mut plan = SweepPlan::default();
        [plain.clone(), same.clone()].into_iter().for_each(|point| plan.point(point));
        let stop: &'static AtomicBool = Box::leak(Box::default());
        let watched = Watched { made: Mutex::default(), kept: Mutex::default(), until: usize::MAX, stop };
        let kernels = [kernel];
        let results = sweep(&plan, &kernels, 1, stop, &here, &watched);
        assert_eq!((plan.runs(1), watched.made.into_inner().unwrap().len()), (1, 1));
        let cycles = |point: &Point| results.each(point, |run| run.cycles as f64).unwrap();
        assert_eq!(cycles(&plain), cycles(&same));
        assert!(cycles(&plain)["sums"] > 0.0);
    }

    #[test]
    fn a_folder_that_takes_no_file_is_told_and_no_run_is_lost() {
        let folder = folder();
        let (kernel, plan, here) = (kernel(folder.path(), MANIFEST), plan(), kept(folder.path()));
        let whole = ran(&kernel, &plan, &here, usize::MAX).0;
        assert_eq!(here.unwritten(), None);
        let none = Kept::new(folder.path().join("sums.toml"), "program".into(), false);
        assert_eq!(ran(&kernel, &plan, &none, usize::MAX), (whole, ran(&kernel, &plan, &none, usize::MAX).1, 0));
        assert!(none.unwritten().unwrap().contains("sums.toml"));
    }
}

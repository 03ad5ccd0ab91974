//! The journal: one line for each completed case, written to disk before the next case of the same worker begins.
//!
//! A process that is killed leaves complete lines and at most one incomplete line at the end, which is cut off. So everything in the journal has been done,
//! and everything else is run again.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::outcome::{CaseOutcome, Signature};
use super::plan::Shard;
use crate::JobError;

/// The first line: describes the regression. It can be resumed only if all of this is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub gpurf_journal: u32,
    /// The tier.
    pub tier: String,
    /// Digest of the plan.
    pub plan: String,
    /// Digest of the RTL.
    pub rtl: String,
    /// Digest of kernels and goldens.
    #[serde(default)]
    pub kernels: String,
    /// Digest of the program, with its models.
    pub program: String,
    /// The part of the plan that is run.
    pub shard: Shard,
}

/// The version that is written and read.
pub const VERSION: u32 = 1;

/// File name of the results, next to the journal.
pub const RESULTS: &str = "results.json";
/// File name of the previous run's results, with which this run is compared.
pub const EARLIER: &str = "earlier.json";

/// A case that represents its bucket, run again and shrunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproducer {
    /// The bucket.
    pub signature: Signature,
    /// The case.
    pub case: String,
    /// Its failure folder, below the folder of the regression; `None` if the failure leaves no folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
}

/// Any line after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A case has ended.
    Outcome(Box<CaseOutcome>),
    /// A bucket has its reproducer.
    Reproducer(Reproducer),
}

/// An open journal, locked against other processes.
pub struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Journal {
    /// Creates a journal. An existing journal and its results are kept under other names.
    ///
    /// # Errors
    /// When another process writes to it, or the disk cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JobError> {
        // An error up to here has changed nothing on disk.
        let old = open(path)?;
        let before = path.with_extension("before.jsonl");
        for (from, to) in [(path.with_file_name(RESULTS), path.with_file_name(EARLIER)), (path.to_owned(), before)] {
            match fs::rename(from, &to) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cannot_write(&to, &e)),
                _ => {}
            }
        }
        drop(old);
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(path);
        let file = file.map_err(|e| cannot_write(path, &e))?;
        lock(&file, path)?;
        let mut journal = Self { path: path.to_owned(), file, length: 0 };
        journal.append(header)?;
        Ok(journal)
    }

    /// Resumes a journal and returns what has been done. If there is none, creates one.
    ///
    /// # Errors
    /// When it belongs to another regression, is damaged before its end, or another process writes to it.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Vec<Line>), JobError> {
        let Some(file) = open(path)? else {
            return Ok((Self::create(path, header)?, Vec::new()));
        };
        let (found, lines, length) = read(path)?;
        let Some(found) = found else {
            drop(file);
            return Ok((Self::create(path, header)?, Vec::new()));
        };
        if let Some(what) = differs(&found, header) {
            return Err(JobError::Input(format!("--resume: {}: {what}", path.display())));
        }
        let journal = Self { path: path.to_owned(), file, length };
        journal.file.set_len(length).map_err(|e| cannot_add(path, &e))?;
        Ok((journal, lines))
    }

    /// Appends a line. When this returns, either the whole line is on disk or nothing of it.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn append(&mut self, line: &impl Serialize) -> Result<(), JobError> {
        let mut text = serde_json::to_string(line).expect("words, numbers and maps of them are JSON");
        text.push('\n');
        let at = self.length;
        let mut write = || {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.write_all(text.as_bytes())?;
            self.file.sync_data()
        };
        if let Err(error) = write() {
            // An incomplete line would be cut off by the next reader; it is better to remove it now.
            let _ = self.file.set_len(at);
            return Err(if at == 0 { cannot_write(&self.path, &error) } else { cannot_add(&self.path, &error) });
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> JobError {
    JobError::Build(format!("cannot write {}: {error}", path.display()))
}

/// The same error for a journal that already has lines.
fn cannot_add(path: &Path, error: &io::Error) -> JobError {
    JobError::Build(format!(
        "cannot write {}: {error}; its lines are whole, and --resume continues after them",
        path.display()
    ))
}

/// Opens an existing journal, unless another process writes to it.
fn open(path: &Path) -> Result<Option<File>, JobError> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => lock(&file, path).map(|()| Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::IsADirectory => {
            Err(JobError::Input(format!("{} is a folder, not a journal: choose another --out", path.display())))
        }
        Err(e) => Err(cannot_write(path, &e)),
    }
}

fn lock(file: &File, path: &Path) -> Result<(), JobError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let folder = path.parent().unwrap_or(path).display();
            Err(JobError::Input(format!("another regression is under way in {folder}: choose another --out")))
        }
        Err(TryLockError::Error(e)) => Err(cannot_write(path, &e)),
    }
}

/// Why a journal cannot be resumed.
fn differs(found: &Header, wanted: &Header) -> Option<String> {
    let other = |what: &str, found: &dyn Display, wanted: &dyn Display| {
        format!("the folder is of {what} {found}, not {wanted}: choose its --out")
    };
    if found.tier != wanted.tier {
        return Some(other("tier", &found.tier, &wanted.tier));
    }
    if found.shard != wanted.shard {
        return Some(other("shard", &found.shard, &wanted.shard));
    }
    let changed = [
        (found.plan != wanted.plan, "plan"),
        (found.rtl != wanted.rtl, "RTL"),
        (found.kernels != wanted.kernels, "kernels or goldens"),
        (found.program != wanted.program, "program"),
    ];
    let (_, what) = changed.into_iter().find(|(differs, _)| *differs)?;
    let have = if what.contains(" or ") { "have" } else { "has" };
    Some(format!("the {what} {have} changed since this regression began; start anew without --resume"))
}

/// The part of the first line that all versions of the format have in common.
#[derive(Deserialize)]
struct Format {
    gpurf_journal: u32,
}

/// Reads a journal: its header, if it is complete, its lines, and the length of the complete part.
///
/// # Errors
/// When it cannot be read, has another format, or is damaged before its end.
pub fn read(path: &Path) -> Result<(Option<Header>, Vec<Line>, u64), JobError> {
    let bytes = fs::read(path).map_err(|e| JobError::Input(format!("{}: {e}", path.display())))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let wrong = |number: usize, why: &str| JobError::Input(format!("{}:{number}: {why}", path.display()));
    let damaged = |number: usize, e: serde_json::Error| {
        // The message ends with a line number of its own, which is always 1: it is cut off.
        let why = e.to_string();
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
        wrong(number, &format!("this is no line of a journal: {why}"))
    };
    let (mut header, mut lines) = (None, Vec::new());
    for (index, text) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let number = index + 1;
        if index == 0 {
            let Format { gpurf_journal } = serde_json::from_slice(text).map_err(|e| damaged(number, e))?;
            if gpurf_journal != VERSION {
                let why = "use the version of gpurf that wrote it, or run its cases again";
                return Err(wrong(number, &format!("a journal of format {gpurf_journal}, not {VERSION}: {why}")));
            }
            header = Some(serde_json::from_slice(text).map_err(|e| damaged(number, e))?);
            continue;
        }
        let line = serde_json::from_slice(text).map_err(|e| damaged(number, e))?;
        if let Line::Outcome(outcome) = &line {
            let times = [("wall_s", outcome.wall_s), ("build_s", outcome.build_s)];
            if let Some((key, _)) = times.iter().find(|(_, s)| Duration::try_from_secs_f64(*s).is_err()) {
                return Err(wrong(number, &format!("{key} is no time")));
            }
        }
        lines.push(line);
    }
    Ok((header, lines, whole as u64))
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;
    use gpurf_lockstep::Verdict;

    use super::super::case::{Case, Work};
    use super::*;

    fn header() -> Header {
        let [plan, rtl, kernels, program] = ["p", "r", "k", "s"].map(str::to_owned);
        Header { gpurf_journal: VERSION, tier: "smoke".into(), plan, rtl, kernels, program, shard: Shard::WHOLE }
    }

    fn line(seed: u64) -> Line {
        let case = Case::new(&Config::default(), seed, Work::Block { block: "alu".into(), cycles: 1 }, 1);
        Line::Outcome(Box::new(CaseOutcome::new(&case, Verdict::Pass, "")))
    }

    #[test]
    fn a_journal_that_is_cut_anywhere_keeps_every_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::create(&path, &header()).unwrap();
        for seed in 0..3 {
            journal.append(&line(seed)).unwrap();
        }
        drop(journal);
        let whole = fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').collect();
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, lines) = Journal::resume(&path, &header()).unwrap();
            let expected = ends.iter().filter(|&&end| end < length).count().saturating_sub(1);
            assert_eq!(lines, (0..expected as u64).map(line).collect::<Vec<_>>(), "{length}");
            journal.append(&line(9)).unwrap();
            drop(journal);
            let again = Journal::resume(&path, &header()).unwrap().1;
            assert_eq!((again.len(), again.last()), (expected + 1, Some(&line(9))));
        }
    }

    #[test]
    fn another_plan_or_another_process_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = Journal::create(&path, &header()).unwrap();
        let message = |result: Result<(Journal, Vec<Line>), JobError>| result.err().unwrap().to_string();
        assert!(message(Journal::resume(&path, &header())).starts_with("another regression is under way"));
        drop(first);
        let other = Header { plan: "q".into(), ..header() };
        assert!(message(Journal::resume(&path, &other)).contains("the plan has changed since"));
        let other = Header { kernels: "l".into(), ..header() };
        assert!(message(Journal::resume(&path, &other)).contains("the kernels or goldens have changed since"));
        let of = |what: &str| format!("--resume: {}: the folder is of {what}: choose its --out", path.display());
        let other = Header { shard: Shard { index: 2, count: 3 }, ..header() };
        assert_eq!(message(Journal::resume(&path, &other)), of("shard 1/1, not 2/3"));
        let other = Header { tier: "nightly".into(), ..header() };
        assert_eq!(message(Journal::resume(&path, &other)), of("tier smoke, not nightly"));
        fs::write(&path, format!("{}\nnonsense\n{}\n", "{}", "{}")).unwrap();
        let damaged = message(Journal::resume(&path, &header()));
        assert!(
            damaged.ends_with("journal.jsonl:1: this is no line of a journal: missing field `gpurf_journal`"),
            "{damaged}"
        );
        // A new journal keeps the old one next to it.
        Journal::create(&path, &header()).unwrap();
        assert!(folder.path().join("journal.before.jsonl").exists());
    }

    #[test]
    fn a_time_or_a_format_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let message = |header: &Header, line: &Line| {
            let text = [serde_json::to_string(header).unwrap(), serde_json::to_string(line).unwrap()];
            fs::write(&path, text.join("\n") + "\n").unwrap();
            let message = read(&path).unwrap_err().to_string();
            message.strip_prefix(folder.path().to_str().unwrap()).unwrap().to_owned()
        };
        let Line::Outcome(outcome) = line(1) else { panic!("an outcome") };
        for s in [-1.0, 1e20] {
            let ran = CaseOutcome { wall_s: s, ..*outcome.clone() };
            assert_eq!(message(&header(), &Line::Outcome(Box::new(ran))), "/journal.jsonl:2: wall_s is no time");
            let built = CaseOutcome { build_s: s, ..*outcome.clone() };
            assert_eq!(message(&header(), &Line::Outcome(Box::new(built))), "/journal.jsonl:2: build_s is no time");
        }
        let next = Header { gpurf_journal: 2, ..header() };
        assert!(
            message(&next, &line(1)).starts_with("/journal.jsonl:1: a journal of format 2, not 1: use the version")
        );
    }

    #[test]
    fn results_make_room_for_a_new_journal_and_for_no_one_who_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [path, results, earlier] = ["journal.jsonl", RESULTS, EARLIER].map(|name| folder.path().join(name));
        let first = Journal::create(&path, &header()).unwrap();
        fs::write(&results, "first").unwrap();
        let refusal = Journal::create(&path, &header()).err().unwrap().to_string();
        assert!(refusal.starts_with("another regression is under way"), "{refusal}");
        assert!(results.exists() && !earlier.exists());
        drop(first);
        drop(Journal::resume(&path, &header()).unwrap());
        assert!(results.exists() && !earlier.exists());
        Journal::create(&path, &header()).unwrap();
        assert_eq!((results.exists(), fs::read_to_string(&earlier).unwrap().as_str()), (false, "first"));
    }

    #[test]
    fn a_folder_in_the_place_of_the_journal_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        fs::create_dir(&path).unwrap();
        let results = [Journal::create(&path, &header()).err(), Journal::resume(&path, &header()).err()];
        for error in results.map(Option::unwrap) {
            assert!(matches!(&error, JobError::Input(message) if message.contains("is a folder, not a journal")));
        }
    }

    #[test]
    fn a_disk_that_is_full_is_said() {
        let file = || OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
        let message = |length: u64| {
            let mut journal = Journal { path: "/dev/full".into(), file: file(), length };
            journal.append(&line(1)).unwrap_err().to_string()
        };
        assert!(message(0).starts_with("cannot write /dev/full") && !message(0).contains("--resume"), "{}", message(0));
        assert!(message(9).starts_with("cannot write /dev/full"), "{}", message(9));
        assert!(message(9).ends_with("its lines are whole, and --resume continues after them"), "{}", message(9));
    }
}

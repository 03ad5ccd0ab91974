//! What has been done, line by line: each line reaches the disk before the next case of its worker begins.
//!
//! A process that is killed leaves whole lines and at most one torn one at the end, which is cut off. So what stands in the journal has happened, and what has
//! not is done again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::outcome::{CaseOutcome, Signature};
use super::plan::Shard;
use crate::JobError;

/// The first line: what the journal is about. A regression goes on only where all of it is the same.
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
    /// Digest of the program, with its models.
    pub program: String,
    /// The part of the plan.
    pub shard: Shard,
}

/// The version that is written.
pub const VERSION: u32 = 1;

/// A case that stands for its bucket, run once more and shrunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproducer {
    /// The bucket.
    pub signature: Signature,
    /// The case.
    pub case: String,
    /// Its failure folder, below the folder of the regression; none where it leaves none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
}

/// Any other line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A case has ended.
    Outcome(Box<CaseOutcome>),
    /// A bucket has its reproducer.
    Reproducer(Reproducer),
}

/// An open journal, which no other process writes.
pub struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Journal {
    /// Begins one. The journal that was there is kept beside it.
    ///
    /// # Errors
    /// When another process writes it, or the disk does not take it.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JobError> {
        let cannot = |e: io::Error| cannot_write(path, &e);
        if let Ok(old) = File::open(path) {
            lock(&old, path)?;
            fs::rename(path, path.with_extension("before.jsonl")).map_err(cannot)?;
        }
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(path).map_err(cannot)?;
        lock(&file, path)?;
        let mut journal = Self { path: path.to_owned(), file, length: 0 };
        journal.append(header)?;
        Ok(journal)
    }

    /// Goes on with one; gives what has been done. Where there is none, begins one.
    ///
    /// # Errors
    /// When it is about something else, is damaged before its end, or another process writes it.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Vec<Line>), JobError> {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
            return Ok((Self::create(path, header)?, Vec::new()));
        };
        lock(&file, path)?;
        let (found, lines, length) = read(path)?;
        let Some(found) = found else {
            drop(file);
            return Ok((Self::create(path, header)?, Vec::new()));
        };
        if let Some(what) = differs(&found, header) {
            return Err(JobError::Input(format!(
                "--resume: {}: {what} since this regression began; start anew without --resume",
                path.display()
            )));
        }
        let journal = Self { path: path.to_owned(), file, length };
        journal.file.set_len(length).map_err(|e| cannot_write(path, &e))?;
        Ok((journal, lines))
    }

    /// Adds a line. When this returns, the line is on the disk; or none of it is.
    ///
    /// # Errors
    /// When the disk does not take it.
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
            // Half a line would be cut off by the next one who reads; better it is not there.
            let _ = self.file.set_len(at);
            return Err(cannot_write(&self.path, &error));
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> JobError {
    JobError::Build(format!(
        "cannot write {}: {error}; its lines are whole, and --resume continues after them",
        path.display()
    ))
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

fn differs(found: &Header, wanted: &Header) -> Option<&'static str> {
    [
        (found.gpurf_journal != wanted.gpurf_journal, "the format of journals has changed"),
        (found.tier != wanted.tier, "it is of another tier"),
        (found.shard != wanted.shard, "it is of another shard"),
        (found.plan != wanted.plan, "the plan has changed"),
        (found.rtl != wanted.rtl, "the RTL has changed"),
        (found.program != wanted.program, "the program has changed"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
}

/// Reads a journal: its header, if it has come as far as that, its lines, and the length of what is whole.
///
/// # Errors
/// When it cannot be read or is damaged before its end.
pub fn read(path: &Path) -> Result<(Option<Header>, Vec<Line>, u64), JobError> {
    let bytes = fs::read(path).map_err(|e| JobError::Input(format!("{}: {e}", path.display())))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let damaged = |number: usize, e: serde_json::Error| {
        JobError::Input(format!("{}:{number}: this is no line of a journal: {e}", path.display()))
    };
    let (mut header, mut lines) = (None, Vec::new());
    for (index, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        if index == 0 {
            header = Some(serde_json::from_slice(line).map_err(|e| damaged(1, e))?);
        } else {
            lines.push(serde_json::from_slice(line).map_err(|e| damaged(index + 1, e))?);
        }
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
        let [plan, rtl, program] = ["p", "r", "s"].map(str::to_owned);
        Header { gpurf_journal: VERSION, tier: "smoke".into(), plan, rtl, program, shard: Shard::WHOLE }
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
        fs::write(&path, format!("{}\nnonsense\n{}\n", "{}", "{}")).unwrap();
        assert!(message(Journal::resume(&path, &header())).contains("journal.jsonl:1: this is no line"));
        // A new one keeps the old one beside it.
        Journal::create(&path, &header()).unwrap();
        assert!(folder.path().join("journal.before.jsonl").exists());
    }

    #[test]
    fn a_disk_that_is_full_is_said() {
        let file = OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
        let mut journal = Journal { path: "/dev/full".into(), file, length: 0 };
        let message = journal.append(&line(1)).unwrap_err().to_string();
        assert!(message.contains("cannot write /dev/full") && message.contains("--resume continues"), "{message}");
    }
}

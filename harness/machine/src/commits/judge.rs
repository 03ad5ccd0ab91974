//! The oracle's verdict on a launch.

use std::fmt;
use std::sync::Arc;

use gpurf_blocks::config::Config;
use gpurf_isa::Op;
use gpurf_isa::image::Kernel;
use gpurf_launch::{Cause, ExpectedFault};
use gpurf_oracle::host::{KernelLaunch, ReportedFault};
use gpurf_oracle::{
    CodeError, Fault, FaultKind, Geometry, Launch, Memory, Observer, Oracle, Program, Recording, commutes,
};

use super::observed::Observed;
use super::sequences::{Key, Sequences, Write, Writes};
use super::tracker::Tracker;
use crate::counts::{Counts, Executed, Followed, Miscount, Watched};
use crate::cycle::Cycle;
use crate::fault::MachineFault;
use crate::job::Job;

/// Runs the oracle beside the SM.
#[derive(Default)]
pub struct Judge {
    oracle: Oracle,
    /// Follows the register file; kept here between launches.
    counts: Option<Counts>,
    /// The program of the last kernel, kept because the same kernel is usually launched again.
    program: Option<(Kernel, Arc<Program>)>,
}

/// A launch in progress, as the judge follows it.
pub struct Case<'a> {
    kernel: &'a str,
    program: Arc<Program>,
    geometry: Geometry,
    constant: &'a [u8],
    before: Memory,
    /// The fault with which the launch is expected to end; `None` if it is expected to complete.
    fault: Option<ExpectedFault>,
    /// Whether the launch is expected not to fit: the SM cannot hold even one of its blocks.
    misfit: bool,
    /// The oracle's results; present if they do not depend on the order of atomic operations or on the time.
    expected: Option<Expected>,
    /// Follows the SM; `None` after the launch has ended.
    tracker: Option<Tracker<Sequences>>,
    /// Follows the SM's register file, if it is one whose events are counted by a replay.
    followed: Option<Followed>,
}

/// The oracle's results.
struct Expected {
    writes: Sequences,
    /// The executed instructions, if the register file is followed.
    executed: Option<Executed>,
    memory: Memory,
}

/// The verdict on a launch.
#[derive(Clone, PartialEq, Debug)]
pub enum Judgement {
    /// The SM committed what the oracle commits.
    Equal {
        /// Writes of warps to registers, predicates and memory.
        writes: u64,
        /// Number of event sums that the replay confirms.
        counts: u64,
    },
    /// There are differences, but blocks of this launch see each other's plain stores, so values depend on when each block runs; and no reason existed
    /// to record the SM's order of accesses.
    Undecided,
    /// The SM is wrong.
    Wrong(Mismatch),
}

/// A difference between the SM and the oracle.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("kernel {kernel}: the SM does not do what the oracle says: {difference}{}", explained(.undefined.as_deref()))]
pub struct Mismatch {
    /// The kernel.
    pub kernel: String,
    /// What differs.
    pub difference: Difference,
    /// The first read of a value that the thread has not written, if the program has one: on the SM such a value is arbitrary.
    pub undefined: Option<String>,
}

/// A note that a difference may not be the SM's fault.
fn explained(undefined: Option<&str>) -> String {
    undefined.map_or(String::new(), |read| {
        format!("; the program may be the cause, as it uses a value that is zero to the oracle and anything to the SM: {read}")
    })
}

/// What differs.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// A sequence of writes.
    Writes {
        /// The warp that writes, and the target.
        key: Key,
        /// The block's coordinates.
        block: [u32; 3],
        /// Number of writes by the SM.
        sm: u32,
        /// Number of writes by the oracle.
        oracle: u32,
        /// The first that differs, if a second run of the model shows it.
        first: Option<First>,
    },
    /// Memory at the end of the launch; all commits are equal.
    Memory {
        /// The buffer.
        buffer: String,
        /// Offset in bytes of the word in the buffer.
        at: usize,
        /// The SM's word.
        sm: u32,
        /// The oracle's word.
        oracle: u32,
    },
    /// The recorded order of memory accesses, or the times that were read, do not fit the program.
    Order(String),
    /// The register file's events do not count what was done; commits and memory are equal, or their comparison is undecided.
    Counts(Miscount),
    /// The SM ends with a fault, and the oracle does not.
    Fault(String),
    /// The SM completes the launch, and the oracle stops with the expected fault.
    NoFault(String),
    /// Both end with a fault, but the faults differ.
    OtherFault {
        /// The SM's.
        sm: String,
        /// The oracle's.
        oracle: String,
    },
}

/// The first write of a sequence that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct First {
    /// Index of the write, from 0.
    pub index: usize,
    /// The first lane that differs; `None` if one side has no such write.
    pub lane: Option<usize>,
    /// The SM's write, as text.
    pub sm: String,
    /// The oracle's write, as text.
    pub oracle: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writes { key, block: [x, y, z], sm, oracle, first } => {
                write!(f, "block ({x}, {y}, {z}), warp {}, {}: ", key.warp.warp, key.kind)?;
                match first {
                    Some(First { index, lane, sm, oracle }) => {
                        write!(f, "write {index}")?;
                        if let Some(lane) = lane {
                            write!(f, ", lane {lane}")?;
                        }
                        write!(f, ": SM {sm}, oracle {oracle}")
                    }
                    None if sm != oracle => write!(f, "{sm} writes of the SM, {oracle} of the oracle"),
                    None => write!(f, "one of {sm} writes differs; a second run of the model does not show which"),
                }
            }
            Self::Memory { buffer, at, sm, oracle } => {
                write!(f, "buffer `{buffer}`, byte {at}: SM {sm:#010x}, oracle {oracle:#010x}, while all commits agree")
            }
            Self::Order(fault) => {
                write!(f, "the order of its accesses to memory or the times that it has read do not fit: {fault}")
            }
            Self::Counts(miscount) => miscount.fmt(f),
            Self::Fault(fault) => write!(f, "it stops, and the oracle does not: {fault}"),
            Self::NoFault(fault) => write!(f, "it comes to its end, and the oracle stops: {fault}"),
            Self::OtherFault { sm, oracle } => {
                write!(f, "it stops with another fault: {sm}; the oracle says: {oracle}")
            }
        }
    }
}

/// Whether the oracle has to replay the SM's order: the order of atomic operations is visible (a result is used, or they do not
/// commute), or the time is read. Then loads and stores are replayed in the SM's order too: a load may race with an atomic operation of another warp.
fn is_replayed(kernel: &Kernel) -> bool {
    kernel.code.iter().any(|instruction| match instruction.op {
        op if op.reads_time() => true,
        Op::Atom { operation, .. } => instruction.destination().is_some() || !commutes(operation),
        Op::Cas { .. } => true,
        _ => false,
    })
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The code of the image is not a valid program.
    #[error(transparent)]
    Program(#[from] CodeError),
    /// The program breaks a rule of the oracle.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

impl Judge {
    /// A judge with this oracle, for an SM that has just been reset.
    pub fn new(oracle: Oracle, config: &Config) -> Self {
        Self { oracle, counts: Some(Counts::new(config)), program: None }
    }

    /// Called when a launch begins, with memory as it is then. Unless the order of atomic operations is visible, the time is read, or a fault is expected,
    /// the oracle runs the launch first.
    ///
    /// # Errors
    /// When the oracle finds an error of the program.
    pub fn begin<'a>(&mut self, launch: &KernelLaunch<'a>, job: &Job, memory: &Memory) -> Result<Case<'a>, JudgeError> {
        let program = match &self.program {
            Some((kernel, program)) if kernel == launch.kernel => program.clone(),
            _ => {
                let program = Arc::new(Program::new(launch.kernel, launch.source)?);
                self.program = Some((launch.kernel.clone(), program.clone()));
                program
            }
        };
        let replayed = is_replayed(launch.kernel);
        let mut case = Case {
            kernel: &launch.kernel.name,
            program,
            geometry: launch.geometry,
            constant: launch.constant,
            before: memory.clone(),
            fault: launch.fault,
            misfit: job.misfit.is_some(),
            expected: None,
            tracker: Some(Tracker::new(job, Sequences::new(), replayed)),
            followed: self.counts.take().map(|counts| counts.begin(launch.kernel, job)),
        };
        if !replayed && launch.fault.is_none() {
            case.expected = Some(case.expect(&mut self.oracle, None)?);
        }
        Ok(case)
    }

    /// Called when the launch has ended, with memory as it is then. `rerun` runs the launch again on the model, from memory as it was before, and records
    /// the values of one sequence.
    ///
    /// # Errors
    /// When the oracle finds an error of the program.
    pub fn conclude(
        &mut self,
        mut case: Case<'_>,
        after: &Memory,
        rerun: impl FnOnce(Memory, Writes) -> (Writes, Recording),
    ) -> Result<Judgement, JudgeError> {
        let (found, recording) = case.tracker.take().map(Tracker::finish).unwrap_or_default();
        let kernel = case.kernel.to_owned();
        let wrong = |difference, undefined| Ok(Judgement::Wrong(Mismatch { kernel, difference, undefined }));
        let expected = match case.expected.take() {
            Some(expected) => expected,
            None => match case.expect(&mut self.oracle, recording.as_ref()) {
                Ok(expected) => expected,
                Err(fault) if matches!(fault.kind, FaultKind::Replay(_)) => {
                    return wrong(Difference::Order(fault.to_string()), case.undefined(&mut self.oracle));
                }
                Err(fault) => return Err(fault.into()),
            },
        };
        let Expected { writes: expected, executed, memory } = expected;
        if let Some((key, sm, oracle)) = found.difference(&expected) {
            if recording.is_none() && case.is_undecided(&self.oracle) {
                return Ok(self.count(case, None, |_| Judgement::Undecided));
            }
            // The second run has its own order and times, so the oracle executes the launch again too.
            let (mine, again) = rerun(case.before.clone(), Writes::new(key));
            let mut observed = Observed::new(Writes::new(key));
            let ran = case.run(&mut self.oracle, recording.is_some().then_some(&again), &mut observed);
            let first = ran.ok().and_then(|_| first(&mine.writes, &observed.finish().writes));
            let block = case.geometry.block_at(key.warp.block);
            let undefined = case.undefined(&mut self.oracle);
            return wrong(Difference::Writes { key, block, sm, oracle, first }, undefined);
        }
        if let Some(difference) = memory_difference(after, &memory) {
            if recording.is_none() && case.is_undecided(&self.oracle) {
                return Ok(self.count(case, None, |_| Judgement::Undecided));
            }
            return wrong(difference, case.undefined(&mut self.oracle));
        }
        let writes = found.count();
        Ok(self.count(case, executed.as_ref(), |counts| Judgement::Equal { writes, counts }))
    }

    /// The verdict `right` with the number of event sums that the replay confirms, 0 if the register file is not followed; or what is wrong.
    /// `executed`: the instructions that the oracle executed, if it has a verdict.
    fn count(
        &mut self,
        case: Case<'_>,
        executed: Option<&Executed>,
        right: impl FnOnce(u64) -> Judgement,
    ) -> Judgement {
        let Some(followed) = case.followed else { return right(0) };
        let (counts, result) = followed.finish(executed);
        self.counts = Some(counts);
        result.map_or_else(
            |miscount| {
                let (kernel, difference) = (case.kernel.to_owned(), Difference::Counts(miscount));
                Judgement::Wrong(Mismatch { kernel, difference, undefined: None })
            },
            right,
        )
    }

    /// Called when the SM stopped with a fault, or completed although a fault is expected. Returns where the oracle disagrees; `None` if both
    /// stop with the same fault and this fault is expected.
    ///
    /// # Errors
    /// When the SM stops unexpectedly, and the oracle finds an error of the program too.
    pub fn conclude_fault(
        &mut self,
        case: &Case<'_>,
        sm: Option<&MachineFault>,
    ) -> Result<Option<Mismatch>, JudgeError> {
        let oracle = match case.expected {
            Some(_) => None,
            // Any order of atomic operations is good enough to find the error.
            None => case.run(&mut self.oracle, None, &mut gpurf_oracle::Unobserved).err(),
        };
        let difference = match (case.fault, sm, oracle) {
            (None, _, Some(oracle)) => return Err(oracle.into()),
            (_, None, None) => return Ok(None),
            (Some(_), None, Some(oracle)) => Difference::NoFault(oracle.to_string()),
            (Some(_), Some(_), None) if case.misfit => return Ok(None),
            // The oracle does not model pairs of blocks.
            (Some(expected), Some(sm), None) if expected.cause == Cause::Released && sm.is_of(expected.cause) => {
                return Ok(None);
            }
            (_, Some(sm), None) => Difference::Fault(sm.to_string()),
            (Some(expected), Some(sm), Some(oracle)) => match ReportedFault::of_oracle(&oracle) {
                Some(theirs) if is_the_same(&expected, sm, &theirs) => return Ok(None),
                _ => Difference::OtherFault { sm: sm.to_string(), oracle: oracle.to_string() },
            },
        };
        let undefined = case.undefined(&mut self.oracle);
        Ok(Some(Mismatch { kernel: case.kernel.to_owned(), difference, undefined }))
    }
}

/// Whether the oracle's fault is the SM's fault, or the fault that the oracle is expected to find first.
fn is_the_same(expected: &ExpectedFault, sm: &MachineFault, oracle: &ReportedFault) -> bool {
    match expected.oracle {
        Some(cause) => oracle.cause == cause,
        None => sm.reported().is_some_and(|sm| sm.agrees(oracle)),
    }
}

impl Case<'_> {
    /// Observes a cycle of the SM.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        if let Some(tracker) = &mut self.tracker {
            tracker.observe(cycle);
        }
        if let Some(followed) = &mut self.followed {
            followed.observe(cycle);
        }
    }

    /// The oracle's results, with the recorded order of accesses and the recorded times.
    fn expect(&self, oracle: &mut Oracle, recording: Option<&Recording>) -> Result<Expected, Box<Fault>> {
        if self.followed.is_none() {
            let mut observed = Observed::new(Sequences::new());
            let memory = self.run(oracle, recording, &mut observed)?;
            return Ok(Expected { writes: observed.finish(), executed: None, memory });
        }
        let mut watched = Watched::default();
        let memory = self.run(oracle, recording, &mut watched)?;
        let (writes, executed) = watched.finish();
        Ok(Expected { writes, executed: Some(executed), memory })
    }

    fn launch(&self) -> Launch<'_> {
        Launch { program: &self.program, geometry: self.geometry, constant: self.constant }
    }

    /// Runs the oracle from the beginning of the launch; returns the final memory.
    fn run<O: Observer>(
        &self,
        oracle: &mut Oracle,
        recording: Option<&Recording>,
        observer: &mut O,
    ) -> Result<Memory, Box<Fault>> {
        let memory = self.before.clone();
        match recording {
            Some(recording) => oracle.replay(&self.launch(), &memory, recording, observer)?,
            None => oracle.run_observed(&self.launch(), &memory, observer)?,
        };
        Ok(memory)
    }

    /// The first read of a register or of local memory that the thread has not written.
    fn undefined(&self, oracle: &mut Oracle) -> Option<String> {
        let fault = oracle.run_checked(&self.launch(), &self.before.clone()).err()?;
        let is_one = matches!(fault.kind, FaultKind::UndefinedRegister(_) | FaultKind::UndefinedLocal { .. });
        is_one.then(|| fault.to_string())
    }

    /// Whether a difference is inconclusive, because the order of accesses is not known.
    fn is_undecided(&self, oracle: &Oracle) -> bool {
        oracle.blocks_interfere(&self.launch(), &self.before.clone()).unwrap_or(false)
    }
}

/// The first element in which two sequences differ.
fn first(mine: &[Write], theirs: &[Write]) -> Option<First> {
    let common = mine.len().min(theirs.len());
    for (index, (mine, theirs)) in std::iter::zip(mine, theirs).enumerate() {
        if let Some((lane, sm, oracle)) = mine.difference(theirs) {
            return Some(First { index, lane: Some(lane), sm, oracle });
        }
    }
    let word = |writes: &[Write]| (if writes.len() > common { "writes" } else { "does not" }).to_owned();
    (mine.len() != theirs.len()).then(|| First { index: common, lane: None, sm: word(mine), oracle: word(theirs) })
}

/// The first word in which two memories differ.
fn memory_difference(sm: &Memory, oracle: &Memory) -> Option<Difference> {
    use std::sync::atomic::Ordering::Relaxed;
    std::iter::zip(sm.buffers(), oracle.buffers()).find_map(|(mine, theirs)| {
        let mut words = std::iter::zip(mine.words(), theirs.words()).enumerate();
        words.find_map(|(index, (mine_word, their_word))| {
            let (sm, oracle) = (mine_word.load(Relaxed), their_word.load(Relaxed));
            let buffer = || mine.name().to_owned();
            (sm != oracle).then(|| Difference::Memory { buffer: buffer(), at: 4 * index, sm, oracle })
        })
    })
}

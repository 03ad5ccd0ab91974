//! An independent replay that counts what a register file's events count (`docs/machine.md`, "Counts").
//!
//! RTL and twin are written from one page, so their comparison does not find a definition that both misread alike. Here the designs are modelled once more, from
//! the sentences of papers and pages: a list of entries for each warp, the parked values, the contents of a buffer. The instructions, with the registers that they
//! read and write, their lanes and marks, come from the program; the verdict includes a check that each warp sends the oracle's instructions and lanes for operands.
//! The SM supplies only the order of events in time. When a launch ends, the counts have to equal the sums of the event words, field by field.

mod cache;
mod executed;
mod mrf;
mod pairs;
mod power;
mod scratchpad;
mod seen;
mod share;
mod unified;
mod uses;
mod words;

use std::fmt;

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_isa::image::Kernel;
use gpurf_oracle::WarpId;

pub use executed::{Executed, Watched};

use crate::commits::Owners;
use crate::cycle::Cycle;
use crate::job::Job;
use seen::{Seen, Writers};
use uses::Uses;
use words::{Place, Sums, Tally, Word};

/// A register file that is replayed.
trait Replay: Send {
    /// Called when a launch begins.
    fn begin(&mut self, _job: &Job) {}

    /// Observes a cycle.
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally);
}

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// The replay of a design.
        fn replay(organisation: &Organisation, config: &Config) -> Box<dyn Replay> {
            match organisation.design().name {
                $(stringify!($design) => Box::new($design::Replay::new(config)),)+
                _ => Box::new(mrf::Replay::new(config)),
            }
        }
    };
}

gpurf_blocks::each_design!(designs);

/// The event words of a register file that are counted: its own, and the accesses of the main register file that it saves or adds.
fn words_of(organisation: &Organisation) -> Vec<Word> {
    let own = organisation.design().events.iter().enumerate();
    let own = own.map(|(index, &fields)| Word { fields, at: Place::Design(index), only: &[] });
    own.chain([mrf::ACCESSES]).collect()
}

/// The counts of an SM since its reset.
pub struct Counts {
    design: Box<dyn Replay>,
    /// The power states of the registers, if the configuration has them.
    power: Option<power::Replay>,
    /// Register sharing, if the configuration has it.
    share: Option<share::Replay>,
    /// Scratchpad sharing, if the configuration has it.
    scratchpad: Option<scratchpad::Replay>,
    /// The data cache, if the configuration has one.
    cache: Option<cache::Replay>,
    /// Unified memory, if the configuration has it.
    unified: Option<unified::Replay>,
    sums: Sums,
    tally: Tally,
    writers: Writers,
}

/// The counts during a launch.
pub struct Followed {
    counts: Counts,
    uses: Vec<Uses>,
    owners: Owners,
    executed: Executed,
}

/// How the SM's counts differ from what its events should count.
#[derive(Clone, PartialEq, Debug)]
pub enum Miscount {
    /// Sums of event words: name, the SM's sum, the correct sum.
    Events(Vec<(&'static str, u64, u64)>),
    /// A warp does not send the oracle's instructions for operands; with the number of instructions on each side.
    Instructions {
        /// Which warp.
        warp: WarpId,
        /// Number of the SM.
        sm: u32,
        /// Number of the oracle.
        oracle: u32,
    },
    /// The register file does something that its page does not allow.
    Impossible(String),
}

impl fmt::Display for Miscount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events(events) => {
                f.write_str("its event words do not count what was done: ")?;
                for (index, (name, sm, counted)) in events.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{name} is {sm}, counted were {counted}")?;
                }
                Ok(())
            }
            Self::Instructions { warp: WarpId { block, warp }, sm, oracle } => {
                write!(f, "block {block}, warp {warp}: ")?;
                match sm == oracle {
                    true => write!(f, "one of {sm} instructions differs, or its lanes"),
                    false => write!(f, "{sm} instructions of the SM, {oracle} of the oracle"),
                }
            }
            Self::Impossible(what) => write!(f, "its register file does what it may not do: {what}"),
        }
    }
}

impl Counts {
    /// Counts for an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        let organisation = Organisation::of(config);
        let (design, power, share) =
            (replay(&organisation, config), power::Replay::new(config), share::Replay::new(config));
        let of_power = if power.is_some() { power::WORDS } else { &[] };
        let scratchpad = scratchpad::Replay::new(config);
        let of_share = match (&share, &scratchpad) {
            (Some(_), _) => share::WORDS,
            (None, Some(_)) => scratchpad::WORDS,
            (None, None) => &[],
        };
        let cache = cache::Replay::new(config);
        let of_cache = if cache.is_some() { cache::WORDS } else { &[] };
        let unified = unified::Replay::new(config);
        let of_unified = if unified.is_some() { unified::WORDS } else { &[] };
        let others = of_power.iter().chain(of_share).chain(of_cache).chain(of_unified).copied();
        let words = words_of(&organisation).into_iter().chain(others);
        let words: Vec<Word> = words.collect();
        let (sums, tally, writers) = (Sums::new(&words), Tally::default(), Writers::new());
        Self { design, power, share, scratchpad, cache, unified, sums, tally, writers }
    }

    /// Called when a launch begins.
    pub fn begin(mut self, kernel: &Kernel, job: &Job) -> Followed {
        self.design.begin(job);
        if let Some(power) = &mut self.power {
            power.begin(kernel, job);
        }
        if let Some(share) = &mut self.share {
            share.begin(kernel, job);
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.begin(kernel, job);
        }
        let uses = kernel.code.iter().map(Uses::of).collect();
        Followed { counts: self, uses, owners: Owners::new(job.geometry), executed: Executed::default() }
    }

    /// The events that are counted, with the SM's sum and the replay's.
    fn events(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        self.sums.iter().map(|(name, sum)| (name, sum, self.tally.of(name)))
    }

    /// Checks the sums; returns the number of correct ones, or what is wrong.
    fn check(&self) -> Result<u64, Miscount> {
        let wrong: Vec<_> = self.events().filter(|(_, sm, counted)| sm != counted).collect();
        match &self.tally.objection {
            Some(what) => Err(Miscount::Impossible(what.clone())),
            None if wrong.is_empty() => Ok(self.events().count() as u64),
            None => Err(Miscount::Events(wrong)),
        }
    }
}

impl Followed {
    /// Observes a cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        self.owners.observe(cycle);
        let counts = &mut self.counts;
        counts.sums.add(cycle.out);
        match Seen::of(cycle, &self.uses, &mut counts.writers) {
            Ok(seen) => {
                // A probe is not an instruction of the program: the head issues after it, or has no lanes.
                for taken in seen.taken.iter().flatten().filter(|taken| !taken.is_probe) {
                    match self.owners.of(taken.warp) {
                        Some(warp) => self.executed.add(warp, taken.pc, taken.mask),
                        None => counts.tally.object(|| format!("warp slot {} issues before it starts", taken.warp)),
                    }
                }
                counts.design.observe(&seen, &mut counts.tally);
                if let Some(power) = &mut counts.power {
                    power.observe(&seen, &mut counts.tally);
                }
                if let Some(share) = &mut counts.share {
                    share.observe(&seen, &mut counts.tally);
                }
                if let Some(scratchpad) = &mut counts.scratchpad {
                    scratchpad.observe(&seen, &mut counts.tally);
                }
                if let Some(cache) = &mut counts.cache {
                    cache.observe(&seen, &mut counts.tally);
                }
                if let Some(unified) = &mut counts.unified {
                    unified.observe(&seen, &mut counts.tally);
                }
            }
            Err(what) => counts.tally.object(|| what),
        }
    }

    /// Called when the launch ends; `executed` has the oracle's instructions, if it has a verdict. Returns the counts for the next launch, and how many are right.
    pub fn finish(self, executed: Option<&Executed>) -> (Counts, Result<u64, Miscount>) {
        let differs = executed.and_then(|oracle| self.executed.difference(oracle));
        let result = match differs {
            Some((warp, sm, oracle)) => Err(Miscount::Instructions { warp, sm, oracle }),
            None => self.counts.check(),
        };
        (self.counts, result)
    }
}

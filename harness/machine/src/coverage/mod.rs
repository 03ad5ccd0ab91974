//! Counts situations that the blocks of the SM meet in a run: full queues, conflicts, waiting results.
//!
//! Programs and kernels are counted twice. The functional oracle counts what they execute (`gpurf_stimulus::program`). This module counts the resulting situations of the machine, in
//! every cycle of a lockstep run, from the record of the cycle. Both sides are equal in it, so the counts hold for the RTL too.
//!
//! A [`Group`] is a table of situations of one block: the name of each, and a test for a cycle. [`Sums`] are situations that an event word counts already. Each
//! design has its own tables in its own file; they count if a configuration has the design. Situations that a configuration cannot reach are listed with the reason in `unreached`.

mod cache;
mod control;
mod execute;
mod front;
mod look;
mod memory;
mod operands;
mod power;
mod share;
mod slots;
mod unified;
mod unreached;

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// The tables of each design.
        static DESIGN_GROUPS: &[&[Group]] = &[$($design::GROUPS),+];
        static DESIGN_SUMS: &[&[Sums]] = &[$($design::SUMS),+];
        static DESIGN_EXCEPTIONS: &[&[unreached::Exception]] = &[$($design::EXCEPTIONS),+];
    };
}

gpurf_blocks::each_design!(designs);

use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::{Events, WordCounts};

use crate::cycle::Cycle;
use look::{Look, Past};

/// Situations of a block, recognised in the record of a cycle.
struct Group {
    /// Whether a configuration has the block, in the form that the table describes.
    there: fn(&Config) -> bool,
    /// The names: the block, a colon, and the situation.
    points: &'static [&'static str],
    /// The situations that hold in a cycle, a bit for each.
    look: fn(&Look<'_>) -> u64,
}

/// Situations that are counted by fields of event words.
struct Sums {
    there: fn(&Config) -> bool,
    /// Field of the event word, and name of the situation.
    points: &'static [(&'static str, &'static str)],
}

/// A table of situations: the name of each, and the condition under which it holds.
macro_rules! situations {
    (
        $block:literal, $there:expr, |$look:ident| { $($setup:stmt;)* }
        $($what:literal: $when:expr;)+
    ) => {
        $crate::coverage::Group {
            there: $there,
            points: &[$(concat!($block, ": ", $what)),+],
            look: |$look| {
                $($setup)*
                $crate::coverage::packed([$($when),+])
            },
        }
    };
}

/// A table of handshakes between two blocks, as masks: an offer is taken, an offer waits, or there is no offer although one would be taken.
macro_rules! handshakes {
    ($block:literal, $there:expr, |$look:ident| $($what:literal: $valid:expr, $ready:expr;)+) => {
        $crate::coverage::Group {
            there: $there,
            points: &[$(
                concat!($block, ": ", $what, " taken"),
                concat!($block, ": ", $what, " offered, not taken"),
                concat!($block, ": ", $what, " would be taken, not offered"),
            )+],
            look: |$look| {
                let mut hits = 0;
                let mut place = 0;
                $({
                    let (valid, ready) = (u64::from($valid), u64::from($ready));
                    hits |= $crate::coverage::packed([valid & ready != 0, valid & !ready != 0, ready & !valid != 0]) << place;
                    place += 3;
                })+
                debug_assert!(place <= u64::BITS);
                hits
            },
        }
    };
}

/// A table of situations that event words count: the name of each, and the field.
macro_rules! sums {
    ($block:literal, $there:expr, $($field:literal: $what:literal;)+) => {
        $crate::coverage::Sums { there: $there, points: &[$(($field, concat!($block, ": ", $what)),)+] }
    };
}

use {handshakes, situations, sums};

/// Whether several warps issue in turn. With one active warp at a time units and queues fill less.
fn several(config: &Config) -> bool {
    !config.sm.alternate
}

/// A mask with a bit for each condition that holds.
#[inline(always)]
fn packed<const N: usize>(hits: [bool; N]) -> u64 {
    const { assert!(N <= u64::BITS as usize, "a table has 64 situations at most") };
    let mut word = 0;
    for (bit, hit) in hits.into_iter().enumerate() {
        word |= u64::from(hit) << bit;
    }
    word
}

/// All groups, block by block.
fn all_groups() -> impl Iterator<Item = &'static Group> {
    let all = [
        front::GROUPS,
        operands::GROUPS,
        execute::GROUPS,
        memory::GROUPS,
        cache::GROUPS,
        control::GROUPS,
        slots::GROUPS,
        power::GROUPS,
        share::GROUPS,
        unified::GROUPS,
    ];
    all.into_iter().chain(DESIGN_GROUPS.iter().copied()).flatten()
}

/// All situations that event words count.
fn all_sums() -> impl Iterator<Item = &'static Sums> {
    let all = [
        front::SUMS,
        operands::SUMS,
        execute::SUMS,
        memory::SUMS,
        cache::SUMS,
        control::SUMS,
        slots::SUMS,
        power::SUMS,
        share::SUMS,
        unified::SUMS,
    ];
    all.into_iter().chain(DESIGN_SUMS.iter().copied()).flatten()
}

/// A situation that a configuration counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The name: the block, a colon, and the situation.
    pub name: &'static str,
    /// Why this configuration cannot reach the situation; `None` if it can.
    pub unreached: Option<&'static str>,
}

impl Point {
    /// The block in the name.
    pub fn block(&self) -> &'static str {
        self.name.split(':').next().unwrap_or(self.name)
    }
}

/// The situations that are counted in a configuration.
pub fn points(config: &Config) -> Vec<Point> {
    let looked = all_groups().filter(|group| (group.there)(config)).flat_map(|group| group.points).copied();
    let summed = all_sums().filter(|sums| (sums.there)(config)).flat_map(|sums| sums.points).map(|&(_, name)| name);
    looked.chain(summed).map(|name| Point { name, unreached: unreached::reason(name, config) }).collect()
}

/// Number of distinct words that a table counts whole before it splits one into bits.
const PLACES: usize = 16;

/// Counts of the situations of a configuration.
pub struct Coverage {
    config: Config,
    shape: SmShape,
    counters: Vec<Counter>,
    past: Past,
}

/// The counts of one table.
struct Counter {
    group: &'static Group,
    /// The word of the last cycle, and the number of consecutive cycles with this word: most words are repeated at once.
    last: u64,
    run: u64,
    words: WordCounts<PLACES>,
    counts: Vec<u64>,
}

impl Counter {
    fn new(group: &'static Group) -> Self {
        Self { group, last: 0, run: 0, words: WordCounts::default(), counts: vec![0; group.points.len()] }
    }

    /// Counts the word of a cycle.
    #[inline]
    fn add(&mut self, word: u64) {
        if word != self.last {
            if let Some((word, times)) = self.words.add(self.last, self.run) {
                for (bit, count) in self.counts.iter_mut().enumerate() {
                    *count += (word >> bit & 1) * times;
                }
            }
            (self.last, self.run) = (word, 0);
        }
        self.run += 1;
    }

    /// How often each situation occurred.
    fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.group.points.iter().zip(&self.counts).enumerate().map(|(bit, (&name, &count))| {
            let waiting = self.words.waiting().chain([(self.last, self.run)]);
            (name, count + waiting.map(|(word, times)| (word >> bit & 1) * times).sum::<u64>())
        })
    }
}

impl Coverage {
    /// Nothing counted yet.
    pub fn new(config: &Config) -> Self {
        Self {
            shape: config.sm_shape(),
            counters: all_groups().filter(|group| (group.there)(config)).map(Counter::new).collect(),
            past: Past::default(),
            config: *config,
        }
    }

    /// Observes the next cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        let look = Look::new(cycle, &self.shape, &self.past);
        for counter in &mut self.counters {
            counter.add((counter.group.look)(&look));
        }
        self.past = look.past_of_next();
    }

    /// The situations, and how often each occurred; `events` are those of the same cycles.
    pub fn counts(&self, events: &Events) -> Vec<(&'static str, u64)> {
        let there = all_sums().filter(|sums| (sums.there)(&self.config)).flat_map(|sums| sums.points);
        let summed = there.map(|&(field, name)| (name, events.get(field).copied().unwrap_or(0)));
        self.counters.iter().flat_map(Counter::counts).chain(summed).collect()
    }
}

#[cfg(test)]
mod tests;

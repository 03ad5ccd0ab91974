//! How values in registers are used: how often each is read, and how soon (RFC paper 2.2, hierarchy thesis 5.1).
//!
//! The papers speak of threads, so lanes are watched one by one: a value is what an instruction writes into a register of one lane. `docs/reports.md` says
//! what counts.

use std::collections::{BTreeMap, HashMap};

use gpurf_isa::Reg;
use gpurf_oracle::{Commit, Issue, Mask, Observer};

/// Lanes of a warp.
const LANES: usize = 32;

/// Counts of values and of their reads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Values by how often they were read: never, once, twice, more often.
    pub values: [u64; 4],
    /// Those read once, by their lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
    /// Reads of values that instructions wrote.
    pub reads: u64,
    /// Those of them by how many results the warp has written since the value; the last counts what is further away.
    pub distances: [u64; Self::FAR],
    /// Values by how many results the warp wrote between them and the one that overwrote them; the last counts what is further away, and what nothing overwrote.
    pub overwritten: [u64; Self::FAR],
    /// Values by how many results the warp wrote until nobody needed them any more: behind their last read, or with the one that overwrote them.
    pub needed: [u64; Self::FAR],
    /// Values by the operation that wrote them.
    pub written: BTreeMap<&'static str, Written>,
}

/// Values that an operation wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// By how often they were read: never, once, twice, more often.
    pub values: [u64; 4],
    /// Those read once, by their lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
}

impl Usage {
    /// Distances from this one on are not told apart.
    pub const FAR: usize = 18;

    /// All values.
    pub fn all(&self) -> u64 {
        self.values.iter().sum()
    }

    /// The part of all values that these are; none of nothing.
    pub fn part(&self, values: u64) -> f64 {
        crate::ratio(values as f64, self.all() as f64)
    }

    /// Values read once, at most so many instructions later.
    ///
    /// # Panics
    /// With more than three.
    pub fn once_within(&self, instructions: usize) -> u64 {
        assert!(instructions < self.lifetimes.len(), "longer lifetimes are not told apart");
        self.lifetimes[..instructions].iter().sum()
    }

    /// The part of the reads whose value is among the last results of the warp, so many of them.
    pub fn near(&self, results: usize) -> f64 {
        crate::ratio(first(&self.distances, results) as f64, self.reads as f64)
    }

    /// The part of the values that are overwritten while they are among the last results of the warp, so many of them.
    pub fn overwritten_near(&self, results: usize) -> f64 {
        self.part(first(&self.overwritten, results))
    }

    /// The part of the values that nobody needs any more while they are among the last results of the warp, so many of them.
    pub fn needed_near(&self, results: usize) -> f64 {
        self.part(first(&self.needed, results))
    }

    fn add(&mut self, other: &Self) {
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.values, &other.values);
        add(&mut self.lifetimes, &other.lifetimes);
        add(&mut self.distances, &other.distances);
        add(&mut self.overwritten, &other.overwritten);
        add(&mut self.needed, &other.needed);
        self.reads += other.reads;
        for (operation, from) in &other.written {
            let to = self.written.entry(operation).or_default();
            add(&mut to.values, &from.values);
            add(&mut to.lifetimes, &from.lifetimes);
        }
    }

    /// A value is no more: another result took its place, `behind` results of the warp later, or its block is over.
    fn value_over(&mut self, value: &Value, behind: Option<u32>) {
        if value.born == 0 {
            return;
        }
        let place = |results: u32| (results as usize).min(Self::FAR - 1);
        // A result takes the place of one before it: right behind it is next to it.
        let overwritten = behind.map_or(Self::FAR - 1, |behind| place(behind - 1));
        self.overwritten[overwritten] += 1;
        self.needed[if value.reads > 0 { place(value.distance) } else { overwritten }] += 1;
        let written = self.written.entry(value.operation).or_default();
        let reads = (value.reads as usize).min(3);
        self.values[reads] += 1;
        written.values[reads] += 1;
        if value.reads == 1 {
            let lifetime = (value.lifetime as usize).clamp(1, 4) - 1;
            self.lifetimes[lifetime] += 1;
            written.lifetimes[lifetime] += 1;
        }
    }
}

fn first(counts: &[u64; Usage::FAR], results: usize) -> u64 {
    counts[..results.min(Usage::FAR - 1)].iter().sum()
}

/// The value in a register of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// The number of the thread's instruction that wrote it, from 1; 0: none has.
    born: u32,
    /// That instruction's operation.
    operation: &'static str,
    /// The number of the warp's result that it is part of.
    result: u32,
    /// How often it has been read.
    reads: u32,
    /// Instructions from the one that wrote it to its last reader.
    lifetime: u32,
    /// Results of the warp since it, at its last read.
    distance: u32,
}

/// A warp under way.
#[derive(Debug, Default)]
struct Warp {
    /// Instructions of each thread so far.
    instructions: [u32; LANES],
    /// Results so far.
    results: u32,
    /// By register.
    values: Vec<[Value; LANES]>,
}

impl Warp {
    fn register(&mut self, register: Reg) -> &mut [Value; LANES] {
        let index = register.index();
        if self.values.len() <= index {
            self.values.resize(index + 1, [Value::default(); LANES]);
        }
        &mut self.values[index]
    }

    fn read(&mut self, register: Reg, mask: Mask, usage: &mut Usage) {
        let (instructions, results) = (self.instructions, self.results);
        let values = self.register(register);
        for lane in lanes(mask) {
            let value = &mut values[lane];
            if value.born == 0 {
                continue;
            }
            value.reads += 1;
            value.lifetime = instructions[lane] - value.born;
            usage.reads += 1;
            value.distance = results - value.result;
            usage.distances[(value.distance as usize).min(Usage::FAR - 1)] += 1;
        }
    }

    fn write(&mut self, register: Reg, mask: Mask, operation: &'static str, usage: &mut Usage) {
        self.results += 1;
        let (instructions, result) = (self.instructions, self.results);
        let values = self.register(register);
        for lane in lanes(mask) {
            usage.value_over(&values[lane], Some(result.wrapping_sub(values[lane].result)));
            values[lane] = Value { born: instructions[lane], operation, result, ..Value::default() };
        }
    }
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Watches a launch.
#[derive(Debug, Default)]
pub struct UsageObserver {
    /// The block that runs; blocks run one after the other.
    block: u64,
    warps: HashMap<u32, Warp>,
    usage: Usage,
}

impl UsageObserver {
    /// What was counted. The launch is over.
    pub fn finish(mut self) -> Usage {
        self.block_over();
        self.usage
    }

    fn block_over(&mut self) {
        for value in self.warps.values().flat_map(|warp| warp.values.iter().flatten()) {
            self.usage.value_over(value, None);
        }
        self.warps.clear();
    }
}

impl Observer for UsageObserver {
    const TRACES: bool = true;

    fn commit(&mut self, _: &Commit<'_>) {}

    fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block_over();
            self.block = at.warp.block;
        }
        let warp = self.warps.entry(at.warp.warp).or_default();
        lanes(at.active).for_each(|lane| warp.instructions[lane] += 1);
        if at.mask == 0 {
            return;
        }
        let mut read = [None; 3];
        for (place, (_, register)) in at.instruction.sources().enumerate() {
            // A register in two slots is read once, as in the register file.
            if !read.contains(&Some(register)) {
                warp.read(register, at.mask, &mut self.usage);
                read[place] = Some(register);
            }
        }
        if let Some(register) = at.instruction.destination() {
            warp.write(register, at.mask, at.instruction.op.mnemonic(), &mut self.usage);
        }
    }
}

mod engine;
#[cfg(test)]
mod tests;

pub use engine::UsageEngine;

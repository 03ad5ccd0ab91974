//! How values in registers are used: how often each is read, and how soon (RFC paper 2.2, hierarchy thesis 5.1).
//!
//! At the same time it follows a cache of six entries through the program, in program order and without any time: what the code alone makes of it, the way
//! the papers' simulator ran traces.
//!
//! The papers speak of threads, so lanes are watched one by one: a value is what an instruction writes into a register of one lane. `docs/reports.md` says
//! what counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use gpurf_isa::{Op, Reg, Unit};
use gpurf_oracle::{Issue, Mask, Observer};
use serde::{Deserialize, Serialize};

/// Lanes of a warp.
const LANES: usize = 32;

/// Counts of values and of their reads.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Values by how often they were read: never, once, twice, more often.
    pub values: [u64; 4],
    /// Those read once, by their lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
    /// Reads of values that instructions wrote.
    pub reads: u64,
    /// Those of them that a cache of six would serve.
    pub hits: u64,
    /// Values that it would write back to make room.
    pub evicted: u64,
    /// Those of them that had been read for the last time.
    pub dead: u64,
    /// Values that shared units read.
    pub shared: u64,
    /// Those of them that the private datapath wrote.
    pub shared_of_private: u64,
    /// Values by the operation that wrote them.
    pub written: BTreeMap<Cow<'static, str>, Written>,
}

/// Values that an operation wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Written {
    /// By how often they were read: never, once, twice, more often.
    pub values: [u64; 4],
    /// Those read once, by their lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
}

impl Usage {
    /// Entries of the cache that is followed: most of the RFC paper's results are for these.
    pub const ENTRIES: usize = 6;

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
        assert!(instructions < self.lifetimes.len(), "longer lifetimes are not counted separately");
        self.lifetimes[..instructions].iter().sum()
    }

    /// The part of the reads that the cache would serve.
    pub fn reads_avoided(&self) -> f64 {
        crate::ratio(self.hits as f64, self.reads as f64)
    }

    /// The part of the values that it would never write back.
    pub fn writes_avoided(&self) -> f64 {
        self.part(self.all() - self.evicted)
    }

    /// The same if it knew of each value when it has been read for the last time.
    pub fn live_writes_avoided(&self) -> f64 {
        self.part(self.all() - self.evicted + self.dead)
    }

    /// Adds those of another launch.
    pub(crate) fn add(&mut self, other: &Self) {
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.values, &other.values);
        add(&mut self.lifetimes, &other.lifetimes);
        self.reads += other.reads;
        self.hits += other.hits;
        self.evicted += other.evicted;
        self.dead += other.dead;
        self.shared += other.shared;
        self.shared_of_private += other.shared_of_private;
        for (operation, from) in &other.written {
            let to = self.written.entry(operation.clone()).or_default();
            add(&mut to.values, &from.values);
            add(&mut to.lifetimes, &from.lifetimes);
        }
    }

    /// A value is no more: another one took its place, or its block is over.
    fn value_over(&mut self, value: &Value) {
        if value.born == 0 {
            return;
        }
        self.dead += u64::from(value.reads > 0 && value.evicted_behind == Some(value.reads));
        self.shared += u64::from(value.shared);
        self.shared_of_private += u64::from(value.shared && value.private);
        let written = self.written.entry(Cow::Borrowed(value.operation)).or_default();
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

/// The value in a register of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// The number of the thread's instruction that wrote it, from 1; 0: none has.
    born: u32,
    /// That instruction's operation.
    operation: &'static str,
    /// The private datapath wrote it.
    private: bool,
    /// A shared unit has read it.
    shared: bool,
    /// The number of the warp's result that it is part of.
    result: u32,
    /// How often it has been read.
    reads: u32,
    /// Instructions from the one that wrote it to its last reader.
    lifetime: u32,
    /// It was evicted from the cache when it had been read so often.
    evicted_behind: Option<u32>,
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
    /// The cache: registers in the order in which they came, and the first result of each.
    cache: VecDeque<(Reg, u32)>,
}

impl Warp {
    fn register(&mut self, register: Reg) -> &mut [Value; LANES] {
        let index = register.index();
        if self.values.len() <= index {
            self.values.resize(index + 1, [Value::default(); LANES]);
        }
        &mut self.values[index]
    }

    /// The first result that the entry of a register has.
    fn cached(&self, register: Reg) -> Option<u32> {
        self.cache.iter().find(|(cached, _)| *cached == register).map(|(_, since)| *since)
    }

    fn read(&mut self, register: Reg, mask: Mask, unit: Unit, usage: &mut Usage) {
        let (instructions, cached) = (self.instructions, self.cached(register));
        let values = self.register(register);
        for lane in lanes(mask) {
            let value = &mut values[lane];
            if value.born == 0 {
                continue;
            }
            value.reads += 1;
            value.shared |= is_shared(unit);
            value.lifetime = instructions[lane] - value.born;
            usage.reads += 1;
            usage.hits += u64::from(cached.is_some_and(|since| value.result >= since));
        }
    }

    fn write(&mut self, register: Reg, mask: Mask, op: Op, usage: &mut Usage) {
        self.results += 1;
        let (instructions, result) = (self.instructions, self.results);
        let values = self.register(register);
        for lane in lanes(mask) {
            usage.value_over(&values[lane]);
            let (operation, private) = (op.mnemonic(), op.unit().is_private());
            values[lane] = Value { born: instructions[lane], operation, private, result, ..Value::default() };
        }
        if self.cached(register).is_none() {
            self.allocate(register, usage);
        }
    }

    fn allocate(&mut self, register: Reg, usage: &mut Usage) {
        self.cache.push_back((register, self.results));
        if self.cache.len() <= Usage::ENTRIES {
            return;
        }
        let Some((evicted, since)) = self.cache.pop_front() else { return };
        for value in self.register(evicted).iter_mut().filter(|value| value.born > 0 && value.result >= since) {
            value.evicted_behind = Some(value.reads);
            usage.evicted += 1;
        }
    }
}

/// The SFU and memory; not what branches.
fn is_shared(unit: Unit) -> bool {
    matches!(unit, Unit::Sfu | Unit::SharedMemory | Unit::GlobalMemory)
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
            self.usage.value_over(value);
        }
        self.warps.clear();
    }
}

impl Observer for UsageObserver {
    const TRACES: bool = true;

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
                warp.read(register, at.mask, at.instruction.unit(), &mut self.usage);
                read[place] = Some(register);
            }
        }
        if let Some(register) = at.instruction.destination() {
            warp.write(register, at.mask, at.instruction.op, &mut self.usage);
        }
    }
}

#[cfg(test)]
mod tests;

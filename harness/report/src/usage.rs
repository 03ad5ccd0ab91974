//! Usage of the values in registers: how often each value is read, and how soon (RFC paper 2.2, hierarchy thesis 5.1).
//!
//! It also simulates a cache of six entries in program order, without timing. The result depends on the code alone, as in the papers, whose
//! simulators ran traces.
//!
//! The papers speak of threads, so each lane is observed separately: a value is the result that an instruction writes to a register in one lane.
//! `docs/reports.md` defines what counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroU32;

use gpurf_isa::{Op, Reg, Unit};
use gpurf_oracle::{Issue, Mask, Observer};
use serde::{Deserialize, Serialize};

/// Lanes of a warp.
const LANES: usize = 32;

/// Counts of values and of their reads.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Values by the number of their reads: none, one, two, more.
    pub values: [u64; 4],
    /// Values read once, by lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
    /// Reads of values that instructions wrote.
    pub reads: u64,
    /// Those of these reads that a cache of six entries would serve.
    pub hits: u64,
    /// Values that this cache would write back to make room.
    pub evicted: u64,
    /// Values written back after their last read.
    pub dead: u64,
    /// Values that shared units read.
    pub shared: u64,
    /// Values read by shared units that the private datapath wrote.
    pub shared_of_private: u64,
    /// Executions of instructions by threads.
    pub instructions: u64,
    /// Values that a strand reads and did not write, once for each strand.
    pub live_in: u64,
    /// Values that another strand reads than the one that wrote them.
    pub live_out: u64,
    /// Values by the operation that wrote them.
    pub written: BTreeMap<Cow<'static, str>, Written>,
}

/// Values that an operation wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Written {
    /// Values by the number of their reads: none, one, two, more.
    pub values: [u64; 4],
    /// Values read once, by lifetime: 1, 2, 3 instructions, more.
    pub lifetimes: [u64; 4],
}

impl Usage {
    /// Entries of the simulated cache; most of the RFC paper's results are for this number.
    pub const ENTRIES: usize = 6;

    /// The number of all values.
    pub fn all(&self) -> u64 {
        self.values.iter().sum()
    }

    /// The fraction of all values; 0 without values.
    pub fn part(&self, values: u64) -> f64 {
        crate::ratio(values as f64, self.all() as f64)
    }

    /// Values read once, at most this many instructions later.
    ///
    /// # Panics
    /// If `instructions` is more than three.
    pub fn once_within(&self, instructions: usize) -> u64 {
        assert!(instructions < self.lifetimes.len(), "longer lifetimes are not counted separately");
        self.lifetimes[..instructions].iter().sum()
    }

    /// The fraction of the reads that the cache would serve.
    pub fn reads_avoided(&self) -> f64 {
        crate::ratio(self.hits as f64, self.reads as f64)
    }

    /// The fraction of the values that the cache would never write back.
    pub fn writes_avoided(&self) -> f64 {
        self.part(self.all() - self.evicted)
    }

    /// The same fraction for a cache that knows the last read of each value.
    pub fn live_writes_avoided(&self) -> f64 {
        self.part(self.all() - self.evicted + self.dead)
    }

    /// Adds the counts of another launch.
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
        self.instructions += other.instructions;
        self.live_in += other.live_in;
        self.live_out += other.live_out;
        for (operation, from) in &other.written {
            let to = self.written.entry(operation.clone()).or_default();
            add(&mut to.values, &from.values);
            add(&mut to.lifetimes, &from.lifetimes);
        }
    }

    /// Counts a value whose lifetime ends: another value overwrites it, or its block ends.
    fn value_over(&mut self, value: &Value) {
        if value.born == 0 {
            return;
        }
        self.dead += u64::from(value.reads > 0 && value.evicted_behind == Some(value.reads));
        self.shared += u64::from(value.shared);
        self.shared_of_private += u64::from(value.shared && value.private);
        self.live_out += u64::from(value.read_in.is_some());
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
    /// Index of the thread's instruction that wrote it, from 1; 0 if no instruction has.
    born: u32,
    /// That instruction's operation.
    operation: &'static str,
    /// Whether the private datapath wrote it.
    private: bool,
    /// Whether a shared unit has read it.
    shared: bool,
    /// Index of the warp's result to which it belongs.
    result: u32,
    /// How often it has been read.
    reads: u32,
    /// Instructions from the one that wrote it to its last reader.
    lifetime: u32,
    /// Its number of reads when it was evicted from the cache, if it was.
    evicted_behind: Option<u32>,
    /// The strand that wrote it.
    strand: u32,
    /// The last other strand that read it.
    read_in: Option<NonZeroU32>,
}

/// The state of a running warp.
#[derive(Debug, Default)]
struct Warp {
    /// Number of instructions of each thread so far.
    instructions: [u32; LANES],
    /// Number of results so far.
    results: u32,
    /// Number of strands that have ended.
    strands: u32,
    /// Values of each lane, by register.
    values: Vec<[Value; LANES]>,
    /// The cache: registers in the order of their allocation, each with the index of the first result that its entry holds.
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

    /// Index of the first result that a register's entry holds, if it has an entry.
    fn cached(&self, register: Reg) -> Option<u32> {
        self.cache.iter().find(|(cached, _)| *cached == register).map(|(_, since)| *since)
    }

    fn read(&mut self, register: Reg, mask: Mask, unit: Unit, usage: &mut Usage) {
        let (instructions, cached) = (self.instructions, self.cached(register));
        let (strand, here) = (self.strands, NonZeroU32::new(self.strands));
        let values = self.register(register);
        for lane in lanes(mask) {
            let value = &mut values[lane];
            if value.born == 0 {
                continue;
            }
            value.reads += 1;
            value.shared |= is_shared(unit);
            // A strand after another one has a number other than zero.
            if value.strand != strand && value.read_in != here {
                value.read_in = here;
                usage.live_in += 1;
            }
            value.lifetime = instructions[lane] - value.born;
            usage.reads += 1;
            usage.hits += u64::from(cached.is_some_and(|since| value.result >= since));
        }
    }

    fn write(&mut self, register: Reg, mask: Mask, op: Op, usage: &mut Usage) {
        self.results += 1;
        let (instructions, result, strand) = (self.instructions, self.results, self.strands);
        let values = self.register(register);
        for lane in lanes(mask) {
            usage.value_over(&values[lane]);
            let (operation, private) = (op.mnemonic(), op.unit().is_private());
            values[lane] = Value { born: instructions[lane], operation, private, result, strand, ..Value::default() };
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

/// Whether a unit is shared: the SFU and the memory units, but not the branch unit.
fn is_shared(unit: Unit) -> bool {
    matches!(unit, Unit::Sfu | Unit::SharedMemory | Unit::GlobalMemory)
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Observes a launch.
#[derive(Debug, Default)]
pub struct UsageObserver {
    /// The block that runs; blocks run one after the other.
    block: u64,
    warps: HashMap<u32, Warp>,
    usage: Usage,
}

impl UsageObserver {
    /// Ends the launch, and returns the counts.
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
        // A strand's end applies to the whole warp, whatever the guard; a value that this instruction reads or writes is of the strand before.
        let end = at.instruction.control.strand_end || at.mask != 0 && matches!(at.instruction.op, Op::Bar { .. });
        self.usage.access(warp, at);
        warp.strands += u32::from(end);
    }
}

impl Usage {
    /// Counts the operands and the result of an instruction.
    fn access(&mut self, warp: &mut Warp, at: &Issue<'_>) {
        if at.mask == 0 {
            return;
        }
        self.instructions += u64::from(at.mask.count_ones());
        let mut read = [None; 3];
        for (place, (_, register)) in at.instruction.sources().enumerate() {
            // A register in two slots is read once, as in the register file.
            if !read.contains(&Some(register)) {
                warp.read(register, at.mask, at.instruction.unit(), self);
                read[place] = Some(register);
            }
        }
        if let Some(register) = at.instruction.destination() {
            warp.write(register, at.mask, at.instruction.op, self);
        }
    }
}

#[cfg(test)]
mod tests;

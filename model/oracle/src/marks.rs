//! Judges the control fields of a program by what its warps do.
//!
//! The compiler proves its marks on the control-flow graph. This judge knows no graph: it watches each lane of each warp and complains when a mark
//! turns out to be wrong, or when one is missing. So it shares nothing with the passes but the meaning of the fields (`docs/isa.md`), and it
//! sees lanes as the SIMT stack runs them, side after side.
//!
//! A judge is an [`Observer`] of one launch ([`crate::Oracle::run_observed`]).

use std::collections::HashMap;

use gpurf_isa::{Instruction, Op, Reg, Slot};

use crate::commit::{Issue, Observer, WarpId};
use crate::lanes::Mask;

/// Whose value a last-read mark is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// That of the lanes which execute the instruction: what the bits in the image mean.
    #[default]
    Lanes,
    /// That of the whole warp: what power states and free registers need.
    Warp,
}

/// What is wrong with a mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wrong {
    /// A value is read after its last read.
    ReadBehindLast,
    /// The two slots of one register disagree about its last read.
    SlotsDisagree,
    /// The result of a long-latency operation is read, and the warp has not been descheduled since.
    ReadUnmarked,
    /// The result of a long-latency operation is overwritten, and the warp has not been descheduled since.
    OverwrittenUnmarked,
    /// A value that went past the RFC is read before the warp is descheduled.
    ReadPastCache,
    /// A long-latency operation, which goes past the RFC anyway, says that it does.
    LongLatencyPastCache,
    /// A shared unit reads a value that may be in the LRF.
    SharedReadOfLrf,
    /// An operation that does not write the LRF says that it goes past it.
    NotOfTheLrf,
    /// A lane reads a value of a register that was called free, for the whole warp, after the value was written.
    ReadOfFree,
    /// A register is called free whose last write may still be on its way: nothing has read it since.
    FreeOnItsWay,
    /// An instruction that may end the warp, and with it what its registers are, calls one free.
    FreeAtEnd,
}

/// A mark that is wrong or missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkFault {
    /// What is wrong.
    pub wrong: Wrong,
    /// The instruction at which it shows.
    pub pc: u32,
    /// The register.
    pub register: Reg,
    /// The lanes concerned.
    pub lanes: Mask,
    /// The warp.
    pub warp: WarpId,
}

/// What the marks amount to. Registers count once for each instruction that reads them, whatever the number of slots and lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MarkCounts {
    /// Instructions that warps executed, in any lane or none.
    pub instructions: u64,
    /// Registers read.
    pub reads: u64,
    /// Those of them that were marked as last.
    pub last_reads: u64,
    /// Values of a lane that were read and then never again.
    pub lane_values: u64,
    /// Last reads of a lane that were marked.
    pub lane_last_reads: u64,
    /// Registers written by operations that may go to the RFC: all but those of long latency.
    pub results: u64,
    /// Those of them that went past the RFC.
    pub past_cache: u64,
    /// Registers written by the private datapath, which go to the LRF.
    pub private_results: u64,
    /// Those of them that went past the LRF.
    pub past_lrf: u64,
    /// Results of long-latency operations.
    pub long_results: u64,
    /// Instructions marked for descheduling.
    pub deschedules: u64,
    /// Those of them with no result under way that has not been waited for: the mark is for another path.
    pub idle_deschedules: u64,
    /// Instructions without the mark that touch a register for which only other lanes wait: those of the other side of a branch.
    pub waits_for_other_lanes: u64,
    /// Instructions that name a free register.
    pub free_registers: u64,
}

impl MarkCounts {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.reads += other.reads;
        self.last_reads += other.last_reads;
        self.lane_values += other.lane_values;
        self.lane_last_reads += other.lane_last_reads;
        self.results += other.results;
        self.past_cache += other.past_cache;
        self.private_results += other.private_results;
        self.past_lrf += other.past_lrf;
        self.long_results += other.long_results;
        self.deschedules += other.deschedules;
        self.idle_deschedules += other.idle_deschedules;
        self.waits_for_other_lanes += other.waits_for_other_lanes;
        self.free_registers += other.free_registers;
    }
}

/// What is known of one register's value, lane by lane.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// Read since it was written.
    read: Mask,
    /// Read for the last time, as a mark said.
    last: Mask,
    /// The result of a long-latency operation, and the warp has not been descheduled since.
    coming: Mask,
    /// Went past the RFC, and the warp has not been descheduled since.
    past_cache: Mask,
    /// Went to the LRF, and the warp has not been descheduled since.
    lrf: Mask,
    /// Its register was called free since it was written.
    free: Mask,
    /// Some lane has written the register, and none has read it since: the write of a warp register lands as a whole.
    on_its_way: bool,
}

/// Watches a launch.
#[derive(Debug)]
pub struct MarkJudge {
    scope: Scope,
    warps: HashMap<WarpId, Vec<Value>>,
    faults: Vec<MarkFault>,
    counts: MarkCounts,
}

impl MarkJudge {
    /// Complaints that are kept: the first ones.
    const KEPT: usize = 100;

    /// A judge of a launch.
    pub fn new(scope: Scope) -> Self {
        Self { scope, warps: HashMap::new(), faults: Vec::new(), counts: MarkCounts::default() }
    }

    /// What was wrong, at most the first hundred, and what was counted. The launch is over.
    pub fn finish(mut self) -> (Vec<MarkFault>, MarkCounts) {
        let at_rest = |value: &Value| u64::from(value.read.count_ones());
        self.counts.lane_values += self.warps.values().flatten().map(at_rest).sum::<u64>();
        (self.faults, self.counts)
    }

    fn complain(&mut self, at: &Issue<'_>, wrong: Wrong, register: Reg, lanes: Mask) {
        if lanes != 0 && self.faults.len() < Self::KEPT {
            self.faults.push(MarkFault { wrong, pc: at.pc, register, lanes, warp: at.warp });
        }
    }

    fn values(&mut self, warp: WarpId) -> &mut Vec<Value> {
        self.warps.entry(warp).or_insert_with(|| vec![Value::default(); usize::from(Reg::ZERO.0)])
    }

    /// The warp gives up its active slot, and comes back when all that it waits for is there. RFC and LRF are empty then.
    fn deschedule(&mut self, warp: WarpId) -> bool {
        let mut waited = false;
        for value in self.values(warp) {
            waited |= value.coming != 0;
            (value.coming, value.past_cache, value.lrf) = (0, 0, 0);
        }
        waited
    }

    fn read(&mut self, at: &Issue<'_>, instruction: &Instruction, register: Reg) {
        let value = self.values(at.warp)[register.index()];
        let slots = |last| {
            let of = move |slot: &Slot| instruction.control.is_last_read(*slot) == last;
            Slot::ALL.into_iter().filter(of).any(|slot| instruction.source(slot) == Some(register))
        };
        self.complain(at, Wrong::ReadBehindLast, register, value.last & at.mask);
        self.complain(at, Wrong::ReadUnmarked, register, value.coming & at.mask);
        self.complain(at, Wrong::ReadPastCache, register, value.past_cache & at.mask);
        self.complain(at, Wrong::ReadOfFree, register, value.free & at.mask);
        if !instruction.unit().is_private() {
            self.complain(at, Wrong::SharedReadOfLrf, register, value.lrf & at.mask);
        }
        if slots(true) && slots(false) {
            self.complain(at, Wrong::SlotsDisagree, register, at.mask);
        }
        let last = if slots(true) { at.mask } else { 0 };
        self.counts.reads += 1;
        self.counts.last_reads += u64::from(last != 0);
        self.counts.lane_last_reads += u64::from(last.count_ones());
        let whole = self.scope == Scope::Warp && last != 0;
        let value = &mut self.values(at.warp)[register.index()];
        value.read |= at.mask;
        value.last |= if whole { Mask::MAX } else { last };
        value.on_its_way = false;
    }

    fn write(&mut self, at: &Issue<'_>, instruction: &Instruction, register: Reg) {
        let control = &instruction.control;
        let (long, private) = (instruction.is_long_latency(), instruction.unit().is_private());
        let value = self.values(at.warp)[register.index()];
        self.complain(at, Wrong::OverwrittenUnmarked, register, value.coming & at.mask);
        if control.bypass.cache && long {
            self.complain(at, Wrong::LongLatencyPastCache, register, at.mask);
        }
        if control.bypass.lrf && !private {
            self.complain(at, Wrong::NotOfTheLrf, register, at.mask);
        }
        let counts = &mut self.counts;
        counts.lane_values += u64::from((value.read & at.mask).count_ones());
        counts.long_results += u64::from(long);
        counts.results += u64::from(!long);
        counts.past_cache += u64::from(control.bypass.cache);
        counts.private_results += u64::from(private);
        counts.past_lrf += u64::from(control.bypass.lrf);
        let set = |old: Mask, now: bool| if now { old | at.mask } else { old & !at.mask };
        self.values(at.warp)[register.index()] = Value {
            read: set(value.read, false),
            last: set(value.last, false),
            coming: set(value.coming, long),
            past_cache: set(value.past_cache, control.bypass.cache),
            // What goes past the RFC goes past the LRF above it.
            lrf: set(value.lrf, private && !control.bypass.lrf && !control.bypass.cache),
            free: set(value.free, false),
            on_its_way: true,
        };
    }

    /// What an instruction reads and writes, in the lanes that execute it.
    fn operands(&mut self, at: &Issue<'_>, instruction: &Instruction) {
        let mut registers: Vec<Reg> = instruction.sources().map(|(_, register)| register).collect();
        registers.sort();
        registers.dedup();
        let values = self.values(at.warp);
        let others = |register: Reg| values[register.index()].coming & !at.mask != 0;
        let waits = registers.iter().copied().chain(instruction.destination()).any(others);
        self.counts.waits_for_other_lanes += u64::from(waits);
        for register in registers {
            self.read(at, instruction, register);
        }
        if let Some(register) = instruction.destination() {
            self.write(at, instruction, register);
        }
    }

    /// A register is free after an instruction, for all lanes of the warp, whatever the guard.
    fn free(&mut self, at: &Issue<'_>, register: Reg) {
        self.counts.free_registers += 1;
        let own = at.instruction.destination() == Some(register);
        if own || self.values(at.warp)[register.index()].on_its_way {
            self.complain(at, Wrong::FreeOnItsWay, register, Mask::MAX);
        }
        if let Op::Exit {} | Op::Trap {} = at.instruction.op {
            self.complain(at, Wrong::FreeAtEnd, register, Mask::MAX);
        }
        self.values(at.warp)[register.index()].free = Mask::MAX;
    }
}

impl Observer for MarkJudge {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        let instruction = at.instruction;
        self.counts.instructions += 1;
        if instruction.control.deschedule {
            // Whatever its guard says: the warp gives way before the instruction issues.
            let waited = self.deschedule(at.warp);
            self.counts.deschedules += 1;
            self.counts.idle_deschedules += u64::from(!waited);
        }
        if at.mask != 0 {
            self.operands(at, instruction);
            if let Op::Bar { .. } = instruction.op {
                self.deschedule(at.warp);
            }
        }
        if let Some(register) = instruction.control.free_register {
            self.free(at, register);
        }
    }
}

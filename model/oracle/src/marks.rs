//! Judges the control fields of a program by what its warps do.
//!
//! The compiler proves its marks on the control-flow graph. This judge does not use the graph: it watches each lane of each warp and reports a mark
//! that turns out to be wrong or to be missing. So it shares only the meaning of the fields (`docs/isa.md`) with the passes, and it sees lanes as the
//! SIMT stack runs them, one side of a branch after the other.
//!
//! A judge is an [`Observer`] of one launch ([`crate::Oracle::run_observed`]).

use std::collections::HashMap;

use gpurf_isa::{Instruction, Op, Reg, Slot};

use crate::commit::{Issue, Observer, WarpId};
use crate::lanes::Mask;

/// The lanes whose value a last-read mark refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// The lanes that execute the instruction: the meaning of the bits in the image.
    #[default]
    Lanes,
    /// The whole warp, as power states and free registers need it.
    Warp,
}

/// What is wrong with a mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wrong {
    /// A value is read after the read that is marked as its last.
    ReadBehindLast,
    /// The two slots of one register disagree about its last read.
    SlotsDisagree,
    /// The result of a long-latency operation is read, and the warp has not been descheduled since.
    ReadUnmarked,
    /// The result of a long-latency operation is overwritten, and the warp has not been descheduled since.
    OverwrittenUnmarked,
    /// A value that bypassed the RFC is read before the warp is descheduled.
    ReadPastCache,
    /// A long-latency operation, which bypasses the RFC anyway, has the bypass mark.
    LongLatencyPastCache,
    /// A shared unit reads a value that may be in the LRF.
    SharedReadOfLrf,
    /// An operation that does not write the LRF has the mark that it bypasses the LRF.
    NotOfTheLrf,
    /// A lane reads a value of a register that was declared free for the whole warp after the value was written.
    ReadOfFree,
    /// A register is declared free while its last write may be in flight: no instruction has read the register since.
    FreeOnItsWay,
    /// An instruction that may end the warp, and with it the warp's registers, declares one free.
    FreeAtEnd,
}

/// A mark that is wrong or missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkFault {
    /// What is wrong.
    pub wrong: Wrong,
    /// The instruction at which the fault appears.
    pub pc: u32,
    /// The register.
    pub register: Reg,
    /// The lanes concerned.
    pub lanes: Mask,
    /// The warp.
    pub warp: WarpId,
}

/// Counts of marks. Registers count once for each instruction that reads them, whatever the number of slots and lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MarkCounts {
    /// Instructions that warps executed, in any lane or none.
    pub instructions: u64,
    /// Registers read.
    pub reads: u64,
    /// Those of them that were marked as last.
    pub last_reads: u64,
    /// Values of a lane that were read at least once, so that one of the reads was the last.
    pub lane_values: u64,
    /// Last reads of a lane that were marked.
    pub lane_last_reads: u64,
    /// Registers written by operations whose results may go to the RFC: all but those of long latency.
    pub results: u64,
    /// Those of them that bypassed the RFC.
    pub past_cache: u64,
    /// Registers written by the private datapath, which go to the LRF.
    pub private_results: u64,
    /// Those of them that bypassed the LRF.
    pub past_lrf: u64,
    /// Results of long-latency operations.
    pub long_results: u64,
    /// Instructions marked for descheduling.
    pub deschedules: u64,
    /// Those of them that waited for no result: the mark is needed on another path.
    pub idle_deschedules: u64,
    /// Instructions that access a register without the mark while its result is pending in other lanes: those of the other side of a branch.
    pub waits_for_other_lanes: u64,
    /// Instructions that declare a register free.
    pub free_registers: u64,
}

impl MarkCounts {
    /// Adds other counts to these.
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
    /// Lanes that have read the value since it was written.
    read: Mask,
    /// Lanes in which a mark said that the value was read for the last time.
    last: Mask,
    /// Lanes in which it is the result of a long-latency operation and the warp has not been descheduled since.
    coming: Mask,
    /// Lanes in which it bypassed the RFC and the warp has not been descheduled since.
    past_cache: Mask,
    /// Lanes in which it went to the LRF and the warp has not been descheduled since.
    lrf: Mask,
    /// Lanes in which its register was declared free after the value was written.
    free: Mask,
    /// Whether some lane has written the register and no lane has read it since: the write of a warp register completes as a whole.
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
    /// Number of faults that are kept: the first ones.
    const KEPT: usize = 100;

    /// A judge of a launch.
    pub fn new(scope: Scope) -> Self {
        Self { scope, warps: HashMap::new(), faults: Vec::new(), counts: MarkCounts::default() }
    }

    /// Ends the launch: returns the faults, at most the first hundred, and the counts.
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

    /// The warp gives up its active slot, and returns when all pending results have arrived. RFC and LRF are empty then. Returns whether a result was
    /// pending.
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
            // A result that bypasses the RFC also bypasses the LRF above it.
            lrf: set(value.lrf, private && !control.bypass.lrf && !control.bypass.cache),
            free: set(value.free, false),
            on_its_way: true,
        };
    }

    /// Checks the registers that an instruction reads and writes, in the lanes that execute it.
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
            // This does not depend on the guard: the warp is descheduled before the instruction issues.
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

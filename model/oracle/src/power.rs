//! Judges the power states of a program by what its warps do, and counts them.
//!
//! The compiler proves on the control-flow graph that a register which it switches off is dead for the warp (`docs/power.md`). This judge does not
//! use the graph: it records which lanes lost their value when a register went OFF, and reports a lane that reads a lost value. It shares only the
//! meaning of the fields ([`gpurf_isa::Instruction::power_states`]) with the compiler, and sees lanes as the SIMT stack runs them, one side of a
//! branch after the other.
//!
//! The states follow program order: an instruction wakes its registers, then they take the states of its fields. So the counts do not involve time:
//! they include neither latencies nor a lookup table of later instructions.
//!
//! The states are those of words of the main register file. Where ORF and LRF lie above it, the judge takes the machine's levels into account: a read
//! or write in an upper level does not access the register's word, needs no value in it and stores none there.
//!
//! A judge is an [`Observer`] of one launch ([`crate::Oracle::run_observed`]).

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;

use gpurf_isa::{Instruction, Places, PowerState, Reg, ResultLevel, SourceLevel};

use crate::commit::{Issue, Observer, WarpId};
use crate::lanes::Mask;

/// A number for each state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByState {
    /// ON.
    pub on: u64,
    /// SLEEP.
    pub sleep: u64,
    /// OFF.
    pub off: u64,
}

impl ByState {
    /// The sum over all states.
    pub const fn total(&self) -> u64 {
        self.on + self.sleep + self.off
    }

    fn of(&mut self, state: PowerState) -> &mut u64 {
        match state {
            PowerState::On => &mut self.on,
            PowerState::Sleep => &mut self.sleep,
            PowerState::Off => &mut self.off,
        }
    }
}

impl AddAssign for ByState {
    fn add_assign(&mut self, other: Self) {
        self.on += other.on;
        self.sleep += other.sleep;
        self.off += other.off;
    }
}

/// Counts of power states. A register counts once for each instruction that accesses it, whatever the number of slots and lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerCounts {
    /// Instructions that warps executed, in any lane or none.
    pub instructions: u64,
    /// States in which accesses left their registers.
    pub left: ByState,
    /// States in which accesses found their registers. Those that were not ON had to be woken. The first access of a register by a warp finds it OFF.
    pub found: ByState,
    /// States of the kernel's registers after each instruction of a warp: registers times instructions.
    pub registers: ByState,
}

impl AddAssign for PowerCounts {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.left += other.left;
        self.found += other.found;
        self.registers += other.registers;
    }
}

/// A read of a value that was lost when its register was switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PowerFault {
    /// The instruction that reads it.
    pub pc: u32,
    /// The instruction that last switched the register off.
    pub off: u32,
    /// The register.
    pub register: Reg,
    /// The lanes that read a lost value.
    pub lanes: Mask,
    /// The warp.
    pub warp: WarpId,
}

impl fmt::Display for PowerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pc, off, register, lanes, warp: WarpId { block, warp } } = self;
        write!(
            f,
            "block {block}, warp {warp}, instruction {pc}, lanes {lanes:08x}: {register}, which instruction {off} switched off"
        )
    }
}

/// A register of a warp.
#[derive(Clone, Copy, Debug)]
struct Register {
    state: PowerState,
    /// The instruction that last switched it off.
    off: u32,
    /// Lanes whose value was lost with the power, and that have not written the register since. None at the start: another check finds reads of
    /// registers that were never written.
    lost: Mask,
}

/// The state of a running warp.
#[derive(Debug)]
struct Warp {
    registers: Vec<Register>,
    /// Number of the kernel's registers in each state.
    now: ByState,
}

/// Watches a launch.
#[derive(Debug)]
pub struct PowerJudge {
    /// Registers of a thread.
    registers: u16,
    /// Places above the main register file.
    places: Places,
    /// The block that runs; blocks run one after the other.
    block: u64,
    warps: HashMap<u32, Warp>,
    faults: Vec<PowerFault>,
    counts: PowerCounts,
}

impl PowerJudge {
    /// Number of faults that are kept: the first ones.
    const KEPT: usize = 100;

    /// A judge of a launch of a kernel with this many registers, the ones whose states are counted. All registers begin as OFF.
    pub fn new(registers: u16) -> Self {
        Self::above(registers, Places::NONE)
    }

    /// Like [`Self::new`], for a machine with these places above the main register file.
    pub fn above(registers: u16, places: Places) -> Self {
        Self { registers, places, block: 0, warps: HashMap::new(), faults: Vec::new(), counts: PowerCounts::default() }
    }

    /// Ends the launch: returns the faults, at most the first hundred, and the counts.
    pub fn finish(self) -> (Vec<PowerFault>, PowerCounts) {
        (self.faults, self.counts)
    }

    fn complain(&mut self, fault: PowerFault) {
        if fault.lanes != 0 && self.faults.len() < Self::KEPT {
            self.faults.push(fault);
        }
    }

    fn warp(&mut self, warp: WarpId) -> &mut Warp {
        let registers = self.registers;
        self.warps.entry(warp.warp).or_insert_with(|| Warp {
            registers: vec![Register { state: PowerState::Off, off: 0, lost: 0 }; usize::from(Reg::ZERO.0)],
            now: ByState { off: registers.into(), ..ByState::default() },
        })
    }

    /// Puts a register into a state.
    fn put(&mut self, warp: WarpId, register: Reg, state: PowerState) {
        let counted = register.index() < usize::from(self.registers);
        let warp = self.warp(warp);
        let old = std::mem::replace(&mut warp.registers[register.index()].state, state);
        if counted {
            *warp.now.of(old) -= 1;
            *warp.now.of(state) += 1;
        }
    }

    /// Whether an instruction reads a register's word in the main register file.
    fn reads(&self, instruction: &Instruction, register: Reg) -> bool {
        instruction.sources().any(|(slot, source)| {
            source == register
                && match instruction.control.source_level(slot) {
                    SourceLevel::Mrf | SourceLevel::MrfCopied(_) => true,
                    SourceLevel::Upper(place) => !self.places.has(place),
                }
        })
    }

    /// Whether an instruction writes its result to the word in the main register file; results from global memory always go there.
    fn writes(&self, instruction: &Instruction) -> bool {
        match instruction.control.result_level {
            ResultLevel::Mrf | ResultLevel::Both(_) => true,
            ResultLevel::Upper(place) => !self.places.has(place) || instruction.is_long_latency(),
        }
    }

    /// Wakes the registers of an access, and reports values that it reads and that are lost.
    fn access(&mut self, at: &Issue<'_>, instruction: &Instruction) {
        for (register, _) in instruction.power_states(self.places) {
            let Register { state, off, lost } = self.warp(at.warp).registers[register.index()];
            *self.counts.found.of(state) += 1;
            self.put(at.warp, register, PowerState::On);
            if self.reads(instruction, register) {
                self.complain(PowerFault { pc: at.pc, off, register, lanes: lost & at.mask, warp: at.warp });
            }
        }
        if let Some(register) = instruction.destination().filter(|_| self.writes(instruction)) {
            self.warp(at.warp).registers[register.index()].lost &= !at.mask;
        }
    }
}

impl Observer for PowerJudge {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block = at.warp.block;
            self.warps.clear();
        }
        let instruction = at.instruction;
        if at.mask != 0 {
            self.access(at, instruction);
        }
        for (register, state) in instruction.power_states(self.places) {
            // A machine may apply or ignore the fields of an instruction without active lanes: they have to be right in both cases.
            if state == PowerState::Off {
                let place = &mut self.warp(at.warp).registers[register.index()];
                (place.off, place.lost) = (at.pc, Mask::MAX);
            }
            if at.mask != 0 {
                *self.counts.left.of(state) += 1;
                self.put(at.warp, register, state);
            }
        }
        self.counts.instructions += 1;
        let now = self.warp(at.warp).now;
        self.counts.registers += now;
    }
}

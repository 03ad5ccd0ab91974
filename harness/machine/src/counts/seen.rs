//! What happens at the register file in a cycle: the order of events in time, the only information that replays take from the SM.

use gpurf_blocks::instruction::{PROBE, opcode};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::operands::OperandStageProbe;
use gpurf_blocks::sizes::{MAX_ACTIVE, MAX_WARPS};
use gpurf_blocks::write::WriteFields;
use gpurf_oracle::{Mask, lanes_of};

use super::uses::Uses;
use crate::cycle::Cycle;

/// An instruction that is sent to the register file for operands.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The warp slot.
    pub warp: u8,
    /// Its slot among the active warps.
    pub slot: usize,
    /// Its place in the operand stage.
    pub tag: usize,
    /// Its address.
    pub pc: u32,
    /// The lanes that execute it.
    pub mask: Mask,
    /// The registers that it reads and writes.
    pub uses: Uses,
    /// It only computes the addresses of its warp's head, and has no other effect (`docs/blocks/scratchpad_locks.md`).
    pub is_probe: bool,
}

/// A result on a bus, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The warp slot.
    pub warp: u8,
    /// The register.
    pub register: u8,
    /// The lanes.
    pub mask: Mask,
    /// The instruction that produces it.
    pub by: Uses,
    /// The next instruction of the warp is available, and reads it.
    pub is_read_next: bool,
}

/// The slots of active warps.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    valid: u64,
    warps: &'a [u8; MAX_ACTIVE],
    flush: u64,
    drop: u64,
}

impl Slots<'_> {
    /// The slot of a warp; `None` if the warp is not active.
    pub fn of(&self, warp: u8) -> Option<usize> {
        (0..MAX_ACTIVE).find(|&slot| self.valid >> slot & 1 == 1 && self.warps[slot] == warp)
    }

    /// The warp of a slot.
    pub fn warp(&self, slot: usize) -> u8 {
        self.warps[slot]
    }

    /// Whether a slot has a warp that has not left it.
    pub fn is_open(&self, slot: usize) -> bool {
        self.valid >> slot & 1 == 1 && !self.is_flushed(slot)
    }

    /// Whether a slot is being emptied.
    pub fn is_flushed(&self, slot: usize) -> bool {
        self.flush >> slot & 1 == 1
    }

    /// Whether the contents of a slot are discarded, because its warp has ended.
    pub fn is_dropped(&self, slot: usize) -> bool {
        self.is_flushed(slot) && self.drop >> slot & 1 == 1
    }
}

/// The events of a cycle.
pub struct Seen<'a> {
    /// Instructions that issue, with or without operands, by port: the slot of the warp among the active ones, and the uses.
    pub issued: [Option<(usize, Uses)>; MAX_PORTS],
    /// Instructions taken, by issue port.
    pub taken: [Option<Taken>; MAX_PORTS],
    /// Results taken, by bus.
    pub results: [Option<Part>; MAX_PORTS],
    /// Buses whose result is done, one bit each.
    pub done: u8,
    /// Place in the operand stage of the instruction that is dispatched, by port.
    pub dispatched: [Option<usize>; MAX_PORTS],
    /// The slots of active warps.
    pub slots: Slots<'a>,
    /// Events inside the register file: they say which of the possible actions takes place in this cycle.
    pub inside: &'a OperandStageProbe,
    /// All nets of the cycle.
    pub cycle: &'a Cycle<'a>,
}

/// For each register the instruction that writes it: the last one taken.
pub struct Writers(Vec<Option<Uses>>);

/// Number of register names of a warp.
const REGISTERS: usize = 256;

impl Writers {
    /// No instruction has written anything.
    pub fn new() -> Self {
        Self(vec![None; MAX_WARPS * REGISTERS])
    }

    fn place(warp: u8, register: u8) -> usize {
        usize::from(warp) % MAX_WARPS * REGISTERS + usize::from(register)
    }

    /// Notes an instruction that is taken.
    fn note(&mut self, taken: &Taken) {
        if let Some(register) = taken.uses.destination {
            self.0[Self::place(taken.warp, register)] = Some(taken.uses);
        }
    }
}

impl<'a> Seen<'a> {
    /// Reads a cycle from the SM's nets. `uses` is the program; an address outside it, or a result that nothing produces, is an error.
    pub fn of(cycle: &'a Cycle<'a>, uses: &[Uses], writers: &mut Writers) -> Result<Self, String> {
        let o = &cycle.probe.outputs;
        let inside = &cycle.probe.states.operand_stage;
        let (issue, scheduler, stage) = (&o.issue_stage, &o.warp_scheduler, &o.operand_stage);
        let mut results = [None; MAX_PORTS];
        for bus in lanes_of((o.writeback.write_valid_o & stage.write_ready_o).into()) {
            let WriteFields { warp, d: register, mask, .. } = o.writeback.write_o[bus].fields();
            let by = writers.0[Writers::place(warp, register)];
            let by = by.ok_or_else(|| {
                format!("a result comes for R{register} of warp slot {warp}, which no instruction writes")
            })?;
            let buffer = &o.instruction_buffer;
            let head = (buffer.head_valid_o >> warp & 1 == 1).then(|| buffer.head_pc_o[usize::from(warp)]);
            let next = head.and_then(|pc| uses.get(pc as usize));
            let is_read_next = next.is_some_and(|next| next.registers().any(|(_, source)| source.register == register));
            results[bus] = Some(Part { warp, register, mask, by, is_read_next });
        }
        let (mut issued, mut taken) = ([None; MAX_PORTS], [None; MAX_PORTS]);
        for p in lanes_of(scheduler.issue_valid_o.into()) {
            let (warp, pc, mask) = (issue.warp_o[p], issue.instruction_o[p].pc(), issue.exec_o[p]);
            let mut uses =
                *uses.get(pc as usize).ok_or_else(|| format!("warp slot {warp} issues at {pc}, beyond the code"))?;
            let is_probe = opcode(issue.instruction_o[p].op()) == PROBE;
            if is_probe {
                uses = uses.of_probe();
            }
            let slot = scheduler.issue_slot_o[p].into();
            issued[p] = Some((slot, uses));
            if issue.operand_valid_o & stage.issue_ready_o & 1 << p != 0 {
                let instruction = Taken { warp, slot, tag: inside.nets.issue_tag[p].into(), pc, mask, uses, is_probe };
                writers.note(&instruction);
                taken[p] = Some(instruction);
            }
        }
        let mut dispatched = [None; MAX_PORTS];
        for p in lanes_of((stage.dispatch_valid_o & o.dispatcher.dispatch_ready_o).into()) {
            dispatched[p] = Some(inside.nets.dispatch_tag[p].into());
        }
        let slots = Slots {
            valid: scheduler.slot_valid_o,
            warps: &scheduler.slot_warp_o,
            flush: scheduler.flush_o,
            drop: scheduler.drop_o,
        };
        Ok(Self { issued, taken, results, done: stage.write_done_o, dispatched, slots, inside, cycle })
    }
}

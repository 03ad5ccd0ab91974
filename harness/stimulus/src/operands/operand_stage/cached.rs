//! Inputs of `operand_stage` with a cache in it: those of an SM around it.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::{NO_REG, unit};
use gpurf_blocks::operands::{OperandStage, OperandStageIn};
use gpurf_blocks::rfc::Rfc;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::Twin;
use crate::rfc::{Core, CoreKnobs, Done, Instruction};

/// Knows by a twin what is taken and when.
pub(super) struct Cached {
    shape: SmShape,
    twin: Twin<OperandStage>,
    core: Core,
    /// The number of an instruction, in the lowest bits of its address: so it is known again when it is dispatched.
    number: u32,
}

/// LD, ATOM and CAS.
const LONG: [u64; 3] = [0x40, 0x43, 0x44];
/// Units of instructions that have operands; the first two are private.
const UNITS: [u8; 6] = [unit::ALU, unit::FP, unit::MEMORY, unit::BARRIER, unit::SFU, unit::UNSUPPORTED];

impl Cached {
    pub(super) fn new(shape: &SmShape) -> Self {
        let sizes = super::rfc_of(shape).expect("the stage has a cache");
        let slots = Rfc::shape_in(shape, &sizes);
        let number = slots.tags().next_power_of_two() as u32 - 1;
        Self { shape: *shape, twin: Twin::new(shape), core: Core::new(&slots), number }
    }

    /// `rst_ni`, `cfg_i`, `rows_i` and `dispatch_ready_i` are there.
    pub(super) fn drive(&mut self, rng: &mut Rng, knobs: &CoreKnobs, i: &mut OperandStageIn) {
        let count = self.shape.ports();
        self.twin.early();
        self.core.begin(rng, knobs);
        (i.slot_valid_i, i.flush_i, i.drop_i) = (self.core.valid(), self.core.flush(), self.core.drop());
        for s in 0..self.shape.active {
            i.slot_warp_i[s] = self.core.warp_of(s);
        }
        i.issue_valid_i = 0;
        let mut done = Done::default();
        for p in 0..count {
            let instruction = self.core.instruction(rng, knobs, p);
            if let (Some(instruction), Some(number)) = (instruction, self.core.tag(p)) {
                i.issue_valid_i |= 1 << p;
                issue(rng, i, p, &instruction, self.number, number as u32);
                let taken = self.twin.out.issue_ready_o >> p & 1 == 1;
                done.taken[p] = Some((number, instruction)).filter(|_| taken);
            }
        }
        (i.write_valid_i, i.write_private_i) = (0, 0);
        let mut offers = [None; 2];
        for (b, offer) in offers.iter_mut().enumerate().take(count) {
            *offer = self.core.results.offer(b);
            let Some(result) = offer else { continue };
            i.write_valid_i |= 1 << b;
            i.write_private_i |= u8::from(result.private) << b;
            (i.write_warp_i[b], i.write_reg_i[b], i.write_mask_i[b]) = (result.warp, result.register, result.mask);
            rng.fill(&mut i.write_data_i[b].0);
        }
        self.twin.late(i);
        let out = &self.twin.out;
        for (p, offer) in offers.into_iter().enumerate().take(count) {
            let at = |set: u8| set >> p & 1 == 1;
            done.written[p] = offer.filter(|_| at(out.write_ready_o));
            let number = (out.dispatch_pc_o[p] & self.number) as usize;
            done.dispatched[p] = at(out.dispatch_valid_o & i.dispatch_ready_i).then_some(number);
        }
        (done.done, done.flushed) = (out.write_done_o, out.flush_done_o);
        self.core.end(rng, knobs, &done);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.core.clear();
        }
    }
}

fn issue(rng: &mut Rng, i: &mut OperandStageIn, p: usize, instruction: &Instruction, bits: u32, number: u32) {
    let (last, bypass) = (u64::from(instruction.marks.last), u64::from(instruction.marks.bypass));
    let marks = last << 20 | u64::from(instruction.marks.past) << 25 | bypass << 26;
    i.issue_warp_i[p] = instruction.warp;
    i.issue_slot_i[p] = instruction.slot;
    i.issue_mask_i[p] = instruction.mask;
    i.issue_pc_i[p] = rng.next_u64() as u32 & 0xf_ffff & !bits | number;
    i.issue_ctl_i[p] = rng.next_u64() & !(0b111 << 20 | 0b11 << 25) | marks;
    i.issue_op_i[p] = operation(rng, instruction);
    (i.issue_s_i[p], i.issue_t_i[p]) = (rng.next_u64() as u32, rng.next_u64() as u32);
    let names: [u8; OPERANDS] = instruction.sources;
    let unit = UNITS[if instruction.private { rng.below(2) } else { 2 + rng.below(4) } as usize];
    i.issue_roles_i[p] = rng.next_u64() & 0x1_ffff << 32
        | u64::from(unit) << 49
        | u64::from(u32::from_le_bytes([names[0], names[1], names[2], instruction.dst]));
}

/// An operation word that says whether it takes long.
fn operation(rng: &mut Rng, instruction: &Instruction) -> u64 {
    let any = rng.next_u64();
    let memory = instruction.long || any & 0x7f == 0x40 || rng.chance(300);
    let opcode = if memory { LONG[rng.below(3) as usize] } else { any & 0x7f };
    let mut space = rng.below(4);
    if instruction.dst != NO_REG && LONG.contains(&opcode) {
        // Shared memory is not far.
        space = if instruction.long { [0, 2, 3][rng.below(3) as usize] } else { 1 };
    }
    any & !(0x7f | 3 << 28) | opcode | space << 28
}

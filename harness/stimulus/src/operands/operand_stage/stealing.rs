//! Inputs of `operand_stage` with a file in it whose idle banks are stolen: those of an SM around it.

use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::operands::{OperandStage, OperandStageIn};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::Twin;
use crate::steal::{Core, CoreKnobs, Done, Instruction};

/// Knows by a twin what is taken and when.
pub(super) struct Stealing {
    shape: SmShape,
    twin: Twin<OperandStage>,
    core: Core,
}

/// The free register in the control word, inverted.
const HINT: u32 = 53;

impl Stealing {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self { shape: *shape, twin: Twin::new(shape), core: Core::in_order(&shape.mrf) }
    }

    /// `rst_ni`, `cfg_i` and `dispatch_ready_i` are there.
    pub(super) fn drive(&mut self, rng: &mut Rng, knobs: &CoreKnobs, i: &mut OperandStageIn) {
        self.twin.early();
        self.core.begin(rng, knobs);
        i.rows_i = self.core.rows() as u8;
        let fresh = self.core.fresh();
        (i.clear_i, i.spare_i) = (fresh.is_some().into(), fresh.unwrap_or(rng.chance(500)).into());
        let mut done = Done::default();
        (i.issue_valid_i, i.candidate_valid_i, i.write_valid_i) = (0, 0, 0);
        // What follows from state and straps.
        self.twin.late(i);
        for p in 0..self.shape.ports() {
            let at = |set: u8| set >> p & 1 == 1;
            let out = &self.twin.out;
            let (issues, candidate) = self.core.schedule(rng, knobs, p, at(out.candidate_issue_o));
            if let Some(instruction) = issues {
                i.issue_valid_i |= 1 << p;
                i.issue_warp_i[p] = self.core.name(instruction.warp);
                issue(rng, i, p, &instruction, self.core.registers());
                done.taken[p] = Some(instruction).filter(|_| at(out.issue_ready_o));
            }
            if let Some(instruction) = candidate {
                i.candidate_valid_i |= 1 << p;
                i.candidate_warp_i[p] = self.core.name(instruction.warp);
                i.candidate_roles_i[p] = roles(rng, &instruction);
            }
            let dispatched = at(out.dispatch_valid_o & i.dispatch_ready_i).then_some(out.dispatch_warp_o[p]);
            done.dispatched[p] = dispatched.and_then(|name| self.core.warp_of(name));
            if let Some(result) = self.core.results.offer(p) {
                i.write_valid_i |= 1 << p;
                (i.write_warp_i[p], i.write_reg_i[p]) = (self.core.name(result.warp), result.register);
                i.write_mask_i[p] = result.mask;
                rng.fill(&mut i.write_data_i[p].0);
                done.written[p] = Some(result).filter(|_| at(out.write_ready_o));
            }
        }
        self.twin.late(i);
        done.done = self.twin.out.write_done_o;
        self.core.end(rng, knobs, &done);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.core.clear();
        }
    }
}

fn issue(rng: &mut Rng, i: &mut OperandStageIn, p: usize, instruction: &Instruction, registers: usize) {
    // One that says nothing may name a register that its warp does not have.
    let beyond = registers as u64 + rng.below(u64::from(NO_REG) - registers as u64 + 1);
    let hint = if instruction.hint == NO_REG { beyond } else { instruction.hint.into() };
    i.issue_mask_i[p] = instruction.mask;
    i.issue_pc_i[p] = rng.next_u64() as u32 & 0xf_ffff;
    i.issue_op_i[p] = rng.next_u64();
    i.issue_ctl_i[p] = rng.next_u64() & !(0xff << HINT) | (!hint & 0xff) << HINT;
    (i.issue_s_i[p], i.issue_t_i[p]) = (rng.next_u64() as u32, rng.next_u64() as u32);
    i.issue_roles_i[p] = roles(rng, instruction);
}

/// Any roles, but for the registers.
fn roles(rng: &mut Rng, instruction: &Instruction) -> u64 {
    let [a, b, c] = instruction.sources;
    rng.next_u64() & 0xf_ffff_0000_0000 | u64::from(u32::from_le_bytes([a, b, c, instruction.dst]))
}

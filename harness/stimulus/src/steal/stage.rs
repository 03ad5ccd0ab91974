//! Inputs of `operand_stage` with a register file whose idle banks are stolen: those of an SM around it.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles, RolesFields};
use gpurf_blocks::operands::{OperandStage, OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::write::{WriteFields, WriteWord};
use gpurf_lockstep::Rng;

use super::{Core, CoreKnobs, Done, Instruction};
use crate::driver::{Twin, any_instruction};
use crate::operands::operand_stage::{StageDesign, Surroundings, slots};
use crate::{Points, Unreached, cover};

/// The line of this design in the list of designs.
pub(crate) const STAGE: Option<StageDesign> = Some(StageDesign::of::<Stealing>());

/// Drives the inputs of the design. A twin tells what is taken and when.
struct Stealing {
    shape: SmShape,
    twin: Twin<OperandStage>,
    core: Core,
}

/// Lowest bit, in the control word, of the number of the dead register, which is inverted.
const HINT: u32 = 53;

impl Surroundings for Stealing {
    type Knobs = CoreKnobs;
    type Cover = StealingCover;
    const ROWS: u64 = 10;

    fn new(shape: &SmShape) -> Option<Self> {
        let is_here = shape.services().takes_candidates;
        is_here.then(|| Self { shape: *shape, twin: Twin::new(shape), core: Core::in_order(&shape.mrf) })
    }

    fn unreached(shape: &SmShape) -> Vec<Unreached> {
        let mut all = Unreached::parity(&["issue_warp_i", "candidate_warp_i"], shape.ports());
        // Rows of a warp: those of its registers, or its part of the file.
        let (banks, depth) = (shape.mrf.banks, shape.mrf.depth);
        let rows = usize::from(NO_REG).div_ceil(banks).min(depth / shape.ports());
        all.push(Unreached::bits("rows_i", rows.ilog2() + 1..=7, "a warp has fewer rows"));
        if rows * banks <= 128 {
            all.push(Unreached::field::<WriteWord>("write_i", "d", 7..=7, "a warp has fewer registers"));
        }
        // A warp's first row follows from its number.
        if depth <= 32 {
            let why = "the file has a row for fewer warps";
            all.extend(["issue_warp_i", "candidate_warp_i"].map(|name| Unreached::bits(name, 5..=5, why)));
            all.push(Unreached::field::<WriteWord>("write_i", "warp", 5..=5, why));
        }
        all
    }

    fn spared(_: &SmShape) -> Vec<&'static str> {
        vec!["rows begin anew after the last"]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CoreKnobs, i: &mut OperandStageIn) {
        slots(&self.shape, rng, i);
        self.twin.early();
        self.core.begin(rng, knobs);
        i.rows_i = self.core.rows() as u8;
        let fresh = self.core.fresh();
        (i.clear_i, i.spare_i) = (fresh.is_some().into(), fresh.unwrap_or(rng.chance(500)).into());
        let mut done = Done::default();
        (i.issue_valid_i, i.candidate_valid_i) = (0, 0);
        (i.write_valid_i, i.write_next_i) = (0, 0);
        // Computes the outputs that follow from state and straps.
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
                i.candidate_roles_i[p] = roles(rng, &instruction).0;
            }
            let dispatched = at(out.dispatch_valid_o & i.dispatch_ready_i).then_some(out.dispatch_warp_o[p]);
            done.dispatched[p] = dispatched.and_then(|name| self.core.warp_of(name));
            if let Some(result) = self.core.results.offer(p) {
                i.write_valid_i |= 1 << p;
                i.write_next_i |= u8::from(self.core.is_read_next(rng, knobs, &result)) << p;
                i.write_i[p] = WriteFields { warp: self.core.name(result.warp), ..result.fields() }.into();
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
    // An instruction that names no dead register may name one that its warp does not have.
    let beyond = registers as u64 + rng.below(u64::from(NO_REG) - registers as u64 + 1);
    let hint = if instruction.hint == NO_REG { beyond } else { instruction.hint.into() };
    i.issue_mask_i[p] = instruction.mask;
    let mut given = any_instruction(rng);
    given.ctl = given.ctl & !(0xff << HINT) | (!hint & 0xff) << HINT;
    given.roles = roles(rng, instruction);
    i.issue_instruction_i[p] = given.into();
}

/// Random roles, except for the registers.
fn roles(rng: &mut Rng, instruction: &Instruction) -> Roles {
    let [a, b, c] = instruction.sources;
    RolesFields { a, b, c, d: instruction.dst, ..Roles(rng.next_u64()).fields() }.into()
}

struct StealingCover {
    shape: SmShape,
}

#[cover]
impl StealingCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &OperandStageIn, o: &OperandStageOut, p: &OperandStageProbe, points: &mut Points) {
        let left = o.dispatch_valid_o & i.dispatch_ready_i;
        let nets = &p.nets;
        let ports = |mask: u8| (0..self.shape.ports()).filter(move |p| mask >> p & 1 == 1);
        let sources = |p: usize| nets.candidate_src_valid >> (OPERANDS * p) & 7;
        let names = |p: usize| i.candidate_roles_i[p] as u32 & 0xff_ffff != 0xff_ffff;
        let none = !i.candidate_valid_i & ((1 << self.shape.ports()) - 1);
        let register = |p: usize| (!(o.dispatch_instruction_o[p].ctl() >> HINT)) as u8;
        let said = |p: usize| register(p) != NO_REG;
        let hint = |p: usize| nets.hint_valid >> p & 1 == 1;
        let last = |p: usize| usize::from(register(p)) + 1 == self.shape.mrf.banks * usize::from(i.rows_i);
        point!("a candidate with three register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 7));
        point!("a candidate without register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 0));
        point!("a candidate's rows do not begin at 0", ports(i.candidate_valid_i).any(|p| nets.candidate_base[p] != 0));
        point!("no candidate, and roles that name registers", ports(none).any(names));
        point!("a dispatched instruction names a dead register", ports(left).any(hint));
        point!("one that its warp does not have", ports(left).any(|p| said(p) && !hint(p)));
        point!("the last one that its warp has", ports(left).any(|p| hint(p) && last(p)));
        point!("it names none", ports(left).any(|p| !said(p)));
        point!("one that is not dispatched names a dead register", ports(o.dispatch_valid_o & !left).any(said));
        point!(
            "a dead register of a warp whose rows do not begin at 0",
            ports(left).any(|p| hint(p) && nets.hint_base[p] != 0)
        );
        point!("a grid begins, and a row is left over", i.clear_i == 1 && i.spare_i == 1);
        point!("a grid begins, and no row is left over", i.clear_i == 1 && i.spare_i == 0);
    }
}

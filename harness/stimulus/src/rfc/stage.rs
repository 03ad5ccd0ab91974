//! Inputs of `operand_stage` with a cache in it: those of an SM around it.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::instruction::{InstructionFields, NO_REG, RolesFields, unit};
use gpurf_blocks::operands::{OperandStage, OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::rfc::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT, Rfc, RfcSizes};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::{Core, CoreKnobs, Done, Instruction};
use crate::cover::part;
use crate::driver::{Twin, any_instruction};
use crate::operands::operand_stage::{StageDesign, Surroundings};
use crate::{Points, Unreached, cover};

/// The line of this design in the list of designs.
pub(crate) const STAGE: Option<StageDesign> = Some(StageDesign::of::<Cached>());

/// Drives the inputs of the design. A twin tells what is taken and when.
struct Cached {
    shape: SmShape,
    twin: Twin<OperandStage>,
    core: Core,
    /// Mask of the lowest bits of an instruction's address. They hold its number, so that it is recognised when it is dispatched.
    number: u32,
    /// Rows of a warp, if row numbers do not wrap.
    rows: u8,
}

/// TEX.
const FETCH: u64 = 0x46;
/// LD, ATOM, CAS, and TEX, whose modifiers name no space.
const LONG: [u64; 4] = [0x40, 0x43, 0x44, FETCH];
/// Units of instructions that have operands, the first two of them private, and numbers that differ from these two in a bit.
const UNITS: [u8; 9] =
    [unit::ALU, unit::FP, unit::MEMORY, unit::BARRIER, unit::SFU, unit::CONSTANT, unit::UNSUPPORTED, 9, 13];

/// The sizes of the cache, where the stage has one.
fn sizes(shape: &SmShape) -> Option<RfcSizes> {
    match shape.organisation {
        Organisation::Rfc(sizes) => Some(sizes),
        _ => None,
    }
}

impl Surroundings for Cached {
    type Knobs = CoreKnobs;
    type Cover = CachedCover;
    const ROWS: u64 = 1;

    fn new(shape: &SmShape) -> Option<Self> {
        let slots = Rfc::shape_in(&shape.stage_sizes(), &sizes(shape)?);
        let number = slots.tags().next_power_of_two() as u32 - 1;
        Some(Self { shape: *shape, twin: Twin::new(shape), core: Core::new(&slots), number, rows: 0 })
    }

    fn unreached(shape: &SmShape) -> Vec<Unreached> {
        Unreached::parity(&["issue_warp_i", "issue_slot_i", "slot_warp_i"], shape.ports())
    }

    fn spared(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec!["all places are busy", "a slot is empty at once", "slots without a cache"];
        // Few results go to a bank, and with a port for them they are hardly ever held.
        if shape.ports() == 1 && shape.mrf.dual_port {
            points.push("a result is held by an older read");
        }
        points
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CoreKnobs, i: &mut OperandStageIn) {
        let count = self.shape.ports();
        self.twin.early();
        if self.shape.unified() && self.rows != i.rows_i {
            self.rows = i.rows_i;
            self.core.clear();
            self.core.divide(self.rows.into());
        }
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
        i.write_valid_i = 0;
        let mut offers = [None; 2];
        for (b, offer) in offers.iter_mut().enumerate().take(count) {
            *offer = self.core.results.offer(b);
            let Some(result) = offer else { continue };
            i.write_valid_i |= 1 << b;
            i.write_i[b] = result.fields().into();
            rng.fill(&mut i.write_data_i[b].0);
        }
        self.twin.late(i);
        let out = &self.twin.out;
        for (p, offer) in offers.into_iter().enumerate().take(count) {
            let at = |set: u8| set >> p & 1 == 1;
            done.written[p] = offer.filter(|_| at(out.write_ready_o));
            let number = (out.dispatch_instruction_o[p].pc() & self.number) as usize;
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
    let mut given = any_instruction(rng);
    given.pc = given.pc & !bits | number;
    given.ctl = given.ctl & !(0b111 << 20 | 0b11 << 25) | marks;
    given.op = operation(rng, instruction);
    let [a, b, c] = instruction.sources;
    let unit = UNITS[if instruction.private { rng.below(2) } else { 2 + rng.below(UNITS.len() as u64 - 2) } as usize];
    given.roles = RolesFields { a, b, c, d: instruction.dst, unit, ..given.roles.fields() }.into();
    i.issue_instruction_i[p] = given.into();
}

/// An operation word that matches the latency of the instruction.
fn operation(rng: &mut Rng, instruction: &Instruction) -> u64 {
    let any = rng.next_u64();
    let memory = instruction.long || matches!(any & 0x7f, 0x40 | FETCH) || rng.chance(300);
    // A fetch with a register always takes long.
    let kinds = if instruction.long || instruction.dst == NO_REG { 4 } else { 3 };
    let opcode = if memory { LONG[rng.below(kinds) as usize] } else { any & 0x7f };
    let mut space = rng.below(4);
    if instruction.dst != NO_REG && opcode != FETCH && LONG.contains(&opcode) {
        // Accesses to shared memory have a short latency.
        space = if instruction.long { [0, 2, 3][rng.below(3) as usize] } else { 1 };
    }
    any & !(0x7f | 3 << 28) | opcode | space << 28
}

struct CachedCover {
    shape: SmShape,
    sizes: RfcSizes,
}

#[cover]
impl CachedCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            sizes: sizes(shape).unwrap_or(RfcSizes { entries: 0, lrf: false, reads: false, release: false, power: 0 }),
        }
    }

    fn observe(&mut self, i: &OperandStageIn, o: &OperandStageOut, p: &OperandStageProbe, points: &mut Points) {
        let taken = i.issue_valid_i & o.issue_ready_o;
        let event = |name: &str| part(RFC_EVENT, o.design_event_o[0], name);
        let counted = |name: &str| part(RFC_COUNT_EVENT, o.design_event_o[1], name);
        let extra = |name: &str| part(RFC_EXTRA_EVENT, o.design_event_o[2], name);
        let slot_base =
            (0..self.shape.slots()).any(|s| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[s] != 0 && i.rows_i != 0);
        point!("an operand of the MRF goes into the cache", extra("rfc_fill_groups") > 0, given = self.sizes.reads);
        point!(
            "operands that wait keep instructions from dispatch",
            p.provider.rfc().nets.fills_busy == 1 && p.provider.rfc().nets.mrf_dispatch_valid != 0,
            given = self.sizes.reads
        );
        // A place for each collector, and one in front of them for each port.
        let most = self.shape.mrf.collectors + self.shape.ports();
        point!("all places are busy", p.nets.slot_busy_q.count_ones() as usize == most);
        let mut buses = 0..self.shape.ports();
        let is_taken = |bus: usize| (i.write_valid_i & o.write_ready_o) >> bus & 1 == 1;
        point!("a result of a shared unit", buses.any(|bus| is_taken(bus) && i.write_i[bus].from_private() == 0));
        point!("a slot's rows do not begin at 0", slot_base && counted("rfc_evict") > 0);
        point!("a slot is empty", o.flush_done_o != 0);
        point!("a source from the cache", event("rfc_hit") > 0);
        point!("a value goes from the cache to its bank", counted("rfc_flush") > 0);
        #[given(self.sizes.lrf)]
        {
            point!("a source from the LRF", extra("rfc_lrf_read_groups") > 0);
            point!("a result to the LRF", extra("rfc_lrf_write_groups") > 0);
            point!("a value goes from the LRF to the cache", extra("rfc_lrf_spill_groups") > 0);
            point!("a value goes from the LRF to its bank", extra("rfc_lrf_flush_groups") > 0);
        }

        for p in (0..self.shape.ports()).filter(|p| taken >> p & 1 == 1) {
            let InstructionFields { op, ctl, roles, .. } = i.issue_instruction_i[p].fields();
            let load = matches!(op & 0x7f, 0x40 | 0x43 | 0x44);
            let (shared, writes) = (op >> 28 & 3 == 1, roles.d() != NO_REG);
            let last = |k: usize, name: u8| ctl >> (20 + k) & 1 == 1 && name != NO_REG;
            point!("a last read of source a", last(0, roles.a()));
            point!("a last read of source b", last(1, roles.b()));
            point!("a last read of source c", last(2, roles.c()));
            point!("an operation with a long latency", load && !shared && writes);
            point!("a load from shared memory", load && shared && writes);
            point!("a load without a register", load && !shared && !writes);
            let fetch = op & 0x7f == FETCH;
            point!("a texture fetch", fetch && !shared && writes);
            point!("a texture fetch with the bits of shared memory", fetch && shared && writes);
            point!("a texture fetch without a register", fetch && !writes);
            point!("a result with the bypass bit", ctl >> 26 & 1 == 1 && writes);
            point!("a result with the LRF's bypass bit", ctl >> 25 & 1 == 1 && writes);
            point!("an ALU's instruction", roles.unit() == unit::ALU);
            point!("a single precision instruction", roles.unit() == unit::FP);
            point!("another unit's instruction", !matches!(roles.unit(), unit::ALU | unit::FP));
        }
    }
}

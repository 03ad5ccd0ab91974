//! `operand_stage`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::operands::OperandStageIn;
use gpurf_blocks::rfc::RfcSizes;
use gpurf_blocks::shape::{MAX_WARPS, SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, lane_mask, ports};
use crate::{Driver, Unreached, rfc, steal};

mod cached;
mod cover;
mod stealing;

use cached::Cached;
pub(crate) use cover::OperandStageCover;
use stealing::Stealing;

/// The sizes of the register file cache, where the stage has one.
fn rfc_of(shape: &SmShape) -> Option<RfcSizes> {
    match shape.organisation {
        Organisation::Rfc(sizes) => Some(sizes),
        _ => None,
    }
}

pub(crate) struct OperandStageDriver {
    shape: SmShape,
    straps: Straps,
    reset: Reset,
    rows: u8,
    /// Warps and registers on which accesses collide.
    warps: Names,
    registers: Names,
    /// Where there is a cache, whose rules have to be kept.
    cached: Option<Box<Cached>>,
    /// Where banks are stolen, likewise.
    stealing: Option<Box<Stealing>>,
}

knobs! {
    pub(crate) struct OperandStageKnobs {
        issue: "an instruction is offered" = [100, 500, 950],
        write: "a result is offered" = [50, 400, 950],
        ready: "a unit takes what is offered" = [100, 900, 1000],
        source: "a source is a register" = [0, 300, 700, 1000],
        same: "a source is the register of another one" = [0, 300],
        near: "warp and register are among a few, so that accesses collide" = [0, 500, 1000],
        partial: "lanes are inactive" = [0, 300, 900],
        reset,
        // What surrounds a cache, and what surrounds a file whose banks are stolen.
        ..cached: rfc::CoreKnobs,
        ..stealing: steal::CoreKnobs,
    }
}

impl Driver for OperandStageDriver {
    type In = OperandStageIn;
    type Knobs = OperandStageKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        let cached = rfc_of(shape).is_some().then(|| Box::new(Cached::new(shape)));
        let stealing = shape.services().takes_candidates.then(|| Box::new(Stealing::new(shape)));
        Self {
            shape: *shape,
            straps: Straps::of(config),
            reset: Reset::default(),
            rows: 1,
            warps: Names::new(2, MAX_WARPS as u64),
            registers: Names::new(6, NO_REG.into()),
            cached,
            stealing,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let (warps, slots) = (["issue_warp_i", "candidate_warp_i"], ["issue_warp_i", "issue_slot_i", "slot_warp_i"]);
        match (rfc_of(shape).is_some(), shape.services().takes_candidates) {
            (true, _) => Unreached::parity(&slots, shape.ports()),
            (_, true) => {
                let mut all = Unreached::parity(&warps, shape.ports());
                // Rows of a warp: those of its registers, or its part of the file.
                let (banks, depth) = (shape.mrf.banks, shape.mrf.depth);
                let rows = usize::from(NO_REG).div_ceil(banks).min(depth / shape.ports());
                all.push(Unreached::bits("rows_i", rows.ilog2() + 1..=7, "a warp has fewer rows"));
                if rows * banks <= 128 {
                    all.push(Unreached::bits("write_reg_i", 7..=7, "a warp has fewer registers"));
                }
                // A warp's first row follows from its number.
                if depth <= 32 {
                    let names = ["issue_warp_i", "write_warp_i", "candidate_warp_i"];
                    all.extend(names.map(|name| Unreached::bits(name, 5..=5, "the file has a row for fewer warps")));
                }
                all
            }
            _ => Vec::new(),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &OperandStageKnobs, inputs: &mut OperandStageIn) {
        let count = self.shape.ports();
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.cfg_i = self.straps.design.read_order;
        inputs.design_cfg_i = self.straps.design_word();
        // A grid has as many rows for all its warps. Few of them, so that warps do not share any, or any number.
        if rng.chance(if self.cached.is_some() { 1 } else { 10 }) {
            let few = (self.shape.mrf.depth / self.shape.warps).max(1) as u64;
            self.rows = if rng.chance(700) { 1 + rng.below(few) } else { rng.below(256) } as u8;
        }
        inputs.rows_i = self.rows;
        inputs.dispatch_ready_i = ports(rng, count, knobs.ready);
        // Nobody looks at these where no banks are stolen.
        inputs.candidate_valid_i = ports(rng, count, 500);
        for p in 0..count {
            inputs.candidate_warp_i[p] = rng.below(MAX_WARPS as u64) as u8;
            inputs.candidate_roles_i[p] = rng.next_u64() & 0xf_ffff_ffff_ffff;
        }
        (inputs.clear_i, inputs.spare_i) = (rng.chance(100).into(), rng.chance(500).into());
        // Nor at these without a hierarchy.
        inputs.issue_end_i = ports(rng, count, 300);
        if let Some(cached) = &mut self.cached {
            cached.drive(rng, &knobs.cached, inputs);
            return;
        }
        self.slots(rng, inputs);
        if let Some(stealing) = &mut self.stealing {
            stealing.drive(rng, &knobs.stealing, inputs);
            return;
        }
        self.warps.renew(rng);
        self.registers.renew(rng);
        inputs.issue_valid_i = ports(rng, count, knobs.issue);
        inputs.write_valid_i = ports(rng, count, knobs.write);
        for p in 0..count {
            let (warp, near) = self.place(rng, knobs);
            inputs.issue_warp_i[p] = warp;
            inputs.issue_mask_i[p] = lane_mask(rng, knobs.partial);
            inputs.issue_pc_i[p] = rng.next_u64() as u32 & 0xf_ffff;
            (inputs.issue_op_i[p], inputs.issue_ctl_i[p]) = (rng.next_u64(), rng.next_u64());
            (inputs.issue_s_i[p], inputs.issue_t_i[p]) = (rng.next_u64() as u32, rng.next_u64() as u32);
            inputs.issue_roles_i[p] = self.roles(rng, knobs, near);
            if inputs.write_valid_i >> p & 1 == 1 {
                let (warp, near) = self.place(rng, knobs);
                inputs.write_warp_i[p] = warp;
                inputs.write_reg_i[p] = self.register(rng, near);
                inputs.write_mask_i[p] = lane_mask(rng, knobs.partial);
                rng.fill(&mut inputs.write_data_i[p].0);
            }
        }
    }
}

impl OperandStageDriver {
    /// Slots, which only a cache looks at.
    fn slots(&self, rng: &mut Rng, inputs: &mut OperandStageIn) {
        let slots = self.shape.slots();
        (inputs.slot_valid_i, inputs.flush_i) = (rng.mask(slots as u32, 500), rng.mask(slots as u32, 200));
        inputs.drop_i = rng.mask(slots as u32, 200);
        inputs.write_private_i = ports(rng, self.shape.ports(), 500);
        for s in 0..slots {
            inputs.slot_warp_i[s] = rng.below(MAX_WARPS as u64) as u8;
        }
        for p in 0..self.shape.ports() {
            inputs.issue_slot_i[p] = rng.below(slots.next_power_of_two().max(2) as u64) as u8;
        }
    }

    /// A warp, and whether it and its register are among a few.
    fn place(&self, rng: &mut Rng, knobs: &OperandStageKnobs) -> (u8, bool) {
        let near = rng.chance(knobs.near);
        ((if near { self.warps.draw(rng) } else { rng.below(MAX_WARPS as u64) }) as u8, near)
    }

    fn register(&self, rng: &mut Rng, near: bool) -> u8 {
        (if near { self.registers.draw(rng) } else { rng.below(NO_REG.into()) }) as u8
    }

    /// Any roles, but for the sources.
    fn roles(&self, rng: &mut Rng, knobs: &OperandStageKnobs, near: bool) -> u64 {
        let mut names = [NO_REG; OPERANDS];
        for source in 0..OPERANDS {
            if rng.chance(knobs.source) {
                let same = source > 0 && rng.chance(knobs.same);
                names[source] = if same { names[rng.below(source as u64) as usize] } else { self.register(rng, near) };
            }
        }
        let [a, b, c] = names.map(u64::from);
        rng.next_u64() & 0xf_ffff_ff00_0000 | c << 16 | b << 8 | a
    }
}

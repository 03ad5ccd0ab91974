//! `operand_stage`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{InstructionFields, NO_REG, Roles, RolesFields};
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::operands::{OperandStage, OperandStageIn, OperandStageOut};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::unified::{ColumnsIn, ColumnsOut};
use gpurf_blocks::{OPERANDS, Packed};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, any_instruction, any_layout, any_write, lane_mask, ports};
use crate::unified::{Columns, ColumnsKnobs, ColumnsOf, WithColumns, register_in};
use crate::{Coverage, Driver, Unreached};

mod cover;
mod design;

pub(crate) use cover::OperandStageCover;
use design::{DesignDriver, DesignKnobs};
pub(crate) use design::{StageDesign, Surroundings};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { coverage, ..crate::entry::<OperandStage, OperandStageDriver, OperandStageCover>() };

/// Coverage counters of the operand stage.
pub(crate) fn coverage(config: &Config) -> Coverage {
    let (shape, of_stage) = (SmShape::new(config), Coverage::new::<OperandStageCover>(config));
    let all = match DesignDriver::new(&shape) {
        Some(design) => design.coverage(of_stage, &shape, config),
        None => of_stage,
    };
    all.and(Coverage::new::<ColumnsOf<OperandStage>>(config))
}

impl WithColumns for OperandStage {
    fn file(shape: &SmShape) -> &MrfShape {
        &shape.mrf
    }

    fn asked(inputs: &OperandStageIn) -> (&ColumnsIn, u8) {
        (&inputs.columns, inputs.rst_ni)
    }

    fn said(out: &OperandStageOut) -> &ColumnsOut {
        &out.columns
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
    /// The design's driver, if the design has rules for inputs.
    design: Option<DesignDriver>,
    columns: Columns,
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
        ..designs: DesignKnobs,
        ..columns: ColumnsKnobs,
    }
}

impl Driver for OperandStageDriver {
    type In = OperandStageIn;
    type Knobs = OperandStageKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: Straps::of(config),
            reset: Reset::default(),
            rows: 1,
            warps: Names::new(2, MAX_WARPS as u64),
            registers: Names::new(6, NO_REG.into()),
            design: DesignDriver::new(shape),
            columns: Columns::new(&shape.mrf),
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        DesignDriver::new(shape).map_or(Vec::new(), |design| design.unreached(shape))
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &OperandStageKnobs, inputs: &mut OperandStageIn) {
        let count = self.shape.ports();
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.cfg_i = self.straps.design.read_order;
        inputs.design_cfg_i = self.straps.design_word();
        // All warps of a grid have the same number of rows: few, so that warps do not share rows, or any number.
        if rng.chance(self.design.as_ref().map_or(10, DesignDriver::rows) as u32) {
            let few = (self.shape.mrf.depth / self.shape.warps).max(1) as u64;
            // If row numbers do not wrap, only few warps can have many rows.
            let any = if self.shape.unified() && rng.chance(800) { 32 } else { 256 };
            self.rows = if rng.chance(700) { 1 + rng.below(few) } else { rng.below(any) } as u8;
        }
        // If row numbers do not wrap, the number of rows changes only in reset, when nothing is in progress.
        if self.shape.unified() {
            self.rows = self.rows.max(1);
            inputs.rst_ni &= u8::from(inputs.rows_i == self.rows);
        }
        inputs.rows_i = self.rows;
        self.columns.drive(rng, &knobs.columns, &mut inputs.columns);
        // The layout does not change while something is in progress: if the design reads it, it changes only in reset.
        if rng.chance(4) {
            inputs.layout_i = any_layout(rng, self.shape.mrf.banks * self.shape.mrf.depth).0;
            inputs.rst_ni &= u8::from(!self.shape.places());
        }
        inputs.dispatch_ready_i = ports(rng, count, knobs.ready);
        // The values of services that the design does not use mean nothing.
        inputs.candidate_valid_i = ports(rng, count, 500);
        for p in 0..count {
            inputs.candidate_warp_i[p] = rng.below(MAX_WARPS as u64) as u8;
            inputs.candidate_roles_i[p] = rng.next_u64() >> (u64::BITS - Roles::BITS);
        }
        (inputs.clear_i, inputs.spare_i) = (rng.chance(100).into(), rng.chance(500).into());
        inputs.issue_end_i = ports(rng, count, 300);
        inputs.dispatch_keep_i = rng.mask((OPERANDS * count) as u32, 300) as u8;
        inputs.over_i = rng.next_u64() & rng.next_u64() & rng.next_u64() & rng.next_u64();
        inputs.write_next_i = ports(rng, count, 500);
        if let Some(design) = &mut self.design {
            design.drive(rng, &knobs.designs, inputs);
            return;
        }
        slots(&self.shape, rng, inputs);
        self.warps.renew(rng);
        self.registers.renew(rng);
        inputs.issue_valid_i = ports(rng, count, knobs.issue);
        inputs.write_valid_i = ports(rng, count, knobs.write);
        for p in 0..count {
            let (warp, near) = self.place(rng, knobs);
            inputs.issue_warp_i[p] = warp;
            inputs.issue_mask_i[p] = lane_mask(rng, knobs.partial);
            let roles = self.roles(rng, knobs, warp, near);
            inputs.issue_instruction_i[p] = InstructionFields { roles, ..any_instruction(rng) }.into();
            if inputs.write_valid_i >> p & 1 == 1 {
                let (warp, near) = self.place(rng, knobs);
                let register = self.register(rng, warp, near);
                inputs.write_i[p] = any_write(rng, knobs.partial, warp, register);
                rng.fill(&mut inputs.write_data_i[p].0);
            }
        }
    }
}

/// Random slots, for a design that ignores them.
pub(crate) fn slots(shape: &SmShape, rng: &mut Rng, inputs: &mut OperandStageIn) {
    let slots = shape.slots();
    (inputs.slot_valid_i, inputs.flush_i) = (rng.mask(slots as u32, 500), rng.mask(slots as u32, 200));
    inputs.drop_i = rng.mask(slots as u32, 200);
    for s in 0..slots {
        inputs.slot_warp_i[s] = rng.below(MAX_WARPS as u64) as u8;
    }
    for p in 0..shape.ports() {
        inputs.issue_slot_i[p] = rng.below(slots.next_power_of_two().max(2) as u64) as u8;
    }
}

impl OperandStageDriver {
    /// A warp, and whether it and its register are among a few.
    fn place(&self, rng: &mut Rng, knobs: &OperandStageKnobs) -> (u8, bool) {
        let near = rng.chance(knobs.near);
        let warp = (if near { self.warps.draw(rng) } else { rng.below(MAX_WARPS as u64) }) as u8;
        // If row numbers do not wrap, only warps whose rows exist.
        let warps = if self.shape.unified() { self.shape.mrf.depth.div_ceil(self.rows.into()) } else { MAX_WARPS };
        ((usize::from(warp) % warps) as u8, near)
    }

    /// A register of a warp.
    fn register(&self, rng: &mut Rng, warp: u8, near: bool) -> u8 {
        let register = if near { self.registers.draw(rng) } else { rng.below(NO_REG.into()) };
        register_in(&self.shape.mrf, u16::from(warp) * u16::from(self.rows), register as u8)
    }

    /// Random roles, with sources that the warp has.
    fn roles(&self, rng: &mut Rng, knobs: &OperandStageKnobs, warp: u8, near: bool) -> Roles {
        let mut names = [NO_REG; OPERANDS];
        for source in 0..OPERANDS {
            if rng.chance(knobs.source) {
                let same = source > 0 && rng.chance(knobs.same);
                names[source] =
                    if same { names[rng.below(source as u64) as usize] } else { self.register(rng, warp, near) };
            }
        }
        let [a, b, c] = names;
        RolesFields { a, b, c, ..Roles(rng.next_u64()).fields() }.into()
    }
}

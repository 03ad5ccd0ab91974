//! `operand_stage`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::operands::{OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::shape::{MAX_WARPS, SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct OperandStageDriver {
    shape: SmShape,
    straps: Straps,
    reset: Reset,
    rows: u8,
}

const ISSUE: usize = 0;
const WRITE: usize = 1;
const READY: usize = 2;
const SOURCE: usize = 3;
const SAME: usize = 4;
const NEAR: usize = 5;
const PARTIAL: usize = 6;

impl Driver for OperandStageDriver {
    type In = OperandStageIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "issue", doc: "an instruction is offered", values: &[100, 500, 950] },
        Knob { name: "write", doc: "a result is offered", values: &[50, 400, 950] },
        Knob { name: "ready", doc: "a unit takes what is offered", values: &[100, 900, 1000] },
        Knob { name: "source", doc: "a source is a register", values: &[0, 300, 700, 1000] },
        Knob { name: "same", doc: "a source is the register of another one", values: &[0, 300] },
        Knob {
            name: "near",
            doc: "warp and register are among the first few, so that accesses collide",
            values: &[0, 500, 1000],
        },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        RESET,
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { shape: *shape, straps: Straps::of(config), reset: Reset::default(), rows: 1 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut OperandStageIn) {
        let count = self.shape.ports();
        inputs.rst_ni = self.reset.next(rng, knobs.get(7));
        inputs.cfg_i = self.straps.read_order;
        // A grid has as many rows for all its warps. Few of them, so that warps do not share any, or any number.
        if rng.chance(10) {
            let few = (self.shape.mrf.depth / self.shape.warps).max(1) as u64;
            self.rows = if rng.chance(700) { 1 + rng.below(few) } else { rng.below(256) } as u8;
        }
        inputs.rows_i = self.rows;
        inputs.issue_valid_i = ports(rng, count, knobs.get(ISSUE));
        inputs.write_valid_i = ports(rng, count, knobs.get(WRITE));
        inputs.dispatch_ready_i = ports(rng, count, knobs.get(READY));
        for p in 0..count {
            let (warp, registers) = self.place(rng, knobs);
            inputs.issue_warp_i[p] = warp;
            inputs.issue_mask_i[p] = lane_mask(rng, knobs.get(PARTIAL));
            inputs.issue_pc_i[p] = rng.next_u64() as u32 & 0xf_ffff;
            (inputs.issue_op_i[p], inputs.issue_ctl_i[p]) = (rng.next_u64(), rng.next_u64());
            (inputs.issue_s_i[p], inputs.issue_t_i[p]) = (rng.next_u64() as u32, rng.next_u64() as u32);
            inputs.issue_roles_i[p] = roles(rng, knobs, registers);
            if inputs.write_valid_i >> p & 1 == 1 {
                let (warp, registers) = self.place(rng, knobs);
                inputs.write_warp_i[p] = warp;
                inputs.write_reg_i[p] = rng.below(registers) as u8;
                inputs.write_mask_i[p] = lane_mask(rng, knobs.get(PARTIAL));
                rng.fill(&mut inputs.write_data_i[p].0);
            }
        }
    }
}

impl OperandStageDriver {
    /// A warp, and how many registers to choose from.
    fn place(&self, rng: &mut Rng, knobs: &Knobs) -> (u8, u64) {
        let near = rng.chance(knobs.get(NEAR));
        let warp = rng.below(if near { 2 } else { MAX_WARPS as u64 }) as u8;
        // More registers than banks, so that two sources of an instruction can meet in one.
        (warp, if near { 6 } else { 255.min(2 * self.shape.mrf.banks.max(16) as u64) })
    }
}

/// Any roles, but for the sources.
fn roles(rng: &mut Rng, knobs: &Knobs, registers: u64) -> u64 {
    let mut names = [NO_REG; OPERANDS];
    for source in 0..OPERANDS {
        if rng.chance(knobs.get(SOURCE)) {
            let same = source > 0 && rng.chance(knobs.get(SAME));
            names[source] = if same { names[rng.below(source as u64) as usize] } else { rng.below(registers) as u8 };
        }
    }
    let [a, b, c] = names.map(u64::from);
    rng.next_u64() & 0xf_ffff_ff00_0000 | c << 16 | b << 8 | a
}

pub(crate) struct OperandStageCover {
    shape: SmShape,
}

impl Cover for OperandStageCover {
    type In = OperandStageIn;
    type Out = OperandStageOut;
    type Probe = OperandStageProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "issue stalls",
            "dispatch stalls",
            "write refused",
            "all slots are busy",
            "a slot below busy ones is taken",
            "a slot is freed and another one taken",
            "instructions leave in another order than that of slots",
            "an instruction without register sources",
            "an instruction with three register sources",
            "a source between registers is none",
            "rows begin anew behind the last",
            "a warp's rows do not begin at 0",
            "a result is held by an older read",
            "reads meet at a bank",
            "an instruction in reset",
            "reset under load",
        ];
        if shape.ports() == 2 {
            points.extend([
                "two instructions taken",
                "port 1 takes its slot alone",
                "only port 0 finds a slot",
                "two dispatched",
                "only port 1's is dispatched",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &OperandStageIn,
        o: &OperandStageOut,
        p: &OperandStageProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (shape, nets) = (&self.shape, &p.nets);
        let ports = |mask: u8| (0..shape.ports()).filter(move |p| mask >> p & 1 == 1);
        let taken = i.issue_valid_i & o.issue_ready_o;
        let left = o.dispatch_valid_o & i.dispatch_ready_i;
        let busy = nets.slot_busy_q;
        let sources = |p: usize| {
            let roles = Roles(i.issue_roles_i[p]);
            [roles.a(), roles.b(), roles.c()].map(|name| name != NO_REG)
        };
        let issues = |pattern: [bool; OPERANDS]| ports(taken).any(|p| sources(p) == pattern);
        let first_row = |p: usize| usize::from(i.issue_warp_i[p]) * usize::from(i.rows_i);
        let lowest_busy = busy.trailing_zeros() as u8;
        let points = [
            ("issue stalls", i.issue_valid_i & !o.issue_ready_o != 0),
            ("dispatch stalls", o.dispatch_valid_o & !i.dispatch_ready_i != 0),
            ("write refused", i.write_valid_i & !o.write_ready_o != 0),
            ("all slots are busy", busy.count_ones() as usize == shape.mrf.collectors),
            ("a slot below busy ones is taken", ports(taken).any(|p| busy >> nets.issue_tag[p] > 1)),
            ("a slot is freed and another one taken", left != 0 && taken != 0),
            (
                "instructions leave in another order than that of slots",
                ports(left).any(|p| nets.dispatch_tag[p] > lowest_busy),
            ),
            ("an instruction without register sources", issues([false; OPERANDS])),
            ("an instruction with three register sources", issues([true; OPERANDS])),
            ("a source between registers is none", issues([true, false, true])),
            ("rows begin anew behind the last", ports(taken).any(|p| first_row(p) >= shape.mrf.depth)),
            ("a warp's rows do not begin at 0", ports(taken).any(|p| nets.issue_base[p] != 0)),
            ("a result is held by an older read", o.event_o >> 6 & 3 != 0),
            ("reads meet at a bank", o.event_o >> 16 & 0xfff != 0),
            ("an instruction in reset", i.rst_ni == 0 && taken != 0),
            ("reset under load", i.rst_ni == 0 && busy != 0 && p.provider.mrf.head_valid != 0),
            ("two instructions taken", taken == 0b11),
            ("port 1 takes its slot alone", i.issue_valid_i == 0b10 && taken == 0b10),
            ("only port 0 finds a slot", i.issue_valid_i == 0b11 && taken == 0b01),
            ("two dispatched", left == 0b11),
            ("only port 1's is dispatched", left == 0b10),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}

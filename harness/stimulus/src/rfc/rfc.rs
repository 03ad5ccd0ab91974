//! `rfc`, the whole register file cache.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{Rfc, RfcIn, RfcOut};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::unified::{ColumnsIn, ColumnsOut};
use gpurf_lockstep::Rng;

use super::{Core, CoreKnobs, Done, Instruction};
use crate::driver::{Reset, Twin, ports};
use crate::unified::{Columns, ColumnsKnobs, ColumnsOf, WithColumns};
use crate::{Coverage, Driver, Unreached};

mod cover;

pub(crate) use cover::RfcCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::Entry { coverage, ..crate::entry::<Rfc, RfcDriver, RfcCover>() };

fn coverage(config: &Config) -> Coverage {
    Coverage::new::<RfcCover>(config).and(Coverage::new::<ColumnsOf<Rfc>>(config))
}

impl WithColumns for Rfc {
    fn file(shape: &RfcShape) -> &MrfShape {
        &shape.mrf
    }

    fn asked(inputs: &RfcIn) -> (&ColumnsIn, u8) {
        (&inputs.columns, inputs.rst_ni)
    }

    fn said(out: &RfcOut) -> &ColumnsOut {
        &out.columns
    }
}

/// Driver of `rfc`. It behaves like an SM around the cache; a twin tells what the cache takes and when.
pub(crate) struct RfcDriver {
    shape: RfcShape,
    straps: u16,
    reset: Reset,
    twin: Twin<Rfc>,
    core: Core,
    columns: Columns,
}

knobs! {
    pub(crate) struct RfcKnobs {
        ready: "a unit takes what is offered" = [100, 900, 1000],
        on: "a source is left ON" = [0, 300, 900],
        keep: "another instruction accesses a source of what is dispatched" = [0, 200, 800],
        over: "a warp has ended" = [0, 2, 40],
        reset,
        ..core: CoreKnobs,
        ..columns: ColumnsKnobs,
    }
}

impl Driver for RfcDriver {
    type In = RfcIn;
    type Knobs = RfcKnobs;

    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: cfg_of_block(config, "rfc") as u16,
            reset: Reset::default(),
            twin: Twin::new(shape),
            core: Core::new(shape),
            columns: Columns::new(&shape.mrf),
        }
    }

    fn unreached(shape: &RfcShape, _: &Config) -> Vec<Unreached> {
        Unreached::parity(&["issue_warp_i", "issue_slot_i", "slot_warp_i"], shape.ports())
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &RfcKnobs, i: &mut RfcIn) {
        let count = self.shape.ports();
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps;
        i.dispatch_ready_i = ports(rng, count, knobs.ready);
        self.columns.drive(rng, &knobs.columns, &mut i.columns);
        self.core.begin(rng, &knobs.core);
        (i.slot_valid_i, i.flush_i, i.drop_i) = (self.core.valid(), self.core.flush(), self.core.drop());
        for s in 0..self.shape.active {
            i.slot_warp_i[s] = self.core.warp_of(s);
            i.slot_base_i[s] = self.core.base(i.slot_warp_i[s]);
        }
        (i.issue_valid_i, i.issue_src_valid_i, i.issue_last_i) = (0, 0, 0);
        (i.issue_long_i, i.issue_bypass_i, i.issue_past_i, i.issue_private_i) = (0, 0, 0, 0);
        let mut done = Done::default();
        for p in 0..count {
            let instruction = self.core.instruction(rng, &knobs.core, p);
            if let (Some(instruction), Some(number)) = (instruction, self.core.tag(p)) {
                self.issue(i, p, &instruction);
                i.issue_tag_i[p] = number as u8;
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
            (i.write_i[b], i.write_base_i[b]) = (result.fields().into(), self.core.base(result.warp));
            rng.fill(&mut i.write_data_i[b].0);
        }
        i.dispatch_keep_i = rng.mask((OPERANDS * count) as u32, knobs.keep) as u8;
        i.over_i = (0..u64::BITS).fold(0, |set, w| set | u64::from(rng.chance(knobs.over)) << w);
        for left in &mut i.issue_left_i[..OPERANDS * count] {
            *left = if rng.chance(knobs.on) { 0 } else { rng.below(4) as u8 };
        }
        self.twin.late(i);
        let out = &self.twin.out;
        for (p, offer) in offers.into_iter().enumerate().take(count) {
            let at = |set: u8| set >> p & 1 == 1;
            done.written[p] = offer.filter(|_| at(out.write_ready_o));
            done.dispatched[p] =
                at(out.dispatch_valid_o & i.dispatch_ready_i).then_some(usize::from(out.dispatch_tag_o[p]));
        }
        (done.done, done.flushed) = (out.write_done_o, out.flush_done_o);
        self.core.end(rng, &knobs.core, &done);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.core.clear();
        }
    }
}

impl RfcDriver {
    fn issue(&self, i: &mut RfcIn, p: usize, instruction: &Instruction) {
        let bit = |set: bool| u8::from(set) << p;
        i.issue_valid_i |= 1 << p;
        i.issue_warp_i[p] = instruction.warp;
        i.issue_slot_i[p] = instruction.slot;
        i.issue_base_i[p] = self.core.base(instruction.warp);
        i.issue_mask_i[p] = instruction.mask;
        i.issue_dst_i[p] = instruction.dst;
        i.issue_long_i |= bit(instruction.long);
        i.issue_bypass_i |= bit(instruction.marks.bypass);
        i.issue_past_i |= bit(instruction.marks.past);
        i.issue_private_i |= bit(instruction.private);
        i.issue_last_i |= instruction.marks.last << (OPERANDS * p);
        for (k, &register) in instruction.sources.iter().enumerate() {
            i.issue_src_valid_i |= u8::from(register != NO_REG) << (OPERANDS * p + k);
            i.issue_src_reg_i[OPERANDS * p + k] = register;
        }
    }
}

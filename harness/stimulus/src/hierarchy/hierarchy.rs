//! `hierarchy`, the whole of it.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{Hierarchy, HierarchyIn, HierarchyOut, HierarchyShape};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::shape::Straps;
use gpurf_blocks::unified::{ColumnsIn, ColumnsOut};
use gpurf_lockstep::Rng;

use super::core::{Core, CoreKnobs, Done, Instruction};
use crate::driver::{Reset, Twin, ports};
use crate::unified::{Columns, ColumnsKnobs, ColumnsOf, WithColumns};
use crate::{Coverage, Driver, Unreached};

mod cover;

pub(crate) use cover::HierarchyCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { coverage, ..crate::entry::<Hierarchy, HierarchyDriver, HierarchyCover>() };

fn coverage(config: &Config) -> Coverage {
    Coverage::new::<HierarchyCover>(config).and(Coverage::new::<ColumnsOf<Hierarchy>>(config))
}

impl WithColumns for Hierarchy {
    fn file(shape: &HierarchyShape) -> &MrfShape {
        &shape.mrf
    }

    fn asked(inputs: &HierarchyIn) -> (&ColumnsIn, u8) {
        (&inputs.columns, inputs.rst_ni)
    }

    fn said(out: &HierarchyOut) -> &ColumnsOut {
        &out.columns
    }
}

/// Driver of `hierarchy`. It behaves like an SM around the hierarchy; a twin tells what the hierarchy takes and when, and what its places have.
pub(crate) struct HierarchyDriver {
    shape: HierarchyShape,
    straps: Straps,
    reset: Reset,
    twin: Twin<Hierarchy>,
    core: Core,
    columns: Columns,
}

knobs! {
    pub(crate) struct HierarchyKnobs {
        ready: "a unit takes what is offered" = [100, 900, 1000],
        end: "a strand ends" = [10, 60, 300],
        reset,
        ..core: CoreKnobs,
        ..columns: ColumnsKnobs,
    }
}

impl Driver for HierarchyDriver {
    type In = HierarchyIn;
    type Knobs = HierarchyKnobs;

    fn new(shape: &HierarchyShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: Straps::of(config),
            reset: Reset::default(),
            twin: Twin::new(shape),
            core: Core::new(shape),
            columns: Columns::new(&shape.mrf),
        }
    }

    fn unreached(shape: &HierarchyShape, _: &Config) -> Vec<Unreached> {
        Unreached::parity(&["issue_warp_i", "issue_slot_i", "slot_warp_i"], shape.ports())
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &HierarchyKnobs, i: &mut HierarchyIn) {
        let count = self.shape.ports();
        self.twin.early();
        let entries = self.twin.probe(i).entries;
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps.design.read_order;
        i.dispatch_ready_i = ports(rng, count, knobs.ready);
        self.columns.drive(rng, &knobs.columns, &mut i.columns);
        self.core.begin(rng, &knobs.core);
        (i.slot_valid_i, i.flush_i) = (self.core.valid(), self.core.flush());
        for s in 0..self.shape.active {
            i.slot_warp_i[s] = self.core.warp_of(s);
        }
        (i.issue_valid_i, i.issue_src_valid_i, i.issue_end_i) = (0, 0, 0);
        (i.issue_long_i, i.issue_private_i) = (0, 0);
        let mut done = Done::default();
        for p in 0..count {
            i.issue_slot_i[p] = p as u8;
            let Some(slot) = self.core.slot(rng, &knobs.core, p) else { continue };
            i.issue_slot_i[p] = slot as u8;
            let ends = u8::from(rng.chance(knobs.end)) << p;
            let instruction = self.core.instruction(rng, &knobs.core, slot, &entries);
            if let Some(instruction) = instruction {
                // If no tag is free, it is offered with tag 0, and waits.
                let tag = self.core.tag(p);
                self.issue(i, p, &instruction);
                i.issue_tag_i[p] = tag.unwrap_or_default() as u8;
                let taken = tag.is_some() && self.twin.out.issue_ready_o >> p & 1 == 1;
                done.taken[p] = tag.map(|tag| (tag, instruction)).filter(|_| taken);
                // A strand ends with an instruction that issues.
                i.issue_end_i |= if taken { ends } else { 0 };
            } else {
                // The strand ends with an instruction that does not come here.
                i.issue_end_i |= ends;
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

impl HierarchyDriver {
    fn issue(&self, i: &mut HierarchyIn, p: usize, instruction: &Instruction) {
        let bit = |set: bool| u8::from(set) << p;
        i.issue_valid_i |= 1 << p;
        i.issue_warp_i[p] = instruction.warp;
        i.issue_base_i[p] = self.core.base(instruction.warp);
        i.issue_mask_i[p] = instruction.mask;
        (i.issue_dst_i[p], i.issue_dst_level_i[p]) = (instruction.dst, instruction.marks.dst);
        i.issue_long_i |= bit(instruction.long);
        i.issue_private_i |= bit(instruction.private);
        for (k, &register) in instruction.sources.iter().enumerate() {
            i.issue_src_valid_i |= u8::from(register != NO_REG) << (OPERANDS * p + k);
            i.issue_src_reg_i[OPERANDS * p + k] = register;
            i.issue_src_level_i[OPERANDS * p + k] = instruction.marks.sources[k];
        }
    }
}

//! `steal`, the whole register file.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::steal::{Steal, StealIn};
use gpurf_blocks::write::{WriteFields, WriteWord};
use gpurf_blocks::{OPERANDS, REG_BITS};
use gpurf_lockstep::Rng;

use super::directed::DIRECTED;
use super::{Core, CoreKnobs, Done};
use crate::driver::{Reset, Twin, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::StealCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { directed: DIRECTED, ..crate::entry::<Steal, StealDriver, StealCover>() };

/// Driver of `steal`. It behaves like an SM around the register file; a twin tells what the file takes and when.
pub(crate) struct StealDriver {
    shape: MrfShape,
    straps: u8,
    reset: Reset,
    twin: Twin<Steal>,
    core: Core,
}

knobs! {
    pub(crate) struct StealKnobs {
        ready: "a unit takes what is offered" = [100, 900, 1000],
        reset = [0, 2, 10],
        ..core: CoreKnobs,
    }
}

impl Driver for StealDriver {
    type In = StealIn;
    type Knobs = StealKnobs;

    fn new(shape: &MrfShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: cfg_of_block(config, "steal") as u8,
            reset: Reset::default(),
            twin: Twin::new(shape),
            core: Core::new(shape),
        }
    }

    fn unreached(shape: &MrfShape, _: &Config) -> Vec<Unreached> {
        let mut all = Unreached::parity(&["issue_warp_i", "candidate_warp_i"], shape.issue_ports);
        let registers = (shape.banks * shape.depth).next_power_of_two().ilog2();
        if registers < REG_BITS {
            let (past, why) = (registers..=REG_BITS - 1, "the file has fewer entries");
            let names = ["issue_src_reg_i", "candidate_src_reg_i", "hint_reg_i"];
            all.extend(names.map(|name| Unreached::bits(name, past.clone(), why)));
            all.push(Unreached::field::<WriteWord>("write_i", "d", past, why));
            // A warp with more than half of the entries is alone, and one warp dispatches at port 0.
            let alone = Unreached::bits("hint_reg_i", registers - 1..=registers - 1, "its warp is alone");
            all.extend((shape.issue_ports > 1).then(|| alone.of(1..=1)));
        }
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &StealKnobs, i: &mut StealIn) {
        let shape = self.shape;
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps;
        i.dispatch_ready_i = ports(rng, shape.issue_ports, knobs.ready);
        self.core.begin(rng, &knobs.core);
        let fresh = self.core.fresh();
        (i.clear_i, i.spare_i) = (fresh.is_some().into(), fresh.unwrap_or(rng.chance(500)).into());

        let mut done = Done::default();
        (i.issue_valid_i, i.issue_src_valid_i) = (0, 0);
        (i.candidate_valid_i, i.candidate_src_valid_i) = (0, 0);
        (i.write_valid_i, i.write_next_i, i.hint_valid_i) = (0, 0, 0);
        // Computes the outputs that follow from state and straps.
        self.twin.late(i);
        for p in 0..shape.issue_ports {
            let at = |set: u8| set >> p & 1 == 1;
            let out = &self.twin.out;
            let (issues, candidate) = self.core.schedule(rng, &knobs.core, p, at(out.steal_o));
            if let Some(instruction) = issues {
                i.issue_valid_i |= 1 << p;
                i.issue_tag_i[p] = rng.next_u64() & (u64::MAX >> (64 - shape.tag_w));
                (i.issue_warp_i[p], i.issue_mask_i[p]) = (self.core.name(instruction.warp), instruction.mask);
                i.issue_base_i[p] = self.core.base(instruction.warp);
                for (s, &register) in instruction.sources.iter().enumerate() {
                    i.issue_src_valid_i |= u8::from(register != NO_REG) << (OPERANDS * p + s);
                    i.issue_src_reg_i[OPERANDS * p + s] = register;
                }
                done.taken[p] = Some(instruction).filter(|_| at(out.issue_ready_o));
            }
            if let Some(instruction) = candidate {
                i.candidate_valid_i |= 1 << p;
                (i.candidate_warp_i[p], i.candidate_base_i[p]) =
                    (self.core.name(instruction.warp), self.core.base(instruction.warp));
                for (s, &register) in instruction.sources.iter().enumerate() {
                    i.candidate_src_valid_i |= u8::from(register != NO_REG) << (OPERANDS * p + s);
                    i.candidate_src_reg_i[OPERANDS * p + s] = register;
                }
            }
            if at(out.dispatch_valid_o & i.dispatch_ready_i) {
                done.dispatched[p] = self.core.warp_of(out.dispatch_warp_o[p]);
                let leaves = done.dispatched[p].and_then(|warp| self.core.leaves(warp));
                if let Some(instruction) = leaves.filter(|leaves| leaves.hint != NO_REG) {
                    i.hint_valid_i |= 1 << p;
                    (i.hint_base_i[p], i.hint_reg_i[p]) = (self.core.base(instruction.warp), instruction.hint);
                }
            }
            if let Some(result) = self.core.results.offer(p) {
                i.write_valid_i |= 1 << p;
                i.write_next_i |= u8::from(self.core.is_read_next(rng, &knobs.core, &result)) << p;
                i.write_i[p] = WriteFields { warp: self.core.name(result.warp), ..result.fields() }.into();
                i.write_base_i[p] = self.core.base(result.warp);
                rng.fill(&mut i.write_data_i[p].0);
                done.written[p] = Some(result).filter(|_| at(out.write_ready_o));
            }
        }
        self.twin.late(i);
        done.done = self.twin.out.write_done_o;
        self.core.end(rng, &knobs.core, &done);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.core.clear();
        }
    }
}

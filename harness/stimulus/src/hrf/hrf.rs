//! `hrf`, the whole hybrid register file.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{Hrf, HrfIn, HrfShape, PARITIES};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::write::{WriteFields, WriteWord};
use gpurf_lockstep::Rng;

use super::{Core, CoreKnobs, Done, Instruction, parities};
use crate::driver::{Reset, Twin};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::HrfCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Hrf, HrfDriver, HrfCover>();

/// Driver of `hrf`. It behaves like an SM around the register file; a twin tells what the file takes and when.
pub(crate) struct HrfDriver {
    straps: u32,
    reset: Reset,
    twin: Twin<Hrf>,
    core: Core,
}

knobs! {
    pub(crate) struct HrfKnobs {
        ready: "a unit takes what is offered" = [100, 900, 1000],
        reset = [0, 0, 3, 10],
        ..core: CoreKnobs,
    }
}

impl Driver for HrfDriver {
    type In = HrfIn;
    type Knobs = HrfKnobs;

    fn new(shape: &HrfShape, config: &Config) -> Self {
        Self {
            straps: cfg_of_block(config, "hrf") as u32,
            reset: Reset::default(),
            twin: Twin::new(shape),
            core: Core::new(shape),
        }
    }

    fn unreached(_: &HrfShape, _: &Config) -> Vec<Unreached> {
        let why = "registers are below 64";
        let named =
            [Unreached::bits("issue_src_reg_i", 6..=7, why), Unreached::field::<WriteWord>("write_i", "d", 6..=7, why)];
        parities().into_iter().chain(named).collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &HrfKnobs, i: &mut HrfIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps;
        i.dispatch_ready_i = rng.chance(knobs.ready).into();
        self.core.begin(rng, &knobs.core);
        (i.slot_valid_i, i.flush_i, i.drop_i) = (self.core.valid(), self.core.flush(), self.core.drop());
        for b in 0..PARITIES {
            let warp = self.core.warp_of(b);
            (i.slot_warp_i[b], i.slot_base_i[b]) = (self.core.name(warp), self.core.base(warp));
        }
        let mut done = Done::default();
        (i.issue_valid_i, i.issue_src_valid_i) = (0, 0);
        if let Some((number, instruction)) = self.core.instruction(rng, &knobs.core) {
            self.issue(i, number, &instruction);
            done.taken = Some((number, instruction)).filter(|_| self.twin.out.issue_ready_o == 1);
        }
        let offer = self.core.results.offer(0);
        i.write_valid_i = offer.is_some().into();
        if let Some(result) = offer {
            i.write_i = WriteFields { warp: self.core.name(result.warp), ..result.fields() }.into();
            i.write_base_i = self.core.base(result.warp);
            rng.fill(&mut i.write_data_i.0);
        }
        self.twin.late(i);
        let out = &self.twin.out;
        done.written = offer.filter(|_| out.write_ready_o == 1);
        let dispatched = out.dispatch_valid_o & i.dispatch_ready_i == 1;
        done.dispatched = dispatched.then_some(out.dispatch_tag_o as usize);
        (done.done, done.flushed) = (out.write_done_o == 1, out.flush_done_o);
        self.core.end(rng, &knobs.core, &done);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.core.clear(rng);
        }
    }
}

impl HrfDriver {
    fn issue(&self, i: &mut HrfIn, number: usize, instruction: &Instruction) {
        (i.issue_valid_i, i.issue_tag_i) = (1, number as u64);
        (i.issue_warp_i, i.issue_mask_i) = (self.core.name(instruction.warp), instruction.mask);
        i.issue_base_i = self.core.base(instruction.warp);
        for (k, &register) in instruction.sources.iter().enumerate() {
            i.issue_src_valid_i |= u8::from(register != NO_REG) << k;
            i.issue_src_reg_i[k] = register;
        }
    }
}

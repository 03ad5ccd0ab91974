//! `hrf_reads`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfReads, HrfReadsIn, HrfShape, PARITIES};
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, alias, lane_mask, ports};
use crate::{Driver, Unaliased, Unreached};

mod cover;

pub(crate) use cover::ReadsCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfReads, ReadsDriver, ReadsCover>();

/// An instruction in a collector.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Sources that are registers, and those of them that still have to be read.
    sources: u8,
    wanted: u8,
}

/// Driver of `hrf_reads`. It keeps what the collectors hold, and their age; a twin tells what has been read.
pub(crate) struct ReadsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfReads>,
    held: [Held; MAX_COLLECTORS],
    /// Collectors from the oldest to the youngest.
    order: Vec<usize>,
}

knobs! {
    pub(crate) struct ReadsKnobs {
        come: "a free collector gets an instruction" = [10, 100, 900],
        source: "a source is a register" = [300, 600, 1000],
        equal: "it is the register of the source before, or differs in one bit" = [0, 400],
        hit: "a register is in the buffer" = [0, 300, 700, 1000],
        whole: "with all lanes of the instruction" = [0, 500, 1000],
        stable: "what the buffer has stays as it is" = [0, 1000],
        ready: "a bank could begin a read" = [100, 700, 1000],
        write: "a write is offered to a bank" = [0, 300, 800],
        frozen: "nothing begins" = [0, 0, 300],
        latency: "strap: cycles of a read less 1" = [0, 0, 1, 2, 3],
        inactive: "lanes are inactive" = [0, 300, 900],
        reset = [0, 10, 50],
    }
}

impl Driver for ReadsDriver {
    type In = HrfReadsIn;
    type Knobs = ReadsKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            held: [Held::default(); MAX_COLLECTORS],
            order: (0..shape.mrf.collectors).collect(),
        }
    }

    fn unreached(shape: &HrfShape, _: &Config) -> Vec<Unreached> {
        let registers = Unreached::bits("req_reg_i", 6..=7, "registers are below 64");
        Unreached::age("older_i", shape.mrf.collectors).chain([registers]).collect()
    }

    fn unaliased(_: &HrfShape, _: &Config) -> Vec<Unaliased> {
        vec![Unaliased::bits("name[j-1] == name[k]", 6..=7, "registers are below 64")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ReadsKnobs, i: &mut HrfReadsIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = knobs.latency as u8;
        i.frozen_i = rng.chance(knobs.frozen).into();
        i.read_ready_i = ports(rng, PARITIES, knobs.ready);
        i.write_valid_i = ports(rng, PARITIES, knobs.write);
        for c in 0..self.shape.mrf.collectors {
            if self.held[c].wanted == 0 && rng.chance(knobs.come) {
                self.come(rng, knobs, i, c);
            }
        }
        (i.req_valid_i, i.src_valid_i) = (0, 0);
        let mut older = 0;
        for &c in &self.order {
            i.older_i[c] = older;
            older |= 1 << c;
            i.req_valid_i |= u64::from(self.held[c].wanted) << (OPERANDS * c);
            i.src_valid_i |= u64::from(self.held[c].sources) << (OPERANDS * c);
        }
        if !rng.chance(knobs.stable) || rng.chance(100) {
            let instruction = self.order.iter().find(|&&c| self.held[c].wanted != 0);
            let mask = instruction.map_or(0, |&c| i.col_mask_i[c]);
            i.hit_i = rng.mask(OPERANDS as u32, knobs.hit) as u8;
            for lanes in &mut i.lanes_i {
                *lanes = lane_mask(rng, 1000) | if rng.chance(knobs.whole) { mask } else { 0 };
            }
        }
        self.twin.late(i);
        self.twin.clock(i);
        for (c, held) in self.held.iter_mut().enumerate() {
            held.wanted &= !(self.twin.out.grant_o >> (OPERANDS * c)) as u8;
        }
        if i.rst_ni == 0 {
            self.held = [Held::default(); MAX_COLLECTORS];
        }
    }
}

impl ReadsDriver {
    /// Another instruction comes into a collector, and is the youngest.
    fn come(&mut self, rng: &mut Rng, knobs: &ReadsKnobs, i: &mut HrfReadsIn, c: usize) {
        let sources = rng.mask(OPERANDS as u32, knobs.source) as u8;
        let mut wanted = sources;
        for k in 0..OPERANDS {
            let other = (OPERANDS * c + k).checked_sub(1).filter(|_| k != 0 && rng.chance(knobs.equal));
            i.req_reg_i[OPERANDS * c + k] = match other {
                Some(before) if rng.chance(700) => i.req_reg_i[before],
                Some(before) => alias(rng, i.req_reg_i[before].into(), 64) as u8,
                None => rng.below(64) as u8,
            };
            // One request for a register, that of the lowest source.
            let name = |k: usize| i.req_reg_i[OPERANDS * c + k];
            if (0..k).any(|j| sources >> j & 1 == 1 && name(j) == name(k)) {
                wanted &= !(1 << k);
            }
        }
        i.col_warp_i[c] = rng.below(64) as u8;
        i.col_base_i[c] = rng.below(self.shape.mrf.depth as u64) as u16;
        i.col_mask_i[c] = lane_mask(rng, knobs.inactive);
        self.held[c] = Held { sources, wanted };
        self.order.retain(|&other| other != c);
        self.order.push(c);
    }
}

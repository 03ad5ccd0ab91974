//! `hrf_reads`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfReads, HrfReadsIn, HrfShape, PARITIES};
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, alias, lane_mask, ports};
use crate::{Driver, Knob, Knobs, Unaliased, Unreached};

mod cover;

pub(crate) use cover::ReadsCover;

/// An instruction in a collector.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Sources that are registers, and those of them that still have to be read.
    sources: u8,
    wanted: u8,
}

/// Keeps what the collectors hold, their age, and a twin, to know what has been read.
pub(crate) struct ReadsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfReads>,
    held: [Held; MAX_COLLECTORS],
    /// Collectors from the oldest to the youngest.
    order: Vec<usize>,
}

const COME: usize = 0;
const SOURCE: usize = 1;
const SAME: usize = 2;
const HIT: usize = 3;
const WHOLE: usize = 4;
const STABLE: usize = 5;
const READY: usize = 6;
const WRITE: usize = 7;
const FROZEN: usize = 8;
const LATENCY: usize = 9;
const PARTIAL: usize = 10;

impl Driver for ReadsDriver {
    type In = HrfReadsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "come", doc: "a free collector gets an instruction", values: &[10, 100, 900] },
        Knob { name: "source", doc: "a source is a register", values: &[300, 600, 1000] },
        Knob {
            name: "equal",
            doc: "it is the register of the source before, or differs in one bit",
            values: &[0, 400],
        },
        Knob { name: "hit", doc: "a register is in the buffer", values: &[0, 300, 700, 1000] },
        Knob { name: "whole", doc: "with all lanes of the instruction", values: &[0, 500, 1000] },
        Knob { name: "stable", doc: "what the buffer has stays as it is", values: &[0, 1000] },
        Knob { name: "ready", doc: "a bank could begin a read", values: &[100, 700, 1000] },
        Knob { name: "write", doc: "a write is offered to a bank", values: &[0, 300, 800] },
        Knob { name: "frozen", doc: "nothing begins", values: &[0, 0, 300] },
        Knob { name: "latency", doc: "strap: cycles of a read less 1", values: &[0, 0, 1, 2, 3] },
        Knob { name: "inactive", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { values: &[0, 10, 50], ..RESET },
    ];

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

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfReadsIn) {
        i.rst_ni = self.reset.next(rng, knobs.get(11));
        i.cfg_i = knobs.get(LATENCY) as u8;
        i.frozen_i = rng.chance(knobs.get(FROZEN)).into();
        i.read_ready_i = ports(rng, PARITIES, knobs.get(READY));
        i.write_valid_i = ports(rng, PARITIES, knobs.get(WRITE));
        for c in 0..self.shape.mrf.collectors {
            if self.held[c].wanted == 0 && rng.chance(knobs.get(COME)) {
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
        if !rng.chance(knobs.get(STABLE)) || rng.chance(100) {
            let instruction = self.order.iter().find(|&&c| self.held[c].wanted != 0);
            let mask = instruction.map_or(0, |&c| i.col_mask_i[c]);
            i.hit_i = rng.mask(OPERANDS as u32, knobs.get(HIT)) as u8;
            for lanes in &mut i.lanes_i {
                *lanes = lane_mask(rng, 1000) | if rng.chance(knobs.get(WHOLE)) { mask } else { 0 };
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
    fn come(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfReadsIn, c: usize) {
        let sources = rng.mask(OPERANDS as u32, knobs.get(SOURCE)) as u8;
        let mut wanted = sources;
        for k in 0..OPERANDS {
            let other = (OPERANDS * c + k).checked_sub(1).filter(|_| k != 0 && rng.chance(knobs.get(SAME)));
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
        i.col_mask_i[c] = lane_mask(rng, knobs.get(PARTIAL));
        self.held[c] = Held { sources, wanted };
        self.order.retain(|&other| other != c);
        self.order.push(c);
    }
}

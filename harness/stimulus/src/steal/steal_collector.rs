//! `steal_collector`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfCollectorProbe, MrfShape};
use gpurf_blocks::steal::{StealCollector, StealCollectorIn, StealCollectorOut};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, alias, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealCollector, CollectorDriver, CollectorCover>();

pub(crate) struct CollectorDriver {
    shape: MrfShape,
    reset: Reset,
    /// Follows the inputs, to know which inputs the collector accepts.
    twin: Twin<StealCollector>,
}

knobs! {
    pub(crate) struct CollectorKnobs {
        allocate: "a free collector is given an instruction" = [200, 900],
        grant: "a request is granted" = [100, 500, 1000],
        free: "a complete instruction leaves" = [100, 900],
        source: "a source is a register" = [0, 500, 900, 1000],
        same: "a source is the register of another one" = [0, 500],
        stolen: "a source is read as the instruction arrives" = [0, 300, 700, 1000],
        partial: "lanes are inactive" = [0, 900],
        reset,
    }
}

impl Driver for CollectorDriver {
    type In = StealCollectorIn;
    type Knobs = CollectorKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CollectorKnobs, i: &mut StealCollectorIn) {
        self.twin.early();
        let (free, requests, complete) =
            (self.twin.out.busy_o == 0, self.twin.out.req_valid_o, self.twin.out.complete_o == 1);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.alloc_valid_i = (free && rng.chance(knobs.allocate)).into();
        i.alloc_warp_i = rng.below(64) as u8;
        i.alloc_mask_i = lane_mask(rng, knobs.partial);
        i.alloc_tag_i = rng.next_u64() & (u64::MAX >> (64 - self.shape.tag_w));
        i.alloc_src_valid_i = rng.mask(OPERANDS as u32, knobs.source) as u8;
        for s in 0..OPERANDS {
            i.alloc_bank_i[s] = rng.below(self.shape.banks as u64) as u8;
            i.alloc_entry_i[s] = rng.below(self.shape.depth as u64) as u16;
            if s > 0 && rng.chance(knobs.same) {
                let other = rng.below(s as u64) as usize;
                (i.alloc_bank_i[s], i.alloc_entry_i[s]) = (i.alloc_bank_i[other], i.alloc_entry_i[other]);
                // Or nearly the same register.
                match rng.below(5) {
                    0 => i.alloc_bank_i[s] = alias(rng, i.alloc_bank_i[s].into(), self.shape.banks as u64) as u8,
                    1 => i.alloc_entry_i[s] = alias(rng, i.alloc_entry_i[s].into(), self.shape.depth as u64) as u16,
                    _ => {}
                }
            }
        }
        let leaders = (0..OPERANDS).filter(|&s| leader(i, s) == Some(s)).fold(0, |set, s| set | 1 << s);
        i.alloc_read_i = leaders & rng.mask(OPERANDS as u32, knobs.stolen) as u8;
        i.grant_i = requests & rng.mask(OPERANDS as u32, knobs.grant) as u8;
        for s in 0..OPERANDS {
            i.at_bank_i[s] = rng.below(self.shape.banks as u64) as u8;
        }
        i.free_i = (complete && rng.chance(knobs.free)).into();
        self.twin.late(i);
        self.twin.clock(i);
    }
}

/// The source that reads for source s of the instruction that arrives.
fn leader(i: &StealCollectorIn, s: usize) -> Option<usize> {
    let register = |s: usize| i.alloc_src_valid_i >> s & 1 == 1;
    let at = |s: usize| (i.alloc_bank_i[s], i.alloc_entry_i[s]);
    register(s).then(|| (0..=s).find(|&l| register(l) && at(l) == at(s)).unwrap_or(s))
}

pub(crate) struct CollectorCover {
    /// Whether an instruction was taken in the previous cycle, and all of its registers were read then.
    all: bool,
}

#[cover]
impl CollectorCover {
    fn new(_: &MrfShape, _: &Config) -> Self {
        Self { all: false }
    }

    fn observe(&mut self, i: &StealCollectorIn, o: &StealCollectorOut, p: &MrfCollectorProbe, points: &mut Points) {
        let at = |s: usize| (i.alloc_bank_i[s], i.alloc_entry_i[s]);
        let source = |s: usize| i.alloc_src_valid_i >> s & 1 == 1;
        let same = |a: usize, b: usize| source(a) && source(b) && at(a) == at(b);
        let equal = u8::from(same(0, 1)) + u8::from(same(0, 2)) + u8::from(same(1, 2));
        let taken = i.alloc_valid_i == 1 && i.rst_ni == 1;
        let leaders = (0..OPERANDS).filter(|&s| leader(i, s) == Some(s)).fold(0u8, |set, s| set | 1 << s);
        let read = if i.alloc_valid_i == 1 { i.alloc_read_i } else { 0 };
        let (reads, fills) = (read.count_ones(), o.fill_o.count_ones());
        let all = taken && read == leaders && read != 0;
        let lowest = leaders & leaders.wrapping_neg();
        point!("instruction without register sources", taken && i.alloc_src_valid_i == 0);
        point!("three different registers", taken && i.alloc_src_valid_i == 7 && equal == 0);
        point!("one register in two sources", taken && equal == 1);
        point!("one register in all sources", taken && equal == 3);
        point!("nothing is read on arrival", taken && leaders != 0 && read == 0);
        point!("one source is read on arrival, others are not", taken && reads == 1 && leaders.count_ones() == 3);
        point!("two sources are read on arrival, one is not", taken && reads == 2 && leaders.count_ones() == 3);
        point!("one register is read on arrival, nothing else to read", taken && reads == 1 && read == leaders);
        point!("three registers are read on arrival", taken && reads == 3);
        point!("one read on arrival fills two slots", taken && reads == 1 && fills == 2);
        point!("one read on arrival fills all slots", taken && reads == 1 && fills == 3);
        point!(
            "the leader is read on arrival, a higher register is not",
            taken && equal == 1 && read == 1 && leaders != 1
        );
        point!(
            "a register is read on arrival, that of the lowest source is not",
            taken && read != 0 && read & lowest == 0
        );
        point!("complete two cycles after arrival", self.all && i.rst_ni == 1);
        point!("granted while what was read on arrival comes", p.inflight_q != 0 && i.grant_i != 0);
        point!("two grants at once", i.grant_i.count_ones() >= 2);
        point!("one read fills two slots", i.grant_i.count_ones() == 1 && fills >= 2);
        point!("complete and kept", o.complete_o == 1 && i.free_i == 0);
        point!("freed", i.free_i == 1);
        point!("reset while busy", o.busy_o == 1 && i.rst_ni == 0);
        point!("taken in reset, and read", read != 0 && i.rst_ni == 0);
        point!("no lane active", o.busy_o == 1 && o.mask_o == 0);

        self.all = all;
    }
}

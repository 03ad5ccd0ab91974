//! `hrf_operands`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfOperands, HrfOperandsIn, HrfOperandsOut, HrfOperandsProbe, HrfShape, PARITIES};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfOperands, OperandsDriver, OperandsCover>();

/// Driver of `hrf_operands`. It remembers the bank from which the reads of the last clock edge take data.
pub(crate) struct OperandsDriver {
    shape: HrfShape,
    reset: Reset,
    from: u8,
}

knobs! {
    pub(crate) struct OperandsKnobs {
        fill: "an instruction reads" = [100, 600, 1000],
        source: "a source is read" = [200, 500, 900],
        whole: "all lanes are in the buffer" = [0, 300, 900],
        none: "no lane is" = [0, 300, 900],
        same: "a source is served by another one's reads" = [0, 300],
        near: "the collector is the one that is dispatched" = [0, 500],
        reset,
    }
}

impl Driver for OperandsDriver {
    type In = HrfOperandsIn;
    type Knobs = OperandsKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), from: 0 }
    }

    fn unreached(_: &HrfShape, _: &Config) -> Vec<Unreached> {
        const WHY: &str = "the reads for a source are its own, or those for one before it";
        vec![Unreached::bits("port_i", 0..=0, WHY).of(0..=0), Unreached::bits("port_i", 1..=1, WHY).of(0..=1)]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &OperandsKnobs, i: &mut HrfOperandsIn) {
        let collectors = self.shape.mrf.collectors as u64;
        i.rst_ni = self.reset.next(rng, knobs.reset);
        // Data that a bank has been read for comes; other data may come while no operand waits for it.
        i.stt_data_valid_i = self.from | ports(rng, PARITIES, 300);
        self.from = 0;
        i.buffer_data_i.iter_mut().chain(&mut i.stt_data_i).for_each(|data| rng.fill(&mut data.0));
        i.dispatch_col_i = rng.below(collectors) as u8;
        let near = rng.chance(knobs.near);
        let collector = if near { i.dispatch_col_i.into() } else { rng.below(collectors) };
        let fill = rng.chance(knobs.fill);
        let sources = if fill { rng.mask(OPERANDS as u32, knobs.source) } else { 0 };
        i.fill_i = sources << (OPERANDS as u64 * collector);
        i.bank_i = rng.below(PARITIES as u64) as u8;
        for k in 0..OPERANDS {
            i.take_i[k] = match () {
                () if rng.chance(knobs.whole) => u32::MAX,
                () if rng.chance(knobs.none) => 0,
                () => lane_mask(rng, 1000),
            };
            let same = rng.chance(knobs.same);
            i.port_i[k] = if same { rng.below(k as u64 + 1) as u8 } else { k as u8 };
        }
        let lacks = |k: usize| sources >> k & 1 == 1 && i.take_i[usize::from(i.port_i[k])] != u32::MAX;
        if (0..OPERANDS).any(lacks) {
            self.from = 1 << i.bank_i;
        }
    }
}

pub(crate) struct OperandsCover {
    collectors: u8,
    /// Slots that took data in the cycle before.
    taken: u64,
}

#[cover]
impl OperandsCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { collectors: shape.mrf.collectors as u8, taken: 0 }
    }

    fn observe(&mut self, i: &HrfOperandsIn, _: &HrfOperandsOut, p: &HrfOperandsProbe, points: &mut Points) {
        let reset = i.rst_ni == 0;
        let collector = (0..self.collectors).find(|c| p.fill_q >> (OPERANDS as u8 * c) & 7 != 0).unwrap_or(0);
        let sources = (p.fill_q >> (OPERANDS as u8 * collector)) as u8 & 7;
        let reads = |k: usize| sources >> k & 1 == 1;
        let take = |k: usize| p.take_q[usize::from(p.port_q[k]) % OPERANDS];
        let any = |of: &dyn Fn(u32) -> bool| (0..OPERANDS).any(|k| reads(k) && of(take(k)));
        let (even, odd) = (p.bank_q == 0, p.bank_q == 1);
        let bank_has = i.stt_data_valid_i >> p.bank_q & 1 == 1;
        let (whole, none) = (|lanes: u32| lanes == u32::MAX, |lanes: u32| lanes == 0);
        let both = |lanes: u32| !whole(lanes) && !none(lanes);
        let all = sources == 7;
        let by = |k: usize, port: u8| reads(k) && p.port_q[k] == port;
        let dispatched = |slots: u64| slots >> (OPERANDS as u8 * i.dispatch_col_i) & 7 != 0;
        point!("wholly from the even buffer", even && any(&whole));
        point!("wholly from the odd buffer", odd && any(&whole));
        point!("wholly from the even bank", even && any(&none));
        point!("wholly from the odd bank", odd && any(&none));
        point!("from both, even", even && any(&both));
        point!("from both, odd", odd && any(&both));
        point!("one lane from the bank", any(&|lanes| lanes.count_zeros() == 1));
        point!("one lane from the buffer", any(&|lanes| lanes.count_ones() == 1));
        point!("from the buffer, the bank has nothing", !bank_has && any(&whole));
        point!("all three sources", all);
        point!("sources from buffer, bank and both", all && any(&whole) && any(&none) && any(&both));
        point!("source 1 by the read for source 0", by(1, 0));
        point!("source 2 by the read for source 0", by(2, 0));
        point!("source 2 by the read for source 1", by(2, 1));
        point!("all sources by one read", all && p.port_q == [0; OPERANDS]);
        point!("one source of two that share a read", by(1, 0) && !reads(0));
        point!("reads at two edges in a row, of both banks", sources != 0 && i.fill_i != 0 && i.bank_i != p.bank_q);
        point!("a slot takes data twice in a row", p.fill_q & self.taken != 0);
        point!("dispatched as it takes data", dispatched(p.fill_q));
        point!("dispatched in the cycle after it took data", dispatched(self.taken));
        point!("the last slot", collector + 1 == self.collectors && reads(OPERANDS - 1));
        point!("nothing is taken", sources == 0);
        point!("reads in reset", reset && i.fill_i != 0);
        point!("data is taken in reset", reset && sources != 0);

        self.taken = p.fill_q;
    }
}

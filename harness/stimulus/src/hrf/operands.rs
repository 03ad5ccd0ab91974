//! `hrf_operands`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfOperandsIn, HrfOperandsOut, HrfOperandsProbe, HrfShape, PARITIES};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

/// Remembers from which bank the reads of the last edge take data.
pub(crate) struct OperandsDriver {
    shape: HrfShape,
    reset: Reset,
    from: u8,
}

const FILL: usize = 0;
const SOURCE: usize = 1;
const WHOLE: usize = 2;
const NONE: usize = 3;
const SAME: usize = 4;
const NEAR: usize = 5;

impl Driver for OperandsDriver {
    type In = HrfOperandsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "fill", doc: "an instruction reads", values: &[100, 600, 1000] },
        Knob { name: "source", doc: "a source is read", values: &[200, 500, 900] },
        Knob { name: "whole", doc: "all lanes are in the buffer", values: &[0, 300, 900] },
        Knob { name: "none", doc: "no lane is", values: &[0, 300, 900] },
        Knob { name: "same", doc: "a source is served by another one's reads", values: &[0, 300] },
        Knob { name: "near", doc: "the collector is the one that is dispatched", values: &[0, 500] },
        RESET,
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), from: 0 }
    }

    fn unreached(_: &HrfShape, _: &Config) -> Vec<Unreached> {
        const WHY: &str = "the reads for a source are its own, or those for one before it";
        vec![Unreached::bits("port_i", 0..=0, WHY).of(0..=0), Unreached::bits("port_i", 1..=1, WHY).of(0..=1)]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfOperandsIn) {
        let collectors = self.shape.mrf.collectors as u64;
        i.rst_ni = self.reset.next(rng, knobs.get(6));
        // What a bank has been read for comes; anything may come where nobody waits for it.
        i.stt_data_valid_i = self.from | ports(rng, PARITIES, 300);
        self.from = 0;
        i.buffer_data_i.iter_mut().chain(&mut i.stt_data_i).for_each(|data| rng.fill(&mut data.0));
        i.dispatch_col_i = rng.below(collectors) as u8;
        let near = rng.chance(knobs.get(NEAR));
        let collector = if near { i.dispatch_col_i.into() } else { rng.below(collectors) };
        let fill = rng.chance(knobs.get(FILL));
        let sources = if fill { rng.mask(OPERANDS as u32, knobs.get(SOURCE)) } else { 0 };
        i.fill_i = sources << (OPERANDS as u64 * collector);
        i.bank_i = rng.below(PARITIES as u64) as u8;
        for k in 0..OPERANDS {
            i.take_i[k] = match () {
                () if rng.chance(knobs.get(WHOLE)) => u32::MAX,
                () if rng.chance(knobs.get(NONE)) => 0,
                () => lane_mask(rng, 1000),
            };
            let same = rng.chance(knobs.get(SAME));
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

impl Cover for OperandsCover {
    type In = HrfOperandsIn;
    type Out = HrfOperandsOut;
    type Probe = HrfOperandsProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "wholly from the even buffer",
            "wholly from the odd buffer",
            "wholly from the even bank",
            "wholly from the odd bank",
            "from both, even",
            "from both, odd",
            "one lane from the bank",
            "one lane from the buffer",
            "from the buffer, the bank has nothing",
            "all three sources",
            "sources from buffer, bank and both",
            "source 1 by the read for source 0",
            "source 2 by the read for source 0",
            "source 2 by the read for source 1",
            "all sources by one read",
            "one source of two that share a read",
            "reads at two edges in a row, of both banks",
            "a slot takes data twice in a row",
            "dispatched as it takes data",
            "dispatched in the cycle after it took data",
            "the last slot",
            "nothing is taken",
            "reads in reset",
            "data is taken in reset",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { collectors: shape.mrf.collectors as u8, taken: 0 }
    }

    fn observe(
        &mut self,
        i: &HrfOperandsIn,
        _: &HrfOperandsOut,
        p: &HrfOperandsProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
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
        let points = [
            ("wholly from the even buffer", even && any(&whole)),
            ("wholly from the odd buffer", odd && any(&whole)),
            ("wholly from the even bank", even && any(&none)),
            ("wholly from the odd bank", odd && any(&none)),
            ("from both, even", even && any(&both)),
            ("from both, odd", odd && any(&both)),
            ("one lane from the bank", any(&|lanes| lanes.count_zeros() == 1)),
            ("one lane from the buffer", any(&|lanes| lanes.count_ones() == 1)),
            ("from the buffer, the bank has nothing", !bank_has && any(&whole)),
            ("all three sources", all),
            ("sources from buffer, bank and both", all && any(&whole) && any(&none) && any(&both)),
            ("source 1 by the read for source 0", by(1, 0)),
            ("source 2 by the read for source 0", by(2, 0)),
            ("source 2 by the read for source 1", by(2, 1)),
            ("all sources by one read", all && p.port_q == [0; OPERANDS]),
            ("one source of two that share a read", by(1, 0) && !reads(0)),
            ("reads at two edges in a row, of both banks", sources != 0 && i.fill_i != 0 && i.bank_i != p.bank_q),
            ("a slot takes data twice in a row", p.fill_q & self.taken != 0),
            ("dispatched as it takes data", dispatched(p.fill_q)),
            ("dispatched in the cycle after it took data", dispatched(self.taken)),
            ("the last slot", collector + 1 == self.collectors && reads(OPERANDS - 1)),
            ("nothing is taken", sources == 0),
            ("reads in reset", reset && i.fill_i != 0),
            ("data is taken in reset", reset && sources != 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        self.taken = p.fill_q;
    }
}

//! `lane_crossbar`: shuffles. `docs/blocks/lane_crossbar.md`.

use crate::execute::result::{UnitResult, destination, each_lane, keep};
use crate::shape::SmShape;
use crate::{Block, LANES, REG_BITS, WARP_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`LaneCrossbar`].
    pub struct LaneCrossbarIn(s: &SmShape) {
        /// Value of each lane.
        value_i: WarpData = field(1024).valid_by("valid_i"),
        /// Lane that each lane asks for.
        choice_i: WarpData = field(1024).valid_by("valid_i"),
        /// Active lanes.
        lanes_i: u32 = field(32).valid_by("valid_i"),
        /// Modifiers of the instruction.
        modifiers_i: u16 = field(16).valid_by("valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A shuffle is performed at this edge if there is also room.
        valid_i: u8 = field(1),
        /// The side queue has room.
        room_i: u8 = field(1),
        /// Warp of the shuffle.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// The shuffle writes a register.
        reg_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Register that the shuffle writes.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// The shuffle writes a predicate.
        pred_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Predicate that the shuffle writes.
        pred_i: u8 = field(3).valid_by("pred_valid_i"),
    }
}

ports! {
    /// Outputs of [`LaneCrossbar`].
    pub struct LaneCrossbarOut(s: &SmShape) {
        /// Data of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("data_q"),
        /// Lanes served at this edge.
        served_o: u32 = field(32),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("mask_q"),
        /// Lanes of the predicate.
        result_pred_data_o: u32 = field(32).valid_by("result_pred_valid_o").early().shows("pred_data_q"),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("warp_q"),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "result_valid_o"),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early().shows("reg_q"),
        /// The result writes a predicate.
        result_pred_valid_o: u8 = field(1).early().shows_while("pred_valid_q", "result_valid_o"),
        /// Predicate of the result.
        result_pred_o: u8 = field(3).valid_by("result_pred_valid_o").early().shows("pred_q"),
    }
}

ports! {
    /// First stage of [`LaneCrossbar`].
    pub struct LaneCrossbarProbe(s: &SmShape) {
        /// Value of each active lane; 0 of the others.
        value_q: WarpData = field(1024).valid_by("first_valid_q"),
        /// Active lanes.
        first_mask_q: u32 = field(32).valid_by("first_valid_q"),
        /// Lanes whose choice is in range.
        in_range_q: u32 = field(32).valid_by("first_valid_q"),
        /// Lane whose value each lane takes.
        from_q: [u8; LANES] = field(LANES.ilog2()).count(LANES).valid_by("first_valid_q"),
        /// A shuffle is in the first stage.
        first_valid_q: u8 = field(1),
        /// Warp of the shuffle in the first stage.
        first_warp_q: u8 = field(WARP_BITS).valid_by("first_valid_q"),
        /// The shuffle in the first stage writes a register.
        first_reg_valid_q: u8 = field(1).valid_by("first_valid_q"),
        /// Register that the shuffle in the first stage writes.
        first_reg_q: u8 = field(REG_BITS).valid_by("first_reg_valid_q"),
        /// The shuffle in the first stage writes a predicate.
        first_pred_valid_q: u8 = field(1).valid_by("first_valid_q"),
        /// Predicate that the shuffle in the first stage writes.
        first_pred_q: u8 = field(3).valid_by("first_pred_valid_q"),
    }
}

/// A shuffle as the crossbar takes it, besides the lanes' words.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    /// Modifiers of the instruction.
    pub modifiers: u32,
    /// Active lanes.
    pub lanes: u32,
    /// Warp.
    pub warp: u8,
    /// Register written.
    pub reg: Option<u8>,
    /// Predicate written.
    pub pred: Option<u8>,
}

/// How a lane's choice names another lane (PTX ISA, "shfl.sync").
#[derive(Clone, Copy)]
struct Choice {
    mode: u32,
    clamp: u32,
    segment: u32,
}

impl Choice {
    fn of(modifiers: u32) -> Self {
        Self { mode: modifiers >> 3 & 3, clamp: modifiers >> 5 & 31, segment: modifiers >> 10 & 31 }
    }

    /// The lane that lane `l` asks for, if it is in range.
    #[inline]
    fn lane(self, l: u32, choice: u32) -> Option<u32> {
        let n = choice % LANES as u32;
        let low = l & self.segment;
        let limit = low | self.clamp & !self.segment;
        let (j, in_range) = match self.mode {
            0 => (l.wrapping_sub(n), l >= n + limit),
            1 => (l + n, l + n <= limit),
            2 => (l ^ n, l ^ n <= limit),
            _ => (low | n & !self.segment, low | n & !self.segment <= limit),
        };
        in_range.then_some(j)
    }
}

/// The first stage.
#[derive(Clone)]
struct First {
    value: WarpData,
    from: [u8; LANES],
    result: UnitResult,
}

/// Performs shuffles: each lane reads a value of another lane. The first stage decides which lane it reads; the second moves the values.
#[derive(Clone)]
pub struct LaneCrossbar {
    first_q: First,
    data_q: WarpData,
    result_q: UnitResult,
    first_valid_q: bool,
    result_valid_q: bool,
}

impl LaneCrossbar {
    /// The result that is offered.
    #[inline]
    pub fn result(&self) -> Option<&UnitResult> {
        self.result_valid_q.then_some(&self.result_q)
    }

    /// Data of the result that is offered; meaningful where it writes a register.
    #[inline]
    pub fn data(&self) -> &WarpData {
        &self.data_q
    }

    /// Whether no shuffle is in flight.
    #[inline]
    pub fn idle(&self) -> bool {
        !self.first_valid_q && !self.result_valid_q
    }

    /// First part of the clock edge: the shuffle in the first stage becomes a result.
    #[inline]
    pub fn advance(&mut self) {
        if self.first_valid_q {
            let First { value, from, result } = &self.first_q;
            self.data_q.0 = each_lane(|l| value.0[usize::from(from[l]) % LANES]);
            self.result_q = *result;
        }
        self.result_valid_q = self.first_valid_q;
        self.first_valid_q = false;
    }

    /// Second part of the clock edge: a shuffle is performed.
    pub fn perform(&mut self, shuffle: &Shuffle, value: &WarpData, choice: &WarpData) {
        let Shuffle { modifiers, lanes, warp, reg, pred } = *shuffle;
        let first = &mut self.first_q;
        let (how, mut in_range) = (Choice::of(modifiers), 0);
        for (l, from) in first.from.iter_mut().enumerate() {
            *from = l as u8;
            if lanes >> l & 1 == 1
                && let Some(j) = how.lane(l as u32, choice.0[l])
            {
                in_range |= 1 << l;
                *from = j as u8;
            }
        }
        // The registers of inactive lanes are never visible: who reads such a lane gets 0.
        first.value = *value;
        keep(&mut first.value.0, lanes);
        first.result = UnitResult { mask: lanes, pred_data: in_range, warp, reg, pred, done: true };
        self.first_valid_q = true;
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.first_valid_q, self.result_valid_q) = (false, false);
    }

    /// The registers of the first stage.
    pub(crate) fn state(&self) -> LaneCrossbarProbe {
        let mut probe = <LaneCrossbarProbe as crate::Ports>::zeroed();
        if self.first_valid_q {
            let First { value, from, result } = &self.first_q;
            probe.first_valid_q = 1;
            (probe.value_q, probe.from_q, probe.in_range_q) = (*value, *from, result.pred_data);
            (probe.first_warp_q, probe.first_mask_q) = (result.warp, result.mask);
            (probe.first_reg_valid_q, probe.first_reg_q) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
            (probe.first_pred_valid_q, probe.first_pred_q) = (result.pred.is_some().into(), result.pred.unwrap_or(0));
        }
        probe
    }
}

impl Block for LaneCrossbar {
    const NAME: &'static str = "lane_crossbar";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = LaneCrossbarIn;
    type Out = LaneCrossbarOut;
    type Probe = LaneCrossbarProbe;

    fn new(_: &SmShape) -> Self {
        Self {
            first_q: First { value: WarpData::ZERO, from: [0; LANES], result: UnitResult::default() },
            data_q: WarpData::ZERO,
            result_q: UnitResult::default(),
            first_valid_q: false,
            result_valid_q: false,
        }
    }

    fn early(&self, out: &mut LaneCrossbarOut) {
        let result = self.result().copied().unwrap_or_default();
        out.result_valid_o = self.result_valid_q.into();
        (out.result_warp_o, out.result_mask_o) = (result.warp, result.mask);
        (out.result_reg_valid_o, out.result_reg_o) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        if result.reg.is_some() {
            out.result_data_o = *self.data();
        }
        (out.result_pred_valid_o, out.result_pred_o) = (result.pred.is_some().into(), result.pred.unwrap_or(0));
        out.result_pred_data_o = if result.pred.is_some() { result.pred_data } else { 0 };
    }

    fn late(&mut self, inputs: &LaneCrossbarIn, out: &mut LaneCrossbarOut) {
        out.served_o = if inputs.valid_i & inputs.room_i != 0 { inputs.lanes_i } else { 0 };
    }

    fn clock(&mut self, inputs: &LaneCrossbarIn, _: &LaneCrossbarOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        self.advance();
        if inputs.valid_i & inputs.room_i != 0 {
            let shuffle = Shuffle {
                modifiers: inputs.modifiers_i.into(),
                lanes: inputs.lanes_i,
                warp: inputs.warp_i,
                reg: destination(inputs.reg_valid_i != 0, inputs.reg_i),
                pred: destination(inputs.pred_valid_i != 0, inputs.pred_i),
            };
            self.perform(&shuffle, &inputs.value_i, &inputs.choice_i);
        }
    }

    fn probe(&self, _: &LaneCrossbarIn, _: &LaneCrossbarOut, probe: &mut LaneCrossbarProbe) {
        *probe = self.state();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Driver, SM_SHAPES};

    const UP: u16 = 0;
    const DOWN: u16 = 1;
    const BUTTERFLY: u16 = 2;
    const INDEX: u16 = 3;

    fn modifiers(mode: u16, clamp: u16, segment: u16) -> u16 {
        mode << 3 | clamp << 5 | segment << 10
    }

    /// A crossbar that is given a shuffle in which each lane has its own number, plus 100, as its value.
    fn crossbar(modifiers: u16, lanes: u32, choice: impl Fn(u32) -> u32) -> Driver<LaneCrossbar> {
        let mut crossbar = Driver::new(&SM_SHAPES[0]);
        let inputs: &mut LaneCrossbarIn = &mut crossbar.inputs;
        (inputs.valid_i, inputs.room_i, inputs.modifiers_i, inputs.lanes_i) = (1, 1, modifiers, lanes);
        (inputs.reg_valid_i, inputs.reg_i, inputs.pred_valid_i, inputs.pred_i) = (1, 30, 1, 5);
        inputs.warp_i = 17;
        inputs.value_i = WarpData(std::array::from_fn(|l| 100 + l as u32));
        inputs.choice_i = WarpData(std::array::from_fn(|l| choice(l as u32)));
        crossbar
    }

    /// Which lane each lane has read from (255: none), and which of them are in range.
    fn shuffled(modifiers: u16, lanes: u32, choice: impl Fn(u32) -> u32) -> ([u8; LANES], u32) {
        let mut crossbar = crossbar(modifiers, lanes, choice);
        assert_eq!(crossbar.cycle().served_o, lanes);
        crossbar.inputs.valid_i = 0;
        assert_eq!(crossbar.cycle().result_valid_o, 0);
        let out = crossbar.cycle();
        assert_eq!((out.result_valid_o, out.result_warp_o, out.result_mask_o), (1, 17, lanes));
        assert_eq!((out.result_reg_valid_o, out.result_reg_o), (1, 30));
        assert_eq!((out.result_pred_valid_o, out.result_pred_o), (1, 5));
        let from = out.result_data_o.0.map(|value| if value == 0 { 255 } else { value as u8 - 100 });
        assert_eq!(crossbar.cycle().result_valid_o, 0);
        (from, out.result_pred_data_o)
    }

    fn expected(from: impl Fn(u8) -> u8) -> [u8; LANES] {
        std::array::from_fn(|l| from(l as u8))
    }

    #[test]
    fn up_keeps_what_would_come_from_below_the_segment() {
        let result = shuffled(modifiers(UP, 0, 0), u32::MAX, |_| 3);
        assert_eq!(result, (expected(|l| if l < 3 { l } else { l - 3 }), u32::MAX << 3));
        // Segments of eight lanes.
        let result = shuffled(modifiers(UP, 0, 0b11000), u32::MAX, |_| 3);
        assert_eq!(result, (expected(|l| if l % 8 < 3 { l } else { l - 3 }), 0xf8f8_f8f8));
        // A clamp above 0 is the lowest lane that may be read.
        let result = shuffled(modifiers(UP, 4, 0), u32::MAX, |_| 3);
        assert_eq!(result, (expected(|l| if l < 7 { l } else { l - 3 }), u32::MAX << 7));
    }

    #[test]
    fn down_keeps_what_would_come_from_above_the_segment() {
        let result = shuffled(modifiers(DOWN, 31, 0), u32::MAX, |_| 31);
        assert_eq!(result, (expected(|l| if l == 0 { 31 } else { l }), 1));
        let result = shuffled(modifiers(DOWN, 31, 0b10000), u32::MAX, |l| if l < 16 { 2 } else { 35 });
        let from = expected(|l| match l {
            0..14 => l + 2,
            16..29 => l + 3,
            _ => l,
        });
        assert_eq!(result, (from, 0x1fff_3fff), "only five bits of the choice count");
    }

    #[test]
    fn butterfly_swaps() {
        let result = shuffled(modifiers(BUTTERFLY, 31, 0), u32::MAX, |_| 5);
        assert_eq!(result, (expected(|l| l ^ 5), u32::MAX));
        // Lanes above the clamp are out of range.
        let result = shuffled(modifiers(BUTTERFLY, 15, 0), u32::MAX, |_| 16);
        assert_eq!(result, (expected(|l| if l < 16 { l } else { l - 16 }), 0xffff_0000));
    }

    #[test]
    fn index_counts_within_the_segment() {
        let result = shuffled(modifiers(INDEX, 31, 0b11100), u32::MAX, |l| l / 4 + 9);
        assert_eq!(result, (expected(|l| l / 4 * 4 + (l / 4 + 9) % 4), u32::MAX));
        let result = shuffled(modifiers(INDEX, 5, 0), u32::MAX, |l| l);
        assert_eq!(result, (expected(|l| l), 0x3f));
    }

    #[test]
    fn a_lane_that_does_not_take_part_gives_zero_and_is_not_written() {
        let lanes = 0x0000_ff0f;
        let (from, in_range) = shuffled(modifiers(BUTTERFLY, 31, 0), lanes, |_| 4);
        // Lanes 0 to 3 ask for lanes 4 to 7, which take no part; lanes 8 to 15 for each other.
        assert_eq!(from, expected(|l| if (8..16).contains(&l) { l ^ 4 } else { 255 }));
        assert_eq!(in_range, lanes, "in range, whether or not that lane takes part");
        // A lane whose choice is out of range keeps its value, although the lane that it names takes no part.
        let (from, in_range) = shuffled(modifiers(BUTTERFLY, 3, 0), lanes, |_| 4);
        assert_eq!(from, expected(|l| if lanes >> l & 1 == 1 { l } else { 255 }));
        assert_eq!(in_range, 0);
    }

    #[test]
    fn nothing_is_performed_without_room() {
        let mut crossbar = crossbar(modifiers(INDEX, 31, 0), u32::MAX, |_| 0);
        crossbar.inputs.room_i = 0;
        for _ in 0..3 {
            let out = crossbar.cycle();
            assert_eq!((out.served_o, out.result_valid_o, crossbar.probe().first_valid_q), (0, 0, 0));
        }
    }

    #[test]
    fn reset_empties_both_stages() {
        let mut crossbar = crossbar(modifiers(INDEX, 31, 0), u32::MAX, |_| 0);
        crossbar.cycle();
        crossbar.cycle();
        crossbar.inputs.rst_ni = 0;
        assert_eq!(crossbar.cycle().result_valid_o, 1);
        crossbar.inputs.valid_i = 0;
        assert_eq!((crossbar.cycle().result_valid_o, crossbar.probe().first_valid_q), (0, 0));
    }

    #[test]
    fn shuffles_follow_each_other_without_a_gap() {
        let mut crossbar = crossbar(modifiers(INDEX, 31, 0), u32::MAX, |_| 0);
        let mut values = Vec::new();
        for value in 1..6 {
            crossbar.inputs.value_i = WarpData([value; LANES]);
            values.push(crossbar.cycle().result_data_o.0[9]);
        }
        assert_eq!(values, [0, 0, 1, 2, 3]);
    }
}

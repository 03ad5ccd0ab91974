//! `mrf_collector`: one operand collector. `docs/blocks/mrf_collector.md`.

use crate::mrf::bits::only;
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_COLLECTORS, MAX_SLOTS, MrfShape};
use crate::{Block, LaneMask, OPERANDS, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`MrfCollector`].
    pub struct MrfCollectorIn(s: &MrfShape) {
        /// Tag of the instruction.
        alloc_tag_i: u64 = field(s.tag_w).valid_by("alloc_valid_i"),
        /// Active lanes of the instruction.
        alloc_mask_i: u32 = field(32).valid_by("alloc_valid_i"),
        /// Entry of each source.
        alloc_entry_i: [u16; OPERANDS] = field(s.entry_w()).count(OPERANDS).valid_by("alloc_src_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Take the instruction at this edge.
        alloc_valid_i: u8 = field(1),
        /// Warp of the instruction.
        alloc_warp_i: u8 = field(WARP_BITS).valid_by("alloc_valid_i"),
        /// Bit s: source s is a register.
        alloc_src_valid_i: u8 = field(OPERANDS),
        /// Bank of each source.
        alloc_bank_i: [u8; OPERANDS] = field(s.bank_w()).count(OPERANDS).valid_by("alloc_src_valid_i"),
        /// The read of slot s is performed at this edge.
        grant_i: u8 = field(OPERANDS),
        /// The instruction leaves at this edge.
        free_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`MrfCollector`].
    pub struct MrfCollectorOut(s: &MrfShape) {
        /// Tag of the instruction.
        tag_o: u64 = field(s.tag_w).valid_by("busy_o").early(),
        /// Active lanes of the instruction.
        mask_o: u32 = field(32).valid_by("busy_o").early(),
        /// Entry of each register source, also of those already read.
        req_entry_o: [u16; OPERANDS] = field(s.entry_w()).count(OPERANDS).valid_by("src_valid_o").early(),
        /// Slot s wants its bank.
        req_valid_o: u8 = field(OPERANDS).early(),
        /// Bank of each register source, also of those already read.
        req_bank_o: [u8; OPERANDS] = field(s.bank_w()).count(OPERANDS).valid_by("src_valid_o").early(),
        /// 4-lane groups with an active lane, 0 to 8.
        req_groups_o: u8 = field(4).valid_by("busy_o").early(),
        /// Slot s will be filled by the read granted now.
        fill_o: u8 = field(OPERANDS),
        /// Holds an instruction.
        busy_o: u8 = field(1).early(),
        /// Busy, nothing requested, nothing under way.
        complete_o: u8 = field(1).early(),
        /// Warp of the instruction.
        warp_o: u8 = field(WARP_BITS).valid_by("busy_o").early(),
        /// Bit s: busy, and source s is a register.
        src_valid_o: u8 = field(OPERANDS).early(),
    }
}

ports! {
    /// State of [`MrfCollector`] that no output shows.
    pub struct MrfCollectorProbe(s: &MrfShape) {
        /// Granted in the last cycle: the data is at the bank's output now.
        inflight_q: u8 = field(OPERANDS),
        /// The slot that reads for slot s.
        leader_q: [u8; OPERANDS] = field(OPERANDS.ilog2() + 1).count(OPERANDS).valid_by("busy_o"),
    }
}

/// An instruction as a collector takes it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instruction {
    /// Opaque, comes out at dispatch.
    pub(crate) tag: u64,
    /// Active lanes.
    pub(crate) mask: LaneMask,
    /// Entry of each register source.
    pub(crate) entry: [u16; OPERANDS],
    /// Bank of each register source.
    pub(crate) bank: [u8; OPERANDS],
    /// Warp.
    pub(crate) warp: u8,
    /// Bit s: source s is a register.
    pub(crate) src_valid: u8,
}

/// Up to 16 operand collectors, bit by bit beside each other, so that an edge of all of them costs what it costs for one.
/// A collector alone is the first of them.
#[derive(Clone, Debug)]
pub(crate) struct Collectors {
    busy_q: u16,
    pending_q: Slots,
    inflight_q: Slots,
    src_valid_q: Slots,
    /// The slots whose leader is slot s, by s.
    led_q: [Slots; OPERANDS],
    tag_q: [u64; MAX_COLLECTORS],
    mask_q: [LaneMask; MAX_COLLECTORS],
    warp_q: [u8; MAX_COLLECTORS],
    /// 4-lane groups of `mask_q`.
    groups_q: [u8; MAX_COLLECTORS],
    bank_q: [u8; MAX_SLOTS],
    entry_q: [u16; MAX_SLOTS],
}

impl Collectors {
    pub(crate) fn new() -> Self {
        Self {
            busy_q: 0,
            pending_q: Slots::NONE,
            inflight_q: Slots::NONE,
            src_valid_q: Slots::NONE,
            led_q: [Slots::NONE; OPERANDS],
            tag_q: [0; MAX_COLLECTORS],
            mask_q: [LaneMask(0); MAX_COLLECTORS],
            warp_q: [0; MAX_COLLECTORS],
            groups_q: [0; MAX_COLLECTORS],
            bank_q: [0; MAX_SLOTS],
            entry_q: [0; MAX_SLOTS],
        }
    }

    /// The collectors that hold an instruction.
    #[inline]
    pub(crate) fn busy(&self) -> u16 {
        self.busy_q
    }

    /// Busy, nothing requested, nothing under way.
    #[inline]
    pub(crate) fn complete(&self) -> u16 {
        self.busy_q & !(self.pending_q | self.inflight_q).collectors()
    }

    /// Slots that want their bank.
    #[inline]
    pub(crate) fn pending(&self) -> Slots {
        self.pending_q
    }

    /// Slots that were granted in the last cycle.
    pub(crate) fn inflight(&self) -> Slots {
        self.inflight_q
    }

    /// Slots of register sources.
    #[inline]
    pub(crate) fn src_valid(&self) -> Slots {
        self.src_valid_q
    }

    /// The slot that reads for each slot of a collector.
    pub(crate) fn leaders(&self, c: usize) -> [u8; OPERANDS] {
        let [_, by_1, by_2] = self.led_q.map(|led| led.bits_of(c));
        std::array::from_fn(|s| by_1 >> s & 1 | (by_2 >> s & 1) << 1)
    }

    /// Tags, active lanes and warps of the instructions.
    #[inline]
    pub(crate) fn tags(&self) -> &[u64; MAX_COLLECTORS] {
        &self.tag_q
    }

    /// See [`tags`](Self::tags).
    #[inline]
    pub(crate) fn masks(&self) -> &[LaneMask; MAX_COLLECTORS] {
        &self.mask_q
    }

    /// See [`tags`](Self::tags).
    #[inline]
    pub(crate) fn warps(&self) -> &[u8; MAX_COLLECTORS] {
        &self.warp_q
    }

    /// 4-lane groups with an active lane.
    #[inline]
    pub(crate) fn groups(&self) -> &[u8; MAX_COLLECTORS] {
        &self.groups_q
    }

    /// Bank of each register source, by slot.
    #[inline]
    pub(crate) fn banks(&self) -> &[u8; MAX_SLOTS] {
        &self.bank_q
    }

    /// Entry of each register source, by slot.
    #[inline]
    pub(crate) fn entries(&self) -> &[u16; MAX_SLOTS] {
        &self.entry_q
    }

    /// The slots that are filled by the reads of `grant`.
    #[inline]
    pub(crate) fn fill(&self, grant: Slots) -> Slots {
        let mut filled = Slots::NONE;
        for (s, &led) in self.led_q.iter().enumerate() {
            filled |= Slots::all_of(grant.plane(s)) & led;
        }
        filled & self.src_valid_q
    }

    /// The edge of all collectors; [`allocate`](Self::allocate) follows for those that take an instruction, and wins.
    #[inline]
    pub(crate) fn advance(&mut self, grant: Slots, free: u16) {
        self.pending_q = self.pending_q - grant;
        self.inflight_q = grant;
        self.busy_q &= !free;
        self.src_valid_q = self.src_valid_q - Slots::all_of(free);
    }

    /// The edge of a collector that takes an instruction.
    #[inline]
    pub(crate) fn allocate(&mut self, c: usize, instruction: &Instruction) {
        let Instruction { tag, mask, entry, bank, warp, src_valid } = *instruction;
        (self.tag_q[c], self.mask_q[c], self.warp_q[c]) = (tag, mask, warp);
        self.groups_q[c] = mask.groups();
        self.bank_q[OPERANDS * c..][..OPERANDS].copy_from_slice(&bank);
        self.entry_q[OPERANDS * c..][..OPERANDS].copy_from_slice(&entry);

        // The leader of a register source is the lowest one with the same register. Without branches: nobody can
        // predict them.
        let same = |l: usize, s: usize| {
            let both = src_valid >> l & src_valid >> s & 1;
            both & u8::from(bank[l] == bank[s]) & u8::from(entry[l] == entry[s])
        };
        let (first_leads_1, first_leads_2, second_leads_2) = (same(0, 1), same(0, 2), same(1, 2) & !same(0, 2));
        let led = [
            0b001 | first_leads_1 << 1 | first_leads_2 << 2,
            (1 ^ first_leads_1) << 1 | second_leads_2 << 2,
            (1 ^ (first_leads_2 | second_leads_2)) << 2,
        ];
        let all = Slots::all_of(1 << c);
        let mut own = 0;
        for (s, led) in led.into_iter().enumerate() {
            self.led_q[s] = (self.led_q[s] - all) | Slots::of_collector(c, led);
            own |= led & 1 << s;
        }
        self.busy_q |= 1 << c;
        self.src_valid_q = (self.src_valid_q - all) | Slots::of_collector(c, src_valid);
        self.pending_q = (self.pending_q - all) | Slots::of_collector(c, src_valid & own);
        self.inflight_q = self.inflight_q - all;
    }

    /// An edge in reset.
    pub(crate) fn reset(&mut self) {
        self.busy_q = 0;
        self.pending_q = Slots::NONE;
        self.inflight_q = Slots::NONE;
        self.src_valid_q = Slots::NONE;
    }
}

/// Holds an instruction from issue to dispatch and asks for its operands (stealing paper, II-B, figure 1). The data
/// itself goes into the operand latches at the crossbar's outputs; the collector knows which of its slots have been asked
/// for and which have arrived.
pub struct MrfCollector {
    state: Collectors,
}

impl Block for MrfCollector {
    const NAME: &'static str = "mrf_collector";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Depth", "TagW"];

    type Shape = MrfShape;
    type In = MrfCollectorIn;
    type Out = MrfCollectorOut;
    type Probe = MrfCollectorProbe;

    fn new(_: &MrfShape) -> Self {
        Self { state: Collectors::new() }
    }

    fn early(&self, out: &mut MrfCollectorOut) {
        let state = &self.state;
        out.req_valid_o = state.pending().bits_of(0);
        out.busy_o = state.busy() as u8;
        out.complete_o = state.complete() as u8;
        out.src_valid_o = state.src_valid().bits_of(0);
        (out.tag_o, out.mask_o, out.warp_o, out.req_groups_o) = match state.busy() {
            0 => (0, 0, 0, 0),
            _ => (state.tags()[0], state.masks()[0].0, state.warps()[0], state.groups()[0]),
        };
        let bank = std::array::from_fn(|s| state.banks()[s]);
        let entry = std::array::from_fn(|s| state.entries()[s]);
        out.req_bank_o = only(&bank, out.src_valid_o);
        out.req_entry_o = only(&entry, out.src_valid_o);
    }

    fn late(&mut self, inputs: &MrfCollectorIn, out: &mut MrfCollectorOut) {
        out.fill_o = self.state.fill(Slots::of_collector(0, inputs.grant_i)).bits_of(0);
    }

    fn clock(&mut self, inputs: &MrfCollectorIn, _: &MrfCollectorOut) {
        if inputs.rst_ni == 0 {
            self.state.reset();
            return;
        }
        self.state.advance(Slots::of_collector(0, inputs.grant_i), inputs.free_i.into());
        if inputs.alloc_valid_i != 0 {
            let instruction = Instruction {
                tag: inputs.alloc_tag_i,
                mask: LaneMask(inputs.alloc_mask_i),
                entry: inputs.alloc_entry_i,
                bank: inputs.alloc_bank_i,
                warp: inputs.alloc_warp_i,
                src_valid: inputs.alloc_src_valid_i,
            };
            self.state.allocate(0, &instruction);
        }
    }

    fn probe(&self, _: &MrfCollectorIn, out: &MrfCollectorOut, probe: &mut MrfCollectorProbe) {
        probe.inflight_q = self.state.inflight().bits_of(0);
        probe.leader_q = if out.busy_o != 0 { self.state.leaders(0) } else { [0; OPERANDS] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mrf::testing::{Driver, SHAPES, compare};

    /// A collector that has taken an instruction with these sources: bank and entry, `None` for no register.
    fn holding(sources: [Option<(u8, u16)>; OPERANDS]) -> Driver<MrfCollector> {
        let mut driver = Driver::<MrfCollector>::new(&MrfShape::BASELINE);
        let inputs = &mut driver.inputs;
        (inputs.alloc_valid_i, inputs.alloc_tag_i, inputs.alloc_warp_i, inputs.alloc_mask_i) = (1, 77, 9, 0xff);
        for (s, source) in sources.into_iter().enumerate() {
            let Some((bank, entry)) = source else { continue };
            inputs.alloc_src_valid_i |= 1 << s;
            (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]) = (bank, entry);
        }
        assert_eq!(driver.cycle().busy_o, 0);
        driver.inputs.alloc_valid_i = 0;
        driver
    }

    #[test]
    fn operands_are_requested_granted_under_way_and_complete() {
        let mut collector = holding([Some((1, 10)), None, Some((2, 10))]);
        let out = collector.cycle();
        assert_eq!((out.busy_o, out.complete_o, out.req_valid_o, out.src_valid_o), (1, 0, 0b101, 0b101));
        assert_eq!((out.tag_o, out.warp_o, out.mask_o, out.req_groups_o), (77, 9, 0xff, 2));
        assert_eq!((out.req_bank_o, out.req_entry_o), ([1, 0, 2], [10, 0, 10]));
        collector.inputs.grant_i = 0b100;
        assert_eq!(collector.cycle().fill_o, 0b100);
        collector.inputs.grant_i = 0b001;
        let out = collector.cycle();
        assert_eq!((out.req_valid_o, out.fill_o, collector.probe().inflight_q), (0b001, 0b001, 0b100));
        collector.inputs.grant_i = 0;
        let out = collector.cycle();
        assert_eq!((out.req_valid_o, out.complete_o, collector.probe().inflight_q), (0, 0, 0b001));
        collector.inputs.free_i = 1;
        let out = collector.cycle();
        assert_eq!((out.complete_o, out.src_valid_o, out.req_bank_o), (1, 0b101, [1, 0, 2]));
        let out = collector.cycle();
        assert_eq!((out.busy_o, out.complete_o, out.src_valid_o), (0, 0, 0));
    }

    #[test]
    fn a_register_is_read_once_for_all_its_sources() {
        let mut collector = holding([Some((1, 10)), Some((1, 10)), Some((1, 10))]);
        collector.inputs.grant_i = 0b001;
        let out = collector.cycle();
        assert_eq!((out.req_valid_o, out.fill_o, collector.probe().leader_q), (0b001, 0b111, [0, 0, 0]));

        let mut collector = holding([None, Some((1, 10)), Some((1, 10))]);
        collector.inputs.grant_i = 0b010;
        let out = collector.cycle();
        assert_eq!((out.req_valid_o, out.fill_o, collector.probe().leader_q), (0b010, 0b110, [0, 1, 1]));

        // The bank alone or the entry alone is another register.
        let mut collector = holding([Some((1, 10)), Some((1, 11)), Some((2, 10))]);
        assert_eq!(collector.cycle().req_valid_o, 0b111);
    }

    #[test]
    fn without_register_sources_it_is_complete_at_once() {
        let mut collector = holding([None; OPERANDS]);
        let out = collector.cycle();
        assert_eq!((out.complete_o, out.req_valid_o, out.src_valid_o), (1, 0, 0));
    }

    #[test]
    fn allocation_wins_over_grant_and_free() {
        let mut collector = holding([Some((1, 10)), Some((2, 10)), None]);
        let inputs = &mut collector.inputs;
        (inputs.alloc_valid_i, inputs.alloc_src_valid_i, inputs.grant_i, inputs.free_i) = (1, 0b100, 0b011, 1);
        (inputs.alloc_bank_i[2], inputs.alloc_entry_i[2]) = (3, 4);
        collector.cycle();
        let inputs = &mut collector.inputs;
        (inputs.alloc_valid_i, inputs.grant_i, inputs.free_i) = (0, 0, 0);
        let out = collector.cycle();
        assert_eq!((out.busy_o, out.req_valid_o, out.src_valid_o), (1, 0b100, 0b100));
        assert_eq!((out.req_bank_o, out.req_entry_o, collector.probe().inflight_q), ([0, 0, 3], [0, 0, 4], 0));
    }

    #[test]
    fn reset_empties_it() {
        let mut collector = holding([Some((1, 10)), None, None]);
        collector.inputs.grant_i = 0b001;
        collector.inputs.rst_ni = 0;
        collector.cycle();
        collector.inputs.rst_ni = 1;
        collector.inputs.grant_i = 0;
        let out = collector.cycle();
        assert_eq!((out.busy_o, out.req_valid_o, out.src_valid_o, collector.probe().inflight_q), (0, 0, 0, 0));
    }

    /// The page, sentence by sentence.
    #[derive(Default)]
    struct Reference {
        busy: bool,
        pending: [bool; OPERANDS],
        inflight: [bool; OPERANDS],
        src_valid: [bool; OPERANDS],
        leader: [usize; OPERANDS],
        payload: (u64, u32, u8),
        bank: [u8; OPERANDS],
        entry: [u16; OPERANDS],
    }

    impl Reference {
        fn cycle(&mut self, inputs: &MrfCollectorIn) -> (MrfCollectorOut, MrfCollectorProbe) {
            let mask = |bits: [bool; OPERANDS]| (0..OPERANDS).fold(0, |mask, s| mask | u8::from(bits[s]) << s);
            let grant: [bool; OPERANDS] = std::array::from_fn(|s| inputs.grant_i >> s & 1 == 1);
            let out = MrfCollectorOut {
                tag_o: self.payload.0,
                mask_o: self.payload.1,
                req_entry_o: self.entry,
                req_valid_o: mask(self.pending),
                req_bank_o: self.bank,
                req_groups_o: (0..8).filter(|g| self.payload.1 >> (4 * g) & 0xf != 0).count() as u8,
                fill_o: mask(std::array::from_fn(|s| self.src_valid[s] && grant[self.leader[s]])),
                busy_o: self.busy.into(),
                complete_o: (self.busy && mask(self.pending) == 0 && mask(self.inflight) == 0).into(),
                warp_o: self.payload.2,
                src_valid_o: mask(self.src_valid),
            };
            let probe = MrfCollectorProbe { inflight_q: mask(self.inflight), leader_q: self.leader.map(|l| l as u8) };
            if inputs.rst_ni == 0 {
                (self.busy, self.pending, self.inflight, self.src_valid) = Default::default();
            } else if inputs.alloc_valid_i == 1 {
                self.busy = true;
                self.inflight = [false; OPERANDS];
                self.payload = (inputs.alloc_tag_i, inputs.alloc_mask_i, inputs.alloc_warp_i);
                for s in 0..OPERANDS {
                    self.src_valid[s] = inputs.alloc_src_valid_i >> s & 1 == 1;
                    self.leader[s] = s;
                    if self.src_valid[s] {
                        (self.bank[s], self.entry[s]) = (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]);
                        let same = |&l: &usize| {
                            self.src_valid[l] && self.bank[l] == self.bank[s] && self.entry[l] == self.entry[s]
                        };
                        self.leader[s] = (0..=s).find(same).unwrap();
                    }
                    self.pending[s] = self.src_valid[s] && self.leader[s] == s;
                }
            } else {
                let stays = inputs.free_i == 0;
                self.pending = std::array::from_fn(|s| self.pending[s] && !grant[s]);
                self.inflight = grant;
                self.src_valid = self.src_valid.map(|valid| valid && stays);
                self.busy &= stays;
            }
            (out, probe)
        }
    }

    #[test]
    fn it_does_what_the_page_says_whatever_it_is_given() {
        for shape in SHAPES {
            let mut reference = Reference::default();
            compare::<MrfCollector>(
                &shape,
                20_000,
                |random, inputs| {
                    inputs.rst_ni = (!random.chance(2)).into();
                    inputs.alloc_valid_i = random.chance(25).into();
                    inputs.free_i = random.chance(20).into();
                    inputs.grant_i &= random.next() as u8;
                    // Few registers, so that they meet.
                    inputs.alloc_bank_i.iter_mut().for_each(|bank| *bank &= 1);
                    inputs.alloc_entry_i.iter_mut().for_each(|entry| *entry &= 1);
                },
                |inputs| reference.cycle(inputs),
            );
        }
    }
}

//! `mrf_collector`: one operand collector. `docs/blocks/mrf_collector.md`.

use crate::mrf::bits::set_bits;
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
        tag_o: u64 = field(s.tag_w).valid_by("busy_o").early().shows("tag_q"),
        /// Active lanes of the instruction.
        mask_o: u32 = field(32).valid_by("busy_o").early().shows("mask_q"),
        /// Entry of each register source, also of those already read.
        req_entry_o: [u16; OPERANDS] =
            field(s.entry_w()).count(OPERANDS).valid_by("src_valid_o").early().shows("entry_q"),
        /// Slot s wants its bank.
        req_valid_o: u8 = field(OPERANDS).early().shows("pending_q"),
        /// Bank of each register source, also of those already read.
        req_bank_o: [u8; OPERANDS] =
            field(s.bank_w()).count(OPERANDS).valid_by("src_valid_o").early().shows("bank_q"),
        /// 4-lane groups with an active lane, 0 to 8.
        req_groups_o: u8 = field(4).valid_by("busy_o").early(),
        /// Slot s will be filled by the read granted now.
        fill_o: u8 = field(OPERANDS),
        /// The collector holds an instruction.
        busy_o: u8 = field(1).early().shows("busy_q"),
        /// Busy, nothing requested, nothing under way.
        complete_o: u8 = field(1).early(),
        /// Warp of the instruction.
        warp_o: u8 = field(WARP_BITS).valid_by("busy_o").early().shows("warp_q"),
        /// Bit s: busy, and source s is a register.
        src_valid_o: u8 = field(OPERANDS).early().shows("src_valid_q"),
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

/// An instruction as a collector takes it at allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    /// Tag of the instruction: not interpreted, returned at dispatch.
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

/// The contents of the collectors, by collector or by slot. Bank and entry are zero for a source that is not a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Tags.
    pub(crate) tag: [u64; MAX_COLLECTORS],
    /// Active lanes.
    pub(crate) mask: [u32; MAX_COLLECTORS],
    /// Entry of each source.
    pub(crate) entry: [u16; MAX_SLOTS],
    /// Bank of each source.
    pub(crate) bank: [u8; MAX_SLOTS],
    /// The leader of each slot: the slot of the same collector whose read serves it.
    pub(crate) leader: [u8; MAX_SLOTS],
    /// Warps.
    pub(crate) warp: [u8; MAX_COLLECTORS],
    /// 4-lane groups with an active lane.
    pub(crate) groups: [u8; MAX_COLLECTORS],
}

impl Held {
    const NOTHING: Self = Self {
        tag: [0; MAX_COLLECTORS],
        mask: [0; MAX_COLLECTORS],
        entry: [0; MAX_SLOTS],
        bank: [0; MAX_SLOTS],
        leader: [0; MAX_SLOTS],
        warp: [0; MAX_COLLECTORS],
        groups: [0; MAX_COLLECTORS],
    };

    /// The contents of the collectors of a set, and zero for the others.
    pub(crate) fn only(&self, collectors: u16) -> Self {
        let mut kept = Self::NOTHING;
        for c in set_bits(collectors) {
            (kept.tag[c], kept.mask[c]) = (self.tag[c], self.mask[c]);
            (kept.warp[c], kept.groups[c]) = (self.warp[c], self.groups[c]);
            for slot in OPERANDS * c..OPERANDS * (c + 1) {
                kept.entry[slot] = self.entry[slot];
                kept.bank[slot] = self.bank[slot];
                kept.leader[slot] = self.leader[slot];
            }
        }
        kept
    }
}

/// Up to 16 operand collectors, stored as bit sets, so that a clock edge costs the same for all of them as for one.
/// A collector that runs alone is number 0.
#[derive(Clone, Debug)]
pub(crate) struct Collectors {
    busy_q: u16,
    pending_q: Slots,
    inflight_q: Slots,
    src_valid_q: Slots,
    /// For each s: the slots whose leader is slot s.
    led_q: [Slots; OPERANDS],
    held_q: Held,
}

impl Collectors {
    pub(crate) fn new() -> Self {
        Self {
            busy_q: 0,
            pending_q: Slots::NONE,
            inflight_q: Slots::NONE,
            src_valid_q: Slots::NONE,
            led_q: [Slots::NONE; OPERANDS],
            held_q: Held::NOTHING,
        }
    }

    /// The collectors that hold an instruction.
    #[inline]
    pub(crate) fn busy(&self) -> u16 {
        self.busy_q
    }

    /// Collectors that are busy and have neither a pending request nor a read in flight.
    #[inline]
    pub(crate) fn complete(&self) -> u16 {
        self.busy_q & !(self.pending_q | self.inflight_q).collectors()
    }

    /// Slots with a pending read request.
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

    /// The contents of the collectors.
    #[inline]
    pub(crate) fn held(&self) -> &Held {
        &self.held_q
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

    /// The clock edge of all collectors. [`allocate`](Self::allocate) follows for those that are filled, and overrides.
    #[inline]
    pub(crate) fn advance(&mut self, grant: Slots, free: u16) {
        self.pending_q = self.pending_q - grant;
        self.inflight_q = grant;
        self.busy_q &= !free;
        self.src_valid_q = self.src_valid_q - Slots::all_of(free);
    }

    /// The clock edge of a collector that takes an instruction.
    #[inline]
    pub(crate) fn allocate(&mut self, c: usize, instruction: &Instruction) {
        let Instruction { tag, mask, entry, bank, warp, src_valid } = *instruction;
        // The leader of a register source is the lowest one with the same register.
        let place: [u32; OPERANDS] = std::array::from_fn(|s| u32::from(entry[s]) << u8::BITS | u32::from(bank[s]));
        let same = |l: usize, s: usize| src_valid >> l & src_valid >> s & u8::from(place[l] == place[s]);
        let all = Slots::all_of(1 << c);
        let (mut own, mut leader) = (0b111, [0, 1, 2]);
        if (same(0, 1) | same(0, 2) | same(1, 2)) & 1 == 0 {
            // The usual case: no two sources have the same register, and each source is its own leader.
            for (s, led) in self.led_q.iter_mut().enumerate() {
                *led = (*led - all) | Slots::of_collector(c, 1 << s);
            }
        } else {
            let [first_leads_1, first_leads_2] = [same(0, 1) & 1, same(0, 2) & 1];
            let second_leads_2 = same(1, 2) & !first_leads_2 & 1;
            let led = [
                0b001 | first_leads_1 << 1 | first_leads_2 << 2,
                (1 ^ first_leads_1) << 1 | second_leads_2 << 2,
                (1 ^ (first_leads_2 | second_leads_2)) << 2,
            ];
            own = 0;
            for (s, led) in led.into_iter().enumerate() {
                self.led_q[s] = (self.led_q[s] - all) | Slots::of_collector(c, led);
                own |= led & 1 << s;
            }
            leader = [0, 1 - first_leads_1, 2 - 2 * first_leads_2 - second_leads_2];
        }
        let held = &mut self.held_q;
        (held.tag[c], held.mask[c], held.warp[c], held.groups[c]) = (tag, mask.0, warp, mask.groups());
        for s in 0..OPERANDS {
            let register = src_valid >> s & 1;
            held.bank[OPERANDS * c + s] = bank[s] & register.wrapping_neg();
            held.entry[OPERANDS * c + s] = entry[s] & u16::from(register).wrapping_neg();
            held.leader[OPERANDS * c + s] = leader[s];
        }
        self.busy_q |= 1 << c;
        self.src_valid_q = (self.src_valid_q - all) | Slots::of_collector(c, src_valid);
        self.pending_q = (self.pending_q - all) | Slots::of_collector(c, src_valid & own);
        self.inflight_q = self.inflight_q - all;
    }

    /// Called after [`allocate`](Self::allocate): these sources, where they are leaders, are read at the same clock edge.
    #[inline]
    pub(crate) fn begin(&mut self, c: usize, read: u8) {
        let read = Slots::of_collector(c, read) & self.pending_q;
        self.pending_q = self.pending_q - read;
        self.inflight_q |= read;
    }

    /// The state of a collector that runs alone, as far as no output shows it.
    pub(crate) fn alone(&self) -> MrfCollectorProbe {
        let held = self.held_q.only(self.busy_q);
        MrfCollectorProbe { inflight_q: self.inflight_q.bits_of(0), leader_q: std::array::from_fn(|s| held.leader[s]) }
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        self.busy_q = 0;
        self.pending_q = Slots::NONE;
        self.inflight_q = Slots::NONE;
        self.src_valid_q = Slots::NONE;
    }
}

/// Holds an instruction from issue to dispatch and requests its operands (stealing paper, II-B, figure 1). The data
/// itself goes into the operand latches at the crossbar's outputs; the collector records which of its slots have been
/// requested and which have arrived.
#[derive(Clone)]
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
        let held = state.held().only(state.busy());
        (out.tag_o, out.mask_o, out.warp_o, out.req_groups_o) =
            (held.tag[0], held.mask[0], held.warp[0], held.groups[0]);
        out.req_bank_o = std::array::from_fn(|s| held.bank[s]);
        out.req_entry_o = std::array::from_fn(|s| held.entry[s]);
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

    fn probe(&self, _: &MrfCollectorIn, _: &MrfCollectorOut, probe: &mut MrfCollectorProbe) {
        *probe = self.state.alone();
    }
}

#[cfg(test)]
mod tests;

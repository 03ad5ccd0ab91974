//! `hierarchy_results`: where a result goes, and which source writes the arrays. `docs/blocks/hierarchy_results.md`.

use super::hierarchy_data::Write;
use super::shape::{BANK_BITS, ENTRY_BITS, MAX_ORF_ENTRIES, PLACE_BITS};
use crate::hierarchy::HierarchyShape;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, only, set_bits};
use crate::sizes::MAX_ACTIVE;
use crate::write::{WriteWord, WrittenWord};
use crate::{Block, LANES, Ports, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, packed, ports};

ports! {
    /// Inputs of [`HierarchyResults`].
    pub struct HierarchyResultsIn(s: &HierarchyShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Data of a copy.
        copy_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("copy_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// The result on bus b.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_i"),
        /// Lanes of a copy.
        copy_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copy_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is offered on bus b.
        write_valid_i: u8 = field(s.ports()),
        /// A place waits for the result on bus b.
        look_match_i: u8 = field(s.ports()),
        /// Place that waits for the result on bus b; 0 without one.
        look_place_i: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()),
        /// The result on bus b goes to the MRF too.
        look_both_i: u8 = field(s.ports()),
        /// A copy of dispatch port p waits.
        copy_valid_i: u8 = field(s.ports()),
        /// Slot of the copy of port p.
        copy_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("copy_valid_i"),
        /// Entry of the copy of port p.
        copy_entry_i: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("copy_valid_i"),
        /// The copy of port p is for a private unit.
        copy_private_i: u8 = field(s.ports()),
        /// The MRF's queue b takes a result.
        mrf_ready_i: u8 = field(s.ports()),
        /// The result in the MRF's queue b goes into its bank at this edge.
        mrf_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`HierarchyResults`].
    pub struct HierarchyResultsOut(s: &HierarchyShape) {
        /// Data for the ORF of array c.
        orf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("orf_valid_o"),
        /// Data for the LRF of array c.
        lrf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("lrf_valid_o"),
        /// Lanes of the ORF of array c that are written.
        orf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("orf_valid_o"),
        /// Lanes of the LRF of array c that are written.
        lrf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("lrf_valid_o"),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("write_done_o"),
        /// The result on bus b is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()),
        /// The result that was taken last on bus b is everywhere where it goes from this edge on.
        write_done_o: u8 = field(s.ports()),
        /// The result on bus b is of a warp in a slot.
        look_valid_o: u8 = field(s.ports()),
        /// Slot of the warp of the result on bus b.
        look_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("look_valid_o"),
        /// Register of the result on bus b.
        look_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("look_valid_o"),
        /// The copy of dispatch port p is written at this edge.
        copy_ready_o: u8 = field(s.ports()),
        /// The ORF of array c is written at this edge.
        orf_valid_o: u8 = field(s.ports()),
        /// Slot of the array whose ORF is written.
        orf_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("orf_valid_o"),
        /// Entry of the ORF that is written.
        orf_entry_o: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("orf_valid_o"),
        /// The write of the ORF is a copy.
        orf_copy_o: u8 = field(s.ports()),
        /// The write of the ORF comes from a private unit, or is a copy for one.
        orf_private_o: u8 = field(s.ports()),
        /// The LRF of array c is written at this edge.
        lrf_valid_o: u8 = field(s.ports()),
        /// Slot of the array whose LRF is written.
        lrf_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("lrf_valid_o"),
        /// Bank of the LRF that is written.
        lrf_bank_o: [u8; MAX_PORTS] = field(BANK_BITS).count(s.ports()).valid_by("lrf_valid_o"),
        /// The write of the LRF comes from a private unit.
        lrf_private_o: u8 = field(s.ports()),
        /// The result on bus b goes into the MRF's queue at this edge.
        mrf_valid_o: u8 = field(s.ports()),
        /// Latch b has a result that is not written at this edge.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`HierarchyResults`].
    pub struct HierarchyResultsProbe(s: &HierarchyShape) {
        /// Data of the result in latch b.
        data_q: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("valid_q"),
        /// Lanes of the result in latch b.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("valid_q"),
        /// A result is in latch b.
        valid_q: u8 = field(s.ports()),
        /// The result that was taken last on bus b was one of a private unit.
        private_q: u8 = field(s.ports()),
        /// The bus that goes first at array c.
        turn_q: u8 = field(s.ports()),
        /// The dispatch port whose copy goes first at array c.
        copy_turn_q: u8 = field(s.ports()),
        /// Slot of the result in latch b.
        slot_q: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("valid_q"),
        /// Warp and register of the result in latch b.
        written_q: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("valid_q"),
        /// Place of the result in latch b.
        place_q: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()).valid_by("valid_q"),
    }
}

/// A result on its bus.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    pub(crate) write: WriteWord,
    /// Slot and place to which the result goes.
    pub(crate) up: Option<(u8, u8)>,
}

/// The result that was taken last on a bus.
#[derive(Clone, Copy, Debug, Default)]
struct Latch {
    written: WrittenWord,
    private: bool,
    /// Lanes that go to a place, while the latch is valid.
    mask: u32,
    slot: u8,
    place: u8,
}

/// A copy that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CopyOffer {
    pub(crate) mask: u32,
    pub(crate) slot: u8,
    pub(crate) entry: u8,
    pub(crate) private: bool,
}

/// Source of the data that goes into an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The copies of a dispatch port.
    Copy(usize),
    /// The latch of a bus.
    Latch(usize),
}

/// A write into an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    pub(crate) sender: Sender,
    pub(crate) write: Write,
    /// The data comes from, or is for, a private unit.
    pub(crate) private: bool,
}

/// Which sources write the arrays: buses, dispatch ports and arrays as masks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Routes {
    /// The writes into ORF and LRF of each array.
    pub(crate) orf: [Option<Entering>; MAX_PORTS],
    pub(crate) lrf: [Option<Entering>; MAX_PORTS],
    /// Ports whose copy is written.
    pub(crate) copy_ready: u8,
    /// Latches whose result is written.
    go: u8,
    /// Arrays for which two buses, or two dispatch ports, contend.
    contested: u8,
    copy_contested: u8,
    /// Buses that take a result, and buses whose last result has reached all its destinations.
    pub(crate) ready: u8,
    pub(crate) done: u8,
    /// Latches that wait.
    pub(crate) wait: u8,
}

/// A latch at the end of each result bus for a result that goes to a place above the MRF, and the arrays' write ports, which results and operand copies share.
///
/// A direct caller lets it choose among the waiting copies, given the state of the MRF's queues ([`choose`](Self::choose)), and reports at the edge what
/// arrives.
#[derive(Clone)]
pub struct HierarchyResults {
    ports: usize,
    buses: u8,
    valid_q: u8,
    turn_q: u8,
    copy_turn_q: u8,
    latch_q: [Latch; MAX_PORTS],
    data_q: [WarpData; MAX_PORTS],
    /// Decisions of this cycle.
    routes: Routes,
}

impl HierarchyResults {
    /// Latches with a result.
    #[inline]
    pub(crate) fn valid(&self) -> u8 {
        self.valid_q
    }

    /// Data of the result in a latch.
    #[inline]
    pub(crate) fn data(&self, b: usize) -> &WarpData {
        &self.data_q[b]
    }

    /// Warp and register of the result that was taken last.
    #[inline]
    pub(crate) fn last(&self, b: usize) -> WrittenWord {
        self.latch_q[b].written
    }

    /// The requester that gets an array, and whether there are two.
    #[inline]
    fn first(wants: u8, turn: u8, c: usize) -> Option<(usize, bool)> {
        match wants {
            0 => None,
            0b11 => Some((usize::from(turn >> c & 1), true)),
            one => Some((one.trailing_zeros() as usize, false)),
        }
    }

    /// Decides which sources write the arrays, and which buses take a result.
    #[inline]
    pub(crate) fn choose(&self, copies: &[Option<CopyOffer>; MAX_PORTS], mrf_ready: u8, mrf_done: u8) -> Routes {
        let mut routes = Routes::default();
        if self.valid_q != 0 || copies.iter().any(Option::is_some) {
            for c in 0..self.ports {
                self.choose_orf(copies, c, &mut routes);
                self.choose_lrf(c, &mut routes);
            }
        }
        routes.ready = (!self.valid_q | routes.go) & mrf_ready & self.buses;
        routes.done = (self.valid_q | mrf_done) & routes.ready;
        routes.wait = self.valid_q & !routes.go;
        routes
    }

    /// Copies have priority at an ORF: they hold up dispatch.
    #[inline]
    fn choose_orf(&self, copies: &[Option<CopyOffer>; MAX_PORTS], c: usize, routes: &mut Routes) {
        let of_array = |copy: &Option<CopyOffer>| copy.is_some_and(|copy| usize::from(copy.slot) % self.ports == c);
        let wants = (0..self.ports).filter(|&p| of_array(&copies[p])).fold(0, |wants, p| wants | 1 << p);
        if let Some((p, contested)) = Self::first(wants, self.copy_turn_q, c) {
            let CopyOffer { mask, slot, entry, private } = copies[p].unwrap_or_default();
            let write = Write { mask, slot: slot / self.ports as u8, within: entry };
            routes.orf[c] = Some(Entering { sender: Sender::Copy(p), write, private });
            routes.copy_ready |= 1 << p;
            routes.copy_contested |= u8::from(contested) << c;
            return;
        }
        if let Some((b, contested)) = Self::first(self.wanting(c, false), self.turn_q, c) {
            routes.orf[c] = Some(self.entering(b));
            routes.go |= 1 << b;
            routes.contested |= u8::from(contested) << c;
        }
    }

    #[inline]
    fn choose_lrf(&self, c: usize, routes: &mut Routes) {
        if let Some((b, contested)) = Self::first(self.wanting(c, true), self.turn_q, c) {
            routes.lrf[c] = Some(self.entering(b));
            routes.go |= 1 << b;
            routes.contested |= u8::from(contested) << c;
        }
    }

    /// Latches whose result goes to ORF or LRF of an array.
    #[inline]
    fn wanting(&self, c: usize, lrf: bool) -> u8 {
        let wants = |latch: &Latch| {
            usize::from(latch.slot) % self.ports == c && (usize::from(latch.place) >= MAX_ORF_ENTRIES) == lrf
        };
        set_bits(self.valid_q).filter(|&b| wants(&self.latch_q[b])).fold(0, |set, b| set | 1 << b)
    }

    #[inline]
    fn entering(&self, b: usize) -> Entering {
        let Latch { mask, slot, place, private, .. } = self.latch_q[b];
        let within = if usize::from(place) < MAX_ORF_ENTRIES { place } else { place & 0b11 };
        Entering { sender: Sender::Latch(b), write: Write { mask, slot: slot / self.ports as u8, within }, private }
    }

    /// Performs the clock edge, except for a result that arrives.
    #[inline]
    pub(crate) fn advance(&mut self, routes: &Routes) {
        self.valid_q &= !routes.go;
        self.turn_q ^= routes.contested;
        self.copy_turn_q ^= routes.copy_contested;
    }

    /// Clock edge at which a result is taken, after [`advance`](Self::advance). `data` is called only if the result goes to a place.
    #[inline]
    pub(crate) fn take<'a>(&mut self, b: usize, arrival: &Arrival, data: impl FnOnce() -> &'a WarpData) {
        let latch = &mut self.latch_q[b];
        let (warp, reg) = arrival.write.register();
        (latch.written, latch.private) = (WrittenWord::new(warp, reg), arrival.write.from_private() != 0);
        if let Some((slot, place)) = arrival.up {
            (latch.mask, latch.slot, latch.place) = (arrival.write.mask(), slot, place);
            self.data_q[b] = *data();
            self.valid_q |= 1 << b;
        }
    }

    /// Clock edge in reset, after everything else.
    pub(crate) fn reset(&mut self) {
        (self.valid_q, self.turn_q, self.copy_turn_q) = (0, 0, 0);
        self.latch_q.iter_mut().for_each(|latch| latch.private = false);
    }
}

/// The slot of a warp: the lowest slot that has this warp.
#[inline]
pub(crate) fn slot_of(warp: u8, slot_valid: u64, slot_warp: &[u8; MAX_ACTIVE]) -> Option<u8> {
    set_bits(slot_valid).find(|&s| slot_warp[s] == warp).map(|s| s as u8)
}

impl Block for HierarchyResults {
    const NAME: &'static str = "hierarchy_results";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active"];

    type Shape = HierarchyShape;
    type In = HierarchyResultsIn;
    type Out = HierarchyResultsOut;
    type Probe = HierarchyResultsProbe;

    fn new(shape: &HierarchyShape) -> Self {
        Self {
            ports: shape.ports(),
            buses: u8::MAX >> (u8::BITS as usize - shape.ports()),
            valid_q: 0,
            turn_q: 0,
            copy_turn_q: 0,
            latch_q: [Latch::default(); MAX_PORTS],
            data_q: [WarpData::ZERO; MAX_PORTS],
            routes: Routes::default(),
        }
    }

    fn early(&self, _: &mut HierarchyResultsOut) {}

    fn late(&mut self, inputs: &HierarchyResultsIn, out: &mut HierarchyResultsOut) {
        let copies = std::array::from_fn(|p| {
            is_set(inputs.copy_valid_i, p).then(|| CopyOffer {
                mask: inputs.copy_mask_i[p],
                slot: inputs.copy_slot_i[p],
                entry: inputs.copy_entry_i[p],
                private: is_set(inputs.copy_private_i, p),
            })
        });
        let routes = self.choose(&copies, inputs.mrf_ready_i, inputs.mrf_done_i);
        self.routes = routes;
        (out.write_ready_o, out.write_done_o) = (routes.ready, routes.done);
        (out.copy_ready_o, out.wait_o) = (routes.copy_ready, routes.wait);
        out.written_o = Default::default();
        for b in set_bits(routes.done) {
            out.written_o[b] = self.last(b);
        }
        (out.look_valid_o, out.look_slot_o, out.look_reg_o) = Default::default();
        for b in set_bits(inputs.write_valid_i) {
            if let Some(s) = slot_of(inputs.write_i[b].warp(), inputs.slot_valid_i, &inputs.slot_warp_i) {
                out.look_valid_o |= 1 << b;
                (out.look_slot_o[b], out.look_reg_o[b]) = (s, inputs.write_i[b].d());
            }
        }
        let taken = inputs.write_valid_i & routes.ready;
        out.mrf_valid_o = taken & (!(out.look_valid_o & inputs.look_match_i) | inputs.look_both_i);
        (out.orf_valid_o, out.orf_copy_o, out.orf_private_o) = (0, 0, 0);
        (out.orf_mask_o, out.orf_slot_o, out.orf_entry_o) = Default::default();
        (out.lrf_valid_o, out.lrf_private_o) = (0, 0);
        (out.lrf_mask_o, out.lrf_slot_o, out.lrf_bank_o) = Default::default();
        for c in 0..self.ports {
            if let Some(Entering { sender, write, private }) = routes.orf[c] {
                out.orf_valid_o |= 1 << c;
                out.orf_private_o |= u8::from(private) << c;
                (out.orf_mask_o[c], out.orf_slot_o[c], out.orf_entry_o[c]) = (write.mask, write.slot, write.within);
                out.orf_data_o[c] = match sender {
                    Sender::Copy(p) => inputs.copy_data_i[p],
                    Sender::Latch(b) => self.data_q[b],
                };
                out.orf_copy_o |= u8::from(matches!(sender, Sender::Copy(_))) << c;
            }
            if let Some(Entering { sender: Sender::Latch(b), write, private }) = routes.lrf[c] {
                out.lrf_valid_o |= 1 << c;
                out.lrf_private_o |= u8::from(private) << c;
                (out.lrf_mask_o[c], out.lrf_slot_o[c], out.lrf_bank_o[c]) = (write.mask, write.slot, write.within);
                out.lrf_data_o[c] = self.data_q[b];
            }
        }
    }

    fn clock(&mut self, inputs: &HierarchyResultsIn, out: &HierarchyResultsOut) {
        let routes = self.routes;
        self.advance(&routes);
        for b in set_bits(inputs.write_valid_i & routes.ready) {
            let up = is_set(out.look_valid_o & inputs.look_match_i, b);
            let up = up.then(|| (out.look_slot_o[b], inputs.look_place_i[b]));
            let arrival = Arrival { write: inputs.write_i[b], up };
            self.take(b, &arrival, || &inputs.write_data_i[b]);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &HierarchyResultsIn, _: &HierarchyResultsOut, probe: &mut HierarchyResultsProbe) {
        let data = probe.data_q;
        *probe = HierarchyResultsProbe { data_q: data, ..HierarchyResultsProbe::zeroed() };
        (probe.valid_q, probe.turn_q, probe.copy_turn_q) = (self.valid_q, self.turn_q, self.copy_turn_q);
        probe.private_q = (0..self.ports).fold(0, |set, b| set | u8::from(self.latch_q[b].private) << b);
        probe.mask_q = only(&self.latch_q.map(|latch| latch.mask), self.valid_q);
        probe.slot_q = only(&self.latch_q.map(|latch| latch.slot), self.valid_q);
        // The word of a result that is not for an array is needed until the result is in its bank.
        probe.written_q = self.latch_q.map(|latch| latch.written);
        probe.place_q = only(&self.latch_q.map(|latch| latch.place), self.valid_q);
        for b in set_bits(self.valid_q) {
            probe.data_q[b] = self.data_q[b];
        }
    }
}

#[cfg(test)]
mod tests;

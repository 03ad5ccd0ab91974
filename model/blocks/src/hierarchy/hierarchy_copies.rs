//! `hierarchy_copies`: operands that are read from the MRF and kept in the ORF. `docs/blocks/hierarchy_copies.md`.

use super::hierarchy_results::CopyOffer;
use super::shape::ENTRY_BITS;
use crate::hierarchy::HierarchyShape;
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS};
use crate::{Block, LANES, OPERANDS, Ports, WARP_DATA_BITS, WarpData, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

ports! {
    /// Inputs of [`HierarchyCopies`].
    pub struct HierarchyCopiesIn(s: &HierarchyShape) {
        /// Operands that the MRF gave the instruction.
        offer_data_i: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()),
        /// Lanes of the instruction.
        offer_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("offer_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is taken.
        note_valid_i: u8 = field(s.ports()),
        /// Tag of the instruction that is taken.
        note_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("note_valid_i"),
        /// Bit 3p+k: source k of the instruction taken on port p is copied.
        note_copy_i: u8 = field(s.mrf.sources()),
        /// Entry that each source is copied to.
        note_entry_i: [u8; MAX_SOURCES] = field(ENTRY_BITS).count(s.mrf.sources()).valid_by("note_copy_i"),
        /// Slot of the instruction that is taken.
        note_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("note_valid_i"),
        /// The instruction that is taken goes to a private unit.
        note_private_i: u8 = field(s.ports()),
        /// An instruction has all its operands, at dispatch port p.
        offer_valid_i: u8 = field(s.ports()),
        /// Tag of the instruction at dispatch port p.
        offer_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("offer_valid_i"),
        /// The instruction at dispatch port p is dispatched at this edge.
        go_i: u8 = field(s.ports()),
        /// The copy of port p is written at this edge.
        copy_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`HierarchyCopies`].
    pub struct HierarchyCopiesOut(s: &HierarchyShape) {
        /// Data of the first copy of port p.
        copy_data_o: [WarpData; MAX_PORTS] =
            field(WARP_DATA_BITS).count(s.ports()).valid_by("copy_valid_o").early(),
        /// Lanes of the first copy of port p.
        copy_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copy_valid_o").early(),
        /// The instruction has copies, and there is no room for them.
        hold_o: u8 = field(s.ports()),
        /// A copy of port p waits.
        copy_valid_o: u8 = field(s.ports()).early(),
        /// Slot of the copy of port p.
        copy_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("copy_valid_o").early(),
        /// Entry of the copy of port p.
        copy_entry_o: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("copy_valid_o").early(),
        /// The copy of port p is for a private unit.
        copy_private_o: u8 = field(s.ports()).early(),
        /// The copy of port p is not written at this edge.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`HierarchyCopies`].
    pub struct HierarchyCopiesProbe(s: &HierarchyShape) {
        /// Data of the copies of each port.
        left_data_q: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("left_q"),
        /// Bit 3i+k: source k of tag i is copied.
        copy_q: u64 = field(OPERANDS * s.tags()),
        /// Lanes of the copies of each port.
        left_mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("left_q"),
        /// The entry that source k of tag i is copied to.
        entry_q: [u8; OPERANDS * MAX_COLLECTORS] = field(ENTRY_BITS).count(OPERANDS * s.tags()).valid_by("copy_q"),
        /// Slot of tag i.
        slot_q: [u8; MAX_COLLECTORS] = field(s.slot_w()).count(s.tags()).valid_by("copy_q"),
        /// The instruction of tag i goes to a private unit.
        private_q: [u8; MAX_COLLECTORS] = field(1).count(s.tags()).valid_by("copy_q"),
        /// Copies that are still to be written.
        left_q: u8 = field(s.mrf.sources()),
        /// The copies of port p are of an instruction for a private unit.
        left_private_q: u8 = field(s.ports()),
        /// Slot of the copies of each port.
        left_slot_q: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("left_q"),
        /// Entry of each copy that is still to be written.
        left_entry_q: [u8; MAX_SOURCES] = field(ENTRY_BITS).count(s.mrf.sources()).valid_by("left_q"),
    }
}

/// The parts of an instruction that concern copies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Note {
    /// Sources that are copied.
    pub(crate) copy: u8,
    pub(crate) entry: [u8; OPERANDS],
    pub(crate) slot: u8,
    /// The instruction goes to a private unit.
    pub(crate) private: bool,
}

/// Copies of a dispatch port that are still to be written.
#[derive(Clone, Copy, Default)]
struct Left {
    note: Note,
    mask: u32,
}

/// Read operand allocation (hierarchy thesis 6.4.3): an operand that comes from the MRF is also written to an ORF entry. The copy is taken when the instruction is
/// dispatched, and waits in latches at its dispatch port for the ORF's write port.
///
/// A direct caller asks which copies wait and which instructions are held. At the edge it reports what is written, dispatched and taken, in this order.
#[derive(Clone)]
pub struct HierarchyCopies {
    ports: usize,
    tags: usize,
    note_q: [Note; MAX_COLLECTORS],
    left_q: [Left; MAX_PORTS],
    left_data_q: [[WarpData; OPERANDS]; MAX_PORTS],
}

impl HierarchyCopies {
    /// The note of the instruction with a tag.
    #[inline]
    fn noted(&self, tag: u8) -> Note {
        self.note_q.get(usize::from(tag)).copied().unwrap_or_default()
    }

    /// The first waiting copy of each port.
    #[inline]
    pub(crate) fn waiting(&self) -> [Option<CopyOffer>; MAX_PORTS] {
        self.left_q.map(|Left { note, mask }| {
            let Note { copy, entry, slot, private } = note;
            (copy != 0).then(|| CopyOffer {
                mask,
                slot,
                entry: entry[copy.trailing_zeros() as usize % OPERANDS],
                private,
            })
        })
    }

    /// Data of the first copy of a port.
    #[inline]
    pub(crate) fn data(&self, p: usize) -> &WarpData {
        &self.left_data_q[p][self.left_q[p].note.copy.trailing_zeros() as usize % OPERANDS]
    }

    /// Whether no copy waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.left_q.iter().all(|left| left.note.copy == 0)
    }

    /// Whether the instruction with a tag has copies for which there is no room at port `p`, whose first copy may be written at this edge.
    #[inline]
    pub(crate) fn holds(&self, p: usize, tag: u8, ready: bool) -> bool {
        let left = self.left_q[p].note.copy;
        let room = left == 0 || left.is_power_of_two() && ready;
        !room && self.noted(tag).copy != 0
    }

    /// Clock edge at which the first copy of port `p` is written.
    #[inline]
    pub(crate) fn written(&mut self, p: usize) {
        let left = &mut self.left_q[p].note.copy;
        *left &= left.wrapping_sub(1);
    }

    /// Clock edge at which the instruction with a tag is dispatched.
    #[inline]
    pub(crate) fn dispatched<'a>(&mut self, p: usize, tag: u8, mask: u32, data: impl Fn(usize) -> &'a WarpData) {
        let noted = self.noted(tag);
        if noted.copy == 0 {
            return;
        }
        let entry = self.left_q[p].note.entry;
        self.left_q[p] = Left { note: Note { entry, ..noted }, mask };
        for k in set_bits(noted.copy) {
            self.left_q[p].note.entry[k] = noted.entry[k];
            self.left_data_q[p][k] = *data(k);
        }
    }

    /// Clock edge at which an instruction is taken.
    #[inline]
    pub(crate) fn noted_at(&mut self, tag: u8, note: &Note) {
        if usize::from(tag) < self.tags {
            self.note_q[usize::from(tag)] = *note;
        }
    }

    /// Clock edge in reset, after everything else.
    pub(crate) fn reset(&mut self) {
        self.note_q.iter_mut().for_each(|note| note.copy = 0);
        self.left_q.iter_mut().for_each(|left| (left.note.copy, left.note.private) = (0, false));
    }
}

impl Block for HierarchyCopies {
    const NAME: &'static str = "hierarchy_copies";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active", "Tags"];

    type Shape = HierarchyShape;
    type In = HierarchyCopiesIn;
    type Out = HierarchyCopiesOut;
    type Probe = HierarchyCopiesProbe;

    fn new(shape: &HierarchyShape) -> Self {
        Self {
            ports: shape.ports(),
            tags: shape.tags(),
            note_q: [Note::default(); MAX_COLLECTORS],
            left_q: [Left::default(); MAX_PORTS],
            left_data_q: [[WarpData::ZERO; OPERANDS]; MAX_PORTS],
        }
    }

    fn early(&self, out: &mut HierarchyCopiesOut) {
        (out.copy_valid_o, out.copy_private_o) = (0, 0);
        (out.copy_mask_o, out.copy_slot_o, out.copy_entry_o) = Default::default();
        for (p, copy) in self.waiting().into_iter().enumerate() {
            let Some(CopyOffer { mask, slot, entry, private }) = copy else { continue };
            out.copy_valid_o |= 1 << p;
            out.copy_private_o |= u8::from(private) << p;
            (out.copy_mask_o[p], out.copy_slot_o[p], out.copy_entry_o[p]) = (mask, slot, entry);
            out.copy_data_o[p] = *self.data(p);
        }
    }

    fn late(&mut self, inputs: &HierarchyCopiesIn, out: &mut HierarchyCopiesOut) {
        out.wait_o = out.copy_valid_o & !inputs.copy_ready_i;
        let held = |&p: &usize| self.holds(p, inputs.offer_tag_i[p], is_set(inputs.copy_ready_i, p));
        out.hold_o = set_bits(inputs.offer_valid_i).filter(held).fold(0, |held, p| held | 1 << p);
    }

    fn clock(&mut self, inputs: &HierarchyCopiesIn, _: &HierarchyCopiesOut) {
        for p in set_bits(inputs.copy_ready_i) {
            self.written(p);
        }
        for p in set_bits(inputs.go_i & inputs.offer_valid_i) {
            let data = |k: usize| &inputs.offer_data_i[OPERANDS * p + k];
            self.dispatched(p, inputs.offer_tag_i[p], inputs.offer_mask_i[p], data);
        }
        for p in set_bits(inputs.note_valid_i) {
            let entry = [0, 1, 2].map(|k| inputs.note_entry_i[OPERANDS * p + k]);
            let copy = inputs.note_copy_i >> (OPERANDS * p) & 0b111;
            let (slot, private) = (inputs.note_slot_i[p], is_set(inputs.note_private_i, p));
            self.noted_at(inputs.note_tag_i[p], &Note { copy, entry, slot, private });
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &HierarchyCopiesIn, _: &HierarchyCopiesOut, probe: &mut HierarchyCopiesProbe) {
        let data = probe.left_data_q;
        *probe = HierarchyCopiesProbe { left_data_q: data, ..HierarchyCopiesProbe::zeroed() };
        for (i, note) in self.note_q.iter().enumerate().filter(|(_, note)| note.copy != 0) {
            probe.copy_q |= u64::from(note.copy) << (OPERANDS * i);
            (probe.slot_q[i], probe.private_q[i]) = (note.slot, note.private.into());
            probe.entry_q[OPERANDS * i..][..OPERANDS].copy_from_slice(&note.entry);
        }
        for (p, Left { note, mask }) in self.left_q.iter().enumerate().take(self.ports) {
            probe.left_private_q |= u8::from(note.private) << p;
            probe.left_q |= note.copy << (OPERANDS * p);
            if note.copy == 0 {
                continue;
            }
            (probe.left_mask_q[p], probe.left_slot_q[p]) = (*mask, note.slot);
            probe.left_entry_q[OPERANDS * p..][..OPERANDS].copy_from_slice(&note.entry);
            for k in set_bits(note.copy) {
                probe.left_data_q[OPERANDS * p + k] = self.left_data_q[p][k];
            }
        }
    }
}

#[cfg(test)]
mod tests;

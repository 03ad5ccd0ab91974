//! The nets between the blocks of the register hierarchy, as lockstep compares them.

use std::mem::offset_of;

use super::super::hierarchy_entries::Match;
use super::super::hierarchy_results::{CopyOffer, Entering, Sender};
use super::super::shape::{BANK_BITS, ENTRY_BITS, MAX_LRF_BANKS, PLACE_BITS, PLACE_SET_BITS};
use super::{Hierarchy, MAX_SOURCES};
use crate::design::IssueFields;
use crate::hierarchy::{
    HIERARCHY_ENTRIES_EVENT, HierarchyCopiesProbe, HierarchyDataProbe, HierarchyEntriesProbe, HierarchyResultsProbe,
    HierarchyShape,
};
use crate::mrf::bits::set_bits;
use crate::mrf::{MAX_PORTS, MrfIn, MrfProbe};
use crate::operands::FrontOperandsProbe;
use crate::ports::renamed;
use crate::{Block, Decode, Field, LANES, OPERANDS, Ports, REG_BITS, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Nets between the blocks of `Hierarchy`, which has no state of its own.
    pub struct HierarchyNets(s: &HierarchyShape) {
        /// Operands that come from ORF and LRF of each port.
        data_land_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("data_land_fill")
            .early(),
        /// Data for the ORF of array c.
        results_orf_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("results_orf_valid")
            .early(),
        /// Data for the LRF of array c.
        results_lrf_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("results_lrf_valid")
            .early(),
        /// Data of the first copy of port p.
        copies_copy_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("copies_copy_valid")
            .early(),
        /// Operands that the MRF offers.
        mrf_dispatch_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources())
            .valid_by("mrf_dispatch_src_valid").early(),
        /// Lanes of each source that come from ORF or LRF: all or none.
        operands_move_hit: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).valid_by("take"),
        /// Lanes of the ORF of array c that are written.
        results_orf_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("results_orf_valid")
            .early(),
        /// Lanes of the LRF of array c that are written.
        results_lrf_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("results_lrf_valid")
            .early(),
        /// Lanes of the first copy of port p.
        copies_copy_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copies_copy_valid")
            .early(),
        /// Places that the instruction on port p reads.
        levels_read_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()),
        /// Places that the instruction on port p copies to.
        levels_copy_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()),
        /// The place that the result of the instruction on port p goes to.
        levels_result_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()),
        /// An instruction is taken.
        take: u8 = field(s.ports()),
        /// Sources that are read from the MRF.
        levels_mrf: u8 = field(s.mrf.sources()),
        /// Sources that are read from the ORF.
        levels_orf: u8 = field(s.mrf.sources()),
        /// Sources that are read from the LRF.
        levels_lrf: u8 = field(s.mrf.sources()),
        /// Sources that are copied.
        levels_copy: u8 = field(s.mrf.sources()),
        /// Entries of sources.
        levels_entry: [u8; MAX_SOURCES] =
            field(ENTRY_BITS).count(s.mrf.sources()),
        /// Read port of the ORF that serves each source.
        levels_port: [u8; MAX_SOURCES] = field(2).count(s.mrf.sources()),
        /// Read ports of the ORF that read.
        levels_orf_read: u8 = field(s.mrf.sources()),
        /// Banks of the LRF that are read.
        levels_lrf_read: u8 = field(MAX_LRF_BANKS * s.ports()),
        /// The result goes to the MRF too.
        levels_both: u8 = field(s.ports()),
        /// A place waits for the result on bus b.
        entries_look_match: u8 = field(s.ports()),
        /// Place that waits for the result on bus b; 0 without one.
        entries_look_place: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()),
        /// The result on bus b goes to the MRF too.
        entries_look_both: u8 = field(s.ports()),
        /// Events of `hierarchy_entries`.
        entries_event: u8 = field(6).shown(Decode::Packed(HIERARCHY_ENTRIES_EVENT)),
        /// Operands have come.
        data_land_valid: u8 = field(s.ports()).early(),
        /// Tag of the instruction whose operands have come.
        data_land_tag: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("data_land_valid").early(),
        /// Sources whose operands have come.
        data_land_fill: u8 = field(s.mrf.sources()).early(),
        /// The result on bus b is of a warp in a slot.
        results_look_valid: u8 = field(s.ports()),
        /// Slot of the warp of the result on bus b.
        results_look_slot: [u8; MAX_PORTS] =
            field(s.slot_w()).count(s.ports()).valid_by("results_look_valid"),
        /// Register of the result on bus b.
        results_look_reg: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("results_look_valid"),
        /// The copy of dispatch port p is written at this edge.
        results_copy_ready: u8 = field(s.ports()).early(),
        /// The ORF of array c is written at this edge.
        results_orf_valid: u8 = field(s.ports()).early(),
        /// Slot of the array whose ORF is written.
        results_orf_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("results_orf_valid")
            .early(),
        /// Entry of the ORF that is written.
        results_orf_entry: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("results_orf_valid")
            .early(),
        /// The write of the ORF is a copy.
        results_orf_copy: u8 = field(s.ports()).early(),
        /// The write of the ORF comes from a private unit, or is a copy for one.
        results_orf_private: u8 = field(s.ports()).early(),
        /// The LRF of array c is written at this edge.
        results_lrf_valid: u8 = field(s.ports()).early(),
        /// Slot of the array whose LRF is written.
        results_lrf_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("results_lrf_valid")
            .early(),
        /// Bank of the LRF that is written.
        results_lrf_bank: [u8; MAX_PORTS] = field(BANK_BITS).count(s.ports()).valid_by("results_lrf_valid")
            .early(),
        /// The write of the LRF comes from a private unit.
        results_lrf_private: u8 = field(s.ports()).early(),
        /// The result on bus b goes into the MRF's queue at this edge.
        results_mrf_valid: u8 = field(s.ports()),
        /// Latch b has a result that is not written at this edge.
        results_wait: u8 = field(s.ports()).early(),
        /// The instruction at dispatch port p waits for the copy latches.
        copies_hold: u8 = field(s.ports()).early(),
        /// A copy of port p waits.
        copies_copy_valid: u8 = field(s.ports()).early(),
        /// Slot of the copy of port p.
        copies_copy_slot: [u8; MAX_PORTS] =
            field(s.slot_w()).count(s.ports()).valid_by("copies_copy_valid").early(),
        /// Entry of the copy of port p.
        copies_copy_entry: [u8; MAX_PORTS] =
            field(ENTRY_BITS).count(s.ports()).valid_by("copies_copy_valid").early(),
        /// The copy of port p is for a private unit.
        copies_copy_private: u8 = field(s.ports()).early(),
        /// The copy of port p is not written at this edge.
        copies_wait: u8 = field(s.ports()).early(),
        /// An instruction has all its operands.
        operands_dispatch_valid: u8 = field(s.ports()).early(),
        /// Sources of the complete instruction that came from registers.
        operands_dispatch_src_valid: u8 = field(s.mrf.sources()).early(),
        /// The complete instruction goes, as far as the unit and the copy latches are concerned.
        operands_dispatch_ready: u8 = field(s.ports()),
        /// The MRF's queue b takes a result.
        mrf_write_ready: u8 = field(s.ports()).early(),
        /// The result in the MRF's queue b goes into its bank.
        mrf_write_done: u8 = field(s.ports()).early(),
        /// The MRF offers an instruction.
        mrf_dispatch_valid: u8 = field(s.ports()).early(),
        /// The instruction that the MRF offers is taken.
        mrf_dispatch_ready: u8 = field(s.ports()),
        /// Tag of the instruction that the MRF offers.
        mrf_dispatch_tag: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("mrf_dispatch_valid")
            .early(),
        /// Sources that came from the MRF, of the instruction that it offers.
        mrf_dispatch_src_valid: u8 = field(s.mrf.sources()).early(),
    }
}

/// What lockstep compares inside `Hierarchy`: its nets, the registers of its blocks, and all that is compared inside the MRF.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HierarchyProbe {
    /// Inside the MRF.
    pub mrf: MrfProbe,
    /// Between the blocks.
    pub nets: HierarchyNets,
    /// Registers of the arrays.
    pub data: [HierarchyDataProbe; MAX_PORTS],
    /// Those of what is known of the places.
    pub entries: HierarchyEntriesProbe,
    /// Those of the latches of results.
    pub results: HierarchyResultsProbe,
    /// Those of the latches of copies.
    pub copies: HierarchyCopiesProbe,
    /// Those of the operand latches.
    pub operands: FrontOperandsProbe,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for HierarchyProbe {
    type Shape = HierarchyShape;

    fn fields(s: &HierarchyShape) -> Vec<Field> {
        let mut fields = HierarchyNets::fields(s);
        fields.iter_mut().for_each(|f| f.offset += offset_of!(Self, nets));
        let mut add = |of: Vec<Field>, prefix: &str, instance: &str, offset: usize| {
            fields.extend(of.into_iter().map(|f| renamed(f, prefix).inside(instance, offset)));
        };
        for p in 0..s.ports() {
            let at = offset_of!(Self, data) + p * size_of::<HierarchyDataProbe>();
            add(HierarchyDataProbe::fields(s), &format!("data{p}_"), &format!("gen_port[{p}].u_data"), at);
        }
        let at = offset_of!(Self, entries);
        add(HierarchyEntriesProbe::fields(s), "entries_", "u_entries", at);
        let at = offset_of!(Self, results);
        add(HierarchyResultsProbe::fields(s), "results_", "u_results", at);
        add(HierarchyCopiesProbe::fields(s), "copies_", "u_copies", offset_of!(Self, copies));
        let at = offset_of!(Self, operands);
        add(FrontOperandsProbe::fields(&s.front()), "operands_", "u_operands", at);
        fields.extend(MrfProbe::fields(&s.mrf).into_iter().map(|mut f| {
            // Ports of the MRF that are nets here.
            f.valid_by = match f.valid_by {
                Some("issue_src_valid_i") => Some("levels_mrf"),
                Some("write_valid_i") => Some("results_mrf_valid"),
                other => other,
            };
            f.inside("u_mrf", offset_of!(Self, mrf))
        }));
        fields
    }
}

/// By the blocks that drive them. What means nothing is zero, where that is cheap.
impl Hierarchy {
    /// `given`: what the hierarchy is given in this cycle, `extra` besides.
    pub(crate) fn record(&self, given: &MrfIn, extra: &IssueFields, probe: &mut HierarchyProbe) {
        let nets = &mut probe.nets;
        self.record_levels(nets);
        self.record_entries(given, extra, nets);
        self.record_data(nets);
        self.record_results(given, nets);
        self.record_copies(nets);
        self.record_mrf(given, nets);
        // None of these looks at ports.
        for (data, probe) in self.data.iter().zip(&mut probe.data) {
            data.probe(&Ports::zeroed(), &Ports::zeroed(), probe);
        }
        self.entries.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.entries);
        self.results.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.results);
        self.copies.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.copies);
        self.operands.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.operands);
        self.mrf.probe(&self.given, &self.shown, &mut probe.mrf);
    }

    fn record_levels(&self, nets: &mut HierarchyNets) {
        nets.take = self.found.take;
        (nets.levels_mrf, nets.levels_orf, nets.levels_lrf, nets.levels_copy) = (0, 0, 0, 0);
        (nets.levels_orf_read, nets.levels_lrf_read, nets.levels_both) = (0, 0, 0);
        nets.operands_move_hit = Default::default();
        for (p, levels) in self.found.levels.iter().enumerate().take(self.ports) {
            let first = OPERANDS * p;
            nets.levels_mrf |= levels.mrf << first;
            nets.levels_orf |= levels.orf << first;
            nets.levels_lrf |= levels.lrf << first;
            nets.levels_copy |= levels.copy << first;
            nets.levels_orf_read |= levels.orf_read << first;
            nets.levels_lrf_read |= levels.lrf_read << first;
            nets.levels_entry[first..][..OPERANDS].copy_from_slice(&levels.entry);
            nets.levels_port[first..][..OPERANDS].copy_from_slice(&levels.port);
            (nets.levels_read_place[p], nets.levels_copy_place[p]) = (levels.read_place, levels.copy_place);
            nets.levels_result_place[p] = levels.result_place;
            nets.levels_both |= u8::from(levels.both) << p;
            for k in set_bits(levels.above()) {
                nets.operands_move_hit[first + k] = u32::MAX;
            }
        }
    }

    fn record_entries(&self, given: &MrfIn, extra: &IssueFields, nets: &mut HierarchyNets) {
        (nets.entries_look_match, nets.entries_look_place, nets.entries_look_both) = Default::default();
        for b in set_bits(given.write_valid_i) {
            if let Some(Match { place, both }) = self.found.place[b] {
                nets.entries_look_match |= 1 << b;
                nets.entries_look_place[b] = place;
                nets.entries_look_both |= u8::from(both) << b;
            }
        }
        nets.entries_event = self.entries_word(extra);
    }

    fn record_data(&self, nets: &mut HierarchyNets) {
        (nets.data_land_valid, nets.data_land_tag, nets.data_land_fill) = Default::default();
        for (p, data) in self.data.iter().enumerate() {
            let Some((tag, fill)) = data.land() else { continue };
            nets.data_land_valid |= 1 << p;
            nets.data_land_tag[p] = tag;
            nets.data_land_fill |= fill << (OPERANDS * p);
            for k in set_bits(fill) {
                nets.data_land_data[OPERANDS * p + k] = *data.land_data(k);
            }
        }
    }

    fn record_results(&self, given: &MrfIn, nets: &mut HierarchyNets) {
        (nets.results_look_valid, nets.results_look_slot, nets.results_look_reg) = Default::default();
        for b in set_bits(given.write_valid_i) {
            if let Some(slot) = self.found.slot[b] {
                nets.results_look_valid |= 1 << b;
                (nets.results_look_slot[b], nets.results_look_reg[b]) = (slot, given.write_reg_i[b]);
            }
        }
        let routes = &self.routes;
        (nets.results_copy_ready, nets.results_wait) = (routes.copy_ready, routes.wait);
        nets.results_mrf_valid = self.found.mrf_valid;
        (nets.results_orf_valid, nets.results_orf_copy, nets.results_orf_private) = (0, 0, 0);
        (nets.results_orf_mask, nets.results_orf_slot, nets.results_orf_entry) = Default::default();
        (nets.results_lrf_valid, nets.results_lrf_private) = (0, 0);
        (nets.results_lrf_mask, nets.results_lrf_slot, nets.results_lrf_bank) = Default::default();
        for c in 0..self.ports {
            if let Some(Entering { sender, write, private }) = routes.orf[c] {
                nets.results_orf_valid |= 1 << c;
                nets.results_orf_copy |= u8::from(matches!(sender, Sender::Copy(_))) << c;
                nets.results_orf_private |= u8::from(private) << c;
                (nets.results_orf_mask[c], nets.results_orf_slot[c]) = (write.mask, write.slot);
                nets.results_orf_entry[c] = write.within;
                nets.results_orf_data[c] = *self.sent(sender);
            }
            if let Some(Entering { sender, write, private }) = routes.lrf[c] {
                nets.results_lrf_valid |= 1 << c;
                nets.results_lrf_private |= u8::from(private) << c;
                (nets.results_lrf_mask[c], nets.results_lrf_slot[c]) = (write.mask, write.slot);
                nets.results_lrf_bank[c] = write.within;
                nets.results_lrf_data[c] = *self.sent(sender);
            }
        }
    }

    /// Data that goes into an array.
    fn sent(&self, sender: Sender) -> &WarpData {
        match sender {
            Sender::Copy(p) => self.copies.data(p),
            Sender::Latch(b) => self.results.data(b),
        }
    }

    fn record_copies(&self, nets: &mut HierarchyNets) {
        nets.copies_hold = self.held;
        (nets.copies_copy_valid, nets.copies_copy_private) = (self.copies_waiting(), 0);
        (nets.copies_copy_mask, nets.copies_copy_slot, nets.copies_copy_entry) = Default::default();
        nets.copies_wait = nets.copies_copy_valid & !self.routes.copy_ready;
        for (p, copy) in self.copies.waiting().into_iter().enumerate() {
            let Some(CopyOffer { mask, slot, entry, private }) = copy else { continue };
            (nets.copies_copy_mask[p], nets.copies_copy_slot[p], nets.copies_copy_entry[p]) = (mask, slot, entry);
            nets.copies_copy_private |= u8::from(private) << p;
            nets.copies_copy_data[p] = *self.copies.data(p);
        }
    }

    fn record_mrf(&self, given: &MrfIn, nets: &mut HierarchyNets) {
        let shown = &self.shown;
        nets.operands_dispatch_valid = self.complete;
        nets.operands_dispatch_src_valid =
            set_bits(self.complete).fold(0, |sources, p| sources | self.sources(p) << (OPERANDS * p));
        nets.operands_dispatch_ready = given.dispatch_ready_i & !self.held;
        (nets.mrf_write_ready, nets.mrf_write_done) = (shown.write_ready_o, shown.write_done_o);
        (nets.mrf_dispatch_valid, nets.mrf_dispatch_tag) = (shown.dispatch_valid_o, Default::default());
        nets.mrf_dispatch_ready = self.given.dispatch_ready_i;
        nets.mrf_dispatch_src_valid = shown.dispatch_src_valid_o;
        for p in set_bits(shown.dispatch_valid_o) {
            nets.mrf_dispatch_tag[p] = shown.dispatch_tag_o[p] as u8;
            nets.mrf_dispatch_data[OPERANDS * p..][..OPERANDS].copy_from_slice(self.mrf.operands(p));
        }
    }
}

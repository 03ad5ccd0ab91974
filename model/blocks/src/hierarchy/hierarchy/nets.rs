//! The nets between the blocks of the register hierarchy, as lockstep compares them.

use std::mem::offset_of;

use super::super::hierarchy_entries::Match;
use super::super::hierarchy_results::{CopyOffer, Entering, Sender};
use super::{Hierarchy, MAX_SOURCES};
use crate::design::IssueFields;
use crate::hierarchy::{
    HierarchyCopies, HierarchyCopiesProbe, HierarchyData, HierarchyDataProbe, HierarchyEntries, HierarchyEntriesProbe,
    HierarchyLevels, HierarchyResults, HierarchyResultsProbe, HierarchyShape,
};
use crate::instances::{Instance, inside, nets, record};
use crate::mrf::bits::set_bits;
use crate::mrf::{MAX_PORTS, Mrf, MrfIn, MrfProbe};
use crate::operands::{FrontOperands, FrontOperandsProbe};
use crate::{Block, Field, OPERANDS, Ports, WarpData, field};

nets! {
    /// Nets between the blocks of `Hierarchy`, which has no state of its own.
    pub struct HierarchyNets(s: &HierarchyShape) {
        data_land_data: [WarpData; MAX_SOURCES],
        results_orf_data: [WarpData; MAX_PORTS],
        results_lrf_data: [WarpData; MAX_PORTS],
        copies_copy_data: [WarpData; MAX_PORTS],
        mrf_dispatch_data: [WarpData; MAX_SOURCES],
        operands_move_hit: [u32; MAX_SOURCES],
        results_orf_mask: [u32; MAX_PORTS],
        results_lrf_mask: [u32; MAX_PORTS],
        copies_copy_mask: [u32; MAX_PORTS],
        levels_read_place: [u16; MAX_PORTS],
        levels_copy_place: [u16; MAX_PORTS],
        levels_result_place: [u16; MAX_PORTS],
        /// An instruction is taken.
        take: u8 = field(s.ports()),
        levels_mrf: u8,
        levels_orf: u8,
        levels_lrf: u8,
        levels_copy: u8,
        levels_entry: [u8; MAX_SOURCES],
        levels_port: [u8; MAX_SOURCES],
        levels_orf_read: u8,
        levels_lrf_read: u8,
        levels_both: u8,
        entries_look_match: u8,
        entries_look_place: [u8; MAX_PORTS],
        entries_look_both: u8,
        entries_event: u8,
        data_land_valid: u8,
        data_land_tag: [u8; MAX_PORTS],
        data_land_fill: u8,
        results_look_valid: u8,
        results_look_slot: [u8; MAX_PORTS],
        results_look_reg: [u8; MAX_PORTS],
        results_copy_ready: u8,
        results_orf_valid: u8,
        results_orf_slot: [u8; MAX_PORTS],
        results_orf_entry: [u8; MAX_PORTS],
        results_orf_copy: u8,
        results_orf_private: u8,
        results_lrf_valid: u8,
        results_lrf_slot: [u8; MAX_PORTS],
        results_lrf_bank: [u8; MAX_PORTS],
        results_lrf_private: u8,
        results_mrf_valid: u8,
        results_wait: u8,
        copies_hold: u8,
        copies_copy_valid: u8,
        copies_copy_slot: [u8; MAX_PORTS],
        copies_copy_entry: [u8; MAX_PORTS],
        copies_copy_private: u8,
        copies_wait: u8,
        operands_dispatch_valid: u8,
        operands_dispatch_src_valid: u8,
        operands_dispatch_ready: u8,
        mrf_write_ready: u8,
        mrf_write_done: u8,
        mrf_dispatch_valid: u8,
        mrf_dispatch_ready: u8,
        mrf_dispatch_tag: [u8; MAX_PORTS],
        mrf_dispatch_src_valid: u8,
    }
}

/// What lockstep compares inside `Hierarchy`: its nets, the registers of its blocks, and all that is compared inside the MRF.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HierarchyProbe {
    /// Signals inside the MRF.
    pub mrf: MrfProbe,
    /// Nets between the blocks.
    pub nets: HierarchyNets,
    /// Registers of the arrays.
    pub data: [HierarchyDataProbe; MAX_PORTS],
    /// Registers of the entries.
    pub entries: HierarchyEntriesProbe,
    /// Registers of the latches of results.
    pub results: HierarchyResultsProbe,
    /// Registers of the latches of copies.
    pub copies: HierarchyCopiesProbe,
    /// Registers of the operand latches.
    pub operands: FrontOperandsProbe,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for HierarchyProbe {
    type Shape = HierarchyShape;

    fn fields(s: &HierarchyShape) -> Vec<Field> {
        let instances = [
            Instance::each::<HierarchyLevels>("levels", "gen_port[{}].u_levels", s.ports(), s),
            Instance::each::<HierarchyData>("data", "gen_port[{}].u_data", s.ports(), s).state(offset_of!(Self, data)),
            Instance::one::<HierarchyEntries>("entries", "u_entries", s).state(offset_of!(Self, entries)),
            Instance::one::<HierarchyResults>("results", "u_results", s).state(offset_of!(Self, results)),
            Instance::one::<HierarchyCopies>("copies", "u_copies", s).state(offset_of!(Self, copies)),
            Instance::one::<FrontOperands>("operands", "u_operands", &s.front())
                .state(offset_of!(Self, operands))
                .driven(&[("move_valid_i", "take")]),
            Instance::one::<Mrf>("mrf", "u_mrf", &s.mrf)
                .state(offset_of!(Self, mrf))
                .driven(&[("issue_src_valid_i", "levels_mrf"), ("write_valid_i", "results_mrf_valid")]),
        ];
        inside(&HierarchyNets::declared(s), offset_of!(Self, nets), &instances)
    }
}

/// Nets, ordered by the blocks that drive them. Nets without meaning are zero, where that is cheap.
impl Hierarchy {
    /// Records the nets. `given`: inputs of the hierarchy in this cycle; `extra`: further fields.
    pub(crate) fn record(&self, given: &MrfIn, extra: &IssueFields, probe: &mut HierarchyProbe) {
        let nets = &mut probe.nets;
        self.record_levels(nets);
        self.record_entries(given, extra, nets);
        self.record_data(nets);
        self.record_results(given, nets);
        self.record_copies(nets);
        self.record_mrf(given, nets);
        for (data, probe) in self.data.iter().zip(&mut probe.data) {
            record(data, probe);
        }
        record(&self.entries, &mut probe.entries);
        record(&self.results, &mut probe.results);
        record(&self.copies, &mut probe.copies);
        record(&self.operands, &mut probe.operands);
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
                (nets.results_look_slot[b], nets.results_look_reg[b]) = (slot, given.write_i[b].d());
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

//! The register hierarchy as a block of its own.

use super::{Found, Hierarchy, HierarchyIn, HierarchyOut, HierarchyProbe, Routes};
use crate::design::{IssueFields, SlotView};
use crate::hierarchy::{
    HierarchyCopies, HierarchyData, HierarchyEntries, HierarchyLevels, HierarchyResults, HierarchyShape,
};
use crate::mrf::bits::{only, set_bits};
use crate::mrf::{MAX_PORTS, Mrf, MrfIn, MrfOut};
use crate::operands::FrontOperands;
use crate::sizes::MAX_ACTIVE;
use crate::unified::COLUMNS_INPUTS;
use crate::{Block, Memory, OPERANDS, Ports, WarpData};

impl HierarchyIn {
    /// Sets the inputs that the MRF would have in the block's place.
    fn narrow(&self, given: &mut MrfIn) {
        (given.rst_ni, given.dispatch_ready_i) = (self.rst_ni, self.dispatch_ready_i);
        (given.issue_valid_i, given.issue_src_valid_i) = (self.issue_valid_i, self.issue_src_valid_i);
        (given.issue_warp_i, given.issue_base_i) = (self.issue_warp_i, self.issue_base_i);
        (given.issue_mask_i, given.issue_src_reg_i) = (self.issue_mask_i, self.issue_src_reg_i);
        given.issue_tag_i = self.issue_tag_i.map(u64::from);
        given.write_valid_i = self.write_valid_i;
        (given.write_i, given.write_base_i) = (self.write_i, self.write_base_i);
    }

    /// The further fields of the inputs.
    pub(super) fn extra(&self) -> IssueFields {
        IssueFields {
            slot: self.issue_slot_i,
            dst: self.issue_dst_i,
            src_level: self.issue_src_level_i,
            dst_level: self.issue_dst_level_i,
            long: self.issue_long_i,
            private: self.issue_private_i,
            end: self.issue_end_i,
            ..IssueFields::default()
        }
    }
}

impl Block for Hierarchy {
    const NAME: &'static str = "hierarchy";
    const PARAMETERS: &'static [&'static str] =
        &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "Tags", "Active", "Entries", "LrfBanks", "Unified"];
    const CHILDREN: &'static [&'static str] = &[
        HierarchyLevels::NAME,
        HierarchyEntries::NAME,
        HierarchyData::NAME,
        HierarchyResults::NAME,
        HierarchyCopies::NAME,
        FrontOperands::NAME,
        Mrf::NAME,
    ];

    type Shape = HierarchyShape;
    type In = HierarchyIn;
    type Out = HierarchyOut;
    type Probe = HierarchyProbe;

    fn unused(shape: &HierarchyShape) -> Vec<&'static str> {
        if shape.mrf.unified { Vec::new() } else { COLUMNS_INPUTS.to_vec() }
    }

    fn new(shape: &HierarchyShape) -> Self {
        let mut hierarchy = Self {
            ports: shape.ports(),
            levels: HierarchyLevels::new(shape),
            entries: HierarchyEntries::new(shape),
            data: (0..shape.ports()).map(|_| HierarchyData::new(shape)).collect(),
            results: HierarchyResults::new(shape),
            copies: HierarchyCopies::new(shape),
            operands: FrontOperands::new(&shape.front()),
            mrf: Mrf::new(&shape.mrf),
            given: MrfIn::zeroed(),
            shown: MrfOut::zeroed(),
            routes: Routes::default(),
            complete: 0,
            held: 0,
            merged_tag: [None; MAX_PORTS],
            merged: Box::new([[WarpData::ZERO; OPERANDS]; MAX_PORTS]),
            slot_valid: 0,
            slot_warp: [0; MAX_ACTIVE],
            flush_done: 0,
            found: Found::default(),
            outside: MrfIn::zeroed(),
        };
        hierarchy.mrf.show(&mut hierarchy.shown);
        hierarchy.settle();
        hierarchy
    }

    fn early(&self, out: &mut HierarchyOut) {
        self.mrf.show_columns(&mut out.columns);
        let mut shown = MrfOut::zeroed();
        self.show(&mut shown);
        (out.void_o, out.wait_o) = (self.void(), *self.waits().0);
        out.issue_ready_o = shown.issue_ready_o;
        (out.write_ready_o, out.write_done_o) = (shown.write_ready_o, shown.write_done_o);
        out.written_o = only(&shown.written_o, shown.write_done_o);
        (out.dispatch_valid_o, out.dispatch_src_valid_o) = (shown.dispatch_valid_o, shown.dispatch_src_valid_o);
        (out.dispatch_mask_o, out.dispatch_warp_o) = (shown.dispatch_mask_o, shown.dispatch_warp_o);
        out.dispatch_tag_o = shown.dispatch_tag_o.map(|tag| tag as u8);
        for p in set_bits(shown.dispatch_valid_o) {
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(self.operands(p));
        }
    }

    fn late(&mut self, inputs: &HierarchyIn, out: &mut HierarchyOut) {
        self.mrf.show_column_data(&inputs.columns, &mut out.columns);
        self.see(&SlotView { valid: inputs.slot_valid_i, flush: inputs.flush_i, drop: 0, warp: &inputs.slot_warp_i });
        out.flush_done_o = self.flush_done();
        let mut outside = self.outside;
        inputs.narrow(&mut outside);
        let extra = inputs.extra();
        out.mrf_event_o = Hierarchy::late(self, &outside, &extra, inputs.cfg_i);
        self.outside = outside;
        (out.event_o, out.count_event_o) = self.events(&extra);
    }

    fn clock(&mut self, inputs: &HierarchyIn, _: &HierarchyOut) {
        self.mrf.ask_columns(&inputs.columns);
        let outside = self.outside;
        self.edge(&outside, &inputs.extra(), |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &HierarchyIn, _: &HierarchyOut, probe: &mut HierarchyProbe) {
        self.record(&self.outside, &inputs.extra(), probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        for (p, data) in self.data.iter_mut().enumerate() {
            all.extend(Memory::inside(format_args!("gen_port[{p}].u_data"), data.memories()));
        }
        all.extend(Memory::inside("u_operands", self.operands.memories()));
        all.extend(Memory::inside("u_mrf", self.mrf.memories()));
        all
    }
}

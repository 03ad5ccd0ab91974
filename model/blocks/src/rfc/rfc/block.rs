//! The register file cache as a block of its own.

use super::{Rfc, RfcIn, RfcOut, RfcProbe};
use crate::design::{IssueFields, PowerSide, SlotView};
use crate::mrf::bits::{only, set_bits};
use crate::mrf::{MAX_PORTS, Mrf, MrfIn, MrfOut};
use crate::operands::FrontOperands;
use crate::rfc::{RfcData, RfcEvictions, RfcFills, RfcLrf, RfcPower, RfcResults, RfcShape, RfcTags};
use crate::unified::COLUMNS_INPUTS;
use crate::{Block, Memory, OPERANDS, Ports, WarpData};

impl RfcIn {
    /// Fills the inputs that the MRF has as well.
    fn narrow(&self, given: &mut MrfIn) {
        (given.rst_ni, given.dispatch_ready_i) = (self.rst_ni, self.dispatch_ready_i);
        (given.issue_valid_i, given.issue_src_valid_i) = (self.issue_valid_i, self.issue_src_valid_i);
        (given.issue_warp_i, given.issue_base_i) = (self.issue_warp_i, self.issue_base_i);
        (given.issue_mask_i, given.issue_src_reg_i) = (self.issue_mask_i, self.issue_src_reg_i);
        given.issue_tag_i = self.issue_tag_i.map(u64::from);
        given.write_valid_i = self.write_valid_i;
        (given.write_i, given.write_base_i) = (self.write_i, self.write_base_i);
    }

    /// The inputs that the MRF does not have.
    fn extra(&self) -> IssueFields {
        IssueFields {
            slot: self.issue_slot_i,
            dst: self.issue_dst_i,
            last: self.issue_last_i,
            long: self.issue_long_i,
            bypass: self.issue_bypass_i,
            past: self.issue_past_i,
            private: self.issue_private_i,
            left: self.issue_left_i,
            ..IssueFields::default()
        }
    }
}

impl Block for Rfc {
    const NAME: &'static str = "rfc";
    const PARAMETERS: &'static [&'static str] = &[
        "Banks",
        "DualPort",
        "Collectors",
        "IssuePorts",
        "Depth",
        "Tags",
        "Active",
        "Entries",
        "Lrf",
        "Reads",
        "Release",
        "Power",
        "Unified",
    ];
    const CHILDREN: &'static [&'static str] = &[
        RfcPower::NAME,
        RfcFills::NAME,
        RfcLrf::NAME,
        RfcTags::NAME,
        RfcData::NAME,
        RfcEvictions::NAME,
        RfcResults::NAME,
        FrontOperands::NAME,
        Mrf::NAME,
    ];

    type Shape = RfcShape;
    type In = RfcIn;
    type Out = RfcOut;
    type Probe = RfcProbe;

    fn unused(shape: &RfcShape) -> Vec<&'static str> {
        if shape.mrf.unified { Vec::new() } else { COLUMNS_INPUTS.to_vec() }
    }

    fn new(shape: &RfcShape) -> Self {
        let each = 0..shape.ports();
        let mut rfc = Self {
            ports: shape.ports(),
            tag_valid_q: 0,
            stage: Default::default(),
            tags: each.clone().map(|_| RfcTags::new(shape)).collect(),
            data: each.clone().map(|_| RfcData::new(shape)).collect(),
            evictions: each.clone().map(|_| RfcEvictions::new(shape)).collect(),
            results: RfcResults::new(shape),
            operands: FrontOperands::new(&shape.front()),
            lrf: if shape.lrf { each.map(|_| RfcLrf::new(shape)).collect() } else { Vec::new() },
            fills: shape.reads.then(|| Box::new(RfcFills::new(shape))),
            power: shape.power.then(|| Box::new(RfcPower::new(shape))),
            mrf: Mrf::new(&shape.mrf),
            given: MrfIn::zeroed(),
            shown: MrfOut::zeroed(),
            looked: Default::default(),
            upper_hit: Default::default(),
            hit: Default::default(),
            missing: [0; MAX_PORTS],
            stall: 0,
            behind: 0,
            prompt: false,
            asking: Default::default(),
            look_on: 0,
            leave: 0,
            offered: 0,
            merged_tag: [None; MAX_PORTS],
            merged: Box::new([[WarpData::ZERO; OPERANDS]; MAX_PORTS]),
            decided: Default::default(),
            outside: MrfIn::zeroed(),
        };
        rfc.mrf.show(&mut rfc.shown);
        rfc.settle();
        rfc
    }

    fn early(&self, out: &mut RfcOut) {
        self.mrf.show_columns(&mut out.columns);
        let mut shown = MrfOut::zeroed();
        self.show(&mut shown);
        (out.issue_ready_o, out.dispatch_valid_o) = (shown.issue_ready_o, shown.dispatch_valid_o);
        (out.dispatch_src_valid_o, out.dispatch_mask_o) = (shown.dispatch_src_valid_o, shown.dispatch_mask_o);
        (out.dispatch_warp_o, out.dispatch_tag_o) = (shown.dispatch_warp_o, shown.dispatch_tag_o.map(|tag| tag as u8));
        for p in set_bits(shown.dispatch_valid_o) {
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(self.operands(p));
        }
    }

    fn late(&mut self, inputs: &RfcIn, out: &mut RfcOut) {
        self.mrf.show_column_data(&inputs.columns, &mut out.columns);
        let slots = SlotView {
            valid: inputs.slot_valid_i,
            flush: inputs.flush_i,
            drop: inputs.drop_i,
            warp: &inputs.slot_warp_i,
        };
        let mut shown = MrfOut::zeroed();
        let base = |s: usize| inputs.slot_base_i.get(s).copied().unwrap_or_default();
        self.see(inputs.cfg_i, &slots, base, &mut shown);
        (out.write_ready_o, out.write_done_o) = (shown.write_ready_o, shown.write_done_o);
        out.written_o = only(&shown.written_o, shown.write_done_o);
        out.flush_done_o = self.flush_done();
        let mut outside = self.outside;
        inputs.narrow(&mut outside);
        let side = PowerSide { keep: inputs.dispatch_keep_i, over: inputs.over_i };
        out.mrf_event_o = Rfc::late(self, &outside, inputs.cfg_i, &side);
        (out.power_event_o, out.power_wait_event_o) = self.power_events();
        self.outside = outside;
        (out.event_o, out.count_event_o, out.extra_event_o) = self.events(inputs.cfg_i);
    }

    fn clock(&mut self, inputs: &RfcIn, _: &RfcOut) {
        self.mrf.ask_columns(&inputs.columns);
        let outside = self.outside;
        self.edge(&outside, &inputs.extra(), inputs.cfg_i, |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &RfcIn, _: &RfcOut, probe: &mut RfcProbe) {
        self.record(inputs.cfg_i, probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        for (p, (data, evictions)) in self.data.iter_mut().zip(&mut self.evictions).enumerate() {
            all.extend(Memory::inside(format_args!("gen_cache[{p}].u_data"), data.memories()));
            all.extend(Memory::inside(format_args!("gen_cache[{p}].u_evictions"), evictions.memories()));
        }
        for (p, lrf) in self.lrf.iter_mut().enumerate() {
            all.extend(Memory::inside(format_args!("gen_cache[{p}].gen_lrf.u_lrf"), lrf.memories()));
        }
        if let Some(fills) = &mut self.fills {
            all.extend(Memory::inside("gen_reads.u_fills", fills.memories()));
        }
        if let Some(power) = &mut self.power {
            all.extend(Memory::inside("gen_power.u_power", power.memories()));
        }
        all.extend(Memory::inside("u_results", self.results.memories()));
        all.extend(Memory::inside("u_operands", self.operands.memories()));
        all.extend(Memory::inside("u_mrf", self.mrf.memories()));
        all
    }
}

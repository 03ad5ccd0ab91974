//! The nets between the blocks of the register file cache, as lockstep compares them.

use std::mem::offset_of;

use super::{MAX_SOURCES, Rfc, Stage, cache_straps, merged};
use crate::instances::{Instance, always, inside, net, nets, record};
use crate::mrf::bits::{is_set, only, set_bits};
use crate::mrf::{MAX_PORTS, Mrf, MrfProbe};
use crate::operands::{FrontOperands, FrontOperandsProbe};
use crate::rfc::RfcShape;
use crate::rfc::rfc_tags::{Look, distinct};
use crate::rfc::{
    RfcData, RfcDataProbe, RfcEvictions, RfcEvictionsProbe, RfcFills, RfcFillsProbe, RfcLrf, RfcLrfProbe, RfcPower,
    RfcPowerProbe, RfcResults, RfcResultsProbe, RfcTags, RfcTagsProbe,
};
use crate::{Block, Field, LANES, OPERANDS, Ports, REG_BITS, WARP_BITS, WarpData, field};

nets! {
    /// Nets between the blocks of `Rfc`, and its own state.
    pub struct RfcNets(s: &RfcShape) {
        data_land_data: [WarpData; MAX_SOURCES] = net().valid_by("operands_land_fill"),
        operands_land_data: [WarpData; MAX_SOURCES] = net().when(s.is_extended()),
        lrf_land_data: [WarpData; MAX_PORTS],
        lrf_spill_data: [WarpData; MAX_PORTS],
        lrf_flush_data: [WarpData; MAX_PORTS],
        fills_fill_data: [WarpData; MAX_PORTS],
        data_evict_data: [WarpData; MAX_PORTS],
        evictions_offer_data: [WarpData; MAX_PORTS],
        results_op_data: [WarpData; MAX_PORTS],
        mrf_write_data: [WarpData; MAX_PORTS],
        mrf_dispatch_data: [WarpData; MAX_SOURCES],
        data_write_data: [WarpData; MAX_PORTS] = net().when(s.is_extended()),
        evictions_data: [WarpData; MAX_PORTS] = net().when(s.is_extended()),
        tags_clean: [u64; MAX_PORTS],
        lrf_clean: [u64; MAX_PORTS],
        evictions_busy: [u64; MAX_PORTS],
        /// Slots of which nothing is left.
        flush_done: u64 = field(s.active),
        tags_event: [u32; MAX_PORTS],
        tags_hit_mask: [u32; MAX_SOURCES],
        lrf_event: [u32; MAX_PORTS],
        lrf_hit_mask: [u32; MAX_SOURCES],
        /// Lanes of each source that are in cache or LRF.
        hit: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).when(s.is_extended()),
        tags_op_mask: [u32; MAX_PORTS] = net().when(s.is_extended()),
        evictions_push_mask: [u32; MAX_PORTS] = net().when(s.is_extended()),
        fills_move_miss: [u32; MAX_SOURCES],
        lrf_land_hit: [u32; MAX_SOURCES],
        lrf_low_mask: [u32; MAX_PORTS],
        lrf_flush_mask: [u32; MAX_PORTS],
        fills_fill_mask: [u32; MAX_PORTS],
        tags_evict_mask: [u32; MAX_PORTS],
        evictions_offer_mask: [u32; MAX_PORTS],
        results_op_mask: [u32; MAX_PORTS],
        /// Lanes of a value for the MRF.
        mrf_write_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("mrf_write_valid"),
        /// Lanes of the instruction in T.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("tag_valid_q"),
        tags_hit_index: [u16; MAX_SOURCES],
        tags_op_index: [u16; MAX_PORTS],
        tags_evict_index: [u16; MAX_PORTS],
        evictions_offer_base: [u16; MAX_PORTS],
        mrf_write_base: [u16; MAX_PORTS],
        /// First row of the warp of the instruction in T.
        base_q: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// An instruction is in T of port p.
        tag_valid_q: u8 = field(s.ports()),
        /// The last instruction in T of port p was one of a private unit.
        private_q: u8 = field(s.ports()),
        /// Warp of the instruction in T.
        warp_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("tag_valid_q"),
        /// Tag of the instruction in T.
        tag_q: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// Sources of the instruction in T.
        src_valid_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()).valid_by("tag_valid_q"),
        /// Slot within the cache of the instruction in T.
        slot_q: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// Last reads of the instruction in T.
        last_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()).valid_by("tag_valid_q"),
        /// Registers of the sources of the instruction in T.
        src_reg_q: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("tag_valid_q"),
        tags_hit_port: [u8; MAX_SOURCES],
        tags_read: [u8; MAX_PORTS],
        tags_op_ready: u8,
        results_op_ready: u8 = net().when(s.is_extended()),
        lrf_low_valid: u8,
        lrf_low_kill: u8,
        lrf_low_slot: [u8; MAX_PORTS],
        lrf_low_reg: [u8; MAX_PORTS],
        lrf_spill: u8,
        lrf_flush_valid: u8,
        lrf_flush_slot: [u8; MAX_PORTS],
        lrf_flush_reg: [u8; MAX_PORTS],
        lrf_spill_data_valid: u8,
        lrf_flush_data_valid: u8,
        /// Sources that are missing, each register once.
        asked: u8 = field(s.mrf.sources()).valid_by("tag_valid_q").when(s.is_extended()),
        tags_op_valid: u8 = net().when(s.is_extended()),
        tags_op_kill: u8 = always().when(s.is_extended()),
        tags_op_slot: [u8; MAX_PORTS] = net().when(s.is_extended()),
        tags_op_reg: [u8; MAX_PORTS] = net().when(s.is_extended()),
        data_write_valid: u8 = net().when(s.is_extended()),
        evictions_push_valid: u8 = net().when(s.is_extended()),
        evictions_push_slot: [u8; MAX_PORTS] = net().when(s.is_extended()),
        evictions_push_reg: [u8; MAX_PORTS] = net().when(s.is_extended()),
        evictions_data_valid: u8 = net().when(s.is_extended()),
        operands_dispatch_valid: u8 = net().when(s.is_extended()),
        operands_dispatch_src_valid: u8 = net().when(s.is_extended()),
        operands_dispatch_ready: u8 = net().when(s.is_extended()),
        fills_move_slot: [u8; MAX_PORTS] = net().valid_by("tag_valid_q"),
        fills_take_valid: u8,
        fills_fill_valid: u8,
        fills_fill_slot: [u8; MAX_PORTS],
        fills_fill_reg: [u8; MAX_PORTS],
        fills_busy: u8,
        tags_evict_valid: u8,
        tags_evict_port: [u8; MAX_PORTS],
        tags_evict_slot: [u8; MAX_PORTS],
        tags_evict_reg: [u8; MAX_PORTS],
        data_land_valid: u8,
        data_land_tag: [u8; MAX_PORTS],
        operands_land_fill: u8,
        data_evict_data_valid: u8,
        evictions_room: u8,
        evictions_offer_valid: u8,
        evictions_offer_warp: [u8; MAX_PORTS],
        evictions_offer_reg: [u8; MAX_PORTS],
        evictions_look_match: [u8; MAX_PORTS] = net().valid_by("tag_valid_q"),
        results_result_warp: [u8; MAX_PORTS],
        results_result_reg: [u8; MAX_PORTS],
        results_queue_warp: [u8; MAX_PORTS] = net().when(s.release),
        results_queue_reg: [u8; MAX_PORTS] = net().when(s.release),
        results_op_valid: u8,
        results_op_kill: u8,
        results_op_upper: u8,
        results_op_slot: [u8; MAX_PORTS],
        results_op_reg: [u8; MAX_PORTS],
        results_op_private: u8,
        results_evict_ready: u8,
        results_evict_done: u8,
        results_around: u8,
        results_around_private: u8,
        results_wait: u8,
        mrf_issue_ready: u8,
        mrf_issue_valid: u8,
        mrf_issue_src_valid: u8,
        mrf_write_valid: u8,
        mrf_write_ready: u8,
        /// Warp of a value for the MRF.
        mrf_write_warp: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("mrf_write_valid"),
        /// Register of a value for the MRF.
        mrf_write_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("mrf_write_valid"),
        mrf_write_done: u8,
        mrf_dispatch_valid: u8,
        mrf_dispatch_tag: [u8; MAX_PORTS],
        mrf_dispatch_src_valid: u8,
        /// An instruction leaves T.
        leave: u8 = field(s.ports()),
        /// The instruction in T waits for an eviction.
        stall: u8 = field(s.ports()),
        /// The instruction in T waits for a result.
        behind: u8 = field(s.ports()),
        /// Register that the instruction in T writes.
        dst_q: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("tag_valid_q"),
        /// The result of the last instruction in T of port p goes around the cache.
        around_q: u8 = field(s.ports()),
        /// The result of the last instruction in T of port p goes past the LRF.
        past_q: u8 = field(s.ports()),
        results_result_valid: u8,
        results_queue_valid: u8 = net().when(s.release),
        results_mrf_valid: u8 = net().when(s.power),
        results_may: u8 = net().when(s.power),
        /// The power state in which the instruction in T leaves each source.
        left_q: [u8; MAX_SOURCES] = field(2).count(s.mrf.sources()).valid_by("tag_valid_q").when(s.power),
        power_look_valid: u8,
        power_look_on: u8,
        power_look_asked: u8 = net().valid_by("tag_valid_q"),
        power_write_valid: u8,
        power_write_on: u8,
        power_taken: u8,
        power_read_valid: u8,
    }
}

/// The values that lockstep compares inside `Rfc`: its nets and state, the registers of its blocks, and all values inside the MRF.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RfcProbe {
    /// Values inside the MRF.
    pub mrf: MrfProbe,
    /// Nets between the blocks.
    pub nets: RfcNets,
    /// Registers of the tags.
    pub tags: [RfcTagsProbe; MAX_PORTS],
    /// Registers of the data arrays.
    pub data: [RfcDataProbe; MAX_PORTS],
    /// Registers of the evictions.
    pub evictions: [RfcEvictionsProbe; MAX_PORTS],
    /// Registers of the latches of results.
    pub results: RfcResultsProbe,
    /// Registers of the operand latches.
    pub operands: FrontOperandsProbe,
    /// Registers of the LRFs.
    pub lrf: [RfcLrfProbe; MAX_PORTS],
    /// Registers of the fills.
    pub fills: RfcFillsProbe,
    /// Registers of the power states.
    pub power: RfcPowerProbe,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for RfcProbe {
    type Shape = RfcShape;

    fn fields(s: &RfcShape) -> Vec<Field> {
        let ports = s.ports();
        let instances = [
            Instance::each::<RfcTags>("tags", "gen_cache[{}].u_tags", ports, s).state(offset_of!(Self, tags)),
            Instance::each::<RfcData>("data", "gen_cache[{}].u_data", ports, s).state(offset_of!(Self, data)),
            Instance::each::<RfcEvictions>("evictions", "gen_cache[{}].u_evictions", ports, s)
                .state(offset_of!(Self, evictions)),
            Instance::each::<RfcLrf>("lrf", "gen_cache[{}].gen_lrf.u_lrf", ports, s)
                .state(offset_of!(Self, lrf))
                .when(s.lrf),
            Instance::one::<RfcFills>("fills", "gen_reads.u_fills", s)
                .state(offset_of!(Self, fills))
                .driven(&[("move_valid_i", "leave")])
                .when(s.reads),
            Instance::one::<RfcPower>("power", "gen_power.u_power", s).state(offset_of!(Self, power)).when(s.power),
            Instance::one::<RfcResults>("results", "u_results", s).state(offset_of!(Self, results)),
            Instance::one::<FrontOperands>("operands", "u_operands", &s.front()).state(offset_of!(Self, operands)),
            Instance::one::<Mrf>("mrf", "u_mrf", &s.mrf).state(offset_of!(Self, mrf)),
        ];
        inside(&RfcNets::declared(s), offset_of!(Self, nets), &instances)
    }
}

/// Records the nets, grouped by the blocks that drive them. Nets without a meaning are zero where that is cheap.
impl Rfc {
    pub(crate) fn record(&self, straps: u16, probe: &mut RfcProbe) {
        let straps = cache_straps(straps);
        self.record_tags(straps, &mut probe.nets);
        self.record_data(&mut probe.nets);
        self.record_results(&mut probe.nets);
        self.record_mrf(&mut probe.nets);
        if !self.lrf.is_empty() || self.fills.is_some() {
            self.record_between(&mut probe.nets);
            self.record_lrf(straps, probe);
            self.record_fills(probe);
        }
        self.record_power(probe);
        for p in 0..self.ports {
            record(&self.tags[p], &mut probe.tags[p]);
            record(&self.data[p], &mut probe.data[p]);
            record(&self.evictions[p], &mut probe.evictions[p]);
        }
        record(&self.results, &mut probe.results);
        record(&self.operands, &mut probe.operands);
        self.mrf.probe(&self.given, &self.shown, &mut probe.mrf);
    }

    fn record_tags(&self, straps: u8, nets: &mut RfcNets) {
        (nets.tag_valid_q, nets.leave, nets.stall) = (self.tag_valid_q, self.leave, self.stall);
        (nets.behind, nets.dst_q) = (self.behind, Default::default());
        let ports =
            |holds: fn(&Stage) -> bool| (0..self.ports).fold(0, |set, p| set | u8::from(holds(&self.stage[p])) << p);
        (nets.private_q, nets.around_q) = (ports(|stage| stage.private), ports(|stage| stage.around));
        nets.past_q = ports(|stage| stage.past);
        (nets.mask_q, nets.base_q, nets.warp_q, nets.tag_q) = Default::default();
        (nets.src_valid_q, nets.slot_q, nets.last_q, nets.src_reg_q) = Default::default();
        (nets.tags_hit_mask, nets.tags_hit_index, nets.tags_hit_port) = Default::default();
        (nets.tags_read, nets.evictions_look_match) = Default::default();
        for p in set_bits(self.tag_valid_q) {
            let (stage, looked) = (&self.stage[p], &self.looked[p]);
            (nets.mask_q[p], nets.base_q[p], nets.warp_q[p]) = (stage.look.mask, stage.base, stage.warp);
            (nets.tag_q[p], nets.src_valid_q[p]) = (stage.tag, stage.look.src_valid);
            (nets.slot_q[p], nets.last_q[p]) = (stage.look.slot, stage.look.last);
            nets.dst_q[p] = stage.dst;
            nets.tags_read[p] = looked.read;
            for k in 0..OPERANDS {
                let i = OPERANDS * p + k;
                nets.src_reg_q[i] = stage.look.reg[k];
                nets.tags_hit_mask[i] = looked.hit_mask[k];
                (nets.tags_hit_index[i], nets.tags_hit_port[i]) = (looked.index[k], looked.port[k]);
                let here = self.evictions[p].is_on_its_way(stage.warp, stage.look.reg[k], self.lands(p));
                nets.evictions_look_match[p] |= u8::from(here) << k;
            }
        }
        let decided = &self.decided;
        (nets.tags_op_ready, nets.tags_evict_valid, nets.flush_done) = (decided.op_ready, 0, decided.flush_done);
        (nets.tags_op_index, nets.tags_event, nets.tags_clean) = Default::default();
        (nets.tags_evict_mask, nets.tags_evict_index, nets.tags_evict_port) = Default::default();
        (nets.tags_evict_slot, nets.tags_evict_reg) = Default::default();
        for p in 0..self.ports {
            nets.tags_clean[p] = self.tags[p].clean();
            nets.tags_event[p] = self.counts(straps, p).word();
            let written = decided.op[p].is_some_and(|op| !op.kill);
            nets.tags_op_index[p] = decided.done[p].entry.filter(|_| written).unwrap_or_default();
            if let Some(evict) = &decided.done[p].evict {
                nets.tags_evict_valid |= 1 << p;
                (nets.tags_evict_mask[p], nets.tags_evict_index[p]) = (evict.mask, evict.index);
                (nets.tags_evict_port[p], nets.tags_evict_slot[p]) = (evict.port, evict.slot);
                nets.tags_evict_reg[p] = evict.reg;
            }
        }
    }

    fn record_data(&self, nets: &mut RfcNets) {
        (nets.data_land_valid, nets.data_land_tag, nets.operands_land_fill) = Default::default();
        nets.data_evict_data_valid = 0;
        (nets.evictions_room, nets.evictions_busy, nets.evictions_offer_valid) = Default::default();
        (nets.evictions_offer_mask, nets.evictions_offer_base) = Default::default();
        (nets.evictions_offer_warp, nets.evictions_offer_reg) = Default::default();
        for p in 0..self.ports {
            let (bit, data, evictions) = (1 << p, &self.data[p], &self.evictions[p]);
            if let Some((tag, fill)) = data.land() {
                nets.data_land_valid |= bit;
                nets.data_land_tag[p] = tag;
                nets.operands_land_fill |= fill << (OPERANDS * p);
                for k in set_bits(fill) {
                    nets.data_land_data[OPERANDS * p + k] = *data.land_data(k);
                }
            }
            if let Some(evicted) = data.evict_data() {
                nets.data_evict_data_valid |= bit;
                nets.data_evict_data[p] = *evicted;
            }
            nets.evictions_room |= u8::from(evictions.room()) << p;
            nets.evictions_busy[p] = evictions.busy();
            if let Some(offer) = evictions.offer(self.comes(p).is_some()) {
                nets.evictions_offer_valid |= bit;
                (nets.evictions_offer_mask[p], nets.evictions_offer_base[p]) = (offer.mask, offer.base);
                (nets.evictions_offer_warp[p], nets.evictions_offer_reg[p]) = (offer.warp, offer.reg);
                nets.evictions_offer_data[p] = *evictions.offer_data(self.comes(p));
            }
        }
    }

    fn record_results(&self, nets: &mut RfcNets) {
        let routes = &self.decided.routes;
        nets.results_result_valid = self.results.valid();
        (nets.results_result_warp, nets.results_result_reg) = Default::default();
        for b in set_bits(self.results.valid()) {
            let latch = self.results.latch(b);
            (nets.results_result_warp[b], nets.results_result_reg[b]) = (latch.warp, latch.reg);
        }
        nets.results_queue_valid = self.results.queued();
        (nets.results_queue_warp, nets.results_queue_reg) = Default::default();
        for b in set_bits(self.results.queued()) {
            (nets.results_queue_warp[b], nets.results_queue_reg[b]) = self.results.queue(b);
        }
        (nets.results_op_valid, nets.results_op_kill, nets.results_op_private) = (0, 0, 0);
        nets.results_op_upper = 0;
        (nets.results_op_mask, nets.results_op_slot, nets.results_op_reg) = Default::default();
        for (c, op) in routes.op.iter().enumerate() {
            let Some(op) = op else { continue };
            let latch = self.results.latch(op.bus.into());
            nets.results_op_valid |= 1 << c;
            nets.results_op_kill |= u8::from(op.kill) << c;
            nets.results_op_upper |= u8::from(op.upper) << c;
            nets.results_op_private |= u8::from(latch.private) << c;
            (nets.results_op_mask[c], nets.results_op_slot[c]) = (latch.mask, op.slot);
            nets.results_op_reg[c] = latch.reg;
            nets.results_op_data[c] = *self.results.data(op.bus.into());
        }
        let ready = self.shown.write_ready_o & self.decided.write_on;
        (nets.results_evict_ready, nets.results_evict_done) = (ready, routes.evict_done);
        (nets.results_around, nets.results_wait) = (routes.around, routes.wait);
        nets.results_around_private = 0;
        for b in set_bits(routes.around) {
            nets.results_around_private |= u8::from(self.results.latch(b).private) << b;
        }
    }

    /// Records the nets between the blocks of a cache with an LRF, or of a cache where reads allocate.
    fn record_between(&self, nets: &mut RfcNets) {
        let decided = &self.decided;
        (nets.hit, nets.asked, nets.fills_move_miss, nets.fills_move_slot) = Default::default();
        for p in set_bits(self.tag_valid_q) {
            let (stage, hit, first) = (&self.stage[p], &self.hit[p], OPERANDS * p);
            nets.hit[first..first + OPERANDS].copy_from_slice(hit);
            nets.fills_move_slot[p] = stage.look.slot * self.ports as u8 + p as u8;
            for k in distinct(&Look { src_valid: self.missing[p], ..stage.look }) {
                nets.asked |= 1 << (first + k);
                nets.fills_move_miss[first + k] = stage.look.mask & !hit[k];
            }
        }
        nets.results_op_ready = decided.op_ready;
        (nets.tags_op_valid, nets.tags_op_kill, nets.data_write_valid) = (0, 0, 0);
        (nets.tags_op_mask, nets.tags_op_slot, nets.tags_op_reg) = Default::default();
        (nets.evictions_push_valid, nets.evictions_data_valid) = (0, 0);
        (nets.evictions_push_mask, nets.evictions_push_slot, nets.evictions_push_reg) = Default::default();
        for p in 0..self.ports {
            let (bit, data) = (1 << p, &self.data[p]);
            let lrf = self.lrf.get(p);
            if lrf.is_some() && decided.upper[p].is_none() {
                nets.results_op_ready &= !bit;
            }
            if let Some(op) = &decided.op[p] {
                nets.tags_op_valid |= bit;
                nets.tags_op_kill |= u8::from(op.kill) << p;
                (nets.tags_op_mask[p], nets.tags_op_slot[p], nets.tags_op_reg[p]) = (op.mask, op.slot, op.reg);
                nets.data_write_valid |= u8::from(!op.kill && decided.done[p].ready) << p;
                if let Some(data) = self.written(p) {
                    nets.data_write_data[p] = *data;
                }
            }
            if let Some(push) = &decided.push[p] {
                nets.evictions_push_valid |= bit;
                (nets.evictions_push_mask[p], nets.evictions_push_slot[p]) = (push.mask, push.slot);
                nets.evictions_push_reg[p] = push.reg;
            }
            if let Some(data) = data.evict_data().or(lrf.and_then(|lrf| lrf.flush_data())) {
                nets.evictions_data_valid |= bit;
                nets.evictions_data[p] = *data;
            }
            if let Some((_, fill)) = data.land() {
                let (hit, value) = lrf.map_or((&[0; OPERANDS], &WarpData::ZERO), RfcLrf::land);
                nets.operands_land_data[OPERANDS * p..][..OPERANDS].copy_from_slice(&merged(data, fill, hit, value));
            }
        }
        (nets.operands_dispatch_valid, nets.operands_dispatch_src_valid) = (0, 0);
        for p in set_bits(self.shown.dispatch_valid_o) {
            let tag = self.shown.dispatch_tag_o[p] as u8;
            if self.operands.got(tag) {
                nets.operands_dispatch_valid |= 1 << p;
                let sources = self.shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
                nets.operands_dispatch_src_valid |= (sources | self.operands.cached(tag)) << (OPERANDS * p);
            }
        }
        nets.operands_dispatch_ready = if self.fills_are_busy() { 0 } else { decided.dispatch_ready };
        nets.fills_take_valid = self.given.dispatch_ready_i;
    }

    fn record_lrf(&self, straps: u8, probe: &mut RfcProbe) {
        let (nets, decided) = (&mut probe.nets, &self.decided);
        (nets.lrf_hit_mask, nets.lrf_land_hit) = Default::default();
        (nets.lrf_low_mask, nets.lrf_low_slot, nets.lrf_low_reg) = Default::default();
        (nets.lrf_low_valid, nets.lrf_low_kill, nets.lrf_spill) = (0, 0, 0);
        (nets.lrf_flush_valid, nets.lrf_spill_data_valid, nets.lrf_flush_data_valid) = (0, 0, 0);
        (nets.lrf_flush_mask, nets.lrf_flush_slot, nets.lrf_flush_reg) = Default::default();
        for (p, lrf) in self.lrf.iter().enumerate() {
            let bit = 1 << p;
            let sources = OPERANDS * p..OPERANDS * p + OPERANDS;
            if is_set(self.tag_valid_q, p) {
                nets.lrf_hit_mask[sources.clone()].copy_from_slice(&self.upper_hit[p]);
            }
            if let Some((op, below)) = decided.upper[p] {
                nets.lrf_low_valid |= bit;
                nets.lrf_low_kill |= u8::from(below.kill) << p;
                nets.lrf_spill |= u8::from(below.spill) << p;
                (nets.lrf_low_mask[p], nets.lrf_low_slot[p], nets.lrf_low_reg[p]) = (below.mask, op.slot, below.reg);
            }
            if let Some(flush) = decided.lrf_flush[p] {
                nets.lrf_flush_valid |= bit;
                (nets.lrf_flush_mask[p], nets.lrf_flush_slot[p]) = (flush.mask, flush.slot);
                nets.lrf_flush_reg[p] = flush.reg;
            }
            nets.lrf_clean[p] = lrf.clean();
            nets.lrf_event[p] = self.lrf_counts(lrf, straps, p).word();
            let (hit, value) = lrf.land();
            nets.lrf_land_hit[sources].copy_from_slice(hit);
            nets.lrf_land_data[p] = *value;
            if let Some(data) = lrf.spill_data() {
                nets.lrf_spill_data_valid |= bit;
                nets.lrf_spill_data[p] = *data;
            }
            if let Some(data) = lrf.flush_data() {
                nets.lrf_flush_data_valid |= bit;
                nets.lrf_flush_data[p] = *data;
            }
            record(lrf, &mut probe.lrf[p]);
        }
    }

    fn record_fills(&self, probe: &mut RfcProbe) {
        let Some(fills) = &self.fills else { return };
        let nets = &mut probe.nets;
        (nets.fills_fill_valid, nets.fills_busy) = (0, self.fills_are_busy().into());
        (nets.fills_fill_mask, nets.fills_fill_slot, nets.fills_fill_reg) = Default::default();
        for (c, fill) in self.decided.fill.iter().enumerate() {
            nets.fills_fill_data[c] = fill.map_or(WarpData::ZERO, |fill| *fills.data(&fill));
            let Some(fill) = fill else { continue };
            nets.fills_fill_valid |= 1 << c;
            (nets.fills_fill_mask[c], nets.fills_fill_slot[c]) = (fill.mask, fill.slot);
            nets.fills_fill_reg[c] = fill.reg;
        }
        record(&**fills, &mut probe.fills);
    }

    fn record_power(&self, probe: &mut RfcProbe) {
        let Some(power) = &self.power else { return };
        let (nets, decided) = (&mut probe.nets, &self.decided);
        (nets.power_look_valid, nets.power_look_on, nets.power_look_asked) = (0, self.look_on, 0);
        nets.left_q = Default::default();
        for p in set_bits(self.tag_valid_q) {
            let stage = &self.stage[p];
            nets.power_look_valid |= u8::from(self.asking[p].is_some()) << p;
            nets.left_q[OPERANDS * p..][..OPERANDS].copy_from_slice(&stage.left);
            for k in distinct(&Look { src_valid: self.missing[p], ..stage.look }) {
                nets.power_look_asked |= 1 << (OPERANDS * p + k);
            }
        }
        let routes = &decided.routes;
        (nets.results_mrf_valid, nets.results_may) = (decided.offered, routes.may);
        (nets.power_write_valid, nets.power_write_on) = (decided.write_valid, decided.write_on);
        (nets.power_taken, nets.power_read_valid) = (decided.words.taken, self.given.dispatch_ready_i);
        record(&**power, &mut probe.power);
    }

    fn record_mrf(&self, nets: &mut RfcNets) {
        let (given, shown) = (&self.given, &self.shown);
        (nets.mrf_issue_ready, nets.mrf_issue_valid) = (shown.issue_ready_o, given.issue_valid_i);
        nets.mrf_issue_src_valid = given.issue_src_valid_i;
        (nets.mrf_write_valid, nets.mrf_write_ready) = (given.write_valid_i, shown.write_ready_o);
        nets.mrf_write_done = shown.write_done_o;
        nets.mrf_write_base = only(&given.write_base_i, given.write_valid_i);
        (nets.mrf_write_warp, nets.mrf_write_reg, nets.mrf_write_mask) = Default::default();
        for b in set_bits(given.write_valid_i) {
            let write = given.write_i[b];
            (nets.mrf_write_warp[b], nets.mrf_write_reg[b]) = write.register();
            nets.mrf_write_mask[b] = write.mask();
            nets.mrf_write_data[b] = if is_set(self.decided.routes.evict_valid, b) {
                *self.evictions[b].offer_data(self.comes(b))
            } else {
                *self.results.data(b)
            };
        }
        (nets.mrf_dispatch_valid, nets.mrf_dispatch_tag) = (shown.dispatch_valid_o, Default::default());
        nets.mrf_dispatch_src_valid = shown.dispatch_src_valid_o;
        for p in set_bits(shown.dispatch_valid_o) {
            nets.mrf_dispatch_tag[p] = shown.dispatch_tag_o[p] as u8;
            nets.mrf_dispatch_data[OPERANDS * p..][..OPERANDS].copy_from_slice(self.mrf.operands(p));
        }
    }
}

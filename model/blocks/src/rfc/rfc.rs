//! `rfc`: the register file cache in front of the main register file. `docs/blocks/rfc.md`.

mod nets;

pub use nets::{RfcNets, RfcProbe};

use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf};
use crate::rfc::{RfcData, RfcEvictions, RfcOperands, RfcResults, RfcTags};
use crate::shape::{ActiveShape, MAX_ACTIVE};
use crate::{Block, Decode, LANES, Memory, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

pub(crate) const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `rfc_event_t`, most significant first. Others of the SM's event words have the page's names, so these begin with the cache's.
pub const RFC_EVENT: &[(&str, u32)] = &[
    ("rfc_tag_check", 2),
    ("rfc_stall_eviction", 2),
    ("rfc_stall_collector", 2),
    ("rfc_hit", 3),
    ("rfc_partial", 3),
    ("rfc_miss", 3),
    ("rfc_read_groups", 6),
    ("rfc_read_shared_groups", 6),
    ("rfc_mrf_shared_groups", 6),
    ("rfc_write_groups", 5),
    ("rfc_write_shared_groups", 5),
    ("rfc_around_groups", 5),
    ("rfc_around_shared_groups", 5),
    ("rfc_evict_groups", 5),
];

/// Fields of `rfc_count_event_t`, most significant first.
pub const RFC_COUNT_EVENT: &[(&str, u32)] = &[
    ("rfc_write_hit", 2),
    ("rfc_allocate", 2),
    ("rfc_evict", 2),
    ("rfc_dead", 2),
    ("rfc_flush", 2),
    ("rfc_kill", 2),
    ("rfc_marked", 3),
    ("rfc_wait", 2),
    ("rfc_spare", 3),
];

ports! {
    /// Inputs of [`Rfc`].
    pub struct RfcIn(s: &ActiveShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Without write-back.
        drop_i: u64 = field(s.active),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// First row of each slot's warp.
        slot_base_i: [u16; MAX_ACTIVE] = field(s.mrf.entry_w()).count(s.active).valid_by("slot_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: bit 0 order among the reads of a bank, 1 *live*, 2 LRU, 3 *bypass*, 4 *loads*.
        cfg_i: u8 = field(5),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Opaque, comes out at dispatch.
        issue_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Slot of the warp.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Bit 3p+k: source k of port p is a register.
        issue_src_valid_i: u8 = field(s.mrf.sources()),
        /// Register name.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Bit 3p+k: it is the register's last read.
        issue_last_i: u8 = field(s.mrf.sources()),
        /// Register written; 255: none.
        issue_dst_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Long-latency operation.
        issue_long_i: u8 = field(s.ports()),
        /// The result goes around the cache, says the compiler.
        issue_bypass_i: u8 = field(s.ports()),
        /// It goes to a private unit.
        issue_private_i: u8 = field(s.ports()),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// Warp of the result.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Register name of the result.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// It comes from a private unit.
        write_private_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`Rfc`].
    pub struct RfcOut(s: &ActiveShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS)
            .count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early().from(RfcOperands::NAME),
        /// Events: `rfc_event_t`.
        event_o: u64 = field(58).shown(Decode::Packed(RFC_EVENT)),
        /// Events of the MRF: `mrf_event_t`.
        mrf_event_o: u64 = field(50).from(Mrf::NAME).shown(Decode::Packed(MRF_EVENT)),
        /// Nothing is left of slot s.
        flush_done_o: u64 = field(s.active),
        /// Events: `rfc_count_event_t`.
        count_event_o: u32 = field(20).shown(Decode::Packed(RFC_COUNT_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] =
            field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).from(RfcResults::NAME),
        /// The result in latch p is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()).from(RfcResults::NAME),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("write_done_o").from(RfcResults::NAME),
        /// Its register name.
        write_done_reg_o: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("write_done_o").from(RfcResults::NAME),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early().from(RfcOperands::NAME),
        /// Tag as issued.
        dispatch_tag_o: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()).early().from(RfcOperands::NAME),
    }
}

/// Each active slot has entries of one warp register: results go there, operands are looked for there first (RFC paper 3.1, 3.3; hierarchy thesis 5.2, 5.3).
pub struct Rfc {
    data: Vec<RfcData>,
    evictions: Vec<RfcEvictions>,
    results: RfcResults,
    operands: RfcOperands,
    mrf: Mrf,
}

impl Block for Rfc {
    const NAME: &'static str = "rfc";
    const PARAMETERS: &'static [&'static str] =
        &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "Tags", "Active", "Entries"];
    const CHILDREN: &'static [&'static str] = &[
        RfcTags::NAME,
        RfcData::NAME,
        RfcEvictions::NAME,
        RfcResults::NAME,
        RfcOperands::NAME,
        "mrf_bank_map",
        "mrf_write_queue",
        "mrf_collector",
        "mrf_allocator",
        "mrf_arbiter",
        "mrf_bank",
        "mrf_crossbar",
        Mrf::NAME,
    ];

    type Shape = ActiveShape;
    type In = RfcIn;
    type Out = RfcOut;
    type Probe = RfcProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self {
            data: (0..shape.ports()).map(|_| RfcData::new(shape)).collect(),
            evictions: (0..shape.ports()).map(|_| RfcEvictions::new(shape)).collect(),
            results: RfcResults::new(shape),
            operands: RfcOperands::new(shape),
            mrf: Mrf::new(&shape.mrf),
        }
    }

    fn early(&self, _: &mut RfcOut) {}

    fn late(&mut self, _: &RfcIn, _: &mut RfcOut) {}

    fn clock(&mut self, _: &RfcIn, _: &RfcOut) {}

    fn probe(&self, _: &RfcIn, _: &RfcOut, _: &mut RfcProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        for (p, (data, evictions)) in self.data.iter_mut().zip(&mut self.evictions).enumerate() {
            add(&mut all, &format!("gen_cache[{p}].u_data"), data.memories());
            add(&mut all, &format!("gen_cache[{p}].u_evictions"), evictions.memories());
        }
        add(&mut all, "u_results", self.results.memories());
        add(&mut all, "u_operands", self.operands.memories());
        add(&mut all, "u_mrf", self.mrf.memories());
        all
    }
}

/// Adds the memories of the block at `instance`.
fn add<'a>(all: &mut Vec<Memory<'a>>, instance: &str, memories: Vec<Memory<'a>>) {
    all.extend(memories.into_iter().map(|m| Memory { path: format!("{instance}.{}", m.path), ..m }));
}

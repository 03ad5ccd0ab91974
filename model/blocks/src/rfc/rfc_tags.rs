//! `rfc_tags`: what the cache holds, and what makes room. `docs/blocks/rfc_tags.md`.

use crate::shape::{ActiveShape, MAX_ACTIVE, MAX_CACHED};
use crate::{Block, Decode, LANES, OPERANDS, REG_BITS, field, ports};

/// Fields of `rfc_tags_event_t`, most significant first.
pub const RFC_TAGS_EVENT: &[(&str, u32)] = &[
    ("hit", 2),
    ("partial", 2),
    ("miss", 2),
    ("read_groups", 5),
    ("write_hit", 1),
    ("allocate", 1),
    ("write_groups", 4),
    ("evict", 1),
    ("dead", 1),
    ("flush", 1),
    ("evict_groups", 4),
    ("kill", 1),
    ("marked", 2),
    ("wait", 1),
    ("drop", 1),
    ("clean", 1),
    ("look", 1),
];

ports! {
    /// Inputs of [`RfcTags`].
    pub struct RfcTagsIn(s: &ActiveShape) {
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.cache_slots() as u32),
        /// Without write-back.
        drop_i: u64 = field(s.cache_slots() as u32),
        /// Lanes of the instruction in T.
        look_mask_i: u32 = field(LANES).valid_by("look_valid_i"),
        /// Lanes of the result.
        op_mask_i: u32 = field(LANES).valid_by("op_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: bit 0 *live*, bit 1 LRU.
        cfg_i: u8 = field(2),
        /// An instruction is in T.
        look_valid_i: u8 = field(1),
        /// It leaves T at this edge.
        look_move_i: u8 = field(1),
        /// Its slot.
        look_slot_i: u8 = field(s.local_w()).valid_by("look_valid_i"),
        /// Its sources that are registers.
        look_src_valid_i: u8 = field(OPERANDS).valid_by("look_valid_i"),
        /// Their registers.
        look_reg_i: [u8; OPERANDS] = field(REG_BITS).count(OPERANDS).valid_by("look_valid_i"),
        /// Their last reads.
        look_last_i: u8 = field(OPERANDS).valid_by("look_valid_i"),
        /// A result.
        op_valid_i: u8 = field(1),
        /// It has gone around.
        op_kill_i: u8 = field(1).valid_by("op_valid_i"),
        /// Its slot.
        op_slot_i: u8 = field(s.local_w()).valid_by("op_valid_i"),
        /// Its register.
        op_reg_i: u8 = field(REG_BITS).valid_by("op_valid_i"),
        /// An eviction can be taken.
        evict_room_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`RfcTags`].
    pub struct RfcTagsOut(s: &ActiveShape) {
        /// Events: `rfc_tags_event_t`.
        event_o: u32 = field(31).shown(Decode::Packed(RFC_TAGS_EVENT)),
        /// Slots without a dirty lane.
        clean_o: u64 = field(s.cache_slots() as u32).early(),
        /// Lanes of each source that are here.
        hit_mask_o: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Lanes to write back.
        evict_mask_o: u32 = field(LANES).valid_by("evict_valid_o"),
        /// The entry that has them; 0 where no lane is.
        hit_index_o: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS),
        /// The entry that the result goes to; 0 where it goes to none.
        op_index_o: u16 = field(s.index_w()),
        /// The entry to evict.
        evict_index_o: u16 = field(s.index_w()).valid_by("evict_valid_o"),
        /// The read port that serves each source; 0 where no lane is here.
        hit_port_o: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Read ports that read.
        read_o: u8 = field(OPERANDS),
        /// The result is performed at this edge.
        op_ready_o: u8 = field(1),
        /// An eviction begins at this edge.
        evict_valid_o: u8 = field(1),
        /// Its read port.
        evict_port_o: u8 = field(2).valid_by("evict_valid_o"),
        /// Its slot.
        evict_slot_o: u8 = field(s.local_w()).valid_by("evict_valid_o"),
        /// Its register.
        evict_reg_o: u8 = field(REG_BITS).valid_by("evict_valid_o"),
    }
}

ports! {
    /// State of [`RfcTags`].
    pub struct RfcTagsProbe(s: &ActiveShape) {
        /// Valid lanes of each entry.
        valid_q: [u32; MAX_CACHED] = field(LANES).count(s.words()),
        /// Dirty ones.
        dirty_q: [u32; MAX_CACHED] = field(LANES).count(s.words()),
        /// Entries of its slot that were used before it.
        older_q: [u16; MAX_CACHED] = field(s.entries as u32).count(s.words()),
        /// Its register.
        tag_q: [u8; MAX_CACHED] = field(REG_BITS).count(s.words()).valid_by("valid_q"),
        /// The entry that each slot takes next with FIFO.
        next_q: [u8; MAX_ACTIVE] = field(s.entry_number_w()).count(s.cache_slots()),
    }
}

/// Tags, valid lanes and dirty lanes of one cache, replacement and flush.
pub struct RfcTags {
    slots: usize,
    entries: usize,
}

impl Block for RfcTags {
    const NAME: &'static str = "rfc_tags";
    const PARAMETERS: &'static [&'static str] = &["Slots", "Entries"];

    type Shape = ActiveShape;
    type In = RfcTagsIn;
    type Out = RfcTagsOut;
    type Probe = RfcTagsProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self { slots: shape.cache_slots(), entries: shape.entries }
    }

    fn early(&self, _: &mut RfcTagsOut) {}

    fn late(&mut self, _: &RfcTagsIn, _: &mut RfcTagsOut) {}

    fn clock(&mut self, _: &RfcTagsIn, _: &RfcTagsOut) {}

    fn probe(&self, _: &RfcTagsIn, _: &RfcTagsOut, _: &mut RfcTagsProbe) {}
}

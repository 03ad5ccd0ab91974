//! The sizes of the SM, shared by all its blocks.

use crate::config::{Config, HrfConfig, Replacement, Scheduler};
use crate::hierarchy::HierarchyShape;
use crate::hrf::HrfShape;
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS, MrfShape};
use crate::{Shape, WARP_BITS};

/// Capacity of the twins: the largest number of warps.
pub const MAX_WARPS: usize = 48;
/// Numbers that fit into a port for a warp: what is kept for each of them needs no check of the number.
pub(crate) const WARP_NUMBERS: usize = 1 << WARP_BITS;
/// Block slots of an SM.
pub const BLOCK_SLOTS: usize = 16;
/// Sources of the result queue behind the memory pipeline: shared memory, constant memory, lane crossbar, special registers.
pub const SIDE_SOURCES: usize = 4;

/// Sizes of the SM; see `docs/sm.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmShape {
    /// The main register file; its tag is the number of an instruction's place in the operand stage.
    pub mrf: MrfShape,
    /// Slots of the two-level scheduler: even; 0: a single level.
    pub active: usize,
    /// Entries of the register file cache for each slot: 0 to 16; 0: no cache.
    pub entries: usize,
    /// An LRF above the cache.
    pub lrf: bool,
    /// Reads allocate in the cache.
    pub reads: bool,
    /// One warp is active at a time, and even and odd ones take turns; only with two slots.
    pub alternate: bool,
    /// The register file is the hybrid one.
    pub hybrid: Option<HybridShape>,
    /// The register file's idle banks are stolen.
    pub steal: bool,
    /// Entries of the ORF for each slot: 0 to 8; 0: neither ORF nor LRF.
    pub orf_entries: usize,
    /// Banks of the LRF: 0, 1 (unified), 3 (split).
    pub lrf_banks: usize,
    /// Resident warps: even, 8 to 48.
    pub warps: usize,
    /// Instructions of the code memory.
    pub code_words: usize,
    /// Words of 32 bits of the constant memory.
    pub const_words: usize,
    /// Words of 32 bits of shared memory.
    pub shared_words: usize,
    /// Rows of the line table: a power of two.
    pub line_rows: usize,
    /// Places of a result queue, in the block that is meant.
    pub queue_depth: usize,
    /// Sources of a result queue, or of the fault unit, in the block that is meant.
    pub sources: usize,
}

/// Sizes of the hybrid register file's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HybridShape {
    /// Entries of a write buffer: 4 to 64; 0: no buffers.
    pub buffer_entries: usize,
    /// Places of a bank's queue: a power of two, 2 to 16.
    pub loads: usize,
}

/// Places of the result queue behind an ALU or a single precision unit.
pub const ALU_QUEUE_DEPTH: usize = 16;
/// Places of the result queue behind the special function unit.
pub const SFU_QUEUE_DEPTH: usize = 8;
/// Places of the result queue behind the memory pipeline.
pub const SIDE_QUEUE_DEPTH: usize = 32;

impl SmShape {
    /// The shape of a configuration. The result queue is the one behind the memory pipeline.
    pub fn new(config: &Config) -> Self {
        let mut mrf = config.shape();
        mrf.tag_w = width(tags(&mrf, config.rfc.entries));
        Self {
            mrf,
            active: config.sm.active_warps,
            entries: config.rfc.entries,
            lrf: config.rfc.lrf,
            reads: config.rfc.reads,
            alternate: config.sm.alternate,
            hybrid: config
                .hrf
                .stt_ram
                .then_some(HybridShape { buffer_entries: config.hrf.buffer_entries, loads: config.hrf.load_entries }),
            steal: config.steal.present,
            orf_entries: config.orf.entries,
            lrf_banks: config.lrf.banks.banks().into(),
            warps: config.sm.warps,
            code_words: config.sm.code_words,
            const_words: config.sm.const_kilobytes * 256,
            shared_words: config.sm.shared_kilobytes * 256,
            line_rows: config.sm.line_rows,
            queue_depth: SIDE_QUEUE_DEPTH,
            sources: SIDE_SOURCES,
        }
    }

    /// Issue ports, dispatch ports, result buses, ALUs.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Instructions that the operand stage holds at most.
    pub fn tags(&self) -> usize {
        tags(&self.mrf, self.entries)
    }

    /// Slots that there are ports for: one at least.
    pub fn slots(&self) -> usize {
        self.active.max(1)
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.slots()).max(1)
    }

    /// The sizes of what is there for active warps, as far as they are ports of the SM's blocks.
    pub fn of_slots(&self) -> ActiveShape {
        ActiveShape {
            mrf: self.mrf,
            warps: self.warps,
            active: self.slots(),
            entries: self.entries.max(1),
            lrf: self.lrf,
            reads: self.reads,
            steal: self.steal,
        }
    }

    /// The sizes of the hybrid register file, if there is one.
    pub fn of_hybrid(&self) -> Option<HrfShape> {
        self.hybrid.map(|HybridShape { buffer_entries, loads }| HrfShape { mrf: self.mrf, buffer_entries, loads })
    }

    /// Whether the hybrid register file has buffers: then slots are what it has of warps.
    pub fn buffered(&self) -> bool {
        self.hybrid.is_some_and(|hybrid| hybrid.buffer_entries != 0)
    }

    /// Whether the operand stage has the main register file alone.
    pub fn plain(&self) -> bool {
        self.entries == 0 && self.hybrid.is_none()
    }

    /// Whether what becomes of results follows from state alone. With stealing it depends on straps.
    pub fn early_results(&self) -> bool {
        self.plain() && !self.steal
    }

    /// The sizes of ORF and LRF, as far as they are ports of the SM's blocks.
    pub fn of_levels(&self) -> HierarchyShape {
        let (entries, lrf_banks) = (self.orf_entries.max(1), self.lrf_banks);
        HierarchyShape { mrf: self.mrf, warps: self.warps, active: self.slots(), entries, lrf_banks }
    }

    /// The set of all warps.
    pub fn all_warps(&self) -> u64 {
        u64::MAX >> (u64::BITS as usize - self.warps)
    }

    /// The warps of an issue port: all of them, or half of them each, even and odd.
    pub fn own_warps(&self, p: usize) -> u64 {
        own_of(self.all_warps(), p, self.ports())
    }

    /// Width of an address in the code memory.
    pub fn code_w(&self) -> u32 {
        width(self.code_words)
    }

    /// Width of a word's address in the constant memory.
    pub fn const_w(&self) -> u32 {
        width(self.const_words)
    }

    /// Width of a row number of the line table.
    pub fn row_w(&self) -> u32 {
        width(self.line_rows)
    }

    /// Sources of the fault unit: issue ports, ALUs, address unit, line table, barrier unit, launcher.
    pub fn fault_sources(&self) -> usize {
        2 * self.ports() + 4
    }

    /// The same with the sources of the fault unit.
    pub fn with_fault_sources(self) -> Self {
        Self { sources: self.fault_sources(), ..self }
    }

    /// The same with another result queue.
    pub fn with_queue(self, queue_depth: usize, sources: usize) -> Self {
        Self { queue_depth, sources, ..self }
    }
}

/// Instructions in the operand stage at most: those in the T stages of a cache have no collector yet.
fn tags(mrf: &MrfShape, entries: usize) -> usize {
    mrf.collectors + if entries == 0 { 0 } else { 2 * mrf.issue_ports - 1 }
}

/// Capacity of the twins: slots of active warps.
pub const MAX_ACTIVE: usize = MAX_WARPS;
/// Capacity of the twins: entries of the register file cache for each slot.
pub const MAX_ENTRIES: usize = 16;
/// Capacity of the twins: entries of a cache.
pub const MAX_CACHED: usize = MAX_ACTIVE * MAX_ENTRIES;
/// Capacity of the twins: instructions in the operand stage.
pub const MAX_TAGS: usize = MAX_COLLECTORS + 2 * MAX_PORTS - 1;

/// Sizes of what is there for active warps: the two-level scheduler and the register file cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActiveShape {
    /// The main register file; its tag is that of the cache.
    pub mrf: MrfShape,
    /// Resident warps.
    pub warps: usize,
    /// Slots: a multiple of the issue ports.
    pub active: usize,
    /// Entries of the cache for each slot: 1 to 16.
    pub entries: usize,
    /// An LRF above the cache.
    pub lrf: bool,
    /// Reads allocate in the cache.
    pub reads: bool,
    /// The scheduler names candidates for stealing.
    pub steal: bool,
}

impl ActiveShape {
    /// Issue ports, caches, result buses.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Slots of a cache.
    pub fn cache_slots(&self) -> usize {
        (self.active / self.ports()).max(1)
    }

    /// Entries of a cache.
    pub fn words(&self) -> usize {
        self.cache_slots() * self.entries
    }

    /// Instructions that the operand stage holds at most.
    pub fn tags(&self) -> usize {
        tags(&self.mrf, self.entries)
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.active).max(1)
    }

    /// Width of the number of a slot within its cache.
    pub fn local_w(&self) -> u32 {
        width(self.cache_slots()).max(1)
    }

    /// Width of the number of an entry of a cache.
    pub fn index_w(&self) -> u32 {
        width(self.words()).max(1)
    }

    /// Width of the number of an entry of a slot.
    pub fn entry_number_w(&self) -> u32 {
        width(self.entries).max(1)
    }

    /// Width of the tag of an instruction.
    pub fn tag_w(&self) -> u32 {
        width(self.tags())
    }
}

impl Shape for ActiveShape {
    /// Where the configuration has no slots or no cache, those of the preset `rfc`: a block that is looked at alone is there all the same.
    fn of(config: &Config) -> Self {
        let or = |chosen: usize, preset: usize| if chosen == 0 { preset } else { chosen };
        let mut shape = Self {
            mrf: config.shape(),
            warps: config.sm.warps,
            active: or(config.sm.active_warps, 8),
            entries: or(config.rfc.entries, 6),
            lrf: config.rfc.lrf,
            reads: config.rfc.reads,
            steal: config.steal.present,
        };
        shape.mrf.tag_w = shape.tag_w();
        shape
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Warps" => self.warps as u64,
            "Active" => self.active as u64,
            "Entries" => self.entries as u64,
            "Lrf" => self.lrf.into(),
            "Reads" => self.reads.into(),
            "Steal" => self.steal.into(),
            "Slots" => self.cache_slots() as u64,
            "Tags" => self.tags() as u64,
            _ => self.mrf.parameter(name),
        }
    }
}

/// Those of a set whose numbers modulo the number of issue ports are the port's.
pub(crate) fn own_of(all: u64, p: usize, ports: usize) -> u64 {
    const EVEN: u64 = u64::MAX / 3;
    match (ports, p) {
        (1, 0) => all,
        (1, _) => 0,
        _ => all & EVEN << p,
    }
}

/// Bits that count `n` things from 0.
pub(crate) const fn width(n: usize) -> u32 {
    usize::BITS - (n - 1).leading_zeros()
}

impl Shape for SmShape {
    fn of(config: &Config) -> Self {
        Self::new(config)
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Warps" => self.warps as u64,
            "CodeWords" => self.code_words as u64,
            "ConstWords" => self.const_words as u64,
            "SharedWords" => self.shared_words as u64,
            "Rows" => self.line_rows as u64,
            "QueueDepth" => self.queue_depth as u64,
            "Sources" => self.sources as u64,
            "Active" => self.active as u64,
            "Entries" => self.entries as u64,
            "Lrf" => self.lrf.into(),
            "Reads" => self.reads.into(),
            "Steal" => self.steal.into(),
            "Alternate" => self.alternate.into(),
            "Hybrid" => self.hybrid.is_some().into(),
            "BufferEntries" => self.hybrid.map_or(0, |hybrid| hybrid.buffer_entries as u64),
            "Loads" => self.hybrid.map_or(2, |hybrid| hybrid.loads as u64),
            "OrfEntries" => self.orf_entries as u64,
            "LrfBanks" => self.lrf_banks as u64,
            _ => self.mrf.parameter(name),
        }
    }
}

/// What the straps of the SM's blocks are tied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Straps {
    /// `operand_stage`, `mrf`: order among the reads of a bank.
    pub read_order: u8,
    /// `warp_scheduler`: 0 loose round-robin, 1 greedy then oldest. Of `two_level_scheduler` bit 0.
    pub scheduler: u8,
    /// `result_queue` behind an ALU: latency. The result is made in the cycle after dispatch.
    pub alu_latency: u8,
    /// `result_queue` behind the memory pipeline: latency. It takes three cycles to get there.
    pub side_latency: u8,
    /// `shared_memory`: 0: 128 bytes a cycle, 1: 64, 2: 32.
    pub shared_bandwidth: u8,
    /// `result_queue` behind a single precision unit: latency. The result is made three cycles after dispatch.
    pub fp_latency: u8,
    /// `result_queue` behind the special function unit: latency. The result is made seven cycles after dispatch.
    pub sfu_latency: u8,
    /// `rfc`, bits 4 to 1: bit 0 *live*, bit 1 LRU, bit 2 *bypass*, bit 3 *loads*. Of `hrf` bits 3 to 0: write latency of a bank.
    pub cache: u8,
    /// `steal`, bits 3 to 1: bit 0 *read stealing*, bit 1 *write stealing*, bit 2 *eager*.
    pub steal: u8,
    /// `hrf`, bits 16 to 4: read latency of a bank less 1 (2 bits), powered entries in fours (4; 0: no power gating), cycles to wake (4), cycles to sleep (3).
    pub hybrid: u16,
    /// `two_level_scheduler`: a warp leaves at its end only.
    pub stay: bool,
    /// `two_level_scheduler`, `alternating_scheduler`: instructions that an active warp may issue while a pending one is ready.
    pub patience: u16,
}

impl Straps {
    /// Those of a configuration.
    pub fn of(config: &Config) -> Self {
        let sm = &config.sm;
        Self {
            read_order: config.straps(),
            scheduler: match sm.scheduler {
                Scheduler::RoundRobin => 0,
                Scheduler::GreedyThenOldest => 1,
            },
            alu_latency: sm.alu_latency as u8 - 1,
            side_latency: sm.shared_latency as u8 - 3,
            shared_bandwidth: (128 / sm.shared_bandwidth).ilog2() as u8,
            fp_latency: (sm.alu_latency as u8).saturating_sub(3).max(1),
            sfu_latency: sm.sfu_latency as u8 - 7,
            cache: if config.hrf.stt_ram {
                config.hrf.write_latency as u8
            } else {
                u8::from(config.rfc.live)
                    | u8::from(config.rfc.replacement == Replacement::Lru) << 1
                    | u8::from(config.rfc.bypass) << 2
                    | u8::from(config.rfc.loads) << 3
            },
            hybrid: if config.hrf.stt_ram { hybrid(&config.hrf) } else { 0 },
            steal: config.steal.straps(),
            stay: sm.stay,
            patience: sm.patience as u16,
        }
    }

    /// Those of the operand stage.
    #[inline]
    pub fn provider(&self) -> u32 {
        u32::from(self.read_order) | self.hrf() << 1 | u32::from(self.steal) << 18
    }

    /// Those of `steal`.
    #[inline]
    pub fn steal(&self) -> u8 {
        self.read_order | self.steal << 1
    }

    /// Those of `rfc`.
    #[inline]
    pub fn rfc(&self) -> u8 {
        self.read_order | self.cache << 1
    }

    /// Those of `hrf`.
    #[inline]
    fn hrf(&self) -> u32 {
        u32::from(self.cache) | u32::from(self.hybrid) << 4
    }

    /// Those of `two_level_scheduler`.
    #[inline]
    pub fn two_level(&self) -> u16 {
        u16::from(self.scheduler) | u16::from(self.stay) << 1 | self.patience << 2
    }

    /// What `cfg_i` of a block is tied to, where it has one. The result queue is the one behind the memory pipeline.
    pub fn of_block(&self, block: &str) -> u64 {
        match block {
            "sm" => self.word(),
            "warp_scheduler" => self.scheduler.into(),
            "result_queue" => self.side_latency.into(),
            "shared_memory" => self.shared_bandwidth.into(),
            "two_level_scheduler" => self.two_level().into(),
            "alternating_scheduler" => self.patience.into(),
            "operand_stage" => self.provider().into(),
            "rfc" => self.rfc().into(),
            "steal" | "steal_arbiter" => self.steal().into(),
            "hrf" => self.hrf().into(),
            "hrf_bank" => (self.hrf() & 0x3f).into(),
            "hrf_reads" => (self.hybrid & 0b11).into(),
            "hrf_power" => (self.hybrid >> 2).into(),
            "rfc_tags" => (self.cache & 3).into(),
            "rfc_lrf" => (self.cache & 1).into(),
            _ => self.read_order.into(),
        }
    }

    /// Those in a word that [`word`](Self::word) gave.
    #[inline]
    pub fn of_word(word: u64) -> Self {
        let latency = |low: u32| (word >> low & 0x3f) as u8;
        Self {
            read_order: (word & 1) as u8,
            scheduler: (word >> 1 & 1) as u8,
            alu_latency: latency(2),
            side_latency: latency(8),
            shared_bandwidth: (word >> 14 & 3) as u8,
            fp_latency: latency(16),
            sfu_latency: latency(22),
            cache: (word >> 28 & 0xf) as u8,
            stay: word >> 32 & 1 == 1,
            patience: (word >> 33 & 0xfff) as u16,
            hybrid: (word >> 45 & 0x1fff) as u16,
            steal: (word >> 58 & 0b111) as u8,
        }
    }

    /// The straps in one word, as the SM's `cfg_i` has them: read order, scheduler, latencies of ALU and memory pipeline (6 bits each),
    /// bandwidth (2 bits), latencies of single precision and special functions (6 bits each), the cache's (4 bits), stay, patience (12 bits),
    /// the hybrid file's (13 bits), bank stealing's (3 bits), lowest first.
    pub fn word(&self) -> u64 {
        u64::from(self.read_order)
            | u64::from(self.scheduler) << 1
            | u64::from(self.alu_latency) << 2
            | u64::from(self.side_latency) << 8
            | u64::from(self.shared_bandwidth) << 14
            | u64::from(self.fp_latency) << 16
            | u64::from(self.sfu_latency) << 22
            | u64::from(self.cache) << 28
            | u64::from(self.stay) << 32
            | u64::from(self.patience) << 33
            | u64::from(self.hybrid) << 45
            | u64::from(self.steal) << 58
    }
}

/// Bits 16 to 4 of the straps of `hrf`.
fn hybrid(config: &HrfConfig) -> u16 {
    let powered = if config.gating { config.powered_entries / 4 } else { 0 };
    ((config.read_latency - 1) | powered << 2 | config.wake_cycles << 6 | config.sleep_cycles << 10) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Start;

    #[test]
    fn straps_are_where_the_page_says() {
        let straps = |settings: &[&str]| {
            let config = Config::load(Start::Preset("baseline"), settings).expect("a configuration");
            Straps::of(&config).word()
        };
        let straps = |settings: &[&str]| straps(settings) & !(0xfff << 33) | (straps(settings) >> 33 ^ 2048) << 33;
        assert_eq!(straps(&[]), 13 << 22 | 5 << 16 | 17 << 8 | 7 << 2 | 0b10);
        for (alu, fp) in [(2, 1), (3, 1), (4, 1), (5, 2), (16, 13)] {
            assert_eq!(straps(&[&format!("sm.alu_latency={alu}")]) >> 16 & 0x3f, fp);
        }
        let config = Config::load(Start::Preset("baseline"), &["sm.shared_bandwidth=64"]).expect("a configuration");
        assert_eq!(Straps::of_word(Straps::of(&config).word()), Straps::of(&config));
        assert_eq!(straps(&["sm.sfu_latency=8"]) >> 22, 1);
        assert_eq!(straps(&["rfc.live=true", "rfc.bypass=true", "sm.stay=true"]) >> 28, 0b1_0101);
        assert_eq!(straps(&["rfc.replacement=lru", "rfc.loads=true", "sm.patience=2049"]) >> 28, 0b10_1010);
        let config = Config::load(Start::Preset("rfc-all"), &["rfc.live=true"]).expect("a configuration");
        let straps_of = Straps::of(&config);
        assert_eq!((straps_of.of_block("rfc_tags"), straps_of.of_block("rfc")), (1, 0b1_0010));
        assert_eq!(straps_of.of_block("two_level_scheduler"), 2048 << 2 | 0b11);
        assert_eq!(Straps::of_word(straps_of.word()), straps_of);
        let set = ["hrf.read_latency=3", "hrf.powered_entries=20", "hrf.wake_cycles=9", "hrf.sleep_cycles=6"];
        let config = Config::load(Start::Preset("hrf-pg"), &set).expect("a configuration");
        let straps_of = Straps::of(&config);
        let hrf = 6 << 14 | 9 << 10 | 5 << 6 | 2 << 4 | 4;
        assert_eq!((straps_of.of_block("hrf"), straps_of.of_block("operand_stage")), (hrf, hrf << 1));
        assert_eq!((straps_of.word() >> 28 & 0xf, straps_of.word() >> 45), (4, hrf >> 4));
        assert_eq!((straps_of.of_block("hrf_bank"), straps_of.of_block("hrf_reads")), (2 << 4 | 4, 2));
        assert_eq!((straps_of.of_block("hrf_power"), straps_of.of_block("alternating_scheduler")), (hrf >> 6, 2048));
        assert_eq!(Straps::of_word(straps_of.word()), straps_of);
        let config = Config::load(Start::Preset("steal-8"), &["mrf.read_order=round_robin"]).expect("a configuration");
        let straps_of = Straps::of(&config);
        assert_eq!((straps_of.of_block("steal"), straps_of.of_block("operand_stage")), (0b0111, 0b011 << 18 | 1));
        assert_eq!((straps_of.word() >> 58, straps_of.of_block("steal_arbiter")), (0b011, 0b0111));
        assert_eq!(Straps::of_word(straps_of.word()), straps_of);
        let config = Config::load(Start::Preset("steal-read-8"), &["steal.eager=true"]).expect("a configuration");
        assert_eq!(Straps::of(&config).word() >> 58, 0b101);
        assert_eq!(straps(&["sm.sfu_latency=32", "sm.shared_bandwidth=32"]) >> 14, 25 << 8 | 5 << 2 | 2);
    }
}

//! The sizes of the SM, shared by all its blocks.

use crate::config::{CheckRule, Config, Gather, Reference, Replacement, Scheduler};
use crate::design::{DesignCfg, Services};
use crate::designs::{DESIGNS, Organisation};
use crate::mrf::MrfShape;
use crate::sizes::{StageSizes, own_of, width};
use crate::{Declaration, LANES, Shape, Wide};

/// Block slots of an SM.
pub const BLOCK_SLOTS: usize = 16;
/// Width of a block slot's number.
pub const SLOT_BITS: u32 = width(BLOCK_SLOTS);
/// Sources of the result queue after the memory pipeline: shared memory, constant memory, lane crossbar, special registers.
pub const SIDE_SOURCES: usize = 3;
/// Sources of the result queue after the constant unit.
pub const CONSTANT_SOURCES: usize = 2;

/// Sizes of the SM; see `docs/sm.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmShape {
    /// The main register file; its tag is the number of an instruction's place in the operand stage.
    pub mrf: MrfShape,
    /// Slots of the two-level scheduler: even; 0: a single level.
    pub active: usize,
    /// One warp is active at a time, and even and odd ones take turns; only with two slots.
    pub alternate: bool,
    /// The design of the register file, with its sizes.
    pub organisation: Organisation,
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
    /// Entries of a warp in the access table; 0: registers have no power states.
    pub power_entries: usize,
    /// What blocks may share.
    pub share: Shared,
    /// Cycles of a period of the throttle of non-owners; 0: there is none.
    pub throttle: usize,
    /// What the throttle compares the SM's stalls with.
    pub reference: Reference,
    /// Lines of the data cache; 0: there is none.
    pub cache_lines: usize,
    /// Lines of a set of it.
    pub cache_ways: usize,
    /// Requests of it that wait for an answer, at most.
    pub cache_misses: usize,
}

/// What blocks may share, by the value of the SM's parameter `Share`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shared {
    /// Nothing.
    #[default]
    Nothing = 0,
    /// Registers.
    Registers = 1,
    /// Scratchpad memory.
    Scratchpad = 2,
}

/// Cycles of a period of the throttle where it is run alone and the configuration has none: so few that the level changes often.
const PERIOD_ALONE: usize = 16;

/// Sizes of the data cache where its blocks are run alone and the configuration has none: so small that lines make room and misses fill up often.
const LINES_ALONE: usize = 16;
const WAYS_ALONE: usize = 4;
const MISSES_ALONE: usize = 8;
/// Words of 32 bits of a row of unified memory.
const WORDS_PER_ROW: usize = 128;
/// Places of the result queue after an ALU or a single precision unit.
pub const ALU_QUEUE_DEPTH: usize = 16;
/// Places of the result queue after the special function unit.
pub const SFU_QUEUE_DEPTH: usize = 8;
/// Places of the result queue after the constant unit.
pub const CONSTANT_QUEUE_DEPTH: usize = 16;
/// Places of the result queue after the memory pipeline.
pub const SIDE_QUEUE_DEPTH: usize = 32;
/// Places of the result queue for hits of the data cache.
pub const HIT_QUEUE_DEPTH: usize = 32;

impl Config {
    /// The shape of the SM.
    pub fn sm_shape(&self) -> SmShape {
        SmShape::new(self)
    }
}

impl SmShape {
    /// The shape of a configuration. The result queue is the one after the memory pipeline.
    pub fn new(config: &Config) -> Self {
        let organisation = Organisation::of(config);
        let mut mrf = config.shape();
        mrf.tag_w = width(tags(&mrf, organisation));
        Self {
            mrf,
            active: config.sm.active_warps,
            alternate: config.sm.alternate,
            organisation,
            warps: config.sm.warps,
            code_words: config.sm.code_words,
            const_words: config.sm.const_kilobytes * 256,
            shared_words: if mrf.unified { mrf.depth * WORDS_PER_ROW } else { config.sm.shared_kilobytes * 256 },
            line_rows: config.sm.line_rows,
            queue_depth: SIDE_QUEUE_DEPTH,
            sources: SIDE_SOURCES,
            power_entries: if config.power.present { config.power.table_entries } else { 0 },
            share: config.share.shared(),
            throttle: if config.share.present { config.share.throttle } else { 0 },
            reference: config.share.reference,
            cache_lines: config.cache.lines(),
            cache_ways: config.cache.ways,
            cache_misses: config.cache.misses,
        }
    }

    /// Issue ports, dispatch ports, result buses, ALUs.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Instructions that the operand stage holds at most.
    pub fn tags(&self) -> usize {
        tags(&self.mrf, self.organisation)
    }

    /// Slots that there are ports for: one at least.
    pub fn slots(&self) -> usize {
        self.active.max(1)
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.slots()).max(1)
    }

    /// What the shape of its register file follows from.
    pub fn stage_sizes(&self) -> StageSizes {
        StageSizes { mrf: self.mrf, warps: self.warps, slots: self.slots() }
    }

    /// What the register file asks of the SM.
    pub fn services(&self) -> &'static Services {
        &self.organisation.design().services
    }

    /// Registers are handed out one by one.
    pub fn places(&self) -> bool {
        self.organisation.has_places()
    }

    /// Blocks may share something.
    pub fn shares(&self) -> bool {
        self.share != Shared::Nothing
    }

    /// Blocks may share scratchpad memory.
    pub fn shares_scratchpad(&self) -> bool {
        self.share == Shared::Scratchpad
    }

    /// Cycles of a period of the throttle: the block can be run alone in any configuration.
    pub fn period(&self) -> usize {
        if self.throttle == 0 { PERIOD_ALONE } else { self.throttle }
    }

    /// The SM has a throttle that compares its stalls with those of another one.
    pub fn has_external_reference(&self) -> bool {
        self.throttle != 0 && self.reference == Reference::External
    }

    /// One set of banks has registers, scratchpad memory and the lines of the data cache.
    pub fn unified(&self) -> bool {
        self.mrf.unified
    }

    /// The same with a shared memory that has nothing in it, where unified memory is in its place.
    pub fn without_shared_memory(self) -> Self {
        Self { shared_words: if self.unified() { LANES } else { self.shared_words }, ..self }
    }

    /// The same for the blocks that do not see what ports the banks of unified memory have: the launcher and those of the cache.
    pub fn with_shared_ports(mut self) -> Self {
        self.mrf.separate = false;
        self
    }

    /// There is a data cache.
    pub fn caches(&self) -> bool {
        self.cache_lines != 0
    }

    /// Lines of the data cache, of a small one where there is none: its blocks can be run alone in any configuration.
    pub fn lines(&self) -> usize {
        if self.caches() { self.cache_lines } else { LINES_ALONE }
    }

    /// Lines of a set, likewise.
    pub fn ways(&self) -> usize {
        if self.caches() { self.cache_ways } else { WAYS_ALONE }
    }

    /// Requests that wait for an answer, likewise.
    pub fn misses(&self) -> usize {
        if self.caches() { self.cache_misses } else { MISSES_ALONE }
    }

    /// Sets of the data cache.
    pub fn sets(&self) -> usize {
        self.lines() / self.ways()
    }

    /// Width of an entry of the data cache.
    pub fn line_entry_w(&self) -> u32 {
        width(self.lines())
    }

    /// Width of the number of a way.
    pub fn way_w(&self) -> u32 {
        width(self.ways()).max(1)
    }

    /// Width of the number of a miss.
    pub fn miss_w(&self) -> u32 {
        width(self.misses())
    }

    /// The module of the scheduler.
    pub fn scheduler(&self) -> &'static str {
        match (self.active, self.alternate) {
            (0, _) => "warp_scheduler",
            (_, false) => "two_level_scheduler",
            (_, true) => "alternating_scheduler",
        }
    }

    /// The sizes of the two-level scheduler.
    pub fn of_slots(&self) -> ActiveShape {
        let candidates = self.services().takes_candidates;
        ActiveShape { mrf: self.mrf, warps: self.warps, active: self.slots(), candidates }
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
        2 * self.ports() + 5
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

/// Instructions in the operand stage at most. Those in the design's front stages have no collector yet.
fn tags(mrf: &MrfShape, organisation: Organisation) -> usize {
    mrf.collectors + (organisation.design().services.front_places)(mrf.issue_ports)
}

/// Sizes of the two-level scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActiveShape {
    /// The main register file.
    pub mrf: MrfShape,
    /// Resident warps.
    pub warps: usize,
    /// Slots: a multiple of the issue ports.
    pub active: usize,
    /// The scheduler names candidates.
    pub candidates: bool,
}

impl ActiveShape {
    /// Issue ports.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.active).max(1)
    }
}

impl Shape for ActiveShape {
    /// Where the configuration has no slots, eight of them: the block can be run alone in any configuration.
    fn of(config: &Config) -> Self {
        let shape = SmShape::new(config);
        Self { active: if shape.active == 0 { 8 } else { shape.active }, ..shape.of_slots() }
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Warps" => self.warps as u64,
            "Active" => self.active as u64,
            "Candidates" => self.candidates.into(),
            _ => self.mrf.parameter(name),
        }
    }
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
            "Alternate" => self.alternate.into(),
            "Organisation" => self.organisation.number().into(),
            "Sizes" => self.organisation.sizes().into(),
            "PairedRows" => self.services().pairs_rows.into(),
            "MaxRegisters" => self.services().max_registers as u64,
            "Candidates" => self.services().takes_candidates.into(),
            "Places" => self.places().into(),
            "Share" => self.share as u64,
            "Shares" => self.shares_scratchpad().into(),
            "Classes" => self.shares().into(),
            "Throttle" => self.throttle as u64,
            "Period" => self.period() as u64,
            "Reference" => self.reference as u64,
            "Taken" => self.services().reports_taken.into(),
            "Lines" => self.lines() as u64,
            "Ways" => self.ways() as u64,
            "Misses" => self.misses() as u64,
            "CacheLines" => self.cache_lines as u64,
            "CacheWays" => self.cache_ways as u64,
            "CacheMisses" => self.cache_misses as u64,
            "HitQueueDepth" => HIT_QUEUE_DEPTH as u64,
            "PowerEntries" => self.power_entries as u64,
            // One at least: the block can be run alone in any configuration.
            "TableEntries" => self.power_entries.max(1) as u64,
            _ => self.mrf.parameter(name),
        }
    }
}

/// What the straps of the SM's blocks are tied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Straps {
    /// `warp_scheduler`: 0 loose round-robin, 1 greedy then oldest. Of `two_level_scheduler` bit 0.
    pub scheduler: u8,
    /// `result_queue` after an ALU: latency. The result is made in the cycle after dispatch.
    pub alu_latency: u8,
    /// `result_queue` after the memory pipeline: latency. It takes three cycles to get there.
    pub side_latency: u8,
    /// `shared_memory`: 0: 128 bytes a cycle, 1: 64, 2: 32.
    pub shared_bandwidth: u8,
    /// `result_queue` after a single precision unit, and after the constant unit: latency. The result is made two cycles after dispatch.
    pub fp_latency: u8,
    /// `result_queue` after the special function unit: latency. The result is made seven cycles after dispatch.
    pub sfu_latency: u8,
    /// `two_level_scheduler`: a warp leaves at its end only.
    pub stay: bool,
    /// `two_level_scheduler`: a slot is free as soon as its warp has left it.
    pub handover: bool,
    /// `two_level_scheduler`, `alternating_scheduler`: instructions that an active warp may issue while a pending one is ready.
    pub patience: u16,
    /// `power_states`: mode and wake-up latencies, as on its `cfg_i`.
    pub power: u16,
    /// `share_locks`: who gets a lock, whether atomic operations wait, whether owners are preferred, as on its `cfg_i`.
    pub share: u8,
    /// `scratchpad_locks`: nothing is probed. Its other straps are those of `share_locks`.
    pub share_mark: bool,
    /// `block_launcher`: block slots at most.
    pub blocks: u8,
    /// The data cache: first in, first out.
    pub cache_fifo: bool,
    /// The data cache: a store of all bytes of a line that is not there takes a place for it.
    pub cache_full_stores: bool,
    /// The data cache: loads whose hints say so pass it by.
    pub cache_hints: bool,
    /// `unified_shared`: a cluster combines its bytes from several of its banks.
    pub gather_aggressive: bool,
    /// The register file: order among the reads of a bank, and the design's own straps.
    pub design: DesignCfg,
}

/// Width of `cfg_i` of the SM: `sm_straps_t`.
pub const SM_CFG_BITS: u32 = 64;

impl Straps {
    /// Those of a configuration.
    pub fn of(config: &Config) -> Self {
        let sm = &config.sm;
        let straps = (Organisation::of(config).design().straps)(config);
        Self {
            scheduler: match sm.scheduler {
                Scheduler::RoundRobin => 0,
                Scheduler::GreedyThenOldest => 1,
            },
            alu_latency: sm.alu_latency as u8 - 1,
            side_latency: sm.shared_latency as u8 - 3,
            shared_bandwidth: (128 / sm.shared_bandwidth).ilog2() as u8,
            fp_latency: sm.alu_latency as u8 - 2,
            sfu_latency: sm.sfu_latency as u8 - 7,
            stay: sm.stay,
            handover: sm.handover,
            patience: sm.patience as u16,
            power: config.power_straps().word(),
            share: config.share_straps().word(),
            share_mark: config.share.check == CheckRule::Mark,
            blocks: sm.blocks as u8,
            cache_fifo: config.cache.replacement == Replacement::Fifo,
            cache_full_stores: config.cache.full_stores,
            cache_hints: config.cache.hints,
            gather_aggressive: config.unified.gather == Gather::Aggressive,
            design: DesignCfg { read_order: config.straps(), straps },
        }
    }

    /// Those of `cache`: the latency of hits, and above it replacement, full stores and hints. A hit has the latency of shared memory, and takes a cycle
    /// more to get to its queue.
    #[inline]
    pub fn cache(&self) -> u16 {
        u16::from(self.hit_latency())
            | u16::from(self.cache_fifo) << 6
            | u16::from(self.cache_full_stores) << 7
            | u16::from(self.cache_hints) << 8
    }

    /// Those of `unified_shared`: those of `shared_memory`, and above them the rule of gathering.
    #[inline]
    pub fn unified_shared(&self) -> u8 {
        self.shared_bandwidth | u8::from(self.gather_aggressive) << 2
    }

    /// Latency of the queue for hits of the data cache.
    #[inline]
    pub fn hit_latency(&self) -> u8 {
        self.side_latency.wrapping_sub(1) & 0x3f
    }

    /// Those of `scratchpad_locks`.
    #[inline]
    pub fn scratchpad(&self) -> u8 {
        self.share | u8::from(self.share_mark) << 3
    }

    /// Those of `two_level_scheduler`.
    #[inline]
    pub fn two_level(&self) -> u16 {
        u16::from(self.scheduler) | u16::from(self.stay) << 1 | self.patience << 2 | u16::from(self.handover) << 14
    }

    /// Those on the ports `cfg_i` and `design_cfg_i` of the SM.
    #[inline]
    pub fn of_ports(word: u64, design: &Wide<4>) -> Self {
        let latency = |low: u32| (word >> low & 0x3f) as u8;
        Self {
            scheduler: (word >> 1 & 1) as u8,
            alu_latency: (word >> 2 & 0x1f) as u8,
            handover: word >> 7 & 1 == 1,
            side_latency: latency(8),
            shared_bandwidth: (word >> 14 & 3) as u8,
            fp_latency: latency(16),
            sfu_latency: latency(22),
            stay: word >> 28 & 1 == 1,
            patience: (word >> 29 & 0xfff) as u16,
            power: (word >> 41 & 0x3ff) as u16,
            share: (word >> 51 & 7) as u8,
            share_mark: word >> 54 & 1 == 1,
            blocks: (word >> 55 & 0x1f) as u8,
            cache_fifo: word >> 60 & 1 == 1,
            cache_full_stores: word >> 61 & 1 == 1,
            cache_hints: word >> 62 & 1 == 1,
            gather_aggressive: word >> 63 & 1 == 1,
            design: DesignCfg { read_order: (word & 1) as u8, straps: design.to_u128() },
        }
    }

    /// The SM's `cfg_i`, `sm_straps_t`: order of reads, scheduler, latency of the ALU (5 bits), handover, latency of the memory pipeline (6 bits), bandwidth
    /// (2 bits), latencies of single precision and special functions (6 bits each), stay, patience (12 bits), power states (10 bits),
    /// locks (3 bits), marks in the place of probes, block slots (5 bits), replacement, full stores and hints of the cache, gathering, lowest first.
    pub fn word(&self) -> u64 {
        u64::from(self.design.read_order)
            | u64::from(self.scheduler) << 1
            | u64::from(self.alu_latency) << 2
            | u64::from(self.handover) << 7
            | u64::from(self.side_latency) << 8
            | u64::from(self.shared_bandwidth) << 14
            | u64::from(self.fp_latency) << 16
            | u64::from(self.sfu_latency) << 22
            | u64::from(self.stay) << 28
            | u64::from(self.patience) << 29
            | u64::from(self.power) << 41
            | u64::from(self.share) << 51
            | u64::from(self.share_mark) << 54
            | u64::from(self.blocks) << 55
            | u64::from(self.cache_fifo) << 60
            | u64::from(self.cache_full_stores) << 61
            | u64::from(self.cache_hints) << 62
            | u64::from(self.gather_aggressive) << 63
    }

    /// The SM's `design_cfg_i`.
    pub fn design_word(&self) -> Wide<4> {
        Wide::from_u128(self.design.straps)
    }
}

/// Ports that a configuration ties for a whole run: a block's straps, and those of the register file's design.
pub const STRAP_PORTS: [&str; 2] = ["cfg_i", "design_cfg_i"];

/// What the strap ports that a block has are tied to in a configuration.
pub fn straps_of(declaration: &Declaration, config: &Config) -> Vec<(&'static str, u128)> {
    let [own, design] = STRAP_PORTS;
    let values = [(own, cfg_of_block(config, declaration.block).into()), (design, Straps::of(config).design.straps)];
    values.into_iter().filter(|(port, _)| declaration.signal(port).is_some()).collect()
}

/// What `cfg_i` of a block is tied to in a configuration, where it has one. The result queue is the one after the memory
/// pipeline.
pub fn cfg_of_block(config: &Config, block: &str) -> u64 {
    let straps = Straps::of(config);
    let own = match block {
        "sm" => Some(straps.word()),
        "warp_scheduler" => Some(straps.scheduler.into()),
        "result_queue" => Some(straps.side_latency.into()),
        "shared_memory" => Some(straps.shared_bandwidth.into()),
        "unified_shared" => Some(straps.unified_shared().into()),
        "cache" => Some(straps.cache().into()),
        "cache_tags" => Some(straps.cache_fifo.into()),
        "cache_results" => Some(straps.hit_latency().into()),
        "two_level_scheduler" => Some(straps.two_level().into()),
        "alternating_scheduler" => Some(straps.patience.into()),
        "power_states" => Some(straps.power.into()),
        "share_locks" => Some(straps.share.into()),
        "scratchpad_locks" => Some(straps.scratchpad().into()),
        "block_launcher" => Some(straps.blocks.into()),
        _ => None,
    };
    let read_order = straps.design.read_order;
    let of_design = || DESIGNS.iter().find_map(|d| (d.cfg_of_block)(block, read_order, (d.straps)(config)));
    own.or_else(of_design).unwrap_or(read_order.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::presets;
    use crate::testing::{config, design_straps};

    #[test]
    fn straps_are_where_the_page_says() {
        let straps = |settings: &[&str]| Straps::of(&config("baseline", settings)).word();
        let share = 0b110 | 16 << 4;
        assert_eq!(straps(&[]) >> 51, share);
        assert_eq!(straps(&["sm.blocks=5"]) >> 51, 0b110 | 5 << 4);
        assert_eq!(straps(&["share.lock=first", "share.owner_first=false"]) >> 51, 0b011 | 16 << 4);
        assert_eq!(straps(&["share.hold_atomics=false"]) >> 51, 0b100 | 16 << 4);
        assert_eq!(straps(&["cache.replacement=fifo"]) >> 51, share | 1 << 9);
        assert_eq!(straps(&["cache.full_stores=true"]) >> 51, share | 1 << 10);
        assert_eq!(straps(&["cache.hints=true"]) >> 51, share | 1 << 11);
        let unified = |settings: &[&str]| cfg_of_block(&config("unified-tiny", settings), "sm");
        assert_eq!(unified(&["unified.gather=aggressive"]) ^ unified(&[]), 1 << 63);
        let two_level = |settings: &[&str], block| cfg_of_block(&config("two-level", settings), block);
        for (block, bit) in [("sm", 7), ("two_level_scheduler", 14)] {
            assert_eq!(two_level(&["sm.handover=true"], block) ^ two_level(&[], block), 1 << bit);
        }
        let own = |block: &str| {
            let settings = ["unified.gather=aggressive", "cache.full_stores=true", "sm.shared_bandwidth=64"];
            cfg_of_block(&config("unified-tiny", &settings), block)
        };
        assert_eq!((own("shared_memory"), own("unified_shared"), own("cache")), (1, 0b101, 0b1000_0000 | 16));
        assert_eq!(cfg_of_block(&config("cached", &["cache.hints=true"]), "cache"), 0b1_0000_0000 | 16);
        assert_eq!(straps(&["share.check=mark"]) >> 51, 0b1110 | 16 << 4);
        let power = 0b11 | 1 << 2 | 2 << 6;
        assert_eq!(straps(&[]) >> 41 & 0x3ff, power);
        let without = |settings: &[&str]| straps(settings) ^ share << 51 ^ power << 41 ^ 2048 << 29;
        assert_eq!(without(&["power.mode=sleep_always"]) >> 41, 0b10);
        assert_eq!(without(&["power.mode=hints", "power.wake_sleep=14"]) >> 41, 0b1 | 15 << 2);
        assert_eq!(without(&["power.mode=always_on", "power.wake_off=13"]) >> 41, 0b11 | 15 << 6);
        let straps = without;
        assert_eq!(straps(&[]), 13 << 22 | 6 << 16 | 17 << 8 | 7 << 2 | 0b10);
        for (alu, fp) in [(2, 0), (3, 1), (4, 2), (16, 14)] {
            assert_eq!(straps(&[&format!("sm.alu_latency={alu}")]) >> 16 & 0x3f, fp);
        }
        assert_eq!(straps(&["sm.sfu_latency=8"]) >> 22, 1);
        assert_eq!(straps(&["sm.stay=true"]) >> 28, 1);
        assert_eq!(straps(&["sm.patience=2049"]) >> 28, 0b10);
        assert_eq!(straps(&["sm.sfu_latency=32", "sm.shared_bandwidth=32"]) >> 14, 25 << 8 | 6 << 2 | 2);
        assert_eq!(straps(&["mrf.read_order=round_robin"]) & 1, 1);
    }

    #[test]
    fn straps_come_back_from_the_ports() {
        presets().for_each(|preset| _ = design_straps(&preset.config));
        assert_eq!(design_straps(&config("baseline", &["sm.shared_bandwidth=64"])), 0);
        let two_level = config("two-level", &["sm.stay=true"]);
        assert_eq!(cfg_of_block(&two_level, "two_level_scheduler"), 2048 << 2 | 0b11);
        assert_eq!(cfg_of_block(&config("baseline", &["mrf.read_order=round_robin"]), "operand_stage"), 1);
    }
}

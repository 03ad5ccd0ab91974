//! The register file cache as a design: `docs/designs.md`.

use super::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT, Rfc, RfcProbe};
use crate::config::{Config, Replacement};
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, RegisterFile, Rows, STAGE, Services, Sideband,
    SlotView, WordStates, joined,
};
use crate::mrf::{MrfIn, MrfOut};
use crate::operands::front_places;
use crate::power::POWER_CFG_BITS;
use crate::rfc::RfcShape;
use crate::sizes::StageSizes;
use crate::unified::{Columns, ColumnsFree};
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// Sizes of the cache: `rfc_sizes_t` of `gpurf_pkg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RfcSizes {
    /// Entries for each slot: 1 to 16.
    pub entries: usize,
    /// An LRF above the cache.
    pub lrf: bool,
    /// Reads allocate.
    pub reads: bool,
    /// A result that goes around the cache leaves its latch when the main register file's queue takes it.
    pub release: bool,
    /// Warps whose words have power states; 0: the words have no power states.
    pub power: usize,
}

impl DesignSizes for RfcSizes {
    fn of(config: &Config) -> Self {
        let rfc = &config.rfc;
        let power = if config.power.present { config.sm.warps } else { 0 };
        Self { entries: rfc.entries, lrf: rfc.lrf, reads: rfc.reads, release: rfc.release, power }
    }

    fn word(&self) -> u32 {
        let release = u32::from(self.release) << 14;
        release
            | (self.power as u32) << 7
            | (self.entries as u32) << 2
            | u32::from(self.lrf) << 1
            | u32::from(self.reads)
    }

    fn reads_slot_rows(&self) -> bool {
        true
    }
}

/// `cfg_i` of `rfc`.
#[inline]
fn straps(cfg: DesignCfg) -> u16 {
    u16::from(cfg.read_order) | (cfg.straps as u16) << 1
}

impl Rfc {
    /// The shape of the cache in an SM.
    pub fn shape_in(stage: &StageSizes, sizes: &RfcSizes) -> RfcShape {
        let StageSizes { mrf, warps, slots } = *stage;
        let RfcSizes { entries, lrf, reads, release, power } = *sizes;
        RfcShape { mrf, warps, active: slots, entries, lrf, reads, release, power: power != 0 }
    }
}

impl RegisterFile for Rfc {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: crate::rfc::BLOCKS,
        events: &[RFC_EVENT, RFC_COUNT_EVENT, RFC_EXTRA_EVENT],
        spreads: &[],
        services: Services {
            front_places,
            reads_fields: true,
            keeps_slots: true,
            early_results: false,
            reports_taken: true,
            main_roles: Services::ALL_MAIN,
            keeps_states: true,
            serves_memory: true,
            ..Services::NEUTRAL
        },
        selection: &crate::rfc::config::SELECTION,
        main_preset: "rfc-hw3",
        straps: |config| {
            let rfc = &config.rfc;
            let lru = rfc.replacement == Replacement::Lru;
            let power = if config.power.present { config.power_straps().word() } else { 0 };
            let straps = [rfc.live, lru, rfc.bypass, rfc.loads];
            let power = u128::from(rfc.prompt) << POWER_CFG_BITS | u128::from(power);
            straps.iter().rev().fold(power, |word, &bit| word << 1 | u128::from(bit))
        },
        cfg_of_block: |block, read_order, straps| match block {
            "rfc" => Some(self::straps(DesignCfg { read_order, straps }).into()),
            "rfc_tags" => Some(super::tags_straps(super::cache_straps((straps as u16) << 1)).into()),
            "rfc_lrf" => Some(straps as u64 & 1),
            "rfc_evictions" => Some(super::is_prompt(super::cache_straps((straps as u16) << 1)).into()),
            "rfc_power" => Some(straps as u64 >> 4 & ((1 << POWER_CFG_BITS) - 1)),
            _ => None,
        },
        size_words: |sizes| {
            let [lrf, reads] = [1, 0].map(|bit| sizes >> bit & 1 == 1);
            let entries = format!("{}x", sizes >> 2 & 0x1f);
            let word = |is: bool, word: &'static str| if is { word } else { "" };
            let (release, states) = (word(sizes >> 14 != 0, "release"), word(sizes >> 7 & 0x7f != 0, "states"));
            joined(&[&entries, word(lrf, "LRF"), word(reads, "reads"), release, states], " ")
        },
        legend: "x entries of the register file cache, LRF: one above it, reads: they allocate, release: results leave their latches early, states: the words below have power states",
        policy_words: |block, config, reads| {
            let rfc = &config.rfc;
            let replacement = match rfc.replacement {
                Replacement::Fifo => "FIFO",
                Replacement::Lru => "LRU",
            };
            let live = if rfc.live { "live" } else { "" };
            let word = |is: bool, word: &'static str| if is { word } else { "" };
            let (marks, prompt) = ([word(rfc.bypass, "bypass"), word(rfc.loads, "loads")], word(rfc.prompt, "prompt"));
            let cache = joined(&[replacement, live, marks[0], marks[1], prompt], ", ");
            match block {
                STAGE | "rfc" => Some(format!("{reads}; {cache}")),
                "rfc_tags" => Some(joined(&[replacement, live, prompt], ", ")),
                "rfc_lrf" => Some(live.to_owned()),
                "rfc_evictions" => Some(prompt.to_owned()),
                _ => None,
            }
        },
    };

    type Sizes = RfcSizes;

    fn shape(stage: &StageSizes, sizes: &RfcSizes) -> RfcShape {
        Self::shape_in(stage, sizes)
    }

    fn fields(stage: &StageSizes, sizes: &RfcSizes) -> Vec<Field> {
        RfcProbe::fields(&Self::shape_in(stage, sizes))
    }

    #[inline]
    fn present(&mut self, cfg: DesignCfg, slots: &SlotView<'_>, rows: Rows, shown: &mut MrfOut) {
        let base = |s: usize| rows.first(slots.warp.get(s).copied().unwrap_or_default());
        self.see(straps(cfg), slots, base, shown);
    }

    #[inline]
    fn settle(&mut self, given: &mut MrfIn, side: &Sideband, _: &mut MrfOut) -> Events {
        let straps = straps(side.cfg);
        let mrf = Rfc::late(self, given, straps, &side.power);
        let (event, count, extra) = self.events(straps);
        Events { mrf, design: [event, count.into(), extra] }
    }

    #[inline]
    fn edge<'a>(&mut self, given: &MrfIn, side: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
        Rfc::edge(self, given, &side.fields, straps(side.cfg), write_data);
    }

    #[inline]
    fn show(&self, shown: &mut MrfOut) {
        Rfc::show(self, shown);
    }

    #[inline]
    fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        Rfc::operands(self, p)
    }

    #[inline]
    fn is_quiet(&self, given: &MrfIn, side: &Sideband) -> bool {
        Rfc::is_quiet(self, given, side.power.over)
    }

    fn is_still(&self) -> bool {
        Rfc::is_still(self)
    }

    fn power_events(&self) -> (u64, u16) {
        Rfc::power_events(self)
    }

    fn words_are_still(&self, over: u64) -> bool {
        Rfc::words_are_still(self, over)
    }

    fn record(&self, _: &MrfIn, side: &Sideband, _: &MrfOut, probe: &mut RfcProbe) {
        Rfc::record(self, straps(side.cfg), probe);
    }

    #[inline]
    fn columns(&self) -> Option<&Columns> {
        self.mrf.columns()
    }

    #[inline]
    fn columns_mut(&mut self) -> Option<&mut Columns> {
        self.mrf.columns_mut()
    }

    #[inline]
    fn columns_free(&self) -> ColumnsFree {
        self.mrf.columns_free()
    }

    fn collectors(probe: &RfcProbe) -> CollectorView {
        CollectorView::of(&probe.mrf)
    }

    fn banks(probe: &RfcProbe) -> Option<BankView> {
        Some(BankView::of(&probe.mrf))
    }

    fn word_states(probe: &RfcProbe) -> Option<WordStates<'_>> {
        Some(WordStates { off: &probe.power.off_q, asleep: &probe.power.asleep_q })
    }

    #[inline]
    fn flush_done(&self, _: u64) -> u64 {
        Rfc::flush_done(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::cfg_of_block;
    use crate::testing::{config, design_straps};

    #[test]
    fn straps_are_in_its_own_word() {
        let straps = |settings: &[&str]| design_straps(&config("rfc", settings));
        assert_eq!(straps(&["rfc.live=true", "rfc.bypass=true"]), 0b0101);
        assert_eq!(straps(&["rfc.replacement=lru", "rfc.loads=true"]), 0b1010);
        assert_eq!(straps(&["rfc.prompt=true"]), 1 << 14);
        let prompt = config("rfc", &["rfc.prompt=true", "rfc.replacement=lru"]);
        assert_eq!((cfg_of_block(&prompt, "rfc_tags"), cfg_of_block(&prompt, "rfc_evictions")), (0b110, 1));
        let cache = config("rfc-all", &["rfc.live=true"]);
        design_straps(&cache);
        assert_eq!((cfg_of_block(&cache, "rfc_tags"), cfg_of_block(&cache, "rfc")), (1, 0b1_0010));
        assert_eq!(cfg_of_block(&cache, "two_level_scheduler"), 2048 << 2 | 0b11);
    }
}

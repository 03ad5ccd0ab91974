//! ORF and LRF as a design: `docs/designs.md`.

use super::{HIERARCHY_COUNT_EVENT, HIERARCHY_EVENT, Hierarchy, HierarchyProbe};
use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, RegisterFile, Rows, STAGE, Services, Sideband,
    SlotView, joined,
};
use crate::hierarchy::HierarchyShape;
use crate::mrf::{MrfIn, MrfOut};
use crate::sizes::{MAX_ACTIVE, StageSizes};
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// Sizes of ORF and LRF: `hierarchy_sizes_t` of `gpurf_pkg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HierarchySizes {
    /// Entries of the ORF for each slot: 1 to 8.
    pub entries: usize,
    /// Banks of the LRF: 0, 1 (unified), 3 (split).
    pub lrf_banks: usize,
}

impl DesignSizes for HierarchySizes {
    fn of(config: &Config) -> Self {
        Self { entries: config.orf.entries, lrf_banks: config.lrf.banks.banks().into() }
    }

    fn word(&self) -> u32 {
        (self.entries as u32) << 2 | self.lrf_banks as u32
    }
}

impl Hierarchy {
    /// Its shape in an SM.
    pub fn shape_in(stage: &StageSizes, sizes: &HierarchySizes) -> HierarchyShape {
        let StageSizes { mrf, warps, slots } = *stage;
        HierarchyShape { mrf, warps, active: slots, entries: sizes.entries, lrf_banks: sizes.lrf_banks }
    }
}

impl RegisterFile for Hierarchy {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: crate::hierarchy::BLOCKS,
        events: &[HIERARCHY_EVENT, HIERARCHY_COUNT_EVENT],
        spreads: &[],
        services: Services { reads_fields: true, ..Services::NEUTRAL },
        selection: &crate::hierarchy::config::SELECTION,
        main_preset: "lrf-orf-split",
        straps: |_| 0,
        cfg_of_block: |_, _, _| None,
        size_words: |sizes| format!("{}o {}l", sizes >> 2, sizes & 0b11),
        legend: "o entries of the ORF, l banks of the LRF",
        policy_words: |block, config, reads| {
            let orf = &config.orf;
            let steps = [
                reads,
                if orf.partial_ranges { "" } else { "no partial ranges" },
                if orf.read_operands { "" } else { "no read operands" },
                if orf.forward_branches { "" } else { "no forward branches" },
            ];
            (block == STAGE).then(|| joined(&steps, "; "))
        },
    };

    type Sizes = HierarchySizes;

    fn shape(stage: &StageSizes, sizes: &HierarchySizes) -> HierarchyShape {
        Self::shape_in(stage, sizes)
    }

    fn fields(stage: &StageSizes, sizes: &HierarchySizes) -> Vec<Field> {
        HierarchyProbe::fields(&Self::shape_in(stage, sizes))
    }

    #[inline]
    fn present(&mut self, _: DesignCfg, slots: &SlotView<'_>, _: Rows, _: &mut MrfOut) {
        self.see(slots);
    }

    #[inline]
    fn settle(&mut self, given: &mut MrfIn, side: &Sideband, _: &mut MrfOut) -> Events {
        let mrf = Hierarchy::late(self, given, &side.fields, side.cfg.read_order);
        let (event, count) = self.events(&side.fields);
        Events { mrf, design: [event, count, 0] }
    }

    #[inline]
    fn edge<'a>(&mut self, given: &MrfIn, side: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
        Hierarchy::edge(self, given, &side.fields, write_data);
    }

    #[inline]
    fn show(&self, shown: &mut MrfOut) {
        Hierarchy::show(self, shown);
    }

    #[inline]
    fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        Hierarchy::operands(self, p)
    }

    #[inline]
    fn is_quiet(&self, given: &MrfIn, side: &Sideband) -> bool {
        Hierarchy::is_quiet(self, given, &side.fields)
    }

    fn is_still(&self) -> bool {
        Hierarchy::is_still(self)
    }

    fn record(&self, given: &MrfIn, side: &Sideband, _: &MrfOut, probe: &mut HierarchyProbe) {
        Hierarchy::record(self, given, &side.fields, probe);
    }

    fn collectors(probe: &HierarchyProbe) -> CollectorView {
        CollectorView::of(&probe.mrf)
    }

    fn banks(probe: &HierarchyProbe) -> Option<BankView> {
        Some(BankView::of(&probe.mrf))
    }

    #[inline]
    fn flush_done(&self, _: u64) -> u64 {
        Hierarchy::flush_done(self)
    }

    #[inline]
    fn void(&self, _: u64) -> u64 {
        Hierarchy::void(self)
    }

    #[inline]
    fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
        Hierarchy::waits(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{config, design_straps};

    #[test]
    fn it_has_no_straps() {
        assert_eq!(design_straps(&config("lrf-orf-split", &[])), 0);
    }

    #[test]
    fn the_compilers_steps_in_words() {
        let config = config("lrf-orf", &["orf.read_operands=false", "orf.partial_ranges=false"]);
        let words = |block| (Hierarchy::DESIGN.policy_words)(block, &config, "oldest read");
        assert_eq!(words(STAGE).as_deref(), Some("oldest read; no partial ranges; no read operands"));
        assert_eq!(words("hierarchy"), None);
    }
}

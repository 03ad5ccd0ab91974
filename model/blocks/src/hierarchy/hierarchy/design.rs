//! ORF and LRF as a design: `docs/designs.md`.

use super::{HIERARCHY_COUNT_EVENT, HIERARCHY_EVENT, Hierarchy, HierarchyProbe};
use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, RegisterFile, Rows, STAGE, Services, Sideband,
    SlotView, joined,
};
use crate::hierarchy::hierarchy_levels::{has_both, place};
use crate::hierarchy::{HierarchyShape, MAX_ORF_ENTRIES};
use crate::instruction::{Roles, long_latency, marked};
use crate::mrf::{MrfIn, MrfOut};
use crate::sizes::{MAX_ACTIVE, StageSizes};
use crate::unified::{Columns, ColumnsFree};
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// Sizes of ORF and LRF: `hierarchy_sizes_t` of `gpurf_pkg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HierarchySizes {
    /// Entries of the ORF for each slot: 1 to 8.
    pub entries: usize,
    /// Banks of the LRF: 0, 1 (unified), 3 (split).
    pub lrf_banks: usize,
}

impl HierarchySizes {
    /// Decodes the RTL parameter `Sizes`.
    fn of_word(word: u32) -> Self {
        Self { entries: (word >> 2) as usize & 0xf, lrf_banks: word as usize & 0b11 }
    }

    /// Whether the machine has a place.
    fn has(&self, place: u8) -> bool {
        match usize::from(place).checked_sub(MAX_ORF_ENTRIES) {
            None => usize::from(place) < self.entries,
            Some(bank) => bank < self.lrf_banks,
        }
    }
}

/// Service *accesses of the main register file*: without sources that are read above it, and without a result that goes above it alone.
fn main_roles(sizes: u32, roles: Roles, op: u64, ctl: u64) -> Roles {
    let sizes = HierarchySizes::of_word(sizes);
    let level = |low: u32| (ctl >> low) as u8 & ((1 << marked::LEVEL_BITS) - 1);
    let is_above = |level: u8| !has_both(level) && place(level).is_some_and(|place| sizes.has(place));
    let mut above = 0;
    for k in 0..OPERANDS as u32 {
        above |= u8::from(is_above(level(marked::SOURCE_LEVEL + marked::LEVEL_BITS * k))) << k;
    }
    above |= u8::from(is_above(level(marked::RESULT_LEVEL)) && !long_latency(op, roles.d())) << OPERANDS;
    roles.without(above)
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
    /// The shape of the block in an SM.
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
        services: Services {
            reads_fields: true,
            keeps_slots: true,
            main_roles: Some(main_roles),
            serves_memory: true,
            ..Services::NEUTRAL
        },
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
    use crate::instruction::RolesFields;
    use crate::testing::{config, design_straps};

    #[test]
    fn it_has_no_straps() {
        assert_eq!(design_straps(&config("lrf-orf-split", &[])), 0);
    }

    #[test]
    fn what_is_above_the_main_register_file_is_no_register_of_it() {
        let config = config("lrf-orf-split", &[]);
        let sizes = HierarchySizes::of(&config);
        assert_eq!(HierarchySizes::of_word(sizes.word()), sizes);
        let roles = |a, b, c, d| Roles::from(RolesFields { a, b, c, d, p: 7, unit: 1, ..RolesFields::default() });
        let of = |sources: [u64; 3], result: u64, op: u64| {
            let source = |k: usize| sources[k] << (27 + 5 * k);
            let ctl = source(0) | source(1) | source(2) | result << 42;
            main_roles(sizes.word(), roles(1, 2, 3, 4), op, ctl)
        };
        assert_eq!(of([0; 3], 0, 1), roles(1, 2, 3, 4));
        // Entries 0 and 2 of three entries, bank 2 of three banks.
        assert_eq!(of([1, 3, 11], 3, 1), roles(255, 255, 255, 255));
        // Places that do not exist; copies and both levels; numbers that name nothing.
        assert_eq!(of([4, 8, 9 + 3], 4, 1), roles(1, 2, 3, 4));
        assert_eq!(of([17, 18, 19], 25, 1), roles(1, 2, 3, 4));
        assert_eq!(of([1, 17, 16], 9, 1), roles(255, 2, 3, 255));
        // A load of global memory; of shared memory.
        assert_eq!(of([0; 3], 1, 0x40), roles(1, 2, 3, 4));
        assert_eq!(of([0; 3], 1, 0x40 | 1 << 28), roles(1, 2, 3, 255));
    }

    #[test]
    fn the_compilers_steps_in_words() {
        let config = config("lrf-orf", &["orf.read_operands=false", "orf.partial_ranges=false"]);
        let words = |block| (Hierarchy::DESIGN.policy_words)(block, &config, "oldest read");
        assert_eq!(words(STAGE).as_deref(), Some("oldest read; no partial ranges; no read operands"));
        assert_eq!(words("hierarchy"), None);
    }
}

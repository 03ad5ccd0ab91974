//! Bank stealing as a design: `docs/designs.md`.

use super::{STEAL_EVENT, Steal, StealProbe};
use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, ParkingView, RegisterFile, Rows, STAGE, Services,
    Sideband, SlotView, joined, valid_by_nets,
};
use crate::mrf::bits::set_bits;
use crate::mrf::{MrfIn, MrfOut, MrfShape};
use crate::sizes::StageSizes;
use crate::steal::STEAL_PLACE_EVENT;
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// `cfg_i` of `steal`.
#[inline]
fn straps(cfg: DesignCfg) -> u8 {
    cfg.read_order | (cfg.straps as u8 & 0b11_1111) << 1
}

impl RegisterFile for Steal {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: crate::steal::BLOCKS,
        events: &[STEAL_EVENT, STEAL_PLACE_EVENT],
        spreads: &[],
        services: Services { takes_candidates: true, early_results: false, ..Services::NEUTRAL },
        selection: &crate::steal::config::SELECTION,
        main_preset: "steal-8",
        straps: |config| {
            let steal = &config.steal;
            let policies = [steal.read, steal.write, steal.eager, steal.unread, steal.redirect, steal.drop];
            policies.iter().rev().fold(0, |word, &bit| word << 1 | u128::from(bit))
        },
        cfg_of_block: |block, read_order, straps| match block {
            "steal" | "steal_arbiter" => Some(self::straps(DesignCfg { read_order, straps }).into()),
            _ => None,
        },
        size_words: |_| "steal".to_owned(),
        legend: "steal: idle banks are stolen",
        policy_words: |block, config, reads| {
            let steal = &config.steal;
            let kinds = [
                if steal.read { "read stealing" } else { "" },
                if steal.write { "write stealing" } else { "" },
                if steal.eager { "eager" } else { "" },
                if steal.unread { "unread" } else { "" },
                if steal.redirect { "redirect" } else { "" },
                if steal.drop { "drop" } else { "" },
            ];
            let kinds = joined(&kinds, ", ");
            let kinds = if kinds.is_empty() { "no stealing" } else { &kinds };
            matches!(block, STAGE | "steal" | "steal_arbiter").then(|| format!("{reads}; {kinds}"))
        },
    };

    type Sizes = StealSizes;

    fn shape(stage: &StageSizes, _: &StealSizes) -> MrfShape {
        stage.mrf
    }

    fn fields(stage: &StageSizes, _: &StealSizes) -> Vec<Field> {
        StealProbe::fields(&stage.mrf).into_iter().map(valid_by_nets).collect()
    }

    #[inline]
    fn present(&mut self, cfg: DesignCfg, _: &SlotView<'_>, _: Rows, shown: &mut MrfOut) {
        self.see(straps(cfg), shown);
    }

    #[inline]
    fn settle(&mut self, given: &mut MrfIn, side: &Sideband, _: &mut MrfOut) -> Events {
        Steal::late(self, given, &side.candidates);
        let (mrf, event) = self.events(given, &side.candidates);
        Events { mrf, design: [event, self.place_event(), 0] }
    }

    #[inline]
    fn edge<'a>(&mut self, given: &MrfIn, side: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
        Steal::edge(self, given, &side.candidates, write_data);
    }

    #[inline]
    fn show(&self, shown: &mut MrfOut) {
        Steal::show(self, shown);
    }

    #[inline]
    fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        Steal::operands(self, p)
    }

    #[inline]
    fn is_quiet(&self, given: &MrfIn, side: &Sideband) -> bool {
        Steal::is_quiet(self, given, &side.candidates)
    }

    fn is_still(&self) -> bool {
        Steal::is_still(self)
    }

    fn record(&self, given: &MrfIn, side: &Sideband, _: &MrfOut, probe: &mut StealProbe) {
        Steal::record(self, given, &side.candidates, probe);
    }

    fn collectors(probe: &StealProbe) -> CollectorView {
        let &StealProbe { busy, complete, req_valid, grant, dispatch_valid, dispatch_col, .. } = probe;
        CollectorView {
            busy,
            complete,
            wanted: req_valid,
            granted: grant,
            dispatch: dispatch_valid,
            leaving: dispatch_col,
        }
    }

    fn banks(probe: &StealProbe) -> Option<BankView> {
        let &StealProbe { read_valid, bank_write_valid, at_bank, head_valid, head_bank, write_done, .. } = probe;
        Some(BankView {
            read: read_valid,
            written: bank_write_valid,
            wanted: at_bank,
            heads: head_valid,
            head_bank,
            granted: write_done,
        })
    }

    fn parking(probe: &StealProbe) -> ParkingView {
        let &StealProbe { park_valid, park_bank, fetch_valid, fetch_bank, drop, drop_bank, .. } = probe;
        let dropped = set_bits(drop).fold(0u32, |banks, p| banks | 1 << drop_bank[p]);
        ParkingView { parked: park_valid, place: park_bank, left: u32::from(fetch_valid) << fetch_bank | dropped }
    }

    #[inline]
    fn candidate_issue(&self) -> u8 {
        self.steal()
    }
}

/// Stealing has no sizes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StealSizes;

impl DesignSizes for StealSizes {
    fn of(_: &Config) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::cfg_of_block;
    use crate::testing::{config, design_straps};

    #[test]
    fn straps_are_in_its_own_word() {
        let straps = |preset, settings: &[&str]| design_straps(&config(preset, settings));
        assert_eq!((straps("steal-8", &[]), straps("steal-read-8", &["steal.eager=true"])), (0b0011, 0b0101));
        assert_eq!(straps("steal-8", &["steal.unread=true"]), 0b1011);
        assert_eq!(straps("steal-8", &["steal.redirect=true"]), 0b01_0011);
        assert_eq!(straps("steal-8", &["steal.drop=true"]), 0b10_0011);
        design_straps(&config("steal-8", &["mrf.read_order=round_robin", "steal.eager=true"]));
        let stealing = config("steal-8", &["mrf.read_order=round_robin"]);
        let arbiter = cfg_of_block(&stealing, "steal_arbiter");
        assert_eq!((cfg_of_block(&stealing, "steal"), arbiter), (0b0111, 0b0111));
        assert_eq!(cfg_of_block(&stealing, "operand_stage"), 1);
    }

    #[test]
    fn what_is_stolen_in_words() {
        let words = |block, preset| (Steal::DESIGN.policy_words)(block, &config(preset, &[]), "oldest read");
        assert_eq!(words("steal", "steal-8").as_deref(), Some("oldest read; read stealing, write stealing"));
        assert_eq!(words(STAGE, "steal-read-8").as_deref(), Some("oldest read; read stealing"));
        assert_eq!(words("steal_arbiter", "banks-8").as_deref(), Some("oldest read; no stealing"));
    }
}

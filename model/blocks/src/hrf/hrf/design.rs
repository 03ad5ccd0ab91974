//! The hybrid register file as a design: `docs/designs.md`.

use super::{HRF_COUNT_EVENT, HRF_EVENT, Hrf, HrfNets, HrfProbe};
use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, RegisterFile, Rows, STAGE, Services, Sideband,
    SlotView,
};
use crate::hrf::{HrfShape, MAX_BUFFER};
use crate::mrf::{MAX_PORTS, MrfIn, MrfOut};
use crate::sizes::StageSizes;
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// Sizes of the buffers and queues: `hrf_sizes_t` of `gpurf_pkg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HrfSizes {
    /// Entries of a write buffer: 4 to 64; 0: no buffers.
    pub buffer_entries: usize,
    /// Places of a bank's queue: a power of two, 2 to 16.
    pub loads: usize,
}

impl DesignSizes for HrfSizes {
    fn of(config: &Config) -> Self {
        Self { buffer_entries: config.hrf.buffer_entries, loads: config.hrf.load_entries }
    }

    fn word(&self) -> u32 {
        (self.buffer_entries as u32) << 5 | self.loads as u32
    }

    fn reads_slot_rows(&self) -> bool {
        self.buffer_entries != 0
    }
}

/// Width of `hrf_straps_t`, which is `cfg_i` of `hrf`.
const STRAPS: u32 = 17;

impl RegisterFile for Hrf {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: crate::hrf::BLOCKS,
        events: &[HRF_EVENT, HRF_COUNT_EVENT],
        spreads: &[("hrf_period_entries", "hrf_period")],
        services: Services {
            pairs_rows: true,
            max_registers: MAX_BUFFER,
            keeps_slots: true,
            early_results: false,
            ..Services::NEUTRAL
        },
        selection: &crate::hrf::config::SELECTION,
        main_preset: "hrf-pg",
        straps: |config| {
            let hrf = &config.hrf;
            let powered = if hrf.gating { hrf.powered_entries / 4 } else { 0 };
            let power = powered | hrf.wake_cycles << 4 | hrf.sleep_cycles << 8;
            (hrf.write_latency | (hrf.read_latency - 1) << 4 | power << 6) as u128
        },
        cfg_of_block: |block, _, straps| match block {
            "hrf" => Some(straps as u64),
            "hrf_bank" => Some(straps as u64 & 0x3f),
            "hrf_reads" => Some(straps as u64 >> 4 & 0b11),
            "hrf_power" => Some(straps as u64 >> 6),
            _ => None,
        },
        size_words: |sizes| format!("stt-ram {}y {}q", sizes >> 5, sizes & 0x1f),
        legend: "stt-ram: hybrid file, y entries of a write buffer, q places of a bank's queue",
        policy_words: |block, config, _| {
            let hrf = &config.hrf;
            let gating = match (hrf.gating, hrf.powered_entries, hrf.wake_cycles, hrf.sleep_cycles) {
                (false, ..) => "no gating".to_owned(),
                (true, powered, wake, sleep) => format!("{powered} entries powered, wake {wake}, sleep {sleep}"),
            };
            let words = || format!("write {}, read {}; {gating}", hrf.write_latency, hrf.read_latency);
            (block == STAGE || block.starts_with(Self::NAME)).then(words)
        },
    };

    type Sizes = HrfSizes;

    fn shape(stage: &StageSizes, sizes: &HrfSizes) -> HrfShape {
        HrfShape { mrf: stage.mrf, buffer_entries: sizes.buffer_entries, loads: sizes.loads }
    }

    fn fields(stage: &StageSizes, sizes: &HrfSizes) -> Vec<Field> {
        HrfProbe::fields(&<Self as RegisterFile>::shape(stage, sizes))
    }

    #[inline]
    fn present(&mut self, cfg: DesignCfg, slots: &SlotView<'_>, rows: Rows, shown: &mut MrfOut) {
        let base = |s: usize| rows.first(slots.warp[s]);
        let straps = cfg.straps as u32 & ((1 << STRAPS) - 1);
        self.see(straps, if self.buffers.is_some() { slots } else { &SlotView::NONE }, base, shown);
    }

    #[inline]
    fn settle(&mut self, given: &mut MrfIn, _: &Sideband, _: &mut MrfOut) -> Events {
        Hrf::late(self, given);
        let (event, count) = self.events();
        Events { mrf: self.mrf_event(), design: [event, count.into(), 0] }
    }

    #[inline]
    fn edge<'a>(&mut self, given: &MrfIn, _: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
        Hrf::edge(self, given, write_data);
    }

    #[inline]
    fn show(&self, shown: &mut MrfOut) {
        Hrf::show(self, shown);
    }

    #[inline]
    fn operands(&self, _: usize) -> &[WarpData; OPERANDS] {
        Hrf::operands(self)
    }

    #[inline]
    fn is_quiet(&self, given: &MrfIn, _: &Sideband) -> bool {
        Hrf::is_quiet(self, given)
    }

    fn is_still(&self) -> bool {
        Hrf::is_still(self)
    }

    fn record(&self, _: &MrfIn, _: &Sideband, _: &MrfOut, probe: &mut HrfProbe) {
        Hrf::record(self, probe);
    }

    fn collectors(probe: &HrfProbe) -> CollectorView {
        let &HrfNets { busy, complete, req_valid, grant, dispatch_valid, dispatch_col: [collector], .. } = &probe.nets;
        let mut leaving = [0; MAX_PORTS];
        leaving[0] = collector;
        CollectorView { busy, complete, wanted: req_valid, granted: grant, dispatch: dispatch_valid, leaving }
    }

    fn banks(_: &HrfProbe) -> Option<BankView> {
        None
    }

    #[inline]
    fn flush_done(&self, flush: u64) -> u64 {
        if self.buffers.is_some() { Hrf::flush_done(self) } else { flush }
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::cfg_of_block;
    use crate::testing::{config, design_straps};

    #[test]
    fn straps_are_in_its_own_word() {
        let set = ["hrf.read_latency=3", "hrf.powered_entries=20", "hrf.wake_cycles=9", "hrf.sleep_cycles=6"];
        let (hrf, hybrid) = (6 << 14 | 9 << 10 | 5 << 6 | 2 << 4 | 4, config("hrf-pg", &set));
        assert_eq!(design_straps(&hybrid), hrf.into());
        assert_eq!((cfg_of_block(&hybrid, "hrf"), cfg_of_block(&hybrid, "operand_stage")), (hrf, 0));
        assert_eq!((cfg_of_block(&hybrid, "hrf_bank"), cfg_of_block(&hybrid, "hrf_reads")), (2 << 4 | 4, 2));
        let power = cfg_of_block(&hybrid, "hrf_power");
        assert_eq!((power, cfg_of_block(&hybrid, "alternating_scheduler")), (hrf >> 6, 2048));
    }
}

//! The main register file alone, or another file of the same kind, as a design: `docs/designs.md`.

use super::{MrfIn, MrfOut, OperandFile};
use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, RegisterFile, Rows, Sideband, SlotView,
    valid_by_nets,
};
use crate::mrf::MrfShape;
use crate::mrf::storage::Storage;
use crate::sizes::StageSizes;
use crate::unified::{Columns, ColumnsFree};
use crate::{Block, Field, OPERANDS, Ports, WarpData};

/// Sizes of the main register file beyond those in its section of the configuration: `mrf_sizes_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MrfSizes {
    /// Registers are allocated one by one.
    pub places: bool,
}

impl DesignSizes for MrfSizes {
    fn of(config: &Config) -> Self {
        Self { places: config.shape().places }
    }

    fn word(&self) -> u32 {
        self.places.into()
    }
}

impl<S: Storage> RegisterFile for OperandFile<S> {
    const DESIGN: Design = S::DESIGN;

    type Sizes = MrfSizes;

    fn shape(stage: &StageSizes, sizes: &MrfSizes) -> MrfShape {
        MrfShape { places: sizes.places, ..stage.mrf }
    }

    fn fields(stage: &StageSizes, sizes: &MrfSizes) -> Vec<Field> {
        S::Probe::fields(&Self::shape(stage, sizes)).into_iter().map(valid_by_nets).collect()
    }

    #[inline]
    fn present(&mut self, _: DesignCfg, _: &SlotView<'_>, _: Rows, _: &mut MrfOut) {}

    #[inline]
    fn settle(&mut self, given: &mut MrfIn, side: &Sideband, shown: &mut MrfOut) -> Events {
        given.cfg_i = side.cfg.read_order;
        self.decide(given, shown);
        Events { mrf: shown.event_o, ..Events::default() }
    }

    #[inline]
    fn edge<'a>(&mut self, given: &MrfIn, _: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
        Self::edge(self, given, write_data);
    }

    #[inline]
    fn show(&self, shown: &mut MrfOut) {
        Self::show(self, shown);
    }

    #[inline]
    fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        Self::operands(self, p)
    }

    #[inline]
    fn is_quiet(&self, given: &MrfIn, _: &Sideband) -> bool {
        Self::is_quiet(self, given)
    }

    fn is_still(&self) -> bool {
        Self::is_still(self)
    }

    fn record(&self, given: &MrfIn, _: &Sideband, shown: &MrfOut, probe: &mut S::Probe) {
        self.probe(given, shown, probe);
    }

    #[inline]
    fn columns(&self) -> Option<&Columns> {
        Self::columns(self)
    }

    #[inline]
    fn columns_mut(&mut self) -> Option<&mut Columns> {
        Self::columns_mut(self)
    }

    #[inline]
    fn columns_free(&self) -> ColumnsFree {
        Self::columns_free(self)
    }

    fn collectors(probe: &S::Probe) -> CollectorView {
        CollectorView::of(probe.as_ref())
    }

    fn banks(probe: &S::Probe) -> Option<BankView> {
        S::banks(probe.as_ref())
    }
}

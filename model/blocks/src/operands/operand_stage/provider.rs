//! Who answers the operand stage.

use super::{OperandStageProbe, cache_straps};
use crate::hierarchy::Hierarchy;
use crate::hrf::Hrf;
use crate::mrf::{Mrf, MrfIn, MrfOut};
use crate::rfc::{Extra, Rfc};
use crate::shape::SmShape;
use crate::steal::{Steal, StealExtra};
use crate::{Block, Memory, OPERANDS, WarpData};

/// Event words of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// `mrf_event_t`.
    pub mrf: u64,
    /// `rfc_event_t`.
    pub rfc: u64,
    /// `rfc_count_event_t`.
    pub rfc_count: u32,
    /// `rfc_extra_event_t`.
    pub rfc_extra: u64,
    /// `hierarchy_event_t`.
    pub hierarchy: u64,
    /// `hierarchy_count_event_t`.
    pub hierarchy_count: u64,
    /// `hrf_event_t`.
    pub hrf: u64,
    /// `hrf_count_event_t`.
    pub hrf_count: u32,
    /// `steal_event_t`.
    pub steal: u64,
}

/// A register file: the baseline, or a cache or ORF and LRF in front of it, or the hybrid one, or the one whose idle banks are stolen. All are given and show what the baseline is given and shows.
#[expect(clippy::large_enum_variant, reason = "there is one of it, and the baseline is asked in every cycle")]
pub(super) enum Provider {
    Mrf(Mrf),
    Rfc(Box<Rfc>),
    Hrf(Box<Hrf>),
    Hierarchy(Box<Hierarchy>),
    Steal(Box<Steal>),
}

impl Provider {
    pub(super) fn new(shape: &SmShape) -> Self {
        if let Some(hybrid) = shape.of_hybrid() {
            Self::Hrf(Box::new(Hrf::new(&hybrid)))
        } else if shape.entries != 0 {
            Self::Rfc(Box::new(Rfc::new(&shape.of_slots())))
        } else if shape.orf_entries != 0 {
            Self::Hierarchy(Box::new(Hierarchy::new(&shape.of_levels())))
        } else if shape.steal {
            Self::Steal(Box::new(Steal::new(&shape.mrf)))
        } else {
            Self::Mrf(Mrf::new(&shape.mrf))
        }
    }

    #[inline]
    pub(super) fn show(&self, out: &mut MrfOut) {
        match self {
            Self::Mrf(mrf) => mrf.show(out),
            Self::Rfc(rfc) => rfc.show(out),
            Self::Hrf(hrf) => hrf.show(out),
            Self::Hierarchy(hierarchy) => hierarchy.show(out),
            Self::Steal(file) => file.show(out),
        }
    }

    #[inline]
    pub(super) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        match self {
            Self::Mrf(mrf) => mrf.operands(p),
            Self::Rfc(rfc) => rfc.operands(p),
            Self::Hrf(hrf) => hrf.operands(),
            Self::Hierarchy(hierarchy) => hierarchy.operands(p),
            Self::Steal(file) => file.operands(p),
        }
    }

    #[inline]
    pub(super) fn late(
        &mut self,
        given: &mut MrfIn,
        extra: &Extra,
        told: &StealExtra,
        straps: u32,
        shown: &mut MrfOut,
    ) -> Events {
        match self {
            Self::Mrf(mrf) => {
                given.cfg_i = cache_straps(straps) & 1;
                mrf.late(given, shown);
                Events { mrf: shown.event_o, ..Events::default() }
            }
            Self::Rfc(rfc) => {
                let straps = cache_straps(straps);
                let mrf = rfc.late(given, straps);
                let (rfc, rfc_count, rfc_extra) = rfc.events(straps);
                Events { mrf, rfc, rfc_count, rfc_extra, ..Events::default() }
            }
            Self::Hrf(file) => {
                file.late(given);
                let (hrf, hrf_count) = file.events();
                Events { mrf: file.mrf_event(), hrf, hrf_count, ..Events::default() }
            }
            Self::Hierarchy(inner) => {
                let mrf = inner.late(given, extra, cache_straps(straps));
                let (hierarchy, hierarchy_count) = inner.events(extra);
                Events { mrf, hierarchy, hierarchy_count, ..Events::default() }
            }
            Self::Steal(file) => {
                file.late(given, told);
                let (mrf, steal) = file.events(given, told);
                Events { mrf, steal, ..Events::default() }
            }
        }
    }

    #[inline]
    pub(super) fn edge<'a>(
        &mut self,
        given: &MrfIn,
        extra: &Extra,
        told: &StealExtra,
        straps: u32,
        write_data: impl Fn(usize) -> &'a WarpData,
    ) {
        match self {
            Self::Mrf(mrf) => mrf.edge(given, write_data),
            Self::Rfc(rfc) => rfc.edge(given, extra, cache_straps(straps), write_data),
            Self::Hrf(hrf) => hrf.edge(given, write_data),
            Self::Hierarchy(hierarchy) => hierarchy.edge(given, extra, write_data),
            Self::Steal(file) => file.edge(given, told, write_data),
        }
    }

    #[inline]
    pub(super) fn is_quiet(&self, given: &MrfIn, extra: &Extra, told: &StealExtra) -> bool {
        match self {
            Self::Mrf(mrf) => mrf.is_quiet(given),
            Self::Rfc(rfc) => rfc.is_quiet(given),
            Self::Hrf(hrf) => hrf.is_quiet(given),
            Self::Hierarchy(hierarchy) => hierarchy.is_quiet(given, extra),
            Self::Steal(file) => file.is_quiet(given, told),
        }
    }

    pub(super) fn is_still(&self) -> bool {
        match self {
            Self::Mrf(mrf) => mrf.is_still(),
            Self::Rfc(rfc) => rfc.is_still(),
            Self::Hrf(hrf) => hrf.is_still(),
            Self::Hierarchy(hierarchy) => hierarchy.is_still(),
            Self::Steal(file) => file.is_still(),
        }
    }

    pub(super) fn probe(
        &self,
        given: &MrfIn,
        extra: &Extra,
        told: &StealExtra,
        straps: u32,
        shown: &MrfOut,
        probe: &mut OperandStageProbe,
    ) {
        match self {
            Self::Mrf(mrf) => mrf.probe(given, shown, &mut probe.provider.mrf),
            Self::Rfc(rfc) => rfc.record(cache_straps(straps), &mut probe.provider),
            Self::Hrf(hrf) => hrf.record(&mut probe.hybrid),
            Self::Hierarchy(hierarchy) => hierarchy.record(given, extra, &mut probe.hierarchy),
            Self::Steal(file) => file.record(given, told, &mut probe.steal),
        }
    }

    pub(super) fn memories(&mut self) -> Vec<Memory<'_>> {
        let (instance, memories) = match self {
            Self::Mrf(mrf) => ("gen_mrf.u_provider", mrf.memories()),
            Self::Rfc(rfc) => ("gen_rfc.u_provider", rfc.memories()),
            Self::Hrf(hrf) => ("gen_hrf.u_provider", hrf.memories()),
            Self::Hierarchy(hierarchy) => ("gen_hierarchy.u_provider", hierarchy.memories()),
            Self::Steal(file) => ("gen_steal.u_provider", file.memories()),
        };
        memories.into_iter().map(|m| Memory { path: format!("{instance}.{}", m.path), ..m }).collect()
    }
}

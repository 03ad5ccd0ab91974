//! Who answers the operand stage.

use crate::mrf::{Mrf, MrfIn, MrfOut};
use crate::rfc::{Extra, Rfc, RfcProbe};
use crate::shape::SmShape;
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
}

/// A register file: the baseline, or a cache in front of it. Both are given and show what the baseline is given and shows.
#[expect(clippy::large_enum_variant, reason = "there is one of it, and the baseline is asked in every cycle")]
pub(super) enum Provider {
    Mrf(Mrf),
    Rfc(Box<Rfc>),
}

impl Provider {
    pub(super) fn new(shape: &SmShape) -> Self {
        if shape.entries == 0 {
            Self::Mrf(Mrf::new(&shape.mrf))
        } else {
            Self::Rfc(Box::new(Rfc::new(&shape.of_slots())))
        }
    }

    #[inline]
    pub(super) fn show(&self, out: &mut MrfOut) {
        match self {
            Self::Mrf(mrf) => mrf.show(out),
            Self::Rfc(rfc) => rfc.show(out),
        }
    }

    #[inline]
    pub(super) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        match self {
            Self::Mrf(mrf) => mrf.operands(p),
            Self::Rfc(rfc) => rfc.operands(p),
        }
    }

    #[inline]
    pub(super) fn late(&mut self, given: &mut MrfIn, straps: u8, shown: &mut MrfOut) -> Events {
        match self {
            Self::Mrf(mrf) => {
                given.cfg_i = straps & 1;
                mrf.late(given, shown);
                Events { mrf: shown.event_o, ..Events::default() }
            }
            Self::Rfc(rfc) => {
                let mrf = rfc.late(given, straps);
                let (rfc, rfc_count, rfc_extra) = rfc.events(straps);
                Events { mrf, rfc, rfc_count, rfc_extra }
            }
        }
    }

    #[inline]
    pub(super) fn edge<'a>(
        &mut self,
        given: &MrfIn,
        extra: &Extra,
        straps: u8,
        write_data: impl Fn(usize) -> &'a WarpData,
    ) {
        match self {
            Self::Mrf(mrf) => mrf.edge(given, write_data),
            Self::Rfc(rfc) => rfc.edge(given, extra, straps, write_data),
        }
    }

    #[inline]
    pub(super) fn is_quiet(&self, given: &MrfIn) -> bool {
        match self {
            Self::Mrf(mrf) => mrf.is_quiet(given),
            Self::Rfc(rfc) => rfc.is_quiet(given),
        }
    }

    pub(super) fn is_still(&self) -> bool {
        match self {
            Self::Mrf(mrf) => mrf.is_still(),
            Self::Rfc(rfc) => rfc.is_still(),
        }
    }

    pub(super) fn probe(&self, given: &MrfIn, straps: u8, shown: &MrfOut, probe: &mut RfcProbe) {
        match self {
            Self::Mrf(mrf) => mrf.probe(given, shown, &mut probe.mrf),
            Self::Rfc(rfc) => rfc.record(straps, probe),
        }
    }

    pub(super) fn memories(&mut self) -> Vec<Memory<'_>> {
        let (instance, memories) = match self {
            Self::Mrf(mrf) => ("gen_mrf.u_provider", mrf.memories()),
            Self::Rfc(rfc) => ("gen_rfc.u_provider", rfc.memories()),
        };
        memories.into_iter().map(|m| Memory { path: format!("{instance}.{}", m.path), ..m }).collect()
    }
}

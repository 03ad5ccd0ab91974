//! The nets between the operand stage and its provider, as lockstep compares them.

use std::mem::offset_of;

use super::{MAX_SOURCES, of};
use crate::hierarchy::HierarchyProbe;
use crate::hrf::{HrfBank, HrfProbe, HrfResults};
use crate::mrf::{MAX_PORTS, Mrf, MrfProbe};
use crate::rfc::RfcProbe;
use crate::shape::{MAX_ACTIVE, SmShape};
use crate::steal::StealProbe;
use crate::{Block, Field, Ports, REG_BITS, field, ports};

ports! {
    /// Nets between the stage and its provider that are not ports of the stage, and the stage's state.
    pub struct OperandStageNets(s: &SmShape) {
        /// First row of the warp that issues.
        issue_base: [u16; MAX_PORTS] =
            field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i").to(of(s, "mrf_bank_map", "mrf_bank_map", "mrf_bank_map")),
        /// First row of the warp of a result.
        write_base: [u16; MAX_PORTS] =
            field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i").to(if s.hybrid.is_some() { HrfResults::NAME } else { "mrf_bank_map" }),
        /// First row of the warp of each slot.
        slot_base: [u16; MAX_ACTIVE] =
            field(s.mrf.entry_w()).count(s.slots()).valid_by("slot_valid_i").when(s.entries != 0 || s.buffered()).to(if s.hybrid.is_some() { HrfBank::NAME } else { "rfc_evictions" }),
        /// Places with an instruction.
        slot_busy_q: u32 = field(s.tags()),
        /// The place that port p takes, which is the instruction's tag; 0 if none is free.
        issue_tag: [u8; MAX_PORTS] =
            field(s.mrf.tag_w).count(s.ports()).early().to(of(s, "mrf_collector", "mrf_collector", "mrf_collector")),
        /// Bit 3p+k: port p is valid, and source k is a register.
        issue_src_valid: u8 = field(s.mrf.sources()).to(of(s, "mrf_collector", "mrf_collector", "mrf_collector")),
        /// It.
        issue_src_reg: [u8; MAX_SOURCES] =
            field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid").to(of(s, "mrf_bank_map", "mrf_bank_map", "mrf_bank_map")),
        /// First row of the warp of port p's candidate.
        candidate_base: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports())
            .valid_by("candidate_valid_i").when(s.steal).to("mrf_bank_map"),
        /// Bit 3p+k: port p has a candidate, and source k of its head is a register.
        candidate_src_valid: u8 = field(s.mrf.sources()).when(s.steal).to("steal_candidates"),
        /// It.
        candidate_src_reg: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources())
            .valid_by("candidate_src_valid").when(s.steal).to("mrf_bank_map"),
        /// The instruction dispatched on port p says that a register of its warp is dead behind it.
        hint_valid: u8 = field(s.ports()).when(s.steal).to("steal_table"),
        /// It.
        hint_reg: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("hint_valid").when(s.steal).to("mrf_bank_map"),
        /// First row of its warp.
        hint_base: [u16; MAX_PORTS] =
            field(s.mrf.entry_w()).count(s.ports()).valid_by("hint_valid").when(s.steal).to("mrf_bank_map"),
        /// The place that dispatch port p empties.
        dispatch_tag: [u8; MAX_PORTS] =
            field(s.mrf.tag_w).count(s.ports()).valid_by("dispatch_valid_o").early().from(of(s, Mrf::NAME, Mrf::NAME, Mrf::NAME)),
    }
}

/// What lockstep compares inside `OperandStage`: its own nets and state, and all that is compared inside the provider.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct OperandStageProbe {
    /// Inside the provider; the MRF alone fills its part.
    pub provider: RfcProbe,
    /// The same, of the hybrid file.
    pub hybrid: HrfProbe,
    /// Inside the provider, where it is ORF and LRF.
    pub hierarchy: HierarchyProbe,
    /// Inside the file whose banks are stolen.
    pub steal: StealProbe,
    /// Around it.
    pub nets: OperandStageNets,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for OperandStageProbe {
    type Shape = SmShape;

    fn fields(s: &SmShape) -> Vec<Field> {
        let cache = s.entries != 0;
        let mut fields = OperandStageNets::fields(s);
        fields.iter_mut().for_each(|f| f.offset += offset_of!(Self, nets));
        let at = offset_of!(Self, provider);
        if let Some(hybrid) = s.of_hybrid() {
            let inner = HrfProbe::fields(&hybrid);
            let at = offset_of!(Self, hybrid);
            fields.extend(inner.into_iter().map(|f| f.inside("gen_hrf.u_provider", at)));
        } else if cache {
            let inner = RfcProbe::fields(&s.of_slots());
            fields.extend(inner.into_iter().map(|f| f.inside("gen_rfc.u_provider", at)));
        } else if s.orf_entries != 0 {
            let inner = HierarchyProbe::fields(&s.of_levels());
            let at = offset_of!(Self, hierarchy);
            fields.extend(inner.into_iter().map(|f| f.inside("gen_hierarchy.u_provider", at)));
        } else if s.steal {
            let at = offset_of!(Self, steal);
            fields.extend(
                StealProbe::fields(&s.mrf).into_iter().map(|f| named_here(f).inside("gen_steal.u_provider", at)),
            );
        } else {
            let at = at + offset_of!(RfcProbe, mrf);
            fields.extend(MrfProbe::fields(&s.mrf).into_iter().map(|f| named_here(f).inside("gen_mrf.u_provider", at)));
        }
        fields
    }
}

/// What is valid by a port of the provider that is a net here.
fn named_here(mut field: Field) -> Field {
    let nets = [
        ("issue_src_valid_i", "issue_src_valid"),
        ("candidate_src_valid_i", "candidate_src_valid"),
        ("hint_valid_i", "hint_valid"),
    ];
    if let Some((_, net)) = nets.iter().find(|(port, _)| field.valid_by == Some(port)) {
        field.valid_by = Some(net);
    }
    field
}

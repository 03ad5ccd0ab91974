//! The nets between the operand stage and its provider, as lockstep compares them.

use std::mem::offset_of;

use super::MAX_SOURCES;
use crate::designs::ProviderProbe;
use crate::mrf::MAX_PORTS;
use crate::shape::SmShape;
use crate::sizes::MAX_ACTIVE;
use crate::{Field, Ports, REG_BITS, field, ports};

ports! {
    /// Nets between the stage and its provider that are not ports of the stage, and the stage's state.
    pub struct OperandStageNets(s: &SmShape) {
        /// First row of the warp that issues.
        issue_base: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp of a result.
        write_base: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// First row of the warp of each slot.
        slot_base: [u16; MAX_ACTIVE] =
            field(s.mrf.entry_w()).count(s.slots()).valid_by("slot_valid_i").when(s.organisation.reads_slot_rows()),
        /// Places with an instruction.
        slot_busy_q: u32 = field(s.tags()),
        /// The place that port p takes, which is the instruction's tag; 0 if none is free.
        issue_tag: [u8; MAX_PORTS] = field(s.mrf.tag_w).count(s.ports()).early(),
        /// Bit 3p+k: port p is valid, and source k is a register.
        issue_src_valid: u8 = field(s.mrf.sources()),
        /// Element 3p+k: register of source k of port p.
        issue_src_reg: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid"),
        /// First row of the warp of port p's candidate.
        candidate_base: [u16; MAX_PORTS] =
            field(s.mrf.entry_w()).count(s.ports()).valid_by("candidate_valid_i").when(s.services().takes_candidates),
        /// Bit 3p+k: port p has a candidate, and source k of its head is a register.
        candidate_src_valid: u8 = field(s.mrf.sources()).when(s.services().takes_candidates),
        /// Element 3p+k: register of source k of port p's candidate.
        candidate_src_reg: [u8; MAX_SOURCES] =
            field(REG_BITS).count(s.mrf.sources()).valid_by("candidate_src_valid").when(s.services().takes_candidates),
        /// The instruction dispatched on port p says that a register of its warp is dead after it.
        hint_valid: u8 = field(s.ports()).when(s.services().takes_candidates),
        /// Register that the instruction dispatched on port p says is dead.
        hint_reg: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("hint_valid").when(s.services().takes_candidates),
        /// First row of the warp whose register is dead.
        hint_base: [u16; MAX_PORTS] =
            field(s.mrf.entry_w()).count(s.ports()).valid_by("hint_valid").when(s.services().takes_candidates),
        /// The place that dispatch port p empties.
        dispatch_tag: [u8; MAX_PORTS] = field(s.mrf.tag_w).count(s.ports()).valid_by("dispatch_valid_o").early(),
    }
}

/// The values that lockstep compares inside `OperandStage`: its own nets and state, and all values inside the provider.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct OperandStageProbe {
    /// Values inside the provider.
    pub provider: ProviderProbe,
    /// Nets around the provider.
    pub nets: OperandStageNets,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for OperandStageProbe {
    type Shape = SmShape;

    fn fields(s: &SmShape) -> Vec<Field> {
        let at = |mut field: Field, offset: usize| {
            field.offset += offset;
            field
        };
        let nets = OperandStageNets::fields(s).into_iter().map(|field| at(field, offset_of!(Self, nets)));
        let provider =
            s.organisation.fields(&s.stage_sizes()).into_iter().map(|field| at(field, offset_of!(Self, provider)));
        nets.chain(provider).collect()
    }
}

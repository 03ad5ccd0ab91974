//! ORF and LRF, which the compiler manages.

use std::sync::LazyLock;

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::HIERARCHY_COUNT_EVENT;
use gpurf_blocks::instruction::Roles;
use gpurf_isa::LastResultFile;

use super::look::Look;
use super::unreached::{Exception, one_bus};
use super::{Group, Sums, situations, sums};
use crate::cycle::bits;

fn levels(config: &Config) -> bool {
    config.orf.entries != 0
}

fn last_results(config: &Config) -> bool {
    levels(config) && config.lrf.banks != LastResultFile::None
}

/// Operands are copied to the ORF.
fn copies(config: &Config) -> bool {
    levels(config) && config.orf.read_operands
}

/// Nothing waits for the ORF, and one bus not for the banks.
fn flows(config: &Config) -> bool {
    levels(config) && !config.orf.read_operands && one_bus(config)
}

const FLOWS: &str = "no operand is copied, so that a result leaves its latch in the cycle after it came";

pub(super) const EXCEPTIONS: &[Exception] = &[
    ("operand_stage: a result offered, not taken", flows, FLOWS),
    ("writeback: a result of the line table or of the cache waits", flows, FLOWS),
];

pub(super) static GROUPS: &[Group] = &[
    // Without copies a register is pending as long as its place.
    situations! { "hierarchy_scoreboard", copies, |look| {
            let waits = look.o.scoreboard.clear_o & !look.o.issue_gate.clear_o;
        }
        "a head waits for a place of ORF or LRF alone (hazard 7)": waits != 0;
    },
    situations! { "hierarchy_entries", levels, |look| {
            let waits = &look.o.operand_stage.wait_o[..look.shape.active];
            let count = waits.iter().filter(|places| **places != 0).count();
        }
        "no place waits for a value": count == 0 && look.alive != 0;
        "places of one slot wait": count == 1;
        "places of two slots or more wait": count > 1;
        "two places of a slot wait": waits.iter().any(|places| places.count_ones() > 1);
        "a slot holds something that its strand may read": look.o.operand_stage.void_o & look.o.warp_scheduler.slot_valid_o != look.o.warp_scheduler.slot_valid_o;
        "a strand ends while groups wait on the stack (hazard 3)":
            ends_strand(look.out.design_event_o[1]) && look.issues(|_, w| look.s.simt_stack.depth_q[w] != 0);
    },
    situations! { "hierarchy_results", levels, |look| {
            let (nets, results) = (&look.s.operand_stage.provider.hierarchy().nets, &look.s.operand_stage.provider.hierarchy().results);
        }
        "a result is in a latch": results.valid_q != 0;
        "the ORF is written": nets.results_orf_valid != 0;
    },
    situations! { "hierarchy_results", copies, |look| {
            let (nets, results) = (&look.s.operand_stage.provider.hierarchy().nets, &look.s.operand_stage.provider.hierarchy().results);
        }
        "a result and a copy for one ORF": nets.copies_copy_valid & results.valid_q != 0;
    },
    situations! { "power_states", powered, |look| {
            let words: Vec<_> = (0..look.ports()).flat_map(|p| above(look, p)).collect();
        }
        "a register is read above whose word is OFF": words.iter().any(|word| !word.written && word.off && !word.pending);
        "a result goes above alone, and its word is OFF": words.iter().any(|word| word.written && word.off && !word.pending);
        "a result goes above alone while an older read of its word is in progress":
            words.iter().any(|word| word.written && word.pending);
    },
];

/// Registers of the main register file have power states below ORF and LRF, and go OFF while their warp lives.
fn powered(config: &Config) -> bool {
    levels(config) && config.power.present && config.power.mode.needs_marks()
}

/// The word of a register that an instruction accesses above it alone.
struct Word {
    written: bool,
    off: bool,
    pending: bool,
}

/// Those of the instruction that goes to the operand stage on a port.
fn above(look: &Look<'_>, p: usize) -> Vec<Word> {
    let (stage, states) = (&look.o.issue_stage, &look.s.power_states);
    let Some(main_roles) = look.shape.services().main_roles.filter(|_| stage.operand_valid_o >> p & 1 == 1) else {
        return Vec::new();
    };
    let instruction = stage.instruction_o[p];
    let roles = instruction.roles();
    let main = main_roles(look.shape.organisation.sizes(), roles, instruction.op(), instruction.ctl());
    let names = |roles: Roles| [roles.a(), roles.b(), roles.c(), roles.d()];
    let bit = |words: &[u64], register: u8| {
        let element = 4 * usize::from(look.o.issue_stage.warp_o[p]) + usize::from(register) / 64;
        words[element] >> (register % 64) & 1 == 1
    };
    let both = names(roles).into_iter().zip(names(main)).enumerate();
    let word = |(slot, (register, _)): (usize, (u8, u8))| Word {
        written: slot == OPERANDS,
        off: bit(&states.off_q, register),
        pending: bit(&states.pending_q, register),
    };
    both.filter(|(_, (register, main))| register != main).map(word).collect()
}

/// Whether a strand ends in a cycle with these events.
fn ends_strand(event: u64) -> bool {
    static STRAND_END: LazyLock<u64> =
        LazyLock::new(|| bits(HIERARCHY_COUNT_EVENT, |name| name == "hierarchy_strand_end"));
    event & *STRAND_END != 0
}

pub(super) static SUMS: &[Sums] = &[
    sums! { "hierarchy_levels", levels,
        "hierarchy_mrf_none": "an instruction reads nothing from the MRF";
        "hierarchy_mrf_one": "an instruction reads one register from the MRF";
        "hierarchy_mrf_two": "an instruction reads two registers from the MRF";
        "hierarchy_mrf_three": "an instruction reads three registers from the MRF";
        "hierarchy_orf_read": "an instruction reads from the ORF";
    },
    sums! { "hierarchy_results", levels,
        "hierarchy_orf_write": "a result goes to the ORF";
        "hierarchy_both": "a result goes to the MRF too";
        "hierarchy_mrf_only": "a result goes to the MRF alone";
    },
    sums! { "hierarchy_results", copies,
        "hierarchy_result_wait": "a result waits in its latch";
    },
    sums! { "hierarchy_entries", levels,
        "hierarchy_strand_end": "a strand ends";
        "hierarchy_strand_void": "a strand ends with values that are thrown away";
    },
    sums! { "hierarchy_copies", copies,
        "hierarchy_copy": "an operand is copied to the ORF";
    },
    // To one entry an instruction copies one operand at most.
    sums! { "hierarchy_copies", |c| copies(c) && c.orf.entries > 1,
        "hierarchy_dispatch_hold": "an instruction waits for the copies of another one";
    },
    sums! { "hierarchy_copies", |c| copies(c) && c.mrf.issue_ports == 2,
        "hierarchy_copy_wait": "a copy waits for the ORF";
    },
    sums! { "hierarchy_levels", last_results,
        "hierarchy_lrf_read": "an instruction reads from the LRF";
        "hierarchy_lrf_write": "a result goes to the LRF";
    },
];

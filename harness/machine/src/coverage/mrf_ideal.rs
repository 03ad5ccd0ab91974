//! The register file without conflicts.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfProbe;

use super::look::Look;
use super::unreached::Exception;
use super::{Group, Sums, situations, sums};

fn ideal(config: &Config) -> bool {
    config.ideal.present
}

/// With a bus on which the memory pipeline's results go first.
fn two_buses(config: &Config) -> bool {
    ideal(config) && config.mrf.issue_ports == 2
}

/// Why nothing waits for its write.
const AT_ONCE: &str =
    "a result is written in the cycle after it came, so that the queue of its bus is free in every cycle";

pub(super) const EXCEPTIONS: &[Exception] = &[
    ("operand_stage: a result offered, not taken", ideal, AT_ONCE),
    ("writeback: a result of the line table or of the cache waits", ideal, AT_ONCE),
    ("result_queue: the memory pipeline's oldest waits", two_buses, AT_ONCE),
];

/// The nets inside the file.
fn nets<'a>(look: &Look<'a>) -> &'a MrfProbe {
    look.s.operand_stage.provider.mrf_ideal().as_ref()
}

/// Banks of the sources of a collector that are read in a cycle.
fn banks(look: &Look<'_>, collector: usize) -> impl Iterator<Item = u8> + Clone {
    let nets = nets(look);
    (3 * collector..3 * collector + 3).filter(|i| nets.req_valid >> i & 1 != 0).map(|i| nets.req_bank[i])
}

/// Whether two operands of an instruction are read in one bank at once.
fn share_a_bank(look: &Look<'_>) -> bool {
    (0..look.shape.mrf.collectors).any(|c| {
        let set = banks(look, c).fold(0u32, |set, bank| set | 1 << bank);
        (set.count_ones() as usize) < banks(look, c).count()
    })
}

/// Whether an operand is read in a bank at the edge at which a result is written there.
fn read_beside_write(look: &Look<'_>) -> bool {
    let nets = nets(look);
    let written = (0..look.ports()).filter(|p| nets.head_valid >> p & 1 != 0).map(|p| nets.head_bank[p]);
    let written = written.fold(0u32, |banks, bank| banks | 1 << bank);
    (0..look.shape.mrf.collectors).any(|c| banks(look, c).any(|bank| written >> bank & 1 != 0))
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "mrf_ideal", ideal, |look| {
            let nets = nets(look);
        }
        "two operands of an instruction are read in one bank": share_a_bank(look);
        "an operand is read in the bank of a result": read_beside_write(look);
        "three operands or more are read": nets.req_valid.count_ones() >= 3;
    },
    situations! { "mrf_ideal", |c| ideal(c) && c.mrf.issue_ports == 2, |look| {
            let nets = nets(look);
        }
        "two results are written in one bank": nets.head_valid == 3 && nets.head_bank[0] == nets.head_bank[1];
    },
];

pub(super) static SUMS: &[Sums] = &[sums! { "mrf_ideal", ideal,
    "read": "an operand is read";
    "write": "a result is written";
}];

//! Situations that a configuration cannot reach, each with the reason. One that is reached all the same does not hold: the run fails.

use gpurf_blocks::config::Config;

/// A situation, where it cannot be, and why.
type Exception = (&'static str, fn(&Config) -> bool, &'static str);

/// One result bus in front of the banks, and nothing but the bank itself that could keep a result from being written.
fn one_bus(config: &Config) -> bool {
    config.mrf.issue_ports == 1 && !config.hrf.stt_ram && !config.steal.present
}

pub(super) const EXCEPTIONS: &[Exception] = &[
    (
        "mrf_arbiter: a result is held by an older read of its register (write after read)",
        |_| true,
        "instructions of a warp leave the collectors in order, so those that read a register have done so before a later one has its result",
    ),
    ("mrf_arbiter: a result waits for its bank (write)", one_bus, ONE_BUS),
    ("mrf_write_queue: a result waits for its bank", one_bus, ONE_BUS),
    ("rfc: a value for the MRF offered, not taken", one_bus, ONE_BUS),
    ("rfc_results: an eviction waits for the MRF's queue", one_bus, ONE_BUS),
    ("operand_stage: a result offered, not taken", alone, ONE_BUS),
    ("writeback: a result of the line table waits", alone, ONE_BUS),
    ("coalescer: a request offered, not taken", quick, "memory takes a line in each cycle"),
    ("coalescer: lanes wait because a request waits for memory", quick, "memory takes a line in each cycle"),
];

/// Why nothing waits for the bank of a result.
const ONE_BUS: &str = "of one bus the result goes before all reads, so that its queue is free again in every cycle";

/// The same, with nothing between bus and queue.
fn alone(config: &Config) -> bool {
    one_bus(config) && config.rfc.entries == 0 && config.orf.entries == 0
}

/// Memory whose data path moves a whole line in a cycle.
fn quick(config: &Config) -> bool {
    config.memory.bandwidth == 128
}

/// Why a configuration cannot reach a situation; nothing where it can.
pub(super) fn reason(name: &str, config: &Config) -> Option<&'static str> {
    let excused = |(point, there, _): &&Exception| *point == name && there(config);
    EXCEPTIONS.iter().find(excused).map(|&(_, _, reason)| reason)
}

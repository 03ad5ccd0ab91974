//! Situations that a configuration cannot reach, each with the reason. If one of them is reached after all, the run fails.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;

use super::DESIGN_EXCEPTIONS;

/// A situation, the configurations that cannot reach it, and the reason.
pub(super) type Exception = (&'static str, fn(&Config) -> bool, &'static str);

/// One result bus in front of the banks; only the bank itself can delay the write of a result.
pub(super) fn one_bus(config: &Config) -> bool {
    config.mrf.issue_ports == 1 && Organisation::of(config).design().contains("mrf_arbiter")
}

const EXCEPTIONS: &[Exception] = &[
    (
        "mrf_arbiter: a result is held by an older read of its register (write after read)",
        |_| true,
        "instructions of a warp leave the collectors in order, so those that read a register have done so before a later one has its result",
    ),
    ("mrf_arbiter: a result waits for its bank (write)", one_bus, ONE_BUS),
    ("mrf_write_queue: a result waits for its bank", one_bus, ONE_BUS),
    ("operand_stage: a result offered, not taken", alone, ONE_BUS),
    ("writeback: a result of the line table or of the cache waits", alone, ONE_BUS),
    ("result_queue: an ALU's oldest serves its time", |c| c.sm.alu_latency == SHORTEST_ALU, SHORTEST),
    ("result_queue: a single precision unit's oldest serves its time", |c| c.sm.alu_latency <= SHORTEST_FP, SHORTEST),
    ("result_queue: the constant unit's oldest serves its time", |c| c.sm.alu_latency <= SHORTEST_FP, SHORTEST),
    (
        "shared_memory: 32 lanes in a pass",
        |c| c.sm.shared_bandwidth < FULL_LINE,
        "a pass looks at the lanes of a half or a quarter of the warp",
    ),
    ("coalescer: a request offered, not taken", quick, "memory takes a line in each cycle"),
    ("coalescer: lanes wait because a request waits for memory", quick, "memory takes a line in each cycle"),
];

/// The shortest latencies of an ALU, and of a single precision unit, which has three stages. Results of the constant unit wait as long.
const SHORTEST_ALU: usize = 2;
const SHORTEST_FP: usize = 3;
const SHORTEST: &str = "with the shortest latency a result may go when it comes into the queue";
/// Bytes of a whole register, and of a memory line.
const FULL_LINE: usize = 128;

/// The reason for which no result waits for its bank.
pub(super) const ONE_BUS: &str =
    "of one bus the result goes before all reads, so that its queue is free again in every cycle";

/// One bus, with nothing between the bus and the queue.
fn alone(config: &Config) -> bool {
    one_bus(config) && matches!(Organisation::of(config), Organisation::Mrf(_))
}

/// The data path of memory moves a whole line in one cycle.
fn quick(config: &Config) -> bool {
    config.memory.bandwidth == FULL_LINE
}

/// The exceptions of all blocks.
pub(super) fn all() -> impl Iterator<Item = &'static Exception> {
    EXCEPTIONS.iter().chain(DESIGN_EXCEPTIONS.iter().copied().flatten())
}

/// Why a configuration cannot reach a situation; `None` if it can.
pub(super) fn reason(name: &str, config: &Config) -> Option<&'static str> {
    let excused = |(point, there, _): &&Exception| *point == name && there(config);
    all().find(excused).map(|&(_, _, reason)| reason)
}

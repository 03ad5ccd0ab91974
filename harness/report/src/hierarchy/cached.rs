//! Hardware-managed designs in the thesis's machine (table 4.4), with 8 active warps.

use super::{ACTIVE, headlines};
use crate::report::Machine;
use crate::sweep::Point;

fn hardware(machine: Machine, preset: &'static str, entries: u32) -> Point {
    let point = headlines::on(machine, preset);
    point.with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={ACTIVE}"))
}

/// The cache with last-read bits, in the thesis's machine, or with parts of it.
pub fn two_on(machine: Machine, entries: u32) -> Point {
    hardware(machine, "rfc-live", entries)
}

/// The cache with last-read bits.
pub fn two(entries: u32) -> Point {
    two_on(Machine::PAPER, entries)
}

/// The same cache below a hardware LRF.
pub fn levels(entries: u32) -> Point {
    hardware(Machine::PAPER, "rfc-hw3", entries)
}

/// The cache without last-read bits: experiments.
pub fn unmarked(entries: u32) -> Point {
    hardware(Machine::PAPER, "rfc", entries)
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::{Config, preset};

    use super::*;

    #[test]
    fn the_machine_is_the_thesiss() {
        let paper = preset("hierarchy-paper").unwrap().config;
        let latencies = |config: &Config| (config.sm.alu_latency, config.sm.sfu_latency, config.sm.shared_latency);
        let shared = |config: &Config| (config.sm.shared_bandwidth, config.sm.shared_kilobytes);
        for point in [two(3), levels(3), unmarked(3)] {
            let config = point.config().unwrap();
            assert_eq!(latencies(&config), latencies(&paper));
            assert_eq!(shared(&config), shared(&paper));
            assert_eq!(config.memory, paper.memory);
            assert_eq!((config.sm.active_warps, config.rfc.entries), (paper.sm.active_warps, 3));
        }
        assert!(two(3).config().unwrap().rfc.live && !unmarked(3).config().unwrap().rfc.live);
    }
}

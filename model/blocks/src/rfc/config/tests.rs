//! Configurations with the register file cache, and what is refused.

use super::*;
use crate::config::{Start, preset};
use crate::testing::{file, refuses, set};

#[test]
fn scheduler_and_cache_are_chosen_together() {
    let config =
        set(&["rfc.entries=4", "sm.warps=8", "sm.active_warps=8", "sm.stay=true", "rfc.replacement=lru"]).unwrap();
    assert_eq!((config.rfc.entries, config.sm.active_warps, config.sm.stay), (4, 8, true));
    assert_eq!(config.rfc.replacement, Replacement::Lru);
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));
    let all = preset("rfc-all").unwrap().config;
    assert_eq!((all.sm.active_warps, all.sm.warps, all.rfc.loads, all.rfc.live), (32, 32, true, false));
    let three_levels = preset("rfc-hw3").unwrap().config;
    assert_eq!((three_levels.rfc.lrf, three_levels.rfc.reads, three_levels.rfc.live), (true, false, true));
    for part in ["rfc.lrf=true", "rfc.reads=true", "rfc.release=true"] {
        let message = set(&[part]).unwrap_err();
        assert!(
            message.ends_with("a number from 1 to 16 where rfc.lrf, rfc.reads or rfc.release is true"),
            "{message}"
        );
    }
    let message = Config::load(Start::Preset("greener-rfc"), &["rfc.release=true"]).unwrap_err().to_string();
    assert!(
        message.contains("rfc.release = true is not allowed: it has to be false where power.present is true"),
        "{message}"
    );
    assert!(set(&["rfc.live=often"]).unwrap_err().ends_with("expected a boolean"));
    // The LRF is written back where a warp gives its slot up: one that stays would leave it values that shared units read.
    let message = Config::load(Start::Preset("rfc-hw3"), &["sm.stay=true"]).unwrap_err().to_string();
    assert!(
        message.starts_with("--set: sm.stay = true is not allowed: it has to be false where rfc.lrf is true"),
        "{message}"
    );
    refuses(&[
        ("rfc.entries", &["17"], "a number from 0 to 16"),
        ("rfc.entries", &["1"], "0 where sm.active_warps is 0"),
    ]);
}

/// Table 4 of the RFC paper, and the sizes of its sections 2.1, 3.3 and 5.4.
#[test]
fn the_rfc_papers_machine_is_rfc_live_with_its_table() {
    let table = [
        "sm.line_rows=128",
        "sm.alu_latency=3",
        "sm.sfu_latency=15",
        "sm.shared_latency=15",
        "sm.shared_bandwidth=32",
        "sm.shared_kilobytes=32",
        "memory.latency=400",
        "memory.bandwidth=32",
        "rfc.release=true",
        "rfc.prompt=true",
    ];
    let paper = preset("rfc-paper").unwrap().config;
    assert_eq!(Config::load(Start::Preset("rfc-live"), &table), Ok(paper));
    let shape = paper.shape();
    assert_eq!((shape.banks, shape.dual_port, paper.mrf.kilobytes, paper.mrf.issue_ports), (4, true, 128, 1));
    assert_eq!((paper.sm.warps, paper.sm.active_warps), (32, 8));
    // "Bandwidth constrained with a fixed latency of 400 cycles" (section 4): lines of 128 bytes in flight for the latency and two cycles do not limit it.
    assert!(paper.sm.line_rows * 128 / (paper.memory.latency + 2) >= paper.memory.bandwidth);
    // 6,144 bytes an SM: 5.4.
    assert_eq!(paper.rfc.entries * paper.sm.active_warps * 128, 6144);
}

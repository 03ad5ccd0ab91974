//! Configurations with ORF and LRF, and what is refused.

use super::*;
use crate::config::{Start, preset};
use crate::testing::{file, refuses, set};

#[test]
fn orf_and_lrf_stand_where_a_cache_would() {
    let split = preset("lrf-orf-split").unwrap().config;
    assert_eq!((split.orf.entries, split.lrf.banks.banks(), split.sm.active_warps), (3, 3, 8));
    let config = set(&["sm.active_warps=8", "orf.entries=8", "lrf.banks=unified"]).unwrap();
    assert_eq!((config.orf.entries, config.lrf.banks), (8, LastResultFile::Unified));
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));
    let message = set(&["lrf.banks=split"]).unwrap_err();
    let allowed = "a number from 1 to 8 where lrf.banks is not none";
    assert_eq!(message, format!("preset baseline: orf.entries = 0 is not allowed: it has to be {allowed}"));
    assert!(set(&["lrf.banks=two"]).unwrap_err().contains("expected one of `none`, `unified`, `split`"));
    refuses(&[
        ("orf.entries", &["9"], "a number from 0 to 8"),
        ("orf.entries", &["1"], "0 where sm.active_warps is 0"),
    ]);
}

/// Table 4.4 of the hierarchy thesis, and the sizes of its sections 2.4, 6.5 and 6.5.4.
#[test]
fn the_thesis_machine_is_lrf_orf_split_with_its_table() {
    let table = [
        "sm.alu_latency=3",
        "sm.sfu_latency=15",
        "sm.shared_latency=15",
        "sm.shared_bandwidth=32",
        "sm.shared_kilobytes=64",
        "memory.latency=400",
        "memory.bandwidth=16",
    ];
    let paper = preset("hierarchy-paper").unwrap().config;
    assert_eq!(Config::load(Start::Preset("lrf-orf-split"), &table), Ok(paper));
    let shape = paper.shape();
    assert_eq!((shape.banks, shape.dual_port, paper.mrf.kilobytes, paper.mrf.issue_ports), (4, true, 128, 1));
    assert_eq!((paper.sm.warps, paper.sm.active_warps), (32, 8));
    assert_eq!((paper.orf.entries, paper.lrf.banks), (3, LastResultFile::Split));
    // Policies alone: the RTL is that of lrf-orf-split.
    assert_eq!(paper.sm_shape(), preset("lrf-orf-split").unwrap().config.sm_shape());
}

#[test]
fn the_machines_of_chapter_7_differ_in_their_memory() {
    for (name, kilobytes) in [
        ("unified-128", [128, 0, 64, 0]),
        ("unified-256", [256, 0, 128, 0]),
        ("unified-384", [384, 0, 256, 0]),
        ("unified-512", [512, 0, 256, 0]),
        ("fixed-128-32", [0, 128, 32, 32]),
        ("fixed-256", [0, 256, 64, 64]),
        ("limited-16", [0, 256, 16, 48]),
        ("limited-48", [0, 256, 48, 16]),
    ] {
        let config = Config::load(Start::Preset(name), &[] as &[&str]).unwrap();
        assert_eq!((config.memory.bandwidth, config.memory.granule, config.mrf.banks), (8, 16, 4));
        let (hierarchy, sm) = ((config.orf, config.lrf), SmConfig { shared_kilobytes: 64, ..config.sm });
        assert_eq!((hierarchy, sm), ((LRF_ORF_SPLIT.orf, LRF_ORF_SPLIT.lrf), LRF_ORF_SPLIT.sm));
        let [unified, registers, cache, scratchpad] = kilobytes;
        assert_eq!((config.unified.kilobytes, config.cache.kilobytes), (unified, cache), "{name}");
        if unified == 0 {
            assert_eq!((config.mrf.kilobytes, config.sm.shared_kilobytes), (registers, scratchpad), "{name}");
        }
        // Sets are as many as bits of a line's number can name.
        let shape = config.sm_shape();
        assert_eq!((shape.lines(), shape.sets().is_power_of_two()), (8 * cache, true), "{name}");
    }
}

/// Figure 7.10 compares the machines of the thesis's chapter 7 with and without the levels above the register file.
#[test]
fn flat_machines_differ_in_the_levels_alone() {
    for (flat, with_levels) in [("unified-384-flat", "unified-384"), ("fixed-256-flat", "fixed-256")] {
        let load = |preset: &str, set: &[&str]| Config::load(Start::Preset(preset), set).unwrap();
        assert_eq!(load(flat, &[]), load(with_levels, &["orf.entries=0", "lrf.banks=none"]), "{flat}");
        assert_ne!(load(flat, &[]), load(with_levels, &[]), "{flat}");
    }
}

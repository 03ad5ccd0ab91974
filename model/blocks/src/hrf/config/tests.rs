//! Configurations with the hybrid register file.

use crate::config::{Config, Start, preset};

/// Table 3 of the hybrid paper, and the sizes of its sections 4.4 and 5.2 and of its table 1.
#[test]
fn the_hybrid_papers_machine_is_hrf_pg_with_its_table() {
    let paper = preset("hybrid-paper").unwrap().config;
    assert_eq!(Config::load(Start::Preset("hrf-pg"), &["sm.warps=48"]), Ok(paper));
    assert_eq!((paper.sm.warps, paper.mrf.kilobytes, paper.mrf.banks), (48, 128, 2));
    assert_eq!((paper.hrf.buffer_entries, paper.hrf.powered_entries, paper.hrf.gating), (64, 16, true));
    assert_eq!((paper.hrf.write_latency, paper.hrf.read_latency), (4, 1));
}

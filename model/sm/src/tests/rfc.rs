//! Declarations of the SM with every level of the register file cache.

use gpurf_blocks::config::{Config, Start};

#[test]
fn every_signal_has_a_name_of_its_own_where_reads_allocate_too() {
    super::check(&Config::load(Start::Preset("rfc-hw3"), &["rfc.reads=true"]).expect("a configuration"));
}

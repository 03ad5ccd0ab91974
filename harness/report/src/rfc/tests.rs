//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, Start};

use super::*;

#[test]
fn every_configuration_is_one() {
    for point in REPORT.plan(&[]).points() {
        let config = Config::load(Start::Preset(point.preset), &point.set);
        assert!(config.is_ok(), "{}: {config:?}", point.options());
    }
}

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
    for level in ["rfc.lrf=true", "rfc.reads=true"] {
        assert!(set(&[level]).unwrap_err().ends_with("a number from 1 to 16 where rfc.lrf or rfc.reads is true"));
    }
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

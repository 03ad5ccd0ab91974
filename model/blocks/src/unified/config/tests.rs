//! Configurations with unified memory, and what is refused.

use super::*;
use crate::config::Start;
use crate::designs::DESIGNS;
use crate::testing::{config, file, refuses, set};
use crate::{Block, Shape};

fn refused(preset: &str, settings: &[&str]) -> String {
    Config::load(Start::Preset(preset), settings).unwrap_err().to_string()
}

#[test]
fn rows_scratchpad_and_cache_follow_from_the_size() {
    let tiny = config("unified-tiny", &[]).sm_shape();
    assert_eq!((tiny.mrf.depth, tiny.shared_words, tiny.lines(), tiny.warps), (160, 128 * 160, 64, 8));
    assert_eq!((tiny.ways(), tiny.misses(), tiny.line_rows, tiny.mrf.entry_w()), (2, 8, 16, 8));
    let large = config("unified-384", &[]).sm_shape();
    assert_eq!((large.mrf.depth, large.shared_words, large.lines(), large.ways()), (768, 128 * 768, 2048, 4));
    assert_eq!((large.mrf.entry_w(), large.mrf.unified), (10, true));
    // The same capacity, partitioned: 256 KB of registers, 64 KB each of scratchpad and cache.
    let fixed = config("fixed-256", &[]).sm_shape();
    assert_eq!((fixed.mrf.depth * fixed.mrf.banks, fixed.shared_words, fixed.lines()), (2048, 16384, 512));
    assert_eq!((fixed.organisation, fixed.active, fixed.mrf.unified), (large.organisation, large.active, false));
    let parameters =
        |name| ["Unified", "Depth", "SharedWords"].map(|parameter| config(name, &[]).sm_shape().parameter(parameter));
    assert_eq!((parameters("unified-384"), parameters("cached")), ([1, 768, 128 * 768], [0, 256, 16384]));
}

/// Launcher and cache do not see what ports the banks have.
#[test]
fn ports_of_their_own_are_for_the_blocks_with_banks() {
    let separate = config("unified-tiny", &["unified.ports=separate"]);
    let of = |config: &Config| {
        ["mrf", "operand_stage", "cache", "cache_tags", "cache_access", "block_launcher"].map(|block| {
            let twin = (crate::registry::find(block).expect("a block").twin)(config);
            twin.declaration().parameters.iter().find(|(name, _)| *name == "Unified").expect("a parameter").1
        })
    };
    assert_eq!(of(&separate), [2, 2, 1, 1, 1, 1]);
    assert_eq!(of(&config("unified-tiny", &[])), [1; 6]);
    assert_eq!(of(&config("cached", &[])), [0; 6]);
    let bank = |config: &Config| crate::unified::UnifiedBank::shape_alone(config).parameter("Separate");
    assert_eq!((bank(&separate), bank(&TINY)), (1, 0));
    let [gather, ports] = ["gather = \"aggressive\"", "ports = \"separate\""];
    let both = config("unified-tiny", &["unified.gather=aggressive", "unified.ports=separate"]).to_toml();
    assert!(both.contains(gather) && both.contains(ports), "{both}");
}

#[test]
fn amounts_are_numbers_or_auto() {
    let config = config("unified-tiny", &["launch.cache_kilobytes=4", "launch.threads=256"]);
    assert_eq!((config.launch.cache_kilobytes, config.launch.threads), (Amount::Of(4), Amount::Of(256)));
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));
    let settings = ["launch.cache_kilobytes=auto", "launch.threads=auto"];
    assert_eq!(set(&settings), Ok(Config::BASELINE));
    let words = "expected a number or \"auto\"";
    for value in ["all", "-1", "true"] {
        let message = set(&[format!("launch.threads={value}")]).unwrap_err();
        assert!(message.ends_with(words), "{message}");
    }
}

#[test]
fn what_does_not_go_with_unified_memory_is_refused() {
    refuses(&[
        ("unified.kilobytes", &["16", "40", "528"], "0, or a multiple of 16 from 32 to 512 (kilobytes)"),
        ("launch.cache_kilobytes", &["3"], "auto, 0, or a power of two (kilobytes)"),
        ("launch.cache_kilobytes", &["4"], "auto where unified.kilobytes is 0: the cache has one size"),
        ("launch.threads", &["0", "1537"], "auto, or a number from 1 to 1536 (threads)"),
        ("launch.threads", &["256"], "auto where unified.kilobytes is 0: block slots follow from what there is"),
        ("unified.gather", &["aggressive"], "simple where unified.kilobytes is 0"),
        ("unified.ports", &["separate"], "shared where unified.kilobytes is 0"),
    ]);
    let of_tiny = |settings: &[&str], words: &str| {
        let message = refused("unified-tiny", settings);
        assert!(message.contains(words), "{settings:?}: {message}");
    };
    of_tiny(&["mrf.banks=8"], "mrf.banks = 8 is not allowed: it has to be 4 where unified.kilobytes is not 0");
    of_tiny(&["mrf.ports=1rw"], "mrf.ports = 1rw is not allowed: it has to be 1r1w where unified.kilobytes is not 0");
    of_tiny(&["cache.kilobytes=0"], "a power of two from 1 to 512 where unified.kilobytes is not 0: the largest cache");
    of_tiny(&["cache.kilobytes=128"], "at most unified.kilobytes, where that is not 0");
    of_tiny(&["cache.kilobytes=1", "cache.ways=4"], "at most 2 * cache.kilobytes where unified.kilobytes is not 0");
    of_tiny(&["launch.cache_kilobytes=16"], "auto, 0, or from cache.ways / 2 to cache.kilobytes: four sets at least");
    of_tiny(&["cache.ways=8", "launch.cache_kilobytes=2"], "from cache.ways / 2 to cache.kilobytes");
    of_tiny(&["mrf.allocation=registers"], "0 where mrf.allocation is registers: a warp has whole rows");
    of_tiny(&["power.present=true", "power.mode=always_on"], "0 where power.present is true");
    of_tiny(&["ideal.present=true"], "0: ideal.present selects a register file whose banks serve registers only");
    assert!(set(&["unified.kilobytes=48", "cache.kilobytes=8"]).unwrap_err().contains("mrf.banks = 16"));
    for settings in
        [&["cache.kilobytes=32"][..], &["cache.ways=8", "launch.cache_kilobytes=4"], &["launch.cache_kilobytes=0"]]
    {
        config("unified-tiny", settings);
    }
}

#[test]
fn designs_whose_banks_serve_memory_contain_the_column() {
    for design in DESIGNS {
        assert_eq!(
            design.contains(crate::unified::UnifiedBank::NAME),
            design.services.serves_memory,
            "{}",
            design.name
        );
    }
}

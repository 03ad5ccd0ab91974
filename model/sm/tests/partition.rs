//! How the driver divides unified memory: against the page, and against the block launcher.

use gpurf_blocks::Block as _;
use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::control::{BlockLauncher, Coordinates, Launch};
use gpurf_sm::partition::Division;
use gpurf_sm::residency::{Demand, Room};

fn load(preset: &str, settings: &[&str]) -> Config {
    Config::load(Start::Preset(preset), settings).unwrap_or_else(|error| panic!("{error}"))
}

fn demand(threads: u32, registers: u32, scratchpad: u32) -> Demand {
    Demand { warps: threads.div_ceil(32), registers, scratchpad }
}

/// Slots, rows of registers, rows of scratchpad memory, kilobytes of the cache.
fn divided(config: &Config, threads: u32, registers: u32, scratchpad: u32) -> [u32; 4] {
    let division = Division::of(config, &demand(threads, registers, scratchpad), threads);
    [division.slots, division.register_rows, division.shared_rows, division.cache_lines / 8]
}

#[test]
fn slots_come_first_and_the_cache_gets_what_is_left() {
    // 768 rows, 32 warps.
    let config = load("unified-384", &[]);
    assert_eq!(divided(&config, 256, 16, 0), [4, 32 * 4, 0, 256]);
    assert_eq!(divided(&config, 256, 64, 0), [4, 32 * 16, 0, 128], "512 rows");
    assert_eq!(divided(&config, 256, 64, 32 << 10), [4, 512, 256, 0]);
    assert_eq!(divided(&config, 256, 64, (32 << 10) - 512), [4, 512, 252, 2], "four rows are 2 KB");
    assert_eq!(divided(&config, 256, 64, (32 << 10) + 1), [3, 384, 193, 64]);
    // A block's scratchpad memory is rounded up to 128 bytes, that of all slots to a row.
    assert_eq!(divided(&config, 256, 16, 1)[2], 1);
    assert_eq!(divided(&config, 32, 4, 130), [16, 16, 8, 256]);
    assert_eq!(divided(&config, 33, 4, 129), [16, 32, 8, 256], "two warps of a row each");
    assert_eq!(divided(&config, 1024, 97, 0), [0; 4], "32 warps of 25 rows");
    assert_eq!(divided(&config, 256, 1, 400_000), [0; 4]);
    assert_eq!(divided(&load("fixed-256", &[]), 256, 16, 0), [0; 4], "nothing is divided");
}

#[test]
fn sizes_that_the_launch_names_are_kept() {
    let cache = |kilobytes: &str| load("unified-384", &[&format!("launch.cache_kilobytes={kilobytes}")]);
    assert_eq!(divided(&cache("256"), 256, 64, 0), [2, 256, 0, 256]);
    assert_eq!(divided(&cache("128"), 256, 64, 0), [4, 512, 0, 128]);
    assert_eq!(divided(&cache("0"), 256, 64, 0), [4, 512, 0, 0]);
    assert_eq!(divided(&cache("256"), 1024, 64, 0), [0; 4]);
    let threads = |most: &str| load("unified-384", &[&format!("launch.threads={most}")]);
    assert_eq!(divided(&threads("512"), 256, 64, 0), [2, 256, 0, 256]);
    assert_eq!(divided(&threads("767"), 256, 64, 0), [2, 256, 0, 256]);
    assert_eq!(divided(&threads("255"), 256, 64, 0), [0; 4]);
    // Threads count, not warps.
    assert_eq!(divided(&threads("160"), 40, 4, 0)[0], 4);
    let ways = load("unified-tiny", &["unified.kilobytes=48", "cache.ways=8", "sm.warps=16"]);
    // 96 rows: 16 warps of five rows leave 16. The smallest cache takes eight.
    assert_eq!(divided(&ways, 32, 20, 0), [16, 80, 0, 8]);
    assert_eq!(divided(&ways, 32, 20, 256), [16, 80, 8, 4]);
    assert_eq!(divided(&ways, 32, 20, 384), [16, 80, 12, 0]);
}

/// The launcher's twin after a launch with the driver's partition.
fn launched(config: &Config, threads: u32, registers: u32, scratchpad: u32, division: Division) -> BlockLauncher {
    let mut launcher = BlockLauncher::new(&config.sm_shape());
    let one = Coordinates { x: 1, y: 1, z: 1 };
    let launch = Launch {
        grid: one,
        block: Coordinates { x: threads, ..one },
        threads: threads as u16,
        registers: registers as u8,
        shared: scratchpad,
        partition: division.partition(),
        shared_rows: division.shared_rows as u16,
        ..Launch::default()
    };
    let most = config.sm.blocks as u8;
    launcher.edge(most, Some(&launch), 0, u64::MAX, true);
    while launcher.busy() && launcher.fresh().is_none() {
        launcher.edge(most, None, 0, u64::MAX, true);
    }
    launcher
}

/// It has as many slots as the driver wants, and as many as reside.
#[test]
fn the_launcher_has_the_driver_s_slots() {
    let (mut fitting, mut refused, mut caches) = (0, 0, std::collections::BTreeSet::new());
    for (preset, settings) in [
        ("unified-tiny", &[][..]),
        ("unified-tiny", &["launch.cache_kilobytes=8", "sm.blocks=3"]),
        ("unified-tiny", &["cache.ways=1", "sm.warps=32", "sm.blocks=16"]),
        ("unified-384", &[]),
        ("unified-384", &["launch.cache_kilobytes=128", "sm.warps=48"]),
        ("unified-384", &["launch.threads=300", "unified.kilobytes=512", "cache.kilobytes=512"]),
    ] {
        let config = load(preset, settings);
        for threads in [1, 32, 33, 96, 160, 256, 508, 1024] {
            for registers in [1, 15, 16, 17, 24, 36, 64, 255] {
                for scratchpad in [0, 1, 127, 2180, 2303, 5120, 40_000, 120_000] {
                    let block = demand(threads, registers, scratchpad);
                    let division = Division::of(&config, &block, threads);
                    let launcher = launched(&config, threads, registers, scratchpad, division);
                    let slots = launcher.slots().iter().max().map_or(0, |&last| u32::from(last) + 1);
                    let resident = Room::of_launch(&config, threads).residency(&block, None).hosts;
                    let what = format!("{settings:?} {block:?} {division:?}");
                    assert_eq!(division.slots, resident, "{what}");
                    if launcher.fault() {
                        assert_eq!(division, Division::NOTHING, "{what}");
                        refused += 1;
                    } else {
                        assert_eq!(division.slots, slots, "{what}");
                        let rows = division.register_rows + division.shared_rows + division.cache_rows();
                        assert!(rows <= config.sm_shape().mrf.depth as u32, "{what}");
                        caches.insert(division.cache_lines);
                        fitting += 1;
                    }
                }
            }
        }
    }
    assert!(fitting > 500 && refused > 300 && caches.len() > 8, "{fitting} {refused} {caches:?}");
}

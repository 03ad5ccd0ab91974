//! Checks what the stimulus of each block reaches. It is a test program of its own: if the tests inside the crate ran the blocks, the blocks' code
//! would be compiled a second time for them.

mod issue;
mod outputs;

use gpurf_blocks::config::Config;
use gpurf_blocks::registry::blocks as all;
use gpurf_stimulus::{Coverage, Pins, Toggles, coverage, knobs, pinned, random, toggles};

#[test]
fn every_block_has_stimulus() {
    for block in all() {
        assert!(!knobs(block.name).is_empty(), "{}", block.name);
    }
}

/// The lockstep passes a buffer that holds an earlier cycle, a replay a buffer with other contents: both have to get the same sequence.
#[test]
fn a_sequence_does_not_depend_on_what_is_in_the_buffer() {
    for block in all() {
        for design in gpurf_blocks::designs::DESIGNS {
            let config = design.config();
            let declaration = (block.twin)(&config).declaration().clone();
            let size = declaration.input_bytes;
            let [mut clean, mut dirty] = [(); 2].map(|()| random(block.name, &config, 7));
            let mut inputs = gpurf_lockstep::Records::zeroed(size, 2);
            for cycle in 0..2_000 {
                inputs.get_mut(0).fill(0);
                inputs.get_mut(1).fill(0xA5 ^ cycle as u8);
                assert!(clean.next(inputs.get_mut(0)) && dirty.next(inputs.get_mut(1)));
                for signal in declaration.signals.iter().filter(|s| s.role == gpurf_blocks::Role::Input) {
                    let field = &signal.field;
                    let [clean, dirty] = [0, 1]
                        .map(|i| (0..field.count).map(|e| field.bytes(inputs.get(i), e).to_vec()).collect::<Vec<_>>());
                    let place = || format!("{} at {}: {}, cycle {cycle}", block.name, design.main_preset, field.name);
                    assert!(clean == dirty, "{}", place());
                }
            }
        }
    }
}

/// Runs the twin of a block without RTL; returns its coverage, and which bits of its inputs were 0 and 1.
fn run(config: &Config, block: &str, cycles: u32, pins: &Pins) -> (Coverage, Toggles) {
    let mut twin = gpurf_blocks::registry::find(block).map(|entry| (entry.twin)(config)).expect("a block");
    let declaration = twin.declaration().clone();
    let (mut stimulus, mut coverage) = (pinned(block, config, 1, pins), coverage(block, config));
    let mut toggles = toggles(&declaration, config);
    let mut record = gpurf_lockstep::Records::zeroed(declaration.record_bytes, 1);
    for _ in 0..cycles {
        let (inputs, compared) = record.get_mut(0).split_at_mut(declaration.input_bytes);
        stimulus.next(inputs);
        twin.cycle(inputs, compared);
        coverage.observe(inputs, compared);
        toggles.observe(inputs, compared);
    }
    (coverage, toggles)
}

/// The coverage counts of a block in the baseline configuration.
fn reached(block: &str, cycles: u32, pins: &Pins) -> Vec<(&'static str, u64)> {
    run(&Config::default(), block, cycles, pins).0.counts()
}

#[test]
fn floating_point_is_reached_in_every_corner() {
    for block in ["fp_unit", "sfu", "shared_memory"] {
        let missed: Vec<_> = reached(block, 100_000, &[]).into_iter().filter(|point| point.1 < 100).collect();
        assert!(missed.is_empty(), "{block}: {missed:?}");
    }
}

#[test]
fn shared_registers_are_reached_in_every_corner() {
    for preset in ["fermi", "share-registers"] {
        let config = &gpurf_blocks::config::preset(preset).expect("a preset").config;
        for block in ["mrf", "operand_stage", "block_launcher", "warp_scheduler"] {
            let missed: Vec<_> =
                run(config, block, 100_000, &[]).0.counts().into_iter().filter(|point| point.1 < 10).collect();
            assert!(missed.is_empty(), "{preset} {block}: {missed:?}");
        }
    }
}

/// Points that were reached too rarely, and bits of inputs that were not both 0 and 1, in this many cycles.
fn missed(config: &Config, block: &str, cycles: u32) -> Vec<String> {
    let (coverage, toggles) = run(config, block, cycles, &[]);
    let rare = coverage.counts().into_iter().filter(|point| point.1 < 10);
    rare.map(|(name, count)| format!("{name}: {count}")).chain(toggles.missed()).collect()
}

#[test]
fn unified_memory_is_reached_in_every_corner() {
    let config = gpurf_blocks::config::preset("unified-tiny").expect("a preset").config;
    for block in [
        "unified_bank",
        "unified_arbiter",
        "unified_shared",
        "cache_access",
        "cache_tags",
        "mrf",
        "mrf_bank_map",
        "operand_stage",
    ] {
        assert_eq!(missed(&config, block, 100_000), [""; 0], "{block}");
    }
}

#[test]
fn a_pinned_knob_stays() {
    let pins = [("offer", 1000), ("ready", 1000), ("partial", 0), ("reset", 0), ("none", 0), ("strange", 0)];
    let mut pins: Vec<(String, u32)> = pins.map(|(name, value)| (name.to_owned(), value)).to_vec();
    pins.push(("only".to_owned(), 0x32));
    let counts = reached("fp_unit", 2_000, &pins);
    let count = |name: &str| counts.iter().find(|point| point.0 == name).expect("a point").1;
    assert!(count("FFMA to nearest even") > 300);
    for other in ["FADD to nearest even", "FSETP eq", "some active lanes", "every stage waits, none offered"] {
        assert_eq!(count(other), 0, "{other}");
    }
    // A result in every cycle but the first two.
    assert_eq!(count("an instruction in each stage"), 1_998);
}

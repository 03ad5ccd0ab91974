//! Coverage of the situations of the SM's blocks is judged, and the judgement fails if the stimulus lacks something.

use std::collections::BTreeMap;
use std::path::Path;

use gpurf_blocks::config::{Config, Start, preset};
use gpurf_launch::{Manifest, Source};
use gpurf_machine::{Machine, ModelEngine, Settings};
use gpurf_oracle::host::{Session, assembled};
use gpurf_regress::programs::{Missed, REQUIRED_ON_SM, Reached, coverage_from_programs};
use gpurf_stimulus::program::{Limits, Program, themes};

/// A request at the SM's boundary that memory does not accept.
const WAITS: &str = "coalescer: a request offered, not taken";
/// A situation that no SM with one result bus reaches.
const NEVER: &str = "mrf_write_queue: a result waits for its bank";

fn baseline(settings: &[&str]) -> Config {
    Config::load(Start::Preset("baseline"), settings).unwrap()
}

/// The situations that the SM reaches in programs of a theme. Only the model runs them: in lockstep the RTL does the same.
fn met(config: &Config, theme: &str) -> Vec<(&'static str, u64)> {
    let weights = themes::find(theme).unwrap().weights();
    let run = |seed: u64| {
        let program = Program::random(seed, &weights, &Limits::of(config)).unwrap();
        let manifest = Manifest::parse(Path::new("program.toml"), &program.manifest(None)).unwrap();
        let Source::Assembly(assembly) = &manifest.source else { panic!("a program has instructions") };
        let image = assembled(&manifest, assembly).unwrap();
        let mut engine = ModelEngine::covered(Settings { seed, ..Settings::new(*config) });
        Session::new(&manifest, &image).unwrap().run(&mut engine).unwrap();
        engine.coverage()
    };
    (1..=3).flat_map(run).collect()
}

fn judged(config: &Config, programs: usize, whole: bool, counted: &[(&'static str, u64)]) -> Vec<Missed> {
    Reached::new(config, programs, whole, counted.iter().copied()).missed
}

#[test]
fn memory_that_is_always_ready_makes_the_judgement_fail() {
    let config = baseline(&[]);
    let enough = coverage_from_programs(&config);
    let wrong = |counted: &[(&'static str, u64)]| {
        let missed = judged(&config, enough, true, counted);
        missed.into_iter().find(|missed| missed.point() == WAITS)
    };
    let (slow, ready) = (met(&config, "memory"), met(&baseline(&["memory.bandwidth=128"]), "memory"));
    assert_eq!(wrong(&slow), None);
    assert_eq!(wrong(&ready), Some(Missed::Rare(WAITS, 0)));
    // A configuration with such memory need not reach the situation.
    let quick = judged(&baseline(&["memory.bandwidth=128"]), enough, true, &ready);
    assert!(quick.iter().all(|missed| missed.point() != WAITS));
}

#[test]
fn few_programs_and_programs_of_ones_own_are_not_judged() {
    let config = baseline(&[]);
    let enough = coverage_from_programs(&config);
    assert!(judged(&config, enough - 1, true, &[]).is_empty());
    assert!(judged(&config, enough, false, &[]).is_empty());
    let missed = judged(&config, enough, true, &[(WAITS, REQUIRED_ON_SM)]);
    assert!(missed.contains(&Missed::Rare("line_table: every row is in use", 0)));
    assert!(missed.iter().all(|missed| missed.point() != WAITS));
}

#[test]
fn an_exception_that_does_not_hold_is_wrong_in_any_run() {
    let config = baseline(&[]);
    let reached = Reached::new(&config, 0, false, [(NEVER, 1)]);
    assert_eq!(reached.missed, [Missed::Reached(NEVER, 1)]);
    assert!(reached.missed[0].to_string().contains("although"), "{}", reached.missed[0]);
    assert!(reached.unreached[NEVER].contains("one bus"));
    // With two buses it is no exception, and has to be reached.
    let two = baseline(&["mrf.issue_ports=2"]);
    assert!(judged(&two, 0, false, &[(NEVER, 1)]).is_empty());
    assert!(judged(&two, coverage_from_programs(&two), true, &[]).contains(&Missed::Rare(NEVER, 0)));
}

/// Three programs of the theme reach what all programs have to reach together.
#[test]
fn programs_about_power_states_reach_each_situation_of_them() {
    let config = preset("greener").unwrap().config;
    let mut counts = BTreeMap::new();
    for (point, count) in met(&config, "power") {
        if point.starts_with("power_states: ") || point.starts_with("access_table: ") {
            *counts.entry(point).or_insert(0) += count;
        }
    }
    assert!(counts.len() >= 13 && counts.values().all(|&count| count >= REQUIRED_ON_SM), "{counts:?}");
}

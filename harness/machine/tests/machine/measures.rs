//! Times of single results, on programs whose times are known, and on kernels.

use std::collections::BTreeMap;

use crate::common::{Program, alone, settings};
use gpurf_blocks::designs::DESIGNS;
use gpurf_machine::measures::{FIRST_READ, PARKED_CYCLES, PARKED_FIRST_READ, READY_WARPS};
use gpurf_machine::{Machine, ModelEngine, Settings, Statistics};

fn measured(set: &[&str]) -> Settings {
    Settings { measure: true, ..settings(set) }
}

/// A warp whose links are so many instructions whose results are not read after one that reads its own result; `tail` at the end.
fn chain(links: usize, apart: usize, tail: &str) -> Statistics {
    let others: String = (0..apart).map(|k| format!("MOV R{}, 0\n", 8 + k)).collect();
    let link = format!("IADD R4, PT, R4, 1, !PT\n{others}");
    let program = Program::new(&format!("MOV R4, 0\n{}{tail}", link.repeat(links)), 1, 32);
    let mut engine = ModelEngine::new(measured(&[]));
    program.run(&mut engine).unwrap();
    engine.statistics()
}

/// What a spread has more than another one.
fn more(of: &Statistics, than: &Statistics, name: &str) -> BTreeMap<u64, u64> {
    let less = |value: &u64| than.spreads[name].get(value).copied().unwrap_or(0);
    let more = of.spreads[name].iter().map(|(value, count)| (*value, count - less(value)));
    more.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_result_is_first_read_as_much_later_as_its_reader_comes() {
    let links = |apart| more(&chain(30, apart, ""), &chain(10, apart, ""), FIRST_READ);
    // The reader waits for its operand: it issues in the cycle after the write, and its read is there in the next one.
    assert_eq!(links(0), [(2, 20)].into());
    assert_eq!(links(3), [(2, 20)].into());
    // A warp alone issues every second cycle, and the result is written in the twelfth one after the issue.
    for apart in [6, 7, 14, 20] {
        let issue = 2 * (apart as u64 + 1);
        assert_eq!(links(apart), [(issue + 1 - 12, 20)].into(), "{apart}");
    }
}

#[test]
fn only_the_first_read_of_a_result_counts() {
    let all = |statistics: &Statistics| statistics.spreads[FIRST_READ].values().sum::<u64>();
    let once = chain(10, 0, "");
    // A second reader of the last link's result, one register twice, and a result that is not read.
    let again = chain(10, 0, "IADD R8, PT, R4, R4, !PT\nIADD R9, PT, R4, R4, !PT\n");
    assert_eq!(all(&again), all(&once) + 1);
    assert!(again.spreads[PARKED_FIRST_READ].is_empty() && again.spreads[PARKED_CYCLES].is_empty());
}

#[test]
fn a_warp_is_ready_in_the_cycles_in_which_it_may_issue() {
    // It waits for its own result, and issues as soon as it may.
    let ready = |links| chain(links, 0, "").events[READY_WARPS];
    assert_eq!(ready(30) - ready(10), 20);
}

#[test]
fn a_new_warp_has_no_results() {
    // What the first block leaves in R4 is not read by the second one.
    let blocks = |blocks| {
        let program = Program::new("IADD R4, PT, R9, 1, !PT\nMOV R9, 0", blocks, 32);
        let mut engine = ModelEngine::new(measured(&["sm.warps=8"]));
        program.run(&mut engine).unwrap();
        engine.statistics().spreads[FIRST_READ].values().sum::<u64>()
    };
    assert_eq!(blocks(40), 40 * blocks(1));
}

#[test]
fn kernels_are_measured_with_every_design_and_nothing_else_changes() {
    for design in DESIGNS {
        let set = design.main_preset;
        let parks = design.events.iter().copied().flatten().any(|(field, _)| *field == "parked");
        let plain = || Settings::new(design.config());
        let measured = || Settings { measure: true, ..plain() };
        let mut in_all = 0;
        for name in ["matrixMul", "blackScholes", "srad"] {
            let (statistics, buffers, skipped) = alone(name, measured());
            // Cycles that are skipped are measured as if they had been run.
            let every = alone(name, Settings { skip: false, ..measured() });
            assert_eq!((&statistics, &buffers, 0), (&every.0, &every.1, every.2), "{name} {set}");
            let (unmeasured, same, _) = alone(name, plain());
            in_all += skipped;
            assert_eq!(same, buffers, "{name} {set}");
            let Statistics { cycles, events, spreads, .. } = statistics;
            let others = |(field, _): &(&&str, &u64)| **field != READY_WARPS;
            assert!(unmeasured.events.iter().eq(events.iter().filter(others)), "{name} {set}");
            assert_eq!(unmeasured.cycles, cycles, "{name} {set}");
            let count = |name| spreads[name].values().sum::<u64>();
            let sum = |name| spreads[name].iter().map(|(value, count)| value * count).sum::<u64>();
            assert!(events[READY_WARPS] >= events["issue"], "{name} {set}");
            assert!(count(FIRST_READ) > 100 && !spreads[FIRST_READ].contains_key(&1), "{name} {set}");
            assert_eq!(count(PARKED_CYCLES) > 0, parks, "{name} {set}");
            if parks {
                let returns: u64 =
                    ["return_next", "return_later", "return_forced"].map(|name| events[name]).iter().sum();
                assert_eq!((count(PARKED_CYCLES), sum(PARKED_CYCLES)), (returns, events["parked"]), "{name}");
                let next = spreads[PARKED_CYCLES].get(&1).copied().unwrap_or(0);
                assert!(next >= events["return_next"], "{name}: {next}");
                let first = &spreads[FIRST_READ];
                assert!(spreads[PARKED_FIRST_READ].iter().all(|(value, count)| first[value] >= *count), "{name}");
                assert!(count(PARKED_FIRST_READ) > 0, "{name}");
            }
        }
        assert!(in_all > 0, "{set}");
    }
}

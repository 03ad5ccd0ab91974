use std::collections::BTreeSet;

use gpurf_blocks::config::{Config, Start, presets};
use gpurf_lockstep::EventTotals;

use super::*;

/// Every preset, with one and two issue ports where it can have both.
fn configurations() -> Vec<Config> {
    let settings: [&[&str]; 2] = [&["mrf.issue_ports=1"], &["mrf.issue_ports=2"]];
    let all = presets().flat_map(|preset| settings.map(|set| Config::load(Start::Preset(preset.name), set).ok()));
    all.flatten().collect()
}

#[test]
fn every_situation_has_a_name_of_its_own_and_a_block() {
    for config in configurations() {
        let points = points(&config);
        let names: BTreeSet<&str> = points.iter().map(|point| point.name).collect();
        assert_eq!(names.len(), points.len());
        for point in points {
            assert!(gpurf_sm::find(point.block()).is_some(), "{}: no such block", point.name);
        }
    }
}

#[test]
fn every_event_that_is_counted_is_one_of_the_sm() {
    for config in configurations() {
        let events = EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration()).by_name();
        for (field, name) in all_sums().filter(|sums| (sums.there)(&config)).flat_map(|sums| sums.points) {
            assert!(events.contains_key(field), "{name}: there is no event {field}");
        }
    }
}

#[test]
fn every_exception_is_one_of_a_situation_that_some_configuration_has() {
    let there: BTreeSet<&str> =
        configurations().iter().flat_map(|config| points(config).into_iter().map(|point| point.name)).collect();
    for (point, _, reason) in unreached::all() {
        assert!(there.contains(point) && !reason.is_empty(), "{point}");
    }
}

#[test]
fn words_are_counted_in_runs_and_when_they_lose_their_place() {
    static EIGHT: Group = Group { there: |_| true, points: &["a", "b", "c"], look: |_| 0 };
    let mut counter = Counter::new(&EIGHT);
    // More distinct words than there are places, one after the other, each of them four times in a row.
    for cycle in 0..64 * 32 {
        counter.add((((cycle / 4) % 64) << 3) | ((cycle / 4) % 8));
    }
    let half = 32 * 32;
    assert_eq!(counter.counts().collect::<Vec<_>>(), [("a", half), ("b", half), ("c", half)]);
}

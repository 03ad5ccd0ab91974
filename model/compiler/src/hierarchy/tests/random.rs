//! Random code, compiled with all options.

use super::*;
use crate::marks::tests::random::program;

#[test]
fn random_code_finds_its_values() {
    let all = all_options();
    let mut counts = LevelCounts::default();
    for seed in 0..300 {
        let text = program(seed);
        // Each program is compiled with a seventh of the options, so that all options are used.
        for options in all.iter().skip(seed as usize % 7).step_by(7) {
            counts += accept(&compiled(&text, options), options);
        }
    }
    let (mrf, orf, lrf) = (counts.mrf.reads(), counts.orf.reads(), counts.lrf.reads());
    assert!(mrf > 100_000 && orf > 50_000 && lrf > 5_000 && counts.orf.copies > 10_000, "{counts:?}");
}

#[test]
fn contents_that_outlive_a_deschedule() {
    for seed in 0..40 {
        let options = HierarchyOptions { keep_when_descheduled: true, ..with_lrf(3, LastResultFile::Split) };
        accept(&compiled(&program(seed), &options), &options);
    }
}

#[test]
fn the_same_code_gives_the_same_levels_again() {
    for seed in 0..40 {
        let options = with_lrf(3, LastResultFile::Unified);
        let code = compiled(&program(seed), &options);
        let mut again = code.clone();
        assert!(run(&mut again, &options).is_some());
        assert_eq!(again, code);
    }
}

#[test]
fn without_levels_above_the_mrf_nothing_changes() {
    let mut code = compiled(&program(1), &HierarchyOptions::NONE);
    let before = code.clone();
    assert_eq!(run(&mut code, &HierarchyOptions::NONE), None);
    assert_eq!(code, before);
    assert!(code.iter().all(|instruction| levels(instruction).is_empty()));
}

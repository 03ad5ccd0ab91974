use std::path::Path;

use gpurf_blocks::config::{Config, preset, presets};
use gpurf_energy::Energies;

use super::*;
use crate::energy::prices;
use crate::sweep::Measured;

fn parse(text: &str) -> Result<EnergyFile, String> {
    EnergyFile::parse(Path::new("my.toml"), text).map_err(|error| error.to_string())
}

fn config(name: &str) -> Config {
    preset(name).unwrap().config
}

/// A run on the register file, with counts of groups and of banks.
fn run() -> Measured {
    Measured::new(1000, [("issue", 500), ("read_groups", 800), ("write_groups", 400), ("read", 100), ("write", 50)])
}

#[test]
fn mistakes_are_refused_with_their_place_and_what_is_expected() {
    let refused = |text: &str, words: &[&str]| {
        let message = parse(text).expect_err(text);
        for word in words {
            assert!(message.contains(word), "{text:?}: {word:?} is not in: {message}");
        }
    };
    refused("[blocks.mrf_arbiter]\nread = 1", &["my.toml:1:1", "a file of energies needs the key `unit`"]);
    refused("unit = \"fJ\"", &["my.toml:1:8", "expected the unit \"pJ\", found \"fJ\""]);
    refused("unit = 1", &["my.toml:1:8", "expected the unit \"pJ\", found integer"]);
    let with_unit = |text: &str| format!("unit = \"pJ\"\n{text}");
    let refused = |text: &str, words: &[&str]| refused(&with_unit(text), words);
    refused("energies = 1", &["my.toml:2:1", "unknown key `energies`", "unit, note, levels, blocks"]);
    refused("levels.l1.read = 1", &["my.toml:2:8", "unknown key `l1`", "mrf, upper, lrf, wire"]);
    refused("levels.lrf.shared_mm = 1", &["my.toml:2:12", "unknown key `shared_mm`", "read, write, private_mm"]);
    refused("levels.mrf = 8", &["my.toml:2:14", "expected a level, found integer"]);
    refused("levels.mrf.read = -8", &["my.toml:2:19", "expected a number of pJ, 0 or more, found -8"]);
    refused("levels.wire = nan", &["my.toml:2:15", "a number of pJ", "NaN"]);
    refused("levels.mrf.private_mm = inf", &["my.toml:2:25", "a number of mm", "inf"]);
    refused("[blocks.tags]", &["my.toml:2:9", "there is no block `tags`", "mrf_arbiter"]);
    refused("[blocks.mrf_arbiter]\nreads = 1", &["my.toml:3:1", "no machine counts an event `reads`", "`cycle`"]);
    refused("[blocks.mrf_arbiter]\nread = \"8 pJ\"", &["my.toml:3:8", "expected a number of pJ, found string"]);
    refused("[blocks.mrf_arbiter]\nread = 1\nread = 2", &["my.toml:4:1", "duplicate key"]);
    refused("note = [", &["my.toml:2:"]);
}

#[test]
fn the_papers_energies_stay_where_a_file_says_nothing_of_them() {
    let file = parse("unit = \"pJ\"\n[levels]\nwire = 2.5\nmrf = { read = 7 }\nlrf.private_mm = 0.1").unwrap();
    let mut energies = Energies::thesis(3, 8);
    file.replace_in(&mut energies);
    let thesis = Energies::thesis(3, 8);
    let mut expected = Energies { wire: 2.5, lrf_distance: 0.1, ..thesis };
    expected.mrf.read = 7.0;
    assert_eq!(energies, expected);
    let mut paper = thesis;
    EnergyFile::paper().replace_in(&mut paper);
    assert_eq!(paper, thesis);
}

#[test]
fn the_parts_of_a_run_by_event_are_those_of_the_papers_models() {
    let paper = EnergyFile::paper();
    for preset in presets() {
        let found = by_event(&preset.config, &run(), &paper);
        let model = prices(&preset.config, &run(), &run(), &paper);
        let levels = model.iter().find(|price| price.key == "register_file").map(|price| price.parts[0].1);
        assert_eq!(found.papers.is_some(), levels.is_some(), "{}", preset.name);
        if let (Some(papers), Some(levels)) = (&found.papers, levels) {
            assert!((papers.total - levels).abs() <= 1e-9 * levels, "{}: {papers:?} {levels}", preset.name);
        }
        assert_eq!((found.left_out.rows.len(), found.left_out.total, found.energies.as_str()), (0, 0.0, "paper"));
    }
}

#[test]
fn an_energy_twice_as_large_takes_twice_as_much() {
    let of = |read: f64| {
        let file = format!("unit = \"pJ\"\n[blocks.mrf_arbiter]\nread = {read}\nwrite = 3\ncycle = 0.5");
        by_event(&config("baseline"), &run(), &parse(&file).unwrap())
    };
    let [once, twice] = [of(2.0), of(4.0)];
    let row = |found: &ByEvent, event: &str| {
        found.left_out.rows.iter().find(|row| row.event == event).cloned().unwrap_or_else(|| panic!("{event}"))
    };
    let (read, write, cycle) = (row(&once, "read"), row(&once, "write"), row(&once, "cycle"));
    assert_eq!((read.of, read.events, read.energy), ("mrf_arbiter", 100, 200.0));
    assert_eq!((write.energy, cycle.events, cycle.energy), (150.0, 1000, 500.0));
    assert_eq!((once.left_out.total, row(&twice, "read").energy, twice.left_out.total), (850.0, 400.0, 1050.0));
    let papers = once.papers.as_ref().unwrap().total;
    assert!((once.total.unwrap() - papers - 850.0).abs() < 1e-9);
    assert!((row(&twice, "read").share - 400.0 / (papers + 1050.0)).abs() < 1e-12);
    let rows = once.papers.iter().flat_map(|group| &group.rows).chain(&once.left_out.rows);
    assert!((rows.map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn what_a_machine_does_not_have_takes_nothing() {
    let file =
        parse("unit = \"pJ\"\n[blocks.two_level_scheduler]\ncycle = 9\n[blocks.mrf_arbiter]\ncycle = 1").unwrap();
    let of = |name: &str| by_event(&config(name), &run(), &file);
    assert_eq!((of("baseline").left_out.total, of("two-level").left_out.total), (1000.0, 10_000.0));
    assert!(of("baseline").without.contains(&"warp_scheduler") && !of("baseline").without.contains(&"mrf_arbiter"));
    assert!(!of("two-level").without.contains(&"two_level_scheduler"));
}

#[test]
fn the_modules_of_a_machine_are_those_of_its_design_and_its_scheduler() {
    for preset in presets() {
        let all = modules(&preset.config);
        let has = |name: &str| all.contains(&name);
        let schedulers = ["warp_scheduler", "two_level_scheduler", "alternating_scheduler"];
        assert_eq!(schedulers.into_iter().filter(|name| has(name)).count(), 1, "{}: {all:?}", preset.name);
        assert!(has("sm") && has("operand_stage") && has("alu"), "{}: {all:?}", preset.name);
        let design = gpurf_blocks::designs::Organisation::of(&preset.config).design();
        assert!(has(design.name), "{}: {all:?}", preset.name);
        for other in gpurf_blocks::designs::DESIGNS.iter().filter(|other| other.name != design.name) {
            let inside = gpurf_sm::find(design.name).unwrap().modules();
            let own = other.blocks.iter().map(|entry| entry.name).filter(|name| !inside.contains(name));
            let shared = |name: &&str| !gpurf_sm::ENTRY.children.contains(name);
            let wrong: Vec<_> = own.filter(shared).filter(|name| has(name)).collect();
            assert!(wrong.is_empty(), "{}: {wrong:?} of {}", preset.name, other.name);
        }
    }
}

#[test]
fn the_projects_own_energies_can_be_read_and_say_where_they_come_from() {
    let rtl = EnergyFile::load("rtl").unwrap();
    assert!(rtl.name == "rtl" && rtl.blocks.len() >= 8, "{rtl:?}");
    let note = rtl.note.clone().unwrap();
    assert!(note.contains("geometric middle") && note.contains("40 nm"), "{note}");
    assert!(rtl.blocks.iter().all(|block| block.events.iter().any(|(_, pj)| *pj > 0.0)));
}

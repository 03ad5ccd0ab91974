//! What configurations are made of, and what is refused.

use super::*;
use crate::designs::DESIGNS;
use crate::mrf::MrfShape;
use crate::testing::{file, refuses, set};

#[test]
fn presets_are_valid_and_have_the_sizes_of_their_papers() {
    for preset in presets() {
        assert_eq!(Config::load(Start::Preset(preset.name), &[] as &[&str]), Ok(preset.config));
    }
    assert_eq!(Config::default().shape(), MrfShape::BASELINE);
    let shape = preset("mrf-1r1w").unwrap().config.shape();
    assert_eq!((shape.banks, shape.dual_port, shape.banks * shape.depth), (4, true, 1024));
}

#[test]
fn settings_override_a_file_and_a_file_its_base() {
    let config = file("base = \"mrf-1r1w\"\n[mrf]\nbanks = 8\nread_order = \"round_robin\"\n").unwrap();
    assert_eq!((config.mrf.banks, config.mrf.ports, config.straps()), (8, BankPorts::Separate, 1));
    let config = set(&["mrf.banks=2", "mrf.banks = 32", "mrf.ports=1r1w", "mrf.read_order=\"oldest\""]).unwrap();
    assert_eq!((config.shape().banks, config.shape().depth, config.shape().dual_port), (32, 32, true));
}

#[test]
fn what_is_written_reads_back() {
    let config = set(&["mrf.banks=4", "mrf.kilobytes=512", "mrf.read_order=round_robin"]).unwrap();
    assert_eq!(file(&config.to_toml()), Ok(config));
    let settings = config.settings();
    assert_eq!(settings, ["mrf.banks=4", "mrf.kilobytes=512", "mrf.read_order=round_robin"]);
    assert_eq!(Config::load(Start::Preset("baseline"), &settings), Ok(config));
    assert_eq!(Config::default().settings(), [] as [&str; 0]);
}

#[test]
fn every_number_outside_its_bounds_is_refused_with_what_is_allowed() {
    refuses(&[
        ("mrf.banks", &["0", "1", "3", "64"][..], "2, 4, 8, 16 or 32"),
        ("mrf.collectors", &["0", "2", "5", "32"], "4, 8 or 16"),
        ("mrf.issue_ports", &["0", "3"], "1 or 2"),
        ("mrf.kilobytes", &["0", "4", "100", "1024"], "a power of two from 8 to 512"),
        ("mrf.tag_bits", &["0", "65"], "a number from 1 to 64"),
        ("sm.code_words", &["32", "3000", "2097152"], "a power of two from 64 to 1048576"),
        ("sm.shared_kilobytes", &["2", "96", "1024"], "48, or a power of two from 4 to 512"),
        ("cache.kilobytes", &["5", "18", "768"], "0, or a power of two from 1 to 512, or three times one (kilobytes)"),
        ("cache.ways", &["0", "5", "16"], "1, 2, 3, 4 or 8"),
        ("sm.alu_latency", &["1", "17"], "a number from 2 to 16"),
        ("sm.shared_latency", &["3", "33"], "a number from 4 to 32"),
        ("sm.sfu_latency", &["0", "7", "33"], "a number from 8 to 32"),
        ("sm.active_warps", &["3", "34"], "0, or an even number from 2 to sm.warps"),
        ("sm.patience", &["4096"], "a number from 0 to 4095 (instructions)"),
        ("compiler.power_threshold", &["32"], "a number from 0 to 31"),
        ("compiler.stack_bytes", &["196624", "8"], "a multiple of 16 from 0 to 196608"),
        ("compiler.private_shared", &["65540", "6"], "a multiple of 4 from 0 to 65536"),
    ]);
    for three in [["cache.kilobytes=48", "cache.ways=4"], ["cache.kilobytes=64", "cache.ways=3"]] {
        let message = set(&three).unwrap_err();
        assert!(
            message.contains("3 where cache.kilobytes is three times a power of two, and nowhere else"),
            "{message}"
        );
    }
    assert!(set(&["cache.kilobytes=48", "cache.ways=3"]).is_ok());
    assert_eq!(
        file("[mrf]\n  banks = 3\n"),
        Err("FILE:2:11: mrf.banks = 3 is not allowed: it has to be 2, 4, 8, 16 or 32".into())
    );
}

#[test]
fn slots_are_handed_over_where_the_register_file_keeps_nothing_for_them() {
    let handover = |preset: &str, more: &[&str]| {
        let settings = [&["sm.handover=true"], more].concat();
        Config::load(Start::Preset(preset), &settings).map_err(|error| error.to_string())
    };
    assert!(handover("two-level", &[]).unwrap().sm.handover);
    for (preset, more) in [("baseline", &[][..]), ("two-level", &["sm.active_warps=2", "sm.alternate=true"])] {
        let message = handover(preset, more).unwrap_err();
        let words = "sm.handover = true is not allowed: it has to be false without slots (sm.active_warps), and where the warps take turns";
        assert!(message.contains(words), "{message}");
    }
    let slots = |preset: &&Preset| preset.config.sm.active_warps != 0 && !preset.config.sm.alternate;
    let mut kept = 0;
    for preset in presets().filter(slots) {
        let keeps = crate::designs::Organisation::of(&preset.config).design().services.keeps_slots;
        let words = "it has to be false with a register file that keeps values of a slot's warp: it has to empty the slot first";
        match handover(preset.name, &[]) {
            Ok(_) => assert!(!keeps, "{}", preset.name),
            Err(message) => assert!(keeps && message.contains(words), "{}: {message}", preset.name),
        }
        kept += usize::from(keeps);
    }
    assert!(kept > 2, "presets whose register file keeps values by slots");
}

/// What a preset sets in the section that selects its design.
fn selected(selection: &Selection, preset: &Preset) -> Vec<String> {
    let section = selection.key.split('.').next().unwrap_or_default();
    preset.config.settings().into_iter().filter(|setting| setting.split('.').next() == Some(section)).collect()
}

#[test]
fn designs_and_their_selections_are_listed_in_one_order() {
    let designs: Vec<&str> = DESIGNS.iter().map(|design| design.selection.key).collect();
    assert_eq!(designs, SELECTIONS.iter().map(|selection| selection.key).collect::<Vec<_>>());
}

#[test]
fn an_sm_has_one_register_file() {
    let designs: Vec<&Selection> = SELECTIONS.iter().copied().filter(|design| !design.key.is_empty()).collect();
    for (n, first) in designs.iter().enumerate() {
        for second in &designs[n + 1..] {
            let none = Config::BASELINE.flat().remove(second.key).unwrap();
            let words = format!("it has to be {none}: {} selects another register file, and an SM has one", first.key);
            let pairs = first.presets.iter().flat_map(|a| second.presets.iter().map(move |b| (a, b)));
            let machine = ["mrf.banks=2", "sm.active_warps=2"].map(str::to_owned).to_vec();
            let settings = |(a, b)| [machine.clone(), selected(first, a), selected(second, b)].concat();
            let mut messages = pairs.map(|pair| set(&settings(pair)).unwrap_err());
            assert!(messages.any(|message| message.ends_with(&words)), "{} and {}", first.key, second.key);
        }
    }
}

#[test]
fn only_the_last_word_on_a_key_is_validated() {
    assert_eq!(set(&["mrf.banks=3", "mrf.banks=8"]).unwrap().mrf.banks, 8);
}

#[test]
fn a_setting_that_is_none_says_what_one_looks_like() {
    for text in ["mrf.banks", "mrf.banks=", "=8", "mrf..banks=8", "base=two-level"] {
        assert_eq!(set(&[text]), Err(format!("--set {text}: expected key=value, for instance mrf.banks=8")));
    }
}

#[test]
fn unknown_keys_are_refused_with_the_known_ones() {
    let message = set(&["mrf.bank=8"]).unwrap_err();
    assert!(
        message.starts_with("--set: mrf.bank=8: unknown field `bank`, expected one of `banks`, `ports`"),
        "{message}"
    );
    let message = file("base = \"baseline\"\nmrf2.banks = 6\n").unwrap_err();
    assert!(
        message.starts_with("FILE:2:1: mrf2.banks = 6: unknown field `mrf2`, expected one of `base`, `mrf`"),
        "{message}"
    );
}

#[test]
fn values_of_another_type_are_refused_with_the_expected_one() {
    let message = set(&["mrf.banks=many"]).unwrap_err();
    assert_eq!(message, "--set: mrf.banks=many: invalid type: string \"many\", expected a whole number, 0 or more");
    let message = set(&["mrf.ports=2rw"]).unwrap_err();
    assert_eq!(message, "--set: mrf.ports=2rw: unknown variant `2rw`, expected `1rw` or `1r1w`");
    let message = file("[mrf]\nread_order = \"youngest\"\n").unwrap_err();
    assert_eq!(
        message,
        "FILE:2:14: read_order = \"youngest\": unknown variant `youngest`, expected `oldest` or `round_robin`"
    );
    for text in ["mrf.banks=-8", "mrf.banks=9223372036854775808"] {
        let message = set(&[text]).unwrap_err();
        assert!(message.ends_with(", expected a whole number, 0 or more") && !message.contains("i128"), "{message}");
    }
    assert_eq!(set(&["mrf=8"]).unwrap_err(), "--set: mrf=8: mrf is a table, as in `[mrf]` or mrf.KEY = VALUE");
    assert_eq!(file("[[mrf]]\nbanks = 8\n").unwrap_err(), "FILE:1:1: [[mrf]]: [mrf] is one table, not a list");
    let endless = Config::load(Start::File(Path::new("/dev/zero")), &[] as &[&str]).unwrap_err().to_string();
    assert!(endless.ends_with("a configuration has at most 1048576 bytes"), "{endless}");
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    let message = file("[mrf]\nbanks = = 8\n").unwrap_err();
    assert!(message.starts_with("FILE:2:9: banks = = 8: "), "{message}");
}

#[test]
fn presets_and_files_that_do_not_exist_are_named() {
    let known: Vec<&str> = presets().map(|preset| preset.name).collect();
    let known = format!("there is no preset rcf; there are: {}", known.join(", "));
    let message = Config::load(Start::Preset("rcf"), &[] as &[&str]).unwrap_err().to_string();
    assert_eq!(message, known);
    let message = file("base = \"rcf\"\n").unwrap_err();
    assert_eq!(message, format!("FILE:1:8: base = \"rcf\": {known}"));
    let message = Config::load(Start::File(Path::new("/nonexistent.toml")), &[] as &[&str]).unwrap_err().to_string();
    assert!(message.starts_with("cannot read the configuration /nonexistent.toml: No such file"), "{message}");
}

//! What configurations are made of, and what is refused.

use gpurf_isa::LastResultFile;

use super::*;

fn set(settings: &[&str]) -> Result<Config, String> {
    Config::load(Start::Preset("baseline"), settings).map_err(|e| e.to_string())
}

/// Loads a file with this text; the message has `FILE` in place of its path.
fn file(text: &str) -> Result<Config, String> {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("gpurf-config-{}-{count}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let result = Config::load(Start::File(&path), &[] as &[&str]);
    std::fs::remove_file(&path).unwrap();
    result.map_err(|e| e.to_string().replace(&path.display().to_string(), "FILE"))
}

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
    let cases = [
        ("mrf.banks", &["0", "1", "3", "64"][..], "2, 4, 8, 16 or 32"),
        ("mrf.collectors", &["0", "2", "5", "32"], "4, 8 or 16"),
        ("mrf.issue_ports", &["0", "3"], "1 or 2"),
        ("mrf.kilobytes", &["0", "4", "100", "1024"], "a power of two from 8 to 512"),
        ("mrf.tag_bits", &["0", "65"], "a number from 1 to 64"),
        ("sm.alu_latency", &["1", "17"], "a number from 2 to 16"),
        ("sm.shared_latency", &["3", "33"], "a number from 4 to 32"),
        ("sm.sfu_latency", &["0", "7", "33"], "a number from 8 to 32"),
        ("sm.active_warps", &["3", "34"], "0, or an even number from 2 to sm.warps"),
        ("sm.patience", &["4096"], "a number from 0 to 4095 (instructions)"),
        ("rfc.entries", &["17"], "a number from 0 to 16"),
        ("rfc.entries", &["1"], "0 where sm.active_warps is 0"),
        ("orf.entries", &["9"], "a number from 0 to 8"),
        ("orf.entries", &["1"], "0 where sm.active_warps is 0"),
    ];
    for (key, values, allowed) in cases {
        for value in values {
            let message = format!("--set: {key} = {value} is not allowed: it has to be {allowed}");
            assert_eq!(set(&[&format!("{key}={value}")]), Err(message));
        }
    }
    assert_eq!(
        file("[mrf]\n  banks = 3\n"),
        Err("FILE:2:11: mrf.banks = 3 is not allowed: it has to be 2, 4, 8, 16 or 32".into())
    );
}

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
}

#[test]
fn orf_and_lrf_stand_where_a_cache_would() {
    let split = preset("lrf-orf-split").unwrap().config;
    assert_eq!((split.orf.entries, split.lrf.banks.banks(), split.sm.active_warps), (3, 3, 8));
    let config = set(&["sm.active_warps=8", "orf.entries=8", "lrf.banks=unified"]).unwrap();
    assert_eq!((config.orf.entries, config.lrf.banks), (8, LastResultFile::Unified));
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));
    let message = Config::load(Start::Preset("orf"), &["rfc.entries=2"]).unwrap_err().to_string();
    let allowed = "0: rfc.entries selects another register file, and an SM has one";
    assert_eq!(message, format!("preset orf: orf.entries = 3 is not allowed: it has to be {allowed}"));
    let message = set(&["lrf.banks=split"]).unwrap_err();
    let allowed = "a number from 1 to 8 where lrf.banks is not none";
    assert_eq!(message, format!("preset baseline: orf.entries = 0 is not allowed: it has to be {allowed}"));
    assert!(set(&["lrf.banks=two"]).unwrap_err().contains("expected one of `none`, `unified`, `split`"));
}

#[test]
fn stealing_needs_single_ported_banks_and_the_place_to_itself() {
    let steal = preset("steal-8").unwrap().config;
    assert_eq!((steal.mrf.banks, steal.shape().depth, steal.mrf.issue_ports, steal.sm.warps), (8, 128, 2, 48));
    assert_eq!(
        (steal.steal.present, steal.steal.read, steal.steal.write, steal.steal.eager),
        (true, true, true, false)
    );
    for (name, read, write) in
        [("banks-8", false, false), ("steal-read-8", true, false), ("steal-write-8", false, true)]
    {
        let config = preset(name).unwrap().config;
        assert_eq!((config.steal.read, config.steal.write), (read, write));
        assert_eq!((config.mrf, config.sm, config.steal.present), (steal.mrf, steal.sm, read || write));
    }
    let paper = preset("banks-16").unwrap().config;
    assert_eq!(Config { mrf: MrfConfig { banks: 8, ..paper.mrf }, ..paper }, preset("banks-8").unwrap().config);

    let config = set(&["steal.present=true", "steal.eager=true", "sm.active_warps=8", "mrf.banks=32"]).unwrap();
    assert_eq!((config.steal.present, config.steal.read, config.steal.eager), (true, false, true));
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));

    let refused = |start: &str, settings: &[&str], allowed: &str| {
        let message = Config::load(Start::Preset(start), settings).unwrap_err().to_string();
        assert!(message.contains(&format!("steal.present = true is not allowed: it has to be {allowed}")), "{message}");
        message
    };
    let ports = "false where mrf.ports is 1r1w: what is stolen is the one port of a bank (mrf.ports=1rw)";
    assert!(refused("mrf-1r1w", &["steal.present=true"], ports).starts_with("--set: "));
    assert!(refused("steal-8", &["mrf.ports=1r1w"], ports).starts_with("preset steal-8: "));
    for (start, selector) in [("rfc", "rfc.entries"), ("orf", "orf.entries")] {
        let other = format!("false: {selector} selects another register file, and an SM has one");
        refused(start, &["mrf.ports=1rw", "steal.present=true"], &other);
    }
    let other = "false: hrf.stt_ram selects another register file, and an SM has one";
    refused("hrf", &["sm.alternate=false", "hrf.buffer_entries=0", "steal.present=true"], other);
    refused("hrf-sram", &["steal.present=true"], "false where sm.alternate is true: that scheduler has one warp");
    let message = file("base = \"mrf-1r1w\"\n[steal]\npresent = true\n").unwrap_err();
    assert!(message.starts_with("FILE:3:11: steal.present = true is not allowed"), "{message}");
    // Policies of a design that is not selected have no effect, and are allowed.
    assert!(set(&["steal.read=true", "mrf.ports=1r1w"]).is_ok());
}

#[test]
fn only_the_last_word_on_a_key_is_validated() {
    assert_eq!(set(&["mrf.banks=3", "mrf.banks=8"]).unwrap().mrf.banks, 8);
}

#[test]
fn a_setting_that_is_none_says_what_one_looks_like() {
    for text in ["mrf.banks", "mrf.banks=", "=8", "mrf..banks=8", "base=rfc"] {
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
    let message = file("base = \"baseline\"\norf2.entries = 6\n").unwrap_err();
    assert!(
        message.starts_with("FILE:2:1: orf2.entries = 6: unknown field `orf2`, expected one of `base`, `mrf`"),
        "{message}"
    );
}

#[test]
fn values_of_another_type_are_refused_with_the_expected_one() {
    let message = set(&["mrf.banks=many"]).unwrap_err();
    assert_eq!(message, "--set: mrf.banks=many: invalid type: string \"many\", expected a number");
    let message = set(&["mrf.ports=2rw"]).unwrap_err();
    assert_eq!(message, "--set: mrf.ports=2rw: unknown variant `2rw`, expected `1rw` or `1r1w`");
    let message = file("[mrf]\nread_order = \"youngest\"\n").unwrap_err();
    assert_eq!(
        message,
        "FILE:2:14: read_order = \"youngest\": unknown variant `youngest`, expected `oldest` or `round_robin`"
    );
    assert!(set(&["mrf.banks=-8"]).unwrap_err().contains("-8"));
    assert!(set(&["mrf=8"]).unwrap_err().starts_with("--set: mrf=8: invalid type: integer `8`"));
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    let message = file("[mrf]\nbanks = = 8\n").unwrap_err();
    assert!(message.starts_with("FILE:2:9: banks = = 8: "), "{message}");
}

#[test]
fn presets_and_files_that_do_not_exist_are_named() {
    let message = Config::load(Start::Preset("rcf"), &[] as &[&str]).unwrap_err().to_string();
    assert_eq!(
        message,
        "there is no preset rcf; there are: baseline, mrf-1r1w, two-level, hrf-sram, banks-16, banks-8, rfc, rfc-live, rfc-hw3, rfc-all, orf, lrf-orf, lrf-orf-split, hrf, hrf-pg, stt-only, steal-read-8, steal-write-8, steal-8"
    );
    let message = file("base = \"rcf\"\n").unwrap_err();
    assert_eq!(
        message,
        "FILE:1:8: base = \"rcf\": there is no preset rcf; there are: baseline, mrf-1r1w, two-level, hrf-sram, banks-16, banks-8, rfc, rfc-live, rfc-hw3, rfc-all, orf, lrf-orf, lrf-orf-split, hrf, hrf-pg, stt-only, steal-read-8, steal-write-8, steal-8"
    );
    let message = Config::load(Start::File(Path::new("/nonexistent.toml")), &[] as &[&str]).unwrap_err().to_string();
    assert!(message.starts_with("cannot read the configuration /nonexistent.toml: No such file"), "{message}");
}

use std::sync::atomic::AtomicBool;

use gpurf_blocks::config::{Config, Start};

use super::*;

static GO: AtomicBool = AtomicBool::new(false);

/// A short kernel at the baseline with these settings.
fn taken(settings: &[&str]) -> Taken {
    let project = Project::find();
    let config = Config::load(Start::Preset("baseline"), settings).unwrap();
    let numbers =
        |_: &Config, s: &gpurf_machine::Statistics| BTreeMap::from([("launches".to_owned(), s.launches.to_string())]);
    let mut taken =
        take(&project, "baseline", &config, &KernelInputs::of_project(&project, "dwtHaar1D"), &numbers, &GO).unwrap();
    taken.golden.reason = "a test \"with\" quotes".into();
    taken
}

#[test]
fn a_golden_comes_back_from_its_text_and_from_another_run() {
    let first = taken(&[]);
    let golden = &first.golden;
    assert_eq!(golden.kernel, "tests/kernels/dwtHaar1D.toml");
    assert!(golden.cycles > 1000 && golden.outputs.len() == 2 && golden.events["issue"] > 1000, "{golden:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/down.toml");
    golden.write(&file).unwrap();
    assert_eq!(Golden::read(&file).unwrap(), *golden);
    assert!(golden.to_text().len() < 2000, "{}", golden.to_text());

    let trace = folder.path().join("down.trace");
    write_trace(&trace, &first.trace).unwrap();
    assert_eq!(read_trace(&trace), Some(first.trace.clone()));
    let whole = std::fs::read(&trace).unwrap();
    std::fs::write(&trace, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(read_trace(&trace), None);

    let again = taken(&[]);
    assert_eq!(again.trace, first.trace);
    assert_eq!(compare(golden, &again, None), Comparison::default());
}

#[test]
fn a_change_is_narrowed_to_an_interval_and_with_a_trace_to_the_cycle() {
    let (before, now) = (taken(&[]), taken(&["sm.alu_latency=9"]));
    let found = compare(&before.golden, &now, None);
    let what: Vec<&str> = found.changes.iter().map(|change| change.what.as_str()).collect();
    for expected in ["cycles", "events.stall_scoreboard", "state"] {
        assert!(what.contains(&expected), "{what:?}");
    }
    // The results stay the same.
    for same in ["commits", "signals", "outputs.details", "events.issue", "stats.launches"] {
        assert!(!what.contains(&same), "{what:?}");
    }
    let interval = found.since.unwrap();
    assert!(interval.last - interval.first < before.golden.interval, "{interval:?}");
    let exact = compare(&before.golden, &now, Some(&before.trace)).since.unwrap();
    assert_eq!(exact.first, exact.last);
    assert!((interval.first..=interval.last).contains(&exact.first), "{exact:?} {interval:?}");
    // The straps are an input: they differ from the first cycle on, the events of that cycle do not.
    assert_eq!((exact.first, exact.events), (0, Vec::new()));
    // The trace of another run is not taken for that of the golden.
    assert_eq!(compare(&before.golden, &now, Some(&now.trace)).since, Some(interval));
}

#[test]
fn the_first_cycle_is_that_in_which_traces_differ() {
    // More memory latency: the first answer comes later, everything before it is the same.
    let (before, now) = (taken(&[]), taken(&["memory.latency=401"]));
    let exact = compare(&before.golden, &now, Some(&before.trace)).since.unwrap();
    assert!(exact.first > 400, "{exact:?}");
    assert!(
        exact.events.iter().any(|(name, before, now)| name == "line_answer" && (*before, *now) == (1, 0)),
        "{exact:?}"
    );
    let marks: Vec<&str> = before.golden.marks.split(' ').collect();
    let number = (exact.first / before.golden.interval) as usize;
    let same = now.golden.marks.split(' ').zip(&marks).take_while(|(now, before)| now == *before).count();
    assert_eq!(same, number);
    assert!(marks.len() as u64 <= MARKS);
}

#[test]
fn a_file_that_is_no_golden_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.toml");
    let message = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Golden::read(&file).unwrap_err().to_string()
    };
    let text = "preset = \"baseline\"\nkernel = 3\n";
    assert!(message(text).contains("g.toml:2: this is no golden: invalid type"), "{}", message(text));
    let half = taken(&[]).golden.to_text();
    assert!(message(&half[..half.len() / 4]).contains("`gpurf golden bless` writes it anew"));
}

#[test]
fn amounts_are_those_of_numbers() {
    let amount = |what: &str, before: &str, now: &str| Change::new(what, before, now).amount();
    assert_eq!(amount("cycles", "200", "210").as_deref(), Some("+10 (+5.00 %)"));
    assert_eq!(amount("events.line", "0", "7").as_deref(), Some("+7"));
    assert_eq!(amount("stats.ipc", "0.500000", "0.400000").as_deref(), Some("-0.100000 (-20.00 %)"));
    assert_eq!(amount("state", "0000000000000001", "0000000000000002"), None);
}

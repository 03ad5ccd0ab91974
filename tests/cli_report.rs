//! `gpurf report` as its users see it: rows, bands, files, messages, statuses.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::sums::{MANIFEST, folder, gpurf};
use common::{BAD_INPUT, FAILED, INTERRUPTED, PASSED, check_refused, read_json, text};

/// A report that has a part of this name.
fn report_with(part: &str) -> &'static str {
    let has = |report: &&gpurf_report::Definition| report.parts.iter().any(|other| other.name == part);
    gpurf_report::reports().find(has).unwrap().name
}

/// A report that has a part on values.
fn report() -> &'static str {
    report_with("values")
}

#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &gpurf(&folder(), arguments), status, words);
}

#[test]
fn a_page_stands_alone_and_the_table_says_what_is_outside() {
    let folder = folder();
    let output =
        gpurf(&folder, &["report", report(), "--only", "values", "--kernel", "sums.toml", "--html", "page.html"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let command = format!("gpurf report {} --only values --kernel sums.toml", report());
    for words in ["values read once", "disagrees", &command, "page.html"] {
        assert!(table.contains(words), "{words:?} is not in: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("sums") && !page.contains("http"), "{page}");
}

#[test]
fn rows_are_written_as_comma_separated_values_too() {
    let folder = folder();
    let arguments = ["report", report(), "--only", "values", "--kernel", "sums.toml", "--csv", "rows.csv", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    let rows = report["rows"].as_array().unwrap();
    let table = fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    assert_eq!(table.lines().count(), rows.len() + 1, "{table}");
    assert!(table.starts_with("report,source,metric,text,paper_low,paper_high,ours,"), "{table}");
    let nowhere = ["report", "--kernel", "sums.toml", "--csv", "none/rows.csv"];
    check_refused(
        &nowhere,
        &gpurf(&folder, &nowhere),
        BAD_INPUT,
        &["--csv none/rows.csv", "its folder does not exist"],
    );
}

#[test]
fn an_artifact_has_reports_digests_and_versions() {
    let folder = folder();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let archive = folder.path().join("artifact.tar.gz");
    let output = Command::new(root.join("scripts/artifact.sh"))
        .args([report(), "--only", "values", "--kernel"])
        .arg(folder.path().join("sums.toml"))
        .arg("--runs")
        .arg(folder.path().join("runs"))
        .envs([("GPURF", env!("CARGO_BIN_EXE_gpurf")), ("OUT", archive.to_str().unwrap())])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let tar = |arguments: &[&str]| {
        let output = Command::new("tar").args(arguments).arg(&archive).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let name = format!("gpurf-{}-artifact", env!("CARGO_PKG_VERSION"));
    let mut listed: Vec<String> = tar(&["-tzf"]).lines().map(str::to_owned).collect();
    listed.retain(|file| !file.ends_with('/'));
    let files = [
        "Cargo.lock",
        "README.txt",
        "goldens.sha256",
        "reports.csv",
        "reports.html",
        "reports.json",
        "reports.txt",
        "versions.txt",
    ];
    assert_eq!(listed, files.map(|file| format!("{name}/{file}")));
    tar(&["-xzf"]);
    let read = |file: &str| fs::read_to_string(folder.path().join(&name).join(file)).unwrap();
    assert!(read("goldens.sha256").lines().count() > 100);
    assert!(
        read("versions.txt").contains("rustc ") && read("versions.txt").contains("commit "),
        "{}",
        read("versions.txt")
    );
    let json: serde_json::Value = serde_json::from_str(&read("reports.json")).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len() + 1, read("reports.csv").lines().count());
}

#[test]
fn times_of_results_are_measured() {
    let arguments = ["report", report_with("times"), "--only", "times", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    let ours = |metric: &str| {
        let rows = report["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["metric"].as_str().unwrap().starts_with(metric));
        row.unwrap_or_else(|| panic!("{metric}: {report}"))["ours"].as_f64().unwrap()
    };
    assert!(ours("warps that may issue") > 0.0);
    assert!(ours("cycles until the first read of a result") > 1.0);
}

#[test]
fn what_cannot_be_reported_is_said() {
    refused(&["report", "prices"], BAD_INPUT, &["prices", "possible values"]);
    refused(&["report", report(), "--only", "vlaues"], BAD_INPUT, &["--only vlaues", "values, cache"]);
    refused(&["report", report(), "--kernel", "none.toml"], BAD_INPUT, &["none.toml"]);
    refused(&["report", report()], BAD_INPUT, &["tests/kernels", "GPURF_HOME", "--kernel"]);
    let twice = ["report", report(), "--kernel", "sums.toml", "--kernel", "./sums.toml"];
    refused(&twice, BAD_INPUT, &["./sums.toml", "another kernel of that name"]);
    let nowhere = ["report", report(), "--kernel", "sums.toml", "--html", "none/page.html"];
    refused(&nowhere, BAD_INPUT, &["--html none/page.html", "its folder does not exist"]);
    let itself = ["report", report(), "--kernel", "sums.toml", "--csv", "sums.toml"];
    refused(&itself, BAD_INPUT, &["--csv sums.toml is the launch manifest: choose another place"]);
    let file = ["report", report(), "--only", "values", "--kernel", "sums.toml", "--runs", "sums.toml"];
    refused(&file, BAD_INPUT, &["sums.toml is a file, not a folder"]);
}

#[test]
fn settings_are_tried_one_at_a_time() {
    let folder = folder();
    let part = "times";
    let report = |more: &[&str]| {
        let arguments =
            [&["report", report_with(part), "--only", part, "--kernel", "sums.toml", "--json"], more].concat();
        read_json(&arguments, &gpurf(&folder, &arguments), PASSED)
    };
    let [plain, tried] = [report(&[]), report(&["--try", "memory.latency=40", "--try", "compiler.schedule=latency"])];
    let rows = |report: &serde_json::Value| report["rows"].as_array().unwrap().clone();
    let mut moved = 0;
    for (plain, tried) in rows(&plain).iter().zip(rows(&tried)) {
        // The report itself is as before.
        assert_eq!((&plain["ours"], &plain["verdict"]), (&tried["ours"], &tried["verdict"]));
        let Some(settings) = tried["tried"].as_array() else { continue };
        assert_ne!(tried["verdict"], "agrees", "{tried}");
        let names: Vec<&str> = settings.iter().map(|one| one["setting"].as_str().unwrap()).collect();
        assert_eq!(names, ["memory.latency=40", "compiler.schedule=latency"]);
        let why = tried["why"].as_str().unwrap();
        assert!(why.contains("that move") && (why.contains("in the band with") || why.contains("nearest")), "{why}");
        moved += 1;
    }
    assert!(moved > 0, "{tried}");
    let usual = report(&["--try", "usual"]);
    let settings = rows(&usual).iter().filter_map(|row| Some(row["tried"].as_array()?.len())).max();
    assert!(settings.is_some_and(|settings| settings > 20), "{usual}");
    let bad = |setting| {
        let arguments = ["report", report_with(part), "--only", part, "--kernel", "sums.toml", "--try", setting];
        refused(&arguments, BAD_INPUT, &[&format!("--try {setting}"), "no machine of the report"]);
    };
    ["sm.alu_latency=99", "sm.wings=2", "memory.latency", "compiler.schedule=best"].into_iter().for_each(bad);
}

#[test]
fn a_kernel_that_goes_wrong_leaves_its_rows_out() {
    let folder = folder();
    let wrong = format!("{MANIFEST}\n[[check]]\nbuffer = \"data\"\nexpected = \"data.bin\"\n");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    fs::write(folder.path().join("data.bin"), [0; 512]).unwrap();
    let arguments =
        ["report", report(), "--only", "values", "--kernel", "sums.toml", "--kernel", "wrong.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), FAILED);
    assert_eq!((&report["result"], &report["rows"]), (&"check_failed".into(), &serde_json::json!([])));
    let message = report["messages"][0].as_str().unwrap();
    assert!(message.contains("wrong: buffer data is wrong") && message.contains("gpurf run wrong.toml"), "{message}");
}

#[cfg(unix)]
#[test]
fn the_first_ctrl_c_ends_the_runs_and_what_is_there_is_shown() {
    let folder = folder();
    // It would count to 2^32.
    let endless = MANIFEST
        .replace("    LD.GLOBAL", "again:\n    IADD R5, P0, R5, 1, !PT\n    @!P0 BRA again, join none\n    LD.GLOBAL");
    fs::write(folder.path().join("endless.toml"), endless).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args([
        "report",
        report(),
        "--only",
        "values",
        "--jobs",
        "1",
        "--runs",
        "runs",
        "--kernel",
        "sums.toml",
        "--kernel",
        "endless.toml",
    ]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !told.contains("1 of 2 runs") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(INTERRUPTED));
    assert!(text(&output.stdout).contains("0 of 0 independent rows"), "{}", text(&output.stdout));
}

/// A folder like a checkout: tiny kernels with the names of the report's kernels, with little data and with more of it.
fn checkout() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kernels = folder.path().join("tests/kernels");
    fs::create_dir_all(&kernels).unwrap();
    let definition = gpurf_report::reports().find(|definition| definition.name == report()).unwrap();
    for name in definition.kernels {
        fs::write(kernels.join(format!("{name}.toml")), MANIFEST).unwrap();
        let large = MANIFEST.replace("grid = [2", "grid = [4").replace("len = 128", "len = 256");
        fs::write(kernels.join(format!("{name}-large.toml")), large).unwrap();
    }
    folder
}

/// The program on this checkout, with a folder for the results of runs.
fn command(checkout: &Path, runs: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(["report", report(), "--runs", runs]).args(arguments);
    command.current_dir(checkout).env("GPURF_HOME", checkout).env("PATH", "");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn made(checkout: &Path, runs: &str, arguments: &[&str]) -> Output {
    let output = command(checkout, runs, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    output
}

/// The last line of progress: how many runs there are, how many were taken from disk, how many were made.
#[track_caller]
fn counts(output: &Output) -> [usize; 3] {
    let errors = text(&output.stderr);
    let line = errors.lines().find(|line| line.contains(" runs: ")).unwrap_or_else(|| panic!("{errors}"));
    let numbers = line.split([' ', ',']).filter_map(|word| word.parse().ok()).take(3).collect::<Vec<usize>>();
    numbers.try_into().unwrap()
}

#[test]
fn large_data_fill_the_sm_unless_small_is_said() {
    let checkout = checkout();
    let values = ["--only", "values"];
    let [large, small] = [&values[..], &["--only", "values", "--small"]].map(|arguments| {
        let page = made(checkout.path(), "runs", &[arguments, &["--html", "page.html"]].concat());
        let html = fs::read_to_string(checkout.path().join("page.html")).unwrap();
        let json = made(checkout.path(), "runs", &[arguments, &["--json"]].concat());
        // Both have the same runs, and progress is no part of the output.
        assert_eq!(counts(&page), [counts(&page)[0], 0, counts(&page)[0]]);
        assert_eq!(counts(&json), [counts(&page)[0], counts(&page)[0], 0]);
        (text(&page.stdout), html, read_json(arguments, &json, PASSED))
    });
    for ((table, page, json), words, size) in [(&large, "large runs", "large"), (&small, "small runs", "small")] {
        assert!(table.contains(words) && page.contains(words), "{table}");
        assert_eq!(json["size"], size);
        let commands = json["rows"].as_array().unwrap().iter().filter_map(|row| row["command"].as_str());
        let again = |command: &str| command.is_empty() || command.contains(" --small") == (size == "small");
        assert!(commands.into_iter().all(again));
    }
    let own = ["--only", "values", "--kernel", "tests/kernels/reduction.toml", "--json"];
    assert_eq!(read_json(&own, &made(checkout.path(), "runs", &own), PASSED)["size"], "own");
    // By default the large manifests are run: without them the report is refused.
    fs::remove_file(checkout.path().join("tests/kernels/reduction-large.toml")).unwrap();
    let output = command(checkout.path(), "runs", &values).output().unwrap();
    check_refused(&values, &output, BAD_INPUT, &["reduction-large.toml", "--small"]);
    refused(&["report", report(), "--small", "--kernel", "sums.toml"], BAD_INPUT, &["--small", "--kernel"]);
}

#[test]
fn the_length_of_a_sample_is_chosen_and_named_in_commands() {
    let checkout = checkout();
    let lengths = [
        (&[][..], Some(gpurf_report::SAMPLE), ""),
        (&["--sample", "20000"], Some(20_000), " --sample 20000"),
        (&["--whole"], None, " --whole"),
    ];
    for (options, sample, words) in lengths {
        let arguments = [&["--only", "values", "--json"], options].concat();
        let json = read_json(&arguments, &made(checkout.path(), "runs", &arguments), PASSED);
        assert_eq!(json["sample"].as_u64(), sample, "{options:?}");
        let rows = json["rows"].as_array().unwrap().iter();
        let commands: Vec<&str> = rows.filter_map(|row| row["command"].as_str()).filter(|c| !c.is_empty()).collect();
        assert!(!commands.is_empty());
        for command in commands {
            let said = [" --sample 20000", " --whole"].into_iter().filter(|option| command.contains(option));
            assert_eq!(said.collect::<String>(), words, "{command}");
        }
    }
    refused(&["report", report(), "--sample", "999"], BAD_INPUT, &["--sample", "1000 to 1000000000"]);
    for other in ["--small", "--whole"] {
        refused(&["report", report(), "--sample", "20000", other], BAD_INPUT, &["--sample", other]);
    }
}

#[test]
fn each_cause_of_a_difference_is_switched_alone_and_with_all_others() {
    let checkout = checkout();
    let causes = |size: &[&str]| {
        let arguments = [&["--only", "causes", "--only", "headlines", "--json"], size].concat();
        read_json(&arguments, &made(checkout.path(), "runs", &arguments), PASSED)
    };
    for (size, expected) in [
        (&[][..], &["none", "order", "addresses", "size", "latencies", "resources", "all"][..]),
        (&["--small"], &["none", "order", "addresses", "latencies", "resources", "all"]),
    ] {
        let report = causes(size);
        let (rows, moved) = (report["rows"].as_array().unwrap(), report["causes"].as_array().unwrap());
        assert!(!rows.is_empty() && rows.len() == moved.len());
        for (row, moved) in rows.iter().zip(moved) {
            let columns = moved["columns"].as_array().unwrap();
            assert_eq!(columns.iter().map(|column| column["mended"].as_str().unwrap()).collect::<Vec<_>>(), expected);
            // With all of them mended, the value is that of the headline.
            let last = columns.last().unwrap();
            assert_eq!((&last["ours"], &last["within"]), (&row["ours"], &row["within"]));
            assert_eq!(
                row["metric"].as_str().unwrap(),
                format!("the paper's machine: {}", moved["metric"].as_str().unwrap())
            );
        }
    }
    let table = text(&made(checkout.path(), "runs", &["--only", "causes", "--small"]).stdout);
    assert!(table.contains("headline, with what is mended") && table.contains("latencies"), "{table}");
}

#[test]
fn a_report_that_is_killed_goes_on_with_the_runs_that_are_left() {
    let checkout = checkout();
    let arguments = ["--small", "--only", "values", "--only", "cache", "--html", "page.html", "--jobs", "1"];
    let page = || fs::read(checkout.path().join("page.html")).unwrap();
    let whole = made(checkout.path(), "apart", &arguments);
    let (expected, [planned, ..]) = (page(), counts(&whole));

    let mut child = command(checkout.path(), "runs", &arguments).spawn().unwrap();
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !told.contains(" runs;") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = checkout.path().join("runs");
    let results = || {
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).collect::<Vec<_>>()
    };
    assert!(!results().is_empty());

    fs::remove_file(checkout.path().join("page.html")).unwrap();
    let again = made(checkout.path(), "runs", &arguments);
    let [all, taken, made_again] = counts(&again);
    assert_eq!((all, taken + made_again), (planned, planned));
    assert!(taken > 0 && made_again > 0, "{taken} {made_again}");
    assert_eq!((text(&again.stdout), page()), (text(&whole.stdout), expected.clone()));

    // A file that is damaged is made again; a fresh report makes all of them.
    fs::write(&results()[0], "{").unwrap();
    let repaired = made(checkout.path(), "runs", &arguments);
    assert_eq!(counts(&repaired), [planned, planned - 1, 1]);
    assert_eq!((text(&repaired.stdout), page()), (text(&whole.stdout), expected));
    let values = counts(&made(checkout.path(), "runs", &["--small", "--only", "values"]));
    assert_eq!(values, [values[0], values[0], 0]);
    let fresh = made(checkout.path(), "runs", &["--small", "--only", "values", "--fresh"]);
    assert_eq!(counts(&fresh), [values[0], 0, values[0]]);
    // A folder that cannot be written is reported, and the report is made.
    let nowhere = made(checkout.path(), "/proc", &["--small", "--only", "values"]);
    assert!(text(&nowhere.stderr).contains("not every result is kept: cannot write to /proc"));
    // A file in the place of the folder is refused before anything runs.
    let file = command(checkout.path(), "page.html", &["--small", "--only", "values"]).output().unwrap();
    assert_eq!(file.status.code(), Some(BAD_INPUT));
    assert!(text(&file.stderr).contains("page.html is a file, not a folder"));
}

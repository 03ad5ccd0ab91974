//! `gpurf regress` as its users see it: the report is the same however the regression was run, and whatever killed it.
//!
//! Cases are those of small blocks, which build in seconds; faults are the hand-written mutants.

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{
    BAD_INPUT, FAILED, INTERRUPTED, PASSED, TOOL, check_refused, files_below, interrupted_when, set_read_only,
    slow_verilator, stopped_by_permissions, text,
};
use gpurf_regress::{Project, mutants};
use serde_json::Value;

/// Blocks with one variant, whose lockstep has no other module in it.
const BLOCKS: [&str; 10] = [
    "ram_1rw",
    "mrf_bank_map",
    "mrf_write_queue",
    "mrf_collector",
    "coalescer",
    "fault_unit",
    "lane_crossbar",
    "special_registers",
    "constant_memory",
    "decode",
];

fn regress(out: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(["regress", "--out"]).arg(out).args(arguments).current_dir(std::env::temp_dir());
    command.env_remove("GPURF_HOME").stdin(Stdio::null());
    command
}

fn run(out: &Path, arguments: &[&str]) -> Output {
    regress(out, arguments).output().unwrap()
}

#[track_caller]
fn ends(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// A plan with these blocks, seeds and cycles, below a folder.
fn plan(folder: &Path, blocks: &[&str], seeds: u64, cycles: u64) -> String {
    let seeds: Vec<u64> = (1..=seeds).collect();
    let text = format!(
        "[[smoke]]\nrun = \"goldens\"\nnames = [\"saxpy\"]\nlimit_s = 60\n\n\
         [[smoke]]\nrun = \"blocks\"\nnames = {blocks:?}\nseeds = {seeds:?}\ncycles = {cycles}\nlimit_s = 60\n"
    );
    let file = folder.join("plan.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The first mutant of a module that is not equivalent to the original, as the value of `--rtl`. Its file keeps its path, so that its builds are
/// reused.
fn mutant(module: &str) -> String {
    let project = Project::find();
    let list = mutants::hand_written(&project, &|name| name == module).unwrap();
    let mutant = list.iter().find(|mutant| mutant.equivalent.is_none()).unwrap();
    let source = mutant.source(&project).unwrap().unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("regress/{module}.sv"));
    if !fs::read_to_string(&file).is_ok_and(|old| old == source) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, source).unwrap();
    }
    format!("{module}={}", file.display())
}

/// All reports and reproducers of a regression, without times and without its path.
fn said(out: &Path) -> Vec<(PathBuf, String)> {
    let place = out.to_str().unwrap().to_owned();
    let number = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let without_times = |text: &str| {
        let mut plain = text.replace(&place, "OUT");
        for before in ["\"wall_s\":", "\"build_s\":", " time=\"", "class=\"time\">"] {
            let mut parts = plain.split(before);
            let first = parts.next().unwrap_or_default().to_owned();
            plain = parts.fold(first, |all, part| all + before + part.trim_start_matches(number));
        }
        plain
    };
    let mut files = Vec::new();
    for name in ["results.json", "report.html", "junit.xml"] {
        let file = out.join(name);
        files.push((PathBuf::from(name), without_times(&fs::read_to_string(&file).unwrap())));
    }
    let mut folders = vec![out.join("failures")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "reproducer.json") {
                let name = path.strip_prefix(out).unwrap().to_owned();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn results(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("results.json")).unwrap()).unwrap()
}

#[test]
fn jobs_and_shards_do_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS[..3], 4, 5_000);
    let (first, second) = (mutant("mrf_bank_map"), mutant("ram_1rw"));
    let common = ["--plan", &plan, "--rtl", &first, "--rtl", &second];
    let one = folder.path().join("one");
    ends(&run(&one, &[&common[..], &["--jobs", "1"]].concat()), FAILED);
    let expected = said(&one);
    // Three reports, and the reproducers of two buckets.
    assert_eq!(expected.len(), 5, "{:?}", expected.iter().map(|file| &file.0).collect::<Vec<_>>());
    for jobs in ["2", "4"] {
        let out = folder.path().join(jobs);
        ends(&run(&out, &[&common[..], &["--jobs", jobs]].concat()), FAILED);
        assert!(said(&out) == expected, "{jobs} jobs say something else");
    }
    let mut shards: Vec<String> = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let out = folder.path().join(shard.replace('/', "-of-"));
        run(&out, &[&common[..], &["--shard", shard, "--jobs", "2"]].concat());
        shards.extend(["--merge".to_owned(), out.to_str().unwrap().to_owned()]);
    }
    let merged = folder.path().join("merged");
    let shards: Vec<&str> = shards.iter().map(String::as_str).collect();
    ends(&run(&merged, &[&common[..], &shards].concat()), FAILED);
    assert!(said(&merged) == expected, "shards say something else");

    // Two of three shards: --resume runs the rest.
    let part = folder.path().join("part");
    ends(&run(&part, &[&common[..], &shards[..4]].concat()), FAILED);
    // A failure takes precedence over cases that have not been run.
    assert_ne!(results(&part)["result"], "interrupted");
    assert_ne!(results(&part)["not_run"].as_array().map(Vec::len), Some(0));
    ends(&run(&part, &[&common[..], &["--resume"]].concat()), FAILED);
    assert!(said(&part) == expected, "what was missing says something else");
}

#[test]
fn shards_that_leave_out_cases_are_no_pass() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["mrf_bank_map"], 1, 5_000);
    let shard = folder.path().join("shard");
    ends(&run(&shard, &["--plan", &plan, "--shard", "1/2"]), PASSED);
    let merged = folder.path().join("merged");
    let merge = run(&merged, &["--plan", &plan, "--merge", shard.to_str().unwrap()]);
    ends(&merge, INTERRUPTED);
    assert!(text(&merge.stderr).contains("have not been run: --resume runs them"), "{}", text(&merge.stderr));
    assert_eq!(results(&merged)["result"], "interrupted");
    ends(&run(&merged, &["--plan", &plan, "--resume"]), PASSED);
}

#[test]
fn killed_ten_times_it_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS[..3], 30, 20_000);
    let broken = mutant("mrf_bank_map");
    let common = ["--plan", &plan, "--rtl", &broken, "--jobs", "2"];
    let whole = folder.path().join("whole");
    ends(&run(&whole, &common), FAILED);
    let expected = said(&whole);

    let out = folder.path().join("killed");
    let journal = out.join("journal.jsonl");
    let lines = || fs::read(&journal).map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count());
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    // Ten times among the cases, and once when all have been run and the bucket gets its reproducer.
    let all = 1 + results(&whole)["runs"].as_array().unwrap().len();
    let mut before = 0;
    for number in 0..11 {
        let mut process = regress(&out, &[&common[..], &["--resume"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // Some cases later, whatever the machine's speed, at a random moment of the next ones.
        let goal = if number == 10 { all } else { before + (seed % 5) as usize };
        while lines() < goal && process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis((seed >> 8) % 30));
        process.kill().unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(9), "it had ended");
        assert!(lines() >= before.max(goal), "lines were lost");
        before = lines();
    }
    let output = run(&out, &[&common[..], &["--resume"]].concat());
    ends(&output, FAILED);
    assert!(said(&out) == expected, "it says something else");
    // Nothing was run twice: each case has one line.
    let text = fs::read_to_string(&journal).unwrap();
    let mut cases: Vec<String> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["outcome"]["case"].as_str().map(str::to_owned))
        .collect();
    let all = cases.len();
    cases.sort();
    cases.dedup();
    assert_eq!((cases.len(), all), (all, results(&out)["runs"].as_array().unwrap().len()));

    // With everything done, --resume runs nothing and reports the same.
    let stamp = fs::metadata(&journal).unwrap().len();
    ends(&run(&out, &[&common[..], &["--resume"]].concat()), FAILED);
    assert_eq!(fs::metadata(&journal).unwrap().len(), stamp);
}

#[test]
fn ten_faults_are_ten_buckets() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS, 2, 20_000);
    let mutants: Vec<String> = BLOCKS.iter().flat_map(|module| ["--rtl".to_owned(), mutant(module)]).collect();
    let mutants: Vec<&str> = mutants.iter().map(String::as_str).collect();
    let out = folder.path().join("out");
    ends(&run(&out, &[&["--plan", plan.as_str()], &mutants[..]].concat()), FAILED);
    let results = results(&out);
    let buckets = results["buckets"].as_array().unwrap();
    let blocks: Vec<&str> = buckets.iter().map(|bucket| bucket["block"].as_str().unwrap()).collect();
    let mut sorted = blocks.clone();
    sorted.sort_unstable();
    let mut expected = BLOCKS.to_vec();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "{}", results["buckets"]);
    for bucket in buckets {
        let artifact = out.join(bucket["artifact"].as_str().unwrap());
        let replay = artifact.join("reproducer.json");
        let again =
            Command::new(env!("CARGO_BIN_EXE_gpurf")).args(["cosim", "--replay"]).arg(&replay).output().unwrap();
        ends(&again, FAILED);
    }
}

#[test]
fn what_does_not_end_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let text =
        "[[smoke]]\nrun = \"blocks\"\nnames = [\"ram_1rw\"]\ncycles = 1000000000000\nlimit_s = 1\nseeds = [1, 2]\n";
    fs::write(&file, text).unwrap();
    let out = folder.path().join("out");
    ends(&run(&out, &["--plan", file.to_str().unwrap(), "--jobs", "2"]), FAILED);
    let results = results(&out);
    assert_eq!((&results["result"], &results["buckets"][0]["count"]), (&"time_limit".into(), &2.into()));
    assert_eq!(results["runs"][0]["message"], "no end within 1 s");
}

#[test]
fn what_is_interrupted_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let entry = |name: &str, cycles: u64| {
        format!("[[smoke]]\nrun = \"blocks\"\nnames = [\"{name}\"]\ncycles = {cycles}\nlimit_s = 600\n")
    };
    fs::write(&file, entry("ram_1rw", 1000) + &entry("mrf_bank_map", 1_000_000_000_000)).unwrap();
    let out = folder.path().join("out");
    let process = regress(&out, &["--plan", file.to_str().unwrap(), "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = out.join("journal.jsonl");
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    let output = process.wait_with_output().unwrap();
    ends(&output, INTERRUPTED);
    assert!(text(&output.stderr).contains("interrupted: --resume continues the run"), "{}", text(&output.stderr));
    let results = results(&out);
    assert_eq!(
        (&results["result"], &results["not_run"][0]),
        (&"interrupted".into(), &"baseline/block/mrf_bank_map/1".into())
    );
    assert_eq!(results["runs"][0]["result"], "pass");
}

#[test]
fn a_build_that_is_interrupted_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    // Another text of the module, which has not been built yet.
    let source = fs::read_to_string(Project::find().root.join("rtl/mrf/mrf_bank_map.sv")).unwrap();
    let module = folder.path().join("mrf_bank_map.sv");
    fs::write(&module, format!("{source}// {}\n", folder.path().display())).unwrap();
    let file = folder.path().join("plan.toml");
    fs::write(&file, "[[smoke]]\nrun = \"blocks\"\nnames = [\"mrf_bank_map\"]\ncycles = 1000\nlimit_s = 60\n").unwrap();
    let (verilator, begun) = slow_verilator(folder.path());
    let out = folder.path().join("out");
    let rtl = format!("mrf_bank_map={}", module.display());
    let arguments = ["--plan", file.to_str().unwrap(), "--jobs", "1", "--rtl", &rtl];
    let mut command = regress(&out, &arguments);
    command.env("VERILATOR", verilator);
    ends(&interrupted_when(command, &begun), INTERRUPTED);
    assert_eq!(results(&out)["runs"].as_array().unwrap().len(), 0, "{}", results(&out));
    ends(&run(&out, &[&arguments[..], &["--resume"]].concat()), PASSED);
    assert_eq!(results(&out)["runs"][0]["result"], "pass");
}

#[test]
fn a_full_disk_and_a_folder_that_is_none_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS[..2], 3, 1_000);
    let out = folder.path().join("out");
    ends(&run(&out, &["--plan", &plan]), PASSED);
    let expected = said(&out);
    // The journal outgrows the disk: the limit is in kilobytes.
    let full = folder.path().join("full");
    let program = env!("CARGO_BIN_EXE_gpurf");
    let command =
        format!("trap '' XFSZ; ulimit -f 2; exec {program} regress --plan {plan} --jobs 1 --out {}", full.display());
    let output = Command::new("bash").args(["-c", &command]).output().unwrap();
    ends(&output, TOOL);
    let message = text(&output.stderr);
    assert!(message.contains("cannot write") && message.contains("--resume"), "{message}");
    assert!(!full.join("results.json").exists());
    let journal = fs::read_to_string(full.join("journal.jsonl")).unwrap();
    assert!(journal.len() <= 2048 && journal.ends_with("}\n"), "{journal}");
    assert!(journal.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    ends(&run(&full, &["--plan", &plan, "--resume"]), PASSED);
    assert!(said(&full) == expected, "it says something else");

    for out in [Path::new(&plan), &Path::new(&plan).join("out")] {
        let none = run(out, &["--plan", &plan]);
        check_refused(&["regress"], &none, BAD_INPUT, &["--out", "plan.toml is a file, not a folder"]);
    }
}

#[test]
fn a_read_only_folder_is_said_and_keeps_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS[..2], 2, 1_000);
    let out = folder.path().join("out");
    ends(&run(&out, &["--plan", &plan]), PASSED);
    let (before, expected) = (files_below(&out), said(&out));
    let stopped = |out: &Path, arguments: &[&str], words: &[&str]| {
        let mut command = stopped_by_permissions(env!("CARGO_BIN_EXE_gpurf"));
        command.args(["regress", "--plan", &plan, "--out"]).arg(out).args(arguments).stdin(Stdio::null());
        check_refused(arguments, &command.output().unwrap(), TOOL, &[words, &["Permission denied"]].concat());
    };
    set_read_only(&out, true);
    stopped(&out, &[], &["cannot write", "earlier.json"]);
    stopped(&out, &["--resume"], &["cannot write", "report.html"]);
    stopped(&out.join("new"), &[], &["cannot make the folder"]);
    assert!(files_below(&out) == before, "a file is not what it was");
    set_read_only(&out, false);
    fs::remove_file(out.join("results.json")).unwrap();
    set_read_only(&out, true);
    // The journal of the earlier run cannot be renamed.
    stopped(&out, &[], &["cannot write", "journal.before.jsonl"]);
    set_read_only(&out, false);
    ends(&run(&out, &["--plan", &plan, "--resume"]), PASSED);
    assert!(said(&out) == expected, "it says something else");
}

#[test]
fn wrong_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &BLOCKS[..1], 1, 1_000);
    let out = folder.path().join("out");
    let refused =
        |arguments: &[&str], words: &[&str]| check_refused(arguments, &run(&out, arguments), BAD_INPUT, words);
    refused(&["--plan", &plan, "--tier", "weekly"], &["there is no tier weekly; there are: smoke"]);
    refused(&["--plan", "/none.toml"], &["/none.toml: No such file"]);
    refused(&["--plan", &plan, "--shard", "4/3"], &["expected I/N with I from 1 to N"]);
    ends(&run(&out, &["--plan", &plan]), PASSED);
    refused(&["--plan", &plan, "--resume", "--cycles", "7"], &["the plan has changed since this regression began"]);
    let other = mutant("ram_1rw");
    refused(&["--plan", &plan, "--resume", "--rtl", &other], &["the RTL has changed since"]);
    let merge = run(&folder.path().join("merged"), &["--plan", &plan, "--merge", "/none"]);
    check_refused(&["--merge"], &merge, BAD_INPUT, &["--merge /none", "journal.jsonl"]);
}

#[test]
fn a_command_that_is_refused_takes_nothing_away() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["plan.toml", "out"].map(|name| folder.path().join(name));
    let entry = "[[smoke]]\nrun = \"goldens\"\nnames = [\"saxpy\"]\npresets = [\"baseline\"]\nlimit_s = 60\n";
    fs::write(&file, entry).unwrap();
    let plan = ["--plan", file.to_str().unwrap()];
    ends(&run(&out, &plan), PASSED);
    let before = files_below(&out);
    let refused = |arguments: &[&str], words: &[&str]| {
        let arguments = [&plan[..], arguments].concat();
        check_refused(&arguments, &run(&out, &arguments), BAD_INPUT, words);
        assert!(files_below(&out) == before, "{arguments:?}: a file is not what it was");
    };
    refused(&["--merge", "/none"], &["--merge /none", "journal.jsonl"]);
    refused(&["--resume", "--shard", "2/3"], &["the folder is of shard 1/1, not 2/3: choose its --out"]);
    refused(&["--junit", folder.path().to_str().unwrap()], &["--junit", "it is a folder"]);
    refused(&["--junit", plan[1]], &["--junit ", "plan.toml is the test plan: choose another place"]);
    refused(&["--junit", "/none/junit.xml"], &["--junit /none/junit.xml: its folder does not exist"]);
    // Another process writes the journal.
    let journal = fs::File::open(out.join("journal.jsonl")).unwrap();
    journal.lock().unwrap();
    refused(&[], &["another regression is under way"]);
    drop(journal);
    // A run that is not refused keeps the earlier results.
    let first = fs::read(out.join("results.json")).unwrap();
    ends(&run(&out, &plan), PASSED);
    assert!(fs::read(out.join("earlier.json")).unwrap() == first);
}

#[test]
fn the_plan_of_the_examples_runs() {
    let own = Project::find().root.join("examples/own");
    let [plan, arbiter] = ["plan.toml", "my_arbiter.sv"].map(|name| own.join(name));
    let out = tempfile::tempdir().unwrap();
    let rtl = format!("mrf_arbiter={}", arbiter.display());
    let arguments = ["--plan", plan.to_str().unwrap(), "--tier", "mine", "--rtl", &rtl, "--cycles", "5000"];
    // Two of its cases: to build and to run all of them takes a minute.
    let output = run(out.path(), &[&arguments[..], &["--shard", "1/13"]].concat());
    ends(&output, PASSED);
    let blocks: Vec<_> = results(out.path())["runs"].as_array().unwrap().iter().map(|r| r["block"].clone()).collect();
    assert_eq!(blocks, ["mrf_arbiter", "mrf"]);
}

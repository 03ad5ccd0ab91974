//! Random programs on real RTL: a fault in a module is found, and the shrunk program is short.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::registry;
use gpurf_launch::Manifest;
use gpurf_lockstep::Verdict;
use gpurf_regress::{Inputs, JobResult, KernelInputs, LockstepJob, Project, REGISTERS, RtlSources, run_job, suite};
use gpurf_stimulus::program::themes;
use verilated::{Options, Toolchain};

static GO: AtomicBool = AtomicBool::new(false);

fn run(project: &Project, job: &LockstepJob, rtl: &RtlSources) -> JobResult {
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    // A quick build: each runs for some thousand cycles only.
    let options = Options { optimise: false, ..Options::default() };
    run_job(project, &tools, job, rtl, &options, &GO).unwrap()
}

#[test]
fn an_sm_that_is_trained_is_compared_as_any_other() {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    // A small SM, because it is compiled twice.
    let sizes = ["sm.warps=8", "mrf.kilobytes=32", "mrf.collectors=4"];
    let config = Config::load(Start::Preset("baseline"), &sizes).unwrap();
    let job = suite::kernel(KernelInputs::of_project(&project, "saxpy"), config, 1);
    let options = Options { profile: true, ..Options::default() };
    let result = run_job(&project, &tools, &job, &RtlSources::default(), &options, &GO).unwrap();
    assert_eq!((result.result, result.report.as_str()), (Verdict::Pass, ""));
    assert!(result.cycles > 2000 && result.signals_compared > 500 && result.probes_absent.is_empty());
}

#[test]
fn a_fault_in_the_alu_is_found_and_leaves_a_short_program() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project { failures: folder.path().join("failures"), ..Project::find() };
    // The sizes of `gpurf-machine`'s tests, whose build is used here too.
    let config = Config::load(Start::Preset("baseline"), &["mrf.issue_ports=2", "sm.warps=16"]).unwrap();
    let weights = themes::find("arithmetic").unwrap().weights();
    // One operation returns its operand unchanged.
    let path = project.rtl().join(registry::find("alu").unwrap().path).with_extension("sv");
    let text = std::fs::read_to_string(path).unwrap();
    let (find, replace) = ("d[l] = reverse(a[l]);", "d[l] = a[l];");
    assert_eq!(text.matches(find).count(), 1, "{find}");
    let broken = folder.path().join("alu.sv");
    std::fs::write(&broken, text.replace(find, replace)).unwrap();
    let rtl = RtlSources { overrides: vec![("alu".into(), broken)], ..RtlSources::default() };

    // The first program that shows the fault. Which one that is depends on the generator, and a reversed value may equal its operand.
    let reverses = |passed: &JobResult| passed.coverage.iter().any(|(point, count)| *point == "BREV" && *count > 0);
    let shows = |job: LockstepJob| {
        let passed = run(&project, &job, &RtlSources::default());
        assert_eq!((passed.result, passed.report.as_str()), (Verdict::Pass, ""));
        assert!(passed.cycles > 2000);
        let failed = reverses(&passed).then(|| run(&project, &job, &rtl))?;
        (failed.result != Verdict::Pass).then_some((job, failed))
    };
    let (job, failed) = suite::programs(config, 1, 16, Some(("arithmetic", &weights)))
        .into_iter()
        .find_map(shows)
        .expect("one of 16 arithmetic programs meets the fault");
    assert_eq!(failed.result, Verdict::Diverged, "{}", failed.report);
    assert_eq!(failed.divergence.as_ref().unwrap().block, "alu");
    for words in ["BREV R", "cosim --replay ", "program.toml", "1 block, 1 thread"] {
        assert!(failed.report.contains(words), "{words}: {}", failed.report);
    }

    // The folder has the program, which fails again in the same way, and the waveform.
    let folder = failed.failure_folder.unwrap();
    let program = folder.join("program.toml");
    let manifest = Manifest::load(&program).unwrap();
    let replay = manifest.replay.unwrap();
    assert_eq!((replay.seed, replay.settings), (job.seed, config.settings()));
    assert!(replay.rtl[0].starts_with("alu="), "{:?}", replay.rtl);
    let text = std::fs::read_to_string(&program).unwrap();
    let instructions = text.lines().filter(|line| line.starts_with("    ") && !line.contains("//")).count();
    assert!(instructions < 20, "{text}");
    assert!(folder.join("wave.vcd").exists());
    assert!(std::fs::read_to_string(folder.join("report.txt")).unwrap().contains("BREV"));
    let again = replayed(&program, config);
    let result = run(&project, &again, &rtl);
    assert_eq!((result.result, result.failing_cycle), (Verdict::Diverged, failed.failing_cycle));
    assert_eq!(run(&project, &again, &RtlSources::default()).result, Verdict::Pass);
}

/// The job that `--replay` makes of a program.
fn replayed(program: &Path, config: Config) -> LockstepJob {
    let inputs =
        KernelInputs { manifest: program.to_owned(), ptx: Default::default(), text: None, registers: REGISTERS };
    let job = suite::kernel(inputs, config, 1);
    assert!(matches!(job.inputs, Inputs::Kernel(_)));
    LockstepJob { keep_failure: false, ..job }
}

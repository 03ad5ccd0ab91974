//! The same RTL on a second simulator: RTL that equals its twin on Verilator has to equal it on CXXRTL too.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::registry::Entry;
use gpurf_lockstep::Verdict;
use gpurf_regress::mutants::{self, policies};
use gpurf_regress::{Inputs, JobResult, LockstepJob, Project, RtlSources, request, run_all, run_job, suite};
use verilated::{Options, Simulator, Toolchain};

/// Cycles of each block.
const CYCLES: u64 = 10_000;
/// Cycles of whole register files, whose parts also run on their own: a cycle takes ten times as long as one of a part.
const FEW_CYCLES: u64 = 2_000;
/// Number of mutants of a module.
const FAULTS: usize = 5;
/// Blocks that only wire others, all of which run on their own: they would take as long as all the others together.
const LEFT_OUT: [&str; 2] = ["operand_stage", "sm"];

static GO: AtomicBool = AtomicBool::new(false);

fn options(simulator: Simulator) -> Options {
    Options { simulator, optimise: false, ..Options::default() }
}

fn tools(project: &Project) -> Toolchain {
    Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler")
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

fn run(project: &Project, job: &LockstepJob, rtl: &RtlSources, simulator: Simulator) -> JobResult {
    let result = run_job(project, &tools(project), job, rtl, &options(simulator), &GO);
    result.unwrap_or_else(|error| panic!("{} on {simulator}: {error}", job.block))
}

/// A block in its small size, under each policy that needs no other build.
fn jobs(block: &Entry) -> Vec<LockstepJob> {
    let parameters = |config: &_| (block.twin)(config).declaration().parameters.clone();
    let configs = policies(block.name);
    let of_first = configs.iter().filter(|config| parameters(config) == parameters(&configs[0]));
    let cycles = if is_register_file(block) { FEW_CYCLES } else { CYCLES };
    of_first
        .map(|&config| LockstepJob { keep_failure: false, ..suite::random(block.name, config, 1, cycles) })
        .collect()
}

/// Register files and caches that consist of other blocks. A build of one takes as long as those of ten parts, all of which run on their own.
fn is_whole(block: &Entry) -> bool {
    block.name != "mrf" && (block.name == "cache" || is_register_file(block))
}

fn is_register_file(block: &Entry) -> bool {
    DESIGNS.iter().any(|design| design.name == block.name)
}

/// One in this many blocks is built with CXXRTL in every run of the tests: a build takes 15 to 25 seconds of a processor.
const CHOICE: usize = 16;

#[test]
fn a_choice_of_blocks_is_equal_to_its_twins_on_cxxrtl() {
    let parts: Vec<&str> = gpurf_sm::all().filter(|block| !is_whole(block)).map(|block| block.name).collect();
    let chosen: Vec<&&str> = parts.iter().step_by(CHOICE).collect();
    let compared = equal_on_cxxrtl(|block| chosen.contains(&&block.name));
    assert!(compared >= 4, "{compared} runs");
}

#[test]
#[ignore = "takes minutes; run it with --ignored after a change of the simulators"]
fn every_block_is_equal_to_its_twin_on_cxxrtl() {
    let compared = equal_on_cxxrtl(|block| !is_whole(block));
    assert!(compared > 50, "{compared} runs");
}

#[test]
#[ignore = "takes minutes; run it with --ignored after a change of the simulators"]
fn whole_register_files_are_equal_to_their_twins_on_cxxrtl() {
    assert!(equal_on_cxxrtl(is_whole) > 5);
}

/// Runs the blocks that are chosen; returns the number of runs, at least one for each block.
fn equal_on_cxxrtl(is_chosen: impl Fn(&Entry) -> bool) -> usize {
    let project = Project::find();
    let size = |block: &Entry| {
        let bytes =
            |path: &&str| std::fs::metadata(project.rtl().join(path).with_extension("sv")).map_or(0, |f| f.len());
        block.sources().iter().map(bytes).sum::<u64>()
    };
    let all = gpurf_sm::all().filter(|block| !LEFT_OUT.contains(&block.name));
    let mut blocks: Vec<&Entry> = all.filter(|block| is_chosen(block)).collect();
    // The largest first, so that no thread runs it alone at the end.
    blocks.sort_by_key(|block| std::cmp::Reverse(size(block)));
    let work = |block: &&Entry| {
        let results = jobs(block).into_iter().map(|job| run(&project, &job, &RtlSources::default(), Simulator::Cxxrtl));
        results.collect::<Vec<_>>()
    };
    let mut compared = 0;
    for result in run_all(&blocks, threads(), work, |_, _| {}).into_iter().flatten() {
        assert_eq!(result.result, Verdict::Pass, "{}: {}", result.job.block, result.report);
        assert_eq!((result.cycles, &result.probes_absent[..]), (result.job.cycles, &[][..]), "{}", result.job.block);
        compared += 1;
    }
    assert!(compared >= blocks.len(), "{compared} runs of {} blocks", blocks.len());
    compared
}

/// Both simulators compare the same signals and memories of a block.
#[test]
fn nothing_is_left_out_of_the_comparison() {
    let project = Project::find();
    for block in ["mrf_collector", "result_queue", "predicate_file"] {
        let job = suite::random(block, policies(block)[0], 1, 100);
        let signals = |simulator| run(&project, &job, &RtlSources::default(), simulator).signals_compared;
        assert_eq!(signals(Simulator::Verilator), signals(Simulator::Cxxrtl), "{block}");
        let memories = |simulator| {
            let request = request(&project, block, &job.config, &RtlSources::default(), options(simulator)).unwrap();
            let mut instance = tools(&project).build(&request).unwrap().instance(1).unwrap();
            (0..instance.memory_count()).map(|index| instance.memory(index).len()).collect::<Vec<_>>()
        };
        assert_eq!(memories(Simulator::Verilator), memories(Simulator::Cxxrtl), "{block}");
    }
}

/// The first hand-written mutants of a module, as RTL in its place, without those that are equivalent to the original.
fn broken(project: &Project, module: &str, folder: &Path) -> Vec<(String, RtlSources)> {
    let list = mutants::hand_written(project, &|name| name == module).unwrap();
    let list = list.iter().filter(|mutant| mutant.equivalent.is_none()).take(FAULTS);
    let sources = list.enumerate().map(|(index, mutant)| {
        let file = folder.join(format!("{module}-{index}.sv"));
        std::fs::write(&file, mutant.source(project).unwrap().expect("a text")).unwrap();
        (mutant.name.clone(), RtlSources { overrides: vec![(module.to_owned(), file)], ..RtlSources::default() })
    });
    sources.collect()
}

#[test]
fn a_fault_is_found_in_the_same_cycle_at_the_same_port() {
    let project = Project::find();
    let folder = tempfile::tempdir().unwrap();
    let mut found = 0;
    for module in ["mrf_write_queue", "mrf_collector"] {
        for (name, rtl) in broken(&project, module, folder.path()) {
            let job = LockstepJob { keep_failure: false, ..suite::random(module, policies(module)[0], 1, CYCLES) };
            let [first, second] = [Simulator::Verilator, Simulator::Cxxrtl].map(|s| run(&project, &job, &rtl, s));
            assert_eq!(first.result, second.result, "{module}: {name}");
            let place = |r: &JobResult| (r.failing_cycle, r.divergence.as_ref().map(|d| d.port.clone()));
            // Without reset the state begins with a random value, which each simulator draws itself.
            if !name.contains("reset") {
                assert_eq!(place(&first), place(&second), "{module}: {name}");
            }
            found += usize::from(first.result == Verdict::Diverged);
        }
    }
    assert!(found >= 8, "{found}");
}

#[test]
fn a_reproducer_fails_on_both() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project { failures: folder.path().join("failures"), ..Project::find() };
    let (name, rtl) = broken(&project, "mrf_write_queue", folder.path()).swap_remove(0);
    let job = suite::random("mrf_write_queue", policies("mrf_write_queue")[0], 3, CYCLES);
    let failed = run(&project, &job, &rtl, Simulator::Verilator);
    let file = failed.failure_folder.expect("it fails").join("reproducer.json");
    let reproducer = gpurf_lockstep::Reproducer::read(&file).unwrap();
    let again = LockstepJob { keep_failure: false, ..LockstepJob::of_reproducer(reproducer).unwrap() };
    assert!(matches!(again.inputs, Inputs::Replay(_)));
    let [first, second] = [Simulator::Verilator, Simulator::Cxxrtl].map(|s| run(&project, &again, &rtl, s));
    assert_eq!(first.divergence, second.divergence, "{name}");
    assert_eq!(first.divergence.map(|d| d.port), failed.divergence.map(|d| d.port));
    let unbroken = run(&project, &again, &RtlSources::default(), Simulator::Cxxrtl);
    assert_eq!(unbroken.result, Verdict::Pass);
}

#[test]
fn an_assertion_fails_on_both() {
    let project = Project::find();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mrf_bank.sv");
    let text = std::fs::read_to_string(project.rtl().join("mrf/mrf_bank.sv")).unwrap();
    let assertion = "  `GPURF_ASSERT(never_three, read_entry_i != 3, \"entry three was read\")\nendmodule";
    assert!(text.contains("gpurf_assert.svh"), "the macro is there");
    std::fs::write(&file, text.replace("endmodule", assertion)).unwrap();
    let rtl = RtlSources { overrides: vec![("mrf_bank".into(), file)], ..RtlSources::default() };
    let job = LockstepJob { keep_failure: false, ..suite::random("mrf_bank", policies("mrf_bank")[0], 1, CYCLES) };
    let [first, second] = [Simulator::Verilator, Simulator::Cxxrtl].map(|s| run(&project, &job, &rtl, s));
    assert_eq!((first.result, first.failing_cycle), (Verdict::Assertion, second.failing_cycle));
    assert_eq!(second.result, Verdict::Assertion);
    assert!(second.report.contains("assertion never_three fails"), "{}", second.report);
}

/// Undefined values are zero on CXXRTL and random on Verilator, so RTL that depends on them differs between the two.
#[test]
fn rtl_that_depends_on_what_has_no_value_differs_between_the_two() {
    let project = Project::find();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mrf_bank_map.sv");
    let text = std::fs::read_to_string(project.rtl().join("mrf/mrf_bank_map.sv")).unwrap();
    let wrong = text.replace("reg_i + RegW'(warp_i)", "reg_i + RegW'(warp_i) + (reg_i[0] ? 'x : '0)");
    assert_ne!(wrong, text);
    std::fs::write(&file, wrong).unwrap();
    let rtl = RtlSources { overrides: vec![("mrf_bank_map".into(), file)], ..RtlSources::default() };
    let job =
        LockstepJob { keep_failure: false, ..suite::random("mrf_bank_map", policies("mrf_bank_map")[0], 1, CYCLES) };
    let results = [Simulator::Verilator, Simulator::Cxxrtl].map(|s| run(&project, &job, &rtl, s).result);
    assert_eq!(results, [Verdict::Diverged, Verdict::Pass]);
}

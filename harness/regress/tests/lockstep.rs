//! The lockstep against real RTL: what it detects, what it reports, and what it writes to disk.

mod common;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::bench::{Bench, GO, SMALL, at, queue_job, values};
use common::{Fault, Faulty, known};
use gpurf_blocks::config::{Config, MrfConfig, ReadOrder, presets};
use gpurf_blocks::mrf::{MrfWriteQueueIn, MrfWriteQueueOut};
use gpurf_blocks::{Role, registry, view, view_mut};
use gpurf_lockstep::{Cause, RESET_CYCLES, Records, Reproducer, RunPlan, Verdict};
use gpurf_regress::audit::{AuditError, audit_sources};
use gpurf_regress::{Inputs, JobResult, LockstepJob, RtlSources, run_job, suite};

#[test]
fn a_broken_block_is_found_shown_and_reproduced() {
    let bench = Bench::new();
    let rtl = bench.broken("mrf_write_queue", "mask_q  <= push_mask_i;", "mask_q  <= push_mask_i ^ 32'h80;");
    let result = bench.run(&queue_job(), &rtl);
    assert_eq!(result.result, Verdict::Diverged);
    // Only the time of a run depends on the number of threads: the report, the waveform and the reproducer have the same bytes.
    let threaded = bench.run(&LockstepJob { threads: 2, ..queue_job() }, &rtl);
    let files = |result: &JobResult| {
        let folder = result.failure_folder.as_ref().unwrap();
        let number = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let names = ["report.txt", "wave.vcd", "wave.gtkw", "wave.sucl", "reproducer.json"];
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap().replace(&number, "N");
        let all = format!("{:?} {:?} {:?}", result.failing_cycle, result.events, result.coverage);
        (all, names.map(text))
    };
    assert!(files(&threaded) == files(&result), "{}\n{}", result.report, threaded.report);
    let found = result.divergence.clone().unwrap();
    assert_eq!((found.block.as_str(), found.port.as_str()), ("mrf_write_queue", "head_mask_o"));
    let [model, rtl_value] =
        [&found.model, &found.rtl].map(|v| u32::from_str_radix(v.trim_start_matches("0x"), 16).unwrap());
    assert_eq!(model ^ rtl_value, 0x80);
    assert!(result.report.contains("differing bits: 7"), "{}", result.report);

    // The waveform, read back by another parser.
    let folder = result.failure_folder.clone().unwrap();
    let mut wave = wellen::simple::read(folder.join("wave.vcd")).unwrap();
    let scope = |side| ["gpurf", side, "mrf_write_queue"];
    let time = 2 * found.cycle;
    let model_wave = values(&mut wave, &scope("model"), "head_mask_o");
    let rtl_wave = values(&mut wave, &scope("rtl"), "head_mask_o");
    let diff = values(&mut wave, &scope("diff"), "head_mask_o");
    assert_eq!(at(&model_wave, time), format!("{model:032b}"));
    assert_eq!(at(&rtl_wave, time), format!("{rtl_value:032b}"));
    assert_eq!(at(&diff, time), "1");
    assert!(diff.iter().all(|(t, v)| *t >= time || v != "1"), "nothing differs before");
    let cycles = values(&mut wave, &["gpurf"], "cycle");
    let last = u64::from_str_radix(&cycles.last().unwrap().1, 2).unwrap();
    assert_eq!(last, found.cycle + 32, "32 cycles after the difference");
    // A payload is shown where it is valid, and unknown elsewhere.
    let valid = values(&mut wave, &scope("rtl"), "head_valid_o");
    for (t, value) in &rtl_wave {
        assert_eq!(value.contains('x'), at(&valid, *t) == "0", "time {t}");
    }
    // The viewers' files: named rows, the marker at the difference, and the inputs of the shortest run before the others.
    let save = std::fs::read_to_string(folder.join("wave.gtkw")).unwrap();
    let rows = "-differs\n@22\n+{head_mask_o model} gpurf.model.mrf_write_queue.head_mask_o[31:0]\n\
                @22\n+{head_mask_o rtl} gpurf.rtl.mrf_write_queue.head_mask_o[31:0]\n\
                @28\n+{head_mask_o difference} gpurf.diff.mrf_write_queue.head_mask_o\n";
    assert!(save.contains(rows) && save.contains(&format!("\n*-3.0 {time}\n")), "{save}");
    let surfer = std::fs::read_to_string(folder.join("wave.sucl")).unwrap();
    for command in ["variable_add gpurf.diff.mrf_write_queue.head_mask_o\n", &format!("cursor_set {time}\n")] {
        assert!(surfer.contains(command), "{surfer}");
    }
    let written = Reproducer::read(&folder.join("reproducer.json")).unwrap();
    let (inputs, others) = save.split_once("-inputs that matter\n").unwrap().1.split_once("-other ports\n").unwrap();
    for input in written.cycles.iter().flat_map(|cycle| cycle.keys()) {
        let (name, element) = input.split_once('[').map_or((input.as_str(), None), |(name, rest)| (name, Some(rest)));
        let row = element.map_or(format!("+{{{name}}} "), |e| format!("+{{{name}({})}} ", e.trim_end_matches(']')));
        assert!(inputs.contains(&row) && !others.contains(&format!("+{{{name}")), "{row}: {save}");
    }

    // The reproducer fails in the same way, and passes if any of its cycles is left out.
    let reproducer = Reproducer::read(&folder.join("reproducer.json")).unwrap();
    let replay = |file: Reproducer| {
        let job = LockstepJob {
            seed: file.seed,
            cycles: file.cycles.len() as u64,
            inputs: Inputs::Replay(file),
            keep_failure: false,
            ..queue_job()
        };
        bench.run(&job, &rtl)
    };
    let again = replay(reproducer.clone());
    assert_eq!(again.divergence.unwrap().port, "head_mask_o");
    assert_eq!(reproducer.cycles.len(), 2, "a push, and the cycle in which it is seen: {:?}", reproducer.cycles);
    assert_eq!(reproducer.cycles[1].keys().collect::<Vec<_>>(), ["rst_ni"], "payloads that mean nothing are cleared");
    for left_out in 0..reproducer.cycles.len() {
        let mut shorter = reproducer.clone();
        shorter.cycles.remove(left_out);
        assert_eq!(replay(shorter).result, Verdict::Pass, "without cycle {left_out}");
    }
}

#[test]
fn blame_names_the_block_inside_the_register_file() {
    let bench = Bench::new();
    let cases = [
        ("mrf_bank_map", "reg_i + RegW'(warp_i)", "reg_i"),
        ("mrf_collector", "inflight_q <= grant_i;", "inflight_q <= '0;"),
        ("mrf_arbiter", "turn_d  = turn_q ^ contest;", "turn_d  = ~turn_q;"),
    ];
    for (module, find, replace) in cases {
        let rtl = bench.broken(module, find, replace);
        let job = LockstepJob { keep_failure: false, ..suite::random("mrf", SMALL, 1, 5_000) };
        let result = bench.run(&job, &rtl);
        assert_eq!(result.divergence.unwrap().block, module);
    }
}

#[test]
fn a_failed_assertion_ends_a_run_with_its_message_and_a_waveform() {
    let bench = Bench::new();
    let rtl = bench.broken("mrf_bank", "assign read_data_valid_d = read_valid_i & ~write_valid_i;", "assign read_data_valid_d = read_valid_i & ~write_valid_i;\n    `GPURF_ASSERT(never_three, read_entry_i != 3, \"entry three was read\")");
    let result = bench.run(&suite::random("mrf_bank", SMALL, 1, 5_000), &rtl);
    assert_eq!(result.result, Verdict::Assertion);
    assert!(result.report.contains("entry three was read"), "{}", result.report);
    assert!(result.failure_folder.unwrap().join("wave.vcd").exists());
}

#[test]
fn a_probe_that_the_rtl_lacks_fails_the_run_unless_it_is_allowed_to() {
    let bench = Bench::new();
    let mut rtl =
        bench.broken("mrf_collector", "assign busy_o       = busy_q;", "assign busy_o       = busy_q; // mine");
    let file = rtl.overrides[0].1.clone();
    let own = std::fs::read_to_string(&file).unwrap();
    let job = LockstepJob { keep_failure: false, ..suite::random("mrf_collector", SMALL, 1, 5_000) };
    let renamed = own.replace("inflight_q", "travelling_q");
    let wider = own.replace("logic [Operands-1:0] inflight_q", "logic [Operands:0] inflight_q");
    for text in [&renamed, &wider] {
        assert_ne!(*text, own);
        std::fs::write(&file, text).unwrap();
        let result = bench.run(&job, &rtl);
        assert_eq!((result.result, result.cycles), (Verdict::ProbesAbsent, 0));
        assert_eq!(result.probes_absent, ["inflight_q"]);
        for words in ["inflight_q (3 bits)", "--allow-absent inflight_q"] {
            assert!(result.report.contains(words), "{}", result.report);
        }
    }
    std::fs::write(&file, &renamed).unwrap();
    rtl.allow_absent.push("inflight_q".into());
    let result = bench.run(&job, &rtl);
    assert_eq!((result.result, result.probes_absent), (Verdict::Pass, vec!["inflight_q".to_owned()]));
    // Without the probe the same mistake is detected later, at an output.
    std::fs::write(&file, renamed.replace("travelling_q <= grant_i", "travelling_q <= '0")).unwrap();
    assert_eq!(bench.run(&job, &rtl).divergence.unwrap().port, "complete_o");
}

#[test]
fn a_reproducer_keeps_the_payload_without_valid_that_a_failure_needs() {
    let bench = Bench::new();
    let rtl = bench.broken(
        "mrf_write_queue",
        "(valid_q & ~pop_i);",
        "(valid_q & ~pop_i & (push_valid_i | push_reg_i != 5));",
    );
    let result = bench.run(&queue_job(), &rtl);
    assert_eq!(result.result, Verdict::Diverged);
    assert!(result.report.contains("reproduce 3 cycles (locally minimal)"), "{}", result.report);
    let file = Reproducer::read(&result.failure_folder.unwrap().join("reproducer.json")).unwrap();
    let [push, looked_at, seen] = &file.cycles[..] else { panic!("{:?}", file.cycles) };
    assert!(push.contains_key("push_valid_i") && !looked_at.contains_key("push_valid_i"), "{:?}", file.cycles);
    assert_eq!(looked_at["push_reg_i"], "0x5");
    // Inputs that do not matter are cleared.
    assert_eq!((push.len(), looked_at.len(), seen.len()), (2, 2, 1), "{:?}", file.cycles);
    let job = LockstepJob { keep_failure: false, ..LockstepJob::of_reproducer(file).unwrap() };
    assert_eq!(bench.run(&job, &rtl).result, Verdict::Diverged);
}

#[test]
fn a_failure_that_no_short_run_shows_says_so() {
    let bench = Bench::new();
    let count = "logic [14:0] n_q = 0;\n  always_ff @(posedge clk_i) if (n_q != 20000) n_q <= n_q + 1'b1;\n";
    let rtl = bench.broken(
        "mrf_write_queue",
        "assign push_ready_o  = ~valid_q | pop_i;",
        &format!("{count}  assign push_ready_o  = (~valid_q | pop_i) & (n_q != 20000);"),
    );
    let job = LockstepJob { cycles: 40_000, ..queue_job() };
    let result = bench.run(&job, &rtl);
    assert_eq!(result.result, Verdict::Diverged);
    let cycle = result.failing_cycle.unwrap();
    assert!(cycle > 16_384, "{cycle}");
    let folder = result.failure_folder.unwrap();
    assert!(!folder.join("reproducer.json").exists());
    let command = format!(" --seed 3 --cycles {}\n", cycle + 1);
    for words in
        ["reproduce none: the 16384 cycles before the failure", "gpurf cosim --block mrf_write_queue", &command]
    {
        assert!(result.report.contains(words), "{words}: {}", result.report);
    }
    // The command in the report reproduces the failure.
    let again = bench.run(&LockstepJob { cycles: cycle + 1, keep_failure: false, ..job }, &rtl);
    assert_eq!((again.result, again.failing_cycle), (Verdict::Diverged, Some(cycle)));
}

/// Runs a faulty twin of a block against its RTL. The runs with one thread and with two have to be equal.
fn run_faulty(block: &str, fault: Fault, stop: &AtomicBool) -> gpurf_lockstep::RunOutcome {
    let [one, two] = [1, 2].map(|threads| run_faulty_once(block, fault, stop, threads));
    let twin = (registry::find(block).unwrap().twin)(&SMALL);
    let [first, second] = [&one, &two].map(|outcome| known(twin.declaration(), outcome));
    assert_eq!(first.0, second.0);
    assert!(first.1 == second.1);
    two
}

fn run_faulty_once(block: &str, fault: Fault, stop: &AtomicBool, threads: usize) -> gpurf_lockstep::RunOutcome {
    let inner = (registry::find(block).unwrap().twin)(&SMALL);
    let mut sides = Bench::new().sides(Faulty::boxed(inner, fault));
    let mut stimulus = gpurf_stimulus::random(block, &SMALL, 1);
    let plan = RunPlan { seed: 1, cycles: 2_000, memory_every: 640, idle: None, threads };
    sides.run(&mut *stimulus, &plan, &mut |_, _| {}, stop)
}

#[test]
fn a_panic_of_the_model_keeps_the_waveform() {
    let outcome = run_faulty("mrf_write_queue", |_, cycle, _| assert!(cycle < 1_000, "a defect of the model"), &GO);
    let Some(Cause::Panicked { cycle, message }) = outcome.cause else { panic!("{:?}", outcome.cause) };
    assert_eq!(
        (cycle, message.as_str()),
        (995, "a defect of the model"),
        "four cycles are reset, and the first is number 0"
    );
    assert_eq!(outcome.capture.unwrap().len(), 256);
}

#[test]
fn a_memory_that_only_the_whole_comparison_can_see_is_compared() {
    // After the last cycle (four are reset), so that no read can detect it.
    let fault: Fault = |twin, cycle, _| {
        if cycle == 2_004 {
            twin.memories()[0].words[15 * 32 + 31] ^= 1;
        }
    };
    let outcome = run_faulty("mrf_bank", fault, &GO);
    let Some(Cause::Diverged(divergence)) = outcome.cause else { panic!("{:?}", outcome.cause) };
    assert_eq!((divergence.cycle, divergence.differences.len()), (2_000, 0));
    let [memory] = &divergence.memories[..] else { panic!("{:?}", divergence.memories) };
    assert_eq!((memory.word, memory.bits, memory.model[31] ^ memory.rtl[31]), (15, 1024, 1));
    assert_eq!(memory.model[..31], memory.rtl[..31]);
    assert_eq!(divergence.blame.block, "mrf_bank");
}

#[test]
fn an_audit_needs_a_lockstep_that_passes() {
    let bench = Bench::new();
    let rtl = bench.broken("mrf_write_queue", "mask_q  <= push_mask_i;", "mask_q  <= push_mask_i ^ 32'h80;");
    let error = audit_sources(&bench.project, &bench.tools, "mrf_write_queue", &SMALL, &rtl, 1).unwrap_err();
    assert!(matches!(error, AuditError::Differs { .. }), "{error}");
    assert!(
        error.to_string().ends_with("even without a flip: run gpurf cosim --block mrf_write_queue first"),
        "{error}"
    );
}

#[test]
fn an_interrupted_run_says_so_and_keeps_what_it_saw() {
    let outcome = run_faulty("mrf_write_queue", |_, _, _| {}, &AtomicBool::new(true));
    assert!(matches!(outcome.cause, Some(Cause::Interrupted)));
    assert!(outcome.capture.is_some());
}

#[test]
fn one_seed_is_one_run() {
    let bench = Bench::new();
    let result = || bench.run(&suite::random("mrf", SMALL, 9, 5_000), &RtlSources::default());
    let (one, two) = (result(), result());
    assert_eq!(
        (one.result, one.cycles, &one.events, &one.coverage),
        (Verdict::Pass, 5_000, &two.events, &two.coverage)
    );
    let other = bench.run(&suite::random("mrf", SMALL, 10, 5_000), &RtlSources::default());
    assert_ne!(one.events, other.events);
}

#[test]
fn every_directed_sequence_is_equal() {
    let bench = Bench::new();
    for (name, _) in gpurf_stimulus::directed::list("mrf") {
        for read_order in [ReadOrder::Oldest, ReadOrder::RoundRobin] {
            let config = Config { mrf: MrfConfig { read_order, ..SMALL.mrf }, ..SMALL };
            let job =
                LockstepJob { inputs: Inputs::Directed(name.into()), ..suite::random("mrf", config, 1, 1_000_000) };
            let result = bench.run(&job, &RtlSources::default());
            assert_eq!(result.result, Verdict::Pass, "{name}: {}", result.report);
            assert!(result.cycles > 10, "{name}");
        }
    }
    let takes_candidates = |config: &Config| config.sm_shape().services().takes_candidates;
    let all = presets().map(|preset| preset.config).filter(takes_candidates).last().expect("a design takes candidates");
    let mut runs = 0;
    for block in registry::blocks().map(|block| block.name).filter(|&name| name != "mrf") {
        for (name, _) in gpurf_stimulus::directed::list(block) {
            let config = Config { mrf: MrfConfig { issue_ports: 2, ..SMALL.mrf }, ..all };
            let job =
                LockstepJob { inputs: Inputs::Directed(name.into()), ..suite::random(block, config, 1, 1_000_000) };
            let result = bench.run(&job, &RtlSources::default());
            assert_eq!(result.result, Verdict::Pass, "{block} {name}: {}", result.report);
            assert!(result.cycles > 10, "{block} {name}");
            runs += 1;
        }
    }
    assert!(runs >= 4, "{runs}");
}

#[test]
fn a_reproducer_gives_back_the_inputs_that_it_was_made_from() {
    let twin = (registry::find("mrf_write_queue").unwrap().twin)(&SMALL);
    let declaration = twin.declaration();
    let mut stimulus = gpurf_stimulus::random("mrf_write_queue", &SMALL, 1);
    let mut inputs = Records::zeroed(declaration.input_bytes, 50);
    for cycle in 0..50 {
        assert!(stimulus.next(inputs.get_mut(cycle)));
    }
    let idle = (0..50).map(|cycle| view::<MrfWriteQueueIn>(inputs.get(cycle)));
    assert!(idle.filter(|i| i.push_valid_i == 0 && i.push_data_i.0 != [0; 32]).count() > 0, "payloads without valid");
    let file = Reproducer::new(declaration, &SMALL, 1, Vec::new(), &inputs);
    let back = Reproducer::parse(&file.to_json(), "r.json").unwrap();
    assert_eq!(back, file);
    let back = back.inputs(declaration).unwrap();
    for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
        for cycle in 0..50 {
            let [before, after] = [&inputs, &back].map(|inputs| signal.field.bytes(inputs.get(cycle), 0));
            assert_eq!(before, after, "{}, cycle {cycle}", signal.field.name);
        }
    }
}

#[test]
fn the_failure_folder_appears_whole_or_not_at_all() {
    let bench = Bench::new();
    let rtl = bench.broken("mrf_write_queue", "mask_q  <= push_mask_i;", "mask_q  <= '0;");
    // A file where the folder should be.
    std::fs::write(&bench.project.failures, "in the way").unwrap();
    let result = run_job(&bench.project, &bench.tools, &queue_job(), &rtl, &Bench::options(), &GO).unwrap();
    assert_eq!((result.result, &result.failure_folder), (Verdict::Diverged, &None));
    assert!(result.report.contains("cannot write a failure folder"), "{}", result.report);
    let left: Vec<PathBuf> = std::fs::read_dir(bench.folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.iter().all(|p| !p.to_string_lossy().contains(".new-")), "{left:?}");
    assert!(Path::new(&bench.project.failures).is_file());
}

#[test]
fn the_comparison_in_place_sees_what_the_rules_see() {
    let bench = Bench::new();
    let mut sides = bench.sides((registry::find("mrf").unwrap().twin)(&SMALL));
    let declaration = sides.comparator.declaration().clone();
    let mut stimulus = gpurf_stimulus::random("mrf", &SMALL, 5);
    let mut records = Records::zeroed(declaration.record_bytes, 2);
    let (mut found, mut left_alone) = (0, 0);
    let reset = declaration.signal("rst_ni").unwrap().field.offset;
    for cycle in 0..200 {
        stimulus.next(&mut records.get_mut(0)[..declaration.input_bytes]);
        if cycle < RESET_CYCLES {
            records.get_mut(0)[reset] = 0;
        }
        sides.rtl.settle(records.get_mut(0)).unwrap();
        let rtl = records.get(0).to_vec();
        records.get_mut(1).copy_from_slice(&rtl);
        assert!(sides.rtl.is_equal(records.get(1)));
        for signal in declaration.signals.iter().filter(|s| s.role != Role::Input) {
            let field = &signal.field;
            for element in 0..field.count {
                let bit = (cycle * 13 + element) % field.bits as usize;
                let at = field.offset + element * field.elem_bytes + bit / 8;
                records.get_mut(1)[at] ^= 1 << (bit % 8);
                let differs = !sides.comparator.differences(records.get(1), &rtl).is_empty();
                assert_eq!(sides.rtl.is_equal(records.get(1)), !differs, "{}({element}), cycle {cycle}", field.name);
                records.get_mut(1)[at] ^= 1 << (bit % 8);
                *if differs { &mut found } else { &mut left_alone } += 1;
            }
        }
        sides.rtl.edge().unwrap();
    }
    assert!(found > 10_000 && left_alone > 1_000, "{found}, {left_alone}");
}

/// The cycle, counted from the first of reset, after which the model's output is wrong.
static WRONG: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_difference_is_found_in_its_cycle_wherever_that_is_in_a_chunk() {
    let bench = Bench::new();
    for wrong in (0..40).chain(254..260).chain(270..290) {
        WRONG.store(RESET_CYCLES as u64 + wrong + 1, Ordering::Relaxed);
        let twin = (registry::find("mrf_write_queue").unwrap().twin)(&SMALL);
        let mut sides = bench.sides(Faulty::boxed(twin, |_, cycles, compared| {
            if cycles == WRONG.load(Ordering::Relaxed) {
                view_mut::<MrfWriteQueueOut>(compared).head_valid_o ^= 1;
            }
        }));
        let mut stimulus = gpurf_stimulus::random("mrf_write_queue", &SMALL, 4);
        let plan = RunPlan { seed: 4, cycles: 1_000, memory_every: 100, idle: None, threads: 1 };
        let mut seen = Records::new(sides.comparator.declaration().input_bytes);
        let outcome = sides.run(&mut *stimulus, &plan, &mut |inputs, _| seen.push(inputs), &GO);
        let Some(Cause::Diverged(divergence)) = &outcome.cause else { panic!("{wrong}: {:?}", outcome.cause) };
        assert_eq!((divergence.cycle, outcome.cycles, seen.len() as u64), (wrong, wrong, wrong));
        let capture = outcome.capture.unwrap();
        let before = wrong.min(256);
        assert_eq!((capture.first_cycle, capture.len() as u64), (wrong - before, before + 33));
        // The cycles before are those of this run, in order; in the first one after them the sides differ, then they agree again.
        for index in 0..capture.len() {
            let cycle = capture.first_cycle + index as u64;
            let (model, rtl) = (capture.model(index), capture.rtl(index));
            assert_eq!(model[..seen.size()], rtl[..seen.size()], "{wrong}: inputs of cycle {cycle}");
            assert!(cycle >= wrong || model.starts_with(seen.get(cycle as usize)), "{wrong}: cycle {cycle}");
            let equal = sides.comparator.differences(model, rtl).is_empty();
            assert_eq!(equal, cycle != wrong, "{wrong}: cycle {cycle}");
        }
    }
}

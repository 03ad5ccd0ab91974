//! Kernels on RTL and model in lockstep, and on the RTL alone.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::OnceLock;

use crate::common::traces::{Events, finish, traced};
use crate::common::{FLOATS, INTEGERS, Program, buffers, compiled, settings, words};
use gpurf_blocks::config::Config;
use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::{Declaration, Memory as TwinMemory, Twin, view_mut};
use gpurf_kernels::{Case, LAUNCH};
use gpurf_launch::Manifest;
use gpurf_lockstep::{RESET_CYCLES, Verdict};
use gpurf_machine::trace::Format;
use gpurf_machine::{LaunchError, LockstepEngine, Machine, ModelEngine, RtlEngine, Settings, Statistics, request};
use gpurf_oracle::host::{OracleEngine, RunError, Session};
use gpurf_sm::SmOut;
use verilated::{Library, Options, Toolchain};

/// An SM whose sizes are not those of the baseline: two issue ports.
const SET: &[&str] = &["mrf.issue_ports=2", "sm.warps=16"];

/// Its RTL, built once.
fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        // Registers can be written, for parts of runs.
        let options = Options { optimise: false, state: true, ..Options::default() };
        let tools = Toolchain::find(&root.join("target/verilated")).unwrap();
        tools.build(&request(&root.join("rtl"), &settings(SET).config, options)).unwrap()
    })
}

fn both(settings: Settings) -> LockstepEngine {
    LockstepEngine::new(settings, library()).unwrap()
}

#[test]
fn kernels_are_equal_on_both_sides_and_as_the_oracle_says() {
    for name in INTEGERS.into_iter().chain(FLOATS) {
        let case = Case::load(name).unwrap();
        let mut session = Session::new(case.manifest(), &compiled(name, 64, &settings(SET).config).image).unwrap();
        let mut engine = both(settings(SET));
        session.run(&mut engine).unwrap_or_else(|error| panic!("{name}: {error}"));
        for row in session.checks().unwrap() {
            assert!(row.ok, "{name}: {row:?}");
        }
        let statistics = engine.statistics();
        let judged = statistics.judged.unwrap();
        assert_eq!((judged.equal, judged.undecided), (statistics.launches, 0), "{name}");
        // What the blocks met is the same where the model runs alone, and something was met in most of them.
        let mut alone = ModelEngine::covered(settings(SET));
        Session::new(case.manifest(), &compiled(name, 64, &settings(SET).config).image)
            .unwrap()
            .run(&mut alone)
            .unwrap();
        let coverage = engine.coverage();
        assert_eq!(coverage, alone.coverage(), "{name}");
        assert!(coverage.iter().filter(|(_, count)| *count > 0).count() > 100, "{name}");
        let (signals, absent) = engine.compared().unwrap();
        assert!(signals > 1000 && absent.is_empty(), "{name}: {absent:?}");
    }
}

#[test]
fn registers_that_a_lane_never_writes_are_the_same_everywhere() {
    for name in ["census", "dynproc"] {
        let path = |ending: &str| gpurf_kernels::folder().join("unwritten").join(format!("{name}.{ending}"));
        let manifest = Manifest::load(&path("toml")).unwrap();
        let text = std::fs::read_to_string(path("ptx")).unwrap();
        let image = gpurf_compiler::compile(&text, name, &gpurf_compiler::Options::default()).unwrap().image;
        for seed in 1..=10 {
            let mut session = Session::new(&manifest, &image).unwrap();
            let mut engine = both(Settings { seed, ..settings(SET) });
            session.run(&mut engine).unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
            for row in session.checks().unwrap() {
                assert!(row.ok, "{name}, seed {seed}: {row:?}");
            }
            let judged = engine.statistics().judged.unwrap();
            assert_eq!((judged.equal, judged.undecided), (manifest.launches.len() as u64, 0), "{name}");
        }
    }
}

/// Structs, pointers in memory, variables, names of templates, loops: the RTL, the model and the oracle get the same image.
#[test]
fn what_manifests_say_of_launches_is_the_same_everywhere() {
    for kernel in LAUNCH {
        let case = Case::load(kernel.name).unwrap();
        let text = std::fs::read_to_string(gpurf_kernels::folder().join(format!("{}.ptx", kernel.name))).unwrap();
        let module = gpurf_compiler::Module::parse(&text, kernel.name).unwrap();
        let image = module.compile(&gpurf_compiler::Options::default(), &|_| true).unwrap().image;
        let mut session = Session::new(case.manifest(), &image).unwrap();
        // Their atomic operations wait for each other: with near memory they take a quarter of the cycles.
        let near = || settings(&[SET, &["memory.latency=60"]].concat());
        let mut engine = both(near());
        session.run(&mut engine).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
        let checks = session.checks().unwrap();
        assert!(!checks.is_empty());
        for row in checks {
            assert!(row.ok, "{}: {row:?}", kernel.name);
        }
        let judged = engine.statistics().judged.unwrap();
        assert_eq!((judged.equal, judged.undecided), (engine.statistics().launches, 0), "{}", kernel.name);
        let mut alone = ModelEngine::judged(near());
        let mut session = Session::new(case.manifest(), &image).unwrap();
        session.run(&mut alone).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
        assert!(session.checks().unwrap().iter().all(|row| row.ok), "{}", kernel.name);
        assert_eq!(alone.statistics().cycles, engine.statistics().cycles, "{}", kernel.name);
    }
}

/// What a manifest's kernels print on an engine: text and messages of assertions.
fn printed(name: &str, engine: &mut dyn FnMut(&mut Session<'_>) -> Result<(), String>) -> (String, String) {
    let case = Case::load(name).unwrap();
    let image = compiled(name, 64, &settings(SET).config).image;
    let mut session = Session::new(case.manifest(), &image).unwrap();
    engine(&mut session).unwrap_or_else(|error| panic!("{name}: {error}"));
    let printed = session.printed();
    assert_eq!(printed.dropped, 0, "{name}");
    (printed.text.clone(), printed.assertions.iter().map(|line| line.clone() + "\n").collect())
}

#[test]
fn kernels_print_the_same_on_all_engines() {
    let expected = |name: &str| std::fs::read_to_string(gpurf_kernels::folder().join(format!("{name}.txt"))).unwrap();
    let cases = [
        ("launch/report", (expected("launch/report"), String::new())),
        ("launch/asserts", (String::new(), expected("launch/asserts"))),
    ];
    for (name, expected) in cases {
        let in_words = |error: &dyn std::fmt::Display| error.to_string();
        let mut oracle = OracleEngine::default();
        let text = printed(name, &mut |session| session.run(&mut oracle).map(|_| ()).map_err(|e| in_words(&e)));
        assert_eq!(text, expected, "{name} in the oracle");
        // Of the model also where memory is slow, so that blocks meet.
        for set in [SET, &["memory.latency=900", "mrf.banks=4"], &["mrf.issue_ports=2", "sm.warps=48"]] {
            let mut model = ModelEngine::judged(crate::common::settings(set));
            let text = printed(name, &mut |session| session.run(&mut model).map(|_| ()).map_err(|e| in_words(&e)));
            assert_eq!(text, expected, "{name} on the model, {set:?}");
        }
        let mut rtl = RtlEngine::new(settings(SET), library()).unwrap();
        let text = printed(name, &mut |session| session.run(&mut rtl).map(|_| ()).map_err(|e| in_words(&e)));
        assert_eq!(text, expected, "{name} on the RTL");
        let mut lockstep = both(settings(SET));
        let text = printed(name, &mut |session| session.run(&mut lockstep).map(|_| ()).map_err(|e| in_words(&e)));
        assert_eq!(text, expected, "{name} in lockstep");
        let judged = lockstep.statistics().judged.unwrap();
        assert_eq!((judged.equal, judged.undecided), (u64::from(name == "launch/report"), 0), "{name}");
    }
}

#[test]
fn all_engines_agree_about_time_and_results() {
    let run = |engine: &mut dyn FnMut(&Program, &mut gpurf_oracle::Memory)| {
        let mut memory = buffers();
        let square = Program::new("IMAD.LO R9, PT, R0, R0, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
        let shift = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nSHL R9, R9, 3\nST.GLOBAL.B32 [R2:RZ], R9", 2, 96);
        [&square, &shift, &shift, &square].iter().for_each(|program| engine(program, &mut memory));
        words(&memory, 0)
    };
    let mut model = ModelEngine::new(settings(SET));
    let mut rtl = RtlEngine::new(settings(SET), library()).unwrap();
    let mut lockstep = both(settings(SET));
    let expected = run(&mut |program, memory| program.launch(&mut model, memory).unwrap());
    assert_eq!(run(&mut |program, memory| program.launch(&mut rtl, memory).unwrap()), expected);
    assert_eq!(run(&mut |program, memory| program.launch(&mut lockstep, memory).unwrap()), expected);
    assert_eq!(rtl.statistics(), model.statistics());
    assert_eq!(Statistics { judged: None, ..lockstep.statistics() }, model.statistics());
}

#[test]
fn all_engines_write_the_same_trace() {
    let case = Case::load("reduction").unwrap();
    let image = compiled("reduction", 64, &settings(SET).config).image;
    for format in Format::ALL {
        let mut traces = Vec::new();
        let mut model = ModelEngine::new(settings(SET));
        let mut rtl = RtlEngine::new(settings(SET), library()).unwrap();
        let mut lockstep = both(settings(SET));
        macro_rules! run {
            ($($engine:ident)+) => {$(
                let out = traced(&mut $engine, &settings(SET).config, format, 0..=u64::MAX);
                Session::new(case.manifest(), &image).unwrap().run(&mut $engine).unwrap();
                let found = finish(&mut $engine);
                assert_eq!((found.unknown, found.cycles), (0, $engine.statistics().cycles), stringify!($engine));
                traces.push(out.bytes());
            )+};
        }
        run!(model rtl lockstep);
        assert!(traces[0].len() > 100_000);
        assert!(traces[1] == traces[0], "{format:?}: the RTL's differs");
        assert!(traces[2] == traces[0], "{format:?}: that of the lockstep differs");
    }
}

/// A message without what only a look inside can tell.
fn without_detail(message: &str) -> String {
    let first = message.lines().next().unwrap().replace(", block (0, 0, 0), warp 0", "");
    let first = &first[first.find("kernel ").unwrap_or(0)..];
    let end = ["; the model", "; instruction"].iter().filter_map(|detail| first.find(detail)).min();
    first[..end.unwrap_or(first.len())].to_owned()
}

#[test]
fn faults_and_hangs_are_the_same_on_the_rtl() {
    let misaligned = Program::new("IADD R2, PT, R2, 2, !PT\nLD.GLOBAL.B32 R9, [R2:RZ]", 1, 32);
    let outside = Program::new("ST.GLOBAL.B32 [R2:RZ+0x400], R9", 1, 32);
    let deadlock = Program::new(
        "S2R.TID.X R5\nISETP.LT.AND P0, R5, 32, PT\n@P0 BRA 11, join none\nBAR.ID2 RZ\nEXIT\nBAR.ID1 RZ",
        2,
        64,
    );
    let quick = || Settings { idle_limit: 500, ..settings(SET) };
    for program in [&misaligned, &outside, &deadlock] {
        let on_model = program.run(&mut ModelEngine::new(quick())).unwrap_err().to_string();
        let on_rtl = program.run(&mut RtlEngine::new(quick(), library()).unwrap()).unwrap_err().to_string();
        assert_eq!(without_detail(&on_rtl), without_detail(&on_model));
        // In lockstep the oracle speaks first.
        let error = program.run(&mut both(quick())).unwrap_err();
        assert!(matches!(error, LaunchError::Oracle(_)), "{error}");
    }
    // What the oracle does not know: a limit that is shorter than memory's latency.
    let load = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT", 1, 32);
    let slow = Settings { idle_limit: 100, ..settings(SET) };
    let mut engine = both(slow);
    let LaunchError::Hung(hang) = load.run(&mut engine).unwrap_err() else { panic!("no hang") };
    assert!(hang.waits.iter().any(|line| line.contains("waits for R9: instruction 7 (test.ptx:107)")), "{hang}");
    // A launch that makes progress, but takes too long.
    let limited = Settings { cycle_limit: Some(300), ..settings(SET) };
    let LaunchError::Hung(long) = load.run(&mut both(limited)).unwrap_err() else { panic!("no hang") };
    assert_eq!((long.since, long.cycle), (None, 299));
    assert!(long.waits.iter().any(|line| line.contains("waits for R9")), "{long}");
    let folder = tempfile::tempdir().unwrap();
    let written = engine.write_failure(folder.path(), &hang.waits, None).unwrap().unwrap();
    let report = std::fs::read_to_string(written.join("report.txt")).unwrap();
    assert!(report.contains("no progress") && report.contains("waits for R9"), "{report}");
}

/// A model that asks for a line that the program does not ask for.
struct Faulty {
    inner: Box<dyn Twin>,
    cycle: u64,
    /// The cycle in which it does, where its record is looked at.
    wrong: u64,
}

impl Faulty {
    fn model(config: &Config, wrong: u64) -> Box<dyn Twin> {
        Box::new(Self { inner: (gpurf_sm::ENTRY.twin)(config), cycle: 0, wrong })
    }
}

/// The cycle in which it does: after the first launch.
const WRONG: u64 = 1500;

/// The same of a model that begins under reset.
const FAULTY: u64 = RESET_CYCLES as u64 + WRONG;

impl Twin for Faulty {
    fn declaration(&self) -> &Declaration {
        self.inner.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle(inputs, compared);
        if self.cycle == self.wrong {
            view_mut::<SmOut>(compared).fault_value_o = 5;
            view_mut::<SmOut>(compared).mem_req_valid_o ^= 1;
        }
        self.cycle += 1;
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle_unprobed(inputs, compared);
        self.cycle += 1;
    }
    fn memories(&mut self) -> Vec<TwinMemory<'_>> {
        self.inner.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self { inner: self.inner.duplicate(), ..*self })
    }
}

#[test]
fn a_difference_stops_at_its_cycle_and_is_kept() {
    let faulty = |config: &Config| Faulty::model(config, FAULTY);
    let folder = tempfile::tempdir().unwrap();
    let wave = Some((WRONG - 5..=WRONG + 5, folder.path().to_owned()));
    let mut engine = both(Settings { model: faulty, wave, ..settings(SET) });
    let trace = traced(&mut engine, &settings(SET).config, Format::Chrome, 0..=u64::MAX);
    let program = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
    let mut memory = buffers();
    let mut passed = 0;
    let broken = loop {
        match program.launch(&mut engine, &mut memory) {
            Ok(()) => passed += 1,
            Err(LaunchError::Broken(broken)) => break broken,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(passed > 0, "it fails in a later launch, in the same run");
    assert_eq!((broken.verdict, broken.cycle), (Verdict::Diverged, WRONG));
    let divergence = broken.divergence.unwrap();
    assert_eq!((divergence.block.as_str(), divergence.port.as_str()), ("coalescer", "mem_req_valid_o"));
    assert_eq!(engine.statistics().cycles, WRONG);
    // The trace has a mark in that cycle, and continues after it.
    assert!(finish(&mut engine).cycles > WRONG);
    let events = Events::of(&trace.text());
    events.check_rows();
    let [(cycle, name, args)] = &events.marks[..] else { panic!("{:?}", events.marks) };
    assert_eq!((*cycle, name.as_str()), (WRONG, "RTL and model diverge"));
    assert_eq!((&args["block"], &args["port"]), (&"coalescer".into(), &"mem_req_valid_o".into()));
    let launches = &events.rows["launches"];
    assert_eq!(launches.len(), passed + 1);
    assert!(launches[passed].from <= WRONG && launches[passed].end > WRONG);
    let written = engine.write_failure(folder.path(), &["  a note".into()], Some(("r.toml", "text"))).unwrap().unwrap();
    assert!(std::fs::read_to_string(written.join("report.txt")).unwrap().ends_with("  a note\n"));
    assert_eq!(std::fs::read_to_string(written.join("r.toml")).unwrap(), "text");
    // The requested stretch does not end at the difference.
    let written = engine.finish_wave().unwrap().unwrap();
    let text = std::fs::read_to_string(written.join("wave.vcd")).unwrap();
    for cycle in WRONG - 5..=WRONG + 5 {
        assert!(text.contains(&format!("\n#{}\n", 2 * cycle)), "cycle {cycle}");
    }
    assert!(!text.contains(&format!("\n#{}\n", 2 * WRONG + 14)));
}

/// The waveform of a stretch of cycles that was asked for shows what the run did: that of a long history, which is run again, is the same.
#[test]
fn a_long_history_reaches_back_over_launches() {
    let faulty = |config: &Config| Faulty::model(config, FAULTY);
    let program = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
    for threads in [1, 2] {
        for history in [1_000, 5_000] {
            let folder = tempfile::tempdir().unwrap();
            let first = WRONG.saturating_sub(history);
            let wave = Some((first..=WRONG + 32, folder.path().to_owned()));
            let mut engine = both(Settings { model: faulty, wave, threads, history, ..settings(SET) });
            let mut memory = buffers();
            let mut passed = 0;
            while program.launch(&mut engine, &mut memory).is_ok() {
                passed += 1;
            }
            assert!(passed > 0 && engine.statistics().cycles == WRONG);
            let written = engine.write_failure(folder.path(), &[], None).unwrap().unwrap();
            let report = std::fs::read_to_string(written.join("report.txt")).unwrap();
            assert!(report.contains(&format!("\n  history   from cycle {first} on\n")), "{report}");
            let asked = engine.finish_wave().unwrap().unwrap();
            let [failed, asked] =
                [written, asked].map(|folder| std::fs::read_to_string(folder.join("wave.vcd")).unwrap());
            assert!(failed.contains(&format!("\n#{}\n", 2 * first)) && failed.len() > 1_000_000);
            assert!(failed == asked, "{history} cycles, {threads} threads");
        }
    }
}

/// A model that panics.
struct Panicking(Faulty);

impl Twin for Panicking {
    fn declaration(&self) -> &Declaration {
        self.0.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        assert!(self.0.cycle < WRONG, "a defect of the model");
        self.0.inner.cycle(inputs, compared);
        self.0.cycle += 1;
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.0.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<TwinMemory<'_>> {
        self.0.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self(Faulty { inner: self.0.inner.duplicate(), ..self.0 }))
    }
}

#[test]
fn one_thread_and_two_give_the_same() {
    let faulty = |config: &Config| Faulty::model(config, FAULTY);
    let panicking = |config: &Config| -> Box<dyn Twin> {
        Box::new(Panicking(Faulty { inner: (gpurf_sm::ENTRY.twin)(config), cycle: 0, wrong: FAULTY }))
    };
    let program =
        || Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
    let cases = [
        ("equal", settings(SET)),
        ("a difference", Settings { model: faulty, ..settings(SET) }),
        ("a panic", Settings { model: panicking, ..settings(SET) }),
        ("a hang", Settings { idle_limit: 100, ..settings(SET) }),
    ];
    for (name, settings) in cases {
        let run = |threads: usize| {
            let mut engine = both(Settings { threads, ..settings.clone() });
            let mut memory = buffers();
            let mut ends = Vec::new();
            while ends.len() < 8 {
                match program().launch(&mut engine, &mut memory) {
                    Ok(()) => ends.push("passed".to_owned()),
                    Err(error) => {
                        ends.push(format!("{error:?}"));
                        break;
                    }
                }
            }
            let folder = tempfile::tempdir().unwrap();
            let files = engine.write_failure(folder.path(), &[], None).unwrap().map(|folder| {
                ["report.txt", "wave.vcd"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap())
            });
            (ends, engine.statistics(), engine.coverage(), words(&memory, 0), files)
        };
        let (one, two) = (run(1), run(2));
        assert_eq!(one.0.len() == 8 && one.4.is_none(), name == "equal", "{name}: {:?}", one.0);
        assert!(one == two, "{name}: {:?} {:?}\n{:?} {:?}", one.0, one.1, two.0, two.1);
    }
}

/// A load whose lanes lie in global and in shared memory: those with this parity in global memory. The next instruction reads the register. With
/// parity 0 lane 0 is in global memory, so the last pass is that of the quick memory.
fn load_from_two_memories(parity: u32) -> Program {
    let code = format!(
        "S2R.TID.X R5
        IMAD.LO R6, PT, R5, 4, RZ, !PT
        IADD R7, PT, R0, 1000, !PT
        ST.SHARED.B32 [R6], R7
        IADD R8, PT, R0, 2000, !PT
        ST.GLOBAL.B32 [R2:RZ], R8
        LOP3.LUT192 R9, R5, 1, RZ
        ISETP.EQ.AND P0, R9, {parity}, PT
        MOV R11, 1
        @P0 IADD R6, PT, R2, 0, !PT
        @P0 MOV R11, 0
        MOV R12, 7
        LD.GENERIC.B32 R12, [R6:R11]
        IADD R13, PT, R12, 5, !PT
        ST.GLOBAL.B32 [R2:RZ], R13"
    );
    Program::new(&code, 2, 64)
}

#[test]
fn a_load_from_two_memories_is_complete_with_its_last_answer() {
    let expected = |parity: u32| (0..128).map(move |i| i + 5 + if i % 2 == parity { 2000 } else { 1000 });
    for parity in [0, 1] {
        let program = load_from_two_memories(parity);
        for design in DESIGNS {
            let mut engine = ModelEngine::judged(Settings { config: design.config(), ..settings(&[]) });
            let found = program.run(&mut engine).unwrap_or_else(|error| panic!("{parity} {}: {error}", design.name));
            assert!(found.into_iter().take(128).eq(expected(parity)), "{parity} {}", design.name);
        }
        let mut engine = both(settings(SET));
        let found = program.run(&mut engine).unwrap_or_else(|error| panic!("{parity}, lockstep: {error}"));
        assert!(found.into_iter().take(128).eq(expected(parity)), "{parity}, lockstep");
    }
}

/// The parts of a run whose first cycles are these.
fn parts(firsts: &[u64]) -> impl Iterator<Item = RangeInclusive<u64>> {
    let ends = firsts.iter().skip(1).map(|next| next - 1).chain([u64::MAX]);
    firsts.iter().zip(ends).map(|(&first, end)| first..=end)
}

#[test]
fn the_parts_of_a_run_are_the_run() {
    // Arithmetic and barriers; local memory, divergence; atomic operations on shared memory; many launches.
    for name in ["needle", "radixSort", "histogram", "launch/particles"] {
        let case = Case::load(name).unwrap();
        let image = compiled(name, 24, &settings(SET).config).image;
        let mut whole = both(settings(SET));
        Session::new(case.manifest(), &image).unwrap().run(&mut whole).unwrap();
        let whole = Statistics { judged: None, ..whole.statistics() };
        // Somewhere in the middle of everything, a single cycle, and the last one.
        let firsts =
            [0, 1, whole.cycles / 7, whole.cycles / 3, whole.cycles / 3 + 1, whole.cycles / 2, whole.cycles - 1];
        let mut sum = Statistics::default();
        for cycles in parts(&firsts) {
            let is_last = *cycles.end() == u64::MAX;
            let mut session = Session::new(case.manifest(), &image).unwrap();
            let threads = 1 + usize::from(cycles.start() % 2 == 1);
            let mut engine = both(Settings { compare: Some(cycles.clone()), threads, ..settings(SET) });
            match session.run(&mut engine) {
                Ok(_) => {
                    assert!(is_last, "{name}, {cycles:?}");
                    assert!(session.checks().unwrap().iter().all(|row| row.ok), "{name}");
                }
                Err(RunError::Engine(LaunchError::Reached)) => assert!(!is_last, "{name}, {cycles:?}"),
                Err(error) => panic!("{name}, {cycles:?}: {error}"),
            }
            let statistics = engine.statistics();
            assert!(is_last || statistics.cycles == cycles.end() - cycles.start() + 1, "{name}, {cycles:?}");
            sum.add(&statistics);
        }
        assert_eq!(sum, whole, "{name}");
    }
}

#[test]
fn a_difference_is_found_by_the_part_that_has_its_cycle() {
    let program = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
    let run = |cycles: RangeInclusive<u64>| {
        // It begins without a reset, except in the first cycle.
        let model = |config: &Config| Faulty::model(config, WRONG);
        let mut engine = both(Settings { model, compare: Some(cycles), history: 1000, ..settings(SET) });
        let mut memory = buffers();
        let error = loop {
            if let Err(error) = program.launch(&mut engine, &mut memory) {
                break error;
            }
        };
        (engine, error)
    };
    for cycles in [WRONG - 300..=WRONG - 1, WRONG + 1..=WRONG + 300] {
        let (engine, error) = run(cycles);
        assert!(matches!(error, LaunchError::Reached), "{error}");
        assert_eq!(engine.statistics().cycles, 300);
    }
    let (engine, error) = run(WRONG - 100..=WRONG + 100);
    let LaunchError::Broken(broken) = error else { panic!("{error}") };
    assert_eq!((broken.verdict, broken.cycle), (Verdict::Diverged, WRONG));
    assert_eq!(broken.divergence.unwrap().port, "mem_req_valid_o");
    // Its history begins where the part does.
    let folder = tempfile::tempdir().unwrap();
    let written = engine.write_failure(folder.path(), &[], None).unwrap().unwrap();
    let text = std::fs::read_to_string(written.join("wave.vcd")).unwrap();
    let has = |cycle: u64| text.contains(&format!("\n#{}\n", 2 * cycle));
    assert!(has(WRONG) && has(WRONG - 100) && !has(WRONG - 101));
}

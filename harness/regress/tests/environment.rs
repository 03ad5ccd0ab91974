//! Lockstep in environments: the inputs of each side depend on its own outputs.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};

use common::{Fault, Faulty, known};
use gpurf_blocks::config::{Config, MrfConfig};
use gpurf_blocks::mrf::{MrfWriteQueueIn, MrfWriteQueueOut};
use gpurf_blocks::ram::Ram1rwIn;
use gpurf_blocks::{registry, view, view_mut};
use gpurf_lockstep::wave::Scopes;
use gpurf_lockstep::{
    Cause, Divergence, Environment, FailureContext, Idle, Lockstep, RESET_CYCLES, Records, RunOutcome, RunPlan, Side,
    Trail, WaveFolder, report, write_failure,
};
use gpurf_regress::{Project, RtlSources, request};
use verilated::{Options, Toolchain};

const SMALL: Config = Config {
    mrf: MrfConfig { banks: 4, collectors: 4, kilobytes: 8, tag_bits: 16, ..Config::BASELINE.mrf },
    ..Config::BASELINE
};

/// Pushes a result, sees it at the head, pops it, and pushes one that is computed from it: three cycles for each result.
#[derive(Clone)]
struct Echo {
    /// The next value to push.
    value: u32,
    /// Number of results until the end.
    results: u32,
    /// Number of results after which nothing is pushed.
    stuck_at: u32,
    /// The action of the next cycle: 0 pushes, 1 looks, 2 pops.
    phase: u32,
}

impl Echo {
    fn new(results: u32) -> Self {
        Self { value: 1, results, stuck_at: u32::MAX, phase: 0 }
    }
}

impl Environment for Echo {
    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        let inputs: &mut MrfWriteQueueIn = view_mut(inputs);
        let head = previous.map(view::<MrfWriteQueueOut>).filter(|out| out.head_valid_o == 1);
        if self.results == 0 {
            return false;
        }
        inputs.rst_ni = 1;
        inputs.push_valid_i = u8::from(self.phase == 0 && self.stuck_at > 0);
        inputs.pop_i = 0;
        match self.phase {
            0 => {
                inputs.push_data_i.0.fill(self.value);
                (inputs.push_mask_i, inputs.push_reg_i) = (!self.value, self.value as u8);
                self.phase = if self.stuck_at > 0 { 1 } else { 0 };
            }
            1 => self.phase = 2,
            _ => {
                if let Some(out) = head {
                    self.value = out.head_data_o.0[31].wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    inputs.pop_i = 1;
                    (self.results, self.stuck_at) = (self.results - 1, self.stuck_at.saturating_sub(1));
                    self.phase = 0;
                }
            }
        }
        true
    }
}

/// A run, with its sides.
struct Ran {
    sides: Lockstep,
    outcome: RunOutcome,
    /// The inputs of every equal cycle.
    inputs: Records,
}

/// The write queue, with a defect in its model.
fn sides(fault: Fault) -> Lockstep {
    sides_of("mrf_write_queue", fault)
}

/// A block, with a defect in its model.
fn sides_of(block: &str, fault: Fault) -> Lockstep {
    let project = Project::find();
    let options = Options { optimise: false, ..Options::default() };
    let request = request(&project, block, &SMALL, &RtlSources::default(), options).unwrap();
    let library = Toolchain::find(&project.cache()).unwrap().build(&request).unwrap();
    let twin = Faulty::boxed((registry::find(block).unwrap().twin)(&SMALL), fault);
    Lockstep::new(twin, library.instance(1).unwrap())
}

/// Runs the write queue in two environments. The runs with one thread and with two have to be equal.
fn run(rtl: Echo, model: Echo, plan: RunPlan, fault: Fault) -> Ran {
    let [one, two] = [1, 2].map(|threads| run_once(rtl.clone(), model.clone(), RunPlan { threads, ..plan }, fault));
    let [first, second] = [&one, &two].map(|ran| known(ran.sides.comparator.declaration(), &ran.outcome));
    assert_eq!(first.0, second.0);
    assert!(first.1 == second.1 && one.inputs.all() == two.inputs.all());
    two
}

fn run_once(rtl: Echo, model: Echo, plan: RunPlan, fault: Fault) -> Ran {
    let mut sides = sides(fault);
    let mut inputs = Records::new(sides.comparator.declaration().input_bytes);
    let mut observe = |driven: &[u8], _: &[u8]| {
        inputs.push(driven);
    };
    let (mut rtl, mut model) = (rtl, model);
    let outcome = sides.run_reactive(&mut rtl, &mut model, &plan, &mut observe, &AtomicBool::new(false));
    Ran { sides, outcome, inputs }
}

const PLAN: RunPlan = RunPlan { seed: 1, cycles: 1_000_000, memory_every: 640, idle: None, threads: 1 };

/// A cycle with a pop is progress.
fn pops_within(limit: u64) -> Option<Idle> {
    Some(Idle { limit, progress: |driven, _| view::<MrfWriteQueueIn>(driven).pop_i == 1 })
}

fn divergence(outcome: &RunOutcome) -> &Divergence {
    let Some(Cause::Diverged(divergence)) = &outcome.cause else { panic!("{:?}", outcome.cause) };
    divergence
}

/// The report of a failure, from a failure folder that is then deleted.
fn written(ran: &Ran) -> String {
    let parent = tempfile::tempdir().unwrap();
    let (comparator, capture) = (&ran.sides.comparator, ran.outcome.capture.as_ref());
    let cause = ran.outcome.cause.as_ref().unwrap();
    let context = FailureContext {
        comparator,
        cause,
        report: &report::text(comparator.declaration(), cause, capture),
        capture,
        reproducer: None,
        inputs: None,
        notes: &[],
    };
    let folder = write_failure(parent.path(), &context).unwrap();
    wellen::simple::read(folder.join("wave.vcd")).unwrap();
    assert!(folder.join("wave.gtkw").exists());
    std::fs::read_to_string(folder.join("report.txt")).unwrap()
}

#[test]
fn equal_sides_run_until_both_environments_end() {
    let ran = run(Echo::new(700), Echo::new(700), PLAN, |_, _, _| {});
    assert!(ran.outcome.cause.is_none(), "{:?}", ran.outcome.cause);
    assert_eq!((ran.outcome.cycles, ran.inputs.len()), (2_100, 2_100));
    // The pushed values depend on the outputs.
    let pushed = |cycle| view::<MrfWriteQueueIn>(ran.inputs.get(cycle)).push_data_i.0[0];
    assert_eq!([pushed(0), pushed(3), pushed(6)], [1, 1_015_568_748, 1_586_005_467]);

    let ran = run(Echo::new(700), Echo::new(700), RunPlan { cycles: 500, ..PLAN }, |_, _, _| {});
    assert!(ran.outcome.cause.is_none());
    assert_eq!(ran.outcome.cycles, 500, "the plan ends it");
}

/// A cycle in which the environment looks at the head.
const WRONG: u64 = 1_000;

#[test]
fn a_wrong_output_has_its_consequences_on_its_own_side() {
    let ran = run(Echo::new(700), Echo::new(700), PLAN, |_, cycle, compared| {
        if cycle == RESET_CYCLES as u64 + WRONG + 1 {
            view_mut::<MrfWriteQueueOut>(compared).head_data_o.0[31] ^= 4;
        }
    });
    let (divergence, capture) = (divergence(&ran.outcome), ran.outcome.capture.as_ref().unwrap());
    assert_eq!((divergence.cycle, ran.outcome.cycles, divergence.ended), (WRONG, WRONG, None));
    let found = report::summary(ran.sides.comparator.declaration(), divergence, capture);
    assert_eq!((found.block.as_str(), found.port.as_str()), ("mrf_write_queue", "head_data_o"));
    assert!(written(&ran).contains("differing lanes: 31"));

    assert_eq!((capture.first_cycle, capture.len()), (WRONG - 256, 256 + 33));
    let right = run(Echo::new(700), Echo::new(700), PLAN, |_, _, _| {}).inputs;
    let size = right.size();
    for index in 0..capture.len() {
        let cycle = capture.first_cycle as usize + index;
        let [rtl, model] = [capture.rtl(index), capture.model(index)].map(|record| &record[..size]);
        assert_eq!(rtl, right.get(cycle), "the RTL is right and stays right, cycle {cycle}");
        // The value is popped in the next cycle, and the result that depends on it is pushed in the one after that.
        assert_eq!(rtl == model, cycle < WRONG as usize + 2, "cycle {cycle}");
    }
}

#[test]
fn an_end_on_one_side_is_a_divergence() {
    for (rtl, model, ended, words) in [
        (20, 30, Side::Rtl, "the RTL's environment ends the run in this cycle, the model's goes on"),
        (30, 20, Side::Model, "the model's environment ends the run in this cycle, the RTL's goes on"),
    ] {
        let ran = run(Echo::new(rtl), Echo::new(model), PLAN, |_, _, _| {});
        let divergence = divergence(&ran.outcome);
        assert_eq!((divergence.cycle, ran.outcome.cycles, divergence.ended), (60, 60, Some(ended)));
        assert_eq!(divergence.blame.block, "environment");
        assert_eq!(ran.outcome.capture.as_ref().unwrap().len(), 60);
        let report = written(&ran);
        assert!(report.contains(words), "{report}");
    }
}

#[test]
fn environments_that_differ_are_blamed_themselves() {
    let ran = run(Echo { value: 2, ..Echo::new(9) }, Echo::new(9), PLAN, |_, _, _| {});
    let divergence = divergence(&ran.outcome);
    assert_eq!((divergence.cycle, divergence.blame.block.as_str()), (0, "environment"));
    let report = written(&ran);
    assert!(report.contains("push_data_i: Data of the result."), "{report}");
}

#[test]
fn a_run_without_progress_is_given_up() {
    let stuck = Echo { stuck_at: 10, ..Echo::new(700) };
    let ran = run(stuck.clone(), stuck, RunPlan { idle: pops_within(50), ..PLAN }, |_, _, _| {});
    let Some(Cause::Hung { cycle, since }) = ran.outcome.cause else { panic!("{:?}", ran.outcome.cause) };
    assert_eq!((since, cycle, ran.outcome.cycles), (30, 79, 80));
    assert_eq!(ran.outcome.capture.as_ref().unwrap().len(), 80);
    let report = written(&ran);
    assert!(report.contains("no progress from cycle 30 to 79"), "{report}");
    // One result in three cycles is enough progress.
    let ran = run(Echo::new(100), Echo::new(100), RunPlan { idle: pops_within(3), ..PLAN }, |_, _, _| {});
    assert!(ran.outcome.cause.is_none());
}

/// Writes a word of a RAM's lower half in every cycle.
struct Writes(u32);

impl Environment for Writes {
    fn drive(&mut self, _: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        let inputs: &mut Ram1rwIn = view_mut(inputs);
        (inputs.en_i, inputs.we_i, inputs.addr_i, inputs.wmask_i) = (1, 1, (self.0 % 8) as u16, u32::MAX);
        inputs.wdata_i.0.fill(self.0);
        self.0 += 1;
        true
    }
}

#[test]
fn a_run_without_progress_is_equal_only_if_memories_are() {
    let right: Fault = |_, _, _| {};
    let wrong: Fault = |twin, cycle, _| {
        if cycle == 20 {
            twin.memories()[0].words[15 * 32 + 31] ^= 1;
        }
    };
    for threads in [1, 2] {
        let ended = |fault| {
            let idle = Some(Idle { limit: 50, progress: |_, _| false });
            let plan = RunPlan { idle, threads, memory_every: 1 << 20, ..PLAN };
            let [mut rtl, mut model] = [(); 2].map(|()| Writes(0));
            sides_of("ram_1rw", fault).run_reactive(
                &mut rtl,
                &mut model,
                &plan,
                &mut |_, _| {},
                &AtomicBool::new(false),
            )
        };
        // By then the model is ahead and has written further words.
        let outcome = ended(right);
        assert!(matches!(outcome.cause, Some(Cause::Hung { cycle: 49, since: 0 })), "{:?}", outcome.cause);
        assert_eq!((outcome.cycles, outcome.capture.unwrap().len()), (50, 50));
        let outcome = ended(wrong);
        let [memory] = &divergence(&outcome).memories[..] else { panic!("{:?}", outcome.cause) };
        assert_eq!((memory.block, memory.word, memory.model[31] ^ memory.rtl[31]), ("ram_1rw", 15, 1));
    }
}

#[test]
fn a_panic_of_the_model_is_caught() {
    let ran = run(Echo::new(700), Echo::new(700), PLAN, |_, cycle, _| assert!(cycle < 500, "a defect"));
    let Some(Cause::Panicked { cycle, .. }) = ran.outcome.cause else { panic!("{:?}", ran.outcome.cause) };
    assert_eq!(cycle, 495);
}

/// An echo that panics after a number of cycles.
struct Panicking(Echo, u64);

impl Environment for Panicking {
    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        assert!(self.1 != 0, "a defect of the environment");
        self.1 -= 1;
        self.0.drive(previous, inputs)
    }
}

#[test]
fn a_panic_of_the_environment_is_one_of_its_cycle() {
    for threads in [1, 2] {
        let (mut rtl, mut model) = (Panicking(Echo::new(700), 300), Echo::new(700));
        let (plan, mut seen) = (RunPlan { threads, ..PLAN }, 0);
        let mut observe = |_: &[u8], _: &[u8]| seen += 1;
        let outcome =
            sides(|_, _, _| {}).run_reactive(&mut rtl, &mut model, &plan, &mut observe, &AtomicBool::new(false));
        let Some(Cause::Panicked { cycle, message }) = outcome.cause else { panic!("{:?}", outcome.cause) };
        assert_eq!((cycle, outcome.cycles, seen), (300, 300, 300));
        assert_eq!(message, "a defect of the environment");
    }
}

#[test]
fn what_observes_may_panic_or_end_the_run() {
    for threads in [1, 2] {
        let observed = |stop_at: u64, panic_at: u64| {
            let (stop, mut seen) = (AtomicBool::new(false), 0);
            let mut observe = |_: &[u8], _: &[u8]| {
                assert!(seen != panic_at, "a defect of what observes");
                seen += 1;
                stop.fetch_or(seen == stop_at, Ordering::Relaxed);
            };
            let plan = RunPlan { threads, ..PLAN };
            let [mut rtl, mut model] = [(); 2].map(|()| Echo::new(u32::MAX));
            let outcome = sides(|_, _, _| {}).run_reactive(&mut rtl, &mut model, &plan, &mut observe, &stop);
            (outcome.cause, outcome.cycles)
        };
        let (cause, cycles) = observed(u64::MAX, 300);
        let Some(Cause::Panicked { cycle, message }) = cause else { panic!("{cause:?}") };
        assert_eq!((cycle, cycles, message.as_str()), (300, 300, "a defect of what observes"));
        let (cause, cycles) = observed(300, u64::MAX);
        assert!(matches!(cause, Some(Cause::Interrupted)), "{cause:?}");
        // With two threads, observation is some chunks late, but complete before memories are compared.
        assert!(cycles == 512 || threads == 2 && cycles == 640, "{cycles}: the chunk's end");
    }
}

#[test]
fn with_two_threads_the_model_runs_ahead_on_its_own() {
    static RAN_ON: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    static DONE: AtomicU64 = AtomicU64::new(0);
    let fault: Fault = |_, cycle, _| {
        let id = thread::current().id();
        let mut ran_on = RAN_ON.lock().unwrap();
        if cycle > RESET_CYCLES as u64 && !ran_on.contains(&id) {
            ran_on.push(id);
        }
        DONE.store(cycle.saturating_sub(RESET_CYCLES as u64), Ordering::Relaxed);
    };
    for threads in [1, 2] {
        RAN_ON.lock().unwrap().clear();
        let mut sides = sides(fault);
        let (mut seen, mut furthest) = (0, 0);
        let mut observe = |_: &[u8], _: &[u8]| {
            furthest = furthest.max(DONE.load(Ordering::Relaxed) - seen);
            seen += 1;
        };
        let plan = RunPlan { threads, cycles: 20_000, memory_every: 1 << 20, ..PLAN };
        let [mut rtl, mut model] = [(); 2].map(|()| Echo::new(u32::MAX));
        let outcome = sides.run_reactive(&mut rtl, &mut model, &plan, &mut observe, &AtomicBool::new(false));
        assert!(outcome.cause.is_none(), "{:?}", outcome.cause);
        let ran_on = RAN_ON.lock().unwrap();
        assert_eq!(ran_on.contains(&thread::current().id()), threads == 1);
        assert_eq!(ran_on.len(), 1);
        // Chunks of this block: the model may be ten ahead of the RTL, and eight may wait to be observed.
        assert!(furthest > 0 && furthest <= 18 * 256, "{furthest} cycles ahead");
    }
}

/// An echo that pauses before certain cycles; a pause ends a stretch of the run.
struct Pausing {
    echo: Echo,
    cycle: u64,
    /// Cycles before which it pauses, in order.
    pauses: &'static [u64],
}

impl Environment for Pausing {
    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        if let [first, rest @ ..] = self.pauses
            && *first == self.cycle
        {
            self.pauses = rest;
            return false;
        }
        self.cycle += 1;
        self.echo.drive(previous, inputs)
    }
}

#[test]
fn stretches_are_one_run() {
    const PAUSES: &[u64] = &[5, 70, 71, 640, 1_300];
    let whole = run(Echo::new(700), Echo::new(700), PLAN, |_, _, _| {});
    for threads in [1, 2] {
        in_stretches(&whole, PAUSES, &RunPlan { threads, ..PLAN });
    }
}

fn in_stretches(whole: &Ran, pauses: &'static [u64], plan: &RunPlan) {
    let mut sides = sides(|_, _, _| {});
    let mut trail = Trail::new(&sides);
    let pausing = || Pausing { echo: Echo::new(700), cycle: 0, pauses };
    let (mut rtl, mut model) = (pausing(), pausing());
    let mut inputs = Records::new(whole.inputs.size());
    let mut observe = |driven: &[u8], _: &[u8]| {
        inputs.push(driven);
    };
    let go = AtomicBool::new(false);
    for &pause in pauses {
        let outcome = sides.go_on(&mut trail, &mut rtl, &mut model, plan, &mut observe, &go);
        assert!(outcome.cause.is_none(), "{:?}", outcome.cause);
        assert_eq!(outcome.cycles, pause);
    }
    let outcome = sides.go_on(&mut trail, &mut rtl, &mut model, plan, &mut observe, &go);
    assert!(outcome.cause.is_none());
    assert_eq!(outcome.cycles, whole.outcome.cycles);
    assert_eq!(inputs.all(), whole.inputs.all());
}

#[test]
fn a_failure_behind_a_stretch_shows_the_cycles_before_it() {
    let mut sides = sides(|_, cycle, compared| {
        if cycle == RESET_CYCLES as u64 + 101 {
            view_mut::<MrfWriteQueueOut>(compared).head_data_o.0[31] ^= 4;
        }
    });
    let mut trail = Trail::new(&sides);
    let pausing = || Pausing { echo: Echo::new(700), cycle: 0, pauses: &[90] };
    let (mut rtl, mut model) = (pausing(), pausing());
    let go = AtomicBool::new(false);
    let outcome = sides.go_on(&mut trail, &mut rtl, &mut model, &PLAN, &mut |_, _| {}, &go);
    assert!(outcome.cause.is_none());
    let outcome = sides.go_on(&mut trail, &mut rtl, &mut model, &PLAN, &mut |_, _| {}, &go);
    assert_eq!(divergence(&outcome).cycle, 100);
    let capture = outcome.capture.unwrap();
    assert_eq!((capture.first_cycle, capture.len()), (0, 133));
}

#[test]
fn a_stretch_is_recorded_when_asked_for() {
    for scopes in [Scopes::Both, Scopes::Only(Side::Model), Scopes::Only(Side::Rtl)] {
        let ran = run(Echo::new(3), Echo::new(3), PLAN, |_, _, _| {});
        let comparator = &ran.sides.comparator;
        let parent = tempfile::tempdir().unwrap();
        let mut wave = WaveFolder::create(parent.path(), comparator, scopes).unwrap();
        let record = Records::zeroed(comparator.declaration().record_bytes, 1);
        for cycle in 40..50 {
            wave.cycle(comparator, cycle, record.get(0), record.get(0)).unwrap();
        }
        let folder = wave.finish(comparator, "what was asked for\n").unwrap().unwrap();
        let waveform = wellen::simple::read(folder.join("wave.vcd")).unwrap();
        let all = waveform.hierarchy();
        let scopes_found: Vec<&str> = all
            .iter_scopes()
            .map(|scope| scope.name(all))
            .filter(|name| ["model", "rtl", "diff"].contains(name))
            .collect();
        let expected: &[&str] = match scopes {
            Scopes::Both => &["model", "rtl", "diff"],
            Scopes::Only(Side::Model) => &["model"],
            Scopes::Only(Side::Rtl) => &["rtl"],
        };
        assert_eq!(scopes_found, expected);
        assert_eq!(waveform.time_table().first(), Some(&80));
        assert!(folder.join("wave.gtkw").exists() && folder.join("report.txt").exists());
        // Without a recorded cycle no folder is kept.
        let empty = WaveFolder::create(parent.path(), comparator, scopes).unwrap();
        assert!(empty.finish(comparator, "").unwrap().is_none());
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}

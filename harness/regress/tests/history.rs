//! A history that is longer than the flight recorder: the cycles before a failure are run again from a copy of the model.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::Faulty;
use common::bench::{Bench, GO, SMALL, at, queue_job, values};
use gpurf_blocks::mrf::MrfBankOut;
use gpurf_blocks::{Declaration, Memory, Twin, registry, view_mut};
use gpurf_lockstep::{
    Cause, Environment, HISTORY, LostWord, RESET_CYCLES, Records, Reproducer, RunOutcome, RunPlan, Stimulus, Trail,
    Verdict, check_history, report,
};
use gpurf_regress::LockstepJob;

const BLOCK: &str = "mrf_bank";
/// Cycles before which a stretch ends.
const PAUSES: &[u64] = &[5, 70, 4_096, 6_001, 8_192, 9_000];

/// Random inputs in stretches; now and then a word loses its value.
struct Surroundings {
    stimulus: Box<dyn Stimulus + Send>,
    cycle: u64,
    pauses: &'static [u64],
    lost: Option<LostWord>,
}

impl Surroundings {
    fn new() -> Self {
        let stimulus = gpurf_stimulus::random(BLOCK, &SMALL, 2);
        Self { stimulus, cycle: 0, pauses: PAUSES, lost: None }
    }
}

impl Environment for Surroundings {
    fn drive(&mut self, _: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        if let [first, rest @ ..] = self.pauses
            && *first == self.cycle
        {
            self.pauses = rest;
            return false;
        }
        self.cycle += 1;
        self.stimulus.next(inputs)
    }

    fn lost(&mut self, _: &[u8]) -> &[LostWord] {
        let word = LostWord { memory: 0, word: self.cycle as usize % 8, seed: self.cycle };
        self.lost = self.cycle.is_multiple_of(3).then_some(word);
        self.lost.as_slice()
    }
}

/// Replaces a copy of a twin by another twin.
type Change = fn(Box<dyn Twin>) -> Box<dyn Twin>;

/// A bank whose model is wrong in a cycle.
struct Wrong {
    inner: Box<dyn Twin>,
    /// Cycles until the wrong one.
    left: u64,
    /// The change that is applied to its copies.
    copy: Option<Change>,
}

fn bank() -> Box<dyn Twin> {
    (registry::find(BLOCK).unwrap().twin)(&SMALL)
}

fn wrong_in(cycle: u64, copy: Option<Change>) -> Box<dyn Twin> {
    Box::new(Wrong { inner: bank(), left: RESET_CYCLES as u64 + cycle, copy })
}

impl Twin for Wrong {
    fn declaration(&self) -> &Declaration {
        self.inner.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle(inputs, compared);
        if self.left == 0 {
            view_mut::<MrfBankOut>(compared).read_data_valid_o ^= 1;
        }
        self.left = self.left.wrapping_sub(1);
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.inner.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        let copy: Box<dyn Twin> = Box::new(Self { inner: self.inner.duplicate(), ..*self });
        match self.copy {
            Some(change) => change(copy),
            None => copy,
        }
    }
}

/// Runs the bank; returns how the run ended, and the records of its equal cycles.
fn run(bench: &Bench, twin: Box<dyn Twin>, history: u64, threads: usize, surrounded: bool) -> (RunOutcome, Records) {
    let mut sides = bench.sides(twin);
    let declaration = sides.comparator.declaration().clone();
    let mut seen = Records::new(declaration.record_bytes);
    let mut observe = |inputs: &[u8], compared: &[u8]| {
        seen.push(&[inputs, compared].concat());
    };
    let plan = RunPlan { seed: 1, cycles: 20_000, memory_every: 640, idle: None, threads };
    let mut trail = Trail::with_history(&sides, history);
    let (mut rtl, mut model) = (Surroundings::new(), Surroundings::new());
    let mut stimulus = gpurf_stimulus::random(BLOCK, &SMALL, 2);
    let outcome = loop {
        let outcome = match surrounded {
            true => sides.go_on(&mut trail, &mut rtl, &mut model, &plan, &mut observe, &GO),
            false => sides.run_on(&mut trail, &mut *stimulus, &plan, &mut observe, &GO),
        };
        if outcome.cause.is_some() {
            break outcome;
        }
        assert!(surrounded && PAUSES.contains(&outcome.cycles), "{}", outcome.cycles);
    };
    (outcome, seen)
}

#[test]
fn the_cycles_before_a_failure_are_those_of_the_run() {
    let bench = Bench::new();
    let sides = bench.sides(bank());
    let (comparator, inputs) = (&sides.comparator, sides.comparator.declaration().input_bytes);
    let differs =
        |one: &[u8], other: &[u8]| one[..inputs] != other[..inputs] || !comparator.differences(one, other).is_empty();
    // Failures near the copies of the model, which are 4,096 cycles apart, or somewhat more than the length of the history.
    for history in [300, 5_000] {
        for wrong in [0, 10, 301, 4_097, 4_396, 8_300, 12_345, 13_900] {
            for (threads, surrounded) in [(1, false), (2, false), (1, true), (2, true)] {
                let case = format!("{history} {wrong} {threads} {surrounded}");
                let (outcome, seen) = run(&bench, wrong_in(wrong, None), history, threads, surrounded);
                let Some(cause @ Cause::Diverged(divergence)) = &outcome.cause else {
                    panic!("{case}: {:?}", outcome.cause)
                };
                assert_eq!((divergence.cycle, seen.len() as u64), (wrong, wrong), "{case}");
                let capture = outcome.capture.as_ref().unwrap();
                let before = wrong.min(history);
                assert_eq!((capture.begin(), &capture.shorter), (wrong - before, &None), "{case}");
                let mut next = capture.begin();
                let shown = capture.each(|cycle, model, rtl| {
                    assert_eq!(cycle, next, "{case}");
                    next += 1;
                    if cycle < wrong {
                        assert!(!differs(seen.get(cycle as usize), model), "{case}: cycle {cycle}");
                        assert!(!differs(seen.get(cycle as usize), rtl), "{case}: cycle {cycle}");
                    }
                    assert!(differs(model, rtl) == (cycle == wrong) || cycle > wrong, "{case}: cycle {cycle}");
                    Ok::<(), ()>(())
                });
                let pause = PAUSES.iter().find(|&&pause| surrounded && pause > wrong).copied().unwrap_or(u64::MAX);
                assert_eq!((shown, next), (Ok(()), pause.min(wrong + 33)), "{case}");
                let report = report::text(comparator.declaration(), cause, Some(capture));
                let line = format!("history   from cycle {} on\n", capture.begin());
                assert!(report.contains(&line), "{case}: {report}");
            }
        }
    }
}

/// A copy whose words do not lose their values.
struct Retentive(Box<dyn Twin>);

impl Twin for Retentive {
    fn declaration(&self) -> &Declaration {
        self.0.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.0.cycle(inputs, compared);
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.0.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<Memory<'_>> {
        Vec::new()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self(self.0.duplicate()))
    }
}

#[test]
fn a_copy_that_fails_does_not_lose_the_failure() {
    let bench = Bench::new();
    let copies: [(Change, &str); 3] = [
        // A copy that is wrong somewhat earlier.
        (|_| wrong_in(2_900, None), "run again, the model differs in cycle 2904: a defect of gpurf"),
        (|copy| Box::new(Retentive(copy)), "run again, the model differs in cycle "),
        (
            |copy| Faulty::boxed(copy, |_, _, _| panic!("a defect of the copy")),
            "run again, the model panicked: a defect of the copy: a defect of gpurf",
        ),
    ];
    for (copy, words) in copies {
        let (outcome, _) = run(&bench, wrong_in(3_000, Some(copy)), 2_000, 1, true);
        let Some(cause @ Cause::Diverged(divergence)) = &outcome.cause else { panic!("{:?}", outcome.cause) };
        assert_eq!(divergence.cycle, 3_000);
        let capture = outcome.capture.as_ref().unwrap();
        assert_eq!((capture.begin(), capture.len()), (3_000 - 256, 256 + 33));
        let report = report::text(bank().declaration(), cause, Some(capture));
        assert!(report.contains(&format!("  history   256 cycles in place of 2000: {words}")), "{report}");
    }
}

#[test]
fn the_user_who_stops_does_not_wait_for_the_history() {
    let bench = Bench::new();
    let (stop, mut seen) = (AtomicBool::new(false), 0);
    let mut sides = bench.sides(bank());
    let mut trail = Trail::with_history(&sides, 2_000);
    let mut observe = |_: &[u8], _: &[u8]| {
        seen += 1;
        stop.fetch_or(seen == 3_000, Ordering::Relaxed);
    };
    let plan = RunPlan { seed: 1, cycles: 20_000, memory_every: 640, idle: None, threads: 1 };
    let mut stimulus = gpurf_stimulus::random(BLOCK, &SMALL, 2);
    let outcome = sides.run_on(&mut trail, &mut *stimulus, &plan, &mut observe, &stop);
    assert!(matches!(outcome.cause, Some(Cause::Interrupted)), "{:?}", outcome.cause);
    let capture = outcome.capture.unwrap();
    assert_eq!((capture.len(), capture.begin(), capture.shorter), (256, outcome.cycles - 256, None));
}

/// The RTL counts its cycles, and goes wrong when it has counted to 20,000.
const LATE: [&str; 2] = [
    "assign push_ready_o  = ~valid_q | pop_i;",
    "logic [14:0] n_q = 0;\n  always_ff @(posedge clk_i) if (n_q != 20000) n_q <= n_q + 1'b1;\n  \
     assign push_ready_o  = (~valid_q | pop_i) & (n_q != 20000);",
];

#[test]
fn a_late_failure_has_a_waveform_and_a_reproducer_as_long_as_its_history() {
    let bench = Bench::new();
    let rtl = bench.broken("mrf_write_queue", LATE[0], LATE[1]);
    let job = |history, threads| LockstepJob { cycles: 40_000, history, threads, ..queue_job() };
    let short = bench.run(&job(HISTORY, 1), &rtl);
    let cycle = short.failing_cycle.unwrap();
    assert!(short.report.contains("with --history CYCLES it begins with more"), "{}", short.report);
    let wave = |result: &gpurf_regress::JobResult| {
        wellen::simple::read(result.failure_folder.as_ref().unwrap().join("wave.vcd")).unwrap()
    };
    assert_eq!(wave(&short).time_table()[0], 2 * (cycle - 256));
    for threads in [1, 2] {
        let long = bench.run(&job(3_000, threads), &rtl);
        assert_eq!(
            (long.result, long.failing_cycle, &long.divergence),
            (Verdict::Diverged, Some(cycle), &short.divergence)
        );
        let line = format!("  history   from cycle {} on\n", cycle - 3_000);
        assert!(long.report.contains(&line), "{}", long.report);
        let (mut one, mut other) = (wave(&short), wave(&long));
        assert_eq!(other.time_table()[0], 2 * (cycle - 3_000));
        assert_eq!(other.time_table().last(), one.time_table().last());
        for side in ["model", "rtl", "diff"] {
            for name in ["push_ready_o", "head_valid_o", "head_data_o"] {
                let path = ["gpurf", side, "mrf_write_queue"];
                let (one, other) = (values(&mut one, &path, name), values(&mut other, &path, name));
                for time in 2 * (cycle - 256)..2 * (cycle + 33) {
                    assert_eq!(at(&one, time), at(&other, time), "{side} {name} at {time}");
                }
                assert!(side == "diff" || other.iter().filter(|(time, _)| *time < 2 * (cycle - 256)).count() > 50);
            }
        }
        // The RTL needs more cycles than these to count to 20,000.
        assert!(!long.failure_folder.unwrap().join("reproducer.json").exists());
    }
    let whole = bench.run(&job(25_000, 1), &rtl);
    assert_eq!(wave(&whole).time_table()[0], 0);
    let file = Reproducer::read(&whole.failure_folder.unwrap().join("reproducer.json")).unwrap();
    // The RTL counts the cycles of reset too.
    assert!(file.cycles.len() > 19_990, "{}", file.cycles.len());
    let job = LockstepJob { keep_failure: false, ..LockstepJob::of_reproducer(file).unwrap() };
    let again = bench.run(&job, &rtl);
    assert_eq!((again.result, again.divergence.unwrap().port), (Verdict::Diverged, short.divergence.unwrap().port));
}

#[test]
fn a_history_that_does_not_fit_into_memory_is_refused() {
    let [bank, sm] = [bank(), (gpurf_sm::ENTRY.twin)(&SMALL)];
    for declaration in [bank.declaration(), sm.declaration()] {
        let message = check_history(declaration, 1 << 40).unwrap_err().to_string();
        let most: u64 = message.split("at most ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let start = format!("--history 1099511627776: {} has {} bytes", declaration.block, declaration.input_bytes);
        assert!(message.starts_with(&start), "{message}");
        assert!(check_history(declaration, most).is_ok() && check_history(declaration, most + 1).is_err(), "{message}");
        assert!(most > 1_000_000, "{message}");
    }
}

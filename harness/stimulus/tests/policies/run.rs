//! Runs a twin, without RTL, under a checker.

use std::collections::BTreeMap;

use gpurf_blocks::config::{Config, preset, presets};
use gpurf_blocks::design::Services;
use gpurf_blocks::{Block, Ports, Shape, view};
use gpurf_lockstep::Records;
use gpurf_stimulus::pinned;

/// Cycles of a run.
const CYCLES: u32 = 20_000;

/// How often a decision of each kind has to come up in a run with more than one possible outcome.
const ENOUGH: u32 = 100;

/// What a block did in a cycle.
#[derive(Clone, Copy)]
pub struct Cycle<B: Block> {
    pub inputs: B::In,
    pub out: B::Out,
    pub probe: B::Probe,
}

/// Decisions with more than one possible outcome, by kind.
pub type Decided = BTreeMap<&'static str, u32>;

/// Judges a block's decisions, cycle by cycle.
pub trait Checker<B: Block> {
    /// Judges a cycle and takes note of it.
    fn judge(&mut self, cycle: &Cycle<B>, decided: &mut Decided) -> Result<(), String>;
}

/// The configuration of a preset.
pub fn config(name: &str) -> Config {
    preset(name).expect("a preset").config
}

/// The first preset's configuration whose design has services for which `asks` holds.
pub fn config_with(asks: impl Fn(&Services) -> bool) -> Config {
    let mut all = presets().map(|preset| preset.config);
    all.find(|config| asks(config.sm_shape().services())).expect("a design asks for it")
}

/// Runs the twin in a configuration. `tamper` may change what the checker sees of a cycle.
pub fn run<B: Block>(
    config: &Config,
    pins: &[(&str, u32)],
    checker: &mut dyn Checker<B>,
    mut tamper: impl FnMut(u32, &mut Cycle<B>),
) -> Result<Decided, String> {
    let pins: Vec<(String, u32)> = pins.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let (mut block, mut stimulus) = (B::new(&B::Shape::of(config)), pinned(B::NAME, config, 1, &pins));
    let mut record = Records::zeroed(size_of::<B::In>().next_multiple_of(64), 1);
    let mut cycle = Cycle::<B> { inputs: Ports::zeroed(), out: Ports::zeroed(), probe: Ports::zeroed() };
    let mut decided = Decided::new();
    for number in 0..CYCLES {
        stimulus.next(record.get_mut(0));
        cycle.inputs = *view(record.get(0));
        block.early(&mut cycle.out);
        block.late(&cycle.inputs, &mut cycle.out);
        block.probe(&cycle.inputs, &cycle.out, &mut cycle.probe);
        block.clock(&cycle.inputs, &cycle.out);
        let mut seen = Cycle::<B> { inputs: cycle.inputs, out: cycle.out, probe: cycle.probe };
        tamper(number, &mut seen);
        checker.judge(&seen, &mut decided).map_err(|error| format!("{}, cycle {number}: {error}", B::NAME))?;
    }
    Ok(decided)
}

/// Asserts that the twin follows its policy, and that decisions of each of the kinds came up often enough.
pub fn passes<B: Block>(config: &Config, pins: &[(&str, u32)], mut checker: impl Checker<B>, kinds: &[&str]) {
    let decided = run(config, pins, &mut checker, |_, _| {}).unwrap_or_else(|error| panic!("{error}"));
    for kind in kinds {
        let times = decided.get(kind).copied().unwrap_or(0);
        assert!(times >= ENOUGH, "{}: {kind}: {times} decisions; all: {decided:?}", B::NAME);
    }
}

/// Asserts that the checker refuses a run, for a reason that contains `reason`.
pub fn refuses<B: Block>(
    config: &Config,
    pins: &[(&str, u32)],
    mut checker: impl Checker<B>,
    reason: &str,
    tamper: impl FnMut(u32, &mut Cycle<B>),
) {
    let error = run(config, pins, &mut checker, tamper).expect_err("a wrong decision passes");
    assert!(error.contains(reason), "{error}, instead of: {reason}");
}

/// Rotating priority: the contender that comes first after the one that was served last.
#[derive(Clone)]
pub struct Turn {
    /// All contenders; the one that was served last is at the end.
    order: Vec<usize>,
}

impl Turn {
    /// For `count` contenders: the first one has the first turn.
    pub fn new(count: usize) -> Self {
        Self { order: (0..count).collect() }
    }

    /// The contender of a set whose turn it is.
    pub fn first(&self, contenders: u64) -> Option<usize> {
        self.order.iter().copied().find(|&c| has(contenders, c))
    }

    /// The contender that was served last.
    pub fn last(&self) -> Option<usize> {
        self.order.last().copied()
    }

    /// Records that a contender has been served.
    pub fn served(&mut self, who: usize) {
        let place = self.order.iter().position(|&c| c == who).expect("one of them");
        self.order.rotate_left(place + 1);
    }
}

/// Whether a set has a member.
pub fn has(set: impl Into<u64>, member: usize) -> bool {
    set.into() >> member & 1 == 1
}

/// The members of a set for which a condition holds.
pub fn set(count: usize, condition: impl Fn(usize) -> bool) -> u64 {
    (0..count).filter(|&member| condition(member)).fold(0, |set, member| set | 1 << member)
}

/// Counts a decision of a kind if it had several possible outcomes.
pub fn count(decided: &mut Decided, kind: &'static str, several: bool) {
    *decided.entry(kind).or_default() += u32::from(several);
}

/// An error unless the decision `done` is the one that the policy makes.
pub fn expect<T: PartialEq + std::fmt::Debug>(what: &str, done: T, expected: T) -> Result<(), String> {
    if done == expected { Ok(()) } else { Err(format!("{what}: {done:?}, the policy says {expected:?}")) }
}

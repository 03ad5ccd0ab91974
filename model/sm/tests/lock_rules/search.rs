//! All states that a kernel can reach under a rule, and whether one of them is a deadlock.

use std::fmt::Write as _;

use crate::kernel::{Kernel, Operation, kernels};
use crate::pair::{Course, Pair, Step};
use crate::rule::Rule;

/// A search. It keeps its memory from one kernel to the next.
pub struct Search {
    /// States seen, by number.
    seen: Vec<bool>,
}

/// How a kernel comes to a deadlock.
pub struct Deadlock {
    /// The operations that were performed, in their order: as few as lead to a deadlock.
    pub performed: Vec<Step>,
    /// The operations for which warps wait for ever.
    pub waiting: Vec<Step>,
}

impl Search {
    pub fn new() -> Self {
        Self { seen: vec![false; Pair::STATES] }
    }

    /// The shortest way to a deadlock, if there is one.
    ///
    /// Every step brings a warp nearer to its end, so each run is finite, and a grid that does not end does so in a state from
    /// which no step leads.
    pub fn deadlock(&mut self, kernel: &Kernel, rule: Rule) -> Option<Deadlock> {
        let course = Course::new(kernel);
        let mut reached: Vec<(Pair, Option<(usize, Step)>)> = vec![(Pair::start(), None)];
        let mut found = None;
        let mut at = 0;
        while found.is_none() && at < reached.len() {
            let pair = reached[at].0;
            let mut is_stuck = !pair.is_done();
            pair.steps(&course, rule, |step, behind| {
                is_stuck &= behind.is_none();
                if let Some(behind) = behind
                    && !std::mem::replace(&mut self.seen[behind.number()], true)
                {
                    reached.push((behind, Some((at, step))));
                }
            });
            if is_stuck {
                let mut waiting = Vec::new();
                pair.steps(&course, rule, |step, _| waiting.push(step));
                found = Some(Deadlock { performed: way(&reached, at), waiting });
            }
            at += 1;
        }
        for (pair, _) in &reached {
            self.seen[pair.number()] = false;
        }
        found
    }
}

fn way(reached: &[(Pair, Option<(usize, Step)>)], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((before, step)) = reached[at].1 {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}

/// Kernels of an alphabet, and how many of them deadlock under each rule.
pub fn count(alphabet: &[Operation], longest: usize, rules: &[Rule]) -> (usize, Vec<usize>) {
    let kernels = kernels(alphabet, longest);
    let mut search = Search::new();
    let mut deadlocks = |&rule| kernels.iter().filter(|kernel| search.deadlock(kernel, rule).is_some()).count();
    (kernels.len(), rules.iter().map(&mut deadlocks).collect())
}

/// The kernel of fewest operations that deadlocks, and how; of several one whose warps are alike in length.
pub fn smallest(alphabet: &[Operation], longest: usize, rule: Rule) -> Option<(Kernel, Deadlock)> {
    let mut kernels = kernels(alphabet, longest);
    kernels.sort_by_key(|kernel| (kernel.operations(), kernel.longest()));
    let mut search = Search::new();
    kernels.into_iter().find_map(|kernel| search.deadlock(&kernel, rule).map(|deadlock| (kernel, deadlock)))
}

/// The way to a deadlock as a table in Markdown.
pub fn table(deadlock: &Deadlock) -> String {
    let mut text = String::from("| block | warp | operation |\n|---|---|---|\n");
    for step in &deadlock.performed {
        writeln!(text, "| {} | {} | {} |", step.block, step.warp, done(step.operation)).expect("a string takes it");
    }
    for step in &deadlock.waiting {
        writeln!(text, "| {} | {} | {} |", step.block, step.warp, waits(step.operation)).expect("a string takes it");
    }
    text
}

fn done(operation: Operation) -> &'static str {
    match operation {
        Operation::Private => "executes an instruction of its own",
        Operation::Register => "accesses a shared register, and has the lock",
        Operation::Scratchpad => "accesses the shared scratchpad, and its block has the lock",
        Operation::Barrier => "arrives at the barrier",
        Operation::Lock => "takes the mutex",
        Operation::Unlock => "gives the mutex back",
    }
}

fn waits(operation: Operation) -> &'static str {
    match operation {
        Operation::Register => "waits for the lock of its shared registers",
        Operation::Scratchpad => "waits for the lock of the shared scratchpad",
        Operation::Barrier => "waits at the barrier",
        Operation::Lock => "spins on the mutex",
        Operation::Private | Operation::Unlock => unreachable!("no rule refuses it"),
    }
}

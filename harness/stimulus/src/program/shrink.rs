//! Shortens a program that fails.
//!
//! First it reduces blocks, warps and lanes. Then it leaves out statements, in runs: all, halves, quarters, down to single ones. Then it replaces
//! branches and loops by the statements inside them, and simplifies the statements that are left. Every candidate is a valid program, since a
//! statement is self-contained.

mod candidates;

use std::time::{Duration, Instant};

use super::Program;
use super::tree::{Statement, count};

/// A shorter program.
pub struct Shrunk {
    /// The program.
    pub program: Program,
    /// How many programs were tried.
    pub tried: usize,
    /// Whether nothing more can be left out; otherwise time ran out.
    pub minimal: bool,
}

/// Shortens a program. `fails` returns whether a candidate fails in the same way as the original. After `limit`, the shortest program so far is
/// returned.
pub fn shrink(program: &Program, limit: Duration, fails: &mut dyn FnMut(&Program) -> bool) -> Shrunk {
    let mut search = Search { best: program.clone(), fails, tried: 0, deadline: Instant::now() + limit };
    loop {
        let before = search.best.clone();
        search.fewer_threads();
        search.leave_out();
        search.hoist();
        search.simplify();
        if search.best == before || search.out_of_time() {
            break;
        }
    }
    Shrunk { minimal: !search.out_of_time(), program: search.best, tried: search.tried }
}

struct Search<'a> {
    best: Program,
    fails: &'a mut dyn FnMut(&Program) -> bool,
    tried: usize,
    deadline: Instant,
}

impl Search<'_> {
    fn out_of_time(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Keeps a candidate if it fails too.
    fn attempt(&mut self, candidate: Program) -> bool {
        if candidate == self.best || self.out_of_time() {
            return false;
        }
        self.tried += 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    fn fewer_threads(&mut self) {
        self.reduce(|program| program.blocks(), |program, blocks| program.grid = [blocks, 1, 1]);
        self.reduce(|program| program.warps(), |program, warps| program.block = [32 * warps, 1, 1]);
        self.reduce(|program| program.threads(), |program, threads| program.block = [threads, 1, 1]);
    }

    /// Reduces a number to 1, else to half, else by one, as long as one of these succeeds.
    fn reduce(&mut self, get: impl Fn(&Program) -> u32, set: impl Fn(&mut Program, u32)) {
        loop {
            let now = get(&self.best);
            let smaller = [1, now / 2, now.saturating_sub(1)];
            let done = smaller.into_iter().filter(|&n| n > 0 && n < now).any(|number| {
                let mut candidate = self.best.clone();
                set(&mut candidate, number);
                self.attempt(candidate)
            });
            if !done {
                return;
            }
        }
    }

    /// Leaves out runs of statements.
    fn leave_out(&mut self) {
        let mut run = count(&self.best.body);
        while run > 0 && !self.out_of_time() {
            let mut at = 0;
            while at < count(&self.best.body) {
                let mut candidate = self.best.clone();
                let mut number = 0;
                candidate.body = without(&candidate.body, &mut number, &(at..at + run));
                if !self.attempt(candidate) {
                    at += run;
                }
            }
            run = if run == 1 { 0 } else { run.div_ceil(2).min(run - 1) };
        }
    }

    /// Replaces branches and loops by the statements inside them.
    fn hoist(&mut self) {
        let mut at = 0;
        while at < count(&self.best.body) {
            let mut done = false;
            for side in 0..2 {
                let mut candidate = self.best.clone();
                let mut number = 0;
                candidate.body = hoisted(&candidate.body, &mut number, at, side);
                if candidate.body != self.best.body && self.attempt(candidate) {
                    done = true;
                    break;
                }
            }
            at += usize::from(!done);
        }
    }

    /// Makes statements plainer.
    fn simplify(&mut self) {
        if self.best.split_end {
            let candidate = Program { split_end: false, ..self.best.clone() };
            self.attempt(candidate);
        }
        let mut at = 0;
        while at < count(&self.best.body) && !self.out_of_time() {
            let mut number = 0;
            let Some(statement) = find(&self.best.body, &mut number, at) else { break };
            let mut done = false;
            for plainer in candidates::plainer(statement) {
                let mut candidate = self.best.clone();
                let mut number = 0;
                replace(&mut candidate.body, &mut number, at, &plainer);
                if self.attempt(candidate) {
                    done = true;
                    break;
                }
            }
            at += usize::from(!done);
        }
    }
}

/// The statements without those whose number, counted as [`count`] does, is in a range; the statements inside them are left out too.
fn without(statements: &[Statement], number: &mut usize, range: &std::ops::Range<usize>) -> Vec<Statement> {
    let mut kept = Vec::new();
    for statement in statements {
        let leaves = range.contains(number);
        *number += 1;
        if leaves {
            *number += statement.children().iter().map(|child| count(child)).sum::<usize>();
            continue;
        }
        let mut statement = statement.clone();
        for child in statement.children_mut() {
            *child = without(child, number, range);
        }
        kept.push(statement);
    }
    kept
}

/// The statements, with the one of number `at` replaced by the statements on its side `side`.
fn hoisted(statements: &[Statement], number: &mut usize, at: usize, side: usize) -> Vec<Statement> {
    let mut result = Vec::new();
    for statement in statements {
        let here = *number == at;
        *number += 1;
        let mut statement = statement.clone();
        for child in statement.children_mut() {
            *child = hoisted(child, number, at, side);
        }
        match statement.children().get(side) {
            Some(inside) if here => result.extend((*inside).clone()),
            _ => result.push(statement),
        }
    }
    result
}

/// The statement of number `at`.
fn find<'a>(statements: &'a [Statement], number: &mut usize, at: usize) -> Option<&'a Statement> {
    for statement in statements {
        if *number == at {
            return Some(statement);
        }
        *number += 1;
        for child in statement.children() {
            if let Some(found) = find(child, number, at) {
                return Some(found);
            }
        }
    }
    None
}

/// Replaces the statement of number `at`.
fn replace(statements: &mut [Statement], number: &mut usize, at: usize, with: &Statement) {
    for statement in statements {
        if *number == at {
            *statement = with.clone();
            *number = usize::MAX / 2;
            return;
        }
        *number += 1;
        for child in statement.children_mut() {
            replace(child, number, at, with);
        }
    }
}

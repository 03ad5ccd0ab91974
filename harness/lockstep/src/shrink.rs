//! Shrinks a long failing run to a short one.
//!
//! First the run is cut at the failure and at its beginning as far as possible, and payloads that are not valid are cleared, all at once, or port by port
//! if the failure depends on some of them. Then sequences of cycles are left out, in halves, quarters, down to single cycles; then
//! cycles become idle; then single bits of valids and whole payloads are cleared. The result is locally minimal: no single cycle can be left out,
//! and no single control bit cleared, without losing the failure.

use std::time::{Duration, Instant};

use gpurf_blocks::{Declaration, Role};

use crate::Records;

/// A shorter failing run.
pub struct Shrunk {
    /// Its inputs, up to the failing cycle.
    pub inputs: Records,
    /// Number of runs that were tried.
    pub tried: usize,
    /// Whether the run is locally minimal; if not, the time limit was reached.
    pub minimal: bool,
}

/// Shortens `inputs`. `fails` runs inputs from reset and returns the cycle in which they fail in the same way, if they do.
/// After `limit` the best run so far is returned.
pub fn shrink(
    declaration: &Declaration,
    inputs: &Records,
    limit: Duration,
    fails: &mut dyn FnMut(&Records) -> Option<u64>,
) -> Shrunk {
    let mut search = Search { best: inputs.clone(), fails, tried: 0, deadline: Instant::now() + limit };
    let whole = search.best.clone();
    search.attempt(whole);
    search.cut_front();
    search.clear_payloads(declaration);
    loop {
        let size = search.weight(declaration);
        search.leave_out_cycles();
        search.clear_inputs(declaration);
        if search.weight(declaration) == size || search.out_of_time() {
            break;
        }
    }
    Shrunk { minimal: !search.out_of_time(), inputs: search.best, tried: search.tried }
}

struct Search<'a> {
    best: Records,
    fails: &'a mut dyn FnMut(&Records) -> Option<u64>,
    tried: usize,
    deadline: Instant,
}

impl Search<'_> {
    fn out_of_time(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Keeps `candidate`, cut at its failure, if it fails. Returns whether it was kept.
    fn attempt(&mut self, mut candidate: Records) -> bool {
        if self.out_of_time() {
            return false;
        }
        self.tried += 1;
        let Some(cycle) = (self.fails)(&candidate) else { return false };
        candidate.resize(candidate.len().min(cycle as usize + 1));
        self.best = candidate;
        true
    }

    /// Keeps the shortest end of the run that still fails; lengths are powers of two.
    fn cut_front(&mut self) {
        let mut length = 16;
        while length < self.best.len() {
            let skip = self.best.len() - length;
            let end = self.best.filtered(|i| i >= skip);
            if self.attempt(end) {
                return;
            }
            length *= 2;
        }
    }

    /// Clears invalid payloads whose valid is an input: all of them at once, or those of each port on which the failure does not depend.
    fn clear_payloads(&mut self, declaration: &Declaration) {
        let signals = &declaration.signals;
        let by_input = |s: &usize| signals[*s].valid.is_some_and(|valid| signals[valid].role == Role::Input);
        let inputs = (0..signals.len()).filter(|&s| signals[s].role == Role::Input);
        let payloads: Vec<usize> = inputs.filter(by_input).collect();
        if !self.clear_where_invalid(declaration, &payloads) {
            for payload in payloads.chunks(1) {
                self.clear_where_invalid(declaration, payload);
            }
        }
    }

    /// Clears these payloads in all cycles in which they are not valid. Returns true if there was nothing to clear, or if the run still fails.
    fn clear_where_invalid(&mut self, declaration: &Declaration, payloads: &[usize]) -> bool {
        let mut cleared = self.best.clone();
        let mut found = false;
        for cycle in 0..cleared.len() {
            let record = cleared.get_mut(cycle);
            for &payload in payloads {
                let field = &declaration.signals[payload].field;
                for element in 0..field.count {
                    if declaration.is_valid(record, payload, element) {
                        continue;
                    }
                    let start = field.offset + element * field.elem_bytes;
                    let bytes = &mut record[start..start + field.elem_bytes];
                    found |= bytes.iter().any(|&byte| byte != 0);
                    bytes.fill(0);
                }
            }
        }
        !found || self.attempt(cleared)
    }

    fn leave_out_cycles(&mut self) {
        let mut run = self.best.len() / 2;
        while run > 0 {
            // From the end backwards, so that the indices of earlier cycles stay valid when a sequence is left out.
            let mut start = self.best.len().saturating_sub(run);
            loop {
                let without = self.best.filtered(|i| i < start || i >= start + run);
                if !without.is_empty() {
                    self.attempt(without);
                }
                if start == 0 || self.out_of_time() {
                    break;
                }
                start = start.saturating_sub(run).min(self.best.len().saturating_sub(run));
            }
            run /= 2;
        }
    }

    fn clear_inputs(&mut self, declaration: &Declaration) {
        let inputs: Vec<_> = declaration.signals.iter().filter(|s| s.role == Role::Input).collect();
        let mut cycle = 0;
        while cycle < self.best.len() && !self.out_of_time() {
            for signal in &inputs {
                let field = &signal.field;
                // Reset is active low: clearing the bit would add a reset, setting it removes one.
                let is_reset = field.name == "rst_ni";
                for element in 0..field.count {
                    if cycle >= self.best.len() {
                        return;
                    }
                    let range =
                        field.offset + element * field.elem_bytes..field.offset + (element + 1) * field.elem_bytes;
                    let bytes = self.best.get(cycle)[range.clone()].to_vec();
                    let idle = u8::from(is_reset);
                    if bytes[0] == idle && bytes[1..].iter().all(|&b| b == 0) {
                        continue;
                    }
                    let mut cleared = self.best.clone();
                    let place = &mut cleared.get_mut(cycle)[range.clone()];
                    place.fill(0);
                    place[0] = idle;
                    if self.attempt(cleared) || field.elem_bytes > 8 || is_reset {
                        continue;
                    }
                    for bit in (0..field.bits as usize).filter(|b| bytes[b / 8] >> (b % 8) & 1 == 1) {
                        if cycle >= self.best.len() {
                            return;
                        }
                        let mut cleared = self.best.clone();
                        cleared.get_mut(cycle)[range.start + bit / 8] &= !(1 << (bit % 8));
                        self.attempt(cleared);
                    }
                }
            }
            cycle += 1;
        }
    }

    /// Number of cycles and of set bits: shrinking ends when neither decreases.
    fn weight(&self, declaration: &Declaration) -> (usize, u32) {
        let reset = declaration.signal("rst_ni").map(|s| s.field.offset);
        let ones = (0..self.best.len()).map(|c| {
            let record = self.best.get(c);
            let ones: u32 = record.iter().map(|b| b.count_ones()).sum();
            ones + reset.map_or(0, |at| 2 * u32::from(record[at] == 0))
        });
        (self.best.len(), ones.sum())
    }
}

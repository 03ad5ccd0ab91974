//! Alternation of even and odd warps (`alternating_scheduler`).

use gpurf_blocks::Shape;
use gpurf_blocks::config::Config;
use gpurf_blocks::issue::AlternatingScheduler;
use gpurf_blocks::shape::SmShape;

use crate::run::{Checker, Cycle, Decided, Turn, config_with, count, expect, has, passes, refuses, set};

/// States of the scheduler (`state_q`): no warp is active, or one is.
const NONE: u8 = 0;
const ACTIVE: u8 = 1;

/// "The warp schedule strategy is enforced that two consecutively activated warps are from two different banks"
/// (hybrid paper, 6.1), where "the warps with an even warp ID" are of bank 0 and "those with an odd warp ID" of bank
/// 1; the buffer of the warp before the last has to be empty by then, otherwise "the whole pipeline needs to stall"
/// (4.3). Among the warps of a bank: "Warp Scheduler: Round Robin" (table 3).
///
/// Where only warps of the same bank are ready, one of them follows. The patience is an addition of this project.
struct Alternates {
    warps: usize,
    patience: usize,
    /// Of each bank: the turns of its warps.
    turns: [Turn; 2],
    /// Bank of the warp that was activated last.
    last: usize,
    /// Instructions that the active warp has issued.
    issued: usize,
    /// Whether no warp was active in the cycle before, and which warp has to be active now.
    waits: bool,
    next: Option<usize>,
}

impl Alternates {
    fn new(config: &Config) -> Self {
        Self::reset(SmShape::of(config).warps, config.sm.patience)
    }

    fn reset(warps: usize, patience: usize) -> Self {
        let turns = [0, 1].map(|_| Turn::new(warps));
        Self { warps, patience, turns, last: 1, issued: 0, waits: false, next: None }
    }
}

impl Checker<AlternatingScheduler> for Alternates {
    fn judge(&mut self, cycle: &Cycle<AlternatingScheduler>, decided: &mut Decided) -> Result<(), String> {
        let (i, o, p) = (&cycle.inputs, &cycle.out, &cycle.probe);
        let warp = usize::from(o.slot_warp_o[usize::from(p.current_q)]);
        if self.waits {
            let activated = (p.state_q != NONE).then_some(warp);
            expect("warp activated", activated, self.next)?;
            if let Some(warp) = activated {
                (self.last, self.issued) = (warp % 2, 0);
                self.turns[warp % 2].served(warp);
            }
        }
        let resident = (0..2).filter(|&b| has(o.slot_valid_o, b)).fold(0, |all, b| all | 1 << o.slot_warp_o[b]);
        let ready = set(self.warps, |w| has(i.alive_i & !i.held_i & !resident, w) && p.long_count_q[w] == 0);

        let marked = has(i.head_valid_i & i.mark_i, warp) && self.issued > 0;
        let stalls = !has(i.alive_i, warp) || has(i.held_i, warp) || marked;
        let rival = self.patience > 0 && ready != 0;
        let stays = p.state_q == ACTIVE && !stalls && !(rival && self.issued >= self.patience);
        expect("warp that is active and stays", o.active_o, u64::from(stays) << warp)?;
        count(decided, "patience", p.state_q == ACTIVE && !stalls && rival && self.issued + 1 >= self.patience);

        let clear = has(i.clear_i, warp) && i.stop_i == 0 && (!has(i.operand_i, warp) || i.ready_i == 1);
        expect("issue", o.issue_valid_o == 1, stays && clear)?;
        self.issued += usize::from(o.issue_valid_o);

        self.waits = p.state_q == NONE;
        let of = |bank: usize| set(self.warps, |w| has(ready, w) && w % 2 == bank);
        let bank = if of(1 - self.last) == 0 { self.last } else { 1 - self.last };
        self.next = self.turns[bank].first(of(bank)).filter(|_| !has(o.flush_o, bank));
        let chosen = self.waits && self.next.is_some();
        count(decided, "either bank", chosen && of(0) != 0 && of(1) != 0);
        count(decided, "one bank again", chosen && bank == self.last);
        count(decided, "several of a bank", chosen && of(bank).count_ones() > 1);
        count(decided, "stall for the buffer", self.waits && of(bank) != 0 && has(o.flush_o, bank));
        if i.rst_ni == 0 {
            *self = Self::reset(self.warps, self.patience);
        }
        Ok(())
    }
}

fn with_patience(patience: usize) -> Config {
    let mut config = config_with(|services| services.pairs_rows);
    config.sm.patience = patience;
    config
}

#[test]
fn even_and_odd_warps_alternate() {
    let kinds = ["either bank", "one bank again", "several of a bank", "stall for the buffer", "patience"];
    for patience in [3, 6] {
        let config = with_patience(patience);
        passes(&config, &[], Alternates::new(&config), &kinds);
    }
}

#[test]
fn a_patience_that_is_longer_or_shorter_by_one_is_refused() {
    for patience in [5, 7] {
        let checker = Alternates::new(&with_patience(6));
        refuses(&with_patience(patience), &[], checker, "warp that is active and stays", |_, _| {});
    }
}

/// Once, the wrong warp is activated: one of the same bank as the last, or another one of the right bank.
#[test]
fn one_wrong_activation_is_refused() {
    let config = with_patience(40);
    for wrong in [1, 2] {
        let (mut done, mut waits) = (false, false);
        refuses(&config, &[], Alternates::new(&config), "warp activated", |number, cycle| {
            let (o, p) = (&mut cycle.out, &mut cycle.probe);
            let activated = std::mem::replace(&mut waits, p.state_q == NONE) && !waits;
            if number > 1_000 && activated && !done {
                done = true;
                o.slot_warp_o[usize::from(p.current_q)] ^= wrong;
            }
        });
    }
}

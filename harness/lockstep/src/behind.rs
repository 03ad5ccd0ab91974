//! How a failing run ends: both sides run on for some cycles without comparison, and the cycles around the failure are kept.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::blame::{self, Blame};
use crate::history::{History, Past};
use crate::memory::lose_in_rtl;
use crate::run::{Follower, Run, lost};
use crate::{Capture, Cause, Difference, Divergence, Records};

/// Cycles kept from a difference on: the differing cycle and the 32 cycles after it.
const BEHIND: usize = 33;

/// Records of both sides from the first cycle that is not known to be equal; the same number of cycles of each side.
pub(crate) struct Behind {
    rtl: Records,
    model: Records,
}

impl Run<'_> {
    /// Runs both sides on from a differing cycle. The RTL has settled in that cycle, before its edge.
    pub(crate) fn behind_difference(&mut self) -> Behind {
        let model = self.model_behind();
        let mut rtl = Records::new(self.rtl.trail.size());
        rtl.push(self.rtl.trail.rtl.get(0));
        let dead = self.rtl.rtl.edge().is_err_and(|failure| failure.fatal);
        self.rtl.behind(rtl, model, dead)
    }

    /// Runs both sides on after the edge at which the RTL failed.
    pub(crate) fn behind_failure(&mut self) -> Behind {
        let model = self.model_behind();
        self.rtl.behind(Records::new(self.rtl.trail.size()), model, false)
    }

    /// The model's records: cycles that the model has already run, and further ones.
    fn model_behind(&mut self) -> Records {
        let first = self.rtl.outcome.cycles;
        let trail = &self.rtl.trail;
        let mut model = Records::new(trail.size());
        let Some(newest) = trail.newest() else { return model };
        (first..newest.end()).take(BEHIND).for_each(|cycle| model.push(trail.cycle(cycle)));
        if newest.ended || newest.panic.is_some() {
            return model;
        }
        // These cycles are not put into the flight recorder, which still holds the cycles before the failure.
        let mut last = Records::new(trail.size());
        last.push(trail.cycle(newest.end().saturating_sub(1)));
        while model.len() < BEHIND {
            let step = catch_unwind(AssertUnwindSafe(|| self.model.step_after(last.get_mut(0))));
            if !step.unwrap_or(false) {
                break;
            }
            model.push(last.get(0));
        }
        model
    }

    /// Ends the run: keeps the cycles before the failure, in which both sides are equal, and the cycles after it.
    pub(crate) fn end(&mut self, cause: Cause, behind: Option<Behind>) {
        let first_cycle = self.rtl.outcome.cycles - self.rtl.trail.history(self.rtl.outcome.cycles);
        let mut before = Records::new(self.rtl.trail.size());
        (first_cycle..self.rtl.outcome.cycles).for_each(|cycle| before.push(self.rtl.trail.cycle(cycle)));
        // A user who stops a run should not have to wait for the longer history.
        let history = self.model.history.take().zip(cause.cycle());
        let (past, shorter) = match history.map(|(history, failing)| self.rtl.past(history, failing, first_cycle)) {
            Some(Ok(past)) => (Some(past), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let nothing = || Records::new(before.size());
        let Behind { rtl, model } = behind.unwrap_or_else(|| Behind { rtl: nothing(), model: nothing() });
        self.rtl.outcome.capture = Some(Capture { first_cycle, before, rtl, model, past, shorter });
        self.rtl.outcome.cause = Some(cause);
    }
}

impl Follower<'_> {
    /// A longer history: cycles before the failing one, up to the last one found equal. From cycle `kept` on they must equal the records of the flight recorder.
    fn past(&self, history: History, failing: u64, kept: u64) -> Result<Past, String> {
        let (next, wanted) = (self.outcome.cycles, history.cycles());
        let differs = |cycle: u64, record: &[u8]| {
            cycle >= kept && !self.comparator.differences(self.trail.cycle(cycle), record).is_empty()
        };
        let verified = |past: Past| past.verify(self.stop, differs).map(|()| past);
        let instead = |why: String| format!("{} cycles in place of {wanted}: {why}", next - kept);
        history.before(failing, next).and_then(verified).map_err(instead)
    }

    /// The cause of a run that ends with these differences in the first differing cycle.
    pub(crate) fn diverged(&self, differences: Vec<Difference>) -> Cause {
        let (cycle, comparator) = (self.outcome.cycles, self.comparator);
        let inputs: Vec<usize> = differences.iter().map(|d| d.signal).filter(|&s| comparator.is_input(s)).collect();
        // All earlier cycles were equal, so only environments that behave differently can make inputs differ.
        let blame = if inputs.is_empty() {
            blame::find(comparator, self.trail.cycle(cycle), self.trail.rtl.get(0))
        } else {
            Blame::of_environment(&inputs)
        };
        Cause::Diverged(Divergence { cycle, differences, memories: Vec::new(), ended: None, blame })
    }

    /// Runs the RTL for as many cycles as the model; `rtl` has the first of them. `dead`: the RTL cannot continue.
    fn behind(&mut self, mut rtl: Records, mut model: Records, dead: bool) -> Behind {
        let mut over = dead;
        let (input_bytes, output_bytes) = (self.input_bytes, self.output_bytes);
        while rtl.len() < model.len() && !over {
            let record = self.trail.rtl.get_mut(0);
            let (inputs, compared) = record.split_at_mut(input_bytes);
            let given = match &mut self.environment {
                None => {
                    inputs.copy_from_slice(&model.get(rtl.len())[..input_bytes]);
                    true
                }
                Some(environment) => environment.drive(Some(&compared[..output_bytes]), inputs),
            };
            if !given {
                break;
            }
            let (sampled, result) = self.rtl.cycles(record, 1);
            if sampled == 1 {
                rtl.push(record);
                lose_in_rtl(self.rtl, lost(&mut self.environment, &record[input_bytes..]));
            }
            over = sampled == 0 || result.is_err_and(|failure| failure.fatal);
        }
        let len = rtl.len().min(model.len());
        rtl.resize(len);
        model.resize(len);
        Behind { rtl, model }
    }
}

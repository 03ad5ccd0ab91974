//! How a run ends that fails: both sides go on alone for some cycles, and the cycles around the failure are kept.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::blame::{self, Blame};
use crate::memory::{lose_in_rtl, lose_in_twin};
use crate::run::{Ahead, Run, Source};
use crate::trail::Trail;
use crate::{Capture, Cause, Difference, Divergence, Records};

/// Cycles kept from a difference on: the differing one, and 32 after it.
const BEHIND: usize = 33;

/// What both sides did from the first cycle on that is not known to be equal; as many cycles of each.
pub(crate) struct Behind {
    rtl: Records,
    model: Records,
}

impl Run<'_> {
    /// The first differing cycle.
    pub(crate) fn diverged(&self, differences: Vec<Difference>) -> Cause {
        let cycle = self.outcome.cycles;
        let comparator = &self.side.comparator;
        let inputs: Vec<usize> = differences.iter().map(|d| d.signal).filter(|&s| comparator.is_input(s)).collect();
        // Everything before was equal, so nothing but the environments can make inputs differ.
        let blame = if inputs.is_empty() {
            blame::find(comparator, self.trail.cycle(cycle), self.trail.rtl.get(0))
        } else {
            Blame::of_environment(&inputs)
        };
        Cause::Diverged(Divergence { cycle, differences, memories: Vec::new(), ended: None, blame })
    }

    /// Both sides from a differing cycle on. The RTL stands in front of its edge.
    pub(crate) fn behind_difference(&mut self, ahead: &Ahead) -> Behind {
        let model = self.model_behind(ahead);
        let mut rtl = Records::new(self.trail.size());
        rtl.push(self.trail.rtl.get(0));
        let dead = self.side.rtl.edge().is_err_and(|failure| failure.fatal);
        self.rtl_behind(rtl, model, dead)
    }

    /// Both sides after the edge at which the RTL failed.
    pub(crate) fn behind_failure(&mut self, ahead: &Ahead) -> Behind {
        let model = self.model_behind(ahead);
        self.rtl_behind(Records::new(self.trail.size()), model, false)
    }

    /// The model's cycles: those it has done, and further ones.
    fn model_behind(&mut self, ahead: &Ahead) -> Records {
        let first = self.outcome.cycles;
        let mut model = Records::new(self.trail.size());
        (first..ahead.end).take(BEHIND).for_each(|cycle| model.push(self.trail.cycle(cycle)));
        if !ahead.goes_on() {
            return model;
        }
        // Not in the flight recorder: it still has what was before.
        let mut last = Records::new(self.trail.size());
        last.push(self.trail.cycle(ahead.end.saturating_sub(1)));
        while model.len() < BEHIND {
            let step = catch_unwind(AssertUnwindSafe(|| self.step_model_behind(last.get_mut(0))));
            if !step.unwrap_or(false) {
                break;
            }
            model.push(last.get(0));
        }
        model
    }

    /// One cycle of the model after that of the record, into the record; false when there are no further inputs.
    fn step_model_behind(&mut self, record: &mut [u8]) -> bool {
        let (inputs, compared) = record.split_at_mut(self.input_bytes);
        let given = match &mut self.source {
            Source::Recorded(stimulus) => stimulus.next(inputs),
            Source::Reactive { model, .. } => model.drive(Some(&compared[..self.output_bytes]), inputs),
        };
        if given {
            self.side.twin.cycle(inputs, compared);
            lose_in_twin(&mut *self.side.twin, self.source.lost_in_model(compared));
        }
        given
    }

    /// Lets the RTL do as many cycles as the model, `rtl` being the first of them. `dead`: it can do no more.
    fn rtl_behind(&mut self, mut rtl: Records, mut model: Records, dead: bool) -> Behind {
        let mut over = dead;
        let (input_bytes, output_bytes) = (self.input_bytes, self.output_bytes);
        while rtl.len() < model.len() && !over {
            let record = self.trail.rtl.get_mut(0);
            let (inputs, compared) = record.split_at_mut(input_bytes);
            let given = match &mut self.source {
                Source::Recorded(_) => {
                    inputs.copy_from_slice(&model.get(rtl.len())[..input_bytes]);
                    true
                }
                Source::Reactive { rtl, .. } => rtl.drive(Some(&compared[..output_bytes]), inputs),
            };
            if !given {
                break;
            }
            let (sampled, result) = self.side.rtl.cycles(record, 1);
            if sampled == 1 {
                rtl.push(record);
                lose_in_rtl(&mut self.side.rtl, self.source.lost_in_rtl(&record[input_bytes..]));
            }
            over = sampled == 0 || result.is_err_and(|failure| failure.fatal);
        }
        let len = rtl.len().min(model.len());
        rtl.resize(len);
        model.resize(len);
        Behind { rtl, model }
    }

    /// Ends the run: keeps the cycles before, in which both sides are equal, and those after them.
    pub(crate) fn end(&mut self, cause: Cause, behind: Option<Behind>) {
        let next = self.outcome.cycles;
        let first_cycle = next - Trail::history(next);
        let mut model = Records::new(self.trail.size());
        (first_cycle..next).for_each(|cycle| model.push(self.trail.cycle(cycle)));
        let mut rtl = model.clone();
        if let Some(behind) = behind {
            (0..behind.rtl.len()).for_each(|index| {
                rtl.push(behind.rtl.get(index));
                model.push(behind.model.get(index));
            });
        }
        self.outcome.capture = Some(Capture { first_cycle, rtl, model });
        self.outcome.cause = Some(cause);
    }
}

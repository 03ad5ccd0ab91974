//! Runs thousands of cases overnight, unattended.
//!
//! A [`RegressionPlan`] is a list of [`Case`]s, made from a file that specifies presets, kernels, programs, blocks and seeds by tier. [`run()`] gives them to worker processes and
//! writes the result of each, a [`CaseOutcome`], as a line of a [`journal`]. A [`RegressionReport`] is made from a journal and its plan only. So a run that was killed is resumed
//! where its journal ends, shards are merged by reading their journals, and none of this changes the report. Failures with the same [`Signature`] form a bucket, and the
//! first case of each bucket is run again, shrunk and kept. `docs/regression.md` has the formats.

mod case;
mod html;
pub mod journal;
mod junit;
mod outcome;
mod plan;
mod report;
mod run;
mod shards;
mod slot;
mod sources;
mod worker;

pub use case::{Case, Work, label};
pub use html::html;
pub use junit::junit;
pub use outcome::{CaseOutcome, Signature};
pub use plan::{Overrides, RegressionPlan, Shard};
pub use report::{Bucket, Changes, RegressionReport, Trend};
pub use run::{Regression, Told, make_folder, run};
pub use shards::merge;
pub use sources::{Sources, program, sources};
pub use worker::Worker;

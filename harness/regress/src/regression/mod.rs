//! Thousands of cases overnight, unwatched.
//!
//! A [`RegressionPlan`] is a list of [`Case`]s, made from a file that says presets, kernels, programs, blocks and seeds by tier. [`run()`] gives them out to worker processes and
//! writes what came of each, a [`CaseOutcome`], as a line of a [`journal`]; a journal and its plan make a [`RegressionReport`], and nothing else does. So a run that was killed goes on
//! where its journal ends, shards are merged by reading their journals, and none of it shows in the report. Failures with one [`Signature`] are one bucket, and the
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
pub use run::{Regression, Told, run};
pub use shards::merge;
pub use sources::{Sources, program, sources};
pub use worker::Worker;

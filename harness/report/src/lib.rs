//! Reports: what the papers say beside what is measured here.
//!
//! The central idea: a report is a list of [`Row`]s, and a row is a function of runs. So a report first says what it wants to have run ([`SweepPlan`]), all runs
//! of all of its parts are made once, on several threads ([`sweep()`]), and rows and plots are made from what came out ([`Results`]). A row whose runs did not
//! all come to their end is left out; no kernel is ever left out of a mean.
//!
//! A run takes seconds on large data. [`Kept`] keeps each result on disk, so that an interrupted report resumes where it stopped.
//!
//! A launch of the model that is longer than it needs to be to fill the SM is run in part ([`Kernel::sample`]); what is counted on the oracle is counted in one
//! run of a kernel.
//!
//! * [`usage`] watches values on the oracle; [`traffic`] says what a level above the MRF avoids.
//! * [`levels`] counts accesses to each level of the software-managed hierarchy on the oracle, [`follow`] those of a cache in program order.
//! * [`reports`] gives those that can be made: a [`Definition`] each, in parts.
//! * [`energy`] is the energy of a run on any machine.
//! * [`html`] is a page of them with plots, which needs no other file.
//!
//! `docs/reports.md` says how each row is measured.

/// Names of events that a report reads, and the list of them.
macro_rules! events {
    ($($name:ident = $event:literal,)+) => {
        $(pub const $name: &str = $event;)+

        /// All of them.
        #[cfg(test)]
        pub const ALL: &[&str] = &[$($name),+];
    };
}

pub mod accelwattch;
mod cached;
mod code;
pub mod energies;
pub mod energy;
pub mod errata;
pub mod estimate;
mod experiments;
pub mod follow;
pub mod html;
mod kept;
mod kernels;
pub mod levels;
pub mod plot;
mod power;
mod report;
mod row;
pub mod settings;
mod share;
mod shown;
mod sweep;
pub mod table;
#[cfg(test)]
mod testing;
pub mod traffic;
mod unified;
pub mod usage;
mod values;
mod watched;

pub use code::Code;
pub use estimate::{Estimate, Statistic};
pub use kept::Kept;
pub use kernels::manifest;
pub use report::{
    CAUSES_PART, Cause, Column, Definition, HEADLINES, Headlines, Machine, Moved, ORDERS, Orders, PaperReport, Part,
};
pub use row::{
    Absent, Band, Claim, Known, PerKernel, Reason, Row, Summary, Tried, Unit, Verdict, geometric_mean, mean,
};
pub use sweep::{
    Ended, Kernel, Measured, Point, Ptx, Results, RunName, SAMPLE, Size, SweepError, SweepPlan, Watcher, sweep,
};

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// Every report that can be made: design by design, then those of what stands beside all designs.
        pub fn reports() -> impl Iterator<Item = &'static Definition> {
            [$($design::REPORTS),+, power::REPORTS, share::REPORTS, unified::REPORTS].into_iter().flatten()
        }

        /// How the register file of a design is priced.
        fn prices_of(design: &str) -> energy::Prices {
            match design {
                $(stringify!($design) => $design::PRICES,)+
                _ => energy::Prices::BANKS,
            }
        }
    };
}

gpurf_blocks::each_design!(designs);

/// A ratio; that to nothing is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

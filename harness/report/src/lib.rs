//! Reports: the papers' results beside those measured here.
//!
//! The central idea: a report is a list of [`Row`]s, and a row is a function of runs. So a report first declares the runs that it needs
//! ([`SweepPlan`]), all runs of all of its parts are made once, on several threads ([`sweep()`]), and rows and plots are computed from their results
//! ([`Results`]). A row is left out if one of its runs did not complete; no kernel is ever left out of a mean.
//!
//! A run takes seconds on large data. [`Kept`] keeps each result on disk, so that an interrupted report resumes where it stopped.
//!
//! A launch that is longer than the model needs to fill the SM is run only in part ([`Kernel::sample`]); all counts on the oracle come from a single
//! run of each kernel.
//!
//! * [`usage`] observes values on the oracle; [`traffic`] computes the accesses of the MRF that a level above it avoids.
//! * [`levels`] counts accesses to each level of the software-managed hierarchy on the oracle, [`follow`] those to a cache in program order.
//! * [`reports`] lists the reports: a [`Definition`] each, in parts.
//! * [`energy`] computes the energy of a run on any machine.
//! * [`html`] makes a self-contained page of reports with plots.
//!
//! `docs/reports.md` says how each row is measured.

/// Defines the names of the events that a report reads, and a list of them.
macro_rules! events {
    ($($name:ident = $event:literal,)+) => {
        $(pub const $name: &str = $event;)+

        /// All of these names.
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
pub use kernels::{manifest, other_data};
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

        /// Every report: first those of the designs, then those that do not belong to one design.
        pub fn reports() -> impl Iterator<Item = &'static Definition> {
            [$($design::REPORTS),+, power::REPORTS, share::REPORTS, unified::REPORTS].into_iter().flatten()
        }

        /// How the energy of a design's register file is computed.
        fn prices_of(design: &str) -> energy::Prices {
            match design {
                $(stringify!($design) => $design::PRICES,)+
                _ => energy::Prices::BANKS,
            }
        }
    };
}

gpurf_blocks::each_design!(designs);

/// A ratio; 0 if the denominator is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

//! Stimulus for blocks, and checks that the stimulus of a run was sufficient.
//!
//! * A [`Driver`] makes the inputs of one block at random, within the limits that the block's page sets. Named [`Knob`]s weight its choices. They are
//!   rolled anew every few hundred cycles, so that a run has busy and idle stretches, crowded and spread-out ones.
//! * A [`Cover`] counts, from ports and probes alone, how often each situation that the block's page describes came up. A run that reaches one of
//!   them too rarely shows little, however long it was.
//! * [`Toggles`] checks that every bit of every input was both 0 and 1.
//! * [`program`] makes random programs for the whole SM.
//! * [`directed`] has short sequences that aim at one rule each.
//!
//! Inputs never depend on the RTL. Where a block's rules tie inputs to its state (a collector takes an instruction only while it is free), the driver
//! runs its own instance of the block's model (a twin) to know the state.

// Declared first: the other modules use its macro.
#[macro_use]
mod driver;

/// Declares the stimulus of a folder's blocks: one module per block, named like the block, that defines `ENTRY`. The folder's list of blocks in
/// `gpurf-blocks` invokes it.
macro_rules! stimulus {
    ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => {
        $(pub(crate) mod $module;)+

        /// Stimulus of this folder's blocks.
        pub(crate) const BLOCKS: &[crate::Entry] = &[$($module::ENTRY),+];
    };
}

mod cache;
mod control;
mod cover;
pub mod directed;
mod execute;
mod floats;
mod front;
mod issue;
mod memory;
mod mrf;
mod operands;
mod power;
pub mod program;
mod ram;
mod share;
mod surroundings;
mod toggle;
mod unified;

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// Stimulus of each design's blocks.
        static DESIGNS: &[&[Entry]] = &[$($design::BLOCKS),+];

        /// Rules of each design for the inputs of the operand stage. `None`: the design has no such rules.
        static STAGES: &[Option<operands::StageDesign>] = &[$($design::STAGE),+];
    };
}

gpurf_blocks::each_design!(designs);

pub use cover::{Cover, Coverage, Points};
pub use driver::{Driver, Knob, Knobs, Pins};
pub use toggle::{Toggles, Unaliased, Unreached, ranges};

use gpurf_blocks::config::Config;
use gpurf_blocks::{Block, Declaration};
use gpurf_lockstep::Stimulus;
use gpurf_stimulus_macros::cover;

/// Makes random stimulus for a block.
type MakeStimulus = fn(&Config, u64, &Pins) -> Box<dyn Stimulus + Send>;
/// Makes coverage counters for a block.
type MakeCoverage = fn(&Config) -> Coverage;

/// Stimulus, coverage and exceptions of one block.
struct Entry {
    name: &'static str,
    knobs: fn() -> Vec<Knob>,
    stimulus: MakeStimulus,
    coverage: MakeCoverage,
    unreached: fn(&Config) -> Vec<Unreached>,
    unaliased: fn(&Config) -> Vec<Unaliased>,
    directed: &'static [directed::Directed],
}

/// The entry of a block, from its driver `D` and its coverage `C`.
const fn entry<B, D, C>() -> Entry
where
    B: Block,
    D: Driver<In = B::In>,
    C: Cover<In = B::In>,
{
    let (stimulus, coverage) = (driver::boxed::<D>, Coverage::new::<C>);
    let (unreached, unaliased) = (driver::unreached::<D>, driver::unaliased::<D>);
    Entry { name: B::NAME, knobs: <D::Knobs as Knobs>::list, stimulus, coverage, unreached, unaliased, directed: &[] }
}

/// Every block that can be stimulated, folder by folder.
fn blocks() -> impl Iterator<Item = &'static Entry> {
    let folders = [
        ram::BLOCKS,
        mrf::BLOCKS,
        front::BLOCKS,
        issue::BLOCKS,
        memory::BLOCKS,
        execute::BLOCKS,
        cache::BLOCKS,
        operands::BLOCKS,
        power::BLOCKS,
        share::BLOCKS,
        unified::BLOCKS,
        control::BLOCKS,
    ];
    folders.into_iter().chain(DESIGNS.iter().copied()).flatten()
}

fn find(block: &str) -> &'static Entry {
    blocks().find(|e| e.name == block).unwrap_or_else(|| panic!("{block}: a block without stimulus"))
}

/// Endless random inputs for a block in a configuration.
///
/// # Panics
/// When the block has no stimulus: a mistake in this crate's list.
pub fn random(block: &str, config: &Config, seed: u64) -> Box<dyn Stimulus + Send> {
    pinned(block, config, seed, &[])
}

/// As [`random`], with some knobs fixed to a value (`pins`), for runs that exercise only a part of the block.
///
/// # Panics
/// As [`random`].
pub fn pinned(block: &str, config: &Config, seed: u64, pins: &Pins) -> Box<dyn Stimulus + Send> {
    (find(block).stimulus)(config, seed, pins)
}

/// The knobs of a block.
///
/// # Panics
/// As [`random`].
pub fn knobs(block: &str) -> Vec<Knob> {
    (find(block).knobs)()
}

/// Coverage counters of a block.
///
/// # Panics
/// As [`random`].
pub fn coverage(block: &str, config: &Config) -> Coverage {
    (find(block).coverage)(config)
}

/// Returns the check that every bit of a block's inputs is both 0 and 1.
///
/// # Panics
/// As [`random`].
pub fn toggles(declaration: &Declaration, config: &Config) -> Toggles {
    Toggles::new(declaration, (find(declaration.block).unreached)(config))
}

/// Bits of comparisons in a block's RTL that cannot be the only difference between the operands, with any stimulus.
///
/// # Panics
/// As [`random`].
pub fn unaliased(block: &str, config: &Config) -> Vec<Unaliased> {
    (find(block).unaliased)(config)
}

//! A launch whose accesses to memory are performed in a given order, and whose warps read given times.
//!
//! The results of atomic operations, sums of floats, and the values of loads that race with stores or atomic operations of other warps depend on the
//! order among warps. A machine that has run a kernel passes the order in which its memory performed all of them, and the replay returns the values
//! that belong to this order. The machine likewise passes the times at which it has executed the instructions that read the time: the oracle has no
//! such time.

use std::collections::BTreeMap;

use crate::block::Progress;
use crate::commit::{Observer, WarpId};
use crate::context::{Accesses, Clock, Context, State, Times, warps};
use crate::execute::step;
use crate::fault::{Fault, FaultKind};
use crate::lanes::Mask;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::oracle::{Options, Oracle, Statistics};
use crate::warp::{Waiting, Warp};

/// A step in which lanes of a warp perform a load, a store or an atomic operation, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessStep {
    /// The warp.
    pub warp: WarpId,
    /// How many accesses the warp has performed before: LD, ST, ATOM and CAS, to any memory.
    pub occurrence: u64,
    /// The lanes; those of one operation may be split over several steps.
    pub lanes: Mask,
}

/// The order and the times of another machine, which the program leaves open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recording {
    /// The order of its memory accesses, without LDC; `None` if the oracle's own order is sufficient.
    pub accesses: Option<Vec<AccessStep>>,
    /// For each warp the time at each instruction that reads the time, in the warp's order; always all 64 bits, although an instruction reads one
    /// word.
    pub times: Times,
}

/// A block in progress.
struct Running {
    state: State,
    warps: Vec<Warp>,
    done: bool,
}

impl Oracle {
    /// Runs a launch with its memory accesses in the recorded order, and with the recorded times. Before an access its block runs as far as it can;
    /// blocks without accesses run at the end.
    ///
    /// # Errors
    /// The first fault; [`FaultKind::Replay`] where the recording does not fit the program.
    pub fn replay<O: Observer>(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        recording: &Recording,
        observer: &mut O,
    ) -> Result<Statistics, Box<Fault>> {
        let options = self.options;
        let mut context = self.context(launch, memory, None, observer);
        let order = recording.accesses.as_deref();
        context.accesses = if order.is_some() { Accesses::Hold } else { Accesses::Free };
        context.clock = Clock::Replayed(&recording.times);
        let mut blocks = BTreeMap::new();
        for entry in order.unwrap_or_default() {
            let index = entry.warp.block;
            if index >= launch.geometry.blocks() || entry.warp.warp >= launch.geometry.warps() {
                return Err(misfit(
                    &mut context,
                    launch,
                    format!("there is no warp {} in block {index}", entry.warp.warp),
                ));
            }
            let block = blocks.entry(index).or_insert_with(|| start(launch, index, &options));
            run(&mut context, block)?;
            perform(&mut context, block, entry)?;
        }
        for index in 0..launch.geometry.blocks() {
            let mut fresh = None;
            let block = blocks.get_mut(&index).unwrap_or_else(|| fresh.insert(start(launch, index, &options)));
            run(&mut context, block)?;
            if let Some(warp) = block.warps.iter().find(|warp| warp.waiting == Waiting::Access) {
                let problem = format!("it ends before access {} of warp {}", warp.accesses, warp.number);
                std::mem::swap(&mut context.state, &mut block.state);
                return Err(context.fault(warp, FaultKind::Replay(problem)));
            }
        }
        Ok(Statistics { counts: context.counts, parallel: false })
    }
}

fn start(launch: &Launch<'_>, index: u64, options: &Options) -> Running {
    let state = State::new(launch.program, &launch.geometry, index, options.unwritten_shared);
    Running { state, warps: warps(launch.program, &launch.geometry, options.first_value), done: false }
}

/// Runs a block as far as it can.
fn run<O: Observer>(context: &mut Context<'_, O>, block: &mut Running) -> Result<(), Box<Fault>> {
    if block.done {
        return Ok(());
    }
    std::mem::swap(&mut context.state, &mut block.state);
    let progress = context.run(&mut block.warps);
    std::mem::swap(&mut context.state, &mut block.state);
    block.done = progress? == Progress::Done;
    if block.done {
        check_times(context, block)?;
        // The registers of a finished block are no longer needed, and may be many.
        block.warps = Vec::new();
    }
    Ok(())
}

/// Checks that the warps of a finished block have read the time as often as recorded.
fn check_times<O: Observer>(context: &mut Context<'_, O>, block: &mut Running) -> Result<(), Box<Fault>> {
    let Clock::Replayed(times) = context.clock else { return Ok(()) };
    let recorded =
        |warp: &Warp| times.get(&WarpId { block: block.state.index, warp: warp.number }).map_or(0, |times| times.len());
    let Some(warp) = block.warps.iter().find(|warp| warp.times != recorded(warp)) else { return Ok(()) };
    let problem = format!("warp {} reads the time {} times, not {}", warp.number, warp.times, recorded(warp));
    std::mem::swap(&mut context.state, &mut block.state);
    Err(context.fault(warp, FaultKind::Replay(problem)))
}

/// Performs one entry of the order.
fn perform<O: Observer>(
    context: &mut Context<'_, O>,
    block: &mut Running,
    entry: &AccessStep,
) -> Result<(), Box<Fault>> {
    std::mem::swap(&mut context.state, &mut block.state);
    let result = grant(context, &mut block.warps, entry);
    std::mem::swap(&mut context.state, &mut block.state);
    result
}

fn grant<O: Observer>(context: &mut Context<'_, O>, warps: &mut [Warp], entry: &AccessStep) -> Result<(), Box<Fault>> {
    let number = entry.warp.warp;
    let Some(warp) = warps.get_mut(number as usize) else {
        let ended = Warp::new(context.program, number, 0, 0);
        let problem = format!("block {} has ended before access {}", entry.warp.block, entry.occurrence);
        return Err(context.fault(&ended, FaultKind::Replay(problem)));
    };
    if warp.waiting != Waiting::Access || warp.accesses != entry.occurrence {
        let at = if warp.waiting == Waiting::Access { "is at" } else { "has performed all it can before" };
        let problem = format!(
            "access {} of warp {number} is due, but the warp {at} its number {}",
            entry.occurrence, warp.accesses
        );
        return Err(context.fault(warp, FaultKind::Replay(problem)));
    }
    warp.waiting = Waiting::No;
    context.accesses = Accesses::Grant(entry.lanes);
    let (accesses, issued) = (warp.accesses, warp.issued);
    // Another block may have changed memory since the warp's last access: a loop around the access is no hang.
    context.changes += 1;
    let stepped = step(context, warp);
    context.state.issued += warp.issued - issued;
    context.counts.instructions += warp.issued - issued;
    context.accesses = Accesses::Hold;
    stepped.map_err(|fault| context.locate(warp, fault))?;
    if warp.accesses == accesses {
        // The remaining lanes wait for their own entries.
        warp.waiting = Waiting::Access;
    }
    Ok(())
}

fn misfit<O: Observer>(context: &mut Context<'_, O>, launch: &Launch<'_>, problem: String) -> Box<Fault> {
    let first = Warp::new(launch.program, 0, 1, 0);
    context.fault(&first, FaultKind::Replay(problem))
}

//! A thread block: its warps take turns until all have ended.

use std::sync::atomic::Ordering;

use crate::commit::Observer;
use crate::context::{Barrier, Context};
use crate::execute::{Step, step};
use crate::fault::{Fault, FaultKind, LaneFault};
use crate::warp::{Waiting, Warp};

/// Instructions that a warp executes before the next warp takes its turn. Any number lets every warp progress; a large one keeps a warp's registers
/// in the host's cache.
const TURN: u32 = 8192;

/// Instructions of a warp without a barrier after which it may wait for another block.
const PATIENCE: u64 = 1 << 20;

/// State of a block after its warps have run as far as they can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// All warps have ended.
    Done,
    /// All warps that have not ended wait at memory accesses or barriers.
    Held,
    /// Some warp can continue.
    Running,
}

impl<O: Observer> Context<'_, O> {
    /// Runs the warps in turns until none can continue.
    ///
    /// # Errors
    /// The first fault. It is a hang when every warp that could continue repeats a loop in which nothing changes.
    pub fn run(&mut self, warps: &mut [Warp]) -> Result<Progress, Box<Fault>> {
        loop {
            match self.round(warps)? {
                Progress::Running if self.is_spinning(warps) => return Err(self.hang(warps)),
                Progress::Running => {}
                ended => return Ok(ended),
            }
        }
    }

    /// Gives each warp that can continue a turn.
    ///
    /// # Errors
    /// The first fault.
    pub fn round(&mut self, warps: &mut [Warp]) -> Result<Progress, Box<Fault>> {
        let mut progress = false;
        for warp in warps.iter_mut() {
            if warp.waiting != Waiting::No || warp.stack.is_done() {
                continue;
            }
            progress = true;
            let before = warp.issued;
            self.turn_began = before;
            let turn = self.turn(warp);
            self.state.issued += warp.issued - before;
            self.counts.instructions += warp.issued - before;
            turn.map_err(|fault| self.locate(warp, fault))?;
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(self.fault(warp, FaultKind::Stopped));
            }
            if self.state.issued > self.step_limit {
                return Err(self.fault(warp, FaultKind::StepLimit { limit: self.step_limit }));
            }
        }
        let released = self.release(warps);
        if warps.iter().all(|warp| warp.stack.is_done()) {
            return Ok(Progress::Done);
        }
        if progress || released {
            return Ok(Progress::Running);
        }
        if warps.iter().any(|warp| warp.waiting == Waiting::Access) {
            return Ok(Progress::Held);
        }
        Err(self.deadlock(warps))
    }

    fn turn(&mut self, warp: &mut Warp) -> Result<(), LaneFault> {
        for _ in 0..TURN {
            if step(self, warp)? == Step::Stop {
                break;
            }
        }
        Ok(())
    }

    /// Releases the warps that wait at complete barriers; returns whether a barrier was complete.
    fn release(&mut self, warps: &mut [Warp]) -> bool {
        let living = warps.iter().filter(|warp| !warp.stack.is_done()).count() as u32;
        let mut released = false;
        for id in 0..self.state.barriers.len() {
            if !self.state.barriers[id].is_complete(living) {
                continue;
            }
            released = true;
            self.state.barriers[id] = Barrier::default();
            self.state.shared.barrier();
            for warp in warps.iter_mut().filter(|warp| warp.waiting == Waiting::Barrier(id as u8)) {
                warp.waiting = Waiting::No;
                warp.watch = Default::default();
            }
        }
        released
    }

    fn deadlock(&self, warps: &[Warp]) -> Box<Fault> {
        let waiting = |warp: &&Warp| matches!(warp.waiting, Waiting::Barrier(_));
        let list: Vec<String> = warps
            .iter()
            .filter(waiting)
            .map(|warp| match warp.waiting {
                Waiting::Barrier(id) => format!("warp {} at barrier {id}", warp.number),
                Waiting::No | Waiting::Access => String::new(),
            })
            .collect();
        let first = warps.iter().find(waiting).unwrap_or(&warps[0]);
        self.fault(first, FaultKind::BarrierDeadlock { waiting: list.join(", ") })
    }

    /// Whether every warp that could continue repeats a loop in which nothing changes. Only a change of memory by another block can then end it.
    pub fn is_spinning(&self, warps: &[Warp]) -> bool {
        let mut running = running(warps).peekable();
        running.peek().is_some() && running.all(|warp| self.spins(warp))
    }

    /// Whether every warp that could continue repeats a loop in which nothing changes, or has executed so many instructions without a barrier that it
    /// may wait for another block: in a loop that counts, reads the time or changes memory this cannot be seen otherwise.
    pub fn may_wait(&self, warps: &[Warp]) -> bool {
        running(warps).all(|warp| self.spins(warp) || warp.watch.since >= PATIENCE)
    }

    fn spins(&self, warp: &Warp) -> bool {
        warp.watch.spinning_at == Some(self.changes)
    }

    /// The fault of a block that spins.
    pub fn hang(&self, warps: &[Warp]) -> Box<Fault> {
        let first = running(warps).next().unwrap_or(&warps[0]);
        self.fault(first, FaultKind::Spin { warps: running(warps).count() as u32 })
    }
}

/// The warps that could continue.
fn running(warps: &[Warp]) -> impl Iterator<Item = &Warp> {
    warps.iter().filter(|warp| warp.waiting == Waiting::No && !warp.stack.is_done())
}

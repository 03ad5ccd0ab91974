//! Times of single results, and instructions by their outcome, which event words do not count (`docs/machine.md`, "Measures").
//!
//! They are read from nets that lockstep compares, and have the same meaning with every design of the register file.

mod conflicts;

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::{Events, Spreads};
use gpurf_oracle::lanes_of;

use crate::cycle::{Cycle, ready};

use conflicts::Conflicts;
pub use conflicts::{
    IN_CONFLICT, IN_CONFLICT_CACHE, IN_CONFLICT_OWN, IN_CONFLICT_OWN_MEMORY, IN_CONFLICT_OWN_REGISTERS,
    IN_CONFLICT_OWN_SCRATCHPAD, IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD,
};

/// The sum over cycles of the warps that may issue.
pub const READY_WARPS: &str = "ready_warps";
/// Cycles from the write of a result to the first read of its register: the number of results for each value.
pub const FIRST_READ: &str = "result_first_read";
/// The same for results that are parked.
pub const PARKED_FIRST_READ: &str = "parked_first_read";
/// Cycles for which a value is parked: the number of values for each length.
pub const PARKED_CYCLES: &str = "parked_cycles";

/// Number of register names of a warp.
const REGISTERS: usize = 256;
/// Maximum number of places for parked values.
const PLACES: usize = u32::BITS as usize;

/// A result whose register has not been read since.
#[derive(Clone, Copy)]
struct Written {
    /// The cycle of its write.
    at: u64,
    /// Whether it was parked.
    parked: bool,
}

/// Measures of an SM's results and instructions since its reset.
pub struct Measures {
    organisation: Organisation,
    /// The current cycle.
    now: u64,
    /// Number of ready warps in this cycle.
    ready: u64,
    ready_warps: u64,
    /// By warp slot and register.
    written: Vec<Option<Written>>,
    /// The cycle in which the value in each place was parked.
    since: [Option<u64>; PLACES],
    first_read: BTreeMap<u64, u64>,
    parked_first_read: BTreeMap<u64, u64>,
    parked_cycles: BTreeMap<u64, u64>,
    conflicts: Conflicts,
}

/// Increments the count of a value.
fn count(spread: &mut BTreeMap<u64, u64>, value: u64) {
    *spread.entry(value).or_default() += 1;
}

impl Measures {
    /// Of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        Self {
            organisation: Organisation::of(config),
            now: 0,
            ready: 0,
            ready_warps: 0,
            written: vec![None; MAX_WARPS * REGISTERS],
            since: [None; PLACES],
            first_read: BTreeMap::new(),
            parked_first_read: BTreeMap::new(),
            parked_cycles: BTreeMap::new(),
            conflicts: Conflicts::new(config),
        }
    }

    /// Called when a launch begins: no register has a value, and nothing is parked.
    pub fn begin(&mut self) {
        self.written.fill(None);
        self.since.fill(None);
    }

    /// A cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let (issue, stage, launcher) = (&o.issue_stage, &o.operand_stage, &o.block_launcher);
        self.conflicts.observe(cycle);
        self.now += 1;
        self.ready = ready(o).count_ones().into();
        self.ready_warps += self.ready;
        if launcher.start_valid_o != 0 {
            let first = usize::from(launcher.start_warp_o) * REGISTERS;
            self.written[first..first + REGISTERS].fill(None);
        }
        for p in lanes_of((issue.operand_valid_o & stage.issue_ready_o).into()) {
            for register in issue.instruction_o[p].roles().sources() {
                if register != NO_REG {
                    self.read(issue.warp_o[p], register);
                }
            }
        }
        let parking = self.organisation.parking(&cycle.probe.states.operand_stage.provider);
        for place in lanes_of(parking.left) {
            if let Some(since) = self.since[place].take() {
                count(&mut self.parked_cycles, self.now - since);
            }
        }
        for bus in lanes_of(stage.write_done_o.into()) {
            let register = place_of(stage.written_o[bus].warp(), stage.written_o[bus].d());
            let parked = parking.parked >> bus & 1 == 1;
            self.written[register] = Some(Written { at: self.now, parked });
            if parked {
                self.since[usize::from(parking.place[bus])] = Some(self.now);
            }
        }
    }

    /// An instruction that reads a register is taken; the read counts for the next cycle.
    fn read(&mut self, warp: u8, register: u8) {
        let Some(Written { at, parked }) = self.written[place_of(warp, register)].take() else { return };
        let cycles = self.now + 1 - at;
        count(&mut self.first_read, cycles);
        if parked {
            count(&mut self.parked_first_read, cycles);
        }
    }

    /// Skips this many cycles, which equal the last one: nothing happens in them.
    pub fn skip(&mut self, cycles: u64) {
        self.now += cycles;
        self.ready_warps += self.ready * cycles;
    }

    /// Adds the measures to the sums and values of event words.
    pub fn add_to(&self, events: &mut Events, spreads: &mut Spreads) {
        events.insert(READY_WARPS, self.ready_warps);
        self.conflicts.add_to(events);
        let all = [
            (FIRST_READ, &self.first_read),
            (PARKED_FIRST_READ, &self.parked_first_read),
            (PARKED_CYCLES, &self.parked_cycles),
        ];
        spreads.extend(all.map(|(name, spread)| (name, spread.clone())));
    }
}

/// Index of a register of a warp.
fn place_of(warp: u8, register: u8) -> usize {
    usize::from(warp) % MAX_WARPS * REGISTERS + usize::from(register)
}

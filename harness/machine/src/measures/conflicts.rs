//! Instructions that meet a conflict at a bank (`docs/machine.md`, "Measures").
//!
//! Event words count the waits of each cycle. To count an instruction once, this module follows it: in its collector, in the memory pipeline while
//! lanes are left, and in the data cache while one of its lines is accessed.

use std::sync::LazyLock;

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::unified::UNIFIED_CACHE_EVENT;
use gpurf_lockstep::Events;
use gpurf_oracle::lanes_of;

use crate::cycle::{Cycle, bits};

/// Instructions that have met a conflict, of any kind.
pub const IN_CONFLICT: &str = "in_conflict";
/// Instructions with a register read that has waited for its bank.
pub const IN_CONFLICT_REGISTERS: &str = "in_conflict_registers";
/// Instructions with a scratchpad pass that has left lanes.
pub const IN_CONFLICT_SCRATCHPAD: &str = "in_conflict_scratchpad";
/// Instructions with a hit of the data cache that has waited for its column.
pub const IN_CONFLICT_CACHE: &str = "in_conflict_cache";

/// Kinds of conflicts.
#[derive(Clone, Copy)]
enum Kind {
    Registers,
    Scratchpad,
    Cache,
}

/// The names under which instructions with each kind are counted.
const KINDS: [&str; 3] = [IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD, IN_CONFLICT_CACHE];

/// Memory instructions are numbered in order; 0: none.
type Number = u64;

/// Instructions of an SM from its reset on.
pub struct Conflicts {
    organisation: Organisation,
    /// Collectors whose instruction has waited for a bank.
    waited: u16,
    /// The last instruction that has entered the memory pipeline.
    last: Number,
    /// The instructions in `address_unit`, in the request register of `coalescer`, and in stage C of the data cache: one field each.
    unit: Number,
    request: Number,
    access: Number,
    /// Conflicts that these instructions have met, a bit for each kind.
    met: Vec<(Number, u8)>,
    any: u64,
    of_kind: [u64; KINDS.len()],
}

/// A mask of the cache's event word; its bits of unified memory are always 0 without unified memory.
fn events(test: impl Fn(&str) -> bool) -> u64 {
    bits(UNIFIED_CACHE_EVENT, test)
}

static HITS: LazyLock<u64> =
    LazyLock::new(|| events(|name| matches!(name, "cache_hit" | "cache_store_hit" | "cache_store_full")));
static CACHE_WAITS: LazyLock<u64> = LazyLock::new(|| events(|name| name.starts_with("unified_cache_")));
static SHARED_LOST: LazyLock<u64> = LazyLock::new(|| events(|name| name.starts_with("unified_shared_")));

impl Conflicts {
    /// Of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        Self {
            organisation: Organisation::of(config),
            waited: 0,
            last: 0,
            unit: 0,
            request: 0,
            access: 0,
            met: Vec::new(),
            any: 0,
            of_kind: [0; KINDS.len()],
        }
    }

    /// A cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let happens = |events: &LazyLock<u64>| cycle.out.cache_event_o & **events != 0;
        if o.address_unit.shared_valid_o == 1 {
            let served = o.shared_memory.served_o;
            let some_left = served != 0 && o.address_unit.lanes_o & !served != 0;
            if some_left || happens(&SHARED_LOST) {
                self.meets(self.unit, Kind::Scratchpad);
            }
        }
        if happens(&CACHE_WAITS) {
            self.meets(self.access, Kind::Cache);
        }
        if o.coalescer.mem_req_valid_o & o.cache.req_ready_o == 1 && happens(&HITS) {
            self.access = self.request;
        }
        if o.coalescer.served_o != 0 {
            self.request = self.unit;
        }
        self.read(cycle);
    }

    /// Reads of registers, and instructions that leave with their operands.
    fn read(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let file = self.organisation.collectors(&cycle.probe.states.operand_stage.provider);
        let waiting = file.wanted & !file.granted;
        for collector in lanes_of(file.busy.into()) {
            let slots = waiting >> (OPERANDS * collector) & ((1 << OPERANDS) - 1);
            if slots != 0 && self.waited >> collector & 1 == 0 {
                self.waited |= 1 << collector;
                self.any += 1;
                self.of_kind[Kind::Registers as usize] += 1;
            }
        }
        let memory = (o.dispatcher.memory_valid_o & o.address_unit.in_ready_o == 1)
            .then_some(usize::from(o.dispatcher.memory_port_o));
        for port in lanes_of((file.dispatch & o.dispatcher.dispatch_ready_o).into()) {
            let collector = 1 << file.leaving[port];
            let has_waited = self.waited & collector != 0;
            self.waited &= !collector;
            if memory == Some(port) {
                self.last += 1;
                self.unit = self.last;
                let held = [self.request, self.access];
                self.met.retain(|(number, _)| held.contains(number));
                if has_waited {
                    self.met.push((self.last, 1 << Kind::Registers as u8));
                }
            }
        }
    }

    /// Notes that a memory instruction meets a conflict.
    fn meets(&mut self, instruction: Number, kind: Kind) {
        let known = self.met.iter_mut().find(|(number, _)| *number == instruction);
        let before = known.as_ref().map_or(0, |(_, met)| *met);
        if before >> kind as u8 & 1 == 1 {
            return;
        }
        self.any += u64::from(before == 0);
        self.of_kind[kind as usize] += 1;
        match known {
            Some((_, met)) => *met |= 1 << kind as u8,
            None => self.met.push((instruction, 1 << kind as u8)),
        }
    }

    /// Adds what was counted to the sums of event words.
    pub fn add_to(&self, events: &mut Events) {
        events.insert(IN_CONFLICT, self.any);
        events.extend(KINDS.into_iter().zip(self.of_kind));
    }
}

//! Tracks the addresses of instructions, for faults that are detected after the stages that know an address.

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::cause;
use gpurf_blocks::mrf::MAX_PORTS;

use crate::cycle::Cycle;

/// Maximum number of loads in the data cache.
const MAX_LOADS: usize = 128;

/// Tracks the instructions for which the SM may report faults.
pub struct Whereabouts {
    /// The instruction that the address unit took last.
    memory: u32,
    /// The instruction that each ALU took last.
    alu: [u32; MAX_PORTS],
    /// The BAR that arrived last.
    barrier: u32,
    /// The instructions of the lines in flight.
    lines: VecDeque<u32>,
    /// A data cache takes the place of the line table.
    caches: bool,
    /// The instructions of the loads in the data cache, by number.
    loads: [u32; MAX_LOADS],
    /// Warp, cause and instruction of faults so far.
    found: Vec<(u8, u8, u32)>,
}

impl Whereabouts {
    /// Before the first cycle of an SM of this configuration.
    pub fn new(config: &Config) -> Self {
        Self {
            memory: 0,
            alu: [0; MAX_PORTS],
            barrier: 0,
            lines: VecDeque::new(),
            caches: config.cache.kilobytes != 0,
            loads: [0; MAX_LOADS],
            found: Vec::new(),
        }
    }

    /// The instruction that caused the fault, if it is known.
    pub fn of_fault(&self, warp: u8, cause: u8) -> Option<u32> {
        self.found.iter().find(|found| (found.0, found.1) == (warp, cause)).map(|found| found.2)
    }

    /// Observes a cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        // This comes first, because a unit reports what it took in an earlier cycle.
        self.faults(cycle);
        let o = &cycle.probe.outputs;
        let (dispatch, dispatcher) = (&o.operand_stage, &o.dispatcher);
        let taken_last = self.memory;
        if dispatcher.memory_valid_o & o.address_unit.in_ready_o == 1 {
            self.memory = dispatch.dispatch_instruction_o[usize::from(dispatcher.memory_port_o)].pc();
        }
        if dispatcher.barrier_valid_o == 1 {
            self.barrier = dispatch.dispatch_instruction_o[usize::from(dispatcher.barrier_port_o)].pc();
        }
        for port in 0..MAX_PORTS {
            if dispatcher.alu_valid_o >> port & o.alu[port].ready_o & 1 == 1 {
                self.alu[port] = dispatch.dispatch_instruction_o[port].pc();
            }
        }
        let table = &cycle.probe.states.line_table;
        if table.rsp_valid_q == 1 && (o.line_table.result_valid_o == 0 || o.writeback.memory_pop_o == 1) {
            self.lines.pop_front();
        }
        if o.coalescer.row_valid_o == 1 {
            if self.caches {
                self.loads[usize::from(cycle.probe.states.cache.results.row_load_o)] = taken_last;
            } else {
                self.lines.push_back(taken_last);
            }
        }
    }

    fn faults(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        for port in 0..MAX_PORTS {
            let issue = &o.issue_stage;
            if issue.fault_valid_o >> port & 1 == 1 {
                self.found.push((issue.warp_o[port], issue.fault_cause_o[port], issue.instruction_o[port].pc()));
            }
            if o.alu[port].fault_valid_o == 1 {
                self.found.push((o.alu[port].fault_warp_o, cause::WARP_DIVERGENCE, self.alu[port]));
            }
        }
        let unit = &o.address_unit;
        if unit.fault_valid_o == 1 {
            self.found.push((unit.fault_warp_o, unit.fault_cause_o, self.memory));
        }
        if let (1, Some(&pc)) = (o.line_table.fault_valid_o, self.lines.front()) {
            self.found.push((o.line_table.fault_warp_o, cause::NO_SUCH_PLACE, pc));
        }
        if o.cache.fault_valid_o == 1 {
            let misses = &cycle.probe.states.cache.misses_state;
            let used = u128::from(misses.row_used_q) | misses.row_used_wide_q.to_u128();
            let waits = |row: &usize| used >> row & 1 == 1 && misses.row_miss_q[*row] == misses.first_q;
            // The lowest row that waits for the answer is served first.
            if let Some(row) = (0..MAX_LOADS).find(waits) {
                let pc = self.loads[usize::from(misses.row_load_q[row])];
                self.found.push((o.cache.fault_warp_o, cause::NO_SUCH_PLACE, pc));
            }
        }
        if o.barrier_unit.fault_valid_o == 1 {
            self.found.push((o.barrier_unit.fault_warp_o, cause::BARRIER_COUNT, self.barrier));
        }
    }
}

//! Clock edge of all blocks, and the one in reset.

use gpurf_blocks::control::{Coordinates, Fault, Launch};
use gpurf_blocks::instruction::cause;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::shape::Straps;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::unified::Partition;

use super::Blocks;
use super::cached::LinesEdge;
use super::decided::{BusResult, Decided};
use crate::ports::SmIn;

impl Blocks {
    /// The clock edge, after a cycle with these events. The outputs of a block are read before its state changes: the order of these calls
    /// keeps to that.
    #[inline]
    pub(super) fn edge(&mut self, inputs: &SmIn, straps: &Straps, decided: &Decided, events: u64) {
        let (alive, idle) = (self.simt_stack.alive(), self.scoreboard.idle());
        let (start, memory_idle, held) = (self.block_launcher.start(), self.memory_idle(), self.hold());
        self.tell_faults(decided);
        if self.power.is_some() {
            self.clock_power(inputs, start.map(|(warp, _)| warp), alive, idle);
        }
        if self.shares() {
            self.clock_share(inputs, decided, events, idle);
        }
        if self.has_slots() {
            self.clock_slots(decided, alive);
        }
        self.push_side_results(straps.side_latency);
        self.push_constant_results(straps.fp_latency);
        let row = self.clock_units(inputs.time_i, decided);
        self.clock_results(decided);
        self.clock_dispatch(decided, straps);
        self.clock_operands(straps, decided, true);
        let pop = self.pop_results(decided);
        let lines = LinesEdge { held: held.as_ref(), row: row.as_ref(), pop, running: true };
        self.clock_lines(inputs, straps, decided, &lines);
        self.clock_front(decided, start, alive);
        self.write_coordinates();
        self.block_launcher.edge(straps.blocks, launch(inputs).as_ref(), alive, idle, memory_idle);
        self.host_writes(inputs);
        self.settle();
    }

    /// The faults of a cycle, in the order of their sources.
    #[inline]
    fn tell_faults(&mut self, decided: &Decided) {
        for (_, issue) in decided.issues() {
            if let Some((cause, value)) = issue.fault {
                self.fault_unit.tell(Fault { value, warp: issue.warp, cause });
            }
        }
        for alu in &self.alu {
            if let (Some(value), Some(result)) = (alu.fault(), alu.result()) {
                self.fault_unit.tell(Fault { value, warp: result.warp, cause: cause::WARP_DIVERGENCE });
            }
        }
        if let Some(fault) = self.address_unit.fault() {
            self.fault_unit.tell(Fault { value: fault.value, warp: fault.warp, cause: fault.cause });
        }
        if let Some(fault) = self.constant_unit.fault() {
            self.fault_unit.tell(Fault { value: fault.value, warp: fault.warp, cause: fault.cause });
        }
        if let Some(warp) = self.line_fault() {
            self.fault_unit.tell(Fault { value: 0, warp, cause: cause::NO_SUCH_PLACE });
        }
        if let Some(fault) = self.barrier_unit.fault() {
            self.fault_unit.tell(*fault);
        }
        if self.block_launcher.fault() {
            self.fault_unit.tell(Fault { value: 0, warp: 0, cause: cause::DOES_NOT_FIT });
        }
    }

    /// The launcher's coordinates of threads go to where S2R reads them.
    #[inline]
    fn write_coordinates(&mut self) {
        if let Some(tid) = self.block_launcher.tid_write() {
            self.special_registers.write(tid.index, tid.group, &tid.data);
        }
    }

    /// Performs the writes of the host, in reset too: RAM cells have no reset.
    #[inline]
    fn host_writes(&mut self, inputs: &SmIn) {
        if inputs.code_we_i != 0 {
            self.fetch.write_code(inputs.code_addr_i, inputs.code_op_i, inputs.code_ctl_i);
        }
        if inputs.const_we_i != 0 {
            self.constant_memory.write(inputs.const_addr_i.into(), inputs.const_data_i);
        }
    }

    /// Clock edge in reset. Memories still take what is offered to them.
    #[cold]
    pub(super) fn reset(&mut self, inputs: &SmIn, straps: &Straps, decided: &Decided) {
        let (start, held) = (self.block_launcher.start(), self.hold());
        self.clock_slots(decided, self.simt_stack.alive());
        self.push_side_results(straps.side_latency);
        self.push_constant_results(straps.fp_latency);
        let row = self.clock_units(inputs.time_i, decided);
        for (alu, queue) in self.alu.iter_mut().zip(&mut self.alu_queue) {
            if queue.ready()
                && let Some(result) = alu.result()
            {
                queue.push(straps.alu_latency, result, alu.data());
            }
            alu.reset();
        }
        for (unit, queue) in self.fp_unit.iter_mut().zip(&mut self.fp_queue) {
            if queue.ready()
                && let Some(result) = unit.result()
            {
                queue.push(straps.fp_latency, result, unit.data());
            }
            unit.reset();
        }
        if self.sfu_queue.ready()
            && let Some(result) = self.sfu.result()
        {
            self.sfu_queue.push(straps.sfu_latency, result, self.sfu.data());
        }
        self.sfu.reset();
        for (_, BusResult { result, .. }) in decided.results(decided.going) {
            if let Some(pred) = result.pred {
                self.predicate_file.write(result.warp, pred, result.mask, result.pred_data);
            }
        }
        self.clock_operands(straps, decided, false);
        let pop = self.pop_results(decided);
        self.alu_queue.iter_mut().chain(&mut self.fp_queue).for_each(|queue| queue.reset());
        self.sfu_queue.reset();
        self.constant_queue.reset();
        self.side_queue.reset();
        let lines = LinesEdge { held: held.as_ref(), row: row.as_ref(), pop, running: false };
        self.clock_lines(inputs, straps, decided, &lines);

        self.fetch.reset(&decided.fetching);
        for (warp, decoded) in decided.decoded.iter().flatten() {
            self.instruction_buffer.write(*warp, decoded);
        }
        for w in set_bits(self.instruction_buffer.head_valid()) {
            self.scoreboard.head(w, None);
        }
        self.instruction_buffer.reset();
        self.simt_stack.advance();
        for (_, issue) in decided.issues() {
            self.simt_stack.issued(issue.warp.into(), &issue.step);
        }
        if let Some((warp, lanes)) = start {
            self.simt_stack.start(warp.into(), lanes);
        }
        self.simt_stack.reset();
        self.write_coordinates();
        self.host_writes(inputs);

        self.scoreboard.reset();
        self.warp_scheduler.reset();
        self.two_level.iter_mut().for_each(|scheduler| scheduler.reset());
        self.alternating.iter_mut().for_each(|scheduler| scheduler.reset());
        self.marked = 0;
        *self.named = [0; MAX_WARPS];
        self.dispatcher.reset();
        self.writeback.reset();
        self.lane_crossbar.reset();
        self.special_registers.reset();
        self.address_unit.reset();
        self.constant_unit.reset();
        self.coalescer.reset();
        self.shared_memory.reset(None);
        self.unified.iter_mut().for_each(|unified| unified.reset());
        self.constant_memory.reset();
        self.block_launcher.reset();
        self.barrier_unit.reset();
        self.fault_unit.reset();
        self.power.iter_mut().for_each(|power| power.reset());
        self.share.iter_mut().for_each(|share| share.reset());
        self.scratchpad.iter_mut().for_each(|scratchpad| scratchpad.reset());
        self.settle();
    }

    /// Updates which heads are clear after the edge.
    #[inline]
    fn settle(&mut self) {
        self.scoreboard.settle();
        if let Some(power) = &mut self.power {
            power.states.settle(self.scoreboard.clear());
        }
        if self.shares() {
            self.settle_share();
        }
        if self.unified.is_some() {
            self.settle_unified();
        }
    }
}

/// The grid that the host offers.
#[inline]
fn launch(inputs: &SmIn) -> Option<Launch> {
    (inputs.launch_valid_i != 0).then(|| offered(inputs))
}

#[cold]
fn offered(inputs: &SmIn) -> Launch {
    Launch {
        grid: Coordinates { x: inputs.launch_grid_x_i, y: inputs.launch_grid_y_i, z: inputs.launch_grid_z_i },
        block: Coordinates {
            x: inputs.launch_block_x_i.into(),
            y: inputs.launch_block_y_i,
            z: inputs.launch_block_z_i.into(),
        },
        threads: inputs.launch_threads_i,
        registers: inputs.launch_registers_i,
        share: inputs.launch_share_i != 0,
        private: inputs.launch_private_i,
        private_shared: inputs.launch_private_shared_i,
        shared: inputs.launch_shared_i,
        dynamic: inputs.launch_dynamic_i,
        local_words: inputs.launch_local_i,
        partition: Partition { register_rows: inputs.launch_register_rows_i, cache_log: inputs.launch_cache_i },
        shared_rows: inputs.launch_shared_rows_i,
    }
}

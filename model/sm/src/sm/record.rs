//! Fills the blocks' ports and their hidden state, where a run is recorded: from the state before the edge and the decisions.
//!
//! A narrow payload without meaning is zero; a wide one is left unchanged.

use gpurf_blocks::cache::CacheProbe;
use gpurf_blocks::design::SlotView;
use gpurf_blocks::execute::{Source, Writeback, WritebackOut};
use gpurf_blocks::front::{DecodeOut, Decoded};
use gpurf_blocks::instruction::{InstructionFields, unit};
use gpurf_blocks::issue::{IssueStageOut, PredicateFileOut, SimtStackOut, TwoLevelSchedulerOut};
use gpurf_blocks::memory::{AddressUnitOut, CoalescerOut, ConstantServer, LinePass, Server};
use gpurf_blocks::mrf::bits::{only, set_bits};
use gpurf_blocks::shape::Straps;
use gpurf_blocks::{Block, Ports};

use super::decided::{BusResult, Decided, Issue};
use super::{Blocks, Sm, slots};
use crate::nets::{Outputs, SmProbe};
use crate::ports::{SmIn, SmOut};

impl Sm {
    /// Records everything that is compared inside the SM; `out` has the SM's outputs.
    pub(super) fn record(&self, inputs: &SmIn, out: &SmOut, probe: &mut SmProbe) {
        let straps = Straps::of_ports(inputs.cfg_i, &inputs.design_cfg_i);
        let (blocks, o) = (&self.blocks, &mut probe.outputs);
        macro_rules! early_each {
            ($($name:ident)+) => { $(blocks.$name.early(&mut o.$name);)+ };
        }
        early_each! {
            fetch instruction_buffer scoreboard simt_stack operand_stage sfu sfu_queue constant_unit constant_queue side_queue lane_crossbar special_registers address_unit coalescer
            line_table shared_memory constant_memory block_launcher barrier_unit fault_unit
        }
        for p in 0..blocks.ports {
            blocks.alu[p].early(&mut o.alu[p]);
            blocks.alu_queue[p].early(&mut o.alu_queue[p]);
            blocks.alu_queue[p].show(None, &mut o.alu_queue[p]);
            blocks.fp_unit[p].early(&mut o.fp_unit[p]);
            blocks.fp_queue[p].early(&mut o.fp_queue[p]);
            blocks.fp_queue[p].show(blocks.fp_passing(p, &self.decided), &mut o.fp_queue[p]);
        }
        blocks.sfu_queue.show(None, &mut o.sfu_queue);
        let passing = blocks.constant_passing(&self.decided);
        blocks.constant_queue.show(passing.as_ref().map(|(result, data)| (result, *data)), &mut o.constant_queue);
        blocks.side_queue.show(None, &mut o.side_queue);
        blocks.record_issue(&self.decided, o);
        blocks.record_pass(&self.decided, o);
        blocks.record_dispatch(&self.decided, o);
        blocks.record_results(&straps, &self.decided, &mut o.writeback);
        o.operand_stage.event_o = out.mrf_event_o;
        blocks.operand_stage.results(&mut o.operand_stage);
        o.operand_stage.candidate_issue_o = blocks.operand_stage.candidate_issue();
        o.operand_stage.flush_done_o = blocks.operand_stage.flush_done();

        blocks.record_cache(inputs, &straps, &self.decided, o, &mut probe.states.cache);
        blocks.record_unified(&self.decided.pass, o);

        let states = &mut probe.states;
        macro_rules! probe_each {
            ($($name:ident)+) => { $(blocks.$name.probe(&self.inputs.$name, &o.$name, &mut states.$name);)+ };
        }
        probe_each! {
            fetch instruction_buffer scoreboard predicate_file simt_stack dispatcher sfu sfu_queue constant_unit constant_queue side_queue writeback
            lane_crossbar special_registers address_unit coalescer line_table shared_memory constant_memory block_launcher barrier_unit
            fault_unit
        }
        blocks.probe_unified(states);
        let slots = slots(blocks.two_level.as_deref(), blocks.alternating.as_deref());
        blocks.operand_stage.record(&slots, &mut states.operand_stage);
        let inputs = &self.inputs;
        match (&blocks.two_level, &blocks.alternating) {
            (Some(scheduler), _) => {
                scheduler.probe(&inputs.warp_scheduler, &o.warp_scheduler, &mut states.warp_scheduler);
            }
            (None, Some(scheduler)) => {
                scheduler.probe(&inputs.alternating, &o.alternating, &mut states.alternating);
            }
            (None, None) => blocks.warp_scheduler.probe(&inputs.single, &o.single, &mut states.single),
        }
        if let Some(power) = &blocks.power {
            // Where the register file keeps the states, these signals have no meaning.
            power.states.probe(&inputs.power_states, &o.power_states, &mut states.power_states);
            power.table.probe(&inputs.access_table, &o.access_table, &mut states.access_table);
        }
        if let Some(scratchpad) = &blocks.scratchpad {
            scratchpad.locks.probe(&inputs.scratchpad_locks, &o.scratchpad_locks, &mut states.scratchpad_locks);
        }
        if let Some(share) = &blocks.share {
            share.locks.probe(&inputs.share_locks, &o.share_locks, &mut states.share_locks);
            if let Some(throttle) = &share.throttle {
                throttle.probe(&inputs.share_throttle, &o.share_throttle, &mut states.share_throttle);
            }
        }
        for p in 0..blocks.ports {
            blocks.alu[p].probe(&self.inputs.alu[p], &o.alu[p], &mut states.alu[p]);
            blocks.alu_queue[p].probe(&self.inputs.alu_queue[p], &o.alu_queue[p], &mut states.alu_queue[p]);
            blocks.fp_unit[p].probe(&self.inputs.fp_unit[p], &o.fp_unit[p], &mut states.fp_unit[p]);
            blocks.fp_queue[p].probe(&self.inputs.fp_queue[p], &o.fp_queue[p], &mut states.fp_queue[p]);
        }
    }
}

impl Blocks {
    /// Records decode to issue.
    fn record_issue(&self, decided: &Decided, o: &mut Outputs) {
        o.decode = decided.decoded.map(|decoded| DecodeOut { roles_o: decoded.map_or(0, |(_, head)| head.roles.0) });
        let scoreboard = &mut o.scoreboard;
        (scoreboard.clear_o, scoreboard.operand_o) = (self.scoreboard.clear(), self.scoreboard.operand());
        scoreboard.branch_o = self.scoreboard.branch();
        o.issue_gate.clear_o = self.gated();
        self.record_power(o);
        self.record_share(o);
        o.warp_scheduler = TwoLevelSchedulerOut { pop_o: decided.pops, ..TwoLevelSchedulerOut::zeroed() };
        if let Some(scheduler) = &self.two_level {
            scheduler.early(&mut o.warp_scheduler);
        }
        if self.alternating.is_some() {
            let SlotView { valid, flush, drop, warp } = slots(None, self.alternating.as_deref());
            let out = &mut o.warp_scheduler;
            (out.slot_valid_o, out.flush_o, out.drop_o, out.slot_warp_o) = (valid, flush, drop, only(warp, valid));
        }
        o.warp_scheduler.active_o = decided.outer.active & (self.own[0] | self.own[1]);
        for (p, candidate) in decided.chosen.candidate.iter().enumerate() {
            o.warp_scheduler.candidate_valid_o |= u8::from(candidate.is_some()) << p;
            o.warp_scheduler.candidate_warp_o[p] = candidate.unwrap_or_default() as u8;
        }
        (o.issue_stage, o.predicate_file) = (IssueStageOut::zeroed(), PredicateFileOut::zeroed());
        let stack = &mut o.simt_stack;
        (stack.resume_valid_o, stack.resume_warp_o, stack.resume_pc_o) = Default::default();
        for (p, issue) in decided.issues() {
            o.warp_scheduler.issue_valid_o |= 1 << p;
            o.warp_scheduler.issue_warp_o[p] = issue.warp;
            o.warp_scheduler.issue_slot_o[p] = issue.slot;
            self.record_predicates(p, issue, &mut o.issue_stage, &mut o.predicate_file);
            record_instruction(p, issue, &mut o.issue_stage);
            if let Some(pc) = issue.step.resume() {
                resume(stack, p, issue.warp, pc);
            }
        }
        if let Some((w, group)) = self.simt_stack.returning() {
            resume(stack, self.ports, w as u8, group.pc);
        }
    }

    fn record_predicates(&self, p: usize, issue: &Issue, stage: &mut IssueStageOut, file: &mut PredicateFileOut) {
        let (warp, roles) = (issue.warp, issue.head.roles);
        (stage.read_guard_o[p], stage.read_s_o[p], stage.read_t_o[p]) = (roles.guard(), roles.s(), roles.t());
        file.guard_o[p] = self.predicate_file.read(warp, roles.guard());
        file.s_o[p] = self.predicate_file.read(warp, roles.s());
        file.t_o[p] = self.predicate_file.read(warp, roles.t());
        let Decoded { op, ctl, pc, .. } = issue.head;
        let s = gpurf_blocks::issue::first_source(op, file.s_o[p], self.simt_stack.live(warp.into()));
        let (op, roles) = issue.goes();
        stage.instruction_o[p] = InstructionFields { pc, roles, t: file.t_o[p], s, ctl, op }.into();
    }

    /// Records the memory pipeline.
    fn record_pass(&self, decided: &Decided, o: &mut Outputs) {
        let pass = &decided.pass;
        let server = pass.offer.map(|(server, _)| server);
        let served = |by: Server| if server == Some(by) { pass.served } else { 0 };
        o.coalescer.served_o = served(Server::Global) | served(Server::Local);
        o.coalescer.pass_line_o = pass.line.as_ref().and_then(LinePass::line).unwrap_or_default();
        o.shared_memory.served_o = served(Server::Shared);
        o.constant_memory.served_o = served(Server::Constant);
        o.lane_crossbar.served_o = served(Server::Shuffle);
        let constant = &decided.constant;
        o.constant_memory.direct_served_o = constant.by(ConstantServer::Constant);
        o.special_registers.served_o = constant.by(ConstantServer::Special);
        o.constant_unit.ready_o = self.constant_unit.ready(constant.served).into();
        o.constant_unit.last_o = constant.last.into();
        if let Some((line, (_, lanes))) = pass.line.as_ref().zip(pass.offer) {
            self.record_row(line, lanes, pass.last, &mut o.coalescer);
        }
        let unit: &mut AddressUnitOut = &mut o.address_unit;
        unit.in_ready_o = self.address_unit.ready(pass.served).into();
        unit.last_o = pass.last.into();
        let finish = self.address_unit.finish(pass.served);
        (unit.finish_valid_o, unit.finish_warp_o) = (finish.is_some().into(), finish.unwrap_or_default());
    }

    fn record_row(&self, line: &LinePass, lanes: u32, last: bool, out: &mut CoalescerOut) {
        let Some(row) = line.row(&self.address_unit.access(lanes), last) else { return };
        out.row_valid_o = 1;
        (out.row_mask_o, out.row_warp_o, out.row_offset_o) = (row.header.mask, row.header.warp, *row.offset);
        (out.row_reg_valid_o, out.row_reg_o) = (row.header.reg.is_some().into(), row.header.reg.unwrap_or_default());
        (out.row_size_o, out.row_signed_o) = (row.size, row.signed.into());
        (out.row_lanewise_o, out.row_done_o) = (row.lanewise.into(), row.header.done.into());
    }

    /// Records the data cache, where there is one.
    fn record_cache(&self, inputs: &SmIn, straps: &Straps, decided: &Decided, o: &mut Outputs, probe: &mut CacheProbe) {
        let Some(cache) = &self.cache else { return };
        self.with_cache_cycle(inputs, straps, decided, |cycle| cache.record(cycle, probe));
        let out = &mut o.cache;
        cache.early(out);
        out.req_ready_o = decided.pass.free.into();
        out.idle_o = self.memory_idle().into();
        out.show(cache.result(straps.cache()));
    }

    /// Records what leaves the operand stage, and the blocks involved.
    fn record_dispatch(&self, decided: &Decided, o: &mut Outputs) {
        let dispatch = &decided.dispatch;
        for (p, (alu, queue)) in self.alu.iter().zip(&self.alu_queue).enumerate() {
            o.alu[p].ready_o = alu.ready(queue.ready()).into();
        }
        for (p, (unit, queue)) in self.fp_unit.iter().zip(&self.fp_queue).enumerate() {
            o.fp_unit[p].ready_o = unit.ready(queue.ready()).into();
        }
        o.sfu.ready_o = self.sfu.ready(self.sfu_queue.ready()).into();
        let out = &mut o.dispatcher;
        (out.dispatch_ready_o, out.alu_valid_o, out.fp_valid_o) =
            (dispatch.ready, dispatch.wanted.alu, dispatch.wanted.fp);
        // With two ports at most the mask of one says which: bit 1 is port 1.
        (out.memory_valid_o, out.memory_port_o) = ((dispatch.memory != 0).into(), dispatch.memory >> 1);
        (out.sfu_valid_o, out.sfu_port_o) = ((dispatch.sfu != 0).into(), dispatch.sfu >> 1);
        (out.constant_valid_o, out.constant_port_o) = ((dispatch.constant != 0).into(), dispatch.constant >> 1);
        (out.barrier_valid_o, out.barrier_port_o) = ((dispatch.barrier != 0).into(), dispatch.barrier >> 1);
        let warp = |port: u8| match port {
            0 => 0,
            mask => self.operand_stage.dispatched(mask.trailing_zeros() as usize).issued.warp,
        };
        o.address_unit.place_warp_o = warp(dispatch.memory);
        o.barrier_unit.open_o = decided.opening;
        (o.barrier_unit.finish_valid_o, o.barrier_unit.finish_warp_o) = (out.barrier_valid_o, warp(dispatch.barrier));
        self.record_released(o);
        let launcher = &mut o.block_launcher;
        launcher.place_base_o = self.block_launcher.place(o.address_unit.place_warp_o);
        launcher.place_common_o = self.block_launcher.place_common(o.address_unit.place_warp_o);
        let (index, block) = self.block_launcher.block_of(o.constant_unit.warp_o);
        (launcher.block_index_o, launcher.block_x_o) = (index, block.x);
        (launcher.block_y_o, launcher.block_z_o) = (block.y, block.z);
    }

    /// Records the results on their buses.
    fn record_results(&self, straps: &Straps, decided: &Decided, out: &mut WritebackOut) {
        clear_narrow(out);
        for (p, (warp, reg)) in decided.reports.iter().enumerate().filter_map(|(p, report)| Some((p, (*report)?))) {
            out.reg_valid_o |= 1 << p;
            (out.reg_warp_o[p], out.reg_o[p]) = (warp, reg);
        }
        out.finish_valid_o = decided.ends;
        for p in set_bits(decided.ends) {
            out.finish_warp_o[p] = self.operand_stage.written(p).0;
        }
        for (p, BusResult { source, result }) in decided.results(decided.offered) {
            let bit = 1 << p;
            if let Some(word) = Writeback::write(*source, result) {
                out.write_valid_o |= bit;
                out.write_o[p] = word;
                out.write_data_o[p] = match source {
                    Source::Alu => *self.alu_queue[p].head_data(),
                    Source::Fp => *self.fp_passing(p, decided).map_or(self.fp_queue[p].head_data(), |(_, data)| data),
                    Source::Sfu => *self.sfu_queue.head_data(),
                    Source::Constant => {
                        *self.constant_passing(decided).map_or(self.constant_queue.head_data(), |(_, data)| data)
                    }
                    Source::Side => *self.side_queue.head_data(),
                    Source::Memory => *self.line_result(straps).expect("it is offered").1,
                };
            }
            if decided.going & bit == 0 {
                continue;
            }
            match source {
                Source::Alu => out.alu_pop_o |= bit,
                Source::Fp => out.fp_pop_o |= bit,
                Source::Sfu => out.sfu_pop_o = 1,
                Source::Constant => out.constant_pop_o = 1,
                Source::Side => out.side_pop_o = 1,
                Source::Memory => out.memory_pop_o = 1,
            }
            if let Some(pred) = result.pred {
                out.pred_valid_o |= bit;
                (out.pred_warp_o[p], out.pred_o[p]) = (result.warp, pred);
                (out.pred_mask_o[p], out.pred_data_o[p]) = (result.mask, result.pred_data);
            }
            if result.reg.is_none() && result.done {
                out.finish_valid_o |= bit << self.ports;
                out.finish_warp_o[self.ports + p] = result.warp;
            }
        }
    }
}

/// Clears the outputs for all buses, except the data.
fn clear_narrow(out: &mut WritebackOut) {
    (out.alu_pop_o, out.fp_pop_o, out.sfu_pop_o) = (0, 0, 0);
    (out.constant_pop_o, out.side_pop_o, out.memory_pop_o) = (0, 0, 0);
    (out.write_valid_o, out.write_o) = Default::default();
    (out.pred_valid_o, out.pred_warp_o, out.pred_o) = Default::default();
    (out.pred_mask_o, out.pred_data_o) = Default::default();
    (out.reg_valid_o, out.reg_warp_o, out.reg_o) = Default::default();
    (out.finish_valid_o, out.finish_warp_o) = Default::default();
}

fn record_instruction(p: usize, issue: &Issue, out: &mut IssueStageOut) {
    let (head, bit) = (&issue.head, 1 << p);
    (out.warp_o[p], out.exec_o[p], out.kind_o[p]) = (issue.warp, issue.exec, issue.kind as u8);
    (out.target_o[p], out.join_o[p]) = (gpurf_blocks::issue::target(head.op), gpurf_blocks::issue::join(head.ctl));
    out.stop_o |= head.roles.stop() << p;
    if let Some((cause, value)) = issue.fault {
        out.fault_valid_o |= bit;
        (out.fault_cause_o[p], out.fault_value_o[p]) = (cause, value);
    }
    if issue.operands {
        out.operand_valid_o |= bit;
        out.hold_valid_o |= u8::from(head.roles.unit() == unit::BARRIER) << p;
    }
}

fn resume(out: &mut SimtStackOut, k: usize, warp: u8, pc: u32) {
    out.resume_valid_o |= 1 << k;
    (out.resume_warp_o[k], out.resume_pc_o[k]) = (warp, pc);
}

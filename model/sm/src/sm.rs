//! `sm`: the streaming multiprocessor. `docs/blocks/sm.md`.

use gpurf_blocks::control::{BarrierUnit, BlockLauncher, FaultUnit};
use gpurf_blocks::execute::{Alu, Dispatcher, LaneCrossbar, ResultQueue, SpecialRegisters, Writeback};
use gpurf_blocks::front::{Decode as Decoder, Fetch, InstructionBuffer};
use gpurf_blocks::instruction::{NO_PRED, Roles, cause};
use gpurf_blocks::issue::{IssueStage, PredicateFile, Scoreboard, SimtStack, WarpScheduler};
use gpurf_blocks::memory::{AddressUnit, Coalescer, ConstantMemory, LineTable, SharedMemory};
use gpurf_blocks::mrf::{Mrf, MrfAllocator, MrfArbiter, MrfBank, MrfBankMap, MrfCollector, MrfCrossbar, MrfWriteQueue};
use gpurf_blocks::operands::OperandStage;
use gpurf_blocks::shape::{ALU_QUEUE_DEPTH, SIDE_QUEUE_DEPTH, SIDE_SOURCES, SmShape};
use gpurf_blocks::{Block, Memory, OPERANDS, Ports};

use crate::nets::{Outputs, SmProbe};
use crate::ports::{SM_EVENT, SmIn, SmOut};

/// A block with its inputs.
struct Node<B: Block> {
    block: B,
    inputs: B::In,
}

impl<B: Block> Node<B> {
    fn new(shape: &B::Shape) -> Self {
        Self { block: B::new(shape), inputs: B::In::zeroed() }
    }

    #[inline]
    fn early(&self, out: &mut B::Out) {
        self.block.early(out);
    }

    #[inline]
    fn late(&mut self, out: &mut B::Out) {
        self.block.late(&self.inputs, out);
    }

    #[inline]
    fn clock(&mut self, out: &B::Out) {
        self.block.clock(&self.inputs, out);
    }
}

/// The streaming multiprocessor: in order, 32 lanes, a SIMT stack for each warp, a scoreboard, operand collectors, an ALU for each port, one memory
/// pipeline, barriers, and a launcher of thread blocks (hierarchy thesis 2.4, 2.5, 4.3 and table 4.4; RFC paper 2.1, figures 1 and 3).
///
/// Outputs that follow from state alone are settled right after the edge; [`late`](Block::late) then goes through the blocks in an order in which each
/// finds its inputs ready. Two pairs of blocks ask each other within a cycle (the issue stage and the predicate file; the address unit and the units
/// that serve it): there one of them is settled twice.
pub struct Sm {
    ports: usize,
    warps: usize,
    fetch: Node<Fetch>,
    decode: Node<Decoder>,
    instruction_buffer: Node<InstructionBuffer>,
    scoreboard: Node<Scoreboard>,
    warp_scheduler: Node<WarpScheduler>,
    issue_stage: Node<IssueStage>,
    predicate_file: Node<PredicateFile>,
    simt_stack: Node<SimtStack>,
    operand_stage: Node<OperandStage>,
    dispatcher: Node<Dispatcher>,
    alu: Vec<Node<Alu>>,
    alu_queue: Vec<Node<ResultQueue>>,
    side_queue: Node<ResultQueue>,
    writeback: Node<Writeback>,
    lane_crossbar: Node<LaneCrossbar>,
    special_registers: Node<SpecialRegisters>,
    address_unit: Node<AddressUnit>,
    coalescer: Node<Coalescer>,
    line_table: Node<LineTable>,
    shared_memory: Node<SharedMemory>,
    constant_memory: Node<ConstantMemory>,
    block_launcher: Node<BlockLauncher>,
    barrier_unit: Node<BarrierUnit>,
    fault_unit: Node<FaultUnit>,
    outputs: Box<Outputs>,
}

impl Sm {
    /// The outputs that follow from state alone.
    fn settle(&mut self) {
        let o = &mut *self.outputs;
        self.fetch.early(&mut o.fetch);
        self.decode.early(&mut o.decode);
        self.instruction_buffer.early(&mut o.instruction_buffer);
        self.scoreboard.early(&mut o.scoreboard);
        self.warp_scheduler.early(&mut o.warp_scheduler);
        self.issue_stage.early(&mut o.issue_stage);
        self.predicate_file.early(&mut o.predicate_file);
        self.simt_stack.early(&mut o.simt_stack);
        self.operand_stage.early(&mut o.operand_stage);
        self.dispatcher.early(&mut o.dispatcher);
        for p in 0..self.ports {
            self.alu[p].early(&mut o.alu[p]);
            self.alu_queue[p].early(&mut o.alu_queue[p]);
        }
        self.side_queue.early(&mut o.side_queue);
        self.writeback.early(&mut o.writeback);
        self.lane_crossbar.early(&mut o.lane_crossbar);
        self.special_registers.early(&mut o.special_registers);
        self.address_unit.early(&mut o.address_unit);
        self.coalescer.early(&mut o.coalescer);
        self.line_table.early(&mut o.line_table);
        self.shared_memory.early(&mut o.shared_memory);
        self.constant_memory.early(&mut o.constant_memory);
        self.block_launcher.early(&mut o.block_launcher);
        self.barrier_unit.early(&mut o.barrier_unit);
        self.fault_unit.early(&mut o.fault_unit);
    }

    /// Fetch to issue, without the stack's answer.
    fn late_front(&mut self) {
        let o = &mut *self.outputs;
        let node = &mut self.decode;
        (node.inputs.op_i, node.inputs.ctl_i) = (o.fetch.decode_op_o, o.fetch.decode_ctl_o);
        node.late(&mut o.decode);

        let (node, buffer) = (&mut self.scoreboard, &o.instruction_buffer);
        node.inputs.head_valid_i = buffer.head_valid_o;
        node.inputs.head_roles_i = buffer.head_roles_o;
        node.late(&mut o.scoreboard);

        let node = &mut self.warp_scheduler;
        node.inputs.clear_i = o.scoreboard.clear_o;
        node.inputs.operand_i = o.scoreboard.operand_o;
        node.inputs.branch_i = o.scoreboard.branch_o;
        node.inputs.ready_i = o.operand_stage.issue_ready_o;
        node.inputs.stop_i = o.fault_unit.fault_o;
        node.inputs.start_valid_i = o.block_launcher.start_valid_o;
        node.inputs.start_warp_i = o.block_launcher.start_warp_o;
        node.inputs.alive_i = o.simt_stack.alive_o;
        node.late(&mut o.warp_scheduler);
    }

    /// The instructions that issue, and where their warps go on.
    fn late_issue(&mut self) {
        let o = &mut *self.outputs;
        let (node, buffer) = (&mut self.issue_stage, &o.instruction_buffer);
        node.inputs.issue_valid_i = o.warp_scheduler.issue_valid_o;
        node.inputs.issue_warp_i = o.warp_scheduler.issue_warp_o;
        node.inputs.head_pc_i = buffer.head_pc_o;
        node.inputs.head_op_i = buffer.head_op_o;
        node.inputs.head_ctl_i = buffer.head_ctl_o;
        node.inputs.head_roles_i = buffer.head_roles_o;
        node.inputs.mask_i = o.simt_stack.mask_o;
        node.inputs.live_i = o.simt_stack.live_o;
        node.late(&mut o.issue_stage);

        let node = &mut self.predicate_file;
        node.inputs.read_warp_i = o.warp_scheduler.issue_warp_o;
        node.inputs.read_guard_i = o.issue_stage.read_guard_o;
        node.inputs.read_s_i = o.issue_stage.read_s_o;
        node.inputs.read_t_i = o.issue_stage.read_t_o;
        node.late(&mut o.predicate_file);

        let node = &mut self.issue_stage;
        node.inputs.guard_i = o.predicate_file.guard_o;
        node.inputs.s_i = o.predicate_file.s_o;
        node.inputs.t_i = o.predicate_file.t_o;
        node.late(&mut o.issue_stage);

        let (node, issue) = (&mut self.simt_stack, &o.issue_stage);
        node.inputs.start_valid_i = o.block_launcher.start_valid_o;
        node.inputs.start_warp_i = o.block_launcher.start_warp_o;
        node.inputs.start_mask_i = o.block_launcher.start_mask_o;
        node.inputs.issue_valid_i = o.warp_scheduler.issue_valid_o;
        node.inputs.issue_warp_i = o.warp_scheduler.issue_warp_o;
        node.inputs.issue_pc_i = issue.pc_o;
        node.inputs.issue_kind_i = issue.kind_o;
        node.inputs.issue_stop_i = issue.stop_o;
        node.inputs.issue_mask_i = issue.exec_o;
        node.inputs.issue_target_i = issue.target_o;
        node.inputs.issue_join_i = issue.join_o;
        node.late(&mut o.simt_stack);

        let node = &mut self.fetch;
        node.inputs.start_valid_i = o.block_launcher.start_valid_o;
        node.inputs.start_warp_i = o.block_launcher.start_warp_o;
        node.inputs.resume_valid_i = o.simt_stack.resume_valid_o;
        node.inputs.resume_warp_i = o.simt_stack.resume_warp_o;
        node.inputs.resume_pc_i = o.simt_stack.resume_pc_o;
        node.inputs.room_i = o.instruction_buffer.room_o;
        node.inputs.held_i = o.barrier_unit.held_o;
        node.inputs.reconvergence_i = o.simt_stack.reconvergence_o;
        node.inputs.decode_stop_i = Roles(o.decode.roles_o).stop();
        node.late(&mut o.fetch);

        let node = &mut self.instruction_buffer;
        node.inputs.push_valid_i = o.fetch.decode_valid_o;
        node.inputs.push_warp_i = o.fetch.decode_warp_o;
        node.inputs.push_pc_i = o.fetch.decode_pc_o;
        node.inputs.push_op_i = o.fetch.decode_op_o;
        node.inputs.push_ctl_i = o.fetch.decode_ctl_o;
        node.inputs.push_roles_i = o.decode.roles_o;
        node.inputs.pop_i = o.warp_scheduler.pop_o;
        node.late(&mut o.instruction_buffer);
    }

    /// The pass of the memory pipeline: who is served, and whether it is the last.
    fn late_memory(&mut self, inputs: &SmIn) {
        let o = &mut *self.outputs;
        let (unit, room) = (&o.address_unit, o.side_queue.room_o);

        let node = &mut self.coalescer;
        node.inputs.valid_i = unit.global_valid_o;
        node.inputs.mem_req_ready_i = inputs.mem_req_ready_i;
        node.inputs.row_room_i = o.line_table.room_o;
        if unit.global_valid_o != 0 {
            node.inputs.local_i = unit.local_o;
            node.inputs.lanes_i = unit.lanes_o;
            node.inputs.warp_i = unit.warp_o;
            node.inputs.kind_i = unit.kind_o;
            node.inputs.size_i = unit.size_o;
            node.inputs.signed_i = unit.signed_o;
            node.inputs.atomic_i = unit.atomic_o;
            node.inputs.reg_valid_i = unit.reg_valid_o;
            node.inputs.reg_i = unit.reg_o;
            node.inputs.addr_i = unit.addr_o;
            node.inputs.store_i = unit.store_o;
            node.inputs.compare_i = unit.compare_o;
            node.inputs.local_words_i = o.block_launcher.local_words_o;
        }
        node.late(&mut o.coalescer);

        let node = &mut self.shared_memory;
        node.inputs.valid_i = unit.shared_valid_o;
        node.inputs.room_i = room;
        if unit.shared_valid_o != 0 {
            node.inputs.lanes_i = unit.lanes_o;
            node.inputs.warp_i = unit.warp_o;
            node.inputs.kind_i = unit.kind_o;
            node.inputs.size_i = unit.size_o;
            node.inputs.signed_i = unit.signed_o;
            node.inputs.atomic_i = unit.atomic_o;
            node.inputs.reg_valid_i = unit.reg_valid_o;
            node.inputs.reg_i = unit.reg_o;
            node.inputs.addr_i = unit.addr_o;
            node.inputs.store_i = unit.store_o;
            node.inputs.compare_i = unit.compare_o;
        }
        node.late(&mut o.shared_memory);

        let node = &mut self.constant_memory;
        node.inputs.valid_i = unit.constant_valid_o;
        node.inputs.room_i = room;
        if unit.constant_valid_o != 0 {
            node.inputs.lanes_i = unit.lanes_o;
            node.inputs.warp_i = unit.warp_o;
            node.inputs.size_i = unit.size_o;
            node.inputs.signed_i = unit.signed_o;
            node.inputs.reg_valid_i = unit.reg_valid_o;
            node.inputs.reg_i = unit.reg_o;
            node.inputs.addr_i = unit.addr_o;
        }
        node.late(&mut o.constant_memory);

        let node = &mut self.lane_crossbar;
        node.inputs.valid_i = unit.shuffle_valid_o;
        node.inputs.room_i = room;
        if unit.shuffle_valid_o != 0 {
            node.inputs.warp_i = unit.warp_o;
            node.inputs.lanes_i = unit.lanes_o;
            node.inputs.modifiers_i = unit.modifiers_o;
            node.inputs.value_i = unit.addr_o;
            node.inputs.choice_i = unit.compare_o;
            node.inputs.reg_valid_i = unit.reg_valid_o;
            node.inputs.reg_i = unit.reg_o;
            node.inputs.pred_valid_i = unit.pred_valid_o;
            node.inputs.pred_i = unit.pred_o;
        }
        node.late(&mut o.lane_crossbar);

        let node = &mut self.special_registers;
        node.inputs.valid_i = unit.special_valid_o;
        node.inputs.room_i = room;
        if unit.special_valid_o != 0 {
            node.inputs.warp_i = unit.warp_o;
            node.inputs.lanes_i = unit.lanes_o;
            node.inputs.source_i = (unit.modifiers_o & 0x1f) as u8;
            node.inputs.reg_valid_i = unit.reg_valid_o;
            node.inputs.reg_i = unit.reg_o;
        }
        node.late(&mut o.special_registers);

        let node = &mut self.address_unit;
        node.inputs.global_served_i = o.coalescer.served_o;
        node.inputs.shared_served_i = o.shared_memory.served_o;
        node.inputs.constant_served_i = o.constant_memory.served_o;
        node.inputs.shuffle_served_i = o.lane_crossbar.served_o;
        node.inputs.special_served_i = o.special_registers.served_o;
        node.late(&mut o.address_unit);

        let last = o.address_unit.last_o;
        self.shared_memory.inputs.last_i = last;
        self.constant_memory.inputs.last_i = last;
        self.coalescer.inputs.last_i = last;
        self.coalescer.late(&mut o.coalescer);
    }

    /// What leaves the operand stage, and what comes back to it.
    fn late_execute(&mut self) {
        let o = &mut *self.outputs;
        for p in 0..self.ports {
            self.alu[p].inputs.result_ready_i = o.alu_queue[p].ready_o;
            self.alu[p].late(&mut o.alu[p]);
        }

        let (node, operands) = (&mut self.dispatcher, &o.operand_stage);
        node.inputs.dispatch_valid_i = operands.dispatch_valid_o;
        node.inputs.dispatch_roles_i = operands.dispatch_roles_o;
        node.inputs.alu_ready_i = (0..self.ports).fold(0, |ready, p| ready | o.alu[p].ready_o << p);
        node.inputs.memory_ready_i = o.address_unit.in_ready_o;
        node.late(&mut o.dispatcher);

        for p in 0..self.ports {
            let node = &mut self.alu[p];
            node.inputs.valid_i = o.dispatcher.alu_valid_o >> p & 1;
            node.inputs.src_valid_i = operands.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
            if node.inputs.valid_i != 0 {
                node.inputs.warp_i = operands.dispatch_warp_o[p];
                node.inputs.mask_i = operands.dispatch_mask_o[p];
                node.inputs.op_i = operands.dispatch_op_o[p];
                node.inputs.ctl_i = operands.dispatch_ctl_o[p];
                node.inputs.roles_i = operands.dispatch_roles_o[p];
                node.inputs.s_i = operands.dispatch_s_o[p];
                node.inputs.t_i = operands.dispatch_t_o[p];
                node.inputs.data_i.copy_from_slice(&operands.dispatch_data_o[OPERANDS * p..][..OPERANDS]);
            }
            node.late(&mut o.alu[p]);

            let (node, alu) = (&mut self.alu_queue[p], &o.alu[p]);
            node.inputs.push_valid_i = alu.result_valid_o & o.alu_queue[p].ready_o;
            node.inputs.push_reg_valid_i = alu.result_reg_valid_o;
            node.inputs.push_pred_valid_i = alu.result_pred_valid_o;
            node.inputs.push_done_i = 1;
            if node.inputs.push_valid_i != 0 {
                node.inputs.push_warp_i[0] = alu.result_warp_o;
                node.inputs.push_mask_i[0] = alu.result_mask_o;
                node.inputs.push_reg_i[0] = alu.result_reg_o;
                node.inputs.push_data_i[0] = alu.result_data_o;
                node.inputs.push_pred_i[0] = alu.result_pred_o;
                node.inputs.push_pred_data_i[0] = alu.result_pred_data_o;
            }
        }

        let node = &mut self.address_unit;
        node.inputs.in_valid_i = o.dispatcher.memory_valid_o;
        node.inputs.in_port_i = o.dispatcher.memory_port_o;
        node.inputs.shared_bytes_i = o.block_launcher.shared_bytes_o;
        node.inputs.local_words_i = o.block_launcher.local_words_o;
        if o.dispatcher.memory_valid_o != 0 {
            node.inputs.in_warp_i = operands.dispatch_warp_o;
            node.inputs.in_mask_i = operands.dispatch_mask_o;
            node.inputs.in_op_i = operands.dispatch_op_o;
            node.inputs.in_ctl_i = operands.dispatch_ctl_o;
            node.inputs.in_roles_i = operands.dispatch_roles_o;
            node.inputs.in_src_valid_i = operands.dispatch_src_valid_o;
            node.inputs.in_data_i = operands.dispatch_data_o;
        }
        node.late(&mut o.address_unit);

        let node = &mut self.block_launcher;
        node.inputs.alive_i = o.simt_stack.alive_o;
        node.inputs.idle_i = o.scoreboard.idle_o;
        node.inputs.memory_idle_i = o.coalescer.mem_req_valid_o ^ 1;
        node.inputs.place_warp_i = o.address_unit.place_warp_o;
        node.inputs.block_warp_i = o.address_unit.warp_o;
        node.late(&mut o.block_launcher);
        self.address_unit.inputs.place_base_i = o.block_launcher.place_base_o;

        let (node, launcher) = (&mut self.special_registers, &o.block_launcher);
        node.inputs.index_i = launcher.block_index_o;
        node.inputs.ctaid_x_i = launcher.block_x_o;
        node.inputs.ctaid_y_i = launcher.block_y_o;
        node.inputs.ctaid_z_i = launcher.block_z_o;
        node.inputs.ntid_x_i = launcher.ntid_x_o;
        node.inputs.ntid_y_i = launcher.ntid_y_o;
        node.inputs.ntid_z_i = launcher.ntid_z_o;
        node.inputs.nctaid_x_i = launcher.nctaid_x_o;
        node.inputs.nctaid_y_i = launcher.nctaid_y_o;
        node.inputs.nctaid_z_i = launcher.nctaid_z_o;
        node.inputs.dynamic_shared_i = launcher.dynamic_o;
        node.inputs.tid_we_i = launcher.tid_we_o;
        node.inputs.tid_index_i = launcher.tid_index_o;
        node.inputs.tid_group_i = launcher.tid_group_o;
        node.inputs.tid_data_i = launcher.tid_data_o;

        self.late_side_queue();
    }

    /// The side queue's sources, in order.
    fn late_side_queue(&mut self) {
        let o = &mut *self.outputs;
        let node = &mut self.side_queue;
        let (shared, constant, crossbar, special) =
            (&o.shared_memory, &o.constant_memory, &o.lane_crossbar, &o.special_registers);
        node.inputs.push_valid_i = shared.result_valid_o
            | constant.result_valid_o << 1
            | crossbar.result_valid_o << 2
            | special.result_valid_o << 3;
        node.inputs.push_reg_valid_i = shared.result_reg_valid_o
            | constant.result_reg_valid_o << 1
            | crossbar.result_reg_valid_o << 2
            | special.result_reg_valid_o << 3;
        node.inputs.push_pred_valid_i = crossbar.result_pred_valid_o << 2;
        node.inputs.push_done_i = shared.result_done_o | constant.result_done_o << 1 | 0b1100;
        node.inputs.push_warp_i =
            [shared.result_warp_o, constant.result_warp_o, crossbar.result_warp_o, special.result_warp_o];
        node.inputs.push_mask_i =
            [shared.result_mask_o, constant.result_mask_o, crossbar.result_mask_o, special.result_mask_o];
        node.inputs.push_reg_i =
            [shared.result_reg_o, constant.result_reg_o, crossbar.result_reg_o, special.result_reg_o];
        let data = [&shared.result_data_o, &constant.result_data_o, &crossbar.result_data_o, &special.result_data_o];
        for (k, data) in data.into_iter().enumerate() {
            if node.inputs.push_reg_valid_i >> k & 1 == 1 {
                node.inputs.push_data_i[k] = *data;
            }
        }
        node.inputs.push_pred_i = [NO_PRED, NO_PRED, crossbar.result_pred_o, NO_PRED];
        node.inputs.push_pred_data_i[2] = crossbar.result_pred_data_o;
        node.late(&mut o.side_queue);
        for p in 0..self.ports {
            self.alu_queue[p].late(&mut o.alu_queue[p]);
        }
    }

    /// Results, and everybody who learns of them.
    fn late_results(&mut self) {
        let o = &mut *self.outputs;
        let node = &mut self.writeback;
        let gather = |bit: fn(&<ResultQueue as Block>::Out) -> u8| {
            (0..self.ports).fold(0, |all, p| all | bit(&o.alu_queue[p]) << p)
        };
        node.inputs.alu_valid_i = gather(|q| q.head_valid_o);
        node.inputs.alu_done_i = gather(|q| q.head_done_o);
        node.inputs.alu_reg_valid_i = gather(|q| q.head_reg_valid_o);
        node.inputs.alu_pred_valid_i = gather(|q| q.head_pred_valid_o);
        for p in 0..self.ports {
            let queue = &o.alu_queue[p];
            node.inputs.alu_warp_i[p] = queue.head_warp_o;
            node.inputs.alu_mask_i[p] = queue.head_mask_o;
            node.inputs.alu_reg_i[p] = queue.head_reg_o;
            node.inputs.alu_pred_i[p] = queue.head_pred_o;
            node.inputs.alu_pred_data_i[p] = queue.head_pred_data_o;
            if queue.head_reg_valid_o != 0 {
                node.inputs.alu_data_i[p] = queue.head_data_o;
            }
        }
        let queue = &o.side_queue;
        node.inputs.side_valid_i = queue.head_valid_o;
        node.inputs.side_warp_i = queue.head_warp_o;
        node.inputs.side_mask_i = queue.head_mask_o;
        node.inputs.side_done_i = queue.head_done_o;
        node.inputs.side_reg_valid_i = queue.head_reg_valid_o;
        node.inputs.side_reg_i = queue.head_reg_o;
        node.inputs.side_pred_valid_i = queue.head_pred_valid_o;
        node.inputs.side_pred_i = queue.head_pred_o;
        node.inputs.side_pred_data_i = queue.head_pred_data_o;
        if queue.head_reg_valid_o != 0 {
            node.inputs.side_data_i = queue.head_data_o;
        }
        let table = &o.line_table;
        node.inputs.memory_valid_i = table.result_valid_o;
        node.inputs.memory_warp_i = table.result_warp_o;
        node.inputs.memory_mask_i = table.result_mask_o;
        node.inputs.memory_done_i = table.result_done_o;
        node.inputs.memory_reg_valid_i = table.result_reg_valid_o;
        node.inputs.memory_reg_i = table.result_reg_o;
        if table.result_reg_valid_o != 0 {
            node.inputs.memory_data_i = table.result_data_o;
        }
        node.inputs.write_ready_i = o.operand_stage.write_ready_o;
        node.inputs.write_done_i = o.operand_stage.write_done_o;
        node.inputs.write_done_warp_i = o.operand_stage.write_done_warp_o;
        node.inputs.write_done_reg_i = o.operand_stage.write_done_reg_o;
        node.late(&mut o.writeback);

        for p in 0..self.ports {
            self.alu_queue[p].inputs.pop_i = o.writeback.alu_pop_o >> p & 1;
        }
        self.side_queue.inputs.pop_i = o.writeback.side_pop_o;

        let (node, results) = (&mut self.predicate_file, &o.writeback);
        node.inputs.write_valid_i = results.pred_valid_o;
        node.inputs.write_warp_i = results.pred_warp_o;
        node.inputs.write_pred_i = results.pred_o;
        node.inputs.write_mask_i = results.pred_mask_o;
        node.inputs.write_data_i = results.pred_data_o;

        let (node, issue) = (&mut self.barrier_unit, &o.issue_stage);
        node.inputs.hold_valid_i = issue.hold_valid_o;
        node.inputs.hold_warp_i = issue.warp_o;
        node.inputs.arrive_valid_i = o.dispatcher.barrier_valid_o;
        node.inputs.arrive_port_i = o.dispatcher.barrier_port_o;
        if o.dispatcher.barrier_valid_o != 0 {
            node.inputs.arrive_warp_i = o.operand_stage.dispatch_warp_o;
            node.inputs.arrive_mask_i = o.operand_stage.dispatch_mask_o;
            node.inputs.arrive_op_i = o.operand_stage.dispatch_op_o;
            node.inputs.arrive_roles_i = o.operand_stage.dispatch_roles_o;
            node.inputs.arrive_src_valid_i = o.operand_stage.dispatch_src_valid_o;
            node.inputs.arrive_data_i = o.operand_stage.dispatch_data_o;
        }
        node.inputs.alive_i = o.simt_stack.alive_o;
        node.inputs.slot_i = o.block_launcher.slot_o;
        node.inputs.start_valid_i = o.block_launcher.start_valid_o;
        node.inputs.start_warp_i = o.block_launcher.start_warp_o;
        node.late(&mut o.barrier_unit);

        let node = &mut self.scoreboard;
        node.inputs.set_valid_i = issue.operand_valid_o;
        node.inputs.set_warp_i = issue.warp_o;
        node.inputs.set_d_i = issue.roles_o.map(|roles| Roles(roles).d());
        node.inputs.set_p_i = issue.roles_o.map(|roles| Roles(roles).p());
        node.inputs.reg_valid_i = results.reg_valid_o;
        node.inputs.reg_warp_i = results.reg_warp_o;
        node.inputs.reg_i = results.reg_o;
        node.inputs.pred_valid_i = results.pred_valid_o;
        node.inputs.pred_warp_i = results.pred_warp_o;
        node.inputs.pred_i = results.pred_o;
        let (first, second) = (2 * self.ports, 2 * self.ports + 1);
        node.inputs.finish_valid_i =
            results.finish_valid_o | o.address_unit.finish_valid_o << first | o.barrier_unit.finish_valid_o << second;
        node.inputs.finish_warp_i[..first].copy_from_slice(&results.finish_warp_o[..first]);
        node.inputs.finish_warp_i[first] = o.address_unit.finish_warp_o;
        node.inputs.finish_warp_i[second] = o.barrier_unit.finish_warp_o;
    }

    /// The operand stage, the line table, and the faults of the cycle.
    fn late_rest(&mut self, inputs: &SmIn) {
        let o = &mut *self.outputs;
        let (node, issue) = (&mut self.operand_stage, &o.issue_stage);
        node.inputs.rows_i = o.block_launcher.rows_o;
        node.inputs.issue_valid_i = issue.operand_valid_o;
        node.inputs.issue_warp_i = issue.warp_o;
        node.inputs.issue_mask_i = issue.exec_o;
        node.inputs.issue_pc_i = issue.pc_o;
        node.inputs.issue_op_i = issue.op_o;
        node.inputs.issue_ctl_i = issue.ctl_o;
        node.inputs.issue_roles_i = issue.roles_o;
        node.inputs.issue_s_i = issue.s_o;
        node.inputs.issue_t_i = issue.t_o;
        node.inputs.write_valid_i = o.writeback.write_valid_o;
        node.inputs.write_warp_i = o.writeback.write_warp_o;
        node.inputs.write_reg_i = o.writeback.write_reg_o;
        node.inputs.write_mask_i = o.writeback.write_mask_o;
        for p in 0..self.ports {
            if o.writeback.write_valid_o >> p & 1 == 1 {
                node.inputs.write_data_i[p] = o.writeback.write_data_o[p];
            }
        }
        node.inputs.dispatch_ready_i = o.dispatcher.dispatch_ready_o;
        node.late(&mut o.operand_stage);

        let (node, row) = (&mut self.line_table, &o.coalescer);
        node.inputs.row_valid_i = row.row_valid_o;
        if row.row_valid_o != 0 {
            node.inputs.row_warp_i = row.row_warp_o;
            node.inputs.row_mask_i = row.row_mask_o;
            node.inputs.row_reg_valid_i = row.row_reg_valid_o;
            node.inputs.row_reg_i = row.row_reg_o;
            node.inputs.row_size_i = row.row_size_o;
            node.inputs.row_signed_i = row.row_signed_o;
            node.inputs.row_lanewise_i = row.row_lanewise_o;
            node.inputs.row_done_i = row.row_done_o;
            node.inputs.row_offset_i = row.row_offset_o;
        }
        node.inputs.mem_rsp_valid_i = inputs.mem_rsp_valid_i;
        if inputs.mem_rsp_valid_i != 0 {
            node.inputs.mem_rsp_data_i = inputs.mem_rsp_data_i;
            node.inputs.mem_rsp_fault_i = inputs.mem_rsp_fault_i;
        }
        node.inputs.pop_i = o.writeback.memory_pop_o;
        node.late(&mut o.line_table);

        let node = &mut self.fault_unit;
        let ports = self.ports;
        let sources = &mut node.inputs;
        sources.valid_i = issue.fault_valid_o;
        for p in 0..ports {
            sources.warp_i[p] = issue.warp_o[p];
            sources.cause_i[p] = issue.fault_cause_o[p];
            sources.value_i[p] = issue.fault_value_o[p];
        }
        for p in 0..ports {
            sources.valid_i |= o.alu[p].fault_valid_o << (ports + p);
            sources.warp_i[ports + p] = o.alu[p].fault_warp_o;
            sources.cause_i[ports + p] = cause::WARP_DIVERGENCE;
            sources.value_i[ports + p] = o.alu[p].fault_value_o;
        }
        let (unit, barriers) = (&o.address_unit, &o.barrier_unit);
        let others = [
            (unit.fault_valid_o, unit.fault_warp_o, unit.fault_cause_o, unit.fault_value_o),
            (o.line_table.fault_valid_o, o.line_table.fault_warp_o, cause::NO_SUCH_PLACE, 0),
            (barriers.fault_valid_o, barriers.fault_warp_o, cause::BARRIER_COUNT, barriers.fault_value_o),
            (o.block_launcher.fault_valid_o, 0, cause::DOES_NOT_FIT, 0),
        ];
        for (k, (valid, warp, cause, value)) in (2 * ports..).zip(others) {
            sources.valid_i |= valid << k;
            (sources.warp_i[k], sources.cause_i[k], sources.value_i[k]) = (warp, cause, value);
        }
        node.late(&mut o.fault_unit);
    }

    /// The SM's own inputs, handed down.
    fn late_inputs(&mut self, inputs: &SmIn) {
        let (reset, cfg) = (inputs.rst_ni, inputs.cfg_i);
        self.fetch.inputs.rst_ni = reset;
        self.instruction_buffer.inputs.rst_ni = reset;
        self.scoreboard.inputs.rst_ni = reset;
        self.warp_scheduler.inputs.rst_ni = reset;
        self.predicate_file.inputs.rst_ni = reset;
        self.simt_stack.inputs.rst_ni = reset;
        self.operand_stage.inputs.rst_ni = reset;
        self.dispatcher.inputs.rst_ni = reset;
        for p in 0..self.ports {
            self.alu[p].inputs.rst_ni = reset;
            self.alu_queue[p].inputs.rst_ni = reset;
            self.alu_queue[p].inputs.cfg_i = (cfg >> 2 & 0x3f) as u8;
        }
        self.side_queue.inputs.rst_ni = reset;
        self.writeback.inputs.rst_ni = reset;
        self.lane_crossbar.inputs.rst_ni = reset;
        self.special_registers.inputs.rst_ni = reset;
        self.address_unit.inputs.rst_ni = reset;
        self.coalescer.inputs.rst_ni = reset;
        self.line_table.inputs.rst_ni = reset;
        self.shared_memory.inputs.rst_ni = reset;
        self.constant_memory.inputs.rst_ni = reset;
        self.block_launcher.inputs.rst_ni = reset;
        self.barrier_unit.inputs.rst_ni = reset;
        self.fault_unit.inputs.rst_ni = reset;

        self.operand_stage.inputs.cfg_i = (cfg & 1) as u8;
        self.warp_scheduler.inputs.cfg_i = (cfg >> 1 & 1) as u8;
        self.side_queue.inputs.cfg_i = (cfg >> 8 & 0x3f) as u8;
        self.shared_memory.inputs.cfg_i = (cfg >> 14) as u8;

        let code = &mut self.fetch.inputs;
        code.code_we_i = inputs.code_we_i;
        (code.code_addr_i, code.code_op_i, code.code_ctl_i) = (inputs.code_addr_i, inputs.code_op_i, inputs.code_ctl_i);
        let constants = &mut self.constant_memory.inputs;
        constants.const_we_i = inputs.const_we_i;
        (constants.const_addr_i, constants.const_data_i) = (inputs.const_addr_i, inputs.const_data_i);
        let launch = &mut self.block_launcher.inputs;
        launch.launch_valid_i = inputs.launch_valid_i;
        if inputs.launch_valid_i != 0 {
            launch.launch_grid_x_i = inputs.launch_grid_x_i;
            launch.launch_grid_y_i = inputs.launch_grid_y_i;
            launch.launch_grid_z_i = inputs.launch_grid_z_i;
            launch.launch_block_x_i = inputs.launch_block_x_i;
            launch.launch_block_y_i = inputs.launch_block_y_i;
            launch.launch_block_z_i = inputs.launch_block_z_i;
            launch.launch_threads_i = inputs.launch_threads_i;
            launch.launch_registers_i = inputs.launch_registers_i;
            launch.launch_shared_i = inputs.launch_shared_i;
            launch.launch_dynamic_i = inputs.launch_dynamic_i;
            launch.launch_local_i = inputs.launch_local_i;
        }
    }

    /// Why port p issues nothing, as an index into the stall fields of the event word.
    fn stall(&self, p: usize) -> usize {
        let o = &*self.outputs;
        let every = u64::MAX / if self.ports == 1 { 1 } else { 3 };
        let own = every << p & (u64::MAX >> (64 - self.warps));
        let alive = own & o.simt_stack.alive_o;
        let there = alive & !o.barrier_unit.held_o;
        let clear = there & o.scoreboard.clear_o;
        let full = o.operand_stage.issue_ready_o >> p & 1 == 0;
        let causes = [
            alive == 0,
            there == 0,
            there & o.instruction_buffer.head_valid_o == 0,
            clear == 0,
            clear & !o.scoreboard.operand_o == 0 && full,
        ];
        causes.iter().position(|&holds| holds).unwrap_or(causes.len())
    }

    /// The event word.
    fn events(&self, inputs: &SmIn) -> u64 {
        let o = &*self.outputs;
        let mut stalls = [0; 6];
        let mut lanes = 0;
        for p in 0..self.ports {
            if o.warp_scheduler.issue_valid_o >> p & 1 == 1 {
                lanes += o.issue_stage.exec_o[p].count_ones();
            } else {
                stalls[self.stall(p)] += 1;
            }
        }
        let taken = (0..self.ports).filter(|&p| o.dispatcher.alu_valid_o >> p & o.alu[p].ready_o & 1 == 1).count();
        let alu_waits =
            (0..self.ports).filter(|&p| o.alu_queue[p].head_valid_o > (o.writeback.alu_pop_o >> p & 1)).count();
        let waits = alu_waits as u64
            + u64::from(o.side_queue.head_valid_o > o.writeback.side_pop_o)
            + u64::from(o.line_table.result_valid_o > o.writeback.memory_pop_o);
        let (lines, shared, constant) = (o.coalescer.served_o, o.shared_memory.served_o, o.constant_memory.served_o);
        let left = |served: u32| u64::from(served != 0 && served != o.address_unit.lanes_o);
        let values: [u64; 26] = [
            o.fetch.decode_valid_o.into(),
            o.warp_scheduler.issue_valid_o.count_ones().into(),
            lanes.into(),
            stalls[0],
            stalls[1],
            stalls[2],
            stalls[3],
            stalls[4],
            stalls[5],
            taken as u64,
            (o.dispatcher.memory_valid_o & o.address_unit.in_ready_o).into(),
            o.dispatcher.barrier_valid_o.into(),
            (o.barrier_unit.open_o != 0).into(),
            (lines != 0).into(),
            lines.count_ones().into(),
            (o.address_unit.global_valid_o != 0 && lines == 0).into(),
            (shared != 0).into(),
            shared.count_ones().into(),
            left(shared),
            (constant != 0).into(),
            left(constant),
            (o.lane_crossbar.served_o != 0).into(),
            (o.special_registers.served_o != 0).into(),
            waits,
            o.block_launcher.start_valid_o.into(),
            (inputs.mem_rsp_valid_i & o.line_table.mem_rsp_ready_o).into(),
        ];
        SM_EVENT.iter().zip(values).fold(0, |word, (&(_, bits), value)| word << bits | value)
    }
}

impl Block for Sm {
    const NAME: &'static str = "sm";
    const PARAMETERS: &'static [&'static str] = &[
        "Warps",
        "CodeWords",
        "ConstWords",
        "SharedWords",
        "Rows",
        "Banks",
        "DualPort",
        "Collectors",
        "IssuePorts",
        "Depth",
    ];
    const CHILDREN: &'static [&'static str] = &[
        Fetch::NAME,
        Decoder::NAME,
        InstructionBuffer::NAME,
        Scoreboard::NAME,
        WarpScheduler::NAME,
        IssueStage::NAME,
        PredicateFile::NAME,
        SimtStack::NAME,
        Coalescer::NAME,
        SharedMemory::NAME,
        ConstantMemory::NAME,
        LaneCrossbar::NAME,
        SpecialRegisters::NAME,
        AddressUnit::NAME,
        Alu::NAME,
        Dispatcher::NAME,
        BlockLauncher::NAME,
        ResultQueue::NAME,
        Writeback::NAME,
        LineTable::NAME,
        BarrierUnit::NAME,
        MrfBankMap::NAME,
        MrfWriteQueue::NAME,
        MrfCollector::NAME,
        MrfAllocator::NAME,
        MrfArbiter::NAME,
        MrfBank::NAME,
        MrfCrossbar::NAME,
        Mrf::NAME,
        OperandStage::NAME,
        FaultUnit::NAME,
    ];

    type Shape = SmShape;
    type In = SmIn;
    type Out = SmOut;
    type Probe = SmProbe;

    fn new(shape: &SmShape) -> Self {
        let alu_queue = shape.with_queue(ALU_QUEUE_DEPTH, 1);
        let mut sm = Self {
            ports: shape.ports(),
            warps: shape.warps,
            fetch: Node::new(shape),
            decode: Node::new(shape),
            instruction_buffer: Node::new(shape),
            scoreboard: Node::new(shape),
            warp_scheduler: Node::new(shape),
            issue_stage: Node::new(shape),
            predicate_file: Node::new(shape),
            simt_stack: Node::new(shape),
            operand_stage: Node::new(shape),
            dispatcher: Node::new(shape),
            alu: (0..shape.ports()).map(|_| Node::new(shape)).collect(),
            alu_queue: (0..shape.ports()).map(|_| Node::new(&alu_queue)).collect(),
            side_queue: Node::new(&shape.with_queue(SIDE_QUEUE_DEPTH, SIDE_SOURCES)),
            writeback: Node::new(shape),
            lane_crossbar: Node::new(shape),
            special_registers: Node::new(shape),
            address_unit: Node::new(shape),
            coalescer: Node::new(shape),
            line_table: Node::new(shape),
            shared_memory: Node::new(shape),
            constant_memory: Node::new(shape),
            block_launcher: Node::new(shape),
            barrier_unit: Node::new(shape),
            fault_unit: Node::new(&shape.with_queue(0, shape.fault_sources())),
            outputs: Box::new(Outputs::zeroed()),
        };
        sm.settle();
        sm
    }

    fn early(&self, out: &mut SmOut) {
        let o = &*self.outputs;
        out.busy_o = o.block_launcher.busy_o;
        out.done_o = o.block_launcher.done_o;
        out.fault_o = o.fault_unit.fault_o;
        out.fault_warp_o = o.fault_unit.fault_warp_o;
        out.fault_cause_o = o.fault_unit.fault_cause_o;
        out.fault_value_o = o.fault_unit.fault_value_o;
        out.mem_rsp_ready_o = o.line_table.mem_rsp_ready_o;
        let request = &o.coalescer;
        out.mem_req_valid_o = request.mem_req_valid_o;
        out.mem_req_kind_o = request.mem_req_kind_o;
        out.mem_req_atomic_o = request.mem_req_atomic_o;
        out.mem_req_size_o = request.mem_req_size_o;
        out.mem_req_answer_o = request.mem_req_answer_o;
        out.mem_req_line_o = request.mem_req_line_o;
        out.mem_req_mask_o = request.mem_req_mask_o;
        out.mem_req_warp_o = request.mem_req_warp_o;
        out.mem_req_offset_o = request.mem_req_offset_o;
        if request.mem_req_valid_o != 0 {
            out.mem_req_data_o = request.mem_req_data_o;
            out.mem_req_compare_o = request.mem_req_compare_o;
        }
    }

    fn late(&mut self, inputs: &SmIn, out: &mut SmOut) {
        self.late_inputs(inputs);
        self.late_front();
        self.late_issue();
        self.late_memory(inputs);
        self.late_execute();
        self.late_results();
        self.late_rest(inputs);
        out.event_o = self.events(inputs);
        out.mrf_event_o = self.outputs.operand_stage.event_o;
    }

    fn clock(&mut self, _: &SmIn, _: &SmOut) {
        let o = &*self.outputs;
        self.fetch.clock(&o.fetch);
        self.instruction_buffer.clock(&o.instruction_buffer);
        self.scoreboard.clock(&o.scoreboard);
        self.warp_scheduler.clock(&o.warp_scheduler);
        self.predicate_file.clock(&o.predicate_file);
        self.simt_stack.clock(&o.simt_stack);
        self.operand_stage.clock(&o.operand_stage);
        self.dispatcher.clock(&o.dispatcher);
        for p in 0..self.ports {
            self.alu[p].clock(&o.alu[p]);
            self.alu_queue[p].clock(&o.alu_queue[p]);
        }
        self.side_queue.clock(&o.side_queue);
        self.writeback.clock(&o.writeback);
        self.lane_crossbar.clock(&o.lane_crossbar);
        self.special_registers.clock(&o.special_registers);
        self.address_unit.clock(&o.address_unit);
        self.coalescer.clock(&o.coalescer);
        self.line_table.clock(&o.line_table);
        self.shared_memory.clock(&o.shared_memory);
        self.constant_memory.clock(&o.constant_memory);
        self.block_launcher.clock(&o.block_launcher);
        self.barrier_unit.clock(&o.barrier_unit);
        self.fault_unit.clock(&o.fault_unit);
        self.settle();
    }

    fn probe(&self, _: &SmIn, _: &SmOut, probe: &mut SmProbe) {
        let o = &*self.outputs;
        probe.outputs = *o;
        let states = &mut probe.states;
        macro_rules! probe_each {
            ($($name:ident)+) => {
                $(self.$name.block.probe(&self.$name.inputs, &o.$name, &mut states.$name);)+
            };
        }
        probe_each! {
            fetch decode instruction_buffer scoreboard warp_scheduler issue_stage predicate_file simt_stack operand_stage dispatcher
            side_queue writeback lane_crossbar special_registers address_unit coalescer line_table shared_memory
            constant_memory block_launcher barrier_unit fault_unit
        }
        for p in 0..self.ports {
            self.alu[p].block.probe(&self.alu[p].inputs, &o.alu[p], &mut states.alu[p]);
            let queue = &self.alu_queue[p];
            queue.block.probe(&queue.inputs, &o.alu_queue[p], &mut states.alu_queue[p]);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        macro_rules! add_each {
            ($($name:ident)+) => {
                $(add(&mut all, concat!("u_", stringify!($name)), self.$name.block.memories());)+
            };
        }
        add_each! {
            fetch instruction_buffer predicate_file simt_stack operand_stage side_queue special_registers line_table
            shared_memory constant_memory
        }
        for (p, queue) in self.alu_queue.iter_mut().enumerate() {
            add(&mut all, &format!("gen_port[{p}].u_alu_queue"), queue.block.memories());
        }
        all
    }
}

/// Adds the memories of the block at `instance`.
fn add<'a>(all: &mut Vec<Memory<'a>>, instance: &str, memories: Vec<Memory<'a>>) {
    all.extend(memories.into_iter().map(|m| Memory { path: format!("{instance}.{}", m.path), ..m }));
}

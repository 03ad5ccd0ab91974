// The hybrid register file.
//
// The main register file is STT-RAM in two banks, that of the even and that of the odd warps; each
// has a write buffer of SRAM (hybrid paper, 4.2 to 4.4). One warp is active. Its results go into the
// buffer of its parity: the same register always into the same entry. Operands are looked up there
// first, and lanes that miss are read from the warp's bank. When the warp gives up its turn, its buffer is written to
// its bank entry by entry, while the next warp, of the other parity, fills the other buffer. Without
// buffers every result goes into its bank, and the pipeline stalls during the write.
//
//   cycle t    an instruction or a result is accepted
//   t+1        RCM is looked up; buffer and bank are read; the result is written to its buffer
//   t+2        the multiplexer picks lane by lane
//   t+3        the instruction is offered for dispatch
//
// Values reach a bank in the order of their arrival, from its queue and its buffer, and
// writes have priority over reads. So no search is ever needed for a register that is still to be written.
`include "gpurf_assert.svh"

module hrf
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 8,
  parameter int unsigned Depth = 512,
  parameter int unsigned TagW = 32,
  parameter int unsigned BufferEntries = 64,
  parameter int unsigned Loads = 8,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned CfgW = 17
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Power gating, read and write latency of a bank. Without buffers nothing is gated.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [CfgW-1:0]     cfg_i,
  // verilator lint_on UNUSEDSIGNAL

  // issue
  input  logic                issue_valid_i,
  output logic                issue_ready_o,
  input  logic [WarpW-1:0]    issue_warp_i,
  input  logic [EntryW-1:0]   issue_base_i,
  input  logic [Lanes-1:0]    issue_mask_i,
  input  logic [TagW-1:0]     issue_tag_i,
  input  logic [Operands-1:0] issue_src_valid_i,
  input  logic [RegW-1:0]     issue_src_reg_i [Operands],

  // results
  input  logic                write_valid_i,
  output logic                write_ready_o,
  input  write_t              write_i,
  input  logic [EntryW-1:0]   write_base_i,
  input  logic [DataW-1:0]    write_data_i,

  // results that reach their destination at this edge, for the scoreboard
  output logic                write_done_o,
  output written_t            written_o,

  // dispatch
  output logic                dispatch_valid_o,
  input  logic                dispatch_ready_i,
  output logic [WarpW-1:0]    dispatch_warp_o,
  output logic [Lanes-1:0]    dispatch_mask_o,
  output logic [TagW-1:0]     dispatch_tag_o,
  output logic [Operands-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]    dispatch_data_o [Operands],

  // slots of the scheduler. Without buffers only flush_i has an effect.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Parities-1:0] slot_valid_i,
  input  logic [WarpW-1:0]    slot_warp_i     [Parities],
  input  logic [EntryW-1:0]   slot_base_i     [Parities],
  input  logic [Parities-1:0] flush_i,
  input  logic [Parities-1:0] drop_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic [Parities-1:0] flush_done_o,

  output hrf_event_t          event_o,
  output hrf_count_event_t    count_event_o,
  output mrf_event_t          mrf_event_o
);

  localparam int unsigned Slots = Operands * Collectors;
  localparam int unsigned ColW = $clog2(Collectors);
  localparam int unsigned SlotW = $clog2(Slots);
  localparam int unsigned IndexW = (BufferEntries > 0) ? $clog2(BufferEntries) : 1;
  localparam int unsigned UsedW = (BufferEntries > 0) ? $clog2(BufferEntries + 1) : 1;
  localparam int unsigned Looks = Operands + 1;
  localparam int unsigned BankCfgW = 6;
  localparam int unsigned InnerTagW = TagW + EntryW;  // base and tag

  // ------------------------------------------------------------------ nets, grouped by the block that drives them
  // Without buffers many of these nets are unused, and are declared only for their names.
  // verilator lint_off UNUSEDSIGNAL
  logic [Collectors-1:0] alloc_valid;
  logic [Collectors-1:0] alloc_port;       // not read: there is one issue port
  logic [Collectors-1:0] free;
  logic [Collectors-1:0] older             [Collectors];
  logic                  issue_ready;
  logic                  dispatch_valid;
  logic [ColW-1:0]       dispatch_col      [1];

  logic [Collectors-1:0] busy;
  logic [Collectors-1:0] complete;
  logic [Slots-1:0]      req_valid;
  logic [RegW-1:0]       req_reg           [Slots];
  logic [GroupsW-1:0]    req_groups        [Collectors];  // req_groups, req_bank: follow from lanes and warp
  logic [0:0]            req_bank          [Slots];
  logic [Slots-1:0]      fill;
  logic [Slots-1:0]      col_src_valid;
  logic [WarpW-1:0]      col_warp          [Collectors];
  logic [Lanes-1:0]      col_mask          [Collectors];
  logic [InnerTagW-1:0]  col_tag           [Collectors];
  logic [EntryW-1:0]     col_base          [Collectors];

  logic [RcmRegW-1:0]    reads_look_reg    [Operands];
  logic                  reads_bank;
  logic [Slots-1:0]      grant;
  logic [Parities-1:0]   reads_stt_valid;
  logic [EntryW-1:0]     reads_stt_entry;
  logic [Operands-1:0]   reads_buffer;
  logic [1:0]            reads_port        [Operands];
  logic [Lanes-1:0]      reads_take        [Operands];
  hrf_reads_event_t      reads_event;

  logic [Looks-1:0]      rcm_hit;
  logic [IndexW-1:0]     rcm_index         [Looks];

  logic [Lanes-1:0]      look_lanes        [Operands];
  logic [UsedW-1:0]      buffer_used       [Parities];
  logic [DataW-1:0]      buffer_data       [Parities*Operands];

  logic [Parities-1:0]   drain_begin;
  logic [Parities-1:0]   drain_read;
  logic [Parities-1:0]   drain_valid;
  logic [Parities-1:0]   drain_empty;
  logic [Parities-1:0]   drain_done;
  logic [IndexW-1:0]     drain_index       [Parities];
  logic [RcmRegW-1:0]    drain_reg         [Parities];
  logic [Lanes-1:0]      drain_lanes       [Parities];

  logic [Parities-1:0]   loads_room;
  logic [Parities-1:0]   loads_valid;
  logic [Parities-1:0]   loads_old;
  logic [EntryW-1:0]     loads_entry       [Parities];
  logic [Lanes-1:0]      loads_mask        [Parities];
  logic [DataW-1:0]      loads_data        [Parities];

  logic [Parities-1:0]   power_closed;
  logic [Parities-1:0]   power_wake;
  logic [Parities-1:0]   power_sleep;
  logic [1:0]            power_state       [Parities];

  logic [Parities-1:0]   results_need;
  logic [Parities-1:0]   results_buffer_valid;
  logic                  results_new;
  logic [IndexW-1:0]     results_index;
  logic [Parities-1:0]   results_push_valid;
  logic [Parities-1:0]   results_direct_valid;
  logic                  results_valid;
  logic [RegW-1:0]       results_reg;
  logic [EntryW-1:0]     results_entry;
  logic [Lanes-1:0]      results_mask;
  logic [DataW-1:0]      results_data;

  logic [Parities-1:0]   bank_read_ready;
  logic [Parities-1:0]   bank_write_ready;
  logic [Parities-1:0]   bank_writing;
  logic [Parities-1:0]   bank_read_data_valid;
  logic [DataW-1:0]      bank_read_data    [Parities];

  logic                  frozen;
  logic [Parities-1:0]   bank_write_valid;
  logic [1:0]            write_source      [Parities];

  logic [Parities-1:0]   direct_q;  // the write that the bank took last came from the latch

  logic [Parities-1:0]   open;           // the slot's buffer takes results
  logic [Parities-1:0]   emptying;       // the buffer is being written to its bank
  logic [Parities-1:0]   write_taken;
  logic [Parities-1:0]   loads_pop;
  logic [Parities-1:0]   drain_taken;
  logic [Parities-1:0]   direct_taken;
  logic [EntryW-1:0]     write_entry [Parities];
  logic [Lanes-1:0]      write_mask  [Parities];
  logic [DataW-1:0]      write_data  [Parities];
  logic [RcmRegW-1:0]    look_reg    [Looks];
  logic                  done;
  // verilator lint_on UNUSEDSIGNAL

  // ------------------------------------------------------------------ instructions
  // A write straight from the result latch stalls the whole pipeline while the bank writes.
  assign frozen           = (direct_q & bank_writing) != '0;
  assign issue_ready_o    = issue_ready & ~frozen;
  assign dispatch_valid_o = dispatch_valid & ~frozen;

  mrf_allocator #(
    .Collectors(Collectors),
    .IssuePorts(1)
  ) u_allocator (
    .clk_i,
    .rst_ni,
    .issue_valid_i   (issue_valid_i & ~frozen),
    .issue_warp_i    ('{issue_warp_i}),
    .issue_ready_o   (issue_ready),
    .busy_i          (busy),
    .complete_i      (complete),
    .col_warp_i      (col_warp),
    .alloc_valid_o   (alloc_valid),
    .alloc_port_o    (alloc_port),
    .older_o         (older),
    .dispatch_valid_o(dispatch_valid),
    .dispatch_col_o  (dispatch_col),
    .dispatch_ready_i(dispatch_ready_i & ~frozen),
    .free_o          (free)
  );

  for (genvar c = 0; c < Collectors; c++) begin : gen_collector
    logic [0:0] alloc_bank [Operands];

    assign alloc_bank  = '{default: issue_warp_i[0]};
    assign col_base[c] = col_tag[c][InnerTagW-1:TagW];

    // The collectors hold the name of a register where those of the main register file hold the entry of a bank.
    mrf_collector #(
      .Banks(Parities),
      .Depth(2**RegW),
      .TagW (InnerTagW)
    ) u_collector (
      .clk_i,
      .rst_ni,
      .alloc_valid_i    (alloc_valid[c]),
      .alloc_warp_i     (issue_warp_i),
      .alloc_mask_i     (issue_mask_i),
      .alloc_tag_i      ({issue_base_i, issue_tag_i}),
      .alloc_src_valid_i(issue_src_valid_i),
      .alloc_bank_i     (alloc_bank),
      .alloc_entry_i    (issue_src_reg_i),
      .grant_i          (grant[Operands*c +: Operands]),
      .free_i           (free[c]),
      .req_valid_o      (req_valid[Operands*c +: Operands]),
      .req_bank_o       (req_bank[Operands*c +: Operands]),
      .req_entry_o      (req_reg[Operands*c +: Operands]),
      .req_groups_o     (req_groups[c]),
      .fill_o           (fill[Operands*c +: Operands]),
      .busy_o           (busy[c]),
      .complete_o       (complete[c]),
      .warp_o           (col_warp[c]),
      .mask_o           (col_mask[c]),
      .tag_o            (col_tag[c]),
      .src_valid_o      (col_src_valid[Operands*c +: Operands])
    );
  end

  hrf_reads #(
    .Collectors(Collectors),
    .Depth     (Depth)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .cfg_i        (cfg_i[5:4]),
    .frozen_i     (frozen),
    .req_valid_i  (req_valid),
    .src_valid_i  (col_src_valid),
    .req_reg_i    (req_reg),
    .older_i      (older),
    .col_warp_i   (col_warp),
    .col_base_i   (col_base),
    .col_mask_i   (col_mask),
    .grant_o      (grant),
    .look_reg_o   (reads_look_reg),
    .bank_o       (reads_bank),
    .hit_i        (rcm_hit[Operands-1:0]),
    .lanes_i      (look_lanes),
    .buffer_o     (reads_buffer),
    .read_ready_i (bank_read_ready),
    .write_valid_i(bank_write_valid),
    .stt_valid_o  (reads_stt_valid),
    .stt_entry_o  (reads_stt_entry),
    .port_o       (reads_port),
    .take_o       (reads_take),
    .event_o      (reads_event)
  );

  hrf_operands #(
    .Collectors(Collectors)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .fill_i          (fill),
    .bank_i          (reads_bank),
    .port_i          (reads_port),
    .take_i          (reads_take),
    .buffer_data_i   (buffer_data),
    .stt_data_valid_i(bank_read_data_valid),
    .stt_data_i      (bank_read_data),
    .dispatch_col_i  (dispatch_col[0]),
    .dispatch_data_o
  );

  assign dispatch_warp_o      = col_warp[dispatch_col[0]];
  assign dispatch_mask_o      = col_mask[dispatch_col[0]];
  assign dispatch_tag_o       = col_tag[dispatch_col[0]][TagW-1:0];
  assign dispatch_src_valid_o = dispatch_valid_o
      ? col_src_valid[SlotW'(Operands) * SlotW'(dispatch_col[0]) +: Operands] : '0;

  // ------------------------------------------------------------------ results
  hrf_results #(
    .Depth        (Depth),
    .BufferEntries(BufferEntries)
  ) u_results (
    .clk_i,
    .rst_ni,
    .write_valid_i,
    .write_ready_o,
    .write_i,
    .write_base_i,
    .write_data_i,
    .write_done_o     (done),
    .written_o,
    .open_i           (open),
    .slot_warp_i,
    .hit_i            (rcm_hit[Operands]),
    .index_i          (rcm_index[Operands]),
    .used_i           (buffer_used),
    .closed_i         (power_closed),
    .need_o           (results_need),
    .buffer_valid_o   (results_buffer_valid),
    .new_o            (results_new),
    .index_o          (results_index),
    .push_valid_o     (results_push_valid),
    .push_room_i      (loads_room),
    .direct_valid_o   (results_direct_valid),
    .direct_taken_i   (direct_taken),
    .valid_o          (results_valid),
    .reg_o            (results_reg),
    .entry_o          (results_entry),
    .mask_o           (results_mask),
    .data_o           (results_data)
  );

  assign write_done_o = done;
  assign open         = slot_valid_i & ~flush_i;

  for (genvar k = 0; k < Operands; k++) begin : gen_look
    assign look_reg[k] = reads_look_reg[k];
  end
  assign look_reg[Operands] = results_reg[RcmRegW-1:0];

  // ------------------------------------------------------------------ buffers
  if (BufferEntries > 0) begin : gen_buffers
    localparam int unsigned PowerCfgW = CfgW - BankCfgW;

    logic [Lanes-1:0]  lanes       [Parities*Operands];  // valid lanes of the entries that RCM names
    logic [IndexW-1:0] read_index  [Operands];

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign read_index[k] = rcm_index[k];
      assign look_lanes[k] = reads_bank ? lanes[Operands+k] : lanes[k];
    end

    hrf_rcm #(
      .BufferEntries(BufferEntries)
    ) u_rcm (
      .clk_i,
      .rst_ni,
      .clear_i    (open == '0),
      .look_reg_i (look_reg),
      .hit_o      (rcm_hit),
      .index_o    (rcm_index),
      .set_valid_i(results_new),
      .set_reg_i  (results_reg[RcmRegW-1:0]),
      .set_index_i(results_index)
    );

    for (genvar b = 0; b < Parities; b++) begin : gen_parity
      logic [RcmRegW-1:0] next_reg;    // register of the entry that the drain reads
      logic [Lanes-1:0]   next_lanes;

      hrf_buffer #(
        .BufferEntries(BufferEntries)
      ) u_buffer (
        .clk_i,
        .rst_ni,
        .write_valid_i(results_buffer_valid[b]),
        .write_new_i  (results_new),
        .write_index_i(results_index),
        .write_reg_i  (results_reg[RcmRegW-1:0]),
        .write_mask_i (results_mask),
        .write_data_i (results_data),
        .look_index_i (read_index),
        .look_lanes_o (lanes[Operands*b +: Operands]),
        .read_i       ((reads_bank == 1'(b)) ? reads_buffer : '0),
        .read_index_i (read_index),
        .drain_read_i (drain_read[b]),
        .drain_index_i(drain_index[b]),
        .drain_reg_o  (next_reg),
        .drain_lanes_o(next_lanes),
        .empty_i      (drain_empty[b]),
        .read_data_o  (buffer_data[Operands*b +: Operands]),
        .used_o       (buffer_used[b])
      );

      hrf_drain #(
        .BufferEntries(BufferEntries)
      ) u_drain (
        .clk_i,
        .rst_ni,
        .flush_i(flush_i[b]),
        .drop_i (drop_i[b]),
        .used_i (buffer_used[b]),
        .read_o (drain_read[b]),
        .index_o(drain_index[b]),
        .reg_i  (next_reg),
        .lanes_i(next_lanes),
        .valid_o(drain_valid[b]),
        .reg_o  (drain_reg[b]),
        .lanes_o(drain_lanes[b]),
        .taken_i(drain_taken[b]),
        .begin_o(drain_begin[b]),
        .empty_o(drain_empty[b]),
        .done_o (drain_done[b])
      );

      hrf_loads #(
        .Depth(Depth),
        .Loads(Loads)
      ) u_loads (
        .clk_i,
        .rst_ni,
        .push_valid_i(results_push_valid[b]),
        .push_entry_i(results_entry),
        .push_mask_i (results_mask),
        .push_data_i (results_data),
        .room_o      (loads_room[b]),
        .head_valid_o(loads_valid[b]),
        .head_entry_o(loads_entry[b]),
        .head_mask_o (loads_mask[b]),
        .head_data_o (loads_data[b]),
        .pop_i       (loads_pop[b]),
        .mark_i      (drain_begin[b]),
        .old_o       (loads_old[b])
      );

      hrf_power #(
        .BufferEntries(BufferEntries)
      ) u_power (
        .clk_i,
        .rst_ni,
        .cfg_i   (cfg_i[CfgW-1 -: PowerCfgW]),
        .used_i  (buffer_used[b]),
        .need_i  (results_need[b]),
        .closed_o(power_closed[b]),
        .state_o (power_state[b]),
        .wake_o  (power_wake[b]),
        .sleep_o (power_sleep[b])
      );

      assign emptying[b] = flush_i[b] && !drop_i[b] && buffer_used[b] != '0;

      // Gated entries must have power when they are written, drained or read.
      logic [5:0] powered;
      assign powered = {cfg_i[9:6], 2'b00};
      `GPURF_ASSERT_WHEN(written_has_power,
                         results_buffer_valid[b] && powered != '0 &&
                         32'(results_index) >= 32'(powered),
                         power_state[b] == PowerOn, "an entry was written that has no power")
      `GPURF_ASSERT_WHEN(drained_has_power,
                         drain_read[b] && powered != '0 && 32'(drain_index[b]) >= 32'(powered),
                         power_state[b] == PowerOn, "an entry was drained that has no power")
      for (genvar k = 0; k < Operands; k++) begin : gen_check
        `GPURF_ASSERT_WHEN(read_has_power,
                           reads_buffer[k] && reads_bank == 1'(b) && powered != '0 &&
                           32'(rcm_index[k]) >= 32'(powered),
                           power_state[b] == PowerOn, "an entry was read that has no power")
      end
      `GPURF_ASSERT_WHEN(parity_of_slot, slot_valid_i[b], slot_warp_i[b][0] == 1'(b),
                         "a slot has a warp of the other parity")
    end

    assign flush_done_o = drain_done;

    `GPURF_ASSERT(one_open_slot, open != '1, "two warps are active")
    for (genvar c = 0; c < Collectors; c++) begin : gen_check
      `GPURF_ASSERT_WHEN(instruction_of_open_slot, busy[c],
                         open[col_warp[c][0]] && slot_warp_i[col_warp[c][0]] == col_warp[c],
                         "an instruction is there whose warp is not active")
      for (genvar k = 0; k < Operands; k++) begin : gen_source
        `GPURF_ASSERT_WHEN(no_write_before_read, results_valid && req_valid[Operands*c+k],
                           req_reg[Operands*c+k] != results_reg ||
                           col_warp[c] != written_o.warp,
                           "a result came for a register that is still to be read")
      end
    end
  end else begin : gen_none
    assign rcm_hit      = '0;
    assign rcm_index    = '{default: '0};
    assign look_lanes   = '{default: '0};
    assign buffer_used  = '{default: '0};
    assign buffer_data  = '{default: '0};
    assign drain_begin  = '0;
    assign drain_read   = '0;
    assign drain_valid  = '0;
    assign drain_empty  = '0;
    assign drain_done   = '0;
    assign drain_index  = '{default: '0};
    assign drain_reg    = '{default: '0};
    assign drain_lanes  = '{default: '0};
    assign loads_room   = '0;
    assign loads_valid  = '0;
    assign loads_old    = '0;
    assign loads_entry  = '{default: '0};
    assign loads_mask   = '{default: '0};
    assign loads_data   = '{default: '0};
    assign power_closed = '0;
    assign power_wake   = '0;
    assign power_sleep  = '0;
    assign power_state  = '{default: PowerOff};
    assign emptying     = '0;
    assign flush_done_o = flush_i;
  end

  // ------------------------------------------------------------------ banks
  for (genvar b = 0; b < Parities; b++) begin : gen_bank
    // Order of arrival: results queued before the drain began, then the buffer, then later results.
    always_comb begin
      write_source[b]     = WriteQueue;
      bank_write_valid[b] = 1'b0;
      if (loads_valid[b] && (!emptying[b] || loads_old[b])) begin
        bank_write_valid[b] = 1'b1;
      end else if (drain_valid[b]) begin
        bank_write_valid[b] = 1'b1;
        write_source[b]     = WriteDrain;
      end else if (results_direct_valid[b] && !loads_valid[b]) begin
        bank_write_valid[b] = 1'b1;
        write_source[b]     = WriteDirect;
      end
    end

    assign write_taken[b]  = bank_write_valid[b] & bank_write_ready[b];
    assign loads_pop[b]    = write_taken[b] && write_source[b] == WriteQueue;
    assign drain_taken[b]  = write_taken[b] && write_source[b] == WriteDrain;
    assign direct_taken[b] = write_taken[b] && write_source[b] == WriteDirect;

    always_comb begin
      case (write_source[b])
        WriteQueue: begin
          write_entry[b] = loads_entry[b];
          write_mask[b]  = loads_mask[b];
          write_data[b]  = loads_data[b];
        end
        WriteDrain: begin
          write_entry[b] = slot_base_i[b] + EntryW'(drain_reg[b]);
          write_mask[b]  = drain_lanes[b];
          write_data[b]  = buffer_data[Operands*b];
        end
        default: begin
          write_entry[b] = results_entry;
          write_mask[b]  = results_mask;
          write_data[b]  = results_data;
        end
      endcase
    end

    hrf_bank #(
      .Depth(Depth)
    ) u_bank (
      .clk_i,
      .rst_ni,
      .cfg_i            (cfg_i[BankCfgW-1:0]),
      .read_valid_i     (reads_stt_valid[b]),
      .read_entry_i     (reads_stt_entry),
      .read_ready_o     (bank_read_ready[b]),
      .write_valid_i    (bank_write_valid[b]),
      .write_entry_i    (write_entry[b]),
      .write_mask_i     (write_mask[b]),
      .write_data_i     (write_data[b]),
      .write_ready_o    (bank_write_ready[b]),
      .writing_o        (bank_writing[b]),
      .read_data_valid_o(bank_read_data_valid[b]),
      .read_data_o      (bank_read_data[b])
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni)             direct_q[b] <= 1'b0;
      else if (write_taken[b]) direct_q[b] <= direct_taken[b];
    end
  end

  // ------------------------------------------------------------------ events
  always_comb begin : events
    logic [GroupsW-1:0] result_groups;
    logic [GroupsW-1:0] groups;
    result_groups = active_groups(results_mask);
    event_o       = '0;
    count_event_o = '0;
    mrf_event_o   = '0;

    event_o.hit         = reads_event.hit;
    event_o.partial     = reads_event.partial;
    event_o.miss        = reads_event.miss;
    event_o.read_groups = reads_event.buffer_groups;
    if (BufferEntries > 0) begin
      event_o.look = 3'($countones(grant)) +
                     3'((results_buffer_valid | direct_taken) != '0);
    end
    event_o.write         = results_buffer_valid != '0;
    event_o.write_groups  = event_o.write ? result_groups : '0;
    event_o.coalesced     = event_o.write & ~results_new;
    event_o.load          = (results_push_valid & loads_room) != '0;
    event_o.load_groups   = event_o.load ? result_groups : '0;
    event_o.direct        = direct_taken != '0;
    event_o.direct_groups = event_o.direct ? result_groups : '0;

    count_event_o.wait_wake = results_need != '0;
    count_event_o.wait_full = (results_direct_valid & ~direct_taken) != '0;
    count_event_o.wait_load = (results_push_valid & ~loads_room) != '0;
    count_event_o.wait_read = reads_event.conflict_read_write != '0;
    count_event_o.frozen    = frozen;

    mrf_event_o.read                = 6'(reads_event.read);
    mrf_event_o.read_groups         = 9'(reads_event.read_groups);
    mrf_event_o.conflict_intra      = reads_event.conflict_intra;
    mrf_event_o.conflict_inter      = reads_event.conflict_inter;
    mrf_event_o.conflict_read_write = reads_event.conflict_read_write;
    mrf_event_o.issue_stall         = 2'(issue_valid_i && !issue_ready_o);
    mrf_event_o.dispatch            = 2'(dispatch_valid_o && dispatch_ready_i);
    mrf_event_o.dispatch_stall      = 2'(dispatch_valid_o && !dispatch_ready_i);

    for (int unsigned b = 0; b < Parities; b++) begin
      groups = active_groups(write_mask[b]);
      if (write_taken[b]) begin
        mrf_event_o.write        = mrf_event_o.write + 2'd1;
        mrf_event_o.write_groups = mrf_event_o.write_groups + 5'(groups);
      end else if (bank_write_valid[b]) begin
        mrf_event_o.conflict_write = mrf_event_o.conflict_write + 2'd1;
      end
      if (drain_taken[b]) begin
        event_o.drain        = event_o.drain + 2'd1;
        event_o.drain_groups = event_o.drain_groups + 5'(groups);
      end
      if (BufferEntries > 0 && cfg_i[9:6] != '0 && power_state[b] == PowerOff) begin
        event_o.gated = event_o.gated + 2'd1;
      end
      event_o.wake  = event_o.wake + 2'(power_wake[b]);
      event_o.sleep = event_o.sleep + 2'(power_sleep[b]);
      count_event_o.draining = count_event_o.draining + 2'(emptying[b]);
      if (power_state[b] == PowerWaking)   count_event_o.waking   = count_event_o.waking + 2'd1;
      if (power_state[b] == PowerSleeping) count_event_o.sleeping = count_event_o.sleeping + 2'd1;
      if (drain_begin[b]) begin
        count_event_o.period         = count_event_o.period + 2'd1;
        count_event_o.period_entries = count_event_o.period_entries + 8'(buffer_used[b]);
        count_event_o.period_drop    = count_event_o.period_drop + 2'(drop_i[b]);
      end
    end
  end

  `GPURF_ASSERT_WHEN(result_of_the_rcm, results_valid, results_reg[RegW-1:RcmRegW] == '0,
                     "a register was written that the hybrid register file does not have")

endmodule

// Destination of each result: the cache, the main register file (MRF), or the last result file (LRF).
//
// A latch at the end of each result bus, and the choice between cache and main register file, and
// between the cache and a last result file above it. What the instruction of a result has said is kept as bits
// for each register of a slot. A result for a warp without a slot always goes around the cache. A result
// around the cache takes its lanes away from the entry in the cycle in which it enters the main
// register file's queue, so that neither copy of a lane is ever the older one. Evictions share that
// queue, and have priority.
//
// With Release, a result around the cache ends when the queue takes it, and the latch is free for the
// next one. Its warp and register are kept until it is in its bank, for comparison with the instruction in T.
//
// A bus serves either cache, and a cache takes one result a cycle: the buses take turns.
`include "gpurf_assert.svh"

module rfc_results
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Depth = 64,
  parameter int unsigned Release = 0,
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned Slots = Active / IssuePorts,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // result buses
  input  logic [IssuePorts-1:0] write_valid_i,
  output logic [IssuePorts-1:0] write_ready_o,
  input  write_t                write_i           [IssuePorts],
  input  logic [EntryW-1:0]     write_base_i      [IssuePorts],
  input  logic [DataW-1:0]      write_data_i      [IssuePorts],

  // results that have reached their destination
  output logic [IssuePorts-1:0] write_done_o,
  output written_t              written_o         [IssuePorts],

  // instructions that leave T, and what becomes of their results
  input  logic [IssuePorts-1:0] note_valid_i,
  input  logic [SlotW-1:0]      note_slot_i       [IssuePorts],
  input  logic [RegW-1:0]       note_reg_i        [IssuePorts],
  input  logic [IssuePorts-1:0] note_around_i,
  input  logic [IssuePorts-1:0] note_past_i,

  // slots
  input  logic [Active-1:0]     slot_valid_i,
  input  logic [WarpW-1:0]      slot_warp_i       [Active],
  input  logic [Active-1:0]     flush_i,

  // caches
  output logic [IssuePorts-1:0] op_valid_o,
  output logic [IssuePorts-1:0] op_kill_o,
  output logic [IssuePorts-1:0] op_upper_o,                    // the result goes into the LRF
  output logic [LocalW-1:0]     op_slot_o         [IssuePorts],
  output logic [RegW-1:0]       op_reg_o          [IssuePorts],
  output logic [Lanes-1:0]      op_mask_o         [IssuePorts],
  output logic [DataW-1:0]      op_data_o         [IssuePorts],
  output logic [IssuePorts-1:0] op_private_o,
  input  logic [IssuePorts-1:0] op_ready_i,
  input  logic [IssuePorts-1:0] hold_i,                        // the cache takes no result

  // results in the latches; registers on their way from a cache to the main register file
  output logic [IssuePorts-1:0] result_valid_o,
  input  logic [IssuePorts-1:0] match_i,
  output logic [WarpW-1:0]      result_warp_o     [IssuePorts],
  output logic [RegW-1:0]       result_reg_o      [IssuePorts],

  // results that have left their latches, but are still in the main register file's queues
  output logic [IssuePorts-1:0] queue_valid_o,
  output logic [WarpW-1:0]      queue_warp_o      [IssuePorts],
  output logic [RegW-1:0]       queue_reg_o       [IssuePorts],

  // evictions
  input  logic [IssuePorts-1:0] evict_valid_i,
  output logic [IssuePorts-1:0] evict_ready_o,
  output logic [IssuePorts-1:0] evict_done_o,
  input  logic [WarpW-1:0]      evict_warp_i      [IssuePorts],
  input  logic [EntryW-1:0]     evict_base_i      [IssuePorts],
  input  logic [RegW-1:0]       evict_reg_i       [IssuePorts],
  input  logic [Lanes-1:0]      evict_mask_i      [IssuePorts],
  input  logic [DataW-1:0]      evict_data_i      [IssuePorts],

  // write ports of the main register file
  output logic [IssuePorts-1:0] mrf_valid_o,
  input  logic [IssuePorts-1:0] mrf_ready_i,
  input  logic [IssuePorts-1:0] mrf_done_i,
  output logic [WarpW-1:0]      mrf_warp_o        [IssuePorts],
  output logic [EntryW-1:0]     mrf_base_o        [IssuePorts],
  output logic [RegW-1:0]       mrf_reg_o         [IssuePorts],
  output logic [Lanes-1:0]      mrf_mask_o        [IssuePorts],
  output logic [DataW-1:0]      mrf_data_o        [IssuePorts],

  output logic [IssuePorts-1:0] may_o,              // the result may go to the main register file

  // for events
  output logic [IssuePorts-1:0] around_o,
  output logic [IssuePorts-1:0] around_private_o,
  output logic [IssuePorts-1:0] wait_o
);

  localparam int unsigned Registers = 2**RegW;

  // the latches of the buses
  logic [IssuePorts-1:0] valid_q;
  logic [IssuePorts-1:0] sent_q;         // the result is in the main register file's queue
  logic [IssuePorts-1:0] outside_q;      // its warp had no slot in some cycle: it goes around
  logic [WarpW-1:0]      warp_q    [IssuePorts];
  logic [EntryW-1:0]     base_q    [IssuePorts];
  logic [RegW-1:0]       reg_q     [IssuePorts];
  logic [Lanes-1:0]      mask_q    [IssuePorts];
  logic [DataW-1:0]      data_q    [IssuePorts];
  logic [IssuePorts-1:0] private_q;

  logic [IssuePorts-1:0] queue_evict_q;  // the value in the queue is an eviction
  logic [IssuePorts-1:0] turn_q;         // of each cache: bus with priority
  logic [Registers-1:0]  around_q  [Active];
  logic [Registers-1:0]  past_q    [Active];

  logic [IssuePorts-1:0] in_slot;        // the warp of the latch has a slot
  logic [SlotW-1:0]      slot      [IssuePorts];
  logic [LocalW-1:0]     local_slot[IssuePorts];
  logic [IssuePorts-1:0] cached;         // the result goes to a cache
  logic [IssuePorts-1:0] upper;          // the result goes to the LRF of the cache
  logic [IssuePorts-1:0] may;            // the result may go to the main register file
  logic [IssuePorts-1:0] wants     [IssuePorts];  // [c][b]: bus b wants cache c
  logic [IssuePorts-1:0] chosen    [IssuePorts];  // [c][b]: cache c is given to bus b
  logic [IssuePorts-1:0] goes;           // the bus has been given its cache
  logic [IssuePorts-1:0] taken;
  logic [IssuePorts-1:0] released;       // the result leaves its latch for the queue

  assign result_valid_o = valid_q;
  assign result_warp_o  = warp_q;
  assign result_reg_o   = reg_q;

  // ------------------------------------------------------------------ what is in the latches
  always_comb begin
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      in_slot[b] = 1'b0;
      slot[b]    = '0;
      if (valid_q[b]) begin
        // The loop runs downwards, so that the lowest remains.
        for (int unsigned s = Active; s > 0; s--) begin
          if (slot_valid_i[s-1] && slot_warp_i[s-1] == warp_q[b]) begin
            in_slot[b] = 1'b1;
            slot[b]    = SlotW'(s - 1);
          end
        end
      end
      local_slot[b] = LocalW'(32'(slot[b]) / IssuePorts);
      cached[b]     = in_slot[b] & ~sent_q[b] & ~outside_q[b] & ~flush_i[slot[b]] &
                      ~around_q[slot[b]][reg_q[b]];
      upper[b]      = cached[b] & private_q[b] & ~past_q[slot[b]][reg_q[b]];
    end
  end

  assign may   = valid_q & ~cached & ~sent_q & ~match_i & ~evict_valid_i;
  assign may_o = may;

  // ------------------------------------------------------------------ who goes at which cache
  always_comb begin
    goes = '0;
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      for (int unsigned b = 0; b < IssuePorts; b++) begin
        wants[c][b] = in_slot[b] && 32'(slot[b]) % IssuePorts == c && !hold_i[c] &&
                      (cached[b] || (may[b] && mrf_ready_i[b]));
      end
      chosen[c] = wants[c];
      if (wants[c] == '1 && IssuePorts > 1) chosen[c] = IssuePorts'(1) << turn_q[c];
      goes = goes | chosen[c];
    end
  end

  always_comb begin
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      op_valid_o[c]   = chosen[c] != '0;
      op_kill_o[c]    = (chosen[c] & ~cached) != '0;
      op_upper_o[c]   = (chosen[c] & upper) != '0;
      op_private_o[c] = (chosen[c] & private_q) != '0;
    end
  end

  for (genvar c = 0; c < IssuePorts; c++) begin : gen_cache
    if (IssuePorts == 1) begin : gen_one_bus
      assign op_slot_o[c] = local_slot[0];
      assign op_reg_o[c]  = reg_q[0];
      assign op_mask_o[c] = mask_q[0];
      assign op_data_o[c] = data_q[0];
    end else begin : gen_two_buses
      assign op_slot_o[c] = chosen[c][1] ? local_slot[1] : local_slot[0];
      assign op_reg_o[c]  = chosen[c][1] ? reg_q[1] : reg_q[0];
      assign op_mask_o[c] = chosen[c][1] ? mask_q[1] : mask_q[0];
      assign op_data_o[c] = chosen[c][1] ? data_q[1] : data_q[0];
    end
  end

  // ------------------------------------------------------------------ the main register file
  assign mrf_valid_o      = evict_valid_i | (may & (~in_slot | goes));
  assign around_o         = may & mrf_ready_i & (~in_slot | goes);
  assign around_private_o = around_o & private_q;
  assign evict_ready_o    = mrf_ready_i;
  assign evict_done_o     = mrf_done_i & queue_evict_q;

  for (genvar b = 0; b < IssuePorts; b++) begin : gen_queue
    assign mrf_warp_o[b] = evict_valid_i[b] ? evict_warp_i[b] : warp_q[b];
    assign mrf_base_o[b] = evict_valid_i[b] ? evict_base_i[b] : base_q[b];
    assign mrf_reg_o[b]  = evict_valid_i[b] ? evict_reg_i[b] : reg_q[b];
    assign mrf_mask_o[b] = evict_valid_i[b] ? evict_mask_i[b] : mask_q[b];
    assign mrf_data_o[b] = evict_valid_i[b] ? evict_data_i[b] : data_q[b];
  end

  // ------------------------------------------------------------------ ends
  assign released = (Release != 0) ? around_o : '0;

  always_comb begin
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      write_done_o[b] = (sent_q[b] & mrf_done_i[b] & ~queue_evict_q[b]) | released[b];
      for (int unsigned c = 0; c < IssuePorts; c++) begin
        if (cached[b] && chosen[c][b] && op_ready_i[c]) write_done_o[b] = 1'b1;
      end
    end
  end

  assign write_ready_o = ~valid_q | write_done_o;
  assign wait_o        = valid_q & ~sent_q & ~write_done_o & ~around_o;
  assign taken         = write_valid_i & write_ready_o;

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q       <= '0;
      sent_q        <= '0;
      outside_q     <= '0;
      queue_evict_q <= '0;
      turn_q        <= '0;
    end else begin
      valid_q   <= taken | (valid_q & ~write_done_o);
      sent_q    <= ~taken & ~write_done_o & (sent_q | around_o);
      outside_q <= ~taken & ~write_done_o & (outside_q | (valid_q & ~in_slot));
      for (int unsigned b = 0; b < IssuePorts; b++) begin
        if (mrf_valid_o[b] && mrf_ready_i[b]) queue_evict_q[b] <= evict_valid_i[b];
      end
      for (int unsigned c = 0; c < IssuePorts; c++) begin
        if (IssuePorts > 1 && wants[c] == '1 && op_ready_i[c]) turn_q[c] <= ~turn_q[c];
      end
    end
  end

  // The payload has no reset: it means nothing while valid_q is low.
  for (genvar b = 0; b < IssuePorts; b++) begin : gen_latch
    always_ff @(posedge clk_i) begin
      if (!rst_ni)       private_q[b] <= 1'b0;
      else if (taken[b]) private_q[b] <= write_i[b].from_private;
    end

    always_ff @(posedge clk_i) begin
      if (taken[b]) begin
        warp_q[b] <= write_i[b].warp;
        base_q[b] <= write_base_i[b];
        reg_q[b]  <= write_i[b].d;
        mask_q[b] <= write_i[b].mask;
        data_q[b] <= write_data_i[b];
      end
    end

    assign written_o[b] = '{d: reg_q[b], warp: warp_q[b]};
  end

  // Results that have left their latch and are in the queue. The payload has no meaning before that.
  if (Release != 0) begin : gen_release
    logic [IssuePorts-1:0] queued_q;
    logic [WarpW-1:0]      queue_warp_q [IssuePorts];
    logic [RegW-1:0]       queue_reg_q  [IssuePorts];

    always_ff @(posedge clk_i) begin
      if (!rst_ni) queued_q <= '0;
      else         queued_q <= released | (queued_q & ~(mrf_done_i & ~queue_evict_q));
    end

    for (genvar b = 0; b < IssuePorts; b++) begin : gen_queue
      always_ff @(posedge clk_i) begin
        if (released[b]) begin
          queue_warp_q[b] <= warp_q[b];
          queue_reg_q[b]  <= reg_q[b];
        end
      end
    end

    assign queue_valid_o = queued_q;
    assign queue_warp_o  = queue_warp_q;
    assign queue_reg_o   = queue_reg_q;
  end else begin : gen_stay
    assign queue_valid_o = '0;
    assign queue_warp_o  = '{default: '0};
    assign queue_reg_o   = '{default: '0};
  end

  // These bits have no reset either: an outstanding result of a warp in a slot was issued from that slot.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (note_valid_i[p]) begin
        around_q[note_slot_i[p]][note_reg_i[p]] <= note_around_i[p];
        past_q[note_slot_i[p]][note_reg_i[p]]   <= note_past_i[p];
      end
    end
  end

`ifndef SYNTHESIS
  // The number of slots that have the warp.
  function automatic int unsigned slots_of(logic [WarpW-1:0] warp);
    slots_of = 0;
    for (int unsigned s = 0; s < Active; s++) begin
      if (slot_valid_i[s] && slot_warp_i[s] == warp) slots_of = slots_of + 1;
    end
  endfunction
`endif

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(one_slot_a_warp, valid_q[p], slots_of(warp_q[p]) <= 1,
                       "the warp of a result is in two slots")
    `GPURF_ASSERT_WHEN(done_of_something, mrf_done_i[p],
                       queue_evict_q[p] || sent_q[p] || queue_valid_o[p],
                       "a value went into its bank that was not sent")
    `GPURF_ASSERT_WHEN(note_of_a_slot, note_valid_i[p], slot_valid_i[note_slot_i[p]],
                       "an instruction leaves T whose slot is free")
  end

endmodule

// Destination of each result, and arbitration of the array write ports.
//
// A result that arrives goes into the main register file's queue, to a place above it, or both. A result
// for a place waits in a latch at the end of its bus for the write port of the array. The port of the
// ORF is shared with the copies of operands, which have priority, because they hold up dispatch. At most one
// result waits behind a bus; the next one is taken when all parts of it have reached their destination.
//
// A bus serves the array of either issue port, and an array takes one write a cycle: the buses take
// turns, and so do copies.
`include "gpurf_assert.svh"

module hierarchy_results
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned Slots = Active / IssuePorts,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // result buses
  input  logic [IssuePorts-1:0] write_valid_i,
  output logic [IssuePorts-1:0] write_ready_o,
  input  write_t                write_i           [IssuePorts],
  input  logic [DataW-1:0]      write_data_i      [IssuePorts],

  // results that have reached their destination
  output logic [IssuePorts-1:0] write_done_o,
  output written_t              written_o         [IssuePorts],

  // slots
  input  logic [Active-1:0]     slot_valid_i,
  input  logic [WarpW-1:0]      slot_warp_i       [Active],

  // look-up of the place that waits for a result
  output logic [IssuePorts-1:0] look_valid_o,
  output logic [SlotW-1:0]      look_slot_o       [IssuePorts],
  output logic [RegW-1:0]       look_reg_o        [IssuePorts],
  input  logic [IssuePorts-1:0] look_match_i,
  input  logic [UpperW-1:0]     look_place_i      [IssuePorts],
  input  logic [IssuePorts-1:0] look_both_i,

  // copies of operands
  input  logic [IssuePorts-1:0] copy_valid_i,
  input  logic [SlotW-1:0]      copy_slot_i       [IssuePorts],
  input  logic [OrfW-1:0]       copy_entry_i      [IssuePorts],
  input  logic [Lanes-1:0]      copy_mask_i       [IssuePorts],
  input  logic [DataW-1:0]      copy_data_i       [IssuePorts],
  input  logic [IssuePorts-1:0] copy_private_i,
  output logic [IssuePorts-1:0] copy_ready_o,

  // write ports of the arrays
  output logic [IssuePorts-1:0] orf_valid_o,
  output logic [LocalW-1:0]     orf_slot_o        [IssuePorts],
  output logic [OrfW-1:0]       orf_entry_o       [IssuePorts],
  output logic [Lanes-1:0]      orf_mask_o        [IssuePorts],
  output logic [DataW-1:0]      orf_data_o        [IssuePorts],
  output logic [IssuePorts-1:0] orf_copy_o,
  output logic [IssuePorts-1:0] orf_private_o,
  output logic [IssuePorts-1:0] lrf_valid_o,
  output logic [LocalW-1:0]     lrf_slot_o        [IssuePorts],
  output logic [LrfW-1:0]       lrf_bank_o        [IssuePorts],
  output logic [Lanes-1:0]      lrf_mask_o        [IssuePorts],
  output logic [DataW-1:0]      lrf_data_o        [IssuePorts],
  output logic [IssuePorts-1:0] lrf_private_o,

  // write ports of the main register file
  output logic [IssuePorts-1:0] mrf_valid_o,
  input  logic [IssuePorts-1:0] mrf_ready_i,
  input  logic [IssuePorts-1:0] mrf_done_i,

  // for events
  output logic [IssuePorts-1:0] wait_o
);

  // the latches of the buses
  logic [IssuePorts-1:0] valid_q;
  written_t              written_q   [IssuePorts];  // the result that was taken last
  logic [SlotW-1:0]      slot_q      [IssuePorts];
  logic [UpperW-1:0]     place_q     [IssuePorts];
  logic [Lanes-1:0]      mask_q      [IssuePorts];
  logic [DataW-1:0]      data_q      [IssuePorts];
  logic [IssuePorts-1:0] private_q;

  logic [IssuePorts-1:0] turn_q;                    // of each array: bus with priority
  logic [IssuePorts-1:0] copy_turn_q;               // of each array: dispatch port whose copies have priority

  logic [IssuePorts-1:0] taken;
  logic [IssuePorts-1:0] up;                        // the result goes to a place
  logic [IssuePorts-1:0] copies      [IssuePorts];  // [c][p]: a copy of port p is for array c
  logic [IssuePorts-1:0] copy_chosen [IssuePorts];
  logic [IssuePorts-1:0] orf_wants   [IssuePorts];  // [c][b]: bus b wants the ORF of array c
  logic [IssuePorts-1:0] orf_chosen  [IssuePorts];
  logic [IssuePorts-1:0] lrf_wants   [IssuePorts];
  logic [IssuePorts-1:0] lrf_chosen  [IssuePorts];
  logic [IssuePorts-1:0] go;                        // the latch is written

  // The only member of a set, or the member whose turn it is.
  function automatic logic [IssuePorts-1:0] choose(logic [IssuePorts-1:0] set, logic turn);
    return (IssuePorts > 1 && set == '1) ? IssuePorts'(1) << turn : set;
  endfunction

  // ------------------------------------------------------------------ results that come
  always_comb begin
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      look_valid_o[b] = 1'b0;
      look_slot_o[b]  = '0;
      if (write_valid_i[b]) begin
        // The loop runs downwards, so that the lowest remains.
        for (int unsigned s = Active; s > 0; s--) begin
          if (slot_valid_i[s-1] && slot_warp_i[s-1] == write_i[b].warp) begin
            look_valid_o[b] = 1'b1;
            look_slot_o[b]  = SlotW'(s - 1);
          end
        end
      end
      look_reg_o[b] = write_i[b].d;
    end
  end

  assign up          = look_valid_o & look_match_i;
  assign taken       = write_valid_i & write_ready_o;
  assign mrf_valid_o = taken & (~up | look_both_i);

  // ------------------------------------------------------------------ who writes
  always_comb begin
    copy_ready_o = '0;
    go           = '0;
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      for (int unsigned b = 0; b < IssuePorts; b++) begin
        copies[c][b]    = copy_valid_i[b] && 32'(copy_slot_i[b]) % IssuePorts == c;
        orf_wants[c][b] = valid_q[b] && !place_q[b][UpperW-1] &&
                          32'(slot_q[b]) % IssuePorts == c;
        lrf_wants[c][b] = valid_q[b] && place_q[b][UpperW-1] &&
                          32'(slot_q[b]) % IssuePorts == c;
      end
      copy_chosen[c] = choose(copies[c], copy_turn_q[c]);
      orf_chosen[c]  = (copies[c] != '0) ? '0 : choose(orf_wants[c], turn_q[c]);
      lrf_chosen[c]  = choose(lrf_wants[c], turn_q[c]);
      copy_ready_o   = copy_ready_o | copy_chosen[c];
      go             = go | orf_chosen[c] | lrf_chosen[c];
    end
  end

  always_comb begin
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      orf_valid_o[c]   = (copy_chosen[c] | orf_chosen[c]) != '0;
      orf_copy_o[c]    = copy_chosen[c] != '0;
      orf_private_o[c] = ((copy_chosen[c] & copy_private_i) | (orf_chosen[c] & private_q)) != '0;
      lrf_valid_o[c]   = lrf_chosen[c] != '0;
      lrf_private_o[c] = (lrf_chosen[c] & private_q) != '0;
    end
  end

  for (genvar c = 0; c < IssuePorts; c++) begin : gen_array
    // Number of the port that writes; with one port 0.
    logic copy_from;
    logic orf_from;
    logic lrf_from;

    if (IssuePorts == 1) begin : gen_one_bus
      assign copy_from = 1'b0;
      assign orf_from  = 1'b0;
      assign lrf_from  = 1'b0;
    end else begin : gen_two_buses
      assign copy_from = copy_chosen[c][1];
      assign orf_from  = orf_chosen[c][1];
      assign lrf_from  = lrf_chosen[c][1];
    end

    always_comb begin
      if (orf_copy_o[c]) begin
        orf_slot_o[c]  = LocalW'(32'(copy_slot_i[copy_from]) / IssuePorts);
        orf_entry_o[c] = copy_entry_i[copy_from];
        orf_mask_o[c]  = copy_mask_i[copy_from];
        orf_data_o[c]  = copy_data_i[copy_from];
      end else begin
        orf_slot_o[c]  = LocalW'(32'(slot_q[orf_from]) / IssuePorts);
        orf_entry_o[c] = place_q[orf_from][OrfW-1:0];
        orf_mask_o[c]  = mask_q[orf_from];
        orf_data_o[c]  = data_q[orf_from];
      end
    end

    assign lrf_slot_o[c] = LocalW'(32'(slot_q[lrf_from]) / IssuePorts);
    assign lrf_bank_o[c] = place_q[lrf_from][LrfW-1:0];
    assign lrf_mask_o[c] = mask_q[lrf_from];
    assign lrf_data_o[c] = data_q[lrf_from];
  end

  // ------------------------------------------------------------------ ends
  // Done: both parts of the result have reached their destination, the last one in this cycle.
  assign write_ready_o = (~valid_q | go) & mrf_ready_i;
  assign write_done_o  = (valid_q | mrf_done_i) & write_ready_o;
  assign written_o     = written_q;
  assign wait_o        = valid_q & ~go;

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q     <= '0;
      turn_q      <= '0;
      copy_turn_q <= '0;
    end else begin
      valid_q <= (taken & up) | (valid_q & ~go);
      for (int unsigned c = 0; c < IssuePorts; c++) begin
        if (IssuePorts > 1) begin
          if (copies[c] == '1) copy_turn_q[c] <= ~copy_turn_q[c];
          if ((orf_wants[c] == '1 && copies[c] == '0) || lrf_wants[c] == '1) begin
            turn_q[c] <= ~turn_q[c];
          end
        end
      end
    end
  end

  for (genvar b = 0; b < IssuePorts; b++) begin : gen_latch
    always_ff @(posedge clk_i) begin
      if (!rst_ni)       private_q[b] <= 1'b0;
      else if (taken[b]) private_q[b] <= write_i[b].from_private;
    end

    // The payload has no reset: it has no meaning unless the latch of the bus holds a result.
    always_ff @(posedge clk_i) begin
      if (taken[b]) begin
        written_q[b] <= '{d: write_i[b].d, warp: write_i[b].warp};
        if (up[b]) begin
          slot_q[b]  <= look_slot_o[b];
          place_q[b] <= look_place_i[b];
          mask_q[b]  <= write_i[b].mask;
          data_q[b]  <= write_data_i[b];
        end
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

  for (genvar b = 0; b < IssuePorts; b++) begin : gen_check
    `GPURF_ASSERT_WHEN(one_slot_a_warp, write_valid_i[b], slots_of(write_i[b].warp) <= 1,
                       "the warp of a result is in two slots")
    `GPURF_ASSERT_WHEN(place_is_one, up[b], 32'(look_place_i[b]) < Upper,
                       "a result goes to a place that does not exist")
    `GPURF_ASSERT_WHEN(done_makes_ready, mrf_done_i[b], mrf_ready_i[b],
                       "the main register file is done with a result and takes no other")
  end

endmodule

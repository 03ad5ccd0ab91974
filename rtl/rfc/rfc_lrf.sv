// The last result file above one cache: an entry for each slot.
//
// The hardware three-level hierarchy (hierarchy thesis, 6.5.2). Results of private units go here
// first, and the old value of the entry goes down into the cache: a spill. Only private units read the LRF;
// the compiler sends a value that a shared unit may read past the LRF. A lane of a register is here or in the
// cache, never in both: the one that gets it takes it away from the other.
//
// Results pass through the LRF on their way to the tags, so that a result changes both at one clock edge.
// Data is one cycle behind, as in the cache (rfc_data).
`include "gpurf_assert.svh"

module rfc_lrf
  import gpurf_pkg::*;
#(
  parameter int unsigned Slots = 8,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cfg_i,                      // live

  // the instruction in T
  input  logic                look_valid_i,
  input  logic                look_move_i,                // the instruction leaves T
  input  logic [LocalW-1:0]   look_slot_i,
  input  logic [Lanes-1:0]    look_mask_i,
  input  logic [Operands-1:0] look_src_valid_i,
  input  logic [RegW-1:0]     look_reg_i    [Operands],
  input  logic [Operands-1:0] look_last_i,                // last reads
  input  logic                look_private_i,             // the instruction goes to a private unit
  output logic [Lanes-1:0]    hit_mask_o    [Operands],

  // a result
  input  logic                op_valid_i,
  input  logic                op_kill_i,                  // the result has gone around the cache
  input  logic                op_upper_i,                 // the result is written to the LRF
  input  logic [LocalW-1:0]   op_slot_i,
  input  logic [RegW-1:0]     op_reg_i,
  input  logic [Lanes-1:0]    op_mask_i,
  input  logic [DataW-1:0]    op_data_i,
  output logic                op_ready_o,

  // the cache below
  output logic                low_valid_o,
  output logic                low_kill_o,
  output logic [LocalW-1:0]   low_slot_o,
  output logic [RegW-1:0]     low_reg_o,
  output logic [Lanes-1:0]    low_mask_o,
  input  logic                low_ready_i,
  output logic                spill_o,                    // the old value of the entry is written to the cache

  // slots that are emptied
  input  logic [Slots-1:0]    flush_i,
  input  logic [Slots-1:0]    drop_i,
  output logic [Slots-1:0]    clean_o,
  input  logic                flush_ready_i,
  output logic                flush_valid_o,
  output logic [LocalW-1:0]   flush_slot_o,
  output logic [RegW-1:0]     flush_reg_o,
  output logic [Lanes-1:0]    flush_mask_o,

  // data of a spill, in D
  output logic                spill_data_valid_o,
  output logic [DataW-1:0]    spill_data_o,

  // operands and data of a flush, in O
  output logic [Lanes-1:0]    land_hit_o    [Operands],
  output logic [DataW-1:0]    land_data_o,
  output logic                flush_data_valid_o,
  output logic [DataW-1:0]    flush_data_o,

  output rfc_lrf_event_t      event_o
);

  logic [Lanes-1:0]  valid_q [Slots];
  logic [Lanes-1:0]  dirty_q [Slots];
  logic [RegW-1:0]   tag_q   [Slots];
  logic [DataW-1:0]  data_q  [Slots];

  // D
  logic              d_move_q;
  logic [LocalW-1:0] d_slot_q;
  logic [Lanes-1:0]  d_hit_q [Operands];
  logic              d_write_q;
  logic [LocalW-1:0] d_write_slot_q;
  logic [Lanes-1:0]  d_write_mask_q;
  logic [DataW-1:0]  d_write_data_q;
  logic              d_spill_q;
  logic              d_flush_q;
  logic [LocalW-1:0] d_flush_slot_q;

  // O
  logic [Lanes-1:0]  o_hit_q [Operands];
  logic [DataW-1:0]  o_data_q;
  logic              o_flush_q;
  logic [DataW-1:0]  o_flush_data_q;

  // the instruction
  logic [Lanes-1:0]  look_lanes;   // valid lanes of its slot's entry
  logic [Lanes-1:0]  read_lanes;   // lanes that the instruction reads here
  logic              dies;         // last reads make the lanes that it reads dead

  // the operation
  logic [Lanes-1:0]  op_lanes;     // valid and dirty lanes of its slot's entry
  logic [Lanes-1:0]  op_dirty;
  logic              same;         // the entry holds the result's register
  logic              spill;
  logic              write;        // a result is written here
  logic              past;         // a result that is not written here takes lanes away

  // flush
  logic [Slots-1:0]  unclean;      // slots with a value to be written back
  logic [Slots-1:0]  empties;

  // Whether the slot exists. The comparison is one bit wider than a slot number, because Slots may be
  // 2**LocalW.
  function automatic logic exists(logic [LocalW-1:0] slot);
    return {1'b0, slot} < (LocalW + 1)'(Slots);
  endfunction

  // ------------------------------------------------------------------ the instruction in T
  always_comb begin
    look_lanes = (look_valid_i && exists(look_slot_i)) ? valid_q[look_slot_i] : '0;
    read_lanes = '0;
    for (int unsigned k = 0; k < Operands; k++) begin
      hit_mask_o[k] = '0;
      if (look_lanes != '0 && look_src_valid_i[k] && tag_q[look_slot_i] == look_reg_i[k]) begin
        hit_mask_o[k] = look_lanes & look_mask_i;
      end
      read_lanes = read_lanes | hit_mask_o[k];
    end
  end

  always_comb begin
    dies = 1'b0;
    if (cfg_i && look_move_i) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (look_last_i[k] && hit_mask_o[k] != '0) dies = 1'b1;
      end
    end
  end

  // ------------------------------------------------------------------ the operation
  always_comb begin
    op_lanes = '0;
    op_dirty = '0;
    if (op_valid_i && exists(op_slot_i)) begin
      op_lanes = valid_q[op_slot_i];
      op_dirty = dirty_q[op_slot_i];
    end
    same  = op_lanes != '0 && tag_q[op_slot_i] == op_reg_i;
    spill = op_valid_i && op_upper_i && !op_kill_i && !same && op_dirty != '0;
  end

  assign spill_o     = spill;
  assign low_valid_o = op_valid_i;
  assign low_kill_o  = op_valid_i & (op_kill_i | (op_upper_i & ~spill));
  assign low_slot_o  = op_slot_i;
  assign low_reg_o   = spill ? tag_q[op_slot_i] : op_reg_i;
  assign low_mask_o  = spill ? op_dirty : op_mask_i;

  assign op_ready_o  = op_valid_i & low_ready_i;
  assign write       = op_ready_o & op_upper_i;
  assign past        = op_ready_o & ~op_upper_i & same;

  // ------------------------------------------------------------------ flush
  for (genvar j = 0; j < Slots; j++) begin : gen_clean
    assign clean_o[j] = dirty_q[j] == '0;
  end

  assign unclean = flush_i & ~drop_i & ~clean_o;
  assign empties = flush_i & (drop_i | clean_o);

  always_comb begin
    flush_slot_o = '0;
    // The loop runs downwards, so that the lowest remains.
    for (int unsigned j = Slots; j > 0; j--) begin
      if (unclean[j-1]) flush_slot_o = LocalW'(j - 1);
    end
    flush_reg_o  = tag_q[flush_slot_o];
    flush_mask_o = dirty_q[flush_slot_o];
  end

  assign flush_valid_o = unclean != '0 && !op_valid_i && flush_ready_i;

  // ------------------------------------------------------------------ state
  for (genvar j = 0; j < Slots; j++) begin : gen_slot
    logic op_here;
    logic dies_here;
    logic flush_here;

    assign op_here    = (write || past) && op_slot_i == LocalW'(j);
    assign dies_here  = dies && look_slot_i == LocalW'(j);
    assign flush_here = flush_valid_o && flush_slot_o == LocalW'(j);

    // Priority, lowest first: last reads, the operation or the flush, emptying of the slot.
    always_ff @(posedge clk_i) begin : lanes
      automatic logic [Lanes-1:0] left;  // dirty lanes that last reads leave
      left = dirty_q[j] & ~(dies_here ? look_mask_i : '0);
      if (!rst_ni || empties[j] || flush_here) begin
        valid_q[j] <= '0;
        dirty_q[j] <= '0;
      end else if (op_here) begin
        if (past) begin
          valid_q[j] <= valid_q[j] & ~op_mask_i;
          dirty_q[j] <= left & ~op_mask_i;
        end else if (same) begin
          valid_q[j] <= valid_q[j] | op_mask_i;
          dirty_q[j] <= left | op_mask_i;
        end else begin
          valid_q[j] <= op_mask_i;
          dirty_q[j] <= op_mask_i;
        end
      end else if (dies_here) begin
        dirty_q[j] <= left;
      end
    end

    `GPURF_ASSERT(dirty_is_valid, (dirty_q[j] & ~valid_q[j]) == '0,
                  "a lane is dirty that is not valid")
  end

  // Tags have no reset: they mean nothing without a valid lane.
  always_ff @(posedge clk_i) begin
    if (write && !same && exists(op_slot_i)) tag_q[op_slot_i] <= op_reg_i;
  end

  // ------------------------------------------------------------------ T to D
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      d_move_q  <= 1'b0;
      d_write_q <= 1'b0;
      d_spill_q <= 1'b0;
      d_flush_q <= 1'b0;
    end else begin
      d_move_q  <= look_move_i;
      d_write_q <= write;
      d_spill_q <= op_ready_o & spill;
      d_flush_q <= flush_valid_o;
    end
  end

  // The payloads have no reset: they mean nothing while their valid is low.
  always_ff @(posedge clk_i) begin
    if (look_move_i) begin
      d_slot_q <= look_slot_i;
      d_hit_q  <= hit_mask_o;
    end
    if (write) begin
      d_write_slot_q <= op_slot_i;
      d_write_mask_q <= op_mask_i;
      d_write_data_q <= op_data_i;
    end
    if (flush_valid_o) d_flush_slot_q <= flush_slot_o;
  end

  // ------------------------------------------------------------------ D
  assign spill_data_valid_o = d_spill_q;
  assign spill_data_o       = exists(d_write_slot_q) ? data_q[d_write_slot_q] : '0;

  // ------------------------------------------------------------------ D to O
  always_ff @(posedge clk_i) begin
    if (!rst_ni) o_flush_q <= 1'b0;
    else         o_flush_q <= d_flush_q;
  end

  for (genvar k = 0; k < Operands; k++) begin : gen_hit
    always_ff @(posedge clk_i) begin
      if (!rst_ni) o_hit_q[k] <= '0;
      else         o_hit_q[k] <= d_move_q ? d_hit_q[k] : '0;
    end
  end

  // All reads get the value before this edge: the write belongs to a later operation.
  always_ff @(posedge clk_i) begin
    if (d_move_q && (d_hit_q[0] | d_hit_q[1] | d_hit_q[2]) != '0) begin
      o_data_q <= exists(d_slot_q) ? data_q[d_slot_q] : '0;
    end
    if (d_flush_q) o_flush_data_q <= exists(d_flush_slot_q) ? data_q[d_flush_slot_q] : '0;
  end

  always_ff @(posedge clk_i) begin : write_data
    automatic logic [DataW-1:0] enable;  // a bit for each bit of the word
    if (d_write_q && exists(d_write_slot_q)) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        enable[LaneW*lane +: LaneW] = {LaneW{d_write_mask_q[lane]}};
      end
      data_q[d_write_slot_q] <= (data_q[d_write_slot_q] & ~enable) | (d_write_data_q & enable);
    end
  end

  // ------------------------------------------------------------------ O
  assign land_hit_o         = o_hit_q;
  assign land_data_o        = o_data_q;
  assign flush_data_valid_o = o_flush_q;
  assign flush_data_o       = o_flush_data_q;

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o              = '0;
    event_o.read_groups  = look_move_i ? active_groups(read_lanes) : '0;
    event_o.write_groups = write ? active_groups(op_mask_i) : '0;
    event_o.spill_groups = (op_ready_o && spill) ? active_groups(op_dirty) : '0;
    event_o.flush_groups = flush_valid_o ? active_groups(flush_mask_o) : '0;
    event_o.dead         = write && !same && op_lanes != '0 && op_dirty == '0;
    event_o.same         = write && same;
    event_o.past         = past && (op_lanes & op_mask_i) != '0;
    event_o.marked       = dies && (dirty_q[look_slot_i] & look_mask_i) != '0;
  end

  for (genvar k = 0; k < Operands; k++) begin : gen_look_check
    `GPURF_ASSERT_WHEN(private_units_only, look_move_i && !look_private_i, hit_mask_o[k] == '0,
                       "a shared unit reads what is in the LRF")
  end
  `GPURF_ASSERT_WHEN(no_write_in_flush, op_valid_i && op_upper_i && exists(op_slot_i),
                     !flush_i[op_slot_i],
                     "a result is written to a slot that is being emptied")
  `GPURF_ASSERT_WHEN(around_or_here, op_valid_i, !(op_kill_i && op_upper_i),
                     "a result goes around the cache and is written here")

endmodule

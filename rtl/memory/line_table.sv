// Table of the memory requests that wait for their line.
//
// A row for each request that waits for an answer, in order: memory answers in the order of
// requests, so the table is a ring and an answer needs no number. When a line arrives, the oldest row
// tells which lanes take which bytes of it. They go to the register file at once, under their mask:
// no whole register is collected before it is written.
`include "gpurf_assert.svh"

module line_table
  import gpurf_pkg::*;
#(
  parameter int unsigned Rows = 64,
  localparam int unsigned RowW = $clog2(Rows)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // a row for a request made at this edge
  input  logic                   row_valid_i,
  input  logic [WarpW-1:0]       row_warp_i,
  input  logic [Lanes-1:0]       row_mask_i,
  input  logic                   row_reg_valid_i,
  input  logic [RegW-1:0]        row_reg_i,
  input  logic [1:0]             row_size_i,
  input  logic                   row_signed_i,
  input  logic                   row_lanewise_i,        // the answer has a word for each lane
  input  logic                   row_done_i,            // last of its instruction
  input  logic [LineOffsetW-1:0] row_offset_i [Lanes],
  output logic                   room_o,
  output logic                   empty_o,

  // answer
  input  logic                   mem_rsp_valid_i,
  input  logic [DataW-1:0]       mem_rsp_data_i,
  input  logic                   mem_rsp_fault_i,       // the address does not exist
  output logic                   mem_rsp_ready_o,

  // result
  output logic                   result_valid_o,
  output result_t                result_o,
  output logic                   result_reg_valid_o,
  output logic [DataW-1:0]       result_data_o,
  input  logic                   pop_i,

  output logic                   fault_valid_o,
  output logic [WarpW-1:0]       fault_warp_o
);

  typedef struct packed {
    logic             done;
    logic [Lanes-1:0] mask;
    logic [WarpW-1:0] warp;
    logic             reg_valid;
    logic [RegW-1:0]  reg_name;
    logic [1:0]       size;
    logic             is_signed;
    logic             lanewise;
  } meta_t;

  localparam int unsigned MetaW = $bits(meta_t);
  localparam int unsigned OffsetsW = LineOffsetW * Lanes;

  logic [RowW-1:0]     first_q;
  logic [RowW:0]       count_q;
  logic [MetaW-1:0]    meta_q   [Rows];
  logic [OffsetsW-1:0] offset_q [Rows];

  logic                rsp_valid_q;
  logic [DataW-1:0]    rsp_data_q;
  logic                rsp_fault_q;

  logic                result_valid_q;
  result_t             result_q;
  logic                result_reg_valid_q;
  logic [DataW-1:0]    result_data_q;

  meta_t               oldest;
  logic [RowW-1:0]     place;     // place of the new row
  logic                take;      // an answer is taken
  logic                finish;    // the oldest row and its answer become a result

  assign room_o  = count_q < (RowW+1)'(Rows);
  assign empty_o = (count_q == '0) & ~result_valid_q;

  assign mem_rsp_ready_o = ~rsp_valid_q;

  assign oldest        = meta_t'(meta_q[first_q]);
  assign fault_valid_o = rsp_valid_q & rsp_fault_q;
  assign fault_warp_o  = oldest.warp;

  assign result_valid_o     = result_valid_q;
  assign result_o           = result_q;
  assign result_reg_valid_o = result_valid_q & result_reg_valid_q;
  assign result_data_o      = result_data_q;

  assign place  = first_q + count_q[RowW-1:0];
  assign take   = mem_rsp_valid_i & ~rsp_valid_q;
  assign finish = rsp_valid_q & (~result_valid_q | pop_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q        <= '0;
      count_q        <= '0;
      rsp_valid_q    <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      first_q        <= first_q + RowW'(finish);
      count_q        <= count_q + (RowW+1)'(row_valid_i) - (RowW+1)'(finish);
      rsp_valid_q    <= take | (rsp_valid_q & ~finish);
      result_valid_q <= finish | (result_valid_q & ~pop_i);
    end
  end

  // The offsets of the new row, in one vector.
  function automatic logic [Lanes-1:0][LineOffsetW-1:0] row_offsets();
    for (int unsigned l = 0; l < Lanes; l++) row_offsets[l] = row_offset_i[l];
  endfunction

  // Rows and payload have no reset: the count and the valids tell which of them have a meaning.
  // A row without a register has register number 0, because lockstep compares rows as a whole.
  always_ff @(posedge clk_i) begin
    if (row_valid_i) begin
      meta_q[place]   <= {row_done_i, row_mask_i, row_warp_i, row_reg_valid_i,
                          row_reg_i & {RegW{row_reg_valid_i}}, row_size_i, row_signed_i,
                          row_lanewise_i};
      offset_q[place] <= row_offsets();
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      rsp_data_q  <= mem_rsp_data_i;
      rsp_fault_q <= mem_rsp_fault_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (finish) begin
      result_q           <= '{done: oldest.done, d: oldest.reg_name, warp: oldest.warp,
                              mask: oldest.mask, default: '0};
      result_reg_valid_q <= oldest.reg_valid;
      if (oldest.reg_valid) begin
        result_data_q <= loaded_lanes(rsp_data_q, offset_q[first_q], oldest.mask, oldest.size,
                                      oldest.is_signed, oldest.lanewise);
      end
    end
  end

  `GPURF_ASSERT_WHEN(all_aligned, row_valid_i && !row_lanewise_i,
                     are_aligned(row_offsets(), row_mask_i, row_size_i),
                     "a row has a misaligned offset")
  `GPURF_ASSERT_WHEN(row_has_room, row_valid_i, room_o, "a row was put into a full line table")
  `GPURF_ASSERT_WHEN(answer_has_row, rsp_valid_q, count_q != '0, "an answer came without a row")
  `GPURF_ASSERT_WHEN(pop_result, pop_i, result_valid_q, "a result was taken that was not offered")

endmodule

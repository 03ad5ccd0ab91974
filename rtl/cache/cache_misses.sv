// Outstanding misses, and the loads that wait for them.
//
// A ring of the misses of the data cache, in the order of requests: memory answers in that order,
// so an answer needs no number. A miss is open while its answer may become a line of the cache, and
// while further loads of its line may join it. The rows of the loads are separate from the ring, because
// several rows may wait for one answer: each row has the number of its miss. The rows take their lanes
// from the answer in turn, lowest row first, and each result goes to the register file under the mask
// of its row.
`include "gpurf_assert.svh"

module cache_misses
  import gpurf_pkg::*;
#(
  parameter int unsigned Misses = 64,
  parameter int unsigned Rows = 64,
  localparam int unsigned LoadW = $clog2(Rows)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // the request in T
  input  logic [LineW-1:0]    line_i,
  output logic                open_o,           // an open miss has the line
  output logic                open_first_o,     // the answer at hand belongs to this open miss
  output logic                room_o,           // there is room for a new miss
  output logic                row_room_o,       // there is room for a new row
  output logic                empty_o,          // no miss is in use

  // changes at this edge
  input  logic                allocate_i,       // a miss is allocated for the line
  input  logic                allocate_open_i,  // the new miss is open
  input  logic                close_i,          // the open miss of the line is closed
  input  logic                row_valid_i,      // a row is added, for the new miss or for the open miss
  input  cache_row_t          row_i,
  input  logic [LoadW-1:0]    row_load_i,       // number of the load of this row

  // answer
  input  logic                mem_rsp_valid_i,
  input  logic [DataW-1:0]    mem_rsp_data_i,
  input  logic                mem_rsp_fault_i,    // the address does not exist
  input  logic [PresentW-1:0] mem_rsp_present_i,  // bytes of the line that exist
  output logic                mem_rsp_ready_o,

  // fill: the answer at hand, if its miss is open
  output logic                fill_valid_o,
  output logic [LineW-1:0]    fill_line_o,
  output logic [DataW-1:0]    fill_data_o,
  output logic                fill_whole_o,     // all bytes of the line exist
  input  logic                fill_ready_i,

  // result
  output logic                serve_o,          // a row is served at this edge
  output logic                result_valid_o,
  output result_t             result_o,
  output logic [LoadW-1:0]    result_load_o,
  output logic                result_reg_valid_o,
  output logic [DataW-1:0]    result_data_o,
  input  logic                result_pop_i,

  output logic                fault_valid_o,
  output logic [WarpW-1:0]    fault_warp_o
);

  localparam int unsigned MissW = $clog2(Misses);
  localparam int unsigned RowW = LoadW;

  logic [MissW-1:0]    first_q;
  logic [MissW:0]      count_q;
  logic [Misses-1:0]   open_q;
  logic [LineW-1:0]    line_q [Misses];

  logic [Rows-1:0]     row_used_q;
  logic [MissW-1:0]    row_miss_q [Rows];
  logic [LoadW-1:0]    row_load_q [Rows];
  cache_row_t          row_q      [Rows];

  logic                rsp_valid_q;
  logic [DataW-1:0]    rsp_data_q;
  logic                rsp_fault_q;
  logic [PresentW-1:0] rsp_present_q;

  logic                result_valid_q;
  result_t             result_q;
  logic [LoadW-1:0]    result_load_q;
  logic                result_reg_valid_q;
  logic [DataW-1:0]    result_data_q;

  logic [Misses-1:0]   match;        // open misses of the line
  logic [MissW-1:0]    match_place;
  logic [MissW-1:0]    place;        // place of a new miss in the ring
  logic [RowW-1:0]     row_place;    // place of a new row

  logic [Rows-1:0]     waiting;      // rows that wait for the answer at hand
  logic [RowW-1:0]     oldest;       // lowest waiting row, which is served next
  logic [Rows-1:0]     served;
  cache_row_t          row;          // the row at place `oldest`
  logic                absent;       // this row accesses a place that does not exist
  logic                take;         // an answer is accepted
  logic                finish;       // the first miss becomes free at this edge

  // ------------------------------------------------------------------ misses
  always_comb begin
    match       = '0;
    match_place = '0;
    for (int unsigned m = Misses; m > 0; m--) begin
      if (open_q[m-1] && line_q[m-1] == line_i) begin
        match[m-1]  = 1'b1;
        match_place = MissW'(m - 1);
      end
    end
  end

  assign open_o       = match != '0;
  assign open_first_o = match[first_q] & rsp_valid_q;
  assign room_o       = count_q < (MissW+1)'(Misses);
  assign empty_o      = count_q == '0;
  assign place        = first_q + count_q[MissW-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= '0;
      count_q <= '0;
    end else begin
      first_q <= first_q + MissW'(finish);
      count_q <= count_q + (MissW+1)'(allocate_i) - (MissW+1)'(finish);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q <= '0;
    end else begin
      if (close_i)      open_q          <= open_q & ~match;
      if (fill_ready_i) open_q[first_q] <= 1'b0;
      if (allocate_i)   open_q[place]   <= allocate_open_i;
    end
  end

  // Lines, rows and payload have no reset: the valids say which of them have a meaning.
  always_ff @(posedge clk_i) begin
    if (allocate_i) line_q[place] <= line_i;
  end

  // ------------------------------------------------------------------ rows
  assign row_room_o = row_used_q != '1;

  always_comb begin
    row_place = '0;
    for (int unsigned r = Rows; r > 0; r--) begin
      if (!row_used_q[r-1]) row_place = RowW'(r - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_used_q <= '0;
    end else begin
      row_used_q <= row_used_q & ~served;
      if (row_valid_i) row_used_q[row_place] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (row_valid_i) begin
      row_miss_q[row_place] <= allocate_i ? place : match_place;
      row_load_q[row_place] <= row_load_i;
      row_q[row_place]      <= row_i;
    end
  end

  // ------------------------------------------------------------------ answer
  assign mem_rsp_ready_o = ~rsp_valid_q;
  assign take            = mem_rsp_valid_i & ~rsp_valid_q;

  // An open miss does not become free, because a row may still join it.
  assign finish = rsp_valid_q & ~open_q[first_q] & ((waiting & ~served) == '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rsp_valid_q <= 1'b0;
    else         rsp_valid_q <= take | (rsp_valid_q & ~finish);
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      rsp_data_q    <= mem_rsp_data_i;
      rsp_fault_q   <= mem_rsp_fault_i;
      rsp_present_q <= mem_rsp_present_i;
    end
  end

  assign fill_valid_o = rsp_valid_q & open_q[first_q];
  assign fill_line_o  = fill_valid_o ? line_q[first_q] : '0;
  assign fill_data_o  = rsp_data_q;
  assign fill_whole_o = fill_valid_o & ~rsp_fault_q & (rsp_present_q == PresentW'(LineBytes));

  // ------------------------------------------------------------------ service
  always_comb begin
    waiting = '0;
    oldest  = '0;
    if (rsp_valid_q) begin
      for (int unsigned r = Rows; r > 0; r--) begin
        if (row_used_q[r-1] && row_miss_q[r-1] == first_q) begin
          waiting[r-1] = 1'b1;
          oldest       = RowW'(r - 1);
        end
      end
    end
  end

  assign serve_o = (waiting != '0) & (~result_valid_q | result_pop_i);
  assign served  = serve_o ? Rows'(1) << oldest : '0;
  assign row     = row_q[oldest];

  always_comb begin
    absent = 1'b0;
    if (waiting != '0) begin
      if (row.lanewise) begin
        absent = rsp_fault_q;
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (row.mask[l] && PresentW'(row.offset[l]) + (PresentW'(1) << row.size) > rsp_present_q) begin
            absent = 1'b1;
          end
        end
      end
    end
  end

  assign fault_valid_o = absent;
  assign fault_warp_o  = row.warp;

  assign result_valid_o     = result_valid_q;
  assign result_o           = result_q;
  assign result_load_o      = result_load_q;
  assign result_reg_valid_o = result_valid_q & result_reg_valid_q;
  assign result_data_o      = result_data_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) result_valid_q <= 1'b0;
    else         result_valid_q <= serve_o | (result_valid_q & ~result_pop_i);
  end

  always_ff @(posedge clk_i) begin
    if (serve_o) begin
      result_q           <= '{d: row.reg_name, warp: row.warp, mask: row.mask, default: '0};
      result_load_q      <= row_load_q[oldest];
      result_reg_valid_q <= row.reg_valid;
      if (row.reg_valid) begin
        result_data_q <= loaded_lanes(rsp_data_q, row.offset, row.mask, row.size, row.is_signed,
                                      row.lanewise);
      end
    end
  end

  `GPURF_ASSERT_WHEN(miss_has_room, allocate_i, room_o, "a miss was put into a full ring")
  `GPURF_ASSERT_WHEN(new_line, allocate_i && allocate_open_i, !open_o,
                     "a line has two open misses")
  `GPURF_ASSERT(one_open_miss, $countones(match) <= 1, "a line has two open misses")
  `GPURF_ASSERT_WHEN(row_has_room, row_valid_i, row_room_o, "a row found no free place")
  `GPURF_ASSERT_WHEN(row_has_miss, row_valid_i, allocate_i || open_o,
                     "a row came for a line that no open miss has")
  `GPURF_ASSERT_WHEN(all_aligned, row_valid_i && !row_i.lanewise,
                     are_aligned(row_i.offset, row_i.mask, row_i.size),
                     "a row has a misaligned offset")
  `GPURF_ASSERT_WHEN(answer_has_miss, rsp_valid_q, count_q != '0, "an answer came without a miss")
  `GPURF_ASSERT_WHEN(fill_is_offered, fill_ready_i, fill_valid_o,
                     "a line was taken that was not offered")
  `GPURF_ASSERT_WHEN(pop_result, result_pop_i, result_valid_q,
                     "a result was taken that was not offered")

endmodule

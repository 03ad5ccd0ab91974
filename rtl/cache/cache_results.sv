// Hits and answers on their way to the result bus.
//
// Hits wait here until their latency has passed. Answers of memory have waited already and have priority.
// The parts of a load arrive in any order, because some hit and some do not, so each load in flight has a
// number and a count of its parts: the last part carries `done`. A number is closed when no
// further part of its load can arrive.
`include "gpurf_assert.svh"

module cache_results
  import gpurf_pkg::*;
#(
  parameter int unsigned Rows = 64,
  parameter int unsigned HitQueueDepth = 32,  // hits that wait; a power of two
  localparam int unsigned LoadW = $clog2(Rows),
  localparam int unsigned WaitW = 6
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [WaitW-1:0] cfg_i,             // latency of hits

  // a new part of a load at this edge
  input  logic             row_valid_i,
  input  logic             row_first_i,       // the part is the first one of its instruction
  input  logic             row_last_i,        // no lane of the instruction remains after this part
  output logic [LoadW-1:0] row_load_o,        // number of the load of this part
  output logic             room_o,            // a number is free

  // a hit
  input  logic             push_valid_i,
  input  logic [WarpW-1:0] push_warp_i,
  input  logic [Lanes-1:0] push_mask_i,
  input  logic             push_reg_valid_i,
  input  logic [RegW-1:0]  push_reg_i,
  input  logic [DataW-1:0] push_data_i,
  input  logic [LoadW-1:0] push_load_i,
  output logic             push_ready_o,

  // an answer of memory
  input  logic             miss_valid_i,
  // `done` is not read: this block determines which part of a load is the last one.
  // verilator lint_off UNUSEDSIGNAL
  input  result_t          miss_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [LoadW-1:0] miss_load_i,
  input  logic             miss_reg_valid_i,
  input  logic [DataW-1:0] miss_data_i,
  output logic             miss_pop_o,

  // result
  output logic             result_valid_o,
  output result_t          result_o,
  output logic             result_reg_valid_o,
  output logic [DataW-1:0] result_data_o,
  input  logic             pop_i
);

  localparam int unsigned NumberW = $clog2(HitQueueDepth);  // width of a place in the ring of numbers
  localparam int unsigned PartsW = $clog2(Lanes + 1);       // width of a count of the parts of a load

  logic [Rows-1:0]    used_q;
  logic [Rows-1:0]    closed_q;
  logic [PartsW-1:0]  count_q  [Rows];
  logic [LoadW-1:0]   current_q;

  // ring of the load numbers of the hits that wait
  logic [NumberW-1:0] number_first_q;
  logic [NumberW:0]   number_count_q;
  logic [LoadW-1:0]   number_q [HitQueueDepth];

  logic               hits_ready;
  logic               hits_head_valid;
  // `done` is not read, as above.
  // verilator lint_off UNUSEDSIGNAL
  result_t            hits_head_result;
  // verilator lint_on UNUSEDSIGNAL
  logic               hits_head_reg_valid;
  logic [DataW-1:0]   hits_head_data;

  logic               continues;   // the new part belongs to the load in current_q
  logic [LoadW-1:0]   free;        // lowest free number
  logic               push;        // a hit is accepted
  logic               hit_pop;     // a hit leaves
  logic [NumberW-1:0] place;       // place of a new number in the ring
  logic [LoadW-1:0]   load;        // number of the result that is offered
  logic               last;        // this result is the last part of its load
  logic               joined;      // the load of this result gets another part at this edge
  logic               goes;        // this result is taken at this edge

  // ------------------------------------------------------------------ numbers
  assign room_o     = used_q != '1;
  assign continues  = ~row_first_i & used_q[current_q] & ~closed_q[current_q];
  assign row_load_o = !row_valid_i ? '0 : continues ? current_q : free;

  always_comb begin
    free = '0;
    for (int unsigned n = Rows; n > 0; n--) begin
      if (!used_q[n-1]) free = LoadW'(n - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q <= '0;
    end else begin
      if (goes && count_q[load] == PartsW'(1) && !joined) used_q[load] <= 1'b0;
      if (row_valid_i)                                    used_q[row_load_o] <= 1'b1;
    end
  end

  // No reset: these registers have no meaning for a number that is not in use.
  always_ff @(posedge clk_i) begin
    if (row_valid_i) begin
      current_q            <= row_load_o;
      closed_q[row_load_o] <= row_last_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (goes && !joined) count_q[load] <= count_q[load] - 1'b1;
    if (row_valid_i) begin
      count_q[row_load_o] <= (continues ? count_q[row_load_o] : '0) + 1'b1 -
                             PartsW'(goes && joined);
    end
  end

  // ------------------------------------------------------------------ choice
  assign load   = miss_valid_i ? miss_load_i :
                  (number_count_q == '0) ? push_load_i : number_q[number_first_q];
  assign last   = closed_q[load] & (count_q[load] == PartsW'(1));
  assign joined = row_valid_i & (row_load_o == load);

  // Counts are not reset: a pop without an offered result is ignored, in reset as well.
  assign goes   = pop_i & result_valid_o;

  assign result_valid_o     = miss_valid_i | hits_head_valid;
  assign result_reg_valid_o = miss_valid_i ? miss_reg_valid_i : hits_head_reg_valid;
  assign result_data_o      = miss_valid_i ? miss_data_i : hits_head_data;

  always_comb begin
    result_o      = miss_valid_i ? miss_i : hits_head_result;
    result_o.done = last;
  end

  assign miss_pop_o = pop_i & miss_valid_i;
  assign hit_pop    = pop_i & ~miss_valid_i;

  // ------------------------------------------------------------------ hits
  assign push_ready_o = hits_ready;
  assign push         = push_valid_i & hits_ready;
  assign place        = number_first_q + number_count_q[NumberW-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      number_first_q <= '0;
      number_count_q <= '0;
    end else begin
      number_first_q <= number_first_q + NumberW'(hit_pop);
      number_count_q <= number_count_q + (NumberW+1)'(push) - (NumberW+1)'(hit_pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) number_q[place] <= push_load_i;
  end

  result_queue #(
    .QueueDepth(HitQueueDepth),
    .Sources   (1)
  ) u_hits (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .push_valid_i     (push),
    .push_warp_i      ('{push_warp_i}),
    .push_mask_i      ('{push_mask_i}),
    .push_reg_valid_i (push_reg_valid_i),
    .push_reg_i       ('{push_reg_i}),
    .push_data_i      ('{push_data_i}),
    .push_pred_valid_i(1'b0),
    .push_pred_i      ('{NoPred}),
    .push_pred_data_i ('{'0}),
    .push_done_i      (1'b0),  // determined when the hit leaves
    .ready_o          (hits_ready),
    // not needed: a hit takes one place only
    // verilator lint_off PINCONNECTEMPTY
    .room_o           (),
    // verilator lint_on PINCONNECTEMPTY
    .head_valid_o     (hits_head_valid),
    .head_result_o    (hits_head_result),
    .head_reg_valid_o (hits_head_reg_valid),
    .head_data_o      (hits_head_data),
    .pop_i            (hit_pop)
  );

  `GPURF_ASSERT_WHEN(number_is_free, row_valid_i && !continues, room_o,
                     "a load found no free number")
  `GPURF_ASSERT_WHEN(result_has_load, result_valid_o, used_q[load] && count_q[load] != '0,
                     "a result came of a load that is not in flight")
  `GPURF_ASSERT_WHEN(pop_result, pop_i, result_valid_o, "a result was taken that was not offered")

endmodule

// Result queue: delays results until their latency has passed.
//
// A ring of results behind a unit. Each result is offered a set number of cycles after it arrived, in the
// order of arrival. The latency is a strap, so that one machine covers several (hierarchy
// thesis, table 4.4). One countdown per place is sufficient, because a late result
// only delays the results after it. With latency 0 a result is offered in the cycle in which it arrives,
// unless others wait: a unit with two stages of registers then answers as early as an ALU, whose
// result spends that cycle in its place. A result that passes is also written, so that the ring need
// not know whether it has been taken.
`include "gpurf_assert.svh"

module result_queue
  import gpurf_pkg::*;
#(
  parameter int unsigned QueueDepth = 16,
  parameter int unsigned Sources = 1,
  localparam int unsigned WaitW = 6,
  localparam int unsigned PlaceW = $clog2(QueueDepth),
  localparam int unsigned CountW = $clog2(QueueDepth + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [WaitW-1:0]   cfg_i,                        // latency

  // results in, at most one at a time
  input  logic [Sources-1:0] push_valid_i,
  input  logic [WarpW-1:0]   push_warp_i      [Sources],
  input  logic [Lanes-1:0]   push_mask_i      [Sources],
  input  logic [Sources-1:0] push_reg_valid_i,
  input  logic [RegW-1:0]    push_reg_i       [Sources],
  input  logic [DataW-1:0]   push_data_i      [Sources],
  input  logic [Sources-1:0] push_pred_valid_i,
  input  logic [PredW-1:0]   push_pred_i      [Sources],
  input  logic [Lanes-1:0]   push_pred_data_i [Sources],
  input  logic [Sources-1:0] push_done_i,                  // last of its instruction
  output logic               ready_o,                      // a place is free
  output logic               room_o,                       // room for a new result of a unit with two stages

  // the result that is offered
  output logic               head_valid_o,
  output result_t            head_result_o,
  output logic               head_reg_valid_o,
  output logic [DataW-1:0]   head_data_o,
  input  logic               pop_i                         // the head leaves at this edge
);

  // A unit with two stages may have two results in flight when it begins the next one.
  localparam int unsigned Room = 3;

  logic [PlaceW-1:0]     first_q;
  logic [CountW-1:0]     count_q;
  logic [WaitW-1:0]      wait_q      [QueueDepth];
  result_t               result_q    [QueueDepth];
  logic [QueueDepth-1:0] reg_valid_q;
  logic [DataW-1:0]      data_q      [QueueDepth];

  logic                  push;
  logic                  pass;      // the arriving result is offered at once
  logic [PlaceW-1:0]     place;     // place of the arriving result
  logic [WaitW-1:0]      latency;   // cycles that it waits there

  // the arriving result
  result_t               in_result;
  logic                  in_reg_valid;
  logic [DataW-1:0]      in_data;

  assign ready_o          = count_q < CountW'(QueueDepth);
  assign room_o           = count_q <= CountW'(QueueDepth - Room);
  assign head_valid_o     = pass | (count_q != '0 && wait_q[first_q] == '0);
  assign head_result_o    = pass ? in_result : result_q[first_q];
  assign head_reg_valid_o = head_valid_o & (pass ? in_reg_valid : reg_valid_q[first_q]);
  assign head_data_o      = pass ? in_data : data_q[first_q];

  // The depth need not be a power of two.
  function automatic logic [PlaceW-1:0] wrapped(logic [PlaceW:0] place_in_line);
    return (place_in_line >= (PlaceW + 1)'(QueueDepth))
        ? PlaceW'(place_in_line - (PlaceW + 1)'(QueueDepth)) : PlaceW'(place_in_line);
  endfunction

  assign push    = push_valid_i != '0;
  assign pass    = push && cfg_i == '0 && count_q == '0;
  assign place   = wrapped({1'b0, first_q} + (PlaceW + 1)'(count_q));
  assign latency = (cfg_i == '0) ? '0 : cfg_i - 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= '0;
      count_q <= '0;
    end else begin
      count_q <= count_q + CountW'(push) - CountW'(pop_i);
      if (pop_i) first_q <= wrapped({1'b0, first_q} + 1'b1);
    end
  end

  for (genvar i = 0; i < QueueDepth; i++) begin : gen_wait
    always_ff @(posedge clk_i) begin
      if (!rst_ni)                            wait_q[i] <= '0;
      else if (push && place == PlaceW'(i))   wait_q[i] <= latency;
      else if (wait_q[i] != '0)               wait_q[i] <= wait_q[i] - 1'b1;
    end
  end

  // The results of the sources. A field that a result does not use is 0, because lockstep compares
  // results as a whole.
  result_t results [Sources];

  for (genvar k = 0; k < Sources; k++) begin : gen_result
    assign results[k] = '{
      done:       push_done_i[k],
      pred_valid: push_pred_valid_i[k],
      pred:       push_pred_i[k] & {PredW{push_pred_valid_i[k]}},
      d:          push_reg_i[k] & {RegW{push_reg_valid_i[k]}},
      warp:       push_warp_i[k],
      pred_data:  push_pred_data_i[k] & {Lanes{push_pred_valid_i[k]}},
      mask:       push_mask_i[k]
    };
  end

  if (Sources == 1) begin : gen_one_source
    assign in_result    = results[0];
    assign in_reg_valid = push_reg_valid_i;
    assign in_data      = push_data_i[0];
  end else begin : gen_sources
    localparam int unsigned SourceW = $clog2(Sources);
    logic [SourceW-1:0] source;   // source whose result arrives

    always_comb begin
      source = '0;
      for (int unsigned k = 0; k < Sources; k++) begin
        if (push_valid_i[k]) source = SourceW'(k);
      end
    end

    assign in_result    = results[source];
    assign in_reg_valid = push_reg_valid_i[source];
    assign in_data      = push_data_i[source];
  end

  // The results have no reset: they mean nothing outside the places in use.
  always_ff @(posedge clk_i) begin
    if (push) begin
      result_q[place]    <= in_result;
      reg_valid_q[place] <= in_reg_valid;
      if (in_reg_valid) data_q[place] <= in_data;
    end
  end

  `GPURF_ASSERT(one_source, $countones(push_valid_i) <= 1,
                "two results were pushed at once")
  `GPURF_ASSERT_WHEN(push_only_with_place, push, ready_o,
                     "a result was pushed into a full queue")
  `GPURF_ASSERT_WHEN(pop_only_when_offered, pop_i, head_valid_o,
                     "a result was taken that was not offered")

endmodule

// Queue for results of warps that are not active.
//
// The queue is in front of one bank and takes the results of loads of warps that have given up their turn, in
// order of arrival. It counts the results that are older than the drain in progress. These are written first,
// then the buffer, then the rest of the queue: so all results reach the bank in the order of their arrival, and
// no buffer has to be searched for the register that a load writes.
`include "gpurf_assert.svh"

module hrf_loads
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 512,
  parameter int unsigned Loads = 8,
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              push_valid_i,
  input  logic [EntryW-1:0] push_entry_i,
  input  logic [Lanes-1:0]  push_mask_i,
  input  logic [DataW-1:0]  push_data_i,
  output logic              room_o,

  output logic              head_valid_o,
  output logic [EntryW-1:0] head_entry_o,
  output logic [Lanes-1:0]  head_mask_o,
  output logic [DataW-1:0]  head_data_o,
  input  logic              pop_i,

  input  logic              mark_i,        // a drain begins
  output logic              old_o          // the head is older than the drain
);

  localparam int unsigned PlaceW = $clog2(Loads);
  localparam int unsigned CountW = $clog2(Loads + 1);

  logic [PlaceW-1:0] first_q;
  logic [CountW-1:0] count_q;
  logic [CountW-1:0] before_q;         // number of results that are older than the drain
  logic [EntryW-1:0] entry_q [Loads];
  logic [Lanes-1:0]  mask_q  [Loads];
  logic [DataW-1:0]  data_q  [Loads];

  logic              push;
  logic [PlaceW-1:0] place;

  assign room_o       = count_q != CountW'(Loads);
  assign head_valid_o = count_q != '0;
  assign head_entry_o = entry_q[first_q];
  assign head_mask_o  = mask_q[first_q];
  assign head_data_o  = data_q[first_q];
  assign old_o        = before_q != '0;

  assign push  = push_valid_i & room_o;
  assign place = first_q + PlaceW'(count_q);  // Loads is a power of two

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q  <= '0;
      count_q  <= '0;
      before_q <= '0;
    end else begin
      first_q <= first_q + PlaceW'(pop_i);
      count_q <= count_q + CountW'(push) - CountW'(pop_i);
      if (mark_i)             before_q <= count_q - CountW'(pop_i);
      else if (before_q != 0) before_q <= before_q - CountW'(pop_i);
    end
  end

  // Results have no reset: a place that is not in use holds no valid result.
  always_ff @(posedge clk_i) begin
    if (push) begin
      entry_q[place] <= push_entry_i;
      mask_q[place]  <= push_mask_i;
      data_q[place]  <= push_data_i;
    end
  end

  `GPURF_ASSERT(pop_of_something, !pop_i || head_valid_o, "a bank took what is not in the queue")
  `GPURF_ASSERT(before_is_here, before_q <= count_q, "more is older than the drain than is here")

endmodule

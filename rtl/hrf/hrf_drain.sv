// Drain: writes a buffer to its bank.
//
// The warp has given up its turn, and the next one will use the other buffer. The entries are read
// one after the other, from entry 0, and offered to the bank (hybrid paper, 4.3 and 4.4).
// Entries are in use from 0 on, so the drain only counts and needs no search. A buffer whose warp has
// ended is dropped.
`include "gpurf_assert.svh"

module hrf_drain
  import gpurf_pkg::*;
#(
  parameter int unsigned BufferEntries = 64,
  localparam int unsigned IndexW = $clog2(BufferEntries),
  localparam int unsigned UsedW = $clog2(BufferEntries + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               flush_i,  // the buffer is to be emptied
  input  logic               drop_i,   // the buffer is emptied without a write
  input  logic [UsedW-1:0]   used_i,

  // from the buffer
  output logic               read_o,
  output logic [IndexW-1:0]  index_o,
  input  logic [RcmRegW-1:0] reg_i,
  input  logic [Lanes-1:0]   lanes_i,

  // to the bank; the data is at the buffer's output
  output logic               valid_o,
  output logic [RcmRegW-1:0] reg_o,
  output logic [Lanes-1:0]   lanes_o,
  input  logic               taken_i,

  output logic               begin_o,  // first cycle of the flush
  output logic               empty_o,  // the buffer is empty from this edge on
  output logic               done_o    // no entry is left to write
);

  logic [UsedW-1:0]   next_q;    // entries read so far
  logic               loaded_q;  // an entry is offered to the bank
  logic               busy_q;    // a flush is in progress
  logic [RcmRegW-1:0] reg_q;
  logic [Lanes-1:0]   lanes_q;

  assign valid_o = loaded_q;
  assign reg_o   = reg_q;
  assign lanes_o = lanes_q;
  assign begin_o = flush_i && !busy_q;
  assign read_o  = flush_i && !drop_i && next_q != used_i && (!loaded_q || taken_i);
  assign index_o = read_o ? IndexW'(next_q) : '0;
  assign empty_o = (flush_i && drop_i) || (loaded_q && taken_i && next_q == used_i);
  assign done_o  = flush_i && (drop_i || used_i == '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || empty_o) begin
      next_q   <= '0;
      loaded_q <= 1'b0;
    end else if (read_o) begin
      next_q   <= next_q + 1'b1;
      loaded_q <= 1'b1;
    end else if (taken_i) begin
      loaded_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else         busy_q <= flush_i && !done_o;
  end

  // Register and lanes have no reset: they are not valid while loaded_q is low.
  always_ff @(posedge clk_i) begin
    if (read_o) begin
      reg_q   <= reg_i;
      lanes_q <= lanes_i;
    end
  end

  `GPURF_ASSERT(taken_is_offered, !taken_i || loaded_q,
                "a bank took an entry that was not offered")
  `GPURF_ASSERT(reads_what_is_used, next_q <= used_i, "a drain went past the entries in use")
  `GPURF_ASSERT(goes_to_the_end, !loaded_q || (flush_i && !drop_i),
                "a flush went away before its end")

endmodule

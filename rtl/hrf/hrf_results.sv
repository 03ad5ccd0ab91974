// Destination of each result: buffer, queue or bank.
//
// The latch at the end of the result bus, and the selection of a destination (hybrid paper, 4.4). The result goes into
// the buffer of the active warp, to its register's entry or to a new one; or into the queue of a bank, if its
// warp is not active; or directly into the bank, if the buffer is full or there is none. A result that
// needs an entry without power waits until the entry has power.
`include "gpurf_assert.svh"

module hrf_results
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 512,
  parameter int unsigned BufferEntries = 64,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned IndexW = (BufferEntries > 0) ? $clog2(BufferEntries) : 1,
  localparam int unsigned UsedW = (BufferEntries > 0) ? $clog2(BufferEntries + 1) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // result bus
  input  logic                write_valid_i,
  output logic                write_ready_o,
  // Some fields of a result are used only by other designs.
  // verilator lint_off UNUSEDSIGNAL
  input  write_t              write_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [EntryW-1:0]   write_base_i,
  input  logic [DataW-1:0]    write_data_i,

  // for the scoreboard
  output logic                write_done_o,
  output written_t            written_o,

  // look-up of the result's warp and register. Without buffers these inputs are not read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Parities-1:0] open_i,
  input  logic [WarpW-1:0]    slot_warp_i [Parities],
  input  logic                hit_i,
  input  logic [IndexW-1:0]   index_i,
  input  logic [UsedW-1:0]    used_i      [Parities],
  input  logic [Parities-1:0] closed_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic [Parities-1:0] need_o,

  // destination of the result
  output logic [Parities-1:0] buffer_valid_o,
  output logic                new_o,
  output logic [IndexW-1:0]   index_o,
  output logic [Parities-1:0] push_valid_o,
  input  logic [Parities-1:0] push_room_i,
  output logic [Parities-1:0] direct_valid_o,
  input  logic [Parities-1:0] direct_taken_i,

  // the result in the latch
  output logic                valid_o,
  output logic [RegW-1:0]     reg_o,
  output logic [EntryW-1:0]   entry_o,
  output logic [Lanes-1:0]    mask_o,
  output logic [DataW-1:0]    data_o
);

  logic              valid_q;
  logic [WarpW-1:0]  warp_q;
  logic [RegW-1:0]   reg_q;
  logic [EntryW-1:0] entry_q;  // entry in the bank of the warp
  logic [Lanes-1:0]  mask_q;
  logic [DataW-1:0]  data_q;

  logic                parity;
  logic                own;    // the warp of the result is active
  logic                full;
  logic                taken;

  assign parity    = warp_q[0];
  assign written_o = '{d: reg_q, warp: warp_q};
  assign valid_o   = valid_q;
  assign reg_o     = reg_q;
  assign entry_o   = entry_q;
  assign mask_o    = mask_q;
  assign data_o    = data_q;

  if (BufferEntries > 0) begin : gen_buffers
    assign own  = open_i[parity] && slot_warp_i[parity] == warp_q;
    assign full = used_i[parity] == UsedW'(BufferEntries);
  end else begin : gen_none
    assign own  = 1'b1;
    assign full = 1'b1;
  end

  always_comb begin
    need_o         = '0;
    buffer_valid_o = '0;
    new_o          = 1'b0;
    index_o        = '0;
    push_valid_o   = '0;
    direct_valid_o = '0;
    if (valid_q) begin
      if (!own) begin
        push_valid_o[parity] = 1'b1;
      end else if (BufferEntries > 0 && hit_i) begin
        buffer_valid_o[parity] = 1'b1;
        index_o                = index_i;
      end else if (full) begin
        direct_valid_o[parity] = 1'b1;
      end else if (closed_i[parity]) begin
        need_o[parity] = 1'b1;
      end else begin
        buffer_valid_o[parity] = 1'b1;
        new_o                  = 1'b1;
        index_o                = IndexW'(used_i[parity]);
      end
    end
  end

  assign write_done_o  = (buffer_valid_o | (push_valid_o & push_room_i) | direct_taken_i) != '0;
  assign write_ready_o = ~valid_q | write_done_o;
  assign taken         = write_valid_i & write_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= taken | (valid_q & ~write_done_o);
  end

  // The result has no reset: it means nothing while valid_q is low.
  always_ff @(posedge clk_i) begin
    if (taken) begin
      warp_q  <= write_i.warp;
      reg_q   <= write_i.d;
      entry_q <= write_base_i + EntryW'(write_i.d);
      mask_q  <= write_i.mask;
      data_q  <= write_data_i;
    end
  end

  `GPURF_ASSERT(taken_is_offered, (direct_taken_i & ~direct_valid_o) == '0,
                "a bank took a result that was not offered")

endmodule

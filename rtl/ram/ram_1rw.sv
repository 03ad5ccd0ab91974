// RAM cell with one port, used for a read or a write in a cycle (stealing paper, section III-B: the
// single-ported banks of the baseline).
//
// A word is a warp register; every lane has a write enable, because inactive lanes of a warp keep
// their value. The cell is a module of its own so that a technology library can replace it and so
// that the harness finds every memory by the same name. Neither the words nor the output register
// are reset, as in a real macro.
module ram_1rw
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 64,
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic              clk_i,

  input  logic              en_i,     // access at this edge
  input  logic              we_i,     // 1: write, 0: read
  input  logic [EntryW-1:0] addr_i,
  input  logic [Lanes-1:0]  wmask_i,  // lanes to write
  input  logic [DataW-1:0]  wdata_i,
  output logic [DataW-1:0]  rdata_o   // word read last; a write leaves it alone
);

  logic [DataW-1:0] mem_q [Depth];
  logic [DataW-1:0] rdata_q;

  assign rdata_o = rdata_q;

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (we_i) mem_q[addr_i] <= merge_lanes(mem_q[addr_i], wdata_i, wmask_i);
      else      rdata_q <= mem_q[addr_i];
    end
  end

endmodule

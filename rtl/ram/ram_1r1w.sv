// RAM cell with a read port and a write port (RFC paper, section 2.1: dual-ported banks, one read
// and one write a cycle).
//
// Each part of a word has a write enable. By default a word is a warp register and a part is a lane,
// because inactive lanes of a warp keep their value. Reading and writing one word at the same edge
// returns the old word. The cell is a module of its own so that a technology library can replace it
// and so that the harness finds every memory by the same name. Neither the words nor the output
// register are reset, as in a real macro.
module ram_1r1w #(
  parameter int unsigned Depth = 64,
  parameter int unsigned Parts = 32,
  parameter int unsigned PartW = 32,
  localparam int unsigned EntryW = (Depth > 1) ? $clog2(Depth) : 1,
  localparam int unsigned WordW = Parts * PartW
) (
  input  logic              clk_i,

  input  logic              re_i,     // read at this edge
  input  logic [EntryW-1:0] raddr_i,

  input  logic              we_i,     // write at this edge
  input  logic [EntryW-1:0] waddr_i,
  input  logic [Parts-1:0]  wmask_i,  // parts to write
  input  logic [WordW-1:0]  wdata_i,

  output logic [WordW-1:0]  rdata_o   // word read last
);

  logic [WordW-1:0] mem_q [Depth];
  logic [WordW-1:0] rdata_q;

  assign rdata_o = rdata_q;

  // A write reads, merges and writes back the word under bit enables: in simulation three
  // operations on whole words cost much less than a decision for each part.
  always_ff @(posedge clk_i) begin : write
    automatic logic [WordW-1:0] enable;  // one bit for each bit of the word
    if (we_i) begin
      for (int unsigned part = 0; part < Parts; part++) begin
        enable[PartW*part +: PartW] = {PartW{wmask_i[part]}};
      end
      mem_q[waddr_i] <= (mem_q[waddr_i] & ~enable) | (wdata_i & enable);
    end
  end

  always_ff @(posedge clk_i) begin : read
    if (re_i) rdata_q <= mem_q[raddr_i];
  end

endmodule

// RAM cell with one port, used for a read or a write in a cycle (stealing paper, section III-B: the
// single-ported banks of the baseline).
//
// Each part of a word has a write enable. By default a word is a warp register and a part is a lane,
// because inactive lanes of a warp keep their value. The cell is a module of its own so that a
// technology library can replace it and so that the harness finds every memory by the same name.
// Neither the words nor the output register are reset, as in a real macro.
module ram_1rw #(
  parameter int unsigned Depth = 64,
  parameter int unsigned Parts = 32,
  parameter int unsigned PartW = 32,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned WordW = Parts * PartW
) (
  input  logic              clk_i,

  input  logic              en_i,     // access at this edge
  input  logic              we_i,     // 1: write, 0: read
  input  logic [EntryW-1:0] addr_i,
  input  logic [Parts-1:0]  wmask_i,  // parts to write
  input  logic [WordW-1:0]  wdata_i,
  output logic [WordW-1:0]  rdata_o   // word read last; a write does not change it
);

  logic [WordW-1:0] mem_q [Depth];
  logic [WordW-1:0] rdata_q;

  assign rdata_o = rdata_q;

  // A write reads, merges and writes back the word under bit enables: in simulation three
  // operations on whole words cost much less than a decision for each part.
  always_ff @(posedge clk_i) begin : access
    automatic logic [WordW-1:0] enable;  // one bit for each bit of the word
    if (en_i) begin
      if (we_i) begin
        for (int unsigned part = 0; part < Parts; part++) begin
          enable[PartW*part +: PartW] = {PartW{wmask_i[part]}};
        end
        mem_q[addr_i] <= (mem_q[addr_i] & ~enable) | (wdata_i & enable);
      end else begin
        rdata_q <= mem_q[addr_i];
      end
    end
  end

endmodule

// RCM: tells which registers are in the active warp's buffer, and in which entry.
//
// The Register Control Module (hybrid paper, 4.4 and figure 5): a place for each register number,
// with a valid bit and the index of an entry, so that no search is needed. One RCM serves
// both buffers. It describes the buffer of the active warp, and is cleared before the next warp becomes active.
`include "gpurf_assert.svh"

module hrf_rcm
  import gpurf_pkg::*;
#(
  parameter int unsigned BufferEntries = 64,
  localparam int unsigned IndexW = $clog2(BufferEntries),
  localparam int unsigned Looks = Operands + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               clear_i,

  // look-ups: sources of an instruction, and a result
  input  logic [RcmRegW-1:0] look_reg_i [Looks],
  output logic [Looks-1:0]   hit_o,
  output logic [IndexW-1:0]  index_o    [Looks],

  // a register gets a new entry
  input  logic               set_valid_i,
  input  logic [RcmRegW-1:0] set_reg_i,
  input  logic [IndexW-1:0]  set_index_i
);

  localparam int unsigned Registers = 2**RcmRegW;

  logic [Registers-1:0] valid_q;
  logic [IndexW-1:0]    index_q [Registers];

  for (genvar k = 0; k < Looks; k++) begin : gen_look
    assign hit_o[k]   = valid_q[look_reg_i[k]];
    assign index_o[k] = index_q[look_reg_i[k]];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) valid_q <= '0;
    else if (set_valid_i)   valid_q[set_reg_i] <= 1'b1;
  end

  // An index has no reset: it means nothing without its valid bit.
  always_ff @(posedge clk_i) begin
    if (set_valid_i) index_q[set_reg_i] <= set_index_i;
  end

  `GPURF_ASSERT(no_set_with_clear, !(clear_i && set_valid_i),
                "a register got an entry while no warp is active")

endmodule

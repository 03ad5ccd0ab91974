// One bank: a RAM, and a bit that says whether the RAM was read at the last clock edge.
//
// Single-ported it performs a read or a write in a cycle (stealing paper, section III-B);
// dual-ported a read and a write (RFC paper, section 2.1: "multiple dual-ported banks (1 read and 1
// write per cycle)").
`include "gpurf_assert.svh"

module mrf_bank
  import gpurf_pkg::*;
#(
  parameter int unsigned DualPort = 0,
  parameter int unsigned Depth = 64,
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              read_valid_i,
  input  logic [EntryW-1:0] read_entry_i,

  input  logic              write_valid_i,
  input  logic [EntryW-1:0] write_entry_i,
  input  logic [Lanes-1:0]  write_mask_i,
  input  logic [DataW-1:0]  write_data_i,

  output logic              read_data_valid_o,
  output logic [DataW-1:0]  read_data_o
);

  logic read_data_valid_d, read_data_valid_q;

  assign read_data_valid_o = read_data_valid_q;

  if (DualPort == 0) begin : gen_1rw
    // A read in the cycle of a write would be lost, so its data is not reported as valid.
    assign read_data_valid_d = read_valid_i & ~write_valid_i;

    ram_1rw #(
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .en_i   (read_valid_i | write_valid_i),
      .we_i   (write_valid_i),
      .addr_i (write_valid_i ? write_entry_i : read_entry_i),
      .wmask_i(write_mask_i),
      .wdata_i(write_data_i),
      .rdata_o(read_data_o)
    );

    `GPURF_ASSERT(one_access, !(read_valid_i && write_valid_i),
                  "a single-ported bank was read and written together")
  end else begin : gen_1r1w
    assign read_data_valid_d = read_valid_i;

    ram_1r1w #(
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .re_i   (read_valid_i),
      .raddr_i(read_entry_i),
      .we_i   (write_valid_i),
      .waddr_i(write_entry_i),
      .wmask_i(write_mask_i),
      .wdata_i(write_data_i),
      .rdata_o(read_data_o)
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) read_data_valid_q <= 1'b0;
    else         read_data_valid_q <= read_data_valid_d;
  end

endmodule

// One write buffer.
//
// SRAM of a few entries. Each entry holds a warp register, its valid lanes and the register's number (hybrid paper,
// 4.4 and figure 5). Entries are used in order from 0 on, so that a drain needs no search: it reads
// the entries in use. There are three read ports for operands and one write port. A drain uses read port 0,
// because no operand is read from a buffer that is being drained.
`include "gpurf_assert.svh"

module hrf_buffer
  import gpurf_pkg::*;
#(
  parameter int unsigned BufferEntries = 64,
  localparam int unsigned IndexW = $clog2(BufferEntries),
  localparam int unsigned UsedW = $clog2(BufferEntries + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // a result
  input  logic                write_valid_i,
  input  logic                write_new_i,               // the result takes a new entry
  input  logic [IndexW-1:0]   write_index_i,
  input  logic [RcmRegW-1:0]  write_reg_i,
  input  logic [Lanes-1:0]    write_mask_i,
  input  logic [DataW-1:0]    write_data_i,

  // operands
  input  logic [IndexW-1:0]   look_index_i  [Operands],
  output logic [Lanes-1:0]    look_lanes_o  [Operands],  // valid lanes of the entry
  input  logic [Operands-1:0] read_i,
  input  logic [IndexW-1:0]   read_index_i  [Operands],

  // drain
  input  logic                drain_read_i,              // the drain reads, on port 0
  input  logic [IndexW-1:0]   drain_index_i,
  output logic [RcmRegW-1:0]  drain_reg_o,
  output logic [Lanes-1:0]    drain_lanes_o,
  input  logic                empty_i,

  output logic [DataW-1:0]    read_data_o   [Operands],
  output logic [UsedW-1:0]    used_o
);

  logic [UsedW-1:0]   used_q;
  logic [RcmRegW-1:0] reg_q   [BufferEntries];
  logic [Lanes-1:0]   lanes_q [BufferEntries];

  assign used_o        = used_q;
  assign drain_reg_o   = reg_q[drain_index_i];
  assign drain_lanes_o = lanes_q[drain_index_i];

  for (genvar k = 0; k < Operands; k++) begin : gen_look
    assign look_lanes_o[k] = lanes_q[look_index_i[k]];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || empty_i)                used_q <= '0;
    else if (write_valid_i && write_new_i) used_q <= used_q + 1'b1;
  end

  // Register numbers and lanes have no reset: they are not valid in an entry that is not in use.
  always_ff @(posedge clk_i) begin
    if (write_valid_i && rst_ni) begin
      if (write_new_i) begin
        reg_q[write_index_i]   <= write_reg_i;
        lanes_q[write_index_i] <= write_mask_i;
      end else begin
        lanes_q[write_index_i] <= lanes_q[write_index_i] | write_mask_i;
      end
    end
  end

  // Each read port is a RAM of its own, and all have the same content; a multi-ported array can replace them.
  for (genvar k = 0; k < Operands; k++) begin : gen_port
    logic              read;
    logic [IndexW-1:0] index;

    if (k == 0) begin : gen_with_drain
      assign read  = read_i[k] | drain_read_i;
      assign index = drain_read_i ? drain_index_i : read_index_i[k];
    end else begin : gen_operands
      assign read  = read_i[k];
      assign index = read_index_i[k];
    end

    ram_1r1w #(
      .Depth(BufferEntries),
      .Parts(Lanes),
      .PartW(LaneW)
    ) u_ram (
      .clk_i,
      .re_i   (read & rst_ni),
      .raddr_i(index),
      .we_i   (write_valid_i & rst_ni),
      .waddr_i(write_index_i),
      .wmask_i(write_mask_i),
      .wdata_i(write_data_i),
      .rdata_o(read_data_o[k])
    );

    `GPURF_ASSERT_WHEN(read_is_used, read, UsedW'(index) < used_q,
                       "an entry was read that is not in use")
  end

  `GPURF_ASSERT(one_reader, !(drain_read_i && read_i[0]),
                "a buffer was read by an instruction and a drain together")
  `GPURF_ASSERT_WHEN(new_is_next, write_valid_i && write_new_i,
                     UsedW'(write_index_i) == used_q && used_q < UsedW'(BufferEntries),
                     "a result took an entry that is not the next one")
  `GPURF_ASSERT_WHEN(old_is_used, write_valid_i && !write_new_i, UsedW'(write_index_i) < used_q,
                     "a result was written to an entry that is not in use")

endmodule

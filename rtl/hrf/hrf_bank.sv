// One bank of STT-RAM.
//
// Half of the main register file in the hybrid design. A read takes one cycle, a write four (hybrid
// paper, 3.2 and table 1); both latencies are straps. The bank performs one access at a time. A write is held in
// a latch while the cells change; reads that begin after the write see the new value.
`include "gpurf_assert.svh"

module hrf_bank
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 512,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned WriteCyclesW = 4,
  localparam int unsigned ReadCyclesW = 2,
  localparam int unsigned CfgW = WriteCyclesW + ReadCyclesW
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [CfgW-1:0]   cfg_i,          // read latency less 1, write latency

  input  logic              read_valid_i,
  input  logic [EntryW-1:0] read_entry_i,
  output logic              read_ready_o,

  input  logic              write_valid_i,
  input  logic [EntryW-1:0] write_entry_i,
  input  logic [Lanes-1:0]  write_mask_i,
  input  logic [DataW-1:0]  write_data_i,
  output logic              write_ready_o,
  output logic              writing_o,      // a write is in progress

  output logic              read_data_valid_o,
  output logic [DataW-1:0]  read_data_o
);

  localparam int unsigned ReadLeftW = ReadCyclesW + 1;

  // Cycles that the access in progress still takes, this cycle included.
  logic [WriteCyclesW-1:0] write_left_q;
  logic [ReadLeftW-1:0]    read_left_q;

  // the write in progress
  logic [EntryW-1:0]       entry_q;
  logic [Lanes-1:0]        mask_q;
  logic [DataW-1:0]        data_q;

  logic                    read;   // a read begins at this edge
  logic                    write;  // a write is accepted at this edge
  logic                    store;  // the write in progress ends at this edge

  assign writing_o         = write_left_q != '0;
  assign write_ready_o     = write_left_q <= WriteCyclesW'(1) && read_left_q <= ReadLeftW'(1);
  assign read_ready_o      = write_left_q == '0 && read_left_q <= ReadLeftW'(1);
  assign read_data_valid_o = read_left_q == ReadLeftW'(1);

  assign write = write_valid_i & write_ready_o;
  assign read  = read_valid_i & read_ready_o & ~write_valid_i;
  assign store = write_left_q == WriteCyclesW'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_left_q <= '0;
      read_left_q  <= '0;
    end else begin
      if (write) begin
        write_left_q <= (cfg_i[WriteCyclesW-1:0] == '0) ? WriteCyclesW'(1)
                                                        : cfg_i[WriteCyclesW-1:0];
      end else if (write_left_q != '0) begin
        write_left_q <= write_left_q - 1'b1;
      end
      if (read) begin
        read_left_q <= ReadLeftW'(cfg_i[CfgW-1:WriteCyclesW]) + 1'b1;
      end else if (read_left_q != '0) begin
        read_left_q <= read_left_q - 1'b1;
      end
    end
  end

  // Entry, mask and data of the write have no reset: they are not valid while write_left_q is 0.
  always_ff @(posedge clk_i) begin
    if (write) begin
      entry_q <= write_entry_i;
      mask_q  <= write_mask_i;
      data_q  <= write_data_i;
    end
  end

  ram_1rw #(
    .Depth(Depth),
    .Parts(Lanes),
    .PartW(LaneW)
  ) u_ram (
    .clk_i,
    .en_i   (read | store),
    .we_i   (store),
    .addr_i (store ? entry_q : read_entry_i),
    .wmask_i(mask_q),
    .wdata_i(data_q),
    .rdata_o(read_data_o)
  );

  `GPURF_ASSERT(one_access, !(read_valid_i && read_ready_o && write_valid_i),
                "a bank was offered a read and a write together")

endmodule

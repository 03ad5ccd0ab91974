// One column of the unified banks: bank b of each of the 8 clusters (hierarchy thesis 7.3.2).
//
// Registers use a column like a dual-ported bank: one access reads or writes one warp register. Data cache and
// scratchpad memory use the ports that registers leave free, cluster by cluster (7.3.3): a register read takes the
// read ports of all clusters, because the bank reads whole entries; a register write takes only the write
// ports of the clusters in which it writes a lane. Registers never wait here: a memory access is performed only
// if its port is ready, so its requester has to check the ready in the same cycle.
//
// With separate ports no memory access waits for a register access: this is the reference for the cost of
// waiting (7.5.5). Registers and memory have no entry in common, so each of the two has RAMs of its own.
`include "gpurf_assert.svh"

module unified_bank
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 768,
  parameter int unsigned Separate = 0,  // 1: registers and memory have ports of their own
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // registers
  input  logic                    read_valid_i,
  input  logic [EntryW-1:0]       read_entry_i,
  input  logic                    write_valid_i,
  input  logic [EntryW-1:0]       write_entry_i,
  input  logic [Lanes-1:0]        write_mask_i,
  input  logic [DataW-1:0]        write_data_i,

  // memory, a bit or an element for each cluster
  input  logic [Clusters-1:0]     memory_read_i,
  input  logic [EntryW-1:0]       memory_read_entry_i  [Clusters],
  input  logic [Clusters-1:0]     memory_write_i,
  input  logic [EntryW-1:0]       memory_write_entry_i [Clusters],
  input  logic [ClusterBytes-1:0] memory_write_bytes_i [Clusters],
  input  logic [DataW-1:0]        memory_write_data_i,
  output logic                    memory_read_ready_o,   // no register read takes the read ports
  output logic [Clusters-1:0]     memory_write_ready_o,  // no register write takes the port of the cluster

  output logic                    read_data_valid_o,     // a register was read at the last edge
  output logic [DataW-1:0]        read_data_o,
  output logic [DataW-1:0]        memory_data_o          // data that was read for memory
);

  localparam int unsigned LaneBytes = ClusterBytes / GroupLanes;

  logic read_data_valid_q;

  assign read_data_valid_o   = read_data_valid_q;
  assign memory_read_ready_o = (Separate != 0) | ~read_valid_i;

  for (genvar g = 0; g < Clusters; g++) begin : gen_cluster
    logic                    register_write;
    logic [ClusterBytes-1:0] register_bytes;  // bytes of the lanes that the register write selects
    logic                    register_reads;  // registers use the read port of `u_ram`; next: the write port
    logic                    register_writes;

    for (genvar l = 0; l < GroupLanes; l++) begin : gen_lane
      assign register_bytes[LaneBytes*l +: LaneBytes] = {LaneBytes{write_mask_i[GroupLanes*g+l]}};
    end

    assign register_write          = write_valid_i & (register_bytes != '0);
    assign register_reads          = (Separate != 0) | read_valid_i;
    assign register_writes         = (Separate != 0) | register_write;
    assign memory_write_ready_o[g] = (Separate != 0) | ~register_write;

    ram_1r1w #(
      .Depth(Depth),
      .Parts(ClusterBytes),
      .PartW(8)
    ) u_ram (
      .clk_i,
      .re_i   (rst_ni & (register_reads ? read_valid_i : memory_read_i[g])),
      .raddr_i(register_reads ? read_entry_i : memory_read_entry_i[g]),
      .we_i   (register_writes ? register_write : memory_write_i[g]),
      .waddr_i(register_writes ? write_entry_i : memory_write_entry_i[g]),
      .wmask_i(register_writes ? register_bytes : memory_write_bytes_i[g]),
      .wdata_i(register_writes ? write_data_i[ClusterW*g +: ClusterW]
                               : memory_write_data_i[ClusterW*g +: ClusterW]),
      .rdata_o(read_data_o[ClusterW*g +: ClusterW])
    );

    if (Separate == 0) begin : gen_shared
      assign memory_data_o[ClusterW*g +: ClusterW] = read_data_o[ClusterW*g +: ClusterW];
    end else begin : gen_separate
      ram_1r1w #(
        .Depth(Depth),
        .Parts(ClusterBytes),
        .PartW(8)
      ) u_memory (
        .clk_i,
        .re_i   (rst_ni & memory_read_i[g]),
        .raddr_i(memory_read_entry_i[g]),
        .we_i   (memory_write_i[g]),
        .waddr_i(memory_write_entry_i[g]),
        .wmask_i(memory_write_bytes_i[g]),
        .wdata_i(memory_write_data_i[ClusterW*g +: ClusterW]),
        .rdata_o(memory_data_o[ClusterW*g +: ClusterW])
      );
    end

    `GPURF_ASSERT_WHEN(memory_read_exists, memory_read_i[g], 32'(memory_read_entry_i[g]) < Depth,
                       "memory reads an entry beyond the last one")
    `GPURF_ASSERT_WHEN(memory_write_exists, memory_write_i[g], 32'(memory_write_entry_i[g]) < Depth,
                       "memory writes an entry beyond the last one")
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) read_data_valid_q <= 1'b0;
    else         read_data_valid_q <= read_valid_i;
  end

  `GPURF_ASSERT_WHEN(read_exists, read_valid_i, 32'(read_entry_i) < Depth,
                     "a register is read beyond the last entry")
  `GPURF_ASSERT_WHEN(write_exists, write_valid_i, 32'(write_entry_i) < Depth,
                     "a register is written beyond the last entry")

endmodule

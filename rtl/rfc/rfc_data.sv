// The data array of one cache.
//
// Three read ports and one write port over all entries (RFC paper, figure 5: 3R/1W). They are three memories
// with the same content; a technology with multi-ported memories needs only one. Stage D performs the reads
// and writes that the tags have decided a cycle ago. In stage O operands and evicted values are at the
// outputs of the memories. Reads and writes follow the tags by the same delay, and a read gets the old value
// of an entry that is written at the same edge, so no write comes between a hit
// and its read. The old value that a last result file (rfc_lrf) spills arrives in D, in the cycle in which that file
// reads it.
`include "gpurf_assert.svh"

module rfc_data
  import gpurf_pkg::*;
#(
  parameter int unsigned Slots = 8,
  parameter int unsigned Entries = 6,
  parameter int unsigned TagW = 4,
  localparam int unsigned Words = Slots * Entries,
  localparam int unsigned IndexW = (Words > 1) ? $clog2(Words) : 1,
  localparam int unsigned PortW = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // an instruction leaves T
  input  logic                move_valid_i,
  input  logic [TagW-1:0]     move_tag_i,
  input  logic [Operands-1:0] move_fill_i,               // the source has lanes in the cache
  input  logic [PortW-1:0]    move_port_i   [Operands],  // read port that serves the source
  input  logic [Operands-1:0] read_i,
  input  logic [IndexW-1:0]   read_index_i  [Operands],

  // an eviction begins
  input  logic                evict_valid_i,
  input  logic [PortW-1:0]    evict_port_i,
  input  logic [IndexW-1:0]   evict_index_i,

  // a value is written: now its tags, a cycle later its data
  input  logic                write_valid_i,
  input  logic [IndexW-1:0]   write_index_i,
  input  logic [Lanes-1:0]    write_mask_i,
  input  logic [DataW-1:0]    write_data_i,
  input  logic                spill_i,                   // in D: spill_data_i is written instead
  input  logic [DataW-1:0]    spill_data_i,

  // operands in O
  output logic                land_valid_o,
  output logic [TagW-1:0]     land_tag_o,
  output logic [Operands-1:0] land_fill_o,
  output logic [DataW-1:0]    land_data_o   [Operands],

  // an evicted value in O
  output logic                evict_data_valid_o,
  output logic [DataW-1:0]    evict_data_o
);

  // D
  logic                d_move_q;
  logic [TagW-1:0]     d_tag_q;
  logic [Operands-1:0] d_fill_q;
  logic [PortW-1:0]    d_port_q  [Operands];
  logic [Operands-1:0] d_read_q;
  logic [IndexW-1:0]   d_index_q [Operands];
  logic                d_evict_q;
  logic [PortW-1:0]    d_evict_port_q;
  logic [IndexW-1:0]   d_evict_index_q;
  logic                d_write_q;
  logic [IndexW-1:0]   d_write_index_q;
  logic [Lanes-1:0]    d_write_mask_q;
  logic [DataW-1:0]    d_write_data_q;

  // O
  logic                o_land_q;
  logic [TagW-1:0]     o_tag_q;
  logic [Operands-1:0] o_fill_q;
  logic [PortW-1:0]    o_port_q  [Operands];
  logic                o_evict_q;
  logic [PortW-1:0]    o_evict_port_q;

  logic [DataW-1:0]    port_data [Operands];  // outputs of the memories

  // ------------------------------------------------------------------ T to D
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      d_move_q  <= 1'b0;
      d_evict_q <= 1'b0;
      d_write_q <= 1'b0;
    end else begin
      d_move_q  <= move_valid_i;
      d_evict_q <= evict_valid_i;
      d_write_q <= write_valid_i;
    end
  end

  // The payloads have no reset: they mean nothing while their valid is low.
  always_ff @(posedge clk_i) begin
    if (move_valid_i) begin
      d_tag_q  <= move_tag_i;
      d_fill_q <= move_fill_i;
      d_read_q <= read_i;
    end
    if (evict_valid_i) begin
      d_evict_port_q  <= evict_port_i;
      d_evict_index_q <= evict_index_i;
    end
    if (write_valid_i) begin
      d_write_index_q <= write_index_i;
      d_write_mask_q  <= write_mask_i;
      d_write_data_q  <= write_data_i;
    end
  end

  // ------------------------------------------------------------------ D to O
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      o_land_q  <= 1'b0;
      o_evict_q <= 1'b0;
    end else begin
      o_land_q  <= d_move_q && d_fill_q != '0;
      o_evict_q <= d_evict_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (d_move_q) begin
      o_tag_q  <= d_tag_q;
      o_fill_q <= d_fill_q;
    end
    if (d_evict_q) o_evict_port_q <= d_evict_port_q;
  end

  for (genvar k = 0; k < Operands; k++) begin : gen_port
    logic evicts;

    always_ff @(posedge clk_i) begin
      if (move_valid_i) begin
        d_port_q[k] <= move_port_i[k];
        if (read_i[k]) d_index_q[k] <= read_index_i[k];
      end
      if (d_move_q) o_port_q[k] <= d_port_q[k];
    end

    assign evicts = d_evict_q && d_evict_port_q == PortW'(k);

    ram_1r1w #(
      .Depth(Words)
    ) u_ram (
      .clk_i,
      .re_i   ((d_move_q & d_read_q[k]) | evicts),
      .raddr_i(evicts ? d_evict_index_q : d_index_q[k]),
      .we_i   (d_write_q),
      .waddr_i(d_write_index_q),
      .wmask_i(d_write_mask_q),
      .wdata_i(spill_i ? spill_data_i : d_write_data_q),
      .rdata_o(port_data[k])
    );
  end

  // ------------------------------------------------------------------ O
  assign land_valid_o       = o_land_q;
  assign land_tag_o         = o_tag_q;
  assign land_fill_o        = o_fill_q;
  assign evict_data_valid_o = o_evict_q;

  for (genvar k = 0; k < Operands; k++) begin : gen_land
    always_comb begin
      case (o_port_q[k])
        2'd1:    land_data_o[k] = port_data[1];
        2'd2:    land_data_o[k] = port_data[2];
        default: land_data_o[k] = port_data[0];
      endcase
    end
  end

  always_comb begin
    case (o_evict_port_q)
      2'd1:    evict_data_o = port_data[1];
      2'd2:    evict_data_o = port_data[2];
      default: evict_data_o = port_data[0];
    endcase
  end

  for (genvar k = 0; k < Operands; k++) begin : gen_check
    `GPURF_ASSERT_WHEN(port_is_free, evict_valid_i && evict_port_i == PortW'(k),
                       !(move_valid_i && read_i[k]),
                       "an eviction reads on a port that an operand uses")
    `GPURF_ASSERT_WHEN(source_has_port, move_valid_i && move_fill_i[k], move_port_i[k] != '1,
                       "an operand is read on a port that does not exist")
  end
  `GPURF_ASSERT_WHEN(eviction_has_port, evict_valid_i, evict_port_i != '1,
                     "an eviction reads on a port that does not exist")

endmodule

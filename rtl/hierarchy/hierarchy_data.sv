// The arrays of ORF and LRF, for the slots of one issue port.
//
// The ORF has three read ports and one write port over all entries (hierarchy thesis, 6.2.2). They are three
// memories with the same content; a technology with multi-ported memories needs only one. A bank of the LRF
// has one word for each slot, so one read port serves all sources that read the bank. A unified LRF has one
// bank, a split LRF has one for each operand slot. The level of an operand need not be looked up, so the array is
// read in the cycle after the instruction is taken (D), and its outputs are valid in the next cycle (O).
`include "gpurf_assert.svh"

module hierarchy_data
  import gpurf_pkg::*;
#(
  parameter int unsigned Slots = 8,
  parameter int unsigned Entries = 3,
  parameter int unsigned LrfBanks = 0,
  parameter int unsigned TagW = 3,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned Words = Slots * Entries,
  localparam int unsigned IndexW = (Words > 1) ? $clog2(Words) : 1,
  localparam int unsigned PortW = 2,
  localparam int unsigned BankWords = (LrfBanks > 1) ? LrfBanks : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // an instruction is taken
  input  logic                 move_valid_i,
  input  logic [TagW-1:0]      move_tag_i,
  input  logic [LocalW-1:0]    move_slot_i,
  input  logic [Operands-1:0]  move_orf_i,                 // the source is read from the ORF
  input  logic [Operands-1:0]  move_lrf_i,                 // the source is read from the LRF
  input  logic [PortW-1:0]     move_port_i     [Operands], // read port of the ORF for the source
  input  logic [OrfW-1:0]      move_entry_i    [Operands],
  input  logic [Operands-1:0]  move_orf_read_i,            // read ports that read
  // A bank that does not exist is not read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [LrfPlaces-1:0] move_lrf_read_i,            // banks that are read

  // an entry of the ORF is written
  input  logic                 orf_valid_i,
  input  logic [LocalW-1:0]    orf_slot_i,
  input  logic [OrfW-1:0]      orf_entry_i,
  input  logic [Lanes-1:0]     orf_mask_i,
  input  logic [DataW-1:0]     orf_data_i,

  // a bank of the LRF is written
  input  logic                 lrf_valid_i,
  input  logic [LocalW-1:0]    lrf_slot_i,
  input  logic [LrfW-1:0]      lrf_bank_i,
  input  logic [Lanes-1:0]     lrf_mask_i,
  input  logic [DataW-1:0]     lrf_data_i,
  // verilator lint_on UNUSEDSIGNAL

  // operands in O
  output logic                 land_valid_o,
  output logic [TagW-1:0]      land_tag_o,
  output logic [Operands-1:0]  land_fill_o,
  output logic [DataW-1:0]     land_data_o     [Operands]
);

  // D
  logic                 d_move_q;
  logic [TagW-1:0]      d_tag_q;
  logic [Operands-1:0]  d_orf_q;
  logic [Operands-1:0]  d_lrf_q;
  logic [Operands-1:0]  d_orf_read_q;
  // verilator lint_off UNUSEDSIGNAL
  logic [LocalW-1:0]    d_slot_q;
  logic [LrfPlaces-1:0] d_lrf_read_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [PortW-1:0]     d_port_q  [Operands];
  logic [IndexW-1:0]    d_index_q [Operands];

  // O
  logic                 o_land_q;
  logic [TagW-1:0]      o_tag_q;
  logic [Operands-1:0]  o_orf_q;
  logic [Operands-1:0]  o_lrf_q;
  logic [PortW-1:0]     o_port_q  [Operands];

  logic [IndexW-1:0]    orf_index;             // index of the entry that is written
  logic [DataW-1:0]     port_data [Operands];  // outputs of the ORF
  logic [DataW-1:0]     bank_data [BankWords]; // outputs of the LRF

  // The index of an entry of a slot.
  function automatic logic [IndexW-1:0] index_of(logic [LocalW-1:0] slot, logic [OrfW-1:0] entry);
    return IndexW'(Entries * 32'(slot) + 32'(entry));
  endfunction

  assign orf_index = index_of(orf_slot_i, orf_entry_i);

  // ------------------------------------------------------------------ the stages
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      d_move_q <= 1'b0;
      o_land_q <= 1'b0;
    end else begin
      d_move_q <= move_valid_i;
      o_land_q <= d_move_q && (d_orf_q | d_lrf_q) != '0;
    end
  end

  // The payloads have no reset: they mean nothing while their valid is low.
  always_ff @(posedge clk_i) begin
    if (move_valid_i) begin
      d_tag_q      <= move_tag_i;
      d_slot_q     <= move_slot_i;
      d_orf_q      <= move_orf_i;
      d_lrf_q      <= move_lrf_i;
      d_orf_read_q <= move_orf_read_i;
      d_lrf_read_q <= move_lrf_read_i;
    end
    if (d_move_q) begin
      o_tag_q <= d_tag_q;
      o_orf_q <= d_orf_q;
      o_lrf_q <= d_lrf_q;
    end
  end

  // ------------------------------------------------------------------ the ORF
  for (genvar k = 0; k < Operands; k++) begin : gen_orf
    always_ff @(posedge clk_i) begin
      if (move_valid_i) begin
        d_port_q[k] <= move_port_i[k];
        if (move_orf_read_i[k]) d_index_q[k] <= index_of(move_slot_i, move_entry_i[k]);
      end
      if (d_move_q) o_port_q[k] <= d_port_q[k];
    end

    ram_1r1w #(
      .Depth(Words)
    ) u_ram (
      .clk_i,
      .re_i   (d_move_q & d_orf_read_q[k]),
      .raddr_i(d_index_q[k]),
      .we_i   (orf_valid_i),
      .waddr_i(orf_index),
      .wmask_i(orf_mask_i),
      .wdata_i(orf_data_i),
      .rdata_o(port_data[k])
    );

    `GPURF_ASSERT_WHEN(orf_read_or_written, orf_valid_i && d_move_q && d_orf_read_q[k],
                       d_index_q[k] != orf_index,
                       "an entry of the ORF is written while it is read")
    `GPURF_ASSERT_WHEN(source_has_port, move_valid_i && move_orf_i[k], move_port_i[k] != '1,
                       "an operand is read on a port that does not exist")
    `GPURF_ASSERT_WHEN(source_has_level, move_valid_i && move_orf_i[k], !move_lrf_i[k],
                       "an operand is read from the ORF and from the LRF")
  end
  `GPURF_ASSERT_WHEN(entry_is_there, orf_valid_i, 32'(orf_entry_i) < Entries,
                     "an entry of the ORF is written that does not exist")

  // ------------------------------------------------------------------ the LRF
  for (genvar b = 0; b < LrfBanks; b++) begin : gen_lrf
    ram_1r1w #(
      .Depth(Slots)
    ) u_ram (
      .clk_i,
      .re_i   (d_move_q & d_lrf_read_q[b]),
      .raddr_i(d_slot_q),
      .we_i   (lrf_valid_i && lrf_bank_i == LrfW'(b)),
      .waddr_i(lrf_slot_i),
      .wmask_i(lrf_mask_i),
      .wdata_i(lrf_data_i),
      .rdata_o(bank_data[b])
    );

    `GPURF_ASSERT_WHEN(lrf_read_or_written,
                       lrf_valid_i && lrf_bank_i == LrfW'(b) && d_move_q && d_lrf_read_q[b],
                       d_slot_q != lrf_slot_i,
                       "a bank of the LRF is written while it is read")
  end

  // There is no bank.
  if (LrfBanks == 0) begin : gen_no_lrf
    assign bank_data[0] = '0;
  end
  `GPURF_ASSERT_WHEN(bank_is_there, lrf_valid_i, 32'(lrf_bank_i) + 1 <= LrfBanks,
                     "a bank of the LRF is written that does not exist")

  // ------------------------------------------------------------------ O
  assign land_valid_o = o_land_q;
  assign land_tag_o   = o_tag_q;
  assign land_fill_o  = (o_orf_q | o_lrf_q) & {Operands{o_land_q}};

  for (genvar k = 0; k < Operands; k++) begin : gen_land
    // A split LRF has a bank for each source, a unified one has a bank for all.
    localparam int unsigned Bank = (LrfBanks > 1) ? k : 0;

    always_comb begin
      if (LrfBanks != 0 && o_lrf_q[k]) begin
        land_data_o[k] = bank_data[Bank];
      end else begin
        case (o_port_q[k])
          2'd1:    land_data_o[k] = port_data[1];
          2'd2:    land_data_o[k] = port_data[2];
          default: land_data_o[k] = port_data[0];
        endcase
      end
    end
  end

endmodule

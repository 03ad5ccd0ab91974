// The storage of the register file without conflicts, and its operand latches.
//
// A read port for each operand slot and a write port for each result bus (stealing paper, sections
// III-A and IV-A: the bound that bank stealing approaches). It stands where the banked register
// file has arbiter, banks and crossbar. The words are registers and not a RAM cell, because no RAM
// has so many ports; this block is a reference for cycles and is not meant to be built.
module mrf_ideal_store
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                  clk_i,

  // reads performed at this edge
  input  logic [Slots-1:0]      fill_i,                             // slot takes its register
  input  logic [BankW-1:0]      fill_bank_i      [Slots],
  input  logic [EntryW-1:0]     fill_entry_i     [Slots],

  // results written at this edge
  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [BankW-1:0]      write_bank_i     [IssuePorts],
  input  logic [EntryW-1:0]     write_entry_i    [IssuePorts],
  input  logic [Lanes-1:0]      write_mask_i     [IssuePorts],
  input  logic [DataW-1:0]      write_data_i     [IssuePorts],

  // dispatch
  // The data multiplexer is active in every cycle; the valid only says when its output has a meaning.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0] dispatch_valid_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [ColW-1:0]       dispatch_col_i   [IssuePorts],
  output logic [DataW-1:0]      dispatch_data_o  [Operands*IssuePorts]
);

  localparam int unsigned SlotW = $clog2(Slots);

  logic [DataW-1:0] word_q    [Banks*Depth];
  logic [DataW-1:0] operand_q [Slots];

  logic             meet;  // bus 0 writes the word that bus 1 addresses

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_dispatch
    for (genvar s = 0; s < Operands; s++) begin : gen_operand
      assign dispatch_data_o[Operands*p+s] =
          operand_q[SlotW'(Operands) * SlotW'(dispatch_col_i[p]) + SlotW'(s)];
    end
  end

  // Neither words nor latches have a reset. Banks is a power of two, so entry and bank, concatenated,
  // are the index of the word. The multiplexer is evaluated only under its enable, so that simulation moves
  // 1024 bits only for a slot that takes them.
  for (genvar i = 0; i < Slots; i++) begin : gen_slot
    always_ff @(posedge clk_i) begin
      if (fill_i[i]) operand_q[i] <= word_q[{fill_entry_i[i], fill_bank_i[i]}];
    end
  end

  assign meet = (IssuePorts > 1) && write_valid_i[0] &&
                write_bank_i[0] == write_bank_i[IssuePorts-1] &&
                write_entry_i[0] == write_entry_i[IssuePorts-1];

  // A write reads, merges and writes back the word under bit enables: in simulation three
  // operations on whole words cost much less than a decision for each lane. Where both buses write one word,
  // bus 1 merges its lanes into the word that bus 0 has merged.
  always_ff @(posedge clk_i) begin : write
    automatic logic [DataW-1:0] enable;  // a bit for each bit of the word
    automatic logic [DataW-1:0] merged;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_valid_i[p]) begin
        for (int unsigned lane = 0; lane < Lanes; lane++) begin
          enable[LaneW*lane +: LaneW] = {LaneW{write_mask_i[p][lane]}};
        end
        if (p == 0 || !meet) merged = word_q[{write_entry_i[p], write_bank_i[p]}];
        merged = (merged & ~enable) | (write_data_i[p] & enable);
        word_q[{write_entry_i[p], write_bank_i[p]}] <= merged;
      end
    end
  end

endmodule

// The latch at the end of a result bus.
//
// Holds one result from the cycle after it arrived until its bank takes it (stealing paper, section
// II-B: results share the banks with operand reads, so a result may have to wait). One entry is
// enough for a result in every cycle, because a latch that empties takes the next result at the
// same edge.
module mrf_write_queue
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // result bus
  input  logic               push_valid_i,
  output logic               push_ready_o,
  input  logic [BankW-1:0]   push_bank_i,
  input  logic [EntryW-1:0]  push_entry_i,
  input  logic [WarpW-1:0]   push_warp_i,
  input  logic [RegW-1:0]    push_reg_i,
  input  logic [Lanes-1:0]   push_mask_i,
  input  logic [DataW-1:0]   push_data_i,

  // waiting result
  input  logic               pop_i,          // the waiting result is written at this edge
  output logic               head_valid_o,
  output logic [BankW-1:0]   head_bank_o,
  output logic [EntryW-1:0]  head_entry_o,
  output logic [WarpW-1:0]   head_warp_o,
  output logic [RegW-1:0]    head_reg_o,
  output logic [Lanes-1:0]   head_mask_o,
  output logic [DataW-1:0]   head_data_o,
  output logic [GroupsW-1:0] head_groups_o   // lane groups that the write costs
);

  logic              valid_d, valid_q;
  logic [BankW-1:0]  bank_q;
  logic [EntryW-1:0] entry_q;
  logic [WarpW-1:0]  warp_q;
  logic [RegW-1:0]   reg_q;
  logic [Lanes-1:0]  mask_q;
  logic [DataW-1:0]  data_q;
  logic              push;

  assign push_ready_o  = ~valid_q | pop_i;
  assign head_valid_o  = valid_q;
  assign head_bank_o   = bank_q;
  assign head_entry_o  = entry_q;
  assign head_warp_o   = warp_q;
  assign head_reg_o    = reg_q;
  assign head_mask_o   = mask_q;
  assign head_data_o   = data_q;
  assign head_groups_o = active_groups(mask_q);

  assign push    = push_valid_i & push_ready_o;
  assign valid_d = push | (valid_q & ~pop_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= valid_d;
  end

  // The payload has no reset: it means nothing while valid_q is low.
  always_ff @(posedge clk_i) begin
    if (push) begin
      bank_q  <= push_bank_i;
      entry_q <= push_entry_i;
      warp_q  <= push_warp_i;
      reg_q   <= push_reg_i;
      mask_q  <= push_mask_i;
      data_q  <= push_data_i;
    end
  end

endmodule

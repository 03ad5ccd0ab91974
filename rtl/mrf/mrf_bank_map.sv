// Location of a register: its bank, and its entry in that bank.
//
// Spreads the registers of a warp, and the same register of different warps, over the banks, so
// that operands of an instruction and of its neighbours rarely meet at a bank (stealing paper,
// section II-B). A row is one entry of every bank; a warp owns whole rows from its base on.
// Stateless, and a block of its own because every register file organisation asks the same
// question.
module mrf_bank_map
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic [WarpW-1:0]  warp_i,
  input  logic [RegW-1:0]   reg_i,
  input  logic [EntryW-1:0] base_i,   // first row of the warp's registers
  output logic [BankW-1:0]  bank_o,
  output logic [EntryW-1:0] entry_o
);

  // Banks is a power of two: dropping upper bits is the modulo, and the division is a shift. Depth is a power of
  // two as well, or all rows that a warp owns are below Depth and no row wraps.
  assign bank_o  = BankW'(reg_i + RegW'(warp_i));
  assign entry_o = base_i + EntryW'(32'(reg_i) / Banks);

endmodule

// Location of a register, if registers are allocated one by one.
//
// A warp of a host, or of a block that shares nothing, has its registers in consecutive places. A warp of
// a guest has places of its own for its private register names, and uses the places of the host's warp
// for all other names (sharing thesis 2.2.1, figure 2.5). Stateless; takes the role of mrf_bank_map.
module register_places
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic [WarpW-1:0]  warp_i,
  input  logic [RegW-1:0]   reg_i,
  input  register_layout_t  layout_i,
  output logic [BankW-1:0]  bank_o,
  output logic [EntryW-1:0] entry_o
);

  logic                      guest;
  logic [WarpW-1:0]          index;   // number of the warp among the warps of hosts, or among the warps of guests
  logic [RegisterPlaceW-1:0] place;
  logic [EntryW-1:0]         row;

  assign guest = {1'b0, warp_i} >= layout_i.host_warps;
  assign index = guest ? WarpW'({1'b0, warp_i} - layout_i.host_warps) : warp_i;

  always_comb begin
    if (guest && reg_i < layout_i.private_registers) begin
      place = layout_i.guest_base + RegisterPlaceW'(index) * RegisterPlaceW'(layout_i.private_registers);
    end else begin
      place = RegisterPlaceW'(index) * RegisterPlaceW'(layout_i.registers);
    end
    place = place + RegisterPlaceW'(reg_i);
  end

  // Banks and Depth are powers of two. Each row starts one bank further than the row before, so that
  // the same register of neighbouring warps is in different banks.
  assign row     = EntryW'(32'(place) / Banks);
  assign entry_o = row;
  assign bank_o  = BankW'(place) + BankW'(row);

endmodule

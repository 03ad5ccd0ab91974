// Keeps heads from issuing that use a place with a pending write.
//
// The scoreboard knows registers only. A write to an entry of the ORF or a bank of the LRF may be pending
// although no register is: the copy of an operand, whose register is not written, or the result of another
// register, from a unit with a longer latency. An instruction that uses such a place does not issue.
// Only heads of warps with a slot are checked: the other warps do not issue anyway.
module hierarchy_scoreboard
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned Active = 8
) (
  input  logic [Warps-1:0]  clear_i,               // no register of the head is pending
  // Only the levels in the control word are read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WordW-1:0]  head_ctl_i   [Warps],
  // verilator lint_on UNUSEDSIGNAL
  input  logic [Active-1:0] slot_valid_i,
  input  logic [WarpW-1:0]  slot_warp_i  [Active],
  input  logic [Upper-1:0]  wait_i       [Active], // places with a pending write
  output logic [Warps-1:0]  clear_o
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned Fields = Operands + 1;   // levels of the sources and of the result
  localparam int unsigned FirstLevel = 27;         // bit of the control word
  localparam int unsigned Numbers = 2**UpperW;

  // Whether one of an instruction's levels names a place of the set: number n names place n - 1.
  function automatic logic uses(logic [Fields*LevelW-1:0] levels, logic [Upper-1:0] places);
    logic [Numbers-1:0] named;
    named = Numbers'({places, 1'b0});
    uses  = 1'b0;
    for (int unsigned f = 0; f < Fields; f++) begin
      if (named[levels[LevelW*f +: UpperW]]) uses = 1'b1;
    end
  endfunction

  always_comb begin
    clear_o = clear_i;
    for (int unsigned s = 0; s < Active; s++) begin
      if (slot_valid_i[s] && wait_i[s] != '0) begin
        if (uses(head_ctl_i[IndexW'(slot_warp_i[s])][FirstLevel +: Fields*LevelW],
                 wait_i[s])) begin
          clear_o[IndexW'(slot_warp_i[s])] = 1'b0;
        end
      end
    end
  end

endmodule

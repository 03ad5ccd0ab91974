// A comparison with a witness: of an input and a register without reset.
module witness (
  input  logic       clk_i,
  input  logic [3:0] value_i,
  input  logic [3:0] name_i,
  output logic       equal_o
);

  import "DPI-C" function void gpurf_witness(input int number, input int bits, input longint unsigned difference);

  function automatic logic same(input logic [3:0] difference);
    gpurf_witness(0, 4, {60'b0, difference});
    return difference == '0;
  endfunction

  logic [3:0] value_q;

  assign equal_o = same(value_q ^ name_i);

  always_ff @(posedge clk_i) value_q <= value_i;

endmodule

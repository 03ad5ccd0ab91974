// What follows from what: each kind of connection once.

module wiring_leaf (
  input  logic       clk_i,
  input  logic [1:0] a_i,
  input  logic       b_i,
  input  logic       c_i,
  output logic [1:0] comb_o,
  output logic       state_o,
  output logic       picked_o,
  output logic       early_o
);

  logic [15:0] mutant_sel;
  logic table_q [2];
  logic hidden;

  // Reads a net that is no argument.
  function automatic logic masked(logic value);
    return value && hidden;
  endfunction

  assign hidden = c_i;
  assign comb_o = {2{masked(b_i)}};

  always_ff @(posedge clk_i) begin
    state_o         <= a_i[0] && b_i;
    table_q[a_i[1]] <= b_i;
  end

  // The chosen side follows from no input.
  assign early_o = (mutant_sel == 16'd1) ? b_i : state_o;

  always_comb begin
    picked_o = 1'b0;
    for (int unsigned i = 0; i < 2; i++) begin
      if (a_i[i]) begin
        picked_o = table_q[i];
        break;
      end
    end
  end

endmodule

module wiring (
  input  logic       clk_i,
  input  logic [3:0] a_i,
  input  logic       b_i,
  output logic [3:0] comb_o,
  output logic       logic_o,
  output logic [1:0] state_o
);

  logic [1:0] picked [2];
  logic [1:0] early;
  logic [1:0] state;

  for (genvar i = 0; i < 2; i++) begin : gen_leaf
    wiring_leaf u_leaf (
      .clk_i,
      .a_i     (a_i[2*i +: 2]),
      .b_i     (b_i),
      .c_i     (early[1 - i]),
      .comb_o  (comb_o[2*i +: 2]),
      .state_o (state[i]),
      .picked_o(picked[i][1]),
      .early_o (early[i])
    );
    assign picked[i][0] = early[i];
  end

  assign logic_o = picked[0][1] && state[1];
  assign state_o = state;

endmodule

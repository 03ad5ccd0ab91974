// What every operator of scripts/source_mutants.py finds something in.
module toy_part (
  input  logic       clk_i,
  input  logic [7:0] left_i,
  input  logic [7:0] right_i,
  output logic [7:0] both_o
);
  always_ff @(posedge clk_i) both_o <= left_i - right_i;
endmodule

module toy #(
  parameter int unsigned Places = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              push_valid_i,
  input  logic              pop_ready_i,
  input  logic [7:0]        push_reg_i,
  input  logic [7:0]        look_reg_i,
  output logic              valid_o,
  output logic [Places-1:0] hit_o,
  output logic [7:0]        part_o
);
  logic [Places-1:0] valid_q;
  logic [7:0]        reg_q [Places];
  logic [1:0]        turn_d, turn_q;

  assign turn_d = push_valid_i ? turn_q + 2'd1 : turn_q;
  assign valid_o = |valid_q && !push_valid_i;

  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      hit_o[p] = valid_q[p] && reg_q[p] == look_reg_i && look_reg_i <= push_reg_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      for (int unsigned p = 0; p < Places; p++) reg_q[p] <= '0;
      turn_q <= '0;
    end else begin
      turn_q <= turn_d;
      if (pop_ready_i) valid_q[turn_q] <= 1'b0;
      if (push_valid_i) begin
        valid_q[turn_d] <= 1'b1;
        reg_q[turn_q]   <= push_reg_i;
      end
    end
  end

  toy_part u_toy_part (
    .clk_i,
    .left_i (push_reg_i),
    .right_i({look_reg_i[3:0], look_reg_i[7:4]}),
    .both_o (part_o)
  );
endmodule

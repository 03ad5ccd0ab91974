// A wide variable that takes constants whose highest words are zero, between registers that only reset changes.
module constants (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [1:0] index_i,
  output logic [3:0] kept_o    // registers that hold what they held after reset
);
  typedef logic [31:0][31:0] words_t;
  localparam words_t First  = {32{32'h5a5a_5a5a}};
  localparam words_t Second = {32{32'ha5a5_a5a5}};
  localparam words_t Third  = {32{32'h1234_5678}};

  words_t chosen, first_q, second_q, third_q, sum_q;

  always_comb begin
    chosen = {32{30'h0, index_i}};
    case (index_i)
      2'd1: for (int unsigned w = 0; w < 32; w++) chosen[w] = ~((32'd2 << w) - 1);
      2'd2: for (int unsigned w = 0; w < 32; w++) chosen[w] = ~((32'd4 << w) - 1);
      2'd3: for (int unsigned w = 0; w < 32; w++) chosen[w] = 32'd1 << (w + 3);
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < 32; w++) sum_q[w] <= sum_q[w] + chosen[w];
    if (!rst_ni) begin
      first_q  <= First;
      second_q <= Second;
      third_q  <= Third;
      sum_q    <= '0;
    end
  end

  assign kept_o = {sum_q == '0, third_q == Third, second_q == Second, first_q == First};
endmodule

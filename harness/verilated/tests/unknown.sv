// Reads that have no value: beyond the end of an array, and where no branch of a case gives one.
module unknown (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [1:0] index_i,
  output logic [7:0] read_o,
  output logic [7:0] chosen_o
);
  logic [7:0] rows_q [3];

  always_ff @(posedge clk_i) if (!rst_ni) rows_q <= '{8'd10, 8'd11, 8'd12};
  assign read_o = rows_q[index_i];

  always_comb begin
    chosen_o = 'x;
    case (index_i)
      2'd0: chosen_o = 8'd20;
      2'd1: chosen_o = 8'd21;
      2'd2: chosen_o = 8'd22;
    endcase
  end
endmodule

// A module with every kind of port that the exchange knows, for its tests.
module toy #(
  parameter int unsigned Step = 1
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [3:0]    kind_i,
  input  logic [32:0]   add_i,
  input  logic [4:0]    small_i [3],
  input  logic [1023:0] wide_i  [2],
  output logic [32:0]   sum_o,
  output logic [11:0]   small_o [3],
  output logic          wide_valid_o,
  output logic [1023:0] wide_o  [2]
);
  logic [32:0]   sum_q;
  logic [7:0]    junk_q;     // neither reset nor written: shows the seed
  logic [1023:0] wide_q [2];
  logic          valid_q;
  logic [2:0]    some_q;
  logic [4:0]    picked_q [3];

  assign sum_o        = sum_q;
  assign wide_valid_o = valid_q;
  assign wide_o       = wide_q;
  for (genvar i = 0; i < 3; i++) begin : gen_small
    logic [11:0] scaled;
    assign scaled     = 12'(small_i[i]) * 12'(i + 2);
    assign small_o[i] = scaled;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      valid_q <= 1'b0;
    end else begin
      sum_q   <= sum_q + add_i + 33'(Step);
      valid_q <= kind_i[0];
      if (kind_i[0]) begin
        wide_q   <= wide_i;
        some_q   <= kind_i[3:1];
        picked_q <= small_i;
      end
      case (kind_i)
        4'd8:    $error("kind eight");
        4'd10:   assert (sum_q == '1) else $error("the sum is not all ones");
        4'd12:   $fatal(1, "kind twelve");
        4'd14:   $finish;
        default: junk_q <= junk_q;
      endcase
    end
  end

  logic [95:0]   deep_q [3]; // a memory of words that are neither integers nor warp registers
  always_ff @(posedge clk_i) if (kind_i[1]) deep_q[2] <= wide_i[1][127:32];
endmodule

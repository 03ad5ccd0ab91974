// Fault unit: keeps the first fault.
//
// Keeps the first fault until reset, and thereby stops the SM: a later fault is often
// only a consequence of the first one. Of several faults in one cycle the lowest-numbered source is kept, so
// that the result is deterministic.
module fault_unit
  import gpurf_pkg::*;
#(
  parameter int unsigned Sources = 6
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // faults
  input  logic [Sources-1:0] valid_i,
  input  logic [WarpW-1:0]   warp_i  [Sources],
  input  logic [CauseW-1:0]  cause_i [Sources],
  input  logic [LaneW-1:0]   value_i [Sources],

  // the first of them
  output logic               fault_o,
  output logic [WarpW-1:0]   fault_warp_o,
  output logic [CauseW-1:0]  fault_cause_o,
  output logic [LaneW-1:0]   fault_value_o
);

  logic              fault_q;
  logic [WarpW-1:0]  warp_q;
  logic [CauseW-1:0] cause_q;
  logic [LaneW-1:0]  value_q;

  assign fault_o       = fault_q;
  assign fault_warp_o  = warp_q;
  assign fault_cause_o = cause_q;
  assign fault_value_o = value_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)             fault_q <= 1'b0;
    else if (valid_i != '0)  fault_q <= 1'b1;
  end

  // The payload has no reset. The loop runs downwards, so that the lowest source remains.
  always_ff @(posedge clk_i) begin
    if (!fault_q) begin
      for (int unsigned s = Sources; s > 0; s--) begin
        if (valid_i[s-1]) begin
          warp_q  <= warp_i[s-1];
          cause_q <= cause_i[s-1];
          value_q <= value_i[s-1];
        end
      end
    end
  end

endmodule

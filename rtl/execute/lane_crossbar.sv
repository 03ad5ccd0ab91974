// Shuffles: each lane reads the value of another one (PTX ISA, "shfl.sync").
//
// Two stages, like every unit of the memory pipeline. The first decides from which lane each lane
// reads, and whether that lane is in range; the second moves the values. The first stage replaces
// the values of inactive lanes by 0, because the register contents of inactive lanes may differ
// between levels of a hierarchy and must never become visible.
`include "gpurf_assert.svh"

module lane_crossbar
  import gpurf_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // shuffle
  input  logic             valid_i,
  input  logic             room_i,               // the side queue has room
  input  logic [WarpW-1:0] warp_i,
  input  logic [Lanes-1:0] lanes_i,
  // Not read: the destination predicate in the modifiers, which arrives as pred_i.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [15:0]      modifiers_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DataW-1:0] value_i,              // a of each lane
  // Only the bits of a lane number are read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [DataW-1:0] choice_i,             // b of each lane
  // verilator lint_on UNUSEDSIGNAL
  input  logic             reg_valid_i,
  input  logic [RegW-1:0]  reg_i,
  input  logic             pred_valid_i,
  input  logic [PredW-1:0] pred_i,
  output logic [Lanes-1:0] served_o,

  // result
  output logic             result_valid_o,
  output logic [WarpW-1:0] result_warp_o,
  output logic [Lanes-1:0] result_mask_o,
  output logic             result_reg_valid_o,
  output logic [RegW-1:0]  result_reg_o,
  output logic [DataW-1:0] result_data_o,
  output logic             result_pred_valid_o,
  output logic [PredW-1:0] result_pred_o,
  output logic [Lanes-1:0] result_pred_data_o
);

  localparam int unsigned NumberW = $clog2(Lanes);  // number of a lane

  localparam logic [1:0] ModeUp        = 2'd0;
  localparam logic [1:0] ModeDown      = 2'd1;
  localparam logic [1:0] ModeButterfly = 2'd2;

  typedef logic [NumberW-1:0]          number_t;
  typedef logic [Lanes-1:0][LaneW-1:0] lanes_t;

  // which lane reads which
  logic             first_valid_q;
  logic [WarpW-1:0] first_warp_q;
  logic [Lanes-1:0] first_mask_q;
  logic             first_reg_valid_q;
  logic [RegW-1:0]  first_reg_q;
  logic             first_pred_valid_q;
  logic [PredW-1:0] first_pred_q;
  lanes_t           value_q;
  number_t          from_q [Lanes];
  logic [Lanes-1:0] in_range_q;

  // the result
  logic             result_valid_q;
  logic [WarpW-1:0] warp_q;
  logic [Lanes-1:0] mask_q;
  logic             reg_valid_q;
  logic [RegW-1:0]  reg_q;
  logic             pred_valid_q;
  logic [PredW-1:0] pred_q;
  lanes_t           data_q;
  logic [Lanes-1:0] pred_data_q;

  logic             perform;

  assign perform  = valid_i & room_i;
  assign served_o = perform ? lanes_i : '0;

  assign result_valid_o      = result_valid_q;
  assign result_warp_o       = warp_q;
  assign result_mask_o       = mask_q;
  assign result_reg_valid_o  = result_valid_q & reg_valid_q;
  assign result_reg_o        = reg_q;
  assign result_data_o       = data_q;
  assign result_pred_valid_o = result_valid_q & pred_valid_q;
  assign result_pred_o       = pred_q;
  assign result_pred_data_o  = pred_data_q;

  // {in range, lane that lane l reads}. Numbers have two bits more than a lane number, so that values
  // below lane 0 or above lane 31 can be told from those in range.
  function automatic logic [NumberW:0] source_of(
    number_t l, number_t n, logic [1:0] mode, number_t clamp, number_t segment
  );
    logic signed [NumberW+1:0] from, last;
    number_t                   low;
    low  = l & segment;
    last = $signed({2'b00, low | (clamp & ~segment)});
    case (mode)
      ModeUp:        from = $signed({2'b00, l}) - $signed({2'b00, n});
      ModeDown:      from = $signed({2'b00, l}) + $signed({2'b00, n});
      ModeButterfly: from = $signed({2'b00, l ^ n});
      default:       from = $signed({2'b00, low | (n & ~segment)});
    endcase
    return {(mode == ModeUp) ? from >= last : from <= last, from[NumberW-1:0]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_valid_q  <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      first_valid_q  <= perform;
      result_valid_q <= first_valid_q;
    end
  end

  // Neither stage's payload has a reset: it means nothing while its valid is low.
  always_ff @(posedge clk_i) begin : first_stage
    automatic number_t          from [Lanes];
    automatic number_t          chosen;
    automatic logic [Lanes-1:0] in_range;
    automatic lanes_t           value;
    if (perform) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        {in_range[l], chosen} = source_of(number_t'(l), choice_i[LaneW*l +: NumberW],
                                          modifiers_i[4:3], modifiers_i[9:5], modifiers_i[14:10]);
        from[l] = (lanes_i[l] && in_range[l]) ? chosen : number_t'(l);
        value[l] = value_i[LaneW*l +: LaneW] & {LaneW{lanes_i[l]}};
      end
      first_warp_q       <= warp_i;
      first_mask_q       <= lanes_i;
      first_reg_valid_q  <= reg_valid_i;
      first_reg_q        <= reg_i;
      first_pred_valid_q <= pred_valid_i;
      first_pred_q       <= pred_i;
      value_q            <= value;
      from_q             <= from;
      in_range_q         <= in_range & lanes_i;
    end
  end

  always_ff @(posedge clk_i) begin : second_stage
    automatic lanes_t d;
    if (first_valid_q) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        d[l] = value_q[from_q[l]];
      end
      warp_q       <= first_warp_q;
      mask_q       <= first_mask_q;
      reg_valid_q  <= first_reg_valid_q;
      reg_q        <= first_reg_q;
      pred_valid_q <= first_pred_valid_q;
      pred_q       <= first_pred_q;
      data_q       <= d;
      pred_data_q  <= in_range_q;
    end
  end

`ifndef SYNTHESIS
  // Inactive lanes have no value, and read no other lane.
  function automatic logic hides_inactive(
    logic [Lanes-1:0] mask, number_t from [Lanes], lanes_t value
  );
    hides_inactive = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (!mask[l] && (from[l] != number_t'(l) || value[l] != '0)) hides_inactive = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(inactive_lanes_are_hidden, first_valid_q,
                     hides_inactive(first_mask_q, from_q, value_q) &&
                     (in_range_q & ~first_mask_q) == '0,
                     "a lane that takes no part in the shuffle has a value, or reads one")

endmodule

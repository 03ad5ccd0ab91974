// SFU: eight lanes of MUFU (special functions) per cycle.
//
// Reciprocal, roots, 2^x, log2, sine and cosine all go through one path (after Oberman and Siu, "A
// high-performance area-efficient multifunction interpolator", 2005): the argument is reduced to a
// row of a table and a fraction of the row's interval, a parabola with the row's coefficients gives
// the value, which is rounded once. A warp takes four cycles, and the result queue behind the
// unit adds the latency of the papers (hierarchy thesis, table 4.4: 20 cycles). The whole pipeline stalls while a
// result waits: the unit is the only source of its queue, so a pipeline that closes its gaps
// would gain nothing. Tables, widths and errors: docs/arithmetic.md, "Approximate
// functions".
`include "gpurf_assert.svh"

module sfu
  import gpurf_pkg::*;
  import fp_pkg::*;
  import sfu_tables_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // instruction
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [WarpW-1:0] warp_i,
  input  logic [Lanes-1:0] mask_i,
  // Not read: registers and guard, which decode handles; the second word holds no modifier, and there is
  // no predicate source.
  // verilator lint_off UNUSEDSIGNAL
  input  instruction_t     instruction_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic             src_valid_i,       // a is a register
  input  logic [DataW-1:0] data_i,            // a

  // result
  output logic             result_valid_o,
  input  logic             result_ready_i,
  output logic [WarpW-1:0] result_warp_o,
  output logic [Lanes-1:0] result_mask_o,
  output logic             result_reg_valid_o,
  output logic [RegW-1:0]  result_reg_o,
  output logic [DataW-1:0] result_data_o
);

  localparam int unsigned Group = 8;                       // lanes a cycle
  localparam int unsigned Beats = Lanes / Group;
  localparam int unsigned BeatW = $clog2(Beats);
  localparam logic [BeatW-1:0] LastBeat = BeatW'(Beats - 1);

  // Functions, as MUFU numbers them.
  localparam int unsigned FunctionW = 3;
  localparam logic [FunctionW-1:0] Reciprocal = 3'd0;
  localparam logic [FunctionW-1:0] Rsqrt      = 3'd1;
  localparam logic [FunctionW-1:0] Sqrt       = 3'd2;
  localparam logic [FunctionW-1:0] Exp2       = 3'd3;
  localparam logic [FunctionW-1:0] Log2       = 3'd4;
  localparam logic [FunctionW-1:0] Sine       = 3'd5;
  localparam logic [FunctionW-1:0] Cosine     = 3'd6;

  localparam int unsigned PlacesW = 11;                    // exponent, two's complement
  localparam int unsigned RowW = 7;
  localparam int unsigned ValueW = 56;                     // value with all its places

  // Bits of t: the part of the fraction (or of the 25 places of an angle or an argument) below the row.
  localparam int unsigned ReciprocalT = 16;                // log2 too
  localparam int unsigned RootT = 17;
  localparam int unsigned FixedT = 19;                     // 2^x, sine, cosine
  localparam int unsigned FixedW = 25;
  localparam int unsigned Places = 28;                     // fraction bits of the coefficients

  // 2^32 / 2 pi, with 34 places: a turn in radians, inverted.
  localparam logic [31:0] TurnsPerRadian = 32'ha2f9_836e;
  localparam int unsigned TurnPlaces = 34;
  localparam int unsigned AngleW = FixedW + 2;             // a turn
  localparam int unsigned TurnsW = SignificandW + 32;

  typedef logic [LaneW-1:0]                         lane_t;
  typedef logic [Group-1:0][LaneW-1:0]              group_t;
  typedef logic [Beats-1:0][Group-1:0][LaneW-1:0]   lanes_t;
  typedef logic [ExponentW-1:0]                     exponent_t;
  typedef logic [PlacesW-1:0]                       places_t;
  typedef logic [RowW-1:0]                          row_t;
  typedef logic [SignificandW-1:0]                  significand_t;
  typedef logic [ValueW-1:0]                        value_t;

  // ------------------------------------------------------------------ argument
  logic                 busy_q;
  logic [BeatW-1:0]     beat_q;
  logic [WarpW-1:0]     warp_q;
  logic [Lanes-1:0]     mask_q;
  logic                 reg_valid_q;
  logic [RegW-1:0]      reg_q;
  logic [FunctionW-1:0] function_q;
  logic                 ftz_q;
  lanes_t               argument_q;

  // ------------------------------------------------------------------ stage 1
  logic                 valid1_q;
  logic [BeatW-1:0]     beat1_q;
  logic [WarpW-1:0]     warp1_q;
  logic [Lanes-1:0]     mask1_q;
  logic                 reg_valid1_q;
  logic [RegW-1:0]      reg1_q;
  logic [FunctionW-1:0] function1_q;
  logic                 ftz1_q;
  logic [Group-1:0]     final1_q;
  lane_t                value1_q       [Group];
  logic [Group-1:0]     direct1_q;
  logic [Group-1:0]     negative1_q;
  places_t              exponent1_q    [Group];
  row_t                 row1_q         [Group];
  significand_t         t1_q           [Group];

  // ------------------------------------------------------------------ stage 2
  logic                 valid2_q;
  logic [BeatW-1:0]     beat2_q;
  logic [WarpW-1:0]     warp2_q;
  logic [Lanes-1:0]     mask2_q;
  logic                 reg_valid2_q;
  logic [RegW-1:0]      reg2_q;
  logic                 ftz2_q;
  logic [Group-1:0]     final2_q;
  lane_t                value2_q       [Group];
  logic [Group-1:0]     negative2_q;
  places_t              exponent2_q    [Group];
  value_t               significand2_q [Group];

  // ------------------------------------------------------------------ stage 3
  logic                 result_valid_q;
  logic [WarpW-1:0]     result_warp_q;
  logic [Lanes-1:0]     result_mask_q;
  logic                 result_reg_valid_q;
  logic [RegW-1:0]      result_reg_q;
  lanes_t               data_q;

  logic                 stall;
  logic                 take;

  assign result_valid_o     = result_valid_q;
  assign result_warp_o      = result_warp_q;
  assign result_mask_o      = result_mask_q;
  assign result_reg_valid_o = result_valid_q & result_reg_valid_q;
  assign result_reg_o       = result_reg_q;
  assign result_data_o      = data_q;

  assign stall   = result_valid_q & ~result_ready_i;
  assign ready_o = ~stall & (~busy_q | (beat_q == LastBeat));
  assign take    = valid_i & ready_o;

  // A value that needs no table.
  function automatic lane_t special(logic [FunctionW-1:0] which, lane_t a, logic zero);
    logic negative;
    negative = a[LaneW-1];
    if (is_nan(a) && which <= Cosine) return Nan;
    case (which)
      Reciprocal: return {negative, zero ? Infinity : {MagnitudeW{1'b0}}};
      Rsqrt: begin
        if (zero) return {negative, Infinity};
        else      return negative ? Nan : '0;
      end
      Sqrt: begin
        if (zero) return {negative, {MagnitudeW{1'b0}}};
        else      return negative ? Nan : {1'b0, Infinity};
      end
      Exp2: begin
        if (zero) return One;
        else      return negative ? '0 : {1'b0, Infinity};
      end
      Log2: begin
        if (zero) return {1'b1, Infinity};
        else      return negative ? Nan : {1'b0, Infinity};
      end
      Sine:    return zero ? {negative, {MagnitudeW{1'b0}}} : Nan;
      Cosine:  return is_infinite(a) ? Nan : One;   // also the cosine of a small angle
      default: return '0;
    endcase
  endfunction

  // The argument of 2^x in fixed point, rounded down. From 2^8 on the result overflows, or is far
  // below the smallest subnormal: it is cut off there.
  function automatic logic [FixedW+9:0] fixed(logic negative, significand_t magnitude,
                                              exponent_t top);
    exponent_t                      shift;
    logic [SignificandW+FixedW-1:0] shifted;
    logic [FixedW+9:0]              value;
    shift = top + ExponentW'(FixedW - FractionW);
    if ($signed(top) >= 8) begin
      value = {2'b01, {FixedW+8{1'b0}}};
    end else if (!shift[ExponentW-1]) begin
      value = (FixedW + 10)'(magnitude) << shift[3:0];
    end else begin
      shift = -shift;
      if (shift > ExponentW'(FixedW)) shift = ExponentW'(FixedW);
      shifted = {magnitude, {FixedW{1'b0}}} >> shift;
      value   = (FixedW + 10)'(shifted[FixedW +: SignificandW]);
      if (negative && shifted[FixedW-1:0] != '0) value = value + 1'b1;
    end
    return negative ? -value : value;
  endfunction

  // An angle in turns: two bits for the quarter, then the angle within it. Whole turns are dropped, as are bits
  // below the last place.
  function automatic logic [AngleW-1:0] turns(significand_t magnitude, exponent_t top);
    logic [TurnsW-1:0] product;
    exponent_t         shift;
    product = TurnsW'(magnitude) * TurnsW'(TurnsPerRadian);
    shift   = top + ExponentW'(AngleW) - ExponentW'(FractionW + TurnPlaces);
    if (shift[ExponentW-1]) begin
      shift = -shift;
      return AngleW'(product >> shift);
    end else begin
      return (shift >= ExponentW'(AngleW)) ? '0 : product[AngleW-1:0] << shift[4:0];
    end
  endfunction

  // What stage 1 makes of an element.
  function automatic void reduce(logic [FunctionW-1:0] which, lane_t a, logic flush,
                                 output logic is_final, output lane_t value, output logic direct,
                                 output logic negative, output places_t place, output row_t row,
                                 output significand_t t);
    significand_t      magnitude;
    exponent_t         top;              // exponent of the leading one
    logic [ShiftW-1:0] zeros;
    logic              minus, root;
    logic [FixedW+9:0] argument;
    logic [AngleW-1:0] angle;
    // verilator no_inline_task
    minus     = a[LaneW-1];
    root      = which == Rsqrt || which == Sqrt;
    magnitude = significand(a, flush);
    zeros     = leading_zeros({magnitude, {Wide-SignificandW{1'b0}}});
    is_final  = is_special(a) || magnitude == '0 || (minus && (root || which == Log2)) ||
                which > Cosine;
    value     = special(which, a, magnitude == '0);
    magnitude = magnitude << zeros;
    top       = exponent(a) + ExponentW'(FractionW) - ExponentW'(zeros);
    if (which == Cosine && $signed(top) < -13) is_final = 1'b1;

    direct    = 1'b0;
    negative  = 1'b0;
    place     = '0;
    row       = '0;
    t         = '0;
    if (!is_final) begin
      value = '0;
      case (which)
        Reciprocal: begin
          negative = minus;
          place    = -PlacesW'($signed(top)) - PlacesW'(Places + ReciprocalT);
          row      = magnitude[ReciprocalT +: RowW];
          t        = SignificandW'(magnitude[ReciprocalT-1:0]);
        end
        Rsqrt, Sqrt: begin
          // Half of the exponent, rounded down; the lowest bit goes into the row.
          place    = PlacesW'($signed(top[ExponentW-1:1]));
          place    = ((which == Sqrt) ? place : -place) - PlacesW'(Places + RootT);
          row      = {top[0], magnitude[RootT +: RowW-1]};
          t        = SignificandW'(magnitude[RootT-1:0]);
        end
        Exp2: begin
          argument = fixed(minus, magnitude, top);
          place    = PlacesW'($signed(argument[FixedW +: 10])) - PlacesW'(Places + FixedT);
          row      = RowW'(argument[FixedT +: RowW-1]);
          t        = SignificandW'(argument[FixedT-1:0]);
        end
        Log2: begin
          place    = PlacesW'($signed(top));
          row      = magnitude[ReciprocalT +: RowW];
          t        = SignificandW'(magnitude[ReciprocalT-1:0]);
        end
        default: begin
          if (which == Sine && $signed(top) < -9) begin
            direct   = 1'b1;
            negative = minus;
            place    = PlacesW'($signed(top)) - PlacesW'(FractionW);
            t        = magnitude;
          end else begin
            // The cosine is the sine a quarter turn ahead. In the falling quarters the angle is mirrored,
            // in the lower half the sign is inverted.
            angle    = turns(magnitude, top);
            if (which == Cosine) angle[AngleW-1 -: 2] = angle[AngleW-1 -: 2] + 2'd1;
            negative = angle[AngleW-1] ^ (which == Sine && minus);
            if (angle[AngleW-2]) angle = ~angle;
            place    = -PlacesW'(Places + FixedT);
            row      = RowW'(angle[FixedT +: RowW-1]);
            t        = SignificandW'(angle[FixedT-1:0]);
          end
        end
      endcase
    end
  endfunction

  // The parabola of a row.
  function automatic value_t interpolated(logic [C0W-1:0] c0, logic signed [C1W-1:0] c1,
                                          logic signed [C2W-1:0] c2, significand_t t,
                                          logic [4:0] bits);
    logic [2*SignificandW-1:0] square;
    logic signed [ValueW-1:0]  linear, squared;
    // verilator no_inline_task
    square  = t * t;
    square  = square >> bits;
    linear  = ValueW'(c1) * $signed(ValueW'(t));
    squared = ValueW'(c2) * $signed(ValueW'(square));
    return (ValueW'(c0) << bits) + linear + squared;
  endfunction

  // To nearest even.
  function automatic lane_t rounded(logic negative, places_t place, value_t value, logic flush);
    placed_t               number;
    logic [MagnitudeW-1:0] magnitude;
    logic                  up;
    // verilator no_inline_task
    magnitude = '0;
    if (value != '0) begin
      number    = placed(Wide'(value), WideExponentW'($signed(place)));
      up        = number.half & (number.sticky | number.magnitude[0]);
      magnitude = number.magnitude + MagnitudeW'(up);
      if (flush && magnitude < Smallest) magnitude = '0;
    end
    return {negative, magnitude};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      beat_q         <= '0;
      valid1_q       <= 1'b0;
      valid2_q       <= 1'b0;
      result_valid_q <= 1'b0;
    end else if (!stall) begin
      if (take) begin
        busy_q <= 1'b1;
        beat_q <= '0;
      end else if (busy_q) begin
        busy_q <= beat_q != LastBeat;
        beat_q <= beat_q + 1'b1;
      end
      valid1_q       <= busy_q;
      valid2_q       <= valid1_q;
      result_valid_q <= valid2_q && beat2_q == LastBeat;
    end
  end

  // Payloads have no reset: they mean nothing while their valid is low.
  always_ff @(posedge clk_i) begin : argument
    automatic lanes_t a;

    if (take) begin
      a = '0;
      if (src_valid_i) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          a[l/Group][l%Group] = data_i[LaneW*l +: LaneW] & {LaneW{mask_i[l]}};
        end
      end
      warp_q      <= warp_i;
      mask_q      <= mask_i;
      reg_valid_q <= instruction_i.roles.d != NoReg;
      reg_q       <= instruction_i.roles.d;
      function_q  <= instruction_i.op[OperationModifiers +: 3];
      ftz_q       <= instruction_i.op[OperationModifiers+3];
      argument_q  <= a;
    end
  end

  always_ff @(posedge clk_i) begin : stage_1
    automatic group_t           a;
    automatic logic [Group-1:0] open;                // elements that the mask selects
    automatic logic [Group-1:0] is_final, direct, negative;
    automatic lane_t            value [Group];
    automatic places_t          place [Group];
    automatic row_t             row   [Group];
    automatic significand_t     t     [Group];

    if (busy_q && !stall) begin
      a        = argument_q[beat_q];
      open     = mask_q[Group*beat_q +: Group];
      is_final = '0;
      direct   = '0;
      negative = '0;
      value    = '{default: '0};
      place    = '{default: '0};
      row      = '{default: '0};
      t        = '{default: '0};
      for (int unsigned k = 0; k < Group; k++) begin
        if (open[k]) begin
          reduce(function_q, a[k], ftz_q, is_final[k], value[k], direct[k], negative[k], place[k],
                 row[k], t[k]);
        end
      end

      beat1_q      <= beat_q;
      warp1_q      <= warp_q;
      mask1_q      <= mask_q;
      reg_valid1_q <= reg_valid_q;
      reg1_q       <= reg_q;
      function1_q  <= function_q;
      ftz1_q       <= ftz_q;
      final1_q     <= is_final;
      value1_q     <= value;
      direct1_q    <= direct;
      negative1_q  <= negative;
      exponent1_q  <= place;
      row1_q       <= row;
      t1_q         <= t;
    end
  end

  always_ff @(posedge clk_i) begin : stage_2
    automatic logic [Group-1:0]    open;             // elements whose value is not final
    automatic logic [Group-1:0]    negative;
    automatic places_t             place [Group];
    automatic value_t              value [Group];
    automatic logic [AddressW-1:0] first, row;       // first row and row of this operation in its table
    automatic logic [4:0]          bits;             // number of bits of t
    automatic value_t              v;

    if (valid1_q && !stall) begin
      open     = mask1_q[Group*beat1_q +: Group] & ~final1_q;
      negative = '0;
      place    = '{default: '0};
      value    = '{default: '0};
      case (function1_q)
        Reciprocal: begin
          first = ReciprocalRows;
          bits  = 5'(ReciprocalT);
        end
        Rsqrt: begin
          first = RsqrtRows;
          bits  = 5'(RootT);
        end
        Sqrt: begin
          first = SqrtRows;
          bits  = 5'(RootT);
        end
        Log2: begin
          first = Log2Rows;
          bits  = 5'(ReciprocalT);
        end
        Exp2: begin
          first = Exp2Rows;
          bits  = 5'(FixedT);
        end
        default: begin
          first = SineRows;
          bits  = 5'(FixedT);
        end
      endcase

      for (int unsigned k = 0; k < Group; k++) begin
        if (open[k]) begin
          place[k]    = exponent1_q[k];
          negative[k] = negative1_q[k];
          if (direct1_q[k]) begin
            value[k] = ValueW'(t1_q[k]);
          end else begin
            row = first | AddressW'(row1_q[k]);
            v   = interpolated(C0[row], C1[row], C2[row], t1_q[k], bits);
            // A parabola may pass just below zero where the function is zero.
            if (function1_q >= Log2 && v[ValueW-1]) v = '0;
            if (function1_q == Log2) begin
              v           = v + (ValueW'($signed(place[k])) << (Places + ReciprocalT));
              negative[k] = v[ValueW-1];
              place[k]    = -PlacesW'(Places + ReciprocalT);
              if (v[ValueW-1]) v = -v;
            end
            value[k] = v;
          end
        end
      end

      beat2_q        <= beat1_q;
      warp2_q        <= warp1_q;
      mask2_q        <= mask1_q;
      reg_valid2_q   <= reg_valid1_q;
      reg2_q         <= reg1_q;
      ftz2_q         <= ftz1_q;
      final2_q       <= final1_q;
      value2_q       <= value1_q;
      negative2_q    <= negative;
      exponent2_q    <= place;
      significand2_q <= value;
    end
  end

  always_ff @(posedge clk_i) begin : stage_3
    automatic logic [Group-1:0] open;
    automatic group_t           d;

    if (valid2_q && !stall) begin
      open = mask2_q[Group*beat2_q +: Group] & ~final2_q;
      for (int unsigned k = 0; k < Group; k++) begin
        d[k] = value2_q[k];
        if (open[k]) d[k] = rounded(negative2_q[k], exponent2_q[k], significand2_q[k], ftz2_q);
      end
      data_q[beat2_q] <= d;
      if (beat2_q == LastBeat) begin
        result_warp_q      <= warp2_q;
        result_mask_q      <= mask2_q;
        result_reg_valid_q <= reg_valid2_q;
        result_reg_q       <= reg2_q;
      end
    end
  end

`ifndef SYNTHESIS
  // Lanes outside the mask are zero.
  function automatic logic only_inside(logic [DataW-1:0] data, logic [Lanes-1:0] mask);
    only_inside = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (!mask[l] && data[LaneW*l +: LaneW] != '0) only_inside = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT(beat_only_while_busy, busy_q || beat_q == '0, "a beat without an instruction")
  `GPURF_ASSERT_WHEN(lanes_outside_are_zero, result_reg_valid_o && result_ready_i,
                     only_inside(data_q, result_mask_q), "a lane outside the mask has a result")

endmodule

// Single precision unit: 32 lanes of all instructions for unit 5.
//
// Two stages (unpacking and products, then the sum), followed by rounding, whose
// register is the result queue's. All operations share one path, so that there is one adder
// and one rounder per lane. An operation that needs neither (minimum, comparison, conversion to integers, any
// operand that is NaN or infinity) has its value after the first stage and carries it along. The
// result queue adds the latency of the ALU (hierarchy thesis, table 4.4). As in the ALU the
// operation is decoded once, not for each lane, and a stage computes only for an instruction that it takes, and
// only for lanes in the mask, because that determines the cost of simulation. The operations are defined, bit for bit,
// in docs/arithmetic.md.
`include "gpurf_assert.svh"

module fp_unit
  import gpurf_pkg::*;
  import fp_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,

  // instruction
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [WarpW-1:0]    warp_i,
  input  logic [Lanes-1:0]    mask_i,
  // Not read: registers and guard, which decode handles, and predicate source t.
  // verilator lint_off UNUSEDSIGNAL
  input  instruction_t        instruction_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [Operands-1:0] src_valid_i,          // source is a register
  input  logic [DataW-1:0]    data_i [Operands],    // a, b, c

  // result
  output logic                result_valid_o,
  input  logic                result_ready_i,
  output logic [WarpW-1:0]    result_warp_o,
  output logic [Lanes-1:0]    result_mask_o,
  output logic                result_reg_valid_o,
  output logic [RegW-1:0]     result_reg_o,
  output logic [DataW-1:0]    result_data_o,
  output logic                result_pred_valid_o,
  output logic [PredW-1:0]    result_pred_o,
  output logic [Lanes-1:0]    result_pred_data_o
);

  // Opcodes that no other block has to know (docs/isa.md).
  localparam logic [6:0] OpFadd  = 7'h30;
  localparam logic [6:0] OpFmul  = 7'h31;
  localparam logic [6:0] OpFfma  = 7'h32;
  localparam logic [6:0] OpFmnmx = 7'h33;
  localparam logic [6:0] OpFsetp = 7'h34;
  localparam logic [6:0] OpI2f   = 7'h35;
  localparam logic [6:0] OpF2i   = 7'h36;
  localparam logic [6:0] OpFrnd  = 7'h37;

  localparam logic [1:0] NearestEven = 2'd0;
  localparam logic [1:0] Down        = 2'd2;
  localparam logic [1:0] Up          = 2'd3;

  localparam int unsigned ProductW = 2 * SignificandW;
  localparam int unsigned SumTop = 61;             // place of the leading one in an addend
  localparam int unsigned SumW = SumTop + 2;       // a sum may have a carry
  localparam int unsigned IntegralW = 26;          // with more places than this, the value is below one half

  typedef logic [LaneW-1:0]            lane_t;
  typedef logic [Lanes-1:0][LaneW-1:0] lanes_t;
  typedef logic [ExponentW-1:0]        exponent_t;
  typedef logic [SignificandW-1:0]     significand_t;
  typedef logic [ProductW-1:0]         product_t;
  typedef logic [SumW-1:0]             sum_t;

  // ------------------------------------------------------------------ stage 1
  logic             valid1_q;
  logic [WarpW-1:0] warp1_q;
  logic [Lanes-1:0] mask1_q;
  logic             reg_valid1_q;
  logic [RegW-1:0]  reg1_q;
  logic             pred_valid1_q;
  logic [PredW-1:0] pred1_q;
  logic [1:0]       rounding1_q;
  logic             ftz1_q;
  logic             sat1_q;
  logic             add1_q;
  logic [Lanes-1:0] final1_q;
  lane_t            value1_q         [Lanes];
  logic [Lanes-1:0] x_negative1_q;
  exponent_t        x_exponent1_q    [Lanes];
  product_t         x_significand1_q [Lanes];
  logic [Lanes-1:0] y_negative1_q;
  exponent_t        y_exponent1_q    [Lanes];
  significand_t     y_significand1_q [Lanes];
  logic [Lanes-1:0] pred_data1_q;

  // ------------------------------------------------------------------ stage 2
  logic             valid2_q;
  logic [WarpW-1:0] warp2_q;
  logic [Lanes-1:0] mask2_q;
  logic             reg_valid2_q;
  logic [RegW-1:0]  reg2_q;
  logic             pred_valid2_q;
  logic [PredW-1:0] pred2_q;
  logic [1:0]       rounding2_q;
  logic             ftz2_q;
  logic             sat2_q;
  logic [Lanes-1:0] final2_q;
  lane_t            value2_q         [Lanes];
  logic [Lanes-1:0] negative2_q;
  exponent_t        exponent2_q      [Lanes];
  sum_t             significand2_q   [Lanes];
  logic [Lanes-1:0] pred_data2_q;

  logic             ready_2;    // stage 2 moves on, or is empty
  logic             take;
  lanes_t           result;     // rounded results

  assign result_valid_o      = valid2_q;
  assign result_warp_o       = warp2_q;
  assign result_mask_o       = mask2_q;
  assign result_reg_valid_o  = valid2_q & reg_valid2_q;
  assign result_reg_o        = reg2_q;
  assign result_data_o       = result;
  assign result_pred_valid_o = valid2_q & pred_valid2_q;
  assign result_pred_o       = pred2_q;
  assign result_pred_data_o  = pred_data2_q;

  assign ready_2 = ~valid2_q | result_ready_i;
  assign ready_o = ~valid1_q | ready_2;
  assign take    = valid_i & ready_o;

  // Clamped to 0 to 1. NaN, negative values and -0 give +0.
  function automatic lane_t saturated(lane_t value);
    // verilator no_inline_task
    if (value[LaneW-1] || is_nan(value)) return '0;
    else                                 return (value > One) ? One : value;
  endfunction

  // Whether the bits that are cut off round the magnitude up.
  function automatic logic rounds_up(logic [1:0] rounding, logic negative, logic last, logic half,
                                     logic sticky);
    case (rounding)
      NearestEven: return half & (sticky | last);
      Down:        return negative & (half | sticky);
      Up:          return ~negative & (half | sticky);
      default:     return 1'b0;
    endcase
  endfunction

  // The product of two values of which one is infinite or NaN.
  function automatic lane_t special_product(lane_t a, lane_t b, logic flush);
    if (is_nan(a) || is_nan(b) || significand(a, flush) == '0 || significand(b, flush) == '0) begin
      return Nan;
    end else begin
      return {a[LaneW-1] ^ b[LaneW-1], Infinity};
    end
  endfunction

  // The sum of two values of which one is infinite or NaN.
  function automatic lane_t special_sum(lane_t x, lane_t y);
    if (is_nan(x) || is_nan(y) || (is_infinite(x) && is_infinite(y) && x != y)) return Nan;
    else return is_infinite(x) ? x : y;
  endfunction

  // What stage 1 makes of a lane's operands. These are calls in simulation, because thirty-two
  // copies of each would fill the cache.
  function automatic void add(lane_t a, lane_t b, logic flush, output logic special,
                              output lane_t value, output exponent_t x_place,
                              output product_t x_value, output exponent_t y_place,
                              output significand_t y_value);
    // verilator no_inline_task
    special = is_special(a) || is_special(b);
    if (special) begin
      value   = special_sum(a, b);
      x_place = '0;
      x_value = '0;
      y_place = '0;
      y_value = '0;
    end else begin
      value   = '0;
      x_place = exponent(a);
      x_value = ProductW'(significand(a, flush));
      y_place = exponent(b);
      y_value = significand(b, flush);
    end
  endfunction

  function automatic void multiply(lane_t a, lane_t b, logic flush, output logic special,
                                   output lane_t value, output exponent_t x_place,
                                   output product_t x_value);
    // verilator no_inline_task
    special = is_special(a) || is_special(b);
    if (special) begin
      value   = special_product(a, b, flush);
      x_place = '0;
      x_value = '0;
    end else begin
      value   = '0;
      x_place = exponent(a) + exponent(b);
      x_value = significand(a, flush) * significand(b, flush);
    end
  endfunction

  function automatic void multiply_add(lane_t a, lane_t b, lane_t c, logic flush,
                                       output logic special, output lane_t value,
                                       output exponent_t x_place, output product_t x_value,
                                       output exponent_t y_place, output significand_t y_value);
    // verilator no_inline_task
    special = is_special(a) || is_special(b) || is_special(c);
    if (special) begin
      // Any finite number can stand for a finite product here.
      value   = '0;
      if (is_special(a) || is_special(b)) value = special_product(a, b, flush);
      value   = special_sum(value, c);
      x_place = '0;
      x_value = '0;
      y_place = '0;
      y_value = '0;
    end else begin
      value   = '0;
      x_place = exponent(a) + exponent(b);
      x_value = significand(a, flush) * significand(b, flush);
      y_place = exponent(c);
      y_value = significand(c, flush);
    end
  endfunction

  // A key that orders all values that are not NaN, -0 just below +0.
  function automatic lane_t key(lane_t value);
    return value[LaneW-1] ? ~value : {1'b1, value[LaneW-2:0]};
  endfunction

  // Minimum or maximum.
  function automatic lane_t extreme(lane_t first, lane_t second, logic maximum, logic flush,
                                    logic nan);
    lane_t a, b;
    // verilator no_inline_task
    a = flushed(first, flush);
    b = flushed(second, flush);
    if (is_nan(a) || is_nan(b)) begin
      if (nan || (is_nan(a) && is_nan(b))) return Nan;
      else                                 return is_nan(a) ? b : a;
    end else begin
      return ((key(a) <= key(b)) ^ maximum) ? a : b;
    end
  endfunction

  function automatic void compare(lane_t first, lane_t second, logic flush,
                                  output logic unordered, output logic equal, output logic less);
    lane_t a, b;
    // verilator no_inline_task
    a         = flushed(first, flush);
    b         = flushed(second, flush);
    unordered = is_nan(a) || is_nan(b);
    // The key of a negative value gets one more, so that -0 equals +0.
    a         = key(a) + lane_t'(a[LaneW-1]);
    b         = key(b) + lane_t'(b[LaneW-1]);
    equal     = a == b;
    less      = a < b;
  endfunction

  // The magnitude of a number with an exponent below 0, rounded to an integer.
  function automatic significand_t integral(logic negative, significand_t magnitude,
                                            exponent_t place, logic [1:0] rounding);
    exponent_t                         places;
    logic [SignificandW+IntegralW-1:0] shifted;
    significand_t                      kept;
    places  = -place;
    if (places > ExponentW'(IntegralW)) places = ExponentW'(IntegralW);
    shifted = {magnitude, {IntegralW{1'b0}}} >> places;
    kept    = shifted[IntegralW +: SignificandW];
    return kept + SignificandW'(rounds_up(rounding, negative, kept[0], shifted[IntegralW-1],
                                          shifted[IntegralW-2:0] != '0));
  endfunction

  // A float as an integer: rounded, clamped to the type.
  function automatic lane_t integer_of(lane_t a, logic [1:0] rounding, logic flush,
                                       logic is_signed);
    logic         negative, beyond;
    exponent_t    place;
    significand_t magnitude;
    lane_t        value;
    // verilator no_inline_task
    if (is_nan(a)) return '0;
    negative  = a[LaneW-1];
    place     = exponent(a);
    magnitude = significand(a, flush);
    if (place[ExponentW-1]) begin
      value  = lane_t'(integral(negative, magnitude, place, rounding));
      beyond = 1'b0;
    end else begin
      value  = lane_t'(magnitude) << place[3:0];
      beyond = place > ExponentW'(LaneW - SignificandW);
    end
    if (is_signed) begin
      if (negative) begin
        return (beyond || value > 32'h8000_0000) ? 32'h8000_0000 : -value;
      end else begin
        return (beyond || value[LaneW-1]) ? 32'h7fff_ffff : value;
      end
    end else begin
      if (negative) return '0;
      else          return beyond ? '1 : value;
    end
  endfunction

  // Rounds a float to an integral value. From exponent 0 on the value is integral already.
  function automatic void round_integral(lane_t a, logic [1:0] rounding, logic flush,
                                         output logic special, output lane_t value,
                                         output exponent_t x_place, output product_t x_value);
    exponent_t    place;
    significand_t magnitude;
    // verilator no_inline_task
    special   = is_special(a);
    value     = '0;
    place     = '0;
    magnitude = '0;
    if (special) begin
      value     = is_nan(a) ? Nan : a;
    end else begin
      place     = exponent(a);
      magnitude = significand(a, flush);
      if (place[ExponentW-1]) begin
        magnitude = integral(a[LaneW-1], magnitude, place, rounding);
        place     = '0;
      end
    end
    x_place = place;
    x_value = ProductW'(magnitude);
  endfunction

  // Shifts a significand so that its leading one is at the top of an addend.
  function automatic void aligned(product_t value, exponent_t place, output sum_t top,
                                  output exponent_t top_place);
    logic [ShiftW-1:0] places;
    places    = leading_zeros(Wide'(value)) - ShiftW'(Wide - 1 - SumTop);
    top       = SumW'(value) << places;
    top_place = place - ExponentW'(places);
  endfunction

  // The exact sum, except for ones that are shifted out: the lowest bit is sticky for these.
  function automatic void sum(logic x_negative, exponent_t x_place, product_t x_value,
                              logic y_negative, exponent_t y_place, significand_t y_value,
                              logic down, output logic negative, output exponent_t place,
                              output sum_t value);
    logic      swap, high_negative;
    exponent_t x_top_place, y_top_place, distance;
    sum_t      x_top, y_top, high, low;
    // verilator no_inline_task
    if (x_value == '0 || y_value == '0) begin
      if (x_value == '0 && y_value == '0) begin
        negative = (x_negative == y_negative) ? x_negative : down;
        place    = '0;
        value    = '0;
      end else if (x_value == '0) begin
        negative = y_negative;
        place    = y_place;
        value    = SumW'(y_value);
      end else begin
        negative = x_negative;
        place    = x_place;
        value    = SumW'(x_value);
      end
    end else begin
      aligned(x_value, x_place, x_top, x_top_place);
      aligned(ProductW'(y_value), y_place, y_top, y_top_place);
      distance      = x_top_place - y_top_place;
      swap          = distance[ExponentW-1];
      if (swap) distance = -distance;
      high          = swap ? y_top : x_top;
      low           = swap ? x_top : y_top;
      high_negative = swap ? y_negative : x_negative;
      place         = swap ? y_top_place : x_top_place;
      low           = SumW'(shift_right_sticky(Wide'(low), distance));
      value         = (x_negative == y_negative) ? high + low : high - low;
      negative      = high_negative;
      if (value == '0) begin
        negative = down;
        place    = '0;
      end else if (x_negative != y_negative && value[SumW-1]) begin
        // The difference is negative only if both numbers have the same exponent.
        negative = ~high_negative;
        value    = -value;
      end
    end
  endfunction

  // The value of a number, rounded once.
  function automatic lane_t rounded(logic negative, exponent_t place, sum_t value,
                                    logic [1:0] rounding, logic flush, logic saturate);
    placed_t               number;
    logic [MagnitudeW-1:0] magnitude;
    lane_t                 whole;
    // verilator no_inline_task
    if (value == '0) begin
      magnitude = '0;
    end else begin
      number    = placed(Wide'(value), WideExponentW'($signed(place)));
      magnitude = number.magnitude + MagnitudeW'(rounds_up(rounding, negative, number.magnitude[0],
                                                           number.half, number.sticky));
      if (magnitude >= Infinity) begin
        // Too large: infinity, or the largest finite number if rounding goes that way.
        magnitude = rounds_up(rounding, negative, 1'b1, 1'b1, 1'b1) ? Infinity : Largest;
      end else if (flush && magnitude < Smallest) begin
        magnitude = '0;
      end
    end
    whole = {negative, magnitude};
    return saturate ? saturated(whole) : whole;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
    end else begin
      if (ready_o) valid1_q <= valid_i;
      if (ready_2) valid2_q <= valid1_q;
    end
  end

  // Payloads have no reset: they mean nothing while their stage's valid is low.
  always_ff @(posedge clk_i) begin : stage_1
    // The modifiers of the predicates are not read: decode handles them.
    // verilator lint_off UNUSEDSIGNAL
    automatic logic [ModifiersW-1:0] m;
    // verilator lint_on UNUSEDSIGNAL
    automatic lanes_t           a, b, c;
    automatic lane_t            invert_a, invert_b;
    automatic logic             rounds;           // by the modifiers
    automatic logic [Lanes-1:0] is_final;
    automatic lane_t            value         [Lanes];
    automatic logic [Lanes-1:0] x_negative;
    automatic exponent_t        x_exponent    [Lanes];
    automatic product_t         x_significand [Lanes];
    automatic logic [Lanes-1:0] y_negative;
    automatic exponent_t        y_exponent    [Lanes];
    automatic significand_t     y_significand [Lanes];
    automatic logic [Lanes-1:0] unordered, equal, less, holds, pred_data;
    automatic lane_t            al, bl, cl;       // operands of one lane

    if (take) begin
      m = modifiers_of(instruction_i.op, instruction_i.ctl);
      // As statements, so that simulation moves 1024 bits once for each operand.
      if (src_valid_i[0]) a = data_i[0];
      else                a = '0;
      if (src_valid_i[1]) begin
        b = data_i[1];
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          b[l] = instruction_i.roles.b_constant ? constant_of(instruction_i.op) : '0;
        end
      end
      c = '0;
      invert_a = {m[4], {LaneW-1{1'b0}}};
      invert_b = {m[5], {LaneW-1{1'b0}}};

      rounds        = 1'b0;
      is_final      = '0;
      value         = '{default: '0};
      x_negative    = '0;
      x_exponent    = '{default: '0};
      x_significand = '{default: '0};
      y_negative    = '0;
      y_exponent    = '{default: '0};
      y_significand = '{default: '0};
      pred_data     = '0;

      case (opcode_of(instruction_i.op))
        OpFadd: begin
          rounds = 1'b1;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al = a[l] ^ invert_a;
              bl = b[l] ^ invert_b;
              add(al, bl, m[2], is_final[l], value[l], x_exponent[l], x_significand[l],
                  y_exponent[l], y_significand[l]);
              x_negative[l] = al[LaneW-1];
              y_negative[l] = bl[LaneW-1];
            end
          end
        end

        OpFmul: begin
          rounds = 1'b1;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al = a[l] ^ invert_a;
              bl = b[l];
              multiply(al, bl, m[2], is_final[l], value[l], x_exponent[l], x_significand[l]);
              x_negative[l] = al[LaneW-1] ^ bl[LaneW-1];
            end
          end
        end

        OpFfma: begin
          rounds = 1'b1;
          if (src_valid_i[2]) c = data_i[2];
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al = a[l] ^ invert_a;
              bl = b[l];
              cl = c[l] ^ invert_b;
              multiply_add(al, bl, cl, m[2], is_final[l], value[l], x_exponent[l],
                           x_significand[l], y_exponent[l], y_significand[l]);
              x_negative[l] = al[LaneW-1] ^ bl[LaneW-1];
              y_negative[l] = cl[LaneW-1];
            end
          end
        end

        OpFmnmx: begin
          is_final = mask_i;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al       = a[l];
              bl       = b[l];
              value[l] = extreme(al, bl, m[0], m[1], m[2]);
            end
          end
        end

        OpFsetp: begin
          is_final  = mask_i;
          unordered = '0;
          equal     = '0;
          less      = '0;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al = a[l];
              bl = b[l];
              compare(al, bl, m[11], unordered[l], equal[l], less[l]);
            end
          end
          case (m[9:7])
            3'd0:    holds = equal;
            3'd1:    holds = ~equal;
            3'd2:    holds = less;
            3'd3:    holds = less | equal;
            3'd4:    holds = ~(less | equal);
            3'd5:    holds = ~less;
            3'd6:    holds = {Lanes{m[10]}};
            default: holds = '0;
          endcase
          // From 8 on a NaN operand makes the comparison true; 14 tests that no operand is NaN.
          holds = (m[10] && m[9:7] != 3'd6) ? holds | unordered : holds & ~unordered;
          case (m[13:12])
            2'd0:    pred_data = holds & instruction_i.s;
            2'd1:    pred_data = holds | instruction_i.s;
            2'd2:    pred_data = holds ^ instruction_i.s;
            default: pred_data = '0;
          endcase
        end

        OpI2f: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al               = a[l];
              x_negative[l]    = m[2] & al[LaneW-1];
              if (x_negative[l]) al = -al;
              x_significand[l] = ProductW'(al);
            end
          end
        end

        OpF2i: begin
          is_final = mask_i;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al       = a[l];
              value[l] = integer_of(al, m[1:0], m[2], m[3]);
            end
          end
        end

        OpFrnd: begin
          rounds = 1'b1;
          for (int unsigned l = 0; l < Lanes; l++) begin
            if (mask_i[l]) begin
              al = a[l];
              round_integral(al, m[1:0], m[2], is_final[l], value[l], x_exponent[l],
                             x_significand[l]);
              x_negative[l] = al[LaneW-1];
            end
          end
        end

        default: is_final = mask_i;
      endcase

      if (rounds && m[3]) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (is_final[l]) value[l] = saturated(value[l]);
        end
      end

      warp1_q          <= warp_i;
      mask1_q          <= mask_i;
      reg_valid1_q     <= instruction_i.roles.d != NoReg;
      reg1_q           <= instruction_i.roles.d;
      pred_valid1_q    <= instruction_i.roles.p != NoPred;
      pred1_q          <= instruction_i.roles.p;
      rounding1_q      <= (rounds || opcode_of(instruction_i.op) == OpI2f) ? m[1:0] : NearestEven;
      ftz1_q           <= rounds & m[2];
      sat1_q           <= rounds & m[3];
      add1_q           <= opcode_of(instruction_i.op) == OpFadd || opcode_of(instruction_i.op) == OpFfma;
      final1_q         <= is_final;
      value1_q         <= value;
      x_negative1_q    <= x_negative & ~is_final;
      x_exponent1_q    <= x_exponent;
      x_significand1_q <= x_significand;
      y_negative1_q    <= y_negative & ~is_final;
      y_exponent1_q    <= y_exponent;
      y_significand1_q <= y_significand;
      pred_data1_q     <= pred_data & mask_i;
    end
  end

  always_ff @(posedge clk_i) begin : stage_2
    automatic logic [Lanes-1:0] open;             // lanes whose value is not final
    automatic logic [Lanes-1:0] negative;
    automatic exponent_t        place       [Lanes];
    automatic sum_t             total       [Lanes];

    if (valid1_q && ready_2) begin
      open = mask1_q & ~final1_q;
      if (add1_q) begin
        negative = '0;
        place    = '{default: '0};
        total    = '{default: '0};
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (open[l]) begin
            sum(x_negative1_q[l], x_exponent1_q[l], x_significand1_q[l],
                y_negative1_q[l], y_exponent1_q[l], y_significand1_q[l],
                rounding1_q == Down, negative[l], place[l], total[l]);
          end
        end
      end else begin
        negative = x_negative1_q;
        place    = x_exponent1_q;
        for (int unsigned l = 0; l < Lanes; l++) total[l] = SumW'(x_significand1_q[l]);
      end

      warp2_q        <= warp1_q;
      mask2_q        <= mask1_q;
      reg_valid2_q   <= reg_valid1_q;
      reg2_q         <= reg1_q;
      pred_valid2_q  <= pred_valid1_q;
      pred2_q        <= pred1_q;
      rounding2_q    <= rounding1_q;
      ftz2_q         <= ftz1_q;
      sat2_q         <= sat1_q;
      final2_q       <= final1_q;
      value2_q       <= value1_q;
      negative2_q    <= negative;
      exponent2_q    <= place;
      significand2_q <= total;
      pred_data2_q   <= pred_data1_q;
    end
  end

  always_comb begin : the_rounding
    result = '0;
    if (valid2_q) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (mask2_q[l] && !final2_q[l]) begin
          result[l] = rounded(negative2_q[l], exponent2_q[l], significand2_q[l], rounding2_q,
                              ftz2_q, sat2_q);
        end else begin
          result[l] = value2_q[l];
        end
      end
    end
  end

`ifndef SYNTHESIS
  // Lanes outside the mask are zero.
  function automatic logic only_inside(lanes_t data, logic [Lanes-1:0] mask);
    only_inside = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (!mask[l] && data[l] != '0) only_inside = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(lanes_outside_are_zero, valid2_q && result_ready_i,
                     only_inside(result, mask2_q) && (pred_data2_q & ~mask2_q) == '0,
                     "a lane outside the mask has a result")

endmodule

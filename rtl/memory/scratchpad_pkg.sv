// Operations of a scratchpad pass, independent of where the words are stored.
//
// Common to `shared_memory`, which has banks of its own, and `unified_shared`, whose words are in the
// unified banks: which lanes a pass considers, how an atomic operation changes a word, and which bytes
// of its word a store writes.
package scratchpad_pkg;
  import gpurf_pkg::*;
  import fp_pkg::*;

  // The lanes that a pass considers, of those offered. `cfg` selects the bytes per cycle: all lanes are
  // 128 bytes; otherwise the half (64) or the quarter (32) that contains the lowest lane offered.
  function automatic logic [Lanes-1:0] lanes_in_window(logic [1:0] cfg, logic [Lanes-1:0] lanes);
    localparam int unsigned HalfLanes = Lanes / 2;
    localparam int unsigned QuarterLanes = Lanes / 4;
    lanes_in_window = lanes;
    if (cfg == 2'd1) begin
      if (lanes[HalfLanes-1:0] != '0) lanes_in_window[HalfLanes +: HalfLanes] = '0;
    end else if (cfg != 2'd0) begin
      for (int unsigned quarter = 1; quarter < Lanes / QuarterLanes; quarter++) begin
        if ((lanes & ~({Lanes{1'b1}} << (QuarterLanes * quarter))) != '0) begin
          lanes_in_window[QuarterLanes*quarter +: QuarterLanes] = '0;
        end
      end
    end
  endfunction

  // The bytes of its word that a store of this size writes, from `place` on.
  function automatic logic [LaneW/8-1:0] stored_bytes(logic [1:0] size, logic [1:0] place);
    return {{2{size[1]}}, size != SizeByte, 1'b1} << place;
  endfunction

  // The sum of two floats, to nearest even. Three bits below the significands are enough: if
  // more bits are shifted out, at most one bit is lost at the top.
  function automatic logic [LaneW-1:0] float_sum(logic [LaneW-1:0] a, logic [LaneW-1:0] b);
    logic                    opposite, up;
    logic [LaneW-1:0]        high, low;
    logic [SignificandW+3:0] value;
    logic [MagnitudeW-1:0]   magnitude;
    placed_t                 number;
    // verilator no_inline_task
    opposite = a[LaneW-1] ^ b[LaneW-1];
    high     = (a[MagnitudeW-1:0] >= b[MagnitudeW-1:0]) ? a : b;
    low      = (a[MagnitudeW-1:0] >= b[MagnitudeW-1:0]) ? b : a;
    if (is_special(high)) begin
      // An infinity or a NaN has the larger magnitude.
      return (is_nan(high) || (is_infinite(low) && opposite)) ? Nan : high;
    end
    value = (SignificandW + 4)'(shift_right_sticky(Wide'({significand(low, 1'b0), 3'b000}),
                                                   exponent(high) - exponent(low)));
    value = {1'b0, significand(high, 1'b0), 3'b000} + (opposite ? -value : value);
    if (value == '0) begin
      // A sum that cancels is +0; a sum of two zeros of one sign keeps the sign.
      return {a[LaneW-1] & b[LaneW-1], {MagnitudeW{1'b0}}};
    end
    number    = placed(Wide'(value), WideExponentW'($signed(exponent(high))) - WideExponentW'(3));
    up        = number.half & (number.sticky | number.magnitude[0]);
    magnitude = number.magnitude + MagnitudeW'(up);
    return {high[LaneW-1], magnitude};
  endfunction

  // The value that an atomic operation writes in place of `old`.
  function automatic logic [LaneW-1:0] updated(logic [3:0] operation, logic [LaneW-1:0] old,
                                               logic [LaneW-1:0] operand,
                                               logic [LaneW-1:0] compare);
    case (operation)
      AtomicAdd:         updated = old + operand;
      AtomicMinUnsigned: updated = (operand < old) ? operand : old;
      AtomicMinSigned:   updated = ($signed(operand) < $signed(old)) ? operand : old;
      AtomicMaxUnsigned: updated = (operand > old) ? operand : old;
      AtomicMaxSigned:   updated = ($signed(operand) > $signed(old)) ? operand : old;
      AtomicIncrement:   updated = (old >= operand) ? '0 : old + 1'b1;
      AtomicDecrement:   updated = (old == '0 || old > operand) ? operand : old - 1'b1;
      AtomicAnd:         updated = old & operand;
      AtomicOr:          updated = old | operand;
      AtomicXor:         updated = old ^ operand;
      AtomicExchange:    updated = operand;
      AtomicAddFloat:    updated = float_sum(old, operand);
      AtomicCas:         updated = (old == compare) ? operand : old;
      default:           updated = old;
    endcase
  endfunction

endpackage

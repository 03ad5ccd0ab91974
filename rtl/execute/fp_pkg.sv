// Unpacking and packing of single precision numbers.
//
// Code shared by the single precision unit, the special function unit and the float atomic of scratchpad memory
// (docs/arithmetic.md; widths: docs/blocks/fp_unit.md, "Values"). A finite number is
// (-1)^negative * significand * 2^exponent. Each unit rounds in its own way:
// `placed` returns the bits that decide the rounding.
package fp_pkg;

  // No module uses all of these.
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned FloatW = 32;
  localparam int unsigned MagnitudeW = 31;     // without the sign
  localparam int unsigned FractionW = 23;
  localparam int unsigned SignificandW = 24;   // fraction and hidden one
  localparam int unsigned FieldW = 8;          // exponent field
  localparam int unsigned Bias = 127;          // exponent field of 1.0

  localparam logic [FloatW-1:0]     Nan      = 32'h7fff_ffff;   // every NaN that is a result
  localparam logic [FloatW-1:0]     One      = 32'h3f80_0000;
  localparam logic [MagnitudeW-1:0] Infinity = 31'h7f80_0000;
  localparam logic [MagnitudeW-1:0] Largest  = 31'h7f7f_ffff;   // largest finite magnitude
  localparam logic [MagnitudeW-1:0] Smallest = 31'h0080_0000;   // smallest normal magnitude

  // Exponents of unpacked numbers and of numbers to be rounded, in two's complement.
  localparam int unsigned ExponentW = 10;
  localparam int unsigned WideExponentW = 12;
  localparam int unsigned Wide = 64;           // bits of a significand to be rounded
  localparam int unsigned ShiftW = $clog2(Wide);
  // verilator lint_on UNUSEDPARAM

  // A number about to be rounded: its truncated magnitude, and the bits that were cut off.
  typedef struct packed {
    logic [MagnitudeW-1:0] magnitude;
    logic                  half;        // the first bit cut off
    logic                  sticky;      // a later one is set
  } placed_t;

  // Each of these uses only some bits of a value.
  // verilator lint_off UNUSEDSIGNAL

  // Infinite or NaN.
  function automatic logic is_special(logic [FloatW-1:0] value);
    return value[FractionW +: FieldW] == '1;
  endfunction

  function automatic logic is_nan(logic [FloatW-1:0] value);
    return value[MagnitudeW-1:0] > Infinity;
  endfunction

  function automatic logic is_infinite(logic [FloatW-1:0] value);
    return value[MagnitudeW-1:0] == Infinity;
  endfunction

  // A subnormal becomes zero of its sign.
  function automatic logic [FloatW-1:0] flushed(logic [FloatW-1:0] value, logic flush);
    return (flush && value[FractionW +: FieldW] == '0) ? {value[FloatW-1], {MagnitudeW{1'b0}}}
                                                       : value;
  endfunction

  // The significand of a finite number, flushed if `flush` is set.
  function automatic logic [SignificandW-1:0] significand(logic [FloatW-1:0] value, logic flush);
    logic normal;
    normal = value[FractionW +: FieldW] != '0;
    return (normal || !flush) ? {normal, value[FractionW-1:0]} : '0;
  endfunction

  // The weight of a significand's lowest bit: field - 150; subnormals have the weight of field 1.
  function automatic logic [ExponentW-1:0] exponent(logic [FloatW-1:0] value);
    logic [FieldW-1:0] field;
    field = value[FractionW +: FieldW];
    return ExponentW'(field) + ExponentW'(field == '0) - ExponentW'(Bias + FractionW);
  endfunction

  // verilator lint_on UNUSEDSIGNAL

  // The number of zeros above the leading one; 63 for zero.
  function automatic logic [ShiftW-1:0] leading_zeros(logic [Wide-1:0] value);
    logic [ShiftW-1:0] count;
    logic [31:0]       half;
    logic [15:0]       quarter;
    logic [7:0]        eighth;
    // The last step looks at one bit of two.
    // verilator lint_off UNUSEDSIGNAL
    logic [3:0]        nibble;
    logic [1:0]        pair;
    // verilator lint_on UNUSEDSIGNAL
    count[5] = value[63:32] == '0;
    half     = count[5] ? value[31:0] : value[63:32];
    count[4] = half[31:16] == '0;
    quarter  = count[4] ? half[15:0] : half[31:16];
    count[3] = quarter[15:8] == '0;
    eighth   = count[3] ? quarter[7:0] : quarter[15:8];
    count[2] = eighth[7:4] == '0;
    nibble   = count[2] ? eighth[3:0] : eighth[7:4];
    count[1] = nibble[3:2] == '0;
    pair     = count[1] ? nibble[1:0] : nibble[3:2];
    count[0] = ~pair[1];
    return count;
  endfunction

  // Shift right; the lowest bit is set if any one was shifted out.
  function automatic logic [Wide-1:0] shift_right_sticky(logic [Wide-1:0] value,
                                                         logic [ExponentW-1:0] amount);
    logic [Wide-1:0] dropped;
    if (amount >= ExponentW'(Wide)) begin
      return {{Wide-1{1'b0}}, value != '0};
    end else begin
      dropped = ~({Wide{1'b1}} << amount[ShiftW-1:0]);
      return (value >> amount[ShiftW-1:0]) | {{Wide-1{1'b0}}, (value & dropped) != '0};
    end
  endfunction

  // The significand is not zero. Its lowest bit may be sticky, if at least one bit that is cut off is above
  // it. Overflow gives the magnitude of infinity, because no finite number is as large. The hidden bit adds one to the
  // exponent field of a normal number, so the field is one too low here, and right for a subnormal.
  function automatic placed_t placed(logic [Wide-1:0] value, logic [WideExponentW-1:0] place);
    logic [ShiftW-1:0]        zeros;
    logic [Wide-1:0]          aligned;
    logic [WideExponentW-1:0] field;
    logic [ExponentW-1:0]     below;    // places up to the smallest normal number
    zeros   = leading_zeros(value);
    aligned = value << zeros;
    field   = place + WideExponentW'(Wide - 1 + Bias - 1) - WideExponentW'(zeros);
    below   = -field[ExponentW-1:0];
    if (field[WideExponentW-1]) begin
      aligned = shift_right_sticky(aligned, below);
      field   = '0;
    end else if (field >= WideExponentW'(2 * Bias)) begin
      aligned = '0;
      field   = WideExponentW'(2 * Bias + 1);
    end
    placed.magnitude = {field[FieldW-1:0], {FractionW{1'b0}}} +
                       MagnitudeW'(aligned[Wide-1 -: SignificandW]);
    placed.half      = aligned[Wide-SignificandW-1];
    placed.sticky    = aligned[Wide-SignificandW-2:0] != '0;
  endfunction

endpackage

// ALU: integer, bit and predicate operations on 32 lanes (all instructions for unit 1).
//
// The result is computed in the cycle in which the instruction is taken, into one register. The result queue
// behind the ALU adds the latency of the papers (hierarchy thesis, table 4.4), and a synthesis tool
// that retimes may move the queue's registers into the arithmetic. The operation is decoded once,
// not for each lane, and only when an instruction is taken, because that determines the cost of simulation.
// Lanes outside the mask are zero, so that nothing depends on what inactive lanes of a source hold.
`include "gpurf_assert.svh"

module alu
  import gpurf_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,

  // instruction
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [WarpW-1:0]    warp_i,
  input  logic [Lanes-1:0]    mask_i,
  // Not read: registers and guard, which decode handles, and the address, which is for debugging.
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
  output logic [Lanes-1:0]    result_pred_data_o,

  // the live lanes of WARPSYNC are not those of its mask
  output logic                fault_valid_o,
  output logic [WarpW-1:0]    fault_warp_o,
  output logic [LaneW-1:0]    fault_value_o
);

  // Opcodes that no other block has to know (docs/isa.md).
  localparam logic [6:0] OpMov    = 7'h10;
  localparam logic [6:0] OpSel    = 7'h11;
  localparam logic [6:0] OpVote   = 7'h14;
  localparam logic [6:0] OpBallot = 7'h15;
  localparam logic [6:0] OpPlop   = 7'h16;
  localparam logic [6:0] OpIadd   = 7'h20;
  localparam logic [6:0] OpImad   = 7'h21;
  localparam logic [6:0] OpImnmx  = 7'h22;
  localparam logic [6:0] OpIsetp  = 7'h23;
  localparam logic [6:0] OpLop3   = 7'h24;
  localparam logic [6:0] OpShl    = 7'h25;
  localparam logic [6:0] OpShr    = 7'h26;
  localparam logic [6:0] OpShf    = 7'h27;
  localparam logic [6:0] OpBfe    = 7'h28;
  localparam logic [6:0] OpBfi    = 7'h29;
  localparam logic [6:0] OpPrmt   = 7'h2a;
  localparam logic [6:0] OpPopc   = 7'h2b;
  localparam logic [6:0] OpClz    = 7'h2c;
  localparam logic [6:0] OpBrev   = 7'h2d;
  localparam logic [6:0] OpDp4a   = 7'h2e;
  localparam logic [6:0] OpDp2a   = 7'h2f;

  localparam int unsigned ByteW = 8;
  localparam int unsigned HalfW = 16;

  typedef logic [LaneW-1:0]            lane_t;
  typedef logic [Lanes-1:0][LaneW-1:0] lanes_t;

  logic             valid_d, valid_q;
  logic [WarpW-1:0] warp_q;
  logic [Lanes-1:0] mask_q;
  logic [RegW-1:0]  reg_q;
  logic [PredW-1:0] pred_q;
  lanes_t           data_q;
  logic [Lanes-1:0] pred_data_q;
  logic             fault_q;
  lane_t            fault_value_q;
  logic             take;

  assign result_valid_o      = valid_q;
  assign result_warp_o       = warp_q;
  assign result_mask_o       = mask_q;
  assign result_reg_valid_o  = valid_q & (reg_q != NoReg);
  assign result_reg_o        = reg_q;
  assign result_data_o       = data_q;
  assign result_pred_valid_o = valid_q & (pred_q != NoPred);
  assign result_pred_o       = pred_q;
  assign result_pred_data_o  = pred_data_q;
  assign fault_valid_o       = valid_q & fault_q;
  assign fault_warp_o        = warp_q;
  assign fault_value_o       = fault_value_q;

  assign ready_o = ~valid_q | result_ready_i;
  assign take    = valid_i & ready_o;
  assign valid_d = take | (valid_q & ~result_ready_i);

  // Bits come from `ones` where `select` is one, and from `zeros` elsewhere.
  function automatic lane_t choose(lane_t select, lane_t ones, lane_t zeros);
    return (select & ones) | (~select & zeros);
  endfunction

  // The lowest `length` bits; all of them from 32 on.
  function automatic lane_t low_bits(logic [ByteW-1:0] length);
    return (length >= ByteW'(LaneW)) ? '1 : ~({LaneW{1'b1}} << length[4:0]);
  endfunction

  // Shifts in `fill`, by inverting the word before and after a shift that brings in zeros. From 32 on the result
  // is fill only.
  function automatic lane_t shift_right(lane_t value, lane_t amount, logic fill);
    lane_t filled;
    filled = {LaneW{fill}};
    return (amount >= LaneW) ? filled : ((value ^ filled) >> amount[4:0]) ^ filled;
  endfunction

  function automatic lane_t shift_left(lane_t value, lane_t amount);
    return (amount >= LaneW) ? '0 : value << amount[4:0];
  endfunction

  // A word of {upper, lower} that is shifted. The amount wraps at 32 or stops there.
  function automatic lane_t funnel(
    lane_t upper, lane_t lower, lane_t amount, logic right, logic wrap
  );
    logic [5:0]         n;
    logic [2*LaneW-1:0] wide;
    if (wrap) n = {1'b0, amount[4:0]};
    else      n = (amount >= LaneW) ? 6'(LaneW) : amount[5:0];
    wide = right ? {upper, lower} >> n : {upper, lower} << n;
    return right ? wide[LaneW-1:0] : wide[2*LaneW-1:LaneW];
  endfunction

  // Bits above bit 31 read as the sign, so the top bit of the field is always bit length-1 of the word
  // after it has been shifted down.
  function automatic lane_t extract(lane_t value, logic [2*ByteW-1:0] field, logic is_signed);
    logic             sign;
    logic [ByteW-1:0] length;
    lane_t            field_bits, shifted;
    sign       = is_signed & value[LaneW-1];
    length     = field[ByteW +: ByteW];
    field_bits = low_bits(length);
    shifted    = shift_right(value, lane_t'(field[ByteW-1:0]), sign);
    if (is_signed && (shifted & field_bits & ~(field_bits >> 1)) != '0) begin
      return shifted | ~field_bits;
    end else begin
      return shifted & field_bits;
    end
  endfunction

  function automatic lane_t insert(lane_t value, logic [2*ByteW-1:0] field, lane_t into);
    lane_t position;
    position = lane_t'(field[ByteW-1:0]);
    return choose(shift_left(low_bits(field[ByteW +: ByteW]), position),
                  shift_left(value, position), into);
  endfunction

  function automatic lane_t permute(lane_t upper, lane_t selector, lane_t lower);
    logic [2*LaneW-1:0] bytes;
    logic [ByteW-1:0]   chosen;
    bytes = {upper, lower};
    for (int unsigned i = 0; i < LaneW / ByteW; i++) begin
      chosen = bytes[{selector[4*i +: 3], 3'b000} +: ByteW];
      permute[ByteW*i +: ByteW] = selector[4*i+3] ? {ByteW{chosen[ByteW-1]}} : chosen;
    end
  endfunction

  // The highest one is smeared down; the remaining zeros are those above it.
  function automatic lane_t leading_zeros(lane_t value);
    lane_t smeared;
    smeared = value;
    for (int unsigned distance = 1; distance < LaneW; distance = distance * 2) begin
      smeared = smeared | (smeared >> distance);
    end
    return lane_t'($countones(~smeared));
  endfunction

  // Neighbours change places: bits, pairs, nibbles, bytes, halves.
  function automatic lane_t reverse(lane_t value);
    lane_t r;
    r = value;
    r = ((r >> 1) & 32'h5555_5555) | ((r & 32'h5555_5555) << 1);
    r = ((r >> 2) & 32'h3333_3333) | ((r & 32'h3333_3333) << 2);
    r = ((r >> 4) & 32'h0f0f_0f0f) | ((r & 32'h0f0f_0f0f) << 4);
    return {r[7:0], r[15:8], r[23:16], r[31:24]};
  endfunction

  function automatic lane_t byte_of(lane_t value, int unsigned i, logic is_signed);
    return {{LaneW - ByteW{is_signed & value[ByteW*i+ByteW-1]}}, value[ByteW*i +: ByteW]};
  endfunction

  function automatic lane_t half_of(lane_t value, int unsigned i, logic is_signed);
    return {{LaneW - HalfW{is_signed & value[HalfW*i+HalfW-1]}}, value[HalfW*i +: HalfW]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= valid_d;
  end

  // The payload has no reset: it means nothing while valid_q is low.
  always_ff @(posedge clk_i) begin : execute
    // The modifiers of the predicates are not read: decode handles them.
    // verilator lint_off UNUSEDSIGNAL
    automatic logic [ModifiersW-1:0] m;
    // verilator lint_on UNUSEDSIGNAL
    automatic lanes_t             a, b, c, d;
    automatic logic [Lanes-1:0]   p;
    automatic logic [Lanes-1:0]   equal, less, holds;
    automatic lane_t              invert_a, invert_b, flip, l0, l1, l2, l3;
    automatic logic [LaneW:0]     sum;
    automatic logic [2*LaneW-1:0] product;
    automatic logic               fault;
    automatic lane_t              fault_value;

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
      if (src_valid_i[2]) c = data_i[2];
      else                c = '0;
      p           = '0;
      fault       = 1'b0;
      fault_value = '0;

      case (opcode_of(instruction_i.op))
        OpWarpsync: begin
          d = '0;
          // The loop runs downwards, so that the lowest lane's value remains.
          for (int unsigned l = Lanes; l > 0; l--) begin
            if (mask_i[l-1] && (b[l-1] & instruction_i.s) != mask_i) begin
              fault       = 1'b1;
              fault_value = b[l-1];
            end
          end
        end

        OpMov: d = b;

        OpSel: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = instruction_i.s[l] ? a[l] : b[l];
        end

        OpVote: begin
          d = '0;
          case (m[8:7])
            2'd0:    p = {Lanes{(mask_i & ~instruction_i.s) == '0}};
            2'd1:    p = {Lanes{(mask_i & instruction_i.s) != '0}};
            2'd2:    p = {Lanes{(mask_i & ~instruction_i.s) == '0 || (mask_i & instruction_i.s) == '0}};
            default: p = '0;
          endcase
        end

        OpBallot: d = {Lanes{mask_i & instruction_i.s}};

        OpPlop: begin
          d = '0;
          case (m[12:11])
            2'd0:    p = instruction_i.s & instruction_i.t;
            2'd1:    p = instruction_i.s | instruction_i.t;
            2'd2:    p = instruction_i.s ^ instruction_i.t;
            default: p = '0;
          endcase
        end

        OpIadd: begin
          invert_a = {LaneW{m[8:7] == 2'd2}};
          invert_b = {LaneW{m[8:7] == 2'd1}};
          for (int unsigned l = 0; l < Lanes; l++) begin
            sum  = {1'b0, a[l] ^ invert_a} + {1'b0, b[l] ^ invert_b} + (LaneW + 1)'(instruction_i.s[l]);
            d[l] = sum[LaneW-1:0];
            p[l] = sum[LaneW];
          end
        end

        OpImad: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            product = {{LaneW{m[8] & a[l][LaneW-1]}}, a[l]} * {{LaneW{m[8] & b[l][LaneW-1]}}, b[l]};
            sum     = {1'b0, m[7] ? product[2*LaneW-1:LaneW] : product[LaneW-1:0]} +
                      {1'b0, c[l]} + (LaneW + 1)'(instruction_i.s[l]);
            d[l]    = sum[LaneW-1:0];
            p[l]    = sum[LaneW];
          end
        end

        OpImnmx: begin
          // With inverted top bits, signed numbers have the order of unsigned numbers.
          flip = {m[1], {LaneW - 1{1'b0}}};
          for (int unsigned l = 0; l < Lanes; l++) begin
            d[l] = (((a[l] ^ flip) < (b[l] ^ flip)) ^ m[0]) ? a[l] : b[l];
          end
        end

        OpIsetp: begin
          d    = '0;
          flip = {m[10], {LaneW - 1{1'b0}}};
          for (int unsigned l = 0; l < Lanes; l++) begin
            equal[l] = a[l] == b[l];
            less[l]  = (a[l] ^ flip) < (b[l] ^ flip);
          end
          case (m[9:7])
            3'd0:    holds = equal;
            3'd1:    holds = ~equal;
            3'd2:    holds = less;
            3'd3:    holds = less | equal;
            3'd4:    holds = ~(less | equal);
            3'd5:    holds = ~less;
            default: holds = '0;
          endcase
          case (m[12:11])
            2'd0:    p = holds & instruction_i.s;
            2'd1:    p = holds | instruction_i.s;
            2'd2:    p = holds ^ instruction_i.s;
            default: p = choose(equal, instruction_i.s, holds);
          endcase
        end

        OpLop3: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            l0   = choose(c[l], {LaneW{m[1]}}, {LaneW{m[0]}});
            l1   = choose(c[l], {LaneW{m[3]}}, {LaneW{m[2]}});
            l2   = choose(c[l], {LaneW{m[5]}}, {LaneW{m[4]}});
            l3   = choose(c[l], {LaneW{m[7]}}, {LaneW{m[6]}});
            d[l] = choose(a[l], choose(b[l], l3, l2), choose(b[l], l1, l0));
          end
        end

        OpShl: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = shift_left(a[l], b[l]);
        end

        OpShr: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            d[l] = shift_right(a[l], b[l], m[0] & a[l][LaneW-1]);
          end
        end

        OpShf: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = funnel(c[l], a[l], b[l], m[0], m[1]);
        end

        OpBfe: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = extract(a[l], b[l][15:0], m[0]);
        end

        OpBfi: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = insert(a[l], b[l][15:0], c[l]);
        end

        OpPrmt: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = permute(c[l], b[l], a[l]);
        end

        OpPopc: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = lane_t'($countones(a[l]));
        end

        OpClz: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = leading_zeros(a[l]);
        end

        OpBrev: begin
          for (int unsigned l = 0; l < Lanes; l++) d[l] = reverse(a[l]);
        end

        // The sums are modulo 2^32, so the products may be as well.
        OpDp4a: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            d[l] = c[l] + byte_of(a[l], 0, m[0]) * byte_of(b[l], 0, m[1])
                        + byte_of(a[l], 1, m[0]) * byte_of(b[l], 1, m[1])
                        + byte_of(a[l], 2, m[0]) * byte_of(b[l], 2, m[1])
                        + byte_of(a[l], 3, m[0]) * byte_of(b[l], 3, m[1]);
          end
        end

        OpDp2a: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            l0   = m[2] ? b[l] >> HalfW : b[l];
            d[l] = c[l] + half_of(a[l], 0, m[0]) * byte_of(l0, 0, m[1])
                        + half_of(a[l], 1, m[0]) * byte_of(l0, 1, m[1]);
          end
        end

        default: d = '0;
      endcase

      for (int unsigned l = 0; l < Lanes; l++) d[l] = d[l] & {LaneW{mask_i[l]}};

      warp_q        <= warp_i;
      mask_q        <= mask_i;
      reg_q         <= instruction_i.roles.d;
      pred_q        <= instruction_i.roles.p;
      data_q        <= d;
      pred_data_q   <= p & mask_i;
      fault_q       <= fault;
      fault_value_q <= fault_value;
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

  `GPURF_ASSERT_WHEN(lanes_outside_are_zero, valid_q && result_ready_i,
                     only_inside(data_q, mask_q) && (pred_data_q & ~mask_q) == '0,
                     "a lane outside the mask has a result")

endmodule

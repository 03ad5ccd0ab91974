// Constant unit: holds one load of a constant or of a special register.
//
// In the machines of the papers a constant is an operand that does not wait for memory. Therefore constants
// and special registers have a unit of their own beside the memory pipeline. It takes an instruction
// with its base address, computes an address for each lane, and offers the lanes that are left to
// the constant memory, pass by pass, or all of them to the special registers. The units say in the
// same cycle which lanes they serve. No constant is written while a grid runs, so the order among
// these instructions and accesses of memory does not matter.
//
// An instruction at fault is not held: none of its reads is performed.
`include "gpurf_assert.svh"

module constant_unit
  import gpurf_pkg::*;
#(
  parameter int unsigned ConstWords = 17408,
  localparam int unsigned SourceW = 5
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // instruction in
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [WarpW-1:0]   warp_i,
  input  logic [Lanes-1:0]   mask_i,
  // Some fields of an instruction are not read here.
  // verilator lint_off UNUSEDSIGNAL
  input  instruction_t       instruction_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic               src_valid_i,        // source a is a register
  input  logic [DataW-1:0]   data_i,             // value of source a

  // lanes offered, and the unit to which they are offered
  output logic [Lanes-1:0]   lanes_o,
  output logic               busy_o,
  output logic               constant_valid_o,
  output logic               special_valid_o,
  input  logic [Lanes-1:0]   constant_served_i,
  input  logic [Lanes-1:0]   special_served_i,
  output logic               last_o,             // no lane is left after this pass

  // instruction held
  output logic [WarpW-1:0]   warp_o,
  output logic [1:0]         size_o,
  output logic               signed_o,
  output logic [SourceW-1:0] source_o,           // number of the special register
  output logic               reg_valid_o,
  output logic [RegW-1:0]    reg_o,
  output logic [DataW-1:0]   addr_o,

  // the instruction taken in the cycle before is at fault
  output logic               fault_valid_o,
  output logic [WarpW-1:0]   fault_warp_o,
  output logic [CauseW-1:0]  fault_cause_o,
  output logic [LaneW-1:0]   fault_value_o
);

  localparam logic [OpcodeW-1:0] OpS2r = 7'h12;
  localparam logic [OpcodeW-1:0] OpLdc = 7'h42;

  localparam int unsigned OffsetW = 24;

  logic               busy_q;
  logic               special_q;     // a special register; otherwise a constant
  logic [Lanes-1:0]   lanes_q;       // lanes left
  logic [WarpW-1:0]   warp_q;
  logic [1:0]         size_q;
  logic               signed_q;
  logic [SourceW-1:0] source_q;
  logic               reg_valid_q;
  logic [RegW-1:0]    reg_q;
  logic [DataW-1:0]   addr_q;

  logic               fault_q;
  logic [WarpW-1:0]   fault_warp_q;
  logic [CauseW-1:0]  fault_cause_q;
  logic [LaneW-1:0]   fault_value_q;

  logic               take;
  logic [Lanes-1:0]   served;

  assign constant_valid_o = busy_q & ~special_q;
  assign special_valid_o  = busy_q & special_q;
  assign served           = special_q ? special_served_i : constant_served_i;
  assign last_o           = busy_q & ((lanes_q & ~served) == '0);
  assign ready_o          = ~busy_q | last_o;
  assign take             = valid_i & ready_o;

  assign lanes_o     = lanes_q;
  assign busy_o      = busy_q;
  assign warp_o      = warp_q;
  assign size_o      = size_q;
  assign signed_o    = signed_q;
  assign source_o    = source_q;
  assign reg_valid_o = busy_q & reg_valid_q;
  assign reg_o       = reg_q;
  assign addr_o      = addr_q;

  assign fault_valid_o = fault_q;
  assign fault_warp_o  = fault_warp_q;
  assign fault_cause_o = fault_cause_q;
  assign fault_value_o = fault_value_q;

  // The payload has no reset: it means nothing while busy_q, fault_q are low.
  always_ff @(posedge clk_i) begin : hold
    // Only the lowest modifiers belong to these operations.
    // verilator lint_off UNUSEDSIGNAL
    automatic logic [ModifiersW-1:0] m;
    automatic logic [LaneW-1:0]      word;      // upper half of the operation word
    // verilator lint_on UNUSEDSIGNAL
    automatic logic                  special;
    automatic logic [1:0]            size;
    automatic logic [3:0]            low_bits;  // of an address, that must be 0
    automatic logic [LaneW-1:0]      offset;
    automatic logic [LaneW-1:0]      sum;
    automatic logic [LaneW:0]        past;      // first byte after the access
    automatic logic                  at_fault;
    automatic logic [DataW-1:0]      addr;

    fault_q <= 1'b0;
    if (take) begin
      m       = modifiers_of(instruction_i.op, instruction_i.ctl);
      word    = constant_of(instruction_i.op);
      offset  = {{(LaneW-OffsetW){word[LaneW-1]}}, word[LaneW-1 -: OffsetW]};
      special = opcode_of(instruction_i.op) == OpS2r;
      size    = m[2] ? SizeWord : {1'b0, m[1]};
      case (m[4:3])
        2'd0:    low_bits = {2'b00, size_mask(size)};
        2'd1:    low_bits = 4'b0111;
        default: low_bits = 4'b1111;
      endcase

      at_fault = 1'b0;
      addr     = '0;
      if (!special) begin
        // The loop runs downwards, so that the lowest lane's fault remains.
        for (int unsigned l = Lanes; l > 0; l--) begin
          if (mask_i[l-1]) begin
            sum  = (src_valid_i ? data_i[LaneW*(l-1) +: LaneW] : '0) + offset;
            past = {1'b0, sum} + ((LaneW+1)'(1) << size);
            if ((sum[3:0] & low_bits) != '0) begin
              at_fault      = 1'b1;
              fault_cause_q <= CauseMisaligned;
              fault_value_q <= sum;
            end else if (past > 4 * (LaneW+1)'(ConstWords)) begin
              at_fault      = 1'b1;
              fault_cause_q <= CauseOutOfBounds;
              fault_value_q <= sum;
            end
            addr[LaneW*(l-1) +: LaneW] = sum;
          end
        end
      end

      busy_q       <= ~at_fault;
      fault_q      <= at_fault;
      fault_warp_q <= warp_i;
      special_q    <= special;
      lanes_q      <= mask_i;
      warp_q       <= warp_i;
      size_q       <= special ? '0 : size;
      signed_q     <= ~special & ~m[2] & m[0];
      source_q     <= m[SourceW-1:0];
      reg_valid_q  <= instruction_i.roles.d != NoReg;
      reg_q        <= instruction_i.roles.d;
      addr_q       <= addr;
    end else begin
      if (last_o) busy_q <= 1'b0;
      lanes_q <= lanes_q & ~served;
    end

    if (!rst_ni) begin
      busy_q  <= 1'b0;
      fault_q <= 1'b0;
    end
  end

  `GPURF_ASSERT_WHEN(known_opcode, take, opcode_of(instruction_i.op) inside {OpS2r, OpLdc},
                     "an operation came that is none of the constant unit")
  `GPURF_ASSERT_WHEN(lanes_left, busy_q, lanes_q != '0, "an instruction without lanes is held")
  `GPURF_ASSERT_WHEN(served_offered, busy_q, (served & ~lanes_q) == '0,
                     "a lane was served that was not offered")
  `GPURF_ASSERT(others_silent, (constant_valid_o || constant_served_i == '0) &&
                               (special_valid_o || special_served_i == '0),
                "lanes were served that were not offered to it")

endmodule

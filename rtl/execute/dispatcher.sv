// Dispatcher: routes instructions from the operand stage to the execution units.
//
// There is an ALU and a single precision unit for each dispatch port; one memory pipeline, one
// special function unit, one constant unit and one barrier unit for all. If two ports want the same shared unit, they
// take turns: the port that lost has priority next time. The turn changes only when an instruction has
// actually left, so that a waiting offer keeps its priority.
`include "gpurf_assert.svh"

module dispatcher
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // what the operand stage offers
  input  logic [IssuePorts-1:0] dispatch_valid_i,
  // Only the unit is read.
  // verilator lint_off UNUSEDSIGNAL
  input  instruction_t          dispatch_instruction_i [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
  output logic [IssuePorts-1:0] dispatch_ready_o,

  // units
  input  logic [IssuePorts-1:0] alu_ready_i,
  input  logic [IssuePorts-1:0] fp_ready_i,
  input  logic                  memory_ready_i,
  input  logic                  sfu_ready_i,
  input  logic                  constant_ready_i,
  output logic [IssuePorts-1:0] alu_valid_o,
  output logic [IssuePorts-1:0] fp_valid_o,
  output logic                  memory_valid_o,
  output logic                  memory_port_o,
  output logic                  sfu_valid_o,
  output logic                  sfu_port_o,
  output logic                  constant_valid_o,
  output logic                  constant_port_o,
  output logic                  barrier_valid_o,   // always taken
  output logic                  barrier_port_o
);

  logic memory_turn_q;    // port with priority, if both want the unit
  logic sfu_turn_q;
  logic constant_turn_q;
  logic barrier_turn_q;

  logic [IssuePorts-1:0] memory_wanted;
  logic [IssuePorts-1:0] sfu_wanted;
  logic [IssuePorts-1:0] constant_wanted;
  logic [IssuePorts-1:0] barrier_wanted;
  logic                  memory_contest;
  logic                  sfu_contest;
  logic                  constant_contest;
  logic                  barrier_contest;

  always_comb begin : wanted_units
    logic [3:0] unit;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      unit               = dispatch_instruction_i[p].roles.unit;
      alu_valid_o[p]     = dispatch_valid_i[p] & (unit == UnitAlu);
      fp_valid_o[p]      = dispatch_valid_i[p] & (unit == UnitFp);
      memory_wanted[p]   = dispatch_valid_i[p] & (unit == UnitMemory);
      sfu_wanted[p]      = dispatch_valid_i[p] & (unit == UnitSfu);
      constant_wanted[p] = dispatch_valid_i[p] & (unit == UnitConstant);
      barrier_wanted[p]  = dispatch_valid_i[p] & (unit == UnitBarrier);
    end
  end

  assign memory_valid_o   = memory_wanted != '0;
  assign sfu_valid_o      = sfu_wanted != '0;
  assign constant_valid_o = constant_wanted != '0;
  assign barrier_valid_o  = barrier_wanted != '0;

  // With one port, index IssuePorts-1 is port 0, and there is no contest.
  assign memory_contest   = (IssuePorts > 1) && memory_wanted == '1;
  assign sfu_contest      = (IssuePorts > 1) && sfu_wanted == '1;
  assign constant_contest = (IssuePorts > 1) && constant_wanted == '1;
  assign barrier_contest  = (IssuePorts > 1) && barrier_wanted == '1;

  // Without a contest, port 1 is selected if port 0 does not want the unit.
  assign memory_port_o   = memory_contest ? memory_turn_q : memory_valid_o & ~memory_wanted[0];
  assign sfu_port_o      = sfu_contest ? sfu_turn_q : sfu_valid_o & ~sfu_wanted[0];
  assign constant_port_o = constant_contest ? constant_turn_q
                                            : constant_valid_o & ~constant_wanted[0];
  assign barrier_port_o  = barrier_contest ? barrier_turn_q : barrier_valid_o & ~barrier_wanted[0];

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      dispatch_ready_o[p] = (alu_valid_o[p] & alu_ready_i[p]) |
                            (fp_valid_o[p] & fp_ready_i[p]) |
                            (memory_wanted[p] & (memory_port_o == 1'(p)) & memory_ready_i) |
                            (sfu_wanted[p] & (sfu_port_o == 1'(p)) & sfu_ready_i) |
                            (constant_wanted[p] & (constant_port_o == 1'(p)) &
                             constant_ready_i) |
                            (barrier_wanted[p] & (barrier_port_o == 1'(p)));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      memory_turn_q   <= 1'b0;
      sfu_turn_q      <= 1'b0;
      constant_turn_q <= 1'b0;
      barrier_turn_q  <= 1'b0;
    end else begin
      if (memory_contest && memory_ready_i)     memory_turn_q   <= ~memory_turn_q;
      if (sfu_contest && sfu_ready_i)           sfu_turn_q      <= ~sfu_turn_q;
      if (constant_contest && constant_ready_i) constant_turn_q <= ~constant_turn_q;
      if (barrier_contest)                      barrier_turn_q  <= ~barrier_turn_q;
    end
  end

  `GPURF_ASSERT(taken_only_when_offered, (dispatch_ready_o & ~dispatch_valid_i) == '0,
                "an instruction was taken that was not offered")
  `GPURF_ASSERT(one_memory, $countones(dispatch_ready_o & memory_wanted) ==
                            $countones(memory_valid_o & memory_ready_i),
                "not one instruction went to the memory pipeline")
  `GPURF_ASSERT(one_sfu, $countones(dispatch_ready_o & sfu_wanted) ==
                         $countones(sfu_valid_o & sfu_ready_i),
                "not one instruction went to the special function unit")
  `GPURF_ASSERT(one_constant, $countones(dispatch_ready_o & constant_wanted) ==
                              $countones(constant_valid_o & constant_ready_i),
                "not one instruction went to the constant unit")
  `GPURF_ASSERT(one_barrier, $countones(dispatch_ready_o & barrier_wanted) ==
                             $countones(barrier_valid_o),
                "not one instruction went to the barrier unit")

endmodule

// Issue stage: reads the issued instructions with their lanes and predicates.
//
// Combinational: takes the heads of the selected warps from the instruction buffer, reads guard, s and t in the
// predicate file, and passes the instruction to all blocks concerned: the operand stage and the
// scoreboard, the SIMT stack, the barrier unit, and the fault unit. An instruction whose guard leaves no
// lanes ends here: it counts as issued, and occupies nothing. Faults that can only occur before an
// instruction has operands are detected here too.
module issue_stage
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1
) (
  // the scheduler's choice
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i    [IssuePorts],

  // heads, and the lanes of their executing groups
  input  logic [PcW-1:0]        head_pc_i       [Warps],
  input  logic [WordW-1:0]      head_op_i       [Warps],
  input  logic [WordW-1:0]      head_ctl_i      [Warps],
  input  roles_t                head_roles_i    [Warps],
  input  logic [Warps-1:0]      probe_i,                        // the head issues as a probe
  input  logic [Lanes-1:0]      mask_i          [Warps],
  input  logic [Lanes-1:0]      live_i          [Warps],

  // predicate file
  input  logic [Lanes-1:0]      guard_i         [IssuePorts],
  input  logic [Lanes-1:0]      s_i             [IssuePorts],
  input  logic [Lanes-1:0]      t_i             [IssuePorts],
  output logic [PredW:0]        read_guard_o    [IssuePorts],
  output logic [PredW:0]        read_s_o        [IssuePorts],
  output logic [PredW:0]        read_t_o        [IssuePorts],

  // the instruction
  output logic [IssuePorts-1:0] operand_valid_o,                // goes to the operand stage
  output logic [WarpW-1:0]      warp_o          [IssuePorts],
  output instruction_t          instruction_o   [IssuePorts],
  output logic [Lanes-1:0]      exec_o          [IssuePorts],   // lanes that execute it

  // SIMT stack
  output logic [1:0]            kind_o          [IssuePorts],   // kind_e
  output logic [IssuePorts-1:0] stop_o,
  output logic [PcW-1:0]        target_o        [IssuePorts],
  output logic [PcW-1:0]        join_o          [IssuePorts],

  // barrier unit
  output logic [IssuePorts-1:0] hold_valid_o,

  // fault unit
  output logic [IssuePorts-1:0] fault_valid_o,
  output logic [CauseW-1:0]     fault_cause_o   [IssuePorts],
  output logic [LaneW-1:0]      fault_value_o   [IssuePorts]
);

  localparam int unsigned IndexW = $clog2(Warps);

  logic [WordW-1:0]      op     [IssuePorts];
  logic [WordW-1:0]      ctl    [IssuePorts];
  roles_t                roles  [IssuePorts];
  logic [Lanes-1:0]      live   [IssuePorts];
  logic [OpcodeW-1:0]    opcode [IssuePorts];
  logic [IssuePorts-1:0] probe;

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      warp_o[p]       = issue_warp_i[p];
      op[p]           = head_op_i[IndexW'(issue_warp_i[p])];
      ctl[p]          = head_ctl_i[IndexW'(issue_warp_i[p])];
      roles[p]        = head_roles_i[IndexW'(issue_warp_i[p])];
      live[p]         = live_i[IndexW'(issue_warp_i[p])];
      opcode[p]       = opcode_of(op[p]);
      probe[p]        = probe_i[IndexW'(issue_warp_i[p])];
      read_guard_o[p] = roles[p].guard;
      read_s_o[p]     = roles[p].s;
      read_t_o[p]     = roles[p].t;
      target_o[p]     = op[p][OperationConstant +: PcW];
      join_o[p]       = ctl[p][PcW-1:0];
      kind_o[p]       = (opcode[p] == OpBra)  ? KindBranch :
                        (opcode[p] == OpExit) ? KindExit : KindOther;
    end
  end

  // Separate from the above, because exec depends on the answer of the predicate file.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      exec_o[p] = mask_i[IndexW'(issue_warp_i[p])] & guard_i[p];
      instruction_o[p].pc    = head_pc_i[IndexW'(issue_warp_i[p])];
      instruction_o[p].op    = op[p];
      instruction_o[p].ctl   = ctl[p];
      instruction_o[p].roles = roles[p];
      instruction_o[p].s     = (opcode[p] == OpWarpsync) ? live[p] : s_i[p];
      instruction_o[p].t     = t_i[p];
      // A probe only forms addresses: it has no store data and no result.
      if (probe[p]) begin
        instruction_o[p].op[OpcodeW-1:0] = OpProbe;
        instruction_o[p].roles.c         = NoReg;
        instruction_o[p].roles.d         = NoReg;
        instruction_o[p].roles.p         = NoPred;
      end
    end
  end

  always_comb begin
    operand_valid_o = '0;
    hold_valid_o    = '0;
    stop_o          = '0;
    fault_valid_o   = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      fault_cause_o[p] = CauseUnsupported;
      fault_value_o[p] = LaneW'(opcode[p]);
      if (issue_valid_i[p]) begin
        stop_o[p] = roles[p].stop;
        if (roles[p].unit == UnitUnsupported) begin
          fault_valid_o[p] = 1'b1;
        end else if (exec_o[p] != '0) begin
          if (opcode[p] == OpTrap) begin
            fault_valid_o[p] = 1'b1;
            fault_cause_o[p] = CauseTrap;
            fault_value_o[p] = constant_of(op[p]);
          end else if (opcode[p] == OpBar && exec_o[p] != live[p]) begin
            fault_valid_o[p] = 1'b1;
            fault_cause_o[p] = CauseBarrierDivergence;
            fault_value_o[p] = LaneW'(op[p][OperationModifiers +: OperationModifiersW]);
          end else begin
            hold_valid_o[p]    = roles[p].unit == UnitBarrier;
            operand_valid_o[p] = takes_operands(roles[p].unit);
          end
        end
      end
    end
  end

endmodule

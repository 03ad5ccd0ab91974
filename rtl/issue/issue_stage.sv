// The instruction that issues, with its lanes and predicates.
//
// Stateless: takes the heads of the chosen warps out of the instruction buffer, asks the predicate
// file for guard, s and t, and tells everybody concerned: the operand stage and the scoreboard, the
// SIMT stack, the barrier unit, and the fault unit. An instruction whose guard leaves it no lanes
// ends here: it has been counted, and holds nothing. What can only go wrong before an instruction
// has operands is found here too.
module issue_stage
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1
) (
  // the scheduler's choice
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i    [IssuePorts],

  // heads, and the groups they belong to
  input  logic [PcW-1:0]        head_pc_i       [Warps],
  input  logic [WordW-1:0]      head_op_i       [Warps],
  input  logic [WordW-1:0]      head_ctl_i      [Warps],
  input  roles_t                head_roles_i    [Warps],
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
  output logic [PcW-1:0]        pc_o            [IssuePorts],
  output logic [WordW-1:0]      op_o            [IssuePorts],
  output logic [WordW-1:0]      ctl_o           [IssuePorts],
  output roles_t                roles_o         [IssuePorts],
  output logic [Lanes-1:0]      exec_o          [IssuePorts],   // lanes that execute it
  output logic [Lanes-1:0]      s_o             [IssuePorts],
  output logic [Lanes-1:0]      t_o             [IssuePorts],

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
  localparam int unsigned OpcodeW = 7;
  localparam int unsigned ConstantLsb = 32;                     // of source b in the word
  localparam int unsigned BarrierLsb = 28;                      // of the barrier's number
  localparam int unsigned BarrierW = 4;

  logic [Lanes-1:0]      live   [IssuePorts];
  logic [OpcodeW-1:0]    opcode [IssuePorts];

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      warp_o[p]       = issue_warp_i[p];
      pc_o[p]         = head_pc_i[IndexW'(issue_warp_i[p])];
      op_o[p]         = head_op_i[IndexW'(issue_warp_i[p])];
      ctl_o[p]        = head_ctl_i[IndexW'(issue_warp_i[p])];
      roles_o[p]      = head_roles_i[IndexW'(issue_warp_i[p])];
      live[p]         = live_i[IndexW'(issue_warp_i[p])];
      opcode[p]       = op_o[p][OpcodeW-1:0];
      read_guard_o[p] = roles_o[p].guard;
      read_s_o[p]     = roles_o[p].s;
      read_t_o[p]     = roles_o[p].t;
      target_o[p]     = op_o[p][ConstantLsb +: PcW];
      join_o[p]       = ctl_o[p][PcW-1:0];
      kind_o[p]       = (opcode[p] == OpBra)  ? KindBranch :
                        (opcode[p] == OpExit) ? KindExit : KindOther;
    end
  end

  // Apart from the above, which the predicate file's answer depends on.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      exec_o[p] = mask_i[IndexW'(issue_warp_i[p])] & guard_i[p];
      s_o[p]    = (opcode[p] == OpWarpsync) ? live[p] : s_i[p];
      t_o[p]    = t_i[p];
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
        stop_o[p] = roles_o[p].stop;
        if (roles_o[p].unit == UnitUnsupported) begin
          fault_valid_o[p] = 1'b1;
        end else if (exec_o[p] != '0) begin
          if (opcode[p] == OpTrap) begin
            fault_valid_o[p] = 1'b1;
            fault_cause_o[p] = CauseTrap;
            fault_value_o[p] = op_o[p][ConstantLsb +: LaneW];
          end else if (opcode[p] == OpBar && exec_o[p] != live[p]) begin
            fault_valid_o[p] = 1'b1;
            fault_cause_o[p] = CauseBarrierDivergence;
            fault_value_o[p] = LaneW'(op_o[p][BarrierLsb +: BarrierW]);
          end else begin
            hold_valid_o[p]    = roles_o[p].unit == UnitBarrier;
            operand_valid_o[p] = takes_operands(roles_o[p].unit);
          end
        end
      end
    end
  end

endmodule

// Scoreboard: decides which heads have no pending dependence.
//
// One bit for each register and predicate of a warp with a pending result, and a count of
// the warp's instructions in flight. An instruction waits while any of its sources, destinations or
// predicates has its bit set (RFC paper, figure 1; hierarchy thesis, 2.4), so that each register
// has one writer at a time and is read only after that write. The bits of RZ and PT are never set, so that
// "none" needs no special case. The count tells when all instructions of an ended warp have finished.
`include "gpurf_assert.svh"

module scoreboard
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  localparam int unsigned Finishes = 2 * IssuePorts + 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // heads of the instruction buffer
  input  logic [Warps-1:0]      head_valid_i,
  input  roles_t                head_roles_i  [Warps],

  // an instruction goes to the operand stage
  input  logic [IssuePorts-1:0] set_valid_i,
  input  logic [WarpW-1:0]      set_warp_i    [IssuePorts],
  input  logic [RegW-1:0]       set_d_i       [IssuePorts],
  input  logic [PredW-1:0]      set_p_i       [IssuePorts],

  // a register has its final value
  input  logic [IssuePorts-1:0] reg_valid_i,
  input  logic [WarpW-1:0]      reg_warp_i    [IssuePorts],
  input  logic [RegW-1:0]       reg_i         [IssuePorts],

  // a predicate has been written
  input  logic [IssuePorts-1:0] pred_valid_i,
  input  logic [WarpW-1:0]      pred_warp_i   [IssuePorts],
  input  logic [PredW-1:0]      pred_i        [IssuePorts],

  // an instruction has finished
  input  logic [Finishes-1:0]   finish_valid_i,
  input  logic [WarpW-1:0]      finish_warp_i [Finishes],

  output logic [Warps-1:0]      clear_o,                   // no register or predicate that the head uses is pending
  output logic [Warps-1:0]      operand_o,                 // the head goes to the operand stage
  output logic [Warps-1:0]      branch_o,                  // the head completes at issue
  output logic [Warps-1:0]      idle_o                     // nothing of the warp is in flight
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned WordBits = 64;                   // registers in one element of reg_q
  localparam int unsigned WordIndexW = $clog2(WordBits);
  localparam int unsigned RegWords = 2**RegW / WordBits;   // elements of reg_q for one warp
  localparam int unsigned ElementW = $clog2(RegWords * Warps);
  localparam int unsigned Preds = 2**PredW;
  localparam int unsigned CountW = 8;
  localparam int unsigned MaxCount = 200;                  // far above what the SM can hold

  logic [WordBits-1:0] reg_q   [RegWords*Warps];
  logic [Preds-1:0]    pred_q  [Warps];
  logic [CountW-1:0]   count_q [Warps];

  // The element of reg_q that holds a register of a warp.
  function automatic logic [ElementW-1:0] element_of(logic [WarpW-1:0] warp,
                                                     logic [RegW-1:0] register);
    return ElementW'({warp, register} >> WordIndexW);
  endfunction

  function automatic logic reg_pending(logic [WarpW-1:0] warp, logic [RegW-1:0] register);
    return reg_q[element_of(warp, register)][WordIndexW'(register)];
  endfunction

  always_comb begin
    clear_o   = '0;
    operand_o = '0;
    branch_o  = '0;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (head_valid_i[w]) begin
        clear_o[w] = ~(reg_pending(WarpW'(w), head_roles_i[w].a) |
                       reg_pending(WarpW'(w), head_roles_i[w].b) |
                       reg_pending(WarpW'(w), head_roles_i[w].c) |
                       reg_pending(WarpW'(w), head_roles_i[w].d) |
                       pred_q[w][head_roles_i[w].guard[PredW-1:0]] |
                       pred_q[w][head_roles_i[w].s[PredW-1:0]] |
                       pred_q[w][head_roles_i[w].t[PredW-1:0]] |
                       pred_q[w][head_roles_i[w].p]);
        operand_o[w] = takes_operands(head_roles_i[w].unit);
        branch_o[w]  = head_roles_i[w].unit == UnitControl;
      end
    end
  end

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) begin
      idle_o[w] = count_q[w] == '0;
    end
  end

  // The count of a warp after this edge: all events of the cycle count together.
  function automatic logic [CountW-1:0] count_after(logic [WarpW-1:0] warp);
    count_after = count_q[IndexW'(warp)];
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (set_valid_i[p] && set_warp_i[p] == warp) count_after = count_after + 1'b1;
    end
    for (int unsigned f = 0; f < Finishes; f++) begin
      if (finish_valid_i[f] && finish_warp_i[f] == warp) count_after = count_after - 1'b1;
    end
  endfunction

  // Sets come after clears in this process, so a set wins.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reg_q   <= '{default: '0};
      pred_q  <= '{default: '0};
      count_q <= '{default: '0};
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (reg_valid_i[p]) begin
          reg_q[ElementW'({reg_warp_i[p], reg_i[p]} >> WordIndexW)][WordIndexW'(reg_i[p])] <= 1'b0;
        end
        if (pred_valid_i[p]) pred_q[IndexW'(pred_warp_i[p])][pred_i[p]] <= 1'b0;
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (set_valid_i[p]) begin
          if (set_d_i[p] != NoReg) begin
            reg_q[ElementW'({set_warp_i[p], set_d_i[p]} >> WordIndexW)][WordIndexW'(set_d_i[p])] <= 1'b1;
          end
          if (set_p_i[p] != NoPred) pred_q[IndexW'(set_warp_i[p])][set_p_i[p]] <= 1'b1;
          count_q[IndexW'(set_warp_i[p])] <= count_after(set_warp_i[p]);
        end
      end
      for (int unsigned f = 0; f < Finishes; f++) begin
        if (finish_valid_i[f]) begin
          count_q[IndexW'(finish_warp_i[f])] <= count_after(finish_warp_i[f]);
        end
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_set_check
    `GPURF_ASSERT_WHEN(set_finds_clear, set_valid_i[p],
                       !reg_pending(set_warp_i[p], set_d_i[p]) &&
                       !pred_q[IndexW'(set_warp_i[p])][set_p_i[p]],
                       "an instruction was issued whose result is already on its way")
    `GPURF_ASSERT_WHEN(count_in_range, set_valid_i[p],
                       32'(count_after(set_warp_i[p])) <= MaxCount,
                       "a warp has more instructions in flight than can be")
  end

  for (genvar f = 0; f < Finishes; f++) begin : gen_finish_check
    `GPURF_ASSERT_WHEN(finish_of_something, finish_valid_i[f],
                       count_q[IndexW'(finish_warp_i[f])] != '0,
                       "an instruction ended in a warp that has none in flight")
  end

endmodule

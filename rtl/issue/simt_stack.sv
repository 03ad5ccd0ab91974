// SIMT stack: the lanes of each warp that execute, and the groups of lanes that wait.
//
// For each warp the group of lanes that executes, and a stack of groups that wait; the rules are
// those of docs/isa.md ("Control flow"). A branch with divergent lanes splits the group: the lanes
// that fall through continue. The taken lanes wait, above the remainder of the group, which waits at the reconvergence
// point. A group that reaches its own reconvergence point, or has no lanes left, is replaced by the
// top of the stack. The executing group is kept in registers, because it is read in every
// cycle; waiting groups are kept in RAMs. A split may push two groups at once, so there are two
// banks of RAMs, for the even and the odd places of each warp.
//
//   pop_q         a warp waits for the top of its stack
//   read_valid_q  the group for warp read_warp_q is at the RAMs' outputs now
`include "gpurf_assert.svh"

module simt_stack
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  localparam int unsigned Resumes = IssuePorts + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // a warp begins
  input  logic                  start_valid_i,
  input  logic [WarpW-1:0]      start_warp_i,
  input  logic [Lanes-1:0]      start_mask_i,

  // instructions issued
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i    [IssuePorts],
  input  logic [PcW-1:0]        issue_pc_i      [IssuePorts],
  input  logic [1:0]            issue_kind_i    [IssuePorts],  // kind_e
  input  logic [IssuePorts-1:0] issue_stop_i,                  // fetch waits for the next address
  input  logic [Lanes-1:0]      issue_mask_i    [IssuePorts],  // lanes whose guard is true
  input  logic [PcW-1:0]        issue_target_i  [IssuePorts],  // of a branch
  input  logic [PcW-1:0]        issue_join_i    [IssuePorts],  // reconvergence point of the branch

  // executing groups
  output logic [Lanes-1:0]      mask_o          [Warps],
  output logic [Lanes-1:0]      live_o          [Warps],       // lanes that have not ended
  output logic [PcW-1:0]        reconvergence_o [Warps],
  output logic [Warps-1:0]      alive_o,

  // addresses at which fetch resumes: one per issue port, then the stack's
  output logic [Resumes-1:0]    resume_valid_o,
  output logic [WarpW-1:0]      resume_warp_o   [Resumes],
  output logic [PcW-1:0]        resume_pc_o     [Resumes]
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned StackDepth = 64;                 // places of a warp
  localparam int unsigned PlaceW = $clog2(StackDepth);
  localparam int unsigned DepthW = PlaceW + 1;
  localparam int unsigned BankDepth = StackDepth / 2 * Warps;
  localparam int unsigned BankW = IndexW + PlaceW - 1;     // address in a bank
  localparam int unsigned WhereW = 2 * PcW;                // address, reconvergence point

  logic [Lanes-1:0]  mask_q          [Warps];
  logic [Lanes-1:0]  live_q          [Warps];
  logic [PcW-1:0]    reconvergence_q [Warps];
  logic [DepthW-1:0] depth_q         [Warps];              // places in use
  logic [Warps-1:0]  pop_q;
  logic              read_valid_q;
  logic [WarpW-1:0]  read_warp_q;
  logic              read_odd_q;                           // the place's bank

  // For the instruction of each port.
  logic [PcW-1:0]        next      [IssuePorts];
  logic [PcW-1:0]        to        [IssuePorts];           // address at which the group continues
  logic [Lanes-1:0]      rest      [IssuePorts];           // lanes of the group without the instruction's lanes
  logic [Lanes-1:0]      survivors [IssuePorts];           // live lanes of the warp without the instruction's lanes
  logic [IssuePorts-1:0] splits;
  logic [IssuePorts-1:0] yields;                           // the group gives way to the top of the stack
  logic [IssuePorts-1:0] decides;                          // fetch waits for the next address
  logic [IssuePorts-1:0] skips_fall;                       // the fall-through lanes are at the join already
  logic [IssuePorts-1:0] push_join;                        // the whole group waits at the join
  logic [IssuePorts-1:0] push_taken;                       // the taken lanes wait

  // The stack's RAMs.
  logic [1:0]        push_valid;                           // of each bank
  logic [BankW-1:0]  push_entry [2];
  logic [WhereW-1:0] push_where [2];
  logic [Lanes-1:0]  push_mask  [2];
  logic              pop_valid;
  logic [WarpW-1:0]  pop_warp;
  logic [DepthW-1:0] pop_place;
  logic [BankW-1:0]  pop_entry;
  logic [WhereW-1:0] read_where [2];
  logic [Lanes-1:0]  read_mask  [2];

  logic [PcW-1:0]    top_pc;                               // the group that was read
  logic [PcW-1:0]    top_join;
  logic [Lanes-1:0]  top_mask;                             // lanes of this group that have not ended

  // Place i of a warp is in bank i mod 2.
  function automatic logic [BankW-1:0] entry_of(logic [WarpW-1:0] warp, logic [PlaceW-1:0] place);
    return BankW'({warp, place} >> 1);
  endfunction

  assign mask_o          = mask_q;
  assign live_o          = live_q;
  assign reconvergence_o = reconvergence_q;

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) begin
      alive_o[w] = live_q[w] != '0;
    end
  end

  // Issue: does the group split, give way to the stack, or continue?
  always_comb begin : decide
    logic [PcW-1:0] own_join;
    splits     = '0;
    yields     = '0;
    skips_fall = '0;
    push_join  = '0;
    push_taken = '0;
    decides    = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      own_join     = reconvergence_q[IndexW'(issue_warp_i[p])];
      next[p]      = issue_pc_i[p] + 1'b1;
      to[p]        = next[p];
      rest[p]      = mask_q[IndexW'(issue_warp_i[p])] & ~issue_mask_i[p];
      survivors[p] = live_q[IndexW'(issue_warp_i[p])] & ~issue_mask_i[p];
      if (issue_valid_i[p]) begin
        if (issue_kind_i[p] == KindBranch && issue_mask_i[p] != '0) begin
          skips_fall[p] = next[p] == issue_join_i[p];
          // If both sides would continue at the join, there is no split.
          splits[p]     = rest[p] != '0 &&
                          !(skips_fall[p] && issue_target_i[p] == issue_join_i[p]);
          if (!splits[p] || skips_fall[p]) to[p] = issue_target_i[p];
        end
        if (splits[p]) begin
          push_join[p]  = issue_join_i[p] != NoPc && issue_join_i[p] != own_join;
          push_taken[p] = !skips_fall[p] && issue_target_i[p] != issue_join_i[p];
        end else begin
          yields[p] = to[p] == own_join || (issue_kind_i[p] == KindExit && rest[p] == '0);
        end
        decides[p] = issue_stop_i[p] || issue_kind_i[p] == KindBranch ||
                     issue_kind_i[p] == KindExit;
      end
    end
  end

  // Pushes: one port splits at most, and its two groups go to different banks.
  always_comb begin : push
    logic [DepthW-1:0] place;
    push_valid = '0;
    push_entry = '{default: '0};
    push_where = '{default: '0};
    push_mask  = '{default: '0};
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      place = depth_q[IndexW'(issue_warp_i[p])];
      if (push_join[p]) begin
        push_valid[place[0]] = 1'b1;
        push_entry[place[0]] = entry_of(issue_warp_i[p], PlaceW'(place));
        push_where[place[0]] = {issue_join_i[p], reconvergence_q[IndexW'(issue_warp_i[p])]};
        push_mask[place[0]]  = mask_q[IndexW'(issue_warp_i[p])];
        place                = place + 1'b1;
      end
      if (push_taken[p]) begin
        push_valid[place[0]] = 1'b1;
        push_entry[place[0]] = entry_of(issue_warp_i[p], PlaceW'(place));
        push_where[place[0]] = {issue_target_i[p], issue_join_i[p]};
        push_mask[place[0]]  = issue_mask_i[p];
      end
    end
  end

  // Pop: the waiting warp with the lowest number is served.
  always_comb begin
    pop_valid = pop_q != '0;
    pop_warp  = lowest_warp(WarpSetW'(pop_q));
    pop_place = depth_q[IndexW'(pop_warp)] - 1'b1;
    pop_entry = entry_of(pop_warp, PlaceW'(pop_place));
  end

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    ram_1r1w #(
      .Depth(BankDepth),
      .Parts(1),
      .PartW(WhereW)
    ) u_where_ram (
      .clk_i,
      .re_i   (pop_valid && pop_place[0] == 1'(b)),
      .raddr_i(pop_entry),
      .we_i   (push_valid[b]),
      .waddr_i(push_entry[b]),
      .wmask_i(1'b1),
      .wdata_i(push_where[b]),
      .rdata_o(read_where[b])
    );

    ram_1r1w #(
      .Depth(BankDepth),
      .Parts(1),
      .PartW(Lanes)
    ) u_mask_ram (
      .clk_i,
      .re_i   (pop_valid && pop_place[0] == 1'(b)),
      .raddr_i(pop_entry),
      .we_i   (push_valid[b]),
      .waddr_i(push_entry[b]),
      .wmask_i(1'b1),
      .wdata_i(push_mask[b]),
      .rdata_o(read_mask[b])
    );
  end

  // The group that was read continues with the lanes that have not ended meanwhile.
  always_comb begin
    {top_pc, top_join} = read_where[read_odd_q];
    top_mask           = read_mask[read_odd_q] & live_q[IndexW'(read_warp_q)];
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_resume
    assign resume_valid_o[p] = decides[p] & ~yields[p];
    assign resume_warp_o[p]  = issue_warp_i[p];
    assign resume_pc_o[p]    = to[p];
  end

  assign resume_valid_o[IssuePorts] = read_valid_q && top_mask != '0;
  assign resume_warp_o[IssuePorts]  = read_warp_q;
  assign resume_pc_o[IssuePorts]    = top_pc;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mask_q       <= '{default: '0};
      live_q       <= '{default: '0};
      depth_q      <= '{default: '0};
      pop_q        <= '0;
      read_valid_q <= 1'b0;
    end else begin
      read_valid_q <= pop_valid;
      if (pop_valid) begin
        pop_q[IndexW'(pop_warp)]   <= 1'b0;
        depth_q[IndexW'(pop_warp)] <= pop_place;
      end
      if (read_valid_q) begin
        if (top_mask != '0) mask_q[IndexW'(read_warp_q)] <= top_mask;
        else                pop_q[IndexW'(read_warp_q)]  <= 1'b1;
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (issue_valid_i[p]) begin
          if (issue_kind_i[p] == KindExit) begin
            live_q[IndexW'(issue_warp_i[p])] <= survivors[p];
            mask_q[IndexW'(issue_warp_i[p])] <= rest[p];
          end
          if (splits[p]) begin
            mask_q[IndexW'(issue_warp_i[p])]  <= skips_fall[p] ? issue_mask_i[p] : rest[p];
            depth_q[IndexW'(issue_warp_i[p])] <= depth_q[IndexW'(issue_warp_i[p])] +
                                                 DepthW'(push_join[p]) + DepthW'(push_taken[p]);
          end
          // After the last exit only ended lanes wait on the stack. They stay there, so that
          // no pop of the warp is pending when the warp starts again.
          if (yields[p] && !(issue_kind_i[p] == KindExit && survivors[p] == '0)) begin
            pop_q[IndexW'(issue_warp_i[p])] <= 1'b1;
          end
        end
      end
      if (start_valid_i) begin
        live_q[IndexW'(start_warp_i)]  <= start_mask_i;
        mask_q[IndexW'(start_warp_i)]  <= start_mask_i;
        depth_q[IndexW'(start_warp_i)] <= '0;
      end
    end
  end

  // The payload has no reset: it has no meaning for a warp without lanes, or without a read.
  always_ff @(posedge clk_i) begin
    if (pop_valid) begin
      read_warp_q <= pop_warp;
      read_odd_q  <= pop_place[0];
    end
    if (read_valid_q && top_mask != '0) reconvergence_q[IndexW'(read_warp_q)] <= top_join;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (splits[p]) reconvergence_q[IndexW'(issue_warp_i[p])] <= issue_join_i[p];
    end
    if (start_valid_i) reconvergence_q[IndexW'(start_warp_i)] <= NoPc;
  end

`ifndef SYNTHESIS
  function automatic logic one_decides();
    logic [IssuePorts-1:0] decisions;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      decisions[p] = issue_valid_i[p] &&
                     (issue_kind_i[p] == KindBranch || issue_kind_i[p] == KindExit);
    end
    return $countones(decisions) <= 1;
  endfunction
`endif

  `GPURF_ASSERT_WHEN(start_in_range, start_valid_i, 32'(start_warp_i) < Warps,
                     "a warp that does not exist was started")
  `GPURF_ASSERT_WHEN(start_only_ended, start_valid_i,
                     !alive_o[IndexW'(start_warp_i)] && !pop_q[IndexW'(start_warp_i)] &&
                     !(read_valid_q && read_warp_q == start_warp_i),
                     "a warp was started that has not ended")
  `GPURF_ASSERT_WHEN(one_branch_a_cycle, issue_valid_i != '0, one_decides(),
                     "two branches or exits were issued in a cycle")

  `GPURF_ASSERT_WHEN(another_waits, read_valid_q && top_mask == '0,
                     depth_q[IndexW'(read_warp_q)] != '0,
                     "a stack had no group with a living lane")

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(somebody_waits, yields[p] && (issue_kind_i[p] != KindExit ||
                                                     survivors[p] != '0),
                       depth_q[IndexW'(issue_warp_i[p])] != '0,
                       "a group gave way to an empty stack")
    `GPURF_ASSERT_WHEN(stack_deep_enough, splits[p],
                       32'(depth_q[IndexW'(issue_warp_i[p])]) + 32'(push_join[p]) +
                       32'(push_taken[p]) <= StackDepth,
                       "more groups of a warp wait than its stack has places")
    `GPURF_ASSERT_WHEN(issue_only_with_group, issue_valid_i[p],
                       !pop_q[IndexW'(issue_warp_i[p])] &&
                       !(read_valid_q && read_warp_q == issue_warp_i[p]),
                       "an instruction was issued of a warp that waits for its stack")
  end

endmodule

// Single-level scheduler: selects the warps that issue.
//
// Single-level: all warps of the SM are candidates. The policy is a strap. Loose round-robin gives
// each warp a turn. Greedy then oldest stays with a warp as long as it can issue, and then
// takes the warp that began first, so that warps drift apart and do not all wait for memory at once.
// With two ports each has its own half of the warps, the even and the odd ones, as on the machine
// of the stealing paper (II: two schedulers). Age is a matrix with one row of bits for each warp, so
// that one mask for each candidate finds the oldest.
//
// With read stealing (stealing paper, IV-B2, figure 7) the last level of a port's selection tree, between
// its even and its odd warps by the port's own numbering, also outputs the warp that loses: the candidate. If
// an operand is stolen for the candidate in the next cycle, the candidate issues then, whatever the tree selects.
`include "gpurf_assert.svh"

module warp_scheduler
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Candidates = 0,                    // names candidates for read stealing
  parameter int unsigned Classes = 0                        // some warps are preferred
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_i,                      // 0: round-robin, 1: greedy then oldest

  // heads of the warps
  input  logic [Warps-1:0]      clear_i,                    // no dependence keeps the head from issuing
  input  logic [Warps-1:0]      operand_i,                  // goes to the operand stage
  input  logic [Warps-1:0]      branch_i,                   // goes to the SIMT stack
  input  logic [IssuePorts-1:0] ready_i,                    // the operand stage accepts an instruction
  input  logic                  stop_i,

  // warps that begin
  input  logic                  start_valid_i,
  input  logic [WarpW-1:0]      start_warp_i,
  input  logic [Warps-1:0]      alive_i,

  // classes of warps
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Warps-1:0]      lead_i,                     // preferred
  input  logic [Warps-1:0]      last_i,                     // taken last
  // verilator lint_on UNUSEDSIGNAL

  // an operand of the latched candidate is being read
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0] candidate_issue_i,          // 0 without Candidates
  // verilator lint_on UNUSEDSIGNAL

  // decisions
  output logic [IssuePorts-1:0] issue_valid_o,
  output logic [WarpW-1:0]      issue_warp_o     [IssuePorts],
  output logic [Warps-1:0]      pop_o,

  // candidate: the instruction that probably issues next
  output logic [IssuePorts-1:0] candidate_valid_o,
  output logic [WarpW-1:0]      candidate_warp_o [IssuePorts]
);

  localparam int unsigned IndexW = $clog2(Warps);

  // The warps of port 0; the set for port 1 is shifted by one.
  localparam logic [Warps-1:0] OwnWarps =
      (IssuePorts == 1) ? '1 : Warps'({WarpSetW / 2{2'b01}});

  // One side of the last level of each port's selection tree, which selects between neighbours.
  localparam logic [Warps-1:0] EvenWarps =
      Warps'({WarpSetW / (2 * IssuePorts){{IssuePorts{1'b0}}, {IssuePorts{1'b1}}}});

  logic [WarpW-1:0]      rr_q        [IssuePorts];  // where the next round-robin search begins
  logic [IssuePorts-1:0] greedy_valid_q;
  logic [WarpW-1:0]      greedy_q    [IssuePorts];  // the warp that issued last
  logic [Warps-1:0]      older_q     [Warps];       // [c][d]: d is older than c
  logic [IssuePorts-1:0] candidate_valid_q;
  logic [WarpW-1:0]      candidate_q [IssuePorts];  // the candidate: loser of the selection

  logic [IssuePorts-1:0] stolen;                    // the candidate of the previous cycle issues
  logic [IssuePorts-1:0] against;                   // although the tree has selected another warp

  // A warp, if there is one.
  typedef struct packed {
    logic             valid;
    logic [WarpW-1:0] warp;
  } choice_t;

  // The warps of the best class that is present (sharing thesis 2.3.1).
  function automatic logic [Warps-1:0] best_class(logic [Warps-1:0] warps);
    if ((warps & lead_i) != '0)       best_class = warps & lead_i;
    else if ((warps & ~last_i) != '0) best_class = warps & ~last_i;
    else                              best_class = warps;
  endfunction

  // The policy's selection among these warps, given a port's round-robin turn and its greedy warp.
  function automatic choice_t choice(logic [Warps-1:0] warps, logic [WarpW-1:0] turn,
                                     choice_t greedy);
    choice = '0;
    if (warps != '0) begin
      if (!cfg_i) begin
        choice.valid = 1'b1;
        choice.warp  = next_warp(WarpSetW'(warps), turn);
      end else if (greedy.valid && warps[IndexW'(greedy.warp)]) begin
        choice = greedy;
      end else begin
        // The loop runs downwards, so that the lowest remains.
        for (int unsigned w = Warps; w > 0; w--) begin
          if (warps[w-1] && (older_q[w-1] & warps) == '0) begin
            choice.valid = 1'b1;
            choice.warp  = WarpW'(w - 1);
          end
        end
      end
    end
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      stolen[p] = Candidates != 0 && candidate_issue_i[p] && candidate_valid_q[p] && !stop_i;
    end
  end

  always_comb begin : choose
    logic [Warps-1:0] candidates;
    choice_t          greedy;
    choice_t          winner;
    choice_t          coming;      // the candidate, which issues next if an operand is stolen for it
    pop_o  = '0;
    coming = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_valid_o[p] = 1'b0;
      issue_warp_o[p]  = '0;
      greedy           = {greedy_valid_q[p], greedy_q[p]};
      candidates       = stop_i ? '0 : clear_i & (OwnWarps << p);
      if (!ready_i[p]) candidates = candidates & ~operand_i;
      // The SIMT stack handles only one split or end of a group per cycle.
      if (p != 0 && issue_valid_o[0] && branch_i[IndexW'(issue_warp_o[0])]) begin
        candidates = candidates & ~branch_i;
      end
      if (Classes != 0) candidates = best_class(candidates);
      winner           = choice(candidates, rr_q[p], greedy);
      against[p]       = stolen[p] & ~(winner.valid && winner.warp == candidate_q[p]);
      issue_valid_o[p] = winner.valid | stolen[p];
      issue_warp_o[p]  = stolen[p] ? candidate_q[p] : winner.warp;
      if (issue_valid_o[p]) pop_o[IndexW'(issue_warp_o[p])] = 1'b1;

      candidate_valid_o[p] = 1'b0;
      candidate_warp_o[p]  = '0;
      if (Candidates != 0 && winner.valid) begin
        if (against[p]) begin
          coming = winner;
        end else begin
          candidates = candidates & (EvenWarps[IndexW'(winner.warp)] ? ~EvenWarps : EvenWarps);
          coming     = choice(candidates, rr_q[p], greedy);
        end
        if (coming.valid && operand_i[IndexW'(coming.warp)]) begin
          candidate_valid_o[p] = 1'b1;
          candidate_warp_o[p]  = coming.warp;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rr_q           <= '{default: '0};
      greedy_valid_q <= '0;
      older_q        <= '{default: '0};
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        // If the candidate issues instead of the winner, the policy continues as if nothing had been stolen.
        if (issue_valid_o[p] && !against[p]) begin
          rr_q[p] <= (issue_warp_o[p] == WarpW'(Warps - 1)) ? '0 : issue_warp_o[p] + 1'b1;
          greedy_valid_q[p] <= 1'b1;
        end
      end
      // A warp that begins is the youngest.
      if (start_valid_i) begin
        for (int unsigned w = 0; w < Warps; w++) begin
          if (start_warp_i == WarpW'(w)) begin
            older_q[w]    <= alive_i;
            older_q[w][w] <= 1'b0;
          end else begin
            older_q[w][IndexW'(start_warp_i)] <= 1'b0;
          end
        end
      end
    end
  end

  // The greedy warp has no reset: it means nothing while greedy_valid_q is low.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (issue_valid_o[p] && !against[p]) greedy_q[p] <= issue_warp_o[p];
    end
  end

  if (Candidates != 0) begin : gen_candidate
    always_ff @(posedge clk_i) begin
      if (!rst_ni) candidate_valid_q <= '0;
      else         candidate_valid_q <= candidate_valid_o;
    end

    // No reset: the warp means nothing while candidate_valid_q is low.
    for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
      always_ff @(posedge clk_i) begin
        if (candidate_valid_o[p]) candidate_q[p] <= candidate_warp_o[p];
      end

      `GPURF_ASSERT_WHEN(stolen_for_clear, stolen[p], clear_i[IndexW'(candidate_q[p])],
                         "an operand was stolen for a warp whose head may not issue")
    end
  end else begin : gen_no_candidate
    assign candidate_valid_q = '0;
    assign candidate_q       = '{default: '0};
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(greedy_of_port, greedy_valid_q[p], 32'(greedy_q[p]) % IssuePorts == p,
                       "the greedy warp of a port is the other port's")
  end

  // As many warps pop as ports issue, so no warp issues twice.
  `GPURF_ASSERT(issue_only_clear, (pop_o & ~clear_i) == '0,
                "a warp issued whose head may not")
  `GPURF_ASSERT(one_warp_a_port, $countones(pop_o) == $countones(issue_valid_o),
                "two ports issued the head of one warp")

endmodule

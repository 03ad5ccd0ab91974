// Which warps issue.
//
// Single-level: all warps of the SM are candidates. The policy is a strap. Loose round-robin gives
// everybody a turn; greedy then oldest stays with a warp for as long as it can issue, and then
// takes the one that began first, so that warps drift apart and do not all wait for memory at once.
// With two ports each has its own half of the warps, the even and the odd ones, as on the machine
// of the stealing paper (II: two schedulers). Age is a matrix, one row of bits for each warp, so
// that the oldest is found by one mask for each candidate.
`include "gpurf_assert.svh"

module warp_scheduler
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_i,                      // 0: round-robin, 1: greedy then oldest

  // heads of the warps
  input  logic [Warps-1:0]      clear_i,                    // may issue, as far as dependences go
  input  logic [Warps-1:0]      operand_i,                  // goes to the operand stage
  input  logic [Warps-1:0]      branch_i,                   // goes to the SIMT stack
  input  logic [IssuePorts-1:0] ready_i,                    // the operand stage takes one
  input  logic                  stop_i,

  // warps that begin
  input  logic                  start_valid_i,
  input  logic [WarpW-1:0]      start_warp_i,
  input  logic [Warps-1:0]      alive_i,

  // decisions
  output logic [IssuePorts-1:0] issue_valid_o,
  output logic [WarpW-1:0]      issue_warp_o  [IssuePorts],
  output logic [Warps-1:0]      pop_o
);

  localparam int unsigned IndexW = $clog2(Warps);

  // The warps of port 0; those of port 1 stand one further.
  localparam logic [Warps-1:0] OwnWarps =
      (IssuePorts == 1) ? '1 : Warps'({WarpSetW / 2{2'b01}});

  logic [WarpW-1:0]      rr_q     [IssuePorts];  // where the next round-robin search begins
  logic [IssuePorts-1:0] greedy_valid_q;
  logic [WarpW-1:0]      greedy_q [IssuePorts];  // the warp that issued last
  logic [Warps-1:0]      older_q  [Warps];       // [c][d]: d is older than c

  always_comb begin : choose
    logic [Warps-1:0] candidates;
    pop_o = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_valid_o[p] = 1'b0;
      issue_warp_o[p]  = '0;
      candidates       = stop_i ? '0 : clear_i & (OwnWarps << p);
      if (!ready_i[p]) candidates = candidates & ~operand_i;
      // The SIMT stack splits or ends one group a cycle.
      if (p != 0 && issue_valid_o[0] && branch_i[IndexW'(issue_warp_o[0])]) begin
        candidates = candidates & ~branch_i;
      end
      if (candidates != '0) begin
        if (!cfg_i) begin
          issue_valid_o[p] = 1'b1;
          issue_warp_o[p]  = next_warp(WarpSetW'(candidates), rr_q[p]);
        end else if (greedy_valid_q[p] && candidates[IndexW'(greedy_q[p])]) begin
          issue_valid_o[p] = 1'b1;
          issue_warp_o[p]  = greedy_q[p];
        end else begin
          // Downwards, so that the lowest is what stays.
          for (int unsigned w = Warps; w > 0; w--) begin
            if (candidates[w-1] && (older_q[w-1] & candidates) == '0) begin
              issue_valid_o[p] = 1'b1;
              issue_warp_o[p]  = WarpW'(w - 1);
            end
          end
        end
        if (issue_valid_o[p]) pop_o[IndexW'(issue_warp_o[p])] = 1'b1;
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
        if (issue_valid_o[p]) begin
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
      if (issue_valid_o[p]) greedy_q[p] <= issue_warp_o[p];
    end
  end

  // As many warps as ports issue, so no warp issues twice.
  `GPURF_ASSERT(issue_only_clear, (pop_o & ~clear_i) == '0,
                "a warp issued whose head may not")
  `GPURF_ASSERT(one_warp_a_port, $countones(pop_o) == $countones(issue_valid_o),
                "two ports issued the head of one warp")

endmodule

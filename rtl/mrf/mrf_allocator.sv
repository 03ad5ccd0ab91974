// Allocates collectors to issued instructions, and selects the collectors that dispatch.
//
// Hands free collectors to the issue ports, remembers which instruction is older than which, and
// offers the oldest complete instructions for dispatch (stealing paper, section II-B and figure 6:
// the older instruction is served first). Instructions of one warp leave in the order of issue,
// whatever their bank conflicts were, so that memory operations of a warp need no further ordering.
// Age is a matrix, one row of bits for each collector, because an order of up to sixteen members
// then costs neither counters nor comparisons.
`include "gpurf_assert.svh"

module mrf_allocator
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // issue
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i   [IssuePorts],
  output logic [IssuePorts-1:0] issue_ready_o,

  // collectors
  input  logic [Collectors-1:0] busy_i,
  input  logic [Collectors-1:0] complete_i,
  input  logic [WarpW-1:0]      col_warp_i     [Collectors],
  output logic [Collectors-1:0] alloc_valid_o,                // takes an instruction at this edge
  output logic [Collectors-1:0] alloc_port_o,                 // issue port of this instruction
  output logic [Collectors-1:0] older_o        [Collectors],  // [c][d]: d is older than c

  // dispatch
  output logic [IssuePorts-1:0] dispatch_valid_o,
  output logic [ColW-1:0]       dispatch_col_o [IssuePorts],
  input  logic [IssuePorts-1:0] dispatch_ready_i,
  output logic [Collectors-1:0] free_o                        // collector is freed at this edge
);

  logic [Collectors-1:0] older_d     [Collectors];
  logic [Collectors-1:0] older_q     [Collectors];
  logic [Collectors-1:0] same_warp_d [Collectors];  // older collectors with the same warp
  logic [Collectors-1:0] same_warp_q [Collectors];

  logic [Collectors-1:0] place       [IssuePorts];  // one-hot: the collector of each issue port
  logic [Collectors-1:0] taken       [IssuePorts];  // the same, or 0 if no instruction is taken
  logic [Collectors-1:0] ahead       [IssuePorts];  // collectors older than the arriving instruction
  logic [Collectors-1:0] ahead_warp  [IssuePorts];  // of these, collectors with the same warp
  logic [Collectors-1:0] stays;                     // collectors that are busy and not freed

  assign older_o = older_q;

  // Issue: port p has the (p+1)-th lowest free collector, and stalls if there is none.
  always_comb begin : issue_place
    logic [Collectors-1:0] idle;
    idle = ~busy_i;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      place[p]         = idle & (~idle + 1'b1);
      issue_ready_o[p] = idle != '0;
      idle             = idle & ~place[p];
    end
  end

  always_comb begin
    alloc_valid_o = '0;
    alloc_port_o  = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      taken[p]      = issue_valid_i[p] ? place[p] : '0;
      alloc_valid_o = alloc_valid_o | taken[p];
      if (p == 1) alloc_port_o = taken[p];
    end
  end

  // Dispatch: port 0 offers the oldest eligible collector, port 1 the oldest of the others.
  always_comb begin : dispatch_offer
    logic [Collectors-1:0] eligible;
    for (int unsigned c = 0; c < Collectors; c++) begin
      eligible[c] = complete_i[c] & (same_warp_q[c] == '0);
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      dispatch_valid_o[p] = 1'b0;
      dispatch_col_o[p]   = '0;
      for (int unsigned c = Collectors; c > 0; c--) begin
        if (eligible[c-1] && (older_q[c-1] & eligible) == '0) begin
          dispatch_valid_o[p] = 1'b1;
          dispatch_col_o[p]   = ColW'(c - 1);
        end
      end
      if (dispatch_valid_o[p]) eligible[dispatch_col_o[p]] = 1'b0;
    end
  end

  always_comb begin
    free_o = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dispatch_valid_o[p] && dispatch_ready_i[p]) free_o[dispatch_col_o[p]] = 1'b1;
    end
  end

  // Age: everything that stays is older than what arrives, and port 0 is older than port 1.
  always_comb begin
    stays = busy_i & ~free_o;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      ahead[p]      = stays;
      ahead_warp[p] = '0;
      for (int unsigned d = 0; d < Collectors; d++) begin
        ahead_warp[p][d] = stays[d] & (col_warp_i[d] == issue_warp_i[p]);
      end
      if (p == 1) begin
        ahead[p] = ahead[p] | taken[0];
        if (issue_warp_i[0] == issue_warp_i[p]) ahead_warp[p] = ahead_warp[p] | taken[0];
      end
    end
  end

  always_comb begin
    for (int unsigned c = 0; c < Collectors; c++) begin
      older_d[c]     = free_o[c] ? '0 : older_q[c] & ~free_o;
      same_warp_d[c] = free_o[c] ? '0 : same_warp_q[c] & ~free_o;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (taken[p][c]) begin
          older_d[c]     = ahead[p];
          same_warp_d[c] = ahead_warp[p];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      older_q     <= '{default: '0};
      same_warp_q <= '{default: '0};
    end else begin
      older_q     <= older_d;
      same_warp_q <= same_warp_d;
    end
  end

`ifndef SYNTHESIS
  // A strict order: of two busy collectors exactly one is older, and the relation is transitive.
  function automatic logic strict_order(
    logic [Collectors-1:0] busy, logic [Collectors-1:0] older [Collectors]
  );
    strict_order = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (!busy[c] && older[c] != '0) strict_order = 1'b0;
      if (older[c][c] || (older[c] & ~busy) != '0) strict_order = 1'b0;
      for (int unsigned d = 0; d < Collectors; d++) begin
        if (c != d && busy[c] && busy[d] && older[c][d] == older[d][c]) strict_order = 1'b0;
        if (older[c][d] && (older[d] & ~older[c]) != '0) strict_order = 1'b0;
      end
    end
  endfunction

  // Only older collectors of the same warp are ahead of a collector, and no collector is older than itself.
  function automatic logic same_warp_older();
    same_warp_older = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (older_q[c][c] || (same_warp_q[c] & ~older_q[c]) != '0) same_warp_older = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT(same_warp_is_older, same_warp_older(),
                "a collector waits for one of its warp that is not older")
  // Checked only in cycles that change the order: between changes it stays as it was.
  `GPURF_ASSERT_WHEN(age_is_strict_order, (alloc_valid_o | free_o) != '0,
                     strict_order(busy_i, older_q),
                     "the ages of the busy collectors are not a strict order")

endmodule

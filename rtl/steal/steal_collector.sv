// An operand collector that can start with an operand already in flight.
//
// As `mrf_collector`, with one addition: a source of the arriving instruction may be read at the same
// edge at which the instruction arrives, because its bank was stolen for it (stealing paper,
// section IV-B1). The collector does not request this source, and the data arrives in the next cycle.
//
//   pending_q   slot wants its bank
//   inflight_q  slot was read at the last edge, its data is at the bank's output now
//   neither     slot is filled, or its source is no register
`include "gpurf_assert.svh"

module steal_collector
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Depth = 64,
  parameter int unsigned TagW = 32,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // instruction in
  input  logic                alloc_valid_i,
  input  logic [WarpW-1:0]    alloc_warp_i,
  input  logic [Lanes-1:0]    alloc_mask_i,
  input  logic [TagW-1:0]     alloc_tag_i,
  input  logic [Operands-1:0] alloc_src_valid_i,         // source is a register
  input  logic [BankW-1:0]    alloc_bank_i  [Operands],
  input  logic [EntryW-1:0]   alloc_entry_i [Operands],
  input  logic [Operands-1:0] alloc_read_i,              // source is read at this edge

  // reads
  input  logic [Operands-1:0] grant_i,                   // the read is performed at this edge
  input  logic [BankW-1:0]    at_bank_i     [Operands],  // where slot s is read
  input  logic                free_i,                    // the instruction leaves at this edge
  output logic [Operands-1:0] req_valid_o,
  output logic [BankW-1:0]    req_bank_o    [Operands],
  output logic [EntryW-1:0]   req_entry_o   [Operands],
  output logic [GroupsW-1:0]  req_groups_o,              // lane groups that a read costs
  output logic [Operands-1:0] fill_o,                    // slot is served by a read at this edge
  output logic [BankW-1:0]    fill_bank_o   [Operands],  // bank of this read

  // instruction held
  output logic                busy_o,
  output logic                complete_o,                // busy, and all operands have arrived
  output logic [WarpW-1:0]    warp_o,
  output logic [Lanes-1:0]    mask_o,
  output logic [TagW-1:0]     tag_o,
  output logic [Operands-1:0] src_valid_o
);

  localparam int unsigned LeaderW = $clog2(Operands);

  logic                busy_q;
  logic [Operands-1:0] pending_q;
  logic [Operands-1:0] inflight_q;
  logic [Operands-1:0] src_valid_q;
  logic [LeaderW-1:0]  leader_q [Operands];
  logic [WarpW-1:0]    warp_q;
  logic [Lanes-1:0]    mask_q;
  logic [TagW-1:0]     tag_q;
  logic [BankW-1:0]    bank_q   [Operands];
  logic [EntryW-1:0]   entry_q  [Operands];

  logic [LeaderW-1:0]  leader_d [Operands];
  logic [Operands-1:0] leads;              // register sources of the arriving instruction that lead

  assign req_valid_o  = pending_q;
  assign req_bank_o   = bank_q;
  assign req_entry_o  = entry_q;
  assign req_groups_o = active_groups(mask_q);
  assign busy_o       = busy_q;
  assign complete_o   = busy_q & (pending_q == '0) & (inflight_q == '0);
  assign warp_o       = warp_q;
  assign mask_o       = mask_q;
  assign tag_o        = tag_q;
  assign src_valid_o  = src_valid_q;
  assign fill_bank_o  = alloc_valid_i ? alloc_bank_i : at_bank_i;

  always_comb begin
    for (int unsigned s = 0; s < Operands; s++) begin
      fill_o[s] = alloc_valid_i ? alloc_src_valid_i[s] & alloc_read_i[leader_d[s]]
                                : src_valid_q[s] & grant_i[leader_q[s]];
    end
  end

  // The lowest register source of the arriving instruction that names the same register as source s.
  // The loop runs downwards, so that the lowest match remains.
  always_comb begin
    for (int unsigned s = 0; s < Operands; s++) begin
      leader_d[s] = LeaderW'(s);
      for (int unsigned lower = s; lower > 0; lower--) begin
        if (alloc_src_valid_i[s] && alloc_src_valid_i[lower-1] &&
            alloc_bank_i[s] == alloc_bank_i[lower-1] &&
            alloc_entry_i[s] == alloc_entry_i[lower-1]) begin
          leader_d[s] = LeaderW'(lower - 1);
        end
      end
      leads[s] = alloc_src_valid_i[s] && leader_d[s] == LeaderW'(s);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      pending_q   <= '0;
      inflight_q  <= '0;
      src_valid_q <= '0;
    end else if (alloc_valid_i) begin
      busy_q      <= 1'b1;
      pending_q   <= leads & ~alloc_read_i;
      inflight_q  <= leads & alloc_read_i;
      src_valid_q <= alloc_src_valid_i;
    end else begin
      pending_q  <= pending_q & ~grant_i;
      inflight_q <= grant_i;
      if (free_i) begin
        busy_q      <= 1'b0;
        src_valid_q <= '0;
      end
    end
  end

  // The payload has no reset: it means nothing while busy_q is low.
  always_ff @(posedge clk_i) begin
    if (alloc_valid_i) begin
      warp_q   <= alloc_warp_i;
      mask_q   <= alloc_mask_i;
      tag_q    <= alloc_tag_i;
      leader_q <= leader_d;
      for (int unsigned s = 0; s < Operands; s++) begin
        if (alloc_src_valid_i[s]) begin
          bank_q[s]  <= alloc_bank_i[s];
          entry_q[s] <= alloc_entry_i[s];
        end
      end
    end
  end

  `GPURF_ASSERT_WHEN(alloc_only_when_free, alloc_valid_i, !busy_q,
                     "an instruction was put into a busy collector")
  `GPURF_ASSERT_WHEN(read_only_leaders, alloc_valid_i, (alloc_read_i & ~leads) == '0,
                     "a source was read that does not lead")
  `GPURF_ASSERT(grant_only_when_requested, (grant_i & ~pending_q) == '0,
                "a read was granted that was not requested")
  `GPURF_ASSERT_WHEN(free_only_when_complete, free_i, complete_o,
                     "a collector was freed before its operands had arrived")

endmodule

// Locks of shared registers: decide which warps may access them.
//
// Warps of the same number in the two blocks of a pair share registers. At most one of the two warps has the lock; a
// head that needs the lock and cannot have it does not issue (sharing thesis 2.2.1 to 2.2.3). The block
// that began first is the owner, and the scheduler may prefer its warps (2.3.1).
`include "gpurf_assert.svh"

module share_locks
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 48,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  share_straps_t         cfg_i,

  // heads of the warps
  input  logic [Warps-1:0]      clear_i,          // the head may issue as far as dependences are concerned
  // Only opcode and space of the operation words are read, and only the registers of the roles.
  // verilator lint_off UNUSEDSIGNAL
  input  roles_t                head_roles_i [Warps],
  input  logic [WordW-1:0]      head_op_i    [Warps],
  // verilator lint_on UNUSEDSIGNAL

  // warps that issue
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i [IssuePorts],

  // progress of the warps
  input  logic [Warps-1:0]      alive_i,          // the warp has living lanes
  input  logic [Warps-1:0]      idle_i,           // nothing of the warp is in flight

  // how the SM is divided
  // Only host_warps and private_registers are read.
  // verilator lint_off UNUSEDSIGNAL
  input  register_layout_t      layout_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [WarpW:0]        end_warps_i,      // warps of all slots
  input  logic [BlockSlotW-1:0] slot_i       [Warps],
  input  logic [BlockSlots-1:0] slot_busy_i,
  input  logic [BlockSlots-1:0] slot_young_i,     // the block is the younger one of its pair

  input  logic                  allow_i,          // non-owners may use memory

  output logic [Warps-1:0]      clear_o,
  output logic [Warps-1:0]      lead_o,           // warps that the scheduler takes first
  output logic [Warps-1:0]      last_o,           // warps that the scheduler takes last
  output share_event_t          event_o
);

  localparam int unsigned IndexW = $clog2(Warps);

  logic [Warps-1:0]      lock_q;

  // of each warp
  logic [Warps-1:0]      paired;
  logic [Warps-1:0]      young;
  logic [Warps-1:0]      ended;
  logic [Warps-1:0]      owner;
  logic [Warps-1:0]      non_owner;
  logic [IndexW-1:0]     partner      [Warps];
  logic [BlockSlotW-1:0] partner_slot [Warps];

  // of the head of each warp
  logic [Warps-1:0]      asks;
  logic [Warps-1:0]      may;
  logic [Warps-1:0]      held;
  logic [Warps-1:0]      throttled;

  // of each block slot
  logic [BlockSlots-1:0] slot_locks;  // a warp of the slot has its lock
  logic [BlockSlots-1:0] slot_asks;   // a head of the slot asks for its lock

  // at the edge
  logic [Warps-1:0]      issues;
  logic [Warps-1:0]      lock_take;
  logic [Warps-1:0]      lock_free;

  function automatic logic is_shared(logic [RegW-1:0] name, logic [RegW-1:0] private_registers);
    return name != NoReg && name >= private_registers;
  endfunction

  assign ended = ~alive_i & idle_i;

  always_comb begin : pairs
    logic [WarpW:0] warp;
    logic [WarpW:0] other;
    for (int unsigned w = 0; w < Warps; w++) begin
      warp = (WarpW+1)'(w);
      if (warp < layout_i.host_warps) begin
        other     = warp + layout_i.host_warps;
        paired[w] = alive_i[w] && other < end_warps_i;
      end else begin
        other     = warp - layout_i.host_warps;
        paired[w] = alive_i[w];
      end
      partner[w]      = IndexW'(other);
      partner_slot[w] = slot_i[IndexW'(other)];
      young[w]        = slot_young_i[slot_i[w]];
      owner[w]        = paired[w] && slot_busy_i[partner_slot[w]] && !young[w];
      non_owner[w]    = paired[w] && slot_busy_i[partner_slot[w]] && young[w];
    end
  end

  always_comb begin : heads
    logic wants;
    slot_locks = '0;
    slot_asks  = '0;
    for (int unsigned w = 0; w < Warps; w++) begin
      wants = paired[w] && clear_i[w] &&
              (is_shared(head_roles_i[w].a, layout_i.private_registers) ||
               is_shared(head_roles_i[w].b, layout_i.private_registers) ||
               is_shared(head_roles_i[w].c, layout_i.private_registers) ||
               is_shared(head_roles_i[w].d, layout_i.private_registers));
      asks[w] = wants && !lock_q[w];
      if (asks[w])   slot_asks[slot_i[w]]  = 1'b1;
      if (lock_q[w]) slot_locks[slot_i[w]] = 1'b1;
    end
  end

  always_comb begin : gate
    for (int unsigned w = 0; w < Warps; w++) begin
      if (cfg_i.first) begin
        // A block that has locks never waits for its partner; the partner's requests wait.
        may[w] = !slot_locks[partner_slot[w]] &&
                 !(young[w] && !slot_locks[slot_i[w]] && slot_asks[partner_slot[w]]);
      end else begin
        may[w] = !young[w] || ended[partner[w]];
      end
      held[w] = cfg_i.hold && !cfg_i.first && non_owner[w] &&
                returning_atomic(head_op_i[w], head_roles_i[w].d);
      throttled[w] = !allow_i && non_owner[w] && uses_memory(head_op_i[w]);
    end
  end

  assign clear_o = clear_i & (~asks | may) & ~held & ~throttled;
  assign lead_o  = cfg_i.owner_first ? owner : '0;
  assign last_o  = cfg_i.owner_first ? non_owner : '0;

  always_comb begin
    issues = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (issue_valid_i[p]) issues[IndexW'(issue_warp_i[p])] = 1'b1;
    end
  end

  assign lock_take = issues & asks;
  assign lock_free = lock_q & ended;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) lock_q <= '0;
    else         lock_q <= (lock_q | lock_take) & ~ended;
  end

  assign event_o = {
    6'($countones(clear_i & asks & ~may)),
    6'($countones(clear_i & held)),
    6'($countones(clear_i & throttled)),
    2'($countones(lock_take)),
    6'($countones(lock_free)),
    6'($countones(owner)),
    6'($countones(non_owner)),
    2'($countones(issues & non_owner))
  };

  `GPURF_ASSERT_WHEN(division_fits, alive_i != '0,
                     32'(layout_i.host_warps) <= Warps && 32'(end_warps_i) <= Warps,
                     "slots have more warps than there are")

  for (genvar w = 0; w < Warps; w++) begin : gen_check
    `GPURF_ASSERT_WHEN(slots_in_order, alive_i != '0 && w < 32'(end_warps_i), 32'(slot_i[w]) <= w,
                       "a slot has no warps")
    `GPURF_ASSERT(one_holder, !(paired[w] && lock_q[w] && lock_q[partner[w]]),
                  "two warps of a pair have its lock")
    `GPURF_ASSERT(older_never_waits,
                  cfg_i.first || !asks[w] || young[w] || !lock_q[partner[w]],
                  "the lock of an older block's warp is with its partner")
  end

endmodule

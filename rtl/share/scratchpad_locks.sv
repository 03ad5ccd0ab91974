// Locks of shared scratchpad memory: decide which block of a pair may access it.
//
// The two blocks of a pair have one area of scratchpad memory in common; at most one of them has the lock (sharing
// thesis 2.2.2). An address is known only behind the operand stage, in one queue in which no instruction may wait for
// another block. So where the address decides whether a head needs the lock, the head first issues as a probe: the
// probe forms the addresses, performs nothing and says whether a lane lies in the common area. A block gives the lock
// up when all its threads have ended or have released (3.2.2).
`include "gpurf_assert.svh"

module scratchpad_locks
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 48,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  scratchpad_straps_t    cfg_i,

  // heads of the warps
  input  logic [Warps-1:0]      clear_i,          // the head may issue as far as dependences are concerned
  // Only opcode, space and mark of the words are read, and only the result of the roles.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WordW-1:0]      head_op_i    [Warps],
  input  logic [WordW-1:0]      head_ctl_i   [Warps],
  input  roles_t                head_roles_i [Warps],
  // verilator lint_on UNUSEDSIGNAL

  // warps that issue
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i [IssuePorts],
  input  logic [IssuePorts-1:0] set_valid_i,      // the issued instruction goes to the operand stage

  // answers of the address unit to probes and releases
  input  logic                  answer_valid_i,
  input  logic                  answer_release_i, // a release, not a probe
  // The number of a warp is below Warps: bits that Warps does not need are not read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WarpW-1:0]      answer_warp_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic                  answer_shared_i,  // of a probe: a lane lies in the common area
  input  logic [Lanes-1:0]      answer_mask_i,    // of a release: its lanes

  // progress of the warps
  input  logic [Lanes-1:0]      live_i       [Warps],
  input  logic [Warps-1:0]      idle_i,           // nothing of the warp is in flight
  input  logic                  start_valid_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WarpW-1:0]      start_warp_i,
  // verilator lint_on UNUSEDSIGNAL

  // how the SM is divided
  // Only host_warps is read.
  // verilator lint_off UNUSEDSIGNAL
  input  register_layout_t      layout_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [WarpW:0]        end_warps_i,      // warps of all slots
  input  logic [BlockSlotW-1:0] slot_i       [Warps],
  input  logic [BlockSlots-1:0] slot_busy_i,
  input  logic [BlockSlots-1:0] slot_young_i,     // the block is the younger one of its pair

  // query of the address unit; the answer is 1 if the warp's block may not access the common area any more
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WarpW-1:0]      place_warp_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                  place_released_o,

  output logic [Warps-1:0]      clear_o,
  output logic [Warps-1:0]      probe_o,          // if the head issues, it issues as a probe
  output logic [Warps-1:0]      lead_o,           // warps that the scheduler takes first
  output logic [Warps-1:0]      last_o,           // warps that the scheduler takes last
  output scratchpad_event_t     event_o
);

  localparam int unsigned IndexW = $clog2(Warps);

  // What is known about the head of a warp.
  typedef enum logic [1:0] {
    CheckNone    = 2'd0,
    CheckFlight  = 2'd1,  // a probe or a release of the warp is in flight
    CheckPrivate = 2'd2,  // the head needs no lock
    CheckCommon  = 2'd3   // the head needs the lock
  } check_e;

  logic [BlockSlots-1:0] lock_q;
  logic [1:0]            check_q    [Warps];
  logic [Lanes-1:0]      released_q [Warps];
  logic [Warps-1:0]      through_q;

  // of each warp
  logic [Warps-1:0]      has_partner;
  logic [Warps-1:0]      paired;
  logic [Warps-1:0]      young;
  logic [Warps-1:0]      other_busy;     // the partner's slot has a block
  logic [Warps-1:0]      other_through;  // the partner's block does not access the common area again
  logic [BlockSlotW-1:0] other_slot [Warps];

  logic [Warps-1:0]      owner;
  logic [Warps-1:0]      non_owner;

  // of each block slot
  logic [BlockSlots-1:0] slot_through;
  logic [BlockSlots-1:0] slot_asks;

  // of a warp's head
  logic [Warps-1:0]      wants;
  logic [Warps-1:0]      asks;
  logic [Warps-1:0]      may;
  logic [Warps-1:0]      waits;
  logic [Warps-1:0]      held;
  logic [Warps-1:0]      flight;

  // at the edge
  logic [Warps-1:0]      issues;
  logic [Warps-1:0]      sets;           // warps that issue into the operand stage
  logic [Warps-1:0]      releases;       // warps whose release is performed
  logic [BlockSlots-1:0] lock_take;
  logic [BlockSlots-1:0] lock_free;

  // Whether an instruction may access scratchpad memory outside the private part.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic is_scratchpad(logic [WordW-1:0] op, logic [WordW-1:0] ctl);
    // verilator lint_on UNUSEDSIGNAL
    logic       in_shared;
    logic       in_generic;
    in_shared  = op[OperationModifiers +: 2] == SpaceShared;
    in_generic = op[OperationModifiers +: 2] == SpaceGeneric;
    if (ctl[ControlPrivate]) return 1'b0;
    case (opcode_of(op))
      OpLd, OpSt, OpAtom: return in_shared || in_generic;
      OpCas:              return in_shared;
      default:            return 1'b0;
    endcase
  endfunction

  // A warp that begins still has the through_q of the last block in this cycle, so its start clears its slot.
  always_comb begin : slots
    slot_through = slot_busy_i;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (w < 32'(end_warps_i) && !through_q[w]) slot_through[slot_i[w]] = 1'b0;
    end
    if (start_valid_i) slot_through[slot_i[IndexW'(start_warp_i)]] = 1'b0;
  end

  always_comb begin : pairs
    logic [WarpW:0] warp;
    logic [WarpW:0] other;
    for (int unsigned w = 0; w < Warps; w++) begin
      warp = (WarpW+1)'(w);
      if (warp < layout_i.host_warps) begin
        other          = warp + layout_i.host_warps;
        has_partner[w] = other < end_warps_i;
      end else begin
        other          = warp - layout_i.host_warps;
        has_partner[w] = 1'b1;
      end
      paired[w]        = has_partner[w] && live_i[w] != '0;
      young[w]         = slot_young_i[slot_i[w]];
      other_slot[w]    = slot_i[IndexW'(other)];
      other_busy[w]    = slot_busy_i[other_slot[w]];
      other_through[w] = slot_through[other_slot[w]];
    end
  end

  always_comb begin : heads
    slot_asks = '0;
    for (int unsigned w = 0; w < Warps; w++) begin
      wants[w] = paired[w] && clear_i[w] && is_scratchpad(head_op_i[w], head_ctl_i[w]) &&
                 !lock_q[slot_i[w]] && !slot_through[slot_i[w]];
      asks[w]  = wants[w] && (cfg_i.mark || check_q[w] == CheckCommon);
      if (asks[w]) slot_asks[slot_i[w]] = 1'b1;
    end
  end

  always_comb begin : gate
    for (int unsigned w = 0; w < Warps; w++) begin
      if (cfg_i.first) may[w] = !lock_q[other_slot[w]] && !(young[w] && slot_asks[other_slot[w]]);
      else             may[w] = !young[w] || !other_busy[w] || other_through[w];
      probe_o[w] = wants[w] && !cfg_i.mark && check_q[w] == CheckNone && (cfg_i.first || !may[w]);
      waits[w]   = asks[w] && !may[w];
      held[w]    = cfg_i.hold && !cfg_i.first && non_owner[w] && !other_through[w] &&
                   returning_atomic(head_op_i[w], head_roles_i[w].d);
      flight[w]  = check_q[w] == CheckFlight;
    end
  end

  assign clear_o          = clear_i & ~flight & ~waits & ~held;
  assign owner            = paired & other_busy & ~young;
  assign non_owner        = paired & other_busy & young;
  assign lead_o           = cfg_i.owner_first ? owner : '0;
  assign last_o           = cfg_i.owner_first ? non_owner : '0;
  assign place_released_o = has_partner[IndexW'(place_warp_i)] &&
                            slot_through[slot_i[IndexW'(place_warp_i)]];

  always_comb begin : issue
    issues   = '0;
    sets     = '0;
    releases = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (issue_valid_i[p])                   issues[IndexW'(issue_warp_i[p])] = 1'b1;
      if (issue_valid_i[p] && set_valid_i[p]) sets[IndexW'(issue_warp_i[p])]   = 1'b1;
    end
    if (answer_valid_i && answer_release_i) releases[IndexW'(answer_warp_i)] = 1'b1;
  end

  always_comb begin : locks
    lock_take = '0;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (issues[w] && wants[w] && !probe_o[w] && check_q[w] != CheckPrivate) begin
        lock_take[slot_i[w]] = 1'b1;
      end
    end
  end

  assign lock_free = lock_q & (slot_through | ~slot_busy_i);

  always_ff @(posedge clk_i) begin
    lock_q <= (lock_q | lock_take) & ~lock_free;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (issues[w]) begin
        if (probe_o[w])                                         check_q[w] <= sets[w] ? CheckFlight : CheckPrivate;
        else if (sets[w] && opcode_of(head_op_i[w]) == OpRelssp) check_q[w] <= CheckFlight;
        else                                                    check_q[w] <= CheckNone;
      end
      if (releases[w]) released_q[w] <= released_q[w] | answer_mask_i;
      // Only at a release or when idle: an access of a lane that ended without a release may still be in flight.
      if ((releases[w] || idle_i[w]) &&
          (live_i[w] & ~released_q[w] & ~(releases[w] ? answer_mask_i : '0)) == '0) begin
        through_q[w] <= 1'b1;
      end
    end
    if (answer_valid_i) begin
      if (answer_release_i)     check_q[IndexW'(answer_warp_i)] <= CheckNone;
      else if (answer_shared_i) check_q[IndexW'(answer_warp_i)] <= CheckCommon;
      else                      check_q[IndexW'(answer_warp_i)] <= CheckPrivate;
    end
    if (start_valid_i) begin
      check_q[IndexW'(start_warp_i)]    <= CheckNone;
      released_q[IndexW'(start_warp_i)] <= '0;
      through_q[IndexW'(start_warp_i)]  <= 1'b0;
    end

    if (!rst_ni) begin
      lock_q     <= '0;
      check_q    <= '{default: '0};
      released_q <= '{default: '0};
      through_q  <= '0;
    end
  end

  assign event_o = {
    6'($countones(waits)),
    6'($countones(clear_i & held)),
    2'($countones(issues & sets & probe_o)),
    answer_valid_i & ~answer_release_i & answer_shared_i,
    answer_valid_i & answer_release_i,
    5'($countones(lock_take)),
    5'($countones(lock_free)),
    5'($countones(lock_free & slot_busy_i)),
    6'($countones(owner)),
    6'($countones(non_owner)),
    2'($countones(issues & non_owner))
  };

  // verilator lint_off UNUSEDSIGNAL
  logic divided;  // some warp lives
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    divided = 1'b0;
    for (int unsigned w = 0; w < Warps; w++) divided |= live_i[w] != '0;
  end

  `GPURF_ASSERT_WHEN(division_fits, divided,
                     32'(layout_i.host_warps) <= Warps && 32'(end_warps_i) <= Warps,
                     "slots have more warps than there are")

  for (genvar w = 0; w < Warps; w++) begin : gen_check
    `GPURF_ASSERT_WHEN(slots_in_order, divided && w < 32'(end_warps_i), 32'(slot_i[w]) <= w,
                       "a slot has no warps")
    `GPURF_ASSERT(one_holder,
                  !(paired[w] && lock_q[slot_i[w]] && lock_q[other_slot[w]]),
                  "both blocks of a pair have its lock")
    `GPURF_ASSERT(older_never_waits, cfg_i.first || !waits[w] || young[w],
                  "a head of an older block waits for the lock")
  end
  `GPURF_ASSERT_WHEN(answer_is_expected, answer_valid_i, flight[IndexW'(answer_warp_i)],
                     "an answer came to a warp that has no probe or release in flight")

endmodule

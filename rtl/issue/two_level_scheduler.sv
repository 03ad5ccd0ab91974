// Two-level scheduler: a few active warps issue, the others wait.
//
// A small set of warps has slots and issues; all others are pending (RFC paper, 3.2; hierarchy
// thesis, 2.5). Only the active ones need entries of a register file cache, and the choice among
// them is small. A warp gives up its slot when its next instruction needs a value from memory,
// at a barrier, when it has issued for long while others are ready (and the register file loses
// nothing), and at its end.
//
//   free      the slot has no warp
//   active    its warp issues
//   draining  instructions in the collectors and short results are awaited
//   flushing  the register file empties what it keeps for the slot
//
// With the strap `handover` a slot is free as soon as its warp has left it, and results still outstanding
// for the slot are then counted for the warp.
//
// Outstanding work is counted. A slot counts its instructions in the operand stage and its short
// results. A warp counts its long-latency results, because they outlive the slot. One bit for each register
// tells under which count its result is; the issue of its instruction sets this bit.
//
// With read stealing (stealing paper, IV-B2, figure 7) the inner selection, between a port's even and
// odd slots by the port's own numbering, also outputs the slot that loses: the candidate. If an operand is
// stolen for the candidate in the next cycle, the candidate issues then.
`include "gpurf_assert.svh"

module two_level_scheduler
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Candidates = 0,                    // 1: names candidates, for read stealing
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned PatienceW = 12,
  localparam int unsigned CfgW = PatienceW + 3
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [CfgW-1:0]       cfg_i,                           // handover, patience, stay, greedy

  // heads of the warps
  input  logic [Warps-1:0]      clear_i,                         // may issue (dependences)
  input  logic [Warps-1:0]      operand_i,                       // goes to the operand stage
  input  logic [Warps-1:0]      branch_i,                        // goes to the SIMT stack
  input  logic [Warps-1:0]      head_valid_i,
  input  logic [Warps-1:0]      mark_i,                          // head needs a long-latency value
  input  logic [IssuePorts-1:0] ready_i,                         // the operand stage accepts an instruction
  input  logic                  stop_i,

  // warps
  input  logic [Warps-1:0]      alive_i,
  input  logic [Warps-1:0]      held_i,                          // wait at a barrier

  // an instruction goes to the operand stage
  input  logic [IssuePorts-1:0] set_valid_i,
  input  logic [RegW-1:0]       set_d_i          [IssuePorts],
  input  logic [IssuePorts-1:0] set_long_i,

  // an instruction leaves the operand stage
  input  logic [IssuePorts-1:0] dispatch_valid_i,
  input  logic [WarpW-1:0]      dispatch_warp_i  [IssuePorts],

  // a register has its final value
  input  logic [IssuePorts-1:0] reg_valid_i,
  input  logic [WarpW-1:0]      reg_warp_i       [IssuePorts],
  input  logic [RegW-1:0]       reg_i            [IssuePorts],

  // the register file keeps nothing of the slot any more
  input  logic [Active-1:0]     flush_done_i,
  // the register file loses nothing if the warp leaves the slot now
  input  logic [Active-1:0]     void_i,

  // an operand of the latched candidate is being read
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0] candidate_issue_i,               // 0 without Candidates
  // verilator lint_on UNUSEDSIGNAL

  // decisions
  output logic [IssuePorts-1:0] issue_valid_o,
  output logic [WarpW-1:0]      issue_warp_o     [IssuePorts],
  output logic [Warps-1:0]      pop_o,
  output logic [SlotW-1:0]      issue_slot_o     [IssuePorts],
  output logic [Warps-1:0]      active_o,                        // the warp has a slot and does not leave it now

  // candidate: the instruction that probably issues next
  output logic [IssuePorts-1:0] candidate_valid_o,
  output logic [WarpW-1:0]      candidate_warp_o [IssuePorts],

  // slots
  output logic [Active-1:0]     slot_valid_o,
  output logic [WarpW-1:0]      slot_warp_o      [Active],
  output logic [Active-1:0]     flush_o,
  output logic [Active-1:0]     drop_o,

  output two_level_event_t      event_o
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned PortSlots = Active / IssuePorts;
  localparam int unsigned ResidentW = 6;
  localparam int unsigned CountW = 8;
  localparam int unsigned Registers = 2**RegW;
  localparam int unsigned EventW = 6;

  typedef enum logic [1:0] {
    SlotFree     = 2'd0,
    SlotActive   = 2'd1,
    SlotDraining = 2'd2,
    SlotFlushing = 2'd3
  } state_e;

  // The warps of port 0; the set for port 1 is shifted by one.
  localparam logic [Warps-1:0] OwnWarps =
      (IssuePorts == 1) ? '1 : Warps'({WarpSetW / 2{2'b01}});

  // slots
  logic [1:0]           state_q      [Active];
  logic [WarpW-1:0]     warp_q       [Active];
  logic [Active-1:0]    fresh_q;                   // nothing has issued yet
  logic [Active-1:0]    drop_q;                    // the warp has ended
  logic [PatienceW-1:0] issued_q     [Active];
  logic [ResidentW-1:0] resident_q   [Active];     // instructions in the operand stage
  logic [CountW-1:0]    short_q      [Active];     // pending short results
  logic [Registers-1:0] long_q       [Active];     // registers whose results are counted as long

  // warps
  logic [CountW-1:0]    long_count_q [Warps];      // pending long-latency results; they may outlive a slot
  logic [CountW-1:0]    long_count_d [Warps];

  // ports
  logic [WarpW-1:0]     outer_q      [IssuePorts]; // where the search for the next warp begins
  logic [WarpW-1:0]     last_q       [IssuePorts]; // port-local slot number that issued last

  // the candidates: losers of the selection
  logic [IssuePorts-1:0] candidate_valid_q;
  logic [WarpW-1:0]      candidate_q      [IssuePorts];
  logic [SlotW-1:0]      candidate_slot_q [IssuePorts];

  logic                  greedy;
  logic                  stay;
  logic [PatienceW-1:0]  patience;
  logic                  handover;
  logic [Active-1:0]     is_active;
  logic [Warps-1:0]      in_slot;                  // warps that have a slot, in whatever state
  logic [Warps-1:0]      no_long;
  logic [Warps-1:0]      ready;                    // warps that may have a slot
  logic [IssuePorts-1:0] ready_any;
  logic [Active-1:0]     leave;
  logic [Active-1:0]     leave_end;                // slot leaves, by cause
  logic [Active-1:0]     leave_barrier;
  logic [Active-1:0]     leave_mark;
  logic [Active-1:0]     leave_patience;
  logic [Active-1:0]     hand;                     // slot leaves and is free at once (handover)
  logic [Active-1:0]     drained;                  // slot goes from draining to flushing
  logic [IssuePorts-1:0] take_valid;               // a free slot takes a warp
  logic [SlotW-1:0]      take_slot   [IssuePorts];
  logic [WarpW-1:0]      take_warp   [IssuePorts];
  logic [IssuePorts-1:0] stolen;                   // the candidate of the previous cycle issues
  logic [IssuePorts-1:0] against;                  // although the policy has selected another slot
  // verilator lint_off UNUSEDSIGNAL
  logic [SlotW-1:0]      candidate_slot [IssuePorts];  // unused without Candidates
  // verilator lint_on UNUSEDSIGNAL
  logic [IssuePorts-1:0] set;                      // an instruction goes to the operand stage
  logic [IssuePorts-1:0] set_short;                // of these, instructions with a short result
  logic [IssuePorts-1:0] set_long;
  logic [IssuePorts-1:0] reg_in_slot;              // the result is of a warp with a slot
  logic [SlotW-1:0]      reg_slot    [IssuePorts];
  logic [IssuePorts-1:0] reg_short;                // the result is one of those counted in short_q

  assign greedy   = cfg_i[0];
  assign stay     = cfg_i[1];
  assign patience = cfg_i[PatienceW+1:2];
  assign handover = cfg_i[CfgW-1];

  // ------------------------------------------------------------------ what is in the slots
  assign slot_warp_o = warp_q;

  always_comb begin
    in_slot = '0;
    for (int unsigned s = 0; s < Active; s++) begin
      is_active[s]    = state_q[s] == SlotActive;
      slot_valid_o[s] = state_q[s] != SlotFree;
      flush_o[s]      = state_q[s] == SlotFlushing;
      drained[s]      = state_q[s] == SlotDraining && resident_q[s] == '0 && short_q[s] == '0;
      if (state_q[s] != SlotFree) in_slot[IndexW'(warp_q[s])] = 1'b1;
    end
  end

  assign drop_o = flush_o & drop_q;

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) no_long[w] = long_count_q[w] == '0;
  end

  // ------------------------------------------------------------------ selection of warps for the slots
  assign ready = alive_i & ~held_i & ~in_slot & no_long;

  // The lowest free slot of a port takes the first ready warp.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      automatic logic [Warps-1:0] own;
      own           = ready & (OwnWarps << p);
      ready_any[p]  = own != '0;
      take_warp[p]  = next_warp(WarpSetW'(own), outer_q[p]);
      take_slot[p]  = '0;
      take_valid[p] = 1'b0;
      // Downwards, so that the lowest is what stays.
      for (int unsigned j = PortSlots; j > 0; j--) begin
        if (state_q[IssuePorts*(j-1)+p] == SlotFree) begin
          take_valid[p] = ready_any[p];
          take_slot[p]  = SlotW'(IssuePorts * (j - 1) + p);
        end
      end
    end
  end

  // ------------------------------------------------------------------ who leaves
  always_comb begin
    active_o       = '0;
    leave_end      = '0;
    leave_barrier  = '0;
    leave_mark     = '0;
    leave_patience = '0;
    for (int unsigned s = 0; s < Active; s++) begin
      if (is_active[s]) begin
        if (!alive_i[IndexW'(warp_q[s])]) begin
          leave_end[s] = 1'b1;
        end else if (!stay && held_i[IndexW'(warp_q[s])]) begin
          leave_barrier[s] = 1'b1;
        end else if (!stay && !fresh_q[s] && head_valid_i[IndexW'(warp_q[s])] &&
                     mark_i[IndexW'(warp_q[s])]) begin
          leave_mark[s] = 1'b1;
        end else if (!stay && patience != '0 && issued_q[s] >= patience &&
                     ready_any[s % IssuePorts] && void_i[s]) begin
          leave_patience[s] = 1'b1;
        end else begin
          active_o[IndexW'(warp_q[s])] = 1'b1;
        end
      end
    end
    leave = leave_end | leave_barrier | leave_mark | leave_patience;
    hand  = handover ? leave : '0;
  end

  // ------------------------------------------------------------------ selection of slots that issue
  // A warp whose patience has run out may leave its slot even while an operand is being stolen for it.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      stolen[p] = Candidates != 0 && candidate_issue_i[p] && candidate_valid_q[p] && !stop_i &&
                  active_o[IndexW'(candidate_q[p])];
    end
  end

  // The policy's selection among these slots of a port; the set is not empty.
  function automatic logic [WarpW-1:0] choice(logic [PortSlots-1:0] slots, logic [WarpW-1:0] last);
    choice = last;
    if (!greedy || (slots & (PortSlots'(1) << last)) == '0) begin
      choice = next_warp(WarpSetW'(slots), last + 1'b1);
    end
  endfunction

  always_comb begin : choose
    logic [Warps-1:0]     may;         // warps whose heads may issue
    logic [PortSlots-1:0] candidates;
    logic [PortSlots-1:0] odd;         // every second slot of the port
    logic [WarpW-1:0]     place;       // port-local slot number
    logic                 coming;      // there is a candidate, which issues next if an operand is stolen for it
    logic [SlotW-1:0]     winner;
    logic [SlotW-1:0]     next_slot;
    pop_o     = '0;
    place     = '0;
    odd       = '0;
    coming    = 1'b0;
    winner    = '0;
    next_slot = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_valid_o[p] = 1'b0;
      issue_warp_o[p]  = '0;
      issue_slot_o[p]  = '0;
      may              = stop_i ? '0 : active_o & clear_i;
      if (!ready_i[p]) may = may & ~operand_i;
      // The SIMT stack handles only one split or end of a group per cycle.
      if (p != 0 && issue_valid_o[0] && branch_i[IndexW'(issue_warp_o[0])]) begin
        may = may & ~branch_i;
      end
      candidates = '0;
      if (may != '0) begin
        for (int unsigned j = 0; j < PortSlots; j++) begin
          candidates[j] = is_active[IssuePorts*j+p] &
                          may[IndexW'(warp_q[IssuePorts*j+p])];
        end
      end
      if (candidates != '0) begin
        place            = choice(candidates, last_q[p]);
        winner           = SlotW'(IssuePorts * 32'(place) + p);
        issue_valid_o[p] = 1'b1;
        issue_slot_o[p]  = winner;
        issue_warp_o[p]  = warp_q[winner];
      end
      against[p] = stolen[p] & ~(candidates != '0 && winner == candidate_slot_q[p]);
      if (stolen[p]) begin
        issue_valid_o[p] = 1'b1;
        issue_slot_o[p]  = candidate_slot_q[p];
        issue_warp_o[p]  = candidate_q[p];
      end
      if (issue_valid_o[p]) pop_o[IndexW'(issue_warp_o[p])] = 1'b1;

      candidate_valid_o[p] = 1'b0;
      candidate_warp_o[p]  = '0;
      candidate_slot[p]    = '0;
      if (Candidates != 0 && candidates != '0) begin
        if (against[p]) begin
          coming    = 1'b1;
          next_slot = winner;
        end else begin
          for (int unsigned j = 1; j < PortSlots; j += 2) odd[j] = 1'b1;
          candidates = candidates & (place[0] ? ~odd : odd);
          coming     = candidates != '0;
          place      = choice(candidates, last_q[p]);
          next_slot  = SlotW'(IssuePorts * 32'(place) + p);
        end
        if (coming && operand_i[IndexW'(warp_q[next_slot])]) begin
          candidate_valid_o[p] = 1'b1;
          candidate_warp_o[p]  = warp_q[next_slot];
          candidate_slot[p]    = next_slot;
        end
      end
    end
  end

  // ------------------------------------------------------------------ counts
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      set[p]       = set_valid_i[p] & issue_valid_o[p];
      set_short[p] = set[p] && set_d_i[p] != NoReg && !set_long_i[p];
      set_long[p]  = set[p] && set_d_i[p] != NoReg && set_long_i[p];
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      reg_in_slot[p] = 1'b0;
      reg_slot[p]    = '0;
      if (reg_valid_i[p]) begin
        for (int unsigned s = 0; s < Active; s++) begin
          if (slot_valid_o[s] && warp_q[s] == reg_warp_i[p]) begin
            reg_in_slot[p] = 1'b1;
            reg_slot[p]    = SlotW'(s);
          end
        end
      end
      reg_short[p] = reg_in_slot[p] & ~long_q[reg_slot[p]][reg_i[p]];
    end
  end

  // The long-latency counts after this edge: all events of a warp count together. If its slot is
  // handed over, the short results of the slot are added.
  always_comb begin
    long_count_d = long_count_q;
    for (int unsigned s = 0; s < Active; s++) begin
      if (hand[s]) begin
        long_count_d[IndexW'(warp_q[s])] = long_count_d[IndexW'(warp_q[s])] + short_q[s];
      end
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (set_long[p]) begin
        long_count_d[IndexW'(issue_warp_o[p])] = long_count_d[IndexW'(issue_warp_o[p])] + 1'b1;
      end
      if (reg_valid_i[p] && (!reg_short[p] || hand[reg_slot[p]])) begin
        long_count_d[IndexW'(reg_warp_i[p])] = long_count_d[IndexW'(reg_warp_i[p])] - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) long_count_q <= '{default: '0};
    else         long_count_q <= long_count_d;
  end

  // ------------------------------------------------------------------ slots and ports
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      outer_q <= '{default: '0};
      last_q  <= '{default: '0};
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (take_valid[p]) begin
          outer_q[p] <= (take_warp[p] == WarpW'(Warps - 1)) ? '0 : take_warp[p] + 1'b1;
        end
        // If the candidate issues instead of the winner, the policy continues as if nothing had been stolen.
        if (issue_valid_o[p] && !against[p]) begin
          last_q[p] <= WarpW'(32'(issue_slot_o[p]) / IssuePorts);
        end
      end
    end
  end

  if (Candidates != 0) begin : gen_candidate
    always_ff @(posedge clk_i) begin
      if (!rst_ni) candidate_valid_q <= '0;
      else         candidate_valid_q <= candidate_valid_o;
    end

    // No reset: warp and slot mean nothing while candidate_valid_q is low.
    for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
      always_ff @(posedge clk_i) begin
        if (candidate_valid_o[p]) begin
          candidate_q[p]      <= candidate_warp_o[p];
          candidate_slot_q[p] <= candidate_slot[p];
        end
      end

      `GPURF_ASSERT_WHEN(stolen_for_clear, stolen[p], clear_i[IndexW'(candidate_q[p])],
                         "an operand was stolen for a warp whose head may not issue")
      `GPURF_ASSERT_WHEN(stolen_for_operand, stolen[p],
                         operand_i[IndexW'(candidate_q[p])] && !branch_i[IndexW'(candidate_q[p])],
                         "an operand was stolen for a head that has none")
      `GPURF_ASSERT_WHEN(stolen_in_slot, stolen[p], warp_q[candidate_slot_q[p]] == candidate_q[p],
                         "an operand was stolen for a warp that has left its slot")
    end
  end else begin : gen_no_candidate
    assign candidate_valid_q = '0;
    assign candidate_q       = '{default: '0};
    assign candidate_slot_q  = '{default: '0};
  end

  for (genvar s = 0; s < Active; s++) begin : gen_slot
    localparam int unsigned Port = s % IssuePorts;

    logic                 take;
    logic                 issue;
    logic [ResidentW-1:0] gone;      // instructions that leave the operand stage
    logic [CountW-1:0]    complete;  // short results that arrive

    assign take  = take_valid[Port] && take_slot[Port] == SlotW'(s);
    assign issue = issue_valid_o[Port] && issue_slot_o[Port] == SlotW'(s);

    always_comb begin
      gone     = '0;
      complete = '0;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (dispatch_valid_i[p] && !handover && slot_valid_o[s] &&
            dispatch_warp_i[p] == warp_q[s]) begin
          gone = gone + 1'b1;
        end
        if (reg_short[p] && reg_slot[p] == SlotW'(s)) complete = complete + 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        state_q[s] <= SlotFree;
      end else begin
        case (state_q[s])
          SlotFree:     if (take)            state_q[s] <= SlotActive;
          SlotActive:   if (leave[s])        state_q[s] <= handover ? SlotFree : SlotDraining;
          SlotDraining: if (drained[s])      state_q[s] <= SlotFlushing;
          default:      if (flush_done_i[s]) state_q[s] <= SlotFree;
        endcase
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        fresh_q[s] <= 1'b0;
        drop_q[s]  <= 1'b0;
      end else if (take) begin
        fresh_q[s] <= 1'b1;
        drop_q[s]  <= 1'b0;
      end else if (slot_valid_o[s]) begin
        if (issue)      fresh_q[s] <= 1'b0;
        if (drained[s]) drop_q[s]  <= ~alive_i[IndexW'(warp_q[s])];
      end
    end

    // These registers have no reset: they have no meaning while the slot is free.
    always_ff @(posedge clk_i) begin
      if (take) begin
        warp_q[s]     <= take_warp[Port];
        issued_q[s]   <= '0;
        resident_q[s] <= '0;
        short_q[s]    <= '0;
        long_q[s]     <= '0;
      end else if (slot_valid_o[s]) begin
        if (issue && issued_q[s] != '1) issued_q[s] <= issued_q[s] + 1'b1;
        // A slot that is handed over does not wait for its instructions, so they are not counted.
        resident_q[s] <= resident_q[s] + ResidentW'(issue && set[Port] && !handover) - gone;
        short_q[s]    <= short_q[s] + CountW'(issue && set_short[Port]) - complete;
        if (issue && set[Port] && set_d_i[Port] != NoReg) begin
          long_q[s][set_d_i[Port]] <= set_long_i[Port];
        end
      end
    end

    `GPURF_ASSERT_WHEN(warp_of_port, slot_valid_o[s], 32'(warp_q[s]) % IssuePorts == Port,
                       "a slot has a warp of the other port")
    `GPURF_ASSERT_WHEN(resident_not_below_zero, gone != '0, resident_q[s] >= gone,
                       "more instructions left the operand stage than a slot has there")
    `GPURF_ASSERT_WHEN(short_not_below_zero, complete != '0, short_q[s] >= complete,
                       "more results came than a slot waits for")
  end

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o.activate       = 2'($countones(take_valid));
    event_o.leave_end      = EventW'($countones(leave_end));
    event_o.leave_barrier  = EventW'($countones(leave_barrier));
    event_o.leave_mark     = EventW'($countones(leave_mark));
    event_o.leave_patience = EventW'($countones(leave_patience));
    event_o.active         = EventW'($countones(is_active));
    event_o.drain          = EventW'($countones(slot_valid_o & ~is_active & ~flush_o));
    event_o.flush          = EventW'($countones(flush_o));
    event_o.ready          = EventW'($countones(ready));
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(long_not_below_zero, reg_valid_i[p] && !reg_short[p],
                       long_count_q[IndexW'(reg_warp_i[p])] != '0,
                       "a result came that no warp waits for")
    `GPURF_ASSERT_WHEN(dispatch_has_slot, dispatch_valid_i[p] && !handover,
                       in_slot[IndexW'(dispatch_warp_i[p])],
                       "an instruction left the operand stage whose warp has no slot")
  end

  `GPURF_ASSERT(one_slot_a_warp, $countones(in_slot) == $countones(slot_valid_o),
                "a warp is in two slots")
  `GPURF_ASSERT_WHEN(handed_at_once, handover, slot_valid_o == is_active,
                     "a slot drains or flushes although slots are handed over")
  `GPURF_ASSERT(slots_for_each_port, Active % IssuePorts == 0,
                "the ports do not have equally many slots")

endmodule

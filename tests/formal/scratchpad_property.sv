// Of two blocks that share scratchpad memory one at a time accesses it, and the older one never waits.
//
// The environment turns free inputs into what launcher, warps and memory pipeline do, and nothing less:
// a grid with hosts and guests, chosen once; blocks that are put into free slots, in any order, and
// begin warp by warp; heads of any kind that stay until they issue; memory instructions that are taken
// in order within a warp, in any order between warps, after any time; other instructions in flight for
// any time. Programs may access the common area after their release: such an access is *dishonest*.
// Who may access what is computed here from the page (docs/blocks/scratchpad_locks.md) a second time.
//
// Beside it an address unit with free inputs: a probe and a release perform nothing and answer truly,
// and an access in shared memory goes to the place that the page says, or is refused.
module scratchpad_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 4,
  parameter int unsigned IssuePorts = 2,
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned SlotW = $clog2(BlockSlots),
  localparam int unsigned Places = 2,  // memory instructions of a warp in front of the address unit
  localparam int unsigned HeadW = 5 + Lanes
) (
  input logic                          clk_i,

  // chosen once
  input scratchpad_straps_t            cfg_i,
  input logic                          wide_i,         // a block has two warps, not one
  input logic                          hosts_i,        // of blocks of one warp: two hosts, not one
  input logic [1:0]                    guests_i,

  // what launcher and warps would like to do
  input logic                          place_i,        // a block is put into a slot
  input logic [SlotW-1:0]              place_slot_i,
  input logic [Warps*Lanes-1:0]        start_mask_i,
  input logic [Warps-1:0]              clear_i,
  input logic [Warps*HeadW-1:0]        head_i,         // the next heads
  input logic [IssuePorts-1:0]         issue_i,
  input logic [IssuePorts*NumberW-1:0] issue_warp_i,
  input logic [IssuePorts-1:0]         stay_i,         // something of what issues is in flight then
  input logic [Warps-1:0]              land_i,         // all that is in flight comes to its end
  input logic                          take_i,         // the address unit takes an instruction
  input logic [NumberW-1:0]            take_warp_i,

  // the address unit
  input logic                          in_valid_i,
  input logic [WarpW-1:0]              in_warp_i,
  input logic [Lanes-1:0]              in_mask_i,
  input logic [WordW-1:0]              in_op_i,
  input logic [WordW-1:0]              in_ctl_i,
  input logic [DataW-1:0]              in_a_i,
  input logic [DataW-1:0]              in_b_i,
  input logic [SharedAddressW-1:0]     base_i,
  input logic [SharedAddressW-1:0]     common_i,
  input logic                          refuse_i,
  input logic [16:0]                   private_i,
  input logic [16:0]                   bytes_i,
  input logic [Lanes-1:0]              served_i
);

  typedef enum logic [2:0] {
    HeadOther   = 3'd0,
    HeadAccess  = 3'd1,  // of shared memory
    HeadGeneric = 3'd2,  // of any memory
    HeadCas     = 3'd3,  // of shared memory
    HeadRelease = 3'd4,
    HeadAtomic  = 3'd5,  // of global memory, with a result
    HeadExit    = 3'd6
  } kind_e;

  typedef struct packed {
    logic [2:0]       kind;    // kind_e
    logic             mark;    // the access is marked private
    logic             common;  // a lane lies in the common area
    logic [Lanes-1:0] lanes;   // that execute it
  } head_t;

  typedef struct packed {
    logic             probe;
    logic             free;    // a release
    logic             common;  // it lies in the common area
    logic             honest;  // no lane of it has executed a release
    logic [Lanes-1:0] lanes;
  } request_t;

  // ------------------------------------------------------------------ environment
`include "sharing_grid.svh"

  scratchpad_straps_t    cfg_q;
  logic [Lanes-1:0]      live_q     [Warps];
  head_t                 head_q     [Warps];
  logic [Warps-1:0]      flight_q;              // something of the warp is in flight, besides requests
  request_t              request_q  [Warps*Places];  // in order, the first is the next one
  logic [1:0]            count_q    [Warps];
  logic                  answer_q;
  logic                  answer_free_q;
  logic                  answer_common_q;
  logic [WarpW-1:0]      answer_warp_q;
  logic [Lanes-1:0]      answer_lanes_q;

  // what has happened
  logic [Lanes-1:0]      asked_q    [Warps];    // lanes whose release has issued
  logic [Lanes-1:0]      freed_q    [Warps];    // whose release has been answered
  logic [Warps-1:0]      through_q;             // the warp does not access the common area again
  logic [Warps-1:0]      known_q;               // its head has been probed,
  logic [Warps-1:0]      need_q;                // and needs the lock
  logic [Warps-1:0]      held_q;                // a probe or a release is in flight
  logic [BlockSlots-1:0] used_q;                // the block has accessed the common area, and is not through

  logic [Warps-1:0]      idle;
  logic [Warps-1:0]      alive;
  logic [BlockSlots-1:0] slot_through;
  logic [WarpW-1:0]      start_warp;
  logic [Warps-1:0]      issues, sets, stays;
  logic [IssuePorts-1:0] issue_valid, set_valid;
  logic [WarpW-1:0]      issue_warp   [IssuePorts];
  logic                  take;
  request_t              taken;
  request_t              request      [Warps];  // of what issues
  logic [Warps-1:0]      requests;
  head_t                 next_head    [Warps];
  logic [WordW-1:0]      op           [Warps];
  logic [WordW-1:0]      ctl          [Warps];
  roles_t                roles        [Warps];
  logic [Warps-1:0]      clear, clear_o, probe_o, lead_o, last_o;
  logic                  released_o;
  register_layout_t      layout;
  scratchpad_event_t     event_o;

  always_comb begin
    slot_through = busy_q;
    start_warp   = '0;
    for (int unsigned w = 0; w < Warps; w++) begin
      alive[w] = live_q[w] != '0;
      idle[w]  = !flight_q[w] && count_q[w] == '0 && !(answer_q && answer_warp_q == WarpW'(w));
      if (exists[w] && !through_q[w]) slot_through[slot[w]] = 1'b0;
      if (begins[w])                  start_warp            = WarpW'(w);
    end
    if (starting_q) slot_through[start_slot_q] = 1'b0;
  end

  assign ended = ~alive & idle;
  assign clear = started_q ? clear_i & alive : '0;

  // A head is an access of the common area only if it can be one; marks are true.
  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) begin
      next_head[w] = head_i[HeadW*w +: HeadW];
      if (next_head[w].kind != HeadAccess && next_head[w].kind != HeadGeneric && next_head[w].kind != HeadCas) begin
        next_head[w].common = 1'b0;
        next_head[w].mark   = 1'b0;
      end
      if (next_head[w].mark || next_head[w].lanes == '0) next_head[w].common = 1'b0;
      op[w]  = '0;
      ctl[w] = '0;
      ctl[w][61] = head_q[w].mark;
      roles[w]   = '0;
      case (head_q[w].kind)
        HeadAccess:  {op[w][29:28], op[w][6:0]} = {2'd1, 7'h41};
        HeadGeneric: {op[w][29:28], op[w][6:0]} = {2'd3, 7'h40};
        HeadCas:     {op[w][29:28], op[w][6:0]} = {2'd1, 7'h44};
        HeadRelease: op[w][6:0] = 7'h08;
        HeadAtomic:  op[w][6:0] = 7'h43;
        default:     op[w][6:0] = 7'h20;
      endcase
    end
  end

  // Heads that are clear issue, each once, and only where there is a place.
  always_comb begin
    issues      = '0;
    sets        = '0;
    stays       = '0;
    issue_valid = '0;
    set_valid   = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_warp[p] = WarpW'(issue_warp_i[NumberW*p +: NumberW]);
      for (int unsigned w = 0; w < Warps; w++) begin
        if (issue_i[p] && issue_warp_i[NumberW*p +: NumberW] == NumberW'(w) && clear_o[w] && !issues[w] &&
            count_q[w] < 2'(Places)) begin
          issue_valid[p] = 1'b1;
          issues[w]      = 1'b1;
          set_valid[p]   = (head_q[w].lanes & live_q[w]) != '0 && head_q[w].kind != HeadExit;
          sets[w]        = set_valid[p];
          stays[w]       = set_valid[p] && stay_i[p] && !probe_o[w] && head_q[w].kind != HeadRelease;
        end
      end
    end
    for (int unsigned w = 0; w < Warps; w++) begin
      request[w].probe  = probe_o[w];
      request[w].free   = head_q[w].kind == HeadRelease;
      request[w].lanes  = head_q[w].lanes & live_q[w];
      request[w].common = head_q[w].common && request[w].lanes != '0;
      request[w].honest = (request[w].lanes & asked_q[w]) == '0;
      requests[w]       = sets[w] && head_q[w].kind != HeadOther && head_q[w].kind != HeadAtomic;
    end
  end

  assign take  = started_q && take_i && count_q[take_warp_i] != '0;
  assign taken = request_q[Places*take_warp_i];

  assign layout = '{guest_base: '0, host_warps: (WarpW+1)'(hosts_q * wide_q),
                    private_registers: '1, registers: '1};

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      cfg_q           <= cfg_i;
      flight_q        <= '0;
      answer_q        <= 1'b0;
      answer_free_q   <= 1'b0;
      answer_common_q <= 1'b0;
      answer_warp_q   <= '0;
      answer_lanes_q  <= '0;
      through_q       <= '0;
      known_q         <= '0;
      need_q          <= '0;
      held_q          <= '0;
      used_q          <= '0;
      for (int unsigned w = 0; w < Warps; w++) begin
        live_q[w]  <= '0;
        head_q[w]  <= next_head[w];
        count_q[w] <= '0;
        asked_q[w] <= '0;
        freed_q[w] <= '0;
      end
      for (int unsigned k = 0; k < Warps * Places; k++) request_q[k] <= '0;
    end else begin
      used_q <= used_q & busy_q & ~finished & ~slot_through;
      flight_q <= (flight_q & ~land_i) | stays;
      for (int unsigned w = 0; w < Warps; w++) begin
        if (issues[w] && probe_o[w]) begin
          known_q[w] <= 1'b1;
          need_q[w]  <= 1'b0;
          held_q[w]  <= sets[w];
        end
        if (issues[w] && !probe_o[w]) begin
          head_q[w]  <= next_head[w];
          known_q[w] <= 1'b0;
          need_q[w]  <= 1'b0;
          held_q[w]  <= sets[w] && head_q[w].kind == HeadRelease;
          if (head_q[w].kind == HeadExit)                live_q[w]  <= live_q[w] & ~head_q[w].lanes;
          if (head_q[w].kind == HeadRelease && sets[w])  asked_q[w] <= asked_q[w] | request[w].lanes;
        end
        // Requests leave at the front and come in behind the last one.
        if (take && take_warp_i == NumberW'(w)) begin
          request_q[Places*w]   <= (count_q[w] == 2'd2) ? request_q[Places*w+1] : request[w];
          request_q[Places*w+1] <= request[w];
          count_q[w]            <= count_q[w] - 2'd1 + 2'(requests[w]);
        end else if (requests[w]) begin
          request_q[Places*w + 32'(count_q[w])] <= request[w];
          count_q[w]                            <= count_q[w] + 2'd1;
        end
        if (((live_q[w] & ~freed_q[w] & ~((answer_q && answer_free_q && answer_warp_q == WarpW'(w)) ? answer_lanes_q : '0)) == '0) &&
            (idle[w] || (answer_q && answer_free_q && answer_warp_q == WarpW'(w)))) through_q[w] <= 1'b1;
        if (answer_q && answer_warp_q == WarpW'(w)) begin
          held_q[w] <= 1'b0;
          if (answer_free_q) freed_q[w] <= freed_q[w] | answer_lanes_q;
          else               need_q[w]  <= answer_common_q;
        end
      end
      answer_q        <= take && (taken.probe || taken.free);
      answer_free_q   <= taken.free;
      answer_common_q <= taken.common;
      answer_warp_q   <= WarpW'(take_warp_i);
      answer_lanes_q  <= taken.lanes;
      if (take && !taken.probe && taken.common && !released_o) used_q[slot[take_warp_i]] <= 1'b1;
      if (starting_q) begin
        for (int unsigned w = 0; w < Warps; w++) begin
          if (begins[w]) begin
            live_q[w]    <= start_mask_i[Lanes*w +: Lanes];
            asked_q[w]   <= '0;
            freed_q[w]   <= '0;
            through_q[w] <= 1'b0;
            known_q[w]   <= 1'b0;
            need_q[w]    <= 1'b0;
          end
        end
      end
    end
  end

  scratchpad_locks #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) dut (
    .clk_i,
    .rst_ni          (started_q),
    .cfg_i           (cfg_q),
    .clear_i         (clear),
    .head_op_i       (op),
    .head_ctl_i      (ctl),
    .head_roles_i    (roles),
    .issue_valid_i   (issue_valid),
    .issue_warp_i    (issue_warp),
    .set_valid_i     (set_valid),
    .answer_valid_i  (answer_q),
    .answer_release_i(answer_free_q),
    .answer_warp_i   (answer_warp_q),
    .answer_shared_i (answer_common_q),
    .answer_mask_i   (answer_lanes_q),
    .live_i          (live_q),
    .idle_i          (idle),
    .start_valid_i   (starting_q),
    .start_warp_i    (start_warp),
    .layout_i        (layout),
    .end_warps_i     ((WarpW+1)'(slots_q * wide_q)),
    .slot_i          (slot_port),
    .slot_busy_i     (busy_q),
    .slot_young_i    (young_q),
    .place_warp_i    (WarpW'(take_warp_i)),
    .place_released_o(released_o),
    .clear_o,
    .probe_o,
    .lead_o,
    .last_o,
    .event_o
  );

  // ------------------------------------------------------------------ who accesses the common area
  logic agrees, states_agree, in_flight_locked, used_locked, alone, in_order, honest_safe, one_user, refused;
  logic [BlockSlots-1:0] lock;

  assign lock = dut.lock_q;

  always_comb begin
    agrees           = 1'b1;
    states_agree     = 1'b1;
    in_flight_locked = 1'b1;
    honest_safe      = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      // Of the environment.
      if (!ended[w] && !begun[w]) agrees = 1'b0;
      if (count_q[w] > 2'd2) agrees = 1'b0;
      if (head_q[w].common && (head_q[w].mark || head_q[w].lanes == '0)) agrees = 1'b0;
      if (head_q[w].common && head_q[w].kind != HeadAccess && head_q[w].kind != HeadGeneric && head_q[w].kind != HeadCas) agrees = 1'b0;
      if ((freed_q[w] & ~asked_q[w]) != '0) agrees = 1'b0;
      if (answer_q && answer_warp_q == WarpW'(w)) begin
        if (!held_q[w] || count_q[w] != '0) agrees = 1'b0;
        if (answer_free_q && (known_q[w] || (answer_lanes_q & ~asked_q[w]) != '0)) agrees = 1'b0;
        if (!answer_free_q && (answer_common_q != (head_q[w].common && (head_q[w].lanes & live_q[w]) != '0) || !known_q[w])) agrees = 1'b0;
      end
      // What waits for an answer is the last request of its warp.
      for (int unsigned k = 0; k < Places; k++) begin
        if (2'(k) < count_q[w]) begin
          if (request_q[Places*w+k].probe && request_q[Places*w+k].free) agrees = 1'b0;
          if (request_q[Places*w+k].lanes == '0) agrees = 1'b0;
          if (request_q[Places*w+k].free && request_q[Places*w+k].common) agrees = 1'b0;
          if (request_q[Places*w+k].probe || request_q[Places*w+k].free) begin
            if (!held_q[w] || 2'(k) + 2'd1 != count_q[w] || (answer_q && answer_warp_q == WarpW'(w))) agrees = 1'b0;
          end
          if (request_q[Places*w+k].probe &&
              (!known_q[w] || request_q[Places*w+k].common != (head_q[w].common && (head_q[w].lanes & live_q[w]) != '0))) agrees = 1'b0;
          if (request_q[Places*w+k].free && (known_q[w] || (request_q[Places*w+k].lanes & ~asked_q[w]) != '0)) agrees = 1'b0;
          if (request_q[Places*w+k].common && !request_q[Places*w+k].probe) begin
            if (paired[w] && !lock[slot[w]] && !slot_through[slot[w]]) in_flight_locked = 1'b0;
            if (request_q[Places*w+k].honest && through_q[w]) honest_safe = 1'b0;
          end
        end
      end
      if (!known_q[w] && need_q[w]) agrees = 1'b0;
      if (known_q[w] && !held_q[w] && need_q[w] != (head_q[w].common && (head_q[w].lanes & live_q[w]) != '0)) agrees = 1'b0;
      if (held_q[w] && !(answer_q && answer_warp_q == WarpW'(w)) && count_q[w] == '0) agrees = 1'b0;
      if (held_q[w] && count_q[w] != '0 && !request_q[Places*w + 32'(count_q[w]) - 1].probe &&
          !request_q[Places*w + 32'(count_q[w]) - 1].free) agrees = 1'b0;
      if (held_q[w] && known_q[w] && need_q[w]) agrees = 1'b0;
      if (known_q[w] && head_q[w].kind != HeadAccess && head_q[w].kind != HeadGeneric && head_q[w].kind != HeadCas) agrees = 1'b0;
      if (through_q[w] && begun[w] && (live_q[w] & ~freed_q[w]) != '0) agrees = 1'b0;
      // Of the block.
      if (dut.check_q[w] != (held_q[w] ? 2'd1 : !known_q[w] ? 2'd0 : need_q[w] ? 2'd3 : 2'd2)) states_agree = 1'b0;
      if (dut.released_q[w] != freed_q[w] || dut.through_q[w] != through_q[w]) states_agree = 1'b0;
    end

    used_locked = 1'b1;
    alone       = 1'b1;
    in_order    = 1'b1;
    one_user    = 1'b1;
    for (int unsigned s = 0; s < BlockSlots; s++) begin
      if (lock[s] && !has_partner[s]) used_locked = 1'b0;
      if (used_q[s] && has_partner[s] && !lock[s]) used_locked = 1'b0;
      if (has_partner[s] && lock[s] && lock[slot_partner[s]]) alone = 1'b0;
      if (!cfg_q.first && lock[s] && young_q[s] && busy_q[slot_partner[s]] && !slot_through[slot_partner[s]]) in_order = 1'b0;
      if (has_partner[s] && used_q[s] && used_q[slot_partner[s]]) one_user = 1'b0;
    end

    refused = 1'b1;
    if (take && !taken.probe && taken.common && paired[take_warp_i]) begin
      if (taken.honest && released_o) refused = 1'b0;
      if (!released_o && !lock[slot[take_warp_i]]) refused = 1'b0;
    end
    if (take && released_o != (paired[take_warp_i] && slot_through[slot[take_warp_i]])) refused = 1'b0;
  end

  // ------------------------------------------------------------------ who waits
  logic older_goes, others_go, younger_agrees, atomics_agree, first_agrees, probes_agree;

  always_comb begin
    logic access, needs, gone, theirs;
    older_goes     = 1'b1;
    others_go      = 1'b1;
    younger_agrees = 1'b1;
    atomics_agree  = 1'b1;
    first_agrees   = 1'b1;
    probes_agree   = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      // It may access the common area, and has neither the lock nor given it up.
      access = (head_q[w].kind == HeadAccess || head_q[w].kind == HeadGeneric || head_q[w].kind == HeadCas) &&
               !head_q[w].mark && !lock[slot[w]] && !slot_through[slot[w]];
      needs  = access && (cfg_q.mark || (known_q[w] && need_q[w]));
      gone   = !busy_q[slot_partner[slot[w]]] || slot_through[slot_partner[slot[w]]];
      theirs = lock[slot_partner[slot[w]]];
      for (int unsigned v = 0; v < Warps; v++) begin
        if (young_q[slot[w]] && exists[v] && slot[v] == slot_partner[slot[w]] && clear[v] && !head_q[v].mark &&
            !lock[slot[v]] && !slot_through[slot[v]] &&
            (head_q[v].kind == HeadAccess || head_q[v].kind == HeadGeneric || head_q[v].kind == HeadCas) &&
            (cfg_q.mark || (known_q[v] && need_q[v]))) theirs = 1'b1;
      end
      if (clear_o[w] && !(clear[w] && !held_q[w])) others_go = 1'b0;
      if (clear[w] && !paired[w] && !held_q[w] && !clear_o[w]) others_go = 1'b0;
      if (probe_o[w] && !(clear[w] && paired[w] && access)) probes_agree = 1'b0;
      if (clear[w] && paired[w] && !held_q[w]) begin
        if (head_q[w].kind == HeadAtomic) begin
          if (clear_o[w] != !(cfg_q.hold && !cfg_q.first && young_q[slot[w]] && !gone)) atomics_agree = 1'b0;
        end else if (cfg_q.first) begin
          if (clear_o[w] != !(needs && theirs)) first_agrees = 1'b0;
          if (probe_o[w] != (access && !cfg_q.mark && !known_q[w])) probes_agree = 1'b0;
        end else if (!young_q[slot[w]]) begin
          if (!clear_o[w] || probe_o[w]) older_goes = 1'b0;
        end else begin
          if (clear_o[w] != !(needs && !gone)) younger_agrees = 1'b0;
          if (probe_o[w] != (access && !cfg_q.mark && !known_q[w] && !gone)) probes_agree = 1'b0;
        end
      end
    end
  end

  // ------------------------------------------------------------------ the address unit
  logic              unit_ready, unit_busy, unit_last, unit_answer, unit_answer_release, unit_answer_shared, unit_finish,
                     unit_fault, unit_global, unit_shared, unit_constant, unit_shuffle;
  logic [Lanes-1:0]  unit_lanes, unit_answer_mask;
  logic [WarpW-1:0]  unit_warp, unit_finish_warp, unit_fault_warp, unit_place_warp;
  logic [CauseW-1:0] unit_cause;
  logic [LaneW-1:0]  unit_value;
  logic [DataW-1:0]  unit_addr;
  logic [WarpW-1:0]  unit_in_warp        [1];
  logic [Lanes-1:0]  unit_in_mask        [1];
  instruction_t      unit_in_instruction [1];
  logic [DataW-1:0]  unit_in_data        [Operands];
  written_t          unit_written        [1];
  logic              unit_take;

  // what was taken in the cycle before
  logic              taken_q = 1'b0;
  logic [Lanes-1:0]  mask_q;
  logic [6:0]        opcode_q;
  logic [1:0]        space_q;
  logic [1:0]        size_q;
  logic [WarpW-1:0]  warp_q;
  logic [DataW-1:0]  sum_q;      // lower word of each lane's address
  logic [Lanes-1:0]  inside_q;   // it is in shared memory
  logic [SharedAddressW-1:0] base_q, common_q;
  logic [16:0]       private_q, bytes_q;
  logic              refuse_q;

  always_comb begin
    // No instruction here has a register, so none waits for parts of its result.
    unit_written[0]        = '0;
    unit_in_warp[0]        = in_warp_i;
    unit_in_mask[0]        = (in_mask_i == '0) ? '1 : in_mask_i;
    unit_in_instruction[0] = '0;
    unit_in_instruction[0].op      = in_op_i;
    unit_in_instruction[0].ctl     = in_ctl_i;
    unit_in_instruction[0].roles.d = '1;
    unit_in_instruction[0].roles.p = '1;
    // Words of 32 bits, in shared or in generic space; probes and releases; texture fetches, which have no space,
    // whatever stands there.
    case (in_op_i[2:0])
      3'd0:    unit_in_instruction[0].op[6:0] = 7'h40;
      3'd1:    unit_in_instruction[0].op[6:0] = 7'h41;
      3'd2:    unit_in_instruction[0].op[6:0] = 7'h45;
      3'd3:    unit_in_instruction[0].op[6:0] = 7'h46;
      default: unit_in_instruction[0].op[6:0] = 7'h08;
    endcase
    unit_in_data[0] = in_a_i;
    unit_in_data[1] = in_b_i;
    unit_in_data[2] = in_a_i;
  end

  address_unit #(
    .IssuePorts(1),
    .ConstWords(16),
    .Shares    (1)
  ) u_address_unit (
    .clk_i,
    .rst_ni           (started_q),
    .in_valid_i,
    .in_port_i        (1'b0),
    .in_ready_o       (unit_ready),
    .in_warp_i        (unit_in_warp),
    .in_mask_i        (unit_in_mask),
    .in_instruction_i (unit_in_instruction),
    .in_src_valid_i   (3'b111),
    .in_data_i        (unit_in_data),
    .place_warp_o     (unit_place_warp),
    .place_base_i     (base_i),
    .place_common_i   (common_i),
    .place_released_i (refuse_i),
    .private_bytes_i  (private_i),
    .shared_bytes_i   (bytes_i),
    .local_words_i    ('0),
    .lanes_o          (unit_lanes),
    .busy_o           (unit_busy),
    .global_valid_o   (unit_global),
    .shared_valid_o   (unit_shared),
    .constant_valid_o (unit_constant),
    .shuffle_valid_o  (unit_shuffle),
    .local_o          (),
    .line_first_o     (),
    .global_served_i  (served_i),
    .shared_served_i  (served_i),
    .constant_served_i(served_i),
    .shuffle_served_i (served_i),
    .last_o           (unit_last),
    .write_done_i     (1'b0),
    .written_i        (unit_written),
    .warp_o           (unit_warp),
    .kind_o           (),
    .size_o           (),
    .signed_o         (),
    .atomic_o         (),
    .modifiers_o      (),
    .reg_valid_o      (),
    .reg_o            (),
    .pred_valid_o     (),
    .pred_o           (),
    .addr_o           (unit_addr),
    .store_o          (),
    .compare_o        (),
    .finish_valid_o   (unit_finish),
    .finish_warp_o    (unit_finish_warp),
    .answer_valid_o   (unit_answer),
    .answer_release_o (unit_answer_release),
    .answer_shared_o  (unit_answer_shared),
    .answer_mask_o    (unit_answer_mask),
    .fault_valid_o    (unit_fault),
    .fault_warp_o     (unit_fault_warp),
    .fault_cause_o    (unit_cause),
    .fault_value_o    (unit_value)
  );

  assign unit_take = started_q && in_valid_i && unit_ready;

  always_ff @(posedge clk_i) begin
    logic [2*LaneW-1:0] sum;
    taken_q   <= unit_take;
    mask_q    <= unit_in_mask[0];
    opcode_q  <= unit_in_instruction[0].op[6:0];
    space_q   <= in_op_i[29:28];
    size_q    <= in_op_i[30] ? 2'd2 : 2'd0;
    warp_q    <= in_warp_i;
    base_q    <= base_i;
    common_q  <= common_i;
    private_q <= private_i;
    bytes_q   <= bytes_i;
    refuse_q  <= refuse_i;
    for (int unsigned l = 0; l < Lanes; l++) begin
      sum = {in_b_i[LaneW*l +: LaneW], in_a_i[LaneW*l +: LaneW]} + {{40{in_op_i[63]}}, in_op_i[63:40]};
      sum_q[LaneW*l +: LaneW] <= sum[LaneW-1:0];
      inside_q[l]             <= unit_in_instruction[0].op[6:0] != 7'h46 &&
                                 (in_op_i[29:28] == 2'd1 || (in_op_i[29:28] == 2'd3 && sum[2*LaneW-1:LaneW] == 32'd1));
    end
  end

  logic silent, answers, common_lane, late_lane, refused_lane, placed, refuses;

  always_comb begin
    common_lane  = 1'b0;
    late_lane    = 1'b0;
    refused_lane = 1'b0;
    placed       = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (mask_q[l] && inside_q[l] && sum_q[LaneW*l +: LaneW] >= 32'(private_q) &&
          sum_q[LaneW*l +: LaneW] < 32'(bytes_q)) common_lane = 1'b1;
      if (mask_q[l] && inside_q[l] && sum_q[LaneW*l +: LaneW] >= 32'(private_q) &&
          unit_value == sum_q[LaneW*l +: LaneW]) late_lane = 1'b1;
      if (taken_q && unit_busy && mask_q[l] && inside_q[l] &&
          unit_addr[LaneW*l +: LaneW] != sum_q[LaneW*l +: LaneW] +
          ((sum_q[LaneW*l +: LaneW] < 32'(private_q)) ? 32'(base_q) : 32'(common_q))) placed = 1'b0;
      if (taken_q && unit_busy && mask_q[l] && inside_q[l] && sum_q[LaneW*l +: LaneW] >= 32'(private_q) &&
          refuse_q) refused_lane = 1'b1;
    end
    silent = !taken_q || (opcode_q != 7'h45 && opcode_q != 7'h08) ||
             (!unit_busy && !unit_fault && !unit_global && !unit_shared && !unit_constant && !unit_shuffle && unit_finish &&
              unit_finish_warp == warp_q);
    answers = unit_answer == (taken_q && (opcode_q == 7'h45 || opcode_q == 7'h08)) &&
              (!unit_answer || (unit_warp == warp_q && unit_answer_mask == mask_q &&
                                unit_answer_release == (opcode_q == 7'h08) &&
                                unit_answer_shared == (opcode_q == 7'h45 && common_lane)));
    refuses = !refused_lane && (!(unit_fault && unit_cause == 4'd14) || (taken_q && refuse_q && late_lane && opcode_q != 7'h45 && opcode_q != 7'h08));
  end

  always_comb begin
    if (started_q) begin
      must_grid_fits:           assert (grid_fits);
      must_warps_agree:         assert (agrees);
      must_states_agree:        assert (states_agree);
      must_locked_in_flight:    assert (in_flight_locked);
      must_honest_is_before:    assert (honest_safe);
      must_used_with_lock:      assert (used_locked);
      must_one_holder:          assert (alone);
      must_locks_in_order:      assert (in_order);
      must_one_user:            assert (one_user);
      thus_refused_rightly:     assert (refused);
      thus_older_never_waits:   assert (older_goes);
      thus_others_go:           assert (others_go);
      thus_younger_waits:       assert (younger_agrees);
      thus_atomics_are_held:    assert (atomics_agree);
      thus_first_waits:         assert (first_agrees);
      thus_probes_are_needed:   assert (probes_agree);
      must_probe_is_silent:     assert (silent);
      must_answer_is_true:      assert (answers);
      must_access_in_its_place: assert (placed);
      must_refuse_after_release: assert (refuses);
    end
  end

endmodule

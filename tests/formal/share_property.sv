// Of two warps that share registers one at a time accesses them, and the older block never waits.
//
// The environment turns free inputs into what launcher and warps do, and nothing less: a grid with
// hosts and guests, chosen once; blocks that are put into free slots, in any order, and begin warp by
// warp; heads with any names; instructions that stay in flight for any time. What a head may access is
// computed here from the page (docs/blocks/share_locks.md) a second time, by warps.
//
// In each cycle two registers of any warps are asked for, in any layout that fits the file: the places
// of different registers differ, and shared names of a guest have the host's places.
module share_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 4,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Banks = 4,
  parameter int unsigned Depth = 8,
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned SlotW = $clog2(BlockSlots),
  localparam int unsigned NamesW = 4 * RegW
) (
  input logic                          clk_i,

  // chosen once
  input share_straps_t                 cfg_i,
  input logic                          wide_i,         // a block has two warps, not one
  input logic                          hosts_i,        // of blocks of one warp: two hosts, not one
  input logic [1:0]                    guests_i,
  input logic [RegW-1:0]               private_i,

  // what launcher and warps would like to do
  input logic                          place_i,        // a block is put into a slot
  input logic [SlotW-1:0]              place_slot_i,
  input logic [Warps-1:0]              clear_i,
  input logic [Warps*NamesW-1:0]       names_i,
  input logic [Warps*WordW-1:0]        op_i,
  input logic [IssuePorts-1:0]         issue_i,
  input logic [IssuePorts*NumberW-1:0] issue_warp_i,
  input logic [IssuePorts-1:0]         stay_i,         // what issues is in flight then
  input logic [IssuePorts-1:0]         exit_i,         // or ends its warp
  input logic [Warps-1:0]              land_i,         // all that is in flight comes to its end
  input logic                          allow_i,        // non-owners may use memory

  // two registers
  input register_layout_t              layout_i,
  input logic [WarpW-1:0]              first_warp_i,
  input logic [RegW-1:0]               first_reg_i,
  input logic [WarpW-1:0]              second_warp_i,
  input logic [RegW-1:0]               second_reg_i,
  input logic [WarpW:0]                guest_warps_i
);

  // ------------------------------------------------------------------ environment
`include "sharing_grid.svh"

  share_straps_t         cfg_q;
  logic [RegW-1:0]       private_q;
  logic [Warps-1:0]      alive_q;
  logic [Warps-1:0]      flight_q;     // something of the warp is in flight
  logic [Warps-1:0]      touch_q;      // of that something accesses what is shared

  logic [NumberW-1:0]    partner    [Warps];
  logic [SlotW-1:0]      other_slot [Warps];
  logic [Warps-1:0]      issues, stays, exits;
  logic [Warps-1:0]      shared;       // the head has a name that is not private
  roles_t                roles      [Warps];
  logic [WordW-1:0]      op         [Warps];
  logic [Warps-1:0]      clear, clear_o, lead_o, last_o;
  logic [IssuePorts-1:0] issue_valid;
  logic [WarpW-1:0]      issue_warp [IssuePorts];
  register_layout_t      layout;
  share_event_t          event_o;

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) begin
      other_slot[w] = slot_partner[slot[w]];
      partner[w]    = (wide_q == 3'd2) ? NumberW'({other_slot[w], 1'(w)}) : NumberW'(other_slot[w]);
    end
  end

  assign ended = ~alive_q & ~flight_q;
  assign clear = started_q ? clear_i & alive_q : '0;

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) begin
      roles[w]   = '0;
      roles[w].a = names_i[NamesW*w +: RegW];
      roles[w].b = names_i[NamesW*w + RegW +: RegW];
      roles[w].c = names_i[NamesW*w + 2*RegW +: RegW];
      roles[w].d = names_i[NamesW*w + 3*RegW +: RegW];
      op[w]      = op_i[WordW*w +: WordW];
      shared[w]  = 1'b0;
      for (int unsigned k = 0; k < 4; k++) begin
        if (names_i[NamesW*w + RegW*k +: RegW] != NoReg &&
            !(names_i[NamesW*w + RegW*k +: RegW] < private_q)) shared[w] = 1'b1;
      end
    end
  end

  // Heads that are clear issue, each once.
  always_comb begin
    issues      = '0;
    stays       = '0;
    exits       = '0;
    issue_valid = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_warp[p] = WarpW'(issue_warp_i[NumberW*p +: NumberW]);
      for (int unsigned w = 0; w < Warps; w++) begin
        if (issue_i[p] && issue_warp_i[NumberW*p +: NumberW] == NumberW'(w) && clear_o[w] && !issues[w]) begin
          issue_valid[p] = 1'b1;
          issues[w]      = 1'b1;
          stays[w]       = stay_i[p];
          exits[w]       = exit_i[p];
        end
      end
    end
  end

  assign layout = '{guest_base: '0, host_warps: (WarpW+1)'(hosts_q * wide_q),
                    private_registers: private_q, registers: '1};

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      cfg_q     <= cfg_i;
      private_q <= private_i;
      alive_q   <= '0;
      flight_q  <= '0;
      touch_q   <= '0;
    end else begin
      flight_q <= (flight_q & ~land_i) | stays;
      touch_q  <= (touch_q & ~land_i) | (stays & shared);
      alive_q  <= (alive_q & ~(issues & ~stays & exits)) | (starting_q ? begins : '0);
    end
  end

  share_locks #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) dut (
    .clk_i,
    .rst_ni       (started_q),
    .cfg_i        (cfg_q),
    .clear_i      (clear),
    .head_roles_i (roles),
    .head_op_i    (op),
    .issue_valid_i(issue_valid),
    .issue_warp_i (issue_warp),
    .alive_i      (alive_q),
    .idle_i       (~flight_q),
    .layout_i     (layout),
    .end_warps_i  ((WarpW+1)'(slots_q * wide_q)),
    .slot_i       (slot_port),
    .slot_busy_i  (busy_q),
    .slot_young_i (young_q),
    .allow_i,
    .clear_o,
    .lead_o,
    .last_o,
    .event_o
  );

  // ------------------------------------------------------------------ who has a lock
  logic [Warps-1:0] lock;
  logic             agrees, touched, alone, in_order, one_block;
  logic             older_goes, others_go, younger_agrees, held_agrees, first_agrees, holders_go;
  logic [Warps-1:0] atomic, memory;

  assign lock = dut.lock_q;

  always_comb begin
    agrees    = 1'b1;
    touched   = 1'b1;
    alone     = 1'b1;
    in_order  = 1'b1;
    one_block = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      if ((alive_q[w] || flight_q[w]) && !begun[w]) agrees = 1'b0;
      if (touch_q[w] && !flight_q[w]) agrees = 1'b0;
      if (lock[w] && !(paired[w] && begun[w])) agrees = 1'b0;
      if (paired[w] && touch_q[w] && !lock[w]) touched = 1'b0;
      if (paired[w] && lock[w] && lock[partner[w]]) alone = 1'b0;
      if (!cfg_q.first && paired[w] && lock[w] && young_q[slot[w]] && busy_q[other_slot[w]] &&
          !ended[partner[w]]) in_order = 1'b0;
      for (int unsigned v = 0; v < Warps; v++) begin
        if (cfg_q.first && paired[w] && exists[v] && slot[v] == other_slot[w] && lock[w] && lock[v]) one_block = 1'b0;
      end
    end
  end

  // ------------------------------------------------------------------ who waits
  function automatic logic is_returning_atomic(logic [WordW-1:0] word, logic [RegW-1:0] result);
    return (word[6:0] == 7'h43 || word[6:0] == 7'h44) && word[29:28] != 2'd1 && result != NoReg;
  endfunction

  function automatic logic is_memory(logic [WordW-1:0] word);
    return ((word[6:0] == 7'h40 || word[6:0] == 7'h41 || word[6:0] == 7'h43 || word[6:0] == 7'h44) &&
            word[29:28] != 2'd1) || word[6:0] == 7'h46;
  endfunction

  always_comb begin
    older_goes     = 1'b1;
    others_go      = 1'b1;
    younger_agrees = 1'b1;
    held_agrees    = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      atomic[w] = is_returning_atomic(op[w], roles[w].d);
      memory[w] = is_memory(op[w]);
      if (clear[w] && !paired[w] && !clear_o[w]) others_go = 1'b0;
      if (clear[w] && paired[w] && !cfg_q.first) begin
        if (!young_q[slot[w]] && !clear_o[w]) older_goes = 1'b0;
        if (young_q[slot[w]]) begin
          if (busy_q[other_slot[w]] && ((cfg_q.hold && atomic[w]) || (!allow_i && memory[w]))) begin
            if (clear_o[w]) held_agrees = 1'b0;
          end else begin
            if (clear_o[w] != (!shared[w] || lock[w] || ended[partner[w]])) younger_agrees = 1'b0;
          end
        end
      end
      if (clear_o[w] && !clear[w]) others_go = 1'b0;
    end
  end

  // With the other rule a head that asks waits exactly if the partner block has a lock, or is older and
  // has a head that asks while the own block has no lock. So a block that has locks does not wait.
  always_comb begin
    logic theirs, own;
    first_agrees = 1'b1;
    holders_go   = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      theirs = 1'b0;
      own    = 1'b0;
      for (int unsigned v = 0; v < Warps; v++) begin
        if (exists[v] && slot[v] == slot[w] && lock[v]) own = 1'b1;
      end
      for (int unsigned v = 0; v < Warps; v++) begin
        if (exists[v] && slot[v] == other_slot[w] &&
            (lock[v] || (young_q[slot[w]] && !own && clear[v] && shared[v]))) theirs = 1'b1;
      end
      if (cfg_q.first && allow_i && clear[w] && paired[w] && own && !clear_o[w]) holders_go = 1'b0;
      if (cfg_q.first && allow_i && clear[w] && paired[w] &&
          clear_o[w] != (!shared[w] || lock[w] || !theirs)) first_agrees = 1'b0;
    end
  end

  // ------------------------------------------------------------------ places
  localparam int unsigned BankW = $clog2(Banks);
  localparam int unsigned EntryW = $clog2(Depth);

  logic [BankW-1:0]  first_bank, second_bank, host_bank;
  logic [EntryW-1:0] first_entry, second_entry, host_entry;
  logic              layout_fits, first_own, second_own, first_guest, first_shared, differ, same;
  logic [31:0]       host_registers;

  register_places #(.Banks(Banks), .Depth(Depth)) u_first (
    .warp_i(first_warp_i), .reg_i(first_reg_i), .layout_i, .bank_o(first_bank), .entry_o(first_entry)
  );
  register_places #(.Banks(Banks), .Depth(Depth)) u_second (
    .warp_i(second_warp_i), .reg_i(second_reg_i), .layout_i, .bank_o(second_bank), .entry_o(second_entry)
  );
  register_places #(.Banks(Banks), .Depth(Depth)) u_host (
    .warp_i(first_warp_i - WarpW'(layout_i.host_warps)), .reg_i(first_reg_i), .layout_i,
    .bank_o(host_bank), .entry_o(host_entry)
  );

  assign host_registers = 32'(layout_i.host_warps) * 32'(layout_i.registers);
  assign first_guest    = (WarpW+1)'(first_warp_i) >= layout_i.host_warps;

  always_comb begin
    layout_fits = host_registers + 32'(guest_warps_i) * 32'(layout_i.private_registers) <= Banks * Depth &&
                  32'(layout_i.guest_base) == host_registers && guest_warps_i <= layout_i.host_warps &&
                  layout_i.private_registers <= layout_i.registers &&
                  32'(layout_i.host_warps) + 32'(guest_warps_i) <= 64;
    first_own  = first_guest ? first_reg_i < layout_i.private_registers &&
                               32'(first_warp_i) < 32'(layout_i.host_warps) + 32'(guest_warps_i)
                             : first_reg_i < layout_i.registers;
    first_shared = layout_fits && first_guest && first_reg_i >= layout_i.private_registers &&
                   32'(first_warp_i) < 32'(layout_i.host_warps) + 32'(guest_warps_i);
    second_own = ((WarpW+1)'(second_warp_i) >= layout_i.host_warps)
                 ? second_reg_i < layout_i.private_registers &&
                   32'(second_warp_i) < 32'(layout_i.host_warps) + 32'(guest_warps_i)
                 : second_reg_i < layout_i.registers;
    differ     = {first_warp_i, first_reg_i} == {second_warp_i, second_reg_i} ||
                 {first_bank, first_entry} != {second_bank, second_entry};
    same       = {first_bank, first_entry} == {host_bank, host_entry};
  end

  always_comb begin
    if (started_q) begin
      must_grid_fits:           assert (grid_fits);
      must_warps_agree:         assert (agrees);
      must_touched_with_lock:   assert (touched);
      must_one_holder:          assert (alone);
      must_locks_in_order:      assert (in_order);
      must_one_block:           assert (one_block);
      thus_older_never_waits:   assert (older_goes);
      thus_others_go:           assert (others_go);
      thus_younger_waits:       assert (younger_agrees);
      thus_atomics_are_held:    assert (held_agrees);
      thus_first_waits:         assert (first_agrees);
      thus_holders_go:          assert (holders_go);
      thus_places_differ:       assert (!(layout_fits && first_own && second_own) || differ);
      thus_guest_has_hosts:     assert (!first_shared || same);
    end
  end

endmodule

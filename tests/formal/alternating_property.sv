// What the proof of the hybrid register file assumes of its scheduler holds.
//
// At most one slot is open; between two warps there is a cycle without one; a slot is flushed only
// when no instruction of its warp is in the collectors and no short result is on its way, and is
// given up only when the register file has answered; a warp comes back only when nothing of it is
// on its way; of the same parity as the one before only if no other is ready.
//
// The environment is a scoreboard and nothing more: a register is on its way once at most, a result
// comes for what is on its way. Warps live, wait, end and have heads as the inputs say, in any order.
module alternating_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 4,
  localparam int unsigned Registers = 2**RegW - 1,  // the last name means none
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned ResidentW = 6,
  localparam int unsigned CountW = 8,
  localparam int unsigned PatienceW = 12
) (
  input logic                 clk_i,
  input logic [PatienceW-1:0] cfg_i,             // chosen once

  input logic [Warps-1:0]     clear_i,
  input logic [Warps-1:0]     operand_i,
  input logic [Warps-1:0]     head_valid_i,
  input logic [Warps-1:0]     mark_i,
  input logic                 ready_i,
  input logic                 stop_i,
  input logic [Warps-1:0]     alive_i,
  input logic [Warps-1:0]     held_i,
  input logic                 set_i,             // what issues goes to the operand stage
  input logic [RegW-1:0]      set_d_i,
  input logic                 set_long_i,
  input logic                 dispatch_i,
  input logic                 reg_i,             // a result comes
  input logic [NumberW-1:0]   reg_warp_i,
  input logic [RegW-1:0]      reg_name_i,
  input logic [Parities-1:0]  flush_done_i
);

  localparam int unsigned MostResident = 16;  // collectors

  logic                 started_q = 1'b0;
  logic [PatienceW-1:0] cfg_q;
  logic [Registers-1:0] pending_q [Warps];   // results on their way
  logic [Registers-1:0] long_q    [Warps];   // those that take long
  logic [ResidentW-1:0] resident_q;          // instructions in the collectors
  logic [WarpW-1:0]     resident_warp_q;     // whose
  logic [Parities-1:0]  open_last_q;
  logic [Parities-1:0]  flush_last_q;
  logic [Parities-1:0]  done_last_q;

  logic                 issue_valid, issue_slot;
  logic [WarpW-1:0]     issue_warp;
  logic [Warps-1:0]     pop, active;
  logic [Parities-1:0]  slot_valid, flush, drop, open;
  logic [WarpW-1:0]     slot_warp [Parities];
  alternating_event_t   counted;

  logic                 set_valid, writes, dispatch_valid, reg_valid;
  logic [NumberW-1:0]   issuer;

  assign open   = slot_valid & ~flush;
  assign issuer = issue_warp[NumberW-1:0];

  // An instruction issues only if its destination is not on its way.
  assign set_valid      = set_i && issue_valid && resident_q < ResidentW'(MostResident) &&
                          (set_d_i == NoReg || !pending_q[issuer][set_d_i]);
  assign writes         = set_valid && set_d_i != NoReg;
  assign dispatch_valid = dispatch_i && resident_q != '0;
  assign reg_valid      = reg_i && reg_name_i != NoReg && pending_q[reg_warp_i][reg_name_i];

  always_ff @(posedge clk_i) begin
    started_q    <= 1'b1;
    open_last_q  <= open;
    flush_last_q <= flush;
    done_last_q  <= flush_done_i;
    if (!started_q) begin
      cfg_q        <= cfg_i;
      pending_q    <= '{default: '0};
      long_q       <= '{default: '0};
      resident_q   <= '0;
      open_last_q  <= '0;
      flush_last_q <= '0;
    end else begin
      resident_q <= resident_q + ResidentW'(set_valid) - ResidentW'(dispatch_valid);
      if (set_valid) resident_warp_q <= issue_warp;
      if (writes) begin
        pending_q[issuer][set_d_i] <= 1'b1;
        long_q[issuer][set_d_i]    <= set_long_i;
      end
      if (reg_valid) pending_q[reg_warp_i][reg_name_i] <= 1'b0;
    end
  end

  alternating_scheduler #(
    .Warps(Warps)
  ) dut (
    .clk_i,
    .rst_ni          (started_q),
    .cfg_i           (cfg_q),
    .clear_i,
    .operand_i,
    .head_valid_i,
    .mark_i,
    .ready_i,
    .stop_i,
    .alive_i,
    .held_i,
    .set_valid_i     (set_valid),
    .set_d_i,
    .set_long_i,
    .dispatch_valid_i(dispatch_valid),
    .dispatch_warp_i (resident_warp_q),
    .reg_valid_i     (reg_valid),
    .reg_warp_i      (WarpW'(reg_warp_i)),
    .reg_i           (reg_name_i),
    .flush_done_i,
    .issue_valid_o   (issue_valid),
    .issue_warp_o    (issue_warp),
    .pop_o           (pop),
    .issue_slot_o    (issue_slot),
    .active_o        (active),
    .slot_valid_o    (slot_valid),
    .slot_warp_o     (slot_warp),
    .flush_o         (flush),
    .drop_o          (drop),
    .event_o         (counted)
  );

  // ------------------------------------------------------------------ the properties
  logic one_open_slot;          // never two, and a cycle without one between two warps
  logic flush_waits;            // for instructions and short results
  logic slot_is_kept;           // until the register file has answered
  logic parity_is_kept;
  logic comes_back_complete;    // a warp that is taken has nothing on its way
  logic turns_are_kept;
  logic issuer_is_open;

  always_comb begin
    one_open_slot       = open != '1 && (open == '0 || open_last_q == '0 || open == open_last_q);
    flush_waits         = 1'b1;
    slot_is_kept        = 1'b1;
    parity_is_kept      = 1'b1;
    comes_back_complete = 1'b1;
    turns_are_kept      = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (flush[b] && !flush_last_q[b] && open == '0) begin
        if (resident_q != '0) flush_waits = 1'b0;
        if ((pending_q[slot_warp[b][NumberW-1:0]] & ~long_q[slot_warp[b][NumberW-1:0]]) != '0) begin
          flush_waits = 1'b0;
        end
      end
      if (flush[b] && !flush_last_q[b] && !open_last_q[b])           slot_is_kept = 1'b0;
      if (open_last_q[b] && !slot_valid[b])                          slot_is_kept = 1'b0;
      if (flush_last_q[b] && !done_last_q[b] && !flush[b])           slot_is_kept = 1'b0;
      if (slot_valid[b] && (slot_warp[b][0] != 1'(b) || slot_warp[b] >= WarpW'(Warps))) begin
        parity_is_kept = 1'b0;
      end
    end
    if (counted.activate && pending_q[dut.take_warp[NumberW-1:0]] != '0) begin
      comes_back_complete = 1'b0;
    end
    if (counted.same_parity && dut.other != '0) turns_are_kept = 1'b0;
    issuer_is_open = !issue_valid || (open[issue_slot] && slot_warp[issue_slot] == issue_warp);
  end

  // ------------------------------------------------------------------ why they hold
  logic counts_agree;
  logic states_agree;

  // Of a warp that is not current only what takes long is on its way.
  always_comb begin
    counts_agree = dut.state_q == 2'd0 ? resident_q == '0 : dut.resident_q == resident_q;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (dut.long_count_q[w] != CountW'($countones(pending_q[w] & long_q[w]))) counts_agree = 1'b0;
      if (dut.state_q != 2'd0 && dut.warp == WarpW'(w)) begin
        if (dut.short_q != CountW'($countones(pending_q[w] & ~long_q[w]))) counts_agree = 1'b0;
        for (int unsigned r = 0; r < Registers; r++) begin
          if (pending_q[w][r] && dut.long_q[r] != long_q[w][r]) counts_agree = 1'b0;
        end
      end else if ((pending_q[w] & ~long_q[w]) != '0) begin
        counts_agree = 1'b0;
      end
    end
  end

  always_comb begin
    states_agree = dut.state_q <= 2'd2 && !(dut.state_q != 2'd0 && dut.flush_q[dut.current_q]) &&
                   (resident_q == '0 || (dut.state_q != 2'd0 && resident_warp_q == dut.warp)) &&
                   resident_q <= ResidentW'(MostResident);
  end

  always_comb begin
    if (started_q) begin
      must_one_open_slot:       assert (one_open_slot);
      must_flush_waits:         assert (flush_waits);
      must_slot_is_kept:        assert (slot_is_kept);
      must_parity_is_kept:      assert (parity_is_kept);
      must_comes_back_complete: assert (comes_back_complete);
      must_turns_are_kept:      assert (turns_are_kept);
      must_issuer_is_open:      assert (issuer_is_open);
      must_counts_agree:        assert (counts_agree);
      must_states_agree:        assert (states_agree);
    end
  end

endmodule

// Scheduler with one active warp: even and odd warps take turns.
//
// The scheduler of the hybrid register file (hybrid paper, 4.3 and 6.1: "two consecutively activated
// warps are from two different banks"). The active warp gives up its turn when its next instruction needs a
// value from memory, at a barrier, when it has issued for long while others are ready, and at
// its end. Its instructions in flight are awaited. Then the register file empties what it keeps of the warp.
// Meanwhile the next warp is active, one of the other parity if any of them is ready.
//
//   none       no current warp: the next one is selected
//   active     the current warp issues
//   draining   its instructions in the collectors and its short results are awaited
//
// Each parity has a slot. The slot belongs to the current warp of that parity, and stays with this warp
// until the register file keeps nothing of it any more.
`include "gpurf_assert.svh"

module alternating_scheduler
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  localparam int unsigned CfgW = 12
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [CfgW-1:0]     cfg_i,                    // patience

  // heads of the warps
  input  logic [Warps-1:0]    clear_i,                  // no dependence keeps the head from issuing
  input  logic [Warps-1:0]    operand_i,                // goes to the operand stage
  input  logic [Warps-1:0]    head_valid_i,
  input  logic [Warps-1:0]    mark_i,                   // head needs a long-latency value
  input  logic                ready_i,                  // the operand stage accepts an instruction
  input  logic                stop_i,

  // warps
  input  logic [Warps-1:0]    alive_i,
  input  logic [Warps-1:0]    held_i,                   // wait at a barrier

  // an instruction goes to the operand stage
  input  logic                set_valid_i,
  input  logic [RegW-1:0]     set_d_i,
  input  logic                set_long_i,

  // an instruction leaves the operand stage
  input  logic                dispatch_valid_i,
  input  logic [WarpW-1:0]    dispatch_warp_i,

  // a register has its final value
  input  logic                reg_valid_i,
  input  logic [WarpW-1:0]    reg_warp_i,
  input  logic [RegW-1:0]     reg_i,

  // the register file keeps nothing of the slot any more
  input  logic [Parities-1:0] flush_done_i,

  // decisions
  output logic                issue_valid_o,
  output logic [WarpW-1:0]    issue_warp_o,
  output logic [Warps-1:0]    pop_o,
  output logic                issue_slot_o,
  output logic [Warps-1:0]    active_o,                 // warp is active and does not give up in this cycle

  // slots
  output logic [Parities-1:0] slot_valid_o,
  output logic [WarpW-1:0]    slot_warp_o  [Parities],
  output logic [Parities-1:0] flush_o,
  output logic [Parities-1:0] drop_o,

  output alternating_event_t  event_o
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned PatienceW = CfgW;
  localparam int unsigned ResidentW = 6;
  localparam int unsigned CountW = 8;
  localparam int unsigned Registers = 2**RegW;
  localparam int unsigned EventW = 6;

  typedef enum logic [1:0] {
    None     = 2'd0,
    Active   = 2'd1,
    Draining = 2'd2
  } state_e;

  localparam logic [Warps-1:0] EvenWarps = Warps'({WarpSetW / 2{2'b01}});

  logic [1:0]           state_q;
  logic                 current_q;               // slot of the current or the last warp
  logic [Parities-1:0]  flush_q;
  logic [Parities-1:0]  drop_q;                  // the warp has ended
  logic [WarpW-1:0]     slot_warp_q  [Parities];
  logic [WarpW-1:0]     outer_q [Parities];      // where the search for the next warp of a parity begins

  // the current warp
  logic                 fresh_q;                 // nothing has issued yet
  logic [PatienceW-1:0] issued_q;
  logic [ResidentW-1:0] resident_q;              // instructions in the operand stage
  logic [CountW-1:0]    short_q;                 // pending short results
  logic [Registers-1:0] long_q;                  // registers whose results are counted as long

  // of every warp
  logic [CountW-1:0]    long_count_q [Warps];    // pending long-latency results; they may outlive the turn

  logic [WarpW-1:0]     warp;                    // the current warp
  logic [IndexW-1:0]    warp_index;
  logic                 is_current;              // there is a current warp
  logic                 is_active;
  logic [Warps-1:0]     in_slot;
  logic [Warps-1:0]     no_long;
  logic [Warps-1:0]     ready;                   // warps that may become active
  logic [Warps-1:0]     other;                   // of these, warps of the other parity
  logic [Warps-1:0]     wanted;                  // warps among which the next one is selected
  logic                 turn;                    // parity of the next warp
  logic                 take;                    // a warp becomes active
  logic [WarpW-1:0]     take_warp;
  logic                 leave;
  logic                 leave_end;               // the warp gives up, by cause
  logic                 leave_barrier;
  logic                 leave_mark;
  logic                 leave_patience;
  logic                 drained;                 // the slot is flushed from the next cycle on
  logic                 set;
  logic                 set_short;
  logic                 set_long;
  logic                 gone;                    // an instruction of the current warp leaves the operand stage
  logic                 reg_short;               // the result is one of those counted in short_q

  // ------------------------------------------------------------------ slots
  assign is_current  = state_q != None;
  assign is_active   = state_q == Active;
  assign warp        = slot_warp_q[current_q];
  assign warp_index  = IndexW'(warp);
  assign slot_warp_o = slot_warp_q;
  assign flush_o     = flush_q;
  assign drop_o      = flush_q & drop_q;

  always_comb begin
    slot_valid_o = flush_q;
    if (is_current) slot_valid_o[current_q] = 1'b1;
    in_slot = '0;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (slot_valid_o[b]) in_slot[IndexW'(slot_warp_q[b])] = 1'b1;
    end
  end

  always_comb begin
    for (int unsigned w = 0; w < Warps; w++) no_long[w] = long_count_q[w] == '0;
  end

  // ------------------------------------------------------------------ the next warp
  assign ready = alive_i & ~held_i & ~in_slot & no_long;

  // The other parity is preferred if one of its warps is ready.
  always_comb begin
    other     = ready & (current_q ? EvenWarps : ~EvenWarps);
    turn      = (other != '0) ? ~current_q : current_q;
    wanted    = (other != '0) ? other : ready;
    take      = !is_current && wanted != '0 && !flush_q[turn];
    take_warp = next_warp(WarpSetW'(wanted), outer_q[turn]);
  end

  // ------------------------------------------------------------------ giving up
  always_comb begin
    active_o       = '0;
    leave_end      = 1'b0;
    leave_barrier  = 1'b0;
    leave_mark     = 1'b0;
    leave_patience = 1'b0;
    if (is_active) begin
      if (!alive_i[warp_index]) begin
        leave_end = 1'b1;
      end else if (held_i[warp_index]) begin
        leave_barrier = 1'b1;
      end else if (!fresh_q && head_valid_i[warp_index] && mark_i[warp_index]) begin
        leave_mark = 1'b1;
      end else if (cfg_i != '0 && issued_q >= cfg_i && ready != '0) begin
        leave_patience = 1'b1;
      end else begin
        active_o[warp_index] = 1'b1;
      end
    end
    leave   = leave_end | leave_barrier | leave_mark | leave_patience;
    drained = state_q == Draining && resident_q == '0 && short_q == '0;
  end

  // ------------------------------------------------------------------ issue
  always_comb begin
    pop_o         = '0;
    issue_valid_o = 1'b0;
    issue_warp_o  = '0;
    issue_slot_o  = 1'b0;
    // slot_warp_q has no reset: without an active warp its value may be no number of a warp.
    if (is_active && !stop_i && active_o[warp_index] && clear_i[warp_index] &&
        (!operand_i[warp_index] || ready_i)) begin
      issue_valid_o     = 1'b1;
      issue_warp_o      = warp;
      issue_slot_o      = current_q;
      pop_o[warp_index] = 1'b1;
    end
  end

  // ------------------------------------------------------------------ counts
  assign set       = set_valid_i & issue_valid_o;
  assign set_short = set && set_d_i != NoReg && !set_long_i;
  assign set_long  = set && set_d_i != NoReg && set_long_i;
  assign gone      = dispatch_valid_i && is_current && dispatch_warp_i == warp;
  assign reg_short = reg_valid_i && is_current && reg_warp_i == warp && !long_q[reg_i];

  // A warp may gain and lose a long-latency result at the same edge: its count stays.
  always_ff @(posedge clk_i) begin : long_counts
    logic gains;
    logic loses;
    if (!rst_ni) begin
      long_count_q <= '{default: '0};
    end else begin
      gains = set_long;
      loses = reg_valid_i & ~reg_short;
      if (!(gains && loses && reg_warp_i == warp)) begin
        if (gains) long_count_q[warp_index] <= long_count_q[warp_index] + 1'b1;
        if (loses) begin
          long_count_q[IndexW'(reg_warp_i)] <= long_count_q[IndexW'(reg_warp_i)] - 1'b1;
        end
      end
    end
  end

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= None;
      current_q <= 1'b1;
      flush_q   <= '0;
      drop_q    <= '0;
      outer_q   <= '{default: '0};
      fresh_q   <= 1'b0;
    end else begin
      flush_q <= flush_q & ~flush_done_i;
      case (state_q)
        None:    if (take)  state_q <= Active;
        Active:  if (leave) state_q <= Draining;
        default: begin
          if (drained) begin
            state_q            <= None;
            flush_q[current_q] <= 1'b1;
            drop_q[current_q]  <= ~alive_i[warp_index];
          end
        end
      endcase
      if (take) begin
        current_q     <= turn;
        drop_q[turn]  <= 1'b0;
        outer_q[turn] <= (take_warp == WarpW'(Warps - 1)) ? '0 : take_warp + 1'b1;
        fresh_q       <= 1'b1;
      end else if (issue_valid_o) begin
        fresh_q <= 1'b0;
      end
    end
  end

  // These registers have no reset: they have no meaning without a current warp.
  always_ff @(posedge clk_i) begin
    if (take) begin
      slot_warp_q[turn] <= take_warp;
      issued_q          <= '0;
      resident_q        <= '0;
      short_q           <= '0;
      long_q            <= '0;
    end else if (is_current) begin
      if (issue_valid_o && issued_q != '1) issued_q <= issued_q + 1'b1;
      resident_q <= resident_q + ResidentW'(set) - ResidentW'(gone);
      short_q    <= short_q + CountW'(set_short) - CountW'(reg_short);
      if (set && set_d_i != NoReg) long_q[set_d_i] <= set_long_i;
    end
  end

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o.activate       = take;
    event_o.same_parity    = take && turn == current_q;
    event_o.leave_end      = leave_end;
    event_o.leave_barrier  = leave_barrier;
    event_o.leave_mark     = leave_mark;
    event_o.leave_patience = leave_patience;
    event_o.active         = is_active;
    event_o.drain          = state_q == Draining;
    event_o.flush          = 2'($countones(flush_q));
    event_o.stall_switch   = !is_current && wanted != '0 && flush_q[turn];
    event_o.stall_ready    = !is_current && alive_i != '0 && ready == '0;
    event_o.ready          = EventW'($countones(ready));
    event_o.pending        = EventW'($countones(alive_i));
    if (is_current && alive_i[warp_index]) event_o.pending = event_o.pending - 1'b1;
  end

  `GPURF_ASSERT_WHEN(resident_not_below_zero, gone, resident_q != '0,
                     "more instructions left the operand stage than the warp has there")
  `GPURF_ASSERT_WHEN(short_not_below_zero, reg_short, short_q != '0,
                     "more results came than the warp waits for")
  `GPURF_ASSERT_WHEN(long_not_below_zero, reg_valid_i && !reg_short,
                     long_count_q[IndexW'(reg_warp_i)] != '0,
                     "a result came that no warp waits for")
  `GPURF_ASSERT_WHEN(dispatch_is_current, dispatch_valid_i,
                     is_current && dispatch_warp_i == warp,
                     "an instruction left the operand stage whose warp is not current")
  for (genvar s = 0; s < 2; s++) begin : gen_check
    `GPURF_ASSERT_WHEN(warp_of_slot, slot_valid_o[s],
                       32'(slot_warp_q[s]) < Warps && slot_warp_q[s][0] == 1'(s),
                       "a slot has a warp of the other parity, or one that does not exist")
  end
  `GPURF_ASSERT_WHEN(current_is_no_flush, is_current, !flush_q[current_q],
                     "the current warp's slot is being flushed")
  `GPURF_ASSERT(one_slot_a_warp, $countones(in_slot) == $countones(slot_valid_o),
                "a warp is in two slots")

endmodule

// No access meets a register that is not ON, and no value is lost unless an instruction says so.
//
// One warp, chosen freely, is followed with all its registers; the states of the others do not
// matter to it, and what is said of them at the ports is free. The environment turns free inputs into
// traffic that the neighbours guarantee, and nothing less: instructions that go to the operand stage
// are heads that are clear; they are dispatched in order, at any time; a result is written at any
// time after that; a register that goes to no word of the main register file is written while no
// instruction in progress accesses it; of registers that wait for a result no head is clear; what the
// table says is free.
//
// What an instruction says of a register, and how long a wake-up takes, is computed here from the
// page (docs/blocks/power_states.md), by registers; the block does it by places of names.
//
// `changes_agree` says what the states of registers with accesses in progress have to be, and
// `traffic_agrees` what is in progress at the same time. Everything holds one cycle after reset, and
// whenever it holds in a cycle, in the next one.
module power_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 2,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Places = 3,                // instructions of the warp in the operand stage, at most
  localparam int unsigned Registers = 2**RegW - 1,  // the last name means none
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned NamesW = (Operands + 1) * RegW,
  localparam int unsigned CountW = $clog2(Places + 1),
  localparam int unsigned WakeW = 4
) (
  input logic                             clk_i,

  // chosen once
  input power_straps_t                    cfg_i,
  input logic [NumberW-1:0]               star_i,           // the warp that is followed

  // what the neighbours would like to do: the warp that is followed
  input logic                             start_i,          // it begins
  input logic                             idle_i,           // what it has in flight writes no register
  input logic                             head_i,           // it has a head
  input logic [NamesW-1:0]                head_names_i,
  input logic                             pop_i,            // the head issues
  input logic                             set_i,            // and goes to the operand stage
  input logic                             exit_i,           // or ends the warp
  input logic                             set_port_i,
  input logic [ControlPowerW-1:0]         set_states_i,
  input logic [IssuePorts-1:0]            read_i,           // an instruction is dispatched
  input logic                             read_swap_i,      // of two the older one on port 1
  input logic [IssuePorts-1:0]            reg_i,            // a result is written
  input logic [IssuePorts*RegW-1:0]       reg_name_i,
  input logic [Operands*IssuePorts-1:0]   read_keep_i,
  input logic [IssuePorts-1:0]            reg_keep_i,

  // and all the others
  input logic [Warps-1:0]                 others_clear_i,
  input logic [Warps*NamesW-1:0]          others_names_i,
  input logic [Warps-1:0]                 others_alive_i,
  input logic [Warps-1:0]                 others_idle_i,
  input logic                             others_start_i,
  input logic [NumberW-1:0]               others_start_warp_i,
  input logic [IssuePorts-1:0]            others_set_i,
  input logic [IssuePorts*NumberW-1:0]    others_set_warp_i,
  input logic [IssuePorts*NamesW-1:0]     others_set_names_i,
  input logic [IssuePorts*ControlPowerW-1:0] others_set_states_i,
  input logic [IssuePorts-1:0]            others_read_i,
  input logic [IssuePorts*NumberW-1:0]    others_read_warp_i,
  input logic [IssuePorts*NamesW-1:0]     others_read_names_i,
  input logic [IssuePorts*ControlPowerW-1:0] others_read_states_i,
  input logic [IssuePorts-1:0]            others_reg_i,
  input logic [IssuePorts*NumberW-1:0]    others_reg_warp_i,
  input logic                             launch_i,
  input logic [RegW-1:0]                  launch_registers_i
);

  // Registers of an instruction, and what it says of them.
  typedef struct packed {
    logic [RegW-1:0] d;
    logic [RegW-1:0] c;
    logic [RegW-1:0] b;
    logic [RegW-1:0] a;
  } names_t;

  typedef struct packed {
    names_t                   names;
    logic [ControlPowerW-1:0] states;
  } access_t;

  // ------------------------------------------------------------------ environment
  logic                      started_q = 1'b0;
  power_straps_t             cfg_q;
  logic [NumberW-1:0]        star_q;

  logic                      alive_q;
  logic                      head_q;                       // it has a head
  names_t                    head_names_q;
  access_t                   place_q       [Places];       // in the operand stage; element 0 is the oldest
  logic [CountW-1:0]         count_q;
  logic [Registers-1:0]      result_q;                     // results on their way
  logic [RegisterPowerW-1:0] result_left_q [Registers];    // what their instructions say
  logic [RegW-1:0]           registers_q;                  // registers of a thread

  logic [Registers-1:0]      head_needs;
  logic                      empty;                        // nothing of the warp is on its way
  logic                      idle;
  logic                      clear, popped, set, started;
  access_t                   set_access;
  logic                      set_port;
  logic [CountW-1:0]         reads;                        // instructions that are dispatched
  logic [IssuePorts-1:0]     read_star;
  logic [CountW-1:0]         read_place [IssuePorts];
  access_t                   read_access [IssuePorts];
  logic [IssuePorts-1:0]     reg_star;
  logic [IssuePorts-1:0]     reg_above;                    // written above the main register file alone
  logic [Registers-1:0]      undispatched;                 // results of instructions in the operand stage
  logic [Registers-1:0]      in_stage;                     // registers that they access
  logic [Registers-1:0]      written;
  logic [CountW-1:0]         count_left;

  logic [Warps-1:0]          clear_o;
  power_event_t              event_o;
  power_wait_event_t         wait_event_o;

  function automatic logic reads_name(names_t names, logic [RegW-1:0] register);
    return names.a == register || names.b == register || names.c == register;
  endfunction

  function automatic logic accesses(names_t names, logic [RegW-1:0] register);
    return reads_name(names, register) || names.d == register;
  endfunction

  // The state in which an instruction that accesses a register leaves it.
  function automatic logic [RegisterPowerW-1:0] left(access_t access, logic [RegW-1:0] register);
    logic [1:0] earlier;  // sources in front of the one that counts
    earlier = 2'd0;
    if (access.names.a != register) begin
      earlier = 2'(access.names.a != NoReg);
      if (access.names.b != register) earlier = earlier + 2'(access.names.b != NoReg);
    end
    if (cfg_q.mode == PowerModeSleepAlways) return RegisterSleep;
    if (access.names.d == register)         return access.states[5:4];
    if (earlier == 2'd0)                    return access.states[1:0];
    if (earlier == 2'd1)                    return access.states[3:2];
    return RegisterSleep;
  endfunction

  // A source that is not the result, and whose state changes when it has been read.
  function automatic logic changes(access_t access, logic [RegW-1:0] register);
    return reads_name(access.names, register) && access.names.d != register &&
           left(access, register) != RegisterOn;
  endfunction

  function automatic roles_t roles_of(names_t names);
    roles_of   = '0;
    roles_of.a = names.a;
    roles_of.b = names.b;
    roles_of.c = names.c;
    roles_of.d = names.d;
  endfunction

  // The scoreboard: no head is clear one of whose registers waits for a result.
  always_comb begin
    for (int unsigned r = 0; r < Registers; r++) head_needs[r] = accesses(head_names_q, RegW'(r));
  end

  assign clear      = started_q && head_q && (head_needs & result_q) == '0;
  assign popped     = clear && clear_o[star_q] && pop_i;
  assign set        = popped && set_i && count_left < CountW'(Places);
  assign set_access = '{names: head_names_q, states: set_states_i};
  assign set_port   = set_port_i && IssuePorts > 1;
  assign empty      = count_q == '0 && result_q == '0;
  assign idle       = empty && idle_i;
  assign started    = started_q && start_i && !alive_q && idle;

  // In order.
  always_comb begin
    reads       = '0;
    read_star   = '0;
    read_place  = '{default: '0};
    read_access = '{default: '0};
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (read_i[p] && reads < count_q) begin
        read_star[p]  = 1'b1;
        read_place[p] = reads;
        reads         = reads + 1'b1;
      end
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (reads == CountW'(2) && read_swap_i) read_place[p] = CountW'(1 - p);
      for (int unsigned e = 0; e < Places; e++) begin
        if (read_place[p] == CountW'(e)) read_access[p] = place_q[e];
      end
    end
    count_left = count_q - reads;
  end

  // Behind the dispatch of its instruction, once.
  always_comb begin
    undispatched = '0;
    in_stage     = '0;
    for (int unsigned r = 0; r < Registers; r++) begin
      for (int unsigned e = 0; e < Places; e++) begin
        if (CountW'(e) < count_q && place_q[e].names.d == RegW'(r)) undispatched[r] = 1'b1;
        if (CountW'(e) < count_q && accesses(place_q[e].names, RegW'(r))) in_stage[r] = 1'b1;
      end
    end
    written   = '0;
    reg_star  = '0;
    reg_above = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned r = 0; r < Registers; r++) begin
        if (reg_i[p] && reg_name_i[RegW*p +: RegW] == RegW'(r) && result_q[r] &&
            !undispatched[r] && !written[r]) begin
          reg_star[p] = 1'b1;
          written[r]  = 1'b1;
        end
        if (reg_i[p] && reg_name_i[RegW*p +: RegW] == RegW'(r) && !result_q[r] && !in_stage[r]) begin
          reg_above[p] = 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q       <= cfg_i;
      star_q      <= star_i;
      alive_q     <= 1'b0;
      head_q      <= 1'b0;
      count_q     <= '0;
      result_q    <= '0;
      registers_q <= '0;
    end else begin
      if (launch_i) registers_q <= launch_registers_i;
      if (started) alive_q <= 1'b1;
      if (popped && !set && exit_i) alive_q <= 1'b0;

      // A head stays until it issues.
      if (popped) head_q <= 1'b0;
      if ((!head_q || popped) && head_i && alive_q && !(popped && !set && exit_i)) begin
        head_q       <= 1'b1;
        head_names_q <= head_names_i;
      end

      count_q <= count_left + CountW'(set);
      for (int unsigned e = 0; e < Places; e++) begin
        for (int unsigned f = e; f < Places; f++) begin
          if (reads == CountW'(f - e)) place_q[e] <= place_q[f];
        end
        if (set && count_left == CountW'(e)) place_q[e] <= set_access;
      end

      result_q <= result_q & ~written;
      for (int unsigned r = 0; r < Registers; r++) begin
        if (set && head_names_q.d == RegW'(r)) begin
          result_q[r]      <= 1'b1;
          result_left_q[r] <= left(set_access, RegW'(r));
        end
      end
    end
  end

  // ------------------------------------------------------------------ the ports
  logic [Warps-1:0]         clear_i, alive_w, idle_w;
  roles_t                   head_roles  [Warps];
  logic [IssuePorts-1:0]    set_valid, read_valid, reg_valid;
  logic [WarpW-1:0]         set_warp    [IssuePorts];
  roles_t                   set_roles   [IssuePorts];
  logic [ControlPowerW-1:0] set_states  [IssuePorts];
  logic [WarpW-1:0]         read_warp   [IssuePorts];
  roles_t                   read_roles  [IssuePorts];
  logic [ControlPowerW-1:0] read_states [IssuePorts];
  logic [WarpW-1:0]         reg_warp    [IssuePorts];
  logic [RegW-1:0]          reg_name    [IssuePorts];
  logic                     start_valid;
  logic [NumberW-1:0]       start_warp;

  always_comb begin
    clear_i = others_clear_i;
    alive_w = others_alive_i;
    idle_w  = others_idle_i;
    for (int unsigned w = 0; w < Warps; w++) begin
      head_roles[w] = roles_of(others_names_i[NamesW*w +: NamesW]);
      if (star_q == NumberW'(w)) begin
        clear_i[w]    = clear;
        alive_w[w]    = alive_q;
        idle_w[w]     = idle;
        head_roles[w] = roles_of(head_names_q);
      end
    end
    start_valid = started || (others_start_i && others_start_warp_i != star_q);
    start_warp  = started ? star_q : others_start_warp_i;
  end

  // What another warp does on a port that the warp does not take.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      set_valid[p]   = others_set_i[p] && others_set_warp_i[NumberW*p +: NumberW] != star_q;
      set_warp[p]    = WarpW'(others_set_warp_i[NumberW*p +: NumberW]);
      set_roles[p]   = roles_of(others_set_names_i[NamesW*p +: NamesW]);
      set_states[p]  = others_set_states_i[ControlPowerW*p +: ControlPowerW];
      read_valid[p]  = others_read_i[p] && others_read_warp_i[NumberW*p +: NumberW] != star_q;
      read_warp[p]   = WarpW'(others_read_warp_i[NumberW*p +: NumberW]);
      read_roles[p]  = roles_of(others_read_names_i[NamesW*p +: NamesW]);
      read_states[p] = others_read_states_i[ControlPowerW*p +: ControlPowerW];
      reg_valid[p]   = others_reg_i[p] && others_reg_warp_i[NumberW*p +: NumberW] != star_q;
      reg_warp[p]    = WarpW'(others_reg_warp_i[NumberW*p +: NumberW]);
      reg_name[p]    = reg_name_i[RegW*p +: RegW];
      if (set && set_port == 1'(p)) begin
        set_valid[p]  = 1'b1;
        set_warp[p]   = WarpW'(star_q);
        set_roles[p]  = roles_of(set_access.names);
        set_states[p] = set_access.states;
      end
      if (read_star[p]) begin
        read_valid[p]  = 1'b1;
        read_warp[p]   = WarpW'(star_q);
        read_roles[p]  = roles_of(read_access[p].names);
        read_states[p] = read_access[p].states;
      end
      if (reg_star[p] || reg_above[p]) begin
        reg_valid[p] = 1'b1;
        reg_warp[p]  = WarpW'(star_q);
      end
    end
  end

  power_states #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) dut (
    .clk_i,
    .rst_ni            (started_q),
    .cfg_i             (cfg_q),
    .clear_i,
    .head_roles_i      (head_roles),
    .set_valid_i       (set_valid),
    .set_warp_i        (set_warp),
    .set_roles_i       (set_roles),
    .set_states_i      (set_states),
    .read_valid_i      (read_valid),
    .read_warp_i       (read_warp),
    .read_roles_i      (read_roles),
    .read_states_i     (read_states),
    .read_keep_i,
    .reg_valid_i       (reg_valid),
    .reg_warp_i        (reg_warp),
    .reg_i             (reg_name),
    .reg_keep_i,
    .alive_i           (alive_w),
    .idle_i            (idle_w),
    .start_valid_i     (start_valid),
    .start_warp_i      (WarpW'(start_warp)),
    .launch_valid_i    (launch_i),
    .launch_registers_i,
    .clear_o,
    .event_o,
    .wait_event_o
  );

  // ------------------------------------------------------------------ states of the warp's registers
  logic                 enabled;
  logic [Registers-1:0] off_bit, asleep_bit, pending;
  logic [Registers-1:0] on, off, asleep;
  logic [Registers-1:0] in_progress;                // an access is

  assign enabled    = cfg_q.mode != PowerModeAlwaysOn;
  assign off_bit    = dut.off_q[star_q][Registers-1:0];
  assign asleep_bit = dut.asleep_q[star_q][Registers-1:0];
  assign pending    = dut.pending_q[star_q][Registers-1:0];
  assign on         = pending | ~(off_bit | asleep_bit);
  assign off        = off_bit & ~pending;
  assign asleep     = asleep_bit & ~pending;

  assign in_progress = result_q | in_stage;

  // ------------------------------------------------------------------ accesses that end
  logic [Registers-1:0] ends [2*IssuePorts];  // registers that an access leaves at this edge, by port
  logic [Registers-1:0] leaves;        // all of them: those that do not stay ON
  logic [Registers-1:0] to_sleep;      // of these those that go to SLEEP
  logic [Registers-1:0] may_go_off;
  logic [Registers-1:0] may_go_off_q;  // at the edge before
  logic [Registers-1:0] was_off_q;
  logic [Registers-1:0] gone_q;        // it was OFF since it was written
  logic [Registers-1:0] told_q;        // and what may switch it OFF came since then

  // Reads of each port, then writes.
  always_comb begin
    ends     = '{default: '0};
    leaves   = '0;
    to_sleep = '0;
    for (int unsigned r = 0; r < Registers; r++) begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (read_star[p] && changes(read_access[p], RegW'(r)) &&
            !(cfg_q.mode == PowerModeTable &&
              read_keep_i[Operands*p + (read_access[p].names.a == RegW'(r) ? 0 :
                                        read_access[p].names.b == RegW'(r) ? 1 : 2)])) begin
          ends[p][r]  = 1'b1;
          to_sleep[r] = left(read_access[p], RegW'(r)) == RegisterSleep;
        end
        if (reg_star[p] && reg_name[p] == RegW'(r) && result_left_q[r] != RegisterOn &&
            !(cfg_q.mode == PowerModeTable && reg_keep_i[p])) begin
          ends[IssuePorts+p][r] = 1'b1;
          to_sleep[r]           = result_left_q[r] == RegisterSleep;
        end
      end
      for (int unsigned g = 0; g < 2 * IssuePorts; g++) leaves[r] = leaves[r] | ends[g][r];
      may_go_off[r] = (leaves[r] && !to_sleep[r]) || (!alive_q && idle) ||
                      (cfg_q.mode == PowerModeSleepAlways && started && RegW'(r) >= registers_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      may_go_off_q <= '1;
      was_off_q    <= '0;
      gone_q       <= '1;
      told_q       <= '1;
    end else begin
      may_go_off_q <= may_go_off;
      was_off_q    <= off;
      gone_q       <= off | (gone_q & ~written);
      told_q       <= may_go_off | (told_q & ~written);
    end
  end

  // ------------------------------------------------------------------ how long a wake-up takes
  logic                 waiting;       // the head waits for a wake-up
  logic [WakeW-1:0]     longest;       // of the latencies of its registers
  logic [WakeW-1:0]     latency;       // as it was when the wait began
  logic [WakeW-1:0]     latency_q;
  logic [WakeW-1:0]     waited_q;      // cycles
  logic [Registers-1:0] wakes;         // registers whose latency is over at this edge
  logic [Registers-1:0] woke_q;
  logic [Registers-1:0] was_on_q;

  always_comb begin
    waiting = enabled && clear && (head_needs & pending) == '0 && (head_needs & ~on) != '0;
    longest = WakeW'(1);
    if ((head_needs & off) != '0 && cfg_q.wake_off > longest)      longest = cfg_q.wake_off;
    if ((head_needs & asleep) != '0 && cfg_q.wake_sleep > longest) longest = cfg_q.wake_sleep;
    latency = waited_q == '0 ? longest : latency_q;
    wakes   = (waiting && waited_q + 1'b1 == latency) ? head_needs & ~on : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      waited_q <= '0;
      woke_q   <= '0;
      was_on_q <= '0;
    end else begin
      waited_q  <= (waiting && waited_q + 1'b1 != latency) ? waited_q + 1'b1 : '0;
      latency_q <= latency;
      woke_q    <= wakes;
      was_on_q  <= on;
    end
  end

  // ------------------------------------------------------------------ the states behind the edge
  logic [Registers-1:0] on_q, asleep_q;  // as the page says

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      on_q     <= '0;
      asleep_q <= '0;
    end else if (enabled && started && cfg_q.mode == PowerModeSleepAlways) begin
      on_q     <= '0;
      asleep_q <= ~({Registers{1'b1}} << registers_q);
    end else if (enabled && !alive_q && idle) begin
      on_q     <= '0;
      asleep_q <= '0;
    end else if (enabled) begin
      on_q     <= (on | wakes) & ~leaves;
      asleep_q <= (asleep & ~wakes) | to_sleep;
    end else begin
      on_q     <= on;
      asleep_q <= asleep;
    end
  end

  // ------------------------------------------------------------------ the properties
  logic access_finds_on;        // from issue to dispatch a source, from issue to its write a result
  logic issue_finds_on;         // a head is clear if its registers are ON and remain so
  logic goes_off_as_said;       // by an instruction, at the warp's end, or as it is not allocated
  logic value_is_kept;          // what has been written is there until then
  logic wakes_in_time;          // all registers of a head together, at the end of the longest latency
  logic counts_are_right;
  logic always_on_is_absent;
  logic states_follow;          // what a register becomes is what the page says

  assign access_finds_on     = !enabled || (in_progress & ~on) == '0;
  assign issue_finds_on      = !enabled ||
                               clear_o[star_q] == (clear && (head_needs & (~on | pending)) == '0);
  assign goes_off_as_said    = (off & ~was_off_q & ~may_go_off_q) == '0;
  assign value_is_kept       = !enabled || ((off | gone_q) & ~told_q) == '0;
  assign wakes_in_time       = (on & ~was_on_q) == woke_q;
  assign states_follow       = on == on_q && asleep == asleep_q;
  assign counts_are_right    = dut.on_count_q[star_q] == 8'($countones(on)) &&
                               dut.asleep_count_q[star_q] == 8'($countones(asleep));
  assign always_on_is_absent = enabled || (clear_o == clear_i && event_o == '0 && wait_event_o == '0);

  // ------------------------------------------------------------------ why they hold
  logic counts_agree;
  logic ends_are_counted;     // accesses end that the page names, and no others
  logic on_count_follows;
  logic asleep_count_follows;
  logic changes_agree;
  logic traffic_agrees;
  logic wakes_agree;

  assign counts_agree = dut.on_count_q[star_q] == 8'($countones(on_q)) &&
                        dut.asleep_count_q[star_q] == 8'($countones(asleep_q));

  // The block goes by places of names, the page by registers: the same ones, and as many.
  always_comb begin
    logic [7:0]           places, places_off;
    logic [Registers-1:0] names, names_off;
    logic                 of_star;
    ends_are_counted = 1'b1;
    for (int unsigned g = 0; g < 2 * IssuePorts; g++) begin
      places     = '0;
      places_off = '0;
      names      = '0;
      names_off  = '0;
      for (int unsigned e = 0; e < Operands * IssuePorts + IssuePorts; e++) begin
        of_star = dut.end_valid[e] && !dut.end_keep[e] && dut.end_warp[e] == WarpW'(star_q) &&
                  (e < Operands * IssuePorts ? e / Operands : IssuePorts + e - Operands * IssuePorts) == g;
        places     = places + 8'(of_star);
        places_off = places_off + 8'(of_star && dut.end_off[e]);
        for (int unsigned r = 0; r < Registers; r++) begin
          if (of_star && dut.end_reg[e] == RegW'(r)) begin
            names[r]     = 1'b1;
            names_off[r] = dut.end_off[e];
          end
        end
      end
      if (enabled && (names != ends[g] || names_off != (ends[g] & ~to_sleep))) ends_are_counted = 1'b0;
      if (enabled && (places != 8'($countones(ends[g])) ||
                      places_off != 8'($countones(ends[g] & ~to_sleep)))) begin
        ends_are_counted = 1'b0;
      end
      for (int unsigned h = 0; h < g; h++) begin
        if (enabled && (ends[g] & ends[h]) != '0) ends_are_counted = 1'b0;
      end
    end
  end

  // Counts change by what changes, unless the warp ends.
  always_comb begin
    logic [Registers-1:0] woken;
    woken                = dut.wake_end[star_q] ? head_needs & ~on : '0;
    on_count_follows     = 1'b1;
    asleep_count_follows = 1'b1;
    if (enabled && !dut.ended[star_q] && !started) begin
      on_count_follows     = dut.on_count_d[star_q] ==
                             dut.on_count_q[star_q] + 8'($countones(woken)) - 8'($countones(leaves));
      asleep_count_follows = dut.asleep_count_d[star_q] ==
                             dut.asleep_count_q[star_q] - 8'($countones(woken & asleep)) +
                             8'($countones(to_sleep));
    end
  end

  // What is pending is what an access in progress will leave; nothing else is.
  always_comb begin
    logic [RegisterPowerW-1:0] will;
    changes_agree = !dut.pending_q[star_q][Registers] && !dut.asleep_q[star_q][Registers];
    for (int unsigned r = 0; r < Registers; r++) begin
      will = result_q[r] ? result_left_q[r] : RegisterOn;
      for (int unsigned e = 0; e < Places; e++) begin
        if (CountW'(e) < count_q && changes(place_q[e], RegW'(r))) will = left(place_q[e], RegW'(r));
      end
      if (enabled && pending[r] != (will != RegisterOn)) changes_agree = 1'b0;
      if (!enabled && (pending[r] || !off_bit[r])) changes_agree = 1'b0;
      if (pending[r] && asleep_bit[r] != (will == RegisterSleep)) changes_agree = 1'b0;
      if (pending[r] && off_bit[r] == asleep_bit[r]) changes_agree = 1'b0;
      if (off_bit[r] && asleep_bit[r]) changes_agree = 1'b0;
    end
  end

  // An instruction in the operand stage accesses nothing that an older one changes or writes.
  always_comb begin
    traffic_agrees = count_q <= CountW'(Places) && registers_q == dut.registers_q[RegW-1:0] &&
                     dut.registers_q[7:RegW] == '0 && !(head_q && !alive_q);
    for (int unsigned r = 0; r < Registers; r++) begin
      if (undispatched[r] && !result_q[r]) traffic_agrees = 1'b0;
      for (int unsigned e = 0; e < Places; e++) begin
        if (CountW'(e) < count_q && accesses(place_q[e].names, RegW'(r))) begin
          if (result_q[r] && !undispatched[r]) traffic_agrees = 1'b0;
          if (enabled && changes(place_q[e], RegW'(r)) && result_q[r]) traffic_agrees = 1'b0;
          for (int unsigned f = 0; f < e; f++) begin
            if (place_q[f].names.d == RegW'(r)) traffic_agrees = 1'b0;
            if (enabled && changes(place_q[f], RegW'(r))) traffic_agrees = 1'b0;
          end
        end
      end
    end
  end

  assign wakes_agree = dut.wake_q[star_q] == ((waited_q == '0) ? '0 : latency_q - waited_q) &&
                       (waited_q == '0 || (waiting && waited_q < latency_q));

  always_comb begin
    if (started_q) begin
      must_access_finds_on:     assert (access_finds_on);
      must_issue_finds_on:      assert (issue_finds_on);
      must_goes_off_as_said:    assert (goes_off_as_said);
      must_value_is_kept:       assert (value_is_kept);
      must_wakes_in_time:       assert (wakes_in_time);
      must_counts_agree:        assert (counts_agree);
      must_always_on_is_absent: assert (always_on_is_absent);
      must_states_follow:       assert (states_follow);
      thus_counts_are_right:    assert (counts_are_right);
      thus_ends_are_counted:    assert (ends_are_counted);
      hence_on_count_follows:   assert (on_count_follows);
      hence_asleep_count_follows: assert (asleep_count_follows);
      must_changes_agree:       assert (changes_agree);
      must_traffic_agrees:      assert (traffic_agrees);
      must_wakes_agree:         assert (wakes_agree);
    end
  end

endmodule

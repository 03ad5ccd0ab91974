// Registers that are ON, in SLEEP or OFF.
//
// A register leaks less in SLEEP, where it keeps its value, and least when it is OFF (sharing thesis
// 4.2.3, 4.2.4). An instruction says in which state it leaves its registers: a source when it has
// been read, the result when it has been written. A register that is not ON cannot be accessed: a
// head that needs such a register does not issue, and wakes the register.
//
// While an access that changes the state of its register is in progress, no younger instruction of the warp
// that accesses the register may issue, because the register could be asleep by then. So the register is marked
// as pending, and its next state waits in the two bits of its state, off and asleep. These bits are free
// meanwhile, because a pending register is ON.
//
// States of registers that no instruction names have no effect: in a cycle only the registers of the heads, and of
// accesses that begin or end, are looked up. The numbers of registers that are ON and in SLEEP are counted.
`include "gpurf_assert.svh"

module power_states
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  localparam int unsigned Sources = Operands * IssuePorts
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  power_straps_t            cfg_i,

  // heads of the instruction buffer
  input  logic [Warps-1:0]         clear_i,                    // the head may issue as far as results are concerned
  input  roles_t                   head_roles_i  [Warps],

  // an instruction goes to the operand stage
  input  logic [IssuePorts-1:0]    set_valid_i,
  input  logic [WarpW-1:0]         set_warp_i    [IssuePorts],
  input  roles_t                   set_roles_i   [IssuePorts],
  input  logic [ControlPowerW-1:0] set_states_i  [IssuePorts],

  // an instruction is dispatched: its sources have been read
  input  logic [IssuePorts-1:0]    read_valid_i,
  input  logic [WarpW-1:0]         read_warp_i   [IssuePorts],
  input  roles_t                   read_roles_i  [IssuePorts],
  input  logic [ControlPowerW-1:0] read_states_i [IssuePorts],
  input  logic [Sources-1:0]       read_keep_i,                // another instruction accesses the source

  // a register has been written for good
  input  logic [IssuePorts-1:0]    reg_valid_i,
  input  logic [WarpW-1:0]         reg_warp_i    [IssuePorts],
  input  logic [RegW-1:0]          reg_i         [IssuePorts],
  input  logic [IssuePorts-1:0]    reg_keep_i,                 // another instruction accesses the register

  // warps that end and begin, and the grid
  input  logic [Warps-1:0]         alive_i,
  input  logic [Warps-1:0]         idle_i,                     // nothing of the warp is in flight
  input  logic                     start_valid_i,
  input  logic [WarpW-1:0]         start_warp_i,
  input  logic                     launch_valid_i,
  input  logic [RegW-1:0]          launch_registers_i,

  output logic [Warps-1:0]         clear_o,                    // clear_i, and the head's registers are ON
  output power_event_t             event_o,
  output power_wait_event_t        wait_event_o
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned WordBits = (RegW < 6) ? 2**RegW : 64;  // registers in an element of a state array
  localparam int unsigned WordIndexW = $clog2(WordBits);
  localparam int unsigned RegWords = 2**RegW / WordBits;   // elements for each warp
  localparam int unsigned ElementW = $clog2(RegWords * Warps);
  localparam int unsigned WakeW = 4;
  localparam int unsigned CountW = 8;
  localparam int unsigned MaxCount = 2**RegW - 1;          // registers of a warp
  localparam int unsigned Names = Operands + 1;            // registers of an instruction
  localparam int unsigned NamesW = $clog2(Names + 1);
  localparam int unsigned Ends = Sources + IssuePorts;     // accesses that end in a cycle

  logic [WordBits-1:0] off_d          [RegWords*Warps];
  logic [WordBits-1:0] off_q          [RegWords*Warps];
  logic [WordBits-1:0] asleep_d       [RegWords*Warps];
  logic [WordBits-1:0] asleep_q       [RegWords*Warps];
  logic [WordBits-1:0] pending_d      [RegWords*Warps];
  logic [WordBits-1:0] pending_q      [RegWords*Warps];
  logic [WakeW-1:0]    wake_d         [Warps];
  logic [WakeW-1:0]    wake_q         [Warps];
  logic [CountW-1:0]   on_count_d     [Warps];
  logic [CountW-1:0]   on_count_q     [Warps];
  logic [CountW-1:0]   asleep_count_d [Warps];
  logic [CountW-1:0]   asleep_count_q [Warps];
  logic [CountW-1:0]   registers_q;

  logic                enabled;               // registers have states
  logic                sleep_always;          // every access leaves its register in SLEEP
  logic                table_keeps;           // the keep bits of the access table are used

  logic [Warps-1:0]    waking;                // heads that wait for a wake-up
  logic [Warps-1:0]    wake_end;              // heads whose registers are ON after this edge
  logic [WakeW-1:0]    wake_left  [Warps];    // cycles until then, including this one
  logic [Warps-1:0]    ended;                 // warps that have ended, with registers that are not OFF

  // Accesses that end and change the state of their register: the sources, three for each port, then the writes.
  logic [Ends-1:0]     end_valid;
  logic [Ends-1:0]     end_keep;              // the register stays ON
  logic [Ends-1:0]     end_off;               // the register is switched OFF, unless end_keep
  logic [WarpW-1:0]    end_warp   [Ends];
  logic [RegW-1:0]     end_reg    [Ends];

  assign enabled      = cfg_i.mode != PowerModeAlwaysOn;
  assign sleep_always = cfg_i.mode == PowerModeSleepAlways;
  assign table_keeps  = cfg_i.mode == PowerModeTable;

  // Index of the element of a state array that holds a register of a warp.
  function automatic logic [ElementW-1:0] element_of(logic [WarpW-1:0] warp,
                                                     logic [RegW-1:0] register);
    return ElementW'({warp, register} >> WordIndexW);
  endfunction

  // ------------------------------------------------------------------ registers of instructions
  typedef logic [Names-1:0][RegW-1:0]           names_t;
  typedef logic [Names-1:0][RegisterPowerW-1:0] left_t;

  // The names of an instruction's registers: the result has index 0, the sources follow.
  // verilator lint_off UNUSEDSIGNAL
  function automatic names_t names_of(roles_t roles);
    // verilator lint_on UNUSEDSIGNAL
    return {roles.c, roles.b, roles.a, roles.d};
  endfunction

  // Names that are registers, each register once: its lowest index counts, so that a register that is
  // both source and result counts as the result.
  function automatic logic [Names-1:0] registers_of(names_t names);
    for (int unsigned k = 0; k < Names; k++) begin
      registers_of[k] = names[k] != NoReg;
      for (int unsigned l = 0; l < k; l++) begin
        if (names[l] == names[k]) registers_of[k] = 1'b0;
      end
    end
  endfunction

  // The states in which the accesses leave their registers; ON for names that do not count. `states` has fields for
  // the first and second source that is a register; a third source has no field, and its state is SLEEP.
  function automatic left_t left_by(names_t names, logic [ControlPowerW-1:0] states);
    logic [ControlPowerW-1:0] sources;
    logic [Names-1:0]         registers;
    sources    = {RegisterSleep, states[0 +: 2*RegisterPowerW]};
    left_by    = '0;
    left_by[0] = states[2*RegisterPowerW +: RegisterPowerW];
    for (int unsigned k = 1; k < Names; k++) begin
      left_by[k] = sources[0 +: RegisterPowerW];
      if (names[k] != NoReg) sources = sources >> RegisterPowerW;
    end
    if (sleep_always) left_by = {Names{RegisterSleep}};
    registers = registers_of(names);
    for (int unsigned k = 0; k < Names; k++) begin
      if (!registers[k]) left_by[k] = RegisterOn;
    end
  endfunction

  // The bits of a warp's registers in a state array, one for each name of an instruction.
  function automatic logic [Names-1:0] pending_of(logic [WarpW-1:0] warp, names_t names);
    for (int unsigned k = 0; k < Names; k++) begin
      pending_of[k] = pending_q[element_of(warp, names[k])][WordIndexW'(names[k])];
    end
  endfunction

  // NoReg has a bit in off_q as well, which is 1: it is masked.
  function automatic logic [Names-1:0] off_of(logic [WarpW-1:0] warp, names_t names);
    for (int unsigned k = 0; k < Names; k++) begin
      off_of[k] = off_q[element_of(warp, names[k])][WordIndexW'(names[k])] && names[k] != NoReg;
    end
  endfunction

  function automatic logic [Names-1:0] asleep_of(logic [WarpW-1:0] warp, names_t names);
    for (int unsigned k = 0; k < Names; k++) begin
      asleep_of[k] = asleep_q[element_of(warp, names[k])][WordIndexW'(names[k])];
    end
  endfunction

  // Number of registers that the wake-up of a head wakes from OFF; woken_asleep: from SLEEP.
  function automatic logic [NamesW-1:0] woken_off(logic [IndexW-1:0] warp);
    names_t names;
    names = names_of(head_roles_i[warp]);
    return NamesW'($countones(registers_of(names) & off_of(WarpW'(warp), names)));
  endfunction

  function automatic logic [NamesW-1:0] woken_asleep(logic [IndexW-1:0] warp);
    names_t names;
    names = names_of(head_roles_i[warp]);
    return NamesW'($countones(registers_of(names) & asleep_of(WarpW'(warp), names)));
  endfunction

  // ------------------------------------------------------------------ heads
  // Pending is checked first: the other bits of a pending register are its next state, not its current one.
  always_comb begin : heads
    names_t names;
    logic   off;
    logic   asleep;
    names        = '0;
    off          = 1'b0;
    asleep       = 1'b0;
    clear_o      = clear_i;
    waking       = '0;
    wake_end     = '0;
    wake_left    = '{default: '0};
    wait_event_o = '0;
    if (enabled) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        if (clear_i[w]) begin
          names  = names_of(head_roles_i[w]);
          off    = |off_of(WarpW'(w), names);
          asleep = |asleep_of(WarpW'(w), names);
          if (pending_of(WarpW'(w), names) != '0) begin
            clear_o[w]             = 1'b0;
            wait_event_o.wait_read = wait_event_o.wait_read + 1'b1;
          end else if (off || asleep) begin
            clear_o[w]             = 1'b0;
            waking[w]              = 1'b1;
            wait_event_o.wait_wake = wait_event_o.wait_wake + 1'b1;
            wake_left[w]           = WakeW'(1);
            if (wake_q[w] != '0) begin
              wake_left[w] = wake_q[w];
            end else begin
              if (off && cfg_i.wake_off > wake_left[w])      wake_left[w] = cfg_i.wake_off;
              if (asleep && cfg_i.wake_sleep > wake_left[w]) wake_left[w] = cfg_i.wake_sleep;
            end
            wake_end[w] = wake_left[w] == WakeW'(1);
          end
        end
      end
    end
  end

  // ------------------------------------------------------------------ accesses that end
  always_comb begin : ends
    names_t names;
    left_t  left;
    names     = '0;
    left      = '0;
    end_valid = '0;
    end_keep  = '0;
    end_off   = '0;
    end_warp  = '{default: '0};
    end_reg   = '{default: '0};
    if (enabled) begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (read_valid_i[p]) begin
          names = names_of(read_roles_i[p]);
          left  = left_by(names, read_states_i[p]);
          for (int unsigned s = 0; s < Operands; s++) begin
            end_valid[Operands*p+s] = left[s+1] != RegisterOn;
            end_keep[Operands*p+s]  = read_keep_i[Operands*p+s] & table_keeps;
            end_warp[Operands*p+s]  = read_warp_i[p];
            end_reg[Operands*p+s]   = names[s+1];
          end
        end
        if (reg_valid_i[p]) begin
          end_valid[Sources+p] = pending_q[element_of(reg_warp_i[p], reg_i[p])]
                                          [WordIndexW'(reg_i[p])];
          end_keep[Sources+p]  = reg_keep_i[p] & table_keeps;
          end_warp[Sources+p]  = reg_warp_i[p];
          end_reg[Sources+p]   = reg_i[p];
        end
      end
      for (int unsigned e = 0; e < Ends; e++) begin
        if (end_valid[e]) begin
          end_off[e] = off_q[element_of(end_warp[e], end_reg[e])][WordIndexW'(end_reg[e])];
        end
      end
    end
  end

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o = '0;
    ended   = '0;
    if (enabled) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        event_o.on     = event_o.on + 14'(on_count_q[w]);
        event_o.asleep = event_o.asleep + 14'(asleep_count_q[w]);
        ended[w]       = !alive_i[w] && idle_i[w] &&
                         (on_count_q[w] | asleep_count_q[w]) != '0;
        if (wake_end[w]) begin
          event_o.wake_sleep = event_o.wake_sleep + 8'(woken_asleep(IndexW'(w)));
          event_o.wake_off   = event_o.wake_off + 8'(woken_off(IndexW'(w)));
        end
      end
      event_o.to_sleep = 4'($countones(end_valid & ~end_keep & ~end_off));
      event_o.to_off   = 4'($countones(end_valid & ~end_keep & end_off));
      event_o.kept     = 4'($countones(end_valid & end_keep));
    end
  end

  // ------------------------------------------------------------------ the edge
  // Registers of an element whose names are below the number of registers of a thread.
  function automatic logic [WordBits-1:0] allocated(int unsigned word);
    allocated = '0;
    if (32'(registers_q) >= (word + 1) * WordBits) begin
      allocated = '1;
    end else if (32'(registers_q) > word * WordBits) begin
      allocated = ~({WordBits{1'b1}} << WordIndexW'(registers_q));
    end
  endfunction

  // Later steps override earlier ones.
  always_comb begin : next
    names_t              names;
    left_t               left;
    logic [ElementW-1:0] element;
    logic [IndexW-1:0]   warp;
    names          = '0;
    left           = '0;
    element        = '0;
    warp           = '0;
    off_d          = off_q;
    asleep_d       = asleep_q;
    pending_d      = pending_q;
    wake_d         = wake_q;
    on_count_d     = on_count_q;
    asleep_count_d = asleep_count_q;
    if (enabled) begin
      if (waking != '0) begin
        for (int unsigned w = 0; w < Warps; w++) begin
          if (waking[w]) wake_d[w] = wake_left[w] - 1'b1;
          if (wake_end[w]) begin
            names = names_of(head_roles_i[w]);
            for (int unsigned k = 0; k < Names; k++) begin
              element = element_of(WarpW'(w), names[k]);
              if (names[k] != NoReg) begin
                off_d[element][WordIndexW'(names[k])]    = 1'b0;
                asleep_d[element][WordIndexW'(names[k])] = 1'b0;
              end
            end
            on_count_d[w]     = on_count_d[w] + CountW'(woken_off(IndexW'(w))) +
                                CountW'(woken_asleep(IndexW'(w)));
            asleep_count_d[w] = asleep_count_d[w] - CountW'(woken_asleep(IndexW'(w)));
          end
        end
      end
      for (int unsigned e = 0; e < Ends; e++) begin
        if (end_valid[e]) begin
          element = element_of(end_warp[e], end_reg[e]);
          warp    = IndexW'(end_warp[e]);
          pending_d[element][WordIndexW'(end_reg[e])] = 1'b0;
          if (end_keep[e]) begin
            off_d[element][WordIndexW'(end_reg[e])]    = 1'b0;
            asleep_d[element][WordIndexW'(end_reg[e])] = 1'b0;
          end else begin
            on_count_d[warp]     = on_count_d[warp] - 1'b1;
            asleep_count_d[warp] = asleep_count_d[warp] + CountW'(!end_off[e]);
          end
        end
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (set_valid_i[p]) begin
          names = names_of(set_roles_i[p]);
          left  = left_by(names, set_states_i[p]);
          for (int unsigned k = 0; k < Names; k++) begin
            element = element_of(set_warp_i[p], names[k]);
            if (left[k] != RegisterOn) begin
              pending_d[element][WordIndexW'(names[k])] = 1'b1;
              off_d[element][WordIndexW'(names[k])]     = left[k] != RegisterSleep;
              asleep_d[element][WordIndexW'(names[k])]  = left[k] == RegisterSleep;
            end
          end
        end
      end
      if (ended != '0) begin
        for (int unsigned w = 0; w < Warps; w++) begin
          if (ended[w]) begin
            for (int unsigned k = 0; k < RegWords; k++) begin
              off_d[RegWords*w+k]     = '1;
              asleep_d[RegWords*w+k]  = '0;
              pending_d[RegWords*w+k] = '0;
            end
            wake_d[w]         = '0;
            on_count_d[w]     = '0;
            asleep_count_d[w] = '0;
          end
        end
      end
      // The registers of a warp that begins are allocated and go to SLEEP: it is not known when they are needed.
      if (start_valid_i && sleep_always) begin
        for (int unsigned k = 0; k < RegWords; k++) begin
          element            = element_of(start_warp_i, RegW'(k * WordBits));
          off_d[element]     = ~allocated(k);
          asleep_d[element]  = allocated(k);
          pending_d[element] = '0;
        end
        warp                 = IndexW'(start_warp_i);
        wake_d[warp]         = '0;
        on_count_d[warp]     = '0;
        asleep_count_d[warp] = registers_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      off_q          <= '{default: '1};
      asleep_q       <= '{default: '0};
      pending_q      <= '{default: '0};
      wake_q         <= '{default: '0};
      on_count_q     <= '{default: '0};
      asleep_count_q <= '{default: '0};
      registers_q    <= '0;
    end else begin
      if (enabled) begin
        off_q          <= off_d;
        asleep_q       <= asleep_d;
        pending_q      <= pending_d;
        wake_q         <= wake_d;
        on_count_q     <= on_count_d;
        asleep_count_q <= asleep_count_d;
      end
      if (launch_valid_i) registers_q <= launch_registers_i;
    end
  end

  // ------------------------------------------------------------------ assertions
  // Accesses of a warp that end and whose register does not stay ON.
  function automatic int unsigned leaving(logic [WarpW-1:0] warp);
    leaving = 0;
    for (int unsigned e = 0; e < Ends; e++) begin
      if (end_valid[e] && !end_keep[e] && end_warp[e] == warp) leaving = leaving + 1;
    end
  endfunction

  // Whether no wake-up gives a warp more ON registers than a warp has.
  function automatic logic counts_in_range();
    counts_in_range = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (wake_end[w] && 32'(on_count_q[w]) + 32'(woken_off(IndexW'(w))) +
                         32'(woken_asleep(IndexW'(w))) > MaxCount) begin
        counts_in_range = 1'b0;
      end
    end
  endfunction

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_set_check
    `GPURF_ASSERT_WHEN(set_finds_on, set_valid_i[p] && enabled,
                       (pending_of(set_warp_i[p], names_of(set_roles_i[p])) |
                        off_of(set_warp_i[p], names_of(set_roles_i[p])) |
                        asleep_of(set_warp_i[p], names_of(set_roles_i[p]))) == '0,
                       "an instruction was issued with a register that is not ON or will not be")
  end

  for (genvar e = 0; e < Ends; e++) begin : gen_end_check
    `GPURF_ASSERT_WHEN(end_finds_pending, end_valid[e],
                       pending_q[element_of(end_warp[e], end_reg[e])][WordIndexW'(end_reg[e])],
                       "an access ended that changes its register's state, and was not marked")
    `GPURF_ASSERT_WHEN(on_count_not_below, end_valid[e],
                       32'(on_count_q[IndexW'(end_warp[e])]) >= leaving(end_warp[e]),
                       "more registers of a warp leave ON than are")
  end

  `GPURF_ASSERT_WHEN(on_count_not_above, wake_end != '0, counts_in_range(),
                     "a warp has more registers that are ON than there are")

endmodule

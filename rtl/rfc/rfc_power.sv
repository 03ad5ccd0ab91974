// Power states (ON, SLEEP, OFF) of the words of the main register file (MRF) below a cache.
//
// A word leaks less in SLEEP, where it keeps its value, and least when it is OFF (sharing thesis
// 4.2.3, 4.2.4). Below a register file cache its accesses are known late: a read when the tags miss,
// a write when an entry is evicted or a result goes around the cache. So the instruction in T and
// the values in front of the MRF's write ports wait here until their words are ON.
//
// A word stays ON while an access of it is in progress. The last access to end decides the next state: a read
// leaves the state that its instruction names, a write leaves SLEEP. An instruction that names OFF for a register
// that it found in the cache switches the word OFF too, because nothing reads the register's value any more.
`include "gpurf_assert.svh"

module rfc_power
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Tags = 9,
  localparam int unsigned TagW = $clog2(Tags),
  localparam int unsigned Sources = Operands * IssuePorts
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  power_straps_t             cfg_i,

  // the instruction in T
  input  logic [IssuePorts-1:0]     look_valid_i,
  input  logic [WarpW-1:0]          look_warp_i   [IssuePorts],
  input  logic [TagW-1:0]           look_tag_i    [IssuePorts],
  input  logic [Sources-1:0]        look_src_i,                  // the source is a register
  input  logic [Sources-1:0]        look_asked_i,                // the source is to be read in the MRF
  input  logic [RegW-1:0]           look_reg_i    [Sources],
  input  logic [RegisterPowerW-1:0] look_left_i   [Sources],     // power state in which the source is left
  output logic [IssuePorts-1:0]     look_on_o,
  input  logic [IssuePorts-1:0]     move_i,                      // the instruction leaves T

  // the value in front of a write port
  input  logic [IssuePorts-1:0]     write_valid_i,
  input  logic [IssuePorts-1:0]     write_evict_i,               // the value is an eviction
  input  logic [WarpW-1:0]          write_warp_i  [IssuePorts],
  input  logic [RegW-1:0]           write_reg_i   [IssuePorts],
  output logic [IssuePorts-1:0]     write_on_o,
  input  logic [IssuePorts-1:0]     taken_i,                     // the value goes into the MRF's queue
  input  logic [IssuePorts-1:0]     done_i,                      // the value in the queue goes into its bank

  // an instruction is dispatched
  input  logic [IssuePorts-1:0]     read_valid_i,
  input  logic [TagW-1:0]           read_tag_i    [IssuePorts],
  input  logic [Sources-1:0]        read_keep_i,                 // another instruction accesses the source

  input  logic [Warps-1:0]          over_i,                      // warps that have ended

  output power_event_t              event_o,
  output power_wait_event_t         wait_event_o
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned WordBits = 64;                    // registers in one element of a state array
  localparam int unsigned WordIndexW = $clog2(WordBits);
  localparam int unsigned Elements = 2**RegW / WordBits * Warps;
  localparam int unsigned ElementW = $clog2(Elements);
  localparam int unsigned WakeW = 4;
  localparam int unsigned CountW = 8;
  localparam int unsigned Wakes = Sources + IssuePorts;     // words that can become ON in one cycle
  localparam int unsigned Ends = Sources + IssuePorts;      // accesses that can end in one cycle
  localparam int unsigned Changes = Wakes + Ends;
  localparam int unsigned ChangeW = $clog2(Changes);

  logic [WordBits-1:0]       off_d            [Elements];
  logic [WordBits-1:0]       off_q            [Elements];
  logic [WordBits-1:0]       asleep_d         [Elements];
  logic [WordBits-1:0]       asleep_q         [Elements];
  logic [CountW-1:0]         on_count_d       [Warps];
  logic [CountW-1:0]         on_count_q       [Warps];
  logic [CountW-1:0]         asleep_count_d   [Warps];
  logic [CountW-1:0]         asleep_count_q   [Warps];
  logic [WakeW-1:0]          look_wake_d      [IssuePorts];
  logic [WakeW-1:0]          look_wake_q      [IssuePorts];
  logic [Operands-1:0]       look_waking_d    [IssuePorts];
  logic [Operands-1:0]       look_waking_q    [IssuePorts];
  logic [WakeW-1:0]          write_wake_d     [IssuePorts];
  logic [WakeW-1:0]          write_wake_q     [IssuePorts];
  logic [IssuePorts-1:0]     write_waking_d;
  logic [IssuePorts-1:0]     write_waking_q;

  // accesses in progress
  logic [Operands-1:0]       reading_left     [Tags];       // of reading_q, reads that do not end at this edge
  logic [Operands-1:0]       reading_q        [Tags];
  logic [Operands-1:0]       note_src_q       [Tags];
  logic [WarpW-1:0]          note_warp_q      [Tags];
  logic [RegW-1:0]           note_reg_q       [Operands*Tags];
  logic [RegisterPowerW-1:0] note_left_q      [Operands*Tags];
  logic [IssuePorts-1:0]     writing_left;
  logic [IssuePorts-1:0]     writing_q;
  logic [WarpW-1:0]          writing_warp_q   [IssuePorts];
  logic [RegW-1:0]           writing_reg_q    [IssuePorts];

  logic                      enabled;                       // words have states
  logic                      table_keeps;                   // the access table decides too

  logic [Sources-1:0]        first;                         // register sources in T, each register once
  logic [Operands-1:0]       look_need        [IssuePorts]; // sources in T whose words are not ON
  logic [IssuePorts-1:0]     look_end;                      // their words are ON after this edge
  logic [IssuePorts-1:0]     write_end;

  // Changes of states, in the order in which they are applied.
  logic [Changes-1:0]        change_valid;
  logic [Changes-1:0]        change_keep;                   // the word stays ON because of the access table
  logic [WarpW-1:0]          change_warp      [Changes];
  logic [RegW-1:0]           change_reg       [Changes];
  logic [RegisterPowerW-1:0] change_to        [Changes];

  logic [Warps-1:0]          busy;                          // warps with an access in progress, or a waiting value
  logic [Warps-1:0]          ended;                         // ended warps, whose words all go OFF at this edge

  assign enabled     = cfg_i.mode != PowerModeAlwaysOn;
  assign table_keeps = cfg_i.mode == PowerModeTable;

  // The element of a state array that holds a register of a warp.
  function automatic logic [ElementW-1:0] element_of(logic [WarpW-1:0] warp,
                                                     logic [RegW-1:0] register);
    return ElementW'({warp, register} >> WordIndexW);
  endfunction

  function automatic logic is_off(logic [WarpW-1:0] warp, logic [RegW-1:0] register);
    return off_q[element_of(warp, register)][WordIndexW'(register)];
  endfunction

  function automatic logic is_asleep(logic [WarpW-1:0] warp, logic [RegW-1:0] register);
    return asleep_q[element_of(warp, register)][WordIndexW'(register)];
  endfunction

  function automatic logic [WakeW-1:0] at_least(logic [WakeW-1:0] cycles, logic [WakeW-1:0] least);
    return (cycles > least) ? cycles : least;
  endfunction

  // ------------------------------------------------------------------ T
  always_comb begin : looks
    logic [WakeW-1:0] left;
    left          = '0;
    first         = look_src_i;
    look_need     = '{default: '0};
    look_on_o     = '1;
    look_end      = '0;
    look_wake_d   = '{default: '0};
    look_waking_d = look_waking_q;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned k = 1; k < Operands; k++) begin
        for (int unsigned l = 0; l < k; l++) begin
          if (look_src_i[Operands*p+l] &&
              look_reg_i[Operands*p+l] == look_reg_i[Operands*p+k]) first[Operands*p+k] = 1'b0;
        end
      end
      left = WakeW'(1);
      for (int unsigned k = 0; k < Operands; k++) begin
        if (enabled && look_valid_i[p] && look_asked_i[Operands*p+k]) begin
          if (is_off(look_warp_i[p], look_reg_i[Operands*p+k])) begin
            look_need[p][k] = 1'b1;
            left            = at_least(cfg_i.wake_off, left);
          end else if (is_asleep(look_warp_i[p], look_reg_i[Operands*p+k])) begin
            look_need[p][k] = 1'b1;
            left            = at_least(cfg_i.wake_sleep, left);
          end
        end
      end
      if (look_need[p] != '0) begin
        if (look_wake_q[p] != '0 && look_waking_q[p] == look_need[p]) left = look_wake_q[p];
        look_on_o[p]     = 1'b0;
        look_end[p]      = left == WakeW'(1);
        look_wake_d[p]   = left - 1'b1;
        look_waking_d[p] = look_need[p];
      end
    end
  end

  // ------------------------------------------------------------------ write ports
  always_comb begin : writes
    logic             off;
    logic [WakeW-1:0] left;
    off            = 1'b0;
    left           = '0;
    write_on_o     = '1;
    write_end      = '0;
    write_wake_d   = '{default: '0};
    write_waking_d = write_waking_q;
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      off = is_off(write_warp_i[b], write_reg_i[b]);
      if (enabled && write_valid_i[b] && (off || is_asleep(write_warp_i[b], write_reg_i[b]))) begin
        left = at_least(off ? cfg_i.wake_off : cfg_i.wake_sleep, WakeW'(1));
        if (write_wake_q[b] != '0 && write_waking_q[b] == write_evict_i[b]) left = write_wake_q[b];
        write_on_o[b]     = 1'b0;
        write_end[b]      = left == WakeW'(1);
        write_wake_d[b]   = left - 1'b1;
        write_waking_d[b] = write_evict_i[b];
      end
    end
  end

  // ------------------------------------------------------------------ changes
  // Whether another access of the word, an old or a new one, is in progress after this edge.
  function automatic logic in_progress(logic [WarpW-1:0] warp, logic [RegW-1:0] register);
    in_progress = 1'b0;
    for (int unsigned i = 0; i < Tags; i++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (reading_left[i][k] && note_warp_q[i] == warp && note_reg_q[Operands*i+k] == register) begin
          in_progress = 1'b1;
        end
      end
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (move_i[p] && look_asked_i[Operands*p+k] && look_warp_i[p] == warp &&
            look_reg_i[Operands*p+k] == register) in_progress = 1'b1;
      end
      if (writing_left[p] && writing_warp_q[p] == warp && writing_reg_q[p] == register) begin
        in_progress = 1'b1;
      end
      if (taken_i[p] && write_warp_i[p] == warp && write_reg_i[p] == register) begin
        in_progress = 1'b1;
      end
    end
  endfunction

  // If two accesses of a word end together, the first one still finds the second one in progress.
  always_comb begin : changes
    logic                read;  // the source was read in the MRF
    logic                alone;
    logic [TagW-1:0]     tag;
    logic [ChangeW-1:0]  c;
    read         = 1'b0;
    alone        = 1'b0;
    tag          = '0;
    c            = '0;
    change_valid = '0;
    change_keep  = '0;
    change_warp  = '{default: '0};
    change_reg   = '{default: '0};
    change_to    = '{default: RegisterOn};
    reading_left = reading_q;
    writing_left = writing_q;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        c               = ChangeW'(Operands * p + k);
        change_valid[c] = look_end[p] & look_need[p][k];
        change_warp[c]  = look_warp_i[p];
        change_reg[c]   = look_reg_i[Operands*p+k];
      end
      c               = ChangeW'(Sources + p);
      change_valid[c] = write_end[p];
      change_warp[c]  = write_warp_i[p];
      change_reg[c]   = write_reg_i[p];
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      tag = read_tag_i[p];
      for (int unsigned k = 0; k < Operands; k++) begin
        if (read_valid_i[p] && 32'(tag) < Tags && note_src_q[tag][k]) begin
          c                    = ChangeW'(Wakes + Operands * p + k);
          read                 = reading_left[tag][k];
          reading_left[tag][k] = 1'b0;
          change_warp[c]       = note_warp_q[tag];
          change_reg[c]        = note_reg_q[Operands*tag+k];
          change_to[c]         = note_left_q[Operands*tag+k];
          alone                = !in_progress(change_warp[c], change_reg[c]);
          change_keep[c]       = read_keep_i[Operands*p+k] & table_keeps;
          if (read) begin
            change_valid[c] = enabled && alone && change_to[c] != RegisterOn;
          end else begin
            change_valid[c] = enabled && alone && change_to[c][1] && !change_keep[c];
          end
        end
      end
    end
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      if (done_i[b] && writing_left[b]) begin
        c               = ChangeW'(Wakes + Sources + b);
        writing_left[b] = 1'b0;
        change_warp[c]  = writing_warp_q[b];
        change_reg[c]   = writing_reg_q[b];
        change_to[c]    = RegisterSleep;
        change_valid[c] = enabled && !in_progress(change_warp[c], change_reg[c]);
      end
    end
  end

  // ------------------------------------------------------------------ warps that have ended
  always_comb begin
    busy  = '0;
    ended = '0;
    for (int unsigned i = 0; i < Tags; i++) begin
      if (reading_left[i] != '0) busy[IndexW'(note_warp_q[i])] = 1'b1;
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (move_i[p] && look_asked_i[Operands*p +: Operands] != '0) begin
        busy[IndexW'(look_warp_i[p])] = 1'b1;
      end
      if (writing_left[p])  busy[IndexW'(writing_warp_q[p])] = 1'b1;
      if (write_valid_i[p]) busy[IndexW'(write_warp_i[p])]   = 1'b1;
    end
    for (int unsigned w = 0; w < Warps; w++) begin
      ended[w] = enabled && over_i[w] && !busy[w] && (on_count_q[w] | asleep_count_q[w]) != '0;
    end
  end

  // ------------------------------------------------------------------ states
  always_comb begin : next
    logic [ElementW-1:0]   element;
    logic [WordIndexW-1:0] place;
    logic [IndexW-1:0]     warp;
    element        = '0;
    place          = '0;
    warp           = '0;
    off_d          = off_q;
    asleep_d       = asleep_q;
    on_count_d     = on_count_q;
    asleep_count_d = asleep_count_q;
    event_o        = '0;
    wait_event_o   = '0;
    wait_event_o.wait_wake = 6'($countones(~look_on_o)) + 6'($countones(~write_on_o));
    if (enabled) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        event_o.on     = event_o.on + 14'(on_count_q[w]);
        event_o.asleep = event_o.asleep + 14'(asleep_count_q[w]);
      end
    end
    if (change_valid != '0) begin
      for (int unsigned c = 0; c < Changes; c++) begin
        element = element_of(change_warp[c], change_reg[c]);
        place   = WordIndexW'(change_reg[c]);
        warp    = IndexW'(change_warp[c]);
        if (change_valid[c] && change_reg[c] != NoReg) begin
          if (c < Wakes) begin
            if (off_d[element][place]) begin
              event_o.wake_off = event_o.wake_off + 1'b1;
              on_count_d[warp] = on_count_d[warp] + 1'b1;
            end else if (asleep_d[element][place]) begin
              event_o.wake_sleep   = event_o.wake_sleep + 1'b1;
              on_count_d[warp]     = on_count_d[warp] + 1'b1;
              asleep_count_d[warp] = asleep_count_d[warp] - 1'b1;
            end
            off_d[element][place]    = 1'b0;
            asleep_d[element][place] = 1'b0;
          end else if (change_keep[c]) begin
            if (!off_d[element][place] && !asleep_d[element][place]) event_o.kept = event_o.kept + 1'b1;
          end else if (change_to[c] == RegisterSleep) begin
            if (!off_d[element][place] && !asleep_d[element][place]) begin
              event_o.to_sleep         = event_o.to_sleep + 1'b1;
              on_count_d[warp]         = on_count_d[warp] - 1'b1;
              asleep_count_d[warp]     = asleep_count_d[warp] + 1'b1;
              asleep_d[element][place] = 1'b1;
            end
          end else if (!off_d[element][place]) begin
            event_o.to_off = event_o.to_off + 1'b1;
            if (asleep_d[element][place]) asleep_count_d[warp] = asleep_count_d[warp] - 1'b1;
            else                          on_count_d[warp]     = on_count_d[warp] - 1'b1;
            off_d[element][place]    = 1'b1;
            asleep_d[element][place] = 1'b0;
          end
        end
      end
    end
    if (ended != '0) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        if (ended[w]) begin
          for (int unsigned e = 0; e < Elements / Warps; e++) begin
            off_d[Elements/Warps*w+e]    = '1;
            asleep_d[Elements/Warps*w+e] = '0;
          end
          on_count_d[w]     = '0;
          asleep_count_d[w] = '0;
        end
      end
    end
  end

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      off_q          <= '{default: '1};
      asleep_q       <= '{default: '0};
      on_count_q     <= '{default: '0};
      asleep_count_q <= '{default: '0};
      look_wake_q    <= '{default: '0};
      look_waking_q  <= '{default: '0};
      write_wake_q   <= '{default: '0};
      write_waking_q <= '0;
      writing_q      <= '0;
      reading_q      <= '{default: '0};
    end else begin
      off_q          <= off_d;
      asleep_q       <= asleep_d;
      on_count_q     <= on_count_d;
      asleep_count_q <= asleep_count_d;
      look_wake_q    <= look_wake_d;
      look_waking_q  <= look_waking_d;
      write_wake_q   <= write_wake_d;
      write_waking_q <= write_waking_d;
      writing_q      <= writing_left | taken_i;
      for (int unsigned i = 0; i < Tags; i++) begin
        reading_q[i] <= reading_left[i];
        for (int unsigned p = 0; p < IssuePorts; p++) begin
          if (move_i[p] && look_tag_i[p] == TagW'(i)) begin
            reading_q[i] <= look_asked_i[Operands*p +: Operands];
          end
        end
      end
    end
  end

  // The payload has no reset: it means nothing before it is written.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (move_i[p] && 32'(look_tag_i[p]) < Tags) begin
        note_src_q[look_tag_i[p]]  <= first[Operands*p +: Operands];
        note_warp_q[look_tag_i[p]] <= look_warp_i[p];
        for (int unsigned k = 0; k < Operands; k++) begin
          note_reg_q[Operands*look_tag_i[p]+k]  <= look_reg_i[Operands*p+k];
          note_left_q[Operands*look_tag_i[p]+k] <= look_left_i[Operands*p+k];
        end
      end
      if (taken_i[p]) begin
        writing_warp_q[p] <= write_warp_i[p];
        writing_reg_q[p]  <= write_reg_i[p];
      end
    end
  end

`ifndef SYNTHESIS
  // Whether the words of all accesses in progress are ON.
  function automatic logic in_progress_is_on();
    in_progress_is_on = 1'b1;
    for (int unsigned i = 0; i < Tags; i++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (reading_q[i][k] && (is_off(note_warp_q[i], note_reg_q[Operands*i+k]) ||
                                is_asleep(note_warp_q[i], note_reg_q[Operands*i+k]))) begin
          in_progress_is_on = 1'b0;
        end
      end
    end
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      if (writing_q[b] && (is_off(writing_warp_q[b], writing_reg_q[b]) ||
                           is_asleep(writing_warp_q[b], writing_reg_q[b]))) begin
        in_progress_is_on = 1'b0;
      end
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(progress_on, enabled, in_progress_is_on(),
                     "a word is accessed that is not ON")
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(move_on, move_i[p], look_valid_i[p] && look_on_o[p],
                       "an instruction leaves T whose words are not ON")
    `GPURF_ASSERT_WHEN(move_new, move_i[p] && 32'(look_tag_i[p]) < Tags,
                       reading_q[look_tag_i[p]] == '0,
                       "an instruction leaves T with the tag of another one")
    `GPURF_ASSERT_WHEN(taken_on, taken_i[p], write_valid_i[p] && write_on_o[p],
                       "a value is taken whose word is not ON")
    `GPURF_ASSERT_WHEN(done_of_something, done_i[p], writing_q[p],
                       "a value goes into its bank that was not taken")
  end

endmodule

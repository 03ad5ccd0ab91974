// A tag store of a register file cache, as another designer would write it from docs/blocks/rfc_tags.md: it has the ports of gpurf's
// rfc_tags, except the event word, and nothing else in common with it.
//
// Entries are structs. The order of use is a number for each entry (0: the oldest), not a matrix of bits.
//
// With the plusarg +broken it has a fault: the comparison of an operand's register with the tags loses its highest bit.

module my_rfc_tags #(
  parameter int unsigned Slots   = 8,
  parameter int unsigned Entries = 6,
  localparam int unsigned SlotW  = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned IndexW = (Slots * Entries > 1) ? $clog2(Slots * Entries) : 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [2:0]        cfg_i,             // flush promptly, LRU, drop values after their last read

  input  logic              look_valid_i,
  input  logic              look_move_i,
  input  logic [SlotW-1:0]  look_slot_i,
  input  logic [31:0]       look_mask_i,
  input  logic [2:0]        look_src_valid_i,
  input  logic [7:0]        look_reg_i  [3],
  input  logic [2:0]        look_last_i,
  output logic [31:0]       hit_mask_o  [3],
  output logic [IndexW-1:0] hit_index_o [3],
  output logic [1:0]        hit_port_o  [3],
  output logic [2:0]        read_o,

  input  logic              op_valid_i,
  input  logic              op_kill_i,
  input  logic [SlotW-1:0]  op_slot_i,
  input  logic [7:0]        op_reg_i,
  input  logic [31:0]       op_mask_i,
  input  logic              op_clean_i,
  input  logic              take_valid_i,
  input  logic [7:0]        take_reg_i,
  input  logic [31:0]       take_mask_i,
  output logic              op_ready_o,
  output logic [IndexW-1:0] op_index_o,

  input  logic              evict_room_i,
  output logic              evict_valid_o,
  output logic [1:0]        evict_port_o,
  output logic [IndexW-1:0] evict_index_o,
  output logic [SlotW-1:0]  evict_slot_o,
  output logic [7:0]        evict_reg_o,
  output logic [31:0]       evict_mask_o,

  input  logic [Slots-1:0]  flush_i,
  input  logic [Slots-1:0]  drop_i,
  output logic [Slots-1:0]  clean_o
);

  localparam int unsigned EntryW = (Entries > 1) ? $clog2(Entries) : 1;

  typedef struct packed {
    logic [31:0]       valid;
    logic [31:0]       dirty;
    logic [7:0]        tag;
    logic [EntryW-1:0] age;  // 0: the oldest entry of the slot
  } entry_t;

  entry_t            entry_q [Slots][Entries];
  entry_t            entry_d [Slots][Entries];
  logic [EntryW-1:0] turn_q  [Slots];  // FIFO: the entry to replace next
  logic [EntryW-1:0] turn_d  [Slots];

  // The rules of the page, in one process, in the order in which they take effect.
  int                source  [3];  // entry that a source matches, or -1
  int                found;        // entry that the operation matches, or -1
  int                victim;       // entry that it takes or updates
  logic              possible;
  logic              must_evict;
  logic              write;

  logic broken;
  initial broken = $test$plusargs("broken") != 0;

  function automatic logic [IndexW-1:0] number(int unsigned slot, int entry);
    return IndexW'(slot * Entries + unsigned'(entry));
  endfunction

  function automatic logic same_register(logic [7:0] a, logic [7:0] b);
    return a[6:0] == b[6:0] && (broken || a[7] == b[7]);
  endfunction

  always_comb begin : operands
    for (int k = 0; k < 3; k++) begin
      source[k]      = -1;
      hit_mask_o[k]  = '0;
      hit_index_o[k] = '0;
      hit_port_o[k]  = '0;
      read_o[k]      = 1'b0;
      if (look_valid_i && look_src_valid_i[k]) begin
        for (int e = 0; e < int'(Entries); e++) begin
          if (entry_q[look_slot_i][e].valid != '0 && same_register(entry_q[look_slot_i][e].tag, look_reg_i[k])) begin
            source[k] = e;
          end
        end
        if (source[k] >= 0 && (entry_q[look_slot_i][EntryW'(source[k])].valid & look_mask_i) != '0) begin
          hit_mask_o[k]  = entry_q[look_slot_i][EntryW'(source[k])].valid & look_mask_i;
          hit_index_o[k] = number(32'(look_slot_i), source[k]);
          hit_port_o[k]  = 2'(k);
          read_o[k]      = 1'b1;
          for (int j = k - 1; j >= 0; j--) begin
            if (look_src_valid_i[j] && look_reg_i[j] == look_reg_i[k]) begin
              hit_port_o[k] = 2'(j);
              read_o[k]     = 1'b0;
            end
          end
        end
      end
    end
  end

  always_comb begin : operation
    found  = -1;
    victim = 0;
    if (op_valid_i) begin
      victim = cfg_i[1] ? 0 : int'(turn_q[op_slot_i]);
      for (int e = 0; e < int'(Entries); e++) begin
        if (cfg_i[1] && entry_q[op_slot_i][e].age == '0) victim = e;
        if (entry_q[op_slot_i][e].valid != '0 && entry_q[op_slot_i][e].tag == op_reg_i) found = e;
      end
      if (found >= 0) victim = found;
    end
    possible     = evict_room_i && !(look_move_i && read_o == '1);
    must_evict   = op_valid_i && !op_kill_i && found < 0 && entry_q[op_slot_i][EntryW'(victim)].dirty != '0;
    op_ready_o   = op_valid_i && !(must_evict && !possible);
    write        = op_ready_o && !op_kill_i;
    op_index_o   = (op_valid_i && !op_kill_i) ? number(32'(op_slot_i), victim) : '0;
    evict_port_o = '0;
    for (int k = 2; k >= 0; k--) if (!(look_move_i && read_o[k])) evict_port_o = 2'(k);
  end

  logic             flushes;      // an entry is evicted because its slot is emptied
  logic [SlotW-1:0] flush_slot;
  int               flush_entry;

  always_comb begin : eviction
    flushes     = 1'b0;
    flush_slot  = '0;
    flush_entry = 0;
    for (int s = int'(Slots) - 1; s >= 0; s--) begin
      clean_o[s] = 1'b1;
      for (int e = 0; e < int'(Entries); e++) if (entry_q[s][e].dirty != '0) clean_o[s] = 1'b0;
      if (flush_i[s] && !drop_i[s] && !clean_o[s]) begin
        flushes    = possible && (!op_valid_i || (cfg_i[2] && write && !must_evict));
        flush_slot = SlotW'(s);
      end
    end
    for (int e = int'(Entries) - 1; e >= 0; e--) if (entry_q[flush_slot][e].dirty != '0) flush_entry = e;
    evict_valid_o = flushes || (must_evict && possible);
    evict_slot_o  = must_evict ? op_slot_i : flush_slot;
    evict_index_o = must_evict ? number(32'(op_slot_i), victim) : number(32'(flush_slot), flush_entry);
    evict_reg_o   = entry_q[evict_slot_o][EntryW'(must_evict ? victim : flush_entry)].tag;
    evict_mask_o  = entry_q[evict_slot_o][EntryW'(must_evict ? victim : flush_entry)].dirty;
  end

  // The entry becomes the youngest of its slot; those that were younger move up.
  function automatic logic [EntryW-1:0] aged(logic [EntryW-1:0] age, logic [EntryW-1:0] used, logic is_used);
    if (is_used) return EntryW'(Entries - 1);
    return age > used ? age - 1'b1 : age;
  endfunction

  always_comb begin : next
    automatic logic [EntryW-1:0] used;
    used    = '0;
    entry_d = entry_q;
    turn_d  = turn_q;
    // The last read of a value makes its lanes clean.
    for (int k = 0; k < 3; k++) begin
      if (cfg_i[0] && look_move_i && look_last_i[k] && hit_mask_o[k] != '0) begin
        entry_d[look_slot_i][EntryW'(source[k])].dirty &= ~look_mask_i;
      end
    end
    if (write) begin
      if (take_valid_i) begin
        for (int e = 0; e < int'(Entries); e++) begin
          if (e != victim && entry_q[op_slot_i][e].valid != '0 && entry_q[op_slot_i][e].tag == take_reg_i) begin
            entry_d[op_slot_i][e].valid &= ~take_mask_i;
            entry_d[op_slot_i][e].dirty &= ~take_mask_i;
          end
        end
      end
      if (found < 0) begin
        entry_d[op_slot_i][EntryW'(victim)].tag   = op_reg_i;
        entry_d[op_slot_i][EntryW'(victim)].valid = '0;
        entry_d[op_slot_i][EntryW'(victim)].dirty = '0;
        if (!cfg_i[1]) turn_d[op_slot_i] = (turn_q[op_slot_i] == EntryW'(Entries - 1)) ? '0 : turn_q[op_slot_i] + 1'b1;
      end
      entry_d[op_slot_i][EntryW'(victim)].valid |= op_mask_i;
      if (!op_clean_i) entry_d[op_slot_i][EntryW'(victim)].dirty |= op_mask_i;
    end else if (op_valid_i && op_kill_i && found >= 0) begin
      entry_d[op_slot_i][EntryW'(found)].valid &= ~op_mask_i;
      entry_d[op_slot_i][EntryW'(found)].dirty &= ~op_mask_i;
    end
    if (flushes) begin
      entry_d[flush_slot][EntryW'(flush_entry)].valid = '0;
      entry_d[flush_slot][EntryW'(flush_entry)].dirty = '0;
    end
    // Order of use: the sources that hit, then the result.
    if (cfg_i[1]) begin
      for (int k = 0; k < 3; k++) begin
        if (look_move_i && hit_mask_o[k] != '0) begin
          used = entry_d[look_slot_i][EntryW'(source[k])].age;
          for (int e = 0; e < int'(Entries); e++) begin
            entry_d[look_slot_i][e].age = aged(entry_d[look_slot_i][e].age, used, e == source[k]);
          end
        end
      end
      if (write) begin
        used = entry_d[op_slot_i][EntryW'(victim)].age;
        for (int e = 0; e < int'(Entries); e++) begin
          entry_d[op_slot_i][e].age = aged(entry_d[op_slot_i][e].age, used, e == victim);
        end
      end
    end
    for (int s = 0; s < int'(Slots); s++) begin
      if (flush_i[s] && (drop_i[s] || clean_o[s])) begin
        for (int e = 0; e < int'(Entries); e++) begin
          entry_d[s][e].valid = '0;
          entry_d[s][e].dirty = '0;
        end
        turn_d[s] = '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int s = 0; s < int'(Slots); s++) begin
      if (!rst_ni) begin
        for (int e = 0; e < int'(Entries); e++) begin
          entry_q[s][e] <= '{valid: '0, dirty: '0, tag: '0, age: EntryW'(e)};
        end
        turn_q[s] <= '0;
      end else begin
        entry_q[s] <= entry_d[s];
        turn_q[s]  <= turn_d[s];
      end
    end
  end

endmodule

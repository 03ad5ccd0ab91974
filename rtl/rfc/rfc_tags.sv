// Tags of one cache: look-up, allocation, eviction and flush.
//
// Tags, valid lanes and dirty lanes of the entries, replacement, flush (RFC paper, 3.1; hierarchy
// thesis, 5.2). In each cycle this block compares the sources of one instruction and performs one operation:
// a value is written here, or a result around the cache takes lanes away, or, when there
// is none, one entry of a slot is evicted that is being flushed. An entry without valid lanes is
// empty; one without dirty lanes can be dropped. The data follows a cycle later (rfc_data).
//
// A written value comes from a unit, or from a last result file above, whose new value may take lanes away
// here at the same edge (rfc_lrf), or from the main register file; then it is clean (rfc_fills).
//
// Only the entries of the slot concerned are compared: an instruction has one slot, and so does an
// operation.
`include "gpurf_assert.svh"

module rfc_tags
  import gpurf_pkg::*;
#(
  parameter int unsigned Slots = 8,
  parameter int unsigned Entries = 6,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned Words = Slots * Entries,
  localparam int unsigned IndexW = (Words > 1) ? $clog2(Words) : 1,
  localparam int unsigned PortW = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [2:0]          cfg_i,                       // prompt, LRU, live

  // the instruction in T
  input  logic                look_valid_i,
  input  logic                look_move_i,                 // the instruction leaves T
  input  logic [LocalW-1:0]   look_slot_i,
  input  logic [Lanes-1:0]    look_mask_i,
  input  logic [Operands-1:0] look_src_valid_i,
  input  logic [RegW-1:0]     look_reg_i      [Operands],
  input  logic [Operands-1:0] look_last_i,                 // last reads
  output logic [Lanes-1:0]    hit_mask_o      [Operands],
  output logic [IndexW-1:0]   hit_index_o     [Operands],
  output logic [PortW-1:0]    hit_port_o      [Operands],  // read port that serves the source
  output logic [Operands-1:0] read_o,                      // read ports that read

  // an operation
  input  logic                op_valid_i,
  input  logic                op_kill_i,                   // the result goes around the cache
  input  logic [LocalW-1:0]   op_slot_i,
  input  logic [RegW-1:0]     op_reg_i,
  input  logic [Lanes-1:0]    op_mask_i,
  input  logic                op_clean_i,                  // the main register file has it too
  input  logic                take_valid_i,                // another register loses lanes at the same time
  input  logic [RegW-1:0]     take_reg_i,
  input  logic [Lanes-1:0]    take_mask_i,
  output logic                op_ready_o,
  output logic [IndexW-1:0]   op_index_o,

  // an eviction
  input  logic                evict_room_i,
  output logic                evict_valid_o,
  output logic [PortW-1:0]    evict_port_o,
  output logic [IndexW-1:0]   evict_index_o,
  output logic [LocalW-1:0]   evict_slot_o,
  output logic [RegW-1:0]     evict_reg_o,
  output logic [Lanes-1:0]    evict_mask_o,

  // slots that are emptied
  input  logic [Slots-1:0]    flush_i,
  input  logic [Slots-1:0]    drop_i,
  output logic [Slots-1:0]    clean_o,

  output rfc_tags_event_t     event_o
);

  localparam int unsigned EntryNumW = (Entries > 1) ? $clog2(Entries) : 1;

  logic [Lanes-1:0]     valid_q [Words];
  logic [Lanes-1:0]     dirty_q [Words];
  logic [RegW-1:0]      tag_q   [Words];
  logic [EntryNumW-1:0] next_q  [Slots];  // FIFO: number of the next victim
  logic [Entries-1:0]   older_q [Words];  // LRU: entries of the slot that were used earlier

  logic live;
  logic lru;
  logic prompt;

  // the instruction
  logic [Operands-1:0] hit;
  logic [Operands-1:0] first;                // no lower source has the same register
  logic [Entries-1:0]  look_entry [Operands];  // the entry of the slot that matches
  logic [Entries-1:0]  dies;                 // entries that a last read makes dead
  logic                look_uses;            // the look-up makes entries the youngest

  // evictions
  logic                possible;
  logic [PortW-1:0]    free_port;            // lowest read port that no operand uses

  // the operation
  logic [Entries-1:0]   op_match;
  logic [Entries-1:0]   op_entry;            // the entry that the operation uses
  logic [EntryNumW-1:0] op_number;
  logic                 op_found;            // an entry matches
  logic                 write;               // a result is written
  logic                 allocate;            // the write allocates an entry
  logic                 kill;                // an entry loses lanes
  logic [Lanes-1:0]     op_dirty;            // lanes that a write makes dirty
  logic [Entries-1:0]   takes;               // entries that lose lanes while another entry is written
  logic                 must_evict;

  // flush
  logic                 flush_found;         // a slot has dirty lanes to write back
  logic [LocalW-1:0]    flush_slot;
  logic [EntryNumW-1:0] flush_number;
  logic                 flush;
  logic [Slots-1:0]     empties;

  // The index of an entry of a slot.
  function automatic logic [IndexW-1:0] index_of(logic [LocalW-1:0] slot, int unsigned entry);
    return IndexW'(Entries * 32'(slot) + entry);
  endfunction

  assign live    = cfg_i[0];
  assign lru     = cfg_i[1];
  assign prompt  = cfg_i[2];

  // ------------------------------------------------------------------ the instruction in T
  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      hit_mask_o[k]  = '0;
      hit_index_o[k] = '0;
      hit_port_o[k]  = '0;
      look_entry[k]  = '0;
      first[k]       = look_valid_i & look_src_valid_i[k];
      if (look_valid_i && look_src_valid_i[k]) begin
        for (int unsigned e = 0; e < Entries; e++) begin
          if (tag_q[index_of(look_slot_i, e)] == look_reg_i[k] &&
              valid_q[index_of(look_slot_i, e)] != '0) begin
            hit_mask_o[k]    = valid_q[index_of(look_slot_i, e)] & look_mask_i;
            look_entry[k][e] = 1'b1;
            if (hit_mask_o[k] != '0) hit_index_o[k] = index_of(look_slot_i, e);
          end
        end
        // The loop runs downwards, so that the lowest remains.
        for (int unsigned j = k; j > 0; j--) begin
          if (look_src_valid_i[j-1] && look_reg_i[j-1] == look_reg_i[k]) first[k] = 1'b0;
        end
        if (hit_mask_o[k] != '0) begin
          hit_port_o[k] = PortW'(k);
          for (int unsigned j = k; j > 0; j--) begin
            if (look_src_valid_i[j-1] && look_reg_i[j-1] == look_reg_i[k]) begin
              hit_port_o[k] = PortW'(j - 1);
            end
          end
        end
      end
      hit[k]    = hit_mask_o[k] != '0;
      read_o[k] = hit[k] & first[k];
    end
  end

  always_comb begin
    dies      = '0;
    look_uses = lru && look_move_i && hit != '0;
    if (live && look_move_i) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (look_last_i[k] && hit[k]) dies = dies | look_entry[k];
      end
    end
  end

  // Operands have priority: an eviction uses the lowest read port that they leave free.
  always_comb begin
    possible  = 1'b0;
    free_port = '0;
    for (int unsigned k = Operands; k > 0; k--) begin
      if (!(look_move_i && read_o[k-1])) begin
        possible  = evict_room_i;
        free_port = PortW'(k - 1);
      end
    end
  end

  // ------------------------------------------------------------------ the operation
  always_comb begin
    op_match  = '0;
    op_number = '0;
    if (op_valid_i) begin
      for (int unsigned e = Entries; e > 0; e--) begin
        if (tag_q[index_of(op_slot_i, e - 1)] == op_reg_i &&
            valid_q[index_of(op_slot_i, e - 1)] != '0) begin
          op_match[e-1] = 1'b1;
          op_number     = EntryNumW'(e - 1);
        end
      end
      // The victim: entries in turn (FIFO), or the entry than which none is older (LRU).
      if (op_match == '0) begin
        if (!lru) begin
          op_number = next_q[op_slot_i];
        end else begin
          for (int unsigned e = Entries; e > 0; e--) begin
            if (older_q[index_of(op_slot_i, e - 1)] == '0) op_number = EntryNumW'(e - 1);
          end
        end
      end
    end
    op_found = op_match != '0;
    op_entry = Entries'(1) << op_number;
  end

  always_comb begin
    must_evict = op_valid_i && !op_kill_i && !op_found &&
                 dirty_q[index_of(op_slot_i, 32'(op_number))] != '0;
    op_ready_o = op_valid_i && (!must_evict || possible);
    op_index_o = (op_valid_i && !op_kill_i) ? index_of(op_slot_i, 32'(op_number)) : '0;
    write      = op_ready_o && !op_kill_i;
    allocate   = write && !op_found;
    kill       = op_valid_i && op_kill_i && op_found;
    op_dirty   = op_clean_i ? '0 : op_mask_i;
  end

  always_comb begin
    takes = '0;
    if (take_valid_i && write) begin
      for (int unsigned e = 0; e < Entries; e++) begin
        takes[e] = tag_q[index_of(op_slot_i, e)] == take_reg_i &&
                   valid_q[index_of(op_slot_i, e)] != '0 && !op_entry[e];
      end
    end
  end

  // ------------------------------------------------------------------ flush
  always_comb begin
    for (int unsigned j = 0; j < Slots; j++) begin
      clean_o[j] = 1'b1;
      for (int unsigned e = 0; e < Entries; e++) begin
        if (dirty_q[Entries*j+e] != '0) clean_o[j] = 1'b0;
      end
    end
  end

  always_comb begin
    flush_found  = (flush_i & ~drop_i & ~clean_o) != '0;
    flush_slot   = '0;
    flush_number = '0;
    if (flush_found) begin
      for (int unsigned j = Slots; j > 0; j--) begin
        if (flush_i[j-1] && !drop_i[j-1] && !clean_o[j-1]) flush_slot = LocalW'(j - 1);
      end
      for (int unsigned e = Entries; e > 0; e--) begin
        if (dirty_q[index_of(flush_slot, e - 1)] != '0) flush_number = EntryNumW'(e - 1);
      end
    end
    flush   = flush_found && possible &&
              (!op_valid_i || (prompt && !op_kill_i && !must_evict));
    empties = flush_i & (drop_i | clean_o);
  end

  // ------------------------------------------------------------------ evictions
  always_comb begin
    evict_valid_o = flush || (must_evict && possible);
    evict_port_o  = free_port;
    evict_slot_o  = must_evict ? op_slot_i : flush_slot;
    evict_index_o = must_evict ? index_of(op_slot_i, 32'(op_number))
                               : index_of(flush_slot, 32'(flush_number));
    evict_reg_o   = tag_q[evict_index_o];
    evict_mask_o  = dirty_q[evict_index_o];
  end

  // ------------------------------------------------------------------ state
  for (genvar j = 0; j < Slots; j++) begin : gen_slot
    logic look_here;
    logic op_here;
    logic flush_here;
    logic touched;

    assign look_here  = look_move_i && look_slot_i == LocalW'(j);
    assign op_here    = (write || kill) && op_slot_i == LocalW'(j);
    assign flush_here = flush && flush_slot == LocalW'(j);
    assign touched    = (look_here && dies != '0) || op_here || flush_here || empties[j];

    for (genvar e = 0; e < Entries; e++) begin : gen_entry
      // Priority, lowest first: last reads, the operation or the flush, emptying of the slot.
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          valid_q[Entries*j+e] <= '0;
          dirty_q[Entries*j+e] <= '0;
        end else if (touched) begin
          if (empties[j] || (flush_here && flush_number == EntryNumW'(e))) begin
            valid_q[Entries*j+e] <= '0;
            dirty_q[Entries*j+e] <= '0;
          end else if (op_here && op_entry[e]) begin
            if (allocate) begin
              valid_q[Entries*j+e] <= op_mask_i;
              dirty_q[Entries*j+e] <= op_dirty;
            end else if (write) begin
              valid_q[Entries*j+e] <= valid_q[Entries*j+e] | op_mask_i;
              dirty_q[Entries*j+e] <= (dirty_q[Entries*j+e] &
                                       ~((look_here && dies[e]) ? look_mask_i : '0)) | op_dirty;
            end else begin
              valid_q[Entries*j+e] <= valid_q[Entries*j+e] & ~op_mask_i;
              dirty_q[Entries*j+e] <= dirty_q[Entries*j+e] & ~op_mask_i &
                                      ~((look_here && dies[e]) ? look_mask_i : '0);
            end
          end else if (op_here && takes[e]) begin
            valid_q[Entries*j+e] <= valid_q[Entries*j+e] & ~take_mask_i;
            dirty_q[Entries*j+e] <= dirty_q[Entries*j+e] & ~take_mask_i &
                                    ~((look_here && dies[e]) ? look_mask_i : '0);
          end else if (look_here && dies[e]) begin
            dirty_q[Entries*j+e] <= dirty_q[Entries*j+e] & ~look_mask_i;
          end
        end
      end

      // A used entry becomes the youngest: all others are older than it, and it is older than none.
      always_ff @(posedge clk_i) begin : order
        automatic logic [Entries-1:0] older;
        if (!rst_ni) begin
          older_q[Entries*j+e] <= (Entries'(1) << e) - 1'b1;
        end else if (lru && ((look_uses && look_here) || (write && op_here))) begin
          older = older_q[Entries*j+e];
          for (int unsigned k = 0; k < Operands; k++) begin
            if (look_here && hit[k]) begin
              older = look_entry[k][e] ? ~(Entries'(1) << e) : older & ~look_entry[k];
            end
          end
          if (write && op_here) begin
            older = op_entry[e] ? ~(Entries'(1) << e) : older & ~op_entry;
          end
          older_q[Entries*j+e] <= older;
        end
      end

      `GPURF_ASSERT_WHEN(dirty_is_valid, touched,
                         (dirty_q[Entries*j+e] & ~valid_q[Entries*j+e]) == '0,
                         "a lane is dirty that is not valid")
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni || empties[j]) begin
        next_q[j] <= '0;
      end else if (allocate && !lru && op_here) begin
        next_q[j] <= (next_q[j] == EntryNumW'(Entries - 1)) ? '0 : next_q[j] + 1'b1;
      end
    end
  end

  // Tags have no reset: they mean nothing without a valid lane.
  always_ff @(posedge clk_i) begin
    if (allocate) tag_q[op_index_o] <= op_reg_i;
  end

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o      = '0;
    event_o.look = look_valid_i;
    if (look_move_i) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (first[k]) begin
          if (hit_mask_o[k] == look_mask_i) event_o.hit     = event_o.hit + 1'b1;
          else if (hit[k])                  event_o.partial = event_o.partial + 1'b1;
          else                              event_o.miss    = event_o.miss + 1'b1;
          if (live && hit[k] && look_last_i[k]) event_o.marked = event_o.marked + 1'b1;
        end
        if (read_o[k]) begin
          event_o.read_groups = event_o.read_groups + 5'(active_groups(hit_mask_o[k]));
        end
      end
    end
    event_o.write_hit    = write & op_found;
    event_o.allocate     = allocate;
    event_o.write_groups = write ? active_groups(op_mask_i) : '0;
    event_o.evict        = must_evict & possible;
    event_o.dead         = allocate && !must_evict && valid_q[op_index_o] != '0;
    event_o.flush        = flush;
    event_o.evict_groups = evict_valid_o ? active_groups(evict_mask_o) : '0;
    event_o.kill         = kill && (valid_q[index_of(op_slot_i, 32'(op_number))] & op_mask_i) != '0;
    event_o.waiting      = op_valid_i & ~op_ready_o;
    if (empties != '0) begin
      for (int unsigned j = 0; j < Slots; j++) begin
        for (int unsigned e = 0; e < Entries; e++) begin
          if (empties[j] && valid_q[Entries*j+e] != '0) begin
            if (drop_i[j]) event_o.drop  = 1'b1;
            else           event_o.clean = 1'b1;
          end
        end
      end
    end
  end

  for (genvar k = 0; k < Operands; k++) begin : gen_look_check
    `GPURF_ASSERT_WHEN(one_entry_for_source, look_valid_i && look_src_valid_i[k],
                       $countones(look_entry[k]) <= 1,
                       "two entries of a slot hold one register")
  end
  `GPURF_ASSERT_WHEN(one_entry_for_result, op_valid_i, $countones(op_match) <= 1,
                     "two entries of a slot hold one register")
  `GPURF_ASSERT_WHEN(move_of_something, look_move_i, look_valid_i,
                     "an instruction leaves T that is not there")
  `GPURF_ASSERT_WHEN(no_write_in_flush, op_valid_i && !op_kill_i, !flush_i[op_slot_i],
                     "a result is written to a slot that is being emptied")
  `GPURF_ASSERT_WHEN(no_look_in_flush, look_valid_i, !flush_i[look_slot_i],
                     "an instruction reads a slot that is being emptied")

endmodule

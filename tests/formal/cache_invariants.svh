// Of cache_property: where the byte and the part are that are followed, and what keeps them there.
// Included in the module.

  localparam int unsigned Sets = Lines / Ways;
  localparam int unsigned SetW = $clog2(Sets);
  localparam int unsigned WayW = (Ways > 1) ? $clog2(Ways) : 1;
  localparam int unsigned TagW = LineW - SetW;
  localparam int unsigned EntryW = $clog2(Lines);
  localparam int unsigned NumberW = $clog2(HitQueueDepth);

  // ------------------------------------------------------------------ state of the blocks, by name
  logic [Ways-1:0]           valid    [Sets];
  logic [Ways-1:0][WayW-1:0] order    [Sets];
  logic [TagW-1:0]           cell_tag [Ways][Sets];
  logic [TagW-1:0]           read_tag [Ways];         // what the lookup compares with
  logic                      bypass;
  logic [WayW-1:0]           bypass_way;
  logic [TagW-1:0]           bypass_tag;

  assign bypass     = dut.u_cache_tags.bypass_valid_q;
  assign bypass_way = dut.u_cache_tags.bypass_way_q;
  assign bypass_tag = dut.u_cache_tags.bypass_tag_q;
  for (genvar s = 0; s < Sets; s++) begin : gen_set
    assign valid[s] = dut.u_cache_tags.valid_q[s];
    assign order[s] = dut.u_cache_tags.order_q[s];
    for (genvar w = 0; w < Ways; w++) begin : gen_way
      assign cell_tag[w][s] = dut.u_cache_tags.gen_way[w].u_ram.mem_q[s][TagW-1:0];
    end
  end
  for (genvar w = 0; w < Ways; w++) begin : gen_read
    assign read_tag[w] = (bypass && bypass_way == WayW'(w))
                             ? bypass_tag : dut.u_cache_tags.gen_way[w].u_ram.rdata_q[TagW-1:0];
  end

  logic                      c_valid, c_store;
  logic [EntryW-1:0]         c_entry;
  logic [DataW-1:0]          data_cell [Lines];
  logic [DataW-1:0]          data_out;

  assign c_valid  = dut.u_cache_access.access_valid_q;
  assign c_store  = dut.u_cache_access.store_q;
  assign c_entry  = dut.u_cache_access.entry_q;
  assign data_out = dut.u_cache_access.gen_own.u_ram.rdata_q;
  for (genvar e = 0; e < Lines; e++) begin : gen_entry
    assign data_cell[e] = dut.u_cache_access.gen_own.u_ram.mem_q[e];
  end

  logic [MissW-1:0]          first_miss;
  logic [MissW:0]            misses;
  logic [Misses-1:0]         open;
  logic [LineW-1:0]          miss_line [Misses];
  logic                      at_hand;
  logic [DataW-1:0]          hand_data;
  logic [Rows-1:0]           row_used;
  logic [MissW-1:0]          row_miss  [Rows];

  assign first_miss = dut.u_cache_misses.first_q;
  assign misses     = dut.u_cache_misses.count_q;
  assign open       = dut.u_cache_misses.open_q;
  assign at_hand    = dut.u_cache_misses.rsp_valid_q;
  assign hand_data  = dut.u_cache_misses.rsp_data_q;
  assign row_used   = dut.u_cache_misses.row_used_q;
  for (genvar m = 0; m < Misses; m++) begin : gen_miss
    assign miss_line[m] = dut.u_cache_misses.line_q[m];
  end
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign row_miss[r] = dut.u_cache_misses.row_miss_q[r];
  end

  logic [Rows-1:0]           used, closed;
  logic [PartsW-1:0]         parts     [Rows];
  logic [LoadW-1:0]          current;
  logic [NumberW-1:0]        first_hit;
  logic [NumberW:0]          hits;

  assign used      = dut.u_cache_results.used_q;
  assign closed    = dut.u_cache_results.closed_q;
  assign current   = dut.u_cache_results.current_q;
  assign first_hit = dut.u_cache_results.u_hits.first_q;
  assign hits      = dut.u_cache_results.u_hits.count_q;
  for (genvar n = 0; n < Rows; n++) begin : gen_number
    assign parts[n] = dut.u_cache_results.count_q[n];
  end

  // ------------------------------------------------------------------ places of parts, in any order
  localparam int unsigned InT = 0;                  // rows: T, those that wait, C, D
  localparam int unsigned InRow = 1;
  localparam int unsigned InC = InRow + Rows;
  localparam int unsigned InD = InC + 1;
  localparam int unsigned RowPlaces = InD + 1;
  localparam int unsigned InHits = RowPlaces;       // results
  localparam int unsigned InResult = InHits + HitQueueDepth;
  localparam int unsigned Places = InResult + 1;

  logic [Places-1:0]         holds;
  logic [Places-1:0]         holds_part;            // the one that is followed
  logic [Places-1:0]         holds_load;            // one of the load that is followed
  logic [LoadW-1:0]          number    [Places];    // of its load
  logic [WarpW-1:0]          warp      [Places];
  cache_row_t                row_in    [RowPlaces];
  result_t                   result_in [Places];
  logic [Places-1:0]         reg_in;
  logic [DataW-1:0]          data_in   [Places];

  assign holds[InT]  = t_valid_q && t_answer_q;
  assign row_in[InT] = dut.row_q;
  assign number[InT] = dut.load_q;
  for (genvar r = 0; r < Rows; r++) begin : gen_in_row
    assign holds[InRow+r]  = row_used[r];
    assign row_in[InRow+r] = dut.u_cache_misses.row_q[r];
    assign number[InRow+r] = dut.u_cache_misses.row_load_q[r];
  end
  assign holds[InC]  = c_valid && !c_store;
  assign row_in[InC] = dut.u_cache_access.row_q;
  assign number[InC] = dut.u_cache_access.load_q;
  assign holds[InD]  = dut.u_cache_access.line_valid_q;
  assign row_in[InD] = dut.u_cache_access.line_row_q;
  assign number[InD] = dut.u_cache_access.line_load_q;
  for (genvar p = 0; p < RowPlaces; p++) begin : gen_row_warp
    assign warp[p]      = row_in[p].warp;
    assign result_in[p] = '0;
    assign reg_in[p]    = 1'b0;
    assign data_in[p]   = '0;
  end
  for (genvar i = 0; i < HitQueueDepth; i++) begin : gen_in_hits
    logic [NumberW-1:0] behind;                     // places behind the head
    assign behind              = NumberW'(i) - first_hit;
    assign holds[InHits+i]     = (NumberW+1)'(behind) < hits;
    assign number[InHits+i]    = dut.u_cache_results.number_q[i];
    assign result_in[InHits+i] = dut.u_cache_results.u_hits.result_q[i];
    assign reg_in[InHits+i]    = dut.u_cache_results.u_hits.reg_valid_q[i];
    assign data_in[InHits+i]   = dut.u_cache_results.u_hits.data_q[i];
    assign warp[InHits+i]      = result_in[InHits+i].warp;
  end
  assign holds[InResult]     = dut.u_cache_misses.result_valid_q;
  assign number[InResult]    = dut.u_cache_misses.result_load_q;
  assign result_in[InResult] = dut.u_cache_misses.result_q;
  assign reg_in[InResult]    = dut.u_cache_misses.result_reg_valid_q;
  assign data_in[InResult]   = dut.u_cache_misses.result_data_q;
  assign warp[InResult]      = result_in[InResult].warp;
  for (genvar p = 0; p < Places; p++) begin : gen_holds
    assign holds_part[p] = holds[p] && warp[p][PartTag];
    assign holds_load[p] = holds[p] && warp[p][LoadTag];
  end

  // ------------------------------------------------------------------ what keeps it there
  logic tags_agree;
  logic order_agrees;
  logic misses_agree;
  logic line_is_once;
  logic memory_agrees;
  logic answer_agrees;
  logic cache_has_newest;
  logic open_has_newest;
  logic rows_agree;
  logic request_agrees;
  logic part_is_once;
  logic part_agrees;
  logic row_reads_value;
  logic hit_reads_value;
  logic results_agree;
  logic hits_agree;
  logic numbers_agree;
  logic passes_agree;
  logic load_agrees;
  logic nothing_overflows;
  logic contracts_hold;

  logic [SetW-1:0]           t_set;
  logic [Misses-1:0]         in_use;       // misses
  logic                      pending;      // C has a store of the byte that is followed
  logic [SetW-1:0]           star_set;
  logic [Ways-1:0]           star_ways;    // that have its line

  assign t_set    = t_line_q[SetW-1:0];
  assign star_set = star_line_q[SetW-1:0];
  assign pending  = c_valid && c_store && dut.u_cache_access.bytes_q[star_byte_q];

  for (genvar m = 0; m < Misses; m++) begin : gen_in_use
    logic [MissW-1:0] behind;
    assign behind    = MissW'(m) - first_miss;
    assign in_use[m] = (MissW+1)'(behind) < misses;
  end
  for (genvar w = 0; w < Ways; w++) begin : gen_star_way
    assign star_ways[w] = valid[star_set][w] && cell_tag[w][star_set] == star_line_q[LineW-1:SetW];
  end

  function automatic logic [EntryW-1:0] entry_of(int unsigned way, logic [SetW-1:0] in_set);
    return EntryW'(way * Sets) + EntryW'(in_set);
  endfunction

  // What is compared with the line in T are the tags of its set, and at most one way has a line. A texture fetch
  // has none, and its first request comes without a lookup.
  always_comb begin
    tags_agree = 1'b1;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (t_valid_q && t_kind_q != KindTexture && read_tag[w] != cell_tag[w][t_set]) tags_agree = 1'b0;
      for (int unsigned v = 0; v < w; v++) begin
        for (int unsigned s = 0; s < Sets; s++) begin
          if (valid[s][w] && valid[s][v] && cell_tag[w][s] == cell_tag[v][s]) tags_agree = 1'b0;
        end
      end
    end
  end

  // An order names each way.
  always_comb begin : orders
    logic [Ways-1:0] named;
    order_agrees = 1'b1;
    for (int unsigned s = 0; s < Sets; s++) begin
      named = '0;
      for (int unsigned w = 0; w < Ways; w++) named[order[s][w]] = 1'b1;
      if (Ways == 1 ? order[s] != '0 : named != '1) order_agrees = 1'b0;
    end
  end

  // A line has at most one open miss, and none if it is in the cache.
  always_comb begin
    misses_agree = (open & ~in_use) == '0 && (!at_hand || misses != '0);
    line_is_once = 1'b1;
    for (int unsigned m = 0; m < Misses; m++) begin
      if (open[m]) begin
        for (int unsigned k = 0; k < m; k++) begin
          if (open[k] && miss_line[k] == miss_line[m]) line_is_once = 1'b0;
        end
        for (int unsigned w = 0; w < Ways; w++) begin
          if (valid[miss_line[m][SetW-1:0]][w] &&
              cell_tag[w][miss_line[m][SetW-1:0]] == miss_line[m][LineW-1:SetW]) begin
            line_is_once = 1'b0;
          end
        end
      end
    end
  end

  // Memory and the cache count the same requests.
  always_comb begin
    memory_agrees = ask_first_q == first_miss + MissW'(at_hand) &&
                    ask_count_q + (MissW+1)'(at_hand) == misses;
    for (int unsigned m = 0; m < Misses; m++) begin
      if (in_use[m]) begin
        if (ask_star_q[m] != (!ask_lanewise_q[m] && miss_line[m] == star_line_q)) memory_agrees = 1'b0;
        if (open[m] && ask_lanewise_q[m])                                        memory_agrees = 1'b0;
      end
    end
  end

  // The answer at hand is what memory has said.
  always_comb begin
    answer_agrees = 1'b1;
    if (at_hand && ask_star_q[first_miss]) begin
      answer_agrees = dut.u_cache_misses.rsp_present_q == star_present_q &&
                      dut.u_cache_misses.rsp_fault_q == star_fault_q &&
                      (!exists || hand_data[8*star_byte_q +: 8] == ask_value_q[first_miss]);
    end
    if (at_hand && ask_lanewise_q[first_miss]) begin
      answer_agrees = hand_data[LaneW*star_lane_q + 8*star_byte_q[1:0] +: 8] == ask_value_q[first_miss];
    end
  end

  // A line that is in the cache has what memory has, but for a store in C, and so has the answer to
  // an open miss.
  always_comb begin
    cache_has_newest = star_ways == '0 || whole;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (star_ways[w] &&
          ((pending && c_entry == entry_of(w, star_set))
               ? dut.u_cache_access.data_q[8*star_byte_q +: 8]
               : data_cell[entry_of(w, star_set)][8*star_byte_q +: 8]) != value_q) begin
        cache_has_newest = 1'b0;
      end
    end
    open_has_newest = 1'b1;
    for (int unsigned m = 0; m < Misses; m++) begin
      if (open[m] && ask_star_q[m] && ask_value_q[m] != value_q) open_has_newest = 1'b0;
    end
  end

  // A row waits for a miss that is in use.
  always_comb begin
    rows_agree = 1'b1;
    for (int unsigned r = 0; r < Rows; r++) begin
      if (row_used[r] && !in_use[row_miss[r]]) rows_agree = 1'b0;
    end
  end

  // The row of the request in T says the same as the request.
  always_comb begin
    request_agrees = 1'b1;
    if (t_valid_q) begin
      if (t_size_q > SizeWord || !are_aligned(t_offset_q, t_mask_q, t_size_q)) begin
        request_agrees = 1'b0;
      end
      if (t_kind_q == KindLoad && !t_answer_q) request_agrees = 1'b0;
      if (t_kind_q == KindStore && t_answer_q) request_agrees = 1'b0;
      if (t_answer_q && row_in[InT].lanewise != is_lanewise(t_kind_q)) request_agrees = 1'b0;
      if (holds_part[InT] && (part_line_q != t_line_q || part_q.mask != t_mask_q || part_q.size != t_size_q ||
                              part_q.offset != t_offset_q)) begin
        request_agrees = 1'b0;
      end
    end
  end

  // The part that is followed is in one place while it is in flight, unchanged.
  always_comb begin
    part_is_once = $countones(holds_part) == 32'(part_valid_q) &&
                   (!part_valid_q || holds_part[InT] == !part_left_q);
    part_agrees  = !part_valid_q || (part_q.warp[PartTag] && (part_q.reg_valid || part_q.reg_name == '0) &&
                                     are_aligned(part_q.offset, part_q.mask, part_q.size) &&
                                     part_q.size <= SizeWord);
    for (int unsigned p = 0; p < RowPlaces; p++) begin
      if (holds_part[p] && row_in[p] != part_q) part_agrees = 1'b0;
    end
    for (int unsigned p = RowPlaces; p < Places; p++) begin
      if (holds_part[p] && !(is_part(result_in[p]) && reg_in[p] == part_q.reg_valid)) part_agrees = 1'b0;
    end
  end

  // In a row it waits for an answer with what it has to read, where it reads the byte.
  always_comb begin
    row_reads_value = 1'b1;
    for (int unsigned r = 0; r < Rows; r++) begin
      if (holds_part[InRow+r]) begin
        if (part_q.lanewise != ask_lanewise_q[row_miss[r]] || part_star != ask_star_q[row_miss[r]]) begin
          row_reads_value = 1'b0;
        end
        if ((part_q.lanewise || part_touches) && ask_value_q[row_miss[r]] != part_value_q) begin
          row_reads_value = 1'b0;
        end
        if (part_star && part_fault_q && !part_absent) row_reads_value = 1'b0;
      end
    end
  end

  // In C it stands before the entry of its line, in D the line has been read.
  always_comb begin
    hit_reads_value = 1'b1;
    if (holds_part[InC] && part_star && data_cell[c_entry][8*star_byte_q +: 8] != part_value_q) begin
      hit_reads_value = 1'b0;
    end
    if (holds_part[InD] && part_star && data_out[8*star_byte_q +: 8] != part_value_q) begin
      hit_reads_value = 1'b0;
    end
    if (holds_part[InC] || holds_part[InD]) begin
      if (part_q.lanewise || (part_star && (part_absent || !whole || part_fault_q))) hit_reads_value = 1'b0;
    end
    if (holds_part[InT] && part_fault_q) hit_reads_value = 1'b0;
  end

  // As a result it has read it, and a fault was reported if there was one.
  always_comb begin
    results_agree = 1'b1;
    for (int unsigned p = RowPlaces; p < Places; p++) begin
      if (holds_part[p]) begin
        if (part_q.reg_valid && !has_value(data_in[p])) results_agree = 1'b0;
        if (part_star && part_fault_q != part_absent)   results_agree = 1'b0;
      end
    end
  end

  // The numbers of the hits stand beside them.
  assign hits_agree = hits == dut.u_cache_results.number_count_q &&
                      first_hit == dut.u_cache_results.number_first_q;

  // A number is in use while parts with it are in flight.
  always_comb begin : numbers
    logic [$clog2(Places+1)-1:0] found;
    numbers_agree = 1'b1;
    for (int unsigned n = 0; n < Rows; n++) begin
      found = '0;
      for (int unsigned p = 0; p < Places; p++) begin
        if (holds[p] && number[p] == LoadW'(n)) found = found + 1'b1;
      end
      if (used[n] != (found != '0))                                             numbers_agree = 1'b0;
      if (used[n] && (found > ($clog2(Places+1))'(Lanes) || found != ($clog2(Places+1))'(parts[n]))) begin
        numbers_agree = 1'b0;
      end
    end
  end

  // An instruction has at most as many parts in flight as lanes were served, and continues its load.
  always_comb begin
    passes_agree = 1'b1;
    if (more_q && used[current]) begin
      if (closed[current] || 32'(parts[current]) > $countones(lanes_q)) passes_agree = 1'b0;
    end
  end

  // The parts of the load that is followed have one number, and no other part has it.
  always_comb begin
    load_agrees = $countones(holds_load) == 32'(load_parts_q);
    if (load_parts_q != '0) begin
      if (!used[load_number_q] || closed[load_number_q] != load_closed_q) load_agrees = 1'b0;
      if ((current == load_number_q) != load_now_q)                       load_agrees = 1'b0;
      for (int unsigned p = 0; p < Places; p++) begin
        if (holds[p] && holds_load[p] != (number[p] == load_number_q)) load_agrees = 1'b0;
      end
    end
    if (load_now_q && load_parts_q == '0 && used[current]) load_agrees = 1'b0;
  end

  assign nothing_overflows = misses <= (MissW+1)'(Misses) && hits <= (NumberW+1)'(HitQueueDepth) &&
                             ask_count_q <= (MissW+1)'(Misses);

  // Of what waits for memory or for its line there is nothing.
  assign idle_is_empty = !idle || (!t_valid_q && ask_count_q == '0 && row_used == '0 && !at_hand &&
                                   !c_valid && !holds[InD] && open == '0);

  // What the blocks assume of each other, beyond what is said above: their assertions.
  logic hit_in_t;

  assign hit_in_t = dut.cache_tags_hit;

  always_comb begin
    contracts_hold = 1'b1;
    // cache_tags: a line is used if it is there, and either way.
    if ((dut.tags_touch || dut.tags_invalidate) && !hit_in_t) contracts_hold = 1'b0;
    if (dut.tags_touch && dut.tags_invalidate)                contracts_hold = 1'b0;
    // cache_access: stores write first, and no line comes to the entry that is accessed.
    if (dut.fill_keep && dut.cache_access_write)                           contracts_hold = 1'b0;
    if (dut.cache_tags_fill_keep && c_valid && dut.cache_tags_fill_entry == c_entry) begin
      contracts_hold = 1'b0;
    end
    if (dut.tags_touch && dut.store_full)                                  contracts_hold = 1'b0;
    if ((dut.tags_touch || dut.store_full) && !dut.cache_access_in_ready)  contracts_hold = 1'b0;
    if (dut.tags_touch && !dut.store && row_in[InT].lanewise)              contracts_hold = 1'b0;
    // cache_misses: misses and rows have places, and rows have misses.
    if (dut.misses_allocate && !dut.cache_misses_room)                     contracts_hold = 1'b0;
    if (dut.misses_allocate && dut.open_miss && dut.cache_misses_open)     contracts_hold = 1'b0;
    if (dut.misses_row_valid && !dut.cache_misses_row_room)                contracts_hold = 1'b0;
    if (dut.misses_row_valid && !dut.misses_allocate && !dut.cache_misses_open) contracts_hold = 1'b0;
    if (dut.fill_take && !dut.cache_misses_fill_valid)                     contracts_hold = 1'b0;
    // cache_results: parts have numbers, and there is what is taken.
    if (row_valid && !dut.u_cache_results.continues && !room)              contracts_hold = 1'b0;
    if (result_valid && !(used[dut.u_cache_results.load] &&
                          parts[dut.u_cache_results.load] != '0))          contracts_hold = 1'b0;
    if (dut.u_cache_results.push && hits == (NumberW+1)'(HitQueueDepth))   contracts_hold = 1'b0;
    if (dut.u_cache_results.hit_pop && !dut.u_cache_results.hits_head_valid) contracts_hold = 1'b0;
  end

  always_comb begin
    if (started_q) begin
      must_reads_last_write: assert (reads_last_write);
      must_comes_once: assert (comes_once);
      must_done_with_last: assert (done_with_last);
      must_faults_agree: assert (faults_agree);
      must_request_stays: assert (request_stays);
      must_idle_is_empty: assert (idle_is_empty);
      must_line_is_once: assert (line_is_once);
      must_nothing_overflows: assert (nothing_overflows);
      must_tags_agree: assert (tags_agree);
      must_order_agrees: assert (order_agrees);
      must_misses_agree: assert (misses_agree);
      must_memory_agrees: assert (memory_agrees);
      must_answer_agrees: assert (answer_agrees);
      must_cache_has_newest: assert (cache_has_newest);
      must_open_has_newest: assert (open_has_newest);
      must_rows_agree: assert (rows_agree);
      must_request_agrees: assert (request_agrees);
      must_part_is_once: assert (part_is_once);
      must_part_agrees: assert (part_agrees);
      must_row_reads_value: assert (row_reads_value);
      must_hit_reads_value: assert (hit_reads_value);
      must_results_agree: assert (results_agree);
      must_hits_agree: assert (hits_agree);
      must_numbers_agree: assert (numbers_agree);
      must_passes_agree: assert (passes_agree);
      must_load_agrees: assert (load_agrees);
      thus_contracts_hold: assert (contracts_hold);
    end
  end

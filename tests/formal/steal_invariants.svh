// Of steal_property: where the value is, and what keeps it there. Included in the module.

  // ------------------------------------------------------------------ state of the blocks, by name
  logic [DataW-1:0]      bank_cell [Banks][Depth];
  logic [DataW-1:0]      bank_out  [Banks];
  logic [Collectors-1:0] busy;
  logic [Operands-1:0]   pending   [Collectors];
  logic [Operands-1:0]   inflight  [Collectors];
  logic [Operands-1:0]   src_valid [Collectors];
  logic [1:0]            leader    [Collectors][Operands];
  logic [BankW-1:0]      src_bank  [Collectors][Operands];
  logic [EntryW-1:0]     src_entry [Collectors][Operands];
  logic [Collectors-1:0] mine;
  logic [Collectors-1:0] older     [Collectors];
  logic [Collectors-1:0] same_warp [Collectors];
  logic [WarpW-1:0]      col_warp  [Collectors];
  logic [Lanes-1:0]      col_mask  [Collectors];
  logic [TagW-1:0]       col_tag   [Collectors];
  logic [DataW-1:0]      operand   [Collectors][Operands];
  logic [Slots-1:0]      filling;
  logic [BankW-1:0]      fill_bank [Slots];

  for (genvar b = 0; b < Banks; b++) begin : gen_bank_names
    assign bank_out[b] = dut.gen_bank[b].u_bank.gen_1rw.u_ram.rdata_q;
    for (genvar d = 0; d < Depth; d++) begin : gen_cell
      assign bank_cell[b][d] = dut.gen_bank[b].u_bank.gen_1rw.u_ram.mem_q[d];
    end
  end

  for (genvar c = 0; c < Collectors; c++) begin : gen_collector_names
    assign busy[c]      = dut.gen_collector[c].u_collector.busy_q;
    assign pending[c]   = dut.gen_collector[c].u_collector.pending_q;
    assign inflight[c]  = dut.gen_collector[c].u_collector.inflight_q;
    assign src_valid[c] = dut.gen_collector[c].u_collector.src_valid_q;
    assign col_warp[c]  = dut.gen_collector[c].u_collector.warp_q;
    assign col_mask[c]  = dut.gen_collector[c].u_collector.mask_q;
    assign col_tag[c]   = dut.gen_collector[c].u_collector.tag_q;
    assign mine[c]      = busy[c] && col_tag[c][WarpBit];
    assign older[c]     = dut.u_allocator.older_q[c];
    assign same_warp[c] = dut.u_allocator.same_warp_q[c];
    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign leader[c][k]    = dut.gen_collector[c].u_collector.leader_q[k];
      assign src_bank[c][k]  = dut.gen_collector[c].u_collector.bank_q[k];
      assign src_entry[c][k] = dut.gen_collector[c].u_collector.entry_q[k];
      assign operand[c][k]   = dut.u_crossbar.operand_q[Operands*c+k];
    end
  end

  assign filling   = dut.u_crossbar.fill_q;
  assign fill_bank = dut.u_crossbar.fill_bank_q;

  // ------------------------------------------------------------------ where the value is
  logic [BankW-1:0]      star_bank;
  logic [EntryW-1:0]     star_entry;
  logic [IssuePorts-1:0] head_star;    // the result in the queue is for what is followed
  logic [Banks-1:0]      parked_star;  // the value parked in the bank is
  logic                  land_star;    // the value that lands is
  logic                  free_star;    // its entry is one where values are parked
  logic                  stored;       // the value without results in queues
  logic                  newest;

  function automatic logic [BankW-1:0] bank_of(logic [NumberW-1:0] number, logic [RegW-1:0] name);
    return BankW'(32'(number) + 32'(name));
  endfunction

  function automatic logic [EntryW-1:0] entry_of(logic [NumberW-1:0] number,
                                                 logic [RegW-1:0] name);
    return base_of(number) + EntryW'(32'(name) / Banks);
  endfunction

  assign star_bank  = bank_of(star_warp_q, star_reg_q);
  assign star_entry = entry_of(star_warp_q, star_reg_q);
  assign land_star  = dut.land_valid && dut.land_bank == star_bank && dut.land_entry == star_entry;
  assign free_star  = dut.free_valid[star_bank] && dut.free_entry[star_bank] == star_entry;

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      head_star[p] = dut.head_valid[p] && dut.head_bank[p] == star_bank &&
                     dut.head_entry[p] == star_entry;
    end
    for (int unsigned b = 0; b < Banks; b++) begin
      parked_star[b] = dut.parked[b] && dut.parked_bank[b] == star_bank &&
                       dut.parked_entry[b] == star_entry;
    end
  end

  always_comb begin
    stored = bank_cell[star_bank][star_entry][LaneW*star_lane_q];
    for (int unsigned b = 0; b < Banks; b++) begin
      if (parked_star[b]) stored = bank_cell[b][dut.free_entry[b]][LaneW*star_lane_q];
    end
    if (land_star) stored = bank_out[dut.land_source][LaneW*star_lane_q];
    newest = stored;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (head_star[p] && dut.head_mask[p][star_lane_q]) begin
        newest = dut.head_data[p][LaneW*star_lane_q];
      end
    end
  end

  // ------------------------------------------------------------------ what keeps it there
  logic value_is_newest;
  logic queues_agree;
  logic table_agrees;
  logic one_place;
  logic places_are_dead;
  logic candidates_agree;
  logic instructions_agree;
  logic order_agrees;
  logic sources_agree;
  logic operands_agree;

  assign value_is_newest = !known_q || newest == value_q;

  // The environment knows what is in the queues, and register and place are one there.
  always_comb begin
    queues_agree = $countones(head_star) == 32'(written_q);
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dut.head_valid[p] && head_star[p] != (dut.head_warp[p] == WarpW'(star_warp_q) &&
                                                dut.head_reg[p] == star_reg_q)) begin
        queues_agree = 1'b0;
      end
    end
  end

  // What is parked stands in a free entry, and none goes to a free entry.
  always_comb begin
    table_agrees = (dut.parked & ~dut.free_valid) == '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      for (int unsigned c = 0; c < Banks; c++) begin
        if (dut.free_valid[b] && dut.parked[c] && dut.parked_bank[c] == BankW'(b) &&
            dut.parked_entry[c] == dut.free_entry[b]) begin
          table_agrees = 1'b0;
        end
      end
    end
  end

  // What is followed is parked once at most, or lands, and nothing lands on it.
  always_comb begin
    one_place = $countones(parked_star) + $countones(land_star) < 2;
    for (int unsigned b = 0; b < Banks; b++) begin
      if (parked_star[b] && dut.land_valid && dut.land_bank == BankW'(b) &&
          dut.land_entry == dut.free_entry[b]) begin
        one_place = 1'b0;
      end
    end
  end

  // A place for values has none of its own, but one that comes.
  always_comb begin
    places_are_dead = 1'b1;
    if (free_star && known_q) begin
      places_are_dead = 1'b0;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (head_star[p] && dut.head_mask[p][star_lane_q]) places_are_dead = 1'b1;
      end
    end
  end

  // The candidates are those of the environment, with the places of their registers.
  always_comb begin
    candidates_agree = 1'b1;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dut.u_candidates.valid_q[p]) begin
        if (!candidate_q[p] || dut.want_warp[p] != WarpW'(candidate_warp_q[p])) begin
          candidates_agree = 1'b0;
        end
        for (int unsigned i = Operands * p; i < Operands * (p + 1); i++) begin
          if (candidate_src_valid_q[i] &&
              (dut.want_bank[i] != bank_of(candidate_warp_q[p], candidate_src_reg_q[i]) ||
               dut.want_entry[i] != entry_of(candidate_warp_q[p], candidate_src_reg_q[i]))) begin
            candidates_agree = 1'b0;
          end
          if (dut.u_candidates.leader_q[i] && !candidate_src_valid_q[i]) candidates_agree = 1'b0;
          for (int unsigned lower = Operands * p; lower < i; lower++) begin
            if (dut.u_candidates.leader_q[i] && candidate_src_valid_q[lower] &&
                candidate_src_reg_q[lower] == candidate_src_reg_q[i]) begin
              candidates_agree = 1'b0;
            end
          end
        end
      end
    end
  end

  // Tags say which sources are followed, and readers are counted.
  always_comb begin : instructions
    logic [CountW-1:0] readers;
    instructions_agree = 1'b1;
    readers            = '0;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (busy[c]) begin
        if (col_tag[c][2 +: Operands] != '0) readers = readers + 1'b1;
        if (32'(col_warp[c]) >= Warps) instructions_agree = 1'b0;
        for (int unsigned k = 0; k < Operands; k++) begin
          if (col_tag[c][2+k] != (src_valid[c][k] && src_bank[c][k] == star_bank &&
                                  src_entry[c][k] == star_entry)) begin
            instructions_agree = 1'b0;
          end
        end
      end
    end
    if (readers != readers_q) instructions_agree = 1'b0;
  end

  // Age is an order, an instruction waits for the older ones of its warp, and these have the lower
  // numbers.
  always_comb begin
    order_agrees = arrived_q - left_q == CountW'($countones(mine));
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (older[c][c] || (!busy[c] && older[c] != '0) || (older[c] & ~busy) != '0) begin
        order_agrees = 1'b0;
      end
      for (int unsigned d = 0; d < Collectors; d++) begin
        if (d != c && busy[c] && busy[d] && older[c][d] == older[d][c]) order_agrees = 1'b0;
        if (older[c][d] && (older[d] & ~older[c]) != '0)                order_agrees = 1'b0;
        if (same_warp[c][d] != (older[c][d] && col_warp[c] == col_warp[d])) order_agrees = 1'b0;
      end
      if (busy[c]) begin
        if (col_tag[c][WarpBit] != (col_warp[c] == WarpW'(star_warp_q)) ||
            col_tag[c][LaneBit] != col_mask[c][star_lane_q]) begin
          order_agrees = 1'b0;
        end
        if (mine[c] &&
            col_tag[c][Number +: CountW] != left_q + CountW'($countones(older[c] & mine))) begin
          order_agrees = 1'b0;
        end
      end
    end
  end

  // Only leaders are read, each once, and what is filled is what was read: from the register's bank,
  // unless reads are redirected.
  always_comb begin
    sources_agree = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (!busy[c] && (pending[c] | inflight[c] | src_valid[c]) != '0) sources_agree = 1'b0;
      if ((pending[c] & inflight[c]) != '0) sources_agree = 1'b0;
      if (((pending[c] | inflight[c]) & ~src_valid[c]) != '0) sources_agree = 1'b0;
      for (int unsigned k = 0; k < Operands; k++) begin
        if ((pending[c][k] || inflight[c][k]) && leader[c][k] != 2'(k)) sources_agree = 1'b0;
        if (src_valid[c][k] &&
            !(32'(leader[c][k]) < Operands && src_valid[c][leader[c][k]] &&
              src_bank[c][leader[c][k]] == src_bank[c][k] &&
              src_entry[c][leader[c][k]] == src_entry[c][k])) begin
          sources_agree = 1'b0;
        end
        if (filling[Operands*c+k] != (src_valid[c][k] && inflight[c][leader[c][k]])) begin
          sources_agree = 1'b0;
        end
        if (filling[Operands*c+k] && !cfg_q[5] && fill_bank[Operands*c+k] != src_bank[c][k]) begin
          sources_agree = 1'b0;
        end
      end
    end
  end

  // An operand that is followed is still to be read, at the bank's output, or in its latch.
  always_comb begin
    operands_agree = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (busy[c] && col_tag[c][2+k] && col_tag[c][1]) begin
          if (pending[c][leader[c][k]]) begin
            if (stored != col_tag[c][0] || free_star) operands_agree = 1'b0;
          end else if (inflight[c][leader[c][k]]) begin
            if (bank_out[fill_bank[Operands*c+k]][LaneW*star_lane_q] != col_tag[c][0]) begin
              operands_agree = 1'b0;
            end
          end else if (operand[c][k][LaneW*star_lane_q] != col_tag[c][0]) begin
            operands_agree = 1'b0;
          end
        end
      end
    end
  end

  always_comb begin
    if (started_q) begin
      must_reads_last_write: assert (reads_last_write);
      must_leaves_in_order: assert (leaves_in_order);
      must_value_is_newest: assert (value_is_newest);
      must_queues_agree: assert (queues_agree);
      must_table_agrees: assert (table_agrees);
      must_one_place: assert (one_place);
      must_places_are_dead: assert (places_are_dead);
      must_candidates_agree: assert (candidates_agree);
      must_instructions_agree: assert (instructions_agree);
      must_order_agrees: assert (order_agrees);
      must_sources_agree: assert (sources_agree);
      must_operands_agree: assert (operands_agree);
    end
  end

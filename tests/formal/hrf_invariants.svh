// Of hrf_property: where the value is, and what keeps it there. Included in the module.

  // ------------------------------------------------------------------ state of the blocks, by name
  logic [UsedW-1:0]   used       [Parities];
  logic [RcmRegW-1:0] entry_reg  [Parities][BufferEntries];
  logic [Lanes-1:0]   entry_lane [Parities][BufferEntries];
  logic [DataW-1:0]   entry_data [Parities][Operands][BufferEntries];
  logic [DataW-1:0]   entry_out  [Parities][Operands];
  logic [UsedW-1:0]   next       [Parities];
  logic [Parities-1:0] offered;
  logic [Parities-1:0] marked;                       // the flush is past its first cycle
  logic [RcmRegW-1:0] drain_reg  [Parities];
  logic [Lanes-1:0]   drain_lane [Parities];
  logic [LoadsW-1:0]  count      [Parities];
  logic [LoadsW-1:0]  elder      [Parities];
  logic [EntryW-1:0]  load_entry [Parities][Loads];  // element 0 is the head
  logic [Lanes-1:0]   load_mask  [Parities][Loads];
  logic [DataW-1:0]   load_data  [Parities][Loads];
  logic [3:0]         write_left [Parities];
  logic [2:0]         read_left  [Parities];
  logic [EntryW-1:0]  bank_entry [Parities];
  logic [Lanes-1:0]   bank_mask  [Parities];
  logic [DataW-1:0]   bank_data  [Parities];
  logic [DataW-1:0]   bank_cell  [Parities][Depth];
  logic [DataW-1:0]   bank_out   [Parities];
  logic [1:0]         power      [Parities];
  logic [Registers-1:0] rcm_valid;
  logic [IndexW-1:0]  rcm_index  [Registers];

  for (genvar b = 0; b < Parities; b++) begin : gen_names
    logic [$clog2(Loads)-1:0] first;

    assign used[b]       = dut.gen_buffers.gen_parity[b].u_buffer.used_q;
    assign next[b]       = dut.gen_buffers.gen_parity[b].u_drain.next_q;
    assign offered[b]     = dut.gen_buffers.gen_parity[b].u_drain.loaded_q;
    assign marked[b]     = dut.gen_buffers.gen_parity[b].u_drain.busy_q;
    assign drain_reg[b]  = dut.gen_buffers.gen_parity[b].u_drain.reg_q;
    assign drain_lane[b] = dut.gen_buffers.gen_parity[b].u_drain.lanes_q;
    assign first         = dut.gen_buffers.gen_parity[b].u_loads.first_q;
    assign count[b]      = dut.gen_buffers.gen_parity[b].u_loads.count_q;
    assign elder[b]     = dut.gen_buffers.gen_parity[b].u_loads.before_q;
    assign power[b]      = dut.gen_buffers.gen_parity[b].u_power.state_q;
    assign write_left[b] = dut.gen_bank[b].u_bank.write_left_q;
    assign read_left[b]  = dut.gen_bank[b].u_bank.read_left_q;
    assign bank_entry[b] = dut.gen_bank[b].u_bank.entry_q;
    assign bank_mask[b]  = dut.gen_bank[b].u_bank.mask_q;
    assign bank_data[b]  = dut.gen_bank[b].u_bank.data_q;
    assign bank_out[b]   = dut.gen_bank[b].u_bank.u_ram.rdata_q;
    for (genvar d = 0; d < Depth; d++) begin : gen_cell
      assign bank_cell[b][d] = dut.gen_bank[b].u_bank.u_ram.mem_q[d];
    end
    for (genvar e = 0; e < BufferEntries; e++) begin : gen_entry
      assign entry_reg[b][e]  = dut.gen_buffers.gen_parity[b].u_buffer.reg_q[e];
      assign entry_lane[b][e] = dut.gen_buffers.gen_parity[b].u_buffer.lanes_q[e];
      for (genvar k = 0; k < Operands; k++) begin : gen_port
        assign entry_data[b][k][e] =
            dut.gen_buffers.gen_parity[b].u_buffer.gen_port[k].u_ram.mem_q[e];
      end
    end
    for (genvar k = 0; k < Operands; k++) begin : gen_port
      assign entry_out[b][k] = dut.gen_buffers.gen_parity[b].u_buffer.gen_port[k].u_ram.rdata_q;
    end
    for (genvar i = 0; i < Loads; i++) begin : gen_load
      logic [$clog2(Loads)-1:0] place;
      assign place            = first + ($clog2(Loads))'(i);
      assign load_entry[b][i] = dut.gen_buffers.gen_parity[b].u_loads.entry_q[place];
      assign load_mask[b][i]  = dut.gen_buffers.gen_parity[b].u_loads.mask_q[place];
      assign load_data[b][i]  = dut.gen_buffers.gen_parity[b].u_loads.data_q[place];
    end
  end

  assign rcm_valid = dut.gen_buffers.u_rcm.valid_q;
  for (genvar r = 0; r < Registers; r++) begin : gen_register
    assign rcm_index[r] = dut.gen_buffers.u_rcm.index_q[r];
  end

  logic [Collectors-1:0] busy;
  logic [Collectors-1:0] older     [Collectors];
  logic [Operands-1:0]   pending   [Collectors];
  logic [Operands-1:0]   inflight  [Collectors];
  logic [Operands-1:0]   src_valid [Collectors];
  logic [1:0]            leader    [Collectors][Operands];
  logic [RegW-1:0]       name      [Collectors][Operands];
  logic [WarpW-1:0]      col_warp  [Collectors];
  logic [Lanes-1:0]      col_mask  [Collectors];
  logic [Operands-1:0]   col_star  [Collectors];
  logic [ResidentW-1:0]  col_number [Collectors];
  logic [Collectors-1:0] same_warp [Collectors];
  logic [EntryW-1:0]     col_base  [Collectors];
  logic [Slots-1:0]      filling;
  logic [DataW-1:0]      operand   [Collectors][Operands];
  logic                  fill_bank;
  logic [1:0]            fill_port [Operands];
  logic [Lanes-1:0]      fill_take [Operands];
  logic [1:0]            reading;      // cycles until the read under way is granted
  logic [1:0]            read_source;
  logic                  chosen;
  logic [$clog2(Collectors)-1:0] chosen_col;

  for (genvar c = 0; c < Collectors; c++) begin : gen_collector
    assign busy[c]      = dut.gen_collector[c].u_collector.busy_q;
    assign older[c]     = dut.u_allocator.older_q[c];
    assign pending[c]   = dut.gen_collector[c].u_collector.pending_q;
    assign inflight[c]  = dut.gen_collector[c].u_collector.inflight_q;
    assign src_valid[c] = dut.gen_collector[c].u_collector.src_valid_q;
    assign col_warp[c]  = dut.gen_collector[c].u_collector.warp_q;
    assign col_mask[c]  = dut.gen_collector[c].u_collector.mask_q;
    assign col_star[c]  = dut.gen_collector[c].u_collector.tag_q[Operands-1:0];
    assign col_number[c] = dut.gen_collector[c].u_collector.tag_q[Operands +: ResidentW];
    assign same_warp[c] = dut.u_allocator.same_warp_q[c];
    assign col_base[c]  = dut.gen_collector[c].u_collector.tag_q[TagW +: EntryW];
    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign leader[c][k]  = dut.gen_collector[c].u_collector.leader_q[k];
      assign name[c][k]    = dut.gen_collector[c].u_collector.entry_q[k];
      assign operand[c][k] = dut.u_operands.operand_q[Operands*c+k];
    end
  end

  assign filling     = dut.u_operands.fill_q;
  assign fill_bank   = dut.u_operands.bank_q;
  for (genvar k = 0; k < Operands; k++) begin : gen_fill
    assign fill_port[k] = dut.u_operands.port_q[k];
    assign fill_take[k] = dut.u_operands.take_q[k];
  end
  assign reading     = dut.u_reads.left_q;
  assign read_source = dut.u_reads.source_q;
  assign chosen      = dut.u_reads.chosen;
  assign chosen_col  = dut.u_reads.col;

  // ------------------------------------------------------------------ where the value is
  logic              home;        // parity of what is followed
  logic [EntryW-1:0] star_entry;  // of its bank
  logic              owner;       // its warp has the slot
  logic              begun;       // the drain has read an entry
  logic [LoadsW-1:0] young;       // results in the queue from this one on are younger than the buffer
  logic              in_buffer;   // the lane is in the buffer
  logic              latched;     // a result for the register is in the latch
  logic              newest;

  assign home       = star_warp_q[0];
  assign star_entry = base_of(star_warp_q) + EntryW'(star_reg_q);
  assign owner      = slot_valid_q[home] && slot_number_q[home] == star_warp_q;
  assign begun      = next[home] != '0 || offered[home];
  assign young      = (flush_q[home] && !drop_q[home] && begun) ? elder[home] : count[home];
  assign latched    = dut.u_results.valid_q && dut.u_results.warp_q == WarpW'(star_warp_q) &&
                      dut.u_results.reg_q == RegW'(star_reg_q);

  always_comb begin
    newest    = bank_cell[home][star_entry][LaneW*star_lane_q];
    in_buffer = 1'b0;
    if (write_left[home] != '0 && bank_entry[home] == star_entry &&
        bank_mask[home][star_lane_q]) begin
      newest = bank_data[home][LaneW*star_lane_q];
    end
    for (int unsigned i = 0; i < Loads; i++) begin
      if (LoadsW'(i) < count[home] && LoadsW'(i) < young && load_entry[home][i] == star_entry &&
          load_mask[home][i][star_lane_q]) begin
        newest = load_data[home][i][LaneW*star_lane_q];
      end
    end
    for (int unsigned e = 0; e < BufferEntries; e++) begin
      if (owner && !drop_q[home] && UsedW'(e) < used[home] &&
          UsedW'(e) >= next[home] - UsedW'(offered[home]) && entry_reg[home][e] == star_reg_q &&
          entry_lane[home][e][star_lane_q]) begin
        newest    = entry_data[home][0][e][LaneW*star_lane_q];
        in_buffer = 1'b1;
      end
    end
    for (int unsigned i = 0; i < Loads; i++) begin
      if (LoadsW'(i) < count[home] && LoadsW'(i) >= young && load_entry[home][i] == star_entry &&
          load_mask[home][i][star_lane_q]) begin
        newest = load_data[home][i][LaneW*star_lane_q];
      end
    end
    if (latched && dut.u_results.mask_q[star_lane_q]) begin
      newest = dut.u_results.data_q[LaneW*star_lane_q];
    end
  end

  // ------------------------------------------------------------------ what keeps it there
  logic powered_when_used;
  logic value_is_newest;
  logic slots_agree;
  logic rcm_agrees;
  logic buffers_agree;
  logic drains_agree;
  logic queues_agree;
  logic results_agree;
  logic instructions_agree;
  logic numbers_agree;
  logic sources_agree;
  logic reads_agree;
  logic operands_agree;
  logic power_agrees;

  assign value_is_newest = !known_q || newest == value_q;

  // A slot of no warp is empty; only a flush empties one.
  always_comb begin
    slots_agree = open != '1 && (flush_q & ~slot_valid_q) == '0 && (drop_q & ~flush_q) == '0;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (slot_valid_q[b] && slot_number_q[b][0] != 1'(b)) slots_agree = 1'b0;
      if (!slot_valid_q[b] && used[b] != '0)               slots_agree = 1'b0;
      if (used[b] > UsedW'(BufferEntries))                 slots_agree = 1'b0;
      if ((!flush_q[b] || drop_q[b]) && (next[b] != '0 || offered[b])) slots_agree = 1'b0;
    end
  end

  // RCM names each entry of the open buffer, and nothing else.
  always_comb begin
    rcm_agrees = 1'b1;
    if (open != '0) begin
      for (int unsigned r = 0; r < Registers; r++) begin
        if (rcm_valid[r] && (UsedW'(rcm_index[r]) >= used[parity] ||
                             entry_reg[parity][rcm_index[r]] != RcmRegW'(r))) begin
          rcm_agrees = 1'b0;
        end
      end
      for (int unsigned e = 0; e < BufferEntries; e++) begin
        if (UsedW'(e) < used[parity] && !(rcm_valid[entry_reg[parity][e]] &&
                                          rcm_index[entry_reg[parity][e]] == IndexW'(e))) begin
          rcm_agrees = 1'b0;
        end
      end
    end
  end

  // A register has one entry, and the three ports see the same.
  always_comb begin
    buffers_agree = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      for (int unsigned e = 0; e < BufferEntries; e++) begin
        if (UsedW'(e) < used[b]) begin
          for (int unsigned f = 0; f < e; f++) begin
            if (entry_reg[b][e] == entry_reg[b][f]) buffers_agree = 1'b0;
          end
          for (int unsigned k = 1; k < Operands; k++) begin
            if (entry_lane[b][e][star_lane_q] &&
                entry_data[b][k][e][LaneW*star_lane_q] !=
                entry_data[b][0][e][LaneW*star_lane_q]) begin
              buffers_agree = 1'b0;
            end
          end
        end
      end
    end
  end

  // What a drain offers is the entry that it read last.
  always_comb begin
    drains_agree = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (next[b] > used[b])               drains_agree = 1'b0;
      if (offered[b] != (next[b] != '0))    drains_agree = 1'b0;
      if (marked[b] && !flush_q[b])         drains_agree = 1'b0;
      if (!drop_q[b] && used[b] != '0 && offered[b] != marked[b]) drains_agree = 1'b0;
      for (int unsigned e = 0; e < BufferEntries; e++) begin
        if (offered[b] && next[b] == UsedW'(e + 1) &&
            (drain_reg[b] != entry_reg[b][e] || drain_lane[b] != entry_lane[b][e] ||
             (entry_lane[b][e][star_lane_q] &&
              entry_out[b][0][LaneW*star_lane_q] != entry_data[b][0][e][LaneW*star_lane_q]))) begin
          drains_agree = 1'b0;
        end
      end
    end
  end

  always_comb begin
    queues_agree = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (count[b] > LoadsW'(Loads) || elder[b] > count[b]) queues_agree = 1'b0;
    end
  end

  assign results_agree = written_q == latched && !(written_q && readers_q != '0) &&
                         (!dut.u_results.valid_q ||
                          (dut.u_results.reg_q < RegW'(Registers) &&
                           dut.u_results.warp_q < WarpW'(Warps) &&
                           dut.u_results.entry_q ==
                             base_of(dut.u_results.warp_q[NumberW-1:0]) +
                             EntryW'(dut.u_results.reg_q)));

  // Instructions are the open warp's.
  always_comb begin
    instructions_agree = resident_q == ResidentW'($countones(busy));
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (busy[c]) begin
        if (open == '0 || col_warp[c] != WarpW'(warp) || col_base[c] != base_of(warp)) begin
          instructions_agree = 1'b0;
        end
        if (older[c][c]) instructions_agree = 1'b0;
        for (int unsigned d = 0; d < Collectors; d++) begin
          if (d != c && busy[d] && older[c][d] == older[d][c]) instructions_agree = 1'b0;
          if (!busy[d] && older[c][d])                         instructions_agree = 1'b0;
          // With three and more the order has to be one.
          for (int unsigned f = 0; f < Collectors; f++) begin
            if (older[c][d] && older[d][f] && busy[d] && !older[c][f]) instructions_agree = 1'b0;
          end
        end
      end else if (older[c] != '0) begin
        instructions_agree = 1'b0;
      end
    end
  end

  // In front of an instruction are those with lower numbers, and it waits for all of them.
  always_comb begin
    numbers_agree = arrived_q - left_q == resident_q;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (same_warp[c] != older[c]) numbers_agree = 1'b0;
      if (busy[c] && col_number[c] != left_q + ResidentW'($countones(older[c]))) begin
        numbers_agree = 1'b0;
      end
    end
  end

  // A register is asked for once, by the lowest source that names it.
  always_comb begin : sources
    logic [ResidentW-1:0] readers;
    sources_agree = 1'b1;
    readers       = '0;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (!busy[c]) begin
        if (src_valid[c] != '0 || pending[c] != '0 || inflight[c] != '0) sources_agree = 1'b0;
      end else begin
        if (col_star[c] != '0) readers = readers + 1'b1;
      end
      if ((pending[c] & inflight[c]) != '0) sources_agree = 1'b0;
      for (int unsigned k = 0; k < Operands; k++) begin
        if (busy[c] && col_star[c][k] != (src_valid[c][k] && col_warp[c] == WarpW'(star_warp_q) &&
                                          name[c][k] == RegW'(star_reg_q))) begin
          sources_agree = 1'b0;
        end
        if (src_valid[c][k]) begin
          if (name[c][k] >= RegW'(Registers)) sources_agree = 1'b0;
          if (leader[c][k] > 2'(k) || !src_valid[c][leader[c][k]] ||
              name[c][leader[c][k]] != name[c][k] ||
              leader[c][leader[c][k]] != leader[c][k]) begin
            sources_agree = 1'b0;
          end
          for (int unsigned j = 0; j < k; j++) begin
            if (src_valid[c][j] && name[c][j] == name[c][k] && leader[c][k] > 2'(j)) begin
              sources_agree = 1'b0;
            end
          end
        end
        if ((pending[c][k] || inflight[c][k]) &&
            !(src_valid[c][k] && leader[c][k] == 2'(k))) begin
          sources_agree = 1'b0;
        end
        if (filling[Operands*c+k] != (src_valid[c][k] && inflight[c][leader[c][k]])) begin
          sources_agree = 1'b0;
        end
      end
      for (int unsigned d = 0; d < c; d++) begin
        if (inflight[c] != '0 && inflight[d] != '0) sources_agree = 1'b0;
      end
    end
    if (readers_q != readers) sources_agree = 1'b0;
  end

  // A bank read that takes several cycles belongs to the oldest instruction.
  always_comb begin
    reads_agree = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (read_left[b] > 3'd4)                                      reads_agree = 1'b0;
      if (read_left[b] > 3'd1 && (reading == '0 || parity != 1'(b))) reads_agree = 1'b0;
      if (read_left[b] != '0 && write_left[b] != '0)                reads_agree = 1'b0;
    end
    if (reading != '0) begin
      if (!chosen || read_source >= 2'(Operands) || !pending[chosen_col][read_source] ||
          read_left[parity] != 3'(reading) + 3'd1) begin
        reads_agree = 1'b0;
      end else if (col_star[chosen_col][read_source] && known_q && !in_buffer &&
                   bank_out[home][LaneW*star_lane_q] != value_q) begin
        reads_agree = 1'b0;
      end
    end
  end

  // What goes into an operand latch now, and what is there, is the value.
  always_comb begin
    operands_agree = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (filling[Operands*c+k] && (fill_port[k] != leader[c][k] ||
                                      fill_bank != col_warp[c][0])) begin
          operands_agree = 1'b0;
        end
        if (busy[c] && col_star[c][k] && col_mask[c][star_lane_q] && known_q) begin
          if (filling[Operands*c+k]) begin
            if ((fill_take[fill_port[k]][star_lane_q]
                 ? entry_out[home][fill_port[k]][LaneW*star_lane_q]
                 : bank_out[home][LaneW*star_lane_q]) != value_q) begin
              operands_agree = 1'b0;
            end
          end else if (!pending[c][leader[c][k]] &&
                       operand[c][k][LaneW*star_lane_q] != value_q) begin
            operands_agree = 1'b0;
          end
        end
      end
    end
  end

  // Entries that are gated are in use only while they have power.
  always_comb begin
    power_agrees = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (cfg_q[9:6] != '0 && 32'(used[b]) > 32'({cfg_q[9:6], 2'b00}) && power[b] != PowerOn) begin
        power_agrees = 1'b0;
      end
    end
  end

  // The second property: an entry that is gated is touched only while it has power.
  always_comb begin : powered
    logic [5:0] always_on;
    always_on         = {cfg_q[9:6], 2'b00};
    powered_when_used = 1'b1;
    for (int unsigned b = 0; b < Parities; b++) begin
      if (always_on != '0 && power[b] != PowerOn) begin
        if (dut.results_buffer_valid[b] && 6'(dut.results_index) >= always_on) begin
          powered_when_used = 1'b0;
        end
        if (dut.drain_read[b] && 6'(dut.drain_index[b]) >= always_on) powered_when_used = 1'b0;
        for (int unsigned k = 0; k < Operands; k++) begin
          if (dut.reads_buffer[k] && dut.reads_bank == 1'(b) &&
              6'(dut.rcm_index[k]) >= always_on) begin
            powered_when_used = 1'b0;
          end
        end
      end
    end
  end

  always_comb begin
    if (started_q) begin
      must_reads_last_write: assert (reads_last_write);
      must_powered_when_used: assert (powered_when_used);
      must_leaves_in_order: assert (leaves_in_order);
      must_value_is_newest: assert (value_is_newest);
      must_slots_agree: assert (slots_agree);
      must_rcm_agrees: assert (rcm_agrees);
      must_buffers_agree: assert (buffers_agree);
      must_drains_agree: assert (drains_agree);
      must_queues_agree: assert (queues_agree);
      must_results_agree: assert (results_agree);
      must_instructions_agree: assert (instructions_agree);
      must_numbers_agree: assert (numbers_agree);
      must_sources_agree: assert (sources_agree);
      must_reads_agree: assert (reads_agree);
      must_operands_agree: assert (operands_agree);
      must_power_agrees: assert (power_agrees);
    end
  end

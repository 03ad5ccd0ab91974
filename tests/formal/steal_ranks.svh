// Of steal_liveness_property: who waits, for how long, and what falls meanwhile. Included in it.

  // ------------------------------------------------------------------ the most that there can be
  // Work at a bank: a result in a queue may be parked, a parked value is fetched, a fetched one
  // lands.
  localparam int unsigned HeadWork = 3;
  localparam int unsigned ParkedWork = 2;
  localparam int unsigned MostReturn = 2 * Banks - 1;
  localparam int unsigned MostIdle = Banks - 1;
  localparam int unsigned MostWork = HeadWork * IssuePorts + ParkedWork * Banks + 1;
  localparam int unsigned MostSettle = MostWork + Slots + 1;
  localparam int unsigned MostTurns = Collectors * (Slots + Operands) + Collectors - 1;
  localparam int unsigned MostServed = MostWork + 1 + MostTurns;
  localparam int unsigned MostRead = MostReturn + 1 + MostServed;
  localparam int unsigned MostWay = 3;  // cycles that values of other banks take in a row
  localparam int unsigned MostTaken =
      (MostWay + 1) * (HeadWork + ParkedWork * Banks + 1 + Slots) + MostWay;
  localparam int unsigned MostResult = MostReturn + 1 + MostTaken;

  // ------------------------------------------------------------------ state of the blocks, by name
  logic [Collectors-1:0] older  [Collectors];
  logic [ColW-1:0]       rr     [Banks];
  logic [Slots-1:0]      pending;
  logic                  turn_of_queues;

  assign older          = dut.u_allocator.older_q;
  assign rr             = dut.u_arbiter.rr_q;
  assign turn_of_queues = dut.u_arbiter.turn_q;
  assign pending        = dut.req_valid;

  typedef logic [AgeW-1:0] rank_t;

  // So many cycles and what is left together are no more than the bound.
  function automatic logic bounded(rank_t cycles, rank_t left, int unsigned most);
    bounded = 32'(cycles) <= most && 32'(left) <= most && 32'(cycles) + 32'(left) <= most;
  endfunction

  // ------------------------------------------------------------------ parked values
  logic [Banks-1:0] home_of_head;    // a result for the register of the parked value is in a queue
  logic [Banks-1:0] place_of_head;   // one for its place
  logic [Banks-1:0] home_of_read;    // a read of the register waits
  logic [Banks-1:0] needed;
  logic [Banks-1:0] able;            // the value could be fetched now
  logic [Banks-1:0] busy_bank;       // with something else than a fetch
  logic [Banks-1:0] read_left;       // a read of the bank is not performed
  logic [BankW-1:0] distance [Banks];  // from the turn

  always_comb begin
    home_of_read  = '0;
    home_of_head  = '0;
    place_of_head = '0;
    busy_bank     = dut.bank_write_valid;
    read_left     = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (pending[i] && dut.grant[i])  busy_bank[dut.req_bank[i]] = 1'b1;
      if (pending[i] && !dut.grant[i]) read_left[dut.req_bank[i]] = 1'b1;
    end
    for (int unsigned i = 0; i < Wants; i++) begin
      if (dut.stolen[i]) busy_bank[dut.want_bank[i]] = 1'b1;
    end
    for (int unsigned b = 0; b < Banks; b++) begin
      distance[b] = BankW'(b) - dut.turn;
      for (int unsigned i = 0; i < Slots; i++) begin
        if (pending[i] && dut.req_bank[i] == dut.parked_bank[b] &&
            dut.req_entry[i] == dut.parked_entry[b]) begin
          home_of_read[b] = 1'b1;
        end
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (dut.head_valid[p] && dut.head_bank[p] == dut.parked_bank[b] &&
            dut.head_entry[p] == dut.parked_entry[b]) begin
          home_of_head[b] = 1'b1;
        end
        if (dut.head_valid[p] && dut.head_bank[p] == BankW'(b) &&
            dut.head_entry[p] == dut.free_entry[b]) begin
          place_of_head[b] = 1'b1;
        end
      end
    end
    needed = dut.parked & (home_of_read | home_of_head | place_of_head);
    for (int unsigned b = 0; b < Banks; b++) begin
      able[b] = dut.parked[b] && needed == '0 && dut.head_valid != '1 && !busy_bank[b] &&
                !read_left[dut.parked_bank[b]];
    end
  end

  // ------------------------------------------------------------------ work at a bank
  // Results in queues but `but`, parked values and landings that are for bank b.
  function automatic rank_t work_at(logic [BankW-1:0] b, logic [IssuePorts-1:0] but);
    work_at = rank_t'(dut.land_valid && dut.land_bank == b);
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dut.head_valid[p] && !but[p] && dut.head_bank[p] == b) begin
        work_at = work_at + rank_t'(HeadWork);
      end
    end
    for (int unsigned x = 0; x < Banks; x++) begin
      if (dut.parked[x] && dut.parked_bank[x] == b) work_at = work_at + rank_t'(ParkedWork);
    end
  endfunction

  // Reads that a result at bank b waits for.
  function automatic logic [Slots-1:0] holding(logic [BankW-1:0] b);
    holding = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (pending[i] && dut.req_bank[i] == b && dut.head_valid[p] && dut.head_bank[p] == b &&
            dut.head_entry[p] == dut.req_entry[i]) begin
          holding[i] = 1'b1;
        end
      end
    end
  endfunction

  // ------------------------------------------------------------------ the read that is followed
  logic [BankW-1:0]    read_bank;
  logic [ColW-1:0]     read_col;
  logic                read_waits;
  logic                read_parked;    // for a parked value
  logic [BankW-1:0]    read_place;     // here
  logic [Slots-1:0]    read_others;    // reads of its bank
  logic [Slots-1:0]    read_own;       // those of its own instruction
  logic [Slots-1:0]    read_older;
  rank_t               read_turns;     // reads of its bank that may go first
  rank_t               read_rank;

  assign read_bank  = dut.req_bank[star_slot_q];
  assign read_col   = ColW'(star_slot_q / SlotW'(Operands));
  assign read_waits = pending[star_slot_q];

  always_comb begin
    read_parked = 1'b0;
    read_place  = '0;
    for (int unsigned x = 0; x < Banks; x++) begin
      if (dut.parked[x] && dut.parked_bank[x] == read_bank &&
          dut.parked_entry[x] == dut.req_entry[star_slot_q]) begin
        read_parked = 1'b1;
        read_place  = BankW'(x);
      end
    end
    read_others = '0;
    read_own    = '0;
    read_older  = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (pending[i] && dut.req_bank[i] == read_bank && SlotW'(i) != star_slot_q) begin
        read_others[i] = 1'b1;
        read_own[i]    = 32'(read_col) == i / Operands;
        read_older[i]  = read_own[i] || older[read_col][i/Operands];
      end
    end
    if (cfg_q[0]) begin
      read_turns = rank_t'(Collectors) * (rank_t'($countones(holding(read_bank) & read_others)) +
                                          rank_t'($countones(read_own))) +
                   rank_t'(ColW'(read_col - rr[read_bank]));
    end else begin
      read_turns = rank_t'($countones(holding(read_bank) & read_others)) +
                   rank_t'($countones(read_older));
    end
    read_rank = read_parked
        ? rank_t'(2) * rank_t'(distance[read_place]) + rank_t'(dut.land_valid) + 1'b1 +
          rank_t'(MostServed)
        : work_at(read_bank, '0) + rank_t'(dut.parked[read_bank]) + read_turns;
  end

  // ------------------------------------------------------------------ the result that is followed
  logic [BankW-1:0]      result_bank;
  logic                  result_waits;
  logic [IssuePorts-1:0] result_own;
  logic                  other_queue_here;
  logic                  result_parked;   // it waits for a parked value
  rank_t                 result_return;   // until the last one is fetched
  logic                  on_bus;          // a value lands on its bus
  logic [1:0]            result_way;      // cycles that values of other banks still take
  rank_t                 result_rank;

  assign result_waits = dut.head_valid[star_port_q];
  assign result_bank  = dut.head_bank[star_port_q];
  assign result_own   = IssuePorts'(1) << star_port_q;
  assign on_bus       = dut.land_valid && dut.land_port == star_port_q;

  always_comb begin
    other_queue_here = 1'b0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (!result_own[p] && dut.head_valid[p] && dut.head_bank[p] == result_bank) begin
        other_queue_here = 1'b1;
      end
    end
    result_parked = 1'b0;
    result_return = '0;
    for (int unsigned x = 0; x < Banks; x++) begin
      if (dut.parked[x] && ((dut.parked_bank[x] == result_bank &&
                             dut.parked_entry[x] == dut.head_entry[star_port_q]) ||
                            (result_bank == BankW'(x) &&
                             dut.free_entry[x] == dut.head_entry[star_port_q]))) begin
        result_parked = 1'b1;
        if (rank_t'(2) * rank_t'(distance[x]) + rank_t'(dut.land_valid) > result_return) begin
          result_return = rank_t'(2) * rank_t'(distance[x]) + rank_t'(dut.land_valid);
        end
      end
    end
    // Values of other banks can be in the way on its bus, or in a place at its bank, but not for
    // long: no two land on one bus in a row, and what was parked in the last cycle is not forced.
    if (on_bus) begin
      result_way = dut.parked[result_bank] ? 2'd3 : 2'd1;
    end else begin
      result_way = dut.parked[result_bank] && (!dut.fresh[result_bank] || other_queue_here) ? 2'd2
                   : 2'd0;
    end
    result_rank = result_parked
        ? result_return + 1'b1 + rank_t'(MostTaken)
        : rank_t'(MostWay + 1) * (work_at(result_bank, result_own) +
                                  rank_t'($countones(holding(result_bank)))) +
          rank_t'(result_way);
  end

  // ------------------------------------------------------------------ everything
  rank_t settle_rank;

  assign settle_rank = rank_t'(HeadWork) * rank_t'($countones(dut.head_valid)) +
                       rank_t'(ParkedWork) * rank_t'($countones(dut.parked)) +
                       rank_t'(dut.land_valid) + rank_t'($countones(pending)) +
                       rank_t'(dut.want_valid != '0);

  // ------------------------------------------------------------------ cycles waited
  rank_t return_q;   // needed
  rank_t idle_q;     // able
  rank_t read_q;     // since the last result for its bank came
  rank_t result_q;
  rank_t settle_q;   // since anything came
  logic  lost_q;     // the result has lost against the other queue
  logic  comes_for_read;
  logic  comes_for_result;
  logic  quiet;
  logic  fetched;

  always_comb begin
    comes_for_read   = 1'b0;
    comes_for_result = 1'b0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (written[p] && dut.push_bank[p] == read_bank)   comes_for_read   = 1'b1;
      if (written[p] && dut.push_bank[p] == result_bank) comes_for_result = 1'b1;
    end
  end

  assign fetched = dut.fetch_valid && dut.fetch_bank == star_bank_q;
  assign quiet   = (issue_valid & issue_ready) == '0 && written == '0 && candidate == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q       <= cfg_i;
      star_bank_q <= star_bank_i;
      star_port_q <= IssuePorts > 1 ? star_port_i : 1'b0;
      star_slot_q <= 32'(star_slot_i) < Slots ? star_slot_i : '0;
      return_q    <= '0;
      idle_q      <= '0;
      read_q      <= '0;
      result_q    <= '0;
      settle_q    <= '0;
      lost_q      <= 1'b0;
    end else begin
      return_q <= (!needed[star_bank_q] || fetched || clear) ? '0 : return_q + 1'b1;
      idle_q   <= (!able[star_bank_q] || fetched || clear) ? '0 : idle_q + 1'b1;
      read_q   <= (!read_waits || dut.grant[star_slot_q] || comes_for_read) ? '0 : read_q + 1'b1;
      result_q <= (!result_waits || write_done[star_port_q] || comes_for_result) ? '0
                  : result_q + 1'b1;
      settle_q <= !quiet ? '0 : (settle_q != '1) ? settle_q + 1'b1 : settle_q;
      lost_q   <= result_waits && !write_done[star_port_q] &&
                  (lost_q || dut.u_arbiter.contest);
    end
  end

  // ------------------------------------------------------------------ what the ranks rest on
  logic order_agrees;
  logic registers_agree;   // no register is in two queues, none is read that is to come
  logic fresh_agrees;      // no read and no result needs what was parked in the last cycle
  logic buses_agree;       // that of the landing value, and that of the result, are there
  logic table_agrees;      // a value is parked in a place, and those of a register in one

  always_comb begin
    order_agrees = 1'b1;
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (older[c][c] || (!dut.busy[c] && older[c] != '0) || (older[c] & ~dut.busy) != '0) begin
        order_agrees = 1'b0;
      end
      if (!dut.busy[c] && pending[Operands*c +: Operands] != '0) order_agrees = 1'b0;
      for (int unsigned d = 0; d < Collectors; d++) begin
        if (d != c && dut.busy[c] && dut.busy[d] && older[c][d] == older[d][c]) order_agrees = 1'b0;
        if (older[c][d] && (older[d] & ~older[c]) != '0)                        order_agrees = 1'b0;
      end
    end
  end

  always_comb begin
    registers_agree = 1'b1;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dut.head_valid[p] &&
          (32'(dut.head_warp[p]) >= Warps ||
           dut.head_bank[p] != BankW'(32'(dut.head_warp[p]) + 32'(dut.head_reg[p])) ||
           dut.head_entry[p] != base_of(NumberW'(dut.head_warp[p])) +
                                EntryW'(32'(dut.head_reg[p]) / Banks))) begin
        registers_agree = 1'b0;
      end
      for (int unsigned q = 0; q < p; q++) begin
        if (dut.head_valid[p] && dut.head_valid[q] && dut.head_bank[p] == dut.head_bank[q] &&
            dut.head_entry[p] == dut.head_entry[q]) begin
          registers_agree = 1'b0;
        end
      end
    end
  end

  assign fresh_agrees = (dut.fresh & dut.parked & (home_of_read | home_of_head)) == '0;

  assign buses_agree = IssuePorts > 1 || !(star_port_q || (dut.land_valid && dut.land_port));

  always_comb begin
    table_agrees = (dut.parked & ~dut.free_valid) == '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      for (int unsigned c = 0; c < b; c++) begin
        if (dut.parked[b] && dut.parked[c] && dut.parked_bank[b] == dut.parked_bank[c] &&
            dut.parked_entry[b] == dut.parked_entry[c]) begin
          table_agrees = 1'b0;
        end
      end
    end
  end

  always_comb begin
    if (started_q) begin
      must_parked_value_returns: assert (!needed[star_bank_q] ||
          bounded(return_q, rank_t'(2) * rank_t'(distance[star_bank_q]) + rank_t'(dut.land_valid),
                 MostReturn));
      must_idle_value_returns: assert (!able[star_bank_q] ||
                                       bounded(idle_q, rank_t'(distance[star_bank_q]), MostIdle));
      must_read_is_served: assert (!read_waits || bounded(read_q, read_rank, MostRead));
      must_result_is_taken: assert (!result_waits || bounded(result_q, result_rank, MostResult));
      must_loses_once: assert (!lost_q || turn_of_queues == star_port_q);
      must_all_settles: assert (settle_rank == '0 || bounded(settle_q, settle_rank, MostSettle));
      must_order_agrees: assert (order_agrees);
      must_registers_agree: assert (registers_agree);
      must_fresh_agrees: assert (fresh_agrees);
      must_buses_agree: assert (buses_agree);
      must_table_agrees: assert (table_agrees);
    end
  end

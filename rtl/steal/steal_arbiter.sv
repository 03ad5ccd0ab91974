// Bank arbiter with stealing.
//
// `mrf_arbiter` for single-ported banks, with the additional accesses of bank stealing (stealing
// paper, section IV-D and figure 10). A bank without a read is idle: if two operands of candidates will want
// it in the next cycle, one of them is read now. A result that is delayed by reads is parked in the free
// entry of a bank that no other access wants; if there is none, the result has priority, as in the baseline. A
// parked value is fetched when its bank has no other access, or when the value is needed, and
// is written into its own register (lands) in the next cycle.
//
// Priority at a bank:
//   landing or forced fetch; blocking read; result that has no place; normal read; stealing read;
//   result; parked result; fetch
//
// The numbered steps below decide what each bank does; each step depends only on the steps before it. With both
// kinds of stealing off the decisions are those of `mrf_arbiter`.
`include "gpurf_assert.svh"

module steal_arbiter
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors),
  localparam int unsigned Wants = Operands * IssuePorts,
  localparam int unsigned CfgW = 7
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // round-robin, read, write, eager, unread; the other bits are for the dependence check
  // verilator lint_off UNUSEDSIGNAL
  input  logic [CfgW-1:0]        cfg_i,
  // verilator lint_on UNUSEDSIGNAL

  // reads
  input  logic [Slots-1:0]       req_valid_i,
  input  logic [BankW-1:0]       req_bank_i         [Slots],
  input  logic [EntryW-1:0]      req_entry_i        [Slots],
  input  logic [GroupsW-1:0]     req_groups_i       [Collectors],  // cost of a read
  input  logic [Collectors-1:0]  older_i            [Collectors],  // [c][d]: d is older than c
  input  logic [Slots-1:0]       req_parked_i,                     // waits for a parked value
  input  logic [BankW-1:0]       at_bank_i          [Slots],       // where the read is performed: bank, entry
  input  logic [EntryW-1:0]      at_entry_i         [Slots],

  // writes
  input  logic [IssuePorts-1:0]  write_valid_i,
  input  logic [BankW-1:0]       write_bank_i       [IssuePorts],
  input  logic [EntryW-1:0]      write_entry_i      [IssuePorts],
  input  logic [GroupsW-1:0]     write_groups_i     [IssuePorts],  // cost of the write
  input  logic [IssuePorts-1:0]  write_full_i,                     // the result has all lanes
  input  logic [IssuePorts-1:0]  write_next_i,                     // the next instruction of the warp reads it
  input  logic [IssuePorts-1:0]  write_parked_i,                   // waits for a parked value
  input  logic [IssuePorts-1:0]  drop_valid_i,                     // overwrites the register of a parked value
  input  logic [BankW-1:0]       drop_bank_i        [IssuePorts],

  // operands of candidates
  input  logic [Wants-1:0]       want_valid_i,
  input  logic [BankW-1:0]       want_bank_i        [Wants],
  input  logic [EntryW-1:0]      want_entry_i       [Wants],
  input  logic [Wants-1:0]       want_parked_i,

  // parking places and parked values
  input  logic [Banks-1:0]       free_valid_i,
  input  logic [EntryW-1:0]      free_entry_i       [Banks],
  input  logic [Banks-1:0]       parked_i,
  input  logic [BankW-1:0]       parked_bank_i      [Banks],
  input  logic [Banks-1:0]       alive_i,                          // a result is for the bank's free entry

  // return of parked values
  input  logic                   force_valid_i,
  input  logic [BankW-1:0]       force_bank_i,
  input  logic                   force_read_i,
  input  logic                   force_write_i,
  input  logic                   force_alive_i,
  input  logic                   land_valid_i,
  input  logic [BankW-1:0]       land_bank_i,
  input  logic [EntryW-1:0]      land_entry_i,
  input  logic                   land_port_i,
  input  logic [BankW-1:0]       turn_i,
  input  logic                   bus_free_i,
  input  logic [Banks-1:0]       fresh_i,

  // decisions
  output logic [Slots-1:0]       grant_o,
  output logic [Wants-1:0]       stolen_o,
  output logic [IssuePorts-1:0]  write_done_o,                     // written or parked
  output logic [IssuePorts-1:0]  park_valid_o,
  output logic [BankW-1:0]       park_bank_o        [IssuePorts],
  output logic [IssuePorts-1:0]  drop_o,                           // the overwritten parked value is dropped
  output logic                   fetch_valid_o,
  output logic [BankW-1:0]       fetch_bank_o,
  output logic                   fetch_forced_o,

  // banks
  output logic [Banks-1:0]       read_valid_o,
  output logic [EntryW-1:0]      read_entry_o       [Banks],
  output logic [Banks-1:0]       bank_write_valid_o,
  output logic [Banks-1:0]       bank_write_port_o,
  output logic [EntryW-1:0]      bank_write_entry_o [Banks],

  output mrf_arbiter_event_t     event_o,
  output steal_arbiter_event_t   steal_event_o,
  output steal_place_event_t     place_event_o
);

  localparam int unsigned AllGroups = Lanes / GroupLanes;

  logic [ColW-1:0]       rr_q [Banks];            // collector at which the next round-robin search begins
  logic                  turn_d, turn_q;          // write queue that goes first in a contest
  logic [BankW-1:0]      park_turn_d;
  logic [BankW-1:0]      park_turn_q;             // bank at which the next search for a place begins

  logic [Banks-1:0]      closed;                  // bank is used by a landing or a forced fetch
  logic [Slots-1:0]      active;                  // reads that do not wait for a parked value
  logic [Banks-1:0]      requested;               // bank is wanted by an active read
  logic [Slots-1:0]      blocking;                // read holds a write of its register back
  logic [Banks-1:0]      blocked;                 // bank has a blocking read
  logic [IssuePorts-1:0] held;                    // write is held back
  logic [Wants-1:0]      stealable;               // operands that may be stolen
  logic [Banks-1:0]      wanted;                  // bank is wanted by a stealable operand
  logic [Banks-1:0]      shared;                  // bank is wanted by two or more stealable operands
  logic [Banks-1:0]      coveted;                 // bank is stolen, if no result takes it
  logic [Banks-1:0]      opposing;                // bank in which a result would make others wait
  logic [IssuePorts-1:0] bus_taken;               // bus carries a landing value
  logic [IssuePorts-1:0] able;                    // result may be written or parked in this cycle
  logic [Banks-1:0]      sought;                  // bank is wanted by an able result
  logic [IssuePorts-1:0] needed_soon;             // result may not be parked: it is read next
  logic [IssuePorts-1:0] opposed;
  logic [Banks-1:0]      places;                  // banks in which a result may be parked
  logic [IssuePorts-1:0] wants;                   // write could be granted if it were alone
  logic                  contest;                 // both queues want the same bank
  logic [IssuePorts-1:0] written;                 // result goes into its own bank
  logic [Banks-1:0]      taken;                   // bank is written by such a result
  logic [Banks-1:0]      readable;                // bank can perform a normal read
  logic [Slots-1:0]      candidate;
  logic [Collectors-1:0] candidates [Banks];      // collectors with a candidate at the bank
  logic [ColW-1:0]       chosen     [Banks];      // collector whose read the bank performs
  logic [Banks-1:0]      reading;                 // bank performs a normal read
  logic [EntryW-1:0]     reading_entry [Banks];
  logic [Banks-1:0]      stealing;                // bank performs a stealing read
  logic [EntryW-1:0]     stealing_entry [Banks];
  logic [Banks-1:0]      left_over;               // bank has a read without a grant
  logic [Banks-1:0]      doomed;                  // a result overwrites the register of the bank's parked value
  logic                  needed;                  // an access waits for a parked value
  logic [Banks-1:0]      returnable;              // bank is free to fetch its parked value
  logic [Slots-1:0]      waits;                   // reads without a grant
  logic [Slots-1:0]      waits_own;               // waits for a read of its own instruction
  logic [Slots-1:0]      waits_other;
  logic [Slots-1:0]      waits_write;
  logic [Slots-1:0]      waits_return;

  // The first bank of a set from `start` upwards, wrapping. next_warp, the search in a set of warps, serves
  // for a set of banks too.
  function automatic logic [BankW-1:0] next_bank(logic [Banks-1:0] set, logic [BankW-1:0] start);
    return BankW'(next_warp(WarpSetW'(set), WarpW'(start)));
  endfunction

  // The collectors with priority over collector c in a round-robin search from `start`.
  function automatic logic [Collectors-1:0] before_in_turn(int unsigned c, logic [ColW-1:0] start);
    logic [Collectors-1:0] below_c;
    logic [Collectors-1:0] below_start;
    below_c     = ~({Collectors{1'b1}} << c);
    below_start = ~({Collectors{1'b1}} << start);
    return (c >= 32'(start)) ? (below_c & ~below_start) : (below_c | ~below_start);
  endfunction

  // 1. Banks that the return of parked values uses: by a landing or a forced fetch.
  always_comb begin
    closed = '0;
    if (land_valid_i)  closed[land_bank_i]  = 1'b1;
    if (force_valid_i) closed[force_bank_i] = 1'b1;
  end

  // 2. Reads that do not wait for a parked value, and the banks that they want.
  assign active = req_valid_i & ~req_parked_i;

  always_comb begin
    requested = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (active[i]) requested[at_bank_i[i]] = 1'b1;
    end
  end

  // 3. Hold a write while its register has a pending read, even one that waits for a parked value: the read
  //    needs the old value, wherever it is. A blocking read has priority over results and other reads at its bank.
  always_comb begin
    blocking = '0;
    blocked  = '0;
    held     = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_valid_i[p]) begin
        for (int unsigned i = 0; i < Slots; i++) begin
          if (req_valid_i[i] && req_bank_i[i] == write_bank_i[p] &&
              req_entry_i[i] == write_entry_i[p]) begin
            held[p] = 1'b1;
            if (active[i]) begin
              blocking[i]           = 1'b1;
              blocked[at_bank_i[i]] = 1'b1;
            end
          end
        end
      end
    end
  end

  // 4. Banks to steal: idle banks that two operands of candidates want in the next cycle or, if eager, one operand.
  assign stealable = want_valid_i & ~want_parked_i;

  always_comb begin
    wanted = '0;
    shared = '0;
    for (int unsigned i = 0; i < Wants; i++) begin
      if (stealable[i]) begin
        if (wanted[want_bank_i[i]]) shared[want_bank_i[i]] = 1'b1;
        wanted[want_bank_i[i]] = 1'b1;
      end
    end
  end

  assign coveted = cfg_i[1] ? (cfg_i[3] ? wanted : shared) & ~closed & ~requested : '0;

  // 5. Results that may be written or parked, and those of these results whose bank another access wants.
  assign opposing = closed | requested | coveted;

  always_comb begin
    sought = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      bus_taken[p] = land_valid_i & (land_port_i == 1'(p));
      able[p]      = write_valid_i[p] & ~held[p] & ~write_parked_i[p] & ~bus_taken[p];
      opposed[p]   = able[p] & opposing[write_bank_i[p]];
      if (able[p]) sought[write_bank_i[p]] = 1'b1;
    end
  end

  // 6. Stealing writes: opposed results are parked.
  assign places      = free_valid_i & ~parked_i & ~alive_i & ~opposing & ~sought;
  assign needed_soon = cfg_i[4] ? write_next_i : '0;

  always_comb begin : park
    logic [Banks-1:0] left;
    left        = places;
    park_turn_d = park_turn_q;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      park_valid_o[p] = cfg_i[2] & opposed[p] & write_full_i[p] & ~needed_soon[p] & (left != '0);
      park_bank_o[p]  = next_bank(left, park_turn_q);
      if (park_valid_o[p]) begin
        left[park_bank_o[p]] = 1'b0;
        park_turn_d          = park_bank_o[p] + 1'b1;
      end
    end
  end

  // 7. Writes. With one queue, IssuePorts-1 is queue 0, and there is no contest.
  always_comb begin
    taken = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      wants[p] = able[p] & ~park_valid_o[p] & ~closed[write_bank_i[p]] & ~blocked[write_bank_i[p]];
    end
    contest = (IssuePorts > 1) && wants == '1 && write_bank_i[0] == write_bank_i[IssuePorts-1];
    turn_d  = turn_q ^ contest;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      written[p] = wants[p] & (~contest | turn_q == 1'(p));
      if (written[p]) taken[write_bank_i[p]] = 1'b1;
    end
  end

  assign write_done_o = written | park_valid_o;

  always_comb begin
    bank_write_valid_o = taken;
    bank_write_port_o  = '0;
    bank_write_entry_o = free_entry_i;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (written[p]) begin
        bank_write_port_o[write_bank_i[p]]  = 1'(p);
        bank_write_entry_o[write_bank_i[p]] = write_entry_i[p];
      end
      if (park_valid_o[p]) begin
        bank_write_valid_o[park_bank_o[p]] = 1'b1;
        bank_write_port_o[park_bank_o[p]]  = 1'(p);
      end
    end
    if (land_valid_i) begin
      bank_write_valid_o[land_bank_i] = 1'b1;
      bank_write_port_o[land_bank_i]  = land_port_i;
      bank_write_entry_o[land_bank_i] = land_entry_i;
    end
  end

  // 8. Normal reads. Granted is the lowest slot over which no candidate of the bank has priority.
  assign readable = ~closed & ~taken;

  always_comb begin
    candidate  = '0;
    candidates = '{default: '0};
    for (int unsigned i = 0; i < Slots; i++) begin
      if (active[i] && readable[at_bank_i[i]] && (blocking[i] || !blocked[at_bank_i[i]])) begin
        candidate[i]                            = 1'b1;
        candidates[at_bank_i[i]][i / Operands] = 1'b1;
      end
    end
  end

  always_comb begin
    grant_o       = '0;
    reading       = '0;
    reading_entry = '{default: '0};
    chosen        = '{default: '0};
    for (int unsigned i = 0; i < Slots; i++) begin
      if (candidate[i] && !reading[at_bank_i[i]] &&
          (candidates[at_bank_i[i]] &
           (cfg_i[0] ? before_in_turn(i / Operands, rr_q[at_bank_i[i]])
                     : older_i[i / Operands])) == '0) begin
        grant_o[i]                   = 1'b1;
        reading[at_bank_i[i]]       = 1'b1;
        reading_entry[at_bank_i[i]] = at_entry_i[i];
        chosen[at_bank_i[i]]        = ColW'(i / Operands);
      end
    end
  end

  // 9. Stealing reads: each bank reads an operand of the highest port, and of this port the lowest operand.
  always_comb begin
    stolen_o       = '0;
    stealing       = '0;
    stealing_entry = '{default: '0};
    for (int unsigned p = IssuePorts; p > 0; p--) begin
      for (int unsigned i = Operands * (p - 1); i < Operands * p; i++) begin
        if (stealable[i] && coveted[want_bank_i[i]] && !taken[want_bank_i[i]] &&
            !stealing[want_bank_i[i]]) begin
          stolen_o[i]                    = 1'b1;
          stealing[want_bank_i[i]]       = 1'b1;
          stealing_entry[want_bank_i[i]] = want_entry_i[i];
        end
      end
    end
  end

  // 10. Fetch: the forced one, otherwise from an idle bank to a bank for which no read is left waiting. A
  //     needed value may have to wait for a landing: then no other value is fetched either, so that none of
  //     these is the next landing that the needed value has to wait for.
  assign waits = req_valid_i & ~grant_o;

  assign needed = req_parked_i != '0 || write_parked_i != '0;

  always_comb begin
    left_over = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (waits[i]) left_over[at_bank_i[i]] = 1'b1;
    end
    doomed = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (drop_valid_i[p]) doomed[drop_bank_i[p]] = 1'b1;
    end
    returnable = (bus_free_i && !needed) ? parked_i & ~doomed & ~reading & ~stealing & ~bank_write_valid_o
                                         : '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      if (left_over[parked_bank_i[b]]) returnable[b] = 1'b0;
    end
  end

  // 11. Drop the parked value whose register a result overwrites.
  assign drop_o = drop_valid_i & write_done_o;

  assign fetch_valid_o  = force_valid_i | (returnable != '0);
  assign fetch_bank_o   = force_valid_i ? force_bank_i : next_bank(returnable, turn_i);
  assign fetch_forced_o = force_valid_i;

  always_comb begin
    read_valid_o = reading | stealing;
    for (int unsigned b = 0; b < Banks; b++) begin
      read_entry_o[b] = stealing[b] ? stealing_entry[b] : reading_entry[b];
    end
    if (fetch_valid_o) begin
      read_valid_o[fetch_bank_o] = 1'b1;
      read_entry_o[fetch_bank_o] = free_entry_i[fetch_bank_o];
    end
  end

  // Events: every read that waits is counted under exactly one kind.
  assign waits_other = waits & ~waits_write & ~waits_own;

  always_comb begin
    waits_own    = '0;
    waits_write  = '0;
    waits_return = '0;
    // Usually no read waits, and simulation skips the loop.
    if (waits != '0) begin
      for (int unsigned i = 0; i < Slots; i++) begin
        waits_return[i] = active[i] & closed[at_bank_i[i]];
        waits_write[i]  = waits[i] & ~(active[i] & readable[at_bank_i[i]]);
        waits_own[i]    = waits[i] & ~waits_write[i] & reading[at_bank_i[i]] &
                          (chosen[at_bank_i[i]] == ColW'(i / Operands));
      end
    end
  end

  always_comb begin
    event_o                     = '0;
    event_o.read                = 6'($countones(read_valid_o));
    event_o.write               = 2'($countones(bank_write_valid_o));
    event_o.conflict_intra      = 6'($countones(waits_own));
    event_o.conflict_inter      = 6'($countones(waits_other));
    event_o.conflict_read_write = 6'($countones(waits_write));
    event_o.conflict_write      = 2'($countones(write_valid_i & ~held & ~write_done_o));
    event_o.write_held          = 2'($countones(held));
    if (fetch_valid_o) event_o.read_groups  = 9'(AllGroups);
    if (land_valid_i)  event_o.write_groups = 5'(AllGroups);
    for (int unsigned i = 0; i < Slots; i++) begin
      if (grant_o[i]) event_o.read_groups = event_o.read_groups + 9'(req_groups_i[i / Operands]);
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_done_o[p]) event_o.write_groups = event_o.write_groups + 5'(write_groups_i[p]);
    end
  end

  always_comb begin : steal_events
    logic [IssuePorts-1:0] forced;
    forced        = cfg_i[2] ? written & opposed : '0;
    steal_event_o = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      steal_event_o.candidate = steal_event_o.candidate +
                                2'(want_valid_i[Operands*p +: Operands] != '0);
      steal_event_o.steal     = steal_event_o.steal + 2'(stolen_o[Operands*p +: Operands] != '0);
    end
    for (int unsigned i = 0; i < Wants; i++) begin
      steal_event_o.sharing = steal_event_o.sharing +
                              3'(stealable[i] && shared[want_bank_i[i]]);
    end
    steal_event_o.stolen            = 3'($countones(stolen_o));
    steal_event_o.blocking_read     = 2'($countones(grant_o & blocking));
    steal_event_o.write_normal      = 2'($countones(written & ~forced));
    steal_event_o.write_forced      = 2'($countones(forced));
    steal_event_o.write_partial     = 2'($countones(forced & ~write_full_i));
    steal_event_o.write_next        = 2'($countones(forced & write_full_i & needed_soon));
    steal_event_o.write_parked      = 2'($countones(park_valid_o));
    steal_event_o.write_wait_parked = 2'($countones(write_valid_i & ~held & write_parked_i &
                                                    ~bus_taken));
    steal_event_o.write_wait_bus    = 2'($countones(write_valid_i & bus_taken));
    steal_event_o.return_next       = fetch_valid_o & ~force_valid_i & fresh_i[fetch_bank_o];
    steal_event_o.return_later      = fetch_valid_o & ~force_valid_i & ~fresh_i[fetch_bank_o];
    steal_event_o.return_forced     = force_valid_i;
    steal_event_o.force_read        = force_valid_i & force_read_i;
    steal_event_o.force_write       = force_valid_i & force_write_i;
    steal_event_o.force_alive       = force_valid_i & force_alive_i;
    steal_event_o.land              = land_valid_i;
    steal_event_o.wait_parked       = 6'($countones(req_valid_i & req_parked_i));
    steal_event_o.wait_return       = 6'($countones(waits_return));
    steal_event_o.parked            = 6'($countones(parked_i));
    steal_event_o.places            = 6'($countones(free_valid_i & ~parked_i));
  end

  always_comb begin : place_events
    logic [Slots-1:0] elsewhere;
    for (int unsigned i = 0; i < Slots; i++) begin
      elsewhere[i] = grant_o[i] & (at_bank_i[i] != req_bank_i[i]);
    end
    place_event_o.redirected = 6'($countones(elsewhere));
    place_event_o.dropped    = 2'($countones(drop_o));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rr_q        <= '{default: '0};
      turn_q      <= 1'b0;
      park_turn_q <= '0;
    end else begin
      turn_q      <= turn_d;
      park_turn_q <= park_turn_d;
      for (int unsigned b = 0; b < Banks; b++) begin
        if (cfg_i[0] && reading[b]) rr_q[b] <= chosen[b] + 1'b1;
      end
    end
  end

  `GPURF_ASSERT(one_access, (read_valid_o & bank_write_valid_o) == '0,
                "a bank was given a read and a write together")
  // Each read of a bank has at least one cause, so equal counts mean one cause each; likewise for writes.
  `GPURF_ASSERT(one_reason,
                $countones(read_valid_o) == $countones(grant_o) + $countones(stolen_o) +
                                            $countones(fetch_valid_o) &&
                $countones(bank_write_valid_o) == $countones(write_done_o) +
                                                  $countones(land_valid_i),
                "a bank was given two reads or two writes at once")
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(drops_what_stays, drop_o[p],
                       !(fetch_valid_o && fetch_bank_o == drop_bank_i[p]),
                       "a value was dropped and fetched")
    `GPURF_ASSERT_WHEN(parks_in_a_place, park_valid_o[p],
                       free_valid_i[park_bank_o[p]] && !parked_i[park_bank_o[p]],
                       "a result was parked where there is no place")
  end
  `GPURF_ASSERT_WHEN(forces_what_is_parked, force_valid_i,
                     parked_i[force_bank_i] && !(land_valid_i && land_bank_i == force_bank_i),
                     "a fetch was forced of a bank without a parked value, or with a landing")

endmodule

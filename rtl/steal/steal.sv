// The main register file with bank stealing: idle banks do further accesses.
//
// Single-ported banks behind operand collectors, as in `mrf`, with an arbiter that uses what banks
// leave idle (stealing paper, section IV). Read stealing reads an operand of the warp that will
// issue next one cycle early; this warp then does issue next. Write stealing parks a result that is delayed
// by reads in a dead register of an idle bank, and moves it to its own register
// later. Each can be switched off; with both off this is `mrf`, cycle by cycle. With *redirect* a
// parked value is read from where it is parked, with *drop* it is discarded when its register is overwritten.
//
//            an operand that is stolen               a result that is parked
//   t-1      its warp is named as candidate          the result is taken from the result bus
//   t        the bank reads, the warp issues         the result is written into the free entry of an idle bank
//   t+1      the data goes into its operand latch    at the earliest the result is read (fetched) from there
//   t+2                                              and is written into its own register (lands)
//
// No output but the event words depends on an input of the same cycle.
`include "gpurf_assert.svh"

module steal
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned TagW = 32,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors),
  localparam int unsigned CfgW = 7
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // round-robin, read, write, eager, unread, redirect, drop
  input  logic [CfgW-1:0]                cfg_i,

  // issue
  input  logic [IssuePorts-1:0]          issue_valid_i,
  output logic [IssuePorts-1:0]          issue_ready_o,
  input  logic [WarpW-1:0]               issue_warp_i       [IssuePorts],
  input  logic [EntryW-1:0]              issue_base_i       [IssuePorts],
  input  logic [Lanes-1:0]               issue_mask_i       [IssuePorts],
  input  logic [TagW-1:0]                issue_tag_i        [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] issue_src_valid_i,
  input  logic [RegW-1:0]                issue_src_reg_i    [Operands*IssuePorts],

  // results
  input  logic [IssuePorts-1:0]          write_valid_i,
  output logic [IssuePorts-1:0]          write_ready_o,
  // Some fields of a result are used only by other designs.
  // verilator lint_off UNUSEDSIGNAL
  input  write_t                         write_i            [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
  input  logic [EntryW-1:0]              write_base_i       [IssuePorts],
  input  logic [DataW-1:0]               write_data_i       [IssuePorts],
  input  logic [IssuePorts-1:0]          write_next_i,  // the next instruction of its warp reads the register

  // results that are written into their bank or parked in this cycle, for the scoreboard
  output logic [IssuePorts-1:0]          write_done_o,
  output written_t                       written_o          [IssuePorts],

  // dispatch
  output logic [IssuePorts-1:0]          dispatch_valid_o,
  input  logic [IssuePorts-1:0]          dispatch_ready_i,
  output logic [WarpW-1:0]               dispatch_warp_o    [IssuePorts],
  output logic [Lanes-1:0]               dispatch_mask_o    [IssuePorts],
  output logic [TagW-1:0]                dispatch_tag_o     [IssuePorts],
  output logic [Operands*IssuePorts-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]               dispatch_data_o    [Operands*IssuePorts],

  // warps that may issue in the next cycle; steal_o: the candidate of the previous cycle issues now
  input  logic [IssuePorts-1:0]          candidate_valid_i,
  input  logic [WarpW-1:0]               candidate_warp_i   [IssuePorts],
  input  logic [EntryW-1:0]              candidate_base_i   [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] candidate_src_valid_i,
  input  logic [RegW-1:0]                candidate_src_reg_i [Operands*IssuePorts],
  output logic [IssuePorts-1:0]          steal_o,

  // dead registers
  input  logic                           clear_i,  // no register has a value: a grid is about to begin
  input  logic                           spare_i,  // the last row belongs to no warp of this grid
  input  logic [IssuePorts-1:0]          hint_valid_i,  // a register is dead after the dispatched instruction
  input  logic [EntryW-1:0]              hint_base_i        [IssuePorts],
  input  logic [RegW-1:0]                hint_reg_i         [IssuePorts],

  output mrf_event_t                     event_o,
  output steal_event_t                   steal_event_o,
  output steal_place_event_t             place_event_o
);

  localparam int unsigned SlotW = $clog2(Slots);
  localparam int unsigned Wants = Operands * IssuePorts;

  // issue to collectors
  logic [BankW-1:0]      issue_bank       [Operands*IssuePorts];
  logic [EntryW-1:0]     issue_entry      [Operands*IssuePorts];
  logic [Collectors-1:0] alloc_valid;
  // verilator lint_off UNUSEDSIGNAL
  logic [Collectors-1:0] alloc_port;       // issue port of the instruction; not read with one port
  // verilator lint_on UNUSEDSIGNAL

  // write queues
  logic [BankW-1:0]      push_bank        [IssuePorts];
  logic [EntryW-1:0]     push_entry       [IssuePorts];
  logic [IssuePorts-1:0] head_valid;
  logic [BankW-1:0]      head_bank        [IssuePorts];
  logic [EntryW-1:0]     head_entry       [IssuePorts];
  logic [WarpW-1:0]      head_warp        [IssuePorts];
  logic [RegW-1:0]       head_reg         [IssuePorts];
  logic [Lanes-1:0]      head_mask        [IssuePorts];
  logic [DataW-1:0]      head_data        [IssuePorts];
  logic [GroupsW-1:0]    head_groups      [IssuePorts];
  logic [IssuePorts-1:0] head_next_q;      // write_next_i of the result that the queue took last

  // collectors
  logic [Collectors-1:0] busy;
  logic [Collectors-1:0] complete;
  logic [Collectors-1:0] free;
  logic [Collectors-1:0] older            [Collectors];
  logic [Slots-1:0]      req_valid;
  logic [BankW-1:0]      req_bank         [Slots];
  logic [EntryW-1:0]     req_entry        [Slots];
  logic [GroupsW-1:0]    req_groups       [Collectors];
  logic [Slots-1:0]      fill;
  logic [BankW-1:0]      fill_bank        [Slots];
  logic [WarpW-1:0]      col_warp         [Collectors];
  logic [Lanes-1:0]      col_mask         [Collectors];
  logic [TagW-1:0]       col_tag          [Collectors];
  logic [Slots-1:0]      col_src_valid;

  // candidates
  logic [BankW-1:0]      candidate_bank   [Wants];
  logic [EntryW-1:0]     candidate_entry  [Wants];
  logic [Wants-1:0]      want_valid;
  logic [BankW-1:0]      want_bank        [Wants];
  logic [EntryW-1:0]     want_entry       [Wants];
  logic [WarpW-1:0]      want_warp        [IssuePorts];
  logic [Wants-1:0]      stolen;
  logic [IssuePorts-1:0] stolen_taken;     // the instruction that issues takes the stolen operands

  // parking places and parked values
  logic [BankW-1:0]      hint_bank        [IssuePorts];
  logic [EntryW-1:0]     hint_entry       [IssuePorts];
  logic [IssuePorts-1:0] hint_taken;
  logic [Banks-1:0]      free_valid;
  logic [EntryW-1:0]     free_entry       [Banks];
  logic [Banks-1:0]      parked;
  logic [BankW-1:0]      parked_bank      [Banks];
  logic [EntryW-1:0]     parked_entry     [Banks];
  logic [Slots-1:0]      req_parked;
  logic [IssuePorts-1:0] write_parked;
  logic [Wants-1:0]      want_parked;
  logic [Banks-1:0]      alive;
  logic [BankW-1:0]      at_bank          [Slots];       // where the register of a slot is read: bank, entry
  logic [EntryW-1:0]     at_entry         [Slots];
  logic [IssuePorts-1:0] drop_valid;       // a result overwrites the register of a parked value
  logic [BankW-1:0]      drop_bank        [IssuePorts];
  logic [IssuePorts-1:0] drop;

  // return of parked values
  logic                  force_valid;
  logic [BankW-1:0]      force_bank;
  logic                  force_read;
  logic                  force_write;
  logic                  force_alive;
  logic                  fetch_valid;
  logic [BankW-1:0]      fetch_bank;
  // verilator lint_off UNUSEDSIGNAL
  logic                  fetch_forced;     // not read in this module; for observation only
  // verilator lint_on UNUSEDSIGNAL
  logic                  land_valid;
  logic [BankW-1:0]      land_source;
  logic [BankW-1:0]      land_bank;
  logic [EntryW-1:0]     land_entry;
  logic                  land_port;
  logic [BankW-1:0]      turn;
  logic                  bus_free;
  logic                  bus_any;
  logic [Banks-1:0]      fresh;

  // arbiter to banks
  logic [Slots-1:0]      grant;
  logic [IssuePorts-1:0] write_full;
  logic [IssuePorts-1:0] write_done;
  logic [IssuePorts-1:0] park_valid;
  logic [BankW-1:0]      park_bank        [IssuePorts];
  logic [Lanes-1:0]      bus_mask         [IssuePorts];
  logic [DataW-1:0]      bus_data         [IssuePorts];
  logic [Banks-1:0]      read_valid;
  logic [EntryW-1:0]     read_entry       [Banks];
  logic [Banks-1:0]      bank_write_valid;
  // verilator lint_off UNUSEDSIGNAL
  logic [Banks-1:0]      bank_write_port;  // bus that writes the bank; not read with one bus
  // verilator lint_on UNUSEDSIGNAL
  logic [EntryW-1:0]     bank_write_entry [Banks];
  mrf_arbiter_event_t    arbiter_event;
  steal_arbiter_event_t  steal_arbiter_event;
  steal_place_event_t    place_event;

  // banks to dispatch
  logic [Banks-1:0]      read_data_valid;
  logic [DataW-1:0]      read_data        [Banks];
  logic [IssuePorts-1:0] dispatch_valid;
  logic [ColW-1:0]       dispatch_col     [IssuePorts];

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_issue
    for (genvar s = 0; s < Operands; s++) begin : gen_source
      mrf_bank_map #(
        .Banks(Banks),
        .Depth(Depth)
      ) u_bank_map (
        .warp_i (issue_warp_i[p]),
        .reg_i  (issue_src_reg_i[Operands*p+s]),
        .base_i (issue_base_i[p]),
        .bank_o (issue_bank[Operands*p+s]),
        .entry_o(issue_entry[Operands*p+s])
      );
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_candidate
    for (genvar s = 0; s < Operands; s++) begin : gen_source
      mrf_bank_map #(
        .Banks(Banks),
        .Depth(Depth)
      ) u_bank_map (
        .warp_i (candidate_warp_i[p]),
        .reg_i  (candidate_src_reg_i[Operands*p+s]),
        .base_i (candidate_base_i[p]),
        .bank_o (candidate_bank[Operands*p+s]),
        .entry_o(candidate_entry[Operands*p+s])
      );
    end
  end

  // A hint arrives with the dispatched instruction, and names a register of its warp.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_hint
    mrf_bank_map #(
      .Banks(Banks),
      .Depth(Depth)
    ) u_bank_map (
      .warp_i (dispatch_warp_o[p]),
      .reg_i  (hint_reg_i[p]),
      .base_i (hint_base_i[p]),
      .bank_o (hint_bank[p]),
      .entry_o(hint_entry[p])
    );
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_write
    mrf_bank_map #(
      .Banks(Banks),
      .Depth(Depth)
    ) u_bank_map (
      .warp_i (write_i[p].warp),
      .reg_i  (write_i[p].d),
      .base_i (write_base_i[p]),
      .bank_o (push_bank[p]),
      .entry_o(push_entry[p])
    );

    mrf_write_queue #(
      .Banks(Banks),
      .Depth(Depth)
    ) u_write_queue (
      .clk_i,
      .rst_ni,
      .push_valid_i (write_valid_i[p]),
      .push_ready_o (write_ready_o[p]),
      .push_bank_i  (push_bank[p]),
      .push_entry_i (push_entry[p]),
      .push_warp_i  (write_i[p].warp),
      .push_reg_i   (write_i[p].d),
      .push_mask_i  (write_i[p].mask),
      .push_data_i  (write_data_i[p]),
      .pop_i        (write_done[p]),
      .head_valid_o (head_valid[p]),
      .head_bank_o  (head_bank[p]),
      .head_entry_o (head_entry[p]),
      .head_warp_o  (head_warp[p]),
      .head_reg_o   (head_reg[p]),
      .head_mask_o  (head_mask[p]),
      .head_data_o  (head_data[p]),
      .head_groups_o(head_groups[p])
    );

    assign written_o[p] = '{d: head_reg[p], warp: head_warp[p]};
  end

  // write_next_i is known when a result arrives, and is kept beside the queue of the result.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (!rst_ni)                                  head_next_q[p] <= 1'b0;
      else if (write_valid_i[p] & write_ready_o[p]) head_next_q[p] <= write_next_i[p];
    end
  end

  mrf_allocator #(
    .Collectors(Collectors),
    .IssuePorts(IssuePorts)
  ) u_allocator (
    .clk_i,
    .rst_ni,
    .issue_valid_i,
    .issue_warp_i,
    .issue_ready_o,
    .busy_i          (busy),
    .complete_i      (complete),
    .col_warp_i      (col_warp),
    .alloc_valid_o   (alloc_valid),
    .alloc_port_o    (alloc_port),
    .older_o         (older),
    .dispatch_valid_o(dispatch_valid),
    .dispatch_col_o  (dispatch_col),
    .dispatch_ready_i,
    .free_o          (free)
  );

  for (genvar c = 0; c < Collectors; c++) begin : gen_collector
    // The instruction to allocate, from the issue port that the allocator names.
    logic [WarpW-1:0]    alloc_warp;
    logic [Lanes-1:0]    alloc_mask;
    logic [TagW-1:0]     alloc_tag;
    logic [Operands-1:0] alloc_src_valid;
    logic [BankW-1:0]    alloc_bank  [Operands];
    logic [EntryW-1:0]   alloc_entry [Operands];
    logic [Operands-1:0] alloc_read;

    if (IssuePorts == 1) begin : gen_one_port
      assign alloc_warp      = issue_warp_i[0];
      assign alloc_mask      = issue_mask_i[0];
      assign alloc_tag       = issue_tag_i[0];
      assign alloc_src_valid = issue_src_valid_i;
      assign alloc_bank      = issue_bank;
      assign alloc_entry     = issue_entry;
      assign alloc_read      = (alloc_valid[c] && stolen_taken[0]) ? stolen : '0;
    end else begin : gen_two_ports
      assign alloc_warp      = issue_warp_i[alloc_port[c]];
      assign alloc_mask      = issue_mask_i[alloc_port[c]];
      assign alloc_tag       = issue_tag_i[alloc_port[c]];
      assign alloc_src_valid = alloc_port[c] ? issue_src_valid_i[Operands +: Operands]
                                             : issue_src_valid_i[0 +: Operands];
      assign alloc_read      = !(alloc_valid[c] && stolen_taken[alloc_port[c]]) ? '0
                               : alloc_port[c] ? stolen[Operands +: Operands]
                                               : stolen[0 +: Operands];
      for (genvar s = 0; s < Operands; s++) begin : gen_source
        assign alloc_bank[s]  = alloc_port[c] ? issue_bank[Operands+s] : issue_bank[s];
        assign alloc_entry[s] = alloc_port[c] ? issue_entry[Operands+s] : issue_entry[s];
      end
    end

    steal_collector #(
      .Banks(Banks),
      .Depth(Depth),
      .TagW (TagW)
    ) u_collector (
      .clk_i,
      .rst_ni,
      .alloc_valid_i    (alloc_valid[c]),
      .alloc_warp_i     (alloc_warp),
      .alloc_mask_i     (alloc_mask),
      .alloc_tag_i      (alloc_tag),
      .alloc_src_valid_i(alloc_src_valid),
      .alloc_bank_i     (alloc_bank),
      .alloc_entry_i    (alloc_entry),
      .alloc_read_i     (alloc_read),
      .grant_i          (grant[Operands*c +: Operands]),
      .at_bank_i        (at_bank[Operands*c +: Operands]),
      .free_i           (free[c]),
      .req_valid_o      (req_valid[Operands*c +: Operands]),
      .req_bank_o       (req_bank[Operands*c +: Operands]),
      .req_entry_o      (req_entry[Operands*c +: Operands]),
      .req_groups_o     (req_groups[c]),
      .fill_o           (fill[Operands*c +: Operands]),
      .fill_bank_o      (fill_bank[Operands*c +: Operands]),
      .busy_o           (busy[c]),
      .complete_o       (complete[c]),
      .warp_o           (col_warp[c]),
      .mask_o           (col_mask[c]),
      .tag_o            (col_tag[c]),
      .src_valid_o      (col_src_valid[Operands*c +: Operands])
    );
  end

  steal_candidates #(
    .Banks     (Banks),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_candidates (
    .clk_i,
    .rst_ni,
    .candidate_valid_i,
    .candidate_warp_i,
    .candidate_src_valid_i,
    .candidate_bank_i (candidate_bank),
    .candidate_entry_i(candidate_entry),
    .ready_i          (issue_ready_o),
    .want_valid_o     (want_valid),
    .want_bank_o      (want_bank),
    .want_entry_o     (want_entry),
    .want_warp_o      (want_warp)
  );

  steal_table #(
    .Banks     (Banks),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_table (
    .clk_i,
    .rst_ni,
    .clear_i,
    .spare_i,
    .hint_valid_i,
    .hint_bank_i   (hint_bank),
    .hint_entry_i  (hint_entry),
    .hint_taken_o  (hint_taken),
    .write_valid_i (head_valid),
    .write_bank_i  (head_bank),
    .write_entry_i (head_entry),
    .park_valid_i  (park_valid),
    .park_bank_i   (park_bank),
    .fetch_valid_i (fetch_valid),
    .fetch_bank_i  (fetch_bank),
    .drop_valid_i  (drop),
    .drop_bank_i   (drop_bank),
    .alive_i       (alive),
    .free_valid_o  (free_valid),
    .free_entry_o  (free_entry),
    .parked_o      (parked),
    .parked_bank_o (parked_bank),
    .parked_entry_o(parked_entry)
  );

  steal_dependence #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_dependence (
    .redirect_i    (cfg_i[5]),
    .drop_i        (cfg_i[6]),
    .req_valid_i   (req_valid),
    .req_bank_i    (req_bank),
    .req_entry_i   (req_entry),
    .write_valid_i (head_valid),
    .write_bank_i  (head_bank),
    .write_entry_i (head_entry),
    .write_full_i  (write_full),
    .want_valid_i  (want_valid),
    .want_bank_i   (want_bank),
    .want_entry_i  (want_entry),
    .free_valid_i  (free_valid),
    .free_entry_i  (free_entry),
    .parked_i      (parked),
    .parked_bank_i (parked_bank),
    .parked_entry_i(parked_entry),
    .land_valid_i  (land_valid),
    .land_bank_i   (land_bank),
    .turn_i        (turn),
    .bus_any_i     (bus_any),
    .req_parked_o  (req_parked),
    .write_parked_o(write_parked),
    .want_parked_o (want_parked),
    .alive_o       (alive),
    .at_bank_o     (at_bank),
    .at_entry_o    (at_entry),
    .drop_valid_o  (drop_valid),
    .drop_bank_o   (drop_bank),
    .force_valid_o (force_valid),
    .force_bank_o  (force_bank),
    .force_read_o  (force_read),
    .force_write_o (force_write),
    .force_alive_o (force_alive)
  );

  steal_arbiter #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .req_valid_i       (req_valid),
    .req_bank_i        (req_bank),
    .req_entry_i       (req_entry),
    .req_groups_i      (req_groups),
    .older_i           (older),
    .req_parked_i      (req_parked),
    .at_bank_i         (at_bank),
    .at_entry_i        (at_entry),
    .write_valid_i     (head_valid),
    .write_bank_i      (head_bank),
    .write_entry_i     (head_entry),
    .write_groups_i    (head_groups),
    .write_full_i      (write_full),
    .write_next_i      (head_next_q),
    .write_parked_i    (write_parked),
    .drop_valid_i      (drop_valid),
    .drop_bank_i       (drop_bank),
    .want_valid_i      (want_valid),
    .want_bank_i       (want_bank),
    .want_entry_i      (want_entry),
    .want_parked_i     (want_parked),
    .free_valid_i      (free_valid),
    .free_entry_i      (free_entry),
    .parked_i          (parked),
    .parked_bank_i     (parked_bank),
    .alive_i           (alive),
    .force_valid_i     (force_valid),
    .force_bank_i      (force_bank),
    .force_read_i      (force_read),
    .force_write_i     (force_write),
    .force_alive_i     (force_alive),
    .land_valid_i      (land_valid),
    .land_bank_i       (land_bank),
    .land_entry_i      (land_entry),
    .land_port_i       (land_port),
    .turn_i            (turn),
    .bus_free_i        (bus_free),
    .fresh_i           (fresh),
    .grant_o           (grant),
    .stolen_o          (stolen),
    .write_done_o      (write_done),
    .park_valid_o      (park_valid),
    .park_bank_o       (park_bank),
    .drop_o            (drop),
    .fetch_valid_o     (fetch_valid),
    .fetch_bank_o      (fetch_bank),
    .fetch_forced_o    (fetch_forced),
    .read_valid_o      (read_valid),
    .read_entry_o      (read_entry),
    .bank_write_valid_o(bank_write_valid),
    .bank_write_port_o (bank_write_port),
    .bank_write_entry_o(bank_write_entry),
    .event_o           (arbiter_event),
    .steal_event_o     (steal_arbiter_event),
    .place_event_o     (place_event)
  );

  steal_return #(
    .Banks     (Banks),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_return (
    .clk_i,
    .rst_ni,
    .head_valid_i  (head_valid),
    .park_valid_i  (park_valid),
    .park_bank_i   (park_bank),
    .fetch_valid_i (fetch_valid),
    .fetch_bank_i  (fetch_bank),
    .parked_bank_i (parked_bank),
    .parked_entry_i(parked_entry),
    .land_valid_o  (land_valid),
    .land_source_o (land_source),
    .land_bank_o   (land_bank),
    .land_entry_o  (land_entry),
    .land_port_o   (land_port),
    .bus_free_o    (bus_free),
    .bus_any_o     (bus_any),
    .turn_o        (turn),
    .fresh_o       (fresh)
  );

  // The instruction that issues may differ from the one for which operands were stolen: then no instruction
  // takes the stolen operands.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_steal
    assign steal_o[p]      = stolen[Operands*p +: Operands] != '0;
    assign stolen_taken[p] = steal_o[p] & issue_valid_i[p] & (issue_warp_i[p] == want_warp[p]);
  end

  // The result buses between queues and banks: a landing value has a bus to itself.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_bus
    logic lands;

    assign write_full[p] = head_mask[p] == '1;

    if (IssuePorts == 1) begin : gen_one_bus
      assign lands = land_valid;
    end else begin : gen_two_buses
      assign lands = land_valid && land_port == 1'(p);
    end

    always_comb begin
      bus_mask[p] = head_mask[p];
      bus_data[p] = head_data[p];
      if (lands) begin
        bus_mask[p] = '1;
        bus_data[p] = read_data[land_source];
      end
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    // Mask and data on the bus that the arbiter names.
    logic [Lanes-1:0] bank_write_mask;
    logic [DataW-1:0] bank_write_data;

    if (IssuePorts == 1) begin : gen_one_bus
      assign bank_write_mask = bus_mask[0];
      assign bank_write_data = bus_data[0];
    end else begin : gen_two_buses
      assign bank_write_mask = bus_mask[bank_write_port[b]];
      assign bank_write_data = bus_data[bank_write_port[b]];
    end

    mrf_bank #(
      .DualPort(0),
      .Depth   (Depth)
    ) u_bank (
      .clk_i,
      .rst_ni,
      .read_valid_i     (read_valid[b]),
      .read_entry_i     (read_entry[b]),
      .write_valid_i    (bank_write_valid[b]),
      .write_entry_i    (bank_write_entry[b]),
      .write_mask_i     (bank_write_mask),
      .write_data_i     (bank_write_data),
      .read_data_valid_o(read_data_valid[b]),
      .read_data_o      (read_data[b])
    );
  end

  mrf_crossbar #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts)
  ) u_crossbar (
    .clk_i,
    .rst_ni,
    .fill_i           (fill),
    .fill_bank_i      (fill_bank),
    .read_data_valid_i(read_data_valid),
    .read_data_i      (read_data),
    .dispatch_valid_i (dispatch_valid),
    .dispatch_col_i   (dispatch_col),
    .dispatch_data_o
  );

  assign write_done_o     = write_done;
  assign dispatch_valid_o = dispatch_valid;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_dispatch
    assign dispatch_warp_o[p] = col_warp[dispatch_col[p]];
    assign dispatch_mask_o[p] = col_mask[dispatch_col[p]];
    assign dispatch_tag_o[p]  = col_tag[dispatch_col[p]];
    assign dispatch_src_valid_o[Operands*p +: Operands] = dispatch_valid[p]
        ? col_src_valid[SlotW'(Operands) * SlotW'(dispatch_col[p]) +: Operands]
        : '0;
  end

  // The lane groups of a stolen read are those of the instruction that takes the operand.
  always_comb begin : events
    mrf_arbiter_event_t with_stolen;
    with_stolen = arbiter_event;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (stolen_taken[p]) begin
        with_stolen.read_groups = with_stolen.read_groups +
            9'($countones(stolen[Operands*p +: Operands])) * 9'(active_groups(issue_mask_i[p]));
      end
    end
    event_o = {
      with_stolen,
      2'($countones(issue_valid_i & ~issue_ready_o)),
      2'($countones(dispatch_valid & dispatch_ready_i)),
      2'($countones(dispatch_valid & ~dispatch_ready_i))
    };
    steal_event_o = {
      steal_arbiter_event,
      2'($countones(steal_o & ~stolen_taken)),
      2'($countones(hint_taken)),
      2'($countones(hint_valid_i & ~hint_taken))
    };
  end

  assign place_event_o = place_event;

  // A register that is read has a value, so its entry is not a parking place.
  for (genvar i = 0; i < Slots; i++) begin : gen_read_check
    `GPURF_ASSERT_WHEN(reads_what_is_alive, req_valid[i],
                       !(free_valid[req_bank[i]] && free_entry[req_bank[i]] == req_entry[i]),
                       "a register is read that is said to be dead")
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_port_check
    for (genvar s = 0; s < Operands; s++) begin : gen_want_check
      localparam int unsigned I = Operands * p + s;

      `GPURF_ASSERT_WHEN(wants_what_is_alive, want_valid[I],
                         !(free_valid[want_bank[I]] && free_entry[want_bank[I]] == want_entry[I]),
                         "a candidate reads a register that is said to be dead")
      `GPURF_ASSERT_WHEN(takes_its_own, stolen_taken[p] && stolen[I],
                         issue_src_valid_i[I] && issue_bank[I] == want_bank[I] &&
                         issue_entry[I] == want_entry[I],
                         "an instruction takes an operand that was stolen for another one")
      for (genvar q = 0; q < IssuePorts; q++) begin : gen_head_check
        `GPURF_ASSERT_WHEN(steals_what_is_written, stolen[I] && head_valid[q],
                           !(head_bank[q] == want_bank[I] && head_entry[q] == want_entry[I]),
                           "an operand is stolen whose value is on its way")
      end
    end
  end

endmodule

// The main register file without conflicts.
//
// A register file with as many ports as it could ever use: every operand is read in the first cycle
// in which it is requested, and every result is written in the first cycle in which it waits. It is
// the bound that bank stealing approaches (stealing paper, sections III-A and IV-A: the techniques
// remove bank conflicts, and this file has none). No such memory would be built; the design says
// how much of a kernel's time bank conflicts cost. Everything around the storage is that of `mrf`,
// and so is the time from issue to dispatch without a conflict.
//
//   cycle t    the instruction is taken
//   t+1        its collector requests; the operands go into their latches at the end of the cycle
//   t+2        the collector waits, as in `mrf`, where the data is now at the banks' outputs
//   t+3        the instruction is offered for dispatch
//
// The blocks do the work; this module wires them, multiplexes between the ports, and counts the
// events. No output but the event word depends on an input of the same cycle.
`include "gpurf_assert.svh"

module mrf_ideal
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
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // Not read: the order among the reads of a bank. No read waits here.
  // verilator lint_off UNUSEDSIGNAL
  input  logic                           cfg_i,
  // Not read: registers are found by rows here, as in mrf without Places.
  // verilator lint_off UNUSEDSIGNAL
  input  register_layout_t               layout_i,
  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_on UNUSEDSIGNAL

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
  // Some fields of a result are for other designs.
  // verilator lint_off UNUSEDSIGNAL
  input  write_t                         write_i            [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
  input  logic [EntryW-1:0]              write_base_i       [IssuePorts],
  input  logic [DataW-1:0]               write_data_i       [IssuePorts],

  // results written in this cycle, for the scoreboard
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

  output mrf_event_t                     event_o
);

  localparam int unsigned SlotW = $clog2(Slots);

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

  // collectors
  logic [Collectors-1:0] busy;
  logic [Collectors-1:0] complete;
  logic [Collectors-1:0] free;
  // verilator lint_off UNUSEDSIGNAL
  logic [Collectors-1:0] older            [Collectors];  // not read: no read waits
  // verilator lint_on UNUSEDSIGNAL
  logic [Slots-1:0]      req_valid;
  logic [BankW-1:0]      req_bank         [Slots];
  logic [EntryW-1:0]     req_entry        [Slots];
  logic [GroupsW-1:0]    req_groups       [Collectors];
  logic [Slots-1:0]      fill;
  logic [WarpW-1:0]      col_warp         [Collectors];
  logic [Lanes-1:0]      col_mask         [Collectors];
  logic [TagW-1:0]       col_tag          [Collectors];
  logic [Slots-1:0]      col_src_valid;

  // dispatch
  logic [IssuePorts-1:0] dispatch_valid;
  logic [ColW-1:0]       dispatch_col     [IssuePorts];

  // events
  logic [8:0]            read_groups;      // lane groups of all reads
  logic [4:0]            write_groups;     // lane groups of all writes

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
      .pop_i        (head_valid[p]),
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

    if (IssuePorts == 1) begin : gen_one_port
      assign alloc_warp      = issue_warp_i[0];
      assign alloc_mask      = issue_mask_i[0];
      assign alloc_tag       = issue_tag_i[0];
      assign alloc_src_valid = issue_src_valid_i;
      assign alloc_bank      = issue_bank;
      assign alloc_entry     = issue_entry;
    end else begin : gen_two_ports
      assign alloc_warp      = issue_warp_i[alloc_port[c]];
      assign alloc_mask      = issue_mask_i[alloc_port[c]];
      assign alloc_tag       = issue_tag_i[alloc_port[c]];
      assign alloc_src_valid = alloc_port[c] ? issue_src_valid_i[Operands +: Operands]
                                             : issue_src_valid_i[0 +: Operands];
      for (genvar s = 0; s < Operands; s++) begin : gen_source
        assign alloc_bank[s]  = alloc_port[c] ? issue_bank[Operands+s] : issue_bank[s];
        assign alloc_entry[s] = alloc_port[c] ? issue_entry[Operands+s] : issue_entry[s];
      end
    end

    mrf_collector #(
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
      .grant_i          (req_valid[Operands*c +: Operands]),
      .free_i           (free[c]),
      .req_valid_o      (req_valid[Operands*c +: Operands]),
      .req_bank_o       (req_bank[Operands*c +: Operands]),
      .req_entry_o      (req_entry[Operands*c +: Operands]),
      .req_groups_o     (req_groups[c]),
      .fill_o           (fill[Operands*c +: Operands]),
      .busy_o           (busy[c]),
      .complete_o       (complete[c]),
      .warp_o           (col_warp[c]),
      .mask_o           (col_mask[c]),
      .tag_o            (col_tag[c]),
      .src_valid_o      (col_src_valid[Operands*c +: Operands])
    );
  end

  mrf_ideal_store #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth)
  ) u_store (
    .clk_i,
    .fill_i          (fill),
    .fill_bank_i     (req_bank),
    .fill_entry_i    (req_entry),
    .write_valid_i   (head_valid),
    .write_bank_i    (head_bank),
    .write_entry_i   (head_entry),
    .write_mask_i    (head_mask),
    .write_data_i    (head_data),
    .dispatch_valid_i(dispatch_valid),
    .dispatch_col_i  (dispatch_col),
    .dispatch_data_o
  );

  assign write_done_o     = head_valid;
  assign dispatch_valid_o = dispatch_valid;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_dispatch
    assign dispatch_warp_o[p] = col_warp[dispatch_col[p]];
    assign dispatch_mask_o[p] = col_mask[dispatch_col[p]];
    assign dispatch_tag_o[p]  = col_tag[dispatch_col[p]];
    assign dispatch_src_valid_o[Operands*p +: Operands] = dispatch_valid[p]
        ? col_src_valid[SlotW'(Operands) * SlotW'(dispatch_col[p]) +: Operands]
        : '0;
  end

  // Each request reads in this cycle, and each waiting result is written.
  always_comb begin
    read_groups  = '0;
    write_groups = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (req_valid[i]) read_groups = read_groups + 9'(req_groups[i / Operands]);
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (head_valid[p]) write_groups = write_groups + 5'(head_groups[p]);
    end
  end

  // There are no conflicts and no held writes: their fields are 0.
  assign event_o = '{
    read:           6'($countones(req_valid)),
    read_groups:    read_groups,
    write:          2'($countones(head_valid)),
    write_groups:   write_groups,
    issue_stall:    2'($countones(issue_valid_i & ~issue_ready_o)),
    dispatch:       2'($countones(dispatch_valid & dispatch_ready_i)),
    dispatch_stall: 2'($countones(dispatch_valid & ~dispatch_ready_i)),
    default:        '0
  };

  `GPURF_ASSERT(reads_do_not_wait, (req_valid & ~fill) == '0,
                "a requested read does not fill its latch")
  `GPURF_ASSERT(results_do_not_wait, write_ready_o == '1, "a result bus was not ready")

endmodule

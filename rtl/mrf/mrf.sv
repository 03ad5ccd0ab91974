// The banked main register file.
//
// The baseline register file of the papers: single- or dual-ported banks behind operand collectors,
// one arbiter, one crossbar (stealing paper, sections II-B and III-B and figure 1; RFC paper,
// section 2.1; hierarchy thesis, section 2.4). An instruction reserves a collector, asks the banks
// for its source registers, and leaves for an execution unit when all of them have arrived. A
// result comes back on a result bus, waits in that bus's write queue until its bank is free, and is
// written lane by lane under its mask.
//
//   cycle t    the instruction is taken
//   t+1        its collector requests, the arbiter grants, the bank reads at the end of the cycle
//   t+2        the data is at the bank's output, and goes through the crossbar into its latch
//   t+3        the instruction is offered for dispatch
//
// The blocks do the work; this module wires them, multiplexes between the ports, and collects the
// event word. No output but the event word, and the data that memory asks for, depends on an input of
// the same cycle.
//
// With unified memory (hierarchy thesis, chapter 7) the banks store scratchpad memory and the lines of
// the data cache too. Registers go first: memory's accesses change nothing for them.
module mrf
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned TagW = 32,
  parameter int unsigned Places = 0,   // 1: registers are allocated one by one
  // The banks serve memory too: four banks with two ports. 1: memory uses the ports of registers, 2: memory
  // has ports of its own.
  parameter int unsigned Unified = 0,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           cfg_i,  // order among reads: 0 oldest, 1 round-robin
  // Registers are found by the layout with Places, and by the first rows without: only one of the two is read.
  // verilator lint_off UNUSEDSIGNAL
  input  register_layout_t               layout_i,
  // verilator lint_on UNUSEDSIGNAL

  // issue
  input  logic [IssuePorts-1:0]          issue_valid_i,
  output logic [IssuePorts-1:0]          issue_ready_o,
  input  logic [WarpW-1:0]               issue_warp_i       [IssuePorts],
  // verilator lint_off UNUSEDSIGNAL
  input  logic [EntryW-1:0]              issue_base_i       [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
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
  input  logic [EntryW-1:0]              write_base_i       [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DataW-1:0]               write_data_i       [IssuePorts],

  // results written into their bank in this cycle, for the scoreboard
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

  output mrf_event_t                     event_o,

  // accesses of memory, with unified banks: one bit for each cluster of each column. Element 8b + g has entry and
  // bytes of bank g of column b; memory_data_column_i is the column from which each word was read
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Clusters-1:0]            memory_read_i         [Columns],
  input  logic [EntryW-1:0]              memory_read_entry_i   [UnifiedBanks],
  input  logic [Clusters-1:0]            memory_write_i        [Columns],
  input  logic [EntryW-1:0]              memory_write_entry_i  [UnifiedBanks],
  input  logic [ClusterBytes-1:0]        memory_write_bytes_i  [UnifiedBanks],
  input  logic [DataW-1:0]               memory_write_data_i,
  input  logic [ColumnW-1:0]             memory_data_column_i  [WordPlaces],
  // verilator lint_on UNUSEDSIGNAL
  output logic [Columns-1:0]             memory_read_ready_o,
  output logic [Clusters-1:0]            memory_write_ready_o  [Columns],
  output logic [DataW-1:0]               memory_data_o
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
  logic [Collectors-1:0] older            [Collectors];
  logic [Slots-1:0]      req_valid;
  logic [BankW-1:0]      req_bank         [Slots];
  logic [EntryW-1:0]     req_entry        [Slots];
  logic [GroupsW-1:0]    req_groups       [Collectors];
  logic [Slots-1:0]      fill;
  logic [WarpW-1:0]      col_warp         [Collectors];
  logic [Lanes-1:0]      col_mask         [Collectors];
  logic [TagW-1:0]       col_tag          [Collectors];
  logic [Slots-1:0]      col_src_valid;

  // arbiter to banks
  logic [Slots-1:0]      grant;
  logic [IssuePorts-1:0] write_grant;
  logic [Banks-1:0]      read_valid;
  logic [EntryW-1:0]     read_entry       [Banks];
  logic [Banks-1:0]      bank_write_valid;
  // verilator lint_off UNUSEDSIGNAL
  logic [Banks-1:0]      bank_write_port;  // queue that writes; not read with one queue
  // verilator lint_on UNUSEDSIGNAL
  logic [EntryW-1:0]     bank_write_entry [Banks];
  mrf_arbiter_event_t    arbiter_event;

  // banks to dispatch
  logic [Banks-1:0]      read_data_valid;
  logic [DataW-1:0]      read_data        [Banks];
  // verilator lint_off UNUSEDSIGNAL
  logic [DataW-1:0]      memory_data      [Banks];  // without Unified nothing is read for memory
  // verilator lint_on UNUSEDSIGNAL
  logic [IssuePorts-1:0] dispatch_valid;
  logic [ColW-1:0]       dispatch_col     [IssuePorts];

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_issue
    for (genvar s = 0; s < Operands; s++) begin : gen_source
      if (Places == 0) begin : gen_rows
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
      end else begin : gen_places
        register_places #(
          .Banks(Banks),
          .Depth(Depth)
        ) u_places (
          .warp_i (issue_warp_i[p]),
          .reg_i  (issue_src_reg_i[Operands*p+s]),
          .layout_i,
          .bank_o (issue_bank[Operands*p+s]),
          .entry_o(issue_entry[Operands*p+s])
        );
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_write
    if (Places == 0) begin : gen_rows
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
    end else begin : gen_places
      register_places #(
        .Banks(Banks),
        .Depth(Depth)
      ) u_places (
        .warp_i (write_i[p].warp),
        .reg_i  (write_i[p].d),
        .layout_i,
        .bank_o (push_bank[p]),
        .entry_o(push_entry[p])
      );
    end

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
      .pop_i        (write_grant[p]),
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
      .grant_i          (grant[Operands*c +: Operands]),
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

  mrf_arbiter #(
    .Banks     (Banks),
    .DualPort  (DualPort),
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
    .write_valid_i     (head_valid),
    .write_bank_i      (head_bank),
    .write_entry_i     (head_entry),
    .write_groups_i    (head_groups),
    .grant_o           (grant),
    .write_grant_o     (write_grant),
    .read_valid_o      (read_valid),
    .read_entry_o      (read_entry),
    .bank_write_valid_o(bank_write_valid),
    .bank_write_port_o (bank_write_port),
    .bank_write_entry_o(bank_write_entry),
    .event_o           (arbiter_event)
  );

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    // The data to write, from the head of the queue that the arbiter names.
    logic [Lanes-1:0] bank_write_mask;
    logic [DataW-1:0] bank_write_data;

    if (IssuePorts == 1) begin : gen_one_queue
      assign bank_write_mask = head_mask[0];
      assign bank_write_data = head_data[0];
    end else begin : gen_two_queues
      assign bank_write_mask = head_mask[bank_write_port[b]];
      assign bank_write_data = head_data[bank_write_port[b]];
    end

    if (Unified == 0) begin : gen_alone
      mrf_bank #(
        .DualPort(DualPort),
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

      assign memory_data[b] = '0;
    end else begin : gen_unified
      // Accesses of memory to this column.
      logic [EntryW-1:0]       memory_read_entry  [Clusters];
      logic [EntryW-1:0]       memory_write_entry [Clusters];
      logic [ClusterBytes-1:0] memory_write_bytes [Clusters];

      for (genvar g = 0; g < Clusters; g++) begin : gen_cluster
        assign memory_read_entry[g]  = memory_read_entry_i[Clusters*b+g];
        assign memory_write_entry[g] = memory_write_entry_i[Clusters*b+g];
        assign memory_write_bytes[g] = memory_write_bytes_i[Clusters*b+g];
      end

      unified_bank #(
        .Depth   (Depth),
        .Separate(32'(Unified == 2))
      ) u_bank (
        .clk_i,
        .rst_ni,
        .read_valid_i        (read_valid[b]),
        .read_entry_i        (read_entry[b]),
        .write_valid_i       (bank_write_valid[b]),
        .write_entry_i       (bank_write_entry[b]),
        .write_mask_i        (bank_write_mask),
        .write_data_i        (bank_write_data),
        .memory_read_i       (memory_read_i[b]),
        .memory_read_entry_i (memory_read_entry),
        .memory_write_i      (memory_write_i[b]),
        .memory_write_entry_i(memory_write_entry),
        .memory_write_bytes_i(memory_write_bytes),
        .memory_write_data_i,
        .memory_read_ready_o (memory_read_ready_o[b]),
        .memory_write_ready_o(memory_write_ready_o[b]),
        .read_data_valid_o   (read_data_valid[b]),
        .read_data_o         (read_data[b]),
        .memory_data_o       (memory_data[b])
      );
    end
  end

  if (Unified == 0) begin : gen_no_memory
    assign memory_read_ready_o  = '0;
    assign memory_write_ready_o = '{default: '0};
    assign memory_data_o        = '0;
  end else begin : gen_memory
    for (genvar w = 0; w < WordPlaces; w++) begin : gen_word
      assign memory_data_o[LaneW*w +: LaneW] = memory_data[memory_data_column_i[w]][LaneW*w +: LaneW];
    end
  end

  mrf_crossbar #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts)
  ) u_crossbar (
    .clk_i,
    .rst_ni,
    .fill_i           (fill),
    .fill_bank_i      (req_bank),
    .read_data_valid_i(read_data_valid),
    .read_data_i      (read_data),
    .dispatch_valid_i (dispatch_valid),
    .dispatch_col_i   (dispatch_col),
    .dispatch_data_o
  );

  assign write_done_o     = write_grant;
  assign dispatch_valid_o = dispatch_valid;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_dispatch
    assign dispatch_warp_o[p] = col_warp[dispatch_col[p]];
    assign dispatch_mask_o[p] = col_mask[dispatch_col[p]];
    assign dispatch_tag_o[p]  = col_tag[dispatch_col[p]];
    assign dispatch_src_valid_o[Operands*p +: Operands] = dispatch_valid[p]
        ? col_src_valid[SlotW'(Operands) * SlotW'(dispatch_col[p]) +: Operands]
        : '0;
  end

  assign event_o = {
    arbiter_event,
    2'($countones(issue_valid_i & ~issue_ready_o)),
    2'($countones(dispatch_valid & dispatch_ready_i)),
    2'($countones(dispatch_valid & ~dispatch_ready_i))
  };

endmodule

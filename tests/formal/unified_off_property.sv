// Registers of the unified banks are read and written as in a register file of their own, whatever
// memory does.
//
// `mrf` with dual-ported banks and `mrf` with unified banks get the same instructions and results,
// any of them at any time, and are compared in every cycle: what they take, what they offer, which
// bank does what, the events. Memory accesses the unified banks in any rows behind those of
// registers, at any time; with none at all this says that the unified file is the baseline's. Of the
// data nothing has to be said: the same accesses of the same entries at the same edges reach the
// cells, and no access of memory reaches an entry of registers.
module unified_off_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 2,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Depth = 4,
  parameter int unsigned Unified = 1,
  localparam int unsigned Banks = Columns,
  localparam int unsigned TagW = 1,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Wants = Operands * IssuePorts
) (
  input logic                               clk_i,
  input logic                               cfg_i,   // chosen once: order among reads
  input logic [EntryW:0]                    rows_i,  // chosen once: rows of registers
  input logic [IssuePorts-1:0]              issue_valid_i,
  input logic [IssuePorts*WarpW-1:0]        issue_warp_i,
  input logic [IssuePorts*EntryW-1:0]       issue_base_i,
  input logic [IssuePorts*Lanes-1:0]        issue_mask_i,
  input logic [IssuePorts*TagW-1:0]         issue_tag_i,
  input logic [Wants-1:0]                   issue_src_valid_i,
  input logic [Wants*RegW-1:0]              issue_src_reg_i,
  input logic [IssuePorts-1:0]              write_valid_i,
  input logic [IssuePorts*WarpW-1:0]        write_warp_i,
  input logic [IssuePorts*EntryW-1:0]       write_base_i,
  input logic [IssuePorts*RegW-1:0]         write_reg_i,
  input logic [IssuePorts*Lanes-1:0]        write_mask_i,
  input logic [DataW-1:0]                   write_data_i,
  input logic [IssuePorts-1:0]              dispatch_ready_i,
  input logic [Columns*Clusters-1:0]        memory_read_i,
  input logic [UnifiedBanks*EntryW-1:0]     memory_read_entry_i,
  input logic [Columns*Clusters-1:0]        memory_write_i,
  input logic [UnifiedBanks*EntryW-1:0]     memory_write_entry_i,
  input logic [UnifiedBanks*ClusterBytes-1:0] memory_write_bytes_i,
  input logic [DataW-1:0]                   memory_write_data_i
);

  logic                    started_q = 1'b0;
  logic                    cfg_q;
  logic [EntryW:0]         rows_q;

  logic [IssuePorts-1:0]   issue_valid;
  logic [WarpW-1:0]        issue_warp     [IssuePorts];
  logic [EntryW-1:0]       issue_base     [IssuePorts];
  logic [Lanes-1:0]        issue_mask     [IssuePorts];
  logic [TagW-1:0]         issue_tag      [IssuePorts];
  logic [RegW-1:0]         issue_src_reg  [Wants];
  logic [IssuePorts-1:0]   write_valid;
  write_t                 write          [IssuePorts];
  logic [EntryW-1:0]       write_base     [IssuePorts];
  logic [DataW-1:0]        write_data     [IssuePorts];
  logic [Clusters-1:0]     memory_read        [Columns];
  logic [EntryW-1:0]       memory_read_entry  [UnifiedBanks];
  logic [Clusters-1:0]     memory_write       [Columns];
  logic [EntryW-1:0]       memory_write_entry [UnifiedBanks];
  logic [ClusterBytes-1:0] memory_write_bytes [UnifiedBanks];

  // Element 0: banks of their own; 1: unified ones.
  logic [IssuePorts-1:0]   issue_ready        [2];
  logic [IssuePorts-1:0]   write_ready        [2];
  logic [IssuePorts-1:0]   write_done         [2];
  written_t               completed          [2][IssuePorts];
  logic [IssuePorts-1:0]   dispatch_valid     [2];
  logic [WarpW-1:0]        dispatch_warp      [2][IssuePorts];
  logic [Lanes-1:0]        dispatch_mask      [2][IssuePorts];
  logic [TagW-1:0]         dispatch_tag       [2][IssuePorts];
  logic [Wants-1:0]        dispatch_src_valid [2];
  mrf_event_t              counted            [2];

  // A register's row is one of those of registers.
  function automatic logic in_rows(logic [EntryW-1:0] base, logic [RegW-1:0] register);
    return 32'(base) + 32'(register) / Banks < 32'(rows_q);
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_warp[p]  = issue_warp_i[WarpW*p +: WarpW];
      issue_base[p]  = issue_base_i[EntryW*p +: EntryW];
      issue_mask[p]  = issue_mask_i[Lanes*p +: Lanes];
      issue_tag[p]   = issue_tag_i[TagW*p +: TagW];
      write_base[p]  = write_base_i[EntryW*p +: EntryW];
      write[p]       = '{d: write_reg_i[RegW*p +: RegW], warp: write_warp_i[WarpW*p +: WarpW],
                          mask: write_mask_i[Lanes*p +: Lanes], default: '0};
      write_data[p]  = write_data_i;
      issue_valid[p] = issue_valid_i[p];
      write_valid[p] = write_valid_i[p] && in_rows(write_base[p], write[p].d);
    end
    for (int unsigned i = 0; i < Wants; i++) begin
      issue_src_reg[i] = issue_src_reg_i[RegW*i +: RegW];
      if (issue_src_valid_i[i] && !in_rows(issue_base[i/Operands], issue_src_reg[i])) begin
        issue_valid[i/Operands] = 1'b0;
      end
    end
    for (int unsigned b = 0; b < Columns; b++) begin
      for (int unsigned g = 0; g < Clusters; g++) begin
        memory_read_entry[Clusters*b+g]  = memory_read_entry_i[EntryW*(Clusters*b+g) +: EntryW];
        memory_write_entry[Clusters*b+g] = memory_write_entry_i[EntryW*(Clusters*b+g) +: EntryW];
        memory_write_bytes[Clusters*b+g] =
            memory_write_bytes_i[ClusterBytes*(Clusters*b+g) +: ClusterBytes];
        memory_read[b][g]  = memory_read_i[Clusters*b+g] &&
                             32'(memory_read_entry[Clusters*b+g]) >= 32'(rows_q);
        memory_write[b][g] = memory_write_i[Clusters*b+g] &&
                             32'(memory_write_entry[Clusters*b+g]) >= 32'(rows_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q  <= cfg_i;
      rows_q <= rows_i;
    end
  end

  mrf #(
    .Banks     (Banks),
    .DualPort  (1),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW)
  ) plain (
    .clk_i,
    .rst_ni              (started_q),
    .cfg_i               (cfg_q),
    .layout_i            ('0),
    .issue_valid_i       (issue_valid),
    .issue_ready_o       (issue_ready[0]),
    .issue_warp_i        (issue_warp),
    .issue_base_i        (issue_base),
    .issue_mask_i        (issue_mask),
    .issue_tag_i         (issue_tag),
    .issue_src_valid_i,
    .issue_src_reg_i     (issue_src_reg),
    .write_valid_i       (write_valid),
    .write_ready_o       (write_ready[0]),
    .write_i             (write),
    .write_base_i        (write_base),
    .write_data_i        (write_data),
    .write_done_o        (write_done[0]),
    .written_o           (completed[0]),
    .dispatch_valid_o    (dispatch_valid[0]),
    .dispatch_ready_i,
    .dispatch_warp_o     (dispatch_warp[0]),
    .dispatch_mask_o     (dispatch_mask[0]),
    .dispatch_tag_o      (dispatch_tag[0]),
    .dispatch_src_valid_o(dispatch_src_valid[0]),
    .dispatch_data_o     (),
    .event_o             (counted[0]),
    .memory_read_i       (memory_read),
    .memory_read_entry_i (memory_read_entry),
    .memory_write_i      (memory_write),
    .memory_write_entry_i(memory_write_entry),
    .memory_write_bytes_i(memory_write_bytes),
    .memory_write_data_i,
    .memory_data_column_i('{default: '0}),
    .memory_read_ready_o (),
    .memory_write_ready_o(),
    .memory_data_o       ()
  );

  mrf #(
    .Banks     (Banks),
    .DualPort  (1),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW),
    .Unified   (Unified)
  ) dut (
    .clk_i,
    .rst_ni              (started_q),
    .cfg_i               (cfg_q),
    .layout_i            ('0),
    .issue_valid_i       (issue_valid),
    .issue_ready_o       (issue_ready[1]),
    .issue_warp_i        (issue_warp),
    .issue_base_i        (issue_base),
    .issue_mask_i        (issue_mask),
    .issue_tag_i         (issue_tag),
    .issue_src_valid_i,
    .issue_src_reg_i     (issue_src_reg),
    .write_valid_i       (write_valid),
    .write_ready_o       (write_ready[1]),
    .write_i             (write),
    .write_base_i        (write_base),
    .write_data_i        (write_data),
    .write_done_o        (write_done[1]),
    .written_o           (completed[1]),
    .dispatch_valid_o    (dispatch_valid[1]),
    .dispatch_ready_i,
    .dispatch_warp_o     (dispatch_warp[1]),
    .dispatch_mask_o     (dispatch_mask[1]),
    .dispatch_tag_o      (dispatch_tag[1]),
    .dispatch_src_valid_o(dispatch_src_valid[1]),
    .dispatch_data_o     (),
    .event_o             (counted[1]),
    .memory_read_i       (memory_read),
    .memory_read_entry_i (memory_read_entry),
    .memory_write_i      (memory_write),
    .memory_write_entry_i(memory_write_entry),
    .memory_write_bytes_i(memory_write_bytes),
    .memory_write_data_i,
    .memory_data_column_i('{default: '0}),
    .memory_read_ready_o (),
    .memory_write_ready_o(),
    .memory_data_o       ()
  );

  // ------------------------------------------------------------------ the property
  logic same_outputs;
  logic same_accesses;
  logic same_events;

  always_comb begin
    same_outputs = issue_ready[0] == issue_ready[1] &&
                   write_ready[0] == write_ready[1] && write_done[0] == write_done[1] &&
                   dispatch_valid[0] == dispatch_valid[1] &&
                   dispatch_src_valid[0] == dispatch_src_valid[1];
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_done[0][p] && (completed[0][p].warp != completed[1][p].warp ||
                               completed[0][p].d != completed[1][p].d)) begin
        same_outputs = 1'b0;
      end
      if (dispatch_valid[0][p] && (dispatch_warp[0][p] != dispatch_warp[1][p] ||
                                   dispatch_mask[0][p] != dispatch_mask[1][p] ||
                                   dispatch_tag[0][p] != dispatch_tag[1][p])) begin
        same_outputs = 1'b0;
      end
    end
  end

  always_comb begin
    same_accesses = plain.fill == dut.fill && plain.read_valid == dut.read_valid &&
                    plain.bank_write_valid == dut.bank_write_valid &&
                    plain.bank_write_port == dut.bank_write_port;
    for (int unsigned b = 0; b < Banks; b++) begin
      if ((plain.read_valid[b] && plain.read_entry[b] != dut.read_entry[b]) ||
          (plain.bank_write_valid[b] && plain.bank_write_entry[b] != dut.bank_write_entry[b])) begin
        same_accesses = 1'b0;
      end
    end
    for (int unsigned i = 0; i < Operands * Collectors; i++) begin
      if (plain.fill[i] && plain.req_bank[i] != dut.req_bank[i]) same_accesses = 1'b0;
    end
  end

  assign same_events = counted[0] == counted[1];

  // ------------------------------------------------------------------ what reaches the cells
  logic [Banks-1:0] cells_read;    // what the bank of its own is asked for
  logic [Banks-1:0] cells_write;
  logic [Banks-1:0] rows_apart;    // no other access of an entry of registers

  for (genvar b = 0; b < Banks; b++) begin : gen_cells
    logic [Clusters-1:0]     read, write;
    logic [EntryW-1:0]       read_entry  [Clusters];
    logic [EntryW-1:0]       write_entry [Clusters];
    logic [ClusterBytes-1:0] write_bytes [Clusters];
    logic [ClusterW-1:0]     data        [Clusters];
    logic [ClusterBytes-1:0] lanes       [Clusters];  // bytes of the lanes that are to be written

    for (genvar g = 0; g < Clusters; g++) begin : gen_cluster
      assign read[g]        = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.re_i;
      assign read_entry[g]  = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.raddr_i;
      assign write[g]       = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.we_i;
      assign write_entry[g] = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.waddr_i;
      assign write_bytes[g] = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.wmask_i;
      assign data[g]        = dut.gen_bank[b].gen_unified.u_bank.gen_cluster[g].u_ram.wdata_i;

      always_comb begin
        for (int unsigned l = 0; l < GroupLanes; l++) begin
          lanes[g][ClusterBytes/GroupLanes*l +: ClusterBytes/GroupLanes] =
              {ClusterBytes/GroupLanes{plain.gen_bank[b].bank_write_mask[GroupLanes*g+l]}};
        end
      end
    end

    always_comb begin
      cells_read[b]  = 1'b1;
      cells_write[b] = 1'b1;
      rows_apart[b]  = 1'b1;
      for (int unsigned g = 0; g < Clusters; g++) begin
        if (plain.read_valid[b]) begin
          if (!read[g] || read_entry[g] != plain.read_entry[b]) cells_read[b] = 1'b0;
        end else if (read[g] && 32'(read_entry[g]) < 32'(rows_q)) begin
          rows_apart[b] = 1'b0;
        end
        if (plain.bank_write_valid[b] && lanes[g] != '0) begin
          if (!write[g] || write_entry[g] != plain.bank_write_entry[b] || write_bytes[g] != lanes[g] ||
              data[g] != plain.gen_bank[b].bank_write_data[ClusterW*g +: ClusterW]) cells_write[b] = 1'b0;
        end else if (write[g] && write_bytes[g] != '0 && 32'(write_entry[g]) < 32'(rows_q)) begin
          rows_apart[b] = 1'b0;
        end
      end
    end
  end

  // ------------------------------------------------------------------ why: the state is the same
  logic same_order;
  logic [Collectors-1:0] same_collector;
  logic [IssuePorts-1:0] same_queue;

  always_comb begin
    same_order = plain.u_arbiter.turn_q == dut.u_arbiter.turn_q;
    for (int unsigned b = 0; b < Banks; b++) begin
      if (plain.u_arbiter.rr_q[b] != dut.u_arbiter.rr_q[b]) same_order = 1'b0;
    end
    for (int unsigned c = 0; c < Collectors; c++) begin
      if (plain.u_allocator.older_q[c] != dut.u_allocator.older_q[c] ||
          plain.u_allocator.same_warp_q[c] != dut.u_allocator.same_warp_q[c]) begin
        same_order = 1'b0;
      end
    end
  end

  for (genvar c = 0; c < Collectors; c++) begin : gen_collector_same
    logic [Operands-1:0] pending, inflight, src_valid;

    assign pending   = plain.gen_collector[c].u_collector.pending_q;
    assign inflight  = plain.gen_collector[c].u_collector.inflight_q;
    assign src_valid = plain.gen_collector[c].u_collector.src_valid_q;

    always_comb begin
      same_collector[c] =
          plain.busy[c] == dut.busy[c] &&
          pending == dut.gen_collector[c].u_collector.pending_q &&
          inflight == dut.gen_collector[c].u_collector.inflight_q &&
          src_valid == dut.gen_collector[c].u_collector.src_valid_q &&
          (pending & ~src_valid) == '0 && (plain.busy[c] || src_valid == '0) &&
          (!plain.busy[c] || (plain.col_warp[c] == dut.col_warp[c] &&
                              plain.col_mask[c] == dut.col_mask[c] &&
                              plain.col_tag[c] == dut.col_tag[c]));
      for (int unsigned s = 0; s < Operands; s++) begin
        if (src_valid[s] &&
            (plain.req_bank[Operands*c+s] != dut.req_bank[Operands*c+s] ||
             plain.req_entry[Operands*c+s] != dut.req_entry[Operands*c+s] ||
             plain.gen_collector[c].u_collector.leader_q[s] !=
             dut.gen_collector[c].u_collector.leader_q[s])) begin
          same_collector[c] = 1'b0;
        end
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_queue_same
    assign same_queue[p] = plain.head_valid[p] == dut.head_valid[p] &&
        (!plain.head_valid[p] || (plain.head_bank[p] == dut.head_bank[p] &&
                                  plain.head_entry[p] == dut.head_entry[p] &&
                                  plain.head_warp[p] == dut.head_warp[p] &&
                                  plain.head_reg[p] == dut.head_reg[p] &&
                                  plain.head_mask[p] == dut.head_mask[p] &&
                                  plain.head_data[p] == dut.head_data[p]));
  end

  always_comb begin
    if (started_q) begin
      thus_same_outputs: assert (same_outputs);
      thus_same_accesses: assert (same_accesses);
      hence_cells_read: assert (cells_read == '1);
      hence_cells_write: assert (cells_write == '1);
      hence_rows_apart: assert (rows_apart == '1);
      hence_same_events: assert (same_events);  // they count these outputs and accesses
      must_same_order: assert (same_order);
      must_same_collectors: assert (same_collector == '1);
      must_same_queues: assert (same_queue == '1);
    end
  end

endmodule

// With read stealing and write stealing off, the register file whose idle banks are stolen is `mrf`.
//
// Both get the same inputs, any of them at any time, and are compared in every cycle: what they
// take, what they offer, which bank does what, the events. Of the data nothing has to be said: the
// same accesses of the same entries at the same edges.
module steal_off_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 4,
  parameter int unsigned Collectors = 2,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Depth = 4,
  localparam int unsigned TagW = 1,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Wants = Operands * IssuePorts
) (
  input logic                         clk_i,
  input logic [4:0]                   cfg_i,  // chosen once: order among reads, the others
  input logic [IssuePorts-1:0]        issue_valid_i,
  input logic [IssuePorts*WarpW-1:0]  issue_warp_i,
  input logic [IssuePorts*EntryW-1:0] issue_base_i,
  input logic [IssuePorts*Lanes-1:0]  issue_mask_i,
  input logic [IssuePorts*TagW-1:0]   issue_tag_i,
  input logic [Wants-1:0]             issue_src_valid_i,
  input logic [Wants*RegW-1:0]        issue_src_reg_i,
  input logic [IssuePorts-1:0]        write_valid_i,
  input logic [IssuePorts*WarpW-1:0]  write_warp_i,
  input logic [IssuePorts*EntryW-1:0] write_base_i,
  input logic [IssuePorts*RegW-1:0]   write_reg_i,
  input logic [IssuePorts*Lanes-1:0]  write_mask_i,
  input logic [IssuePorts-1:0]        write_next_i,
  input logic [IssuePorts-1:0]        dispatch_ready_i,
  input logic [IssuePorts-1:0]        candidate_valid_i,
  input logic [IssuePorts*WarpW-1:0]  candidate_warp_i,
  input logic [Wants-1:0]             candidate_src_valid_i,
  input logic                         clear_i,
  input logic                         spare_i,
  input logic [IssuePorts-1:0]        hint_valid_i,
  input logic [IssuePorts*RegW-1:0]   hint_reg_i
);

  logic                  started_q = 1'b0;
  logic [4:0]            cfg_q;

  logic [WarpW-1:0]      issue_warp     [IssuePorts];
  logic [EntryW-1:0]     issue_base     [IssuePorts];
  logic [Lanes-1:0]      issue_mask     [IssuePorts];
  logic [TagW-1:0]       issue_tag      [IssuePorts];
  logic [RegW-1:0]       issue_src_reg  [Wants];
  write_t               write          [IssuePorts];
  logic [EntryW-1:0]     write_base     [IssuePorts];
  logic [DataW-1:0]      write_data     [IssuePorts];
  logic [WarpW-1:0]      candidate_warp [IssuePorts];
  logic [RegW-1:0]       hint_reg       [IssuePorts];

  // Element 0: with `mrf`; 1: with `steal`.
  logic [IssuePorts-1:0] issue_ready        [2];
  logic [IssuePorts-1:0] write_ready        [2];
  logic [IssuePorts-1:0] write_done         [2];
  written_t             completed          [2][IssuePorts];
  logic [IssuePorts-1:0] dispatch_valid     [2];
  logic [WarpW-1:0]      dispatch_warp      [2][IssuePorts];
  logic [Lanes-1:0]      dispatch_mask      [2][IssuePorts];
  logic [TagW-1:0]       dispatch_tag       [2][IssuePorts];
  logic [Wants-1:0]      dispatch_src_valid [2];
  mrf_event_t            counted            [2];
  logic [IssuePorts-1:0] steal;

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_warp[p]     = issue_warp_i[WarpW*p +: WarpW];
      issue_base[p]     = issue_base_i[EntryW*p +: EntryW];
      issue_mask[p]     = issue_mask_i[Lanes*p +: Lanes];
      issue_tag[p]      = issue_tag_i[TagW*p +: TagW];
      write_base[p]     = write_base_i[EntryW*p +: EntryW];
      write[p]          = '{d: write_reg_i[RegW*p +: RegW], warp: write_warp_i[WarpW*p +: WarpW],
                          mask: write_mask_i[Lanes*p +: Lanes], default: '0};
      write_data[p]     = '0;
      candidate_warp[p] = candidate_warp_i[WarpW*p +: WarpW];
      hint_reg[p]       = hint_reg_i[RegW*p +: RegW];
    end
    for (int unsigned i = 0; i < Wants; i++) issue_src_reg[i] = issue_src_reg_i[RegW*i +: RegW];
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) cfg_q <= cfg_i;
  end

  mrf #(
    .Banks     (Banks),
    .DualPort  (0),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW)
  ) plain (
    .clk_i,
    .rst_ni              (started_q),
    .cfg_i               (cfg_q[0]),
    .issue_valid_i,
    .issue_ready_o       (issue_ready[0]),
    .issue_warp_i        (issue_warp),
    .issue_base_i        (issue_base),
    .issue_mask_i        (issue_mask),
    .issue_tag_i         (issue_tag),
    .issue_src_valid_i,
    .issue_src_reg_i     (issue_src_reg),
    .write_valid_i,
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
    .memory_read_i        ('{default: '0}),
    .memory_read_entry_i  ('{default: '0}),
    .memory_write_i       ('{default: '0}),
    .memory_write_entry_i ('{default: '0}),
    .memory_write_bytes_i ('{default: '0}),
    .memory_write_data_i  ('0),
    .memory_data_column_i ('{default: '0}),
    .memory_read_ready_o  (),
    .memory_write_ready_o (),
    .memory_data_o        ()
  );

  steal #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW)
  ) dut (
    .clk_i,
    .rst_ni               (started_q),
    .cfg_i                ({cfg_q[4:1], 2'b00, cfg_q[0]}),
    .issue_valid_i,
    .issue_ready_o        (issue_ready[1]),
    .issue_warp_i         (issue_warp),
    .issue_base_i         (issue_base),
    .issue_mask_i         (issue_mask),
    .issue_tag_i          (issue_tag),
    .issue_src_valid_i,
    .issue_src_reg_i      (issue_src_reg),
    .write_valid_i,
    .write_ready_o        (write_ready[1]),
    .write_i              (write),
    .write_base_i         (write_base),
    .write_data_i         (write_data),
    .write_next_i,
    .write_done_o         (write_done[1]),
    .written_o            (completed[1]),
    .dispatch_valid_o     (dispatch_valid[1]),
    .dispatch_ready_i,
    .dispatch_warp_o      (dispatch_warp[1]),
    .dispatch_mask_o      (dispatch_mask[1]),
    .dispatch_tag_o       (dispatch_tag[1]),
    .dispatch_src_valid_o (dispatch_src_valid[1]),
    .dispatch_data_o      (),
    .candidate_valid_i,
    .candidate_warp_i     (candidate_warp),
    .candidate_base_i     (issue_base),
    .candidate_src_valid_i,
    .candidate_src_reg_i  (issue_src_reg),
    .steal_o              (steal),
    .clear_i,
    .spare_i,
    .hint_valid_i,
    .hint_base_i          (write_base),
    .hint_reg_i           (hint_reg),
    .event_o              (counted[1]),
    .steal_event_o        (),
    .place_event_o        ()
  );

  // ------------------------------------------------------------------ the property
  logic same_outputs;
  logic same_accesses;
  logic same_events;

  always_comb begin
    same_outputs = steal == '0 && issue_ready[0] == issue_ready[1] &&
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
      if (plain.fill[i] && plain.req_bank[i] != dut.fill_bank[i]) same_accesses = 1'b0;
    end
  end

  assign same_events = counted[0] == counted[1];

  // ------------------------------------------------------------------ why: the state is the same
  logic same_order;
  logic nothing_parked;
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

  assign nothing_parked = dut.parked == '0 && !dut.land_valid;

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
                                  plain.head_mask[p] == dut.head_mask[p]));
  end

  always_comb begin
    if (started_q) begin
      thus_same_outputs: assert (same_outputs);
      thus_same_accesses: assert (same_accesses);
      hence_same_events: assert (same_events);  // they count these outputs and accesses
      must_same_order: assert (same_order);
      must_same_collectors: assert (same_collector == '1);
      must_same_queues: assert (same_queue == '1);
      must_nothing_parked: assert (nothing_parked);
    end
  end

endmodule

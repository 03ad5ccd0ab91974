// Bank stealing starves no access.
//
// The environment turns free inputs into traffic, as in steal_property, but without values, and
// every register is treated like the one that is followed there. Units take instructions when they
// like. Claimed is that in a number of cycles
//   a parked value that is needed is fetched, whatever else comes;
//   a parked value that is not needed is fetched, if it can be in each of them;
//   a read is performed, if no result arrives for its bank;
//   a result leaves its queue, if no other one arrives for its bank; and once at most it loses to
//   the other queue;
//   no read, result or parked value is left, if nothing arrives.
// Results go before reads, so more cannot be said of a read: that is so in mrf, too.
//
// The proof is by rank: a number that follows from the state, is never negative, and falls in every
// cycle in which one waits. The cycles waited and the rank together never exceed a bound. So each
// claim is proven from one cycle to the next, like any other property.
//
// Redirect and drop are off.
//
// Assumed is no more than
//   of the scoreboard: no instruction is issued that reads a register whose result is in a queue or
//   arrives now, and one result at a time comes for a register;
//   of the launcher: a new grid begins when collectors and queues are empty.
module steal_liveness_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 4,
  parameter int unsigned Collectors = 2,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Warps = 4,
  localparam int unsigned Registers = 2**RegW,
  localparam int unsigned Rows = Registers / Banks,  // of a warp
  localparam int unsigned Depth = Rows * Warps,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned SlotW = $clog2(Operands * Collectors),
  localparam int unsigned Wants = Operands * IssuePorts,
  localparam int unsigned CfgW = 5
) (
  input logic                          clk_i,

  // chosen once
  input logic [CfgW-1:0]               cfg_i,
  input logic [BankW-1:0]              star_bank_i,
  input logic                          star_port_i,  // queue
  input logic [SlotW-1:0]              star_slot_i,

  // what the neighbours would like to do
  input logic [IssuePorts-1:0]         issue_i,
  input logic [IssuePorts*NumberW-1:0] issue_warp_i,
  input logic [Wants-1:0]              issue_src_valid_i,
  input logic [Wants*RegW-1:0]         issue_src_reg_i,
  input logic [IssuePorts-1:0]         candidate_i,
  input logic [IssuePorts*NumberW-1:0] candidate_warp_i,
  input logic [Wants-1:0]              candidate_src_valid_i,
  input logic [Wants*RegW-1:0]         candidate_src_reg_i,
  input logic [IssuePorts-1:0]         write_i,
  input logic [IssuePorts*NumberW-1:0] write_warp_i,
  input logic [IssuePorts*RegW-1:0]    write_reg_i,
  input logic [IssuePorts*Lanes-1:0]   write_mask_i,
  input logic [IssuePorts-1:0]         write_next_i,
  input logic [IssuePorts-1:0]         dispatch_ready_i,
  input logic [IssuePorts-1:0]         hint_i,
  input logic [IssuePorts*RegW-1:0]    hint_reg_i,
  input logic                          clear_i,
  input logic                          spare_i
);

  localparam int unsigned Slots = Operands * Collectors;
  localparam int unsigned AgeW = 8;
  localparam int unsigned ColW = $clog2(Collectors);

  logic                  started_q = 1'b0;
  logic [CfgW-1:0]       cfg_q;
  logic [BankW-1:0]      star_bank_q;
  logic                  star_port_q;
  logic [SlotW-1:0]      star_slot_q;

  logic [IssuePorts-1:0] issue_valid, issue_ready, on_its_way;
  logic [WarpW-1:0]      issue_warp     [IssuePorts];
  logic [EntryW-1:0]     issue_base     [IssuePorts];
  logic [Lanes-1:0]      issue_mask     [IssuePorts];
  logic [0:0]            issue_tag      [IssuePorts];
  logic [RegW-1:0]       issue_src_reg  [Wants];
  logic [IssuePorts-1:0] candidate;
  logic [WarpW-1:0]      candidate_warp [IssuePorts];
  logic [EntryW-1:0]     candidate_base [IssuePorts];
  logic [RegW-1:0]       candidate_src_reg [Wants];
  logic [IssuePorts-1:0] steal;
  logic [IssuePorts-1:0] write_valid, write_ready, written, write_done;
  write_t               write          [IssuePorts];
  logic [EntryW-1:0]     write_base     [IssuePorts];
  logic [DataW-1:0]      write_data     [IssuePorts];
  written_t             completed       [IssuePorts];
  logic [IssuePorts-1:0] dispatch_valid;
  logic [WarpW-1:0]      dispatch_warp  [IssuePorts];
  logic [Lanes-1:0]      dispatch_mask  [IssuePorts];
  logic [0:0]            dispatch_tag   [IssuePorts];
  logic [Wants-1:0]      dispatch_src_valid;
  logic [DataW-1:0]      dispatch_data  [Wants];
  logic [IssuePorts-1:0] hint_valid;
  logic [EntryW-1:0]     hint_base      [IssuePorts];
  logic [RegW-1:0]       hint_reg       [IssuePorts];
  logic                  clear;

  function automatic logic [EntryW-1:0] base_of(logic [NumberW-1:0] number);
    return EntryW'(32'(number) * Rows);
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      write_base[p]  = base_of(write_warp_i[NumberW*p +: NumberW]);
      write[p]       = '{d: write_reg_i[RegW*p +: RegW], warp: WarpW'(write_warp_i[NumberW*p +: NumberW]),
                          mask: write_mask_i[Lanes*p +: Lanes], default: '0};
      write_data[p]  = '0;
      write_valid[p] = started_q && write_i[p];
      for (int unsigned q = 0; q < IssuePorts; q++) begin
        if (dut.head_valid[q] && dut.head_warp[q] == write[p].warp &&
            dut.head_reg[q] == write[p].d) begin
          write_valid[p] = 1'b0;
        end
        if (q < p && write_valid[q] && write[q].warp == write[p].warp &&
            write[q].d == write[p].d) begin
          write_valid[p] = 1'b0;
        end
      end
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_warp[p] = WarpW'(issue_warp_i[NumberW*p +: NumberW]);
      issue_base[p] = base_of(issue_warp_i[NumberW*p +: NumberW]);
      issue_mask[p] = '1;
      issue_tag[p]  = '0;
      on_its_way[p] = 1'b0;
      for (int unsigned i = Operands * p; i < Operands * (p + 1); i++) begin
        issue_src_reg[i] = issue_src_reg_i[RegW*i +: RegW];
        for (int unsigned q = 0; q < IssuePorts; q++) begin
          if (issue_src_valid_i[i] && dut.head_valid[q] && dut.head_warp[q] == issue_warp[p] &&
              dut.head_reg[q] == issue_src_reg[i]) begin
            on_its_way[p] = 1'b1;
          end
          if (issue_src_valid_i[i] && write_valid[q] && write[q].warp == issue_warp[p] &&
              write[q].d == issue_src_reg[i]) begin
            on_its_way[p] = 1'b1;
          end
        end
        candidate_src_reg[i] = candidate_src_reg_i[RegW*i +: RegW];
      end
      candidate_warp[p] = WarpW'(candidate_warp_i[NumberW*p +: NumberW]);
      candidate_base[p] = base_of(candidate_warp_i[NumberW*p +: NumberW]);
      hint_reg[p]       = hint_reg_i[RegW*p +: RegW];
      hint_base[p]      = base_of(NumberW'(dispatch_warp[p]));
      hint_valid[p]     = started_q && hint_i[p] && dispatch_valid[p] && dispatch_ready_i[p];
    end
  end

  assign issue_valid = started_q ? issue_i & ~on_its_way : '0;
  assign candidate   = started_q ? candidate_i : '0;
  assign written     = write_valid & write_ready;
  assign clear       = started_q && clear_i && dut.busy == '0 && dut.head_valid == '0;

  steal #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (1)
  ) dut (
    .clk_i,
    .rst_ni               (started_q),
    .cfg_i                ({2'b00, cfg_q}),  // no redirect, no drop
    .issue_valid_i        (issue_valid),
    .issue_ready_o        (issue_ready),
    .issue_warp_i         (issue_warp),
    .issue_base_i         (issue_base),
    .issue_mask_i         (issue_mask),
    .issue_tag_i          (issue_tag),
    .issue_src_valid_i    (issue_src_valid_i),
    .issue_src_reg_i      (issue_src_reg),
    .write_valid_i        (write_valid),
    .write_ready_o        (write_ready),
    .write_i              (write),
    .write_base_i         (write_base),
    .write_data_i         (write_data),
    .write_next_i,
    .write_done_o         (write_done),
    .written_o            (completed),
    .dispatch_valid_o     (dispatch_valid),
    .dispatch_ready_i,
    .dispatch_warp_o      (dispatch_warp),
    .dispatch_mask_o      (dispatch_mask),
    .dispatch_tag_o       (dispatch_tag),
    .dispatch_src_valid_o (dispatch_src_valid),
    .dispatch_data_o      (dispatch_data),
    .candidate_valid_i    (candidate),
    .candidate_warp_i     (candidate_warp),
    .candidate_base_i     (candidate_base),
    .candidate_src_valid_i,
    .candidate_src_reg_i  (candidate_src_reg),
    .steal_o              (steal),
    .clear_i              (clear),
    .spare_i,
    .hint_valid_i         (hint_valid),
    .hint_base_i          (hint_base),
    .hint_reg_i           (hint_reg),
    .event_o              (),
    .steal_event_o        (),
    .place_event_o        ()
  );

`include "steal_ranks.svh"

endmodule

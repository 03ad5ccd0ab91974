// What is read from the register file whose idle banks are stolen is what was last written.
//
// The environment turns free inputs into traffic: instructions, candidates, results, hints, new
// grids, all at any time. One lane of one register, chosen freely, is followed: `value_q` is what was
// last written there. An instruction that reads it takes along, in its tag, what it must find, and
// the property is that it leaves with that: whether the value was in its own entry, parked, on its
// way back, or read early, and whatever was written meanwhile. A second one: what it brought leaves
// with it, and instructions of one warp leave in the order of issue. Hints rely on that.
//
// Assumed is no more than
//   of the scoreboard: no instruction is issued that reads a register whose result is in a queue or
//   arrives now, and one result at a time comes for a register;
//   of the scheduler: an instruction of the warp of a candidate that is stolen for is the candidate;
//   of the compiler: after a hint the register is not read before it is written again, and the
//   instructions that read it have left with the one that brings the hint, or before it.
module steal_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 4,
  parameter int unsigned Collectors = 2,
  parameter int unsigned IssuePorts = 2,
  parameter int unsigned Warps = 2,
  localparam int unsigned Registers = 2**RegW,
  localparam int unsigned Rows = Registers / Banks,  // of a warp
  localparam int unsigned Depth = Rows * Warps,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned LaneIdxW = $clog2(Lanes),
  localparam int unsigned Wants = Operands * IssuePorts,
  localparam int unsigned CfgW = 7
) (
  input logic                          clk_i,

  // chosen once
  input logic [CfgW-1:0]               cfg_i,
  input logic [NumberW-1:0]            star_warp_i,
  input logic [RegW-1:0]               star_reg_i,
  input logic [LaneIdxW-1:0]           star_lane_i,

  // what the neighbours would like to do
  input logic [IssuePorts-1:0]         issue_i,
  input logic [IssuePorts*NumberW-1:0] issue_warp_i,
  input logic [IssuePorts*Lanes-1:0]   issue_mask_i,
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
  input logic [IssuePorts*DataW-1:0]   write_data_i,
  input logic [IssuePorts-1:0]         dispatch_ready_i,
  input logic [IssuePorts-1:0]         hint_i,
  input logic [IssuePorts*RegW-1:0]    hint_reg_i,
  input logic                          clear_i,
  input logic                          spare_i,
  input logic                          forget_i  // the register has another owner from now on
);

  localparam int unsigned Slots = Operands * Collectors;
  localparam int unsigned CountW = $clog2(Collectors + 1);
  localparam int unsigned LaneBit = Operands + 2;
  localparam int unsigned WarpBit = Operands + 3;
  localparam int unsigned Number = Operands + 4;
  // number in its warp, if that is followed; whether it is, and its lane; sources that are followed,
  // known, value
  localparam int unsigned TagW = Number + CountW;

  // ------------------------------------------------------------------ environment
  logic                  started_q = 1'b0;
  logic [CfgW-1:0]       cfg_q;
  logic [NumberW-1:0]    star_warp_q;
  logic [RegW-1:0]       star_reg_q;
  logic [LaneIdxW-1:0]   star_lane_q;

  logic [CountW-1:0]     readers_q;   // instructions in the collectors that read what is followed
  logic [CountW-1:0]     arrived_q;   // instructions of its warp that came so far, and that left
  logic [CountW-1:0]     left_q;
  logic                  written_q;   // a result for it is in a queue
  logic                  known_q;     // it has a value
  logic                  value_q;
  logic [IssuePorts-1:0] candidate_q;
  logic [NumberW-1:0]    candidate_warp_q [IssuePorts];
  logic [Wants-1:0]      candidate_src_valid_q;
  logic [RegW-1:0]       candidate_src_reg_q [Wants];

  logic [IssuePorts-1:0] issue_valid, issue_ready, issued, issue_star, issue_mine;
  logic [IssuePorts-1:0] forced;        // the candidate of the cycle before issues, if its warp does
  logic [NumberW-1:0]    issue_number   [IssuePorts];
  logic [WarpW-1:0]      issue_warp     [IssuePorts];
  logic [EntryW-1:0]     issue_base     [IssuePorts];
  logic [Lanes-1:0]      issue_mask     [IssuePorts];
  logic [TagW-1:0]       issue_tag      [IssuePorts];
  logic [Wants-1:0]      issue_src_valid;
  logic [RegW-1:0]       issue_src_reg  [Wants];
  logic [IssuePorts-1:0] candidate;
  logic [WarpW-1:0]      candidate_warp [IssuePorts];
  logic [EntryW-1:0]     candidate_base [IssuePorts];
  logic [RegW-1:0]       candidate_src_reg [Wants];
  logic [IssuePorts-1:0] steal;
  logic [IssuePorts-1:0] write_valid, write_ready, written, write_star;
  write_t               write          [IssuePorts];
  logic [EntryW-1:0]     write_base     [IssuePorts];
  logic [DataW-1:0]      write_data     [IssuePorts];
  logic [IssuePorts-1:0] write_done;
  written_t             completed       [IssuePorts];
  logic [IssuePorts-1:0] dispatch_valid, dispatched, dispatch_star, dispatch_mine;
  logic [WarpW-1:0]      dispatch_warp  [IssuePorts];
  logic [Lanes-1:0]      dispatch_mask  [IssuePorts];
  logic [TagW-1:0]       dispatch_tag   [IssuePorts];
  logic [Wants-1:0]      dispatch_src_valid;
  logic [DataW-1:0]      dispatch_data  [Wants];
  logic [IssuePorts-1:0] hint_valid, hint_star;
  logic [EntryW-1:0]     hint_base      [IssuePorts];
  logic [RegW-1:0]       hint_reg       [IssuePorts];
  logic                  clear;
  logic                  last_reader;   // no reader of what is followed stays or comes

  function automatic logic [EntryW-1:0] base_of(logic [NumberW-1:0] number);
    return EntryW'(32'(number) * Rows);
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      issue_number[p] = issue_warp_i[NumberW*p +: NumberW];
      issue_warp[p]   = WarpW'(issue_number[p]);
      issue_base[p]   = base_of(issue_number[p]);
      issue_mask[p]   = issue_mask_i[Lanes*p +: Lanes];
      forced[p]       = steal[p] && candidate_warp_q[p] == issue_number[p];
      for (int unsigned i = Operands * p; i < Operands * (p + 1); i++) begin
        issue_src_valid[i] = forced[p] ? candidate_src_valid_q[i] : issue_src_valid_i[i];
        issue_src_reg[i]   = forced[p] ? candidate_src_reg_q[i] : issue_src_reg_i[RegW*i +: RegW];
        issue_tag[p][2 + i - Operands * p] = issue_src_valid[i] &&
            issue_number[p] == star_warp_q && issue_src_reg[i] == star_reg_q;
        candidate_src_reg[i] = candidate_src_reg_i[RegW*i +: RegW];
      end
      issue_tag[p][1:0] = {known_q, value_q};
      issue_tag[p][LaneBit] = issue_mask[p][star_lane_q];
      issue_tag[p][WarpBit] = issue_number[p] == star_warp_q;
      issue_tag[p][Number +: CountW] = arrived_q;
      if (p == 1) begin
        issue_tag[p][Number +: CountW] = arrived_q + CountW'(issue_valid[0] && issue_tag[0][WarpBit]);
      end
      issue_star[p]     = issue_tag[p][2 +: Operands] != '0;
      issue_mine[p]     = issue_tag[p][WarpBit];
      candidate_warp[p] = WarpW'(candidate_warp_i[NumberW*p +: NumberW]);
      candidate_base[p] = base_of(candidate_warp_i[NumberW*p +: NumberW]);
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      write_base[p]  = base_of(write_warp_i[NumberW*p +: NumberW]);
      write[p]       = '{d: write_reg_i[RegW*p +: RegW], warp: WarpW'(write_warp_i[NumberW*p +: NumberW]),
                          mask: write_mask_i[Lanes*p +: Lanes], default: '0};
      write_data[p]  = write_data_i[DataW*p +: DataW];
      write_star[p]  = write[p].warp == WarpW'(star_warp_q) && write[p].d == star_reg_q;
      write_valid[p] = started_q && write_i[p] && !(write_star[p] && written_q);
    end
    if (IssuePorts > 1 && write_star == '1 && write_valid == '1) write_valid[IssuePorts-1] = 1'b0;
  end

  assign candidate   = started_q ? candidate_i : '0;
  assign issue_valid = started_q
      ? issue_i & ~((written_q || (write_valid & write_star) != '0) ? issue_star : '0) : '0;
  assign issued      = issue_valid & issue_ready;
  assign written     = write_valid & write_ready;
  assign dispatched  = dispatch_valid & dispatch_ready_i;

  // Hints come with an instruction that leaves, and are about its warp.
  assign last_reader = (issue_valid & issue_star) == '0 &&
                       readers_q == CountW'($countones(dispatched & dispatch_star));
  assign clear       = started_q && clear_i && last_reader;

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      dispatch_star[p] = dispatch_tag[p][2 +: Operands] != '0;
      dispatch_mine[p] = dispatch_tag[p][WarpBit];
      hint_reg[p]      = hint_reg_i[RegW*p +: RegW];
      hint_base[p]     = base_of(NumberW'(dispatch_warp[p]));
      hint_star[p]     = dispatch_warp[p] == WarpW'(star_warp_q) && hint_reg[p] == star_reg_q;
      hint_valid[p]    = hint_i[p] && dispatched[p] && (last_reader || !hint_star[p]);
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q       <= cfg_i;
      star_warp_q <= star_warp_i;
      star_reg_q  <= star_reg_i;
      star_lane_q <= star_lane_i;
      readers_q   <= '0;
      arrived_q   <= '0;
      left_q      <= '0;
      written_q   <= 1'b0;
      known_q     <= 1'b0;
    end else begin
      arrived_q <= arrived_q + CountW'($countones(issued & issue_mine));
      left_q    <= left_q + CountW'($countones(dispatched & dispatch_mine));
      readers_q <= readers_q + CountW'($countones(issued & issue_star)) -
                   CountW'($countones(dispatched & dispatch_star));
      if (clear || forget_i || (hint_valid & hint_star) != '0) known_q <= 1'b0;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (write_done[p] && completed[p].warp == WarpW'(star_warp_q) &&
            completed[p].d == star_reg_q) begin
          written_q <= 1'b0;
        end
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (written[p] && write_star[p]) begin
          written_q <= 1'b1;
          if (write[p].mask[star_lane_q]) begin
            known_q <= 1'b1;
            value_q <= write_data[p][LaneW*star_lane_q];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    candidate_q <= candidate;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (candidate[p]) begin
        candidate_warp_q[p] <= candidate_warp_i[NumberW*p +: NumberW];
        for (int unsigned i = Operands * p; i < Operands * (p + 1); i++) begin
          candidate_src_valid_q[i] <= candidate_src_valid_i[i];
          candidate_src_reg_q[i]   <= candidate_src_reg[i];
        end
      end
    end
  end

  steal #(
    .Banks     (Banks),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW)
  ) dut (
    .clk_i,
    .rst_ni               (started_q),
    .cfg_i                (cfg_q),
    .issue_valid_i        (issue_valid),
    .issue_ready_o        (issue_ready),
    .issue_warp_i         (issue_warp),
    .issue_base_i         (issue_base),
    .issue_mask_i         (issue_mask),
    .issue_tag_i          (issue_tag),
    .issue_src_valid_i    (issue_src_valid),
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

  // ------------------------------------------------------------------ the property
  logic reads_last_write;
  logic leaves_in_order;

  always_comb begin
    reads_last_write = 1'b1;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (dispatch_valid[p] && dispatch_tag[p][2+k] && dispatch_tag[p][1] &&
            !(dispatch_src_valid[Operands*p+k] &&
              dispatch_data[Operands*p+k][LaneW*star_lane_q] == dispatch_tag[p][0])) begin
          reads_last_write = 1'b0;
        end
      end
    end
  end

  always_comb begin
    leaves_in_order = 1'b1;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (dispatch_valid[p] &&
          (dispatch_mine[p] != (dispatch_warp[p] == WarpW'(star_warp_q)) ||
           dispatch_mask[p][star_lane_q] != dispatch_tag[p][LaneBit] ||
           (dispatch_mine[p] && dispatch_tag[p][Number +: CountW] != left_q))) begin
        leaves_in_order = 1'b0;
      end
    end
    if (dispatch_valid == '1 && $countones(dispatch_mine) > 1) leaves_in_order = 1'b0;
  end

`include "steal_invariants.svh"

endmodule

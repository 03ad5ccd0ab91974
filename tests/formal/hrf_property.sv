// What a warp reads from the hybrid register file is what it last wrote, across switches and drains.
//
// The environment turns free inputs into traffic that the scheduler and the scoreboard allow, and
// nothing less: warps become active and give up at any time, loads come back for whoever they like,
// units take instructions when they like. One lane of one register of one warp, chosen freely, is
// followed: `value_q` is what was last written there. The property is that every instruction that
// reads it leaves with that value. A second one: what is gated is touched only while it has power. A
// third one: instructions leave in the order in which they were issued. The environment relies on
// that where it lets no result come in front of an older instruction that reads the register.
//
// A proof by induction needs to know where the value is. That is said once, by `newest`: of the
// places that hold the lane the one that was written last. The other invariants say what keeps it
// true. Everything holds one cycle after reset, and whenever it holds in a cycle, in the next one.
module hrf_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 2,
  parameter int unsigned BufferEntries = 5,
  parameter int unsigned Loads = 2,
  parameter int unsigned Warps = 4,
  localparam int unsigned Registers = 2**RcmRegW,
  localparam int unsigned Depth = Registers * Warps / Parities,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned NumberW = $clog2(Warps),
  localparam int unsigned LaneIdxW = $clog2(Lanes),
  localparam int unsigned CfgW = 17
) (
  input logic                        clk_i,

  // chosen once
  input logic [CfgW-1:0]             cfg_i,
  input logic [NumberW-1:0]          star_warp_i,
  input logic [RcmRegW-1:0]          star_reg_i,
  input logic [LaneIdxW-1:0]         star_lane_i,

  // what the neighbours would like to do
  input logic                        open_i,           // a warp becomes active
  input logic [NumberW-1:0]          open_warp_i,
  input logic                        give_up_i,        // it gives up
  input logic                        drop_i,           // as it has ended
  input logic                        issue_i,
  input logic [Lanes-1:0]            issue_mask_i,
  input logic [Operands-1:0]         issue_src_valid_i,
  input logic [Operands*RcmRegW-1:0] issue_src_reg_i,
  input logic                        write_i,
  input logic [NumberW-1:0]          write_warp_i,
  input logic [RcmRegW-1:0]          write_reg_i,
  input logic [Lanes-1:0]            write_mask_i,
  input logic [DataW-1:0]            write_data_i,
  input logic                        dispatch_ready_i
);

  localparam int unsigned Slots = Operands * Collectors;
  localparam int unsigned UsedW = $clog2(BufferEntries + 1);
  localparam int unsigned IndexW = $clog2(BufferEntries);
  localparam int unsigned LoadsW = $clog2(Loads + 1);
  localparam int unsigned ResidentW = $clog2(Collectors + 1);
  localparam int unsigned TagW = Operands + ResidentW;  // sources that are followed, number

  // ------------------------------------------------------------------ environment
  logic                 started_q = 1'b0;
  logic [CfgW-1:0]      cfg_q;
  logic [NumberW-1:0]   star_warp_q;
  logic [RcmRegW-1:0]   star_reg_q;
  logic [LaneIdxW-1:0]  star_lane_q;

  logic [Parities-1:0]  slot_valid_q;
  logic [Parities-1:0]  flush_q;
  logic [Parities-1:0]  drop_q;
  logic [NumberW-1:0]   slot_number_q [Parities];
  logic [ResidentW-1:0] resident_q;   // instructions in the collectors
  logic [ResidentW-1:0] readers_q;    // of them those that read what is followed
  logic [ResidentW-1:0] arrived_q;    // instructions that came so far, and that left
  logic [ResidentW-1:0] left_q;
  logic                 written_q;    // a result for it is in the latch
  logic                 known_q;      // it has a value
  logic                 value_q;

  logic [Parities-1:0]  open;
  logic                 parity;       // of the open slot
  logic [NumberW-1:0]   warp;         // its warp

  logic                 issue_valid, issue_ready, issued;
  logic [RegW-1:0]      issue_src_reg [Operands];
  logic [Operands-1:0]  issue_star;
  logic                 write_valid, write_ready, written, write_star;
  logic                 write_done;
  write_t               write;
  written_t             completed;
  logic                 dispatch_valid, dispatched;
  logic [WarpW-1:0]     dispatch_warp;
  logic [Lanes-1:0]     dispatch_mask;
  logic [TagW-1:0]      dispatch_tag;
  logic [Operands-1:0]  dispatch_src_valid;
  logic [DataW-1:0]     dispatch_data [Operands];
  logic [Parities-1:0]  flush_done;
  logic [WarpW-1:0]     slot_warp     [Parities];
  logic [EntryW-1:0]    slot_base     [Parities];

  function automatic logic [EntryW-1:0] base_of(logic [NumberW-1:0] number);
    return EntryW'(32'(number >> 1) * Registers);
  endfunction

  assign open   = slot_valid_q & ~flush_q;
  assign parity = open[1];
  assign warp   = slot_number_q[parity];

  for (genvar b = 0; b < Parities; b++) begin : gen_slot
    assign slot_warp[b] = WarpW'(slot_number_q[b]);
    assign slot_base[b] = base_of(slot_number_q[b]);
  end

  // The scoreboard lets no warp read what is on its way, and a result comes after the instructions
  // that read what it overwrites, as these left the collectors in front of its own.
  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      issue_src_reg[k] = RegW'(issue_src_reg_i[RcmRegW*k +: RcmRegW]);
      issue_star[k]    = issue_src_valid_i[k] && warp == star_warp_q &&
                         issue_src_reg_i[RcmRegW*k +: RcmRegW] == star_reg_q;
    end
  end

  assign write_star  = write_warp_i == star_warp_q && write_reg_i == star_reg_q;
  assign write_valid = started_q && write_i && !(write_star && readers_q != '0);
  assign issue_valid = started_q && issue_i && open != '0 &&
                       !(issue_star != '0 && (written_q || (write_valid && write_star)));

  assign issued     = issue_valid & issue_ready;
  assign written    = write_valid & write_ready;
  assign write      = '{d: RegW'(write_reg_i), warp: WarpW'(write_warp_i), mask: write_mask_i, default: '0};
  assign dispatched = dispatch_valid & dispatch_ready_i;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q        <= cfg_i;
      star_warp_q  <= star_warp_i;
      star_reg_q   <= star_reg_i;
      star_lane_q  <= star_lane_i;
      slot_valid_q <= '0;
      flush_q      <= '0;
      drop_q       <= '0;
      resident_q   <= '0;
      readers_q    <= '0;
      arrived_q    <= '0;
      left_q       <= '0;
      written_q    <= 1'b0;
      known_q      <= 1'b0;
    end else begin
      resident_q <= resident_q + ResidentW'(issued) - ResidentW'(dispatched);
      arrived_q  <= arrived_q + ResidentW'(issued);
      left_q     <= left_q + ResidentW'(dispatched);
      readers_q  <= readers_q + ResidentW'(issued && issue_star != '0) -
                    ResidentW'(dispatched && dispatch_tag[Operands-1:0] != '0);

      // slots
      for (int unsigned b = 0; b < Parities; b++) begin
        if (flush_q[b] && flush_done[b]) begin
          slot_valid_q[b] <= 1'b0;
          flush_q[b]      <= 1'b0;
          drop_q[b]       <= 1'b0;
        end
      end
      if (open == '0) begin
        if (open_i && !slot_valid_q[open_warp_i[0]]) begin
          slot_valid_q[open_warp_i[0]]  <= 1'b1;
          slot_number_q[open_warp_i[0]] <= open_warp_i;
        end
      end else if (give_up_i && resident_q == '0 && !issued) begin
        flush_q[parity] <= 1'b1;
        drop_q[parity]  <= drop_i;
        if (drop_i && warp == star_warp_q) known_q <= 1'b0;
      end

      // what is followed
      if (written && write_star) begin
        written_q <= 1'b1;
        if (write_mask_i[star_lane_q]) begin
          known_q <= 1'b1;
          value_q <= write_data_i[LaneW*star_lane_q];
        end
      end else if (write_done && completed.warp == WarpW'(star_warp_q) &&
                   completed.d == RegW'(star_reg_q)) begin
        written_q <= 1'b0;
      end
    end
  end

  hrf #(
    .Collectors   (Collectors),
    .Depth        (Depth),
    .TagW         (TagW),
    .BufferEntries(BufferEntries),
    .Loads        (Loads)
  ) dut (
    .clk_i,
    .rst_ni              (started_q),
    .cfg_i               (cfg_q),
    .issue_valid_i       (issue_valid),
    .issue_ready_o       (issue_ready),
    .issue_warp_i        (WarpW'(warp)),
    .issue_base_i        (base_of(warp)),
    .issue_mask_i,
    .issue_tag_i         ({arrived_q, issue_star}),
    .issue_src_valid_i,
    .issue_src_reg_i     (issue_src_reg),
    .write_valid_i       (write_valid),
    .write_ready_o       (write_ready),
    .write_i             (write),
    .write_base_i        (base_of(write_warp_i)),
    .write_data_i,
    .write_done_o        (write_done),
    .written_o           (completed),
    .dispatch_valid_o    (dispatch_valid),
    .dispatch_ready_i,
    .dispatch_warp_o     (dispatch_warp),
    .dispatch_mask_o     (dispatch_mask),
    .dispatch_tag_o      (dispatch_tag),
    .dispatch_src_valid_o(dispatch_src_valid),
    .dispatch_data_o     (dispatch_data),
    .slot_valid_i        (slot_valid_q),
    .slot_warp_i         (slot_warp),
    .slot_base_i         (slot_base),
    .flush_i             (flush_q),
    .drop_i              (drop_q),
    .flush_done_o        (flush_done),
    .event_o             (),
    .count_event_o       (),
    .mrf_event_o         ()
  );

  // ------------------------------------------------------------------ the property
  logic reads_last_write;
  logic leaves_in_order;

  always_comb begin
    reads_last_write = 1'b1;
    for (int unsigned k = 0; k < Operands; k++) begin
      if (dispatch_valid && dispatch_tag[k] && dispatch_mask[star_lane_q] && known_q &&
          !(dispatch_src_valid[k] && dispatch_data[k][LaneW*star_lane_q] == value_q)) begin
        reads_last_write = 1'b0;
      end
    end
  end

  assign leaves_in_order = !dispatch_valid || (dispatch_tag[Operands +: ResidentW] == left_q &&
                                               dispatch_warp == WarpW'(warp));

`include "hrf_invariants.svh"

endmodule

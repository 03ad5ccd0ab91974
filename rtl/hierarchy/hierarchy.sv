// The software-managed register hierarchy, in front of a main register file.
//
// Each slot of the two-level scheduler has an ORF of a few entries and an LRF of one entry, or of
// one for each operand slot (hierarchy thesis, 6.2 to 6.4). The instruction names the level from which each source
// is read, the level to which its result goes, and the sources from the main register file (MRF) that are also copied
// to the ORF. There are no tags, and nothing is written back: the compiler has written to the MRF what is needed
// after the end of a strand.
//
//   cycle t    an instruction is taken; sources that are in no upper level are requested from the MRF
//   t+1        D: ORF and LRF are read at the end of the cycle
//   t+2        O: what was read goes into the operand latches
//   t+3        the instruction is offered for dispatch
//
// A result of cycle w is written at the end of w+1, here as in the MRF. Nothing has to be
// looked up, so all of this takes as long as with the MRF alone.
//
// There are arrays for each issue port, with the slots of that port: global slot s is slot
// s / IssuePorts of port s mod IssuePorts.
`include "gpurf_assert.svh"

module hierarchy
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned Tags = Collectors,
  parameter int unsigned Active = 8,
  parameter int unsigned Entries = 3,
  parameter int unsigned LrfBanks = 0,
  parameter int unsigned Unified = 0,  // 1, 2: the banks serve memory too, as in `mrf`
  localparam int unsigned TagW = $clog2(Tags),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           cfg_i,  // strap of the MRF

  // issue
  input  logic [IssuePorts-1:0]          issue_valid_i,
  output logic [IssuePorts-1:0]          issue_ready_o,
  input  logic [WarpW-1:0]               issue_warp_i      [IssuePorts],
  input  logic [EntryW-1:0]              issue_base_i      [IssuePorts],
  input  logic [Lanes-1:0]               issue_mask_i      [IssuePorts],
  input  logic [TagW-1:0]                issue_tag_i       [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] issue_src_valid_i,
  input  logic [RegW-1:0]                issue_src_reg_i   [Operands*IssuePorts],
  input  logic [SlotW-1:0]               issue_slot_i      [IssuePorts],
  input  logic [LevelW-1:0]              issue_src_level_i [Operands*IssuePorts],
  input  logic [RegW-1:0]                issue_dst_i       [IssuePorts],
  input  logic [LevelW-1:0]              issue_dst_level_i [IssuePorts],
  input  logic [IssuePorts-1:0]          issue_long_i,
  input  logic [IssuePorts-1:0]          issue_private_i,
  // the issued instruction ends its strand, whether or not it comes here
  input  logic [IssuePorts-1:0]          issue_end_i,

  // results
  input  logic [IssuePorts-1:0]          write_valid_i,
  output logic [IssuePorts-1:0]          write_ready_o,
  input  write_t                         write_i           [IssuePorts],
  input  logic [EntryW-1:0]              write_base_i      [IssuePorts],
  input  logic [DataW-1:0]               write_data_i      [IssuePorts],

  // results that have reached their destination, for the scoreboard
  output logic [IssuePorts-1:0]          write_done_o,
  output written_t                       written_o         [IssuePorts],

  // dispatch
  output logic [IssuePorts-1:0]          dispatch_valid_o,
  input  logic [IssuePorts-1:0]          dispatch_ready_i,
  output logic [WarpW-1:0]               dispatch_warp_o   [IssuePorts],
  output logic [Lanes-1:0]               dispatch_mask_o   [IssuePorts],
  output logic [TagW-1:0]                dispatch_tag_o    [IssuePorts],
  output logic [Operands*IssuePorts-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]               dispatch_data_o   [Operands*IssuePorts],

  // slots of the two-level scheduler
  input  logic [Active-1:0]              slot_valid_i,
  input  logic [WarpW-1:0]               slot_warp_i       [Active],
  input  logic [Active-1:0]              flush_i,
  output logic [Active-1:0]              flush_done_o,
  output logic [Active-1:0]              void_o,             // the warp may leave its slot here without losing a value
  output logic [Upper-1:0]               wait_o            [Active],

  output hierarchy_event_t               event_o,
  output hierarchy_count_event_t         count_event_o,
  output mrf_event_t                     mrf_event_o,

  // passed on to the MRF: accesses of memory to unified banks
  input  logic [Clusters-1:0]            memory_read_i         [Columns],
  input  logic [EntryW-1:0]              memory_read_entry_i   [UnifiedBanks],
  input  logic [Clusters-1:0]            memory_write_i        [Columns],
  input  logic [EntryW-1:0]              memory_write_entry_i  [UnifiedBanks],
  input  logic [ClusterBytes-1:0]        memory_write_bytes_i  [UnifiedBanks],
  input  logic [DataW-1:0]               memory_write_data_i,
  input  logic [ColumnW-1:0]             memory_data_column_i  [WordPlaces],
  output logic [Columns-1:0]             memory_read_ready_o,
  output logic [Clusters-1:0]            memory_write_ready_o  [Columns],
  output logic [DataW-1:0]               memory_data_o
);

  localparam int unsigned P = IssuePorts;
  localparam int unsigned Sources = Operands * P;
  localparam int unsigned Slots = Active / P;
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned PortW = 2;

  logic [P-1:0]           take;

  // ------------------------------------------------------------------ nets, by the block driving
  logic [Sources-1:0]     levels_mrf;
  logic [Sources-1:0]     levels_orf;
  logic [Sources-1:0]     levels_lrf;
  logic [Sources-1:0]     levels_copy;
  logic [OrfW-1:0]        levels_entry        [Sources];
  logic [PortW-1:0]       levels_port         [Sources];
  logic [Sources-1:0]     levels_orf_read;
  logic [LrfPlaces*P-1:0] levels_lrf_read;
  logic [Upper-1:0]       levels_read_place   [P];
  logic [Upper-1:0]       levels_copy_place   [P];
  logic [Upper-1:0]       levels_result_place [P];
  logic [P-1:0]           levels_both;

  logic [P-1:0]             entries_look_match;
  logic [UpperW-1:0]        entries_look_place [P];
  logic [P-1:0]             entries_look_both;
  hierarchy_entries_event_t entries_event;

  logic [P-1:0]           data_land_valid;
  logic [TagW-1:0]        data_land_tag       [P];
  logic [Sources-1:0]     data_land_fill;
  logic [DataW-1:0]       data_land_data      [Sources];

  logic [P-1:0]           results_look_valid;
  logic [SlotW-1:0]       results_look_slot   [P];
  logic [RegW-1:0]        results_look_reg    [P];
  logic [P-1:0]           results_copy_ready;
  logic [P-1:0]           results_orf_valid;
  logic [LocalW-1:0]      results_orf_slot    [P];
  logic [OrfW-1:0]        results_orf_entry   [P];
  logic [Lanes-1:0]       results_orf_mask    [P];
  logic [DataW-1:0]       results_orf_data    [P];
  logic [P-1:0]           results_orf_copy;
  logic [P-1:0]           results_orf_private;
  logic [P-1:0]           results_lrf_valid;
  logic [LocalW-1:0]      results_lrf_slot    [P];
  logic [LrfW-1:0]        results_lrf_bank    [P];
  logic [Lanes-1:0]       results_lrf_mask    [P];
  logic [DataW-1:0]       results_lrf_data    [P];
  logic [P-1:0]           results_lrf_private;
  logic [P-1:0]           results_mrf_valid;
  logic [P-1:0]           results_wait;

  logic [P-1:0]           copies_hold;
  logic [P-1:0]           copies_copy_valid;
  logic [SlotW-1:0]       copies_copy_slot    [P];
  logic [OrfW-1:0]        copies_copy_entry   [P];
  logic [Lanes-1:0]       copies_copy_mask    [P];
  logic [DataW-1:0]       copies_copy_data    [P];
  logic [P-1:0]           copies_copy_private;
  logic [P-1:0]           copies_wait;

  logic [Lanes-1:0]       operands_move_hit   [Sources];
  logic [P-1:0]           operands_dispatch_valid;
  logic [P-1:0]           operands_dispatch_ready;
  logic [Sources-1:0]     operands_dispatch_src_valid;

  logic [P-1:0]           mrf_write_ready;
  logic [P-1:0]           mrf_write_done;
  // Not read: the latches know warp and register of a result that is done.
  // verilator lint_off UNUSEDSIGNAL
  written_t               mrf_written         [P];
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]           mrf_dispatch_valid;
  logic [P-1:0]           mrf_dispatch_ready;
  logic [TagW-1:0]        mrf_dispatch_tag    [P];
  logic [Sources-1:0]     mrf_dispatch_src_valid;
  logic [DataW-1:0]       mrf_dispatch_data   [Sources];

  // ------------------------------------------------------------------ issue
  assign take = issue_valid_i & issue_ready_o;

  for (genvar p = 0; p < P; p++) begin : gen_port
    hierarchy_levels #(
      .Entries (Entries),
      .LrfBanks(LrfBanks)
    ) u_levels (
      .valid_i       (issue_valid_i[p]),
      .src_valid_i   (issue_src_valid_i[Operands*p +: Operands]),
      .src_level_i   (issue_src_level_i[Operands*p +: Operands]),
      .dst_i         (issue_dst_i[p]),
      .dst_level_i   (issue_dst_level_i[p]),
      .long_i        (issue_long_i[p]),
      .mrf_o         (levels_mrf[Operands*p +: Operands]),
      .orf_o         (levels_orf[Operands*p +: Operands]),
      .lrf_o         (levels_lrf[Operands*p +: Operands]),
      .copy_o        (levels_copy[Operands*p +: Operands]),
      .entry_o       (levels_entry[Operands*p +: Operands]),
      .port_o        (levels_port[Operands*p +: Operands]),
      .orf_read_o    (levels_orf_read[Operands*p +: Operands]),
      .lrf_read_o    (levels_lrf_read[LrfPlaces*p +: LrfPlaces]),
      .read_place_o  (levels_read_place[p]),
      .copy_place_o  (levels_copy_place[p]),
      .result_place_o(levels_result_place[p]),
      .both_o        (levels_both[p])
    );

    hierarchy_data #(
      .Slots   (Slots),
      .Entries (Entries),
      .LrfBanks(LrfBanks),
      .TagW    (TagW)
    ) u_data (
      .clk_i,
      .rst_ni,
      .move_valid_i   (take[p]),
      .move_tag_i     (issue_tag_i[p]),
      .move_slot_i    (LocalW'(32'(issue_slot_i[p]) / P)),
      .move_orf_i     (levels_orf[Operands*p +: Operands]),
      .move_lrf_i     (levels_lrf[Operands*p +: Operands]),
      .move_port_i    (levels_port[Operands*p +: Operands]),
      .move_entry_i   (levels_entry[Operands*p +: Operands]),
      .move_orf_read_i(levels_orf_read[Operands*p +: Operands]),
      .move_lrf_read_i(levels_lrf_read[LrfPlaces*p +: LrfPlaces]),
      .orf_valid_i    (results_orf_valid[p]),
      .orf_slot_i     (results_orf_slot[p]),
      .orf_entry_i    (results_orf_entry[p]),
      .orf_mask_i     (results_orf_mask[p]),
      .orf_data_i     (results_orf_data[p]),
      .lrf_valid_i    (results_lrf_valid[p]),
      .lrf_slot_i     (results_lrf_slot[p]),
      .lrf_bank_i     (results_lrf_bank[p]),
      .lrf_mask_i     (results_lrf_mask[p]),
      .lrf_data_i     (results_lrf_data[p]),
      .land_valid_o   (data_land_valid[p]),
      .land_tag_o     (data_land_tag[p]),
      .land_fill_o    (data_land_fill[Operands*p +: Operands]),
      .land_data_o    (data_land_data[Operands*p +: Operands])
    );

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign operands_move_hit[Operands*p+k] =
          (levels_orf[Operands*p+k] | levels_lrf[Operands*p+k]) ? '1 : '0;
    end
  end

  // ------------------------------------------------------------------ places
  hierarchy_entries #(
    .IssuePorts(IssuePorts),
    .Active    (Active),
    .Entries   (Entries),
    .LrfBanks  (LrfBanks)
  ) u_entries (
    .clk_i,
    .rst_ni,
    .take_valid_i (take),
    .take_slot_i  (issue_slot_i),
    .take_mask_i  (issue_mask_i),
    .take_read_i  (levels_read_place),
    .take_copy_i  (levels_copy_place),
    .take_result_i(levels_result_place),
    .take_reg_i   (issue_dst_i),
    .take_both_i  (levels_both),
    .end_i        (issue_end_i),
    .look_valid_i (results_look_valid),
    .look_slot_i  (results_look_slot),
    .look_reg_i   (results_look_reg),
    .look_match_o (entries_look_match),
    .look_place_o (entries_look_place),
    .look_both_o  (entries_look_both),
    .orf_valid_i  (results_orf_valid),
    .orf_slot_i   (results_orf_slot),
    .orf_entry_i  (results_orf_entry),
    .orf_mask_i   (results_orf_mask),
    .lrf_valid_i  (results_lrf_valid),
    .lrf_slot_i   (results_lrf_slot),
    .lrf_bank_i   (results_lrf_bank),
    .lrf_mask_i   (results_lrf_mask),
    .flush_i,
    .flush_done_o,
    .void_o,
    .wait_o,
    .event_o      (entries_event)
  );

  // ------------------------------------------------------------------ results
  hierarchy_results #(
    .IssuePorts(IssuePorts),
    .Active    (Active)
  ) u_results (
    .clk_i,
    .rst_ni,
    .write_valid_i,
    .write_ready_o,
    .write_i,
    .write_data_i,
    .write_done_o,
    .written_o,
    .slot_valid_i,
    .slot_warp_i,
    .look_valid_o  (results_look_valid),
    .look_slot_o   (results_look_slot),
    .look_reg_o    (results_look_reg),
    .look_match_i  (entries_look_match),
    .look_place_i  (entries_look_place),
    .look_both_i   (entries_look_both),
    .copy_valid_i  (copies_copy_valid),
    .copy_slot_i   (copies_copy_slot),
    .copy_entry_i  (copies_copy_entry),
    .copy_mask_i   (copies_copy_mask),
    .copy_data_i   (copies_copy_data),
    .copy_private_i(copies_copy_private),
    .copy_ready_o  (results_copy_ready),
    .orf_valid_o   (results_orf_valid),
    .orf_slot_o    (results_orf_slot),
    .orf_entry_o   (results_orf_entry),
    .orf_mask_o    (results_orf_mask),
    .orf_data_o    (results_orf_data),
    .orf_copy_o    (results_orf_copy),
    .orf_private_o (results_orf_private),
    .lrf_valid_o   (results_lrf_valid),
    .lrf_slot_o    (results_lrf_slot),
    .lrf_bank_o    (results_lrf_bank),
    .lrf_mask_o    (results_lrf_mask),
    .lrf_data_o    (results_lrf_data),
    .lrf_private_o (results_lrf_private),
    .mrf_valid_o   (results_mrf_valid),
    .mrf_ready_i   (mrf_write_ready),
    .mrf_done_i    (mrf_write_done),
    .wait_o        (results_wait)
  );

  // ------------------------------------------------------------------ operands
  front_operands #(
    .IssuePorts(IssuePorts),
    .Tags      (Tags)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .move_valid_i        (take),
    .move_tag_i          (issue_tag_i),
    .move_hit_i          (operands_move_hit),
    .land_valid_i        (data_land_valid),
    .land_tag_i          (data_land_tag),
    .land_fill_i         (data_land_fill),
    .land_data_i         (data_land_data),
    .mrf_valid_i         (mrf_dispatch_valid),
    .mrf_tag_i           (mrf_dispatch_tag),
    .mrf_src_valid_i     (mrf_dispatch_src_valid),
    .mrf_data_i          (mrf_dispatch_data),
    .mrf_ready_o         (mrf_dispatch_ready),
    .dispatch_valid_o    (operands_dispatch_valid),
    .dispatch_ready_i    (operands_dispatch_ready),
    .dispatch_src_valid_o(operands_dispatch_src_valid),
    .dispatch_data_o
  );

  hierarchy_copies #(
    .IssuePorts(IssuePorts),
    .Active    (Active),
    .Tags      (Tags)
  ) u_copies (
    .clk_i,
    .rst_ni,
    .note_valid_i  (take),
    .note_tag_i    (issue_tag_i),
    .note_copy_i   (levels_copy),
    .note_entry_i  (levels_entry),
    .note_slot_i   (issue_slot_i),
    .note_private_i(issue_private_i),
    .offer_valid_i (operands_dispatch_valid),
    .offer_tag_i   (mrf_dispatch_tag),
    .offer_mask_i  (dispatch_mask_o),
    .offer_data_i  (mrf_dispatch_data),
    .hold_o        (copies_hold),
    .go_i          (dispatch_valid_o & dispatch_ready_i),
    .copy_valid_o  (copies_copy_valid),
    .copy_slot_o   (copies_copy_slot),
    .copy_entry_o  (copies_copy_entry),
    .copy_mask_o   (copies_copy_mask),
    .copy_data_o   (copies_copy_data),
    .copy_private_o(copies_copy_private),
    .copy_ready_i  (results_copy_ready),
    .wait_o        (copies_wait)
  );

  assign dispatch_valid_o        = operands_dispatch_valid & ~copies_hold;
  assign operands_dispatch_ready = dispatch_ready_i & ~copies_hold;
  assign dispatch_tag_o          = mrf_dispatch_tag;

  for (genvar p = 0; p < P; p++) begin : gen_dispatch
    assign dispatch_src_valid_o[Operands*p +: Operands] =
        operands_dispatch_src_valid[Operands*p +: Operands] & {Operands{dispatch_valid_o[p]}};
  end

  // ------------------------------------------------------------------ the main register file
  mrf #(
    .Banks     (Banks),
    .DualPort  (DualPort),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (TagW),
    .Unified   (Unified)
  ) u_mrf (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .layout_i            ('0),
    .issue_valid_i,
    .issue_ready_o,
    .issue_warp_i,
    .issue_base_i,
    .issue_mask_i,
    .issue_tag_i,
    .issue_src_valid_i   (levels_mrf),
    .issue_src_reg_i,
    .write_valid_i       (results_mrf_valid),
    .write_ready_o       (mrf_write_ready),
    .write_i,
    .write_base_i,
    .write_data_i,
    .write_done_o        (mrf_write_done),
    .written_o           (mrf_written),
    .dispatch_valid_o    (mrf_dispatch_valid),
    .dispatch_ready_i    (mrf_dispatch_ready),
    .dispatch_warp_o,
    .dispatch_mask_o,
    .dispatch_tag_o      (mrf_dispatch_tag),
    .dispatch_src_valid_o(mrf_dispatch_src_valid),
    .dispatch_data_o     (mrf_dispatch_data),
    .event_o             (mrf_event_o),
    .memory_read_i,
    .memory_read_entry_i,
    .memory_write_i,
    .memory_write_entry_i,
    .memory_write_bytes_i,
    .memory_write_data_i,
    .memory_data_column_i,
    .memory_read_ready_o,
    .memory_write_ready_o,
    .memory_data_o
  );

  // ------------------------------------------------------------------ events
  // Distinct registers that an instruction requests from the MRF: a register named by two sources is read
  // once.
  logic [1:0] asked [P];

  always_comb begin
    for (int unsigned p = 0; p < P; p++) begin
      asked[p] = '0;
      for (int unsigned k = 0; k < Operands; k++) begin
        if (levels_mrf[Operands*p+k] &&
            !(k > 0 && levels_mrf[Operands*p] &&
              issue_src_reg_i[Operands*p] == issue_src_reg_i[Operands*p+k]) &&
            !(k > 1 && levels_mrf[Operands*p+1] &&
              issue_src_reg_i[Operands*p+1] == issue_src_reg_i[Operands*p+k])) begin
          asked[p] = asked[p] + 1'b1;
        end
      end
    end
  end

  always_comb begin : count
    automatic logic [GroupsW-1:0] groups;
    automatic logic [5:0]         orf_groups;
    automatic logic [5:0]         mrf_groups;
    event_o       = '0;
    count_event_o = '0;
    for (int unsigned p = 0; p < P; p++) begin
      if (take[p]) begin
        groups     = active_groups(issue_mask_i[p]);
        orf_groups = 6'(groups) * 6'($countones(levels_orf_read[Operands*p +: Operands]));
        mrf_groups = 6'(groups) * 6'(asked[p]);
        event_o.orf_read_groups = event_o.orf_read_groups + orf_groups;
        if (!issue_private_i[p]) begin
          event_o.orf_read_shared_groups = event_o.orf_read_shared_groups + orf_groups;
          event_o.mrf_shared_groups      = event_o.mrf_shared_groups + mrf_groups;
        end
        if (levels_lrf_read[LrfPlaces*p]) begin
          event_o.lrf_a_read_groups = event_o.lrf_a_read_groups + 5'(groups);
        end
        if (levels_lrf_read[LrfPlaces*p+1]) begin
          event_o.lrf_b_read_groups = event_o.lrf_b_read_groups + 5'(groups);
        end
        if (levels_lrf_read[LrfPlaces*p+2]) begin
          event_o.lrf_c_read_groups = event_o.lrf_c_read_groups + 5'(groups);
        end
        case (asked[p])
          2'd0:    count_event_o.mrf_none  = count_event_o.mrf_none + 1'b1;
          2'd1:    count_event_o.mrf_one   = count_event_o.mrf_one + 1'b1;
          2'd2:    count_event_o.mrf_two   = count_event_o.mrf_two + 1'b1;
          default: count_event_o.mrf_three = count_event_o.mrf_three + 1'b1;
        endcase
        count_event_o.orf_read = count_event_o.orf_read +
                                 3'($countones(levels_orf_read[Operands*p +: Operands]));
        count_event_o.lrf_read = count_event_o.lrf_read +
                                 3'($countones(levels_lrf_read[LrfPlaces*p +: LrfPlaces]));
      end
      if (results_orf_valid[p]) begin
        groups = active_groups(results_orf_mask[p]);
        if (results_orf_copy[p]) begin
          event_o.copy_groups = event_o.copy_groups + 5'(groups);
          if (!results_orf_private[p]) begin
            event_o.copy_shared_groups = event_o.copy_shared_groups + 5'(groups);
          end
        end else begin
          event_o.orf_write_groups = event_o.orf_write_groups + 5'(groups);
          if (!results_orf_private[p]) begin
            event_o.orf_write_shared_groups = event_o.orf_write_shared_groups + 5'(groups);
          end
        end
      end
      if (results_lrf_valid[p]) begin
        event_o.lrf_write_groups = event_o.lrf_write_groups +
                                   5'(active_groups(results_lrf_mask[p]));
      end
      if (results_mrf_valid[p]) begin
        if (!write_i[p].from_private) begin
          event_o.mrf_write_shared_groups = event_o.mrf_write_shared_groups +
                                            5'(active_groups(write_i[p].mask));
        end
        if (entries_look_match[p]) count_event_o.both     = count_event_o.both + 1'b1;
        else                       count_event_o.mrf_only = count_event_o.mrf_only + 1'b1;
      end
    end
    count_event_o.orf_write     = 2'($countones(results_orf_valid & ~results_orf_copy));
    count_event_o.lrf_write     = 2'($countones(results_lrf_valid));
    count_event_o.copy          = 2'($countones(results_orf_copy));
    count_event_o.strand_end    = entries_event.strand_end;
    count_event_o.strand_void   = entries_event.strand_void;
    count_event_o.result_wait   = 2'($countones(results_wait));
    count_event_o.copy_wait     = 2'($countones(copies_wait));
    count_event_o.dispatch_hold = 2'($countones(copies_hold));
    count_event_o.unwritten     = entries_event.unwritten;
  end

  // ------------------------------------------------------------------ rules that the compiler keeps
  for (genvar p = 0; p < P; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(lrf_read_is_private,
                       take[p] && levels_read_place[p][Upper-1:OrfPlaces] != '0,
                       issue_private_i[p],
                       "an instruction for a shared unit reads the LRF")
    `GPURF_ASSERT_WHEN(lrf_fill_is_private,
                       take[p] && levels_result_place[p][Upper-1:OrfPlaces] != '0,
                       issue_private_i[p],
                       "a result of a shared unit is to go to the LRF")
    `GPURF_ASSERT_WHEN(lrf_write_is_private, results_lrf_valid[p], results_lrf_private[p],
                       "a result of a shared unit goes to the LRF")
    `GPURF_ASSERT_WHEN(long_result_to_mrf, take[p] && issue_long_i[p],
                       issue_dst_level_i[p] == '0,
                       "a result that takes long is to go above the main register file")

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      if (LrfBanks == LrfPlaces) begin : gen_split
        `GPURF_ASSERT_WHEN(own_bank, take[p] && levels_lrf[Operands*p+k],
                           issue_src_level_i[Operands*p+k] == LevelW'(OrfPlaces + k + 1),
                           "a source reads the LRF bank of another operand slot")
      end
      `GPURF_ASSERT_WHEN(copy_or_result,
                         take[p] && levels_result_place[p] != '0 &&
                         issue_src_valid_i[Operands*p+k] &&
                         issue_src_level_i[Operands*p+k][LevelW-1],
                         issue_src_level_i[Operands*p+k][UpperW-1:0] !=
                         issue_dst_level_i[p][UpperW-1:0],
                         "a source is copied to where the result goes")
      for (genvar j = 0; j < k; j++) begin : gen_lower
        `GPURF_ASSERT_WHEN(one_register_an_entry,
                           take[p] && levels_copy[Operands*p+j] &&
                           issue_src_valid_i[Operands*p+k] &&
                           issue_src_level_i[Operands*p+j] == issue_src_level_i[Operands*p+k],
                           issue_src_reg_i[Operands*p+j] == issue_src_reg_i[Operands*p+k],
                           "two registers are copied to one entry")
      end
    end
  end

endmodule

// The register file cache, in front of a main register file.
//
// Each slot of the two-level scheduler has a few entries of one warp register (RFC paper, 3.1, 3.3
// and figure 3; hierarchy thesis, 5.2, 5.3). Results are written there. Operands are looked up there first, and lanes
// that miss are read from the main register file (MRF). Long-latency results go around the cache, into the MRF. When a
// slot is given up, its dirty lanes are written back.
//
//   cycle t    an instruction, a result is taken
//   t+1        T: tags are looked up or written; lanes that miss are requested from the MRF
//   t+2        D: hits are read, results are written at the end of the cycle
//   t+3        O: hits come out, and go into the operand latches
//   t+4        the instruction is offered for dispatch
//
// Tags are one cycle ahead of the data, for reads and writes alike: an operation that reallocates the
// entry of an earlier hit overwrites the data only after the hit has read it. An instruction that misses
// a register whose value is on its way to the MRF waits in T.
//
// The scoreboard clears a register when its result is taken, a cycle earlier than without the cache, because
// stage T adds a cycle. An instruction that reads or writes the register of a result that is still in
// its latch waits in T.
//
// There is a cache for each issue port, with the slots of that port: global slot s is slot
// s / IssuePorts of cache s mod IssuePorts.
//
// Each cache may have a last result file (LRF) above it, to which results of private units go first
// (hierarchy thesis, 6.5.2), and what instructions read from the MRF may be put into the cache
// (hierarchy thesis, 5.2, "reads allocate").
//
// The words of the MRF may have power states (docs/power.md). Then an instruction in T, and a value that
// waits for a write port of the MRF, wait until their words are ON.
module rfc
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned Tags = Collectors + 2 * IssuePorts - 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Entries = 6,
  parameter int unsigned Lrf = 0,    // a last result file above each cache
  parameter int unsigned Reads = 0,  // reads allocate
  parameter int unsigned Release = 0,  // results around the cache leave their latches for the queue
  parameter int unsigned Power = 0,  // warps whose words have power states; 0: they have none
  parameter int unsigned Unified = 0,  // 1, 2: the banks serve memory too, as in `mrf`
  localparam int unsigned TagW = $clog2(Tags),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned CfgW = $bits(rfc_straps_t) + 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // Without power states their straps are not read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [CfgW-1:0]                cfg_i,  // prompt, power states, loads, bypass, LRU, live, the MRF's strap
  // verilator lint_on UNUSEDSIGNAL

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
  input  logic [Operands*IssuePorts-1:0] issue_last_i,
  input  logic [RegW-1:0]                issue_dst_i       [IssuePorts],
  input  logic [IssuePorts-1:0]          issue_long_i,
  input  logic [IssuePorts-1:0]          issue_bypass_i,
  input  logic [IssuePorts-1:0]          issue_past_i,
  input  logic [IssuePorts-1:0]          issue_private_i,
  // Only power states read this: the state in which the instruction leaves a source.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [RegisterPowerW-1:0]      issue_left_i      [Operands*IssuePorts],
  // verilator lint_on UNUSEDSIGNAL

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
  input  logic [EntryW-1:0]              slot_base_i       [Active],
  input  logic [Active-1:0]              flush_i,
  input  logic [Active-1:0]              drop_i,
  output logic [Active-1:0]              flush_done_o,

  // power states. keep: another instruction accesses the register of this dispatched source; over: warps that
  // ended
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Operands*IssuePorts-1:0] dispatch_keep_i,
  input  logic [2**WarpW-1:0]            over_i,
  // verilator lint_on UNUSEDSIGNAL

  output rfc_event_t                     event_o,
  output rfc_count_event_t               count_event_o,
  output rfc_extra_event_t               extra_event_o,
  output power_event_t                   power_event_o,
  output power_wait_event_t              power_wait_event_o,
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
  localparam int unsigned Words = Slots * Entries;
  localparam int unsigned IndexW = (Words > 1) ? $clog2(Words) : 1;
  localparam int unsigned PortW = 2;

  // ------------------------------------------------------------------ the T stage
  logic [P-1:0]        tag_valid_q;
  logic [WarpW-1:0]    warp_q      [P];
  logic [EntryW-1:0]   base_q      [P];
  logic [Lanes-1:0]    mask_q      [P];
  logic [TagW-1:0]     tag_q       [P];
  logic [Operands-1:0] src_valid_q [P];
  logic [LocalW-1:0]   slot_q      [P];
  logic [Operands-1:0] last_q      [P];
  logic [P-1:0]        private_q;
  logic [RegW-1:0]     src_reg_q   [Sources];
  logic [RegW-1:0]     dst_q       [P];        // register written
  logic [P-1:0]        around_q;               // the result goes around the cache
  logic [P-1:0]        past_q;                 // the result goes past the LRF
  // verilator lint_off UNUSEDSIGNAL
  logic [RegisterPowerW-1:0] left_q [Sources]; // power state in which the source is left
  // verilator lint_on UNUSEDSIGNAL

  logic [Lanes-1:0]    hit         [Sources];  // lanes that are in the cache, or in the LRF
  logic [Sources-1:0]  missing;  // the source has active lanes that miss
  logic [Sources-1:0]  asked;    // missing, and no lower missing source has the register
  logic [P-1:0]        stall;    // a missing register is on its way to the MRF
  logic [P-1:0]        behind;   // an older result of a register is in its latch, or has left it for the queue
  logic [P-1:0]        leave;
  logic [P-1:0]        taken;

  // ------------------------------------------------------------------ nets, by the block
  logic [Lanes-1:0]    tags_hit_mask    [Sources];
  logic [IndexW-1:0]   tags_hit_index   [Sources];
  logic [PortW-1:0]    tags_hit_port    [Sources];
  logic [Operands-1:0] tags_read        [P];
  logic [P-1:0]        tags_op_valid;
  logic [P-1:0]        tags_op_kill;
  logic [LocalW-1:0]   tags_op_slot     [P];
  logic [RegW-1:0]     tags_op_reg      [P];
  logic [Lanes-1:0]    tags_op_mask     [P];
  logic [P-1:0]        tags_op_ready;
  logic [IndexW-1:0]   tags_op_index    [P];
  logic [P-1:0]        tags_evict_valid;
  logic [PortW-1:0]    tags_evict_port  [P];
  logic [IndexW-1:0]   tags_evict_index [P];
  logic [LocalW-1:0]   tags_evict_slot  [P];
  logic [RegW-1:0]     tags_evict_reg   [P];
  logic [Lanes-1:0]    tags_evict_mask  [P];
  logic [Slots-1:0]    tags_clean       [P];
  // Fields that are in none of the event words of this module are for debugging.
  // verilator lint_off UNUSEDSIGNAL
  rfc_tags_event_t     tags_event       [P];
  // verilator lint_on UNUSEDSIGNAL

  logic [P-1:0]        data_write_valid;
  logic [DataW-1:0]    data_write_data  [P];
  logic [Operands-1:0] data_move_fill   [P];
  logic [P-1:0]        data_land_valid;
  logic [TagW-1:0]     data_land_tag    [P];
  logic [Operands-1:0] data_land_fill   [P];
  logic [DataW-1:0]    data_land_data   [Sources];
  logic [P-1:0]        data_evict_data_valid;
  logic [DataW-1:0]    data_evict_data  [P];

  logic [P-1:0]        evictions_push_valid;
  logic [LocalW-1:0]   evictions_push_slot    [P];
  logic [WarpW-1:0]    evictions_push_warp    [P];
  logic [EntryW-1:0]   evictions_push_base    [P];
  logic [RegW-1:0]     evictions_push_reg     [P];
  logic [Lanes-1:0]    evictions_push_mask    [P];
  logic [P-1:0]        evictions_data_valid;
  logic [DataW-1:0]    evictions_data         [P];
  logic [P-1:0]        evictions_room;
  logic [P-1:0]        evictions_offer_valid;
  logic [WarpW-1:0]    evictions_offer_warp   [P];
  logic [EntryW-1:0]   evictions_offer_base   [P];
  logic [RegW-1:0]     evictions_offer_reg    [P];
  logic [Lanes-1:0]    evictions_offer_mask   [P];
  logic [DataW-1:0]    evictions_offer_data   [P];
  logic [Operands-1:0] evictions_look_match   [P];
  logic [P-1:0]        evictions_result_match [P];  // [cache][bus]
  logic [Slots-1:0]    evictions_busy         [P];

  logic [P-1:0]        results_note_valid;
  logic [P-1:0]        results_op_valid;
  logic [P-1:0]        results_op_kill;
  // verilator lint_off UNUSEDSIGNAL
  logic [P-1:0]        results_op_upper;      // not read without an LRF
  // verilator lint_on UNUSEDSIGNAL
  logic [LocalW-1:0]   results_op_slot        [P];
  logic [RegW-1:0]     results_op_reg         [P];
  logic [Lanes-1:0]    results_op_mask        [P];
  logic [DataW-1:0]    results_op_data        [P];
  logic [P-1:0]        results_op_private;
  logic [P-1:0]        results_op_ready;
  logic [P-1:0]        results_match;
  logic [P-1:0]        results_result_valid;
  logic [WarpW-1:0]    results_result_warp    [P];
  logic [RegW-1:0]     results_result_reg     [P];
  logic [P-1:0]        results_queue_valid;
  logic [WarpW-1:0]    results_queue_warp     [P];
  logic [RegW-1:0]     results_queue_reg      [P];
  logic [P-1:0]        results_evict_ready;
  logic [P-1:0]        results_evict_done;
  logic [P-1:0]        results_mrf_valid;
  logic [P-1:0]        results_mrf_ready;
  // verilator lint_off UNUSEDSIGNAL
  logic [P-1:0]        results_may;
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]        results_around;
  logic [P-1:0]        results_around_private;
  logic [P-1:0]        results_wait;

  // Without an LRF operations pass through unchanged, and there is never a hit, spill or flush.
  logic [Lanes-1:0]    lrf_hit_mask         [Sources];
  logic [P-1:0]        lrf_low_valid;
  logic [P-1:0]        lrf_low_kill;
  logic [LocalW-1:0]   lrf_low_slot         [P];
  logic [RegW-1:0]     lrf_low_reg          [P];
  logic [Lanes-1:0]    lrf_low_mask         [P];
  logic [P-1:0]        lrf_spill;
  logic [Slots-1:0]    lrf_clean            [P];
  logic [P-1:0]        lrf_flush_valid;
  logic [LocalW-1:0]   lrf_flush_slot       [P];
  logic [RegW-1:0]     lrf_flush_reg        [P];
  logic [Lanes-1:0]    lrf_flush_mask       [P];
  logic [P-1:0]        lrf_spill_data_valid;
  logic [DataW-1:0]    lrf_spill_data       [P];
  // verilator lint_off UNUSEDSIGNAL
  logic [Lanes-1:0]    lrf_land_hit         [Sources];
  logic [DataW-1:0]    lrf_land_data        [P];
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]        lrf_flush_data_valid;
  logic [DataW-1:0]    lrf_flush_data       [P];
  rfc_lrf_event_t      lrf_event            [P];

  // Unless reads allocate, only the slot is read, and no fill is ever offered.
  logic [SlotW-1:0]    fills_move_slot      [P];  // global slot number of the instruction in T
  // verilator lint_off UNUSEDSIGNAL
  logic [Lanes-1:0]    fills_move_miss      [Sources];
  logic [P-1:0]        fills_take_valid;
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]        fills_fill_valid;
  logic [LocalW-1:0]   fills_fill_slot      [P];
  logic [RegW-1:0]     fills_fill_reg       [P];
  logic [Lanes-1:0]    fills_fill_mask      [P];
  logic [DataW-1:0]    fills_fill_data      [P];
  logic                fills_busy;

  // Without power states all words are ON, and no state is looked up.
  logic [P-1:0]        power_look_valid;
  logic [P-1:0]        power_look_on;
  // verilator lint_off UNUSEDSIGNAL
  logic [Sources-1:0]  power_look_asked;
  logic [P-1:0]        power_write_valid;
  logic [P-1:0]        power_taken;
  logic [P-1:0]        power_read_valid;
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]        power_write_on;

  logic [Sources-1:0]  operands_land_fill;
  logic [DataW-1:0]    operands_land_data   [Sources];
  logic [P-1:0]        operands_dispatch_valid;
  logic [P-1:0]        operands_dispatch_ready;
  logic [Sources-1:0]  operands_dispatch_src_valid;

  logic [P-1:0]        mrf_issue_valid;
  logic [P-1:0]        mrf_issue_ready;
  logic [Sources-1:0]  mrf_issue_src_valid;
  logic [P-1:0]        mrf_write_valid;
  logic [P-1:0]        mrf_write_ready;
  logic [WarpW-1:0]    mrf_write_warp         [P];
  logic [EntryW-1:0]   mrf_write_base         [P];
  logic [RegW-1:0]     mrf_write_reg          [P];
  logic [Lanes-1:0]    mrf_write_mask         [P];
  logic [DataW-1:0]    mrf_write_data         [P];
  write_t              mrf_write              [P];
  logic [P-1:0]        mrf_write_done;
  // Not read: who has sent a write knows its warp and register.
  // verilator lint_off UNUSEDSIGNAL
  written_t            mrf_written            [P];
  // verilator lint_on UNUSEDSIGNAL
  logic [P-1:0]        mrf_dispatch_valid;
  logic [P-1:0]        mrf_dispatch_ready;
  logic [TagW-1:0]     mrf_dispatch_tag       [P];
  logic [Sources-1:0]  mrf_dispatch_src_valid;
  logic [DataW-1:0]    mrf_dispatch_data      [Sources];

  logic [Active-1:0]   flush_done;

  // ------------------------------------------------------------------ T
  for (genvar i = 0; i < Sources; i++) begin : gen_hit
    assign hit[i] = tags_hit_mask[i] | lrf_hit_mask[i];
  end

  always_comb begin
    missing = '0;
    stall   = '0;
    for (int unsigned p = 0; p < P; p++) begin
      if (tag_valid_q[p]) begin
        for (int unsigned k = 0; k < Operands; k++) begin
          missing[Operands*p+k] = src_valid_q[p][k] &
                                  ((mask_q[p] & ~hit[Operands*p+k]) != '0);
          if (missing[Operands*p+k] && evictions_look_match[p][k]) stall[p] = 1'b1;
        end
      end
    end
  end

  // All results in the latches, and those that have left them for the queues, are older than the instruction
  // in T. Only registers are compared here: whether a result ends in this cycle depends on what leaves T.
  always_comb begin
    behind = '0;
    for (int unsigned p = 0; p < P; p++) begin
      for (int unsigned b = 0; b < P; b++) begin
        if (tag_valid_q[p] && results_result_valid[b] && results_result_warp[b] == warp_q[p]) begin
          if (dst_q[p] == results_result_reg[b]) behind[p] = 1'b1;
          for (int unsigned k = 0; k < Operands; k++) begin
            if (src_valid_q[p][k] && src_reg_q[Operands*p+k] == results_result_reg[b]) begin
              behind[p] = 1'b1;
            end
          end
        end
        if (tag_valid_q[p] && results_queue_valid[b] && results_queue_warp[b] == warp_q[p]) begin
          if (dst_q[p] == results_queue_reg[b]) behind[p] = 1'b1;
          for (int unsigned k = 0; k < Operands; k++) begin
            if (src_valid_q[p][k] && src_reg_q[Operands*p+k] == results_queue_reg[b]) begin
              behind[p] = 1'b1;
            end
          end
        end
      end
    end
  end

  // A register that two sources name is read once.
  always_comb begin
    asked = missing;
    for (int unsigned p = 0; p < P; p++) begin
      for (int unsigned k = 1; k < Operands; k++) begin
        for (int unsigned j = 0; j < k; j++) begin
          if (missing[Operands*p+j] && src_reg_q[Operands*p+j] == src_reg_q[Operands*p+k]) begin
            asked[Operands*p+k] = 1'b0;
          end
        end
      end
    end
  end

  assign power_look_valid = tag_valid_q & ~stall & ~behind;
  assign mrf_issue_valid  = power_look_valid & power_look_on;
  assign leave            = mrf_issue_valid & mrf_issue_ready;
  assign issue_ready_o   = ~tag_valid_q | leave;
  assign taken           = issue_valid_i & issue_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) tag_valid_q <= '0;
    else         tag_valid_q <= taken | (tag_valid_q & ~leave);
  end

  for (genvar p = 0; p < P; p++) begin : gen_tag_stage
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        private_q[p] <= 1'b0;
        around_q[p]  <= 1'b0;
        past_q[p]    <= 1'b0;
      end else if (taken[p]) begin
        private_q[p] <= issue_private_i[p];
        around_q[p]  <= (issue_long_i[p] & ~cfg_i[4]) | (issue_bypass_i[p] & cfg_i[3]);
        past_q[p]    <= issue_past_i[p];
      end
    end

    // The payload has no reset: it means nothing while tag_valid_q is low.
    always_ff @(posedge clk_i) begin
      if (taken[p]) begin
        warp_q[p]      <= issue_warp_i[p];
        base_q[p]      <= issue_base_i[p];
        mask_q[p]      <= issue_mask_i[p];
        tag_q[p]       <= issue_tag_i[p];
        src_valid_q[p] <= issue_src_valid_i[Operands*p +: Operands];
        slot_q[p]      <= LocalW'(32'(issue_slot_i[p]) / P);
        last_q[p]      <= issue_last_i[Operands*p +: Operands];
        dst_q[p]       <= issue_dst_i[p];
      end
    end

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      always_ff @(posedge clk_i) begin
        if (taken[p]) begin
          src_reg_q[Operands*p+k] <= issue_src_reg_i[Operands*p+k];
        end
      end

      if (Power == 0) begin : gen_no_left
        assign left_q[Operands*p+k] = '0;
      end else begin : gen_left
        always_ff @(posedge clk_i) begin
          if (taken[p]) left_q[Operands*p+k] <= issue_left_i[Operands*p+k];
        end
      end
    end

    assign mrf_issue_src_valid[Operands*p +: Operands] =
        mrf_issue_valid[p] ? missing[Operands*p +: Operands] : '0;

    // Notes where the result of this instruction goes when it arrives.
    assign results_note_valid[p] = leave[p] && dst_q[p] != NoReg;
  end

  // ------------------------------------------------------------------ the caches
  for (genvar p = 0; p < P; p++) begin : gen_cache
    logic [Slots-1:0] flush;
    logic [Slots-1:0] drop;
    logic [SlotW-1:0] evict_slot;  // the global number

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign data_move_fill[p][k] = hit[Operands*p+k] != '0;
    end

    assign operands_land_fill[Operands*p +: Operands] =
        data_land_fill[p] & {Operands{data_land_valid[p]}};

    for (genvar j = 0; j < Slots; j++) begin : gen_slot
      assign flush[j]          = flush_i[P*j+p];
      assign drop[j]           = drop_i[P*j+p];
      assign flush_done[P*j+p] = flush[j] & (drop[j] | (tags_clean[p][j] & lrf_clean[p][j])) &
                                 ~evictions_busy[p][j];
    end

    // Operations on the tags: a fill has priority over a result.
    assign tags_op_valid[p]    = fills_fill_valid[p] | lrf_low_valid[p];
    assign tags_op_kill[p]     = ~fills_fill_valid[p] & lrf_low_kill[p];
    assign tags_op_slot[p]     = fills_fill_valid[p] ? fills_fill_slot[p] : lrf_low_slot[p];
    assign tags_op_reg[p]      = fills_fill_valid[p] ? fills_fill_reg[p] : lrf_low_reg[p];
    assign tags_op_mask[p]     = fills_fill_valid[p] ? fills_fill_mask[p] : lrf_low_mask[p];
    assign data_write_valid[p] = tags_op_valid[p] & ~tags_op_kill[p] & tags_op_ready[p];
    assign data_write_data[p]  = fills_fill_valid[p] ? fills_fill_data[p] : results_op_data[p];

    // Values on their way to the MRF: evictions of the tags go first; the LRF flushes only when there is none.
    assign evictions_push_valid[p] = tags_evict_valid[p] | lrf_flush_valid[p];
    assign evictions_push_slot[p]  = lrf_flush_valid[p] ? lrf_flush_slot[p] : tags_evict_slot[p];
    assign evictions_push_reg[p]   = lrf_flush_valid[p] ? lrf_flush_reg[p] : tags_evict_reg[p];
    assign evictions_push_mask[p]  = lrf_flush_valid[p] ? lrf_flush_mask[p] : tags_evict_mask[p];
    assign evict_slot              = SlotW'(P * 32'(evictions_push_slot[p]) + p);
    assign evictions_push_warp[p]  = slot_warp_i[evict_slot];
    assign evictions_push_base[p]  = slot_base_i[evict_slot];
    assign evictions_data_valid[p] = data_evict_data_valid[p] | lrf_flush_data_valid[p];
    assign evictions_data[p]       = lrf_flush_data_valid[p] ? lrf_flush_data[p]
                                                             : data_evict_data[p];

    if (Lrf != 0) begin : gen_lrf
      rfc_lrf #(
        .Slots(Slots)
      ) u_lrf (
        .clk_i,
        .rst_ni,
        .cfg_i             (cfg_i[1]),
        .look_valid_i      (tag_valid_q[p]),
        .look_move_i       (leave[p]),
        .look_slot_i       (slot_q[p]),
        .look_mask_i       (mask_q[p]),
        .look_src_valid_i  (src_valid_q[p]),
        .look_reg_i        (src_reg_q[Operands*p +: Operands]),
        .look_last_i       (last_q[p]),
        .look_private_i    (private_q[p]),
        .hit_mask_o        (lrf_hit_mask[Operands*p +: Operands]),
        .op_valid_i        (results_op_valid[p]),
        .op_kill_i         (results_op_kill[p]),
        .op_upper_i        (results_op_upper[p]),
        .op_slot_i         (results_op_slot[p]),
        .op_reg_i          (results_op_reg[p]),
        .op_mask_i         (results_op_mask[p]),
        .op_data_i         (results_op_data[p]),
        .op_ready_o        (results_op_ready[p]),
        .low_valid_o       (lrf_low_valid[p]),
        .low_kill_o        (lrf_low_kill[p]),
        .low_slot_o        (lrf_low_slot[p]),
        .low_reg_o         (lrf_low_reg[p]),
        .low_mask_o        (lrf_low_mask[p]),
        .low_ready_i       (tags_op_ready[p]),
        .spill_o           (lrf_spill[p]),
        .flush_i           (flush),
        .drop_i            (drop),
        .clean_o           (lrf_clean[p]),
        .flush_ready_i     (evictions_room[p] & ~tags_evict_valid[p]),
        .flush_valid_o     (lrf_flush_valid[p]),
        .flush_slot_o      (lrf_flush_slot[p]),
        .flush_reg_o       (lrf_flush_reg[p]),
        .flush_mask_o      (lrf_flush_mask[p]),
        .spill_data_valid_o(lrf_spill_data_valid[p]),
        .spill_data_o      (lrf_spill_data[p]),
        .land_hit_o        (lrf_land_hit[Operands*p +: Operands]),
        .land_data_o       (lrf_land_data[p]),
        .flush_data_valid_o(lrf_flush_data_valid[p]),
        .flush_data_o      (lrf_flush_data[p]),
        .event_o           (lrf_event[p])
      );

      // A source may have lanes in the cache and in the LRF. A mask over the whole word selects them.
      for (genvar k = 0; k < Operands; k++) begin : gen_land
        always_comb begin : merge
          automatic logic [DataW-1:0] enable;
          operands_land_data[Operands*p+k] = data_land_data[Operands*p+k];
          enable = '0;
          if (lrf_land_hit[Operands*p+k] != '0) begin
            for (int unsigned lane = 0; lane < Lanes; lane++) begin
              enable[LaneW*lane +: LaneW] = {LaneW{lrf_land_hit[Operands*p+k][lane]}};
            end
            operands_land_data[Operands*p+k] = (data_land_data[Operands*p+k] & ~enable) |
                                               (lrf_land_data[p] & enable);
          end
        end
      end
    end else begin : gen_no_lrf
      for (genvar k = 0; k < Operands; k++) begin : gen_land
        assign lrf_hit_mask[Operands*p+k]       = '0;
        assign lrf_land_hit[Operands*p+k]       = '0;
        assign operands_land_data[Operands*p+k] = data_land_data[Operands*p+k];
      end
      assign lrf_low_valid[p]        = results_op_valid[p];
      assign lrf_low_kill[p]         = results_op_kill[p];
      assign lrf_low_slot[p]         = results_op_slot[p];
      assign lrf_low_reg[p]          = results_op_reg[p];
      assign lrf_low_mask[p]         = results_op_mask[p];
      assign results_op_ready[p]     = tags_op_ready[p];
      assign lrf_spill[p]            = 1'b0;
      assign lrf_clean[p]            = '1;
      assign lrf_flush_valid[p]      = 1'b0;
      assign lrf_flush_slot[p]       = '0;
      assign lrf_flush_reg[p]        = '0;
      assign lrf_flush_mask[p]       = '0;
      assign lrf_spill_data_valid[p] = 1'b0;
      assign lrf_spill_data[p]       = '0;
      assign lrf_land_data[p]        = '0;
      assign lrf_flush_data_valid[p] = 1'b0;
      assign lrf_flush_data[p]       = '0;
      assign lrf_event[p]            = '0;
    end

    rfc_tags #(
      .Slots  (Slots),
      .Entries(Entries)
    ) u_tags (
      .clk_i,
      .rst_ni,
      .cfg_i           ({cfg_i[CfgW-1], cfg_i[2:1]}),
      .look_valid_i    (tag_valid_q[p]),
      .look_move_i     (leave[p]),
      .look_slot_i     (slot_q[p]),
      .look_mask_i     (mask_q[p]),
      .look_src_valid_i(src_valid_q[p]),
      .look_reg_i      (src_reg_q[Operands*p +: Operands]),
      .look_last_i     (last_q[p]),
      .hit_mask_o      (tags_hit_mask[Operands*p +: Operands]),
      .hit_index_o     (tags_hit_index[Operands*p +: Operands]),
      .hit_port_o      (tags_hit_port[Operands*p +: Operands]),
      .read_o          (tags_read[p]),
      .op_valid_i      (tags_op_valid[p]),
      .op_kill_i       (tags_op_kill[p]),
      .op_slot_i       (tags_op_slot[p]),
      .op_reg_i        (tags_op_reg[p]),
      .op_mask_i       (tags_op_mask[p]),
      .op_clean_i      (fills_fill_valid[p]),
      .take_valid_i    (lrf_spill[p]),
      .take_reg_i      (results_op_reg[p]),
      .take_mask_i     (results_op_mask[p]),
      .op_ready_o      (tags_op_ready[p]),
      .op_index_o      (tags_op_index[p]),
      .evict_room_i    (evictions_room[p]),
      .evict_valid_o   (tags_evict_valid[p]),
      .evict_port_o    (tags_evict_port[p]),
      .evict_index_o   (tags_evict_index[p]),
      .evict_slot_o    (tags_evict_slot[p]),
      .evict_reg_o     (tags_evict_reg[p]),
      .evict_mask_o    (tags_evict_mask[p]),
      .flush_i         (flush),
      .drop_i          (drop),
      .clean_o         (tags_clean[p]),
      .event_o         (tags_event[p])
    );

    rfc_data #(
      .Slots  (Slots),
      .Entries(Entries),
      .TagW   (TagW)
    ) u_data (
      .clk_i,
      .rst_ni,
      .move_valid_i      (leave[p]),
      .move_tag_i        (tag_q[p]),
      .move_fill_i       (data_move_fill[p]),
      .move_port_i       (tags_hit_port[Operands*p +: Operands]),
      .read_i            (tags_read[p]),
      .read_index_i      (tags_hit_index[Operands*p +: Operands]),
      .evict_valid_i     (tags_evict_valid[p]),
      .evict_port_i      (tags_evict_port[p]),
      .evict_index_i     (tags_evict_index[p]),
      .write_valid_i     (data_write_valid[p]),
      .write_index_i     (tags_op_index[p]),
      .write_mask_i      (tags_op_mask[p]),
      .write_data_i      (data_write_data[p]),
      .spill_i           (lrf_spill_data_valid[p]),
      .spill_data_i      (lrf_spill_data[p]),
      .land_valid_o      (data_land_valid[p]),
      .land_tag_o        (data_land_tag[p]),
      .land_fill_o       (data_land_fill[p]),
      .land_data_o       (data_land_data[Operands*p +: Operands]),
      .evict_data_valid_o(data_evict_data_valid[p]),
      .evict_data_o      (data_evict_data[p])
    );

    rfc_evictions #(
      .Slots     (Slots),
      .IssuePorts(IssuePorts),
      .Depth     (Depth)
    ) u_evictions (
      .clk_i,
      .rst_ni,
      .cfg_i         (cfg_i[CfgW-1]),
      .push_valid_i  (evictions_push_valid[p]),
      .push_slot_i   (evictions_push_slot[p]),
      .push_warp_i   (evictions_push_warp[p]),
      .push_base_i   (evictions_push_base[p]),
      .push_reg_i    (evictions_push_reg[p]),
      .push_mask_i   (evictions_push_mask[p]),
      .room_o        (evictions_room[p]),
      .data_valid_i  (evictions_data_valid[p]),
      .data_i        (evictions_data[p]),
      .offer_valid_o (evictions_offer_valid[p]),
      .offer_warp_o  (evictions_offer_warp[p]),
      .offer_base_o  (evictions_offer_base[p]),
      .offer_reg_o   (evictions_offer_reg[p]),
      .offer_mask_o  (evictions_offer_mask[p]),
      .offer_data_o  (evictions_offer_data[p]),
      .offer_ready_i (results_evict_ready[p]),
      .done_i        (results_evict_done[p]),
      .look_warp_i   (warp_q[p]),
      .look_reg_i    (src_reg_q[Operands*p +: Operands]),
      .look_match_o  (evictions_look_match[p]),
      .result_warp_i (results_result_warp),
      .result_reg_i  (results_result_reg),
      .result_match_o(evictions_result_match[p]),
      .busy_o        (evictions_busy[p])
    );
  end

  assign flush_done_o = flush_done;

  // ------------------------------------------------------------------ results
  always_comb begin
    results_match = '0;
    for (int unsigned p = 0; p < P; p++) results_match = results_match | evictions_result_match[p];
  end

  rfc_results #(
    .IssuePorts(IssuePorts),
    .Active    (Active),
    .Depth     (Depth),
    .Release   (Release)
  ) u_results (
    .clk_i,
    .rst_ni,
    .write_valid_i,
    .write_ready_o,
    .write_i,
    .write_base_i,
    .write_data_i,
    .write_done_o,
    .written_o,
    .note_valid_i    (results_note_valid),
    .note_slot_i     (fills_move_slot),
    .note_reg_i      (dst_q),
    .note_around_i   (around_q),
    .note_past_i     (past_q),
    .slot_valid_i,
    .slot_warp_i,
    .flush_i,
    .op_valid_o      (results_op_valid),
    .op_kill_o       (results_op_kill),
    .op_upper_o      (results_op_upper),
    .op_slot_o       (results_op_slot),
    .op_reg_o        (results_op_reg),
    .op_mask_o       (results_op_mask),
    .op_data_o       (results_op_data),
    .op_private_o    (results_op_private),
    .op_ready_i      (results_op_ready),
    .hold_i          (fills_fill_valid),
    .result_valid_o  (results_result_valid),
    .match_i         (results_match),
    .result_warp_o   (results_result_warp),
    .result_reg_o    (results_result_reg),
    .queue_valid_o   (results_queue_valid),
    .queue_warp_o    (results_queue_warp),
    .queue_reg_o     (results_queue_reg),
    .evict_valid_i   (evictions_offer_valid),
    .evict_ready_o   (results_evict_ready),
    .evict_done_o    (results_evict_done),
    .evict_warp_i    (evictions_offer_warp),
    .evict_base_i    (evictions_offer_base),
    .evict_reg_i     (evictions_offer_reg),
    .evict_mask_i    (evictions_offer_mask),
    .evict_data_i    (evictions_offer_data),
    .mrf_valid_o     (results_mrf_valid),
    .mrf_ready_i     (results_mrf_ready),
    .mrf_done_i      (mrf_write_done),
    .mrf_warp_o      (mrf_write_warp),
    .mrf_base_o      (mrf_write_base),
    .mrf_reg_o       (mrf_write_reg),
    .mrf_mask_o      (mrf_write_mask),
    .mrf_data_o      (mrf_write_data),
    .may_o           (results_may),
    .around_o        (results_around),
    .around_private_o(results_around_private),
    .wait_o          (results_wait)
  );

  // ------------------------------------------------------------------ operands
  front_operands #(
    .IssuePorts(IssuePorts),
    .Tags      (Tags)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .move_valid_i        (leave),
    .move_tag_i          (tag_q),
    .move_hit_i          (hit),
    .land_valid_i        (data_land_valid),
    .land_tag_i          (data_land_tag),
    .land_fill_i         (operands_land_fill),
    .land_data_i         (operands_land_data),
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

  assign dispatch_tag_o = mrf_dispatch_tag;

  // ------------------------------------------------------------------ reads that allocate
  // Nothing is dispatched while a fill is pending.
  assign dispatch_valid_o        = operands_dispatch_valid & {P{~fills_busy}};
  assign dispatch_src_valid_o    = operands_dispatch_src_valid & {Sources{~fills_busy}};
  assign operands_dispatch_ready = dispatch_ready_i & {P{~fills_busy}};
  assign fills_take_valid        = dispatch_valid_o & dispatch_ready_i;

  for (genvar p = 0; p < P; p++) begin : gen_fill
    assign fills_move_slot[p] = SlotW'(P * 32'(slot_q[p]) + p);
    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign fills_move_miss[Operands*p+k] =
          asked[Operands*p+k] ? mask_q[p] & ~hit[Operands*p+k] : '0;
    end
  end

  if (Reads != 0) begin : gen_reads
    rfc_fills #(
      .IssuePorts(IssuePorts),
      .Active    (Active),
      .Tags      (Tags)
    ) u_fills (
      .clk_i,
      .rst_ni,
      .move_valid_i(leave),
      .move_tag_i  (tag_q),
      .move_slot_i (fills_move_slot),
      .move_miss_i (fills_move_miss),
      .move_reg_i  (src_reg_q),
      .take_valid_i(fills_take_valid),
      .take_tag_i  (mrf_dispatch_tag),
      .take_data_i (dispatch_data_o),
      .flush_i,
      .fill_valid_o(fills_fill_valid),
      .fill_slot_o (fills_fill_slot),
      .fill_reg_o  (fills_fill_reg),
      .fill_mask_o (fills_fill_mask),
      .fill_data_o (fills_fill_data),
      .fill_ready_i(tags_op_ready),
      .busy_o      (fills_busy)
    );
  end else begin : gen_no_reads
    for (genvar p = 0; p < P; p++) begin : gen_fill
      assign fills_fill_slot[p] = '0;
      assign fills_fill_reg[p]  = '0;
      assign fills_fill_mask[p] = '0;
      assign fills_fill_data[p] = '0;
    end
    assign fills_fill_valid = '0;
    assign fills_busy       = 1'b0;
  end

  // ------------------------------------------------------------------ power states
  // The write port of the MRF looks not ready to a value whose word is not ON.
  assign results_mrf_ready = mrf_write_ready & power_write_on;
  assign mrf_write_valid   = results_mrf_valid & power_write_on;
  assign power_look_asked  = asked;
  assign power_write_valid = evictions_offer_valid | results_may;
  assign power_taken       = mrf_write_valid & mrf_write_ready;
  assign power_read_valid  = dispatch_valid_o & dispatch_ready_i;

  if (Power != 0) begin : gen_power
    logic [Sources-1:0] look_src;

    for (genvar p = 0; p < P; p++) begin : gen_port
      assign look_src[Operands*p +: Operands] = src_valid_q[p];
    end

    rfc_power #(
      .Warps     (Power),
      .IssuePorts(IssuePorts),
      .Tags      (Tags)
    ) u_power (
      .clk_i,
      .rst_ni,
      .cfg_i        (cfg_i[5 +: $bits(power_straps_t)]),
      .look_valid_i (power_look_valid),
      .look_warp_i  (warp_q),
      .look_tag_i   (tag_q),
      .look_src_i   (look_src),
      .look_asked_i (power_look_asked),
      .look_reg_i   (src_reg_q),
      .look_left_i  (left_q),
      .look_on_o    (power_look_on),
      .move_i       (leave),
      .write_valid_i(power_write_valid),
      .write_evict_i(evictions_offer_valid),
      .write_warp_i (mrf_write_warp),
      .write_reg_i  (mrf_write_reg),
      .write_on_o   (power_write_on),
      .taken_i      (power_taken),
      .done_i       (mrf_write_done),
      .read_valid_i (power_read_valid),
      .read_tag_i   (mrf_dispatch_tag),
      .read_keep_i  (dispatch_keep_i),
      .over_i       (over_i[Power-1:0]),
      .event_o      (power_event_o),
      .wait_event_o (power_wait_event_o)
    );
  end else begin : gen_no_power
    assign power_look_on      = '1;
    assign power_write_on     = '1;
    assign power_event_o      = '0;
    assign power_wait_event_o = '0;
  end

  // ------------------------------------------------------------------ the main register file
  // Fields that the MRF does not read are 0.
  for (genvar p = 0; p < P; p++) begin : gen_write
    assign mrf_write[p] = '{d:       mrf_write_reg[p],
                            warp:    mrf_write_warp[p],
                            mask:    mrf_write_mask[p],
                            default: '0};
  end

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
    .cfg_i               (cfg_i[0]),
    .layout_i            ('0),
    .issue_valid_i       (mrf_issue_valid),
    .issue_ready_o       (mrf_issue_ready),
    .issue_warp_i        (warp_q),
    .issue_base_i        (base_q),
    .issue_mask_i        (mask_q),
    .issue_tag_i         (tag_q),
    .issue_src_valid_i   (mrf_issue_src_valid),
    .issue_src_reg_i     (src_reg_q),
    .write_valid_i       (mrf_write_valid),
    .write_ready_o       (mrf_write_ready),
    .write_i             (mrf_write),
    .write_base_i        (mrf_write_base),
    .write_data_i        (mrf_write_data),
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
  always_comb begin
    event_o                 = '0;
    count_event_o           = '0;
    extra_event_o           = '0;
    event_o.tag_check          = 2'($countones(leave));
    event_o.stall_eviction     = 2'($countones(stall & ~behind));
    event_o.stall_collector    = 2'($countones(mrf_issue_valid & ~mrf_issue_ready));
    count_event_o.waiting      = 2'($countones(results_wait));
    count_event_o.stall_result = 2'($countones(behind));
    for (int unsigned p = 0; p < P; p++) begin
      event_o.hit         = event_o.hit + 3'(tags_event[p].hit);
      event_o.partial     = event_o.partial + 3'(tags_event[p].partial);
      event_o.miss        = event_o.miss + 3'(tags_event[p].miss);
      event_o.read_groups = event_o.read_groups + 6'(tags_event[p].read_groups);
      if (leave[p] && !private_q[p]) begin
        event_o.read_shared_groups = event_o.read_shared_groups + 6'(tags_event[p].read_groups);
        for (int unsigned k = 0; k < Operands; k++) begin
          if (asked[Operands*p+k]) begin
            event_o.mrf_shared_groups = event_o.mrf_shared_groups + 6'(active_groups(mask_q[p]));
          end
        end
      end
      // The value written is a fill, a result, or an old LRF value that a private unit's result spills.
      if (fills_fill_valid[p]) begin
        extra_event_o.fill_groups = extra_event_o.fill_groups + 5'(tags_event[p].write_groups);
      end else begin
        event_o.write_groups    = event_o.write_groups + 5'(tags_event[p].write_groups);
        count_event_o.write_hit = count_event_o.write_hit + 2'(tags_event[p].write_hit);
        count_event_o.allocate  = count_event_o.allocate + 2'(tags_event[p].allocate);
        if (!results_op_private[p]) begin
          event_o.write_shared_groups = event_o.write_shared_groups +
                                        5'(tags_event[p].write_groups);
        end
      end
      if (results_around[p]) begin
        event_o.around_groups = event_o.around_groups + 5'(active_groups(mrf_write_mask[p]));
        if (!results_around_private[p]) begin
          event_o.around_shared_groups = event_o.around_shared_groups +
                                         5'(active_groups(mrf_write_mask[p]));
        end
      end
      event_o.evict_groups = event_o.evict_groups + 5'(tags_event[p].evict_groups);
      count_event_o.evict  = count_event_o.evict + 2'(tags_event[p].evict);
      count_event_o.dead   = count_event_o.dead + 2'(tags_event[p].dead);
      count_event_o.flush  = count_event_o.flush + 2'(tags_event[p].flush);
      // Only results around the cache count: a result that goes into the LRF takes lanes away too.
      if (results_op_kill[p]) begin
        count_event_o.kill = count_event_o.kill + 2'(tags_event[p].kill);
      end
      count_event_o.marked = count_event_o.marked + 3'(tags_event[p].marked);
      extra_event_o.lrf_read_groups = extra_event_o.lrf_read_groups + 5'(lrf_event[p].read_groups);
      extra_event_o.lrf_write_groups = extra_event_o.lrf_write_groups +
                                       5'(lrf_event[p].write_groups);
      extra_event_o.lrf_spill_groups = extra_event_o.lrf_spill_groups +
                                       5'(lrf_event[p].spill_groups);
      extra_event_o.lrf_flush_groups = extra_event_o.lrf_flush_groups +
                                       5'(lrf_event[p].flush_groups);
      extra_event_o.lrf_dead = extra_event_o.lrf_dead + 2'(lrf_event[p].dead);
      extra_event_o.lrf_same = extra_event_o.lrf_same + 2'(lrf_event[p].same);
      extra_event_o.lrf_past = extra_event_o.lrf_past + 2'(lrf_event[p].past);
      extra_event_o.lrf_marked = extra_event_o.lrf_marked + 2'(lrf_event[p].marked);
    end
  end

endmodule

// The interface between the pipeline and the register file.
//
// Requests an instruction's operands from a provider, keeps the rest of the instruction meanwhile, and
// passes it on together with its operands. The provider is the register-file design that `Organisation`
// selects (docs/designs.md). The provider carries only a tag, the number of the instruction's place in this
// stage, because the provider chooses which instruction leaves first.
`include "gpurf_assert.svh"

module operand_stage
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned Active = 0,                       // slots of the scheduler
  parameter int unsigned Organisation = OrganisationMrf,   // organisation_e
  // The struct of sizes of the selected design. Some designs have no sizes.
  // verilator lint_off UNUSEDPARAM
  parameter int unsigned Sizes = 0,
  // Only some designs can have unified banks.
  parameter int unsigned Unified = 0,                      // 1, 2: the banks serve memory too
  // verilator lint_on UNUSEDPARAM
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Tags = Collectors + front_places(Organisation, IssuePorts),
  localparam int unsigned TagW = $clog2(Tags),
  localparam int unsigned A = (Active > 1) ? Active : 1,
  localparam int unsigned SlotW = (A > 1) ? $clog2(A) : 1,
  localparam int unsigned RowsW = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // A design leaves inputs unused that serve only other designs.
  // verilator lint_off UNUSEDSIGNAL
  input  logic                           cfg_i,         // order of a bank's reads
  input  logic [DesignCfgW-1:0]          design_cfg_i,  // the design's straps
  // verilator lint_on UNUSEDSIGNAL
  input  logic [RowsW-1:0]               rows_i,  // rows of the register file that a warp has
  // verilator lint_off UNUSEDSIGNAL
  input  register_layout_t               layout_i,  // where registers are, if they are allocated one by one
  // verilator lint_on UNUSEDSIGNAL

  // issue
  input  logic [IssuePorts-1:0]          issue_valid_i,
  output logic [IssuePorts-1:0]          issue_ready_o,
  input  logic [WarpW-1:0]               issue_warp_i           [IssuePorts],
  input  logic [Lanes-1:0]               issue_mask_i           [IssuePorts],
  input  instruction_t                   issue_instruction_i    [IssuePorts],
  // verilator lint_off UNUSEDSIGNAL
  input  logic [SlotW-1:0]               issue_slot_i           [IssuePorts],
  input  logic [IssuePorts-1:0]          issue_end_i,      // the issued instruction ends its strand
  // verilator lint_on UNUSEDSIGNAL

  // results
  input  logic [IssuePorts-1:0]          write_valid_i,
  output logic [IssuePorts-1:0]          write_ready_o,
  input  write_t                         write_i                [IssuePorts],
  input  logic [DataW-1:0]               write_data_i           [IssuePorts],
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0]          write_next_i,     // the head of its warp reads the register

  // slots of the two-level scheduler
  input  logic [A-1:0]                   slot_valid_i,
  input  logic [WarpW-1:0]               slot_warp_i            [A],
  input  logic [A-1:0]                   flush_i,          // the slot is to be emptied
  input  logic [A-1:0]                   drop_i,           // the slot is emptied without write-back
  // verilator lint_on UNUSEDSIGNAL
  output logic [A-1:0]                   flush_done_o,
  output logic [A-1:0]                   void_o,           // a warp that leaves this slot loses no value
  output logic [Upper-1:0]               wait_o                 [A],  // places with a pending value

  // candidate: the instruction that probably issues next; candidate_issue_o: an operand is read for it
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0]          candidate_valid_i,
  input  logic [WarpW-1:0]               candidate_warp_i       [IssuePorts],
  input  roles_t                         candidate_roles_i      [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL
  output logic [IssuePorts-1:0]          candidate_issue_o,

  // for a design that keeps power states itself. keep: another instruction accesses the register of this
  // dispatched source; over: warps that have ended
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Operands*IssuePorts-1:0] dispatch_keep_i,
  input  logic [2**WarpW-1:0]            over_i,
  // verilator lint_on UNUSEDSIGNAL
  output power_event_t                   power_event_o,
  output power_wait_event_t              power_wait_event_o,

  // a grid is about to begin
  // verilator lint_off UNUSEDSIGNAL
  input  logic                           clear_i,
  input  logic                           spare_i,          // the last row belongs to no warp
  // verilator lint_on UNUSEDSIGNAL

  // results that have been written to their bank
  output logic [IssuePorts-1:0]          write_done_o,
  output written_t                       written_o              [IssuePorts],

  // dispatch
  output logic [IssuePorts-1:0]          dispatch_valid_o,
  input  logic [IssuePorts-1:0]          dispatch_ready_i,
  output logic [WarpW-1:0]               dispatch_warp_o        [IssuePorts],
  output logic [Lanes-1:0]               dispatch_mask_o        [IssuePorts],
  output instruction_t                   dispatch_instruction_o [IssuePorts],
  output logic [Operands*IssuePorts-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]               dispatch_data_o        [Operands*IssuePorts],

  output mrf_event_t                     event_o,

  // accesses of memory, with unified banks: one bit for each cluster of each column. Element 8b + g has entry and
  // bytes of bank g of column b; memory_data_column_i is the column from which each word was read
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Clusters-1:0]            memory_read_i          [Columns],
  input  logic [EntryW-1:0]              memory_read_entry_i    [UnifiedBanks],
  input  logic [Clusters-1:0]            memory_write_i         [Columns],
  input  logic [EntryW-1:0]              memory_write_entry_i   [UnifiedBanks],
  input  logic [ClusterBytes-1:0]        memory_write_bytes_i   [UnifiedBanks],
  input  logic [DataW-1:0]               memory_write_data_i,
  input  logic [ColumnW-1:0]             memory_data_column_i   [WordPlaces],
  // verilator lint_on UNUSEDSIGNAL
  output logic [Columns-1:0]             memory_read_ready_o,
  output logic [Clusters-1:0]            memory_write_ready_o   [Columns],
  output logic [DataW-1:0]               memory_data_o,

  output logic [DesignEventW-1:0]        design_event_o         [DesignEvents]
);

  // With paired rows an even warp and the next warp use the same rows.
  localparam logic [WarpW-1:0] WarpMask = {{WarpW-1{1'b1}}, !pairs_rows(Organisation)};

  // the instructions in the provider, by place
  logic [Tags-1:0] slot_busy_q;
  instruction_t    instruction_q [Tags];

  // requests to the provider
  logic [EntryW-1:0]              issue_base    [IssuePorts];
  logic [TagW-1:0]                issue_tag     [IssuePorts];
  logic [Operands*IssuePorts-1:0] issue_src_valid;
  logic [RegW-1:0]                issue_src_reg [Operands*IssuePorts];
  logic [EntryW-1:0]              write_base    [IssuePorts];
  // verilator lint_off UNUSEDSIGNAL
  logic [EntryW-1:0]              slot_base     [A];  // first row of the slot's warp
  // verilator lint_on UNUSEDSIGNAL

  // candidates and hints, for a design that takes them
  // verilator lint_off UNUSEDSIGNAL
  logic [EntryW-1:0]              candidate_base    [IssuePorts];
  logic [Operands*IssuePorts-1:0] candidate_src_valid;
  logic [RegW-1:0]                candidate_src_reg [Operands*IssuePorts];
  logic [IssuePorts-1:0]          hint_valid;         // the register is dead after this instruction
  logic [EntryW-1:0]              hint_base         [IssuePorts];
  logic [RegW-1:0]                hint_reg          [IssuePorts];
  // verilator lint_on UNUSEDSIGNAL

  // answers of the provider
  logic [IssuePorts-1:0]          issue_ready;
  logic [IssuePorts-1:0]          dispatch_valid;
  logic [TagW-1:0]                dispatch_tag  [IssuePorts];

  logic [IssuePorts-1:0] slot_free;   // there is a free place for the port's instruction
  logic [IssuePorts-1:0] issued;
  logic [IssuePorts-1:0] dispatched;

  // Port p gets the (p+1)-th lowest free place, even if the lower port has no instruction.
  always_comb begin : issue_place
    logic [Tags-1:0] idle;
    idle = ~slot_busy_q;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      slot_free[p] = idle != '0;
      issue_tag[p] = '0;
      for (int unsigned c = Tags; c > 0; c--) begin
        if (idle[c-1]) issue_tag[p] = TagW'(c - 1);
      end
      idle[issue_tag[p]] = 1'b0;
    end
  end

  // Dropping the upper bits is correct: Depth is a power of two and rows wrap, or all rows of warps are below Depth.
  function automatic logic [EntryW-1:0] first_row(logic [WarpW-1:0] warp);
    logic [WarpW-1:0] counted;
    counted = warp & WarpMask;
    return EntryW'(32'(counted) * 32'(rows_i));
  endfunction

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
    assign issue_base[p] = first_row(issue_warp_i[p]);
    assign write_base[p] = first_row(write_i[p].warp);

    assign issue_src_reg[Operands*p]   = issue_instruction_i[p].roles.a;
    assign issue_src_reg[Operands*p+1] = issue_instruction_i[p].roles.b;
    assign issue_src_reg[Operands*p+2] = issue_instruction_i[p].roles.c;
    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign issue_src_valid[Operands*p+k] =
          issue_valid_i[p] && issue_src_reg[Operands*p+k] != NoReg;
    end

    assign dispatch_instruction_o[p] = instruction_q[dispatch_tag[p]];
  end

  for (genvar s = 0; s < A; s++) begin : gen_slot
    assign slot_base[s] = first_row(slot_warp_i[s]);
  end

  if (Organisation == OrganisationHrf) begin : gen_hrf
    localparam hrf_sizes_t HrfSizes = Sizes[$bits(hrf_sizes_t)-1:0];

    hrf_event_t          hrf_event;
    hrf_count_event_t    hrf_count_event;
    logic [Parities-1:0] slot_valid;
    logic [WarpW-1:0]    slot_warp  [Parities];
    logic [EntryW-1:0]   slot_start [Parities];
    logic [Parities-1:0] flush;
    logic [Parities-1:0] drop;
    // verilator lint_off UNUSEDSIGNAL
    logic [Parities-1:0] flush_done;
    // verilator lint_on UNUSEDSIGNAL

    if (HrfSizes.buffer_entries > 0) begin : gen_slots
      assign slot_valid   = slot_valid_i;
      assign slot_warp    = slot_warp_i;
      assign slot_start   = slot_base;
      assign flush        = flush_i;
      assign drop         = drop_i;
      assign flush_done_o = flush_done;
    end else begin : gen_no_slots
      assign slot_valid   = '0;
      assign slot_warp    = '{default: '0};
      assign slot_start   = '{default: '0};
      assign flush        = '0;
      assign drop         = '0;
      assign flush_done_o = flush_i;
    end

    hrf #(
      .Collectors   (Collectors),
      .Depth        (Depth),
      .TagW         (TagW),
      .BufferEntries(32'(HrfSizes.buffer_entries)),
      .Loads        (32'(HrfSizes.loads))
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i               (design_cfg_i[$bits(hrf_straps_t)-1:0]),
      .issue_valid_i       (issue_valid_i[0]),
      .issue_ready_o       (issue_ready[0]),
      .issue_warp_i        (issue_warp_i[0]),
      .issue_base_i        (issue_base[0]),
      .issue_mask_i        (issue_mask_i[0]),
      .issue_tag_i         (issue_tag[0]),
      .issue_src_valid_i   (issue_src_valid),
      .issue_src_reg_i     (issue_src_reg),
      .write_valid_i       (write_valid_i[0]),
      .write_ready_o       (write_ready_o[0]),
      .write_i             (write_i[0]),
      .write_base_i        (write_base[0]),
      .write_data_i        (write_data_i[0]),
      .write_done_o        (write_done_o[0]),
      .written_o           (written_o[0]),
      .dispatch_valid_o    (dispatch_valid[0]),
      .dispatch_ready_i    (dispatch_ready_i[0]),
      .dispatch_warp_o     (dispatch_warp_o[0]),
      .dispatch_mask_o     (dispatch_mask_o[0]),
      .dispatch_tag_o      (dispatch_tag[0]),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .slot_valid_i        (slot_valid),
      .slot_warp_i         (slot_warp),
      .slot_base_i         (slot_start),
      .flush_i             (flush),
      .drop_i              (drop),
      .flush_done_o        (flush_done),
      .event_o             (hrf_event),
      .count_event_o       (hrf_count_event),
      .mrf_event_o         (event_o)
    );

    assign design_event_o[0] = DesignEventW'(hrf_event);
    assign design_event_o[1] = DesignEventW'(hrf_count_event);
    assign design_event_o[2] = '0;
  end else if (Organisation == OrganisationSteal) begin : gen_steal
    steal_event_t       steal_event;
    steal_place_event_t place_event;

    for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
      assign candidate_base[p]               = first_row(candidate_warp_i[p]);
      assign candidate_src_reg[Operands*p]   = candidate_roles_i[p].a;
      assign candidate_src_reg[Operands*p+1] = candidate_roles_i[p].b;
      assign candidate_src_reg[Operands*p+2] = candidate_roles_i[p].c;
      for (genvar k = 0; k < Operands; k++) begin : gen_source
        assign candidate_src_valid[Operands*p+k] =
            candidate_valid_i[p] && candidate_src_reg[Operands*p+k] != NoReg;
      end

      // A hint for a register beyond the warp's rows is ignored: the word belongs to another warp.
      assign hint_reg[p]   = ~dispatch_instruction_o[p].ctl[ControlFreeRegister +: RegW];
      assign hint_base[p]  = first_row(dispatch_warp_o[p]);
      assign hint_valid[p] = dispatched[p] && hint_reg[p] != '1 &&
                             32'(hint_reg[p]) / Banks < 32'(rows_i);
    end

    steal #(
      .Banks     (Banks),
      .Collectors(Collectors),
      .IssuePorts(IssuePorts),
      .Depth     (Depth),
      .TagW      (TagW)
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i                ({design_cfg_i[$bits(steal_straps_t)-1:0], cfg_i}),
      .issue_valid_i,
      .issue_ready_o        (issue_ready),
      .issue_warp_i,
      .issue_base_i         (issue_base),
      .issue_mask_i,
      .issue_tag_i          (issue_tag),
      .issue_src_valid_i    (issue_src_valid),
      .issue_src_reg_i      (issue_src_reg),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .write_base_i         (write_base),
      .write_data_i,
      .write_next_i,
      .write_done_o,
      .written_o,
      .dispatch_valid_o     (dispatch_valid),
      .dispatch_ready_i,
      .dispatch_warp_o,
      .dispatch_mask_o,
      .dispatch_tag_o       (dispatch_tag),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .candidate_valid_i,
      .candidate_warp_i,
      .candidate_base_i     (candidate_base),
      .candidate_src_valid_i(candidate_src_valid),
      .candidate_src_reg_i  (candidate_src_reg),
      .steal_o              (candidate_issue_o),
      .clear_i,
      .spare_i,
      .hint_valid_i         (hint_valid),
      .hint_base_i          (hint_base),
      .hint_reg_i           (hint_reg),
      .event_o,
      .steal_event_o        (steal_event),
      .place_event_o        (place_event)
    );

    // The design keeps nothing for a slot, so each flush is done at once.
    assign flush_done_o      = flush_i;
    assign design_event_o[0] = DesignEventW'(steal_event);
    assign design_event_o[1] = DesignEventW'(place_event);
    assign design_event_o[2] = '0;
  end else if (Organisation == OrganisationMrf) begin : gen_mrf
    mrf #(
      .Banks     (Banks),
      .DualPort  (DualPort),
      .Collectors(Collectors),
      .IssuePorts(IssuePorts),
      .Depth     (Depth),
      .TagW      (TagW),
      .Places    (32'(has_places(Organisation, Sizes))),
      .Unified   (Unified)
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i,
      .layout_i,
      .issue_valid_i,
      .issue_ready_o       (issue_ready),
      .issue_warp_i,
      .issue_base_i        (issue_base),
      .issue_mask_i,
      .issue_tag_i         (issue_tag),
      .issue_src_valid_i   (issue_src_valid),
      .issue_src_reg_i     (issue_src_reg),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .write_base_i        (write_base),
      .write_data_i,
      .write_done_o,
      .written_o,
      .dispatch_valid_o    (dispatch_valid),
      .dispatch_ready_i,
      .dispatch_warp_o,
      .dispatch_mask_o,
      .dispatch_tag_o      (dispatch_tag),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .event_o,
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

    // The design keeps nothing for a slot, so each flush is done at once.
    assign flush_done_o   = flush_i;
    assign design_event_o = '{default: '0};
  end else if (Organisation == OrganisationMrfIdeal) begin : gen_mrf_ideal
    mrf_ideal #(
      .Banks     (Banks),
      .Collectors(Collectors),
      .IssuePorts(IssuePorts),
      .Depth     (Depth),
      .TagW      (TagW)
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i,
      .layout_i,
      .issue_valid_i,
      .issue_ready_o       (issue_ready),
      .issue_warp_i,
      .issue_base_i        (issue_base),
      .issue_mask_i,
      .issue_tag_i         (issue_tag),
      .issue_src_valid_i   (issue_src_valid),
      .issue_src_reg_i     (issue_src_reg),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .write_base_i        (write_base),
      .write_data_i,
      .write_done_o,
      .written_o,
      .dispatch_valid_o    (dispatch_valid),
      .dispatch_ready_i,
      .dispatch_warp_o,
      .dispatch_mask_o,
      .dispatch_tag_o      (dispatch_tag),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .event_o
    );

    // The design keeps nothing for a slot, so each flush is done at once.
    assign flush_done_o   = flush_i;
    assign design_event_o = '{default: '0};
  end else if (Organisation == OrganisationRfc) begin : gen_rfc
    localparam rfc_sizes_t RfcSizes = Sizes[$bits(rfc_sizes_t)-1:0];

    rfc_event_t       rfc_event;
    rfc_count_event_t rfc_count_event;
    rfc_extra_event_t rfc_extra_event;

    // Further inputs of the cache, from the instruction.
    logic [Operands*IssuePorts-1:0] issue_last;
    logic [RegW-1:0]                issue_dst     [IssuePorts];
    logic [IssuePorts-1:0]          issue_long;
    logic [IssuePorts-1:0]          issue_bypass;
    logic [IssuePorts-1:0]          issue_past;
    logic [IssuePorts-1:0]          issue_private;
    logic [Operands-1:0][RegisterPowerW-1:0] sources_state [IssuePorts];
    logic [RegisterPowerW-1:0]      issue_left    [Operands*IssuePorts];

    for (genvar p = 0; p < IssuePorts; p++) begin : gen_issue
      assign issue_last[Operands*p +: Operands] =
          issue_instruction_i[p].ctl[ControlLastRead +: Operands];
      assign issue_dst[p]     = issue_instruction_i[p].roles.d;
      assign issue_long[p]    = long_latency(issue_instruction_i[p].op, issue_dst[p]);
      assign issue_bypass[p]  = issue_instruction_i[p].ctl[ControlRfcBypass];
      assign issue_past[p]    = issue_instruction_i[p].ctl[ControlLrfBypass];
      assign issue_private[p] = is_private(issue_instruction_i[p].roles.unit);
      assign sources_state[p] = sources_left(issue_instruction_i[p].roles, issue_instruction_i[p].ctl);
      for (genvar k = 0; k < Operands; k++) begin : gen_source
        assign issue_left[Operands*p+k] = sources_state[p][k];
      end
    end

    rfc #(
      .Banks     (Banks),
      .DualPort  (DualPort),
      .Collectors(Collectors),
      .IssuePorts(IssuePorts),
      .Depth     (Depth),
      .Tags      (Tags),
      .Active    (Active),
      .Entries   (32'(RfcSizes.entries)),
      .Lrf       (32'(RfcSizes.lrf)),
      .Reads     (32'(RfcSizes.reads)),
      .Release   (32'(RfcSizes.released)),
      .Power     (32'(RfcSizes.power)),
      .Unified   (Unified)
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i               ({design_cfg_i[$bits(rfc_straps_t)-1:0], cfg_i}),
      .issue_valid_i,
      .issue_ready_o       (issue_ready),
      .issue_warp_i,
      .issue_base_i        (issue_base),
      .issue_mask_i,
      .issue_tag_i         (issue_tag),
      .issue_src_valid_i   (issue_src_valid),
      .issue_src_reg_i     (issue_src_reg),
      .issue_slot_i,
      .issue_last_i        (issue_last),
      .issue_dst_i         (issue_dst),
      .issue_long_i        (issue_long),
      .issue_bypass_i      (issue_bypass),
      .issue_past_i        (issue_past),
      .issue_private_i     (issue_private),
      .issue_left_i        (issue_left),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .write_base_i        (write_base),
      .write_data_i,
      .write_done_o,
      .written_o,
      .dispatch_valid_o    (dispatch_valid),
      .dispatch_ready_i,
      .dispatch_warp_o,
      .dispatch_mask_o,
      .dispatch_tag_o      (dispatch_tag),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .slot_valid_i,
      .slot_warp_i,
      .slot_base_i         (slot_base),
      .flush_i,
      .drop_i,
      .flush_done_o,
      .dispatch_keep_i,
      .over_i,
      .power_event_o,
      .power_wait_event_o,
      .event_o             (rfc_event),
      .count_event_o       (rfc_count_event),
      .extra_event_o       (rfc_extra_event),
      .mrf_event_o         (event_o),
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

    assign design_event_o[0] = DesignEventW'(rfc_event);
    assign design_event_o[1] = DesignEventW'(rfc_count_event);
    assign design_event_o[2] = DesignEventW'(rfc_extra_event);
  end else if (Organisation == OrganisationHierarchy) begin : gen_hierarchy
    localparam hierarchy_sizes_t HierarchySizes = Sizes[$bits(hierarchy_sizes_t)-1:0];

    hierarchy_event_t       hierarchy_event;
    hierarchy_count_event_t hierarchy_count_event;

    // Further inputs of the hierarchy, from the instruction.
    logic [LevelW-1:0]     issue_src_level [Operands*IssuePorts];
    logic [RegW-1:0]       issue_dst       [IssuePorts];
    logic [LevelW-1:0]     issue_dst_level [IssuePorts];
    logic [IssuePorts-1:0] issue_long;
    logic [IssuePorts-1:0] issue_private;

    for (genvar p = 0; p < IssuePorts; p++) begin : gen_issue
      for (genvar k = 0; k < Operands; k++) begin : gen_level
        assign issue_src_level[Operands*p+k] =
            issue_instruction_i[p].ctl[ControlSourceLevel+LevelW*k +: LevelW];
      end
      assign issue_dst_level[p] = issue_instruction_i[p].ctl[ControlResultLevel +: LevelW];
      assign issue_dst[p]     = issue_instruction_i[p].roles.d;
      assign issue_long[p]    = long_latency(issue_instruction_i[p].op, issue_dst[p]);
      assign issue_private[p] = is_private(issue_instruction_i[p].roles.unit);
    end

    hierarchy #(
      .Banks     (Banks),
      .DualPort  (DualPort),
      .Collectors(Collectors),
      .IssuePorts(IssuePorts),
      .Depth     (Depth),
      .Tags      (Tags),
      .Active    (Active),
      .Entries   (32'(HierarchySizes.entries)),
      .LrfBanks  (32'(HierarchySizes.lrf_banks)),
      .Unified   (Unified)
    ) u_provider (
      .clk_i,
      .rst_ni,
      .cfg_i,
      .issue_valid_i,
      .issue_ready_o       (issue_ready),
      .issue_warp_i,
      .issue_base_i        (issue_base),
      .issue_mask_i,
      .issue_tag_i         (issue_tag),
      .issue_src_valid_i   (issue_src_valid),
      .issue_src_reg_i     (issue_src_reg),
      .issue_slot_i,
      .issue_src_level_i   (issue_src_level),
      .issue_dst_i         (issue_dst),
      .issue_dst_level_i   (issue_dst_level),
      .issue_long_i        (issue_long),
      .issue_private_i     (issue_private),
      .issue_end_i,
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .write_base_i        (write_base),
      .write_data_i,
      .write_done_o,
      .written_o,
      .dispatch_valid_o    (dispatch_valid),
      .dispatch_ready_i,
      .dispatch_warp_o,
      .dispatch_mask_o,
      .dispatch_tag_o      (dispatch_tag),
      .dispatch_src_valid_o,
      .dispatch_data_o,
      .slot_valid_i,
      .slot_warp_i,
      .flush_i,
      .flush_done_o,
      .void_o,
      .wait_o,
      .event_o             (hierarchy_event),
      .count_event_o       (hierarchy_count_event),
      .mrf_event_o         (event_o),
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

    assign design_event_o[0] = DesignEventW'(hierarchy_event);
    assign design_event_o[1] = DesignEventW'(hierarchy_count_event);
    assign design_event_o[2] = '0;
  end

  // Only with places that the compiler manages can a warp lose a value when it leaves its slot, or can a
  // place be pending.
  if (Organisation != OrganisationHierarchy) begin : gen_no_levels
    assign void_o = '1;
    assign wait_o = '{default: '0};
  end

  if (!keeps_states(Organisation)) begin : gen_no_states
    assign power_event_o      = '0;
    assign power_wait_event_o = '0;
  end

  // The other designs have banks for registers only and serve no memory accesses.
  if (!has_unified_banks(Organisation)) begin : gen_no_memory
    assign memory_read_ready_o  = '0;
    assign memory_write_ready_o = '{default: '0};
    assign memory_data_o        = '0;
  end

  // A design that takes no candidates reads no operand early, and ignores hints.
  if (!takes_candidates(Organisation)) begin : gen_no_candidates
    assign candidate_base      = '{default: '0};
    assign candidate_src_valid = '0;
    assign candidate_src_reg   = '{default: '0};
    assign hint_valid          = '0;
    assign hint_base           = '{default: '0};
    assign hint_reg            = '{default: '0};
    assign candidate_issue_o   = '0;
  end

  assign issue_ready_o    = issue_ready;
  assign dispatch_valid_o = dispatch_valid;
  assign issued           = issue_valid_i & issue_ready;
  assign dispatched       = dispatch_valid & dispatch_ready_i;

  // A place is filled only while it is free, and freed only while it is busy: both never hit the same place.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_busy_q <= '0;
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (issued[p])     slot_busy_q[issue_tag[p]]    <= 1'b1;
        if (dispatched[p]) slot_busy_q[dispatch_tag[p]] <= 1'b0;
      end
    end
  end

  // The instructions have no reset: they mean nothing outside the busy places.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (issued[p]) instruction_q[issue_tag[p]] <= issue_instruction_i[p];
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT(place_for_each_instruction, !issue_ready[p] || slot_free[p],
                  "the provider takes an instruction for which there is no place")
    `GPURF_ASSERT(dispatched_is_held, !dispatch_valid[p] || slot_busy_q[dispatch_tag[p]],
                  "the provider offers an instruction that no place holds")
  end

endmodule

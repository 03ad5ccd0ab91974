// Fills: reads that miss allocate an entry in the cache.
//
// Operands that missed in the cache are written into it when their instruction is dispatched
// (hierarchy thesis, 5.2 and figure 5.8, "reads allocate"). They are clean: the main register file
// has the same value. The missing lanes are noted by tag when the instruction leaves T. At dispatch they
// go, with their data, into the latch of the dispatch port, and from there into the caches, one
// source per cycle and cache. Nothing is dispatched while a latch holds a fill, so that no
// result of a younger instruction of the same warp can come first.
`include "gpurf_assert.svh"

module rfc_fills
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Tags = 9,
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned Slots = Active / IssuePorts,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned TagW = $clog2(Tags)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // an instruction leaves T
  input  logic [IssuePorts-1:0] move_valid_i,
  input  logic [TagW-1:0]       move_tag_i   [IssuePorts],
  input  logic [SlotW-1:0]      move_slot_i  [IssuePorts],
  input  logic [Lanes-1:0]      move_miss_i  [Operands*IssuePorts],  // lanes from the MRF
  input  logic [RegW-1:0]       move_reg_i   [Operands*IssuePorts],

  // an instruction is dispatched
  input  logic [IssuePorts-1:0] take_valid_i,
  input  logic [TagW-1:0]       take_tag_i   [IssuePorts],
  input  logic [DataW-1:0]      take_data_i  [Operands*IssuePorts],

  // slots that are emptied
  input  logic [Active-1:0]     flush_i,

  // to the caches
  output logic [IssuePorts-1:0] fill_valid_o,
  output logic [LocalW-1:0]     fill_slot_o  [IssuePorts],
  output logic [RegW-1:0]       fill_reg_o   [IssuePorts],
  output logic [Lanes-1:0]      fill_mask_o  [IssuePorts],
  output logic [DataW-1:0]      fill_data_o  [IssuePorts],
  input  logic [IssuePorts-1:0] fill_ready_i,

  output logic                  busy_o
);

  localparam int unsigned Sources = Operands * IssuePorts;
  localparam int unsigned Notes = Operands * Tags;
  localparam int unsigned NoteW = $clog2(Notes);

  // by tag: what an instruction will have read from the main register file
  logic [SlotW-1:0]    note_slot_q [Tags];
  logic [RegW-1:0]     note_reg_q  [Notes];
  logic [Lanes-1:0]    note_miss_q [Notes];

  // the latches of the dispatch ports
  logic [Operands-1:0] pending_q   [IssuePorts];
  logic [SlotW-1:0]    slot_q      [IssuePorts];
  logic [RegW-1:0]     reg_q       [Sources];
  logic [Lanes-1:0]    mask_q      [Sources];
  logic [DataW-1:0]    data_q      [Sources];

  logic [2**SlotW-1:0] flush;                    // flush_i, padded to all numbers that a slot field can have
  logic [Operands-1:0] eligible    [IssuePorts];
  logic [Sources-1:0]  chosen      [IssuePorts];  // [c]: source that is offered to cache c
  logic [Sources-1:0]  done;                     // sources whose fill is performed

  // Whether the tag exists. The comparison is one bit wider than a tag, because Tags may be 2**TagW.
  function automatic logic exists(logic [TagW-1:0] tag);
    return {1'b0, tag} < (TagW + 1)'(Tags);
  endfunction

  function automatic logic [NoteW-1:0] note_of(logic [TagW-1:0] tag, int unsigned source);
    return NoteW'(Operands * 32'(tag) + source);
  endfunction

  assign flush = (2**SlotW)'(flush_i);

  // ------------------------------------------------------------------ notes
  // The notes have no reset: they have no meaning before an instruction leaves T.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (move_valid_i[p] && exists(move_tag_i[p])) begin
        note_slot_q[move_tag_i[p]] <= move_slot_i[p];
        for (int unsigned k = 0; k < Operands; k++) begin
          note_reg_q[NoteW'(Operands * 32'(move_tag_i[p]) + k)]  <= move_reg_i[Operands*p+k];
          note_miss_q[NoteW'(Operands * 32'(move_tag_i[p]) + k)] <= move_miss_i[Operands*p+k];
        end
      end
    end
  end

  // ------------------------------------------------------------------ what the caches are offered
  always_comb begin
    busy_o = 1'b0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      eligible[p] = flush[slot_q[p]] ? '0 : pending_q[p];
      if (pending_q[p] != '0) busy_o = 1'b1;
    end
  end

  always_comb begin
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      chosen[c] = '0;
      // The loop runs downwards, so that the lowest remains.
      for (int unsigned i = Sources; i > 0; i--) begin
        if (eligible[(i-1)/Operands][(i-1)%Operands] &&
            32'(slot_q[(i-1)/Operands]) % IssuePorts == c) begin
          chosen[c] = Sources'(1) << (i - 1);
        end
      end
      fill_valid_o[c] = chosen[c] != '0;
    end
  end

  for (genvar c = 0; c < IssuePorts; c++) begin : gen_cache
    always_comb begin
      fill_slot_o[c] = '0;
      fill_reg_o[c]  = '0;
      fill_mask_o[c] = '0;
      fill_data_o[c] = '0;
      if (fill_valid_o[c]) begin
        for (int unsigned i = 0; i < Sources; i++) begin
          if (chosen[c][i]) begin
            fill_slot_o[c] = LocalW'(32'(slot_q[i/Operands]) / IssuePorts);
            fill_reg_o[c]  = reg_q[i];
            fill_mask_o[c] = mask_q[i];
            fill_data_o[c] = data_q[i];
          end
        end
      end
    end
  end

  always_comb begin
    done = '0;
    for (int unsigned c = 0; c < IssuePorts; c++) begin
      if (fill_ready_i[c]) done = done | chosen[c];
    end
  end

  // ------------------------------------------------------------------ the latches
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_latch
    logic                takes;
    logic [Operands-1:0] missed;  // sources that become pending

    assign takes = take_valid_i[p] && exists(take_tag_i[p]);

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign missed[k] = takes && note_miss_q[note_of(take_tag_i[p], k)] != '0;

      // The payload has no reset: it has no meaning unless a fill is pending.
      always_ff @(posedge clk_i) begin
        if (missed[k]) begin
          reg_q[Operands*p+k]  <= note_reg_q[note_of(take_tag_i[p], k)];
          mask_q[Operands*p+k] <= note_miss_q[note_of(take_tag_i[p], k)];
          data_q[Operands*p+k] <= take_data_i[Operands*p+k];
        end
      end
    end

    // A slot that is being emptied has lost its warp: its pending fills are discarded.
    always_ff @(posedge clk_i) begin
      if (!rst_ni)              pending_q[p] <= '0;
      else if (take_valid_i[p]) pending_q[p] <= missed;
      else                      pending_q[p] <= eligible[p] & ~done[Operands*p +: Operands];
    end

    always_ff @(posedge clk_i) begin
      if (takes) slot_q[p] <= note_slot_q[take_tag_i[p]];
    end

    `GPURF_ASSERT_WHEN(take_when_empty, take_valid_i[p], !busy_o,
                       "an instruction is dispatched while a fill is pending")
    `GPURF_ASSERT_WHEN(slot_is_there, pending_q[p] != '0, 32'(slot_q[p]) < Active,
                       "a fill is of a slot that does not exist")
  end

endmodule

// Operands that are read from the main register file and kept in the ORF.
//
// Read operand allocation (hierarchy thesis, 6.4.3). The sources to be copied are noted, by tag, when the instruction
// is taken. Their values are latched when the instruction is dispatched to its unit, and
// wait in the latches for the ORF's write port. An instruction is held while its port has no room for its
// copies.
`include "gpurf_assert.svh"

module hierarchy_copies
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Tags = 8,
  localparam int unsigned TagW = $clog2(Tags),
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // an instruction is taken
  input  logic [IssuePorts-1:0]          note_valid_i,
  input  logic [TagW-1:0]                note_tag_i   [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] note_copy_i,
  input  logic [OrfW-1:0]                note_entry_i [Operands*IssuePorts],
  input  logic [SlotW-1:0]               note_slot_i  [IssuePorts],
  input  logic [IssuePorts-1:0]          note_private_i,

  // an instruction that has all its operands
  input  logic [IssuePorts-1:0]          offer_valid_i,
  input  logic [TagW-1:0]                offer_tag_i  [IssuePorts],
  input  logic [Lanes-1:0]               offer_mask_i [IssuePorts],
  input  logic [DataW-1:0]               offer_data_i [Operands*IssuePorts],
  output logic [IssuePorts-1:0]          hold_o,  // there is no room for the copies of the instruction
  input  logic [IssuePorts-1:0]          go_i,    // the instruction is dispatched

  // the first copy of each port
  output logic [IssuePorts-1:0]          copy_valid_o,
  output logic [SlotW-1:0]               copy_slot_o  [IssuePorts],
  output logic [OrfW-1:0]                copy_entry_o [IssuePorts],
  output logic [Lanes-1:0]               copy_mask_o  [IssuePorts],
  output logic [DataW-1:0]               copy_data_o  [IssuePorts],
  output logic [IssuePorts-1:0]          copy_private_o,
  input  logic [IssuePorts-1:0]          copy_ready_i,

  output logic [IssuePorts-1:0]          wait_o   // for events
);

  localparam int unsigned Sources = Operands * IssuePorts;
  localparam int unsigned Notes = Operands * Tags;
  localparam int unsigned NoteW = $clog2(Notes);

  // by tag
  logic [Notes-1:0]    copy_q;             // sources that are copied
  logic [OrfW-1:0]     entry_q   [Notes];
  logic [SlotW-1:0]    slot_q    [Tags];
  logic                private_q [Tags];

  // the latches
  logic [Sources-1:0]    left_q;           // copies still to be written
  logic [SlotW-1:0]      left_slot_q  [IssuePorts];
  logic [Lanes-1:0]      left_mask_q  [IssuePorts];
  logic [OrfW-1:0]       left_entry_q [Sources];
  logic [DataW-1:0]      left_data_q  [Sources];
  logic [IssuePorts-1:0] left_private_q;

  logic [Operands-1:0]   copies [IssuePorts];  // copies of the instruction that is offered
  logic [IssuePorts-1:0] taken;                // the copies are latched

  // Whether the tag exists. The comparison is one bit wider than a tag, because Tags may be 2**TagW.
  function automatic logic exists(logic [TagW-1:0] tag);
    return {1'b0, tag} < (TagW + 1)'(Tags);
  endfunction

  function automatic logic [NoteW-1:0] note_of(logic [TagW-1:0] tag, int unsigned source);
    return NoteW'(Operands * 32'(tag) + source);
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      copy_q <= '0;
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (note_valid_i[p] && exists(note_tag_i[p])) begin
          copy_q[NoteW'(Operands * 32'(note_tag_i[p])) +: Operands] <= note_copy_i[Operands*p +: Operands];
        end
      end
    end
  end

  // The other fields of the notes have no reset.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (note_valid_i[p] && exists(note_tag_i[p])) begin
        slot_q[note_tag_i[p]]    <= note_slot_i[p];
        private_q[note_tag_i[p]] <= note_private_i[p];
        for (int unsigned k = 0; k < Operands; k++) begin
          if (note_copy_i[Operands*p+k]) begin
            entry_q[NoteW'(Operands * 32'(note_tag_i[p]) + k)] <= note_entry_i[Operands*p+k];
          end
        end
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
    logic [Operands-1:0] left;
    logic [Operands-1:0] first;  // the lowest copy that is left
    logic                room;

    assign left  = left_q[Operands*p +: Operands];
    assign first = left & (~left + 1'b1);
    assign room  = (left & ~(copy_ready_i[p] ? first : '0)) == '0;

    assign copies[p] =
      exists(offer_tag_i[p]) ? copy_q[note_of(offer_tag_i[p], 0) +: Operands] : '0;
    assign hold_o[p] = offer_valid_i[p] && copies[p] != '0 && !room;
    assign taken[p]  = go_i[p] && offer_valid_i[p] && copies[p] != '0;

    assign copy_valid_o[p]   = left != '0;
    assign copy_slot_o[p]    = left_slot_q[p];
    assign copy_mask_o[p]    = left_mask_q[p];
    assign copy_private_o[p] = copy_valid_o[p] & left_private_q[p];
    assign wait_o[p]         = copy_valid_o[p] & ~copy_ready_i[p];

    always_comb begin
      if (left[0]) begin
        copy_entry_o[p] = left_entry_q[Operands*p];
        copy_data_o[p]  = left_data_q[Operands*p];
      end else if (left[1]) begin
        copy_entry_o[p] = left_entry_q[Operands*p+1];
        copy_data_o[p]  = left_data_q[Operands*p+1];
      end else begin
        copy_entry_o[p] = left_entry_q[Operands*p+2];
        copy_data_o[p]  = left_data_q[Operands*p+2];
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        left_q[Operands*p +: Operands] <= '0;
        left_private_q[p]              <= 1'b0;
      end else if (taken[p]) begin
        left_q[Operands*p +: Operands] <= copies[p];
        left_private_q[p]              <= private_q[offer_tag_i[p]];
      end else if (copy_ready_i[p]) begin
        left_q[Operands*p +: Operands] <= left & ~first;
      end
    end

    // The payload of the latches has no reset either.
    always_ff @(posedge clk_i) begin
      if (taken[p]) begin
        left_slot_q[p] <= slot_q[offer_tag_i[p]];
        left_mask_q[p] <= offer_mask_i[p];
      end
    end

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      always_ff @(posedge clk_i) begin
        if (taken[p] && copies[p][k]) begin
          left_entry_q[Operands*p+k] <= entry_q[note_of(offer_tag_i[p], k)];
          left_data_q[Operands*p+k]  <= offer_data_i[Operands*p+k];
        end
      end
    end

    `GPURF_ASSERT_WHEN(room_for_copies, taken[p], room,
                       "an instruction goes for whose copies there is no room")
    `GPURF_ASSERT_WHEN(ready_for_something, copy_ready_i[p], copy_valid_o[p],
                       "a copy is written that is not there")
  end

endmodule

// State of the places: lanes that the strand has written, and lanes with a pending write.
//
// Each place of each slot (an entry of the ORF, a bank of the LRF) has the lanes that its strand
// has written, and those whose value is still pending. The first set changes in program order, when an
// instruction issues, so that a value which arrives after the end of a strand does not count for the next one.
// The second set keeps an instruction that uses the place from issuing meanwhile, and gives the place of a
// result that arrives, because units do not carry the place along.
//
//   taken        lanes become written by the strand, and pending
//   strand end   no lane is written by the strand
//   written      lanes are no longer pending
//   emptied      no lane is written by the strand
`include "gpurf_assert.svh"

module hierarchy_entries
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Active = 8,
  parameter int unsigned Entries = 3,
  parameter int unsigned LrfBanks = 0,
  localparam int unsigned SlotW = (Active > 1) ? $clog2(Active) : 1,
  localparam int unsigned Slots = Active / IssuePorts,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // instructions that are taken
  input  logic [IssuePorts-1:0]    take_valid_i,
  input  logic [SlotW-1:0]         take_slot_i   [IssuePorts],
  input  logic [Lanes-1:0]         take_mask_i   [IssuePorts],
  input  logic [Upper-1:0]         take_read_i   [IssuePorts],
  input  logic [Upper-1:0]         take_copy_i   [IssuePorts],
  input  logic [Upper-1:0]         take_result_i [IssuePorts],
  input  logic [RegW-1:0]          take_reg_i    [IssuePorts],
  input  logic [IssuePorts-1:0]    take_both_i,
  // instructions that issue, whether they are taken or not, and end their strand
  input  logic [IssuePorts-1:0]    end_i,

  // results that arrive
  input  logic [IssuePorts-1:0]    look_valid_i,
  input  logic [SlotW-1:0]         look_slot_i   [IssuePorts],
  input  logic [RegW-1:0]          look_reg_i    [IssuePorts],
  output logic [IssuePorts-1:0]    look_match_o,
  output logic [UpperW-1:0]        look_place_o  [IssuePorts],
  output logic [IssuePorts-1:0]    look_both_o,

  // writes of the arrays, for the slots of each port
  input  logic [IssuePorts-1:0]    orf_valid_i,
  input  logic [LocalW-1:0]        orf_slot_i    [IssuePorts],
  input  logic [OrfW-1:0]          orf_entry_i   [IssuePorts],
  input  logic [Lanes-1:0]         orf_mask_i    [IssuePorts],
  // Without an LRF its inputs are not read.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0]    lrf_valid_i,
  input  logic [LocalW-1:0]        lrf_slot_i    [IssuePorts],
  input  logic [LrfW-1:0]          lrf_bank_i    [IssuePorts],
  input  logic [Lanes-1:0]         lrf_mask_i    [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL

  // slots
  input  logic [Active-1:0]        flush_i,
  output logic [Active-1:0]        flush_done_o,
  output logic [Active-1:0]        void_o,                     // no lane of the slot is written by its strand
  output logic [Upper-1:0]         wait_o        [Active],     // places with a pending write

  output hierarchy_entries_event_t event_o
);

  localparam int unsigned Own = Entries + LrfBanks;  // places of a slot that exist

  logic [Lanes-1:0] valid_q  [Active*Own];
  logic [Lanes-1:0] wait_q   [Active*Own];
  logic [Own-1:0]   result_q [Active];      // the pending write is a result, not a copy
  logic [Own-1:0]   both_q   [Active];      // the result goes to the main register file too
  logic [RegW-1:0]  reg_q    [Active*Own];

  logic [Own-1:0]   waits    [Active];      // places with a pending write

  // The number of a place in Own: entries of the ORF first, then banks of the LRF.
  function automatic int unsigned number_of(int unsigned own);
    return (own < Entries) ? own : own - Entries + OrfPlaces;
  endfunction

  // ------------------------------------------------------------------ slots
  always_comb begin
    for (int unsigned s = 0; s < Active; s++) begin
      wait_o[s] = '0;
      void_o[s] = 1'b1;
      for (int unsigned u = 0; u < Own; u++) begin
        waits[s][u]             = wait_q[Own*s+u] != '0;
        wait_o[s][number_of(u)] = waits[s][u];
        if (valid_q[Own*s+u] != '0) void_o[s] = 1'b0;
      end
    end
  end

  always_comb begin
    for (int unsigned s = 0; s < Active; s++) flush_done_o[s] = flush_i[s] && waits[s] == '0;
  end

  // ------------------------------------------------------------------ results
  // The places of the slot with a pending result for the register.
  function automatic logic [Own-1:0] places_for(logic [SlotW-1:0] slot, logic [RegW-1:0] register);
    for (int unsigned u = 0; u < Own; u++) begin
      places_for[u] = waits[slot][u] && result_q[slot][u] &&
                      reg_q[Own*32'(slot)+u] == register;
    end
  endfunction

  always_comb begin : look
    automatic logic [Own-1:0] match;
    for (int unsigned b = 0; b < IssuePorts; b++) begin
      match           = look_valid_i[b] ? places_for(look_slot_i[b], look_reg_i[b]) : '0;
      look_match_o[b] = match != '0;
      look_place_o[b] = '0;
      look_both_o[b]  = 1'b0;
      // The loop runs downwards, so that the lowest remains.
      for (int unsigned u = Own; u > 0; u--) begin
        if (match[u-1]) begin
          look_place_o[b] = UpperW'(number_of(u - 1));
          look_both_o[b]  = both_q[look_slot_i[b]][u-1];
        end
      end
    end
  end

  // ------------------------------------------------------------------ state
  for (genvar s = 0; s < Active; s++) begin : gen_slot
    localparam int unsigned Port = s % IssuePorts;

    logic issues;  // the port's instruction belongs to this slot
    logic ends;    // lanes that the strand has written no longer count

    assign issues = take_slot_i[Port] == SlotW'(s);
    assign ends   = (end_i[Port] & issues) | flush_done_o[s];

    for (genvar u = 0; u < Own; u++) begin : gen_place
      localparam int unsigned Number = (u < Entries) ? u : u - Entries + OrfPlaces;

      logic             fill;
      logic [Lanes-1:0] written;

      assign fill = take_valid_i[Port] && issues &&
                    (take_copy_i[Port][Number] || take_result_i[Port][Number]);

      if (u < Entries) begin : gen_orf
        assign written = (orf_valid_i[Port] && orf_slot_i[Port] == LocalW'(s / IssuePorts) &&
                          orf_entry_i[Port] == OrfW'(u)) ? orf_mask_i[Port] : '0;
      end else begin : gen_lrf
        assign written = (lrf_valid_i[Port] && lrf_slot_i[Port] == LocalW'(s / IssuePorts) &&
                          lrf_bank_i[Port] == LrfW'(u - Entries)) ? lrf_mask_i[Port] : '0;
      end

      always_ff @(posedge clk_i) begin
        if (!rst_ni || ends) begin
          valid_q[Own*s+u] <= '0;
        end else if (fill) begin
          valid_q[Own*s+u] <= valid_q[Own*s+u] | take_mask_i[Port];
        end
      end

      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          wait_q[Own*s+u] <= '0;
        end else if (fill || written != '0) begin
          wait_q[Own*s+u] <= (wait_q[Own*s+u] & ~written) | (fill ? take_mask_i[Port] : '0);
        end
      end

      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          result_q[s][u] <= 1'b0;
          both_q[s][u]   <= 1'b0;
        end else if (fill) begin
          result_q[s][u] <= take_result_i[Port][Number];
          both_q[s][u]   <= take_both_i[Port];
        end
      end

      // The register has no reset: it has no meaning unless a write is pending.
      always_ff @(posedge clk_i) begin
        if (fill) reg_q[Own*s+u] <= take_reg_i[Port];
      end

      `GPURF_ASSERT_WHEN(fill_of_what_is_there, fill, wait_q[Own*s+u] == '0,
                         "a place is filled to which something is under way")
      `GPURF_ASSERT_WHEN(written_is_waited_for, written != '0,
                         (written & ~wait_q[Own*s+u]) == '0,
                         "lanes of a place are written that nothing waits for")
    end
  end

  // ------------------------------------------------------------------ events
  // Lanes of an instruction that are missing in at least one of the places that it reads.
  function automatic logic [Lanes-1:0] read_outside(logic [Upper-1:0] read,
                                                    logic [Lanes-1:0] mask,
                                                    logic [Lanes-1:0] lanes [Own]);
    read_outside = '0;
    for (int unsigned u = 0; u < Own; u++) begin
      if (read[number_of(u)]) read_outside = read_outside | (mask & ~lanes[u]);
    end
  endfunction

  logic [IssuePorts-1:0] unwritten;  // an instruction reads lanes that its strand has not written
  logic [IssuePorts-1:0] pending;    // an instruction reads lanes that are pending

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_read
    logic [Lanes-1:0] written [Own];
    logic [Lanes-1:0] here    [Own];

    for (genvar u = 0; u < Own; u++) begin : gen_place
      assign written[u] = valid_q[Own*32'(take_slot_i[p])+u];
      assign here[u]    = ~wait_q[Own*32'(take_slot_i[p])+u];
    end

    assign unwritten[p] = take_valid_i[p] && read_outside(take_read_i[p], take_mask_i[p],
                                                          written) != '0;
    assign pending[p]   = take_valid_i[p] && read_outside(take_read_i[p], take_mask_i[p],
                                                          here) != '0;
  end

  always_comb begin
    event_o            = '0;
    event_o.strand_end = 2'($countones(end_i));
    event_o.unwritten  = 2'($countones(unwritten));
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (end_i[p] && !void_o[take_slot_i[p]]) begin
        event_o.strand_void = event_o.strand_void + 1'b1;
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT(reads_its_strand, !unwritten[p],
                  "an instruction reads a lane of a place which its strand has not written")
    `GPURF_ASSERT(reads_what_is_there, !pending[p],
                  "an instruction reads a place to which something is under way")
    `GPURF_ASSERT_WHEN(copy_or_result, take_valid_i[p], (take_copy_i[p] & take_result_i[p]) == '0,
                       "a source is copied to where the result goes")
    `GPURF_ASSERT_WHEN(slot_of_the_port, take_valid_i[p] || end_i[p],
                       32'(take_slot_i[p]) % IssuePorts == p,
                       "an instruction has a slot of another port")
    `GPURF_ASSERT_WHEN(slot_is_not_emptied, take_valid_i[p] || end_i[p], !flush_i[take_slot_i[p]],
                       "an instruction issues whose slot is being emptied")
    `GPURF_ASSERT_WHEN(one_place_waits, look_valid_i[p],
                       $countones(places_for(look_slot_i[p], look_reg_i[p])) <= 1,
                       "two places of a slot wait for one register")
  end

endmodule

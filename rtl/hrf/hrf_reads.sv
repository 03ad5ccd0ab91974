// Selects the operands to be read.
//
// In each cycle one instruction reads: the oldest that lacks operands. Its registers that are completely in the
// active warp's buffer are read from the buffer, all at once. Of its other registers one is read, from the bank of
// the warp: this bank holds all registers of the warp (hybrid paper, 4.3 and 4.4). A register of which only some
// lanes are in the buffer is read from both. Writes of a bank have priority: a write that waits for
// the bank is older than the read.
`include "gpurf_assert.svh"

module hrf_reads
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 8,
  parameter int unsigned Depth = 512,
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned CfgW = 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [CfgW-1:0]       cfg_i,                     // read latency of a bank less 1
  input  logic                  frozen_i,                  // the pipeline is frozen: no read begins

  // collectors
  input  logic [Slots-1:0]      req_valid_i,
  input  logic [Slots-1:0]      src_valid_i,
  input  logic [RegW-1:0]       req_reg_i    [Slots],
  input  logic [Collectors-1:0] older_i      [Collectors],
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WarpW-1:0]      col_warp_i   [Collectors],  // only the parity is read
  // verilator lint_on UNUSEDSIGNAL
  input  logic [EntryW-1:0]     col_base_i   [Collectors],
  input  logic [Lanes-1:0]      col_mask_i   [Collectors],
  output logic [Slots-1:0]      grant_o,

  // RCM and buffer
  output logic [RcmRegW-1:0]    look_reg_o   [Operands],
  output logic                  bank_o,
  input  logic [Operands-1:0]   hit_i,
  input  logic [Lanes-1:0]      lanes_i      [Operands],
  output logic [Operands-1:0]   buffer_o,

  // banks
  input  logic [Parities-1:0]   read_ready_i,
  input  logic [Parities-1:0]   write_valid_i,
  output logic [Parities-1:0]   stt_valid_o,
  output logic [EntryW-1:0]     stt_entry_o,

  // for the multiplexer
  output logic [1:0]            port_o       [Operands],    // source whose reads serve source k
  output logic [Lanes-1:0]      take_o       [Operands],    // lanes that come from the buffer

  output hrf_reads_event_t      event_o
);

  localparam int unsigned SourceW = 2;
  localparam int unsigned ColW = $clog2(Collectors);
  localparam int unsigned SlotW = $clog2(Slots);

  logic [CfgW-1:0]     left_q;    // cycles until the read in progress is granted
  logic [SourceW-1:0]  source_q;  // source of the read in progress

  logic                chosen;    // an instruction lacks operands
  logic [ColW-1:0]     col;       // collector of the oldest such instruction
  logic [SlotW-1:0]    first;     // slot 0 of this collector
  logic [Lanes-1:0]    mask;
  logic [Operands-1:0] src;       // register sources of the instruction
  logic [RegW-1:0]     name   [Operands];
  logic [Operands-1:0] wanted;
  logic [Operands-1:0] whole;     // all active lanes are in the buffer
  logic [Operands-1:0] some;
  logic                free;      // reads may begin
  logic                lacking;   // a wanted source is not whole
  logic [SourceW-1:0]  source;    // the lowest such source
  logic                start;     // the bank read of this source begins
  logic [Operands-1:0] grant;

  // ------------------------------------------------------------------ the oldest instruction
  always_comb begin : choose
    logic [Collectors-1:0] candidates;
    for (int unsigned c = 0; c < Collectors; c++) begin
      candidates[c] = req_valid_i[Operands*c +: Operands] != '0;
    end
    chosen = 1'b0;
    col    = '0;
    if (candidates != '0) begin
      // The loop runs downwards, so that the lowest match remains.
      for (int unsigned c = Collectors; c > 0; c--) begin
        if (candidates[c-1] && (older_i[c-1] & candidates) == '0) begin
          chosen = 1'b1;
          col    = ColW'(c - 1);
        end
      end
    end
  end

  assign first  = SlotW'(Operands) * SlotW'(col);
  assign mask   = col_mask_i[col];
  assign src    = chosen ? src_valid_i[first +: Operands] : '0;
  assign wanted = chosen ? req_valid_i[first +: Operands] : '0;
  assign bank_o = chosen & col_warp_i[col][0];

  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      name[k]       = req_reg_i[first + SlotW'(k)];
      look_reg_o[k] = wanted[k] ? name[k][RcmRegW-1:0] : '0;
      port_o[k]     = chosen ? SourceW'(k) : '0;
      for (int unsigned j = k; j > 0; j--) begin
        if (src[k] && src[j-1] && name[j-1] == name[k]) port_o[k] = SourceW'(j - 1);
      end
    end
  end

  // ------------------------------------------------------------------ lanes that are in the buffer
  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      whole[k]  = hit_i[k] && (mask & ~lanes_i[k]) == '0;
      some[k]   = hit_i[k] && (mask & lanes_i[k]) != '0;
      take_o[k] = '0;
      if (wanted[k] && whole[k])     take_o[k] = '1;
      else if (wanted[k] && some[k]) take_o[k] = lanes_i[k];
    end
  end

  // ------------------------------------------------------------------ reads
  assign free    = left_q == '0 && !frozen_i;
  assign lacking = (wanted & ~whole) != '0;

  always_comb begin
    source = '0;
    for (int unsigned k = Operands; k > 0; k--) begin
      if (wanted[k-1] && !whole[k-1]) source = SourceW'(k - 1);
    end
  end

  assign start       = free && lacking && read_ready_i[bank_o] && !write_valid_i[bank_o];
  assign stt_entry_o = col_base_i[col] + EntryW'(name[source]);

  always_comb begin
    stt_valid_o         = '0;
    stt_valid_o[bank_o] = start;
  end

  always_comb begin
    grant = '0;
    for (int unsigned k = 0; k < Operands; k++) begin
      if (free && wanted[k] && whole[k])                                grant[k] = 1'b1;
      if (start && cfg_i == '0 && source == SourceW'(k))                grant[k] = 1'b1;
      if (left_q == CfgW'(1) && wanted[k] && source_q == SourceW'(k))   grant[k] = 1'b1;
    end
    grant_o = '0;
    grant_o[first +: Operands] = grant;
    buffer_o = grant & (whole | some);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)           left_q <= '0;
    else if (start)        left_q <= cfg_i;
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end

  // source_q has no reset: it is not valid while left_q is 0.
  always_ff @(posedge clk_i) begin
    if (start) source_q <= source;
  end

  // ------------------------------------------------------------------ events
  always_comb begin : events
    logic               reading;  // a bank read begins or is in progress
    logic [SourceW-1:0] served;   // source of this read
    reading = start || left_q != '0;
    served  = start ? source : source_q;
    event_o = '0;
    event_o.read           = start;
    event_o.read_groups    = start ? active_groups(mask) : '0;
    event_o.conflict_inter = 6'($countones(req_valid_i)) - 6'($countones(wanted));
    for (int unsigned k = 0; k < Operands; k++) begin
      if (wanted[k] && !grant[k]) begin
        if (!reading) begin
          event_o.conflict_read_write = event_o.conflict_read_write + 6'd1;
        end else if (served != SourceW'(k)) begin
          event_o.conflict_intra = event_o.conflict_intra + 6'd1;
        end
      end
      if (grant[k]) begin
        if (whole[k])     event_o.hit     = event_o.hit + 2'd1;
        else if (some[k]) event_o.partial = event_o.partial + 2'd1;
        else              event_o.miss    = event_o.miss + 2'd1;
      end
      if (buffer_o[k]) begin
        event_o.buffer_groups = event_o.buffer_groups + 5'(active_groups(mask & lanes_i[k]));
      end
    end
  end

  `GPURF_ASSERT_WHEN(registers_of_the_rcm, wanted != '0,
                     (!wanted[0] || name[0][RegW-1:RcmRegW] == '0) &&
                     (!wanted[1] || name[1][RegW-1:RcmRegW] == '0) &&
                     (!wanted[2] || name[2][RegW-1:RcmRegW] == '0),
                     "a register was read that the hybrid register file does not have")

endmodule

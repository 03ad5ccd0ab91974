// Operand latches, and the multiplexer between buffer and bank.
//
// Selects each lane of an operand from the buffer or from the bank (hybrid paper, figure 5), latches it,
// and outputs the operands of the dispatched collector. The latches are placed where the data arrives,
// as in the crossbar of the main register file; the collectors hold the control.
`include "gpurf_assert.svh"

module hrf_operands
  import gpurf_pkg::*;
#(
  parameter int unsigned Collectors = 8,
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // reads performed at this edge
  input  logic [Slots-1:0]    fill_i,                               // this slot takes data
  input  logic                bank_i,
  input  logic [1:0]          port_i           [Operands],          // source whose reads serve source k
  input  logic [Lanes-1:0]    take_i           [Operands],          // lanes that come from the buffer

  // data of these reads, one cycle later
  input  logic [DataW-1:0]    buffer_data_i    [Parities*Operands],
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Parities-1:0] stt_data_valid_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DataW-1:0]    stt_data_i       [Parities],

  // dispatch
  input  logic [ColW-1:0]     dispatch_col_i,
  output logic [DataW-1:0]    dispatch_data_o  [Operands]
);

  localparam int unsigned SlotW = $clog2(Slots);
  localparam int unsigned PortW = 3;

  logic [Slots-1:0]    fill_q;
  logic                bank_q;
  logic [1:0]          port_q    [Operands];
  logic [Lanes-1:0]    take_q    [Operands];
  logic [DataW-1:0]    operand_q [Slots];

  logic [PortW-1:0]    port      [Operands];  // index among the ports of both buffers
  logic [Lanes-1:0]    take      [Operands];

  for (genvar k = 0; k < Operands; k++) begin : gen_dispatch
    assign dispatch_data_o[k] = operand_q[SlotW'(Operands) * SlotW'(dispatch_col_i) + SlotW'(k)];

    assign port[k] = (bank_q ? PortW'(Operands) : '0) + PortW'(port_q[k]);
    assign take[k] = take_q[port_q[k]];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fill_q <= '0;
    else         fill_q <= fill_i;
  end

  // Neither these registers nor the operand latches have a reset: without fill_q they have no meaning.
  always_ff @(posedge clk_i) begin
    if (fill_i != '0) begin
      bank_q <= bank_i;
      port_q <= port_i;
      take_q <= take_i;
    end
  end

  // The multiplexer is evaluated only under its enable, so that simulation moves 1024 bits only for a slot that
  // takes them.
  for (genvar i = 0; i < Slots; i++) begin : gen_slot
    localparam int unsigned Source = i % Operands;

    always_ff @(posedge clk_i) begin : pick
      automatic logic [DataW-1:0] from_buffer;  // mask: operand bits that come from the buffer
      if (fill_q[i]) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          from_buffer[LaneW*l +: LaneW] = {LaneW{take[Source][l]}};
        end
        operand_q[i] <= (buffer_data_i[port[Source]] & from_buffer) |
                        (stt_data_i[bank_q] & ~from_buffer);
      end
    end

    `GPURF_ASSERT_WHEN(data_arrives, fill_q[i], take[Source] == '1 || stt_data_valid_i[bank_q],
                       "an operand latch takes data from a bank that was not read")
  end

endmodule

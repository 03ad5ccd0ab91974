// Routes read data from the banks to the operand latches.
//
// Routes each bank's output to the operand slots that asked for it (stealing paper, section II-B
// and figure 1: "banked RF with operand collectors and a crossbar unit"), holds the operands, and
// hands those of the dispatched collectors on. The latches stand here, at the crossbar's outputs,
// because that is where the data arrives; the collectors hold the control. Every slot has an output
// of its own, so a collector can receive all its operands in one cycle.
`include "gpurf_assert.svh"

module mrf_crossbar
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // reads performed at this edge
  input  logic [Slots-1:0]      fill_i,                                // this slot takes data
  input  logic [BankW-1:0]      fill_bank_i       [Slots],             // from this bank

  // their data, a cycle later
  input  logic [Banks-1:0]      read_data_valid_i,
  input  logic [DataW-1:0]      read_data_i       [Banks],

  // dispatch
  // The data multiplexer is active in every cycle; the valid only says when its output has a meaning.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [IssuePorts-1:0] dispatch_valid_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [ColW-1:0]       dispatch_col_i    [IssuePorts],
  output logic [DataW-1:0]      dispatch_data_o   [Operands*IssuePorts]
);

  localparam int unsigned SlotW = $clog2(Slots);

  logic [Slots-1:0] fill_q;
  logic [BankW-1:0] fill_bank_q [Slots];
  logic [DataW-1:0] operand_q   [Slots];

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_dispatch
    for (genvar s = 0; s < Operands; s++) begin : gen_operand
      assign dispatch_data_o[Operands*p+s] =
          operand_q[SlotW'(Operands) * SlotW'(dispatch_col_i[p]) + SlotW'(s)];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fill_q <= '0;
    else         fill_q <= fill_i;
  end

  // Neither the bank index nor the latches have a reset. The multiplexer is evaluated only under its enable,
  // so that simulation moves 1024 bits only for a slot that takes them.
  for (genvar i = 0; i < Slots; i++) begin : gen_slot
    always_ff @(posedge clk_i) begin
      if (fill_i[i]) fill_bank_q[i] <= fill_bank_i[i];
      if (fill_q[i]) operand_q[i] <= read_data_i[fill_bank_q[i]];
    end

    `GPURF_ASSERT_WHEN(data_arrives, fill_q[i], read_data_valid_i[fill_bank_q[i]],
                       "an operand latch takes data from a bank that was not read")
  end

endmodule

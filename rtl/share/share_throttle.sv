// Throttles the memory instructions of non-owner warps.
//
// Their memory instructions are allowed with a probability that depends on the stalls of the SM. In a
// reference period they do not issue at all. After any other period the probability decreases if the period had more
// stalls than the reference period, and increases if it had fewer (sharing thesis 2.3.3). The reference may also be the
// stalls of another SM; then no period here is a reference period. In that other SM all periods are reference periods.
`include "gpurf_assert.svh"

module share_throttle
  import gpurf_pkg::*;
#(
  parameter int unsigned Period = 1000,
  parameter int unsigned Reference = ReferenceSampled,
  localparam int unsigned CountW = ThrottleCountW
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [1:0]            stall_i,            // stalls of this cycle
  // Read only with an external reference.
  // verilator lint_off UNUSEDSIGNAL
  input  logic                  reference_valid_i,
  input  logic [CountW-1:0]     reference_i,        // stalls of the reference in this period
  // verilator lint_on UNUSEDSIGNAL
  output logic                  allow_o,
  output share_throttle_event_t event_o
);

  localparam int unsigned Periods = 14;   // one of these periods is the reference; the thesis has 14 SMs
  localparam int unsigned Tenths = 10;
  localparam int unsigned CycleW = 16;
  localparam int unsigned RandomW = 16;

  logic [CycleW-1:0]  cycle_q;
  logic [3:0]         number_q;
  logic [CountW-1:0]  count_q;
  // Not read with an external reference.
  // verilator lint_off UNUSEDSIGNAL
  logic [CountW-1:0]  reference_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0]         level_q;
  logic [RandomW-1:0] random_q;

  logic               last;       // last cycle of the period
  logic               reference;  // the period is a reference period
  logic [CountW-1:0]  total;
  logic               compares;   // total is compared with `other`
  logic [CountW-1:0]  other;

  assign last      = cycle_q == CycleW'(Period - 1);
  assign total     = count_q + CountW'(stall_i);

  if (Reference == ReferenceExternal) begin : gen_external
    assign reference = 1'b0;
    assign compares  = reference_valid_i;
    assign other     = reference_i;
  end else begin : gen_internal
    // With ReferenceHeld number_q stays 0.
    assign reference = number_q == '0;
    assign compares  = !reference;
    assign other     = reference_q;
  end

  assign allow_o = !reference && random_q % RandomW'(Tenths) < RandomW'(level_q);
  assign event_o = {level_q, last, reference, allow_o};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycle_q     <= '0;
      number_q    <= '0;
      count_q     <= '0;
      reference_q <= '0;
      level_q     <= 4'(Tenths);
      random_q    <= RandomW'(1);
    end else begin
      random_q <= {random_q[RandomW-2:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
      cycle_q  <= last ? '0 : cycle_q + 1'b1;
      count_q  <= last ? '0 : total;
      if (last) begin
        if (Reference == ReferenceSampled) begin
          number_q <= (number_q == 4'(Periods - 1)) ? '0 : number_q + 1'b1;
        end
        if (reference) reference_q <= total;
        if (compares && total > other) begin
          if (level_q != '0) level_q <= level_q - 1'b1;
        end else if (compares && total < other) begin
          if (level_q != 4'(Tenths)) level_q <= level_q + 1'b1;
        end
      end
    end
  end

  `GPURF_ASSERT(level_in_tenths, level_q <= 4'(Tenths), "a level is above ten tenths")
  `GPURF_ASSERT(period_in_turn, number_q < 4'(Periods), "a period that there is not")

endmodule

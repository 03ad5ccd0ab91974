// Power gating of a buffer's upper entries.
//
// The first entries of a buffer are always on. The upper entries have power only while the number of
// entries in use needs them (hybrid paper, 5.2 and table 2): most active periods use fewer than sixteen.
// The first result that needs an upper entry waits until the upper entries are awake. After the drain the buffer
// is empty, and the upper entries are switched off again.
`include "gpurf_assert.svh"

module hrf_power
  import gpurf_pkg::*;
#(
  parameter int unsigned BufferEntries = 64,
  localparam int unsigned UsedW = $clog2(BufferEntries + 1),
  localparam int unsigned PoweredW = 4,
  localparam int unsigned WakeW = 4,
  localparam int unsigned SleepW = 3,
  localparam int unsigned CfgW = PoweredW + WakeW + SleepW
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [CfgW-1:0]  cfg_i,     // cycles to sleep, cycles to wake, number of entries always on (in units of four)

  input  logic [UsedW-1:0] used_i,
  input  logic             need_i,    // a result waits for the next entry
  output logic             closed_o,  // the next entry has no power

  output logic [1:0]       state_o,
  output logic             wake_o,    // a wake-up begins at this edge
  output logic             sleep_o    // falling asleep begins at this edge
);

  localparam int unsigned EntriesW = PoweredW + 2;

  logic [1:0]          state_d, state_q;
  logic [WakeW-1:0]    left_d, left_q;  // cycles left of waking or of falling asleep

  logic [EntriesW-1:0] powered;
  logic [WakeW-1:0]    wake_cycles;
  logic [SleepW-1:0]   sleep_cycles;

  assign powered      = {cfg_i[PoweredW-1:0], 2'b00};
  assign wake_cycles  = cfg_i[PoweredW +: WakeW];
  assign sleep_cycles = cfg_i[CfgW-1 -: SleepW];

  assign state_o  = state_q;
  assign closed_o = powered != '0 && 32'(used_i) >= 32'(powered) && state_q != PowerOn;
  assign wake_o   = state_q == PowerOff && need_i;
  assign sleep_o  = state_q == PowerOn && used_i == '0;

  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    case (state_q)
      PowerOff: begin
        if (need_i) begin
          state_d = (wake_cycles <= WakeW'(1)) ? PowerOn : PowerWaking;
          if (wake_cycles > WakeW'(1)) left_d = wake_cycles - 1'b1;
        end
      end
      PowerOn: begin
        if (used_i == '0) begin
          state_d = (sleep_cycles == '0) ? PowerOff : PowerSleeping;
          if (sleep_cycles != '0) left_d = WakeW'(sleep_cycles);
        end
      end
      default: begin
        if (left_q == WakeW'(1)) state_d = (state_q == PowerWaking) ? PowerOn : PowerOff;
        else                     left_d  = left_q - 1'b1;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= PowerOff;
      left_q  <= '0;
    end else begin
      state_q <= state_d;
      left_q  <= left_d;
    end
  end

  `GPURF_ASSERT(need_is_closed, !need_i || closed_o, "a result waits for power that is there")

endmodule

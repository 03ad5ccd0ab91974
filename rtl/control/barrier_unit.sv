// Barrier unit: warps of a block that wait for each other.
//
// There are sixteen barriers for each block. A warp is held from the issue of its BAR, so that no later
// instruction of it issues. It has arrived when the BAR leaves the operand stage, since by then its earlier
// accesses are in the memory pipeline. One arrived warp is checked per cycle, in turn:
// whether its barrier is complete has the same answer for all warps that wait at it. So a turn takes as
// many cycles as warps wait, and a single comparison against all warps is enough.
`include "gpurf_assert.svh"

module barrier_unit
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 48,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // a warp issues a BAR
  input  logic [IssuePorts-1:0]          hold_valid_i,
  input  logic [WarpW-1:0]               hold_warp_i          [IssuePorts],

  // a BAR leaves the operand stage
  input  logic                           arrive_valid_i,
  input  logic                           arrive_port_i,      // dispatch port of this BAR
  input  logic [WarpW-1:0]               arrive_warp_i        [IssuePorts],
  input  logic [Lanes-1:0]               arrive_mask_i        [IssuePorts],
  // A BAR has one operand, b.
  // verilator lint_off UNUSEDSIGNAL
  input  instruction_t                   arrive_instruction_i [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] arrive_src_valid_i,
  input  logic [DataW-1:0]               arrive_data_i        [Operands*IssuePorts],
  // verilator lint_on UNUSEDSIGNAL

  // warps
  input  logic [Warps-1:0]               alive_i,            // has living lanes
  input  logic [BlockSlotW-1:0]          slot_i               [Warps],
  input  logic                           start_valid_i,      // a warp begins
  input  logic [WarpW-1:0]               start_warp_i,

  output logic [Warps-1:0]               held_o,
  output logic [Warps-1:0]               open_o,             // warps whose barrier opens; they resume

  output logic                           finish_valid_o,
  output logic [WarpW-1:0]               finish_warp_o,

  output logic                           fault_valid_o,
  output logic [WarpW-1:0]               fault_warp_o,
  output logic [LaneW-1:0]               fault_value_o
);

  localparam int unsigned LastPort = IssuePorts - 1;       // the second port, if there is one
  localparam int unsigned SourceB = 1;                     // operand with the number of threads
  localparam int unsigned IdW = 4;                         // number of a barrier
  localparam int unsigned CountW = 6;                      // warps to wait for
  localparam int unsigned MostThreads = 48 * Lanes;        // no SM has more
  localparam int unsigned LaneIdxW = $clog2(Lanes);
  localparam int unsigned WarpIdxW = $clog2(Warps);

  logic [Warps-1:0]    held_q;
  logic [Warps-1:0]    arrived_q;
  logic [IdW-1:0]      id_q    [Warps];
  logic [CountW-1:0]   count_q [Warps];                    // 0: all warps of the block
  logic [WarpW-1:0]    scan_q;
  logic                fault_q;
  logic [WarpW-1:0]    fault_warp_q;
  logic [LaneW-1:0]    fault_value_q;

  logic                port;
  logic [WarpIdxW-1:0] looked_at;
  logic [Warps-1:0]    together;                           // warps that have arrived at the checked warp's barrier

  assign held_o         = held_q;
  assign finish_valid_o = arrive_valid_i;
  assign finish_warp_o  = port ? arrive_warp_i[LastPort] : arrive_warp_i[0];
  assign fault_valid_o  = fault_q;
  assign fault_warp_o   = fault_warp_q;
  assign fault_value_o  = fault_value_q;

  // With one port the port's number is 0, whatever the input says.
  assign port = (IssuePorts > 1) & arrive_port_i;

  // The first warp that has arrived, from scan_q upwards, wrapping. The loop runs downwards, so that the lowest
  // remains.
  always_comb begin : scan
    automatic logic [Warps-1:0] ahead;
    looked_at = '0;
    ahead     = '0;
    if (arrived_q != '0) begin
      ahead = arrived_q & ({Warps{1'b1}} << scan_q);
      if (ahead == '0) ahead = arrived_q;
      for (int unsigned w = Warps; w > 0; w--) begin
        if (ahead[w-1]) looked_at = WarpIdxW'(w - 1);
      end
    end
  end

  always_comb begin : complete
    automatic logic [Warps-1:0] block;  // living warps of the block
    together = '0;
    open_o   = '0;
    block    = '0;
    if (arrived_q != '0) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        if (slot_i[w] == slot_i[looked_at]) begin
          block[w]    = alive_i[w];
          together[w] = arrived_q[w] & (id_q[w] == id_q[looked_at]);
        end
      end
      if (count_q[looked_at] == '0) begin
        if ((block & ~together) == '0) open_o = together;
      end else if ($countones(together) >= 32'(count_q[looked_at])) begin
        open_o = together;
      end
    end
  end

  // Only the kind of operand b and the barrier's number are read.
  // verilator lint_off UNUSEDSIGNAL
  instruction_t arrive_instruction;  // of the port whose BAR arrives
  // verilator lint_on UNUSEDSIGNAL
  assign arrive_instruction = port ? arrive_instruction_i[LastPort] : arrive_instruction_i[0];

  // Neither the state of a waiting warp nor the fault has a reset: arrived_q and fault_q tell whether they
  // have a meaning.
  always_ff @(posedge clk_i) begin : update
    automatic logic [Warps-1:0] held;
    automatic logic [Warps-1:0] arrived;
    automatic logic [Lanes-1:0] mask;
    automatic logic [DataW-1:0] b;
    automatic logic [LaneW-1:0] threads;  // operand b of the lowest lane
    automatic logic             wrong;

    held    = held_q & ~open_o;
    arrived = arrived_q & ~open_o;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      held = held | (Warps'(hold_valid_i[p]) << hold_warp_i[p]);
    end

    fault_q <= 1'b0;
    if (arrive_valid_i) begin
      mask = port ? arrive_mask_i[LastPort] : arrive_mask_i[0];
      if (port ? arrive_src_valid_i[Operands*LastPort+SourceB] : arrive_src_valid_i[SourceB]) begin
        b = port ? arrive_data_i[Operands*LastPort+SourceB] : arrive_data_i[SourceB];
      end else if (arrive_instruction.roles.b_constant) begin
        b = {Lanes{constant_of(arrive_instruction.op)}};
      end else begin
        b = '0;
      end
      // The loop runs downwards, so that the lowest lane's value remains.
      threads = '0;
      for (int unsigned l = Lanes; l > 0; l--) begin
        if (mask[l-1]) threads = b[LaneW*(l-1) +: LaneW];
      end
      wrong = threads[LaneIdxW-1:0] != '0 || threads > LaneW'(MostThreads);
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (mask[l] && b[LaneW*l +: LaneW] != threads) wrong = 1'b1;
      end

      if (wrong) begin
        fault_q       <= 1'b1;
        fault_warp_q  <= finish_warp_o;
        fault_value_q <= threads;
      end else begin
        arrived = arrived | (Warps'(1) << finish_warp_o);
        id_q[WarpIdxW'(finish_warp_o)]    <= arrive_instruction.op[OperationModifiers +: IdW];
        count_q[WarpIdxW'(finish_warp_o)] <= threads[LaneIdxW +: CountW];
      end
    end

    if (start_valid_i) begin
      held    = held & ~(Warps'(1) << start_warp_i);
      arrived = arrived & ~(Warps'(1) << start_warp_i);
    end
    held_q    <= held;
    arrived_q <= arrived;
    if (arrived_q != '0) begin
      scan_q <= (looked_at == WarpIdxW'(Warps - 1)) ? '0 : WarpW'(looked_at) + 1'b1;
    end

    if (!rst_ni) begin
      held_q    <= '0;
      arrived_q <= '0;
      scan_q    <= '0;
      fault_q   <= 1'b0;
    end
  end

  `GPURF_ASSERT_WHEN(arrived_alive, arrived_q != '0, (arrived_q & ~alive_i) == '0,
                     "a warp that has arrived has no living lane")
  `GPURF_ASSERT(scan_in_range, 32'(scan_q) < Warps, "the turn is at a warp that does not exist")
  `GPURF_ASSERT_WHEN(some_lane, arrive_valid_i,
                     (port ? arrive_mask_i[LastPort] : arrive_mask_i[0]) != '0,
                     "a barrier without a lane arrived")

endmodule

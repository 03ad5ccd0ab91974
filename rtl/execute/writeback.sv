// Writeback: assigns results to the result buses.
//
// There are as many result buses as issue ports. Each has its ALU and its single precision unit;
// the first also serves the memory pipeline's short latencies and the constants, and the last the
// lines that return from global memory and the special functions. A result that has waited longest for
// memory delays most, so lines have priority, then the side queue; among the rest a longer latency has
// priority, and a shared unit before a private one.
// Registers go into the write queues of the register file, predicates into the predicate file. The
// scoreboard clears a predicate at once, and a register when the last part of the result has reached its
// bank. With a register file that itself orders a taken result and later
// accesses, the scoreboard clears a register when its result is taken; the instruction ends later.
`include "gpurf_assert.svh"

module writeback
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Taken = 0        // a register is reported when its result is taken
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // heads of the ALUs' result queues
  input  logic [IssuePorts-1:0]   alu_valid_i,
  input  result_t                 alu_result_i      [IssuePorts],
  input  logic [IssuePorts-1:0]   alu_reg_valid_i,
  input  logic [DataW-1:0]        alu_data_i        [IssuePorts],
  output logic [IssuePorts-1:0]   alu_pop_o,

  // heads of the single precision units' result queues
  input  logic [IssuePorts-1:0]   fp_valid_i,
  input  result_t                 fp_result_i       [IssuePorts],
  input  logic [IssuePorts-1:0]   fp_reg_valid_i,
  input  logic [DataW-1:0]        fp_data_i         [IssuePorts],
  output logic [IssuePorts-1:0]   fp_pop_o,

  // head of the memory pipeline's result queue
  input  logic                    side_valid_i,
  input  result_t                 side_result_i,
  input  logic                    side_reg_valid_i,
  input  logic [DataW-1:0]        side_data_i,
  output logic                    side_pop_o,

  // head of the special function unit's result queue
  input  logic                    sfu_valid_i,
  input  result_t                 sfu_result_i,
  input  logic                    sfu_reg_valid_i,
  input  logic [DataW-1:0]        sfu_data_i,
  output logic                    sfu_pop_o,

  // head of the constant unit's result queue
  input  logic                    constant_valid_i,
  input  result_t                 constant_result_i,
  input  logic                    constant_reg_valid_i,
  input  logic [DataW-1:0]        constant_data_i,
  output logic                    constant_pop_o,

  // result of the line table
  input  logic                    memory_valid_i,
  input  result_t                 memory_result_i,
  input  logic                    memory_reg_valid_i,
  input  logic [DataW-1:0]        memory_data_i,
  output logic                    memory_pop_o,

  // to the operand stage
  output logic [IssuePorts-1:0]   write_valid_o,
  input  logic [IssuePorts-1:0]   write_ready_i,
  output write_t                  write_o           [IssuePorts],
  output logic [DataW-1:0]        write_data_o      [IssuePorts],
  input  logic [IssuePorts-1:0]   write_done_i,                     // result reaches its bank
  // With Taken the register is not read.
  // verilator lint_off UNUSEDSIGNAL
  input  written_t                written_i         [IssuePorts],
  // verilator lint_on UNUSEDSIGNAL

  // to the predicate file and the scoreboard
  output logic [IssuePorts-1:0]   pred_valid_o,
  output logic [WarpW-1:0]        pred_warp_o       [IssuePorts],
  output logic [PredW-1:0]        pred_o            [IssuePorts],
  output logic [Lanes-1:0]        pred_mask_o       [IssuePorts],
  output logic [Lanes-1:0]        pred_data_o       [IssuePorts],

  // to the scoreboard
  output logic [IssuePorts-1:0]   reg_valid_o,                      // this register is complete
  output logic [WarpW-1:0]        reg_warp_o        [IssuePorts],
  output logic [RegW-1:0]         reg_o             [IssuePorts],
  output logic [2*IssuePorts-1:0] finish_valid_o,                   // an instruction has ended
  output logic [WarpW-1:0]        finish_warp_o     [2*IssuePorts]
);

  localparam int unsigned SideBus = 0;
  localparam int unsigned ConstantBus = 0;
  localparam int unsigned MemoryBus = IssuePorts - 1;
  localparam int unsigned SfuBus = IssuePorts - 1;

  logic [IssuePorts-1:0] last_q;       // the result in the write queue is the last one of its instruction

  logic [IssuePorts-1:0] from_memory;  // selected source; none of these: the ALU
  logic [IssuePorts-1:0] from_side;
  logic [IssuePorts-1:0] from_sfu;
  logic [IssuePorts-1:0] from_constant;
  logic [IssuePorts-1:0] from_shared;  // the source is a unit that all ports share
  logic [IssuePorts-1:0] from_fp;
  logic [IssuePorts-1:0] offered;      // there is a result for the bus
  result_t               result [IssuePorts];
  logic [IssuePorts-1:0] has_reg;
  logic [IssuePorts-1:0] has_pred;
  logic [IssuePorts-1:0] done;
  logic [IssuePorts-1:0] goes;
  logic [IssuePorts-1:0] ended;        // an instruction with a register

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      from_memory[p]   = p == MemoryBus && memory_valid_i;
      from_side[p]     = p == SideBus && side_valid_i && !from_memory[p];
      from_sfu[p]      = p == SfuBus && sfu_valid_i && !from_memory[p] && !from_side[p];
      from_constant[p] = p == ConstantBus && constant_valid_i && !from_memory[p] &&
                         !from_side[p] && !from_sfu[p];
      from_shared[p]   = from_memory[p] || from_side[p] || from_sfu[p] || from_constant[p];
      from_fp[p]       = fp_valid_i[p] && !from_shared[p];
      if (from_memory[p]) begin
        offered[p] = 1'b1;
        has_reg[p] = memory_reg_valid_i;
        result[p]  = memory_result_i;
      end else if (from_side[p]) begin
        offered[p] = 1'b1;
        has_reg[p] = side_reg_valid_i;
        result[p]  = side_result_i;
      end else if (from_sfu[p]) begin
        offered[p] = 1'b1;
        has_reg[p] = sfu_reg_valid_i;
        result[p]  = sfu_result_i;
      end else if (from_constant[p]) begin
        offered[p] = 1'b1;
        has_reg[p] = constant_reg_valid_i;
        result[p]  = constant_result_i;
      end else if (from_fp[p]) begin
        offered[p] = 1'b1;
        has_reg[p] = fp_reg_valid_i[p];
        result[p]  = fp_result_i[p];
      end else begin
        offered[p] = alu_valid_i[p];
        has_reg[p] = alu_reg_valid_i[p];
        result[p]  = alu_result_i[p];
      end
    end
  end

  // A result without a register does not wait for room in the write queue.
  assign goes          = offered & (~has_reg | write_ready_i);
  assign write_valid_o = offered & has_reg;
  assign pred_valid_o  = goes & has_pred;

  assign memory_pop_o   = from_memory[MemoryBus] & goes[MemoryBus];
  assign side_pop_o     = from_side[SideBus] & goes[SideBus];
  assign sfu_pop_o      = from_sfu[SfuBus] & goes[SfuBus];
  assign constant_pop_o = from_constant[ConstantBus] & goes[ConstantBus];
  assign fp_pop_o       = from_fp & goes;
  assign alu_pop_o      = ~from_shared & ~from_fp & goes;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_result
    assign done[p]        = result[p].done;
    assign has_pred[p]    = result[p].pred_valid;
    assign pred_warp_o[p] = result[p].warp;
    assign pred_o[p]      = result[p].pred;
    assign pred_mask_o[p] = result[p].mask;
    assign pred_data_o[p] = result[p].pred_data;

    // A result of no shared unit comes from the port's own ALU or single precision unit.
    assign write_o[p] = '{from_private: ~from_shared[p],
                          d:            result[p].d,
                          warp:         result[p].warp,
                          mask:         result[p].mask};
  end

  // Wide data has a multiplexer of its own, only as wide as its bus needs.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_data
    always_comb begin
      if (p == MemoryBus && memory_valid_i)          write_data_o[p] = memory_data_i;
      else if (p == SideBus && side_valid_i)         write_data_o[p] = side_data_i;
      else if (p == SfuBus && sfu_valid_i)           write_data_o[p] = sfu_data_i;
      else if (p == ConstantBus && constant_valid_i) write_data_o[p] = constant_data_i;
      else if (fp_valid_i[p])                        write_data_o[p] = fp_data_i[p];
      else                                           write_data_o[p] = alu_data_i[p];
    end
  end

  assign ended          = write_done_i & last_q;
  assign finish_valid_o = {goes & ~has_reg & done, ended};

  assign reg_valid_o = (Taken != 0) ? goes & has_reg & done : ended;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_finish
    assign reg_warp_o[p] = (Taken != 0) ? result[p].warp : written_i[p].warp;
    assign reg_o[p]      = (Taken != 0) ? result[p].d : written_i[p].d;

    assign finish_warp_o[p]            = written_i[p].warp;
    assign finish_warp_o[IssuePorts+p] = result[p].warp;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_q <= '0;
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (write_valid_o[p] && write_ready_i[p]) last_q[p] <= done[p];
      end
    end
  end

  `GPURF_ASSERT(one_result_a_bus, $countones(alu_pop_o) + $countones(fp_pop_o) +
                                  32'(side_pop_o) + 32'(sfu_pop_o) + 32'(constant_pop_o) +
                                  32'(memory_pop_o) ==
                                  $countones(goes),
                "not one result was taken for each bus on which one goes")
  `GPURF_ASSERT(pop_only_when_offered, (alu_pop_o & ~alu_valid_i) == '0 &&
                                       (fp_pop_o & ~fp_valid_i) == '0 &&
                                       !(side_pop_o && !side_valid_i) &&
                                       !(sfu_pop_o && !sfu_valid_i) &&
                                       !(constant_pop_o && !constant_valid_i) &&
                                       !(memory_pop_o && !memory_valid_i),
                "a result was taken that was not offered")

endmodule

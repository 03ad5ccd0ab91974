// Seven predicates for each warp, a bit for each lane.
//
// Read at issue (guard and two sources for each port), because a branch is decided there and a guard
// removes lanes from the instruction before it requests operands. Written when a result arrives.
// Number 7 reads as true and drops writes, so an instruction without a predicate names number 7.
// Nothing is reset: no instruction reads a predicate before one has written it.
`include "gpurf_assert.svh"

module predicate_file
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // reads; a predicate source is {inverted, number}
  input  logic [WarpW-1:0]      read_warp_i  [IssuePorts],
  input  logic [PredW:0]        read_guard_i [IssuePorts],
  input  logic [PredW:0]        read_s_i     [IssuePorts],
  input  logic [PredW:0]        read_t_i     [IssuePorts],
  output logic [Lanes-1:0]      guard_o      [IssuePorts],
  output logic [Lanes-1:0]      s_o          [IssuePorts],
  output logic [Lanes-1:0]      t_o          [IssuePorts],

  // writes
  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [WarpW-1:0]      write_warp_i [IssuePorts],
  input  logic [PredW-1:0]      write_pred_i [IssuePorts],
  input  logic [Lanes-1:0]      write_mask_i [IssuePorts],
  input  logic [Lanes-1:0]      write_data_i [IssuePorts]
);

  localparam int unsigned Preds = 2**PredW;
  localparam int unsigned PlaceW = $clog2(Preds * Warps);

  logic [Lanes-1:0]      pred_q [Preds*Warps];  // predicate n of warp w: 8 * w + n

  logic [IssuePorts-1:0] write;
  logic [PlaceW-1:0]     place  [IssuePorts];   // place that the port writes

  function automatic logic [Lanes-1:0] value_of(logic [WarpW-1:0] warp, logic [PredW:0] source);
    logic [Lanes-1:0] stored;
    stored = '1;
    if (source[PredW-1:0] != NoPred) stored = pred_q[PlaceW'({warp, source[PredW-1:0]})];
    return source[PredW] ? ~stored : stored;
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      guard_o[p] = value_of(read_warp_i[p], read_guard_i[p]);
      s_o[p]     = value_of(read_warp_i[p], read_s_i[p]);
      t_o[p]     = value_of(read_warp_i[p], read_t_i[p]);
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      write[p] = write_valid_i[p] && write_pred_i[p] != NoPred;
      place[p] = PlaceW'({write_warp_i[p], write_pred_i[p]});
    end
  end

  // The value of port p's place after this edge: the lanes that lower ports write, then its own lanes.
  function automatic logic [Lanes-1:0] value_after(int unsigned p);
    value_after = pred_q[place[p]];
    for (int unsigned lower = 0; lower <= p; lower++) begin
      if (write[lower] && place[lower] == place[p]) begin
        value_after = (value_after & ~write_mask_i[lower]) |
                      (write_data_i[lower] & write_mask_i[lower]);
      end
    end
  endfunction

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write[p]) pred_q[place[p]] <= value_after(p);
    end
  end

  `GPURF_ASSERT(one_writer, !(write == '1 && IssuePorts > 1 && place[0] == place[IssuePorts-1]),
                "two ports wrote one predicate")

endmodule

// Merges operands from the levels in front of the main register file (MRF) with operands from the MRF itself.
//
// Keeps, lane by lane, what such a level (below: the cache) reads for an instruction, until the collectors of
// the MRF have the remaining operands. Then it offers the instruction for dispatch. The latches here are in addition to
// those of the collectors: one for each source of each instruction in the operand stage.
module front_operands
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Tags = 9,
  localparam int unsigned TagW = $clog2(Tags)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // an instruction leaves stage T, with the lanes that hit
  input  logic [IssuePorts-1:0]          move_valid_i,
  input  logic [TagW-1:0]                move_tag_i      [IssuePorts],
  input  logic [Lanes-1:0]               move_hit_i      [Operands*IssuePorts],

  // operands that the cache has read
  input  logic [IssuePorts-1:0]          land_valid_i,
  input  logic [TagW-1:0]                land_tag_i      [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] land_fill_i,
  input  logic [DataW-1:0]               land_data_i     [Operands*IssuePorts],

  // operands that the main register file offers
  input  logic [IssuePorts-1:0]          mrf_valid_i,
  input  logic [TagW-1:0]                mrf_tag_i       [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] mrf_src_valid_i,
  input  logic [DataW-1:0]               mrf_data_i      [Operands*IssuePorts],
  output logic [IssuePorts-1:0]          mrf_ready_o,

  // dispatch
  output logic [IssuePorts-1:0]          dispatch_valid_o,
  input  logic [IssuePorts-1:0]          dispatch_ready_i,
  output logic [Operands*IssuePorts-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]               dispatch_data_o [Operands*IssuePorts]
);

  localparam int unsigned Latches = Operands * Tags;
  localparam int unsigned LatchW = $clog2(Latches);

  logic [Tags-1:0]  got_q;            // nothing is to come from the cache
  logic [Lanes-1:0] hit_q  [Latches]; // lanes that come from the cache
  logic [DataW-1:0] data_q [Latches];

  logic [IssuePorts-1:0] mrf_got;

  // Whether the tag exists. The comparison is one bit wider than a tag, because Tags may be 2**TagW.
  function automatic logic exists(logic [TagW-1:0] tag);
    return {1'b0, tag} < (TagW + 1)'(Tags);
  endfunction

  function automatic logic [LatchW-1:0] latch_of(logic [TagW-1:0] tag, int unsigned source);
    return LatchW'(Operands * 32'(tag) + source);
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      got_q <= '0;
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (move_valid_i[p] && exists(move_tag_i[p])) begin
          got_q[move_tag_i[p]] <= (move_hit_i[Operands*p] | move_hit_i[Operands*p+1] |
                                   move_hit_i[Operands*p+2]) == '0;
        end
      end
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (land_valid_i[p] && exists(land_tag_i[p])) got_q[land_tag_i[p]] <= 1'b1;
      end
    end
  end

  // The latches have no reset: their content has no meaning before an instruction arrives.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned k = 0; k < Operands; k++) begin
        if (move_valid_i[p] && exists(move_tag_i[p])) begin
          hit_q[LatchW'(Operands * 32'(move_tag_i[p]) + k)] <= move_hit_i[Operands*p+k];
        end
        if (land_valid_i[p] && land_fill_i[Operands*p+k] && exists(land_tag_i[p])) begin
          data_q[LatchW'(Operands * 32'(land_tag_i[p]) + k)] <= land_data_i[Operands*p+k];
        end
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
    assign mrf_got[p]          = exists(mrf_tag_i[p]) && got_q[mrf_tag_i[p]];
    assign dispatch_valid_o[p] = mrf_valid_i[p] & mrf_got[p];
    assign mrf_ready_o[p]      = dispatch_ready_i[p] & dispatch_valid_o[p];

    for (genvar k = 0; k < Operands; k++) begin : gen_source
      logic [LatchW-1:0] latch;
      logic [Lanes-1:0]  hit;

      assign latch = latch_of(mrf_tag_i[p], k);
      assign hit   = exists(mrf_tag_i[p]) ? hit_q[latch] : '0;

      assign dispatch_src_valid_o[Operands*p+k] =
          dispatch_valid_o[p] & (mrf_src_valid_i[Operands*p+k] | (hit != '0));

      // A mask over the whole word selects the lanes, and only if both sides supply some. A source not requested
      // from the MRF takes nothing from the MRF: the latch there then holds no operand of this instruction.
      always_comb begin : merge
        automatic logic [DataW-1:0] enable;
        dispatch_data_o[Operands*p+k] = mrf_data_i[Operands*p+k];
        enable = '0;
        if (exists(mrf_tag_i[p]) && !mrf_src_valid_i[Operands*p+k]) begin
          dispatch_data_o[Operands*p+k] = data_q[latch];
        end else if (hit != '0) begin
          for (int unsigned lane = 0; lane < Lanes; lane++) begin
            enable[LaneW*lane +: LaneW] = {LaneW{hit[lane]}};
          end
          dispatch_data_o[Operands*p+k] = (mrf_data_i[Operands*p+k] & ~enable) |
                                          (data_q[latch] & enable);
        end
      end
    end
  end

endmodule

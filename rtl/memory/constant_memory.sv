// Memory of kernel parameters and constants.
//
// Reads one word per cycle and gives it to all lanes that want it. Constants are usually the same for all
// threads, so one read port and a comparison replace 32
// banks. The RAM is read at the end of a pass, the lanes' bytes are taken out of the word in the
// next cycle.
//
// There are two requesters: the constant unit, which has priority, and the memory pipeline with the lanes of generic
// loads whose address is in the constant space. The result for the constant unit is offered in
// that next cycle. The result for the memory pipeline is offered a cycle later, from registers, because its other
// units take two stages and its queue takes one result at a time.
`include "gpurf_assert.svh"

module constant_memory
  import gpurf_pkg::*;
#(
  parameter int unsigned ConstWords = 17408,
  localparam int unsigned ConstW = $clog2(ConstWords)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // the host writes a word
  input  logic              const_we_i,
  input  logic [ConstW-1:0] const_addr_i,
  input  logic [LaneW-1:0]  const_data_i,

  // lanes of the constant unit
  input  logic              direct_valid_i,
  input  logic              direct_room_i,      // its result queue has room
  input  logic [Lanes-1:0]  direct_lanes_i,
  input  logic [WarpW-1:0]  direct_warp_i,
  input  logic [1:0]        direct_size_i,
  input  logic              direct_signed_i,
  input  logic              direct_reg_valid_i,
  input  logic [RegW-1:0]   direct_reg_i,
  input  logic [DataW-1:0]  direct_addr_i,
  input  logic              direct_last_i,      // no lane is left after this pass
  output logic [Lanes-1:0]  direct_served_o,

  // their result, in the cycle after their pass
  output logic              direct_result_valid_o,
  output logic [WarpW-1:0]  direct_result_warp_o,
  output logic [Lanes-1:0]  direct_result_mask_o,
  output logic              direct_result_done_o,
  output logic              direct_result_reg_valid_o,
  output logic [RegW-1:0]   direct_result_reg_o,
  output logic [DataW-1:0]  direct_result_data_o,

  // lanes of the memory pipeline
  input  logic              valid_i,
  input  logic              room_i,             // the side queue has room
  input  logic [Lanes-1:0]  lanes_i,
  input  logic [WarpW-1:0]  warp_i,
  input  logic [1:0]        size_i,
  input  logic              signed_i,
  input  logic              reg_valid_i,
  input  logic [RegW-1:0]   reg_i,
  input  logic [DataW-1:0]  addr_i,
  input  logic              last_i,             // no lane is left after this pass
  output logic [Lanes-1:0]  served_o,

  // their result, two cycles after their pass
  output logic              result_valid_o,
  output logic [WarpW-1:0]  result_warp_o,
  output logic [Lanes-1:0]  result_mask_o,
  output logic              result_done_o,
  output logic              result_reg_valid_o,
  output logic [RegW-1:0]   result_reg_o,
  output logic [DataW-1:0]  result_data_o
);

  localparam int unsigned WordAddrW = LaneW - 2;  // bits of a word's address
  localparam int unsigned ByteW = 2;              // bits of a byte's offset in its word

  // first stage
  logic                   first_valid_q;
  logic                   first_direct_q;  // the pass is for the constant unit
  logic [Lanes-1:0]       first_mask_q;
  logic [WarpW-1:0]       first_warp_q;
  logic                   first_reg_valid_q;
  logic [RegW-1:0]        first_reg_q;
  logic [1:0]             first_size_q;
  logic                   first_signed_q;
  logic                   first_done_q;
  logic [ByteW*Lanes-1:0] byte_q;

  // second stage, for the memory pipeline only
  logic                   result_valid_q;
  logic [WarpW-1:0]       warp_q;
  logic [Lanes-1:0]       mask_q;
  logic                   done_q;
  logic                   reg_valid_q;
  logic [RegW-1:0]        reg_q;
  logic [DataW-1:0]       data_q;

  logic                   direct;       // a pass of the constant unit
  logic                   performed;    // a pass of either requester
  logic [Lanes-1:0]       lanes;        // lanes that are offered in the pass
  logic [DataW-1:0]       addr;
  logic [Lanes-1:0]       served;
  logic [WordAddrW-1:0]   chosen;       // the word that is read
  logic [LaneW-1:0]       rdata;
  logic [DataW-1:0]       value;        // bytes that each lane takes from the word

  assign result_valid_o     = result_valid_q;
  assign result_warp_o      = warp_q;
  assign result_mask_o      = mask_q;
  assign result_done_o      = done_q;
  assign result_reg_valid_o = result_valid_q & reg_valid_q;
  assign result_reg_o       = reg_q;
  assign result_data_o      = data_q;

  // The memory pipeline's lanes take the cycles that the constant unit leaves.
  assign direct    = direct_valid_i & direct_room_i;
  assign performed = direct | (valid_i & room_i);
  assign lanes     = direct ? direct_lanes_i : lanes_i;
  assign addr      = direct ? direct_addr_i : addr_i;

  // The loop runs downwards, so that the lowest lane's word remains.
  always_comb begin
    chosen = '0;
    served = '0;
    if (performed) begin
      for (int unsigned l = Lanes; l > 0; l--) begin
        if (lanes[l-1]) chosen = addr[LaneW*(l-1)+ByteW +: WordAddrW];
      end
      for (int unsigned l = 0; l < Lanes; l++) begin
        served[l] = lanes[l] & (addr[LaneW*l+ByteW +: WordAddrW] == chosen);
      end
    end
  end

  assign direct_served_o = direct ? served : '0;
  assign served_o        = direct ? '0 : served;

  ram_1r1w #(
    .Depth(ConstWords),
    .Parts(1),
    .PartW(LaneW)
  ) u_ram (
    .clk_i,
    .re_i   (performed),
    .raddr_i(chosen[ConstW-1:0]),
    .we_i   (const_we_i),
    .waddr_i(const_addr_i),
    .wmask_i(1'b1),
    .wdata_i(const_data_i),
    .rdata_o(rdata)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_valid_q  <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      first_valid_q  <= performed;
      result_valid_q <= first_valid_q & ~first_direct_q;
    end
  end

  // The payload has no reset: it means nothing while its stage's valid is low.
  always_ff @(posedge clk_i) begin : first_stage
    automatic logic [ByteW*Lanes-1:0] place;
    if (performed) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        place[ByteW*l +: ByteW] = addr[LaneW*l +: ByteW] & {ByteW{served[l]}};
      end
      first_direct_q    <= direct;
      first_mask_q      <= served;
      first_warp_q      <= direct ? direct_warp_i : warp_i;
      first_reg_valid_q <= direct ? direct_reg_valid_i : reg_valid_i;
      first_reg_q       <= direct ? direct_reg_i : reg_i;
      first_size_q      <= direct ? direct_size_i : size_i;
      first_signed_q    <= direct ? direct_signed_i : signed_i;
      first_done_q      <= direct ? direct_last_i : last_i;
      byte_q            <= place;
    end
  end

  always_comb begin
    value = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (first_mask_q[l]) begin
        value[LaneW*l +: LaneW] =
            loaded(rdata, byte_q[ByteW*l +: ByteW], first_size_q, first_signed_q);
      end
    end
  end

  assign direct_result_valid_o     = first_valid_q & first_direct_q;
  assign direct_result_warp_o      = first_warp_q;
  assign direct_result_mask_o      = first_mask_q;
  assign direct_result_done_o      = first_done_q;
  assign direct_result_reg_valid_o = direct_result_valid_o & first_reg_valid_q;
  assign direct_result_reg_o       = first_reg_q;
  assign direct_result_data_o      = value;

  always_ff @(posedge clk_i) begin : second_stage
    if (first_valid_q && !first_direct_q) begin
      warp_q      <= first_warp_q;
      mask_q      <= first_mask_q;
      done_q      <= first_done_q;
      reg_valid_q <= first_reg_valid_q;
      if (first_reg_valid_q) begin
        reg_q  <= first_reg_q;
        data_q <= value;
      end
    end
  end

`ifndef SYNTHESIS
  // Every lane offered has an address that is a multiple of the size.
  function automatic logic is_aligned(logic [Lanes-1:0] offered, logic [DataW-1:0] addresses,
                                      logic [1:0] size);
    is_aligned = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (offered[l] && (addresses[LaneW*l +: ByteW] & size_mask(size)) != '0) is_aligned = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(some_lane, valid_i, lanes_i != '0, "a pass without a lane was offered")
  `GPURF_ASSERT_WHEN(all_aligned, valid_i, is_aligned(lanes_i, addr_i, size_i),
                     "a misaligned address was offered")
  `GPURF_ASSERT_WHEN(some_direct_lane, direct_valid_i, direct_lanes_i != '0,
                     "a pass without a lane was offered by the constant unit")
  `GPURF_ASSERT_WHEN(all_direct_aligned, direct_valid_i,
                     is_aligned(direct_lanes_i, direct_addr_i, direct_size_i),
                     "a misaligned address was offered by the constant unit")
  `GPURF_ASSERT_WHEN(word_exists, performed, 32'(chosen[ConstW-1:0]) < ConstWords,
                     "a word past the end of the constant memory was read")

endmodule

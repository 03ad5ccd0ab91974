// Parameters and constants.
//
// Reads one word a cycle and gives it to all lanes that want it: constants are the same for all
// threads most of the time, so one read port and a comparison do what would otherwise take 32
// banks. A pass takes two stages: the RAM is read at the end of the first, the lanes' bytes are
// taken out of the word at the end of the second.
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

  // lanes offered
  input  logic              valid_i,
  input  logic              room_i,             // the side queue has room
  input  logic [Lanes-1:0]  lanes_i,
  input  logic [WarpW-1:0]  warp_i,
  input  logic [1:0]        size_i,
  input  logic              signed_i,
  input  logic              reg_valid_i,
  input  logic [RegW-1:0]   reg_i,
  input  logic [DataW-1:0]  addr_i,
  input  logic              last_i,             // no lane is left behind this pass
  output logic [Lanes-1:0]  served_o,

  // result, two cycles after its pass
  output logic              result_valid_o,
  output logic [WarpW-1:0]  result_warp_o,
  output logic [Lanes-1:0]  result_mask_o,
  output logic              result_done_o,
  output logic              result_reg_valid_o,
  output logic [RegW-1:0]   result_reg_o,
  output logic [DataW-1:0]  result_data_o
);

  localparam int unsigned WordAddrW = LaneW - 2;  // bits of a word's address
  localparam int unsigned ByteW = 2;              // bits of a byte's place in its word

  // first stage
  logic                   first_valid_q;
  logic [Lanes-1:0]       first_mask_q;
  logic [WarpW-1:0]       first_warp_q;
  logic                   first_reg_valid_q;
  logic [RegW-1:0]        first_reg_q;
  logic [1:0]             first_size_q;
  logic                   first_signed_q;
  logic                   first_done_q;
  logic [ByteW*Lanes-1:0] byte_q;

  // second stage
  logic                   result_valid_q;
  logic [WarpW-1:0]       warp_q;
  logic [Lanes-1:0]       mask_q;
  logic                   done_q;
  logic                   reg_valid_q;
  logic [RegW-1:0]        reg_q;
  logic [DataW-1:0]       data_q;

  logic                   performed;
  logic [WordAddrW-1:0]   chosen;  // the word that is read
  logic [LaneW-1:0]       rdata;

  assign result_valid_o     = result_valid_q;
  assign result_warp_o      = warp_q;
  assign result_mask_o      = mask_q;
  assign result_done_o      = done_q;
  assign result_reg_valid_o = result_valid_q & reg_valid_q;
  assign result_reg_o       = reg_q;
  assign result_data_o      = data_q;

  assign performed = valid_i & room_i;

  // Downwards, so that the lowest lane's word is what stays.
  always_comb begin
    chosen   = '0;
    served_o = '0;
    if (performed) begin
      for (int unsigned l = Lanes; l > 0; l--) begin
        if (lanes_i[l-1]) chosen = addr_i[LaneW*(l-1)+ByteW +: WordAddrW];
      end
      for (int unsigned l = 0; l < Lanes; l++) begin
        served_o[l] = lanes_i[l] & (addr_i[LaneW*l+ByteW +: WordAddrW] == chosen);
      end
    end
  end

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
      result_valid_q <= first_valid_q;
    end
  end

  // The payload has no reset: it means nothing while its stage's valid is low.
  always_ff @(posedge clk_i) begin : first_stage
    automatic logic [ByteW*Lanes-1:0] place;
    if (performed) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        place[ByteW*l +: ByteW] = addr_i[LaneW*l +: ByteW] & {ByteW{served_o[l]}};
      end
      first_mask_q      <= served_o;
      first_warp_q      <= warp_i;
      first_reg_valid_q <= reg_valid_i;
      first_reg_q       <= reg_i;
      first_size_q      <= size_i;
      first_signed_q    <= signed_i;
      first_done_q      <= last_i;
      byte_q            <= place;
    end
  end

  always_ff @(posedge clk_i) begin : second_stage
    automatic logic [DataW-1:0] value;
    if (first_valid_q) begin
      warp_q      <= first_warp_q;
      mask_q      <= first_mask_q;
      done_q      <= first_done_q;
      reg_valid_q <= first_reg_valid_q;
      if (first_reg_valid_q) begin
        value = '0;
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (first_mask_q[l]) begin
            value[LaneW*l +: LaneW] =
                loaded(rdata, byte_q[ByteW*l +: ByteW], first_size_q, first_signed_q);
          end
        end
        reg_q  <= first_reg_q;
        data_q <= value;
      end
    end
  end

`ifndef SYNTHESIS
  // Every lane offered has an address that is a multiple of the size.
  function automatic logic is_aligned();
    is_aligned = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (lanes_i[l] && (addr_i[LaneW*l +: ByteW] & size_mask(size_i)) != '0) is_aligned = 1'b0;
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(some_lane, valid_i, lanes_i != '0, "a pass without a lane was offered")
  `GPURF_ASSERT_WHEN(all_aligned, valid_i, is_aligned(), "a misaligned address was offered")
  `GPURF_ASSERT_WHEN(word_exists, performed, 32'(chosen[ConstW-1:0]) < ConstWords,
                     "a word past the end of the constant memory was read")

endmodule

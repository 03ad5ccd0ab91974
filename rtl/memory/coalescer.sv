// Coalescer: combines lanes into accesses of lines of 128 bytes.
//
// Serves global and local memory. Each pass serves one line, that of the lowest lane left, to all
// lanes that access it. The request goes into a register at the SM's boundary. If an answer is
// expected, a row goes into the line table at the same edge, so that the rows are in
// the order in which memory answers. The words of local memory are interleaved by thread, within a
// warp, so lanes with equal local addresses, the usual case, share a line.
//
// Texture fetches take the same way to the texture unit beside memory. They have no line: what names the texture
// stands in the line's place, and one pass serves all lanes. A request has room for two coordinates, so the third
// one goes ahead in a request of its own, which has no answer and is no pass.
`include "gpurf_assert.svh"

module coalescer
  import gpurf_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // lanes offered
  input  logic                   valid_i,
  input  logic                   local_i,            // in local memory
  input  logic [Lanes-1:0]       lanes_i,
  input  logic [WarpW-1:0]       warp_i,
  input  logic [1:0]             kind_i,
  input  logic [1:0]             size_i,
  input  logic                   signed_i,
  input  logic [3:0]             atomic_i,
  input  logic                   bypass_i,           // the load bypasses the cache
  input  logic [LineW-1:0]       texture_i,          // of a texture fetch: handle, channel and access
  input  logic                   reg_valid_i,
  input  logic [RegW-1:0]        reg_i,
  input  logic [DataW-1:0]       addr_i,
  input  logic [DataW-1:0]       store_i,
  input  logic [DataW-1:0]       compare_i,
  input  logic [15:0]            local_words_i,      // words of local memory of a thread
  input  logic                   last_i,             // no lane is left after this pass
  output logic [Lanes-1:0]       served_o,
  output logic [LineW-1:0]       pass_line_o,        // line of the pass, or its texture; 0 without a pass

  // row of the line table or of the cache
  input  logic                   row_room_i,
  output logic                   row_valid_o,
  output logic [WarpW-1:0]       row_warp_o,
  output logic [Lanes-1:0]       row_mask_o,
  output logic                   row_reg_valid_o,
  output logic [RegW-1:0]        row_reg_o,
  output logic [1:0]             row_size_o,
  output logic                   row_signed_o,
  output logic                   row_lanewise_o,     // the answer has a word for each lane
  output logic                   row_done_o,         // last of its instruction
  output logic [LineOffsetW-1:0] row_offset_o [Lanes],

  // request
  output logic                   mem_req_valid_o,
  input  logic                   mem_req_ready_i,
  output logic [1:0]             mem_req_kind_o,
  output logic [3:0]             mem_req_atomic_o,
  output logic [1:0]             mem_req_size_o,
  output logic                   bypass_o,           // the request is a load that bypasses the cache
  output logic                   mem_req_answer_o,
  output logic [LineW-1:0]       mem_req_line_o,
  output logic [Lanes-1:0]       mem_req_mask_o,
  output logic [WarpW-1:0]       mem_req_warp_o,
  output logic [LineOffsetW-1:0] mem_req_offset_o [Lanes],
  output logic [DataW-1:0]       mem_req_data_o,
  output logic [DataW-1:0]       mem_req_compare_o
);

  localparam int unsigned ByteW = 2;                          // bits of a byte's offset in its word
  localparam int unsigned LaneIdxW = $clog2(Lanes);
  localparam int unsigned NumberW = LineW - 1;                // line within its memory

  logic                   third_q;  // the third coordinate of the fetch at hand has its request
  logic                   req_valid_q;
  logic [1:0]             kind_q;
  logic [3:0]             atomic_q;
  logic [1:0]             size_q;
  logic                   bypass_q;
  logic                   answer_q;
  logic [LineW-1:0]       line_q;
  logic [Lanes-1:0]       mask_q;
  logic [WarpW-1:0]       warp_q;
  logic [LineOffsetW-1:0] offset_q [Lanes];
  logic [DataW-1:0]       data_q;
  logic [DataW-1:0]       compare_q;

  logic                   texture;      // lanes of a texture fetch
  logic                   needs_third;  // its third coordinate has to go first
  logic                   free;         // the request register takes a request
  logic                   third;        // the request with the third coordinate is made
  logic                   answer;       // an answer is expected
  logic                   performed;
  logic                   make;         // a request is made
  logic [NumberW-1:0]     chosen;       // line or word number that the served lanes share
  logic [NumberW-1:0]     warp_base;    // first line of the warp's local memory
  logic [LineW-1:0]       line;         // line of the served lanes, or texture of the fetch

  // The number that must be equal for lanes to share a line: the line number in global memory, the
  // word number in the thread's local memory.
  function automatic logic [NumberW-1:0] number_of(int unsigned lane);
    return local_i ? addr_i[LaneW*lane+ByteW +: NumberW]
                   : addr_i[LaneW*lane+LineOffsetW +: NumberW];
  endfunction

  assign texture     = kind_i == KindTexture;
  assign needs_third = texture & texture_i[TextureThird] & ~third_q;
  assign free        = ~req_valid_q | mem_req_ready_i;
  assign answer      = (kind_i == KindLoad) | ((kind_i == KindAtomic) & reg_valid_i) | texture;

  // The request with the third coordinate has no row, so it does not wait for one.
  assign third     = valid_i & free & needs_third;
  assign performed = valid_i & free & ~needs_third & (~answer | row_room_i);
  assign make      = performed | third;
  assign warp_base = local_i ? NumberW'(warp_i) * NumberW'(local_words_i) : '0;

  // The loop runs downwards, so that the lowest lane's line remains.
  always_comb begin
    chosen   = '0;
    served_o = '0;
    if (performed) begin
      for (int unsigned l = Lanes; l > 0; l--) begin
        if (lanes_i[l-1]) chosen = number_of(l - 1);
      end
      for (int unsigned l = 0; l < Lanes; l++) begin
        served_o[l] = lanes_i[l] & (texture | (number_of(l) == chosen));
      end
    end
  end

  assign line        = texture ? texture_i : {local_i, chosen + warp_base};
  assign pass_line_o = performed ? line : '0;

  always_comb begin
    row_offset_o = '{default: '0};
    if (performed && !texture) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (served_o[l]) begin
          row_offset_o[l] = local_i ? {LaneIdxW'(l), addr_i[LaneW*l +: ByteW]}
                                    : addr_i[LaneW*l +: LineOffsetW];
        end
      end
    end
  end

  assign row_valid_o     = performed & answer;
  assign row_warp_o      = warp_i;
  assign row_mask_o      = served_o;
  assign row_reg_valid_o = reg_valid_i;
  assign row_reg_o       = reg_i;
  assign row_size_o      = size_i;
  assign row_signed_o    = signed_i;
  assign row_lanewise_o  = (kind_i == KindAtomic) | texture;
  assign row_done_o      = last_i;

  assign mem_req_valid_o   = req_valid_q;
  assign mem_req_kind_o    = kind_q;
  assign mem_req_atomic_o  = atomic_q;
  assign mem_req_size_o    = size_q;
  assign bypass_o          = bypass_q;
  assign mem_req_answer_o  = answer_q;
  assign mem_req_line_o    = line_q;
  assign mem_req_mask_o    = mask_q;
  assign mem_req_warp_o    = warp_q;
  assign mem_req_offset_o  = offset_q;
  assign mem_req_data_o    = data_q;
  assign mem_req_compare_o = compare_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) req_valid_q <= 1'b0;
    else         req_valid_q <= make | (req_valid_q & ~mem_req_ready_i);
  end

  // The lanes stay offered until the last request serves them, so one bit is enough to know how far the fetch is.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) third_q <= 1'b0;
    else         third_q <= third | (third_q & ~(performed & texture));
  end

  // The payload has no reset: it means nothing while req_valid_q is low.
  always_ff @(posedge clk_i) begin : request
    automatic logic [Lanes-1:0] lanes;   // lanes of the request
    automatic logic [DataW-1:0] enable;  // a bit for each bit of these lanes
    if (make) begin
      lanes = third ? lanes_i : served_o;
      for (int unsigned l = 0; l < Lanes; l++) enable[LaneW*l +: LaneW] = {LaneW{lanes[l]}};
      kind_q    <= kind_i;
      atomic_q  <= atomic_i;
      size_q    <= size_i;
      bypass_q  <= bypass_i & (kind_i == KindLoad);
      answer_q  <= answer & ~third;
      line_q    <= line;
      mask_q    <= lanes;
      warp_q    <= warp_i;
      // Of a texture fetch the last request has the coordinates a and b, the one in front of it c.
      if (texture && !third) begin
        data_q    <= addr_i & enable;
        compare_q <= compare_i & enable;
      end else begin
        data_q    <= (kind_i == KindLoad) ? '0 : store_i & enable;
        compare_q <= (atomic_i == AtomicCas) ? compare_i & enable : '0;
      end
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_offset
    always_ff @(posedge clk_i) begin
      if (make) offset_q[l] <= row_offset_o[l];
    end
  end

  `GPURF_ASSERT_WHEN(some_lane, valid_i, lanes_i != '0, "a pass without a lane was offered")
  `GPURF_ASSERT_WHEN(lowest_served, performed, (served_o & lanes_i & (~lanes_i + 1'b1)) != '0,
                     "the lowest lane left was passed over")
  `GPURF_ASSERT_WHEN(operation_of_atomic, valid_i, kind_i == KindAtomic || atomic_i == '0,
                     "an atomic operation was named by what is none")
  `GPURF_ASSERT_WHEN(fetch_follows, third_q && valid_i, texture && texture_i[TextureThird],
                     "another access follows the first request of a fetch")

endmodule

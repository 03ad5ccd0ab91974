// Decoded instructions that wait for issue.
//
// Two for each warp, a ring of two places, so that one can be fetched while another waits: a warp
// fetches every second cycle at most, and its head may wait for operands meanwhile. A warp has its
// own places, because any warp may issue next and none may be in another one's way.
`include "gpurf_assert.svh"

module instruction_buffer
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // instruction in
  input  logic             push_valid_i,
  input  logic [WarpW-1:0] push_warp_i,
  input  logic [PcW-1:0]   push_pc_i,
  input  logic [WordW-1:0] push_op_i,
  input  logic [WordW-1:0] push_ctl_i,
  input  roles_t           push_roles_i,

  // heads
  input  logic [Warps-1:0] pop_i,                // the head leaves at this edge
  output logic [Warps-1:0] room_o,               // fewer than two instructions are there
  output logic [Warps-1:0] head_valid_o,
  output logic [PcW-1:0]   head_pc_o    [Warps],
  output logic [WordW-1:0] head_op_o    [Warps],
  output logic [WordW-1:0] head_ctl_o   [Warps],
  output roles_t           head_roles_o [Warps]
);

  localparam int unsigned IndexW = $clog2(Warps);
  localparam int unsigned Places = 2;            // of a warp
  localparam int unsigned CountW = $clog2(Places + 1);

  logic [CountW-1:0] count_q [Warps];
  logic [Warps-1:0]  first_q;                    // place of the oldest
  logic [PcW-1:0]    pc_q    [Places*Warps];     // place f of warp w: 2 * w + f
  logic [WordW-1:0]  op_q    [Places*Warps];
  logic [WordW-1:0]  ctl_q   [Places*Warps];
  roles_t            roles_q [Places*Warps];

  logic [IndexW-1:0] push_index;
  logic [IndexW:0]   push_place;

  assign push_index = IndexW'(push_warp_i);
  assign push_place = {push_index, first_q[push_index] ^ count_q[push_index][0]};

  for (genvar w = 0; w < Warps; w++) begin : gen_warp
    assign room_o[w]       = count_q[w] < CountW'(Places);
    assign head_valid_o[w] = count_q[w] != '0;
    assign head_pc_o[w]    = first_q[w] ? pc_q[Places*w+1]    : pc_q[Places*w];
    assign head_op_o[w]    = first_q[w] ? op_q[Places*w+1]    : op_q[Places*w];
    assign head_ctl_o[w]   = first_q[w] ? ctl_q[Places*w+1]   : ctl_q[Places*w];
    assign head_roles_o[w] = first_q[w] ? roles_q[Places*w+1] : roles_q[Places*w];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '{default: '0};
      first_q <= '0;
    end else begin
      first_q <= first_q ^ pop_i;
      if (pop_i != '0) begin
        for (int unsigned w = 0; w < Warps; w++) begin
          if (pop_i[w]) count_q[w] <= count_q[w] - 1'b1;
        end
      end
      // Behind the pops: a warp that does both keeps its count.
      if (push_valid_i) begin
        count_q[push_index] <= count_q[push_index] + CountW'(!pop_i[push_index]);
      end
    end
  end

  // The payload has no reset: it means nothing while it is not counted.
  always_ff @(posedge clk_i) begin
    if (push_valid_i) begin
      pc_q[push_place]    <= push_pc_i;
      op_q[push_place]    <= push_op_i;
      ctl_q[push_place]   <= push_ctl_i;
      roles_q[push_place] <= push_roles_i;
    end
  end

  `GPURF_ASSERT_WHEN(push_in_range, push_valid_i, 32'(push_warp_i) < Warps,
                     "an instruction was pushed to a warp that does not exist")
  `GPURF_ASSERT_WHEN(push_only_with_room, push_valid_i, room_o[push_index] || pop_i[push_index],
                     "an instruction was pushed to a warp that has no place for it")
  `GPURF_ASSERT(pop_only_what_is_there, (pop_i & ~head_valid_o) == '0,
                "an instruction was popped of a warp that has none")

endmodule

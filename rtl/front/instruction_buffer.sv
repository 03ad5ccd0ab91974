// Instruction buffer: decoded instructions that wait for issue.
//
// Two places for each warp, as a ring, so that one instruction can be fetched while another waits: a warp
// fetches at most every second cycle, and its head may wait for operands meanwhile. Each warp has its
// own places, because any warp may issue next and none may block another one. There is a push
// for each fetch path, and those of a cycle are of different warps.
`include "gpurf_assert.svh"

module instruction_buffer
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // instructions in, one from each fetch path
  input  logic [IssuePorts-1:0] push_valid_i,
  input  logic [WarpW-1:0]      push_warp_i  [IssuePorts],
  input  logic [PcW-1:0]        push_pc_i    [IssuePorts],
  input  logic [WordW-1:0]      push_op_i    [IssuePorts],
  input  logic [WordW-1:0]      push_ctl_i   [IssuePorts],
  input  roles_t                push_roles_i [IssuePorts],

  // heads
  input  logic [Warps-1:0]      pop_i,                      // the head leaves at this edge
  output logic [Warps-1:0]      room_o,                     // the buffer has fewer than two instructions
  output logic [Warps-1:0]      head_valid_o,
  output logic [PcW-1:0]        head_pc_o    [Warps],
  output logic [WordW-1:0]      head_op_o    [Warps],
  output logic [WordW-1:0]      head_ctl_o   [Warps],
  output roles_t                head_roles_o [Warps]
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

  logic [IndexW-1:0] push_index [IssuePorts];
  logic [IndexW:0]   push_place [IssuePorts];

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_push
    assign push_index[p] = IndexW'(push_warp_i[p]);
    assign push_place[p] = {push_index[p], first_q[push_index[p]] ^ count_q[push_index[p]][0]};
  end

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
      // After the pops in this process: a warp with a push and a pop keeps its count.
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (push_valid_i[p]) begin
          count_q[push_index[p]] <= count_q[push_index[p]] + CountW'(!pop_i[push_index[p]]);
        end
      end
    end
  end

  // The payload has no reset: it has no meaning outside the counted places.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (push_valid_i[p]) begin
        pc_q[push_place[p]]    <= push_pc_i[p];
        op_q[push_place[p]]    <= push_op_i[p];
        ctl_q[push_place[p]]   <= push_ctl_i[p];
        roles_q[push_place[p]] <= push_roles_i[p];
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(push_in_range, push_valid_i[p], 32'(push_warp_i[p]) < Warps,
                       "an instruction was pushed to a warp that does not exist")
    `GPURF_ASSERT_WHEN(push_of_the_path, push_valid_i[p], 32'(push_warp_i[p]) % IssuePorts == p,
                       "an instruction was pushed from a path that is not its warp's")
    `GPURF_ASSERT_WHEN(push_only_with_room, push_valid_i[p],
                       room_o[push_index[p]] || pop_i[push_index[p]],
                       "an instruction was pushed to a warp that has no place for it")
  end
  `GPURF_ASSERT(pop_only_what_is_there, (pop_i & ~head_valid_o) == '0,
                "an instruction was popped of a warp that has none")

endmodule

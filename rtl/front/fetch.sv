// Which warp fetches, and from where.
//
// Keeps the fetch address of each warp and reads the code memory, one instruction a cycle. The
// warps take turns. Nothing is ever fetched on a wrong path, so that nothing has to be thrown away:
// behind an instruction that may send the group elsewhere, and in front of its reconvergence point,
// a warp stops until the SIMT stack says where it goes on. A warp has one fetch under way at most,
// because what is at decode decides whether there is a next one.
`include "gpurf_assert.svh"

module fetch
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned CodeWords = 4096,
  localparam int unsigned CodeW = $clog2(CodeWords),
  localparam int unsigned Resumes = IssuePorts + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // code, from the host
  input  logic               code_we_i,
  input  logic [CodeW-1:0]   code_addr_i,
  input  logic [WordW-1:0]   code_op_i,
  input  logic [WordW-1:0]   code_ctl_i,

  // where warps go on
  input  logic               start_valid_i,
  input  logic [WarpW-1:0]   start_warp_i,
  input  logic [Resumes-1:0] resume_valid_i,
  input  logic [WarpW-1:0]   resume_warp_i   [Resumes],
  input  logic [PcW-1:0]     resume_pc_i     [Resumes],

  // which warps may fetch
  input  logic [Warps-1:0]   room_i,                     // its buffer has room for one more
  input  logic [Warps-1:0]   held_i,                     // it waits at a barrier
  input  logic [PcW-1:0]     reconvergence_i [Warps],    // of its group

  // decode
  input  logic               decode_stop_i,              // what is there may send it elsewhere
  output logic               decode_valid_o,
  output logic [WarpW-1:0]   decode_warp_o,
  output logic [PcW-1:0]     decode_pc_o,
  output logic [WordW-1:0]   decode_op_o,
  output logic [WordW-1:0]   decode_ctl_o
);

  localparam int unsigned IndexW = $clog2(Warps);

  logic [Warps-1:0] running_q;        // has an address to go on from
  logic             valid_q;          // an instruction is at decode
  logic [WarpW-1:0] rr_q;             // where the next search begins
  logic [PcW-1:0]   pc_q [Warps];
  logic [WarpW-1:0] warp_q;
  logic [PcW-1:0]   fetch_pc_q;

  logic [Warps-1:0] eligible;
  logic             chosen_valid;
  logic [WarpW-1:0] chosen;
  logic [PcW-1:0]   chosen_pc;
  logic             stop;             // the warp at decode stops

  assign decode_valid_o = valid_q;
  assign decode_warp_o  = warp_q;
  assign decode_pc_o    = fetch_pc_q;

  always_comb begin
    eligible = running_q & room_i & ~held_i;
    if (valid_q) eligible[IndexW'(warp_q)] = 1'b0;
  end

  assign chosen_valid = eligible != '0;
  assign chosen       = next_warp(WarpSetW'(eligible), rr_q);
  assign chosen_pc    = pc_q[IndexW'(chosen)];

  assign stop = valid_q &
                (decode_stop_i | (fetch_pc_q + 1'b1 == reconvergence_i[IndexW'(warp_q)]));

  ram_1r1w #(
    .Depth(CodeWords),
    .Parts(1),
    .PartW(WordW)
  ) u_op_ram (
    .clk_i,
    .re_i   (chosen_valid),
    .raddr_i(CodeW'(chosen_pc)),
    .we_i   (code_we_i),
    .waddr_i(code_addr_i),
    .wmask_i(1'b1),
    .wdata_i(code_op_i),
    .rdata_o(decode_op_o)
  );

  ram_1r1w #(
    .Depth(CodeWords),
    .Parts(1),
    .PartW(WordW)
  ) u_ctl_ram (
    .clk_i,
    .re_i   (chosen_valid),
    .raddr_i(CodeW'(chosen_pc)),
    .we_i   (code_we_i),
    .waddr_i(code_addr_i),
    .wmask_i(1'b1),
    .wdata_i(code_ctl_i),
    .rdata_o(decode_ctl_o)
  );

  // What stands further down wins: a start over a resume, a higher resume over a lower one, and
  // both over what the fetch itself would do.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= '0;
      valid_q   <= 1'b0;
      rr_q      <= '0;
    end else begin
      valid_q <= chosen_valid;
      if (chosen_valid) begin
        warp_q                <= chosen;
        fetch_pc_q            <= chosen_pc;
        pc_q[IndexW'(chosen)] <= chosen_pc + 1'b1;
        rr_q                  <= (chosen == WarpW'(Warps - 1)) ? '0 : chosen + 1'b1;
      end
      if (stop) running_q[IndexW'(warp_q)] <= 1'b0;
      for (int unsigned k = 0; k < Resumes; k++) begin
        if (resume_valid_i[k]) begin
          running_q[IndexW'(resume_warp_i[k])] <= 1'b1;
          pc_q[IndexW'(resume_warp_i[k])]      <= resume_pc_i[k];
        end
      end
      if (start_valid_i) begin
        running_q[IndexW'(start_warp_i)] <= 1'b1;
        pc_q[IndexW'(start_warp_i)]      <= '0;
      end
    end
  end

`ifndef SYNTHESIS
  function automatic logic resumes_differ();
    resumes_differ = 1'b1;
    for (int unsigned k = 1; k < Resumes; k++) begin
      for (int unsigned j = 0; j < k; j++) begin
        if (resume_valid_i[k] && resume_valid_i[j] && resume_warp_i[k] == resume_warp_i[j]) begin
          resumes_differ = 1'b0;
        end
      end
    end
  endfunction
`endif

  `GPURF_ASSERT(turn_in_range, 32'(rr_q) < Warps, "the turn is at a warp that does not exist")
  `GPURF_ASSERT_WHEN(start_in_range, start_valid_i, 32'(start_warp_i) < Warps,
                     "a warp that does not exist was started")
  `GPURF_ASSERT_WHEN(one_resume_a_warp, resume_valid_i != '0, resumes_differ(),
                     "a warp was sent to two addresses at once")

endmodule

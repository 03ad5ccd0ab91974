// Fetch: selects the warps that fetch, and keeps their addresses.
//
// Keeps the fetch address of each warp and reads the code memory, one instruction a cycle for each
// issue port: a port's warps take turns on a fetch path of their own, with a copy of the code, so
// that two ports have enough to issue. Nothing is ever fetched on a wrong path, so nothing has
// to be flushed: after an instruction that may change the group's address, and before its
// reconvergence point, a warp stops until the SIMT stack gives the address at which it resumes. A warp has at
// most one fetch in flight, because the instruction at decode decides whether there is a next one.
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
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // code, from the host
  input  logic                  code_we_i,
  input  logic [CodeW-1:0]      code_addr_i,
  input  logic [WordW-1:0]      code_op_i,
  input  logic [WordW-1:0]      code_ctl_i,

  // addresses at which warps start or resume
  input  logic                  start_valid_i,
  input  logic [WarpW-1:0]      start_warp_i,
  input  logic [Resumes-1:0]    resume_valid_i,
  input  logic [WarpW-1:0]      resume_warp_i   [Resumes],
  input  logic [PcW-1:0]        resume_pc_i     [Resumes],

  // which warps may fetch
  input  logic [Warps-1:0]      room_i,                        // the warp's buffer has room for one more
  input  logic [Warps-1:0]      held_i,                        // the warp waits at a barrier
  input  logic [PcW-1:0]        reconvergence_i [Warps],       // reconvergence point of the warp's group

  // decode, of each path
  input  logic [IssuePorts-1:0] decode_stop_i,                 // the instruction may change the warp's address
  output logic [IssuePorts-1:0] decode_valid_o,
  output logic [WarpW-1:0]      decode_warp_o   [IssuePorts],
  output logic [PcW-1:0]        decode_pc_o     [IssuePorts],
  output logic [WordW-1:0]      decode_op_o     [IssuePorts],
  output logic [WordW-1:0]      decode_ctl_o    [IssuePorts]
);

  localparam int unsigned IndexW = $clog2(Warps);

  // The warps of path 0; the set for path 1 is shifted by one.
  localparam logic [Warps-1:0] OwnWarps =
      (IssuePorts == 1) ? '1 : Warps'({WarpSetW / 2{2'b01}});

  logic [Warps-1:0]      running_q;                // the warp has a valid fetch address
  logic [PcW-1:0]        pc_q       [Warps];
  logic [IssuePorts-1:0] valid_q;                  // an instruction is at decode
  logic [WarpW-1:0]      warp_q     [IssuePorts];
  logic [PcW-1:0]        fetch_pc_q [IssuePorts];
  logic [WarpW-1:0]      rr_q       [IssuePorts];  // where the next search begins

  logic [IssuePorts-1:0] chosen_valid;
  logic [WarpW-1:0]      chosen     [IssuePorts];
  logic [PcW-1:0]        chosen_pc  [IssuePorts];
  logic [IssuePorts-1:0] stop;                     // the warp whose instruction is at decode stops

  assign decode_valid_o = valid_q;
  assign decode_warp_o  = warp_q;
  assign decode_pc_o    = fetch_pc_q;

  always_comb begin : choose
    logic [Warps-1:0] eligible;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      eligible = running_q & room_i & ~held_i & (OwnWarps << p);
      if (valid_q[p]) eligible[IndexW'(warp_q[p])] = 1'b0;
      chosen_valid[p] = eligible != '0;
      chosen[p]       = next_warp(WarpSetW'(eligible), rr_q[p]);
      chosen_pc[p]    = pc_q[IndexW'(chosen[p])];
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      stop[p] = valid_q[p] &
                (decode_stop_i[p] |
                 (fetch_pc_q[p] + 1'b1 == reconvergence_i[IndexW'(warp_q[p])]));
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_path
    ram_1r1w #(
      .Depth(CodeWords),
      .Parts(1),
      .PartW(WordW)
    ) u_op_ram (
      .clk_i,
      .re_i   (chosen_valid[p]),
      .raddr_i(CodeW'(chosen_pc[p])),
      .we_i   (code_we_i),
      .waddr_i(code_addr_i),
      .wmask_i(1'b1),
      .wdata_i(code_op_i),
      .rdata_o(decode_op_o[p])
    );

    ram_1r1w #(
      .Depth(CodeWords),
      .Parts(1),
      .PartW(WordW)
    ) u_ctl_ram (
      .clk_i,
      .re_i   (chosen_valid[p]),
      .raddr_i(CodeW'(chosen_pc[p])),
      .we_i   (code_we_i),
      .waddr_i(code_addr_i),
      .wmask_i(1'b1),
      .wdata_i(code_ctl_i),
      .rdata_o(decode_ctl_o[p])
    );
  end

  // Later assignments win: a start over a resume, a higher resume over a lower one, and
  // both over the result of the fetch itself.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= '0;
      valid_q   <= '0;
      rr_q      <= '{default: '0};
    end else begin
      valid_q <= chosen_valid;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (chosen_valid[p]) begin
          warp_q[p]                <= chosen[p];
          fetch_pc_q[p]            <= chosen_pc[p];
          pc_q[IndexW'(chosen[p])] <= chosen_pc[p] + 1'b1;
          rr_q[p] <= (chosen[p] == WarpW'(Warps - 1)) ? '0 : chosen[p] + 1'b1;
        end
        if (stop[p]) running_q[IndexW'(warp_q[p])] <= 1'b0;
      end
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

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT(turn_in_range, 32'(rr_q[p]) < Warps, "the turn is at a warp that does not exist")
  end

  `GPURF_ASSERT_WHEN(start_in_range, start_valid_i, 32'(start_warp_i) < Warps,
                     "a warp that does not exist was started")
  `GPURF_ASSERT_WHEN(one_resume_a_warp, resume_valid_i != '0, resumes_differ(),
                     "a warp was sent to two addresses at once")

endmodule

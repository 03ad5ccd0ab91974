// The seam between the pipeline and the register file.
//
// Asks a provider for an instruction's operands, keeps the rest of the instruction meanwhile, and
// sends it on with its operands. The provider here is the main register file, the baseline of the
// papers; a variant takes its place here and nowhere else (docs/sm.md, "The seam"). What the
// provider carries for an instruction is a slot number, because the provider chooses which
// instruction leaves first.
`include "gpurf_assert.svh"

module operand_stage
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned ColW = $clog2(Collectors),
  localparam int unsigned RowsW = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           cfg_i,   // the provider's strap
  input  logic [RowsW-1:0]               rows_i,  // rows of the register file that a warp has

  // issue
  input  logic [IssuePorts-1:0]          issue_valid_i,
  output logic [IssuePorts-1:0]          issue_ready_o,
  input  logic [WarpW-1:0]               issue_warp_i      [IssuePorts],
  input  logic [Lanes-1:0]               issue_mask_i      [IssuePorts],
  input  logic [PcW-1:0]                 issue_pc_i        [IssuePorts],
  input  logic [WordW-1:0]               issue_op_i        [IssuePorts],
  input  logic [WordW-1:0]               issue_ctl_i       [IssuePorts],
  input  roles_t                         issue_roles_i     [IssuePorts],
  input  logic [Lanes-1:0]               issue_s_i         [IssuePorts],
  input  logic [Lanes-1:0]               issue_t_i         [IssuePorts],

  // results
  input  logic [IssuePorts-1:0]          write_valid_i,
  output logic [IssuePorts-1:0]          write_ready_o,
  input  logic [WarpW-1:0]               write_warp_i      [IssuePorts],
  input  logic [RegW-1:0]                write_reg_i       [IssuePorts],
  input  logic [Lanes-1:0]               write_mask_i      [IssuePorts],
  input  logic [DataW-1:0]               write_data_i      [IssuePorts],

  // results that have gone into their bank
  output logic [IssuePorts-1:0]          write_done_o,
  output logic [WarpW-1:0]               write_done_warp_o [IssuePorts],
  output logic [RegW-1:0]                write_done_reg_o  [IssuePorts],

  // dispatch
  output logic [IssuePorts-1:0]          dispatch_valid_o,
  input  logic [IssuePorts-1:0]          dispatch_ready_i,
  output logic [WarpW-1:0]               dispatch_warp_o   [IssuePorts],
  output logic [Lanes-1:0]               dispatch_mask_o   [IssuePorts],
  output logic [PcW-1:0]                 dispatch_pc_o     [IssuePorts],
  output logic [WordW-1:0]               dispatch_op_o     [IssuePorts],
  output logic [WordW-1:0]               dispatch_ctl_o    [IssuePorts],
  output roles_t                         dispatch_roles_o  [IssuePorts],
  output logic [Lanes-1:0]               dispatch_s_o      [IssuePorts],
  output logic [Lanes-1:0]               dispatch_t_o      [IssuePorts],
  output logic [Operands*IssuePorts-1:0] dispatch_src_valid_o,
  output logic [DataW-1:0]               dispatch_data_o   [Operands*IssuePorts],

  output mrf_event_t                     event_o
);

  // the instructions in the provider, by slot
  logic [Collectors-1:0] slot_busy_q;
  logic [PcW-1:0]        pc_q    [Collectors];
  logic [WordW-1:0]      op_q    [Collectors];
  logic [WordW-1:0]      ctl_q   [Collectors];
  roles_t                roles_q [Collectors];
  logic [Lanes-1:0]      s_q     [Collectors];
  logic [Lanes-1:0]      t_q     [Collectors];

  // what the provider is told
  logic [EntryW-1:0]              issue_base    [IssuePorts];
  logic [ColW-1:0]                issue_tag     [IssuePorts];
  logic [Operands*IssuePorts-1:0] issue_src_valid;
  logic [RegW-1:0]                issue_src_reg [Operands*IssuePorts];
  logic [EntryW-1:0]              write_base    [IssuePorts];

  // what it answers
  logic [IssuePorts-1:0]          issue_ready;
  logic [IssuePorts-1:0]          dispatch_valid;
  logic [ColW-1:0]                dispatch_tag  [IssuePorts];

  logic [IssuePorts-1:0] slot_free;   // there is a slot for the port
  logic [IssuePorts-1:0] issued;
  logic [IssuePorts-1:0] dispatched;

  // Port p has the (p+1)-th lowest free slot, whether or not the lower port has an instruction.
  always_comb begin : issue_slot
    logic [Collectors-1:0] idle;
    idle = ~slot_busy_q;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      slot_free[p] = idle != '0;
      issue_tag[p] = '0;
      for (int unsigned c = Collectors; c > 0; c--) begin
        if (idle[c-1]) issue_tag[p] = ColW'(c - 1);
      end
      idle[issue_tag[p]] = 1'b0;
    end
  end

  // Depth is a power of two: dropping upper bits is the modulo.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_port
    assign issue_base[p] = EntryW'(32'(issue_warp_i[p]) * 32'(rows_i));
    assign write_base[p] = EntryW'(32'(write_warp_i[p]) * 32'(rows_i));

    assign issue_src_reg[Operands*p]   = issue_roles_i[p].a;
    assign issue_src_reg[Operands*p+1] = issue_roles_i[p].b;
    assign issue_src_reg[Operands*p+2] = issue_roles_i[p].c;
    for (genvar k = 0; k < Operands; k++) begin : gen_source
      assign issue_src_valid[Operands*p+k] =
          issue_valid_i[p] && issue_src_reg[Operands*p+k] != NoReg;
    end

    assign dispatch_pc_o[p]    = pc_q[dispatch_tag[p]];
    assign dispatch_op_o[p]    = op_q[dispatch_tag[p]];
    assign dispatch_ctl_o[p]   = ctl_q[dispatch_tag[p]];
    assign dispatch_roles_o[p] = roles_q[dispatch_tag[p]];
    assign dispatch_s_o[p]     = s_q[dispatch_tag[p]];
    assign dispatch_t_o[p]     = t_q[dispatch_tag[p]];
  end

  mrf #(
    .Banks     (Banks),
    .DualPort  (DualPort),
    .Collectors(Collectors),
    .IssuePorts(IssuePorts),
    .Depth     (Depth),
    .TagW      (ColW)
  ) u_provider (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .issue_valid_i,
    .issue_ready_o       (issue_ready),
    .issue_warp_i,
    .issue_base_i        (issue_base),
    .issue_mask_i,
    .issue_tag_i         (issue_tag),
    .issue_src_valid_i   (issue_src_valid),
    .issue_src_reg_i     (issue_src_reg),
    .write_valid_i,
    .write_ready_o,
    .write_warp_i,
    .write_base_i        (write_base),
    .write_reg_i,
    .write_mask_i,
    .write_data_i,
    .write_done_o,
    .write_done_warp_o,
    .write_done_reg_o,
    .dispatch_valid_o    (dispatch_valid),
    .dispatch_ready_i,
    .dispatch_warp_o,
    .dispatch_mask_o,
    .dispatch_tag_o      (dispatch_tag),
    .dispatch_src_valid_o,
    .dispatch_data_o,
    .event_o
  );

  assign issue_ready_o    = issue_ready;
  assign dispatch_valid_o = dispatch_valid;
  assign issued           = issue_valid_i & issue_ready;
  assign dispatched       = dispatch_valid & dispatch_ready_i;

  // A slot that is filled was free, and one that is freed was busy: they never meet.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_busy_q <= '0;
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (issued[p])     slot_busy_q[issue_tag[p]]    <= 1'b1;
        if (dispatched[p]) slot_busy_q[dispatch_tag[p]] <= 1'b0;
      end
    end
  end

  // The instructions have no reset: they mean nothing outside the busy slots.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (issued[p]) begin
        pc_q[issue_tag[p]]    <= issue_pc_i[p];
        op_q[issue_tag[p]]    <= issue_op_i[p];
        ctl_q[issue_tag[p]]   <= issue_ctl_i[p];
        roles_q[issue_tag[p]] <= issue_roles_i[p];
        s_q[issue_tag[p]]     <= issue_s_i[p];
        t_q[issue_tag[p]]     <= issue_t_i[p];
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT(slot_for_each_collector, !issue_ready[p] || slot_free[p],
                  "the provider takes an instruction for which there is no slot")
    `GPURF_ASSERT(dispatched_is_held, !dispatch_valid[p] || slot_busy_q[dispatch_tag[p]],
                  "the provider offers an instruction that no slot holds")
  end

endmodule

// Operands that the candidates will want next.
//
// The latch of the arbitration stage for the instructions that probably issue next. It holds the operands of each
// port's candidate (the warp that lost the last level of the selection tree), mapped to banks
// (stealing paper, section IV-B2 and figure 7). Sources that name one register are read once, as in
// the collectors: only the lowest of them is wanted.
module steal_candidates
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // candidates of this cycle
  input  logic [IssuePorts-1:0]          candidate_valid_i,
  input  logic [WarpW-1:0]               candidate_warp_i  [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] candidate_src_valid_i,
  input  logic [BankW-1:0]               candidate_bank_i  [Operands*IssuePorts],
  input  logic [EntryW-1:0]              candidate_entry_i [Operands*IssuePorts],
  input  logic [IssuePorts-1:0]          ready_i,          // a collector is free for the port

  // operands of the candidates of the previous cycle
  output logic [Operands*IssuePorts-1:0] want_valid_o,
  output logic [BankW-1:0]               want_bank_o       [Operands*IssuePorts],
  output logic [EntryW-1:0]              want_entry_o      [Operands*IssuePorts],
  output logic [WarpW-1:0]               want_warp_o       [IssuePorts]
);

  logic [IssuePorts-1:0]          valid_q;
  logic [WarpW-1:0]               warp_q   [IssuePorts];
  logic [Operands*IssuePorts-1:0] leader_d;
  logic [Operands*IssuePorts-1:0] leader_q;
  logic [BankW-1:0]               bank_q   [Operands*IssuePorts];
  logic [EntryW-1:0]              entry_q  [Operands*IssuePorts];

  assign want_bank_o  = bank_q;
  assign want_entry_o = entry_q;
  assign want_warp_o  = warp_q;

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_want
    assign want_valid_o[Operands*p +: Operands] =
        (valid_q[p] && ready_i[p]) ? leader_q[Operands*p +: Operands] : '0;
  end

  // A source leads if it is a register that no lower source of the same candidate names.
  always_comb begin
    leader_d = candidate_src_valid_i;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned s = 1; s < Operands; s++) begin
        for (int unsigned lower = 0; lower < s; lower++) begin
          if (candidate_src_valid_i[Operands*p+lower] &&
              candidate_bank_i[Operands*p+lower] == candidate_bank_i[Operands*p+s] &&
              candidate_entry_i[Operands*p+lower] == candidate_entry_i[Operands*p+s]) begin
            leader_d[Operands*p+s] = 1'b0;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= candidate_valid_i;
  end

  // The payload has no reset: it means nothing while valid_q is low.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (candidate_valid_i[p]) begin
        warp_q[p]                        <= candidate_warp_i[p];
        leader_q[Operands*p +: Operands] <= leader_d[Operands*p +: Operands];
        for (int unsigned s = 0; s < Operands; s++) begin
          if (candidate_src_valid_i[Operands*p+s]) begin
            bank_q[Operands*p+s]  <= candidate_bank_i[Operands*p+s];
            entry_q[Operands*p+s] <= candidate_entry_i[Operands*p+s];
          end
        end
      end
    end
  end

endmodule

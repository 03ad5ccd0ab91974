// My own arbiter for the banks of the register file: each bank decides for itself.
//
// The project's module loops over the requests and checks for each of them whether another one goes
// before it. This one has a copy of the decision for each bank, and a bank searches its collectors
// in the order of their priority. Name, parameters and ports are those of rtl/mrf/mrf_arbiter.sv;
// the two registers have the names under which lockstep compares them.
module mrf_arbiter
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned ColW = $clog2(Collectors)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_i,

  input  logic [Slots-1:0]      req_valid_i,
  input  logic [BankW-1:0]      req_bank_i         [Slots],
  input  logic [EntryW-1:0]     req_entry_i        [Slots],
  input  logic [GroupsW-1:0]    req_groups_i       [Collectors],
  input  logic [Collectors-1:0] older_i            [Collectors],

  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [BankW-1:0]      write_bank_i       [IssuePorts],
  input  logic [EntryW-1:0]     write_entry_i      [IssuePorts],
  input  logic [GroupsW-1:0]    write_groups_i     [IssuePorts],

  output logic [Slots-1:0]      grant_o,
  output logic [IssuePorts-1:0] write_grant_o,

  output logic [Banks-1:0]      read_valid_o,
  output logic [EntryW-1:0]     read_entry_o       [Banks],
  output logic [Banks-1:0]      bank_write_valid_o,
  output logic [Banks-1:0]      bank_write_port_o,
  output logic [EntryW-1:0]     bank_write_entry_o [Banks],

  output mrf_arbiter_event_t    event_o
);

  logic [ColW-1:0]       rr_q   [Banks];  // collector where a bank's next search begins
  logic                  turn_q;          // queue that goes first when both want one bank

  logic [Slots-1:0]      blocking;        // reads whose register a write waits for
  logic [IssuePorts-1:0] held;            // writes that wait for such a read
  logic [IssuePorts-1:0] ready;           // writes that could be granted alone
  logic                  contest;

  logic [Slots-1:0]      mine    [Banks]; // requests at the bank
  logic [Slots-1:0]      granted [Banks];
  logic [ColW-1:0]       winner  [Banks]; // collector that the bank serves

  // A write waits while any request reads its register, and makes these requests urgent.
  always_comb begin
    blocking = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      held[p] = 1'b0;
      for (int unsigned i = 0; i < Slots; i++) begin
        if (write_valid_i[p] && req_valid_i[i] &&
            {req_bank_i[i], req_entry_i[i]} == {write_bank_i[p], write_entry_i[p]}) begin
          blocking[i] = 1'b1;
          held[p]     = 1'b1;
        end
      end
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      ready[p] = write_valid_i[p] && !held[p] &&
                 (DualPort != 0 || (mine[write_bank_i[p]] & blocking) == '0);
    end
    contest       = IssuePorts > 1 && ready == '1 && write_bank_i[0] == write_bank_i[IssuePorts-1];
    write_grant_o = ready;
    // If both queues want one bank, queue `turn_q` goes first and the other one waits.
    if (contest) write_grant_o[turn_q ? 0 : IssuePorts-1] = 1'b0;
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [Slots-1:0]      candidates;
    logic [Collectors-1:0] wanting;       // collectors with a candidate
    logic                  found;
    logic [ColW-1:0]       first;         // first collector in the order of priority
    logic [Slots-1:0]      chosen;
    logic [EntryW-1:0]     entry;

    always_comb begin
      for (int unsigned i = 0; i < Slots; i++) begin
        mine[b][i] = req_valid_i[i] && req_bank_i[i] == BankW'(b);
      end
    end

    // The write.
    always_comb begin
      bank_write_valid_o[b] = 1'b0;
      bank_write_port_o[b]  = 1'b0;
      bank_write_entry_o[b] = '0;
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (write_grant_o[p] && write_bank_i[p] == BankW'(b)) begin
          bank_write_valid_o[b] = 1'b1;
          bank_write_port_o[b]  = p != 0;
          bank_write_entry_o[b] = write_entry_i[p];
        end
      end
    end

    // The read: urgent requests, else all; none while a single port writes.
    always_comb begin
      candidates = (mine[b] & blocking) != '0 ? mine[b] & blocking : mine[b];
      if (DualPort == 0 && bank_write_valid_o[b]) candidates = '0;
      for (int unsigned c = 0; c < Collectors; c++) begin
        wanting[c] = candidates[c*Operands+:Operands] != '0;
      end

      // The search runs backwards: the last collector found is the first in the order of priority.
      found = 1'b0;
      first = '0;
      for (int k = int'(Collectors) - 1; k >= 0; k--) begin
        if (cfg_i) begin
          if (wanting[ColW'(rr_q[b] + ColW'(k))]) begin
            found = 1'b1;
            first = rr_q[b] + ColW'(k);
          end
        end else if (wanting[k] && (wanting & older_i[k]) == '0) begin
          found = 1'b1;
          first = ColW'(k);
        end
      end

      // The winner's first candidate.
      chosen = '0;
      entry  = '0;
      for (int o = int'(Operands) - 1; o >= 0; o--) begin
        if (found && candidates[int'(first)*int'(Operands)+o]) begin
          chosen                                 = '0;
          chosen[int'(first)*int'(Operands)+o] = 1'b1;
          entry = req_entry_i[int'(first)*int'(Operands)+o];
        end
      end
    end

    assign granted[b]      = chosen;
    assign winner[b]       = first;
    assign read_valid_o[b] = found;
    assign read_entry_o[b] = entry;
  end

  always_comb begin
    grant_o = '0;
    for (int unsigned b = 0; b < Banks; b++) grant_o |= granted[b];
  end

  // A request without a grant counts once, by what its bank does instead.
  always_comb begin
    event_o = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (req_valid_i[i]) begin
        if (grant_o[i]) begin
          event_o.read        += 1'b1;
          event_o.read_groups += 9'(req_groups_i[i/Operands]);
        end else if (DualPort == 0 && bank_write_valid_o[req_bank_i[i]]) begin
          event_o.conflict_read_write += 1'b1;
        end else if (read_valid_o[req_bank_i[i]] && winner[req_bank_i[i]] == ColW'(i/Operands)) begin
          event_o.conflict_intra += 1'b1;
        end else begin
          event_o.conflict_inter += 1'b1;
        end
      end
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_grant_o[p]) begin
        event_o.write        += 1'b1;
        event_o.write_groups += 5'(write_groups_i[p]);
      end else if (held[p]) begin
        event_o.write_held += 1'b1;
      end else if (write_valid_i[p]) begin
        event_o.conflict_write += 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rr_q   <= '{default: '0};
      turn_q <= 1'b0;
    end else begin
      if (contest) turn_q <= !turn_q;
      for (int unsigned b = 0; b < Banks; b++) begin
        if (cfg_i && read_valid_o[b]) rr_q[b] <= winner[b] + 1'b1;
      end
    end
  end

endmodule

// Bank arbiter: decides in each cycle which accesses each bank performs.
//
// A bank has a single access at a time, and writes go first, for "an early clearance of the
// dependent instructions on the scoreboard" (stealing paper, section II-B); a dual-ported bank
// takes a read and a write together (RFC paper, section 2.1). One exception keeps registers right:
// a result whose register still has a pending read is held back, and that read goes before
// everything else at its bank, so that a stream of other writes cannot starve it.
//
//   single-ported: blocking read, write, other read
//   dual-ported:   blocking read, other read; writes beside them
//
// The order among the reads of a bank is a strap. Both orders answer one question for each request:
// is a collector with priority over mine among the candidates of this bank? So the
// loops run over the requests and not over banks times requests.
`include "gpurf_assert.svh"

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
  input  logic                  cfg_i,                            // 0: oldest, 1: round-robin

  // reads
  input  logic [Slots-1:0]      req_valid_i,
  input  logic [BankW-1:0]      req_bank_i         [Slots],
  input  logic [EntryW-1:0]     req_entry_i        [Slots],
  input  logic [GroupsW-1:0]    req_groups_i       [Collectors],  // cost of a read
  input  logic [Collectors-1:0] older_i            [Collectors],  // [c][d]: d is older than c

  // writes
  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [BankW-1:0]      write_bank_i       [IssuePorts],
  input  logic [EntryW-1:0]     write_entry_i      [IssuePorts],
  input  logic [GroupsW-1:0]    write_groups_i     [IssuePorts],  // cost of the write

  // decisions
  output logic [Slots-1:0]      grant_o,
  output logic [IssuePorts-1:0] write_grant_o,

  // banks
  output logic [Banks-1:0]      read_valid_o,
  output logic [EntryW-1:0]     read_entry_o       [Banks],
  output logic [Banks-1:0]      bank_write_valid_o,
  output logic [Banks-1:0]      bank_write_port_o,
  output logic [EntryW-1:0]     bank_write_entry_o [Banks],

  output mrf_arbiter_event_t    event_o
);

  logic [ColW-1:0]       rr_q [Banks];           // collector at which the next round-robin search begins
  logic                  turn_d, turn_q;         // write queue that goes first in a contest

  logic [Slots-1:0]      blocking;               // request holds a write of its register back
  logic [Banks-1:0]      blocked;                // bank has a blocking request
  logic [IssuePorts-1:0] held;                   // write is held back
  logic [IssuePorts-1:0] wants;                  // write could be granted if it were alone
  logic                  contest;                // both queues want the same bank
  logic [Banks-1:0]      readable;               // bank can read in this cycle
  logic [Slots-1:0]      candidate;
  logic [Collectors-1:0] candidates [Banks];     // collectors with a candidate at the bank
  logic [ColW-1:0]       chosen     [Banks];     // collector whose read the bank performs
  logic [Slots-1:0]      waits;                  // requests without a grant
  logic [Slots-1:0]      waits_own;              // waits for a read of its own instruction
  logic [Slots-1:0]      waits_other;
  logic [Slots-1:0]      waits_write;

  // The collectors that go before collector c in a round-robin search from `start`.
  function automatic logic [Collectors-1:0] before_in_turn(int unsigned c, logic [ColW-1:0] start);
    logic [Collectors-1:0] below_c;
    logic [Collectors-1:0] below_start;
    below_c     = ~({Collectors{1'b1}} << c);
    below_start = ~({Collectors{1'b1}} << start);
    return (c >= 32'(start)) ? (below_c & ~below_start) : (below_c | ~below_start);
  endfunction

  // 1. Hold a write while its register has a pending read.
  always_comb begin
    blocking = '0;
    blocked  = '0;
    held     = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_valid_i[p]) begin
        for (int unsigned i = 0; i < Slots; i++) begin
          if (req_valid_i[i] && req_bank_i[i] == write_bank_i[p] &&
              req_entry_i[i] == write_entry_i[p]) begin
            blocking[i]              = 1'b1;
            blocked[write_bank_i[p]] = 1'b1;
            held[p]                  = 1'b1;
          end
        end
      end
    end
  end

  // 2. Writes. With one queue, IssuePorts-1 is queue 0, and there is no contest.
  always_comb begin
    bank_write_valid_o = '0;
    bank_write_port_o  = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      wants[p] = write_valid_i[p] & ~held[p] & (DualPort != 0 || !blocked[write_bank_i[p]]);
    end
    contest = (IssuePorts > 1) && wants == '1 && write_bank_i[0] == write_bank_i[IssuePorts-1];
    turn_d  = turn_q ^ contest;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      write_grant_o[p] = wants[p] & (~contest | turn_q == 1'(p));
      if (write_grant_o[p]) begin
        bank_write_valid_o[write_bank_i[p]] = 1'b1;
        bank_write_port_o[write_bank_i[p]]  = 1'(p);
      end
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    if (IssuePorts == 1) begin : gen_one_queue
      assign bank_write_entry_o[b] = write_entry_i[0];
    end else begin : gen_two_queues
      assign bank_write_entry_o[b] = write_entry_i[bank_write_port_o[b]];
    end
  end

  // 3. Reads. Granted is the lowest slot over which no candidate of the bank has priority.
  assign readable = (DualPort != 0) ? '1 : ~bank_write_valid_o;

  always_comb begin
    candidate  = '0;
    candidates = '{default: '0};
    for (int unsigned i = 0; i < Slots; i++) begin
      if (req_valid_i[i] && readable[req_bank_i[i]] &&
          (blocking[i] || !blocked[req_bank_i[i]])) begin
        candidate[i]                            = 1'b1;
        candidates[req_bank_i[i]][i / Operands] = 1'b1;
      end
    end
  end

  always_comb begin
    grant_o      = '0;
    read_valid_o = '0;
    read_entry_o = '{default: '0};
    chosen       = '{default: '0};
    for (int unsigned i = 0; i < Slots; i++) begin
      if (candidate[i] && !read_valid_o[req_bank_i[i]] &&
          (candidates[req_bank_i[i]] &
           (cfg_i ? before_in_turn(i / Operands, rr_q[req_bank_i[i]])
                  : older_i[i / Operands])) == '0) begin
        grant_o[i]                  = 1'b1;
        read_valid_o[req_bank_i[i]] = 1'b1;
        read_entry_o[req_bank_i[i]] = req_entry_i[i];
        chosen[req_bank_i[i]]       = ColW'(i / Operands);
      end
    end
  end

  // Events: every request that waits is counted under exactly one kind.
  assign waits       = req_valid_i & ~grant_o;
  assign waits_other = waits & ~waits_write & ~waits_own;

  always_comb begin
    waits_own   = '0;
    waits_write = '0;
    // Usually no request waits, and simulation skips the loop.
    if (waits != '0) begin
      for (int unsigned i = 0; i < Slots; i++) begin
        waits_write[i] = waits[i] & ~readable[req_bank_i[i]];
        waits_own[i]   = waits[i] & read_valid_o[req_bank_i[i]] &
                         (chosen[req_bank_i[i]] == ColW'(i / Operands));
      end
    end
  end

  always_comb begin
    event_o                     = '0;
    event_o.read                = 6'($countones(grant_o));
    event_o.write               = 2'($countones(write_grant_o));
    event_o.conflict_intra      = 6'($countones(waits_own));
    event_o.conflict_inter      = 6'($countones(waits_other));
    event_o.conflict_read_write = 6'($countones(waits_write));
    event_o.conflict_write      = 2'($countones(write_valid_i & ~held & ~write_grant_o));
    event_o.write_held          = 2'($countones(held));
    for (int unsigned i = 0; i < Slots; i++) begin
      if (grant_o[i]) event_o.read_groups = event_o.read_groups + 9'(req_groups_i[i / Operands]);
    end
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_grant_o[p]) event_o.write_groups = event_o.write_groups + 5'(write_groups_i[p]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rr_q   <= '{default: '0};
      turn_q <= 1'b0;
    end else begin
      turn_q <= turn_d;
      for (int unsigned b = 0; b < Banks; b++) begin
        if (cfg_i && read_valid_o[b]) rr_q[b] <= chosen[b] + 1'b1;
      end
    end
  end

  if (DualPort != 0) begin : gen_check
    for (genvar b = 0; b < Banks; b++) begin : gen_bank
      `GPURF_ASSERT(no_meeting, !(read_valid_o[b] && bank_write_valid_o[b] &&
                                  read_entry_o[b] == bank_write_entry_o[b]),
                    "a bank was given a read and a write of the same entry")
    end
  end else begin : gen_check
    `GPURF_ASSERT(one_access, (read_valid_o & bank_write_valid_o) == '0,
                  "a single-ported bank was given a read and a write together")
  end

  // A bank that reads has a grant, so equal numbers mean one grant each; likewise for writes.
  `GPURF_ASSERT(one_grant, $countones(read_valid_o) == $countones(grant_o) &&
                           $countones(bank_write_valid_o) == $countones(write_grant_o),
                "a bank was given two reads or two writes at once")

endmodule

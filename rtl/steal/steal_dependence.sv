// Dependence check: finds accesses that need a parked value.
//
// The arbiter's own dependence check (stealing paper, sections IV-C1 and IV-D1): the dependents of
// a result have left the scoreboard when it is parked, so every register that is requested or
// written is looked up in the table. A needed value is forced to return. A candidate's operand
// waits like any other, but forces nothing: its instruction has not issued.
//
// With `redirect_i` a read does not wait: it is redirected to the place in which the value is parked. With
// `drop_i` a result that has all lanes does not wait either: the parked value that it overwrites is dropped.
//
// A parked value is needed by a read of its register, by the next result for its register, or by a
// result for the entry in which the value is parked: this result makes the entry alive.
module steal_dependence
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned Slots = Operands * Collectors,
  localparam int unsigned Wants = Operands * IssuePorts
) (
  // straps
  input  logic                  redirect_i,
  input  logic                  drop_i,

  // reads, heads of the write queues, operands of candidates
  input  logic [Slots-1:0]      req_valid_i,
  input  logic [BankW-1:0]      req_bank_i      [Slots],
  input  logic [EntryW-1:0]     req_entry_i     [Slots],
  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [BankW-1:0]      write_bank_i    [IssuePorts],
  input  logic [EntryW-1:0]     write_entry_i   [IssuePorts],
  input  logic [IssuePorts-1:0] write_full_i,   // the head has all lanes
  input  logic [Wants-1:0]      want_valid_i,
  input  logic [BankW-1:0]      want_bank_i     [Wants],
  input  logic [EntryW-1:0]     want_entry_i    [Wants],

  // the table
  input  logic [Banks-1:0]      free_valid_i,
  input  logic [EntryW-1:0]     free_entry_i    [Banks],
  input  logic [Banks-1:0]      parked_i,
  input  logic [BankW-1:0]      parked_bank_i   [Banks],
  input  logic [EntryW-1:0]     parked_entry_i  [Banks],

  // return of parked values
  input  logic                  land_valid_i,
  input  logic [BankW-1:0]      land_bank_i,
  input  logic [BankW-1:0]      turn_i,         // bank at which the search for a value begins
  input  logic                  bus_any_i,      // a bus is available for a forced fetch

  // accesses that wait for a parked value
  output logic [Slots-1:0]      req_parked_o,
  output logic [IssuePorts-1:0] write_parked_o,
  output logic [Wants-1:0]      want_parked_o,
  output logic [Banks-1:0]      alive_o,        // a head is for the bank's free entry

  // accesses that do not wait: where the register of each slot is read, and parked values that heads overwrite whole
  output logic [BankW-1:0]      at_bank_o       [Slots],
  output logic [EntryW-1:0]     at_entry_o      [Slots],
  output logic [IssuePorts-1:0] drop_valid_o,
  output logic [BankW-1:0]      drop_bank_o     [IssuePorts],

  // forced fetch: the value that is fetched now, whatever other access wants its bank, and the cause
  output logic                  force_valid_o,
  output logic [BankW-1:0]      force_bank_o,
  output logic                  force_read_o,
  output logic                  force_write_o,
  output logic                  force_alive_o
);

  logic [Banks-1:0] need_read;   // banks whose parked value is needed by a read
  logic [Banks-1:0] need_write;  // banks whose parked value is needed by a result for the same register
  logic [Banks-1:0] need_alive;  // banks whose parked value is needed by a result for the entry in which it is parked
  logic [Banks-1:0] need;        // banks whose parked value is needed by any of these

  logic [IssuePorts-1:0] head_parked;   // the register of the head is parked
  logic [IssuePorts-1:0] place_parked;  // the head is for an entry in which a value is parked

  always_comb begin
    alive_o = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (write_valid_i[p] && free_valid_i[write_bank_i[p]] &&
          free_entry_i[write_bank_i[p]] == write_entry_i[p]) begin
        alive_o[write_bank_i[p]] = 1'b1;
      end
    end
  end

  always_comb begin
    req_parked_o  = '0;
    head_parked   = '0;
    place_parked  = '0;
    want_parked_o = '0;
    need_read     = '0;
    need_write    = '0;
    at_bank_o     = req_bank_i;
    at_entry_o    = req_entry_i;
    drop_bank_o   = '{default: '0};
    for (int unsigned b = 0; b < Banks; b++) begin
      // Usually no value is parked, and simulation skips the comparisons.
      if (parked_i[b]) begin
        for (int unsigned i = 0; i < Slots; i++) begin
          if (req_bank_i[i] == parked_bank_i[b] && req_entry_i[i] == parked_entry_i[b]) begin
            if (redirect_i) begin
              at_bank_o[i]  = BankW'(b);
              at_entry_o[i] = free_entry_i[b];
            end else if (req_valid_i[i]) begin
              req_parked_o[i] = 1'b1;
              need_read[b]    = 1'b1;
            end
          end
        end
        for (int unsigned p = 0; p < IssuePorts; p++) begin
          if (write_valid_i[p] && write_bank_i[p] == parked_bank_i[b] &&
              write_entry_i[p] == parked_entry_i[b]) begin
            head_parked[p] = 1'b1;
            drop_bank_o[p] = BankW'(b);
            need_write[b]  = need_write[b] | ~(drop_i & write_full_i[p]);
          end
          if (write_valid_i[p] && write_bank_i[p] == BankW'(b) && free_valid_i[b] &&
              write_entry_i[p] == free_entry_i[b]) begin
            place_parked[p] = 1'b1;
          end
        end
        for (int unsigned i = 0; i < Wants; i++) begin
          if (want_valid_i[i] && want_bank_i[i] == parked_bank_i[b] &&
              want_entry_i[i] == parked_entry_i[b]) begin
            want_parked_o[i] = 1'b1;
          end
        end
      end
    end
  end

  assign need_alive   = parked_i & alive_o;
  assign drop_valid_o = drop_i ? head_parked & write_full_i : '0;

  // A value that is forced back in this cycle lands in the next one. The result that overwrites it is written later.
  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      write_parked_o[p] = place_parked[p] | (head_parked[p] & ~drop_valid_o[p]) |
                          (drop_valid_o[p] & force_valid_o & (drop_bank_o[p] == force_bank_o));
    end
  end

  // A bank that a landing writes cannot be read in the same cycle. The search does not skip this bank: no value is
  // fetched, so that none lands in the next cycle, and then the bank is still the first in turn.
  // next_warp, the search in a set of warps, serves for a set of banks too.
  assign need          = need_read | need_write | need_alive;
  assign force_bank_o  = BankW'(next_warp(WarpSetW'(need), WarpW'(turn_i)));
  assign force_valid_o = need != '0 && bus_any_i &&
                         !(land_valid_i && land_bank_i == force_bank_o);
  assign force_read_o  = force_valid_o & need_read[force_bank_o];
  assign force_write_o = force_valid_o & need_write[force_bank_o] & ~force_read_o;
  assign force_alive_o = force_valid_o & ~force_read_o & ~force_write_o;

endmodule

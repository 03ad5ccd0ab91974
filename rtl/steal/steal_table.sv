// Table of free entries, and of the destinations of parked values.
//
// Each bank has one free entry, and the register whose value is parked in it (stealing paper,
// section IV-C and figure 9): two valids, the free entry, and bank and entry of the destination, with
// no further flip-flops.
//
// A hint names a new free entry of a bank. It is refused while a value is parked in the bank,
// because the place of a parked value must not be renamed, and while the register's own value is
// still on its way: if its entry held another value, the older of the two would be written over the newer one.
`include "gpurf_assert.svh"

module steal_table
  import gpurf_pkg::*;
#(
  parameter int unsigned Banks = 16,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  clear_i,         // a grid is about to begin
  input  logic                  spare_i,         // the last row belongs to no warp of this grid

  // registers that are dead
  input  logic [IssuePorts-1:0] hint_valid_i,
  input  logic [BankW-1:0]      hint_bank_i      [IssuePorts],
  input  logic [EntryW-1:0]     hint_entry_i     [IssuePorts],
  output logic [IssuePorts-1:0] hint_taken_o,

  // heads of the write queues, and the banks in which heads are parked at this edge
  input  logic [IssuePorts-1:0] write_valid_i,
  input  logic [BankW-1:0]      write_bank_i     [IssuePorts],
  input  logic [EntryW-1:0]     write_entry_i    [IssuePorts],
  input  logic [IssuePorts-1:0] park_valid_i,
  input  logic [BankW-1:0]      park_bank_i      [IssuePorts],

  input  logic                  fetch_valid_i,   // the value parked in this bank is read at this edge
  input  logic [BankW-1:0]      fetch_bank_i,
  input  logic [IssuePorts-1:0] drop_valid_i,    // the head overwrites the register of a parked value
  input  logic [BankW-1:0]      drop_bank_i      [IssuePorts],
  input  logic [Banks-1:0]      alive_i,         // a head is for the bank's free entry

  output logic [Banks-1:0]      free_valid_o,
  output logic [EntryW-1:0]     free_entry_o     [Banks],
  output logic [Banks-1:0]      parked_o,
  output logic [BankW-1:0]      parked_bank_o    [Banks],
  output logic [EntryW-1:0]     parked_entry_o   [Banks]
);

  logic [Banks-1:0]  free_valid_d, free_valid_q;
  logic [EntryW-1:0] free_entry_q   [Banks];
  logic [Banks-1:0]  parked_d, parked_q;
  logic [BankW-1:0]  parked_bank_q  [Banks];
  logic [EntryW-1:0] parked_entry_q [Banks];

  logic [Banks-1:0]  parking;          // a value is parked in the bank at this edge
  logic [Banks-1:0]  fetching;         // the bank's parked value is read at this edge
  logic [Banks-1:0]  dropping;         // the bank's parked value is dropped at this edge
  logic [Banks-1:0]  named;            // a hint for the bank is taken

  assign free_valid_o   = free_valid_q;
  assign free_entry_o   = free_entry_q;
  assign parked_o       = parked_q;
  assign parked_bank_o  = parked_bank_q;
  assign parked_entry_o = parked_entry_q;

  always_comb begin
    parking  = '0;
    fetching = '0;
    dropping = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (park_valid_i[p]) parking[park_bank_i[p]]  = 1'b1;
      if (drop_valid_i[p]) dropping[drop_bank_i[p]] = 1'b1;
    end
    if (fetch_valid_i) fetching[fetch_bank_i] = 1'b1;
  end

  always_comb begin
    hint_taken_o = '0;
    named        = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (hint_valid_i[p]) begin
        hint_taken_o[p] = ~clear_i & ~parked_q[hint_bank_i[p]] & ~parking[hint_bank_i[p]];
        for (int unsigned b = 0; b < Banks; b++) begin
          if (parked_q[b] && parked_bank_q[b] == hint_bank_i[p] &&
              parked_entry_q[b] == hint_entry_i[p]) begin
            hint_taken_o[p] = 1'b0;
          end
        end
        for (int unsigned q = 0; q < IssuePorts; q++) begin
          if (write_valid_i[q] && write_bank_i[q] == hint_bank_i[p] &&
              write_entry_i[q] == hint_entry_i[p]) begin
            hint_taken_o[p] = 1'b0;
          end
        end
        if (hint_taken_o[p]) named[hint_bank_i[p]] = 1'b1;
      end
    end
  end

  assign free_valid_d = clear_i ? {Banks{spare_i}}
                                : named | (free_valid_q & ~(alive_i & ~parked_q));
  assign parked_d     = clear_i ? '0 : parking | (parked_q & ~fetching & ~dropping);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      free_valid_q <= '0;
      parked_q     <= '0;
    end else begin
      free_valid_q <= free_valid_d;
      parked_q     <= parked_d;
    end
  end

  // The payload has no reset: it means nothing while its valid is low.
  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      free_entry_q <= '{default: '1};
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (hint_taken_o[p]) free_entry_q[hint_bank_i[p]] <= hint_entry_i[p];
        if (park_valid_i[p]) begin
          parked_bank_q[park_bank_i[p]]  <= write_bank_i[p];
          parked_entry_q[park_bank_i[p]] <= write_entry_i[p];
        end
      end
    end
  end

  `GPURF_ASSERT(park_where_free, (parking & ~(free_valid_q & ~parked_q)) == '0,
                "a value was parked where there is no place")
  `GPURF_ASSERT(park_once, $countones(parking) == $countones(park_valid_i),
                "two values were parked in one bank")
  `GPURF_ASSERT(fetch_what_is_parked, (fetching & ~parked_q) == '0,
                "a value was fetched where none is parked")
  `GPURF_ASSERT(drop_what_is_parked, (dropping & ~parked_q) == '0,
                "a value was dropped where none is parked")
  `GPURF_ASSERT(drop_or_fetch, (dropping & fetching) == '0,
                "a value was dropped and fetched")
  `GPURF_ASSERT(parked_in_free, (parked_q & ~free_valid_q) == '0,
                "a value is parked in an entry that is not free")

endmodule

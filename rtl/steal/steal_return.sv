// Return of a parked value to its register.
//
// Remembers for one cycle the destination of the value that is being fetched, and selects its result bus
// (stealing paper, section IV-C2: "first read out from the temporary register and put onto the
// result bus. In the next cycle, the value will be written back"). The bus of an empty queue is
// free. If no queue is empty the value takes a bus all the same, and the result of that bus waits a cycle; such
// a fetch is always forced.
module steal_return
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

  input  logic [IssuePorts-1:0] head_valid_i,    // a result is in the queue
  input  logic [IssuePorts-1:0] park_valid_i,    // values parked at this edge
  input  logic [BankW-1:0]      park_bank_i      [IssuePorts],
  input  logic                  fetch_valid_i,   // the value in this bank is read at this edge
  input  logic [BankW-1:0]      fetch_bank_i,
  input  logic [BankW-1:0]      parked_bank_i    [Banks],  // destinations of the parked values
  input  logic [EntryW-1:0]     parked_entry_i   [Banks],

  // the value that is written into its register at this edge
  output logic                  land_valid_o,
  output logic [BankW-1:0]      land_source_o,   // bank at whose output the value is
  output logic [BankW-1:0]      land_bank_o,
  output logic [EntryW-1:0]     land_entry_o,
  output logic                  land_port_o,     // bus that carries the value

  output logic                  bus_free_o,      // some queue is empty
  output logic                  bus_any_o,       // some queue is empty, or some bus has no landing value
  output logic [BankW-1:0]      turn_o,          // where the next search for a value begins
  output logic [Banks-1:0]      fresh_o          // the bank's value was parked in the last cycle
);

  logic                  land_valid_q;
  logic [BankW-1:0]      land_source_q;
  logic [BankW-1:0]      land_bank_q;
  logic [EntryW-1:0]     land_entry_q;
  logic                  land_port_q;
  logic [BankW-1:0]      turn_q;
  logic [Banks-1:0]      fresh_d, fresh_q;

  logic [IssuePorts-1:0] open;      // buses without a landing value
  logic                  bus_port;

  assign land_valid_o  = land_valid_q;
  assign land_source_o = land_source_q;
  assign land_bank_o   = land_bank_q;
  assign land_entry_o  = land_entry_q;
  assign land_port_o   = land_port_q;
  assign turn_o        = turn_q;
  assign fresh_o       = fresh_q;

  assign bus_free_o = head_valid_i != '1;
  assign bus_any_o  = bus_free_o || open != '0;

  always_comb begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      open[p] = !(land_valid_q && land_port_q == 1'(p));
    end
  end

  // Bus 1 is taken only if bus 0 is not available and bus 1 is; otherwise bus 0.
  assign bus_port = bus_free_o ? head_valid_i[0] : open != '0 && !open[0];

  always_comb begin
    fresh_d = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (park_valid_i[p]) fresh_d[park_bank_i[p]] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      land_valid_q <= 1'b0;
      turn_q       <= '0;
      fresh_q      <= '0;
    end else begin
      land_valid_q <= fetch_valid_i;
      fresh_q      <= fresh_d;
      if (fetch_valid_i) turn_q <= fetch_bank_i + 1'b1;
    end
  end

  // The payload has no reset: it means nothing while land_valid_q is low.
  always_ff @(posedge clk_i) begin
    if (fetch_valid_i) begin
      land_source_q <= fetch_bank_i;
      land_bank_q   <= parked_bank_i[fetch_bank_i];
      land_entry_q  <= parked_entry_i[fetch_bank_i];
      land_port_q   <= bus_port;
    end
  end

endmodule

// Shared memory (scratchpad): 32 banks of four bytes.
//
// In a pass each bank serves one word, that of its lowest lane left, to all lanes that want this
// word (thesis 2.4.2: 32 banks of 4 bytes). A strap selects how many lanes a pass considers:
// all of them are 128 bytes per cycle, a quarter is the 32 bytes per cycle of the thesis' table
// 4.4. Loads take two stages after the selection: the banks are read at the end of the first, the
// lanes' bytes go through the crossbar at the end of the second. An atomic operation occupies two
// cycles: a bank has a single port, so a word is read in the first cycle and written in the second, and
// no other access comes between.
`include "gpurf_assert.svh"

module shared_memory
  import gpurf_pkg::*;
  import fp_pkg::*;          // scratchpad_pkg needs it
  import scratchpad_pkg::*;
#(
  parameter int unsigned SharedWords = 16384,
  localparam int unsigned Banks = 32,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned Rows = SharedWords / Banks,
  localparam int unsigned RowW = $clog2(Rows)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [1:0]       cfg_i,               // bytes a cycle: 0: 128, 1: 64, 2: 32

  // lanes offered
  input  logic             valid_i,
  input  logic             room_i,              // the side queue has room
  input  logic [Lanes-1:0] lanes_i,
  input  logic [WarpW-1:0] warp_i,
  input  logic [1:0]       kind_i,
  input  logic [1:0]       size_i,
  input  logic             signed_i,
  input  logic [3:0]       atomic_i,
  input  logic             reg_valid_i,
  input  logic [RegW-1:0]  reg_i,
  // The rows of all banks are fewer than an address can name.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [DataW-1:0] addr_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DataW-1:0] store_i,
  input  logic [DataW-1:0] compare_i,
  input  logic             last_i,              // no lane is left after this pass
  output logic [Lanes-1:0] served_o,

  // result, two cycles after its pass
  output logic             result_valid_o,
  output logic [WarpW-1:0] result_warp_o,
  output logic [Lanes-1:0] result_mask_o,
  output logic             result_done_o,
  output logic             result_reg_valid_o,
  output logic [RegW-1:0]  result_reg_o,
  output logic [DataW-1:0] result_data_o
);

  localparam int unsigned ByteW = 2;                 // bits of a byte's offset in its word
  localparam int unsigned BankBytes = LaneW / 8;
  localparam int unsigned PlaceW = BankW + ByteW;    // bits of a byte's offset in a row

  logic                 phase_q;                     // the banks hold an atomic's old words

  // first stage
  logic                 first_valid_q;
  logic [Lanes-1:0]     first_mask_q;
  logic [WarpW-1:0]     first_warp_q;
  logic                 first_reg_valid_q;
  logic [RegW-1:0]      first_reg_q;
  logic [1:0]           first_size_q;
  logic                 first_signed_q;
  logic                 first_done_q;
  logic [PlaceW-1:0]    place_q [Lanes];

  // second stage
  logic                 result_valid_q;
  logic [WarpW-1:0]     warp_q;
  logic [Lanes-1:0]     mask_q;
  logic                 done_q;
  logic                 reg_valid_q;
  logic [RegW-1:0]      reg_q;
  logic [DataW-1:0]     data_q;

  logic                 load;                        // kind of the pass that is offered
  logic                 store;
  logic                 atomic;
  logic                 reads;                       // accesses of the banks of the selected lanes
  logic                 writes;
  logic                 starts;                      // a result begins
  logic [Lanes-1:0]     window;                      // lanes considered in this pass
  logic [Lanes-1:0]     selected;
  logic [Banks-1:0]     bank_used;                   // a lane of the bank is selected
  logic [RowW-1:0]      bank_row   [Banks];
  logic [BankBytes-1:0] bank_wmask [Banks];
  logic [LaneW-1:0]     bank_wdata [Banks];
  logic [LaneW-1:0]     rdata      [Banks];

  assign result_valid_o     = result_valid_q;
  assign result_warp_o      = warp_q;
  assign result_mask_o      = mask_q;
  assign result_done_o      = done_q;
  assign result_reg_valid_o = result_valid_q & reg_valid_q;
  assign result_reg_o       = reg_q;
  assign result_data_o      = data_q;

  assign load   = valid_i & (kind_i == KindLoad);
  assign store  = valid_i & (kind_i == KindStore);
  assign atomic = valid_i & (kind_i == KindAtomic);

  // Room is needed only where a pass begins: an atomic that has read its words always finishes.
  assign reads  = (load | (atomic & ~phase_q)) & room_i;
  assign writes = store | (atomic & phase_q);
  assign starts = (load & room_i) | (atomic & phase_q & reg_valid_i);

  assign served_o = ((load & room_i) | writes) ? selected : '0;

  assign window = lanes_in_window(cfg_i, lanes_i);

  // The loop runs upwards, so that a bank's lowest lane selects the row. Lanes of an atomic never share a
  // word in one pass: each lane has to see the value that the lane before it has written.
  always_comb begin : choose
    automatic logic [BankW-1:0] bank;
    automatic logic [RowW-1:0]  row;
    selected  = '0;
    bank_used = '0;
    bank_row  = '{default: '0};
    bank      = '0;
    row       = '0;
    if (valid_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (window[l]) begin
          bank = addr_i[LaneW*l+ByteW +: BankW];
          row  = addr_i[LaneW*l+PlaceW +: RowW];
          if (!bank_used[bank]) begin
            bank_used[bank] = 1'b1;
            bank_row[bank]  = row;
            selected[l]     = 1'b1;
          end else if (!atomic && bank_row[bank] == row) begin
            selected[l]     = 1'b1;
          end
        end
      end
    end
  end

  // The loop runs upwards, so that the highest of several lanes that store to one byte wins.
  always_comb begin : merge
    automatic logic [BankW-1:0]     bank;
    automatic logic [ByteW-1:0]     place;
    automatic logic [BankBytes-1:0] bytes;
    automatic logic [LaneW-1:0]     enable;
    bank_wmask = '{default: '0};
    bank_wdata = '{default: '0};
    bank       = '0;
    place      = '0;
    bytes      = '0;
    enable     = '0;
    if (store) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (selected[l]) begin
          bank  = addr_i[LaneW*l+ByteW +: BankW];
          place = addr_i[LaneW*l +: ByteW];
          bytes = stored_bytes(size_i, place);
          for (int unsigned b = 0; b < BankBytes; b++) enable[8*b +: 8] = {8{bytes[b]}};
          bank_wmask[bank] = bank_wmask[bank] | bytes;
          bank_wdata[bank] = (bank_wdata[bank] & ~enable) |
                             ((store_i[LaneW*l +: LaneW] << {place, 3'b000}) & enable);
        end
      end
    end else if (atomic && phase_q) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (selected[l]) begin
          bank             = addr_i[LaneW*l+ByteW +: BankW];
          bank_wmask[bank] = '1;
          bank_wdata[bank] = updated(atomic_i, rdata[bank], store_i[LaneW*l +: LaneW],
                                     compare_i[LaneW*l +: LaneW]);
        end
      end
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    ram_1rw #(
      .Depth(Rows),
      .Parts(BankBytes),
      .PartW(8)
    ) u_ram (
      .clk_i,
      .en_i   (bank_used[b] & (reads | writes)),
      .we_i   (writes),
      .addr_i (bank_row[b]),
      .wmask_i(bank_wmask[b]),
      .wdata_i(bank_wdata[b]),
      .rdata_o(rdata[b])
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q        <= 1'b0;
      first_valid_q  <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      phase_q        <= atomic & ~phase_q & room_i;
      first_valid_q  <= starts;
      result_valid_q <= first_valid_q;
    end
  end

  // The payload has no reset: it means nothing while its stage's valid is low.
  always_ff @(posedge clk_i) begin
    if (starts) begin
      first_mask_q      <= served_o;
      first_warp_q      <= warp_i;
      first_reg_valid_q <= reg_valid_i;
      first_reg_q       <= reg_i;
      first_size_q      <= size_i;
      first_signed_q    <= signed_i;
      first_done_q      <= last_i;
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_place
    always_ff @(posedge clk_i) begin
      if (starts) place_q[l] <= addr_i[LaneW*l +: PlaceW] & {PlaceW{served_o[l]}};
    end
  end

  // The output of a bank still holds the word that was read, even after an atomic's write.
  always_ff @(posedge clk_i) begin : second_stage
    automatic logic [DataW-1:0] value;
    if (first_valid_q) begin
      warp_q      <= first_warp_q;
      mask_q      <= first_mask_q;
      done_q      <= first_done_q;
      reg_valid_q <= first_reg_valid_q;
      if (first_reg_valid_q) begin
        value = '0;
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (first_mask_q[l]) begin
            value[LaneW*l +: LaneW] = loaded(rdata[place_q[l][ByteW +: BankW]],
                                             place_q[l][ByteW-1:0], first_size_q, first_signed_q);
          end
        end
        reg_q  <= first_reg_q;
        data_q <= value;
      end
    end
  end

`ifndef SYNTHESIS
  // Every lane offered has an address that is a multiple of the size.
  function automatic logic is_aligned();
    is_aligned = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (lanes_i[l] && (addr_i[LaneW*l +: ByteW] & size_mask(size_i)) != '0) is_aligned = 1'b0;
    end
  endfunction

  function automatic logic rows_exist();
    rows_exist = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (lanes_i[l] && 32'(addr_i[LaneW*l+PlaceW +: RowW]) >= Rows) rows_exist = 1'b0;
    end
  endfunction
`endif

  // The lowest lane offered is always selected, so every pass makes progress.
  `GPURF_ASSERT_WHEN(some_lane, valid_i, lanes_i != '0, "a pass without a lane was offered")
  `GPURF_ASSERT_WHEN(lowest_selected, valid_i, (selected & lanes_i & (~lanes_i + 1'b1)) != '0,
                     "the lowest lane left was passed over")
  `GPURF_ASSERT_WHEN(all_aligned, valid_i, is_aligned(), "a misaligned address was offered")
  `GPURF_ASSERT_WHEN(row_exists, valid_i, rows_exist(),
                     "an address past the end of the shared memory was offered")
  `GPURF_ASSERT_WHEN(atomic_word, atomic, size_i == SizeWord,
                     "an atomic operation on something else than a word was offered")

endmodule

// Scratchpad memory in the unified banks (hierarchy thesis 7.3.2).
//
// `shared_memory` without RAMs. With simple gather a pass serves 16 bytes of each cluster: the bytes that the lowest
// remaining lane of the cluster wants. All lanes that want some of these bytes are served. So lanes conflict at 8
// places of 16 bytes; in `shared_memory` they conflict at 32 places of four bytes. With aggressive gather a cluster
// combines its 16 bytes from several of its banks: each of its four word places has a word of any bank,
// and each bank gives one row. Registers and data cache have priority: a bank may not be served, and its
// lanes remain for the next pass. Loads take two stages after the selection, as in `shared_memory`. An atomic
// operation reads in one cycle and writes in the next. A word whose write is refused is read again by a later pass:
// none of its lanes has been performed, and the accesses of the memory pipeline are in order, so
// no other access comes in between.
`include "gpurf_assert.svh"

module unified_shared
  import gpurf_pkg::*;
  import fp_pkg::*;          // needed by scratchpad_pkg
  import scratchpad_pkg::*;
#(
  localparam int unsigned WordBytes = ClusterBytes / GroupLanes
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [2:0]              cfg_i,               // gather: 0 simple, 1 aggressive;
                                                       // bytes a cycle: 0: 128, 1: 64, 2: 32

  // lanes offered
  input  logic                    valid_i,
  input  logic                    room_i,              // the side queue has room
  input  logic [Lanes-1:0]        lanes_i,
  input  logic [WarpW-1:0]        warp_i,
  input  logic [1:0]              kind_i,
  input  logic [1:0]              size_i,
  input  logic                    signed_i,
  input  logic [3:0]              atomic_i,
  input  logic                    reg_valid_i,
  input  logic [RegW-1:0]         reg_i,
  // An address has more bits than all rows together need.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [DataW-1:0]        addr_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DataW-1:0]        store_i,
  input  logic [DataW-1:0]        compare_i,
  input  logic                    last_i,              // no lane remains after this pass
  output logic [Lanes-1:0]        served_o,

  // result, two cycles after its pass
  output logic                    result_valid_o,
  output logic [WarpW-1:0]        result_warp_o,
  output logic [Lanes-1:0]        result_mask_o,
  output logic                    result_done_o,
  output logic                    result_reg_valid_o,
  output logic [RegW-1:0]         result_reg_o,
  output logic [DataW-1:0]        result_data_o,

  // the banks, a bit or an element for each word place
  output logic [WordPlaces-1:0]   read_o,
  output logic [WordPlaces-1:0]   write_o,
  output logic [SharedRowW-1:0]   row_o   [WordPlaces],  // address / 128
  output logic [WordBytes-1:0]    bytes_o [WordPlaces],
  output logic [DataW-1:0]        data_o,
  input  logic [WordPlaces-1:0]   read_ready_i,        // words that are wanted and served
  input  logic [WordPlaces-1:0]   write_ready_i,
  input  logic [DataW-1:0]        data_i               // what was read at the last edge
);

  localparam int unsigned ByteW = 2;                       // width of the index of a byte in its word
  localparam int unsigned WordIdxW = LineOffsetW - ByteW;  // width of the number of a word place
  localparam int unsigned ClusterLow = LineOffsetW - ClusterIdxW;
  localparam int unsigned BankIdxW = ClusterIdxW + ColumnW;

  logic                    phase_q;                    // the banks' outputs have the old words of an atomic
  logic [WordPlaces-1:0]   read_q;                     // word places of these old words
  logic [DataW-1:0]        old_q;                      // old words of the last atomic

  // first stage
  logic                    first_valid_q;
  logic                    first_atomic_q;
  logic [Lanes-1:0]        first_mask_q;
  logic [WarpW-1:0]        first_warp_q;
  logic                    first_reg_valid_q;
  logic [RegW-1:0]         first_reg_q;
  logic [1:0]              first_size_q;
  logic                    first_signed_q;
  logic                    first_done_q;
  logic [LineOffsetW-1:0]  place_q [Lanes];

  // second stage
  logic                    result_valid_q;
  logic [WarpW-1:0]        warp_q;
  logic [Lanes-1:0]        mask_q;
  logic                    done_q;
  logic                    reg_valid_q;
  logic [RegW-1:0]         reg_q;
  logic [DataW-1:0]        data_q;

  logic                    load;                       // the lanes offered are of a load
  logic                    store;
  logic                    atomic;
  logic                    reads;                      // the selected lanes read from the banks
  logic                    update;                     // the second cycle of an atomic
  logic                    starts;                     // a result enters the first stage
  logic [Lanes-1:0]        window;                     // lanes considered in this pass
  logic [Lanes-1:0]        selected;
  logic [WordPlaces-1:0]   used;                       // a lane at the word place is selected
  logic [SharedRowW-1:0]   word_row [WordPlaces];      // row of the selected lanes at the word place
  logic [WordPlaces-1:0]   served;                     // word places whose lanes are served

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

  // A pass that reads needs room in the side queue; an atomic that has read is finished in any case.
  assign reads  = (load | (atomic & ~phase_q)) & room_i;
  assign update = atomic & phase_q;

  // ------------------------------------------------------------------ selection
  assign window = lanes_in_window(cfg_i[1:0], lanes_i);

  // In ascending order, a lane is selected if it does not conflict with a lane selected before. The first lane at a
  // bank fixes the row of the bank, the first lane at a word place fixes its column, and with simple gather the first
  // lane at a cluster fixes the column of all its word places. So for lanes at one word place only the columns are
  // compared: if the columns are equal, the lanes are at one bank. Lanes of an atomic never share a word, because
  // each lane has to see the value that the lane before has written.
  always_comb begin : choose
    automatic logic [ClusterIdxW-1:0] cluster;
    automatic logic [ColumnW-1:0]     column;
    automatic logic [BankIdxW-1:0]    bank;
    automatic logic [SharedRowW-1:0]  row;
    automatic logic [WordIdxW-1:0]    word;
    automatic logic                   conflict;
    automatic logic [Clusters-1:0]     cluster_used;
    automatic logic [UnifiedBanks-1:0] bank_used;
    automatic logic [ColumnW-1:0]      cluster_column [Clusters];
    automatic logic [SharedRowW-ColumnW-1:0] bank_row [UnifiedBanks];  // without the bits of the column
    selected       = '0;
    used           = '0;
    word_row       = '{default: '0};
    cluster        = '0;
    column         = '0;
    bank           = '0;
    row            = '0;
    word           = '0;
    conflict       = 1'b0;
    cluster_used   = '0;
    bank_used      = '0;
    cluster_column = '{default: '0};
    bank_row       = '{default: '0};
    if (valid_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (window[l]) begin
          cluster  = addr_i[LaneW*l+ClusterLow +: ClusterIdxW];
          word     = addr_i[LaneW*l+ByteW +: WordIdxW];
          row      = addr_i[LaneW*l+LineOffsetW +: SharedRowW];
          column   = row[ColumnW-1:0];
          bank     = {cluster, column};
          conflict = (bank_used[bank] && bank_row[bank] != row[SharedRowW-1:ColumnW]) ||
                     (used[word] && (atomic || word_row[word][ColumnW-1:0] != column)) ||
                     (!cfg_i[2] && cluster_used[cluster] && cluster_column[cluster] != column);
          if (!conflict) begin
            selected[l]             = 1'b1;
            used[word]              = 1'b1;
            word_row[word]          = row;
            bank_used[bank]         = 1'b1;
            bank_row[bank]          = row[SharedRowW-1:ColumnW];
            cluster_used[cluster]   = 1'b1;
            cluster_column[cluster] = column;
          end
        end
      end
    end
  end

  // ------------------------------------------------------------------ banks
  assign read_o = reads ? used : '0;

  always_comb begin
    write_o = '0;
    if (store)       write_o = used;
    else if (update) write_o = used & read_q;
  end

  for (genvar w = 0; w < WordPlaces; w++) begin : gen_row
    assign row_o[w] = (read_o[w] | write_o[w]) ? word_row[w] : '0;
  end

  // In ascending order as well, so that the highest of several lanes that store to a byte wins.
  always_comb begin : merge
    automatic logic [WordIdxW-1:0]  word;
    automatic logic [ByteW-1:0]     place;
    automatic logic [WordBytes-1:0] bytes;
    automatic logic [LaneW-1:0]     enable;
    // Indexing by word avoids a shift of the whole vector.
    automatic logic [WordPlaces-1:0][LaneW-1:0] old;   // old words, from the banks
    automatic logic [WordPlaces-1:0][LaneW-1:0] data;
    old     = data_i;
    data    = '0;
    bytes_o = '{default: '0};
    word    = '0;
    place   = '0;
    bytes   = '0;
    enable  = '0;
    if (store || update) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        word  = addr_i[LaneW*l+ByteW +: WordIdxW];
        place = addr_i[LaneW*l +: ByteW];
        if (selected[l] && write_o[word]) begin
          if (store) begin
            bytes = stored_bytes(size_i, place);
            for (int unsigned b = 0; b < WordBytes; b++) enable[8*b +: 8] = {8{bytes[b]}};
            bytes_o[word] = bytes_o[word] | bytes;
            data[word]    = (data[word] & ~enable) |
                            ((store_i[LaneW*l +: LaneW] << {place, 3'b000}) & enable);
          end else begin
            bytes_o[word] = '1;
            data[word]    = updated(atomic_i, old[word], store_i[LaneW*l +: LaneW],
                                    compare_i[LaneW*l +: LaneW]);
          end
        end
      end
    end
    data_o = data;
  end

  // ------------------------------------------------------------------ what is served
  always_comb begin
    served = '0;
    if (load && room_i)       served = read_ready_i;
    else if (store || update) served = write_ready_i;
  end

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      served_o[l] = selected[l] & served[addr_i[LaneW*l+ByteW +: WordIdxW]];
    end
  end

  assign starts = (load | (update & reg_valid_i)) & (served_o != '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q        <= 1'b0;
      first_valid_q  <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      phase_q        <= atomic & reads & (read_ready_i != '0);
      first_valid_q  <= starts;
      result_valid_q <= first_valid_q;
    end
  end

  // The payload has no reset: it has no meaning while the valid of its stage is low.
  always_ff @(posedge clk_i) begin
    if (atomic && reads && read_ready_i != '0) read_q <= read_ready_i;
    // In the next cycle the outputs of the banks may belong to other accesses.
    if (update && reg_valid_i) old_q <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (starts) begin
      first_atomic_q    <= atomic;
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
      if (starts) place_q[l] <= addr_i[LaneW*l +: LineOffsetW] & {LineOffsetW{served_o[l]}};
    end
  end

  // The lanes' places in one vector.
  function automatic logic [Lanes-1:0][LineOffsetW-1:0] places();
    for (int unsigned l = 0; l < Lanes; l++) places[l] = place_q[l];
  endfunction

  always_ff @(posedge clk_i) begin
    if (first_valid_q) begin
      warp_q      <= first_warp_q;
      mask_q      <= first_mask_q;
      done_q      <= first_done_q;
      reg_valid_q <= first_reg_valid_q;
      if (first_reg_valid_q) begin
        reg_q  <= first_reg_q;
        data_q <= loaded_lanes(first_atomic_q ? old_q : data_i, places(), first_mask_q,
                               first_size_q, first_signed_q, 1'b0);
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
      if (lanes_i[l] && addr_i[LaneW*l +: LaneW] >> SharedAddressW != '0) rows_exist = 1'b0;
    end
  endfunction
`endif

  // The lowest lane offered is always among those selected, so its word is wanted in every pass.
  `GPURF_ASSERT_WHEN(some_lane, valid_i, lanes_i != '0, "a pass without a lane was offered")
  `GPURF_ASSERT_WHEN(lowest_selected, valid_i, (selected & lanes_i & (~lanes_i + 1'b1)) != '0,
                     "the lowest lane left was passed over")
  `GPURF_ASSERT_WHEN(all_aligned, valid_i, is_aligned(), "a misaligned address was offered")
  `GPURF_ASSERT_WHEN(row_exists, valid_i, rows_exist(),
                     "an address past the end of the shared memory was offered")
  `GPURF_ASSERT_WHEN(atomic_word, atomic, size_i == SizeWord,
                     "an atomic operation on something else than a word was offered")
  `GPURF_ASSERT(served_is_wanted, (read_ready_i & ~read_o) == '0 && (write_ready_i & ~write_o) == '0,
                "a word was served that was not wanted")

endmodule

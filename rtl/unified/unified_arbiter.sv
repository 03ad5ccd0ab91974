// Arbitrates the accesses of memory to the unified banks.
//
// Maps the accesses of the data cache and of the scratchpad to columns and rows, and arbitrates between them
// (hierarchy thesis 7.3.2, 7.3.3). Registers have priority: the ready bits of the columns say which ports registers
// leave free. The cache comes next, and takes all clusters of one column or waits. The scratchpad comes last, and
// takes each bank that it gets. In a cycle a cluster has 16 bytes to the memory units and 16 bytes from them: four
// word places. The scratchpad may take each word place from another column. A cluster that serves the cache serves
// no scratchpad access of the same kind (read or write), whatever the columns are. Reads and writes are arbitrated
// separately, because a bank has a port for each.
`include "gpurf_assert.svh"

module unified_arbiter
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 768,   // rows
  parameter int unsigned Lines = 2048,  // lines of the largest cache
  localparam int unsigned RowW = $clog2(Depth),
  localparam int unsigned WordBytes = ClusterBytes / GroupLanes,
  localparam int unsigned LineEntryW = $clog2(Lines)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // partition: changes at a launch only
  input  logic [BankRowsW-1:0]    register_rows_i,
  input  logic [CacheLogW-1:0]    cache_log_i,          // 0: no cache

  // ports of the columns that registers leave free
  input  logic [Columns-1:0]      column_read_ready_i,
  input  logic [Clusters-1:0]     column_write_ready_i [Columns],

  // data cache
  input  logic                    cache_read_i,
  input  logic [LineEntryW-1:0]   cache_read_entry_i,
  input  logic                    cache_write_i,
  input  logic [LineEntryW-1:0]   cache_write_entry_i,
  input  logic [LineBytes-1:0]    cache_write_bytes_i,
  input  logic [DataW-1:0]        cache_write_data_i,
  output logic [Columns-1:0]      cache_read_ready_o,
  output logic [Columns-1:0]      cache_write_ready_o,

  // scratchpad, a bit or an element for each word place
  input  logic [WordPlaces-1:0]   shared_read_i,
  input  logic [WordPlaces-1:0]   shared_write_i,
  input  logic [SharedRowW-1:0]   shared_row_i         [WordPlaces],  // address / 128
  input  logic [WordBytes-1:0]    shared_bytes_i       [WordPlaces],
  input  logic [DataW-1:0]        shared_data_i,
  output logic [WordPlaces-1:0]   shared_read_ready_o,
  output logic [WordPlaces-1:0]   shared_write_ready_o,

  // to the columns: a bit for each cluster of a column, an element for each bank
  output logic [Clusters-1:0]     read_o               [Columns],
  output logic [RowW-1:0]         read_entry_o         [UnifiedBanks],
  output logic [Clusters-1:0]     write_o              [Columns],
  output logic [RowW-1:0]         write_entry_o        [UnifiedBanks],
  output logic [ClusterBytes-1:0] write_bytes_o        [UnifiedBanks],
  output logic [DataW-1:0]        write_data_o,
  output logic [ColumnW-1:0]      data_column_o        [WordPlaces],  // column that was read last

  output unified_event_t          event_o
);

  localparam int unsigned BankW = $clog2(UnifiedBanks);

  logic [ColumnW-1:0] column_q [WordPlaces];

  logic               cache_reads;       // performed at this edge
  logic               cache_writes;
  logic [ColumnW-1:0] cache_read_column;
  logic [ColumnW-1:0] cache_write_column;
  logic [RowW-1:0]    cache_read_row;
  logic [RowW-1:0]    cache_write_row;
  logic [ColumnW-1:0] shared_column [WordPlaces];
  logic [BankW-1:0]   shared_bank   [WordPlaces];  // bank of the word: its column and cluster
  logic [RowW-1:0]    shared_entry  [WordPlaces];

  assign data_column_o = column_q;

  // ------------------------------------------------------------------ places
  // C, the number of rows of the cache. The cache has at least 4 lines, or none.
  function automatic logic [31:0] cache_rows();
    return (cache_log_i == '0) ? 32'd0 : (32'd1 << cache_log_i) / Columns;
  endfunction

  // The cache has the last rows.
  function automatic logic [RowW-1:0] cache_row(logic [LineEntryW-1:0] entry);
    return RowW'(Depth - cache_rows() + 32'(entry) / Columns);
  endfunction

  assign cache_read_column  = cache_read_entry_i[ColumnW-1:0];
  assign cache_write_column = cache_write_entry_i[ColumnW-1:0];
  assign cache_read_row     = cache_row(cache_read_entry_i);
  assign cache_write_row    = cache_row(cache_write_entry_i);

  // The scratchpad's rows begin after those of registers.
  for (genvar w = 0; w < WordPlaces; w++) begin : gen_place
    assign shared_column[w] = shared_row_i[w][ColumnW-1:0];
    assign shared_bank[w]   = {shared_column[w], ClusterIdxW'(w / GroupLanes)};
    assign shared_entry[w]  = RowW'(32'(register_rows_i) + 32'(shared_row_i[w]) / Columns);
  end

  // ------------------------------------------------------------------ ready
  // The ready of the cache depends on registers only, because the accesses of the cache depend on this ready.
  assign cache_read_ready_o = column_read_ready_i;

  for (genvar b = 0; b < Columns; b++) begin : gen_column
    assign cache_write_ready_o[b] = column_write_ready_i[b] == '1;
  end

  assign cache_reads  = cache_read_i & cache_read_ready_o[cache_read_column];
  assign cache_writes = cache_write_i & cache_write_ready_o[cache_write_column];

  for (genvar w = 0; w < WordPlaces; w++) begin : gen_shared
    assign shared_read_ready_o[w]  = shared_read_i[w] & ~cache_reads &
                                     column_read_ready_i[shared_column[w]];
    assign shared_write_ready_o[w] = shared_write_i[w] & ~cache_writes &
                                     column_write_ready_i[shared_column[w]][w / GroupLanes];
  end

  // ------------------------------------------------------------------ accesses
  // All words accessed in one bank are in one row, so the row of any of these words is used.
  always_comb begin
    read_o       = '{default: '0};
    read_entry_o = '{default: '0};
    if (cache_reads) begin
      read_o[cache_read_column] = '1;
      for (int unsigned g = 0; g < Clusters; g++) begin
        read_entry_o[{cache_read_column, ClusterIdxW'(g)}] = cache_read_row;
      end
    end else begin
      for (int unsigned w = 0; w < WordPlaces; w++) begin
        if (shared_read_ready_o[w]) begin
          read_o[shared_column[w]][w / GroupLanes] = 1'b1;
          read_entry_o[shared_bank[w]]               = shared_entry[w];
        end
      end
    end
  end

  always_comb begin
    write_o       = '{default: '0};
    write_entry_o = '{default: '0};
    write_bytes_o = '{default: '0};
    if (cache_writes) begin
      write_o[cache_write_column] = '1;
      for (int unsigned g = 0; g < Clusters; g++) begin
        write_entry_o[{cache_write_column, ClusterIdxW'(g)}] = cache_write_row;
        write_bytes_o[{cache_write_column, ClusterIdxW'(g)}] =
            cache_write_bytes_i[ClusterBytes*g +: ClusterBytes];
      end
    end else begin
      for (int unsigned w = 0; w < WordPlaces; w++) begin
        if (shared_write_ready_o[w]) begin
          write_o[shared_column[w]][w / GroupLanes] = 1'b1;
          write_entry_o[shared_bank[w]]               = shared_entry[w];
          write_bytes_o[shared_bank[w]][WordBytes*(w % GroupLanes) +: WordBytes] =
              shared_bytes_i[w];
        end
      end
    end
  end

  always_comb begin
    write_data_o = '0;
    if (cache_writes)                      write_data_o = cache_write_data_i;
    else if (shared_write_ready_o != '0)   write_data_o = shared_data_i;
  end

  // For each word place, the column from which memory has read last.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      column_q <= '{default: '0};
    end else begin
      for (int unsigned w = 0; w < WordPlaces; w++) begin
        if (cache_reads)                 column_q[w] <= cache_read_column;
        else if (shared_read_ready_o[w]) column_q[w] <= shared_column[w];
      end
    end
  end

  // ------------------------------------------------------------------ events
  // Number of banks that these words are in.
  function automatic logic [5:0] banks_of(logic [WordPlaces-1:0] words);
    logic [UnifiedBanks-1:0] some;
    some = '0;
    for (int unsigned w = 0; w < WordPlaces; w++) begin
      if (words[w]) some[shared_bank[w]] = 1'b1;
    end
    return 6'($countones(some));
  endfunction

  always_comb begin
    event_o.cache_read_wait   = cache_read_i & ~cache_reads;
    event_o.cache_write_wait  = cache_write_i & ~cache_writes;
    event_o.shared_read_lost  = banks_of(shared_read_i & ~shared_read_ready_o);
    event_o.shared_write_lost = banks_of(shared_write_i & ~shared_write_ready_o);
  end

`ifndef SYNTHESIS
  // Whether all scratchpad rows that are accessed exist: they are below Depth.
  function automatic logic shared_rows_exist();
    shared_rows_exist = 1'b1;
    for (int unsigned w = 0; w < WordPlaces; w++) begin
      if ((shared_read_i[w] || shared_write_i[w]) &&
          32'(register_rows_i) + 32'(shared_row_i[w]) / Columns >= Depth) begin
        shared_rows_exist = 1'b0;
      end
    end
  endfunction

  // Whether all words of one bank are in one row: a bank reads one row and writes one row in a cycle.
  function automatic logic banks_have_one_row(logic [WordPlaces-1:0] words);
    banks_have_one_row = 1'b1;
    for (int unsigned w = 0; w < WordPlaces; w++) begin
      for (int unsigned v = w - w % GroupLanes; v < w; v++) begin
        if (words[w] && words[v] && shared_bank[w] == shared_bank[v] &&
            shared_row_i[w] != shared_row_i[v]) begin
          banks_have_one_row = 1'b0;
        end
      end
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(shared_row_exists, shared_read_i != '0 || shared_write_i != '0,
                     shared_rows_exist(), "the scratchpad accesses a row beyond the last one")
  `GPURF_ASSERT_WHEN(one_row, shared_read_i != '0 || shared_write_i != '0,
                     banks_have_one_row(shared_read_i | shared_write_i),
                     "the scratchpad wants two rows of a bank")
  `GPURF_ASSERT_WHEN(cache_read_exists, cache_read_i, 32'(cache_read_entry_i) >> cache_log_i == '0,
                     "a hit is read beyond the cache's rows")
  `GPURF_ASSERT_WHEN(cache_write_exists, cache_write_i,
                     32'(cache_write_entry_i) >> cache_log_i == '0,
                     "a line is written beyond the cache's rows")
  `GPURF_ASSERT(cache_fits, (32'd1 << cache_log_i) <= Lines && cache_rows() <= Depth,
                "the cache has more lines than the largest one, or more rows than there are")
  `GPURF_ASSERT(no_cache_is_silent, cache_log_i != '0 || !(cache_read_i || cache_write_i),
                "an access of a cache that has no lines")

endmodule

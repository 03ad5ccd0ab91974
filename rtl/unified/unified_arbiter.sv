// Memory's accesses to the unified banks.
//
// Maps the accesses of the data cache and of the scratchpad to columns and rows, and decides between
// them (hierarchy thesis 7.3.2, 7.3.3). Registers come first: what they leave is the columns' ready.
// Then comes the cache, which takes all clusters of one column or waits, then the scratchpad, which
// takes each cluster that it gets. A cluster has 16 bytes a cycle to the memory units and 16 from
// them, so a cluster that serves the cache serves no scratchpad access of the same kind, whatever
// the columns are. Reads and writes are decided apart: a bank has a port for each.
`include "gpurf_assert.svh"

module unified_arbiter
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 768,   // rows
  parameter int unsigned Lines = 2048,  // of the largest cache
  localparam int unsigned RowW = $clog2(Depth),
  localparam int unsigned LineEntryW = $clog2(Lines)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // partition: changes at a launch only
  input  logic [BankRowsW-1:0]    register_rows_i,
  input  logic [CacheLogW-1:0]    cache_log_i,          // 0: no cache

  // what registers leave
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

  // scratchpad, a bit or an element for each cluster
  input  logic [Clusters-1:0]     shared_read_i,
  input  logic [Clusters-1:0]     shared_write_i,
  input  logic [SharedRowW-1:0]   shared_row_i         [Clusters],  // address / 128
  input  logic [ClusterBytes-1:0] shared_bytes_i       [Clusters],
  input  logic [DataW-1:0]        shared_data_i,
  output logic [Clusters-1:0]     shared_read_ready_o,
  output logic [Clusters-1:0]     shared_write_ready_o,

  // to the columns
  output logic [Clusters-1:0]     read_o,
  output logic [ColumnW-1:0]      read_column_o        [Clusters],
  output logic [RowW-1:0]         read_entry_o         [Clusters],
  output logic [Clusters-1:0]     write_o,
  output logic [ColumnW-1:0]      write_column_o       [Clusters],
  output logic [RowW-1:0]         write_entry_o        [Clusters],
  output logic [ClusterBytes-1:0] write_bytes_o        [Clusters],
  output logic [DataW-1:0]        write_data_o,
  output logic [ColumnW-1:0]      data_column_o        [Clusters],  // that was read last

  output unified_event_t          event_o
);

  logic [ColumnW-1:0] column_q [Clusters];

  logic               cache_reads;       // performed at this edge
  logic               cache_writes;
  logic [ColumnW-1:0] cache_read_column;
  logic [ColumnW-1:0] cache_write_column;
  logic [RowW-1:0]    cache_read_row;
  logic [RowW-1:0]    cache_write_row;
  logic [ColumnW-1:0] shared_column [Clusters];
  logic [RowW-1:0]    shared_entry  [Clusters];

  assign data_column_o = column_q;

  // ------------------------------------------------------------------ places
  // Rows of the cache: C. It has at least 4 lines, or none.
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
  for (genvar g = 0; g < Clusters; g++) begin : gen_place
    assign shared_column[g] = shared_row_i[g][ColumnW-1:0];
    assign shared_entry[g]  = RowW'(32'(register_rows_i) + 32'(shared_row_i[g]) / Columns);
  end

  // ------------------------------------------------------------------ who is ready
  // For the cache this depends on registers alone: its own accesses depend on it.
  assign cache_read_ready_o = column_read_ready_i;

  for (genvar b = 0; b < Columns; b++) begin : gen_column
    assign cache_write_ready_o[b] = column_write_ready_i[b] == '1;
  end

  assign cache_reads  = cache_read_i & cache_read_ready_o[cache_read_column];
  assign cache_writes = cache_write_i & cache_write_ready_o[cache_write_column];

  for (genvar g = 0; g < Clusters; g++) begin : gen_shared
    assign shared_read_ready_o[g]  = shared_read_i[g] & ~cache_reads &
                                     column_read_ready_i[shared_column[g]];
    assign shared_write_ready_o[g] = shared_write_i[g] & ~cache_writes &
                                     column_write_ready_i[shared_column[g]][g];
  end

  // ------------------------------------------------------------------ accesses
  assign read_o  = cache_reads ? '1 : shared_read_ready_o;
  assign write_o = cache_writes ? '1 : shared_write_ready_o;

  always_comb begin
    read_column_o = '{default: '0};
    read_entry_o  = '{default: '0};
    for (int unsigned g = 0; g < Clusters; g++) begin
      if (cache_reads) begin
        read_column_o[g] = cache_read_column;
        read_entry_o[g]  = cache_read_row;
      end else if (shared_read_ready_o[g]) begin
        read_column_o[g] = shared_column[g];
        read_entry_o[g]  = shared_entry[g];
      end
    end
  end

  always_comb begin
    write_column_o = '{default: '0};
    write_entry_o  = '{default: '0};
    write_bytes_o  = '{default: '0};
    for (int unsigned g = 0; g < Clusters; g++) begin
      if (cache_writes) begin
        write_column_o[g] = cache_write_column;
        write_entry_o[g]  = cache_write_row;
        write_bytes_o[g]  = cache_write_bytes_i[ClusterBytes*g +: ClusterBytes];
      end else if (shared_write_ready_o[g]) begin
        write_column_o[g] = shared_column[g];
        write_entry_o[g]  = shared_entry[g];
        write_bytes_o[g]  = shared_bytes_i[g];
      end
    end
  end

  always_comb begin
    write_data_o = '0;
    if (cache_writes)                      write_data_o = cache_write_data_i;
    else if (shared_write_ready_o != '0)   write_data_o = shared_data_i;
  end

  // The column whose output has what was read last for memory.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      column_q <= '{default: '0};
    end else begin
      for (int unsigned g = 0; g < Clusters; g++) begin
        if (read_o[g]) column_q[g] <= read_column_o[g];
      end
    end
  end

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o.cache_read_wait   = cache_read_i & ~cache_reads;
    event_o.cache_write_wait  = cache_write_i & ~cache_writes;
    event_o.shared_read_lost  = 4'($countones(shared_read_i & ~shared_read_ready_o));
    event_o.shared_write_lost = 4'($countones(shared_write_i & ~shared_write_ready_o));
  end

`ifndef SYNTHESIS
  // Scratchpad rows that are accessed lie below the cache's, which are the last ones.
  function automatic logic shared_rows_exist();
    shared_rows_exist = 1'b1;
    for (int unsigned g = 0; g < Clusters; g++) begin
      if ((shared_read_i[g] || shared_write_i[g]) &&
          32'(register_rows_i) + 32'(shared_row_i[g]) / Columns >= Depth) begin
        shared_rows_exist = 1'b0;
      end
    end
  endfunction
`endif

  `GPURF_ASSERT_WHEN(shared_row_exists, shared_read_i != '0 || shared_write_i != '0,
                     shared_rows_exist(), "the scratchpad accesses a row beyond the last one")
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

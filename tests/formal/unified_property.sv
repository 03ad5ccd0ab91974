// In the unified banks a register, scratchpad memory and the data cache each read what was last
// written in their own space, whatever the others do and however a launch has divided the rows.
//
// The columns and `unified_arbiter` are wired as in `mrf` and `sm`. The environment turns free inputs
// into accesses, and nothing less: of registers any read and write of each column in each cycle, of
// the cache any hit and any line, of the scratchpad any words, as long as words of one bank have one
// row. Each stays in its rows. The partition is chosen once: any that fits.
//
// One lane of one register, one word of scratchpad memory and one byte of one line are chosen freely
// and followed, so what is proven of them holds of all.
module unified_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Depth = 4,
  parameter int unsigned Lines = 8,
  parameter int unsigned Separate = 0,
  localparam int unsigned EntryW = $clog2(Depth),
  localparam int unsigned LineEntryW = $clog2(Lines),
  localparam int unsigned LaneIdxW = $clog2(Lanes),
  localparam int unsigned WordBytes = ClusterBytes / GroupLanes
) (
  input logic                             clk_i,

  // chosen once
  input logic [BankRowsW-1:0]             register_rows_i,
  input logic [BankRowsW-1:0]             shared_rows_i,
  input logic [CacheLogW-1:0]             cache_log_i,
  input logic [ColumnW-1:0]               column_i,       // the lane of a register
  input logic [EntryW-1:0]                entry_i,
  input logic [LaneIdxW-1:0]              lane_i,
  input logic [SharedRowW-1:0]            row_i,          // the word of scratchpad memory
  input logic [LaneIdxW-1:0]              word_i,
  input logic [LineEntryW-1:0]            line_i,         // the byte of a line
  input logic [LineOffsetW-1:0]           byte_i,

  // accesses that are wished for
  input logic [Columns-1:0]               read_i,
  input logic [Columns*EntryW-1:0]        read_entry_i,
  input logic [Columns-1:0]               write_i,
  input logic [Columns*EntryW-1:0]        write_entry_i,
  input logic [Columns*Lanes-1:0]         write_mask_i,
  input logic [DataW-1:0]                 write_data_i,
  input logic                             cache_read_i,
  input logic [LineEntryW-1:0]            cache_read_entry_i,
  input logic                             cache_write_i,
  input logic [LineEntryW-1:0]            cache_write_entry_i,
  input logic [LineBytes-1:0]             cache_write_bytes_i,
  input logic [DataW-1:0]                 cache_write_data_i,
  input logic [WordPlaces-1:0]            shared_read_i,
  input logic [WordPlaces-1:0]            shared_write_i,
  input logic [WordPlaces*SharedRowW-1:0] shared_row_i,
  input logic [WordPlaces*WordBytes-1:0]  shared_bytes_i,
  input logic [DataW-1:0]                 shared_data_i
);

  // ------------------------------------------------------------------ environment
  logic                    started_q = 1'b0;
  logic [BankRowsW-1:0]    register_rows_q, shared_rows_q;
  logic [CacheLogW-1:0]    cache_log_q;
  logic [ColumnW-1:0]      column_q;
  logic [EntryW-1:0]       entry_q;
  logic [LaneIdxW-1:0]     lane_q, word_q;
  logic [SharedRowW-1:0]   row_q;
  logic [LineEntryW-1:0]   line_q;
  logic [LineOffsetW-1:0]  byte_q;

  logic [31:0]             cache_rows;
  logic                    divided;      // the partition fits, and what is followed is in it

  assign cache_rows = (cache_log_q == '0) ? 32'd0 : (32'd1 << cache_log_q) / Columns;
  assign divided    = (cache_log_q == '0 || (cache_log_q >= CacheLogW'($clog2(Columns)) &&
                                             (32'd1 << cache_log_q) <= Lines)) &&
                      32'(register_rows_q) + 32'(shared_rows_q) + cache_rows <= Depth;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      register_rows_q <= register_rows_i;
      shared_rows_q   <= shared_rows_i;
      cache_log_q     <= cache_log_i;
      column_q        <= column_i;
      entry_q         <= entry_i;
      lane_q          <= lane_i;
      row_q           <= row_i;
      word_q          <= word_i;
      line_q          <= line_i;
      byte_q          <= byte_i;
    end
  end

  logic [Columns-1:0]      register_read, register_write;
  logic [EntryW-1:0]       read_entry  [Columns];
  logic [EntryW-1:0]       write_entry [Columns];
  logic [Lanes-1:0]        write_mask  [Columns];

  always_comb begin
    for (int unsigned b = 0; b < Columns; b++) begin
      read_entry[b]     = read_entry_i[EntryW*b +: EntryW];
      write_entry[b]    = write_entry_i[EntryW*b +: EntryW];
      write_mask[b]     = write_mask_i[Lanes*b +: Lanes];
      register_read[b]  = read_i[b] && divided && 32'(read_entry[b]) < 32'(register_rows_q);
      register_write[b] = write_i[b] && divided && 32'(write_entry[b]) < 32'(register_rows_q);
    end
  end

  logic cache_read, cache_write;

  assign cache_read  = cache_read_i && divided && cache_log_q != '0 &&
                       32'(cache_read_entry_i) < (32'd1 << cache_log_q);
  assign cache_write = cache_write_i && divided && cache_log_q != '0 &&
                       32'(cache_write_entry_i) < (32'd1 << cache_log_q);

  // Words that exist. Of words of one bank with different rows the lowest one stays.
  logic [WordPlaces-1:0] shared_read, shared_write;
  logic [SharedRowW-1:0] shared_row   [WordPlaces];
  logic [WordBytes-1:0]  shared_bytes [WordPlaces];

  always_comb begin
    for (int unsigned w = 0; w < WordPlaces; w++) begin
      shared_row[w]   = shared_row_i[SharedRowW*w +: SharedRowW];
      shared_bytes[w] = shared_bytes_i[WordBytes*w +: WordBytes];
      shared_read[w]  = shared_read_i[w] && divided && 32'(shared_row[w]) / Columns < 32'(shared_rows_q);
      shared_write[w] = shared_write_i[w] && divided && 32'(shared_row[w]) / Columns < 32'(shared_rows_q);
      for (int unsigned v = w - w % GroupLanes; v < w; v++) begin
        if (shared_row[v] != shared_row[w] && shared_row[v][ColumnW-1:0] == shared_row[w][ColumnW-1:0]) begin
          if (shared_read[v]) shared_read[w] = 1'b0;
          if (shared_write[v]) shared_write[w] = 1'b0;
        end
      end
    end
  end

  // ------------------------------------------------------------------ columns and arbiter
  logic [Columns-1:0]      column_read_ready;
  logic [Clusters-1:0]     column_write_ready [Columns];
  logic [Columns-1:0]      cache_read_ready, cache_write_ready;
  logic [WordPlaces-1:0]   shared_read_ready, shared_write_ready;
  logic [Clusters-1:0]     memory_read        [Columns];
  logic [EntryW-1:0]       memory_read_entry  [UnifiedBanks];
  logic [Clusters-1:0]     memory_write       [Columns];
  logic [EntryW-1:0]       memory_write_entry [UnifiedBanks];
  logic [ClusterBytes-1:0] memory_write_bytes [UnifiedBanks];
  logic [DataW-1:0]        memory_write_data;
  logic [ColumnW-1:0]      data_column        [WordPlaces];
  logic [Columns-1:0]      read_data_valid;
  logic [DataW-1:0]        read_data          [Columns];
  logic [DataW-1:0]        memory_data        [Columns];
  logic [DataW-1:0]        data;              // what memory has read
  unified_event_t          event_o;

  unified_arbiter #(
    .Depth(Depth),
    .Lines(Lines)
  ) arbiter (
    .clk_i,
    .rst_ni              (started_q),
    .register_rows_i     (register_rows_q),
    .cache_log_i         (cache_log_q),
    .column_read_ready_i (column_read_ready),
    .column_write_ready_i(column_write_ready),
    .cache_read_i        (cache_read),
    .cache_read_entry_i,
    .cache_write_i       (cache_write),
    .cache_write_entry_i,
    .cache_write_bytes_i,
    .cache_write_data_i,
    .cache_read_ready_o  (cache_read_ready),
    .cache_write_ready_o (cache_write_ready),
    .shared_read_i       (shared_read),
    .shared_write_i      (shared_write),
    .shared_row_i        (shared_row),
    .shared_bytes_i      (shared_bytes),
    .shared_data_i,
    .shared_read_ready_o (shared_read_ready),
    .shared_write_ready_o(shared_write_ready),
    .read_o              (memory_read),
    .read_entry_o        (memory_read_entry),
    .write_o             (memory_write),
    .write_entry_o       (memory_write_entry),
    .write_bytes_o       (memory_write_bytes),
    .write_data_o        (memory_write_data),
    .data_column_o       (data_column),
    .event_o
  );

  // What the cells have at the places that are followed.
  logic [ClusterW-1:0] register_words [UnifiedBanks];
  logic [ClusterW-1:0] shared_words   [UnifiedBanks];
  logic [ClusterW-1:0] line_words     [UnifiedBanks];
  logic [31:0]         shared_entry, line_entry;

  assign shared_entry = 32'(register_rows_q) + 32'(row_q) / Columns;
  assign line_entry   = Depth - cache_rows + 32'(line_q) / Columns;

  for (genvar b = 0; b < Columns; b++) begin : gen_column
    logic [EntryW-1:0]       bank_read_entry  [Clusters];
    logic [EntryW-1:0]       bank_write_entry [Clusters];
    logic [ClusterBytes-1:0] bank_write_bytes [Clusters];

    unified_bank #(
      .Depth   (Depth),
      .Separate(Separate)
    ) bank (
      .clk_i,
      .rst_ni              (started_q),
      .read_valid_i        (register_read[b]),
      .read_entry_i        (read_entry[b]),
      .write_valid_i       (register_write[b]),
      .write_entry_i       (write_entry[b]),
      .write_mask_i        (write_mask[b]),
      .write_data_i,
      .memory_read_i       (memory_read[b]),
      .memory_read_entry_i (bank_read_entry),
      .memory_write_i      (memory_write[b]),
      .memory_write_entry_i(bank_write_entry),
      .memory_write_bytes_i(bank_write_bytes),
      .memory_write_data_i (memory_write_data),
      .memory_read_ready_o (column_read_ready[b]),
      .memory_write_ready_o(column_write_ready[b]),
      .read_data_valid_o   (read_data_valid[b]),
      .read_data_o         (read_data[b]),
      .memory_data_o       (memory_data[b])
    );

    for (genvar g = 0; g < Clusters; g++) begin : gen_cluster
      assign bank_read_entry[g]  = memory_read_entry[Clusters*b+g];
      assign bank_write_entry[g] = memory_write_entry[Clusters*b+g];
      assign bank_write_bytes[g] = memory_write_bytes[Clusters*b+g];

      assign register_words[Clusters*b+g] = bank.gen_cluster[g].u_ram.mem_q[entry_q];
      if (Separate == 0) begin : gen_shared
        assign shared_words[Clusters*b+g] = bank.gen_cluster[g].u_ram.mem_q[EntryW'(shared_entry)];
        assign line_words[Clusters*b+g]   = bank.gen_cluster[g].u_ram.mem_q[EntryW'(line_entry)];
      end else begin : gen_separate
        assign shared_words[Clusters*b+g] =
            bank.gen_cluster[g].gen_separate.u_memory.mem_q[EntryW'(shared_entry)];
        assign line_words[Clusters*b+g] =
            bank.gen_cluster[g].gen_separate.u_memory.mem_q[EntryW'(line_entry)];
      end
    end
  end

  for (genvar w = 0; w < WordPlaces; w++) begin : gen_word
    assign data[LaneW*w +: LaneW] = memory_data[data_column[w]][LaneW*w +: LaneW];
  end

  // ------------------------------------------------------------------ what was written last
  logic             register_known_q, shared_known_q, line_known_q;
  logic [LaneW-1:0] register_value_q, shared_value_q;
  logic [7:0]       line_value_q;
  logic             register_read_q, shared_read_q, line_read_q;  // at the last edge
  logic [LaneW-1:0] register_want_q, shared_want_q;               // what has to come
  logic [7:0]       line_want_q;

  // The places in rows of all clusters.
  logic [DataW-1:0] register_row, shared_row_now, line_row;
  logic             register_exists, shared_exists, line_exists;
  logic             register_writes, line_writes, line_reads;

  always_comb begin
    for (int unsigned g = 0; g < Clusters; g++) begin
      register_row[ClusterW*g +: ClusterW]   = register_words[Clusters*32'(column_q)+g];
      shared_row_now[ClusterW*g +: ClusterW] = shared_words[Clusters*32'(row_q[ColumnW-1:0])+g];
      line_row[ClusterW*g +: ClusterW]       = line_words[Clusters*32'(line_q[ColumnW-1:0])+g];
    end
  end

  assign register_exists = divided && 32'(entry_q) < 32'(register_rows_q);
  assign shared_exists   = divided && 32'(row_q) / Columns < 32'(shared_rows_q);
  assign line_exists     = divided && cache_log_q != '0 && 32'(line_q) < (32'd1 << cache_log_q);

  assign register_writes = register_write[column_q] && write_entry[column_q] == entry_q &&
                           write_mask[column_q][lane_q];
  assign line_writes     = cache_write && cache_write_ready[cache_write_entry_i[ColumnW-1:0]] &&
                           cache_write_entry_i == line_q && cache_write_bytes_i[byte_q];
  assign line_reads      = cache_read && cache_read_ready[cache_read_entry_i[ColumnW-1:0]] &&
                           cache_read_entry_i == line_q;

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      register_known_q <= 1'b0;
      shared_known_q   <= 1'b0;
      line_known_q     <= 1'b0;
      register_read_q  <= 1'b0;
      shared_read_q    <= 1'b0;
      line_read_q      <= 1'b0;
    end else begin
      if (register_writes && register_exists) begin
        register_known_q <= 1'b1;
        register_value_q <= write_data_i[LaneW*lane_q +: LaneW];
      end
      if (shared_write_ready[word_q] && shared_row[word_q] == row_q && shared_exists) begin
        // Of a word some bytes may be written: the word is known when it has been written whole.
        if (shared_bytes[word_q] == '1) shared_known_q <= 1'b1;
        for (int unsigned b = 0; b < WordBytes; b++) begin
          if (shared_bytes[word_q][b]) begin
            shared_value_q[8*b +: 8] <= shared_data_i[LaneW*word_q + 8*b +: 8];
          end
        end
      end
      if (line_writes && line_exists) begin
        line_known_q <= 1'b1;
        line_value_q <= cache_write_data_i[8*byte_q +: 8];
      end
      register_read_q <= register_read[column_q] && read_entry[column_q] == entry_q &&
                         register_exists && register_known_q;
      register_want_q <= register_value_q;
      shared_read_q   <= shared_read_ready[word_q] && shared_row[word_q] == row_q && shared_exists &&
                         shared_known_q;
      shared_want_q   <= shared_value_q;
      line_read_q     <= line_reads && line_exists && line_known_q;
      line_want_q     <= line_value_q;
    end
  end

  always_comb begin
    if (started_q) begin
      // What comes a cycle after a read.
      must_register_reads: assert (!register_read_q || (read_data_valid[column_q] &&
          read_data[column_q][LaneW*lane_q +: LaneW] == register_want_q));
      must_shared_reads: assert (!shared_read_q || data[LaneW*word_q +: LaneW] == shared_want_q);
      must_line_reads: assert (!line_read_q || data[8*byte_q +: 8] == line_want_q);
      // Why: the cells have it.
      must_register_kept: assert (!register_known_q ||
          (register_exists && register_row[LaneW*lane_q +: LaneW] == register_value_q));
      must_shared_kept: assert (!shared_known_q ||
          (shared_exists && shared_row_now[LaneW*word_q +: LaneW] == shared_value_q));
      must_line_kept: assert (!line_known_q ||
          (line_exists && line_row[8*byte_q +: 8] == line_value_q));
      // Registers never wait, and a wish of memory is performed unless a register or the cache has the port.
      thus_registers_first: assert (Separate != 0 ||
          (column_read_ready & register_read) == '0);
      thus_one_crossbar: assert (!(cache_read && cache_read_ready[cache_read_entry_i[ColumnW-1:0]] &&
                                   shared_read_ready != '0) &&
          !(cache_write && cache_write_ready[cache_write_entry_i[ColumnW-1:0]] && shared_write_ready != '0));
    end
  end

endmodule

// Data of the cache.
//
// Stores the lines, and performs their reads and writes: hits, one at a time and in order, and fills from
// memory. A hit waits in stage C for its turn at the RAM. A store writes its bytes there and is
// done. A line read by a load is in stage D, from which the lanes take their values.
// Fills share the write port with stores, which have priority.
//
// With unified memory the lines are in the banks of the register file, and C waits until the column
// of its line is free. The output of a bank belongs to the access of the edge before, so a line whose
// lanes cannot leave is kept here.
`include "gpurf_assert.svh"

module cache_access
  import gpurf_pkg::*;
#(
  parameter int unsigned Lines = 512,
  parameter int unsigned Rows = 64,
  parameter int unsigned Unified = 0,  // 1: the lines are in the unified banks
  localparam int unsigned EntryW = $clog2(Lines),
  localparam int unsigned LoadW = $clog2(Rows)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // a hit
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic                   in_store_i,
  input  logic [EntryW-1:0]      in_entry_i,
  // for a load
  input  cache_row_t             in_row_i,
  input  logic [LoadW-1:0]       in_load_i,
  // for a store
  input  logic [Lanes-1:0]       in_mask_i,
  input  logic [1:0]             in_size_i,
  input  logic [LineOffsetW-1:0] in_offset_i [Lanes],
  input  logic [DataW-1:0]       in_data_i,

  // stage C: entry of its hit, which no fill may replace; write_o: C has a store to write
  output logic                   pin_valid_o,
  output logic [EntryW-1:0]      pin_entry_o,
  output logic                   write_o,

  // fill: a line is written at this edge
  input  logic                   fill_valid_i,
  input  logic [EntryW-1:0]      fill_entry_i,
  input  logic [DataW-1:0]       fill_data_i,

  // stage D: result of a load
  output logic                   push_valid_o,
  output logic [WarpW-1:0]       push_warp_o,
  output logic [Lanes-1:0]       push_mask_o,
  output logic                   push_reg_valid_o,
  output logic [RegW-1:0]        push_reg_o,
  output logic [LoadW-1:0]       push_load_o,
  output logic [DataW-1:0]       push_data_o,
  input  logic                   push_ready_i,

  // unified banks: columns that are free; accesses that are performed if their column is free; data
  // that was read at the last edge
  // verilator lint_off UNUSEDSIGNAL
  input  logic [Columns-1:0]     read_ready_i,
  input  logic [Columns-1:0]     write_ready_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                   ram_read_o,
  output logic [EntryW-1:0]      ram_read_entry_o,
  output logic                   ram_write_o,
  output logic [EntryW-1:0]      ram_write_entry_o,
  output logic [LineBytes-1:0]   ram_write_bytes_o,
  output logic [DataW-1:0]       ram_write_data_o,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [DataW-1:0]       data_i
  // verilator lint_on UNUSEDSIGNAL
);

  localparam int unsigned ByteW = 2;              // width of the index of a byte in its word
  localparam int unsigned WordBytes = LaneW / 8;
  localparam int unsigned LineWords = 2**(LineOffsetW - ByteW);

  // stage C
  logic                 access_valid_q;
  logic                 store_q;
  logic [EntryW-1:0]    entry_q;
  cache_row_t           row_q;
  logic [LoadW-1:0]     load_q;
  logic [DataW-1:0]     data_q;
  logic [LineBytes-1:0] bytes_q;

  // stage D
  logic                 line_valid_q;
  cache_row_t           line_row_q;
  logic [LoadW-1:0]     line_load_q;

  logic                 take;
  logic                 wanted;       // C has a load that can move to D
  logic                 read_free;    // the column of C's entry is free for a read; write_free: for a write
  logic                 write_free;
  logic                 read;         // a load moves to D
  logic                 write;        // a store or a fill is written, if its column is free
  logic [EntryW-1:0]    write_entry;
  logic [LineBytes-1:0] write_bytes;
  logic [DataW-1:0]     write_data;
  logic [DataW-1:0]     line;         // the line that was read last

  // ------------------------------------------------------------------ C
  assign wanted     = access_valid_q & ~store_q & (~line_valid_q | push_ready_i);
  assign read       = wanted & read_free;
  assign in_ready_o = ~access_valid_q | (store_q & write_free) | read;
  assign take       = in_valid_i & in_ready_o;

  assign pin_valid_o = access_valid_q;
  assign pin_entry_o = access_valid_q ? entry_q : '0;
  assign write_o     = access_valid_q & store_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) access_valid_q <= 1'b0;
    else         access_valid_q <= take | ~in_ready_o;
  end

  // The payload has no reset: it has no meaning while the valids are low.
  always_ff @(posedge clk_i) begin
    if (take) begin
      store_q <= in_store_i;
      entry_q <= in_entry_i;
      if (!in_store_i) begin
        row_q  <= in_row_i;
        load_q <= in_load_i;
      end
    end
  end

  // Places the bytes of the lanes in the line, in ascending order of lanes, so that the highest lane wins. An
  // access lies within a line and is aligned, so its bytes lie within one word of the line.
  always_ff @(posedge clk_i) begin : store
    // Words of the line: indexing by word avoids a shift of the whole line.
    automatic logic [LineWords-1:0][LaneW-1:0]     data;
    automatic logic [LineWords-1:0][WordBytes-1:0] bytes;
    automatic logic [WordBytes-1:0] some;     // bytes of the word that the lane writes
    automatic logic [LaneW-1:0]     enable;   // one bit for each bit of these bytes
    automatic logic [LaneW-1:0]     value;
    automatic logic [LineOffsetW-ByteW-1:0] word;
    if (take && in_store_i) begin
      data  = '0;
      bytes = '0;
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (in_mask_i[l]) begin
          word  = in_offset_i[l][LineOffsetW-1:ByteW];
          some  = {{2{in_size_i[1]}}, in_size_i != SizeByte, 1'b1} << in_offset_i[l][ByteW-1:0];
          value = in_data_i[LaneW*l +: LaneW] << {in_offset_i[l][ByteW-1:0], 3'b000};
          for (int unsigned b = 0; b < WordBytes; b++) enable[8*b +: 8] = {8{some[b]}};
          bytes[word] = bytes[word] | some;
          data[word]  = (data[word] & ~enable) | (value & enable);
        end
      end
      data_q  <= data;
      bytes_q <= bytes;
    end
  end

  // ------------------------------------------------------------------ lines
  assign write       = write_o | fill_valid_i;
  assign write_entry = write_o ? entry_q : fill_entry_i;
  assign write_bytes = write_o ? bytes_q : '1;
  assign write_data  = write_o ? data_q : fill_data_i;

  logic             fresh_q;  // with Unified: the line was read at the last edge
  logic [DataW-1:0] kept_q;   // with Unified: the line in later cycles; without: the output of the RAM

  assign line = fresh_q ? data_i : kept_q;

  if (Unified == 0) begin : gen_own
    assign fresh_q = 1'b0;

    ram_1r1w #(
      .Depth(Lines),
      .Parts(LineBytes),
      .PartW(8)
    ) u_ram (
      .clk_i,
      .re_i   (read),
      .raddr_i(entry_q),
      .we_i   (write),
      .waddr_i(write_entry),
      .wmask_i(write_bytes),
      .wdata_i(write_data),
      .rdata_o(kept_q)
    );

    assign read_free         = 1'b1;
    assign write_free        = 1'b1;
    assign ram_read_o        = 1'b0;
    assign ram_read_entry_o  = '0;
    assign ram_write_o       = 1'b0;
    assign ram_write_entry_o = '0;
    assign ram_write_bytes_o = '0;
    assign ram_write_data_o  = '0;
  end else begin : gen_unified
    assign read_free         = read_ready_i[entry_q[ColumnW-1:0]];
    assign write_free        = write_ready_i[entry_q[ColumnW-1:0]];
    assign ram_read_o        = wanted;
    assign ram_read_entry_o  = entry_q;
    assign ram_write_o       = write;
    assign ram_write_entry_o = write_entry;
    assign ram_write_bytes_o = write_bytes;
    assign ram_write_data_o  = write_data;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) fresh_q <= 1'b0;
      else         fresh_q <= read;
    end

    // No reset: kept_q has no meaning until a line has been read.
    always_ff @(posedge clk_i) begin
      if (fresh_q) kept_q <= data_i;
    end

    `GPURF_ASSERT_WHEN(fill_has_column, fill_valid_i, write_ready_i[fill_entry_i[ColumnW-1:0]],
                       "a line came whose column is not free")
  end

  // ------------------------------------------------------------------ D
  always_ff @(posedge clk_i) begin
    if (!rst_ni) line_valid_q <= 1'b0;
    else         line_valid_q <= read | (line_valid_q & ~push_ready_i);
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      line_row_q  <= row_q;
      line_load_q <= load_q;
    end
  end

  assign push_valid_o     = line_valid_q;
  assign push_warp_o      = line_row_q.warp;
  assign push_mask_o      = line_row_q.mask;
  assign push_reg_valid_o = line_valid_q & line_row_q.reg_valid;
  assign push_reg_o       = line_row_q.reg_name;
  assign push_load_o      = line_load_q;

  always_comb begin
    push_data_o = '0;
    if (push_reg_valid_o) begin
      push_data_o = loaded_lanes(line, line_row_q.offset, line_row_q.mask, line_row_q.size,
                                 line_row_q.is_signed, line_row_q.lanewise);
    end
  end

`ifndef SYNTHESIS
  // The lanes' offsets in one vector.
  function automatic logic [Lanes-1:0][LineOffsetW-1:0] in_offsets();
    for (int unsigned l = 0; l < Lanes; l++) in_offsets[l] = in_offset_i[l];
  endfunction
`endif

  `GPURF_ASSERT_WHEN(stores_first, fill_valid_i, !write_o, "a line came while a store wrote")
  `GPURF_ASSERT_WHEN(fill_elsewhere, fill_valid_i && pin_valid_o, fill_entry_i != entry_q,
                     "a line came to the entry that is accessed")
  `GPURF_ASSERT_WHEN(load_aligned, in_valid_i && !in_store_i,
                     are_aligned(in_row_i.offset, in_row_i.mask, in_row_i.size),
                     "a row has a misaligned offset")
  `GPURF_ASSERT_WHEN(load_of_line, in_valid_i && !in_store_i, !in_row_i.lanewise,
                     "a row wants the words of an atomic operation")
  `GPURF_ASSERT_WHEN(store_aligned, in_valid_i && in_store_i,
                     are_aligned(in_offsets(), in_mask_i, in_size_i),
                     "a store has a misaligned offset")

endmodule

// Tags of the data cache.
//
// Tags, valid bits and the order of replacement (hierarchy thesis 7.3.1: one tag lookup a cycle).
// The tags of a set are read one cycle ahead, at the edge at which a request comes into T, so that
// the lookup there is a comparison. What has been read is one edge old: a tag that was written at
// the edge of the read is kept beside the cells. Valid bits and orders are registers. They have no
// delay, and the whole cache becomes invalid at one edge.
//
// A fill takes a way that is invalid, or the way next in the order. It never takes a way that is
// about to be accessed: then the line is not kept, because an answer must not wait for a hit.
//
// With unified memory the number of lines is chosen at each launch. There are tags for the largest
// cache; a smaller one uses the lowest sets. A tag has the bits of a line that the smallest cache needs.
`include "gpurf_assert.svh"

module cache_tags
  import gpurf_pkg::*;
#(
  parameter int unsigned Lines = 512,
  parameter int unsigned Ways = 4,
  parameter int unsigned Unified = 0,  // 1: the number of lines is chosen at each launch
  localparam int unsigned EntryW = $clog2(Lines)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              cfg_i,          // 0: least recently used, 1: first in, first out
  input  logic              flush_i,        // every line becomes invalid at this edge
  // Read with unified memory only.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [CacheLogW-1:0] log_i,       // logarithm of the number of lines; 0: no cache
  // verilator lint_on UNUSEDSIGNAL

  // tags that are read at this edge
  input  logic              read_valid_i,
  // Only the set of the line addresses the cells.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [LineW-1:0]  read_line_i,
  // verilator lint_on UNUSEDSIGNAL

  // lookup of a line whose set was read at the edge before
  input  logic [LineW-1:0]  line_i,
  output logic              hit_o,
  output logic [EntryW-1:0] entry_o,        // 0 without a hit
  input  logic              touch_i,        // the line is used at this edge
  input  logic              invalidate_i,   // the line becomes invalid at this edge

  // an entry that no fill may take
  input  logic              pin_valid_i,
  input  logic [EntryW-1:0] pin_entry_i,

  // fill: a line that arrives at this edge
  input  logic              fill_valid_i,
  input  logic [LineW-1:0]  fill_line_i,
  output logic              fill_keep_o,
  output logic [EntryW-1:0] fill_entry_o    // 0 if the line is not kept
);

  localparam int unsigned Sets = Lines / Ways;
  localparam int unsigned SetW = $clog2(Sets);
  localparam int unsigned WayW = (Ways > 1) ? $clog2(Ways) : 1;
  localparam int unsigned LeastSets = 4;    // least number of sets with unified memory
  localparam int unsigned TagLow = (Unified != 0) ? $clog2(LeastSets) : SetW;
  localparam int unsigned TagW = LineW - TagLow;
  localparam int unsigned MinCellW = 17;    // least width of a word of the cells
  localparam int unsigned CellW = (TagW > MinCellW) ? TagW : MinCellW;

  // The ways of a set, the one used last in the lowest bits.
  typedef logic [Ways-1:0][WayW-1:0] order_t;

  logic [Ways-1:0] valid_q [Sets];
  order_t          order_q [Sets];

  // a tag written at the edge at which its set was read
  logic            bypass_valid_q;
  logic [WayW-1:0] bypass_way_q;
  logic [TagW-1:0] bypass_tag_q;

  logic            enabled;                 // there is a cache
  logic [CacheLogW-1:0] set_log;            // logarithm of the number of sets
  logic [SetW-1:0] set_mask;                // bits of a line that select its set
  logic [SetW-1:0] read_set;
  logic [SetW-1:0] set;
  logic [TagW-1:0] tag;
  logic [TagW-1:0] cell_tag [Ways];         // the tag of each way, as read from its cell
  logic [Ways-1:0] match;
  logic [WayW-1:0] hit_way;
  logic            invalidate;
  logic            move;                    // the use changes the order
  order_t          used_order;              // order of the set looked up, after the use

  logic [SetW-1:0] fill_set;
  logic [TagW-1:0] fill_tag;
  logic            one_set;                 // the fill is in the set that is looked up
  logic [WayW-1:0] fill_way;                // the way that the fill replaces
  logic            pinned;

  // The order after the use of a way: the ways in front of it move back by one place.
  function automatic order_t moved(order_t order, logic [WayW-1:0] way);
    logic found;  // the way was found before place i
    found = 1'b0;
    moved = order;
    for (int unsigned i = 0; i < Ways; i++) begin
      if (i == 0)      moved[i] = way;
      else if (!found) moved[i] = order[i-1];
      if (order[i] == way) found = 1'b1;
    end
  endfunction

  function automatic order_t first_order();
    for (int unsigned i = 0; i < Ways; i++) first_order[i] = WayW'(i);
  endfunction

  localparam order_t FirstOrder = first_order();

  // ------------------------------------------------------------------ sets
  if (Unified == 0) begin : gen_fixed
    assign enabled  = 1'b1;
    assign set_log  = CacheLogW'(SetW);
    assign set_mask = '1;
  end else begin : gen_chosen
    assign enabled  = log_i != '0;
    assign set_log  = enabled ? log_i - CacheLogW'($clog2(Ways)) : '0;
    assign set_mask = ~({SetW{1'b1}} << set_log);

    `GPURF_ASSERT(lines_in_range, !enabled || (32'(log_i) <= EntryW &&
                                               32'd1 << log_i >= LeastSets * Ways),
                  "the cache has more lines than the largest one, or too few")
    `GPURF_ASSERT(no_line_without_cache, enabled || match == '0,
                  "a line is in a cache that has none")
  end

  // The place of a line: `way * sets + set`. With one way the number of the way is 0.
  function automatic logic [EntryW-1:0] entry_of(logic [WayW-1:0] way, logic [SetW-1:0] in_set);
    return (EntryW'(way) << set_log) | EntryW'(in_set);
  endfunction

  // ------------------------------------------------------------------ lookup
  assign tag = line_i[TagLow +: TagW];
  assign set = line_i[SetW-1:0] & set_mask;

  always_comb begin
    hit_way = '0;
    for (int unsigned w = Ways; w > 0; w--) begin
      match[w-1] = valid_q[set][w-1] &
                   (((bypass_valid_q && bypass_way_q == WayW'(w - 1)) ? bypass_tag_q
                                                                      : cell_tag[w-1]) == tag);
      if (match[w-1]) hit_way = WayW'(w - 1);
    end
    hit_o   = match != '0;
    entry_o = hit_o ? entry_of(hit_way, set) : '0;
  end

  // ------------------------------------------------------------------ fill
  assign fill_tag = fill_line_i[TagLow +: TagW];
  assign fill_set = fill_line_i[SetW-1:0] & set_mask;

  always_comb begin
    fill_way = order_q[fill_set][Ways-1];
    for (int unsigned w = Ways; w > 0; w--) begin
      if (!valid_q[fill_set][w-1]) fill_way = WayW'(w - 1);
    end
    pinned = (pin_valid_i && pin_entry_i == entry_of(fill_way, fill_set)) ||
             (touch_i && hit_o && entry_o == entry_of(fill_way, fill_set));
    fill_keep_o  = fill_valid_i && !pinned && enabled;
    fill_entry_o = fill_keep_o ? entry_of(fill_way, fill_set) : '0;
  end

  // ------------------------------------------------------------------ state
  assign one_set    = set == fill_set;
  assign invalidate = invalidate_i & hit_o;
  assign move       = touch_i & hit_o & ~cfg_i;
  assign used_order = moved(order_q[set], hit_way);

  // A fill takes effect after a use or an invalidation at the same edge, also if both are in one set.
  always_ff @(posedge clk_i) begin : valid
    automatic logic [Ways-1:0] gone;  // way that becomes invalid in the set of the fill
    if (!rst_ni || flush_i) begin
      valid_q <= '{default: '0};
    end else begin
      if (invalidate) valid_q[set] <= valid_q[set] & ~(Ways'(1) << hit_way);
      if (fill_keep_o) begin
        gone = (invalidate && one_set) ? Ways'(1) << hit_way : '0;
        valid_q[fill_set] <= (valid_q[fill_set] & ~gone) | (Ways'(1) << fill_way);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      order_q <= '{default: FirstOrder};
    end else begin
      if (move) order_q[set] <= used_order;
      if (fill_keep_o) begin
        order_q[fill_set] <= moved((move && one_set) ? used_order : order_q[fill_set], fill_way);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) bypass_valid_q <= 1'b0;
    else         bypass_valid_q <= read_valid_i & fill_keep_o & (read_set == fill_set);
  end

  // No reset: way and tag of the bypass have no meaning while bypass_valid_q is low.
  always_ff @(posedge clk_i) begin
    if (fill_keep_o) begin
      bypass_way_q <= fill_way;
      bypass_tag_q <= fill_tag;
    end
  end

  // ------------------------------------------------------------------ tags
  assign read_set = read_line_i[SetW-1:0] & set_mask;

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    // The bits above the tag are 0.
    // verilator lint_off UNUSEDSIGNAL
    logic [CellW-1:0] word;
    // verilator lint_on UNUSEDSIGNAL

    ram_1r1w #(
      .Depth(Sets),
      .Parts(1),
      .PartW(CellW)
    ) u_ram (
      .clk_i,
      .re_i   (read_valid_i),
      .raddr_i(read_set),
      .we_i   (fill_keep_o && fill_way == WayW'(w)),
      .waddr_i(fill_set),
      .wmask_i(1'b1),
      .wdata_i(CellW'(fill_tag)),
      .rdata_o(word)
    );

    assign cell_tag[w] = word[TagW-1:0];
  end

`ifndef SYNTHESIS
  // Without a read at the edge before, the tags need not be those of the line's set.
  logic looked;
  always_ff @(posedge clk_i) looked <= read_valid_i;
`endif

  `GPURF_ASSERT_WHEN(one_way, looked, $countones(match) <= 1, "two ways of a set hold one line")
  `GPURF_ASSERT_WHEN(one_use, touch_i || invalidate_i, hit_o && !(touch_i && invalidate_i),
                     "a line is used that is not there, or used and invalidated at once")
  `GPURF_ASSERT_WHEN(fill_is_new, fill_valid_i && looked && fill_line_i == line_i, !hit_o,
                     "a line comes that is there already")

endmodule

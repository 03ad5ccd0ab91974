// The data cache: lines of 128 bytes between the coalescer and memory, write-through (hierarchy
// thesis 2.4.2, 4.3, 7.3.1).
//
// Replaces the line table. The coalescer's request register is its first stage, T:
// there a request is looked up, and the result decides when it leaves. Memory always has the
// newest bytes. So requests that leave T in order are performed in order, and an evicted line is
// dropped. Loads of one line share a miss while its answer is outstanding. A store or an atomic
// operation closes the miss, because the answer holds the bytes from before it. Two straps change which lines are
// installed: a store of all bytes of a line that is not in the cache may install this line, and a load with a
// mark may bypass the cache.
//
// Texture fetches pass by: what stands in the place of their line is none, so it is not compared with lines. They
// only get a closed miss, whose place in the ring tells their answers from those of other requests.
//
// With unified memory the lines are in the banks of the register file, as many of them as the launch
// says, or none: then every miss is closed from the start, and asks for the bytes of its lanes only.
//
// The net at an output of an instance has the name of the instance and of the port.
`include "gpurf_assert.svh"

module cache
  import gpurf_pkg::*;
#(
  parameter int unsigned Lines = 512,
  parameter int unsigned Ways = 4,
  parameter int unsigned Misses = 64,
  parameter int unsigned Rows = 64,
  parameter int unsigned HitQueueDepth = 32,  // smaller in proofs only
  parameter int unsigned Unified = 0,         // 1: the lines are in the unified banks
  localparam int unsigned EntryW = $clog2(Lines)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  cache_straps_t          cfg_i,
  input  logic                   flush_i,             // all lines become invalid at this edge

  // a pass of the coalescer, whose request comes into T at this edge
  input  logic                   pass_valid_i,
  input  logic [LineW-1:0]       pass_line_i,

  // row of this pass, if the pass has an answer
  input  logic                   row_valid_i,
  input  logic                   row_first_i,         // the first pass of its instruction
  input  logic [WarpW-1:0]       row_warp_i,
  input  logic [Lanes-1:0]       row_mask_i,
  input  logic                   row_reg_valid_i,
  input  logic [RegW-1:0]        row_reg_i,
  input  logic [1:0]             row_size_i,
  input  logic                   row_signed_i,
  input  logic                   row_lanewise_i,      // the answer has a word for each lane
  input  logic                   row_done_i,          // no lane of the instruction remains after this pass
  input  logic [LineOffsetW-1:0] row_offset_i [Lanes],
  output logic                   room_o,

  // the request in T
  input  logic                   req_valid_i,
  input  logic [1:0]             req_kind_i,
  input  logic [1:0]             req_size_i,
  input  logic                   req_answer_i,
  input  logic [LineW-1:0]       req_line_i,
  input  logic [Lanes-1:0]       req_mask_i,
  input  logic [LineOffsetW-1:0] req_offset_i [Lanes],
  input  logic [DataW-1:0]       req_data_i,
  input  logic                   req_bypass_i,        // marks a load that is to bypass the cache
  output logic                   req_ready_o,         // the request in T, if any, leaves at this edge

  // offer of the request in T to memory
  output logic                   mem_req_valid_o,
  output logic                   mem_req_whole_o,     // the whole line is wanted
  input  logic                   mem_req_ready_i,

  // answer
  input  logic                   mem_rsp_valid_i,
  input  logic [DataW-1:0]       mem_rsp_data_i,
  input  logic                   mem_rsp_fault_i,     // the address does not exist
  input  logic [PresentW-1:0]    mem_rsp_present_i,   // bytes of the line that exist
  output logic                   mem_rsp_ready_o,

  // result
  output logic                   result_valid_o,
  output result_t                result_o,
  output logic                   result_reg_valid_o,
  output logic [DataW-1:0]       result_data_o,
  input  logic                   pop_i,

  output logic                   fault_valid_o,
  output logic [WarpW-1:0]       fault_warp_o,

  // unified banks (docs/blocks/cache_access.md); log_i: logarithm of the number of lines, 0: no cache
  // verilator lint_off UNUSEDSIGNAL
  input  logic [CacheLogW-1:0]   log_i,
  input  logic [Columns-1:0]     read_ready_i,
  input  logic [Columns-1:0]     write_ready_i,
  input  logic [DataW-1:0]       data_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                   ram_read_o,
  output logic [EntryW-1:0]      ram_read_entry_o,
  output logic                   ram_write_o,
  output logic [EntryW-1:0]      ram_write_entry_o,
  output logic [LineBytes-1:0]   ram_write_bytes_o,
  output logic [DataW-1:0]       ram_write_data_o,

  output logic                   idle_o,
  output cache_event_t           event_o
);

  localparam int unsigned LoadW = $clog2(Rows);
  localparam int unsigned ByteW = 2;                       // width of the index of a byte in its word
  localparam int unsigned LineWords = 2**(LineOffsetW - ByteW);

  // ------------------------------------------------------------------ nets, by the block that drives them
  logic              cache_tags_hit;
  logic [EntryW-1:0] cache_tags_entry;
  logic              cache_tags_fill_keep;
  logic [EntryW-1:0] cache_tags_fill_entry;

  logic              cache_misses_open;
  logic              cache_misses_open_first;
  logic              cache_misses_room;
  logic              cache_misses_row_room;
  logic              cache_misses_empty;
  logic              cache_misses_fill_valid;
  logic [LineW-1:0]  cache_misses_fill_line;
  logic [DataW-1:0]  cache_misses_fill_data;
  logic              cache_misses_fill_whole;
  logic              cache_misses_serve;
  logic              cache_misses_result_valid;
  result_t           cache_misses_result;
  logic [LoadW-1:0]  cache_misses_result_load;
  logic              cache_misses_result_reg_valid;
  logic [DataW-1:0]  cache_misses_result_data;

  logic              cache_access_in_ready;
  logic              cache_access_pin_valid;
  logic [EntryW-1:0] cache_access_pin_entry;
  logic              cache_access_write;
  logic              cache_access_push_valid;
  logic [WarpW-1:0]  cache_access_push_warp;
  logic [Lanes-1:0]  cache_access_push_mask;
  logic              cache_access_push_reg_valid;
  logic [RegW-1:0]   cache_access_push_reg;
  logic [LoadW-1:0]  cache_access_push_load;
  logic [DataW-1:0]  cache_access_push_data;

  logic [LoadW-1:0]  cache_results_row_load;
  logic              cache_results_push_ready;
  logic              cache_results_miss_pop;

  // ------------------------------------------------------------------ the row of the request in T
  cache_row_t       row_q;
  logic [LoadW-1:0] load_q;

  // Offsets of the lanes of this row in one vector.
  function automatic logic [Lanes-1:0][LineOffsetW-1:0] row_offsets();
    for (int unsigned l = 0; l < Lanes; l++) row_offsets[l] = row_offset_i[l];
  endfunction

  // No reset: row and number have a meaning only for a request that has an answer. In a row without a
  // register the register name is 0, because rows are compared whole.
  always_ff @(posedge clk_i) begin
    if (row_valid_i) begin
      row_q  <= '{offset: row_offsets(), mask: row_mask_i, warp: row_warp_i,
                  reg_valid: row_reg_valid_i, reg_name: row_reg_i & {RegW{row_reg_valid_i}},
                  size: row_size_i, is_signed: row_signed_i, lanewise: row_lanewise_i};
      load_q <= cache_results_row_load;
    end
  end

  // ------------------------------------------------------------------ decision
  logic load;          // the request in T is a load
  logic load_bypass;   // the load bypasses the cache
  logic load_hit;
  logic load_open;
  logic load_miss;
  logic open_miss;     // the new miss of the load is open
  logic store;
  logic store_hit;
  logic store_line;    // the store writes all bytes of its line, and the strap for full stores is set
  logic store_bring;   // the store leaves T, and installs its line if the tags keep the line
  logic store_full;    // the line of the store is installed
  logic atomic;
  logic texture;       // a request of a texture fetch; the one that has an answer is the fetch's last
  logic new_miss;      // the request needs a new miss
  logic new_row;       // the request needs a free row
  logic access_lacks;  // cache_access is not ready for the request
  logic row_lacks;     // no row or no miss is free for the request
  logic leave;         // the request leaves T
  logic close;         // the request leaves T, and closes the open miss of its line

  always_comb begin
    load         = req_valid_i && req_kind_i == KindLoad;
    load_bypass  = load && req_bypass_i && cfg_i.hints;
    load_hit     = load && !load_bypass && cache_tags_hit;
    load_open    = load && !load_bypass && !cache_tags_hit && cache_misses_open;
    load_miss    = load && !load_hit && !load_open;
    store        = req_valid_i && req_kind_i == KindStore;
    store_hit    = store && cache_tags_hit;
    atomic       = req_valid_i && req_kind_i == KindAtomic;
    texture      = req_valid_i && req_kind_i == KindTexture;
    open_miss    = load_miss && !load_bypass && (Unified == 0 || log_i != '0);
    new_miss     = load_miss || ((atomic || texture) && req_answer_i);
    new_row      = load_open || new_miss;
    access_lacks = (load_hit || store_hit) && !cache_access_in_ready;
    row_lacks    = (new_miss && !cache_misses_room) || (new_row && !cache_misses_row_room);
  end

  assign mem_req_valid_o = (load_miss | store | atomic | texture) & ~access_lacks & ~row_lacks;
  assign mem_req_whole_o = mem_req_valid_o & open_miss;

  always_comb begin
    req_ready_o = 1'b1;
    if (load_hit || load_open) req_ready_o = !access_lacks && !row_lacks;
    else if (req_valid_i)      req_ready_o = mem_req_valid_o && mem_req_ready_i;
  end

  assign leave = req_valid_i & req_ready_o;
  assign close = leave & (store | atomic);

  // Words of the line that lanes write. There are as many lanes as words, so all bytes are written only
  // if each lane writes a whole word, each a different one.
  always_comb begin : written
    automatic logic [LineWords-1:0] words;
    words = '0;
    if (cfg_i.full_stores && store && req_size_i[1]) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (req_mask_i[l]) words[req_offset_i[l][LineOffsetW-1:ByteW]] = 1'b1;
      end
    end
    store_line = words == '1;
  end

  // A store does not wait until its line can be kept: memory gets the store in either case.
  assign store_bring = leave & store_line & ~cache_tags_hit & cache_access_in_ready;
  assign store_full  = store_bring & cache_tags_fill_keep;

  // ------------------------------------------------------------------ blocks
  // The lookup of a request that stays in T is repeated, because the tags may have changed.
  logic             tags_read_valid;
  logic [LineW-1:0] tags_read_line;
  logic             tags_touch;
  logic             tags_invalidate;
  logic             tags_fill_valid;
  logic [LineW-1:0] tags_fill_line;
  logic             fill_keep;        // the answer at hand is installed
  logic             fill_column;      // the column of the answer at hand is free
  logic             fill_take;        // the answer at hand is taken

  assign tags_read_valid = pass_valid_i | (req_valid_i & ~leave);
  assign tags_read_line  = pass_valid_i ? pass_line_i : req_line_i;
  assign tags_touch      = leave & (load_hit | store_hit);
  assign tags_invalidate = leave & atomic & cache_tags_hit;
  // An answer waits while a store to its line is in T. If the answer were installed, the store would become a hit,
  // which may have to wait for cache_access; but a request that is offered to memory is not withdrawn.
  // The column of an entry is that of its line, as there are at least as many sets as columns.
  assign fill_column     = (Unified == 0) | write_ready_i[cache_misses_fill_line[ColumnW-1:0]];
  assign fill_take       = cache_misses_fill_valid & ~cache_access_write & fill_column &
                           ~((store | close) & cache_misses_open_first) & ~store_bring;
  assign tags_fill_valid = store_bring | (fill_take & cache_misses_fill_whole);
  assign tags_fill_line  = store_bring ? req_line_i : cache_misses_fill_line;
  assign fill_keep       = cache_tags_fill_keep & ~store_bring;

  cache_tags #(
    .Lines  (Lines),
    .Ways   (Ways),
    .Unified(Unified)
  ) u_cache_tags (
    .clk_i,
    .rst_ni,
    .cfg_i       (cfg_i.fifo),
    .flush_i,
    .log_i,
    .read_valid_i(tags_read_valid),
    .read_line_i (tags_read_line),
    .line_i      (req_line_i),
    .hit_o       (cache_tags_hit),
    .entry_o     (cache_tags_entry),
    .touch_i     (tags_touch),
    .invalidate_i(tags_invalidate),
    .pin_valid_i (cache_access_pin_valid),
    .pin_entry_i (cache_access_pin_entry),
    .fill_valid_i(tags_fill_valid),
    .fill_line_i (tags_fill_line),
    .fill_keep_o (cache_tags_fill_keep),
    .fill_entry_o(cache_tags_fill_entry)
  );

  logic misses_allocate;
  logic misses_row_valid;

  assign misses_allocate  = leave & new_miss;
  assign misses_row_valid = leave & new_row;

  cache_misses #(
    .Misses(Misses),
    .Rows  (Rows)
  ) u_cache_misses (
    .clk_i,
    .rst_ni,
    .line_i            (req_line_i),
    .open_o            (cache_misses_open),
    .open_first_o      (cache_misses_open_first),
    .room_o            (cache_misses_room),
    .row_room_o        (cache_misses_row_room),
    .empty_o           (cache_misses_empty),
    .allocate_i        (misses_allocate),
    .allocate_open_i   (open_miss),
    .close_i           (close),
    .row_valid_i       (misses_row_valid),
    .row_i             (row_q),
    .row_load_i        (load_q),
    .mem_rsp_valid_i,
    .mem_rsp_data_i,
    .mem_rsp_fault_i,
    .mem_rsp_present_i,
    .mem_rsp_ready_o,
    .fill_valid_o      (cache_misses_fill_valid),
    .fill_line_o       (cache_misses_fill_line),
    .fill_data_o       (cache_misses_fill_data),
    .fill_whole_o      (cache_misses_fill_whole),
    .fill_ready_i      (fill_take),
    .serve_o           (cache_misses_serve),
    .result_valid_o    (cache_misses_result_valid),
    .result_o          (cache_misses_result),
    .result_load_o     (cache_misses_result_load),
    .result_reg_valid_o(cache_misses_result_reg_valid),
    .result_data_o     (cache_misses_result_data),
    .result_pop_i      (cache_results_miss_pop),
    .fault_valid_o,
    .fault_warp_o
  );

  cache_access #(
    .Lines  (Lines),
    .Rows   (Rows),
    .Unified(Unified)
  ) u_cache_access (
    .clk_i,
    .rst_ni,
    .in_valid_i      (tags_touch | store_full),
    .in_ready_o      (cache_access_in_ready),
    .in_store_i      (store),
    .in_entry_i      (store_full ? cache_tags_fill_entry : cache_tags_entry),
    .in_row_i        (row_q),
    .in_load_i       (load_q),
    .in_mask_i       (req_mask_i),
    .in_size_i       (req_size_i),
    .in_offset_i     (req_offset_i),
    .in_data_i       (req_data_i),
    .pin_valid_o     (cache_access_pin_valid),
    .pin_entry_o     (cache_access_pin_entry),
    .write_o         (cache_access_write),
    .fill_valid_i    (fill_keep),
    .fill_entry_i    (cache_tags_fill_entry),
    .fill_data_i     (cache_misses_fill_data),
    .push_valid_o    (cache_access_push_valid),
    .push_warp_o     (cache_access_push_warp),
    .push_mask_o     (cache_access_push_mask),
    .push_reg_valid_o(cache_access_push_reg_valid),
    .push_reg_o      (cache_access_push_reg),
    .push_load_o     (cache_access_push_load),
    .push_data_o     (cache_access_push_data),
    .push_ready_i    (cache_results_push_ready),
    .read_ready_i,
    .write_ready_i,
    .ram_read_o,
    .ram_read_entry_o,
    .ram_write_o,
    .ram_write_entry_o,
    .ram_write_bytes_o,
    .ram_write_data_o,
    .data_i
  );

  cache_results #(
    .Rows         (Rows),
    .HitQueueDepth(HitQueueDepth)
  ) u_cache_results (
    .clk_i,
    .rst_ni,
    .cfg_i             (cfg_i.latency),
    .row_valid_i,
    .row_first_i,
    .row_last_i        (row_done_i),
    .row_load_o        (cache_results_row_load),
    .room_o,
    .push_valid_i      (cache_access_push_valid),
    .push_warp_i       (cache_access_push_warp),
    .push_mask_i       (cache_access_push_mask),
    .push_reg_valid_i  (cache_access_push_reg_valid),
    .push_reg_i        (cache_access_push_reg),
    .push_data_i       (cache_access_push_data),
    .push_load_i       (cache_access_push_load),
    .push_ready_o      (cache_results_push_ready),
    .miss_valid_i      (cache_misses_result_valid),
    .miss_i            (cache_misses_result),
    .miss_load_i       (cache_misses_result_load),
    .miss_reg_valid_i  (cache_misses_result_reg_valid),
    .miss_data_i       (cache_misses_result_data),
    .miss_pop_o        (cache_results_miss_pop),
    .result_valid_o,
    .result_o,
    .result_reg_valid_o,
    .result_data_o,
    .pop_i
  );

  assign idle_o = ~req_valid_i & ~cache_access_pin_valid & ~cache_access_push_valid &
                  cache_misses_empty;

  // ------------------------------------------------------------------ events
  always_comb begin
    event_o = '0;
    if (leave) begin
      event_o.hit        = load_hit;
      event_o.merge      = load_open;
      event_o.miss       = load_miss;
      event_o.store      = store;
      event_o.store_hit  = store_hit;
      event_o.store_full = store_full;
      event_o.atomic     = atomic;
      event_o.invalidate = atomic & cache_tags_hit;
      event_o.close      = close & cache_misses_open;
    end
    event_o.fill        = fill_keep;
    event_o.drop        = fill_take & cache_misses_fill_whole & ~fill_keep;
    event_o.part        = fill_take & ~cache_misses_fill_whole;
    event_o.serve       = cache_misses_serve;
    event_o.wait_access = access_lacks;
    event_o.wait_row    = row_lacks;
    event_o.wait_memory = mem_req_valid_o & ~mem_req_ready_i;
    event_o.fill_wait   = cache_misses_fill_valid & ~fill_take;
  end

  `GPURF_ASSERT_WHEN(flush_when_idle, flush_i, idle_o, "the cache is emptied while it works")
  `GPURF_ASSERT_WHEN(pass_into_free_stage, pass_valid_i, req_ready_o,
                     "a pass comes while the request of the one before stays")

endmodule

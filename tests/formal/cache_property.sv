// What a load reads through the data cache is what the last store or atomic operation before it left.
//
// The environment turns free inputs into what coalescer, memory and host do, and nothing less: passes
// of any kind, whose parts come in any order; the first requests of texture fetches, which are no passes
// and have no answer; anything in the place of a fetch's line, also a line that is followed; a memory that takes a request when it likes, performs
// it then, and answers in order, after any time; a host that writes when the cache is emptied. One
// byte of one line, chosen freely, is followed: `value_q` is what memory has there. So is one part
// of a load: when it leaves stage T it has to read that value, whatever becomes of the byte later.
// The third that is followed is a load with all of its parts. The cache does nothing by the number of
// a warp, so here the number says what is followed: bit 0 that part, bit 1 the parts of that load.
//
// The property is that the part comes out once, with its lanes and its register, with that value in
// each lane that reads the byte; a load's last part has `done`, and no other one. How much of the
// line exists does not change. A byte that does not exist is answered with anything, and so is one of
// a load that does not ask for the whole line and has no lane there. A store of a whole line is not
// performed where the line does not exist whole: the run ends with it.
//
// A proof by induction needs to know where the value is, and where the part is: cache_invariants.svh.
// Everything holds one cycle after reset, and whenever it holds in a cycle, in the next one.
module cache_property
  import gpurf_pkg::*;
#(
  parameter int unsigned Lines = 4,
  parameter int unsigned Ways = 2,
  parameter int unsigned Misses = 2,
  parameter int unsigned Rows = 4,
  parameter int unsigned HitQueueDepth = 2,
  localparam int unsigned LaneIdxW = $clog2(Lanes),
  localparam int unsigned OffsetsW = Lanes * LineOffsetW
) (
  input logic                   clk_i,

  // chosen once
  input cache_straps_t          cfg_i,
  input logic [LineW-1:0]       star_line_i,
  input logic [LineOffsetW-1:0] star_byte_i,
  input logic [LaneIdxW-1:0]    star_lane_i,       // whose byte of an answer with a word for each lane is followed
  input logic [PresentW-1:0]    star_present_i,    // bytes of the line that exist
  input logic                   star_fault_i,      // what an answer says beside it

  // a pass of the coalescer
  input logic                   pass_i,
  input logic [1:0]             kind_i,
  input logic [1:0]             size_i,
  input logic                   signed_i,
  input logic                   bypass_i,
  input logic                   third_i,           // of a texture fetch: the request in front of its last one
  input logic                   first_i,
  input logic                   last_i,
  input logic                   reg_valid_i,
  input logic [RegW-1:0]        reg_i,
  input logic [WarpW-1:0]       warp_i,
  input logic [LineW-1:0]       line_i,
  input logic [Lanes-1:0]       mask_i,
  input logic [OffsetsW-1:0]    offset_i,
  input logic [DataW-1:0]       data_i,
  input logic                   follow_part_i,     // it is the part that is followed
  input logic                   follow_load_i,     // it begins the load that is followed

  // memory
  input logic                   take_i,            // it takes a request
  input logic [7:0]             atomic_new_i,      // what an atomic operation leaves
  input logic [7:0]             atomic_old_i,      // what it answers, or a texture fetch
  input logic                   answer_i,
  input logic [DataW-1:0]       answer_data_i,
  input logic [PresentW-1:0]    answer_present_i,
  input logic                   answer_fault_i,

  // host and result bus
  input logic                   flush_i,
  input logic [7:0]             host_i,            // what it leaves there
  input logic                   pop_i
);

  localparam int unsigned LoadW = $clog2(Rows);
  localparam int unsigned MissW = $clog2(Misses);
  localparam int unsigned PartsW = $clog2(Lanes + 1);
  localparam int unsigned PartTag = 0;
  localparam int unsigned LoadTag = 1;

  typedef logic [Lanes-1:0][LineOffsetW-1:0] offsets_t;

  // ------------------------------------------------------------------ environment
  logic                   started_q = 1'b0;
  cache_straps_t          cfg_q;
  logic [LineW-1:0]       star_line_q;
  logic [LineOffsetW-1:0] star_byte_q;
  logic [LaneIdxW-1:0]    star_lane_q;
  logic [PresentW-1:0]    star_present_q;
  logic                   star_fault_q;

  // the request in T
  logic                   t_valid_q;
  logic [1:0]             t_kind_q;
  logic [1:0]             t_size_q;
  logic                   t_answer_q;
  logic [LineW-1:0]       t_line_q;
  logic [Lanes-1:0]       t_mask_q;
  offsets_t               t_offset_q;
  logic [DataW-1:0]       t_data_q;
  logic                   t_bypass_q;
  logic                   refused_q;      // it was offered in the cycle before, and not taken

  // the instruction whose passes come
  logic                   more_q;         // it may have another one
  logic [Lanes-1:0]       lanes_q;        // lanes served

  // memory: requests that it has to answer or whose answer the cache has, by their places in the ring
  logic [MissW-1:0]       ask_first_q;    // the next one to be answered
  logic [MissW:0]         ask_count_q;
  logic [Misses-1:0]      ask_star_q;     // a load of the line that is followed
  logic [Misses-1:0]      ask_lanewise_q;
  logic [7:0]             ask_value_q [Misses];
  logic [7:0]             value_q;        // the byte that is followed

  // the part that is followed
  logic                   part_valid_q;   // it is in flight
  logic                   part_left_q;    // has left T
  logic                   part_fault_q;   // a fault was reported for it
  cache_row_t             part_q;
  logic [LineW-1:0]       part_line_q;
  logic [7:0]             part_value_q;   // what it has to read

  // the load that is followed
  logic                   load_now_q;     // it is the instruction whose passes come
  logic                   load_closed_q;  // its last part has come
  logic [PartsW-1:0]      load_parts_q;   // parts in flight
  logic [LoadW-1:0]       load_number_q;

  // ------------------------------------------------------------------ nets of the cache
  logic                   req_ready, room, idle;
  logic                   mem_req_valid, mem_req_whole, mem_rsp_ready;
  logic                   result_valid, result_reg_valid;
  result_t                result;
  logic [DataW-1:0]       result_data;
  logic                   fault_valid;
  logic [WarpW-1:0]       fault_warp;

  // ------------------------------------------------------------------ a pass
  logic                   pass, third, answers, first, row_valid;
  logic                   new_part, new_load, of_load;
  logic [1:0]             kind;
  logic [1:0]             size;
  logic                   reg_valid;
  logic [Lanes-1:0]       mask;
  offsets_t               offset;
  cache_row_t             row;
  logic [LineOffsetW-1:0] offset_by_lane   [Lanes];
  logic [LineOffsetW-1:0] t_offset_by_lane [Lanes];

  // Passes of an instruction have lanes of their own. An instruction that is complete has no more.
  assign kind      = kind_i;
  assign third     = kind == KindTexture && third_i;
  assign size      = (size_i[1] || is_lanewise(kind)) ? SizeWord : size_i;
  assign reg_valid = reg_valid_i && kind != KindStore;
  assign answers   = kind == KindLoad || (kind == KindAtomic && reg_valid) || (kind == KindTexture && !third_i);
  assign first     = first_i || !more_q;
  assign mask      = (answers && !first) ? mask_i & ~lanes_q : mask_i;
  assign pass      = started_q && pass_i && mask != '0 && (!t_valid_q || req_ready) &&
                     (!answers || room);
  assign row_valid = pass && answers;

  // What has an answer with a word for each lane.
  function automatic logic is_lanewise(logic [1:0] of_kind);
    return of_kind == KindAtomic || of_kind == KindTexture;
  endfunction

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      offset[l] = '0;
      if (mask[l]) begin
        offset[l] = offset_i[LineOffsetW*l +: LineOffsetW] & ~LineOffsetW'(size_mask(size));
      end
      offset_by_lane[l]   = offset[l];
      t_offset_by_lane[l] = t_offset_q[l];
    end
  end

  assign new_part = follow_part_i && !part_valid_q;
  assign new_load = first && follow_load_i && load_parts_q == '0;
  assign of_load  = first ? new_load : load_now_q;
  assign row      = '{offset: offset, mask: mask, warp: {warp_i[WarpW-1:2], of_load, new_part},
                      reg_valid: reg_valid, reg_name: reg_valid ? reg_i : '0, size: size,
                      is_signed: signed_i, lanewise: is_lanewise(kind)};

  // ------------------------------------------------------------------ memory
  logic                   leave;       // the request leaves T
  logic                   taken;       // memory takes it
  logic                   asked;       // and will answer
  logic                   answered;    // the cache takes an answer
  logic                   exists;      // the byte that is followed
  logic                   whole;       // its line, all of it
  logic                   takes;       // it would take a request
  logic                   touched;     // a lane in T has it
  logic                   absent_line; // a store in T writes a whole line that does not exist whole
  logic [7:0]             store_byte;
  logic                   flush;
  logic [MissW-1:0]       ask_place;
  logic [DataW-1:0]       answer_data;
  logic [PresentW-1:0]    answer_present;
  logic                   answer_fault;

  // Of a lane that starts at `from` the byte that is followed.
  function automatic logic has_star(logic [LineOffsetW-1:0] from, logic [1:0] bytes);
    return (star_byte_q & ~LineOffsetW'(size_mask(bytes))) == from;
  endfunction

  function automatic logic [7:0] star_of(logic [LaneW-1:0] word, logic [LineOffsetW-1:0] from);
    logic [1:0] place;
    place = star_byte_q[1:0] - from[1:0];
    return word[8*place +: 8];
  endfunction

  assign leave    = t_valid_q && req_ready;
  assign takes    = take_i && !absent_line;
  assign taken    = mem_req_valid && takes;
  assign asked    = taken && (t_kind_q == KindLoad || (is_lanewise(t_kind_q) && t_answer_q));
  assign answered = started_q && answer_i && ask_count_q != '0 && mem_rsp_ready;
  assign exists   = PresentW'(star_byte_q) < star_present_q;
  assign whole    = star_present_q == PresentW'(LineBytes) && !star_fault_q;
  assign flush    = started_q && flush_i && idle;

  assign ask_place = ask_first_q + ask_count_q[MissW-1:0];

  // Of several lanes the highest one's byte stays.
  always_comb begin
    touched    = 1'b0;
    store_byte = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (t_mask_q[l] && has_star(t_offset_q[l], t_size_q)) begin
        touched    = 1'b1;
        store_byte = star_of(t_data_q[LaneW*l +: LaneW], t_offset_q[l]);
      end
    end
  end

  // Memory does not take what ends the run.
  always_comb begin : absent
    logic [LineBytes-1:0] written;
    written = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      for (int unsigned b = 0; b < 4; b++) begin
        if (t_mask_q[l] && b <= 32'(size_mask(t_size_q))) written[t_offset_q[l] + LineOffsetW'(b)] = 1'b1;
      end
    end
    absent_line = t_kind_q == KindStore && t_line_q == star_line_q && written == '1 && !whole;
  end

  always_comb begin
    answer_data    = answer_data_i;
    answer_present = answer_present_i;
    answer_fault   = answer_fault_i;
    if (ask_star_q[ask_first_q]) begin
      answer_present = star_present_q;
      answer_fault   = star_fault_q;
      if (exists) answer_data[8*star_byte_q +: 8] = ask_value_q[ask_first_q];
    end
    if (ask_lanewise_q[ask_first_q]) begin
      answer_data[LaneW*star_lane_q + 8*star_byte_q[1:0] +: 8] = ask_value_q[ask_first_q];
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      cfg_q          <= cfg_i;
      star_line_q    <= star_line_i;
      star_byte_q    <= star_byte_i;
      star_lane_q    <= star_lane_i;
      star_present_q <= (star_present_i > PresentW'(LineBytes)) ? PresentW'(LineBytes) : star_present_i;
      star_fault_q   <= star_fault_i;
      t_valid_q      <= 1'b0;
      refused_q      <= 1'b0;
      more_q         <= 1'b0;
      ask_first_q    <= '0;
      ask_count_q    <= '0;
      part_valid_q   <= 1'b0;
      load_now_q     <= 1'b0;
      load_parts_q   <= '0;
      value_q        <= host_i;
    end else begin
      // T
      t_valid_q <= pass || (t_valid_q && !req_ready);
      refused_q <= mem_req_valid && !takes;
      if (pass) begin
        t_kind_q   <= kind;
        t_size_q   <= size;
        t_answer_q <= answers;
        t_line_q   <= line_i;
        t_mask_q   <= mask;
        t_offset_q <= offset;
        t_data_q   <= data_i;
        t_bypass_q <= bypass_i && kind == KindLoad;
      end
      if (row_valid) begin
        more_q  <= !last_i;
        lanes_q <= first ? mask : lanes_q | mask;
      end

      // memory
      if (flush) value_q <= host_i;
      if (taken && t_line_q == star_line_q) begin
        if (t_kind_q == KindStore && touched) value_q <= store_byte;
        if (t_kind_q == KindAtomic)           value_q <= atomic_new_i;
      end
      if (asked) begin
        ask_star_q[ask_place]     <= t_kind_q == KindLoad && t_line_q == star_line_q;
        ask_lanewise_q[ask_place] <= is_lanewise(t_kind_q);
        // Who does not ask for the whole line gets anything beside what its lanes want.
        ask_value_q[ask_place]    <= (t_kind_q == KindLoad && (mem_req_whole || touched)) ? value_q
                                                                                         : atomic_old_i;
      end
      ask_count_q <= ask_count_q + (MissW+1)'(asked) - (MissW+1)'(answered);
      ask_first_q <= ask_first_q + MissW'(answered);

      // the part
      if (row_valid && new_part) begin
        part_valid_q <= 1'b1;
        part_left_q  <= 1'b0;
        part_fault_q <= 1'b0;
        part_q       <= row;
        part_line_q  <= line_i;
      end else begin
        if (leave && t_answer_q && part_valid_q && !part_left_q) begin
          part_left_q  <= 1'b1;
          part_value_q <= part_q.lanewise ? atomic_old_i : value_q;
        end
        if (fault_valid && fault_warp[PartTag])                part_fault_q <= 1'b1;
        if (result_valid && pop_i && result.warp[PartTag]) part_valid_q <= 1'b0;
      end

      // the load
      load_parts_q <= load_parts_q + PartsW'(row_valid && of_load) -
                      PartsW'(result_valid && pop_i && result.warp[LoadTag]);
      if (row_valid) begin
        load_now_q <= of_load;
        if (of_load) begin
          load_closed_q <= last_i;
          load_number_q <= dut.cache_results_row_load;
        end
      end
    end
  end

  cache #(
    .Lines        (Lines),
    .Ways         (Ways),
    .Misses       (Misses),
    .Rows         (Rows),
    .HitQueueDepth(HitQueueDepth)
  ) dut (
    .clk_i,
    .rst_ni             (started_q),
    .cfg_i              (cfg_q),
    .flush_i            (flush),
    .pass_valid_i       (pass && !third),
    .pass_line_i        (line_i),
    .row_valid_i        (row_valid),
    .row_first_i        (first),
    .row_warp_i         (row.warp),
    .row_mask_i         (mask),
    .row_reg_valid_i    (reg_valid),
    .row_reg_i          (reg_i),
    .row_size_i         (size),
    .row_signed_i       (signed_i),
    .row_lanewise_i     (row.lanewise),
    .row_done_i         (last_i),
    .row_offset_i       (offset_by_lane),
    .room_o             (room),
    .req_valid_i        (started_q && t_valid_q),
    .req_kind_i         (t_kind_q),
    .req_size_i         (t_size_q),
    .req_answer_i       (t_answer_q),
    .req_line_i         (t_line_q),
    .req_mask_i         (t_mask_q),
    .req_offset_i       (t_offset_by_lane),
    .req_data_i         (t_data_q),
    .req_bypass_i       (t_bypass_q),
    .req_ready_o        (req_ready),
    .mem_req_valid_o    (mem_req_valid),
    .mem_req_whole_o    (mem_req_whole),
    .mem_req_ready_i    (takes),
    .mem_rsp_valid_i    (started_q && answer_i && ask_count_q != '0),
    .mem_rsp_data_i     (answer_data),
    .mem_rsp_fault_i    (answer_fault),
    .mem_rsp_present_i  (answer_present),
    .mem_rsp_ready_o    (mem_rsp_ready),
    .result_valid_o     (result_valid),
    .result_o           (result),
    .result_reg_valid_o (result_reg_valid),
    .result_data_o      (result_data),
    .pop_i              (started_q && result_valid && pop_i),
    .fault_valid_o      (fault_valid),
    .fault_warp_o       (fault_warp),
    .log_i              ('0),
    .read_ready_i       ('0),
    .write_ready_i      ('0),
    .data_i             ('0),
    .ram_read_o         (),
    .ram_read_entry_o   (),
    .ram_write_o        (),
    .ram_write_entry_o  (),
    .ram_write_bytes_o  (),
    .ram_write_data_o   (),
    .idle_o             (idle),
    .event_o            ()
  );

  // ------------------------------------------------------------------ the property
  logic part_star;    // the part reads the line that is followed
  logic part_touches; // and the byte
  logic part_absent;  // and a place in it that does not exist
  logic reads_last_write;
  logic comes_once;
  logic done_with_last;
  logic faults_agree;
  logic request_stays;
  logic idle_is_empty;

  assign part_star = !part_q.lanewise && part_line_q == star_line_q;

  always_comb begin
    part_absent  = 1'b0;
    part_touches = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (part_q.mask[l] &&
          PresentW'(part_q.offset[l]) + (PresentW'(1) << part_q.size) > star_present_q) begin
        part_absent = 1'b1;
      end
      if (part_star && part_q.mask[l] && has_star(part_q.offset[l], part_q.size)) part_touches = 1'b1;
    end
  end

  // A register's data has what the part has to read, and its lanes are extended.
  function automatic logic has_value(logic [DataW-1:0] data);
    logic [LaneW-1:0] lane;
    has_value = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      lane = data[LaneW*l +: LaneW];
      if (part_q.mask[l]) begin
        if (part_q.lanewise) begin
          if (LaneIdxW'(l) == star_lane_q && lane[8*star_byte_q[1:0] +: 8] != part_value_q) has_value = 1'b0;
        end else begin
          if (part_star && exists && has_star(part_q.offset[l], part_q.size) &&
              star_of(lane, part_q.offset[l]) != part_value_q) begin
            has_value = 1'b0;
          end
          if (part_q.size == SizeByte && lane[31:8] != {24{part_q.is_signed & lane[7]}})   has_value = 1'b0;
          if (part_q.size == SizeHalf && lane[31:16] != {16{part_q.is_signed & lane[15]}}) has_value = 1'b0;
        end
      end
    end
  endfunction

  // What comes out is the part that is followed, as far as it does not say whether it is the last.
  function automatic logic is_part(result_t is);
    return part_valid_q && part_left_q && is.warp == part_q.warp && is.mask == part_q.mask &&
           is.d == part_q.reg_name && !is.pred_valid && is.pred == '0 && is.pred_data == '0;
  endfunction

  assign comes_once       = !(result_valid && result.warp[PartTag]) ||
                            (is_part(result) && result_reg_valid == part_q.reg_valid);
  assign reads_last_write = !(result_reg_valid && result.warp[PartTag]) || has_value(result_data);
  assign done_with_last   = !(result_valid && result.warp[LoadTag]) ||
                            (load_parts_q != '0 &&
                             result.done == (load_closed_q && load_parts_q == PartsW'(1)));
  assign faults_agree     = (!(fault_valid && fault_warp[PartTag] && part_star) ||
                             (part_valid_q && part_left_q && part_absent)) &&
                            (!(result_valid && result.warp[PartTag] && part_star) ||
                             part_fault_q == part_absent);

  // A request is offered until memory takes it.
  assign request_stays = !refused_q || mem_req_valid;

`include "cache_invariants.svh"

endmodule

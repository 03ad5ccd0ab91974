// Block launcher: places the blocks of a grid on the SM.
//
// All blocks of a grid have the same size, so the SM is divided once per grid, and no list of free
// registers or bytes is ever searched: a block slot has the same warps, rows and bytes for the
// whole grid. The threads' coordinates, which are the same in all blocks as well, are generated
// once, four lanes per cycle. Then blocks are started in the slots as these become free, one warp per
// cycle, until no block is left.
//
// With unified memory the host divides the rows of the banks among registers, scratchpad memory and
// data cache at each launch (hierarchy thesis 7.3.4). Slots are allocated within those shares, and there are
// none if the three shares do not fit together.
`include "gpurf_assert.svh"

module block_launcher
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 48,
  parameter int unsigned Banks = 16,
  parameter int unsigned Depth = 64,
  parameter int unsigned SharedWords = 16384,
  parameter int unsigned PairedRows = 0,      // 1: an even warp and the next one have the same rows
  parameter int unsigned MaxRegisters = 256,  // of a warp
  parameter int unsigned Places = 0,          // 1: registers are allocated one by one
  parameter int unsigned Unified = 0          // 1: the launch divides the rows
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [4:0]            cfg_i,               // block slots, at most

  // a grid
  input  logic                  launch_valid_i,
  input  logic [31:0]           launch_grid_x_i,
  input  logic [15:0]           launch_grid_y_i,
  input  logic [15:0]           launch_grid_z_i,
  input  logic [10:0]           launch_block_x_i,
  input  logic [10:0]           launch_block_y_i,
  input  logic [6:0]            launch_block_z_i,
  input  logic [10:0]           launch_threads_i,    // of a block
  input  logic [7:0]            launch_registers_i,  // of a thread
  input  logic [16:0]           launch_shared_i,     // bytes of a block, static and dynamic
  input  logic [16:0]           launch_dynamic_i,    // of these, dynamic bytes
  input  logic [15:0]           launch_local_i,      // words of a thread
  // Guests exist only if registers are allocated one by one.
  // verilator lint_off UNUSEDSIGNAL
  input  logic                  launch_share_i,      // guests may be added
  input  logic [RegW-1:0]       launch_private_i,    // registers of a thread, private to a guest
  input  logic [16:0]           launch_private_shared_i,  // bytes of a block, private to a guest
  // Rows are divided only with unified memory.
  input  logic [BankRowsW-1:0]  launch_register_rows_i,
  input  logic [BankRowsW-1:0]  launch_shared_rows_i,
  input  logic [CacheLogW-1:0]  launch_cache_i,      // log2 of the number of cache lines; 0: no cache
  // verilator lint_on UNUSEDSIGNAL

  // progress of the warps
  input  logic [Warps-1:0]      alive_i,             // has living lanes
  input  logic [Warps-1:0]      idle_i,              // nothing of the warp is in flight
  input  logic                  memory_idle_i,       // no request waits at the boundary
  output logic                  busy_o,
  output logic                  done_o,

  // the register file is divided, and nothing uses it yet
  output logic                  fresh_o,
  output logic                  spare_o,             // the last row of the register file belongs to no warp

  // a warp begins
  output logic                  start_valid_o,
  output logic [WarpW-1:0]      start_warp_o,
  output logic [Lanes-1:0]      start_mask_o,

  // the grid
  output logic [7:0]            rows_o,              // rows of the register file for each warp
  output logic [16:0]           shared_bytes_o,
  output logic [16:0]           dynamic_o,
  output logic [15:0]           local_words_o,
  output logic [10:0]           ntid_x_o,
  output logic [10:0]           ntid_y_o,
  output logic [6:0]            ntid_z_o,
  output logic [31:0]           nctaid_x_o,
  output logic [15:0]           nctaid_y_o,
  output logic [15:0]           nctaid_z_o,
  output logic [BlockSlotW-1:0] slot_o [Warps],

  // hosts and guests
  output register_layout_t      layout_o,
  output logic [WarpW:0]        end_warps_o,         // warps of all slots
  output logic [BlockSlots-1:0] slot_busy_o,
  output logic [BlockSlots-1:0] slot_young_o,        // the slot's block began after its partner's block

  // how unified memory is divided
  output logic [BankRowsW-1:0]  register_rows_o,
  output logic [CacheLogW-1:0]  cache_log_o,         // log2 of the number of cache lines; 0: no cache

  // Both warp numbers are below Warps.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WarpW-1:0]      place_warp_i,        // look-up: the warp whose shared memory is located
  input  logic [WarpW-1:0]      block_warp_i,        // look-up: the warp whose block and number in it are read
  // verilator lint_on UNUSEDSIGNAL
  output logic [SharedAddressW-1:0] place_base_o,
  output logic [SharedAddressW-1:0] place_common_o,      // first byte of the host's shared memory
  output logic [16:0]           private_bytes_o,     // size of the part in front of the area that two blocks share
  output logic [4:0]            block_index_o,
  output logic [31:0]           block_x_o,
  output logic [15:0]           block_y_o,
  output logic [15:0]           block_z_o,

  // coordinates of threads
  output logic                  tid_we_o,
  output logic [4:0]            tid_index_o,         // number of the warp in its block
  output logic [2:0]            tid_group_o,         // lanes 4g to 4g+3 of the warp
  output logic [LaneW-1:0]      tid_data_o [GroupLanes],

  output logic                  fault_valid_o        // not one block fits
);

  localparam int unsigned WarpIdxW = $clog2(Warps);
  localparam int unsigned LaneIdxW = $clog2(Lanes);
  localparam int unsigned SharedAlign = (Places != 0) ? 4 : 128;  // bytes: a word, or a row of all banks
  localparam int unsigned SharedBytes = 4 * SharedWords;
  localparam int unsigned MostThreads = 1024;
  localparam int unsigned RowBytes = LineBytes * Columns;  // bytes of a row of all unified banks

  typedef enum logic [1:0] {
    Idle        = 2'd0,
    Divide      = 2'd1,
    Coordinates = 2'd2,
    Run         = 2'd3
  } state_e;

  // Coordinates of a thread.
  typedef struct packed {
    logic [6:0]  z;
    logic [10:0] y;
    logic [10:0] x;
  } tid_t;

  logic [1:0]            state_q;
  logic                  done_q;
  logic                  fault_q;
  logic [4:0]            slots_q;                 // number of block slots
  logic [BlockSlots-1:0] slot_busy_q;
  logic                  starting_q;

  // the launch
  logic [31:0]           grid_x_q;
  logic [15:0]           grid_y_q;
  logic [15:0]           grid_z_q;
  logic [10:0]           block_x_q;
  logic [10:0]           block_y_q;
  logic [6:0]            block_z_q;
  logic [10:0]           threads_q;
  logic [7:0]            rows_q;
  logic [16:0]           shared_q;
  logic [16:0]           dynamic_q;
  logic [15:0]           local_q;
  logic [5:0]            warps_q;                 // of a block
  logic [16:0]           shared_step_q;           // bytes from one slot to the next

  // how the SM is divided
  logic [6:0]            first_q;                 // first warp that belongs to no slot
  logic [SharedAddressW:0] base_q;                // first byte of shared memory that belongs to no slot
  logic [BlockSlotW-1:0] slot_q      [Warps];
  logic [4:0]            index_q     [Warps];
  logic [SharedAddressW-1:0] slot_base_q [BlockSlots];

  // hosts and guests, if registers are allocated one by one
  // verilator lint_off UNUSEDSIGNAL
  logic                  share_q;                 // guests may be added
  logic                  extending_q;             // guests are being added
  logic [4:0]            hosts_q;                 // slots of hosts
  logic [16:0]           private_shared_q;        // bytes of shared memory private to a guest
  // verilator lint_on UNUSEDSIGNAL
  logic [BlockSlots-1:0] young_q;                 // the slot's block began after its partner's block
  register_layout_t      layout_q;

  // how the rows are divided, with unified memory
  logic [BankRowsW-1:0]  register_rows_q;
  logic [BankRowsW-1:0]  shared_rows_q;
  logic [CacheLogW-1:0]  cache_log_q;             // log2 of the number of cache lines; 0: no cache

  // coordinates to be written
  logic [10:0]           tid_x_q;
  logic [10:0]           tid_y_q;
  logic [6:0]            tid_z_q;
  logic [4:0]            tid_index_q;
  logic [2:0]            tid_group_q;

  // blocks
  logic [31:0]           next_x_q;                // coordinates of the next block to start
  logic [15:0]           next_y_q;
  logic [15:0]           next_z_q;
  logic [31:0]           ctaid_x_q   [BlockSlots];
  logic [15:0]           ctaid_y_q   [BlockSlots];
  logic [15:0]           ctaid_z_q   [BlockSlots];
  logic [BlockSlotW-1:0] start_slot_q;            // slot whose block is starting
  logic [4:0]            start_index_q;
  logic [WarpW-1:0]      start_warp_q;

  logic                  launch;
  logic [6:0]            warps_end;               // first warp after the slot that is being allocated
  logic [SharedAddressW:0] bytes_end;
  logic [16:0]           step;                    // bytes of shared memory for this slot
  // If registers are allocated one by one, another condition decides.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0]           most_rows;               // limit of rows for registers
  logic [31:0]           most_bytes;              // limit of bytes for shared memory
  logic                  shares_fit;              // registers, shared memory and cache together
  // verilator lint_on UNUSEDSIGNAL
  logic                  common_fits;             // another block fits, apart from registers and shared memory
  logic                  fits;
  tid_t                  tid_next;                // coordinates after the four lanes
  logic [4:0]            last_index;              // last warp of a block
  logic [10:0]           left;                    // threads of the last warp
  logic [BlockSlots-1:0] unfinished;              // a warp of the slot has not ended
  logic                  place_block;             // a block starts in a slot
  logic [BlockSlotW-1:0] free_slot;
  logic [BlockSlotW-1:0] place_slot;              // slot of the warp at place_warp_i

  assign busy_o         = state_q != Idle;
  assign done_o         = done_q;
  assign fault_valid_o  = fault_q;
  assign fresh_o        = state_q == Coordinates;
  assign spare_o        = 32'(first_q) * 32'(rows_q) < Depth;
  assign rows_o         = rows_q;
  assign shared_bytes_o = shared_q;
  assign dynamic_o      = dynamic_q;
  assign local_words_o  = local_q;
  assign ntid_x_o       = block_x_q;
  assign ntid_y_o       = block_y_q;
  assign ntid_z_o       = block_z_q;
  assign nctaid_x_o     = grid_x_q;
  assign nctaid_y_o     = grid_y_q;
  assign nctaid_z_o     = grid_z_q;
  assign slot_o         = slot_q;
  assign end_warps_o    = first_q;
  assign slot_busy_o    = slot_busy_q;
  assign slot_young_o   = young_q;
  assign layout_o       = layout_q;
  assign register_rows_o = register_rows_q;
  assign cache_log_o     = cache_log_q;

  assign launch     = launch_valid_i & ~busy_o;
  assign last_index = 5'(warps_q - 1'b1);

  // Look-ups.
  assign place_slot      = slot_q[WarpIdxW'(place_warp_i)];
  assign place_base_o    = slot_base_q[place_slot];
  assign place_common_o  = (hosts_q != '0 && 5'(place_slot) >= hosts_q)
                           ? slot_base_q[BlockSlotW'(5'(place_slot) - hosts_q)] : place_base_o;
  assign private_bytes_o = private_shared_q;

  always_comb begin : block_of_warp
    automatic logic [BlockSlotW-1:0] slot;
    slot          = slot_q[WarpIdxW'(block_warp_i)];
    block_index_o = index_q[WarpIdxW'(block_warp_i)];
    block_x_o     = ctaid_x_q[slot];
    block_y_o     = ctaid_y_q[slot];
    block_z_o     = ctaid_z_q[slot];
  end

  // Divide: does another block fit?
  assign warps_end   = first_q + 7'(warps_q);
  assign bytes_end   = base_q + (SharedAddressW+1)'(step);
  assign common_fits = slots_q < cfg_i && 32'(warps_end) <= Warps;

  assign most_bytes  = Unified == 0 ? SharedBytes : 32'(shared_rows_q) * RowBytes;

  if (Unified == 0) begin : gen_fixed
    assign most_rows       = Depth;
    assign shares_fit      = 1'b1;
    assign register_rows_q = '0;
    assign shared_rows_q   = '0;
    assign cache_log_q     = '0;
  end else begin : gen_unified
    logic [31:0] cache_rows;

    assign cache_rows = (cache_log_q == '0) ? 32'd0 : (32'd1 << cache_log_q) / Columns;
    assign most_rows  = 32'(register_rows_q);
    assign shares_fit = 32'(register_rows_q) + 32'(shared_rows_q) + cache_rows <= Depth;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        register_rows_q <= '0;
        shared_rows_q   <= '0;
        cache_log_q     <= '0;
      end else if (launch) begin
        register_rows_q <= launch_register_rows_i;
        shared_rows_q   <= launch_shared_rows_i;
        cache_log_q     <= launch_cache_i;
      end
    end
  end

  if (Places == 0) begin : gen_rows
    logic [6:0] rows_end;  // number of warps whose rows are then allocated

    // An even warp and the next (odd) warp share their rows, each in one bank.
    assign rows_end         = (PairedRows != 0) ? warps_end + 7'(warps_end[0]) : warps_end;
    assign fits             = common_fits && shares_fit && 32'(bytes_end) <= most_bytes &&
                              32'(rows_end) * 32'(rows_q) <= most_rows && 32'(rows_q) <= MaxRegisters / Banks;
    assign share_q          = 1'b0;
    assign extending_q      = 1'b0;
    assign hosts_q          = '0;
    assign young_q          = '0;
    assign layout_q         = '0;
    assign private_shared_q = '0;
    assign step             = shared_step_q;
  end else begin : gen_places
    logic                  host_fits;
    logic                  guest_fits;
    logic                  extend;        // from this cycle on guests are added
    logic [4:0]            hosts;
    logic [WarpW:0]        host_warps;
    logic [WarpW:0]        guest_warps;   // warps of guests, with the block that is being allocated
    logic [31:0]           host_registers;
    logic [31:0]           guest_registers;
    logic [SharedAddressW:0] host_bytes;
    logic [4:0]            partner;       // partner of the slot in which a block starts
    logic                  has_partner;

    // After the last slot that fits completely, guests are added, which need only their private registers.
    assign host_bytes      = base_q + (SharedAddressW+1)'(shared_step_q);
    assign host_fits       = common_fits && 32'(host_bytes) <= SharedBytes &&
                             32'(warps_end) * 32'(layout_q.registers) <= Banks * Depth;
    assign extend          = state_q == Divide && !host_fits && slots_q != '0 && share_q && !extending_q;
    assign hosts           = extend ? slots_q : hosts_q;
    assign host_warps      = extend ? first_q : layout_q.host_warps;
    assign guest_warps     = warps_end - host_warps;
    assign host_registers  = 32'(host_warps) * 32'(layout_q.registers);
    assign guest_registers = 32'(guest_warps) * 32'(layout_q.private_registers);
    assign guest_fits      = common_fits && 32'(bytes_end) <= SharedBytes && slots_q - hosts < hosts &&
                             host_registers + guest_registers <= Banks * Depth;
    assign fits            = (extend || extending_q) ? guest_fits : host_fits;
    assign step            = (extend || extending_q)
                             ? 17'((32'(private_shared_q) + (SharedAlign - 1)) / SharedAlign * SharedAlign)
                             : shared_step_q;

    always_comb begin
      if (5'(free_slot) < hosts_q) begin
        partner     = 5'(free_slot) + hosts_q;
        has_partner = partner < slots_q;
      end else begin
        partner     = 5'(free_slot) - hosts_q;
        has_partner = hosts_q != '0;
      end
    end

    always_ff @(posedge clk_i) begin
      if (launch) begin
        hosts_q                    <= '0;
        young_q                    <= '0;
        private_shared_q           <= launch_private_shared_i;
        layout_q.registers         <= launch_registers_i;
        layout_q.private_registers <= launch_private_i;
        layout_q.host_warps        <= (WarpW+1)'(Warps);
        layout_q.guest_base        <= '0;
      end
      if (extend) begin
        hosts_q             <= slots_q;
        layout_q.host_warps <= first_q;
        layout_q.guest_base <= RegisterPlaceW'(host_registers);
      end
      if (state_q == Divide) extending_q <= (extend || extending_q) && fits;
      if (place_block) begin
        young_q[free_slot] <= has_partner;
        if (has_partner) young_q[BlockSlotW'(partner)] <= 1'b0;
      end

      if (!rst_ni) begin
        extending_q      <= 1'b0;
        hosts_q          <= '0;
        young_q          <= '0;
        private_shared_q <= '0;
        layout_q         <= '0;
      end
    end

    // No reset: it has no meaning while idle.
    always_ff @(posedge clk_i) begin
      if (launch) share_q <= launch_share_i;
    end
  end

  // Coordinates: x counts up first.
  function automatic tid_t successor(tid_t tid);
    successor   = tid;
    successor.x = tid.x + 1'b1;
    if (successor.x == block_x_q) begin
      successor.x = '0;
      successor.y = tid.y + 1'b1;
      if (successor.y == block_y_q) begin
        successor.y = '0;
        successor.z = tid.z + 1'b1;
      end
    end
  endfunction

  assign tid_we_o    = state_q == Coordinates;
  assign tid_index_o = tid_index_q;
  assign tid_group_o = tid_group_q;

  always_comb begin
    tid_data_o = '{default: '0};
    tid_next   = {tid_z_q, tid_y_q, tid_x_q};
    if (tid_we_o) begin
      for (int unsigned l = 0; l < GroupLanes; l++) begin
        tid_data_o[l] = {6'b0, tid_next.z[5:0], tid_next.y[9:0], tid_next.x[9:0]};
        tid_next      = successor(tid_next);
      end
    end
  end

  // Run. The last warp of a block has the remaining threads.
  assign start_valid_o = starting_q;
  assign start_warp_o  = start_warp_q;

  assign left         = threads_q - {1'b0, last_index, LaneIdxW'(0)};
  assign start_mask_o = (start_index_q == last_index) ? ~({Lanes{1'b1}} << left) : '1;

  // In the slot that is starting, warps that have not begun would look as if they had ended.
  always_comb begin
    unfinished = '0;
    if (state_q == Run) begin
      for (int unsigned w = 0; w < Warps; w++) begin
        if (w < 32'(first_q) && (alive_i[w] || !idle_i[w])) unfinished[slot_q[w]] = 1'b1;
      end
      if (starting_q) unfinished[start_slot_q] = 1'b1;
    end
  end

  // The loop runs downwards, so that the lowest slot remains.
  always_comb begin
    place_block = 1'b0;
    free_slot   = '0;
    if (state_q == Run && !starting_q && next_z_q < grid_z_q) begin
      for (int unsigned k = BlockSlots; k > 0; k--) begin
        if (k <= 32'(slots_q) && !slot_busy_q[k-1]) begin
          place_block = 1'b1;
          free_slot   = BlockSlotW'(k - 1);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    done_q  <= 1'b0;
    fault_q <= 1'b0;
    case (state_q)
      Idle: begin
        if (launch) begin
          state_q     <= Divide;
          slots_q     <= '0;
          slot_busy_q <= '0;
        end
      end
      Divide: begin
        if (fits) begin
          slots_q <= slots_q + 1'b1;
        end else if (slots_q == '0) begin
          state_q <= Idle;
          fault_q <= 1'b1;
        end else begin
          state_q <= Coordinates;
        end
      end
      Coordinates: begin
        if (tid_group_q == '1 && tid_index_q == last_index) state_q <= Run;
      end
      default: begin
        slot_busy_q <= slot_busy_q & unfinished;
        if (starting_q) begin
          if (start_index_q == last_index) starting_q <= 1'b0;
        end else if (place_block) begin
          slot_busy_q[free_slot] <= 1'b1;
          starting_q             <= 1'b1;
        end else if (next_z_q >= grid_z_q && slot_busy_q == '0 && memory_idle_i) begin
          state_q <= Idle;
          done_q  <= 1'b1;
        end
      end
    endcase

    if (!rst_ni) begin
      state_q     <= Idle;
      done_q      <= 1'b0;
      fault_q     <= 1'b0;
      slots_q     <= '0;
      slot_busy_q <= '0;
      starting_q  <= 1'b0;
    end
  end

  // The launch, and what is counted during a grid, has no reset: it means nothing while idle.
  always_ff @(posedge clk_i) begin
    if (launch) begin
      grid_x_q      <= launch_grid_x_i;
      grid_y_q      <= launch_grid_y_i;
      grid_z_q      <= launch_grid_z_i;
      block_x_q     <= launch_block_x_i;
      block_y_q     <= launch_block_y_i;
      block_z_q     <= launch_block_z_i;
      threads_q     <= launch_threads_i;
      rows_q        <= 8'((32'(launch_registers_i) + (Banks - 1)) / Banks);
      shared_q      <= launch_shared_i;
      dynamic_q     <= launch_dynamic_i;
      local_q       <= launch_local_i;
      warps_q       <= 6'((32'(launch_threads_i) + (Lanes - 1)) / Lanes);
      shared_step_q <= 17'((32'(launch_shared_i) + (SharedAlign - 1)) / SharedAlign * SharedAlign);
    end
  end

  always_ff @(posedge clk_i) begin
    if (launch) begin
      first_q     <= '0;
      base_q      <= '0;
      tid_x_q     <= '0;
      tid_y_q     <= '0;
      tid_z_q     <= '0;
      tid_index_q <= '0;
      tid_group_q <= '0;
      next_x_q    <= '0;
      next_y_q    <= '0;
      next_z_q    <= '0;
    end
    if (state_q == Divide && fits) begin
      first_q <= warps_end;
      base_q  <= bytes_end;
    end
    if (state_q == Coordinates) begin
      {tid_z_q, tid_y_q, tid_x_q} <= tid_next;
      tid_group_q                 <= tid_group_q + 1'b1;
      if (tid_group_q == '1) tid_index_q <= tid_index_q + 1'b1;
    end
    if (place_block) begin
      next_x_q <= next_x_q + 1'b1;
      if (next_x_q + 1'b1 == grid_x_q) begin
        next_x_q <= '0;
        next_y_q <= next_y_q + 1'b1;
        if (next_y_q + 1'b1 == grid_y_q) begin
          next_y_q <= '0;
          next_z_q <= next_z_q + 1'b1;
        end
      end
      start_slot_q  <= free_slot;
      start_index_q <= '0;
      start_warp_q  <= WarpW'(free_slot) * warps_q;
    end
    if (starting_q) begin
      start_index_q <= start_index_q + 1'b1;
      start_warp_q  <= start_warp_q + 1'b1;
    end
  end

  // The tables can be read at any time, so they are reset.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q      <= '{default: '0};
      index_q     <= '{default: '0};
      slot_base_q <= '{default: '0};
    end else if (state_q == Divide && fits) begin
      slot_base_q[BlockSlotW'(slots_q)] <= SharedAddressW'(base_q);
      for (int unsigned w = 0; w < Warps; w++) begin
        if (w >= 32'(first_q) && w < 32'(warps_end)) begin
          slot_q[w]  <= BlockSlotW'(slots_q);
          index_q[w] <= 5'(w - 32'(first_q));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ctaid_x_q <= '{default: '0};
      ctaid_y_q <= '{default: '0};
      ctaid_z_q <= '{default: '0};
    end else if (place_block) begin
      ctaid_x_q[free_slot] <= next_x_q;
      ctaid_y_q[free_slot] <= next_y_q;
      ctaid_z_q[free_slot] <= next_z_q;
    end
  end

  `GPURF_ASSERT_WHEN(launch_has_threads, launch,
                     launch_threads_i != '0 && 32'(launch_threads_i) <= MostThreads &&
                     32'(launch_threads_i) == 32'(launch_block_x_i) * 32'(launch_block_y_i) *
                                              32'(launch_block_z_i),
                     "the threads of a block are not those of its dimensions, or too many")
  `GPURF_ASSERT_WHEN(launch_has_blocks, launch,
                     launch_grid_x_i != '0 && launch_grid_y_i != '0 && launch_grid_z_i != '0,
                     "a grid without blocks was launched")
  `GPURF_ASSERT_WHEN(launch_has_registers, launch, launch_registers_i != '0,
                     "a thread without registers was launched")
  `GPURF_ASSERT_WHEN(launch_shared_in_range, launch,
                     32'(launch_shared_i) <= (1 << 17) - SharedAlign,
                     "the shared memory of a block is too large to be rounded up")
  `GPURF_ASSERT_WHEN(busy_slots_exist, busy_o,
                     (32'(slot_busy_q) >> slots_q) == '0 && 32'(first_q) <= Warps,
                     "a block stands in a slot that does not exist")
  `GPURF_ASSERT_WHEN(starts_in_busy_slot, starting_q, state_q == Run && slot_busy_q[start_slot_q],
                     "a warp begins without a block")

endmodule

// The streaming multiprocessor (SM): instantiates all blocks and connects them.
//
// In order, 32 lanes, a SIMT stack for each warp, a scoreboard, operand collectors, an ALU and a
// single precision unit for each port, one special function unit, one unit for constants and special
// registers, one memory pipeline, barriers, and a launcher of thread blocks (hierarchy thesis 2.4, 2.5, 4.3 and table 4.4; RFC paper 2.1,
// figures 1 and 3). Global memory and the host are outside. All outputs except the event words
// depend on registers alone, so no input reaches them combinationally.
//
// With unified memory (hierarchy thesis, chapter 7) the banks in the operand stage store scratchpad
// memory and the lines of the data cache too.
//
// The net at an output is named after the instance and the port; lockstep compares these nets by name.
module sm
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned CodeWords = 4096,
  parameter int unsigned ConstWords = 17408,
  parameter int unsigned SharedWords = 16384,
  parameter int unsigned Rows = 64,
  parameter int unsigned Banks = 16,
  parameter int unsigned DualPort = 0,
  parameter int unsigned Collectors = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  parameter int unsigned Active = 0,
  parameter int unsigned Alternate = 0,
  parameter int unsigned Organisation = OrganisationMrf,
  parameter int unsigned Sizes = 0,
  parameter int unsigned PowerEntries = 0,
  parameter int unsigned Share = ShareNothing,
  // Throttle is not read unless registers are shared: without that nothing is throttled.
  // verilator lint_off UNUSEDPARAM
  parameter int unsigned Throttle = 0,
  parameter int unsigned Reference = ReferenceSampled,
  // The ways and misses are not read without a data cache.
  parameter int unsigned CacheLines = 0,
  parameter int unsigned CacheWays = 4,
  parameter int unsigned CacheMisses = 64,
  // verilator lint_on UNUSEDPARAM
  // One set of banks for registers, scratchpad and cache. 1: they share the ports, 2: memory has ports of its own.
  parameter int unsigned Unified = 0,
  localparam int unsigned CodeW = $clog2(CodeWords),
  localparam int unsigned ConstW = $clog2(ConstWords)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // All bits are read only if the scheduler has slots and registers have power states.
  // verilator lint_off UNUSEDSIGNAL
  input  sm_straps_t             cfg_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [DesignCfgW-1:0]  design_cfg_i,

  // host: code, constants
  input  logic                   code_we_i,
  input  logic [CodeW-1:0]       code_addr_i,
  input  logic [WordW-1:0]       code_op_i,
  input  logic [WordW-1:0]       code_ctl_i,
  input  logic                   const_we_i,
  input  logic [ConstW-1:0]      const_addr_i,
  input  logic [LaneW-1:0]       const_data_i,

  // host: a grid
  input  logic                   launch_valid_i,
  input  logic [31:0]            launch_grid_x_i,
  input  logic [15:0]            launch_grid_y_i,
  input  logic [15:0]            launch_grid_z_i,
  input  logic [10:0]            launch_block_x_i,
  input  logic [10:0]            launch_block_y_i,
  input  logic [6:0]             launch_block_z_i,
  input  logic [10:0]            launch_threads_i,
  input  logic [7:0]             launch_registers_i,
  input  logic [16:0]            launch_shared_i,
  input  logic [16:0]            launch_dynamic_i,
  input  logic [15:0]            launch_local_i,
  input  logic                   launch_share_i,
  input  logic [RegW-1:0]        launch_private_i,
  input  logic [16:0]            launch_private_shared_i,
  input  logic [BankRowsW-1:0]   launch_register_rows_i,
  input  logic [BankRowsW-1:0]   launch_shared_rows_i,
  input  logic [CacheLogW-1:0]   launch_cache_i,
  output logic                   busy_o,
  output logic                   done_o,
  output logic                   fault_o,
  output logic [WarpW-1:0]       fault_warp_o,
  output logic [CauseW-1:0]      fault_cause_o,
  output logic [31:0]            fault_value_o,

  // machine time in cycles; a new grid does not reset it
  input  logic [TimeW-1:0]       time_i,

  // stall count of another SM, read only by a throttle with an external reference
  // verilator lint_off UNUSEDSIGNAL
  input  logic                   throttle_reference_valid_i,
  input  logic [ThrottleCountW-1:0] throttle_reference_i,
  // verilator lint_on UNUSEDSIGNAL

  // global and local memory
  output logic                   mem_req_valid_o,
  input  logic                   mem_req_ready_i,
  output logic [1:0]             mem_req_kind_o,
  output logic [3:0]             mem_req_atomic_o,
  output logic [1:0]             mem_req_size_o,
  output logic                   mem_req_answer_o,
  output logic [LineW-1:0]       mem_req_line_o,
  output logic [Lanes-1:0]       mem_req_mask_o,
  output logic                   mem_req_whole_o,
  output logic [WarpW-1:0]       mem_req_warp_o,
  output logic [LineOffsetW-1:0] mem_req_offset_o [Lanes],
  output logic [DataW-1:0]       mem_req_data_o,
  output logic [DataW-1:0]       mem_req_compare_o,
  input  logic                   mem_rsp_valid_i,
  output logic                   mem_rsp_ready_o,
  input  logic [DataW-1:0]       mem_rsp_data_i,
  input  logic                   mem_rsp_fault_i,
  // Only a data cache reads how many bytes of a line exist.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [PresentW-1:0]    mem_rsp_present_i,
  // verilator lint_on UNUSEDSIGNAL

  output sm_event_t              event_o,
  output mrf_event_t             mrf_event_o,
  output logic [DesignEventW-1:0] design_event_o [DesignEvents],
  output logic [DesignEventW-1:0] scheduler_event_o,
  output logic [DesignEventW-1:0] power_event_o [PowerEvents],
  output logic [DesignEventW-1:0] share_event_o,
  output logic [DesignEventW-1:0] cache_event_o
);

  localparam int unsigned P = IssuePorts;
  localparam int unsigned WarpIdxW = $clog2(Warps);
  localparam int unsigned A = (Active > 1) ? Active : 1;
  localparam int unsigned SlotW = (A > 1) ? $clog2(A) : 1;
  localparam int unsigned Sources = Operands * P;
  localparam int unsigned SourceW = 5;  // number of a special register
  localparam int unsigned AluQueueDepth = 16;
  localparam int unsigned FpQueueDepth = 16;
  localparam int unsigned SfuQueueDepth = 8;
  localparam int unsigned ConstantQueueDepth = 16;
  localparam int unsigned ConstantSources = 2;
  localparam int unsigned SideQueueDepth = 32;
  localparam int unsigned SideSources = 3;
  localparam int unsigned FaultSources = 2 * P + 5;
  localparam int unsigned EntryW = $clog2(Depth);
  localparam int unsigned WordBytes = ClusterBytes / GroupLanes;
  localparam int unsigned LineEntryW = (CacheLines > 1) ? $clog2(CacheLines) : 1;

  // ------------------------------------------------------------------ nets, by the block driving
  logic [P-1:0]     fetch_decode_valid;
  logic [WarpW-1:0] fetch_decode_warp [P];
  logic [PcW-1:0]   fetch_decode_pc   [P];
  logic [WordW-1:0] fetch_decode_op   [P];
  logic [WordW-1:0] fetch_decode_ctl  [P];

  roles_t decode_roles [P];

  logic [Warps-1:0] instruction_buffer_room;
  logic [Warps-1:0] instruction_buffer_head_valid;
  logic [PcW-1:0]   instruction_buffer_head_pc    [Warps];
  logic [WordW-1:0] instruction_buffer_head_op    [Warps];
  logic [WordW-1:0] instruction_buffer_head_ctl   [Warps];
  roles_t           instruction_buffer_head_roles [Warps];

  logic [Warps-1:0] scoreboard_clear;
  logic [Warps-1:0] hierarchy_scoreboard_clear;
  logic [Warps-1:0] scoreboard_operand;
  // Not read with one issue port: no second branch can issue in the same cycle then.
  // verilator lint_off UNUSEDSIGNAL
  logic [Warps-1:0] scoreboard_branch;
  // verilator lint_on UNUSEDSIGNAL
  logic [Warps-1:0] scoreboard_idle;

  logic [Warps-1:0]   power_states_clear;
  // Only power states read the outputs of the access table.
  // verilator lint_off UNUSEDSIGNAL
  logic [Sources-1:0] access_table_read_keep;
  logic [P-1:0]       access_table_reg_keep;
  // verilator lint_on UNUSEDSIGNAL

  logic [Warps-1:0] share_locks_clear;
  // Only the single-level scheduler has classes of warps.
  // verilator lint_off UNUSEDSIGNAL
  logic [Warps-1:0] share_locks_lead;
  logic [Warps-1:0] share_locks_last;
  logic             share_throttle_allow;
  // verilator lint_on UNUSEDSIGNAL

  logic [Warps-1:0] scratchpad_locks_probe;
  logic             scratchpad_locks_place_released;

  logic [P-1:0]     warp_scheduler_issue_valid;
  logic [WarpW-1:0] warp_scheduler_issue_warp     [P];
  logic [Warps-1:0] warp_scheduler_pop;
  logic [SlotW-1:0] warp_scheduler_issue_slot     [P];
  logic [Warps-1:0] warp_scheduler_active;
  logic [A-1:0]     warp_scheduler_slot_valid;
  logic [WarpW-1:0] warp_scheduler_slot_warp      [A];
  logic [A-1:0]     warp_scheduler_flush;
  logic [A-1:0]     warp_scheduler_drop;
  logic [P-1:0]     warp_scheduler_candidate_valid;
  logic [WarpW-1:0] warp_scheduler_candidate_warp [P];

  logic [PredW:0]    issue_stage_read_guard  [P];
  logic [PredW:0]    issue_stage_read_s      [P];
  logic [PredW:0]    issue_stage_read_t      [P];
  logic [P-1:0]      issue_stage_operand_valid;
  logic [WarpW-1:0]  issue_stage_warp        [P];
  instruction_t      issue_stage_instruction [P];
  logic [Lanes-1:0]  issue_stage_exec        [P];
  logic [1:0]        issue_stage_kind        [P];
  logic [P-1:0]      issue_stage_stop;
  logic [PcW-1:0]    issue_stage_target      [P];
  logic [PcW-1:0]    issue_stage_join        [P];
  logic [P-1:0]      issue_stage_hold_valid;
  logic [P-1:0]      issue_stage_fault_valid;
  logic [CauseW-1:0] issue_stage_fault_cause [P];
  logic [31:0]       issue_stage_fault_value [P];

  logic [Lanes-1:0] predicate_file_guard [P];
  logic [Lanes-1:0] predicate_file_s     [P];
  logic [Lanes-1:0] predicate_file_t     [P];

  logic [Lanes-1:0] simt_stack_mask          [Warps];
  logic [Lanes-1:0] simt_stack_live          [Warps];
  logic [PcW-1:0]   simt_stack_reconvergence [Warps];
  logic [Warps-1:0] simt_stack_alive;
  logic [P:0]       simt_stack_resume_valid;
  logic [WarpW-1:0] simt_stack_resume_warp   [P+1];
  logic [PcW-1:0]   simt_stack_resume_pc     [P+1];

  logic [P-1:0]       operand_stage_issue_ready;
  logic [P-1:0]       operand_stage_write_ready;
  // Schedulers with slots read flush_done, and the two-level one void. Only a design with levels that the compiler
  // manages drives and reads wait. Only schedulers with candidates read candidate_issue.
  // verilator lint_off UNUSEDSIGNAL
  logic [A-1:0]       operand_stage_flush_done;
  logic [A-1:0]       operand_stage_void;
  logic [Upper-1:0]   operand_stage_wait                 [A];
  logic [P-1:0]       operand_stage_candidate_issue;
  power_event_t       operand_stage_power_event;
  power_wait_event_t  operand_stage_power_wait_event;
  // verilator lint_on UNUSEDSIGNAL
  logic [2**WarpW-1:0] operand_stage_over;
  logic [P-1:0]       operand_stage_write_done;
  written_t           operand_stage_written              [P];
  logic [P-1:0]       operand_stage_dispatch_valid;
  logic [WarpW-1:0]   operand_stage_dispatch_warp        [P];
  logic [Lanes-1:0]   operand_stage_dispatch_mask        [P];
  instruction_t       operand_stage_dispatch_instruction [P];
  logic [Sources-1:0] operand_stage_dispatch_src_valid;
  logic [DataW-1:0]   operand_stage_dispatch_data        [Sources];
  // Only unified memory reads these.
  // verilator lint_off UNUSEDSIGNAL
  logic [Columns-1:0]  operand_stage_memory_read_ready;
  logic [Clusters-1:0] operand_stage_memory_write_ready  [Columns];
  logic [DataW-1:0]    operand_stage_memory_data;
  // verilator lint_on UNUSEDSIGNAL

  logic [P-1:0] dispatcher_dispatch_ready;
  logic [P-1:0] dispatcher_alu_valid;
  logic [P-1:0] dispatcher_fp_valid;
  logic         dispatcher_memory_valid;
  logic         dispatcher_memory_port;
  logic         dispatcher_sfu_valid;
  logic         dispatcher_sfu_port;
  logic         dispatcher_constant_valid;
  logic         dispatcher_constant_port;
  logic         dispatcher_barrier_valid;
  logic         dispatcher_barrier_port;

  logic [P-1:0]     alu_ready;
  logic [P-1:0]     alu_fault_valid;
  logic [WarpW-1:0] alu_fault_warp  [P];
  logic [31:0]      alu_fault_value [P];

  logic [P-1:0]     alu_queue_head_valid;
  result_t          alu_queue_head_result    [P];
  logic [P-1:0]     alu_queue_head_reg_valid;
  logic [DataW-1:0] alu_queue_head_data      [P];

  logic [P-1:0]     fp_unit_ready;

  logic [P-1:0]     fp_queue_head_valid;
  result_t          fp_queue_head_result     [P];
  logic [P-1:0]     fp_queue_head_reg_valid;
  logic [DataW-1:0] fp_queue_head_data       [P];

  logic             sfu_ready;
  logic             sfu_result_valid;
  logic [WarpW-1:0] sfu_result_warp [1];
  logic [Lanes-1:0] sfu_result_mask [1];
  logic             sfu_result_reg_valid;
  logic [RegW-1:0]  sfu_result_reg  [1];
  logic [DataW-1:0] sfu_result_data [1];

  logic             sfu_queue_ready;
  logic             sfu_queue_head_valid;
  result_t          sfu_queue_head_result;
  logic             sfu_queue_head_reg_valid;
  logic [DataW-1:0] sfu_queue_head_data;

  logic               constant_unit_ready;
  logic [Lanes-1:0]   constant_unit_lanes;
  // No block reads this, it is for debugging: both units have a valid of their own.
  // verilator lint_off UNUSEDSIGNAL
  logic               constant_unit_busy;
  // verilator lint_on UNUSEDSIGNAL
  logic               constant_unit_constant_valid;
  logic               constant_unit_special_valid;
  logic               constant_unit_last;
  logic [WarpW-1:0]   constant_unit_warp;
  logic [1:0]         constant_unit_size;
  logic               constant_unit_signed;
  logic [SourceW-1:0] constant_unit_source;
  logic               constant_unit_reg_valid;
  logic [RegW-1:0]    constant_unit_reg;
  logic [DataW-1:0]   constant_unit_addr;
  logic               constant_unit_fault_valid;
  logic [WarpW-1:0]   constant_unit_fault_warp;
  logic [CauseW-1:0]  constant_unit_fault_cause;
  logic [31:0]        constant_unit_fault_value;

  logic             constant_queue_room;
  logic             constant_queue_head_valid;
  result_t          constant_queue_head_result;
  logic             constant_queue_head_reg_valid;
  logic [DataW-1:0] constant_queue_head_data;

  logic             side_queue_room;
  logic             side_queue_head_valid;
  result_t          side_queue_head_result;
  logic             side_queue_head_reg_valid;
  logic [DataW-1:0] side_queue_head_data;

  logic [P-1:0]     writeback_alu_pop;
  logic [P-1:0]     writeback_fp_pop;
  logic             writeback_side_pop;
  logic             writeback_sfu_pop;
  logic             writeback_constant_pop;
  logic             writeback_memory_pop;
  logic [P-1:0]     writeback_write_valid;
  write_t           writeback_write       [P];
  logic [DataW-1:0] writeback_write_data  [P];
  logic [P-1:0]     writeback_pred_valid;
  logic [WarpW-1:0] writeback_pred_warp   [P];
  logic [PredW-1:0] writeback_pred        [P];
  logic [Lanes-1:0] writeback_pred_mask   [P];
  logic [Lanes-1:0] writeback_pred_data   [P];
  logic [P-1:0]     writeback_reg_valid;
  logic [WarpW-1:0] writeback_reg_warp    [P];
  logic [RegW-1:0]  writeback_reg         [P];
  logic [2*P-1:0]   writeback_finish_valid;
  logic [WarpW-1:0] writeback_finish_warp [2*P];

  logic              address_unit_in_ready;
  logic [WarpW-1:0]  address_unit_place_warp;
  logic [Lanes-1:0]  address_unit_lanes;
  // No block reads this, it is for debugging: every unit has a valid of its own.
  // verilator lint_off UNUSEDSIGNAL
  logic              address_unit_busy;
  // verilator lint_on UNUSEDSIGNAL
  logic              address_unit_global_valid;
  logic              address_unit_shared_valid;
  logic              address_unit_constant_valid;
  logic              address_unit_shuffle_valid;
  logic              address_unit_local;
  // Only the data cache reads it.
  // verilator lint_off UNUSEDSIGNAL
  logic              address_unit_line_first;
  // verilator lint_on UNUSEDSIGNAL
  logic              address_unit_last;
  logic [WarpW-1:0]  address_unit_warp;
  logic [1:0]        address_unit_kind;
  logic [1:0]        address_unit_size;
  logic              address_unit_signed;
  logic [3:0]        address_unit_atomic;
  logic [15:0]       address_unit_modifiers;
  logic [LineW-1:0]  address_unit_texture;
  logic              address_unit_reg_valid;
  logic [RegW-1:0]   address_unit_reg;
  logic              address_unit_pred_valid;
  logic [PredW-1:0]  address_unit_pred;
  logic [DataW-1:0]  address_unit_addr;
  logic [DataW-1:0]  address_unit_store;
  logic [DataW-1:0]  address_unit_compare;
  logic              address_unit_finish_valid;
  logic [WarpW-1:0]  address_unit_finish_warp;
  // Only the locks of shared scratchpad memory read the answers.
  // verilator lint_off UNUSEDSIGNAL
  logic              address_unit_answer_valid;
  logic              address_unit_answer_release;
  logic              address_unit_answer_shared;
  logic [Lanes-1:0]  address_unit_answer_mask;
  // verilator lint_on UNUSEDSIGNAL
  logic              address_unit_fault_valid;
  logic [WarpW-1:0]  address_unit_fault_warp;
  logic [CauseW-1:0] address_unit_fault_cause;
  logic [31:0]       address_unit_fault_value;

  logic [Lanes-1:0]       coalescer_served;
  // Only the data cache reads it.
  // verilator lint_off UNUSEDSIGNAL
  logic [LineW-1:0]       coalescer_pass_line;
  // verilator lint_on UNUSEDSIGNAL
  logic                   coalescer_row_valid;
  logic [WarpW-1:0]       coalescer_row_warp;
  logic [Lanes-1:0]       coalescer_row_mask;
  logic                   coalescer_row_reg_valid;
  logic [RegW-1:0]        coalescer_row_reg;
  logic [1:0]             coalescer_row_size;
  logic                   coalescer_row_signed;
  logic                   coalescer_row_lanewise;
  logic                   coalescer_row_done;
  logic [LineOffsetW-1:0] coalescer_row_offset [Lanes];
  logic                   coalescer_mem_req_valid;
  // verilator lint_off UNUSEDSIGNAL
  logic                   coalescer_bypass;  // bypass the data cache; not read without a cache
  // verilator lint_on UNUSEDSIGNAL

  // Driven by the line table, or by the data cache that replaces it.
  logic             memory_room;
  logic             memory_req_ready;
  logic             memory_idle;
  logic             memory_result_valid;
  result_t          memory_result;
  logic             memory_result_reg_valid;
  logic [DataW-1:0] memory_result_data;
  logic             memory_fault_valid;
  logic [WarpW-1:0] memory_fault_warp;
  // Only unified memory reads these.
  // verilator lint_off UNUSEDSIGNAL
  logic                  memory_ram_read;
  logic [LineEntryW-1:0] memory_ram_read_entry;
  logic                  memory_ram_write;
  logic [LineEntryW-1:0] memory_ram_write_entry;
  logic [LineBytes-1:0]  memory_ram_write_bytes;
  logic [DataW-1:0]      memory_ram_write_data;
  // verilator lint_on UNUSEDSIGNAL

  // Driven by shared_memory, or by unified_shared with unified banks; what shared_memory does not have is 0 then.
  logic [Lanes-1:0] shared_memory_served;
  logic             shared_memory_result_valid;
  logic [WarpW-1:0] shared_memory_result_warp;
  logic [Lanes-1:0] shared_memory_result_mask;
  logic             shared_memory_result_done;
  logic             shared_memory_result_reg_valid;
  logic [RegW-1:0]  shared_memory_result_reg;
  logic [DataW-1:0] shared_memory_result_data;
  // verilator lint_off UNUSEDSIGNAL
  logic [WordPlaces-1:0] shared_memory_read;
  logic [WordPlaces-1:0] shared_memory_write;
  logic [SharedRowW-1:0] shared_memory_row   [WordPlaces];
  logic [WordBytes-1:0]  shared_memory_bytes [WordPlaces];
  logic [DataW-1:0]      shared_memory_data;
  // verilator lint_on UNUSEDSIGNAL

  // Without unified memory these are 0, and the first five are not read.
  // verilator lint_off UNUSEDSIGNAL
  logic [Columns-1:0]      unified_arbiter_cache_read_ready;
  logic [Columns-1:0]      unified_arbiter_cache_write_ready;
  logic [WordPlaces-1:0]   unified_arbiter_shared_read_ready;
  logic [WordPlaces-1:0]   unified_arbiter_shared_write_ready;
  unified_event_t          unified_arbiter_event;
  // verilator lint_on UNUSEDSIGNAL
  logic [Clusters-1:0]     unified_arbiter_read        [Columns];
  logic [EntryW-1:0]       unified_arbiter_read_entry  [UnifiedBanks];
  logic [Clusters-1:0]     unified_arbiter_write       [Columns];
  logic [EntryW-1:0]       unified_arbiter_write_entry [UnifiedBanks];
  logic [ClusterBytes-1:0] unified_arbiter_write_bytes [UnifiedBanks];
  logic [DataW-1:0]        unified_arbiter_write_data;
  logic [ColumnW-1:0]      unified_arbiter_data_column [WordPlaces];

  logic [Lanes-1:0] constant_memory_direct_served;
  logic             constant_memory_direct_result_valid;
  logic [WarpW-1:0] constant_memory_direct_result_warp;
  logic [Lanes-1:0] constant_memory_direct_result_mask;
  logic             constant_memory_direct_result_done;
  logic             constant_memory_direct_result_reg_valid;
  logic [RegW-1:0]  constant_memory_direct_result_reg;
  logic [DataW-1:0] constant_memory_direct_result_data;
  logic [Lanes-1:0] constant_memory_served;
  logic             constant_memory_result_valid;
  logic [WarpW-1:0] constant_memory_result_warp;
  logic [Lanes-1:0] constant_memory_result_mask;
  logic             constant_memory_result_done;
  logic             constant_memory_result_reg_valid;
  logic [RegW-1:0]  constant_memory_result_reg;
  logic [DataW-1:0] constant_memory_result_data;

  logic [Lanes-1:0] lane_crossbar_served;
  logic             lane_crossbar_result_valid;
  logic [WarpW-1:0] lane_crossbar_result_warp;
  logic [Lanes-1:0] lane_crossbar_result_mask;
  logic             lane_crossbar_result_reg_valid;
  logic [RegW-1:0]  lane_crossbar_result_reg;
  logic [DataW-1:0] lane_crossbar_result_data;
  logic             lane_crossbar_result_pred_valid;
  logic [PredW-1:0] lane_crossbar_result_pred;
  logic [Lanes-1:0] lane_crossbar_result_pred_data;

  logic [Lanes-1:0] special_registers_served;
  logic             special_registers_result_valid;
  logic [WarpW-1:0] special_registers_result_warp;
  logic [Lanes-1:0] special_registers_result_mask;
  logic             special_registers_result_reg_valid;
  logic [RegW-1:0]  special_registers_result_reg;
  logic [DataW-1:0] special_registers_result_data;

  logic                  block_launcher_fresh;
  logic                  block_launcher_spare;
  logic                  block_launcher_start_valid;
  logic [WarpW-1:0]      block_launcher_start_warp;
  logic [Lanes-1:0]      block_launcher_start_mask;
  logic [7:0]            block_launcher_rows;
  logic [16:0]           block_launcher_shared_bytes;
  logic [16:0]           block_launcher_dynamic;
  logic [15:0]           block_launcher_local_words;
  logic [10:0]           block_launcher_ntid_x;
  logic [10:0]           block_launcher_ntid_y;
  logic [6:0]            block_launcher_ntid_z;
  logic [31:0]           block_launcher_nctaid_x;
  logic [15:0]           block_launcher_nctaid_y;
  logic [15:0]           block_launcher_nctaid_z;
  logic [BlockSlotW-1:0] block_launcher_slot [Warps];
  register_layout_t      block_launcher_layout;
  // Only the locks of shared registers or scratchpad memory read the next three nets.
  // verilator lint_off UNUSEDSIGNAL
  logic [WarpW:0]        block_launcher_end_warps;
  logic [BlockSlots-1:0] block_launcher_slot_busy;
  logic [BlockSlots-1:0] block_launcher_slot_young;
  // verilator lint_on UNUSEDSIGNAL
  // Only unified memory reads these.
  // verilator lint_off UNUSEDSIGNAL
  logic [BankRowsW-1:0]  block_launcher_register_rows;
  logic [CacheLogW-1:0]  block_launcher_cache_log;
  // verilator lint_on UNUSEDSIGNAL
  logic [SharedAddressW-1:0] block_launcher_place_base;
  logic [SharedAddressW-1:0] block_launcher_place_common;
  logic [16:0]           block_launcher_private_bytes;
  logic [4:0]            block_launcher_block_index;
  logic [31:0]           block_launcher_block_x;
  logic [15:0]           block_launcher_block_y;
  logic [15:0]           block_launcher_block_z;
  logic                  block_launcher_tid_we;
  logic [4:0]            block_launcher_tid_index;
  logic [2:0]            block_launcher_tid_group;
  logic [LaneW-1:0]      block_launcher_tid_data [GroupLanes];
  logic                  block_launcher_fault_valid;

  logic [Warps-1:0] barrier_unit_held;
  logic [Warps-1:0] barrier_unit_open;
  logic             barrier_unit_finish_valid;
  logic [WarpW-1:0] barrier_unit_finish_warp;
  logic             barrier_unit_fault_valid;
  logic [WarpW-1:0] barrier_unit_fault_warp;
  logic [31:0]      barrier_unit_fault_value;

  // ------------------------------------------------------------------ front
  logic [P-1:0] decode_stop;

  fetch #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts),
    .CodeWords (CodeWords)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .code_we_i,
    .code_addr_i,
    .code_op_i,
    .code_ctl_i,
    .start_valid_i  (block_launcher_start_valid),
    .start_warp_i   (block_launcher_start_warp),
    .resume_valid_i (simt_stack_resume_valid),
    .resume_warp_i  (simt_stack_resume_warp),
    .resume_pc_i    (simt_stack_resume_pc),
    .room_i         (instruction_buffer_room),
    .held_i         (barrier_unit_held),
    .reconvergence_i(simt_stack_reconvergence),
    .decode_stop_i  (decode_stop),
    .decode_valid_o (fetch_decode_valid),
    .decode_warp_o  (fetch_decode_warp),
    .decode_pc_o    (fetch_decode_pc),
    .decode_op_o    (fetch_decode_op),
    .decode_ctl_o   (fetch_decode_ctl)
  );

  for (genvar p = 0; p < P; p++) begin : gen_path
    decode u_decode (
      .op_i   (fetch_decode_op[p]),
      .ctl_i  (fetch_decode_ctl[p]),
      .roles_o(decode_roles[p])
    );

    assign decode_stop[p] = decode_roles[p].stop;
  end

  instruction_buffer #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_instruction_buffer (
    .clk_i,
    .rst_ni,
    .push_valid_i(fetch_decode_valid),
    .push_warp_i (fetch_decode_warp),
    .push_pc_i   (fetch_decode_pc),
    .push_op_i   (fetch_decode_op),
    .push_ctl_i  (fetch_decode_ctl),
    .push_roles_i(decode_roles),
    .pop_i       (warp_scheduler_pop & ~scratchpad_locks_probe),
    .room_o      (instruction_buffer_room),
    .head_valid_o(instruction_buffer_head_valid),
    .head_pc_o   (instruction_buffer_head_pc),
    .head_op_o   (instruction_buffer_head_op),
    .head_ctl_o  (instruction_buffer_head_ctl),
    .head_roles_o(instruction_buffer_head_roles)
  );

  // ------------------------------------------------------------------ issue
  logic [PcW-1:0]   issue_pc    [P];
  logic [RegW-1:0]  set_d       [P];
  logic [PredW-1:0] set_p       [P];
  logic [P-1:0]     issue_end;           // the issued instruction ends its strand
  logic [P-1:0]     issue_advance;       // the issued instruction is no probe: its warp advances
  logic [2*P+1:0]   finish_valid;
  logic [WarpW-1:0] finish_warp [2*P+2];

  always_comb begin
    for (int unsigned p = 0; p < P; p++) begin
      issue_pc[p] = issue_stage_instruction[p].pc;
      set_d[p] = issue_stage_instruction[p].roles.d;
      set_p[p] = issue_stage_instruction[p].roles.p;
      issue_advance[p] = warp_scheduler_issue_valid[p] &
                         ~scratchpad_locks_probe[WarpIdxW'(warp_scheduler_issue_warp[p])];
      issue_end[p] = warp_scheduler_issue_valid[p] &
                     issue_stage_instruction[p].ctl[ControlStrandEnd];
    end
    finish_valid = {barrier_unit_finish_valid, address_unit_finish_valid, writeback_finish_valid};
    for (int unsigned k = 0; k < 2 * P; k++) finish_warp[k] = writeback_finish_warp[k];
    finish_warp[2*P]   = address_unit_finish_warp;
    finish_warp[2*P+1] = barrier_unit_finish_warp;
  end

  scoreboard #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_scoreboard (
    .clk_i,
    .rst_ni,
    .head_valid_i  (instruction_buffer_head_valid),
    .head_roles_i  (instruction_buffer_head_roles),
    .set_valid_i   (issue_stage_operand_valid),
    .set_warp_i    (issue_stage_warp),
    .set_d_i       (set_d),
    .set_p_i       (set_p),
    .reg_valid_i   (writeback_reg_valid),
    .reg_warp_i    (writeback_reg_warp),
    .reg_i         (writeback_reg),
    .pred_valid_i  (writeback_pred_valid),
    .pred_warp_i   (writeback_pred_warp),
    .pred_i        (writeback_pred),
    .finish_valid_i(finish_valid),
    .finish_warp_i (finish_warp),
    .clear_o       (scoreboard_clear),
    .operand_o     (scoreboard_operand),
    .branch_o      (scoreboard_branch),
    .idle_o        (scoreboard_idle)
  );

  // A head waits not only for registers, but also for the places of the hierarchy.
  if (Organisation != OrganisationHierarchy) begin : gen_no_hierarchy
    assign hierarchy_scoreboard_clear = scoreboard_clear;
  end else begin : gen_hierarchy
    hierarchy_scoreboard #(
      .Warps (Warps),
      .Active(Active)
    ) u_hierarchy_scoreboard (
      .clear_i     (scoreboard_clear),
      .head_ctl_i  (instruction_buffer_head_ctl),
      .slot_valid_i(warp_scheduler_slot_valid),
      .slot_warp_i (warp_scheduler_slot_warp),
      .wait_i      (operand_stage_wait),
      .clear_o     (hierarchy_scoreboard_clear)
    );
  end

  // A head also waits for registers whose power state is not ON.
  if (PowerEntries == 0) begin : gen_no_power
    assign power_states_clear     = hierarchy_scoreboard_clear;
    assign access_table_read_keep = '0;
    assign access_table_reg_keep  = '0;
    assign power_event_o          = '{default: '0};
  end else begin : gen_power
    // Roles and power states of the registers that an instruction accesses in the main register file itself.
    roles_t              push_roles [P];
    logic [P-1:0]        read_valid;
    logic [PcW-1:0]      read_pc    [P];
    roles_t              read_roles [P];
    power_event_t        power_event;
    power_wait_event_t   wait_event;
    access_table_event_t table_event;
    power_count_event_t  count_event;

    assign read_valid = operand_stage_dispatch_valid & dispatcher_dispatch_ready;

    always_comb begin : accesses
      // Not all fields are read: some are only for the execution units.
      // verilator lint_off UNUSEDSIGNAL
      instruction_t read;
      // verilator lint_on UNUSEDSIGNAL
      for (int unsigned p = 0; p < P; p++) begin
        read          = operand_stage_dispatch_instruction[p];
        push_roles[p] = main_roles(Organisation, Sizes, decode_roles[p], fetch_decode_op[p],
                                   fetch_decode_ctl[p]);
        read_pc[p]    = read.pc;
        read_roles[p] = main_roles(Organisation, Sizes, read.roles, read.op, read.ctl);
      end
    end

    if (keeps_states(Organisation)) begin : gen_states_inside
      // The accesses are not known at issue: the register file itself waits until its words are ON.
      assign power_states_clear = hierarchy_scoreboard_clear;
      assign power_event        = operand_stage_power_event;
      assign wait_event         = operand_stage_power_wait_event;
    end else begin : gen_states
      roles_t                   head_roles  [Warps];
      roles_t                   set_roles   [P];
      logic [ControlPowerW-1:0] set_states  [P];
      logic [ControlPowerW-1:0] read_states [P];

      always_comb begin
        for (int unsigned w = 0; w < Warps; w++) begin
          head_roles[w] = main_roles(Organisation, Sizes, instruction_buffer_head_roles[w],
                                     instruction_buffer_head_op[w], instruction_buffer_head_ctl[w]);
        end
      end

      always_comb begin : accesses
        // Not all fields are read: some are only for the execution units.
        // verilator lint_off UNUSEDSIGNAL
        instruction_t set;
        instruction_t read;
        // verilator lint_on UNUSEDSIGNAL
        for (int unsigned p = 0; p < P; p++) begin
          set            = issue_stage_instruction[p];
          read           = operand_stage_dispatch_instruction[p];
          set_roles[p]   = main_roles(Organisation, Sizes, set.roles, set.op, set.ctl);
          set_states[p]  = main_states(set.roles, set_roles[p], set.ctl);
          read_states[p] = main_states(read.roles, read_roles[p], read.ctl);
        end
      end

      power_states #(
        .Warps     (Warps),
        .IssuePorts(IssuePorts)
      ) u_power_states (
        .clk_i,
        .rst_ni,
        .cfg_i             (cfg_i.power),
        .clear_i           (hierarchy_scoreboard_clear),
        .head_roles_i      (head_roles),
        .set_valid_i       (issue_stage_operand_valid),
        .set_warp_i        (issue_stage_warp),
        .set_roles_i       (set_roles),
        .set_states_i      (set_states),
        .read_valid_i      (read_valid),
        .read_warp_i       (operand_stage_dispatch_warp),
        .read_roles_i      (read_roles),
        .read_states_i     (read_states),
        .read_keep_i       (access_table_read_keep),
        .reg_valid_i       (writeback_reg_valid),
        .reg_warp_i        (writeback_reg_warp),
        .reg_i             (writeback_reg),
        .reg_keep_i        (access_table_reg_keep),
        .alive_i           (simt_stack_alive),
        .idle_i            (scoreboard_idle),
        .start_valid_i     (block_launcher_start_valid),
        .start_warp_i      (block_launcher_start_warp),
        .launch_valid_i    (launch_valid_i & ~busy_o),
        .launch_registers_i(launch_registers_i),
        .clear_o           (power_states_clear),
        .event_o           (power_event),
        .wait_event_o      (wait_event)
      );
    end

    access_table #(
      .Warps       (Warps),
      .IssuePorts  (IssuePorts),
      .TableEntries(PowerEntries)
    ) u_access_table (
      .clk_i,
      .rst_ni,
      .push_valid_i (fetch_decode_valid),
      .push_warp_i  (fetch_decode_warp),
      .push_pc_i    (fetch_decode_pc),
      .push_roles_i (push_roles),
      .issue_valid_i(warp_scheduler_issue_valid),
      .issue_warp_i (warp_scheduler_issue_warp),
      .issue_pc_i   (issue_pc),
      .issue_stays_i(issue_stage_operand_valid),
      .read_valid_i (read_valid),
      .read_warp_i  (operand_stage_dispatch_warp),
      .read_pc_i    (read_pc),
      .read_roles_i (read_roles),
      .reg_valid_i  (writeback_reg_valid),
      .reg_warp_i   (writeback_reg_warp),
      .reg_i        (writeback_reg),
      .pred_valid_i (writeback_pred_valid),
      .pred_warp_i  (writeback_pred_warp),
      .pred_i       (writeback_pred),
      .read_keep_o  (access_table_read_keep),
      .reg_keep_o   (access_table_reg_keep),
      .event_o      (table_event)
    );

    assign count_event      = {wait_event, table_event};
    assign power_event_o[0] = DesignEventW'(power_event);
    assign power_event_o[1] = DesignEventW'(count_event);
  end

  // A head also waits for its lock on shared registers, or on shared scratchpad memory.
  if (Share == ShareNothing) begin : gen_no_share
    assign share_locks_clear    = power_states_clear;
    assign share_locks_lead     = '0;
    assign share_locks_last     = '0;
    assign share_throttle_allow = 1'b1;
    assign share_event_o        = '0;
  end else if (Share == ShareScratchpad) begin : gen_scratchpad
    scratchpad_event_t scratchpad_event;

    scratchpad_locks #(
      .Warps     (Warps),
      .IssuePorts(IssuePorts)
    ) u_scratchpad_locks (
      .clk_i,
      .rst_ni,
      .cfg_i           ({cfg_i.share_mark, cfg_i.share}),
      .clear_i         (power_states_clear),
      .head_op_i       (instruction_buffer_head_op),
      .head_ctl_i      (instruction_buffer_head_ctl),
      .head_roles_i    (instruction_buffer_head_roles),
      .issue_valid_i   (warp_scheduler_issue_valid),
      .issue_warp_i    (warp_scheduler_issue_warp),
      .set_valid_i     (issue_stage_operand_valid),
      .answer_valid_i  (address_unit_answer_valid),
      .answer_release_i(address_unit_answer_release),
      .answer_warp_i   (address_unit_warp),
      .answer_shared_i (address_unit_answer_shared),
      .answer_mask_i   (address_unit_answer_mask),
      .live_i          (simt_stack_live),
      .idle_i          (scoreboard_idle),
      .start_valid_i   (block_launcher_start_valid),
      .start_warp_i    (block_launcher_start_warp),
      .layout_i        (block_launcher_layout),
      .end_warps_i     (block_launcher_end_warps),
      .slot_i          (block_launcher_slot),
      .slot_busy_i     (block_launcher_slot_busy),
      .slot_young_i    (block_launcher_slot_young),
      .place_warp_i    (address_unit_place_warp),
      .place_released_o(scratchpad_locks_place_released),
      .clear_o         (share_locks_clear),
      .probe_o         (scratchpad_locks_probe),
      .lead_o          (share_locks_lead),
      .last_o          (share_locks_last),
      .event_o         (scratchpad_event)
    );

    assign share_throttle_allow = 1'b1;
    assign share_event_o        = DesignEventW'(scratchpad_event);
  end else begin : gen_share
    share_count_event_t share_event;

    share_locks #(
      .Warps     (Warps),
      .IssuePorts(IssuePorts)
    ) u_share_locks (
      .clk_i,
      .rst_ni,
      .cfg_i        (cfg_i.share),
      .clear_i      (power_states_clear),
      .head_roles_i (instruction_buffer_head_roles),
      .head_op_i    (instruction_buffer_head_op),
      .issue_valid_i(warp_scheduler_issue_valid),
      .issue_warp_i (warp_scheduler_issue_warp),
      .alive_i      (simt_stack_alive),
      .idle_i       (scoreboard_idle),
      .layout_i     (block_launcher_layout),
      .end_warps_i  (block_launcher_end_warps),
      .slot_i       (block_launcher_slot),
      .slot_busy_i  (block_launcher_slot_busy),
      .slot_young_i (block_launcher_slot_young),
      .allow_i      (share_throttle_allow),
      .clear_o      (share_locks_clear),
      .lead_o       (share_locks_lead),
      .last_o       (share_locks_last),
      .event_o      (share_event.locks)
    );

    if (Throttle == 0) begin : gen_no_throttle
      assign share_throttle_allow = 1'b1;
      assign share_event.throttle = '0;
    end else begin : gen_throttle
      share_throttle #(
        .Period   (Throttle),
        .Reference(Reference)
      ) u_share_throttle (
        .clk_i,
        .rst_ni,
        .stall_i          (event_o.stall_collector + event_o.stall_other),
        .reference_valid_i(throttle_reference_valid_i),
        .reference_i      (throttle_reference_i),
        .allow_o          (share_throttle_allow),
        .event_o          (share_event.throttle)
      );
    end

    assign share_event_o = DesignEventW'(share_event);
  end

  if (Share != ShareScratchpad) begin : gen_no_probes
    assign scratchpad_locks_probe          = '0;
    assign scratchpad_locks_place_released = 1'b0;
  end

  if (Active == 0) begin : gen_single
    warp_scheduler #(
      .Warps     (Warps),
      .IssuePorts(IssuePorts),
      .Candidates(32'(takes_candidates(Organisation))),
      .Classes   (32'(Share != ShareNothing))
    ) u_warp_scheduler (
      .clk_i,
      .rst_ni,
      .cfg_i            (cfg_i.scheduler),
      .clear_i          (share_locks_clear),
      .operand_i        (scoreboard_operand),
      .branch_i         (scoreboard_branch),
      .ready_i          (operand_stage_issue_ready),
      .stop_i           (fault_o),
      .start_valid_i    (block_launcher_start_valid),
      .start_warp_i     (block_launcher_start_warp),
      .alive_i          (simt_stack_alive),
      .lead_i           (share_locks_lead),
      .last_i           (share_locks_last),
      .candidate_issue_i(operand_stage_candidate_issue),
      .issue_valid_o    (warp_scheduler_issue_valid),
      .issue_warp_o     (warp_scheduler_issue_warp),
      .pop_o            (warp_scheduler_pop),
      .candidate_valid_o(warp_scheduler_candidate_valid),
      .candidate_warp_o (warp_scheduler_candidate_warp)
    );

    // There are no slots: every warp may issue at any time, and nothing is flushed.
    assign warp_scheduler_active     = '1;
    assign warp_scheduler_issue_slot = '{default: '0};
    assign warp_scheduler_slot_valid = '0;
    assign warp_scheduler_slot_warp  = '{default: '0};
    assign warp_scheduler_flush      = '0;
    assign warp_scheduler_drop       = '0;
    assign scheduler_event_o         = '0;
  end else if (Alternate != 0) begin : gen_alternating
    logic [Warps-1:0]   mark;  // heads marked by the compiler: they need a value from memory
    alternating_event_t alternating_event;

    always_comb begin
      for (int unsigned w = 0; w < Warps; w++) begin
        mark[w] = instruction_buffer_head_ctl[w][ControlDeschedule];
      end
    end

    alternating_scheduler #(
      .Warps(Warps)
    ) u_alternating_scheduler (
      .clk_i,
      .rst_ni,
      .cfg_i           (cfg_i.patience),
      .clear_i         (share_locks_clear),
      .operand_i       (scoreboard_operand),
      .head_valid_i    (instruction_buffer_head_valid),
      .mark_i          (mark),
      .ready_i         (operand_stage_issue_ready[0]),
      .stop_i          (fault_o),
      .alive_i         (simt_stack_alive),
      .held_i          (barrier_unit_held),
      .set_valid_i     (issue_stage_operand_valid[0]),
      .set_d_i         (set_d[0]),
      .set_long_i      (long_latency(issue_stage_instruction[0].op, set_d[0])),
      .dispatch_valid_i(operand_stage_dispatch_valid[0] && dispatcher_dispatch_ready[0]),
      .dispatch_warp_i (operand_stage_dispatch_warp[0]),
      .reg_valid_i     (writeback_reg_valid[0]),
      .reg_warp_i      (writeback_reg_warp[0]),
      .reg_i           (writeback_reg[0]),
      .flush_done_i    (operand_stage_flush_done),
      .issue_valid_o   (warp_scheduler_issue_valid[0]),
      .issue_warp_o    (warp_scheduler_issue_warp[0]),
      .pop_o           (warp_scheduler_pop),
      .issue_slot_o    (warp_scheduler_issue_slot[0]),
      .active_o        (warp_scheduler_active),
      .slot_valid_o    (warp_scheduler_slot_valid),
      .slot_warp_o     (warp_scheduler_slot_warp),
      .flush_o         (warp_scheduler_flush),
      .drop_o          (warp_scheduler_drop),
      .event_o         (alternating_event)
    );

    // The next warp is known only when the active one leaves its slot: there is no candidate.
    assign warp_scheduler_candidate_valid = '0;
    assign warp_scheduler_candidate_warp  = '{default: '0};
    assign scheduler_event_o              = DesignEventW'(alternating_event);
  end else begin : gen_two_level
    logic [Warps-1:0] mark;      // heads marked by the compiler: they need a value from memory
    logic [P-1:0]     set_long;
    two_level_event_t two_level_event;

    always_comb begin
      for (int unsigned w = 0; w < Warps; w++) begin
        mark[w] = instruction_buffer_head_ctl[w][ControlDeschedule];
      end
      for (int unsigned p = 0; p < P; p++) begin
        set_long[p] = long_latency(issue_stage_instruction[p].op, set_d[p]);
      end
    end

    two_level_scheduler #(
      .Warps     (Warps),
      .IssuePorts(IssuePorts),
      .Active    (Active),
      .Candidates(32'(takes_candidates(Organisation)))
    ) u_two_level_scheduler (
      .clk_i,
      .rst_ni,
      .cfg_i            ({cfg_i.handover, cfg_i.patience, cfg_i.stay, cfg_i.scheduler}),
      .clear_i          (share_locks_clear),
      .operand_i        (scoreboard_operand),
      .branch_i         (scoreboard_branch),
      .head_valid_i     (instruction_buffer_head_valid),
      .mark_i           (mark),
      .ready_i          (operand_stage_issue_ready),
      .stop_i           (fault_o),
      .alive_i          (simt_stack_alive),
      .held_i           (barrier_unit_held),
      .set_valid_i      (issue_stage_operand_valid),
      .set_d_i          (set_d),
      .set_long_i       (set_long),
      .dispatch_valid_i (operand_stage_dispatch_valid & dispatcher_dispatch_ready),
      .dispatch_warp_i  (operand_stage_dispatch_warp),
      .reg_valid_i      (writeback_reg_valid),
      .reg_warp_i       (writeback_reg_warp),
      .reg_i            (writeback_reg),
      .flush_done_i     (operand_stage_flush_done),
      .void_i           (operand_stage_void),
      .candidate_issue_i(operand_stage_candidate_issue),
      .issue_valid_o    (warp_scheduler_issue_valid),
      .issue_warp_o     (warp_scheduler_issue_warp),
      .pop_o            (warp_scheduler_pop),
      .issue_slot_o     (warp_scheduler_issue_slot),
      .active_o         (warp_scheduler_active),
      .slot_valid_o     (warp_scheduler_slot_valid),
      .slot_warp_o      (warp_scheduler_slot_warp),
      .flush_o          (warp_scheduler_flush),
      .drop_o           (warp_scheduler_drop),
      .candidate_valid_o(warp_scheduler_candidate_valid),
      .candidate_warp_o (warp_scheduler_candidate_warp),
      .event_o          (two_level_event)
    );

    assign scheduler_event_o = DesignEventW'(two_level_event);
  end

  issue_stage #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_issue_stage (
    .issue_valid_i  (warp_scheduler_issue_valid),
    .issue_warp_i   (warp_scheduler_issue_warp),
    .head_pc_i      (instruction_buffer_head_pc),
    .head_op_i      (instruction_buffer_head_op),
    .head_ctl_i     (instruction_buffer_head_ctl),
    .head_roles_i   (instruction_buffer_head_roles),
    .probe_i        (scratchpad_locks_probe),
    .mask_i         (simt_stack_mask),
    .live_i         (simt_stack_live),
    .guard_i        (predicate_file_guard),
    .s_i            (predicate_file_s),
    .t_i            (predicate_file_t),
    .read_guard_o   (issue_stage_read_guard),
    .read_s_o       (issue_stage_read_s),
    .read_t_o       (issue_stage_read_t),
    .operand_valid_o(issue_stage_operand_valid),
    .warp_o         (issue_stage_warp),
    .instruction_o  (issue_stage_instruction),
    .exec_o         (issue_stage_exec),
    .kind_o         (issue_stage_kind),
    .stop_o         (issue_stage_stop),
    .target_o       (issue_stage_target),
    .join_o         (issue_stage_join),
    .hold_valid_o   (issue_stage_hold_valid),
    .fault_valid_o  (issue_stage_fault_valid),
    .fault_cause_o  (issue_stage_fault_cause),
    .fault_value_o  (issue_stage_fault_value)
  );

  predicate_file #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_predicate_file (
    .clk_i,
    .rst_ni,
    .read_warp_i  (warp_scheduler_issue_warp),
    .read_guard_i (issue_stage_read_guard),
    .read_s_i     (issue_stage_read_s),
    .read_t_i     (issue_stage_read_t),
    .guard_o      (predicate_file_guard),
    .s_o          (predicate_file_s),
    .t_o          (predicate_file_t),
    .write_valid_i(writeback_pred_valid),
    .write_warp_i (writeback_pred_warp),
    .write_pred_i (writeback_pred),
    .write_mask_i (writeback_pred_mask),
    .write_data_i (writeback_pred_data)
  );

  simt_stack #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_simt_stack (
    .clk_i,
    .rst_ni,
    .start_valid_i  (block_launcher_start_valid),
    .start_warp_i   (block_launcher_start_warp),
    .start_mask_i   (block_launcher_start_mask),
    .issue_valid_i  (issue_advance),
    .issue_warp_i   (warp_scheduler_issue_warp),
    .issue_pc_i     (issue_pc),
    .issue_kind_i   (issue_stage_kind),
    .issue_stop_i   (issue_stage_stop),
    .issue_mask_i   (issue_stage_exec),
    .issue_target_i (issue_stage_target),
    .issue_join_i   (issue_stage_join),
    .mask_o         (simt_stack_mask),
    .live_o         (simt_stack_live),
    .reconvergence_o(simt_stack_reconvergence),
    .alive_o        (simt_stack_alive),
    .resume_valid_o (simt_stack_resume_valid),
    .resume_warp_o  (simt_stack_resume_warp),
    .resume_pc_o    (simt_stack_resume_pc)
  );

  // ------------------------------------------------------------------ operands
  roles_t       candidate_roles [P];  // roles of the heads that probably issue next
  logic [P-1:0] write_next;           // the head of the result's warp reads the result's register

  always_comb begin
    for (int unsigned p = 0; p < P; p++) begin
      candidate_roles[p] =
          instruction_buffer_head_roles[WarpIdxW'(warp_scheduler_candidate_warp[p])];
    end
  end

  always_comb begin : read_next
    logic [WarpIdxW-1:0] warp;
    for (int unsigned p = 0; p < P; p++) begin
      warp          = WarpIdxW'(writeback_write[p].warp);
      write_next[p] = instruction_buffer_head_valid[warp] &&
                      reads_register(instruction_buffer_head_roles[warp], writeback_write[p].d);
    end
  end

  // Warps that have ended, for a design that keeps the power states of its words.
  always_comb begin
    operand_stage_over              = '0;
    operand_stage_over[Warps-1:0] = ~simt_stack_alive & scoreboard_idle;
  end

  operand_stage #(
    .Banks       (Banks),
    .DualPort    (DualPort),
    .Collectors  (Collectors),
    .IssuePorts  (IssuePorts),
    .Depth       (Depth),
    .Active      (Active),
    .Organisation(Organisation),
    .Sizes       (Sizes),
    .Unified     (Unified)
  ) u_operand_stage (
    .clk_i,
    .rst_ni,
    .cfg_i                 (cfg_i.read_order),
    .design_cfg_i,
    .rows_i                (block_launcher_rows),
    .layout_i              (block_launcher_layout),
    .issue_valid_i         (issue_stage_operand_valid),
    .issue_ready_o         (operand_stage_issue_ready),
    .issue_warp_i          (issue_stage_warp),
    .issue_mask_i          (issue_stage_exec),
    .issue_instruction_i   (issue_stage_instruction),
    .issue_slot_i          (warp_scheduler_issue_slot),
    .issue_end_i           (issue_end),
    .write_valid_i         (writeback_write_valid),
    .write_ready_o         (operand_stage_write_ready),
    .write_i               (writeback_write),
    .write_data_i          (writeback_write_data),
    .write_next_i          (write_next),
    .slot_valid_i          (warp_scheduler_slot_valid),
    .slot_warp_i           (warp_scheduler_slot_warp),
    .flush_i               (warp_scheduler_flush),
    .drop_i                (warp_scheduler_drop),
    .flush_done_o          (operand_stage_flush_done),
    .void_o                (operand_stage_void),
    .wait_o                (operand_stage_wait),
    .candidate_valid_i     (warp_scheduler_candidate_valid),
    .candidate_warp_i      (warp_scheduler_candidate_warp),
    .candidate_roles_i     (candidate_roles),
    .candidate_issue_o     (operand_stage_candidate_issue),
    .dispatch_keep_i       (access_table_read_keep),
    .over_i                (operand_stage_over),
    .power_event_o         (operand_stage_power_event),
    .power_wait_event_o    (operand_stage_power_wait_event),
    .clear_i               (block_launcher_fresh),
    .spare_i               (block_launcher_spare),
    .write_done_o          (operand_stage_write_done),
    .written_o             (operand_stage_written),
    .dispatch_valid_o      (operand_stage_dispatch_valid),
    .dispatch_ready_i      (dispatcher_dispatch_ready),
    .dispatch_warp_o       (operand_stage_dispatch_warp),
    .dispatch_mask_o       (operand_stage_dispatch_mask),
    .dispatch_instruction_o(operand_stage_dispatch_instruction),
    .dispatch_src_valid_o  (operand_stage_dispatch_src_valid),
    .dispatch_data_o       (operand_stage_dispatch_data),
    .event_o               (mrf_event_o),
    .memory_read_i         (unified_arbiter_read),
    .memory_read_entry_i   (unified_arbiter_read_entry),
    .memory_write_i        (unified_arbiter_write),
    .memory_write_entry_i  (unified_arbiter_write_entry),
    .memory_write_bytes_i  (unified_arbiter_write_bytes),
    .memory_write_data_i   (unified_arbiter_write_data),
    .memory_data_column_i  (unified_arbiter_data_column),
    .memory_read_ready_o   (operand_stage_memory_read_ready),
    .memory_write_ready_o  (operand_stage_memory_write_ready),
    .memory_data_o         (operand_stage_memory_data),
    .design_event_o
  );

  // ------------------------------------------------------------------ execute
  dispatcher #(
    .IssuePorts(IssuePorts)
  ) u_dispatcher (
    .clk_i,
    .rst_ni,
    .dispatch_valid_i      (operand_stage_dispatch_valid),
    .dispatch_instruction_i(operand_stage_dispatch_instruction),
    .alu_ready_i           (alu_ready),
    .fp_ready_i            (fp_unit_ready),
    .memory_ready_i        (address_unit_in_ready),
    .sfu_ready_i           (sfu_ready),
    .constant_ready_i      (constant_unit_ready),
    .dispatch_ready_o      (dispatcher_dispatch_ready),
    .alu_valid_o           (dispatcher_alu_valid),
    .fp_valid_o            (dispatcher_fp_valid),
    .memory_valid_o        (dispatcher_memory_valid),
    .memory_port_o         (dispatcher_memory_port),
    .sfu_valid_o           (dispatcher_sfu_valid),
    .sfu_port_o            (dispatcher_sfu_port),
    .constant_valid_o      (dispatcher_constant_valid),
    .constant_port_o       (dispatcher_constant_port),
    .barrier_valid_o       (dispatcher_barrier_valid),
    .barrier_port_o        (dispatcher_barrier_port)
  );

  for (genvar p = 0; p < P; p++) begin : gen_port
    logic             alu_result_valid;
    logic [WarpW-1:0] alu_result_warp          [1];
    logic [Lanes-1:0] alu_result_mask          [1];
    logic             alu_result_reg_valid;
    logic [RegW-1:0]  alu_result_reg           [1];
    logic [DataW-1:0] alu_result_data          [1];
    logic             alu_result_pred_valid;
    logic [PredW-1:0] alu_result_pred          [1];
    logic [Lanes-1:0] alu_result_pred_data     [1];
    logic             alu_queue_ready;
    logic             fp_unit_result_valid;
    logic [WarpW-1:0] fp_unit_result_warp      [1];
    logic [Lanes-1:0] fp_unit_result_mask      [1];
    logic             fp_unit_result_reg_valid;
    logic [RegW-1:0]  fp_unit_result_reg       [1];
    logic [DataW-1:0] fp_unit_result_data      [1];
    logic             fp_unit_result_pred_valid;
    logic [PredW-1:0] fp_unit_result_pred      [1];
    logic [Lanes-1:0] fp_unit_result_pred_data [1];
    logic             fp_queue_ready;
    logic [DataW-1:0] operands                 [Operands];

    always_comb begin
      for (int unsigned k = 0; k < Operands; k++) begin
        operands[k] = operand_stage_dispatch_data[Operands*p+k];
      end
    end

    alu u_alu (
      .clk_i,
      .rst_ni,
      .valid_i            (dispatcher_alu_valid[p]),
      .ready_o            (alu_ready[p]),
      .warp_i             (operand_stage_dispatch_warp[p]),
      .mask_i             (operand_stage_dispatch_mask[p]),
      .instruction_i      (operand_stage_dispatch_instruction[p]),
      .src_valid_i        (operand_stage_dispatch_src_valid[Operands*p +: Operands]),
      .data_i             (operands),
      .result_valid_o     (alu_result_valid),
      .result_ready_i     (alu_queue_ready),
      .result_warp_o      (alu_result_warp[0]),
      .result_mask_o      (alu_result_mask[0]),
      .result_reg_valid_o (alu_result_reg_valid),
      .result_reg_o       (alu_result_reg[0]),
      .result_data_o      (alu_result_data[0]),
      .result_pred_valid_o(alu_result_pred_valid),
      .result_pred_o      (alu_result_pred[0]),
      .result_pred_data_o (alu_result_pred_data[0]),
      .fault_valid_o      (alu_fault_valid[p]),
      .fault_warp_o       (alu_fault_warp[p]),
      .fault_value_o      (alu_fault_value[p])
    );

    result_queue #(
      .QueueDepth(AluQueueDepth),
      .Sources   (1)
    ) u_alu_queue (
      .clk_i,
      .rst_ni,
      .cfg_i            ({1'b0, cfg_i.alu_latency}),
      .push_valid_i     (alu_result_valid & alu_queue_ready),
      .push_warp_i      (alu_result_warp),
      .push_mask_i      (alu_result_mask),
      .push_reg_valid_i (alu_result_reg_valid),
      .push_reg_i       (alu_result_reg),
      .push_data_i      (alu_result_data),
      .push_pred_valid_i(alu_result_pred_valid),
      .push_pred_i      (alu_result_pred),
      .push_pred_data_i (alu_result_pred_data),
      .push_done_i      (1'b1),
      .ready_o          (alu_queue_ready),
      // not read: an ALU only waits for a free place (ready_o)
      // verilator lint_off PINCONNECTEMPTY
      .room_o           (),
      // verilator lint_on PINCONNECTEMPTY
      .head_valid_o     (alu_queue_head_valid[p]),
      .head_result_o    (alu_queue_head_result[p]),
      .head_reg_valid_o (alu_queue_head_reg_valid[p]),
      .head_data_o      (alu_queue_head_data[p]),
      .pop_i            (writeback_alu_pop[p])
    );

    fp_unit u_fp_unit (
      .clk_i,
      .rst_ni,
      .valid_i            (dispatcher_fp_valid[p]),
      .ready_o            (fp_unit_ready[p]),
      .warp_i             (operand_stage_dispatch_warp[p]),
      .mask_i             (operand_stage_dispatch_mask[p]),
      .instruction_i      (operand_stage_dispatch_instruction[p]),
      .src_valid_i        (operand_stage_dispatch_src_valid[Operands*p +: Operands]),
      .data_i             (operands),
      .result_valid_o     (fp_unit_result_valid),
      .result_ready_i     (fp_queue_ready),
      .result_warp_o      (fp_unit_result_warp[0]),
      .result_mask_o      (fp_unit_result_mask[0]),
      .result_reg_valid_o (fp_unit_result_reg_valid),
      .result_reg_o       (fp_unit_result_reg[0]),
      .result_data_o      (fp_unit_result_data[0]),
      .result_pred_valid_o(fp_unit_result_pred_valid),
      .result_pred_o      (fp_unit_result_pred[0]),
      .result_pred_data_o (fp_unit_result_pred_data[0])
    );

    result_queue #(
      .QueueDepth(FpQueueDepth),
      .Sources   (1)
    ) u_fp_queue (
      .clk_i,
      .rst_ni,
      .cfg_i            (cfg_i.fp_latency),
      .push_valid_i     (fp_unit_result_valid & fp_queue_ready),
      .push_warp_i      (fp_unit_result_warp),
      .push_mask_i      (fp_unit_result_mask),
      .push_reg_valid_i (fp_unit_result_reg_valid),
      .push_reg_i       (fp_unit_result_reg),
      .push_data_i      (fp_unit_result_data),
      .push_pred_valid_i(fp_unit_result_pred_valid),
      .push_pred_i      (fp_unit_result_pred),
      .push_pred_data_i (fp_unit_result_pred_data),
      .push_done_i      (1'b1),
      .ready_o          (fp_queue_ready),
      // not read: this unit only waits for a free place, by stalling its stages
      // verilator lint_off PINCONNECTEMPTY
      .room_o           (),
      // verilator lint_on PINCONNECTEMPTY
      .head_valid_o     (fp_queue_head_valid[p]),
      .head_result_o    (fp_queue_head_result[p]),
      .head_reg_valid_o (fp_queue_head_reg_valid[p]),
      .head_data_o      (fp_queue_head_data[p]),
      .pop_i            (writeback_fp_pop[p])
    );
  end

  // Whether the instruction is on the last port; with one issue port the port number is 0.
  logic sfu_from_last;
  assign sfu_from_last = (P > 1) & dispatcher_sfu_port;

  sfu u_sfu (
    .clk_i,
    .rst_ni,
    .valid_i           (dispatcher_sfu_valid),
    .ready_o           (sfu_ready),
    .warp_i            (operand_stage_dispatch_warp[sfu_from_last ? P-1 : 0]),
    .mask_i            (operand_stage_dispatch_mask[sfu_from_last ? P-1 : 0]),
    .instruction_i     (operand_stage_dispatch_instruction[sfu_from_last ? P-1 : 0]),
    .src_valid_i       (operand_stage_dispatch_src_valid[sfu_from_last ? Operands*(P-1) : 0]),
    .data_i            (operand_stage_dispatch_data[sfu_from_last ? Operands*(P-1) : 0]),
    .result_valid_o    (sfu_result_valid),
    .result_ready_i    (sfu_queue_ready),
    .result_warp_o     (sfu_result_warp[0]),
    .result_mask_o     (sfu_result_mask[0]),
    .result_reg_valid_o(sfu_result_reg_valid),
    .result_reg_o      (sfu_result_reg[0]),
    .result_data_o     (sfu_result_data[0])
  );

  logic [PredW-1:0] no_pred      [1];
  logic [Lanes-1:0] no_pred_data [1];
  assign no_pred      = '{'0};
  assign no_pred_data = '{'0};

  result_queue #(
    .QueueDepth(SfuQueueDepth),
    .Sources   (1)
  ) u_sfu_queue (
    .clk_i,
    .rst_ni,
    .cfg_i            (cfg_i.sfu_latency),
    .push_valid_i     (sfu_result_valid & sfu_queue_ready),
    .push_warp_i      (sfu_result_warp),
    .push_mask_i      (sfu_result_mask),
    .push_reg_valid_i (sfu_result_reg_valid),
    .push_reg_i       (sfu_result_reg),
    .push_data_i      (sfu_result_data),
    .push_pred_valid_i(1'b0),
    .push_pred_i      (no_pred),
    .push_pred_data_i (no_pred_data),
    .push_done_i      (1'b1),
    .ready_o          (sfu_queue_ready),
    // not read: this unit only waits for a free place, by stalling its stages
    // verilator lint_off PINCONNECTEMPTY
    .room_o           (),
    // verilator lint_on PINCONNECTEMPTY
    .head_valid_o     (sfu_queue_head_valid),
    .head_result_o    (sfu_queue_head_result),
    .head_reg_valid_o (sfu_queue_head_reg_valid),
    .head_data_o      (sfu_queue_head_data),
    .pop_i            (writeback_sfu_pop)
  );

  // Results of constants and special registers, in the order of the queue's sources. S2R serves all lanes
  // at once, so its result is always the last of its instruction.
  logic constant_from_last;
  assign constant_from_last = (P > 1) & dispatcher_constant_port;

  constant_unit #(
    .ConstWords(ConstWords)
  ) u_constant_unit (
    .clk_i,
    .rst_ni,
    .valid_i          (dispatcher_constant_valid),
    .ready_o          (constant_unit_ready),
    .warp_i           (operand_stage_dispatch_warp[constant_from_last ? P-1 : 0]),
    .mask_i           (operand_stage_dispatch_mask[constant_from_last ? P-1 : 0]),
    .instruction_i    (operand_stage_dispatch_instruction[constant_from_last ? P-1 : 0]),
    .src_valid_i      (operand_stage_dispatch_src_valid[constant_from_last ? Operands*(P-1) : 0]),
    .data_i           (operand_stage_dispatch_data[constant_from_last ? Operands*(P-1) : 0]),
    .lanes_o          (constant_unit_lanes),
    .busy_o           (constant_unit_busy),
    .constant_valid_o (constant_unit_constant_valid),
    .special_valid_o  (constant_unit_special_valid),
    .constant_served_i(constant_memory_direct_served),
    .special_served_i (special_registers_served),
    .last_o           (constant_unit_last),
    .warp_o           (constant_unit_warp),
    .size_o           (constant_unit_size),
    .signed_o         (constant_unit_signed),
    .source_o         (constant_unit_source),
    .reg_valid_o      (constant_unit_reg_valid),
    .reg_o            (constant_unit_reg),
    .addr_o           (constant_unit_addr),
    .fault_valid_o    (constant_unit_fault_valid),
    .fault_warp_o     (constant_unit_fault_warp),
    .fault_cause_o    (constant_unit_fault_cause),
    .fault_value_o    (constant_unit_fault_value)
  );

  logic [WarpW-1:0] constant_warp      [ConstantSources];
  logic [Lanes-1:0] constant_mask      [ConstantSources];
  logic [RegW-1:0]  constant_reg       [ConstantSources];
  logic [DataW-1:0] constant_data      [ConstantSources];
  logic [PredW-1:0] constant_pred      [ConstantSources];
  logic [Lanes-1:0] constant_pred_data [ConstantSources];

  assign constant_warp      = '{constant_memory_direct_result_warp, special_registers_result_warp};
  assign constant_mask      = '{constant_memory_direct_result_mask, special_registers_result_mask};
  assign constant_reg       = '{constant_memory_direct_result_reg, special_registers_result_reg};
  assign constant_data      = '{constant_memory_direct_result_data, special_registers_result_data};
  assign constant_pred      = '{NoPred, NoPred};
  assign constant_pred_data = '{'0, '0};

  result_queue #(
    .QueueDepth(ConstantQueueDepth),
    .Sources   (ConstantSources)
  ) u_constant_queue (
    .clk_i,
    .rst_ni,
    .cfg_i            (cfg_i.fp_latency),
    .push_valid_i     ({special_registers_result_valid, constant_memory_direct_result_valid}),
    .push_warp_i      (constant_warp),
    .push_mask_i      (constant_mask),
    .push_reg_valid_i ({special_registers_result_reg_valid,
                        constant_memory_direct_result_reg_valid}),
    .push_reg_i       (constant_reg),
    .push_data_i      (constant_data),
    .push_pred_valid_i('0),
    .push_pred_i      (constant_pred),
    .push_pred_data_i (constant_pred_data),
    .push_done_i      ({1'b1, constant_memory_direct_result_done}),
    // not read: a unit that has seen room_o always finds a free place
    // verilator lint_off PINCONNECTEMPTY
    .ready_o          (),
    // verilator lint_on PINCONNECTEMPTY
    .room_o           (constant_queue_room),
    .head_valid_o     (constant_queue_head_valid),
    .head_result_o    (constant_queue_head_result),
    .head_reg_valid_o (constant_queue_head_reg_valid),
    .head_data_o      (constant_queue_head_data),
    .pop_i            (writeback_constant_pop)
  );

  // The units behind the memory pipeline, in the order of the side queue's sources. The lane
  // crossbar serves all lanes at once, so its result is always the last of its instruction.
  logic [SideSources-1:0] side_valid;
  logic [WarpW-1:0]       side_warp      [SideSources];
  logic [Lanes-1:0]       side_mask      [SideSources];
  logic [SideSources-1:0] side_reg_valid;
  logic [RegW-1:0]        side_reg       [SideSources];
  logic [DataW-1:0]       side_data      [SideSources];
  logic [SideSources-1:0] side_pred_valid;
  logic [PredW-1:0]       side_pred      [SideSources];
  logic [Lanes-1:0]       side_pred_data [SideSources];
  logic [SideSources-1:0] side_done;

  assign side_valid = {lane_crossbar_result_valid, constant_memory_result_valid,
                       shared_memory_result_valid};
  assign side_warp = '{shared_memory_result_warp, constant_memory_result_warp,
                       lane_crossbar_result_warp};
  assign side_mask = '{shared_memory_result_mask, constant_memory_result_mask,
                       lane_crossbar_result_mask};
  assign side_reg_valid = {lane_crossbar_result_reg_valid, constant_memory_result_reg_valid,
                           shared_memory_result_reg_valid};
  assign side_reg = '{shared_memory_result_reg, constant_memory_result_reg,
                      lane_crossbar_result_reg};
  assign side_data = '{shared_memory_result_data, constant_memory_result_data,
                       lane_crossbar_result_data};
  assign side_pred_valid = {lane_crossbar_result_pred_valid, 2'b00};
  assign side_pred = '{NoPred, NoPred, lane_crossbar_result_pred};
  assign side_pred_data = '{'0, '0, lane_crossbar_result_pred_data};
  assign side_done = {1'b1, constant_memory_result_done, shared_memory_result_done};

  result_queue #(
    .QueueDepth(SideQueueDepth),
    .Sources   (SideSources)
  ) u_side_queue (
    .clk_i,
    .rst_ni,
    .cfg_i            (cfg_i.side_latency),
    .push_valid_i     (side_valid),
    .push_warp_i      (side_warp),
    .push_mask_i      (side_mask),
    .push_reg_valid_i (side_reg_valid),
    .push_reg_i       (side_reg),
    .push_data_i      (side_data),
    .push_pred_valid_i(side_pred_valid),
    .push_pred_i      (side_pred),
    .push_pred_data_i (side_pred_data),
    .push_done_i      (side_done),
    // not read: a unit that has seen room_o always finds a free place
    // verilator lint_off PINCONNECTEMPTY
    .ready_o          (),
    // verilator lint_on PINCONNECTEMPTY
    .room_o           (side_queue_room),
    .head_valid_o     (side_queue_head_valid),
    .head_result_o    (side_queue_head_result),
    .head_reg_valid_o (side_queue_head_reg_valid),
    .head_data_o      (side_queue_head_data),
    .pop_i            (writeback_side_pop)
  );

  writeback #(
    .IssuePorts(IssuePorts),
    .Taken     (32'(reports_taken(Organisation)))
  ) u_writeback (
    .clk_i,
    .rst_ni,
    .alu_valid_i      (alu_queue_head_valid),
    .alu_result_i     (alu_queue_head_result),
    .alu_reg_valid_i  (alu_queue_head_reg_valid),
    .alu_data_i       (alu_queue_head_data),
    .fp_valid_i       (fp_queue_head_valid),
    .fp_result_i      (fp_queue_head_result),
    .fp_reg_valid_i   (fp_queue_head_reg_valid),
    .fp_data_i        (fp_queue_head_data),
    .side_valid_i     (side_queue_head_valid),
    .side_result_i    (side_queue_head_result),
    .side_reg_valid_i (side_queue_head_reg_valid),
    .side_data_i      (side_queue_head_data),
    .sfu_valid_i      (sfu_queue_head_valid),
    .sfu_result_i     (sfu_queue_head_result),
    .sfu_reg_valid_i  (sfu_queue_head_reg_valid),
    .sfu_data_i       (sfu_queue_head_data),
    .constant_valid_i (constant_queue_head_valid),
    .constant_result_i(constant_queue_head_result),
    .constant_reg_valid_i(constant_queue_head_reg_valid),
    .constant_data_i  (constant_queue_head_data),
    .memory_valid_i   (memory_result_valid),
    .memory_result_i  (memory_result),
    .memory_reg_valid_i(memory_result_reg_valid),
    .memory_data_i    (memory_result_data),
    .alu_pop_o        (writeback_alu_pop),
    .fp_pop_o         (writeback_fp_pop),
    .side_pop_o       (writeback_side_pop),
    .sfu_pop_o        (writeback_sfu_pop),
    .constant_pop_o   (writeback_constant_pop),
    .memory_pop_o     (writeback_memory_pop),
    .write_valid_o    (writeback_write_valid),
    .write_ready_i    (operand_stage_write_ready),
    .write_o          (writeback_write),
    .write_data_o     (writeback_write_data),
    .write_done_i     (operand_stage_write_done),
    .written_i        (operand_stage_written),
    .pred_valid_o     (writeback_pred_valid),
    .pred_warp_o      (writeback_pred_warp),
    .pred_o           (writeback_pred),
    .pred_mask_o      (writeback_pred_mask),
    .pred_data_o      (writeback_pred_data),
    .reg_valid_o      (writeback_reg_valid),
    .reg_warp_o       (writeback_reg_warp),
    .reg_o            (writeback_reg),
    .finish_valid_o   (writeback_finish_valid),
    .finish_warp_o    (writeback_finish_warp)
  );

  lane_crossbar u_lane_crossbar (
    .clk_i,
    .rst_ni,
    .valid_i            (address_unit_shuffle_valid),
    .room_i             (side_queue_room),
    .warp_i             (address_unit_warp),
    .lanes_i            (address_unit_lanes),
    .modifiers_i        (address_unit_modifiers),
    .value_i            (address_unit_addr),
    .choice_i           (address_unit_compare),
    .reg_valid_i        (address_unit_reg_valid),
    .reg_i              (address_unit_reg),
    .pred_valid_i       (address_unit_pred_valid),
    .pred_i             (address_unit_pred),
    .served_o           (lane_crossbar_served),
    .result_valid_o     (lane_crossbar_result_valid),
    .result_warp_o      (lane_crossbar_result_warp),
    .result_mask_o      (lane_crossbar_result_mask),
    .result_reg_valid_o (lane_crossbar_result_reg_valid),
    .result_reg_o       (lane_crossbar_result_reg),
    .result_data_o      (lane_crossbar_result_data),
    .result_pred_valid_o(lane_crossbar_result_pred_valid),
    .result_pred_o      (lane_crossbar_result_pred),
    .result_pred_data_o (lane_crossbar_result_pred_data)
  );

  special_registers u_special_registers (
    .clk_i,
    .rst_ni,
    .tid_we_i          (block_launcher_tid_we),
    .tid_index_i       (block_launcher_tid_index),
    .tid_group_i       (block_launcher_tid_group),
    .tid_data_i        (block_launcher_tid_data),
    .ntid_x_i          (block_launcher_ntid_x),
    .ntid_y_i          (block_launcher_ntid_y),
    .ntid_z_i          (block_launcher_ntid_z),
    .nctaid_x_i        (block_launcher_nctaid_x),
    .nctaid_y_i        (block_launcher_nctaid_y),
    .nctaid_z_i        (block_launcher_nctaid_z),
    .dynamic_shared_i  (block_launcher_dynamic),
    .time_i,
    .valid_i           (constant_unit_special_valid),
    .room_i            (constant_queue_room),
    .warp_i            (constant_unit_warp),
    .lanes_i           (constant_unit_lanes),
    .source_i          (constant_unit_source),
    .reg_valid_i       (constant_unit_reg_valid),
    .reg_i             (constant_unit_reg),
    .index_i           (block_launcher_block_index),
    .ctaid_x_i         (block_launcher_block_x),
    .ctaid_y_i         (block_launcher_block_y),
    .ctaid_z_i         (block_launcher_block_z),
    .served_o          (special_registers_served),
    .result_valid_o    (special_registers_result_valid),
    .result_warp_o     (special_registers_result_warp),
    .result_mask_o     (special_registers_result_mask),
    .result_reg_valid_o(special_registers_result_reg_valid),
    .result_reg_o      (special_registers_result_reg),
    .result_data_o     (special_registers_result_data)
  );

  // ------------------------------------------------------------------ memory
  address_unit #(
    .IssuePorts(IssuePorts),
    .ConstWords(ConstWords),
    .Shares    (32'(Share == ShareScratchpad))
  ) u_address_unit (
    .clk_i,
    .rst_ni,
    .in_valid_i       (dispatcher_memory_valid),
    .in_port_i        (dispatcher_memory_port),
    .in_ready_o       (address_unit_in_ready),
    .in_warp_i        (operand_stage_dispatch_warp),
    .in_mask_i        (operand_stage_dispatch_mask),
    .in_instruction_i (operand_stage_dispatch_instruction),
    .in_src_valid_i   (operand_stage_dispatch_src_valid),
    .in_data_i        (operand_stage_dispatch_data),
    .place_warp_o     (address_unit_place_warp),
    .place_base_i     (block_launcher_place_base),
    .place_common_i   (block_launcher_place_common),
    .place_released_i (scratchpad_locks_place_released),
    .private_bytes_i  (block_launcher_private_bytes),
    .shared_bytes_i   (block_launcher_shared_bytes),
    .local_words_i    (block_launcher_local_words),
    .lanes_o          (address_unit_lanes),
    .busy_o           (address_unit_busy),
    .global_valid_o   (address_unit_global_valid),
    .shared_valid_o   (address_unit_shared_valid),
    .constant_valid_o (address_unit_constant_valid),
    .shuffle_valid_o  (address_unit_shuffle_valid),
    .local_o          (address_unit_local),
    .line_first_o     (address_unit_line_first),
    .global_served_i  (coalescer_served),
    .shared_served_i  (shared_memory_served),
    .constant_served_i(constant_memory_served),
    .shuffle_served_i (lane_crossbar_served),
    .last_o           (address_unit_last),
    .write_done_i     (operand_stage_write_done),
    .written_i        (operand_stage_written),
    .warp_o           (address_unit_warp),
    .kind_o           (address_unit_kind),
    .size_o           (address_unit_size),
    .signed_o         (address_unit_signed),
    .atomic_o         (address_unit_atomic),
    .modifiers_o      (address_unit_modifiers),
    .texture_o        (address_unit_texture),
    .reg_valid_o      (address_unit_reg_valid),
    .reg_o            (address_unit_reg),
    .pred_valid_o     (address_unit_pred_valid),
    .pred_o           (address_unit_pred),
    .addr_o           (address_unit_addr),
    .store_o          (address_unit_store),
    .compare_o        (address_unit_compare),
    .finish_valid_o   (address_unit_finish_valid),
    .finish_warp_o    (address_unit_finish_warp),
    .answer_valid_o   (address_unit_answer_valid),
    .answer_release_o (address_unit_answer_release),
    .answer_shared_o  (address_unit_answer_shared),
    .answer_mask_o    (address_unit_answer_mask),
    .fault_valid_o    (address_unit_fault_valid),
    .fault_warp_o     (address_unit_fault_warp),
    .fault_cause_o    (address_unit_fault_cause),
    .fault_value_o    (address_unit_fault_value)
  );

  coalescer u_coalescer (
    .clk_i,
    .rst_ni,
    .valid_i          (address_unit_global_valid),
    .local_i          (address_unit_local),
    .lanes_i          (address_unit_lanes),
    .warp_i           (address_unit_warp),
    .kind_i           (address_unit_kind),
    .size_i           (address_unit_size),
    .signed_i         (address_unit_signed),
    .atomic_i         (address_unit_atomic),
    .bypass_i         (address_unit_modifiers[ModifierBypass]),
    .texture_i        (address_unit_texture),
    .reg_valid_i      (address_unit_reg_valid),
    .reg_i            (address_unit_reg),
    .addr_i           (address_unit_addr),
    .store_i          (address_unit_store),
    .compare_i        (address_unit_compare),
    .local_words_i    (block_launcher_local_words),
    .last_i           (address_unit_last),
    .row_room_i       (memory_room),
    .served_o         (coalescer_served),
    .pass_line_o      (coalescer_pass_line),
    .row_valid_o      (coalescer_row_valid),
    .row_warp_o       (coalescer_row_warp),
    .row_mask_o       (coalescer_row_mask),
    .row_reg_valid_o  (coalescer_row_reg_valid),
    .row_reg_o        (coalescer_row_reg),
    .row_size_o       (coalescer_row_size),
    .row_signed_o     (coalescer_row_signed),
    .row_lanewise_o   (coalescer_row_lanewise),
    .row_done_o       (coalescer_row_done),
    .row_offset_o     (coalescer_row_offset),
    .mem_req_valid_o  (coalescer_mem_req_valid),
    .mem_req_ready_i  (memory_req_ready),
    .mem_req_kind_o,
    .mem_req_atomic_o,
    .mem_req_size_o,
    .bypass_o         (coalescer_bypass),
    .mem_req_answer_o,
    .mem_req_line_o,
    .mem_req_mask_o,
    .mem_req_warp_o,
    .mem_req_offset_o,
    .mem_req_data_o,
    .mem_req_compare_o
  );

  // The payload of a request always comes from the coalescer; the valid comes from the coalescer or from the cache.
  if (CacheLines == 0) begin : gen_line_table
    line_table #(
      .Rows(Rows)
    ) u_line_table (
      .clk_i,
      .rst_ni,
      .row_valid_i       (coalescer_row_valid),
      .row_warp_i        (coalescer_row_warp),
      .row_mask_i        (coalescer_row_mask),
      .row_reg_valid_i   (coalescer_row_reg_valid),
      .row_reg_i         (coalescer_row_reg),
      .row_size_i        (coalescer_row_size),
      .row_signed_i      (coalescer_row_signed),
      .row_lanewise_i    (coalescer_row_lanewise),
      .row_done_i        (coalescer_row_done),
      .row_offset_i      (coalescer_row_offset),
      .room_o            (memory_room),
      // not read: the scoreboard counts what is in flight
      // verilator lint_off PINCONNECTEMPTY
      .empty_o           (),
      // verilator lint_on PINCONNECTEMPTY
      .mem_rsp_valid_i,
      .mem_rsp_data_i,
      .mem_rsp_fault_i,
      .mem_rsp_ready_o,
      .result_valid_o    (memory_result_valid),
      .result_o          (memory_result),
      .result_reg_valid_o(memory_result_reg_valid),
      .result_data_o     (memory_result_data),
      .pop_i             (writeback_memory_pop),
      .fault_valid_o     (memory_fault_valid),
      .fault_warp_o      (memory_fault_warp)
    );

    assign mem_req_valid_o  = coalescer_mem_req_valid;
    assign mem_req_whole_o  = 1'b0;
    assign memory_req_ready = mem_req_ready_i;
    assign memory_idle      = ~coalescer_mem_req_valid;
    assign cache_event_o    = '0;

    assign memory_ram_read        = 1'b0;
    assign memory_ram_read_entry  = '0;
    assign memory_ram_write       = 1'b0;
    assign memory_ram_write_entry = '0;
    assign memory_ram_write_bytes = '0;
    assign memory_ram_write_data  = '0;
  end else begin : gen_cache
    cache_straps_t straps;
    cache_event_t  event_word;

    // A hit takes one stage more than an access of shared memory, so its queue's latency is one less.
    assign straps = '{hints: cfg_i.cache_hints, full_stores: cfg_i.cache_full, fifo: cfg_i.cache_fifo,
                      latency: cfg_i.side_latency - 1'b1};

    cache #(
      .Lines  (CacheLines),
      .Ways   (CacheWays),
      .Misses (CacheMisses),
      .Rows   (Rows),
      .Unified(32'(Unified != 0))
    ) u_cache (
      .clk_i,
      .rst_ni,
      .cfg_i             (straps),
      .flush_i           (launch_valid_i & ~busy_o),
      .pass_valid_i      (coalescer_served != '0),
      .pass_line_i       (coalescer_pass_line),
      .row_valid_i       (coalescer_row_valid),
      .row_first_i       (address_unit_line_first),
      .row_warp_i        (coalescer_row_warp),
      .row_mask_i        (coalescer_row_mask),
      .row_reg_valid_i   (coalescer_row_reg_valid),
      .row_reg_i         (coalescer_row_reg),
      .row_size_i        (coalescer_row_size),
      .row_signed_i      (coalescer_row_signed),
      .row_lanewise_i    (coalescer_row_lanewise),
      .row_done_i        (coalescer_row_done),
      .row_offset_i      (coalescer_row_offset),
      .room_o            (memory_room),
      .req_valid_i       (coalescer_mem_req_valid),
      .req_kind_i        (mem_req_kind_o),
      .req_size_i        (mem_req_size_o),
      .req_answer_i      (mem_req_answer_o),
      .req_line_i        (mem_req_line_o),
      .req_mask_i        (mem_req_mask_o),
      .req_offset_i      (mem_req_offset_o),
      .req_data_i        (mem_req_data_o),
      .req_bypass_i      (coalescer_bypass),
      .req_ready_o       (memory_req_ready),
      .mem_req_valid_o,
      .mem_req_whole_o,
      .mem_req_ready_i,
      .mem_rsp_valid_i,
      .mem_rsp_data_i,
      .mem_rsp_fault_i,
      .mem_rsp_present_i,
      .mem_rsp_ready_o,
      .result_valid_o    (memory_result_valid),
      .result_o          (memory_result),
      .result_reg_valid_o(memory_result_reg_valid),
      .result_data_o     (memory_result_data),
      .pop_i             (writeback_memory_pop),
      .fault_valid_o     (memory_fault_valid),
      .fault_warp_o      (memory_fault_warp),
      .log_i             (block_launcher_cache_log),
      .read_ready_i      (unified_arbiter_cache_read_ready),
      .write_ready_i     (unified_arbiter_cache_write_ready),
      .data_i            (operand_stage_memory_data),
      .ram_read_o        (memory_ram_read),
      .ram_read_entry_o  (memory_ram_read_entry),
      .ram_write_o       (memory_ram_write),
      .ram_write_entry_o (memory_ram_write_entry),
      .ram_write_bytes_o (memory_ram_write_bytes),
      .ram_write_data_o  (memory_ram_write_data),
      .idle_o            (memory_idle),
      .event_o           (event_word)
    );

    assign cache_event_o = DesignEventW'({unified_arbiter_event, event_word});
  end

  // Scratchpad memory, with banks of its own or in those of the register file.
  if (Unified == 0) begin : gen_shared
    shared_memory #(
      .SharedWords(SharedWords)
    ) u_shared_memory (
      .clk_i,
      .rst_ni,
      .cfg_i             (cfg_i.shared_bandwidth),
      .valid_i           (address_unit_shared_valid),
      .room_i            (side_queue_room),
      .lanes_i           (address_unit_lanes),
      .warp_i            (address_unit_warp),
      .kind_i            (address_unit_kind),
      .size_i            (address_unit_size),
      .signed_i          (address_unit_signed),
      .atomic_i          (address_unit_atomic),
      .reg_valid_i       (address_unit_reg_valid),
      .reg_i             (address_unit_reg),
      .addr_i            (address_unit_addr),
      .store_i           (address_unit_store),
      .compare_i         (address_unit_compare),
      .last_i            (address_unit_last),
      .served_o          (shared_memory_served),
      .result_valid_o    (shared_memory_result_valid),
      .result_warp_o     (shared_memory_result_warp),
      .result_mask_o     (shared_memory_result_mask),
      .result_done_o     (shared_memory_result_done),
      .result_reg_valid_o(shared_memory_result_reg_valid),
      .result_reg_o      (shared_memory_result_reg),
      .result_data_o     (shared_memory_result_data)
    );

    assign shared_memory_read  = '0;
    assign shared_memory_write = '0;
    assign shared_memory_row   = '{default: '0};
    assign shared_memory_bytes = '{default: '0};
    assign shared_memory_data  = '0;

    assign unified_arbiter_cache_read_ready  = '0;
    assign unified_arbiter_cache_write_ready = '0;
    assign unified_arbiter_shared_read_ready  = '0;
    assign unified_arbiter_shared_write_ready = '0;
    assign unified_arbiter_read              = '{default: '0};
    assign unified_arbiter_read_entry        = '{default: '0};
    assign unified_arbiter_write             = '{default: '0};
    assign unified_arbiter_write_entry       = '{default: '0};
    assign unified_arbiter_write_bytes       = '{default: '0};
    assign unified_arbiter_write_data        = '0;
    assign unified_arbiter_data_column       = '{default: '0};
    assign unified_arbiter_event             = '0;
  end else begin : gen_unified
    unified_shared u_unified_shared (
      .clk_i,
      .rst_ni,
      .cfg_i             ({cfg_i.shared_gather, cfg_i.shared_bandwidth}),
      .valid_i           (address_unit_shared_valid),
      .room_i            (side_queue_room),
      .lanes_i           (address_unit_lanes),
      .warp_i            (address_unit_warp),
      .kind_i            (address_unit_kind),
      .size_i            (address_unit_size),
      .signed_i          (address_unit_signed),
      .atomic_i          (address_unit_atomic),
      .reg_valid_i       (address_unit_reg_valid),
      .reg_i             (address_unit_reg),
      .addr_i            (address_unit_addr),
      .store_i           (address_unit_store),
      .compare_i         (address_unit_compare),
      .last_i            (address_unit_last),
      .served_o          (shared_memory_served),
      .result_valid_o    (shared_memory_result_valid),
      .result_warp_o     (shared_memory_result_warp),
      .result_mask_o     (shared_memory_result_mask),
      .result_done_o     (shared_memory_result_done),
      .result_reg_valid_o(shared_memory_result_reg_valid),
      .result_reg_o      (shared_memory_result_reg),
      .result_data_o     (shared_memory_result_data),
      .read_o            (shared_memory_read),
      .write_o           (shared_memory_write),
      .row_o             (shared_memory_row),
      .bytes_o           (shared_memory_bytes),
      .data_o            (shared_memory_data),
      .read_ready_i      (unified_arbiter_shared_read_ready),
      .write_ready_i     (unified_arbiter_shared_write_ready),
      .data_i            (operand_stage_memory_data)
    );

    unified_arbiter #(
      .Depth(Depth),
      .Lines(CacheLines)
    ) u_unified_arbiter (
      .clk_i,
      .rst_ni,
      .register_rows_i     (block_launcher_register_rows),
      .cache_log_i         (block_launcher_cache_log),
      .column_read_ready_i (operand_stage_memory_read_ready),
      .column_write_ready_i(operand_stage_memory_write_ready),
      .cache_read_i        (memory_ram_read),
      .cache_read_entry_i  (memory_ram_read_entry),
      .cache_write_i       (memory_ram_write),
      .cache_write_entry_i (memory_ram_write_entry),
      .cache_write_bytes_i (memory_ram_write_bytes),
      .cache_write_data_i  (memory_ram_write_data),
      .cache_read_ready_o  (unified_arbiter_cache_read_ready),
      .cache_write_ready_o (unified_arbiter_cache_write_ready),
      .shared_read_i       (shared_memory_read),
      .shared_write_i      (shared_memory_write),
      .shared_row_i        (shared_memory_row),
      .shared_bytes_i      (shared_memory_bytes),
      .shared_data_i       (shared_memory_data),
      .shared_read_ready_o (unified_arbiter_shared_read_ready),
      .shared_write_ready_o(unified_arbiter_shared_write_ready),
      .read_o              (unified_arbiter_read),
      .read_entry_o        (unified_arbiter_read_entry),
      .write_o             (unified_arbiter_write),
      .write_entry_o       (unified_arbiter_write_entry),
      .write_bytes_o       (unified_arbiter_write_bytes),
      .write_data_o        (unified_arbiter_write_data),
      .data_column_o       (unified_arbiter_data_column),
      .event_o             (unified_arbiter_event)
    );
  end

  constant_memory #(
    .ConstWords(ConstWords)
  ) u_constant_memory (
    .clk_i,
    .rst_ni,
    .const_we_i,
    .const_addr_i,
    .const_data_i,
    .direct_valid_i           (constant_unit_constant_valid),
    .direct_room_i            (constant_queue_room),
    .direct_lanes_i           (constant_unit_lanes),
    .direct_warp_i            (constant_unit_warp),
    .direct_size_i            (constant_unit_size),
    .direct_signed_i          (constant_unit_signed),
    .direct_reg_valid_i       (constant_unit_reg_valid),
    .direct_reg_i             (constant_unit_reg),
    .direct_addr_i            (constant_unit_addr),
    .direct_last_i            (constant_unit_last),
    .direct_served_o          (constant_memory_direct_served),
    .direct_result_valid_o    (constant_memory_direct_result_valid),
    .direct_result_warp_o     (constant_memory_direct_result_warp),
    .direct_result_mask_o     (constant_memory_direct_result_mask),
    .direct_result_done_o     (constant_memory_direct_result_done),
    .direct_result_reg_valid_o(constant_memory_direct_result_reg_valid),
    .direct_result_reg_o      (constant_memory_direct_result_reg),
    .direct_result_data_o     (constant_memory_direct_result_data),
    .valid_i                  (address_unit_constant_valid),
    .room_i                   (side_queue_room),
    .lanes_i                  (address_unit_lanes),
    .warp_i                   (address_unit_warp),
    .size_i                   (address_unit_size),
    .signed_i                 (address_unit_signed),
    .reg_valid_i              (address_unit_reg_valid),
    .reg_i                    (address_unit_reg),
    .addr_i                   (address_unit_addr),
    .last_i                   (address_unit_last),
    .served_o                 (constant_memory_served),
    .result_valid_o           (constant_memory_result_valid),
    .result_warp_o            (constant_memory_result_warp),
    .result_mask_o            (constant_memory_result_mask),
    .result_done_o            (constant_memory_result_done),
    .result_reg_valid_o       (constant_memory_result_reg_valid),
    .result_reg_o             (constant_memory_result_reg),
    .result_data_o            (constant_memory_result_data)
  );

  // ------------------------------------------------------------------ control
  block_launcher #(
    .Warps       (Warps),
    .Banks       (Banks),
    .Depth       (Depth),
    .SharedWords (SharedWords),
    .PairedRows  (32'(pairs_rows(Organisation))),
    .MaxRegisters(max_registers(Organisation)),
    .Places      (32'(has_places(Organisation, Sizes))),
    .Unified     (32'(Unified != 0))
  ) u_block_launcher (
    .clk_i,
    .rst_ni,
    .cfg_i        (cfg_i.blocks),
    .launch_valid_i,
    .launch_grid_x_i,
    .launch_grid_y_i,
    .launch_grid_z_i,
    .launch_block_x_i,
    .launch_block_y_i,
    .launch_block_z_i,
    .launch_threads_i,
    .launch_registers_i,
    .launch_shared_i,
    .launch_dynamic_i,
    .launch_local_i,
    .launch_share_i,
    .launch_private_i,
    .launch_private_shared_i,
    .launch_register_rows_i,
    .launch_shared_rows_i,
    .launch_cache_i,
    .alive_i      (simt_stack_alive),
    .idle_i       (scoreboard_idle),
    .memory_idle_i(memory_idle),
    .busy_o,
    .done_o,
    .fresh_o       (block_launcher_fresh),
    .spare_o       (block_launcher_spare),
    .start_valid_o (block_launcher_start_valid),
    .start_warp_o  (block_launcher_start_warp),
    .start_mask_o  (block_launcher_start_mask),
    .rows_o        (block_launcher_rows),
    .shared_bytes_o(block_launcher_shared_bytes),
    .dynamic_o     (block_launcher_dynamic),
    .local_words_o (block_launcher_local_words),
    .ntid_x_o      (block_launcher_ntid_x),
    .ntid_y_o      (block_launcher_ntid_y),
    .ntid_z_o      (block_launcher_ntid_z),
    .nctaid_x_o    (block_launcher_nctaid_x),
    .nctaid_y_o    (block_launcher_nctaid_y),
    .nctaid_z_o    (block_launcher_nctaid_z),
    .slot_o        (block_launcher_slot),
    .layout_o      (block_launcher_layout),
    .end_warps_o   (block_launcher_end_warps),
    .slot_busy_o   (block_launcher_slot_busy),
    .slot_young_o  (block_launcher_slot_young),
    .register_rows_o(block_launcher_register_rows),
    .cache_log_o   (block_launcher_cache_log),
    .place_warp_i  (address_unit_place_warp),
    .place_base_o  (block_launcher_place_base),
    .place_common_o(block_launcher_place_common),
    .private_bytes_o(block_launcher_private_bytes),
    .block_warp_i  (constant_unit_warp),
    .block_index_o (block_launcher_block_index),
    .block_x_o     (block_launcher_block_x),
    .block_y_o     (block_launcher_block_y),
    .block_z_o     (block_launcher_block_z),
    .tid_we_o      (block_launcher_tid_we),
    .tid_index_o   (block_launcher_tid_index),
    .tid_group_o   (block_launcher_tid_group),
    .tid_data_o    (block_launcher_tid_data),
    .fault_valid_o (block_launcher_fault_valid)
  );

  barrier_unit #(
    .Warps     (Warps),
    .IssuePorts(IssuePorts)
  ) u_barrier_unit (
    .clk_i,
    .rst_ni,
    .hold_valid_i        (issue_stage_hold_valid),
    .hold_warp_i         (issue_stage_warp),
    .arrive_valid_i      (dispatcher_barrier_valid),
    .arrive_port_i       (dispatcher_barrier_port),
    .arrive_warp_i       (operand_stage_dispatch_warp),
    .arrive_mask_i       (operand_stage_dispatch_mask),
    .arrive_instruction_i(operand_stage_dispatch_instruction),
    .arrive_src_valid_i  (operand_stage_dispatch_src_valid),
    .arrive_data_i       (operand_stage_dispatch_data),
    .alive_i             (simt_stack_alive),
    .slot_i              (block_launcher_slot),
    .start_valid_i       (block_launcher_start_valid),
    .start_warp_i        (block_launcher_start_warp),
    .held_o              (barrier_unit_held),
    .open_o              (barrier_unit_open),
    .finish_valid_o      (barrier_unit_finish_valid),
    .finish_warp_o       (barrier_unit_finish_warp),
    .fault_valid_o       (barrier_unit_fault_valid),
    .fault_warp_o        (barrier_unit_fault_warp),
    .fault_value_o       (barrier_unit_fault_value)
  );

  logic [FaultSources-1:0] fault_valid;
  logic [WarpW-1:0]        fault_warp  [FaultSources];
  logic [CauseW-1:0]       fault_cause [FaultSources];
  logic [31:0]             fault_value [FaultSources];

  always_comb begin
    fault_valid = {block_launcher_fault_valid, barrier_unit_fault_valid, memory_fault_valid,
                   constant_unit_fault_valid, address_unit_fault_valid, alu_fault_valid,
                   issue_stage_fault_valid};
    for (int unsigned p = 0; p < P; p++) begin
      fault_warp[p]    = issue_stage_warp[p];
      fault_cause[p]   = issue_stage_fault_cause[p];
      fault_value[p]   = issue_stage_fault_value[p];
      fault_warp[P+p]  = alu_fault_warp[p];
      fault_cause[P+p] = CauseWarpDivergence;
      fault_value[P+p] = alu_fault_value[p];
    end
    fault_warp[2*P]    = address_unit_fault_warp;
    fault_cause[2*P]   = address_unit_fault_cause;
    fault_value[2*P]   = address_unit_fault_value;
    fault_warp[2*P+1]  = constant_unit_fault_warp;
    fault_cause[2*P+1] = constant_unit_fault_cause;
    fault_value[2*P+1] = constant_unit_fault_value;
    fault_warp[2*P+2]  = memory_fault_warp;
    fault_cause[2*P+2] = CauseNoSuchPlace;
    fault_value[2*P+2] = '0;
    fault_warp[2*P+3]  = barrier_unit_fault_warp;
    fault_cause[2*P+3] = CauseBarrierCount;
    fault_value[2*P+3] = barrier_unit_fault_value;
    fault_warp[2*P+4]  = '0;
    fault_cause[2*P+4] = CauseDoesNotFit;
    fault_value[2*P+4] = '0;
  end

  fault_unit #(
    .Sources(FaultSources)
  ) u_fault_unit (
    .clk_i,
    .rst_ni,
    .valid_i(fault_valid),
    .warp_i (fault_warp),
    .cause_i(fault_cause),
    .value_i(fault_value),
    .fault_o,
    .fault_warp_o,
    .fault_cause_o,
    .fault_value_o
  );

  // ------------------------------------------------------------------ events
  // Events. A port that issues nothing counts as one stall, by the first cause below that holds.
  always_comb begin
    automatic logic [Warps-1:0] own;    // warps of the port
    automatic logic [Warps-1:0] there;  // of these, alive and not held
    event_o = '0;
    event_o.fetch = 2'($countones(fetch_decode_valid));
    for (int unsigned p = 0; p < P; p++) begin
      own = '0;
      for (int unsigned w = p; w < Warps; w += P) own[w] = 1'b1;
      there = own & simt_stack_alive & ~barrier_unit_held;
      if (issue_advance[p]) begin
        event_o.issue       = event_o.issue + 2'd1;
        event_o.issue_lanes = event_o.issue_lanes + 7'($countones(issue_stage_exec[p]));
      end else if (warp_scheduler_issue_valid[p]) begin
        // A probe counts neither as an instruction nor as a stall.
      end else if ((own & simt_stack_alive) == '0) begin
        event_o.stall_empty = event_o.stall_empty + 2'd1;
      end else if (there == '0) begin
        event_o.stall_barrier = event_o.stall_barrier + 2'd1;
      end else if ((there & instruction_buffer_head_valid) == '0) begin
        event_o.stall_fetch = event_o.stall_fetch + 2'd1;
      end else if ((there & share_locks_clear) == '0) begin
        event_o.stall_scoreboard = event_o.stall_scoreboard + 2'd1;
      end else if ((there & share_locks_clear & warp_scheduler_active) == '0) begin
        event_o.stall_inactive = event_o.stall_inactive + 2'd1;
      end else if ((there & share_locks_clear & warp_scheduler_active &
                    ~scoreboard_operand) == '0 && !operand_stage_issue_ready[p]) begin
        event_o.stall_collector = event_o.stall_collector + 2'd1;
      end else begin
        event_o.stall_other = event_o.stall_other + 2'd1;
      end
      if (dispatcher_alu_valid[p] && alu_ready[p])    event_o.alu = event_o.alu + 2'd1;
      if (dispatcher_fp_valid[p] && fp_unit_ready[p]) event_o.fp  = event_o.fp + 2'd1;
      if (alu_queue_head_valid[p] && !writeback_alu_pop[p]) begin
        event_o.result_wait = event_o.result_wait + 4'd1;
      end
      if (fp_queue_head_valid[p] && !writeback_fp_pop[p]) begin
        event_o.result_wait = event_o.result_wait + 4'd1;
      end
    end
    event_o.sfu          = dispatcher_sfu_valid & sfu_ready;
    event_o.constants    = dispatcher_constant_valid & constant_unit_ready;
    event_o.memory       = dispatcher_memory_valid & address_unit_in_ready;
    event_o.barrier      = dispatcher_barrier_valid;
    event_o.barrier_open = |barrier_unit_open;
    event_o.line         = |coalescer_served;
    event_o.line_lanes   = 6'($countones(coalescer_served));
    event_o.line_wait    = address_unit_global_valid & ~(|coalescer_served);
    event_o.shared       = |shared_memory_served;
    event_o.shared_lanes = 6'($countones(shared_memory_served));
    event_o.shared_conflict   = (|shared_memory_served) &
                                (shared_memory_served != address_unit_lanes);
    event_o.constant          = (|constant_memory_direct_served) | (|constant_memory_served);
    event_o.constant_conflict = ((|constant_memory_direct_served) &
                                 (constant_memory_direct_served != constant_unit_lanes)) |
                                ((|constant_memory_served) &
                                 (constant_memory_served != address_unit_lanes));
    event_o.constant_wait     = address_unit_constant_valid & (|constant_memory_direct_served);
    event_o.shuffle     = |lane_crossbar_served;
    event_o.special     = |special_registers_served;
    if (side_queue_head_valid && !writeback_side_pop) begin
      event_o.result_wait = event_o.result_wait + 4'd1;
    end
    if (sfu_queue_head_valid && !writeback_sfu_pop) begin
      event_o.result_wait = event_o.result_wait + 4'd1;
    end
    if (constant_queue_head_valid && !writeback_constant_pop) begin
      event_o.result_wait = event_o.result_wait + 4'd1;
    end
    if (memory_result_valid && !writeback_memory_pop) begin
      event_o.result_wait = event_o.result_wait + 4'd1;
    end
    event_o.warp_start  = block_launcher_start_valid;
    event_o.line_answer = mem_rsp_valid_i & mem_rsp_ready_o;
  end

endmodule

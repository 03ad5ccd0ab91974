// Sizes that every block agrees on, and the event words of the register file.
//
// The machine is the one of the papers: warps of 32 threads, registers of 32 bits, up to three
// source operands an instruction. A warp register is 32 lanes wide and is read and written in one
// access (stealing paper, section II-B). Energy is charged for groups of four lanes, because a bank
// is built from 128-bit macros (RFC paper, section 2.1).
package gpurf_pkg;

  // No module uses all of these constants.
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned Lanes = 32;       // threads of a warp
  localparam int unsigned LaneW = 32;       // bits of a thread's register
  localparam int unsigned DataW = Lanes * LaneW;
  localparam int unsigned TimeW = 2 * LaneW; // the machine's time, in cycles
  localparam int unsigned WarpW = 6;        // warp number
  localparam int unsigned WarpSetW = 2**WarpW;
  localparam int unsigned RegW = 8;         // register name
  localparam int unsigned Operands = 3;     // source operands of an instruction
  localparam int unsigned Parities = 2;     // banks and buffers of the hybrid register file
  localparam int unsigned RcmRegW = 6;      // register name in the hybrid register file
  localparam int unsigned GroupLanes = 4;   // lanes that share a macro of a bank
  localparam int unsigned GroupsW = $clog2(Lanes / GroupLanes + 1);
  localparam int unsigned PredW = 3;        // predicate number
  localparam int unsigned PcW = 20;         // address of an instruction
  localparam int unsigned WordW = 64;       // operation word, control word
  localparam int unsigned BlockSlots = 16;  // blocks that an SM holds at most
  localparam int unsigned BlockSlotW = $clog2(BlockSlots);
  localparam int unsigned CauseW = 4;       // cause of a fault
  localparam int unsigned LineOffsetW = 7;  // byte in a line of 128
  localparam int unsigned LineBytes = 2**LineOffsetW;
  localparam int unsigned PresentW = LineOffsetW + 1;  // how many bytes of a line exist
  localparam int unsigned LineW = 26;       // line address; top bit set: local memory
  localparam int unsigned LevelW = 5;       // where an operand is in a hierarchy (docs/isa.md)
  localparam int unsigned OrfPlaces = 8;    // entries of an ORF, at most
  localparam int unsigned LrfPlaces = 3;    // banks of an LRF, at most
  localparam int unsigned Upper = OrfPlaces + LrfPlaces;  // places above the main register file
  localparam int unsigned UpperW = $clog2(Upper);         // number of such a place
  localparam int unsigned OrfW = $clog2(OrfPlaces);
  localparam int unsigned LrfW = $clog2(LrfPlaces);

  // Unified memory (docs/unified.md). A cluster is a group of lanes with its banks.
  localparam int unsigned Clusters = Lanes / GroupLanes;
  localparam int unsigned ClusterIdxW = 3;
  localparam int unsigned ClusterW = GroupLanes * LaneW;  // bits of a bank's entry
  localparam int unsigned ClusterBytes = 16;
  localparam int unsigned Columns = 4;      // banks of a cluster
  localparam int unsigned ColumnW = 2;
  localparam int unsigned UnifiedBanks = Clusters * Columns;  // the banks of column b begin at b * Clusters
  localparam int unsigned WordPlaces = Lanes;  // words between banks and memory units: one for each lane
  localparam int unsigned BankRowsW = 11;   // number of rows of the banks
  localparam int unsigned CacheLogW = 4;    // log2 of the number of cache lines; 0: no cache
  localparam int unsigned SharedRowW = 12;  // row number of scratchpad memory; a row is 128 bytes
  localparam int unsigned SharedAddressW = SharedRowW + LineOffsetW;

  // Event words of a register-file design, and bits of each and of its straps (docs/designs.md).
  localparam int unsigned DesignEvents = 3;
  localparam int unsigned DesignEventW = 64;
  localparam int unsigned DesignCfgW = 128;

  // The number of a register in a file whose registers are allocated one by one.
  localparam int unsigned RegisterPlaceW = 12;

  // Event words of the power states of registers (docs/blocks/sm.md).
  localparam int unsigned PowerEvents = 2;

  // The reference for the throttle of non-owners, with which it compares the SM's stalls: the stalls in some of its
  // own periods (sampled), or those of another SM (external). Held: this SM is that other one.
  localparam int unsigned ReferenceSampled = 0;
  localparam int unsigned ReferenceExternal = 1;
  localparam int unsigned ReferenceHeld = 2;
  localparam int unsigned ThrottleCountW = 18;  // number of stalls in a period

  // Lowest bits of the operation word's fields (docs/isa.md), and widths.
  localparam int unsigned OpcodeW = 7;
  localparam int unsigned OperationConstantFlag = 7; // source b is a constant
  localparam int unsigned OperationGuard = 8;
  localparam int unsigned OperationD = 12;
  localparam int unsigned OperationA = 20;
  localparam int unsigned OperationModifiers = 28;   // the lower modifiers
  localparam int unsigned OperationModifiersW = 4;
  localparam int unsigned OperationB = 32;           // source b, a register
  localparam int unsigned OperationConstant = 32;    // or a constant; target of a branch
  localparam int unsigned ModifiersW = 16;
  localparam int unsigned ModifierBypass = 7;        // of loads: bypass the data cache
  localparam int unsigned TextureModifiersW = 7;     // of TEX: the access, then the channel
  localparam int unsigned TextureThird = 4;          // bit of the access: there is a third coordinate
  localparam int unsigned OperationTexture = 42;     // of TEX: number of the constant word with the handle
  localparam int unsigned TextureHandleW = 15;

  // Lowest bits of the control word's fields (docs/isa.md).
  localparam int unsigned ControlC = 0;              // source c
  localparam int unsigned ControlModifiers = 8;      // the upper modifiers
  localparam int unsigned ControlLastRead = 20;      // of source a; b and c have the next bits
  localparam int unsigned ControlDeschedule = 23;
  localparam int unsigned ControlStrandEnd = 24;
  localparam int unsigned ControlLrfBypass = 25;
  localparam int unsigned ControlRfcBypass = 26;
  localparam int unsigned ControlSourceLevel = 27;   // of source a; b and c have the next LevelW bits each
  localparam int unsigned ControlResultLevel = 42;
  localparam int unsigned ControlPower = 47;         // of the first source; then of the second source and of the result
  localparam int unsigned ControlFreeRegister = 53;  // inverted, so that 0 names none
  localparam int unsigned ControlPrivate = 61;       // the access lies in the private part of scratchpad memory

  // States of registers in the control word: of two sources and of the result.
  localparam int unsigned RegisterPowerW = 2;
  localparam int unsigned ControlPowerW = 3 * RegisterPowerW;

  localparam logic [RegW-1:0]  NoReg = '1;   // RZ: reads as zero, writes are dropped
  localparam logic [PredW-1:0] NoPred = '1;  // PT: reads as true, writes are dropped
  localparam logic [PcW-1:0]   NoPc = '1;    // no reconvergence point
  // verilator lint_on UNUSEDPARAM

  // The designs of the register file (docs/designs.md): the parameter `Organisation` of the operand
  // stage and the SM.
  typedef enum int unsigned {
    OrganisationMrf       = 0,  // the main register file alone
    OrganisationRfc       = 1,  // a register file cache in front of it
    OrganisationHierarchy = 2,  // ORF and LRF in front of it
    OrganisationHrf       = 3,  // the hybrid register file
    OrganisationSteal     = 4,  // the main register file with bank stealing
    OrganisationMrfIdeal  = 5   // the main register file without conflicts
  } organisation_e;

  // The sizes of each design: the low bits of the parameter `Sizes`. Designs not listed have none.
  typedef struct packed {
    logic places;  // registers are allocated one by one
  } mrf_sizes_t;

  typedef struct packed {
    logic       released; // results around the cache leave their latches for the queue
    logic [6:0] power;    // warps whose words have power states; 0: they have none
    logic [4:0] entries;  // of a slot
    logic       lrf;      // an LRF above the cache
    logic       reads;    // reads allocate
  } rfc_sizes_t;

  typedef struct packed {
    logic [3:0] entries;    // of the ORF, for each slot
    logic [1:0] lrf_banks;  // 0, 1, 3
  } hierarchy_sizes_t;

  typedef struct packed {
    logic [6:0] buffer_entries;  // 0: no buffers
    logic [4:0] loads;           // places of a bank's queue
  } hrf_sizes_t;

  // The straps of the power states of registers (docs/blocks/power_states.md).
  typedef struct packed {
    logic [3:0] wake_off;    // cycles to wake a register that is OFF
    logic [3:0] wake_sleep;  // cycles to wake a register in SLEEP
    logic [1:0] mode;        // power_mode_e
  } power_straps_t;

  // The straps of each design: the low bits of `design_cfg_i`. Designs not listed have none.
  typedef struct packed {
    logic          prompt;  // evictions and flushes lose no cycle
    power_straps_t power;   // of the main register file's words
    logic          loads;   // results of loads are cached
    logic          bypass;  // results that the compiler marks are not cached
    logic          lru;     // replacement: least recently used, else first in, first out
    logic          live;    // values die at their last read
  } rfc_straps_t;

  typedef struct packed {
    logic [2:0] sleep_cycles;
    logic [3:0] wake_cycles;
    logic [3:0] powered;        // entries of a buffer that always stay on, in units of four; 0: no power gating
    logic [1:0] read_latency;   // of a bank, in cycles less 1
    logic [3:0] write_latency;
  } hrf_straps_t;

  typedef struct packed {
    logic drop;      // a parked value whose register is overwritten is dropped
    logic redirect;  // a parked value is read from where it is parked
    logic unread;    // a result that its warp's head reads is not parked
    logic eager;     // an operand is stolen although no other one wants its bank
    logic write;     // write stealing
    logic read;      // read stealing
  } steal_straps_t;

  // The straps of register sharing (docs/blocks/share_locks.md).
  typedef struct packed {
    logic owner_first;  // the scheduler prefers owners
    logic hold;         // returning atomic operations of younger blocks wait
    logic first;        // order in which a lock is granted: 0 older block first, 1 first request first
  } share_straps_t;

  // The straps of scratchpad sharing (docs/blocks/scratchpad_locks.md).
  typedef struct packed {
    logic mark;         // there are no probes: every access without a mark needs the lock
    logic owner_first;  // this field and the next ones as for registers
    logic hold;
    logic first;
  } scratchpad_straps_t;

  // The straps of the SM: its `cfg_i`.
  typedef struct packed {
    logic          shared_gather;   // scratchpad memory in unified banks: aggressive gather
    logic          cache_hints;     // data cache: loads with a mark bypass it
    logic          cache_full;      // data cache: a store of a whole line allocates a place for it
    logic          cache_fifo;      // data cache: first in, first out replacement
    logic [4:0]    blocks;          // block slots, at most
    logic          share_mark;      // of shared scratchpad memory: marks decide, not probes
    share_straps_t share;           // of registers, or of scratchpad memory
    power_straps_t power;           // of registers
    logic [11:0] patience;          // of a scheduler with slots, in instructions
    logic        stay;              // a warp leaves its slot only when it ends
    logic [5:0]  sfu_latency;       // of the result queues
    logic [5:0]  fp_latency;
    logic [1:0]  shared_bandwidth;
    logic [5:0]  side_latency;
    logic        handover;          // a slot is free as soon as its warp has left it
    logic [4:0]  alu_latency;
    logic        scheduler;         // 0: round robin, 1: greedy then oldest
    logic        read_order;        // of a bank's reads; 0: oldest first, 1: round robin
  } sm_straps_t;

  // The straps of the data cache (docs/blocks/cache.md).
  typedef struct packed {
    logic       hints;        // loads with a mark bypass the cache
    logic       full_stores;  // a store of a whole line that misses allocates a place for it
    logic       fifo;         // replacement: first in, first out, else least recently used
    logic [5:0] latency;      // latency of a hit, as in a result queue
  } cache_straps_t;

  // A load that waits in the data cache for a line: its lanes, and where in the line each finds its bytes.
  typedef struct packed {
    logic [Lanes-1:0][LineOffsetW-1:0] offset;
    logic [Lanes-1:0]                  mask;
    logic [WarpW-1:0]                  warp;
    logic                              reg_valid;
    logic [RegW-1:0]                   reg_name;   // 0 without a register
    logic [1:0]                        size;
    logic                              is_signed;
    logic                              lanewise;   // the answer has a word for each lane
  } cache_row_t;

  // Events of the data cache in a cycle.
  typedef struct packed {
    logic hit;          // a load finds its line
    logic merge;        // a load joins an open miss
    logic miss;         // a load asks memory
    logic store;        // stores
    logic store_hit;    // stores that hit
    logic store_full;   // stores of a whole line that miss and install it
    logic atomic;       // atomic operations
    logic invalidate;   // atomic operations that hit
    logic close;        // stores and atomic operations that close an open miss
    logic fill;         // answers installed
    logic drop;         // whole lines not installed, because their way is pinned
    logic part;         // answers without the whole line
    logic serve;        // rows served from an answer
    logic wait_access;  // a request waits for the data array
    logic wait_row;     // a request waits for a row or a miss
    logic wait_memory;  // a request waits for memory
    logic fill_wait;    // an answer waits to be installed
  } cache_event_t;

  // Accesses of memory to unified banks that wait in a cycle, because of other accesses.
  typedef struct packed {
    logic       cache_read_wait;    // a hit waits for its column
    logic       cache_write_wait;   // a store that hits waits
    logic [5:0] shared_read_lost;   // banks that a pass of the scratchpad does not get
    logic [5:0] shared_write_lost;
  } unified_event_t;

  // What blocks share: the parameter `Share` of the SM.
  typedef enum int unsigned {
    ShareNothing    = 0,
    ShareRegisters  = 1,
    ShareScratchpad = 2
  } share_e;

  // Services that a design asks of the SM (docs/designs.md, "Services"). Without them all designs
  // would change the launcher, the schedulers and the operand stage for one of them.

  // Instructions in stages of the design in front of its operand collectors.
  function automatic int unsigned front_places(int unsigned organisation, int unsigned issue_ports);
    return (organisation == OrganisationRfc) ? 2 * issue_ports - 1 : 0;
  endfunction

  // An even warp and the next warp have the same rows, each in one of two banks.
  function automatic bit pairs_rows(int unsigned organisation);
    return organisation == OrganisationHrf;
  endfunction

  // Registers of a warp at most.
  function automatic int unsigned max_registers(int unsigned organisation);
    return (organisation == OrganisationHrf) ? 2**RcmRegW : 2**RegW;
  endfunction

  // Registers are allocated one by one, and blocks may share some of them.
  // Only the bits of `sizes` that belong to the design are read.
  // verilator lint_off UNUSEDSIGNAL
  function automatic bit has_places(int unsigned organisation, int unsigned sizes);
    // verilator lint_on UNUSEDSIGNAL
    mrf_sizes_t mrf_sizes;
    mrf_sizes = sizes[$bits(mrf_sizes_t)-1:0];
    return organisation == OrganisationMrf && mrf_sizes.places;
  endfunction

  // Schedulers name a candidate for the next issue; the design may read operands for it early.
  function automatic bit takes_candidates(int unsigned organisation);
    return organisation == OrganisationSteal;
  endfunction

  // Scoreboard and scheduler clear a register when the design has taken its result, before it is written. The design
  // keeps later accesses in order itself.
  function automatic bit reports_taken(int unsigned organisation);
    return organisation == OrganisationRfc;
  endfunction

  // The design keeps the power states of the main register file's words itself, as their accesses are
  // not known at issue.
  function automatic bit keeps_states(int unsigned organisation);
    return organisation == OrganisationRfc;
  endfunction

  // The design stands in front of an `mrf`, or is one, whose banks can serve memory too.
  function automatic bit has_unified_banks(int unsigned organisation);
    return organisation == OrganisationMrf || organisation == OrganisationRfc ||
           organisation == OrganisationHierarchy;
  endfunction

  // Layout of a register file whose registers are allocated one by one (docs/blocks/register_places.md).
  typedef struct packed {
    logic [RegisterPlaceW-1:0] guest_base;         // first place of the guests' private parts
    logic [WarpW:0]            host_warps;         // warps of hosts
    logic [RegW-1:0]           private_registers;  // of a thread, in a guest
    logic [RegW-1:0]           registers;          // of a thread
  } register_layout_t;

  // What register sharing counts in a cycle.
  typedef struct packed {
    logic [5:0] wait_lock;        // heads that may not take their lock
    logic [5:0] wait_hold;        // atomic operations that wait for the older block
    logic [5:0] wait_throttle;    // memory instructions of non-owners that are throttled
    logic [1:0] lock_take;        // locks taken
    logic [5:0] lock_free;        // locks of warps that have ended
    logic [5:0] owners;           // warps of owners
    logic [5:0] non_owners;       // of non-owners
    logic [1:0] non_owner_issue;  // issues of non-owners
  } share_event_t;

  // What the throttle of non-owners counts in a cycle.
  typedef struct packed {
    logic [3:0] throttle_level;      // how often non-owners may use memory, in tenths
    logic       throttle_period;     // a period ends
    logic       throttle_reference;  // a cycle of a reference period
    logic       throttle_allow;      // non-owners may use memory
  } share_throttle_event_t;

  // Events of register sharing and of its throttle together.
  typedef struct packed {
    share_event_t          locks;
    share_throttle_event_t throttle;
  } share_count_event_t;

  // What scratchpad sharing counts in a cycle.
  typedef struct packed {
    logic [5:0] wait_lock;        // heads that may not take the lock
    logic [5:0] wait_hold;        // atomic operations that wait for the older block
    logic [1:0] probe;            // probes that go to the operand stage
    logic       probe_common;     // probes answered: a lane lies in the common area
    logic       released;         // releases performed
    logic [4:0] lock_take;        // locks taken
    logic [4:0] lock_free;        // locks given up
    logic [4:0] lock_early;       // of these, locks of blocks that still run
    logic [5:0] owners;           // warps of owners
    logic [5:0] non_owners;       // of non-owners
    logic [1:0] non_owner_issue;  // issues of non-owners
  } scratchpad_event_t;

  // What the arbiter counts in a cycle; the first field is the most significant.
  typedef struct packed {
    logic [5:0] read;                 // bank reads
    logic [8:0] read_groups;          // their lane groups with an active lane
    logic [1:0] write;                // bank writes
    logic [4:0] write_groups;         // their lane groups with a written lane
    logic [5:0] conflict_intra;       // reads that waited for another read of their own instruction
    logic [5:0] conflict_inter;       // reads that waited for another instruction
    logic [5:0] conflict_read_write;  // reads that waited for a write
    logic [1:0] conflict_write;       // writes that waited for a bank
    logic [1:0] write_held;           // writes held back by an older read of the register
  } mrf_arbiter_event_t;

  // What the main register file counts in a cycle: the arbiter's fields, then its own.
  typedef struct packed {
    logic [5:0] read;
    logic [8:0] read_groups;
    logic [1:0] write;
    logic [4:0] write_groups;
    logic [5:0] conflict_intra;
    logic [5:0] conflict_inter;
    logic [5:0] conflict_read_write;
    logic [1:0] conflict_write;
    logic [1:0] write_held;
    logic [1:0] issue_stall;          // instructions offered and not taken
    logic [1:0] dispatch;             // instructions that left
    logic [1:0] dispatch_stall;       // instructions ready to leave and not taken
  } mrf_event_t;

  // What the SM counts in a cycle, besides its register file.
  typedef struct packed {
    logic [1:0] fetch;              // instructions decoded
    logic [1:0] issue;              // instructions issued
    logic [6:0] issue_lanes;        // their lanes
    logic [1:0] stall_empty;        // ports that issue nothing: no warp is alive
    logic [1:0] stall_barrier;      // ports that issue nothing: all living warps are at barriers
    logic [1:0] stall_fetch;        // ports that issue nothing: no instruction is buffered
    logic [1:0] stall_scoreboard;   // ports that issue nothing: no head is clear
    logic [1:0] stall_inactive;     // ports that issue nothing: no clear head has a slot
    logic [1:0] stall_collector;    // ports that issue nothing: the operand stage is full
    logic [1:0] stall_other;        // ports that issue nothing: a second branch, a fault
    logic [1:0] alu;                // instructions that ALUs take
    logic [1:0] fp;                 // instructions that single precision units take
    logic       sfu;                // instructions that the special function unit takes
    logic       constants;          // instructions that the constant unit takes
    logic       memory;             // instructions that the memory pipeline takes
    logic       barrier;            // warps that arrive at a barrier
    logic       barrier_open;       // barriers that open
    logic       line;               // requests of lines
    logic [5:0] line_lanes;         // their lanes
    logic       line_wait;          // lanes wait for the coalescer
    logic       shared;             // passes of shared memory
    logic [5:0] shared_lanes;       // their lanes
    logic       shared_conflict;    // passes that leave lanes behind
    logic       constant;           // passes of constant memory
    logic       constant_conflict;  // passes that leave lanes behind
    logic       constant_wait;      // lanes of the memory pipeline wait for those of the constant unit
    logic       shuffle;            // shuffles
    logic       special;            // special registers read
    logic [3:0] result_wait;        // results offered and not taken
    logic       warp_start;         // warps that begin
    logic       line_answer;        // answers of memory
  } sm_event_t;

  // What the two-level scheduler counts in a cycle.
  typedef struct packed {
    logic [1:0] activate;        // slots taken
    logic [5:0] leave_end;       // slots left because the warp has ended
    logic [5:0] leave_barrier;   // slots left because the warp waits at a barrier
    logic [5:0] leave_mark;      // slots left because the head needs a long-latency value
    logic [5:0] leave_patience;  // slots left because the warp has issued for long while others are ready
    logic [5:0] active;          // active slots
    logic [5:0] drain;           // draining slots
    logic [5:0] flush;           // flushing slots
    logic [5:0] ready;           // warps that are ready and wait for a slot
  } two_level_event_t;

  // What the register file cache counts in a cycle, for energy.
  typedef struct packed {
    logic [1:0] tag_check;            // instructions that leave T
    logic [1:0] stall_eviction;       // instructions that stay in T: a source is on its way to the MRF
    logic [1:0] stall_collector;      // instructions that stay in T: no collector is free
    logic [2:0] hit;                  // source registers with all lanes in the cache
    logic [2:0] partial;              // source registers with some lanes in the cache
    logic [2:0] miss;                 // source registers with no lane in the cache
    logic [5:0] read_groups;          // lane groups read as operands
    logic [5:0] read_shared_groups;   // of these, groups read for shared units
    logic [5:0] mrf_shared_groups;    // groups asked of the MRF for units that are shared
    logic [4:0] write_groups;         // groups of results written to the cache
    logic [4:0] write_shared_groups;  // of these, groups from shared units
    logic [4:0] around_groups;        // groups of results that go to the MRF
    logic [4:0] around_shared_groups; // of these, groups from shared units
    logic [4:0] evict_groups;         // groups of evictions and flushes
  } rfc_event_t;

  // More counts, for human readers and not for energy. `waiting` is called "wait" in the pages, which is a keyword.
  typedef struct packed {
    logic [1:0] write_hit;     // results that update an entry
    logic [1:0] allocate;      // results that allocate an entry
    logic [1:0] evict;         // results that allocate and had to write a value back
    logic [1:0] dead;          // results that allocate and dropped a dead value
    logic [1:0] flush;         // entries flushed
    logic [1:0] kill;          // results around the cache that took lanes of an entry away
    logic [2:0] marked;        // hits that are last reads
    logic [1:0] waiting;       // results that wait in their latch
    logic [1:0] stall_result;  // instructions in T that wait for a result in a latch
    logic       spare;
  } rfc_count_event_t;

  // Counts beside those of the cache: last result files above it, operands with which it is filled.
  typedef struct packed {
    logic [4:0] lrf_read_groups;   // the sums over the caches of the fields of rfc_lrf_event_t
    logic [4:0] lrf_write_groups;
    logic [4:0] lrf_spill_groups;
    logic [4:0] lrf_flush_groups;
    logic [1:0] lrf_dead;
    logic [1:0] lrf_same;
    logic [1:0] lrf_past;
    logic [1:0] lrf_marked;
    logic [4:0] fill_groups;       // groups of operands written to the cache
  } rfc_extra_event_t;

  // What the tags of one cache count in a cycle.
  typedef struct packed {
    logic [1:0] hit;           // source registers of an instruction that leaves T: all lanes hit
    logic [1:0] partial;       // some lanes hit
    logic [1:0] miss;          // no lane hits
    logic [4:0] read_groups;   // lane groups read
    logic       write_hit;     // a result updates an entry
    logic       allocate;      // a result allocates an entry
    logic [3:0] write_groups;  // lane groups of the result
    logic       evict;         // an eviction makes room for a result
    logic       dead;          // a result takes an entry with valid but no dirty lanes
    logic       flush;         // an eviction for a flush
    logic [3:0] evict_groups;  // lane groups of an eviction
    logic       kill;          // lanes are taken away by a result around the cache
    logic [1:0] marked;        // hits that are last reads
    logic       waiting;       // a result waits ("wait" in the pages)
    logic       drop;          // a slot is emptied of values that are not needed
    logic       clean;         // a slot with values is emptied behind its flush
    logic       look;          // an instruction is in T
  } rfc_tags_event_t;

  // What the last result file of one cache counts in a cycle.
  typedef struct packed {
    logic [3:0] read_groups;   // lane groups read by an instruction that leaves T
    logic [3:0] write_groups;  // lane groups of a result written here
    logic [3:0] spill_groups;  // lane groups of an old value that goes into the cache
    logic [3:0] flush_groups;  // lane groups of a value that goes to the MRF because its slot is emptied
    logic       dead;          // a result replaces a value that is not needed
    logic       same;          // a result updates the value
    logic       past;          // a result that does not go here takes lanes away
    logic       marked;        // last reads make lanes dead
  } rfc_lrf_event_t;

  // What the alternating scheduler counts in a cycle.
  typedef struct packed {
    logic       activate;        // warps that become active
    logic       same_parity;     // warps that become active with the parity of the one before
    logic       leave_end;       // warps that leave because they have ended
    logic       leave_barrier;   // warps that leave because they wait at a barrier
    logic       leave_mark;      // warps that leave because the head needs a long-latency value
    logic       leave_patience;  // warps that leave because they have issued for long while others are ready
    logic       active;          // a warp is active
    logic       drain;           // the current warp drains: its instructions in flight are awaited
    logic [1:0] flush;           // slots that the register file empties
    logic       stall_switch;    // a warp is ready, its slot is being emptied
    logic       stall_ready;     // no warp is ready
    logic [5:0] ready;           // warps that are ready
    logic [5:0] pending;         // living warps that are not current
  } alternating_event_t;

  // What the reads of the hybrid register file count in a cycle.
  typedef struct packed {
    logic       read;                 // reads that begin in a bank
    logic [3:0] read_groups;          // lane groups of the instruction
    logic [5:0] conflict_intra;       // sources that waited for another source of the instruction
    logic [5:0] conflict_inter;       // sources that waited for another instruction
    logic [5:0] conflict_read_write;  // sources that waited for their bank
    logic [1:0] hit;                  // sources granted: all lanes are in the buffer
    logic [1:0] partial;              // some lanes
    logic [1:0] miss;                 // no lane
    logic [4:0] buffer_groups;        // lane groups read from the buffer
  } hrf_reads_event_t;

  // What the hybrid register file counts in a cycle, for energy.
  typedef struct packed {
    logic [2:0] look;           // RCM lookups
    logic [1:0] hit;            // source registers read: all lanes are in the buffer
    logic [1:0] partial;        // source registers read: some lanes are in the buffer
    logic [1:0] miss;           // source registers read: no lane is in the buffer
    logic [4:0] read_groups;    // lane groups read from a buffer as operands
    logic       write;          // results written to a buffer
    logic [3:0] write_groups;   // their lane groups
    logic       coalesced;      // results written whose register already had an entry
    logic       load;           // results that go into a queue
    logic [3:0] load_groups;
    logic       direct;         // results that a bank takes from the latch
    logic [3:0] direct_groups;
    logic [1:0] drain;          // entries of buffers that banks take
    logic [4:0] drain_groups;
    logic [1:0] gated;          // buffers whose upper entries are off
    logic [1:0] wake;           // wake-ups that begin
    logic [1:0] sleep;          // sleeps that begin
  } hrf_event_t;

  // More counts, for human readers and not for energy.
  typedef struct packed {
    logic       wait_wake;       // a result waits for power
    logic       wait_full;       // a result waits for its bank, because the buffer is full
    logic       wait_load;       // a result waits for a place in a queue
    logic       wait_read;       // a source waits for its bank
    logic       frozen;          // the pipeline stalls for a write
    logic [1:0] draining;        // buffers that are being emptied
    logic [1:0] waking;
    logic [1:0] sleeping;
    logic [1:0] period;          // active periods that end
    logic [7:0] period_entries;  // entries used in these periods
    logic [1:0] period_drop;     // of these, periods that end with the warp
  } hrf_count_event_t;

  // What an arbiter that steals banks counts in a cycle.
  typedef struct packed {
    logic [1:0] candidate;          // ports with an operand that is wanted
    logic [2:0] sharing;            // of these operands those whose bank another one wants
    logic [2:0] stolen;             // stealing reads
    logic [1:0] steal;              // ports that have some
    logic [1:0] blocking_read;      // reads that hold a write of their register back
    logic [1:0] write_normal;       // results written into their own bank
    logic [1:0] write_forced;       // of these, results that had to because no place was free
    logic [1:0] write_partial;      // of the forced ones, results without all lanes
    logic [1:0] write_next;         // of the forced ones, results that the head of their warp reads
    logic [1:0] write_parked;       // results parked
    logic [1:0] write_wait_parked;  // results that wait for a parked value
    logic [1:0] write_wait_bus;     // results that wait because a landing value has their bus
    logic       return_next;        // fetches of parked values right after the parking
    logic       return_later;       // fetches of parked values later
    logic       return_forced;      // fetches of parked values that are needed for:
    logic       force_read;         // a read of the register,
    logic       force_write;        // a write of the register,
    logic       force_alive;        // or a write of the entry in which the value is parked
    logic       land;               // landings
    logic [5:0] wait_parked;        // reads that wait for a parked value
    logic [5:0] wait_return;        // reads that wait because a landing or a forced fetch has their bank
    logic [5:0] parked;             // banks that hold a parked value
    logic [5:0] places;             // banks with a free entry that is empty
  } steal_arbiter_event_t;

  // Events of the register file with stealing: the arbiter's fields, then its own.
  typedef struct packed {
    logic [1:0] candidate;
    logic [2:0] sharing;
    logic [2:0] stolen;
    logic [1:0] steal;
    logic [1:0] blocking_read;
    logic [1:0] write_normal;
    logic [1:0] write_forced;
    logic [1:0] write_partial;
    logic [1:0] write_next;
    logic [1:0] write_parked;
    logic [1:0] write_wait_parked;
    logic [1:0] write_wait_bus;
    logic       return_next;
    logic       return_later;
    logic       return_forced;
    logic       force_read;
    logic       force_write;
    logic       force_alive;
    logic       land;
    logic [5:0] wait_parked;
    logic [5:0] wait_return;
    logic [5:0] parked;
    logic [5:0] places;
    logic [1:0] wasted;             // ports whose stolen operands are not taken
    logic [1:0] hint;               // hints taken
    logic [1:0] hint_ignored;       // hints ignored
  } steal_event_t;

  // Parked values that need not return to their place.
  typedef struct packed {
    logic [5:0] redirected;     // reads performed where their value is parked
    logic [1:0] dropped;        // values dropped, as a result has overwritten their register
  } steal_place_event_t;

  // What the software-managed hierarchy counts in a cycle, for energy.
  typedef struct packed {
    logic [5:0] orf_read_groups;          // lane groups read from the ORF
    logic [5:0] orf_read_shared_groups;   // of these, groups for shared units
    logic [4:0] lrf_a_read_groups;        // lane groups read from the LRF's banks
    logic [4:0] lrf_b_read_groups;
    logic [4:0] lrf_c_read_groups;
    logic [5:0] mrf_shared_groups;        // lane groups requested from the MRF for shared units
    logic [4:0] mrf_write_shared_groups;  // lane groups of results of shared units that go to the MRF
    logic [4:0] orf_write_groups;         // groups of results written to the ORF
    logic [4:0] orf_write_shared_groups;  // of these, groups from shared units
    logic [4:0] copy_groups;              // groups of operands copied to the ORF
    logic [4:0] copy_shared_groups;       // of these, groups for shared units
    logic [4:0] lrf_write_groups;         // groups of results written to the LRF
  } hierarchy_event_t;

  // More counts, for human readers and not for energy.
  typedef struct packed {
    logic [1:0] mrf_none;       // instructions by the registers that they ask of the MRF
    logic [1:0] mrf_one;
    logic [1:0] mrf_two;
    logic [1:0] mrf_three;
    logic [2:0] orf_read;       // read ports of the ORF used
    logic [2:0] lrf_read;       // banks of the LRF read
    logic [1:0] orf_write;      // results written to the ORF
    logic [1:0] lrf_write;      // to the LRF
    logic [1:0] copy;           // operands copied to the ORF
    logic [1:0] both;           // results that go to a place and to the MRF
    logic [1:0] mrf_only;       // results that go to the MRF only
    logic [1:0] strand_end;     // instructions that end their strand
    logic [1:0] strand_void;    // of these, strands that discard values
    logic [1:0] result_wait;    // results that wait for a write port
    logic [1:0] copy_wait;      // ports whose copies wait for a write port
    logic [1:0] dispatch_hold;  // instructions that wait for copy latches
    logic [1:0] unwritten;      // instructions that read what their strand has not written
  } hierarchy_count_event_t;

  // What the places of the slots count in a cycle.
  typedef struct packed {
    logic [1:0] strand_end;
    logic [1:0] strand_void;
    logic [1:0] unwritten;
  } hierarchy_entries_event_t;

  // What the power states of registers count in a cycle, for leakage and for the energy of changes.
  typedef struct packed {
    logic [13:0] on;          // registers that are ON
    logic [13:0] asleep;      // in SLEEP
    logic [7:0]  wake_sleep;  // registers that are woken from SLEEP
    logic [7:0]  wake_off;    // registers that are woken from OFF
    logic [3:0]  to_sleep;    // accesses that put their register to SLEEP
    logic [3:0]  to_off;      // accesses that switch their register OFF
    logic [3:0]  kept;        // accesses whose register stays ON, because another instruction accesses it
  } power_event_t;

  // Heads that wait for power.
  typedef struct packed {
    logic [5:0] wait_wake;  // heads that wait for a wake-up
    logic [5:0] wait_read;  // heads that wait for an access that changes the state when it ends
  } power_wait_event_t;

  // What the table of the instructions in progress counts in a cycle.
  typedef struct packed {
    logic [7:0] used;  // entries in use
    logic [1:0] full;  // instructions decoded that find no free entry
  } access_table_event_t;

  // The two structs above together, for human readers.
  typedef struct packed {
    logic [5:0] wait_wake;
    logic [5:0] wait_read;
    logic [7:0] used;
    logic [1:0] full;
  } power_count_event_t;

  // Where an instruction goes (docs/blocks/decode.md).
  typedef enum logic [3:0] {
    UnitControl     = 4'd0,  // branches, exits, traps: complete at issue
    UnitAlu         = 4'd1,
    UnitMemory      = 4'd2,  // the memory pipeline
    UnitBarrier     = 4'd3,
    UnitNothing     = 4'd4,
    UnitFp          = 4'd5,  // single precision
    UnitSfu         = 4'd6,  // special functions
    UnitUnsupported = 4'd7,
    UnitConstant    = 4'd8   // constants and special registers
  } unit_e;

  // Whether a unit belongs to one issue port; the others are shared.
  function automatic logic is_private(logic [3:0] unit);
    return unit == UnitAlu || unit == UnitFp;
  endfunction

  // Whether an instruction of the unit goes to the operand stage.
  function automatic logic takes_operands(logic [3:0] to);
    return to == UnitAlu || to == UnitMemory || to == UnitBarrier || to == UnitFp ||
           to == UnitSfu || to == UnitConstant;
  endfunction

  // What an instruction reads and writes, as far as blocks other than its unit have to know.
  typedef struct packed {
    logic [3:0]       unit;        // unit_e
    logic             b_constant;  // source b is the constant
    logic [PredW-1:0] p;           // predicate written
    logic [PredW:0]   t;           // predicate sources: inverted, number
    logic [PredW:0]   s;
    logic [PredW:0]   guard;
    logic             stop;        // fetch stops after this instruction, until it resumes
    logic [RegW-1:0]  d;           // register written
    logic [RegW-1:0]  c;           // registers read
    logic [RegW-1:0]  b;
    logic [RegW-1:0]  a;
  } roles_t;

  // Whether a register is among those read. The other roles are not read here.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic reads_register(roles_t roles, logic [RegW-1:0] register);
    return roles.a == register || roles.b == register || roles.c == register;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // An instruction on its way from issue to its unit (docs/blocks/operand_stage.md): what the operand
  // stage keeps for it. Warp and lanes go with the register file's request. Words of 32 bits first,
  // so that no word of a simulator holds parts of two of them.
  typedef struct packed {
    logic [PcW-1:0]   pc;     // its address
    roles_t           roles;
    logic [Lanes-1:0] t;      // predicate sources, as the unit gets them
    logic [Lanes-1:0] s;
    logic [WordW-1:0] ctl;    // control word
    logic [WordW-1:0] op;     // operation word
  } instruction_t;

  // A result on its way from a unit to its bus (docs/blocks/result_queue.md). Its register's data goes
  // beside it, as does the bit that says whether there is a register, by which the data is valid.
  // What it does not write is 0. Words of 32 bits first, as above.
  typedef struct packed {
    logic             done;        // last of its instruction
    logic             pred_valid;  // it writes a predicate
    logic [PredW-1:0] pred;
    logic [RegW-1:0]  d;           // register written
    logic [WarpW-1:0] warp;
    logic [Lanes-1:0] pred_data;   // value of each lane of the predicate
    logic [Lanes-1:0] mask;        // lanes
  } result_t;

  // A result on its bus: from writeback into the register file (docs/blocks/operand_stage.md). Its
  // data has a signal of its own, as have fields whose width depends on a module's parameters.
  typedef struct packed {
    logic             from_private;  // made by an ALU or a single precision unit
    logic [RegW-1:0]  d;             // register written
    logic [WarpW-1:0] warp;
    logic [Lanes-1:0] mask;          // lanes
  } write_t;

  // A result that is in the register file.
  typedef struct packed {
    logic [RegW-1:0]  d;  // register written
    logic [WarpW-1:0] warp;
  } written_t;

  // The kind of an instruction for the SIMT stack (docs/blocks/simt_stack.md).
  typedef enum logic [1:0] {
    KindOther  = 2'd0,
    KindBranch = 2'd1,
    KindExit   = 2'd2
  } kind_e;

  // Opcodes that more than one block has to know.
  // verilator lint_off UNUSEDPARAM
  localparam logic [6:0] OpBra      = 7'h02;
  localparam logic [6:0] OpExit     = 7'h03;
  localparam logic [6:0] OpBar      = 7'h04;
  localparam logic [6:0] OpWarpsync = 7'h05;
  localparam logic [6:0] OpTrap     = 7'h07;
  localparam logic [6:0] OpRelssp   = 7'h08;
  localparam logic [6:0] OpLd       = 7'h40;
  localparam logic [6:0] OpSt       = 7'h41;
  localparam logic [6:0] OpAtom     = 7'h43;
  localparam logic [6:0] OpCas      = 7'h44;
  localparam logic [6:0] OpTex      = 7'h46;
  localparam logic [6:0] OpProbe    = 7'h45;  // made by the hardware, not in programs (docs/blocks/issue_stage.md)

  // Causes of a fault (docs/blocks/fault_unit.md).
  localparam logic [CauseW-1:0] CauseTrap              = 4'd1;
  localparam logic [CauseW-1:0] CauseUnsupported       = 4'd2;
  localparam logic [CauseW-1:0] CauseBarrierDivergence = 4'd3;
  localparam logic [CauseW-1:0] CauseMisaligned        = 4'd4;
  localparam logic [CauseW-1:0] CauseOutOfBounds       = 4'd5;
  localparam logic [CauseW-1:0] CauseWideAddress       = 4'd6;
  localparam logic [CauseW-1:0] CauseConstantWritten   = 4'd7;
  localparam logic [CauseW-1:0] CauseLocalAtomic       = 4'd8;
  localparam logic [CauseW-1:0] CauseWarpDivergence    = 4'd10;
  localparam logic [CauseW-1:0] CauseNoSuchPlace       = 4'd11;
  localparam logic [CauseW-1:0] CauseBarrierCount      = 4'd12;
  localparam logic [CauseW-1:0] CauseDoesNotFit        = 4'd13;
  localparam logic [CauseW-1:0] CauseReleased          = 4'd14;
  // verilator lint_on UNUSEDPARAM

  // Space of a load, store or atomic operation: the lowest modifiers.
  typedef enum logic [1:0] {
    SpaceGlobal  = 2'd0,
    SpaceShared  = 2'd1,
    SpaceLocal   = 2'd2,
    SpaceGeneric = 2'd3
  } space_e;

  // Fields of the words (docs/isa.md).
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [OpcodeW-1:0] opcode_of(logic [WordW-1:0] op);
    return op[OpcodeW-1:0];
  endfunction

  function automatic logic [LaneW-1:0] constant_of(logic [WordW-1:0] op);
    return op[OperationConstant +: LaneW];
  endfunction

  function automatic logic [ModifiersW-1:0] modifiers_of(logic [WordW-1:0] op,
                                                         logic [WordW-1:0] ctl);
    return {ctl[ControlModifiers +: ModifiersW-OperationModifiersW],
            op[OperationModifiers +: OperationModifiersW]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Whether an instruction's register d comes from global or local memory (LD, ATOM, CAS of any
  // space but the shared one) or from the texture unit (TEX), hundreds of cycles later
  // (docs/blocks/operand_stage.md). The modifiers of TEX name no space.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic long_latency(logic [WordW-1:0] op, logic [RegW-1:0] d);
    // verilator lint_on UNUSEDSIGNAL
    logic takes_long;
    takes_long = opcode_of(op) == OpLd || opcode_of(op) == OpAtom || opcode_of(op) == OpCas;
    takes_long = takes_long && op[OperationModifiers +: 2] != SpaceShared;
    return (takes_long || opcode_of(op) == OpTex) && d != NoReg;
  endfunction

  // Whether an instruction is an atomic operation outside shared memory that has a result
  // (docs/blocks/share_locks.md).
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic returning_atomic(logic [WordW-1:0] op, logic [RegW-1:0] d);
    // verilator lint_on UNUSEDSIGNAL
    logic atomic;
    atomic = opcode_of(op) == OpAtom || opcode_of(op) == OpCas;
    return atomic && op[OperationModifiers +: 2] != SpaceShared && d != NoReg;
  endfunction

  // Whether an instruction accesses memory other than the shared one, or the texture unit beside it
  // (docs/blocks/share_locks.md). The modifiers of TEX name no space.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic uses_memory(logic [WordW-1:0] op);
    // verilator lint_on UNUSEDSIGNAL
    logic memory;
    memory = opcode_of(op) == OpLd || opcode_of(op) == OpSt || opcode_of(op) == OpAtom ||
             opcode_of(op) == OpCas;
    return (memory && op[OperationModifiers +: 2] != SpaceShared) || opcode_of(op) == OpTex;
  endfunction

  // Power state of the upper entries of a write buffer (docs/blocks/hrf_power.md).
  typedef enum logic [1:0] {
    PowerOff      = 2'd0,
    PowerWaking   = 2'd1,
    PowerOn       = 2'd2,
    PowerSleeping = 2'd3
  } power_e;

  // The state in which an access leaves its register (docs/isa.md). 3 is OFF too.
  typedef enum logic [RegisterPowerW-1:0] {
    RegisterOn    = 2'd0,
    RegisterSleep = 2'd1,
    RegisterOff   = 2'd2
  } register_power_e;

  // Service: accesses of the main register file. Returns the roles of an instruction without the registers that are
  // read or written in levels above the main register file; all roles if the design has no such level.
  // verilator lint_off UNUSEDSIGNAL
  function automatic roles_t main_roles(int unsigned organisation, logic [31:0] sizes, roles_t roles,
                                        logic [WordW-1:0] op, logic [WordW-1:0] ctl);
    hierarchy_sizes_t places;
    places     = sizes[$bits(hierarchy_sizes_t)-1:0];
    main_roles = roles;
    if (organisation == OrganisationHierarchy) begin
      if (is_above(places, ctl[ControlSourceLevel +: LevelW]))          main_roles.a = NoReg;
      if (is_above(places, ctl[ControlSourceLevel+LevelW +: LevelW]))   main_roles.b = NoReg;
      if (is_above(places, ctl[ControlSourceLevel+2*LevelW +: LevelW])) main_roles.c = NoReg;
      if (is_above(places, ctl[ControlResultLevel +: LevelW]) && !long_latency(op, roles.d)) begin
        main_roles.d = NoReg;
      end
    end
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Whether a level is only a place above the main register file, and this place exists. ORF entries have the
  // numbers from 1 on; LRF banks have the numbers behind the last one that an ORF entry can have.
  function automatic logic is_above(hierarchy_sizes_t places, logic [LevelW-1:0] level);
    logic [UpperW-1:0] number;
    number = level[UpperW-1:0];
    if (level[LevelW-1] || number == '0) return 1'b0;
    if (32'(number) <= OrfPlaces)        return number <= places.entries;
    return 32'(number) - OrfPlaces <= 32'(places.lrf_banks);
  endfunction

  // The power states that an instruction's words give to these registers of the main register file. A source's field
  // depends on its position among all sources that are registers; a third such source gets SLEEP.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [ControlPowerW-1:0] main_states(roles_t roles, roles_t main,
                                                           logic [WordW-1:0] ctl);
    // verilator lint_on UNUSEDSIGNAL
    logic [3*RegisterPowerW-1:0] fields;  // fields of the sources from k on
    logic [2*RegisterPowerW-1:0] moved;
    logic [Operands-1:0]         named, kept;
    logic [1:0]                  ahead;  // number of kept sources before source k
    named  = {roles.c != NoReg, roles.b != NoReg, roles.a != NoReg};
    kept   = {main.c != NoReg, main.b != NoReg, main.a != NoReg};
    fields = {RegisterSleep, ctl[ControlPower +: 2*RegisterPowerW]};
    moved  = '0;
    ahead = '0;
    for (int unsigned k = 0; k < Operands; k++) begin
      if (kept[k] && ahead == 2'd0) moved[0 +: RegisterPowerW] = fields[0 +: RegisterPowerW];
      if (kept[k] && ahead == 2'd1) moved[RegisterPowerW +: RegisterPowerW] = fields[0 +: RegisterPowerW];
      if (kept[k])  ahead = ahead + 1'b1;
      if (named[k]) fields = fields >> RegisterPowerW;
    end
    return {ctl[ControlPower+2*RegisterPowerW +: RegisterPowerW], moved};
  endfunction

  // The power states that an instruction's words give to its sources a, b, c, in this order. A source that is
  // also the result has the result's state. A source that is no register has ON.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [Operands*RegisterPowerW-1:0] sources_left(roles_t roles,
                                                                      logic [WordW-1:0] ctl);
    // verilator lint_on UNUSEDSIGNAL
    logic [3*RegisterPowerW-1:0]   fields;  // fields of the sources from k on
    logic [Operands-1:0][RegW-1:0] names;
    names        = {roles.c, roles.b, roles.a};
    fields       = {RegisterSleep, ctl[ControlPower +: 2*RegisterPowerW]};
    sources_left = '0;
    for (int unsigned k = 0; k < Operands; k++) begin
      if (names[k] != NoReg) begin
        sources_left[RegisterPowerW*k +: RegisterPowerW] =
            (names[k] == roles.d) ? ctl[ControlPower+2*RegisterPowerW +: RegisterPowerW]
                                  : fields[0 +: RegisterPowerW];
        fields = fields >> RegisterPowerW;
      end
    end
  endfunction

  // What decides the power state after an access (docs/blocks/power_states.md).
  typedef enum logic [1:0] {
    PowerModeAlwaysOn    = 2'd0,  // registers have no power states
    PowerModeSleepAlways = 2'd1,  // every access leaves its register in SLEEP
    PowerModeHints       = 2'd2,  // the control word decides
    PowerModeTable       = 2'd3   // the control word, but instructions in progress keep their registers ON
  } power_mode_e;

  // Who writes a bank of the hybrid register file (docs/blocks/hrf.md).
  typedef enum logic [1:0] {
    WriteQueue  = 2'd0,
    WriteDrain  = 2'd1,
    WriteDirect = 2'd2
  } write_source_e;

  // The kind of a memory instruction (docs/blocks/address_unit.md).
  typedef enum logic [1:0] {
    KindLoad    = 2'd0,
    KindStore   = 2'd1,
    KindAtomic  = 2'd2,
    KindTexture = 2'd3
  } access_kind_e;

  // Bytes of an access, as a power of two.
  typedef enum logic [1:0] {
    SizeByte = 2'd0,
    SizeHalf = 2'd1,
    SizeWord = 2'd2
  } access_size_e;

  // Atomic operations: ATOM's numbers, and one for CAS.
  typedef enum logic [3:0] {
    AtomicAdd         = 4'd0,
    AtomicMinUnsigned = 4'd1,
    AtomicMinSigned   = 4'd2,
    AtomicMaxUnsigned = 4'd3,
    AtomicMaxSigned   = 4'd4,
    AtomicIncrement   = 4'd5,
    AtomicDecrement   = 4'd6,
    AtomicAnd         = 4'd7,
    AtomicOr          = 4'd8,
    AtomicXor         = 4'd9,
    AtomicExchange    = 4'd10,
    AtomicAddFloat    = 4'd11,
    AtomicCas         = 4'd12
  } atomic_e;

  // The bits of an address that must be 0 for an access of this size.
  function automatic logic [1:0] size_mask(logic [1:0] size);
    return {size[1], size != SizeByte};
  endfunction

  // The value that a load takes from the word that holds its bytes: the bytes from `place` on, extended.
  function automatic logic [LaneW-1:0] loaded(logic [LaneW-1:0] word, logic [1:0] place,
                                              logic [1:0] size, logic is_signed);
    logic [LaneW-1:0] shifted;
    shifted = word >> {place, 3'b000};
    case (size)
      SizeByte: loaded = {{LaneW-8{is_signed & shifted[7]}}, shifted[7:0]};
      SizeHalf: loaded = {{LaneW-16{is_signed & shifted[15]}}, shifted[15:0]};
      default:  loaded = shifted;
    endcase
  endfunction

  // The data that a load takes from the line (or from the words of an atomic operation or a texture
  // fetch) that its lanes wait for:
  // the register's data, 0 in the lanes outside the mask. An access lies within a line and is
  // aligned, so its bytes lie within one word of the line.
  function automatic logic [DataW-1:0] loaded_lanes(
    logic [DataW-1:0] line, logic [Lanes-1:0][LineOffsetW-1:0] offsets, logic [Lanes-1:0] mask,
    logic [1:0] size, logic is_signed, logic lanewise
  );
    logic [LineOffsetW-1:0] offset;
    loaded_lanes = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (mask[l]) begin
        offset = offsets[l];
        loaded_lanes[LaneW*l +: LaneW] = lanewise
            ? line[LaneW*l +: LaneW]
            : loaded(line[{offset[LineOffsetW-1:2], 5'b00000} +: LaneW], offset[1:0], size,
                     is_signed);
      end
    end
  endfunction

  // Whether the offset of every lane of the mask is a multiple of the size. Of the offsets only the
  // lowest bits matter.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic are_aligned(logic [Lanes-1:0][LineOffsetW-1:0] offsets,
                                       logic [Lanes-1:0] mask, logic [1:0] size);
    // verilator lint_on UNUSEDSIGNAL
    are_aligned = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (mask[l] && (offsets[l][1:0] & size_mask(size)) != '0) are_aligned = 1'b0;
    end
  endfunction

  // Lane groups with an active lane. Each group is folded into its lowest bit, so that simulation
  // needs one population count instead of eight selections.
  function automatic logic [GroupsW-1:0] active_groups(logic [Lanes-1:0] mask);
    logic [Lanes-1:0] folded;
    folded = mask | (mask >> 1);
    folded = folded | (folded >> 2);
    return GroupsW'($countones(folded & {Lanes / GroupLanes{4'b0001}}));
  endfunction

  // The lowest-numbered warp of a set; 0 if it is empty. Bit i of the number is the OR of all warps
  // whose number has bit i: six tests of a word, where a search would look at every warp.
  function automatic logic [WarpW-1:0] lowest_warp(logic [WarpSetW-1:0] warps);
    logic [WarpSetW-1:0] lowest;
    lowest = warps & (~warps + 1'b1);
    return {(lowest & {32'hFFFF_FFFF, 32'h0}) != '0,
            (lowest & {2{16'hFFFF, 16'h0}}) != '0,
            (lowest & {4{8'hFF, 8'h0}}) != '0,
            (lowest & {8{4'hF, 4'h0}}) != '0,
            (lowest & {16{2'b11, 2'b00}}) != '0,
            (lowest & {32{2'b10}}) != '0};
  endfunction

  // The first warp of a set from `start` upwards, wrapping; 0 if the set is empty.
  function automatic logic [WarpW-1:0] next_warp(logic [WarpSetW-1:0] warps,
                                                 logic [WarpW-1:0] start);
    logic [WarpSetW-1:0] upper;
    upper = warps & ({WarpSetW{1'b1}} << start);
    return lowest_warp((upper != '0) ? upper : warps);
  endfunction

endpackage

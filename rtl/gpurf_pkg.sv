// Sizes that every block agrees on, and the event words of the register file.
//
// The machine is the one of the papers: warps of 32 threads, registers of 32 bits, up to three
// source operands an instruction. A warp register is 32 lanes wide and is read and written in one
// access (stealing paper, section II-B). Energy is charged for groups of four lanes, because a bank
// is built from 128-bit macros (RFC paper, section 2.1).
package gpurf_pkg;

  // A module alone uses some of these constants, never all of them.
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned Lanes = 32;       // threads of a warp
  localparam int unsigned LaneW = 32;       // bits of a thread's register
  localparam int unsigned DataW = Lanes * LaneW;
  localparam int unsigned WarpW = 6;        // warp number
  localparam int unsigned RegW = 8;         // register name
  localparam int unsigned Operands = 3;     // source operands of an instruction
  localparam int unsigned GroupLanes = 4;   // lanes that share a macro of a bank
  localparam int unsigned GroupsW = $clog2(Lanes / GroupLanes + 1);
  // verilator lint_on UNUSEDPARAM

  // What the arbiter counts in a cycle; the first field is the most significant.
  typedef struct packed {
    logic [5:0] read;                 // bank reads
    logic [8:0] read_groups;          // their lane groups with an active lane
    logic [1:0] write;                // bank writes
    logic [4:0] write_groups;         // their lane groups with a written lane
    logic [5:0] conflict_intra;       // reads that waited for their own instruction
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

  // Lane groups with an active lane. Each group is folded into its lowest bit, so that simulation
  // needs one population count instead of eight selections.
  function automatic logic [GroupsW-1:0] active_groups(logic [Lanes-1:0] mask);
    logic [Lanes-1:0] folded;
    folded = mask | (mask >> 1);
    folded = folded | (folded >> 2);
    return GroupsW'($countones(folded & {Lanes / GroupLanes{4'b0001}}));
  endfunction

endpackage

// Registers of the instructions in progress.
//
// Holds for each warp a few instructions that have been decoded and have not been written back (sharing
// thesis 4.2.3, figure 4.5). If a register is about to leave the state ON, and another of these instructions
// accesses it, the register would have to be woken at once: so it stays ON.
//
// "Another" instruction is one with another address. An entry is found by its address, or by the register that
// is written: at most one instruction in flight writes a register, so no entry number has to travel with the
// instruction through the units. An instruction that finds no free entry is not entered. An instruction that is
// missing from the table can cost a wake-up, never a value.
`include "gpurf_assert.svh"

module access_table
  import gpurf_pkg::*;
#(
  parameter int unsigned Warps = 32,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned TableEntries = 2,
  localparam int unsigned Sources = Operands * IssuePorts
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // an instruction is decoded
  input  logic [IssuePorts-1:0] push_valid_i,
  input  logic [WarpW-1:0]      push_warp_i  [IssuePorts],
  input  logic [PcW-1:0]        push_pc_i    [IssuePorts],
  input  roles_t                push_roles_i [IssuePorts],

  // an instruction issues
  input  logic [IssuePorts-1:0] issue_valid_i,
  input  logic [WarpW-1:0]      issue_warp_i [IssuePorts],
  input  logic [PcW-1:0]        issue_pc_i   [IssuePorts],
  input  logic [IssuePorts-1:0] issue_stays_i,             // the instruction goes to the operand stage

  // an instruction is dispatched: its sources have been read
  input  logic [IssuePorts-1:0] read_valid_i,
  input  logic [WarpW-1:0]      read_warp_i  [IssuePorts],
  input  logic [PcW-1:0]        read_pc_i    [IssuePorts],
  input  roles_t                read_roles_i [IssuePorts],

  // a register has been written for good
  input  logic [IssuePorts-1:0] reg_valid_i,
  input  logic [WarpW-1:0]      reg_warp_i   [IssuePorts],
  input  logic [RegW-1:0]       reg_i        [IssuePorts],

  // a predicate has been written
  input  logic [IssuePorts-1:0] pred_valid_i,
  input  logic [WarpW-1:0]      pred_warp_i  [IssuePorts],
  input  logic [PredW-1:0]      pred_i       [IssuePorts],

  output logic [Sources-1:0]    read_keep_o,               // another instruction accesses the source
  output logic [IssuePorts-1:0] reg_keep_o,                // another instruction accesses the register written
  output access_table_event_t   event_o
);

  localparam int unsigned E = TableEntries;
  localparam int unsigned Places = E * Warps;              // entry e of warp w: E * w + e
  localparam int unsigned PlaceW = $clog2(Places);

  logic             valid_q  [Places];
  logic             issued_q [Places];
  logic [PcW-1:0]   pc_q     [Places];
  logic [RegW-1:0]  a_q      [Places];
  logic [RegW-1:0]  b_q      [Places];
  logic [RegW-1:0]  c_q      [Places];
  logic [RegW-1:0]  d_q      [Places];
  logic [PredW-1:0] p_q      [Places];

  // Entries of the warp of each port. If no entry is found, its place has no meaning.
  logic [IssuePorts-1:0] push_found;             // a free entry
  logic [PlaceW-1:0]     push_place  [IssuePorts];
  logic [IssuePorts-1:0] issue_found;            // entry of the instruction that issues
  logic [PlaceW-1:0]     issue_place [IssuePorts];
  logic [IssuePorts-1:0] read_found;             // entry of a dispatched instruction that writes nothing
  logic [PlaceW-1:0]     read_place  [IssuePorts];
  logic [E-1:0]          reg_free    [IssuePorts];   // entries that a written register frees
  logic [E-1:0]          pred_free   [IssuePorts];   // entries that a written predicate frees

  function automatic logic [PlaceW-1:0] place_of(logic [WarpW-1:0] warp, int unsigned entry);
    return PlaceW'(E * 32'(warp) + entry);
  endfunction

  // Whether the entry is in use and accesses the register.
  function automatic logic accesses(logic [PlaceW-1:0] place, logic [RegW-1:0] register);
    return valid_q[place] && (a_q[place] == register || b_q[place] == register ||
                              c_q[place] == register || d_q[place] == register) &&
           register != NoReg;
  endfunction

  // Whether the entry is that of an instruction in flight that writes the register.
  function automatic logic in_flight(logic [PlaceW-1:0] place, logic [RegW-1:0] register);
    return valid_q[place] && issued_q[place] && d_q[place] == register;
  endfunction

  // ------------------------------------------------------------------ look up
  always_comb begin : reads
    logic [PlaceW-1:0] place;
    place       = '0;
    read_keep_o = '0;
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (read_valid_i[p]) begin
        for (int unsigned e = 0; e < E; e++) begin
          place = place_of(read_warp_i[p], e);
          if (valid_q[place] && pc_q[place] != read_pc_i[p]) begin
            if (accesses(place, read_roles_i[p].a)) read_keep_o[Operands*p]   = 1'b1;
            if (accesses(place, read_roles_i[p].b)) read_keep_o[Operands*p+1] = 1'b1;
            if (accesses(place, read_roles_i[p].c)) read_keep_o[Operands*p+2] = 1'b1;
          end
        end
      end
    end
  end

  always_comb begin : writes
    logic [PlaceW-1:0] place;
    logic              found;  // the instruction that writes has an entry
    logic [PcW-1:0]    pc;     // address of this instruction
    place      = '0;
    found      = 1'b0;
    pc         = '0;
    reg_keep_o = '0;
    reg_free   = '{default: '0};
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (reg_valid_i[p]) begin
        found = 1'b0;
        pc    = '0;
        for (int unsigned e = 0; e < E; e++) begin
          place = place_of(reg_warp_i[p], e);
          if (in_flight(place, reg_i[p])) begin
            if (!found) pc = pc_q[place];
            found          = 1'b1;
            reg_free[p][e] = 1'b1;
          end
        end
        for (int unsigned e = 0; e < E; e++) begin
          place = place_of(reg_warp_i[p], e);
          if (accesses(place, reg_i[p]) && !(found && pc_q[place] == pc)) reg_keep_o[p] = 1'b1;
        end
      end
    end
  end

  // ------------------------------------------------------------------ entries allocated and freed
  // The search runs downwards, so that the lowest entry is found.
  always_comb begin : searches
    logic [PlaceW-1:0] place;
    place       = '0;
    push_found  = '0;
    issue_found = '0;
    read_found  = '0;
    push_place  = '{default: '0};
    issue_place = '{default: '0};
    read_place  = '{default: '0};
    pred_free   = '{default: '0};
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      for (int unsigned n = 0; n < E; n++) begin
        place = place_of(push_warp_i[p], E - 1 - n);
        if (push_valid_i[p] && !valid_q[place]) begin
          push_found[p] = 1'b1;
          push_place[p] = place;
        end
        place = place_of(issue_warp_i[p], E - 1 - n);
        if (issue_valid_i[p] && valid_q[place] && !issued_q[place] &&
            pc_q[place] == issue_pc_i[p]) begin
          issue_found[p] = 1'b1;
          issue_place[p] = place;
        end
        // An instruction that writes nothing frees its entry at dispatch, because no write will free it.
        place = place_of(read_warp_i[p], E - 1 - n);
        if (read_valid_i[p] && read_roles_i[p].d == NoReg && read_roles_i[p].p == NoPred &&
            in_flight(place, NoReg) && p_q[place] == NoPred && pc_q[place] == read_pc_i[p]) begin
          read_found[p] = 1'b1;
          read_place[p] = place;
        end
        // The entry of an instruction that also writes a register is freed by the register, not here.
        place = place_of(pred_warp_i[p], n);
        pred_free[p][n] = pred_valid_i[p] && in_flight(place, NoReg) && p_q[place] == pred_i[p];
      end
    end
  end

  always_comb begin
    event_o = '0;
    for (int unsigned i = 0; i < Places; i++) event_o.used = event_o.used + 8'(valid_q[i]);
    event_o.full = 2'($countones(push_valid_i & ~push_found));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q  <= '{default: 1'b0};
      issued_q <= '{default: 1'b0};
    end else begin
      for (int unsigned p = 0; p < IssuePorts; p++) begin
        if (issue_found[p]) begin
          if (issue_stays_i[p]) issued_q[issue_place[p]] <= 1'b1;
          else                  valid_q[issue_place[p]]  <= 1'b0;
        end
        if (read_found[p]) valid_q[read_place[p]] <= 1'b0;
        for (int unsigned e = 0; e < E; e++) begin
          if (reg_free[p][e])  valid_q[PlaceW'(E * 32'(reg_warp_i[p]) + e)]  <= 1'b0;
          if (pred_free[p][e]) valid_q[PlaceW'(E * 32'(pred_warp_i[p]) + e)] <= 1'b0;
        end
        if (push_found[p]) begin
          valid_q[push_place[p]]  <= 1'b1;
          issued_q[push_place[p]] <= 1'b0;
        end
      end
    end
  end

  // The payload has no reset: it has no meaning while the entry is free.
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < IssuePorts; p++) begin
      if (push_found[p]) begin
        pc_q[push_place[p]] <= push_pc_i[p];
        a_q[push_place[p]]  <= push_roles_i[p].a;
        b_q[push_place[p]]  <= push_roles_i[p].b;
        c_q[push_place[p]]  <= push_roles_i[p].c;
        d_q[push_place[p]]  <= push_roles_i[p].d;
        p_q[push_place[p]]  <= push_roles_i[p].p;
      end
    end
  end

  for (genvar p = 0; p < IssuePorts; p++) begin : gen_check
    `GPURF_ASSERT_WHEN(push_in_range, push_valid_i[p], 32'(push_warp_i[p]) < Warps,
                       "an instruction was decoded for a warp that does not exist")
    for (genvar o = 0; o < p; o++) begin : gen_other
      `GPURF_ASSERT_WHEN(push_of_different, push_valid_i[o] && push_valid_i[p],
                         push_warp_i[o] != push_warp_i[p],
                         "two instructions of a warp were decoded at once")
      `GPURF_ASSERT_WHEN(issue_of_different, issue_valid_i[o] && issue_valid_i[p],
                         issue_warp_i[o] != issue_warp_i[p],
                         "two instructions of a warp issued at once")
    end
  end

endmodule

// Address unit: head of the memory pipeline. Holds one memory instruction.
//
// The single queue for everything that goes into the memory pipeline: loads, stores, atomic
// operations, texture fetches, shuffles. It takes an
// instruction with its operands, computes an address for each lane, and offers the lanes that are
// left to the unit that serves their space, pass by pass. The unit answers in the same cycle
// which lanes it serves. Because instructions pass one after the other, accesses of a warp, and of warps
// on both sides of a barrier, are performed in program order, and no other block has to order them.
//
// Each pass returns a part of the instruction's result; the last pass returns the part with which the
// register is complete. Parts from different spaces may overtake each other. Therefore lanes of another space
// wait until the parts so far are in the register file.
//
// An instruction at fault is not held: none of its accesses is performed.
`include "gpurf_assert.svh"

module address_unit
  import gpurf_pkg::*;
#(
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned ConstWords = 17408,
  parameter int unsigned Shares = 0  // 1: blocks share scratchpad memory
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // instruction in
  input  logic                           in_valid_i,
  input  logic                           in_port_i,          // dispatch port that offers the instruction
  output logic                           in_ready_o,
  input  logic [WarpW-1:0]               in_warp_i        [IssuePorts],
  input  logic [Lanes-1:0]               in_mask_i        [IssuePorts],
  input  instruction_t                   in_instruction_i [IssuePorts],
  input  logic [Operands*IssuePorts-1:0] in_src_valid_i,     // operand is a register
  input  logic [DataW-1:0]               in_data_i        [Operands*IssuePorts],

  // sizes
  output logic [WarpW-1:0]               place_warp_o,       // warp whose shared memory is looked up
  input  logic [SharedAddressW-1:0]      place_base_i,       // first byte of its block's shared memory
  // Without shared scratchpad memory there is no common area.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [SharedAddressW-1:0]      place_common_i,     // first byte of its pair's host
  input  logic                           place_released_i,   // the block has released the common area
  input  logic [16:0]                    private_bytes_i,    // bytes of the part before the common area
  // verilator lint_on UNUSEDSIGNAL
  input  logic [16:0]                    shared_bytes_i,     // shared memory of a block
  input  logic [15:0]                    local_words_i,      // local memory of a thread

  // lanes offered, and the unit to which they are offered
  output logic [Lanes-1:0]               lanes_o,
  output logic                           busy_o,
  output logic                           global_valid_o,
  output logic                           shared_valid_o,
  output logic                           constant_valid_o,
  output logic                           shuffle_valid_o,
  output logic                           local_o,            // of global_valid_o: local memory
  output logic                           line_first_o,       // the coalescer has served no lane of the instruction yet
  input  logic [Lanes-1:0]               global_served_i,
  input  logic [Lanes-1:0]               shared_served_i,
  input  logic [Lanes-1:0]               constant_served_i,
  input  logic [Lanes-1:0]               shuffle_served_i,
  output logic                           last_o,             // no lane is left after this pass

  // results that go into the register file
  input  logic [IssuePorts-1:0]          write_done_i,
  input  written_t                       written_i [IssuePorts],

  // instruction held
  output logic [WarpW-1:0]               warp_o,
  output logic [1:0]                     kind_o,
  output logic [1:0]                     size_o,
  output logic                           signed_o,
  output logic [3:0]                     atomic_o,
  output logic [15:0]                    modifiers_o,
  output logic [LineW-1:0]               texture_o,          // handle, channel and access of a texture fetch
  output logic                           reg_valid_o,
  output logic [RegW-1:0]                reg_o,
  output logic                           pred_valid_o,
  output logic [PredW-1:0]               pred_o,
  output logic [DataW-1:0]               addr_o,             // operand a of a shuffle or a texture fetch
  output logic [DataW-1:0]               store_o,
  output logic [DataW-1:0]               compare_o,

  // an instruction without a result has been performed
  output logic                           finish_valid_o,
  output logic [WarpW-1:0]               finish_warp_o,

  // a probe or a release of warp_o was taken in the cycle before
  output logic                           answer_valid_o,
  output logic                           answer_release_o,   // a release
  output logic                           answer_shared_o,    // a lane of the probe lies in the common area
  output logic [Lanes-1:0]               answer_mask_o,

  // the instruction taken in the cycle before is at fault
  output logic                           fault_valid_o,
  output logic [WarpW-1:0]               fault_warp_o,
  output logic [CauseW-1:0]              fault_cause_o,
  output logic [LaneW-1:0]               fault_value_o
);

  localparam int unsigned LastPort = IssuePorts - 1;  // the second port, if there is one

  // One of 32 lanes is left while an instruction is held, so it has at most 31 parts.
  localparam int unsigned PartsW = $clog2(Lanes);

  // Further opcodes of the memory pipeline.
  localparam logic [6:0] OpShfl = 7'h13;

  // Upper words of a generic address that do not mean global memory.
  localparam logic [LaneW-1:0] GenericShared   = 32'd1;
  localparam logic [LaneW-1:0] GenericLocal    = 32'd2;
  localparam logic [LaneW-1:0] GenericConstant = 32'd3;

  // The accesses of an instruction, decoded from its modifiers.
  typedef struct packed {
    logic       shuffle;    // a shuffle: no access at all
    logic       silent;     // a probe or a release: nothing is performed
    logic [1:0] kind;       // access_kind_e
    logic [1:0] size;       // access_size_e
    logic       is_signed;
    logic [3:0] operation;  // atomic_e
    logic [1:0] space;      // space_e
    logic [1:0] align;      // 1: to 8 bytes, 2: to 16
    logic       wide;       // the address has an upper word
  } access_t;

  // Space of the lanes of a pass.
  typedef enum logic [1:0] {PassGlobal, PassShared, PassLocal, PassConstant} pass_space_e;

  // Access of one lane: its location, and its first fault (0: none).
  typedef struct packed {
    logic              in_shared;
    logic              in_local;
    logic              in_constant;
    logic              in_common;    // the address lies in the common area of two blocks
    logic [LaneW-1:0]  addr;
    logic [CauseW-1:0] cause;
  } lane_access_t;

  logic              busy_q;
  logic [Lanes-1:0]  lanes_q;
  logic              shuffle_q;
  logic [Lanes-1:0]  shared_q;     // space of each lane; no bit set: global
  logic [Lanes-1:0]  local_q;
  logic [Lanes-1:0]  constant_q;
  logic [PartsW-1:0] parts_q;      // parts of the result that are not written yet
  logic [1:0]        space_q;      // space of the last pass that was performed
  logic              line_first_q; // the coalescer has performed no pass yet
  logic [WarpW-1:0]  warp_q;
  logic [1:0]        kind_q;
  logic [1:0]        size_q;
  logic              signed_q;
  logic [3:0]        atomic_q;
  logic [15:0]       modifiers_q;
  logic [LineW-1:0]  texture_q;
  logic              reg_valid_q;
  logic [RegW-1:0]   reg_q;
  logic              pred_valid_q;
  logic [PredW-1:0]  pred_q;
  logic [DataW-1:0]  addr_q;
  logic [DataW-1:0]  store_q;
  logic [DataW-1:0]  compare_q;

  logic              answer_q;
  logic              answer_release_q;
  logic              answer_shared_q;

  logic              fault_q;
  logic [WarpW-1:0]  fault_warp_q;
  logic [CauseW-1:0] fault_cause_q;
  logic [LaneW-1:0]  fault_value_q;

  logic              port;
  logic              take;
  logic [Lanes-1:0]  lowest;           // lowest lane left
  logic              lowest_shared;    // space of this lane
  logic              lowest_local;
  logic              lowest_constant;
  pass_space_e       space;
  logic              offer;            // the lanes do not wait for parts of another space
  logic [Lanes-1:0]  served;
  logic [IssuePorts-1:0] written;      // bus on which a part is written
  logic              part_made;
  logic              part_written;

  // With one port the port's number is 0, whatever the input says.
  assign port         = (IssuePorts > 1) & in_port_i;
  assign take         = in_valid_i & in_ready_o;
  assign place_warp_o = port ? in_warp_i[LastPort] : in_warp_i[0];

  // Passes.
  assign lowest          = lanes_q & (~lanes_q + 1'b1);
  assign lowest_shared   = (lowest & shared_q) != '0;
  assign lowest_local    = (lowest & local_q) != '0;
  assign lowest_constant = (lowest & constant_q) != '0;

  always_comb begin
    lanes_o = lanes_q;
    if (!shuffle_q) begin
      if (lowest_shared)        lanes_o = lanes_q & shared_q;
      else if (lowest_local)    lanes_o = lanes_q & local_q;
      else if (lowest_constant) lanes_o = lanes_q & constant_q;
      else                      lanes_o = lanes_q & ~(shared_q | local_q | constant_q);
    end
  end

  always_comb begin
    if (lowest_shared)        space = PassShared;
    else if (lowest_local)    space = PassLocal;
    else if (lowest_constant) space = PassConstant;
    else                      space = PassGlobal;
  end

  assign offer            = busy_q & ((parts_q == '0) | (space_q == space));
  assign busy_o           = busy_q;
  assign global_valid_o   = offer & ~shuffle_q & ~lowest_shared & ~lowest_constant;
  assign shared_valid_o   = offer & ~shuffle_q & lowest_shared;
  assign constant_valid_o = offer & ~shuffle_q & lowest_constant;
  assign shuffle_valid_o  = offer & shuffle_q;
  assign local_o          = lowest_local;
  assign line_first_o     = line_first_q;

  assign warp_o       = warp_q;
  assign kind_o       = kind_q;
  assign size_o       = size_q;
  assign signed_o     = signed_q;
  assign atomic_o     = atomic_q;
  assign modifiers_o  = modifiers_q;
  assign texture_o    = texture_q;
  assign reg_valid_o  = busy_q & reg_valid_q;
  assign reg_o        = reg_q;
  assign pred_valid_o = busy_q & pred_valid_q;
  assign pred_o       = pred_q;
  assign addr_o       = addr_q;
  assign store_o      = store_q;
  assign compare_o    = compare_q;

  assign served = ({Lanes{global_valid_o}}   & global_served_i)   |
                  ({Lanes{shared_valid_o}}   & shared_served_i)   |
                  ({Lanes{constant_valid_o}} & constant_served_i) |
                  ({Lanes{shuffle_valid_o}}  & shuffle_served_i);

  assign last_o         = busy_q & ((lanes_q & ~served) == '0);
  assign in_ready_o     = ~busy_q | last_o;
  // A probe or a release is never held: it is finished one cycle after it was taken.
  assign finish_valid_o = answer_q | (last_o & ((kind_q == KindStore) |
                                                ((kind_q == KindAtomic) & ~reg_valid_q)));
  assign finish_warp_o  = warp_q;

  assign answer_valid_o   = answer_q;
  assign answer_release_o = answer_release_q;
  assign answer_shared_o  = answer_shared_q;
  assign answer_mask_o    = lanes_q;

  assign fault_valid_o = fault_q;
  assign fault_warp_o  = fault_warp_q;
  assign fault_cause_o = fault_cause_q;
  assign fault_value_o = fault_value_q;

  // Parts: while the instruction is held, no other result for its register is outstanding.
  for (genvar p = 0; p < IssuePorts; p++) begin : gen_written
    assign written[p] = write_done_i[p] && written_i[p].warp == warp_q &&
                        written_i[p].d == reg_q;
  end
  assign part_made    = reg_valid_q & (served != '0);
  assign part_written = written != '0;

  function automatic access_t access_of(logic [6:0] opcode, logic [6:0] m);
    access_of = '0;
    case (opcode)
      OpLd: begin
        access_of.kind      = KindLoad;
        access_of.size      = m[4] ? SizeWord : {1'b0, m[3]};
        access_of.is_signed = ~m[4] & m[2];
        access_of.space     = m[1:0];
        access_of.align     = m[6:5];
      end
      OpSt: begin
        access_of.kind      = KindStore;
        access_of.size      = m[3:2];
        access_of.space     = m[1:0];
        access_of.align     = m[5:4];
      end
      OpAtom: begin
        access_of.kind      = KindAtomic;
        access_of.size      = SizeWord;
        access_of.operation = m[5:2];
        access_of.space     = m[1:0];
      end
      OpCas: begin
        access_of.kind      = KindAtomic;
        access_of.size      = SizeWord;
        access_of.operation = AtomicCas;
        access_of.space     = (m[1:0] == SpaceShared) ? SpaceShared : SpaceGlobal;
      end
      // It has no address: its modifiers name no space, and coordinates are never at fault.
      OpTex: begin
        access_of.kind      = KindTexture;
        access_of.size      = SizeWord;
      end
      OpRelssp: access_of.silent = 1'b1;
      OpProbe: begin
        access_of.silent = 1'b1;
        access_of.space  = m[1:0];
      end
      default: access_of.shuffle = 1'b1;
    endcase
    // The third source of a CAS leaves no room for an upper word.
    access_of.wide = !access_of.shuffle && opcode != OpCas &&
                     (access_of.space == SpaceGlobal || access_of.space == SpaceGeneric);
  endfunction

  // What a texture fetch says of the texture, as the texture unit reads it (docs/machine.md): from bit 10 on the
  // number of the constant word with the handle, in the lowest bits channel and access.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [LineW-1:0] texture_of(logic [WordW-1:0] op, logic [ModifiersW-1:0] m);
    // verilator lint_on UNUSEDSIGNAL
    return {1'b0, op[OperationTexture +: TextureHandleW], 3'b000, m[TextureModifiersW-1:0]};
  endfunction

  function automatic lane_access_t lane_access(
    // The sign of a load and the operation of an atomic are not read here.
    // verilator lint_off UNUSEDSIGNAL
    access_t access,
    // verilator lint_on UNUSEDSIGNAL
    logic [LaneW-1:0] a, logic [LaneW-1:0] b, logic [23:0] offset
  );
    logic [2*LaneW-1:0] sum;
    logic [LaneW-1:0]   upper;
    logic               generic_space;
    logic               in_global;
    logic [3:0]         low_bits;  // of the address, that must be 0
    logic [LaneW:0]     past;      // first byte after the access
    logic [LaneW:0]     limit;     // first byte after the memory

    sum           = {b, a} + {{2*LaneW-24{offset[23]}}, offset};
    upper         = access.wide ? sum[LaneW +: LaneW] : '0;
    generic_space = access.wide && access.space == SpaceGeneric;
    lane_access.addr        = sum[LaneW-1:0];
    lane_access.in_shared   = access.space == SpaceShared ||
                              (generic_space && upper == GenericShared);
    lane_access.in_local    = access.space == SpaceLocal ||
                              (generic_space && upper == GenericLocal);
    lane_access.in_constant = generic_space && upper == GenericConstant;
    in_global = !lane_access.in_shared && !lane_access.in_local && !lane_access.in_constant;

    case (access.align)
      2'd0:    low_bits = {2'b00, size_mask(access.size)};
      2'd1:    low_bits = 4'b0111;
      default: low_bits = 4'b1111;
    endcase
    past = {1'b0, lane_access.addr} + ((LaneW+1)'(1) << access.size);
    lane_access.in_common = Shares != 0 && lane_access.in_shared &&
                            lane_access.addr >= LaneW'(private_bytes_i);
    if (lane_access.in_shared)     limit = (LaneW+1)'(shared_bytes_i);
    else if (lane_access.in_local) limit = (LaneW+1)'({local_words_i, 2'b00});
    else                           limit = 4 * (LaneW+1)'(ConstWords);

    if (lane_access.in_constant && access.kind != KindLoad) begin
      lane_access.cause = CauseConstantWritten;
    end else if (lane_access.in_local && access.kind == KindAtomic) begin
      lane_access.cause = CauseLocalAtomic;
    end else if ((lane_access.addr[3:0] & low_bits) != '0) begin
      lane_access.cause = CauseMisaligned;
    end else if (in_global && upper != '0) begin
      lane_access.cause = CauseWideAddress;
    end else if (!in_global && past > limit) begin
      lane_access.cause = CauseOutOfBounds;
    end else if (lane_access.in_common && place_released_i) begin
      lane_access.cause = CauseReleased;
    end else begin
      lane_access.cause = '0;
    end
  endfunction

  // Register sources arrive as data; of the other fields this unit reads some only.
  // verilator lint_off UNUSEDSIGNAL
  instruction_t in_instruction;  // instruction of the port that offers
  // verilator lint_on UNUSEDSIGNAL
  assign in_instruction = port ? in_instruction_i[LastPort] : in_instruction_i[0];

  // The payload has no reset: it means nothing while busy_q, fault_q are low.
  always_ff @(posedge clk_i) begin : hold
    automatic logic [Lanes-1:0]    mask;
    automatic logic [OpcodeW-1:0]  opcode;
    automatic logic [LaneW-1:0]    word;      // upper half of the operation word
    automatic logic [ModifiersW-1:0] m;
    automatic logic                b_constant;
    automatic logic [RegW-1:0]     d;
    automatic logic [PredW-1:0]    p;
    automatic logic [Operands-1:0] src_valid;
    automatic access_t             access;
    automatic lane_access_t        lane;
    automatic logic                at_fault;
    automatic logic [DataW-1:0]    enable;    // a bit for each bit of the mask's lanes
    automatic logic [DataW-1:0]    a;
    automatic logic [DataW-1:0]    b;
    automatic logic [DataW-1:0]    c;
    automatic logic [DataW-1:0]    addr;
    automatic logic [Lanes-1:0]    in_shared;
    automatic logic [Lanes-1:0]    in_local;
    automatic logic [Lanes-1:0]    in_constant;
    automatic logic                in_common;  // a lane of a probe

    fault_q  <= 1'b0;
    answer_q <= 1'b0;
    if (take) begin
      mask       = port ? in_mask_i[LastPort] : in_mask_i[0];
      opcode     = opcode_of(in_instruction.op);
      word       = constant_of(in_instruction.op);
      m          = modifiers_of(in_instruction.op, in_instruction.ctl);
      b_constant = in_instruction.roles.b_constant;
      d          = in_instruction.roles.d;
      p          = in_instruction.roles.p;
      src_valid  = port ? in_src_valid_i[Operands*LastPort +: Operands]
                        : in_src_valid_i[Operands-1:0];
      a = '0;
      b = b_constant ? {Lanes{word}} : '0;
      c = '0;
      if (src_valid[0]) a = port ? in_data_i[Operands*LastPort]   : in_data_i[0];
      if (src_valid[1]) b = port ? in_data_i[Operands*LastPort+1] : in_data_i[1];
      if (src_valid[2]) c = port ? in_data_i[Operands*LastPort+2] : in_data_i[2];

      for (int unsigned l = 0; l < Lanes; l++) enable[LaneW*l +: LaneW] = {LaneW{mask[l]}};

      access      = access_of(opcode, m[6:0]);
      at_fault    = 1'b0;
      addr        = '0;
      in_shared   = '0;
      in_local    = '0;
      in_constant = '0;
      in_common   = 1'b0;
      if (access.silent) begin
        if (Shares != 0 && opcode == OpProbe) begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            lane = lane_access(access, a[LaneW*l +: LaneW], b[LaneW*l +: LaneW], word[31:8]);
            // Beyond the shared memory of the block the instruction will be at fault.
            if (mask[l] && lane.in_common && lane.addr < LaneW'(shared_bytes_i)) in_common = 1'b1;
          end
        end
      end else if (access.shuffle) begin
        addr = a;
      end else if (access.kind == KindTexture) begin
        addr = a & enable;
      end else begin
        // The loop runs downwards, so that the lowest lane's fault remains.
        for (int unsigned l = Lanes; l > 0; l--) begin
          if (mask[l-1]) begin
            lane = lane_access(access, a[LaneW*(l-1) +: LaneW], b[LaneW*(l-1) +: LaneW],
                               word[31:8]);
            if (lane.cause != '0) begin
              at_fault      = 1'b1;
              fault_cause_q <= lane.cause;
              fault_value_q <= lane.addr;
            end
            in_shared[l-1]   = lane.in_shared;
            in_local[l-1]    = lane.in_local;
            in_constant[l-1] = lane.in_constant;
            addr[LaneW*(l-1) +: LaneW] =
                lane.addr + (lane.in_common ? LaneW'(place_common_i) :
                             lane.in_shared ? LaneW'(place_base_i) : '0);
          end
        end
      end

      busy_q           <= ~at_fault & ~access.silent;
      fault_q          <= at_fault;
      answer_q         <= access.silent;
      answer_release_q <= opcode == OpRelssp;
      answer_shared_q  <= in_common;
      fault_warp_q     <= place_warp_o;
      lanes_q          <= mask;
      shuffle_q        <= access.shuffle;
      shared_q         <= in_shared;
      local_q          <= in_local;
      constant_q       <= in_constant;
      parts_q          <= '0;
      space_q          <= PassGlobal;
      line_first_q     <= 1'b1;
      warp_q           <= place_warp_o;
      kind_q           <= access.kind;
      size_q           <= access.size;
      signed_q         <= access.is_signed;
      atomic_q         <= access.operation;
      modifiers_q      <= m;
      texture_q        <= (access.kind == KindTexture) ? texture_of(in_instruction.op, m) : '0;
      reg_valid_q      <= d != NoReg;
      reg_q            <= d;
      pred_valid_q     <= p != NoPred;
      pred_q           <= p;
      addr_q           <= addr;
      store_q          <= c & enable;
      compare_q        <= b & enable;
    end else begin
      if (last_o) busy_q <= 1'b0;
      lanes_q <= lanes_q & ~served;
      parts_q <= parts_q + PartsW'(part_made) - PartsW'(part_written);
      if (served != '0) space_q <= space;
      if (global_valid_o && served != '0) line_first_q <= 1'b0;
    end

    if (!rst_ni) begin
      busy_q   <= 1'b0;
      fault_q  <= 1'b0;
      answer_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  function automatic logic has_unit(logic [6:0] opcode);
    return opcode inside {OpShfl, OpLd, OpSt, OpAtom, OpCas, OpTex, OpRelssp} ||
           (Shares != 0 && opcode == OpProbe);
  endfunction
`endif

  `GPURF_ASSERT_WHEN(known_opcode, take, has_unit(opcode_of(in_instruction.op)),
                     "an operation came that is none of the memory pipeline")
  `GPURF_ASSERT_WHEN(lanes_left, busy_q, lanes_q != '0, "an instruction without lanes is held")
  `GPURF_ASSERT_WHEN(served_offered, busy_q, (served & ~lanes_o) == '0,
                     "a lane was served that was not offered")
  `GPURF_ASSERT_WHEN(one_part, busy_q, $onehot0(written),
                     "two parts of one instruction are written over two buses at once")
  `GPURF_ASSERT_WHEN(part_expected, busy_q && part_written, parts_q != '0,
                     "a part is written of a pass that was not performed")
  `GPURF_ASSERT(others_silent,
                (global_valid_o   || global_served_i   == '0) &&
                (shared_valid_o   || shared_served_i   == '0) &&
                (constant_valid_o || constant_served_i == '0) &&
                (shuffle_valid_o  || shuffle_served_i  == '0),
                "a unit served lanes that were not offered to it")
  `GPURF_ASSERT(one_unit, $onehot0({global_valid_o, shared_valid_o, constant_valid_o,
                                    shuffle_valid_o}),
                "lanes were offered to two units at once")

endmodule

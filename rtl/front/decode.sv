// Decoder: registers and predicates that an instruction reads and writes, and its unit.
//
// Turns the two words of an instruction (docs/isa.md) into roles, so that no later block has to
// decode operations to find dependences. Fields that an operation does not use are zero in
// the words and must not be taken for R0. Therefore each operation lists the slots that it has; a role
// without a slot reads as "none".
module decode
  import gpurf_pkg::*;
(
  // Not read here: offsets and control fields.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [WordW-1:0] op_i,
  input  logic [WordW-1:0] ctl_i,
  // verilator lint_on UNUSEDSIGNAL
  output roles_t           roles_o
);

  // Opcodes that no other block has to know, because they do not affect an instruction's routing.
  localparam logic [6:0] OpNop    = 7'h01;
  localparam logic [6:0] OpMembar = 7'h06;
  localparam logic [6:0] OpMov    = 7'h10;
  localparam logic [6:0] OpSel    = 7'h11;
  localparam logic [6:0] OpS2r    = 7'h12;
  localparam logic [6:0] OpShfl   = 7'h13;
  localparam logic [6:0] OpVote   = 7'h14;
  localparam logic [6:0] OpBallot = 7'h15;
  localparam logic [6:0] OpPlop   = 7'h16;
  localparam logic [6:0] OpIadd   = 7'h20;
  localparam logic [6:0] OpImad   = 7'h21;
  localparam logic [6:0] OpImnmx  = 7'h22;
  localparam logic [6:0] OpIsetp  = 7'h23;
  localparam logic [6:0] OpLop3   = 7'h24;
  localparam logic [6:0] OpShl    = 7'h25;
  localparam logic [6:0] OpShr    = 7'h26;
  localparam logic [6:0] OpShf    = 7'h27;
  localparam logic [6:0] OpBfe    = 7'h28;
  localparam logic [6:0] OpBfi    = 7'h29;
  localparam logic [6:0] OpPrmt   = 7'h2a;
  localparam logic [6:0] OpPopc   = 7'h2b;
  localparam logic [6:0] OpClz    = 7'h2c;
  localparam logic [6:0] OpBrev   = 7'h2d;
  localparam logic [6:0] OpDp4a   = 7'h2e;
  localparam logic [6:0] OpDp2a   = 7'h2f;
  localparam logic [6:0] OpFadd   = 7'h30;
  localparam logic [6:0] OpFmul   = 7'h31;
  localparam logic [6:0] OpFfma   = 7'h32;
  localparam logic [6:0] OpFmnmx  = 7'h33;
  localparam logic [6:0] OpFsetp  = 7'h34;
  localparam logic [6:0] OpI2f    = 7'h35;
  localparam logic [6:0] OpF2i    = 7'h36;
  localparam logic [6:0] OpFrnd   = 7'h37;
  localparam logic [6:0] OpMufu   = 7'h38;
  localparam logic [6:0] OpLdc    = 7'h42;

  // Slots of an operation. B is a register or a constant, as the instruction selects; U is always a
  // register (the upper word of an address, the value that CAS compares with, or a coordinate), K always a
  // constant.
  localparam int unsigned Slots = 9;
  localparam logic [Slots-1:0] D = Slots'(1 << 0);
  localparam logic [Slots-1:0] P = Slots'(1 << 1);
  localparam logic [Slots-1:0] A = Slots'(1 << 2);
  localparam logic [Slots-1:0] B = Slots'(1 << 3);
  localparam logic [Slots-1:0] C = Slots'(1 << 4);
  localparam logic [Slots-1:0] S = Slots'(1 << 5);
  localparam logic [Slots-1:0] T = Slots'(1 << 6);
  localparam logic [Slots-1:0] U = Slots'(1 << 7);
  localparam logic [Slots-1:0] K = Slots'(1 << 8);

  localparam logic [PredW:0] AlwaysTrue = {1'b0, NoPred};

  unit_e            unit;
  logic             stop;
  logic [Slots-1:0] slots;
  logic [1:0]       space;       // space_e
  logic             constant;    // b is a constant, where the operation allows both

  // The predicates are in the modifiers: p, then s, then t.
  // verilator lint_off UNUSEDSIGNAL
  logic [ModifiersW-1:0] m;
  // verilator lint_on UNUSEDSIGNAL

  assign m        = modifiers_of(op_i, ctl_i);
  assign constant = op_i[OperationConstantFlag];
  assign space    = m[1:0];

  always_comb begin
    unit  = UnitAlu;
    stop  = 1'b0;
    slots = '0;
    case (opcode_of(op_i))
      OpNop, OpMembar:                               unit  = UnitNothing;
      OpBra, OpTrap: begin
        unit  = UnitControl;
        stop  = 1'b1;
        slots = K;
      end
      OpExit: begin
        unit = UnitControl;
        stop = 1'b1;
      end
      OpBar: begin
        unit  = UnitBarrier;
        stop  = 1'b1;
        slots = B;
      end
      OpWarpsync:                                    slots = B;
      OpMov:                                         slots = D | B;
      OpSel:                                         slots = D | A | B | S;
      OpVote:                                        slots = P | S;
      OpBallot:                                      slots = D | S;
      OpPlop:                                        slots = P | S | T;
      OpIadd:                                        slots = D | P | A | B | S;
      OpImad:                                        slots = D | P | A | B | C | S;
      OpImnmx, OpShl, OpShr, OpBfe:                  slots = D | A | B;
      OpIsetp:                                       slots = P | A | B | S;
      OpLop3, OpShf, OpBfi, OpPrmt, OpDp4a, OpDp2a:  slots = D | A | B | C;
      OpPopc, OpClz, OpBrev:                         slots = D | A;
      OpFadd, OpFmul, OpFmnmx: begin
        unit  = UnitFp;
        slots = D | A | B;
      end
      OpFfma: begin
        unit  = UnitFp;
        slots = D | A | B | C;
      end
      OpFsetp: begin
        unit  = UnitFp;
        slots = P | A | B | S;
      end
      OpI2f, OpF2i, OpFrnd: begin
        unit  = UnitFp;
        slots = D | A;
      end
      OpMufu: begin
        unit  = UnitSfu;
        slots = D | A;
      end
      OpS2r: begin
        unit  = UnitConstant;
        slots = D;
      end
      // Releases use the queue of memory accesses, behind the accesses before them.
      OpRelssp:                                      unit  = UnitMemory;
      OpShfl: begin
        unit  = UnitMemory;
        slots = D | P | A | B;
      end
      OpLd: begin
        unit  = UnitMemory;
        slots = (space == SpaceShared || space == SpaceLocal) ? D | A : D | A | U;
      end
      OpSt: begin
        unit  = UnitMemory;
        slots = (space == SpaceShared || space == SpaceLocal) ? A | C : A | C | U;
      end
      OpLdc: begin
        unit  = UnitConstant;
        slots = D | A;
      end
      OpAtom: begin
        unit  = UnitMemory;
        slots = (space == SpaceShared) ? D | A | C : D | A | C | U;
      end
      OpCas: begin
        unit  = UnitMemory;
        slots = D | A | C | U;
      end
      // The coordinates that an access does not have are RZ, so all accesses have the same slots.
      OpTex: begin
        unit  = UnitMemory;
        slots = D | A | U | C;
      end
      default: begin
        unit = UnitUnsupported;
        stop = 1'b1;
      end
    endcase
  end

  always_comb begin
    roles_o.unit       = unit;
    roles_o.b_constant = (slots & K) != '0 || ((slots & B) != '0 && constant);
    roles_o.p          = ((slots & P) != '0) ? m[PredW-1:0] : NoPred;
    roles_o.t          = ((slots & T) != '0) ? m[2*PredW+1 +: PredW+1] : AlwaysTrue;
    roles_o.s          = ((slots & S) != '0) ? m[PredW +: PredW+1] : AlwaysTrue;
    roles_o.guard      = op_i[OperationGuard +: PredW+1];
    roles_o.stop       = stop;
    roles_o.d          = ((slots & D) != '0) ? op_i[OperationD +: RegW] : NoReg;
    roles_o.c          = ((slots & C) != '0) ? ctl_i[ControlC +: RegW] : NoReg;
    roles_o.b          = ((slots & U) != '0 || ((slots & B) != '0 && !constant))
                         ? op_i[OperationB +: RegW] : NoReg;
    roles_o.a          = ((slots & A) != '0) ? op_i[OperationA +: RegW] : NoReg;
  end

endmodule

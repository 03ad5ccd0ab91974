//! `decode`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::front::{Decode, DecodeIn, DecodeOut};
use gpurf_blocks::instruction::{Roles, modifiers, opcode, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::front::{OPCODES, instruction};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Decode, DecodeDriver, DecodeCover>();

pub(crate) struct DecodeDriver;

knobs! {
    pub(crate) struct DecodeKnobs {
        free: "the opcode may mean nothing" = [0, 100, 500],
        plain: "the other bits are all ones or all zeros" = [0, 200],
    }
}

impl Driver for DecodeDriver {
    type In = DecodeIn;
    type Knobs = DecodeKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &DecodeKnobs, inputs: &mut DecodeIn) {
        (inputs.op_i, inputs.ctl_i) = instruction(rng, knobs.free);
        if rng.chance(knobs.plain) {
            let fill = if rng.chance(500) { u64::MAX } else { 0 };
            (inputs.op_i, inputs.ctl_i) = (inputs.op_i & 0x7f | fill << 7, fill);
        }
    }
}

pub(crate) struct DecodeCover;

#[cover]
impl DecodeCover {
    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &DecodeIn, o: &DecodeOut, _: &NoProbe<SmShape>, points: &mut Points) {
        let (opcode, roles, space) = (opcode(i.op_i), Roles(o.roles_o), modifiers(i.op_i, i.ctl_i) & 3);
        point!("NOP", opcode == 0x01);
        point!("BRA", opcode == 0x02);
        point!("EXIT", opcode == 0x03);
        point!("BAR", opcode == 0x04);
        point!("WARPSYNC", opcode == 0x05);
        point!("MEMBAR", opcode == 0x06);
        point!("TRAP", opcode == 0x07);
        point!("MOV", opcode == 0x10);
        point!("SEL", opcode == 0x11);
        point!("S2R", opcode == 0x12);
        point!("SHFL", opcode == 0x13);
        point!("VOTE", opcode == 0x14);
        point!("BALLOT", opcode == 0x15);
        point!("PLOP", opcode == 0x16);
        point!("IADD", opcode == 0x20);
        point!("IMAD", opcode == 0x21);
        point!("IMNMX", opcode == 0x22);
        point!("ISETP", opcode == 0x23);
        point!("LOP3", opcode == 0x24);
        point!("SHL", opcode == 0x25);
        point!("SHR", opcode == 0x26);
        point!("SHF", opcode == 0x27);
        point!("BFE", opcode == 0x28);
        point!("BFI", opcode == 0x29);
        point!("PRMT", opcode == 0x2a);
        point!("POPC", opcode == 0x2b);
        point!("CLZ", opcode == 0x2c);
        point!("BREV", opcode == 0x2d);
        point!("DP4A", opcode == 0x2e);
        point!("DP2A", opcode == 0x2f);
        point!("FADD", opcode == 0x30);
        point!("FMUL", opcode == 0x31);
        point!("FFMA", opcode == 0x32);
        point!("FMNMX", opcode == 0x33);
        point!("FSETP", opcode == 0x34);
        point!("I2F", opcode == 0x35);
        point!("F2I", opcode == 0x36);
        point!("FRND", opcode == 0x37);
        point!("MUFU", opcode == 0x38);
        point!("LD", opcode == 0x40);
        point!("ST", opcode == 0x41);
        point!("LDC", opcode == 0x42);
        point!("ATOM", opcode == 0x43);
        point!("CAS", opcode == 0x44);
        point!("TEX", opcode == 0x46);
        let marked = i.op_i >> 7 & 1 == 1;
        let none = [roles.a(), roles.b(), roles.c(), roles.d()] == [255; 4] && roles.b_constant() == 0;
        let no_predicates = roles.p() == 7 && roles.s() == 7 && roles.t() == 7;
        let (access, atomic) = (matches!(opcode, 0x40 | 0x41), opcode == 0x43);
        point!("opcode that means nothing", !OPCODES.contains(&opcode));
        point!("b is a register", roles.unit() == unit::ALU && roles.b() != 255);
        point!("b is a constant", roles.unit() == unit::ALU && roles.b_constant() == 1);
        point!("b is a register: single precision", roles.unit() == unit::FP && roles.b() != 255);
        point!("b is a constant: single precision", roles.unit() == unit::FP && roles.b_constant() == 1);
        point!("bit of the constant where b is always a register", marked && opcode == 0x44);
        point!("TEX with the bit of the constant", marked && opcode == 0x46);
        point!("bit of the constant without a b", marked && matches!(opcode, 0x2b..=0x2d | 0x35..=0x38 | 0x42 | 0x12));
        point!("LD or ST with an upper word", access && matches!(space, 0 | 3));
        point!("LD or ST without an upper word", access && matches!(space, 1 | 2));
        point!("ATOM with an upper word", atomic && matches!(space, 0 | 3));
        point!("ATOM without an upper word", atomic && space == 1);
        point!("ATOM in the space that it does not have", atomic && space == 2);
        point!("register and predicate written", roles.d() != 255 && roles.p() != 7);
        point!("nothing written or read but the guard", none && no_predicates);
        point!("predicate 7 inverted", roles.guard() == 15 || roles.s() == 15 || roles.t() == 15);
    }
}

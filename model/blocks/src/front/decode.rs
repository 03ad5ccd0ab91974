//! `decode`: finds what an instruction reads and writes, and its unit. `docs/blocks/decode.md`.

use crate::instruction::{RELSSP, Roles, modifiers, opcode, unit};
use crate::shape::SmShape;
use crate::{Block, NoProbe, field, packed, ports};

ports! {
    /// Inputs of [`Decode`].
    pub struct DecodeIn(s: &SmShape) {
        /// Operation word.
        op_i: u64 = field(64),
        /// Control word.
        ctl_i: u64 = field(64),
    }
}

ports! {
    /// Outputs of [`Decode`].
    pub struct DecodeOut(s: &SmShape) {
        /// Roles of the instruction.
        roles_o: u64 = packed::<Roles>(),
    }
}

// The fields of roles that an operation may or may not have.
const A: u64 = 0xff;
const B: u64 = 0xff << B_AT;
const C: u64 = 0xff << C_AT;
const D: u64 = 0xff << D_AT;
const S: u64 = 0xf << S_AT;
const T: u64 = 0xf << T_AT;
const P: u64 = 0x7 << P_AT;
const B_CONSTANT: u64 = 1 << 48;

const B_AT: u32 = 8;
const C_AT: u32 = 16;
const D_AT: u32 = 24;
const STOP: u64 = 1 << 32;
const GUARD_AT: u32 = 33;
const S_AT: u32 = 37;
const T_AT: u32 = 41;
const P_AT: u32 = 45;
const UNIT_AT: u32 = 49;

/// The roles of an operation that has none of these fields: registers 255, predicates that are true, none written.
const NONE: u64 = A | B | C | D | 7 << S_AT | 7 << T_AT | P;

/// What operand b of an operation is.
#[derive(Clone, Copy)]
enum SourceB {
    /// A register or a constant, as the word says; or no operand.
    Either,
    /// Always a constant.
    Constant,
    /// A register.
    Register,
    /// A register that holds the upper word of an address; no operand in the spaces of this set.
    UpperWord { unless: u8 },
}

// Spaces whose addresses have no upper word: an atomic operation knows only one of them.
const SHARED: u32 = 1;
const LOCAL: u32 = 2;
const LOAD_STORE: SourceB = SourceB::UpperWord { unless: 1 << SHARED | 1 << LOCAL };
const ATOMIC: SourceB = SourceB::UpperWord { unless: 1 << SHARED };

/// Table entry that determines an operation's roles.
#[derive(Clone, Copy)]
struct Row {
    /// The fields that the operation has.
    slots: u64,
    /// The fields that are the same for all instructions of the operation.
    fixed: u64,
    b: SourceB,
}

const fn row(unit: u8, slots: u64) -> Row {
    Row { slots, fixed: (unit as u64) << UNIT_AT, b: SourceB::Either }
}

const fn memory(slots: u64, b: SourceB) -> Row {
    Row { b, ..row(unit::MEMORY, slots) }
}

const fn stopping(row: Row) -> Row {
    Row { fixed: row.fixed | STOP, ..row }
}

const fn operation(opcode: u8) -> Row {
    let control = Row { b: SourceB::Constant, ..stopping(row(unit::CONTROL, B)) };
    match opcode {
        0x01 | 0x06 => row(unit::NOTHING, 0),
        0x02 | 0x07 => control,
        0x03 => stopping(row(unit::CONTROL, 0)),
        0x04 => stopping(row(unit::BARRIER, B)),
        0x05 => row(unit::ALU, B),
        RELSSP => row(unit::MEMORY, 0),
        0x10 => row(unit::ALU, D | B),
        0x11 => row(unit::ALU, D | A | B | S),
        0x12 => row(unit::CONSTANT, D),
        0x13 => row(unit::MEMORY, D | P | A | B),
        0x14 => row(unit::ALU, P | S),
        0x15 => row(unit::ALU, D | S),
        0x16 => row(unit::ALU, P | S | T),
        0x20 => row(unit::ALU, D | P | A | B | S),
        0x21 => row(unit::ALU, D | P | A | B | C | S),
        0x22 | 0x25 | 0x26 | 0x28 => row(unit::ALU, D | A | B),
        0x23 => row(unit::ALU, P | A | B | S),
        0x24 | 0x27 | 0x29 | 0x2a | 0x2e | 0x2f => row(unit::ALU, D | A | B | C),
        0x2b..=0x2d => row(unit::ALU, D | A),
        0x30 | 0x31 | 0x33 => row(unit::FP, D | A | B),
        0x32 => row(unit::FP, D | A | B | C),
        0x34 => row(unit::FP, P | A | B | S),
        0x35..=0x37 => row(unit::FP, D | A),
        0x38 => row(unit::SFU, D | A),
        0x40 => memory(D | A | B, LOAD_STORE),
        0x41 => memory(A | B | C, LOAD_STORE),
        0x42 => row(unit::CONSTANT, D | A),
        0x43 => memory(D | A | B | C, ATOMIC),
        0x44 | 0x46 => memory(D | A | B | C, SourceB::Register),
        _ => stopping(row(unit::UNSUPPORTED, 0)),
    }
}

/// The operations, by opcode.
static OPERATIONS: [Row; 128] = {
    let mut rows = [row(unit::UNSUPPORTED, 0); 128];
    let mut opcode = 0;
    while opcode < rows.len() {
        rows[opcode] = operation(opcode as u8);
        opcode += 1;
    }
    rows
};

/// The roles of an instruction.
#[inline]
pub fn roles(op: u64, ctl: u64) -> Roles {
    let Row { mut slots, mut fixed, b } = OPERATIONS[usize::from(opcode(op))];
    let m = modifiers(op, ctl);
    let constant = match b {
        SourceB::Either => op >> 7 & 1 == 1,
        SourceB::Constant => true,
        SourceB::Register => false,
        SourceB::UpperWord { unless } => {
            if unless >> (m & 3) & 1 == 1 {
                slots &= !B;
            }
            false
        }
    };
    if constant && slots & B != 0 {
        fixed |= B_CONSTANT;
        slots &= !B;
    }
    let m = u64::from(m);
    let registers = (op >> 20 & 0xff) | (op >> 32 & 0xff) << B_AT | (ctl & 0xff) << C_AT | (op >> 12 & 0xff) << D_AT;
    let predicates = (m >> 3 & 0xf) << S_AT | (m >> 7 & 0xf) << T_AT | (m & 7) << P_AT;
    let guard = (op >> 8 & 0xf) << GUARD_AT;
    Roles(fixed | guard | (registers | predicates) & slots | NONE & !slots)
}

/// Turns the two words of an instruction into its roles, so that no later block has to know operations by name to
/// find dependences.
#[derive(Clone)]
pub struct Decode;

impl Block for Decode {
    const NAME: &'static str = "decode";
    const PARAMETERS: &'static [&'static str] = &[];
    const CLOCKED: bool = false;

    type Shape = SmShape;
    type In = DecodeIn;
    type Out = DecodeOut;
    type Probe = NoProbe<SmShape>;

    fn new(_: &SmShape) -> Self {
        Self
    }

    fn early(&self, _: &mut DecodeOut) {}

    fn late(&mut self, inputs: &DecodeIn, out: &mut DecodeOut) {
        out.roles_o = roles(inputs.op_i, inputs.ctl_i).0;
    }

    fn clock(&mut self, _: &DecodeIn, _: &DecodeOut) {}

    fn probe(&self, _: &DecodeIn, _: &DecodeOut, _: &mut NoProbe<SmShape>) {}
}

#[cfg(test)]
mod tests;

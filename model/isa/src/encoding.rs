//! Instructions as two 64-bit words.
//!
//! | operation word | bits | control word | bits |
//! |---|---|---|---|
//! | opcode | 6:0 | source c | 7:0 |
//! | b is a constant | 7 | modifiers 15:4 | 19:8 |
//! | guard, its inverse | 10:8, 11 | or, for a branch, reconvergence | 19:0 |
//! | destination d | 19:12 | last read a, b, c | 22:20 |
//! | source a | 27:20 | deschedule, strand end | 23, 24 |
//! | modifiers 3:0 | 31:28 | LRF bypass, RFC bypass | 25, 26 |
//! | source b, or | 39:32 | levels of a, b, c | 31:27, 36:32, 41:37 |
//! | offset, or | 63:40 | level of the result | 46:42 |
//! | constant | 63:32 | power of two sources, of the result | 48:47, 50:49, 52:51 |
//! | | | free register, inverted | 60:53 |
//! | | | private | 61 |
//!
//! The modifiers begin with p, s and t, at bits 2:0, 6:3 and 10:7, where the operation has them; the operation's own modifiers follow the last of
//! them. Fields that an operation does not use are zero. `RZ` in a slot that is used is 255, so that the word of an instruction without control
//! fields has zeros in all control bits.

mod control;

use control::{CONTROL_BITS, LAST_READ_NAMES, LEVEL_NAMES, POWER_NAMES};

use crate::cache_marks::MARKS;
use crate::control::{Control, PowerState};
use crate::instruction::Instruction;
use crate::levels::{ResultLevel, SourceLevel};
use crate::operations::{Op, Slots};
use crate::registers::{Offset, Operand, Pc, Predicate, PredicateSource, Reg, Slot};

/// Why two words are not an instruction, or an instruction is not valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// No operation has this opcode.
    #[error("no operation has opcode {number:#04x}")]
    Opcode {
        /// The opcode.
        number: u8,
    },
    /// Source b is a constant where the operation reads a register, or the other way round.
    #[error("{mnemonic} does not take {what} as source b")]
    Form {
        /// The operation.
        mnemonic: &'static str,
        /// What source b is.
        what: &'static str,
    },
    /// A field has an invalid value.
    #[error("{mnemonic}: {value} means nothing in field {field}")]
    Value {
        /// The operation.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// A field is set that does not apply to this instruction.
    #[error("{mnemonic}: field {field} is set, but the instruction has no use for it")]
    Unused {
        /// The operation.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
    },
    /// Bits are set that belong to no field.
    #[error("{mnemonic}: reserved bits {bits:#x} of the {word} word are set")]
    Reserved {
        /// The operation.
        mnemonic: &'static str,
        /// `operation` or `control`.
        word: &'static str,
        /// The bits.
        bits: u64,
    },
}

/// A field of a word: its lowest bit and its width.
#[derive(Clone, Copy)]
pub(crate) struct Bits(pub(crate) u32, pub(crate) u32);

impl Bits {
    const fn mask(self) -> u64 {
        ((1 << self.1) - 1) << self.0
    }

    pub(crate) const fn get(self, word: u64) -> u32 {
        (word >> self.0 & ((1 << self.1) - 1)) as u32
    }

    pub(crate) fn set(self, word: &mut u64, value: u32) {
        *word |= u64::from(value) << self.0;
    }
}

const OPCODE: Bits = Bits(0, 7);
const CONSTANT: Bits = Bits(7, 1);
const GUARD: Bits = Bits(8, 4);
const D: Bits = Bits(12, 8);
const A: Bits = Bits(20, 8);
const MODIFIERS_LOW: Bits = Bits(28, 4);
const B: Bits = Bits(32, 8);
const OFFSET: Bits = Bits(40, 24);
const IMMEDIATE: Bits = Bits(32, 32);

/// The highest address of a constant word with a texture's handle.
pub const MOST_HANDLE: u32 = (1 << 17) - 4;

const C: Bits = Bits(0, 8);
const MODIFIERS_HIGH: Bits = Bits(8, 12);
const RECONVERGENCE: Bits = Bits(0, 20);

/// Fields within the modifiers.
const P: Bits = Bits(0, 3);
const S: Bits = Bits(3, 4);
const T: Bits = Bits(7, 4);
const MODIFIERS: u32 = MODIFIERS_LOW.1 + MODIFIERS_HIGH.1;

/// The lowest bit of the operation's own modifiers.
const fn own_modifiers(slots: Slots) -> u32 {
    if slots.has(Slots::T) {
        T.0 + T.1
    } else if slots.has(Slots::S) {
        S.0 + S.1
    } else if slots.has(Slots::P) {
        P.0 + P.1
    } else {
        0
    }
}

impl Instruction {
    /// Encodes the instruction as operation word and control word. Slots that the operation does not use are ignored.
    pub fn encode(&self) -> [u64; 2] {
        let slots = self.op.slots();
        let (mut operation, mut control) = (0, 0);
        OPCODE.set(&mut operation, self.op.number().into());
        GUARD.set(&mut operation, predicate_source_bits(self.guard));
        if slots.has(Slots::D) {
            D.set(&mut operation, self.d.0.into());
        }
        if slots.has(Slots::A) {
            A.set(&mut operation, self.a.0.into());
        }
        match self.b {
            Operand::Imm(value) if slots.b_constant() => {
                CONSTANT.set(&mut operation, 1);
                IMMEDIATE.set(&mut operation, value);
            }
            Operand::Reg(register) if slots.b_register() => B.set(&mut operation, register.0.into()),
            _ => {}
        }
        if slots.has(Slots::OFFSET) {
            OFFSET.set(&mut operation, self.offset.bytes() as u32 & ((1 << OFFSET.1) - 1));
        }
        let modifiers = u64::from(self.modifiers());
        MODIFIERS_LOW.set(&mut operation, MODIFIERS_LOW_PART.get(modifiers));
        MODIFIERS_HIGH.set(&mut control, MODIFIERS_HIGH_PART.get(modifiers));
        if slots.has(Slots::C) {
            C.set(&mut control, self.c.0.into());
        }
        if slots.has(Slots::JOIN) {
            RECONVERGENCE.set(&mut control, self.reconvergence.map_or(Pc::LIMIT, Pc::number));
        }
        self.control.encode(&mut control);
        [operation, control]
    }

    /// p, s, t and the operation's own modifiers.
    fn modifiers(&self) -> u32 {
        let slots = self.op.slots();
        let mut bits = 0;
        if slots.has(Slots::P) {
            P.set(&mut bits, self.p.number().into());
        }
        if slots.has(Slots::S) {
            S.set(&mut bits, predicate_source_bits(self.s));
        }
        if slots.has(Slots::T) {
            T.set(&mut bits, predicate_source_bits(self.t));
        }
        bits as u32 | self.op.modifiers() << own_modifiers(slots)
    }

    /// The instruction of an operation word and a control word.
    ///
    /// # Errors
    /// When the opcode or a field's value is invalid, or when bits are set that this instruction does not use.
    pub fn decode([operation, control]: [u64; 2]) -> Result<Self, DecodeError> {
        let number = OPCODE.get(operation) as u8;
        let unknown = DecodeError::Opcode { number };
        let row = Op::TABLE.iter().find(|row| row.number == number).ok_or(unknown)?;
        let (mnemonic, slots) = (row.mnemonic, row.slots);
        let mut word = Word {
            mnemonic,
            slots,
            operation,
            control,
            used: [OPCODE.mask() | CONSTANT.mask() | GUARD.mask(), CONTROL_BITS],
        };
        let b = word.source_b()?;

        // The modifiers lie in both words; a branch has its reconvergence point in place of the upper ones.
        let own_at = own_modifiers(slots);
        let own_width: u32 = row.modifiers.iter().map(|(_, width)| width).sum();
        let high = if slots.has(Slots::JOIN) { 0 } else { MODIFIERS_HIGH.get(control) };
        let modifiers = u64::from(MODIFIERS_LOW.get(operation) | high << MODIFIERS_LOW.1);
        let mut used = Bits(own_at, own_width).mask();
        for (slot, bits) in [(Slots::P, P), (Slots::S, S), (Slots::T, T)] {
            if slots.has(slot) {
                used |= bits.mask();
            }
        }
        word.used[0] |= u64::from(MODIFIERS_LOW_PART.get(used)) << MODIFIERS_LOW.0;
        word.used[1] |= u64::from(MODIFIERS_HIGH_PART.get(used)) << MODIFIERS_HIGH.0;
        let own = Bits(own_at, MODIFIERS - own_at).get(modifiers & used);
        let op = Op::from_modifiers(number, own).ok_or(unknown)?.map_err(|field| {
            let below: u32 = row.modifiers.iter().take_while(|(name, _)| *name != field).map(|(_, width)| width).sum();
            let width = row.modifiers.iter().find(|(name, _)| *name == field).map_or(0, |(_, width)| *width);
            DecodeError::Value { mnemonic, field, value: Bits(below, width).get(own.into()) }
        })?;

        let mut instruction = Self::new(op);
        instruction.guard = predicate_source(GUARD.get(operation));
        instruction.b = b;
        instruction.d = word.register(Slots::D, 0, D);
        instruction.a = word.register(Slots::A, 0, A);
        instruction.c = word.register(Slots::C, 1, C);
        if slots.has(Slots::P) {
            instruction.p = predicate(P.get(modifiers));
        }
        if slots.has(Slots::S) {
            instruction.s = predicate_source(S.get(modifiers));
        }
        if slots.has(Slots::T) {
            instruction.t = predicate_source(T.get(modifiers));
        }
        if slots.has(Slots::OFFSET) {
            word.used[0] |= OFFSET.mask();
            // Sign-extends the field.
            let spare = 32 - OFFSET.1;
            let bytes = (OFFSET.get(operation) << spare) as i32 >> spare;
            instruction.offset = Offset::new(bytes).unwrap_or_default();
        }
        if slots.has(Slots::JOIN) {
            word.used[1] |= RECONVERGENCE.mask();
            instruction.reconvergence = Pc::new(RECONVERGENCE.get(control));
        }
        word.reserved()?;
        instruction.control = Control::decode(mnemonic, control)?;
        instruction.consistent()?;
        Ok(instruction)
    }

    /// Checks that decoding the instruction's words gives the same instruction: all fields are valid, and those that it does not use are as
    /// [`Instruction::new`] leaves them.
    ///
    /// # Errors
    /// The first field for which this does not hold.
    pub fn check(&self) -> Result<(), DecodeError> {
        let decoded = Self::decode(self.encode())?;
        let mnemonic = self.op.mnemonic();
        if decoded.b != self.b {
            let what = if self.b.immediate().is_some() { "a constant" } else { "a register" };
            return Err(if self.op.slots().has(Slots::B) {
                DecodeError::Form { mnemonic, what }
            } else {
                DecodeError::Unused { mnemonic, field: "b" }
            });
        }
        let fields = [
            ("d", decoded.d == self.d),
            ("p", decoded.p == self.p),
            ("a", decoded.a == self.a),
            ("c", decoded.c == self.c),
            ("s", decoded.s == self.s),
            ("t", decoded.t == self.t),
            ("offset", decoded.offset == self.offset),
            ("reconvergence", decoded.reconvergence == self.reconvergence),
            ("free register", decoded.control == self.control),
        ];
        match fields.iter().find(|(_, same)| !same) {
            Some(&(field, _)) => Err(DecodeError::Unused { mnemonic, field }),
            None => Ok(()),
        }
    }

    /// Checks that the fields are consistent with each other.
    fn consistent(&self) -> Result<(), DecodeError> {
        let mnemonic = self.op.mnemonic();
        let unused = |field| Err(DecodeError::Unused { mnemonic, field });
        if self.op.slots().has(Slots::JOIN) && self.target().is_none() {
            return Err(DecodeError::Value { mnemonic, field: "target", value: self.b.immediate().unwrap_or(0) });
        }
        let offset = self.offset.bytes() as u32;
        if self.op.slots().has(Slots::TEXTURE) && (!offset.is_multiple_of(4) || offset > MOST_HANDLE) {
            return Err(DecodeError::Value { mnemonic, field: "offset", value: offset });
        }
        if self.op.slots().has(Slots::PAIR) && !self.has_wide_address() && self.b != Operand::ZERO {
            return unused("b");
        }
        let control = &self.control;
        for slot in Slot::ALL.into_iter().filter(|slot| self.source(*slot).is_none()) {
            if control.is_last_read(slot) {
                return unused(LAST_READ_NAMES[slot.index()]);
            }
            if control.source_level(slot) != SourceLevel::Mrf {
                return unused(LEVEL_NAMES[slot.index()]);
            }
        }
        if control.private && !self.may_be_shared() {
            return unused("private");
        }
        for (i, source) in self.power_sources().into_iter().enumerate() {
            if source.is_none() && control.source_power[i] != PowerState::On {
                return unused(POWER_NAMES[i]);
            }
        }
        if self.destination().is_none() {
            if control.result_level != ResultLevel::Mrf {
                return unused("level of the result");
            }
            if control.result_power != PowerState::On {
                return unused("power of the result");
            }
            for (name, .., mark) in MARKS {
                if *mark(&mut control.clone()) {
                    return unused(name);
                }
            }
        }
        Ok(())
    }
}

/// The parts of the modifiers that lie in the two words.
const MODIFIERS_LOW_PART: Bits = Bits(0, MODIFIERS_LOW.1);
const MODIFIERS_HIGH_PART: Bits = Bits(MODIFIERS_LOW.1, MODIFIERS_HIGH.1);

/// Two words, and those of their bits that belong to a field in use.
struct Word {
    mnemonic: &'static str,
    slots: Slots,
    operation: u64,
    control: u64,
    used: [u64; 2],
}

impl Word {
    fn register(&mut self, slot: Slots, word: usize, bits: Bits) -> Reg {
        if !self.slots.has(slot) {
            return Reg::ZERO;
        }
        self.used[word] |= bits.mask();
        Reg(bits.get([self.operation, self.control][word]) as u8)
    }

    fn source_b(&mut self) -> Result<Operand, DecodeError> {
        let (mnemonic, slots) = (self.mnemonic, self.slots);
        if CONSTANT.get(self.operation) == 1 {
            if !slots.b_constant() {
                return Err(DecodeError::Form { mnemonic, what: "a constant" });
            }
            self.used[0] |= IMMEDIATE.mask();
            return Ok(Operand::Imm(IMMEDIATE.get(self.operation)));
        }
        if slots.has(Slots::CONSTANT) {
            return Err(DecodeError::Form { mnemonic, what: "a register" });
        }
        Ok(self.register(Slots::B, 0, B).into())
    }

    fn reserved(&self) -> Result<(), DecodeError> {
        let mnemonic = self.mnemonic;
        for (word, value, used) in
            [("operation", self.operation, self.used[0]), ("control", self.control, self.used[1])]
        {
            let bits = value & !used;
            if bits != 0 {
                return Err(DecodeError::Reserved { mnemonic, word, bits });
            }
        }
        Ok(())
    }
}

fn predicate_source_bits(source: PredicateSource) -> u32 {
    u32::from(source.predicate.number()) | u32::from(source.negated) << P.1
}

/// The predicate in the low three bits, all of whose values are valid.
fn predicate(bits: u32) -> Predicate {
    Predicate::new(bits as u8 & 7).unwrap_or(Predicate::TRUE)
}

fn predicate_source(bits: u32) -> PredicateSource {
    PredicateSource { predicate: predicate(bits), negated: bits >> P.1 & 1 == 1 }
}

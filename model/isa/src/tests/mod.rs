//! Tests of words and text: every field alone, pairs of fields, random instructions and random words, and pinned examples.

mod fields;
mod golden;
mod levels;
mod page;
mod random;

use crate::control::{Control, PowerState};
use crate::instruction::Instruction;
use crate::operations::{Op, Row, Slots};
use crate::registers::{Offset, Operand, Pc, Predicate, PredicateSource, Reg, Slot};

use levels::{result_levels, source_levels};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub fn modifier_bits(row: &Row) -> u32 {
    row.modifiers.iter().map(|(_, bits)| bits).sum()
}

/// All operations of a row, with every valid value of every modifier.
pub fn operations(row: &Row) -> Vec<Op> {
    (0..1 << modifier_bits(row)).filter_map(|bits| Op::from_modifiers(row.number, bits)?.ok()).collect()
}

pub const POWER: [PowerState; 3] = [PowerState::On, PowerState::Sleep, PowerState::Off];

/// A random valid instruction: fields that do not apply to it have their default values.
pub fn random_instruction(random: &mut Random) -> Instruction {
    let row = random.pick(Op::TABLE);
    let op = loop {
        let bits = random.next() as u32 & ((1 << modifier_bits(&row)) - 1);
        if let Some(Ok(op)) = Op::from_modifiers(row.number, bits) {
            break op;
        }
    };
    let mut instruction = Instruction::new(op).guarded(random_predicate_source(random));
    let slots = op.slots();
    if slots.has(Slots::D) {
        instruction.d = random_register(random);
    }
    if slots.has(Slots::P) {
        instruction.p = random_predicate_source(random).predicate;
    }
    if slots.has(Slots::A) {
        instruction.a = random_register(random);
    }
    if slots.b_constant() && (!slots.b_register() || random.below(2) == 0) {
        let limit = if slots.has(Slots::JOIN) { Pc::LIMIT as usize } else { 1 << 32 };
        instruction.b = Operand::Imm(random.below(limit) as u32);
    } else if slots.b_register() && (!slots.has(Slots::PAIR) || instruction.has_wide_address()) {
        instruction.b = random_register(random).into();
    }
    if slots.has(Slots::C) {
        instruction.c = random_register(random);
    }
    if slots.has(Slots::S) {
        instruction.s = random_predicate_source(random);
    }
    if slots.has(Slots::T) {
        instruction.t = random_predicate_source(random);
    }
    if slots.has(Slots::OFFSET) {
        let bits = random.next() as i32 >> 8;
        instruction.offset = Offset::new(if slots.has(Slots::TEXTURE) { bits & 0x1fffc } else { bits }).unwrap();
    }
    if slots.has(Slots::JOIN) {
        instruction.reconvergence = Pc::new(random.below(1 << 20) as u32);
    }
    instruction.control = random_control(random, &instruction);
    instruction
}

fn random_register(random: &mut Random) -> Reg {
    // RZ often: it changes which control fields apply.
    if random.below(8) == 0 { Reg::ZERO } else { Reg(random.next() as u8) }
}

fn random_predicate_source(random: &mut Random) -> PredicateSource {
    PredicateSource { predicate: Predicate::new(random.next() as u8 & 7).unwrap(), negated: random.below(2) == 1 }
}

fn random_control(random: &mut Random, instruction: &Instruction) -> Control {
    let mut control = Control {
        deschedule: random.below(2) == 1,
        strand_end: random.below(2) == 1,
        free_register: Some(random_register(random)).filter(|r| !r.is_zero()),
        ..Control::default()
    };
    for slot in Slot::ALL.into_iter().filter(|slot| instruction.source(*slot).is_some()) {
        control.last_read[slot.index()] = random.below(2) == 1;
        control.source_levels[slot.index()] = random.pick(&source_levels());
    }
    for (power, source) in control.source_power.iter_mut().zip(instruction.power_sources()) {
        if source.is_some() {
            *power = random.pick(&POWER);
        }
    }
    if instruction.destination().is_some() {
        control.result_level = random.pick(&result_levels());
        control.result_power = random.pick(&POWER);
        control.bypass.lrf = random.below(2) == 1;
        control.bypass.cache = random.below(2) == 1;
    }
    control
}

/// Asserts that an instruction is valid and survives encoding and decoding.
#[track_caller]
pub fn survives(instruction: &Instruction) {
    assert_eq!(instruction.check(), Ok(()), "{instruction}");
    let words = instruction.encode();
    assert_eq!(Instruction::decode(words).as_ref(), Ok(instruction), "{words:016x?}");
}

/// Asserts that an instruction survives conversion to text and back.
#[track_caller]
pub fn survives_text(instruction: &Instruction) {
    assert_eq!(crate::assemble_line(&instruction.to_string()).as_ref(), Ok(instruction));
}

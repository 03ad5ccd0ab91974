use crate::Packed;
use gpurf_isa::{Instruction, Op, PredicateSource, Row as Operation, Slot, Slots, Unit};

use super::*;
use crate::instruction::{NO_PRED, NO_REG};
use crate::testing::Random;

const PAGE: &str = include_str!("../../../../../docs/blocks/decode.md");

/// Random words of an operation that mean something to the instruction set.
fn random(random: &mut Random, operation: &Operation) -> (Instruction, [u64; 2]) {
    let slots = operation.slots;
    loop {
        let (mut op, mut ctl) = (random.next(), random.next());
        // Bits that this operation does not use are zero in a word that means something: fewer of them have to come by
        // luck.
        let own = operation.modifiers.iter().map(|(_, bits)| bits).sum::<u32>();
        let predicates = [(Slots::T, 11), (Slots::S, 7), (Slots::P, 3)];
        let below = predicates.into_iter().find(|(slot, _)| slots.has(*slot)).map_or(0, |(_, bits)| bits);
        let used = (1u64 << (below + own)) - 1;
        let holes = [(Slots::P, 0x7), (Slots::S, 0x78), (Slots::T, 0x780)];
        let holes = holes.iter().filter(|(slot, _)| !slots.has(*slot)).fold(0, |bits, (_, hole)| bits | hole);
        let modifiers = used & !(holes & ((1 << below) - 1));
        let mut mask = [0x0fff | (modifiers & 0xf) << 28, (modifiers >> 4) << 8];
        mask[0] &= if slots.has(Slots::B) && !slots.has(Slots::OFFSET) { u64::MAX } else { !(1 << 7) };
        for (slot, word, bits) in [(Slots::D, 0, 0xff << 12), (Slots::A, 0, 0xff << 20), (Slots::C, 1, 0xff)] {
            mask[word] |= if slots.has(slot) { bits } else { 0 };
        }
        mask[1] |= if slots.has(Slots::JOIN) { 0xf_ffff } else { 0 };
        op = op & !0x7f | u64::from(operation.number);
        if slots.has(Slots::CONSTANT) {
            op |= 1 << 7;
        }
        mask[0] |= match op >> 7 & 1 {
            _ if slots.has(Slots::OFFSET) => u64::MAX << 40 | if slots.has(Slots::B) { 0xff << 32 } else { 0 },
            _ if !slots.has(Slots::B) => 0,
            0 => 0xff << 32,
            _ if slots.has(Slots::JOIN) => 0xf_ffff << 32,
            _ => u64::MAX << 32,
        };
        if slots.has(Slots::PAIR) && random.chance(30) {
            op |= 0xff << 32;
        }
        (op, ctl) = (op & mask[0], ctl & mask[1]);
        if let Ok(instruction) = Instruction::decode([op, ctl]) {
            return (instruction, [op, ctl]);
        }
    }
}

/// Number and inversion as roles have them.
fn bits(source: PredicateSource) -> u8 {
    source.predicate.number() | u8::from(source.negated) << 3
}

/// The unit of an operation, from what the instruction set says of it: constants and special registers
/// have a unit of their own, the lanes of WARPSYNC are compared in an ALU, and single precision has a unit of its own.
fn unit_of(op: Op) -> u8 {
    match (op, op.unit()) {
        (Op::Nop {} | Op::Membar { .. }, _) => unit::NOTHING,
        (Op::Bar { .. }, _) => unit::BARRIER,
        (Op::Warpsync {}, _) => unit::ALU,
        (Op::Relssp {}, _) => unit::UNSUPPORTED,
        (Op::S2r { .. } | Op::Ldc { .. }, _) => unit::CONSTANT,
        (_, Unit::Control) => unit::CONTROL,
        (_, Unit::SharedMemory | Unit::GlobalMemory) => unit::MEMORY,
        (_, Unit::Sfu) => unit::SFU,
        (_, Unit::Alu) if (0x30..0x40).contains(&op.number()) => unit::FP,
        (_, Unit::Alu) => unit::ALU,
    }
}

#[test]
fn roles_are_what_the_instruction_set_says() {
    let mut generator = Random(5);
    for operation in Op::TABLE {
        for _ in 0..2000 {
            let (instruction, [op, ctl]) = random(&mut generator, operation);
            let (roles, slots) = (roles(op, ctl), instruction.op.slots());
            let unit = unit_of(instruction.op);
            let register = |slot| instruction.source(slot).map_or(NO_REG, |r| r.0);
            let predicate = |slot, source| if slots.has(slot) { bits(source) } else { 7 };
            let stop =
                matches!(instruction.op, Op::Bra {} | Op::Exit {} | Op::Bar { .. } | Op::Trap {} | Op::Relssp {});
            let constant = slots.b_constant() && instruction.b.immediate().is_some();

            assert_eq!(roles.unit(), unit, "{instruction:?}");
            assert_eq!(roles.sources(), Slot::ALL.map(register), "{instruction:?}");
            let d = instruction.destination().map_or(NO_REG, |r| r.0);
            let p = instruction.predicate_destination().map_or(NO_PRED, |p| p.number());
            assert_eq!((roles.d(), roles.p()), (d, p), "{instruction:?}");
            let read = [roles.guard(), roles.s(), roles.t()];
            let [s, t] = [(Slots::S, instruction.s), (Slots::T, instruction.t)].map(|(slot, x)| predicate(slot, x));
            assert_eq!(read, [bits(instruction.guard), s, t], "{instruction:?}");
            assert_eq!((roles.stop(), roles.b_constant()), (stop.into(), constant.into()), "{instruction:?}");
            assert_eq!(roles.0 >> Roles::BITS, 0);
        }
    }
}

/// Opcode, name, unit and slots of the page's table.
fn table() -> Vec<(u8, String, u8, String)> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| 0x"));
    let mut found = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        for part in cells.chunks(3).filter(|part| part[0].starts_with("0x")) {
            for operation in part[0].split(", ") {
                let (number, name) = operation.split_once(' ').expect("opcode and name");
                let number = u8::from_str_radix(&number[2..], 16).expect("an opcode");
                found.push((number, name.to_owned(), part[1].parse().expect("a unit"), part[2].to_owned()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_pages_table_is_that_of_the_instruction_set() {
    let letters = [
        (Slots::D, 'd'),
        (Slots::P, 'p'),
        (Slots::A, 'a'),
        (Slots::B, 'b'),
        (Slots::C, 'c'),
        (Slots::S, 's'),
        (Slots::T, 't'),
    ];
    let expected = Op::TABLE.iter().map(|operation| {
        let slots = letters.iter().filter(|(slot, _)| operation.slots.has(*slot)).map(|&(_, letter)| letter);
        (operation.number, operation.mnemonic.to_owned(), slots.collect::<String>())
    });
    let found = table().into_iter().map(|(number, name, _, slots)| {
        // Conditions in words, such as "unless space is shared", name no slots.
        let (always, conditional) = slots.split_once(';').unwrap_or((&slots, ""));
        let (always, _) = always.split_once('(').unwrap_or((always, ""));
        let mut slots: Vec<char> = always.chars().filter(|c| !c.is_whitespace()).collect();
        slots.extend(conditional.trim().chars().next());
        slots.sort_by_key(|c| letters.iter().position(|(_, letter)| letter == c));
        (number, name, slots.into_iter().collect::<String>())
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn units_are_those_of_the_pages_table() {
    let table = table();
    for opcode in 0..128 {
        let unit = table.iter().find(|row| row.0 == opcode).map_or(unit::UNSUPPORTED, |row| row.2);
        assert_eq!(roles(opcode.into(), 0).unit(), unit, "{opcode:#x}");
    }
}

#[test]
fn fields_that_an_operation_does_not_use_are_none_whatever_the_word_has_there() {
    // MEMBAR, EXIT, opcodes that are free.
    for (opcode, unit, stop) in [(0x06, 4, 0), (0x03, 0, 1), (0x7f, 7, 1), (0x39, 7, 1)] {
        for fill in [0, u64::MAX] {
            let roles = roles(fill & !0x7f | opcode, fill);
            assert_eq!((roles.unit(), roles.stop()), (unit, stop));
            assert_eq!([roles.a(), roles.b(), roles.c(), roles.d(), roles.p()], [255, 255, 255, 255, 7]);
            assert_eq!((roles.s(), roles.t(), roles.b_constant()), (7, 7, 0));
            assert_eq!(roles.guard(), if fill == 0 { 0 } else { 15 });
        }
    }
}

#[test]
fn the_upper_word_of_an_address_is_read_where_there_is_one() {
    // Registers 1, 2, 3, 4 for d, a, b, c; bit 7 is not looked at.
    let word = |opcode: u64, space: u64| (opcode | 1 << 7 | 1 << 12 | 2 << 20 | space << 28 | 3 << 32, 4);
    let sources = |opcode, space| {
        let (op, ctl) = word(opcode, space);
        let roles = roles(op, ctl);
        assert_eq!(roles.b_constant(), 0);
        [roles.a(), roles.b(), roles.c(), roles.d()]
    };
    for (space, b) in [(0, 3), (1, 255), (2, 255), (3, 3)] {
        assert_eq!(sources(0x40, space), [2, b, 255, 1], "LD");
        assert_eq!(sources(0x41, space), [2, b, 4, 255], "ST");
        assert_eq!(sources(0x44, space), [2, 3, 4, 1], "CAS");
        assert_eq!(sources(0x42, space), [2, 255, 255, 1], "LDC");
    }
    for (space, b) in [(0, 3), (1, 255), (2, 3), (3, 3)] {
        assert_eq!(sources(0x43, space), [2, b, 4, 1], "ATOM");
    }
}

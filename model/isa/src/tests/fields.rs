//! Every field at every value, and every pair of fields.

use super::*;
use crate::SourceLevel;
use crate::encoding::DecodeError;

/// A change of one field of an instruction.
type Change = Box<dyn Fn(&mut Instruction)>;

fn changes<T: Copy + 'static>(values: impl IntoIterator<Item = T>, set: fn(&mut Instruction, T)) -> Vec<Change> {
    values.into_iter().map(|value| Box::new(move |i: &mut Instruction| set(i, value)) as Change).collect()
}

fn predicate_sources() -> impl Iterator<Item = PredicateSource> {
    (0..16).map(|bits| PredicateSource { predicate: Predicate::new(bits & 7).unwrap(), negated: bits > 7 })
}

/// One bit at a time, none, and all.
fn bit_values(width: u32) -> impl Iterator<Item = u32> {
    (0..width).map(|bit| 1 << bit).chain([0, (1u64 << width).wrapping_sub(1) as u32])
}

/// The fields of an operation, each with the changes that give it its values: all of them, or a few that have every bit at both values.
fn fields(op: Op, all: bool) -> Vec<Vec<Change>> {
    let slots = op.slots();
    let base = Instruction::new(op);
    let registers = move || -> Vec<Reg> {
        if all { (0..=255).map(Reg).collect() } else { bit_values(8).map(|bits| Reg(bits as u8)).collect() }
    };
    let mut fields = vec![
        changes(predicate_sources(), |i, v| i.guard = v),
        changes([false, true], |i, v| i.control.deschedule = v),
        changes([false, true], |i, v| i.control.strand_end = v),
        changes([false, true], |i, v| i.control.private = v),
        changes(registers(), |i, v| i.control.free_register = Some(v).filter(|r| !r.is_zero())),
    ];
    if slots.has(Slots::D) {
        fields.push(changes(registers(), |i, v| i.d = v));
        fields.push(changes(result_levels(), |i, v| i.control.result_level = v));
        fields.push(changes(POWER, |i, v| i.control.result_power = v));
        fields.push(changes([false, true], |i, v| i.control.bypass.lrf = v));
        fields.push(changes([false, true], |i, v| i.control.bypass.cache = v));
    }
    if slots.has(Slots::P) {
        fields.push(changes((0..8).filter_map(Predicate::new), |i, v| i.p = v));
    }
    if slots.has(Slots::A) {
        fields.push(changes(registers(), |i, v| i.a = v));
    }
    if slots.b_register() && (!slots.has(Slots::PAIR) || base.has_wide_address()) {
        fields.push(changes(registers(), |i, v| i.b = v.into()));
    }
    if slots.has(Slots::JOIN) {
        let numbers = || if all { (0..=Pc::LIMIT).collect() } else { bit_values(20).collect::<Vec<_>>() };
        fields.push(changes(numbers().into_iter().filter(|n| *n < Pc::LIMIT), |i, v| i.b = Operand::Imm(v)));
        fields.push(changes(numbers().into_iter().map(Pc::new), |i, v| i.reconvergence = v));
    } else if slots.b_constant() {
        fields.push(changes(bit_values(32), |i, v| i.b = Operand::Imm(v)));
    }
    if slots.has(Slots::C) {
        fields.push(changes(registers(), |i, v| i.c = v));
    }
    if slots.has(Slots::S) {
        fields.push(changes(predicate_sources(), |i, v| i.s = v));
    }
    if slots.has(Slots::T) {
        fields.push(changes(predicate_sources(), |i, v| i.t = v));
    }
    if slots.has(Slots::OFFSET) {
        let offsets = bit_values(24).map(|bits| (bits << 8) as i32 >> 8);
        let possible = |offset: &i32| !slots.has(Slots::TEXTURE) || offset & 0x1fffc == *offset;
        fields.push(changes(offsets.filter(possible).filter_map(Offset::new), |i, v| i.offset = v));
    }
    let last_read: [fn(&mut Instruction, bool); 3] =
        [|i, v| i.control.last_read[0] = v, |i, v| i.control.last_read[1] = v, |i, v| i.control.last_read[2] = v];
    let level: [fn(&mut Instruction, SourceLevel); 3] = [
        |i, v| i.control.source_levels[0] = v,
        |i, v| i.control.source_levels[1] = v,
        |i, v| i.control.source_levels[2] = v,
    ];
    for slot in Slot::ALL {
        fields.push(changes([false, true], last_read[slot.index()]));
        fields.push(changes(source_levels(), level[slot.index()]));
    }
    fields.push(changes(POWER, |i, v| i.control.source_power[0] = v));
    fields.push(changes(POWER, |i, v| i.control.source_power[1] = v));
    fields
}

/// An instruction of an operation that has a register in every slot that can hold one, so that every field applies.
fn full(op: Op) -> Instruction {
    let slots = op.slots();
    let mut instruction = Instruction::new(op);
    if slots.has(Slots::D) {
        instruction.d = Reg(1);
    }
    if slots.has(Slots::A) {
        instruction.a = Reg(2);
    }
    if slots.b_register() && (!slots.has(Slots::PAIR) || instruction.has_wide_address()) {
        instruction.b = Reg(3).into();
    }
    if slots.has(Slots::C) {
        instruction.c = Reg(4);
    }
    instruction
}

/// An instruction with a field that it cannot have is refused; any other survives. Returns whether it survived.
fn survives_or_is_refused(instruction: &Instruction) -> bool {
    match instruction.check() {
        Ok(()) => {
            assert_eq!(Instruction::decode(instruction.encode()).as_ref(), Ok(instruction));
            true
        }
        Err(error) => {
            // The only reason possible here: a control field of a slot that holds no register.
            assert!(matches!(error, DecodeError::Unused { .. }), "{instruction}: {error}");
            false
        }
    }
}

#[test]
fn each_field_survives_at_every_value() {
    let mut survived = 0;
    for row in Op::TABLE {
        for op in operations(row) {
            survives(&full(op));
            survives_text(&full(op));
        }
        let op = operations(row)[0];
        for change in fields(op, true).into_iter().flatten() {
            let mut instruction = full(op);
            change(&mut instruction);
            survived += u32::from(survives_or_is_refused(&instruction));
        }
    }
    assert!(survived > 1 << 20);
}

#[test]
fn each_pair_of_fields_survives() {
    let (mut survived, mut refused) = (0, 0);
    for row in Op::TABLE {
        let fields = fields(operations(row)[0], false);
        for (i, first) in fields.iter().enumerate() {
            for second in &fields[i + 1..] {
                for a in first {
                    for b in second {
                        let mut instruction = full(operations_first(row));
                        a(&mut instruction);
                        b(&mut instruction);
                        if survives_or_is_refused(&instruction) {
                            survived += 1;
                        } else {
                            refused += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(survived > 400_000 && refused > 100_000, "{survived} {refused}");
}

fn operations_first(row: &Row) -> Op {
    (0..).find_map(|bits| Op::from_modifiers(row.number, bits)?.ok()).unwrap()
}

#[test]
fn each_modifier_value_that_means_nothing_is_refused_by_name() {
    for row in Op::TABLE {
        let base = full(operations_first(row)).encode();
        let own: u32 = modifier_bits(row);
        for bits in 0..1u32 << own {
            if let Some(Err(field)) = Op::from_modifiers(row.number, bits) {
                let mut words = full(operations_first(row)).encode();
                let at = own_position(row);
                let modifiers = u64::from(bits) << at;
                words[0] =
                    base[0] & !0xf000_0000 | (base[0] & 0xf000_0000 & mask_below(at) << 28) | (modifiers & 15) << 28;
                words[1] =
                    base[1] & !0xf_ff00 | (base[1] & 0xf_ff00 & (mask_below(at) >> 4) << 8) | (modifiers >> 4) << 8;
                match Instruction::decode(words) {
                    Err(DecodeError::Value { field: named, .. }) => assert_eq!(named, field),
                    other => panic!("{}: {bits:#x} gives {other:?}", row.mnemonic),
                }
            }
        }
    }
}

fn mask_below(at: u32) -> u64 {
    (1 << at) - 1
}

fn own_position(row: &Row) -> u32 {
    [(Slots::T, 11), (Slots::S, 7), (Slots::P, 3)].into_iter().find(|(s, _)| row.slots.has(*s)).map_or(0, |(_, at)| at)
}

#[test]
fn opcodes_are_distinct_and_modifiers_fit() {
    for (i, row) in Op::TABLE.iter().enumerate() {
        assert!(row.number != 0 && row.number < 0x80);
        assert!(
            own_position(row) + modifier_bits(row) <= if row.slots.has(Slots::JOIN) { 4 } else { 16 },
            "{}",
            row.mnemonic
        );
        for other in &Op::TABLE[..i] {
            assert!(other.number < row.number && other.mnemonic != row.mnemonic);
        }
    }
}

use super::*;
use crate::instruction::{Instruction, InstructionFields, Roles, RolesFields};
use crate::places;

#[test]
fn each_field_has_its_own_bits() {
    let names = Instruction::layout().iter().map(|field| field.0);
    let all: Vec<(u32, u32)> = names.map(Instruction::bits_of).collect();
    let mut end = Instruction::BITS;
    for (low, bits) in all {
        assert_eq!(low + bits, end);
        end = low;
    }
    assert_eq!(end, 0);
    assert!(places(Instruction::layout()).any(|place| place == ("roles.a", 192, 8)));

    // A field that is all ones alone, across the words that it lies in.
    let ones = |change: fn(&mut InstructionFields)| {
        let mut word = Instruction::default();
        word.change(change);
        let bit = |bit: u32| word.0[(bit / 32) as usize] >> (bit % 32) & 1 == 1;
        (0..288).filter(|&at| bit(at)).collect::<Vec<u32>>()
    };
    let range = |name: &str| {
        let (low, bits) = Instruction::bits_of(name);
        (low..low + bits).collect::<Vec<u32>>()
    };
    assert_eq!(ones(|i| i.pc = u32::MAX), range("pc"), "bits beyond the field are dropped");
    assert_eq!(ones(|i| i.op = u64::MAX), range("op"));
    assert_eq!(ones(|i| i.ctl = u64::MAX), range("ctl"));
    assert_eq!((ones(|i| i.s = u32::MAX), ones(|i| i.t = u32::MAX)), (range("s"), range("t")));
    assert_eq!(ones(|i| i.roles = RolesFields { unit: 15, ..RolesFields::default() }.into()), range("roles.unit"));
}

#[test]
fn what_is_put_in_comes_out() {
    let roles =
        RolesFields { unit: 5, b_constant: 1, p: 2, t: 9, s: 4, guard: 15, stop: 1, d: 200, c: 3, b: 99, a: 255 };
    assert_eq!(Roles::from(roles).fields(), roles);
    let fields = InstructionFields {
        pc: 0xabcde,
        roles: roles.into(),
        t: 0x1234_5678,
        s: 0x9abc_def0,
        ctl: 0x0123_4567_89ab_cdef,
        op: 0xfedc_ba98_7654_3210,
    };
    let word = Instruction::from(fields);
    assert_eq!((word.fields(), word.roles().guard(), word.op()), (fields, 15, fields.op));
    // Fields of up to 64 bits may begin anywhere: three words.
    let mut words = [0; 3];
    words.insert(20, 64, u64::MAX);
    assert_eq!((words, words.extract(20, 64)), ([0xfff0_0000, u32::MAX, 0xf_ffff], u64::MAX));
}

#[test]
#[should_panic(expected = "instruction_t has no field opcode")]
fn a_field_that_is_not_there_is_not_found() {
    Instruction::bits_of("opcode");
}

use super::*;
use crate::instruction::{Roles, RolesFields, unit};
use crate::testing::{Driver, SM_SHAPES};

/// An ALU to which an instruction is offered: the destinations are R9 and P3, all sources registers.
fn alu(opcode: u64, m: u32) -> Driver<Alu> {
    let mut alu = Driver::new(&SM_SHAPES[0]);
    let i: &mut AluIn = &mut alu.inputs;
    (i.valid_i, i.result_ready_i, i.warp_i, i.mask_i, i.src_valid_i) = (1, 1, 33, u32::MAX, 0b111);
    let (op, ctl) = (opcode | u64::from(m & 0xf) << 28, u64::from(m >> 4) << 8);
    i.instruction_i.change(|i| (i.op, i.ctl) = (op, ctl));
    i.instruction_i.change(|i| i.roles = roles(9, 3));
    alu
}

fn roles(d: u8, p: u8) -> Roles {
    RolesFields { d, p, unit: unit::ALU, ..RolesFields::default() }.into()
}

/// The cycle in which the instruction is taken, and the outputs of the next.
fn executed(alu: &mut Driver<Alu>) -> AluOut {
    assert_eq!(alu.cycle().ready_o, 1);
    alu.inputs.valid_i = 0;
    alu.cycle()
}

/// What an operation gives for one set of operands: register and predicate (the same in every lane).
fn one(opcode: u64, m: u32, [a, b, c]: [u32; 3], s: bool) -> (u32, u32) {
    let mut alu = alu(opcode, m);
    alu.inputs.data_i = [a, b, c].map(|word| WarpData([word; LANES]));
    alu.inputs.instruction_i.change(|i| i.s = u32::from(s).wrapping_neg());
    let out = executed(&mut alu);
    assert_eq!((out.result_reg_valid_o, out.result_pred_valid_o), (1, 1));
    let (d, p) = (out.result_data_o.0, out.result_pred_data_o);
    assert!(d.iter().all(|&lane| lane == d[0]) && (p == 0 || p == u32::MAX), "lanes are alike");
    (d[0], p & 1)
}

fn d(opcode: u64, m: u32, operands: [u32; 3]) -> u32 {
    one(opcode, m, operands, false).0
}

#[test]
fn operands_are_registers_the_constant_or_zero() {
    let mut alu = alu(0x24, 0x96);
    alu.inputs.instruction_i.change(|i| i.op |= 0x1234_5678 << 32);
    alu.inputs.data_i = [WarpData([1; LANES]), WarpData([2; LANES]), WarpData([4; LANES])];
    for (src_valid, b_constant, expected) in [
        (0b111, 0, 7),
        (0b110, 0, 6),
        (0b101, 0, 5),
        (0b011, 0, 3),
        (0b101, 1, 0x1234_5678 ^ 5),
        (0b000, 1, 0x1234_5678),
        (0b000, 0, 0),
        // A register goes before the constant.
        (0b111, 1, 7),
    ] {
        alu.inputs.src_valid_i = src_valid;
        alu.inputs.instruction_i.change(|i| i.roles = RolesFields { b_constant, ..roles(9, 3).fields() }.into());
        alu.inputs.valid_i = 1;
        assert_eq!(executed(&mut alu).result_data_o.0, [expected; LANES], "exclusive or of a, b and c");
    }
}

#[test]
fn lanes_outside_the_mask_are_zero() {
    let mut alu = alu(0x20, 0);
    alu.inputs.mask_i = 0x8000_0005;
    alu.inputs.data_i[0] = WarpData(std::array::from_fn(|l| if l == 2 { u32::MAX } else { 5 }));
    alu.inputs.data_i[1] = WarpData([1; LANES]);
    let out = executed(&mut alu);
    let expected = std::array::from_fn(|l| if matches!(l, 0 | 31) { 6 } else { 0 });
    assert_eq!((out.result_data_o.0, out.result_pred_data_o), (expected, 0b100));
    assert_eq!((out.result_warp_o, out.result_mask_o), (33, 0x8000_0005));
    assert_eq!((out.result_reg_o, out.result_pred_o), (9, 3));
}

#[test]
fn none_as_destination_writes_nothing() {
    let mut alu = alu(0x20, 0);
    alu.inputs.instruction_i.change(|i| i.roles = roles(NO_REG, NO_PRED));
    let out = executed(&mut alu);
    assert_eq!((out.result_valid_o, out.result_reg_valid_o, out.result_pred_valid_o), (1, 0, 0));
}

#[test]
fn a_result_stays_until_it_is_taken() {
    let mut alu = alu(0x10, 0);
    alu.inputs.data_i[1] = WarpData([1; LANES]);
    alu.inputs.result_ready_i = 0;
    assert_eq!(alu.cycle().ready_o, 1);
    alu.inputs.data_i[1] = WarpData([2; LANES]);
    for _ in 0..3 {
        let out = alu.cycle();
        assert_eq!((out.ready_o, out.result_valid_o, out.result_data_o.0[0]), (0, 1, 1));
    }
    // It leaves at the edge at which the next one comes.
    alu.inputs.result_ready_i = 1;
    assert_eq!(alu.cycle().ready_o, 1);
    alu.inputs.valid_i = 0;
    assert_eq!(alu.cycle().result_data_o.0[0], 2);
    assert_eq!(alu.cycle().result_valid_o, 0);
}

#[test]
fn reset_drops_the_result() {
    let mut alu = alu(0x10, 0);
    alu.cycle();
    alu.inputs.rst_ni = 0;
    assert_eq!(alu.cycle().result_valid_o, 1);
    assert_eq!(alu.cycle().result_valid_o, 0);
}

#[test]
fn warpsync_faults_when_other_lanes_live_than_its_mask_says() {
    let mut alu = alu(0x05, 0);
    alu.inputs.instruction_i.change(|i| i.roles = roles(NO_REG, NO_PRED));
    alu.inputs.mask_i = 0x0000_ff00;
    let mut fault = |living: u32, asked: [u32; LANES]| {
        (alu.inputs.valid_i, alu.inputs.data_i[1]) = (1, WarpData(asked));
        alu.inputs.instruction_i.change(|i| i.s = living);
        let out = executed(&mut alu);
        assert_eq!((out.result_valid_o, out.result_reg_valid_o, out.result_pred_valid_o), (1, 0, 0));
        (out.fault_valid_o != 0).then_some((out.fault_warp_o, out.fault_value_o))
    };
    assert_eq!(fault(0x0000_ff00, [u32::MAX; LANES]), None, "lanes that have ended do not count");
    assert_eq!(fault(u32::MAX, [0xff00; LANES]), None);
    assert_eq!(fault(u32::MAX, [0xff01; LANES]), Some((33, 0xff01)), "a lane is missing");
    assert_eq!(fault(u32::MAX, [0x7f00; LANES]), Some((33, 0x7f00)), "a lane is too much");
    let asked = std::array::from_fn(|l| if matches!(l, 3 | 10 | 12) { 0x0100_0000 + l as u32 } else { 0xff00 });
    assert_eq!(fault(u32::MAX, asked), Some((33, 0x0100_000a)), "the lowest active lane that disagrees");
    let asked = std::array::from_fn(|l| if l < 8 { 1 } else { 0xff00 });
    assert_eq!(fault(u32::MAX, asked), None, "lanes that do not execute it are not asked");
}

#[test]
fn the_fault_is_that_of_the_result_that_is_offered() {
    let mut alu = alu(0x05, 0);
    alu.inputs.instruction_i.change(|i| i.roles = roles(NO_REG, NO_PRED));
    alu.cycle();
    alu.inputs.instruction_i.change(|i| i.op = 0x10);
    alu.inputs.result_ready_i = 0;
    for _ in 0..2 {
        assert_eq!(alu.cycle().fault_valid_o, 1);
    }
    alu.inputs.result_ready_i = 1;
    assert_eq!(alu.cycle().fault_valid_o, 1);
    assert_eq!(alu.cycle().fault_valid_o, 0, "a MOV has none");
}

#[test]
fn moves_and_selections() {
    assert_eq!(d(0x10, 0, [1, 2, 3]), 2);
    let mut alu = alu(0x11, 0);
    alu.inputs.data_i[0] = WarpData([1; LANES]);
    alu.inputs.data_i[1] = WarpData([2; LANES]);
    alu.inputs.instruction_i.change(|i| i.s = 0x0000_ff01);
    let expected = std::array::from_fn(|l| if 0x0000_ff01 >> l & 1 == 1 { 1 } else { 2 });
    assert_eq!(executed(&mut alu).result_data_o.0, expected);
}

#[test]
fn votes_count_the_active_lanes() {
    let vote = |mode: u32, mask: u32, s: u32| {
        let mut alu = alu(0x14, mode << 7);
        alu.inputs.mask_i = mask;
        alu.inputs.instruction_i.change(|i| i.s = s);
        executed(&mut alu).result_pred_data_o
    };
    for (s, expected) in [(0x00ff, [0xff, 0xff, 0xff]), (0xff00, [0, 0, 0xff]), (0x0001, [0, 0xff, 0])] {
        for (mode, expected) in (0..).zip(expected) {
            assert_eq!(vote(mode, 0xff, s), expected, "mode {mode} of {s:x}");
        }
    }
    let mut alu = alu(0x15, 0);
    alu.inputs.mask_i = 0xff;
    alu.inputs.instruction_i.change(|i| i.s = 0x0f0f);
    let expected = std::array::from_fn(|l| if l < 8 { 0x0f } else { 0 });
    assert_eq!(executed(&mut alu).result_data_o.0, expected);
}

#[test]
fn predicates_are_combined() {
    for (combine, expected) in [(0, 0b1000), (1, 0b1110), (2, 0b0110)] {
        let mut alu = alu(0x16, combine << 11);
        alu.inputs.mask_i = 0xf;
        alu.inputs.instruction_i.change(|i| (i.s, i.t) = (0b1100, 0b1010));
        assert_eq!(executed(&mut alu).result_pred_data_o, expected);
    }
}

#[test]
fn additions_carry() {
    let add = |mode: u32, a: u32, b: u32, s: bool| one(0x20, mode << 7, [a, b, 0], s);
    assert_eq!(add(0, 5, 6, false), (11, 0));
    assert_eq!(add(0, u32::MAX, 0, true), (0, 1));
    assert_eq!(add(0, u32::MAX, u32::MAX, true), (u32::MAX, 1));
    assert_eq!(add(1, 5, 6, true), (u32::MAX, 0));
    assert_eq!(add(1, 6, 5, true), (1, 1));
    assert_eq!(add(1, 5, 5, true), (0, 1));
    assert_eq!(add(1, 5, 5, false), (u32::MAX, 0));
    assert_eq!(add(2, 5, 6, true), (1, 1));
    assert_eq!(add(2, 6, 5, true), (u32::MAX, 0));
}

#[test]
fn products_have_two_halves_and_carry() {
    let imad =
        |half: u32, signed: u32, a: u32, b: u32, c: u32, s: bool| one(0x21, half << 7 | signed << 8, [a, b, c], s);
    let minus_two = 2u32.wrapping_neg();
    assert_eq!(imad(0, 0, 7, 6, 5, true), (48, 0));
    assert_eq!(imad(0, 1, minus_two, 3, 7, false), (1, 1));
    assert_eq!(imad(1, 0, minus_two, 3, 0, false), (2, 0));
    assert_eq!(imad(1, 1, minus_two, 3, 0, false), (u32::MAX, 0));
    assert_eq!(imad(1, 1, minus_two, 3, 0, true), (0, 1), "the carry of s");
    assert_eq!(imad(1, 0, u32::MAX, u32::MAX, u32::MAX, true), (u32::MAX - 1, 1));
}

#[test]
fn minimum_and_maximum() {
    let minus_one = u32::MAX;
    for (which, signed, expected) in [(0, 0, 1), (1, 0, minus_one), (0, 1, minus_one), (1, 1, 1)] {
        assert_eq!(d(0x22, which | signed << 1, [minus_one, 1, 0]), expected);
        assert_eq!(d(0x22, which | signed << 1, [1, minus_one, 0]), expected);
    }
}

#[test]
fn comparisons() {
    let isetp = |comparison: u32, signed: u32, combine: u32, a: u32, b: u32, s: bool| {
        one(0x23, comparison << 7 | signed << 10 | combine << 11, [a, b, 0], s).1
    };
    let results = |signed: u32, a: u32, b: u32| -> [u32; 6] {
        std::array::from_fn(|comparison| isetp(comparison as u32, signed, 0, a, b, true))
    };
    // Equal, not equal, less, less or equal, greater, greater or equal.
    assert_eq!(results(0, 5, 5), [1, 0, 0, 1, 0, 1]);
    assert_eq!(results(0, 5, u32::MAX), [0, 1, 1, 1, 0, 0]);
    assert_eq!(results(1, 5, u32::MAX), [0, 1, 0, 0, 1, 1]);
    assert_eq!(results(1, 0x8000_0000, 0x7fff_ffff), [0, 1, 1, 1, 0, 0]);
    // And, or, exclusive or, and s where a and b are equal.
    for (combine, s, of_true, of_false) in
        [(0, false, 0, 0), (0, true, 1, 0), (1, false, 1, 0), (1, true, 1, 1), (2, false, 1, 0), (2, true, 0, 1)]
    {
        assert_eq!(isetp(2, 0, combine, 1, 2, s), of_true);
        assert_eq!(isetp(2, 0, combine, 2, 1, s), of_false);
    }
    for s in [false, true] {
        assert_eq!(isetp(2, 0, 3, 1, 2, s), 1);
        assert_eq!(isetp(2, 0, 3, 2, 1, s), 0);
        assert_eq!(isetp(2, 0, 3, 2, 2, s), s.into());
        assert_eq!(isetp(3, 0, 3, 2, 2, s), s.into());
    }
}

#[test]
fn logic_by_table() {
    // The operands hold the places of the table's bits.
    assert_eq!(d(0x24, 0xa6, [0xf0, 0xcc, 0xaa]), 0xa6);
    assert_eq!(d(0x24, 0x01, [0, 0, 0]), u32::MAX);
}

#[test]
fn shifts_count_all_bits_of_the_amount() {
    for (amount, left, right, signed) in [
        (0, 0x8000_0003, 0x8000_0003, 0x8000_0003),
        (4, 0x30, 0x0800_0000, 0xf800_0000),
        (31, 0x8000_0000, 1, u32::MAX),
        (32, 0, 0, u32::MAX),
        (0x8000_0000, 0, 0, u32::MAX),
    ] {
        let operands = [0x8000_0003, amount, 0];
        assert_eq!((d(0x25, 0, operands), d(0x26, 0, operands), d(0x26, 1, operands)), (left, right, signed));
    }
}

#[test]
fn funnel_shifts() {
    let (a, c) = (0x8765_4321, 0x0fed_cba9);
    for (amount, clamped, wrapped) in [
        (0, (c, a), (c, a)),
        (4, (0xfedc_ba98, 0x9876_5432), (0xfedc_ba98, 0x9876_5432)),
        (32, (a, c), (c, a)),
        (36, (a, c), (0xfedc_ba98, 0x9876_5432)),
        (0x8000_0000, (a, c), (c, a)),
    ] {
        let shf = |m: u32| d(0x27, m, [a, amount, c]);
        assert_eq!((shf(0), shf(1)), clamped, "clamped {amount}");
        assert_eq!((shf(2), shf(3)), wrapped, "wrapped {amount}");
    }
}

#[test]
fn bit_fields_are_extracted() {
    let bfe = |signed: u32, position: u32, length: u32| d(0x28, signed, [0x8000_0f50, position | length << 8, 0]);
    assert_eq!((bfe(0, 4, 8), bfe(1, 4, 8)), (0xf5, 0xffff_fff5));
    assert_eq!((bfe(0, 4, 9), bfe(1, 4, 9)), (0xf5, 0xf5));
    assert_eq!((bfe(0, 4, 0), bfe(1, 4, 0)), (0, 0));
    assert_eq!((bfe(0, 28, 8), bfe(1, 28, 8)), (8, 0xffff_fff8), "above bit 31");
    assert_eq!((bfe(0, 40, 8), bfe(1, 40, 8)), (0, u32::MAX));
    assert_eq!((bfe(0, 255, 255), bfe(1, 255, 255)), (0, u32::MAX));
    assert_eq!((bfe(0, 0, 255), bfe(1, 0, 32)), (0x8000_0f50, 0x8000_0f50));
    assert_eq!(d(0x28, 0, [0xabcd, 0x5a5a_0804, 0]), 0xbc, "the upper half of b does not count");
}

#[test]
fn bit_fields_are_inserted() {
    let bfi = |position: u32, length: u32| d(0x29, 0, [0xffff_ff5a, position | length << 8, 0x1111_1111]);
    assert_eq!(bfi(8, 8), 0x1111_5a11);
    assert_eq!(bfi(28, 8), 0xa111_1111, "above bit 31");
    assert_eq!((bfi(8, 0), bfi(32, 8), bfi(255, 255)), (0x1111_1111, 0x1111_1111, 0x1111_1111));
    assert_eq!((bfi(0, 32), bfi(0, 255)), (0xffff_ff5a, 0xffff_ff5a));
}

#[test]
fn bytes_are_permuted() {
    let prmt = |selector: u32| d(0x2a, 0, [0x8322_1100, selector, 0x7766_5584]);
    assert_eq!(prmt(0x3210), 0x8322_1100);
    assert_eq!(prmt(0x7654), 0x7766_5584);
    assert_eq!(prmt(0x4703), 0x8477_0083);
    assert_eq!(prmt(0x0bfc_800b), 0xff);
    assert_eq!(prmt(0xffff_c98b), 0xff00_00ff, "only four selectors; signs of bytes 4, 1, 0, 3");
}

#[test]
fn bits_are_counted_and_reversed() {
    for (a, ones, zeros, reversed) in
        [(0, 0, 32, 0), (1, 1, 31, 0x8000_0000), (0x00f0_0001, 5, 8, 0x8000_0f00), (u32::MAX, 32, 0, u32::MAX)]
    {
        let operands = [a, 7, 7];
        assert_eq!((d(0x2b, 0, operands), d(0x2c, 0, operands), d(0x2d, 0, operands)), (ones, zeros, reversed));
    }
}

#[test]
fn dot_products() {
    let (a, b) = (0xff02_0304, 0x80ff_0201);
    // Unsigned: 255 * 128 + 2 * 255 + 3 * 2 + 4 * 1.
    assert_eq!(d(0x2e, 0, [a, b, 1]), 33161);
    assert_eq!(d(0x2e, 1, [a, b, 1]), (-128i32 + 510 + 11) as u32);
    assert_eq!(d(0x2e, 2, [a, b, 1]), (255 * -128i32 - 2 + 11) as u32);
    assert_eq!(d(0x2e, 3, [a, b, 1]), (128i32 - 2 + 11) as u32);
    let (a, b) = (0xfffe_0003, 0x80ff_0201);
    assert_eq!(d(0x2f, 0, [a, b, 1]), 3 + 0xfffe * 2 + 1);
    assert_eq!(d(0x2f, 1, [a, b, 1]), 0, "3 * 1 - 2 * 2 + 1");
    assert_eq!(d(0x2f, 4, [a, b, 1]), 3 * 255 + 0xfffe * 128 + 1);
    assert_eq!(d(0x2f, 7, [a, b, 1]), (-3i32 + -2 * -128 + 1) as u32);
    assert_eq!(d(0x2f, 6, [a, b, 0]), (-3i32 + 0xfffe * -128) as u32);
}

#[test]
fn every_lane_has_its_own_operands() {
    for opcode in 0x20..=0x2f {
        let mut alu = alu(opcode, 0);
        let lane =
            |l: usize| [0x9e37_79b9u32, 0x0101_0101, 0x85eb_ca6b].map(|factor| factor.wrapping_mul(l as u32 + 1));
        for k in 0..OPERANDS {
            alu.inputs.data_i[k] = WarpData(std::array::from_fn(|l| lane(l)[k]));
        }
        let out = executed(&mut alu);
        for l in 0..LANES {
            let found = (out.result_data_o.0[l], out.result_pred_data_o >> l & 1);
            assert_eq!(found, one(opcode, 0, lane(l), false), "{opcode:x}, lane {l}");
        }
    }
}

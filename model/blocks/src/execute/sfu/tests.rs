use gpurf_arith::float::{Finite, round};
use gpurf_arith::{INFINITY, Mode, NAN, ONE, SIGN};

use super::*;
use crate::instruction::{InstructionFields, NO_PRED, RolesFields, unit};
use crate::testing::{Driver, Random, SM_SHAPES};

/// A unit to which an instruction is offered whose destination is R9.
fn unit(function: u32, ftz: bool) -> Driver<Sfu> {
    let mut unit = Driver::new(&SM_SHAPES[0]);
    let i: &mut SfuIn = &mut unit.inputs;
    (i.valid_i, i.result_ready_i, i.warp_i, i.mask_i, i.src_valid_i) = (1, 1, 33, u32::MAX, 1);
    let op = 0x38 | u64::from(function | u32::from(ftz) << 3) << 28;
    let roles = RolesFields { d: 9, p: NO_PRED, unit: unit::SFU, ..RolesFields::default() }.into();
    i.instruction_i = InstructionFields { roles, op, ..InstructionFields::default() }.into();
    unit
}

/// Values at which rules change: of any function, with both signs.
fn awkward() -> Vec<u32> {
    let magnitudes = [
        0,
        1,
        2,
        3,
        0x3f_ffff,
        0x40_0000,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0xff_ffff,
        0x38ff_ffff,
        0x3900_0000,
        0x3aff_ffff,
        0x3b00_0000,
        0x3eff_ffff,
        0x3f00_0000,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x3fc9_0fdb,
        0x4000_0000,
        0x4049_0fdb,
        0x42fe_0000,
        0x4300_0000,
        0x4315_0000,
        0x437f_ffff,
        0x4380_0000,
        0x5bff_ffff,
        0x5c00_0000,
        0x7e80_0000,
        0x7e80_0001,
        0x7f00_0000,
        0x7f7f_ffff,
        INFINITY,
        0x7f80_0001,
        NAN,
    ];
    magnitudes.into_iter().flat_map(|magnitude| [magnitude, magnitude | SIGN]).collect()
}

fn finite(negative: bool, significand: u64, exponent: u16) -> Finite {
    Finite { negative, significand, exponent: i32::from((exponent << 5) as i16 >> 5) }
}

#[test]
fn every_function_gives_what_the_arithmetic_says_at_once_and_step_by_step() {
    let (awkward, mut random) = (awkward(), Random(7));
    for round_trip in 0..1600u32 {
        let (number, ftz) = (round_trip % 7, round_trip / 7 % 2 == 1);
        let function = Function::ALL[number as usize];
        let mut unit = unit(number, ftz);
        unit.inputs.data_i.0.fill_with(|| match random.below(3) {
            0 => awkward[random.below(awkward.len())],
            1 => random.next() as u32,
            _ => random.next() as u32 & 0x80ff_ffff | 0x3f00_0000,
        });
        unit.inputs.mask_i = if round_trip % 2 == 0 { u32::MAX } else { random.next() as u32 };
        let given = unit.inputs;
        assert_eq!(unit.cycle().ready_o, 1);
        unit.inputs.valid_i = 0;
        let (mut staged, mut last) = ([0; LANES], None);
        for cycle in 1..=7u8 {
            let out = unit.cycle();
            assert_eq!(out.result_valid_o == 1, cycle == 7);
            let p = *unit.probe();
            assert_eq!(
                (p.busy_q == 1, p.valid1_q == 1, p.valid2_q == 1),
                ((1..5).contains(&cycle), (2..6).contains(&cycle), (3..7).contains(&cycle),)
            );
            if p.valid2_q == 1 {
                assert_eq!(p.beat2_q, cycle - 3);
                for k in 0..GROUP {
                    let lane = GROUP * usize::from(p.beat2_q) + k;
                    let value = finite(p.negative2_q >> k & 1 == 1, p.significand2_q[k], p.exponent2_q[k]);
                    assert!(value.significand < 1 << 56);
                    let is_final = p.final2_q >> k & 1 == 1;
                    let mode = if p.ftz2_q == 1 { Mode::FTZ } else { Mode::IEEE };
                    let none = p.value2_q[k] == 0 && value == Finite::default();
                    assert!(is_final || p.value2_q[k] == 0);
                    assert!(!is_final || value == Finite::default());
                    staged[lane] = if is_final {
                        p.value2_q[k]
                    } else if none {
                        0
                    } else {
                        round(value, mode)
                    };
                }
            }
            last = Some(out);
        }
        let out = last.expect("there were cycles");
        assert_eq!((out.result_warp_o, out.result_mask_o), (33, given.mask_i));
        assert_eq!((out.result_reg_valid_o, out.result_reg_o), (1, 9));
        for (l, staged) in staged.into_iter().enumerate() {
            let argument = given.data_i.0[l];
            let active = given.mask_i >> l & 1 == 1;
            let expected = if active { approximate(function, argument, ftz) } else { 0 };
            assert_eq!(out.result_data_o.0[l], expected, "{function:?} of {argument:x}");
            assert_eq!(staged, expected, "{function:?} of {argument:x}, step by step");
        }
        assert_eq!(unit.cycle().result_valid_o, 0);
    }
}

/// What stage 1 holds of an argument: final value, or row, t, exponent, sign, direct.
fn reduced(number: u32, argument: u32) -> Result<(u8, u32, i32, bool, bool), u32> {
    let mut unit = unit(number, false);
    unit.inputs.data_i.0 = [argument; LANES];
    unit.cycle();
    unit.inputs.valid_i = 0;
    unit.cycle();
    unit.cycle();
    let p = unit.probe();
    assert_eq!((p.valid1_q, p.beat1_q, u32::from(p.function1_q)), (1, 0, number));
    let element = (p.row1_q[0], p.t1_q[0], finite(false, 0, p.exponent1_q[0]).exponent);
    let signs = (p.negative1_q & 1 == 1, p.direct1_q & 1 == 1);
    if p.final1_q == 0xff {
        assert_eq!((element, signs), ((0, 0, 0), (false, false)));
        return Err(p.value1_q[0]);
    }
    assert_eq!((p.final1_q, p.value1_q[0]), (0, 0));
    Ok((element.0, element.1, element.2, signs.0, signs.1))
}

#[test]
fn arguments_are_reduced_as_the_page_says() {
    // 2^3 * (1 + 5/128 + 2^-23)
    let x = 0x4105_0001;
    assert_eq!(reduced(0, x), Ok((5, 1, -3 - 44, false, false)));
    assert_eq!(reduced(0, x | SIGN), Ok((5, 1, -3 - 44, true, false)));
    assert_eq!(reduced(1, x), Ok((64 | 2, 0x1_0001, -1 - 45, false, false)));
    assert_eq!(reduced(2, x), Ok((64 | 2, 0x1_0001, 1 - 45, false, false)));
    assert_eq!(reduced(4, x), Ok((5, 1, 3, false, false)));
    // The smallest subnormal, of exponent -149.
    assert_eq!(reduced(0, 1), Ok((0, 0, 149 - 44, false, false)));
    assert_eq!(reduced(2, 1), Ok((64, 0, -75 - 45, false, false)));
    assert_eq!(reduced(4, 1), Ok((0, 0, -149, false, false)));
    // 2^2.5 and 2^-2.5; a small negative one is rounded away from zero.
    assert_eq!(reduced(3, 0x4020_0000), Ok((32, 0, 2 - 47, false, false)));
    assert_eq!(reduced(3, 0xc020_0000), Ok((32, 0, -3 - 47, false, false)));
    assert_eq!(reduced(3, 1), Ok((0, 0, -47, false, false)));
    assert_eq!(reduced(3, 1 | SIGN), Ok((63, 0x7_ffff, -1 - 47, false, false)));
    assert_eq!(reduced(3, 0x7f00_0000), Ok((0, 0, 256 - 47, false, false)));
    assert_eq!(reduced(3, 0xff00_0000), Ok((0, 0, -256 - 47, false, false)));
    // A sine just below 2^-9, and from there on.
    assert_eq!(reduced(5, 0xbaff_ffff), Ok((0, 0xff_ffff, -10 - 23, true, true)));
    assert!(matches!(reduced(5, 0xbb00_0000), Ok((0, _, -47, true, false))));
    // A cosine below 2^-13, and from there on: falling, a hair below a quarter turn.
    assert_eq!(reduced(6, 0x38ff_ffff), Err(ONE));
    assert!(matches!(reduced(6, 0x3900_0000), Ok((63, _, -47, false, false))));
    // Huge angles have nothing left: 0, and a quarter turn less a place.
    assert_eq!(reduced(5, 0x7f00_0000 | SIGN), Ok((0, 0, -47, true, false)));
    assert_eq!(reduced(6, 0x7f00_0000), Ok((63, 0x7_ffff, -47, false, false)));
}

#[test]
fn special_values_are_final() {
    let (nan, infinity, zero, negative) = (NAN, INFINITY, 0, 0xc000_0000);
    let table = [
        (0, [nan, 0, SIGN, infinity, infinity | SIGN]),
        (1, [nan, 0, nan, infinity, infinity | SIGN]),
        (2, [nan, infinity, nan, 0, SIGN]),
        (3, [nan, infinity, 0, ONE, ONE]),
        (4, [nan, infinity, nan, infinity | SIGN, infinity | SIGN]),
        (5, [nan, nan, nan, 0, SIGN]),
        (6, [nan, nan, nan, ONE, ONE]),
        (7, [0; 5]),
    ];
    for (number, expected) in table {
        let arguments = [0xff80_0001, infinity, infinity | SIGN, zero, SIGN];
        assert_eq!(arguments.map(|argument| reduced(number, argument)), expected.map(Err), "function {number}");
        let of_negative = reduced(number, negative).err();
        assert_eq!(of_negative, [None, Some(nan), Some(nan), None, Some(nan), None, None, Some(0)][number as usize]);
    }
}

#[test]
fn a_source_that_is_no_register_is_zero() {
    let mut unit = unit(6, false);
    unit.inputs.src_valid_i = 0;
    unit.inputs.data_i.0 = [0x4049_0fdb; LANES];
    unit.cycle();
    unit.inputs.valid_i = 0;
    unit.cycle();
    assert_eq!(unit.probe().argument_q, WarpData::ZERO);
    let out = (2..8).map(|_| unit.cycle()).last().expect("a cycle");
    assert_eq!((out.result_valid_o, out.result_data_o), (1, WarpData([ONE; LANES])));
}

/// Offers reciprocals of 1, 2, 3 ... and says which results come in which cycle.
fn stream(unit: &mut Driver<Sfu>, cycles: u32, ready: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let (mut next, mut results) = (1, Vec::new());
    for cycle in 0..cycles {
        unit.inputs.data_i.0 = [(next as f32).to_bits(); LANES];
        unit.inputs.result_ready_i = ready(cycle).into();
        let out = unit.cycle();
        next += u32::from(out.ready_o);
        if out.result_valid_o & unit.inputs.result_ready_i == 1 {
            let (first, last) = (out.result_data_o.0[0], out.result_data_o.0[31]);
            assert_eq!(first, last, "all lanes are those of one instruction");
            results.push((cycle, (1.0 / f32::from_bits(first)).round() as u32));
        }
    }
    results
}

#[test]
fn an_instruction_is_taken_every_four_cycles() {
    let results = stream(&mut unit(0, false), 24, |_| true);
    assert_eq!(results, [(7, 1), (11, 2), (15, 3), (19, 4), (23, 5)]);
}

#[test]
fn nothing_moves_while_a_result_waits() {
    let mut unit = unit(0, false);
    let results = stream(&mut unit, 24, |cycle| !(7..10).contains(&cycle));
    assert_eq!(results, [(10, 1), (14, 2), (18, 3), (22, 4)]);
    let mut unit = self::unit(0, false);
    for _ in 0..7 {
        unit.cycle();
    }
    unit.inputs.result_ready_i = 0;
    let before = unit.cycle();
    assert_eq!((before.result_valid_o, before.ready_o, unit.probe().beat_q), (1, 0, 2));
    for _ in 0..5 {
        let out = unit.cycle();
        assert_eq!((out.result_valid_o, out.result_data_o, out.ready_o), (1, before.result_data_o, 0));
        let p = unit.probe();
        assert_eq!((p.busy_q, p.beat_q, p.beat1_q, p.beat2_q), (1, 2, 1, 0));
    }
}

#[test]
fn none_as_destination_writes_nothing() {
    let mut unit = unit(0, false);
    unit.inputs.instruction_i.change(|i| i.roles = RolesFields { d: NO_REG, ..RolesFields::default() }.into());
    unit.cycle();
    unit.inputs.valid_i = 0;
    let out = (1..8).map(|_| unit.cycle()).last().expect("a cycle");
    assert_eq!((out.result_valid_o, out.result_reg_valid_o), (1, 0));
}

#[test]
fn reset_empties_every_stage() {
    let mut unit = unit(0, false);
    for _ in 0..7 {
        unit.cycle();
    }
    unit.inputs.rst_ni = 0;
    let out = unit.cycle();
    let p = *unit.probe();
    assert_eq!((out.result_valid_o, p.busy_q, p.valid1_q, p.valid2_q), (1, 1, 1, 1));
    unit.inputs.valid_i = 0;
    let out = unit.cycle();
    let p = *unit.probe();
    assert_eq!((out.result_valid_o, p.busy_q, p.beat_q, p.valid1_q, p.valid2_q), (0, 0, 0, 0, 0));
}

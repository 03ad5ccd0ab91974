use gpurf_arith::float::{self, Finite, Relation, round, sum};
use gpurf_arith::{IntType, Mode, NAN, Rounding, convert};

use super::*;
use crate::instruction::{Roles, RolesFields, unit};
use crate::testing::{Driver, Random, SM_SHAPES};

const FADD: u64 = 0x30;
const FMUL: u64 = 0x31;
const FFMA: u64 = 0x32;
const FMNMX: u64 = 0x33;
const FSETP: u64 = 0x34;
const I2F: u64 = 0x35;
const F2I: u64 = 0x36;
const FRND: u64 = 0x37;

/// A unit to which an instruction is offered: the destinations are R9 and P3, all sources registers.
fn unit(opcode: u64, m: u32) -> Driver<FpUnit> {
    let mut unit = Driver::new(&SM_SHAPES[0]);
    let i: &mut FpUnitIn = &mut unit.inputs;
    (i.valid_i, i.result_ready_i, i.warp_i, i.mask_i, i.src_valid_i) = (1, 1, 33, u32::MAX, 0b111);
    instruct(i, opcode, m);
    i.instruction_i.change(|i| i.roles = roles(9, 3));
    unit
}

fn instruct(i: &mut FpUnitIn, opcode: u64, m: u32) {
    let (op, ctl) = (opcode | u64::from(m & 0xf) << 28, u64::from(m >> 4) << 8);
    i.instruction_i.change(|i| (i.op, i.ctl) = (op, ctl));
}

fn roles(d: u8, p: u8) -> Roles {
    RolesFields { d, p, unit: unit::FP, ..RolesFields::default() }.into()
}

/// The cycle in which the instruction is taken, and the outputs of the one in which its result is offered.
fn executed(unit: &mut Driver<FpUnit>) -> FpUnitOut {
    assert_eq!(unit.cycle().ready_o, 1);
    unit.inputs.valid_i = 0;
    assert_eq!(unit.cycle().result_valid_o, 0);
    unit.cycle()
}

/// Values at which rules change, with both signs.
fn awkward() -> Vec<u32> {
    let magnitudes = [
        0,
        1,
        2,
        3,
        0x3f_ffff,
        0x40_0000,
        0x7f_fffe,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0xff_ffff,
        0x100_0000,
        0x1f80_0000,
        0x3300_0000,
        0x3380_0000,
        0x3380_0001,
        0x3eff_ffff,
        0x3f00_0000,
        0x3f00_0001,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x3fc0_0000,
        0x4020_0000,
        0x4b00_0000,
        0x4b7f_ffff,
        0x4b80_0000,
        0x4eff_ffff,
        0x4f00_0000,
        0x4f7f_ffff,
        0x4f80_0000,
        0x5f80_0000,
        0x7e80_0000,
        0x7f00_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    magnitudes.into_iter().flat_map(|magnitude| [magnitude, magnitude | 1 << 31]).collect()
}

/// An operand: awkward, random, or with an exponent near one.
fn operand(random: &mut Random, awkward: &[u32]) -> u32 {
    match random.below(4) {
        0 | 1 => awkward[random.below(awkward.len())],
        2 => random.next() as u32,
        _ => random.next() as u32 & 0x807f_ffff | (0x7f + random.below(32) as u32 - 16) << 23,
    }
}

/// What a lane gives, from the page: register and predicate.
fn expected(opcode: u64, m: u32, [a, b, c]: [u32; 3], s: bool) -> (u32, bool) {
    let flag = |bit: u32| m >> bit & 1 == 1;
    let sign = |bit: u32| (m >> bit & 1) << 31;
    let rounding = [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up][m as usize & 3];
    let mode = Mode { rounding, ftz: flag(2), sat: flag(3) };
    let integer = |signed: bool| IntType { bits: 32, signed };
    let value = match opcode {
        FADD => float::add(a ^ sign(4), b ^ sign(5), mode),
        FMUL => float::mul(a ^ sign(4), b, mode),
        FFMA => float::fma(a ^ sign(4), b, c ^ sign(5), mode),
        FMNMX if flag(0) => float::max(a, b, flag(1), flag(2)),
        FMNMX => float::min(a, b, flag(1), flag(2)),
        I2F => convert::from_integer(a.into(), integer(flag(2)), Mode::rounded(rounding)),
        F2I => convert::to_integer(a, integer(flag(3)), rounding, flag(2)) as u32,
        FRND => convert::round_to_integral(a, mode),
        _ => 0,
    };
    let relation = match m >> 7 & 15 {
        n @ 0..=5 => Some(Relation::ALL[n as usize]),
        n @ 8..=15 => Some(Relation::ALL[n as usize - 2]),
        _ => None,
    };
    let holds = relation.is_some_and(|relation| float::compare(relation, a, b, flag(11)));
    let predicate = match m >> 12 & 3 {
        0 => holds && s,
        1 => holds || s,
        2 => holds != s,
        _ => false,
    };
    (value, opcode == FSETP && predicate)
}

/// What a lane's registers say of its value.
fn finite(negative: u32, significand: u64, exponent: u16, l: usize) -> Finite {
    let exponent = i32::from((exponent << 6) as i16 >> 6);
    Finite { negative: negative >> l & 1 == 1, significand, exponent }
}

#[test]
fn every_operation_gives_what_the_arithmetic_says_at_once_and_step_by_step() {
    let (awkward, mut random) = (awkward(), Random(3));
    for opcode in 0x30..0x38 {
        for round_trip in 0..800 {
            // Every modifier that means something, and some that do not.
            let m = random.next() as u32 & if round_trip % 4 == 0 { 0xffff } else { 0x3fff & !0x3 | 0x3 };
            // The usual mode often: the host computes it.
            let m = if round_trip % 3 == 0 { m & !0xf } else { m };
            let mut unit = unit(opcode, m);
            for k in 0..OPERANDS {
                unit.inputs.data_i[k].0.fill_with(|| operand(&mut random, &awkward));
            }
            // Pairs that cancel.
            for l in 0..8 {
                unit.inputs.data_i[1].0[l] = unit.inputs.data_i[0].0[l] ^ (random.next() as u32 & 0x8000_0003);
            }
            unit.inputs.mask_i = if round_trip % 2 == 0 { u32::MAX } else { random.next() as u32 };
            unit.inputs.instruction_i.change(|i| i.s = random.next() as u32);
            let given = unit.inputs;
            assert_eq!(unit.cycle().ready_o, 1);
            unit.inputs.valid_i = 0;
            unit.cycle();
            let first = *unit.probe();
            let out = unit.cycle();
            let second = *unit.probe();
            assert_eq!((out.result_valid_o, out.result_reg_valid_o, out.result_pred_valid_o), (1, 1, 1));

            let mode = Mode {
                rounding: Rounding::ALL[usize::from(second.rounding2_q)],
                ftz: second.ftz2_q == 1,
                sat: second.sat2_q == 1,
            };
            for l in 0..LANES {
                let operands = [0, 1, 2].map(|k| given.data_i[k].0[l]);
                let active = given.mask_i >> l & 1 == 1;
                let (value, predicate) = expected(opcode, m, operands, given.instruction_i.s() >> l & 1 == 1);
                let expected = if active { (value, predicate) } else { (0, false) };
                let found = (out.result_data_o.0[l], out.result_pred_data_o >> l & 1 == 1);
                assert_eq!(found, expected, "{opcode:x} with {m:x} of {operands:x?}");
                assert_eq!(second.pred_data2_q, out.result_pred_data_o);

                // The registers of the stages lead to the same.
                let x = finite(first.x_negative1_q, first.x_significand1_q[l], first.x_exponent1_q[l], l);
                let y = finite(first.y_negative1_q, first.y_significand1_q[l].into(), first.y_exponent1_q[l], l);
                let z = finite(second.negative2_q, second.significand2_q[l], second.exponent2_q[l], l);
                assert!(z.significand < 1 << 63);
                let is_final = second.final2_q >> l & 1 == 1;
                assert_eq!((first.final1_q, first.value1_q), (second.final2_q, second.value2_q));
                if is_final || !active {
                    assert_eq!((x, y, z), Default::default());
                    assert_eq!(second.value2_q[l], found.0);
                } else {
                    assert_eq!(z, if first.add1_q == 1 { sum(x, y, mode.rounding) } else { x }, "{operands:x?}");
                    assert_eq!((round(z, mode), second.value2_q[l]), (found.0, 0), "{opcode:x} {m:x} {operands:x?}");
                }
            }
        }
    }
}

#[test]
fn what_the_stages_hold() {
    let mut unit = unit(FFMA, 0b11_0110);
    for (k, value) in [0x3fc0_0000, 0x4000_0001, 0x0000_0007].into_iter().enumerate() {
        unit.inputs.data_i[k].0 = [value; LANES];
    }
    unit.inputs.mask_i = 0x8000_0001;
    unit.cycle();
    unit.inputs.valid_i = 0;
    unit.cycle();
    let p = *unit.probe();
    assert_eq!((p.valid1_q, p.warp1_q, p.mask1_q, p.add1_q), (1, 33, 0x8000_0001, 1));
    assert_eq!((p.reg_valid1_q, p.reg1_q, p.pred_valid1_q, p.pred1_q), (1, 9, 1, 3));
    assert_eq!((p.rounding1_q, p.ftz1_q, p.sat1_q, p.final1_q), (2, 1, 0, 0));
    // -1.5 * 2.0000002 exactly; c is flushed, and its sign inverted.
    assert_eq!((p.x_negative1_q, p.x_significand1_q[31]), (0x8000_0001, 0xc0_0000 * 0x80_0001));
    assert_eq!(p.x_exponent1_q[31], (-23i32 - 22) as u16 & 0x3ff);
    assert_eq!((p.y_negative1_q, p.y_significand1_q[31]), (0x8000_0001, 0));
    assert_eq!((p.y_exponent1_q[31], p.y_exponent1_q[1]), ((-149i32) as u16 & 0x3ff, 0));
    let out = unit.cycle();
    let p = *unit.probe();
    assert_eq!((p.valid1_q, p.valid2_q, p.negative2_q), (0, 1, 0x8000_0001));
    assert_eq!((p.significand2_q[0], p.exponent2_q[0]), (0xc0_0000 * 0x80_0001, (-45i32) as u16 & 0x3ff));
    // Rounded down: away from zero.
    assert_eq!((out.result_valid_o, out.result_data_o.0[31], out.result_data_o.0[1]), (1, 0xc040_0002, 0));
    assert_eq!(unit.cycle().result_valid_o, 0);
}

#[test]
fn a_conversion_rounds_without_flushing_or_clamping() {
    // Bits 2 and 3 of the modifiers mean something else to I2F and F2I.
    let mut unit = unit(I2F, 0b1111);
    unit.inputs.data_i[0].0 = [0x8100_0001; LANES];
    unit.cycle();
    unit.inputs.valid_i = 0;
    unit.cycle();
    let p = *unit.probe();
    assert_eq!((p.rounding1_q, p.ftz1_q, p.sat1_q, p.add1_q), (3, 0, 0, 0));
    assert_eq!((p.x_negative1_q, p.x_significand1_q[0], p.x_exponent1_q[0]), (u32::MAX, 0x7eff_ffff, 0));
    assert_eq!(unit.cycle().result_data_o.0[0], 0xcefd_ffff);
    let mut unit = self::unit(F2I, 0b0111);
    unit.inputs.data_i[0].0 = [0x3fff_ffff; LANES];
    unit.cycle();
    unit.inputs.valid_i = 0;
    unit.cycle();
    let p = *unit.probe();
    assert_eq!((p.rounding1_q, p.ftz1_q, p.sat1_q, p.final1_q, p.value1_q[5]), (0, 0, 0, u32::MAX, 2));
}

#[test]
fn modifiers_are_where_the_instruction_set_has_them() {
    let run = |text: &str, operands: [u32; 3]| {
        let [op, ctl] = gpurf_isa::assemble(text).expect("an instruction")[0].encode();
        let mut unit = unit(0, 0);
        unit.inputs.instruction_i.change(|i| (i.op, i.ctl) = (op, ctl));
        unit.inputs.data_i = operands.map(|word| WarpData([word; LANES]));
        unit.inputs.instruction_i.change(|i| i.s = u32::MAX);
        let out = executed(&mut unit);
        (out.result_data_o.0[0], out.result_pred_data_o == u32::MAX)
    };
    let (one, two, three, tiny) = (0x3f80_0000, 0x4000_0000, 0x4040_0000, 1);
    assert_eq!(run("FADD.NEG_B R1, R2, R3", [three, one, 0]).0, two);
    assert_eq!(run("FADD.NEG_A R1, R2, R3", [one, three, 0]).0, two);
    assert_eq!(run("FADD.FTZ R1, R2, R3", [tiny, tiny, 0]).0, 0);
    assert_eq!(run("FADD.SAT R1, R2, R3", [one, one, 0]).0, one);
    assert_eq!(run("FADD.RP R1, R2, R3", [one, tiny, 0]).0, one + 1);
    assert_eq!(run("FMUL.RZ.NEG R1, R2, R3", [one + 1, one + 1, 0]).0, 0xbf80_0002);
    assert_eq!(run("FFMA.NEG_C R1, R2, R3, R4", [two, three, one]).0, 0x40a0_0000);
    assert_eq!(run("FFMA.RM.NEG R1, R2, R3, R4", [one, one, one]).0, 0x8000_0000);
    assert_eq!(run("FMNMX.MAX R1, R2, R3", [one, two, 0]).0, two);
    assert_eq!(run("FMNMX.MIN.NAN R1, R2, R3", [one, NAN, 0]).0, NAN);
    assert!(run("FSETP.GT.AND P1, R2, R3, PT", [two, one, 0]).1);
    assert!(run("FSETP.LTU.AND P1, R2, R3, PT", [two, NAN, 0]).1);
    assert!(run("FSETP.NAN.AND P1, R2, R3, PT", [two, NAN, 0]).1);
    assert!(!run("FSETP.EQ.XOR P1, R2, R3, PT", [two, two, 0]).1);
    assert_eq!(run("I2F.SIGNED R1, R2", [u32::MAX, 0, 0]).0, 0xbf80_0000);
    assert_eq!(run("I2F R1, R2", [u32::MAX, 0, 0]).0, 0x4f80_0000);
    assert_eq!(run("F2I.RZ.SIGNED R1, R2", [0xbfff_ffff, 0, 0]).0, u32::MAX);
    assert_eq!(run("FRND.RP R1, R2", [one + 1, 0, 0]).0, two);
}

#[test]
fn operands_are_registers_the_constant_or_zero() {
    let mut unit = unit(FFMA, 0);
    unit.inputs.instruction_i.change(|i| i.op |= 0x4120_0000 << 32);
    unit.inputs.data_i = [2.0f32, 3.0, 4.0].map(|word| WarpData([word.to_bits(); LANES]));
    for (src_valid, b_constant, expected) in [
        (0b111, 0, 10.0f32),
        (0b110, 0, 4.0),
        (0b101, 0, 4.0),
        (0b011, 0, 6.0),
        (0b101, 1, 24.0),
        (0b001, 1, 20.0),
        (0b000, 0, 0.0),
        // A register goes before the constant.
        (0b111, 1, 10.0),
    ] {
        unit.inputs.src_valid_i = src_valid;
        unit.inputs.instruction_i.change(|i| i.roles = RolesFields { b_constant, ..roles(9, 7).fields() }.into());
        unit.inputs.valid_i = 1;
        let out = executed(&mut unit);
        assert_eq!((out.result_data_o.0, out.result_pred_valid_o), ([expected.to_bits(); LANES], 0));
    }
}

#[test]
fn what_never_comes_gives_nothing() {
    for (opcode, m) in [(0x38, 0), (0x00, 0xffff), (0x7f, 0xffff)] {
        let mut unit = unit(opcode, m);
        unit.inputs.mask_i = 0xff;
        unit.inputs.instruction_i.change(|i| i.s = u32::MAX);
        unit.inputs.data_i = [WarpData([0x3f80_0000; LANES]); OPERANDS];
        unit.cycle();
        unit.inputs.valid_i = 0;
        unit.cycle();
        let p = *unit.probe();
        assert_eq!((p.final1_q, p.value1_q, p.pred_data1_q, p.add1_q), (0xff, [0; LANES], 0, 0));
        unit.cycle();
        let out = unit.cycle();
        assert_eq!((out.result_data_o, out.result_pred_data_o), (WarpData::ZERO, 0));
    }
    let mut unit = unit(FSETP, 3 << 12);
    unit.inputs.instruction_i.change(|i| i.s = u32::MAX);
    assert_eq!(executed(&mut unit).result_pred_data_o, 0, "no such combination");
    for comparison in [6, 7] {
        let mut unit = self::unit(FSETP, comparison << 7 | 1 << 12);
        unit.inputs.instruction_i.change(|i| i.s = 0xff);
        assert_eq!(executed(&mut unit).result_pred_data_o, 0xff, "no such comparison: false, or s");
    }
}

#[test]
fn none_as_destination_writes_nothing() {
    let mut unit = unit(FADD, 0);
    unit.inputs.instruction_i.change(|i| i.roles = roles(NO_REG, NO_PRED));
    let out = executed(&mut unit);
    assert_eq!((out.result_valid_o, out.result_reg_valid_o, out.result_pred_valid_o), (1, 0, 0));
}

/// Offers the numbers from 1 on, one after the other, as `a + 0`, and says which results come in which cycle.
fn stream(unit: &mut Driver<FpUnit>, cycles: u32, ready: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let (mut next, mut results) = (1, Vec::new());
    for cycle in 0..cycles {
        unit.inputs.data_i[0].0 = [(next as f32).to_bits(); LANES];
        unit.inputs.result_ready_i = ready(cycle).into();
        let out = unit.cycle();
        next += u32::from(out.ready_o);
        if out.result_valid_o & unit.inputs.result_ready_i == 1 {
            results.push((cycle, f32::from_bits(out.result_data_o.0[0]) as u32));
        }
    }
    results
}

#[test]
fn instructions_follow_each_other_without_a_gap() {
    let mut unit = unit(FADD, 0);
    unit.inputs.src_valid_i = 1;
    assert_eq!(stream(&mut unit, 7, |_| true), [(2, 1), (3, 2), (4, 3), (5, 4), (6, 5)]);
}

#[test]
fn stages_fill_up_behind_a_result_that_waits() {
    let mut unit = unit(FADD, 0);
    unit.inputs.src_valid_i = 1;
    let results = stream(&mut unit, 12, |cycle| cycle >= 6);
    assert_eq!(results, [(6, 1), (7, 2), (8, 3), (9, 4), (10, 5), (11, 6)]);
    // With a gap after the result it closes up.
    let mut unit = self::unit(FADD, 0);
    unit.inputs.result_ready_i = 0;
    for (valid, ready, stages) in [(1, 1, 0b00), (0, 1, 0b01), (1, 1, 0b10), (1, 0, 0b11)] {
        unit.inputs.valid_i = valid;
        let out = unit.cycle();
        let p = unit.probe();
        assert_eq!(out.result_valid_o, p.valid2_q);
        assert_eq!((out.ready_o, p.valid1_q | p.valid2_q << 1), (ready, stages));
    }
}

#[test]
fn reset_empties_every_stage() {
    let mut unit = unit(FADD, 0);
    for _ in 0..4 {
        unit.cycle();
    }
    unit.inputs.rst_ni = 0;
    let out = unit.cycle();
    assert_eq!((out.result_valid_o, unit.probe().valid1_q, unit.probe().valid2_q), (1, 1, 1));
    let out = unit.cycle();
    assert_eq!((out.result_valid_o, unit.probe().valid1_q, unit.probe().valid2_q), (0, 0, 0));
}

#[test]
fn the_hosts_arithmetic_is_the_same() {
    let (awkward, mut random) = (awkward(), Random(9));
    for _ in 0..20_000 {
        let mut data = [[0; LANES]; OPERANDS];
        data.iter_mut().flatten().for_each(|word| *word = operand(&mut random, &awkward));
        let [a, b, c] = &data;
        let lanes = Lanes { a, b, c, s: 0, mask: u32::MAX };
        for opcode in [0x30, 0x31, 0x32] {
            let operation = Operation { opcode, modifiers: (random.next() as u32 & 3) << 4 };
            let values = operation.compute(lanes);
            for (l, value) in values.into_iter().enumerate() {
                let operands = [a[l], b[l], c[l]];
                assert_eq!(value, operation.terms(lanes.lane(l)).result(Mode::IEEE), "{opcode:x} of {operands:x?}");
            }
        }
    }
}

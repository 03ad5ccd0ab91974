//! Double precision: each instruction in a kernel that runs in the oracle. The sequences themselves are tested in `gpurf-arith`, on many more operands.

use crate::common::{Random, run, words};
use crate::operations::{case, check_on};

const NAN: u64 = 0xfff8_0000_0000_0000;

fn f(x: u64) -> f64 {
    f64::from_bits(x)
}

fn unordered(a: u64, b: u64) -> bool {
    f(a).is_nan() || f(b).is_nan()
}

/// The bits of a result; every NaN has the same bits.
fn bits(x: f64) -> u64 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

/// An operand: an edge case, an integer or a fraction of moderate size, or any bits.
fn operand(random: &mut Random) -> u64 {
    const EDGES: [f64; 12] = [
        0.0,
        1.0,
        0.5,
        1.5,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        2147483647.5,
        4294967295.5,
        9223372036854775808.0,
        f64::INFINITY,
        f64::NAN,
    ];
    let sign = random.bits() & 1 << 63;
    let magnitude = match random.below(8) {
        0 => EDGES[random.below(EDGES.len())].to_bits(),
        1 => (random.below(1 << 12) as f64 / 4.0).to_bits(),
        2 => (random.bits() as i32 as f64).to_bits(),
        3 => random.bits() >> random.below(64),
        4..7 => random.bits() & ((1 << 52) - 1) | (random.below(200) as u64 + 923) << 52,
        _ => random.bits(),
    };
    magnitude ^ sign
}

#[test]
fn arithmetic() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let cases = [
        case("add.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| bits(f(a) + f(b))),
        case("sub.rn.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| bits(f(a) - f(b))),
        case("add.f64 $d, $a, 0d3FF0000000000000;", 64, &[64], |a, _, _| bits(f(a) + 1.0)),
        case("mul.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| bits(f(a) * f(b))),
        case("mul.f64 $d, $a, 0.25;", 64, &[64], |a, _, _| bits(f(a) * 0.25)),
        case("fma.rn.f64 $d, $a, $b, $c;", 64, &[64, 64, 64], |a, b, c| bits(f(a).mul_add(f(b), f(c)))),
        case("mad.rn.f64 $d, $a, 0d4000000000000000, $c;", 64, &[64, 64, 64], |a, _, c| bits(f(a).mul_add(2.0, f(c)))),
        case("div.rn.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| bits(f(a) / f(b))),
        case("rcp.rn.f64 $d, $a;", 64, &[64], |a, _, _| bits(1.0 / f(a))),
        case("sqrt.rn.f64 $d, $a;", 64, &[64], |a, _, _| bits(f(a).sqrt())),
        case("rsqrt.approx.f64 $d, $a;", 64, &[64], |a, _, _| bits(1.0 / f(a).sqrt())),
        case("abs.f64 $d, $a;", 64, &[64], |a, _, _| a & !(1 << 63)),
        case("neg.f64 $d, $a;", 64, &[64], |a, _, _| a ^ 1 << 63),
        case("copysign.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| f(b).copysign(f(a)).to_bits()),
        case("min.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| extremum(a, b, false)),
        case("max.f64 $d, $a, $b;", 64, &[64, 64], |a, b, _| extremum(a, b, true)),
        case(
            "add.f64 $d, $a, $a; mul.f64 $d, $d, $d; add.f64 $a, $d, $b; mov.f64 $d, $a;",
            64,
            &[64, 64],
            |a, b, _| {
                let twice = f(a) + f(a);
                bits(twice * twice + f(b))
            },
        ),
        // A guarded instruction keeps the old value in the other lanes.
        case(
            "setp.lt.f64 %p1, $a, $b; mov.f64 $d, $c; @%p1 div.rn.f64 $d, $a, $b; @!%p1 neg.f64 $d, $d;",
            64,
            &[64, 64, 64],
            |a, b, c| if f(a) < f(b) { bits(f(a) / f(b)) } else { c ^ 1 << 63 },
        ),
    ];
    check_on(&cases, || operand(&mut random));
}

/// The smaller operand, or the larger one: -0 is below +0, and a NaN counts only if both operands are.
fn extremum(a: u64, b: u64, largest: bool) -> u64 {
    match (f(a).is_nan(), f(b).is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let less = f(a).total_cmp(&f(b)).is_lt();
            if less == largest { b } else { a }
        }
    }
}

/// The directed roundings, on exact results with a known neighbour: the sum of 1 and a tiny number, and its kin.
#[test]
fn roundings() {
    let above = 1.0f64.next_up().to_bits();
    let below = 1.0f64.next_down().to_bits();
    let one = 1f64.to_bits();
    // 1/3 is rounded down to nearest, and sqrt(2) up.
    let (third, root) = ((1.0f64 / 3.0).to_bits(), 2f64.sqrt().to_bits());
    for (rounding, sum, difference, product, fused, quotient, square_root) in [
        ("rn", one, one, one, one, third, root),
        ("rz", one, below, below, below, third, root - 1),
        ("rm", one, below, below, below, third, root - 1),
        ("rp", above, one, one, one, third + 1, root),
    ] {
        // (1 + 2^-53) (1 - 2^-53) is not representable; 1 - 2^-54 is half a place below 1.
        let text = format!(
            "add.{rounding}.f64 %l0, 0d3FF0000000000000, 0d3C80000000000000; st.global.f64 [%l9], %l0;\n\
             sub.{rounding}.f64 %l0, 0d3FF0000000000000, 0d3C80000000000000; st.global.f64 [%l9+8], %l0;\n\
             mul.{rounding}.f64 %l0, 0d3FF0000000000001, 0d3FEFFFFFFFFFFFFE; st.global.f64 [%l9+16], %l0;\n\
             fma.{rounding}.f64 %l0, 0dBC80000000000000, 0d3FF0000000000000, 0d3FF0000000000000; st.global.f64 [%l9+24], %l0;\n\
             div.{rounding}.f64 %l0, 0d3FF0000000000000, 0d4008000000000000; st.global.f64 [%l9+32], %l0;\n\
             rcp.{rounding}.f64 %l0, 0d4008000000000000; st.global.f64 [%l9+40], %l0;\n\
             sqrt.{rounding}.f64 %l0, 0d4000000000000000; st.global.f64 [%l9+48], %l0;\n"
        );
        let result = run(&kernel(&text), 32, &[], 56, 1);
        let found: Vec<u64> =
            result.chunks_exact(8).map(|x| u64::from_le_bytes(x.try_into().expect("eight bytes"))).collect();
        assert_eq!(found, [sum, difference, product, fused, quotient, quotient, square_root], "{rounding}");
    }
}

#[test]
fn comparisons() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    type Comparison = (&'static str, fn(u64, u64, u64) -> u64);
    let comparisons: [Comparison; 14] = [
        ("eq", |a, b, _| (f(a) == f(b)).into()),
        ("ne", |a, b, _| (f(a) < f(b) || f(a) > f(b)).into()),
        ("lt", |a, b, _| (f(a) < f(b)).into()),
        ("le", |a, b, _| (f(a) <= f(b)).into()),
        ("gt", |a, b, _| (f(a) > f(b)).into()),
        ("ge", |a, b, _| (f(a) >= f(b)).into()),
        ("equ", |a, b, _| (!(f(a) < f(b) || f(a) > f(b))).into()),
        ("neu", |a, b, _| (f(a) != f(b)).into()),
        ("ltu", |a, b, _| (f(a) < f(b) || unordered(a, b)).into()),
        ("leu", |a, b, _| (f(a) <= f(b) || unordered(a, b)).into()),
        ("gtu", |a, b, _| (f(a) > f(b) || unordered(a, b)).into()),
        ("geu", |a, b, _| (f(a) >= f(b) || unordered(a, b)).into()),
        ("num", |a, b, _| (!f(a).is_nan() && !f(b).is_nan()).into()),
        ("nan", |a, b, _| unordered(a, b).into()),
    ];
    let mut cases: Vec<_> = comparisons
        .into_iter()
        .map(|(name, compute)| {
            case(&format!("setp.{name}.f64 %p1, $a, $b; selp.b32 $d, 1, 0, %p1;"), 32, &[64, 64], compute)
        })
        .collect();
    cases.extend([
        case("setp.lt.f64 %p1, $a, 0d0000000000000000; selp.b32 $d, 1, 0, %p1;", 32, &[64], |a, _, _| {
            (f(a) < 0.0).into()
        }),
        case("setp.gt.f64 %p1|%p2, $a, $b; selp.b32 $d, 1, 0, %p2;", 32, &[64, 64], |a, b, _| {
            (f(a) <= f(b) || unordered(a, b)).into()
        }),
        case("set.le.u32.f64 $d, $a, $b;", 32, &[64, 64], |a, b, _| if f(a) <= f(b) { 0xffff_ffff } else { 0 }),
        case("set.ge.f32.f64 $d, $a, $b;", 32, &[64, 64], |a, b, _| if f(a) >= f(b) { 0x3f80_0000 } else { 0 }),
        case(
            "setp.gt.f64 %p1, $a, $b; selp.f64 $d, $a, $b, %p1;",
            64,
            &[64, 64],
            |a, b, _| {
                if f(a) > f(b) { a } else { b }
            },
        ),
        case("slct.f64.s32 $d, $a, $b, $c;", 64, &[64, 64, 32], |a, b, c| if c as i32 >= 0 { a } else { b }),
    ]);
    type Test = (&'static str, fn(f64) -> bool);
    let tests: [Test; 6] = [
        ("finite", f64::is_finite),
        ("infinite", f64::is_infinite),
        ("number", |x| !x.is_nan()),
        ("notanumber", f64::is_nan),
        ("normal", |x| x.is_normal() || x == 0.0),
        ("subnormal", f64::is_subnormal),
    ];
    let operands: Vec<u64> = (0..256).map(|_| operand(&mut random)).collect();
    for (name, test) in tests {
        let text = format!(
            "mov.u32 %r7, %tid.x; ld.param.u64 %l8, [p0]; mad.wide.u32 %l8, %r7, 8, %l8; ld.global.f64 %l0, [%l8];\n\
             testp.{name}.f64 %p1, %l0; selp.b32 %r0, 1, 0, %p1; mad.wide.u32 %l9, %r7, 4, %l9; st.global.u32 [%l9], %r0;\n"
        );
        let source = kernel(&text).replace("ld.param.u64 %l9, [p0]", "ld.param.u64 %l9, [p1]");
        let input: Vec<u8> = operands.iter().flat_map(|x| x.to_le_bytes()).collect();
        let found = words(&run(&source, 32, &[input], 1024, 256));
        let expected: Vec<u32> = operands.iter().map(|&x| test(f(x)).into()).collect();
        assert_eq!(found, expected, "{name}");
    }
    check_on(&cases, || operand(&mut random));
}

#[test]
fn conversions() {
    let mut random = Random(0xdead_beef_0bad_cafe);
    let cases =
        [
            case("cvt.f64.f32 $d, $a;", 64, &[32], |a, _, _| {
                let x = f32::from_bits(a as u32);
                if x.is_nan() {
                    (a >> 31) << 63 | 0x7ff8_0000_0000_0000 | (a & 0x007f_ffff) << 29
                } else {
                    f64::from(x).to_bits()
                }
            }),
            case("cvt.rn.f32.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a).is_nan() { 0x7fff_ffff } else { (f(a) as f32).to_bits().into() }
            }),
            case("cvt.rn.sat.f32.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a) > 0.0 { (f(a).min(1.0) as f32).to_bits().into() } else { 0 }
            }),
            case("cvt.sat.f64.f64 $d, $a;", 64, &[64], |a, _, _| if f(a) > 0.0 { f(a).min(1.0).to_bits() } else { 0 }),
            case("cvt.f64.f16 $d, $a;", 64, &[16], |a, _, _| {
                let single = gpurf_arith::sequence::float_from_half(&mut gpurf_arith::sequence::Evaluate, a as u32);
                let x = f32::from_bits(single);
                if x.is_nan() { 0x7fff_ffff_e000_0000 } else { f64::from(x).to_bits() }
            }),
            // Values with few digits are exact in half precision, and a digit far below decides a tie.
            case(
                "and.b64 $a, $a, 0x8000000000000000; or.b64 $a, $a, 0x3ff0020000000001; cvt.rn.f16.f64 $d, $a;",
                16,
                &[64],
                |a, _, _| (a >> 63) << 15 | 0x3c01,
            ),
            case("cvt.rzi.s32.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a).is_nan() { 0x8000_0000 } else { f(a) as i32 as u32 as u64 }
            }),
            case("cvt.rni.s32.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a).is_nan() { 0x8000_0000 } else { f(a).round_ties_even() as i32 as u32 as u64 }
            }),
            case("cvt.rmi.u32.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a).is_nan() { 0x8000_0000 } else { f(a).floor() as u32 as u64 }
            }),
            case(
                "cvt.rpi.s64.f64 $d, $a;",
                64,
                &[64],
                |a, _, _| {
                    if f(a).is_nan() { 1 << 63 } else { f(a).ceil() as i64 as u64 }
                },
            ),
            case("cvt.rzi.u64.f64 $d, $a;", 64, &[64], |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a) as u64 }),
            case(
                "cvt.rzi.u16.f64 $d, $a;",
                16,
                &[64],
                |a, _, _| {
                    if f(a).is_nan() { 0x8000 } else { (f(a) as u16).into() }
                },
            ),
            case("cvt.rzi.s8.f64 $d, $a;", 32, &[64], |a, _, _| {
                if f(a).is_nan() { 0xffff_ff80 } else { f(a) as i8 as u32 as u64 }
            }),
            case("cvt.rni.f64.f64 $d, $a;", 64, &[64], |a, _, _| bits(f(a).round_ties_even())),
            case("cvt.rzi.f64.f64 $d, $a;", 64, &[64], |a, _, _| bits(f(a).trunc())),
            case("cvt.rmi.f64.f64 $d, $a;", 64, &[64], |a, _, _| bits(f(a).floor())),
            case("cvt.rpi.f64.f64 $d, $a;", 64, &[64], |a, _, _| bits(f(a).ceil())),
            case("cvt.rn.f64.s32 $d, $a;", 64, &[32], |a, _, _| f64::from(a as i32).to_bits()),
            case("cvt.rn.f64.u32 $d, $a;", 64, &[32], |a, _, _| (a as f64).to_bits()),
            case("cvt.rn.f64.s16 $d, $a;", 64, &[16], |a, _, _| f64::from(a as i16).to_bits()),
            case("cvt.rn.f64.u8 $d, $a;", 64, &[32], |a, _, _| f64::from(a as u8).to_bits()),
            case("cvt.rn.f64.s64 $d, $a;", 64, &[64], |a, _, _| (a as i64 as f64).to_bits()),
            case("cvt.rn.f64.u64 $d, $a;", 64, &[64], |a, _, _| (a as f64).to_bits()),
        ];
    check_on(&cases, || operand(&mut random));
}

const HEADER: &str = ".version 9.5\n.target sm_75\n.address_size 64\n";

/// A kernel whose last parameter, the address of the result, is in `%l9`.
fn kernel(text: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 p0, .param .u64 p1)\n{{\n.reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %l<24>;\n\
         ld.param.u64 %l9, [p0];\n{text}\nret;\n}}\n"
    )
}

/// Each lane takes one of eight ways with another operation; afterwards all lanes exchange results.
#[test]
fn each_lane_another_operation() {
    type Operation = (&'static str, fn(f64, f64) -> f64);
    let operations: [Operation; 8] = [
        ("add.f64 %l2, %l0, %l1;", |a, b| a + b),
        ("mul.f64 %l2, %l0, %l1;", |a, b| a * b),
        ("div.rn.f64 %l2, %l0, %l1;", |a, b| a / b),
        ("sqrt.rn.f64 %l2, %l0;", |a, _| a.sqrt()),
        ("fma.rn.f64 %l2, %l0, %l1, %l1;", |a, b| a.mul_add(b, b)),
        ("max.f64 %l2, %l0, %l1;", f64::max),
        ("cvt.rzi.f64.f64 %l2, %l0;", |a, _| a.trunc()),
        ("rcp.rn.f64 %l2, %l1; add.f64 %l2, %l2, %l0;", |a, b| 1.0 / b + a),
    ];
    let ways: String =
        operations.iter().enumerate().map(|(n, (text, _))| format!("W{n}: {text} bra.uni JOIN;\n")).collect();
    let text = format!(
        "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 7; mad.wide.u32 %l9, %r0, 8, %l9;\n\
         cvt.rn.f64.u32 %l0, %r0; add.f64 %l0, %l0, 0.75; mul.f64 %l1, %l0, 0d3FD5555555555555;\n\
         TABLE: .branchtargets W0, W1, W2, W3, W4, W5, W6, W7;\nbrx.idx %r1, TABLE;\n{ways}JOIN:\n\
         mov.b64 {{%r2, %r3}}, %l2; shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1; shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1;\n\
         mov.b64 %l3, {{%r2, %r3}}; sub.f64 %l2, %l2, %l3; st.global.f64 [%l9], %l2;"
    );
    let lane = |n: usize| {
        let a = n as f64 + 0.75;
        (operations[n % 8].1)(a, a * f64::from_bits(0x3fd5_5555_5555_5555))
    };
    let expected: Vec<u64> = (0..64).map(|n| (lane(n) - lane(n ^ 1)).to_bits()).collect();
    for registers in [16, 64] {
        let result = run(&kernel(&text), registers, &[], 512, 64);
        let found: Vec<u64> =
            result.chunks_exact(8).map(|x| u64::from_le_bytes(x.try_into().expect("eight bytes"))).collect();
        assert_eq!(found, expected, "{registers} registers");
    }
}

/// All threads add to one number, and to one of two by `red`; the order changes nothing, as all sums are exact.
#[test]
fn atomic_addition() {
    let text = "mov.u32 %r0, %tid.x; cvt.rn.f64.u32 %l0, %r0; atom.global.add.f64 %l1, [%l9], %l0;\n\
                and.b32 %r1, %r0, 1; mad.wide.u32 %l2, %r1, 8, %l9; red.global.add.f64 [%l2+8], 0.5;\n\
                mad.wide.u32 %l3, %r0, 8, %l9; st.global.f64 [%l3+24], %l1;";
    let result = run(&kernel(text), 32, &[], 24 + 64 * 8, 64);
    let found: Vec<f64> =
        result.chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().expect("eight bytes"))).collect();
    assert_eq!(found[..3], [2016.0, 16.0, 16.0]);
    // Each old value is the sum of those that were added before.
    let mut old: Vec<(f64, usize)> = found[3..].iter().copied().zip(0..).collect();
    old.sort_by(|a, b| a.partial_cmp(b).expect("they are numbers"));
    let mut sum = 0.0;
    let mut steps: Vec<f64> = old.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    steps.push(2016.0 - old[63].0);
    steps.sort_by(|a, b| a.partial_cmp(b).expect("they are numbers"));
    for (n, step) in steps.iter().enumerate() {
        assert_eq!(*step, n as f64);
        sum += step;
    }
    assert_eq!(sum, 2016.0);
}

//! Each operation of PTX, alone in a kernel that runs in the oracle, compared with plain Rust.

use crate::common::{Random, bytes, words};
use gpurf_arith::Rounding;
use gpurf_arith::sequence::{self, Evaluate};
use std::fmt::Write;

/// Number of threads, each with its own operands.
const THREADS: usize = 256;

/// One operation: its text over `$a`, `$b`, `$c` (sources) and `$d` (result), the widths of result and sources in bits,
/// and its result computed in Rust.
pub struct Case {
    text: String,
    result: u32,
    sources: &'static [u32],
    compute: fn(u64, u64, u64) -> u64,
}

/// A case.
pub fn case(text: &str, result: u32, sources: &'static [u32], compute: fn(u64, u64, u64) -> u64) -> Case {
    Case { text: text.to_owned(), result, sources, compute }
}

const PARAMETERS: &str = ".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3";

/// A kernel in which thread i computes the operation on the i-th element of each source.
fn kernel(case: &Case) -> String {
    let mut k = format!(".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry k({PARAMETERS})\n{{\n");
    k.push_str(".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %l<24>;\n");
    k.push_str("mov.u32 %r7, %tid.x;\n");
    let register = |n: usize, bits: u32| match bits {
        16 => format!("%h{n}"),
        32 => format!("%r{n}"),
        _ => format!("%l{n}"),
    };
    for (n, &bits) in case.sources.iter().enumerate() {
        let (reg, at) = (register(n, bits), 8 + n);
        writeln!(
            k,
            "ld.param.u64 %l{at}, [p{n}]; mad.wide.u32 %l{at}, %r7, 8, %l{at}; ld.global.b{bits} {reg}, [%l{at}];"
        )
        .expect("strings grow");
    }
    let d = register(3, case.result);
    let mut text = case.text.clone();
    for (n, name) in ["$a", "$b", "$c"].iter().enumerate() {
        let bits = case.sources.get(n).copied().unwrap_or(32);
        text = text.replace(name, &register(n, bits));
    }
    writeln!(k, "{}", text.replace("$d", &d)).expect("strings grow");
    writeln!(k, "ld.param.u64 %l20, [p3]; mad.wide.u32 %l20, %r7, 8, %l20; st.global.b{} [%l20], {d};", case.result)
        .expect("strings grow");
    k.push_str("ret;\n}\n");
    k
}

/// Runs the cases on random and edge operands and compares the results.
fn check(cases: &[Case]) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    check_on(cases, || u64::from(random.word()) | u64::from(random.word()) << 32);
}

/// Runs the cases on these operands and compares the results.
pub fn check_on(cases: &[Case], mut operand: impl FnMut() -> u64) {
    for case in cases {
        let data: Vec<Vec<u64>> = (0..3).map(|_| (0..THREADS).map(|_| operand()).collect()).collect();
        let inputs: Vec<Vec<u8>> = data.iter().map(|d| d.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
        let source = kernel(case);
        let result = crate::common::run(&source, 32, &inputs, THREADS * 8, THREADS as u32);
        let cut = |x: u64, bits: u32| if bits == 64 { x } else { x & ((1 << bits) - 1) };
        for (i, got) in result.chunks_exact(8).enumerate() {
            let got = u64::from_le_bytes(got.try_into().expect("eight bytes"));
            let [a, b, c] = [0, 1, 2].map(|n| cut(data[n][i], case.sources.get(n).copied().unwrap_or(64)));
            let want = cut((case.compute)(a, b, c), case.result);
            assert!(got == want, "{}: a = {a:#x}, b = {b:#x}, c = {c:#x}: {got:#x}, not {want:#x}", case.text);
        }
    }
}

/// `fns` as the PTX ISA describes it.
fn nth_set_bit(mask: u64, base: u64, offset: u64) -> u64 {
    let (base, offset) = (i64::from(base as u32), offset as i32);
    let is_set = |position: i64| mask >> position & 1 == 1;
    if offset == 0 {
        return if base < 32 && is_set(base) { base as u64 } else { u64::MAX };
    }
    let (mut position, mut count) = (base, offset.unsigned_abs() - 1);
    while (0..32).contains(&position) {
        if is_set(position) {
            if count == 0 {
                return position as u64;
            }
            count -= 1;
        }
        position += i64::from(offset.signum());
    }
    u64::MAX
}

#[test]
fn arithmetic_of_32_bits() {
    check(&[
        case("add.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| a + b),
        case("sub.s32 $d, $a, 77;", 32, &[32], |a, _, _| a.wrapping_sub(77)),
        case("sub.s32 $d, 77, $a;", 32, &[32], |a, _, _| 77u64.wrapping_sub(a)),
        case("add.sat.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| (a as i32).saturating_add(b as i32) as u64),
        case("sub.sat.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| (a as i32).saturating_sub(b as i32) as u64),
        case("mul.lo.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| a.wrapping_mul(b)),
        case("mul.hi.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| (a * b) >> 32),
        case("mul.hi.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u64
        }),
        case("mul.hi.s32 $d, $a, 16;", 32, &[32], |a, _, _| ((i64::from(a as i32) * 16) >> 32) as u64),
        case("mad.hi.u32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| ((a * b) >> 32) + c),
        case("mad.lo.s32 $d, $a, 12, $c;", 32, &[32, 32, 32], |a, _, c| (a * 12).wrapping_add(c)),
        case("mul24.lo.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            ((a as i32) << 8 >> 8).wrapping_mul((b as i32) << 8 >> 8) as u64
        }),
        case("mul24.hi.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16),
        case("sad.s32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| {
            i64::from(a as i32).abs_diff(i64::from(b as i32)) + c
        }),
        case("min.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| (a as i32).min(b as i32) as u64),
        case("max.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| a.max(b)),
        case("abs.s32 $d, $a;", 32, &[32], |a, _, _| (a as i32).unsigned_abs().into()),
        case("div.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
        case("rem.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| a.checked_rem(b).unwrap_or(a)),
        case("or.b32 $b, $b, 1; div.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            (a as i32).wrapping_div(b as i32 | 1) as u64
        }),
        case("or.b32 $b, $b, 1; rem.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            (a as i32).wrapping_rem(b as i32 | 1) as u64
        }),
        case("dp4a.u32.s32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| {
            let product = |n: u64| ((a >> (8 * n) & 0xff) as i64) * i64::from((b >> (8 * n)) as i8);
            (0..4).map(product).sum::<i64>().wrapping_add(c as i64) as u64
        }),
        case("dp2a.hi.s32.s32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| {
            let product = |n: u64| i64::from((a >> (16 * n)) as i16) * i64::from((b >> (16 + 8 * n)) as i8);
            (0..2).map(product).sum::<i64>().wrapping_add(c as i64) as u64
        }),
    ]);
}

#[test]
fn arithmetic_of_16_bits() {
    check(&[
        case("mul.lo.s16 $d, $a, $b;", 16, &[16, 16], |a, b, _| a * b),
        case("mul.hi.s16 $d, $a, $b;", 16, &[16, 16], |a, b, _| {
            ((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u64
        }),
        case("mul.wide.u16 $d, $a, $b;", 32, &[16, 16], |a, b, _| a * b),
        case("mad.wide.s16 $d, $a, $b, $c;", 32, &[16, 16, 32], |a, b, c| {
            (i64::from(a as i16) * i64::from(b as i16) + c as i64) as u64
        }),
        case("add.s16 $a, $a, $b; shr.s16 $d, $a, 3;", 16, &[16, 16], |a, b, _| ((a + b) as i16 >> 3) as u64),
        case("sub.s16 $a, $a, $b; shr.u16 $d, $a, 3;", 16, &[16, 16], |a, b, _| {
            u64::from(a.wrapping_sub(b) as u16 >> 3)
        }),
        case("shl.b16 $d, $a, $b;", 16, &[16, 32], |a, b, _| if b > 31 { 0 } else { a << b }),
        case("add.s16 $a, $a, $b; min.s16 $d, $a, $b;", 16, &[16, 16], |a, b, _| ((a + b) as i16).min(b as i16) as u64),
        case("or.b16 $b, $b, 1; div.s16 $d, $a, $b;", 16, &[16, 16], |a, b, _| {
            (a as i16).wrapping_div(b as i16 | 1) as u64
        }),
        case("or.b16 $b, $b, 1; rem.u16 $d, $a, $b;", 16, &[16, 16], |a, b, _| a % (b | 1)),
        case("add.s16 $a, $a, $b; setp.lt.s16 %p1, $a, $b; selp.b32 $d, 1, 0, %p1;", 32, &[16, 16], |a, b, _| {
            u64::from(((a + b) as i16) < b as i16)
        }),
        case("abs.s16 $d, $a;", 16, &[16], |a, _, _| (a as i16).unsigned_abs().into()),
    ]);
}

#[test]
fn arithmetic_of_64_bits() {
    check(&[
        case("add.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.wrapping_add(b)),
        case("sub.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.wrapping_sub(b)),
        case("neg.s64 $d, $a;", 64, &[64], |a, _, _| a.wrapping_neg()),
        case("abs.s64 $d, $a;", 64, &[64], |a, _, _| (a as i64).unsigned_abs()),
        case("mul.lo.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.wrapping_mul(b)),
        case("mad.lo.s64 $d, $a, 1000, $c;", 64, &[64, 64, 64], |a, _, c| a.wrapping_mul(1000).wrapping_add(c)),
        case("mul.hi.u64 $d, $a, $b;", 64, &[64, 64], |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        case("mul.hi.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        case("mul.wide.s32 $d, $a, $b;", 64, &[32, 32], |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64),
        case("mul.wide.s32 $d, $a, 4;", 64, &[32], |a, _, _| (i64::from(a as i32) * 4) as u64),
        case("mad.wide.s32 $d, $a, $b, $c;", 64, &[32, 32, 64], |a, b, c| {
            (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
        }),
        case("mad.wide.u32 $d, $a, $b, $c;", 64, &[32, 32, 64], |a, b, c| (a * b).wrapping_add(c)),
        case("min.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| (a as i64).min(b as i64) as u64),
        case("max.u64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.max(b)),
        case("div.u64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
        case("rem.u64 $d, $a, $b;", 64, &[64, 64], |a, b, _| a.checked_rem(b).unwrap_or(a)),
        case("or.b64 $b, $b, 1; div.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| {
            (a as i64).wrapping_div(b as i64 | 1) as u64
        }),
        case("shr.s64 $b, $b, 40; or.b64 $b, $b, 1; rem.s64 $d, $a, $b;", 64, &[64, 64], |a, b, _| {
            (a as i64).wrapping_rem(b as i64 >> 40 | 1) as u64
        }),
        case("add.cc.u64 $d, $a, $b; addc.u64 $d, $b, 0;", 64, &[64, 64], |a, b, _| {
            b.wrapping_add(u64::from(a.overflowing_add(b).1))
        }),
        case("sub.cc.u64 $d, $a, $b; subc.u64 $d, $b, 5;", 64, &[64, 64], |a, b, _| {
            b.wrapping_sub(5).wrapping_sub(u64::from(a < b))
        }),
        case("mad.lo.cc.u32 $d, $a, $b, $c; madc.hi.u32 $d, $a, $b, 7;", 32, &[32, 32, 32], |a, b, c| {
            ((a * b) >> 32) + 7 + u64::from(((a * b) & 0xffff_ffff) + c > 0xffff_ffff)
        }),
    ]);
}

#[test]
fn shifts_and_bits() {
    fn shift(a: u64, n: u64, f: fn(u64, u32) -> u64, beyond: u64) -> u64 {
        if n > 63 { beyond } else { f(a, n as u32) }
    }
    fn field(a: u64, at: u64, length: u64, bits: u64, signed: bool) -> u64 {
        let (at, length) = (at & 0xff, length & 0xff);
        let sign = signed && length > 0 && a >> (at + length - 1).min(bits - 1) & 1 == 1;
        (0..bits).fold(0, |out, n| {
            let bit = if n < length && at + n < bits { a >> (at + n) & 1 } else { u64::from(sign) };
            out | bit << n
        })
    }
    fn inserted(a: u64, b: u64, at: u64, length: u64, bits: u64) -> u64 {
        (0..length & 0xff).filter(|n| (at & 0xff) + n < bits).fold(b, |out, n| {
            let to = (at & 0xff) + n;
            out & !(1 << to) | (if n < bits { a >> n & 1 } else { 0 }) << to
        })
    }
    check(&[
        case("shl.b32 $d, $a, $b;", 32, &[32, 32], |a, b, _| if b > 31 { 0 } else { a << b }),
        case("shr.u32 $d, $a, $b;", 32, &[32, 32], |a, b, _| if b > 31 { 0 } else { a >> b }),
        case("shr.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| (a as i32 >> b.min(31)) as u64),
        case("shl.b64 $d, $a, $b;", 64, &[64, 32], |a, b, _| shift(a, b, |a, n| a << n, 0)),
        case("shr.u64 $d, $a, $b;", 64, &[64, 32], |a, b, _| shift(a, b, |a, n| a >> n, 0)),
        case("shr.s64 $d, $a, $b;", 64, &[64, 32], |a, b, _| (a as i64 >> b.min(63)) as u64),
        case("shl.b64 $d, $a, 47;", 64, &[64], |a, _, _| a << 47),
        case("shr.s64 $d, $a, 32;", 64, &[64], |a, _, _| (a as i64 >> 32) as u64),
        case("shf.l.wrap.b32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| ((b << 32 | a) << (c & 31)) >> 32),
        case("shf.r.clamp.b32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| (b << 32 | a) >> c.min(32)),
        case("bfe.u32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| field(a, b, c, 32, false)),
        case("bfe.s32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| field(a, b, c, 32, true)),
        case("bfe.u64 $d, $a, $b, $c;", 64, &[64, 32, 32], |a, b, c| field(a, b, c, 64, false)),
        case("bfe.s64 $d, $a, $b, $c;", 64, &[64, 32, 32], |a, b, c| field(a, b, c, 64, true)),
        case("bfe.s32 $d, $a, 5, 11;", 32, &[32], |a, _, _| field(a, 5, 11, 32, true)),
        case("bfi.b32 $d, $a, $b, $c, 7;", 32, &[32, 32, 32], |a, b, c| inserted(a, b, c, 7, 32)),
        case("bfi.b64 $d, $a, $b, $c, 40;", 64, &[64, 64, 32], |a, b, c| inserted(a, b, c, 40, 64)),
        case("bfi.b64 $d, $a, $b, 3, $c;", 64, &[64, 64, 32], |a, b, c| inserted(a, b, 3, c, 64)),
        case("bmsk.clamp.b32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            if a > 31 { 0 } else { u64::from(u32::MAX >> (32 - b.clamp(1, 32)) << a) * u64::from(b > 0) }
        }),
        case("bmsk.wrap.b32 $d, $a, 9;", 32, &[32], |a, _, _| u64::from(0x1ffu32 << (a & 31))),
        case("bmsk.wrap.b32 $d, 5, $a;", 32, &[32], |a, _, _| u64::from(((1u32 << (a & 31)) - 1) << 5)),
        case("popc.b64 $d, $a;", 32, &[64], |a, _, _| a.count_ones().into()),
        case("clz.b64 $d, $a;", 32, &[64], |a, _, _| a.leading_zeros().into()),
        case("clz.b32 $d, $a;", 32, &[32], |a, _, _| (a as u32).leading_zeros().into()),
        case("brev.b64 $d, $a;", 64, &[64], |a, _, _| a.reverse_bits()),
        case("fns.b32 $d, $a, $b, $c;", 32, &[32, 32, 32], nth_set_bit),
        // A base inside the word, and a number of bits that there can be.
        case("and.b32 $b, $b, 31; bfe.s32 $c, $c, 0, 5; fns.b32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| {
            nth_set_bit(a, b & 31, ((c as i32) << 27 >> 27) as u32 as u64)
        }),
        case("and.b32 $b, $b, 31; fns.b32 $d, $a, $b, 0;", 32, &[32, 32], |a, b, _| nth_set_bit(a, b & 31, 0)),
        case("bfind.u32 $d, $a;", 32, &[32], |a, _, _| a.checked_ilog2().map_or(u64::MAX, u64::from)),
        case("bfind.s64 $d, $a;", 32, &[64], |a, _, _| {
            (a ^ (a as i64 >> 63) as u64).checked_ilog2().map_or(u64::MAX, u64::from)
        }),
        case("bfind.shiftamt.u64 $d, $a;", 32, &[64], |a, _, _| {
            a.checked_ilog2().map_or(u64::MAX, |n| 63 - u64::from(n))
        }),
        case("prmt.b32 $d, $a, $b, 0x7531;", 32, &[32, 32], |a, b, _| {
            let all = (b << 32 | a).to_le_bytes();
            u32::from_le_bytes([all[1], all[3], all[5], all[7]]).into()
        }),
        case("lop3.b32 $d, $a, $b, $c, 0x96;", 32, &[32, 32, 32], |a, b, c| a ^ b ^ c),
        case("lop3.b32 $d, 12345, $b, $c, 0x1d;", 32, &[32, 32, 32], |_, b, c| {
            let a = 12345;
            // The table 0x1d, minterm by minterm.
            (!a & !b & !c) | (!a & b & !c) | (!a & b & c) | (a & !b & !c)
        }),
        case("not.b64 $d, $a;", 64, &[64], |a, _, _| !a),
        case("cnot.b64 $d, $a;", 64, &[64], |a, _, _| u64::from(a == 0)),
        case("xor.b64 $d, $a, 0x123456789abcdef0;", 64, &[64], |a, _, _| a ^ 0x1234_5678_9abc_def0),
    ]);
}

#[test]
fn comparisons_and_selections() {
    check(&[
        case("setp.lt.s64 %p1, $a, $b; selp.b32 $d, 5, 9, %p1;", 32, &[64, 64], |a, b, _| {
            if (a as i64) < b as i64 { 5 } else { 9 }
        }),
        case("setp.ge.u64 %p1, $a, $b; selp.b64 $d, $a, $b, %p1;", 64, &[64, 64], |a, b, _| a.max(b)),
        case("setp.eq.s64 %p1, $a, 7; selp.b32 $d, 5, 9, %p1;", 32, &[64], |a, _, _| if a == 7 { 5 } else { 9 }),
        case("setp.hi.u32 %p1, $a, $b; selp.b32 $d, 5, 9, %p1;", 32, &[32, 32], |a, b, _| if a > b { 5 } else { 9 }),
        case(
            "setp.lt.u32 %p1, $a, 100; setp.gt.or.s32 %p2|%p3, $b, 5, !%p1; selp.b32 $d, 1, 0, %p2; selp.b32 $c, 2, 0, %p3; \
             add.u32 $d, $d, $c;",
            32,
            &[32, 32, 32],
            |a, b, _| {
                let (t, c) = ((b as i32) > 5, a >= 100);
                u64::from(t || c) + 2 * u64::from(!t || c)
            },
        ),
        case("set.lt.u32.s32 $d, $a, $b;", 32, &[32, 32], |a, b, _| if (a as i32) < b as i32 { u64::MAX } else { 0 }),
        case("slct.u64.s32 $d, $a, $b, $c;", 64, &[64, 64, 32], |a, b, c| if (c as i32) >= 0 { a } else { b }),
        case(
            "setp.lt.s32 %p1, $a, 0; @%p1 add.u32 $a, $a, 3; @!%p1 shl.b32 $a, $a, 1; mov.u32 $d, $a;",
            32,
            &[32],
            |a, _, _| {
                if (a as i32) < 0 { a + 3 } else { a << 1 }
            },
        ),
        case("setp.lt.s32 %p1, $a, 0; mov.u64 $d, 1; @%p1 div.u64 $d, $b, 3;", 64, &[32, 64], |a, b, _| {
            if (a as i32) < 0 { b / 3 } else { 1 }
        }),
        case(
            "setp.lt.s32 %p1, $a, 0; and.b32 $b, $b, 1; setp.ne.u32 %p2, $b, 0; xor.pred %p3, %p1, %p2; not.pred %p3, %p3; \
             selp.b32 $d, 8, 4, %p3;",
            32,
            &[32, 32],
            |a, b, _| if ((a as i32) < 0) == (b & 1 == 1) { 8 } else { 4 },
        ),
    ]);
}

#[test]
fn guards_of_loads_from_the_constant_space() {
    // The first thread reads the first parameter; the addresses of the others are misaligned, or beyond the end.
    let set_up = "ld.param.u64 %l3, [p0]; cvt.u32.u64 %r1, %l3; setp.eq.u32 %p1, %r7, 0; mov.u32 $d, %r1; mul.lo.u32 %r2, %r7, 1001; \
                  cvt.u64.u32 %l4, %r2;";
    let load = |load: &str| case(&format!("{set_up} {load} sub.u32 $d, $d, %r1;"), 32, &[], |_, _, _| 0);
    check(&[
        load("@%p1 ld.param.u32 $d, [%r2];"),
        load("@%p1 ld.const.u32 $d, [%l4];"),
        load("@%p1 ld.param.v2.u32 {$d, _}, [%l4];"),
        load("@!%p1 bra E; ld.const.u32 $d, [%l4]; E:"),
        load("@%p1 ld.const.u32 $d, [%l4]; @%p1 ld.const.u32 $d, [%l4];"),
        // At a constant address, but beyond the end in all threads.
        load("setp.gt.u32 %p1, %r7, 9999; @%p1 ld.const.u32 $d, [65000];"),
    ]);
}

#[test]
fn branches_by_index() {
    let text = "and.b32 $a, $a, 3; t: .branchtargets A, B, C, A; brx.idx $a, t; A: mov.u32 $d, 10; bra.uni E; \
                B: mov.u32 $d, 20; bra.uni E; C: mov.u32 $d, 30; E: add.u32 $d, $d, 1;";
    check(&[case(text, 32, &[32], |a, _, _| [11, 21, 31, 11][a as usize & 3])]);
}

#[test]
fn reductions_at_barriers() {
    check(&[
        case("setp.ge.u32 %p1, %r7, 100; bar.red.popc.u32 $d, 0, %p1;", 32, &[], |_, _, _| 156),
        case("setp.ge.u32 %p1, %r7, 100; bar.red.or.pred %p2, 0, %p1; selp.b32 $d, 1, 0, %p2;", 32, &[], |_, _, _| 1),
        case("setp.ge.u32 %p1, %r7, 0; bar.red.and.pred %p2, 0, !%p1; selp.b32 $d, 1, 0, %p2;", 32, &[], |_, _, _| 0),
        case(
            "setp.ge.u32 %p1, %r7, 255; bar.red.and.pred %p2, 0, !%p1; bar.red.popc.u32 $d, 0, !%p1; \
             @%p2 add.u32 $d, $d, 1000;",
            32,
            &[],
            |_, _, _| 255,
        ),
        // Half of the warps reduce at one barrier and half at another one, at the same time.
        case(
            "shr.u32 %r1, %r7, 5; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r7, %r7; @%p1 bra A; \
             bar.red.popc.u32 $d, 1, 128, !%p2; add.u32 $d, $d, 128; bra.uni E; A: bar.red.popc.u32 $d, 2, 128, %p2; E:",
            32,
            &[],
            |_, _, _| 128,
        ),
    ]);
}

#[test]
fn conversions() {
    check(&[
        case("cvt.s64.s32 $d, $a;", 64, &[32], |a, _, _| i64::from(a as i32) as u64),
        case("cvt.u64.u16 $d, $a;", 64, &[16], |a, _, _| a),
        case("cvt.s64.s16 $d, $a;", 64, &[16], |a, _, _| i64::from(a as i16) as u64),
        case("cvt.s32.s8 $d, $a;", 32, &[32], |a, _, _| i64::from(a as i8) as u64),
        case("cvt.u32.u8 $d, $a;", 32, &[16], |a, _, _| a & 0xff),
        case("cvt.s16.s8 $a, $a; cvt.s32.s16 $d, $a;", 32, &[16], |a, _, _| i64::from(a as i8) as u64),
        case("cvt.u8.u32 $d, $a;", 32, &[32], |a, _, _| a & 0xff),
        case("cvt.s8.s32 $d, $a;", 32, &[32], |a, _, _| i64::from(a as i8) as u64),
        case("cvt.u32.u64 $d, $a;", 32, &[64], |a, _, _| a),
        case("cvt.sat.u8.s32 $d, $a;", 32, &[32], |a, _, _| (a as i32).clamp(0, 255) as u64),
        case("cvt.sat.s16.s64 $d, $a;", 16, &[64], |a, _, _| (a as i64).clamp(-0x8000, 0x7fff) as u64),
        case("cvt.sat.s32.u32 $d, $a;", 32, &[32], |a, _, _| a.min(0x7fff_ffff)),
        case("cvt.sat.u64.s32 $d, $a;", 64, &[32], |a, _, _| (a as i32).max(0) as u64),
        case("cvt.rn.f32.s32 $d, $a;", 32, &[32], |a, _, _| (a as i32 as f32).to_bits().into()),
        case("cvt.rn.f32.u16 $d, $a;", 32, &[16], |a, _, _| (a as f32).to_bits().into()),
        case("cvt.rn.f32.s8 $d, $a;", 32, &[16], |a, _, _| f32::from(a as i8).to_bits().into()),
        case("cvt.rn.f32.s64 $d, $a;", 32, &[64], |a, _, _| (a as i64 as f32).to_bits().into()),
        case("cvt.rn.f32.u64 $d, $a;", 32, &[64], |a, _, _| (a as f32).to_bits().into()),
        case("cvt.rzi.s32.f32 $d, $a;", 32, &[32], |a, _, _| f32::from_bits(a as u32) as i32 as u64),
        case("cvt.rzi.u32.f32 $d, $a;", 32, &[32], |a, _, _| (f32::from_bits(a as u32) as u32).into()),
        // A NaN becomes 1 << 63 if the result has 64 bits (PTX ISA, cvt).
        case("cvt.rzi.s64.f32 $d, $a;", 64, &[32], |a, _, _| match f32::from_bits(a as u32) {
            x if x.is_nan() => 1 << 63,
            x => x as i64 as u64,
        }),
        case("cvt.rzi.u64.f32 $d, $a;", 64, &[32], |a, _, _| match f32::from_bits(a as u32) {
            x if x.is_nan() => 1 << 63,
            x => x as u64,
        }),
        case("cvt.rzi.s16.f32 $d, $a;", 16, &[32], |a, _, _| f32::from_bits(a as u32) as i16 as u64),
        case("cvt.rzi.u8.f32 $d, $a;", 32, &[32], |a, _, _| (f32::from_bits(a as u32) as u8).into()),
        case("cvt.rn.f64.s64 $d, $a;", 64, &[64], |a, _, _| (a as i64 as f64).to_bits()),
        case("cvt.rn.f64.s64 $a, $a; cvt.rn.f32.f64 $d, $a;", 32, &[64], |a, _, _| {
            (a as i64 as f64 as f32).to_bits().into()
        }),
        case(
            "cvt.rn.f64.s64 $a, $a; mul.f64 $a, $a, 0d3BF921FB54442D19; cvt.rn.f32.f64 $d, $a;",
            32,
            &[64],
            |a, _, _| ((a as i64 as f64 * f64::from_bits(0x3bf9_21fb_5444_2d19)) as f32).to_bits().into(),
        ),
    ]);
}

#[test]
fn floats() {
    fn f(x: u64) -> f32 {
        f32::from_bits(x as u32)
    }
    /// The bits of a float; every NaN has the same bits.
    fn bits(x: f32) -> u64 {
        if x.is_nan() { 0x7fff_ffff } else { x.to_bits().into() }
    }
    check(&[
        case("add.f32 $d, $a, $b;", 32, &[32, 32], |a, b, _| bits(f(a) + f(b))),
        case("sub.f32 $d, 0f3F800000, $b;", 32, &[32, 32], |_, b, _| bits(1.0 - f(b))),
        case("mul.rn.f32 $d, $a, $b;", 32, &[32, 32], |a, b, _| bits(f(a) * f(b))),
        case("fma.rn.f32 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| bits(f(a).mul_add(f(b), f(c)))),
        case("fma.rn.f32 $d, 0f40490FDB, $b, 0fC0000000;", 32, &[32, 32], |_, b, _| {
            bits(f32::from_bits(0x4049_0fdb).mul_add(f(b), -2.0))
        }),
        case("div.rn.f32 $d, $a, $b;", 32, &[32, 32], |a, b, _| bits(f(a) / f(b))),
        case("rcp.rn.f32 $d, $a;", 32, &[32], |a, _, _| bits(1.0 / f(a))),
        case("sqrt.rn.f32 $d, $a;", 32, &[32], |a, _, _| bits(f(a).sqrt())),
        case("min.f32 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            // In PTX, -0 is less than +0.
            if f(a) == 0.0 && f(b) == 0.0 { (a | b) & 0x8000_0000 } else { bits(f(a).min(f(b))) }
        }),
        case("copysign.f32 $d, $a, $b;", 32, &[32, 32], |a, b, _| f(b).copysign(f(a)).to_bits().into()),
        case("abs.f32 $d, $a; neg.f32 $d, $d;", 32, &[32], |a, _, _| a | 0x8000_0000),
        case("cvt.rmi.f32.f32 $d, $a;", 32, &[32], |a, _, _| bits(f(a).floor())),
        case("cvt.rni.f32.f32 $d, $a;", 32, &[32], |a, _, _| bits(f(a).round_ties_even())),
        case("cvt.sat.f32.f32 $d, $a;", 32, &[32], |a, _, _| if f(a) > 0.0 { bits(f(a).min(1.0)) } else { 0 }),
        case(
            "setp.ltu.f32 %p1|%p2, $a, $b; selp.b32 $d, 1, 2, %p1; selp.b32 $b, 4, 8, %p2; add.u32 $d, $d, $b;",
            32,
            &[32, 32],
            |a, b, _| {
                if f(a) >= f(b) { 2 + 4 } else { 1 + 8 }
            },
        ),
        case(
            "testp.normal.f32 %p1, $a; testp.subnormal.f32 %p2, $a; selp.b32 $d, 1, 0, %p1; selp.b32 $b, 2, 0, %p2; add.u32 $d, $d, $b;",
            32,
            &[32, 32],
            // Zeros count as normal.
            |a, _, _| u64::from(f(a).is_normal() || f(a) == 0.0) + 2 * u64::from(f(a).is_subnormal()),
        ),
        case(
            "testp.finite.f32 %p1, $a; testp.notanumber.f32 %p2, $a; selp.b32 $d, 1, 0, %p1; selp.b32 $b, 2, 0, %p2; add.u32 $d, $d, $b;",
            32,
            &[32, 32],
            |a, _, _| u64::from(f(a).is_finite()) + 2 * u64::from(f(a).is_nan()),
        ),
    ]);
}

#[test]
fn the_approximate_tangent_is_within_the_bound_of_the_ptx_isa() {
    let text = "tanh.approx.f32 $d, $a;";
    let source = kernel(&case(text, 32, &[32], |_, _, _| 0));
    let xs: Vec<f32> = (0..THREADS).map(|i| (i as f32 - 128.0) / 24.0).collect();
    let data: Vec<u32> = xs.iter().flat_map(|x| [x.to_bits(), 0]).collect();
    let result = words(&crate::common::run(&source, 32, &[bytes(&data), vec![], vec![]], THREADS * 8, THREADS as u32));
    for (x, got) in xs.iter().zip(result.chunks(2)) {
        let (got, want) = (f32::from_bits(got[0]), x.tanh());
        assert!((got - want).abs() <= want.abs() / 2048.0, "tanh({x}) = {got}, not {want}");
    }
}

/// Applies a function of one, two or three half precision values to both halves of a word.
fn pairs<const N: usize>(words: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let part = |shift: u32| f(words.map(|word| (word >> shift) as u32 & 0xffff)) & 0xffff;
    u64::from(part(0)) | u64::from(part(16)) << 16
}

fn half_add(a: u32, b: u32) -> u32 {
    sequence::half_add(&mut Evaluate, a, b)
}

fn half_value(bits: u64) -> f32 {
    f32::from_bits(sequence::float_from_half(&mut Evaluate, bits as u32))
}

fn to_half(value: f32, rounding: Rounding) -> u64 {
    sequence::half_from_float(&mut Evaluate, value.to_bits(), rounding).into()
}

/// Whether each half of a word is greater than that of another word.
fn above(a: u64, b: u64) -> [u64; 2] {
    [0, 16].map(|shift| u64::from(half_value(a >> shift & 0xffff) > half_value(b >> shift & 0xffff)))
}

#[test]
fn half_precision() {
    check(&[
        case("add.f16 $d, $a, $b;", 16, &[16, 16], |a, b, _| half_add(a as u32, b as u32).into()),
        case("sub.rn.f16 $d, $a, $b;", 16, &[16, 16], |a, b, _| half_add(a as u32, b as u32 ^ 0x8000).into()),
        case("add.f16x2 $d, $a, $b;", 32, &[32, 32], |a, b, _| pairs([a, b], |[x, y]| half_add(x, y))),
        case("sub.f16x2 $d, $a, $b;", 32, &[32, 32], |a, b, _| pairs([a, b], |[x, y]| half_add(x, y ^ 0x8000))),
        case("add.ftz.sat.f16x2 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            let flush = |x: u32| if x & 0x7c00 == 0 { x & 0x8000 } else { x };
            pairs([a, b], |[x, y]| flush(sequence::half_saturated(&mut Evaluate, half_add(flush(x), flush(y)))))
        }),
        case("mul.f16 $d, $a, $b;", 16, &[16, 16], |a, b, _| {
            sequence::half_multiply(&mut Evaluate, a as u32, b as u32).into()
        }),
        case("fma.rn.f16x2 $d, $a, $b, $c;", 32, &[32, 32, 32], |a, b, c| {
            pairs([a, b, c], |[x, y, z]| sequence::half_fma(&mut Evaluate, x, y, z))
        }),
        case("neg.f16x2 $d, $a;", 32, &[32], |a, _, _| a ^ 0x8000_8000),
        case("abs.f16 $d, $a;", 16, &[16], |a, _, _| a & 0x7fff),
        case("min.f16 $d, $a, $b;", 16, &[16, 16], |a, b, _| match (half_value(a), half_value(b)) {
            (x, y) if x.is_nan() && y.is_nan() => 0x7fff,
            (x, y) if x == 0.0 && y == 0.0 => a | b,
            (x, y) => to_half(x.min(y), Rounding::NearestEven),
        }),
        case("max.NaN.f16x2 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            pairs([a, b], |[x, y]| match (half_value(x.into()), half_value(y.into())) {
                (v, w) if v.is_nan() || w.is_nan() => 0x7fff,
                (v, w) if v == 0.0 && w == 0.0 => x & y,
                (v, w) => to_half(v.max(w), Rounding::NearestEven) as u32,
            })
        }),
        case("cvt.f32.f16 $d, $a;", 32, &[16], |a, _, _| sequence::float_from_half(&mut Evaluate, a as u32).into()),
        case("cvt.rn.f16.f32 $d, $a;", 16, &[32], |a, _, _| to_half(f32::from_bits(a as u32), Rounding::NearestEven)),
        case("cvt.rz.f16.f32 $d, $a;", 16, &[32], |a, _, _| to_half(f32::from_bits(a as u32), Rounding::TowardZero)),
        case("cvt.rn.f16.s32 $d, $a;", 16, &[32], |a, _, _| to_half(a as i32 as f32, Rounding::NearestEven)),
        case("cvt.rn.f16.u16 $d, $a;", 16, &[16], |a, _, _| to_half(a as f32, Rounding::NearestEven)),
        case("cvt.rp.f16.u64 $d, $a;", 16, &[64], |a, _, _| {
            // Values above the largest half are rounded up to infinity, so 100,000 can stand for all of them.
            to_half(a.min(100_000) as f32, Rounding::Up)
        }),
        case("cvt.rni.s32.f16 $d, $a;", 32, &[16], |a, _, _| half_value(a).round_ties_even() as i32 as u64),
        case("cvt.rzi.u16.f16 $d, $a;", 16, &[16], |a, _, _| u64::from(half_value(a) as u16)),
        case("cvt.rmi.f16.f16 $d, $a;", 16, &[16], |a, _, _| to_half(half_value(a).floor(), Rounding::NearestEven)),
        case("setp.lt.f16 %p1, $a, $b; selp.b32 $d, 1, 0, %p1;", 32, &[16, 16], |a, b, _| {
            u64::from(half_value(a) < half_value(b))
        }),
        case(
            "setp.geu.f16x2 %p1|%p2, $a, $b; selp.b32 $d, 1, 0, %p1; @%p2 add.u32 $d, $d, 2;",
            32,
            &[32, 32],
            |a, b, _| {
                let at_least = |shift: u32| {
                    let (x, y) = (half_value(a >> shift & 0xffff), half_value(b >> shift & 0xffff));
                    u64::from(x.is_nan() || y.is_nan() || x >= y)
                };
                at_least(0) | at_least(16) << 1
            },
        ),
        case(
            "setp.ne.u32 %p2, $c, 7; setp.gt.and.f16 %p1, $a, $b, %p2; selp.b32 $d, 1, 0, %p1;",
            32,
            &[16, 16, 32],
            |a, b, c| u64::from(half_value(a) > half_value(b) && c != 7),
        ),
        // The third source is combined with each of the two comparisons.
        case(
            "and.b32 $c, $c, 1; setp.ne.u32 %p2, $c, 0; setp.gt.and.f16x2 %p1|%p3, $a, $b, %p2; selp.b32 $d, 1, 0, %p1; \
             @%p3 add.u32 $d, $d, 2;",
            32,
            &[32, 32, 32],
            |a, b, c| {
                let [low, high] = above(a, b);
                (low | high << 1) * (c & 1)
            },
        ),
        case(
            "and.b32 $c, $c, 1; setp.ne.u32 %p2, $c, 0; setp.gt.xor.f16x2 %p1|%p3, $a, $b, !%p2; selp.b32 $d, 1, 0, %p1; \
             @%p3 add.u32 $d, $d, 2;",
            32,
            &[32, 32, 32],
            |a, b, c| {
                let [low, high] = above(a, b);
                (low | high << 1) ^ (3 * (c & 1 ^ 1))
            },
        ),
        case(
            "and.b32 $c, $c, 1; setp.ne.u32 %p2, $c, 0; set.gt.or.u32.f16x2 $d, $a, $b, %p2;",
            32,
            &[32, 32, 32],
            |a, b, c| {
                let [low, high] = above(a, b).map(|half| (half | c & 1) * 0xffff);
                low | high << 16
            },
        ),
        case(
            "set.eq.f16.f16 $d, $a, $b;",
            16,
            &[16, 16],
            |a, b, _| {
                if half_value(a) == half_value(b) { 0x3c00 } else { 0 }
            },
        ),
        case("set.ne.u32.f16 $d, $a, $b;", 32, &[16, 16], |a, b, _| {
            let (x, y) = (half_value(a), half_value(b));
            if x != y && !x.is_nan() && !y.is_nan() { 0xffff_ffff } else { 0 }
        }),
        case("set.le.f16x2.f16x2 $d, $a, $b;", 32, &[32, 32], |a, b, _| {
            pairs([a, b], |[x, y]| if half_value(x.into()) <= half_value(y.into()) { 0x3c00 } else { 0 })
        }),
    ]);
}

/// The bytes of a word as numbers.
fn unsigned_bytes(x: u64) -> [i32; 4] {
    (x as u32).to_le_bytes().map(i32::from)
}

fn signed_bytes(x: u64) -> [i32; 4] {
    (x as u32).to_le_bytes().map(|byte| i32::from(byte as i8))
}

fn signed_halves(x: u64) -> [i32; 2] {
    [i32::from(x as i16), i32::from((x >> 16) as i16)]
}

fn of_bytes(lanes: [i32; 4]) -> u64 {
    u32::from_le_bytes(lanes.map(|lane| lane as u8)).into()
}

fn of_halves(lanes: [i32; 2]) -> u64 {
    (lanes[0] as u16 as u64) | (lanes[1] as u16 as u64) << 16
}

fn each<const N: usize>(a: [i32; N], b: [i32; N], f: impl Fn(i32, i32) -> i32) -> [i32; N] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

#[test]
fn video_instructions() {
    const ABC: &[u32] = &[32, 32, 32];
    check(&[
        case("vabsdiff4.u32.u32.u32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(unsigned_bytes(a), unsigned_bytes(b), |x, y| (x - y).abs()))
        }),
        // The form of __vsadu4.
        case("vabsdiff4.u32.u32.u32.add $d, $a, $b, $c;", 32, ABC, |a, b, c| {
            c + each(unsigned_bytes(a), unsigned_bytes(b), |x, y| (x - y).abs()).iter().sum::<i32>() as u64
        }),
        case("vabsdiff4.s32.s32.s32.sat $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(signed_bytes(a), signed_bytes(b), |x, y| (x - y).abs().min(127)))
        }),
        case("vabsdiff2.u32.s32.s32.add $d, $a, $b, $c;", 32, ABC, |a, b, c| {
            c + each(signed_halves(a), signed_halves(b), |x, y| (x - y).abs()).iter().sum::<i32>() as u64
        }),
        case("vadd4.s32.s32.u32.sat $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(signed_bytes(a), unsigned_bytes(b), |x, y| (x + y).clamp(-128, 127)))
        }),
        case("vadd4.s32.s32.s32.add $d, $a, $b, $c;", 32, ABC, |a, b, c| {
            let sums = each(signed_bytes(a), signed_bytes(b), |x, y| x + y);
            u64::from((c as u32).wrapping_add(sums.iter().sum::<i32>() as u32))
        }),
        case("vsub2.u32.s32.s32.sat $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_halves(each(signed_halves(a), signed_halves(b), |x, y| (x - y).clamp(0, 65535)))
        }),
        case("vsub4.u32.u32.u32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(unsigned_bytes(a), unsigned_bytes(b), |x, y| x - y))
        }),
        case("vavrg4.s32.s32.s32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            // Away from zero, where the sum is odd.
            of_bytes(each(signed_bytes(a), signed_bytes(b), |x, y| (x + y + (x + y).signum()) / 2))
        }),
        case("vavrg2.s32.s32.s32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_halves(each(signed_halves(a), signed_halves(b), |x, y| (x + y + (x + y).signum()) / 2))
        }),
        case("vmin4.u32.u32.s32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(unsigned_bytes(a), signed_bytes(b), i32::min))
        }),
        case("vmax2.s32.s32.s32 $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_halves(each(signed_halves(a), signed_halves(b), i32::max))
        }),
        case("vset4.u32.s32.lt $d, $a, $b, $c;", 32, ABC, |a, b, _| {
            of_bytes(each(unsigned_bytes(a), signed_bytes(b), |x, y| (x < y).into()))
        }),
        case("vset2.s32.s32.ne.add $d, $a, $b, $c;", 32, ABC, |a, b, c| {
            c + each(signed_halves(a), signed_halves(b), |x, y| (x != y).into()).iter().sum::<i32>() as u64
        }),
    ]);
}

//! The integer helpers against the PTX ISA's own descriptions, bit by bit and byte by byte.

use gpurf_arith::integer::*;

/// Words with few and with many bits set, and amounts at and beyond the ends.
const WORDS: [u32; 10] =
    [0, 1, 0x8000_0000, 0xffff_ffff, 0x7fff_ffff, 0x0102_0304, 0xf0e1_d2c3, 0x8080_7f7f, 0x0000_ff80, 0xdead_beef];
const AMOUNTS: [u32; 12] = [0, 1, 7, 15, 16, 31, 32, 33, 63, 255, 256, 0xffff_ffff];

#[test]
fn shifts_clamp() {
    for a in WORDS {
        for n in AMOUNTS {
            let wide = n.min(63);
            assert_eq!(shift_left(a, n), (u64::from(a) << wide.min(32)) as u32);
            assert_eq!(shift_right(a, n, false), (u64::from(a) >> wide) as u32);
            assert_eq!(shift_right(a, n, true), (i64::from(a as i32) >> wide) as u32);
        }
    }
}

#[test]
fn funnel_shifts() {
    for low in WORDS {
        for high in WORDS {
            for n in AMOUNTS {
                let (clamped, wrapped) = (n.min(32), n & 31);
                let left = |n: u32| if n == 0 { high } else { shift_left(high, n) | low >> (32 - n) };
                let right = |n: u32| if n == 0 { low } else { shift_right(low, n, false) | high << (32 - n) };
                assert_eq!(funnel_left(low, high, n, FunnelMode::Wrap), left(wrapped));
                assert_eq!(funnel_right(low, high, n, FunnelMode::Wrap), right(wrapped));
                assert_eq!(funnel_left(low, high, n, FunnelMode::Clamp), left(clamped));
                assert_eq!(funnel_right(low, high, n, FunnelMode::Clamp), right(clamped));
            }
        }
    }
}

#[test]
fn bit_fields() {
    for a in WORDS {
        for position in AMOUNTS {
            for length in AMOUNTS {
                let (p, l) = (position & 0xff, length & 0xff);
                let bit = |x: u32, i: u32| x >> i & 1;
                for signed in [false, true] {
                    let sign = if !signed || l == 0 { 0 } else { bit(a, (p + l - 1).min(31)) };
                    let expected =
                        (0..32).fold(0, |d, i| d | (if i < l && p + i <= 31 { bit(a, p + i) } else { sign }) << i);
                    assert_eq!(bit_field_extract(a, position, length, signed), expected, "{a:#x} {p} {l}");
                }
                let base = 0x5a5a_a5a5;
                let expected = (0..32).fold(base, |d, i| {
                    if i < l && p + i <= 31 { d & !(1 << (p + i)) | bit(a, i) << (p + i) } else { d }
                });
                assert_eq!(bit_field_insert(a, base, position, length), expected, "{a:#x} {p} {l}");
            }
        }
    }
}

#[test]
fn logic_of_three() {
    for table in 0..=255u8 {
        // One bit for each row of the table.
        let (a, b, c) = (0b1111_0000, 0b1100_1100, 0b1010_1010);
        assert_eq!(lop3(a, b, c, table) as u8, table);
    }
    for a in WORDS {
        for b in WORDS {
            assert_eq!(lop3(a, b, 0x0f0f_0f0f, 0xe8), a & b | a & 0x0f0f_0f0f | b & 0x0f0f_0f0f);
            assert_eq!(lop3(a, b, 0x0f0f_0f0f, 0x96), a ^ b ^ 0x0f0f_0f0f);
        }
    }
}

#[test]
fn permutations() {
    let (a, b) = (0x8374_6522, 0xf0e1_d2c3);
    assert_eq!(permute(a, b, 0x3210, PermuteMode::Index), a);
    assert_eq!(permute(a, b, 0x7654, PermuteMode::Index), b);
    assert_eq!(permute(a, b, 0x0123, PermuteMode::Index), a.swap_bytes());
    assert_eq!(permute(a, b, 0xcb80, PermuteMode::Index), 0xffff_0022);
    // The rows of the table in the PTX ISA, as byte numbers from the highest result byte down.
    let rows = [
        (PermuteMode::Forward4, ["3210", "4321", "5432", "6543"]),
        (PermuteMode::Backward4, ["5670", "6701", "7012", "0123"]),
        (PermuteMode::Replicate8, ["0000", "1111", "2222", "3333"]),
        (PermuteMode::EdgeClampLeft, ["3210", "3211", "3222", "3333"]),
        (PermuteMode::EdgeClampRight, ["0000", "1110", "2210", "3210"]),
        (PermuteMode::Replicate16, ["1010", "3232", "1010", "3232"]),
    ];
    for (mode, selections) in rows {
        for (selector, bytes) in selections.iter().enumerate() {
            let index = u32::from_str_radix(bytes, 16).unwrap();
            let expected = permute(a, b, index, PermuteMode::Index);
            assert_eq!(permute(a, b, selector as u32 | 0xfffc, mode), expected, "{mode:?} {selector}");
        }
    }
}

#[test]
fn dot_products() {
    for a in WORDS {
        for b in WORDS {
            for (a_signed, b_signed) in [(false, false), (false, true), (true, false), (true, true)] {
                let value = |x: i64, bits: u32, signed: bool| if signed { x << (64 - bits) >> (64 - bits) } else { x };
                let byte = |x: u32, i: u32, signed| value(i64::from(x >> (8 * i) & 0xff), 8, signed);
                let half = |x: u32, i: u32, signed| value(i64::from(x >> (16 * i) & 0xffff), 16, signed);
                let four: i64 = (0..4).map(|i| byte(a, i, a_signed) * byte(b, i, b_signed)).sum();
                assert_eq!(dot_product_4(a, b, 7, a_signed, b_signed), (four + 7) as u32);
                for (high, first) in [(false, 0), (true, 2)] {
                    let two: i64 = (0..2).map(|i| half(a, i, a_signed) * byte(b, first + i, b_signed)).sum();
                    assert_eq!(dot_product_2(a, b, 7, a_signed, b_signed, high), (two + 7) as u32);
                }
            }
        }
    }
}

#[test]
fn products_sums_and_leading_ones() {
    for a in WORDS {
        for b in WORDS {
            let (wide, signed_wide) = (u64::from(a) * u64::from(b), i64::from(a as i32) * i64::from(b as i32));
            assert_eq!(mul_hi_unsigned(a, b), (wide >> 32) as u32);
            assert_eq!(mul_hi_signed(a, b), (signed_wide >> 32) as u32);
            assert_eq!(mul24_lo(a, b, false), ((a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64) as u32);
            assert_eq!(mul24_hi(a, b, false), (((a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64) >> 16) as u32);
            let low = |x: u32| i64::from((x << 8) as i32 >> 8);
            assert_eq!(mul24_hi(a, b, true), ((low(a) * low(b)) >> 16) as u32);
            for carry in [false, true] {
                let sum = u64::from(a) + u64::from(b) + u64::from(carry);
                assert_eq!(add_carry(a, b, carry), (sum as u32, sum > u64::from(u32::MAX)));
            }
            let clamp = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as u32;
            let (x, y) = (i64::from(a as i32), i64::from(b as i32));
            assert_eq!(add_saturating(a, b), clamp(x + y));
            assert_eq!(sub_saturating(a, b), clamp(x - y));
            assert_eq!(mad_hi_saturating(a, b, b), clamp(((x * y) >> 32) + y));
            assert_eq!(sad(a, b, 3, true), ((x - y).unsigned_abs() as u32).wrapping_add(3));
            assert_eq!(sad(a, b, 3, false), a.abs_diff(b).wrapping_add(3));
        }
    }
    assert_eq!(find_leading_one(0, false), u32::MAX);
    assert_eq!(find_leading_one(0x0001_0000, false), 16);
    assert_eq!(find_leading_one(u32::MAX, true), u32::MAX);
    assert_eq!(find_leading_one(0xffff_fff0, true), 3);
    assert_eq!(find_leading_one(0x0001_0000, true), 16);
}

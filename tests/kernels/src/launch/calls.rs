//! `calls`: a tree, expressions, rules.

use crate::case::{Case, Output};

/// A node of the tree over the leaves.
#[derive(Clone, Copy)]
struct Span {
    low: i32,
    high: i32,
    parts: [i16; 3],
    weight: u64,
}

fn over(leaves: &[i32], low: i32, high: i32) -> Span {
    if high - low == 1 {
        let leaf = leaves[low as usize];
        return Span { low, high, parts: [leaf as i16, low as i16, 1], weight: (i64::from(leaf) as u64) << 20 };
    }
    let middle = low + (high - low + 2) / 3;
    let (left, right) = (over(leaves, low, middle), over(leaves, middle, high));
    let part = |i: usize| left.parts[i].wrapping_add(right.parts[2 - i].wrapping_mul(2));
    let weight = left.weight.wrapping_mul(31).wrapping_add(right.weight);
    Span { low, high: right.high, parts: [part(0), part(1), part(2)], weight }
}

/// An expression's value, and its length in bytes.
fn value(text: &[u8]) -> (i32, usize) {
    fn sum(text: &[u8], at: &mut usize) -> i32 {
        let mut value = product(text, at);
        while text[*at] == b'+' {
            *at += 1;
            value += product(text, at);
        }
        value
    }
    fn product(text: &[u8], at: &mut usize) -> i32 {
        let mut value = factor(text, at);
        while text[*at] == b'*' {
            *at += 1;
            value *= factor(text, at);
        }
        value
    }
    fn factor(text: &[u8], at: &mut usize) -> i32 {
        *at += 1;
        match text[*at - 1] {
            b'-' => -factor(text, at),
            b'(' => {
                let value = sum(text, at);
                *at += 1;
                value
            }
            digit => i32::from(digit - b'0'),
        }
    }
    let mut at = 0;
    (sum(text, &mut at), at)
}

fn mixed(mut x: u32, i: u32, orders: u32) -> u32 {
    let mut order = orders;
    while order != 0 {
        x = match order % 4 {
            0 => x.rotate_left(order & 31),
            1 => (x ^ x >> 15).wrapping_mul(order | 1),
            // The bytes 1, 4, 0 and 3 of the two words, lowest first.
            2 => {
                u32::from_le_bytes([x.to_le_bytes()[1], order.to_le_bytes()[0], x.to_le_bytes()[0], x.to_le_bytes()[3]])
            }
            _ => x,
        };
        order /= 4;
    }
    let key = x >> 8;
    let plain = |y: u32| y.wrapping_add(i);
    let twice = |y: u32| plain(plain(y) ^ key);
    let choice = |y: u32| {
        let z = y.wrapping_mul(3);
        if y >> (i & 31) & 1 == 1 { twice(z) } else { z.wrapping_add(7919) }
    };
    match orders & 3 {
        0 => plain(x),
        1 => twice(x),
        2 => choice(x),
        _ => choice(choice(x) ^ 5),
    }
}

pub fn reference(case: &Case) -> Vec<Output> {
    let leaves = case.s32s("leaves");
    let spans: Vec<Span> = (0..64).map(|i| over(&leaves, i % 7, 32 - i / 8)).collect();
    let texts = case.u8s("texts");
    let values = case.s32s("starts").into_iter().map(|start| {
        let (value, length) = value(&texts[start as usize..]);
        value * 100 + length as i32
    });
    let orders = case.s32s("orders");
    let words = case.u32s("words").into_iter().zip(orders).zip(0..).map(|((x, order), i)| mixed(x, i, order as u32));
    vec![
        Output::s32("low_and_high", &spans.iter().flat_map(|span| [span.low, span.high]).collect::<Vec<_>>()),
        Output::s16("parts", &spans.iter().flat_map(|span| span.parts).collect::<Vec<_>>()),
        Output::u64("weights", &spans.iter().map(|span| span.weight).collect::<Vec<_>>()),
        Output::s32("values", &values.collect::<Vec<_>>()),
        Output::u32("words", &words.collect::<Vec<_>>()),
    ]
}

//! `alu`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{Alu, AluIn, AluOut};
use gpurf_blocks::instruction::{NO_PRED, NO_REG, RolesFields, constant, modifiers, opcode, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::{LANES, NoProbe};
use gpurf_lockstep::Rng;

use super::own_unit;
use crate::driver::{Reset, any_instruction, lane_mask};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Alu, AluDriver, AluCover>();

pub(crate) struct AluDriver {
    reset: Reset,
}

knobs! {
    pub(crate) struct AluKnobs {
        offer: "an instruction is offered" = [300, 1000],
        ready: "a result is taken" = [200, 900, 1000],
        none: "a register or predicate is none" = [0, 200],
        constant: "b is the constant" = [0, 500],
        partial: "lanes are inactive" = [0, 300, 900],
        alike: "all lanes have the same operand" = [0, 300],
        awkward: "an operand's numbers are awkward ones" = [200, 700],
        agree: "predicate sources are the same in all lanes" = [100, 600],
        strange: "an instruction is one that never comes" = [0, 200],
        reset,
    }
}

/// A field of the modifiers: its lowest bit, and how many of its values exist.
type Field = (u32, u64);

/// The meaning of operand b for an operation.
#[derive(Clone, Copy, PartialEq)]
enum B {
    /// The operation has no operand b.
    Unused,
    /// A number.
    Number,
    /// An amount by which something is shifted.
    Amount,
    /// Position and length of a field.
    BitField,
    /// Lanes of the warp.
    Lanes,
}

/// An operation of the ALU.
struct Row {
    opcode: u8,
    /// Slots d, p, a, c: whether it has them.
    has: [bool; 4],
    b: B,
    fields: &'static [Field],
}

const fn row(opcode: u8, slots: &str, b: B, fields: &'static [Field]) -> Row {
    let slots = slots.as_bytes();
    let mut has = [false; 4];
    let mut at = 0;
    while at < slots.len() {
        match slots[at] {
            b'd' => has[0] = true,
            b'p' => has[1] = true,
            b'a' => has[2] = true,
            _ => has[3] = true,
        }
        at += 1;
    }
    Row { opcode, has, b, fields }
}

/// A flag.
const fn flag(bit: u32) -> Field {
    (bit, 2)
}

const OPERATIONS: &[Row] = &[
    row(0x05, "", B::Lanes, &[]),                              // WARPSYNC
    row(0x10, "d", B::Number, &[]),                            // MOV
    row(0x11, "da", B::Number, &[]),                           // SEL
    row(0x14, "p", B::Unused, &[(7, 3)]),                      // VOTE
    row(0x15, "d", B::Unused, &[]),                            // BALLOT
    row(0x16, "p", B::Unused, &[(11, 3)]),                     // PLOP
    row(0x20, "dpa", B::Number, &[(7, 3)]),                    // IADD
    row(0x21, "dpac", B::Number, &[flag(7), flag(8)]),         // IMAD
    row(0x22, "da", B::Number, &[flag(0), flag(1)]),           // IMNMX
    row(0x23, "pa", B::Number, &[(7, 6), flag(10), (11, 4)]),  // ISETP
    row(0x24, "dac", B::Number, &[(0, 256)]),                  // LOP3
    row(0x25, "da", B::Amount, &[]),                           // SHL
    row(0x26, "da", B::Amount, &[flag(0)]),                    // SHR
    row(0x27, "dac", B::Amount, &[flag(0), flag(1)]),          // SHF
    row(0x28, "da", B::BitField, &[flag(0)]),                  // BFE
    row(0x29, "dac", B::BitField, &[]),                        // BFI
    row(0x2a, "dac", B::Number, &[]),                          // PRMT
    row(0x2b, "da", B::Unused, &[]),                           // POPC
    row(0x2c, "da", B::Unused, &[]),                           // CLZ
    row(0x2d, "da", B::Unused, &[]),                           // BREV
    row(0x2e, "dac", B::Number, &[flag(0), flag(1)]),          // DP4A
    row(0x2f, "dac", B::Number, &[flag(0), flag(1), flag(2)]), // DP2A
];

/// Corner cases of integers.
fn awkward(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => 0,
        1 => 1,
        2 => u32::MAX,
        3 => 0x8000_0000,
        4 => 0x7fff_ffff,
        5 => 1 << rng.below(32),
        6 => u32::MAX >> rng.below(32),
        _ => rng.below(64) as u32,
    }
}

/// Lanes of a warp at a WARPSYNC.
#[derive(Clone, Copy)]
struct Warp {
    active: u32,
    living: u32,
    /// The chance, in a thousand, that a lane names other lanes than the active ones.
    wrong: u32,
}

/// A value of b.
fn value_of_b(rng: &mut Rng, b: B, warp: Warp) -> u32 {
    match b {
        B::Amount => match rng.below(10) {
            0 => 32,
            1..7 => rng.below(34) as u32,
            _ => awkward(rng),
        },
        B::BitField => {
            let edge = |rng: &mut Rng| if rng.chance(900) { rng.below(36) } else { rng.below(256) } as u32;
            let (position, length) = (edge(rng), edge(rng));
            position | length << 8 | (rng.below(2) as u32 * rng.next_u64() as u32) << 16
        }
        // Lanes that no longer live do not matter.
        B::Lanes => {
            let wrong = u32::from(rng.chance(warp.wrong)) << rng.below(32);
            warp.active ^ wrong | rng.next_u64() as u32 & !warp.living
        }
        B::Unused | B::Number => rng.next_u64() as u32,
    }
}

/// Words for all lanes.
fn fill(rng: &mut Rng, knobs: &AluKnobs, words: &mut [u32; LANES], mut value: impl FnMut(&mut Rng) -> u32) {
    if rng.chance(knobs.alike) {
        *words = [value(rng); LANES];
    } else {
        words.fill_with(|| value(rng));
    }
}

impl Driver for AluDriver {
    type In = AluIn;
    type Knobs = AluKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![own_unit()]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &AluKnobs, i: &mut AluIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.valid_i = rng.chance(knobs.offer).into();
        i.result_ready_i = rng.chance(knobs.ready).into();
        i.src_valid_i = 0;
        if i.valid_i == 0 {
            return;
        }
        let operation = &OPERATIONS[rng.below(OPERATIONS.len() as u64) as usize];
        let [has_d, has_p, has_a, has_c] = operation.has;
        let there = |rng: &mut Rng, has: bool| has && !rng.chance(knobs.none);
        i.warp_i = rng.below(64) as u8;
        i.mask_i = lane_mask(rng, knobs.partial);
        let mut given = any_instruction(rng);
        for mask in [&mut given.s, &mut given.t] {
            let random = rng.next_u64();
            *mask = if rng.chance(knobs.agree) { (random as u32 & 1).wrapping_neg() } else { random as u32 };
        }
        if operation.b == B::Lanes {
            // The living lanes: the active ones, and others.
            given.s |= i.mask_i;
        }

        let b_is_constant = operation.b != B::Unused && rng.chance(knobs.constant);
        let b_is_register = operation.b != B::Unused && !b_is_constant;
        let sources = [there(rng, has_a), there(rng, b_is_register), there(rng, has_c)];
        let wrong = if rng.chance(600) { 0 } else { 200 };
        let warp = Warp { active: i.mask_i, living: given.s, wrong };
        let any_b = |rng: &mut Rng| value_of_b(rng, operation.b, warp);
        let number = if operation.b == B::Number && rng.chance(500) { awkward(rng) } else { any_b(rng) };
        for (k, valid) in sources.into_iter().enumerate().filter(|source| source.1) {
            i.src_valid_i |= u8::from(valid) << k;
            let words = &mut i.data_i[k].0;
            if k == 1 && operation.b != B::Number {
                fill(rng, knobs, words, any_b);
            } else if rng.chance(knobs.awkward) {
                fill(rng, knobs, words, awkward);
            } else {
                rng.fill(words);
            }
        }
        // Lanes in which operands are equal.
        if i.src_valid_i & 3 == 3 && operation.b == B::Number && rng.chance(500) {
            let (same, a) = (rng.next_u64(), i.data_i[0].0);
            (0..LANES).filter(|lane| same >> lane & 1 == 1).for_each(|lane| i.data_i[1].0[lane] = a[lane]);
        }

        // Operations, modes and destinations that do not exist: the page defines their results.
        let strange = rng.chance(knobs.strange);
        let other_opcode = strange && rng.chance(300);
        let opcode = if other_opcode { rng.below(1 << 7) } else { operation.opcode.into() };
        let m = if strange {
            rng.below(1 << 16)
        } else {
            operation.fields.iter().fold(0, |m, &(at, values)| m | rng.below(values) << at)
        };
        let d = if there(rng, has_d || strange) { rng.below(NO_REG.into()) as u8 } else { NO_REG };
        let p = if there(rng, has_p || strange) { rng.below(NO_PRED.into()) as u8 } else { NO_PRED };
        // Fields of the words that repeat the roles are random: the ALU reads the roles.
        given.op = opcode | given.op & !0xf000_007f | (m & 0xf) << 28;
        if b_is_constant {
            given.op = given.op & u64::from(u32::MAX) | u64::from(number) << 32;
        }
        given.ctl = given.ctl & !0xfff00 | m >> 4 << 8;
        let b_constant = b_is_constant.into();
        given.roles = RolesFields { unit: unit::ALU, b_constant, p, d, ..given.roles.fields() }.into();
        i.instruction_i = given.into();
    }
}

pub(crate) struct AluCover;

/// A mask of the lanes that take part in which `holds` is true of the operands.
fn lanes(i: &AluIn, holds: impl Fn(u32, u32, u32) -> bool) -> u32 {
    let operand = |k: usize, l: usize| {
        if i.src_valid_i >> k & 1 == 1 {
            i.data_i[k].0[l]
        } else if k == 1 && i.instruction_i.roles().b_constant() == 1 {
            constant(i.instruction_i.op())
        } else {
            0
        }
    };
    let value = |l: usize| holds(operand(0, l), operand(1, l), operand(2, l));
    i.mask_i & (0..LANES).fold(0, |mask, l| mask | u32::from(value(l)) << l)
}

/// The class of a shift amount: 0; less than a word; a word; more.
fn reach(amount: u32) -> usize {
    match amount {
        0 => 0,
        1..32 => 1,
        32 => 2,
        _ => 3,
    }
}

#[cover]
impl AluCover {
    /// Names of the classes that [`reach`] returns.
    const REACHES: [&str; 4] = ["0", "less than 32", "32", "more than 32"];
    const SHORT_REACHES: [&str; 4] = ["0", "less", "32", "more"];
    const COMPARISONS: [&str; 6] = ["ISETP eq", "ISETP ne", "ISETP lt", "ISETP le", "ISETP gt", "ISETP ge"];
    const COMBINATIONS: [&str; 4] = ["ISETP and", "ISETP or", "ISETP xor", "ISETP extended"];
    const VOTES: [&str; 3] = ["VOTE all", "VOTE any", "VOTE all or none"];
    const PLOPS: [&str; 3] = ["PLOP and", "PLOP or", "PLOP xor"];
    const ADDITIONS: [&str; 3] = ["IADD", "IADD a - b", "IADD b - a"];
    const PRODUCTS: [&str; 4] = ["IMAD lower", "IMAD upper", "IMAD lower signed", "IMAD upper signed"];
    const EXTREMA: [&str; 4] = ["IMNMX min", "IMNMX max", "IMNMX min signed", "IMNMX max signed"];
    const DP4A: [&str; 4] = ["DP4A", "DP4A signed a", "DP4A signed b", "DP4A signed"];
    const DP2A: [&str; 8] = [
        "DP2A lower",
        "DP2A lower signed a",
        "DP2A lower signed b",
        "DP2A lower signed",
        "DP2A upper",
        "DP2A upper signed a",
        "DP2A upper signed b",
        "DP2A upper signed",
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &AluIn, o: &AluOut, _: &NoProbe<SmShape>, points: &mut Points) {
        let (offered, taken) = (i.valid_i == 1, i.valid_i & o.ready_o == 1);
        let (result, leaves) = (o.result_valid_o == 1, i.result_ready_i == 1);
        let (reg, pred) = (o.result_reg_valid_o == 1, o.result_pred_valid_o == 1);
        let roles = i.instruction_i.roles();
        let operation = OPERATIONS.iter().find(|row| row.opcode == opcode(i.instruction_i.op()));
        let reads = |b: bool| offered && operation.is_some_and(|row| if b { row.b != B::Unused } else { row.has[3] });
        let no_source = |k: usize| i.src_valid_i >> k & 1 == 0;
        let fault = o.fault_valid_o == 1;
        point!("result waits, instruction refused", result && !leaves && offered);
        point!("result waits, none offered", result && !leaves && !offered);
        point!("taken as the last result leaves", result && taken);
        point!("result leaves, none offered", result && leaves && !offered);
        point!("taken by an idle ALU", !result && taken);
        point!("reset with a result", result && i.rst_ni == 0);
        point!("offered in reset", offered && i.rst_ni == 0);
        point!("no destination", result && !reg && !pred);
        point!("register only", reg && !pred);
        point!("predicate only", !reg && pred);
        point!("register and predicate", reg && pred);
        point!("no active lane", result && o.result_mask_o == 0);
        point!("some active lanes", result && !matches!(o.result_mask_o, 0 | u32::MAX));
        point!("b is the constant", offered && roles.b_constant() == 1);
        point!("b is neither register nor constant", reads(true) && roles.b_constant() == 0 && no_source(1));
        point!("a is no register", offered && operation.is_some_and(|row| row.has[2]) && no_source(0));
        point!("c is no register", reads(false) && no_source(2));
        point!("fault waits", fault && !leaves);
        point!("fault offered", fault && leaves);
        point!("result without fault", result && !fault);
        point!("an opcode that never comes", taken && operation.is_none());
        point!(
            "a destination that the operation does not have",
            taken
                && operation
                    .is_some_and(|row| !row.has[0] && roles.d() != NO_REG || !row.has[1] && roles.p() != NO_PRED)
        );
        if let Some(row) = operation.filter(|_| taken) {
            self.operation(i, row, points);
        }
    }

    /// Points of the operation that is taken.
    fn operation(&self, i: &AluIn, row: &Row, points: &mut Points) {
        let given = i.instruction_i.fields();
        let m = modifiers(given.op, given.ctl) as usize;
        let (mask, s) = (i.mask_i, given.s & i.mask_i);
        let s_of = |select: bool, lanes: u32| lanes & if select { s } else { !s } != 0;
        let both = s != 0 && s != mask;
        let signs = |signed: bool| signed && lanes(i, |a, b, _| (a ^ b) >> 31 == 1) != 0;
        let reached = |kind: usize| lanes(i, |_, b, _| reach(b) == kind) != 0;
        // A mode that its operation does not have.
        let mut strange = false;
        match row.opcode {
            0x05 => {
                point!("WARPSYNC", true);
                let wrong = lanes(i, |_, b, _| b & given.s != mask);
                let dead = lanes(i, |_, b, _| b & !given.s != 0);
                let first = wrong.trailing_zeros() as usize;
                let other = |l: usize| wrong >> l & 1 == 1 && i.data_i[1].0[l] != i.data_i[1].0[first];
                point!("WARPSYNC of the right lanes, others do not live", mask != 0 && wrong == 0 && dead != 0);
                point!("WARPSYNC of wrong lanes", wrong != 0);
                point!("WARPSYNC: lane 0 is right, another is wrong", mask & !wrong & 1 == 1 && wrong != 0);
                let differ = i.src_valid_i & 2 != 0 && (0..LANES).any(other);
                point!("WARPSYNC: two lanes ask for different wrong ones", differ);
            }
            0x10 => point!("MOV", true),
            0x11 => {
                point!("SEL", true);
                point!("SEL of both", both);
            }
            0x14 => {
                let mode = m >> 7 & 3;
                strange = mode == 3;
                point!("{VOTES[mode]}", !strange);
                point!("VOTE of true lanes only", mask != 0 && s == mask);
                point!("VOTE of false lanes only", mask != 0 && s == 0);
                point!("VOTE of both", both);
            }
            0x15 => {
                point!("BALLOT", true);
                point!("BALLOT of both", both);
            }
            0x16 => {
                let mode = m >> 11 & 3;
                strange = mode == 3;
                point!("{PLOPS[mode]}", !strange);
            }
            0x20 => {
                let mode = m >> 7 & 3;
                strange = mode == 3;
                point!("{ADDITIONS[mode]}", !strange);
                let (x, y) = (u32::from(mode == 2).wrapping_neg(), u32::from(mode == 1).wrapping_neg());
                let carry = lanes(i, |a, b, _| (a ^ x).checked_add(b ^ y).is_none());
                let full = lanes(i, |a, b, _| (a ^ x).wrapping_add(b ^ y) == u32::MAX);
                point!("IADD carries in some lanes", carry != 0 && carry != mask);
                point!("IADD carries by s alone", s_of(true, full & !carry));
            }
            0x21 => {
                let (upper, signed) = (m >> 7 & 1 == 1, m >> 8 & 1 == 1);
                point!("{PRODUCTS[m >> 7 & 3]}", true);
                let product = |a: u32, b: u32| {
                    let unsigned = u64::from(a) * u64::from(b);
                    let whole = if signed { (i64::from(a as i32) * i64::from(b as i32)) as u64 } else { unsigned };
                    (if upper { whole >> 32 } else { whole }) as u32
                };
                let carry = lanes(i, |a, b, c| product(a, b).checked_add(c).is_none());
                let full = lanes(i, |a, b, c| product(a, b).wrapping_add(c) == u32::MAX);
                point!("IMAD carries", carry != 0);
                point!("IMAD carries by s alone", s_of(true, full & !carry));
                let mixed = lanes(i, |a, b, _| (a ^ b) >> 31 == 1 && a != 0 && b != 0);
                point!("IMAD of a negative and a positive, upper", upper && signed && mixed != 0);
            }
            0x22 => {
                point!("{EXTREMA[m & 3]}", true);
                point!("IMNMX of equals", lanes(i, |a, b, _| a == b) != 0);
                point!("IMNMX of different signs", signs(true));
            }
            0x23 => {
                let (signed, combination) = (m >> 10 & 1 == 1, m >> 11 & 3);
                let comparison = m >> 7 & 7;
                strange = comparison > 5;
                point!("{COMPARISONS[comparison]}", !strange);
                point!("{COMBINATIONS[combination]}", true);
                let equal = lanes(i, |a, b, _| a == b);
                point!("ISETP of equals, extended, s true", combination == 3 && s_of(true, equal));
                point!("ISETP of equals, extended, s false", combination == 3 && s_of(false, equal));
                point!("ISETP of different signs, signed", signs(signed));
                point!("ISETP of different signs, unsigned", signs(!signed));
            }
            0x24 => point!("LOP3", true),
            0x25 => {
                for kind in 0..4 {
                    point!("SHL by {REACHES[kind]}", reached(kind));
                }
            }
            0x26 => {
                for kind in 0..4 {
                    point!("SHR by {REACHES[kind]}", m & 1 == 0 && reached(kind));
                    point!("signed SHR by {REACHES[kind]}", m & 1 == 1 && reached(kind));
                }
                point!("SHR of a negative, signed", m & 1 == 1 && lanes(i, |a, _, _| a >> 31 == 1) != 0);
            }
            0x27 => {
                let (right, wrapped) = (m & 1 == 1, m & 2 == 2);
                for kind in 0..4 {
                    let (plain, around) = (!wrapped && reached(kind), wrapped && reached(kind));
                    point!("SHF left by {REACHES[kind]}", plain && !right);
                    point!("SHF right by {REACHES[kind]}", plain && right);
                    point!("SHF left, wrapped, by {SHORT_REACHES[kind]}", around && !right);
                    point!("SHF right, wrapped, by {SHORT_REACHES[kind]}", around && right);
                }
            }
            0x28 | 0x29 => {
                let (extract, signed) = (row.opcode == 0x28, m & 1 == 1);
                let field = |b: u32| (b & 0xff, b >> 8 & 0xff);
                let nothing = lanes(i, |_, b, _| field(b).1 == 0) != 0;
                let above = lanes(i, |_, b, _| field(b).0 > 31 && field(b).1 != 0) != 0;
                let is_across = |b: u32| field(b).0 < 32 && field(b).0 + field(b).1 > 32;
                let across = lanes(i, |_, b, _| is_across(b)) != 0;
                if extract {
                    let top = |a: u32, b: u32| a >> (field(b).0 + field(b).1).saturating_sub(1).min(31) & 1 == 1;
                    let within = |b: u32| field(b).1 != 0 && field(b).0 + field(b).1 < 32;
                    point!("BFE signed", signed);
                    point!("BFE", !signed);
                    point!("BFE of nothing", nothing);
                    point!("BFE from above bit 31", above);
                    point!("BFE across bit 31", across);
                    let negative = lanes(i, |a, b, _| within(b) && top(a, b)) != 0;
                    point!("BFE of a negative field, signed", signed && negative);
                    let negative = lanes(i, |a, b, _| is_across(b) && top(a, b)) != 0;
                    point!("BFE of a negative field across bit 31, signed", signed && negative);
                } else {
                    point!("BFI", true);
                    point!("BFI of nothing", nothing);
                    point!("BFI from above bit 31", above);
                    point!("BFI across bit 31", across);
                }
            }
            0x2a => {
                point!("PRMT", true);
                point!("PRMT of a sign", lanes(i, |_, b, _| b & 0x8888 != 0) != 0);
            }
            0x2b => point!("POPC", true),
            0x2c => {
                point!("CLZ", true);
                point!("CLZ of 0", lanes(i, |a, _, _| a == 0) != 0);
                point!("CLZ of more", lanes(i, |a, _, _| a != 0) != 0);
            }
            0x2d => point!("BREV", true),
            0x2e => point!("{DP4A[m & 3]}", true),
            0x2f => point!("{DP2A[m & 7]}", true),
            _ => {}
        }
        point!("a mode that never comes", strange);
    }
}

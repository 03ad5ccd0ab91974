//! Facts about values that are written once.

use crate::mir::{Function, Inst, V, Val, cfg::Dominators};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// Which values behave as in SSA, and how wide they are.
pub struct Definitions {
    single: Vec<bool>,
    /// The significant low bits of each value.
    width: Vec<Width>,
}

/// The number of low bits that determine a value, for both ways in which the upper bits may depend on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// All bits above this many low bits are zero.
    pub unsigned: u8,
    /// The value is the sign extension of this many low bits.
    pub signed: u8,
}

impl Width {
    const ANY: Self = Self { unsigned: 32, signed: 32 };

    /// The width of a value below `1 << bits`.
    const fn below(bits: u32) -> Self {
        Self { unsigned: bits as u8, signed: if bits < 32 { bits as u8 + 1 } else { 32 } }
    }

    const fn signed(bits: u32) -> Self {
        Self { unsigned: 32, signed: bits as u8 }
    }
}

impl Definitions {
    /// Finds the values that are written once, without a guard, by an instruction that dominates all their uses.
    pub fn new(f: &Function, dominators: &Dominators) -> Self {
        let mut place: Vec<Option<(u32, u32)>> = vec![None; f.classes.len()];
        let mut single = vec![true; f.classes.len()];
        for b in f.block_ids() {
            for (i, inst) in f.blocks[b.index()].insts.iter().enumerate() {
                for v in inst.defs() {
                    if inst.is_partial() || place[v.index()].is_some() {
                        single[v.index()] = false;
                    }
                    place[v.index()] = Some((b.0, i as u32));
                }
            }
        }
        for b in f.block_ids() {
            let block = &f.blocks[b.index()];
            let mut check = |v: V, at: usize| {
                let dominated = place[v.index()].is_some_and(|(db, di)| {
                    if db == b.0 { (di as usize) < at } else { dominators.dominates(crate::mir::BlockId(db), b) }
                });
                single[v.index()] &= dominated;
            };
            for (i, inst) in block.insts.iter().enumerate() {
                inst.uses().for_each(|v| check(v, i));
            }
            if let Some(p) = block.term.predicate() {
                check(p, block.insts.len());
            }
        }
        Self { single, width: vec![Width::ANY; f.classes.len()] }
    }

    /// Whether a value is written once, by an instruction that dominates all its uses.
    pub fn is_single(&self, v: V) -> bool {
        self.single[v.index()]
    }

    /// The significant low bits of a value.
    pub fn width(&self, v: Val) -> Width {
        match v {
            Val::Imm(bits) => {
                let signed = 33 - if (bits as i32) < 0 { bits.leading_ones() } else { bits.leading_zeros() };
                Width { unsigned: 32 - bits.leading_zeros() as u8, signed: signed as u8 }
            }
            Val::Reg(v) if self.is_single(v) => self.width[v.index()],
            _ => Width::ANY,
        }
    }

    /// Records the width of an instruction's result. Called for each instruction that stays.
    pub fn note(&mut self, inst: &Inst) {
        let Some(d) = inst.d else { return };
        let field = |b: Val| b.constant().map_or(32, |b| (b >> 8 & 0xff).min(32));
        self.width[d.index()] = match inst.op {
            Op::Ld { kind, .. } | Op::Ldc { kind, .. } => match kind {
                LoadType::U8 => Width::below(8),
                LoadType::S8 => Width::signed(8),
                LoadType::U16 => Width::below(16),
                LoadType::S16 => Width::signed(16),
                LoadType::B32 => Width::ANY,
            },
            Op::Bfe { signed: false } => Width::below(field(inst.src[1])),
            Op::Bfe { signed: true } => Width::signed(field(inst.src[1]).max(1)),
            Op::Lop3 { lut } if lut.number() == 0xc0 => {
                let (a, b) = (self.width(inst.src[0]), self.width(inst.src[1]));
                Width::below(u32::from(a.unsigned.min(b.unsigned)))
            }
            Op::Shr { signed: false } => {
                let shift = inst.src[1].constant().unwrap_or(0).min(32);
                Width::below(u32::from(self.width(inst.src[0]).unsigned).saturating_sub(shift))
            }
            Op::Popc {} | Op::Clz {} => Width::below(6),
            Op::Sel {} => {
                let (a, b) = (self.width(inst.src[0]), self.width(inst.src[1]));
                Width { unsigned: a.unsigned.max(b.unsigned), signed: a.signed.max(b.signed) }
            }
            _ => Width::ANY,
        };
    }
}

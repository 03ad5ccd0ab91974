//! Operations that the lanes of a warp or block do together: shuffles, votes, matches, barriers.

use super::kernel::{Kernel, wrong};
use super::logic::B32;
use super::module::Place;
use super::types::{Mods, Result};
use crate::mir::{Inst, Pred, Val};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::scratchpad::Variables;
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn warp(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "shfl" => self.shuffle(i, mods)?,
            "vote" => self.vote(i, mods)?,
            "match" => self.match_lanes(i, mods)?,
            "activemask" => {
                mods.ty_of(&["b32"])?;
                let [d] = self.operands(i)?;
                let mask = self.b.special(Special::ActiveMask);
                self.write_word(d, B32, mask)?;
            }
            "bar" | "barrier" => self.barrier(i, mods)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn synchronised(&self, mods: &mut Mods<'_, 'a>, name: &str) -> Result<()> {
        if mods.flag("sync") {
            return Ok(());
        }
        wrong(mods.span(), format!("`{name}` without .sync does not exist from sm_70 on"))
    }

    fn shuffle(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        self.synchronised(mods, "shfl")?;
        let mode = match mods.need("a mode", &["up", "down", "bfly", "idx"])? {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Butterfly,
            _ => Shuffle::Index,
        };
        mods.ty_of(&["b32"])?;
        let [d, a, b, c, mask] = self.operands(i)?;
        // The mask is ignored: the lanes that execute the instruction take part.
        self.word(mask, 32)?;
        let (value, lane, limits) = (self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?);
        let (d, p) = match &d.kind {
            OperandKind::Pair(d, p) => (&**d, Some(&**p)),
            _ => (d, None),
        };
        let (result, in_range) = match limits {
            Val::Imm(c) => self.shuffle_within(mode, value, lane, c),
            _ => self.shuffle_computed(mode, value, lane, limits),
        };
        self.write_word(d, B32, result)?;
        if let Some(p) = p {
            self.write_predicate(p, in_range)?;
        }
        Ok(())
    }

    fn shuffle_within(&mut self, mode: Shuffle, value: Val, lane: Val, c: u32) -> (Val, Pred) {
        let number = |bits: u32| LaneNumber::new((bits & 31) as u8).expect("five bits");
        let op = Op::Shfl { mode, clamp: number(c), segment: number(c >> 8) };
        let (d, p) = (self.b.general(), self.b.predicate());
        let inst = self.b.inst(op, [value, lane, Val::ZERO]);
        self.b.push(Inst { d: Some(d), p: Some(p), ..inst });
        (Val::Reg(d), Pred::Reg(p, false))
    }

    /// A shuffle whose limits are known only at run time: the source lane is computed as the PTX ISA specifies, and read by its number.
    fn shuffle_computed(&mut self, mode: Shuffle, value: Val, lane: Val, c: Val) -> (Val, Pred) {
        let own = self.b.special(Special::LaneId);
        let b = &mut self.b;
        let lane = b.and(lane, Val::Imm(31));
        let clamp = b.and(c, Val::Imm(31));
        let segment = b.field(false, c, 8, 5);
        // `last` is `segment ? own : clamp`, bit by bit; `first` is `own & segment`.
        let last = b.lop3(segment, own, clamp, 0xca);
        let first = b.and(own, segment);
        let (source, in_range) = match mode {
            Shuffle::Up => {
                let source = b.sub(own, lane);
                (source, b.compare(IntegerComparison::Ge, true, source, last))
            }
            Shuffle::Down => {
                let source = b.add(own, lane);
                (source, b.compare(IntegerComparison::Le, true, source, last))
            }
            Shuffle::Butterfly => {
                let source = b.xor(own, lane);
                (source, b.compare(IntegerComparison::Le, true, source, last))
            }
            Shuffle::Index => {
                // (lane & !segment) | first
                let source = b.lop3(lane, segment, first, 0xba);
                (source, b.compare(IntegerComparison::Le, true, source, last))
            }
        };
        let source = b.select(in_range, source, own);
        let (result, _) = self.shuffle_within(Shuffle::Index, value, source, machine::LANES - 1);
        (result, in_range)
    }

    fn vote(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        self.synchronised(mods, "vote")?;
        let mode = mods.need("a mode", &["all", "any", "uni", "ballot"])?;
        let [d, a, mask] = self.operands(i)?;
        let members = self.word(mask, 32)?;
        if mode == "ballot" {
            mods.ty_of(&["b32"])?;
            let s = self.predicate(a)?;
            let result = self.ballot(s, members);
            return self.write_word(d, B32, result);
        }
        if !mods.flag("pred") {
            return wrong(mods.span(), "this vote is one of predicates: .pred");
        }
        let s = self.predicate(a)?;
        let mode = match mode {
            "all" => Vote::All,
            "any" => Vote::Any,
            _ => Vote::Uniform,
        };
        let result = self.vote_among(mode, s, members);
        self.write_predicate(d, result)
    }

    /// A vote of the lanes of a mask, which may differ from lane to lane. A vote of the machine is one of all lanes that execute it, and groups with
    /// different masks may execute it together.
    fn vote_among(&mut self, mode: Vote, s: Pred, members: Val) -> Pred {
        let of_all = self.b.op_p(Op::Vote { mode }, [Val::ZERO; 3], s, Pred::TRUE);
        let of_members = match mode {
            Vote::All => self.no_lane(s.not(), members),
            Vote::Any => self.no_lane(s, members).not(),
            Vote::Uniform => {
                let (none, all) = (self.no_lane(s, members), self.no_lane(s.not(), members));
                self.b.combine(Combine::Or, none, all)
            }
        };
        // The comparison of a constant mask of all lanes, also in a register, is folded, and only the vote of the machine remains.
        let full = self.b.compare(IntegerComparison::Eq, false, members, Val::Imm(u32::MAX));
        let of_all = self.b.combine(Combine::And, full, of_all);
        let of_members = self.b.combine(Combine::And, full.not(), of_members);
        self.b.combine(Combine::Or, of_all, of_members)
    }

    /// The lanes of the mask that execute the instruction and whose predicate is true.
    fn ballot(&mut self, s: Pred, members: Val) -> Val {
        let lanes = self.b.op_s(Op::Ballot {}, [Val::ZERO; 3], s);
        self.b.and(lanes, members)
    }

    /// Whether no lane of the mask has a predicate that is true.
    fn no_lane(&mut self, s: Pred, members: Val) -> Pred {
        let lanes = self.ballot(s, members);
        self.b.compare(IntegerComparison::Eq, false, lanes, Val::ZERO)
    }

    fn match_lanes(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let mode = mods.need("a mode", &["any", "all"])?;
        self.synchronised(mods, "match")?;
        let ty = mods.ty_of(&["b32", "b64"])?;
        let [d, a, mask] = self.operands(i)?;
        let members = self.word(mask, 32)?;
        let value = self.source(a, ty)?;
        let words = &value[..ty.bits as usize / 32];
        let active = self.b.special(Special::ActiveMask);
        let active = self.b.and(active, members);
        if mode == "all" {
            // All lanes agree if all agree with the first.
            let low = self.b.op(Op::Brev {}, [active, Val::ZERO, Val::ZERO]);
            let first = self.b.op(Op::Clz {}, [low, Val::ZERO, Val::ZERO]);
            let same = self.same_as(words, first);
            let all = self.vote_among(Vote::All, same, members);
            let result = self.b.select(all, active, Val::ZERO);
            let (d, p) = match &d.kind {
                OperandKind::Pair(d, p) => (&**d, Some(&**p)),
                _ => (d, None),
            };
            self.write_word(d, B32, result)?;
            return p.map_or(Ok(()), |p| self.write_predicate(p, all));
        }
        // For each lane in turn, which lanes have the same value.
        let mut result = Val::ZERO;
        for lane in 0..machine::LANES {
            let same = self.same_as(words, Val::Imm(lane));
            let bit = self.b.select(same, Val::Imm(1 << lane), Val::ZERO);
            result = self.b.or(result, bit);
        }
        let result = self.b.and(result, active);
        self.write_word(d, B32, result)
    }

    /// Whether the words equal those of another lane.
    fn same_as(&mut self, words: &[Val], lane: Val) -> Pred {
        let mut same = Pred::TRUE;
        for &word in words {
            let (other, _) = self.shuffle_within(Shuffle::Index, word, lane, machine::LANES - 1);
            let equal = self.b.compare(IntegerComparison::Eq, false, word, other);
            same = if same == Pred::TRUE { equal } else { self.b.combine(Combine::And, same, equal) };
        }
        same
    }

    fn barrier(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        while mods.one_of(&["cta", "aligned"]).is_some() {}
        if mods.flag("warp") {
            self.synchronised(mods, "bar.warp")?;
            let [mask] = self.operands(i)?;
            let mut mask = self.word(mask, 32)?;
            // The machine requires that the mask has exactly the active lanes. If all lanes of the mask are active (a group of a warp that has not
            // diverged), the mask of all active lanes replaces it: these lanes execute together anyway.
            if mask.constant() != Some(u32::MAX) {
                let active = self.b.special(Special::ActiveMask);
                let inactive = self.b.not(active);
                let others = self.b.and(mask, inactive);
                let all_there = self.b.compare(IntegerComparison::Eq, false, others, Val::ZERO);
                mask = self.b.select(all_there, active, mask);
            }
            let inst = self.b.inst(Op::Warpsync {}, [Val::ZERO, mask, Val::ZERO]);
            self.b.push(inst);
            return Ok(());
        }
        if let Some(name) = mods.one_of(&["arrive", "cluster"]) {
            return wrong(mods.span(), format!("`{}.{name}` is outside of the subset", i.opcode.text));
        }
        if mods.flag("red") {
            return self.reduce_at_barrier(i, mods);
        }
        self.synchronised(mods, "bar")?;
        let (id, threads) = match i.operands.as_slice() {
            [id] => (id, None),
            [id, threads] => (id, Some(threads)),
            _ => return wrong(i.span, "`bar.sync` has one or two operands"),
        };
        let barrier = self.barrier_of(id, threads)?;
        self.b.push(barrier);
        Ok(())
    }

    /// The instruction that waits at a barrier, not yet emitted.
    fn barrier_of(&mut self, id: &Operand<'a>, threads: Option<&Operand<'a>>) -> Result<Inst> {
        let threads = threads.map_or(Ok(Val::ZERO), |t| self.word(t, 32))?;
        let number = match id.kind {
            OperandKind::Int(n) => u8::try_from(n).ok().and_then(BarrierId::new),
            _ => return wrong(id.span, "the number of a barrier must be a constant"),
        };
        let Some(id) = number else {
            return wrong(id.span, format!("there are {} barriers", machine::BARRIERS));
        };
        Ok(self.b.inst(Op::Bar { id }, [Val::ZERO, threads, Val::ZERO]))
    }

    /// `bar.red`: all threads clear the barrier's word of shared memory, the threads whose predicate counts add to it, and all read it, with barriers
    /// between these steps. The last barrier prevents the next reduction from clearing the word too early.
    fn reduce_at_barrier(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        while mods.one_of(&["cta", "aligned"]).is_some() {}
        let kind = mods.need("an operation", &["popc", "and", "or"])?;
        if kind == "popc" {
            mods.ty_of(&["u32"])?;
        } else if !mods.flag("pred") {
            return wrong(mods.span(), "this reduction is one of predicates: .pred");
        }
        let (d, id, threads, p) = match i.operands.as_slice() {
            [d, id, p] => (d, id, None, p),
            [d, id, threads, p] => (d, id, Some(threads), p),
            _ => return wrong(i.span, "`bar.red` has three or four operands"),
        };
        let p = self.predicate(p)?;
        let barrier = self.barrier_of(id, threads)?;
        let number = if let OperandKind::Int(number) = id.kind { number } else { 0 };
        let Some(&Place::Shared(at, variable)) = self.shared.counts.get(&number) else {
            return wrong(id.span, "a call reaches this reduction in a form that nvcc does not produce");
        };
        self.b.variables = Variables::one(variable);
        let offset = at as i32;
        let store = Op::St { space: Space::Shared, kind: StoreType::B32, align: Alignment::Natural };
        let clear = self.b.inst(store, [Val::ZERO; 3]);
        self.b.push(Inst { offset, ..clear });
        self.b.push(barrier.clone());
        // For `.and`, the lanes that disagree are counted: the result is true if there are none.
        let counts = if kind == "and" { p.not() } else { p };
        let one = self.b.select(counts, Val::Imm(1), Val::ZERO);
        let add = Op::Atom { space: AtomicSpace::Shared, operation: Atomic::Add };
        let add = self.b.inst(add, [Val::ZERO, Val::ZERO, one]);
        self.b.push(Inst { offset, ..add });
        self.b.push(barrier.clone());
        let load = Op::Ld { space: Space::Shared, kind: LoadType::B32, align: Alignment::Natural, bypass: false };
        let count = self.b.general();
        let load = self.b.inst(load, [Val::ZERO; 3]);
        self.b.push(Inst { d: Some(count), offset, ..load });
        self.b.push(barrier);
        let count = Val::Reg(count);
        match kind {
            "popc" => self.write_word(d, B32, count),
            _ => {
                let comparison = if kind == "and" { IntegerComparison::Eq } else { IntegerComparison::Ne };
                let result = self.b.compare(comparison, false, count, Val::ZERO);
                self.write_predicate(d, result)
            }
        }
    }
}

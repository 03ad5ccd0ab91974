//! Implements the abstract machine of the sequences in `gpurf_arith`: each of its operations becomes an instruction.

use crate::mir::{Builder, Pred, Term, Val};
use gpurf_arith::float::Relation;
use gpurf_arith::sequence::{IntRelation, Machine};
use gpurf_arith::{Mode, mufu};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// Converts a rounding to the machine's.
pub fn rounding(rounding: gpurf_arith::Rounding) -> Rounding {
    match rounding {
        gpurf_arith::Rounding::NearestEven => Rounding::NearestEven,
        gpurf_arith::Rounding::TowardZero => Rounding::TowardZero,
        gpurf_arith::Rounding::Down => Rounding::Down,
        gpurf_arith::Rounding::Up => Rounding::Up,
    }
}

impl Machine for Builder {
    type Value = Val;
    type Predicate = Pred;

    fn constant(&mut self, bits: u32) -> Val {
        Val::Imm(bits)
    }

    fn fadd(&mut self, a: Val, b: Val, mode: Mode) -> Val {
        let Mode { ftz, sat, .. } = mode;
        let op = Op::Fadd { rounding: rounding(mode.rounding), ftz, sat, neg_a: false, neg_b: false };
        self.op(op, [a, b, Val::ZERO])
    }

    fn fmul(&mut self, a: Val, b: Val, mode: Mode) -> Val {
        let Mode { ftz, sat, .. } = mode;
        self.op(Op::Fmul { rounding: rounding(mode.rounding), ftz, sat, neg: false }, [a, b, Val::ZERO])
    }

    fn ffma(&mut self, a: Val, b: Val, c: Val, mode: Mode) -> Val {
        let Mode { ftz, sat, .. } = mode;
        self.op(Op::Ffma { rounding: rounding(mode.rounding), ftz, sat, neg: false, neg_c: false }, [a, b, c])
    }

    fn mufu(&mut self, function: mufu::Function, a: Val, ftz: bool) -> Val {
        let function = match function {
            mufu::Function::Reciprocal => Function::Rcp,
            mufu::Function::ReciprocalSquareRoot => Function::Rsq,
            mufu::Function::SquareRoot => Function::Sqrt,
            mufu::Function::Exp2 => Function::Ex2,
            mufu::Function::Log2 => Function::Lg2,
            mufu::Function::Sin => Function::Sin,
            mufu::Function::Cos => Function::Cos,
        };
        self.op(Op::Mufu { function, ftz }, [a, Val::ZERO, Val::ZERO])
    }

    fn fset(&mut self, relation: Relation, a: Val, b: Val, ftz: bool) -> Pred {
        use FloatComparison::*;
        let comparison = match relation {
            Relation::Equal => Eq,
            Relation::NotEqual => Ne,
            Relation::Less => Lt,
            Relation::LessEqual => Le,
            Relation::Greater => Gt,
            Relation::GreaterEqual => Ge,
            Relation::EqualUnordered => Equ,
            Relation::NotEqualUnordered => Neu,
            Relation::LessUnordered => Ltu,
            Relation::LessEqualUnordered => Leu,
            Relation::GreaterUnordered => Gtu,
            Relation::GreaterEqualUnordered => Geu,
            Relation::Ordered => Num,
            Relation::Unordered => Nan,
        };
        let op = Op::Fsetp { comparison, ftz, combine: Combine::And };
        self.op_p(op, [a, b, Val::ZERO], Pred::TRUE, Pred::TRUE)
    }

    fn negate(&mut self, a: Val) -> Val {
        self.xor(a, Val::Imm(gpurf_arith::SIGN))
    }

    fn absolute(&mut self, a: Val) -> Val {
        self.and(a, Val::Imm(!gpurf_arith::SIGN))
    }

    fn int_to_float(&mut self, a: Val, signed: bool, mode: gpurf_arith::Rounding) -> Val {
        self.op(Op::I2f { rounding: rounding(mode), signed }, [a, Val::ZERO, Val::ZERO])
    }

    fn float_to_int(&mut self, a: Val, signed: bool, mode: gpurf_arith::Rounding) -> Val {
        self.op(Op::F2i { rounding: rounding(mode), ftz: false, signed }, [a, Val::ZERO, Val::ZERO])
    }

    fn iadd(&mut self, a: Val, b: Val) -> Val {
        self.add(a, b)
    }

    fn isub(&mut self, a: Val, b: Val) -> Val {
        self.sub(a, b)
    }

    fn iadd_carry(&mut self, a: Val, b: Val, carry: Option<Pred>) -> (Val, Pred) {
        self.add_carry(Addition::Add, a, b, carry.unwrap_or(Pred::FALSE))
    }

    fn isub_carry(&mut self, a: Val, b: Val, carry: Option<Pred>) -> (Val, Pred) {
        self.add_carry(Addition::Subtract, a, b, carry.unwrap_or(Pred::TRUE))
    }

    fn imad(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.mad(a, b, c)
    }

    fn imul_hi(&mut self, a: Val, b: Val) -> Val {
        self.mad_high(false, a, b, Val::ZERO)
    }

    fn lop3(&mut self, a: Val, b: Val, c: Val, table: u8) -> Val {
        Builder::lop3(self, a, b, c, table)
    }

    fn not(&mut self, a: Val) -> Val {
        Builder::not(self, a)
    }

    fn shift_left(&mut self, a: Val, amount: Val) -> Val {
        self.shl(a, amount)
    }

    fn shift_right(&mut self, a: Val, amount: Val, signed: bool) -> Val {
        self.shr(signed, a, amount)
    }

    fn funnel_left(&mut self, low: Val, high: Val, amount: Val) -> Val {
        self.funnel(Direction::Left, ShiftRange::Clamp, low, high, amount)
    }

    fn funnel_right(&mut self, low: Val, high: Val, amount: Val) -> Val {
        self.funnel(Direction::Right, ShiftRange::Clamp, low, high, amount)
    }

    fn leading_zeros(&mut self, a: Val) -> Val {
        self.op(Op::Clz {}, [a, Val::ZERO, Val::ZERO])
    }

    fn iset(&mut self, relation: IntRelation, signed: bool, a: Val, b: Val) -> Pred {
        let comparison = match relation {
            IntRelation::Equal => IntegerComparison::Eq,
            IntRelation::NotEqual => IntegerComparison::Ne,
            IntRelation::Less => IntegerComparison::Lt,
            IntRelation::LessEqual => IntegerComparison::Le,
            IntRelation::Greater => IntegerComparison::Gt,
            IntRelation::GreaterEqual => IntegerComparison::Ge,
        };
        self.compare(comparison, signed, a, b)
    }

    fn select(&mut self, predicate: Pred, a: Val, b: Val) -> Val {
        Builder::select(self, predicate, a, b)
    }

    fn both(&mut self, p: Pred, q: Pred) -> Pred {
        self.combine(Combine::And, p, q)
    }

    fn either(&mut self, p: Pred, q: Pred) -> Pred {
        self.combine(Combine::Or, p, q)
    }

    fn branch<const N: usize>(
        &mut self,
        predicate: Pred,
        then: impl FnOnce(&mut Self) -> [Val; N],
        otherwise: impl FnOnce(&mut Self) -> [Val; N],
    ) -> [Val; N] {
        let results = std::array::from_fn(|_| self.general());
        let [first, second, join] = std::array::from_fn(|_| self.block());
        self.end(Term::Branch { when: predicate, then: first, otherwise: second }, first);
        for (value, &result) in then(self).into_iter().zip(&results) {
            self.assign(result, value);
        }
        self.end(Term::Jump(join), second);
        for (value, &result) in otherwise(self).into_iter().zip(&results) {
            self.assign(result, value);
        }
        self.end(Term::Jump(join), join);
        results.map(Val::Reg)
    }
}

//! Appends instructions to the current block.

use super::{Block, BlockId, Class, Function, Inst, Pred, Term, V, Val};
use crate::scratchpad::Variables;
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// A function under construction.
#[derive(Debug)]
pub struct Builder {
    /// The function so far.
    pub function: Function,
    /// The current block.
    pub at: BlockId,
    /// The PTX line of new instructions.
    pub line: u32,
    /// Whether new memory accesses keep their order among all others.
    pub ordered: bool,
    /// The variable of shared memory whose address the current PTX instruction takes.
    pub variables: Variables,
    /// The blocks in the order in which they became current, which becomes the layout.
    order: Vec<BlockId>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty function whose entry block is current.
    pub fn new() -> Self {
        let mut new = Self {
            function: Function { blocks: Vec::new(), classes: Vec::new(), addresses: Vec::new() },
            at: BlockId(0),
            line: 1,
            ordered: false,
            variables: Variables::NONE,
            order: vec![BlockId(0)],
        };
        new.block();
        new
    }

    /// Creates a block, which ends in an exit for now.
    pub fn block(&mut self) -> BlockId {
        self.function.blocks.push(Block { insts: Vec::new(), term: Term::Exit, term_line: self.line });
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    /// Ends the current block and continues in `next`.
    pub fn end(&mut self, term: Term, next: BlockId) {
        let line = self.line;
        let block = &mut self.function.blocks[self.at.index()];
        block.term = term;
        block.term_line = line;
        self.at = next;
        self.order.push(next);
    }

    /// Returns the function, with its blocks in the order in which they became current. Blocks that never did are dropped; no block may lead to them.
    pub fn finish(mut self) -> Function {
        let mut seen = vec![false; self.function.blocks.len()];
        self.order.retain(|b| !std::mem::replace(&mut seen[b.index()], true));
        let mut number = vec![BlockId(0); self.function.blocks.len()];
        for (i, b) in self.order.iter().enumerate() {
            number[b.index()] = BlockId(i as u32);
        }
        let mut old: Vec<Option<Block>> = self.function.blocks.into_iter().map(Some).collect();
        self.function.blocks = self.order.iter().filter_map(|b| old[b.index()].take()).collect();
        for block in &mut self.function.blocks {
            block.term.map(|b| number[b.index()]);
        }
        self.function
    }

    /// The number of times that a block became current; a block may count twice.
    pub fn begun(&self) -> usize {
        self.order.len()
    }

    /// The blocks that became current since [`Builder::begun`] returned this number.
    pub fn blocks_since(&self, begun: usize) -> &[BlockId] {
        &self.order[begun..]
    }

    /// The state to which [`Builder::rewind`] returns.
    pub fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            insts: self.function.blocks[self.at.index()].insts.len(),
            blocks: self.function.blocks.len(),
            order: self.order.len(),
        }
    }

    /// The instructions since the mark, if all of them are in the block that was current then.
    pub fn since(&mut self, mark: &Mark) -> Option<&mut [Inst]> {
        (self.at == mark.at && self.order.len() == mark.order)
            .then(|| &mut self.function.blocks[mark.at.index()].insts[mark.insts..])
    }

    /// Removes all blocks and instructions since the mark. New registers stay.
    pub fn rewind(&mut self, mark: &Mark) {
        self.function.blocks.truncate(mark.blocks);
        self.function.blocks[mark.at.index()].insts.truncate(mark.insts);
        self.order.truncate(mark.order);
        self.at = mark.at;
    }

    /// Creates a general register.
    pub fn general(&mut self) -> V {
        self.function.value(Class::General)
    }

    /// Creates a predicate.
    pub fn predicate(&mut self) -> V {
        self.function.value(Class::Predicate)
    }

    /// Appends an instruction.
    pub fn push(&mut self, inst: Inst) {
        self.function.blocks[self.at.index()].insts.push(inst);
    }

    /// An instruction with the current line, order and variables; it is not appended.
    pub fn inst(&self, op: Op, src: [Val; 3]) -> Inst {
        Inst { src, ordered: self.ordered, variables: self.variables, ..Inst::new(op, self.line) }
    }

    /// Appends an operation with a general result.
    pub fn op(&mut self, op: Op, src: [Val; 3]) -> Val {
        let d = self.general();
        let inst = Inst { d: Some(d), ..self.inst(op, src) };
        self.push(inst);
        Val::Reg(d)
    }

    /// Appends an operation with a general result and a predicate source.
    pub fn op_s(&mut self, op: Op, src: [Val; 3], s: Pred) -> Val {
        let d = self.general();
        let inst = Inst { d: Some(d), s, ..self.inst(op, src) };
        self.push(inst);
        Val::Reg(d)
    }

    /// Appends an operation with a predicate result.
    pub fn op_p(&mut self, op: Op, src: [Val; 3], s: Pred, t: Pred) -> Pred {
        let p = self.predicate();
        let inst = Inst { p: Some(p), s, t, ..self.inst(op, src) };
        self.push(inst);
        Pred::Reg(p, false)
    }

    /// `d = value`.
    pub fn assign(&mut self, d: V, value: Val) {
        let inst = Inst { d: Some(d), ..self.inst(Op::Mov {}, [Val::ZERO, value, Val::ZERO]) };
        self.push(inst);
    }

    /// `p = value`.
    pub fn assign_predicate(&mut self, p: V, value: Pred) {
        let inst = Inst { p: Some(p), s: value, ..self.inst(Op::Plop { combine: Combine::And }, [Val::ZERO; 3]) };
        self.push(inst);
    }

    /// `a + b`
    pub fn add(&mut self, a: Val, b: Val) -> Val {
        self.op_s(Op::Iadd { mode: Addition::Add }, [a, b, Val::ZERO], Pred::FALSE)
    }

    /// `a - b`
    pub fn sub(&mut self, a: Val, b: Val) -> Val {
        self.op_s(Op::Iadd { mode: Addition::Subtract }, [a, b, Val::ZERO], Pred::TRUE)
    }

    /// `a + b + s` or `a + !b + s`, with the carry.
    pub fn add_carry(&mut self, mode: Addition, a: Val, b: Val, s: Pred) -> (Val, Pred) {
        let (d, p) = (self.general(), self.predicate());
        let inst = Inst { d: Some(d), p: Some(p), s, ..self.inst(Op::Iadd { mode }, [a, b, Val::ZERO]) };
        self.push(inst);
        (Val::Reg(d), Pred::Reg(p, false))
    }

    /// The low word of `a * b + c`.
    pub fn mad(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.op_s(Op::Imad { half: Half::Low, signed: false }, [a, b, c], Pred::FALSE)
    }

    /// A half of `a * b`, plus `c`, plus `s`, with the carry.
    pub fn mad_carry(&mut self, half: Half, a: Val, b: Val, c: Val, s: Pred) -> (Val, Pred) {
        let (d, p) = (self.general(), self.predicate());
        let op = Op::Imad { half, signed: false };
        let inst = Inst { d: Some(d), p: Some(p), s, ..self.inst(op, [a, b, c]) };
        self.push(inst);
        (Val::Reg(d), Pred::Reg(p, false))
    }

    /// The high word of `a * b`, plus `c`.
    pub fn mad_high(&mut self, signed: bool, a: Val, b: Val, c: Val) -> Val {
        self.op_s(Op::Imad { half: Half::High, signed }, [a, b, c], Pred::FALSE)
    }

    /// A bitwise function of three words; bit `4a + 2b + c` of the table is the result for bits a, b, c.
    pub fn lop3(&mut self, a: Val, b: Val, c: Val, table: u8) -> Val {
        let lut = TruthTable::new(table).expect("eight bits");
        self.op(Op::Lop3 { lut }, [a, b, c])
    }

    /// `a & b`
    pub fn and(&mut self, a: Val, b: Val) -> Val {
        self.lop3(a, b, Val::ZERO, 0xc0)
    }

    /// `a | b`
    pub fn or(&mut self, a: Val, b: Val) -> Val {
        self.lop3(a, b, Val::ZERO, 0xfc)
    }

    /// `a ^ b`
    pub fn xor(&mut self, a: Val, b: Val) -> Val {
        self.lop3(a, b, Val::ZERO, 0x3c)
    }

    /// `!a`
    pub fn not(&mut self, a: Val) -> Val {
        self.lop3(a, Val::ZERO, Val::ZERO, 0x0f)
    }

    /// `a << b`, 0 if `b` is 32 or more.
    pub fn shl(&mut self, a: Val, b: Val) -> Val {
        self.op(Op::Shl {}, [a, b, Val::ZERO])
    }

    /// `a >> b`, sign bits or 0 if `b` is 32 or more.
    pub fn shr(&mut self, signed: bool, a: Val, b: Val) -> Val {
        self.op(Op::Shr { signed }, [a, b, Val::ZERO])
    }

    /// One word of `high:low` shifted by `amount`.
    pub fn funnel(&mut self, direction: Direction, range: ShiftRange, low: Val, high: Val, amount: Val) -> Val {
        self.op(Op::Shf { direction, range }, [low, amount, high])
    }

    /// The field of `a` at constant bit `at`, `width` bits wide.
    pub fn field(&mut self, signed: bool, a: Val, at: u32, width: u32) -> Val {
        self.op(Op::Bfe { signed }, [a, Val::Imm(at | width << 8), Val::ZERO])
    }

    /// `s ? a : b`
    pub fn select(&mut self, s: Pred, a: Val, b: Val) -> Val {
        self.op_s(Op::Sel {}, [a, b, Val::ZERO], s)
    }

    /// Whether the comparison holds for `a` and `b`.
    pub fn compare(&mut self, comparison: IntegerComparison, signed: bool, a: Val, b: Val) -> Pred {
        let op = Op::Isetp { comparison, signed, combine: IntegerCombine::And };
        self.op_p(op, [a, b, Val::ZERO], Pred::TRUE, Pred::TRUE)
    }

    /// Whether the comparison holds for the 64-bit values.
    pub fn compare_wide(&mut self, comparison: IntegerComparison, signed: bool, a: [Val; 2], b: [Val; 2]) -> Pred {
        let low = self.compare(comparison, false, a[0], b[0]);
        let op = Op::Isetp { comparison, signed, combine: IntegerCombine::Extended };
        self.op_p(op, [a[1], b[1], Val::ZERO], low, Pred::TRUE)
    }

    /// Combines two predicates.
    pub fn combine(&mut self, combine: Combine, s: Pred, t: Pred) -> Pred {
        self.op_p(Op::Plop { combine }, [Val::ZERO; 3], s, t)
    }

    /// Reads a special register.
    pub fn special(&mut self, source: Special) -> Val {
        self.op(Op::S2r { source }, [Val::ZERO; 3])
    }

    /// Reads the 64-bit time. The upper word is read before and after the lower one. If it has changed, the result is the time of the change, which
    /// lies between the two reads; so no later read gives an earlier time.
    pub fn time(&mut self) -> [Val; 2] {
        let [before, low, high] =
            [Special::TimeHigh, Special::TimeLow, Special::TimeHigh].map(|word| self.special(word));
        let same = self.compare(IntegerComparison::Eq, false, before, high);
        [self.select(same, low, Val::ZERO), high]
    }
}

/// A position in a function under construction.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: BlockId,
    insts: usize,
    blocks: usize,
    order: usize,
}

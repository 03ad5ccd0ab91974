//! Emits instructions from blocks: layout, branches with their reconvergence points, and the kernel of the image.

use crate::allocate::Allocation;
use crate::lower::Lowered;
use crate::mir::{BlockId, Function, Inst, Origin, Pred, Term, V, Val};
use crate::scratchpad::Variables;
use gpurf_isa::image::{Added, Kernel, Purpose, Relocation};
use gpurf_isa::modifiers::Combine;
use gpurf_isa::{Instruction, Offset, Op, Operand, Pc, Predicate, PredicateSource, Reg, Slots};

/// The kernel has more instructions than program counters can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

struct Emitter<'a> {
    f: &'a Function,
    lowered: &'a Lowered,
    added: Vec<Added>,
    places: &'a [Option<u8>],
    code: Vec<Instruction>,
    lines: Vec<u32>,
    relocations: Vec<Relocation>,
    /// Instructions that may touch shared memory, with the variables that each may touch.
    accesses: Vec<(u32, Variables)>,
    /// Branches whose target is still to be filled in: index of the instruction, target, reconvergence point.
    branches: Vec<(usize, BlockId, Option<BlockId>)>,
}

/// Emits a kernel. `meets` gives the block where the lanes of each block's branch reconverge. Also returns the kernel's instructions that may touch
/// shared memory, each with the variables that it may touch.
pub fn kernel(
    lowered: &Lowered,
    allocation: &Allocation,
    meets: &[Option<BlockId>],
) -> Result<(Kernel, Vec<(u32, Variables)>), TooLong> {
    let f = &lowered.function;
    let mut emitter = Emitter {
        f,
        lowered,
        added: Vec::new(),
        places: &allocation.place,
        code: Vec::new(),
        lines: Vec::new(),
        relocations: Vec::new(),
        accesses: Vec::new(),
        branches: Vec::new(),
    };
    let own_exits = emitter.exits_of_branches(meets);
    let emitted: Vec<BlockId> = f.block_ids().filter(|b| !own_exits[b.index()]).collect();
    let mut start = vec![0; f.blocks.len()];
    for (i, &b) in emitted.iter().enumerate() {
        start[b.index()] = emitter.code.len();
        for inst in &f.blocks[b.index()].insts {
            emitter.inst(inst);
        }
        emitter.end(b, emitted.get(i + 1).copied(), meets[b.index()], &own_exits);
    }
    for (at, target, join) in std::mem::take(&mut emitter.branches) {
        let pc = |b: BlockId| Pc::new(start[b.index()] as u32).ok_or(TooLong);
        emitter.code[at].b = Operand::Imm(pc(target)?.number());
        emitter.code[at].reconvergence = join.map(pc).transpose()?;
    }
    if emitter.code.len() >= Pc::LIMIT as usize {
        return Err(TooLong);
    }
    let kernel = Kernel {
        name: lowered.name.clone(),
        code: emitter.code,
        lines: emitter.lines,
        registers: allocation.registers,
        parameters: lowered.parameters.clone(),
        static_shared: lowered.static_shared,
        local_bytes: lowered.local_bytes + allocation.spill_bytes,
        max_threads: lowered.max_threads.map(|d| d.iter().product()),
        required_threads: lowered.max_threads.filter(|_| lowered.exact_threads),
        relocations: emitter.relocations,
        added: emitter.added,
        prints: lowered.prints.clone(),
        asserts: lowered.asserts,
        sources: Vec::new(),
    };
    Ok((kernel, emitter.accesses))
}

impl Emitter<'_> {
    /// Blocks that contain nothing but an exit and are entered by branches only. They are not emitted: a guarded `EXIT` takes the place of such a side
    /// of a branch. Blocks where the lanes of an emitted branch reconverge are emitted.
    fn exits_of_branches(&self, meets: &[Option<BlockId>]) -> Vec<bool> {
        let mut own: Vec<bool> =
            self.f.blocks.iter().map(|block| block.insts.is_empty() && block.term == Term::Exit).collect();
        // A first block that is a bare exit is the only block, and no branch leads to it.
        own[0] = false;
        loop {
            let mut changed = false;
            for (block, meet) in self.f.blocks.iter().zip(meets) {
                let emitted = match block.term {
                    Term::Jump(to) => Some(to),
                    Term::Branch { then, otherwise, .. } if !own[then.index()] && !own[otherwise.index()] => *meet,
                    Term::Branch { .. } | Term::Exit => None,
                };
                changed |= emitted.is_some_and(|b| std::mem::replace(&mut own[b.index()], false));
            }
            if !changed {
                return own;
            }
        }
    }

    fn register(&self, v: V) -> Reg {
        Reg(self.places[v.index()].expect("every value has a register"))
    }

    fn predicate(&self, v: V) -> Predicate {
        let number = self.places[v.index()].expect("every value has a register");
        Predicate::new(number).expect("colours are below the number of predicates")
    }

    fn source(&self, p: Pred) -> PredicateSource {
        match p {
            Pred::Const(true) => PredicateSource::TRUE,
            Pred::Const(false) => PredicateSource::FALSE,
            Pred::Reg(v, negated) => PredicateSource { predicate: self.predicate(v), negated },
        }
    }

    fn push(&mut self, instruction: Instruction, line: u32) {
        self.code.push(instruction);
        self.lines.push(line);
    }

    fn inst(&mut self, inst: &Inst) {
        let slots = inst.op.slots();
        let word = |this: &Self, v: Val| match v {
            Val::Reg(v) => this.register(v),
            Val::Imm(_) | Val::Address(_) => Reg::ZERO,
        };
        let mut out = Instruction::new(inst.op).guarded(self.source(inst.guard));
        if let Some(d) = inst.d {
            out.d = self.register(d);
        }
        if let Some(p) = inst.p {
            out.p = self.predicate(p);
        }
        if slots.has(Slots::A) {
            out.a = word(self, inst.src[0]);
        }
        if slots.has(Slots::B) {
            out.b = match inst.src[1] {
                Val::Reg(v) => Operand::Reg(self.register(v)),
                Val::Imm(0) if slots.b_register() => Operand::ZERO,
                Val::Imm(bits) => Operand::Imm(bits),
                Val::Address(index) => {
                    let word = &self.f.addresses[index as usize];
                    self.relocations.push(Relocation {
                        instruction: self.code.len() as u32,
                        symbol: word.symbol.clone(),
                        addend: word.addend,
                        upper: word.upper,
                    });
                    Operand::Imm(0)
                }
            };
        }
        if slots.has(Slots::C) {
            out.c = word(self, inst.src[2]);
        }
        if slots.has(Slots::S) {
            out.s = self.source(inst.s);
        }
        if slots.has(Slots::T) {
            out.t = self.source(inst.t);
        }
        if slots.has(Slots::OFFSET) {
            out.offset = Offset::new(inst.offset).expect("lowering keeps offsets in range");
        }
        if is_void(&out) {
            return;
        }
        let purpose = match inst.origin {
            Origin::Program => None,
            Origin::Zero(v) => Some(Purpose::Zero { of: self.lowered.names.get(&v).cloned() }),
            Origin::Spill => Some(Purpose::Spill),
            Origin::Ahead => Some(Purpose::Ahead),
        };
        let instruction = self.code.len() as u32;
        if !inst.variables.is_empty() {
            self.accesses.push((instruction, inst.variables));
        }
        self.added.extend(purpose.map(|purpose| Added { instruction, purpose }));
        self.push(out, inst.line);
    }

    /// Emits the end of a block. `next` follows in the layout; `join` is where the lanes of a branch reconverge.
    fn end(&mut self, b: BlockId, next: Option<BlockId>, join: Option<BlockId>, own_exits: &[bool]) {
        let block = &self.f.blocks[b.index()];
        let line = block.term_line;
        match block.term {
            Term::Exit => self.push(Instruction::new(Op::Exit {}), line),
            Term::Jump(to) => self.jump(to, next, line),
            Term::Branch { when, then, otherwise } => {
                for (exit, when, other) in [(then, when, otherwise), (otherwise, when.not(), then)] {
                    if own_exits[exit.index()] {
                        if own_exits[other.index()] {
                            self.push(Instruction::new(Op::Exit {}), line);
                        } else {
                            self.push(Instruction::new(Op::Exit {}).guarded(self.source(when)), line);
                            self.jump(other, next, line);
                        }
                        return;
                    }
                }
                let (when, to, other) =
                    if Some(then) == next { (when.not(), otherwise, then) } else { (when, then, otherwise) };
                self.branches.push((self.code.len(), to, join));
                self.push(Instruction::new(Op::Bra {}).guarded(self.source(when)), line);
                self.jump(other, next, line);
            }
        }
    }

    fn jump(&mut self, to: BlockId, next: Option<BlockId>, line: u32) {
        if Some(to) != next {
            self.branches.push((self.code.len(), to, None));
            self.push(Instruction::new(Op::Bra {}), line);
        }
    }
}

/// Whether an instruction copies a register to itself.
fn is_void(i: &Instruction) -> bool {
    match i.op {
        Op::Mov {} => i.b == Operand::Reg(i.d) && !i.d.is_zero(),
        Op::Plop { combine: Combine::And } => i.s == PredicateSource::of(i.p) && i.t == PredicateSource::TRUE,
        _ => false,
    }
}

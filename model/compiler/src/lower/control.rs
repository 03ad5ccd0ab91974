//! Branches, exits and traps.

use super::kernel::{Kernel, wrong};
use super::types::{Mods, Result};
use crate::mir::{BlockId, Pred, Term, Val};
use crate::ptx::ast::{Instruction, OperandKind, Word};
use gpurf_isa::modifiers::IntegerComparison;
use gpurf_isa::{Op, machine};

impl<'a> Kernel<'_, 'a> {
    /// Lowers an unguarded instruction of this group. Returns whether it was one.
    pub fn control(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "bra" | "brx" | "ret" | "exit" => {
                // `branch` lowers them and checks the modifiers.
                while mods.one_of(&["uni", "idx"]).is_some() {}
                self.branch(i, Pred::TRUE)?;
            }
            "trap" | "brkpt" => {
                let [] = self.operands(i)?;
                let code = if i.opcode.text == "trap" { machine::trap::PROGRAM } else { machine::trap::BREAKPOINT };
                self.trap(Pred::TRUE, code);
            }
            "call" => {
                mods.flag("uni");
                self.call(i)?;
            }
            // An instruction of the sharing thesis (3.2.2), not of PTX.
            "relssp" => {
                let [] = self.operands(i)?;
                let inst = self.b.inst(Op::Relssp {}, [Val::ZERO; 3]);
                self.b.push(inst);
            }
            "nanosleep" => {
                mods.ty_of(&["u32"])?;
                let [time] = self.operands(i)?;
                self.word(time, 32)?;
                let inst = self.b.inst(Op::Nop {}, [Val::ZERO; 3]);
                self.b.push(inst);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `bra`, `brx`, `ret` or `exit` for the lanes where the guard is true.
    pub fn branch(&mut self, i: &Instruction<'a>, guard: Pred) -> Result<()> {
        let mut mods = Mods::new(i);
        mods.flag("uni");
        let after = self.b.block();
        match i.opcode.text {
            "bra" => {
                let [label] = self.operands(i)?;
                let OperandKind::Name { name, part: None } = label.kind else {
                    return wrong(label.span, "expected a label");
                };
                let to = self.label(Word { text: name, span: label.span })?;
                self.go(guard, to, after, after);
            }
            "brx" => {
                mods.need("an index", &["idx"])?;
                let [index, table] = self.operands(i)?;
                let index = self.word(index, 32)?;
                let OperandKind::Name { name, part: None } = table.kind else {
                    return wrong(table.span, "expected the label of a list of branch targets");
                };
                let Some(targets) = self.code.scopes.iter().rev().find_map(|s| s.tables.get(name).copied()) else {
                    return wrong(table.span, format!("there is no list of branch targets `{name}`"));
                };
                let to = targets.iter().map(|&t| self.label(t)).collect::<Result<Vec<BlockId>>>()?;
                let inside = self.b.block();
                self.go(guard, inside, after, inside);
                self.choose(index, 0, &to, after);
            }
            _ => {
                let [] = self.operands(i)?;
                if let ("ret", Some(to)) = (i.opcode.text, self.code.returns) {
                    self.go(guard, to, after, after);
                    return mods.finish();
                }
                let exit = self.b.block();
                self.go(guard, exit, after, exit);
                self.b.end(Term::Exit, after);
            }
        }
        mods.finish()
    }

    /// Jumps to one block if the guard is true, else to another; lowering continues in `next`.
    fn go(&mut self, guard: Pred, to: BlockId, otherwise: BlockId, next: BlockId) {
        let term = if guard == Pred::TRUE { Term::Jump(to) } else { Term::Branch { when: guard, then: to, otherwise } };
        self.b.end(term, next);
    }

    /// Branches to `to[index - first]` by binary search; lowering continues in `next`. An index beyond the end selects the last block (PTX leaves
    /// this case undefined).
    pub fn choose(&mut self, index: Val, first: u32, to: &[BlockId], next: BlockId) {
        if to.iter().all(|t| *t == to[0]) {
            self.b.end(Term::Jump(to[0]), next);
            return;
        }
        let half = to.len() / 2;
        let middle = first + half as u32;
        let below = self.b.compare(IntegerComparison::Lt, false, index, Val::Imm(middle));
        let (low, high) = (self.b.block(), self.b.block());
        self.b.end(Term::Branch { when: below, then: low, otherwise: high }, low);
        self.choose(index, first, &to[..half], high);
        self.choose(index, middle, &to[half..], next);
    }
}

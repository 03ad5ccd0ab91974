//! The stack of recursive functions, in local memory.

use super::Calls;
use crate::diagnostic::{Feature, Span};
use crate::lower::MAX_LOCAL;
use crate::lower::kernel::{Kernel, lacks};
use crate::lower::module::{self, Place};
use crate::lower::types::Result;
use crate::mir::{Block, BlockId, Class, Function, Inst, Pred, Term, V, Val};
use crate::passes::liveness::Liveness;
use crate::ptx::ast::Variable;
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};
use std::collections::HashSet;

impl<'a> Kernel<'_, 'a> {
    /// Allocates a local variable: in the frame of the stack if a circle of functions is being lowered, and in the kernel's local memory otherwise.
    pub fn place_local(&mut self, variable: &Variable<'a>) -> Result<Place> {
        let in_frame = !self.calls.open.is_empty();
        let next = if in_frame { &mut self.calls.frame } else { &mut self.local_bytes };
        let at = u64::from(next.next_multiple_of(variable.align));
        let end = at + module::size(variable)?;
        if end > MAX_LOCAL {
            let message = format!("the kernel's local variables have more than {MAX_LOCAL} bytes");
            return lacks(variable.name.span, Feature::Room, message);
        }
        *next = end as u32;
        self.calls.largest_frame = self.calls.largest_frame.max(self.calls.frame);
        Ok(if in_frame { Place::Frame(at as u32) } else { Place::Local(at as u32) })
    }

    /// The address of a byte of the frame.
    pub fn frame_address(&mut self, at: u32) -> Val {
        let pointer = self.calls.stack_pointer.expect("there are frames in circles only");
        self.b.add(Val::Reg(pointer), Val::Imm(at))
    }

    /// Builds the stack, once the kernel is lowered: determines what calls inside of circles save, the size of a frame, and the number of frames, and
    /// adds the code.
    pub fn finish_calls(&mut self, stack_bytes: u32, span: Span) -> Result<()> {
        let calls = std::mem::take(&mut self.calls);
        let Some(pointer) = calls.stack_pointer else { return Ok(()) };
        let f = &mut self.b.function;
        let saved = saved_values(f, &calls);
        let variables = calls.largest_frame.next_multiple_of(4);
        let words = saved.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let frame = (variables + words * 4).next_multiple_of(16);
        let bottom = self.local_bytes.next_multiple_of(16);
        let frames = stack_bytes.checked_div(frame).unwrap_or(1).max(1);
        let end = u64::from(bottom) + u64::from(frame) * u64::from(frames);
        if end > MAX_LOCAL {
            let message =
                format!("local variables and the stack have more than {MAX_LOCAL} bytes; a frame has {frame}");
            return lacks(span, Feature::Room, message);
        }
        self.local_bytes = end as u32;
        let first = Inst { d: Some(pointer), ..with_b(Op::Mov {}, Val::Imm(bottom)) };
        f.blocks[0].insts.insert(0, first);
        if frame == 0 {
            return Ok(());
        }
        let last = bottom + frame * (frames - 1);
        for (site, values) in calls.closed.iter().flat_map(|circle| &circle.sites).zip(&saved) {
            let stack = Stack { pointer, variables, line: f.blocks[site.jump.index()].term_line };
            let save: Vec<Inst> = values.iter().enumerate().flat_map(|(n, &v)| stack.save(f, n as u32, v)).collect();
            f.blocks[site.before.index()].insts.extend(save);
            let push = stack.push(f, frame, (frames > 1).then(|| last - frame));
            f.blocks[site.jump.index()].insts.splice(0..0, push);
            let pop = stack.add(frame.wrapping_neg());
            f.blocks[site.back.index()].insts.insert(0, pop);
            let restore: Vec<Inst> =
                values.iter().enumerate().flat_map(|(n, &v)| stack.restore(f, n as u32, v)).collect();
            f.blocks[site.back.index()].insts.extend(restore);
        }
        Ok(())
    }
}

/// For each call inside of a circle, in the order of the closed circles, the values to save: those that are read after the call and that the circle's
/// code writes.
fn saved_values(f: &Function, calls: &Calls<'_>) -> Vec<Vec<V>> {
    // Treats a call as one step: its jump is removed, and each body is entered directly from the block before the circle, with its parameters set.
    let mut steps = f.clone();
    let add = |steps: &mut Function, insts, to| {
        steps.blocks.push(Block { insts, term: Term::Jump(to), term_line: 0 });
        BlockId(steps.blocks.len() as u32 - 1)
    };
    let words = |arguments: &[usize]| -> Vec<V> {
        arguments.iter().flat_map(|&n| calls.arguments[n].words.iter().copied()).collect()
    };
    for circle in &calls.closed {
        for site in &circle.sites {
            // The parameters that the call passes need not be saved for it, and its results have no source.
            let jump = &mut steps.blocks[site.jump.index()];
            jump.insts.clear();
            jump.term = Term::Jump(site.back);
            for copy in &mut steps.blocks[site.back.index()].insts {
                copy.src = [Val::ZERO; 3];
            }
        }
        let mut from = circle.before;
        for function in &circle.functions {
            let given = words(&function.own.parameters).into_iter().chain([function.caller]);
            let given = given.map(|word| Inst { d: Some(word), ..with_b(Op::Mov {}, Val::ZERO) }).collect();
            let enter = add(&mut steps, given, function.entry);
            let next = add(&mut steps, Vec::new(), circle.after);
            let when = Pred::Reg(steps.value(Class::Predicate), false);
            steps.blocks[from.index()].term = Term::Branch { when, then: enter, otherwise: next };
            from = next;
            // The results and the caller are read after the function.
            let read = words(&function.own.results).into_iter().chain([function.caller]);
            let exit = &mut steps.blocks[function.exit.index()];
            exit.insts = read.map(|word| with_b(Op::Mov {}, Val::Reg(word))).collect();
            exit.term = Term::Jump(circle.after);
        }
    }
    let alive = [Class::General, Class::Predicate].map(|class| Liveness::new(&steps, class));
    let mut saved = Vec::new();
    for circle in &calls.closed {
        let written: HashSet<V> =
            circle.blocks.iter().flat_map(|block| &f.blocks[block.index()].insts).flat_map(Inst::defs).collect();
        for site in &circle.sites {
            // The results are copied before anything is restored, so they are not saved.
            let taken: HashSet<V> = f.blocks[site.back.index()].insts.iter().flat_map(Inst::defs).collect();
            let needed = alive.iter().flat_map(|alive| alive.out[site.back.index()].iter());
            saved.push(needed.filter(|v| written.contains(v) && !taken.contains(v)).collect());
        }
    }
    saved
}

fn with_b(op: Op, b: Val) -> Inst {
    Inst { src: [Val::ZERO, b, Val::ZERO], ..Inst::new(op, 1) }
}

/// What the code of one call needs to know about the stack.
struct Stack {
    pointer: V,
    /// Bytes of local variables; the saved values follow them.
    variables: u32,
    line: u32,
}

impl Stack {
    fn access(&self, op: Op, n: u32, c: Val) -> Inst {
        let offset = (self.variables + n * 4) as i32;
        Inst { src: [Val::Reg(self.pointer), Val::ZERO, c], offset, ..Inst::new(op, self.line) }
    }

    fn save(&self, f: &mut Function, n: u32, v: V) -> Vec<Inst> {
        let store = Op::St { space: Space::Local, kind: StoreType::B32, align: Alignment::Natural };
        if f.classes[v.index()] == Class::General {
            return vec![self.access(store, n, Val::Reg(v))];
        }
        let word = f.value(Class::General);
        let src = [Val::Imm(1), Val::ZERO, Val::ZERO];
        let select = Inst { src, s: Pred::Reg(v, false), d: Some(word), ..Inst::new(Op::Sel {}, self.line) };
        vec![select, self.access(store, n, Val::Reg(word))]
    }

    fn restore(&self, f: &mut Function, n: u32, v: V) -> Vec<Inst> {
        let load = Op::Ld { space: Space::Local, kind: LoadType::B32, align: Alignment::Natural, bypass: false };
        if f.classes[v.index()] == Class::General {
            return vec![Inst { d: Some(v), ..self.access(load, n, Val::ZERO) }];
        }
        let word = f.value(Class::General);
        let load = Inst { d: Some(word), ..self.access(load, n, Val::ZERO) };
        let compare = Op::Isetp { comparison: IntegerComparison::Ne, signed: false, combine: IntegerCombine::And };
        let src = [Val::Reg(word), Val::ZERO, Val::ZERO];
        vec![load, Inst { p: Some(v), src, ..Inst::new(compare, self.line) }]
    }

    fn add(&self, bytes: u32) -> Inst {
        let src = [Val::Reg(self.pointer), Val::Imm(bytes), Val::ZERO];
        let add = Op::Iadd { mode: Addition::Add };
        Inst { d: Some(self.pointer), src, s: Pred::FALSE, ..Inst::new(add, self.line) }
    }

    /// Moves to the next frame. Traps if the current frame begins after `most`, or always if `most` is `None`.
    fn push(&self, f: &mut Function, frame: u32, most: Option<u32>) -> Vec<Inst> {
        let trap = Inst { line: self.line, ..with_b(Op::Trap {}, Val::Imm(machine::trap::STACK)) };
        let Some(most) = most else { return vec![trap] };
        let full = f.value(Class::Predicate);
        let compare = Op::Isetp { comparison: IntegerComparison::Gt, signed: false, combine: IntegerCombine::And };
        let src = [Val::Reg(self.pointer), Val::Imm(most), Val::ZERO];
        let check = Inst { p: Some(full), src, ..Inst::new(compare, self.line) };
        vec![check, Inst { guard: Pred::Reg(full, false), ..trap }, self.add(frame)]
    }
}

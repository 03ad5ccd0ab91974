//! Calls of device functions (`docs/compiler.md`, "Calls").
//!
//! The machine has no call. A function that is not recursive is lowered anew at each of its calls. Functions that call each other in a
//! circle are lowered once for each call from outside of the circle; the calls inside are jumps, in front of which what is
//! still needed is saved on a stack in local memory, and each function ends in a choice of where to continue.

use super::MAX_LOCAL;
use super::call_graph::{Call, Callable, Signature, parameter};
use super::kernel::{Code, Kernel, Scope, lacks, wrong};
use super::module::{self, Place};
use super::refusal;
use super::types::Result;
use super::wide::Pair;
use crate::diagnostic::{Feature, Span};
use crate::mir::{BlockId, Class, Function, Inst, Pred, Term, V, Val};
use crate::passes::liveness::Liveness;
use crate::ptx::ast::{Instruction, OperandKind, Variable};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};
use std::collections::HashSet;

/// Most calls inside of each other, but for recursion.
const MAX_DEPTH: usize = 64;
/// Most statements of functions that are lowered for a kernel: small files can have many copies of much.
const MAX_STATEMENTS: usize = 1 << 16;
/// Most blocks in braces inside of each other, over all calls.
const MAX_NESTING: usize = 256;

/// A parameter or result of a call: words that are registers.
#[derive(Clone, Debug)]
pub struct Argument {
    words: Vec<V>,
    bytes: u32,
}

/// The calls of a kernel.
#[derive(Default)]
pub struct Calls<'a> {
    /// Parameters and results of its calls.
    arguments: Vec<Argument>,
    /// Calls around the instruction at hand.
    depth: usize,
    /// Blocks in braces around it, over all calls.
    nesting: usize,
    /// Statements of functions so far.
    statements: usize,
    /// Circles that are being lowered, the innermost last.
    open: Vec<Circle<'a>>,
    /// Circles that are done.
    closed: Vec<Circle<'a>>,
    /// Where the frame at hand begins, in local memory.
    stack_pointer: Option<V>,
    /// Bytes of a frame that local variables take, at the instruction at hand and at most.
    frame: u32,
    largest_frame: u32,
}

/// Functions that call each other in a circle, for one call from outside.
struct Circle<'a> {
    number: usize,
    /// The first is the one that is called from outside.
    functions: Vec<Recursive<'a>>,
    sites: Vec<Site>,
    /// Its blocks, once all of them are there.
    blocks: Vec<BlockId>,
    /// In front of it.
    before: BlockId,
    /// Behind it.
    after: BlockId,
}

/// A function of a circle.
struct Recursive<'a> {
    callable: Callable<'a>,
    entry: BlockId,
    exit: BlockId,
    parameters: Vec<usize>,
    results: Vec<usize>,
    /// At which of its callers it continues: 0 is outside of the circle.
    caller: V,
    callers: Vec<BlockId>,
}

/// A call inside of a circle. All blocks are its own.
struct Site {
    /// Ends with the parameters known.
    before: BlockId,
    /// Jumps to the function.
    jump: BlockId,
    /// Where it continues: takes the results.
    back: BlockId,
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers a call without a guard.
    pub fn call(&mut self, i: &Instruction<'a>) -> Result<()> {
        let Some(Call { callee, results, parameters }) = Call::of(i) else {
            return wrong(i.span, "expected the function that is called");
        };
        let module = self.module;
        let is_pointer = self.register(callee, i.span)?.is_some();
        let callable = module.calls.get(callee);
        if !is_pointer && callable.is_none() {
            let (feature, reason) = refusal::reason(i);
            return lacks(i.opcode.span, feature, reason);
        }
        let mut given = |operands| self.call_arguments(operands);
        let (parameters, results) = (given(parameters)?, given(results)?);
        match callable {
            Some(callable) if !is_pointer => self.invoke(callable, &parameters, &results, i.span),
            _ => self.indirect_call(i, callee, &parameters, &results),
        }
    }

    /// Counts a statement of a function.
    ///
    /// # Errors
    /// When there are too many. The error is given once.
    pub fn count_statement(&mut self, span: Span) -> Result<()> {
        self.calls.statements += 1;
        if self.calls.statements == MAX_STATEMENTS {
            let message =
                format!("the copies of the functions that it calls have more than {MAX_STATEMENTS} statements");
            return lacks(span, Feature::Room, message);
        }
        Ok(())
    }

    /// Whether nothing more is lowered, which has been said.
    pub fn has_too_many_statements(&self) -> bool {
        self.calls.statements >= MAX_STATEMENTS
    }

    /// Whether the statement at hand is one of a function.
    pub fn is_in_function(&self) -> bool {
        self.calls.depth > 0
    }

    /// Goes into a block in braces.
    ///
    /// # Errors
    /// When there are too many around it.
    pub fn nest(&mut self, span: Span) -> Result<()> {
        self.calls.nesting += 1;
        if self.calls.nesting > MAX_NESTING {
            let message =
                format!("more than {MAX_NESTING} blocks in braces inside of each other, those of callers included");
            return lacks(span, Feature::Room, message);
        }
        Ok(())
    }

    /// Leaves a block.
    pub fn unnest(&mut self) {
        self.calls.nesting -= 1;
    }

    fn call_arguments(&mut self, operands: &[crate::ptx::ast::Operand<'a>]) -> Result<Vec<usize>> {
        let mut arguments = Vec::new();
        for operand in operands {
            match parameter(operand).and_then(|name| self.place(name)) {
                Some(&Place::Argument(number)) => arguments.push(number),
                _ => return wrong(operand.span, "expected a variable of the parameter space"),
            }
        }
        Ok(arguments)
    }

    /// Compares the address with that of each function that it can be.
    fn indirect_call(
        &mut self,
        i: &Instruction<'a>,
        callee: &'a str,
        parameters: &[usize],
        results: &[usize],
    ) -> Result<()> {
        let module = self.module;
        let kind = OperandKind::Name { name: callee, part: None };
        let address = self.pair(&crate::ptx::ast::Operand { kind, span: i.span })?;
        let bytes = |list: &[usize]| list.iter().map(|&n| self.calls.arguments[n].bytes.into()).collect();
        let signature = Signature { parameters: bytes(parameters), results: bytes(results) };
        let targets: Vec<&Callable<'a>> = module.calls.targets(&signature).collect();
        if targets.is_empty() {
            let why =
                "no function of this file with such parameters has its address taken, so this call can reach none";
            return lacks(i.span, Feature::FunctionPointers, why);
        }
        let after = self.b.block();
        for target in targets {
            let is_this = self.equals(address, target.address);
            let (inside, next) = (self.b.block(), self.b.block());
            self.b.end(Term::Branch { when: is_this, then: inside, otherwise: next }, inside);
            self.invoke(target, parameters, results, i.span)?;
            self.b.end(Term::Jump(after), next);
        }
        self.trap(Pred::TRUE, machine::trap::NO_FUNCTION);
        self.b.end(Term::Jump(after), after);
        Ok(())
    }

    fn equals(&mut self, address: Pair, value: u64) -> Pred {
        let low = self.b.compare(IntegerComparison::Eq, false, address[0], Val::Imm(value as u32));
        let high = self.b.compare(IntegerComparison::Eq, false, address[1], Val::Imm((value >> 32) as u32));
        self.b.combine(Combine::And, low, high)
    }

    /// A call of a known function.
    fn invoke(&mut self, callable: &Callable<'a>, parameters: &[usize], results: &[usize], span: Span) -> Result<()> {
        let name = callable.function.name.text;
        if !callable.function.refused.is_empty() {
            let message = format!("`{name}` takes its parameters in registers: compile it again, for sm_75");
            return lacks(span, Feature::Calls, message);
        }
        let bytes = |list: &[usize]| list.iter().map(|&n| self.calls.arguments[n].bytes.into()).collect();
        let given = Signature { parameters: bytes(parameters), results: bytes(results) };
        if given != callable.signature {
            return wrong(span, format!("`{name}` has other parameters or results than this call"));
        }
        if self.calls.depth >= MAX_DEPTH {
            return lacks(span, Feature::Room, format!("more than {MAX_DEPTH} calls inside of each other"));
        }
        // A call is a statement, even of a function without any.
        self.count_statement(span)?;
        self.calls.depth += 1;
        let line = self.b.line;
        match callable.circle {
            None => self.copy(callable, parameters, results)?,
            Some(number) if self.calls.open.last().is_some_and(|circle| circle.number == number) => {
                self.call_inside(callable, parameters, results)?;
            }
            Some(number) => self.call_circle(number, callable, parameters, results)?,
        }
        self.b.line = line;
        self.calls.depth -= 1;
        Ok(())
    }

    /// A function that is not recursive, in the place of its call.
    fn copy(&mut self, callable: &Callable<'a>, parameters: &[usize], results: &[usize]) -> Result<()> {
        let own = self.function_arguments(callable)?;
        self.pass(parameters, &own.0);
        let after = self.b.block();
        let frame = self.calls.frame;
        self.function_body(callable, &own, after);
        self.calls.frame = frame;
        self.b.end(Term::Jump(after), after);
        self.pass(&own.1, results);
        Ok(())
    }

    /// A call of a recursive function from outside of its circle.
    fn call_circle(
        &mut self,
        number: usize,
        callable: &Callable<'a>,
        parameters: &[usize],
        results: &[usize],
    ) -> Result<()> {
        if self.calls.stack_pointer.is_none() {
            self.calls.stack_pointer = Some(self.b.general());
        }
        let root = self.recursive(callable)?;
        let (entry, own) = (root.entry, (root.parameters.clone(), root.results.clone()));
        self.pass(parameters, &own.0);
        self.b.assign(root.caller, Val::ZERO);
        let (before, after) = (self.b.at, self.b.block());
        let frame = self.calls.frame;
        self.calls.open.push(Circle {
            number,
            functions: vec![root],
            sites: Vec::new(),
            blocks: Vec::new(),
            before,
            after,
        });
        let begun = self.b.begun();
        self.b.end(Term::Jump(entry), entry);
        // Bodies find further functions of the circle.
        let mut at = 0;
        loop {
            let circle = self.calls.open.last().expect("it is open");
            let Some(function) = circle.functions.get(at) else { break };
            let (callable, exit) = (function.callable.clone(), function.exit);
            let own = (function.parameters.clone(), function.results.clone());
            self.function_body(&callable, &own, exit);
            at += 1;
            let circle = self.calls.open.last().expect("it is open");
            let next = circle.functions.get(at).map_or(circle.functions[0].exit, |function| function.entry);
            self.b.end(Term::Jump(exit), next);
        }
        let mut circle = self.calls.open.pop().expect("it is open");
        for (at, function) in circle.functions.iter().enumerate() {
            let outside = (at == 0).then_some(after);
            let to: Vec<BlockId> = outside.into_iter().chain(function.callers.iter().copied()).collect();
            let next = circle.functions.get(at + 1).map_or(after, |function| function.exit);
            self.choose(Val::Reg(function.caller), 1 - u32::from(at == 0), &to, next);
        }
        circle.blocks = self.b.blocks_since(begun).to_vec();
        circle.blocks.retain(|block| *block != after);
        self.calls.closed.push(circle);
        self.calls.frame = frame;
        self.pass(&own.1, results);
        Ok(())
    }

    /// A call from inside of the circle.
    fn call_inside(&mut self, callable: &Callable<'a>, parameters: &[usize], results: &[usize]) -> Result<()> {
        let name = callable.function.name.text;
        let is_there =
            |circle: &Circle<'a>| circle.functions.iter().position(|f| f.callable.function.name.text == name);
        let circle = self.calls.open.last().expect("it is open");
        let at = match is_there(circle) {
            Some(at) => at,
            None => {
                let function = self.recursive(callable)?;
                let circle = self.calls.open.last_mut().expect("it is open");
                circle.functions.push(function);
                circle.functions.len() - 1
            }
        };
        let [before, jump, back, after] = [(); 4].map(|()| self.b.block());
        self.b.end(Term::Jump(before), before);
        // The parameters are read before the first is written: the function may call itself.
        let passed: Vec<V> = self.words(parameters).map(|word| self.copied(word)).collect();
        self.b.end(Term::Jump(jump), jump);
        let circle = self.calls.open.last_mut().expect("it is open");
        let number = circle.functions[at].callers.len() as u32 + 1;
        circle.functions[at].callers.push(back);
        circle.sites.push(Site { before, jump, back });
        let function = &circle.functions[at];
        let (entry, caller, own) =
            (function.entry, function.caller, (function.parameters.clone(), function.results.clone()));
        for (to, from) in self.words(&own.0).zip(passed) {
            self.b.assign(to, Val::Reg(from));
        }
        self.b.assign(caller, Val::Imm(number));
        self.b.end(Term::Jump(entry), back);
        // So are the results, in front of what is restored.
        let returned: Vec<V> = self.words(&own.1).map(|word| self.copied(word)).collect();
        self.b.end(Term::Jump(after), after);
        for (to, from) in self.words(results).zip(returned) {
            self.b.assign(to, Val::Reg(from));
        }
        Ok(())
    }

    /// A function of a circle, whose body is to follow.
    fn recursive(&mut self, callable: &Callable<'a>) -> Result<Recursive<'a>> {
        let (parameters, results) = self.function_arguments(callable)?;
        let (entry, exit, caller) = (self.b.block(), self.b.block(), self.b.general());
        Ok(Recursive { callable: callable.clone(), entry, exit, parameters, results, caller, callers: Vec::new() })
    }

    /// New parameters and results of a function.
    fn function_arguments(&mut self, callable: &Callable<'a>) -> Result<(Vec<usize>, Vec<usize>)> {
        let mut new = |list: &[Variable<'a>]| list.iter().map(|v| self.new_argument(v)).collect::<Result<Vec<usize>>>();
        Ok((new(&callable.function.params)?, new(&callable.function.results)?))
    }

    /// Lowers a function's body from the block at hand on; `return` goes to a block.
    fn function_body(&mut self, callable: &Callable<'a>, own: &(Vec<usize>, Vec<usize>), returns: BlockId) {
        let function = callable.function;
        let mut scope = Scope::default();
        for (variables, arguments) in [(&function.params, &own.0), (&function.results, &own.1)] {
            for (variable, argument) in variables.iter().zip(arguments) {
                scope.places.insert(variable.name.text, Place::Argument(*argument));
            }
        }
        // Bytes of a result that the function does not write, such as those between the members of a struct.
        for word in self.words(&own.1).collect::<Vec<_>>() {
            self.b.assign(word, Val::ZERO);
        }
        let code = Code { scopes: vec![scope], carry: None, body: callable.body, returns: Some(returns) };
        let outer = std::mem::replace(&mut self.code, code);
        self.block(callable.body);
        self.code = outer;
    }

    /// A new variable of the parameter space.
    pub fn new_argument(&mut self, variable: &Variable<'a>) -> Result<usize> {
        let bytes = module::size(variable)?;
        if bytes > machine::PARAMETER_LIMIT.into() {
            let message = format!("a parameter has at most {} bytes", machine::PARAMETER_LIMIT);
            return lacks(variable.name.span, Feature::Room, message);
        }
        let words = (0..bytes.div_ceil(4)).map(|_| self.b.general()).collect();
        self.calls.arguments.push(Argument { words, bytes: bytes as u32 });
        Ok(self.calls.arguments.len() - 1)
    }

    /// Sets a variable of the parameter space to zero, if it may be written in parts.
    pub fn clear_argument(&mut self, number: usize) {
        for word in self.words(&[number]).collect::<Vec<_>>() {
            self.b.assign(word, Val::ZERO);
        }
    }

    fn words(&self, arguments: &[usize]) -> impl Iterator<Item = V> + use<> {
        let words: Vec<V> = arguments.iter().flat_map(|&n| self.calls.arguments[n].words.iter().copied()).collect();
        words.into_iter()
    }

    fn pass(&mut self, from: &[usize], to: &[usize]) {
        for (from, to) in self.words(from).zip(self.words(to)) {
            self.b.assign(to, Val::Reg(from));
        }
    }

    fn copied(&mut self, word: V) -> V {
        let copy = self.b.general();
        self.b.assign(copy, Val::Reg(word));
        copy
    }

    /// The word of an argument in which an access of `bytes` bytes lies, and its first bit.
    fn word_of(&self, number: usize, at: i32, bytes: u32, span: Span) -> Result<(V, u32)> {
        let argument = &self.calls.arguments[number];
        let inside = u32::try_from(at).ok().filter(|at| at.checked_add(bytes).is_some_and(|end| end <= argument.bytes));
        match inside {
            Some(at) if at % bytes == 0 => Ok((argument.words[at as usize / 4], at % 4 * 8)),
            Some(_) => wrong(span, "an access to a parameter of a function has the alignment of its size"),
            None => wrong(span, "this access lies outside of the parameter"),
        }
    }

    /// Reads from an argument.
    pub fn load_argument(&mut self, number: usize, at: i32, kind: LoadType, span: Span) -> Result<Val> {
        let (bytes, signed) = match kind {
            LoadType::U8 => (1, false),
            LoadType::S8 => (1, true),
            LoadType::U16 => (2, false),
            LoadType::S16 => (2, true),
            LoadType::B32 => (4, false),
        };
        let (word, bit) = self.word_of(number, at, bytes, span)?;
        Ok(if bytes == 4 { Val::Reg(word) } else { self.b.field(signed, Val::Reg(word), bit, bytes * 8) })
    }

    /// Writes to an argument.
    pub fn store_argument(&mut self, number: usize, at: i32, kind: StoreType, value: Val, span: Span) -> Result<()> {
        let bytes = match kind {
            StoreType::B8 => 1,
            StoreType::B16 => 2,
            StoreType::B32 => 4,
        };
        let (word, bit) = self.word_of(number, at, bytes, span)?;
        let value = if bytes == 4 {
            value
        } else {
            let field = Val::Imm(bit | bytes << 11);
            self.b.op(Op::Bfi {}, [value, field, Val::Reg(word)])
        };
        self.b.assign(word, value);
        Ok(())
    }

    /// Where a local variable lies: in the frame, inside of a circle of functions.
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

    /// Makes the stack, once the kernel is lowered: what calls inside of circles save, how large a frame is, and how many there are.
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

/// For each call inside of a circle, in the order of the closed circles, what has to be saved: values that are read behind it and that
/// the circle's code writes.
fn saved_values(f: &Function, calls: &Calls<'_>) -> Vec<Vec<V>> {
    // A call as one step: what it jumps to is left out, and each body is entered from in front of the circle, with its parameters.
    let mut steps = f.clone();
    let add = |steps: &mut Function, insts, to| {
        steps.blocks.push(crate::mir::Block { insts, term: Term::Jump(to), term_line: 0 });
        BlockId(steps.blocks.len() as u32 - 1)
    };
    let words = |arguments: &[usize]| -> Vec<V> {
        arguments.iter().flat_map(|&n| calls.arguments[n].words.iter().copied()).collect()
    };
    for circle in &calls.closed {
        for site in &circle.sites {
            // Parameters that it passes are restored behind it, and its results come from nowhere.
            let jump = &mut steps.blocks[site.jump.index()];
            jump.insts.clear();
            jump.term = Term::Jump(site.back);
            for copy in &mut steps.blocks[site.back.index()].insts {
                copy.src = [Val::ZERO; 3];
            }
        }
        let mut from = circle.before;
        for function in &circle.functions {
            let given = words(&function.parameters).into_iter().chain([function.caller]);
            let given = given.map(|word| Inst { d: Some(word), ..with_b(Op::Mov {}, Val::ZERO) }).collect();
            let enter = add(&mut steps, given, function.entry);
            let next = add(&mut steps, Vec::new(), circle.after);
            let when = Pred::Reg(steps.value(Class::Predicate), false);
            steps.blocks[from.index()].term = Term::Branch { when, then: enter, otherwise: next };
            from = next;
            // What is read behind it, and where it continues.
            let read = words(&function.results).into_iter().chain([function.caller]);
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
            // The results, which are copied before anything is restored.
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

/// The stack, at a call.
struct Stack {
    pointer: V,
    /// Bytes of local variables, behind which values are saved.
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

    /// The next frame; a trap where the one at hand begins behind `most`, or in any case.
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

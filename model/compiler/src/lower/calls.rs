//! Calls of device functions (`docs/compiler.md`, "Calls").
//!
//! The machine has no call instruction. A function that is not recursive is lowered again at each of its calls. Functions that call each other in a
//! circle are lowered once for each call from outside of the circle. The calls inside the circle are jumps; before the jump, the values that are
//! needed later are saved on a stack in local memory, and each function ends with a choice of the place to continue.

mod arguments;
mod stack;

use super::call_graph::{Call, Callable, Signature, parameter};
use super::kernel::{Code, Kernel, Scope, lacks, wrong};
use super::module::Place;
use super::refusal;
use super::types::Result;
use super::wide::Pair;
use crate::diagnostic::{Feature, Span};
use crate::mir::{BlockId, Pred, Term, V, Val};
use crate::ptx::ast::{Instruction, Operand, OperandKind, Variable};
use arguments::Argument;
use gpurf_isa::machine;
use gpurf_isa::modifiers::*;

/// Maximum depth of nested calls, not counting recursion.
const MAX_DEPTH: usize = 64;
/// Maximum number of statements of functions that are lowered for a kernel: even a small file can produce very many copies.
const MAX_STATEMENTS: usize = 1 << 16;
/// Maximum depth of nested blocks in braces, over all calls.
const MAX_NESTING: usize = 256;

/// The parameters and results of a function or of a call, as indices into `Calls::arguments`.
#[derive(Clone)]
struct Arguments {
    parameters: Vec<usize>,
    results: Vec<usize>,
}

/// The state of call lowering in a kernel.
#[derive(Default)]
pub struct Calls<'a> {
    /// Parameters and results of all calls.
    arguments: Vec<Argument>,
    /// Number of calls around the current instruction.
    depth: usize,
    /// Source position of the innermost of these calls.
    place: Span,
    /// Number of blocks in braces around the current instruction, over all calls.
    nesting: usize,
    /// Statements of functions lowered so far.
    statements: usize,
    /// Circles that are being lowered, the innermost last.
    open: Vec<Circle<'a>>,
    /// Circles that have been lowered.
    closed: Vec<Circle<'a>>,
    /// The address of the current frame in local memory.
    stack_pointer: Option<V>,
    /// Whether the current statement belongs to a function of the compiler's library.
    in_library: bool,
    /// Bytes of a frame that local variables take, at the current instruction; and the maximum.
    frame: u32,
    largest_frame: u32,
}

impl Calls<'_> {
    fn signature(&self, arguments: &Arguments) -> Signature {
        let bytes = |list: &[usize]| list.iter().map(|&n| self.arguments[n].bytes.into()).collect();
        Signature { parameters: bytes(&arguments.parameters), results: bytes(&arguments.results) }
    }
}

/// Functions that call each other in a circle, as lowered for one call from outside.
struct Circle<'a> {
    number: usize,
    /// The first is the function that is called from outside.
    functions: Vec<Recursive<'a>>,
    sites: Vec<Site>,
    /// Its blocks, once all of them exist.
    blocks: Vec<BlockId>,
    /// The block before it.
    before: BlockId,
    /// The block after it.
    after: BlockId,
}

/// A function of a circle.
struct Recursive<'a> {
    callable: Callable<'a>,
    entry: BlockId,
    exit: BlockId,
    own: Arguments,
    /// Which of its callers it returns to: 0 is outside of the circle.
    caller: V,
    callers: Vec<BlockId>,
}

/// A call inside of a circle. All of these blocks belong to this call alone.
struct Site {
    /// Ends when the parameters are known.
    before: BlockId,
    /// Jumps to the function.
    jump: BlockId,
    /// Where the function returns to: copies the results.
    back: BlockId,
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers a call without a guard.
    pub fn call(&mut self, i: &Instruction<'a>) -> Result<()> {
        let Some(Call { callee, results, parameters }) = Call::of(i) else {
            return wrong(i.span, "expected the function that is called");
        };
        let module = self.module;
        let is_pointer = self.is_register(callee);
        let callable = module.calls.get(callee);
        if !is_pointer && callable.is_none() {
            let (feature, reason) = refusal::reason(i);
            return lacks(i.opcode.span, feature, reason);
        }
        let mut given = |operands| self.call_arguments(operands);
        let given = Arguments { parameters: given(parameters)?, results: given(results)? };
        match callable {
            Some(callable) if !is_pointer => self.invoke(callable, &given, i.span),
            _ => self.indirect_call(i, callee, &given),
        }
    }

    /// Counts a statement of a function.
    ///
    /// # Errors
    /// At the first statement above the limit; later calls return no further error.
    pub fn count_statement(&mut self, span: Span) -> Result<()> {
        self.calls.statements += 1;
        if self.calls.statements == MAX_STATEMENTS {
            let message =
                format!("the copies of the functions that it calls have more than {MAX_STATEMENTS} statements");
            return lacks(span, Feature::Room, message);
        }
        Ok(())
    }

    /// Whether the limit of statements is reached, so that nothing more is lowered. The error has been reported.
    pub fn has_too_many_statements(&self) -> bool {
        self.calls.statements >= MAX_STATEMENTS
    }

    /// Whether the current statement belongs to a function of the program.
    pub fn is_in_function(&self) -> bool {
        self.calls.depth > 0 && !self.calls.in_library
    }

    /// Whether the current statement belongs to a function of the compiler's library.
    pub fn is_in_library(&self) -> bool {
        self.calls.in_library
    }

    /// Enters a block in braces.
    ///
    /// # Errors
    /// When too many blocks are around it. The error is reported at the innermost call, as no single body nests that deeply.
    pub fn nest(&mut self) -> Result<()> {
        self.calls.nesting += 1;
        if self.calls.nesting > MAX_NESTING {
            let message =
                format!("more than {MAX_NESTING} blocks in braces inside of each other, those of callers included");
            return lacks(self.calls.place, Feature::Room, message);
        }
        Ok(())
    }

    /// Leaves a block.
    pub fn unnest(&mut self) {
        self.calls.nesting -= 1;
    }

    fn call_arguments(&mut self, operands: &[Operand<'a>]) -> Result<Vec<usize>> {
        let mut arguments = Vec::new();
        for operand in operands {
            match parameter(operand).and_then(|name| self.place(name)) {
                Some(&Place::Argument(number)) => arguments.push(number),
                _ => return wrong(operand.span, "expected a variable of the parameter space"),
            }
        }
        Ok(arguments)
    }

    /// Compares the address with that of each function that it may be, and calls the function that matches.
    fn indirect_call(&mut self, i: &Instruction<'a>, callee: &'a str, given: &Arguments) -> Result<()> {
        let module = self.module;
        let kind = OperandKind::Name { name: callee, part: None };
        let address = self.pair(&Operand { kind, span: i.span })?;
        let signature = self.calls.signature(given);
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
            self.invoke(target, given, i.span)?;
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

    /// Lowers a call of a known function.
    fn invoke(&mut self, callable: &Callable<'a>, given: &Arguments, span: Span) -> Result<()> {
        let name = callable.function.name.text;
        if !callable.function.refused.is_empty() {
            let message = format!("`{name}` takes its parameters in registers: compile it again, for sm_75");
            return lacks(span, Feature::Calls, message);
        }
        if self.calls.signature(given) != callable.signature {
            return wrong(span, format!("`{name}` has other parameters or results than this call"));
        }
        if self.calls.depth >= MAX_DEPTH {
            return lacks(span, Feature::Room, format!("more than {MAX_DEPTH} calls inside of each other"));
        }
        // A call counts as a statement, even if the function has none.
        self.count_statement(span)?;
        self.calls.depth += 1;
        let (line, place) = (self.b.line, std::mem::replace(&mut self.calls.place, span));
        let lowered = match callable.circle {
            None => self.copy(callable, given),
            Some(number) if self.calls.open.last().is_some_and(|circle| circle.number == number) => {
                self.call_inside(callable, given)
            }
            Some(number) => self.call_circle(number, callable, given),
        };
        // Also after an error: the statements after the call are checked too.
        (self.b.line, self.calls.place) = (line, place);
        self.calls.depth -= 1;
        lowered
    }

    /// Lowers a function that is not recursive in place of its call.
    fn copy(&mut self, callable: &Callable<'a>, given: &Arguments) -> Result<()> {
        let own = self.function_arguments(callable)?;
        self.pass(&given.parameters, &own.parameters);
        let after = self.b.block();
        let frame = self.calls.frame;
        self.function_body(callable, &own, after);
        self.calls.frame = frame;
        self.b.end(Term::Jump(after), after);
        self.pass(&own.results, &given.results);
        Ok(())
    }

    /// Lowers a function of the compiler's library, which calls no other function, in place of an instruction. Returns the words of its result.
    pub fn call_library(&mut self, function: &Callable<'a>, parameters: &[Val]) -> Result<Vec<Val>> {
        let own = self.function_arguments(function)?;
        for (to, value) in self.words(&own.parameters).zip(parameters) {
            self.b.assign(to, *value);
        }
        let after = self.b.block();
        self.calls.in_library = true;
        self.function_body(function, &own, after);
        self.calls.in_library = false;
        self.b.end(Term::Jump(after), after);
        Ok(self.words(&own.results).map(Val::Reg).collect())
    }

    /// Lowers a call of a recursive function from outside of its circle.
    fn call_circle(&mut self, number: usize, callable: &Callable<'a>, given: &Arguments) -> Result<()> {
        if self.calls.stack_pointer.is_none() {
            self.calls.stack_pointer = Some(self.b.general());
        }
        let root = self.recursive(callable)?;
        let (entry, own) = (root.entry, root.own.clone());
        self.pass(&given.parameters, &own.parameters);
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
        // Lowering a body may add further functions of the circle to the list.
        let mut at = 0;
        loop {
            let circle = self.calls.open.last().expect("it is open");
            let Some(function) = circle.functions.get(at) else { break };
            let (callable, exit, own) = (function.callable.clone(), function.exit, function.own.clone());
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
        self.pass(&own.results, &given.results);
        Ok(())
    }

    /// Lowers a call from inside of the circle.
    fn call_inside(&mut self, callable: &Callable<'a>, given: &Arguments) -> Result<()> {
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
        // All parameters are read before the first is written: the function may call itself.
        let passed: Vec<V> = self.words(&given.parameters).map(|word| self.copied(word)).collect();
        self.b.end(Term::Jump(jump), jump);
        let circle = self.calls.open.last_mut().expect("it is open");
        let number = circle.functions[at].callers.len() as u32 + 1;
        circle.functions[at].callers.push(back);
        circle.sites.push(Site { before, jump, back });
        let function = &circle.functions[at];
        let (entry, caller, own) = (function.entry, function.caller, function.own.clone());
        for (to, from) in self.words(&own.parameters).zip(passed) {
            self.b.assign(to, Val::Reg(from));
        }
        self.b.assign(caller, Val::Imm(number));
        self.b.end(Term::Jump(entry), back);
        // The results, too, are all read before the saved values are restored.
        let returned: Vec<V> = self.words(&own.results).map(|word| self.copied(word)).collect();
        self.b.end(Term::Jump(after), after);
        for (to, from) in self.words(&given.results).zip(returned) {
            self.b.assign(to, Val::Reg(from));
        }
        Ok(())
    }

    /// Creates a function of a circle; its body is lowered later.
    fn recursive(&mut self, callable: &Callable<'a>) -> Result<Recursive<'a>> {
        let own = self.function_arguments(callable)?;
        let (entry, exit, caller) = (self.b.block(), self.b.block(), self.b.general());
        Ok(Recursive { callable: callable.clone(), entry, exit, own, caller, callers: Vec::new() })
    }

    /// Creates variables for the parameters and results of a function.
    fn function_arguments(&mut self, callable: &Callable<'a>) -> Result<Arguments> {
        let mut new = |list: &[Variable<'a>]| list.iter().map(|v| self.new_argument(v)).collect::<Result<Vec<usize>>>();
        Ok(Arguments { parameters: new(&callable.function.params)?, results: new(&callable.function.results)? })
    }

    /// Lowers a function's body from the current block on; `ret` goes to the block `returns`.
    fn function_body(&mut self, callable: &Callable<'a>, own: &Arguments, returns: BlockId) {
        let function = callable.function;
        let mut scope = Scope::default();
        for (variables, arguments) in [(&function.params, &own.parameters), (&function.results, &own.results)] {
            for (variable, argument) in variables.iter().zip(arguments) {
                scope.places.insert(variable.name.text, Place::Argument(*argument));
            }
        }
        // Clears the results, since a function may leave bytes of them unwritten, such as those between the members of a struct.
        for word in self.words(&own.results).collect::<Vec<_>>() {
            self.b.assign(word, Val::ZERO);
        }
        let code = Code { scopes: vec![scope], carry: None, body: callable.body, returns: Some(returns) };
        let outer = std::mem::replace(&mut self.code, code);
        self.block(callable.body);
        self.code = outer;
    }
}

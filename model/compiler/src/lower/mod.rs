//! Lowers PTX to the machine's operations over virtual registers.
//!
//! Each instruction is checked and lowered in one step: the modifiers are taken one by one, and a modifier that is left over is an error.

mod atomic;
mod call_graph;
mod calls;
mod control;
mod convert;
mod double;
mod float;
mod half;
mod integer;
mod kernel;
mod logic;
mod machine;
mod memory;
mod module;
mod moves;
mod origins;
mod print;
mod refusal;
mod single;
mod texture;
mod types;
mod video;
mod warp;
mod wide;

use crate::Options;
use crate::diagnostic::{Error, Feature, LineIndex, Span};
use crate::mir::{Builder, Function, Inst, Origin, Pred, Term, V};
use crate::ptx::ast::{self, Block, Operand, OperandKind, Space, Statement};
use crate::scratchpad::{self, Orders, SharedVariable, Variables, provenance};
use calls::Calls;
use gpurf_isa::image::{Parameter, Print, Symbol, SymbolSpace};
use gpurf_isa::machine::print::{ASSERT_BUFFER, ASSERTION_RECORD, ASSERTIONS, HEADER, PRINTF_BUFFER, PRINTF_BYTES};
use gpurf_isa::modifiers::{Alignment, LoadType};
use gpurf_isa::{Op, machine as limits};
use kernel::{Code, Kernel, Reg, Scope};
use module::{Environment, Place};
use std::collections::{BTreeMap, HashMap, HashSet};
use types::{Mods, Result};

/// Maximum number of errors that are collected before a kernel is given up. It is far above the number that is shown, so that the report includes all
/// missing features.
const MAX_ERRORS: usize = 10_000;
/// Name of the shared words in which `bar.red` counts. No variable of the PTX can have this name.
const BARRIER_COUNT: &str = "";
/// Maximum local memory of a thread in bytes.
const MAX_LOCAL: u64 = 512 << 10;

/// A lowered kernel.
pub struct Lowered {
    /// Its name.
    pub name: String,
    /// The position of the name in the source.
    pub span: Span,
    /// Its code.
    pub function: Function,
    /// The names of the PTX registers that its values hold. Values that the compiler creates have none.
    pub names: HashMap<V, String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Static shared memory in bytes; dynamic shared memory begins after it.
    pub static_shared: u32,
    /// Its variables of shared memory, in the order of their declarations.
    pub shared: Vec<SharedVariable>,
    /// Size of its local variables in bytes, a multiple of 16.
    pub local_bytes: u32,
    /// `.maxntid` or `.reqntid`.
    pub max_threads: Option<[u32; 3]>,
    /// Whether the block must have exactly these dimensions (`.reqntid`).
    pub exact_threads: bool,
    /// Its calls of `printf`.
    pub prints: Vec<Print>,
    /// Whether it has assertions.
    pub asserts: bool,
}

/// A kernel that cannot be compiled.
pub struct Refused {
    /// Its name.
    pub name: String,
    /// Everything in it that is outside of the subset, up to a bound.
    pub errors: Vec<Error>,
}

/// The result of lowering a module; kernels are in source order.
pub struct Module {
    /// The kernels that could be lowered.
    pub kernels: Vec<Lowered>,
    /// The kernels that could not.
    pub refused: Vec<Refused>,
    /// Variables of the image.
    pub symbols: Vec<Symbol>,
    /// Why some variables cannot be used.
    pub refused_variables: Vec<Error>,
}

/// Lowers the wanted kernels of a module. `orders` has the order of a kernel's shared variables in memory; kernels without an entry use the order of
/// declaration.
///
/// # Errors
/// Errors of the module as a whole.
pub fn lower(
    source: &str,
    module: &ast::Module<'_>,
    orders: &Orders,
    options: &Options,
    wanted: &dyn Fn(&str) -> bool,
) -> std::result::Result<Module, Vec<Error>> {
    let mut errors = Vec::new();
    let lines = LineIndex::new(source);
    let (environment, mut symbols) = module::environment(module, options, &mut errors);
    let (mut kernels, mut refused) = (Vec::new(), Vec::new());
    let mut defined = HashSet::new();
    for function in module.functions.iter().filter(|f| f.defines_kernel()) {
        let name = function.name.text;
        if !defined.insert(name) {
            errors.push(Error::new(function.name.span, format!("`{name}` is defined twice")));
            continue;
        }
        if !wanted(name) {
            continue;
        }
        let order = orders.get(name).map(Vec::as_slice);
        let mut wrong: Vec<Error> = function.broken.iter().cloned().collect();
        if let Some(body) = &function.body {
            match kernel(&environment, &lines, function, body, order, options.stack_bytes) {
                Ok(lowered) => kernels.push(lowered),
                Err(errors) => wrong.extend(errors),
            }
        }
        if !wrong.is_empty() {
            let errors = wrong.into_iter().map(|error| error.in_kernel(name)).collect();
            refused.push(Refused { name: name.to_owned(), errors });
        }
    }
    // They come after all variables of the program, so that the program's addresses do not depend on them.
    symbols.extend(hidden(&kernels));
    if errors.is_empty() {
        Ok(Module { kernels, refused, symbols, refused_variables: environment.refused })
    } else {
        Err(errors)
    }
}

/// The variables that the compiler adds, if they are needed: the buffers into which kernels write what the host prints, the locks of 64-bit
/// operations, and the barrier of the grid.
fn hidden(kernels: &[Lowered]) -> impl Iterator<Item = Symbol> {
    let printf = kernels.iter().any(|kernel| !kernel.prints.is_empty()).then_some((PRINTF_BUFFER, PRINTF_BYTES));
    let asserts = kernels.iter().any(|kernel| kernel.asserts);
    let asserts = asserts.then_some((ASSERT_BUFFER, HEADER + ASSERTIONS * ASSERTION_RECORD));
    let names = |symbol: &'static str| {
        move |kernel: &Lowered| kernel.function.addresses.iter().any(|address| address.symbol == symbol)
    };
    let locks = kernels.iter().any(names(atomic::LOCKS)).then_some((atomic::LOCKS, atomic::LOCK_BYTES));
    let grids = kernels.iter().any(names(limits::GRID_BARRIER));
    let grids = grids.then_some((limits::GRID_BARRIER, limits::GRID_BARRIER_BYTES));
    [printf, asserts, locks, grids].into_iter().flatten().map(|(name, bytes)| Symbol {
        name: name.to_owned(),
        space: SymbolSpace::Global,
        bytes,
        align: HEADER,
        initial: Vec::new(),
        relocations: Vec::new(),
    })
}

fn kernel<'a>(
    environment: &Environment<'a>,
    lines: &LineIndex,
    function: &'a ast::Function<'a>,
    body: &'a Block<'a>,
    order: Option<&[usize]>,
    stack_bytes: u32,
) -> std::result::Result<Lowered, Vec<Error>> {
    if let Some(word) = function.refused.first() {
        let error = Error::lacks(word.span, Feature::Clusters, "clusters of blocks are outside of the subset");
        return Err(vec![error]);
    }
    let mut bodies = environment.calls.reachable(body);
    bodies.insert(0, body);
    let mut mentions = HashMap::new();
    bodies.iter().for_each(|body| count_mentions(body, &mut mentions));
    let mut outer = Scope::default();
    let parameters = place_parameters(function, &mut outer).map_err(|error| vec![error])?;
    let placed = place_shared(environment, &bodies, &mentions, order).map_err(|error| vec![error])?;
    let (shared, static_shared, places) = placed;
    let mut k = Kernel {
        module: environment,
        lines,
        errors: Vec::new(),
        b: Builder::new(),
        code: Code { scopes: vec![outer], carry: None, body, returns: None },
        calls: Calls::default(),
        shared: places,
        constant_bytes: environment.constant_end.max(parameters.last().map_or(0, |p| p.offset + p.bytes)),
        local_bytes: 0,
        named: HashMap::new(),
        prints: Vec::new(),
        asserts: false,
        parameters: None,
    };
    k.block(body);
    let exit = k.b.at;
    k.b.end(Term::Exit, exit);
    if k.errors.is_empty() {
        k.finish_calls(stack_bytes, function.name.span).map_err(|error| vec![error])?;
    } else {
        // Each copy of a function produces the same error; only the first is kept.
        let mut said = HashSet::new();
        k.errors.retain(|error| said.insert((error.span.start, error.message.clone())));
        return Err(k.errors);
    }
    let mut lowered = k.b.finish();
    provenance::run(&mut lowered);
    Ok(Lowered {
        name: function.name.text.to_owned(),
        span: function.name.span,
        function: lowered,
        names: k.named.into_iter().map(|(v, name)| (v, name.to_owned())).collect(),
        parameters,
        static_shared,
        shared,
        local_bytes: k.local_bytes.next_multiple_of(16),
        max_threads: function.max_threads,
        exact_threads: function.exact_threads,
        prints: k.prints,
        asserts: k.asserts,
    })
}

/// Places parameters in the constant space from address 0, in their order.
fn place_parameters<'a>(function: &'a ast::Function<'a>, scope: &mut Scope<'a>) -> Result<Vec<Parameter>> {
    let mut at: u32 = 0;
    let mut parameters = Vec::new();
    for p in &function.params {
        let bytes = module::size(p)? as u32;
        at = at.next_multiple_of(p.align);
        if at.saturating_add(bytes) > limits::PARAMETER_LIMIT {
            let message = format!("the parameters have more than {} bytes", limits::PARAMETER_LIMIT);
            return Err(Error::lacks(p.name.span, Feature::Room, message));
        }
        scope.places.insert(p.name.text, Place::Constant(at));
        parameters.push(Parameter { name: p.name.text.to_owned(), offset: at, bytes, align: p.align });
        at += bytes;
    }
    Ok(parameters)
}

/// A variable of shared memory.
#[derive(Clone, Copy)]
enum Shared<'a> {
    /// A variable of the module, by its name.
    Module(&'a str),
    /// A variable that a body declares, by the position of its name in the source: several scopes may declare the same name.
    Declared(u32),
    /// The word in which `bar.red` counts at the barrier of this number. Each barrier has its own, since two groups of warps may reduce at different
    /// barriers at the same time.
    Count(u64),
}

/// The places of a kernel's variables of shared memory, by what [`Shared`] names them with.
#[derive(Default)]
pub struct SharedPlaces<'a> {
    pub module: HashMap<&'a str, Place>,
    pub declared: HashMap<u32, Place>,
    pub counts: HashMap<u64, Place>,
}

/// Places the module's shared variables that the bodies mention, the shared variables that the bodies declare, and the words in which `bar.red`
/// counts. They are placed one after the other, in the order `order` or else as declared. Dynamic shared memory follows: all of its variables begin
/// at the same address. Returns the variables, the number of bytes before dynamic shared memory, and the places.
fn place_shared<'a>(
    environment: &Environment<'a>,
    bodies: &[&'a Block<'a>],
    mentions: &HashMap<&'a str, u32>,
    order: Option<&[usize]>,
) -> Result<(Vec<SharedVariable>, u32, SharedPlaces<'a>)> {
    let of_module = environment.shared.iter().copied().filter(|v| mentions.contains_key(v.name.text));
    let mut declared: Vec<(Shared<'a>, &ast::Variable<'a>)> =
        of_module.map(|v| (Shared::Module(v.name.text), v)).collect();
    bodies.iter().for_each(|body| collect_shared(body, &mut declared));
    let (mut shared, mut keys, mut total) = (Vec::new(), Vec::new(), 0);
    for (key, variable) in &declared {
        let bytes = variable.elements.map(|_| module::size(variable)).transpose()?;
        total = if bytes.is_some() { u64::next_multiple_of(total, variable.align.into()) } else { total };
        total += bytes.unwrap_or(0);
        if total > u64::from(limits::SHARED_LIMIT) {
            let message = format!("the kernel's shared variables have more than {} bytes", limits::SHARED_LIMIT);
            return Err(Error::lacks(variable.name.span, Feature::Room, message));
        }
        shared.push(SharedVariable::new(variable.name.text, bytes.map(|bytes| bytes as u32), variable.align));
        keys.push(*key);
    }
    let mut reductions = BTreeMap::new();
    bodies.iter().for_each(|body| reductions_at_barriers(body, &mut reductions));
    for (barrier, instruction) in reductions {
        total = total.next_multiple_of(4) + 4;
        if total > u64::from(limits::SHARED_LIMIT) {
            let message = format!(
                "`bar.red` counts in a word of shared memory, and the kernel's variables leave none of the {} bytes",
                limits::SHARED_LIMIT
            );
            return Err(Error::lacks(instruction.opcode.span, Feature::Room, message));
        }
        shared.push(SharedVariable::new(BARRIER_COUNT, Some(4), 4));
        keys.push(Shared::Count(barrier));
    }
    let as_declared: Vec<usize> = (0..shared.len()).collect();
    let end = scratchpad::place(&mut shared, order.unwrap_or(&as_declared));
    let mut places = SharedPlaces::default();
    for (number, (key, variable)) in keys.into_iter().zip(&shared).enumerate() {
        let place = Place::Shared(variable.at, number);
        match key {
            Shared::Module(name) => places.module.insert(name, place),
            Shared::Declared(position) => places.declared.insert(position, place),
            Shared::Count(barrier) => places.counts.insert(barrier, place),
        };
    }
    Ok((shared, end, places))
}

/// The barriers at which a block uses `bar.red`, each with the first of these instructions. Numbers that no barrier has are left out.
fn reductions_at_barriers<'a, 'b>(block: &'b Block<'a>, out: &mut BTreeMap<u64, &'b ast::Instruction<'a>>) {
    for statement in &block.statements {
        match statement {
            Statement::Instruction(i) if matches!(i.opcode.text, "bar" | "barrier") => {
                if let (true, Some(&Operand { kind: OperandKind::Int(id), .. })) =
                    (i.modifiers.iter().any(|m| m.text == "red"), i.operands.get(1))
                    && id < limits::BARRIERS as u64
                {
                    out.entry(id).or_insert(i);
                }
            }
            Statement::Block(inner) => reductions_at_barriers(inner, out),
            Statement::Instruction(_) | Statement::Label(_) | Statement::BranchTargets(_) => {}
        }
    }
}

fn collect_shared<'a>(block: &'a Block<'a>, out: &mut Vec<(Shared<'a>, &'a ast::Variable<'a>)>) {
    let here = block.variables.iter().filter(|v| v.space == Space::Shared);
    out.extend(here.map(|v| (Shared::Declared(v.name.span.start), v)));
    for statement in &block.statements {
        if let Statement::Block(inner) = statement {
            collect_shared(inner, out);
        }
    }
}

fn count_mentions<'a>(block: &'a Block<'a>, out: &mut HashMap<&'a str, u32>) {
    fn operand<'a>(o: &Operand<'a>, out: &mut HashMap<&'a str, u32>) {
        match &o.kind {
            OperandKind::Name { name, .. } | OperandKind::Sum(name, _) | OperandKind::Address(Some(name), _) => {
                *out.entry(name).or_default() += 1;
            }
            OperandKind::Vector(list) | OperandKind::List(list) => list.iter().for_each(|o| operand(o, out)),
            OperandKind::Pair(a, b) => {
                operand(a, out);
                operand(b, out);
            }
            OperandKind::Not(a) | OperandKind::Negative(a) => operand(a, out),
            OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_) | OperandKind::Address(None, _) => {}
        }
    }
    for statement in &block.statements {
        match statement {
            Statement::Instruction(i) => i.operands.iter().for_each(|o| operand(o, out)),
            Statement::Block(inner) => count_mentions(inner, out),
            Statement::Label(_) | Statement::BranchTargets(_) => {}
        }
    }
}

impl<'a> Kernel<'_, 'a> {
    fn block(&mut self, block: &'a Block<'a>) {
        if let Err(error) = self.open(block) {
            self.errors.push(error);
            return;
        }
        // nvcc puts each call into a block of its own, together with its parameters. A block that calls a host function is lowered as a whole.
        let has_parameters = block.variables.iter().any(|v| v.space == Space::Param);
        let host_call = block.statements.iter().find_map(|s| match s {
            Statement::Instruction(i) if i.opcode.text == "call" => print::host_arguments(i).map(|count| (i, count)),
            _ => None,
        });
        if let (true, Some((call, count))) = (has_parameters, host_call) {
            if let Err(error) = self.host_call(block, call, count) {
                self.errors.push(error);
            }
            self.code.scopes.pop();
            return;
        }
        for statement in &block.statements {
            if self.errors.len() >= MAX_ERRORS || self.has_too_many_statements() {
                break;
            }
            match statement {
                Statement::Block(inner) => match self.nest() {
                    Ok(()) => {
                        self.block(inner);
                        self.unnest();
                    }
                    Err(error) => self.errors.push(error),
                },
                Statement::BranchTargets(_) => {}
                Statement::Label(word) => {
                    self.go_to_line(word.span);
                    let to = self.code.scopes.last().expect("inside of a block").labels[word.text];
                    self.b.end(Term::Jump(to), to);
                }
                Statement::Instruction(inst) => {
                    self.go_to_line(inst.span);
                    self.b.ordered = false;
                    self.b.variables = Variables::NONE;
                    let counted = if self.is_in_function() { self.count_statement(inst.span) } else { Ok(()) };
                    if let Err(error) = counted.and_then(|()| self.guarded(inst)) {
                        self.errors.push(error);
                    }
                }
            }
        }
        self.code.scopes.pop();
    }

    /// Sets the source line of what follows. Code of the library has the line of the instruction that it replaces.
    fn go_to_line(&mut self, span: Span) {
        if !self.is_in_library() {
            self.b.line = self.lines.line(span.start);
        }
    }

    /// Opens the scope of a block with its declarations.
    fn open(&mut self, block: &'a Block<'a>) -> Result<()> {
        let mut scope = Scope::default();
        scope.declare(&block.registers)?;
        for variable in &block.variables {
            let name = variable.name;
            let place = match variable.space {
                Space::Shared => match self.shared.declared.get(&name.span.start) {
                    Some(place) => place.clone(),
                    None => {
                        let message = "a call reaches this function in a form that nvcc does not produce";
                        return Err(Error::lacks(name.span, Feature::Calls, message));
                    }
                },
                Space::Local => self.place_local(variable)?,
                Space::Param => {
                    let argument = self.new_argument(variable)?;
                    if variable.elements != Some(1) {
                        self.clear_argument(argument);
                    }
                    Place::Argument(argument)
                }
                Space::Global | Space::Const => {
                    return Err(Error::new(name.span, "this kind of variable belongs outside of a kernel"));
                }
            };
            if scope.places.insert(name.text, place).is_some() {
                return Err(Error::new(name.span, format!("`{}` is declared twice", name.text)));
            }
        }
        let mut label = None;
        for statement in &block.statements {
            match statement {
                Statement::Label(word) => {
                    let id = self.b.block();
                    if scope.labels.insert(word.text, id).is_some() {
                        return Err(Error::new(word.span, format!("the label `{}` stands twice", word.text)));
                    }
                    label = Some(word);
                }
                Statement::BranchTargets(list) => {
                    if let Some(name) = label.take() {
                        scope.tables.insert(name.text, list);
                    }
                }
                _ => label = None,
            }
        }
        self.code.scopes.push(scope);
        Ok(())
    }

    /// Lowers an instruction with its guard.
    fn guarded(&mut self, inst: &ast::Instruction<'a>) -> Result<()> {
        let Some((name, negated)) = inst.guard else { return self.instruction(inst) };
        let Reg::Pred(p) = self.known_register(name.text, name.span)? else {
            return Err(Error::new(name.span, format!("`{}` is not a predicate", name.text)));
        };
        let guard = Pred::Reg(p, negated);
        if matches!(inst.opcode.text, "bra" | "ret" | "exit" | "brx") {
            return self.branch(inst, guard);
        }
        if inst.opcode.text == "call" {
            return self.around(guard, inst);
        }
        // If lowering stays within one block and adds no guards of its own, only some of its instructions need the guard: those that write a PTX
        // register, access memory, or depend on the active lanes.
        let constant_bytes = self.constant_bytes;
        let mark = self.b.mark();
        let temporaries = self.b.function.classes.len();
        let carry = self.code.carry;
        self.instruction(inst)?;
        if let Some(insts) = self.b.since(&mark) {
            let writes_guard = insts.iter().any(|i| i.p == Some(p));
            if insts.iter().all(|i| !i.is_partial()) && !writes_guard && carry == self.code.carry {
                for i in insts {
                    let temporary = i.defs().all(|v| v.index() >= temporaries && !self.named.contains_key(&v));
                    if temporary && i.is_pure() && !may_fault(i, constant_bytes) {
                        i.origin = Origin::Ahead;
                    } else {
                        i.guard = guard;
                    }
                }
                return Ok(());
            }
        }
        self.b.rewind(&mark);
        self.around(guard, inst)
    }

    /// Lowers an instruction inside a branch that skips it for the lanes in which the guard is false.
    fn around(&mut self, guard: Pred, inst: &ast::Instruction<'a>) -> Result<()> {
        let (inside, after) = (self.b.block(), self.b.block());
        self.b.end(Term::Branch { when: guard, then: inside, otherwise: after }, inside);
        self.instruction(inst)?;
        self.b.end(Term::Jump(after), after);
        Ok(())
    }

    fn instruction(&mut self, i: &ast::Instruction<'a>) -> Result<()> {
        let mut mods = Mods::new(i);
        if refusal::is_asynchronous(i) {
            let (feature, reason) = refusal::reason(i);
            return Err(Error::lacks(i.opcode.span, feature, reason));
        }
        let done = self.half(i, &mut mods)?
            || self.integer(i, &mut mods)?
            || self.logic(i, &mut mods)?
            || self.float(i, &mut mods)?
            || self.conversion(i, &mut mods)?
            || self.memory(i, &mut mods)?
            || self.atomic(i, &mut mods)?
            || self.texture(i, &mut mods)?
            || self.video(i, &mut mods)?
            || self.warp(i, &mut mods)?
            || self.control(i, &mut mods)?;
        if !done {
            let (feature, reason) = refusal::reason(i);
            return Err(Error::lacks(i.opcode.span, feature, reason));
        }
        mods.finish()
    }

    /// The instruction's operands, whose number must be `N`.
    fn operands<'i, const N: usize>(&self, i: &'i ast::Instruction<'a>) -> Result<&'i [Operand<'a>; N]> {
        i.operands.as_slice().try_into().map_err(|_| {
            let message = format!("`{}` has {N} operands here, not {}", i.opcode.text, i.operands.len());
            Error::new(i.span, message)
        })
    }

    /// Emits a trap, taken by the lanes in which the predicate is true.
    fn trap(&mut self, when: Pred, code: u32) {
        let mut inst =
            self.b.inst(Op::Trap {}, [crate::mir::Val::ZERO, crate::mir::Val::Imm(code), crate::mir::Val::ZERO]);
        inst.guard = when;
        self.b.push(inst);
    }
}

/// Whether an instruction is a load from the constant space that may be a fault: its address is not known, or misaligned, or beyond the bytes that
/// every launch has.
fn may_fault(inst: &Inst, constant_bytes: u32) -> bool {
    let Op::Ldc { kind, align } = inst.op else { return false };
    let bytes = match kind {
        LoadType::U8 | LoadType::S8 => 1,
        LoadType::U16 | LoadType::S16 => 2,
        LoadType::B32 => 4,
    };
    let align = match align {
        Alignment::Natural => bytes,
        Alignment::Bytes8 => 8,
        Alignment::Bytes16 => 16,
    };
    let Some(base) = inst.src[0].constant() else { return true };
    let at = base.wrapping_add(inst.offset as u32);
    !at.is_multiple_of(align) || at.checked_add(bytes).is_none_or(|end| end > constant_bytes)
}

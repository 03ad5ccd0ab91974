//! The device functions of a module: which of them call each other, and whose addresses are taken.

use super::kernel::Declared;
use super::module;
use crate::mir::{BlockId, cfg};
use crate::ptx::ast::{self, Block, Function, InitValue, Instruction, Operand, OperandKind, Space, Statement};
use std::collections::{HashMap, HashSet};

/// Distance between the addresses of two functions. No variable has such an address.
const ADDRESS_STEP: u64 = 16;

/// The sizes of the parameters and the results in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Sizes of the parameters.
    pub parameters: Vec<u64>,
    /// Sizes of the results.
    pub results: Vec<u64>,
}

impl Signature {
    /// The signature of a device function.
    pub fn of(function: &Function<'_>) -> Self {
        let bytes = |list: &[ast::Variable<'_>]| list.iter().map(|v| module::size(v).unwrap_or(0)).collect();
        Self { parameters: bytes(&function.params), results: bytes(&function.results) }
    }
}

/// A device function with a body.
#[derive(Clone, Debug)]
pub struct Callable<'a> {
    /// The function.
    pub function: &'a Function<'a>,
    /// Its body.
    pub body: &'a Block<'a>,
    /// Its parameters and results.
    pub signature: Signature,
    /// Its address.
    pub address: u64,
    /// Whether its address is taken anywhere: an indirect call can reach only such a function.
    pub taken: bool,
    /// The number of its circle: the functions that can call each other recursively with it. `None` if it is not recursive.
    pub circle: Option<usize>,
    calls: Calls<'a>,
}

/// The names declared between a pair of braces.
struct Names<'a> {
    registers: Declared<'a>,
    /// Sizes in bytes of the variables of the parameter space.
    sizes: HashMap<&'a str, u64>,
}

/// The functions that a body calls, and the names that it mentions.
#[derive(Clone, Debug, Default)]
struct Calls<'a> {
    direct: Vec<&'a str>,
    indirect: Vec<Signature>,
    mentioned: Vec<&'a str>,
}

/// The device functions of a module.
#[derive(Debug, Default)]
pub struct CallGraph<'a> {
    functions: Vec<Callable<'a>>,
    /// Functions by their names and aliases.
    by_name: HashMap<&'a str, usize>,
}

impl<'a> CallGraph<'a> {
    /// Builds the call graph of a module.
    pub fn new(module: &'a ast::Module<'a>) -> Self {
        let mut graph = Self::default();
        for function in module.functions.iter().filter(|function| !function.entry) {
            let Some(body) = &function.body else { continue };
            let number = graph.functions.len();
            let address = (number as u64 + 1) * ADDRESS_STEP;
            let signature = Signature::of(function);
            let calls = Calls::of(body);
            graph.by_name.entry(function.name.text).or_insert(number);
            graph.functions.push(Callable { function, body, signature, address, taken: false, circle: None, calls });
        }
        for (name, function) in &module.aliases {
            if let Some(&number) = graph.by_name.get(function.text) {
                graph.by_name.entry(name.text).or_insert(number);
            }
        }
        graph.find_taken(module);
        graph.find_circles();
        graph
    }

    /// The function of this name.
    pub fn get(&self, name: &str) -> Option<&Callable<'a>> {
        self.by_name.get(name).map(|&number| &self.functions[number])
    }

    /// All names of functions, with the functions.
    pub fn names(&self) -> impl Iterator<Item = (&'a str, &Callable<'a>)> {
        self.by_name.iter().map(|(name, &number)| (*name, &self.functions[number]))
    }

    /// The functions that an indirect call with these parameters and results may reach, in the order of the file.
    pub fn targets<'g>(&'g self, signature: &Signature) -> impl Iterator<Item = &'g Callable<'a>> + use<'g, 'a> {
        let signature = signature.clone();
        self.functions.iter().filter(move |f| f.taken && f.signature == signature)
    }

    /// The bodies of all functions that a kernel's body may call, directly or not, in the order of the file.
    pub fn reachable(&self, body: &'a Block<'a>) -> Vec<&'a Block<'a>> {
        let mut seen = vec![false; self.functions.len()];
        let mut waiting = self.callees(&Calls::of(body));
        while let Some(number) = waiting.pop() {
            if !std::mem::replace(&mut seen[number], true) {
                waiting.extend(self.callees(&self.functions[number].calls));
            }
        }
        self.functions.iter().zip(seen).filter(|(_, seen)| *seen).map(|(function, _)| function.body).collect()
    }

    fn callees(&self, calls: &Calls<'a>) -> Vec<usize> {
        let direct = calls.direct.iter().filter_map(|name| self.by_name.get(name).copied());
        let may_reach = |f: &Callable<'a>| f.taken && calls.indirect.contains(&f.signature);
        let indirect = self.functions.iter().enumerate().filter(|(_, f)| may_reach(f)).map(|(number, _)| number);
        direct.chain(indirect).collect()
    }

    /// A function's address is taken where it is mentioned and not called, in code or in the initial value of a variable.
    fn find_taken(&mut self, module: &'a ast::Module<'a>) {
        let kernels = module.functions.iter().filter(|f| f.entry).filter_map(|f| f.body.as_ref());
        let in_kernels = kernels.flat_map(|body| Calls::of(body).mentioned);
        let in_functions = self.functions.iter().flat_map(|f| f.calls.mentioned.iter().copied());
        let in_variables = module.variables.iter().flat_map(|v| &v.init).filter_map(|init| match init.value {
            InitValue::Address { symbol, .. } => Some(symbol.text),
            _ => None,
        });
        let mentioned: HashSet<&str> = in_kernels.chain(in_functions).chain(in_variables).collect();
        for (name, &number) in &self.by_name {
            self.functions[number].taken |= mentioned.contains(name);
        }
    }

    /// Finds circles: strongly connected components, by Kosaraju's algorithm.
    fn find_circles(&mut self) {
        let count = self.functions.len();
        let next: Vec<Vec<usize>> = self.functions.iter().map(|f| self.callees(&f.calls)).collect();
        let node = |number: usize| BlockId(number as u32);
        // A root node with the number `count`, which calls all functions.
        let (mut forward, mut backward) = (vec![Vec::new(); count + 1], vec![Vec::new(); count + 1]);
        for (from, callees) in next.iter().enumerate() {
            for &to in callees {
                forward[from].push(node(to));
                backward[to].push(node(from));
            }
        }
        forward[count] = (0..count).map(node).collect();
        let mut component = vec![None; count];
        for root in cfg::postorder(node(count), &forward).into_iter().rev().skip(1) {
            let mut waiting = vec![root.index()];
            while let Some(number) = waiting.pop() {
                if component[number].is_none() {
                    component[number] = Some(root.index());
                    waiting.extend(backward[number].iter().map(|node| node.index()));
                }
            }
        }
        for (number, callees) in next.iter().enumerate() {
            let in_circle = callees.iter().any(|&to| component[to] == component[number]);
            self.functions[number].circle = component[number].filter(|_| in_circle);
        }
    }
}

impl<'a> Calls<'a> {
    fn of(body: &'a Block<'a>) -> Self {
        let mut calls = Self::default();
        calls.block(body, &mut Vec::new());
        calls
    }

    /// Collects the calls of a block. `around` has the names of the enclosing blocks.
    fn block(&mut self, block: &'a Block<'a>, around: &mut Vec<Names<'a>>) {
        let parameters = block.variables.iter().filter(|v| v.space == Space::Param);
        let sizes = parameters.map(|v| (v.name.text, module::size(v).unwrap_or(0))).collect();
        around.push(Names { registers: Declared::new(&block.registers), sizes });
        for statement in &block.statements {
            match statement {
                Statement::Block(inner) => self.block(inner, around),
                Statement::Instruction(i) if i.opcode.text == "call" => self.call(i, around),
                Statement::Instruction(i) => i.operands.iter().for_each(|operand| self.operand(operand)),
                Statement::Label(_) | Statement::BranchTargets(_) => {}
            }
        }
        around.pop();
    }

    fn call(&mut self, call: &'a Instruction<'a>, around: &[Names<'a>]) {
        let Some(Call { callee, results, parameters }) = Call::of(call) else { return };
        if around.iter().any(|names| names.registers.type_of(callee).is_some()) {
            let bytes = |list: &[Operand<'a>]| {
                let size = |name| around.iter().rev().find_map(|names| names.sizes.get(name)).copied().unwrap_or(0);
                list.iter().map(|operand| parameter(operand).map_or(0, size)).collect()
            };
            self.indirect.push(Signature { parameters: bytes(parameters), results: bytes(results) });
        } else {
            self.direct.push(callee);
        }
    }

    fn operand(&mut self, operand: &'a Operand<'a>) {
        match &operand.kind {
            OperandKind::Name { name, part: None } | OperandKind::Sum(name, _) => self.mentioned.push(name),
            OperandKind::Vector(list) | OperandKind::List(list) => list.iter().for_each(|o| self.operand(o)),
            _ => {}
        }
    }
}

/// The parts of a `call`.
pub struct Call<'i, 'a> {
    /// A function, or the register that holds its address.
    pub callee: &'a str,
    /// The variables that receive the results.
    pub results: &'i [Operand<'a>],
    /// The variables that hold the parameters.
    pub parameters: &'i [Operand<'a>],
}

impl<'i, 'a> Call<'i, 'a> {
    /// Splits `call (results), callee, (parameters), prototype;`, of which all but the callee may be missing.
    pub fn of(call: &'i Instruction<'a>) -> Option<Self> {
        let (results, rest) = match call.operands.as_slice() {
            [Operand { kind: OperandKind::List(list), .. }, rest @ ..] => (list.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let [Operand { kind: OperandKind::Name { name, part: None }, .. }, rest @ ..] = rest else { return None };
        let parameters = match rest {
            [Operand { kind: OperandKind::List(list), .. }, ..] => list.as_slice(),
            _ => &[],
        };
        Some(Self { callee: name, results, parameters })
    }
}

/// The name of the variable that is passed as a parameter or result of a call.
pub fn parameter<'a>(operand: &Operand<'a>) -> Option<&'a str> {
    match operand.kind {
        OperandKind::Address(Some(name), 0) | OperandKind::Name { name, part: None } => Some(name),
        _ => None,
    }
}

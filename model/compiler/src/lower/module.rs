//! Variables of the module: their places and their initial values.

use super::atomic;
use super::call_graph::CallGraph;
use super::refusal::DYNAMIC_PARALLELISM;
use super::types::{Result, Ty, refused_type};
use crate::diagnostic::{Error, Feature};
use crate::ptx::ast::{Function, InitValue, Module, Space, Variable};
use crate::ptx::type_size;
use crate::{AddressBits, Options, Textures, WideAccesses};
use gpurf_isa::image::{DataRelocation, Symbol, SymbolSpace};
use gpurf_isa::machine;
use std::collections::HashMap;

/// Maximum size of a variable in bytes.
const MAX_VARIABLE: u64 = 1 << 30;

/// The place of a name: a variable, a parameter or a function.
#[derive(Clone, Debug)]
pub enum Place {
    /// In global memory, at an address that the loader chooses.
    Global,
    /// At an address of the constant space; also for parameters of a kernel.
    Constant(u32),
    /// At an address of shared memory, with the variable's index among the kernel's shared variables.
    Shared(u32, usize),
    /// At an address of local memory.
    Local(u32),
    /// In the frame of a recursive function, at this offset from its start.
    Frame(u32),
    /// A parameter or result of a call, by its number.
    Argument(usize),
    /// A device function with this address.
    Function(u64),
    /// It cannot be used: the missing feature and the reason.
    Refused(Feature, String),
}

/// The properties of the module that the lowering of kernels needs.
#[derive(Default)]
pub struct Environment<'a> {
    /// The places of functions, and of variables with the same place in all kernels.
    pub places: HashMap<&'a str, Place>,
    /// Shared variables; each kernel places the ones that it mentions.
    pub shared: Vec<&'a Variable<'a>>,
    /// Variables of the module, by name.
    pub variables: HashMap<&'a str, &'a Variable<'a>>,
    /// Whether 64-bit atomic operations use locks.
    pub locks: bool,
    /// The end of the constant variables in the constant space; 0 if there are none.
    pub constant_end: u32,
    /// Which 64-bit accesses are single; they use the same locks.
    pub wide: WideAccesses,
    /// Number of bits of a global address; with 32, the upper word is assumed to be zero.
    pub address_bits: AddressBits,
    /// What fetches from textures become.
    pub textures: Textures,
    /// Device functions.
    pub calls: CallGraph<'a>,
    /// Why some variables cannot be used. These errors do not affect kernels that do not mention the variables.
    pub refused: Vec<Error>,
}

/// Size of a variable in bytes; 0 for an array without a size.
pub fn size(variable: &Variable<'_>) -> Result<u64> {
    let Some(element) = type_size(variable.ty.text) else {
        let Error { feature, .. } = refused_type(variable.ty.text, variable.ty.span);
        let message = match feature {
            Feature::Textures | Feature::Surfaces => {
                "references to textures and surfaces are outside of the subset: use objects".to_owned()
            }
            _ => format!("variables of type `.{}` are outside of the subset", variable.ty.text),
        };
        return Err(Error::lacks(variable.ty.span, feature, message));
    };
    match variable.elements.unwrap_or(0).checked_mul(element) {
        Some(bytes) if bytes <= MAX_VARIABLE => Ok(bytes),
        _ => {
            let message = format!("this variable has more than {MAX_VARIABLE} bytes");
            Err(Error::lacks(variable.name.span, Feature::Room, message))
        }
    }
}

/// Places the module's variables. An error in a variable affects only the kernels that mention it; `errors` receives the errors of the whole module.
pub fn environment<'a>(
    module: &'a Module<'a>,
    options: &Options,
    errors: &mut Vec<Error>,
) -> (Environment<'a>, Vec<Symbol>) {
    let (wide, address_bits, textures) = (options.wide_accesses, options.address_bits, options.textures);
    let (calls, locks) = (CallGraph::new(module), atomic::need_locks(module, wide));
    let mut environment = Environment { calls, locks, wide, address_bits, textures, ..Environment::default() };
    let mut symbols = Vec::new();
    // Parameters come first. The space for them is that of the largest kernel: addresses must not depend on which kernels are wanted.
    let kernels = module.functions.iter().filter(|function| function.entry);
    let parameters = kernels.map(parameter_bytes).max().unwrap_or(0).max(machine::PARAMETER_SPACE);
    let mut constant = parameters;
    for function in &module.functions {
        // The address of a kernel serves only to launch it.
        let (feature, reason) = if function.entry {
            (Feature::DynamicParallelism, DYNAMIC_PARALLELISM)
        } else {
            (Feature::FunctionPointers, "it has no body in this file, so it has no address")
        };
        let place = Place::Refused(feature, reason.to_owned());
        environment.places.insert(function.name.text, place);
    }
    for (name, callable) in environment.calls.names() {
        environment.places.insert(name, Place::Function(callable.address));
    }
    for variable in &module.variables {
        let earlier = environment.variables.insert(variable.name.text, variable);
        let twice = || Error::new(variable.name.span, format!("`{}` is declared twice", variable.name.text));
        let place = match variable.space {
            Space::Shared => {
                // All dynamic memory begins at one address, so a second declaration of it changes nothing.
                let is_dynamic = |v: &Variable<'_>| v.space == Space::Shared && v.elements.is_none();
                if earlier.is_some_and(|earlier| !(is_dynamic(earlier) && is_dynamic(variable))) {
                    errors.push(twice());
                }
                environment.shared.push(variable);
                continue;
            }
            Space::Local | Space::Param => {
                errors.push(Error::new(variable.name.span, "this kind of variable belongs into a kernel"));
                continue;
            }
            Space::Global | Space::Const if variable.external => {
                let name = variable.name.text;
                let reason = format!("`{name}` is declared .extern: link the modules before (nvcc without -rdc=true)");
                Place::Refused(Feature::Extern, reason)
            }
            Space::Global => Place::Global,
            Space::Const => Place::Constant(constant.next_multiple_of(variable.align)),
        };
        if environment.places.insert(variable.name.text, place.clone()).is_some() || earlier.is_some() {
            errors.push(twice());
        }
        match symbol(variable, &place, machine::CONSTANT_SPACE - parameters, &environment.calls) {
            Ok(Some(symbol)) => {
                if let SymbolSpace::Constant { offset } = symbol.space {
                    constant = offset + symbol.bytes;
                }
                symbols.push(symbol);
            }
            Ok(None) => {}
            Err(error) => environment.refuse(variable.name.text, error),
        }
    }
    refuse_holders(module, &mut environment);
    symbols.retain(|symbol| !matches!(environment.places.get(symbol.name.as_str()), Some(Place::Refused(..))));
    let ends = symbols.iter().filter_map(|symbol| match symbol.space {
        SymbolSpace::Constant { offset } => Some(offset + symbol.bytes),
        SymbolSpace::Global => None,
    });
    environment.constant_end = ends.max().unwrap_or(0);
    (environment, symbols)
}

/// Refuses variables whose initial value is an address that cannot be used. Their own address cannot be used then either, and so on.
fn refuse_holders<'a>(module: &'a Module<'a>, environment: &mut Environment<'a>) {
    let mut holders: HashMap<&str, Vec<(&'a str, &'a InitValue<'a>)>> = HashMap::new();
    for variable in &module.variables {
        for init in &variable.init {
            if let InitValue::Address { symbol, .. } = init.value {
                holders.entry(symbol.text).or_default().push((variable.name.text, &init.value));
            }
        }
    }
    let mut wrong: Vec<&str> = holders.keys().copied().collect();
    // The messages must not depend on the order of the hash map.
    wrong.sort_unstable();
    while let Some(name) = wrong.pop() {
        for (holder, value) in holders.get(name).into_iter().flatten() {
            let refused = matches!(environment.places.get(holder), None | Some(Place::Refused(..)));
            if let (false, Some(error)) = (refused, environment.wrong_address(value)) {
                environment.refuse(holder, error);
                wrong.push(holder);
            }
        }
    }
}

impl<'a> Environment<'a> {
    /// Makes a variable unusable in all kernels.
    fn refuse(&mut self, name: &'a str, error: Error) {
        let reason = format!("variable `{name}` may not be used: {}", error.message);
        self.places.insert(name, Place::Refused(error.feature, reason));
        self.refused.push(error);
    }

    /// The error in an initial value that is an address, if there is one.
    fn wrong_address(&self, value: &InitValue<'a>) -> Option<Error> {
        let InitValue::Address { symbol, .. } = value else { return None };
        let (feature, message) = match self.places.get(symbol.text) {
            Some(Place::Global | Place::Function(_)) => return None,
            Some(Place::Refused(feature, reason)) => (*feature, reason.clone()),
            Some(_) => {
                let message = "only addresses of functions and of variables in global memory may be initial values";
                (Feature::Other, message.to_owned())
            }
            None => (Feature::Other, format!("there is no variable `{}`", symbol.text)),
        };
        Some(Error::lacks(symbol.span, feature, message))
    }
}

/// Size of a kernel's parameters in bytes; 0 if they exceed the limit or have unknown types, since such a kernel is refused.
fn parameter_bytes(function: &Function<'_>) -> u32 {
    let end = function
        .params
        .iter()
        .try_fold(0u64, |end, parameter| Some(end.next_multiple_of(parameter.align.into()) + size(parameter).ok()?));
    let allowed = |end: &u32| *end <= machine::PARAMETER_LIMIT;
    end.and_then(|end| u32::try_from(end).ok()).filter(allowed).unwrap_or(0)
}

/// The image symbol of a variable. `most` is the number of bytes available for constants.
fn symbol(variable: &Variable<'_>, place: &Place, most: u32, functions: &CallGraph<'_>) -> Result<Option<Symbol>> {
    let space = match *place {
        Place::Global => SymbolSpace::Global,
        Place::Constant(offset) => SymbolSpace::Constant { offset },
        _ => return Ok(None),
    };
    let bytes = size(variable)? as u32;
    if let SymbolSpace::Constant { offset } = space
        && u64::from(offset) + u64::from(bytes) > machine::CONSTANT_SPACE.into()
    {
        let message = format!("the constant variables have more than {most} bytes");
        return Err(Error::lacks(variable.name.span, Feature::Room, message));
    }
    let element = type_size(variable.ty.text).unwrap_or(1);
    let mut initial = Vec::new();
    let mut relocations = Vec::new();
    for init in &variable.init {
        let wrong = |message: &str| Err(Error::new(init.span, message));
        let at = init.index * element;
        let value = match init.value {
            InitValue::Int(value) => {
                if element < 8 {
                    let unused = 64 - element * 8;
                    let zero_extended = value << unused >> unused;
                    let sign_extended = ((value << unused) as i64 >> unused) as u64;
                    if value != zero_extended && value != sign_extended {
                        return wrong("this value does not fit into the variable's type");
                    }
                }
                if Ty::of(variable.ty.text).is_some_and(Ty::float) {
                    if element == 4 {
                        u64::from((value as i64 as f32).to_bits())
                    } else {
                        (value as i64 as f64).to_bits()
                    }
                } else {
                    value
                }
            }
            InitValue::F32(bits) if element == 4 => u64::from(bits),
            InitValue::F64(bits) if element == 8 => bits,
            InitValue::F64(bits) if element == 4 => u64::from((f64::from_bits(bits) as f32).to_bits()),
            InitValue::F32(_) | InitValue::F64(_) => return wrong("this value has not the variable's type"),
            InitValue::Address { symbol, offset, .. } => {
                if element != 8 {
                    return wrong("an address has 64 bits");
                }
                if let Some(function) = functions.get(symbol.text) {
                    function.address.wrapping_add(offset as u64)
                } else {
                    relocations.push(DataRelocation { at: at as u32, symbol: symbol.text.to_owned(), addend: offset });
                    0
                }
            }
        };
        initial.resize(at as usize, 0);
        initial.extend_from_slice(&value.to_le_bytes()[..element as usize]);
    }
    Ok(Some(Symbol { name: variable.name.text.to_owned(), space, bytes, align: variable.align, initial, relocations }))
}

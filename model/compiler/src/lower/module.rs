//! Variables of the module: where they lie and what they hold at the start.

use super::types::{Result, Ty};
use crate::diagnostic::Error;
use crate::ptx::ast::{InitValue, Module, Space, Variable};
use crate::ptx::type_size;
use gpurf_isa::image::{DataRelocation, Symbol, SymbolSpace};
use gpurf_isa::machine;
use std::collections::HashMap;

/// Largest variable in bytes.
const MAX_VARIABLE: u64 = 1 << 30;

/// Where a variable lies.
#[derive(Clone, Debug)]
pub enum Place {
    /// In global memory, where the loader puts it.
    Global,
    /// At an address of the constant space, parameters included.
    Constant(u32),
    /// At an address of shared memory; which of the kernel's variables it is.
    Shared(u32, usize),
    /// At an address of local memory.
    Local(u32),
    /// It may not be used, for this reason.
    Refused(String),
}

/// What kernels know of the module.
#[derive(Default)]
pub struct Environment<'a> {
    /// Variables that lie at the same place for all kernels, and functions.
    pub places: HashMap<&'a str, Place>,
    /// Shared variables; each kernel places those that it mentions.
    pub shared: Vec<&'a Variable<'a>>,
}

/// Size of a variable in bytes; an array without a size has none.
pub fn size(variable: &Variable<'_>) -> Result<u64> {
    let element = type_size(variable.ty.text).unwrap_or(1);
    match variable.elements.unwrap_or(0).checked_mul(element) {
        Some(bytes) if bytes <= MAX_VARIABLE => Ok(bytes),
        _ => Err(Error::new(variable.name.span, format!("this variable has more than {MAX_VARIABLE} bytes"))),
    }
}

/// Places the module's variables.
pub fn environment<'a>(module: &'a Module<'a>, errors: &mut Vec<Error>) -> (Environment<'a>, Vec<Symbol>) {
    let mut environment = Environment::default();
    let mut symbols = Vec::new();
    let mut constant = machine::PARAMETER_SPACE;
    for function in &module.functions {
        let reason = "addresses of functions are outside of the subset";
        environment.places.insert(function.name.text, Place::Refused(reason.to_owned()));
    }
    for variable in &module.variables {
        let place = match variable.space {
            Space::Shared => {
                environment.shared.push(variable);
                continue;
            }
            Space::Local | Space::Param => {
                errors.push(Error::new(variable.name.span, "this kind of variable belongs into a kernel"));
                continue;
            }
            Space::Global | Space::Const if variable.external => Place::Refused(format!(
                "`{}` is declared .extern: link the modules before (nvcc without -rdc=true)",
                variable.name.text
            )),
            Space::Global => Place::Global,
            Space::Const => {
                constant = constant.next_multiple_of(variable.align);
                Place::Constant(constant)
            }
        };
        if environment.places.insert(variable.name.text, place.clone()).is_some() {
            errors.push(Error::new(variable.name.span, format!("`{}` is declared twice", variable.name.text)));
        }
        let symbol = match symbol(variable, &place) {
            Ok(Some(symbol)) => symbol,
            Ok(None) => continue,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if variable.space == Space::Const {
            constant = constant.saturating_add(symbol.bytes);
            if constant > machine::CONSTANT_SPACE {
                let message = format!(
                    "the constant variables have more than {} bytes",
                    machine::CONSTANT_SPACE - machine::PARAMETER_SPACE
                );
                errors.push(Error::new(variable.name.span, message));
                constant = machine::PARAMETER_SPACE;
            }
        }
        symbols.push(symbol);
    }
    for symbol in module.variables.iter().flat_map(|v| &v.init) {
        let InitValue::Address { symbol, .. } = symbol.value else { continue };
        let message = match environment.places.get(symbol.text) {
            Some(Place::Global) => continue,
            Some(Place::Refused(reason)) => reason.clone(),
            Some(_) => "only addresses of variables in global memory may be initial values".to_owned(),
            None => format!("there is no variable `{}`", symbol.text),
        };
        errors.push(Error::new(symbol.span, message));
    }
    (environment, symbols)
}

fn symbol(variable: &Variable<'_>, place: &Place) -> Result<Option<Symbol>> {
    let space = match *place {
        Place::Global => SymbolSpace::Global,
        Place::Constant(offset) => SymbolSpace::Constant { offset },
        _ => return Ok(None),
    };
    let bytes = size(variable)? as u32;
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
                relocations.push(DataRelocation { at: at as u32, symbol: symbol.text.to_owned(), addend: offset });
                0
            }
        };
        initial.resize(at as usize, 0);
        initial.extend_from_slice(&value.to_le_bytes()[..element as usize]);
    }
    Ok(Some(Symbol { name: variable.name.text.to_owned(), space, bytes, align: variable.align, initial, relocations }))
}

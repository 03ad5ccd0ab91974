//! Parameters and results of calls, which are kept in registers.

use crate::diagnostic::{Feature, Span};
use crate::lower::kernel::{Kernel, lacks, wrong};
use crate::lower::module;
use crate::lower::types::Result;
use crate::mir::{V, Val};
use crate::ptx::ast::Variable;
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};

/// A parameter or result of a call: a register for each word.
#[derive(Clone, Debug)]
pub struct Argument {
    pub(super) words: Vec<V>,
    pub(super) bytes: u32,
}

impl<'a> Kernel<'_, 'a> {
    /// Creates a variable of the parameter space. Returns its number.
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

    /// Sets a variable of the parameter space to zero, since it may be written in parts.
    pub fn clear_argument(&mut self, number: usize) {
        for word in self.words(&[number]).collect::<Vec<_>>() {
            self.b.assign(word, Val::ZERO);
        }
    }

    pub(super) fn words(&self, arguments: &[usize]) -> impl Iterator<Item = V> + use<> {
        let words: Vec<V> = arguments.iter().flat_map(|&n| self.calls.arguments[n].words.iter().copied()).collect();
        words.into_iter()
    }

    pub(super) fn pass(&mut self, from: &[usize], to: &[usize]) {
        for (from, to) in self.words(from).zip(self.words(to)) {
            self.b.assign(to, Val::Reg(from));
        }
    }

    pub(super) fn copied(&mut self, word: V) -> V {
        let copy = self.b.general();
        self.b.assign(copy, Val::Reg(word));
        copy
    }

    /// The word of an argument that an access of `bytes` bytes lies in, and the first bit of the access in that word.
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
}

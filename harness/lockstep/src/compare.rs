//! The rules of comparison.

use std::ops::Range;

use gpurf_blocks::{Declaration, Field, Role, Signal};
use verilated::{Library, Wiring};

use crate::blame;

/// A signal, or an element of an array, that differs between the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Index of the signal in the declaration.
    pub signal: usize,
    /// Index of the element.
    pub element: usize,
}

/// Finds the differences between two records in all that is compared.
///
/// Not called while both sides are equal: `verilated` compares the RTL's variables in place with the model's record. If it finds them equal, so do these rules.
/// The result does not depend on the values that either side leaves in a payload that is not valid.
pub struct Comparator {
    declaration: Declaration,
    /// Signals that are compared, in the order of declaration: outputs and probes that the RTL has.
    compared: Vec<usize>,
    /// The library of the RTL. `None`: there is no RTL.
    library: Option<Library>,
}

impl Comparator {
    /// Compares every signal of the declaration except inputs and signals that the RTL lacks.
    pub fn new(declaration: &Declaration, library: Option<&Library>) -> Self {
        let absent = library.map_or(&[][..], Library::absent);
        let is_compared = |i: &usize| declaration.signals[*i].role != Role::Input && !absent.contains(i);
        let compared = (0..declaration.signals.len()).filter(is_compared).collect();
        Self { declaration: declaration.clone(), compared, library: library.cloned() }
    }

    /// The wiring of the RTL.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn wiring(&self) -> Result<&Wiring, &str> {
        self.library.as_ref().ok_or("there is no RTL").and_then(Library::wiring)
    }

    /// For each signal the block that drives its first element, or without wiring the block that declares it. For an input: `inputs`.
    pub(crate) fn scopes(&self) -> Vec<String> {
        let wiring = self.wiring().ok();
        let of = |signal: &Signal| match (signal.role, wiring) {
            (Role::Input, _) => "inputs",
            (_, Some(wiring)) => &wiring.instances()[blame::driver(wiring, &signal.field)].module,
            (_, None) => signal.field.block.unwrap_or(self.declaration.block),
        };
        self.declaration.signals.iter().map(|signal| of(signal).to_owned()).collect()
    }

    /// The declaration.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Number of signals compared; each array element counts as one.
    pub fn signals_compared(&self) -> usize {
        self.compared.iter().map(|&i| self.declaration.signals[i].field.count).sum()
    }

    /// All differences between the records, in the order of declaration. A payload is compared if it is valid on both sides;
    /// if it is valid on one side only, the valids themselves differ.
    pub fn differences(&self, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        self.differing(self.compared.iter().copied(), model, rtl)
    }

    /// The differences of the inputs, which may come from a separate environment for each side.
    pub fn input_differences(&self, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        self.differing((0..self.declaration.signals.len()).filter(|&s| self.is_input(s)), model, rtl)
    }

    fn differing(&self, signals: impl Iterator<Item = usize>, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        let mut found = Vec::new();
        for signal in signals {
            let field = &self.declaration.signals[signal].field;
            if model[extent(field)] == rtl[extent(field)] {
                continue;
            }
            for element in 0..field.count {
                if field.bytes(model, element) != field.bytes(rtl, element)
                    && self.declaration.is_valid(model, signal, element)
                    && self.declaration.is_valid(rtl, signal, element)
                {
                    found.push(Difference { signal, element });
                }
            }
        }
        found
    }

    /// Whether a signal is an input.
    pub fn is_input(&self, signal: usize) -> bool {
        self.declaration.signals[signal].role == Role::Input
    }

    /// Whether a signal is compared.
    pub fn is_compared(&self, signal: usize) -> bool {
        self.compared.binary_search(&signal).is_ok()
    }
}

/// The bytes of all elements of a field.
fn extent(field: &Field) -> Range<usize> {
    field.offset..field.offset + field.count * field.elem_bytes
}

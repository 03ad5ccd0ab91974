//! Finds the signals that show each register of the RTL and when they do; writes registers of the RTL with the model's values.
//!
//! The declaration says how a register is compared: as a probe, or by an output that shows it ([`Field::shows`](gpurf_blocks::Field::shows)). This
//! also determines when it is compared: always, or while a valid is high.

use std::collections::BTreeMap;

use gpurf_blocks::{Declaration, Field, Role, Shows, Twin};
use verilated::{Instance, RtlFailure, StateElement};

use crate::memory::copy_memories;
use crate::{Comparator, Records};

/// Why the model's state cannot be copied to the RTL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// Registers that no signal of the model shows: their paths inside the module.
    #[error("the model does not show what these registers of the RTL hold: {}", .0.join(", "))]
    Hidden(Vec<String>),
    /// The RTL's message from the evaluation of its logic.
    #[error("{0}")]
    Rtl(RtlFailure),
}

/// The signals that show each register.
pub struct Registers {
    block: &'static str,
    /// Parts of signals, by the C++ name of the register that they show.
    by_name: BTreeMap<String, Vec<Part>>,
}

/// The part of a signal that shows a register: all elements, some elements, or some bits of one element. Lowest bits come first, as in the register.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    signal: usize,
    /// The first element; `count` is the number of elements.
    first: usize,
    count: usize,
    /// The first bit within an element; `bits` is the number of bits.
    low: usize,
    bits: usize,
    /// Another signal, which has to be high for the register to be shown.
    only_while: Option<usize>,
    /// Index of this part, and the number of equal parts into which the signal is divided.
    place: (usize, usize),
    /// The signal depends on state alone, so it shows the register whatever the inputs are.
    early: bool,
}

/// The place where a bit of a register is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The signal that shows the bit; `element` is the index of its element.
    signal: usize,
    element: usize,
    /// Another signal that has to be high: its index, and the index of its bit or element.
    only_while: Option<(usize, usize)>,
}

impl Registers {
    /// Collects the compared signals that show registers.
    ///
    /// # Panics
    /// When a signal shows a register only while another signal is high, and this other signal does not exist: the declaration is wrong.
    pub fn new(comparator: &Comparator) -> Self {
        let declaration = comparator.declaration();
        let mut by_name: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (index, signal) in
            declaration.signals.iter().enumerate().filter(|(index, _)| comparator.is_compared(*index))
        {
            let field = &signal.field;
            let mut add = |path: &str, place: (usize, usize), only_while, early| {
                let part = Part::of(index, field, place, only_while, early);
                by_name.entry(mangled(declaration.block, path)).or_default().push(part);
            };
            if signal.role == Role::Probe {
                let paths = field.paths();
                paths.iter().enumerate().for_each(|(i, path)| add(path, (i, paths.len()), None, true));
            } else {
                add(field.name, (0, 1), None, true);
            }
            if let Some(Shows { register, parts, valid }) = field.shows {
                let only_while = valid.map(|name| {
                    let found = declaration.signals.iter().position(|s| s.field.name == name);
                    found.unwrap_or_else(|| panic!("{} shows {register} while {name}, which is not there", field.name))
                });
                for i in 0..parts {
                    let path = format!("{}{}", field.scope, register.replace("{}", &i.to_string()));
                    add(&path, (i, parts), only_while, field.early);
                }
            }
        }
        Self { block: declaration.block, by_name }
    }

    /// The parts of signals that show the register of this C++ name; empty if the register is not declared.
    pub fn shown_by(&self, name: &str) -> &[Part] {
        self.by_name.get(name).map_or(&[][..], Vec::as_slice)
    }

    /// Whether a signal that depends on state alone shows the register at this path inside the module: [`copy_state`] requires it.
    pub fn has(&self, path: &str) -> bool {
        self.shown_by(&mangled(self.block, path)).iter().any(|part| part.early)
    }
}

impl Part {
    /// The part with index `place.0` of `place.1` equal parts of a signal.
    fn of(signal: usize, field: &Field, place: (usize, usize), only_while: Option<usize>, early: bool) -> Self {
        let (number, parts) = place;
        let bits = field.bits as usize;
        // Parts of an array are elements, parts of a vector are bits.
        let (first, count, low, bits) = if field.array {
            (number * field.count / parts, field.count / parts, 0, bits)
        } else {
            (0, 1, number * bits / parts, bits / parts)
        };
        Self { signal, first, count, low, bits, only_while, place, early }
    }

    /// The place where bit `bit` is compared. `total`: number of bits of the register, with all elements of an array.
    pub fn of_bit(&self, declaration: &Declaration, bit: usize, total: usize) -> Shown {
        let (number, parts) = self.place;
        Shown {
            signal: self.signal,
            element: self.first + bit * self.count / total,
            only_while: self.only_while.map(|valid| {
                let field = &declaration.signals[valid].field;
                let width = if field.array { field.count } else { field.bits as usize };
                (valid, (number * total + bit) * width / (parts * total))
            }),
        }
    }

    /// Writes bits of the register: all, or only those that are valid in the cycle of this record.
    fn write(&self, declaration: &Declaration, record: &[u8], register: StateElement<'_>, all: bool) {
        let field = &declaration.signals[self.signal].field;
        let width = register.bits as usize;
        let total = register.bytes.len() / register.elem_bytes * width;
        for bit in 0..total {
            let shown = self.of_bit(declaration, bit, total);
            if all || shown.is_compared(declaration, record) {
                let inside = self.low + bit % self.bits;
                let value = field.bytes(record, shown.element)[inside / 8] >> (inside % 8) & 1;
                let byte = &mut register.bytes[bit / width * register.elem_bytes + bit % width / 8];
                let place = bit % width % 8;
                *byte = *byte & !(1 << place) | value << place;
            }
        }
    }
}

impl Shown {
    /// Whether the bit is compared in the cycle of this record.
    pub fn is_compared(&self, declaration: &Declaration, record: &[u8]) -> bool {
        means_something(declaration, record, self.signal, self.element)
            && self.only_while.is_none_or(|(signal, at)| {
                let field = &declaration.signals[signal].field;
                if field.array { field.value(record, at) != 0 } else { field.value(record, 0) >> at & 1 == 1 }
            })
    }
}

/// Whether an element is valid; if its valid is a payload too, that valid must be valid itself.
fn means_something(declaration: &Declaration, record: &[u8], signal: usize, element: usize) -> bool {
    let Some(range) = declaration.valid_range(signal, element) else { return true };
    let by = &declaration.signals[range.signal].field;
    (range.first..range.first + range.len).any(|at| {
        let (high, element) = if by.array {
            (by.bytes(record, at).iter().any(|&byte| byte != 0), at)
        } else {
            (by.value(record, 0) >> at & 1 == 1, 0)
        };
        high && means_something(declaration, record, range.signal, element)
    })
}

/// The C++ name of a path inside a module.
pub fn mangled(block: &str, path: &str) -> String {
    let path = path.replace('.', "__DOT__").replace('[', "__BRA__").replace(']', "__KET__");
    format!("{block}__DOT__{path}")
}

/// The path inside a module that belongs to a C++ name.
pub fn readable(block: &str, name: &str) -> String {
    let path = name.strip_prefix(&format!("{block}__DOT__")).unwrap_or(name);
    path.replace("__BRA__", "[").replace("__KET__", "]").replace("__DOT__", ".")
}

/// Copies the values of the model's registers and memories to the RTL.
///
/// If several signals show a register, those that are valid decide. All combinational logic is evaluated again. The RTL has to be built with
/// [`verilated::Options::state`], and to be out of reset.
///
/// # Errors
/// Registers that no signal of the model shows; a message of the RTL from the evaluation of its logic.
pub fn copy_state(twin: &dyn Twin, rtl: &mut Instance, comparator: &Comparator) -> Result<(), CopyError> {
    let declaration = comparator.declaration();
    // A copy of the twin is used, because filling a record runs a whole cycle with its edge. The registers shown do not depend on the inputs.
    let mut copy = twin.duplicate();
    copy_memories(&mut *copy, rtl);
    let memories: Vec<String> = copy.memories().iter().map(|memory| mangled(declaration.block, &memory.path)).collect();
    let mut record = Records::zeroed(declaration.record_bytes, 1);
    let (inputs, compared) = record.get_mut(0).split_at_mut(declaration.input_bytes);
    if let Some(reset) = declaration.signal("rst_ni") {
        inputs[reset.field.offset] = 1;
    }
    copy.cycle(inputs, compared);
    let registers = Registers::new(comparator);
    let mut hidden = Vec::new();
    for state in 0..rtl.state_count() {
        let name = rtl.state(state).name.to_owned();
        let shown: Vec<&Part> = registers.shown_by(&name).iter().filter(|part| part.early).collect();
        if shown.is_empty() && !memories.contains(&name) {
            hidden.push(readable(declaration.block, &name));
        }
        // All bits are written first, because a register may be needed before the cycle in which it is compared; then valid parts overwrite them.
        for (part, all) in shown.iter().map(|part| (part, true)).chain(shown.iter().map(|part| (part, false))) {
            part.write(declaration, record.get(0), rtl.state(state), all);
        }
    }
    if !hidden.is_empty() {
        return Err(CopyError::Hidden(hidden));
    }
    rtl.settle_all(record.get_mut(0)).map_err(CopyError::Rtl)
}

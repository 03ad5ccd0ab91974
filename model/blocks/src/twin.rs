//! A block with its types erased, for a harness that treats all blocks alike.
//!
//! A cycle of a block is a *record*: the input struct, then the output struct, then the probe struct, each at a multiple of 64 bytes.
//! [`Declaration`] says what every byte of it means.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Block, Field, Memory, Ports, block::Shape};

const ALIGN: usize = 64;

/// Where a signal stands at the boundary of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Driven by the harness.
    Input,
    /// Compared: an output port.
    Output,
    /// Compared: an inner net or a register.
    Probe,
}

/// A field placed in the record.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Its declaration; `offset` counts from the start of the record.
    pub field: Field,
    /// Its role.
    pub role: Role,
    /// Index of the signal that validates it.
    pub valid: Option<usize>,
}

/// The bits or elements of a valid that one element of a payload hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidRange {
    /// Index of the valid's signal.
    pub signal: usize,
    /// First bit (or element, when the valid is an array).
    pub first: usize,
    /// Number of them.
    pub len: usize,
}

/// What a block's record means, for one shape.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Module name.
    pub block: &'static str,
    /// Whether the module has `clk_i`.
    pub clocked: bool,
    /// RTL parameters and their values.
    pub parameters: Vec<(&'static str, u64)>,
    /// Inputs of the module that this shape does not read: they are no signals, and they are not driven.
    pub unused: Vec<&'static str>,
    /// All signals: inputs, outputs, probes.
    pub signals: Vec<Signal>,
    /// Bytes of the input part; the compared part begins here.
    pub input_bytes: usize,
    /// Bytes of the output part, with which the compared part begins; the probes are after it.
    pub output_bytes: usize,
    /// Bytes of a record.
    pub record_bytes: usize,
}

/// A struct of the record.
struct Part {
    role: Role,
    /// Its bytes.
    size: usize,
    fields: Vec<Field>,
}

impl Declaration {
    fn of<B: Block>(shape: &B::Shape) -> Self {
        let parts = [
            Part { role: Role::Input, size: size_of::<B::In>(), fields: B::In::fields(shape) },
            Part { role: Role::Output, size: size_of::<B::Out>(), fields: B::Out::fields(shape) },
            Part { role: Role::Probe, size: size_of::<B::Probe>(), fields: B::Probe::fields(shape) },
        ];
        let parameters = B::PARAMETERS.iter().map(|&name| (name, shape.parameter(name))).collect();
        let signals = Vec::new();
        let declaration = Self {
            block: B::NAME,
            clocked: B::CLOCKED,
            parameters,
            unused: B::unused(shape),
            signals,
            input_bytes: 0,
            output_bytes: 0,
            record_bytes: 0,
        };
        declaration.with(parts, B::WITHOUT)
    }

    /// Places the parts one after another. It is no part of [`Declaration::of`], which is compiled once for each block.
    fn with(mut self, parts: [Part; 3], without: &[&str]) -> Self {
        [self.input_bytes, self.output_bytes] = [0, 1].map(|part: usize| parts[part].size.next_multiple_of(ALIGN));
        for Part { role, size, fields } in parts {
            for mut field in fields.into_iter().filter(|field| !without.contains(&field.name)) {
                field.offset += self.record_bytes;
                self.signals.push(Signal { field, role, valid: None });
            }
            self.record_bytes += size.next_multiple_of(ALIGN);
        }
        // Of the SM's hundreds of signals most are valid by another one: to search for each would be to compare names by the ten thousand.
        let places: HashMap<&str, usize> =
            self.signals.iter().enumerate().map(|(i, s)| (s.field.name, i)).rev().collect();
        for index in 0..self.signals.len() {
            if let Some(name) = self.signals[index].field.valid_by {
                let valid = places.get(name).copied();
                assert!(
                    valid.is_some(),
                    "{}: {} is valid by {name}, which does not exist",
                    self.block,
                    self.signals[index].field.name
                );
                self.signals[index].valid = valid;
            }
        }
        self
    }

    /// The signal of that name.
    pub fn signal(&self, name: &str) -> Option<&Signal> {
        self.signals.iter().find(|s| s.field.name == name)
    }

    /// What element `element` of signal `signal` hangs on; `None` when it is always compared.
    pub fn valid_range(&self, signal: usize, element: usize) -> Option<ValidRange> {
        let valid = self.signals[signal].valid?;
        let count = self.signals[signal].field.count;
        let by = &self.signals[valid].field;
        let width = if by.array { by.count } else { by.bits as usize };
        let (first, end) = (element * width / count, (element + 1) * width / count);
        Some(ValidRange { signal: valid, first, len: (end - first).max(1) })
    }

    /// Whether element `element` of signal `signal` means anything in this record.
    pub fn is_valid(&self, record: &[u8], signal: usize, element: usize) -> bool {
        let Some(range) = self.valid_range(signal, element) else { return true };
        let by = &self.signals[range.signal].field;
        if by.array {
            (range.first..range.first + range.len).any(|e| by.bytes(record, e).iter().any(|&b| b != 0))
        } else {
            let value = by.value(record, 0);
            (range.first..range.first + range.len).any(|bit| value >> bit & 1 == 1)
        }
    }
}

impl Field {
    /// The bytes of element `element` in a record.
    pub fn bytes<'a>(&self, record: &'a [u8], element: usize) -> &'a [u8] {
        let start = self.offset + element * self.elem_bytes;
        &record[start..start + self.elem_bytes]
    }

    /// Element `element` in words of 32 bits, the lowest first.
    pub fn words<'a>(&self, record: &'a [u8], element: usize) -> impl Iterator<Item = u32> + use<'a> {
        let words = self.bytes(record, element).chunks(4);
        words.map(|bytes| bytes.iter().rev().fold(0, |word, &byte| word << u8::BITS | u32::from(byte)))
    }

    /// The value of element `element` of a field of at most 64 bits.
    pub fn value(&self, record: &[u8], element: usize) -> u64 {
        let bytes = self.bytes(record, element);
        let mut word = [0; 8];
        word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        u64::from_le_bytes(word)
    }
}

/// A block with its types erased.
pub trait Twin: Send {
    /// What the bytes mean.
    fn declaration(&self) -> &Declaration;

    /// Settles a cycle and takes its edge: reads the input part, fills the compared part (outputs and probes).
    ///
    /// # Panics
    /// When the slices do not have the lengths of the declaration or are not aligned to 64 bytes.
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]);

    /// The same without probes, for speed: fills the outputs only.
    ///
    /// # Panics
    /// As [`Twin::cycle`].
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]);

    /// See [`Block::still`].
    fn still(&self, _inputs: &[u8]) -> u64 {
        0
    }

    /// See [`Block::skip`].
    fn skip(&mut self, _cycles: u64) {}

    /// See [`Block::drain`].
    fn drain(&mut self) {}

    /// See [`Block::memories`].
    fn memories(&mut self) -> Vec<Memory<'_>>;

    /// A twin of its own with the same state and memories: the same inputs make it do the same.
    fn duplicate(&self) -> Box<dyn Twin>;
}

/// A twin whose cycle is taken in two steps, and whose state can be kept: what a testbench of a user's needs.
pub trait Stepwise: Twin {
    /// Settles a cycle: reads the input part, fills the outputs, and the probes where `probed`. State does not change, so
    /// a cycle may be settled again with other inputs, as combinational logic settles when its inputs move.
    ///
    /// # Panics
    /// As [`Twin::cycle`].
    fn settle(&mut self, inputs: &[u8], compared: &mut [u8], probed: bool);

    /// The clock edge, with the inputs and outputs of the cycle that [`Stepwise::settle`] was called with last.
    ///
    /// # Panics
    /// As [`Twin::cycle`].
    fn edge(&mut self, inputs: &[u8], compared: &[u8]);

    /// An independent copy with the same state and memories.
    fn copy(&self) -> Box<dyn Stepwise>;
}

struct Erased<B> {
    block: B,
    declaration: Arc<Declaration>,
    probe_start: usize,
}

/// Erases the types of a block of this shape.
pub fn erase<B: Block>(shape: &B::Shape) -> Box<dyn Stepwise> {
    let declaration = Arc::new(Declaration::of::<B>(shape));
    let probe_start = size_of::<B::Out>().next_multiple_of(ALIGN);
    Box::new(Erased { block: B::new(shape), declaration, probe_start })
}

/// Views the bytes of a record's part as a struct of ports.
///
/// # Panics
/// When they are too few or not aligned to the struct.
pub fn view<T: Ports>(bytes: &[u8]) -> &T {
    assert!(bytes.len() >= size_of::<T>() && bytes.as_ptr().addr().is_multiple_of(align_of::<T>()));
    // SAFETY: long enough, aligned, and any bytes are a value (promised by `Ports`).
    unsafe { &*bytes.as_ptr().cast() }
}

/// Views the bytes of a record's part as a struct of ports.
///
/// # Panics
/// As [`view`].
pub fn view_mut<T: Ports>(bytes: &mut [u8]) -> &mut T {
    assert!(bytes.len() >= size_of::<T>() && bytes.as_ptr().addr().is_multiple_of(align_of::<T>()));
    // SAFETY: long enough, aligned, borrowed mutably, and any bytes are a value (promised by `Ports`).
    unsafe { &mut *bytes.as_mut_ptr().cast() }
}

impl<B: Block> Twin for Erased<B> {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.settle(inputs, compared, true);
        self.edge(inputs, compared);
    }

    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.settle(inputs, compared, false);
        self.edge(inputs, compared);
    }

    fn still(&self, inputs: &[u8]) -> u64 {
        self.block.still(view::<B::In>(inputs))
    }

    fn skip(&mut self, cycles: u64) {
        self.block.skip(cycles);
    }

    fn drain(&mut self) {
        self.block.drain();
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.block.memories()
    }

    fn duplicate(&self) -> Box<dyn Twin> {
        self.copy()
    }
}

impl<B: Block> Stepwise for Erased<B> {
    fn settle(&mut self, inputs: &[u8], compared: &mut [u8], probed: bool) {
        let inputs = view::<B::In>(inputs);
        let (out, probe) = compared.split_at_mut(self.probe_start);
        let out = view_mut::<B::Out>(out);
        self.block.early(out);
        self.block.late(inputs, out);
        if probed {
            self.block.probe(inputs, out, view_mut::<B::Probe>(probe));
        }
    }

    fn edge(&mut self, inputs: &[u8], compared: &[u8]) {
        self.block.clock(view::<B::In>(inputs), view::<B::Out>(compared));
    }

    fn copy(&self) -> Box<dyn Stepwise> {
        let (block, declaration) = (self.block.clone(), self.declaration.clone());
        Box::new(Self { block, declaration, probe_start: self.probe_start })
    }
}

//! Waveforms of both sides, or of one side that ran alone.
//!
//! The VCD file has three scopes, `model`, `rtl` and `diff`, each with one scope for each block. It has what was compared: a payload that is not
//! valid is `x`; a probe that the RTL lacks appears on the model's side only. In `diff` every signal is one bit: 1 if the sides differ,
//! `x` if it was not compared. Cycle c lasts from time 2c to 2c+2; its clock edge is in the middle.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use gpurf_blocks::{Declaration, Role};
use vcd::{IdCode, TimescaleUnit, Value, VarType};

use crate::{Capture, Comparator, Side};

/// The sides that a waveform shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// Both sides, and where they differ.
    Both,
    /// One side that ran alone.
    Only(Side),
}

impl Scopes {
    pub(crate) fn has(self, side: Side) -> bool {
        self == Self::Both || self == Self::Only(side)
    }
}

/// A signal element in the file.
struct Variable {
    signal: usize,
    element: usize,
    model: Option<IdCode>,
    rtl: Option<IdCode>,
    diff: Option<IdCode>,
    /// The values written last, for model, RTL and difference.
    last: [Vec<Value>; 3],
}

/// Name of an element in the file. It has no brackets, because viewers would read them as a bit select.
pub(crate) fn variable_name(declaration: &Declaration, signal: usize, element: usize) -> String {
    let field = &declaration.signals[signal].field;
    if field.array { format!("{}({element})", field.name) } else { field.name.to_owned() }
}

/// Writes a capture.
///
/// # Errors
/// When the file cannot be written.
pub fn write_vcd(path: &Path, comparator: &Comparator, capture: &Capture) -> io::Result<()> {
    let mut file = WaveFile::create(path, comparator, Scopes::Both)?;
    capture.each(|cycle, model, rtl| file.cycle(comparator, cycle, model, rtl))?;
    file.finish()
}

/// A waveform that is written cycle by cycle.
pub struct WaveFile {
    vcd: vcd::Writer<BufWriter<std::fs::File>>,
    clock: IdCode,
    cycle: IdCode,
    any: Option<IdCode>,
    variables: Vec<Variable>,
    /// Records of the last cycle: the model's and the RTL's.
    last: Option<[Vec<u8>; 2]>,
    /// Time at which the last cycle ends.
    end: u64,
}

impl WaveFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, comparator: &Comparator, scopes: Scopes) -> io::Result<Self> {
        let declaration = comparator.declaration();
        let mut vcd = vcd::Writer::new(BufWriter::new(std::fs::File::create(path)?));
        vcd.comment("gpurf: model and RTL in lockstep; time 2c is cycle c")?;
        vcd.timescale(1, TimescaleUnit::NS)?;
        vcd.add_module("gpurf")?;
        let clock = vcd.add_wire(1, "clk")?;
        let cycle = vcd.add_var(VarType::Integer, 64, "cycle", None)?;
        let any = if scopes == Scopes::Both { Some(vcd.add_wire(1, "any_difference")?) } else { None };
        let mut elements = Vec::new();
        for (signal, s) in declaration.signals.iter().enumerate() {
            elements.extend((0..s.field.count).map(|element| (signal, element)));
        }
        let compared = |signal: usize| scopes == Scopes::Both && comparator.is_compared(signal);
        let in_model = |_| scopes.has(Side::Model);
        let in_rtl = |signal: usize| {
            scopes.has(Side::Rtl) && (comparator.is_compared(signal) || declaration.signals[signal].role == Role::Input)
        };
        let scopes = comparator.scopes();
        let mut side = |name, present: &dyn Fn(usize) -> bool, single_bit| {
            add_side(&mut vcd, declaration, &scopes, name, &elements, present, single_bit)
        };
        let model = side("model", &in_model, false)?;
        let rtl = side("rtl", &in_rtl, false)?;
        let diff = side("diff", &compared, true)?;
        vcd.upscope()?;
        vcd.enddefinitions()?;
        let ids = model.into_iter().zip(rtl).zip(diff);
        let variables = elements.iter().zip(ids).map(|(&(signal, element), ((model, rtl), diff))| Variable {
            signal,
            element,
            model,
            rtl,
            diff,
            last: Default::default(),
        });
        let variables = variables.collect();
        Ok(Self { vcd, clock, cycle, any, variables, last: None, end: 0 })
    }

    /// Writes a cycle. For a side that is not in the file, any record can be passed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cycle(&mut self, comparator: &Comparator, cycle: u64, model: &[u8], rtl: &[u8]) -> io::Result<()> {
        let declaration = comparator.declaration();
        let vcd = &mut self.vcd;
        vcd.timestamp(2 * cycle)?;
        vcd.change_scalar(self.clock, Value::V0)?;
        vcd.change_vector(self.cycle, (0..64).rev().map(|b| Value::from(cycle >> b & 1 == 1)))?;
        if let Some(any) = self.any {
            let differ = model != rtl && !comparator.differences(model, rtl).is_empty();
            vcd.change_scalar(any, Value::from(differ))?;
        }
        // Most signals keep their values. Finding this out takes a tenth of the time that writing them as bits takes.
        let still = |variable: &Variable| match &self.last {
            Some([last_model, last_rtl]) => {
                is_still(declaration, variable, last_model, model) && is_still(declaration, variable, last_rtl, rtl)
            }
            None => false,
        };
        for variable in self.variables.iter_mut().filter(|variable| !still(variable)) {
            let mine = bits(declaration, model, variable);
            let theirs = bits(declaration, rtl, variable);
            let differ = match (mine[0], theirs[0]) {
                // A payload is compared if both sides have it valid.
                (Value::X, _) | (_, Value::X) => Value::X,
                _ => Value::from(mine != theirs),
            };
            let [last_model, last_rtl, last_diff] = &mut variable.last;
            change(vcd, variable.model, last_model, mine)?;
            change(vcd, variable.rtl, last_rtl, theirs)?;
            change(vcd, variable.diff, last_diff, vec![differ])?;
        }
        vcd.timestamp(2 * cycle + 1)?;
        vcd.change_scalar(self.clock, Value::V1)?;
        self.end = 2 * cycle + 2;
        match &mut self.last {
            Some(last) => last.iter_mut().zip([model, rtl]).for_each(|(last, now)| now.clone_into(last)),
            None => self.last = Some([model, rtl].map(<[u8]>::to_vec)),
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.vcd.timestamp(self.end)?;
        self.vcd.flush()
    }
}

/// Declares one side, a scope for each block. The result has one entry for each element.
fn add_side(
    vcd: &mut vcd::Writer<impl Write>,
    declaration: &Declaration,
    scopes: &[String],
    side: &str,
    elements: &[(usize, usize)],
    present: &dyn Fn(usize) -> bool,
    single_bit: bool,
) -> io::Result<Vec<Option<IdCode>>> {
    let mut ids = vec![None; elements.len()];
    if !elements.iter().any(|&(signal, _)| present(signal)) {
        return Ok(ids);
    }
    let mut blocks: Vec<&str> = Vec::new();
    for scope in scopes {
        if !blocks.contains(&scope.as_str()) {
            blocks.push(scope);
        }
    }
    vcd.add_module(side)?;
    for block in blocks {
        let mine: Vec<usize> =
            (0..elements.len()).filter(|&i| scopes[elements[i].0] == block && present(elements[i].0)).collect();
        if mine.is_empty() {
            continue;
        }
        vcd.add_module(block)?;
        for index in mine {
            let (signal, element) = elements[index];
            let width = if single_bit { 1 } else { declaration.signals[signal].field.bits };
            ids[index] = Some(vcd.add_wire(width, &variable_name(declaration, signal, element))?);
        }
        vcd.upscope()?;
    }
    vcd.upscope()?;
    Ok(ids)
}

fn change(
    vcd: &mut vcd::Writer<impl Write>,
    id: Option<IdCode>,
    last: &mut Vec<Value>,
    now: Vec<Value>,
) -> io::Result<()> {
    let Some(id) = id.filter(|_| *last != now) else { return Ok(()) };
    match now[..] {
        [bit] => vcd.change_scalar(id, bit)?,
        _ => vcd.change_vector(id, now.iter().copied())?,
    }
    *last = now;
    Ok(())
}

/// Whether an element has the same value in both records, or is not valid in both.
fn is_still(declaration: &Declaration, variable: &Variable, last: &[u8], now: &[u8]) -> bool {
    let Variable { signal, element, .. } = *variable;
    let field = &declaration.signals[signal].field;
    let valid = |record| declaration.is_valid(record, signal, element);
    match (valid(last), valid(now)) {
        (true, true) => field.bytes(last, element) == field.bytes(now, element),
        (before, now) => before == now,
    }
}

/// The bits of an element, most significant first; all `x` if it is not valid.
fn bits(declaration: &Declaration, record: &[u8], variable: &Variable) -> Vec<Value> {
    use bitvec::prelude::*;
    let field = &declaration.signals[variable.signal].field;
    let width = field.bits as usize;
    if !declaration.is_valid(record, variable.signal, variable.element) {
        return vec![Value::X; width];
    }
    let view = field.bytes(record, variable.element).view_bits::<Lsb0>();
    view[..width].iter().by_vals().rev().map(Value::from).collect()
}

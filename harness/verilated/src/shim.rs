//! Generates the C++ that moves a record between Rust and Verilator's variables, and the Verilator configuration that
//! makes the probes readable.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use gpurf_blocks::{Declaration, Field, Net, Role};

use crate::header::{Direction, Variable, describe, elem_bytes, mangle};
use crate::names::CLOCK_SEEN;
use crate::{Error, MemoryRequest, PortError, Request, Result, Simulator};

/// A register of the RTL that can be written (with `Options::state`, or a knob).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateVariable {
    pub name: String,
    pub bits: u32,
    pub count: usize,
    pub elem_bytes: usize,
}

/// The generated exchange, and what was found while it was generated.
pub(crate) struct Exchange {
    /// C++ text.
    pub text: String,
    /// Signals (indices into the declaration) that the RTL lacks.
    pub absent: Vec<usize>,
    /// Writable registers.
    pub state: Vec<StateVariable>,
}

/// The Verilator configuration of a request; `writable`: names of variables that can be written.
pub(crate) fn configuration(request: &Request, writable: &HashSet<String>) -> String {
    let mut names = HashSet::new();
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    if request.options.probes {
        for signal in request.declaration.signals.iter().filter(|s| s.role == Role::Probe) {
            names.insert(match &signal.field.net {
                Net::Own => signal.field.name.to_owned(),
                Net::At(path) | Net::Each { path, .. } => last(path),
            });
        }
        names.extend(request.memories.iter().map(|m| last(&m.path)));
    }
    if request.options.state {
        names.extend(writable.iter().cloned());
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort();
    let mut text = String::from("`verilator_config\n");
    for name in names {
        // The variables are found by name in all modules; other variables that match a name are not read.
        writeln!(text, "public_flat_rd -module \"*\" -var \"{name}\"").unwrap();
    }
    for knob in &request.options.knobs {
        writeln!(text, "public_flat_rw -module \"*\" -var \"{knob}\"").unwrap();
    }
    text
}

/// Compares the ports that Verilator found with the declaration.
pub(crate) fn check_ports(declaration: &Declaration, found: &HashMap<String, Variable>) -> Result<()> {
    let mut errors = Vec::new();
    let ports = declaration.signals.iter().filter(|s| s.role != Role::Probe);
    let mut known: HashSet<&str> = HashSet::new();
    if declaration.clocked {
        known.insert("clk_i");
        if !found.get("clk_i").is_some_and(|v| v.direction == Direction::In && v.bits == 1) {
            errors.push(PortError::Missing { name: "clk_i".into(), expected: describe(true, 1, None) });
        }
    }
    for signal in ports {
        let field = &signal.field;
        known.insert(field.name);
        let is_input = signal.role == Role::Input;
        let expected = describe(is_input, field.bits, field.array.then_some(field.count));
        match found.get(field.name) {
            Some(variable) if variable.direction != Direction::Inner => {
                let found = variable.describe(is_input);
                if found != expected {
                    errors.push(PortError::Different { name: field.name.into(), expected, found });
                }
            }
            _ => errors.push(PortError::Missing { name: field.name.into(), expected }),
        }
    }
    for &name in &declaration.unused {
        known.insert(name);
        if !found.get(name).is_some_and(Variable::is_input) {
            errors.push(PortError::Missing { name: name.into(), expected: "an input that nothing reads".into() });
        }
    }
    let mut unknown: Vec<_> =
        found.iter().filter(|(name, v)| v.direction != Direction::Inner && !known.contains(name.as_str())).collect();
    unknown.sort_by_key(|(name, _)| name.as_str());
    errors.extend(
        unknown.into_iter().map(|(name, v)| PortError::Unknown { name: name.clone(), found: v.describe(true) }),
    );
    if errors.is_empty() { Ok(()) } else { Err(Error::Ports { module: declaration.block.into(), errors }) }
}

/// C type of an element of a record.
pub(crate) fn record_type(elem_bytes: usize) -> &'static str {
    match elem_bytes {
        1 => "uint8_t",
        2 => "uint16_t",
        4 => "uint32_t",
        8 => "uint64_t",
        _ => unreachable!("wide elements are moved by memcpy"),
    }
}

/// C type of the elements of a variable. A variable of more than 64 bits is a sequence of words.
fn ctype(elem_bytes: usize) -> &'static str {
    match elem_bytes {
        1 => "CData",
        2 => "SData",
        4 => "IData",
        8 => "QData",
        _ => "EData",
    }
}

/// C type and last dimension of a variable as Verilator would declare it.
pub(crate) fn variable_type(bits: u32) -> (&'static str, String) {
    let words = if bits > 64 { format!("[{}]", bits.div_ceil(32)) } else { String::new() };
    (ctype(elem_bytes(bits)), words)
}

/// Generates the exchange for a model whose header has the variables `found`.
pub(crate) fn exchange(
    request: &Request,
    writable: &HashSet<String>,
    found: &HashMap<String, Variable>,
) -> Result<Exchange> {
    let declaration = &request.declaration;
    let generator = Generator { declaration, found, input_bytes: declaration.input_bytes };
    let mut text = String::new();
    let mut absent = Vec::new();

    writeln!(text, "static constexpr bool GPURF_CLOCKED = {};", declaration.clocked).unwrap();
    writeln!(text, "static constexpr size_t GPURF_INPUT_BYTES = {};", declaration.input_bytes).unwrap();
    writeln!(text, "static inline void gpurf_clock(Root* r, CData level) {{").unwrap();
    writeln!(text, "{}\n}}", if declaration.clocked { "    r->clk_i = level;" } else { "    (void)r, (void)level;" })
        .unwrap();

    writeln!(text, "static inline void gpurf_drive(Root* r, const uint8_t* in) {{").unwrap();
    for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
        text.push_str(&generator.drive(&signal.field));
    }
    writeln!(text, "}}").unwrap();
    let compared = declaration.signals.iter().enumerate().filter(|(_, s)| s.role != Role::Input);
    // A valid is sampled before its payload; the valid may be a payload itself.
    let mut compared: Vec<_> = compared.filter(|(_, s)| request.options.probes || s.role == Role::Output).collect();
    compared.sort_by_key(|(index, _)| std::iter::successors(Some(*index), |&i| declaration.signals[i].valid).count());
    let mut sampled: Vec<(usize, String)> = Vec::new();
    for (index, signal) in compared {
        let valid_absent = signal.valid.is_some_and(|v| absent.contains(&v));
        match generator.sample(index).filter(|_| !valid_absent) {
            Some(code) => sampled.push((index, code)),
            None => absent.push(index),
        }
    }
    let outputs = generator.outputs();
    for (name, wanted) in [("gpurf_sample", None), ("gpurf_outputs", Some(&outputs))] {
        writeln!(text, "static inline void {name}(const Root* r, const uint8_t* in, uint8_t* out) {{\n    (void)in;")
            .unwrap();
        let wanted = sampled.iter().filter(|(index, _)| wanted.is_none_or(|some| some.contains(index)));
        wanted.for_each(|(_, code)| text.push_str(code));
        writeln!(text, "}}").unwrap();
    }
    let sampled: Vec<usize> = sampled.iter().map(|(index, _)| *index).collect();
    text.push_str(&generator.equal(&sampled));

    let root = |path: &str| mangle(declaration.block, path);
    writeln!(text, "static void* gpurf_memory_of(Root* r, size_t index) {{\n    switch (index) {{").unwrap();
    if request.options.probes {
        for (index, memory) in request.memories.iter().enumerate() {
            let MemoryRequest { path, words, bits } = memory;
            let right = |name: &String| found.get(name).is_some_and(|v| v.bits == *bits && v.count() == *words);
            let netlists = if request.options.netlist { in_netlists(path) } else { Vec::new() };
            let name = std::iter::once(root(path)).chain(netlists.iter().map(|path| root(path))).find(right);
            if name.is_none() && request.options.netlist {
                continue;
            }
            let Some(name) = name else {
                let found = found.get(&root(path)).map(|v| (v.count(), v.bits));
                return Err(Error::Memory { module: declaration.block.into(), expected: memory.clone(), found });
            };
            let address = match request.options.simulator {
                Simulator::Verilator => format!("&r->{name}"),
                Simulator::Cxxrtl => format!("r->places.outside(&r->{name})"),
            };
            writeln!(text, "    case {index}: return {address};").unwrap();
        }
    }
    writeln!(text, "    default: (void)r; return nullptr;\n    }}\n}}").unwrap();

    let mut state: Vec<StateVariable> = found
        .iter()
        .filter(|(name, v)| {
            name.contains("__DOT__")
                && !name.contains("__Vdly")
                && v.direction == Direction::Inner
                && writable.contains(name.rsplit("__DOT__").next().unwrap_or(name))
        })
        .map(|(name, v)| StateVariable {
            name: name.clone(),
            bits: v.bits,
            count: v.count(),
            elem_bytes: v.elem_bytes(),
        })
        .collect();
    state.sort_by(|a, b| a.name.cmp(&b.name));
    writeln!(text, "static void* gpurf_state_of(Root* r, size_t index) {{\n    switch (index) {{").unwrap();
    for (index, variable) in state.iter().enumerate() {
        writeln!(text, "    case {index}: return &r->{};", variable.name).unwrap();
    }
    writeln!(text, "    default: (void)r; return nullptr;\n    }}\n}}").unwrap();
    absent.sort_unstable();
    Ok(Exchange { text, absent, state })
}

/// The paths that a variable may have below a netlist: a netlist is one module, which names its cells by their path.
pub(crate) fn in_netlists(path: &str) -> Vec<String> {
    let Some((cell, variable)) = path.rsplit_once('.') else { return Vec::new() };
    let names: Vec<&str> = cell.split('.').collect();
    // Plain names: Verilator would encode two underscores differently.
    let plain = |path: &str| path.split(['.', '[', ']']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
    let outside = |above: usize| names[..above].iter().map(|name| format!("{name}.")).collect::<String>();
    let inside = |above: usize| plain(&names[above..].join("."));
    (0..names.len()).map(|above| format!("{}u_netlist.{}.{variable}", outside(above), inside(above))).collect()
}

/// Text in front of an exchange for a model that need not settle while no input changes.
pub(crate) fn edges_only() -> String {
    format!("#define GPURF_EDGES_ONLY\n#define GPURF_CLOCK_SEEN(root) (root)->{CLOCK_SEEN}\n")
}

pub(crate) struct Generator<'a> {
    pub declaration: &'a Declaration,
    pub found: &'a HashMap<String, Variable>,
    pub input_bytes: usize,
}

/// Consecutive elements in a Verilator variable.
pub(crate) struct Piece {
    /// C++ member that has the elements.
    pub member: String,
    /// C type of the variable's elements.
    pub ctype: &'static str,
    /// First element of the field.
    pub first: usize,
    /// Number of elements.
    pub count: usize,
}

impl Generator<'_> {
    /// The outputs, and the valids of outputs.
    fn outputs(&self) -> HashSet<usize> {
        let signals = &self.declaration.signals;
        let mut wanted = HashSet::new();
        for (mut index, _) in signals.iter().enumerate().filter(|(_, s)| s.role == Role::Output) {
            while wanted.insert(index)
                && let Some(valid) = signals[index].valid
            {
                index = valid;
            }
        }
        wanted
    }

    /// Location of the elements of a field; `None` if any part is missing or has another size.
    pub(crate) fn pieces(&self, field: &Field, port: bool) -> Option<Vec<Piece>> {
        let top = self.declaration.block;
        let mut pieces = if port {
            vec![Piece { member: field.name.to_owned(), ctype: "", first: 0, count: field.count }]
        } else {
            let paths = field.paths();
            let count = field.count / paths.len();
            let piece =
                |(i, path): (usize, &String)| Piece { member: mangle(top, path), ctype: "", first: i * count, count };
            paths.iter().enumerate().map(piece).collect()
        };
        for piece in &mut pieces {
            let variable = self.found.get(&piece.member)?;
            if variable.bits != field.bits || variable.count() != piece.count {
                return None;
            }
            piece.ctype = ctype(variable.elem_bytes());
        }
        Some(pieces)
    }

    /// Code that drives an input port. The ports have been checked before.
    fn drive(&self, field: &Field) -> String {
        let piece = &self.pieces(field, true).expect("checked ports")[0];
        let (offset, member, bytes) = (field.offset, &piece.member, field.elem_bytes * field.count);
        if field.is_wide() || bytes == field.count * size_of_ctype(piece.ctype) {
            return format!("    memcpy(&r->{member}, in + {offset}, {bytes});\n");
        }
        let (ty, ctype) = (record_type(field.elem_bytes), piece.ctype);
        format!(
            "    for (size_t i = 0; i < {}; ++i) reinterpret_cast<{ctype}*>(&r->{member})[i] = \
             static_cast<{ctype}>(reinterpret_cast<const {ty}*>(in + {offset})[i]);\n",
            field.count
        )
    }

    /// Code that copies a compared signal into the record. A narrow payload that is not valid becomes zero.
    fn sample(&self, index: usize) -> Option<String> {
        let signal = &self.declaration.signals[index];
        let field = &signal.field;
        let pieces = self.pieces(field, signal.role == Role::Output)?;
        let offset = field.offset - self.input_bytes;
        let mut text = String::new();
        if signal.valid.is_none() {
            for piece in &pieces {
                text.push_str(&self.copy_run(field, piece, offset));
            }
            return Some(text);
        }
        if !field.is_wide() {
            writeln!(text, "    memset(out + {offset}, 0, {});", field.elem_bytes * field.count).unwrap();
        }
        if let [piece] = &pieces[..]
            && let Some(mask) = self.element_mask(index)
        {
            let step = copy_element(field, piece, offset, "i", "i");
            writeln!(text, "    for (uint64_t m = {mask}; m; m &= m - 1) {{").unwrap();
            writeln!(text, "        const size_t i = __builtin_ctzll(m);\n        {step}\n    }}").unwrap();
            return Some(text);
        }
        for piece in &pieces {
            for i in 0..piece.count {
                let element = piece.first + i;
                let step = copy_element(field, piece, offset, &element.to_string(), &i.to_string());
                writeln!(text, "    if ({}) {step}", self.valid(index, element)).unwrap();
            }
        }
        Some(text)
    }

    /// Code that copies a whole piece.
    fn copy_run(&self, field: &Field, piece: &Piece, offset: usize) -> String {
        let at = offset + piece.first * field.elem_bytes;
        let bytes = piece.count * field.elem_bytes;
        if field.is_wide() || field.elem_bytes == size_of_ctype(piece.ctype) {
            return format!("    memcpy(out + {at}, &r->{}, {bytes});\n", piece.member);
        }
        let step = copy_element(field, piece, at, "i", "i");
        format!("    for (size_t i = 0; i < {}; ++i) {step}\n", piece.count)
    }

    /// C expression of the value of a valid in the record (a mask of up to 64 bits).
    pub(crate) fn valid_value(&self, signal: usize, element: usize) -> String {
        let signal = &self.declaration.signals[signal];
        let field = &signal.field;
        let (base, offset) = match signal.role {
            Role::Input => ("in", field.offset),
            _ => ("out", field.offset - self.input_bytes),
        };
        format!(
            "*reinterpret_cast<const {}*>({base} + {})",
            record_type(field.elem_bytes),
            offset + element * field.elem_bytes
        )
    }

    /// C expression of a mask with one bit for each element, if the valid is such a mask.
    fn element_mask(&self, index: usize) -> Option<String> {
        let signal = &self.declaration.signals[index];
        let valid = signal.valid?;
        let by = &self.declaration.signals[valid].field;
        (!by.array && by.bits as usize == signal.field.count).then(|| self.valid_value(valid, 0))
    }

    /// C condition that an element is valid.
    pub(crate) fn valid(&self, index: usize, element: usize) -> String {
        let range = self.declaration.valid_range(index, element).expect("has a valid");
        if self.declaration.signals[range.signal].field.array {
            let terms: Vec<_> =
                (range.first..range.first + range.len).map(|e| self.valid_value(range.signal, e)).collect();
            return terms.join(" | ");
        }
        let mask = u64::MAX >> (64 - range.len);
        format!("({}) >> {} & {mask:#x}ull", self.valid_value(range.signal, 0), range.first)
    }
}

pub(crate) fn size_of_ctype(ctype: &str) -> usize {
    match ctype {
        "CData" => 1,
        "SData" => 2,
        "IData" => 4,
        "QData" => 8,
        _ => unreachable!("wide elements are moved as words"),
    }
}

/// Statement that copies element `from` of a piece to element `to` of the record's array at `offset`.
fn copy_element(field: &Field, piece: &Piece, offset: usize, to: &str, from: &str) -> String {
    let member = &piece.member;
    if field.is_wide() {
        let (bytes, words) = (field.elem_bytes, field.elem_bytes / 4);
        return format!(
            "memcpy(out + {offset} + {bytes} * {to}, reinterpret_cast<const EData*>(&r->{member}) + {words} * {from}, {bytes});"
        );
    }
    let (ty, ctype) = (record_type(field.elem_bytes), piece.ctype);
    format!("reinterpret_cast<{ty}*>(out + {offset})[{to}] = reinterpret_cast<const {ctype}*>(&r->{member})[{from}];")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_looked_for_in_a_netlist_of_each_module_above() {
        assert_eq!(
            in_netlists("gen_bank[3].u_bank.u_ram.mem_q"),
            [
                "u_netlist.gen_bank_3_u_bank_u_ram.mem_q",
                "gen_bank[3].u_netlist.u_bank_u_ram.mem_q",
                "gen_bank[3].u_bank.u_netlist.u_ram.mem_q"
            ]
        );
        assert!(in_netlists("mem_q").is_empty());
    }
}

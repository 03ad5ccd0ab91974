//! Reads the ports and variables of the RTL from the header that Verilator generates.
//!
//! Ports appear as `VL_IN8(&name,msb,lsb);`, `VL_OUTW((&name)[4],msb,lsb,words);`, inner variables as `IData/*31:0*/ name;` or
//! `VlUnpacked<VlUnpacked<CData/*3:0*/, 3>, 8> name;`. In newer versions (5.050) a port that is an array appears as a reference to an
//! inner variable, `VlUnpacked<CData/*3:0*/, 3> &name;`, without its direction.

use std::collections::HashMap;

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    /// A port of which the header does not give the direction.
    Either,
    /// Not a port.
    Inner,
}

/// A port or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub direction: Direction,
    /// Width of an element in bits.
    pub bits: u32,
    /// Sizes of the unpacked dimensions, outermost first; empty for a scalar.
    pub dimensions: Vec<usize>,
}

impl Variable {
    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Bytes of an element in Verilator's types.
    pub(crate) fn elem_bytes(&self) -> usize {
        elem_bytes(self.bits)
    }

    /// Whether this can be an input.
    pub(crate) fn is_input(&self) -> bool {
        matches!(self.direction, Direction::In | Direction::Either)
    }

    /// Direction, width and elements as text, for messages. A direction that the header does not give is assumed to be the expected one.
    pub(crate) fn describe(&self, expects_input: bool) -> String {
        let input = if expects_input { self.is_input() } else { self.direction == Direction::In };
        describe(input, self.bits, self.dimensions.first().map(|_| self.count()))
    }
}

/// Number of bytes that Verilator uses for this many bits.
pub(crate) fn elem_bytes(bits: u32) -> usize {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        wide => wide.div_ceil(32) as usize * 4,
    }
}

/// Direction, width and elements as text, for messages.
pub(crate) fn describe(input: bool, bits: u32, count: Option<usize>) -> String {
    let direction = if input { "an input" } else { "an output" };
    let plural = if bits == 1 { "bit" } else { "bits" };
    match count {
        Some(n) => format!("{direction} of {n} x {bits} {plural}"),
        None => format!("{direction} of {bits} {plural}"),
    }
}

/// Every variable of the generated headers, by its C++ name.
pub(crate) fn parse(text: &str) -> HashMap<String, Variable> {
    let mut found: HashMap<String, Variable> = HashMap::new();
    for (name, variable) in text.lines().filter_map(|line| parse_line(line.trim())) {
        // Both headers have a port that is an array; only one shows that it is a port.
        if variable.direction != Direction::Inner || !found.contains_key(&name) {
            found.insert(name, variable);
        }
    }
    found
}

fn parse_line(line: &str) -> Option<(String, Variable)> {
    let line = line.strip_suffix(';')?;
    if line.starts_with("VL_") { parse_macro(line) } else { parse_member(line) }
}

/// `VL_IN8(&name,7,0)`, `VL_OUT16((&name)[4][2],8,0)`, `VL_INW(&name,1023,0,32)`; in the root class without the `&`.
fn parse_macro(line: &str) -> Option<(String, Variable)> {
    let (kind, rest) = line.split_once('(')?;
    let direction = match kind.trim_start_matches("VL_") {
        k if k.starts_with("INOUT") => return None,
        k if k.starts_with("IN") => Direction::In,
        k if k.starts_with("OUT") => Direction::Out,
        k if k.starts_with("SIG") => Direction::Inner,
        _ => return None,
    };
    let mut arguments = rest.strip_suffix(')')?.split(',');
    let declarator = arguments.next()?;
    let msb: i64 = arguments.next()?.trim().parse().ok()?;
    let lsb: i64 = arguments.next()?.trim().parse().ok()?;
    let (name, dimensions) = match declarator.split_once('[') {
        Some((name, rest)) => {
            (name, rest.split('[').map(|d| d.trim_end_matches(']').parse().ok()).collect::<Option<Vec<_>>>()?)
        }
        None => (declarator, Vec::new()),
    };
    let name = name.trim_matches(|c| "(&)".contains(c));
    Some((name.to_owned(), Variable { direction, bits: (msb - lsb).unsigned_abs() as u32 + 1, dimensions }))
}

/// `CData/*3:0*/ name`, `VlWide<32>/*1023:0*/ name`, `VlUnpacked<SData/*8:0*/, 16> name`, `VlUnpacked<SData/*8:0*/, 16> &name`.
fn parse_member(line: &str) -> Option<(String, Variable)> {
    let (ty, name) = line.rsplit_once(' ')?;
    let (direction, name) = match name.strip_prefix('&') {
        Some(name) => (Direction::Either, name),
        None => (Direction::Inner, name),
    };
    let valid_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid_name || !["CData", "SData", "IData", "QData", "VlWide", "VlUnpacked"].iter().any(|t| ty.starts_with(t)) {
        return None;
    }
    let (range, _) = ty.split_once("/*")?.1.split_once("*/")?;
    let (msb, lsb) = range.split_once(':')?;
    let bits = (msb.parse::<i64>().ok()? - lsb.parse::<i64>().ok()?).unsigned_abs() as u32 + 1;
    // The text after the element type lists the dimensions from the innermost outwards: `, 3>, 8>`.
    let after = ty.split_once("*/")?.1;
    let mut dimensions = after
        .split(',')
        .skip(1)
        .map(|d| d.trim().trim_end_matches('>').parse().ok())
        .collect::<Option<Vec<usize>>>()?;
    dimensions.reverse();
    Some((name.to_owned(), Variable { direction, bits, dimensions }))
}

/// The C++ name of a path: `gen_bank[3].u_bank.mem_q` in module `mrf`, flattened.
pub(crate) fn mangle(top: &str, path: &str) -> String {
    let mut name = format!("{top}__DOT__");
    for c in path.chars() {
        match c {
            '.' => name.push_str("__DOT__"),
            '[' => name.push_str("__BRA__"),
            ']' => name.push_str("__KET__"),
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_members_are_read_as_verilator_writes_them() {
        let found = parse(
            "    VL_IN8(&clk_i,0,0);\n    VL_INW((&d_i)[2],1023,0,32);\n    VL_OUT64(&ev_o,49,0);\n    VL_OUT8((&a_o)[5],3,0);\n\
             VL_IN16(plain_i,8,0);\n    CData/*2:0*/ t__DOT__x;\n    VlUnpacked<VlUnpacked<CData/*2:0*/, 3>, 2> t__DOT__y;\n\
             VlUnpacked<VlWide<32>/*1023:0*/, 4> t__DOT__mem_q;\n    VlWide<32>/*1023:0*/ t__DOT__w;\n    Vm__Syms* const vlSymsp;\n",
        );
        let port = |d, bits, dims: &[usize]| Variable { direction: d, bits, dimensions: dims.to_vec() };
        assert_eq!(found.len(), 9);
        assert_eq!(found["clk_i"], port(Direction::In, 1, &[]));
        assert_eq!(found["d_i"], port(Direction::In, 1024, &[2]));
        assert_eq!(found["ev_o"], port(Direction::Out, 50, &[]));
        assert_eq!(found["a_o"], port(Direction::Out, 4, &[5]));
        assert_eq!(found["plain_i"], port(Direction::In, 9, &[]));
        assert_eq!(found["t__DOT__x"], port(Direction::Inner, 3, &[]));
        assert_eq!(found["t__DOT__y"], port(Direction::Inner, 3, &[2, 3]));
        assert_eq!(found["t__DOT__mem_q"], port(Direction::Inner, 1024, &[4]));
        assert_eq!(found["t__DOT__w"], port(Direction::Inner, 1024, &[]));
    }

    #[test]
    fn a_port_without_a_direction_is_one_in_either_direction() {
        let found =
            parse("    VlUnpacked<CData/*7:0*/, 3> &a;\n    VlUnpacked<CData/*7:0*/, 3> a;\n    CData/*7:0*/ b;\n");
        assert_eq!(found["a"], Variable { direction: Direction::Either, bits: 8, dimensions: vec![3] });
        assert_eq!(found["a"].describe(true), "an input of 3 x 8 bits");
        assert_eq!(found["a"].describe(false), "an output of 3 x 8 bits");
        assert_eq!(found["b"].direction, Direction::Inner);
    }

    #[test]
    fn paths_are_mangled_as_verilator_does() {
        assert_eq!(mangle("mrf", "gen_bank[3].u_bank.q"), "mrf__DOT__gen_bank__BRA__3__KET____DOT__u_bank__DOT__q");
    }
}

//! The members of a netlist as reported by Yosys: reads the lines that `netlist.py` writes.

use std::collections::HashMap;

use gpurf_blocks::Role;

use crate::Request;
use crate::header::{Direction, Variable, mangle};

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Input,
    Output,
    /// A variable that only the harness drives.
    Knob,
    /// A net that is read.
    Net,
    /// A memory that is read as a net.
    Rows,
    /// A register that is read and written by the harness.
    Register,
    /// A memory that is read and written by the harness.
    Memory,
}

impl Kind {
    /// Whether the elements are the rows of a memory, rather than parts of one vector.
    pub(super) fn is_rows(self) -> bool {
        matches!(self, Self::Rows | Self::Memory)
    }
}

/// A member of the design's class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub kind: Kind,
    /// Its path in the module.
    pub path: String,
    /// Bits of a row, or of the whole member.
    pub bits: usize,
    pub rows: usize,
    /// Location of its bits: a C++ expression inside the design.
    pub chunks: String,
    /// The next value of a register.
    pub next: Option<String>,
}

/// State that begins with a random value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unset {
    pub bits: usize,
    pub count: usize,
    pub chunks: String,
    pub next: String,
}

#[derive(Default)]
pub(super) struct Members {
    /// Class of the design.
    pub design: String,
    pub all: Vec<Member>,
    pub unset: Vec<Unset>,
}

impl Members {
    /// Parses the lines.
    pub(super) fn parse(text: &str) -> Self {
        let mut members = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse().expect("written by netlist.py");
            let text = |i: usize| words[i].to_owned();
            let mut vector = |kind| {
                let next = words.get(4).map(|next| (*next).to_owned());
                members.all.push(Member { kind, path: text(1), bits: number(2), rows: 1, chunks: text(3), next });
            };
            match words[0] {
                "design" => members.design = text(1),
                "in" => vector(Kind::Input),
                "out" => vector(Kind::Output),
                "knob" => vector(Kind::Knob),
                "net" => vector(Kind::Net),
                "register" => vector(Kind::Register),
                "unset" => {
                    members.unset.push(Unset { bits: number(1), count: number(2), chunks: text(3), next: text(4) });
                }
                kind => {
                    let kind = if kind == "rows" { Kind::Rows } else { Kind::Memory };
                    let (path, bits, rows) = (text(1), number(2), number(3));
                    members.all.push(Member { kind, path, bits, rows, chunks: text(4), next: None });
                }
            }
        }
        members
    }

    /// The name of a member's variable in the root, in Verilator's spelling.
    pub(super) fn variable(request: &Request, kind: Kind, path: &str) -> String {
        match kind {
            Kind::Input | Kind::Output => path.to_owned(),
            _ => mangle(request.declaration.block, path),
        }
    }

    /// The variables of the design, in the same form as read from Verilator's header.
    ///
    /// Yosys knows ports and nets as vectors only. A vector with as many bits as all elements of the declaration is taken for
    /// these elements. Any other vector is reported as it is, and the comparison with the declaration rejects it.
    pub(super) fn found(&self, request: &Request) -> HashMap<String, Variable> {
        let declared = shapes(request);
        let shape = |member: &Member| {
            let name = Self::variable(request, member.kind, &member.path);
            let direction = match member.kind {
                Kind::Input => Direction::In,
                Kind::Output => Direction::Out,
                _ => Direction::Inner,
            };
            let total = member.bits * member.rows;
            let of_declaration = declared.get(&name).filter(|shape| shape.bits as usize * shape.count() == total);
            let variable = match of_declaration {
                Some(shape) if !member.kind.is_rows() || shape.bits as usize == member.bits => {
                    Variable { direction, ..shape.clone() }
                }
                _ if member.kind.is_rows() => {
                    Variable { direction, bits: member.bits as u32, dimensions: vec![member.rows] }
                }
                _ => Variable { direction, bits: member.bits as u32, dimensions: Vec::new() },
            };
            (name, variable)
        };
        self.all.iter().map(shape).collect()
    }
}

/// The shapes of all declared signals, by the names of their variables.
fn shapes(request: &Request) -> HashMap<String, Variable> {
    let top = request.declaration.block;
    let mut shapes = HashMap::new();
    let variable = |bits, count, array: bool| Variable {
        direction: Direction::Inner,
        bits,
        dimensions: if array { vec![count] } else { Vec::new() },
    };
    for signal in &request.declaration.signals {
        let field = &signal.field;
        if signal.role == Role::Probe {
            let paths = field.paths();
            let count = field.count / paths.len();
            for path in &paths {
                shapes.insert(mangle(top, path), variable(field.bits, count, count > 1));
            }
        } else {
            shapes.insert(field.name.to_owned(), variable(field.bits, field.count, field.array));
        }
    }
    for memory in &request.memories {
        shapes.insert(mangle(top, &memory.path), variable(memory.bits, memory.words, memory.words > 1));
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_the_script_writes_them() {
        let members = Members::parse(
            "design p_m\nin a_i 15 p_a__i.data\nregister u_x.r_q 8 p_r.curr.data p_r.next.data\n\
             memory u_x.mem_q 32 4 memory_p_mem.data[0].data\nunset 8 1 p_r.curr.data p_r.next.data\n",
        );
        assert_eq!(members.design, "p_m");
        let kinds: Vec<_> = members.all.iter().map(|m| (m.kind, m.path.as_str(), m.bits, m.rows)).collect();
        assert_eq!(
            kinds,
            [(Kind::Input, "a_i", 15, 1), (Kind::Register, "u_x.r_q", 8, 1), (Kind::Memory, "u_x.mem_q", 32, 4)]
        );
        assert_eq!(members.all[0].next, None);
        assert_eq!(members.all[1].next.as_deref(), Some("p_r.next.data"));
        assert_eq!(members.unset.len(), 1);
    }
}

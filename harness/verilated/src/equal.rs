//! Generates the C++ that compares Verilator's variables with a record where they are, without copying them first.
//!
//! It follows the harness's rules: a payload is compared while its valid is high (valids are compared too, so either side's valid can be used), all
//! else always. If it reports equality, both sides are equal. If it reports a difference, the harness applies the rules to a sample of the whole cycle.

use std::fmt::Write;

use gpurf_blocks::{Field, Role};

use crate::shim::{Generator, Piece, record_type, size_of_ctype};

/// From this number of bytes on, all elements are compared by a single call, instead of by one expression for each element.
const LONG: usize = 32;

/// Number of narrow values that are compared before the result is tested.
const BATCH: usize = 64;

impl Generator<'_> {
    /// The function that compares these signals with the compared part of a record at `out`.
    pub(crate) fn equal(&self, signals: &[usize]) -> String {
        let mut text = String::from(
            "static inline bool gpurf_equal(const Root* r, const uint8_t* in, const uint8_t* out) {\n    (void)in, (void)out;\n    uint64_t d = 0;\n",
        );
        let (gated, always): (Vec<usize>, Vec<usize>) =
            signals.iter().partition(|&&index| self.declaration.signals[index].valid.is_some());
        for batch in always.chunks(BATCH) {
            for &index in batch {
                let field = &self.declaration.signals[index].field;
                for piece in &self.pieces_of(index) {
                    text.push_str(&self.run(field, piece, self.offset(field)));
                }
            }
            text.push_str("    if (d) return false;\n");
        }
        // Payloads with the same valid are grouped, so that their valid is tested once.
        let mut groups: Vec<(String, String)> = Vec::new();
        for index in gated {
            for (condition, step) in self.gated(index) {
                match groups.iter_mut().find(|group| group.0 == condition) {
                    Some((_, steps)) => steps.push_str(&step),
                    None => groups.push((condition, step)),
                }
            }
        }
        for (condition, steps) in groups {
            writeln!(text, "    if ({condition}) {{\n{steps}    }}").unwrap();
        }
        text.push_str("    return d == 0;\n}\n");
        text
    }

    fn pieces_of(&self, index: usize) -> Vec<Piece> {
        let signal = &self.declaration.signals[index];
        self.pieces(&signal.field, signal.role == Role::Output).expect("only signals that the RTL has")
    }

    /// Offset of the field in the compared part.
    fn offset(&self, field: &Field) -> usize {
        field.offset - self.input_bytes
    }

    /// Statement that compares a whole piece.
    fn run(&self, field: &Field, piece: &Piece, offset: usize) -> String {
        let bytes = piece.count * field.elem_bytes;
        let same = field.is_wide() || field.elem_bytes == size_of_ctype(piece.ctype);
        if same && bytes >= LONG {
            let at = offset + piece.first * field.elem_bytes;
            return format!("    if (memcmp(&r->{}, out + {at}, {bytes})) return false;\n", piece.member);
        }
        let step = |i: usize| {
            let element = narrow(field, piece, offset, &(piece.first + i).to_string(), &i.to_string());
            format!("    d |= {element};\n")
        };
        (0..piece.count).map(step).collect()
    }

    /// Statements that compare a payload, each with the condition under which it is valid.
    fn gated(&self, index: usize) -> Vec<(String, String)> {
        let field = &self.declaration.signals[index].field;
        let offset = self.offset(field);
        let pieces = self.pieces_of(index);
        if let ([piece], Some(mask)) = (&pieces[..], self.mask(index))
            && field.count > 1
        {
            let step = element(field, piece, offset, "i", "i");
            // Often all elements are equal, valid or not.
            let whole = self.run(field, piece, offset);
            let short = whole.starts_with("    if (memcmp") && !field.is_wide();
            let open = if short { whole.replace("return false;", "{\n") } else { "    {\n".to_owned() };
            let text = format!(
                "{open}        for (uint64_t m = {mask}; m; m &= m - 1) {{\n            const size_t i = __builtin_ctzll(m);\n            {step}\n        }}\n    }}\n"
            );
            return vec![(mask, text)];
        }
        let mut steps: Vec<(String, String)> = Vec::new();
        for piece in &pieces {
            for i in 0..piece.count {
                let number = piece.first + i;
                let step = element(field, piece, offset, &number.to_string(), &i.to_string());
                let condition = self.means_something(index, number);
                match steps.last_mut().filter(|last| last.0 == condition) {
                    Some((_, text)) => writeln!(text, "        {step}").unwrap(),
                    None => steps.push((condition, format!("        {step}\n"))),
                }
            }
        }
        steps
    }

    /// Condition that an element is valid; if its valid is a payload too, that valid must be valid itself.
    fn means_something(&self, index: usize, element: usize) -> String {
        let range = self.declaration.valid_range(index, element).expect("has a valid");
        let valid = &self.declaration.signals[range.signal];
        if valid.valid.is_none() {
            return self.valid(index, element);
        }
        if !valid.field.array {
            return format!("({}) && ({})", self.valid(index, element), self.means_something(range.signal, 0));
        }
        let each = (range.first..range.first + range.len)
            .map(|e| format!("({}) && ({})", self.valid_value(range.signal, e), self.means_something(range.signal, e)));
        each.collect::<Vec<_>>().join(" || ")
    }

    /// C expression of a mask with one bit for each element, if the valid is such a mask.
    fn mask(&self, index: usize) -> Option<String> {
        let signal = &self.declaration.signals[index];
        let valid = signal.valid?;
        let by = &self.declaration.signals[valid];
        if by.field.array || by.field.bits as usize != signal.field.count {
            return None;
        }
        let value = self.valid_value(valid, 0);
        Some(if by.valid.is_some() { format!("({} ? {value} : 0)", self.means_something(valid, 0)) } else { value })
    }
}

/// Statement that compares element `from` of a piece with element `to` of the record's array at `offset`.
fn element(field: &Field, piece: &Piece, offset: usize, to: &str, from: &str) -> String {
    if field.is_wide() {
        return format!("if ({}) return false;", differs(field, piece, offset, to, from));
    }
    format!("d |= {};", narrow(field, piece, offset, to, from))
}

/// Call that is not 0 where two wide elements differ.
fn differs(field: &Field, piece: &Piece, offset: usize, to: &str, from: &str) -> String {
    let (bytes, words) = (field.elem_bytes, field.elem_bytes / 4);
    let member = &piece.member;
    format!(
        "memcmp(out + {offset} + {bytes} * {to}, reinterpret_cast<const EData*>(&r->{member}) + {words} * {from}, {bytes})"
    )
}

/// Expression that is not 0 where two elements differ.
fn narrow(field: &Field, piece: &Piece, offset: usize, to: &str, from: &str) -> String {
    if field.is_wide() {
        return format!("({} != 0)", differs(field, piece, offset, to, from));
    }
    format!(
        "static_cast<uint64_t>(reinterpret_cast<const {}*>(out + {offset})[{to}]) ^ \
         static_cast<uint64_t>(reinterpret_cast<const {}*>(&r->{})[{from}])",
        record_type(field.elem_bytes),
        piece.ctype,
        piece.member
    )
}

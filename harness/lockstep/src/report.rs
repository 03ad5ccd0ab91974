//! Describes a failure as text.

use std::fmt::{Display, Formatter, Write};

use gpurf_blocks::{Declaration, Decode, Field, WARP_DATA_BITS, extract, places, registry};
use serde::{Deserialize, Serialize};

use crate::{Capture, Cause, Difference, Divergence, MemoryDifference, Side};

/// The first difference, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DivergenceSummary {
    /// First cycle in which the two sides differ.
    pub cycle: u64,
    /// The block at fault.
    pub block: String,
    /// Index of the instance, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<usize>,
    /// The first differing port, net, register or memory word of that block.
    pub port: String,
    /// The model's value.
    pub model: String,
    /// The RTL's value.
    pub rtl: String,
}

/// Maximum number of further differing signals in a report.
const LISTED: usize = 8;

/// The name of a signal, with the index of the element if there are several.
pub fn name(declaration: &Declaration, difference: &Difference) -> String {
    let field = &declaration.signals[difference.signal].field;
    if field.array { format!("{}[{}]", field.name, difference.element) } else { field.name.to_owned() }
}

/// The value of an element as text.
pub fn value(field: &Field, record: &[u8], element: usize) -> String {
    let words: Vec<u32> = field.words(record, element).collect();
    if let Some(fields) = field.decode.layout(element) {
        let shown: Vec<String> = unpack(fields, &words).iter().filter(|p| p.value != 0).map(Part::to_string).collect();
        return format!(
            "{} ({})",
            number(field, &words),
            if shown.is_empty() { "all 0".to_owned() } else { shown.join(" ") }
        );
    }
    if field.is_wide() {
        return hex(&words, field.bits);
    }
    let number = field.value(record, element);
    match field.decode {
        Decode::Number => number.to_string(),
        Decode::Enum(names) => match usize::try_from(number).ok().and_then(|n| names.get(n)) {
            Some(name) => format!("{name} ({number})"),
            None => format!("{number} (not a value of the enumeration)"),
        },
        Decode::Hex | Decode::Packed(_) | Decode::PackedEach(_) => format!("{number:#x}"),
    }
}

/// A packed struct as a number.
fn number(field: &Field, words: &[u32]) -> String {
    if field.is_wide() {
        return hex(words, field.bits);
    }
    format!("{:#x}", words.iter().rev().fold(0, |number, &word| number << u32::BITS | u64::from(word)))
}

/// A field of a packed struct.
#[derive(PartialEq)]
struct Part {
    name: &'static str,
    value: u64,
    bits: u32,
}

impl Part {
    /// Words, masks and addresses in hexadecimal, other fields as small decimal numbers.
    fn shown(&self) -> String {
        let Self { value, bits, .. } = *self;
        if bits > u16::BITS { format!("{value:#x}") } else { value.to_string() }
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.shown())
    }
}

fn unpack(fields: &'static [(&'static str, u32)], words: &[u32]) -> Vec<Part> {
    places(fields).map(|(name, low, bits)| Part { name, value: extract(words, low, bits), bits }).collect()
}

/// The fields of a packed struct that differ.
fn differing(fields: &'static [(&'static str, u32)], model: &[u32], rtl: &[u32]) -> String {
    let both = unpack(fields, model).into_iter().zip(unpack(fields, rtl));
    let parts: Vec<String> = both
        .filter(|(m, r)| m != r)
        .map(|(m, r)| format!("{}: model {}, rtl {}", m.name, m.shown(), r.shown()))
        .collect();
    parts.join("; ")
}

/// A hexadecimal number of `bits` bits with all its digits; `words` has the lowest word first.
fn hex(words: &[u32], bits: u32) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    format!("0x{}", &digits[digits.len() - bits.div_ceil(4) as usize..])
}

/// Where a memory differs, and both values there: one lane of a warp register, or the whole of any other word.
fn memory_values(memory: &MemoryDifference) -> (String, String, String) {
    let place = format!("{}[{}]", memory.path, memory.word);
    let lane = (0..memory.model.len()).find(|&lane| memory.model[lane] != memory.rtl[lane]);
    match lane.filter(|_| memory.bits == WARP_DATA_BITS) {
        Some(lane) => {
            let [model, rtl] = [&memory.model, &memory.rtl].map(|word| hex(&word[lane..=lane], u32::BITS));
            (format!("{place} lane {lane}"), model, rtl)
        }
        None => (place, hex(&memory.model, memory.bits), hex(&memory.rtl, memory.bits)),
    }
}

/// The fields that differ, if the words of a memory are packed structs.
fn memory_detail(memory: &MemoryDifference) -> Option<String> {
    let block = registry::find(memory.block)?;
    let name = memory.path.rsplit('.').next()?;
    let (_, layout) = block.packed_memories.iter().find(|packed| packed.0 == name)?;
    Some(differing(layout(), &memory.model, &memory.rtl))
}

/// The details in which two values differ, if the full values would hide them.
fn detail(field: &Field, model: &[u8], rtl: &[u8], element: usize) -> Option<String> {
    if let Some(fields) = field.decode.layout(element) {
        let [model, rtl] = [model, rtl].map(|record| field.words(record, element).collect::<Vec<_>>());
        return Some(differing(fields, &model, &rtl));
    }
    if field.is_wide() {
        let word = |record: &[u8], lane: usize| {
            let bytes = &field.bytes(record, element)[4 * lane..4 * lane + 4];
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        let lanes: Vec<usize> = (0..field.elem_bytes / 4).filter(|&l| word(model, l) != word(rtl, l)).collect();
        let first = *lanes.first()?;
        let all: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        let part = if field.bits == WARP_DATA_BITS { "lane" } else { "word" };
        return Some(format!(
            "{part} {first}: model {:#010x}, rtl {:#010x}; differing {part}s: {}",
            word(model, first),
            word(rtl, first),
            all.join(" ")
        ));
    }
    let differing = field.value(model, element) ^ field.value(rtl, element);
    (field.bits > 1 && field.decode == Decode::Hex).then(|| {
        let bits: Vec<String> = (0..64).filter(|b| differing >> b & 1 == 1).map(|b: u32| b.to_string()).collect();
        format!("differing bits: {}", bits.join(" "))
    })
}

/// The first difference of the block at fault, in short.
pub fn summary(declaration: &Declaration, divergence: &Divergence, capture: &Capture) -> DivergenceSummary {
    let base = DivergenceSummary {
        cycle: divergence.cycle,
        block: divergence.blame.block.clone(),
        instance: divergence.blame.instance,
        port: String::new(),
        model: String::new(),
        rtl: String::new(),
    };
    if let Some(memory) = divergence.memories.first() {
        let (port, model, rtl) = memory_values(memory);
        return DivergenceSummary { port, model, rtl, ..base };
    }
    if let Some(side) = divergence.ended {
        let [model, rtl] = [Side::Model, Side::Rtl].map(|s| if s == side { "ended" } else { "goes on" }.to_owned());
        return DivergenceSummary { port: "end of the run".to_owned(), model, rtl, ..base };
    }
    let Some((first, model, rtl)) = evidence(divergence, capture) else { return base };
    let field = &declaration.signals[first.signal].field;
    DivergenceSummary {
        port: name(declaration, &first),
        model: value(field, model, first.element),
        rtl: value(field, rtl, first.element),
        ..base
    }
}

/// The difference that a report lists first, and both records of that cycle.
fn evidence<'a>(divergence: &Divergence, capture: &'a Capture) -> Option<(Difference, &'a [u8], &'a [u8])> {
    let first = divergence.differences.iter().find(|d| divergence.blame.signals.contains(&d.signal));
    let first = *first.or(divergence.differences.first())?;
    let index = usize::try_from(divergence.cycle - capture.first_cycle).ok()?;
    (index < capture.len()).then(|| (first, capture.model(index), capture.rtl(index)))
}

/// The full text of a failure report.
pub fn text(declaration: &Declaration, cause: &Cause, capture: Option<&Capture>) -> String {
    let mut text = String::new();
    let block = declaration.block;
    match cause {
        Cause::Interrupted => text.push_str("interrupted\n"),
        Cause::Panicked { cycle, message } => {
            writeln!(
                text,
                "{block}: the model panicked in cycle {cycle}: {message}\nThis is a defect of gpurf, not of the RTL."
            )
            .expect("string");
        }
        Cause::Assertion { cycle, failure } => {
            writeln!(text, "{block}: the RTL stopped in cycle {cycle}:").expect("string");
            failure.message.trim_end().lines().for_each(|line| writeln!(text, "  {line}").expect("string"));
        }
        Cause::Hung { cycle, since } => {
            writeln!(text, "{block}: no progress from cycle {since} to {cycle}; model and RTL are equal")
                .expect("string");
        }
        Cause::Diverged(divergence) => diverged(&mut text, declaration, divergence, capture),
    }
    if let Some(history) = capture.and_then(history) {
        writeln!(text, "  {:<9} {history}", "history").expect("string");
    }
    text
}

/// A line on the history, if it is longer than the flight recorder's or was requested to be.
fn history(capture: &Capture) -> Option<String> {
    let long = || capture.past.as_ref().map(|past| format!("from cycle {} on", past.first));
    capture.shorter.clone().or_else(long)
}

fn diverged(text: &mut String, declaration: &Declaration, divergence: &Divergence, capture: Option<&Capture>) {
    let mut line = |label: &str, what: &str| writeln!(text, "  {label:<9} {what}").expect("string");
    line("cycle", &format!("{} (from the first edge after reset)", divergence.cycle));
    line("block", &format!("{} (inside {})", divergence.blame, declaration.block));
    if let Some(why) = &divergence.blame.unknown {
        line(
            "",
            &format!("its wiring cannot be read, so no block inside is named: {}", why.lines().next().unwrap_or("")),
        );
    }
    for memory in &divergence.memories {
        let (place, model, rtl) = memory_values(memory);
        line("memory", &place);
        line("model", &model);
        line("rtl", &rtl);
        if let Some(detail) = memory_detail(memory) {
            line("", &detail);
        }
    }
    if let Some(side) = divergence.ended {
        let (ended, other) = if side == Side::Rtl { ("RTL", "model") } else { ("model", "RTL") };
        line("end", &format!("the {ended}'s environment ends the run in this cycle, the {other}'s goes on"));
    }
    let Some((first, model, rtl)) = capture.and_then(|c| evidence(divergence, c)) else { return };
    let field = &declaration.signals[first.signal].field;
    line("port", &format!("{}: {}", name(declaration, &first), field.doc));
    line("model", &value(field, model, first.element));
    line("rtl", &value(field, rtl, first.element));
    if let Some(detail) = detail(field, model, rtl, first.element) {
        line("", &detail);
    }
    let others: Vec<String> =
        divergence.differences.iter().filter(|d| **d != first).map(|d| name(declaration, d)).collect();
    if !others.is_empty() {
        let more = others.len().saturating_sub(LISTED);
        let listed = others[..others.len().min(LISTED)].join(", ");
        line("also", &if more > 0 { format!("{listed} and {more} more") } else { listed });
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::instruction::{Instruction, InstructionFields, Roles, RolesFields};
    use gpurf_blocks::{Packed, Ports, packed, ports};

    use super::*;

    ports! {
        struct Given(_s: &()) {
            instruction_i: [Instruction; 2] = packed::<Instruction>().count(2),
            roles_i: u64 = packed::<Roles>(),
        }
    }

    fn instruction(pc: u32, d: u8) -> Instruction {
        let roles = RolesFields { d, ..RolesFields::default() }.into();
        InstructionFields { pc, roles, op: 0x25, ..InstructionFields::default() }.into()
    }

    /// A record with this instruction in element 1, and its roles.
    fn record(instruction: Instruction) -> Vec<u8> {
        let fields = Given::fields(&());
        let mut bytes = vec![0; size_of::<Given>()];
        for (at, word) in instruction.0.into_iter().enumerate() {
            let offset = fields[0].offset + size_of::<Instruction>() + 4 * at;
            bytes[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[fields[1].offset..][..8].copy_from_slice(&instruction.roles().0.to_le_bytes());
        bytes
    }

    #[test]
    fn a_packed_struct_is_shown_by_its_fields_however_wide_it_is() {
        let fields = Given::fields(&());
        let (model, rtl) = (record(instruction(0x123, 7)), record(instruction(0x123, 5)));
        let text = value(&fields[0], &model, 1);
        assert!(text.starts_with("0x000246") && text.ends_with("(pc=0x123 roles.d=7 op=0x25)"), "{text}");
        assert_eq!(value(&fields[1], &model, 0), "0x7000000 (d=7)");
        assert!(value(&fields[0], &model, 0).ends_with("(all 0)"));
        assert_eq!(detail(&fields[0], &model, &rtl, 1).as_deref(), Some("roles.d: model 7, rtl 5"));
        assert_eq!(detail(&fields[1], &model, &rtl, 0).as_deref(), Some("d: model 7, rtl 5"));
        let rtl = record(instruction(0x124, 7));
        assert_eq!(detail(&fields[0], &model, &rtl, 1).as_deref(), Some("pc: model 0x123, rtl 0x124"));
    }

    #[test]
    fn a_word_of_a_memory_that_is_a_packed_struct_is_shown_by_its_fields() {
        let [model, rtl] = [instruction(1, 7), instruction(1, 5)].map(|instruction| instruction.0.to_vec());
        let path = "u_operand_stage.instruction_q".to_owned();
        let bits = Instruction::BITS;
        let memory = MemoryDifference { path, block: "operand_stage", word: 3, bits, model, rtl };
        assert_eq!(memory_detail(&memory).as_deref(), Some("roles.d: model 7, rtl 5"));
        assert_eq!(memory_detail(&MemoryDifference { path: "pred_q".to_owned(), ..memory }), None);
    }
}

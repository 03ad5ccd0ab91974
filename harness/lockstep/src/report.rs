//! A failure in words.

use std::fmt::Write;

use gpurf_blocks::{Declaration, Decode, Field, WARP_DATA_BITS, places};
use serde::{Deserialize, Serialize};

use crate::{Capture, Cause, Difference, Divergence, MemoryDifference, Side};

/// The first difference, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DivergenceSummary {
    /// First cycle in which the two sides differ.
    pub cycle: u64,
    /// The block at fault.
    pub block: String,
    /// The instance of it, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<usize>,
    /// The first differing port, net, register or memory word of that block.
    pub port: String,
    /// The model's value.
    pub model: String,
    /// The RTL's value.
    pub rtl: String,
}

/// How many further differing signals a report lists.
const LISTED: usize = 8;

/// The name of a signal, with the element where it has several.
pub fn name(declaration: &Declaration, difference: &Difference) -> String {
    let field = &declaration.signals[difference.signal].field;
    if field.array { format!("{}[{}]", field.name, difference.element) } else { field.name.to_owned() }
}

/// The value of an element in words.
pub fn value(field: &Field, record: &[u8], element: usize) -> String {
    if field.elem_bytes > 8 {
        let words =
            field.bytes(record, element).chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four")));
        return hex(&words.collect::<Vec<_>>(), field.bits);
    }
    let number = field.value(record, element);
    match field.decode {
        Decode::Number => number.to_string(),
        Decode::Hex => format!("{number:#x}"),
        Decode::Enum(names) => match usize::try_from(number).ok().and_then(|n| names.get(n)) {
            Some(name) => format!("{name} ({number})"),
            None => format!("{number} (not a value of the enumeration)"),
        },
        Decode::Packed(_) | Decode::PackedEach(_) => {
            let fields = field.decode.layout(element).unwrap_or_default();
            let parts: Vec<String> =
                unpack(fields, number).into_iter().filter(|p| p.1 != 0).map(|(n, v)| format!("{n}={v}")).collect();
            format!("{number:#x} ({})", if parts.is_empty() { "all 0".to_owned() } else { parts.join(" ") })
        }
    }
}

fn unpack(fields: &'static [(&'static str, u32)], word: u64) -> Vec<(&'static str, u64)> {
    places(fields).map(|(name, low, bits)| (name, word >> low & (u64::MAX >> (64 - bits)))).collect()
}

/// A number of `bits` bits, lowest element first, with all its digits.
fn hex(words: &[u32], bits: u32) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    format!("0x{}", &digits[digits.len() - bits.div_ceil(4) as usize..])
}

/// Where a memory differs, and both values there: a lane of a warp register, the whole of any other word.
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

/// What distinguishes the two values, where the whole would hide it.
fn detail(field: &Field, model: &[u8], rtl: &[u8], element: usize) -> Option<String> {
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
    if let Some(fields) = field.decode.layout(element) {
        let both =
            unpack(fields, field.value(model, element)).into_iter().zip(unpack(fields, field.value(rtl, element)));
        let parts: Vec<String> =
            both.filter(|(m, r)| m != r).map(|(m, r)| format!("{}: model {}, rtl {}", m.0, m.1, r.1)).collect();
        return Some(parts.join("; "));
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

/// The difference that a report puts first, and both records of that cycle.
fn evidence<'a>(divergence: &Divergence, capture: &'a Capture) -> Option<(Difference, &'a [u8], &'a [u8])> {
    let first = divergence.differences.iter().find(|d| divergence.blame.signals.contains(&d.signal));
    let first = *first.or(divergence.differences.first())?;
    let index = usize::try_from(divergence.cycle - capture.first_cycle).ok()?;
    (index < capture.model.len()).then(|| (first, capture.model.get(index), capture.rtl.get(index)))
}

/// The whole failure.
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
    text
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

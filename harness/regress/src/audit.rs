//! The bit-flip audit: is every bit of the RTL's state looked at?
//!
//! Every register bit of the RTL, as Verilator lists them, is inverted once in a run, the combinational logic is evaluated anew, and the lockstep's rules are applied to
//! that very cycle. Then the bit is put back and the run goes on. A bit that means nothing in one cycle (a payload without its valid) is tried again in others. A bit that
//! is never reported is either on the list of exceptions, with its reason, or a hole in the probes.
//!
//! Memories are compared whole at intervals, so a flipped bit in one is reported by that comparison: one bit of every word is tried, another column for each
//! word, all columns in turn.

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_lockstep::{Comparator, RESET_CYCLES, Records, fill_memories};
use serde::Serialize;
use verilated::{Instance, Options, Toolchain};

use crate::{JobError, Project, RtlSources, request};

/// Flips tried in a cycle.
const FLIPS_PER_CYCLE: usize = 64;
/// Cycles after which bits that have never been reported are given up.
const CYCLES: usize = 30_000;
/// Cycles in a row in which no pending bit was reported, after which the rest is given up.
const PATIENCE: usize = 6_000;

/// What the audit of one block found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Audit {
    /// The block.
    pub block: String,
    /// Register bits tried.
    pub bits: usize,
    /// Bits reported in the cycle of the flip.
    pub reported: usize,
    /// Memory words tried, one bit each.
    pub memory_words: usize,
    /// Memory words whose flip the whole comparison reported.
    pub memory_reported: usize,
    /// Bits that no cycle reported: register, and how many of its bits.
    pub unreported: BTreeMap<String, usize>,
    /// Those of them that an exception explains.
    pub explained: BTreeMap<String, String>,
}

impl Audit {
    /// Whether every bit was reported or is explained.
    pub fn complete(&self) -> bool {
        self.memory_reported == self.memory_words
            && self.unreported.keys().all(|name| self.explained.contains_key(name))
    }
}

/// A register whose bits may go unreported, and why.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// Module that holds it.
    pub block: &'static str,
    /// Register name.
    pub register: &'static str,
    /// Why it cannot matter.
    pub why: &'static str,
}

/// Every exception.
pub const EXCEPTIONS: &[Exception] = &[];

/// A register bit.
#[derive(Clone, Copy)]
struct Bit {
    state: usize,
    byte: usize,
    bit: u8,
}

/// Audits a block in a configuration.
///
/// # Errors
/// When the RTL cannot be built or fails by itself.
///
/// # Panics
/// When RTL and model differ without a flip: the lockstep has to pass first.
pub fn audit(project: &Project, tools: &Toolchain, block: &str, config: &Config, seed: u64) -> Result<Audit, JobError> {
    let options = Options { state: true, assertions: false, ..Options::default() };
    let request = request(project, block, config, &RtlSources::default(), options)?;
    let library = tools.build(&request)?;
    let failed = |f: verilated::Failure| JobError::Build(f.to_string());
    let mut rtl = library.instance(seed).map_err(failed)?;
    let mut twin = gpurf_sm::find(block).map(|b| (b.twin)(config)).expect("found by request");
    let comparator = Comparator::new(twin.declaration(), library.absent());
    let declaration = comparator.declaration().clone();
    let mut stimulus = gpurf_stimulus::random(block, config, seed);

    let memories: Vec<String> = request.memories.iter().map(|m| mangled(&m.path)).collect();
    let mut pending = register_bits(&mut rtl, &memories);
    let mut audit = Audit { block: block.to_owned(), bits: pending.len(), ..Audit::default() };

    let mut record = Records::zeroed(declaration.record_bytes, 3);
    let reset = declaration.signal("rst_ni").map(|s| s.field.offset);
    let (mut next, mut quiet) = (0, 0);
    for cycle in 0..CYCLES + RESET_CYCLES {
        let in_reset = reset.is_some() && cycle < RESET_CYCLES;
        if cycle + 1 == RESET_CYCLES || reset.is_none() && cycle == 0 {
            fill_memories(&mut *twin, &mut rtl, seed);
        }
        stimulus.next(&mut record.get_mut(0)[..declaration.input_bytes]);
        if let Some(at) = reset.filter(|_| in_reset) {
            record.get_mut(0)[at] = 0;
        }
        let inputs = record.get(0)[..declaration.input_bytes].to_vec();
        record.get_mut(1)[..declaration.input_bytes].copy_from_slice(&inputs);
        record.get_mut(2)[..declaration.input_bytes].copy_from_slice(&inputs);
        rtl.settle(record.get_mut(0)).map_err(failed)?;
        let (model_in, model_out) = record.get_mut(1).split_at_mut(declaration.input_bytes);
        twin.cycle(model_in, model_out);
        if !in_reset {
            let differences = comparator.differences(record.get(1), record.get(0));
            assert!(differences.is_empty(), "{block} differs in cycle {cycle} without a flip: run the lockstep first");
            let found_before = audit.reported;
            for _ in 0..FLIPS_PER_CYCLE.min(pending.len()) {
                next %= pending.len();
                let bit = pending[next];
                flip(&mut rtl, bit);
                rtl.settle_all(record.get_mut(2)).map_err(failed)?;
                // The comparison in place sees what the rules see.
                let reported = !rtl.is_equal(record.get(1));
                flip(&mut rtl, bit);
                let differs = !comparator.differences(record.get(1), record.get(2)).is_empty();
                assert!(
                    reported || !differs,
                    "{block}: the comparison in place overlooks a difference in cycle {cycle}"
                );
                if !differs {
                    next += 1;
                } else {
                    audit.reported += 1;
                    pending.swap_remove(next);
                }
                if pending.is_empty() {
                    break;
                }
            }
            quiet = if audit.reported > found_before { 0 } else { quiet + 1 };
            rtl.settle_all(record.get_mut(2)).map_err(failed)?;
        }
        rtl.edge().map_err(failed)?;
        if pending.is_empty() || quiet > PATIENCE {
            break;
        }
    }
    for bit in pending {
        let name = rtl.state(bit.state).name.to_owned();
        *audit.unreported.entry(name).or_default() += 1;
    }
    for name in audit.unreported.keys() {
        let explains = |e: &&Exception| name.ends_with(&format!("__DOT__{}", e.register));
        if let Some(exception) = EXCEPTIONS.iter().find(explains) {
            audit.explained.insert(name.clone(), exception.why.to_owned());
        }
    }
    audit_memories(&mut *twin, &mut rtl, &mut audit);
    Ok(audit)
}

/// The C++ spelling of a path, without the top.
fn mangled(path: &str) -> String {
    path.replace('.', "__DOT__").replace('[', "__BRA__").replace(']', "__KET__")
}

/// Every bit of every register that is not a memory.
fn register_bits(rtl: &mut Instance, memories: &[String]) -> Vec<Bit> {
    let mut bits = Vec::new();
    for state in 0..rtl.state_count() {
        let element = rtl.state(state);
        if memories.iter().any(|m| element.name.ends_with(&format!("__DOT__{m}"))) {
            continue;
        }
        let count = element.bytes.len() / element.elem_bytes;
        for index in 0..count {
            let first = index * element.elem_bytes;
            bits.extend((0..element.bits as usize).map(|b| Bit { state, byte: first + b / 8, bit: (b % 8) as u8 }));
        }
    }
    bits
}

fn flip(rtl: &mut Instance, bit: Bit) {
    rtl.state(bit.state).bytes[bit.byte] ^= 1 << bit.bit;
}

/// Flips a bit of every memory word and asks the whole comparison.
fn audit_memories(twin: &mut dyn gpurf_blocks::Twin, rtl: &mut Instance, audit: &mut Audit) {
    for (index, memory) in twin.memories().into_iter().enumerate() {
        for word in 0..memory.len() {
            let column = (word * 97) % memory.bits as usize;
            let place = word * memory.stride() + column / 32;
            rtl.memory(index).flip(place, column as u32 % 32);
            let differs = !rtl.memory(index).is_equal(memory.words);
            rtl.memory(index).flip(place, column as u32 % 32);
            audit.memory_words += 1;
            audit.memory_reported += usize::from(differs);
        }
    }
}

//! The bit-flip audit: is every bit of the RTL's state looked at, in every cycle?
//!
//! Every register bit of the RTL is inverted in a running design, the combinational logic is evaluated anew, and the lockstep's rules are applied to
//! that very cycle. Then the bit is put back and the run goes on.
//!
//! The declaration says how a register is compared: as a probe, or by an output that shows it ([`Field::shows`](gpurf_blocks::Field::shows)). From it follows when: always, or while a
//! valid is high. The bit is inverted in [`CYCLES_EACH`] such cycles, and has to be reported in each of them. A register that is neither, and no memory, is a hole.
//! A register of an instance inside that has no probe in the block above it is compared there by the nets that it drives; it has to be reported once, and in every cycle in the audit of its own block.
//!
//! Memories are compared whole at intervals, so a flipped bit in one is reported by that comparison: one bit of every word is tried, another column for each
//! word, all columns in turn.

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_lockstep::registers::{Registers, Shown, mangled, readable};
use gpurf_lockstep::{Comparator, RESET_CYCLES, Records, fill_memories};
use serde::Serialize;
use verilated::{Instance, Options, Toolchain};

use crate::{JobError, Project, RtlSources, request};

/// Cycles in which each bit is inverted, of those in which it is compared.
pub const CYCLES_EACH: usize = 8;
/// Cycles from one flip of a bit to the next at the least, so that they are spread over the run.
const APART: usize = 61;
/// Flips tried in a cycle.
const FLIPS_PER_CYCLE: usize = 64;
/// Cycles after which bits that have not been tried often enough are given up.
const CYCLES: usize = 30_000;
/// Cycles in a row in which no flip has told anything new, after which the rest is given up.
const PATIENCE: usize = 6_000;

/// What the audit of one block found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Audit {
    /// The block.
    pub block: String,
    /// Register bits, those of instances inside among them.
    pub bits: usize,
    /// Bits reported: each time, or at least once where they are inside and have no probe.
    pub reported: usize,
    /// Those of instances inside that have no probe.
    pub inside: usize,
    /// Bits that were compared in fewer than [`CYCLES_EACH`] cycles that could be tried, though reported in all of them.
    pub seldom: usize,
    /// Memory words tried, one bit each.
    pub memory_words: usize,
    /// Memory words whose flip the whole comparison reported.
    pub memory_reported: usize,
    /// Registers with bits that were not reported.
    pub holes: Vec<Hole>,
}

/// Bits of a register that were not reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hole {
    /// The register's path inside the block.
    pub register: String,
    /// How many of its bits.
    pub bits: usize,
    /// What was found.
    pub kind: HoleKind,
}

/// How bits fail the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoleKind {
    /// It is no probe and no memory, and no output is declared to show it.
    NotDeclared,
    /// A flip was not reported although the declaration says that the bit was compared in that cycle.
    Missed {
        /// The first such cycle.
        cycle: usize,
    },
    /// The declaration never said that it was compared.
    NeverCompared,
    /// It is inside an instance, and no net of the block has shown a flip.
    NeverShown,
}

impl Audit {
    /// Whether every bit was reported.
    pub fn complete(&self) -> bool {
        self.memory_reported == self.memory_words && self.holes.is_empty()
    }
}

/// Why there is no audit of a block.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The RTL cannot be built, or fails by itself.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The lockstep has to pass first.
    #[error(
        "{block} differs from its model in cycle {cycle} even without a flip: run gpurf cosim --block {block} first"
    )]
    Differs {
        /// The block.
        block: String,
        /// The cycle, those of reset included.
        cycle: usize,
    },
    /// The lockstep asks the rules only where the comparison in place finds a difference, so it would not see this one.
    #[error(
        "{block}: a flip of {register} in cycle {cycle} differs by the rules, but the comparison in place overlooks it: \
         the lockstep is blind there. This is a defect of gpurf, not of the RTL."
    )]
    Overlooked {
        /// The block.
        block: String,
        /// The register's path inside the block.
        register: String,
        /// The cycle, those of reset included.
        cycle: usize,
    },
}

impl From<verilated::Error> for AuditError {
    fn from(error: verilated::Error) -> Self {
        Self::Job(error.into())
    }
}

/// A register bit.
struct Bit {
    state: usize,
    byte: usize,
    bit: u8,
    /// Where it is compared; nowhere for one inside that has no probe.
    shown: Vec<Shown>,
    /// Cycles in which it has been reported.
    reported: usize,
    /// The cycle from which it may be tried again.
    from: usize,
}

impl Bit {
    /// Whether this many reports are enough.
    fn is_done(&self) -> bool {
        self.reported >= if self.shown.is_empty() { 1 } else { CYCLES_EACH }
    }
}

/// Audits a block in a configuration.
///
/// # Errors
/// As [`AuditError`] says.
pub fn audit(
    project: &Project,
    tools: &Toolchain,
    block: &str,
    config: &Config,
    seed: u64,
) -> Result<Audit, AuditError> {
    audit_sources(project, tools, block, config, &RtlSources::default(), seed)
}

/// [`audit`] of RTL in which some modules come from elsewhere.
///
/// # Errors
/// As [`audit`].
pub fn audit_sources(
    project: &Project,
    tools: &Toolchain,
    block: &str,
    config: &Config,
    sources: &RtlSources,
    seed: u64,
) -> Result<Audit, AuditError> {
    let options = Options { state: true, assertions: false, ..Options::default() };
    let request = request(project, block, config, sources, options)?;
    let library = tools.build(&request)?;
    let failed = |f: verilated::RtlFailure| JobError::Build(f.to_string());
    let mut rtl = library.instance(seed).map_err(failed)?;
    let mut twin = gpurf_sm::find(block).map(|b| (b.twin)(config)).expect("found by request");
    let comparator = Comparator::new(twin.declaration(), Some(&library));
    let declaration = comparator.declaration().clone();
    let mut stimulus = gpurf_stimulus::random(block, config, seed);

    let memories: Vec<String> = request.memories.iter().map(|m| m.path.clone()).collect();
    let mut holes = Holes { block, found: BTreeMap::new() };
    let mut audit = Audit { block: block.to_owned(), ..Audit::default() };
    let mut pending = register_bits(&mut rtl, &comparator, &memories, &mut audit, &mut holes);

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
            if !differences.is_empty() {
                return Err(AuditError::Differs { block: block.to_owned(), cycle });
            }
            quiet += 1;
            let (mut looked_at, mut flips) = (0, 0);
            while looked_at < pending.len() && flips < FLIPS_PER_CYCLE {
                looked_at += 1;
                next = (next + 1) % pending.len();
                let bit = &mut pending[next];
                let compared = bit.shown.iter().any(|shown| shown.is_compared(&declaration, record.get(1)));
                if bit.from > cycle || !(compared || bit.shown.is_empty()) {
                    continue;
                }
                flips += 1;
                flip(&mut rtl, bit);
                rtl.settle_all(record.get_mut(2)).map_err(failed)?;
                // The comparison in place sees what the rules see.
                let reported = !rtl.is_equal(record.get(1));
                flip(&mut rtl, bit);
                let differs = !comparator.differences(record.get(1), record.get(2)).is_empty();
                if differs && !reported {
                    let register = readable(block, rtl.state(bit.state).name);
                    return Err(AuditError::Overlooked { block: block.to_owned(), register, cycle });
                }
                // What is inside means something seldom, and once is enough.
                bit.from = cycle + if bit.shown.is_empty() { 1 } else { APART };
                if differs {
                    bit.reported += 1;
                    quiet = 0;
                } else if compared {
                    holes.add(rtl.state(bit.state).name, HoleKind::Missed { cycle });
                    pending.swap_remove(next);
                    continue;
                }
                if bit.is_done() {
                    audit.reported += 1;
                    pending.swap_remove(next);
                }
            }
            rtl.settle_all(record.get_mut(2)).map_err(failed)?;
        }
        rtl.edge().map_err(failed)?;
        if pending.is_empty() || quiet > PATIENCE {
            break;
        }
    }
    for bit in pending {
        if bit.reported != 0 {
            (audit.reported, audit.seldom) = (audit.reported + 1, audit.seldom + 1);
        } else {
            let kind = if bit.shown.is_empty() { HoleKind::NeverShown } else { HoleKind::NeverCompared };
            holes.add(rtl.state(bit.state).name, kind);
        }
    }
    audit.holes = holes.list();
    audit_memories(&mut *twin, &mut rtl, &mut audit);
    Ok(audit)
}

/// Holes as they are found: by register and whether a flip was missed, with the number of bits.
struct Holes<'a> {
    block: &'a str,
    found: BTreeMap<(String, u8), (HoleKind, usize)>,
}

impl Holes<'_> {
    /// A bit of the register of this name in C++.
    fn add(&mut self, name: &str, kind: HoleKind) {
        let register = readable(self.block, name);
        let class = match kind {
            HoleKind::NotDeclared => 0,
            HoleKind::Missed { .. } => 1,
            HoleKind::NeverCompared | HoleKind::NeverShown => 2,
        };
        self.found.entry((register, class)).or_insert((kind, 0)).1 += 1;
    }

    fn list(self) -> Vec<Hole> {
        self.found.into_iter().map(|((register, _), (kind, bits))| Hole { register, bits, kind }).collect()
    }
}

/// Every bit of every register that is not a memory only. Those that are declared nowhere are holes at once.
fn register_bits(
    rtl: &mut Instance,
    comparator: &Comparator,
    memories: &[String],
    audit: &mut Audit,
    holes: &mut Holes<'_>,
) -> Vec<Bit> {
    let declaration = comparator.declaration();
    let memories: Vec<String> = memories.iter().map(|path| mangled(declaration.block, path)).collect();
    let registers = Registers::new(comparator);
    let mut bits = Vec::new();
    for state in 0..rtl.state_count() {
        let element = rtl.state(state);
        let (name, width, elem_bytes) = (element.name.to_owned(), element.bits as usize, element.elem_bytes);
        let signals = registers.shown_by(&name);
        if signals.is_empty() && memories.contains(&name) {
            continue;
        }
        // Instances are called `u_` something, generate blocks `gen_`.
        let inside = name.contains("__DOT__u_");
        let count = element.bytes.len() / elem_bytes;
        let total = count * width;
        audit.bits += total;
        for (place, (index, b)) in (0..count).flat_map(|i| (0..width).map(move |b| (i, b))).enumerate() {
            let shown: Vec<Shown> = signals.iter().map(|part| part.of_bit(declaration, place, total)).collect();
            if shown.is_empty() && !inside {
                holes.add(&name, HoleKind::NotDeclared);
                continue;
            }
            audit.inside += usize::from(shown.is_empty());
            let byte = index * elem_bytes + b / 8;
            bits.push(Bit { state, byte, bit: (b % 8) as u8, shown, reported: 0, from: 0 });
        }
    }
    bits
}

fn flip(rtl: &mut Instance, bit: &Bit) {
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

//! The bit-flip audit: checks that every bit of the RTL's state is compared in every cycle.
//!
//! Every register bit of the RTL is inverted in a running design, the combinational logic is evaluated again, and the lockstep's rules are applied to
//! that cycle. Then the bit is restored and the run continues.
//!
//! The declaration says how a register is compared: as a probe, or by an output that shows it ([`Field::shows`](gpurf_blocks::Field::shows)). This also determines when: always, or while a
//! valid is high. The bit is inverted in [`CYCLES_EACH`] such cycles, and has to be reported in each of them. A register that is compared in neither way and is not a memory is a hole.
//! A register of a sub-block without a probe in the enclosing block is compared there only by the nets that it drives. A flip has to be reported once there, and each time in its own block's audit.
//!
//! Memories are compared whole at intervals, and this comparison has to report a flipped bit. One bit of every word is tried, in a different column for each
//! word, so that all columns are tried.

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_lockstep::registers::{Registers, Shown, mangled, readable};
use gpurf_lockstep::{Comparator, RESET_CYCLES, Records, fill_memories};
use serde::Serialize;
use verilated::{Instance, Options, Toolchain};

use crate::{JobError, Project, RtlSources, request};

/// Number of cycles in which each bit is inverted; it is compared in all of them.
pub const CYCLES_EACH: usize = 8;
/// Minimum number of cycles between two flips of a bit, so that the flips are spread over the run.
const APART: usize = 61;
/// Number of flips tried in one cycle.
const FLIPS_PER_CYCLE: usize = 64;
/// Cycles after which the audit stops, even if some bits have not been tried often enough.
const CYCLES: usize = 30_000;
/// Consecutive cycles in which no flip gave new information, after which the audit stops.
const PATIENCE: usize = 6_000;

/// Result of the audit of one block.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Audit {
    /// The block.
    pub block: String,
    /// Number of register bits, including those of sub-blocks.
    pub bits: usize,
    /// Number of bits reported: each time, or at least once if they are in a sub-block without a probe.
    pub reported: usize,
    /// Number of bits in sub-blocks without a probe.
    pub inside: usize,
    /// Number of bits that could be tried in fewer than [`CYCLES_EACH`] cycles, but were reported in all of them.
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
    /// Number of its bits that were not reported.
    pub bits: usize,
    /// The kind of hole.
    pub kind: HoleKind,
}

/// The ways in which bits fail the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoleKind {
    /// It is neither a probe nor a memory, and no output is declared to show it.
    NotDeclared,
    /// A flip was not reported although the declaration says that the bit was compared in that cycle.
    Missed {
        /// The first such cycle.
        cycle: usize,
    },
    /// The declaration never called for its comparison.
    NeverCompared,
    /// It is in a sub-block, and no net of the block has shown a flip.
    NeverShown,
}

impl Audit {
    /// Whether there are no holes.
    pub fn complete(&self) -> bool {
        self.memory_reported == self.memory_words && self.holes.is_empty()
    }
}

/// Why a block could not be audited.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The RTL cannot be built, or fails without a flip.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The lockstep must pass without a flip first.
    #[error(
        "{block} differs from its model in cycle {cycle} even without a flip: run gpurf cosim --block {block} first"
    )]
    Differs {
        /// The block.
        block: String,
        /// The cycle, those of reset included.
        cycle: usize,
    },
    /// The lockstep applies the rules only if the comparison in place finds a difference, so it would not detect this flip.
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
    /// The places where it is compared; empty for a bit in a sub-block without a probe.
    shown: Vec<Shown>,
    /// Number of cycles in which it has been reported.
    reported: usize,
    /// The first cycle in which it may be tried again.
    from: usize,
}

impl Bit {
    /// Whether the bit has been reported often enough.
    fn is_done(&self) -> bool {
        self.reported >= if self.shown.is_empty() { 1 } else { CYCLES_EACH }
    }
}

/// Audits a block in a configuration.
///
/// # Errors
/// See [`AuditError`].
pub fn audit(
    project: &Project,
    tools: &Toolchain,
    block: &str,
    config: &Config,
    seed: u64,
) -> Result<Audit, AuditError> {
    audit_sources(project, tools, block, config, &RtlSources::default(), seed)
}

/// As [`audit`], with RTL in which some modules are replaced.
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
                // The comparison in place has to detect what the rules detect.
                let reported = !rtl.is_equal(record.get(1));
                flip(&mut rtl, bit);
                let differs = !comparator.differences(record.get(1), record.get(2)).is_empty();
                if differs && !reported {
                    let register = readable(block, rtl.state(bit.state).name);
                    return Err(AuditError::Overlooked { block: block.to_owned(), register, cycle });
                }
                // A bit in a sub-block is seldom visible, and one report is enough.
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

/// Collects holes: by register and by whether a flip was missed, with the number of bits.
struct Holes<'a> {
    block: &'a str,
    found: BTreeMap<(String, u8), (HoleKind, usize)>,
}

impl Holes<'_> {
    /// Adds a bit of the register with this C++ name.
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

/// Every bit of every register, except registers that are memories only. Undeclared registers are holes at once.
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
        // Names of instances begin with `u_`, names of generate blocks with `gen_`.
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

/// Flips a bit of every memory word and checks that the whole comparison reports it.
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

//! Register allocation: graph colouring in the manner of Chaitin and Briggs.
//!
//! The crate regalloc2 was tried first. It supports at most 64 registers of a class (128 are needed here), requires
//! SSA, which guarded writes do not fit, and moves a spilled predicate as if predicates could be stored to memory.
//! Colouring has none of these problems: all registers are alike, no operation requires a certain register, and a
//! guarded write is simply a write that does not end the life of the old value. A separate check ([`check`]) finds the
//! allocator's errors.
//!
//! Predicates are allocated first: those that do not fit into the machine's seven become words, which compete for
//! general registers. General registers follow: constants, special registers and parameters are recomputed where they
//! are needed; other values that do not fit are spilled to local memory.

pub mod check;
mod colour;
mod graph;
mod spill;

use crate::mir::{Class, Function, cfg};
use gpurf_isa::Predicate;

/// Limit on the rounds of colouring and spilling. A round spills the values that did not fit and replaces them by
/// values that live only from one instruction to the next, so few rounds are needed.
const ROUNDS: usize = 64;

/// The registers of a function's values, and the cost of the allocation.
#[derive(Debug, Default)]
pub struct Allocation {
    /// The register or predicate of each value; values that are not used have none.
    pub place: Vec<Option<u8>>,
    /// General registers in use.
    pub registers: u16,
    /// Predicates in use.
    pub predicates: u16,
    /// Values that were spilled to local memory.
    pub spilled: u32,
    /// Values that are recomputed at each use.
    pub recomputed: u32,
    /// Predicates that became words.
    pub spilled_predicates: u32,
    /// Loads of spilled values in the code.
    pub loads: u32,
    /// Stores of spilled values in the code.
    pub stores: u32,
    /// Bytes of local memory for spilled values, alignment padding included.
    pub spill_bytes: u32,
}

impl Allocation {
    /// Number of instructions that exist because registers or predicates did not suffice. Each recomputed value and
    /// each spilled predicate counts as one, however many uses it has.
    pub fn memory_cost(&self) -> u32 {
        self.loads + self.stores + self.recomputed + self.spilled_predicates
    }
}

/// Why the allocation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The values do not fit, even with spilling.
    #[error("does not fit into {0} registers")]
    DoesNotFit(u16),
    /// The compiler's own tables, which are bounded, would be too large.
    #[error("is too large for the register allocator: it has too many values, or blocks with branches between them")]
    TooLarge,
}

/// Limit on the number of pairs of values that must not share a register, of one class. Some 4,000 values that are all live at one point reach it, and
/// code of 100,000 instructions with 80 live values. Above it, values are spilled before the first colouring.
const MAX_PAIRS: usize = 8_000_000;

/// Limit on the number of blocks times the number of values; the sets of live values take one bit for each.
const MAX_LIVENESS: usize = 1 << 31;

/// Finds registers below `limit` for all values. Spilled values are stored in local memory from `local_bytes` on.
pub fn run(f: &mut Function, limit: u16, local_bytes: u32) -> Result<Allocation, AllocationError> {
    run_within(f, limit, local_bytes, MAX_PAIRS)
}

fn run_within(
    f: &mut Function,
    limit: u16,
    local_bytes: u32,
    most_pairs: usize,
) -> Result<Allocation, AllocationError> {
    if f.blocks.len().saturating_mul(f.classes.len()) > MAX_LIVENESS {
        return Err(AllocationError::TooLarge);
    }
    let mut allocation = Allocation::default();
    let mut spiller = spill::Spiller::new(local_bytes);
    let depth = loop_depth(f);
    let mut colour_all = |class, limit| colour_all(f, class, limit, &depth, &mut spiller, most_pairs);
    let predicates = colour_all(Class::Predicate, Predicate::COUNT as u16)?;
    let general = colour_all(Class::General, limit)?;
    let highest = |places: &[Option<u8>]| places.iter().flatten().max().map_or(0, |&r| u16::from(r) + 1);
    allocation.registers = highest(&general);
    allocation.predicates = highest(&predicates);
    allocation.place = general;
    for (place, predicate) in allocation.place.iter_mut().zip(predicates) {
        *place = place.or(predicate);
    }
    spiller.report(&mut allocation);
    Ok(allocation)
}

fn colour_all(
    f: &mut Function,
    class: Class,
    limit: u16,
    depth: &[u32],
    spiller: &mut spill::Spiller,
    most_pairs: usize,
) -> Result<Vec<Option<u8>>, AllocationError> {
    for _ in 0..ROUNDS {
        let graph = graph::Graph::new(f, class, depth, most_pairs, |v| spiller.is_temporary(v));
        match graph.and_then(|graph| colour::colour(&graph, limit, |v| spiller.is_temporary(v))) {
            Ok(colours) => return Ok(colours),
            Err(spills) if spills.is_empty() => return Err(AllocationError::TooLarge),
            Err(spills) if spills.iter().flatten().any(|&v| spiller.is_temporary(v)) => {
                return Err(AllocationError::DoesNotFit(limit));
            }
            Err(spills) => spiller.spill(f, class, &spills),
        }
    }
    Err(AllocationError::DoesNotFit(limit))
}

/// The number of loops around each block.
fn loop_depth(f: &Function) -> Vec<u32> {
    let dominators = cfg::Dominators::new(f);
    let previous = cfg::predecessors(f);
    let mut depth = vec![0; f.blocks.len()];
    for header in f.block_ids() {
        let mut stack: Vec<_> =
            previous[header.index()].iter().copied().filter(|&b| dominators.dominates(header, b)).collect();
        if stack.is_empty() {
            continue;
        }
        let mut inside = vec![false; f.blocks.len()];
        inside[header.index()] = true;
        while let Some(b) = stack.pop() {
            if !std::mem::replace(&mut inside[b.index()], true) {
                stack.extend(&previous[b.index()]);
            }
        }
        depth.iter_mut().zip(inside).for_each(|(d, inside)| *d += u32::from(inside));
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::{Builder, Val};
    use gpurf_isa::Op;
    use gpurf_isa::modifiers::{Alignment, Space, Special, StoreType};

    /// A hundred values that are all read after the last of them.
    fn many_live_values() -> Function {
        let mut b = Builder::new();
        let lane = b.special(Special::LaneId);
        let values: Vec<Val> = (0..100).map(|n| b.add(lane, Val::Imm(n))).collect();
        let all = values.into_iter().rev().fold(Val::ZERO, |all, value| b.mad(all, Val::Imm(3), value));
        let store = Op::St { space: Space::Global, kind: StoreType::B32, align: Alignment::Natural };
        let store = b.inst(store, [Val::ZERO, Val::ZERO, all]);
        b.push(store);
        b.finish()
    }

    #[test]
    fn values_are_spilled_where_the_graph_would_be_too_large() {
        let [plain, small] = [MAX_PAIRS, 500].map(|most| {
            let mut f = many_live_values();
            let allocation = run_within(&mut f, 32, 0, most).unwrap();
            check::check(&f, &allocation).unwrap();
            allocation
        });
        assert!(plain.spilled > 0 && small.spilled > plain.spilled);
    }
}

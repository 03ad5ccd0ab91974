//! Registers for values: graph colouring in the manner of Chaitin and Briggs.
//!
//! The crate regalloc2 was tried first. It has 64 registers of a class at most (128 are asked for here), wants SSA, in
//! which guarded writes do not fit, and moves a spilled predicate as if predicates could be stored. Colouring needs
//! none of that: all registers are alike, no operation wants a certain one, and a guarded write is simply one that does
//! not end the life of the old value. What it does wrong is found by a check of its own ([`check`]).
//!
//! Predicates first: what does not fit into the seven of the machine becomes a word, and competes for registers. Then
//! general registers: constants, special registers and parameters are computed again where they are needed; what else
//! does not fit goes to local memory.

pub mod check;
mod colour;
mod graph;
mod spill;

use crate::mir::{Class, Function, cfg};
use gpurf_isa::Predicate;

/// Rounds of colouring and spilling. A round spills what did not fit, which leaves only values that live from one
/// instruction to the next, so that few are needed.
const ROUNDS: usize = 64;

/// Registers of a function's values and what they cost.
#[derive(Debug, Default)]
pub struct Allocation {
    /// The register or predicate of each value; values that are not used have none.
    pub place: Vec<Option<u8>>,
    /// General registers in use.
    pub registers: u16,
    /// Predicates in use.
    pub predicates: u16,
    /// Values that went to local memory.
    pub spilled: u32,
    /// Values that are computed again at each use.
    pub recomputed: u32,
    /// Predicates that became words.
    pub spilled_predicates: u32,
    /// Loads of spilled values in the code.
    pub loads: u32,
    /// Stores of spilled values in the code.
    pub stores: u32,
    /// Bytes of local memory for them.
    pub spill_bytes: u32,
}

impl Allocation {
    /// Instructions that are there because registers or predicates did not suffice, one for each value at the least.
    pub fn memory_cost(&self) -> u32 {
        self.loads + self.stores + self.recomputed + self.spilled_predicates
    }
}

/// Why there is no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Whatever is spilled.
    #[error("does not fit into {0} registers")]
    DoesNotFit(u16),
    /// Memory for the compiler's own tables is bounded.
    #[error("is too large: too many values live at the same time")]
    TooLarge,
}

/// Most blocks times values: a bit each in the sets of live values.
const MAX_LIVENESS: usize = 1 << 31;

/// Finds registers below `limit` for all values. Spilled values lie from `local_bytes` on.
pub fn run(f: &mut Function, limit: u16, local_bytes: u32) -> Result<Allocation, AllocationError> {
    if f.blocks.len().saturating_mul(f.classes.len()) > MAX_LIVENESS {
        return Err(AllocationError::TooLarge);
    }
    let mut allocation = Allocation::default();
    let mut spiller = spill::Spiller::new(local_bytes);
    let depth = loop_depth(f);
    let predicates = colour_all(f, Class::Predicate, Predicate::COUNT as u16, &depth, &mut spiller)?;
    let general = colour_all(f, Class::General, limit, &depth, &mut spiller)?;
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
) -> Result<Vec<Option<u8>>, AllocationError> {
    for _ in 0..ROUNDS {
        let graph = graph::Graph::new(f, class, depth).ok_or(AllocationError::TooLarge)?;
        match colour::colour(&graph, limit, |v| spiller.is_temporary(v)) {
            Ok(colours) => return Ok(colours),
            Err(spills) if spills.iter().flatten().any(|&v| spiller.is_temporary(v)) => {
                return Err(AllocationError::DoesNotFit(limit));
            }
            Err(spills) => spiller.spill(f, class, &spills),
        }
    }
    Err(AllocationError::DoesNotFit(limit))
}

/// For each block the number of loops around it.
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

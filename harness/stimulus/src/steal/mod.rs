//! Stimulus of the register file whose idle banks are stolen.

pub(crate) mod arbiter;
pub(crate) mod candidates;
pub(crate) mod collector;
mod core;
pub(crate) mod dependence;
mod directed;
pub(crate) mod file;
pub(crate) mod returns;
mod scene;
mod stage;
pub(crate) mod table;

pub(crate) use self::core::{Core, CoreKnobs, Done, Instruction};
pub(crate) use stage::STAGE;

use gpurf_lockstep::Rng;

/// One of a set.
fn pick(rng: &mut Rng, set: u32) -> Option<u8> {
    let members: Vec<u8> = (0..u32::BITS as u8).filter(|b| set >> b & 1 == 1).collect();
    (!members.is_empty()).then(|| members[rng.below(members.len() as u64) as usize])
}

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<candidates::CandidatesDriver, candidates::CandidatesCover>("steal_candidates"),
    crate::entry::<collector::CollectorDriver, collector::CollectorCover>("steal_collector"),
    crate::entry::<table::TableDriver, table::TableCover>("steal_table"),
    crate::entry::<dependence::DependenceDriver, dependence::DependenceCover>("steal_dependence"),
    crate::entry::<arbiter::ArbiterDriver, arbiter::ArbiterCover>("steal_arbiter"),
    crate::entry::<returns::ReturnDriver, returns::ReturnCover>("steal_return"),
    crate::Entry { directed: directed::DIRECTED, ..crate::entry::<file::StealDriver, file::StealCover>("steal") },
];

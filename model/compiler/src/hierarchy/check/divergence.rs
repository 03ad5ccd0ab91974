//! What other lanes of the warp may do while a lane waits for them.
//!
//! A branch splits a group of lanes. The lanes that fall through run first. The taken lanes wait at the target meanwhile; then the first group waits
//! at the reconvergence point. The contents of ORF and LRF become void for the whole warp as soon as a running lane passes a strand end, a barrier,
//! or a point where the warp is descheduled.

use std::collections::HashSet;

use gpurf_isa::Instruction;

use super::super::HierarchyOptions;
use super::{Wrong, rules};
use crate::marks::flow::successors;

/// Where a lane may find the contents of ORF and LRF void when it resumes.
#[derive(Debug)]
pub struct Waits {
    /// Branches with a side that may make the contents void.
    open: Vec<bool>,
    /// Branches whose taken lanes may find the contents void at the target.
    at_target: Vec<bool>,
    /// Reconvergence points of branches with a side that may make the contents void.
    at_meeting: Vec<bool>,
}

impl Waits {
    /// Computes them for a kernel.
    pub fn of(code: &[Instruction], options: &HierarchyOptions) -> Self {
        let none = vec![false; code.len()];
        let mut waits = Self { open: none.clone(), at_target: none.clone(), at_meeting: none };
        for (pc, branch) in code.iter().enumerate().filter(|(_, instruction)| instruction.may_diverge()) {
            let Some(target) = branch.target().map(|target| target.index()) else { continue };
            let meet = branch.reconvergence.map(|meet| meet.index());
            let falling = may_void(code, options, pc + 1, meet);
            waits.at_target[pc] = falling;
            waits.open[pc] = falling || may_void(code, options, target, meet);
            if let Some(meet) = meet {
                waits.at_meeting[meet] |= waits.open[pc];
            }
        }
        waits
    }

    /// Whether a lane that goes from instruction `from` to instruction `to` may find the contents void.
    pub fn are_void(&self, code: &[Instruction], from: usize, to: usize) -> bool {
        let taken = code[from].target().is_some_and(|target| target.index() == to);
        self.at_meeting[to] || taken && self.at_target[from]
    }

    /// Checks that a strand ends at each branch with such a side, and before each such reconvergence point: while lanes wait there, the warp may be
    /// descheduled, and it must not be in the middle of a strand then. Returns the instruction at fault.
    pub fn begin_strands(&self, code: &[Instruction]) -> Result<(), (usize, Wrong)> {
        for (pc, _) in code.iter().enumerate().filter(|(_, instruction)| !instruction.control.strand_end) {
            if self.open[pc] {
                return Err((pc, Wrong::OpenBranch));
            }
            if successors(code, pc).any(|to| self.at_meeting[to]) {
                return Err((pc, Wrong::OpenMeeting));
            }
        }
        Ok(())
    }
}

/// Whether lanes that start at `first` may make the contents void before they reach `meet`. As on the SIMT stack, a group is a program counter and
/// the point where the group waits. The groups of a divergent branch run to the branch's own reconvergence point, and from there to that of the
/// original group.
fn may_void(code: &[Instruction], options: &HierarchyOptions, first: usize, meet: Option<usize>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(first, meet)];
    while let Some((pc, stop)) = open.pop() {
        if pc >= code.len() || Some(pc) == stop || !seen.insert((pc, stop)) {
            continue;
        }
        let instruction = &code[pc];
        if rules::leaves(instruction, options) || rules::voids(instruction, options) {
            return true;
        }
        open.extend(successors(code, pc).map(|to| (to, stop)));
        if instruction.may_diverge() {
            let own = instruction.reconvergence.map(|meet| meet.index());
            open.extend(successors(code, pc).map(|to| (to, own)));
            open.extend(own.map(|own| (own, stop)));
        }
    }
    false
}

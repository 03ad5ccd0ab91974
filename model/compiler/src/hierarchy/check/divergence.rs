//! What other lanes of the warp may do while a lane waits.
//!
//! A branch splits a group of lanes. Those that fall through go on; those that take it wait at the target, and then the first wait where they meet. Contents of
//! ORF and LRF are void for the whole warp once a lane that runs comes by a strand end, a barrier, or a point where the warp is descheduled.

use std::collections::HashSet;

use gpurf_isa::Instruction;

use super::super::HierarchyOptions;
use super::rules;
use crate::marks::flow::successors;

/// Where a lane may find nothing left when it goes on.
#[derive(Debug)]
pub struct Waits {
    /// Branches whose taken lanes find nothing at the target.
    at_target: Vec<bool>,
    /// Instructions where sides meet of which one may make the contents void.
    at_meeting: Vec<bool>,
}

impl Waits {
    /// Those of a kernel.
    pub fn of(code: &[Instruction], options: &HierarchyOptions) -> Self {
        let mut waits = Self { at_target: vec![false; code.len()], at_meeting: vec![false; code.len()] };
        for (pc, branch) in code.iter().enumerate().filter(|(_, instruction)| instruction.may_diverge()) {
            let Some(target) = branch.target().map(|target| target.index()) else { continue };
            let meet = branch.reconvergence.map(|meet| meet.index());
            let falling = may_void(code, options, pc + 1, meet);
            waits.at_target[pc] = falling;
            if let Some(meet) = meet
                && (falling || may_void(code, options, target, Some(meet)))
            {
                waits.at_meeting[meet] = true;
            }
        }
        waits
    }

    /// Whether a lane that goes from one instruction to another may find nothing left.
    pub fn are_void(&self, code: &[Instruction], from: usize, to: usize) -> bool {
        let taken = code[from].target().is_some_and(|target| target.index() == to);
        self.at_meeting[to] || taken && self.at_target[from]
    }
}

/// Whether lanes that start at `first` may make the contents void before they come to `meet`. As on the SIMT stack, a group is a program counter and the point
/// where it waits; what a branch splits goes on to the branch's own point, and from there to that of the group.
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

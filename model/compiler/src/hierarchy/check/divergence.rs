//! What other lanes of the warp may do while a lane waits.
//!
//! A branch splits a group of lanes. Those that fall through go on; those that take it wait at the target, and then the first wait where they meet. Contents of
//! ORF and LRF are void for the whole warp once a lane that runs comes by a strand end, a barrier, or a point where the warp is descheduled.

use std::collections::HashSet;

use gpurf_isa::Instruction;

use super::super::HierarchyOptions;
use super::{Wrong, rules};
use crate::marks::flow::successors;

/// Where a lane may find nothing left when it goes on.
#[derive(Debug)]
pub struct Waits {
    /// Branches of which one side may make the contents void.
    open: Vec<bool>,
    /// Those whose taken lanes find nothing at the target.
    at_target: Vec<bool>,
    /// Instructions where sides meet of which one may make the contents void.
    at_meeting: Vec<bool>,
}

impl Waits {
    /// Those of a kernel.
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

    /// Whether a lane that goes from one instruction to another may find nothing left.
    pub fn are_void(&self, code: &[Instruction], from: usize, to: usize) -> bool {
        let taken = code[from].target().is_some_and(|target| target.index() == to);
        self.at_meeting[to] || taken && self.at_target[from]
    }

    /// Whether strands end where lanes may wait for such a side: a warp that is descheduled there leaves nothing in them. Gives the instruction at fault.
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

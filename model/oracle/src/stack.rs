//! The SIMT stack: which lanes of a warp execute, and where the others wait.
//!
//! A branch on which the lanes disagree makes them diverge. The lanes that fall through continue, the taken ones wait on the stack, and below them an
//! entry of the whole group waits at the reconvergence point. A group that arrives at its reconvergence point is replaced by the next entry.

use crate::lanes::Mask;
use crate::program::NEVER;

/// Lanes with a common program counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// The next instruction.
    pub pc: u32,
    /// The lanes.
    pub mask: Mask,
    /// Where the lanes reconverge with others, or [`NEVER`].
    pub reconvergence: u32,
}

/// The lanes of a warp: those that execute, and groups that wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The group that executes; its mask is empty once all lanes have ended.
    pub top: Group,
    waiting: Vec<Group>,
    /// Lanes that have not ended.
    pub living: Mask,
}

impl Stack {
    /// A stack of these lanes at the first instruction.
    pub fn new(lanes: Mask) -> Self {
        Self { top: Group { pc: 0, mask: lanes, reconvergence: NEVER }, waiting: Vec::new(), living: lanes }
    }

    /// Whether all lanes have ended.
    pub fn is_done(&self) -> bool {
        self.living == 0
    }

    /// Number of groups that wait.
    pub fn depth(&self) -> usize {
        self.waiting.len()
    }

    /// Continues at instruction `pc`.
    #[inline(always)]
    pub fn advance(&mut self, pc: u32) {
        self.top.pc = pc;
        if pc == self.top.reconvergence {
            self.pop();
        }
    }

    /// A branch that the lanes of `taken` take.
    #[inline]
    pub fn branch(&mut self, taken: Mask, target: u32, reconvergence: u32) {
        let group = self.top;
        let next = group.pc + 1;
        let falling = group.mask & !taken;
        // If both sides would start at the reconvergence point, the lanes do not diverge.
        let nowhere = next == target && target == reconvergence;
        if taken == 0 || falling == 0 || nowhere {
            return self.advance(if taken == 0 { next } else { target });
        }
        // If a group that includes these lanes already waits there, it needs no second entry.
        if reconvergence != NEVER && group.reconvergence != reconvergence {
            self.waiting.push(Group { pc: reconvergence, ..group });
        }
        let side = |pc, mask| Group { pc, mask, reconvergence };
        // A side that starts at the reconvergence point needs no entry: its lanes belong to the group that waits there.
        self.top = match (next == reconvergence, target == reconvergence) {
            (true, _) => side(target, taken),
            (_, true) => side(next, falling),
            _ => {
                self.waiting.push(side(target, taken));
                side(next, falling)
            }
        };
    }

    /// Lanes end.
    pub fn exit(&mut self, lanes: Mask) {
        self.living &= !lanes;
        self.top.mask &= !lanes;
        if self.top.mask == 0 {
            self.pop();
        } else {
            self.advance(self.top.pc + 1);
        }
    }

    /// Continues with the next group that has living lanes.
    fn pop(&mut self) {
        while let Some(mut group) = self.waiting.pop() {
            group.mask &= self.living;
            if group.mask != 0 {
                self.top = group;
                return;
            }
        }
        self.top.mask = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_to_its_meeting_point_right_behind_it_splits_nothing() {
        let mut stack = Stack::new(0xff);
        stack.top.pc = 3;
        stack.branch(0x0f, 4, 4);
        assert_eq!((stack.top, stack.depth()), (Group { pc: 4, mask: 0xff, reconvergence: NEVER }, 0));
        // Inside a branch with the same reconvergence point.
        stack.top.pc = 5;
        stack.branch(0x0f, 20, 30);
        stack.top.pc = 29;
        stack.branch(0x10, 30, 30);
        assert_eq!(stack.top, Group { pc: 20, mask: 0x0f, reconvergence: 30 });
    }

    #[test]
    fn both_sides_run_and_meet_again() {
        let mut stack = Stack::new(0xff);
        stack.top.pc = 3;
        stack.branch(0x0f, 10, 20);
        assert_eq!(stack.top, Group { pc: 4, mask: 0xf0, reconvergence: 20 });
        stack.advance(20);
        assert_eq!(stack.top, Group { pc: 10, mask: 0x0f, reconvergence: 20 });
        stack.advance(20);
        assert_eq!(stack.top, Group { pc: 20, mask: 0xff, reconvergence: NEVER });
        assert_eq!(stack.waiting.len(), 0);
    }

    #[test]
    fn a_loop_that_lanes_leave_one_by_one_needs_one_entry() {
        let mut stack = Stack::new(0xff);
        for left in 0..7 {
            stack.top.pc = 9;
            stack.branch(stack.top.mask & !(1 << left), 5, 10);
            assert_eq!((stack.top.pc, stack.waiting.len()), (5, 1));
        }
        stack.top.pc = 9;
        stack.branch(0, 5, 10);
        assert_eq!(stack.top, Group { pc: 10, mask: 0xff, reconvergence: NEVER });
    }

    #[test]
    fn lanes_that_end_are_not_waited_for() {
        let mut stack = Stack::new(0xff);
        stack.branch(0x0f, 10, 20);
        stack.exit(0xf0);
        assert_eq!(stack.top, Group { pc: 10, mask: 0x0f, reconvergence: 20 });
        stack.exit(0x01);
        assert_eq!(stack.top, Group { pc: 11, mask: 0x0e, reconvergence: 20 });
        stack.advance(20);
        assert_eq!(stack.top.mask, 0x0e);
        stack.exit(0x0e);
        assert!(stack.is_done());
    }

    #[test]
    fn sides_that_never_meet_end_one_after_the_other() {
        let mut stack = Stack::new(0b11);
        stack.branch(0b01, 7, NEVER);
        assert_eq!((stack.top.pc, stack.top.mask), (1, 0b10));
        stack.exit(0b10);
        assert_eq!((stack.top.pc, stack.top.mask), (7, 0b01));
    }
}

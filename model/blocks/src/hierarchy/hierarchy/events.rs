//! The event words.

use super::{HIERARCHY_COUNT_EVENT, HIERARCHY_EVENT, Hierarchy};
use crate::design::IssueFields;
use crate::hierarchy::hierarchy_entries::entries_event;
use crate::hierarchy::hierarchy_results::{Entering, Sender};
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::{LaneMask, OPERANDS};

/// The sums over ports, arrays and buses that make the event words.
#[derive(Default)]
struct Sums {
    orf_read_groups: u32,
    orf_read_shared_groups: u32,
    lrf_read_groups: [u32; 3],
    mrf_shared_groups: u32,
    mrf_write_shared_groups: u32,
    orf_write_groups: u32,
    orf_write_shared_groups: u32,
    copy_groups: u32,
    copy_shared_groups: u32,
    lrf_write_groups: u32,
    /// Number of instructions that request so many registers from the MRF.
    mrf: [u32; OPERANDS + 1],
    orf_read: u32,
    lrf_read: u32,
    orf_write: u32,
    lrf_write: u32,
    copy: u32,
}

fn groups(mask: u32) -> u32 {
    LaneMask(mask).groups().into()
}

impl Sums {
    /// Adds the lanes of a write into an ORF.
    fn enter(&mut self, entering: &Entering) {
        let groups = groups(entering.write.mask);
        let shared = if entering.private { 0 } else { groups };
        if let Sender::Copy(_) = entering.sender {
            self.copy += 1;
            self.copy_groups += groups;
            self.copy_shared_groups += shared;
        } else {
            self.orf_write += 1;
            self.orf_write_groups += groups;
            self.orf_write_shared_groups += shared;
        }
    }
}

impl Hierarchy {
    /// The two event words.
    #[inline]
    pub(crate) fn events(&self, extra: &IssueFields) -> (u64, u64) {
        let busy = self.found.take | extra.end | self.found.mrf_valid | self.results.valid() | self.held;
        if busy == 0 && self.copies.is_empty() { (0, 0) } else { self.sum(extra) }
    }

    fn sum(&self, extra: &IssueFields) -> (u64, u64) {
        let mut sums = Sums::default();
        for p in set_bits(self.found.take) {
            self.count_instruction(p, extra, &mut sums);
        }
        for entering in self.routes.orf.iter().flatten() {
            sums.enter(entering);
        }
        for entering in self.routes.lrf.iter().flatten() {
            sums.lrf_write += 1;
            sums.lrf_write_groups += groups(entering.write.mask);
        }
        for write in set_bits(self.found.mrf_valid).map(|b| self.given.write_i[b]) {
            sums.mrf_write_shared_groups += if write.from_private() == 0 { groups(write.mask()) } else { 0 };
        }
        let up = (0..self.ports).fold(0, |up, b| up | u8::from(self.found.place[b].is_some()) << b);
        let word = self.entries_word(extra);
        let strands = [word >> 4 & 3, word >> 2 & 3, word & 3].map(u32::from);
        let event = [
            sums.orf_read_groups,
            sums.orf_read_shared_groups,
            sums.lrf_read_groups[0],
            sums.lrf_read_groups[1],
            sums.lrf_read_groups[2],
            sums.mrf_shared_groups,
            sums.mrf_write_shared_groups,
            sums.orf_write_groups,
            sums.orf_write_shared_groups,
            sums.copy_groups,
            sums.copy_shared_groups,
            sums.lrf_write_groups,
        ];
        let count = [
            sums.mrf[0],
            sums.mrf[1],
            sums.mrf[2],
            sums.mrf[3],
            sums.orf_read,
            sums.lrf_read,
            sums.orf_write,
            sums.lrf_write,
            sums.copy,
            (self.found.mrf_valid & up).count_ones(),
            (self.found.mrf_valid & !up).count_ones(),
            strands[0],
            strands[1],
            self.routes.wait.count_ones(),
            (self.copies_waiting() & !self.routes.copy_ready).count_ones(),
            self.held.count_ones(),
            strands[2],
        ];
        (pack(HIERARCHY_EVENT, event), pack(HIERARCHY_COUNT_EVENT, count))
    }

    /// Counts what the instruction taken on port `p` reads.
    fn count_instruction(&self, p: usize, extra: &IssueFields, sums: &mut Sums) {
        let (levels, groups) = (&self.found.levels[p], groups(self.given.issue_mask_i[p]));
        let shared = if is_set(extra.private, p) { 0 } else { groups };
        let regs = &self.given.issue_src_reg_i[OPERANDS * p..][..OPERANDS];
        let is_first = |&k: &usize| set_bits(levels.mrf).take_while(|&j| j < k).all(|j| regs[j] != regs[k]);
        let asked = set_bits(levels.mrf).filter(is_first).count();
        sums.mrf[asked] += 1;
        sums.mrf_shared_groups += asked as u32 * shared;
        let ports = levels.orf_read.count_ones();
        sums.orf_read += ports;
        sums.orf_read_groups += ports * groups;
        sums.orf_read_shared_groups += ports * shared;
        for b in set_bits(levels.lrf_read) {
            sums.lrf_read += 1;
            sums.lrf_read_groups[b] += groups;
        }
    }

    /// Ports with a copy that waits.
    pub(super) fn copies_waiting(&self) -> u8 {
        self.copies.waiting().iter().enumerate().fold(0, |set, (p, copy)| set | u8::from(copy.is_some()) << p)
    }

    /// Event word of the entries.
    pub(super) fn entries_word(&self, extra: &IssueFields) -> u8 {
        let voids = set_bits(extra.end).filter(|&p| self.entries.has_lanes(extra.slot[p])).count();
        let unwritten = set_bits(self.found.take).filter(|&p| self.entries.is_unwritten(&self.taken(p, extra)));
        entries_event(extra.end.count_ones(), voids as u32, unwritten.count() as u32)
    }
}

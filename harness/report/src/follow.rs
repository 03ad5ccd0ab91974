//! A register file cache simulated on the oracle, in program order: the accesses to each level on a machine without timing.
//!
//! Unlike the model of the SM, it can be flushed where no hardware flushes: at backward branches, as in the thesis's experiment (6.6.2), and where
//! strands end. Then its values have as short a lifetime as those under software control.

use std::collections::{HashMap, VecDeque};

use gpurf_energy::{Level, Traffic};
use gpurf_isa::{Instruction, Op, Reg};
use gpurf_oracle::levels::groups;
use gpurf_oracle::{Issue, Mask, Observer};

/// A cache with FIFO replacement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FollowedCache {
    /// Entries of each warp.
    pub entries: usize,
    /// Whether it uses the compiler's last-read bits.
    pub live: bool,
    /// Where it is flushed.
    pub flushed: Flushed,
}

/// Where a cache is flushed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flushed {
    /// Nowhere: all warps keep their entries. Long-latency results are allocated too; in the other modes they bypass the cache.
    Never,
    /// Where a warp gives up its slot, at a deschedule mark or a barrier.
    Leaving,
    /// Where a warp gives up its slot, and at backward branches.
    Loops,
    /// Where a warp gives up its slot, and where strands of the software-managed hierarchy end.
    StrandEnds,
}

/// An entry: the lanes of a register that it holds.
#[derive(Debug)]
struct Entry {
    register: Reg,
    valid: Mask,
    dirty: Mask,
}

/// The entries of a warp, in the order of their allocation.
type Entries = VecDeque<Entry>;

/// Observes launches and counts the accesses of a cache.
#[derive(Debug)]
pub struct CacheObserver {
    /// The simulated cache.
    pub cache: FollowedCache,
    /// The block that runs; blocks run one after the other. Entries that the warps of the previous block leave are dropped.
    block: u64,
    warps: HashMap<u32, Entries>,
    /// Accesses counted so far.
    pub traffic: Traffic,
}

impl CacheObserver {
    /// An observer that has counted nothing.
    pub fn new(cache: FollowedCache) -> Self {
        Self { cache, block: 0, warps: HashMap::new(), traffic: Traffic::default() }
    }

    /// Another launch begins: entries of earlier warps are dropped, and counts accumulate.
    pub fn begin(&mut self) {
        self.block = 0;
        self.warps.clear();
    }

    fn flush(&mut self, warp: u32) {
        for entry in self.warps.entry(warp).or_default().drain(..) {
            write_back(&mut self.traffic, &entry);
        }
    }

    fn read(&mut self, at: &Issue<'_>, register: Reg, last: bool) {
        let mut hit = 0;
        if let Some(entry) = find(self.warps.entry(at.warp.warp).or_default(), register) {
            hit = entry.valid & at.mask;
            if last && self.cache.live {
                entry.dirty &= !at.mask;
            }
        }
        let private = at.instruction.unit().is_private();
        count_reads(&mut self.traffic.upper, private, groups(hit));
        // An operand that misses in some lane is read from the MRF in all its lanes.
        if hit != at.mask {
            count_reads(&mut self.traffic.mrf, private, groups(at.mask));
        }
    }

    fn write(&mut self, at: &Issue<'_>, register: Reg) {
        let (mask, private) = (at.mask, at.instruction.unit().is_private());
        let entries = self.warps.entry(at.warp.warp).or_default();
        if at.instruction.is_long_latency() && self.cache.flushed != Flushed::Never {
            count_writes(&mut self.traffic.mrf, private, groups(mask));
            if let Some(entry) = find(entries, register) {
                (entry.valid, entry.dirty) = (entry.valid & !mask, entry.dirty & !mask);
            }
            return;
        }
        count_writes(&mut self.traffic.upper, private, groups(mask));
        if let Some(entry) = find(entries, register) {
            (entry.valid, entry.dirty) = (entry.valid | mask, entry.dirty | mask);
            return;
        }
        entries.push_back(Entry { register, valid: mask, dirty: mask });
        if entries.len() > self.cache.entries {
            let evicted = entries.pop_front();
            evicted.iter().for_each(|entry| write_back(&mut self.traffic, entry));
        }
    }

    /// Accesses the operands and the result of an instruction.
    fn access(&mut self, at: &Issue<'_>) {
        let instruction = at.instruction;
        let mut read: [Option<Reg>; 3] = [None; 3];
        for (place, (slot, register)) in instruction.sources().enumerate() {
            // A register in two operand slots is read once.
            if !read.contains(&Some(register)) {
                self.read(at, register, instruction.control.is_last_read(slot));
                read[place] = Some(register);
            }
        }
        if let Some(register) = instruction.destination() {
            self.write(at, register);
        }
    }
}

impl Observer for CacheObserver {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block = at.warp.block;
            self.warps.clear();
        }
        let instruction = at.instruction;
        if instruction.control.deschedule && self.cache.flushed != Flushed::Never {
            self.flush(at.warp.warp);
        }
        if at.mask != 0 {
            self.access(at);
        }
        let waits = at.mask != 0 && matches!(instruction.op, Op::Bar { .. });
        let ends = match self.cache.flushed {
            Flushed::Never => false,
            Flushed::Leaving => waits,
            Flushed::Loops => waits || at.mask != 0 && goes_back(instruction, at.pc),
            // A strand end applies to the whole warp, whatever the guard.
            Flushed::StrandEnds => waits || instruction.control.strand_end,
        };
        if ends {
            self.flush(at.warp.warp);
        }
    }
}

fn find(entries: &mut Entries, register: Reg) -> Option<&mut Entry> {
    entries.iter_mut().find(|entry| entry.register == register)
}

fn goes_back(instruction: &Instruction, pc: u32) -> bool {
    instruction.target().is_some_and(|target| target.number() <= pc)
}

/// Counts reads of a level, for the private datapath or for shared units.
fn count_reads(level: &mut Level, private: bool, groups: u64) {
    *(if private { &mut level.private_reads } else { &mut level.shared_reads }) += groups;
}

/// Counts writes of a level.
fn count_writes(level: &mut Level, private: bool, groups: u64) {
    *(if private { &mut level.private_writes } else { &mut level.shared_writes }) += groups;
}

/// Counts a value that is written back from the cache to the MRF.
fn write_back(traffic: &mut Traffic, entry: &Entry) {
    traffic.upper.moving_reads += groups(entry.dirty);
    traffic.mrf.moving_writes += groups(entry.dirty);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic_of(code: &str, entries: usize, flushed: Flushed) -> Traffic {
        traffic_with(code, FollowedCache { entries, live: true, flushed })
    }

    fn traffic_with(code: &str, cache: FollowedCache) -> Traffic {
        crate::testing::observed(code, 1, CacheObserver::new(cache)).traffic
    }

    /// A loop of three iterations; R2 is written before the loop.
    const LOOP: &str = "
        MOV R1, 0
        MOV R2, 1
        again:
        IADD R1, PT, R1, R2, !PT
        ISETP.LT.AND P0, R1, 3, PT
        @P0 BRA again, join none
        EXIT
    ";

    #[test]
    fn a_loop_keeps_its_values_unless_it_is_flushed_at_its_end() {
        let kept = traffic_of(LOOP, 6, Flushed::Leaving);
        assert_eq!((kept.mrf.reads(), kept.mrf.writes(), kept.upper.reads()), (0, 0, 8 * 9));
        // At the two taken backward branches the dirty registers are written back, R2 at the first one only; each later iteration reads both again
        // from the MRF.
        let flushed = traffic_of(LOOP, 6, Flushed::Loops);
        assert_eq!((flushed.mrf.private_reads, flushed.mrf.moving_writes), (8 * 4, 8 * 3));
        assert_eq!(flushed.flat(), kept.flat());
    }

    #[test]
    fn a_fifo_with_last_reads_marks_and_barriers() {
        // R1 is evicted by R3; R2 is dead when R4 evicts it.
        let text = "MOV R1, 1\n MOV R2, 2\n IADD R3, PT, R2, 1, !PT {last=a}\n IADD R4, PT, R1, 1, !PT\n EXIT";
        let traffic = traffic_of(text, 2, Flushed::Leaving);
        assert_eq!((traffic.upper.private_reads, traffic.mrf.private_reads, traffic.mrf.moving_writes), (8, 8, 8));
        for text in ["MOV R1, 1\n NOP {deschedule}\n EXIT", "MOV R1, 1\n BAR.ID0 RZ {strand_end}\n EXIT"] {
            let traffic = traffic_of(text, 2, Flushed::Leaving);
            assert_eq!((traffic.upper.moving_reads, traffic.mrf.moving_writes), (8, 8), "{text}");
            let traffic = traffic_of(text, 2, Flushed::Never);
            assert_eq!((traffic.upper.moving_reads, traffic.mrf.moving_writes), (0, 0), "{text}");
        }
    }

    #[test]
    fn without_the_bits_what_is_dead_is_written_back_too() {
        let text = "MOV R1, 1\n MOV R2, 2\n IADD R3, PT, R2, 1, !PT {last=a}\n MOV R4, 1\n MOV R5, 1\n EXIT";
        let moved =
            |live| traffic_with(text, FollowedCache { entries: 2, live, flushed: Flushed::Never }).mrf.moving_writes;
        assert_eq!((moved(true), moved(false)), (8 * 2, 8 * 3));
    }

    #[test]
    fn strands_end_for_the_whole_warp_whatever_the_guard() {
        // No lane executes the branch; R1 is written back all the same, and then read from the MRF.
        let text = "
            MOV R1, 1
            ISETP.LT.AND P0, R1, 0, PT
            @P0 BRA 3, join none {strand_end}
            IADD R2, PT, R1, 1, !PT
            EXIT
        ";
        let traffic = traffic_of(text, 6, Flushed::StrandEnds);
        assert_eq!((traffic.mrf.private_reads, traffic.mrf.moving_writes), (8, 8));
        let traffic = traffic_of(text, 6, Flushed::Leaving);
        assert_eq!((traffic.mrf.private_reads, traffic.mrf.moving_writes), (0, 0));
    }

    #[test]
    fn half_a_value_is_read_in_both_places() {
        let text = "
            S2R.TID.X R1
            ISETP.LT.AND P0, R1, 16, PT
            @P0 MOV R2, 1
            IADD R3, PT, R2, 1, !PT
            EXIT
        ";
        let traffic = traffic_of(text, 6, Flushed::Leaving);
        assert_eq!((traffic.upper.reads(), traffic.mrf.reads()), (8 + 4, 8));
    }
}

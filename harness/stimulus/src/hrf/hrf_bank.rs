//! `hrf_bank`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfBank, HrfBankIn, HrfBankOut, HrfBankProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfBank, BankDriver, BankCover>();

/// Driver of `hrf_bank`. A twin tells when the bank is ready for both a read and a write: then only one of them is offered.
pub(crate) struct BankDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfBank>,
    /// The entry that was written last.
    last: u16,
}

knobs! {
    pub(crate) struct BankKnobs {
        read: "a read is offered" = [100, 500, 950],
        write: "a write is offered" = [0, 100, 500, 950],
        partial: "a write leaves lanes out" = [0, 300, 900],
        near: "the entry is one of the first two or the last two" = [0, 700, 1000],
        write_latency: "strap: cycles of a write" = [0, 1, 2, 4, 4, 8, 9, 15],
        read_latency: "strap: cycles of a read less 1" = [0, 0, 1, 2, 3],
        reset = [0, 10, 50],
    }
}

impl Driver for BankDriver {
    type In = HrfBankIn;
    type Knobs = BankKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), last: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BankKnobs, i: &mut HrfBankIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = (knobs.write_latency | knobs.read_latency << 4) as u8;
        i.write_valid_i = rng.chance(knobs.write).into();
        let free = i.write_valid_i == 0 || self.twin.out.read_ready_o == 0;
        i.read_valid_i = (free && rng.chance(knobs.read)).into();
        (i.read_entry_i, i.write_entry_i) = (self.entry(rng, knobs), self.entry(rng, knobs));
        i.write_mask_i = lane_mask(rng, knobs.partial);
        if i.write_valid_i == 1 {
            rng.fill(&mut i.write_data_i.0);
        }
        if rng.chance(500) {
            i.read_entry_i = self.last;
        }
        if i.write_valid_i & self.twin.out.write_ready_o == 1 {
            self.last = i.write_entry_i;
        }
        self.twin.clock(i);
    }
}

impl BankDriver {
    fn entry(&self, rng: &mut Rng, knobs: &BankKnobs) -> u16 {
        let depth = self.shape.mrf.depth as u64;
        let near = rng.chance(knobs.near);
        // The two entries before the first one are the last two.
        if near { ((rng.below(4) + depth - 2) % depth) as u16 } else { rng.below(depth) as u16 }
    }
}

pub(crate) struct BankCover {
    depth: usize,
    /// Entry and lanes of the last write that has ended; `None` after a read.
    written: Option<(u16, u32)>,
}

#[cover]
impl BankCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { depth: shape.mrf.depth, written: None }
    }

    fn observe(&mut self, i: &HrfBankIn, o: &HrfBankOut, p: &HrfBankProbe, points: &mut Points) {
        let (reset, writing, reading) = (i.rst_ni == 0, p.write_left_q != 0, p.read_left_q != 0);
        let (ends, there) = (p.write_left_q == 1, p.read_left_q == 1);
        let (offers_read, offers_write) = (i.read_valid_i == 1, i.write_valid_i == 1);
        let write = offers_write && o.write_ready_o == 1;
        let read = offers_read && o.read_ready_o == 1 && !offers_write;
        let (write_latency, read_latency) = (i.cfg_i & 0xf, (i.cfg_i >> 4) + 1);
        let waits = offers_read && o.read_ready_o == 0;
        let again = self.written.filter(|w| read && w.0 == i.read_entry_i);
        let last = |entry: u16| usize::from(entry) + 1 == self.depth;
        point!("a read begins", read);
        point!("a read begins as the data of the one before is there", read && there);
        point!("a read waits for a write", waits && writing);
        point!("a read waits for a write's last cycle", waits && ends);
        point!("a read waits for a read", waits && reading);
        point!("a read and a write wait", waits && offers_write && !write);
        point!("a write is taken, nothing under way", write && !writing && !reading);
        point!("a write is taken as the one before ends", write && ends);
        point!("a write is taken as a read's data is there", write && there);
        point!("a write waits for a write", offers_write && !write && writing);
        point!("a write waits for a read", offers_write && !write && reading);
        point!("a write of latency 0", write && write_latency == 0);
        point!("a write of latency 1", write && write_latency == 1);
        point!("a write of latency 4", write && write_latency == 4);
        point!("a write of latency 15", write && write_latency == 15);
        point!("a read of latency 1", read && read_latency == 1);
        point!("a read of latency 2", read && read_latency == 2);
        point!("a read of latency 4", read && read_latency == 4);
        point!("a read of what was written last", again.is_some());
        point!("a read of what was written last in part", again.is_some_and(|w| ![0, u32::MAX].contains(&w.1)));
        point!("a read of another entry than the one written last", read && self.written.is_some() && again.is_none());
        point!("no lane is written", ends && p.mask_q == 0);
        point!("the last entry is written", ends && last(p.entry_q));
        point!("the last entry is read", read && last(i.read_entry_i));
        point!("a write is taken in reset", reset && write);
        point!("a read begins in reset", reset && read);
        point!("reset while a write is under way", reset && p.write_left_q > 1);
        point!("reset in a write's last cycle", reset && ends);
        point!("reset while a read is under way", reset && reading);

        if ends {
            self.written = Some((p.entry_q, p.mask_q));
        } else if read {
            self.written = None;
        }
    }
}

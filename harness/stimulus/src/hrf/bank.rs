//! `hrf_bank`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfBank, HrfBankIn, HrfBankOut, HrfBankProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps a twin: a bank that is ready for both is offered one thing only.
pub(crate) struct BankDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfBank>,
    /// The entry that was written last.
    last: u16,
}

const READ: usize = 0;
const WRITE: usize = 1;
const PARTIAL: usize = 2;
const NEAR: usize = 3;
const WRITE_LATENCY: usize = 4;
const READ_LATENCY: usize = 5;

impl Driver for BankDriver {
    type In = HrfBankIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "read", doc: "a read is offered", values: &[100, 500, 950] },
        Knob { name: "write", doc: "a write is offered", values: &[0, 100, 500, 950] },
        Knob { name: "partial", doc: "a write leaves lanes out", values: &[0, 300, 900] },
        Knob { name: "near", doc: "the entry is one of the first two or the last two", values: &[0, 700, 1000] },
        Knob { name: "write_latency", doc: "strap: cycles of a write", values: &[0, 1, 2, 4, 4, 8, 9, 15] },
        Knob { name: "read_latency", doc: "strap: cycles of a read less 1", values: &[0, 0, 1, 2, 3] },
        Knob { values: &[0, 10, 50], ..RESET },
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), last: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfBankIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(6));
        i.cfg_i = (knobs.get(WRITE_LATENCY) | knobs.get(READ_LATENCY) << 4) as u8;
        i.write_valid_i = rng.chance(knobs.get(WRITE)).into();
        let free = i.write_valid_i == 0 || self.twin.out.read_ready_o == 0;
        i.read_valid_i = (free && rng.chance(knobs.get(READ))).into();
        (i.read_entry_i, i.write_entry_i) = (self.entry(rng, knobs), self.entry(rng, knobs));
        i.write_mask_i = lane_mask(rng, knobs.get(PARTIAL));
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
    fn entry(&self, rng: &mut Rng, knobs: &Knobs) -> u16 {
        let depth = self.shape.mrf.depth as u64;
        let near = rng.chance(knobs.get(NEAR));
        // Two in front of the first one are the last two.
        if near { ((rng.below(4) + depth - 2) % depth) as u16 } else { rng.below(depth) as u16 }
    }
}

pub(crate) struct BankCover {
    depth: usize,
    /// Entry and lanes of the last write that is over.
    written: Option<(u16, u32)>,
}

impl Cover for BankCover {
    type In = HrfBankIn;
    type Out = HrfBankOut;
    type Probe = HrfBankProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "a read begins",
            "a read begins as the data of the one before is there",
            "a read waits for a write",
            "a read waits for a write's last cycle",
            "a read waits for a read",
            "a read and a write wait",
            "a write is taken, nothing under way",
            "a write is taken as the one before ends",
            "a write is taken as a read's data is there",
            "a write waits for a write",
            "a write waits for a read",
            "a write of latency 0",
            "a write of latency 1",
            "a write of latency 4",
            "a write of latency 15",
            "a read of latency 1",
            "a read of latency 2",
            "a read of latency 4",
            "a read of what was written last",
            "a read of what was written last in part",
            "a read of another entry than the one written last",
            "no lane is written",
            "the last entry is written",
            "the last entry is read",
            "a write is taken in reset",
            "a read begins in reset",
            "reset while a write is under way",
            "reset in a write's last cycle",
            "reset while a read is under way",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { depth: shape.mrf.depth, written: None }
    }

    fn observe(&mut self, i: &HrfBankIn, o: &HrfBankOut, p: &HrfBankProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, writing, reading) = (i.rst_ni == 0, p.write_left_q != 0, p.read_left_q != 0);
        let (ends, there) = (p.write_left_q == 1, p.read_left_q == 1);
        let (offers_read, offers_write) = (i.read_valid_i == 1, i.write_valid_i == 1);
        let write = offers_write && o.write_ready_o == 1;
        let read = offers_read && o.read_ready_o == 1 && !offers_write;
        let (write_latency, read_latency) = (i.cfg_i & 0xf, (i.cfg_i >> 4) + 1);
        let waits = offers_read && o.read_ready_o == 0;
        let again = self.written.filter(|w| read && w.0 == i.read_entry_i);
        let last = |entry: u16| usize::from(entry) + 1 == self.depth;
        let points = [
            ("a read begins", read),
            ("a read begins as the data of the one before is there", read && there),
            ("a read waits for a write", waits && writing),
            ("a read waits for a write's last cycle", waits && ends),
            ("a read waits for a read", waits && reading),
            ("a read and a write wait", waits && offers_write && !write),
            ("a write is taken, nothing under way", write && !writing && !reading),
            ("a write is taken as the one before ends", write && ends),
            ("a write is taken as a read's data is there", write && there),
            ("a write waits for a write", offers_write && !write && writing),
            ("a write waits for a read", offers_write && !write && reading),
            ("a write of latency 0", write && write_latency == 0),
            ("a write of latency 1", write && write_latency == 1),
            ("a write of latency 4", write && write_latency == 4),
            ("a write of latency 15", write && write_latency == 15),
            ("a read of latency 1", read && read_latency == 1),
            ("a read of latency 2", read && read_latency == 2),
            ("a read of latency 4", read && read_latency == 4),
            ("a read of what was written last", again.is_some()),
            ("a read of what was written last in part", again.is_some_and(|w| ![0, u32::MAX].contains(&w.1))),
            ("a read of another entry than the one written last", read && self.written.is_some() && again.is_none()),
            ("no lane is written", ends && p.mask_q == 0),
            ("the last entry is written", ends && last(p.entry_q)),
            ("the last entry is read", read && last(i.read_entry_i)),
            ("a write is taken in reset", reset && write),
            ("a read begins in reset", reset && read),
            ("reset while a write is under way", reset && p.write_left_q > 1),
            ("reset in a write's last cycle", reset && ends),
            ("reset while a read is under way", reset && reading),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        if ends {
            self.written = Some((p.entry_q, p.mask_q));
        } else if read {
            self.written = None;
        }
    }
}

//! `hrf_results`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfResults, HrfResultsIn, HrfResultsOut, HrfResultsProbe, HrfShape, PARITIES};
use gpurf_lockstep::Rng;

use super::{PARITY, parities};
use crate::driver::{RESET, Reset, Twin, alias, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs, Unaliased, Unreached};

/// Keeps which slot is open, and a twin, to know what is offered to a bank.
pub(crate) struct ResultsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfResults>,
    /// The slot that is open.
    open: Option<usize>,
    warps: [u8; PARITIES],
}

const WRITE: usize = 0;
const OWN: usize = 1;
const SWITCH: usize = 2;
const HIT: usize = 3;
const FULL: usize = 4;
const CLOSED: usize = 5;
const ROOM: usize = 6;
const BANK: usize = 7;
const PARTIAL: usize = 8;

impl Driver for ResultsDriver {
    type In = HrfResultsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "write", doc: "a result is offered", values: &[100, 500, 950] },
        Knob { name: "own", doc: "it is of the warp of a slot", values: &[300, 900, 1000] },
        Knob { name: "switch", doc: "a slot is closed, or opened", values: &[2, 50, 300] },
        Knob { name: "hit", doc: "the register has an entry", values: &[0, 300, 1000] },
        Knob { name: "full", doc: "all entries of a buffer are in use", values: &[0, 200, 900] },
        Knob { name: "closed", doc: "the next entry has no power", values: &[0, 0, 300, 900] },
        Knob { name: "room", doc: "there is room in a queue", values: &[100, 700, 1000] },
        Knob { name: "bank", doc: "a bank takes a result", values: &[50, 300, 1000] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 500] },
        RESET,
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), open: None, warps: [0, 1] }
    }

    fn unreached(shape: &HrfShape, _: &Config) -> Vec<Unreached> {
        const NONE: &str = "there are no buffers";
        let mut all = parities();
        if !shape.buffered() {
            all.extend(["hit_i", "index_i", "used_i"].map(|signal| Unreached::all(signal, NONE)));
        }
        all
    }

    fn unaliased(shape: &HrfShape, _: &Config) -> Vec<Unaliased> {
        let own = Unaliased::bits("slot_warp_i[parity] == warp_q", 0..=0, PARITY);
        Some(own).filter(|_| shape.buffered()).into_iter().collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfResultsIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(9));
        if rng.chance(knobs.get(SWITCH)) {
            self.open = match self.open {
                Some(_) => None,
                None => {
                    // It may be that of the result in the latch.
                    let warp = if rng.chance(400) { self.twin.probe(i).warp_q } else { rng.below(64) as u8 };
                    let slot = usize::from(warp) % PARITIES;
                    self.warps[slot] = warp;
                    Some(slot)
                }
            };
        }
        i.open_i = self.open.map_or(0, |slot| 1 << slot);
        i.slot_warp_i = self.warps;
        i.write_valid_i = rng.chance(knobs.get(WRITE)).into();
        let own = rng.chance(knobs.get(OWN));
        let slot = self.open.unwrap_or_else(|| rng.below(PARITIES as u64) as usize);
        // Of another warp it may be one bit that is different.
        i.write_warp_i = match rng.below(3) {
            _ if own => self.warps[slot],
            0 => alias(rng, self.warps[slot].into(), 64) as u8,
            _ => rng.below(64) as u8,
        };
        i.write_base_i = rng.below(self.shape.mrf.depth as u64) as u16;
        let registers = if rng.chance(900) { 64 } else { 256 };
        i.write_reg_i = rng.below(registers) as u8;
        i.write_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        if i.write_valid_i == 1 {
            rng.fill(&mut i.write_data_i.0);
        }
        let entries = self.shape.buffer_entries as u64;
        i.hit_i = (entries != 0 && rng.chance(knobs.get(HIT))).into();
        i.index_i = rng.below(entries.max(1)) as u8;
        for b in 0..PARITIES {
            let last = entries.saturating_sub(1) as u8;
            i.used_i[b] = match rng.below(4) {
                _ if rng.chance(knobs.get(FULL)) => entries as u8,
                0 => 0,
                1 => last,
                _ => rng.below(entries.max(1)) as u8,
            };
        }
        i.closed_i = ports(rng, PARITIES, knobs.get(CLOSED));
        i.push_room_i = ports(rng, PARITIES, knobs.get(ROOM));
        i.direct_taken_i = 0;
        self.twin.late(i);
        i.direct_taken_i = self.twin.out.direct_valid_o & ports(rng, PARITIES, knobs.get(BANK));
        self.twin.late(i);
        self.twin.clock(i);
    }
}

/// Where a result goes, or what it waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nowhere,
    Buffer,
    Need,
    Queue,
    Direct,
}

pub(crate) struct ResultsCover {
    entries: u8,
    depth: usize,
    /// What the result in the latch waited for in the cycle before.
    waited: Way,
}

impl Cover for ResultsCover {
    type In = HrfResultsIn;
    type Out = HrfResultsOut;
    type Probe = HrfResultsProbe;

    fn points(shape: &HrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "the latch is empty",
            "into an even bank",
            "into an odd bank",
            "waits for a bank",
            "a result follows another one at once",
            "a result waits for the latch",
            "the entry begins anew behind the last one",
            "no lanes",
            "a result is taken in reset",
            "reset under load",
        ];
        if shape.buffered() {
            points.extend([
                "into the even buffer, a new entry",
                "into the odd buffer, a new entry",
                "into the even buffer, its register's entry",
                "into the odd buffer, its register's entry",
                "into the first entry",
                "into the last entry",
                "its register's entry, the buffer is full",
                "its register's entry, the next one has no power",
                "around a full buffer whose next entry has no power",
                "waits for power",
                "power is there",
                "the slot is closed while it waits for power",
                "the slot is closed while it waits for a bank",
                "the slot is opened while it waits for room",
                "into the even queue",
                "into the odd queue",
                "waits for room",
                "room in the other queue only",
                "to a queue: the slot belongs to another warp",
                "to a queue: the slot is closed, and was this warp's",
                "to a queue: the other slot is open",
                "to a queue, its register's number has an entry",
            ]);
        }
        points
    }

    fn new(shape: &HrfShape) -> Self {
        Self { entries: shape.buffer_entries as u8, depth: shape.mrf.depth, waited: Way::Nowhere }
    }

    fn observe(&mut self, i: &HrfResultsIn, o: &HrfResultsOut, p: &HrfResultsProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, valid, done) = (i.rst_ni == 0, p.valid_q == 1, o.write_done_o == 1);
        let way = match (o.buffer_valid_o, o.need_o, o.push_valid_o, o.direct_valid_o) {
            (0, 0, 0, 0) => Way::Nowhere,
            (_, 0, 0, 0) => Way::Buffer,
            (_, _, 0, 0) => Way::Need,
            (.., 0) => Way::Queue,
            _ => Way::Direct,
        };
        let (b, old) = (usize::from(p.warp_q) % PARITIES, i.hit_i == 1);
        let (even, odd) = (b == 0, b == 1);
        let (full, closed) = (i.used_i[b] == self.entries, i.closed_i >> b & 1 == 1);
        let (buffer, queue, direct) = (way == Way::Buffer, way == Way::Queue, way == Way::Direct);
        let (new, waits) = (buffer && o.new_o == 1, valid && !done);
        let open = i.open_i >> b & 1 == 1;
        let same = i.slot_warp_i[b] == p.warp_q;
        let offered = i.write_valid_i == 1;
        let was = |waited: Way| self.waited == waited;
        let entry = usize::from(i.write_base_i) + usize::from(i.write_reg_i);
        let points = [
            ("the latch is empty", !valid),
            ("into an even bank", direct && done && even),
            ("into an odd bank", direct && done && odd),
            ("waits for a bank", direct && waits),
            ("a result follows another one at once", done && offered),
            ("a result waits for the latch", offered && o.write_ready_o == 0),
            ("the entry begins anew behind the last one", offered && o.write_ready_o == 1 && entry >= self.depth),
            ("no lanes", done && p.mask_q == 0),
            ("a result is taken in reset", reset && offered && o.write_ready_o == 1),
            ("reset under load", reset && waits),
            ("into the even buffer, a new entry", new && even),
            ("into the odd buffer, a new entry", new && odd),
            ("into the even buffer, its register's entry", buffer && !new && even),
            ("into the odd buffer, its register's entry", buffer && !new && odd),
            ("into the first entry", new && o.index_o == 0),
            ("into the last entry", new && o.index_o + 1 == self.entries),
            ("its register's entry, the buffer is full", buffer && old && full),
            ("its register's entry, the next one has no power", buffer && old && closed),
            ("around a full buffer whose next entry has no power", direct && closed && !old),
            ("waits for power", way == Way::Need),
            ("power is there", was(Way::Need) && new),
            ("the slot is closed while it waits for power", was(Way::Need) && queue),
            ("the slot is closed while it waits for a bank", was(Way::Direct) && queue),
            ("the slot is opened while it waits for room", was(Way::Queue) && !queue && valid),
            ("into the even queue", queue && done && even),
            ("into the odd queue", queue && done && odd),
            ("waits for room", queue && waits),
            ("room in the other queue only", queue && waits && i.push_room_i != 0),
            ("to a queue: the slot belongs to another warp", queue && open && !same),
            ("to a queue: the slot is closed, and was this warp's", queue && !open && same),
            ("to a queue: the other slot is open", queue && !open && i.open_i != 0),
            ("to a queue, its register's number has an entry", queue && old),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        self.waited = if waits && !reset { way } else { Way::Nowhere };
    }
}

//! `hrf_results`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfResults, HrfResultsIn, HrfResultsOut, HrfResultsProbe, HrfShape, PARITIES};
use gpurf_lockstep::Rng;

use super::{PARITY, parities};
use crate::driver::{Reset, Twin, alias, any_write, ports};
use crate::{Driver, Points, Unaliased, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfResults, ResultsDriver, ResultsCover>();

/// Driver of `hrf_results`. It keeps which slot is open; a twin tells what is offered to a bank.
pub(crate) struct ResultsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfResults>,
    /// The slot that is open.
    open: Option<usize>,
    warps: [u8; PARITIES],
}

knobs! {
    pub(crate) struct ResultsKnobs {
        write: "a result is offered" = [100, 500, 950],
        own: "it is of the warp of a slot" = [300, 900, 1000],
        switch: "a slot is closed, or opened" = [2, 50, 300],
        hit: "the register has an entry" = [0, 300, 1000],
        full: "all entries of a buffer are in use" = [0, 200, 900],
        closed: "the next entry has no power" = [0, 0, 300, 900],
        room: "there is room in a queue" = [100, 700, 1000],
        bank: "a bank takes a result" = [50, 300, 1000],
        partial: "lanes are inactive" = [0, 500],
        reset,
    }
}

impl Driver for ResultsDriver {
    type In = HrfResultsIn;
    type Knobs = ResultsKnobs;

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

    fn drive(&mut self, rng: &mut Rng, knobs: &ResultsKnobs, i: &mut HrfResultsIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        if rng.chance(knobs.switch) {
            self.open = match self.open {
                Some(_) => None,
                None => {
                    // It may be the warp of the result in the latch.
                    let warp = if rng.chance(400) { self.twin.probe(i).warp_q } else { rng.below(64) as u8 };
                    let slot = usize::from(warp) % PARITIES;
                    self.warps[slot] = warp;
                    Some(slot)
                }
            };
        }
        i.open_i = self.open.map_or(0, |slot| 1 << slot);
        i.slot_warp_i = self.warps;
        i.write_valid_i = rng.chance(knobs.write).into();
        let own = rng.chance(knobs.own);
        let slot = self.open.unwrap_or_else(|| rng.below(PARITIES as u64) as usize);
        // The number of another warp may differ in one bit only.
        let warp = match rng.below(3) {
            _ if own => self.warps[slot],
            0 => alias(rng, self.warps[slot].into(), 64) as u8,
            _ => rng.below(64) as u8,
        };
        i.write_base_i = rng.below(self.shape.mrf.depth as u64) as u16;
        let registers = if rng.chance(900) { 64 } else { 256 };
        let register = rng.below(registers) as u8;
        i.write_i = any_write(rng, knobs.partial, warp, register);
        if i.write_valid_i == 1 {
            rng.fill(&mut i.write_data_i.0);
        }
        let entries = self.shape.buffer_entries as u64;
        i.hit_i = (entries != 0 && rng.chance(knobs.hit)).into();
        i.index_i = rng.below(entries.max(1)) as u8;
        for b in 0..PARITIES {
            let last = entries.saturating_sub(1) as u8;
            i.used_i[b] = match rng.below(4) {
                _ if rng.chance(knobs.full) => entries as u8,
                0 => 0,
                1 => last,
                _ => rng.below(entries.max(1)) as u8,
            };
        }
        i.closed_i = ports(rng, PARITIES, knobs.closed);
        i.push_room_i = ports(rng, PARITIES, knobs.room);
        i.direct_taken_i = 0;
        self.twin.late(i);
        i.direct_taken_i = self.twin.out.direct_valid_o & ports(rng, PARITIES, knobs.bank);
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
    shape: HrfShape,
    /// What the result in the latch waited for in the cycle before.
    waited: Way,
}

#[cover]
impl ResultsCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, waited: Way::Nowhere }
    }

    fn observe(&mut self, i: &HrfResultsIn, o: &HrfResultsOut, p: &HrfResultsProbe, points: &mut Points) {
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
        let entries = self.shape.buffer_entries as u8;
        let (full, closed) = (i.used_i[b] == entries, i.closed_i >> b & 1 == 1);
        let (buffer, queue, direct) = (way == Way::Buffer, way == Way::Queue, way == Way::Direct);
        let (new, waits) = (buffer && o.new_o == 1, valid && !done);
        let open = i.open_i >> b & 1 == 1;
        let same = i.slot_warp_i[b] == p.warp_q;
        let offered = i.write_valid_i == 1;
        let was = |waited: Way| self.waited == waited;
        let entry = usize::from(i.write_base_i) + usize::from(i.write_i.d());
        point!("the latch is empty", !valid);
        point!("into an even bank", direct && done && even);
        point!("into an odd bank", direct && done && odd);
        point!("waits for a bank", direct && waits);
        point!("a result follows another one at once", done && offered);
        point!("a result waits for the latch", offered && o.write_ready_o == 0);
        point!(
            "the entry begins anew after the last one",
            offered && o.write_ready_o == 1 && entry >= self.shape.mrf.depth
        );
        point!("no lanes", done && p.mask_q == 0);
        point!("a result is taken in reset", reset && offered && o.write_ready_o == 1);
        point!("reset under load", reset && waits);
        #[given(self.shape.buffered())]
        {
            point!("into the even buffer, a new entry", new && even);
            point!("into the odd buffer, a new entry", new && odd);
            point!("into the even buffer, its register's entry", buffer && !new && even);
            point!("into the odd buffer, its register's entry", buffer && !new && odd);
            point!("into the first entry", new && o.index_o == 0);
            point!("into the last entry", new && o.index_o + 1 == entries);
            point!("its register's entry, the buffer is full", buffer && old && full);
            point!("its register's entry, the next one has no power", buffer && old && closed);
            point!("around a full buffer whose next entry has no power", direct && closed && !old);
            point!("waits for power", way == Way::Need);
            point!("power is there", was(Way::Need) && new);
            point!("the slot is closed while it waits for power", was(Way::Need) && queue);
            point!("the slot is closed while it waits for a bank", was(Way::Direct) && queue);
            point!("the slot is opened while it waits for room", was(Way::Queue) && !queue && valid);
            point!("into the even queue", queue && done && even);
            point!("into the odd queue", queue && done && odd);
            point!("waits for room", queue && waits);
            point!("room in the other queue only", queue && waits && i.push_room_i != 0);
            point!("to a queue: the slot belongs to another warp", queue && open && !same);
            point!("to a queue: the slot is closed, and was this warp's", queue && !open && same);
            point!("to a queue: the other slot is open", queue && !open && i.open_i != 0);
            point!("to a queue, its register's number has an entry", queue && old);
        }

        self.waited = if waits && !reset { way } else { Way::Nowhere };
    }
}

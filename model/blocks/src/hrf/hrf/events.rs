//! The events of a cycle.

use super::{HRF_COUNT_EVENT, HRF_EVENT, Hrf, Way, Writer};
use crate::LaneMask;
use crate::hrf::hrf_power::Power;
use crate::hrf::{HRF_READS_EVENT, PARITIES};
use crate::mrf::MRF_EVENT;
use crate::mrf::bits::{is_set, pack, set_bits};

/// 4-lane groups of a set of lanes.
#[inline]
fn groups(mask: u32) -> u32 {
    LaneMask(mask).groups().into()
}

/// A field of the events of the reads.
#[inline]
fn of_reads(word: u64, name: &str) -> u32 {
    let mut below = 0;
    for &(field, bits) in HRF_READS_EVENT.iter().rev() {
        if field == name {
            return (word >> below & ((1 << bits) - 1)) as u32;
        }
        below += bits;
    }
    0
}

/// The events of the buffers in a cycle.
#[derive(Default)]
struct Sums {
    drain: u32,
    drain_groups: u32,
    gated: u32,
    wake: u32,
    sleep: u32,
    waking: u32,
    sleeping: u32,
    period: u32,
    period_entries: u32,
    period_drop: u32,
}

impl Hrf {
    /// The events of the STT-RAM.
    #[inline]
    pub(crate) fn mrf_event(&self) -> u64 {
        let (seen, late) = (&self.seen, &self.late);
        let reads = |name: &str| of_reads(late.reads.event, name);
        let mut write_groups = 0;
        for b in set_bits(seen.taken) {
            let parity = self.buffers.as_ref().map(|buffers| &buffers.parity[b]);
            let write = seen.write(b, parity, &self.results, self.entry_bits);
            write_groups += write.map_or(0, |(write, _)| groups(write.mask));
        }
        let values = [
            reads("read"),
            reads("read_groups"),
            seen.taken.count_ones(),
            write_groups,
            reads("conflict_intra"),
            reads("conflict_inter"),
            reads("conflict_read_write"),
            (seen.write_valid() & !seen.taken).count_ones(),
            0,
            late.issue_stall.into(),
            late.dispatch.into(),
            late.dispatch_stall.into(),
        ];
        pack(MRF_EVENT, values)
    }

    /// The two event words of the file itself.
    #[inline]
    pub(crate) fn events(&self) -> (u64, u32) {
        let (seen, late) = (&self.seen, &self.late);
        let reads = |name: &str| of_reads(late.reads.event, name);
        let sums = self.sums();
        let result = self.results.latched().map_or(0, |latched| groups(latched.mask));
        let way = seen.way.map(|(_, way)| way);
        let (written, new) = match way {
            Some(Way::Buffer { new, .. }) => (true, new),
            _ => (false, false),
        };
        let (load, direct) = (way == Some(Way::Queue) && seen.goes, way == Some(Way::Direct) && seen.goes);
        let when = |happens: bool| if happens { result } else { 0 };
        let looked = late.reads.fill.slots.count_ones() + u32::from(written || direct);
        let event = [
            if self.buffers.is_some() { looked } else { 0 },
            reads("hit"),
            reads("partial"),
            reads("miss"),
            reads("buffer_groups"),
            written.into(),
            when(written),
            (written && !new).into(),
            load.into(),
            when(load),
            direct.into(),
            when(direct),
            sums.drain,
            sums.drain_groups,
            sums.gated,
            sums.wake,
            sums.sleep,
        ];
        let count = [
            (way == Some(Way::Need)).into(),
            (way == Some(Way::Direct) && !direct).into(),
            (way == Some(Way::Queue) && !load).into(),
            (reads("conflict_read_write") != 0).into(),
            self.frozen.into(),
            seen.emptying.count_ones(),
            sums.waking,
            sums.sleeping,
            sums.period,
            sums.period_entries,
            sums.period_drop,
        ];
        (pack(HRF_EVENT, event), pack(HRF_COUNT_EVENT, count) as u32)
    }

    #[inline]
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        let (Some(buffers), seen) = (&self.buffers, &self.seen) else { return sums };
        for b in 0..PARITIES {
            let parity = &buffers.parity[b];
            let (power, used) = (&parity.power, parity.buffer.used());
            if seen.takes(b, Writer::Drain) {
                sums.drain += 1;
                sums.drain_groups += parity.drain.offer().map_or(0, |(_, lanes)| groups(lanes));
            }
            sums.gated += u32::from(seen.straps.power.gates() && power.state() == Power::Off);
            sums.wake += u32::from(power.wakes(seen.is(b, |way| *way == Way::Need)));
            sums.sleep += u32::from(power.sleeps(used));
            sums.waking += u32::from(power.state() == Power::Waking);
            sums.sleeping += u32::from(power.state() == Power::FallingAsleep);
            if parity.drain.begins(is_set(seen.flush, b)) {
                sums.period += 1;
                sums.period_entries += u32::from(used);
                sums.period_drop += u32::from(is_set(seen.drop, b));
            }
        }
        sums
    }
}

//! Results on their way to a register file.

use gpurf_blocks::write::WriteFields;
use gpurf_lockstep::Rng;

/// Most buses.
const BUSES: usize = 2;

/// A result that is offered on a bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) warp: u8,
    pub(crate) register: u8,
    pub(crate) mask: u32,
    pub(crate) private: bool,
    /// Index of the result among those that are pending.
    pub(crate) result: usize,
}

impl Offer {
    /// The fields of the write on its bus.
    pub(crate) fn fields(&self) -> WriteFields {
        let Self { warp, register, mask, private, .. } = *self;
        WriteFields { from_private: private.into(), d: register, warp, mask }
    }
}

/// A pending result: it comes in parts.
pub(crate) struct Pending {
    pub(crate) warp: u8,
    pub(crate) register: u8,
    pub(crate) parts: Vec<u32>,
    pub(crate) bus: usize,
    pub(crate) long: bool,
    pub(crate) private: bool,
}

/// The result in a bus's latch.
#[derive(Clone, Copy)]
pub(crate) struct Latched {
    pub(crate) warp: u8,
    pub(crate) register: u8,
    pub(crate) long: bool,
    last: bool,
}

/// Pending results, and those in the latches of the buses.
pub(crate) struct Results {
    pub(crate) time: u64,
    /// Each with the cycle from which it is offered.
    pending: Vec<(u64, Pending)>,
    latches: [Option<Latched>; BUSES],
    /// Whether results are offered now, for each bus or for all together: they come in bursts.
    open: Vec<bool>,
}

impl Results {
    /// No result is pending. `bursts` is the number of buses, if each has bursts of its own, or 1.
    pub(crate) fn new(bursts: usize) -> Self {
        Self { time: 0, pending: Vec::new(), latches: [None; BUSES], open: vec![true; bursts] }
    }

    /// Reset.
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.latches = [None; BUSES];
    }

    /// Begins a cycle; with this chance results are offered in the next burst.
    pub(crate) fn begin(&mut self, rng: &mut Rng, chance: u32) {
        self.time += 1;
        for open in &mut self.open {
            if rng.chance(60) {
                *open = rng.chance(chance);
            }
        }
    }

    /// The result that is offered on a bus.
    pub(crate) fn offer(&self, bus: usize) -> Option<Offer> {
        let due = |(at, result): &(u64, Pending)| result.bus == bus && *at <= self.time;
        let result = self.pending.iter().position(due)?;
        let Pending { warp, register, parts, private, .. } = &self.pending[result].1;
        let offer = Offer { warp: *warp, register: *register, mask: parts[0], private: *private, result };
        self.open[bus.min(self.open.len() - 1)].then_some(offer)
    }

    /// Changes the time at which the results of these warps come, where `time` returns one.
    pub(crate) fn hasten(&mut self, of: impl Fn(u8) -> bool, mut time: impl FnMut(u64) -> Option<u64>) {
        for (at, _) in self.pending.iter_mut().filter(|(_, result)| of(result.warp)) {
            *at = time(self.time).unwrap_or(*at);
        }
    }

    /// The results in the latches of these buses have reached their destination. Returns those that are complete now.
    pub(crate) fn done(&mut self, buses: u8) -> Vec<Latched> {
        let latches = self.latches.iter_mut().enumerate().filter(|(bus, _)| buses >> bus & 1 == 1);
        latches.filter_map(|(_, latch)| latch.take()).filter(|latched| latched.last).collect()
    }

    /// The buses took these results, in this order; with the chance `slow` the next part comes later. Returns the results that are complete now.
    pub(crate) fn taken(&mut self, rng: &mut Rng, slow: u32, offers: &[(usize, Offer)]) -> Vec<Latched> {
        let (mut spent, mut whole) = (Vec::new(), Vec::new());
        for (bus, offer) in offers {
            let (at, result) = &mut self.pending[offer.result];
            result.parts.remove(0);
            *at = self.time + 1 + if rng.chance(slow) { rng.below(20) } else { 0 };
            let last = result.parts.is_empty();
            let Pending { warp, register, long, .. } = *result;
            let latched = Latched { warp, register, long, last };
            self.latches[*bus] = Some(latched);
            spent.extend(last.then_some(offer.result));
            whole.extend(last.then_some(latched));
        }
        // From the last one on, so that indices stay valid.
        spent.sort_unstable();
        spent.into_iter().rev().for_each(|result| drop(self.pending.remove(result)));
        whole
    }

    /// Whether a result of a warp is in a latch.
    pub(crate) fn holds(&self, warp: usize) -> bool {
        self.latches.iter().flatten().any(|latched| usize::from(latched.warp) == warp)
    }

    /// Adds a pending result, which is offered after this many cycles.
    pub(crate) fn start(&mut self, after: u64, result: Pending) {
        self.pending.push((self.time + after, result));
    }

    /// Whether all latches are empty.
    pub(crate) fn is_taken(&self) -> bool {
        self.latches.iter().all(Option::is_none)
    }
}

/// The offers, each with the number of its bus.
pub(crate) fn numbered(offers: &[Option<Offer>]) -> Vec<(usize, Offer)> {
    offers.iter().enumerate().filter_map(|(bus, offer)| Some((bus, (*offer)?))).collect()
}

/// The parts in which a result of these lanes comes, four at most, with or without empty ones. `next` returns the lanes that come first of those that
/// are left; `None`: all that are left come at once.
pub(crate) fn parts(lanes: u32, empty: bool, mut next: impl FnMut() -> Option<u32>) -> Vec<u32> {
    let mut parts = vec![lanes];
    while parts.len() < 4
        && let Some(first) = next()
    {
        let whole = parts.pop().unwrap_or(0);
        parts.extend([whole & first, whole & !first].into_iter().filter(|&part| empty || part != 0));
    }
    parts
}

/// Cycles after which a result is offered. For a short operation `least`, or 4 to 23 with the chance `slow`; for a long one 1 to 24, or with this
/// chance 40 and up to `most` more.
pub(crate) fn latency(rng: &mut Rng, slow: u32, long: bool, least: u64, most: u64) -> u64 {
    match (long, rng.chance(slow)) {
        (true, true) => 40 + rng.below(most),
        (true, false) => 1 + rng.below(24),
        (false, true) => 4 + rng.below(20),
        (false, false) => least,
    }
}

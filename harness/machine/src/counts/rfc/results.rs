//! What comes to a cache: results from their buses, and operands that are kept.

use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_oracle::levels::groups;

use super::slot::{Entry, Slot};
use super::{Fill, Kind, Latched, Look, Operation, Replay};
use crate::counts::seen::Seen;
use crate::counts::words::Tally;

/// An entry that was written.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub entry: Entry,
    /// It was taken from another register, or from none.
    pub is_new: bool,
    /// What was in it, if that has to be written back.
    pub evicted: Option<Entry>,
}

impl Replay {
    /// Results at the end of their buses: what they do to which cache.
    pub(super) fn results(&mut self, seen: &Seen<'_>, tally: &mut Tally) -> [Option<Operation>; MAX_PORTS] {
        let mut operations = [None; MAX_PORTS];
        let nets = &seen.inside.provider.rfc().nets;
        let landed = nets.mrf_write_done & !nets.results_evict_done;
        for bus in 0..self.ports {
            if landed >> bus & 1 == 1
                && let Some(part) = self.queued[bus].take()
            {
                tally.add("write", 1u64);
                tally.add("write_groups", groups(part.mask));
            }
            let done = seen.done >> bus & 1 == 1;
            match self.latches[bus] {
                Some(latched) => {
                    let operation = self.result(bus, latched, done, seen, tally);
                    if let Some(operation) = operation
                        && operations[operation.slot % self.ports].replace(operation).is_some()
                    {
                        tally.object(|| "a cache takes two results at once".to_owned());
                    }
                    if done {
                        self.latches[bus] = None;
                    }
                }
                None if done => tally.object(|| format!("bus {bus} is done with a result that was not sent")),
                None => {}
            }
            if let Some(part) = seen.results[bus] {
                if self.latches[bus].is_some() {
                    tally.object(|| format!("bus {bus} takes a result before the last one has gone"));
                }
                self.latches[bus] = Some(Latched { part, sent: false, outside: false });
            }
        }
        operations
    }

    /// A result in its latch. Those of long-latency operations, of instructions marked so, and of warps that are on their way out, are not there or were not there once go to the MRF.
    fn result(
        &mut self,
        bus: usize,
        Latched { part, sent, outside }: Latched,
        done: bool,
        seen: &Seen<'_>,
        tally: &mut Tally,
    ) -> Option<Operation> {
        let by = part.by;
        let slot = seen.slots.of(part.warp);
        let passes = by.long && !self.loads || by.bypass && self.bypass;
        let outside = outside || slot.is_none();
        let home = slot.filter(|&slot| !passes && !outside && !seen.slots.is_flushed(slot));
        let goes = seen.inside.provider.rfc().nets.results_around >> bus & 1 == 1;
        let of = |slot, kind| {
            let kind = if kind == Kind::Cached && self.lrf && by.private && !by.past { Kind::Upper } else { kind };
            Operation { slot, register: part.register, mask: part.mask, kind, private: by.private }
        };
        if sent {
            if done {
                tally.add("write", 1u64);
                tally.add("write_groups", groups(part.mask));
            }
            return None;
        }
        match (home, goes, done) {
            (Some(slot), false, true) => Some(of(slot, Kind::Cached)),
            (None, true, ends) if ends == self.release => {
                tally.add("rfc_around_groups", groups(part.mask));
                if !by.private {
                    tally.add("rfc_around_shared_groups", groups(part.mask));
                }
                self.latches[bus] = Some(Latched { part, sent: true, outside });
                if self.release && self.queued[bus].replace(part).is_some() {
                    tally
                        .object(|| format!("bus {bus} sends a second result into the queue of the main register file"));
                }
                slot.map(|slot| of(slot, Kind::Around))
            }
            (_, false, false) => {
                tally.add("rfc_wait", 1u64);
                self.latches[bus] = Some(Latched { part, sent, outside });
                None
            }
            _ => {
                let (register, warp) = (part.register, part.warp);
                tally.object(|| format!("the result R{register} of warp slot {warp} does not go where it belongs"));
                None
            }
        }
    }

    /// Performs an operation; `before` is the slot as it stood. Gives the entry that was written.
    pub(super) fn perform(&mut self, operation: Operation, before: &Slot, tally: &mut Tally) -> Option<Written> {
        let Operation { slot, register, mask, kind, private } = operation;
        let last = before.last;
        if matches!(kind, Kind::Around | Kind::Cached) && last.is_of(register) {
            tally.add("rfc_lrf_past", u64::from(last.valid & mask != 0));
            self.slots[slot].last.lose(mask);
        }
        match kind {
            Kind::Around => {
                if let Some(entry) = before.find(register) {
                    tally.add("rfc_kill", u64::from(entry.valid & mask != 0));
                    self.slots[slot].at(entry).lose(mask);
                }
                None
            }
            Kind::Cached => {
                count_write(groups(mask), private, before.find(register).is_some(), tally);
                Some(self.write(operation, before, tally))
            }
            Kind::Fill => {
                tally.add("rfc_fill_groups", groups(mask));
                Some(self.write(operation, before, tally))
            }
            Kind::Upper => {
                tally.add("rfc_lrf_write_groups", groups(mask));
                let written = self.make_room_above(operation, before, tally);
                // No lane of a register is in both.
                if let Some(entry) = before.find(register)
                    && written.is_none_or(|written| written.entry != entry)
                {
                    self.slots[slot].at(entry).lose(mask);
                }
                if last.is_of(register) {
                    tally.add("rfc_lrf_same", 1u64);
                    self.slots[slot].last.gain(mask, false);
                } else {
                    tally.add("rfc_lrf_dead", u64::from(last.valid != 0 && last.dirty == 0));
                    self.slots[slot].last = last.holding(register, mask, false);
                }
                written
            }
        }
    }

    /// What was in the LRF goes down into the cache, if another register's value comes and a later read may want it.
    fn make_room_above(&mut self, operation: Operation, before: &Slot, tally: &mut Tally) -> Option<Written> {
        let last = before.last;
        if last.dirty == 0 || last.is_of(operation.register) {
            return None;
        }
        tally.add("rfc_lrf_spill_groups", groups(last.dirty));
        count_write(groups(last.dirty), true, before.find(last.register).is_some(), tally);
        let spill = Operation { register: last.register, mask: last.dirty, kind: Kind::Cached, ..operation };
        Some(self.write(spill, before, tally))
    }

    /// Writes an entry: the register's, or the one that makes room.
    fn write(&mut self, operation: Operation, before: &Slot, tally: &mut Tally) -> Written {
        let Operation { slot, register, mask, kind, .. } = operation;
        let clean = kind == Kind::Fill;
        if let Some(entry) = before.find(register) {
            self.slots[slot].at(entry).gain(mask, clean);
            return Written { entry, is_new: false, evicted: None };
        }
        let victim = before.victim();
        tally.add("rfc_dead", u64::from(victim.valid != 0 && victim.dirty == 0));
        *self.slots[slot].at(victim) = victim.holding(register, mask, clean);
        Written { entry: victim, is_new: true, evicted: (victim.dirty != 0).then_some(victim) }
    }

    /// Operands that are kept go to their caches, first in front.
    pub(super) fn take_fills(
        &mut self,
        seen: &Seen<'_>,
        operations: &mut [Option<Operation>; MAX_PORTS],
        tally: &mut Tally,
    ) {
        let nets = &seen.inside.provider.rfc().nets;
        for (c, operation) in operations.iter_mut().enumerate().take(self.ports) {
            if nets.fills_fill_valid & nets.tags_op_ready & 1 << c == 0 {
                continue;
            }
            let mine = |fill: &Fill| fill.slot % self.ports == c && !seen.slots.is_flushed(fill.slot);
            let due = self.fills.iter_mut().find_map(|port| {
                let index = port.iter().position(mine)?;
                Some(port.remove(index))
            });
            let Some(Fill { slot, register, mask }) = due else {
                return tally.object(|| format!("cache {c} keeps an operand that was not read"));
            };
            let fill = Operation { slot, register, mask, kind: Kind::Fill, private: false };
            if operation.replace(fill).is_some() {
                tally.object(|| format!("cache {c} takes a result and an operand at once"));
            }
        }
    }

    /// Notes what an instruction did not find, until it is dispatched with it. A warp that has left keeps nothing.
    pub(super) fn note_fills(&mut self, looks: &[Option<Look>], seen: &Seen<'_>) {
        if !self.reads {
            return;
        }
        for p in 0..self.ports {
            self.fills[p].retain(|fill| !seen.slots.is_flushed(fill.slot));
            if let Some(tag) = seen.dispatched[p] {
                self.fills[p] = std::mem::take(&mut self.noted[tag]);
            }
        }
        for look in looks.iter().flatten() {
            let missing = look.sources.iter().filter(|source| source.missing != 0);
            let fill =
                |source: &super::Found| Fill { slot: look.slot, register: source.register, mask: source.missing };
            self.noted[look.tag] = missing.map(fill).collect();
        }
    }
}

/// A value is written to the cache that was not read from the MRF.
fn count_write(groups: u64, private: bool, hits: bool, tally: &mut Tally) {
    tally.add(if hits { "rfc_write_hit" } else { "rfc_allocate" }, 1u64);
    tally.add("rfc_write_groups", groups);
    if !private {
        tally.add("rfc_write_shared_groups", groups);
    }
}

//! The register file cache, followed from what happens when: instructions that look, results that come, warps that leave (`docs/blocks/rfc.md`).
//!
//! Of the SM it takes the cycle in which an instruction leaves the tags, a result goes where it goes, a value begins and ends its way to the MRF, a fill is made.
//! Which lanes hit, what makes room for what, what is dead or written back follows from the list of each warp's entries.

mod results;
mod slot;

use std::collections::VecDeque;

use gpurf_blocks::config::{Config, Replacement};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::operands::MAX_TAGS;
use gpurf_oracle::Mask;
use gpurf_oracle::levels::groups;

use super::seen::{Part, Seen, Taken};
use super::words::Tally;
use slot::{Entry, Slot};

/// A source that is looked up.
#[derive(Clone, Copy)]
struct Found {
    register: u8,
    last: bool,
    /// Its entry, and its lanes there.
    entry: Option<Entry>,
    lanes: Mask,
    /// Its lanes in the LRF.
    above: Mask,
    /// Lanes that come from the MRF.
    missing: Mask,
}

/// An instruction that leaves the tags at this edge.
struct Look {
    slot: usize,
    tag: usize,
    mask: Mask,
    sources: Vec<Found>,
}

/// What is done to a cache at this edge.
#[derive(Clone, Copy)]
struct Operation {
    slot: usize,
    register: u8,
    mask: Mask,
    kind: Kind,
    private: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A result goes to the LRF.
    Upper,
    /// A result goes to the cache.
    Cached,
    /// A result goes to the MRF, and takes its lanes away here.
    Around,
    /// What was read in the MRF is kept.
    Fill,
}

/// A result at the end of its bus.
#[derive(Clone, Copy)]
struct Latched {
    part: Part,
    /// It is on its way to the MRF.
    sent: bool,
    /// Its warp had no slot once.
    outside: bool,
}

/// An operand that is kept when its instruction is dispatched.
#[derive(Clone, Copy)]
struct Fill {
    slot: usize,
    register: u8,
    mask: Mask,
}

/// A value on its way to the MRF.
struct Leaving {
    warp: u8,
    register: u8,
    groups: u64,
}

/// The caches of all issue ports.
pub struct Replay {
    live: bool,
    lru: bool,
    bypass: bool,
    loads: bool,
    release: bool,
    prompt: bool,
    lrf: bool,
    reads: bool,
    /// Words of the main register file have power states.
    states: bool,
    ports: usize,
    slots: Vec<Slot>,
    /// The instruction whose tags are compared, of each port.
    looking: [Option<Taken>; MAX_PORTS],
    latches: [Option<Latched>; MAX_PORTS],
    /// The result in each of the MRF's queues that has left its latch.
    queued: [Option<Part>; MAX_PORTS],
    leaving: [VecDeque<Leaving>; MAX_PORTS],
    /// Operands to be kept, by the place of their instruction.
    noted: Vec<Vec<Fill>>,
    fills: [Vec<Fill>; MAX_PORTS],
}

impl super::Replay for Replay {
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let looks: Vec<Option<Look>> = (0..self.ports).map(|p| self.look(p, seen, tally)).collect();
        // A slot is emptied one cycle after its last dirty lane has gone. Until then a result around the cache finds its clean lanes.
        let flushed = |slot: &usize| seen.slots.is_flushed(*slot);
        let clean = |holds: fn(&Slot) -> bool| {
            let slots = (0..self.slots.len()).filter(flushed).filter(|&slot| holds(&self.slots[slot]));
            slots.fold(0u64, |set, slot| set | 1 << slot)
        };
        let (entries_clean, last_clean) = (clean(Slot::is_clean), clean(|slot| slot.last.dirty == 0));
        let mut operations = self.results(seen, tally);
        self.take_fills(seen, &mut operations, tally);
        for (c, look) in looks.iter().enumerate() {
            self.edge(c, look.as_ref(), operations[c], seen, tally);
        }
        for slot in (0..self.slots.len()).filter(flushed) {
            let is_in = |set: u64| set >> slot & 1 == 1;
            let dropped = seen.slots.is_dropped(slot);
            let slot = &mut self.slots[slot];
            if dropped || is_in(entries_clean) {
                slot.empty();
            }
            if dropped || is_in(last_clean) {
                slot.last.lose(Mask::MAX);
            }
        }
        self.note_fills(&looks, seen);
        for (p, look) in looks.iter().enumerate() {
            if look.is_some() {
                self.looking[p] = None;
            }
            if let Some(taken) = seen.taken[p] {
                if self.looking[p].is_some() {
                    tally.object(|| format!("port {p} takes an instruction before its tags are free"));
                }
                self.looking[p] = Some(taken);
            }
        }
    }
}

impl Replay {
    /// As a configuration has it.
    pub fn new(config: &Config) -> Self {
        let rules = config.rfc;
        Self {
            live: rules.live,
            lru: rules.replacement == Replacement::Lru,
            bypass: rules.bypass,
            loads: rules.loads,
            release: rules.release,
            prompt: rules.prompt,
            lrf: rules.lrf,
            reads: rules.reads,
            states: config.power.present,
            ports: config.mrf.issue_ports,
            slots: vec![Slot::new(rules.entries); config.sm.active_warps],
            looking: [None; MAX_PORTS],
            latches: [None; MAX_PORTS],
            queued: [None; MAX_PORTS],
            leaving: Default::default(),
            noted: vec![Vec::new(); MAX_TAGS],
            fills: Default::default(),
        }
    }

    /// The instruction in the tags of a port: what it finds, and whether it goes on.
    fn look(&self, p: usize, seen: &Seen<'_>, tally: &mut Tally) -> Option<Look> {
        let Taken { warp, slot, tag, mask, uses, .. } = self.looking[p]?;
        let has = &self.slots[slot];
        let find = |(_, source): (usize, super::uses::Source)| {
            let register = source.register;
            let entry = has.find(register);
            let lanes = entry.map_or(0, |entry| entry.valid & mask);
            let above = if has.last.is_of(register) { has.last.valid & mask } else { 0 };
            let missing = mask & !(lanes | above);
            Found { register, last: source.last, entry, lanes, above, missing }
        };
        let sources: Vec<Found> = uses.registers().map(find).collect();
        let nets = &seen.inside.provider.rfc().nets;
        // What goes into its bank now is there when a collector asks.
        let lands = self.prompt && nets.results_evict_done >> p & 1 == 1;
        let on_its_way = |source: &Found| {
            let is_it = |value: &Leaving| (value.warp, value.register) == (warp, source.register);
            source.missing != 0 && self.leaving[p].iter().skip(lands.into()).any(is_it)
        };
        let used = |register| uses.destination == Some(register) || sources.iter().any(|s| s.register == register);
        let parts = || self.latches.iter().flatten().map(|latched| &latched.part).chain(self.queued.iter().flatten());
        let waits_for = |part: &Part| part.warp == warp && used(part.register);
        let leaves = nets.leave >> p & 1 == 1;
        // What waits for a word to wake is counted with the power states.
        let wakes = self.states && nets.power_look_on >> p & 1 == 0;
        if parts().any(waits_for) {
            tally.add("rfc_stall_result", 1u64);
            if leaves {
                tally.object(|| format!("warp slot {warp} passes a result that is not where it goes"));
            }
        } else if sources.iter().any(on_its_way) {
            tally.add("rfc_stall_eviction", 1u64);
            if leaves {
                tally.object(|| format!("warp slot {warp} reads a register in the MRF that is on its way there"));
            }
        } else if !leaves && !wakes {
            tally.add("rfc_stall_collector", 1u64);
        }
        if !leaves {
            return None;
        }
        tally.add("rfc_tag_check", 1u64);
        let mut above = 0;
        for source in &sources {
            let event = match source.lanes {
                0 => "rfc_miss",
                lanes if lanes == mask => "rfc_hit",
                _ => "rfc_partial",
            };
            tally.add(event, 1u64);
            tally.add("rfc_read_groups", groups(source.lanes));
            let asked = if source.missing == 0 { 0 } else { groups(mask) };
            tally.add("read", u64::from(source.missing != 0));
            tally.add("read_groups", asked);
            if !uses.private {
                tally.add("rfc_read_shared_groups", groups(source.lanes));
                tally.add("rfc_mrf_shared_groups", asked);
            }
            tally.add("rfc_marked", u64::from(self.live && source.last && source.lanes != 0));
            above |= source.above;
        }
        tally.add("rfc_lrf_read_groups", groups(above));
        Some(Look { slot, tag, mask, sources })
    }

    /// What a cache does at this edge. What makes room, and what is written back, follow from what stood before it.
    fn edge(
        &mut self,
        c: usize,
        look: Option<&Look>,
        operation: Option<Operation>,
        seen: &Seen<'_>,
        tally: &mut Tally,
    ) {
        let before = operation.map(|operation| (operation, self.slots[operation.slot].clone()));
        if let Some(look) = look {
            self.last_reads(look, tally);
        }
        let written = before.and_then(|(operation, before)| {
            let written = self.perform(operation, &before, tally);
            written.map(|written| (operation.slot, written))
        });
        let room = written.and_then(|(slot, written)| written.evicted.map(|entry| (slot, entry)));
        self.write_back(c, room, seen, tally);
        if let (true, Some(look)) = (self.lru, look) {
            let hits = look.sources.iter().filter(|source| source.lanes != 0).filter_map(|source| source.entry);
            hits.for_each(|entry| self.slots[look.slot].renew(entry));
        }
        if let Some((slot, written)) = written
            && (self.lru || written.is_new)
        {
            self.slots[slot].renew(written.entry);
        }
    }

    /// A last read makes dead what the executing lanes have.
    fn last_reads(&mut self, look: &Look, tally: &mut Tally) {
        let slot = &mut self.slots[look.slot];
        let last = || look.sources.iter().filter(|source| self.live && source.last);
        if last().any(|source| source.above != 0) {
            tally.add("rfc_lrf_marked", u64::from(slot.last.dirty & look.mask != 0));
            slot.last.dirty &= !look.mask;
        }
        for entry in last().filter(|source| source.lanes != 0).filter_map(|source| source.entry) {
            slot.at(entry).dirty &= !look.mask;
        }
    }

    /// Values whose way to the MRF begins or ends.
    fn write_back(&mut self, c: usize, room: Option<(usize, Entry)>, seen: &Seen<'_>, tally: &mut Tally) {
        let nets = &seen.inside.provider.rfc().nets;
        if nets.results_evict_done >> c & 1 == 1 {
            match self.leaving[c].pop_front() {
                Some(value) => {
                    tally.add("write", 1u64);
                    tally.add("write_groups", value.groups);
                }
                None => tally.object(|| format!("cache {c} writes back what it has not evicted")),
            }
        }
        let above = self.lrf && nets.lrf_flush_valid >> c & 1 == 1;
        let begins = above || nets.tags_evict_valid >> c & 1 == 1;
        let (slot, register) = match above {
            true => (nets.lrf_flush_slot[c], nets.lrf_flush_reg[c]),
            false => (nets.tags_evict_slot[c], nets.tags_evict_reg[c]),
        };
        let slot = usize::from(slot) * self.ports + c;
        let lanes = match room {
            None if !begins => return,
            Some((at, entry)) => {
                if !begins || (at, entry.register) != (slot, register) {
                    tally.object(|| format!("R{} of slot {at} makes room, and is not written back", entry.register));
                }
                tally.add("rfc_evict", 1u64);
                tally.add("rfc_evict_groups", groups(entry.dirty));
                entry.dirty
            }
            None if above => {
                let last = &mut self.slots[slot].last;
                let lanes = last.dirty;
                last.lose(Mask::MAX);
                tally.add("rfc_lrf_flush_groups", groups(lanes));
                lanes
            }
            None => {
                let entry = self.slots[slot].find(register).filter(|entry| entry.dirty != 0);
                let Some(entry) = entry.filter(|_| seen.slots.is_flushed(slot)) else {
                    return tally
                        .object(|| format!("R{register} of slot {slot} is written back, and nothing asks for that"));
                };
                self.slots[slot].at(entry).lose(Mask::MAX);
                tally.add("rfc_flush", 1u64);
                tally.add("rfc_evict_groups", groups(entry.dirty));
                entry.dirty
            }
        };
        self.leaving[c].push_back(Leaving { warp: seen.slots.warp(slot), register, groups: groups(lanes) });
    }
}

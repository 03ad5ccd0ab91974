//! ORF and LRF under the compiler's control, followed from what happens when: instructions that are taken or end their strand, results that come, operands that
//! are dispatched (`docs/blocks/hierarchy.md`; hierarchy thesis 6.2 to 6.4).
//!
//! Where operands and results are, the instruction says. What the levels hold is the oracle's affair; here stand the lanes that a strand has written, and who
//! waits for a write port.

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_isa::{OrfEntry, ResultLevel, SourceLevel, Upper};
use gpurf_oracle::levels::groups;
use gpurf_oracle::{Mask, lanes_of};

use super::seen::{Seen, Taken};
use super::uses::Uses;
use super::words::Tally;

/// ORF entries, then LRF banks.
type Place = usize;
const PLACES: usize = OrfEntry::COUNT as usize + 3;

/// What is on its way to a place.
#[derive(Clone, Copy)]
struct Value {
    slot: usize,
    place: Place,
    mask: Mask,
    private: bool,
}

/// ORF and LRF of all active warps.
pub struct Replay {
    entries: u8,
    banks: u8,
    ports: usize,
    /// Lanes that the strand of each slot's warp has written, by place.
    written: Vec<[Mask; PLACES]>,
    /// Copies of the operands of an instruction, by its place in the operand stage.
    noted: Vec<VecDeque<Value>>,
    /// Copies that wait at each dispatch port.
    copies: [VecDeque<Value>; MAX_PORTS],
    /// Results that wait at the end of each bus.
    latches: [Option<Value>; MAX_PORTS],
    /// Which port's copy, which bus goes first at each port's arrays, where both want one.
    copy_turn: [usize; MAX_PORTS],
    turn: [usize; MAX_PORTS],
}

/// The one that goes: the only one, or the one whose turn it is; then it is the other one's.
fn choose(wanting: &[usize], turn: &mut usize) -> Option<usize> {
    match wanting {
        [] => None,
        [only] => Some(*only),
        _ => {
            let goes = *turn;
            *turn = 1 - goes;
            Some(goes)
        }
    }
}

impl super::Replay for Replay {
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let room = self.arrays(tally);
        self.dispatches(room, seen, tally);
        self.results(seen, tally);
        self.strands(seen, tally);
        let done = seen.cycle.probe.outputs.operand_stage.flush_done_o;
        for slot in (0..self.written.len()).filter(|&slot| seen.slots.is_flushed(slot) && done >> slot & 1 == 1) {
            self.written[slot] = [0; PLACES];
        }
    }
}

impl Replay {
    /// As a configuration has it.
    pub fn new(config: &Config) -> Self {
        Self {
            entries: config.orf.entries as u8,
            banks: config.lrf.banks.banks(),
            ports: config.mrf.issue_ports,
            written: vec![[0; PLACES]; config.sm.active_warps],
            noted: vec![VecDeque::new(); config.sm_shape().tags()],
            copies: Default::default(),
            latches: [None; MAX_PORTS],
            copy_turn: [0; MAX_PORTS],
            turn: [0; MAX_PORTS],
        }
    }

    /// The place that a level is, if the machine has it.
    fn place(&self, level: Upper) -> Option<Place> {
        match level {
            Upper::Orf(entry) => (entry.number() < self.entries).then_some(entry.number().into()),
            Upper::Lrf(bank) => (bank.number() < self.banks).then_some((OrfEntry::COUNT + bank.number()).into()),
        }
    }

    /// Where a result goes: a place, and the MRF.
    fn goes(&self, uses: &Uses) -> (Option<Place>, bool) {
        let (level, both) = match uses.result {
            _ if uses.long => return (None, true),
            ResultLevel::Mrf => return (None, true),
            ResultLevel::Upper(level) => (level, false),
            ResultLevel::Both(level) => (level, true),
        };
        let place = self.place(level);
        (place, both || place.is_none())
    }

    /// What is written to ORF and LRF: an entry for each port's slots, copies first, and a bank. Gives the ports at which another instruction's copies find room.
    fn arrays(&mut self, tally: &mut Tally) -> [bool; MAX_PORTS] {
        let mut goes = [false; MAX_PORTS];
        let mut copied = [false; MAX_PORTS];
        for c in 0..self.ports {
            let mine = |value: &Value| value.slot % self.ports == c;
            let all = 0..self.ports;
            let copies: Vec<usize> = all.clone().filter(|&p| self.copies[p].front().is_some_and(mine)).collect();
            let results = |orf: bool| -> Vec<usize> {
                let is_it = |value: &Value| mine(value) && (value.place < usize::from(OrfEntry::COUNT)) == orf;
                all.clone().filter(|&bus| self.latches[bus].as_ref().is_some_and(is_it)).collect()
            };
            let (orf, lrf) = (results(true), results(false));
            match choose(&copies, &mut self.copy_turn[c]) {
                Some(p) => copied[p] = true,
                None => choose(&orf, &mut self.turn[c]).into_iter().for_each(|bus| goes[bus] = true),
            }
            choose(&lrf, &mut self.turn[c]).into_iter().for_each(|bus| goes[bus] = true);
        }
        for p in 0..self.ports {
            match self.latches[p] {
                Some(value) if goes[p] => {
                    self.latches[p] = None;
                    let lanes = groups(value.mask);
                    if value.place < usize::from(OrfEntry::COUNT) {
                        tally.add("hierarchy_orf_write", 1u64);
                        tally.add("hierarchy_orf_write_groups", lanes);
                        tally.add("hierarchy_orf_write_shared_groups", if value.private { 0 } else { lanes });
                    } else {
                        tally.add("hierarchy_lrf_write", 1u64);
                        tally.add("hierarchy_lrf_write_groups", lanes);
                    }
                }
                latched => tally.add("hierarchy_result_wait", u64::from(latched.is_some())),
            }
            match copied[p].then(|| self.copies[p].pop_front()).flatten() {
                Some(value) => {
                    let lanes = groups(value.mask);
                    tally.add("hierarchy_copy", 1u64);
                    tally.add("hierarchy_copy_groups", lanes);
                    tally.add("hierarchy_copy_shared_groups", if value.private { 0 } else { lanes });
                }
                None => tally.add("hierarchy_copy_wait", u64::from(!self.copies[p].is_empty())),
            }
        }
        std::array::from_fn(|p| self.copies[p].is_empty())
    }

    /// Instructions with all their operands: one with copies waits for room.
    fn dispatches(&mut self, room: [bool; MAX_PORTS], seen: &Seen<'_>, tally: &mut Tally) {
        let nets = &seen.inside.provider.hierarchy().nets;
        for p in lanes_of(nets.operands_dispatch_valid.into()) {
            let tag = usize::from(nets.mrf_dispatch_tag[p]);
            let held = !room[p] && !self.noted[tag].is_empty();
            tally.add("hierarchy_dispatch_hold", u64::from(held));
            if seen.dispatched[p] == Some(tag) {
                if held {
                    tally.object(|| format!("port {p} dispatches an instruction whose copies find no room"));
                }
                self.copies[p].append(&mut self.noted[tag]);
            }
        }
    }

    /// Results that come.
    fn results(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        for (bus, part) in seen.results.iter().enumerate() {
            let Some(part) = part else { continue };
            let (place, in_mrf) = self.goes(&part.by);
            let lanes = groups(part.mask);
            if in_mrf {
                tally.add(if place.is_some() { "hierarchy_both" } else { "hierarchy_mrf_only" }, 1u64);
                tally.add("write", 1u64);
                tally.add("write_groups", lanes);
                tally.add("hierarchy_mrf_write_shared_groups", if part.by.private { 0 } else { lanes });
            }
            let Some(place) = place else { continue };
            let Some(slot) = seen.slots.of(part.warp) else {
                tally.object(|| format!("a short result comes for warp slot {}, which is not active", part.warp));
                continue;
            };
            let value = Value { slot, place, mask: part.mask, private: part.by.private };
            if self.latches[bus].replace(value).is_some() {
                tally.object(|| format!("bus {bus} takes a result before the last one is written"));
            }
        }
    }

    /// Instructions, in program order: reads, then what the strand has written, then its end.
    fn strands(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        for p in 0..self.ports {
            let ends = seen.issued[p].filter(|(_, uses)| uses.ends_strand).map(|(slot, _)| slot);
            if let Some(slot) = ends {
                tally.add("hierarchy_strand_end", 1u64);
                tally.add("hierarchy_strand_void", u64::from(self.written[slot] != [0; PLACES]));
            }
            if let Some(taken) = &seen.taken[p] {
                self.take(taken, tally);
            }
            if let Some(slot) = ends {
                self.written[slot] = [0; PLACES];
            }
        }
    }

    fn take(&mut self, taken: &Taken, tally: &mut Tally) {
        let Taken { slot, mask, uses, .. } = *taken;
        let lanes = groups(mask);
        let mut read = [false; PLACES];
        let mut copied = [false; PLACES];
        let mut asked = 0;
        for (k, _) in uses.registers() {
            let (here, copy) = match uses.levels[k] {
                SourceLevel::Mrf => (None, None),
                SourceLevel::MrfCopied(entry) => (None, self.place(Upper::Orf(entry))),
                SourceLevel::Upper(level) => (self.place(level), None),
            };
            here.into_iter().for_each(|place| read[place] = true);
            copy.into_iter().for_each(|place| copied[place] = true);
            asked += u64::from(here.is_none());
        }
        tally.add("read", asked);
        tally.add("read_groups", asked * lanes);
        tally.add("hierarchy_mrf_shared_groups", if uses.private { 0 } else { asked * lanes });
        const ASKED: [&str; 4] =
            ["hierarchy_mrf_none", "hierarchy_mrf_one", "hierarchy_mrf_two", "hierarchy_mrf_three"];
        tally.add(ASKED[asked as usize], 1u64);
        let mut unwritten = false;
        for place in (0..PLACES).filter(|&place| read[place]) {
            unwritten |= mask & !self.written[slot][place] != 0;
            const BANKS: [&str; 3] =
                ["hierarchy_lrf_a_read_groups", "hierarchy_lrf_b_read_groups", "hierarchy_lrf_c_read_groups"];
            match place.checked_sub(OrfEntry::COUNT.into()) {
                None => {
                    tally.add("hierarchy_orf_read", 1u64);
                    tally.add("hierarchy_orf_read_groups", lanes);
                    tally.add("hierarchy_orf_read_shared_groups", if uses.private { 0 } else { lanes });
                }
                Some(bank) => {
                    tally.add("hierarchy_lrf_read", 1u64);
                    tally.add(BANKS[bank], lanes);
                }
            }
        }
        tally.add("hierarchy_unwritten", u64::from(unwritten));
        let value = |place| Value { slot, place, mask, private: uses.private };
        self.noted[taken.tag] = (0..PLACES).filter(|&place| copied[place]).map(value).collect();
        let result = uses.destination.and_then(|_| self.goes(&uses).0);
        for place in (0..PLACES).filter(|&place| copied[place] || result == Some(place)) {
            self.written[slot][place] |= mask;
        }
    }
}

//! A replay of the power states of words below a register file cache: `docs/power.md`, "Below a cache".
//!
//! The SM supplies the lanes that are in the cache, and the times at which an instruction in the tags waits for nothing else and at which a value arrives at the
//! banks, is taken, or is written. Which words wake, how long this takes, and the state after an access follow from the marks and the accesses in progress.

use std::collections::HashMap;

use gpurf_blocks::config::{Config, PowerMode};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_isa::PowerState;
use gpurf_oracle::{Mask, lanes_of};

use super::Replay;
use crate::counts::seen::{Part, Seen, Taken};
use crate::counts::words::Tally;

/// A register of a warp.
type Word = (u8, u8);

/// The registers that are woken for an instruction or a value, and the remaining cycles.
#[derive(Clone)]
struct Wake {
    /// For an instruction its registers; `evicted` says of a value whether it is evicted.
    registers: Vec<u8>,
    evicted: bool,
    left: usize,
}

/// An instruction between the tags and its dispatch.
struct Read {
    warp: u8,
    pc: u32,
    /// The registers that still have to be read in the banks.
    missing: Vec<u8>,
}

/// The words of all warps.
pub(super) struct States {
    ports: usize,
    enabled: bool,
    table: bool,
    wake_sleep: usize,
    wake_off: usize,
    /// Words that are not OFF; the value says whether the word is in SLEEP.
    words: HashMap<Word, bool>,
    /// The instruction in the tags of each port; `look_wake` has its wake-up.
    looking: [Option<Taken>; MAX_PORTS],
    look_wake: [Option<Wake>; MAX_PORTS],
    write_wake: [Option<Wake>; MAX_PORTS],
    /// The result at the end of each bus.
    latches: [Option<Part>; MAX_PORTS],
    reading: HashMap<usize, Read>,
    queued: [Option<Word>; MAX_PORTS],
    /// Warps with words that are not OFF, one bit each.
    counted: u64,
}

impl States {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            ports: config.mrf.issue_ports,
            enabled: config.power.mode != PowerMode::AlwaysOn,
            table: config.power.mode == PowerMode::Greener,
            wake_sleep: config.power.wake_sleep,
            wake_off: config.power.wake_off,
            words: HashMap::new(),
            looking: [None; MAX_PORTS],
            look_wake: Default::default(),
            write_wake: Default::default(),
            latches: [None; MAX_PORTS],
            reading: HashMap::new(),
            queued: [None; MAX_PORTS],
            counted: 0,
        }
    }

    fn state(&self, word: Word) -> PowerState {
        match self.words.get(&word) {
            None => PowerState::Off,
            Some(true) => PowerState::Sleep,
            Some(false) => PowerState::On,
        }
    }

    /// Continues a wake-up, or starts one: it ends with this cycle if no cycles remain.
    fn waits(&self, before: Option<&Wake>, warp: u8, registers: Vec<u8>, evicted: bool) -> Wake {
        let latency = |&register: &u8| match self.state((warp, register)) {
            PowerState::On => 0,
            PowerState::Sleep => self.wake_sleep,
            PowerState::Off => self.wake_off,
        };
        let same = before.filter(|wake| (&wake.registers, wake.evicted) == (&registers, evicted));
        let left = same.map_or_else(|| registers.iter().map(latency).max().unwrap_or(1), |wake| wake.left);
        Wake { registers, evicted, left: left - 1 }
    }

    /// Whether an access of a word is in progress, or begins at this edge.
    fn in_progress(&self, word: Word, begins: &[Word]) -> bool {
        let read = |read: &Read| read.warp == word.0 && read.missing.contains(&word.1);
        self.reading.values().any(read) || self.queued.contains(&Some(word)) || begins.contains(&word)
    }

    fn leave(&mut self, word: Word, state: PowerState, tally: &mut Tally) {
        let before = self.state(word);
        match (before, state) {
            (PowerState::On, PowerState::Sleep) => {
                tally.add("to_sleep", 1u64);
                self.words.insert(word, true);
            }
            (PowerState::On | PowerState::Sleep, PowerState::Off) => {
                tally.add("to_off", 1u64);
                self.words.remove(&word);
            }
            _ => {}
        }
    }

    /// Runs a cycle; `all` has the program, and the lookup table before its edge.
    pub(super) fn follow(&mut self, all: &Replay, seen: &Seen<'_>, tally: &mut Tally) -> Result<(), String> {
        let nets = &seen.inside.provider.rfc().nets;
        let at = |set: u8, p: usize| set >> p & 1 == 1;
        let asleep = self.words.values().filter(|&&sleeps| sleeps).count();
        if self.enabled {
            tally.add("asleep", asleep as u64);
            tally.add("on", (self.words.len() - asleep) as u64);
        }
        // Finds the waits.
        let mut missing: [Vec<u8>; MAX_PORTS] = Default::default();
        let mut woken = Vec::new();
        for (p, missing) in missing.iter_mut().enumerate().take(self.ports) {
            let asks = self.looking[p].filter(|_| !at(nets.stall | nets.behind, p));
            let mut waking = Vec::new();
            if let Some(taken) = asks {
                for (k, source) in taken.uses.registers() {
                    let index = 3 * p + k;
                    let here: Mask =
                        nets.tags_hit_mask[index] | if all.config.rfc.lrf { nets.lrf_hit_mask[index] } else { 0 };
                    if taken.mask & !here != 0 && !missing.contains(&source.register) {
                        missing.push(source.register);
                    }
                }
                let waits = |&register: &u8| self.enabled && self.state((taken.warp, register)) != PowerState::On;
                waking = missing.iter().copied().filter(waits).collect();
            }
            self.look_wake[p] = match asks.filter(|_| !waking.is_empty()) {
                Some(taken) => {
                    tally.add("wait_wake", 1u64);
                    if at(nets.leave, p) {
                        return Err(format!("warp slot {} reads words that are not ON", taken.warp));
                    }
                    let wake = self.waits(self.look_wake[p].as_ref(), taken.warp, waking, false);
                    if wake.left == 0 {
                        woken.extend(wake.registers.iter().map(|&register| (taken.warp, register)));
                    }
                    Some(wake).filter(|wake| wake.left != 0)
                }
                None => None,
            };
        }
        let mut front = [None; MAX_PORTS];
        for (b, front) in front.iter_mut().enumerate().take(self.ports) {
            let evicted = at(nets.evictions_offer_valid, b);
            *front = if evicted {
                Some((nets.evictions_offer_warp[b], nets.evictions_offer_reg[b]))
            } else {
                self.latches[b].filter(|_| at(nets.results_may, b)).map(|part| (part.warp, part.register))
            };
            let waits = front.filter(|&word| self.enabled && self.state(word) != PowerState::On);
            self.write_wake[b] = match waits {
                Some(word) => {
                    tally.add("wait_wake", 1u64);
                    if at(nets.mrf_write_valid, b) {
                        return Err(format!("R{} of warp slot {} is written while it is not ON", word.1, word.0));
                    }
                    let before = self.write_wake[b].as_ref().filter(|wake| wake.evicted == evicted);
                    let left = before.map(|wake| wake.left);
                    let mut wake = self.waits(None, word.0, vec![word.1], evicted);
                    wake.left = left.map_or(wake.left, |left| left - 1);
                    if wake.left == 0 {
                        woken.push(word);
                    }
                    Some(wake).filter(|wake| wake.left != 0)
                }
                None => None,
            };
        }
        for word in woken {
            match self.state(word) {
                PowerState::On => continue,
                PowerState::Sleep => tally.add("wake_sleep", 1u64),
                PowerState::Off => tally.add("wake_off", 1u64),
            }
            self.words.insert(word, false);
        }
        // Finds the accesses that begin.
        let mut begins = Vec::new();
        for p in lanes_of(nets.leave.into()) {
            let warp = self.looking[p].ok_or("an instruction leaves tags that have none")?.warp;
            begins.extend(missing[p].iter().map(|&register| (warp, register)));
        }
        let taken = nets.mrf_write_valid & nets.mrf_write_ready;
        for b in lanes_of(taken.into()) {
            begins.push(front[b].ok_or("a value is taken that is not there")?);
        }
        self.ends(all, seen, &begins, tally)?;
        for b in lanes_of(nets.mrf_write_done.into()) {
            let word = self.queued[b].take().ok_or("a value is written that is not there")?;
            if self.enabled && !self.in_progress(word, &begins) {
                self.leave(word, PowerState::Sleep, tally);
            }
        }
        // Finds the warps that have ended.
        let o = &seen.cycle.probe.outputs;
        for w in set_bits(!o.simt_stack.alive_o & o.scoreboard.idle_o) {
            let is = |word: &Word| usize::from(word.0) == w;
            let busy = self.reading.values().any(|read| usize::from(read.warp) == w && !read.missing.is_empty())
                || self.queued.iter().flatten().any(is)
                || begins.iter().any(is)
                || front.iter().flatten().any(is);
            // A word that wakes at this edge for a warp without any other such word.
            if !busy && self.counted >> w & 1 == 1 {
                self.words.retain(|word, _| usize::from(word.0) != w);
            }
        }
        self.begin(seen, missing, taken, &front);
        Ok(())
    }

    /// Ends reads.
    fn ends(&mut self, all: &Replay, seen: &Seen<'_>, begins: &[Word], tally: &mut Tally) -> Result<(), String> {
        for tag in seen.dispatched.iter().flatten() {
            let read = self.reading.get(tag).ok_or_else(|| format!("place {tag} is dispatched, where none is"))?;
            let (warp, pc) = (read.warp, read.pc);
            let accesses = &all.program[pc as usize];
            let mut sources: Vec<u8> = Vec::new();
            for &register in &accesses.sources {
                if !sources.contains(&register) {
                    sources.push(register);
                }
            }
            for register in sources {
                let missing = &mut self.reading.get_mut(tag).expect("it is there").missing;
                let place = missing.iter().position(|&one| one == register);
                if let Some(place) = place {
                    missing.remove(place);
                }
                let word = (warp, register);
                let left = accesses.states.iter().find(|&&(one, _)| one == register).map(|&(_, state)| state);
                let left = left.ok_or_else(|| format!("R{register} is read at {pc} without a state"))?;
                if !self.enabled || left == PowerState::On || self.in_progress(word, begins) {
                    continue;
                }
                let other = |entry: super::Entry| entry.pc != pc && all.program[entry.pc as usize].accesses(register);
                let keep = self.table && all.warps[usize::from(warp)].entries().any(other);
                match (place.is_some(), keep) {
                    (true, true) if self.state(word) == PowerState::On => tally.add("kept", 1u64),
                    (true, false) => self.leave(word, left, tally),
                    (false, false) if left == PowerState::Off => self.leave(word, left, tally),
                    _ => {}
                }
            }
            self.reading.remove(tag);
        }
        Ok(())
    }

    /// Instructions that have left the tags are read; values that have been taken are written; arriving values are noted.
    fn begin(
        &mut self,
        seen: &Seen<'_>,
        mut missing: [Vec<u8>; MAX_PORTS],
        taken: u8,
        front: &[Option<Word>; MAX_PORTS],
    ) {
        let nets = &seen.inside.provider.rfc().nets;
        self.counted = self.words.keys().fold(0, |set, word| set | 1 << word.0);
        for b in lanes_of(taken.into()) {
            self.queued[b] = front[b];
        }
        for (p, missing) in missing.iter_mut().enumerate().take(self.ports) {
            if nets.leave >> p & 1 == 1
                && let Some(Taken { warp, pc, tag, .. }) = self.looking[p].take()
            {
                self.reading.insert(tag, Read { warp, pc, missing: std::mem::take(missing) });
            }
            if let Some(taken) = seen.taken[p] {
                self.looking[p] = Some(taken);
            }
            if seen.done >> p & 1 == 1 {
                self.latches[p] = None;
            }
            if let Some(part) = seen.results[p] {
                self.latches[p] = Some(part);
            }
        }
    }
}

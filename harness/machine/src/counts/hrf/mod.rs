//! The hybrid register file, followed from what happens when: operands that are read, results that are done, warps that give up, writes that a bank takes
//! (`docs/blocks/hrf.md`).
//!
//! A write buffer is a list of registers with the lanes that were written since its warp became active. An operand finds what it finds whenever it is looked up:
//! nothing writes a register between the instruction that reads it and its read.

mod power;
mod reads;

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_oracle::Mask;
use gpurf_oracle::levels::groups;

use super::seen::{Part, Seen};
use super::words::Tally;
use power::Power;
use reads::Reads;

/// A bank, the buffer in front of it, and its queue.
struct Parity {
    /// Registers and their lanes, in the order in which they took their entries.
    buffer: Vec<(u8, Mask)>,
    /// Entries that the bank has taken since the warp gave up.
    drained: usize,
    /// Groups of the results of warps that are not active, on their way to the bank.
    queue: VecDeque<u64>,
    power: Power,
    /// A flush is under way.
    flushing: bool,
    /// The pipeline stands still up to this cycle.
    frozen_to: u64,
}

/// Where a result goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// To the entry of its register.
    Coalesced,
    /// To a new entry.
    New,
    /// To a new entry, when that has power.
    Wake,
    /// Straight into the bank.
    Direct,
    /// Into the queue of its bank.
    Queue,
}

/// The file.
pub struct Replay {
    entries: usize,
    write_cycles: u64,
    parities: [Parity; 2],
    latch: Option<Part>,
    reads: Reads,
    now: u64,
}

impl super::Replay for Replay {
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        self.now += 1;
        tally.add("hrf_frozen", u64::from(self.parities.iter().any(|parity| self.now <= parity.frozen_to)));
        self.flushes_begin(seen, tally);
        let latched = self.latch.map(|part| (part, self.way(&part, seen)));
        let used = self.parities.each_ref().map(|parity| parity.buffer.len());
        self.bank_writes(seen, tally);
        self.result(latched, seen, tally);
        for (b, used) in used.into_iter().enumerate() {
            let needed = latched.is_some_and(|(part, way)| way == Way::Wake && usize::from(part.warp) % 2 == b);
            let events = self.parities[b].power.cycle(used, needed);
            tally.add("hrf_gated", u64::from(events.off));
            tally.add("hrf_waking", u64::from(events.waking));
            tally.add("hrf_sleeping", u64::from(events.sleeping));
            tally.add("hrf_wake", u64::from(events.wakes));
            tally.add("hrf_sleep", u64::from(events.sleeps));
        }
        self.flushes_end(seen);
        self.operands(seen, tally);
    }
}

impl Replay {
    /// As a configuration has it.
    pub fn new(config: &Config) -> Self {
        let rules = config.hrf;
        let powered = rules.gating.then_some(rules.powered_entries);
        let parity = || Parity {
            buffer: Vec::new(),
            drained: 0,
            queue: VecDeque::new(),
            power: Power::new(powered, rules.wake_cycles, rules.sleep_cycles),
            flushing: false,
            frozen_to: 0,
        };
        Self {
            entries: rules.buffer_entries,
            write_cycles: rules.write_latency.max(1) as u64,
            parities: [parity(), parity()],
            latch: None,
            reads: Reads::new(rules.read_latency as u64),
            now: 0,
        }
    }

    /// Whether the buffer of this parity takes results.
    fn is_open(&self, b: usize, seen: &Seen<'_>) -> bool {
        self.entries != 0 && seen.slots.is_open(b)
    }

    /// Active periods that end, and buffers that are being emptied.
    fn flushes_begin(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        for b in (0..2).filter(|&b| self.entries != 0 && seen.slots.is_flushed(b)) {
            let (dropped, parity) = (seen.slots.is_dropped(b), &mut self.parities[b]);
            if !parity.flushing {
                parity.flushing = true;
                tally.add("hrf_period", 1u64);
                tally.add("hrf_period_entries", parity.buffer.len() as u64);
                tally.add("hrf_period_drop", u64::from(dropped));
            }
            tally.add("hrf_draining", u64::from(!dropped && !parity.buffer.is_empty()));
        }
    }

    /// Buffers that are empty from this edge on, and flushes that are over.
    fn flushes_end(&mut self, seen: &Seen<'_>) {
        for b in 0..2 {
            let parity = &mut self.parities[b];
            let was_empty = parity.buffer.is_empty();
            if seen.slots.is_dropped(b) || parity.drained != 0 && parity.drained == parity.buffer.len() {
                parity.buffer.clear();
                parity.drained = 0;
            }
            if !seen.slots.is_flushed(b) || seen.slots.is_dropped(b) || was_empty {
                parity.flushing = false;
            }
        }
    }

    /// What banks take from queues and buffers.
    fn bank_writes(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        /// Who writes: the queue, the drain; otherwise the latch.
        const QUEUE: u8 = 0;
        const DRAIN: u8 = 1;
        let nets = &seen.inside.provider.hrf().nets;
        for b in (0..2).filter(|b| nets.bank_write_valid & nets.bank_write_ready & 1 << b != 0) {
            let parity = &mut self.parities[b];
            let taken = match nets.write_source[b] {
                QUEUE => parity.queue.pop_front(),
                DRAIN => {
                    let entry = parity.buffer.get(parity.drained).filter(|_| seen.slots.is_flushed(b));
                    let taken = entry.map(|(_, lanes)| groups(*lanes));
                    parity.drained += 1;
                    tally.add("hrf_drain", u64::from(taken.is_some()));
                    tally.add("hrf_drain_groups", taken.unwrap_or(0));
                    taken
                }
                // Counted as a result that is done.
                _ => continue,
            };
            match taken {
                Some(groups) => {
                    tally.add("write", 1u64);
                    tally.add("write_groups", groups);
                }
                None => tally.object(|| format!("bank {b} takes a value that is not on its way there")),
            }
        }
    }

    /// Where a result goes: to the buffer if its warp is active and there is room.
    fn way(&self, part: &Part, seen: &Seen<'_>) -> Way {
        let b = usize::from(part.warp) % 2;
        if self.entries == 0 {
            return Way::Direct;
        }
        if !self.is_open(b, seen) || seen.slots.warp(b) != part.warp {
            return Way::Queue;
        }
        let Parity { buffer, power, .. } = &self.parities[b];
        match buffer.len() {
            _ if buffer.iter().any(|(register, _)| *register == part.register) => Way::Coalesced,
            used if used == self.entries => Way::Direct,
            used if power.is_closed(used) => Way::Wake,
            _ => Way::New,
        }
    }

    /// The result in the latch, and the next one.
    fn result(&mut self, latched: Option<(Part, Way)>, seen: &Seen<'_>, tally: &mut Tally) {
        let done = seen.done & 1 == 1;
        if let Some((part, way)) = latched {
            match done {
                true => self.goes(&part, way, seen, tally),
                false => match way {
                    Way::Wake => tally.add("hrf_wait_wake", 1u64),
                    Way::Direct => tally.add("hrf_wait_full", 1u64),
                    Way::Queue => tally.add("hrf_wait_load", 1u64),
                    Way::Coalesced | Way::New => tally.object(|| format!("R{} waits for nothing", part.register)),
                },
            }
        }
        if done {
            self.latch = None;
        }
        if let Some(part) = seen.results[0] {
            if self.latch.is_some() {
                tally.object(|| "a result is taken before the last one has gone".to_owned());
            }
            self.latch = Some(part);
        }
    }

    fn goes(&mut self, part: &Part, way: Way, seen: &Seen<'_>, tally: &mut Tally) {
        let b = usize::from(part.warp) % 2;
        let lanes = groups(part.mask);
        let looked = way != Way::Queue && self.is_open(b, seen);
        tally.add("hrf_look", u64::from(looked));
        let parity = &mut self.parities[b];
        match way {
            Way::Coalesced | Way::New => {
                tally.add("hrf_write", 1u64);
                tally.add("hrf_write_groups", lanes);
                tally.add("hrf_coalesced", u64::from(way == Way::Coalesced));
                match parity.buffer.iter_mut().find(|(register, _)| *register == part.register) {
                    Some((_, written)) => *written |= part.mask,
                    None => parity.buffer.push((part.register, part.mask)),
                }
            }
            Way::Wake => tally.object(|| format!("R{} goes to an entry that has no power", part.register)),
            Way::Direct => {
                tally.add("hrf_direct", 1u64);
                tally.add("hrf_direct_groups", lanes);
                tally.add("write", 1u64);
                tally.add("write_groups", lanes);
                parity.frozen_to = self.now + self.write_cycles;
            }
            Way::Queue => {
                tally.add("hrf_load", 1u64);
                tally.add("hrf_load_groups", lanes);
                parity.queue.push_back(lanes);
            }
        }
    }

    /// Operands of an instruction that is taken, and the waits of those before it.
    fn operands(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        self.reads.cycle(seen, tally);
        let Some(taken) = seen.taken[0] else { return };
        let mask = taken.mask;
        let buffer = &self.parities[usize::from(taken.warp) % 2].buffer;
        for (_, source) in taken.uses.registers() {
            let found = buffer.iter().find(|(register, _)| *register == source.register);
            let lanes = found.map_or(0, |(_, lanes)| lanes & mask);
            tally.add("hrf_look", u64::from(self.entries != 0));
            tally.add("hrf_read_groups", groups(lanes));
            let event = match lanes {
                0 => "hrf_miss",
                lanes if lanes == mask => "hrf_hit",
                _ => "hrf_partial",
            };
            tally.add(event, 1u64);
            if lanes != mask {
                tally.add("read", 1u64);
                tally.add("read_groups", groups(mask));
            }
        }
        self.reads.take(&taken, seen);
    }
}

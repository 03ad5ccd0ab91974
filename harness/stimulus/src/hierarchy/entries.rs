//! `hierarchy_entries`.

use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyEntries, HierarchyEntriesIn, HierarchyEntriesProbe, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES, PLACES,
};
use gpurf_blocks::instruction::NO_REG;
use gpurf_lockstep::Rng;

use super::{absent, element, is_there, one_of, places};
use crate::driver::{Names, RESET, Reset, Twin, lane_mask, ports};
use crate::{Driver, Knob, Knobs, Unreached};

mod cover;

pub(crate) use cover::EntriesCover;

/// Looks into a twin, to read what is written, to fill what does not wait, and to write what does.
pub(crate) struct EntriesDriver {
    shape: HierarchyShape,
    reset: Reset,
    twin: Twin<HierarchyEntries>,
    flush: u64,
    registers: Names,
}

const TAKE: usize = 0;
const READ: usize = 1;
const COPY: usize = 2;
const RESULT: usize = 3;
const BOTH: usize = 4;
const END: usize = 5;
const NEAR: usize = 6;
const WRITE: usize = 7;
const WHOLE: usize = 8;
const LOOK: usize = 9;
const MATCH: usize = 10;
const FLUSH: usize = 11;
const PARTIAL: usize = 12;
const STRAY: usize = 13;
const SINGLE: usize = 14;

/// Registers of results: few, so that different slots, and a copy and a result, have the same.
const REGISTERS: usize = 6;

impl Driver for EntriesDriver {
    type In = HierarchyEntriesIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "take", doc: "an instruction is taken", values: &[200, 600, 1000] },
        Knob { name: "read", doc: "it reads a place that has its lanes", values: &[100, 500, 900] },
        Knob { name: "copy", doc: "it copies to a place that does not wait", values: &[0, 100, 400] },
        Knob { name: "result", doc: "its result goes to a place", values: &[300, 700, 1000] },
        Knob { name: "both", doc: "and to the MRF", values: &[100, 500] },
        Knob { name: "end", doc: "a strand ends", values: &[10, 50, 300] },
        Knob { name: "near", doc: "the slot is one of the port's first two", values: &[0, 500, 950] },
        Knob { name: "write", doc: "a place that waits is written", values: &[100, 500, 1000] },
        Knob { name: "whole", doc: "all that is to come is written", values: &[200, 1000] },
        Knob { name: "look", doc: "a result comes", values: &[300, 900] },
        Knob { name: "match", doc: "it is one that a place waits for", values: &[200, 800] },
        Knob { name: "flush", doc: "a slot begins to be emptied", values: &[0, 10, 60] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { name: "stray", doc: "what is written is not there", values: &[0, 200] },
        Knob { name: "single", doc: "one lane fills a slot that has none", values: &[50, 900] },
        RESET,
    ];

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        let registers = Names::new(REGISTERS, NO_REG.into());
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), flush: 0, registers }
    }

    fn unreached(shape: &HierarchyShape, _: &Config) -> Vec<Unreached> {
        let entries = MAX_ORF_ENTRIES as u32;
        let banks = entries..=entries + MAX_LRF_BANKS as u32 - 1;
        let mut all = vec![Unreached::bits("take_copy_i", banks, "copies go to the ORF")];
        all.extend(absent(shape, &["take_copy_i"], 0..MAX_ORF_ENTRIES));
        all.extend(absent(shape, &["take_result_i"], 0..PLACES));
        all.extend(Unreached::parity(&["take_slot_i"], shape.ports()));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HierarchyEntriesIn) {
        let count = self.shape.ports();
        self.twin.early();
        self.registers.renew(rng);
        let probe = self.twin.probe(i);
        i.rst_ni = self.reset.next(rng, knobs.get(15));
        for s in 0..self.shape.active {
            self.flush |= u64::from(rng.chance(knobs.get(FLUSH))) << s;
        }
        i.flush_i = self.flush;
        i.take_both_i = ports(rng, count, knobs.get(BOTH));
        (i.take_valid_i, i.end_i) = (0, 0);
        (i.look_valid_i, i.orf_valid_i, i.lrf_valid_i) = (0, 0, 0);
        for p in 0..count {
            self.instruction(rng, knobs, i, p, &probe);
            self.result(rng, knobs, i, p, &probe);
            self.write(rng, knobs, i, p, &probe);
        }
        self.twin.late(i);
        self.flush &= !self.twin.out.flush_done_o;
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.flush = 0;
        }
    }
}

impl EntriesDriver {
    /// A slot of a port, by its number among the port's.
    fn local(&self, rng: &mut Rng, knobs: &Knobs) -> usize {
        let slots = self.shape.port_slots();
        let some = if rng.chance(knobs.get(NEAR)) { slots.min(2) } else { slots };
        rng.below(some as u64) as usize
    }

    fn instruction(
        &self,
        rng: &mut Rng,
        knobs: &Knobs,
        i: &mut HierarchyEntriesIn,
        p: usize,
        probe: &HierarchyEntriesProbe,
    ) {
        let slot = self.local(rng, knobs) * self.shape.ports() + p;
        i.take_slot_i[p] = slot as u8;
        if self.flush >> slot & 1 == 1 {
            return;
        }
        i.end_i |= u8::from(rng.chance(knobs.get(END))) << p;
        if !rng.chance(knobs.get(TAKE)) {
            return;
        }
        i.take_valid_i |= 1 << p;
        let at = |place: usize| element(&self.shape, slot, place);
        let free: Vec<usize> = places(&self.shape).filter(|&place| probe.wait_q[at(place)] == 0).collect();
        let there = |place: usize| probe.valid_q[at(place)] & !probe.wait_q[at(place)];
        // What a place has, or a part of it.
        let some: Vec<usize> = places(&self.shape).filter(|&place| there(place) != 0).collect();
        let mut mask = lane_mask(rng, knobs.get(PARTIAL));
        if let Some(place) = one_of(rng, &some).filter(|_| rng.chance(500)) {
            mask = there(place) & if rng.chance(700) { u32::MAX } else { rng.next_u64() as u32 };
        }
        // Each lane of each place alone keeps a slot from being void.
        let void = self.twin.out.void_o >> slot & 1 == 1;
        if void && rng.chance(knobs.get(SINGLE)) {
            mask = 1 << rng.below(LANES as u64);
        }
        i.take_mask_i[p] = mask;
        (i.take_read_i[p], i.take_copy_i[p], i.take_result_i[p]) = (0, 0, 0);
        for place in places(&self.shape) {
            let reads = mask & !there(place) == 0 && rng.chance(knobs.get(READ));
            i.take_read_i[p] |= u16::from(reads) << place;
        }
        // A place that is not there has nothing to be read.
        let nothing = rng.below(11) as usize;
        i.take_read_i[p] |= u16::from(!is_there(&self.shape, nothing) && rng.chance(knobs.get(STRAY))) << nothing;
        for &place in free.iter().filter(|&&place| place < MAX_ORF_ENTRIES) {
            i.take_copy_i[p] |= u16::from(rng.chance(knobs.get(COPY))) << place;
        }
        let register = self.registers.draw(rng) as u8;
        i.take_reg_i[p] = register;
        let waits = places(&self.shape).any(|place| self.waits_for(probe, slot, place, register));
        let result = one_of(rng, &free)
            .filter(|&place| i.take_copy_i[p] >> place & 1 == 0 && !waits && rng.chance(knobs.get(RESULT)));
        i.take_result_i[p] = result.map_or(0, |place| 1 << place);
    }

    /// Whether a place waits for the result of this register.
    fn waits_for(&self, probe: &HierarchyEntriesProbe, slot: usize, place: usize, register: u8) -> bool {
        let at = element(&self.shape, slot, place);
        let result = probe.result_q[slot] >> (at - element(&self.shape, slot, 0)) & 1 == 1;
        probe.wait_q[at] != 0 && result && probe.reg_q[at] == register
    }

    fn result(
        &self,
        rng: &mut Rng,
        knobs: &Knobs,
        i: &mut HierarchyEntriesIn,
        b: usize,
        probe: &HierarchyEntriesProbe,
    ) {
        if !rng.chance(knobs.get(LOOK)) {
            return;
        }
        i.look_valid_i |= 1 << b;
        let bus = rng.below(self.shape.ports() as u64) as usize;
        let slot = self.local(rng, knobs) * self.shape.ports() + bus;
        i.look_slot_i[b] = slot as u8;
        let waiting: Vec<u8> = places(&self.shape)
            .map(|place| element(&self.shape, slot, place))
            .filter(|&at| probe.wait_q[at] != 0)
            .map(|at| probe.reg_q[at])
            .collect();
        let known = one_of(rng, &waiting).filter(|_| rng.chance(knobs.get(MATCH)));
        i.look_reg_i[b] = known.unwrap_or_else(|| self.registers.draw(rng) as u8);
    }

    fn write(&self, rng: &mut Rng, knobs: &Knobs, i: &mut HierarchyEntriesIn, c: usize, probe: &HierarchyEntriesProbe) {
        let whole = rng.chance(knobs.get(WHOLE));
        for lrf in [false, true] {
            if !rng.chance(knobs.get(WRITE)) {
                continue;
            }
            let (entries, banks) = (self.shape.entries, self.shape.lrf_banks);
            let (first, own, most) =
                if lrf { (MAX_ORF_ENTRIES, banks, MAX_LRF_BANKS) } else { (0, entries, MAX_ORF_ENTRIES) };
            let slots = self.shape.port_slots();
            let waiting: Vec<(usize, usize, u32)> = (0..slots * own)
                .map(|n| (n / own, n % own))
                .map(|(local, n)| {
                    let slot = local * self.shape.ports() + c;
                    (local, n, probe.wait_q[element(&self.shape, slot, first + n)])
                })
                .filter(|&(_, _, wait)| wait != 0)
                .collect();
            let some = if whole { u32::MAX } else { rng.next_u64() as u32 };
            let chosen = one_of(rng, &waiting).map(|(local, n, wait)| (local, n, wait & some));
            let stray = (own < most && rng.chance(knobs.get(STRAY)))
                .then(|| (self.local(rng, knobs), own + rng.below((most - own) as u64) as usize, lane_mask(rng, 500)));
            let Some((local, n, mask)) = stray.or(chosen) else { continue };
            if lrf {
                i.lrf_valid_i |= 1 << c;
                (i.lrf_slot_i[c], i.lrf_bank_i[c], i.lrf_mask_i[c]) = (local as u8, n as u8, mask);
            } else {
                i.orf_valid_i |= 1 << c;
                (i.orf_slot_i[c], i.orf_entry_i[c], i.orf_mask_i[c]) = (local as u8, n as u8, mask);
            }
        }
    }
}

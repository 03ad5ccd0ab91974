//! Coverage of `rfc_power`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::operands::MAX_TAGS;
use gpurf_blocks::power::POWER_EVENT;
use gpurf_blocks::rfc::{RfcPowerIn, RfcPowerOut, RfcPowerProbe, RfcShape};
use gpurf_blocks::shape::cfg_of_block;

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct RfcPowerCover {
    shape: RfcShape,
    mode: u64,
    /// For each tag, the instruction that left T with it: warp, registers, states.
    notes: [Note; MAX_TAGS],
    /// The words in the MRF's queues.
    queued: [(u8, u8); 2],
}

#[derive(Clone, Copy, Default)]
struct Note {
    warp: u8,
    src: u8,
    reg: [u8; OPERANDS],
    left: [u8; OPERANDS],
}

const ALWAYS_ON: u64 = 0;
const TABLE: u64 = 3;

/// Whether the bit of a word is set.
fn bit(words: &[u64], warp: u8, reg: u8) -> bool {
    words[4 * usize::from(warp) + usize::from(reg / 64)] >> (reg % 64) & 1 == 1
}

#[cover]
impl RfcPowerCover {
    const LEFT: [&str; 4] = ["ON", "in SLEEP", "OFF", "OFF by 3"];
    const SOURCES: [&str; 3] = ["first", "second", "third"];

    fn new(shape: &RfcShape, config: &Config) -> Self {
        let mode = cfg_of_block(config, "rfc_power") & 3;
        Self { shape: *shape, mode, notes: [Note::default(); MAX_TAGS], queued: [(0, 0); 2] }
    }

    fn observe(&mut self, i: &RfcPowerIn, o: &RfcPowerOut, p: &RfcPowerProbe, points: &mut Points) {
        let running = i.rst_ni == 1;
        point!("loads in reset", !running && i.move_i != 0);
        point!("an instruction leaves T", running && i.move_i != 0);
        point!("a value is taken as the one before goes into its bank", running && i.taken_i & i.done_i != 0);
        point!("a warp has ended", running && i.over_i != 0);
        if running {
            self.both(i, points);
            self.looks(i, o, p, points);
            self.writes(i, o, p, points);
            self.reads(i, o, p, points);
            self.ended(i, p, points);
        }
        for q in set_bits(i.move_i).filter(|&q| usize::from(i.look_tag_i[q]) < self.shape.tags()) {
            self.notes[usize::from(i.look_tag_i[q])] = Note {
                warp: i.look_warp_i[q],
                src: i.look_src_i >> (OPERANDS * q) & 0b111,
                reg: i.look_reg_i.as_chunks().0[q],
                left: i.look_left_i.as_chunks().0[q],
            };
        }
        for b in set_bits(i.taken_i) {
            self.queued[b] = (i.write_warp_i[b], i.write_reg_i[b]);
        }
    }

    #[given(self.shape.ports() == 2)]
    fn both(&mut self, i: &RfcPowerIn, points: &mut Points) {
        point!("two leave T", i.move_i == 3);
        point!("two values are taken", i.taken_i == 3);
        point!("two values go into their banks", i.done_i == 3);
        point!("two are dispatched", i.read_valid_i == 3);
        let same = i.write_warp_i[0] == i.write_warp_i[1] && i.write_reg_i[0] == i.write_reg_i[1];
        point!("two values are of one word", i.write_valid_i == 3 && same);
    }

    /// Points of instructions in T, in the modes with states.
    #[given(self.mode != ALWAYS_ON)]
    fn looks(&mut self, i: &RfcPowerIn, o: &RfcPowerOut, p: &RfcPowerProbe, points: &mut Points) {
        let (wake_sleep, wake_off) = (i.cfg_i >> 2 & 15, i.cfg_i >> 6);
        for q in set_bits(i.look_valid_i) {
            let asked = i.look_asked_i >> (OPERANDS * q) & 0b111;
            let warp = i.look_warp_i[q];
            let of = |words: &[u64]| {
                let is = |k: &usize| bit(words, warp, i.look_reg_i[OPERANDS * q + k]);
                set_bits(asked).filter(is).fold(0u8, |set, k| set | 1 << k)
            };
            let (off, asleep) = (of(&p.off_q), of(&p.asleep_q));
            let needs = off | asleep;
            let on = o.look_on_o >> q & 1 == 1;
            point!("all hit", asked == 0 && on);
            point!("all words that are asked for are ON", asked != 0 && on);
            point!("words are ON, and it stays in T", asked != 0 && on && i.move_i >> q & 1 == 0);
            point!("words in SLEEP and OFF, SLEEP takes longer", off != 0 && asleep != 0 && wake_sleep > wake_off);
            point!("words in SLEEP and OFF, OFF takes longer", off != 0 && asleep != 0 && wake_off > wake_sleep);
            for k in 0..OPERANDS {
                point!("the word of the {SOURCES[k]} source alone is not ON", needs == 1 << k);
                point!("the words of the others are not ON", needs == 0b111 & !(1 << k));
            }
            let (wake, waking) = (p.look_wake_q[q], p.look_waking_q[q]);
            point!("a wake-up continues", wake > 1 && waking == needs);
            point!("a wake-up of several cycles ends", wake == 1 && waking == needs);
            point!("a wake-up begins again, as more is missing", wake != 0 && needs & !waking != 0);
            point!("a wake-up begins again, as less is missing", wake != 0 && waking & !needs != 0 && needs != 0);
            point!("nothing is missing any more", wake != 0 && needs == 0);
            point!("a latency of 0 counts as 1", off != 0 && asleep == 0 && wake_off == 0);
        }
        for q in 0..self.shape.ports() {
            point!("a wake-up is given up", p.look_wake_q[q] != 0 && i.look_valid_i >> q & 1 == 0);
        }
    }

    #[given(self.mode != ALWAYS_ON)]
    fn writes(&mut self, i: &RfcPowerIn, o: &RfcPowerOut, p: &RfcPowerProbe, points: &mut Points) {
        for b in 0..self.shape.ports() {
            let at = |set: u8| set >> b & 1 == 1;
            let (warp, reg) = (i.write_warp_i[b], i.write_reg_i[b]);
            let (valid, on, evict, wake) =
                (at(i.write_valid_i), at(o.write_on_o), at(i.write_evict_i), p.write_wake_q[b]);
            point!("an eviction's word is OFF", valid && evict && bit(&p.off_q, warp, reg));
            point!("an eviction's word is in SLEEP", valid && evict && bit(&p.asleep_q, warp, reg));
            point!("a result's word is OFF", valid && !evict && bit(&p.off_q, warp, reg));
            point!("a result's word is in SLEEP", valid && !evict && bit(&p.asleep_q, warp, reg));
            point!("a word is ON, and its value is not taken", valid && on && !at(i.taken_i));
            point!("a word wakes for several cycles", valid && !on && wake > 1);
            point!(
                "an eviction comes in front of a result that wakes",
                valid && !on && wake != 0 && evict && !at(p.write_waking_q)
            );
            let same = |q: usize| {
                i.look_warp_i[q] == warp
                    && set_bits(i.look_asked_i >> (OPERANDS * q) & 0b111).any(|k| i.look_reg_i[OPERANDS * q + k] == reg)
            };
            let both = set_bits(i.look_valid_i & !o.look_on_o).any(same);
            point!("a value and T wake one word", valid && !on && both);
        }
    }

    #[given(self.mode != ALWAYS_ON)]
    fn reads(&mut self, i: &RfcPowerIn, o: &RfcPowerOut, p: &RfcPowerProbe, points: &mut Points) {
        let count = |name: &str| part(POWER_EVENT, o.event_o, name);
        let (sleeps, offs) = (count("to_sleep"), count("to_off"));
        let mut ends = 0;
        for q in set_bits(i.read_valid_i) {
            let tag = usize::from(i.read_tag_i[q]);
            if tag >= self.shape.tags() {
                point!(
                    "a tag that does not exist is dispatched",
                    true,
                    given = self.shape.tags() < 1 << self.shape.tag_w()
                );
                continue;
            }
            let Note { warp, src, reg, left } = self.notes[tag];
            let reading = p.reading_q[tag];
            point!("nothing was read in the MRF", reading == 0 && src != 0);
            for k in set_bits(src) {
                let read = reading >> k & 1 == 1;
                let keep = i.read_keep_i >> (OPERANDS * q + k) & 1 == 1;
                let (state, r) = (usize::from(left[k]), reg[k]);
                let lower = set_bits(src).take_while(|l| *l < k).any(|l| reg[l] == r);
                let others = (0..self.shape.tags()).filter(|&t| t != tag && self.notes[t].warp == warp);
                let other = others.into_iter().any(|t| set_bits(p.reading_q[t]).any(|l| self.notes[t].reg[l] == r));
                let begins = set_bits(i.move_i).any(|m| {
                    i.look_warp_i[m] == warp
                        && set_bits(i.look_asked_i >> (OPERANDS * m) & 0b111)
                            .any(|l| i.look_reg_i[OPERANDS * m + l] == r)
                });
                let queued = set_bits(p.writing_q).any(|b| self.queued[b] == (warp, r));
                let taken = set_bits(i.taken_i).any(|b| (i.write_warp_i[b], i.write_reg_i[b]) == (warp, r));
                let alone = !other && !begins && !queued && !taken;
                ends += u32::from(read);
                point!("a source that was read is left {LEFT[state]}", read && alone && !keep);
                point!("another read is in progress as one ends", read && other && state != 0);
                point!("a read begins as one ends", read && begins && !other && !queued && !taken && state != 0);
                point!("a write is in progress as a read ends", read && queued && !other && !begins && !taken);
                point!("a write begins as a read ends", read && taken && !other && !begins && !queued);
                let hit = !read && !lower && !keep && state > 1;
                point!(
                    "a source that hit is left OFF: ON before",
                    hit && alone && !bit(&p.off_q, warp, r) && !bit(&p.asleep_q, warp, r)
                );
                point!("a source that hit is left OFF: in SLEEP before", hit && alone && bit(&p.asleep_q, warp, r));
                point!("a source that hit is left OFF: OFF before", hit && alone && bit(&p.off_q, warp, r));
                point!("a source that hit is left OFF while its word is accessed", hit && !alone);
                point!("a source that hit is left in SLEEP", !read && !lower && state == 1 && alone);
                point!("the same register in a lower source", lower);
                point!(
                    "another instruction accesses what would go to SLEEP",
                    read && keep && state == 1 && alone,
                    given = self.mode == TABLE
                );
                point!(
                    "another instruction accesses what would go OFF",
                    read && keep && state == 2 && alone,
                    given = self.mode == TABLE
                );
                point!(
                    "another instruction accesses what hit and would go OFF",
                    !read && keep && state == 2 && alone,
                    given = self.mode == TABLE
                );
            }
        }
        let written = i.done_i & p.writing_q;
        point!("a value leaves its word in SLEEP", written != 0 && sleeps != 0 && i.read_valid_i == 0);
        point!("a value leaves its word as it is", written != 0 && sleeps == 0 && i.read_valid_i == 0);
        point!("two words or more change together", sleeps + offs > 1);
        point!("several reads end together", ends > 1);
    }

    #[given(self.mode != ALWAYS_ON)]
    fn ended(&mut self, i: &RfcPowerIn, p: &RfcPowerProbe, points: &mut Points) {
        for w in set_bits(i.over_i) {
            let counted = p.on_count_q[w] | p.asleep_count_q[w] != 0;
            let reading = (0..self.shape.tags()).any(|t| p.reading_q[t] != 0 && usize::from(self.notes[t].warp) == w);
            let writing = set_bits(p.writing_q).any(|b| usize::from(self.queued[b].0) == w);
            let waits = set_bits(i.write_valid_i).any(|b| usize::from(i.write_warp_i[b]) == w);
            point!("a warp has ended with words that are not OFF", counted && !reading && !writing && !waits);
            point!("a word of a warp that has ended is being read", counted && reading);
            point!("a word of a warp that has ended is being written", counted && writing && !reading);
            point!("a value of a warp that has ended waits", counted && waits && !reading && !writing);
        }
    }
}

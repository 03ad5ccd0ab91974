//! `hierarchy_scoreboard`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyScoreboard, HierarchyScoreboardIn, HierarchyScoreboardOut, HierarchyShape, MAX_ORF_ENTRIES, PLACES,
};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{NoProbe, OPERANDS};
use gpurf_lockstep::Rng;

use super::{UPPER, absent, number, place_of, places};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyScoreboard, ScoreboardDriver, ScoreboardCover>();

/// Bit of the control word at which the levels begin: those of the sources, then that of the result.
const FIRST_LEVEL: u32 = 27;
const LEVEL_BITS: u32 = 5;
const FIELDS: usize = OPERANDS + 1;

/// A level of a control word.
fn level(word: u64, field: usize) -> u8 {
    (word >> (FIRST_LEVEL + LEVEL_BITS * field as u32) & 31) as u8
}

/// Driver of `hierarchy_scoreboard`. It keeps the heads, and which warp has which slot.
pub(crate) struct ScoreboardDriver {
    shape: HierarchyShape,
    heads: [u64; MAX_WARPS],
    slots: Vec<Option<u8>>,
}

knobs! {
    pub(crate) struct ScoreboardKnobs {
        clear: "a head may issue as far as registers go" = [100, 500, 1000],
        head: "a warp gets another head" = [10, 100, 500],
        zero: "a level is 0" = [0, 500, 900],
        slot: "a slot gets another warp, or none" = [10, 100, 500],
        wait: "a place waits" = [50, 300, 1000],
        twice: "a warp is in two slots" = [0, 0, 200],
    }
}

impl Driver for ScoreboardDriver {
    type In = HierarchyScoreboardIn;
    type Knobs = ScoreboardKnobs;

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, heads: [0; MAX_WARPS], slots: vec![None; shape.active] }
    }

    fn unreached(shape: &HierarchyShape, _: &Config) -> Vec<Unreached> {
        let mut all = absent(shape, &["wait_i"], 0..PLACES);
        all.extend(Unreached::warps(&["slot_warp_i"], shape.warps));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ScoreboardKnobs, i: &mut HierarchyScoreboardIn) {
        let warps = self.shape.warps;
        for head in &mut self.heads[..warps] {
            if !rng.chance(knobs.head) {
                continue;
            }
            *head = rng.next_u64();
            for field in 0..FIELDS {
                let at = FIRST_LEVEL + LEVEL_BITS * field as u32;
                let named = if rng.chance(knobs.zero) { 0 } else { rng.below(32) };
                *head = *head & !(31 << at) | named << at;
            }
        }
        for s in 0..self.slots.len() {
            if rng.chance(knobs.slot) {
                let warp = rng.below(warps as u64) as u8;
                let free = !self.slots.contains(&Some(warp)) || rng.chance(knobs.twice);
                self.slots[s] = Some(warp).filter(|_| free && rng.chance(900));
            }
        }
        i.clear_i = rng.mask(warps as u32, knobs.clear);
        i.head_ctl_i = self.heads;
        i.slot_valid_i = 0;
        for (s, warp) in self.slots.iter().enumerate() {
            i.slot_valid_i |= u64::from(warp.is_some()) << s;
            i.slot_warp_i[s] = warp.unwrap_or_else(|| rng.below(warps as u64) as u8);
            i.wait_i[s] = 0;
            for place in places(&self.shape) {
                i.wait_i[s] |= u16::from(rng.chance(knobs.wait)) << place;
            }
        }
    }
}

pub(crate) struct ScoreboardCover {
    shape: HierarchyShape,
}

#[cover]
impl ScoreboardCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &HierarchyScoreboardIn,
        o: &HierarchyScoreboardOut,
        _: &NoProbe<HierarchyShape>,
        points: &mut Points,
    ) {
        let clear = |w: usize| i.clear_i >> w & 1 == 1;
        let mut seen = 0u64;
        for s in 0..self.shape.active {
            let (warp, wait) = (usize::from(i.slot_warp_i[s]), i.wait_i[s]);
            let word = i.head_ctl_i[warp];
            let uses = |field: usize| place_of(&self.shape, level(word, field)).filter(|&place| wait >> place & 1 == 1);
            let held: Vec<usize> = (0..FIELDS).filter(|&field| uses(field).is_some()).collect();
            if i.slot_valid_i >> s & 1 == 0 {
                let other =
                    (0..self.shape.active).any(|t| i.slot_valid_i >> t & 1 == 1 && i.slot_warp_i[t] == warp as u8);
                let free = !held.is_empty() && !other && clear(warp) && o.clear_o >> warp & 1 == 1;
                point!("a slot without a warp holds no head back", free);
                continue;
            }
            point!("a warp in two slots", seen >> warp & 1 == 1);
            seen |= 1 << warp;
            point!("registers hold the head back", !clear(warp) && held.is_empty());
            if !clear(warp) {
                continue;
            }
            let only = |field: usize| held == [field];
            point!("source 0 alone holds its head back", only(0));
            point!("source 1 alone holds its head back", only(1));
            point!("source 2 alone holds its head back", only(2));
            point!("the result alone holds its head back", only(OPERANDS));
            let copy = |field: &usize| *field < OPERANDS && level(word, *field) & UPPER != 0;
            point!("a copy holds its head back", held.len() == 1 && held.iter().all(copy));
            let named = (0..FIELDS).any(|field| place_of(&self.shape, level(word, field)).is_some());
            point!(
                "a head uses other places than those that wait",
                named && held.is_empty() && wait != 0,
                given = self.shape.entries + self.shape.lrf_banks > 1
            );
            let none = (0..FIELDS).all(|field| number(level(word, field)) == 0);
            point!("a head without levels, and places wait", none && wait != 0);
            let nothing = (0..FIELDS).any(|field| number(level(word, field)) > PLACES);
            point!("a head names nothing, and places wait", nothing && !named && wait != 0);
            point!("a head in the last slot is held back", !held.is_empty() && s + 1 == self.shape.active);
            let place = |test: &dyn Fn(usize) -> bool| held.len() == 1 && uses(held[0]).is_some_and(test);
            point!("the last entry holds a head back", place(&|place| place + 1 == self.shape.entries));
            point!(
                "a bank holds a head back",
                place(&|place| place >= MAX_ORF_ENTRIES),
                given = self.shape.lrf_banks > 0
            );
        }
        point!("a warp without a slot is not held back", i.clear_i & o.clear_o & !seen != 0);
        point!("two heads are held back", (i.clear_i & !o.clear_o).count_ones() == 2);
    }
}

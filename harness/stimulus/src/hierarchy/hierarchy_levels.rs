//! `hierarchy_levels`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyLevels, HierarchyLevelsIn, HierarchyLevelsOut, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES, PLACES,
};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::{NoProbe, OPERANDS};
use gpurf_lockstep::Rng;

use super::{UPPER, number, place_of};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyLevels, LevelsDriver, LevelsCover>();

pub(crate) struct LevelsDriver;

knobs! {
    pub(crate) struct LevelsKnobs {
        valid: "an instruction is offered" = [900, 1000],
        source: "a source is a register" = [500, 900, 1000],
        zero: "a level is 0" = [0, 200],
        top: "a level has its top bit" = [0, 300, 900],
        same: "a level has the number of another one" = [0, 300, 900],
        none: "no register is written" = [0, 300],
        long: "the operation has a long latency" = [0, 300],
    }
}

impl Driver for LevelsDriver {
    type In = HierarchyLevelsIn;
    type Knobs = LevelsKnobs;

    fn new(_: &HierarchyShape, _: &Config) -> Self {
        Self
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &LevelsKnobs, i: &mut HierarchyLevelsIn) {
        i.valid_i = rng.chance(knobs.valid).into();
        i.long_i = rng.chance(knobs.long).into();
        let none = rng.chance(knobs.none);
        i.src_valid_i = rng.mask(OPERANDS as u32, knobs.source) as u8;
        i.dst_i = if none { NO_REG } else { rng.below(256) as u8 };
        let mut levels = [0u8; OPERANDS + 1];
        for k in 0..levels.len() {
            let drawn = if k > 0 && rng.chance(knobs.same) {
                levels[rng.below(k as u64) as usize] & (UPPER - 1)
            } else if rng.chance(knobs.zero) {
                0
            } else {
                // A few levels name no place.
                let any = rng.chance(100);
                1 + rng.below(if any { 15 } else { PLACES as u64 }) as u8
            };
            levels[k] = drawn | if rng.chance(knobs.top) { UPPER } else { 0 };
        }
        i.src_level_i = [levels[0], levels[1], levels[2]];
        i.dst_level_i = levels[OPERANDS];
    }
}

pub(crate) struct LevelsCover {
    shape: HierarchyShape,
}

#[cover]
impl LevelsCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &HierarchyLevelsIn,
        o: &HierarchyLevelsOut,
        _: &NoProbe<HierarchyShape>,
        points: &mut Points,
    ) {
        let shape = &self.shape;
        let levels = i.src_level_i;
        point!("no instruction, but levels", i.valid_i == 0 && i.src_valid_i != 0 && levels[0] != 0);
        if i.valid_i == 0 {
            return;
        }
        let valid = |k: usize| i.src_valid_i >> k & 1 == 1;
        let copied = |k: usize| o.copy_o >> k & 1 == 1;
        let top = |level: u8| level & UPPER != 0;
        let written = i.dst_i != NO_REG && i.long_i == 0;
        let entry = |level: u8| (1..=MAX_ORF_ENTRIES).contains(&number(level));
        let bank = |level: u8| (MAX_ORF_ENTRIES + 1..=PLACES).contains(&number(level));
        let there = |level: u8| place_of(shape, level).is_some();
        for (k, &level) in levels.iter().enumerate() {
            point!("the level of a source that is none", !valid(k) && there(level));
            if !valid(k) {
                continue;
            }
            point!("a level that names nothing, of a source", number(level) > PLACES);
            point!(
                "an entry that is not there is read",
                entry(level) && !there(level) && !top(level),
                given = self.shape.entries < MAX_ORF_ENTRIES
            );
            point!(
                "an entry that is not there is copied to",
                entry(level) && !there(level) && top(level),
                given = self.shape.entries < MAX_ORF_ENTRIES
            );
            point!(
                "a bank that is not there is read",
                bank(level) && !there(level) && !top(level),
                given = self.shape.lrf_banks < MAX_LRF_BANKS
            );
            point!("a bank with the top bit: the MRF, and no copy", bank(level) && top(level));
            point!("a source from the LRF", o.lrf_o >> k & 1 == 1, given = self.shape.lrf_banks > 0);
            let same = number(level) == number(i.dst_level_i);
            let copies = top(level) && entry(level) && there(level);
            point!("no copy to where the result goes", copies && same && o.result_place_o != 0);
            point!("two sources to one entry: one copy", copies && !copied(k) && !(same && o.result_place_o != 0));
            let read = o.read_place_o >> (number(level).max(1) - 1) & 1 == 1;
            point!("a copy to an entry that another source reads", copied(k) && read);
            point!("the last entry", number(level) == shape.entries && (copied(k) || o.orf_o >> k & 1 == 1));
        }
        let port = |k: usize| (o.orf_o >> k & 1 == 1).then_some(o.port_o[k]);
        point!("three sources from the ORF on one port", o.orf_o == 7 && o.orf_read_o == 1);
        point!("source 1 on the port of source 0", port(1) == Some(0));
        point!("source 2 on the port of source 0", port(2) == Some(0));
        point!("source 2 on the port of source 1", port(2) == Some(1));
        point!("three read ports", o.orf_read_o == 7, given = self.shape.entries >= 3);
        point!("all sources from the MRF", o.mrf_o == 7);
        point!("source 0 is copied", copied(0));
        point!("source 1 is copied", copied(1));
        point!("source 2 is copied", copied(2));
        point!("two copies", o.copy_o.count_ones() == 2, given = self.shape.entries >= 2);
        point!("from ORF, LRF and MRF", o.orf_o != 0 && o.lrf_o != 0 && o.mrf_o != 0, given = self.shape.lrf_banks > 0);
        point!(
            "two sources from the unified LRF",
            o.lrf_o.count_ones() == 2 && o.lrf_read_o == 1,
            given = self.shape.lrf_banks == 1
        );
        point!("three banks are read", o.lrf_read_o == 7, given = self.shape.lrf_banks >= MAX_LRF_BANKS);
        let level = i.dst_level_i;
        point!("a level that names nothing, of the result", written && number(level) > PLACES);
        point!(
            "an entry that is not there is written",
            written && entry(level) && !there(level),
            given = self.shape.entries < MAX_ORF_ENTRIES
        );
        point!(
            "a bank that is not there is written",
            written && bank(level) && !there(level),
            given = self.shape.lrf_banks < MAX_LRF_BANKS
        );
        point!("a result that takes long has a level", i.long_i == 1 && i.dst_i != NO_REG && there(level));
        point!("no register, but a level for it", i.dst_i == NO_REG && i.long_i == 0 && there(level));
        let result = usize::from(o.result_place_o);
        let to_orf = result & ((1 << MAX_ORF_ENTRIES) - 1) != 0;
        point!("a result to an entry that a source reads", to_orf && o.read_place_o & o.result_place_o != 0);
        point!("a result to the ORF", to_orf && o.both_o == 0);
        point!("a result to the ORF and the MRF", to_orf && o.both_o == 1);
        point!(
            "a result to the LRF and the MRF",
            result != 0 && !to_orf && o.both_o == 1,
            given = self.shape.lrf_banks > 0
        );
    }
}

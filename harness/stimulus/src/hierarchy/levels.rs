//! `hierarchy_levels`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyLevelsIn, HierarchyLevelsOut, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES, PLACES,
};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::{NoProbe, OPERANDS};
use gpurf_lockstep::Rng;

use super::{UPPER, number, place_of};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct LevelsDriver;

const VALID: usize = 0;
const SOURCE: usize = 1;
const ZERO: usize = 2;
const TOP: usize = 3;
const SAME: usize = 4;
const NONE: usize = 5;
const LONG: usize = 6;

impl Driver for LevelsDriver {
    type In = HierarchyLevelsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "valid", doc: "an instruction is offered", values: &[900, 1000] },
        Knob { name: "source", doc: "a source is a register", values: &[500, 900, 1000] },
        Knob { name: "zero", doc: "a level is 0", values: &[0, 200] },
        Knob { name: "top", doc: "a level has its top bit", values: &[0, 300, 900] },
        Knob { name: "same", doc: "a level has the number of another one", values: &[0, 300, 900] },
        Knob { name: "none", doc: "no register is written", values: &[0, 300] },
        Knob { name: "long", doc: "the operation has a long latency", values: &[0, 300] },
    ];

    fn new(_: &HierarchyShape, _: &Config) -> Self {
        Self
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HierarchyLevelsIn) {
        let mut chance = |knob: usize| rng.chance(knobs.get(knob));
        i.valid_i = chance(VALID).into();
        i.long_i = chance(LONG).into();
        let none = chance(NONE);
        i.src_valid_i = rng.mask(OPERANDS as u32, knobs.get(SOURCE)) as u8;
        i.dst_i = if none { NO_REG } else { rng.below(256) as u8 };
        let mut levels = [0u8; OPERANDS + 1];
        for k in 0..levels.len() {
            let drawn = if k > 0 && rng.chance(knobs.get(SAME)) {
                levels[rng.below(k as u64) as usize] & (UPPER - 1)
            } else if rng.chance(knobs.get(ZERO)) {
                0
            } else {
                // A few are the name of nothing.
                let any = rng.chance(100);
                1 + rng.below(if any { 15 } else { PLACES as u64 }) as u8
            };
            levels[k] = drawn | if rng.chance(knobs.get(TOP)) { UPPER } else { 0 };
        }
        i.src_level_i = [levels[0], levels[1], levels[2]];
        i.dst_level_i = levels[OPERANDS];
    }
}

pub(crate) struct LevelsCover {
    shape: HierarchyShape,
}

impl Cover for LevelsCover {
    type In = HierarchyLevelsIn;
    type Out = HierarchyLevelsOut;
    type Probe = NoProbe<HierarchyShape>;

    fn points(shape: &HierarchyShape) -> Vec<&'static str> {
        let mut points = vec![
            "no instruction, but levels",
            "three sources from the ORF on one port",
            "source 1 on the port of source 0",
            "source 2 on the port of source 0",
            "source 2 on the port of source 1",
            "all sources from the MRF",
            "the level of a source that is none",
            "a level that names nothing, of a source",
            "a level that names nothing, of the result",
            "source 0 is copied",
            "source 1 is copied",
            "source 2 is copied",
            "two sources to one entry: one copy",
            "no copy to where the result goes",
            "a bank with the top bit: the MRF, and no copy",
            "a copy to an entry that another source reads",
            "a result to an entry that a source reads",
            "a result to the ORF",
            "a result to the ORF and the MRF",
            "a result that takes long has a level",
            "no register, but a level for it",
            "the last entry",
        ];
        if shape.entries >= 2 {
            points.push("two copies");
        }
        if shape.entries >= 3 {
            points.push("three read ports");
        }
        if shape.entries < MAX_ORF_ENTRIES {
            points.extend([
                "an entry that is not there is read",
                "an entry that is not there is copied to",
                "an entry that is not there is written",
            ]);
        }
        if shape.lrf_banks > 0 {
            points.extend(["a source from the LRF", "from ORF, LRF and MRF", "a result to the LRF and the MRF"]);
        }
        if shape.lrf_banks == 1 {
            points.push("two sources from the unified LRF");
        }
        if shape.lrf_banks < MAX_LRF_BANKS {
            points.extend(["a bank that is not there is read", "a bank that is not there is written"]);
        } else {
            points.push("three banks are read");
        }
        points
    }

    fn new(shape: &HierarchyShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &HierarchyLevelsIn,
        o: &HierarchyLevelsOut,
        _: &NoProbe<HierarchyShape>,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let mut point = |name: &'static str, now: bool| {
            if now {
                hit(name);
            }
        };
        let shape = &self.shape;
        let levels = i.src_level_i;
        point("no instruction, but levels", i.valid_i == 0 && i.src_valid_i != 0 && levels[0] != 0);
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
            point("the level of a source that is none", !valid(k) && there(level));
            if !valid(k) {
                continue;
            }
            point("a level that names nothing, of a source", number(level) > PLACES);
            point("an entry that is not there is read", entry(level) && !there(level) && !top(level));
            point("an entry that is not there is copied to", entry(level) && !there(level) && top(level));
            point("a bank that is not there is read", bank(level) && !there(level) && !top(level));
            point("a bank with the top bit: the MRF, and no copy", bank(level) && top(level));
            point("a source from the LRF", o.lrf_o >> k & 1 == 1);
            let same = number(level) == number(i.dst_level_i);
            let copies = top(level) && entry(level) && there(level);
            point("no copy to where the result goes", copies && same && o.result_place_o != 0);
            point("two sources to one entry: one copy", copies && !copied(k) && !(same && o.result_place_o != 0));
            let read = o.read_place_o >> (number(level).max(1) - 1) & 1 == 1;
            point("a copy to an entry that another source reads", copied(k) && read);
            point("the last entry", number(level) == shape.entries && (copied(k) || o.orf_o >> k & 1 == 1));
        }
        let port = |k: usize| (o.orf_o >> k & 1 == 1).then_some(o.port_o[k]);
        point("three sources from the ORF on one port", o.orf_o == 7 && o.orf_read_o == 1);
        point("source 1 on the port of source 0", port(1) == Some(0));
        point("source 2 on the port of source 0", port(2) == Some(0));
        point("source 2 on the port of source 1", port(2) == Some(1));
        point("three read ports", o.orf_read_o == 7);
        point("all sources from the MRF", o.mrf_o == 7);
        point("source 0 is copied", copied(0));
        point("source 1 is copied", copied(1));
        point("source 2 is copied", copied(2));
        point("two copies", o.copy_o.count_ones() == 2);
        point("from ORF, LRF and MRF", o.orf_o != 0 && o.lrf_o != 0 && o.mrf_o != 0);
        point("two sources from the unified LRF", o.lrf_o.count_ones() == 2 && o.lrf_read_o == 1);
        point("three banks are read", o.lrf_read_o == 7);
        let level = i.dst_level_i;
        point("a level that names nothing, of the result", written && number(level) > PLACES);
        point("an entry that is not there is written", written && entry(level) && !there(level));
        point("a bank that is not there is written", written && bank(level) && !there(level));
        point("a result that takes long has a level", i.long_i == 1 && i.dst_i != NO_REG && there(level));
        point("no register, but a level for it", i.dst_i == NO_REG && i.long_i == 0 && there(level));
        let result = usize::from(o.result_place_o);
        let to_orf = result & ((1 << MAX_ORF_ENTRIES) - 1) != 0;
        point("a result to an entry that a source reads", to_orf && o.read_place_o & o.result_place_o != 0);
        point("a result to the ORF", to_orf && o.both_o == 0);
        point("a result to the ORF and the MRF", to_orf && o.both_o == 1);
        point("a result to the LRF and the MRF", result != 0 && !to_orf && o.both_o == 1);
    }
}

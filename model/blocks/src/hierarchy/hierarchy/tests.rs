use super::*;
use crate::Shape;
use crate::config::{Config, Start};
use crate::hierarchy::PLACES;
use crate::instruction::NO_REG;
use crate::testing::{Driver, Random, event};
use crate::write::WriteFields;

const WARPS: usize = 8;
const REGISTERS: usize = 6;

fn shape(settings: &[&str]) -> HierarchyShape {
    HierarchyShape::of(&Config::load(Start::Preset("lrf-orf-split"), settings).expect("a configuration"))
}

impl Driver<Hierarchy> {
    /// Slot s has warp s.
    fn with_slots(shape: &HierarchyShape) -> Self {
        let mut hierarchy = Self::new(shape);
        hierarchy.inputs.slot_valid_i = u64::MAX >> (64 - shape.active);
        for s in 0..shape.active {
            hierarchy.inputs.slot_warp_i[s] = s as u8;
        }
        hierarchy.inputs.dispatch_ready_i = 0b11;
        hierarchy
    }

    /// A cycle, after which nothing is offered any more.
    fn step(&mut self) -> HierarchyOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.issue_valid_i, inputs.issue_src_valid_i, inputs.write_valid_i, inputs.issue_end_i) = (0, 0, 0, 0);
        out
    }

    /// An instruction of warp and slot 0 that reads registers at these levels.
    fn issue(&mut self, tag: u8, regs: [u8; 3], levels: [u8; 3], sources: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.issue_valid_i, inputs.issue_tag_i[0], inputs.issue_mask_i[0]) = (1, tag, u32::MAX);
        (inputs.issue_src_valid_i, inputs.issue_dst_i[0]) = (sources, NO_REG);
        inputs.issue_src_reg_i[..3].copy_from_slice(&regs);
        inputs.issue_src_level_i[..3].copy_from_slice(&levels);
        self
    }

    /// It writes a register at a level.
    fn writes(&mut self, reg: u8, level: u8) -> &mut Self {
        (self.inputs.issue_dst_i[0], self.inputs.issue_dst_level_i[0]) = (reg, level);
        self
    }

    fn result(&mut self, reg: u8, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.write_valid_i = 1;
        inputs.write_i[0].change(|write| (write.d, write.mask) = (reg, mask));
        inputs.write_data_i[0] = WarpData([value; LANES]);
        self
    }
}

fn count(out: &HierarchyOut, name: &str) -> u64 {
    let name = format!("hierarchy_{name}");
    let (layout, word) = if HIERARCHY_EVENT.iter().any(|&(field, _)| field == name) {
        (HIERARCHY_EVENT, out.event_o)
    } else {
        (HIERARCHY_COUNT_EVENT, out.count_event_o)
    };
    event(layout, word, &name)
}

#[test]
fn operands_are_there_after_three_cycles_wherever_they_are() {
    for level in [0, 2, 10] {
        let mut hierarchy = Driver::with_slots(&shape(&[]));
        hierarchy.issue(0, [0; 3], [0; 3], 0).writes(5, level).step();
        let out = hierarchy.result(5, u32::MAX, 7).step();
        assert_eq!(out.wait_o[0], if level == 0 { 0 } else { 1 << (level - 1) });
        let out = hierarchy.step();
        assert_eq!((out.write_done_o, out.written_o[0].d()), (1, 5));
        assert_eq!(
            (count(&out, "orf_write_groups"), count(&out, "lrf_write")),
            match level {
                2 => (8, 0),
                10 => (0, 1),
                _ => (0, 0),
            }
        );
        let out = hierarchy.issue(3, [1, 5, 1], [0, level, 0], 0b010).step();
        assert_eq!((out.issue_ready_o, out.wait_o[0], count(&out, "unwritten")), (1, 0, 0));
        assert_eq!((count(&out, "mrf_none"), count(&out, "mrf_one")), if level == 0 { (0, 1) } else { (1, 0) });
        assert_eq!(count(&out, "orf_read_groups") + count(&out, "lrf_b_read_groups"), if level == 0 { 0 } else { 8 });
        assert_eq!((hierarchy.step().dispatch_valid_o, hierarchy.step().dispatch_valid_o), (0, 0));
        let out = hierarchy.step();
        assert_eq!((out.dispatch_valid_o, out.dispatch_tag_o[0], out.dispatch_src_valid_o), (1, 3, 0b010));
        assert_eq!(out.dispatch_data_o[1].0, [7; LANES]);
    }
}

#[test]
fn a_result_for_two_levels_is_done_with_the_later_one() {
    let mut hierarchy = Driver::with_slots(&shape(&["orf.entries=1"]));
    hierarchy.issue(0, [0; 3], [0; 3], 0).writes(5, 17).step();
    let out = hierarchy.result(5, u32::MAX, 7).step();
    assert_eq!((count(&out, "both"), count(&out, "mrf_only")), (1, 0));
    let out = hierarchy.step();
    assert_eq!((out.write_done_o, hierarchy.probe().nets.mrf_write_done), (1, 1));
    // Level 2 is a place that this machine does not have.
    let out = hierarchy.issue(0, [5, 5, 0], [1, 2, 0], 0b011).step();
    assert_eq!((count(&out, "mrf_one"), count(&out, "orf_read")), (1, 1));
    hierarchy.step();
    hierarchy.step();
    let out = hierarchy.step();
    assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[1].0[31]), (7, 7));
}

#[test]
fn a_copy_is_written_after_dispatch_and_a_strand_end_voids_it() {
    let mut hierarchy = Driver::with_slots(&shape(&[]));
    hierarchy.result(5, u32::MAX, 7).step();
    hierarchy.step();
    hierarchy.issue(0, [5, 0, 0], [19, 0, 0], 1).step();
    let out = hierarchy.step();
    assert_eq!((out.wait_o[0], out.void_o & 1), (0b100, 0));
    hierarchy.step();
    assert_eq!(hierarchy.step().dispatch_valid_o, 1);
    let out = hierarchy.step();
    assert_eq!((count(&out, "copy_groups"), count(&out, "copy_shared_groups"), out.wait_o[0]), (8, 8, 0b100));
    // It may be read in the next cycle; the instruction ends its strand.
    hierarchy.inputs.issue_end_i = 1;
    let out = hierarchy.issue(1, [5, 0, 0], [3, 0, 0], 1).step();
    assert_eq!((out.wait_o[0], count(&out, "strand_end"), count(&out, "strand_void")), (0, 1, 1));
    let out = hierarchy.issue(2, [5, 0, 0], [3, 0, 0], 1).step();
    assert_eq!((out.void_o & 1, count(&out, "unwritten")), (1, 1));
    hierarchy.step();
    assert_eq!(hierarchy.step().dispatch_data_o[0].0, [7; LANES]);
}

#[test]
fn a_slot_is_not_given_out_while_something_is_under_way_to_it() {
    let mut hierarchy = Driver::with_slots(&shape(&[]));
    hierarchy.issue(0, [0; 3], [0; 3], 0).writes(5, 1);
    hierarchy.inputs.issue_end_i = 1;
    hierarchy.step();
    hierarchy.inputs.flush_i = 1;
    assert_eq!(hierarchy.step().flush_done_o, 0);
    assert_eq!(hierarchy.result(5, u32::MAX, 7).step().flush_done_o, 0);
    assert_eq!(hierarchy.step().flush_done_o, 0);
    assert_eq!(hierarchy.step().flush_done_o, 1);
}

/// A result that is to come, or a part of one.
struct Pending {
    warp: usize,
    reg: usize,
    mask: u32,
    due: usize,
    private: bool,
}

/// An instruction in the hierarchy.
#[derive(Clone, Copy)]
struct Held {
    warp: usize,
    sources: u8,
    mask: u32,
    /// What it has to get.
    read: [[u32; LANES]; 3],
    /// The register that it writes.
    d: Option<usize>,
    long: bool,
    parts: bool,
    private: bool,
}

/// Where the result of a register goes.
#[derive(Clone, Copy, Default)]
struct Target {
    place: Option<usize>,
    mrf: bool,
}

/// Warps whose code keeps to the rules, on a register file that has none: places and registers are what was written last.
struct Warps {
    random: Random,
    shape: HierarchyShape,
    value: [[[u32; LANES]; REGISTERS]; WARPS],
    place: [[[u32; LANES]; PLACES]; WARPS],
    /// Lanes of each place that the strand has written.
    valid: [[u32; PLACES]; WARPS],
    /// Results outstanding of each register, whether they are long, and where they go.
    open: [[u8; REGISTERS]; WARPS],
    long: [[bool; REGISTERS]; WARPS],
    target: [[Target; REGISTERS]; WARPS],
    resident: [u8; WARPS],
    /// The instruction of each tag.
    held: Vec<Option<Held>>,
    pending: Vec<Pending>,
    away: [usize; WARPS],
}

impl Warps {
    fn new(shape: HierarchyShape) -> Self {
        Self {
            random: Random(5),
            shape,
            value: [[[0; LANES]; REGISTERS]; WARPS],
            place: [[[0; LANES]; PLACES]; WARPS],
            valid: [[0; PLACES]; WARPS],
            open: [[0; REGISTERS]; WARPS],
            long: [[false; REGISTERS]; WARPS],
            target: Default::default(),
            resident: [0; WARPS],
            held: vec![None; shape.tags()],
            pending: Vec::new(),
            away: [0; WARPS],
        }
    }

    fn base(&self, warp: usize) -> u16 {
        (warp * REGISTERS.div_ceil(self.shape.mrf.banks)) as u16
    }

    fn lanes(&mut self) -> u32 {
        match self.random.below(4) {
            0 => self.random.next() as u32 | 1,
            1 => 1 << self.random.below(LANES),
            _ => u32::MAX,
        }
    }

    fn is_there(&self, place: usize) -> bool {
        self.shape.element(0, place).is_some()
    }

    /// An instruction on port p of a warp that is in a slot; `wait`: its places that wait.
    fn issue(&mut self, p: usize, inputs: &mut HierarchyIn, waits: &[u16; MAX_ACTIVE]) {
        let ports = self.shape.ports();
        let w = self.random.below(WARPS / ports) * ports + p;
        let Some(tag) = (0..self.held.len()).filter(|&t| self.held[t].is_none()).nth(p) else { return };
        if inputs.slot_valid_i >> w & !(inputs.flush_i >> w) & 1 == 0 {
            return;
        }
        inputs.issue_slot_i[p] = w as u8;
        let ends = self.random.chance(15);
        if ends && self.random.chance(30) {
            // A branch.
            inputs.issue_end_i |= 1 << p;
            self.valid[w] = [0; PLACES];
            return;
        }
        let (mask, private) = (self.lanes(), self.random.chance(70));
        let free = |place: usize| waits[w] >> place & 1 == 0;
        let (mut sources, mut regs, mut levels, mut read) = (0, [0; 3], [0; 3], [[0; LANES]; 3]);
        let mut copies: [Option<usize>; 3] = [None; 3];
        for k in 0..3 {
            let (reg, place) = (self.random.below(REGISTERS), self.random.below(PLACES));
            regs[k] = reg as u8;
            let lrf = place >= MAX_ORF_ENTRIES;
            let serves = !lrf || private && (self.shape.lrf_banks == 1 || place - MAX_ORF_ENTRIES == k);
            let written = self.is_there(place) && free(place) && self.valid[w][place] & mask == mask;
            if self.random.chance(60) && written && serves {
                sources |= 1 << k;
                (levels[k], read[k]) = (place as u8 + 1, self.place[w][place]);
            } else if self.open[w][reg] == 0 {
                sources |= 1 << k;
                read[k] = self.value[w][reg];
                let entry = self.random.below(MAX_ORF_ENTRIES);
                if self.random.chance(40) && free(entry) && !copies.contains(&Some(entry)) {
                    levels[k] = 17 + entry as u8;
                    copies[k] = Some(entry);
                }
            }
        }
        let d = self.random.below(REGISTERS);
        let writes = self.open[w][d] == 0 && self.random.chance(80);
        let long = writes && !private && self.random.chance(40);
        let place = self.random.below(PLACES);
        let fits = free(place) && (place < MAX_ORF_ENTRIES || private) && !copies.contains(&Some(place));
        let level = if writes && !long && fits && self.random.chance(70) {
            place as u8 + 1 + if self.random.chance(50) { 16 } else { 0 }
        } else {
            0
        };
        let goes = (level != 0 && self.is_there(place)).then_some(place);
        for k in 0..3 {
            if let Some(entry) = copies[k].filter(|&entry| self.is_there(entry)) {
                self.valid[w][entry] |= mask;
                for lane in set_bits(mask) {
                    self.place[w][entry][lane] = read[k][lane];
                }
            }
        }
        if let Some(place) = goes {
            self.valid[w][place] |= mask;
        }
        inputs.issue_valid_i |= 1 << p;
        (inputs.issue_warp_i[p], inputs.issue_mask_i[p]) = (w as u8, mask);
        (inputs.issue_base_i[p], inputs.issue_tag_i[p]) = (self.base(w), tag as u8);
        inputs.issue_src_valid_i |= sources << (3 * p);
        inputs.issue_src_reg_i[3 * p..][..3].copy_from_slice(&regs);
        inputs.issue_src_level_i[3 * p..][..3].copy_from_slice(&levels);
        inputs.issue_dst_i[p] = if writes { d as u8 } else { NO_REG };
        inputs.issue_dst_level_i[p] = level;
        inputs.issue_long_i = inputs.issue_long_i & !(1 << p) | u8::from(long) << p;
        inputs.issue_private_i = inputs.issue_private_i & !(1 << p) | u8::from(private) << p;
        if ends {
            inputs.issue_end_i |= 1 << p;
            self.valid[w] = [0; PLACES];
        }
        let parts = long || writes && !private && self.random.chance(50);
        self.resident[w] += 1;
        if writes {
            self.open[w][d] = 1 + u8::from(parts);
            self.long[w][d] = long;
            self.target[w][d] = Target { place: goes, mrf: goes.is_none() || level > 16 };
        }
        self.held[tag] = Some(Held { warp: w, sources, mask, read, d: writes.then_some(d), long, parts, private });
    }

    /// A result on bus b.
    fn write(&mut self, b: usize, cycle: usize, inputs: &mut HierarchyIn) {
        if inputs.write_valid_i >> b & 1 == 1 {
            return;
        }
        let Some(i) = self.pending.iter().position(|result| result.due <= cycle) else { return };
        let Pending { warp, reg, mask, private, .. } = self.pending.remove(i);
        inputs.write_valid_i |= 1 << b;
        inputs.write_i[b] = WriteFields { from_private: private.into(), d: reg as u8, warp: warp as u8, mask }.into();
        inputs.write_base_i[b] = self.base(warp);
        let Target { place, mrf } = self.target[warp][reg];
        for lane in 0..LANES {
            let value = self.random.next() as u32;
            inputs.write_data_i[b].0[lane] = value;
            if mask >> lane & 1 == 1 {
                if mrf {
                    self.value[warp][reg][lane] = value;
                }
                if let Some(place) = place {
                    self.place[warp][place][lane] = value;
                }
            }
        }
    }

    /// Slots are emptied, given up and taken again.
    fn slots(&mut self, inputs: &mut HierarchyIn, void: u64) {
        for w in 0..WARPS {
            let bit = 1 << w;
            let short = (0..REGISTERS).any(|reg| self.open[w][reg] != 0 && !self.long[w][reg]);
            let quiet = self.resident[w] == 0 && !short;
            if inputs.slot_valid_i & bit != 0 && inputs.flush_i & bit == 0 && quiet && self.random.chance(20) {
                let ended = self.random.chance(10);
                if void & bit != 0 || ended {
                    inputs.flush_i |= bit;
                    self.valid[w] = [0; PLACES];
                }
            } else if inputs.slot_valid_i & bit == 0 {
                self.away[w] -= 1;
                if self.away[w] == 0 {
                    inputs.slot_valid_i |= bit;
                }
            }
        }
    }

    /// What comes out.
    fn dispatch(&mut self, cycle: usize, ready: u8, out: &HierarchyOut) {
        for p in set_bits(out.dispatch_valid_o) {
            let tag = usize::from(out.dispatch_tag_o[p]);
            let held = self.held[tag].expect("it has been issued");
            let Held { warp: w, sources, mask, read, d, long, parts, private } = held;
            assert_eq!((usize::from(out.dispatch_warp_o[p]), out.dispatch_mask_o[p]), (w, mask), "cycle {cycle}");
            assert_eq!(out.dispatch_src_valid_o >> (3 * p) & 0b111, sources, "cycle {cycle}");
            for k in set_bits(sources) {
                let data = &out.dispatch_data_o[3 * p + k].0;
                for lane in set_bits(mask) {
                    assert_eq!(data[lane], read[k][lane], "cycle {cycle}, warp {w}, source {k}, lane {lane}");
                }
            }
            if ready >> p & 1 == 0 {
                continue;
            }
            self.held[tag] = None;
            self.resident[w] -= 1;
            if let Some(d) = d {
                let due = cycle + 1 + self.random.below(if long { 60 } else { 12 });
                let masks = if parts { vec![mask & 0xffff, mask & !0xffff] } else { vec![mask] };
                for (part, mask) in masks.into_iter().enumerate() {
                    self.pending.push(Pending { warp: w, reg: d, mask, due: due + 4 * part, private });
                }
            }
        }
    }
}

/// What has to come up.
const NAMES: [&str; 9] =
    ["both", "mrf_only", "orf_read", "lrf_read", "copy", "strand_void", "result_wait", "copy_wait", "dispatch_hold"];

/// How often it did in a run.
fn run(settings: &[&str], cycles: usize) -> [u64; 9] {
    let shape = shape(&[&["sm.warps=8", "mrf.kilobytes=8"], settings].concat());
    assert_eq!(shape.active, WARPS);
    let mut hierarchy = Driver::with_slots(&shape);
    let mut warps = Warps::new(shape);
    let mut sums = [0; 9];
    for cycle in 0..cycles {
        let (waits, void) = (*hierarchy.block.waits().0, hierarchy.block.void());
        warps.slots(&mut hierarchy.inputs, void);
        hierarchy.inputs.issue_end_i = 0;
        for p in 0..shape.ports() {
            // The SM issues only what is taken.
            if hierarchy.block.shown.issue_ready_o >> p & 1 == 1 && warps.random.chance(70) {
                warps.issue(p, &mut hierarchy.inputs, &waits);
            }
            warps.write(p, cycle, &mut hierarchy.inputs);
        }
        hierarchy.inputs.dispatch_ready_i = warps.random.below(4) as u8 | if cycle % 200 < 100 { 0b11 } else { 0 };
        let out = hierarchy.cycle();
        let ready = hierarchy.inputs.dispatch_ready_i;
        warps.dispatch(cycle, ready, &out);
        assert_eq!(count(&out, "unwritten"), 0, "cycle {cycle}");
        (hierarchy.inputs.issue_valid_i, hierarchy.inputs.issue_src_valid_i) = (0, 0);
        hierarchy.inputs.write_valid_i &= !out.write_ready_o;
        for b in set_bits(out.write_done_o) {
            let (warp, reg) = (usize::from(out.written_o[b].warp()), usize::from(out.written_o[b].d()));
            warps.open[warp][reg] -= 1;
        }
        for s in set_bits(out.flush_done_o) {
            hierarchy.inputs.flush_i &= !(1 << s);
            hierarchy.inputs.slot_valid_i &= !(1 << s);
            warps.away[s] = 1 + warps.random.below(20);
        }
        for (sum, name) in sums.iter_mut().zip(NAMES) {
            *sum += count(&out, name);
        }
    }
    sums
}

#[test]
fn operands_are_what_was_written_last() {
    let mut all = [0; 9];
    for ports in ["mrf.issue_ports=1", "mrf.issue_ports=2"] {
        for entries in ["orf.entries=1", "orf.entries=3", "orf.entries=8"] {
            for banks in ["lrf.banks=none", "lrf.banks=unified", "lrf.banks=split"] {
                let sums = run(&[ports, entries, banks, "mrf.banks=4"], 6000);
                assert!(
                    sums[2] > 0 && (sums[3] > 0) == (banks != "lrf.banks=none"),
                    "{ports} {entries} {banks}: {sums:?}"
                );
                all = std::array::from_fn(|i| all[i] + sums[i]);
            }
        }
    }
    run(&["mrf.issue_ports=2", "mrf.banks=2", "mrf.ports=1rw", "mrf.collectors=4"], 20_000);
    assert!(all.iter().all(|&sum| sum > 50), "{NAMES:?} {all:?}");
}

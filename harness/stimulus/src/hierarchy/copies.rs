//! `hierarchy_copies`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyCopies, HierarchyCopiesIn, HierarchyCopiesOut, HierarchyCopiesProbe, HierarchyShape, MAX_ORF_ENTRIES,
};
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_lockstep::Rng;

use super::one_of;
use crate::driver::{RESET, Reset, Twin, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps which tags have an instruction and what each dispatch port offers; knows by a twin what is held.
pub(crate) struct CopiesDriver {
    shape: HierarchyShape,
    reset: Reset,
    twin: Twin<HierarchyCopies>,
    noted: [bool; MAX_COLLECTORS],
    offer: [Option<usize>; 2],
    masks: [u32; 2],
}

const NOTE: usize = 0;
const COPY: usize = 1;
const OFFER: usize = 2;
const GO: usize = 3;
const WRITE: usize = 4;
const PARTIAL: usize = 5;
const STRAY: usize = 6;

impl Driver for CopiesDriver {
    type In = HierarchyCopiesIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "note", doc: "an instruction is taken", values: &[200, 600, 1000] },
        Knob { name: "copy", doc: "a source is copied", values: &[0, 100, 500, 1000] },
        Knob { name: "offer", doc: "an instruction has all its operands", values: &[300, 1000] },
        Knob { name: "go", doc: "it is dispatched", values: &[100, 500, 1000] },
        Knob { name: "written", doc: "a copy is written", values: &[100, 500, 1000] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 500] },
        Knob { name: "stray", doc: "a tag does not exist", values: &[0, 100] },
        RESET,
    ];

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            noted: [false; MAX_COLLECTORS],
            offer: [None; 2],
            masks: [0; 2],
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HierarchyCopiesIn) {
        let count = self.shape.ports();
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(7));
        i.offer_valid_i = 0;
        for p in 0..count {
            if self.offer[p].is_none() && rng.chance(knobs.get(OFFER)) {
                let other = self.offer[1 - p];
                let waiting: Vec<usize> =
                    (0..self.shape.tags()).filter(|&tag| self.noted[tag] && other != Some(tag)).collect();
                self.offer[p] = one_of(rng, &waiting);
                self.masks[p] = lane_mask(rng, knobs.get(PARTIAL));
                for data in &mut i.offer_data_i[OPERANDS * p..][..OPERANDS] {
                    rng.fill(&mut data.0);
                }
            }
            if let Some(tag) = self.offer[p] {
                i.offer_valid_i |= 1 << p;
                (i.offer_tag_i[p], i.offer_mask_i[p]) = (tag as u8, self.masks[p]);
            }
        }
        self.notes(rng, knobs, i);
        i.go_i = 0;
        i.copy_ready_i = self.twin.out.copy_valid_o & ports(rng, count, knobs.get(WRITE));
        self.twin.late(i);
        i.go_i = i.offer_valid_i & !self.twin.out.hold_o & ports(rng, count, knobs.get(GO));
        self.twin.late(i);
        for p in (0..count).filter(|p| i.go_i >> p & 1 == 1) {
            if let Some(tag) = self.offer[p].take() {
                self.noted[tag] = false;
            }
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            // What was noted in reset, or before, has no copies; it may be offered all the same.
            self.offer = [None; 2];
        }
    }
}

impl CopiesDriver {
    fn notes(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HierarchyCopiesIn) {
        let (tags, names) = (self.shape.tags(), 1 << self.shape.tag_w());
        (i.note_valid_i, i.note_copy_i, i.note_private_i) = (0, 0, 0);
        let free: Vec<usize> = (0..tags).filter(|&tag| !self.noted[tag]).collect();
        let mut last = None;
        for p in 0..self.shape.ports() {
            let stray = tags < names && rng.chance(knobs.get(STRAY));
            let tag = if stray {
                Some(tags + rng.below((names - tags) as u64) as usize)
            } else {
                one_of(rng, &free).filter(|&tag| Some(tag) != last)
            };
            let Some(tag) = tag.filter(|_| rng.chance(knobs.get(NOTE))) else { continue };
            last = Some(tag);
            if tag < tags {
                self.noted[tag] = true;
            }
            i.note_valid_i |= 1 << p;
            i.note_tag_i[p] = tag as u8;
            i.note_slot_i[p] = rng.below(self.shape.active as u64) as u8;
            i.note_private_i |= u8::from(rng.chance(500)) << p;
            i.note_copy_i |= (rng.mask(OPERANDS as u32, knobs.get(COPY)) as u8) << (OPERANDS * p);
            for entry in &mut i.note_entry_i[OPERANDS * p..][..OPERANDS] {
                *entry = rng.below(MAX_ORF_ENTRIES as u64) as u8;
            }
        }
    }
}

pub(crate) struct CopiesCover {
    shape: HierarchyShape,
}

impl Cover for CopiesCover {
    type In = HierarchyCopiesIn;
    type Out = HierarchyCopiesOut;
    type Probe = HierarchyCopiesProbe;

    fn points(shape: &HierarchyShape) -> Vec<&'static str> {
        let mut points = vec![
            "an instruction without copies is noted",
            "one copy is noted",
            "three copies are noted",
            "a note without copies for a tag that had some",
            "an instruction without copies goes, the latches are full",
            "an instruction with copies goes, the latches are empty",
            "an instruction with copies goes as the last copy is written",
            "an instruction with copies goes, another one is noted",
            "an instruction with one copy goes",
            "an instruction with three copies goes",
            "an instruction is held, one copy is left",
            "an instruction is held, one copy of two is written",
            "an instruction that is not held does not go",
            "a copy of source 0 is written",
            "a copy of source 1 is written",
            "a copy of source 2 is written",
            "a copy waits",
            "a private instruction's copy",
            "an instruction with copies is noted in reset",
            "an instruction with copies goes in reset",
            "reset under load",
        ];
        if shape.tags() < 1 << shape.tag_w() {
            points.push("a tag that does not exist is noted");
        }
        if shape.ports() == 2 {
            points.extend([
                "two instructions are noted",
                "two instructions with copies go",
                "one goes, the other is held",
                "both are held",
                "both copies are written",
            ]);
        }
        points
    }

    fn new(shape: &HierarchyShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &HierarchyCopiesIn,
        o: &HierarchyCopiesOut,
        p: &HierarchyCopiesProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let mut point = |name: &'static str, now: bool| {
            if now {
                hit(name);
            }
        };
        let (count, tags) = (self.shape.ports(), self.shape.tags());
        let noted = |tag: u8| if usize::from(tag) < tags { p.copy_q >> (OPERANDS * usize::from(tag)) & 7 } else { 0 };
        let (mut with, mut notes) = (0u8, false);
        for q in 0..count {
            let at = |set: u8| set >> q & 1 == 1;
            let copies = i.note_copy_i >> (OPERANDS * q) & 7;
            if at(i.note_valid_i) {
                notes = true;
                point("an instruction without copies is noted", copies == 0);
                point("one copy is noted", copies.count_ones() == 1);
                point("three copies are noted", copies == 7);
                point("a note without copies for a tag that had some", copies == 0 && noted(i.note_tag_i[q]) != 0);
                point("a tag that does not exist is noted", usize::from(i.note_tag_i[q]) >= tags);
                point("an instruction with copies is noted in reset", i.rst_ni == 0 && copies != 0);
            }
            if at(i.offer_valid_i) && noted(i.offer_tag_i[q]) != 0 {
                with |= 1 << q;
            }
        }
        point("an instruction with copies goes in reset", i.rst_ni == 0 && with & i.go_i != 0);
        point("reset under load", i.rst_ni == 0 && p.left_q != 0 && p.copy_q != 0);
        if i.rst_ni == 0 {
            return;
        }
        for q in 0..count {
            let at = |set: u8| set >> q & 1 == 1;
            let (goes, copies) = (at(i.go_i), at(with));
            let left = p.left_q >> (OPERANDS * q) & 7;
            let taken = noted(i.offer_tag_i[q]).count_ones();
            let written = at(i.copy_ready_i);
            point("an instruction without copies goes, the latches are full", goes && !copies && left != 0);
            point("an instruction with copies goes, the latches are empty", goes && copies && left == 0);
            point("an instruction with copies goes as the last copy is written", goes && copies && left != 0);
            point("an instruction with copies goes, another one is noted", goes && copies && notes);
            point("an instruction with one copy goes", goes && copies && taken == 1);
            point("an instruction with three copies goes", goes && copies && taken == 3);
            let held = at(o.hold_o);
            point("an instruction is held, one copy is left", held && left.count_ones() == 1 && !written);
            point("an instruction is held, one copy of two is written", held && left.count_ones() == 2 && written);
            point("an instruction that is not held does not go", at(i.offer_valid_i) && !held && !goes);
            point("a copy of source 0 is written", written && left & 1 == 1);
            point("a copy of source 1 is written", written && left & 3 == 2);
            point("a copy of source 2 is written", written && left == 4);
            point("a copy waits", at(o.wait_o));
            point("a private instruction's copy", at(o.copy_private_o));
        }
        point("two instructions are noted", i.note_valid_i == 3);
        point("two instructions with copies go", i.go_i & with == 3);
        point("one goes, the other is held", i.go_i.count_ones() == 1 && o.hold_o.count_ones() == 1);
        point("both are held", o.hold_o == 3);
        point("both copies are written", i.copy_ready_i == 3);
    }
}

//! `hierarchy_copies`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyCopies, HierarchyCopiesIn, HierarchyCopiesOut, HierarchyCopiesProbe, HierarchyShape, MAX_ORF_ENTRIES,
};
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_lockstep::Rng;

use super::one_of;
use crate::driver::{Reset, Twin, lane_mask, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyCopies, CopiesDriver, CopiesCover>();

/// Driver of `hierarchy_copies`. It keeps which tags have an instruction and what each dispatch port offers; a twin tells what is held.
pub(crate) struct CopiesDriver {
    shape: HierarchyShape,
    reset: Reset,
    twin: Twin<HierarchyCopies>,
    noted: [bool; MAX_COLLECTORS],
    offer: [Option<usize>; 2],
    masks: [u32; 2],
}

knobs! {
    pub(crate) struct CopiesKnobs {
        note: "an instruction is taken" = [200, 600, 1000],
        copy: "a source is copied" = [0, 100, 500, 1000],
        offer: "an instruction has all its operands" = [300, 1000],
        go: "it is dispatched" = [100, 500, 1000],
        written: "a copy is written" = [100, 500, 1000],
        partial: "lanes are inactive" = [0, 500],
        stray: "a tag does not exist" = [0, 100],
        reset,
    }
}

impl Driver for CopiesDriver {
    type In = HierarchyCopiesIn;
    type Knobs = CopiesKnobs;

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

    fn drive(&mut self, rng: &mut Rng, knobs: &CopiesKnobs, i: &mut HierarchyCopiesIn) {
        let count = self.shape.ports();
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.offer_valid_i = 0;
        for p in 0..count {
            if self.offer[p].is_none() && rng.chance(knobs.offer) {
                let other = self.offer[1 - p];
                let waiting: Vec<usize> =
                    (0..self.shape.tags()).filter(|&tag| self.noted[tag] && other != Some(tag)).collect();
                self.offer[p] = one_of(rng, &waiting);
                self.masks[p] = lane_mask(rng, knobs.partial);
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
        i.copy_ready_i = self.twin.out.copy_valid_o & ports(rng, count, knobs.written);
        self.twin.late(i);
        i.go_i = i.offer_valid_i & !self.twin.out.hold_o & ports(rng, count, knobs.go);
        self.twin.late(i);
        for p in (0..count).filter(|p| i.go_i >> p & 1 == 1) {
            if let Some(tag) = self.offer[p].take() {
                self.noted[tag] = false;
            }
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            // Instructions that were noted in reset, or before, have no copies; they may be offered nonetheless.
            self.offer = [None; 2];
        }
    }
}

impl CopiesDriver {
    fn notes(&mut self, rng: &mut Rng, knobs: &CopiesKnobs, i: &mut HierarchyCopiesIn) {
        let (tags, names) = (self.shape.tags(), 1 << self.shape.tag_w());
        (i.note_valid_i, i.note_copy_i, i.note_private_i) = (0, 0, 0);
        let free: Vec<usize> = (0..tags).filter(|&tag| !self.noted[tag]).collect();
        let mut last = None;
        for p in 0..self.shape.ports() {
            let stray = tags < names && rng.chance(knobs.stray);
            let tag = if stray {
                Some(tags + rng.below((names - tags) as u64) as usize)
            } else {
                one_of(rng, &free).filter(|&tag| Some(tag) != last)
            };
            let Some(tag) = tag.filter(|_| rng.chance(knobs.note)) else { continue };
            last = Some(tag);
            if tag < tags {
                self.noted[tag] = true;
            }
            i.note_valid_i |= 1 << p;
            i.note_tag_i[p] = tag as u8;
            i.note_slot_i[p] = rng.below(self.shape.active as u64) as u8;
            i.note_private_i |= u8::from(rng.chance(500)) << p;
            i.note_copy_i |= (rng.mask(OPERANDS as u32, knobs.copy) as u8) << (OPERANDS * p);
            for entry in &mut i.note_entry_i[OPERANDS * p..][..OPERANDS] {
                *entry = rng.below(MAX_ORF_ENTRIES as u64) as u8;
            }
        }
    }
}

pub(crate) struct CopiesCover {
    shape: HierarchyShape,
}

#[cover]
impl CopiesCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &HierarchyCopiesIn,
        o: &HierarchyCopiesOut,
        p: &HierarchyCopiesProbe,
        points: &mut Points,
    ) {
        let (count, tags) = (self.shape.ports(), self.shape.tags());
        let noted = |tag: u8| if usize::from(tag) < tags { p.copy_q >> (OPERANDS * usize::from(tag)) & 7 } else { 0 };
        let (mut with, mut notes) = (0u8, false);
        for q in 0..count {
            let at = |set: u8| set >> q & 1 == 1;
            let copies = i.note_copy_i >> (OPERANDS * q) & 7;
            if at(i.note_valid_i) {
                notes = true;
                point!("an instruction without copies is noted", copies == 0);
                point!("one copy is noted", copies.count_ones() == 1);
                point!("three copies are noted", copies == 7);
                point!("a note without copies for a tag that had some", copies == 0 && noted(i.note_tag_i[q]) != 0);
                point!(
                    "a tag that does not exist is noted",
                    usize::from(i.note_tag_i[q]) >= tags,
                    given = self.shape.tags() < 1 << self.shape.tag_w()
                );
                point!("an instruction with copies is noted in reset", i.rst_ni == 0 && copies != 0);
            }
            if at(i.offer_valid_i) && noted(i.offer_tag_i[q]) != 0 {
                with |= 1 << q;
            }
        }
        point!("an instruction with copies goes in reset", i.rst_ni == 0 && with & i.go_i != 0);
        point!("reset under load", i.rst_ni == 0 && p.left_q != 0 && p.copy_q != 0);
        if i.rst_ni == 0 {
            return;
        }
        for q in 0..count {
            let at = |set: u8| set >> q & 1 == 1;
            let (goes, copies) = (at(i.go_i), at(with));
            let left = p.left_q >> (OPERANDS * q) & 7;
            let taken = noted(i.offer_tag_i[q]).count_ones();
            let written = at(i.copy_ready_i);
            point!("an instruction without copies goes, the latches are full", goes && !copies && left != 0);
            point!("an instruction with copies goes, the latches are empty", goes && copies && left == 0);
            point!("an instruction with copies goes as the last copy is written", goes && copies && left != 0);
            point!("an instruction with copies goes, another one is noted", goes && copies && notes);
            point!("an instruction with one copy goes", goes && copies && taken == 1);
            point!("an instruction with three copies goes", goes && copies && taken == 3);
            let held = at(o.hold_o);
            point!("an instruction is held, one copy is left", held && left.count_ones() == 1 && !written);
            point!("an instruction is held, one copy of two is written", held && left.count_ones() == 2 && written);
            point!("an instruction that is not held does not go", at(i.offer_valid_i) && !held && !goes);
            point!("a copy of source 0 is written", written && left & 1 == 1);
            point!("a copy of source 1 is written", written && left & 3 == 2);
            point!("a copy of source 2 is written", written && left == 4);
            point!("a copy waits", at(o.wait_o));
            point!("a private instruction's copy", at(o.copy_private_o));
        }
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions are noted", i.note_valid_i == 3);
            point!("two instructions with copies go", i.go_i & with == 3);
            point!("one goes, the other is held", i.go_i.count_ones() == 1 && o.hold_o.count_ones() == 1);
            point!("both are held", o.hold_o == 3);
            point!("both copies are written", i.copy_ready_i == 3);
        }
    }
}

//! `front_operands`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::operands::{
    FrontOperands, FrontOperandsIn, FrontOperandsOut, FrontOperandsProbe, FrontShape, MAX_TAGS,
};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<FrontOperands, OperandsDriver, OperandsCover>();

/// Where the instruction of a tag is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// There is none.
    Nowhere,
    /// It has left T; these of its sources are to come from the cache.
    Moved(u8),
    /// Nothing is to come from the cache any more.
    Landed,
}

/// Driver of `front_operands`. It keeps track of where the instruction of each tag is.
pub(crate) struct OperandsDriver {
    shape: FrontShape,
    reset: Reset,
    at: [At; MAX_TAGS],
    /// The tag that the MRF offers on each port.
    offer: [Option<usize>; 2],
}

knobs! {
    pub(crate) struct OperandsKnobs {
        r#move: "an instruction leaves T" = [200, 900],
        hit: "a source has lanes in the cache" = [0, 300, 700, 1000],
        land: "what the cache gives comes" = [50, 400, 1000],
        offer: "the MRF offers an instruction" = [200, 900],
        early: "one for which something is to come from the cache" = [0, 300],
        ready: "a unit takes what is offered" = [100, 900, 1000],
        source: "a source comes from the MRF" = [0, 500, 1000],
        stray: "a tag does not exist" = [0, 0, 100],
        partial: "some lanes come from elsewhere" = [0, 500, 1000],
        reset,
    }
}

impl Driver for OperandsDriver {
    type In = FrontOperandsIn;
    type Knobs = OperandsKnobs;

    fn new(shape: &FrontShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), at: [At::Nowhere; MAX_TAGS], offer: [None; 2] }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &OperandsKnobs, i: &mut FrontOperandsIn) {
        let count = self.shape.mrf.issue_ports;
        i.rst_ni = self.reset.next(rng, knobs.reset);
        (i.move_valid_i, i.land_valid_i, i.land_fill_i, i.mrf_valid_i, i.mrf_src_valid_i) = (0, 0, 0, 0, 0);
        i.dispatch_ready_i = ports(rng, count, knobs.ready);
        let before = self.at;
        for p in 0..count {
            self.land(rng, knobs, i, p, &before);
            self.offer(rng, knobs, i, p, &before);
        }
        for p in 0..count {
            self.leave_t(rng, knobs, i, p, &before);
        }
        for p in 0..count {
            let got = |tag: usize| before.get(tag) == Some(&At::Landed);
            if let Some(tag) = self.offer[p].filter(|&tag| i.dispatch_ready_i >> p & 1 == 1 && got(tag)) {
                (self.at[tag], self.offer[p]) = (At::Nowhere, None);
            }
        }
        if i.rst_ni == 0 {
            (self.at, self.offer) = ([At::Nowhere; MAX_TAGS], [None; 2]);
        }
    }
}

impl OperandsDriver {
    /// A tag whose instruction is where `wanted` says.
    fn find(&self, rng: &mut Rng, at: &[At], wanted: impl Fn(usize, At) -> bool) -> Option<usize> {
        let tags = self.shape.tags;
        let first = rng.below(tags as u64) as usize;
        (first..first + tags).map(|tag| tag % tags).find(|&tag| wanted(tag, at[tag]))
    }

    /// A tag that does not exist, if there are such.
    fn stray(&self, rng: &mut Rng, knobs: &OperandsKnobs) -> Option<u8> {
        let (tags, names) = (self.shape.tags as u64, 1u64 << self.shape.tag_w());
        (tags < names && rng.chance(knobs.stray)).then(|| (tags + rng.below(names - tags)) as u8)
    }

    fn leave_t(&mut self, rng: &mut Rng, knobs: &OperandsKnobs, i: &mut FrontOperandsIn, p: usize, before: &[At]) {
        if !rng.chance(knobs.r#move) {
            return;
        }
        let hits = rng.mask(OPERANDS as u32, knobs.hit) as u8;
        for k in 0..OPERANDS {
            let mask = lane_mask(rng, knobs.partial);
            i.move_hit_i[OPERANDS * p + k] = if hits >> k & 1 == 1 { mask | u32::from(mask == 0) } else { 0 };
        }
        if let Some(tag) = self.stray(rng, knobs) {
            i.move_valid_i |= 1 << p;
            i.move_tag_i[p] = tag;
        } else if let Some(tag) = self.find(rng, before, |tag, at| at == At::Nowhere && self.at[tag] == at) {
            i.move_valid_i |= 1 << p;
            i.move_tag_i[p] = tag as u8;
            self.at[tag] = if hits == 0 { At::Landed } else { At::Moved(hits) };
        }
    }

    fn land(&mut self, rng: &mut Rng, knobs: &OperandsKnobs, i: &mut FrontOperandsIn, p: usize, before: &[At]) {
        let chance = knobs.land;
        let fill;
        if let Some(tag) = self.stray(rng, knobs) {
            i.land_tag_i[p] = tag;
            fill = rng.below(8) as u8;
        } else {
            let moved = |tag: usize, at: At| matches!(at, At::Moved(_)) && self.at[tag] == at;
            let Some(tag) = self.find(rng, before, moved).filter(|_| rng.chance(chance)) else { return };
            let At::Moved(sources) = before[tag] else { return };
            self.at[tag] = At::Landed;
            i.land_tag_i[p] = tag as u8;
            fill = sources;
        }
        i.land_valid_i |= 1 << p;
        i.land_fill_i |= fill << (OPERANDS * p);
        for k in (0..OPERANDS).filter(|k| fill >> k & 1 == 1) {
            rng.fill(&mut i.land_data_i[OPERANDS * p + k].0);
        }
    }

    /// Drives the MRF's offers: as a rule the MRF continues to offer the same instruction.
    fn offer(&mut self, rng: &mut Rng, knobs: &OperandsKnobs, i: &mut FrontOperandsIn, p: usize, before: &[At]) {
        if self.offer[p].is_none_or(|_| rng.chance(20)) {
            let other = self.offer[1 - p];
            let early = rng.chance(knobs.early);
            let there = |tag: usize, at: At| {
                other != Some(tag) && if early { matches!(at, At::Moved(_)) } else { at == At::Landed }
            };
            self.offer[p] = self.find(rng, before, there).filter(|_| rng.chance(knobs.offer));
        }
        let stray = if self.offer[p].is_none() { self.stray(rng, knobs) } else { None };
        let Some(tag) = stray.or(self.offer[p].map(|tag| tag as u8)) else { return };
        i.mrf_valid_i |= 1 << p;
        i.mrf_tag_i[p] = tag;
        let sources = rng.mask(OPERANDS as u32, knobs.source) as u8;
        i.mrf_src_valid_i |= sources << (OPERANDS * p);
        for k in (0..OPERANDS).filter(|k| sources >> k & 1 == 1) {
            rng.fill(&mut i.mrf_data_i[OPERANDS * p + k].0);
        }
    }
}

pub(crate) struct OperandsCover {
    shape: FrontShape,
    /// Lanes of each tag's sources that come from the cache.
    hit: [[u32; OPERANDS]; MAX_TAGS],
    /// Tags whose sources landed in the previous cycle.
    landed: u32,
}

#[cover]
impl OperandsCover {
    fn new(shape: &FrontShape, _: &Config) -> Self {
        Self { shape: *shape, hit: [[0; OPERANDS]; MAX_TAGS], landed: 0 }
    }

    fn observe(&mut self, i: &FrontOperandsIn, o: &FrontOperandsOut, p: &FrontOperandsProbe, points: &mut Points) {
        let (tags, running) = (self.shape.tags, i.rst_ni == 1);
        point!("loads in reset", !running && i.move_valid_i != 0 && i.land_fill_i != 0);
        point!("reset under load", !running && p.got_q != 0 && i.mrf_valid_i != 0);
        if running {
            #[given(self.shape.mrf.issue_ports == 2)]
            {
                point!("two leave T", i.move_valid_i == 3);
                point!("two land", i.land_valid_i == 3);
                point!("two dispatched", o.dispatch_valid_o & i.dispatch_ready_i == 3);
                point!("dispatched on port 1 alone", o.dispatch_valid_o & i.dispatch_ready_i == 2);
                point!(
                    "one leaves T as another one lands",
                    i.move_valid_i & 1 == 1 && i.land_valid_i & 2 != 0
                        || i.move_valid_i & 2 != 0 && i.land_valid_i & 1 == 1
                );
            }
        }
        for q in 0..self.shape.mrf.issue_ports {
            let at = |set: u8| set >> q & 1 == 1;
            let sources = |set: u8| set >> (OPERANDS * q) & 7;
            let (moved, landed) = (usize::from(i.move_tag_i[q]), usize::from(i.land_tag_i[q]));
            let hits: [u32; OPERANDS] = std::array::from_fn(|k| i.move_hit_i[OPERANDS * q + k]);
            let (leaves, lands, offered) = (at(i.move_valid_i), at(i.land_valid_i), at(i.mrf_valid_i));
            let tag = usize::from(i.mrf_tag_i[q]);
            if running {
                point!("an instruction without hits leaves T", leaves && hits == [0; OPERANDS]);
                point!("one with hits in all sources leaves T", leaves && !hits.contains(&0));
                point!("a part of the sources lands", lands && ![0, 7].contains(&sources(i.land_fill_i)));
                point!("the last tag", leaves && moved + 1 == tags);
                point!("a tag that was there before has other hits", leaves && moved < tags && self.hit[moved] != hits);
                point!(
                    "lands as the MRF offers it",
                    offered && (0..2).any(|l| i.land_valid_i >> l & 1 == 1 && i.land_tag_i[l] == i.mrf_tag_i[q])
                );
                #[given(self.shape.tags < 1 << self.shape.tag_w())]
                {
                    point!("a tag that does not exist leaves T", leaves && moved >= tags);
                    point!("one that does not exist lands", lands && landed >= tags);
                    point!("one is offered", offered && tag >= tags);
                }
            }
            if running && offered && tag < tags {
                let got = p.got_q >> tag & 1 == 1;
                let from_mrf = sources(i.mrf_src_valid_i);
                let from_cache = (0..OPERANDS).fold(0, |set, k| set | u8::from(self.hit[tag][k] != 0) << k);
                let goes = got && at(i.dispatch_ready_i);
                point!("offered by the MRF before its hits have landed", !got);
                point!("waits for its unit", got && !goes);
                point!("dispatched in the cycle after it landed", goes && self.landed >> tag & 1 == 1);
                point!("dispatched: nothing from the cache", goes && from_cache == 0 && from_mrf != 0);
                point!("dispatched: everything from the cache", goes && from_cache != 0 && from_mrf == 0);
                point!("dispatched: a source from both", goes && from_cache & from_mrf != 0);
                point!(
                    "dispatched: one source from the cache, another from the MRF",
                    goes && from_cache & !from_mrf != 0 && from_mrf & !from_cache != 0
                );
                point!("dispatched: no source at all", goes && from_cache | from_mrf == 0);
            }
            if leaves && moved < tags {
                self.hit[moved] = hits;
            }
        }
        let landed = (0..self.shape.mrf.issue_ports).filter(|&q| i.land_valid_i >> q & 1 == 1);
        self.landed = landed.fold(0, |set, q| set | 1 << i.land_tag_i[q]);
    }
}

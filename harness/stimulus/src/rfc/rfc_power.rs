//! `rfc_power`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::operands::MAX_TAGS;
use gpurf_blocks::rfc::{RfcPower, RfcPowerIn, RfcShape};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, Twin, any_bit, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::RfcPowerCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcPower, RfcPowerDriver, RfcPowerCover>();

/// Driver of `rfc_power`: instructions that wait in T, are read and dispatched; values that wait, are taken and written. A twin tells which words are
/// ON.
pub(crate) struct RfcPowerDriver {
    shape: RfcShape,
    mode: u16,
    reset: Reset,
    twin: Twin<RfcPower>,
    warps: Names,
    registers: Names,
    look: [Option<Look>; MAX_PORTS],
    write: [Option<Value>; MAX_PORTS],
    /// Tags of instructions between T and dispatch, and queues with a value.
    moved: [bool; MAX_TAGS],
    queued: u8,
}

/// An instruction in T.
#[derive(Clone, Copy)]
struct Look {
    warp: u8,
    tag: u8,
    src: u8,
    asked: u8,
    reg: [u8; OPERANDS],
    left: [u8; OPERANDS],
}

/// A value for a write port.
#[derive(Clone, Copy)]
struct Value {
    warp: u8,
    reg: u8,
    evict: bool,
}

knobs! {
    pub(crate) struct RfcPowerKnobs {
        wake_sleep: "strap: cycles until a word in SLEEP is ON" = [0, 1, 1, 2, 3, 6, 15],
        wake_off: "strap: cycles until a word that is OFF is ON" = [0, 1, 2, 2, 3, 7, 15],
        look: "an instruction comes into T" = [100, 500, 1000],
        hold: "the instruction in T waits for something else" = [0, 0, 100, 500],
        r#move: "it leaves T" = [200, 700, 1000],
        source: "a source is a register" = [300, 700, 1000],
        equal: "a source is the register of another one" = [0, 300],
        miss: "a source is to be read in the MRF" = [200, 600, 1000],
        more: "what is missing changes while it waits" = [0, 30, 300],
        on: "a source is left ON" = [0, 300, 900],
        write: "a value comes to a write port" = [50, 300, 1000],
        evict: "it is an eviction" = [0, 500, 1000],
        first: "an eviction comes in front of it" = [0, 30, 300],
        take: "it is taken" = [200, 700, 1000],
        done: "a value goes into its bank" = [100, 500, 1000],
        read: "an instruction is dispatched" = [50, 300, 1000],
        keep: "another instruction accesses a source" = [0, 200, 800],
        over: "a warp has ended" = [0, 2, 40],
        few: "the register is one of few" = [300, 800, 990],
        near: "the warp is one of few" = [300, 900, 1000],
        stray: "a tag does not exist" = [0, 0, 100],
        reset,
    }
}

impl Driver for RfcPowerDriver {
    type In = RfcPowerIn;
    type Knobs = RfcPowerKnobs;

    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            mode: cfg_of_block(config, "rfc_power") as u16 & 3,
            reset: Reset::default(),
            twin: Twin::new(shape),
            warps: Names::new(3, shape.warps as u64),
            registers: Names::new(6, 255),
            look: [None; MAX_PORTS],
            write: [None; MAX_PORTS],
            moved: [false; MAX_TAGS],
            queued: 0,
        }
    }

    fn unreached(shape: &RfcShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["look_warp_i", "write_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &RfcPowerKnobs, i: &mut RfcPowerIn) {
        let count = self.shape.ports();
        self.twin.early();
        self.warps.renew(rng);
        self.registers.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.mode | (knobs.wake_sleep << 2 | knobs.wake_off << 6) as u16;
        i.over_i = (0..self.shape.warps).fold(0, |set, w| set | u64::from(rng.chance(knobs.over)) << w);
        i.read_keep_i = rng.mask((OPERANDS * count) as u32, knobs.keep) as u8;
        i.write_evict_i = rng.mask(count as u32, 500) as u8;
        (i.look_valid_i, i.look_src_i, i.look_asked_i, i.move_i) = (0, 0, 0, 0);
        (i.write_valid_i, i.taken_i, i.read_valid_i) = (0, 0, 0);
        self.dispatch(rng, knobs, i);
        for p in 0..count {
            self.in_t(rng, knobs, i, p);
            self.in_front(rng, knobs, i, p);
        }
        i.done_i = ports(rng, count, knobs.done) & self.queued;
        self.twin.late(i);
        let (look_on, write_on) = (self.twin.out.look_on_o, self.twin.out.write_on_o);
        i.move_i = ports(rng, count, knobs.r#move) & i.look_valid_i & look_on;
        let room = !self.queued | i.done_i;
        i.taken_i = ports(rng, count, knobs.take) & i.write_valid_i & write_on & room;
        self.twin.late(i);
        self.twin.clock(i);

        // The clock edge.
        for p in set_bits(i.read_valid_i) {
            if let Some(moved) = self.moved.get_mut(usize::from(i.read_tag_i[p])) {
                *moved = false;
            }
        }
        for p in set_bits(i.move_i) {
            let tag = usize::from(self.look[p].take().expect("it is in T").tag);
            if tag < self.shape.tags() {
                self.moved[tag] = true;
            }
        }
        self.queued = self.queued & !i.done_i | i.taken_i;
        for b in set_bits(i.taken_i) {
            self.write[b] = None;
        }
        if i.rst_ni == 0 {
            (self.look, self.write) = ([None; MAX_PORTS], [None; MAX_PORTS]);
            (self.moved, self.queued) = ([false; MAX_TAGS], 0);
        }
    }
}

impl RfcPowerDriver {
    fn warp(&self, rng: &mut Rng, knobs: &RfcPowerKnobs) -> u8 {
        if rng.chance(knobs.near) { self.warps.draw(rng) as u8 } else { rng.below(self.shape.warps as u64) as u8 }
    }

    fn register(&self, rng: &mut Rng, knobs: &RfcPowerKnobs) -> u8 {
        if rng.chance(knobs.few) { self.registers.draw(rng) as u8 } else { rng.below(255) as u8 }
    }

    /// Drives the instructions that are dispatched: those that have left T, in any order.
    fn dispatch(&self, rng: &mut Rng, knobs: &RfcPowerKnobs, i: &mut RfcPowerIn) {
        let (tags, names) = (self.shape.tags(), 1 << self.shape.tag_w());
        let mut there = (0..tags).filter(|&tag| self.moved[tag]).fold(0u64, |set, tag| set | 1 << tag);
        for p in 0..self.shape.ports() {
            if !rng.chance(knobs.read) {
                continue;
            }
            if tags < names && rng.chance(knobs.stray) {
                i.read_valid_i |= 1 << p;
                i.read_tag_i[p] = (tags + rng.below((names - tags) as u64) as usize) as u8;
            } else if let Some(tag) = any_bit(rng, there) {
                there &= !(1 << tag);
                i.read_valid_i |= 1 << p;
                i.read_tag_i[p] = tag as u8;
            }
        }
    }

    fn instruction(&self, rng: &mut Rng, knobs: &RfcPowerKnobs) -> Option<Look> {
        let (tags, names) = (self.shape.tags(), 1 << self.shape.tag_w());
        let taken = |tag: usize| self.look.iter().flatten().any(|look| usize::from(look.tag) == tag);
        let free = (0..tags).filter(|&tag| !self.moved[tag] && !taken(tag)).fold(0u64, |set, tag| set | 1 << tag);
        let tag = if tags < names && rng.chance(knobs.stray) {
            tags + rng.below((names - tags) as u64) as usize
        } else {
            any_bit(rng, free)?
        };
        let src = rng.mask(OPERANDS as u32, knobs.source) as u8;
        let mut reg = [0; OPERANDS];
        for k in 0..OPERANDS {
            let same = k > 0 && rng.chance(knobs.equal);
            reg[k] = if same { reg[rng.below(k as u64) as usize] } else { self.register(rng, knobs) };
        }
        let left = std::array::from_fn(|_| if rng.chance(knobs.on) { 0 } else { rng.below(4) as u8 });
        let mut look = Look { warp: self.warp(rng, knobs), tag: tag as u8, src, asked: 0, reg, left };
        look.asked = asked(&look, rng.mask(OPERANDS as u32, knobs.miss) as u8);
        Some(look)
    }

    fn in_t(&mut self, rng: &mut Rng, knobs: &RfcPowerKnobs, i: &mut RfcPowerIn, p: usize) {
        if self.look[p].is_none() && rng.chance(knobs.look) {
            self.look[p] = self.instruction(rng, knobs);
        }
        let Some(look) = &mut self.look[p] else { return };
        if rng.chance(knobs.more) {
            look.asked = asked(look, rng.next_u64() as u8);
        }
        i.look_valid_i |= u8::from(!rng.chance(knobs.hold)) << p;
        (i.look_warp_i[p], i.look_tag_i[p]) = (look.warp, look.tag);
        i.look_src_i |= look.src << (OPERANDS * p);
        i.look_asked_i |= look.asked << (OPERANDS * p);
        i.look_reg_i[OPERANDS * p..][..OPERANDS].copy_from_slice(&look.reg);
        i.look_left_i[OPERANDS * p..][..OPERANDS].copy_from_slice(&look.left);
    }

    fn in_front(&mut self, rng: &mut Rng, knobs: &RfcPowerKnobs, i: &mut RfcPowerIn, b: usize) {
        let comes = match self.write[b] {
            None => rng.chance(knobs.write),
            Some(value) => !value.evict && rng.chance(knobs.first),
        };
        if comes {
            let evict = self.write[b].is_some() || rng.chance(knobs.evict);
            // Often a word of an instruction in T.
            let look = self.look[rng.below(self.shape.ports() as u64) as usize].filter(|_| rng.chance(300));
            let (warp, reg) = match look {
                Some(look) => (look.warp, look.reg[rng.below(OPERANDS as u64) as usize]),
                None => (self.warp(rng, knobs), self.register(rng, knobs)),
            };
            self.write[b] = Some(Value { warp, reg, evict });
        }
        let Some(value) = self.write[b].filter(|_| !rng.chance(knobs.hold)) else { return };
        i.write_valid_i |= 1 << b;
        i.write_evict_i = i.write_evict_i & !(1 << b) | u8::from(value.evict) << b;
        (i.write_warp_i[b], i.write_reg_i[b]) = (value.warp, value.reg);
    }
}

/// Those of these sources that can be requested from the MRF: registers, each once.
fn asked(look: &Look, sources: u8) -> u8 {
    let first = |k: &usize| set_bits(look.src).take_while(|l| l < k).all(|l| look.reg[l] != look.reg[*k]);
    set_bits(look.src & sources & 0b111).filter(first).fold(0, |set, k| set | 1 << k)
}

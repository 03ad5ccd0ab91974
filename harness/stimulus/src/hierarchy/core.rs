//! The surroundings of the register hierarchy in an SM: instructions that the compiler might have generated, whose registers and places are not
//! pending.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::hierarchy::{HierarchyEntriesProbe, HierarchyShape, MAX_ORF_ENTRIES, PLACES};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use super::{UPPER, element, is_there, number, one_of, place_of, places};
use crate::driver::{Names, alias, lane_mask};
use crate::surroundings::{self, Chances, Design, Slots};

/// The levels of an instruction's sources and of its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    pub(crate) sources: [u8; OPERANDS],
    pub(crate) dst: u8,
}

pub(crate) type Instruction = surroundings::Instruction<Levels>;
pub(crate) type Done = surroundings::Done<Levels>;
pub(crate) type Core = Slots<Places>;

/// Number of registers in use, and how many of them count as the first ones.
const REGISTERS: usize = 16;
const FIRST: usize = 5;

/// What the hierarchy adds to the surroundings.
pub(crate) struct Places {
    shape: HierarchyShape,
    registers: Names,
}

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "an active warp issues" = [200, 600, 1000],
        register: "a source is a register" = [300, 700, 1000],
        above: "it is read from a place that has its lanes" = [300, 700, 950],
        copy: "one that is read from the MRF is copied" = [0, 300, 900],
        few: "places and registers are the first ones" = [0, 500, 950],
        upper: "a result goes to a place" = [300, 700, 1000],
        bank: "to a bank of the LRF, if to a place" = [0, 300, 800],
        both: "and to the MRF" = [100, 600],
        absent: "a level names a place that is not there" = [0, 100, 400],
        long: "an operation has a long latency" = [0, 50, 300],
        shared: "an operation is for a unit that is shared" = [100, 500],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "a result is offered" = [100, 600, 1000],
        leave: "a warp gives its slot up" = [0, 5, 40],
        one: "it is the port's first slot that issues" = [0, 500, 900],
        inactive: "lanes are inactive" = [0, 300, 900],
    }
}

impl Design for Places {
    type Knobs = CoreKnobs;
    type Marks = Levels;
    const ENDS: bool = false;

    fn chances(knobs: &CoreKnobs) -> Chances {
        let CoreKnobs { result, slow, leave, one, .. } = *knobs;
        Chances { result, slow, leave, end: 0, one }
    }

    fn parts(rng: &mut Rng, knobs: &CoreKnobs, instruction: &Instruction) -> Vec<u32> {
        if instruction.private {
            return vec![instruction.mask];
        }
        // Each part has at least one lane.
        surroundings::parts(instruction.mask, false, || rng.chance(knobs.parts).then(|| rng.next_u64() as u32))
    }

    fn after(rng: &mut Rng, warp: usize) -> usize {
        // The same warp may come back at once, or the next warp may be one whose number differs in one bit.
        match rng.below(10) {
            0..3 => warp,
            3..6 => alias(rng, warp as u64, MAX_WARPS as u64) as usize,
            _ => warp + 1,
        }
    }

    fn begin(&mut self, rng: &mut Rng) {
        self.registers.renew(rng);
    }
}

impl Core {
    pub(crate) fn new(shape: &HierarchyShape) -> Self {
        let places = Places { shape: *shape, registers: Names::new(REGISTERS, NO_REG.into()) };
        Self::around(places, shape.ports(), shape.active, shape.tags(), &shape.mrf)
    }

    /// A slot of the port whose warp may issue.
    pub(crate) fn slot(&self, rng: &mut Rng, knobs: &CoreKnobs, port: usize) -> Option<usize> {
        let slots = self.may_issue(rng, knobs, port);
        one_of(rng, &slots)
    }

    /// The instruction that the warp of a slot would issue, if nothing that it uses is pending.
    pub(crate) fn instruction(
        &self,
        rng: &mut Rng,
        knobs: &CoreKnobs,
        s: usize,
        entries: &HierarchyEntriesProbe,
    ) -> Option<Instruction> {
        if !rng.chance(knobs.offer) {
            return None;
        }
        let shape = &self.design.shape;
        let lanes = |place: usize| entries.valid_q[element(shape, s, place)];
        let waits =
            |level: u8| place_of(shape, level).is_some_and(|place| entries.wait_q[element(shape, s, place)] != 0);
        let long = rng.chance(knobs.long);
        let private = !long && !rng.chance(knobs.shared);
        let mut mask = lane_mask(rng, knobs.inactive);
        let some: Vec<usize> = places(shape).filter(|&place| lanes(place) != 0).collect();
        if let Some(place) = one_of(rng, &some).filter(|_| rng.chance(knobs.above)) {
            mask = lanes(place) & if rng.chance(800) { u32::MAX } else { rng.next_u64() as u32 };
        }
        if mask == 0 {
            // Without lanes it would pass as a no-operation.
            return None;
        }
        let split = shape.lrf_banks > 1;
        let may_read =
            |k: usize, place: usize| place < MAX_ORF_ENTRIES || private && (!split || place == MAX_ORF_ENTRIES + k);
        let (mut sources, mut levels) = ([NO_REG; OPERANDS], [0u8; OPERANDS]);
        for k in 0..OPERANDS {
            if !rng.chance(knobs.register) {
                continue;
            }
            sources[k] = self.register(rng, knobs, s);
            let readable: Vec<usize> =
                places(shape).filter(|&place| may_read(k, place) && mask & !lanes(place) == 0).collect();
            let above = one_of(rng, &readable).filter(|_| rng.chance(knobs.above));
            levels[k] = match above {
                Some(place) => 1 + place as u8,
                None if rng.chance(knobs.copy) => UPPER + 1 + self.entry(rng, knobs),
                None if rng.chance(knobs.absent) => self.absent(rng),
                None => 0,
            };
            // Two copies to one entry are of one register.
            if let Some(j) = (0..k).find(|&j| levels[k] >= UPPER && levels[j] == levels[k]) {
                sources[k] = sources[j];
            }
        }
        let dst = if rng.chance(150) { NO_REG } else { self.register(rng, knobs, s) };
        let mut dst_level = self.result_level(rng, knobs, private);
        let copied = |level: &u8| *level >= UPPER && number(*level) == number(dst_level);
        if long || levels.iter().any(copied) {
            dst_level = 0;
        }
        let pending = sources.iter().chain([&dst]).any(|&register| self.is_pending(s, register));
        let clear = !pending && !levels.iter().chain([&dst_level]).any(|&level| waits(level));
        let (warp, slot, marks) = (self.warp_of(s), s as u8, Levels { sources: levels, dst: dst_level });
        clear.then_some(Instruction { warp, slot, mask, sources, dst, long, private, marks })
    }

    fn result_level(&self, rng: &mut Rng, knobs: &CoreKnobs, private: bool) -> u8 {
        let shape = &self.design.shape;
        if !rng.chance(knobs.upper) {
            return 0;
        }
        let level = if rng.chance(knobs.absent) {
            self.absent(rng)
        } else if private && shape.lrf_banks > 0 && rng.chance(knobs.bank) {
            (MAX_ORF_ENTRIES + 1) as u8 + rng.below(shape.lrf_banks as u64) as u8
        } else {
            1 + self.entry(rng, knobs)
        };
        level | if rng.chance(knobs.both) { UPPER } else { 0 }
    }

    fn entry(&self, rng: &mut Rng, knobs: &CoreKnobs) -> u8 {
        let entries = self.design.shape.entries as u64;
        let few = rng.chance(knobs.few);
        rng.below(if few { entries.min(2) } else { entries }) as u8
    }

    /// A level without its top bit that names a place which the machine does not have, or no place; 0 if there is none.
    fn absent(&self, rng: &mut Rng) -> u8 {
        let absent: Vec<u8> =
            (0..15).filter(|&p| p >= PLACES || !is_there(&self.design.shape, p)).map(|p| p as u8 + 1).collect();
        one_of(rng, &absent).unwrap_or(0)
    }

    /// A register of the warp of a slot.
    fn register(&self, rng: &mut Rng, knobs: &CoreKnobs, slot: usize) -> u8 {
        let few = rng.chance(knobs.few);
        let registers = &self.design.registers;
        let register = if few { registers.first(rng, FIRST) } else { registers.draw(rng) };
        self.register_of(self.warp_of(slot), register as u8)
    }
}

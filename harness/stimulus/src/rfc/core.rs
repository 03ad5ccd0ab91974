//! The surroundings of the register file cache in an SM: instructions with marks for the cache.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::{Names, alias, lane_mask};
use crate::surroundings::{self, Chances, Design, Slots};

/// The marks of an instruction for the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// Bit k: last read of source k.
    pub(crate) last: u8,
    pub(crate) bypass: bool,
    pub(crate) past: bool,
}

pub(crate) type Instruction = surroundings::Instruction<Marks>;
pub(crate) type Done = surroundings::Done<Marks>;
pub(crate) type Core = Slots<Cache>;

/// Number of register names.
const REGISTERS: usize = NO_REG as usize;

/// The registers of a warp that may be in an LRF.
#[derive(Clone, Copy)]
struct Upper {
    /// Lanes of each register that may be in an LRF, which shared units do not reach.
    lanes: [u32; REGISTERS],
    /// The register that was written there last.
    newest: u8,
}

/// What the cache adds to the surroundings.
pub(crate) struct Cache {
    shape: RfcShape,
    upper: Vec<Upper>,
    /// Registers in use: twice as many as entries, and some more.
    registers: Names,
}

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "an active warp issues" = [200, 600, 1000],
        register: "a source is a register" = [300, 700, 1000],
        equal: "a source is the register of another one" = [0, 300],
        few: "the register is one of the first ones" = [0, 500, 950],
        last: "a source is a last read" = [0, 200, 700],
        long: "an operation has a long latency" = [0, 100, 500],
        bypass: "a result is marked to go around" = [0, 100, 500],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "a result is offered" = [100, 600, 1000],
        leave: "a warp gives its slot up" = [0, 5, 40],
        end: "a warp ends" = [0, 1, 15],
        one: "it is the port's first slot that issues" = [0, 500, 900],
        inactive: "lanes are inactive" = [0, 300, 900],
        past: "a result is marked to go past the LRF" = [0, 200, 800],
        sweep: "results go through all registers, so that each needs an entry" = [0, 0, 900],
    }
}

impl Design for Cache {
    type Knobs = CoreKnobs;
    type Marks = Marks;
    const ENDS: bool = true;
    const TAKEN: bool = true;

    fn chances(knobs: &CoreKnobs) -> Chances {
        let CoreKnobs { result, slow, leave, end, one, .. } = *knobs;
        Chances { result, slow, leave, end, one }
    }

    fn parts(rng: &mut Rng, knobs: &CoreKnobs, instruction: &Instruction) -> Vec<u32> {
        surroundings::parts(instruction.mask, true, || rng.chance(knobs.parts).then(|| rng.next_u64() as u32))
    }

    fn after(rng: &mut Rng, warp: usize) -> usize {
        // The next warp may be one whose number differs in one bit.
        if rng.chance(300) { alias(rng, warp as u64, MAX_WARPS as u64) as usize } else { warp + 1 }
    }

    fn begin(&mut self, rng: &mut Rng) {
        self.registers.renew(rng);
    }

    fn taken(&mut self, instruction: &Instruction) {
        let upper = &mut self.upper[usize::from(instruction.warp)];
        let lanes = &mut upper.lanes[usize::from(instruction.dst)];
        *lanes &= !instruction.mask;
        if instruction.private && !instruction.marks.past {
            *lanes |= instruction.mask;
            upper.newest = instruction.dst;
        }
    }

    fn freed(&mut self, warp: usize) {
        self.upper[warp].lanes = [0; REGISTERS];
    }

    fn clear(&mut self) {
        self.upper.fill(Upper { lanes: [0; REGISTERS], newest: 0 });
    }
}

impl Core {
    pub(crate) fn new(shape: &RfcShape) -> Self {
        let upper = vec![Upper { lanes: [0; REGISTERS], newest: 0 }; MAX_WARPS];
        let registers = Names::new(2 * shape.entries + 4, REGISTERS as u64);
        let cache = Cache { shape: *shape, upper, registers };
        Self::around(cache, shape.ports(), shape.active, shape.tags(), &shape.mrf)
    }

    /// The instruction that a port offers.
    pub(crate) fn instruction(&self, rng: &mut Rng, knobs: &CoreKnobs, port: usize) -> Option<Instruction> {
        if !rng.chance(knobs.offer) {
            return None;
        }
        let slots = self.may_issue(rng, knobs, port);
        if slots.is_empty() {
            return None;
        }
        let slot = slots[rng.below(slots.len() as u64) as usize];
        let (warp, lrf) = (self.warp_of(slot), self.design.shape.lrf);
        let upper = &self.design.upper[usize::from(warp)];
        let mut sources = [NO_REG; OPERANDS];
        let mut last = rng.mask(OPERANDS as u32, knobs.last) as u8;
        for k in 0..OPERANDS {
            if rng.chance(knobs.register) {
                let same = k > 0 && rng.chance(knobs.equal);
                sources[k] = if same { sources[rng.below(k as u64) as usize] } else { self.register(rng, knobs, warp) };
            }
            // All slots of a register have the same mark; a slot without a register has none.
            match (0..k).find(|&l| sources[l] == sources[k]) {
                _ if sources[k] == NO_REG => last &= !(1 << k),
                Some(l) => last = last & !(1 << k) | (last >> l & 1) << k,
                None => {}
            }
        }
        let dst = match rng.below(20) {
            0..3 => NO_REG,
            3..5 if lrf => upper.newest,
            _ if rng.chance(knobs.sweep) => self.register_of(warp, self.design.registers.nth(self.results.time) as u8),
            _ => self.register(rng, knobs, warp),
        };
        if sources.iter().chain([&dst]).any(|&register| self.is_pending(slot, register)) {
            return None;
        }
        let mask = lane_mask(rng, knobs.inactive);
        // Instructions that read registers which may be in the LRF are for private units only.
        let reads = |r: u8| lrf && r != NO_REG && upper.lanes[usize::from(r)] & mask != 0;
        let held = sources.into_iter().any(reads);
        let long = !held && dst != NO_REG && rng.chance(knobs.long);
        let bypass = dst != NO_REG && rng.chance(knobs.bypass);
        let marks = Marks { last, bypass, past: rng.chance(knobs.past) };
        let private = held || !long && rng.chance(700);
        Some(Instruction { warp, slot: slot as u8, mask, sources, dst, long, private, marks })
    }

    fn register(&self, rng: &mut Rng, knobs: &CoreKnobs, warp: u8) -> u8 {
        let few = rng.chance(knobs.few);
        let Cache { shape, registers, .. } = &self.design;
        let register = if few { registers.first(rng, shape.entries + 1) } else { registers.draw(rng) };
        self.register_of(warp, register as u8)
    }
}

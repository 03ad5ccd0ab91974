//! Instructions that compute.

use gpurf_isa::modifiers::{LaneNumber, Modifier, Shuffle, Special};
use gpurf_isa::{Control, Instruction, Op, Operand, PowerState, Predicate, PredicateSource, Reg, Row, Slot, Slots};

use super::Generator;
use super::launch::AWKWARD;

/// Chance, in a thousand, that an integer operation is chosen among additions only: no other operations make chains of carries.
const ADDITIONS: u32 = 200;

/// Families of the instructions in statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Integer,
    Float,
    Lanes,
    Special,
}

impl Family {
    fn of(row: &Row) -> Option<Self> {
        match row.number {
            0x12 => Some(Self::Special),
            0x13..=0x16 => Some(Self::Lanes),
            0x10 | 0x11 | 0x20..=0x2f => Some(Self::Integer),
            0x30..=0x38 => Some(Self::Float),
            _ => None,
        }
    }
}

impl Generator<'_> {
    /// An operation of a family, with any modifiers.
    fn operation(&mut self, family: Family) -> Op {
        let rows: Vec<Row> = Op::TABLE.iter().filter(|row| Family::of(row) == Some(family)).copied().collect();
        let mut row = self.pick(&rows);
        if family == Family::Integer && self.rng.chance(ADDITIONS) {
            let additions: Vec<Row> = rows.iter().filter(|row| matches!(row.number, 0x20 | 0x21)).copied().collect();
            row = self.pick(&additions);
        }
        let width: u32 = row.modifiers.iter().map(|(_, bits)| bits).sum();
        let op = loop {
            let bits = self.word() & ((1 << width) - 1);
            if let Some(Ok(op)) = Op::from_modifiers(row.number, bits)
                && (self.program.timed || !op.reads_time())
            {
                break op;
            }
        };
        self.usual(op)
    }

    /// An instruction of a family, with any modifiers and operands.
    pub(super) fn instruction(&mut self, family: Family) -> Instruction {
        let op = self.operation(family);
        let mut instruction = Instruction::new(op).guarded(self.guard());
        self.operands(&mut instruction);
        self.finish(instruction)
    }

    /// An instruction of a family for all lanes, from one register into another one.
    pub(super) fn computation(&mut self, family: Family, to: Reg, from: Reg) -> Instruction {
        let op = loop {
            let op = self.operation(family);
            if op.slots().has(Slots::D) && op.slots().has(Slots::A) {
                break op;
            }
        };
        let slots = op.slots();
        let mut instruction = Instruction::new(op).d(to).a(from);
        if slots.has(Slots::B) {
            instruction.b = from.into();
        }
        if slots.has(Slots::C) {
            instruction.c = from;
        }
        self.finish(instruction)
    }

    /// Fresh values in a register: a constant, or a value of every thread's own.
    pub(super) fn fresh(&mut self) -> Instruction {
        let value = if self.rng.chance(300) { self.pick(&AWKWARD) } else { self.word() };
        let d = self.any();
        let instruction = if self.rng.chance(400) {
            Instruction::new(Op::Mov {}).d(d).b(value)
        } else {
            let op = Op::Imad { half: gpurf_isa::modifiers::Half::Low, signed: false };
            let lane = self.program.fixed[super::super::Fixed::Lane as usize];
            Instruction::new(op).d(d).a(lane).b(value | 1).c(self.any()).s(PredicateSource::FALSE)
        };
        self.finish(instruction)
    }

    /// Sets control fields, and remembers the registers of the instruction.
    pub(super) fn finish(&mut self, mut instruction: Instruction) -> Instruction {
        if self.control {
            instruction.control = self.control_fields(&instruction);
        }
        self.note(&instruction);
        instruction
    }

    /// Replaces modifiers of which most values are of little use.
    fn usual(&mut self, op: Op) -> Op {
        match op {
            Op::Shfl { mode, .. } if self.rng.chance(800) => {
                let width = 2 << self.rng.below(5);
                let clamp = if mode == Shuffle::Up { 0 } else { 31 };
                let number = |n: u8| LaneNumber::new(n & 31).expect("five bits");
                Op::Shfl { mode, clamp: number(clamp), segment: number(32 - width) }
            }
            Op::S2r { source: Special::LaneMaskEq } if self.rng.chance(500) => Op::S2r { source: Special::LaneId },
            op => op,
        }
    }

    pub(super) fn operands(&mut self, instruction: &mut Instruction) {
        let slots = instruction.op.slots();
        let mut others: Vec<Reg> = Vec::new();
        if slots.has(Slots::A) {
            instruction.a = self.source(&others);
            others.push(instruction.a);
        }
        if slots.has(Slots::B) {
            if slots.b_constant() && self.rng.chance(self.constant_chance(instruction.op)) {
                instruction.b = Operand::Imm(self.constant(instruction.op));
            } else {
                let register = self.source(&others);
                instruction.b = register.into();
                others.push(register);
            }
        }
        if slots.has(Slots::C) {
            instruction.c = self.source(&others);
        }
        let chances = &self.weights.chances;
        if slots.has(Slots::S) {
            instruction.s = self.condition(chances.carry);
        }
        if slots.has(Slots::T) {
            instruction.t = self.condition(chances.carry);
        }
        if slots.has(Slots::D) {
            instruction.d = self.destination();
        }
        if slots.has(Slots::P) {
            let only = !slots.has(Slots::D);
            let kept = only || self.rng.chance(chances.predicate);
            instruction.p = if kept { self.predicate() } else { Predicate::TRUE };
        }
    }

    /// A predicate source: with this chance a predicate, else always or never.
    fn condition(&mut self, chance: u32) -> PredicateSource {
        if self.rng.chance(chance) {
            self.predicate_source()
        } else if self.rng.chance(500) {
            PredicateSource::TRUE
        } else {
            PredicateSource::FALSE
        }
    }

    /// The chance of a constant operand. Amounts of shifts are mostly constants, since most values of a register are too large.
    fn constant_chance(&self, op: Op) -> u32 {
        match op {
            Op::Shl {} | Op::Shr { .. } | Op::Shf { .. } | Op::Bfe { .. } | Op::Bfi {} | Op::Prmt {} => 800,
            _ => self.weights.chances.constant,
        }
    }

    fn constant(&mut self, op: Op) -> u32 {
        let any = match self.rng.below(6) {
            0 => self.rng.below(16) as u32,
            1 => (self.rng.below(16) as u32).wrapping_neg(),
            2 => 1 << self.rng.below(32),
            3 => (1u64 << self.rng.below(33)).wrapping_sub(1) as u32,
            4 => self.pick(&AWKWARD),
            _ => self.word(),
        };
        if self.rng.chance(100) {
            return any;
        }
        match op {
            Op::Shl {} | Op::Shr { .. } | Op::Shf { .. } => self.rng.below(36) as u32,
            Op::Bfe { .. } | Op::Bfi {} => self.rng.below(34) as u32 | (self.rng.below(34) as u32) << 8,
            Op::Prmt {} => self.word() & 0xffff,
            Op::Shfl { .. } => self.rng.below(32) as u32,
            _ => any,
        }
    }

    /// Random control fields, except for those that make a statement about the code: the compiler sets last reads and free registers
    /// ([`lower`](crate::program::lower)).
    fn control_fields(&mut self, instruction: &Instruction) -> Control {
        let mut control =
            Control { deschedule: self.rng.chance(200), strand_end: self.rng.chance(200), ..Control::default() };
        for slot in Slot::ALL.into_iter().filter(|slot| instruction.source(*slot).is_some()) {
            control.source_levels[slot.index()] = self.source_level();
        }
        for (power, source) in control.source_power.iter_mut().zip(instruction.power_sources()) {
            // A register in two slots has one state.
            if source.is_some() && instruction.sources().count() < 2 {
                *power = self.pick(&[PowerState::On, PowerState::Sleep, PowerState::Off]);
            }
        }
        if instruction.destination().is_some() {
            control.result_level = self.result_level();
            control.bypass.lrf = self.rng.chance(300);
            control.bypass.cache = !instruction.is_long_latency() && self.rng.chance(300);
        }
        control
    }
}

/// Every value of a modifier, for choices among them.
pub fn all<M: Modifier>() -> Vec<M> {
    M::all().collect()
}

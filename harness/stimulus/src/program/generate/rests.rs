//! Accesses to one register that come late, or sooner than a compiler can predict: power states of registers depend on this.

use gpurf_isa::modifiers::LoadType;
use gpurf_isa::{Instruction, Op, PredicateSource, Reg, Slots};

use super::Generator;
use super::values::Family;
use crate::program::tree::{Access, Action, If, Loop, Statement, Trips, Window};

/// Instructions between two accesses: some gaps are shorter than any useful threshold of a compiler, some are longer.
const GAP: [u32; 2] = [1, 12];
/// Gaps that are longer than a threshold of several instructions.
const LONG_GAP: [u32; 2] = [5, 16];

impl Generator<'_> {
    /// Accesses to a register. Before and after them it is written in all lanes, so that no other access decides whether its value is needed.
    pub(super) fn rest(&mut self) -> Vec<Statement> {
        let register = self.any();
        let mut statements = vec![self.all_written(register)];
        statements.extend(self.gap(register, GAP));
        match self.rng.below(12) {
            0..=4 => {
                for _ in 0..self.range([1, 3]) {
                    statements.extend(self.third_again(register));
                }
            }
            5 | 6 => statements.push(self.both_sides(register)),
            7 => {
                // The value that these lanes get is never read.
                let guard = self.predicate_source();
                let written = self.written(register).guarded(guard);
                statements.push(Statement::Do(written));
                statements.extend(self.gap(register, LONG_GAP));
            }
            8 => statements.push(self.short_loop(register)),
            9 => {
                // Hardware may ignore the states that an instruction with no active lanes gives the register.
                let reader = self.reader(register).guarded(PredicateSource::FALSE);
                statements.push(Statement::Do(reader));
                statements.extend(self.gap(register, GAP));
                if self.rng.chance(500) {
                    let reader = self.reader(register);
                    statements.push(Statement::Do(reader));
                }
            }
            _ => {
                let other = self.other_than(&[register]);
                for _ in 0..self.range([1, 3]) {
                    let instruction = match self.rng.chance(500) {
                        true => self.computation(Family::Integer, register, register),
                        false => self.three_sources(other, register, register),
                    };
                    statements.push(Statement::Do(instruction));
                    statements.extend(self.gap(register, [0, 5]));
                }
            }
        }
        let result = self.other_than(&[register]);
        let last = self.computation(Family::Integer, result, register);
        statements.push(Statement::Do(last));
        if self.rng.chance(300) {
            let store = self.access_of(Window::Own, Action::Store(gpurf_isa::modifiers::StoreType::B32, vec![result]));
            statements.push(Statement::Access(store));
        }
        statements.extend(self.gap(register, [0, 8]));
        statements.push(self.all_written(register));
        statements
    }

    /// An instruction with the register as its third source, followed by instructions that access the register.
    fn third_again(&mut self, register: Reg) -> Vec<Statement> {
        let (first, result) = (self.other_than(&[register]), self.other_than(&[register]));
        let mut instructions = vec![self.three_sources(first, register, result)];
        for _ in 0..self.range([1, 3]) {
            instructions.push(match self.rng.below(4) {
                0 => self.written(register),
                1 => self.three_sources(first, register, register),
                2 => self.three_sources(register, first, result),
                _ => self.reader(register),
            });
        }
        instructions.into_iter().map(Statement::Do).collect()
    }

    /// A branch on both sides of which lanes read the register; on a side they may write it before.
    fn both_sides(&mut self, register: Reg) -> Statement {
        let test = self.divergent();
        let side = |generator: &mut Self| {
            let mut statements = generator.gap(register, [0, 6]);
            if generator.rng.chance(300) {
                let written = generator.written(register);
                statements.push(Statement::Do(written));
                statements.extend(generator.gap(register, [0, 6]));
            }
            let reader = generator.reader(register);
            statements.push(Statement::Do(reader));
            statements.extend(generator.gap(register, [0, 3]));
            statements
        };
        let (then, otherwise) = (side(self), side(self));
        Statement::If(If { test, then, otherwise })
    }

    /// A loop of little more than one instruction, which writes the register.
    fn short_loop(&mut self, register: Reg) -> Statement {
        let body = if self.rng.chance(700) {
            let access = self.access_of(Window::Input, Action::Load(LoadType::B32, vec![register]));
            Statement::Access(Access { other: None, generic: false, wide: false, offset: 0, ..access })
        } else {
            let (family, from) = (if self.limits.floats { Family::Float } else { Family::Integer }, self.any());
            Statement::Do(self.computation(family, register, from))
        };
        let rounds = self.range([2, 5]);
        Statement::Loop(Loop { depth: 0, trips: Trips::Fixed(rounds), predicate: self.predicate(), body: vec![body] })
    }

    /// Instructions that do not access the register.
    fn gap(&mut self, register: Reg, range: [u32; 2]) -> Vec<Statement> {
        let apart = |instruction: &Instruction| {
            instruction.sources().map(|(_, source)| source).chain(instruction.destination()).all(|it| it != register)
        };
        let mut statements = Vec::new();
        for _ in 0..self.range(range) {
            let family = if self.limits.floats && self.rng.chance(300) { Family::Float } else { Family::Integer };
            let instruction = self.instruction(family);
            if apart(&instruction) {
                statements.push(Statement::Do(instruction));
            }
        }
        statements
    }

    /// A register that is not one of these.
    fn other_than(&mut self, these: &[Reg]) -> Reg {
        loop {
            let register = self.any();
            if !these.contains(&register) {
                return register;
            }
        }
    }

    fn reader(&mut self, register: Reg) -> Instruction {
        let to = self.other_than(&[register]);
        let family = if self.limits.floats && self.rng.chance(300) { Family::Float } else { Family::Integer };
        self.computation(family, to, register)
    }

    fn written(&mut self, register: Reg) -> Instruction {
        let value = self.word();
        self.finish(Instruction::new(Op::Mov {}).d(register).b(value))
    }

    fn all_written(&mut self, register: Reg) -> Statement {
        let written = self.written(register);
        Statement::Do(written)
    }

    /// An instruction with three registers as sources, of which the third is no other operand, and with destination `d`.
    fn three_sources(&mut self, a: Reg, c: Reg, d: Reg) -> Instruction {
        let b = self.other_than(&[a, c]);
        loop {
            let family = if self.limits.floats && self.rng.chance(500) { Family::Float } else { Family::Integer };
            let instruction = self.computation(family, d, a);
            if instruction.op.slots().has(Slots::B) && instruction.op.slots().has(Slots::C) {
                return self.finish(instruction.b(b).c(c));
            }
        }
    }
}

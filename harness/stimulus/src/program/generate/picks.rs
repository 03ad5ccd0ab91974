//! Choices of registers and predicates: this is where dependences and bank conflicts come from.

use std::collections::VecDeque;

use gpurf_isa::{Instruction, Predicate, PredicateSource, Reg};

use super::Generator;

/// How many of the last registers count as near.
const RECENT: usize = 8;

fn remember<T: Copy>(list: &mut VecDeque<T>, item: T) {
    list.push_front(item);
    list.truncate(RECENT);
}

impl Generator<'_> {
    /// One of the latest entries of a list, often the very latest.
    fn recent<T: Copy>(&mut self, list: &VecDeque<T>) -> Option<T> {
        if list.is_empty() {
            return None;
        }
        let index = if self.rng.chance(self.weights.chances.near) { 0 } else { self.rng.below(list.len() as u64) };
        list.get(index as usize).copied()
    }

    /// A register whose number differs in one bit from that of one that was written or read a few instructions before.
    fn alias(&mut self) -> Option<Reg> {
        let chance = self.weights.chances.alias;
        if chance == 0 || !self.rng.chance(chance) {
            return None;
        }
        let list = if self.rng.chance(500) { self.written.clone() } else { self.read.clone() };
        let near = self.recent(&list)?;
        let other = Reg(near.0 ^ 1 << self.rng.below(8));
        self.pool.contains(&other).then_some(other)
    }

    /// A register to read, besides others of the same instruction.
    pub(super) fn source(&mut self, others: &[Reg]) -> Reg {
        let chances = &self.weights.chances;
        if self.rng.chance(chances.zero) {
            return Reg::ZERO;
        }
        if let Some(&other) = others.last() {
            if self.rng.chance(chances.same_register) {
                return other;
            }
            if self.rng.chance(chances.same_bank)
                && let Some(register) = self.in_bank_of(other)
            {
                return register;
            }
        }
        if let Some(register) = self.alias() {
            return register;
        }
        if self.rng.chance(self.weights.chances.raw) {
            let written = std::mem::take(&mut self.written);
            let register = self.recent(&written);
            self.written = written;
            if let Some(register) = register {
                return register;
            }
        }
        self.any()
    }

    /// A register to write.
    pub(super) fn destination(&mut self) -> Reg {
        let chances = &self.weights.chances;
        if self.rng.chance(chances.zero) {
            return Reg::ZERO;
        }
        if let Some(register) = self.alias() {
            return register;
        }
        let chances = &self.weights.chances;
        for (chance, list) in [(chances.waw, self.written.clone()), (chances.war, self.read.clone())] {
            if self.rng.chance(chance)
                && let Some(register) = self.recent(&list)
            {
                return register;
            }
        }
        self.any()
    }

    /// Any register.
    pub(super) fn any(&mut self) -> Reg {
        let index = self.rng.below(self.pool.len() as u64) as usize;
        self.pool[index]
    }

    /// Another register in the bank of `other`: the registers of a warp are interleaved over the banks.
    fn in_bank_of(&mut self, other: Reg) -> Option<Reg> {
        let banks = self.limits.banks;
        let same = |register: &&Reg| **register != other && u32::from(register.0) % banks == u32::from(other.0) % banks;
        let found: Vec<Reg> = self.pool.iter().filter(same).copied().collect();
        if found.is_empty() { None } else { Some(self.pick(&found)) }
    }

    /// A predicate to write.
    pub(super) fn predicate(&mut self) -> Predicate {
        Predicate::new(self.rng.below(7) as u8).expect("there are seven")
    }

    /// A predicate that is read: mostly one of the last that were written.
    pub(super) fn predicate_source(&mut self) -> PredicateSource {
        let predicates = std::mem::take(&mut self.predicates);
        let recent = if self.rng.chance(700) { self.recent(&predicates) } else { None };
        self.predicates = predicates;
        let predicate = recent.unwrap_or_else(|| self.predicate());
        PredicateSource { predicate, negated: self.rng.chance(500) }
    }

    /// A guard, or none.
    pub(super) fn guard(&mut self) -> PredicateSource {
        let chances = &self.weights.chances;
        if !self.rng.chance(chances.guard) {
            return PredicateSource::TRUE;
        }
        if self.rng.chance(chances.guard_never) { PredicateSource::FALSE } else { self.predicate_source() }
    }

    /// Remembers the registers and the predicate of an instruction that has been chosen.
    pub(super) fn note(&mut self, instruction: &Instruction) {
        // Registers with a fixed role are read now and then, but must not be chosen as destinations.
        for (_, register) in instruction.sources().filter(|(_, register)| !self.program.fixed.contains(register)) {
            remember(&mut self.read, register);
        }
        if let Some(register) = instruction.destination() {
            remember(&mut self.written, register);
        }
        if let Some(predicate) = instruction.predicate_destination() {
            remember(&mut self.predicates, predicate);
        }
    }

    /// Remembers registers that are read.
    pub(super) fn note_read(&mut self, registers: &[Reg]) {
        registers.iter().filter(|r| !r.is_zero()).for_each(|register| remember(&mut self.read, *register));
    }

    /// Remembers a register that is written.
    pub(super) fn note_written(&mut self, register: Reg) {
        if !register.is_zero() {
            remember(&mut self.written, register);
        }
    }

    /// Remembers a predicate that is written.
    pub(super) fn note_predicate(&mut self, predicate: Predicate) {
        remember(&mut self.predicates, predicate);
    }
}

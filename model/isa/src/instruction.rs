//! The instruction, and queries about it.

use crate::control::{Control, PowerState};
use crate::levels::{Places, ResultLevel, SourceLevel};
use crate::modifiers::{AtomicSpace, Space};
use crate::operations::{Op, Slots, Unit};
use crate::registers::{Offset, Operand, Pc, Predicate, PredicateSource, Reg, Slot};

/// An instruction: operation, operands and control fields.
///
/// Slots that its operation does not use hold the values of [`Instruction::new`]; [`Instruction::check`] reports slots that do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The guard; lanes in which it is false do nothing.
    pub guard: PredicateSource,
    /// The operation.
    pub op: Op,
    /// The destination.
    pub d: Reg,
    /// The predicate destination.
    pub p: Predicate,
    /// The first source; the address of a memory access, or its lower word.
    pub a: Reg,
    /// The second source; the upper word of an address.
    pub b: Operand,
    /// The third source; the value that a store writes.
    pub c: Reg,
    /// The first predicate source.
    pub s: PredicateSource,
    /// The second predicate source.
    pub t: PredicateSource,
    /// The offset that a memory access adds to its address.
    pub offset: Offset,
    /// Where the lanes of a divergent branch reconverge; `None` if their paths end without meeting.
    pub reconvergence: Option<Pc>,
    /// Control fields.
    pub control: Control,
}

impl Instruction {
    /// An instruction whose operands are `RZ`, `PT`, no offset and no reconvergence point, and whose control fields are those of a machine with
    /// an MRF only.
    pub const fn new(op: Op) -> Self {
        let b = if op.slots().has(Slots::CONSTANT) { Operand::Imm(0) } else { Operand::ZERO };
        Self {
            guard: PredicateSource::TRUE,
            op,
            d: Reg::ZERO,
            p: Predicate::TRUE,
            a: Reg::ZERO,
            b,
            c: Reg::ZERO,
            s: PredicateSource::TRUE,
            t: PredicateSource::TRUE,
            offset: Offset::ZERO,
            reconvergence: None,
            control: Control {
                last_read: [false; 3],
                deschedule: false,
                strand_end: false,
                source_levels: [crate::SourceLevel::Mrf; 3],
                result_level: crate::ResultLevel::Mrf,
                bypass: crate::cache_marks::CacheMarks::NONE,
                source_power: [PowerState::On; 2],
                result_power: PowerState::On,
                free_register: None,
                private: false,
            },
        }
    }

    /// The instruction with this guard.
    pub const fn guarded(mut self, guard: PredicateSource) -> Self {
        self.guard = guard;
        self
    }

    /// The instruction with this destination.
    pub const fn d(mut self, d: Reg) -> Self {
        self.d = d;
        self
    }

    /// The instruction with this predicate destination.
    pub const fn p(mut self, p: Predicate) -> Self {
        self.p = p;
        self
    }

    /// The instruction with this first source.
    pub const fn a(mut self, a: Reg) -> Self {
        self.a = a;
        self
    }

    /// The instruction with this second source.
    pub fn b(mut self, b: impl Into<Operand>) -> Self {
        self.b = b.into();
        self
    }

    /// The instruction with this third source.
    pub const fn c(mut self, c: Reg) -> Self {
        self.c = c;
        self
    }

    /// The instruction with this first predicate source.
    pub const fn s(mut self, s: PredicateSource) -> Self {
        self.s = s;
        self
    }

    /// The instruction with this second predicate source.
    pub const fn t(mut self, t: PredicateSource) -> Self {
        self.t = t;
        self
    }

    /// The instruction with this offset.
    pub const fn offset(mut self, offset: Offset) -> Self {
        self.offset = offset;
        self
    }

    /// The instruction with this reconvergence point.
    pub const fn reconverging(mut self, at: Option<Pc>) -> Self {
        self.reconvergence = at;
        self
    }

    /// The register that a source slot reads, if it reads one: not `RZ`, no constant, no slot that the operation does not use.
    pub fn source(&self, slot: Slot) -> Option<Reg> {
        let slots = self.op.slots();
        let register = match slot {
            Slot::A => slots.has(Slots::A).then_some(self.a),
            Slot::B => self.b.register().filter(|_| slots.has(Slots::B)),
            Slot::C => slots.has(Slots::C).then_some(self.c),
        };
        register.filter(|r| !r.is_zero())
    }

    /// The registers that it reads, with their slots, in the order a, b, c; a register in two slots comes twice. `RZ` is left out.
    pub fn sources(&self) -> impl Iterator<Item = (Slot, Reg)> + use<> {
        Slot::ALL.map(|slot| self.source(slot).map(|register| (slot, register))).into_iter().flatten()
    }

    /// The register that it writes; not `RZ`.
    pub fn destination(&self) -> Option<Reg> {
        (self.op.slots().has(Slots::D) && !self.d.is_zero()).then_some(self.d)
    }

    /// The predicates that it reads, its guard among them, in the order guard, s, t; not `PT`.
    pub fn predicate_sources(&self) -> impl Iterator<Item = Predicate> + use<> {
        let slots = self.op.slots();
        let guard = Some(self.guard);
        let s = slots.has(Slots::S).then_some(self.s);
        let t = slots.has(Slots::T).then_some(self.t);
        [guard, s, t].into_iter().flatten().map(|source| source.predicate).filter(|p| !p.is_true())
    }

    /// The predicate that it writes; not `PT`.
    pub fn predicate_destination(&self) -> Option<Predicate> {
        (self.op.slots().has(Slots::P) && !self.p.is_true()).then_some(self.p)
    }

    /// Whether its guard may exclude lanes.
    pub fn is_guarded(&self) -> bool {
        self.guard != PredicateSource::TRUE
    }

    /// The slots of the two sources whose power states it carries: the first two that read a register (sharing thesis 4.2.2).
    pub fn power_sources(&self) -> [Option<Slot>; 2] {
        let mut sources = self.sources().map(|(slot, _)| slot);
        [sources.next(), sources.next()]
    }

    /// The register that a source slot reads in the main register file of a machine with these places above it.
    pub fn main_source(&self, slot: Slot, places: Places) -> Option<Reg> {
        let above = matches!(self.control.source_level(slot), SourceLevel::Upper(place) if places.has(place));
        self.source(slot).filter(|_| !above)
    }

    /// The register that it writes in the main register file of a machine with these places above it. A long-latency result is written there whatever
    /// its level says.
    pub fn main_destination(&self, places: Places) -> Option<Reg> {
        let above = matches!(self.control.result_level, ResultLevel::Upper(place) if places.has(place));
        self.destination().filter(|_| !above || self.is_long_latency())
    }

    /// The registers that it accesses in the main register file of a machine with these places above it, each once, with their power
    /// states after it: those of its fields, and SLEEP for a third source that is neither of the first two nor the result (sharing
    /// thesis 4.2.2). Where fields of one register disagree, the result's state counts, then that of the first source.
    pub fn power_states(&self, places: Places) -> impl Iterator<Item = (Reg, PowerState)> + use<> {
        let fields = self.control.source_power.into_iter().map(Some).chain([None]);
        let main = |slot| self.main_source(slot, places);
        let sources = self.sources().zip(fields).filter_map(|((slot, _), state)| Some((main(slot)?, state)));
        let result = self.main_destination(places).map(|register| (register, Some(self.control.result_power)));
        let mut states: [Option<(Reg, PowerState)>; 4] = [None; 4];
        for (register, state) in result.into_iter().chain(sources) {
            let place = states.iter_mut().find(|place| place.is_none_or(|(there, _)| there == register));
            let place = place.expect("an instruction accesses four registers at most");
            if place.is_none() {
                *place = Some((register, state.unwrap_or(PowerState::Sleep)));
            }
        }
        states.into_iter().flatten()
    }

    /// The unit that executes it.
    pub const fn unit(&self) -> Unit {
        self.op.unit()
    }

    /// Whether its result takes hundreds of cycles, as that of every operation of the global memory unit does. A warp whose next instruction needs
    /// the result is descheduled.
    pub const fn is_long_latency(&self) -> bool {
        matches!(self.op.unit(), Unit::GlobalMemory)
    }

    /// Whether it reads or writes memory other than the constant space.
    pub const fn is_memory(&self) -> bool {
        matches!(self.op, Op::Ld { .. } | Op::St { .. } | Op::Atom { .. } | Op::Cas { .. })
    }

    /// Whether it may touch shared memory.
    pub const fn may_be_shared(&self) -> bool {
        match self.op {
            Op::Ld { space, .. } | Op::St { space, .. } => matches!(space, Space::Shared | Space::Generic),
            Op::Atom { space, .. } | Op::Cas { space } => matches!(space, AtomicSpace::Shared | AtomicSpace::Generic),
            _ => false,
        }
    }

    /// Whether it reads a word of memory and replaces it in one step.
    pub const fn is_atomic(&self) -> bool {
        matches!(self.op, Op::Atom { .. } | Op::Cas { .. })
    }

    /// Whether it reads the machine's time.
    pub const fn reads_time(&self) -> bool {
        self.op.reads_time()
    }

    /// The target of a branch.
    pub fn target(&self) -> Option<Pc> {
        match self.op {
            Op::Bra {} => self.b.immediate().and_then(Pc::new),
            _ => None,
        }
    }

    /// Whether its lanes may diverge: a branch with a guard.
    pub fn may_diverge(&self) -> bool {
        matches!(self.op, Op::Bra {}) && self.is_guarded()
    }

    /// Whether the address of a memory access is a pair of registers: not in shared and local memory, whose addresses have 32 bits.
    pub const fn has_wide_address(&self) -> bool {
        !matches!(
            self.op,
            Op::Ld { space: Space::Shared | Space::Local, .. }
                | Op::St { space: Space::Shared | Space::Local, .. }
                | Op::Atom { space: AtomicSpace::Shared, .. }
        ) && self.op.slots().has(Slots::PAIR)
    }
}

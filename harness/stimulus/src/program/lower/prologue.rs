//! Initial values: addresses, memories, registers, predicates.

use gpurf_isa::modifiers::{Alignment, BarrierId, IntegerComparison, Space, Special, StoreType};
use gpurf_isa::{Instruction, Op, Predicate, PredicateSource, Reg};

use super::{BufferKind, FLAGS, LEAD, Lowering, Needs, UNIT, offset};
use crate::program::{First, Fixed};

const STORE_SHARED: Op = Op::St { space: Space::Shared, kind: StoreType::B32, align: Alignment::Natural };
const STORE_LOCAL: Op = Op::St { space: Space::Local, kind: StoreType::B32, align: Alignment::Natural };

impl Lowering<'_> {
    /// Everything that the statements need.
    pub(super) fn prologue(&mut self, needs: &Needs) {
        let needed = |role: Fixed| needs.fixed[role as usize];
        let hashed = needs.registers.iter().any(|r| matches!(self.program.first[r.index()], First::Hash(_)));
        let [t0, t1, t2, t3] = [Fixed::T0, Fixed::T1, Fixed::T2, Fixed::T3].map(|role| self.fixed(role));
        let lane = self.fixed(Fixed::Lane);
        if needed(Fixed::Lane) || self.shared || hashed {
            self.note("lane number");
            self.special(lane, Special::LaneId);
        }
        if needed(Fixed::Own) || hashed {
            self.note("warp number in the grid");
            self.special(t0, Special::CtaidZ);
            self.special(t1, Special::NctaidY);
            self.special(t2, Special::CtaidY);
            self.multiply(t0, t0, t1, t2);
            self.special(t1, Special::NctaidX);
            self.special(t2, Special::CtaidX);
            self.multiply(t0, t0, t1, t2);
            self.special(t1, Special::WarpId);
            self.multiply(t3, t0, self.warps(), t1);
        }
        if needed(Fixed::Own) {
            self.note("the warp's own words");
            self.constant(t2, BufferKind::Own.parameter());
            let own = self.fixed(Fixed::Own);
            if self.program.layout.interleaved {
                self.multiply(own, t3, UNIT, t2);
                self.add(own, own, LEAD);
            } else {
                self.multiply(own, t3, 4 * self.program.layout.own_words, t2);
            }
        }
        if self.shared {
            self.fill_shared(needs);
        }
        if self.local {
            self.fill_local();
        }
        self.registers(needs, t3);
        if !needs.predicates.is_empty() {
            self.note("predicates");
            self.special(t0, Special::LaneMaskEq);
            for &predicate in &needs.predicates {
                let mask = self.program.first_predicates[usize::from(predicate.number())];
                self.and(t1, t0, mask);
                self.compare(predicate, IntegerComparison::Ne, t1, Reg::ZERO, PredicateSource::TRUE);
            }
        }
    }

    /// Initialises registers that are read, with a different value for each thread or the same for all.
    fn registers(&mut self, needs: &Needs, warp: Reg) {
        if needs.registers.is_empty() {
            return;
        }
        self.note("registers");
        let (t0, lane) = (self.fixed(Fixed::T0), self.fixed(Fixed::Lane));
        let first: Vec<(Reg, First)> = needs.registers.iter().map(|&r| (r, self.program.first[r.index()])).collect();
        if first.iter().any(|(_, first)| matches!(first, First::Hash(_))) {
            self.multiply(t0, warp, 32, lane);
            self.add(t0, t0, 1);
        }
        for (register, first) in first {
            match first {
                First::Constant(value) => self.mov(register, value),
                First::Hash(factor) => self.multiply(register, t0, factor, warp),
            }
        }
    }

    /// Initialises all of shared memory, by all threads; then they wait for each other.
    fn fill_shared(&mut self, needs: &Needs) {
        self.note("shared memory");
        let [t0, t1, t2] = [Fixed::T0, Fixed::T1, Fixed::T2].map(|role| self.fixed(role));
        let (lane, write, read) = (self.fixed(Fixed::Lane), self.fixed(Fixed::Write), self.fixed(Fixed::Read));
        let p0 = Predicate::new(0).expect("there is P0");
        self.special(t0, Special::WarpId);
        if needs.fixed[Fixed::Write as usize] {
            self.multiply(write, t0, self.region(), Reg::ZERO);
        }
        if needs.fixed[Fixed::Read as usize] {
            self.mov(read, self.half());
        }
        // There are more words than threads: a warp has at least 32 in each half.
        self.multiply(t1, t0, 32, lane);
        self.multiply(t1, t1, 4, Reg::ZERO);
        let again = self.label();
        self.place(again);
        self.multiply(t2, t1, 0x9e37_79b1, lane);
        self.emit(Instruction::new(STORE_SHARED).a(t1).c(t2));
        self.add(t1, t1, 4 * self.program.threads());
        self.compare(p0, IntegerComparison::Lt, t1, self.flags_at(), PredicateSource::TRUE);
        self.branch(PredicateSource::of(p0), again);
        let flags = self.flags;
        for flag in (0..FLAGS).filter(|flag| flags >> flag & 1 != 0) {
            let at = offset((self.flags_at() + 4 * flag) as i32);
            self.emit(Instruction::new(STORE_SHARED).offset(at));
        }
        let id = BarrierId::new(0).expect("there is barrier 0");
        self.emit(Instruction::new(Op::Bar { id }));
    }

    /// Initialises all words of local memory, each thread its own.
    fn fill_local(&mut self) {
        self.note("local memory");
        let (t0, p0) = (self.fixed(Fixed::T0), Predicate::new(0).expect("there is P0"));
        self.mov(t0, Reg::ZERO);
        let again = self.label();
        self.place(again);
        self.emit(Instruction::new(STORE_LOCAL).a(t0).c(t0));
        self.add(t0, t0, 4);
        self.compare(p0, IntegerComparison::Lt, t0, self.local_bytes(), PredicateSource::TRUE);
        self.branch(PredicateSource::of(p0), again);
    }
}

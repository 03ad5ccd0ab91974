//! Statements of control flow and synchronisation.

use gpurf_isa::modifiers::{Atomic, AtomicSpace, BarrierId, IntegerComparison, Space, Special, Vote};
use gpurf_isa::{Instruction, Op, Operand, Predicate, PredicateSource, Reg};

use super::{Lowering, inverse, offset};
use crate::program::Fixed;
use crate::program::tree::{
    Barrier, Condition, Count, If, Leave, Loop, Meeting, Spin, Statement, Sync, Test, Trips, visit,
};

/// Barrier numbers from here on belong to meetings.
const MEETINGS: u8 = 8;

impl Lowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Do(instruction) => self.emit(*instruction),
            Statement::Access(access) => self.access(access),
            Statement::If(branch) => self.two_ways(branch),
            Statement::Loop(repeat) => self.repeat(repeat),
            Statement::Leave(leave) => self.leave(leave),
            Statement::Exit(test) => self.exit(test),
            Statement::EndWarp(test) => self.end_warp(test),
            Statement::Barrier(barrier) => self.barrier(*barrier),
            Statement::Meeting(meeting) => self.meeting(meeting),
            Statement::Sync(sync) => self.sync(*sync),
            Statement::Skip(dead) => {
                self.note("jumped over");
                let end = self.label();
                self.branch(PredicateSource::TRUE, end);
                dead.iter().for_each(|instruction| self.emit(*instruction));
                self.place(end);
            }
            Statement::Spin(spin) => self.spin(spin),
        }
    }

    /// Lowers statements, with a release after the last one that accesses shared memory. If that one is a branch, both of its sides have a release.
    pub(super) fn releasing(&mut self, statements: &[Statement]) {
        let Some(last) = statements.iter().rposition(accesses_shared) else {
            self.release();
            return self.statements(statements);
        };
        self.statements(&statements[..last]);
        if let Statement::If(branch) = &statements[last] {
            self.ways(branch, true, Self::releasing);
        } else {
            self.statement(&statements[last]);
            self.release();
        }
        self.statements(&statements[last + 1..]);
    }

    pub(super) fn release(&mut self) {
        self.note("release");
        self.emit(Instruction::new(Op::Relssp {}));
    }

    fn two_ways(&mut self, branch: &If) {
        self.ways(branch, !branch.otherwise.is_empty(), Self::statements);
    }

    /// Lowers a branch; `second` says whether it has a second side.
    fn ways(&mut self, branch: &If, second: bool, lower: impl Fn(&mut Self, &[Statement])) {
        self.note("branch");
        let holds = self.test(&branch.test);
        let (other, end) = (self.label(), self.label());
        self.branch(inverse(holds), if second { other } else { end });
        lower(self, &branch.then);
        if second {
            self.branch(PredicateSource::TRUE, end);
            self.place(other);
            lower(self, &branch.otherwise);
        }
        self.place(end);
    }

    fn repeat(&mut self, Loop { depth, trips, predicate, body }: &Loop) {
        self.note("loop");
        let counter = self.program.fixed[Fixed::C0 as usize + depth];
        match *trips {
            Trips::Fixed(rounds) => self.mov(counter, rounds),
            Trips::Warp(mask) => {
                self.special(counter, Special::WarpId);
                self.and(counter, counter, mask);
                self.add(counter, counter, 1);
            }
            Trips::Lane(mask) => {
                self.and(counter, self.fixed(Fixed::Lane), mask);
                self.add(counter, counter, 1);
            }
            Trips::Data(register, mask) => {
                self.and(counter, register, mask);
                self.add(counter, counter, 1);
            }
        }
        let (again, next, end) = (self.label(), self.label(), self.label());
        self.place(again);
        self.loops.push((next, end));
        self.statements(body);
        self.loops.pop();
        self.place(next);
        self.add(counter, counter, u32::MAX);
        self.compare(*predicate, IntegerComparison::Ne, counter, Reg::ZERO, PredicateSource::TRUE);
        self.branch(PredicateSource::of(*predicate), again);
        self.place(end);
    }

    fn leave(&mut self, Leave { ends, test }: &Leave) {
        let Some(&(next, end)) = self.loops.last() else { return };
        self.note(if *ends { "out of the loop" } else { "next round" });
        let holds = self.test(test);
        self.branch(holds, if *ends { end } else { next });
    }

    /// Computes a condition; returns the predicate that holds it.
    fn test(&mut self, test: &Test) -> PredicateSource {
        let (p, t0) = (test.predicate, self.fixed(Fixed::T0));
        match test.condition {
            Condition::Always(true) => return PredicateSource::TRUE,
            Condition::Always(false) => return PredicateSource::FALSE,
            Condition::Held(source) => return source,
            Condition::Block(mask, value) => self.bits_are(p, Special::CtaidX, mask, value),
            Condition::Warp(mask, value) => self.bits_are(p, Special::WarpId, mask, value),
            Condition::Vote(mode, s) => self.emit(Instruction::new(Op::Vote { mode }).p(p).s(s)),
            Condition::Lanes(mask) => {
                self.special(t0, Special::LaneMaskEq);
                self.and(t0, t0, mask);
                self.compare(p, IntegerComparison::Ne, t0, Reg::ZERO, PredicateSource::TRUE);
            }
            Condition::Bit(register, bit) => {
                self.and(t0, register, 1 << bit);
                self.compare(p, IntegerComparison::Ne, t0, Reg::ZERO, PredicateSource::TRUE);
            }
            Condition::Below(register, value) => {
                self.compare(p, IntegerComparison::Lt, register, value, PredicateSource::TRUE);
            }
        }
        PredicateSource::of(p)
    }

    fn bits_are(&mut self, p: Predicate, source: Special, mask: u32, value: u32) {
        let t0 = self.fixed(Fixed::T0);
        self.special(t0, source);
        self.and(t0, t0, mask);
        self.compare(p, IntegerComparison::Eq, t0, value & mask, PredicateSource::TRUE);
    }

    fn exit(&mut self, test: &Test) {
        self.note("lanes end");
        let holds = self.test(test);
        self.compare(test.predicate, IntegerComparison::Ne, self.fixed(Fixed::Lane), Reg::ZERO, holds);
        self.emit(Instruction::new(Op::Exit {}).guarded(PredicateSource::of(test.predicate)));
    }

    /// The warp ends only when a load after its stores has returned, since its stores have then been performed: no warp waits for it at a barrier any
    /// more, and others may read its stores after the next barrier.
    fn end_warp(&mut self, test: &Test) {
        self.note("warps end");
        let holds = self.test(test);
        let t0 = self.fixed(Fixed::T0);
        let load = Op::Ld {
            space: Space::Shared,
            kind: gpurf_isa::modifiers::LoadType::B32,
            align: gpurf_isa::modifiers::Alignment::Natural,
            bypass: false,
        };
        self.emit(Instruction::new(load).d(t0).a(self.fixed(Fixed::Write)));
        self.or(t0, t0, 1);
        self.compare(test.predicate, IntegerComparison::Ne, t0, Reg::ZERO, holds);
        self.emit(Instruction::new(Op::Exit {}).guarded(PredicateSource::of(test.predicate)));
    }

    fn barrier(&mut self, Barrier { id, count }: Barrier) {
        let threads = 32 * self.warps();
        let id = BarrierId::new(id).expect("there are 16 barriers");
        let b = match count {
            Count::All => Operand::ZERO,
            Count::Zero => Operand::Imm(0),
            Count::Constant => Operand::Imm(threads),
            Count::Register => {
                let t0 = self.fixed(Fixed::T0);
                self.mov(t0, threads);
                t0.into()
            }
        };
        self.emit(Instruction::new(Op::Bar { id }).b(b));
        if self.shared {
            let (write, read, half) = (self.fixed(Fixed::Write), self.fixed(Fixed::Read), self.half());
            self.exclusive_or(write, write, half);
            self.exclusive_or(read, read, half);
        }
    }

    fn meeting(&mut self, meeting: &Meeting) {
        let warps = self.warps();
        let first = meeting.warp.min(warps);
        let count = if meeting.others { warps - first } else { first };
        if count == 0 {
            return;
        }
        self.note("some warps meet");
        let (p, t0) = (meeting.predicate, self.fixed(Fixed::T0));
        self.special(t0, Special::WarpId);
        let comparison = if meeting.others { IntegerComparison::Ge } else { IntegerComparison::Lt };
        self.compare(p, comparison, t0, first, PredicateSource::TRUE);
        let number = MEETINGS + 2 * (meeting.warp as u8 - 1) + u8::from(meeting.others);
        let id = BarrierId::new(number).expect("there are 16 barriers");
        let b = if meeting.register {
            self.mov(t0, 32 * count);
            t0.into()
        } else {
            Operand::Imm(32 * count)
        };
        let (guard, end) = (PredicateSource::of(p), self.label());
        let instruction = Instruction::new(Op::Bar { id }).b(b);
        if meeting.branch {
            self.branch(inverse(guard), end);
            self.emit(instruction);
        } else {
            self.emit(instruction.guarded(guard));
        }
        self.place(end);
    }

    fn sync(&mut self, sync: Sync) {
        let t0 = self.fixed(Fixed::T0);
        match sync {
            Sync::All => self.emit(Instruction::new(Op::Warpsync {}).b(u32::MAX)),
            Sync::Active => {
                self.special(t0, Special::ActiveMask);
                self.emit(Instruction::new(Op::Warpsync {}).b(t0));
            }
            Sync::Ballot => {
                self.emit(Instruction::new(Op::Ballot {}).d(t0));
                self.emit(Instruction::new(Op::Warpsync {}).b(t0));
            }
            Sync::Fence(scope) => self.emit(Instruction::new(Op::Membar { scope })),
            Sync::Nothing => self.emit(Instruction::new(Op::Nop {})),
        }
    }

    /// Lane 0 of warp 0 raises the flag. Lane 0 of every other warp polls it with an atomic operation until it is raised, so that the order in which
    /// memory performed the operations tells how often each warp has polled.
    fn spin(&mut self, Spin { flag, predicates: [first, again] }: &Spin) {
        self.note("wait for a flag");
        let (t0, t1, lane) = (self.fixed(Fixed::T0), self.fixed(Fixed::T1), self.fixed(Fixed::Lane));
        let at = offset((self.flags_at() + 4 * flag) as i32);
        let atomic = |operation| Op::Atom { space: AtomicSpace::Shared, operation };
        let (waits, end, ask) = (self.label(), self.label(), self.label());
        self.special(t0, Special::WarpId);
        self.compare(*again, IntegerComparison::Ne, t0, Reg::ZERO, PredicateSource::TRUE);
        self.compare(*first, IntegerComparison::Eq, lane, Reg::ZERO, PredicateSource::TRUE);
        self.mov(t1, 1);
        self.branch(PredicateSource::of(*again), waits);
        let raise = Instruction::new(atomic(Atomic::Exch)).d(t0).c(t1).offset(at);
        self.emit(raise.guarded(PredicateSource::of(*first)));
        self.branch(PredicateSource::TRUE, end);
        self.place(waits);
        self.mov(t0, Reg::ZERO);
        self.place(ask);
        self.emit(Instruction::new(atomic(Atomic::Or)).guarded(PredicateSource::of(*first)).d(t0).offset(at));
        self.compare(*again, IntegerComparison::Eq, t0, Reg::ZERO, PredicateSource::of(*first));
        self.emit(Instruction::new(Op::Vote { mode: Vote::Any }).p(*again).s(PredicateSource::of(*again)));
        self.branch(PredicateSource::of(*again), ask);
        self.place(end);
    }
}

/// Whether a statement accesses shared memory, or one in it does.
fn accesses_shared(statement: &Statement) -> bool {
    let mut accesses = false;
    visit(std::slice::from_ref(statement), &mut |statement| {
        accesses |= match statement {
            Statement::Access(access) => {
                let places = [Some(access.place), access.other.map(|(place, _)| place)];
                places.into_iter().flatten().any(|place| place.window.is_shared())
            }
            Statement::Spin(_) | Statement::EndWarp(_) => true,
            _ => false,
        };
    });
    accesses
}

//! Dependences, operands, control flow: situations of one instruction of a warp and of those before it.

use gpurf_isa::modifiers::Shuffle;
use gpurf_isa::{Instruction, Op, Operand, Reg, Slots, Unit};
use gpurf_oracle::{Issue, Mask, lanes_of};

use super::{Coverage, FAMILIES, Point, rows};

/// Most instructions back that count as near.
const NEAR: u64 = 4;
/// Fewest instructions back that count as far.
const FAR: u64 = 16;
/// Most instructions in a round of a short loop.
const ROUND: u64 = 12;

/// The kind of instruction that wrote a register or a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Global,
    Side,
    Addition,
    Other,
}

impl By {
    fn of(instruction: &Instruction) -> Self {
        match instruction.op {
            Op::Iadd { .. } | Op::Imad { .. } => Self::Addition,
            _ => match instruction.unit() {
                Unit::GlobalMemory => Self::Global,
                Unit::SharedMemory => Self::Side,
                _ => Self::Other,
            },
        }
    }
}

/// The history of a warp.
#[derive(Clone, Debug)]
pub struct Warp {
    /// The lanes that have threads.
    threads: Mask,
    /// The instruction that last wrote (and its kind) or read each register, the store that last read it, and the instruction that last wrote each
    /// predicate: numbers plus 1; 0: none.
    written: [(u64, By); 256],
    read: [u64; 256],
    stored: [u64; 256],
    predicates: [(u64, By); 8],
    /// The last global load, and its register.
    load: Option<(u64, Reg)>,
    /// The lanes that last read and wrote each register.
    readers: [Mask; 256],
    writers: [Mask; 256],
    /// The third source of the last instruction, if it is no other operand.
    third: Option<Reg>,
    /// The program counter of the last load of global memory, and its number plus 1.
    loaded: Option<(u32, u64)>,
}

impl Warp {
    /// A warp with these threads, at its start.
    pub fn new(threads: Mask) -> Self {
        Self {
            threads,
            written: [(0, By::Other); 256],
            read: [0; 256],
            stored: [0; 256],
            predicates: [(0, By::Other); 8],
            load: None,
            readers: [0; 256],
            writers: [0; 256],
            third: None,
            loaded: None,
        }
    }

    /// Records an instruction that has been executed.
    pub fn note(&mut self, issue: &Issue<'_>) {
        if issue.mask == 0 {
            return;
        }
        let (instruction, now, by) = (issue.instruction, issue.number + 1, By::of(issue.instruction));
        self.third = third(instruction);
        if matches!(instruction.op, Op::Ld { .. }) && by == By::Global {
            self.loaded = Some((issue.pc, now));
        }
        for (_, register) in instruction.sources() {
            self.read[register.index()] = now;
            self.readers[register.index()] = issue.mask;
            if matches!(instruction.op, Op::St { .. }) {
                self.stored[register.index()] = now;
            }
            if self.load.is_some_and(|(_, loaded)| loaded == register) {
                self.load = None;
            }
        }
        if let Some(register) = instruction.destination() {
            self.written[register.index()] = (now, by);
            self.writers[register.index()] = issue.mask;
            if by == By::Global {
                self.load = Some((now, register));
            }
        }
        if let Some(predicate) = instruction.predicate_destination() {
            self.predicates[usize::from(predicate.number())] = (now, by);
        }
    }
}

/// The register of the third source, if it is no other operand.
fn third(instruction: &Instruction) -> Option<Reg> {
    let (_, register) = instruction.sources().nth(2)?;
    let alone = instruction.sources().filter(|(_, other)| *other == register).count() == 1;
    (alone && instruction.destination() != Some(register)).then_some(register)
}

impl Coverage {
    /// Counts how registers are accessed again: their power states depend on this.
    pub(super) fn rests(&mut self, issue: &Issue<'_>, warp: &Warp) {
        let (instruction, now) = (issue.instruction, issue.number + 1);
        if issue.mask == 0 {
            return;
        }
        let (destination, back) = (instruction.destination(), |then: u64| if then == 0 { 0 } else { now - then });
        let mut accessed: Vec<Reg> = instruction.sources().map(|(_, register)| register).chain(destination).collect();
        accessed.sort_unstable();
        accessed.dedup();
        for register in &accessed {
            let last = warp.read[register.index()].max(warp.written[register.index()].0);
            self.hit_if(Point::AccessFar, back(last) >= FAR);
        }
        self.hit_if(Point::ThirdNext, warp.third.is_some_and(|third| accessed.contains(&third)));
        for (_, register) in instruction.sources() {
            let (read, readers) = (warp.read[register.index()], warp.readers[register.index()]);
            let again = read > warp.written[register.index()].0;
            self.hit_if(Point::ReadByOthers, again && readers & issue.mask == 0);
        }
        if let Some(register) = destination {
            let (written, writers) = (warp.written[register.index()].0, warp.writers[register.index()]);
            let unread = warp.read[register.index()] <= written && issue.mask == issue.living;
            self.hit_if(Point::PartialLost, unread && writers != issue.living && back(written) > NEAR);
            self.hit_if(Point::SourceWritten, instruction.sources().any(|(_, source)| source == register));
        }
        let again = warp.loaded.is_some_and(|(pc, then)| pc == issue.pc && back(then) <= ROUND);
        self.hit_if(Point::LoadAgain, again);
    }

    pub(super) fn dependences(&mut self, issue: &Issue<'_>, warp: &Warp) {
        let (instruction, now) = (issue.instruction, issue.number + 1);
        // 0 stands for never.
        let back = |then: u64| if then == 0 { u64::MAX } else { now - then };
        let near = |then: u64| back(then) <= NEAR;
        for (_, register) in instruction.sources() {
            let (then, by) = warp.written[register.index()];
            self.hit_if(Point::RawNext, back(then) == 1);
            self.hit_if(Point::RawNear, near(then) && back(then) > 1);
            self.hit_if(Point::LoadUse, near(then) && by == By::Global);
            self.hit_if(Point::SharedUse, near(then) && by == By::Side);
        }
        if let Some(register) = instruction.destination() {
            let (then, by) = warp.written[register.index()];
            self.hit_if(Point::WawNear, near(then));
            self.hit_if(Point::LoadOverwritten, near(then) && by == By::Global);
            self.hit_if(Point::WarNear, near(warp.read[register.index()]));
            self.hit_if(Point::StoreWar, near(warp.stored[register.index()]));
        }
        let written = |number: u8| warp.predicates[usize::from(number)];
        let read_next = instruction.predicate_sources().any(|p| back(written(p.number()).0) == 1);
        self.hit_if(Point::PredicateNext, read_next);
        self.hit_if(Point::GuardNext, back(written(instruction.guard.predicate.number()).0) == 1);
        let (then, by) = written(instruction.s.predicate.number());
        let adds = By::of(instruction) == By::Addition && !instruction.s.predicate.is_true();
        self.hit_if(Point::CarryChain, adds && by == By::Addition && near(then));
    }

    pub(super) fn operands(&mut self, issue: &Issue<'_>) {
        let (instruction, mask) = (issue.instruction, issue.mask);
        let slots = instruction.op.slots();
        let mut registers: Vec<Reg> = instruction.sources().map(|(_, register)| register).collect();
        let count = registers.len();
        registers.sort_unstable();
        registers.dedup();
        self.hit_if(Point::RegisterTwice, registers.len() < count);
        let bank = |register: &Reg| u32::from(register.0) % self.banks;
        let most = registers.iter().map(|r| registers.iter().filter(|o| bank(o) == bank(r)).count()).max();
        self.hit_if(Point::TwoInBank, most == Some(2));
        self.hit_if(Point::ThreeInBank, most == Some(3));
        let zero = slots.has(Slots::A) && instruction.a.is_zero()
            || slots.has(Slots::B) && instruction.b == Operand::ZERO
            || slots.has(Slots::C) && instruction.c.is_zero();
        self.hit_if(Point::ZeroRead, zero);
        self.hit_if(Point::ZeroWritten, slots.has(Slots::D) && instruction.d.is_zero());
        let constant = slots.b_constant() && instruction.b.immediate().is_some();
        self.hit_if(Point::ConstantRead, constant && !slots.has(Slots::CONSTANT));
        self.hit_if(Point::ControlFields, instruction.control != Default::default());
        let branches = matches!(instruction.op, Op::Bra {});
        if !branches {
            self.hit_if(Point::GuardSome, mask != 0 && mask != issue.active);
            self.hit_if(Point::GuardNone, mask == 0);
            let writes = instruction.destination().is_some();
            self.hit_if(Point::GuardedWrite, writes && mask != 0 && mask != issue.active);
        }
        if mask == 0 {
            return;
        }
        if let Some(index) = rows().position(|row| row.number == instruction.op.number()) {
            self.hit_family(FAMILIES.operations, index);
        }
        if let Op::S2r { source } = instruction.op {
            use gpurf_isa::modifiers::Modifier;
            self.hit_family(FAMILIES.specials, source.bits() as usize);
        }
        if let Op::Shfl { mode, .. } = instruction.op {
            self.shuffle(issue, mode);
        }
    }

    fn shuffle(&mut self, issue: &Issue<'_>, mode: Shuffle) {
        self.hit(match mode {
            Shuffle::Up => Point::ShuffleUp,
            Shuffle::Down => Point::ShuffleDown,
            Shuffle::Butterfly => Point::ShuffleButterfly,
            Shuffle::Index => Point::ShuffleIndex,
        });
        let from = |lane: usize| {
            let (lane, choice) = (lane as u32, issue.sources[1].0[lane] & 31);
            match mode {
                Shuffle::Up => lane.wrapping_sub(choice),
                Shuffle::Down => lane + choice,
                Shuffle::Butterfly => lane ^ choice,
                Shuffle::Index => choice,
            }
        };
        let absent = |lane: usize| from(lane) < 32 && issue.mask >> from(lane) & 1 == 0;
        self.hit_if(Point::ShuffleInactive, lanes_of(issue.mask).any(absent));
    }

    pub(super) fn control(&mut self, issue: &Issue<'_>, warp: &Warp) {
        let (instruction, active, mask) = (issue.instruction, issue.active, issue.mask);
        let partial = warp.threads != Mask::MAX;
        self.hit_if(Point::PartialWarp, partial);
        self.hit_if(Point::LaneAlone, active.is_power_of_two() && !issue.living.is_power_of_two());
        if issue.depth >= 2 {
            let sizes = [(7, Point::Depth2), (19, Point::Depth8), (usize::MAX, Point::Depth20)];
            self.hit_size(issue.depth, &sizes);
        }
        match instruction.op {
            Op::Bra {} => self.branch(issue),
            Op::Exit {} if mask != 0 => {
                let ended = mask == issue.living;
                self.hit_if(Point::LanesEnd, !ended);
                self.hit_if(Point::LanesEndApart, !ended && mask == active);
                let early = ended && instruction.is_guarded();
                self.hit_if(Point::WarpEnds, early);
                let loading = warp.load.is_some_and(|(then, _)| issue.number + 1 - then <= NEAR);
                self.hit_if(Point::EndsLoading, ended && loading);
            }
            Op::Bar { id } if mask != 0 => {
                let count = issue.sources[1].0[mask.trailing_zeros() as usize];
                self.hit_if(Point::BarrierAll, count == 0);
                self.hit_if(Point::BarrierCount, count != 0);
                self.hit_if(Point::BarrierSome, id.number() >= 8);
                self.hit_if(Point::BarrierRegister, instruction.b.register().is_some_and(|r| !r.is_zero()));
                self.hit_if(Point::BarrierAfterEnd, issue.living != warp.threads);
                self.hit_if(Point::BarrierPartial, partial);
            }
            Op::Warpsync {} => {
                self.hit_if(Point::SyncAll, active == issue.living);
                self.hit_if(Point::SyncSome, active != issue.living);
            }
            _ => {}
        }
    }

    fn branch(&mut self, issue: &Issue<'_>) {
        let (instruction, active, mask) = (issue.instruction, issue.active, issue.mask);
        if !instruction.is_guarded() {
            return self.hit(Point::Unguarded);
        }
        self.hit_if(Point::TakenByAll, mask == active);
        self.hit_if(Point::TakenByNone, mask == 0);
        if mask == 0 || mask == active {
            return;
        }
        self.hit(Point::Splits);
        let target = instruction.target();
        self.hit_if(Point::SplitsOneSided, target == instruction.reconvergence);
        let next = target.is_some_and(|target| target.number() == issue.pc + 1);
        self.hit_if(Point::SplitsNowhere, next && target == instruction.reconvergence);
        self.hit_if(Point::LoopSplits, target.is_some_and(|target| target.number() <= issue.pc));
        self.hit_if(Point::NoMeeting, instruction.reconvergence.is_none());
    }
}

//! Choice of statements and of their contents.

use gpurf_isa::Operand;
use gpurf_isa::modifiers::{Scope, Vote};

use super::Generator;
use super::values::{Family, all};
use crate::program::tree::{
    Action, Barrier, Condition, Count, Flow, If, Leave, Loop, Meeting, Spin, Statement, Sync, Test, Trips, Window,
};
use crate::program::weights::Kind;

/// Most statements that end lanes: each removes some of them for good.
const EXITS: u32 = 3;
/// Values that are written at the end: more than a register file cache has entries for a warp.
const LAST_VALUES: usize = 20;
/// Most statements that end whole warps.
const WARP_ENDS: u32 = 3;
/// Most rounds of all loops around a statement together.
const ROUNDS: u32 = 24;

/// The context of a statement.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Threads that reach it together.
    flow: Flow,
    /// Number of branches and loops around it.
    depth: u32,
    /// Number of loops around it.
    loops: usize,
    /// Most rounds of these loops together.
    rounds: u32,
    /// Whether lanes may leave the innermost loop.
    leaves: bool,
}

impl Default for Around {
    fn default() -> Self {
        Self { flow: Flow::Block, depth: 0, loops: 0, rounds: 1, leaves: false }
    }
}

impl Around {
    /// The context inside a branch or a loop whose condition or number of rounds has this flow.
    fn inside(self, flow: Flow) -> Self {
        Self { flow: self.flow.min(flow), depth: self.depth + 1, ..self }
    }
}

impl Generator<'_> {
    pub(super) fn statement(&mut self, around: &Around) -> Statement {
        let block = around.flow == Flow::Block;
        let room = around.depth < self.depth;
        let several = self.program.warps() > 1;
        let allowed = |kind: Kind| match kind {
            Kind::Float => self.limits.floats,
            Kind::Branch => room,
            Kind::Loop => room && around.loops < 3,
            Kind::Leave => around.leaves,
            Kind::Exit => self.exits < EXITS,
            Kind::EndWarp => block && around.depth == 0 && self.warps_end && several && self.warp_ends < WARP_ENDS,
            Kind::Barrier => block,
            Kind::Meeting => block && several && !self.warps_end,
            Kind::Spin => {
                block && around.depth == 0 && several && !self.warps_end && self.program.ordered && self.flags < 8
            }
            Kind::Nest => around.depth == 0,
            _ => true,
        };
        match self.weights.mix.choose(&mut self.rng, allowed) {
            Some(Kind::Integer) => Statement::Do(self.instruction(Family::Integer)),
            Some(Kind::Float) => Statement::Do(self.instruction(Family::Float)),
            Some(Kind::Lanes) => Statement::Do(self.instruction(Family::Lanes)),
            Some(Kind::Special) => Statement::Do(self.instruction(Family::Special)),
            Some(Kind::Fresh) if self.rng.chance(500) => Statement::Do(self.fresh()),
            Some(Kind::Fresh) => {
                let window = if self.rng.chance(500) { Window::Input } else { Window::Floats };
                let action = self.plain(false);
                Statement::Access(self.access_of(window, action))
            }
            Some(Kind::Access) => self.access().map_or(Statement::Sync(Sync::Nothing), Statement::Access),
            Some(Kind::Texture) => Statement::Do(self.fetch()),
            Some(Kind::Branch) => self.branch(around),
            Some(Kind::Loop) => self.repeat(around),
            Some(Kind::Leave) => {
                let test = self.divergent();
                Statement::Leave(Leave { ends: self.rng.chance(500), test })
            }
            Some(Kind::Exit) => {
                self.exits += 1;
                if self.weights.chances.all_end > 0 && self.rng.chance(self.weights.chances.all_end) {
                    return self.all_end();
                }
                // Few lanes at a time.
                let mask = self.word() & self.word() & self.word();
                let test = self.test(Condition::Lanes(mask));
                Statement::Exit(test)
            }
            Some(Kind::EndWarp) => {
                self.warp_ends += 1;
                // An existing warp, and others whose numbers have the same low bits; never warp 0.
                let warp = self.range([1, self.program.warps() - 1]);
                let masks: Vec<u32> = [1, 3, 7, 31].into_iter().filter(|mask| warp & mask != 0).collect();
                let mask = self.pick(&masks);
                Statement::EndWarp(self.test(Condition::Warp(mask, warp & mask)))
            }
            Some(Kind::Barrier) => Statement::Barrier(self.barrier()),
            Some(Kind::Meeting) => Statement::Meeting(self.meeting()),
            Some(Kind::Sync) => Statement::Sync(self.sync(around.flow)),
            Some(Kind::Skip) => {
                let count = self.range([1, 4]);
                Statement::Skip((0..count).map(|_| self.instruction(Family::Integer)).collect())
            }
            Some(Kind::Spin) => {
                self.flags += 1;
                let first = self.rng.below(7) as u8;
                let second = (first + 1 + self.rng.below(6) as u8) % 7;
                let predicates = [first, second].map(|n| gpurf_isa::Predicate::new(n).expect("there are seven"));
                Statement::Spin(Spin { flag: self.flags - 1, predicates })
            }
            Some(Kind::Nest) => {
                let depth = self.range(self.weights.sizes.nest);
                self.nest(0, depth)
            }
            None => Statement::Sync(Sync::Nothing),
        }
    }

    fn statements(&mut self, around: &Around) -> Vec<Statement> {
        let count = self.range(self.weights.sizes.inner);
        (0..count).map(|_| self.statement(around)).collect()
    }

    fn branch(&mut self, around: &Around) -> Statement {
        let test = if self.rng.chance(self.weights.chances.divergent) { self.divergent() } else { self.together() };
        let inside = around.inside(test.condition.flow());
        let then = self.statements(&inside);
        let two = self.rng.chance(self.weights.chances.otherwise);
        let otherwise = if two { self.statements(&inside) } else { Vec::new() };
        Statement::If(If { test, then, otherwise })
    }

    /// Ends some lanes, on the two sides of a branch: where the sides meet, no lane is left.
    fn all_end(&mut self) -> Statement {
        let ends = |generator: &mut Self| Statement::Exit(generator.test(Condition::Lanes(u32::MAX)));
        let inner = If { test: self.divergent(), then: vec![ends(self)], otherwise: vec![ends(self)] };
        // A statement after the inner branch, so that its two sides meet before those of the outer branch do.
        let behind = ends(self);
        // Few lanes at a time, and not the first one, which never ends.
        let mask = self.word() & self.word() & !1;
        let test = self.test(Condition::Lanes(mask));
        Statement::If(If { test, then: vec![Statement::If(inner), behind], otherwise: Vec::new() })
    }

    fn repeat(&mut self, around: &Around) -> Statement {
        let most = self.range(self.weights.sizes.trips).min(ROUNDS / around.rounds.max(1)).max(1);
        let mask = (most + 1).next_power_of_two() / 2 - 1;
        let trips = if mask > 0 && self.rng.chance(self.weights.chances.divergent) {
            if self.rng.chance(500) { Trips::Lane(mask) } else { Trips::Data(self.source(&[]), mask) }
        } else if mask > 0 && self.rng.chance(200) {
            Trips::Warp(mask)
        } else {
            Trips::Fixed(most)
        };
        // If lanes may leave the loop, the lanes of a warp may have diverged from then on.
        let leaves = self.rng.chance(300);
        let flow = if leaves { Flow::Lane } else { trips.flow() };
        let rounds = around.rounds * trips.most();
        let inside = Around { loops: around.loops + 1, leaves, rounds, ..around.inside(flow) };
        let predicate = self.predicate();
        let body = self.statements(&inside);
        Statement::Loop(Loop { depth: around.loops, trips, predicate, body })
    }

    /// Nested branches: in each of them, the lowest lane takes the other side.
    fn nest(&mut self, level: u32, depth: u32) -> Statement {
        let around = Around { flow: Flow::Lane, depth: u32::MAX, ..Around::default() };
        let leaf = |generator: &mut Self| {
            let count = generator.range([1, 2]);
            (0..count).map(|_| generator.statement(&around)).collect::<Vec<_>>()
        };
        let test = Test { predicate: self.predicate(), condition: Condition::Lanes(u32::MAX << (level + 1)) };
        let mut then = leaf(self);
        if level + 1 < depth {
            then.push(self.nest(level + 1, depth));
        }
        let otherwise = leaf(self);
        Statement::If(If { test, then, otherwise })
    }

    fn test(&mut self, condition: Condition) -> Test {
        let predicate = self.predicate();
        self.note_predicate(predicate);
        Test { predicate, condition }
    }

    /// A condition on which the lanes of a warp may disagree.
    pub(super) fn divergent(&mut self) -> Test {
        let condition = match self.rng.below(8) {
            0 => Condition::Lanes(1 << self.rng.below(32)),
            1 => Condition::Lanes(!(1 << self.rng.below(32))),
            2 => Condition::Lanes(self.pick(&[0x5555_5555, 0xffff, 0xff00_ff00, 0xf, 0xfff0_0000])),
            3 => Condition::Lanes(self.word()),
            4 => Condition::Held(self.predicate_source()),
            5 => Condition::Below(self.source(&[]), Operand::Imm(self.word())),
            _ => Condition::Bit(self.source(&[]), self.range([0, 31])),
        };
        self.test(condition)
    }

    /// A condition on which a warp agrees.
    fn together(&mut self) -> Test {
        let condition = match self.rng.below(8) {
            0 => Condition::Always(true),
            1 => Condition::Always(false),
            2 => Condition::Block(self.pick(&[1, 2, 3]), self.word()),
            3 | 4 => Condition::Warp(self.pick(&[1, 2, 3]), self.word()),
            _ => {
                let modes = all::<Vote>();
                Condition::Vote(self.pick(&modes), self.predicate_source())
            }
        };
        self.test(condition)
    }

    fn barrier(&mut self) -> Barrier {
        let id = self.rng.below(8) as u8;
        // A barrier with a number of threads would also wait for warps that have ended.
        let counts: &[Count] = if self.warps_end {
            &[Count::All, Count::Zero]
        } else {
            &[Count::All, Count::Zero, Count::Constant, Count::Register]
        };
        Barrier { id, count: self.pick(counts) }
    }

    fn meeting(&mut self) -> Meeting {
        Meeting {
            warp: self.range([1, 4]),
            others: self.rng.chance(500),
            register: self.rng.chance(400),
            branch: self.rng.chance(500),
            predicate: self.predicate(),
        }
    }

    fn sync(&mut self, flow: Flow) -> Sync {
        match self.rng.below(6) {
            0 if flow > Flow::Lane => Sync::All,
            0 | 1 => Sync::Active,
            2 => Sync::Ballot,
            3 | 4 => {
                let scopes = all::<Scope>();
                Sync::Fence(self.pick(&scopes))
            }
            _ => Sync::Nothing,
        }
    }

    /// Stores values, and loads one that no instruction waits for.
    pub(super) fn last_statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        for _ in 0..4 {
            let action = self.plain(true);
            statements.push(Statement::Access(self.access_of(Window::Own, action)));
        }
        // In most programs warps end while their last values move between levels of the register file.
        if self.rng.chance(800) {
            statements.extend((0..LAST_VALUES).map(|_| Statement::Do(self.fresh())));
        }
        let action = Action::Load(gpurf_isa::modifiers::LoadType::B32, vec![self.any()]);
        statements.push(Statement::Access(self.access_of(Window::Input, action)));
        statements
    }
}

//! Generation of programs.

mod accesses;
mod control;
mod launch;
mod levels;
mod picks;
mod rests;
mod textures;
mod values;

use std::collections::VecDeque;

use gpurf_isa::{Predicate, Reg};
use gpurf_lockstep::Rng;

use super::tree::Statement;
use super::weights::Range;
use super::{Limits, Program, ProgramError, Weights, wanted};

/// A quota that was not met: the point's name, how often it was reached, how often it should have been.
type Unmet = (String, u64, u64);

/// Most sections of a program: quotas that have not been met by then are out of reach.
const SECTIONS: usize = 24;
/// Programs that are tried for a seed: what a program with few lanes cannot reach, another one may.
const ATTEMPTS: u32 = 12;

struct Generator<'a> {
    rng: Rng,
    weights: &'a Weights,
    limits: &'a Limits,
    program: Program,
    /// Registers that statements read and write.
    pool: Vec<Reg>,
    /// The registers that were last written, those that were last read, and the predicates that were last written, each with the latest first.
    written: VecDeque<Reg>,
    read: VecDeque<Reg>,
    predicates: VecDeque<Predicate>,
    /// Whether whole warps may end early: then there are no barriers that count threads.
    warps_end: bool,
    /// Whether control fields are random.
    control: bool,
    /// Flags that have been used.
    flags: u32,
    /// Number of statements so far that end lanes: it is bounded, so that some lanes are left.
    exits: u32,
    /// The same for statements that end whole warps.
    warp_ends: u32,
    /// Most branches and loops around a statement.
    depth: u32,
}

impl Program {
    /// A program from a seed. It gets sections until it reaches the quotas on the oracle; quotas of points that the machine cannot reach (see
    /// [`wanted`]) are left out.
    ///
    /// # Errors
    /// When the quotas are out of reach. (A program that the oracle does not accept would be a defect, and is an error too.)
    pub fn random(seed: u64, weights: &Weights, limits: &Limits) -> Result<Self, ProgramError> {
        let mut nearest: Option<Vec<(String, u64, u64)>> = None;
        for attempt in 0..ATTEMPTS {
            match Self::begun(seed, attempt, weights, limits)? {
                Ok(program) => return Ok(program),
                Err(missing) if nearest.as_ref().is_none_or(|nearest| missing.len() < nearest.len()) => {
                    nearest = Some(missing);
                }
                Err(_) => {}
            }
        }
        Err(ProgramError::Quota { seed, missing: nearest.unwrap_or_default() })
    }

    /// A program, or the quotas that it does not meet.
    fn begun(
        seed: u64,
        attempt: u32,
        weights: &Weights,
        limits: &Limits,
    ) -> Result<Result<Self, Vec<Unmet>>, ProgramError> {
        let mut generator = Generator::new(seed, attempt, weights, limits);
        if generator.has_input_across_half() {
            let load = generator.load_around_the_middle();
            generator.program.body.push(Statement::Access(load));
        }
        let mut missing = Vec::new();
        let reachable = wanted(limits);
        for _ in 0..SECTIONS {
            generator.section();
            let mut program = generator.program.clone();
            program.body.extend(generator.results());
            let lowered = program.lower();
            if lowered.code.len() > limits.code {
                break;
            }
            missing = program.measure_lowered(&lowered, limits.banks)?.missing(&weights.quotas);
            missing.retain(|(point, ..)| reachable.contains(&point.as_str()));
            if missing.is_empty() {
                return Ok(Ok(program));
            }
        }
        Ok(Err(missing))
    }
}

impl Generator<'_> {
    /// A number of a range.
    fn range(&mut self, [from, to]: Range) -> u32 {
        from + self.rng.below(u64::from(to - from) + 1) as u32
    }

    /// A power of two of a range whose ends are powers of two.
    fn power_of_two(&mut self, [from, to]: Range) -> u32 {
        let [from, to] = [from, to].map(|n| n.next_power_of_two().trailing_zeros());
        1 << self.range([from, to])
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len() as u64) as usize]
    }

    fn word(&mut self) -> u32 {
        self.rng.next_u64() as u32
    }

    fn section(&mut self) {
        let count = self.range(self.weights.sizes.section);
        let mut body = Vec::new();
        if self.weights.chances.crowd > 0 && self.rng.chance(self.weights.chances.crowd) {
            body.extend(self.crowd());
        }
        for _ in 0..count {
            if self.weights.chances.rest > 0 && self.rng.chance(self.weights.chances.rest) {
                body.extend(self.rest());
            }
            body.push(self.statement(&control::Around::default()));
        }
        self.program.body.extend(body);
    }

    /// The statements at the end of every program: they store values, and load one that arrives when its warp has ended.
    fn results(&mut self) -> Vec<Statement> {
        let mut rng = self.rng.clone();
        std::mem::swap(&mut rng, &mut self.rng);
        let statements = self.last_statements();
        // The random numbers of later sections do not depend on these statements.
        self.rng = rng;
        statements
    }
}

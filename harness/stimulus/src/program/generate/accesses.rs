//! Accesses to memory.

use gpurf_isa::modifiers::{Atomic, LoadType, StoreType};
use gpurf_isa::{PredicateSource, Reg};

use super::Generator;
use super::values::{Family, all};
use crate::program::lower::{INPUT_WORDS, UNIT};
use crate::program::tree::{Access, Action, Pattern, Place, Statement, Window};
use crate::program::weights::{PatternChoice, WindowChoice};

/// Strides in words: some keep the lanes in one of 32 banks, some spread them over all banks.
const STRIDES: [i32; 12] = [2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33];
/// Bytes of a line of memory, and of a word of each bank of shared memory.
const LINE: i32 = 128;

/// Most parts of a vector.
const MOST_PARTS: usize = 4;
/// Most loads of a burst: a line of memory has no more words.
const MOST_LOADS: usize = 32;

impl Generator<'_> {
    /// An access; `None` if no window has a weight.
    pub(super) fn access(&mut self) -> Option<Access> {
        let whole = self.weights.chances.whole;
        if whole > 0 && self.rng.chance(whole) {
            return Some(self.store_of_a_line());
        }
        let window = self.window(|_| true)?;
        let chances = &self.weights.chances;
        let atomic = match window {
            Window::Sums | Window::SharedSums => true,
            Window::Own | Window::SharedOwn => self.rng.chance(chances.store) && self.rng.chance(chances.atomic),
            _ => false,
        };
        let burst = window.is_global() && chances.burst > 0 && self.rng.chance(chances.burst);
        let action = if atomic {
            self.atomic(window)
        } else if burst && let Some(burst) = self.burst() {
            burst
        } else {
            let stores = !window.is_read_only() && self.rng.chance(chances.store);
            self.plain(stores)
        };
        Some(self.access_of(window, action))
    }

    /// An access with this window and action.
    pub(super) fn access_of(&mut self, window: Window, action: Action) -> Access {
        let chances = &self.weights.chances;
        let is_atomic = matches!(action, Action::Atomic(..) | Action::Cas(..));
        // The address of a compare and swap is one word; as a generic address it means global memory.
        let may_be_generic = !matches!(action, Action::Cas(..));
        let generic = may_be_generic && self.rng.chance(chances.generic);
        let place = self.place(window, &action);
        let mut other = None;
        if generic && !is_atomic && action.parts() <= MOST_PARTS && self.rng.chance(chances.mixed) {
            let writes = action.writes();
            let any_speed = writes || self.rng.chance(chances.two_speeds);
            let fits = |choice: Window| {
                let speed = any_speed || choice.is_quick() == window.is_quick();
                choice != window && !is_sum(choice) && speed && !(writes && choice.is_read_only())
            };
            if let Some(second) = self.window(fits) {
                other = Some((self.place(second, &action), self.predicate_source()));
            }
        }
        let global = window.is_global() && other.is_none_or(|(place, _): (Place, _)| place.window.is_global());
        let mut offset = 0;
        if self.rng.chance(chances.offset) {
            offset = self.rng.below(1 << 12) as i32 - (1 << 11);
            if generic && !global {
                // The instruction adds the offset to 64 bits: the register's word must not wrap, or the sum would be in another window.
                offset = -offset.abs();
            }
        }
        let pair = self.rng.below(2) as usize;
        let wide = !generic && window.is_global() && may_be_generic && self.rng.chance(chances.wide);
        let bypass = !action.writes() && chances.bypass > 0 && self.rng.chance(chances.bypass);
        let access = Access { guard: self.guard(), place, other, generic, wide, bypass, action, offset, pair };
        match &access.action {
            Action::Load(_, to) => to.iter().for_each(|register| self.note_written(*register)),
            Action::Store(_, from) => self.note_read(from),
            Action::Atomic(_, to, operand) => {
                self.note_read(&[*operand]);
                self.note_written(*to);
            }
            Action::Cas(to, compared, new) => {
                self.note_read(&[*compared, *new]);
                self.note_written(*to);
            }
        }
        access
    }

    /// Loads of global memory, constants that differ in every lane, exchanges between lanes, arithmetic: none of them waits for another one, so their
    /// results come at the same time. Results of memory and constants occupy the result bus for many cycles, while the others fill the queues.
    pub(super) fn crowd(&mut self) -> Vec<Statement> {
        let mut registers = self.pool.clone();
        self.rng.shuffle(&mut registers);
        let loads = 1 << (registers.len() / 4).max(1).ilog2().min(3);
        let mut registers = registers.into_iter();
        let mut next = |count: usize| registers.by_ref().take(count).collect::<Vec<_>>();
        let (to, constants, source, lanes, results) = (next(loads), next(2), next(1), next(4), next(8));
        let load = |generator: &mut Self, window, to, pattern| {
            let access = generator.access_of(window, Action::Load(LoadType::B32, to));
            let place = Place { window, pattern, start: 0 };
            Statement::Access(Access { guard: PredicateSource::TRUE, place, other: None, generic: false, ..access })
        };
        let mut statements = vec![load(self, Window::Input, to, Pattern::Strided(LINE))];
        for to in constants {
            statements.push(load(self, Window::Constant, vec![to], Pattern::Strided(4)));
        }
        for d in lanes {
            statements.push(Statement::Do(self.computation(Family::Lanes, d, source[0])));
        }
        let family = if self.limits.floats { Family::Float } else { Family::Integer };
        for d in results {
            statements.push(Statement::Do(self.computation(family, d, source[0])));
        }
        statements
    }

    /// A load whose lanes read around the middle of the read-only words, a line apart.
    pub(super) fn load_around_the_middle(&mut self) -> Access {
        let action = self.plain(false);
        let pattern = Pattern::Strided(LINE);
        // Half of a warp's lanes are in front of the middle, which is 4 * INPUT_WORDS / 2 bytes from the beginning.
        let start = 2 * INPUT_WORDS - 16 * LINE as u32;
        let place = Place { window: Window::Input, pattern, start };
        Access { guard: PredicateSource::TRUE, place, other: None, ..self.access_of(Window::Input, action) }
    }

    /// A store of all lanes to a whole line: consecutive words of global memory, or the same word of each thread's local memory.
    fn store_of_a_line(&mut self) -> Access {
        let local = self.program.layout.interleaved || self.rng.chance(500);
        let (window, pattern) = match local {
            true => (Window::Local, Pattern::Uniform),
            false => (Window::Own, Pattern::Strided(4)),
        };
        let action = Action::Store(StoreType::B32, vec![self.source(&[])]);
        let start = LINE as u32 * self.rng.below(1 << 7) as u32;
        let place = Place { window, pattern, start: if local { start / LINE as u32 * 4 } else { start } };
        Access { guard: PredicateSource::TRUE, place, other: None, ..self.access_of(window, action) }
    }

    fn window(&mut self, fits: impl Fn(Window) -> bool) -> Option<Window> {
        let window = |choice: WindowChoice| match choice {
            WindowChoice::Own => Window::Own,
            WindowChoice::Input => Window::Input,
            WindowChoice::Floats => Window::Floats,
            WindowChoice::Local => Window::Local,
            WindowChoice::SharedOwn => Window::SharedOwn,
            WindowChoice::SharedOther => Window::SharedOther,
            WindowChoice::Constant => Window::Constant,
            WindowChoice::Sums => Window::Sums,
            WindowChoice::SharedSums => Window::SharedSums,
        };
        self.weights.windows.choose(&mut self.rng, |choice| fits(window(choice))).map(window)
    }

    /// A load or a store.
    pub(super) fn plain(&mut self, stores: bool) -> Action {
        let chances = &self.weights.chances;
        let narrow = self.rng.chance(chances.narrow);
        let parts = match self.rng.chance(chances.vector) && !narrow {
            true => 2 << self.rng.below(2),
            false => 1,
        };
        if stores {
            let kind = if narrow { self.pick(&[StoreType::B8, StoreType::B16]) } else { StoreType::B32 };
            let mut from: Vec<Reg> = Vec::new();
            for _ in 0..parts {
                let register = self.source(&from);
                from.push(register);
            }
            Action::Store(kind, from)
        } else {
            let narrow_kinds = [LoadType::U8, LoadType::S8, LoadType::U16, LoadType::S16];
            let kind = if narrow { self.pick(&narrow_kinds) } else { LoadType::B32 };
            Action::Load(kind, (0..parts).map(|_| self.destination()).collect())
        }
    }

    /// Loads into as many different registers, so that none has to wait for another one; `None` if there are too few registers.
    fn burst(&mut self) -> Option<Action> {
        // Interleaved words are contiguous in units of `UNIT` bytes only.
        let most = if self.program.layout.interleaved { UNIT as usize / 4 } else { MOST_LOADS };
        let parts = (1 << (self.pool.len() / 2).checked_ilog2()?).min(most);
        let mut to: Vec<Reg> = Vec::new();
        for _ in 0..8 * parts {
            let register = self.destination();
            if to.len() < parts && !to.contains(&register) {
                to.push(register);
            }
        }
        (to.len() == parts).then_some(Action::Load(LoadType::B32, to))
    }

    fn atomic(&mut self, window: Window) -> Action {
        let chances = &self.weights.chances;
        if self.program.ordered && self.rng.chance(chances.cas) {
            let to = if self.limits.atomic_results { self.destination() } else { Reg::ZERO };
            return Action::Cas(to, self.source(&[]), self.source(&[]));
        }
        let floats = !window.is_shared() || self.limits.floats;
        let fits = |operation: &Atomic| match operation {
            Atomic::AddF32 => self.program.ordered && floats,
            operation => self.program.ordered || gpurf_oracle::commutes(*operation),
        };
        let operations: Vec<Atomic> = all::<Atomic>().into_iter().filter(fits).collect();
        let operation = self.pick(&operations);
        let gives = self.program.ordered && self.limits.atomic_results && self.rng.chance(chances.result);
        let to = if gives { self.destination() } else { Reg::ZERO };
        Action::Atomic(operation, to, self.source(&[]))
    }

    fn place(&mut self, window: Window, action: &Action) -> Place {
        let element = (action.bytes() * action.parts() as u32) as i32;
        let choice = self.weights.patterns.choose(&mut self.rng, |_| true);
        let pattern = match choice.unwrap_or(PatternChoice::Unit) {
            PatternChoice::Unit => Pattern::Strided(element),
            PatternChoice::Strided => Pattern::Strided(4 * self.pick(&STRIDES)),
            PatternChoice::Apart => Pattern::Strided(LINE + if self.rng.chance(300) { element } else { 0 }),
            PatternChoice::Reversed => Pattern::Strided(-element),
            PatternChoice::Exchanged => Pattern::Exchanged(element, self.range([1, 31])),
            PatternChoice::Grouped => Pattern::Grouped(element, self.range([1, 4])),
            PatternChoice::Uniform => Pattern::Uniform,
            PatternChoice::Data => {
                let factor = if self.rng.chance(300) { 4 } else { self.word() | 1 };
                let register = self.source(&[]);
                Pattern::Data(register, factor)
            }
        };
        let start = if self.rng.chance(500) { self.rng.below(1 << 14) as u32 } else { 0 };
        Place { window, pattern, start }
    }
}

fn is_sum(window: Window) -> bool {
    matches!(window, Window::Sums | Window::SharedSums)
}

//! Accesses: an address that stays in its window, whatever the registers hold, and the instructions that use it.

use gpurf_isa::machine::{CONSTANT_WINDOW, LOCAL_WINDOW, SHARED_WINDOW};
use gpurf_isa::modifiers::{Alignment, Atomic, AtomicSpace, LoadType, Space};
use gpurf_isa::{Instruction, Op, Operand, Reg};

use super::{
    BufferKind, CONSTANT_WORDS, CONSTANTS, FLOAT_WORDS, INPUT_WORDS, LEAD, Lowering, SUM_BYTES, SUM_WORDS, UNIT, offset,
};
use crate::program::Fixed;
use crate::program::tree::{Access, Action, Pattern, Place, Window};

/// Where a window begins.
enum Base {
    /// At an address that a register holds.
    Register(Reg),
    /// This many bytes after the start of a buffer.
    Buffer(BufferKind, u32),
    /// At a constant address.
    At(u32),
}

impl Lowering<'_> {
    pub(super) fn access(&mut self, access: &Access) {
        let Access { place, action, .. } = access;
        self.note(words(access));
        let [t0, t1, t2, t3] = [Fixed::T0, Fixed::T1, Fixed::T2, Fixed::T3].map(|role| self.fixed(role));
        let (low, high) = if access.pair == 0 { (t0, t1) } else { (t2, t3) };
        let mut at = self.address(access, place, low, high);
        if let Some((other, predicate)) = &access.other {
            let (low2, high2) = if access.pair == 0 { (t2, t3) } else { (t0, t1) };
            // The instruction has to add the same offset to both addresses.
            self.settle(low, at);
            let at2 = self.address(access, other, low2, high2);
            self.settle(low2, at2);
            for (mine, theirs) in [(low, low2), (high, high2)] {
                self.emit(Instruction::new(Op::Sel {}).d(mine).a(mine).b(theirs).s(*predicate));
            }
            at = 0;
        }
        if access.offset != 0 {
            // The instruction adds it again.
            self.add(low, low, access.offset.wrapping_neg() as u32);
        }
        let at = at + access.offset;
        let upper: Operand = if access.generic || access.wide { high.into() } else { Operand::ZERO };
        for (part, op) in self.operations(access).into_iter().enumerate() {
            let mut instruction =
                Instruction::new(op).guarded(access.guard).a(low).offset(offset(at + 4 * part as i32));
            if instruction.has_wide_address() {
                instruction.b = upper;
            }
            self.emit(match action {
                Action::Load(_, to) => instruction.d(to[part]),
                Action::Store(_, from) => instruction.c(from[part]),
                Action::Atomic(_, to, operand) => instruction.d(*to).c(*operand),
                Action::Cas(to, compared, new) => instruction.d(*to).b(*compared).c(*new),
            });
        }
    }

    /// The operation of each part, without operands.
    fn operations(&self, access: &Access) -> Vec<Op> {
        let window = access.place.window;
        let space = if access.generic {
            Space::Generic
        } else if window.is_global() {
            Space::Global
        } else if window == Window::Local {
            Space::Local
        } else {
            Space::Shared
        };
        let atomic_space = match space {
            Space::Generic => AtomicSpace::Generic,
            Space::Shared => AtomicSpace::Shared,
            Space::Global | Space::Local => AtomicSpace::Global,
        };
        let parts = access.action.parts();
        let operation = |part: usize| {
            let align = match (part, parts) {
                (0, 2) => Alignment::Bytes8,
                (0, 4) => Alignment::Bytes16,
                _ => Alignment::Natural,
            };
            match access.action {
                Action::Load(kind, _) if window == Window::Constant && !access.generic => Op::Ldc { kind, align },
                Action::Load(kind, _) => Op::Ld { space, kind, align, bypass: access.bypass },
                Action::Store(kind, _) => Op::St { space, kind, align },
                Action::Atomic(operation, ..) => Op::Atom { space: atomic_space, operation },
                Action::Cas(..) => Op::Cas { space: atomic_space },
            }
        };
        (0..parts).map(operation).collect()
    }

    /// Computes an address in registers; returns the offset that the instruction has to add.
    fn address(&mut self, access: &Access, place: &Place, low: Reg, high: Reg) -> i32 {
        let (base, span) = self.window(access, place.window);
        // The parts of a vector have the first one's alignment.
        let align = access.action.bytes() * access.action.parts() as u32;
        let mask = (span - 1) & !(align - 1);
        self.offset_in_window(place, low, mask);
        if matches!(place.window, Window::Own | Window::Sums) && self.program.layout.interleaved {
            self.and(high, low, UNIT - 1);
            self.and(low, low, !(UNIT - 1));
            self.multiply(low, low, self.program.columns(), high);
        }
        let at = match base {
            Base::Register(register) => {
                self.add(low, low, register);
                0
            }
            Base::Buffer(buffer, at) => {
                self.constant(high, buffer.parameter());
                self.add(low, low, high);
                at as i32
            }
            Base::At(at) => at as i32,
        };
        if access.generic || access.wide {
            self.mov(high, window_number(place.window));
        }
        at
    }

    /// Computes the offset of each lane in its window.
    fn offset_in_window(&mut self, place: &Place, low: Reg, mask: u32) {
        let lane = self.fixed(Fixed::Lane);
        match place.pattern {
            Pattern::Uniform => return self.mov(low, place.start & mask),
            Pattern::Strided(stride) => self.multiply(low, lane, stride as u32, Reg::ZERO),
            Pattern::Exchanged(stride, with) => {
                self.exclusive_or(low, lane, with);
                self.multiply(low, low, stride as u32, Reg::ZERO);
            }
            Pattern::Grouped(stride, shift) => {
                self.emit(Instruction::new(Op::Shr { signed: false }).d(low).a(lane).b(shift));
                self.multiply(low, low, stride as u32, Reg::ZERO);
            }
            Pattern::Data(register, factor) => self.multiply(low, register, factor, Reg::ZERO),
        }
        if place.start != 0 {
            self.add(low, low, place.start);
        }
        self.and(low, low, mask);
    }

    /// Adds to the register what the instruction would have to add.
    fn settle(&mut self, low: Reg, at: i32) {
        if at != 0 {
            self.add(low, low, at as u32);
        }
    }

    /// Where a window begins, and its size, a power of two.
    fn window(&self, access: &Access, window: Window) -> (Base, u32) {
        // If the order of atomic operations must not affect results, each kind has words of its own: on a word with different kinds, the order would
        // affect the result.
        let (sums_at, sums) = match access.action {
            Action::Atomic(operation, ..) if !self.ordered => (4 * SUM_WORDS * kind(operation), 4 * SUM_WORDS),
            _ => (0, SUM_BYTES),
        };
        match window {
            Window::Own => (Base::Register(self.fixed(Fixed::Own)), 4 * self.program.layout.own_words),
            Window::Input => (Base::Buffer(BufferKind::Input, 0), 4 * INPUT_WORDS),
            Window::Floats => (Base::Buffer(BufferKind::Floats, 0), 4 * FLOAT_WORDS),
            Window::Local => (Base::At(0), self.local_bytes()),
            Window::SharedOwn => (Base::Register(self.fixed(Fixed::Write)), self.region()),
            Window::SharedOther => (Base::Register(self.fixed(Fixed::Read)), self.half()),
            Window::Constant => (Base::At(CONSTANTS), 4 * CONSTANT_WORDS),
            // The last column belongs to atomic operations.
            Window::Sums if self.program.layout.interleaved => {
                let columns = self.program.columns();
                (Base::Buffer(BufferKind::Own, LEAD + UNIT * (columns - 1) + sums_at * columns), sums)
            }
            Window::Sums => (Base::Buffer(BufferKind::Sums, sums_at), sums),
            Window::SharedSums => (Base::At(self.shared_sums() + sums_at), sums),
        }
    }
}

/// The index of the words that a kind of atomic operation uses.
fn kind(operation: Atomic) -> u32 {
    use gpurf_isa::modifiers::Modifier;
    operation.bits()
}

/// The upper word of a generic address.
fn window_number(window: Window) -> u32 {
    match window {
        Window::Own | Window::Input | Window::Floats | Window::Sums => 0,
        Window::SharedOwn | Window::SharedOther | Window::SharedSums => SHARED_WINDOW,
        Window::Local => LOCAL_WINDOW,
        Window::Constant => CONSTANT_WINDOW,
    }
}

/// An access in words, for the text of a program.
fn words(access: &Access) -> String {
    let what = match &access.action {
        Action::Load(LoadType::B32, to) if to.len() > 1 => format!("load of {} words", to.len()),
        Action::Load(..) => "load".to_owned(),
        Action::Store(_, from) if from.len() > 1 => format!("store of {} words", from.len()),
        Action::Store(..) => "store".to_owned(),
        Action::Atomic(..) | Action::Cas(..) => "atomic operation".to_owned(),
    };
    let place = |place: &Place| {
        let window = match place.window {
            Window::Own => "own words",
            Window::Input => "input",
            Window::Floats => "floats",
            Window::Local => "local",
            Window::SharedOwn => "own shared words",
            Window::SharedOther => "shared words of all",
            Window::Constant => "constants",
            Window::Sums => "sums",
            Window::SharedSums => "shared sums",
        };
        let pattern = match place.pattern {
            Pattern::Uniform => "all lanes in one place".to_owned(),
            Pattern::Strided(stride) => format!("stride {stride}"),
            Pattern::Exchanged(stride, with) => format!("stride {stride}, lanes exchanged by {with}"),
            Pattern::Grouped(stride, shift) => format!("stride {stride}, groups of {}", 1 << shift),
            Pattern::Data(register, _) => format!("by {register}"),
        };
        format!("{window}, {pattern}")
    };
    match &access.other {
        Some((other, _)) => format!("{what}: {}; or {}", place(&access.place), place(other)),
        None => format!("{what}: {}", place(&access.place)),
    }
}

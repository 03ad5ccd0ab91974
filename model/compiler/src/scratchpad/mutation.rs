//! Deliberate faults of the passes, for tests of the judges: a judge must notice each of them.

/// A fault of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Variables are placed without regard to their alignment.
    Misaligned,
    /// A variable begins in the last word of the previous one.
    Overlapping,
    /// Dynamic memory begins at address 0.
    DynamicFirst,
    /// A variable that straddles the bound counts as private.
    StraddlingIsPrivate,
    /// Only the first source of a selection counts as a possible address.
    FirstOfSelection,
    /// A loaded value does not count as an address.
    LoadsAreNumbers,
    /// A value from another lane does not count as an address.
    ShufflesAreNumbers,
    /// Of all writes of a register, only the last one counts.
    LastWrite,
    /// Guarded writes of addresses are ignored.
    GuardedWrites,
    /// The release is before the last access.
    InFrontOfAccess,
    /// A block counts as safe if one successor is safe.
    AnySuccessor,
    /// Equations on loops are iterated only once.
    OneIteration,
    /// No release on edges or at the start of blocks (equation 3.2).
    NoStarts,
    /// No release after accesses (equation 3.1).
    NoEnds,
    /// No edge is split: its release is at the start of the target.
    NoSplit,
    /// Exits release a second time.
    ExitsToo,
    /// Guarded accesses are ignored.
    GuardedAccesses,
    /// Stores are ignored.
    Stores,
    /// Atomic operations are ignored.
    Atomics,
    /// Accesses through generic addresses are ignored.
    Generic,
    /// The block of `postdom` need not dominate the exit.
    NoDominance,
    /// The block of `postdom` may be in a loop.
    InLoop,
    /// A marked access may begin at the end of the private part.
    AtBound,
    /// A guarded write ends the old range, as an unguarded one does.
    GuardEndsRange,
    /// Where paths meet, only the range of the first one counts.
    FirstWay,
    /// Sums are assumed not to overflow.
    NoOverflow,
    /// A thread's index is assumed to be a lane's.
    ThreadIsLane,
    /// A constant offset is not added to the range.
    NoOffset,
}

impl Mutation {
    /// All mutations.
    #[cfg(test)]
    pub const ALL: [Self; 28] = [
        Self::Misaligned,
        Self::Overlapping,
        Self::DynamicFirst,
        Self::StraddlingIsPrivate,
        Self::FirstOfSelection,
        Self::LoadsAreNumbers,
        Self::ShufflesAreNumbers,
        Self::LastWrite,
        Self::GuardedWrites,
        Self::InFrontOfAccess,
        Self::AnySuccessor,
        Self::OneIteration,
        Self::NoStarts,
        Self::NoEnds,
        Self::NoSplit,
        Self::ExitsToo,
        Self::GuardedAccesses,
        Self::Stores,
        Self::Atomics,
        Self::Generic,
        Self::NoDominance,
        Self::InLoop,
        Self::AtBound,
        Self::GuardEndsRange,
        Self::FirstWay,
        Self::NoOverflow,
        Self::ThreadIsLane,
        Self::NoOffset,
    ];
}

/// Whether a pass has this fault now; only in tests.
#[cfg(not(test))]
pub const fn broken(_: Mutation) -> bool {
    false
}

#[cfg(test)]
pub use testing::{broken, with};

#[cfg(test)]
mod testing {
    use super::Mutation;
    use std::cell::Cell;

    thread_local! {
        static NOW: Cell<Option<Mutation>> = const { Cell::new(None) };
    }

    /// Whether a pass has this fault now.
    pub fn broken(mutation: Mutation) -> bool {
        NOW.get() == Some(mutation)
    }

    /// Runs `f` with this fault in the passes. Returns its result.
    pub fn with<T>(mutation: Option<Mutation>, f: impl FnOnce() -> T) -> T {
        let before = NOW.replace(mutation);
        let result = f();
        NOW.set(before);
        result
    }
}

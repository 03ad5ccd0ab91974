//! Ways in which the passes can be wrong, for tests of the judges: each of them has to be seen.

/// A fault of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Variables are placed without regard to their alignment.
    Misaligned,
    /// A variable begins in the last word of the one in front.
    Overlapping,
    /// Dynamic memory begins at address 0.
    DynamicFirst,
    /// A variable that straddles the bound counts as private.
    StraddlingIsPrivate,
    /// Of a selection only the first source counts.
    FirstOfSelection,
    /// What is loaded is no address.
    LoadsAreNumbers,
    /// What other lanes give is no address.
    ShufflesAreNumbers,
    /// Of the writes of a register the last one counts.
    LastWrite,
    /// Guarded writes do not count.
    GuardedWrites,
    /// Released in front of the last access.
    InFrontOfAccess,
    /// One safe successor is enough.
    AnySuccessor,
    /// Loops are gone through once.
    OneIteration,
    /// Nothing is put on edges or at the start of blocks (equation 3.2).
    NoStarts,
    /// Nothing is put after accesses (equation 3.1).
    NoEnds,
    /// No edge is split: what belongs there stands at the start of the target.
    NoSplit,
    /// Exits release once more.
    ExitsToo,
    /// Guarded accesses do not count.
    GuardedAccesses,
    /// Stores do not count.
    Stores,
    /// Atomic operations do not count.
    Atomics,
    /// Accesses through generic addresses do not count.
    Generic,
    /// The block of `postdom` need not dominate the exit.
    NoDominance,
    /// The block of `postdom` may be in a loop.
    InLoop,
    /// A marked access may begin at the end of the private part.
    AtBound,
    /// A guarded write ends the old range.
    GuardEndsRange,
    /// Where ways meet, the range of the first one counts.
    FirstWay,
    /// Sums do not overflow.
    NoOverflow,
    /// The number of a thread is that of a lane.
    ThreadIsLane,
    /// A constant offset is left out of the range.
    NoOffset,
}

impl Mutation {
    /// All of them.
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

/// Whether a pass is to be wrong in this way: in tests only.
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

    /// Whether a pass is to be wrong in this way.
    pub fn broken(mutation: Mutation) -> bool {
        NOW.get() == Some(mutation)
    }

    /// What `f` gives where passes are wrong in this way.
    pub fn with<T>(mutation: Option<Mutation>, f: impl FnOnce() -> T) -> T {
        let before = NOW.replace(mutation);
        let result = f();
        NOW.set(before);
        result
    }
}

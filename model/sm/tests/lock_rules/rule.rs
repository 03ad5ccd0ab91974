//! The rules by which a warp gets what its pair shares.

use crate::kernel::{Operation, WARPS};
use crate::pair::Side;

/// Who may access a shared part, and who may use the result of a global atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Nothing is shared: the control of the search.
    Unshared,
    /// A lock for each resource of the pair: of each two warps for registers, of the two blocks for the scratchpad.
    PerWarp,
    /// Sharing thesis 2.2.3: as `PerWarp`, but no warp gets a lock of registers while a warp of the partner block has one.
    First,
    /// The older block has precedence. A warp of the younger one gets the registers when its partner warp has ended, the
    /// scratchpad when the older block has.
    Oldest,
    /// As `Oldest`, and the younger block performs no global atomic whose result it uses.
    OldestHoldsAtomics,
}

impl Rule {
    /// Whether a warp of block `me` may perform its operation now, as far as the pair is concerned.
    pub fn permits(self, operation: Operation, warp: usize, me: &Side, partner: &Side) -> bool {
        let by_age = matches!(self, Self::Oldest | Self::OldestHoldsAtomics);
        let first_of_pair = me.is_older_than(partner);
        match operation {
            Operation::Register => match self {
                Self::Unshared => true,
                _ if me.has_registers(warp) => true,
                _ if partner.has_registers(warp) => false,
                Self::PerWarp => true,
                Self::First => (0..WARPS).all(|other| !partner.has_registers(other)),
                Self::Oldest | Self::OldestHoldsAtomics => first_of_pair || partner.has_ended(warp),
            },
            Operation::Scratchpad => {
                self == Self::Unshared
                    || me.has_scratchpad()
                    || (!partner.has_scratchpad() && (!by_age || first_of_pair))
            }
            Operation::Lock => self != Self::OldestHoldsAtomics || first_of_pair,
            Operation::Private | Operation::Barrier | Operation::Unlock => true,
        }
    }
}

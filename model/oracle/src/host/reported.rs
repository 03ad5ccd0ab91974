//! A fault as an engine reports it, for comparison with the one that a manifest expects and with that of another engine.

use gpurf_launch::{Cause, ExpectedFault};

use crate::fault::{Fault, FaultKind};

/// A fault as an engine reports it. An engine leaves out the fields that it does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedFault {
    /// The cause of the fault.
    pub cause: Cause,
    /// The cause's value.
    pub value: Option<u32>,
    /// Coordinates of the block.
    pub block: Option<[u32; 3]>,
    /// Warp of the block.
    pub warp: Option<u32>,
    /// Number of the instruction.
    pub instruction: Option<u32>,
}

/// Whether two values agree, where both are known.
fn agree<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

impl ReportedFault {
    /// Whether this is the same fault, as far as both are known.
    pub fn agrees(&self, other: &Self) -> bool {
        self.cause == other.cause
            && agree(self.value, other.value)
            && agree(self.block, other.block)
            && agree(self.warp, other.warp)
            && agree(self.instruction, other.instruction)
    }

    /// Whether this is the fault that a manifest expects of the SM.
    pub fn is_expected(&self, expected: &ExpectedFault) -> bool {
        let ExpectedFault { cause, value, block, warp, instruction, oracle: _ } = *expected;
        self.agrees(&Self { cause, value, block, warp, instruction })
    }

    /// A fault of the oracle; `None` if it is one that no SM detects, such as a data race.
    pub fn of_oracle(fault: &Fault) -> Option<Self> {
        let (cause, value) = match &fault.kind {
            FaultKind::Trap { code } => (Cause::Trap, Some(*code)),
            FaultKind::PastEnd => (Cause::Unsupported, None),
            FaultKind::BarrierDivergence { id, .. } => (Cause::BarrierDivergence, Some((*id).into())),
            FaultKind::Misaligned { address, .. } => (Cause::Misaligned, Some(*address as u32)),
            FaultKind::OutOfBounds { space: "global", address, .. } => {
                let cause = if *address >> 32 == 0 { Cause::NoSuchPlace } else { Cause::WideAddress };
                (cause, Some(*address as u32))
            }
            FaultKind::OutOfBounds { address, .. } => (Cause::OutOfBounds, Some(*address as u32)),
            FaultKind::ConstantWrite { .. } => (Cause::ConstantWritten, None),
            FaultKind::LocalAtomic => (Cause::LocalAtomic, None),
            FaultKind::BarrierCount { count, .. } => (Cause::BarrierCount, Some(*count)),
            FaultKind::WarpDivergence { mask, .. } => (Cause::WarpDivergence, Some(*mask)),
            FaultKind::UninitialisedShared { .. }
            | FaultKind::UndefinedRegister(_)
            | FaultKind::UndefinedLocal { .. }
            | FaultKind::SharedRace { .. }
            | FaultKind::BarrierDeadlock { .. }
            | FaultKind::Spin { .. }
            | FaultKind::StepLimit { .. }
            | FaultKind::Stopped
            | FaultKind::Replay(_) => return None,
        };
        let (block, warp, instruction) = (Some(fault.block), Some(fault.warp), Some(fault.pc));
        Some(Self { cause, value, block, warp, instruction })
    }
}

//! The fault that a launch is expected to end with.

use std::fmt;

use crate::ManifestError;
use crate::document::{Document, Node};

/// The cause of a fault of the SM: the causes of `docs/blocks/fault_unit.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// TRAP; the value is its code.
    Trap,
    /// An operation that the SM does not have, or execution beyond the end of the kernel; the value is the opcode.
    Unsupported,
    /// BAR executed by lanes other than all living ones; the value is the barrier's number.
    BarrierDivergence,
    /// Misaligned address; the value is its lower word.
    Misaligned,
    /// Access beyond the end of shared, local or constant memory; the value is the address.
    OutOfBounds,
    /// Global address whose upper word is not zero; the value is the lower word.
    WideAddress,
    /// Write to the constant space; the value is the address.
    ConstantWritten,
    /// Atomic operation on local memory; the value is the address.
    LocalAtomic,
    /// WARPSYNC executed by lanes other than those of its mask; the value is the mask.
    WarpDivergence,
    /// Access to global memory outside all buffers; the value is the address.
    NoSuchPlace,
    /// Invalid thread count of a barrier; the value is the count.
    BarrierCount,
    /// Not one block fits into the SM; the value is 0.
    DoesNotFit,
    /// Access to shared memory that the block shares with another one, after the block has released it; the value is the address.
    Released,
}

impl Cause {
    /// All causes, by number.
    pub const ALL: [Self; 13] = [
        Self::Trap,
        Self::Unsupported,
        Self::BarrierDivergence,
        Self::Misaligned,
        Self::OutOfBounds,
        Self::WideAddress,
        Self::ConstantWritten,
        Self::LocalAtomic,
        Self::WarpDivergence,
        Self::NoSuchPlace,
        Self::BarrierCount,
        Self::DoesNotFit,
        Self::Released,
    ];

    /// Its number at the SM's port `fault_cause_o`.
    pub fn number(self) -> u8 {
        match self {
            Self::Trap => 1,
            Self::Unsupported => 2,
            Self::BarrierDivergence => 3,
            Self::Misaligned => 4,
            Self::OutOfBounds => 5,
            Self::WideAddress => 6,
            Self::ConstantWritten => 7,
            Self::LocalAtomic => 8,
            Self::WarpDivergence => 10,
            Self::NoSuchPlace => 11,
            Self::BarrierCount => 12,
            Self::DoesNotFit => 13,
            Self::Released => 14,
        }
    }

    /// The cause with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.number() == number)
    }

    /// Its name in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Unsupported => "unsupported",
            Self::BarrierDivergence => "barrier_divergence",
            Self::Misaligned => "misaligned",
            Self::OutOfBounds => "out_of_bounds",
            Self::WideAddress => "wide_address",
            Self::ConstantWritten => "constant_written",
            Self::LocalAtomic => "local_atomic",
            Self::WarpDivergence => "warp_divergence",
            Self::NoSuchPlace => "no_such_place",
            Self::BarrierCount => "barrier_count",
            Self::DoesNotFit => "does_not_fit",
            Self::Released => "released",
        }
    }
}

/// The fault that the last launch of a manifest is expected to end with (`[fault]`). Fields that are not set may have any value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpectedFault {
    /// The cause of the fault.
    pub cause: Cause,
    /// The cause's value.
    pub value: Option<u32>,
    /// Coordinates of the block.
    pub block: Option<[u32; 3]>,
    /// Warp of the block.
    pub warp: Option<u32>,
    /// Number of the instruction, from 0.
    pub instruction: Option<u32>,
    /// The cause that the oracle finds first, where that is another fault: it runs the warps of a block in turn, without time.
    pub oracle: Option<Cause>,
}

impl fmt::Display for ExpectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cause.name())?;
        if let Some(value) = self.value {
            write!(f, ", value {value:#x}")?;
        }
        if let Some([x, y, z]) = self.block {
            write!(f, ", block ({x}, {y}, {z})")?;
        }
        if let Some(warp) = self.warp {
            write!(f, ", warp {warp}")?;
        }
        self.instruction.map_or(Ok(()), |instruction| write!(f, ", instruction {instruction}"))
    }
}

/// Reads `[fault]`.
pub(crate) fn read_fault(document: Document, node: &Node) -> Result<ExpectedFault, ManifestError> {
    let keys = ["cause", "value", "block", "warp", "instruction", "oracle"];
    let fields = document.fields(node, "`[fault]`", &keys)?;
    let number = |key: &str| {
        let word = |node| document.integer(node, key, 0..i128::from(u32::MAX) + 1).map(|number| number as u32);
        fields.get(key).map(word).transpose()
    };
    let block = fields.get("block").map(|node| {
        let coordinates = document.array(node, "an array of three numbers")?;
        let read = |node| document.integer(node, "block", 0..i128::from(u32::MAX) + 1).map(|number| number as u32);
        let coordinates = coordinates.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let count = coordinates.len();
        let wrong = |_| document.error(node.span(), format!("a block has three coordinates, not {count}"));
        <[u32; 3]>::try_from(coordinates).map_err(wrong)
    });
    Ok(ExpectedFault {
        cause: read_cause(document, fields.required(document, "cause")?)?,
        value: number("value")?,
        block: block.transpose()?,
        warp: number("warp")?,
        instruction: number("instruction")?,
        oracle: fields.get("oracle").map(|node| read_cause(document, node)).transpose()?,
    })
}

fn read_cause(document: Document, node: &Node) -> Result<Cause, ManifestError> {
    let name = document.string(node, "the name of a cause")?;
    Cause::ALL.into_iter().find(|cause| cause.name() == name).ok_or_else(|| {
        let names = Cause::ALL.map(Cause::name).join(", ");
        document.error(node.span(), format!("there is no cause `{name}`; there are {names}"))
    })
}

//! Fetch, decode and the instructions that wait for issue: `docs/sm.md`.

mod decode;
mod fetch;
mod instruction_buffer;

pub use decode::*;
pub use fetch::*;
pub use instruction_buffer::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<Fetch>("front/fetch", "which warp fetches, code memory", &["ram_1r1w"]),
    entry::<Decode>("front/decode", "what an instruction reads and writes, its unit", &[]),
    entry::<InstructionBuffer>("front/instruction_buffer", "decoded instructions that wait for issue", &[]),
];

#[cfg(test)]
#[test]
fn early_outputs_depend_on_state_alone() {
    use crate::mrf::phases::check;
    use crate::testing::SM_SHAPES;

    check::<Fetch>(&SM_SHAPES);
    check::<Decode>(&SM_SHAPES);
    check::<InstructionBuffer>(&SM_SHAPES);
}

//! Fetch, decode and the instructions that wait for issue: `docs/sm.md`.

mod decode;
mod fetch;
mod instruction_buffer;

pub use decode::*;
pub use fetch::*;
pub use instruction_buffer::*;

#[cfg(test)]
#[test]
fn early_outputs_depend_on_state_alone() {
    use crate::mrf::phases::check;
    use crate::testing::SM_SHAPES;

    check::<Fetch>(&SM_SHAPES);
    check::<Decode>(&SM_SHAPES);
    check::<InstructionBuffer>(&SM_SHAPES);
}

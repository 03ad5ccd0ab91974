//! Fetch, decode and the buffer of instructions that wait for issue: `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! front_blocks {
    ($callback:ident) => {
        $callback! { front:
            fetch Fetch "which warp fetches, code memory",
            decode Decode "what an instruction reads and writes, its unit",
            instruction_buffer InstructionBuffer "decoded instructions that wait for issue",
        }
    };
}

front_blocks!(declare_blocks);

#[cfg(test)]
#[test]
fn early_outputs_depend_on_state_alone() {
    use crate::mrf::phases::check;
    use crate::testing::SM_SHAPES;

    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&SM_SHAPES);)+ };
    }
    front_blocks!(check_each);
}

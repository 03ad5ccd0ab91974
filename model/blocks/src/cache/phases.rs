//! A rule that holds for every block: what is declared early depends on state alone.

use crate::cache::*;
use crate::mrf::phases::check;
use crate::testing::CACHE_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&CACHE_SHAPES);)+ };
    }
    cache_blocks!(check_each);
}

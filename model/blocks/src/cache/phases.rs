//! A rule that holds for every block: what is declared early depends on state alone.

use crate::cache::*;
use crate::erase;
use crate::mrf::phases::check;
use crate::testing::CACHE_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&CACHE_SHAPES);)+ };
    }
    cache_blocks!(check_each);
}

/// Sets of more than 64 things have other ports.
#[test]
fn what_is_compared_is_declared_in_every_shape() {
    macro_rules! declare_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => {
            $(for shape in &CACHE_SHAPES {
                let twin = erase::<$block>(shape);
                let signals = &twin.declaration().signals;
                let names: std::collections::BTreeSet<_> = signals.iter().map(|signal| signal.field.name).collect();
                assert_eq!(names.len(), signals.len(), "{}", stringify!($module));
            })+
        };
    }
    cache_blocks!(declare_each);
}

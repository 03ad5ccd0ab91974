//! A rule that holds for every block: what is declared early depends on state alone. Here with unified memory.

use crate::cache::{Cache, CacheAccess, CacheTags};
use crate::control::BlockLauncher;
use crate::mrf::Mrf;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::testing::UNIFIED_SHAPES;
use crate::unified::tests::stages;
use crate::unified::*;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<UnifiedBank>(&UNIFIED_SHAPES.map(|shape| shape.mrf));
    check::<UnifiedArbiter>(&UNIFIED_SHAPES);
    check::<UnifiedShared>(&UNIFIED_SHAPES);
    check::<CacheTags>(&UNIFIED_SHAPES);
    check::<CacheAccess>(&UNIFIED_SHAPES);
    check::<Cache>(&UNIFIED_SHAPES);
    check::<BlockLauncher>(&UNIFIED_SHAPES);
}

#[test]
fn early_outputs_of_register_files_depend_on_state_alone() {
    check::<Mrf>(&UNIFIED_SHAPES.map(|shape| shape.mrf));
    check::<OperandStage>(&stages());
}

/// Ports that are there in some shapes only.
#[test]
fn what_is_compared_is_declared_in_every_shape() {
    fn declared<B: crate::Block>(shapes: &[B::Shape]) {
        for shape in shapes {
            let twin = crate::erase::<B>(shape);
            let signals = &twin.declaration().signals;
            let names: std::collections::BTreeSet<_> = signals.iter().map(|signal| signal.field.name).collect();
            assert_eq!(names.len(), signals.len(), "{}", B::NAME);
            let unused = &twin.declaration().unused;
            assert!(unused.iter().all(|name| !names.contains(name)), "{}: {unused:?}", B::NAME);
            let has = |name: &str| names.contains(name) || unused.contains(&name);
            assert!(B::NAME != "mrf" || has("memory_data_o") && has("memory_write_data_i"));
            assert!(B::NAME != "mrf_ideal" || !has("memory_data_o") && !has("memory_write_data_i"));
        }
    }
    let shapes = [UNIFIED_SHAPES[0], UNIFIED_SHAPES[1], crate::testing::SM_SHAPES[0], crate::testing::CACHE_SHAPES[1]];
    declared::<UnifiedShared>(&shapes);
    declared::<UnifiedArbiter>(&shapes);
    declared::<CacheTags>(&shapes);
    declared::<CacheAccess>(&shapes);
    declared::<Cache>(&shapes);
    declared::<BlockLauncher>(&shapes);
    declared::<OperandStage>(&shapes);
    declared::<Mrf>(&shapes.map(|shape| shape.mrf));
    declared::<crate::mrf_ideal::MrfIdeal>(&[crate::testing::SM_SHAPES[0].mrf]);
}

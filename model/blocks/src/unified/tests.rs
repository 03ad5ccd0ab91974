//! Every register file whose banks serve memory.

use crate::config::{Config, Start};
use crate::designs::DESIGNS;
use crate::mrf::MrfShape;
use crate::shape::SmShape;
use crate::testing::UNIFIED_SHAPES;
use crate::unified::COLUMNS;

/// The main register file of a shape with columns.
pub(crate) fn with_columns(mrf: MrfShape) -> MrfShape {
    MrfShape { banks: COLUMNS, dual_port: true, depth: UNIFIED_SHAPES[0].mrf.depth, unified: true, ..mrf }
}

/// Operand stages with two issue ports of all designs with unified memory.
pub(crate) fn stages() -> Vec<SmShape> {
    let mut shapes = UNIFIED_SHAPES.to_vec();
    let sizes = ["unified.kilobytes=48", "cache.kilobytes=8", "mrf.banks=4", "mrf.ports=1r1w", "mrf.issue_ports=2"];
    for design in DESIGNS.iter().filter(|design| design.services.serves_memory) {
        let config = Config::load(Start::Preset(design.main_preset), &sizes).expect("a configuration");
        shapes.push(config.sm_shape());
    }
    assert!(shapes.len() > 4);
    shapes
}

//! A rule that holds for every block: what is declared early depends on state alone.

use crate::mrf::phases::check;
use crate::rfc::{Rfc, RfcData, RfcEvictions, RfcFills, RfcLrf, RfcOperands, RfcResults, RfcTags};
use crate::testing::RFC_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<RfcTags>(&RFC_SHAPES);
    check::<RfcData>(&RFC_SHAPES);
    check::<RfcEvictions>(&RFC_SHAPES);
    check::<RfcResults>(&RFC_SHAPES);
    check::<RfcOperands>(&RFC_SHAPES);
    check::<RfcLrf>(&RFC_SHAPES);
    check::<RfcFills>(&RFC_SHAPES);
    check::<Rfc>(&RFC_SHAPES);
}

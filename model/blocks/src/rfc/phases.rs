//! A rule that holds for every block: what is declared early depends on state alone.

use crate::mrf::phases::check;
use crate::rfc::{Rfc, RfcData, RfcEvictions, RfcFills, RfcLrf, RfcOperands, RfcResults, RfcTags};
use crate::testing::ACTIVE_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<RfcTags>(&ACTIVE_SHAPES);
    check::<RfcData>(&ACTIVE_SHAPES);
    check::<RfcEvictions>(&ACTIVE_SHAPES);
    check::<RfcResults>(&ACTIVE_SHAPES);
    check::<RfcOperands>(&ACTIVE_SHAPES);
    check::<RfcLrf>(&ACTIVE_SHAPES);
    check::<RfcFills>(&ACTIVE_SHAPES);
    check::<Rfc>(&ACTIVE_SHAPES);
}

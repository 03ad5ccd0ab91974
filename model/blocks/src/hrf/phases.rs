//! A rule that holds for every block: what is declared early depends on state alone.

use crate::hrf::{
    Hrf, HrfBank, HrfBuffer, HrfDrain, HrfLoads, HrfOperands, HrfPower, HrfRcm, HrfReads, HrfResults, HrfShape,
};
use crate::mrf::phases::check;

#[test]
fn early_outputs_depend_on_state_alone() {
    let buffered =
        [HrfShape::preset(&[]), HrfShape::preset(&["hrf.buffer_entries=4", "hrf.load_entries=2", "mrf.collectors=4"])];
    check::<HrfBank>(&buffered);
    check::<HrfBuffer>(&buffered);
    check::<HrfRcm>(&buffered);
    check::<HrfDrain>(&buffered);
    check::<HrfLoads>(&buffered);
    check::<HrfPower>(&buffered);
    let all = [buffered[0], buffered[1], HrfShape::preset(&["hrf.buffer_entries=0"])];
    check::<HrfResults>(&all);
    check::<HrfReads>(&all);
    check::<HrfOperands>(&all);
    check::<Hrf>(&all);
}

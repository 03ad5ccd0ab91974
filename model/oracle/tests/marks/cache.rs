//! Marks of results that bypass a level of a register file cache.

use super::{Wrong, lanes};

#[test]
fn results_past_a_level() {
    assert_eq!(lanes("LD.GLOBAL.B32 R1, [R2] {rfc_bypass}"), [(Wrong::LongLatencyPastCache, 1)]);
    assert_eq!(lanes("MOV R1, 1 {rfc_bypass}\n IADD R3, PT, R1, 1, !PT"), [(Wrong::ReadPastCache, 2)]);
    assert_eq!(lanes("MOV R1, 1 {rfc_bypass}\n IADD R3, PT, R1, 1, !PT {deschedule}"), []);
    assert_eq!(lanes("MOV R1, 1\n ST.SHARED.B32 [RZ], R1"), [(Wrong::SharedReadOfLrf, 2)]);
    assert_eq!(lanes("MOV R1, 1 {lrf_bypass}\n ST.SHARED.B32 [RZ], R1"), []);
    assert_eq!(lanes("MOV R1, 1\n BAR.ID0 RZ\n ST.SHARED.B32 [RZ], R1"), []);
    assert_eq!(lanes("LDC.B32 R1, [RZ] {lrf_bypass}"), [(Wrong::NotOfTheLrf, 1)]);
}

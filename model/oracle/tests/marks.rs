//! The judge of marks: hand-made marks, right and wrong ones.

mod common;

use common::Setup;
use gpurf_oracle::marks::{MarkFault, MarkJudge, Scope, Wrong};

/// What is wrong with the marks of a program of one warp, with the program counters.
fn judge(code: &str, scope: Scope) -> Vec<(Wrong, u32)> {
    let setup = Setup::new(&format!("LDC.B32 R2, [RZ]\n {code}\n EXIT")).shared(64);
    let (faults, _) = setup.with(|oracle, launch, memory| {
        let mut judge = MarkJudge::new(scope);
        oracle.run_observed(launch, memory, &mut judge).unwrap();
        judge.finish().0
    });
    faults.into_iter().map(|MarkFault { wrong, pc, .. }| (wrong, pc)).collect()
}

fn lanes(code: &str) -> Vec<(Wrong, u32)> {
    judge(code, Scope::Lanes)
}

#[test]
fn reads_behind_the_last() {
    assert_eq!(lanes("IADD R3, PT, R1, 1, !PT {last=a}\n IADD R3, PT, R1, 1, !PT"), [(Wrong::ReadBehindLast, 2)]);
    assert_eq!(lanes("IADD R3, PT, R1, 1, !PT {last=a}\n MOV R1, 2\n IADD R3, PT, R1, 1, !PT {last=a}"), []);
    assert_eq!(lanes("IADD R3, PT, R1, R1, !PT {last=a}"), [(Wrong::SlotsDisagree, 1)]);
}

#[test]
fn marks_are_of_lanes_or_of_the_warp() {
    let code = "
        S2R.TID.X R0
        ISETP.LT.AND P0, R0, 16, PT
        @P0 IADD R3, PT, R1, 1, !PT {last=a}
        @!P0 IADD R3, PT, R1, 1, !PT {last=a}
    ";
    assert_eq!(lanes(code), []);
    assert_eq!(judge(code, Scope::Warp), [(Wrong::ReadBehindLast, 4)]);
}

#[test]
fn results_of_long_latency() {
    let load = "LD.GLOBAL.B32 R1, [R2]";
    assert_eq!(lanes(&format!("{load}\n IADD R3, PT, R1, 1, !PT")), [(Wrong::ReadUnmarked, 2)]);
    assert_eq!(lanes(&format!("{load}\n MOV R1, 1")), [(Wrong::OverwrittenUnmarked, 2)]);
    assert_eq!(lanes(&format!("{load}\n IADD R3, PT, R1, 1, !PT {{deschedule}}\n MOV R1, 1")), []);
    assert_eq!(lanes(&format!("{load}\n BAR.ID0 RZ\n IADD R3, PT, R1, 1, !PT")), []);
    // The warp gives way whatever the guard says.
    assert_eq!(lanes(&format!("{load}\n @!PT IADD R3, PT, R1, 1, !PT {{deschedule}}\n MOV R1, 1")), []);
    assert_eq!(lanes("LD.GLOBAL.B32 R1, [R2] {rfc_bypass}"), [(Wrong::LongLatencyPastRfc, 1)]);
}

#[test]
fn results_past_a_level() {
    assert_eq!(lanes("MOV R1, 1 {rfc_bypass}\n IADD R3, PT, R1, 1, !PT"), [(Wrong::ReadPastRfc, 2)]);
    assert_eq!(lanes("MOV R1, 1 {rfc_bypass}\n IADD R3, PT, R1, 1, !PT {deschedule}"), []);
    assert_eq!(lanes("MOV R1, 1\n ST.SHARED.B32 [RZ], R1"), [(Wrong::SharedReadOfLrf, 2)]);
    assert_eq!(lanes("MOV R1, 1 {lrf_bypass}\n ST.SHARED.B32 [RZ], R1"), []);
    assert_eq!(lanes("MOV R1, 1\n BAR.ID0 RZ\n ST.SHARED.B32 [RZ], R1"), []);
    assert_eq!(lanes("LDC.B32 R1, [RZ] {lrf_bypass}"), [(Wrong::NotOfTheLrf, 1)]);
}

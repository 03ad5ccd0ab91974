//! The judge of marks: hand-made marks, right and wrong ones.

mod cache;
#[path = "../common/mod.rs"]
mod common;

use common::Setup;
use gpurf_oracle::marks::{MarkFault, MarkJudge, Scope, Wrong};

/// The faults in the marks of a program of one warp, with the program counters.
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
    // The warp is descheduled whatever the guard says.
    assert_eq!(lanes(&format!("{load}\n @!PT IADD R3, PT, R1, 1, !PT {{deschedule}}\n MOV R1, 1")), []);
}

#[test]
fn free_registers_are_read_by_no_lane() {
    assert_eq!(lanes("MOV R3, 1 {free=R1}\n IADD R3, PT, R1, 1, !PT"), [(Wrong::ReadOfFree, 2)]);
    assert_eq!(lanes("MOV R3, 1 {free=R1}\n MOV R1, 1\n IADD R3, PT, R1, 1, !PT"), []);
    assert_eq!(lanes("MOV R1, 1\n IADD R3, PT, R1, 1, !PT {free=R1}\n IADD R1, PT, R3, 1, !PT"), []);
    // The register is free after the instruction, permanently, and whatever the guard.
    assert_eq!(lanes("@!PT MOV R3, 1 {free=R1}\n MOV R3, 1 {free=R3}\n ST.GLOBAL.B32 [R2], R1").len(), 2);
}

#[test]
fn free_registers_are_dead_for_the_whole_warp() {
    let halves = "S2R.TID.X R0\n ISETP.LT.AND P0, R0, 16, PT";
    // One half writes, the other one still has the old value.
    let other = "@P0 MOV R3, 1 {free=R1}\n @P0 MOV R1, 1\n @P0 IADD R3, PT, R1, 1, !PT\n @!P0 IADD R3, PT, R1, 1, !PT";
    assert_eq!(lanes(&format!("{halves}\n {other}")), [(Wrong::ReadOfFree, 6)]);
    let after = "@P0 BRA 7, join 8\n IADD R3, PT, R1, 1, !PT {free=R1}\n BRA 8, join none\n IADD R3, PT, R1, 2, !PT";
    assert_eq!(lanes(&format!("{halves}\n NOP\n {after}")), [(Wrong::ReadOfFree, 7)]);
}

#[test]
fn free_registers_have_no_write_on_its_way() {
    let load = "LD.GLOBAL.B32 R1, [R2]";
    assert_eq!(lanes(&format!("{load}\n MOV R3, 1 {{free=R1}}")), [(Wrong::FreeOnItsWay, 2)]);
    assert_eq!(
        lanes(&format!("{load}\n @!PT IADD R3, PT, R1, 1, !PT {{deschedule free=R1}}")),
        [(Wrong::FreeOnItsWay, 2)]
    );
    assert_eq!(lanes(&format!("{load}\n IADD R3, PT, R1, 1, !PT {{deschedule free=R1}}")), []);
    assert_eq!(lanes("IADD R1, PT, R1, 1, !PT {free=R1}"), [(Wrong::FreeOnItsWay, 1)]);
    assert_eq!(lanes("EXIT {free=R1}"), [(Wrong::FreeAtEnd, 1)]);
}

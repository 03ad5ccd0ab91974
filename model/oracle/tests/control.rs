//! Divergence, barriers, exits, warp-wide operations, hangs.

mod common;

use common::{Setup, storing};
use gpurf_oracle::FaultKind;

#[test]
fn lanes_take_different_ways_and_meet_again() {
    // Odd threads from 16 on take an inner branch; after the reconvergence point each thread adds 100 for each active
    // lane.
    let code = storing(
        "
        LOP3.LUT192 R3, R0, 1, RZ
        ISETP.EQ.AND P0, R3, 1, PT
        MOV R9, 0
        @!P0 BRA even, join meet
        ISETP.LT.AND P1, R0, 16, PT
        @!P1 BRA high, join odd
        IADD R9, PT, R9, 1, !PT
        BRA odd, join none
        high:
        IADD R9, PT, R9, 2, !PT
        odd:
        IADD R9, PT, R9, 10, !PT
        BRA meet, join none
        even:
        IADD R9, PT, R9, 5, !PT
        meet:
        S2R.ACTIVEMASK R4
        POPC R4, R4
        IMAD.LO R9, PT, R4, 100, R9, !PT
        ",
    );
    let expected: Vec<u32> = (0..32)
        .map(|i| {
            3200 + if i % 2 == 0 {
                5
            } else if i < 16 {
                11
            } else {
                12
            }
        })
        .collect();
    assert_eq!(Setup::new(&code).run()[0], expected);
}

#[test]
fn a_loop_runs_as_often_as_each_lane_wants() {
    let code = storing(
        "
        MOV R9, 0
        MOV R4, R0
        loop:
        ISETP.EQ.AND P0, R4, 0, PT
        @P0 BRA end, join end
        IADD R9, PT, R9, R4, !PT
        IADD R4, PT, R4, -1, !PT
        BRA loop, join none
        end:
        ",
    );
    let expected: Vec<u32> = (0..32).map(|i| i * (i + 1) / 2).collect();
    assert_eq!(Setup::new(&code).run()[0], expected);
}

#[test]
fn threads_are_numbered_in_three_dimensions_and_the_last_warp_is_partial() {
    // Each thread of a block of 5 x 3 x 3 in a grid of 2 x 2 x 2 writes its coordinates at its place.
    let code = "
        S2R.TID.X R0
        S2R.TID.Y R1
        S2R.TID.Z R2
        S2R.CTAID.X R3
        S2R.CTAID.Y R4
        S2R.CTAID.Z R5
        IMAD.LO R6, PT, R2, 3, R1, !PT
        IMAD.LO R6, PT, R6, 5, R0, !PT
        IMAD.LO R7, PT, R5, 2, R4, !PT
        IMAD.LO R7, PT, R7, 2, R3, !PT
        IMAD.LO R8, PT, R7, 45, R6, !PT
        LDC.B32 R9, [RZ]
        IMAD.LO R9, PT, R8, 4, R9, !PT
        SHL R10, R7, 16
        IADD R10, PT, R10, R6, !PT
        ST.GLOBAL.B32 [R9], R10
        EXIT
    ";
    let setup = Setup::new(code).grid([2, 2, 2]).block([5, 3, 3]).buffers(&[vec![u32::MAX; 8 * 45]]);
    let expected: Vec<u32> = (0..8u32).flat_map(|b| (0..45).map(move |t| b << 16 | t)).collect();
    assert_eq!(setup.run()[0], expected);
    let (statistics, _) = setup.try_run();
    assert_eq!(statistics.unwrap().counts.thread_instructions, 17 * 8 * 45);
}

#[test]
fn a_barrier_orders_the_warps_of_a_block() {
    let code = "
        S2R.TID.X R0
        SHL R1, R0, 2
        ST.SHARED.B32 [R1], R0
        BAR.ID0 RZ
        LOP3.LUT60 R3, R0, 127, RZ
        SHL R3, R3, 2
        LD.SHARED.B32 R9, [R3]
        LDC.B32 R2, [RZ]
        IADD R2, PT, R2, R1, !PT
        ST.GLOBAL.B32 [R2], R9
        EXIT
    ";
    let setup = Setup::new(code).block([128, 1, 1]).shared(512).buffers(&[vec![0; 128]]);
    assert_eq!(setup.run()[0], (0..128).rev().collect::<Vec<u32>>());
    let without =
        Setup::new(&code.replace("BAR.ID0 RZ", "NOP")).block([128, 1, 1]).shared(512).buffers(&[vec![0; 128]]);
    let fault = without.fault();
    assert!(matches!(fault.kind, FaultKind::UninitialisedShared { .. }), "{fault}");
}

#[test]
fn a_barrier_of_some_warps_lets_the_others_pass() {
    // Warps 0 and 1 meet at barrier 3; warps 2 and 3 continue at once.
    let code = "
        S2R.TID.X R0
        S2R.WARPID R1
        ISETP.GE.AND P0, R1, 2, PT
        @P0 BRA end, join end
        BAR.ID3 64
        end:
        LDC.B32 R2, [RZ]
        IMAD.LO R2, PT, R0, 4, R2, !PT
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    let setup = Setup::new(code).block([128, 1, 1]).buffers(&[vec![9; 128]]);
    assert_eq!(setup.run()[0], (0..128).map(|i| i / 32).collect::<Vec<u32>>());
    let fault =
        Setup::new(&code.replace("BAR.ID3 64", "BAR.ID3 96")).block([128, 1, 1]).buffers(&[vec![9; 128]]).fault_kind();
    let FaultKind::BarrierDeadlock { waiting } = fault else { panic!("{fault}") };
    assert_eq!(waiting, "warp 0 at barrier 3, warp 1 at barrier 3");
    let count = |code: &str| Setup::new(&format!("{code}\nEXIT")).fault_kind();
    assert!(matches!(count("BAR.ID0 33"), FaultKind::BarrierCount { count: 33, .. }));
    assert!(matches!(count("BAR.ID0 64"), FaultKind::BarrierCount { count: 64, .. }));
    assert!(matches!(count("S2R.TID.X R0\nBAR.ID0 R0"), FaultKind::BarrierCount { .. }));
}

#[test]
fn warps_that_have_ended_are_not_waited_for() {
    let code = "
        S2R.WARPID R1
        ISETP.GE.AND P0, R1, 1, PT
        @P0 EXIT
        BAR.ID0 RZ
        EXIT
    ";
    Setup::new(code).block([96, 1, 1]).run();
}

#[test]
fn half_a_warp_at_a_barrier_is_a_fault_with_its_place() {
    let code = "
        S2R.LANEID R0
        ISETP.GE.AND P0, R0, 16, PT
        @P0 BRA end, join end
        BAR.ID0 RZ
        end:
        EXIT
    ";
    let fault = Setup::new(code).grid([3, 1, 1]).block([8, 8, 1]).fault();
    assert_eq!(
        fault.to_string(),
        "test.ptx:103: kernel test, block (0, 0, 0), thread (0, 0, 0): barrier 0 is reached by 16 of 32 living threads of the warp: the others are \
         on another path; instruction 3: BAR.ID0 RZ"
    );
}

#[test]
fn warp_wide_masks_name_the_lanes_that_are_there() {
    let code = |mask: &str| {
        format!(
            "S2R.LANEID R0\nISETP.GE.AND P0, R0, 16, PT\n@P0 BRA end, join end\nWARPSYNC {mask}\nend:\nWARPSYNC -1\nEXIT"
        )
    };
    Setup::new(&code("0xffff")).run();
    let fault = Setup::new(&code("0x1ffff")).fault_kind();
    assert_eq!(fault, FaultKind::WarpDivergence { mask: 0x1ffff, active: 0xffff, living: u32::MAX });
    // Lanes that have ended, or never existed, may be named.
    Setup::new("S2R.LANEID R0\nISETP.GE.AND P0, R0, 5, PT\n@P0 EXIT\nWARPSYNC -1\nEXIT").block([20, 1, 1]).run();
}

#[test]
fn votes_and_ballots_count_active_lanes() {
    let code = storing(
        "
        ISETP.LT.AND P0, R0, 8, PT
        ISETP.GE.AND P1, R0, 4, PT
        @P1 BRA rest, join meet
        VOTE.ALL P2, P0
        SEL R9, RZ, 1, !P2
        BALLOT R3, !P0
        IADD R9, PT, R9, R3, !PT
        BRA meet, join none
        rest:
        VOTE.ALL P2, P0
        VOTE.ANY P3, P0
        VOTE.UNI P4, P0
        SEL R9, RZ, 16, !P2
        SEL R3, RZ, 32, !P3
        IADD R9, PT, R9, R3, !PT
        SEL R3, RZ, 64, !P4
        IADD R9, PT, R9, R3, !PT
        BALLOT R3, P0
        IADD R9, PT, R9, R3, !PT
        meet:
        ",
    );
    let expected: Vec<u32> = (0..32).map(|i| if i < 4 { 1 } else { 32 + 0xf0 }).collect();
    assert_eq!(Setup::new(&code).run()[0], expected);
}

#[test]
fn shuffles_keep_to_their_segments() {
    let shuffle = |mode: &str, b: u32, clamp: u32, segment: u32| {
        let code = storing(&format!(
            "IADD R3, PT, R0, 100, !PT\nSHFL.{mode}.CLAMP{clamp}.SEGMENT{segment} R9, P0, R3, {b}\n@!P0 IADD R9, PT, R9, 1000, !PT"
        ));
        Setup::new(&code).run().remove(0)
    };
    // __shfl_down_sync(v, 3), width 32: the last three keep their own.
    let down: Vec<u32> = (0..32).map(|i| if i < 29 { 103 + i } else { 1100 + i }).collect();
    assert_eq!(shuffle("DOWN", 3, 31, 0), down);
    // __shfl_up_sync(v, 1, width 8): the first of each segment keeps its own.
    let up: Vec<u32> = (0..32).map(|i| if i % 8 > 0 { 99 + i } else { 1100 + i }).collect();
    assert_eq!(shuffle("UP", 1, 0, 24), up);
    // __shfl_xor_sync(v, 5) and __shfl_sync(v, 2, width 4).
    assert_eq!(shuffle("BFLY", 5, 31, 0), (0..32).map(|i| 100 + (i ^ 5)).collect::<Vec<u32>>());
    assert_eq!(shuffle("IDX", 2, 31, 28), (0..32).map(|i| 100 + (i & 28 | 2)).collect::<Vec<u32>>());
}

#[test]
fn a_lane_that_does_not_execute_gives_zero_to_a_shuffle() {
    let code = storing(
        "
        MOV R9, R0
        ISETP.GE.AND P1, R0, 4, PT
        @!P1 SHFL.DOWN.CLAMP31.SEGMENT0 R9, P0, R0, 2
        @P0 IADD R9, PT, R9, 100, !PT
        ",
    );
    // Lanes 2 and 3 choose lanes 4 and 5, which do not take part: the choice is in range, and lanes 2 and 3 get 0.
    let expected: Vec<u32> = (0..32).map(|i| [102, 103, 100, 100].get(i).copied().unwrap_or(i as u32)).collect();
    assert_eq!(Setup::new(&code).run()[0], expected);
}

#[test]
fn a_loop_in_which_nothing_changes_is_a_hang() {
    let code = "S2R.TID.X R0\nMOV R1, 7\nloop:\nLOP3.LUT60 R1, R1, 1, RZ\nBRA loop, join none\nEXIT";
    let fault = Setup::new(code).block([64, 1, 1]).fault_kind();
    assert_eq!(fault, FaultKind::Spin { warps: 2 });
}

#[test]
fn a_lock_that_a_lane_of_the_same_warp_holds_is_a_hang() {
    // while (atomicCAS(lock, 0, 1) != 0); ... the winner waits for the others at the reconvergence point.
    let code = "
        LDC.B32 R2, [RZ]
        loop:
        CAS.GLOBAL R3, [R2], RZ, R4
        ISETP.NE.AND P0, R3, 0, PT
        @P0 BRA loop, join out
        out:
        MOV R5, 0
        ATOM.GLOBAL.EXCH RZ, [R2], R5
        EXIT
    ";
    let code = format!("MOV R4, 1\n{code}");
    assert_eq!(Setup::new(&code).fault_kind(), FaultKind::Spin { warps: 1 });
    // One thread of each of several warps: they take turns.
    let several = code.replace("MOV R4, 1", "MOV R4, 1\nS2R.LANEID R0\nISETP.NE.AND P1, R0, 0, PT\n@P1 EXIT");
    assert_eq!(Setup::new(&several).block([128, 1, 1]).run()[0][0], 0);
}

#[test]
fn a_loop_that_counts_runs_into_the_limit_only() {
    let code = "loop:\nIADD R1, PT, R1, 1, !PT\nISETP.NE.AND P0, R1, 0, PT\n@P0 BRA loop, join none\nEXIT";
    let fault = Setup::new(code).step_limit(5_000_000).fault_kind();
    assert_eq!(fault, FaultKind::StepLimit { limit: 5_000_000 });
}

#[test]
fn traps_and_ends_are_faults() {
    let trap = Setup::new("S2R.LANEID R0\nISETP.EQ.AND P0, R0, 9, PT\n@P0 TRAP 2\nEXIT").fault();
    assert_eq!((trap.kind, trap.thread), (FaultKind::Trap { code: 2 }, [9, 0, 0]));
    assert_eq!(Setup::new("NOP").fault_kind(), FaultKind::PastEnd);
}

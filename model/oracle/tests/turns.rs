//! Blocks that wait for later ones.

mod common;

use common::{Setup, storing};
use gpurf_oracle::FaultKind;

/// A wait until word `at` of the second buffer is no less than `value`.
fn wait(name: &str, at: u32, value: &str) -> String {
    format!(
        "
        {name}:
        LD.GLOBAL.B32 R5, [R3+{at:#x}]
        ISETP.LT.AND P0, R5, {value}, PT
        @P0 BRA {name}, join {name}_over
        {name}_over:
        "
    )
}

#[test]
fn a_block_waits_for_a_later_one() {
    // Each block but the last waits for a word that the next one writes; the blocks end in descending order, and count how many were before them.
    let code = format!(
        "
        LDC.B32 R3, [RZ+0x8]
        S2R.CTAID.X R1
        ISETP.EQ.AND P2, R1, 29, PT
        IMAD.LO R3, PT, R1, 4, R3, !PT
        @P2 BRA last, join last
        {}
        last:
        LDC.B32 R6, [RZ+0x10]
        MOV R4, 1
        ATOM.GLOBAL.ADD R9, [R6], R4
        IADD R3, PT, R3, -4, !PT
        ISETP.EQ.AND P1, R1, 0, PT
        @!P1 ST.GLOBAL.B32 [R3], R4
        ",
        wait("again", 0, "1")
    );
    let buffers = [vec![0; 30], vec![0; 30], vec![0]];
    let words = Setup::new(&storing(&code)).grid([30, 1, 1]).block([1, 1, 1]).buffers(&buffers).run();
    assert_eq!(words[0], (0..30).rev().collect::<Vec<u32>>());
    assert_eq!(words[2], [30]);
}

#[test]
fn a_barrier_of_the_grid_lets_all_blocks_pass_together() {
    // Three rounds. In each, every block adds 1 to a counter and waits until it has the blocks of all rounds so far; then it adds the counter's value.
    let rounds: String = (1..=3)
        .map(|round| {
            format!(
                "
                ATOM.GLOBAL.ADD RZ, [R3], R4
                {}
                LD.GLOBAL.B32 R6, [R3+0x4]
                IADD R9, PT, R9, R6, !PT
                ATOM.GLOBAL.ADD RZ, [R3+0x4], R4
                ATOM.GLOBAL.ADD RZ, [R3], R4
                {}
                ",
                wait(&format!("first{round}"), 0, &(16 * (2 * round - 1)).to_string()),
                wait(&format!("second{round}"), 0, &(16 * 2 * round).to_string()),
            )
        })
        .collect();
    let code = format!("MOV R9, 0\nMOV R4, 1\nLDC.B32 R3, [RZ+0x8]\n{rounds}");
    let setup = Setup::new(&storing(&code)).grid([16, 1, 1]).block([1, 1, 1]).buffers(&[vec![0; 16], vec![0; 2]]);
    let words = setup.run();
    assert_eq!(words[1], [96, 48]);
    // Within a round the values that a block reads depend on the turns; a block that has passed the first wait sees all additions of earlier rounds.
    for sum in &words[0] {
        assert!((16 + 32..16 + 32 + 3 * 16).contains(sum), "{sum}");
    }
}

#[test]
fn blocks_that_wait_for_nothing_are_a_hang() {
    let code = format!("LDC.B32 R3, [RZ+0x8]\n{}", wait("again", 0, "1"));
    // More blocks than can be in progress, and fewer.
    for blocks in [3, 40] {
        let setup = Setup::new(&storing(&code)).grid([blocks, 1, 1]).buffers(&[vec![0; 32 * 40], vec![0]]);
        let fault = setup.fault();
        assert_eq!((fault.kind, fault.block), (FaultKind::Spin { warps: 1 }, [0; 3]));
    }
}

#[test]
fn a_fault_of_a_later_block_has_its_place() {
    let code = format!(
        "LDC.B32 R3, [RZ+0x8]\nS2R.CTAID.X R1\nISETP.EQ.AND P1, R1, 2, PT\n@P1 TRAP 3\n{}",
        wait("again", 0, "1")
    );
    let fault = Setup::new(&storing(&code)).grid([5, 1, 1]).buffers(&[vec![0; 160], vec![0]]).fault();
    assert_eq!((fault.kind, fault.block), (FaultKind::Trap { code: 3 }, [2, 0, 0]));
}

#[test]
fn a_block_waits_in_a_loop_that_counts_or_reads_the_time() {
    // A block that waits for the last one: it counts its attempts, reads the time, or changes memory each time.
    for each in ["IADD R7, PT, R7, 1, !PT", "S2R.TIME_LO R7", "IADD R7, PT, R7, 1, !PT\nST.GLOBAL.B32 [R2], R7"] {
        let code = format!(
            "
            MOV R7, 0
            MOV R4, 1
            LDC.B32 R3, [RZ+0x8]
            S2R.CTAID.X R1
            ISETP.EQ.AND P2, R1, 3, PT
            @P2 BRA last, join last
            again:
            {each}
            LD.GLOBAL.B32 R5, [R3]
            ISETP.EQ.AND P0, R5, 0, PT
            @P0 BRA again, join over
            over:
            last:
            @P2 ST.GLOBAL.B32 [R3], R4
            MOV R9, R1
            "
        );
        let setup = Setup::new(&storing(&code)).grid([4, 1, 1]).block([1, 1, 1]).buffers(&[vec![7; 4], vec![0]]);
        assert_eq!(setup.run(), [vec![0, 1, 2, 3], vec![1]], "{each}");
    }
}

#[test]
fn blocks_whose_loops_never_end_run_into_the_limit() {
    let code = "loop:\nIADD R1, PT, R1, 1, !PT\nISETP.NE.AND P0, R1, 0, PT\n@P0 BRA loop, join none\nEXIT";
    let fault = Setup::new(code).grid([9, 1, 1]).block([1, 1, 1]).step_limit(4_000_000).fault();
    assert_eq!((fault.kind, fault.block), (FaultKind::StepLimit { limit: 4_000_000 }, [0; 3]));
}

#[test]
fn the_warps_of_a_block_may_wait_in_different_ways() {
    // Of the first block, one warp reads a flag until the second block raises it; the other one also counts.
    let code = format!(
        "
        MOV R7, 0
        MOV R4, 1
        MOV R9, 1
        LDC.B32 R3, [RZ+0x8]
        S2R.CTAID.X R1
        S2R.WARPID R8
        ISETP.EQ.AND P2, R1, 1, PT
        @P2 BRA last, join last
        ISETP.EQ.AND P1, R8, 0, PT
        @P1 BRA plain, join plain_over
        again:
        IADD R7, PT, R7, 1, !PT
        LD.GLOBAL.B32 R5, [R3]
        ISETP.EQ.AND P0, R5, 0, PT
        @P0 BRA again, join over
        over:
        BRA plain_over, join none
        {}
        last:
        @P2 ST.GLOBAL.B32 [R3], R4
        ",
        wait("plain", 0, "1")
    );
    let setup = Setup::new(&storing(&code)).grid([2, 1, 1]).block([64, 1, 1]).buffers(&[vec![0; 128], vec![0]]);
    let (result, words) = setup.step_limit(40_000_000).try_run();
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(words, [vec![1; 128], vec![1]]);
}

//! Where strands end, and why.

use super::*;
use crate::hierarchy::Cause::{self, *};

/// Where strands end in the code after [`START`], counted from its first instruction, and why.
fn ends(text: &str) -> Vec<(usize, Cause)> {
    accept(&compiled(text, &orf(3)), &orf(3));
    // Marks only: code whose strand ends are set already would report them all as `Asked`.
    let mut marked = compiled(text, &HierarchyOptions::NONE);
    let start = assemble(START).expect("it is code").len();
    let ends = run(&mut marked, &orf(3)).expect("there is an ORF").ends;
    ends.into_iter().enumerate().skip(start).filter_map(|(pc, end)| Some((pc - start, end?))).collect()
}

#[test]
fn figure_6_4_a_a_dependence_and_a_loop() {
    let text = "
        LD.GLOBAL.B32 R3, [R2]
        MOV R4, 3
        IADD R5, PT, R3, 1, !PT
        loop:
        IADD.SUB R4, PT, R4, 1, PT
        ISETP.NE.AND P1, R4, 0, PT
        @P1 BRA loop, join out
        out:
        ST.GLOBAL.B32 [R2], R5
        EXIT
    ";
    assert_eq!(ends(text), [(1, LongLatency), (2, LoopHead), (5, BackwardBranch)]);
}

#[test]
fn figure_6_4_b_a_result_that_only_one_side_waits_for() {
    let text = "
        LD.GLOBAL.B32 R3, [R2]
        MOV R4, 3
        @P0 BRA side, join meet
        IADD R4, PT, R4, 1, !PT
        BRA meet, join none
        side:
        MOV R5, 1
        IADD R4, PT, R3, R5, !PT
        meet:
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    assert_eq!(ends(text), [(2, Divergence), (4, Merge), (5, LongLatency), (6, Merge)]);
}

#[test]
fn barriers() {
    assert_eq!(ends("MOV R3, 1\n BAR.ID0 RZ\n ST.GLOBAL.B32 [R2], R3\n EXIT"), [(1, Barrier)]);
}

#[test]
fn sides_without_a_strand_end_are_of_one_strand() {
    let text = "
        MOV R3, 1
        @P0 BRA side, join meet
        IADD R3, PT, R3, 1, !PT
        BRA meet, join none
        side:
        IADD R3, PT, R3, 2, !PT
        meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(ends(text), []);
}

#[test]
fn a_meeting_point_that_begins_a_strand_ends_that_of_the_branch() {
    let text = "
        LD.GLOBAL.B32 R3, [R2]
        @P0 BRA meet, join meet
        MOV R4, 1
        meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(ends(text), [(1, LongLatency), (2, LongLatency)]);
}

#[test]
fn nested_branches_around_a_wait() {
    let text = "
        @P0 BRA meet, join meet
        ISETP.LT.AND P1, R0, 24, PT
        @P1 BRA inner, join inner
        LD.GLOBAL.B32 R3, [R2]
        IADD R3, PT, R3, 1, !PT
        inner:
        MOV R5, 1
        meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    // The load ends a strand, so the inner branch must end one and the inner meeting point begins one; the same follows for the outer branch.
    assert_eq!(ends(text), [(0, Merge), (2, Merge), (3, LongLatency), (4, Merge), (5, Merge)]);
}

#[test]
fn lanes_that_end_end_no_strand() {
    let text = "
        MOV R3, 1
        @P0 EXIT
        @P1 BRA over, join over
        EXIT
        over:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(ends(text), []);
}

#[test]
fn marks_that_are_there_stay() {
    assert_eq!(ends("MOV R3, 1\n NOP {strand_end}\n ST.GLOBAL.B32 [R2], R3\n EXIT"), [(1, Asked)]);
}

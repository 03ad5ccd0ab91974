//! The bits "last read".

use super::*;

const TWO_SIDES: &str = "
    MOV R1, 5
    @P0 BRA taken, join meet
    IADD R3, PT, R1, 1, !PT
    BRA meet, join none
taken:
    IADD R3, PT, R1, 2, !PT
meet:
    ST.GLOBAL.B32 [R2], R3
    EXIT
";

#[test]
fn both_sides_of_a_branch_read_for_the_last_time() {
    expect(TWO_SIDES, &["", "", "last=a lrf_bypass", "", "last=a lrf_bypass", "last=ac", ""]);
}

#[test]
fn marks_of_lanes_are_no_marks_of_the_warp() {
    // The side that falls through runs first: if the whole register were dead then, the other side would read a dead
    // register.
    assert_eq!(judge(&marked(TWO_SIDES), Scope::Warp).0, [Wrong::ReadBehindLast]);
}

#[test]
fn a_register_is_dead_for_the_warp_when_the_second_side_has_read_it() {
    let code = marked_for_warp(TWO_SIDES);
    let last: Vec<bool> = code[3..].iter().map(|instruction| instruction.control.last_read[0]).collect();
    assert_eq!(last, [false, false, false, false, true, true, false]);
    assert_eq!(judge(&code, Scope::Warp).0, []);
}

#[test]
fn what_one_side_writes_is_not_dead_before_as_the_other_side_may_want_the_old_value() {
    // In thread order, R1 is dead after the first addition, since a write follows.
    let text = "
        MOV R1, 5
        @P0 BRA taken, join meet
        IADD R3, PT, R1, 1, !PT
        MOV R1, 7
        IADD R3, PT, R1, R3, !PT
        BRA meet, join none
    taken:
        IADD R3, PT, R1, 2, !PT
    meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    expect(text, &["", "", "last=a", "", "last=ab lrf_bypass", "", "last=a lrf_bypass", "last=ac", ""]);
    assert_eq!(judge(&marked(text), Scope::Warp).0, [Wrong::ReadBehindLast]);
    let warp = marked_for_warp(text);
    assert!(!warp[5].control.last_read[0]);
    assert_eq!(judge(&warp, Scope::Warp).0, []);
}

#[test]
fn lanes_that_have_left_a_loop_keep_what_they_read_behind_it() {
    // The lanes that stay in the loop read R1 for the last time; the lanes that have left it read their R1 after the
    // loop.
    let [lanes, warp] = [marked(LEFT_LOOP), marked_for_warp(LEFT_LOOP)];
    assert!(lanes[6].control.last_read[0] && !warp[6].control.last_read[0]);
    assert_eq!(judge(&lanes, Scope::Lanes).0, []);
    assert_eq!(judge(&lanes, Scope::Warp).0, [Wrong::ReadBehindLast]);
    assert_eq!(judge(&warp, Scope::Warp).0, []);
}

#[test]
fn a_guarded_write_is_no_kill() {
    let text = "
        MOV R1, 7
        IADD R3, PT, R1, 1, !PT
        @P0 MOV R1, 9
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    needs_rule(text, without_guards, Wrong::ReadBehindLast);
}

#[test]
fn a_guarded_last_read_is_one_for_the_lanes_that_execute_it() {
    let text = "
        MOV R1, 7
        IADD R3, PT, R1, 1, !PT
        @P0 IADD R3, PT, R1, R3, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    expect(text, &["", "lrf_bypass", "last=ab lrf_bypass", "last=ac", ""]);
    needs_rule(text, without_guarded, Wrong::ReadBehindLast);
}

#[test]
fn a_loop_reads_again() {
    let text = "
        MOV R1, 3
        MOV R5, 4
    loop:
        IADD R3, PT, R3, R1, !PT
        IADD.SUB R5, PT, R5, 1, PT
        ISETP.GT.AND P1, R5, 0, PT
        @P1 BRA loop, join out
    out:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    expect(text, &["", "", "last=a lrf_bypass", "last=a", "", "", "last=ac", ""]);
    needs_rule(text, without_branches, Wrong::ReadBehindLast);
}

#[test]
fn a_register_in_two_slots_is_marked_in_both() {
    let text = "
        MOV R1, 3
        IADD R3, PT, R1, R1, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    expect(text, &["", "last=ab lrf_bypass", "last=ac", ""]);
    let mut code = marked(text);
    code[4].control.last_read[1] = false;
    assert_eq!(judge(&code, Scope::Lanes).0, [Wrong::SlotsDisagree]);
}

#[test]
fn a_destination_that_is_a_source_is_read_for_the_last_time() {
    let text = "
        MOV R1, 3
        IADD R1, PT, R1, 1, !PT
        @P0 IADD R1, PT, R1, 1, !PT
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    // The guarded addition ends the old value of the lanes that execute it, and of no others.
    expect(text, &["", "last=a lrf_bypass", "last=a lrf_bypass", "last=ac", ""]);
}

#[test]
fn a_shuffle_reads_the_lanes_that_execute_it() {
    let text = "
        MOV R1, R0
        IADD R3, PT, R1, 1, !PT
        @P0 BRA taken, join meet
        SHFL.BFLY.CLAMP31.SEGMENT0 R4, PT, R1, 0x11
        BRA meet, join none
    taken:
        SHFL.BFLY.CLAMP31.SEGMENT0 R4, PT, R1, 0x1
    meet:
        IADD R3, PT, R3, R4, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    let code = marked(text);
    assert!(!code[4].control.last_read[0] && code[6].control.last_read[0] && code[8].control.last_read[0]);
    let unread = |instruction: &mut Instruction| {
        if let Op::Shfl { .. } = instruction.op {
            *instruction = Instruction::new(Op::Mov {}).d(instruction.d).b(0u32);
        }
    };
    needs_rule(text, unread, Wrong::ReadBehindLast);
}

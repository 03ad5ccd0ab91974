//! The bit "deschedule".

use super::*;

/// The instructions with the mark, counted from the first one after [`START`].
fn marks(text: &str) -> Vec<usize> {
    let code = marked(text);
    assert_eq!(judge(&code, Scope::Lanes).0, [], "\n{}", listing(&code));
    (3..code.len()).filter(|&pc| code[pc].control.deschedule).map(|pc| pc - 3).collect()
}

#[test]
fn the_first_consumer_is_marked_and_no_other() {
    let text = "
        LD.GLOBAL.B32 R1, [R2]
        LD.GLOBAL.B32 R4, [R2+4]
        IADD R3, PT, R1, 1, !PT
        IADD R3, PT, R1, R3, !PT
        IADD R3, PT, R4, R3, !PT
        EXIT
    ";
    // When the warp resumes, all its pending results are there.
    assert_eq!(marks(text), [2]);
    let short = |instruction: &mut Instruction| {
        if instruction.is_long_latency() {
            *instruction = Instruction::new(Op::Mov {}).d(instruction.d).b(0u32);
        }
    };
    needs_rule(text, short, Wrong::ReadUnmarked);
}

#[test]
fn all_operations_of_long_latency_count_and_no_others() {
    for (operation, long) in [
        ("LD.GLOBAL.B32 R1, [R2]", true),
        ("LD.LOCAL.B32 R1, [RZ]", true),
        ("ATOM.GLOBAL.ADD R1, [R2], R0", true),
        ("CAS.GLOBAL R1, [R2], R0, R0", true),
        ("ATOM.SHARED.EXCH R1, [RZ], R0", false),
        ("LDC.B32 R1, [RZ]", false),
        ("MUFU.RCP R1, R0", false),
        ("SHFL.BFLY.CLAMP31.SEGMENT0 R1, PT, R0, 0x1", false),
    ] {
        let text = format!("ST.SHARED.B32 [RZ], R0\n {operation}\n IADD R3, PT, R1, 1, !PT\n EXIT");
        assert_eq!(marks(&text), if long { vec![2] } else { vec![] }, "{operation}");
    }
}

#[test]
fn what_overwrites_the_result_waits_too() {
    let text = "
        LD.GLOBAL.B32 R1, [R2]
        MOV R1, 3
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(marks(text), [1]);
    let elsewhere = |instruction: &mut Instruction| {
        if let Op::Mov {} = instruction.op {
            *instruction = instruction.d(gpurf_isa::Reg(9));
        }
    };
    needs_rule(text, elsewhere, Wrong::OverwrittenUnmarked);
}

#[test]
fn one_way_is_enough() {
    let text = "
        ISETP.GE.AND P1, R0, 0, PT
        LD.GLOBAL.B32 R1, [R2]
        @P1 BRA skip, join skip
        IADD R3, PT, R1, 1, !PT
    skip:
        IADD R3, PT, R1, 2, !PT
        EXIT
    ";
    assert_eq!(marks(text), [3, 4]);
    needs_rule(text, without_branches, Wrong::ReadUnmarked);
}

#[test]
fn a_loop_reads_what_it_loaded_the_time_before() {
    let text = "
        MOV R5, 4
    loop:
        IADD R3, PT, R3, R1, !PT
        LD.GLOBAL.B32 R1, [R2]
        IADD.SUB R5, PT, R5, 1, PT
        ISETP.GT.AND P1, R5, 0, PT
        @P1 BRA loop, join out
    out:
        EXIT
    ";
    assert_eq!(marks(text), [1]);
    needs_rule(text, without_branches, Wrong::ReadUnmarked);
}

#[test]
fn a_mark_for_one_way_serves_the_others() {
    // The first instruction of the loop is marked for the load at the end of the loop, so the second one needs no mark
    // for the load before the loop.
    let text = "
        MOV R5, 4
        LD.GLOBAL.B32 R1, [R2]
    loop:
        IADD R3, PT, R3, R4, !PT
        IADD R3, PT, R3, R1, !PT
        LD.GLOBAL.B32 R4, [R2]
        IADD.SUB R5, PT, R5, 1, PT
        ISETP.GT.AND P1, R5, 0, PT
        @P1 BRA loop, join out
    out:
        EXIT
    ";
    assert_eq!(marks(text), [2]);
}

#[test]
fn a_marked_load_is_itself_under_way() {
    let text = "
        LD.GLOBAL.B32 R1, [R2]
        LD.LOCAL.B32 R1, [R1]
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(marks(text), [1, 2]);
}

#[test]
fn a_barrier_deschedules_by_itself_if_all_come_to_it() {
    let all = "
        LD.GLOBAL.B32 R1, [R2]
        BAR.ID0 RZ
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(marks(all), []);
    let perhaps = "
        ISETP.LT.AND P1, R0, 0, PT
        LD.GLOBAL.B32 R1, [R2]
        @P1 BAR.ID0 RZ
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(marks(perhaps), [3]);
    needs_rule(perhaps, without_guards, Wrong::ReadUnmarked);
}

#[test]
fn each_side_waits_for_its_own_loads() {
    // The lanes of the second side read an old R1, which the first side's load does not affect.
    let text = "
        MOV R1, 5
        @P0 BRA taken, join meet
        LD.GLOBAL.B32 R1, [R2]
        BRA meet, join none
    taken:
        IADD R3, PT, R1, 2, !PT
    meet:
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(marks(text), [5]);
    assert_eq!(judge(&marked(text), Scope::Lanes).1.waits_for_other_lanes, 1);
}

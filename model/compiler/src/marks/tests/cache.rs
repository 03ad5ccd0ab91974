//! Results that bypass the RFC or the LRF.

use super::*;

#[test]
fn what_is_read_behind_the_deschedule_goes_past_the_rfc() {
    let text = "
        MOV R4, 1
        MOV R5, 2
        IADD R5, PT, R5, 1, !PT
        LD.GLOBAL.B32 R1, [R2]
        IADD R3, PT, R1, R4, !PT
        IADD R3, PT, R3, R5, !PT
        EXIT
    ";
    // The marked instruction itself reads after it is descheduled. The last result is never read.
    expect(text, &["rfc_bypass", "", "last=a rfc_bypass", "last=a", "last=ab deschedule", "last=ab rfc_bypass", ""]);
    let unmarked = |instruction: &mut Instruction| {
        if instruction.is_long_latency() {
            *instruction = Instruction::new(Op::Nop {});
        }
    };
    let early = "
        MOV R4, 1
        IADD R5, PT, R4, 0, !PT
        LD.GLOBAL.B32 R1, [R2]
        IADD R3, PT, R1, R4, !PT
        EXIT
    ";
    assert!(!marked(early)[3].control.bypass.cache);
    assert!(!marked_as_if(text, unmarked)[3].control.bypass.cache);
}

#[test]
fn a_barrier_of_all_is_such_a_point() {
    let all = "
        MOV R4, 1
        BAR.ID0 RZ
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    expect(all, &["rfc_bypass", "", "last=ac", ""]);
    let perhaps = "
        ISETP.LT.AND P1, R0, 0, PT
        MOV R4, 1
        @P1 BAR.ID0 RZ
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    needs_rule(perhaps, without_guards, Wrong::ReadPastCache);
}

#[test]
fn lanes_that_a_guard_leaves_out_read_what_was_written_before() {
    let text = "
        MOV R4, 1
        @P0 MOV R4, 2
        IADD R3, PT, R4, 0, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    needs_rule(text, without_guards, Wrong::ReadPastCache);
}

#[test]
fn guarded_reads_and_loops_count() {
    let guarded = "
        MOV R4, 1
        @P0 IADD R3, PT, R4, 0, !PT
        EXIT
    ";
    needs_rule(guarded, without_guarded, Wrong::ReadPastCache);
    let again = "
        MOV R5, 4
        MOV R4, 1
    loop:
        IADD R3, PT, R4, R3, !PT
        MOV R4, 2
        IADD.SUB R5, PT, R5, 1, PT
        ISETP.GT.AND P1, R5, 0, PT
        @P1 BRA loop, join out
    out:
        EXIT
    ";
    needs_rule(again, without_branches, Wrong::ReadPastCache);
}

#[test]
fn results_of_long_latency_carry_no_bit() {
    let text = "
        LD.GLOBAL.B32 R1, [R2]
        ATOM.GLOBAL.ADD R3, [R2], R0
        EXIT
    ";
    expect(text, &["", "last=ac", ""]);
}

#[test]
fn what_shared_units_read_goes_past_the_lrf() {
    for (reader, bypass) in [
        ("ST.GLOBAL.B32 [R2], R4", true),
        ("ST.SHARED.B32 [RZ], R4", true),
        ("LD.LOCAL.B32 R1, [R4]", true),
        ("LDC.B32 R1, [R4]", true),
        ("MUFU.RCP R1, R4", true),
        ("SHFL.BFLY.CLAMP31.SEGMENT0 R1, PT, R4, 0x1", true),
        ("WARPSYNC R4", true),
        ("IADD R1, PT, R4, 1, !PT", false),
        ("FADD R1, R4, R4", false),
    ] {
        let text = format!("MOV R4, 0\n {reader}\n EXIT").replace("WARPSYNC", "LOP3.LUT255 R4, RZ, RZ, RZ\n WARPSYNC");
        let code = marked(&text);
        let writer = code.iter().rposition(|i| i.destination() == Some(gpurf_isa::Reg(4))).expect("there is one");
        assert_eq!(code[writer].control.bypass.lrf, bypass, "{reader}");
        assert_eq!(judge(&code, Scope::Lanes).0, [], "{reader}");
    }
}

#[test]
fn behind_a_deschedule_the_lrf_is_empty() {
    let text = "
        MOV R4, 1
        IADD R3, PT, R4, 1, !PT
        LD.GLOBAL.B32 R1, [R2]
        IADD R3, PT, R1, R3, !PT
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    assert!(!marked(text)[3].control.bypass.lrf);
    assert_eq!(judge(&marked(text), Scope::Lanes).0, []);
    let no_store = |instruction: &mut Instruction| {
        if let Op::St { .. } = instruction.op {
            *instruction = Instruction::new(Op::Nop {});
        }
    };
    let soon = "
        MOV R4, 1
        IADD R3, PT, R4, 1, !PT
        @P0 MOV R4, 2
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    // Both writes are marked: the lanes that the guard disables store the result of the first one.
    assert!(marked(soon)[3].control.bypass.lrf && marked(soon)[5].control.bypass.lrf);
    needs_rule(soon, no_store, Wrong::SharedReadOfLrf);
    needs_rule(soon, without_guards, Wrong::SharedReadOfLrf);
}

#[test]
fn only_results_of_the_private_datapath_go_past_the_lrf() {
    let text = "
        LDC.B32 R4, [RZ]
        MUFU.RCP R5, R4
        ST.GLOBAL.B32 [R2], R5
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    expect(text, &["", "", "last=c", "last=ac", ""]);
    let mut code = marked(text);
    code[3].control.bypass.lrf = true;
    assert_eq!(judge(&code, Scope::Lanes).0, [Wrong::NotOfTheLrf]);
}

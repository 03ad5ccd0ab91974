//! The field "free register".

use super::*;
use crate::marks::flow::Registers;
use gpurf_isa::Reg;

/// The code with the free registers that result if these registers are live.
fn marked_with(text: &str, live: fn(&[Instruction]) -> Vec<Registers>) -> Vec<Instruction> {
    let mut code = marked(text);
    let live = live(&code);
    frees::mark_dead(&mut code, &live, &FULL);
    code
}

/// The free registers named after [`START`], by number; `-` for none. Asserts that the judge accepts them.
fn named(text: &str) -> String {
    let code = marked(text);
    assert_eq!(judge(&code, Scope::Lanes).0, [], "\n{}", listing(&code));
    let name = |instruction: &Instruction| {
        instruction.control.free_register.map_or("-".into(), |register| register.0.to_string())
    };
    code[3..].iter().map(name).collect::<Vec<String>>().join(" ")
}

/// Whether no instruction after [`START`] names the register.
fn never(text: &str, register: u8) -> bool {
    named(text).split(' ').all(|name| name != register.to_string())
}

#[test]
fn the_first_instruction_names_one_and_its_use_brings_the_next() {
    // The example of IV-C: "Rfree is initialized as an inactive register, e.g., ra, into the first instruction encoding.
    // When ra is used by the following instruction, its encoding will embed another register".
    let text = "
        MOV R1, 1
        IADD R3, PT, R1, R0, !PT
        IADD R1, PT, R3, R0, !PT
        IADD R3, PT, R1, R0, !PT
        ST.GLOBAL.B32 [R2], R3
        ST.GLOBAL.B32 [R2], R0
        EXIT
    ";
    assert_eq!(marked(text)[0].control.free_register, Some(Reg(3)));
    assert_eq!(named(text), "3 1 3 1 3 0 -");
}

#[test]
fn what_the_other_side_waits_to_read_is_not_free() {
    let text = "
        MOV R1, 5
        IADD R3, PT, R1, 1, !PT
        @P0 BRA taken, join meet
        IADD R3, PT, R1, R3, !PT
        MOV R1, 7
        IADD R3, PT, R1, R3, !PT
        BRA meet, join none
    taken:
        IADD R3, PT, R1, R3, !PT
    meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(named(text), "3 0 0 0 0 0 0 1 2 -");
    // The lanes that fall through read R1 for the last time, and then write it. In their own order R1 is free between; for the warp it is not.
    let lanes = marked_with(text, liveness::of_lane);
    assert_eq!(lanes[6].control.free_register, Some(Reg(1)), "\n{}", listing(&lanes));
    assert_eq!(judge(&lanes, Scope::Lanes).0, [Wrong::ReadOfFree]);
    needs_rule(text, without_branches, Wrong::ReadOfFree);
}

#[test]
fn lanes_that_have_left_a_loop_keep_what_they_read_behind_it() {
    let lanes = marked_with(LEFT_LOOP, liveness::of_lane);
    assert_eq!(judge(&lanes, Scope::Lanes).0, [Wrong::ReadOfFree]);
    assert!(never(LEFT_LOOP, 1));
}

#[test]
fn a_guarded_write_leaves_the_old_value_to_others() {
    let text = "
        MOV R1, 7
        IADD R3, PT, R1, 1, !PT
        @P0 MOV R1, 9
        IADD R3, PT, R1, R3, !PT
        ST.GLOBAL.B32 [R2], R3
        ST.GLOBAL.B32 [R2], R0
        EXIT
    ";
    assert_eq!(named(text), "3 - - 1 3 0 -");
    needs_rule(text, without_guards, Wrong::ReadOfFree);
}

#[test]
fn a_guarded_read_is_a_read() {
    let text = "
        MOV R1, 7
        IADD R3, PT, R1, 1, !PT
        IADD R3, PT, R0, R3, !PT
        @P0 IADD R3, PT, R1, R3, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    needs_rule(text, without_guarded, Wrong::ReadOfFree);
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
    needs_rule(text, without_branches, Wrong::ReadOfFree);
}

#[test]
fn a_register_whose_result_was_not_read_may_be_on_its_way() {
    let text = "
        ISETP.LT.AND P1, R0, 0, PT
        IADD R3, PT, R0, 1, !PT
        LD.GLOBAL.B32 R1, [R2]
        @P1 IADD R3, PT, R1, R3, !PT
        IADD R3, PT, R3, 1, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    // The guarded read of R3 does not count: the guard may be false in all lanes.
    assert_eq!(named(text), "3 0 0 0 0 3 -");
    needs_rule(text, without_guards, Wrong::FreeOnItsWay);
}

/// Asserts that R1 is not named where the warp, but no single lane, may come directly from the load. P1 is true, so no instruction reads the load's
/// result.
fn leaves_load_on_its_way(text: &str, want: &str) {
    assert_eq!(named(text), want);
    let without_load = |instruction: &mut Instruction| {
        if instruction.is_long_latency() && instruction.destination().is_some() {
            *instruction = Instruction::new(Op::Nop {});
        }
    };
    needs_rule(text, without_load, Wrong::FreeOnItsWay);
}

#[test]
fn the_side_that_runs_first_leaves_results_on_their_way() {
    let text = "
        ISETP.LT.AND P1, R0, 64, PT
        @P0 BRA taken, join meet
        LD.GLOBAL.B32 R1, [R2]
        @P1 BRA past, join past
        ST.GLOBAL.B32 [R2], R1
    past:
        BRA meet, join none
    taken:
        IADD R3, PT, R0, 2, !PT
    meet:
        ST.GLOBAL.B32 [R2], R3
        ST.GLOBAL.B32 [R2], R0
        EXIT
    ";
    leaves_load_on_its_way(text, "1 1 - - 1 - - 3 0 -");
    leaves_load_on_its_way(&text.replace("BRA meet, join none", "EXIT"), "3 1 - - 1 - - 3 0 -");
}

#[test]
fn the_side_that_ends_leaves_results_on_their_way() {
    let text = "
        ISETP.LT.AND P1, R0, 64, PT
        @P0 BRA taken, join meet
        IADD R3, PT, R0, 2, !PT
        BRA meet, join none
    taken:
        LD.GLOBAL.B32 R1, [R2]
        @P1 BRA past, join past
        ST.GLOBAL.B32 [R2], R1
    past:
        EXIT
    meet:
        ST.GLOBAL.B32 [R2], R3
        ST.GLOBAL.B32 [R2], R0
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    leaves_load_on_its_way(text, "3 1 1 1 - - 1 - - 0 3 -");
}

#[test]
fn an_exit_names_none_and_neither_does_code_without_registers() {
    assert_eq!(named("MOV R1, 1\n @P0 EXIT\n IADD R3, PT, R1, R0, !PT\n EXIT"), "3 - 0 -");
    let mut code = assemble("NOP\n EXIT").unwrap();
    run(&mut code);
    assert!(code.iter().all(|instruction| instruction.control.free_register.is_none()));
}

/// The registers that instructions name if all numbers of banks are possible.
fn named_for_all(text: &str) -> Vec<usize> {
    let mut code = code(text);
    run(&mut code);
    assert_eq!(judge(&code, Scope::Lanes).0, [], "\n{}", listing(&code));
    code.iter().filter_map(|instruction| instruction.control.free_register).map(Reg::index).collect()
}

#[test]
fn registers_up_to_which_the_allocation_rounds_are_free_for_good() {
    // Five registers are needed to the end. After them, files of two to eight banks have registers 5 to 7, and larger files have more.
    let uses: String = (0..5).map(|r| format!("ST.GLOBAL.B32 [R2], R{r}\n")).collect();
    let names = named_for_all(&format!("MOV R4, 1\n{}{uses}EXIT", "NOP\n".repeat(96)));
    let last = &names[names.len() - 64 - 5..names.len() - 5];
    assert!(last.iter().all(|name| (5..32).contains(name)), "{last:?}");
    for name in 5..8 {
        assert!(last.contains(&name), "{last:?} without {name}");
    }
    // RZ is not a register, although its number completes a row: if all 255 registers are needed, none can be named.
    let uses: String = (0..255).map(|r| format!("ST.GLOBAL.B32 [R2], R{r}\n")).collect();
    let mut code = code(&format!("NOP\n{uses}EXIT"));
    run(&mut code);
    let nop = code.iter().find(|instruction| instruction.op == Op::Nop {}).unwrap();
    assert_eq!(nop.control.free_register, None);
}

#[test]
fn all_banks_of_a_file_have_news() {
    // 32 registers, none of which is needed any more except the address: two rounds reach all banks, whatever the file.
    let dead: String = (3..32).map(|r| format!("MOV R{r}, {r}\n ST.GLOBAL.B32 [R2], R{r}\n")).collect();
    let text = format!("{dead}{}EXIT", "NOP\n".repeat(64));
    let names = named_for_all(&text);
    let last = &names[names.len() - 64..];
    for banks in [2, 4, 8, 16, 32] {
        for window in last.chunks(2 * banks) {
            let mut told: Vec<usize> = window.iter().map(|name| name % banks).collect();
            told.sort();
            told.dedup();
            assert_eq!(told.len(), banks, "{last:?}");
        }
    }
}

//! Power states with ORF and LRF above the main register file: only accesses of the main register file's words count.

use super::power::lost_in;
use super::random::program;
use super::*;
use crate::hierarchy::{HierarchyOptions, run as distribute};
use crate::marks::power::{self, MOST};
use gpurf_isa::{LastResultFile, Places, Reg, SourceLevel};
use gpurf_oracle::power::{PowerCounts, PowerJudge};

const ORF: Places = Places { entries: 3, lrf: LastResultFile::None };
const SPLIT: Places = Places { entries: 3, lrf: LastResultFile::Split };

/// Code after [`START`] with levels in the text, and the power states for a threshold on a machine with these places.
fn powered(text: &str, threshold: u8, places: Places) -> Vec<Instruction> {
    let mut code = code(text);
    power::mark(&mut code, threshold, places);
    code
}

/// The power states after [`START`], as text. Asserts that no value is lost.
fn shown(text: &str, threshold: u8, places: Places) -> Vec<String> {
    let code = powered(text, threshold, places);
    assert_eq!(lost_in(&code, places), [], "\n{}", listing(&code));
    let power = |instruction: &Instruction| {
        let Control { source_power, result_power, .. } = instruction.control;
        Control { source_power, result_power, ..Control::default() }.to_string()
    };
    code[3..].iter().map(power).collect()
}

/// R1 goes to both levels, is read in the ORF, and a strand later in the main register file.
const BOTH: &str = "
    MOV R1, 5 {d=MRF+ORF0}
    IADD R3, PT, R1, 1, !PT {a=ORF0}
    NOP {strand_end}
    IADD R3, PT, R1, R3, !PT
    ST.GLOBAL.B32 [R2], R3
    EXIT
";

#[test]
fn reads_above_are_no_accesses() {
    // With the main register file alone, R1 is read by the next instruction; with an ORF, the main register file is read three instructions later.
    assert_eq!(shown(BOTH, 1, Places::NONE)[..2], ["", "power=SLEEP,ON,SLEEP"]);
    assert_eq!(shown(BOTH, 1, ORF)[..2], ["power=ON,ON,SLEEP", "power=ON,ON,SLEEP"]);
    assert_eq!(shown(BOTH, 3, ORF)[..2], ["", ""]);
    assert_eq!(shown(BOTH, 2, ORF)[0], "power=ON,ON,SLEEP");
}

#[test]
fn the_last_read_of_the_word_switches_it_off_though_the_orf_serves_more() {
    let text = "
        MOV R1, 5
        NOP
        IADD R3, PT, R1, 1, !PT {a=MRF>ORF0}
        IADD R3, PT, R1, R3, !PT {a=ORF0}
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(shown(text, 1, ORF)[2..4], ["power=OFF,ON,ON", ""]);
    assert_eq!(shown(text, 1, Places::NONE)[2..4], ["", "power=OFF,ON,ON"]);
    // On a machine without the entry, the states made for the first machine lose a value.
    assert_eq!(lost_in(&powered(text, 1, ORF), Places::NONE), [Reg(1)]);
}

#[test]
fn a_result_above_needs_no_word_and_replaces_none() {
    let text = "
        MOV R1, 5
        IADD R3, PT, R1, 1, !PT
        MOV R1, 6 {d=ORF0}
        IADD R3, PT, R1, R3, !PT {a=ORF0}
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(shown(text, 1, ORF)[..3], ["", "power=OFF,ON,SLEEP", ""]);
    // A guarded result: the lanes that the guard disables have their old value only in the main register file.
    let guarded = "
        MOV R1, 5
        IADD R3, PT, R1, 1, !PT
        @P0 MOV R1, 6 {d=ORF0}
        @P0 IADD R3, PT, R1, R3, !PT {a=ORF0}
        @!P0 IADD R3, PT, R1, R3, !PT
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(shown(guarded, 1, ORF)[..3], ["", "power=SLEEP,ON,SLEEP", ""]);
}

#[test]
fn fields_are_those_of_slots_wherever_they_are_read() {
    let text = "
        MOV R1, 5
        MOV R4, 6 {d=ORF1}
        NOP
        LOP3.LUT150 R3, R4, R1, R0 {a=ORF1}
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    // The second field is R1's, and R0, the third source, sleeps.
    assert_eq!(shown(text, 1, ORF)[3], "power=ON,OFF,ON");
    let code = powered(text, 1, ORF);
    let states: Vec<_> = code[6].power_states(ORF).map(|(register, state)| (register.0, state.to_string())).collect();
    assert_eq!(states, [(3, "ON".to_owned()), (1, "OFF".into()), (0, "SLEEP".into())]);
}

#[test]
fn the_other_side_of_a_branch_keeps_the_word() {
    let text = "
        MOV R1, 5 {d=MRF+ORF0}
        @P0 BRA taken, join meet
        IADD R3, PT, R1, 1, !PT
        NOP
        BRA meet, join none
    taken:
        IADD R3, PT, R1, 2, !PT
    meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    assert_eq!(shown(text, 1, ORF)[2], "power=SLEEP,ON,SLEEP");
    // If that side reads the ORF, the word is not needed.
    let above = text.replace("R1, 2, !PT", "R1, 2, !PT {a=ORF0}");
    assert_eq!(shown(&above, 1, ORF)[2], "power=OFF,ON,SLEEP");
}

/// Random code with the compiler's levels, and with the power states that are made for the code changed by `change`.
fn distributed(seed: u64, change: fn(&mut Instruction), threshold: u8) -> Vec<Instruction> {
    let mut code = code(&program(seed));
    run(&mut code);
    let options = HierarchyOptions { orf_entries: SPLIT.entries, lrf: SPLIT.lrf, ..HierarchyOptions::NONE };
    distribute(&mut code, &options).expect("there are levels");
    let mut other = code.clone();
    other.iter_mut().for_each(change);
    power::mark(&mut other, threshold, SPLIT);
    for (instruction, other) in code.iter_mut().zip(other) {
        instruction.control.source_power = other.control.source_power;
        instruction.control.result_power = other.control.result_power;
    }
    code
}

/// Treats reads that copy to the ORF as reads of the ORF.
fn copies_above(instruction: &mut Instruction) {
    for level in &mut instruction.control.source_levels {
        if let SourceLevel::MrfCopied(entry) = *level {
            *level = SourceLevel::Upper(gpurf_isa::Upper::Orf(entry));
        }
    }
}

#[test]
fn states_of_random_code_lose_nothing() {
    let [mut with, mut without] = [PowerCounts::default(); 2];
    let mut seen = [0; 2];
    for seed in 0..200 {
        for threshold in [1, 3, MOST] {
            let right = distributed(seed, |_| (), threshold);
            let (faults, counts) = execute(&right, PowerJudge::above(16, SPLIT)).finish();
            assert_eq!(faults, [], "seed {seed}, threshold {threshold}\n{}", listing(&right));
            with += counts;
            let mut plain = right.clone();
            power::mark(&mut plain, threshold, Places::NONE);
            without += execute(&plain, PowerJudge::new(16)).finish().1;
        }
        seen[0] += u32::from(!lost_in(&distributed(seed, copies_above, 1), SPLIT).is_empty());
        seen[1] += u32::from(!lost_in(&distributed(seed, without_guards, 1), SPLIT).is_empty());
    }
    assert!(seen.iter().all(|&n| n > 10), "{seen:?}");
    let [on, plain] = [with, without].map(|counts| counts.registers.on);
    assert!(with.left.off > 1000 && with.left.sleep > 1000 && on < plain, "{on} {plain} {with:?}");
}

//! The judge of power states: hand-made states, right and wrong ones, and what it counts.

mod common;

use common::Setup;
use gpurf_isa::{LastResultFile, Places};
use gpurf_oracle::power::{ByState, PowerCounts, PowerJudge};

/// The faults and counts of a program of one warp with four registers.
fn judge(code: &str) -> (Vec<String>, PowerCounts) {
    judge_above(code, Places::NONE)
}

/// The same on a machine with these places above the main register file.
fn judge_above(code: &str, places: Places) -> (Vec<String>, PowerCounts) {
    let setup = Setup::new(&format!("{code}\n EXIT")).shared(64);
    let ((faults, counts), _) = setup.with(|oracle, launch, memory| {
        let mut judge = PowerJudge::above(4, places);
        oracle.run_observed(launch, memory, &mut judge).unwrap();
        judge.finish()
    });
    (faults.iter().map(ToString::to_string).collect(), counts)
}

/// The faults, without block and warp.
fn faults(code: &str) -> Vec<String> {
    let short = |fault: String| fault.strip_prefix("block 0, warp 0, ").expect("it is the only warp").to_owned();
    judge(code).0.into_iter().map(short).collect()
}

/// Lanes 0 to 15 have P0.
const HALVES: &str = "S2R.TID.X R0\n ISETP.LT.AND P0, R0, 16, PT\n MOV R1, 5";

#[test]
fn a_value_is_lost_with_the_power() {
    let wrong = "instruction 2, lanes ffffffff: R1, which instruction 1 switched off";
    let read = "IADD R2, PT, R1, 1, !PT";
    let off = "IADD R2, PT, R1, 1, !PT {power=OFF,ON,ON}";
    assert_eq!(faults(&format!("MOV R1, 5\n {off}\n {read}")), [wrong]);
    assert_eq!(faults(&format!("MOV R1, 5\n {read} {{power=SLEEP,ON,SLEEP}}\n {read}")), Vec::<String>::new());
    assert_eq!(faults(&format!("MOV R1, 5\n {off}\n MOV R1, 6\n {read}")), Vec::<String>::new());
    // A result, and the value that an instruction writes to its own source.
    assert_eq!(faults(&format!("MOV R3, 5\n MOV R1, 5 {{power=ON,ON,OFF}}\n {read}")), [wrong]);
    assert_eq!(faults(&format!("MOV R1, 5\n IADD R1, PT, R1, 1, !PT {{power=OFF,ON,OFF}}\n {read}")), [wrong]);
}

#[test]
fn waking_does_not_bring_a_value_back() {
    // Half of the lanes write the register, which is ON from then on; the others read what was lost.
    let code = "
        IADD R2, PT, R1, 1, !PT {power=OFF,ON,ON}
        @P0 MOV R1, 6
        @P0 IADD R2, PT, R1, 1, !PT
        @!P0 IADD R2, PT, R1, 1, !PT
    ";
    assert_eq!(
        faults(&format!("{HALVES}\n {code}")),
        ["instruction 6, lanes ffff0000: R1, which instruction 3 switched off"]
    );
}

#[test]
fn all_lanes_of_the_warp_lose_their_values() {
    // The lanes that fall through switch the register off; those that wait at the target read it.
    let code = "
        @P0 BRA 6, join 7
        IADD R2, PT, R1, 1, !PT {power=OFF,ON,ON}
        BRA 7, join none
        IADD R2, PT, R1, 1, !PT
        NOP
    ";
    assert_eq!(
        faults(&format!("{HALVES}\n {code}")),
        ["instruction 6, lanes 0000ffff: R1, which instruction 4 switched off"]
    );
}

#[test]
fn states_of_an_instruction_without_lanes_have_to_be_right_too() {
    assert_eq!(faults("MOV R1, 5\n @!PT MOV R2, R1 {power=OFF,ON,ON}\n MOV R2, R1").len(), 1);
}

#[test]
fn what_nothing_has_written_is_not_lost() {
    assert_eq!(faults("MOV R2, R1"), Vec::<String>::new());
}

#[test]
fn only_accesses_of_the_main_register_file_count_below_levels() {
    let above = Places { entries: 2, lrf: LastResultFile::Unified };
    let lost = |code: &str| judge_above(code, above).0.len();
    let off = "MOV R1, 5 {d=MRF+ORF0 power=ON,ON,OFF}";
    let read = |level: &str| format!("IADD R2, PT, R1, 1, !PT {{a={level}}}");
    for (level, faults) in [("ORF0", 0), ("LRF0", 0), ("MRF", 1), ("MRF>ORF1", 1), ("ORF2", 1), ("LRF1", 1)] {
        assert_eq!(lost(&format!("{off}\n {}", read(level))), faults, "{level}");
    }
    // A result that is only written above stores no value in the word; one for both levels does.
    assert_eq!(lost(&format!("{off}\n MOV R1, 6 {{d=ORF0}}\n {}", read("MRF"))), 1);
    assert_eq!(lost(&format!("{off}\n MOV R1, 6 {{d=MRF+LRF0}}\n {}", read("MRF"))), 0);
    assert_eq!(lost(&format!("{off}\n MOV R1, 6 {{d=ORF3}}\n {}", read("MRF"))), 0, "there is no such entry");
    // A result that is only written above wakes nothing, and its field is ignored.
    let (_, counts) = judge_above(&format!("MOV R1, 5 {{d=ORF0 power=ON,ON,OFF}}\n {}", read("ORF0")), above);
    assert_eq!((counts.found.total(), counts.left.total()), (1, 1), "R2 alone");
}

#[test]
fn accesses_and_states_are_counted() {
    let code = "
        MOV R1, 5 {power=ON,ON,SLEEP}
        IADD R2, PT, R1, R1, !PT {power=OFF,OFF,ON}
        @!PT MOV R2, R1 {power=OFF,ON,OFF}
        MOV R2, 7 {power=ON,ON,SLEEP}
    ";
    let by = |on, sleep, off| ByState { on, sleep, off };
    let (faults, counts) = judge(code);
    assert_eq!(faults, Vec::<String>::new());
    let want = PowerCounts {
        instructions: 5,
        // R1 asleep, R1 off and R2 on, nothing by the instruction without lanes, R2 asleep.
        left: by(1, 2, 1),
        // R1 off, R1 asleep and R2 off, R2 on.
        found: by(1, 1, 2),
        // R0 to R3 after each of the five: only R1 sleeps, only R2 is on (twice), only R2 sleeps (twice).
        registers: by(2, 3, 15),
    };
    assert_eq!(counts, want);
    assert_eq!(counts.registers.total(), 4 * counts.instructions);
}

#[test]
fn each_block_begins_anew() {
    let mut setup = Setup::new("MOV R3, R1\n MOV R1, 5 {power=ON,ON,OFF}\n EXIT");
    setup.grid = [2, 1, 1];
    let judge = setup.with(|oracle, launch, memory| {
        let mut judge = PowerJudge::new(4);
        oracle.run_observed(launch, memory, &mut judge).unwrap();
        judge
    });
    let (faults, counts) = judge.0.finish();
    assert_eq!(faults, []);
    assert_eq!((counts.found.on, counts.found.off), (2, 4));
}

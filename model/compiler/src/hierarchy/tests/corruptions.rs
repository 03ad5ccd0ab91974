//! Wrong allocations of different kinds: the checker refuses each of them, and the oracle's judge reports faults when they run.

use super::*;
use crate::hierarchy::check::Wrong;
use crate::marks::tests::random::program;
use gpurf_isa::{LrfBank, OrfEntry, ResultLevel, Slot, SourceLevel, Upper};
use gpurf_oracle::levels::WrongLevel;

fn entry(number: u8) -> OrfEntry {
    OrfEntry::new(number).expect("there is one")
}

fn bank(number: u8) -> Upper {
    Upper::Lrf(LrfBank::new(number).expect("there is one"))
}

/// Correct code, and a change that makes it wrong.
struct Corruption<'a> {
    /// The fault that the change causes.
    kind: &'a str,
    lrf: LastResultFile,
    /// The correct code, with levels and marks.
    code: &'a str,
    /// The first text is replaced by the second one, wherever it occurs.
    replace: (&'a str, &'a str),
    /// Whether the checker's error is the expected one.
    checker: fn(Wrong) -> bool,
    /// Whether the judge's fault is the expected one.
    judge: fn(WrongLevel) -> bool,
}

/// A value in the ORF that is needed after the strand.
const KEPT: &str = "
    MOV R4, 1 {d=MRF+ORF0}
    MOV R5, 2 {d=ORF1}
    IADD R6, PT, R4, R5, !PT {a=ORF0 b=ORF1 d=ORF2}
    IADD R7, PT, R6, 1, !PT {a=ORF2}
    NOP {strand_end}
    ST.GLOBAL.B32 [R2], R4
    EXIT
";

/// A result of long latency.
const LOADED: &str = "
    MOV R4, 1 {d=MRF+ORF0}
    LD.GLOBAL.B32 R5, [R2]
    IADD R6, PT, R4, 1, !PT {a=ORF0 strand_end}
    IADD R7, PT, R5, R4, !PT {deschedule}
    EXIT
";

/// A loop.
const LOOP: &str = "
    MOV R4, 2
    MOV R5, 1 {d=MRF+ORF0}
    IADD R6, PT, R5, 1, !PT {a=ORF0 strand_end}
    loop:
    IADD R7, PT, R5, 1, !PT
    IADD.SUB R4, PT, R4, 1, PT {d=MRF+ORF1}
    ISETP.NE.AND P1, R4, 0, PT {a=ORF1}
    @P1 BRA loop, join out {strand_end}
    out:
    EXIT
";

/// A register from outside of the strand, copied to the ORF.
const COPIED: &str = "
    NOP {strand_end}
    IADD R4, PT, R0, 1, !PT {a=MRF>ORF0}
    IADD R5, PT, R0, 2, !PT {a=ORF0}
    IADD R6, PT, R2, R5, !PT
    EXIT
";

/// A value that both sides of a branch write.
const SIDES: &str = "
    MOV R5, 7 {d=ORF1}
    @P0 BRA other, join meet
    MOV R4, 1 {d=ORF0}
    BRA meet, join none
    other:
    MOV R4, 2 {d=ORF0}
    meet:
    IADD R6, PT, R4, R5, !PT {a=ORF0 b=ORF1}
    EXIT
";

/// A branch on one side of which the warp is descheduled.
const WAITING: &str = "
    LD.GLOBAL.B32 R3, [R2]
    MOV R5, 7 {d=ORF1}
    IADD R6, PT, R5, 1, !PT {a=ORF1}
    @P0 BRA other, join meet {strand_end}
    MOV R4, 1 {d=MRF+ORF0}
    IADD R7, PT, R4, 1, !PT {a=ORF0}
    BRA meet, join none {strand_end}
    other:
    IADD R4, PT, R3, 1, !PT {deschedule strand_end}
    meet:
    IADD R6, PT, R4, 1, !PT
    EXIT
";

/// Values of the private datapath.
const LAST: &str = "
    MOV R4, 1 {d=MRF+LRF0}
    IADD R5, PT, R4, 1, !PT {a=LRF0 d=LRF0}
    IADD R6, PT, R5, 1, !PT {a=LRF0}
    ST.GLOBAL.B32 [R2], R4
    MUFU.RCP R7, R4 {d=ORF0}
    IADD R6, PT, R7, R7, !PT {a=ORF0 b=ORF0}
    EXIT
";

/// Values in a split LRF.
const SPLIT: &str = "
    MOV R4, 1 {d=LRF0}
    MOV R5, 2 {d=LRF1}
    IADD R6, PT, R4, R5, !PT {a=LRF0 b=LRF1}
    EXIT
";

/// A barrier.
const BARRIER: &str = "
    MOV R4, 1 {d=MRF+ORF0}
    IADD R5, PT, R4, 1, !PT {a=ORF0}
    BAR.ID0 RZ {strand_end}
    IADD R6, PT, R4, 1, !PT
    EXIT
";

const NONE: LastResultFile = LastResultFile::None;
const UNIFIED: LastResultFile = LastResultFile::Unified;

const CORRUPTIONS: &[Corruption<'static>] = &[
    Corruption {
        kind: "a source is read in another entry",
        lrf: NONE,
        code: KEPT,
        replace: ("b=ORF1", "b=ORF0"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "a result goes to another entry",
        lrf: NONE,
        code: KEPT,
        replace: ("d=ORF2", "d=ORF1"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a result goes to the entry of a value that is still read",
        lrf: NONE,
        code: KEPT,
        replace: ("MOV R5, 2 {d=ORF1}", "MOV R5, 2 {d=MRF+ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "a result does not go to the ORF",
        lrf: NONE,
        code: KEPT,
        replace: (" {d=MRF+ORF0}", ""),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a result that is needed later does not go to the MRF",
        lrf: NONE,
        code: KEPT,
        replace: ("d=MRF+ORF0", "d=ORF0"),
        checker: |wrong| matches!(wrong, Wrong::NotInMrf(_)),
        judge: |wrong| wrong == WrongLevel::Stale,
    },
    Corruption {
        kind: "a value that is in the ORF only is read in the MRF",
        lrf: NONE,
        code: KEPT,
        replace: (" b=ORF1", ""),
        checker: |wrong| matches!(wrong, Wrong::NotInMrf(_)),
        judge: |wrong| wrong == WrongLevel::Stale,
    },
    Corruption {
        kind: "a strand ends too early",
        lrf: NONE,
        code: KEPT,
        replace: ("MOV R5, 2 {d=ORF1}", "MOV R5, 2 {d=ORF1 strand_end}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a value is read in the ORF behind its strand",
        lrf: NONE,
        code: KEPT,
        replace: ("[R2], R4", "[R2], R4 {c=ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "an entry that the machine does not have",
        lrf: NONE,
        code: KEPT,
        replace: ("ORF2", "ORF3"),
        checker: |wrong| matches!(wrong, Wrong::NoSuchLevel(_)),
        judge: |wrong| matches!(wrong, WrongLevel::NoSuchLevel(_)),
    },
    Corruption {
        kind: "a bank that the machine does not have",
        lrf: NONE,
        code: KEPT,
        replace: ("ORF2", "LRF0"),
        checker: |wrong| matches!(wrong, Wrong::NoSuchLevel(_)),
        judge: |wrong| matches!(wrong, WrongLevel::NoSuchLevel(_)),
    },
    Corruption {
        kind: "a guard on a write that others rely on",
        lrf: NONE,
        code: KEPT,
        replace: ("MOV R5, 2", "@P0 MOV R5, 2"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a write behind which the entry has an old value",
        lrf: NONE,
        code: KEPT,
        replace: ("MOV R5, 2 {d=ORF1}", "MOV R5, 2 {d=ORF1}\n MOV R5, 3"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "a deschedule in the middle of a strand",
        lrf: NONE,
        code: LOADED,
        replace: ("{a=ORF0 strand_end}", "{a=ORF0}"),
        checker: |wrong| wrong == Wrong::DescheduledInStrand,
        judge: |wrong| wrong == WrongLevel::DescheduledInStrand,
    },
    Corruption {
        kind: "a value across a deschedule",
        lrf: NONE,
        code: LOADED,
        replace: ("R5, R4, !PT {deschedule}", "R5, R4, !PT {deschedule b=ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a result of long latency in the ORF",
        lrf: NONE,
        code: LOADED,
        replace: ("R5, [R2]", "R5, [R2] {d=MRF+ORF1}"),
        checker: |wrong| matches!(wrong, Wrong::LongLatencyAbove(_)),
        judge: |wrong| matches!(wrong, WrongLevel::LongLatency(_)),
    },
    Corruption {
        kind: "a backward branch in the middle of a strand",
        lrf: NONE,
        code: LOOP,
        replace: ("join out {strand_end}", "join out"),
        checker: |wrong| wrong == Wrong::OpenBackwardBranch,
        judge: |wrong| wrong == WrongLevel::OpenStrand,
    },
    Corruption {
        kind: "a loop that begins in the middle of a strand, and reads its value in the second round",
        lrf: NONE,
        code: LOOP,
        replace: (
            "{a=ORF0 strand_end}\n    loop:\n    IADD R7, PT, R5, 1, !PT",
            "{a=ORF0}\n    loop:\n    IADD R7, PT, R5, 1, !PT {a=ORF0}",
        ),
        checker: |wrong| wrong == Wrong::OpenLoop,
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a value of the round before",
        lrf: NONE,
        code: LOOP,
        replace: ("R4, 1, PT {d=MRF+ORF1}", "R4, 1, PT {a=ORF1 d=MRF+ORF1}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a copy that is not made",
        lrf: NONE,
        code: COPIED,
        replace: (" {a=MRF>ORF0}", ""),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a copy that some lanes do not make",
        lrf: NONE,
        code: COPIED,
        replace: ("IADD R4, PT, R0, 1", "@P0 IADD R4, PT, R0, 1"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a copy of another register",
        lrf: NONE,
        code: COPIED,
        replace: ("R0, 1, !PT {a", "R2, 1, !PT {a"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "a copy to the entry of the result",
        lrf: NONE,
        code: COPIED,
        replace: ("{a=MRF>ORF0}", "{a=MRF>ORF0 d=MRF+ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::CopyCollides(_)),
        judge: |wrong| matches!(wrong, WrongLevel::CopyCollides(_)),
    },
    Corruption {
        kind: "two registers copied to one entry",
        lrf: NONE,
        code: COPIED,
        replace: ("R2, R5, !PT", "R2, R5, !PT {a=MRF>ORF1 b=MRF>ORF1}"),
        checker: |wrong| matches!(wrong, Wrong::CopyCollides(_)),
        judge: |wrong| matches!(wrong, WrongLevel::CopyCollides(_)),
    },
    Corruption {
        kind: "a side that writes another entry",
        lrf: NONE,
        code: SIDES,
        replace: ("R4, 2 {d=ORF0}", "R4, 2 {d=ORF2}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a side that writes the MRF only",
        lrf: NONE,
        code: SIDES,
        replace: ("R4, 1 {d=ORF0}", "R4, 1"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a side that takes another value's entry",
        lrf: NONE,
        code: SIDES,
        replace: ("R4, 2 {d=ORF0}", "R4, 2 {d=ORF0}\n MOV R7, 3 {d=MRF+ORF1}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "a strand end on the side that runs first, while the other lanes wait at the target",
        lrf: NONE,
        code: SIDES,
        replace: (
            "MOV R4, 1 {d=ORF0}\n    BRA meet, join none\n    other:\n    MOV R4, 2 {d=ORF0}",
            "NOP {strand_end}\n MOV R4, 1 {d=ORF0}\n BRA meet, join none\n other:\n IADD R4, PT, R5, 2, !PT {a=ORF1 d=ORF0}",
        ),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a strand end on the side that runs second, while the other lanes wait where they meet",
        lrf: NONE,
        code: SIDES,
        replace: ("other:\n", "other:\n NOP {strand_end}\n"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a deschedule on one side",
        lrf: NONE,
        code: SIDES,
        replace: ("R4, 2 {d=ORF0}", "R4, 2 {d=ORF0 deschedule}"),
        checker: |wrong| wrong == Wrong::DescheduledInStrand,
        judge: |wrong| matches!(wrong, WrongLevel::DescheduledInStrand | WrongLevel::Void(_)),
    },
    Corruption {
        kind: "a side that runs first and leaves its values behind when the other one is descheduled",
        lrf: NONE,
        code: WAITING,
        replace: ("BRA meet, join none {strand_end}", "BRA meet, join none"),
        checker: |wrong| wrong == Wrong::OpenMeeting,
        judge: |wrong| wrong == WrongLevel::DescheduledInStrand,
    },
    Corruption {
        kind: "a shared unit that reads the LRF",
        lrf: UNIFIED,
        code: LAST,
        replace: (
            "R5, PT, R4, 1, !PT {a=LRF0 d=LRF0}\n    IADD R6, PT, R5, 1, !PT {a=LRF0}\n    ST.GLOBAL.B32 [R2], R4",
            "R5, PT, R4, 1, !PT {a=LRF0}\n ST.GLOBAL.B32 [R2], R4 {c=LRF0}",
        ),
        checker: |wrong| matches!(wrong, Wrong::SharedReadOfLrf(_)),
        judge: |wrong| matches!(wrong, WrongLevel::SharedUnit(_)),
    },
    Corruption {
        kind: "a shared unit that writes the LRF",
        lrf: UNIFIED,
        code: LAST,
        replace: ("MUFU.RCP R7, R4 {d=ORF0}", "MUFU.RCP R7, R4 {d=MRF+LRF0}"),
        checker: |wrong| matches!(wrong, Wrong::SharedResultInLrf(_)),
        judge: |wrong| matches!(wrong, WrongLevel::SharedUnit(_)),
    },
    Corruption {
        kind: "the one entry of the LRF taken by another value",
        lrf: UNIFIED,
        code: LAST,
        replace: ("R4, 1 {d=MRF+LRF0}", "R4, 1 {d=MRF+LRF0}\n MOV R8, 1 {d=MRF+LRF0}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Another(_)),
    },
    Corruption {
        kind: "two levels for one register",
        lrf: UNIFIED,
        code: LAST,
        replace: ("{a=ORF0 b=ORF0}", "{a=ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::SlotsDisagree(_)),
        judge: |wrong| wrong == WrongLevel::SlotsDisagree,
    },
    Corruption {
        kind: "the bank of another slot",
        lrf: LastResultFile::Split,
        code: SPLIT,
        replace: ("LRF1", "LRF2"),
        checker: |wrong| matches!(wrong, Wrong::WrongBank(_)),
        judge: |wrong| matches!(wrong, WrongLevel::WrongBank(_)),
    },
    Corruption {
        kind: "a barrier in the middle of a strand",
        lrf: NONE,
        code: BARRIER,
        replace: ("RZ {strand_end}", "RZ"),
        checker: |wrong| wrong == Wrong::OpenBarrier,
        judge: |wrong| wrong == WrongLevel::OpenStrand,
    },
    Corruption {
        kind: "a value across a barrier",
        lrf: NONE,
        code: BARRIER,
        replace: ("R6, PT, R4, 1, !PT", "R6, PT, R4, 1, !PT {a=ORF0}"),
        checker: |wrong| matches!(wrong, Wrong::NotThere(..)),
        judge: |wrong| matches!(wrong, WrongLevel::Void(_)),
    },
];

#[test]
fn every_kind_is_refused_and_seen() {
    for Corruption { kind, lrf, code, replace, checker, judge: seen } in CORRUPTIONS {
        let options = with_lrf(3, *lrf);
        let assembled =
            |text: &str| assemble(&format!("{START}{text}")).unwrap_or_else(|error| panic!("{kind}: {error:?}"));
        accept(&assembled(code), &options);
        let text = code.replace(replace.0, replace.1);
        assert_ne!(text, *code, "{kind}");
        let corrupted = assembled(&text);
        let error = check(&corrupted, &options).expect_err(kind);
        assert!(checker(error.wrong), "{kind}: {error}");
        let (faults, _) = judge(&corrupted, &options);
        assert!(faults.iter().any(|fault| seen(fault.wrong)), "{kind}: {faults:?}");
    }
}

#[test]
fn encodings_without_a_pair_of_levels() {
    let assembled = assemble(&format!("{START}{KEPT}")).expect("it is code");
    for encoding in [Encoding::SingleLevel, Encoding::LrfMrfOnly] {
        let error = check(&assembled, &HierarchyOptions { encoding, ..orf(3) }).expect_err("two levels");
        assert!(matches!(error.wrong, Wrong::TwoLevels(_)), "{error}");
        assert_eq!(
            error.to_string(),
            "instruction 3, `MOV R4, 0x1 {d=MRF+ORF0}`: the encoding has no result that goes to the MRF and ORF0"
        );
    }
}

/// Changes one field of an instruction. Returns whether anything changed.
fn change(instruction: &mut Instruction, how: usize) -> bool {
    let before = *instruction;
    let control = &mut instruction.control;
    let slot = Slot::ALL[how % 3];
    let read = before.source(slot).is_some();
    match how / 3 % 8 {
        0 => control.strand_end = !control.strand_end,
        1 if read => control.source_levels[slot.index()] = SourceLevel::Mrf,
        2 if read => control.source_levels[slot.index()] = SourceLevel::Upper(Upper::Orf(entry(how as u8 / 24 % 3))),
        3 if read => control.source_levels[slot.index()] = SourceLevel::MrfCopied(entry(how as u8 / 24 % 3)),
        4 if before.destination().is_some() => control.result_level = ResultLevel::Mrf,
        5 if before.destination().is_some() => {
            control.result_level = ResultLevel::Upper(Upper::Orf(entry(how as u8 / 24 % 3)))
        }
        6 if before.destination().is_some() => control.result_level = ResultLevel::Both(bank(0)),
        7 => control.deschedule = true,
        _ => {}
    }
    *instruction != before
}

/// The checker must have refused every case in which the judge sees a fault.
#[test]
fn the_checker_misses_nothing_that_the_judge_sees() {
    let options = with_lrf(3, LastResultFile::Unified);
    let (mut refused, mut seen) = (0, 0);
    for seed in 0..60 {
        let code = compiled(&program(seed), &options);
        for n in 0..60 {
            let mut corrupted = code.clone();
            let at = (seed as usize * 31 + n * 17) % code.len();
            if !change(&mut corrupted[at], seed as usize * 7 + n * 5) {
                continue;
            }
            let result = check(&corrupted, &options);
            let (faults, _) = judge(&corrupted, &options);
            assert!(
                faults.is_empty() || result.is_err(),
                "seed {seed}, instruction {at}: {}\n{}",
                faults[0],
                listing(&corrupted)
            );
            refused += u32::from(result.is_err());
            seen += u32::from(!faults.is_empty());
        }
    }
    assert!(refused > 1000 && seen > 500, "{refused} refused, {seen} seen");
}

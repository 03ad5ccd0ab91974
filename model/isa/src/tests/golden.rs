//! Pinned words and texts, errors, and programs with labels.

use super::*;
use crate::encoding::DecodeError;
use crate::{LastResultFile, Places, assemble, assemble_line};

/// Lines of two words and the text they mean. The words are an interface: images on disk and the RTL's decoder rely on them.
const PINNED: &str = include_str!("pinned.txt");

#[test]
fn pinned_words_mean_their_texts() {
    let mut seen = std::collections::HashSet::new();
    for line in PINNED.lines().filter(|line| !line.starts_with('#')) {
        let (words, text) = line.split_at(33);
        let (operation, control) = words.split_once(' ').unwrap();
        let words = [operation, control].map(|word| u64::from_str_radix(word, 16).unwrap());
        let instruction = assemble_line(text.trim()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let [operation, control] = instruction.encode();
        assert_eq!(instruction.encode(), words, "now: {operation:016x} {control:016x} {instruction}");
        assert_eq!(Instruction::decode(words).map(|i| i.to_string()), Ok(text.trim().to_owned()));
        seen.insert(instruction.op.mnemonic());
    }
    let missing: Vec<_> = Op::TABLE.iter().map(|row| row.mnemonic).filter(|m| !seen.contains(m)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn errors_name_the_field() {
    let exit = Instruction::new(Op::Exit {}).encode();
    let mov = Instruction::new(Op::Mov {}).d(Reg(1)).b(Reg(2)).encode();
    let cases: [([u64; 2], &str); 15] = [
        ([0, 0], "no operation has opcode 0x00"),
        ([0x7f, 0], "no operation has opcode 0x7f"),
        ([exit[0] | 1 << 12, 0], "EXIT: reserved bits 0x1000 of the operation word are set"),
        ([exit[0] | 0x80, 0], "EXIT does not take a constant as source b"),
        ([0x702, 0], "BRA does not take a register as source b"),
        ([exit[0], 1 << 62], "EXIT: reserved bits 0x4000000000000000 of the control word are set"),
        ([exit[0], 1 << 61], "EXIT: field private is set, but the instruction has no use for it"),
        ([exit[0], 1 << 20], "EXIT: field last read of a is set, but the instruction has no use for it"),
        ([mov[0], 1 << 22], "MOV: field last read of c is set, but the instruction has no use for it"),
        ([mov[0], 31 << 32], "MOV: 31 means nothing in field level of b"),
        ([mov[0], 16 << 42], "MOV: 16 means nothing in field level of the result"),
        ([mov[0], 3 << 51], "MOV: 3 means nothing in field power of the result"),
        ([0xf_ffff_0000_0782, 0xf_ffff], "BRA: 1048575 means nothing in field target"),
        ([0x0000_02ff_0020_1746, 0xff], "TEX: 2 means nothing in field offset"),
        ([0x0000_00ff_6020_1746, 0xff], "TEX: 6 means nothing in field access"),
    ];
    for (words, text) in cases {
        assert_eq!(Instruction::decode(words).unwrap_err().to_string(), text);
    }
    let reg = |number| Instruction::new(Op::Mov {}).d(Reg(1)).b(Reg(number));
    assert_eq!(reg(2).a(Reg(1)).check(), Err(DecodeError::Unused { mnemonic: "MOV", field: "a" }));
    let shared = assemble_line("LD.SHARED.B32 R1, [R2]").unwrap();
    assert_eq!(shared.b(Reg(3)).check(), Err(DecodeError::Unused { mnemonic: "LD", field: "b" }));
    let global = assemble_line("LD.GLOBAL.B32 R1, [R2:R3]").unwrap();
    assert_eq!(global.b(3).check(), Err(DecodeError::Form { mnemonic: "LD", what: "a constant" }));
}

#[test]
fn questions_are_answered_from_the_operands() {
    let ask = |text: &str| assemble_line(text).unwrap();
    let fma = ask("@P1 FFMA R1, R2, 0x3f800000, R2");
    assert_eq!(fma.sources().collect::<Vec<_>>(), [(Slot::A, Reg(2)), (Slot::C, Reg(2))]);
    assert_eq!(fma.power_sources(), [Some(Slot::A), Some(Slot::C)]);
    use crate::PowerState::{Off, On, Sleep};
    let states = |text: &str| ask(text).power_states(Places::NONE).collect::<Vec<_>>();
    let r = |register, state| (Reg(register), state);
    assert_eq!(
        states("FFMA R1, R2, R3, R4 {power=OFF,SLEEP,ON}"),
        [r(1, On), r(2, Off), r(3, Sleep), r(4, Sleep)],
        "a third source sleeps"
    );
    assert_eq!(states("FFMA R1, R2, R3, R2 {power=OFF,ON,SLEEP}"), [r(1, Sleep), r(2, Off), r(3, On)]);
    assert_eq!(states("FFMA R1, R2, R3, R1 {power=OFF,ON,OFF}"), [r(1, Off), r(2, Off), r(3, On)]);
    assert_eq!(states("FFMA R1, R2, 0x3f800000, R4 {power=OFF,SLEEP,ON}"), [r(1, On), r(2, Off), r(4, Sleep)]);
    assert_eq!(states("ST.SHARED.B32 [R4], RZ {power=SLEEP,ON,ON}"), [r(4, Sleep)]);
    assert_eq!(fma.destination(), Some(Reg(1)));
    assert_eq!(fma.predicate_sources().collect::<Vec<_>>(), [Predicate::new(1).unwrap()]);
    assert_eq!((fma.unit(), fma.is_long_latency()), (crate::Unit::Alu, false));
    let store = ask("ST.GLOBAL.B32 [R4:R5+0x8], RZ");
    assert_eq!(store.sources().map(|(_, r)| r).collect::<Vec<_>>(), [Reg(4), Reg(5)]);
    assert_eq!(store.destination(), None);
    assert!(store.is_long_latency() && store.is_memory() && !store.is_atomic());
    let compare = ask("ISETP.LT.SIGNED.EX P0, R1, R2, P3");
    assert_eq!(compare.predicate_destination(), Predicate::new(0));
    assert_eq!(compare.predicate_sources().collect::<Vec<_>>(), [Predicate::new(3).unwrap()]);
    let add = ask("IADD RZ, PT, R1, RZ, !PT");
    assert_eq!((add.destination(), add.predicate_destination(), add.predicate_sources().count()), (None, None, 0));
    assert!(!ask("LD.SHARED.U8 R1, [R2]").is_long_latency());
    assert!(ask("@P0 BRA 3, join 4").may_diverge() && !ask("BRA 3, join none").may_diverge());
}

#[test]
fn accesses_of_the_main_register_file_follow_from_levels_and_places() {
    use crate::PowerState::{Off, On, Sleep};
    let split = Places { entries: 3, lrf: LastResultFile::Split };
    let all = [Places::NONE, split, Places { entries: 1, lrf: LastResultFile::Unified }];
    let accesses = |text: &str, places: Places| {
        let instruction = assemble_line(text).unwrap();
        let sources = Slot::ALL.map(|slot| instruction.main_source(slot, places).map(|register| register.0));
        (sources, instruction.main_destination(places).map(|register| register.0))
    };
    let of = |text: &str| all.map(|places| accesses(text, places));
    let every = ([Some(2), Some(3), Some(4)], Some(1));
    assert_eq!(of("FFMA R1, R2, R3, R4"), [every; 3]);
    // Levels above the MRF; the machines have none of them, all, or one ORF entry and bank 0 of the LRF.
    let above = of("FFMA R1, R2, R3, R4 {a=ORF2 b=ORF0 c=LRF2 d=LRF0}");
    assert_eq!(above, [every, ([None; 3], None), ([Some(2), None, Some(4)], None)]);
    // A copy is read in the main register file, and both levels of a result are written.
    assert_eq!(of("FFMA R1, R2, R3, R4 {a=MRF>ORF2 c=MRF>ORF0 d=MRF+ORF1}"), [every; 3]);
    assert_eq!(of("LD.GLOBAL.B32 R1, [R2] {a=ORF0 d=ORF0}")[1], ([None; 3], Some(1)), "it takes long");
    assert_eq!(of("LD.SHARED.B32 R1, [R2] {a=ORF0 d=ORF0}")[1], ([None; 3], None));

    let states = |text: &str| assemble_line(text).unwrap().power_states(split).collect::<Vec<_>>();
    let r = |register, state| (Reg(register), state);
    assert_eq!(states("FFMA R1, R2, R3, R4 {a=ORF2 power=ON,OFF,SLEEP}"), [r(1, Sleep), r(3, Off), r(4, Sleep)]);
    assert_eq!(states("FFMA R1, R2, R3, R2 {b=ORF0 d=ORF1 power=OFF,ON,ON}"), [r(2, Off)]);
    assert_eq!(states("FFMA R1, R2, R3, R2 {a=ORF0 b=ORF1 c=ORF0 power=ON,ON,ON}"), [r(1, On)]);
}

#[test]
fn programs_have_labels_and_comments() {
    let program = "
        S2R.TID.X R0           // the thread
        ISETP.GE.SIGNED.AND P0, R0, 100, PT
        @P0 BRA end, join end
    loop:
        IADD R0, PT, R0, -1, !PT
        FADD R1, R1, 1.5f
        BRA loop, join none
    end:
        EXIT
    ";
    let code = assemble(program).unwrap();
    assert_eq!(code.len(), 7);
    assert_eq!(code[2].target(), Pc::new(6));
    assert_eq!(code[2].reconvergence, Pc::new(6));
    assert_eq!(code[3].b, Operand::Imm(u32::MAX));
    assert_eq!(code[4].b, Operand::Imm(1.5f32.to_bits()));
    let text: String = code.iter().map(|i| format!("{i}\n")).collect();
    assert_eq!(assemble(&text), Ok(code));
}

#[test]
fn a_text_that_is_no_instruction_is_refused_with_its_line() {
    let cases = [
        ("NOPE", "line 1: `NOPE` is no operation"),
        ("FADD.XX R1, R2, R3", "line 1: `FADD.XX` is no operation"),
        ("EXIT\nMOV R1", "line 2: source b is missing"),
        ("MOV R1, R2, R3", "line 1: `R3` is one operand too many"),
        ("MOV R256, R2", "line 1: expected register d, found `R256`"),
        ("MOV R1, 0x100000000", "line 1: expected source b, found `0x100000000`"),
        ("@P9 EXIT", "line 1: `P9` is no predicate"),
        ("MOV R1, R2 {last=c}", "line 1: MOV: field last read of c is set, but the instruction has no use for it"),
        ("MOV R1, R2 {d=ORF8}", "line 1: `d=ORF8` is no control field"),
        ("LD.SHARED.B32 R1, [R2:R3]", "line 1: LD: field b is set, but the instruction has no use for it"),
        ("CAS.GLOBAL R1, [R2:R3], R4, R5", "line 1: its address is one register"),
        ("a:\na:", "line 2: label `a` is there twice"),
    ];
    for (text, problem) in cases {
        assert_eq!(assemble(text).unwrap_err().to_string(), problem);
    }
}

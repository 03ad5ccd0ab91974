//! Reads of registers, predicates and local memory that the thread has not written.

mod common;

use common::{Setup, THREAD};
use gpurf_isa::image::{Added, Purpose};
use gpurf_oracle::{Fault, FaultKind, Geometry, Launch, Memory, Oracle, Program, Statistics};

/// The first fault of code that runs after [`THREAD`], for 40 threads.
fn checked(code: &str) -> Result<Statistics, Box<Fault>> {
    Setup::new(&format!("{THREAD}\n{code}\nEXIT")).block([40, 1, 1]).local(16).buffers(&[vec![0; 64]]).checked()
}

/// The text of the fault and the first thread concerned; `None` if there is no fault.
fn found(code: &str) -> Option<(String, u32)> {
    checked(code).err().map(|fault| (fault.kind.to_string(), fault.thread[0]))
}

fn register(name: &str, thread: u32) -> Option<(String, u32)> {
    Some((format!("reads {name}, which this thread has not written"), thread))
}

/// Threads from 5 on write R9.
const SOME: &str = "ISETP.LT.AND P0, R0, 5, PT\n@!P0 MOV R9, 7";

#[test]
fn a_read_names_its_thread_and_line() {
    let fault = checked("IADD R4, PT, R0, R0, !PT\nIADD R5, PT, R4, R9, !PT").unwrap_err();
    let place = (fault.line, fault.pc, fault.thread, fault.block);
    assert_eq!(place, (107, 7, [0, 0, 0], [0, 0, 0]));
    let text = "test.ptx:107: kernel test, block (0, 0, 0), thread (0, 0, 0): reads R9, which this thread has not written; \
                instruction 7: IADD R5, PT, R4, R9, !PT";
    assert_eq!(fault.to_string(), text);
}

#[test]
fn each_lane_counts_for_itself() {
    // All lanes have written it.
    assert_eq!(found("MOV R9, 7\nST.GLOBAL.B32 [R2:RZ], R9"), None);
    // A guarded write leaves lanes out, and a guarded read too.
    assert_eq!(found(&format!("{SOME}\nIADD R4, PT, R9, 1, !PT")), register("R9", 0));
    assert_eq!(found(&format!("{SOME}\n@!P0 IADD R4, PT, R9, 1, !PT")), None);
    assert_eq!(found("ISETP.GE.AND P0, R0, 35, PT\n@!P0 MOV R9, 7\nIADD R4, PT, R9, 1, !PT"), register("R9", 35));
}

#[test]
fn copies_are_no_reads() {
    assert_eq!(found("MOV R4, R9\nMOV R5, R4"), None);
    assert_eq!(found("MOV R4, R9\nMOV R5, R4\nIADD R6, PT, R5, 1, !PT"), register("R5", 0));
    assert_eq!(found("PLOP.AND P1, P2, PT\nPLOP.AND P3, P1, PT"), None);
    assert_eq!(found("PLOP.AND P1, P2, PT\nPLOP.OR P3, P1, P1"), register("P1", 0));
    // A copy of a defined value makes the register defined again.
    assert_eq!(found("MOV R4, R9\nMOV R4, R0\nIADD R6, PT, R4, 1, !PT"), None);
    // A selection copies one of its sources, and reads its predicate.
    let selected = format!("{SOME}\nSEL R4, R0, R9, P0");
    assert_eq!(found(&format!("{selected}\nIADD R5, PT, R4, 1, !PT")), None);
    let other = format!("{SOME}\nSEL R4, R9, R0, P0");
    assert_eq!(found(&other), None);
    assert_eq!(found(&format!("{other}\nIADD R5, PT, R4, 1, !PT")), register("R4", 0));
    assert_eq!(found("SEL R4, R0, R0, P3"), register("P3", 0));
}

#[test]
fn guards_branches_addresses_and_stores_are_reads() {
    assert_eq!(found("@P2 MOV R4, 1"), register("P2", 0));
    assert_eq!(found("@P2 BRA 8, join 8\nNOP"), register("P2", 0));
    assert_eq!(found("LD.GLOBAL.B32 R4, [R9:RZ]"), register("R9", 0));
    assert_eq!(found("ST.GLOBAL.B32 [R2:RZ], R9"), register("R9", 0));
    assert_eq!(found("IADD R4, PT, R0, R0, P1"), register("P1", 0));
}

#[test]
fn local_memory_counts_by_bytes() {
    let missing = |address: u32| Some((FaultKind::UndefinedLocal { address }.to_string(), 0));
    assert_eq!(found("LD.LOCAL.B32 R4, [RZ+0x8]"), missing(8));
    assert_eq!(found("ST.LOCAL.B32 [RZ+0x8], R0\nLD.LOCAL.B32 R4, [RZ+0x8]"), None);
    assert_eq!(found("ST.LOCAL.B16 [RZ+0x8], R0\nLD.LOCAL.B32 R4, [RZ+0x8]"), missing(10));
    assert_eq!(found("MOV R3, 2\nST.GENERIC.B8 [RZ:R3+0x4], R0\nLD.LOCAL.U8 R4, [RZ+0x4]"), None);
    assert_eq!(found("MOV R3, 2\nLD.GENERIC.B32 R4, [RZ:R3+0x4]"), missing(4));
}

#[test]
fn threads_begin_with_nothing_in_every_block() {
    let code = format!("{THREAD}\nISETP.EQ.AND P0, R1, 0, PT\n@P0 MOV R9, 7\nIADD R4, PT, R9, 1, !PT\nEXIT");
    let setup = Setup::new(&code).grid([3, 1, 1]).buffers(&[vec![0; 128]]);
    let fault = setup.checked().unwrap_err();
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [0, 0, 0]));
}

/// What the check finds in code some of whose instructions the compiler has added.
fn with_added(code: &str, added: &[(u32, Purpose)]) -> Option<String> {
    let added =
        added.iter().map(|(instruction, purpose)| Added { instruction: *instruction, purpose: purpose.clone() });
    let kernel = gpurf_isa::image::Kernel { added: added.collect(), ..Setup::new(code).local(16).kernel() };
    let program = Program::new(&kernel, "test.ptx").unwrap();
    let geometry = Geometry { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &[] };
    Oracle::default().run_checked(&launch, &Memory::default()).err().map(|fault| fault.kind.to_string())
}

#[test]
fn zeros_of_the_compiler_are_no_writes() {
    let zero = |name: Option<&str>| Purpose::Zero { of: name.map(str::to_owned) };
    let code = "MOV R4, RZ\nIADD R5, PT, R4, 1, !PT\nEXIT";
    let text = |name: &str| Some(format!("reads {name}, which this thread has not written"));
    assert_eq!(with_added(code, &[]), None);
    assert_eq!(with_added(code, &[(0, zero(Some("%f3")))]), text("`%f3` (here R4)"));
    assert_eq!(with_added(code, &[(0, zero(None))]), text("R4"));
    let code = "PLOP.AND P1, !PT, PT\n@P1 NOP\nEXIT";
    assert_eq!(with_added(code, &[(0, zero(Some("%p3")))]), text("`%p3` (here P1)"));
}

#[test]
fn spilled_values_stay_what_they_are() {
    let zero = (0, Purpose::Zero { of: Some("%r7".to_owned()) });
    let spill = |pc: u32| (pc, Purpose::Spill);
    let code =
        "MOV R4, RZ\nST.LOCAL.B32 [RZ+0x8], R4\nMOV R4, 1\nLD.LOCAL.B32 R5, [RZ+0x8]\nIADD R6, PT, R5, 1, !PT\nEXIT";
    let text = "reads `%r7` (here R5), which this thread has not written";
    assert_eq!(with_added(code, &[zero.clone(), spill(1), spill(3)]).as_deref(), Some(text));
    // A predicate, as a word.
    let code = "PLOP.AND P1, !PT, PT\nSEL R4, RZ, 1, !P1\nISETP.NE.AND P2, R4, RZ, PT\n@P2 NOP\nEXIT";
    let text = "reads `%r7` (here P2), which this thread has not written";
    assert_eq!(with_added(code, &[zero, spill(1), spill(2)]).as_deref(), Some(text));
}

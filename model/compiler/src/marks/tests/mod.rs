//! Hand-written code for each hazard, and random code. The passes mark the code, and the oracle judges it lane by lane.
//!
//! Each rule of a pass is also shown to be necessary: the pass gets other code, which lacks the feature that the rule is about (a guard removed, a
//! backward branch removed). The judge must then find a fault in the original code with the marks made for the other code.

mod cache;
mod deschedule;
mod free_register;
mod last_read;
mod power;
mod power_levels;
pub mod random;

use super::{free_register as frees, liveness, run};
use gpurf_isa::image::Kernel;
use gpurf_isa::{Control, Instruction, Op, PredicateSource, Slot, assemble};
use gpurf_oracle::marks::{MarkCounts, MarkJudge, Scope, Wrong};
use gpurf_oracle::{Geometry, Launch, Memory, Observer, Oracle, Program};

/// Puts the thread's index into R0, the address of a buffer of zeros into R2, and into P0 whether the thread is in the lower half of the warp.
pub const START: &str = "
    S2R.TID.X R0
    LDC.B32 R2, [RZ]
    ISETP.LT.AND P0, R0, 16, PT
";

/// Lanes leave a loop one by one, and read R1 after it. The lanes that stay write the register meanwhile.
const LEFT_LOOP: &str = "
    loop:
        IADD R1, PT, R0, 1, !PT
        ISETP.LT.SIGNED.AND P1, R0, 3, PT
        @P1 BRA out, join out
        IADD R3, PT, R1, R3, !PT
        IADD.SUB R0, PT, R0, 1, PT
        BRA loop, join none
    out:
        ST.GLOBAL.B32 [R2], R1
        EXIT
";

/// Code after [`START`], without marks.
fn code(text: &str) -> Vec<Instruction> {
    assemble(&format!("{START}{text}")).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// Numbers of banks of files whose rows the four registers of the tests' code fill: there are no further registers to name.
const FULL: [usize; 2] = [2, 4];

/// Runs all passes, with free registers for such files.
fn mark(code: &mut [Instruction]) {
    run(code);
    let live = liveness::of_warp(code);
    frees::mark_dead(code, &live, &FULL);
}

/// The code with all marks.
fn marked(text: &str) -> Vec<Instruction> {
    let mut code = code(text);
    mark(&mut code);
    code
}

/// The code with the marks that the passes make for the code changed by `change`.
fn marked_as_if(text: &str, change: impl Fn(&mut Instruction)) -> Vec<Instruction> {
    let mut code = code(text);
    let mut other = code.clone();
    other.iter_mut().for_each(change);
    mark(&mut other);
    code.iter_mut().zip(other).for_each(|(instruction, other)| instruction.control = other.control);
    code
}

/// The code with all marks; but the last reads are those of registers that are dead for the whole warp after the instruction.
fn marked_for_warp(text: &str) -> Vec<Instruction> {
    let mut code = marked(text);
    let live = liveness::of_warp(&code);
    for (instruction, live) in code.iter_mut().zip(live) {
        let dead = |slot| instruction.source(slot).is_some_and(|register| !live.contains(register));
        instruction.control.last_read = Slot::ALL.map(dead);
    }
    code
}

/// Runs the code on one warp under a judge of marks.
fn judge(code: &[Instruction], scope: Scope) -> (Vec<Wrong>, MarkCounts) {
    let (faults, counts) = execute(code, MarkJudge::new(scope)).finish();
    let mut wrong: Vec<Wrong> = faults.into_iter().map(|fault| fault.wrong).collect();
    wrong.sort();
    wrong.dedup();
    (wrong, counts)
}

/// Runs the code on one warp with this observer.
pub fn execute<O: Observer>(code: &[Instruction], mut observer: O) -> O {
    let kernel = Kernel {
        name: "test".into(),
        code: code.to_vec(),
        lines: vec![1; code.len()],
        registers: 32,
        static_shared: 256,
        local_bytes: 64,
        ..Kernel::default()
    };
    let program = Program::new(&kernel, "test.ptx").unwrap_or_else(|error| panic!("{error}"));
    let mut memory = Memory::default();
    let buffer = memory.add("buffer", &[0; 4096]).expect("there is room");
    let constant = u64::from(memory.buffer(buffer).address()).to_le_bytes();
    let geometry = Geometry { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let ran = Oracle::default().run_observed(&launch, &memory, &mut observer);
    ran.unwrap_or_else(|fault| panic!("{fault}\n{}", listing(code)));
    observer
}

fn listing(code: &[Instruction]) -> String {
    code.iter().enumerate().map(|(pc, instruction)| format!("{pc:4} {instruction}\n")).collect()
}

/// Asserts that the code after [`START`] ends in instructions with these marks: the control fields of each instruction as text, without free
/// registers. Also asserts that the judge accepts the marks.
fn expect(text: &str, want: &[&str]) {
    let code = marked(text);
    let start = code.len() - want.len();
    let shown = |instruction: &Instruction| Control { free_register: None, ..instruction.control }.to_string();
    let got: Vec<String> = code[start..].iter().map(shown).collect();
    assert_eq!(got, want, "\n{}", listing(&code));
    assert_eq!(judge(&code, Scope::Lanes).0, [], "\n{}", listing(&code));
}

/// Asserts that the judge accepts the marks, and finds this fault with the marks made for the changed code.
fn needs_rule(text: &str, change: impl Fn(&mut Instruction), wrong: Wrong) {
    let right = marked(text);
    assert_eq!(judge(&right, Scope::Lanes).0, [], "\n{}", listing(&right));
    let without = marked_as_if(text, change);
    let got = judge(&without, Scope::Lanes).0;
    assert!(got.contains(&wrong), "{got:?} without the rule\n{}", listing(&without));
}

/// Removes the guards of all instructions except branches.
fn without_guards(instruction: &mut Instruction) {
    if !matches!(instruction.op, Op::Bra {}) {
        instruction.guard = PredicateSource::TRUE;
    }
}

/// Removes guarded instructions except branches.
fn without_guarded(instruction: &mut Instruction) {
    if instruction.is_guarded() && !matches!(instruction.op, Op::Bra {}) {
        *instruction = Instruction::new(Op::Nop {});
    }
}

/// Removes branches.
fn without_branches(instruction: &mut Instruction) {
    if matches!(instruction.op, Op::Bra {}) {
        *instruction = Instruction::new(Op::Nop {});
    }
}

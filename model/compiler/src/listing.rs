//! A listing of the PTX with the machine's instructions below each line.

use crate::{Compiled, Explanation};
use gpurf_isa::Instruction;
use gpurf_isa::image::Kernel;
use std::fmt::Write;

/// The source of a module, each line followed by the instructions that were made from it. For code with strands, it also has the level of each
/// operand, and why the operand is not above the MRF.
///
/// Instructions keep their order. Where that differs from the order of the lines (a branch's target is laid out elsewhere), the line is printed
/// again.
pub fn annotate(source: &str, compiled: &Compiled) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut out = String::new();
    for (number, kernel) in compiled.image.kernels.iter().enumerate() {
        header(&mut out, kernel);
        let levels = compiled.levels.get(number);
        let mut last = None;
        for (pc, (instruction, &line)) in kernel.code.iter().zip(&kernel.lines).enumerate() {
            if last != Some(line) {
                let text = lines.get(line as usize - 1).map_or("", |l| l.trim());
                writeln!(out, "{line:6} | {text}").expect("strings grow");
                last = Some(line);
            }
            if let Some(levels) = levels {
                strand(&mut out, levels, pc);
            }
            writeln!(out, "       |     {pc:5}  {instruction}").expect("strings grow");
            if let Some(levels) = levels {
                operands(&mut out, levels, pc, instruction);
            }
        }
        out.push('\n');
    }
    out
}

/// Prints the number of the strand that an instruction begins, or that the code returns to.
fn strand(out: &mut String, levels: &Explanation, pc: usize) {
    let first = levels.strands[pc];
    if pc == 0 || levels.strands[pc - 1] != first {
        let number = (0..=first).filter(|pc| levels.strands[*pc] == *pc).count();
        writeln!(out, "       | strand {number}").expect("strings grow");
    }
}

fn operands(out: &mut String, levels: &Explanation, pc: usize, instruction: &Instruction) {
    let words = levels.words(pc, instruction);
    if !words.is_empty() {
        writeln!(out, "       |              // {words}").expect("strings grow");
    }
}

fn header(out: &mut String, kernel: &Kernel) {
    writeln!(
        out,
        "// {}: {} instructions, {} registers, {} bytes of local memory, {} bytes of static shared memory",
        kernel.name,
        kernel.code.len(),
        kernel.registers,
        kernel.local_bytes,
        kernel.static_shared
    )
    .expect("strings grow");
}

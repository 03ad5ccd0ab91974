//! PTX with the machine's instructions beside it.

use gpurf_isa::Image;
use gpurf_isa::image::Kernel;
use std::fmt::Write;

/// The source of an image, line by line, each line followed by the instructions that stem from it.
///
/// Instructions keep their order; where that leaves the order of the lines (a branch's target laid out elsewhere), the
/// line is printed again.
pub fn annotate(source: &str, image: &Image) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut out = String::new();
    for kernel in &image.kernels {
        header(&mut out, kernel);
        let mut last = None;
        for (pc, (instruction, &line)) in kernel.code.iter().zip(&kernel.lines).enumerate() {
            if last != Some(line) {
                let text = lines.get(line as usize - 1).map_or("", |l| l.trim());
                writeln!(out, "{line:6} | {text}").expect("strings grow");
                last = Some(line);
            }
            writeln!(out, "       |     {pc:5}  {instruction}").expect("strings grow");
        }
        out.push('\n');
    }
    out
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

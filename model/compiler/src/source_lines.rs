//! Lines of the CUDA source, from the `.loc` and `.file` lines that nvcc writes with `-lineinfo`.

use crate::diagnostic::{LineIndex, Span};
use gpurf_isa::Op;
use gpurf_isa::image::{Kernel, SourceLine};
use std::collections::HashMap;

/// The source positions of a kernel's traps, as far as the PTX has them. `name` is the position of the kernel's name.
pub fn of_traps(kernel: &Kernel, source: &str, name: Span) -> Vec<SourceLine> {
    let is_trap = |at: &usize| matches!(kernel.code[*at].op, Op::Trap { .. });
    let traps: Vec<usize> = (0..kernel.code.len()).filter(is_trap).collect();
    if traps.is_empty() {
        return Vec::new();
    }
    let files = files(source);
    let first = LineIndex::new(source).line(name.start);
    let last = kernel.lines.iter().max().copied().unwrap_or(0);
    let inside = source.lines().zip(1..).filter(|(_, line)| (first..=last).contains(line));
    let locations: Vec<(u32, u32, u32)> =
        inside.filter_map(|(text, line)| location(text).map(|(file, at)| (line, file, at))).collect();
    let place = |at: usize| {
        let above = locations.partition_point(|(line, ..)| *line <= kernel.lines[at]);
        let &(_, file, line) = locations[..above].last()?;
        Some(SourceLine { instruction: at as u32, file: files.get(&file)?.clone(), line })
    };
    traps.into_iter().filter_map(place).collect()
}

/// The names of files by their numbers: `.file 1 "saxpy.cu"`.
fn files(source: &str) -> HashMap<u32, String> {
    let file = |line: &str| {
        let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
        let name = name.trim().strip_prefix('"')?.split('"').next()?;
        Some((number.parse().ok()?, name.to_owned()))
    };
    source.lines().filter_map(file).collect()
}

/// File and line of `.loc 1 12 5`; `None` for line 0, which marks code without a source position.
fn location(line: &str) -> Option<(u32, u32)> {
    let rest = line.trim().strip_prefix(".loc")?;
    let mut words = rest.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let (file, line) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (line > 0).then_some((file, line))
}

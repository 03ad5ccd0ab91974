//! How long the compiler takes for each of the project's kernels, with all steps of the register hierarchy.

use std::time::Instant;

use gpurf_blocks::designs::DESIGNS;
use gpurf_compiler::{Options, check_levels, compile};
use serde::Serialize;

use super::median;
use crate::{JobError, Project, REGISTERS, compiler_options};

/// Number of rounds; the median counts.
const ROUNDS: usize = 5;

/// One kernel of the results.
#[derive(Clone, Debug, Serialize)]
pub struct CompilerRow {
    /// Its name.
    pub name: String,
    /// Instructions of all its kernels.
    pub instructions: usize,
    /// From PTX to an image for a machine with an MRF only, in ms.
    pub plain_ms: f64,
    /// From PTX to an image for an ORF of three entries and a split LRF, in ms.
    pub levels_ms: f64,
    /// The proof that every read finds its value, in ms.
    pub check_ms: f64,
}

/// Measures all kernels of the project, those with the longest time first.
///
/// # Errors
/// When one cannot be read or compiled.
pub fn compiler(project: &Project) -> Result<Vec<CompilerRow>, JobError> {
    let folder = project.root.join("tests/kernels");
    let wrong = |e: &dyn std::fmt::Display| JobError::Input(e.to_string());
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|e| wrong(&format!("{}: {e}", folder.display())))? {
        let file = entry.map_err(|e| wrong(&e))?.path();
        if file.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&file).map_err(|e| wrong(&format!("{}: {e}", file.display())))?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            rows.push(row(name, &text).map_err(|e| wrong(&e))?);
        }
    }
    rows.sort_by(|a, b| b.levels_ms.total_cmp(&a.levels_ms));
    Ok(rows)
}

fn row(name: String, text: &str) -> Result<CompilerRow, gpurf_compiler::Diagnostics> {
    let plain = Options { registers: REGISTERS, ..Options::default() };
    let mut all = DESIGNS.iter().map(|design| compiler_options(&design.config(), REGISTERS));
    let levels = all.find(Options::have_levels).expect("a design has levels");
    let file = format!("{name}.ptx");
    let image = compile(text, &file, &levels)?.image;
    let time = |work: &dyn Fn()| {
        let milliseconds = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        });
        median(milliseconds.collect())
    };
    let of = |options: &Options| time(&|| drop(std::hint::black_box(compile(text, &file, options))));
    let proof = || {
        for kernel in &image.kernels {
            check_levels(&kernel.code, &levels).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    };
    Ok(CompilerRow {
        instructions: image.kernels.iter().map(|kernel| kernel.code.len()).sum(),
        plain_ms: of(&plain),
        levels_ms: of(&levels),
        check_ms: time(&proof),
        name,
    })
}

//! `gpurf compile`: CUDA or PTX to machine code.

use gpurf_compiler::{KernelReport, Options};

use super::source;
use crate::args::{Compile, Selection};
use crate::failure::{Failure, Status};
use crate::output::{self, numbers, words};
use crate::plan;

/// Compiles, and writes machine code or the annotated PTX.
pub fn compile(arguments: &Compile) -> Result<Status, Failure> {
    // The preset has to be one; what it changes in the code begins with the hints of its organisation.
    plan::load(&Selection { preset: arguments.preset.clone(), ..Selection::default() })?;
    let ptx = source::ptx(&arguments.file)?;
    let options = source::options(arguments.registers);
    let options = arguments.levels(Options { schedule: arguments.schedule.schedule(), ..options });
    let compiled = source::compile(&ptx, &options)?;
    let text = if arguments.annotate {
        gpurf_compiler::annotate(&ptx.text, &compiled)
    } else {
        let mut text = serde_json::to_string_pretty(&compiled.image)
            .map_err(|e| Failure::tool(format!("the image cannot be written as JSON: {e}")))?;
        text.push('\n');
        text
    };
    match &arguments.output {
        Some(file) => source::write(file, text.as_bytes())?,
        None => output::print(&text)?,
    }
    let columns = [
        words("kernel"),
        numbers("instructions"),
        numbers("registers"),
        numbers("spilled"),
        numbers("spill loads"),
        numbers("spill stores"),
        numbers("local bytes"),
        numbers("shared bytes"),
    ];
    let row = |k: &KernelReport| {
        vec![
            k.name.as_str().into(),
            k.instructions.into(),
            k.registers.into(),
            k.spilled.into(),
            k.spill_loads.into(),
            k.spill_stores.into(),
            k.local_bytes.into(),
            k.static_shared.into(),
        ]
    };
    let rows: Vec<_> = compiled.report.kernels.iter().map(row).collect();
    // Beside the code, which may go to standard output.
    output::note(output::table(&columns, &rows).trim_end());
    Ok(Status::Pass)
}

//! `gpurf compile`: CUDA or PTX to machine code.

use gpurf_compiler::{KernelReport, Options};
use gpurf_isa::image::Kernel;
use gpurf_isa::{Places, PowerState};

use super::source;
use crate::args::{Compile, Selection};
use crate::failure::{Failure, Status};
use crate::output::{self, numbers, words};
use crate::plan;

/// The power states, and the heads of the columns that have the numbers of accesses after which a register is in each.
const STATES: [PowerState; 3] = [PowerState::On, PowerState::Sleep, PowerState::Off];
const STATE_COLUMNS: [&str; 3] = ["left ON", "SLEEP", "OFF"];

/// How many accesses of the main register file by a kernel's code leave their registers in this state.
fn marked(kernel: &Kernel, state: PowerState, places: Places) -> usize {
    let states = kernel.code.iter().flat_map(|instruction| instruction.power_states(places));
    states.filter(|(_, there)| *there == state).count()
}

/// Compiles, and writes machine code or the annotated PTX.
pub fn compile(arguments: &Compile) -> Result<Status, Failure> {
    // The preset has to be one; what it changes in the code begins with the hints of its organisation.
    plan::load(&Selection { preset: arguments.preset.clone(), ..Selection::default() })?;
    let ptx = source::ptx(&arguments.file)?;
    let options = source::options(arguments.registers);
    let power_threshold = arguments.power_threshold.unwrap_or_default();
    let (schedule, register_order) = (arguments.schedule.schedule(), arguments.register_order.order());
    let options = arguments.levels(Options { schedule, register_order, power_threshold, ..options });
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
    let mut columns = vec![
        words("kernel"),
        numbers("instructions"),
        numbers("registers"),
        numbers("spilled"),
        numbers("spill loads"),
        numbers("spill stores"),
        numbers("local bytes"),
        numbers("shared bytes"),
    ];
    if power_threshold > 0 {
        columns.extend(STATES.map(|state| numbers(STATE_COLUMNS[state as usize])));
    }
    let row = |(k, code): (&KernelReport, &Kernel)| {
        let mut row = vec![
            k.name.as_str().into(),
            k.instructions.into(),
            k.registers.into(),
            k.spilled.into(),
            k.spill_loads.into(),
            k.spill_stores.into(),
            k.local_bytes.into(),
            k.static_shared.into(),
        ];
        if power_threshold > 0 {
            row.extend(STATES.map(|state| marked(code, state, options.places()).into()));
        }
        row
    };
    let rows: Vec<_> = compiled.report.kernels.iter().zip(&compiled.image.kernels).map(row).collect();
    // Beside the code, which may go to standard output.
    output::note(output::table(&columns, &rows).trim_end());
    Ok(Status::Pass)
}

//! `gpurf compile`: CUDA or PTX to machine code.

use std::collections::BTreeSet;

use gpurf_compiler::{Compiled, Diagnostics, KernelReport, Module, Options, Scratchpad, ScratchpadOptions};
use gpurf_isa::image::Kernel;
use gpurf_isa::{Places, PowerState};

use gpurf_oracle::host::named;
use gpurf_regress::compiler_options;

use super::{acceptance, source};
use crate::args::{AddressBits, Compile, Fetches, Naming, Order, Releases, Selection, SharedOrder, Wide};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::output::{self, numbers, words};
use crate::plan;

/// The power states, and the headings of their columns: accesses after which a register is in each state.
const STATES: [PowerState; 3] = [PowerState::On, PowerState::Sleep, PowerState::Off];
const STATE_COLUMNS: [&str; 3] = ["left ON", "SLEEP", "OFF"];

/// Headings of the columns on shared memory: its variables, those in the shared part, accesses, accesses with a private mark, inserted `RELSSP`
/// instructions.
const SCRATCHPAD_COLUMNS: [&str; 5] = ["variables", "shared", "accesses", "private", "releases"];

/// Number of accesses to the main register file in a kernel's code that leave the register in this state.
fn marked(kernel: &Kernel, state: PowerState, places: Places) -> usize {
    let states = kernel.code.iter().flat_map(|instruction| instruction.power_states(places));
    states.filter(|(_, there)| *there == state).count()
}

/// Compiles a file, and writes machine code or annotated PTX.
pub fn compile(arguments: &Compile) -> Result<Status, Failure> {
    let options = options(arguments)?;
    if arguments.summary {
        return acceptance::summary(&arguments.files, &options, arguments.json);
    }
    let [file] = &arguments.files[..] else {
        return Err(Failure::bad_input("one file is compiled at a time; --summary takes several"));
    };
    if let Some(output) = &arguments.output {
        check_outputs(&[("--output", output)], &InputFiles::default().with_source(file))?;
    }
    let ptx = source::ptx(file)?;
    let refused = |e: Diagnostics| Failure::bad_input(e.to_string());
    let module = Module::parse(&ptx.text, &ptx.name).map_err(refused)?;
    let wanted = wanted(arguments, &module)?;
    let compiled = module.compile(&options, &|name| wanted.contains(name)).map_err(refused)?;
    let complaints = compiled.complaints();
    // If no kernel is left, there is no code to write.
    if !compiled.image.kernels.is_empty() || complaints.is_none() {
        write(arguments, &ptx.text, &compiled)?;
        accepted(&compiled, &options);
    }
    match complaints {
        None => Ok(Status::Pass),
        Some(complaints) => {
            let lacks = compiled.refused.iter().map(|kernel| {
                let features: Vec<&str> = kernel.diagnostics.features.iter().map(|feature| feature.name()).collect();
                vec![kernel.name.as_str().into(), features.join(", ").into()]
            });
            let rows: Vec<_> = lacks.collect();
            output::note(output::table(&[words("refused"), words("missing feature")], &rows).trim_end());
            let all = compiled.refused.iter().map(|kernel| &kernel.diagnostics.features);
            output::note(acceptance::by_feature(all).trim_end());
            Err(refused(complaints))
        }
    }
}

/// The compiler options: those of the preset, overridden by those of the command line.
fn options(arguments: &Compile) -> Result<Options, Failure> {
    let config = plan::load(&Selection { preset: Some(arguments.preset.clone()), ..Selection::default() })?;
    let preset = compiler_options(&config, source::options(arguments.registers).registers);
    let preset = arguments.levels.over(preset).map_err(Failure::bad_input)?;
    let scratchpad = ScratchpadOptions {
        private_bytes: arguments.private_shared.unwrap_or(preset.scratchpad.private_bytes),
        layout: arguments.share_layout.map_or(preset.scratchpad.layout, SharedOrder::layout),
        relssp: arguments.relssp.map_or(preset.scratchpad.relssp, Releases::places),
    };
    Ok(Options {
        schedule: arguments.schedule.map_or(preset.schedule, Order::schedule),
        register_order: arguments.register_order.map_or(preset.register_order, Naming::order),
        power_threshold: arguments.power_threshold.unwrap_or(preset.power_threshold),
        stack_bytes: arguments.stack_bytes.unwrap_or(preset.stack_bytes),
        wide_accesses: arguments.wide_accesses.map_or(preset.wide_accesses, Wide::accesses),
        address_bits: arguments.address_bits.map_or(preset.address_bits, AddressBits::bits),
        textures: arguments.textures.map_or(preset.textures, Fetches::textures),
        scratchpad,
        ..preset
    })
}

/// The requested kernels, by their names in the PTX.
fn wanted<'a>(arguments: &Compile, module: &Module<'a>) -> Result<BTreeSet<&'a str>, Failure> {
    let names: Vec<&str> = module.kernels().map(|(name, _)| name).collect();
    if arguments.kernels.is_empty() {
        return Ok(names.into_iter().collect());
    }
    let find = |name: &String| {
        let found = named("kernel", name, &names, |name| name);
        found.copied().map_err(|e| Failure::bad_input(format!("{}: {e}", arguments.files[0].display())))
    };
    arguments.kernels.iter().map(find).collect()
}

fn write(arguments: &Compile, ptx: &str, compiled: &Compiled) -> Result<(), Failure> {
    let text = if arguments.annotate {
        gpurf_compiler::annotate(ptx, compiled)
    } else {
        let mut text = serde_json::to_string_pretty(&compiled.image)
            .map_err(|e| Failure::tool(format!("the image cannot be written as JSON: {e}")))?;
        text.push('\n');
        text
    };
    match &arguments.output {
        Some(file) => source::write(file, text.as_bytes()),
        None => output::print(&text),
    }
}

/// Prints the table of compiled kernels.
fn accepted(compiled: &Compiled, options: &Options) {
    let (scratchpad, power_threshold) = (options.scratchpad, options.power_threshold);
    let shares = scratchpad != ScratchpadOptions::NONE;
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
    if shares {
        columns.extend(SCRATCHPAD_COLUMNS.map(numbers));
    }
    let row = |((k, code), scratchpad): ((&KernelReport, &Kernel), &Scratchpad)| {
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
        if shares {
            let variables = scratchpad.variables.len();
            let shared = (0..variables).filter(|&v| scratchpad.shared.contains(v)).count();
            let marked = code.code.iter().filter(|instruction| instruction.control.private).count();
            row.extend([variables, shared, scratchpad.accesses.len(), marked, scratchpad.releases].map(Into::into));
        }
        row
    };
    let kernels = compiled.report.kernels.iter().zip(&compiled.image.kernels).zip(&compiled.scratchpad);
    let rows: Vec<_> = kernels.map(row).collect();
    // On standard error, because the code may be on standard output.
    output::note(output::table(&columns, &rows).trim_end());
}

//! `gpurf bench`: the speed of lockstep, compared with plain Verilator and the model.

use std::collections::BTreeSet;

use gpurf_blocks::config::{self, Preset};
use gpurf_blocks::designs::DESIGNS;
use gpurf_lockstep::Verdict;
use gpurf_regress::bench::{self, CompilerRow, Row, SizeRow};
use serde::Serialize;

use crate::args::Bench;
use crate::failure::{Failure, Status};
use crate::output::{self, Cell, numbers, words};
use crate::result::json;

#[derive(Serialize)]
struct Report<'a, R> {
    result: Verdict,
    command: &'static str,
    rows: &'a [R],
}

/// Kernels on which the SM is measured: dense arithmetic, divergent loops, barriers, waits for memory.
const MACHINE_KERNELS: [&str; 5] = ["crc32", "collatz", "sortingNetworks", "radixSort", "transpose"];

/// Additional kernels on which the main preset of each design is measured.
const DESIGN_KERNELS: [&str; 2] = ["crc32", "radixSort"];

/// The kernel on which sizes are measured: it has blocks for 48 warps, and barriers.
const SIZES_KERNEL: &str = "sortingNetworks";

/// Length of the longest bar in characters.
const BAR: f64 = 24.0;

/// One preset for each distinct register file.
fn register_files() -> Vec<&'static Preset> {
    let mut presets: Vec<&Preset> = Vec::new();
    for preset in config::presets() {
        if presets.iter().all(|p| p.config.mrf != preset.config.mrf) {
            presets.push(preset);
        }
    }
    presets
}

/// The measurements of the SM: presets and kernels.
fn machines() -> impl Iterator<Item = (&'static Preset, &'static str)> {
    let default = config::presets().next().expect("there is a default preset");
    let mains = DESIGNS.iter().map(|design| design.preset()).filter(|preset| preset.name != default.name);
    let designs = mains.flat_map(|preset| DESIGN_KERNELS.map(|kernel| (preset, kernel)));
    MACHINE_KERNELS.into_iter().map(move |kernel| (default, kernel)).chain(designs)
}

/// Measures the register file at the presets, under load and idle, and the SM on kernels.
pub fn bench(arguments: &Bench) -> Result<Status, Failure> {
    let project = super::project()?;
    if arguments.compile {
        return compiler(&bench::compiler(&project)?, arguments.json);
    }
    let wanted = |name: &str| name.contains(&arguments.only);
    let points = || bench::sweeps().flat_map(|sweep| sweep.values.iter().map(move |&value| (sweep, value)));
    let loads = || register_files().into_iter().flat_map(|preset| [(preset, false), (preset, true)]);
    // Register files that differ only in their policies have rows with the same name.
    let names: BTreeSet<String> = if arguments.sizes {
        points().map(|(sweep, value)| sweep.name(value)).collect()
    } else {
        let register_files = loads().map(|(preset, idle)| bench::mrf_name(&preset.config, idle));
        register_files.chain(machines().map(|(preset, kernel)| bench::machine_name(preset.name, kernel))).collect()
    };
    if !names.iter().any(|name| wanted(name)) {
        let (only, names) = (&arguments.only, names.into_iter().collect::<Vec<_>>().join("\n  "));
        return Err(Failure::bad_input(format!(
            "--only {only}: no row has this in its name; the rows are:\n  {names}"
        )));
    }
    let tools = super::toolchain(&project)?;
    if arguments.sizes {
        let mut rows = Vec::new();
        for (sweep, value) in points().filter(|(sweep, value)| wanted(&sweep.name(*value))) {
            output::note(&format!("measuring {}", sweep.name(value)));
            rows.push(sweep.measure(&project, &tools, value, SIZES_KERNEL, arguments.time)?);
        }
        return sizes(&rows, arguments.json);
    }
    let mut rows = Vec::new();
    for (preset, idle) in loads() {
        if !wanted(&bench::mrf_name(&preset.config, idle)) {
            continue;
        }
        output::note(&format!("measuring {}, {}", preset.name, if idle { "idle" } else { "under load" }));
        rows.push(bench::mrf(&project, &tools, &preset.config, idle, arguments.time)?);
    }
    for (preset, kernel) in machines() {
        if !wanted(&bench::machine_name(preset.name, kernel)) {
            continue;
        }
        output::note(&format!("measuring the SM of {} on {kernel}", preset.name));
        let (config, time, train) = (&preset.config, arguments.time, arguments.train);
        rows.extend(bench::machine(&project, &tools, preset.name, config, kernel, time, train)?);
    }
    if arguments.json {
        return print_json(&rows);
    }
    let columns = [
        words("kcycles/s"),
        numbers("lockstep"),
        numbers("Verilator"),
        numbers("model"),
        numbers("lockstep/Verilator"),
        numbers("model/Verilator"),
        numbers("2 threads"),
        numbers("2 threads/Verilator"),
        numbers("by the RTL's thread"),
        numbers("trained Verilator"),
        words("checksum"),
    ];
    let row = |r: &Row| -> Vec<Cell> {
        vec![
            r.name.as_str().into(),
            format!("{:.0}", r.lockstep).into(),
            format!("{:.0}", r.verilator).into(),
            format!("{:.0}", r.model).into(),
            format!("{:.2}", r.lockstep_ratio).into(),
            format!("{:.1}", r.model_ratio).into(),
            r.threaded.map_or("-".into(), |speed| format!("{speed:.0}").into()),
            r.threaded_ratio.map_or("-".into(), |ratio| format!("{ratio:.2}").into()),
            r.follower_ratio.map_or("-".into(), |ratio| format!("{ratio:.2}").into()),
            r.trained_ratio.map_or("-".into(), |ratio| format!("{ratio:.2}").into()),
            r.checksum.as_str().into(),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    output::print(&output::table(&columns, &rows))?;
    output::print(
        "Verilator: without probes and assertions, nothing compared. Equal checksums: all did the same work.\n\
         2 threads: the lockstep with its model on a second thread, relative to plain Verilator, in wall-clock time; the other ratios are in CPU time.\n\
         Trained Verilator: plain Verilator compiled with profile-guided optimisation, as the lockstep is with --train; relative to Verilator without it, as all ratios.\n\
         Skipped: cycles in which nothing happens, which the model alone does not run one by one; the row below is without skipping.\n",
    )?;
    Ok(Status::Pass)
}

/// Prints rows as one JSON object.
fn print_json(rows: &[impl Serialize]) -> Result<Status, Failure> {
    output::print(&json(&Report { result: Verdict::Pass, command: "bench", rows }))?;
    Ok(Status::Pass)
}

/// Shows how the cost of a cycle grows.
fn sizes(rows: &[SizeRow], as_json: bool) -> Result<Status, Failure> {
    if as_json {
        return print_json(rows);
    }
    let columns = [
        words("ns a cycle"),
        numbers("value"),
        numbers("bits compared"),
        numbers("lockstep"),
        numbers("Verilator"),
        numbers("model"),
        numbers("bits, by the first"),
        numbers("lockstep"),
        numbers("Verilator"),
        numbers("model"),
        words("lockstep, ns"),
    ];
    let longest = rows.iter().map(|row| row.lockstep_ns).fold(0.0, f64::max);
    let row = |r: &SizeRow| -> Vec<Cell> {
        let first = rows.iter().find(|first| (first.preset, first.key) == (r.preset, r.key)).unwrap_or(r);
        let whole = |value: f64| format!("{value:.0}").into();
        let by = |value: f64, first: f64| format!("{:.2}", value / first).into();
        vec![
            format!("{}, {}", r.preset, r.key).into(),
            r.value.into(),
            r.compared_bits.to_string().into(),
            whole(r.lockstep_ns),
            whole(r.verilator_ns),
            whole(r.model_ns),
            by(r.compared_bits as f64, first.compared_bits as f64),
            by(r.lockstep_ns, first.lockstep_ns),
            by(r.verilator_ns, first.verilator_ns),
            by(r.model_ns, first.model_ns),
            "#".repeat((BAR * r.lockstep_ns / longest).round() as usize).into(),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    output::print(&output::table(&columns, &rows))?;
    output::print(&format!(
        "The SM on {SIZES_KERNEL}. Bits compared: registers, nets and outputs of the SM. By the first: as a ratio to the first row of the same size.\n\
         The model skips no cycle.\n"
    ))?;
    Ok(Status::Pass)
}

/// Shows how long the compiler takes.
fn compiler(rows: &[CompilerRow], as_json: bool) -> Result<Status, Failure> {
    if as_json {
        return print_json(rows);
    }
    let columns =
        [words("ms"), numbers("instructions"), numbers("MRF only"), numbers("ORF and LRF"), numbers("proof of levels")];
    let row = |r: &CompilerRow| -> Vec<Cell> {
        let milliseconds = |ms: f64| format!("{ms:.1}").into();
        let times = [r.plain_ms, r.levels_ms, r.check_ms].map(milliseconds);
        [r.name.as_str().into(), r.instructions.into()].into_iter().chain(times).collect()
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    output::print(&output::table(&columns, &rows))?;
    Ok(Status::Pass)
}

//! `gpurf compare`: two machines on the same kernels.

mod metrics;
mod page;
mod text;

use std::path::{Path, PathBuf};
use std::time::Instant;

use gpurf_blocks::config::{Config, Start, preset};
use gpurf_launch::Manifest;
use gpurf_lockstep::Verdict;
use gpurf_machine::{Job, Machine, ModelEngine, RtlEngine, Settings, Statistics, verdict};
use gpurf_oracle::host::Session;
use gpurf_regress::{JobError, Project, RtlSources, request, run_all};
use gpurf_report::energies::EnergyFile;
use serde::Serialize;
use verilated::{Library, Options};

use super::run::image;
use super::source;
use crate::args::{Compare, Replacements};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::interrupt;
use crate::output;
use crate::own_rtl::OwnRtl;
use crate::progress::Progress;
use crate::result::json;
use metrics::{Change, Numbers, changes};

/// The default kernels: memory, barriers, shared memory, arithmetic, divergence.
const KERNELS: [&str; 6] = ["saxpy", "reduction", "scan", "matrixMul", "pathfinder", "blackScholes"];

/// One of the two machines.
#[derive(Serialize)]
struct Side {
    /// Its name on the command line.
    name: String,
    /// All sizes and policies, `key=value`.
    settings: Vec<String>,
    /// Replaced modules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rtl: Vec<String>,
    #[serde(skip)]
    config: Config,
    #[serde(skip)]
    library: Option<Library>,
}

/// A kernel on both machines.
#[derive(Serialize)]
struct Row {
    kernel: String,
    a: Numbers,
    b: Numbers,
}

/// The result, in the form of `--json`.
#[derive(Serialize)]
struct Compared {
    result: Verdict,
    command: &'static str,
    engine: &'static str,
    a: Side,
    b: Side,
    kernels: Vec<Row>,
    /// All kernels together.
    total: Row,
    /// Geometric means over the kernels of B by A.
    means: Vec<metrics::Mean>,
    /// Numbers that differ in the total, the largest change first.
    differences: Vec<Change>,
    /// Number of equal numbers.
    equal: usize,
    wall_s: f64,
}

/// Compares two machines.
pub fn compare(arguments: &Compare) -> Result<Status, Failure> {
    let started = Instant::now();
    let own = own_rtl(arguments)?;
    let energies = arguments.energy.as_deref().map(source::energies).transpose()?;
    let mut sides = [side(&arguments.a, &arguments.set)?, side(&arguments.b, &arguments.set)?];
    if own.is_none() && sides[0].config.settings() == sides[1].config.settings() {
        let [a, b] = &sides;
        return Err(Failure::bad_input(format!(
            "{} and {} are the same machine: there is nothing to compare",
            a.name, b.name
        )));
    }
    let kernels = kernels(arguments)?;
    if let Some(file) = &arguments.html {
        // Checked before the work, not after it.
        check_outputs(&[("--html", file)], &inputs(arguments, &kernels))?;
    }
    interrupt::listen()?;
    if let Some(own) = own {
        build(&mut sides, &own.sources)?;
    }
    let statistics = run_all_kernels(arguments, &sides, &kernels)?;
    let compared = compared(sides, &kernels, &statistics, energies.as_ref(), started);
    if let Some(file) = &arguments.html {
        source::write(file, page::page(&compared).as_bytes())?;
    }
    if arguments.run.json {
        output::print(&json(&compared))?;
    } else {
        output::print(&text::text(&compared, arguments.all))?;
        if let Some(file) = &arguments.html {
            output::print(&format!("{}\n", file.display()))?;
        }
    }
    Ok(Status::Pass)
}

/// The machine of this name: a preset, or a TOML file.
fn side(name: &str, set: &[String]) -> Result<Side, Failure> {
    let path = Path::new(name);
    let is_file = preset(name).is_err() && (path.extension().is_some() || path.is_file());
    let start = if is_file { Start::File(path) } else { Start::Preset(name) };
    let config = Config::load(start, set)?;
    let settings = config.settings();
    Ok(Side { name: name.to_owned(), settings, rtl: Vec::new(), config, library: None })
}

/// The RTL that replaces modules of B.
fn own_rtl(arguments: &Compare) -> Result<Option<OwnRtl>, Failure> {
    if arguments.rtl.is_empty() {
        return Ok(None);
    }
    OwnRtl::new(&super::project()?, &replacements(arguments)).map(Some)
}

fn replacements(arguments: &Compare) -> Replacements {
    Replacements { files: arguments.rtl.clone(), ..Replacements::default() }
}

/// Builds the RTL of both machines.
fn build(sides: &mut [Side; 2], own: &RtlSources) -> Result<(), Failure> {
    let project = super::project()?;
    let tools = super::toolchain(&project)?;
    let options = Options { probes: false, optimise: false, ..Options::default() };
    let plain = RtlSources::default();
    for (side, sources) in sides.iter_mut().zip([&plain, own]) {
        let request = request(&project, gpurf_sm::ENTRY.name, &side.config, sources, options.clone())?;
        side.library = Some(tools.build(&request).map_err(JobError::from)?);
        side.rtl.clone_from(&sources.options);
    }
    Ok(())
}

/// A launch manifest and its name.
struct Kernel {
    name: String,
    manifest: Manifest,
}

/// The files that the command reads.
fn inputs(arguments: &Compare, kernels: &[Kernel]) -> InputFiles {
    let inputs = InputFiles::default()
        .with_named("the configuration of A", Some(&arguments.a))
        .with_named("the configuration of B", Some(&arguments.b))
        .with_named("the file of energies", arguments.energy.as_deref())
        .with_replacements(&replacements(arguments));
    kernels.iter().fold(inputs, |inputs, kernel| inputs.with_manifest(&kernel.manifest))
}

/// The kernels of the command line, or the default kernels.
fn kernels(arguments: &Compare) -> Result<Vec<Kernel>, Failure> {
    let folder = Project::find().root.join("tests/kernels");
    let fixed = KERNELS.map(PathBuf::from);
    let named = if arguments.kernel.is_empty() { &fixed[..] } else { &arguments.kernel };
    let mut kernels: Vec<Kernel> = Vec::new();
    for name in named {
        let own = folder.join(name.with_extension("toml"));
        let is_name = name.extension().is_none() && !name.exists();
        if is_name && !own.exists() {
            let name = name.display();
            return Err(Failure::bad_input(format!(
                "--kernel {name}: there is no such file, and no test kernel of this name in {}",
                folder.display()
            )));
        }
        let file = if is_name { own.as_path() } else { name.as_path() };
        let manifest = Manifest::load(file)?;
        manifest.verify_checks()?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if kernels.iter().any(|kernel| kernel.name == name) {
            return Err(Failure::bad_input(format!("--kernel {name}: there is another kernel of that name")));
        }
        kernels.push(Kernel { name, manifest });
    }
    Ok(kernels)
}

/// Runs each kernel on each machine.
fn run_all_kernels(
    arguments: &Compare,
    sides: &[Side; 2],
    kernels: &[Kernel],
) -> Result<Vec<[Statistics; 2]>, Failure> {
    let runs: Vec<(&Kernel, &Side)> =
        kernels.iter().flat_map(|kernel| sides.iter().map(move |side| (kernel, side))).collect();
    let jobs = super::threads(arguments.run.jobs);
    let progress = Progress::new(runs.len(), false);
    let work = |&(index, (kernel, side)): &(usize, (&Kernel, &Side))| {
        progress.begin(index, &format!("{} on {}", kernel.name, side.name));
        statistics(arguments, side, kernel)
    };
    let runs: Vec<_> = runs.into_iter().enumerate().collect();
    let mut results = run_all(&runs, jobs, work, |index, _| progress.ended(index)).into_iter();
    let mut rows = Vec::new();
    while let (Some(a), Some(b)) = (results.next(), results.next()) {
        rows.push([a?, b?]);
    }
    Ok(rows)
}

/// The statistics of a kernel on a machine.
fn statistics(arguments: &Compare, side: &Side, kernel: &Kernel) -> Result<Statistics, Failure> {
    let of = |what: String| format!("{} on {}: {what}", kernel.name, side.name);
    let wrong = |error: &dyn std::fmt::Display| Failure::bad_input(of(error.to_string()));
    let image = image(&kernel.manifest, &side.config, arguments.registers)
        .map_err(|failure| Failure { message: of(failure.message), ..failure })?;
    let mut session = Session::new(&kernel.manifest, &image).map_err(|e| wrong(&e))?;
    for launch in session.launches() {
        Job::new(&side.config, &launch).map_err(|refusal| wrong(&refusal))?;
    }
    let (seed, idle_limit) = (arguments.seed, arguments.idle_limit);
    let settings = Settings { seed, idle_limit, stop: interrupt::flag(), ..Settings::new(side.config) };
    let statistics = match &side.library {
        None => run(&mut session, ModelEngine::new(settings), &of)?,
        Some(library) => {
            let engine = RtlEngine::new(settings, library).map_err(|error| Failure::tool(of(error.to_string())))?;
            run(&mut session, engine, &of)?
        }
    };
    let checks = session.checks().map_err(|e| wrong(&e))?;
    match checks.iter().find(|row| !row.ok) {
        Some(row) => {
            let message = of(format!("buffer {} differs from the manifest's expected contents", row.buffer));
            Err(Failure { status: Status::Failed, message })
        }
        None => Ok(statistics),
    }
}

fn run<M: Machine>(
    session: &mut Session<'_>,
    mut engine: M,
    of: &dyn Fn(String) -> String,
) -> Result<Statistics, Failure> {
    session.run(&mut engine).map_err(|error| {
        let status = verdict(&error).map_or(Status::BadInput, Into::into);
        Failure { status, message: of(error.to_string()) }
    })?;
    Ok(engine.statistics())
}

/// The numbers of all runs, their sums, and the differences of the sums.
fn compared(
    sides: [Side; 2],
    kernels: &[Kernel],
    statistics: &[[Statistics; 2]],
    energies: Option<&EnergyFile>,
    started: Instant,
) -> Compared {
    let configs = [sides[0].config, sides[1].config];
    let row = |kernel: &str, [a, b]: &[Statistics; 2]| {
        let [of_a, of_b] = [(0, a), (1, b)].map(|(side, run)| Numbers::new(&configs[side], run, a, energies));
        Row { kernel: kernel.to_owned(), a: of_a, b: of_b }
    };
    let rows: Vec<Row> = kernels.iter().zip(statistics).map(|(kernel, runs)| row(&kernel.name, runs)).collect();
    let mut sums = [Statistics::default(), Statistics::default()];
    for runs in statistics {
        sums.iter_mut().zip(runs).for_each(|(sum, run)| sum.add(run));
    }
    let total = row("all", &sums);
    let (differences, equal) = changes(&total.a, &total.b);
    let means = metrics::means(&rows.iter().map(|row| (row.kernel.as_str(), &row.a, &row.b)).collect::<Vec<_>>());
    let engine = if sides[0].library.is_some() { "rtl" } else { "model" };
    let [a, b] = sides;
    let (result, command, wall_s) = (Verdict::Pass, "compare", started.elapsed().as_secs_f64());
    Compared { result, command, engine, a, b, kernels: rows, total, means, differences, equal, wall_s }
}

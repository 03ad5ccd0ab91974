//! Which runs a `gpurf cosim` is made of.

use std::path::{Path, PathBuf};

use gpurf_blocks::Declaration;
use gpurf_blocks::config::{Config, PRESETS, Start};
use gpurf_blocks::registry::Entry;
use gpurf_blocks::shape::Straps;
use gpurf_launch::{Manifest, Source};
use gpurf_lockstep::Reproducer;
use gpurf_regress::{Inputs, Job, KernelInputs, Project, REGISTERS, suite};
use gpurf_stimulus::program::Weights;

use crate::args::{Cosim, Selection};
use crate::commands;
use crate::failure::Failure;
use crate::own_rtl::OwnRtl;

/// Seed of every run that is not given one.
const SEED: u64 = 1;
/// Cycles of every run that is not given a number.
pub const CYCLES: u64 = 500_000;

/// Runs, and the RTL they use.
pub struct Plan {
    /// What to run, in order.
    pub jobs: Vec<Job>,
    /// What replaces the project's RTL.
    pub own: OwnRtl,
    /// Whether the user asked for one run: one result then, not a list.
    pub single: bool,
}

/// Puts the command line in terms of runs.
///
/// # Errors
/// Anything that the user got wrong.
pub fn plan(project: &Project, arguments: &Cosim) -> Result<Plan, Failure> {
    let given = OwnRtl::new(project, &arguments.rtl, arguments.rtl_list.as_deref())?;
    if let Some(file) = &arguments.replay {
        if file.extension().is_some_and(|extension| extension == "toml") {
            return replay_program(project, file, given);
        }
        let reproducer = Reproducer::read(file)?;
        let own = if given.is_empty() { OwnRtl::of_reproducer(project, &reproducer.rtl)? } else { given };
        let job = replay(reproducer).map_err(|e| Failure::bad_input(format!("{}: {}", file.display(), e.message)))?;
        check_touched(&own, std::slice::from_ref(&job))?;
        return Ok(Plan { jobs: vec![job], own, single: true });
    }
    let (seed, cycles) = (arguments.seed.unwrap_or(SEED), arguments.cycles.unwrap_or(CYCLES));
    let named: Vec<&Entry> = arguments.block.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    let selection = &arguments.selection;
    let config = load(selection)?;
    let mut jobs = if let Some(count) = arguments.programs {
        let weights = arguments.weights.as_deref().map(|name| load_weights(name).map(|weights| (name, weights)));
        let weights = weights.transpose()?;
        suite::programs(config, seed, count, weights.as_ref().map(|(name, weights)| (*name, weights)))
    } else if !arguments.kernel.is_empty() {
        let kernel = |file: &PathBuf| Ok(suite::kernel(kernel_inputs(file)?, config, seed));
        arguments.kernel.iter().map(kernel).collect::<Result<_, Failure>>()?
    } else if arguments.all_shapes {
        suite::complete(project, seed, cycles)
    } else if !named.is_empty() || !selection.is_default() || !given.is_empty() {
        let chosen: Vec<&Entry> = if named.is_empty() { gpurf_sm::all().collect() } else { named.clone() };
        let runs = |block: &Entry| match block.name {
            "sm" => suite::kernels(project, config, seed),
            name => vec![suite::random(name, config, seed, cycles)],
        };
        chosen.into_iter().flat_map(runs).collect()
    } else {
        suite::standard(project, seed, cycles)
    };
    if !named.is_empty() {
        jobs.retain(|job| named.iter().any(|block| block.name == job.block));
    } else if !given.is_empty() {
        jobs.retain(|job| gpurf_sm::find(&job.block).is_some_and(|block| given.touches(block)));
    }
    pin(&mut jobs, &arguments.knob)?;
    distinct(&mut jobs);
    check_touched(&given, &jobs)?;
    let asked = named.len() + arguments.kernel.len() == 1 || arguments.programs == Some(1);
    let single = asked && jobs.len() == 1;
    Ok(Plan { jobs, own: given, single })
}

/// Keeps knobs of random inputs at a value.
fn pin(jobs: &mut [Job], knobs: &[(String, u32)]) -> Result<(), Failure> {
    if knobs.is_empty() {
        return Ok(());
    }
    for job in jobs {
        if !matches!(job.inputs, Inputs::Random) {
            return Err(Failure::bad_input(format!("--knob: the inputs of {} are not random", job.block)));
        }
        let names: Vec<&str> = gpurf_stimulus::knobs(&job.block).iter().map(|knob| knob.name).collect();
        if let Some((name, _)) = knobs.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            let known = names.join(", ");
            return Err(Failure::bad_input(format!("--knob: {} has no knob {name}; there are: {known}", job.block)));
        }
        job.inputs = Inputs::Pinned(knobs.to_vec());
    }
    Ok(())
}

/// The kernel of a launch manifest, with its PTX.
///
/// # Errors
/// When it cannot be read, or needs a compiler that is not there.
pub fn kernel_inputs(manifest: &Path) -> Result<KernelInputs, Failure> {
    let source = match Manifest::load(manifest).map_err(|e| Failure::bad_input(e.to_string()))?.source {
        Source::File(file) => file,
        Source::Assembly(_) => {
            let (ptx, text) = (PathBuf::new(), None);
            return Ok(KernelInputs { manifest: manifest.to_owned(), ptx, text, registers: REGISTERS });
        }
    };
    let ptx = commands::source::ptx(&source)?;
    Ok(KernelInputs { manifest: manifest.to_owned(), ptx: ptx.name.into(), text: Some(ptx.text), registers: REGISTERS })
}

/// The weights of that name.
///
/// # Errors
/// As [`Weights::load`].
pub fn load_weights(name: &str) -> Result<Weights, Failure> {
    Weights::load(name).map_err(|e| Failure::bad_input(format!("--weights: {e}")))
}

/// The run that a program with `[replay]` describes.
fn replay_program(project: &Project, file: &Path, given: OwnRtl) -> Result<Plan, Failure> {
    let at_fault = |e: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {e}", file.display()));
    let manifest = Manifest::load(file).map_err(|e| Failure::bad_input(e.to_string()))?;
    let replay = manifest.replay.ok_or_else(|| {
        at_fault(&"it has no [replay] to say on what to run: give it to --kernel, with --set and --seed")
    })?;
    let config = Config::load(Start::Preset(PRESETS[0].name), &replay.settings).map_err(|e| at_fault(&e))?;
    let own = if given.is_empty() {
        OwnRtl::of_reproducer(project, &replay.rtl)
            .map_err(|e| Failure { message: at_fault(&e.message).message, ..e })?
    } else {
        given
    };
    let job = suite::kernel(kernel_inputs(file)?, config, replay.seed);
    check_touched(&own, std::slice::from_ref(&job))?;
    Ok(Plan { jobs: vec![job], own, single: true })
}

/// The configuration that is selected.
///
/// # Errors
/// As [`Config::load`].
pub fn load(selection: &Selection) -> Result<Config, Failure> {
    let start = match (&selection.config, &selection.preset) {
        (Some(file), _) => Start::File(file),
        (None, Some(preset)) => Start::Preset(preset),
        (None, None) => Start::Preset(PRESETS[0].name),
    };
    Ok(Config::load(start, &selection.set)?)
}

/// The block of that name.
///
/// # Errors
/// Lists the blocks there are.
pub fn find(name: &str) -> Result<&'static Entry, Failure> {
    let names = || gpurf_sm::all().map(|b| b.name).collect::<Vec<_>>().join(", ");
    gpurf_sm::find(name).ok_or_else(|| Failure::bad_input(format!("there is no block {name}; there are: {}", names())))
}

/// Sizes and policies that are those of a preset.
pub fn preset_of(job: &Job) -> Option<&'static str> {
    if matches!(job.inputs, Inputs::Replay(_)) {
        return None;
    }
    PRESETS.iter().find(|p| p.config == job.config).map(|p| p.name)
}

/// The parameters that a block's RTL has, with the values of this configuration.
pub fn parameters(block: &str, config: &Config) -> Vec<(&'static str, u64)> {
    declaration(block, config).map(|d| d.parameters).unwrap_or_default()
}

fn declaration(block: &str, config: &Config) -> Option<Declaration> {
    gpurf_sm::find(block).map(|b| (b.twin)(config).declaration().clone())
}

/// Whether a block looks at the policies.
pub fn has_straps(job: &Job) -> bool {
    declaration(&job.block, &job.config).is_some_and(|d| has_straps_port(&d))
}

fn has_straps_port(declaration: &Declaration) -> bool {
    declaration.signal("cfg_i").is_some()
}

/// The command line that repeats a run.
pub fn command_of(job: &Job, own: &OwnRtl) -> String {
    let mut words = vec![match &job.inputs {
        Inputs::Kernel(kernel) => format!("gpurf cosim --kernel {}", kernel.manifest.display()),
        Inputs::Program(program) => format!("gpurf cosim --programs 1 --weights {}", program.name),
        _ => format!("gpurf cosim --block {}", job.block),
    }];
    match preset_of(job) {
        Some(preset) => words.push(format!("--preset {preset}")),
        None => words.extend(job.config.settings().iter().map(|setting| format!("--set {setting}"))),
    }
    if let Inputs::Pinned(pins) = &job.inputs {
        words.extend(pins.iter().map(|(name, value)| format!("--knob {name}={value}")));
    }
    words.push(format!("--seed {}", job.seed));
    if !matches!(job.inputs, Inputs::Kernel(_) | Inputs::Program(_)) {
        words.push(format!("--cycles {}", job.cycles));
    }
    words.extend(own.options.iter().cloned());
    words.join(" ")
}

/// Leaves out runs that the block cannot tell apart: its parameters, straps, seed and inputs are those of an earlier one.
fn distinct(jobs: &mut Vec<Job>) {
    let mut seen = std::collections::BTreeSet::new();
    jobs.retain(|job| {
        let Some(declaration) = declaration(&job.block, &job.config) else { return true };
        let straps = has_straps_port(&declaration).then(|| Straps::of(&job.config).of_block(&job.block));
        let (kernel, program) = match &job.inputs {
            Inputs::Kernel(kernel) => (Some(kernel.clone()), None),
            Inputs::Program(program) => (None, Some(program.name.clone())),
            _ => (None, None),
        };
        seen.insert((job.block.clone(), declaration.parameters, straps, job.seed, kernel, program))
    });
}

/// A replaced module that no run contains would be silently ignored.
fn check_touched(own: &OwnRtl, jobs: &[Job]) -> Result<(), Failure> {
    let contains = |job: &Job, module: &str| gpurf_sm::find(&job.block).is_some_and(|block| block.contains(module));
    let unused = own.modules().into_iter().find(|module| !jobs.iter().any(|job| contains(job, module)));
    unused.map_or(Ok(()), |module| {
        let blocks: Vec<&str> = jobs.iter().map(|job| job.block.as_str()).collect();
        Err(Failure::bad_input(format!("{module} is to be replaced, but {} does not contain it", blocks.join(", "))))
    })
}

/// The run that a reproducer describes.
fn replay(reproducer: Reproducer) -> Result<Job, Failure> {
    let block = find(&reproducer.block)?.name.to_owned();
    let config = Config::load(Start::Preset(PRESETS[0].name), &reproducer.settings)?;
    let (seed, cycles) = (reproducer.seed, reproducer.cycles.len() as u64);
    Ok(Job { block, config, seed, cycles, inputs: Inputs::Replay(reproducer), keep_failure: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[&str]) -> Config {
        Config::load(Start::Preset("baseline"), settings).unwrap()
    }

    fn reproducer(settings: &[&str]) -> Reproducer {
        Reproducer {
            gpurf_reproducer: 2,
            block: "mrf_bank".into(),
            settings: settings.iter().map(|&s| s.into()).collect(),
            seed: 7,
            rtl: Vec::new(),
            cycles: Vec::new(),
        }
    }

    #[test]
    fn a_reproducer_gives_the_configuration() {
        let job = replay(reproducer(&["mrf.ports=1r1w", "mrf.banks=8"])).unwrap();
        assert_eq!((job.config, job.seed), (config(&["mrf.ports=1r1w", "mrf.banks=8"]), 7));
    }

    #[test]
    fn a_reproducer_with_a_wrong_configuration_is_refused() {
        let message = replay(reproducer(&["mrf.banks=5"])).unwrap_err().message;
        assert_eq!(message, "--set: mrf.banks = 5 is not allowed: it has to be 2, 4, 8, 16 or 32");
    }

    #[test]
    fn runs_that_a_block_cannot_tell_apart_are_made_once() {
        let mut jobs = vec![
            suite::random("ram_1rw", config(&[]), 1, 10),
            suite::random("ram_1rw", config(&["mrf.banks=4", "mrf.kilobytes=32", "mrf.read_order=round_robin"]), 1, 10),
            suite::random("ram_1rw", config(&["mrf.kilobytes=256"]), 1, 10),
        ];
        distinct(&mut jobs);
        assert_eq!(jobs.iter().map(|j| j.config.shape().depth).collect::<Vec<_>>(), [64, 128]);
    }

    #[test]
    fn a_command_names_what_differs_from_the_baseline() {
        let other = config(&["mrf.banks=8", "mrf.ports=1r1w", "mrf.read_order=round_robin"]);
        let command = command_of(&suite::random("mrf", other, 3, 500), &OwnRtl::default());
        let options = "--set mrf.banks=8 --set mrf.ports=1r1w --set mrf.read_order=round_robin --seed 3 --cycles 500";
        assert_eq!(command, format!("gpurf cosim --block mrf {options}"));
        let mut jobs = [suite::random("alu", config(&[]), 1, 9)];
        pin(&mut jobs, &[("offer".into(), 1000), ("reset".into(), 0)]).unwrap();
        let command = command_of(&jobs[0], &OwnRtl::default());
        let options = "--preset baseline --knob offer=1000 --knob reset=0 --seed 1 --cycles 9";
        assert_eq!(command, format!("gpurf cosim --block alu {options}"));
        let message =
            pin(&mut [suite::random("ram_1rw", config(&[]), 1, 9)], &[("offer".into(), 1)]).unwrap_err().message;
        assert!(message.starts_with("--knob: ram_1rw has no knob offer; there are: "), "{message}");
        let command = command_of(&suite::random("mrf", config(&[]), 1, 9), &OwnRtl::default());
        assert_eq!(command, "gpurf cosim --block mrf --preset baseline --seed 1 --cycles 9");
    }
}

//! Selects the runs of `gpurf cosim`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpurf_blocks::Declaration;
use gpurf_blocks::config::{Config, DEFAULT_PRESET, Start};
use gpurf_blocks::registry::Entry;
use gpurf_blocks::shape::straps_of;
use gpurf_launch::{Manifest, Source};
use gpurf_lockstep::Reproducer;
use gpurf_regress::{Inputs, JobError, KernelInputs, LockstepJob, Project, REGISTERS, is_built_from, suite};
use gpurf_stimulus::program::Weights;
use serde::Serialize;

use crate::args::{Cosim, Replacements, Selection};
use crate::commands;
use crate::failure::Failure;
use crate::own_rtl::OwnRtl;

/// Default seed of runs.
const SEED: u64 = 1;
/// Default number of cycles of a run.
const CYCLES: u64 = 500_000;

/// Runs, and the RTL that they use.
pub struct CosimPlan {
    /// The runs, in order.
    pub jobs: Vec<LockstepJob>,
    /// The RTL that replaces the project's.
    pub own: OwnRtl,
    /// Whether the user requested a single run, whose result is then printed without a list.
    pub single: bool,
    /// Present if the runs are those of the whole suite that contain replaced RTL.
    pub part: Option<Part>,
}

/// A part of the whole suite.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part {
    /// Number of its jobs.
    pub jobs: usize,
    /// Number of jobs of the whole suite.
    pub of: usize,
}

/// Translates the command line into runs.
///
/// # Errors
/// If the user made any mistake.
pub fn plan(project: &Project, arguments: &Cosim) -> Result<CosimPlan, Failure> {
    if let Some(file) = &arguments.replay {
        return replay(project, file, &arguments.rtl);
    }
    let given = OwnRtl::new(project, &arguments.rtl)?;
    let (seed, cycles) = (arguments.seed.unwrap_or(SEED), arguments.cycles.unwrap_or(CYCLES));
    let named: Vec<&Entry> = arguments.block.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    let selection = &arguments.selection;
    let config = load(selection)?;
    let mut from_suite = false;
    let mut jobs = if let Some(count) = arguments.programs {
        let weights = arguments.weights.as_deref().map(|name| load_weights(name).map(|weights| (name, weights)));
        let weights = weights.transpose()?;
        suite::programs(config, seed, count, weights.as_ref().map(|(name, weights)| (*name, weights)))
    } else if !arguments.kernel.is_empty() {
        let kernel = |file: &PathBuf| Ok(suite::kernel(kernel_inputs(file)?, config, seed));
        arguments.kernel.iter().map(kernel).collect::<Result<_, Failure>>()?
    } else if arguments.all_shapes {
        suite::complete(project, seed, cycles)
    } else if !selection.is_default() || given.is_empty() && !named.is_empty() {
        let chosen: Vec<&Entry> = if named.is_empty() { gpurf_sm::all().collect() } else { named.clone() };
        let runs = |block: &Entry| match block.name {
            "sm" => suite::kernels(project, config, seed),
            name => vec![suite::random(name, config, seed, cycles)],
        };
        chosen.into_iter().flat_map(runs).collect()
    } else {
        from_suite = true;
        // With the user's own RTL, all jobs that contain it are run.
        let suite = if arguments.whole || !given.is_empty() { suite::whole } else { suite::standard };
        let mut jobs = suite(project, seed, cycles);
        // If the user sets the number of cycles, no run ends early.
        jobs.iter_mut().for_each(|job| job.may_end_early &= arguments.cycles.is_none());
        jobs
    };
    distinct(&mut jobs);
    let of = jobs.len();
    if !named.is_empty() {
        jobs.retain(|job| named.iter().any(|block| block.name == job.block));
    }
    check_touched(&given, &jobs)?;
    if !given.is_empty() {
        if let Some(block) = named.iter().find(|block| !given.touches(block)) {
            let message = format!("--block {}: it contains no replaced module or package", block.name);
            return Err(Failure::bad_input(message));
        }
        jobs.retain(|job| gpurf_sm::find(&job.block).is_some_and(|block| given.touches(block)));
    }
    pin(&mut jobs, &arguments.knob)?;
    check_absent(&given, &jobs)?;
    let asked = named.len() + arguments.kernel.len() == 1 || arguments.programs == Some(1);
    let single = asked && jobs.len() == 1;
    let part = (from_suite && !given.is_empty()).then_some(Part { jobs: jobs.len(), of });
    Ok(CosimPlan { jobs, own: given, single, part })
}

/// The run of a reproducer, or of a program with `[replay]`.
fn replay(project: &Project, file: &Path, rtl: &Replacements) -> Result<CosimPlan, Failure> {
    let remembered = rtl.files.is_empty() && rtl.list.is_none();
    let own = |files: &[String]| match remembered {
        true => OwnRtl::of_reproducer(project, files, &rtl.allow_absent),
        false => OwnRtl::new(project, rtl),
    };
    let (job, own) = if file.extension().is_some_and(|extension| extension == "toml") {
        replay_program(file, &own)?
    } else {
        let reproducer = Reproducer::read(file)?;
        let own = own(&reproducer.rtl)?;
        find(&reproducer.block)?;
        let wrong = |e: JobError| Failure::bad_input(format!("{}: {e}", file.display()));
        (LockstepJob::of_reproducer(reproducer).map_err(wrong)?, own)
    };
    check_touched(&own, std::slice::from_ref(&job))?;
    check_absent(&own, std::slice::from_ref(&job))?;
    Ok(CosimPlan { jobs: vec![job], own, single: true, part: None })
}

/// Keeps knobs of the random inputs at fixed values.
fn pin(jobs: &mut [LockstepJob], knobs: &[(String, u32)]) -> Result<(), Failure> {
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
/// If it cannot be read, or needs a compiler that is not available.
pub fn kernel_inputs(manifest: &Path) -> Result<KernelInputs, Failure> {
    let source = match Manifest::load(manifest)?.source {
        Source::File(file) => file,
        Source::Assembly(_) => {
            let (ptx, text) = (PathBuf::new(), None);
            return Ok(KernelInputs { manifest: manifest.to_owned(), ptx, text, registers: REGISTERS });
        }
    };
    let ptx = commands::source::ptx(&source)?;
    Ok(KernelInputs { manifest: manifest.to_owned(), ptx: ptx.name.into(), text: Some(ptx.text), registers: REGISTERS })
}

/// The weights with this name.
///
/// # Errors
/// As [`Weights::load`].
pub fn load_weights(name: &str) -> Result<Weights, Failure> {
    Weights::load(name).map_err(|e| Failure::bad_input(format!("--weights: {e}")))
}

/// The run that a program with `[replay]` describes, and the RTL that `own` returns for its files.
fn replay_program(
    file: &Path,
    own: &dyn Fn(&[String]) -> Result<OwnRtl, Failure>,
) -> Result<(LockstepJob, OwnRtl), Failure> {
    let at_fault = |e: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {e}", file.display()));
    let manifest = Manifest::load(file).map_err(|e| {
        Failure::bad_input(format!("{} is neither a reproducer (.json) nor a program to replay: {e}", file.display()))
    })?;
    let replay = manifest.replay.ok_or_else(|| {
        at_fault(&"it has no [replay] section with the machine: run it with --kernel, --set and --seed")
    })?;
    let config = Config::load(Start::Preset(DEFAULT_PRESET), &replay.settings).map_err(|e| at_fault(&e))?;
    let own = own(&replay.rtl).map_err(|e| Failure { message: at_fault(&e.message).message, ..e })?;
    Ok((suite::kernel(kernel_inputs(file)?, config, replay.seed), own))
}

/// The selected configuration.
///
/// # Errors
/// As [`Config::load`].
pub fn load(selection: &Selection) -> Result<Config, Failure> {
    let start = match (&selection.config, &selection.preset) {
        (Some(file), _) => Start::File(file),
        (None, Some(preset)) => Start::Preset(preset),
        (None, None) => Start::Preset(DEFAULT_PRESET),
    };
    Ok(Config::load(start, &selection.set)?)
}

/// The block with this name.
///
/// # Errors
/// If there is no such block: the message lists all blocks.
pub fn find(name: &str) -> Result<&'static Entry, Failure> {
    gpurf_sm::named(name).map_err(|error| Failure::bad_input(error.to_string()))
}

/// The parameters of a block's RTL, with their values in this configuration.
pub fn parameters(block: &str, config: &Config) -> Vec<(&'static str, u64)> {
    declaration(block, config).map(|d| d.parameters).unwrap_or_default()
}

fn declaration(block: &str, config: &Config) -> Option<Declaration> {
    gpurf_sm::find(block).map(|b| (b.twin)(config).declaration().clone())
}

/// Whether a block has strap ports, on which policies depend.
pub fn has_straps(job: &LockstepJob) -> bool {
    !straps(&job.block, &job.config).is_empty()
}

/// The values of a block's strap ports, by port, in hexadecimal.
pub fn straps(block: &str, config: &Config) -> BTreeMap<&'static str, String> {
    let ports = declaration(block, config).map_or_else(Vec::new, |declaration| straps_of(&declaration, config));
    ports.into_iter().map(|(port, value)| (port, format!("{value:#x}"))).collect()
}

/// Drops a run that the block cannot distinguish from an earlier one: its parameters, straps, seed, cycles and inputs are the same. Runs of programs
/// and kernels on the SM depend on the whole configuration, because compiler, memory and host are not part of the RTL.
fn distinct(jobs: &mut Vec<LockstepJob>) {
    let mut seen = std::collections::BTreeSet::new();
    // The declaration of the last block and configuration: the SM runs all kernels in one configuration, and computing its declaration takes
    // milliseconds.
    let mut last = None;
    jobs.retain(|job| {
        let is_last = |(block, config, _): &(String, Config, _)| (block, config) == (&job.block, &job.config);
        let (_, _, known) = last.take().filter(is_last).unwrap_or_else(|| {
            let declaration = declaration(&job.block, &job.config);
            let known = declaration.map(|declaration| (straps_of(&declaration, &job.config), declaration.parameters));
            (job.block.clone(), job.config, known)
        });
        last = Some((job.block.clone(), job.config, known.clone()));
        let Some((straps, parameters)) = known else { return true };
        let (kernel, name) = match &job.inputs {
            Inputs::Kernel(kernel) => (Some(kernel.clone()), None),
            Inputs::Program(program) => (None, Some(program.name.clone())),
            Inputs::Directed(sequence) => (None, Some(sequence.clone())),
            Inputs::Random | Inputs::Pinned(_) | Inputs::Replay(_) => (None, None),
        };
        let machine = matches!(job.inputs, Inputs::Kernel(_) | Inputs::Program(_)).then(|| job.config.settings());
        let inputs = (job.seed, job.cycles, kernel, name);
        seen.insert((job.block.clone(), parameters, straps, machine, inputs))
    });
}

/// Checks that each replaced module is part of some run; otherwise it would be silently ignored.
fn check_touched(own: &OwnRtl, jobs: &[LockstepJob]) -> Result<(), Failure> {
    let contains =
        |job: &LockstepJob, module: &str| gpurf_sm::find(&job.block).is_some_and(|block| is_built_from(block, module));
    let is_used = |module: &&str| jobs.iter().any(|job| contains(job, module)) || own.names_package(module);
    let unused = own.modules().into_iter().find(|module| !is_used(module));
    unused.map_or(Ok(()), |module| {
        let mut blocks: Vec<&str> = jobs.iter().map(|job| job.block.as_str()).collect();
        blocks.dedup();
        Err(Failure::bad_input(format!("{module} is to be replaced, but {} does not contain it", blocks.join(", "))))
    })
}

/// Checks that each name that may be absent is compared in some run.
fn check_absent(own: &OwnRtl, jobs: &[LockstepJob]) -> Result<(), Failure> {
    if own.sources.allow_absent.is_empty() {
        return Ok(());
    }
    let declarations: Vec<Declaration> = jobs.iter().filter_map(|job| declaration(&job.block, &job.config)).collect();
    own.check_absent(declarations.iter())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn config(settings: &[&str]) -> Config {
        Config::load(Start::Preset("baseline"), settings).unwrap()
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
    fn runs_that_differ_outside_the_rtl_are_all_made() {
        let memory = |settings: &[&str]| suite::few_programs(config(settings), 1).swap_remove(0);
        let directed = |name: &str| LockstepJob {
            inputs: Inputs::Directed(name.to_owned()),
            ..suite::random("mrf", config(&[]), 1, 10)
        };
        let jobs = vec![
            memory(&[]),
            memory(&["memory.latency=800"]),
            memory(&["compiler.schedule=tree"]),
            directed("one"),
            directed("other"),
            suite::random("mrf", config(&[]), 1, 10),
            suite::random("mrf", config(&[]), 1, 20),
        ];
        let count = jobs.len();
        let mut twice = [jobs.clone(), jobs].concat();
        distinct(&mut twice);
        assert_eq!(twice.len(), count);
    }

    fn planned(words: &[&str]) -> Result<CosimPlan, Failure> {
        let words = ["gpurf", "cosim"].iter().chain(words);
        let Command::Cosim(arguments) = Cli::parse_from(words).command else { panic!("a cosim") };
        plan(&Project::find(), &arguments)
    }

    #[test]
    fn the_default_suite_is_a_part_of_the_whole_one_that_has_every_block_and_every_machine() {
        let (whole, standard) = (planned(&["--whole"]).unwrap().jobs, planned(&[]).unwrap().jobs);
        let key = |job: &LockstepJob| (job.block.clone(), job.config.settings(), job.seed, job.cycles);
        let all: Vec<_> = whole.iter().map(key).collect();
        assert!(standard.iter().all(|job| all.contains(&key(job))));
        assert!(standard.len() * 2 < whole.len(), "{} of {}", standard.len(), whole.len());
        let blocks = |jobs: &[LockstepJob]| jobs.iter().map(|job| job.block.clone()).collect::<BTreeSet<_>>();
        assert_eq!(blocks(&standard), blocks(&whole));
        // Machines, distinguished by the parameters for which the RTL is built.
        let machines = |jobs: &[LockstepJob]| {
            let of_machine = jobs.iter().filter(|job| job.block == "sm");
            of_machine.map(|job| parameters("sm", &job.config)).collect::<BTreeSet<_>>()
        };
        assert_eq!(machines(&standard), machines(&whole));
        // Each kernel and theme that the suite runs at the baseline also runs at another machine.
        let runs = |job: &LockstepJob| match &job.inputs {
            Inputs::Kernel(kernel) => Some(kernel.manifest.clone()),
            Inputs::Program(program) => Some(PathBuf::from(&program.name)),
            _ => None,
        };
        let baseline = parameters("sm", &Config::default());
        let (at, elsewhere): (Vec<_>, Vec<_>) = standard
            .iter()
            .filter_map(|job| Some((parameters("sm", &job.config) == baseline, runs(job)?)))
            .partition(|(at, _)| *at);
        let names = |of: Vec<(bool, PathBuf)>| of.into_iter().map(|(_, name)| name).collect::<BTreeSet<_>>();
        let elsewhere = names(elsewhere);
        let missing: Vec<_> = names(at).into_iter().filter(|name| !elsewhere.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        // A run may end early only in the default suite, and not if the user sets the number of cycles.
        assert!(standard.iter().any(|job| job.may_end_early) && !whole.iter().any(|job| job.may_end_early));
        let asked = planned(&["--cycles", "500000"]).unwrap().jobs;
        assert!(!asked.iter().any(|job| job.may_end_early));
    }

    #[test]
    fn a_replaced_module_or_package_means_its_part_of_the_whole_suite() {
        let whole = planned(&["--whole"]).unwrap();
        assert!(whole.part.is_none() && whole.jobs.len() > 200);
        let project = Project::find();
        for path in ["mrf/mrf_arbiter", "issue/two_level_scheduler", "execute/fp_pkg", "sm/sm", "gpurf_pkg"] {
            let name = gpurf_regress::file_name(path);
            let option = format!("{name}={}", project.rtl().join(path).with_extension("sv").display());
            let found = planned(&["--rtl", &option]).unwrap();
            let contains = |job: &&LockstepJob| is_built_from(find(&job.block).unwrap(), name);
            let wanted: Vec<&LockstepJob> = whole.jobs.iter().filter(contains).collect();
            let same = |(a, b): (&LockstepJob, &&LockstepJob)| {
                (&a.block, a.config, a.seed, a.cycles) == (&b.block, b.config, b.seed, b.cycles)
            };
            assert!(found.jobs.len() == wanted.len() && found.jobs.iter().zip(&wanted).all(same), "{name}");
            let part = found.part.map(|part| (part.jobs, part.of));
            assert_eq!(part, Some((wanted.len(), whole.jobs.len())), "{name}");
            assert!(wanted.iter().any(|job| matches!(job.inputs, Inputs::Program(_))), "{name}");
            // --block narrows the part; a configuration replaces the suite.
            if name == "mrf_arbiter" {
                let shapes = planned(&["--rtl", &option, "--block", "mrf_arbiter"]).unwrap();
                assert!(shapes.jobs.len() == 4 && shapes.part.is_some_and(|part| part.jobs == 4));
                let one = planned(&["--rtl", &option, "--block", "mrf_arbiter", "--preset", "mrf-1r1w"]).unwrap();
                assert!(one.jobs.len() == 1 && one.part.is_none());
                let message = planned(&["--rtl", &option, "--block", "mrf_arbiter", "--block", "alu"]).err().unwrap();
                assert_eq!(message.message, "--block alu: it contains no replaced module or package");
            }
        }
    }

    #[test]
    fn a_knob_is_one_of_the_block() {
        let mut jobs = [suite::random("alu", config(&[]), 1, 9)];
        pin(&mut jobs, &[("offer".into(), 1000)]).unwrap();
        assert!(matches!(&jobs[0].inputs, Inputs::Pinned(pins) if pins.len() == 1));
        let message =
            pin(&mut [suite::random("ram_1rw", config(&[]), 1, 9)], &[("offer".into(), 1)]).unwrap_err().message;
        assert!(message.starts_with("--knob: ram_1rw has no knob offer; there are: "), "{message}");
    }
}

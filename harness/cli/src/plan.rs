//! Which runs a `gpurf cosim` is made of.

use gpurf_blocks::config::{Config, PRESETS, Start};
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::registry::{self, BLOCKS, Entry};
use gpurf_blocks::{Declaration, Shape};
use gpurf_lockstep::Reproducer;
use gpurf_regress::{Inputs, Job, Project, suite};

use crate::args::{Cosim, Selection};
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
    let mut jobs = if arguments.all_shapes {
        suite::complete(seed, cycles)
    } else if !named.is_empty() || !selection.is_default() || !given.is_empty() {
        let chosen: Vec<&Entry> = if named.is_empty() { BLOCKS.iter().collect() } else { named.clone() };
        chosen.into_iter().map(|b| suite::random(b.name, config.shape(), config.straps(), seed, cycles)).collect()
    } else {
        suite::standard(seed, cycles)
    };
    if !named.is_empty() {
        jobs.retain(|job| named.iter().any(|block| block.name == job.block));
    } else if !given.is_empty() {
        jobs.retain(|job| registry::find(&job.block).is_some_and(|block| given.touches(block)));
    }
    distinct(&mut jobs);
    check_touched(&given, &jobs)?;
    let single = named.len() == 1 && jobs.len() == 1;
    Ok(Plan { jobs, own: given, single })
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
    let names = || BLOCKS.iter().map(|b| b.name).collect::<Vec<_>>().join(", ");
    registry::find(name).ok_or_else(|| Failure::bad_input(format!("there is no block {name}; there are: {}", names())))
}

/// Sizes and policies that are those of a preset.
pub fn preset_of(job: &Job) -> Option<&'static str> {
    if matches!(job.inputs, Inputs::Replay(_)) {
        return None;
    }
    PRESETS.iter().find(|p| p.config.shape() == job.shape && p.config.straps() == job.straps).map(|p| p.name)
}

/// The parameters that a block's RTL has, with the values of this shape.
pub fn parameters(block: &str, shape: &MrfShape) -> Vec<(&'static str, u64)> {
    declaration(block, shape).map(|d| d.parameters).unwrap_or_default()
}

fn declaration(block: &str, shape: &MrfShape) -> Option<Declaration> {
    registry::find(block).map(|b| (b.twin)(shape).declaration().clone())
}

/// The command line that repeats a run.
pub fn command_of(job: &Job, own: &OwnRtl) -> String {
    let mut words = vec![format!("gpurf cosim --block {}", job.block)];
    let base = MrfShape::BASELINE;
    match preset_of(job) {
        Some(preset) => words.push(format!("--preset {preset}")),
        None => {
            let shape = &job.shape;
            // Registers in a kilobyte: 1024 bytes of 128.
            let kilobytes = |s: &MrfShape| s.banks * s.depth / 8;
            let ports = |s: &MrfShape| if s.dual_port { "1r1w" } else { "1rw" };
            let mut set = |key: &str, value: String, default: String| {
                if value != default {
                    words.push(format!("--set mrf.{key}={value}"));
                }
            };
            set("banks", shape.banks.to_string(), base.banks.to_string());
            set("ports", ports(shape).into(), ports(&base).into());
            set("collectors", shape.collectors.to_string(), base.collectors.to_string());
            set("issue_ports", shape.issue_ports.to_string(), base.issue_ports.to_string());
            set("kilobytes", kilobytes(shape).to_string(), kilobytes(&base).to_string());
            set("tag_bits", shape.tag_w.to_string(), base.tag_w.to_string());
            set("read_order", (if job.straps & 1 == 1 { "round_robin" } else { "oldest" }).into(), "oldest".into());
        }
    }
    words.push(format!("--seed {} --cycles {}", job.seed, job.cycles));
    words.extend(own.options.iter().cloned());
    words.join(" ")
}

/// Leaves out runs that the block cannot tell apart: its parameters, straps, seed and inputs are those of an earlier one.
fn distinct(jobs: &mut Vec<Job>) {
    let mut seen = std::collections::BTreeSet::new();
    jobs.retain(|job| {
        let Some(declaration) = declaration(&job.block, &job.shape) else { return true };
        let straps = declaration.signal("cfg_i").map(|_| job.straps);
        seen.insert((job.block.clone(), declaration.parameters, straps, job.seed))
    });
}

/// A replaced module that no run contains would be silently ignored.
fn check_touched(own: &OwnRtl, jobs: &[Job]) -> Result<(), Failure> {
    let contains = |job: &Job, module: &str| {
        registry::find(&job.block).is_some_and(|b| b.sources.iter().any(|s| s.rsplit('/').next() == Some(module)))
    };
    let unused = own.modules().into_iter().find(|module| !jobs.iter().any(|job| contains(job, module)));
    unused.map_or(Ok(()), |module| {
        let blocks: Vec<&str> = jobs.iter().map(|job| job.block.as_str()).collect();
        Err(Failure::bad_input(format!("{module} is to be replaced, but {} does not contain it", blocks.join(", "))))
    })
}

/// The run that a reproducer describes.
fn replay(reproducer: Reproducer) -> Result<Job, Failure> {
    let block = find(&reproducer.block)?;
    let mut shape = MrfShape::BASELINE;
    for (name, &value) in &reproducer.parameters {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        let power = |low, high| size.is_power_of_two() && (low..=high).contains(&size);
        let good = match name.as_str() {
            "Banks" => power(2, 32),
            "DualPort" => size <= 1,
            "Collectors" => power(4, 16),
            "IssuePorts" => (1..=2).contains(&size),
            "Depth" => power(2, 4096),
            "TagW" => (1..=64).contains(&size),
            _ => return Err(Failure::bad_input(format!("{} has no parameter {name}", block.name))),
        };
        if !good {
            return Err(Failure::bad_input(format!("{} cannot have {name}={value}", block.name)));
        }
        match name.as_str() {
            "Banks" => shape.banks = size,
            "DualPort" => shape.dual_port = size == 1,
            "Collectors" => shape.collectors = size,
            "IssuePorts" => shape.issue_ports = size,
            "Depth" => shape.depth = size,
            _ => shape.tag_w = size as u32,
        }
    }
    for (name, _) in parameters(block.name, &shape) {
        if !reproducer.parameters.contains_key(name) {
            return Err(Failure::bad_input(format!("the parameter {name} of {} is missing", block.name)));
        }
    }
    debug_assert!(reproducer.parameters.iter().all(|(name, &value)| shape.parameter(name) == value));
    let (seed, cycles) = (reproducer.seed, reproducer.cycles.len() as u64);
    Ok(Job {
        block: reproducer.block.clone(),
        shape,
        straps: 0,
        seed,
        cycles,
        inputs: Inputs::Replay(reproducer),
        keep_failure: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reproducer(parameters: &[(&str, u64)]) -> Reproducer {
        Reproducer {
            gpurf_reproducer: 1,
            block: "mrf_bank".into(),
            parameters: parameters.iter().map(|&(n, v)| (n.into(), v)).collect(),
            seed: 7,
            rtl: Vec::new(),
            cycles: Vec::new(),
        }
    }

    #[test]
    fn a_reproducer_gives_the_shape() {
        let job = replay(reproducer(&[("DualPort", 1), ("Depth", 128)])).unwrap();
        assert_eq!((job.shape.dual_port, job.shape.depth, job.seed), (true, 128, 7));
    }

    #[test]
    fn a_reproducer_with_wrong_parameters_is_refused() {
        let message = |parameters: &[(&str, u64)]| replay(reproducer(parameters)).unwrap_err().message;
        assert_eq!(message(&[("DualPort", 1)]), "the parameter Depth of mrf_bank is missing");
        assert_eq!(message(&[("DualPort", 2), ("Depth", 64)]), "mrf_bank cannot have DualPort=2");
        assert_eq!(message(&[("DualPort", 0), ("Depth", 65)]), "mrf_bank cannot have Depth=65");
        assert_eq!(message(&[("DualPort", 0), ("Depth", 64), ("Width", 1)]), "mrf_bank has no parameter Width");
    }

    #[test]
    fn runs_that_a_block_cannot_tell_apart_are_made_once() {
        let base = MrfShape::BASELINE;
        let mut jobs = vec![
            suite::random("ram_1rw", base, 0, 1, 10),
            suite::random("ram_1rw", MrfShape { banks: 4, ..base }, 1, 1, 10),
            suite::random("ram_1rw", MrfShape { depth: 128, ..base }, 0, 1, 10),
        ];
        distinct(&mut jobs);
        assert_eq!(jobs.iter().map(|j| j.shape.depth).collect::<Vec<_>>(), [64, 128]);
    }

    #[test]
    fn a_command_names_what_differs_from_the_baseline() {
        let shape = MrfShape { banks: 8, depth: 128, dual_port: true, ..MrfShape::BASELINE };
        let command = command_of(&suite::random("mrf", shape, 1, 3, 500), &OwnRtl::default());
        let options = "--set mrf.banks=8 --set mrf.ports=1r1w --set mrf.read_order=round_robin --seed 3 --cycles 500";
        assert_eq!(command, format!("gpurf cosim --block mrf {options}"));
        let command = command_of(&suite::random("mrf", MrfShape::BASELINE, 0, 1, 9), &OwnRtl::default());
        assert_eq!(command, "gpurf cosim --block mrf --preset baseline --seed 1 --cycles 9");
    }
}

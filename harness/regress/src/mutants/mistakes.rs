//! Mistakes that designers make, inserted into the parsed source.

use std::path::{Path, PathBuf};

use gpurf_blocks::config::Config;
use serde::Deserialize;

use super::places::{machine_shapes, of_suite, parameters, policies};
use super::{Change, Family, Mutant, Parameters, keep_for_this_process, netlist, python, run, verdict_of};
use crate::{JobError, Project, RtlSources, packages_of};

/// The output of `source_mutants.py`.
#[derive(Deserialize)]
struct SourceFile {
    mutants: Vec<SourceEntry>,
}

/// One mutant of the output.
#[derive(Deserialize)]
struct SourceEntry {
    select: u16,
    operator: String,
    description: String,
    /// Indices of the shapes in which it exists.
    shapes: Vec<usize>,
    /// The modules that read the broken net or connection.
    readers: Vec<String>,
}

/// Generates `count` mistakes in each module that `wanted` accepts.
///
/// # Errors
/// When pyslang is not installed, or a module cannot be elaborated with its mutants.
pub fn mistakes(
    project: &Project,
    wanted: &dyn Fn(&str) -> bool,
    count: usize,
    seed: u64,
) -> Result<Vec<Mutant>, JobError> {
    let mut mutants = Vec::new();
    for entry in gpurf_sm::all().filter(|entry| wanted(entry.name)) {
        let module = entry.name;
        let shapes = shapes(project, module);
        let folder = project.root.join("target/mutants").join(format!("{module}-source"));
        keep_for_this_process(&folder)?;
        let mut command = python(project, "source_mutants.py")?;
        command.args(["--module", module, "-n", &count.to_string(), "--seed", &seed.to_string()]);
        command.arg("--out").arg(&folder).arg("-I").arg(project.rtl());
        for shape in &shapes {
            let words: Vec<String> = shape.iter().map(|(name, value)| format!("{name}={value}")).collect();
            command.arg("--shape").arg(words.join(","));
        }
        command.arg(project.rtl().join("gpurf_pkg.sv"));
        let sources = entry.sources();
        let files = packages_of(entry).into_iter().chain(sources.into_iter().rev());
        command.args(files.map(|s| project.rtl().join(s).with_extension("sv")));
        run(command, &format!("mutants of {module}"))?;
        for entry in read(&folder)?.mutants {
            let shapes = entry.shapes.iter().filter_map(|&number| shapes.get(number).cloned()).collect();
            mutants.push(Mutant {
                module: module.to_owned(),
                name: entry.description,
                family: Family::Mistake,
                operator: Some(entry.operator),
                equivalent: None,
                readers: entry.readers,
                change: Change::Source { folder: folder.clone(), select: entry.select, shapes },
            });
        }
    }
    Ok(mutants)
}

fn read(folder: &Path) -> Result<SourceFile, JobError> {
    let path = folder.join("mutants.json");
    let unreadable = |e: &dyn std::fmt::Display| JobError::Build(format!("cannot read {}: {e}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&e))?;
    serde_json::from_str(&text).map_err(|e| unreadable(&e))
}

/// The distinct sets of parameters with which a module's mutants run.
fn shapes(project: &Project, module: &str) -> Vec<Parameters> {
    let configs = if module == gpurf_sm::ENTRY.name {
        machine_shapes(project)
    } else {
        policies(module).into_iter().chain(of_suite(module, 0).map(|job| job.config)).collect()
    };
    let mut shapes: Vec<Parameters> = Vec::new();
    for config in configs {
        let shape = parameters(module, &config);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

/// The RTL in which a module is replaced by its source with mistakes.
pub(super) fn sources(folder: &Path, module: &str, select: u16) -> RtlSources {
    let file: PathBuf = folder.join(format!("{module}.sv"));
    RtlSources { overrides: vec![(module.to_owned(), file)], select: Some(select), ..RtlSources::default() }
}

/// Yosys' result for a mutant and the original in a configuration: equivalent, or another word of `prove_equivalent.py`.
pub(super) fn proof(
    project: &Project,
    module: &str,
    folder: &Path,
    select: u16,
    config: &Config,
    limit_s: u32,
) -> Result<String, JobError> {
    let entry = gpurf_sm::find(module).expect("a module with mutants");
    let mut command = python(project, "prove_source.py")?;
    command.args(["--module", module, "--select", &select.to_string(), "--limit", &limit_s.to_string()]);
    netlist::elaboration(&mut command, project, module, config);
    command.arg(project.rtl().join("gpurf_pkg.sv"));
    command.args(packages_of(entry).into_iter().map(|s| project.rtl().join(s).with_extension("sv")));
    let own = |s: &&str| s.rsplit('/').next() == Some(module);
    for source in entry.sources().iter().rev().filter(|s| !own(s)) {
        command.arg(project.rtl().join(source).with_extension("sv"));
    }
    command.arg("--original").arg(project.rtl().join(entry.path).with_extension("sv"));
    command.arg("--mutated").arg(folder.join(format!("{module}.sv")));
    verdict_of(&run(command, "prove_source.py")?, select, "prove_source.py")
}

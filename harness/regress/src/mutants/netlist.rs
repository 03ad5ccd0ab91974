//! Mutants of netlists, which Yosys makes.

use std::path::Path;
use std::process::Command;

use gpurf_blocks::config::Config;
use gpurf_blocks::{Declaration, Net, Role};
use serde::Deserialize;

use super::places::{self, parameters};
use super::{Change, Family, Mutant, python, run};
use crate::{JobError, Project, RtlSources, packages_of};

/// A generated list.
#[derive(Deserialize)]
struct NetlistFile {
    mutants: Vec<NetlistEntry>,
}

/// One of them.
#[derive(Deserialize)]
struct NetlistEntry {
    select: u16,
    description: String,
}

/// Modules whose netlists are mutated: those with logic, and at most one block inside, which becomes a part of the netlist. Wiring (`mrf`,
/// `operand_stage`, `sm`) is left to hand-written mutants, because a netlist of it has none of the nets that the harness looks for; so are
/// blocks whose words are registers, which the seed could not fill as the twin's.
fn modules() -> impl Iterator<Item = &'static str> {
    let has_logic = |block: &&gpurf_sm::Entry| block.children.len() <= 1 && !block.designs;
    let has_netlist = |block: &&gpurf_sm::Entry| !block.words_are_registers && !block.name.starts_with("ram_");
    gpurf_sm::all().filter(has_logic).filter(has_netlist).map(|block| block.name)
}

/// Makes `count` generated mutants, spread over the modules that `wanted` accepts.
///
/// # Errors
/// When pyosys is not installed or refuses a module.
pub fn generated(
    project: &Project,
    wanted: &dyn Fn(&str) -> bool,
    count: usize,
    seed: u64,
) -> Result<Vec<Mutant>, JobError> {
    let modules: Vec<&str> = modules().filter(|m| wanted(m)).collect();
    let mut mutants = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        // The remainder goes to the first ones.
        let share = count / modules.len() + usize::from(index < count % modules.len());
        if share == 0 {
            continue;
        }
        let folder = project.root.join("target/mutants").join(module);
        let mut command = python(project, "netlist_mutants.py")?;
        command
            .args(["--module", module, "-n", &share.to_string(), "--seed", &seed.to_string()])
            .arg("--out")
            .arg(&folder);
        let entry = gpurf_sm::find(module).expect("a module of the list");
        let config = places::of_netlist(module);
        let mut twin = (entry.twin)(&config);
        // In a netlist the words of a memory are flip-flops that nothing can fill: they are compared nowhere.
        let memories: Vec<String> = twin.memories().into_iter().map(|memory| memory.path).collect();
        command.args(memories.iter().flat_map(|path| ["--memory", path]));
        command.args(arrays(twin.declaration(), &memories));
        elaboration(&mut command, project, module, &config);
        command.arg(project.rtl().join("gpurf_pkg.sv"));
        let sources = entry.sources();
        let files = packages_of(entry).into_iter().chain(sources.into_iter().rev());
        command.args(files.map(|s| project.rtl().join(s).with_extension("sv")));
        run(command, &format!("{module} (Yosys writes {})", folder.join("yosys.log").display()))?;
        let path = folder.join("mutants.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| JobError::Build(format!("cannot read {}: {e}", path.display())))?;
        let list: NetlistFile =
            serde_json::from_str(&text).map_err(|e| JobError::Build(format!("cannot read {}: {e}", path.display())))?;
        mutants.extend(list.mutants.into_iter().map(|entry| Mutant {
            module: (*module).to_owned(),
            name: entry.description,
            family: Family::Netlist,
            operator: None,
            equivalent: None,
            readers: Vec::new(),
            change: Change::Netlist { folder: folder.clone(), select: entry.select },
        }));
    }
    Ok(mutants)
}

/// Tells a script how to elaborate a module: include folder, parameters, payloads and the cells that stay cells.
pub(super) fn elaboration(command: &mut Command, project: &Project, module: &str, config: &Config) {
    let entry = gpurf_sm::find(module).expect("a module of the list");
    command.arg("-I").arg(project.rtl());
    for (name, value) in &parameters(module, config) {
        command.arg("-G").arg(format!("{name}={value}"));
    }
    command.args(payloads((entry.twin)(config).declaration()));
    for cell in entry.modules().into_iter().filter(|name| name.starts_with("ram_") && *name != module) {
        command.args(["--blackbox", cell]);
    }
}

/// A netlist has only vectors: registers that are arrays get their shape back, so that they are compared.
fn arrays(declaration: &Declaration, memories: &[String]) -> Vec<String> {
    let registers = declaration.signals.iter().filter(|signal| signal.role == Role::Probe).map(|signal| &signal.field);
    let registers = registers.filter(|field| field.array && matches!(field.net, Net::Own));
    let registers = registers.filter(|field| memories.iter().all(|path| path != field.name));
    registers.flat_map(|field| ["--array".to_owned(), format!("{}={}", field.name, field.count)]).collect()
}

/// A proof has to know which outputs are payloads.
fn payloads(declaration: &Declaration) -> Vec<String> {
    let mut arguments = Vec::new();
    for signal in declaration.signals.iter().filter(|signal| signal.role == Role::Output) {
        let valid = signal.valid.map(|index| &declaration.signals[index]).filter(|valid| valid.role != Role::Probe);
        if let Some(valid) = valid {
            let elements = if valid.field.array { valid.field.count } else { 0 };
            let (name, count) = (signal.field.name, signal.field.count);
            arguments.extend(["--payload".to_owned(), format!("{name}={count},{}={elements}", valid.field.name)]);
        }
    }
    arguments
}

/// Whether a module can be read as a netlist of its own.
pub(super) fn is_possible(module: &str) -> bool {
    modules().any(|name| name == module)
}

/// The RTL with a module's netlist in its place.
pub(super) fn sources(netlist: &Path, module: &str, select: u16) -> RtlSources {
    let overrides = vec![(module.to_owned(), netlist.join(format!("{module}.sv")))];
    let extra = vec![netlist.join(format!("{module}_netlist.v"))];
    RtlSources { overrides, extra, select: Some(select), ..RtlSources::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_with_logic_have_netlists_and_wiring_has_none() {
        for block in ["cache_access", "cache_misses", "cache_results", "cache_tags", "unified_bank", "unified_shared"] {
            assert!(is_possible(block), "{block}");
        }
        for block in ["cache", "mrf", "operand_stage", "sm", "ram_1r1w"] {
            assert!(!is_possible(block), "{block}");
        }
    }
}

//! The twin rule: both trees are walked, and every module has its twin with the same parameters and ports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gpurf_blocks::Role;
use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::designs::DESIGNS;
use gpurf_lockstep::Comparator;
use gpurf_lockstep::registers::Registers;
use gpurf_regress::audit::{self, HoleKind};
use gpurf_regress::{Project, RtlSources, mutants, request, suite};
use verilated::{Options, Toolchain, Wiring};

/// Paths without ending of the files below `folder` that have this ending.
fn tree(folder: &Path, ending: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        for entry in std::fs::read_dir(folder.join(&inner)).unwrap() {
            let path = inner.join(entry.unwrap().file_name());
            if folder.join(&path).is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                found.insert(path.with_extension("").to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn every_module_has_a_twin_at_the_same_path_and_every_block_a_module() {
    let project = Project::find();
    let modules: BTreeSet<String> = tree(&project.rtl(), "sv").into_iter().filter(|m| !m.ends_with("_pkg")).collect();
    let mut twins = tree(&project.root.join("model/blocks/src"), "rs");
    // The SM has a separate crate, whose folder stands for the first part of the path.
    twins.extend(tree(&project.root.join("model/sm/src"), "rs").into_iter().map(|file| format!("sm/{file}")));
    let pages = tree(&project.root.join("docs/blocks"), "md");
    for module in &modules {
        assert!(twins.contains(module), "rtl/{module}.sv has no twin model/blocks/src/{module}.rs");
    }
    let blocks: BTreeSet<String> = gpurf_sm::all().map(|b| b.path.to_owned()).collect();
    assert_eq!(modules, blocks, "the modules of rtl/ and the blocks of the registry");
    for block in gpurf_sm::all() {
        let page = block.name.split("_1r").next().unwrap();
        assert!(pages.contains(page), "{} has no page docs/blocks/{page}.md", block.name);
    }
}

fn config(settings: &[&str]) -> Config {
    Config::load(Start::Preset("baseline"), settings).unwrap()
}

/// The names of a module's overridable parameters, from its source.
fn parameters(source: &str) -> Vec<String> {
    let declarations = source.lines().filter_map(|l| l.trim().strip_prefix("parameter int unsigned "));
    declarations.map(|l| l.split([' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn parameters_ports_and_probes_are_equal() {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    let base = config(&[]);
    let other = config(&[
        "mrf.banks=4",
        "mrf.ports=1r1w",
        "mrf.collectors=16",
        "mrf.issue_ports=2",
        "mrf.tag_bits=64",
        "sm.warps=48",
        "sm.line_rows=8",
    ]);
    for block in gpurf_sm::all() {
        let source = std::fs::read_to_string(project.rtl().join(block.path).with_extension("sv")).unwrap();
        // With all features that can surround it, a design has further nets.
        let is_design = DESIGNS.iter().any(|design| design.name == block.name);
        let configs = [Some(base), Some(other), is_design.then(|| suite::of_comparisons(block.name))];
        for config in configs.into_iter().flatten() {
            let request = request(&project, block.name, &config, &RtlSources::default(), Options::default()).unwrap();
            let declared: Vec<&str> = request.declaration.parameters.iter().map(|p| p.0).collect();
            assert_eq!(parameters(&source), declared, "{}", block.name);
            let absent = tools.check_ports(&request).unwrap_or_else(|e| panic!("{e}"));
            // Every probe exists in our own RTL: an absent one would be compared nowhere.
            assert!(absent.is_empty(), "{}: {absent:?}", block.name);
        }
    }
}

#[test]
fn every_bit_of_a_small_blocks_state_is_looked_at() {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    let small = config(&["mrf.banks=4", "mrf.collectors=4", "mrf.issue_ports=2", "mrf.kilobytes=8", "mrf.tag_bits=16"]);
    for block in ["mrf_collector", "mrf_allocator", "mrf_arbiter"] {
        let found = audit::audit(&project, &tools, block, &small, 1).unwrap();
        assert!(found.complete(), "{found:?}");
        assert!(found.bits > 8 && found.reported == found.bits, "{found:?}");
    }
}

/// RTL in which the source of `module` is this text.
fn replaced(folder: &Path, module: &str, text: &str) -> RtlSources {
    let file = folder.join(module).with_extension("sv");
    std::fs::write(&file, text).unwrap();
    RtlSources { overrides: vec![(module.to_owned(), file)], ..RtlSources::default() }
}

fn source_of(project: &Project, module: &str) -> String {
    let path = gpurf_sm::find(module).unwrap().path;
    std::fs::read_to_string(project.rtl().join(path).with_extension("sv")).unwrap()
}

#[test]
fn a_bit_counts_only_if_every_cycle_in_which_it_is_compared_shows_it() {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    let small = config(&["mrf.banks=4", "mrf.collectors=4", "mrf.issue_ports=2", "mrf.kilobytes=8", "mrf.tag_bits=16"]);
    // A module with the same behaviour at its ports: an output shows a second copy of a register half of the time.
    let text = source_of(&project, "mrf_collector")
        .replace("  logic [WarpW-1:0]    warp_q;", "  logic [WarpW-1:0]    warp_q;\n  logic [WarpW-1:0]    copy;")
        .replace("assign warp_o       = warp_q;", "assign warp_o       = tag_q[0] ? warp_q : copy;")
        .replace("      warp_q   <= alloc_warp_i;", "      warp_q   <= alloc_warp_i;\n      copy     <= alloc_warp_i;");
    let folder = tempfile::tempdir().unwrap();
    let sources = replaced(folder.path(), "mrf_collector", &text);
    let found = audit::audit_sources(&project, &tools, "mrf_collector", &small, &sources, 1).unwrap();
    let hole = |name: &str| found.holes.iter().find(|h| h.register == name).map(|h| (h.bits, h.kind));
    let Some((missed, HoleKind::Missed { .. })) = hole("warp_q") else { panic!("{found:?}") };
    assert!((4..=6).contains(&missed), "{found:?}");
    assert_eq!(hole("copy"), Some((6, HoleKind::NotDeclared)), "{found:?}");
    assert!(!found.complete() && found.holes.len() == 2 && found.reported + missed + 6 == found.bits, "{found:?}");
}

/// A block's own registers that nothing compares: no probe, no memory, no output port, and shown by no output.
fn not_compared(block: &str, config: &Config, registers: &BTreeSet<String>) -> Vec<String> {
    let entry = gpurf_sm::find(block).unwrap_or_else(|| panic!("{block} is a module that is no block"));
    let mut twin = (entry.twin)(config);
    let mut known: BTreeSet<String> = twin.memories().into_iter().map(|memory| memory.path).collect();
    for signal in twin.declaration().signals.iter().filter(|s| s.role != Role::Input) {
        known.extend(if signal.role == Role::Probe {
            signal.field.paths()
        } else {
            vec![signal.field.name.to_owned()]
        });
        known.extend(signal.field.shows.map(|shows| shows.register.to_owned()));
    }
    registers.iter().filter(|register| !known.contains(*register)).cloned().collect()
}

/// The registers of each module, by its name.
type ModuleRegisters = BTreeMap<String, BTreeSet<String>>;

/// An elaborated SM. Elaboration takes seconds, and two tests need the SM in each of its configurations.
struct ElaboratedSm {
    config: Config,
    registers: ModuleRegisters,
    wiring: Wiring,
}

impl ElaboratedSm {
    fn new(config: Config, sources: &RtlSources) -> Self {
        let project = Project::find();
        let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
        let request = request(&project, "sm", &config, sources, Options::default()).unwrap();
        let (registers, wiring) = tools.registers_and_wiring(&request, 0).unwrap();
        Self { config, registers, wiring }
    }
}

/// The SM in the configurations of all designs.
static SMS: LazyLock<Vec<ElaboratedSm>> = LazyLock::new(|| {
    let configs = DESIGNS.iter().flat_map(|design| [design.config(), suite::of_comparisons(design.name)]);
    configs.map(|config| ElaboratedSm::new(config, &RtlSources::default())).collect()
});

/// Paths of all registers in an SM that are no memories and whose values the model does not show.
fn hidden(sm: &ElaboratedSm) -> Vec<String> {
    let ElaboratedSm { config, registers, wiring } = sm;
    let mut twin = (gpurf_sm::find("sm").unwrap().twin)(config);
    let memories: BTreeSet<String> = twin.memories().into_iter().map(|memory| memory.path).collect();
    let shown = Registers::new(&Comparator::new(twin.declaration(), None));
    let paths = wiring.instances().iter().flat_map(|instance| {
        let inside = registers.get(&instance.module).into_iter().flatten();
        inside.map(|register| format!("{}{register}", instance.path()))
    });
    // A module has the registers of all its shapes; an instance may lack some of them.
    let is_there = |path: &String| wiring.variable(path).is_some();
    paths.filter(|path| is_there(path) && !memories.contains(path) && !shown.has(path)).collect()
}

#[test]
fn the_model_shows_every_register_inside_the_sm() {
    for sm in SMS.iter() {
        assert_eq!(hidden(sm), Vec::<String>::new(), "{:?}", sm.config);
    }
    // A register with another name is hidden in each of its instances.
    let text = source_of(&Project::find(), "result_queue").replace("count_q", "waiting");
    let folder = tempfile::tempdir().unwrap();
    let sources = replaced(folder.path(), "result_queue", &text);
    let found = hidden(&ElaboratedSm::new(config(&[]), &sources));
    assert!(found.len() == 5 && found.contains(&"gen_port[0].u_alu_queue.waiting".to_owned()), "{found:?}");
}

#[test]
fn every_register_of_the_rtl_is_a_probe_a_memory_or_shown_by_an_output() {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    let registers = |block: &str, config: &Config, sources: &RtlSources| {
        tools.registers(&request(&project, block, config, sources, Options::default()).unwrap()).unwrap()
    };
    let own = RtlSources::default();
    let first = SMS[0].config;
    let (mut seen, mut count) = (BTreeSet::new(), 0);
    // An SM contains every module, except those of the other register files.
    for sm in SMS.iter() {
        for (module, registers) in &sm.registers {
            assert_eq!(not_compared(module, &sm.config, registers), Vec::<String>::new(), "{module}");
            count += registers.len();
            seen.insert(module.as_str());
        }
    }
    for block in gpurf_sm::all().filter(|block| !seen.contains(block.name)) {
        let registers = &registers(block.name, &first, &own)[block.name];
        assert_eq!(not_compared(block.name, &first, registers), Vec::<String>::new(), "{}", block.name);
    }
    assert!(count > 1500, "{count}");
    // A register with another name is found, whatever the name is.
    let text = source_of(&project, "result_queue").replace("count_q", "waiting");
    let folder = tempfile::tempdir().unwrap();
    let renamed = registers("result_queue", &first, &replaced(folder.path(), "result_queue", &text));
    assert_eq!(not_compared("result_queue", &first, &renamed["result_queue"]), ["waiting"]);
}

#[test]
fn every_hand_written_mutant_still_fits_its_module() {
    let project = Project::find();
    // This fails if a text to replace does not occur, or occurs twice.
    let list = mutants::hand_written(&project, &|_| true).unwrap();
    let mut names = BTreeSet::new();
    for mutant in &list {
        assert!(
            names.insert((&mutant.module, &mutant.name)),
            "{}: two mutants are called {:?}",
            mutant.module,
            mutant.name
        );
        let entry = gpurf_sm::find(&mutant.module).unwrap();
        let original = std::fs::read_to_string(project.rtl().join(entry.path).with_extension("sv")).unwrap();
        assert_ne!(mutant.source(&project).unwrap().unwrap(), original, "{}: {}", mutant.module, mutant.name);
    }
}

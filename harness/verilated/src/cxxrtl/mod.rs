//! Compiles sources to a shared object with CXXRTL: Yosys reads the RTL through slang and writes it as C++.
//!
//! The shim and the exchange of records are those of Verilator's models. `shim/cxxrtl.h` provides what they use of Verilator:
//! a root whose variables are laid out as Verilator lays them out, and a model that copies inputs from the root to CXXRTL's
//! values, evaluates, and copies outputs, nets and registers back. So the same code compares both simulators.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use gpurf_blocks::Role;

mod members;

use members::{Kind, Member, Members, Unset};

use crate::cache::{self, Key};
use crate::compile::{FLAGS, MODEL_CPP, Profile, REPORT_H, absolute, write};
use crate::facts;
use crate::header::Variable;
use crate::names::PREFIX;
use crate::shim::{self, Exchange, variable_type};
use crate::toolchain::checked;
use crate::{Error, MemoryRequest, Request, Result, Toolchain, tool};

const NETLIST_PY: &str = include_str!("netlist.py");
const CXXRTL_H: &str = include_str!("../shim/cxxrtl.h");
const CXXRTL_CPP: &str = include_str!("../shim/cxxrtl.cpp");
const TRANSFER_H: &str = include_str!("../shim/transfer.h");
const MODEL_H: &str = include_str!("../shim/cxxrtl_model.h");

/// Generated code is not optimised: a block of a hundred lanes would take minutes (see `shim/cxxrtl.h`). A read beyond the
/// end of an array has no value; without `NDEBUG` it would end the process.
const LEVEL: [&str; 2] = ["-O0", "-DNDEBUG"];

/// Number of lines of Yosys' log that an error message contains.
const COMPLAINT: usize = 20;

/// Yosys, found when the first model is built with it.
struct Yosys {
    python: PathBuf,
    version: String,
    runtime: PathBuf,
}

impl Toolchain {
    /// Builds a module with CXXRTL, or takes it from the cache. Returns its folder.
    pub(crate) fn build_with_cxxrtl(&self, request: &Request) -> Result<PathBuf> {
        refuse_what_only_verilator_has(request)?;
        let folder = self.cache.join("cxxrtl");
        let yosys = self.yosys(&folder)?;
        let mut key = Key::default().with(&self.versions).with(&yosys.version).with(LEVEL.concat());
        for text in
            [NETLIST_PY, CXXRTL_H, CXXRTL_CPP, TRANSFER_H, MODEL_H, include_str!("mod.rs"), include_str!("members.rs")]
        {
            key = key.with(text);
        }
        let key = self.key(request, key)?;
        cache::file(&folder, &key, |entry| self.build_cxxrtl_into(request, &yosys, entry))
    }

    /// The Python environment with Yosys, which is next to the cache of models.
    fn yosys(&self, folder: &Path) -> Result<Yosys> {
        let missing = || Error::MissingTool { tool: "Yosys (pyosys)", install: "scripts/bootstrap.sh --mutants" };
        let python = self.cache.parent().unwrap_or(&self.cache).join("venv/bin/python");
        if !python.exists() {
            return Err(missing());
        }
        let script = Self::script(folder)?;
        let output = tool(&python).arg(script).arg("--versions").output().map_err(|_| missing())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (version, runtime) = text.trim_end().split_once('\n').ok_or_else(missing)?;
        Ok(Yosys { python, version: version.to_owned(), runtime: runtime.into() })
    }

    /// Writes the Python script to a file.
    fn script(folder: &Path) -> Result<PathBuf> {
        let name = format!("netlist-{}.py", Key::default().with(NETLIST_PY).finish());
        cache::file(folder, &name, |path| write(path, NETLIST_PY))
    }

    fn build_cxxrtl_into(&self, request: &Request, yosys: &Yosys, entry: &Path) -> Result<()> {
        let made = |source| Error::Cache { path: entry.to_owned(), source };
        let scratch = tempfile::tempdir_in(entry.parent().unwrap_or(entry)).map_err(made)?;
        let folder = scratch.path();
        let members = netlist(request, yosys, &Self::script(&self.cache.join("cxxrtl"))?, folder)?;
        let found = members.found(request);
        // Only knobs can be written by name.
        let knobs: HashSet<String> = request.options.knobs.iter().cloned().collect();
        shim::check_ports(&request.declaration, &found)?;
        let Exchange { text, absent, state } = shim::exchange(request, &knobs, &found)?;
        for (name, text) in [
            ("gpurf_exchange.h", text.as_str()),
            ("gpurf_report.h", REPORT_H),
            ("gpurf_transfer.h", TRANSFER_H),
            ("verilated.h", CXXRTL_H),
            (&format!("{PREFIX}.h"), &model(request, &members, &found)),
            (&format!("{PREFIX}___024root.h"), &format!("#include \"{PREFIX}.h\"\n")),
            ("gpurf_model.cpp", &MODEL_CPP.replace("@PREFIX@", PREFIX)),
            ("gpurf_cxxrtl.cpp", CXXRTL_CPP),
            ("unit.cpp", "#include \"verilated.h\"\n#include \"design.cc\"\n#include \"gpurf_model.cpp\"\n"),
        ] {
            write(&folder.join(name), text)?;
        }
        let compile = |name: &str, options: &[&str], object: &Path| {
            let mut command = tool(&self.compiler);
            command.args(FLAGS).args(options).arg("-I").arg(folder).arg("-I").arg(&yosys.runtime);
            command.arg("-c").arg(folder.join(name)).arg("-o").arg(object);
            checked(&mut command, request.declaration.block).map(drop)
        };
        let key = Key::default().with(&self.versions).with(FLAGS.join(" "));
        let key = key.with(CXXRTL_CPP).with(TRANSFER_H).with(REPORT_H).finish();
        let shared = cache::file(&self.cache.join("obj"), &format!("{key}.o"), |object| {
            compile("gpurf_cxxrtl.cpp", &["-O2"], object)
        })?;
        let unit = folder.join("unit.o");
        compile("unit.cpp", &LEVEL, &unit)?;
        fs::create_dir(entry).map_err(made)?;
        self.link(request, &[unit, shared], entry, Profile::None)?;
        write(&entry.join("facts"), &facts::write(&absent, &state))
    }
}

fn refuse_what_only_verilator_has(request: &Request) -> Result<()> {
    let options = &request.options;
    let only = [
        (options.state, "registers that are written, as audits do"),
        (options.comparisons > 0, "witnesses of comparisons"),
        (options.coverage, "coverage"),
    ];
    match only.into_iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(Error::OnlyVerilator { what }),
        None => Ok(()),
    }
}

/// Runs Yosys; returns the compared members that it found.
fn netlist(request: &Request, yosys: &Yosys, script: &Path, folder: &Path) -> Result<Members> {
    let declaration = &request.declaration;
    let mut command = tool(&yosys.python);
    command.arg(absolute(script)).args(["--top", declaration.block, "--out"]).arg(folder);
    // As for Verilator: files of the folder in which gpurf was started must not be found by accident.
    command.current_dir(folder);
    for folder in &request.include_dirs {
        command.arg("-I").arg(absolute(folder));
    }
    command.args(request.defines.iter().map(|define| format!("-D{define}")));
    command.args(declaration.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
    if !request.options.assertions {
        command.arg("--no-assertions");
    }
    if request.options.probes {
        let probes = declaration.signals.iter().filter(|signal| signal.role == Role::Probe);
        let nets: BTreeSet<String> = probes.flat_map(|signal| signal.field.paths()).collect();
        command.args(nets.iter().flat_map(|path| ["--net", path]));
        for MemoryRequest { path, .. } in &request.memories {
            let inside = if request.options.netlist { shim::in_netlists(path) } else { Vec::new() };
            command.args(std::iter::once(path).chain(&inside).flat_map(|path| ["--memory", path]));
        }
    }
    command.args(request.options.knobs.iter().flat_map(|knob| ["--knob", knob]));
    command.args(request.sources.iter().map(|source| absolute(source)));
    checked(&mut command, declaration.block).map_err(|error| match error {
        // Yosys exits on an error; the reason is in its log.
        Error::Build { what, message, .. } => {
            let log = fs::read_to_string(folder.join("yosys.log")).unwrap_or_default();
            Error::Build { tool: "Yosys".into(), what, message: format!("{}{message}", complaint(&log)) }
        }
        other => other,
    })?;
    let path = folder.join("members");
    let text = fs::read_to_string(&path).map_err(|source| Error::Source { path, source })?;
    Ok(Members::parse(&text))
}

/// The lines of a log from the first error on.
fn complaint(log: &str) -> String {
    let lines = log.lines().skip_while(|line| !line.to_lowercase().contains("error")).take(COMPLAINT);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The header of the model: the root's variables, and the location of each of them in the design.
fn model(request: &Request, members: &Members, found: &HashMap<String, Variable>) -> String {
    let (mut variables, mut places) = (String::new(), String::new());
    for (name, Variable { bits, dimensions, .. }) in found.iter().collect::<BTreeMap<_, _>>() {
        let (ctype, words) = variable_type(*bits);
        let dimensions: String = dimensions.iter().map(|n| format!("[{n}]")).collect();
        writeln!(variables, "    {ctype} {name}{dimensions}{words};").unwrap();
    }
    for Member { kind, path, chunks, next, .. } in &members.all {
        let name = Members::variable(request, *kind, path);
        let list = match kind {
            Kind::Input | Kind::Knob => "inputs",
            Kind::Output | Kind::Net | Kind::Rows => "read",
            Kind::Register | Kind::Memory => "written",
        };
        let shape = &found[&name];
        let next = next.as_ref().map_or("nullptr".to_owned(), |next| format!("m_design.{next}"));
        let (bytes, bits, count, rows) = (shape.elem_bytes(), shape.bits, shape.count(), kind.is_rows());
        let place = format!("{{&m_root.{name}, {bytes}, {bits}, {count}, {rows}, m_design.{chunks}, {next}}}");
        writeln!(places, "        m_root.places.{list}.push_back({place});").unwrap();
    }
    let unset = members.unset.iter().map(|unset| {
        let Unset { bits, count, chunks, next } = unset;
        format!("        gpurf_scramble(seed, {bits}, {count}, m_design.{chunks}, m_design.{next});\n")
    });
    MODEL_H
        .replace("@PREFIX@", PREFIX)
        .replace("@DESIGN@", &members.design)
        .replace("@VARIABLES@", &variables)
        .replace("@UNSET@", &unset.collect::<String>())
        .replace("@PLACES@", &places)
}

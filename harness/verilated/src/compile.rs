//! Compiles sources to a shared object: Verilator, the C++ compiler, the linker, each step cached by content.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpurf_blocks::Declaration;
use tempfile::TempDir;

use crate::cache::{self, Key};
use crate::facts;
use crate::header::{self, Variable};
use crate::names::PREFIX;
use crate::settle_once::{self, Settling};
use crate::shim::{self, Exchange};
use crate::toolchain::{checked, checked_tool};
use crate::units::{self, Generated, Headers, Unit};
use crate::{Error, Library, Options, Request, Result, Simulator, Toolchain, tool};

const HOOKS_H: &str = include_str!("shim/hooks.h");
const HOOKS_CPP: &str = include_str!("shim/hooks.cpp");
pub(crate) const REPORT_H: &str = include_str!("shim/report.h");
const WITNESS_H: &str = include_str!("shim/witness.h");
pub(crate) const MODEL_CPP: &str = include_str!("shim/model.cpp");

/// C++ flags of all code in a shared object. Symbols are hidden and bound inside the object: the classes of two models have the same
/// names, and without this the second model would run the first one's code.
pub(crate) const FLAGS: &[&str] = &[
    "-std=gnu++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-fno-gnu-unique",
    "-faligned-new",
    "-fcf-protection=none",
    "-w",
    "-DVERILATOR=1",
    "-DVM_SC=0",
    "-DVM_TRACE=0",
    "-DVM_TRACE_FST=0",
    "-DVM_TRACE_VCD=0",
];

/// Optimisation level of code that is optimised for long runs.
const OPTIMISED: &str = "-O2";

/// Passes of `-O1` that find little in Verilator's C++ and take an eighth of a build (docs/performance.md, "Builds").
const QUICK: &[&str] = &["-fno-tree-dominator-opts", "-fno-tree-dse", "-fno-tree-pta"];

/// Limits of statements up to which Verilator unrolls a loop, tried one after the other; its default is 30,000. With a low limit loops over lanes stay
/// loops, which halves the C++ (docs/performance.md, "Builds").
const UNROLLED: [&str; 2] = ["2000", "5000"];
/// Verilator's error for a loop that has to be unrolled and was not.
const LOOP_NOT_UNROLLED: &str = "BLKLOOPINIT";

/// Endings of files in include folders that a module may include, or in which Verilator looks for a module that no source defines.
const INCLUDED: [&str; 8] = ["svh", "vh", "sv", "v", "h", "inc", "vi", "svi"];

impl Toolchain {
    /// Builds a module, or takes it from the cache.
    ///
    /// # Errors
    /// A source that cannot be read, errors of Verilator or the compiler, ports that differ from the declaration.
    pub fn build(&self, request: &Request) -> Result<Library> {
        // A build without profile: the same key must always give the same content.
        let request = &Request { options: Options { profile: false, ..request.options.clone() }, ..request.clone() };
        let folder = match request.options.simulator {
            Simulator::Verilator => self.build_with_verilator(request)?,
            Simulator::Cxxrtl => self.build_with_cxxrtl(request)?,
        };
        Library::load(&folder, self, request)
    }

    /// Builds a module with a profile of itself, or takes it from the cache. First the module is compiled to count its branches, and `train` runs it.
    /// Then it is compiled once more with the counts. A build takes twice as long as with `-O2`, and the RTL runs in two thirds of the time
    /// (docs/performance.md, "Trained"). A failing run in `train` does not matter. `train` has to drop all instances of the library.
    ///
    /// Without [`Options::profile`](crate::Options::profile), and for simulators and compilers other than Verilator and GCC, it is [`Toolchain::build`].
    ///
    /// # Errors
    /// As [`Toolchain::build`].
    pub fn build_trained(&self, request: &Request, train: impl FnOnce(&Library)) -> Result<Library> {
        let can_count = request.options.simulator == Simulator::Verilator && !self.versions.contains("clang");
        if !request.options.profile || !can_count {
            return self.build(request);
        }
        let key = self.verilator_key(request)?;
        let folder = cache::file(&self.cache.join("lib"), &key, |entry| {
            let generated = self.generate(request, entry)?;
            let counting = generated.folder.path().join("counting");
            self.link_into(request, &generated, Profile::Count, &counting)?;
            let library = Library::load(&counting, self, request)?;
            train(&library);
            library.write_profile();
            self.link_into(request, &generated, Profile::Use, entry)
        })?;
        Library::load(&folder, self, request)
    }

    fn build_with_verilator(&self, request: &Request) -> Result<PathBuf> {
        let key = self.verilator_key(request)?;
        cache::file(&self.cache.join("lib"), &key, |entry| {
            let generated = self.generate(request, entry)?;
            self.link_into(request, &generated, Profile::None, entry)
        })
    }

    /// The cache key of a build with Verilator.
    fn verilator_key(&self, request: &Request) -> Result<String> {
        let mut key = Key::default().with(&self.versions).with(HOOKS_H).with(HOOKS_CPP);
        for text in [include_str!("registers.rs"), include_str!("settle_once.rs")] {
            key = key.with(text);
        }
        self.key(request, key)
    }

    /// Checks the ports of one module against a declaration, and returns the names of the probes that the module lacks, without compiling
    /// anything.
    ///
    /// # Errors
    /// As [`Toolchain::build`].
    pub fn check_ports(&self, request: &Request) -> Result<Vec<String>> {
        let scratch = tempfile::tempdir().map_err(|source| Error::Cache { path: std::env::temp_dir(), source })?;
        let nothing = HashSet::new();
        let found = self.verilate(request, &nothing, scratch.path())?;
        shim::check_ports(&request.declaration, &found)?;
        Ok(facts::signal_names(&request.declaration, &shim::exchange(request, &nothing, &found)?.absent))
    }

    /// The names of writable variables, in any module: the knobs, and all registers if `Options::state` is set.
    fn writable(&self, request: &Request) -> Result<HashSet<String>> {
        let mut names: HashSet<String> = request.options.knobs.iter().cloned().collect();
        if request.options.state {
            let last = |path: &String| path.rsplit('.').next().unwrap_or(path).to_owned();
            names.extend(self.registers(request)?.values().flatten().map(last));
        }
        Ok(names)
    }

    /// The cache key: everything on which the result depends. `key` has the simulator's own part; this adds the rest.
    pub(crate) fn key(&self, request: &Request, mut key: Key) -> Result<String> {
        key = key.with(FLAGS.join(" "));
        // The part of this crate that decides what is built, exchanged and compared.
        for text in [
            REPORT_H,
            MODEL_CPP,
            WITNESS_H,
            include_str!("shim.rs"),
            include_str!("equal.rs"),
            include_str!("compile.rs"),
            include_str!("elaborated.rs"),
            include_str!("elaborated/json.rs"),
            include_str!("facts.rs"),
            include_str!("header.rs"),
            include_str!("names.rs"),
        ] {
            key = key.with(text);
        }
        key = key
            .with(format!("{:?}{:?}{:?}{:?}", request.declaration, request.memories, request.defines, request.options));
        key = key.with(rules(&request.declaration));
        for path in files(request)? {
            key = key.with(path.to_string_lossy().as_bytes()).with(read(&path)?);
        }
        Ok(key.finish())
    }

    /// Runs Verilator and returns the variables of the generated header. `writable`: names of variables that can be written.
    fn verilate(
        &self,
        request: &Request,
        writable: &HashSet<String>,
        folder: &Path,
    ) -> Result<HashMap<String, Variable>> {
        let write = |name: &str, text: &str| write(&folder.join(name), text);
        write("probes.vlt", &shim::configuration(request, writable))?;
        // A loop that assigns registers of an array has to be unrolled, however long it is: if the limit is too low, a higher one is tried.
        let is_too_long =
            |error: &Error| matches!(error, Error::Build { message, .. } if message.contains(LOOP_NOT_UNROLLED));
        let tried = UNROLLED.iter().map(|limit| self.run_verilator(request, folder, &["--unroll-stmts", limit]));
        let mut tried = tried.skip_while(|tried| tried.as_ref().is_err_and(is_too_long));
        tried.next().unwrap_or_else(|| self.run_verilator(request, folder, &[]))?;
        self.refuse_what_the_key_lacks(request, folder)?;
        let root = folder.join(format!("{PREFIX}___024root.h"));
        let text = [folder.join(format!("{PREFIX}.h")), root]
            .iter()
            .map(|path| fs::read_to_string(path).map_err(|source| Error::Source { path: path.clone(), source }))
            .collect::<Result<String>>()?;
        Ok(header::parse(&text))
    }

    /// Rejects a design if Verilator has read files that the key does not cover: if such a file changed, the cache would still return the old library.
    /// The versions in the key cover Verilator's program and the files that come with it.
    fn refuse_what_the_key_lacks(&self, request: &Request, folder: &Path) -> Result<()> {
        let list = folder.join(format!("{PREFIX}__verFiles.dat"));
        let text = String::from_utf8_lossy(&read(&list)?).into_owned();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let known: BTreeSet<PathBuf> = files(request)?.iter().map(|path| real(path)).collect();
        let own = [real(folder), real(self.runtime.parent().unwrap_or(&self.runtime))];
        let read = files_read(&text).map(|path| real(&folder.join(path))).filter(|path| path.is_file());
        let unknown = read.filter(|path| !own.iter().any(|own| path.starts_with(own)) && !known.contains(path));
        for path in unknown {
            if !is_program(&path).map_err(|source| Error::Source { path: path.clone(), source })? {
                let (module, endings) = (request.declaration.block.into(), INCLUDED.join(", "));
                return Err(Error::Included { module, path, endings });
            }
        }
        Ok(())
    }

    fn run_verilator(&self, request: &Request, folder: &Path, options: &[&str]) -> Result<()> {
        let mut command = self.verilator();
        command.args(["--cc", "--prefix", PREFIX, "--flatten", "--top-module", request.declaration.block, "-Mdir"]);
        command.arg(folder);
        command.args(["--x-assign", "unique", "--x-initial", "unique", "-O3", "--output-split-cfuncs", "2000"]);
        // Wide assignments become calls instead of one statement for each word: this halves the C++ and its compile time.
        command.args(["--expand-limit", "4"]);
        command.args(options);
        command.args(["-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-MULTITOP"]);
        command.args(if request.options.netlist {
            // If bits of a vector depend on other bits of it, Verilator 5.006's data-flow optimisation gives wrong values.
            &["-Wno-UNOPTFLAT", "-Wno-LATCH", "-fno-dfg"][..]
        } else {
            &["-Werror-UNOPTFLAT", "-Werror-LATCH"]
        });
        // Since version 5.038 assertions are on unless they are turned off.
        command.arg(if request.options.assertions { "--assert" } else { "--no-assert" });
        if request.options.coverage {
            command.args(["--coverage-line", "--coverage-toggle"]);
        }
        for (name, value) in &request.declaration.parameters {
            command.arg(format!("-G{name}={value}"));
        }
        command.args(request.defines.iter().map(|d| format!("-D{d}")));
        command.arg(folder.join("probes.vlt"));
        add_sources(&mut command, request, folder);
        checked_tool(&mut command, &self.verilator, request.declaration.block).map(drop)
    }

    /// Writes the C++ of a module into a folder next to its future cache entry.
    fn generate(&self, request: &Request, entry: &Path) -> Result<GeneratedCpp> {
        let made = |source| Error::Cache { path: entry.to_owned(), source };
        let scratch = tempfile::tempdir_in(entry.parent().unwrap_or(entry)).map_err(made)?;
        let folder = scratch.path();
        let writable = self.writable(request)?;
        let found = self.verilate(request, &writable, folder)?;
        shim::check_ports(&request.declaration, &found)?;
        let Exchange { mut text, absent, state } = shim::exchange(request, &writable, &found)?;
        if request.declaration.clocked
            && request.options.settle_once
            && settle_inputs_once(folder)? == Settling::EdgesOnly
        {
            text.insert_str(0, &shim::edges_only());
        }
        if request.options.comparisons > 0 {
            text.push_str(&format!("#define GPURF_COMPARISONS {}\n{WITNESS_H}", request.options.comparisons));
        }
        write(&folder.join("gpurf_exchange.h"), &text)?;
        write(&folder.join("gpurf_report.h"), REPORT_H)?;
        write(&folder.join("gpurf_hooks.cpp"), HOOKS_CPP)?;
        write(&folder.join("gpurf_model.cpp"), &MODEL_CPP.replace("@PREFIX@", PREFIX))?;

        let units = self.units(request, folder)?;
        Ok(GeneratedCpp { units, facts: facts::write(&absent, &state), folder: scratch })
    }

    /// Compiles the C++ and makes the folder `entry`, with the shared object and the facts about the library.
    fn link_into(&self, request: &Request, cpp: &GeneratedCpp, profile: Profile, entry: &Path) -> Result<()> {
        let objects = self.compile_all(request, cpp, profile)?;
        fs::create_dir(entry).map_err(|source| Error::Cache { path: entry.to_owned(), source })?;
        self.link(request, &objects, entry, profile)?;
        write(&entry.join("facts"), &cpp.facts)
    }

    /// Links the shared object of a cache entry.
    pub(crate) fn link(&self, request: &Request, objects: &[PathBuf], entry: &Path, profile: Profile) -> Result<()> {
        let mut link = tool(&self.compiler);
        link.args(profile.link_flags());
        link.args(["-shared", "-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL", "-o"]);
        link.arg(entry.join("model.so")).args(objects).arg("-pthread");
        checked(&mut link, request.declaration.block).map(drop)
    }

    /// The units to compile: the generated sources, Verilator's runtime and the shim.
    ///
    /// Code that runs in every cycle is optimised; code that runs once is not.
    fn units(&self, request: &Request, folder: &Path) -> Result<Vec<Unit>> {
        let mut names: Vec<PathBuf> = fs::read_dir(folder)
            .and_then(|listing| listing.map(|e| Ok(e?.path())).collect())
            .map_err(|source| Error::Cache { path: folder.into(), source })?;
        names.sort();
        let (mut headers, mut fast, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        for path in names {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let list = if name.ends_with(".h") {
                &mut headers
            } else if !name.ends_with(".cpp") || name == "gpurf_hooks.cpp" {
                continue;
            } else if name.contains("Slow") || name.contains("__Syms") || name.contains("__Dpi") {
                &mut slow
            } else {
                &mut fast
            };
            list.push(Generated { name, text: read(&path)? });
        }
        let headers = Headers::new(&headers);
        let level = if request.options.optimise || request.options.profile { OPTIMISED } else { "-O1" };
        let mut units = units::apart(&fast, &headers, level, folder, "unit_fast.cpp")?;
        units.push(units::one(&slow.iter().collect::<Vec<_>>(), &headers, "-O0", folder, "unit_slow.cpp")?);
        units.push(Unit {
            source: folder.join("gpurf_hooks.cpp"),
            level: "-O1",
            key: Key::default().with(HOOKS_CPP).with(REPORT_H),
        });
        let runtime = ["verilated.cpp", "verilated_threads.cpp", "verilated_dpi.cpp"];
        for name in runtime.iter().copied().chain(request.options.coverage.then_some("verilated_cov.cpp")) {
            let source = self.runtime.join(name);
            let key = Key::default().with(read(&source)?);
            units.push(Unit { source, level: "-O1", key });
        }
        Ok(units)
    }

    /// Compiles all units, two at a time.
    fn compile_all(&self, request: &Request, cpp: &GeneratedCpp, profile: Profile) -> Result<Vec<PathBuf>> {
        let (units, folder) = (&cpp.units, cpp.folder.path());
        let next = AtomicUsize::new(0);
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(2);
        let mut objects: Vec<(usize, Result<PathBuf>)> = std::thread::scope(|scope| {
            let work = || {
                let mut mine = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(unit) = units.get(index) else { return mine };
                    mine.push((index, self.compile(unit, request, folder, profile)));
                }
            };
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            handles.into_iter().flat_map(|h| h.join().expect("compiling does not panic")).collect()
        });
        objects.sort_by_key(|(index, _)| *index);
        objects.into_iter().map(|(_, object)| object).collect()
    }

    /// Compiles a unit, unless the cache has an object of the same content.
    fn compile(&self, unit: &Unit, request: &Request, folder: &Path, profile: Profile) -> Result<PathBuf> {
        let profile = if unit.level == OPTIMISED { profile } else { Profile::None };
        let flags = unit_flags(unit.level, request, profile);
        let common = Key::default().with(&self.versions).with(flags.join(" ")).with(HOOKS_H).finish();
        let compile = |object: &Path| {
            let mut command = tool(&self.compiler);
            command.arg("-include").arg(self.precompiled(&flags, &common, request)?).args(&flags);
            command.arg("-I").arg(folder).arg("-I").arg(&self.runtime).arg("-I").arg(self.runtime.join("vltstd"));
            command.arg("-c").arg(&unit.source).arg("-o").arg(object);
            checked(&mut command, request.declaration.block).map(drop)
        };
        if profile != Profile::None {
            // The compiler writes the counts next to the object, and looks for them there. The counts are those of this build alone.
            let object = unit.source.with_extension("o");
            if profile == Profile::Use && !object.with_extension("gcda").exists() {
                let message = format!("a run has written no counts of the branches of {}", unit.source.display());
                return Err(Error::Build {
                    tool: self.compiler.clone(),
                    what: request.declaration.block.into(),
                    message,
                });
            }
            return compile(&object).map(|()| object);
        }
        let key = unit.key.clone().with(&common).finish();
        cache::file(&self.cache.join("obj"), &format!("{key}.o"), compile)
    }

    /// The header that each unit includes first, and next to it the same header precompiled with these flags, which the compiler finds by itself.
    ///
    /// It includes Verilator's headers and with them the standard library's. Reading them takes half a second, most of the time
    /// that a small unit takes.
    fn precompiled(&self, flags: &[String], key: &str, request: &Request) -> Result<PathBuf> {
        const NAME: &str = "gpurf_hooks.h";
        let folder = cache::file(&self.cache.join("headers"), key, |folder| {
            fs::create_dir(folder).map_err(|source| Error::Cache { path: folder.into(), source })?;
            let header = folder.join(NAME);
            write(&header, HOOKS_H)?;
            let mut command = tool(&self.compiler);
            command.args(flags).arg("-I").arg(&self.runtime).args(["-x", "c++-header"]).arg(&header);
            command.arg("-o").arg(folder.join(format!("{NAME}.gch")));
            checked(&mut command, request.declaration.block).map(drop)
        })?;
        Ok(folder.join(NAME))
    }
}

/// Adds the sources and the include folders to a Verilator command.
///
/// The command runs in `folder`: otherwise Verilator would also look for files in the folder in which gpurf was started, which the key does not cover.
pub(crate) fn add_sources(command: &mut Command, request: &Request, folder: &Path) {
    command.current_dir(folder);
    command.args(request.include_dirs.iter().map(|dir| format!("-I{}", absolute(dir).display())));
    command.args(request.sources.iter().map(|source| absolute(source)));
}

/// Makes a path absolute, so that it is valid in every folder.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The files from which a design may be read: its sources, and all files of its include folders that can be included.
fn files(request: &Request) -> Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = request.sources.iter().map(|source| absolute(source)).collect();
    for folder in &request.include_dirs {
        let folder = absolute(folder);
        all.extend(included(&folder).map_err(|source| Error::Source { path: folder, source })?);
    }
    Ok(all)
}

/// The files of an include folder from which a design may be read, sorted by name. A build reads nothing from subfolders.
///
/// # Errors
/// When the folder cannot be read.
pub fn included(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let is_read = |path: &PathBuf| path.extension().is_some_and(|ending| INCLUDED.iter().any(|known| ending == *known));
    let mut files = paths.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| is_read(path) && path.is_file());
    files.sort();
    Ok(files)
}

/// The files that Verilator has read, from its list. Lines that begin with `S` name a file that was read, last and in quotation marks; lines with `T`
/// one that was written. If a path contains a space, Verilator 5.006 also names the part before the space, which is no file.
fn files_read(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| line.starts_with('S')).filter_map(|line| line.rsplit('"').nth(1))
}

/// The rules of the declaration for each signal, as text: the comparison is generated from them.
fn rules(declaration: &Declaration) -> String {
    let mut text = String::new();
    for (index, signal) in declaration.signals.iter().enumerate() {
        let valid: Vec<_> = (0..signal.field.count).map(|element| declaration.valid_range(index, element)).collect();
        writeln!(text, "{:?} {valid:?}", signal.field.paths()).unwrap();
    }
    text
}

/// Whether a file is a program, as Verilator itself is: no text has a byte 0.
fn is_program(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(1024).read_to_end(&mut start)?;
    Ok(start.contains(&0))
}

/// The generated C++ of a module.
struct GeneratedCpp {
    units: Vec<Unit>,
    /// Facts about the module, for its cache entry.
    facts: String,
    /// The folder of the C++.
    folder: TempDir,
}

/// How a build uses a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// Without a profile.
    None,
    /// The code counts which branches it takes.
    Count,
    /// The code is compiled with these counts.
    Use,
}

impl Profile {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Count => &["-fprofile-generate", "-fprofile-update=single", "-DGPURF_PROFILE"],
            // Code that the training run did not reach is compiled as without a profile, not for size: other runs reach it (docs/performance.md, "Trained").
            Self::Use => &["-fprofile-use", "-fprofile-partial-training"],
        }
    }

    /// Code that counts needs the compiler's profiling library.
    fn link_flags(self) -> &'static [&'static str] {
        if self == Self::Count { &["-fprofile-generate"] } else { &[] }
    }
}

/// C++ flags of a unit.
fn unit_flags(level: &str, request: &Request, profile: Profile) -> Vec<String> {
    let (coverage, state) = (u8::from(request.options.coverage), u8::from(request.options.state));
    let defines = [format!("-DVM_COVERAGE={coverage}"), format!("-DGPURF_STATE={state}")];
    let passes: &[&str] = if level == "-O1" { QUICK } else { &[] };
    let fixed = [FLAGS, &[level], passes, profile.flags()].concat();
    fixed.into_iter().map(str::to_owned).chain(defines).collect()
}

/// Rewrites the generated sources: see [`settle_once`].
fn settle_inputs_once(folder: &Path) -> Result<Settling> {
    let listing = fs::read_dir(folder).map_err(|source| Error::Cache { path: folder.into(), source })?;
    let mut paths: Vec<PathBuf> = listing.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "cpp"));
    let texts: Result<Vec<String>> =
        paths.iter().map(|p| read(p).map(|b| String::from_utf8_lossy(&b).into())).collect();
    let mut texts = texts?;
    let settling = settle_once::settling(&texts);
    settle_once::apply(&mut texts).map_or(Ok(()), |changed| write(&paths[changed], &texts[changed]))?;
    Ok(settling)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Source { path: path.into(), source })
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|source| Error::Cache { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_files_is_read_in_both_forms() {
        // Versions 5.006 and 5.050.
        let older = "C \"--cc a.sv\"\nS 1768 10 1796 48 1796 48 \"rtl/a.sv\"\nT 631 10 1796 99 1796 99 \"V.cpp\"\n";
        let newer = "C \"--cc a.sv\"\nS 1768 10 1796 48 1796 48 \"GHKt\" \"rtl/a.sv\"\nT 631 10 1796 99 1796 99 \"unhashed\" \"V.cpp\"\n";
        for list in [older, newer] {
            assert_eq!(files_read(list).collect::<Vec<_>>(), ["rtl/a.sv"]);
        }
    }
}

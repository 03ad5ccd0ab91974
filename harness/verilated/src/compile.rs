//! From sources to a shared object: Verilator, the C++ compiler, the linker, each step cached by content.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpurf_blocks::Declaration;

use crate::cache::{self, Key};
use crate::header::{self, Variable};
use crate::shim::{self, Exchange, PREFIX};
use crate::toolchain::checked;
use crate::{Error, Library, Request, Result, Toolchain};

const HOOKS_H: &str = include_str!("shim/hooks.h");
const HOOKS_CPP: &str = include_str!("shim/hooks.cpp");
const REPORT_H: &str = include_str!("shim/report.h");
const MODEL_CPP: &str = include_str!("shim/model.cpp");

/// C++ flags of everything that goes into a shared object. Symbols are hidden and bound inside the object: two models have classes of
/// one name, and without this the second would run the first one's code.
const FLAGS: &[&str] = &[
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

impl Toolchain {
    /// Builds a module, or takes it from the cache.
    ///
    /// # Errors
    /// A source that cannot be read, what Verilator or the compiler refuse, ports that differ from the declaration.
    pub fn build(&self, request: &Request) -> Result<Library> {
        let key = self.key(request)?;
        let library = cache::file(&self.cache.join("lib"), &key, |folder| self.build_into(request, folder))?;
        Library::load(&library, request)
    }

    /// Checks the ports of one module against a declaration, without compiling anything.
    ///
    /// # Errors
    /// As [`Toolchain::build`].
    pub fn check_ports(&self, request: &Request) -> Result<()> {
        let scratch = tempfile::tempdir().map_err(|source| Error::Cache { path: std::env::temp_dir(), source })?;
        let found = self.verilate(request, scratch.path())?;
        shim::check_ports(&request.declaration, &found)
    }

    /// Everything the result depends on.
    fn key(&self, request: &Request) -> Result<String> {
        let mut key = Key::default().with(&self.versions).with(FLAGS.join(" "));
        for text in [HOOKS_H, HOOKS_CPP, REPORT_H, MODEL_CPP, include_str!("shim.rs"), include_str!("compile.rs")] {
            key = key.with(text);
        }
        key = key.with(format!("{:?}{:?}{:?}{:?}", request.declaration, request.memories, request.defines, request.options));
        let read = |path: &Path| fs::read(path).map_err(|source| Error::Source { path: path.into(), source });
        for source in &request.sources {
            key = key.with(source.to_string_lossy().as_bytes()).with(read(source)?);
        }
        for folder in &request.include_dirs {
            let listing = fs::read_dir(folder).map_err(|source| Error::Source { path: folder.into(), source })?;
            let mut headers: Vec<PathBuf> = listing.filter_map(|e| Some(e.ok()?.path())).collect();
            headers.retain(|p| p.extension().is_some_and(|e| ["svh", "vh", "sv", "v", "h"].iter().any(|h| e == *h)));
            headers.sort();
            for header in headers {
                key = key.with(header.to_string_lossy().as_bytes()).with(read(&header)?);
            }
        }
        Ok(key.finish())
    }

    /// Runs Verilator; gives what is in the generated header.
    fn verilate(&self, request: &Request, folder: &Path) -> Result<HashMap<String, Variable>> {
        let write = |name: &str, text: &str| write(&folder.join(name), text);
        write("probes.vlt", &shim::configuration(request))?;
        let mut command = Command::new(&self.verilator);
        command.args(["--cc", "--prefix", PREFIX, "--flatten", "--top-module", request.declaration.block, "-Mdir"]);
        command.arg(folder);
        command.args(["--x-assign", "fast", "--x-initial", "unique", "-O3", "--output-split-cfuncs", "2000"]);
        command.args(["-Wno-fatal", "-Wno-lint", "-Wno-style", "-Werror-UNOPTFLAT", "-Werror-LATCH", "-Wno-MULTITOP"]);
        if request.options.assertions {
            command.arg("--assert");
        }
        if request.options.coverage {
            command.args(["--coverage-line", "--coverage-toggle"]);
        }
        for (name, value) in &request.declaration.parameters {
            command.arg(format!("-G{name}={value}"));
        }
        command.args(request.include_dirs.iter().map(|d| format!("-I{}", d.display())));
        command.args(request.defines.iter().map(|d| format!("-D{d}")));
        command.arg(folder.join("probes.vlt"));
        command.args(&request.sources);
        checked(&mut command, request.declaration.block)?;
        let root = folder.join(format!("{PREFIX}___024root.h"));
        let text = [folder.join(format!("{PREFIX}.h")), root]
            .iter()
            .map(|path| fs::read_to_string(path).map_err(|source| Error::Source { path: path.clone(), source }))
            .collect::<Result<String>>()?;
        Ok(header::parse(&text))
    }

    /// Makes the cache entry: a folder with the shared object and the facts about it.
    fn build_into(&self, request: &Request, entry: &Path) -> Result<()> {
        let made = |source| Error::Cache { path: entry.to_owned(), source };
        let scratch = tempfile::tempdir_in(entry.parent().unwrap_or(entry)).map_err(made)?;
        let folder = scratch.path();
        let found = self.verilate(request, folder)?;
        shim::check_ports(&request.declaration, &found)?;
        let Exchange { text, absent, state } = shim::exchange(request, &found)?;
        write(&folder.join("gpurf_exchange.h"), &text)?;
        write(&folder.join("gpurf_hooks.h"), HOOKS_H)?;
        write(&folder.join("gpurf_report.h"), REPORT_H)?;
        write(&folder.join("gpurf_hooks.cpp"), HOOKS_CPP)?;
        write(&folder.join("gpurf_model.cpp"), &MODEL_CPP.replace("@PREFIX@", PREFIX))?;

        let objects = self.compile_all(request, folder)?;
        fs::create_dir(entry).map_err(made)?;
        let mut link = Command::new(&self.compiler);
        link.args(["-shared", "-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL", "-o"]);
        link.arg(entry.join("model.so")).args(&objects).arg("-pthread");
        checked(&mut link, request.declaration.block)?;
        write(&entry.join("facts"), &facts::write(&absent, &state))
    }

    /// Compiles the generated sources, Verilator's runtime and the shim, two at a time.
    fn compile_all(&self, request: &Request, folder: &Path) -> Result<Vec<PathBuf>> {
        let coverage = request.options.coverage;
        let mut headers = Key::default();
        let mut generated = Vec::new();
        let mut names: Vec<PathBuf> = fs::read_dir(folder)
            .and_then(|listing| listing.map(|e| Ok(e?.path())).collect())
            .map_err(|source| Error::Cache { path: folder.into(), source })?;
        names.sort();
        for path in names {
            match path.extension().and_then(|e| e.to_str()) {
                Some("h") if !path.ends_with("gpurf_exchange.h") => headers = headers.with(read(&path)?),
                Some("cpp") => generated.push(path),
                _ => {}
            }
        }
        let headers = headers.finish();
        let exchange = read(&folder.join("gpurf_exchange.h"))?;
        let runtime = ["verilated.cpp", "verilated_threads.cpp", "verilated_dpi.cpp"];
        let runtime = runtime.iter().copied().chain(coverage.then_some("verilated_cov.cpp"));
        // Largest first: the two workers then end at about the same time.
        generated.sort_by_key(|p| std::cmp::Reverse(fs::metadata(p).map_or(0, |m| m.len())));
        let sources: Vec<(PathBuf, String)> = generated
            .into_iter()
            .map(|p| (p, headers.clone()))
            .chain(runtime.map(|name| (self.runtime.join(name), String::new())))
            .collect();

        let next = AtomicUsize::new(0);
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(2);
        let compile = |source: &Path, headers: &str| -> Result<PathBuf> {
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            let slow = name.contains("Slow") || name.contains("__Syms");
            let level = if request.options.optimise && !slow { "-O2" } else { "-O0" };
            let mut key = Key::default().with(&self.versions).with(FLAGS.join(" ")).with(level).with([u8::from(coverage)]);
            key = key.with(headers).with(HOOKS_H).with(read(source)?);
            if name == "gpurf_model.cpp" {
                key = key.with(&exchange).with([u8::from(request.options.state)]);
            }
            cache::file(&self.cache.join("obj"), &format!("{}.o", key.finish()), |object| {
                let mut command = Command::new(&self.compiler);
                command.args(FLAGS).arg(level).arg(format!("-DVM_COVERAGE={}", u8::from(coverage)));
                command.arg(format!("-DGPURF_STATE={}", u8::from(request.options.state)));
                command.arg("-I").arg(folder).arg("-I").arg(&self.runtime).arg("-I").arg(self.runtime.join("vltstd"));
                command.arg("-include").arg(folder.join("gpurf_hooks.h"));
                command.arg("-c").arg(source).arg("-o").arg(object);
                checked(&mut command, request.declaration.block).map(drop)
            })
        };
        let mut objects: Vec<Option<Result<PathBuf>>> = sources.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers)
                .map(|_| {
                    scope.spawn(|| {
                        let mut mine = Vec::new();
                        while let Some((source, headers)) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                            let index = sources.iter().position(|(s, _)| s == source).unwrap_or_default();
                            mine.push((index, compile(source, headers)));
                        }
                        mine
                    })
                })
                .collect();
            for handle in handles {
                for (index, result) in handle.join().expect("compiling does not panic") {
                    objects[index] = Some(result);
                }
            }
        });
        objects.into_iter().map(|o| o.expect("every source was taken")).collect()
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Source { path: path.into(), source })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|source| Error::Cache { path: path.into(), source })
}

/// What is known of a built library besides its code: a line for each absent signal and each register.
pub(crate) mod facts {
    use crate::shim::StateVariable;
    use std::fmt::Write;

    pub(crate) fn write(absent: &[usize], state: &[StateVariable]) -> String {
        let mut text = String::new();
        for index in absent {
            writeln!(text, "absent {index}").unwrap();
        }
        for s in state {
            writeln!(text, "state {} {} {} {}", s.name, s.bits, s.count, s.elem_bytes).unwrap();
        }
        text
    }

    pub(crate) fn read(text: &str) -> (Vec<usize>, Vec<StateVariable>) {
        let (mut absent, mut state) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse().expect("written by this crate");
            match words[0] {
                "absent" => absent.push(number(1)),
                _ => state.push(StateVariable {
                    name: words[1].into(),
                    bits: number(2) as u32,
                    count: number(3),
                    elem_bytes: number(4),
                }),
            }
        }
        (absent, state)
    }
}

/// The declaration's signals by which a library is described in messages.
pub(crate) fn signal_names(declaration: &Declaration, indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| declaration.signals[i].field.name.to_owned()).collect()
}

//! From a kernel's source to machine code: CUDA through nvcc, PTX through the compiler.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use gpurf_compiler::{Compiled, Module, Options};
use gpurf_launch::{Manifest, ManifestError, read_bounded};
use gpurf_regress::launched;
use gpurf_report::energies::EnergyFile;

use crate::failure::Failure;
use crate::output;

/// Flags of nvcc: the newest target whose PTX is within the compiler's subset.
const NVCC_FLAGS: [&str; 2] = ["-ptx", "-arch=sm_75"];

/// The text of PTX, and its name in messages.
pub struct Ptx {
    /// The text.
    pub text: String,
    /// The path of the file, or the path that it would have.
    pub name: String,
}

/// The PTX of a `.ptx` or `.cu` file.
///
/// # Errors
/// If there is no such file, nvcc is needed and missing, or nvcc does not accept the source.
pub fn ptx(file: &Path) -> Result<Ptx, Failure> {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension {
        "ptx" => read(file),
        "cu" => cuda(file),
        _ => Err(Failure::bad_input(format!("{}: a kernel's source is a .cu or a .ptx file", file.display()))),
    }
}

fn read(file: &Path) -> Result<Ptx, Failure> {
    let unreadable =
        |why: &dyn std::fmt::Display| Failure::bad_input(format!("{}: cannot be read: {why}", file.display()));
    let bytes = read_bounded(file).map_err(|e| unreadable(&e))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not text"))?;
    Ok(Ptx { text, name: file.display().to_string() })
}

fn cuda(file: &Path) -> Result<Ptx, Failure> {
    let beside = file.with_extension("ptx");
    let changed = |path: &Path| fs::metadata(path).and_then(|m| m.modified());
    let source = match changed(file) {
        Ok(time) => time,
        // Without the .cu file, the PTX is sufficient.
        Err(_) if beside.is_file() => SystemTime::UNIX_EPOCH,
        Err(e) => return Err(Failure::bad_input(format!("{}: cannot be read: {e}", file.display()))),
    };
    if changed(&beside).is_ok_and(|time| time >= source) {
        return read(&beside);
    }
    let Some(nvcc) = nvcc() else {
        if beside.is_file() {
            let (ptx, cu) = (beside.display(), file.display());
            output::note(&format!(
                "{ptx} is older than {cu}, and there is no nvcc to compile it again: using the older file"
            ));
            return read(&beside);
        }
        return Err(Failure::tool(format!(
            "nvcc is not on PATH, and {} needs it. Install the CUDA toolkit, or run `make kernels` in the checkout, which fetches nvcc from PyPI (no \
             GPU needed); or put {} beside the source",
            file.display(),
            beside.display()
        )));
    };
    let folder = tempfile::tempdir().map_err(|e| Failure::tool(format!("cannot make a temporary folder: {e}")))?;
    let target = folder.path().join("source.ptx");
    let output = Command::new(&nvcc)
        .args(NVCC_FLAGS)
        .arg("-o")
        .arg(&target)
        .arg(file)
        .output()
        .map_err(|e| Failure::tool(format!("{} cannot be started: {e}", nvcc.display())))?;
    let (status, words, file) = (output.status, String::from_utf8_lossy(&output.stderr), file.display());
    if !status.success() && !words.trim().is_empty() {
        return Err(Failure::bad_input(format!("nvcc does not accept {file}:\n{}", words.trim_end())));
    }
    // Without a message, nvcc has not refused the source: it was killed, or is broken.
    if !status.success() || !target.is_file() {
        return Err(Failure::tool(format!("{file}: nvcc ended with {status} and wrote no PTX")));
    }
    Ok(Ptx { name: beside.display().to_string(), ..read(&target)? })
}

/// nvcc on PATH, otherwise the one that `make kernels` installs in the checkout.
fn nvcc() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join("nvcc")).find(|file| file.is_file()));
    on_path.or_else(|| {
        let python = fs::read_dir(gpurf_regress::Project::find().root.join("target/nvcc/lib")).ok()?;
        let packages = python.flatten().map(|entry| entry.path().join("site-packages/nvidia"));
        let toolkits = packages.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        toolkits.map(|entry| entry.path().join("bin/nvcc")).find(|file| file.is_file())
    })
}

/// Compiler options with a maximum number of registers per thread.
pub fn options(registers: Option<u16>) -> Options {
    registers.map_or_else(Options::default, |registers| Options { registers, ..Options::default() })
}

/// Compiles the kernels of PTX for a manifest. A kernel that the compiler refuses is left out if the manifest does not launch it.
///
/// # Errors
/// The compiler's message on a launched kernel that it refuses.
pub fn compile(ptx: &Ptx, options: &Options, manifest: &Manifest) -> Result<Compiled, Failure> {
    let refused = |e: &dyn std::fmt::Display| Failure::bad_input(e.to_string());
    let module = Module::parse(&ptx.text, &ptx.name).map_err(|e| refused(&e))?;
    let compiled = module.compile(options, &|_| true).map_err(|e| refused(&e))?;
    if !compiled.refused.is_empty() {
        launched(&module, options, manifest).map_err(|e| refused(&e))?;
    }
    Ok(compiled)
}

/// The energies that `--energy` names.
///
/// # Errors
/// If there are no energies of that name, or the file has a mistake.
pub fn energies(name: &str) -> Result<EnergyFile, Failure> {
    EnergyFile::load(name).map_err(|error| match error {
        ManifestError::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => {
            Failure::bad_input(format!("--energy {name}: expected paper, rtl, or a TOML file"))
        }
        error => error.into(),
    })
}

/// Writes a file atomically.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    gpurf_regress::files::write(path, bytes).map_err(|e| Failure::tool(format!("cannot write {}: {e}", path.display())))
}

/// Makes a folder, including missing parent folders.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    match fs::create_dir_all(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::bad_input(format!("{} is a file, not a folder", path.display())))
        }
        result => result.map_err(|e| Failure::tool(format!("cannot make the folder {}: {e}", path.display()))),
    }
}

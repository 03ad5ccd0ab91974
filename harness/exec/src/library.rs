//! The runtime library that an application loads in place of NVIDIA's: `cudart/cudart.c`, which includes the other files of that folder, compiled for each
//! version of the runtime.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::refused::REFUSED;
use crate::{calls, errors};

/// The source.
const SOURCE: &str = include_str!("../cudart/cudart.c");
/// The files that it includes, apart from those that are written here.
const PARTS: [(&str, &str); 2] =
    [("graphs.c", include_str!("../cudart/graphs.c")), ("images.c", include_str!("../cudart/images.c"))];

/// Versions of the runtime, and the names of the libraries that applications request. A library's name is also the version of its symbols.
const VERSIONS: [(u32, &str); 3] = [(11, "libcudart.so.11.0"), (12, "libcudart.so.12"), (13, "libcudart.so.13")];

/// Why the library could not be built.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// There is no compiler.
    #[error(
        "cannot run the C compiler {compiler}, which makes the runtime library for applications: {source}. Install one, or name one in CC"
    )]
    NoCompiler {
        /// Name of the compiler.
        compiler: String,
        /// The error.
        source: std::io::Error,
    },
    /// The compiler fails.
    #[error("the C compiler {compiler} does not compile the runtime library for applications:\n{output}")]
    Compile {
        /// Name of the compiler.
        compiler: String,
        /// Its error output.
        output: String,
    },
}

/// The folder with the libraries.
#[derive(Clone, Debug)]
pub struct Library {
    /// For `LD_LIBRARY_PATH`, or for `-L` when an application is linked.
    pub folder: PathBuf,
}

impl Library {
    /// Compiles the libraries below a folder, unless they exist already.
    ///
    /// # Errors
    /// When a library cannot be written or compiled.
    pub fn build(parent: &Path) -> Result<Self, LibraryError> {
        let refused: String = REFUSED.iter().map(|name| format!("REFUSED({name})\n")).collect();
        let mut files = vec![
            ("cudart.c", SOURCE.to_owned()),
            ("calls.h", calls::header()),
            ("errors.h", errors::header()),
            ("refused.h", refused),
        ];
        files.extend(PARTS.map(|(name, text)| (name, text.to_owned())));
        let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
        let folder = parent.join(format!("{:016x}", twox_hash::XxHash3_64::oneshot(all.as_bytes())));
        let newest = VERSIONS[VERSIONS.len() - 1].1;
        if folder.join("libcudart.so").exists() {
            return Ok(Self { folder });
        }
        // Another gpurf may do the same at the same time: the work folder gets its final name only when it is complete.
        fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> LibraryError + use<> {
            let path = path.to_owned();
            move |source| LibraryError::Write { path, source }
        }
        std::fs::create_dir_all(parent).map_err(failed(parent))?;
        let work = tempfile::tempdir_in(parent).map_err(failed(parent))?;
        for (name, text) in files {
            let path = work.path().join(name);
            std::fs::write(&path, text).map_err(failed(&path))?;
        }
        for (version, name) in VERSIONS {
            compile(work.path(), version, name)?;
        }
        let link = work.path().join("libcudart.so");
        std::os::unix::fs::symlink(newest, &link).map_err(failed(&link))?;
        let work = work.keep();
        if let Err(source) = std::fs::rename(&work, &folder) {
            let _ = std::fs::remove_dir_all(&work);
            if !folder.join("libcudart.so").exists() {
                return Err(LibraryError::Write { path: folder, source });
            }
        }
        Ok(Self { folder })
    }
}

fn compile(work: &Path, version: u32, name: &str) -> Result<(), LibraryError> {
    let script = work.join(format!("{name}.map"));
    let text = format!("{name} {{ global: cuda*; __cuda*; local: *; }};\n");
    std::fs::write(&script, text).map_err(|source| LibraryError::Write { path: script.clone(), source })?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(&compiler)
        .current_dir(work)
        .args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-attributes"])
        .arg(format!("-DCUDART={version}"))
        .arg(format!("-Wl,--version-script={}", script.display()))
        .arg(format!("-Wl,-soname,{name}"))
        .args(["-o", name, "cudart.c", "-lpthread"])
        .output()
        .map_err(|source| LibraryError::NoCompiler { compiler: compiler.clone(), source })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(LibraryError::Compile { compiler, output });
    }
    Ok(())
}

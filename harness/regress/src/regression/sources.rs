//! Digests of everything besides the plan on which results depend.

use std::io;
use std::path::{Path, PathBuf};

use verilated::included;

use crate::golden::digest_of;
use crate::{JobError, Project, RtlSources};

/// Digests of everything on which results depend. The path of the checkout does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The RTL, and files that replace parts of it.
    pub rtl: String,
    /// Kernels and goldens.
    pub kernels: String,
    /// This program, with its models.
    pub program: String,
}

/// The digests of a checkout and of this program.
///
/// # Errors
/// When something cannot be read.
pub fn sources(project: &Project, rtl: &RtlSources) -> Result<Sources, JobError> {
    Ok(Sources { rtl: rtl_of(project, rtl)?, kernels: kernels_of(project)?, program: program()? })
}

fn kernels_of(project: &Project) -> Result<String, JobError> {
    let mut all = Vec::new();
    for folder in ["tests/kernels", "tests/goldens"] {
        all.push(folder.into());
        add_all(&mut all, &project.root.join(folder))?;
    }
    Ok(digest_of(all.join("\n").as_bytes()))
}

fn rtl_of(project: &Project, rtl: &RtlSources) -> Result<String, JobError> {
    let mut all = Vec::new();
    add_all(&mut all, &project.rtl())?;
    for (module, file) in &rtl.overrides {
        all.push(format!("{module}={}", digest_of_file(file)?));
    }
    for file in &rtl.extra {
        all.push(digest_of_file(file)?);
    }
    for folder in &rtl.include_dirs {
        all.push("include".into());
        add(&mut all, folder, included(folder).map_err(|e| unreadable(folder, &e))?)?;
    }
    all.extend(rtl.defines.iter().map(|define| format!("define {define}")));
    all.extend(rtl.allow_absent.iter().map(|name| format!("absent {name}")));
    Ok(digest_of(all.join("\n").as_bytes()))
}

/// Adds all files below a folder.
fn add_all(all: &mut Vec<String>, folder: &Path) -> Result<(), JobError> {
    let mut files = Vec::new();
    collect(folder, &mut files).map_err(|e| unreadable(folder, &e))?;
    add(all, folder, files)
}

/// Adds files with their digests, named relative to a folder.
fn add(all: &mut Vec<String>, folder: &Path, mut files: Vec<PathBuf>) -> Result<(), JobError> {
    files.sort();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        all.push(format!("{name} {}", digest_of_file(&file)?));
    }
    Ok(())
}

/// A digest of this program, with its models.
///
/// # Errors
/// When it cannot be read.
pub fn program() -> Result<String, JobError> {
    let program =
        std::env::current_exe().map_err(|e| JobError::Build(format!("cannot find the path of this program: {e}")))?;
    digest_of_file(&program)
}

fn digest_of_file(file: &Path) -> Result<String, JobError> {
    let bytes = std::fs::read(file).map_err(|e| unreadable(file, &e))?;
    Ok(digest_of(&bytes))
}

fn unreadable(path: &Path, error: &io::Error) -> JobError {
    JobError::Input(format!("{}: {error}", path.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn all_that_a_result_depends_on_is_in_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for dir in ["rtl", "tests/kernels/inputs", "tests/goldens/two-level", "include/deeper"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        let project = Project { root: folder.path().to_owned(), failures: at("failures") };
        fs::write(at("own.sv"), "").unwrap();
        let over = |module: &str| RtlSources {
            overrides: vec![(module.into(), at("own.sv"))],
            include_dirs: vec![at("include")],
            ..RtlSources::default()
        };
        let digest = |rtl: &RtlSources| (rtl_of(&project, rtl).unwrap(), kernels_of(&project).unwrap());
        let mut seen = BTreeSet::from([digest(&over("mrf_bank"))]);
        for file in [
            "rtl/a.sv",
            "rtl/b.sv",
            "tests/kernels/saxpy.toml",
            "tests/kernels/inputs/x.bin",
            "tests/goldens/two-level/saxpy.toml",
            "include/own.svh",
        ] {
            for text in ["", "changed"] {
                fs::write(at(file), text).unwrap();
                assert!(seen.insert(digest(&over("mrf_bank"))), "{file}: {text:?}");
            }
        }
        assert!(seen.insert(digest(&over("mrf_arbiter"))));
        for defines in [vec!["A".to_owned()], vec!["A=1".to_owned()]] {
            assert!(seen.insert(digest(&RtlSources { defines, ..over("mrf_bank") })));
        }
        assert!(seen.insert(digest(&RtlSources { allow_absent: vec!["A".into()], ..over("mrf_bank") })));
        // Files that no build reads, such as those of the regression's folder.
        fs::write(at("include/journal.jsonl"), "").unwrap();
        fs::write(at("include/deeper/a.h"), "").unwrap();
        assert!(!seen.insert(digest(&over("mrf_bank"))));
    }
}

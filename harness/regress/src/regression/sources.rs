//! What results depend on besides the plan.

use std::io;
use std::path::{Path, PathBuf};

use crate::golden::digest_of;
use crate::{JobError, Project, RtlSources};

/// A digest of the RTL and of what takes its place, and one of this program.
///
/// # Errors
/// When something cannot be read.
pub fn sources(project: &Project, rtl: &RtlSources) -> Result<(String, String), JobError> {
    let mut files = Vec::new();
    collect(&project.rtl(), &mut files).map_err(|e| JobError::Input(format!("{}: {e}", project.rtl().display())))?;
    files.sort();
    files.extend(rtl.overrides.iter().map(|(_, file)| file.clone()).chain(rtl.extra.iter().cloned()));
    let mut all = files.iter().map(|file| digest_of_file(file)).collect::<Result<Vec<_>, _>>()?;
    all.extend(rtl.allow_absent.iter().cloned());
    let all = all.join(" ");
    Ok((digest_of(all.as_bytes()), program()?))
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
    let bytes = std::fs::read(file).map_err(|e| JobError::Input(format!("{}: {e}", file.display())))?;
    Ok(digest_of(&bytes))
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

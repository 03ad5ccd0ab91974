//! Hand-written mutants: the lists of `tests/mutants`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Change, Family, Mutant, source};
use crate::{JobError, Project};

/// A list of hand-written mutants on disk.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantFile {
    mutant: Vec<MutantEntry>,
}

/// One mutant of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantEntry {
    module: String,
    name: String,
    find: String,
    replace: String,
    equivalent: Option<String>,
}

/// The hand-written mutants of the modules that `wanted` accepts.
///
/// # Errors
/// When a list cannot be read, or a text to replace does not occur exactly once in its module.
pub fn hand_written(project: &Project, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Mutant>, JobError> {
    let folder = project.root.join("tests/mutants");
    let unreadable =
        |path: &Path, e: &dyn std::fmt::Display| JobError::Input(format!("cannot read {}: {e}", path.display()));
    let listing = std::fs::read_dir(&folder).map_err(|e| unreadable(&folder, &e))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut mutants = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
        let list: MutantFile = toml::from_str(&text).map_err(|e| unreadable(&path, &e))?;
        for entry in list.mutant.into_iter().filter(|m| wanted(&m.module)) {
            let source = source(project, &entry.module)?;
            let occurs = source.matches(&entry.find).count();
            if occurs != 1 {
                let name = &entry.name;
                return Err(JobError::Input(format!(
                    "{}: mutant {name:?}: its text occurs {occurs} times in {}",
                    path.display(),
                    entry.module
                )));
            }
            let change = Change::Text { find: entry.find, replace: entry.replace };
            let MutantEntry { module, name, equivalent, .. } = entry;
            let (family, operator, readers) = (Family::HandWritten, None, Vec::new());
            mutants.push(Mutant { module, name, family, operator, equivalent, readers, change });
        }
    }
    Ok(mutants)
}

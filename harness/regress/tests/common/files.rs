//! Files of the project, for tests that read its text.

use std::path::{Path, PathBuf};

/// The files below a folder whose names end in one of `endings`, without those in folders that `skips` names, in build output and in hidden
/// folders.
pub fn files(folder: &Path, endings: &[&str], skips: &[&str]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') && !skips.contains(&name) {
                all.extend(files(&path, endings, skips));
            }
        } else if endings.contains(&ending) {
            all.push(path);
        }
    }
    all
}

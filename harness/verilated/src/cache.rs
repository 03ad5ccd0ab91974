//! A cache of files: each is made once, and its key is the content from which it is made.
//!
//! An entry appears by a rename, so a killed build leaves nothing that looks finished. It is made under a file lock, so two
//! builds with the same key do the work once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// Hashes everything on which a key depends.
#[derive(Clone, Default)]
pub(crate) struct Key(Sha256);

impl Key {
    pub(crate) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        // The length separates neighbouring parts.
        self.0.update((part.as_ref().len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
    }
}

/// The file `folder/name`. If it does not exist, `make` writes it to the path that it is given.
pub(crate) fn file(folder: &Path, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let path = folder.join(name);
    let failed = |source: io::Error| Error::Cache { path: path.clone(), source };
    if path.exists() {
        return Ok(path);
    }
    let locks = folder.join("locks");
    fs::create_dir_all(&locks).map_err(failed)?;
    let lock = File::create(locks.join(name)).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if !path.exists() {
        let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(folder).map_err(failed)?;
        let fresh = scratch.path().join(name);
        make(&fresh)?;
        fs::rename(&fresh, &path).map_err(failed)?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn parts_of_a_key_do_not_run_into_each_other() {
        assert_ne!(Key::default().with("ab").with("c").finish(), Key::default().with("a").with("bc").finish());
    }

    #[test]
    fn one_key_is_made_once_by_many_threads() {
        let folder = tempfile::tempdir().unwrap();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    file(folder.path(), "entry", |path| {
                        made.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        fs::write(path, "whole").unwrap();
                        Ok(())
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert_eq!(fs::read_to_string(folder.path().join("entry")).unwrap(), "whole");
    }

    #[test]
    fn a_failed_build_leaves_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let fail = |path: &Path| {
            fs::write(path, "half").unwrap();
            Err(Error::Build { tool: "t".into(), what: "w".into(), message: "m".into() })
        };
        assert!(file(folder.path(), "entry", fail).is_err());
        assert!(!folder.path().join("entry").exists());
        file(folder.path(), "entry", |path| fs::write(path, "whole").map_err(|e| panic!("{e}"))).unwrap();
    }
}

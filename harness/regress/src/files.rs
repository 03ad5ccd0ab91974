//! Files that appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written in pieces and gets its name when it is complete. The previous file is kept until then.
pub struct WholeFile {
    path: PathBuf,
    file: Kind,
}

enum Kind {
    Temporary(NamedTempFile),
    /// A pipe or a device: it is written to, not replaced.
    Special(File),
}

impl WholeFile {
    /// Starts to write the file.
    ///
    /// # Errors
    /// When the path cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Kind::Special(File::options().write(true).open(path)?),
            _ => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Kind::Temporary(NamedTempFile::new_in(folder)?)
            }
        };
        Ok(Self { path: path.to_owned(), file })
    }

    fn file(&self) -> &File {
        match &self.file {
            Kind::Temporary(file) => file.as_file(),
            Kind::Special(file) => file,
        }
    }

    /// A handle for writing.
    ///
    /// # Errors
    /// When the system has no more handles.
    pub fn writer(&self) -> io::Result<File> {
        self.file().try_clone()
    }

    /// Gives the file its name, because it is complete. Without this call it is deleted.
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn keep(self) -> io::Result<()> {
        let Kind::Temporary(file) = self.file else { return Ok(()) };
        #[cfg(unix)]
        {
            // Temporary files can be read by their owner only; results should not be restricted.
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        file.as_file().sync_data()?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

/// Writes a file; the previous one is kept until the new one is complete.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = WholeFile::create(path)?;
    file.writer()?.write_all(bytes)?;
    file.keep()
}

/// The same, and creates the folders above the file.
///
/// # Errors
/// When one of them cannot be made or the file cannot be written.
pub fn write_below(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    write(path, bytes)
}

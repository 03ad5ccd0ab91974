//! Files that appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written in pieces and gets its name when it is complete. The previous file is kept until then.
pub struct WholeFile {
    path: PathBuf,
    file: Kind,
}

enum Kind {
    Temporary(NamedTempFile),
    /// A pipe, a device or a file that a process has open: it is written to, not replaced.
    Special(File),
}

impl WholeFile {
    /// Starts to write the file.
    ///
    /// # Errors
    /// When the path cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        // The file that a link leads to is replaced, not the link.
        let path = &followed(path);
        if is_open_file(path) {
            return Ok(Self { path: path.clone(), file: Kind::Special(open_file(path)?) });
        }
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
            // Temporary files can be read by their owner only; results should not be restricted, unless the file before was.
            use std::os::unix::fs::PermissionsExt;
            let permissions = fs::metadata(&self.path).map(|found| found.permissions());
            file.as_file().set_permissions(permissions.unwrap_or_else(|_| fs::Permissions::from_mode(0o644)))?;
        }
        file.as_file().sync_data()?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

/// The path that the links of a path lead to, also if there is no file yet. Links end at a file that a process has open, such as `/dev/stdout` and
/// `/proc/self/fd/3`.
fn followed(path: &Path) -> PathBuf {
    // As many links as the system follows.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = fs::canonicalize(folder) else { break };
        path = folder.join(path.file_name().unwrap_or_default());
        if is_open_file(&path) {
            break;
        }
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder.join(target);
    }
    path
}

/// Whether a path without links names a file that a process has open.
fn is_open_file(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// A handle of a file that a process has open. Those of this process's own streams write where the streams do; another one writes at the file's end.
fn open_file(path: &Path) -> io::Result<File> {
    let own = Path::new("/proc").join(std::process::id().to_string()).join("fd");
    if path == own.join("1") {
        return Ok(io::stdout().as_fd().try_clone_to_owned()?.into());
    }
    if path == own.join("2") {
        return Ok(io::stderr().as_fd().try_clone_to_owned()?.into());
    }
    File::options().append(true).open(path)
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_file_that_a_link_leads_to_is_replaced_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write(&file, b"first").unwrap();
        assert_eq!(mode(&file), 0o644);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, b"second").unwrap();
        // A link may lead to a file that is not there yet.
        let [new, ahead] = ["new", "ahead"].map(|name| folder.path().join(name));
        symlink("new", &ahead).unwrap();
        write(&ahead, b"third").unwrap();
        assert!(fs::symlink_metadata(&ahead).unwrap().is_symlink());
        assert_eq!(fs::read(&new).unwrap(), b"third");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"second".to_vec(), 0o600));
    }

    /// Standard output may be such a file.
    #[test]
    fn a_file_that_is_open_is_written_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["file", "link"].map(|name| folder.path().join(name));
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before\n").unwrap();
        symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).unwrap();
        for name in [format!("/proc/self/fd/{}", file.as_raw_fd()).into(), link] {
            write(&name, b"report\n").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before\nreport\nreport\n");
        assert_eq!(file.metadata().unwrap().len(), 21, "the same file");
    }
}

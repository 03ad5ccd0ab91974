//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file; what was there before stays until the new one is whole.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A pipe or a device is written to, not replaced.
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        // Temporary files are their owner's alone; results are not.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.as_file().sync_data()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// The same with the folders above it.
///
/// # Errors
/// When one of them cannot be made or the file cannot be written.
pub fn write_below(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    write(path, bytes)
}

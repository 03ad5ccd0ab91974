//! The files of a command line: an output does not overwrite what the command reads, or another output.

use std::fs;
use std::path::{Path, PathBuf};

use gpurf_launch::{Init, Manifest, Source};

use crate::args::{Replacements, Selection};
use crate::failure::Failure;

/// Files that a command reads, each with a description for messages.
#[derive(Default)]
pub struct InputFiles(Vec<(String, PathBuf)>);

impl InputFiles {
    /// Adds a file.
    pub fn with(mut self, what: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        self.0.push((what.into(), file.into()));
        self
    }

    /// Adds a file that may be absent.
    pub fn with_optional(self, what: &str, file: Option<impl Into<PathBuf>>) -> Self {
        file.map(Into::into).into_iter().fold(self, |inputs, file| inputs.with(what, file))
    }

    /// Adds the file of this name, if there is one: the name may also stand for something in the project.
    pub fn with_named(self, what: &str, name: Option<&str>) -> Self {
        self.with_optional(what, name.filter(|name| Path::new(name).is_file()))
    }

    /// Adds the file of a configuration.
    pub fn with_selection(self, selection: &Selection) -> Self {
        self.with_optional("the configuration", selection.config.as_ref())
    }

    /// Adds RTL that replaces the project's.
    pub fn with_replacements(self, rtl: &Replacements) -> Self {
        let inputs = self.with_optional("the list of RTL files", rtl.list.as_ref());
        rtl.files.iter().fold(inputs, |inputs, (module, file)| inputs.with(format!("the RTL of {module}"), file))
    }

    /// Adds a kernel's source. For CUDA, the PTX beside it may be read too.
    pub fn with_source(self, file: &Path) -> Self {
        let is_cuda = file.extension().is_some_and(|extension| extension == "cu");
        let beside = is_cuda.then(|| file.with_extension("ptx"));
        self.with("the kernel's source", file).with_optional("the PTX of the kernel's source", beside)
    }

    /// Adds a launch manifest and the files that it names.
    pub fn with_manifest(mut self, manifest: &Manifest) -> Self {
        let buffers = manifest.buffers.iter().map(|buffer| (&buffer.name, &buffer.init));
        let symbols = manifest.symbols.iter().map(|symbol| (&symbol.name, &symbol.init));
        for (name, init) in buffers.chain(symbols) {
            if let Init::File(file) = init {
                self = self.with(format!("the initial contents of {name}"), file);
            }
        }
        for check in &manifest.checks {
            let name = &manifest.buffer(check.buffer).name;
            self = self.with(format!("the expected contents of {name}"), &check.expected);
        }
        if let Source::File(file) = &manifest.source {
            self = self.with_source(file);
        }
        self.with("the launch manifest", &manifest.path)
    }
}

/// Checks before the work that output files can be written, each named by its option, and that none is an input or another output.
///
/// # Errors
/// For the first output that fails a check.
pub fn check_outputs<P: AsRef<Path>>(outputs: &[(&str, P)], inputs: &InputFiles) -> Result<(), Failure> {
    let refused = |why: String| Err(Failure::bad_input(format!("{why}: choose another place")));
    let mut taken: Vec<(String, PathBuf)> = Vec::new();
    for (option, file) in outputs {
        let (named, file) = (format!("{option} {}", file.as_ref().display()), file.as_ref());
        check_writable(option, file)?;
        // A device or a pipe is written to, not replaced.
        let Some(place) = place(file) else { continue };
        if let Some((what, _)) = inputs.0.iter().find(|(_, input)| self::place(input).as_ref() == Some(&place)) {
            return refused(format!("{named} is {what}"));
        }
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == place) {
            return refused(format!("{other} and {named} are the same file"));
        }
        taken.push((named, place));
    }
    Ok(())
}

/// Checks that a path is not a folder, and that its folder exists.
fn check_writable(option: &str, file: &Path) -> Result<(), Failure> {
    let why = if file.is_dir() {
        "it is a folder"
    } else if !folder_of(file).is_dir() {
        "its folder does not exist"
    } else {
        return Ok(());
    };
    Err(Failure::bad_input(format!("{option} {}: {why}", file.display())))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The canonical path of a file, whether it exists or not; `None` for a device or a pipe.
fn place(file: &Path) -> Option<PathBuf> {
    match fs::metadata(file) {
        Ok(found) if !found.is_file() => None,
        Ok(_) => fs::canonicalize(file).ok(),
        Err(_) => Some(fs::canonicalize(folder_of(file)).ok()?.join(file.file_name()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_place_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.toml");
        let roundabout = folder.path().join("../").join(folder.path().file_name().unwrap()).join("in.toml");
        let link = folder.path().join("link.toml");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let check =
            |output: &Path, input: &Path| check_outputs(&[("-o", output)], &InputFiles::default().with("it", input));
        // The input file need not exist yet.
        assert!(check(&roundabout, &file).is_err());
        fs::write(&file, "").unwrap();
        for output in [&file, &roundabout, &link] {
            let message = check(output, &file).unwrap_err().message;
            assert_eq!(message, format!("-o {} is it: choose another place", output.display()));
        }
        assert!(check(&folder.path().join("out.toml"), &file).is_ok());
    }

    #[test]
    fn outputs_are_different_files_unless_they_are_written_to_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        let both = |file: &Path| check_outputs(&[("--trace", file), ("--accelwattch", file)], &InputFiles::default());
        let message = both(&file).unwrap_err().message;
        let shown = file.display();
        assert_eq!(
            message,
            format!("--trace {shown} and --accelwattch {shown} are the same file: choose another place")
        );
        assert!(both(Path::new("/dev/null")).is_ok());
    }
}

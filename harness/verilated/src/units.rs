//! Which generated C++ files are compiled together.
//!
//! Each unit reads the same large headers again, so the files of a small module form one unit. In a large module an optimised file is a unit
//! of its own: a change of one block leaves most of the SM's files unchanged, and the cache already has their objects.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::cache::Key;
use crate::compile::write;

/// If the files have more bytes than this, they are compiled separately.
const APART: usize = 1 << 20;
/// A file with fewer bytes than this is compiled together with others even then.
const SMALL: usize = 64 << 10;
/// Files of this project, as opposed to Verilator's, begin with this prefix.
const OURS: &str = "gpurf_";

/// A generated file, with its name in the build folder.
pub(crate) struct Generated {
    pub name: String,
    pub text: Vec<u8>,
}

/// A file to compile.
pub(crate) struct Unit {
    pub source: PathBuf,
    pub level: &'static str,
    /// The content from which the unit is compiled, besides the flags.
    pub key: Key,
}

/// Content of the headers of a build: Verilator's alone, and together with this project's. Verilator's files include only its own headers.
pub(crate) struct Headers {
    generated: String,
    all: String,
}

impl Headers {
    pub(crate) fn new(headers: &[Generated]) -> Self {
        let digest = |ours: bool| {
            let included = headers.iter().filter(|header| ours || !header.name.starts_with(OURS));
            included.fold(Key::default(), |key, header| key.with(&header.name).with(&header.text)).finish()
        };
        Self { generated: digest(false), all: digest(true) }
    }

    /// The key of a unit with these files.
    fn key(&self, files: &[&Generated]) -> Key {
        let ours = files.iter().any(|file| file.name.starts_with(OURS));
        let key = files.iter().fold(Key::default(), |key, file| key.with(&file.text));
        key.with(if ours { &self.all } else { &self.generated })
    }
}

/// The units of the optimised files. `name`: the file that includes those compiled together.
pub(crate) fn apart(
    files: &[Generated],
    headers: &Headers,
    level: &'static str,
    folder: &Path,
    name: &str,
) -> Result<Vec<Unit>> {
    let total: usize = files.iter().map(|file| file.text.len()).sum();
    let alone = |file: &&Generated| total >= APART && (file.text.len() >= SMALL || file.name.starts_with(OURS));
    let (mut apart, together): (Vec<_>, Vec<_>) = files.iter().partition(alone);
    // The longest file first, so that no long one is left for the end.
    apart.sort_by_key(|file| std::cmp::Reverse(file.text.len()));
    let mut units: Vec<Unit> =
        apart.iter().map(|file| Unit { source: folder.join(&file.name), level, key: headers.key(&[file]) }).collect();
    if !together.is_empty() {
        units.push(one(&together, headers, level, folder, name)?);
    }
    Ok(units)
}

/// One unit with all files; the file `name` includes them.
pub(crate) fn one(
    files: &[&Generated],
    headers: &Headers,
    level: &'static str,
    folder: &Path,
    name: &str,
) -> Result<Unit> {
    let source = folder.join(name);
    let text: String = files.iter().map(|file| format!("#include \"{}\"\n", file.name)).collect();
    write(&source, &text)?;
    Ok(Unit { source, level, key: headers.key(files) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kilobytes: usize) -> Generated {
        Generated { name: name.into(), text: vec![b'x'; kilobytes << 10] }
    }

    /// The file of each unit, and the digest of its key.
    fn made(files: &[Generated], headers: &[Generated]) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let units = apart(files, &Headers::new(headers), "-O1", folder.path(), "unit.cpp").unwrap();
        let name = |unit: &Unit| unit.source.file_name().unwrap().to_string_lossy().into_owned();
        units.iter().map(|unit| (name(unit), unit.key.clone().finish())).collect()
    }

    fn names(made: &[(String, String)]) -> Vec<&str> {
        made.iter().map(|(name, _)| &name[..]).collect()
    }

    #[test]
    fn files_of_a_small_module_are_one_unit() {
        assert_eq!(
            names(&made(&[file("a.cpp", 600), file("gpurf_model.cpp", 7), file("b.cpp", 400)], &[])),
            ["unit.cpp"]
        );
    }

    #[test]
    fn large_files_and_ours_are_units_of_their_own() {
        let files =
            [file("a.cpp", 600), file("b.cpp", 900), file("c.cpp", 3), file("d.cpp", 3), file("gpurf_model.cpp", 7)];
        assert_eq!(names(&made(&files, &[])), ["b.cpp", "a.cpp", "gpurf_model.cpp", "unit.cpp"]);
    }

    #[test]
    fn a_changed_file_changes_its_unit_alone() {
        let mut files = [file("a.cpp", 600), file("b.cpp", 900), file("c.cpp", 3)];
        let before = made(&files, &[]);
        files[1].text[7] = b'y';
        let after = made(&files, &[]);
        let changed: Vec<&str> = before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| &a.0[..]).collect();
        assert_eq!(changed, ["b.cpp"]);
    }

    #[test]
    fn our_headers_count_for_our_files_and_verilators_for_all() {
        let files = [file("a.cpp", 600), file("b.cpp", 900), file("gpurf_model.cpp", 7)];
        let mut headers = [file("V.h", 1), file("gpurf_exchange.h", 1)];
        let before = made(&files, &headers);
        let changed = |headers: &[Generated]| -> Vec<String> {
            let after = made(&files, headers);
            before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| a.0.clone()).collect()
        };
        headers[1].text[0] = b'y';
        assert_eq!(changed(&headers), ["gpurf_model.cpp"]);
        headers[0].text[0] = b'y';
        assert_eq!(changed(&headers), ["b.cpp", "a.cpp", "gpurf_model.cpp"]);
    }
}

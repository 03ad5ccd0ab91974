//! File lists: the `-f` files of EDA tools.
//!
//! A line has files and options, separated by spaces; `//` and `#` begin a comment. Supported are source files, `+incdir+DIR[+DIR...]`, `-IDIR`,
//! `+define+NAME[=VALUE][+...]`, `-DNAME[=VALUE]`, and `-f FILE` (or `-F FILE`) for another list. `$NAME` and `${NAME}` are environment variables.
//! Paths are relative to the folder of the list that contains them.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The contents of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Sources, in order.
    pub sources: Vec<PathBuf>,
    /// Include folders.
    pub include_dirs: Vec<PathBuf>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

/// Maximum nesting of lists: a deeper one is taken for a cycle.
const DEEPEST: usize = 16;

impl FileList {
    /// Reads a list and the lists in it.
    ///
    /// # Errors
    /// If a file or folder does not exist, or an option is not supported: the message has the list and line.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let mut list = Self::default();
        list.add(path, 0)?;
        Ok(list)
    }

    fn add(&mut self, path: &Path, depth: usize) -> Result<(), Failure> {
        let text = gpurf_launch::read_text(path)
            .map_err(|e| Failure::bad_input(format!("cannot read the file list {}: {e}", path.display())))?;
        let path = verilated::absolute(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        // Editors of some systems begin a file with a mark of its encoding.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for (index, line) in text.lines().enumerate() {
            let wrong = |what: String| Failure::bad_input(format!("{}:{}: {what}", path.display(), index + 1));
            let mut words = without_comment(line).split_whitespace().map(|word| expand(word).map_err(wrong));
            while let Some(word) = words.next() {
                let word = word?;
                let file = |name: &str| {
                    let file = folder.join(name);
                    if file.is_file() { Ok(file) } else { Err(wrong(format!("there is no file {}", file.display()))) }
                };
                let include = |name: &str| {
                    let dir = folder.join(name);
                    if dir.is_dir() { Ok(dir) } else { Err(wrong(format!("there is no folder {}", dir.display()))) }
                };
                if let Some(dirs) = word.strip_prefix("+incdir+") {
                    for dir in dirs.split('+').filter(|d| !d.is_empty()) {
                        self.include_dirs.push(include(dir)?);
                    }
                } else if let Some(defines) = word.strip_prefix("+define+") {
                    self.defines.extend(defines.split('+').filter(|d| !d.is_empty()).map(str::to_owned));
                } else if let Some(dir) = word.strip_prefix("-I").filter(|d| !d.is_empty()) {
                    self.include_dirs.push(include(dir)?);
                } else if let Some(define) = word.strip_prefix("-D").filter(|d| !d.is_empty()) {
                    self.defines.push(define.to_owned());
                } else if word == "-f" || word == "-F" {
                    let inner = words.next().ok_or_else(|| wrong(format!("{word} needs a file")))??;
                    if depth == DEEPEST {
                        return Err(wrong(format!("{inner}: lists are nested too deeply; do they name each other?")));
                    }
                    self.add(&file(&inner)?, depth + 1)?;
                } else if word.starts_with(['-', '+']) {
                    return Err(wrong(format!(
                        "{word} is not understood; there are +incdir+DIR, -IDIR, +define+NAME=VALUE, -DNAME=VALUE and -f FILE"
                    )));
                } else {
                    self.sources.push(file(&word)?);
                }
            }
        }
        Ok(())
    }
}

fn without_comment(line: &str) -> &str {
    let line = line.split_once("//").map_or(line, |(before, _)| before);
    line.split_once('#').map_or(line, |(before, _)| before)
}

/// Expands environment variables.
fn expand(word: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let (name, behind) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').ok_or_else(|| format!("{word}: the brace is not closed"))?,
            None => after.split_at(after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())),
        };
        let value = std::env::var(name).map_err(|_| format!("{word}: the environment variable {name} is not set"))?;
        text.push_str(&value);
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for dir in ["inc", "more", "sub"] {
            fs::create_dir(folder.path().join(dir)).unwrap();
        }
        for file in ["a.sv", "b.sv", "sub/c.sv"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        folder
    }

    fn read(folder: &Path, text: &str) -> Result<FileList, String> {
        fs::write(folder.join("list.f"), text).unwrap();
        let shown = format!("{}/", folder.display());
        FileList::read(&folder.join("list.f")).map_err(|e| e.message.replace(&shown, ""))
    }

    #[test]
    fn everything_a_list_may_have() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("sub/inner.f"), "c.sv +define+INNER\n").unwrap();
        let text = "// comment\n+incdir+inc+more -Isub # comment\n\n+define+A+B=2 -DC\na.sv b.sv\n-f sub/inner.f\n";
        let list = read(folder.path(), text).unwrap();
        assert_eq!(list.sources, [at("a.sv"), at("b.sv"), at("sub/c.sv")]);
        assert_eq!(list.include_dirs, [at("inc"), at("more"), at("sub")]);
        assert_eq!(list.defines, ["A", "B=2", "C", "INNER"]);
    }

    #[test]
    fn a_mark_of_the_encoding_is_no_part_of_the_first_word() {
        let folder = folder();
        assert_eq!(read(folder.path(), "\u{feff}a.sv\n").unwrap().sources, [folder.path().join("a.sv")]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let folder = folder();
        let cases = [
            ("a.sv\nmissing.sv\n", "list.f:2: there is no file missing.sv"),
            ("+incdir+nowhere\n", "list.f:1: there is no folder nowhere"),
            ("-f\n", "list.f:1: -f needs a file"),
            (
                "${GPURF_TEST_UNSET}/a.sv\n",
                "list.f:1: ${GPURF_TEST_UNSET}/a.sv: the environment variable GPURF_TEST_UNSET is not set",
            ),
            ("${OPEN\n", "list.f:1: ${OPEN: the brace is not closed"),
        ];
        for (text, message) in cases {
            assert_eq!(read(folder.path(), text).unwrap_err(), message);
        }
        assert!(
            read(folder.path(), "-y lib\n")
                .unwrap_err()
                .starts_with("list.f:1: -y is not understood; there are +incdir+DIR")
        );
        assert!(read(folder.path(), "-f list.f\n").unwrap_err().contains("do they name each other?"));
    }
}

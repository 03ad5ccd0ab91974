//! The user's own RTL in place of the project's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gpurf_blocks::registry::{BLOCKS, Entry};
use gpurf_regress::{Project, RtlSources};

use crate::failure::Failure;
use crate::file_list::FileList;

/// The package that every module imports; it comes first in every build.
const PACKAGE: &str = "gpurf_pkg";

/// The project's packages, by path: they come before all modules.
fn packages() -> BTreeSet<&'static str> {
    gpurf_sm::all().flat_map(|block| block.packages).copied().chain([PACKAGE]).collect()
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Modules that are replaced, and where from.
#[derive(Debug, Default)]
pub struct OwnRtl {
    /// What to build from.
    pub sources: RtlSources,
    /// The options that ask for it, as they were given, with absolute paths.
    pub options: Vec<String>,
}

impl OwnRtl {
    /// Checks what the user asks for.
    ///
    /// # Errors
    /// An unknown module, a file that does not exist, a file that does not define its module.
    pub fn new(project: &Project, modules: &[(String, PathBuf)], list: Option<&Path>) -> Result<Self, Failure> {
        let mut own = Self::default();
        for (module, file) in modules {
            let what = format!("--rtl {module}={}", file.display());
            let wrong = |why: String| Err(Failure::bad_input(format!("{what}: {why}")));
            if gpurf_sm::find(module).is_none() {
                return wrong(format!("there is no module {module}; there are: {}", names()));
            }
            if own.replaces(module) {
                return wrong(format!("{module} is replaced twice"));
            }
            let text = match read(file) {
                Ok(text) => text,
                Err(why) => return wrong(why),
            };
            if !defines(&text, "module", module) {
                return wrong(format!("the file does not define a module {module}"));
            }
            let file = absolute(file);
            own.options.push(format!("--rtl {module}={}", file.display()));
            own.sources.overrides.push((module.clone(), file));
        }
        if let Some(path) = list {
            own.add_list(project, path)?;
        }
        Ok(own)
    }

    /// The files of a list come before the project's, in their order; the project's source of a module that one of them defines
    /// gives way to an empty file.
    fn add_list(&mut self, project: &Project, path: &Path) -> Result<(), Failure> {
        let what = format!("--rtl-list {}", path.display());
        let wrong = |why: String| Failure::bad_input(format!("{what}: {why}"));
        let list = FileList::read(path)?;
        let before = self.sources.overrides.len();
        for source in list.sources {
            let text = read(&source).map_err(wrong)?;
            if let Some(path) = packages().into_iter().find(|path| defines(&text, "package", name_of(path))) {
                // The project's package is always there; a copy of it does no harm, another one would.
                let own = std::fs::read_to_string(project.rtl().join(path).with_extension("sv")).unwrap_or_default();
                if own == text {
                    continue;
                }
                let (file, package) = (source.display(), name_of(path));
                return Err(wrong(format!("{file} is another {package} than the project's: give yours another name")));
            }
            for block in BLOCKS.iter().filter(|block| defines(&text, "module", block.name)) {
                if self.replaces(block.name) {
                    return Err(wrong(format!("{}: {} is replaced twice", source.display(), block.name)));
                }
                let empty = placeholder(project, block.name)?;
                self.sources.overrides.push((block.name.into(), empty));
            }
            self.sources.extra.push(source);
        }
        if self.sources.overrides.len() == before {
            return Err(wrong(format!("no file in it defines one of the modules {}", names())));
        }
        self.sources.include_dirs = list.include_dirs;
        self.sources.defines = list.defines;
        self.options.push(format!("--rtl-list {}", absolute(path).display()));
        Ok(())
    }

    /// What a reproducer asks for.
    ///
    /// # Errors
    /// As [`OwnRtl::new`], and where it was made with a file list, which it does not hold.
    pub fn of_reproducer(project: &Project, rtl: &[String]) -> Result<Self, Failure> {
        let mut modules = Vec::new();
        for option in rtl {
            let (module, file) = option
                .split_once('=')
                .ok_or_else(|| Failure::bad_input(format!("the reproducer's rtl {option:?} is not MODULE=FILE")))?;
            if Path::new(file).starts_with(placeholders(project)) {
                return Err(Failure::bad_input(format!(
                    "the reproducer was made with {module} from a file list: give that list again with --rtl-list FILE"
                )));
            }
            modules.push((module.to_owned(), PathBuf::from(file)));
        }
        Self::new(project, &modules, None)
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.sources.overrides.is_empty()
    }

    /// Whether a block contains a module that is replaced.
    pub fn touches(&self, block: &Entry) -> bool {
        block.modules().any(|module| self.replaces(module))
    }

    /// The replaced modules.
    pub fn modules(&self) -> Vec<&str> {
        self.sources.overrides.iter().map(|(module, _)| module.as_str()).collect()
    }

    fn replaces(&self, module: &str) -> bool {
        self.sources.overrides.iter().any(|(m, _)| m == module)
    }
}

fn placeholders(project: &Project) -> PathBuf {
    project.cache().join("replaced")
}

/// An empty source for a module that is defined elsewhere. Its path stays the same, so that builds are found again.
fn placeholder(project: &Project, module: &str) -> Result<PathBuf, Failure> {
    let folder = placeholders(project);
    let file = folder.join(module).with_extension("sv");
    let text = format!("// {module} comes from a file list.\n");
    if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(file);
    }
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|e| Failure::tool(format!("cannot write {}: {e}", file.display())))?;
    Ok(file)
}

fn names() -> String {
    BLOCKS.iter().map(|b| b.name).collect::<Vec<_>>().join(", ")
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether SystemVerilog text defines the module or package `name`.
fn defines(text: &str, kind: &str, name: &str) -> bool {
    let code = without_comments(text);
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        if word == kind {
            // `module automatic name` and `module static name` are legal.
            let next = words.next().filter(|w| !matches!(*w, "automatic" | "static")).or_else(|| words.next());
            if next == Some(name) {
                return true;
            }
        }
    }
    false
}

fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        code.push_str(&rest[..start]);
        code.push(' ');
        let comment = &rest[start..];
        let end = if comment.starts_with("//") { comment.find('\n') } else { comment.find("*/").map(|at| at + 2) };
        rest = end.map_or("", |end| &comment[end..]);
    }
    code.push_str(rest);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_and_comments_are_not() {
        let text = "// module a\n/* module b */ module automatic c #(parameter P = 1) (); endmodule\nmodule d;";
        let found: Vec<_> = ["a", "b", "c", "d", "P"].into_iter().filter(|m| defines(text, "module", m)).collect();
        assert_eq!(found, ["c", "d"]);
        assert!(defines("package gpurf_pkg;", "package", PACKAGE));
    }
}

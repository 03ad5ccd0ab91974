//! The user's own RTL, which replaces the project's.

use std::path::{Path, PathBuf};

use gpurf_blocks::registry::Entry;
use gpurf_blocks::{Declaration, Role};
use gpurf_lockstep::quoted;
use gpurf_regress::{Project, RtlSources, file_name, is_built_from, is_called, packages};
use verilated::absolute;

use crate::args::Replacements;
use crate::failure::Failure;
use crate::file_list::FileList;

/// Replaced modules and packages, and their sources.
#[derive(Debug, Default)]
pub struct OwnRtl {
    /// The sources for builds.
    pub sources: RtlSources,
}

impl OwnRtl {
    /// Checks the replacements that the user requests.
    ///
    /// # Errors
    /// If a module or package is unknown, a file does not exist, or a file does not define its module or package.
    pub fn new(project: &Project, given: &Replacements) -> Result<Self, Failure> {
        let mut own = Self::default();
        for (module, file) in &given.files {
            let what = format!("--rtl {module}={}", file.display());
            let wrong = |why: String| Err(Failure::bad_input(format!("{what}: {why}")));
            let kind = if package_names().any(|name| name == module) { "package" } else { "module" };
            if kind == "module" && gpurf_sm::find(module).is_none() {
                return wrong(format!("there is no module {module}; there are: {}", names()));
            }
            if own.replaces(module) {
                return wrong(format!("{module} is replaced twice"));
            }
            let text = match read(file) {
                Ok(text) => text,
                Err(why) => return wrong(why),
            };
            if !defines(&text, kind, module) {
                return wrong(format!("the file does not define a {kind} {module}"));
            }
            let file = absolute(file);
            own.sources.options.push(format!("--rtl {module}={}", quoted(&file.display().to_string())));
            own.sources.overrides.push((module.clone(), file));
        }
        if let Some(path) = &given.list {
            own.add_list(project, path)?;
        }
        if let (Some(name), true) = (given.allow_absent.first(), own.is_empty()) {
            return Err(Failure::bad_input(format!(
                "--allow-absent {name}: the project's own RTL has all probes; give your own RTL with --rtl or --rtl-list"
            )));
        }
        own.sources.options.extend(given.allow_absent.iter().map(|name| format!("--allow-absent {}", quoted(name))));
        own.sources.allow_absent.clone_from(&given.allow_absent);
        Ok(own)
    }

    /// Checks that each name that may be absent is a probe of a block that is run.
    ///
    /// # Errors
    /// If a name is not: the message has it, and the probes of the replaced modules' blocks.
    pub fn check_absent<'a>(&self, run: impl Iterator<Item = &'a Declaration>) -> Result<(), Failure> {
        let mut unknown: Vec<&str> = self.sources.allow_absent.iter().map(String::as_str).collect();
        let mut known = Vec::new();
        for declaration in run {
            let probes = declaration.signals.iter().filter(|s| s.role == Role::Probe).map(|s| s.field.name);
            for probe in probes {
                unknown.retain(|name| !is_called(probe, name));
                if self.replaces(declaration.block) && !known.contains(&probe) {
                    known.push(probe);
                }
            }
        }
        let Some(name) = unknown.first() else { return Ok(()) };
        let known = if known.is_empty() { String::new() } else { format!("; there are: {}", known.join(", ")) };
        Err(Failure::bad_input(format!("--allow-absent {name}: there is no register or net {name} to compare{known}")))
    }

    /// Adds the files of a list. They come before the project's sources, in their order. If one of them defines a module, an empty file replaces the
    /// project's source of that module. A package replaces the project's package in its place, before all modules.
    fn add_list(&mut self, project: &Project, path: &Path) -> Result<(), Failure> {
        let what = format!("--rtl-list {}", path.display());
        let wrong = |why: String| Failure::bad_input(format!("{what}: {why}"));
        let list = FileList::read(path)?;
        let before = self.sources.overrides.len();
        for source in list.sources {
            let text = read(&source).map_err(wrong)?;
            let mut in_place = false;
            for path in packages().into_iter().filter(|path| defines(&text, "package", file_name(path))) {
                let name = file_name(path);
                // A copy of the project's package is not a replacement.
                let own = std::fs::read_to_string(project.rtl().join(path).with_extension("sv")).unwrap_or_default();
                if own == text {
                    in_place = true;
                    continue;
                }
                if self.replaces(name) {
                    return Err(wrong(format!("{}: {name} is replaced twice", source.display())));
                }
                // The file takes the place of the first package that it defines.
                let file = if in_place { placeholder(project, name)? } else { source.clone() };
                self.sources.overrides.push((name.into(), file));
                in_place = true;
            }
            for block in gpurf_sm::all().filter(|block| defines(&text, "module", block.name)) {
                if self.replaces(block.name) {
                    return Err(wrong(format!("{}: {} is replaced twice", source.display(), block.name)));
                }
                let empty = placeholder(project, block.name)?;
                self.sources.overrides.push((block.name.into(), empty));
            }
            if !in_place {
                self.sources.extra.push(source);
            }
        }
        if self.sources.overrides.len() == before {
            return Err(wrong(format!("no file in it defines another one of the modules and packages {}", names())));
        }
        self.sources.include_dirs = list.include_dirs;
        self.sources.defines = list.defines;
        self.sources.options.push(format!("--rtl-list {}", quoted(&absolute(path).display().to_string())));
        Ok(())
    }

    /// The replacements that a reproducer requests.
    ///
    /// # Errors
    /// As [`OwnRtl::new`], and if the reproducer was made with a file list, which it does not contain.
    pub fn of_reproducer(project: &Project, rtl: &[String], allow_absent: &[String]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for option in rtl {
            let (module, file) = option
                .split_once('=')
                .ok_or_else(|| Failure::bad_input(format!("the reproducer's rtl {option:?} is not MODULE=FILE")))?;
            if Path::new(file).starts_with(placeholders(project)) {
                return Err(Failure::bad_input(format!(
                    "the reproducer was made with {module} from a file list: give that list again with --rtl-list FILE"
                )));
            }
            files.push((module.to_owned(), PathBuf::from(file)));
        }
        Self::new(project, &Replacements { files, list: None, allow_absent: allow_absent.to_vec() })
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.sources.overrides.is_empty()
    }

    /// Whether a block contains a replaced module or package.
    pub fn touches(&self, block: &Entry) -> bool {
        self.modules().into_iter().any(|name| is_built_from(block, name))
    }

    /// The replaced modules and packages.
    pub fn modules(&self) -> Vec<&str> {
        self.sources.overrides.iter().map(|(module, _)| module.as_str()).collect()
    }

    /// Whether one of the files names this package of the project; the package is then compiled with it.
    pub fn names_package(&self, module: &str) -> bool {
        let replacing = self.sources.overrides.iter().map(|(_, file)| file);
        let mut texts = replacing.chain(&self.sources.extra).filter_map(|file| read(file).ok());
        gpurf_regress::is_package(module) && texts.any(|text| verilated::names_package(&text, module))
    }

    fn replaces(&self, module: &str) -> bool {
        self.sources.overrides.iter().any(|(m, _)| m == module)
    }
}

fn placeholders(project: &Project) -> PathBuf {
    project.cache().join("replaced")
}

/// An empty source for a module that is defined elsewhere. Its path is constant, so that earlier builds are found again.
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

fn package_names() -> impl Iterator<Item = &'static str> {
    packages().into_iter().map(file_name)
}

fn names() -> String {
    gpurf_sm::all().map(|block| block.name).chain(package_names()).collect::<Vec<_>>().join(", ")
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = gpurf_launch::read_bounded(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
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
        // The star of `/*` does not begin its end: `/*/` is no whole comment.
        let end = if comment.starts_with("//") { comment.find('\n') } else { comment[2..].find("*/").map(|at| at + 4) };
        rest = end.map_or("", |end| &comment[end..]);
    }
    code.push_str(rest);
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_regress::PACKAGE;

    #[test]
    fn definitions_are_found_and_comments_are_not() {
        let text = "// module a\n/* module b */ module automatic c #(parameter P = 1) (); endmodule\nmodule d;";
        let found: Vec<_> = ["a", "b", "c", "d", "P"].into_iter().filter(|m| defines(text, "module", m)).collect();
        assert_eq!(found, ["c", "d"]);
        assert!(!defines("/*/ module a; */ module b;", "module", "a"));
        assert!(defines("package gpurf_pkg;", "package", PACKAGE));
    }
}

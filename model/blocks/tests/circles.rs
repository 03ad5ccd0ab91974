//! The modules that all blocks share do not import each other in a circle.
//!
//! [`designs`](gpurf_blocks::designs) lists the register-file designs: what a design's folder imports counts as imported by
//! `designs`. The sections of the configuration are left out: `config` lists them, and their rules read all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gpurf_blocks::designs::DESIGNS;

const LISTED: &str = "designs";
const SECTION: &str = "config";

/// What each module imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The code of a file that is in the crate without its tests, without comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// The files of a folder and of those in it, but tests and the configuration's sections.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a readable folder").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if ["tests", "phases", SECTION].contains(&name) {
            continue;
        }
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

/// The first names of the paths of a list such as `{Block, shape::SmShape}`, or of a single path. Of a list within a list each name
/// counts: one too many is no module.
fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| text.trim().chars().take_while(|&c| c == '_' || c.is_alphanumeric()).collect();
    let Some(list) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let mut depth = 1;
    let inside = list.chars().take_while(|c| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth > 0
    });
    inside.collect::<String>().split(',').map(name).collect()
}

/// What code names by `crate::`, but in macros, whose names belong to whoever calls them.
fn named(code: &str) -> Vec<String> {
    let uses = code.match_indices("crate::").filter(|(at, _)| !code[..*at].ends_with('$'));
    uses.flat_map(|(at, found)| first_names(&code[at + found.len()..])).collect()
}

/// The modules that are a file or a folder of the crate, and what the root exports from them.
fn exported(root: &str) -> BTreeMap<String, String> {
    let lines = root.split(';').filter_map(|line| line.split_once("pub use ")?.1.split_once("::"));
    lines.flat_map(|(module, names)| first_names(names).into_iter().map(|name| (name, module.to_owned()))).collect()
}

fn imports() -> Imports {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exported = exported(&code(&source.join("lib.rs")));
    let is_module = |name: &str| name != SECTION && source.join(name).with_extension("rs").is_file();
    let mut imports = Imports::new();
    let mut add = |module: &str, path: &Path| {
        let names = named(&code(path)).into_iter().map(|name| exported.get(&name).cloned().unwrap_or(name));
        let others = names.filter(|name| name != module && is_module(name));
        imports.entry(module.to_owned()).or_default().extend(others);
    };
    for entry in std::fs::read_dir(&source).expect("the crate's sources") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_file() && !["lib", "testing", SECTION].contains(&&*name) {
            add(&name, &path);
        }
    }
    for design in DESIGNS {
        let mut of_design = Vec::new();
        files(&source.join(design.name), &mut of_design);
        assert!(of_design.len() > 1, "{}", design.name);
        of_design.iter().for_each(|path| add(LISTED, path));
    }
    imports
}

/// Modules that reach themselves.
fn circles(imports: &Imports) -> BTreeSet<&str> {
    let reaches_itself = |start: &&str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*start]);
        while let Some(module) = next.pop() {
            let fresh = imports.get(module).into_iter().flatten().filter(|other| seen.insert(other.as_str()));
            next.extend(fresh.map(String::as_str));
        }
        seen.contains(start)
    };
    imports.keys().map(String::as_str).filter(reaches_itself).collect()
}

#[test]
fn shared_modules_import_each_other_in_no_circle() {
    let imports = imports();
    // The reader sees imports: through lists, through the root, and through a design's folder.
    for (module, other) in [("design", "sizes"), ("shape", "designs"), ("block", "ports"), ("designs", "operands")] {
        let found = imports[module].contains(other);
        assert_eq!(found, other != "operands", "{module} imports {other}");
    }
    assert!(imports.len() > 10, "{imports:?}");
    let circles = circles(&imports);
    let inner = |module: &&str| imports[*module].iter().filter(|other| circles.contains(other.as_str()));
    let list: Vec<String> = circles.iter().map(|m| format!("{m} -> {:?}", inner(m).collect::<Vec<_>>())).collect();
    assert!(circles.is_empty(), "modules that import each other in a circle:\n{}", list.join("\n"));
}

#[test]
fn a_circle_is_found_and_nothing_else() {
    let of = |pairs: &[(&str, &[&str])]| -> Imports {
        pairs.iter().map(|(module, all)| ((*module).to_owned(), all.iter().map(|&m| m.to_owned()).collect())).collect()
    };
    let open = of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert!(circles(&open).is_empty());
    let closed = of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])]);
    assert_eq!(circles(&closed).into_iter().collect::<Vec<_>>(), ["b", "c"]);
    let text = "use crate::{Block, shape::{A, B}, C};\nlet x = crate::sizes::width(1); $crate::other::f()";
    assert_eq!(named(text), ["Block", "shape", "B", "C", "sizes"]);
}

//! Finds the packages that the modules of an RTL tree import, from their sources.

use std::fs;
use std::path::Path;

/// The package that every module imports; it is compiled first in every build.
pub const PACKAGE: &str = "gpurf_pkg";

/// The packages that modules of the RTL tree at `rtl` import besides [`PACKAGE`], in the order of their imports: paths in the tree
/// without ending, like those of the modules. A module that cannot be read imports nothing here; its build reports the error.
pub fn packages(rtl: &Path, modules: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for module in modules {
        let text = fs::read_to_string(rtl.join(module).with_extension("sv")).unwrap_or_default();
        for package in imported(&text).filter(|name| *name != PACKAGE).filter_map(|name| path_of(rtl, name)) {
            if !found.contains(&package) {
                found.push(package);
            }
        }
    }
    found
}

/// The names in `import NAME::*;`.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| Some(line.trim_start().strip_prefix("import ")?.split_once("::")?.0.trim()))
}

/// Whether SystemVerilog text names a package, as in `NAME::*` or `NAME::value`.
pub fn names_package(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let named = |(at, _)| text[..at].trim_end().strip_suffix(name).is_some_and(|before| !before.ends_with(is_word));
    text.match_indices("::").any(named)
}

/// The path of a package in the folders of the tree.
fn path_of(rtl: &Path, name: &str) -> Option<String> {
    let folders = fs::read_dir(rtl).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut paths = folders.map(|folder| format!("{folder}/{name}"));
    paths.find(|path| rtl.join(path).with_extension("sv").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_by_imports_and_by_references() {
        for text in ["import a_pkg::*;", "module m import b::*, a_pkg::T; ();", "x = a_pkg::f(1);", "a_pkg ::X"] {
            assert!(names_package(text, "a_pkg"), "{text}");
        }
        for text in ["", "import my_a_pkg::*;", "a_pkg : x; b::y"] {
            assert!(!names_package(text, "a_pkg"), "{text}");
        }
    }

    #[test]
    fn packages_come_in_the_order_of_their_imports() {
        let tree = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let file = tree.path().join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        };
        write("a/last_pkg.sv", "package last_pkg;\nendpackage\n");
        write("b/first_pkg.sv", "package first_pkg;\nendpackage\n");
        write("a/one.sv", "module one\n  import gpurf_pkg::*;\n  import first_pkg::*;\n(\n);\n");
        write("b/two.sv", "module two import gpurf_pkg::*; ();\n  import last_pkg::*;\n  import first_pkg::*;\n");
        write("b/none.sv", "// import last_pkg::*;\n  import \"DPI-C\" function void f();\n  import absent_pkg::*;\n");
        let of = |modules: &[&str]| packages(tree.path(), modules);
        assert_eq!(of(&["a/one"]), ["b/first_pkg"]);
        assert_eq!(of(&["a/one", "b/two"]), ["b/first_pkg", "a/last_pkg"]);
        assert_eq!(of(&["b/two"]), ["a/last_pkg", "b/first_pkg"]);
        assert_eq!(of(&["b/none", "b/missing"]), [""; 0]);
    }
}

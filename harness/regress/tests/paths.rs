//! The model does not know the RTL's files (`model/README.md`): only the harness reads them.

#[path = "common/files.rs"]
mod files;

use files::files;
use gpurf_regress::Project;

/// Texts that name a file or a folder of the RTL. Comments may contain them, to name the module of a twin.
const RTL: [&str; 5] = ["rtl/", "join(\"rtl\")", ".sv\"", "\"sv\"", "_pkg\""];

/// Lines of code that name a file of the RTL.
fn naming(code: &str) -> Vec<&str> {
    let is_code = |line: &&str| !["//", "# "].iter().any(|begin| line.trim_start().starts_with(begin));
    let names = |line: &&str| RTL.iter().any(|name| line.contains(name));
    code.lines().filter(is_code).filter(names).collect()
}

#[test]
fn no_code_of_the_model_names_a_file_of_the_rtl() {
    let all = files(&Project::find().root.join("model"), &["rs", "toml"], &[]);
    assert!(all.len() > 200, "{} files", all.len());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(naming(&text), [""; 0], "{}", path.display());
    }
}

#[test]
fn a_path_is_found_in_code_and_not_in_comments() {
    let path = r#"const PACKAGE: &str = include_str!("../../../../rtl/gpurf_pkg.sv");"#;
    assert_eq!(naming(&format!("/// The twin of `rtl/mrf/mrf_bank.sv`.\n{path}\n")), [path]);
    for path in [r#"root.join("rtl")"#, r#"with("sfu.sv")"#, r#"with_extension("sv")"#, r#"&["execute/fp_pkg"]"#] {
        assert_eq!(naming(path), [path]);
    }
    assert_eq!(naming(r#"fields(node, &["seed", "rtl"])"#), [""; 0], "a key of a launch");
}

//! The lists of faults that proofs have to detect (`tests/formal/*_mutants.toml`, `scripts/prove.py --mutants`) fit the RTL, and the properties can
//! be read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpurf_regress::Project;

/// The files of a folder whose names end with `end`.
fn ending(folder: &Path, end: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = names.filter(|path| path.to_str().unwrap().ends_with(end)).collect();
    found.sort();
    found
}

/// The name of a file without its end.
fn stem(file: &Path, end: &str) -> String {
    file.file_name().unwrap().to_str().unwrap().strip_suffix(end).unwrap().to_owned()
}

/// A property with the files that it includes.
fn property(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let included = ending(file.parent().unwrap(), ".svh");
    let included = included.iter().filter(|path| text.contains(path.file_name().unwrap().to_str().unwrap()));
    included.map(|path| fs::read_to_string(path).unwrap()).fold(text.clone(), |all, one| all + &one)
}

/// A module's source.
fn source(rtl: &Path, module: &str) -> String {
    let folders = fs::read_dir(rtl).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files: Vec<_> = folders.flat_map(|folder| ending(&folder, &format!("/{module}.sv"))).collect();
    assert_eq!(files.len(), 1, "{module}");
    fs::read_to_string(&files[0]).unwrap()
}

#[test]
fn every_property_has_faults_that_fit_the_rtl_and_name_an_assertion_of_it() {
    let project = Project::find();
    let (formal, rtl) = (project.root.join("tests/formal"), project.root.join("rtl"));
    let (properties, lists) = (ending(&formal, "_property.sv"), ending(&formal, "_mutants.toml"));
    let stems = |files: &[PathBuf], end: &str| files.iter().map(|file| stem(file, end)).collect::<BTreeSet<_>>();
    assert_eq!(stems(&properties, "_property.sv"), stems(&lists, "_mutants.toml"));
    for file in &properties {
        let list = formal.join(stem(file, "_property.sv") + "_mutants.toml");
        let text = property(file);
        let faults: toml::Table = toml::from_str(&fs::read_to_string(&list).unwrap()).unwrap();
        let mut seen = BTreeSet::new();
        for fault in faults["mutant"].as_array().unwrap() {
            let field = |name: &str| fault[name].as_str().unwrap();
            let (module, find, fails) = (field("module"), field("find"), field("fails"));
            let name = format!("{}: {}", list.display(), field("name"));
            assert_eq!(source(&rtl, module).matches(find).count(), 1, "{name}: occurrences of its text in {module}");
            assert_ne!(find, field("replace"), "{name}");
            let asserted = |kind: &str| text.contains(&format!("{kind}_{fails}:"));
            assert!(["must", "thus", "hence"].into_iter().any(asserted), "{name}: no assertion {fails}");
            assert!(seen.insert((module, find, field("replace"))), "{name}: is there twice");
        }
    }
}

/// The command for `scripts/prove.py` of a folder.
fn prove(project: &Project, folder: &Path) -> Command {
    let mut command = verilated::tool(project.root.join("target/venv/bin/python"));
    command.arg(folder.join("scripts/prove.py"));
    command
}

/// The proofs themselves take too long for a test, but a property that its tools cannot read proves nothing.
#[test]
fn every_property_elaborates() {
    let project = Project::find();
    let output = prove(&project, &project.root).arg("--elaborate").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let properties = fs::read_dir(project.root.join("tests/formal")).unwrap().filter_map(|file| {
        file.unwrap().file_name().into_string().unwrap().strip_suffix("_property.sv").map(str::to_owned)
    });
    for name in properties {
        assert!(text.contains(&format!("{name}_property: ")), "{name}: {text}");
    }
    assert!(output.status.success(), "{text}");
}

/// Exit status and errors of `prove.py --mutants` for a list with this fault.
fn prove_with(fault: &str) -> (Option<i32>, String) {
    let (project, copy) = (Project::find(), tempfile::tempdir().unwrap());
    for folder in ["scripts", "tests/formal"] {
        fs::create_dir_all(copy.path().join(folder)).unwrap();
    }
    fs::copy(project.root.join("scripts/prove.py"), copy.path().join("scripts/prove.py")).unwrap();
    symlink(project.root.join("rtl"), copy.path().join("rtl")).unwrap();
    fs::write(copy.path().join("tests/formal/alternating_mutants.toml"), fault).unwrap();
    let output = prove(&project, copy.path()).args(["--mutants", "alternating_property"]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_list_that_does_not_fit_the_rtl_is_an_error() {
    let fault = |module: &str, find: &str, more: &str| {
        format!(
            "[[mutant]]\nmodule = '{module}'\nname = 'a fault'\nfind = '{find}'\nreplace = ''\nfails = 'flush_waits'\n{more}"
        )
    };
    for (list, says) in [
        (fault("alternating_scheduler", "no such text", ""), "0 times; it has to be there once"),
        (fault("alternating_scheduler", "resident_q", ""), "times; it has to be there once"),
        (fault("mrf_bank", "write_left_q", ""), "not one of those that the proof reads"),
        (fault("alternating_scheduler", "resident_q", "because = ''\n"), "the fields are"),
    ] {
        let (status, text) = prove_with(&list);
        assert!(status == Some(2) && text.contains(says) && text.contains("a fault"), "{list}\n{text}");
    }
}

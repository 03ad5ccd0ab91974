//! Shared code does not name designs of the register file (docs/designs.md).
//!
//! `cargo test --test seam -- --nocapture` prints, for each design, the shared files that name it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpurf_blocks::designs::DESIGNS;
use gpurf_regress::Project;

/// How a design is named.
struct Named {
    design: &'static str,
    /// Beginnings of words that name it in code.
    words: &'static [&'static str],
    /// Words in the names of files and folders that are its own.
    own: &'static [&'static str],
}

/// Shared files that may name a design.
const ALLOWED: usize = 8;

/// The first designs, which have several names.
const FIRST: [Named; 4] = [
    Named { design: "rfc", words: &["rfc", "Rfc", "RFC"], own: &["rfc", "cache", "cached"] },
    Named {
        design: "hierarchy",
        words: &["hierarchy", "Hierarchy", "HIERARCHY", "orf", "Orf"],
        own: &["hierarchy", "levels", "orf", "lrf"],
    },
    Named { design: "hrf", words: &["hrf", "Hrf", "HRF", "hybrid", "Hybrid"], own: &["hrf", "hybrid"] },
    Named { design: "steal", words: &["steal", "Steal", "STEAL"], own: &["steal", "stealing"] },
];

/// Any other design, which has the name of its module.
fn other(design: &'static str) -> Named {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    let words = [design.to_owned(), design.replace('_', "-"), design.split('_').map(capital).collect()];
    let words: Vec<&str> = words.into_iter().map(|word| &*word.leak()).collect();
    Named { design, words: words.leak(), own: vec![design].leak() }
}

/// All designs but the main register file, of which the others are made.
fn designs() -> Vec<Named> {
    let names = DESIGNS.iter().map(|design| design.name).filter(|name| *name != "mrf");
    let others = names.filter(|name| FIRST.iter().all(|first| first.design != *name)).map(other);
    FIRST.into_iter().chain(others).collect()
}

/// Where code is; goldens, kernels and hand-written mutants are data.
const TREES: [&str; 5] = ["model", "rtl", "harness", "scripts", "tests"];
const DATA: [&str; 4] = ["goldens", "mutants", "kernels", "formal"];

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_code = path.extension().is_some_and(|e| ["rs", "sv", "svh", "sh", "py"].iter().any(|code| e == *code));
        if path.is_dir() && !DATA.contains(&name) && name != "target" {
            files(&path, all);
        } else if is_code {
            all.push(path);
        }
    }
}

/// Papers, what one of them calls its levels, a call of wellen, a command of Yosys and a kind of pyslang: no designs.
const OTHERS: [&str; 17] = [
    "stealing paper",
    "STEALING_PAPER",
    "hybrid paper",
    "HYBRID_PAPER",
    "RFC paper",
    "RFC_PAPER",
    "RfcPaper",
    "rfc_paper",
    "hierarchy thesis",
    "HIERARCHY_THESIS",
    "three-level hierarchy",
    "wave.hierarchy()",
    "waveform.hierarchy()",
    "hierarchy -top",
    "hierarchy -check",
    "--keep-hierarchy",
    "HierarchyInstantiation",
];

/// The code of a file, without comments and without other things of these names.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let script = path.extension().is_some_and(|e| e == "sh" || e == "py");
    let line = |line: &str| match script {
        true if line.trim_start().starts_with('#') => String::new(),
        true => line.to_owned(),
        false => line.split("//").next().unwrap_or_default().to_owned(),
    };
    let code: String = text.lines().map(|text| line(text) + "\n").collect();
    OTHERS.iter().fold(code, |code, other| code.replace(other, ""))
}

/// Whether a word of a text begins so. An underscore is no letter: `of_rfc` names the cache.
fn names(text: &str, word: &str) -> bool {
    let begins = |&(at, _): &(usize, &str)| !text[..at].ends_with(|c: char| c.is_ascii_alphabetic());
    text.match_indices(word).any(|found| begins(&found))
}

/// Whether a part of a path has a design's own name between its underscores, hyphens and dots.
fn is_own(path: &Path, own: &[&str]) -> bool {
    let parts = path.iter().filter_map(|part| part.to_str());
    let words = |part: &str| format!("_{}_", part.replace(['.', '-'], "_"));
    parts.map(words).any(|part| own.iter().any(|own| part.contains(&format!("_{own}_"))))
}

#[test]
fn few_shared_files_name_a_design() {
    let root = Project::find().root;
    let mut all = Vec::new();
    TREES.iter().for_each(|tree| files(&root.join(tree), &mut all));
    assert!(all.len() > 500, "{} files", all.len());
    let code: BTreeMap<&Path, String> =
        all.iter().map(|path| (path.strip_prefix(&root).expect("a file of the tree"), code(path))).collect();
    for Named { design, words, own } in designs() {
        let shared = code.iter().filter(|(path, _)| !is_own(path, own));
        let naming: Vec<_> = shared.filter(|(_, text)| words.iter().any(|word| names(text, word))).collect();
        println!("{design}: {} shared files name it, {ALLOWED} may", naming.len());
        naming.iter().for_each(|(path, _)| println!("  {}", path.display()));
        assert!(naming.len() <= ALLOWED, "{design}: {} shared files name it, {ALLOWED} may", naming.len());
    }
}

#[test]
fn a_word_begins_where_no_letter_stands_before_it() {
    assert!(names("let of_rfc = 1;", "rfc") && names("rfc", "rfc") && names("<Rfc>", "Rfc"));
    assert!(!names("surfcity", "rfc") && !names("aRfc", "Rfc"));
    assert!(is_own(Path::new("harness/report/src/rfc/mod.rs"), &["rfc"]));
    assert!(is_own(Path::new("rtl/rfc/rfc_tags.sv"), &["rfc"]) && !is_own(Path::new("rtl/mrf/mrf.sv"), &["rfc"]));
    assert!(is_own(Path::new("suite/mrf_ideal.rs"), &["mrf_ideal"]) && !is_own(Path::new("mrf.rs"), &["mrf_ideal"]));
}

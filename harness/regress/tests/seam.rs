//! Shared code does not name designs of the register file (docs/designs.md).
//!
//! `cargo test --test seam -- --nocapture` prints, for each design, the shared files that name it, and the lists of its blocks.

#[path = "common/files.rs"]
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use files::files;
use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::registry::Entry;
use gpurf_regress::Project;

/// The names of a design.
struct Named {
    design: &'static str,
    /// Beginnings of words that name it in code.
    words: &'static [&'static str],
    /// Words in the names of its own files and folders.
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

/// The name of a module's twin.
fn twin(module: &str) -> String {
    module.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

/// Any other design, which has the name of its module.
fn other(design: &'static str) -> Named {
    let words = [design.to_owned(), design.replace('_', "-"), twin(design)];
    let words: Vec<&str> = words.into_iter().map(|word| &*word.leak()).collect();
    Named { design, words: words.leak(), own: vec![design].leak() }
}

/// All designs but the main register file, on which the others are built.
fn designs() -> Vec<Named> {
    let names = DESIGNS.iter().map(|design| design.name).filter(|name| *name != "mrf");
    let others = names.filter(|name| FIRST.iter().all(|first| first.design != *name)).map(other);
    FIRST.into_iter().chain(others).collect()
}

/// Folders with code; goldens, kernels and hand-written mutants are data.
const TREES: [&str; 5] = ["model", "rtl", "harness", "scripts", "tests"];
const DATA: [&str; 4] = ["goldens", "mutants", "kernels", "formal"];

/// Texts with these words that name no design: papers, the levels of one of them, a call of wellen, a command of Yosys and a node of pyslang.
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

/// Whether a word of a text begins with `word`. An underscore is no letter: `of_rfc` names the cache.
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

/// The code of all files, by path in the project.
fn all_code() -> BTreeMap<PathBuf, String> {
    let root = Project::find().root;
    let below = |tree: &&str| files(&root.join(tree), &["rs", "sv", "svh", "sh", "py"], &DATA);
    let all: Vec<PathBuf> = TREES.iter().flat_map(below).collect();
    assert!(all.len() > 500, "{} files", all.len());
    let inside = |path: &PathBuf| path.strip_prefix(&root).expect("a file of the tree").to_owned();
    all.iter().map(|path| (inside(path), code(path))).collect()
}

#[test]
fn few_shared_files_name_a_design() {
    let code = all_code();
    for Named { design, words, own } in designs() {
        let shared = code.iter().filter(|(path, _)| !is_own(path, own));
        let naming: Vec<_> = shared.filter(|(_, text)| words.iter().any(|word| names(text, word))).collect();
        println!("{design}: {} shared files name it, {ALLOWED} may", naming.len());
        naming.iter().for_each(|(path, _)| println!("  {}", path.display()));
        assert!(naming.len() <= ALLOWED, "{design}: {} shared files name it, {ALLOWED} may", naming.len());
    }
}

/// Whether a file is a block's own, in any tree.
fn is_of_block(path: &Path, block: &str) -> bool {
    let path = path.to_string_lossy();
    ["/", "."].iter().any(|end| path.contains(&format!("{block}{end}")))
}

#[test]
fn one_list_names_the_blocks_of_a_design() {
    let code = all_code();
    let code: Vec<(&PathBuf, BTreeSet<&str>)> = code.iter().map(|(path, text)| (path, words(text).collect())).collect();
    for design in DESIGNS.iter().filter(|design| design.name != "mrf") {
        let (leaves, compounds): (Vec<&Entry>, Vec<&Entry>) =
            design.blocks.iter().partition(|block| block.children.is_empty());
        let named = |words: &BTreeSet<&str>| {
            leaves.iter().all(|leaf| words.contains(leaf.name) || words.contains(&*twin(leaf.name)))
        };
        let own = |path: &Path| leaves.iter().chain(&compounds).any(|block| is_of_block(path, block.path));
        let lists = code.iter().filter(|(path, words)| !own(path) && named(words)).map(|(path, _)| *path);
        let lists: Vec<&PathBuf> = lists.collect();
        println!("{}: {} leaf blocks, in {lists:?}", design.name, leaves.len());
        assert_eq!(lists, [&PathBuf::from(format!("model/blocks/src/{}/mod.rs", design.name))], "{}", design.name);
    }
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[test]
fn a_word_begins_where_no_letter_stands_before_it() {
    assert!(names("let of_rfc = 1;", "rfc") && names("rfc", "rfc") && names("<Rfc>", "Rfc"));
    assert!(!names("surfcity", "rfc") && !names("aRfc", "Rfc"));
    assert!(is_own(Path::new("harness/report/src/rfc/mod.rs"), &["rfc"]));
    assert!(is_own(Path::new("rtl/rfc/rfc_tags.sv"), &["rfc"]) && !is_own(Path::new("rtl/mrf/mrf.sv"), &["rfc"]));
    assert!(is_own(Path::new("suite/mrf_ideal.rs"), &["mrf_ideal"]) && !is_own(Path::new("mrf.rs"), &["mrf_ideal"]));
}

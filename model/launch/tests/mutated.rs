//! Manifests with bytes, lines and values changed at random: an error or a manifest, never a panic or a flood of memory.

use std::path::{Path, PathBuf};

use gpurf_launch::{Manifest, Repetition};
use proptest::prelude::*;

/// Pieces of manifests and of TOML, to be put into the wrong places.
const PIECES: [&str; 52] = [
    "[[arg]]\n",
    "[[launch]]\n",
    "[[buffer]]\n",
    "[[check]]\n",
    "[[symbol]]\n",
    "[launch]\n",
    "[[launch.step]]\n",
    "{ struct = [",
    "{ array = [",
    "{ buffers = [",
    "{ addresses = {",
    "offset = ",
    "step = ",
    "count = ",
    "align = ",
    "symbol = ",
    "= \"ceil_div(100 - i, 7) << 2\"",
    "= \"((((\"",
    "buffer",
    "scalar",
    "init",
    "random",
    "file",
    "values",
    "name",
    "type",
    "\"f32\"",
    "\"u8\"",
    "len",
    "= 18446744073709551616",
    "= -1",
    "= 1e999",
    "= nan",
    "= 0x",
    "= [",
    "]",
    "{",
    "}",
    "\"",
    "'''",
    "\\",
    "= \"i\"",
    "repeat = 4294967295\n",
    "# ",
    "\n",
    ",",
    ".",
    "1979-05-27",
    "= true",
    "\u{0}",
    "\u{fffd}",
    "= 99999999999999999999999999999999999999999",
];

/// Numbers to be put in place of others.
const NUMBERS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "64",
    "127",
    "128",
    "255",
    "256",
    "1024",
    "1025",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "0.5",
    "-1e30",
    "inf",
];

/// Words to be put in place of others.
const WORDS: [&str; 16] = [
    "u8", "s16", "u32", "s64", "f32", "f64", "i", "zero", "iota", "values", "file", "min", "max", "len", "repeat", "x",
];

#[derive(Clone, Debug)]
enum Change {
    Number { at: usize, with: usize },
    Word { at: usize, with: usize },
    Delete { at: usize, count: usize },
    Insert { at: usize, piece: usize },
    Replace { at: usize, with: char },
    Copy { from: usize, count: usize, to: usize },
    Truncate { at: usize },
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0..1usize << 16;
    prop_oneof![
        6 => (place.clone(), 0..NUMBERS.len()).prop_map(|(at, with)| Change::Number { at, with }),
        3 => (place.clone(), 0..WORDS.len()).prop_map(|(at, with)| Change::Word { at, with }),
        1 => (place.clone(), 1..40usize).prop_map(|(at, count)| Change::Delete { at, count }),
        1 => (place.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Insert { at, piece }),
        1 => (place.clone(), any::<char>()).prop_map(|(at, with)| Change::Replace { at, with }),
        1 => (place.clone(), 1..200usize, place.clone()).prop_map(|(from, count, to)| Change::Copy { from, count, to }),
        1 => place.prop_map(|at| Change::Truncate { at }),
    ]
}

fn apply(text: &mut Vec<char>, change: &Change) {
    let place = |at: usize| at % (text.len() + 1);
    /// Replaces the next run of characters after `at` for which `belongs` holds.
    fn replace_run(text: &mut Vec<char>, at: usize, with: &str, belongs: impl Fn(char) -> bool) {
        let Some(start) = (at..text.len()).find(|&i| belongs(text[i])) else { return };
        let end = (start..text.len()).find(|&i| !belongs(text[i])).unwrap_or(text.len());
        text.splice(start..end, with.chars());
    }
    match *change {
        Change::Number { at, with } => {
            let at = place(at);
            replace_run(text, at, NUMBERS[with], |c| c.is_ascii_digit() || ".-".contains(c));
        }
        Change::Word { at, with } => {
            let at = place(at);
            replace_run(text, at, WORDS[with], |c| c.is_ascii_alphabetic() || c == '_');
        }
        Change::Delete { at, count } => {
            let at = place(at);
            text.drain(at..(at + count).min(text.len()));
        }
        Change::Insert { at, piece } => {
            let at = place(at);
            text.splice(at..at, PIECES[piece].chars());
        }
        Change::Replace { at, with } => {
            let at = place(at);
            if let Some(c) = text.get_mut(at) {
                *c = with;
            }
        }
        Change::Copy { from, count, to } => {
            let from = place(from);
            let piece = text[from..(from + count).min(text.len())].to_vec();
            let to = place(to);
            text.splice(to..to, piece);
        }
        Change::Truncate { at } => text.truncate(place(at)),
    }
}

/// The folder of the test kernels, and the texts of their manifests.
fn originals() -> (PathBuf, Vec<Vec<char>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let files = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // Those of `launch/` more often: they use most of what a manifest can define for a launch.
    let launches = std::iter::repeat_n(folder.join("launch"), 8).flat_map(|folder| files(&folder));
    let mut paths: Vec<_> = files(&folder).chain(launches).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml") && !path.ends_with("Cargo.toml"));
    paths.sort();
    let text = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let is_launch = path.parent().is_some_and(|folder| folder.ends_with("launch"));
        if is_launch { text.replace("source = \"", "source = \"launch/") } else { text }.chars().collect()
    };
    let texts = paths.iter().map(text).collect();
    (folder, texts)
}

fn read(folder: &Path, text: &[char]) -> bool {
    let text: String = text.iter().collect();
    match Manifest::parse(&folder.join("mutated.toml"), &text) {
        Ok(manifest) => {
            // An accepted manifest keeps its guarantees. Large buffers are left out, as they take their time.
            for buffer in manifest.buffers.iter().filter(|buffer| buffer.size() < 1 << 16) {
                let mut bytes = buffer.initial_bytes().unwrap();
                assert_eq!(bytes.len() as u64, buffer.size());
                buffer.fill_addresses(&mut bytes, &|_| 1 << 24);
            }
            for (number, launch) in manifest.launches.iter().enumerate() {
                let (Repetition::Times(passes) | Repetition::WhileNonzero { max: passes, .. }) =
                    manifest.repetition_of(number);
                for pass in [0, passes / 2, passes - 1] {
                    assert!(launch.grid_in(pass).iter().all(|extent| (1..=1 << 31).contains(extent)));
                    for argument in launch.args.iter().filter(|argument| argument.size() < 1 << 16) {
                        assert_eq!(argument.bytes(pass, &|_| 0).len() as u64, argument.size());
                        assert_eq!(argument.size() % argument.align(), 0);
                    }
                }
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn run(cases: u32) -> (u64, u64) {
    let (folder, originals) = originals();
    let mut accepted = (0, 0);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (0..originals.len(), prop::collection::vec(change(), 1..4));
    let counts = std::cell::Cell::new(accepted);
    proptest::test_runner::TestRunner::new(config)
        .run(&strategy, |(original, changes)| {
            let mut text = originals[original].clone();
            changes.iter().for_each(|change| apply(&mut text, change));
            let (good, all) = counts.get();
            counts.set((good + u64::from(read(&folder, &text)), all + 1));
            Ok(())
        })
        .unwrap();
    accepted = counts.get();
    accepted
}

#[test]
fn mutated_manifests_do_no_harm() {
    let (accepted, all) = run(3000);
    println!("{accepted} of {all} accepted");
}

#[test]
#[ignore = "long: a million mutated manifests, minutes in release"]
fn many_mutated_manifests_do_no_harm() {
    let start = std::time::Instant::now();
    let (accepted, all) = run(1_000_000);
    println!("{accepted} of {all} accepted, {:.0} s", start.elapsed().as_secs_f64());
}

#[test]
fn deep_nesting_is_an_error() {
    let folder = originals().0;
    for (open, close) in [("[", "]"), ("{ a = ", "}")] {
        let text = format!("source = {}{}", open.repeat(100_000), close.repeat(100_000));
        assert!(!read(&folder, &text.chars().collect::<Vec<_>>()));
    }
}

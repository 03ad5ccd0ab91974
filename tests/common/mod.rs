//! Shared by the tests of the program: exit statuses, and checks of completed runs.
#![allow(dead_code, reason = "each of them uses some of it")]

pub mod sums;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

pub const PASSED: i32 = 0;
pub const FAILED: i32 = 1;
pub const BAD_INPUT: i32 = 2;
pub const TOOL: i32 = 3;
pub const INTERRUPTED: i32 = 130;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks the status, that the message on standard error has each of the `words`, and that nothing went to standard output.
#[track_caller]
pub fn check_refused(arguments: &[&str], output: &Output, status: i32, words: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: {word:?} is not in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

/// Checks the status, and reads the one JSON object on standard output.
#[track_caller]
pub fn read_json(arguments: &[&str], output: &Output, status: i32) -> Value {
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}", text(&output.stdout)))
}

/// Takes from all users the right to write into a folder, or gives it back to its owner.
pub fn set_read_only(folder: &Path, read_only: bool) {
    let mode = if read_only { 0o555 } else { 0o755 };
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

/// A command that permissions stop. Root may write everywhere, so its program runs without that capability.
pub fn stopped_by_permissions(program: &str) -> Command {
    let folder = tempfile::tempdir().unwrap();
    set_read_only(folder.path(), true);
    if fs::write(folder.path().join("file"), "").is_err() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-dac_override", "--inh-caps=-dac_override", program]);
    command
}

/// All files below a folder, with their contents.
pub fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

/// Writes a Verilator into a folder that builds nothing for a minute; returns its path, and that of the file that it creates when a build begins.
pub fn slow_verilator(folder: &Path) -> (PathBuf, PathBuf) {
    let (script, begun) = (folder.join("slow-verilator"), folder.join("begun"));
    let real = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in --version|--getenv) exec {real} \"$@\";; esac\n: > '{}'\nexec sleep 60\n",
        begun.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (script, begun)
}

/// Runs a command as a terminal does, presses Ctrl-C when `begun` exists, and returns its output.
pub fn interrupted_when(mut command: Command, begun: &Path) -> Output {
    // A terminal's Ctrl-C reaches the whole group, compilers too.
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..3000 {
        if begun.exists() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(begun.exists(), "no build began within a minute");
    let kill = format!("kill -INT -{}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

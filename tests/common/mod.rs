//! What the tests of the program have in common: exit statuses, and what they ask of a run that has ended.
#![allow(dead_code, reason = "each of them uses some of it")]

use std::process::Output;

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

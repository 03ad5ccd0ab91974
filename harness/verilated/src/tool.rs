//! Starts the tools: Verilator, the C++ compiler, Yosys.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::OnceLock;

/// The environment variable with libraries that a program loads before its own.
const FIRST: &str = "LD_PRELOAD";
/// Verilator takes 40 % less time with this allocator than with the C library's (docs/performance.md, "Builds").
const ALLOCATOR: &str = "libjemalloc.so.2";

/// A command whose program allocates memory with jemalloc, if the system has it.
///
/// The output of the tools does not depend on the allocator. A user's own `LD_PRELOAD` is kept.
#[must_use]
pub fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if std::env::var_os(FIRST).is_none() && has_allocator() {
        command.env(FIRST, ALLOCATOR);
    }
    command
}

/// Whether the loader finds the allocator. If not, it prints a message to standard error and starts the program without it.
fn has_allocator() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let quiet = |output: std::process::Output| output.status.success() && output.stderr.is_empty();
    *FOUND.get_or_init(|| Command::new("true").env(FIRST, ALLOCATOR).output().is_ok_and(quiet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_given_the_allocator_or_nothing() {
        let output = tool("sh").args(["-c", "printf %s \"$LD_PRELOAD\""]).output().unwrap();
        let expected = std::env::var(FIRST).unwrap_or_else(|_| if has_allocator() { ALLOCATOR } else { "" }.to_owned());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

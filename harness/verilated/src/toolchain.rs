//! Verilator and the C++ compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::compile::absolute;
use crate::{Error, Result, tool};

const VERILATOR_INSTALL: &str = "apt-get install -y verilator";
const COMPILER_INSTALL: &str = "apt-get install -y g++";
const OLDEST: (u32, u32) = (5, 6);
/// `verilator` is a Perl wrapper that takes longer than Verilator does for a small module; it starts `verilator_bin`, beside it.
const USUAL: &str = "verilator";
const DIRECT: &str = "verilator_bin";
/// Environment variables that choose a Verilator, or how its wrapper starts it.
const CHOICES: [&str; 3] = ["VERILATOR", "VERILATOR_ROOT", "VERILATOR_BIN"];

/// The tools, found once and then shared.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub(crate) verilator: String,
    pub(crate) compiler: String,
    /// Version of Verilator: 5.006 is (5, 6).
    pub(crate) verilator_version: (u32, u32),
    /// Versions of both tools, part of every cache key.
    pub(crate) versions: String,
    pub(crate) runtime: PathBuf,
    pub(crate) cache: PathBuf,
}

impl Toolchain {
    /// Finds `verilator` (or `$VERILATOR`) and `g++` (or `$CXX`); builds are stored under `cache`.
    ///
    /// # Errors
    /// [`Error::MissingTool`] and [`Error::OldTool`] say how to install what is missing.
    pub fn find(cache: &Path) -> Result<Self> {
        let is_chosen = CHOICES.iter().any(|variable| std::env::var_os(variable).is_some());
        let direct = if is_chosen { None } else { beside(USUAL, DIRECT) };
        let verilator = direct.unwrap_or_else(|| program("VERILATOR", USUAL));
        let compiler = program("CXX", "g++");
        let missing = Error::MissingTool { tool: "Verilator", install: VERILATOR_INSTALL };
        let text = run(&verilator, &["--version"]).ok_or(missing)?;
        let found = text.split_whitespace().nth(1).unwrap_or("").to_owned();
        let mut numbers = found.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
        let verilator_version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if verilator_version < OLDEST {
            return Err(Error::OldTool { tool: "Verilator", found, needed: "5.006", install: VERILATOR_INSTALL });
        }
        let missing = || Error::MissingTool { tool: "a C++ compiler", install: COMPILER_INSTALL };
        let compiler_version = run(&compiler, &["--version"]).ok_or_else(missing)?;
        let root = run(&verilator, &["--getenv", "VERILATOR_ROOT"])
            .ok_or(Error::MissingTool { tool: "Verilator's runtime", install: VERILATOR_INSTALL })?;
        let versions = format!("{text}{}", compiler_version.lines().next().unwrap_or(""));
        let runtime = Path::new(root.trim()).join("include");
        Ok(Self { verilator, compiler, verilator_version, versions, runtime, cache: absolute(cache) })
    }

    /// A Verilator command. Verilator recurses deeply, so it gets the largest possible stack, as from its wrapper.
    pub(crate) fn verilator(&self) -> Command {
        let mut command = tool("sh");
        command.args(["-c", "ulimit -s unlimited 2> /dev/null; exec \"$0\" \"$@\"", &self.verilator]);
        command
    }
}

/// The program that an environment variable names, or the usual one. Tools run in other folders, so a path must be valid everywhere.
fn program(variable: &str, usual: &str) -> String {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.into());
    let path = Path::new(&name);
    if path.components().count() > 1 { absolute(path).to_string_lossy().into_owned() } else { name }
}

/// The file `name` in the folder of a program on the PATH, with symbolic links resolved.
fn beside(program: &str, name: &str) -> Option<String> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())?;
    let file = found.canonicalize().ok()?.with_file_name(name);
    file.is_file().then(|| file.to_string_lossy().into_owned())
}

/// Standard output of a command, if it succeeds.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool on `what`; on failure the error message is what the tool printed.
pub(crate) fn checked(command: &mut Command, what: &str) -> Result<Output> {
    let tool = command.get_program().to_string_lossy().into_owned();
    checked_tool(command, &tool, what)
}

/// The same for a tool that another program starts.
pub(crate) fn checked_tool(command: &mut Command, tool: &str, what: &str) -> Result<Output> {
    let failed = |message: String| Error::Build { tool: tool.to_owned(), what: what.to_owned(), message };
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(text.trim_end().to_owned()))
}

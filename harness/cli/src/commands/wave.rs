//! `gpurf wave`: a failure's waveform in a viewer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use gpurf_lockstep::quoted;

use crate::args::Wave;
use crate::failure::{Failure, Status};
use crate::output;

const REPORT: &str = "report.txt";
const WAVEFORM: &str = "wave.vcd";
const SAVE_FILE: &str = "wave.gtkw";
const COMMAND_FILE: &str = "wave.sucl";

/// Opens the waveform, or prints the commands that open it.
pub fn wave(arguments: &Wave) -> Result<Status, Failure> {
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => latest(&super::project()?.failures)?,
    };
    let waveform = folder.join(WAVEFORM);
    if !waveform.is_file() {
        let what = if folder.is_dir() {
            format!("has no {WAVEFORM}")
        } else if folder.exists() {
            "is a file".into()
        } else {
            "does not exist".into()
        };
        return Err(Failure::bad_input(format!(
            "{} {what}: give a failure's folder, for instance failures/mrf-1",
            folder.display()
        )));
    }
    let report = folder.join(REPORT);
    if let Ok(text) = std::fs::read_to_string(&report) {
        output::print(&text)?;
    }
    let display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    match viewer(&folder) {
        Some((program, mut command)) if display => {
            output::note(&format!("opening {} in {program}", waveform.display()));
            let status = command.status().map_err(|e| Failure::tool(format!("cannot start {program}: {e}")))?;
            if status.success() {
                Ok(Status::Pass)
            } else {
                Err(Failure::tool(format!("{program} ended with {status}")))
            }
        }
        found => {
            let reason = if found.is_none() { "neither gtkwave nor surfer is on PATH" } else { "there is no display" };
            output::print(&format!(
                "Not opened: {reason}. Open it with\n{}Cycle c lasts from 2c to 2c+2 ns.\n",
                by_hand(&folder)
            ))?;
            Ok(Status::Pass)
        }
    }
}

/// The commands that open a waveform.
fn by_hand(folder: &Path) -> String {
    let [waveform, save, command] =
        [WAVEFORM, SAVE_FILE, COMMAND_FILE].map(|name| quoted(&folder.join(name).display().to_string()));
    format!("  gtkwave {waveform} {save}\nor\n  surfer -c {command} {waveform}\n")
}

/// The viewer on PATH, ready to start in the failure's folder.
fn viewer(folder: &Path) -> Option<(&'static str, Command)> {
    let path = std::env::var_os("PATH")?;
    let find = |name: &str| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    let (name, program, files): (_, _, &[&str]) = match (find("gtkwave"), find("surfer")) {
        (Some(program), _) => ("gtkwave", program, &[WAVEFORM, SAVE_FILE]),
        (None, Some(program)) => ("surfer", program, &["-c", COMMAND_FILE, WAVEFORM]),
        (None, None) => return None,
    };
    let mut command = Command::new(program);
    command.current_dir(folder).args(files);
    Some((name, command))
}

/// Whether a folder belongs to an interrupted run.
fn interrupted(folder: &Path) -> bool {
    std::fs::read_to_string(folder.join(REPORT)).is_ok_and(|text| text.starts_with("interrupted\n"))
}

/// The folder in `parent` whose waveform was written last. Ctrl-C leaves waveforms too: they are used only if no run has failed.
fn latest(parent: &Path) -> Result<PathBuf, Failure> {
    let written = |folder: &PathBuf| -> Option<SystemTime> { folder.join(WAVEFORM).metadata().ok()?.modified().ok() };
    let folders = std::fs::read_dir(parent).into_iter().flatten().flatten();
    // A folder that is still being written has a name that begins with a dot.
    let complete = folders.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    complete
        .map(|entry| entry.path())
        .filter_map(|folder| Some((!interrupted(&folder), written(&folder)?, folder)))
        .max()
        .map(|(_, _, folder)| folder)
        .ok_or_else(|| Failure::bad_input(format!("there is no failure with a waveform in {}", parent.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_viewers_can_be_pasted_into_a_shell() {
        let words = by_hand(Path::new("my failures/mrf-1"));
        let [waveform, save, command] = ["vcd", "gtkw", "sucl"].map(|end| format!("'my failures/mrf-1/wave.{end}'"));
        assert_eq!(words, format!("  gtkwave {waveform} {save}\nor\n  surfer -c {command} {waveform}\n"));
    }

    #[test]
    fn a_folder_that_is_being_written_is_not_offered() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["mrf-1", ".new-abc"] {
            std::fs::create_dir(parent.path().join(name)).unwrap();
            std::fs::write(parent.path().join(name).join(WAVEFORM), "").unwrap();
        }
        assert_eq!(latest(parent.path()).unwrap(), parent.path().join("mrf-1"));
    }
}

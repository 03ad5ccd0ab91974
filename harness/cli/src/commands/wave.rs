//! `gpurf wave`: a failure's waveform in a viewer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

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
            let waveform = waveform.display();
            output::print(&format!(
                "Not opened: {reason}. Open it with\n  gtkwave {waveform} {}\nor\n  surfer -c {} {waveform}\n\
                 Cycle c lasts from 2c to 2c+2 ns.\n",
                folder.join(SAVE_FILE).display(),
                folder.join(COMMAND_FILE).display(),
            ))?;
            Ok(Status::Pass)
        }
    }
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
    let folders = std::fs::read_dir(parent).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .filter_map(|folder| Some((!interrupted(&folder), written(&folder)?, folder)))
        .max()
        .map(|(_, _, folder)| folder)
        .ok_or_else(|| Failure::bad_input(format!("there is no failure with a waveform in {}", parent.display())))
}

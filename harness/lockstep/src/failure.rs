//! What a failure leaves on disk: a folder with the waveform, a save file for the viewer, the report and the reproducer.

use std::io;
use std::path::{Path, PathBuf};

use gpurf_blocks::Role;

use crate::{Capture, Cause, Comparator, Reproducer, report, wave};

/// What a failure folder is made from.
pub struct FailureContext<'a> {
    /// The rules of the run.
    pub comparator: &'a Comparator,
    /// Why it ended.
    pub cause: &'a Cause,
    /// The cycles around it.
    pub capture: Option<&'a Capture>,
    /// The shortest run that fails.
    pub reproducer: Option<&'a Reproducer>,
    /// Lines for the end of the report: seed, parameters, commands. `{}` in them stands for the folder.
    pub notes: &'a [String],
}

/// Writes a failure folder below `parent` and gives its path. It appears whole or not at all.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_failure(parent: &Path, context: &FailureContext<'_>) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let declaration = context.comparator.declaration();
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
    if let Some(capture) = context.capture {
        wave::write_vcd(&scratch.path().join("wave.vcd"), context.comparator, capture)?;
        let (signals, cycle) = first_signals(context, capture);
        wave::write_gtkw(&scratch.path().join("wave.gtkw"), "wave.vcd", context.comparator, &signals, cycle)?;
    }
    if let Some(reproducer) = context.reproducer {
        std::fs::write(scratch.path().join("reproducer.json"), reproducer.to_json())?;
    }
    // A number nobody has yet; two runs that fail at once try again.
    for number in 1.. {
        let folder = parent.join(format!("{}-{number}", declaration.block));
        if folder.exists() {
            continue;
        }
        let mut text = report::text(declaration, context.cause, context.capture);
        for note in context.notes {
            text.push_str(&note.replace("{}", &folder.display().to_string()));
            text.push('\n');
        }
        std::fs::write(scratch.path().join("report.txt"), text)?;
        match std::fs::rename(scratch.path(), &folder) {
            Ok(()) => return Ok(folder),
            Err(_) if folder.exists() => {}
            Err(e) => return Err(e),
        }
    }
    unreachable!("the numbers do not end")
}

/// The signals a viewer should open on, and the cycle: what differs first, then the ports.
fn first_signals(context: &FailureContext<'_>, capture: &Capture) -> (Vec<(usize, usize)>, u64) {
    const SHOWN: usize = 32;
    let declaration = context.comparator.declaration();
    let (mut signals, cycle): (Vec<(usize, usize)>, u64) = match context.cause {
        Cause::Diverged(d) => {
            let mut differences = d.differences.clone();
            differences.sort_by_key(|x| !d.blame.signals.contains(&x.signal));
            (differences.iter().map(|x| (x.signal, x.element)).collect(), d.cycle)
        }
        Cause::Assertion { cycle, .. } | Cause::Panicked { cycle, .. } | Cause::Hung { cycle, .. } => {
            (Vec::new(), *cycle)
        }
        Cause::Interrupted => (Vec::new(), capture.first_cycle + capture.rtl.len() as u64),
    };
    signals.truncate(SHOWN);
    let ports = declaration.signals.iter().enumerate().filter(|(_, s)| s.role != Role::Probe && s.field.bits <= 64);
    for (index, _) in ports {
        if signals.len() < SHOWN && !signals.contains(&(index, 0)) {
            signals.push((index, 0));
        }
    }
    (signals, cycle)
}

//! The trace of `gpurf run`: its file and messages.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use gpurf_blocks::config::Config;
use gpurf_machine::Machine;
use gpurf_machine::trace::{Format, Trace};
use gpurf_regress::files::WholeFile;

use crate::args::TraceOptions;
use crate::failure::Failure;
use crate::output;

/// The file of a trace, which appears under its name only when it is complete.
pub struct TraceFile {
    path: PathBuf,
    format: Format,
    cycles: RangeInclusive<u64>,
    file: WholeFile,
}

impl TraceFile {
    /// The trace that the options request. Errors in the options are reported before anything runs.
    pub fn create(options: &TraceOptions) -> Result<Option<Self>, Failure> {
        let Some(path) = &options.file else { return Ok(None) };
        let format = match options.format {
            Some(format) => format.into(),
            None => of_ending(path)?,
        };
        let file = WholeFile::create(path).map_err(|error| cannot_write(path, &error))?;
        let cycles = options.cycles.clone().unwrap_or(0..=u64::MAX);
        Ok(Some(Self { path: path.clone(), format, cycles, file }))
    }

    /// Starts the trace on an engine.
    pub fn begin<M: Machine>(&self, engine: &mut M, config: &Config, run: &str) -> Result<(), Failure> {
        let declaration = (gpurf_sm::ENTRY.twin)(config).declaration().clone();
        let begun = self
            .file
            .writer()
            .and_then(|out| Trace::new(config, &declaration, self.format, self.cycles.clone(), run, Box::new(out)));
        engine.trace(begun.map_err(|error| cannot_write(&self.path, &error))?);
        Ok(())
    }

    /// Ends the trace and returns its path, or `None` with a message if it has no cycle. `last` is the number of cycles of the run.
    pub fn end<M: Machine>(self, engine: &mut M, last: u64) -> Result<Option<PathBuf>, Failure> {
        let Some(trace) = engine.take_trace() else { return Ok(None) };
        let traced = trace.finish().map_err(|error| cannot_write(&self.path, &error))?;
        if traced.cycles == 0 {
            let from = self.cycles.start();
            output::note(&format!(
                "--trace-cycles: nothing was traced: the run ended after {last} cycles, before cycle {from}"
            ));
            return Ok(None);
        }
        if traced.unknown > 0 {
            let unknown = traced.unknown;
            output::note(&format!("--trace: {unknown} events of the SM belong to no instruction in flight"));
        }
        self.file.keep().map_err(|error| cannot_write(&self.path, &error))?;
        Ok(Some(self.path))
    }
}

fn of_ending(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    Format::of_ending(ending).ok_or_else(|| {
        let endings = Format::ALL.map(|format| format!(".{}", format.endings()[0])).join(", ");
        let path = path.display();
        Failure::bad_input(format!(
            "--trace {path}: its ending names no format: choose one of {endings}, or add --trace-format"
        ))
    })
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::tool(format!("cannot write the trace {}: {error}", path.display()))
}

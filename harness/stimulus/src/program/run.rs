//! Programs on the oracle.

use std::num::NonZeroUsize;
use std::path::Path;

use gpurf_launch::{Manifest, ManifestError, Source};
use gpurf_oracle::host::{Engine, KernelLaunch, LoadError, OracleError, RunError, Session, assembled};
use gpurf_oracle::{Launch, Memory, Observer, Options, Oracle, Program as Ready};

use super::{Coverage, Lowered, Program};

/// Most instructions of a block: far more than any program of this crate executes.
const STEP_LIMIT: u64 = 20_000_000;

/// Errors of making a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The program does not reach its quotas.
    #[error(
        "the program of seed {seed} stays below its quotas: {}; lower them, or raise the weights that serve them",
        list(missing)
    )]
    Quota {
        /// The seed.
        seed: u64,
        /// Points, how often each was reached, how often it should have been.
        missing: Vec<(String, u64, u64)>,
    },
    /// The generator made an invalid program: a defect.
    #[error("the program of seed {seed} is not valid, a defect of the generator: {problem}")]
    Invalid {
        /// The seed.
        seed: u64,
        /// The oracle's message.
        problem: String,
    },
}

fn list(missing: &[(String, u64, u64)]) -> String {
    let words = missing.iter().map(|(point, count, quota)| format!("{point} {count} of {quota} times"));
    words.collect::<Vec<_>>().join(", ")
}

/// The oracle, with an observer.
struct Observed<O> {
    oracle: Oracle,
    observer: O,
}

impl<O: Observer> Engine for Observed<O> {
    type Error = OracleError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
        let program = Ready::new(launch.kernel, launch.source)?;
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        self.oracle.run_observed(&launch, memory, &mut self.observer).map_err(OracleError::Fault)?;
        Ok(())
    }
}

impl Program {
    /// The name of the program in messages.
    pub fn name(&self) -> String {
        format!("program-{}.toml", self.seed)
    }

    /// Runs the program on the oracle and counts what it executes; `banks` is the number of banks of the register file.
    ///
    /// # Errors
    /// When the oracle rejects it.
    pub fn measure(&self, banks: u32) -> Result<Coverage, ProgramError> {
        self.measure_lowered(&self.lower(), banks)
    }

    /// The same of a program that is lowered already.
    pub(super) fn measure_lowered(&self, lowered: &Lowered, banks: u32) -> Result<Coverage, ProgramError> {
        let coverage = Coverage::new(lowered.body as u32, banks);
        self.observed_lowered(lowered, coverage).map_err(|problem| ProgramError::Invalid { seed: self.seed, problem })
    }

    /// Runs the program on the oracle with an observer.
    #[cfg(test)]
    pub(super) fn observed<O: Observer>(&self, observer: O) -> Result<O, String> {
        self.observed_lowered(&self.lower(), observer)
    }

    /// Runs the program, which is lowered already, on the oracle with an observer.
    fn observed_lowered<O: Observer>(&self, lowered: &Lowered, observer: O) -> Result<O, String> {
        let options = Options { threads: NonZeroUsize::MIN, step_limit: STEP_LIMIT, ..Options::default() };
        let mut engine = Observed { oracle: Oracle::new(options), observer };
        let manifest = parse(&self.name(), &self.manifest_of(lowered, None)).map_err(|e| e.to_string())?;
        let Source::Assembly(assembly) = &manifest.source else { return Err("it has no instructions".into()) };
        let image = assembled(&manifest, assembly).map_err(|e: LoadError| e.to_string())?;
        let mut session = Session::new(&manifest, &image).map_err(|e| e.to_string())?;
        session.run(&mut engine).map_err(|e: RunError<OracleError>| e.to_string())?;
        Ok(engine.observer)
    }
}

fn parse(name: &str, text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(Path::new(name), text)
}

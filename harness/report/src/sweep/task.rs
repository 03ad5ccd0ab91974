//! One run of a sweep: a kernel on a configuration of the model, or on the oracle.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gpurf_blocks::config::{Config, SharedResource};
use gpurf_compiler::RegisterOrder;
use gpurf_energy::Traffic;
use gpurf_isa::Image;
use gpurf_machine::{Foreseen, LaunchError, Machine, ModelEngine, SampledEngine, Settings};
use gpurf_oracle::host::{Engine, OracleError, RunError, Session};
use gpurf_oracle::{FaultKind, Options, Oracle};
use gpurf_regress::{REGISTERS, compiled_for};
use gpurf_stimulus::program::compiler_options;
use serde::{Deserialize, Serialize};

use super::SweepError;
use super::kernel::{Kernel, Ptx};
use super::plan::Point;
use super::results::Measured;
use crate::follow::FollowedCache;
use crate::levels::{self, LevelOptions, Strands};
use crate::usage::Usage;
use crate::watched::{WatchError, WatchedEngine};

/// A run, described in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunName {
    /// The kernel.
    pub kernel: String,
    /// The engine that runs it.
    pub engine: &'static str,
    /// The configuration, or the quantity that is counted.
    pub what: String,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, on the {}", self.kernel, self.what, self.engine)
    }
}

/// One run of a kernel: on the oracle, for everything that is counted there; or on one machine of the model, for all points that have its
/// configuration.
pub(super) struct Task<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) whats: Vec<What<'a>>,
}

/// A quantity that a run counts.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    /// Events of the model in a configuration.
    Model(&'a Point),
    /// Values, on the oracle.
    Usage,
    /// Accesses to the levels of a software-managed hierarchy, on the oracle.
    Levels(&'a LevelOptions),
    /// Accesses of a cache simulated in program order, on the oracle.
    Cache(&'a FollowedCache),
}

/// The counts of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Measured(Measured),
    Usage(Box<Usage>),
    #[serde(with = "levels::list")]
    Levels(Strands),
    Cache(Box<Traffic>),
}

impl What<'_> {
    /// A text that identifies the quantity. Points with the same configuration have the same text.
    pub(super) fn key(self) -> String {
        match self {
            What::Model(point) => match point.config() {
                Ok(config) => {
                    let measured = if point.measured { ", measured" } else { "" };
                    format!("model {}{measured}", config.settings().join(" "))
                }
                Err(_) => format!("model {}", point.options()),
            },
            What::Usage => "values".to_owned(),
            What::Levels(options) => format!("{options:?}"),
            What::Cache(cache) => format!("{cache:?}"),
        }
    }

    /// Whether the quantity is counted for a kernel.
    pub(super) fn runs(self, kernel: &Kernel) -> bool {
        match self {
            What::Model(point) => point.runs(kernel),
            What::Usage | What::Levels(_) | What::Cache(_) => true,
        }
    }

    /// The quantity in words.
    fn words(self) -> String {
        match self {
            What::Model(point) if point.measured => format!("{}, measured", point.options()),
            What::Model(point) => point.options(),
            What::Usage => "values".to_owned(),
            What::Levels(options) => levels::name(options),
            What::Cache(cache) => format!("a cache of {}", cache.entries),
        }
    }
}

/// A kernel's code with the register names, levels and marks that a configuration requires. Options on scratchpad memory take effect before register
/// allocation, so for these the PTX is compiled again.
fn marked<'a>(kernel: &'a Kernel, config: &Config) -> Result<Cow<'a, Image>, SweepError> {
    let Kernel { manifest, image, ptx, code, .. } = kernel;
    let options = compiler_options(config, REGISTERS);
    let shares = config.share.present && config.share.resource == SharedResource::Scratchpad;
    if let Some(Ptx { name, text }) = ptx.as_ref().filter(|_| shares || options.scratchpad != Default::default()) {
        let compiled = compiled_for(text, name, &code.on(config), REGISTERS, manifest);
        return compiled.map(|compiled| Cow::Owned(compiled.image)).map_err(|e| SweepError::Input(e.to_string()));
    }
    let renamed = options.register_order != RegisterOrder::Allocated;
    if !renamed && !options.have_levels() && options.power_threshold == 0 {
        return Ok(Cow::Borrowed(image));
    }
    let mut image = image.clone();
    for code in image.kernels.iter_mut().map(|kernel| &mut kernel.code) {
        gpurf_compiler::name_registers(code, options.register_order);
        gpurf_compiler::mark(code, &options);
    }
    Ok(Cow::Owned(image))
}

impl Task<'_> {
    pub(super) fn name(&self) -> RunName {
        let first = self.whats.first().copied();
        let engine = if matches!(first, Some(What::Model(_))) { "model" } else { "oracle" };
        let what = match (first, self.whats.len()) {
            (Some(only), 1) => only.words(),
            (Some(What::Model(point)), _) => point.options(),
            (_, counted) => format!("{counted} things to count"),
        };
        RunName { kernel: self.kernel.name.clone(), engine, what }
    }

    /// Makes the run; returns the outcome of each of its quantities.
    pub(super) fn run(&self, stop: &'static AtomicBool, foreseen: &Arc<Foreseen>) -> Result<Vec<Outcome>, SweepError> {
        let Kernel { manifest, image, .. } = self.kernel;
        let session = |image| Session::new(manifest, image).map_err(|e| SweepError::Input(e.to_string()));
        if let Some(What::Model(point)) = self.whats.first() {
            let config = point.config().map_err(|e| SweepError::Input(e.to_string()))?;
            let marked = marked(self.kernel, &config)?;
            let measured = self.run_model(&mut session(&*marked)?, config, point.measured, stop, foreseen)?;
            return Ok(vec![Outcome::Measured(measured); self.whats.len()]);
        }
        let mut session = session(image)?;
        let mut engine = WatchedEngine::new(Oracle::new(Options { stop: Some(stop), ..Options::default() }));
        for what in &self.whats {
            match what {
                What::Usage => engine.usage(),
                What::Levels(options) => engine.levels(**options),
                What::Cache(cache) => engine.cache(**cache),
                What::Model(_) => {}
            }
        }
        self.launches(&mut session, &mut engine, |error| match error {
            WatchError::Oracle(oracle) => self.oracle_error(oracle, error),
            WatchError::Level(_) => SweepError::Failed(self.sentence(error)),
        })?;
        let counted = |what: &What<'_>| match what {
            What::Usage => engine.counted_usage().cloned().map(|usage| Outcome::Usage(Box::new(usage))),
            What::Levels(options) => engine.counted_levels(options).map(Outcome::Levels),
            What::Cache(cache) => engine.counted_cache(cache).map(|traffic| Outcome::Cache(Box::new(traffic))),
            What::Model(_) => None,
        };
        Ok(self.whats.iter().map(|what| counted(what).expect("the engine counts what it was asked for")).collect())
    }

    fn run_model(
        &self,
        session: &mut Session<'_>,
        config: Config,
        measure: bool,
        stop: &'static AtomicBool,
        foreseen: &Arc<Foreseen>,
    ) -> Result<Measured, SweepError> {
        let settings = Settings { stop, measure, ..Settings::new(config) };
        let word = |error: &LaunchError| match error {
            LaunchError::Interrupted => SweepError::Interrupted,
            LaunchError::Refused(_) => SweepError::Input(self.sentence(error)),
            _ => SweepError::Failed(self.sentence(error)),
        };
        let statistics = match self.kernel.sample {
            Some(limit) => {
                let mut engine = SampledEngine::sharing(settings, limit, foreseen.clone());
                self.launches(session, &mut engine, word)?;
                engine.statistics()
            }
            None => {
                let mut engine = ModelEngine::new(settings);
                self.launches(session, &mut engine, word)?;
                engine.statistics()
            }
        };
        Ok(statistics.into())
    }

    fn oracle_error(&self, error: &OracleError, word: &dyn std::fmt::Display) -> SweepError {
        match error {
            OracleError::Fault(fault) if matches!(fault.kind, FaultKind::Stopped) => SweepError::Interrupted,
            _ => SweepError::Failed(self.sentence(word)),
        }
    }

    /// Runs the launches and checks their results.
    fn launches<E: Engine>(
        &self,
        session: &mut Session<'_>,
        engine: &mut E,
        word: impl FnOnce(&E::Error) -> SweepError,
    ) -> Result<(), SweepError> {
        session.run(engine).map_err(|error| match &error {
            RunError::Engine(error) => word(error),
            RunError::Passes { .. } | RunError::Fault { .. } => SweepError::Failed(self.sentence(&error)),
        })?;
        let checks = session.checks().map_err(|e| SweepError::Input(e.to_string()))?;
        match checks.iter().find(|row| !row.ok) {
            Some(row) => Err(SweepError::Failed(self.sentence(&format!("buffer {} is wrong", row.buffer)))),
            None => Ok(()),
        }
    }

    fn sentence(&self, what: &dyn std::fmt::Display) -> String {
        let Kernel { path, code, .. } = self.kernel;
        let (path, settings) = (gpurf_lockstep::quoted(path), code.settings());
        let again = match self.whats.first() {
            Some(What::Model(point)) => format!("gpurf run {path} --engine model {}{settings}", point.options()),
            Some(What::Levels(_)) => format!("gpurf report hierarchy --kernel {path}{}", code.options(None)),
            _ => format!("gpurf run {path} --engine functional{settings}"),
        };
        format!("{}: {what}\n  again: {again}", self.kernel.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::testing::compiled;
    use gpurf_blocks::config::Start;

    /// A report compiles a kernel once; the names and marks for each configuration are those that the compiler makes.
    #[test]
    fn code_for_a_configuration_is_what_the_compiler_makes_for_it() {
        let kernel = compiled("srad");
        let Ptx { name, text } = kernel.ptx.as_ref().unwrap();
        let settings = ["compiler.register_order=first_use", "compiler.power_threshold=3"];
        for chosen in [&settings[..0], &settings[..1], &settings[1..], &settings] {
            let config = Config::load(Start::Preset("baseline"), chosen).unwrap();
            let expected = compiled_for(text, name, &config, REGISTERS, &kernel.manifest).unwrap().image;
            assert_eq!(*marked(&kernel, &config).unwrap(), expected, "{chosen:?}");
            assert_eq!(expected == kernel.image, chosen.is_empty(), "{chosen:?}");
        }
    }

    /// Layout, releases and private marks require code of their own, with the kernel's instruction order and address width.
    #[test]
    fn code_for_scratchpad_sharing_is_compiled_for_it() {
        let kernel = compiled("countBytes");
        let coded = ["compiler.schedule=latency", "compiler.address_bits=32"];
        let code = coded.iter().fold(Code::PTX, |code, setting| code.with_setting(setting).unwrap());
        let in_code = Kernel { code, ..kernel.clone() };
        let Ptx { name, text } = kernel.ptx.as_ref().unwrap();
        let half = "share.private=5";
        let settings = ["compiler.share_layout=minimal", "compiler.relssp=optimal"];
        let mut codes = vec![kernel.image.clone()];
        for chosen in [&settings[..1], &settings[1..], &settings].map(|settings| [&[half], settings].concat()) {
            let config = Config::load(Start::Preset("share-scratchpad"), &chosen).unwrap();
            let code = marked(&kernel, &config).unwrap().into_owned();
            assert_eq!(
                code,
                compiled_for(text, name, &config, REGISTERS, &kernel.manifest).unwrap().image,
                "{chosen:?}"
            );
            let set = [&chosen[..], &coded].concat();
            let set = Config::load(Start::Preset("share-scratchpad"), &set).unwrap();
            let expected = compiled_for(text, name, &set, REGISTERS, &kernel.manifest).unwrap().image;
            assert_eq!(*marked(&in_code, &config).unwrap(), expected, "{chosen:?}");
            codes.push(code);
        }
        let differ = |(place, code): (usize, &Image)| codes[..place].iter().all(|other| other != code);
        assert!(codes.iter().enumerate().all(differ), "each has code of its own");
        let plain = Config::load(Start::Preset("fermi-16k"), &[] as &[&str]).unwrap();
        assert!(matches!(marked(&kernel, &plain).unwrap(), Cow::Borrowed(_)));
        // Assembly code stays unchanged.
        let assembly = Kernel { ptx: None, ..kernel };
        let config = Config::load(Start::Preset("share-scratchpad"), &settings[..2]).unwrap();
        assert_eq!(*marked(&assembly, &config).unwrap(), assembly.image);
    }
}

//! A case: one run, in a form that can be written to a file and read again.

use std::sync::Arc;

use gpurf_blocks::config::{Config, DEFAULT_PRESET, Start, presets};
use gpurf_stimulus::program::Weights;
use serde::{Deserialize, Serialize};

use crate::{JobError, KernelInputs, LockstepJob, ProgramInputs, Project, is_built_from, suite};

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Unique name: configuration, kind, name, seed.
    pub id: String,
    /// The configuration, as settings that differ from the default preset.
    pub settings: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// What is run.
    pub work: Work,
    /// Time limit in seconds, without building.
    pub limit_s: u64,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A block in lockstep on random inputs.
    Block {
        /// Block.
        block: String,
        /// Cycles.
        cycles: u64,
    },
    /// A test kernel on the SM in lockstep, compared with its golden.
    Kernel {
        /// Kernel.
        kernel: String,
    },
    /// A random program on the SM in lockstep.
    Program {
        /// Theme.
        theme: String,
    },
    /// A test kernel on the model alone, compared with its golden.
    Golden {
        /// Kernel.
        kernel: String,
    },
}

/// A short name of a configuration: its preset, or the settings that differ from the default.
pub fn label(config: &Config) -> String {
    match presets().find(|preset| preset.config == *config) {
        Some(preset) => preset.name.to_owned(),
        None => config.settings().join(","),
    }
}

/// A configuration as cases name it.
pub struct Named {
    config: Config,
    label: String,
    settings: Vec<String>,
}

impl Named {
    /// The names of a configuration; those of `last` if it is the same configuration, as they take long to find.
    pub fn of(config: &Config, last: Option<Self>) -> Self {
        let again = last.filter(|last| last.config == *config);
        again.unwrap_or_else(|| Self { config: *config, label: label(config), settings: config.settings() })
    }
}

impl Case {
    /// A case with this configuration, seed, work and time limit.
    pub fn new(config: &Config, seed: u64, work: Work, limit_s: u64) -> Self {
        Self::named(&Named::of(config, None), seed, work, limit_s)
    }

    /// A case with this configuration, seed, work and time limit.
    pub fn named(config: &Named, seed: u64, work: Work, limit_s: u64) -> Self {
        let Named { label, settings, .. } = config;
        let id = match &work {
            Work::Block { block, .. } => format!("{label}/block/{block}/{seed}"),
            Work::Kernel { kernel } => format!("{label}/kernel/{kernel}/{seed}"),
            Work::Program { theme } => format!("{label}/program/{theme}/{seed}"),
            Work::Golden { kernel } => format!("{label}/golden/{kernel}"),
        };
        Self { id, settings: settings.clone(), seed, work, limit_s }
    }

    /// Sizes and policies.
    ///
    /// # Errors
    /// When it was not made by [`new`](Self::new).
    pub fn config(&self) -> Result<Config, JobError> {
        Config::load(Start::Preset(DEFAULT_PRESET), &self.settings).map_err(|e| JobError::Input(e.to_string()))
    }

    /// The short name of the configuration.
    pub fn label(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The block that runs.
    pub fn block(&self) -> &str {
        match &self.work {
            Work::Block { block, .. } => block,
            _ => gpurf_sm::ENTRY.name,
        }
    }

    /// Whether a module or package is part of the block of this case.
    pub fn contains(&self, module: &str) -> bool {
        gpurf_sm::find(self.block()).is_some_and(|block| is_built_from(block, module))
    }

    /// Whether an option matters to this case: `--rtl MODULE=FILE` does if the block contains the module.
    fn concerns(&self, option: &str) -> bool {
        let module = option.strip_prefix("--rtl ").and_then(|rest| rest.split('=').next());
        module.is_none_or(|module| self.contains(module))
    }

    /// The lockstep job; `None` for a case that runs on the model alone.
    ///
    /// # Errors
    /// When it was not made by [`new`](Self::new).
    pub fn job(&self, project: &Project) -> Result<Option<LockstepJob>, JobError> {
        let config = self.config()?;
        let job = match &self.work {
            Work::Block { block, cycles } => suite::random(block, config, self.seed, *cycles),
            Work::Kernel { kernel } => suite::kernel(KernelInputs::of_project(project, kernel), config, self.seed),
            Work::Program { theme } => {
                let weights = Weights::load(theme).map_err(|e| JobError::Input(format!("{theme}: {e}")))?;
                let inputs = ProgramInputs { name: theme.clone(), weights: Arc::new(weights), all_themes: true };
                suite::program(inputs, config, self.seed)
            }
            Work::Golden { .. } => return Ok(None),
        };
        Ok(Some(LockstepJob { keep_failure: false, ..job }))
    }

    /// The command that runs this case alone; `options` name RTL that replaces the project's.
    pub fn command(&self, options: &[String]) -> String {
        let run = match &self.work {
            Work::Block { block, .. } => format!("gpurf cosim --block {block}"),
            Work::Kernel { kernel } => format!("gpurf cosim --kernel tests/kernels/{kernel}.toml"),
            Work::Program { theme } => format!("gpurf cosim --programs 1 --weights {theme}"),
            Work::Golden { kernel } => format!("gpurf golden check --kernel {kernel}"),
        };
        let command = self.command_of(run, options);
        match &self.work {
            Work::Block { cycles, .. } => format!("{command} --cycles {cycles}"),
            _ => command,
        }
    }

    /// A command with another run in the same configuration, with the same first seed.
    pub(super) fn command_of(&self, run: String, options: &[String]) -> String {
        let preset = presets().find(|preset| preset.name == self.label());
        let mut words = vec![run];
        match preset {
            Some(preset) => words.push(format!("--preset {}", preset.name)),
            None => words.extend(self.settings.iter().map(|setting| format!("--set {setting}"))),
        }
        if !matches!(self.work, Work::Golden { .. }) {
            words.push(format!("--seed {}", self.seed));
            words.extend(options.iter().filter(|option| self.concerns(option)).cloned());
        }
        words.join(" ")
    }
}

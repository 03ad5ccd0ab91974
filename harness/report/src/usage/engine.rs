//! The oracle with somebody who counts values.

use gpurf_oracle::host::{Engine, KernelLaunch, OracleError};
use gpurf_oracle::{Launch, Memory, Oracle, Program};

use super::{Usage, UsageObserver};

/// Runs launches on the oracle and counts how their values are used.
#[derive(Debug)]
pub struct UsageEngine {
    oracle: Oracle,
    /// What was counted so far.
    pub usage: Usage,
}

impl UsageEngine {
    /// With this oracle.
    pub fn new(oracle: Oracle) -> Self {
        Self { oracle, usage: Usage::default() }
    }
}

impl Engine for UsageEngine {
    type Error = OracleError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
        let program = Program::new(launch.kernel, launch.source)?;
        let mut observer = UsageObserver::default();
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        self.oracle.run_observed(&launch, memory, &mut observer).map_err(OracleError::Fault)?;
        self.usage.add(&observer.finish());
        Ok(())
    }
}

//! Measures how the cost of a cycle grows with the hardware.

use std::time::Duration;

use gpurf_blocks::config::{Config, ConfigError, Start};
use gpurf_blocks::{Declaration, Role};
use serde::Serialize;
use verilated::Toolchain;

use super::{Row, machine};
use crate::{JobError, Project, suite, suite::Sweep};

/// Sizes that every SM has. The latency of memory is not hardware: it changes the number of idle cycles.
const COMMON: &[Sweep] = &[
    Sweep { preset: "baseline", key: "sm.warps", values: &[8, 16, 32, 48] },
    Sweep { preset: "baseline", key: "mrf.banks", values: &[4, 8, 16, 32] },
    Sweep { preset: "baseline", key: "mrf.collectors", values: &[4, 8, 16] },
    Sweep { preset: "baseline", key: "memory.latency", values: &[50, 200, 400, 800] },
];

/// The sizes that are swept: these, and the designs' own.
pub fn sweeps() -> impl Iterator<Item = &'static Sweep> {
    COMMON.iter().chain(suite::sizes())
}

/// One point of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct SizeRow {
    /// The preset.
    pub preset: &'static str,
    /// The size's key.
    pub key: &'static str,
    /// Its value.
    pub value: usize,
    /// Bits of registers, nets and outputs of the SM that the lockstep compares in a cycle.
    pub compared_bits: u64,
    /// Nanoseconds of a cycle: the lockstep on one thread.
    pub lockstep_ns: f64,
    /// Plain Verilator.
    pub verilator_ns: f64,
    /// The model alone, no cycle skipped.
    pub model_ns: f64,
}

/// Bits that a lockstep compares in a cycle.
fn compared_bits(declaration: &Declaration) -> u64 {
    let compared = declaration.signals.iter().filter(|signal| signal.role != Role::Input);
    compared.map(|signal| u64::from(signal.field.bits) * signal.field.count as u64).sum()
}

impl Sweep {
    /// The configuration of a value.
    ///
    /// # Errors
    /// When the preset cannot have it.
    pub fn config(&self, value: usize) -> Result<Config, ConfigError> {
        Config::load(Start::Preset(self.preset), &[format!("{}={value}", self.key)])
    }

    /// The name of a point.
    pub fn name(&self, value: usize) -> String {
        format!("{} with {} = {value}", self.preset, self.key)
    }

    /// Measures the SM at a value on a kernel, in rounds until `time` is over.
    ///
    /// # Errors
    /// When it cannot be built, or the sides do not agree.
    pub fn measure(
        &self,
        project: &Project,
        tools: &Toolchain,
        value: usize,
        kernel: &str,
        time: Duration,
    ) -> Result<SizeRow, JobError> {
        let config = self.config(value).map_err(|error| JobError::Input(error.to_string()))?;
        let [_, every_cycle] = machine(project, tools, &self.name(value), &config, kernel, time, false)?;
        let Row { lockstep, verilator, model, .. } = every_cycle;
        let twin = (gpurf_sm::ENTRY.twin)(&config);
        let nanoseconds = |kilocycles: f64| 1e6 / kilocycles;
        Ok(SizeRow {
            preset: self.preset,
            key: self.key,
            value,
            compared_bits: compared_bits(twin.declaration()),
            lockstep_ns: nanoseconds(lockstep),
            verilator_ns: nanoseconds(verilator),
            model_ns: nanoseconds(model),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_configuration_and_hardware_grows_along_a_sweep() {
        for sweep in sweeps() {
            let bits = |&value: &usize| {
                let config = sweep.config(value).unwrap_or_else(|error| panic!("{}: {error}", sweep.name(value)));
                compared_bits((gpurf_sm::ENTRY.twin)(&config).declaration())
            };
            let bits: Vec<u64> = sweep.values.iter().map(bits).collect();
            assert!(sweep.values.is_sorted());
            let grows = bits.windows(2).all(|pair| pair[0] < pair[1]);
            let stays = bits.windows(2).all(|pair| pair[0] == pair[1]);
            assert!(if sweep.key == "memory.latency" { stays } else { grows }, "{} {bits:?}", sweep.key);
        }
    }
}

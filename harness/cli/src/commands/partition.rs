//! The division of unified memory for each launch of a manifest.

use gpurf_blocks::config::Config;
use gpurf_blocks::unified::ROW_BYTES;
use gpurf_isa::Image;
use gpurf_launch::Manifest;
use gpurf_machine::{LaunchDemand, demands};
use gpurf_sm::partition::Division;
use serde::Serialize;

use crate::output::{self, Cell, numbers, words};

/// The division for a launch.
#[derive(Debug, Serialize)]
pub struct Divided {
    /// Its kernel.
    kernel: String,
    /// Number of block slots.
    slots: u32,
    /// Maximum number of resident threads.
    threads: u32,
    /// Kilobytes of registers, scratchpad memory and cache, and unused kilobytes.
    registers_kb: f64,
    shared_kb: f64,
    cache_kb: f64,
    unused_kb: f64,
}

/// The division for each launch, in the order of the manifest; empty without unified memory.
pub fn of(config: &Config, manifest: &Manifest, image: &Image) -> Vec<Divided> {
    if !config.unified.is_present() {
        return Vec::new();
    }
    let divided = |asked: LaunchDemand<'_>| {
        let division = Division::of(config, &asked.demand, asked.threads);
        let (Division { slots, register_rows, shared_rows, .. }, cache_rows) = (division, division.cache_rows());
        let unused = config.unified.rows() as u32 - register_rows - shared_rows - cache_rows;
        let kilobytes = |rows: u32| f64::from(rows * ROW_BYTES) / 1024.0;
        Divided {
            kernel: asked.kernel.to_owned(),
            slots,
            threads: slots * asked.threads,
            registers_kb: kilobytes(register_rows),
            shared_kb: kilobytes(shared_rows),
            cache_kb: kilobytes(cache_rows),
            unused_kb: kilobytes(unused),
        }
    };
    demands(manifest, image).map(divided).collect()
}

/// The divisions as a table.
pub fn table(partition: &[Divided]) -> String {
    let columns = [
        words("unified memory, KB"),
        numbers("registers"),
        numbers("scratchpad"),
        numbers("cache"),
        numbers("unused"),
        numbers("blocks"),
        numbers("threads"),
    ];
    let row = |divided: &Divided| -> Vec<Cell> {
        let Divided { kernel, slots, threads, registers_kb, shared_kb, cache_kb, unused_kb } = divided;
        let sizes = [registers_kb, shared_kb, cache_kb, unused_kb].map(|kilobytes| kilobytes.to_string());
        let counts = [slots, threads].map(ToString::to_string);
        [kernel.clone()].into_iter().chain(sizes).chain(counts).map(Cell::from).collect()
    };
    output::table(&columns, &partition.iter().map(row).collect::<Vec<_>>())
}

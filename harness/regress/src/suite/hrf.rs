//! Shapes and policies of the hybrid register file.

use gpurf_blocks::config::{Config, HrfConfig, preset};

use super::{Family, alone, changed};

/// The runs of the suites for this design.
pub(super) const FAMILY: Family = Family {
    design: "hrf",
    kernel: "pathfinder",
    is_own: |block| block.starts_with("hrf") || block == "alternating_scheduler",
    few,
    more,
    audited,
    shrink: |c| c.hrf = HrfConfig { buffer_entries: 20, load_entries: 4, gating: true, ..c.hrf },
    mutated,
    runs_whole: &[],
    stretch: &[("hrf_buffer", 3), ("hrf_drain", 3), ("hrf_power", 3), ("alternating_scheduler", 6), ("hrf", 8)],
    sizes: &[],
};

/// The paper's file: as many entries as a warp has registers, so that a buffer is never full.
fn paper() -> Config {
    preset("hrf").expect("a preset").config
}

/// A file whose buffers fill, with a number of entries that is no power of two; few places everywhere.
fn small() -> Config {
    let mut config = paper();
    (config.mrf.kilobytes, config.mrf.collectors, config.sm.warps) = (32, 4, 16);
    (config.hrf.buffer_entries, config.hrf.load_entries) = (6, 2);
    config
}

fn entries(mut config: Config, entries: usize) -> Config {
    config.hrf.buffer_entries = entries;
    config
}

fn gated(mut config: Config, powered: usize) -> Config {
    (config.hrf.gating, config.hrf.powered_entries) = (true, powered);
    config
}

fn latencies(mut config: Config, write: usize, read: usize) -> Config {
    (config.hrf.write_latency, config.hrf.read_latency) = (write, read);
    config
}

fn patient(mut config: Config, patience: usize) -> Config {
    config.sm.patience = patience;
    config
}

fn warps(warps: usize) -> Config {
    let mut config = patient(paper(), 5);
    config.sm.warps = warps;
    config
}

/// The configuration of the audit: in the whole file a read takes several cycles, and every strap is in use.
fn audited(block: &str) -> Option<Config> {
    (block == "hrf").then(|| latencies(gated(small(), 4), 9, 2))
}

/// Configurations in which mutants run. Straps of the whole file have an effect only if there is such a file.
fn mutated(block: &str, base: Config) -> Vec<Config> {
    let alone = Config { sm: base.sm, hrf: HrfConfig { stt_ram: true, ..base.hrf }, ..alone(base) };
    let file = || changed(alone, |c| c.mrf.kilobytes = 32);
    match block {
        "alternating_scheduler" => vec![base, changed(base, |c| c.sm.patience = 0)],
        "hrf_results" => vec![base, changed(base, |c| c.hrf.buffer_entries = 0)],
        "hrf" => {
            let small = HrfConfig { buffer_entries: 6, load_entries: 2, powered_entries: 4, ..file().hrf };
            let small = HrfConfig { write_latency: 9, read_latency: 2, ..small };
            vec![file(), changed(file(), |c| c.hrf = small), entries(file(), 0)]
        }
        _ => Vec::new(),
    }
}

/// Configurations of a block in the whole suite. The straps of the file's parts are drawn by their stimulus.
fn few(block: &str) -> Vec<Config> {
    match block {
        // Comparisons are judged in the last configuration: with buffers.
        "hrf_results" => vec![paper(), entries(small(), 0), small()],
        "hrf" => vec![
            // The sizes of the paper with gated entries; buffers that fill, gated and with other latencies; no buffers.
            gated(paper(), 16),
            gated(entries(paper(), 20), 16),
            gated(small(), 4),
            latencies(small(), 9, 2),
            latencies(entries(small(), 5), 1, 4),
            entries(small(), 0),
            entries(paper(), 0),
        ],
        "alternating_scheduler" => {
            // Few warps; a number of warps that is no power of two, so that a slot's number may be that of no warp. Comparisons are judged in the
            // last configuration.
            let patience = [0, 2048, 4095, 3].into_iter();
            [8, 48].map(warps).into_iter().chain(patience.map(|patience| patient(paper(), patience))).collect()
        }
        _ if block.starts_with("hrf_") => vec![paper(), small()],
        _ => Vec::new(),
    }
}

/// Further configurations of the long run: every pair of a buffer's sizes, with other sizes.
fn more(block: &str) -> Vec<Config> {
    if !block.starts_with("hrf") {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (e, entries) in [4, 5, 16, 32, 63].into_iter().enumerate() {
        for (l, loads) in [2, 4, 16].into_iter().enumerate() {
            let mut config = paper();
            (config.hrf.buffer_entries, config.hrf.load_entries) = (entries, loads);
            config.mrf.collectors = [4, 8, 16][(e + l) % 3];
            config.mrf.kilobytes = [32, 64, 128, 256][(e + 2 * l) % 4];
            all.push(config);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_is_allowed() {
        for block in ["hrf", "hrf_results"] {
            for config in few(block).into_iter().chain(more(block)) {
                let start = gpurf_blocks::config::Start::Preset("baseline");
                assert_eq!(Config::load(start, &config.settings()), Ok(config), "{block}");
            }
        }
    }
}

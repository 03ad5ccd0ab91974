//! Shapes of the register file without conflicts.

use gpurf_blocks::config::{Config, IdealConfig, MrfConfig};

use super::{Family, alone, changed};

/// The runs of the suites for this design.
pub(super) const FAMILY: Family = Family {
    design: "mrf_ideal",
    kernel: "srad",
    is_own: |block| block.starts_with("mrf_ideal"),
    few,
    more,
    audited: |block| block.starts_with("mrf_ideal").then(|| shape(8, 8, 2)),
    shrink: |_| {},
    mutated,
    runs_whole: &[],
    stretch: &[],
    sizes: &[],
};

/// The preset with these numbers of banks, collectors and issue ports; 128 KB.
fn shape(banks: usize, collectors: usize, issue_ports: usize) -> Config {
    let preset = FAMILY.config();
    Config { mrf: MrfConfig { banks, collectors, issue_ports, ..preset.mrf }, ..preset }
}

/// A file with so few words that accesses meet at the same word.
fn small(issue_ports: usize) -> Config {
    let mut config = shape(4, 4, issue_ports);
    (config.mrf.kilobytes, config.sm.warps) = (16, 16);
    config
}

/// Configurations in which mutants run.
fn mutated(block: &str, base: Config) -> Vec<Config> {
    let ideal = |config| changed(alone(config), |c| c.ideal.present = true);
    match block {
        "operand_stage" => vec![ideal(base)],
        _ if block.starts_with("mrf_ideal") => vec![ideal(base), changed(ideal(base), |c| c.mrf.issue_ports = 1)],
        _ => Vec::new(),
    }
}

/// Configurations of a block in the whole suite.
fn few(block: &str) -> Vec<Config> {
    match block {
        _ if block.starts_with("mrf_ideal") => vec![shape(16, 8, 1), small(1), shape(8, 8, 2), small(2)],
        "operand_stage" => {
            vec![Config { ideal: IdealConfig { present: true }, ..Config::default() }, shape(8, 8, 2)]
        }
        _ => Vec::new(),
    }
}

/// Further configurations of the long run: banks and collectors in every pair.
fn more(block: &str) -> Vec<Config> {
    let shapes = || {
        let pair = |banks| [4, 8, 16].map(|collectors| (banks, collectors));
        [2, 4, 8, 16, 32].into_iter().flat_map(pair).flat_map(|(b, c)| [1, 2].map(|ports| shape(b, c, ports)))
    };
    if block.starts_with("mrf_ideal") { shapes().collect() } else { Vec::new() }
}

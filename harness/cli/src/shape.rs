//! Shapes in few words.

use gpurf_blocks::Shape;
use gpurf_blocks::config::{Config, ReadOrder, Replacement, Scheduler};
use gpurf_blocks::mrf::MrfShape;

/// What the words mean.
pub const LEGEND: &str = "shape: b banks, 1rw or 1r1w ports, c collectors, i issue ports, e entries a bank, t tag bits, w warps, a active ones, x entries of the register file cache, LRF: one above it, reads: they allocate, y entries of a write buffer, q places of a bank's queue, steal: idle banks are stolen";

/// RTL parameters, in the order in which they are shown.
const PARAMETERS: [&str; 6] = ["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "TagW"];

/// A shape in words.
pub fn words_of(shape: &MrfShape) -> String {
    words(&PARAMETERS.map(|name| (name, shape.parameter(name))))
}

/// RTL parameters in words.
pub fn words(parameters: &[(&str, u64)]) -> String {
    // The SM has too many to show them all; `--json` has them.
    const QUIET: [&str; 4] = ["CodeWords", "ConstWords", "SharedWords", "Rows"];
    let many = parameters.len() > PARAMETERS.len();
    // What concerns the hybrid register file is shown where there is one.
    const HYBRID: [&str; 3] = ["Alternate", "Hybrid", "BufferEntries"];
    let other = parameters.contains(&("Hybrid", 0));
    let absent = |name: &str, value: u64| HYBRID.contains(&name) && value == 0 || name == "Loads" && other;
    let word = |&(name, value): &(&str, u64)| match name {
        "Banks" => format!("{value}b"),
        "DualPort" => (if value == 0 { "1rw" } else { "1r1w" }).to_owned(),
        "Collectors" => format!("{value}c"),
        "IssuePorts" => format!("{value}i"),
        "Depth" => format!("{value}e"),
        "TagW" => format!("{value}t"),
        "Warps" => format!("{value}w"),
        "Active" => format!("{value}a"),
        "Entries" => format!("{value}x"),
        "Lrf" => (if value == 0 { "" } else { "LRF" }).to_owned(),
        "Reads" => (if value == 0 { "" } else { "reads" }).to_owned(),
        "Alternate" => "alternating".to_owned(),
        "Hybrid" => "stt-ram".to_owned(),
        "Steal" => (if value == 0 { "" } else { "steal" }).to_owned(),
        "BufferEntries" => format!("{value}y"),
        "Loads" => format!("{value}q"),
        _ => format!("{name}={value}"),
    };
    let shown = |&&(name, value): &&(&str, u64)| !(many && QUIET.contains(&name) || absent(name, value));
    let words = parameters.iter().filter(shown).map(word);
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What the straps of a block choose, in words.
pub fn policy(block: &str, config: &Config) -> String {
    let reads = match config.mrf.read_order {
        ReadOrder::RoundRobin => "reads round-robin",
        ReadOrder::Oldest => "oldest read",
    };
    let scheduler = match config.sm.scheduler {
        Scheduler::RoundRobin => "round-robin",
        Scheduler::GreedyThenOldest => "greedy, oldest",
    };
    let cache = [
        match config.rfc.replacement {
            Replacement::Fifo => "FIFO",
            Replacement::Lru => "LRU",
        },
        if config.rfc.live { "live" } else { "" },
        if config.rfc.bypass { "bypass" } else { "" },
        if config.rfc.loads { "loads" } else { "" },
    ];
    let cache = cache.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    let two_level = match (config.sm.scheduler, config.sm.stay) {
        (Scheduler::RoundRobin, false) => format!("two-level round-robin, patience {}", config.sm.patience),
        (Scheduler::GreedyThenOldest, false) => format!("two-level greedy, patience {}", config.sm.patience),
        (Scheduler::RoundRobin, true) => "two-level round-robin, stay".to_owned(),
        (Scheduler::GreedyThenOldest, true) => "two-level greedy, stay".to_owned(),
    };
    let cached = config.rfc.entries != 0;
    let alternating = format!("alternating, patience {}", config.sm.patience);
    let hrf = &config.hrf;
    let gating = match (hrf.gating, hrf.powered_entries, hrf.wake_cycles, hrf.sleep_cycles) {
        (false, ..) => "no gating".to_owned(),
        (true, powered, wake, sleep) => format!("{powered} entries powered, wake {wake}, sleep {sleep}"),
    };
    let hybrid = format!("write {}, read {}; {gating}", hrf.write_latency, hrf.read_latency);
    let steal = [
        if config.steal.read { "read stealing" } else { "" },
        if config.steal.write { "write stealing" } else { "" },
        if config.steal.eager { "eager" } else { "" },
    ];
    let steal = steal.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    let stealing = format!("{reads}; {}", if steal.is_empty() { "no stealing" } else { &steal });
    let orf = &config.orf;
    let steps = [
        if orf.partial_ranges { "" } else { "; no partial ranges" },
        if orf.read_operands { "" } else { "; no read operands" },
        if orf.forward_branches { "" } else { "; no forward branches" },
    ]
    .concat();
    match block {
        "sm" => {
            let scheduler = match (config.sm.alternate, config.sm.active_warps) {
                (true, _) => &alternating,
                (false, 0) => scheduler,
                (false, _) => &two_level,
            };
            let cache = if cached { format!("; {cache}") } else { String::new() };
            let file = match (hrf.stt_ram, config.steal.present) {
                (true, _) => &hybrid,
                (false, true) => &stealing,
                (false, false) => reads,
            };
            format!("{scheduler}; {file}{cache}{}", if orf.entries == 0 { "" } else { &steps })
        }
        "alternating_scheduler" => alternating,
        "operand_stage" if hrf.stt_ram => hybrid,
        "operand_stage" if config.steal.present => stealing,
        "steal" | "steal_arbiter" => stealing,
        _ if block.starts_with("hrf") => hybrid,
        "two_level_scheduler" => two_level,
        "rfc" => format!("{reads}; {cache}"),
        "operand_stage" if cached => format!("{reads}; {cache}"),
        "rfc_tags" => cache,
        "rfc_lrf" => (if config.rfc.live { "live" } else { "" }).to_owned(),
        "warp_scheduler" => scheduler.to_owned(),
        "result_queue" => format!("latency {}", config.sm.shared_latency),
        "shared_memory" => format!("{} B a cycle", config.sm.shared_bandwidth),
        _ => reads.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_in_words() {
        assert_eq!(words_of(&MrfShape::BASELINE), "16b 1rw 8c 1i 64e 32t");
    }

    #[test]
    fn the_compilers_steps_in_words() {
        let start = gpurf_blocks::config::Start::Preset("lrf-orf");
        let config = Config::load(start, &["orf.read_operands=false", "orf.partial_ranges=false"]).expect("allowed");
        assert!(policy("sm", &config).ends_with("; oldest read; no partial ranges; no read operands"));
        assert!(policy("hierarchy", &config).ends_with("oldest read"));
    }

    #[test]
    fn stealing_in_words() {
        let preset = |name: &str| gpurf_blocks::config::preset(name).expect("a preset").config;
        let (all, none) = (preset("steal-8"), preset("banks-8"));
        assert_eq!(policy("steal", &all), "oldest read; read stealing, write stealing");
        assert_eq!(policy("sm", &all), "greedy, oldest; oldest read; read stealing, write stealing");
        assert_eq!(policy("operand_stage", &preset("steal-read-8")), "oldest read; read stealing");
        assert_eq!(
            (policy("operand_stage", &none), policy("steal_arbiter", &none)),
            ("oldest read".into(), "oldest read; no stealing".into())
        );
        let shape = all.sm_shape();
        let parameters = ["Banks", "Steal"].map(|name| (name, shape.parameter(name)));
        assert_eq!((words(&parameters), words(&[("Steal", 0)])), ("8b steal".into(), String::new()));
    }
}

//! Short descriptions of shapes and policies.

use gpurf_blocks::Shape;
use gpurf_blocks::config::{
    CheckRule, Config, Gather, LockRule, PowerConfig, PowerMode, ReadOrder, Replacement, Scheduler, ShareConfig,
};
use gpurf_blocks::design::STAGE;
use gpurf_blocks::designs::{DESIGNS, Organisation};
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::shape::Shared;

/// Units at the end of a shape's words, and their meaning.
const UNITS: [(&str, &str); 9] = [
    ("b", "b banks"),
    ("rw", "1rw or 1r1w ports"),
    ("c", "c collectors"),
    ("i", "i issue ports"),
    ("e", "e entries a bank"),
    ("t", "t tag bits"),
    ("w", "w warps"),
    ("a", "a active ones"),
    ("p", "p entries of a warp in the access table"),
];

/// A legend of the words in these shapes and of these designs.
pub fn legend(designs: &[&str], shapes: &[&str]) -> String {
    let words = || shapes.iter().flat_map(|shape| shape.split_whitespace());
    let has = |unit: &str| words().any(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()) == unit);
    let ports = || words().any(|word| ["1rw", "1r1w"].contains(&word));
    let units = UNITS.iter().filter(|(unit, _)| if *unit == "rw" { ports() } else { has(unit) });
    let units: Vec<&str> = units.map(|(_, meaning)| *meaning).collect();
    let own = if units.is_empty() { "shape".to_owned() } else { format!("shape: {}", units.join(", ")) };
    let there = DESIGNS.iter().filter(|design| designs.contains(&design.name));
    let legends = there.map(|design| design.legend).filter(|legend| !legend.is_empty());
    std::iter::once(own.as_str()).chain(legends).collect::<Vec<_>>().join(", ")
}

/// Parameters of the register file's RTL, in display order.
const PARAMETERS: [&str; 6] = ["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "TagW"];

/// Describes a shape.
pub fn words_of(shape: &MrfShape) -> String {
    words(&PARAMETERS.map(|name| (name, shape.parameter(name))))
}

/// Describes RTL parameters.
pub fn words(parameters: &[(&str, u64)]) -> String {
    // Parameters of the SM that are not shown, as it has too many; `--json` has them.
    const QUIET: [&str; 4] = ["CodeWords", "ConstWords", "SharedWords", "Rows"];
    let many = parameters.len() > PARAMETERS.len();
    let design =
        parameters.iter().find(|(name, _)| *name == "Organisation").map(|&(_, number)| DESIGNS[number as usize]);
    let cached = parameters.iter().any(|&(name, lines)| name == "CacheLines" && lines != 0);
    let word = |&(name, value): &(&str, u64)| match name {
        "Banks" => format!("{value}b"),
        "DualPort" => (if value == 0 { "1rw" } else { "1r1w" }).to_owned(),
        "Collectors" => format!("{value}c"),
        "IssuePorts" => format!("{value}i"),
        "Depth" => format!("{value}e"),
        "TagW" => format!("{value}t"),
        "Warps" => format!("{value}w"),
        "Active" => format!("{value}a"),
        "Alternate" => (if value == 0 { "" } else { "alternating" }).to_owned(),
        "Places" => (if value == 0 { "" } else { "places" }).to_owned(),
        "Unified" => {
            ["", "unified", "unified, ports apart"].get(value as usize).copied().unwrap_or_default().to_owned()
        }
        "Separate" => (if value == 0 { "" } else { "ports apart" }).to_owned(),
        "Share" => ["", "shared", "scratchpad"].get(value as usize).copied().unwrap_or_default().to_owned(),
        "Shares" => (if value == 0 { "" } else { "scratchpad" }).to_owned(),
        "Classes" => (if value == 0 { "" } else { "classes" }).to_owned(),
        "Throttle" if value == 0 => String::new(),
        "Throttle" => format!("throttle={value}"),
        "Reference" => ["", "external", "held"][value as usize].to_owned(),
        "PowerEntries" if value == 0 => String::new(),
        "PowerEntries" | "TableEntries" => format!("{value}p"),
        "CacheLines" | "CacheWays" | "CacheMisses" if !cached => String::new(),
        "CacheLines" => format!("{value}-line cache"),
        "CacheWays" => format!("{value} ways"),
        "CacheMisses" => format!("{value} misses"),
        "Organisation" => String::new(),
        "Sizes" => design.map_or_else(String::new, |design| (design.size_words)(value as u32)),
        _ => format!("{name}={value}"),
    };
    let words = parameters.iter().filter(|(name, _)| !(many && QUIET.contains(name))).map(word);
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Describes the policies that the straps of a block select.
pub fn policy(block: &str, config: &Config) -> String {
    let reads = match config.mrf.read_order {
        ReadOrder::RoundRobin => "reads round-robin",
        ReadOrder::Oldest => "oldest read",
    };
    let single_level = match config.sm.scheduler {
        Scheduler::RoundRobin => "round-robin",
        Scheduler::GreedyThenOldest => "greedy, oldest",
    };
    let two_level = match (config.sm.scheduler, config.sm.stay) {
        (Scheduler::RoundRobin, false) => format!("two-level round-robin, patience {}", config.sm.patience),
        (Scheduler::GreedyThenOldest, false) => format!("two-level greedy, patience {}", config.sm.patience),
        (Scheduler::RoundRobin, true) => "two-level round-robin, stay".to_owned(),
        (Scheduler::GreedyThenOldest, true) => "two-level greedy, stay".to_owned(),
    };
    let two_level = if config.sm.handover { format!("{two_level}, handover") } else { two_level };
    let alternating = format!("alternating, patience {}", config.sm.patience);
    let file = || {
        let design = Organisation::of(config).design();
        (design.policy_words)(STAGE, config, reads).unwrap_or_else(|| reads.to_owned())
    };
    match block {
        "sm" => {
            let scheduler = match config.sm_shape().scheduler() {
                "warp_scheduler" => single_level,
                "two_level_scheduler" => &two_level,
                _ => &alternating,
            };
            let states = if config.power.present { format!("; {}", power(&config.power)) } else { String::new() };
            let locks = match config.sm_shape().share {
                Shared::Nothing => String::new(),
                Shared::Registers => format!("; {}", share(&config.share)),
                Shared::Scratchpad => format!("; {}", scratchpad(&config.share)),
            };
            let cache = if config.sm_shape().caches() { format!("; {}", cache(config)) } else { String::new() };
            let gather = if config.sm_shape().unified() { format!(", {}", gather(config)) } else { String::new() };
            format!("{scheduler}; {}{states}{locks}{cache}{gather}", file())
        }
        STAGE => file(),
        "alternating_scheduler" => alternating,
        "two_level_scheduler" => two_level,
        "warp_scheduler" => single_level.to_owned(),
        "result_queue" => format!("latency {}", config.sm.shared_latency),
        "power_states" => power(&config.power),
        "cache" => cache(config),
        "cache_tags" => replacement(config).to_owned(),
        "share_locks" => share(&config.share),
        "scratchpad_locks" => scratchpad(&config.share),
        "block_launcher" => format!("{} blocks", config.sm.blocks),
        "shared_memory" => format!("{} B a cycle", config.sm.shared_bandwidth),
        "unified_shared" => format!("{} B a cycle, {}", config.sm.shared_bandwidth, gather(config)),
        _ => {
            let words = DESIGNS.iter().find_map(|design| (design.policy_words)(block, config, reads));
            words.unwrap_or_else(|| reads.to_owned())
        }
    }
}

/// Describes the replacement policy of the data cache.
fn replacement(config: &Config) -> &'static str {
    match config.cache.replacement {
        Replacement::Lru => "least recently used line",
        Replacement::Fifo => "first line in, first out",
    }
}

/// Describes the policies that the straps of the data cache select.
fn cache(config: &Config) -> String {
    let full = if config.cache.full_stores { ", whole lines stored" } else { "" };
    let hints = if config.cache.hints { ", hints" } else { "" };
    format!("{}{full}{hints}", replacement(config))
}

/// Describes which lanes a pass of the scratchpad in unified memory serves.
fn gather(config: &Config) -> &'static str {
    match config.unified.gather {
        Gather::Simple => "one row a cluster",
        Gather::Aggressive => "several rows a cluster",
    }
}

/// Describes the policies that the straps of power states select.
fn power(config: &PowerConfig) -> String {
    let mode = match config.mode {
        PowerMode::AlwaysOn => "always on",
        PowerMode::SleepAlways => "sleep always",
        PowerMode::Hints => "hints",
        PowerMode::Greener => "greener",
    };
    format!("{mode}, wake-up {} from SLEEP, {} from OFF", config.wake_sleep, config.wake_off)
}

/// Describes the policies that the straps of locks select.
fn share(config: &ShareConfig) -> String {
    let lock = match config.lock {
        LockRule::Oldest if config.hold_atomics => "lock for the oldest, atomics held",
        LockRule::Oldest => "lock for the oldest",
        LockRule::First => "lock for the first",
    };
    if config.owner_first { format!("{lock}, owners first") } else { lock.to_owned() }
}

/// Describes the policies that the straps of scratchpad locks select.
fn scratchpad(config: &ShareConfig) -> String {
    let check = match config.check {
        CheckRule::Probe => "probes",
        CheckRule::Mark => "marks",
    };
    format!("{}, {check}", share(config))
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Start;

    use super::*;

    #[test]
    fn the_baseline_in_words() {
        assert_eq!(words_of(&MrfShape::BASELINE), "16b 1rw 8c 1i 64e 32t");
    }

    #[test]
    fn power_states_in_words() {
        let load = |settings: &[&str]| Config::load(Start::Preset("greener"), settings).expect("a configuration");
        let mut config = load(&["power.wake_off=5"]);
        assert_eq!(policy("power_states", &config), "greener, wake-up 1 from SLEEP, 5 from OFF");
        assert_eq!(policy("sm", &config), "round-robin; oldest read; greener, wake-up 1 from SLEEP, 5 from OFF");
        config.power.present = false;
        assert_eq!(policy("sm", &config), "round-robin; oldest read");
        let entries = |config: &Config| words(&[("PowerEntries", config.sm_shape().parameter("PowerEntries"))]);
        assert_eq!((entries(&load(&["power.table_entries=3"])), entries(&config)), ("3p".to_owned(), String::new()));
        assert_eq!(words(&[("TableEntries", 2)]), "2p");
    }

    #[test]
    fn sharing_in_words() {
        let load =
            |settings: &[&str]| Config::load(Start::Preset("share-registers"), settings).expect("a configuration");
        let config = load(&[]);
        assert_eq!(policy("share_locks", &config), "lock for the oldest, atomics held, owners first");
        assert_eq!(policy("block_launcher", &config), "8 blocks");
        let all = "greedy, oldest; oldest read; lock for the oldest, atomics held, owners first";
        assert_eq!(policy("sm", &config), all);
        let other = load(&["share.lock=first", "share.owner_first=false"]);
        assert_eq!(policy("share_locks", &other), "lock for the first");
        let shape = config.sm_shape();
        let shown = |shape: &gpurf_blocks::shape::SmShape| {
            words(&["Places", "Share", "Classes"].map(|name| (name, shape.parameter(name))))
        };
        let throttled = load(&["share.throttle=50"]).sm_shape();
        assert_eq!(words(&["Share", "Throttle"].map(|name| (name, throttled.parameter(name)))), "shared throttle=50");
        assert_eq!(words(&["Share", "Throttle"].map(|name| (name, shape.parameter(name)))), "shared");
        let external = load(&["share.throttle=50", "share.reference=external"]).sm_shape();
        let names = ["Share", "Throttle", "Reference"];
        assert_eq!(words(&names.map(|name| (name, external.parameter(name)))), "shared throttle=50 external");
        assert_eq!(
            (shown(&shape), shown(&Config::default().sm_shape())),
            ("places shared classes".into(), String::new())
        );
        let config = Config::load(Start::Preset("share-scratchpad"), &["share.check=mark"]).expect("a configuration");
        assert_eq!(policy("scratchpad_locks", &config), "lock for the oldest, atomics held, owners first, marks");
        assert!(policy("sm", &config).ends_with("owners first, marks"));
        let shape = config.sm_shape();
        assert_eq!(words(&["Share", "Shares"].map(|name| (name, shape.parameter(name)))), "scratchpad scratchpad");
    }

    #[test]
    fn every_design_in_words() {
        for design in DESIGNS {
            let config = design.config();
            let file = (design.policy_words)(STAGE, &config, "oldest read").unwrap_or_else(|| "oldest read".into());
            assert_eq!(policy(STAGE, &config), file);
            assert!(policy("sm", &config).ends_with(&format!(" {file}")), "{}", design.name);
            let shape = config.sm_shape();
            let parameters = ["Banks", "Organisation", "Sizes"].map(|name| (name, shape.parameter(name)));
            let words = format!("{}b {}", config.mrf.banks, (design.size_words)(shape.parameter("Sizes") as u32));
            assert_eq!(super::words(&parameters), words.trim_end());
        }
    }
}

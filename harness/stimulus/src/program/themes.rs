//! Themes: predefined weights.

use gpurf_blocks::config::{Config, SharedResource};

use super::weights::{Mix, Patterns, Weights, Windows};

/// The theme that a file of weights modifies if it names none.
pub const DEFAULT: &str = "mixed";

/// Chance of a launch that fills the SM, in two themes: among six programs of each there is nearly always such a launch.
const FULL: u32 = 500;

/// Weights with a name.
pub struct Theme {
    /// The name of the theme.
    pub name: &'static str,
    /// The purpose of the theme, in one line.
    pub summary: &'static str,
    change: fn(&mut Weights),
    /// Configurations that it concerns: only their runs of programs use it.
    concerns: fn(&Config) -> bool,
}

impl Theme {
    /// The weights of the theme.
    pub fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        (self.change)(&mut weights);
        weights
    }
}

/// Every theme.
pub const THEMES: &[Theme] = &[
    Theme { name: DEFAULT, summary: "some of everything", change: mixed, concerns: all },
    Theme {
        name: "dependences",
        summary: "chains of reads and writes of the same few registers",
        change: dependences,
        concerns: all,
    },
    Theme {
        name: "divergence",
        summary: "branches in branches, loops that lanes leave, ends of lanes",
        change: divergence,
        concerns: all,
    },
    Theme {
        name: "barriers",
        summary: "barriers of all and of some warps, warps that end early, flags",
        change: barriers,
        concerns: all,
    },
    Theme {
        name: "memory",
        summary: "all memories, widths, patterns, generic addresses",
        change: memory,
        concerns: all,
    },
    Theme {
        name: "conflicts",
        summary: "banks of registers and of shared memory, constants",
        change: conflicts,
        concerns: all,
    },
    Theme {
        name: "latency",
        summary: "results of global memory that are read, overwritten, never used",
        change: latency,
        concerns: all,
    },
    Theme {
        name: "atomics",
        summary: "atomic operations of lanes, warps and blocks on the same words",
        change: atomics,
        concerns: all,
    },
    Theme { name: "arithmetic", summary: "operations on integers and floats", change: arithmetic, concerns: all },
    Theme {
        name: "registers",
        summary: "200 to 255 registers of few warps, pairs of them whose numbers differ in one bit",
        change: registers,
        concerns: all,
    },
    Theme {
        name: "textures",
        summary: "fetches from textures of all formats, beside other accesses to memory",
        change: textures,
        concerns: all,
    },
    Theme {
        name: "extents",
        summary: "grids of more than 256 blocks along y or z; buffers across 2 GiB and just below 4 GiB",
        change: extents,
        concerns: all,
    },
    Theme {
        name: "lines",
        summary: "loads, stores and atomic operations of different warps in the same lines of global memory",
        change: lines,
        concerns: |config| config.cache.kilobytes != 0,
    },
    Theme {
        name: "power",
        summary: "200 to 255 registers that are not accessed for long, or sooner than their marks say",
        change: power,
        concerns: |config| config.power.present,
    },
    Theme {
        name: "sharing",
        summary: "many blocks of few warps, as many as find registers only by sharing, with warps that end early",
        change: sharing,
        concerns: |config| config.share.present && config.share.resource == SharedResource::Registers,
    },
    Theme {
        name: "scratchpad",
        summary: "many blocks of few warps, as many as find shared memory only by sharing, with releases",
        change: scratchpad,
        concerns: |config| config.share.present && config.share.resource == SharedResource::Scratchpad,
    },
];

fn all(_: &Config) -> bool {
    true
}

/// The themes that a run of programs uses in turn in a configuration.
pub fn of(config: &Config) -> impl Iterator<Item = &'static Theme> + Clone {
    let config = *config;
    THEMES.iter().filter(move |theme| (theme.concerns)(&config))
}

/// The theme of that name.
pub fn find(name: &str) -> Option<&'static Theme> {
    THEMES.iter().find(|theme| theme.name == name)
}

/// The names of all themes, separated by commas.
pub fn names() -> String {
    THEMES.iter().map(|theme| theme.name).collect::<Vec<_>>().join(", ")
}

/// Adds quotas.
fn quotas(weights: &mut Weights, quotas: &[(&str, u64)]) {
    weights.quotas.extend(quotas.iter().map(|&(point, quota)| (point.to_owned(), quota)));
}

/// So many registers that a file of 32 KB holds two to six blocks, and so many blocks that each slot is used several times.
fn sharing(weights: &mut Weights) {
    weights.mix = Mix { barrier: 60, meeting: 20, end_warp: 120, access: 300, ..Mix::default() };
    let chances = &mut weights.chances;
    (chances.warps_end, chances.raw, chances.ordered, chances.result) = (900, 300, 800, 900);
    (weights.sizes.registers, weights.sizes.warps, weights.sizes.blocks) = ([20, 56], [1, 4], [12, 24]);
    quotas(weights, &[("a warp ends before others of its block", 1)]);
}

/// So much shared memory that 4 KB hold one or two blocks, and so many blocks that each slot is used several times.
fn scratchpad(weights: &mut Weights) {
    weights.mix = Mix { barrier: 60, meeting: 20, end_warp: 60, access: 500, branch: 60, ..Mix::default() };
    weights.windows = Windows { shared_own: 120, shared_other: 60, shared_sums: 60, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.warps_end, chances.generic, chances.mixed, chances.ordered, chances.result) = (300, 300, 500, 500, 900);
    chances.two_speeds = 400;
    (weights.sizes.shared_words, weights.sizes.section) = ([32, 128], [6, 16]);
    (weights.sizes.registers, weights.sizes.warps, weights.sizes.blocks) = ([24, 28], [1, 4], [12, 24]);
    quotas(weights, &[("load B32 from shared memory", 2)]);
}

/// Fetches among loads, stores and floats, which give coordinates.
fn textures(weights: &mut Weights) {
    weights.mix = Mix { texture: 200, float: 200, integer: 150, access: 200, ..Mix::default() };
    weights.windows = Windows { floats: 40, ..Windows::default() };
    (weights.chances.raw, weights.chances.waw, weights.chances.war) = (400, 200, 300);
    quotas(weights, &[("TEX", 40)]);
}

fn mixed(weights: &mut Weights) {
    weights.chances.two_speeds = 300;
    quotas(
        weights,
        &[("branch splits the lanes", 20), ("barrier of all warps", 2), ("load B32 from global memory", 10)],
    );
}

fn dependences(weights: &mut Weights) {
    weights.mix = Mix { integer: 500, float: 150, lanes: 80, access: 120, branch: 20, ..Mix::default() };
    let chances = &mut weights.chances;
    (chances.raw, chances.war, chances.waw, chances.near) = (650, 500, 300, 600);
    (chances.guard, chances.predicate, chances.carry) = (400, 600, 600);
    weights.sizes.registers = [24, 28];
    weights.sizes.warps = [1, 3];
    quotas(
        weights,
        &[
            ("read after write, next instruction", 200),
            ("write after read, up to 4 instructions", 200),
            ("write after write, up to 4 instructions", 200),
            ("carry of an addition used by an addition", 6),
        ],
    );
}

fn divergence(weights: &mut Weights) {
    let mix = Mix { branch: 130, r#loop: 40, leave: 60, exit: 8, nest: 20, lanes: 90, access: 120, ..Mix::default() };
    weights.mix = mix;
    (weights.chances.divergent, weights.chances.unwritten, weights.chances.all_end) = (850, 300, 500);
    weights.sizes.nest = [14, 31];
    weights.sizes.depth = [3, 6];
    weights.sizes.section = [12, 24];
    quotas(
        weights,
        &[("branch splits the lanes", 100), ("loop left by some lanes", 4), ("20 or more groups wait", 10)],
    );
}

fn barriers(weights: &mut Weights) {
    weights.mix = Mix { barrier: 120, meeting: 250, end_warp: 60, exit: 40, spin: 12, branch: 40, ..Mix::default() };
    weights.windows = Windows { shared_own: 60, shared_other: 60, shared_sums: 20, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.divergent, chances.warps_end, chances.partial, chances.all_end) = (400, 500, 500, 700);
    weights.sizes.warps = [2, 12];
    weights.sizes.blocks = [1, 6];
    quotas(weights, &[("barrier of all warps", 20)]);
}

fn memory(weights: &mut Weights) {
    weights.mix = Mix { integer: 150, float: 40, access: 400, barrier: 20, ..Mix::default() };
    let chances = &mut weights.chances;
    (chances.generic, chances.mixed, chances.narrow, chances.vector) = (350, 450, 500, 350);
    chances.two_speeds = 400;
    weights.sizes.blocks = [2, 8];
    quotas(
        weights,
        &[
            ("access of 3 to 8 lines", 10),
            ("store B8 to shared memory", 4),
            ("load S16 from constant memory", 4),
            ("access of 17 or more lines", 4),
            ("generic access to two memories", 4),
        ],
    );
}

fn conflicts(weights: &mut Weights) {
    weights.mix = Mix { access: 250, branch: 25, float: 250, lanes: 200, special: 120, ..Mix::default() };
    let shared = Windows { shared_own: 80, shared_other: 100, shared_sums: 20, constant: 90, ..Windows::default() };
    weights.windows = Windows { own: 20, input: 20, ..shared };
    weights.patterns = Patterns { unit: 10, strided: 60, apart: 60, data: 40, ..Patterns::default() };
    let chances = &mut weights.chances;
    (chances.same_bank, chances.narrow, chances.war) = (900, 150, 350);
    (chances.raw, chances.waw, chances.same_register) = (250, 350, 20);
    weights.memory.bandwidth = 128;
    weights.sizes.registers = [40, 96];
    weights.sizes.shared_words = [512, 1024];
    weights.sizes.warps = [2, 6];
    weights.sizes.trips = [1, 3];
    quotas(
        weights,
        &[
            ("two sources in a bank", 100),
            ("three sources in a bank", 20),
            ("shared access of 9 to 16 words in a bank", 10),
            ("shared access of 17 or more words in a bank", 10),
        ],
    );
}

fn latency(weights: &mut Weights) {
    weights.mix = Mix { access: 350, integer: 250, float: 60, branch: 25, ..Mix::default() };
    weights.windows = Windows { own: 60, input: 40, local: 30, shared_own: 8, shared_other: 8, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.raw, chances.waw, chances.war, chances.store) = (350, 250, 350, 300);
    // Memory answers as fast as requests come, so that bursts have lines in flight until the line table is full.
    chances.burst = 250;
    (chances.full, chances.crowd) = (FULL, 1000);
    weights.memory.bandwidth = 128;
    weights.sizes.registers = [24, 32];
    weights.sizes.warps = [4, 8];
    weights.sizes.blocks = [4, 12];
    quotas(
        weights,
        &[
            ("result of a load overwritten, up to 4 instructions", 10),
            ("result of a global load read, up to 4 instructions", 20),
        ],
    );
}

fn atomics(weights: &mut Weights) {
    weights.mix = Mix { access: 350, integer: 220, float: 40, ..Mix::default() };
    weights.windows = Windows { sums: 80, shared_sums: 80, own: 40, shared_own: 40, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.atomic, chances.ordered, chances.cas, chances.store) = (500, 1000, 150, 600);
    weights.patterns = Patterns { uniform: 30, grouped: 25, ..Patterns::default() };
    quotas(
        weights,
        &[
            ("atomic operation of lanes on one word", 20),
            ("atomic INC on global memory", 4),
            ("atomic DEC on global memory", 4),
            ("atomic CAS on global memory", 4),
            ("atomic DEC on shared memory", 4),
        ],
    );
}

fn arithmetic(weights: &mut Weights) {
    weights.mix = Mix { integer: 500, float: 600, fresh: 120, access: 100, branch: 25, ..Mix::default() };
    // A load of many different constants occupies the result bus for as many cycles, while results of arithmetic wait.
    weights.windows = Windows { floats: 60, input: 30, constant: 120, ..Windows::default() };
    weights.patterns = Patterns { strided: 120, ..Patterns::default() };
    weights.sizes.warps = [4, 8];
    weights.sizes.blocks = [2, 8];
    let chances = &mut weights.chances;
    (chances.raw, chances.guard, chances.carry) = (250, 150, 550);
    (chances.full, chances.crowd) = (FULL, 1000);
    quotas(weights, &[("two sources in a bank", 20)]);
}

fn registers(weights: &mut Weights) {
    weights.mix = Mix { integer: 450, float: 100, lanes: 60, access: 250, branch: 20, ..Mix::default() };
    let chances = &mut weights.chances;
    (chances.alias, chances.raw, chances.war, chances.waw) = (500, 250, 300, 200);
    chances.burst = 600;
    weights.sizes.registers = [200, 255];
    weights.sizes.warps = [1, 2];
    quotas(weights, &[("read after write, next instruction", 100), ("register from R128 on written", 100)]);
}

fn extents(weights: &mut Weights) {
    weights.mix = Mix { access: 300, ..Mix::default() };
    weights.windows = Windows { own: 80, input: 40, sums: 40, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.high, chances.tall) = (1000, 1000);
    weights.sizes.warps = [1, 1];
    weights.sizes.blocks = [257, 300];
    weights.sizes.own_words = [64, 128];
    weights.sizes.section = [4, 8];
    weights.sizes.inner = [0, 2];
    weights.sizes.trips = [1, 2];
    quotas(weights, &[("instruction of a block from number 256 on", 20)]);
}

fn lines(weights: &mut Weights) {
    weights.mix = Mix { access: 450, integer: 150, float: 40, branch: 25, barrier: 15, ..Mix::default() };
    weights.windows = Windows { own: 90, input: 50, sums: 40, local: 40, floats: 10, ..Windows::default() };
    let chances = &mut weights.chances;
    (chances.interleaved, chances.narrow, chances.vector, chances.store) = (800, 450, 300, 450);
    (chances.generic, chances.atomic, chances.ordered, chances.burst) = (150, 600, 600, 200);
    // Loads that bypass the cache, and stores that allocate a line in it, access the same lines.
    (chances.bypass, chances.whole) = (250, 120);
    weights.sizes.warps = [2, 8];
    weights.sizes.blocks = [2, 6];
    // Few words: the same lines are accessed again, and are stored to while they are being loaded.
    weights.sizes.own_words = [64, 256];
    weights.sizes.local_words = [4, 16];
    quotas(
        weights,
        &[
            ("access of 3 to 8 lines", 20),
            ("access of 17 or more lines", 4),
            ("store B8 to global memory", 4),
            ("atomic operation of lanes on one word", 10),
            ("load past the data cache", 10),
            ("store to all bytes of a line", 10),
        ],
    );
}

fn power(weights: &mut Weights) {
    let mix = Mix { integer: 350, float: 200, lanes: 60, access: 140, branch: 60, exit: 8, ..Mix::default() };
    weights.mix = Mix { barrier: 15, nest: 0, ..mix };
    let chances = &mut weights.chances;
    chances.rest = 600;
    (chances.alias, chances.raw, chances.war, chances.waw) = (250, 250, 250, 120);
    (chances.guard, chances.guard_never, chances.same_register) = (350, 250, 150);
    (chances.burst, chances.divergent) = (400, 800);
    weights.sizes.registers = [200, 255];
    weights.sizes.warps = [1, 3];
    weights.sizes.blocks = [3, 8];
    quotas(
        weights,
        &[
            ("third source accessed by the next instruction", 200),
            ("a source is the result", 40),
            ("register read again, by other lanes", 20),
            ("register accessed after 16 or more instructions", 400),
            ("write to some lanes overwritten after 5 or more instructions, not read", 20),
            ("load executed again after up to 12 instructions", 8),
            ("guard true in no lane", 40),
            ("branch splits the lanes", 20),
            ("register from R192 on written", 60),
        ],
    );
}

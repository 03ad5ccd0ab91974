//! The report on the hybrid register file: the hybrid paper, sections 4 to 6.

mod area;
mod errata;
mod headlines;
mod ipc;
mod periods;
mod power;
mod sensitivity;
mod writes;

use gpurf_blocks::config::Config;

use gpurf_energy::hybrid::{HybridFile, HybridTraffic};

use crate::code::Code;
use crate::energy::Prices;
use crate::estimate::Estimate;
use crate::kernels::HYBRID_PAPER;
use crate::report::{Definition, Headlines, Part};
use crate::row::{Absent, PerKernel};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, by};

/// The reports of this design.
pub const REPORTS: &[Definition] = &[REPORT];

/// Prices of the hybrid file: only the hybrid paper's tables have STT-RAM.
pub const PRICES: Prices = Prices {
    entries: |_| 0,
    traffic: |_| None,
    leaking: |config, run| Some(file(config).power(&traffic(run)).energy(run.cycles)),
};

/// The storage of the register file.
fn file(config: &Config) -> HybridFile {
    let file = HybridFile::stt_ram(config.hrf.buffer_entries as u32);
    if config.hrf.gating { file.gated(config.hrf.powered_entries as u32) } else { file }
}

/// The report.
const REPORT: Definition = Definition {
    name: "hybrid",
    title: "The hybrid register file: STT-RAM behind write buffers (hybrid paper)",
    kernels: HYBRID_PAPER,
    code: Code::PTX,
    orders: None,
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    settings: &[
        "hrf.load_entries=2",
        "hrf.load_entries=16",
        "hrf.buffer_entries=32",
        "hrf.write_latency=2",
        "hrf.write_latency=8",
        "hrf.read_latency=2",
        "hrf.powered_entries=8",
        "hrf.powered_entries=32",
        "hrf.wake_cycles=1",
    ],
    parts: &[
        Part { name: "periods", plan: periods::plan, rows: periods::rows, plots: periods::plots },
        Part { name: "writes", plan: writes::plan, rows: writes::rows, plots: writes::plots },
        Part { name: "ipc", plan: ipc::plan, rows: ipc::rows, plots: ipc::plots },
        Part { name: "power", plan: power::plan, rows: power::rows, plots: power::plots },
        Part { name: "area", plan: |_| (), rows: area::rows, plots: area::plots },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
        Part { name: "sensitivity", plan: sensitivity::plan, rows: sensitivity::rows, plots: sensitivity::plots },
    ],
    absent: ABSENT,
};

const ABSENT: &[Absent] = &[
    Absent {
        source: "hybrid paper 6.3, figure 11",
        text: "the power of the whole GPU falls by 19 %",
        why: "there is no model of what else takes power in a GPU: the register file would be a quarter of it, as 76 % less is 19 %",
    },
    Absent { source: "hybrid paper 6.4", text: "the whole GPU's power falls by 3.6 % for gaussian", why: "as above" },
    Absent {
        source: "hybrid paper, figures 2 and 6 to 10",
        text: "the bars of each benchmark",
        why: "the text prints no numbers for them, but those that are compared; the plots show ours",
    },
    Absent { source: "hybrid paper 6.1, 6.4", text: "dxtc", why: "it is not among the kernels" },
];

/// The source of rows with results that the paper does not have.
const NOT_SAID: &str = "not in the paper";

/// A preset with the paper's 48 warps (table 3).
fn machine(preset: &'static str) -> Point {
    Point::preset(preset).with("sm.warps=48")
}

/// The hybrid file.
fn hybrid() -> Point {
    machine("hrf")
}

/// The hybrid file with power gating.
fn gated() -> Point {
    machine("hrf-pg")
}

/// STT-RAM without buffers, under the hybrid file's scheduler.
fn pure() -> Point {
    machine("stt-only")
}

/// STT-RAM without buffers, under the scheduler of the paper's baseline: without buffers, warps need not take turns.
fn pure_round_robin() -> Point {
    pure().with("sm.alternate=false").with("sm.active_warps=0").with("sm.scheduler=round_robin")
}

/// SRAM under the hybrid file's scheduler.
fn sram() -> Point {
    machine("hrf-sram")
}

/// The paper's own baseline: 16 banks of SRAM, round-robin (table 3).
fn original() -> Point {
    machine("baseline").with("sm.scheduler=round_robin")
}

/// A machine with the shortest ALU.
fn short(point: Point) -> Point {
    point.with("sm.alu_latency=2")
}

/// A machine whose file has room for 48 warps of every kernel. With 128 KB the registers of 7 of the 17 kernels leave room for fewer.
fn roomy(point: Point) -> Point {
    point.with("mrf.kilobytes=256")
}

/// Accesses of a run, whatever the technology of its register file.
fn traffic(run: &Measured) -> HybridTraffic {
    HybridTraffic {
        cycles: run.cycles,
        bank_reads: run.event(event::READ),
        bank_writes: run.event(event::WRITE),
        buffer_reads: run.event(event::BUFFER_READ),
        buffer_writes: run.event(event::BUFFER_WRITE),
        drains: run.event(event::DRAIN),
        lookups: run.event(event::LOOK),
        gated: run.event(event::GATED),
    }
}

/// Names of events: docs/blocks/hrf.md, docs/blocks/mrf.md, docs/blocks/alternating_scheduler.md.
mod event {
    events! {
        READ = "read_groups",
        WRITE = "write_groups",
        BUFFER_READ = "hrf_read_groups",
        BUFFER_WRITE = "hrf_write_groups",
        DRAIN = "hrf_drain_groups",
        LOOK = "hrf_look",
        GATED = "hrf_gated",
        WRITTEN = "write",
        DRAINED = "hrf_drain",
        ENTRIES = "hrf_period_entries",
        ACTIVATE = "alternating_activate",
        PENDING = "alternating_pending",
        ACTIVE = "alternating_active",
        LANDING = "alternating_drain",
    }
}

/// The lost part, if `left` is the part that remains: over all kernels by the geometric mean, and of each kernel.
fn lost(left: PerKernel) -> Estimate {
    Estimate::geometric(left).one_less()
}

/// The kernels that 6.4 names: those with the fewest writes saved, and those with very many. dxtc is not among the kernels.
const LEAST_SAVED: [&str; 2] = ["bfs", "reduction"];
const MOST_SAVED: [&str; 2] = ["quasirandomGenerator", "sobolQRNG"];

/// A value of these kernels and of all others; `None` if one of these kernels is missing, or if there are no others.
fn and_others(each: PerKernel, names: [&str; 2]) -> Option<[PerKernel; 2]> {
    let (named, others): (PerKernel, PerKernel) =
        each.into_iter().partition(|(name, _)| names.contains(&name.as_str()));
    (named.len() == names.len() && !others.is_empty()).then_some([named, others])
}

/// The command that repeats a part: reasons are about all kernels.
fn command(results: &Results<'_>, part: &str) -> String {
    REPORT.command(results, part)
}

#[cfg(test)]
mod tests;

//! Results that the paper does not have: other write latencies of the STT-RAM, and other sizes of the buffers.

use gpurf_energy::hybrid::HybridFile;

use super::power::{Charged, relative};
use super::{NOT_SAID, area, hybrid, ipc, pure, sram, writes};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, Unit, geometric_mean, mean};
use crate::shown::lines;
use crate::sweep::{Point, Results, SweepPlan};

const SHARE: Claim = Claim::none(NOT_SAID);
const RATIO: Claim = Claim::none(NOT_SAID).in_unit(Unit::Ratio);

/// Cycles of a write.
const LATENCIES: [u32; 5] = [2, 4, 6, 8, 10];

/// Entries of a buffer.
const ENTRIES: [u32; 5] = [4, 8, 16, 32, 64];

/// A machine with this write latency.
fn latency(point: Point, cycles: u32) -> Point {
    point.with(format!("hrf.write_latency={cycles}"))
}

/// The hybrid file with buffers of this size.
fn buffers(entries: u32) -> Point {
    hybrid().with(format!("hrf.buffer_entries={entries}"))
}

pub fn plan(plan: &mut SweepPlan) {
    for cycles in LATENCIES {
        [latency(hybrid(), cycles), latency(pure(), cycles)].into_iter().for_each(|point| plan.point(point));
    }
    ENTRIES.into_iter().for_each(|entries| plan.point(buffers(entries)));
    [sram(), pure()].into_iter().for_each(|point| plan.point(point));
}

/// Power with buffers of this size relative to that of SRAM: operands read from both at once, no gating.
fn power(results: &Results<'_>, entries: u32) -> Option<PerKernel> {
    relative(results, &buffers(entries), &sram(), Charged::AtOnce)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let loss = |metric: String, point: Point| {
        let lost = ipc::loss(results, &point, &sram())?;
        Some(SHARE.row(format!("IPC lost {metric}, against SRAM under the same scheduler"), lost))
    };
    let mut rows = Vec::new();
    for cycles in LATENCIES {
        rows.push(loss(format!("by the hybrid file, write latency {cycles}"), latency(hybrid(), cycles)));
    }
    for cycles in LATENCIES {
        rows.push(loss(format!("by pure STT-RAM, write latency {cycles}"), latency(pure(), cycles)));
    }
    for entries in ENTRIES {
        rows.push(loss(format!("with buffers of {entries} entries"), buffers(entries)));
    }
    for entries in ENTRIES {
        let saved = writes::eliminated(results, &buffers(entries));
        let metric = format!("writes of the STT-RAM that buffers of {entries} entries save");
        rows.push(saved.map(|saved| SHARE.mean(metric, saved)));
    }
    for entries in ENTRIES {
        let metric = format!(
            "power with buffers of {entries} entries, by that of SRAM under the same scheduler, STT-RAM and buffer read at once"
        );
        rows.push(power(results, entries).map(|each| RATIO.row(metric, Estimate::geometric(each))));
    }
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let left = |point: Point| ipc::loss(results, &point, &sram()).map(|lost| 1.0 - lost.value);
    let by_latency = lines(
        "IPC by that of SRAM under the same scheduler, against the write latency",
        ("cycles of a write", &LATENCIES),
        "ratio, geometric mean",
        &[
            ("hybrid file", &|cycles| left(latency(hybrid(), cycles))),
            ("pure STT-RAM", &|cycles| left(latency(pure(), cycles))),
        ],
        None,
    );
    let by_size = lines(
        "The hybrid file by SRAM under the same scheduler, against the size of its buffers",
        ("entries of a buffer", &ENTRIES),
        "ratio",
        &[
            ("IPC", &|entries| left(buffers(entries))),
            ("writes, by those without buffers", &|entries| {
                writes::left(results, &buffers(entries)).map(|left| mean(&left))
            }),
            ("power", &|entries| power(results, entries).map(|each| geometric_mean(&each))),
            ("area", &|entries| Some(area::part(HybridFile::stt_ram(entries)))),
        ],
        None,
    );
    [by_latency, by_size].into_iter().flatten().collect()
}

//! Larger files with more warps: stealing paper VI-C, figure 16. Performance only, because area and energy are not modelled.

use super::{NOT_SAID, gain, papers, with_banks};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, mean};
use crate::shown::lines;
use crate::sweep::{Point, Results, SweepPlan};

const GAIN: Claim = Claim::none(NOT_SAID);

/// Kilobytes and warps: the first size, twice and four times as many; the last has the largest possible number of warps.
const SIZES: [(u32, u32); 3] = [(128, 12), (256, 24), (512, 48)];
const KILOBYTES: [u32; 3] = [128, 256, 512];

/// Numbers of banks of a file without stealing.
const BANKS: [u32; 3] = [8, 16, 32];

fn sized(point: Point, kilobytes: u32) -> Point {
    let warps = SIZES.iter().find(|(size, _)| *size == kilobytes).map_or(48, |(_, warps)| *warps);
    point.with(format!("mrf.kilobytes={kilobytes}")).with(format!("sm.warps={warps}"))
}

fn straight(kilobytes: u32, banks: u32) -> Point {
    sized(with_banks(papers(Point::preset("banks-16")), 16, banks), kilobytes)
}

fn stealing(kilobytes: u32) -> Point {
    sized(papers(Point::preset("steal-8")), kilobytes)
}

pub fn plan(plan: &mut SweepPlan) {
    for kilobytes in KILOBYTES {
        plan.point(stealing(kilobytes));
        BANKS.into_iter().for_each(|banks| plan.point(straight(kilobytes, banks)));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |metric: String, gain: Option<PerKernel>| Some(GAIN.mean(format!("IPC gained {metric}"), gain?));
    let mut rows = Vec::new();
    for (kilobytes, warps) in SIZES {
        let size = format!("{kilobytes} KB, {warps} warps");
        for banks in BANKS {
            let metric = format!("by 8 banks with stealing, over {banks}, {size}");
            rows.push(row(metric, gain(results, &stealing(kilobytes), &straight(kilobytes, banks))));
        }
    }
    for kilobytes in KILOBYTES.into_iter().skip(1) {
        for (name, of) in
            [("8 banks with stealing", stealing as fn(u32) -> Point), ("16 banks", |size| straight(size, 16))]
        {
            let gain = gain(results, &of(kilobytes), &of(128));
            rows.push(row(format!("by {kilobytes} KB over 128, {name}"), gain));
        }
    }
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let first = straight(128, 16);
    let by = |point: Point| gain(results, &point, &first).map(|each| 1.0 + mean(&each));
    let plot = lines(
        "IPC by that of 128 KB in 16 banks, with warps to fill the file (figure 16)",
        ("kilobytes", &KILOBYTES),
        "ratio",
        &[
            ("8 banks", &|size| by(straight(size, 8))),
            ("16 banks", &|size| by(straight(size, 16))),
            ("32 banks", &|size| by(straight(size, 32))),
            ("8 banks with stealing", &|size| by(stealing(size))),
        ],
        None,
    );
    plot.into_iter().collect()
}

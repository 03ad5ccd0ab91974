//! Functions that tests of several modules use.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use gpurf_isa::image::Kernel;
use gpurf_launch::Manifest;
use gpurf_oracle::levels::LevelCounts;
use gpurf_oracle::{Geometry, Launch, Memory, Observer, Options, Oracle, Program};

use crate::usage::Usage;
use crate::{Definition, Measured, PaperReport, Point, Results, Row};

/// Runs hand-written code in blocks of one warp, and returns the observer.
pub fn observed<O: Observer>(code: &str, blocks: u32, mut observer: O) -> O {
    let code = gpurf_isa::assemble(code).unwrap();
    let kernel = Kernel {
        name: "test".into(),
        lines: vec![1; code.len()],
        code,
        registers: 32,
        static_shared: 128,
        ..Kernel::default()
    };
    let program = Program::new(&kernel, "test.ptx").unwrap();
    let geometry = Geometry { grid: [blocks, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &[] };
    Oracle::new(Options::default()).run_observed(&launch, &Memory::default(), &mut observer).unwrap();
    observer
}

/// Kernels with these names, which are never run.
pub fn kernels(names: &[&str]) -> Vec<crate::Kernel> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/saxpy.toml");
    let manifest = Manifest::load(path.as_ref()).unwrap();
    let kernel = |name: &&str| crate::Kernel {
        name: (*name).to_owned(),
        path: format!("{name}.toml"),
        manifest: manifest.clone(),
        image: Default::default(),
        ptx: None,
        size: crate::Size::Own,
        data: crate::other_data(name).map(str::to_owned),
        code: crate::Code::PTX,
        sample: Some(crate::SAMPLE),
    };
    names.iter().map(kernel).collect()
}

/// A kernel of the project on little data, compiled as a report compiles it.
pub fn compiled(name: &str) -> crate::Kernel {
    let path = |ending: &str| format!("{}/../../tests/kernels/{name}.{ending}", env!("CARGO_MANIFEST_DIR"));
    let ptx = crate::Ptx { name: path("ptx"), text: std::fs::read_to_string(path("ptx")).unwrap() };
    let options = gpurf_compiler::Options { registers: gpurf_regress::REGISTERS, ..Default::default() };
    crate::Kernel {
        name: name.to_owned(),
        path: path("toml"),
        manifest: Manifest::load(path("toml").as_ref()).unwrap(),
        image: gpurf_compiler::compile(&ptx.text, &ptx.name, &options).unwrap().image,
        ptx: Some(ptx),
        code: crate::Code::PTX,
        size: crate::Size::Small,
        data: None,
        sample: None,
    }
}

/// A whole report on kernels that are never run, with results made by `run`.
pub fn made(
    report: &Definition,
    names: &[&str],
    run: impl Fn(&crate::Kernel, &Point) -> Option<Measured>,
) -> PaperReport {
    let (kernels, plan) = (kernels(names), report.plan(&[]));
    report.report(&[], &Results::made(&kernels, &plan, run, &Usage::default(), |_, _| None))
}

/// The row of a metric.
#[track_caller]
pub fn row<'a>(report: &'a PaperReport, metric: &str) -> &'a Row {
    let found = report.rows.iter().find(|row| row.metric == metric);
    found.unwrap_or_else(|| panic!("there is no row {metric}"))
}

/// Checks every report: rows have distinct names; a row that does not agree has a reason or says that the cause is not known, and no other row has
/// one.
#[track_caller]
pub fn check_rows(report: &PaperReport) {
    for row in &report.rows {
        assert_eq!(row.why.is_empty(), !row.doubtful(), "{}", row.metric);
        assert_eq!(row.command.is_empty(), !row.doubtful(), "{}", row.metric);
        assert_eq!(row.cause.is_none(), !row.doubtful(), "{}", row.metric);
        assert!(
            !row.doubtful() || row.cause != Some(crate::Known::NotKnown) || row.why.contains("cause is not known"),
            "{}",
            row.metric
        );
        assert_eq!(row.within, row.paper.map(|band| band.holds(row.ours)), "{}", row.metric);
        assert!([0, report.kernels.len()].contains(&row.per_kernel.len()), "{}", row.metric);
        assert!(!row.why.contains("NaN") && !row.why.contains("inf"), "{}", row.why);
    }
    let metrics: BTreeSet<&str> = report.rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(metrics.len(), report.rows.len());
    assert!(!report.absent.is_empty());
}

#[test]
fn every_configuration_of_a_report_is_one() {
    for report in crate::reports() {
        let causes = crate::Cause::ALL.into_iter().filter_map(|cause| report.causes_plan(&[], cause));
        for plan in causes.chain([report.plan(&[])]) {
            for point in plan.points() {
                let config = point.config();
                assert!(config.is_ok(), "{}: {config:?}", point.options());
            }
        }
    }
}

/// Counts that depend on everything that names a run, so that few rows agree and almost every reason is computed.
fn scattered(seed: u64, kernel: &crate::Kernel, point: &Point, events: &[&'static str]) -> Measured {
    let number = |what: &str| {
        let mut hasher = DefaultHasher::new();
        (seed, &kernel.name, point, what).hash(&mut hasher);
        1_000 + hasher.finish() % 9_000
    };
    Measured::new(number("cycles"), events.iter().map(|&name| (name, number(name))))
}

/// A row or its reason that looks up a configuration which no part plans would silently go without it.
#[test]
fn reports_look_up_only_what_they_plan() {
    let baseline = Point::preset("baseline").config().unwrap();
    let totals = gpurf_lockstep::EventTotals::new((gpurf_sm::ENTRY.twin)(&baseline).declaration());
    let events: Vec<&'static str> = totals.by_name().into_keys().collect();
    for report in crate::reports() {
        let (kernels, plan) = (kernels(report.kernels), report.plan(&[]));
        for seed in 0..3 {
            let run = |kernel: &crate::Kernel, point: &Point| {
                point.runs(kernel).then(|| scattered(seed, kernel, point, &events))
            };
            let results = Results::made(&kernels, &plan, run, &Usage::default(), |_, _| Some(LevelCounts::default()));
            report.report(&[], &results);
            assert_eq!(results.unplanned(), BTreeSet::new(), "{}", report.name);
        }
    }
}

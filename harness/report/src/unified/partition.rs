//! The memory that kernels need, and how it is divided: hierarchy thesis 7.1, 7.3.1, 7.5.6, tables 7.1 and 7.2, figure 7.11.

use gpurf_blocks::config::{Config, least_lines};
use gpurf_blocks::memory::LINE_BITS;
use gpurf_blocks::unified::ROW_BYTES;
use gpurf_isa::image::{Kernel as Code, Purpose};
use gpurf_machine::LaunchDemand;
use gpurf_sm::partition::Division;
use gpurf_sm::residency::Demand;

use super::best::{Best, best, cases};
use super::{Fixed256, REPORT, SAME, Unified384, ends, plan_designs};
use crate::estimate::Estimate;
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::sweep::{Kernel, Point, Results, SweepPlan};

const PART: &str = "partition";
const SOURCE: &str = "hierarchy thesis 7.1, table 7.1";
const TABLE: &str = "hierarchy thesis, table 7.2";
const TAGS: &str = "hierarchy thesis 7.3.1";
const SPILLS: Claim = Claim::share(SOURCE, "none of all surveyed with 64 registers", 0.0, 0.0).in_unit(Unit::Count);
const FILE: Claim = Claim::share(SOURCE, "72 to 256 KB, of all surveyed", 72.0, 256.0).in_unit(Unit::Count);
const TILE: Claim = Claim::share(SOURCE, "520 bytes", 519.5, 520.5).in_unit(Unit::Count);
const SCRATCHPAD: Claim =
    Claim::share("hierarchy thesis 7.1.2, figure 7.2", "66.5 KB", 66.45, 66.55).in_unit(Unit::Count);
const CACHE: Claim = Claim::share("hierarchy thesis 7.3.1, figure 7.11", "256 KB", 256.0, 256.0).in_unit(Unit::Count);
const TAGS_64: Claim = Claim::share(TAGS, "1.125 KB", 1.1245, 1.1255).in_unit(Unit::Ratio);
const TAGS_256: Claim = Claim::share(TAGS, "4.75 KB", 4.745, 4.755).in_unit(Unit::Ratio);

/// Number of threads that the SM holds.
const THREADS: u32 = 1024;

/// Table 7.2: registers of a thread, and threads of the SM. Its registers are the upper ends of the bands.
const TABLE_7_2: [(&str, Claim, Claim); 6] = [
    ("bfs", registers("32: 25-32", 25.0, 32.0), threads("1024: 769-1024", 769.0, 1024.0)),
    ("MUM", registers("32: 25-32", 25.0, 32.0), threads("864: 609-1024", 609.0, 1024.0)),
    ("cgemm", registers("64: 57-64", 57.0, 64.0), threads("1024: 769-1024", 769.0, 1024.0)),
    ("needle", registers("24: 17-24", 17.0, 24.0), threads("576: 513-639", 513.0, 639.0)),
    ("pcr", registers("40: 33-40", 33.0, 40.0), threads("640: 513-767", 513.0, 767.0)),
    ("hotspot", registers("32: 25-32", 25.0, 32.0), threads("992: 737-1024", 737.0, 1024.0)),
];

/// Registers are allocated in multiples of eight: with the next smaller multiple, the kernel would spill.
const fn registers(text: &'static str, low: f64, high: f64) -> Claim {
    Claim::share(TABLE, text, low, high).in_unit(Unit::Count)
}

/// Threads are allocated in whole blocks here: the band extends by less than a block to either side.
const fn threads(text: &'static str, low: f64, high: f64) -> Claim {
    Claim::share(TABLE, text, low, high).in_unit(Unit::Count)
}

pub fn plan(plan: &mut SweepPlan) {
    plan_designs(plan, &[Unified384, Fixed256]);
}

/// How each launch of a kernel divides unified memory, and its number of threads per block.
fn divisions(kernel: &Kernel, config: &Config) -> Vec<(Division, u32)> {
    let of = |asked: LaunchDemand<'_>| (Division::of(config, &asked.demand, asked.threads), asked.threads);
    kernel.demands().map(of).collect()
}

/// Threads of the SM if a thread had this number of registers, in the launch with the fewest.
fn threads_with(kernel: &Kernel, config: &Config, registers: u32) -> Option<f64> {
    let of = |asked: LaunchDemand<'_>| {
        let demand = Demand { registers, ..asked.demand };
        Division::of(config, &demand, asked.threads).slots * asked.threads
    };
    kernel.demands().map(of).min().map(f64::from)
}

/// The experiments on a number of threads of table 7.2: with its registers, at the best point and at the one with the largest cache.
fn with_tables_registers(best: &Best<'_>, table: Claim) -> Vec<(String, Option<f64>)> {
    let tables = table.band.map_or(0, |band| band.high as u32);
    let largest = Point::preset("unified-384").with("launch.cache_kilobytes=256").config();
    let words = format!("with the {tables} registers of a thread that the table has");
    let with_largest = largest.ok().and_then(|config| threads_with(best.kernel, &config, tables));
    vec![
        (words.clone(), threads_with(best.kernel, &best.config, tables)),
        (format!("{words}, and a cache of 256 KB"), with_largest),
    ]
}

/// A number of the launch with the fewest resident threads, whose blocks need the most memory. The thesis has one partition for an application.
fn of_largest(best: &Best<'_>, of: impl Fn(&Division, u32) -> u32) -> Option<f64> {
    let divisions = divisions(best.kernel, &best.config);
    let largest = divisions.iter().min_by_key(|(division, threads)| division.slots * threads);
    largest.map(|(division, threads)| f64::from(of(division, *threads)))
}

/// Kilobytes of tags for a cache with this number of lines and this number of bits per tag.
fn kilobytes(lines: usize, bits: u32) -> f64 {
    f64::from(lines as u32 * bits) / 8.0 / 1024.0
}

/// Sets of the smallest cache in the thesis's unified design, inferred from its size of tags: 32 KB in 4 ways.
const THESIS_SETS: u32 = 64;

/// Rows on the tags of the cache. As in the thesis, valid bits and replacement state are not counted.
fn tag_rows(results: &Results<'_>) -> Vec<Row> {
    let shape = |name| Some(Point::preset(name).config().ok()?.sm_shape());
    let (Some(fixed), Some(unified)) = (shape("fixed-256"), shape("unified-384")) else { return Vec::new() };
    let row = |claim: Claim, metric: &str, ours: f64, experiments: &[(&str, f64)]| {
        let experiments: Vec<_> =
            experiments.iter().map(|(words, value)| ((*words).to_owned(), Some(*value))).collect();
        let row = claim.row(metric, Estimate::number(ours));
        row.because(|_| Reason::found(experiments, REPORT.command(results, PART)))
    };
    let (set_w, least) = (fixed.sets().ilog2(), least_lines(1).ilog2());
    let (fixed, unified) = (fixed.lines(), unified.lines());
    let (not_local, larger) = (LINE_BITS - 1, THESIS_SETS.ilog2());
    vec![
        row(
            TAGS_64,
            "KB of tags, a cache of 64 KB",
            kilobytes(fixed, LINE_BITS - set_w),
            &[(
                "without the bit of a tag that says whether the line is local memory",
                kilobytes(fixed, not_local - set_w),
            )],
        ),
        row(
            TAGS_256,
            "KB of tags, 384 KB unified with a cache of at most 256 KB",
            kilobytes(unified, LINE_BITS - least),
            &[
                ("if the smallest cache had 64 sets and not 4", kilobytes(unified, LINE_BITS - larger)),
                (
                    "without the bit of a tag that says whether the line is local memory",
                    kilobytes(unified, not_local - least),
                ),
                ("both", kilobytes(unified, not_local - larger)),
            ],
        ),
    ]
}

/// Rows on the resources that the kernels need, independent of the machine.
fn needs(results: &Results<'_>) -> Vec<Row> {
    let command = || REPORT.command(results, PART);
    let each = |value: &dyn Fn(&Kernel) -> f64| -> PerKernel {
        let usual = results.kernels.iter().filter(|kernel| kernel.data.is_none());
        usual.map(|kernel| (kernel.name.clone(), value(kernel))).collect()
    };
    let spilled = |kernel: &Kernel| {
        // Predicates that are kept in registers do not count as spills.
        let spills =
            |code: &Code| code.local_bytes > 0 && code.added.iter().any(|added| added.purpose == Purpose::Spill);
        f64::from(u8::from(kernel.image.kernels.iter().any(spills)))
    };
    let spills = each(&spilled);
    let mut rows = vec![
        SPILLS
            .row(
                "kernels of the six benchmarks that spill with 64 registers",
                Estimate::extreme(spills.values().sum(), spills),
            )
            .because(|_| Reason::unknown(command())),
    ];
    let file = each(&|kernel| f64::from(u32::from(kernel.registers()) * THREADS * 4) / 1024.0);
    let Some([least, greatest]) = ends(&file) else { return rows };
    for (ours, word) in [(least, "least"), (greatest, "most")] {
        let row = FILE.row(
            format!("KB of registers for {THREADS} threads, {word} of the six benchmarks"),
            Estimate::extreme(ours, file.clone()),
        );
        rows.push(row.because(|_| Reason::unknown(command())));
    }
    // Scratchpad memory of a block, divided by its threads.
    let per_thread = |kernel: &Kernel| {
        let of = kernel.demands().map(|asked| f64::from(asked.demand.scratchpad) / f64::from(asked.threads));
        of.fold(0.0, f64::max)
    };
    if let Some(kernel) = results.kernels.iter().find(|kernel| kernel.name == "needle64") {
        let row = TILE.row("bytes of scratchpad memory of a thread: needle64", Estimate::number(per_thread(kernel)));
        rows.push(row.because(|row| {
            let without = row.ours - f64::from(TILE_EDGE + 1) * 4.0 / f64::from(TILE_EDGE);
            let words = "without the number that each row of a tile has more, so that a diagonal meets each bank once";
            Reason::found(vec![(words.to_owned(), Some(without))], command())
        }));
    }
    let blocked: PerKernel = results
        .kernels
        .iter()
        .filter(|kernel| ["cgemm", "pcr", "hotspot"].contains(&kernel.name.as_str()))
        .map(|kernel| (kernel.name.clone(), per_thread(kernel) * f64::from(THREADS) / 1024.0))
        .collect();
    if let Some([_, most]) = ends(&blocked) {
        let row = SCRATCHPAD.row(
            format!("KB of scratchpad memory for {THREADS} threads, most of cgemm, pcr and hotspot"),
            Estimate::extreme(most, blocked).alone(),
        );
        rows.push(row.because(|_| Reason::unknown(command())));
    }
    rows
}

/// Words along an edge of needle's largest tile.
const TILE_EDGE: u32 = 64;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows = tag_rows(results);
    rows.extend(needs(results));
    let mut caches = PerKernel::new();
    for case in cases(results) {
        let Some(Some(best)) = best(results, &case, Unified384, SAME) else { return rows };
        let cache = of_largest(&best, |division, _| division.cache_rows() * ROW_BYTES / 1024);
        caches.extend(cache.map(|cache| (case.name.clone(), cache)));
        let Some((_, registers, threads)) = TABLE_7_2.iter().find(|(name, ..)| *name == case.name) else { continue };
        let ours = f64::from(best.kernel.registers());
        let row =
            registers.row(format!("registers of a thread, 384 KB unified: {}", case.name), Estimate::number(ours));
        rows.push(row.because(|_| Reason::unknown(REPORT.command(results, PART))));
        let Some(ours) = of_largest(&best, |division, threads| division.slots * threads) else { continue };
        let row = threads.row(format!("threads of the SM, 384 KB unified: {}", case.name), Estimate::number(ours));
        rows.push(
            row.because(|_| Reason::found(with_tables_registers(&best, *registers), REPORT.command(results, PART))),
        );
    }
    if let Some([_, most]) = ends(&caches) {
        let row = CACHE.row("KB of cache, 384 KB unified, most of any benchmark", Estimate::extreme(most, caches));
        rows.push(row.because(|_| Reason::unknown(REPORT.command(results, PART))));
    }
    rows
}

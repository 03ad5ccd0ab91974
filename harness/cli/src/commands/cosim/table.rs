//! The table of runs: a row for each, or for each group of many.

use std::path::Path;
use std::sync::LazyLock;

use gpurf_blocks::config::{Config, presets};
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::registry;
use gpurf_lockstep::Verdict;
use gpurf_regress::{Inputs, LockstepJob, ToggleCounts};

use super::{Ended, block, is_replay, verdict};
use crate::output::{self, BAD, Cell, GOOD, QUIET, numbers, words};
use crate::plan::{has_straps, parameters};
use crate::shape;

/// With at most this many runs, each has a row; with more, only if the user asks for all rows.
pub const FEW: usize = 16;

/// A job, and its outcome.
pub type Job<'a> = (&'a LockstepJob, &'a Ended);

/// A row for each run, followed by a legend of the letters in the shapes.
pub fn each(runs: &[Job<'_>]) -> String {
    let columns = [
        words("block"),
        words("shape"),
        words("policy"),
        numbers("seed"),
        numbers("cycles"),
        numbers("signals"),
        numbers("least covered"),
        numbers("toggled"),
        numbers("kcycles/s"),
        words("result"),
    ];
    let rows: Vec<Vec<Cell>> = runs.iter().map(|(job, ended)| cells(job, ended)).collect();
    let designs: Vec<&str> = runs.iter().map(|(job, _)| Organisation::of(&job.config).design().name).collect();
    let shapes: Vec<String> = runs.iter().map(|(job, _)| shape::words(&parameters(&job.block, &job.config))).collect();
    let shapes: Vec<&str> = shapes.iter().map(String::as_str).collect();
    format!("{}{}\n", output::table(&columns, &rows), output::wrapped(&shape::legend(&designs, &shapes)))
}

/// A row for each group of runs: the runs of the SM at one preset, or those of the blocks of one folder. Runs that did not pass follow with a row
/// each.
pub fn grouped(runs: &[Job<'_>]) -> String {
    let mut groups: Vec<(String, Vec<Job<'_>>)> = Vec::new();
    for &run in runs {
        let name = group(run.0);
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, members)) => members.push(run),
            None => groups.push((name, vec![run])),
        }
    }
    let columns = [words("what"), numbers("runs"), numbers("cycles"), numbers("kcycles/s"), words("result")];
    let rows: Vec<Vec<Cell>> = groups.iter().map(|(name, members)| cells_of_group(name, members)).collect();
    let other: Vec<Job<'_>> =
        runs.iter().copied().filter(|(_, ended)| !matches!(verdict(ended), Some(Verdict::Pass) | None)).collect();
    let all = "Each run has a row with --verbose.\n";
    let other = if other.is_empty() { String::new() } else { format!("\n{}", each(&other)) };
    format!("{}{all}{other}", output::table(&columns, &rows))
}

/// The group of a run.
fn group(job: &LockstepJob) -> String {
    let kind = match &job.inputs {
        Inputs::Kernel(kernel) if of_faults(&kernel.manifest) => "launches that fault",
        Inputs::Kernel(_) => "kernels",
        Inputs::Program(_) => "random programs",
        _ => {
            let path = registry::find(&job.block).map_or("", |entry| entry.path);
            let folder = Path::new(path).parent().map_or_else(String::new, |folder| folder.display().to_string());
            return format!("blocks of rtl/{folder}/, random inputs");
        }
    };
    format!("{} {}, {kind}", job.block, machine(&job.config))
}

/// The settings of a configuration except those of the compiler, which belong to the code and not to the machine.
fn settings(config: &Config) -> Vec<String> {
    Config { compiler: Config::default().compiler, ..*config }.settings()
}

/// The preset of a configuration, or the nearest one.
fn machine(config: &Config) -> String {
    static PRESETS: LazyLock<Vec<(&str, Vec<String>)>> =
        LazyLock::new(|| presets().map(|preset| (preset.name, settings(&preset.config))).collect());
    let ours = settings(config);
    let not_in = |some: &[String], others: &[String]| some.iter().filter(|one| !others.contains(one)).count();
    let differences = PRESETS.iter().map(|(name, theirs)| (not_in(&ours, theirs) + not_in(theirs, &ours), name));
    match differences.min_by_key(|&(count, _)| count) {
        Some((0, name)) => (*name).to_owned(),
        Some((_, name)) => format!("like {name}"),
        None => String::new(),
    }
}

/// Whether a manifest is in the folder of launches that end with a fault.
fn of_faults(manifest: &Path) -> bool {
    manifest.parent().and_then(Path::file_name).is_some_and(|folder| folder == "faults")
}

fn cells_of_group(name: &str, members: &[Job<'_>]) -> Vec<Cell> {
    let ran = members.iter().filter_map(|(_, ended)| match ended {
        Ended::Ran(result) => Some((result.cycles, result.wall_s)),
        Ended::Refused(_) | Ended::Skipped => None,
    });
    let (cycles, wall_s) = ran.fold((0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    let count = |wanted: fn(Option<Verdict>) -> bool| members.iter().filter(|run| wanted(verdict(run.1))).count();
    let equal = count(|verdict| verdict == Some(Verdict::Pass));
    let skipped = count(|verdict| matches!(verdict, Some(Verdict::Interrupted) | None));
    let failed = members.len() - equal - skipped;
    let result = match (failed, skipped) {
        (0, 0) => Cell::styled(Verdict::Pass.label(), GOOD),
        (0, _) => Cell::styled(format!("{equal} equal, {skipped} not run"), QUIET),
        (_, 0) => Cell::styled(format!("{equal} equal, {failed} NOT"), BAD),
        _ => Cell::styled(format!("{equal} equal, {failed} NOT, {skipped} not run"), BAD),
    };
    vec![
        name.into(),
        members.len().into(),
        output::grouped(cycles).into(),
        format!("{:.0}", cycles as f64 / wall_s.max(1e-9) / 1e3).into(),
        result,
    ]
}

fn cells(job: &LockstepJob, ended: &Ended) -> Vec<Cell> {
    let policy =
        if is_replay(job) || !has_straps(job) { String::new() } else { shape::policy(&job.block, &job.config) };
    let mut cells: Vec<Cell> = vec![
        block(job).into(),
        shape::words(&parameters(&job.block, &job.config)).into(),
        policy.into(),
        job.seed.into(),
    ];
    let word = verdict(ended).map_or("not run", Verdict::label);
    let style = match verdict(ended) {
        Some(Verdict::Pass) => GOOD,
        Some(Verdict::Interrupted) | None => QUIET,
        Some(_) => BAD,
    };
    match ended {
        Ended::Ran(result) => {
            let speed = result.cycles as f64 / result.wall_s.max(1e-9) / 1e3;
            // One program or kernel cannot reach every coverage point.
            let counted = !matches!(job.inputs, Inputs::Program(_) | Inputs::Kernel(_));
            let least = result.coverage.iter().map(|&(_, count)| count).min().filter(|_| counted);
            cells.push(output::grouped(result.cycles).into());
            cells.push(result.signals_compared.into());
            cells.push(least.map_or(String::new(), output::grouped).into());
            cells.push(result.toggles.map_or(String::new(), toggled).into());
            cells.push(format!("{speed:.0}").into());
        }
        Ended::Refused(_) | Ended::Skipped => cells.extend((0..5).map(|_| Cell::from(""))),
    }
    cells.push(Cell::styled(word, style));
    cells
}

/// The number of input bits that were both 0 and 1, and the number of those that can be.
fn toggled(counts: ToggleCounts) -> String {
    format!("{}/{}", counts.reached, counts.bits)
}

#[cfg(test)]
mod tests {
    use gpurf_regress::{Project, suite};

    use super::*;
    use crate::failure::Failure;

    #[test]
    fn the_suite_has_a_line_for_each_group_and_one_for_what_failed() {
        let jobs = suite::whole(&Project::find(), 1, 1000);
        let failing = jobs.iter().position(|job| job.block == "mrf_arbiter").expect("it runs that block");
        let ended: Vec<Ended> = (0..jobs.len())
            .map(|index| match index {
                _ if index == failing => Ended::Refused(Failure::tool("no compiler".to_owned())),
                _ => Ended::Skipped,
            })
            .collect();
        let runs: Vec<Job<'_>> = jobs.iter().zip(&ended).collect();
        let text = anstream::adapter::strip_str(&grouped(&runs)).to_string();
        let (groups, rest) = text.split_once("Each run has a row with --verbose.").expect("a hint");
        for what in ["sm baseline, kernels", "sm baseline, launches that fault", "blocks of rtl/mrf/, random inputs"] {
            assert_eq!(groups.lines().filter(|line| line.starts_with(what)).count(), 1, "{what}\n{groups}");
        }
        assert!(groups.lines().count() < jobs.len() / 4, "{groups}");
        assert!(groups.lines().all(|line| line.chars().count() <= 100), "{groups}");
        let line = groups.lines().find(|line| line.starts_with("blocks of rtl/mrf/")).expect("its group");
        assert!(line.contains("0 equal, 1 NOT, "), "{line}");
        assert!(rest.lines().any(|line| line.starts_with("mrf_arbiter ")), "{rest}");
        // Every run is in one of the groups.
        let number = |line: &str| line.rsplit("  ").filter_map(|cell| cell.trim().parse::<usize>().ok()).last();
        assert_eq!(groups.lines().filter_map(number).sum::<usize>(), jobs.len());
    }
}

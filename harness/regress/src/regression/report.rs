//! The report of a regression: made only from plan and journal, so that it does not depend on how the cases were run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gpurf_lockstep::Verdict;
use serde::{Deserialize, Serialize};

use super::case::{Case, Work};
use super::journal::Reproducer;
use super::outcome::{CaseOutcome, Signature};
use super::plan::{RegressionPlan, Shard};
use crate::programs::Reached;

/// A row: a case and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The block that ran.
    pub block: String,
    /// Its preset, or the settings that differ from the default one.
    pub preset: String,
    /// What was run: `block`, `kernel`, `program`, `golden`.
    pub kind: &'static str,
    /// Name of what was run.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CaseOutcome,
}

/// Failures with the same signature.
#[derive(Clone, Debug, Serialize)]
pub struct Bucket {
    /// Their signature.
    #[serde(flatten)]
    pub signature: Signature,
    /// Number of failures.
    pub count: usize,
    /// Names of the cases, in the order of the plan.
    pub cases: Vec<String>,
    /// The command that runs the first case.
    pub command: String,
    /// The message of the first case.
    pub message: String,
    /// The failure folder of the first case, with the shortest run that still fails; below the folder of the regression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<PathBuf>,
}

/// The report of a regression.
#[derive(Clone, Debug, Serialize)]
pub struct RegressionReport {
    /// The verdict of the worst run.
    pub result: Verdict,
    /// `regress`.
    pub command: &'static str,
    /// The tier.
    pub tier: String,
    /// The part of the plan, unless it is the whole plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Digest of the plan.
    pub plan: String,
    /// Failures, in the order of their first cases.
    pub buckets: Vec<Bucket>,
    /// How often each coverage point was reached in the whole run: for each block, and by the programs and kernels of each configuration.
    pub coverage: BTreeMap<String, BTreeMap<String, u64>>,
    /// Points that were never reached.
    pub never: BTreeMap<String, Vec<String>>,
    /// Cases that have not been run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// Each case, in the order of the plan.
    pub runs: Vec<Run>,
}

/// The failures among these runs, grouped by signature, in the order of their first cases.
pub(super) fn buckets<'a, 'b>(
    runs: impl Iterator<Item = (&'a Case, &'b CaseOutcome)>,
) -> Vec<(Signature, Vec<&'a Case>)> {
    let mut found: Vec<(Signature, Vec<&Case>)> = Vec::new();
    for (case, outcome) in runs {
        let Some(signature) = Signature::of(case, outcome) else { continue };
        match found.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, cases)) => cases.push(case),
            None => found.push((signature, vec![case])),
        }
    }
    found
}

impl RegressionReport {
    /// The report of what has been done.
    pub fn new(
        plan: &RegressionPlan,
        shard: Shard,
        outcomes: &BTreeMap<String, CaseOutcome>,
        reproducers: &[Reproducer],
        options: &[String],
    ) -> Self {
        let mine: Vec<&Case> =
            plan.cases.iter().enumerate().filter(|(place, _)| shard.has(*place)).map(|(_, case)| case).collect();
        let runs = || mine.iter().filter_map(|case| Some((*case, outcomes.get(&case.id)?)));
        let bucket = |(signature, cases): (Signature, Vec<&Case>)| {
            let first = cases[0];
            let mine = |r: &&Reproducer| r.signature == signature && r.case == first.id;
            Bucket {
                count: cases.len(),
                cases: cases.iter().map(|case| case.id.clone()).collect(),
                command: first.command(options),
                message: outcomes[&first.id].message.clone(),
                artifact: reproducers.iter().find(mine).and_then(|r| r.folder.clone()),
                signature,
            }
        };
        let mut all: Vec<Bucket> = buckets(runs()).into_iter().map(bucket).collect();
        let (coverage, machines) = coverage(&mine, outcomes);
        if shard == Shard::WHOLE {
            all.extend(missed(&mine, &machines, options));
        }
        let none = |counts: &BTreeMap<String, u64>| {
            counts.iter().filter(|(_, count)| **count == 0).map(|(point, _)| point.clone()).collect::<Vec<_>>()
        };
        let never = coverage.iter().map(|(block, counts)| (block.clone(), none(counts)));
        let not_run: Vec<String> =
            mine.iter().filter(|case| !outcomes.contains_key(&case.id)).map(|case| case.id.clone()).collect();
        let worst = runs().map(|(_, outcome)| outcome).rev().max_by_key(|outcome| outcome.status);
        let result = match worst.filter(|outcome| outcome.status > 0) {
            Some(outcome) => outcome.result,
            None => match all.first() {
                Some(bucket) => bucket.signature.kind,
                None if !not_run.is_empty() => Verdict::Interrupted,
                None => Verdict::Pass,
            },
        };
        Self {
            result,
            command: "regress",
            tier: plan.tier.clone(),
            shard: (shard != Shard::WHOLE).then_some(shard),
            plan: plan.digest(),
            buckets: all,
            never: never.filter(|(_, points)| !points.is_empty()).collect(),
            coverage,
            not_run,
            runs: runs().map(|(case, outcome)| row(case, outcome)).collect(),
        }
    }

    /// Exit status of the program.
    pub fn status(&self) -> u8 {
        let worst = self.runs.iter().map(|run| run.outcome.status).max().unwrap_or(0);
        worst.max(u8::from(!self.buckets.is_empty()))
    }

    /// The same report with all times at zero.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let mut same = self.clone();
        for run in &mut same.runs {
            (run.outcome.build_s, run.outcome.wall_s) = (0.0, 0.0);
        }
        same
    }

    /// The report as one JSON object.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("words, numbers and maps of them are JSON");
        text.push('\n');
        text
    }
}

fn row(case: &Case, outcome: &CaseOutcome) -> Run {
    let (kind, name) = match &case.work {
        Work::Block { block, .. } => ("block", block),
        Work::Kernel { kernel } => ("kernel", kernel),
        Work::Program { theme } => ("program", theme),
        Work::Golden { kernel } => ("golden", kernel),
    };
    let (block, preset) = (case.block().to_owned(), case.label().to_owned());
    // The points that the case reached are part of the sums.
    let outcome = CaseOutcome { coverage: BTreeMap::new(), ..outcome.clone() };
    Run { block, preset, kind, name: name.clone(), seed: case.seed, outcome }
}

/// The name under which points of programs and kernels are counted: the machine on which they run.
fn machine_of(case: &Case) -> Option<String> {
    let runs = matches!(case.work, Work::Program { .. } | Work::Kernel { .. });
    runs.then(|| format!("{} {}", gpurf_sm::ENTRY.name, case.label()))
}

/// The points that were reached: of each block, and on each machine by programs and kernels, with the points that these have to reach.
fn coverage(
    cases: &[&Case],
    outcomes: &BTreeMap<String, CaseOutcome>,
) -> (BTreeMap<String, BTreeMap<String, u64>>, BTreeMap<String, Reached>) {
    let mut blocks: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut machines: BTreeMap<String, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        if let Some(machine) = machine_of(case) {
            machines.entry(machine).or_default().push(case);
            continue;
        }
        let Some(outcome) = outcomes.get(&case.id).filter(|outcome| !outcome.coverage.is_empty()) else { continue };
        let of_block = blocks.entry(case.block().to_owned()).or_default();
        for (point, count) in &outcome.coverage {
            *of_block.entry(point.clone()).or_default() += count;
        }
    }
    let reached = |cases: Vec<&Case>| {
        let config = cases[0].config().ok()?;
        let programs = || cases.iter().filter(|case| matches!(case.work, Work::Program { .. }));
        let run = programs().filter(|case| outcomes.contains_key(&case.id)).count();
        let mut counted = cases.iter().filter_map(|case| outcomes.get(&case.id)).flat_map(|outcome| &outcome.coverage);
        counted.clone().next()?;
        let counted = counted.by_ref().map(|(point, count)| (point.as_str(), *count));
        Some(Reached::new(&config, run, run == programs().count(), counted))
    };
    let machines: BTreeMap<_, _> =
        machines.into_iter().filter_map(|(name, cases)| Some((name, reached(cases)?))).collect();
    for (name, reached) in &machines {
        let expected = reached.counts.iter().filter(|(point, _)| !reached.unreached.contains_key(**point));
        blocks.insert(name.clone(), expected.map(|(point, count)| ((*point).to_owned(), *count)).collect());
    }
    (blocks, machines)
}

/// If many programs of a configuration were run, they and its kernels have to reach every point, and no unreachable one.
fn missed(cases: &[&Case], machines: &BTreeMap<String, Reached>, options: &[String]) -> Vec<Bucket> {
    let wrong = |(name, reached): (&String, &Reached)| {
        let points: Vec<String> = reached.missed.iter().map(ToString::to_string).collect();
        let of_it = || cases.iter().filter(|case| machine_of(case).as_ref() == Some(name));
        let mut programs = of_it().filter(|case| matches!(case.work, Work::Program { .. }));
        let command = match programs.next() {
            Some(first) => first.command_of(format!("gpurf cosim --programs {}", 1 + programs.count()), options),
            None => of_it().next().map_or_else(String::new, |first| first.command(options)),
        };
        let (block, kind) = (gpurf_sm::ENTRY.name.to_owned(), Verdict::CoverageMissed);
        (!points.is_empty()).then(|| Bucket {
            signature: Signature { block, port: name.clone(), kind },
            count: 1,
            cases: Vec::new(),
            command,
            message: format!("together they reached too rarely: {}", points.join(", ")),
            artifact: None,
        })
    };
    machines.iter().filter_map(wrong).collect()
}

/// A case of an earlier run, as read from its JSON.
#[derive(Clone, Debug, Deserialize)]
struct Earlier {
    case: String,
    result: Verdict,
    cycles: u64,
    wall_s: f64,
}

/// The results of an earlier run.
#[derive(Clone, Debug, Default)]
pub struct Trend {
    runs: BTreeMap<String, Earlier>,
}

/// Changes since an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Cases whose verdict has changed: case, before, now.
    pub results: Vec<(String, Verdict, Verdict)>,
    /// Other cases than blocks, with the same verdict, that take another number of cycles: case, before, now.
    pub cycles: Vec<(String, u64, u64)>,
    /// Number of cases that the earlier run did not have.
    pub new: usize,
    /// Number of cases that only the earlier run had.
    pub gone: usize,
}

impl Trend {
    /// The report of an earlier run; `None` if the file does not exist or is not a report.
    pub fn read(path: &Path) -> Option<Self> {
        #[derive(Deserialize)]
        struct Document {
            runs: Vec<Earlier>,
        }
        let text = std::fs::read_to_string(path).ok()?;
        let document: Document = serde_json::from_str(&text).ok()?;
        Some(Self { runs: document.runs.into_iter().map(|run| (run.case.clone(), run)).collect() })
    }

    /// Seconds that a case took.
    pub fn seconds(&self, case: &str) -> Option<f64> {
        self.runs.get(case).map(|run| run.wall_s)
    }

    /// Thousand cycles per second over all cases that both runs have: then and now.
    pub fn speeds(&self, report: &RegressionReport) -> Option<(f64, f64)> {
        let (mut then, mut now) = ((0, 0.0), (0, 0.0));
        for run in report.runs.iter().filter(|run| run.kind != "golden") {
            let Some(earlier) = self.runs.get(&run.outcome.case) else { continue };
            then = (then.0 + earlier.cycles, then.1 + earlier.wall_s);
            now = (now.0 + run.outcome.cycles, now.1 + run.outcome.wall_s);
        }
        let speed = |(cycles, seconds): (u64, f64)| (seconds > 0.0).then(|| cycles as f64 / seconds / 1e3);
        Some((speed(then)?, speed(now)?))
    }

    /// The changes since this earlier run.
    pub fn changes(&self, report: &RegressionReport) -> Changes {
        let mut changes = Changes::default();
        for run in &report.runs {
            let outcome = &run.outcome;
            let Some(earlier) = self.runs.get(&outcome.case) else {
                changes.new += 1;
                continue;
            };
            if earlier.result != outcome.result {
                changes.results.push((outcome.case.clone(), earlier.result, outcome.result));
            } else if run.kind != "block" && earlier.cycles != outcome.cycles {
                changes.cycles.push((outcome.case.clone(), earlier.cycles, outcome.cycles));
            }
        }
        let now: BTreeSet<&String> = report.runs.iter().map(|run| &run.outcome.case).collect();
        changes.gone = self.runs.keys().filter(|case| !now.contains(case)).count();
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Overrides;
    use super::*;
    use crate::Project;

    fn plan(text: &str) -> RegressionPlan {
        RegressionPlan::parse(&Project::find(), text, "plan.toml", "smoke", Overrides::default()).unwrap()
    }

    #[test]
    fn coverage_that_is_missed_has_the_command_of_its_machine() {
        let plan = plan(
            "[[smoke]]\nrun = \"programs\"\npresets = [\"two-level\"]\nvariants = [[], [\"mrf.issue_ports=2\", \"sm.scheduler=round_robin\"]]\n\
             seeds = [7]\ncount = 120\nlimit_s = 5\n",
        );
        let outcome = |case| CaseOutcome {
            coverage: BTreeMap::from([("a".to_owned(), 1)]),
            ..CaseOutcome::new(case, Verdict::Pass, "")
        };
        let outcomes = plan.cases.iter().map(|case| (case.id.clone(), outcome(case))).collect();
        let options = ["--rtl mrf_arbiter=own.sv".to_owned()];
        let report = RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &options);
        let missed = |case: &Case| {
            let name = format!("sm {}", case.label());
            report.buckets.iter().find(|bucket| bucket.signature.port == name).unwrap().command.clone()
        };
        let command = "gpurf cosim --programs 120 --preset two-level --seed 7 --rtl mrf_arbiter=own.sv";
        assert_eq!(missed(&plan.cases[0]), command);
        let variant = plan.cases.last().unwrap();
        let settings: Vec<String> = variant.settings.iter().map(|setting| format!(" --set {setting}")).collect();
        let command = format!("gpurf cosim --programs 120{} --seed 7 --rtl mrf_arbiter=own.sv", settings.join(""));
        assert!(settings.len() > 1);
        assert_eq!(missed(variant), command);
        assert_eq!(report.result, Verdict::CoverageMissed);
    }

    #[test]
    fn result_and_status_agree_where_cases_have_not_been_run() {
        let plan = plan("[[smoke]]\nrun = \"goldens\"\nnames = [\"saxpy\"]\nlimit_s = 5\n");
        let of = |verdict| {
            let first = &plan.cases[0];
            let outcomes = BTreeMap::from([(first.id.clone(), CaseOutcome::new(first, verdict, ""))]);
            let report = RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &[]);
            assert_eq!(report.not_run.len(), plan.cases.len() - 1);
            (report.result, report.status())
        };
        assert_eq!(of(Verdict::GoldenChanged), (Verdict::GoldenChanged, 1));
        assert_eq!(of(Verdict::Pass), (Verdict::Interrupted, 0));
    }
}

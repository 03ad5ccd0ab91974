//! `gpurf mutate`: checks that every fault in the RTL is found.

use std::collections::BTreeMap;
use std::sync::Mutex;

use gpurf_lockstep::Verdict;
use gpurf_regress::mutants::{self, Place, Summary};
use serde::Serialize;

use crate::args::Mutate;
use crate::failure::{Failure, Status};
use crate::interrupt;
use crate::output::{self, BAD, Cell, GOOD, numbers, words};
use crate::plan;
use crate::progress::Progress;
use crate::result::json;

#[derive(Serialize)]
struct Report<'a> {
    result: Verdict,
    command: &'static str,
    seed: u64,
    #[serde(flatten)]
    summary: Summary,
    families: BTreeMap<&'a str, Summary>,
    operators: BTreeMap<&'a str, Summary>,
    verdicts: &'a [mutants::MutantResult],
}

/// Runs hand-written and generated mutants.
pub fn mutate(arguments: &Mutate) -> Result<Status, Failure> {
    let project = super::project()?;
    for name in &arguments.block {
        plan::find(name)?;
    }
    if arguments.only_generated && arguments.count == 0 && arguments.mistakes == 0 {
        return Err(Failure::bad_input(
            "all kinds of mutants are switched off: leave out --only-generated, --count 0 or --mistakes 0",
        ));
    }
    let wanted = |module: &str| arguments.block.is_empty() || arguments.block.iter().any(|b| b == module);
    let mut list = mutants::hand_written(&project, &|module| wanted(module) && !arguments.only_generated)?;
    let place = match arguments.in_sm {
        Some(count) => {
            let in_sm = |m: &mutants::Mutant| gpurf_sm::ENTRY.contains(&m.module);
            list = mutants::sample(list.into_iter().filter(in_sm).collect(), count.into());
            Place::Machine
        }
        None => Place::Blocks,
    };
    let tools = super::toolchain(&project)?;
    interrupt::listen()?;
    if arguments.count > 0 && place == Place::Blocks {
        output::note(&format!("making {} mutants of the netlists", arguments.count));
        list.extend(mutants::generated(&project, &wanted, arguments.count, arguments.seed)?);
    }
    if arguments.mistakes > 0 && place == Place::Blocks {
        output::note(&format!("making {} mistakes in the source of each module", arguments.mistakes));
        list.extend(mutants::mistakes(&project, &wanted, arguments.mistakes, arguments.seed)?);
    }
    if list.is_empty() {
        return Err(Failure::bad_input(format!("there are no mutants of {}", arguments.block.join(", "))));
    }

    let finished = Mutex::new(Vec::new());
    let progress = Progress::new(list.len(), false);
    let threads = super::threads(arguments.run.jobs);
    let done = |verdict: &mutants::MutantResult| {
        let mut finished = finished.lock().expect("no panic with the lock");
        progress.end(finished.len(), "");
        finished.push(verdict.clone());
    };
    let bench = mutants::Bench {
        project: &project,
        tools: &tools,
        simulator: arguments.simulator.into(),
        place,
        seed: arguments.seed,
        stop: interrupt::flag(),
    };
    let ended = mutants::run_mutants(&bench, &list, threads, done);
    drop(progress);
    let (verdicts, status) = match ended {
        Ok(verdicts) => {
            let status = if good(place, &verdicts) { Status::Pass } else { Status::Failed };
            (verdicts, status)
        }
        Err(_) if interrupt::requested_by_now() => (finished.into_inner().unwrap_or_default(), Status::Interrupted),
        Err(error) => return Err(error.into()),
    };
    show(arguments, &verdicts, status)?;
    Ok(status)
}

/// Whether the result is good. In a block's own lockstep, every mutant has to be caught. In the SM, kernels need not reach a mutant; but some must be
/// caught, and nine in ten of these located.
fn good(place: Place, verdicts: &[mutants::MutantResult]) -> bool {
    let Summary { caught, located, .. } = mutants::summary(verdicts);
    match place {
        Place::Blocks => verdicts.iter().all(|v| !survived(v) && !contradicts(v)),
        Place::Machine => caught > 0 && located * 10 >= caught * 9,
    }
}

/// Neither caught nor shown to be equivalent.
fn survived(verdict: &mutants::MutantResult) -> bool {
    verdict.caught.is_none() && verdict.equivalent.is_none()
}

/// Declared equivalent, but caught.
fn contradicts(verdict: &mutants::MutantResult) -> bool {
    verdict.caught.is_some() && verdict.equivalent.is_some()
}

fn show(arguments: &Mutate, verdicts: &[mutants::MutantResult], status: Status) -> Result<(), Failure> {
    let summary = mutants::summary(verdicts);
    if arguments.run.json {
        let result = match status {
            Status::Pass => Verdict::Pass,
            Status::Interrupted => Verdict::Interrupted,
            _ => Verdict::CheckFailed,
        };
        let (families, operators) = (families(verdicts), operators(verdicts));
        let (command, seed) = ("mutate", arguments.seed);
        return output::print(&json(&Report { result, command, seed, summary, families, operators, verdicts }));
    }
    let modules = by(verdicts, |verdict| Some(verdict.module.as_str()));
    for (first, groups) in [("module", modules), ("operator", operators(verdicts)), ("family", families(verdicts))] {
        if groups.is_empty() {
            continue;
        }
        let mut rows: Vec<Vec<Cell>> = groups.iter().map(|(name, summary)| row(name, summary)).collect();
        if first == "family" {
            rows.push(row("all", &summary));
        }
        let columns = [
            words(first),
            numbers("mutants"),
            numbers("caught"),
            numbers("located"),
            numbers("equivalent"),
            numbers("survived"),
            numbers("cycles (median)"),
            numbers("(worst)"),
        ];
        output::print(&output::table(&columns, &rows))?;
        output::print("\n")?;
    }
    for verdict in verdicts {
        let what = match verdict {
            v if survived(v) && arguments.in_sm.is_some() => "not reached by any kernel".to_owned(),
            v if survived(v) => format!("{BAD}survived{BAD:#}"),
            v if contradicts(v) => format!("{BAD}caught, but declared equivalent{BAD:#}"),
            v if v.caught.is_some() && !v.located => "caught, not located".to_owned(),
            _ => continue,
        };
        let blamed = verdict
            .caught
            .as_ref()
            .map_or(String::new(), |c| format!(" (lockstep of {} in cycle {}: {})", c.lockstep, c.cycle, c.blamed));
        let proof = verdict.proof.as_ref().map_or(String::new(), |said| format!(" (proof: {said})"));
        output::print(&format!("{what}: {}: {}{blamed}{proof}\n", verdict.module, verdict.name))?;
    }
    if status == Status::Interrupted {
        output::print("interrupted\n")?;
    }
    Ok(())
}

/// Totals of the verdicts, grouped by key; verdicts without a key are left out.
fn by<'a>(
    verdicts: &'a [mutants::MutantResult],
    key: impl Fn(&'a mutants::MutantResult) -> Option<&'a str>,
) -> BTreeMap<&'a str, Summary> {
    let mut groups: BTreeMap<&str, Vec<&mutants::MutantResult>> = BTreeMap::new();
    for verdict in verdicts {
        if let Some(key) = key(verdict) {
            groups.entry(key).or_default().push(verdict);
        }
    }
    groups.into_iter().map(|(key, verdicts)| (key, mutants::summary(verdicts))).collect()
}

/// Totals of the operators that made the mistakes.
fn operators(verdicts: &[mutants::MutantResult]) -> BTreeMap<&str, Summary> {
    by(verdicts, |verdict| verdict.operator.as_deref())
}

/// Totals of the families.
fn families(verdicts: &[mutants::MutantResult]) -> BTreeMap<&str, Summary> {
    by(verdicts, |verdict| Some(verdict.family.name()))
}

fn row(name: &str, summary: &Summary) -> Vec<Cell> {
    vec![
        name.into(),
        summary.mutants.into(),
        summary.caught.into(),
        summary.located.into(),
        summary.equivalent.into(),
        Cell::styled(summary.survived, if summary.survived == 0 { GOOD } else { BAD }),
        summary.median_cycles.into(),
        summary.worst_cycles.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(caught: bool, located: bool) -> mutants::MutantResult {
        let caught = caught.then(|| mutants::Caught {
            lockstep: "sm".into(),
            cycle: 1,
            blamed: "alu".into(),
            assertion: false,
            first: String::new(),
        });
        mutants::MutantResult {
            module: "alu".into(),
            name: String::new(),
            family: mutants::Family::Mistake,
            operator: None,
            caught,
            located,
            equivalent: None,
            proof: None,
        }
    }

    #[test]
    fn of_mutants_in_the_sm_some_are_caught_and_most_of_these_located() {
        let good = |caught, located, survived: usize| {
            let verdicts = |count, caught, located| std::iter::repeat_n(verdict(caught, located), count);
            let all = verdicts(located, true, true).chain(verdicts(caught - located, true, false));
            good(Place::Machine, &all.chain(verdicts(survived, false, false)).collect::<Vec<_>>())
        };
        assert!(good(10, 9, 5) && good(1, 1, 0));
        assert!(!good(10, 8, 0) && !good(0, 0, 5));
    }
}

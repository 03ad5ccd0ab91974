//! `gpurf audit`: checks that lockstep compares every bit of the RTL's state.

use gpurf_blocks::Block;
use gpurf_blocks::registry::blocks;
use gpurf_lockstep::Verdict;
use gpurf_regress::audit::{self, Audit, AuditError, CYCLES_EACH, Hole, HoleKind};
use gpurf_regress::{run_all, suite};
use gpurf_sm::Sm;
use serde::Serialize;

use crate::args;
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
    audits: &'a [Audit],
}

/// The outcome for one block.
enum Ended {
    Audited(Audit),
    Refused(Failure),
    Skipped,
}

/// Flips every bit of every chosen block.
pub fn audit(arguments: &args::Audit) -> Result<Status, Failure> {
    let project = super::project()?;
    let blocks: Vec<_> = match &arguments.block[..] {
        [] => blocks().collect(),
        names => names.iter().map(|name| plan::find(name)).collect::<Result<_, _>>()?,
    };
    if blocks.iter().any(|block| block.name == Sm::NAME) {
        let why = "the inputs of the SM come from memory and host, and an audit's are random: audit the blocks in it";
        return Err(Failure::bad_input(format!("--block {}: {why}", Sm::NAME)));
    }
    let selected = match &arguments.selection {
        selection if selection.is_default() => None,
        selection => Some(plan::load(selection)?),
    };
    let tools = super::toolchain(&project)?;
    interrupt::listen()?;

    let progress = Progress::new(blocks.len(), !arguments.run.json);
    let order: Vec<usize> = (0..blocks.len()).collect();
    let work = |index: &usize| {
        if interrupt::requested() {
            return Ended::Skipped;
        }
        let name = blocks[*index].name;
        let config = selected.unwrap_or_else(|| suite::audited(name));
        progress.begin(*index, name);
        match audit::audit(&project, &tools, name, &config, arguments.seed) {
            Ok(audit) => Ended::Audited(audit),
            Err(_) if interrupt::requested_by_now() => Ended::Skipped,
            Err(error) => Ended::Refused(refusal(name, error)),
        }
    };
    let done = |index: usize, _: &Ended| progress.end(index, &format!("audited {}", blocks[index].name));
    let ended = run_all(&order, super::threads(arguments.run.jobs), work, done);
    drop(progress);

    let status = ended.iter().map(status).max().unwrap_or(Status::Pass);
    let audits: Vec<Audit> =
        ended.iter().filter_map(|e| if let Ended::Audited(a) = e { Some(a.clone()) } else { None }).collect();
    if arguments.run.json {
        let result = match status {
            Status::Pass => Verdict::Pass,
            Status::Failed => Verdict::CheckFailed,
            Status::Interrupted => Verdict::Interrupted,
            Status::BadInput | Status::Tool => Verdict::Error,
        };
        output::print(&json(&Report { result, command: "audit", seed: arguments.seed, audits: &audits }))?;
    } else {
        show(&audits)?;
    }
    for failure in ended.iter().filter_map(|e| if let Ended::Refused(f) = e { Some(f) } else { None }) {
        output::error(&failure.message);
    }
    Ok(status)
}

fn refusal(block: &str, error: AuditError) -> Failure {
    match error {
        AuditError::Job(error) => {
            let Failure { status, message } = error.into();
            Failure { status, message: format!("{block}: {message}") }
        }
        AuditError::Differs { .. } | AuditError::Overlooked { .. } => {
            Failure { status: Status::Failed, message: error.to_string() }
        }
    }
}

fn status(ended: &Ended) -> Status {
    match ended {
        Ended::Audited(audit) if audit.complete() => Status::Pass,
        Ended::Audited(_) => Status::Failed,
        Ended::Refused(failure) => failure.status,
        Ended::Skipped => Status::Interrupted,
    }
}

fn show(audits: &[Audit]) -> Result<(), Failure> {
    let columns = [
        words("block"),
        numbers("register bits"),
        numbers("reported"),
        numbers("inside, once"),
        numbers("seldom"),
        numbers("memory words"),
        numbers("reported"),
        words("result"),
    ];
    let row = |a: &Audit| -> Vec<Cell> {
        let (word, style) = if a.complete() { ("complete", GOOD) } else { ("HOLES", BAD) };
        vec![
            a.block.as_str().into(),
            a.bits.into(),
            a.reported.into(),
            a.inside.into(),
            a.seldom.into(),
            a.memory_words.into(),
            a.memory_reported.into(),
            Cell::styled(word, style),
        ]
    };
    output::print(&output::table(&columns, &audits.iter().map(row).collect::<Vec<_>>()))?;
    output::print(&format!(
        "Each bit was inverted in {CYCLES_EACH} of the cycles in which it is compared (seldom: in fewer, as there were no more), and reported in every one.\n\
         Inside, once: registers of instances that have no probe in the block; the audit of their own block inverts them as often as the others.\n"
    ))?;
    for audit in audits {
        for hole in &audit.holes {
            output::print(&format!("{}: {}\n", audit.block, sentence(hole)))?;
        }
    }
    Ok(())
}

fn sentence(hole: &Hole) -> String {
    let Hole { register, bits, kind } = hole;
    let found = match kind {
        HoleKind::NotDeclared => "is no probe and no memory, and no output is declared to show it".to_owned(),
        HoleKind::Missed { cycle } => format!("is compared in cycle {cycle}, but a flip was not reported"),
        HoleKind::NeverCompared => "was compared in no cycle".to_owned(),
        HoleKind::NeverShown => "was shown by no net of the block".to_owned(),
    };
    format!("{register} ({bits} bits) {found}")
}

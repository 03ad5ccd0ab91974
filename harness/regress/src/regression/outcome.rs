//! The result of a case, and the signature that groups failures.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpurf_lockstep::Verdict;
use gpurf_lockstep::report::DivergenceSummary;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::case::{Case, Work};
use crate::mutants::{line_of, module_of};
use crate::{JobError, JobResult};

/// Maximum number of characters of a signature in the name of its folder.
const FOLDER_LENGTH: usize = 80;

/// The result of a case: a line of the journal, and a row of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// Name of the case.
    pub case: String,
    /// How it ended.
    pub result: Verdict,
    /// Exit status of the program.
    pub status: u8,
    /// Cycles found equal; of a golden, cycles run.
    #[serde(default)]
    pub cycles: u64,
    /// Signals compared in each cycle.
    #[serde(default)]
    pub signals_compared: usize,
    /// Seconds of building.
    #[serde(default)]
    pub build_s: f64,
    /// Seconds of running.
    #[serde(default)]
    pub wall_s: f64,
    /// Event counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, u64>,
    /// How often each point was reached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coverage: BTreeMap<String, u64>,
    /// The first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceSummary>,
    /// The module whose assertion failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl CaseOutcome {
    /// The outcome of a case without any data but a message.
    pub fn new(case: &Case, result: Verdict, message: impl Into<String>) -> Self {
        Self {
            case: case.id.clone(),
            result,
            status: if result.good() { 0 } else { 1 },
            cycles: 0,
            signals_compared: 0,
            build_s: 0.0,
            wall_s: 0.0,
            events: BTreeMap::new(),
            coverage: BTreeMap::new(),
            divergence: None,
            module: None,
            message: message.into(),
        }
    }

    /// Whether the case has a result. If a tool is missing, a build fails or a disk is full, it has none: the next run may have one.
    pub fn is_final(&self) -> bool {
        self.status < 3
    }

    /// The outcome of a case that could not be run.
    pub fn refused(case: &Case, error: &JobError) -> Self {
        let status = if matches!(error, JobError::Input(_)) { 2 } else { 3 };
        Self { status, ..Self::new(case, Verdict::Error, error.to_string()) }
    }

    /// The outcome of a lockstep. `overrides`: modules that other files replace.
    pub fn of(case: &Case, result: &JobResult, overrides: &[(String, PathBuf)]) -> Self {
        let is_assertion = result.result == Verdict::Assertion;
        let owned = |(name, count): (&'static str, u64)| (name.to_owned(), count);
        Self {
            cycles: result.cycles,
            signals_compared: result.signals_compared,
            build_s: result.build_s,
            wall_s: result.wall_s,
            events: result.events.iter().map(|(name, count)| owned((name, *count))).collect(),
            // For programs and kernels the report knows the list of all points, and a single case reaches few of them.
            coverage: result
                .coverage
                .iter()
                .copied()
                .filter(|&(_, count)| count > 0 || matches!(case.work, Work::Block { .. }))
                .map(owned)
                .collect(),
            divergence: result.divergence.clone(),
            module: is_assertion.then(|| module_of(&result.report, overrides)),
            ..Self::new(case, result.result, result.report.trim_end())
        }
    }
}

/// The common properties of failures that probably have the same cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signature {
    /// The block at fault.
    pub block: String,
    /// Its port, net or register; the location of an assertion; or the text of a message.
    pub port: String,
    /// The verdict.
    pub kind: Verdict,
}

impl Signature {
    /// The signature of a failure; `None` if the case did not fail.
    pub fn of(case: &Case, outcome: &CaseOutcome) -> Option<Self> {
        let kind = outcome.result;
        if kind.good() || kind == Verdict::Interrupted {
            return None;
        }
        let first = outcome.message.lines().next().unwrap_or_default();
        let (block, port) = match (kind, &outcome.divergence) {
            (Verdict::Diverged, Some(d)) => (d.block.clone(), without_indices(&d.port)),
            (Verdict::Assertion, _) => {
                let module = outcome.module.clone().unwrap_or_else(|| module_of(&outcome.message, &[]));
                (module, format!("line {}", line_of(&outcome.message)))
            }
            // One change of the model usually changes many goldens.
            (Verdict::GoldenChanged, _) => (case.block().to_owned(), case.label().to_owned()),
            (Verdict::CoverageMissed | Verdict::ProbesAbsent | Verdict::TimeLimit, _) => {
                (case.block().to_owned(), String::new())
            }
            (Verdict::CheckFailed, _) => match &case.work {
                Work::Kernel { kernel } | Work::Golden { kernel } => (case.block().to_owned(), kernel.clone()),
                _ => (case.block().to_owned(), without_numbers(first)),
            },
            _ => (case.block().to_owned(), without_numbers(first)),
        };
        Some(Self { block, port, kind })
    }

    /// The name of a folder, which differs for different signatures.
    pub fn folder(&self) -> String {
        let mut text = format!("{}-{}", self.kind.word(), self.block);
        if !self.port.is_empty() {
            text = format!("{text}-{}", self.port);
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = text.chars().map(plain).take(FOLDER_LENGTH).collect();
        if name == text {
            return name;
        }
        // A hash distinguishes names that were shortened.
        format!("{}-{:08x}", name.trim_end_matches('-'), XxHash3_64::oneshot(text.as_bytes()) as u32)
    }
}

/// `grant_o[3]` and `grant_o[5]` are one port.
fn without_indices(port: &str) -> String {
    let mut depth = 0;
    let keep = |c: &char| {
        depth += i32::from(*c == '[');
        let inside = depth > 0;
        depth -= i32::from(*c == ']');
        !inside
    };
    port.chars().filter(keep).collect::<String>().trim_end().to_owned()
}

/// Replaces each number by `#`: decimal numbers, and hexadecimal ones after `0x`.
fn without_numbers(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        words.push_str(&rest[..at]);
        words.push('#');
        let number = &rest[at..];
        rest = match number.strip_prefix("0x").filter(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit())) {
            Some(digits) => digits.trim_start_matches(|c: char| c.is_ascii_hexdigit()),
            None => number.trim_start_matches(|c: char| c.is_ascii_digit()),
        };
    }
    words.push_str(rest);
    words.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gpurf_blocks::config::Config;

    use super::*;

    fn case() -> Case {
        Case::new(&Config::default(), 1, Work::Block { block: "mrf".into(), cycles: 9 }, 5)
    }

    fn signature(outcome: &CaseOutcome) -> Signature {
        Signature::of(&case(), outcome).unwrap()
    }

    #[test]
    fn a_divergence_goes_by_block_and_port() {
        let at = |port: &str| {
            let divergence = DivergenceSummary {
                cycle: 8,
                block: "mrf_arbiter".into(),
                instance: Some(1),
                port: port.into(),
                model: "0x1".into(),
                rtl: "0x0".into(),
            };
            signature(&CaseOutcome { divergence: Some(divergence), ..CaseOutcome::new(&case(), Verdict::Diverged, "") })
        };
        assert_eq!(at("grant_o[3]"), at("grant_o[15]"));
        assert_ne!(at("grant_o"), at("ready_o"));
        assert_eq!(at("gen_bank[3].u_bank.mem_q[7]").port, "gen_bank.u_bank.mem_q");
        assert_eq!(at("grant_o[3]").folder(), "diverged-mrf_arbiter-grant_o");
    }

    #[test]
    fn an_assertion_goes_by_its_place() {
        let message = "the RTL failed in cycle 7:\n[16] %Error: mrf_bank.sv:62: Assertion failed in TOP.mrf";
        let found = signature(&CaseOutcome::new(&case(), Verdict::Assertion, message));
        assert_eq!((found.block.as_str(), found.port.as_str()), ("mrf_bank", "line 62"));
        // Files of any name: the worker knows which module they replace.
        let overrides = ["mrf_bank=own/my bank.v", "alu=b.vh"].map(|text| text.split_once('=').unwrap());
        let overrides = overrides.map(|(module, file)| (module.to_owned(), file.into()));
        for (file, module) in [("my bank.v", "mrf_bank"), ("b.vh", "alu"), ("other.v", "other")] {
            let message =
                format!("the RTL failed in cycle 7:\n[16] %Error: {file}:62: Assertion failed in TOP.mrf: 'a:9:'");
            let module_of = module_of(&message, &overrides);
            assert_eq!(module_of, module);
            let outcome =
                CaseOutcome { module: Some(module_of), ..CaseOutcome::new(&case(), Verdict::Assertion, message) };
            let found = signature(&outcome);
            assert_eq!((found.block.as_str(), found.port.as_str()), (module, "line 62"));
        }
    }

    #[test]
    fn a_message_goes_by_its_words() {
        let at = |message: &str| signature(&CaseOutcome::new(&case(), Verdict::Hang, message));
        assert_eq!(at("no progress since cycle 7"), at("no progress since cycle 812"));
        assert_eq!(Signature::of(&case(), &CaseOutcome::new(&case(), Verdict::Pass, "")), None);
        assert_eq!(Verdict::OracleMismatch.word(), "oracle_mismatch");
    }

    #[test]
    fn hexadecimal_numbers_are_numbers() {
        let at = |message: &str| signature(&CaseOutcome::new(&case(), Verdict::OracleMismatch, message));
        let first = at("global memory 0x10000a: oracle 0xffffff00, SM 0x0000002a after 12 cycles");
        assert_eq!(first.port, "global memory #: oracle #, SM # after # cycles");
        assert_eq!(first, at("global memory 0xbeef: oracle 0x00000001, SM 0x000000ff after 3 cycles"));
        assert_eq!(without_numbers("10x5 0xyz 0x"), "#x# #xyz #x");
    }

    #[test]
    fn each_signature_has_a_folder_of_its_own() {
        let folder = |port: &str| {
            let (block, kind) = ("sm".into(), Verdict::OracleMismatch);
            Signature { block, port: port.into(), kind }.folder()
        };
        assert_eq!(folder(""), "oracle_mismatch-sm");
        assert_eq!(folder("a_o"), "oracle_mismatch-sm-a_o");
        let long = "a".repeat(100);
        let ports = ["", "-", "a b", "a.b", "a-b", "a b ", &long, &format!("{long}b"), &format!("{long}c")];
        let folders: BTreeSet<String> = ports.into_iter().map(folder).collect();
        assert_eq!(folders.len(), ports.len(), "{folders:?}");
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        assert!(folders.iter().all(|name| name.len() < 100 && name.chars().all(plain)), "{folders:?}");
    }

    #[test]
    fn an_outcome_comes_back_from_its_line() {
        let mut outcome = CaseOutcome::new(&case(), Verdict::TimeLimit, "a\n\"b\"");
        outcome.wall_s = 0.1 + 0.2;
        outcome.events.insert("read".into(), u64::MAX);
        let line = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<CaseOutcome>(&line).unwrap(), outcome);
    }
}

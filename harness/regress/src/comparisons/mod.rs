//! Checks that the operands of the RTL's comparisons differed in each single bit alone. A comparison that ignores a bit is found only by values that
//! differ in that bit and in no other, at a time when the comparison decides something.
//!
//! The check uses the RTL itself. Every `==` and `!=` of two variables in a module's source gets a witness, which records the difference of the operands
//! whenever the rest of the conjunction around the comparison holds. The module with its witnesses then runs in lockstep on the block's own
//! stimulus. Each bit of each comparison has to be the only differing one once. An impossible case is an [`Unaliased`] of the block's driver, with
//! its reason; an entry that does not hold is reported too. If a shape lacks a comparison, or never evaluates it, neither its bits nor its exceptions are
//! judged.

mod scan;

use std::path::{Path, PathBuf};

use gpurf_stimulus::Unaliased;
use serde::Serialize;
use verilated::{Compared, Options, Request, Simulator};

use crate::{JobError, Project};
use scan::{Comparison, comparisons, witnessed};

/// The package that the witnesses call.
const PACKAGE: &str = "gpurf_witness_pkg";
/// The text of the package. A difference of more than 64 bits is cut to its lowest 64.
const PACKAGE_TEXT: &str = r#"// Made by gpurf: the witnesses of comparisons.
package gpurf_witness_pkg;
  import "DPI-C" function void gpurf_witness(input int number, input int bits, input longint unsigned difference);

  function automatic logic same(input int number, input int bits, input logic deciding,
                                input longint unsigned difference, input logic equal);
    if (deciding) gpurf_witness(number, bits, difference);
    return equal;
  endfunction
endpackage
"#;

/// Counts for the comparisons of a module: how many of their bits have been the only ones to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComparisonCounts {
    /// Comparisons that were evaluated in this shape.
    pub comparisons: usize,
    /// Number of their bits.
    pub bits: usize,
    /// Bits that were the only ones to differ.
    pub reached: usize,
    /// Bits for which this is impossible, which are not required.
    pub excused: usize,
}

/// The comparisons of a module.
pub(crate) struct Gate {
    module: &'static str,
    list: Vec<Comparison>,
    text: String,
}

impl Gate {
    /// Reads a module's source; `None`: it has no comparisons.
    pub(crate) fn of(module: &'static str, source: &Path) -> Result<Option<Self>, JobError> {
        let text = std::fs::read_to_string(source)
            .map_err(|e| JobError::Input(format!("cannot read {}: {e}", source.display())))?;
        let list = comparisons(&text);
        if list.is_empty() {
            return Ok(None);
        }
        let text = witnessed(&text, &list, PACKAGE);
        Ok(Some(Self { module, list, text }))
    }

    /// Replaces the module in a request by the module with its witnesses.
    pub(crate) fn apply(&self, project: &Project, request: &mut Request) -> Result<(), JobError> {
        let folder = project.cache().join("witnessed");
        let package = keep(&folder, PACKAGE, PACKAGE_TEXT)?;
        let module = keep(&folder, self.module, &self.text)?;
        request.replace(self.module, &module);
        request.sources.insert(0, package);
        request.options = Options {
            // Only Verilator's models can call an imported function.
            simulator: Simulator::Verilator,
            comparisons: self.list.len(),
            optimise: false,
            ..request.options.clone()
        };
        Ok(())
    }

    /// The counts of a run, and what is missing, as text.
    pub(crate) fn judge(&self, compared: &[Compared], unaliased: &[Unaliased]) -> (ComparisonCounts, Vec<String>) {
        let mut counts = ComparisonCounts { comparisons: 0, bits: 0, reached: 0, excused: 0 };
        let mut missed = Vec::new();
        let mut holds = vec![false; unaliased.len()];
        for (comparison, seen) in self.list.iter().zip(compared).filter(|(_, seen)| seen.bits > 0) {
            counts.comparisons += 1;
            let mut never = Vec::new();
            for bit in 0..seen.bits.min(u64::BITS) {
                let was = seen.alone >> bit & 1 == 1;
                let mut excuses =
                    unaliased.iter().enumerate().filter(|(_, u)| u.holds(&comparison.text, bit)).peekable();
                if excuses.peek().is_some() {
                    counts.excused += 1;
                    excuses.for_each(|(index, _)| holds[index] |= !was);
                    continue;
                }
                counts.bits += 1;
                counts.reached += usize::from(was);
                if !was {
                    never.push(bit);
                }
            }
            if !never.is_empty() {
                let (module, line, text) = (self.module, comparison.line, &comparison.text);
                let bits = gpurf_stimulus::ranges(&never);
                missed.push(format!("{module}.sv:{line}: {text}: never differed in bits {bits} alone, one at a time"));
            }
        }
        let untrue = unaliased.iter().zip(holds).filter(|(u, holds)| !holds && !self.is_unmade(u.comparison, compared));
        missed.extend(untrue.map(|(u, _)| format!("{}: the exception {:?} does not hold", u.comparison, u.why)));
        (counts, missed)
    }

    /// Whether the source has a comparison that the run never evaluated. If the source does not have it, the exception is wrong.
    fn is_unmade(&self, text: &str, compared: &[Compared]) -> bool {
        let mut those = self.list.iter().zip(compared).filter(|(comparison, _)| comparison.text == text).peekable();
        those.peek().is_some() && those.all(|(_, seen)| seen.bits == 0)
    }
}

/// A file in a folder whose name depends on its content, so that a build can be reused.
fn keep(folder: &Path, name: &str, text: &str) -> Result<PathBuf, JobError> {
    // A request finds the file by the module's name.
    let folder = folder.join(format!("{:016x}", fingerprint(text)));
    let file = folder.join(name).with_extension("sv");
    let failed = |e: std::io::Error| JobError::Build(format!("cannot write {}: {e}", file.display()));
    if !std::fs::read(&file).is_ok_and(|old| old == text.as_bytes()) {
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let scratch = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
        std::fs::write(scratch.path(), text).map_err(failed)?;
        scratch.persist(&file).map_err(|e| failed(e.error))?;
    }
    Ok(file)
}

fn fingerprint(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(source: &str) -> Gate {
        Gate { module: "toy", list: comparisons(source), text: String::new() }
    }

    #[test]
    fn every_bit_has_to_be_the_only_one_that_differs() {
        let gate = gate("assign x = v && tag_q == name_i;\nassign y = a != b;");
        let seen = [Compared { bits: 4, alone: 0b0111 }, Compared { bits: 0, alone: 0 }];
        let (counts, missed) = gate.judge(&seen, &[]);
        assert_eq!(counts, ComparisonCounts { comparisons: 1, bits: 4, reached: 3, excused: 0 });
        assert_eq!(missed, ["toy.sv:1: tag_q == name_i: never differed in bits 3 alone, one at a time"]);
    }

    #[test]
    fn an_exception_has_to_hold() {
        let gate = gate("assign x = tag_q == name_i;");
        let excuse = [Unaliased::bits("tag_q == name_i", 3..=3, "a reason")];
        let (counts, missed) = gate.judge(&[Compared { bits: 4, alone: 0b0111 }], &excuse);
        assert_eq!((counts.bits, counts.reached, counts.excused, missed.len()), (3, 3, 1, 0));
        let (_, missed) = gate.judge(&[Compared { bits: 4, alone: 0b1111 }], &excuse);
        assert_eq!(missed, ["tag_q == name_i: the exception \"a reason\" does not hold"]);
    }

    #[test]
    fn an_exception_of_a_comparison_that_is_never_made_is_not_judged() {
        let gate = gate("assign x = tag_q == name_i;\nassign y = v && tag_q == name_i;\nassign z = a != b;");
        let excuse = |text| [Unaliased::bits(text, 3..=3, "a reason")];
        let never = Compared::default();
        let (counts, missed) = gate.judge(&[never; 3], &excuse("tag_q == name_i"));
        assert_eq!((counts, missed.len()), (ComparisonCounts { comparisons: 0, bits: 0, reached: 0, excused: 0 }, 0));
        // One of the two comparisons with this text is evaluated, and contradicts the exception.
        let made = [never, Compared { bits: 4, alone: 0b1111 }, never];
        let (_, missed) = gate.judge(&made, &excuse("tag_q == name_i"));
        assert_eq!(missed, ["tag_q == name_i: the exception \"a reason\" does not hold"]);
        // The source has no such comparison.
        let (_, missed) = gate.judge(&[never; 3], &excuse("tag_q == other_i"));
        assert_eq!(missed, ["tag_q == other_i: the exception \"a reason\" does not hold"]);
    }
}

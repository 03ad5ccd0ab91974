//! The software-managed register hierarchy: which values go to LRF and ORF (hierarchy thesis, chapter 6).
//!
//! After the passes of [`crate::marks`], on finished code. First the code is cut into strands, at whose ends LRF and ORF are void; then, in each strand, values
//! that are read soon and often get a place above the MRF. Only control fields change. Each step has a section in `docs/hierarchy.md`, and most a switch
//! in [`HierarchyOptions`], since the thesis compares them (figure 6.14).
//!
//! | module | what it does |
//! |---|---|
//! | `strands` | strands (6.3) |
//! | `regions` | what a value may not leave: a basic block, or a strand (6.4.4) |
//! | `values` | writes and reads of a region, and which of them are one value (6.4.4) |
//! | `savings` | energies (figures 6.5, 6.8) |
//! | `greedy` | the queue and the entries (figure 6.6) |
//! | `partial_ranges` | values that find no entry lose their last reads (6.4.2) |
//! | `read_operands` | values that are read only (6.4.3) |
//! | `last_result` | what may go to the LRF, unified or split (6.4.5) |
//! | `encoding` | results that go to one level only (6.5.5) |
//! | `explain` | why a value is where it is |
//! | [`mod@check`] | proves that every read finds its value; shares nothing with the others |

pub mod check;
mod encoding;
mod explain;
mod greedy;
mod last_result;
mod options;
mod read_operands;
mod regions;
mod savings;
mod strands;
#[cfg(test)]
mod tests;
mod values;

pub use check::check;
pub use explain::{Explanation, Reason};
pub use options::{Encoding, HierarchyOptions};
pub use strands::Cause;

use gpurf_isa::Instruction;

/// Fills in strand ends and levels, and says why. Does nothing without ORF and LRF. Strand ends that the code already has stay.
pub fn run(code: &mut [Instruction], options: &HierarchyOptions) -> Option<Explanation> {
    if options.is_none() {
        return None;
    }
    let strands = strands::form(code, options);
    for (instruction, end) in code.iter_mut().zip(&strands.ends) {
        instruction.control.strand_end = end.is_some();
        instruction.control.source_levels = Default::default();
        instruction.control.result_level = Default::default();
    }
    let mut explanation = Explanation::new(&strands);
    let savings = savings::Savings::new(options);
    for region in regions::of(code, &strands, options.forward_branches) {
        let values = values::Values::of(code, &region);
        greedy::allocate(code, &region, &values, options, &savings, &mut explanation);
    }
    Some(explanation)
}

//! The software-managed register hierarchy: which values go to LRF and ORF (hierarchy thesis, chapter 6).
//!
//! The allocation runs on finished code, after the passes of [`crate::marks`]. First it divides the code into strands, at whose ends LRF and ORF are
//! void. Then, in each strand, it places values that are read soon and often above the MRF. Only control fields change. Each step has a section in
//! `docs/hierarchy.md`, and most have a switch in [`HierarchyOptions`], since the thesis compares them (figure 6.14).
//!
//! | module | what it does |
//! |---|---|
//! | `strands` | strands (6.3) |
//! | `regions` | the code that a value may not leave: a basic block, or a strand (6.4.4) |
//! | `values` | writes and reads of a region, and which of them are one value (6.4.4) |
//! | `savings` | energies (figures 6.5, 6.8) |
//! | `greedy` | the queue and the entries (figure 6.6); values that find no entry lose their last reads (6.4.2) |
//! | `read_operands` | registers that a region only reads (6.4.3) |
//! | `last_result` | values that may go to the LRF, unified or split (6.4.5) |
//! | `encoding` | which pairs of levels a result may go to (6.5.5) |
//! | `explain` | why each value is at its level |
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

/// Fills in strand ends and levels, and explains them. Does nothing if there is neither ORF nor LRF. Keeps the strand ends that the code already has.
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

//! Values that find no entry lose their last read to the MRF, and are tried again (thesis 6.4.2).

use super::greedy::Candidate;

/// The candidate without its last read; nothing where none is left.
pub fn shortened(mut candidate: Candidate) -> Option<Candidate> {
    candidate.reads.pop();
    (!candidate.reads.is_empty()).then_some(candidate)
}

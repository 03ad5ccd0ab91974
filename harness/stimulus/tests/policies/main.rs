//! Reference checkers of the policies: which contender goes first, and which entry is replaced.
//!
//! Twin and RTL are two readings of one page, so a policy that the page states wrongly is wrong in both, and lockstep
//! does not notice. A checker here is a few lines, written from the papers' sentences that are quoted above it. It
//! keeps lists of contenders, ordered by when they were used, served or begun, where the blocks keep pointers, counters
//! and matrices. It reads the twin's ports, and probes for state that is not a policy, while the block's random
//! stimulus runs, and judges every decision. Each checker is also shown decisions of another policy, or a run with one
//! wrong decision, and has to refuse them.

mod activation;
mod alternation;
mod arbitration;
mod issue;
mod rfc;
mod run;

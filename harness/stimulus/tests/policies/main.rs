//! Reference checkers of the policies: who goes first, and what makes room.
//!
//! Twin and RTL are two readings of one page, so a policy that the page has wrong is wrong in both and lockstep sees
//! nothing. A checker here is a few lines that are written from the papers' sentences, which stand above it. It keeps
//! lists (who was used, served or begun, in order) where the blocks keep pointers, counters and matrices. It looks at
//! the twin's ports, and at probes for what is not a policy, while the block's random stimulus runs, and judges every
//! decision. Each one is also shown decisions of another policy, or one wrong decision in a run, and has to refuse
//! them.

mod activation;
mod alternation;
mod arbitration;
mod issue;
mod rfc;
mod run;

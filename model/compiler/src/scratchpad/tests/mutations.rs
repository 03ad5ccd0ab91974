//! Every deliberate fault of a pass is noticed by a judge.

use super::random::sample;
use crate::scratchpad::mutation::{Mutation, with};

/// Number of programs in which a fault is searched for.
const PROGRAMS: u64 = 1500;

#[test]
fn every_mutation_is_seen_by_a_judge() {
    let mut unseen = Vec::new();
    for mutation in Mutation::ALL {
        let seen = (1..PROGRAMS).find_map(|seed| {
            let sample = sample(seed);
            let run = with(Some(mutation), || sample.run(sample.options));
            Some((seed, sample.complaint(&run)?))
        });
        match seen {
            Some((seed, complaint)) => println!("{mutation:?}: program {seed}: {complaint}"),
            None => unseen.push(mutation),
        }
    }
    assert!(unseen.is_empty(), "no judge sees {unseen:?}");
}

//! Entries of the ORF allocated to strands as they need them: hierarchy thesis 6.6.1.
//!
//! The thesis's oracle policy knows which strands will be active, and allocates to each between 1 and 8 of the available entries. Here the policy
//! knows the whole kernel: entries may be moved between any two moments of the kernel, as long as the average over instructions is the given number;
//! the cost of a strand is its mean over its executions. The cost of each strand with each number of entries is counted. This leaves a knapsack
//! problem, whose items (a strand, one step more of entries) are taken in the order of their savings per entry and instruction.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::Energies;
use gpurf_oracle::levels::LevelCounts;

use super::{ACTIVE, ENTRIES, SIZES, larger, split};
use crate::levels::{Strands, flat, traffic};
use crate::row::PerKernel;
use crate::sweep::{Results, SweepPlan};

/// A hierarchy with `entries` entries at the price of the design's: the total number of entries is the same.
fn with(entries: u32) -> HierarchyOptions {
    if entries == ENTRIES { split(ENTRIES) } else { larger(split(ENTRIES), entries) }
}

pub fn plan(plan: &mut SweepPlan) {
    SIZES.into_iter().for_each(|entries| plan.levels(with(entries)));
}

/// A strand: its number of instructions, and its energy with 1, 2, ... entries.
struct Strand {
    instructions: f64,
    energies: Vec<f64>,
}

/// A step to more entries for a strand.
struct Step {
    strand: usize,
    from: usize,
    to: usize,
    /// Energy saved per additional entry and instruction.
    worth: f64,
}

/// The result of the allocation: the energy of all strands, and the instructions of strands with 1, 2, ... entries.
struct Shared {
    energy: f64,
    instructions: Vec<f64>,
}

impl Strand {
    /// Steps to more entries, each with a smaller saving than the one before: the convex hull of the strand's energies.
    fn steps(&self, strand: usize) -> Vec<Step> {
        let (mut steps, mut from) = (Vec::new(), 0);
        let worth = |from: usize, to: usize| {
            crate::ratio(self.energies[from] - self.energies[to], (to - from) as f64 * self.instructions)
        };
        while let Some(to) = (from + 1..self.energies.len()).max_by(|&a, &b| worth(from, a).total_cmp(&worth(from, b)))
        {
            let worth = worth(from, to);
            if worth <= 0.0 {
                break;
            }
            steps.push(Step { strand, from, to, worth });
            from = to;
        }
        steps
    }
}

/// Allocates on average `entries` entries per instruction. Strands are executed often, so the last step may be taken for a part of a strand's
/// executions.
fn share(strands: &[Strand], entries: f64) -> Shared {
    let all: f64 = strands.iter().map(|strand| strand.instructions).sum();
    let sizes = strands.first().map_or(0, |strand| strand.energies.len());
    let mut shared =
        Shared { energy: strands.iter().map(|strand| strand.energies[0]).sum(), instructions: vec![0.0; sizes] };
    if let Some(one) = shared.instructions.first_mut() {
        *one = all;
    }
    let mut left = (entries - 1.0) * all;
    let mut steps: Vec<Step> = strands.iter().enumerate().flat_map(|(index, strand)| strand.steps(index)).collect();
    steps.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    for Step { strand, from, to, worth } in steps {
        let instructions = strands[strand].instructions;
        let cost = (to - from) as f64 * instructions;
        let part = if cost > left { crate::ratio(left, cost) } else { 1.0 };
        left -= part * cost;
        shared.energy -= part * cost * worth;
        shared.instructions[from] -= part * instructions;
        shared.instructions[to] += part * instructions;
    }
    shared
}

/// A kernel's strands.
fn strands(results: &Results<'_>, kernel: &str) -> Option<Vec<Strand>> {
    let sizes = SIZES.into_iter().map(|entries| results.strands(&with(entries))?.get(kernel));
    let sizes = sizes.collect::<Option<Vec<&Strands>>>()?;
    let energies = Energies::thesis(ENTRIES, ACTIVE);
    let energy = |counts: &LevelCounts| energies.of(&traffic(counts)).total();
    let first = sizes.first()?;
    let of = |key| {
        let energies = sizes.iter().map(|strands| strands.get(key).map(energy)).collect::<Option<Vec<f64>>>();
        Some(Strand { instructions: first[key].instructions as f64, energies: energies? })
    };
    first.keys().map(of).collect()
}

fn each<T>(results: &Results<'_>, value: impl Fn(&str, &Shared) -> T, entries: f64) -> Option<Vec<(String, T)>> {
    let kernels = results.strands(&with(ENTRIES))?.keys();
    kernels
        .map(|name| Some((name.clone(), value(name, &share(&strands(results, name)?, entries)))))
        .collect::<Option<Vec<_>>>()
}

/// Energy relative to that of the MRF alone, with on average `entries` entries for each active warp.
pub fn normalised(results: &Results<'_>, entries: f64) -> Option<PerKernel> {
    let energies = Energies::thesis(ENTRIES, ACTIVE);
    let alone = results.levels(&with(ENTRIES), |counts| energies.of(&flat(counts)).total())?;
    let energy = |name: &str, shared: &Shared| crate::ratio(shared.energy, alone[name]);
    Some(each(results, energy, entries)?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(instructions: f64, energies: &[f64]) -> Strand {
        Strand { instructions, energies: energies.to_vec() }
    }

    fn energy(strands: &[Strand], entries: f64) -> f64 {
        share(strands, entries).energy
    }

    #[test]
    fn entries_go_where_they_save_most() {
        // The first strand saves 4 with a second entry, and 1 with a third; the other strand saves nothing with fewer than three.
        let strands = [strand(10.0, &[20.0, 16.0, 15.0]), strand(10.0, &[20.0, 20.0, 14.0])];
        assert_eq!(energy(&strands, 1.0), 40.0);
        assert_eq!(energy(&strands, 1.5), 36.0);
        assert_eq!(energy(&strands, 2.5), 30.0);
        // There are enough entries for all steps.
        assert_eq!(energy(&strands, 3.0), 29.0);
        assert_eq!(energy(&strands, 8.0), 29.0);
        // The last step is taken for half of the executions of the second strand.
        assert_eq!(energy(&strands, 2.0), 33.0);
        assert_eq!(share(&strands, 2.0).instructions, [5.0, 10.0, 5.0]);
    }

    #[test]
    fn what_costs_more_is_not_taken_and_long_strands_cost_more() {
        assert_eq!(energy(&[strand(10.0, &[20.0, 25.0])], 2.0), 20.0);
        // Two entries for the short strand cost as much as one for the long strand.
        let strands = [strand(10.0, &[20.0, 17.0]), strand(20.0, &[20.0, 15.0])];
        let one_more_for_the_short = 1.0 + 10.0 / 30.0;
        assert_eq!(energy(&strands, one_more_for_the_short), 37.0);
        assert_eq!(energy(&[], 3.0), 0.0);
    }
}

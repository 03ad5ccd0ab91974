//! Lists of jobs.

use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::registry;

use crate::{Inputs, Job};

/// Warp registers of the default file: 128 KB.
const REGISTERS: usize = 1024;

/// The 60 parameter sets of the register file: banks, kind of port, collectors, issue ports.
pub fn all_shapes() -> Vec<MrfShape> {
    let mut shapes = Vec::new();
    for banks in [2, 4, 8, 16, 32] {
        for dual_port in [false, true] {
            for collectors in [4, 8, 16] {
                for issue_ports in [1, 2] {
                    let depth = REGISTERS / banks;
                    shapes.push(MrfShape { banks, dual_port, collectors, issue_ports, depth, tag_w: 32 });
                }
            }
        }
    }
    shapes
}

/// A choice of the 60 in which every pair of values of two parameters occurs.
pub fn pairwise_shapes() -> Vec<MrfShape> {
    fn pairs(s: &MrfShape) -> [(u8, usize, usize); 6] {
        let v = [s.banks, usize::from(s.dual_port), s.collectors, s.issue_ports];
        let pair = |i: usize, j: usize| ((4 * i + j) as u8, v[i], v[j]);
        [pair(0, 1), pair(0, 2), pair(0, 3), pair(1, 2), pair(1, 3), pair(2, 3)]
    }
    let all = all_shapes();
    let mut open: std::collections::BTreeSet<_> = all.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    // Greedy: the shape that covers most of what is still open, the first of equals.
    while !open.is_empty() {
        let gain = |s: &MrfShape| pairs(s).iter().filter(|p| open.contains(*p)).count();
        let best = *all.iter().rev().max_by_key(|s| gain(s)).expect("there are shapes");
        for pair in pairs(&best) {
            open.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

/// A random job.
pub fn random(block: &str, shape: MrfShape, straps: u8, seed: u64, cycles: u64) -> Job {
    Job { block: block.to_owned(), shape, straps, seed, cycles, inputs: Inputs::Random, keep_failure: true }
}

/// Every block but `mrf`, in each variant that changes what it does: `cycles` each.
pub fn leaf_blocks(seed: u64, cycles: u64) -> Vec<Job> {
    let base = MrfShape::BASELINE;
    let two = MrfShape { issue_ports: 2, collectors: 4, banks: 4, ..base };
    let mut jobs = Vec::new();
    for block in registry::BLOCKS.iter().map(|b| b.name).filter(|&n| n != "mrf") {
        jobs.push(random(block, base, 0, seed, cycles));
        match block {
            "mrf_bank" => jobs.push(random(block, MrfShape { dual_port: true, ..base }, 0, seed, cycles)),
            "mrf_allocator" | "mrf_crossbar" => jobs.push(random(block, two, 0, seed, cycles)),
            "mrf_arbiter" => {
                jobs.push(random(block, two, 1, seed, cycles));
                jobs.push(random(block, MrfShape { dual_port: true, ..two }, 0, seed, cycles));
            }
            _ => {}
        }
    }
    jobs
}

/// The register file in these shapes; the order among reads alternates, so that both are run.
pub fn mrf(shapes: &[MrfShape], seed: u64, cycles: u64) -> Vec<Job> {
    shapes.iter().enumerate().map(|(i, &shape)| random("mrf", shape, (i % 2) as u8, seed, cycles)).collect()
}

/// What `make cosim` runs: all blocks, and the register file at the baseline and at a pairwise choice of shapes.
pub fn standard(seed: u64, cycles: u64) -> Vec<Job> {
    let mut jobs = leaf_blocks(seed, cycles);
    jobs.push(random("mrf", MrfShape::BASELINE, 0, seed, cycles));
    jobs.extend(mrf(&pairwise_shapes(), seed, cycles));
    jobs
}

/// Seeds per shape of the pairwise choice in the long run.
const SEEDS: u64 = 5;

/// What `make regress` runs: all blocks, the register file in all 60 shapes, and the pairwise choice with four more seeds.
pub fn complete(seed: u64, cycles: u64) -> Vec<Job> {
    let mut jobs = leaf_blocks(seed, cycles);
    jobs.extend(mrf(&all_shapes(), seed, cycles));
    for further in 1..SEEDS {
        jobs.extend(mrf(&pairwise_shapes(), seed + further, cycles));
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixty_shapes() {
        let shapes = all_shapes();
        assert_eq!(shapes.len(), 60);
        assert!(shapes.iter().all(|s| s.banks * s.depth == REGISTERS));
    }

    #[test]
    fn the_pairwise_choice_has_every_pair() {
        let chosen = pairwise_shapes();
        assert!(chosen.len() < 25, "{}", chosen.len());
        for banks in [2, 4, 8, 16, 32] {
            for collectors in [4, 8, 16] {
                assert!(chosen.iter().any(|s| s.banks == banks && s.collectors == collectors));
            }
            for flag in [false, true] {
                assert!(chosen.iter().any(|s| s.banks == banks && s.dual_port == flag));
                assert!(chosen.iter().any(|s| s.banks == banks && (s.issue_ports == 2) == flag));
            }
        }
        for collectors in [4, 8, 16] {
            for flag in [false, true] {
                assert!(chosen.iter().any(|s| s.collectors == collectors && s.dual_port == flag));
                assert!(chosen.iter().any(|s| s.collectors == collectors && (s.issue_ports == 2) == flag));
            }
        }
    }
}

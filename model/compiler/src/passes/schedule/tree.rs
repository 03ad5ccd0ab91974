//! Expression-tree order: each result is computed before its first reader. Of an instruction's operands, the one whose computation needs most
//! registers is first, so that fewest values wait (Sethi and Ullman's numbers). Of two equal ones, the one that came first in the block is first.

use super::Dependences;
use std::cmp::Reverse;

/// The order of the instructions. Instructions in `wanted` have an effect, or their results are read after the block; they keep their order.
pub fn order(dependences: &Dependences, wanted: &[bool]) -> Vec<usize> {
    let n = wanted.len();
    let mut order = Vec::with_capacity(n);
    let needs = by_registers(dependences);
    let mut placed = vec![false; n];
    // The branch's predicate comes last, before instructions that no other one needs.
    let roots = (0..n).filter(|&i| wanted[i] && dependences.branch != Some(i)).chain(dependences.branch);
    for root in roots.chain(0..n) {
        // Depth first. The stack holds instructions, each with a position in its list of needs.
        let mut stack = vec![(root, 0)];
        while let Some((i, at)) = stack.last_mut() {
            let i = *i;
            if placed[i] {
                stack.pop();
                continue;
            }
            match needs[i].get(*at) {
                Some(&need) => {
                    *at += 1;
                    if !placed[need] {
                        stack.push((need, 0));
                    }
                }
                None => {
                    placed[i] = true;
                    order.push(i);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// For each instruction, those that must come before it, in the order of the registers that they need, most first.
fn by_registers(dependences: &Dependences) -> Vec<Vec<usize>> {
    let mut registers: Vec<usize> = Vec::new();
    let mut all = Vec::new();
    for needs in &dependences.needs {
        let mut needs = needs.clone();
        needs.sort_unstable();
        needs.dedup();
        needs.sort_by_key(|&need| Reverse(registers[need]));
        // While one operand is computed, the results of those before it are held.
        let most = needs.iter().enumerate().map(|(held, &need)| held + registers[need]).max();
        registers.push(most.unwrap_or(1));
        all.push(needs);
    }
    all
}

//! The code that a value of LRF or ORF may not leave: its strand, or, if values across forward branches are disabled, its basic block (thesis 6.4.4).

use gpurf_isa::{Instruction, Op};

use super::strands::Strands;
use crate::marks::flow::{Registers, successors};
use crate::marks::liveness;

/// Instructions that values may live in. Control enters only at the first of them, and no path goes backward, so that the order of the code is an
/// order of time.
#[derive(Debug)]
pub struct Region {
    /// The instructions, in the order of the code.
    pub members: Vec<usize>,
    /// For each instruction, its successors within the region, as indices into `members`.
    pub inside: Vec<Vec<usize>>,
    /// For each instruction, the registers that a lane may read after it leaves the region there.
    pub live_out: Vec<Registers>,
}

/// The regions of a kernel.
pub fn of(code: &[Instruction], strands: &Strands, across_branches: bool) -> Vec<Region> {
    let behind = liveness::of_lane(code);
    let first = if across_branches { strands.of.clone() } else { blocks(code, strands) };
    let mut regions: Vec<Region> = Vec::new();
    // The region of each instruction, and its index in the region.
    let mut places = vec![(0, 0); code.len()];
    let mut numbers = vec![None; code.len()];
    for (pc, &first) in first.iter().enumerate() {
        let number = *numbers[first].get_or_insert(regions.len());
        if number == regions.len() {
            regions.push(Region { members: Vec::new(), inside: Vec::new(), live_out: Vec::new() });
        }
        places[pc] = (number, regions[number].members.len());
        regions[number].members.push(pc);
    }
    for (number, region) in regions.iter_mut().enumerate() {
        for &pc in &region.members {
            let (mut inside, mut live_out) = (Vec::new(), Registers::NONE);
            for to in successors(code, pc) {
                if places[to].0 == number && strands.ends[pc].is_none() && first[to] != to {
                    inside.push(places[to].1);
                } else {
                    live_out = live_out.union(liveness::front(&code[to], behind[to]));
                }
            }
            region.inside.push(inside);
            region.live_out.push(live_out);
        }
    }
    regions
}

/// For each instruction, the first one of its basic block. A basic block here ends at the end of its strand at the latest.
fn blocks(code: &[Instruction], strands: &Strands) -> Vec<usize> {
    let mut begins: Vec<bool> = strands.of.iter().enumerate().map(|(pc, first)| pc == *first).collect();
    for (pc, instruction) in code.iter().enumerate() {
        if matches!(instruction.op, Op::Bra {} | Op::Exit {}) && pc + 1 < code.len() {
            begins[pc + 1] = true;
        }
        for to in [instruction.target(), instruction.reconvergence].into_iter().flatten() {
            begins[to.index()] = true;
        }
    }
    let mut first = 0;
    begins
        .iter()
        .enumerate()
        .map(|(pc, begins)| {
            if *begins {
                first = pc;
            }
            first
        })
        .collect()
}

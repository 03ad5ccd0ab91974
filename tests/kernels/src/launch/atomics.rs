//! `atomics`: the final contents of the cells, and digests of the values that were taken out of them.

use crate::case::{Case, Output};

pub fn reference(case: &Case) -> Vec<Output> {
    const BLOCK: usize = 32;
    let given = case.u64s("given");
    let mut cells = case.u64s("cells");
    let mut returned = vec![0u64; 18];
    // The sum of all values that were ever in the cell.
    returned[0] = given.iter().fold(cells[0], |sum, x| sum.wrapping_add(*x));
    cells[0] = 0;
    let tickets = (0..given.len() as u64).map(|n| n.wrapping_mul(0x1_0000_0001));
    returned[1] = tickets.fold(0, |sum, ticket| sum.wrapping_add(ticket.wrapping_mul(ticket)));
    let signed = |x: &u64| *x as i64;
    cells[1] = given.iter().map(signed).fold(cells[1] as i64, i64::max) as u64;
    cells[2] = given.iter().map(signed).fold(cells[2] as i64, i64::min) as u64;
    cells[3] = given.iter().copied().fold(cells[3], u64::max);
    cells[4] = given.iter().copied().fold(cells[4], u64::min);
    cells[5] = given.iter().fold(cells[5], |product, x| product.wrapping_mul(x | 1));
    cells[6] = (given.len() as u64).wrapping_mul(0x1_0000_0001);
    cells[7] = given.iter().fold(cells[7], |all, x| all ^ x);
    cells[8] = given.iter().fold(cells[8], |all, x| all & (x | 0xffff_0000_ffff));
    cells[9] = given.iter().step_by(2).fold(cells[9], |product, x| product.wrapping_mul(x | 1));
    for (block, part) in given.chunks(BLOCK).enumerate() {
        let here = &mut returned[2 + 8 * block..][..8];
        here[0] = part.iter().fold(0, |sum, x| sum.wrapping_add(*x));
        here[1] = part.iter().copied().min().expect("the block has threads");
        here[2] = part.iter().copied().max().expect("the block has threads");
        here[4] = part.iter().fold(0, |all, x| all | x & 0xff_0000_0000);
        here[5] = part.iter().skip(1).step_by(2).fold(1, |product, x| product.wrapping_mul(x | 1));
    }
    vec![Output::u64("cells", &cells), Output::u64("returned", &returned)]
}

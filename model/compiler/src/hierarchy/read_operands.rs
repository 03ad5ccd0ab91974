//! Registers that a region only reads: the first read copies the register to the ORF, and later reads use the copy
//! (thesis 6.4.3).

use super::regions::Region;
use super::values::{Source, Values};

/// A read that copies its register to the ORF, and the reads that the copy can serve.
#[derive(Debug)]
pub struct Operand {
    /// The read of the MRF that copies.
    pub copy: usize,
    /// The reads that the ORF serves, in the order of the code.
    pub reads: Vec<usize>,
}

/// The read operands of a region. Every read belongs to at most one of them.
pub fn of(region: &Region, values: &Values) -> Vec<Operand> {
    let mut by_register: Vec<Vec<usize>> = vec![Vec::new(); 256];
    for (number, read) in values.reads.iter().enumerate().filter(|(_, read)| read.source == Source::Outside) {
        by_register[read.register.index()].push(number);
    }
    by_register
        .into_iter()
        .filter(|reads| reads.len() > 1)
        .flat_map(|reads| of_register(region, values, reads))
        .collect()
}

fn of_register(region: &Region, values: &Values, mut left: Vec<usize>) -> Vec<Operand> {
    let mut operands = Vec::new();
    while left.len() > 1 {
        let copy = left.remove(0);
        if values.reads[copy].guarded {
            continue;
        }
        let through = through(region, values.reads[copy].place);
        let (reads, others): (Vec<usize>, _) = left.iter().partition(|read| through[values.reads[**read].place]);
        if !reads.is_empty() {
            operands.push(Operand { copy, reads });
            left = others;
        }
    }
    operands
}

/// For each place of a region, whether all paths to it lead through `place`.
fn through(region: &Region, place: usize) -> Vec<bool> {
    let mut all: Vec<Option<bool>> = vec![None; region.members.len()];
    all[0] = Some(false);
    for at in 0..region.members.len() {
        let here = at == place || all[at].unwrap_or(false);
        all[at] = Some(here && at != place);
        for &to in &region.inside[at] {
            all[to] = Some(all[to].unwrap_or(true) && here);
        }
    }
    all.into_iter().map(|all| all.unwrap_or(false)).collect()
}

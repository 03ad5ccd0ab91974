//! Contradictions inside the hierarchy thesis, chapter 6: `docs/errata.md`.

use gpurf_energy::{Chip, Energies};

use super::{ACTIVE, REPORT};
use crate::errata::{self, printed};
use crate::row::{Claim, Row, Unit};
use crate::sweep::Results;

/// 1.6 register reads per instruction against 1.23.
pub const READS: u32 = 3;
/// The saving of an SM and of the chip that follows from 54 %.
pub const CHIP: u32 = 4;
/// 87 and 61 % are without wires, 54 % is with them.
pub const IDEALS: u32 = 5;

const READ: Claim = Claim::share("hierarchy thesis 6.5.1", "1.6", 1.55, 1.65).in_unit(Unit::Ratio);
const MOST: Claim = Claim::share("hierarchy thesis 6.5.1", "1.6", 1.55, 1.65).in_unit(Unit::Ratio);
const OF_SM: Claim = Claim::share("hierarchy thesis 6.5.4", "8.3 %", 0.0825, 0.0835);
const OF_CHIP: Claim = Claim::share("hierarchy thesis 6.5.4, 6.7", "5.8 %", 0.0575, 0.0585);
const OF_CHIP_FIRST: Claim = Claim::share("hierarchy thesis 1.4, 8.1", "5.9 %", 0.0585, 0.0595);
const LRF: Claim = Claim::share("hierarchy thesis 6.6.4", "87 %", 0.865, 0.875);
const ORF: Claim = Claim::share("hierarchy thesis 6.6.4", "61 %", 0.605, 0.615);

/// Figure 6.19, as parts of instructions: 30 % read one register, 40 % two or more, 30 % two.
const ONE: f64 = 0.3;
const TWO: f64 = 0.3;
const TWO_OR_MORE: f64 = 0.4;

/// The average saving of 6.5.4.
const SAVED: f64 = 0.54;

/// 6.5.1: 1.6 reads and 0.8 writes per instruction.
const READS_A_WRITE: f64 = 2.0;

/// The part of the energy that is saved if all accesses go to one level, with wires: the LRF, or an ORF of 5 entries. `reads` is the number of reads
/// per write.
fn saved(lrf: bool, reads: f64) -> f64 {
    let energies = Energies::thesis(5, ACTIVE);
    let all = |read: u64, write: u64| {
        let mut traffic = gpurf_energy::Traffic::default();
        if lrf {
            (traffic.lrf.reads, traffic.lrf.writes) = (read, write);
        } else {
            (traffic.upper.private_reads, traffic.upper.private_writes) = (read, write);
        }
        let mut alone = gpurf_energy::Traffic::default();
        (alone.mrf.private_reads, alone.mrf.private_writes) = (read, write);
        1.0 - energies.of(&traffic).total() / energies.of(&alone).total()
    };
    all((1e6 * reads) as u64, 1_000_000)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let chip = Chip::PAPERS.saving(SAVED);
    errata::rows(
        &REPORT,
        results,
        vec![
            printed(
                READS,
                READ,
                "register reads of an instruction, by figure 6.19 (table 6.1 prints 1.23)",
                ONE + 2.0 * TWO + 3.0 * (TWO_OR_MORE - TWO),
            ),
            printed(
                READS,
                MOST,
                "the most that figure 6.19's 30 and 40 % allow, three reads each",
                ONE + 3.0 * TWO_OR_MORE,
            ),
            printed(CHIP, OF_SM, "an SM's dynamic power saved, 54 % of 15 %", chip.of_sm),
            printed(CHIP, OF_CHIP, "the chip's dynamic power saved, 54 % of 15 % of 70 %", chip.of_chip),
            printed(CHIP, OF_CHIP_FIRST, "the same, as the introduction prints it", chip.of_chip),
            printed(
                IDEALS,
                LRF,
                "energy saved if all accesses were to the LRF, with wires",
                saved(true, READS_A_WRITE),
            ),
            printed(IDEALS, ORF, "the same of an ORF of 5 entries, with wires", saved(false, READS_A_WRITE)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use gpurf_oracle::levels::LevelCounts;

    use super::*;
    use crate::testing::kernels;
    use crate::usage::Usage;

    #[test]
    fn by_hand() {
        // Tables 4.5 and 4.6, pJ: MRF 15.6 and 18.6 with wires, LRF 1.08 and 2.38, an ORF of 5 entries 3.52 and 7.52.
        assert!((saved(true, 2.0) - (1.0 - (2.0 * 1.08 + 2.38) / (2.0 * 15.6 + 18.6))).abs() < 1e-9);
        assert!((saved(false, 2.0) - (1.0 - (2.0 * 3.52 + 7.52) / (2.0 * 15.6 + 18.6))).abs() < 1e-9);
        // Without wires, two reads per write give the printed 87 %, and 63 % for the ORF; 1.6 reads per write give the printed 61 %.
        assert!((1.0 - (2.0 * 0.7 + 2.0) / (2.0 * 8.0 + 11.0) - 0.87_f64).abs() < 0.005);
        assert!((1.0 - (1.6 * 2.0 + 6.0) / (1.6 * 8.0 + 11.0) - 0.61_f64).abs() < 0.005);
        // With wires, a saving of 87 % would require no reads at all.
        assert!(saved(true, 0.0) > 0.865 && saved(true, 0.2) > 0.88);
        assert!((SAVED * 0.15 - 0.081).abs() < 1e-9 && (SAVED * 0.15 * 0.7 - 0.0567).abs() < 1e-9);
    }

    #[test]
    fn the_page_has_them() {
        let (kernels, plan) = (kernels(&["a"]), REPORT.plan(&[]));
        let none = |_: &crate::Kernel, _: &gpurf_compiler::hierarchy::HierarchyOptions| None::<LevelCounts>;
        let results = Results::made(&kernels, &plan, |_, _| None, &Usage::default(), none);
        let rows = rows(&results);
        assert_eq!(rows.len(), 7);
        errata::check(&rows);
    }
}

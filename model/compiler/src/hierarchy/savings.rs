//! The energy that is saved when a value is placed above the MRF (thesis, figures 6.5 and 6.8).

use gpurf_energy::Energies;

use super::HierarchyOptions;
use super::values::{Read, Values, Write};

/// The level above the MRF that a value is tried in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    /// The ORF.
    Orf,
    /// The LRF.
    Lrf,
}

/// Energies of accesses, in pJ for 128 bits.
#[derive(Debug)]
pub struct Savings(Energies);

impl Savings {
    /// The energies of a hierarchy.
    pub fn new(options: &HierarchyOptions) -> Self {
        let entries = if options.priced_as == 0 { options.orf_entries } else { options.priced_as };
        Self(Energies::thesis(entries.into(), options.active_warps.into()))
    }

    /// Savings of results: these reads are served above the MRF; each write goes to the level above, and also to the MRF where its flag says so.
    pub fn of_results(&self, values: &Values, above: Above, reads: &[usize], writes: &[(usize, bool)]) -> f64 {
        let write = |(number, to_mrf): &(usize, bool)| {
            let Write { private, .. } = values.writes[*number];
            let avoided = if *to_mrf { 0.0 } else { self.0.mrf_write(private) };
            avoided - self.write(above, private)
        };
        self.of_reads(values, above, reads) + writes.iter().map(write).sum::<f64>()
    }

    /// Savings of a read operand in the ORF: an earlier read of the MRF copies it there, and these reads use the copy. The copied value passes the
    /// ORF on its way to the datapath anyway, so the copy costs no additional wire energy.
    pub fn of_operand(&self, values: &Values, reads: &[usize]) -> f64 {
        self.of_reads(values, Above::Orf, reads) - self.0.upper.write
    }

    fn of_reads(&self, values: &Values, above: Above, reads: &[usize]) -> f64 {
        let read = |number: &usize| {
            let Read { private, .. } = values.reads[*number];
            self.0.mrf_read(private) - self.read(above, private)
        };
        reads.iter().map(read).sum()
    }

    fn read(&self, above: Above, private: bool) -> f64 {
        match above {
            Above::Orf => self.0.upper_read(private),
            Above::Lrf => self.0.lrf_read(),
        }
    }

    fn write(&self, above: Above, private: bool) -> f64 {
        match above {
            Above::Orf => self.0.upper_write(private),
            Above::Lrf => self.0.lrf_write(),
        }
    }
}

//! Which values may go to the LRF: those that only the private datapath writes and reads, and in a split LRF only those that are read in a single
//! slot (thesis 6.4.5).

use gpurf_isa::{LastResultFile, LrfBank};

use super::values::{Value, Values};

/// The bank that a value may go to, if it may go to the LRF.
pub fn bank(lrf: LastResultFile, values: &Values, value: &Value) -> Option<LrfBank> {
    let private = value.writes.iter().all(|write| values.writes[*write].private)
        && value.reads.iter().all(|read| values.reads[*read].private);
    if !private {
        return None;
    }
    match lrf {
        LastResultFile::None => None,
        LastResultFile::Unified => LrfBank::new(0),
        LastResultFile::Split => {
            let mut slots = value.reads.iter().flat_map(|read| values.reads[*read].slots());
            let slot = slots.next()?;
            slots.all(|other| other == slot).then(|| LrfBank::new(slot.index() as u8))?
        }
    }
}

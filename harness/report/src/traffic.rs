//! How many accesses of the MRF a level above it avoids, from the traffic of which energy is a function.

use gpurf_energy::Traffic;

/// The fraction of the MRF's reads that is avoided, relative to the same operands on an MRF alone.
pub fn reads_avoided(traffic: &Traffic) -> f64 {
    avoided(traffic.mrf.reads(), traffic.flat().mrf.reads())
}

/// The fraction of the MRF's writes that is avoided; evictions and flushes count as writes.
pub fn writes_avoided(traffic: &Traffic) -> f64 {
    avoided(traffic.mrf.writes(), traffic.flat().mrf.writes())
}

/// The fraction of reads and writes together that is avoided.
pub fn accesses_avoided(traffic: &Traffic) -> f64 {
    avoided(accesses(traffic), accesses(&traffic.flat()))
}

/// Reads and writes of the MRF.
fn accesses(traffic: &Traffic) -> u64 {
    traffic.mrf.reads() + traffic.mrf.writes()
}

fn avoided(now: u64, flat: u64) -> f64 {
    if flat == 0 { 0.0 } else { 1.0 - crate::ratio(now as f64, flat as f64) }
}

//! What a level above the MRF avoids, of the traffic that energy is a function of.

use gpurf_energy::Traffic;

/// The part of the MRF's reads that is avoided, of those that the same operands cost on an MRF alone.
pub fn reads_avoided(traffic: &Traffic) -> f64 {
    avoided(traffic.mrf.reads(), traffic.flat().mrf.reads())
}

/// The part of its writes; evictions and flushes are writes that are not avoided.
pub fn writes_avoided(traffic: &Traffic) -> f64 {
    avoided(traffic.mrf.writes(), traffic.flat().mrf.writes())
}

/// The part of both together.
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

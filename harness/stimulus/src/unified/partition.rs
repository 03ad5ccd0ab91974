//! The division of the rows of unified memory.

use gpurf_blocks::config::least_lines;

/// Logarithms of the numbers of lines that a cache may have: 0 for none, and those from four sets of `ways` ways up to `lines` lines.
pub(crate) fn cache_sizes(ways: usize, lines: usize) -> Vec<u8> {
    let logs = least_lines(ways).ilog2()..=lines.ilog2();
    std::iter::once(0).chain(logs.map(|log| log as u8)).collect()
}

/// Rows of the cache.
pub(crate) fn cache_rows(log: u8) -> usize {
    if log == 0 { 0 } else { (1 << log) / gpurf_blocks::unified::COLUMNS }
}

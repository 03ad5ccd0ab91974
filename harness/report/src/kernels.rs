//! The kernels that reports run unless told otherwise.

/// Test kernels after the benchmarks of the hierarchy thesis (tables 4.2 and 4.3): those with HT in `tests/kernels/README.md`.
pub const KERNELS: [&str; 26] = [
    "backprop",
    "bfs",
    "binomialOptions",
    "boxFilter",
    "convolutionSeparable",
    "cp",
    "dct8x8",
    "dwtHaar1D",
    "fastWalshTransform",
    "histogram",
    "hotspot",
    "mandelbrot",
    "matrixMul",
    "mergeSort",
    "monteCarlo",
    "mri-q",
    "nbody",
    "needle",
    "reduction",
    "sad",
    "scalarProd",
    "sobelFilter",
    "sobolQRNG",
    "sortingNetworks",
    "srad",
    "vectorAdd",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_that_the_kernels_page_says() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/README.md")).unwrap();
        let cells = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
        let named: Vec<String> =
            cells.filter(|cells| cells.len() > 3 && cells[2].contains("HT")).map(|cells| cells[1].to_owned()).collect();
        assert_eq!(named, KERNELS);
    }
}

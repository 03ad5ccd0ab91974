//! The kernels that reports run unless told otherwise: test kernels after the benchmarks of a paper.

/// After the benchmarks of the hierarchy thesis (tables 4.2 and 4.3): those with HT in `tests/kernels/README.md`.
pub const HIERARCHY_THESIS: &[&str] = &[
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

/// After the benchmarks of the hybrid paper (6.1): those with HP in `tests/kernels/README.md`.
pub const HYBRID_PAPER: &[&str] = &[
    "bfs",
    "binomialOptions",
    "dct8x8",
    "fastWalshTransform",
    "gaussian",
    "histogram",
    "kmeans",
    "mergeSort",
    "mersenneTwister",
    "monteCarlo",
    "needle",
    "quasirandomGenerator",
    "reduction",
    "scalarProd",
    "sobolQRNG",
    "sortingNetworks",
    "vectorAdd",
];

/// After the benchmarks of the suites that the stealing paper draws on (V-B): those with SP in `tests/kernels/README.md`.
pub const STEALING_PAPER: &[&str] = &[
    "binomialOptions",
    "blackScholes",
    "boxFilter",
    "convolutionSeparable",
    "cp",
    "dct8x8",
    "dwtHaar1D",
    "fastWalshTransform",
    "histogram",
    "mandelbrot",
    "matrixMul",
    "mergeSort",
    "mersenneTwister",
    "monteCarlo",
    "mri-q",
    "nbody",
    "quasirandomGenerator",
    "reduction",
    "sad",
    "scalarProd",
    "sgemm",
    "sobelFilter",
    "sobolQRNG",
    "sortingNetworks",
    "spmv",
    "stencil",
    "transpose",
    "vectorAdd",
];

/// After the kernels of table 4.3 of the sharing thesis.
pub const SHARING_THESIS_POWER: &[&str] = &[
    "backprop",
    "bfs",
    "blackScholes",
    "laplace3d",
    "lavaMD",
    "LIB",
    "monteCarlo",
    "mri-q",
    "MUM",
    "NN",
    "pathfinder",
    "scalarProd",
    "sgemm",
    "spmv",
    "vectorAdd",
];

/// At the end of a name: on large data the kernel has the blocks of table 2.1 of the sharing thesis, in a manifest of this name. Rows call it by the rest.
pub const THESIS_BLOCKS: &str = "-fermi";

/// Those that registers limit on the machine of the sharing thesis's chapter 2; then kernels after its tables 2.1 and 2.4 that registers do not limit here, in
/// which sharing must not change a cycle. Kernels of table 2.1 have its blocks. `gameOfLife` would be another one of the first, but it uses results of global atomic operations, for which one of the
/// rules for locks is refused.
pub const SHARING_THESIS_REGISTERS: &[&str] = &[
    "bPlusTree-fermi",
    "hotspot-fermi",
    "LIB-fermi",
    "MUM-fermi",
    "quasirandomGenerator",
    "sgemm-fermi",
    "sobelFilter",
    "srad",
    "stencil-fermi",
    "backprop-fermi",
    "bfs",
    "gaussian",
    "mri-q-fermi",
    "NN",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Each has a large run, or one with the thesis's blocks, and little data under the name that rows have.
    #[test]
    fn their_manifests_are_there() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels"));
        let lists = [HIERARCHY_THESIS, HYBRID_PAPER, STEALING_PAPER, SHARING_THESIS_POWER, SHARING_THESIS_REGISTERS];
        for name in lists.concat() {
            let (large, small) = match name.strip_suffix(THESIS_BLOCKS) {
                Some(small) => (name.to_owned(), small),
                None => (format!("{name}-large"), name),
            };
            for file in [large.as_str(), small] {
                assert!(folder.join(format!("{file}.toml")).is_file(), "{file}");
            }
            assert!(folder.join(format!("{small}.ptx")).is_file(), "{small}");
        }
    }

    #[test]
    fn they_are_those_that_the_kernels_page_says() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/README.md")).unwrap();
        for (paper, kernels) in [("HT", HIERARCHY_THESIS), ("HP", HYBRID_PAPER), ("SP", STEALING_PAPER)] {
            let cells = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
            let of_paper = cells.filter(|cells| cells.len() > 3 && cells[2].contains(paper));
            assert_eq!(of_paper.map(|cells| cells[1].to_owned()).collect::<Vec<_>>(), kernels);
        }
    }
}

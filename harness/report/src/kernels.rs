//! The kernels that reports run by default: test kernels modelled on the benchmarks of a paper.

use crate::sweep::Size;

/// After the benchmarks of the hierarchy thesis's chapter 6 (table 4.2): kernels marked HT in `tests/kernels/README.md`. Of its table, `hwt` is not
/// among them, as the text does not say what it is.
pub const HIERARCHY_THESIS: &[&str] = &[
    "backprop",
    "bicubicTexture",
    "binomialOptions",
    "boxFilter",
    "convolutionSeparable",
    "convolutionTexture",
    "cp",
    "dct8x8",
    "dwtHaar1D",
    "dxtc",
    "eigenValues",
    "fastWalshTransform",
    "histogram",
    "hotspot",
    "imageDenoising",
    "mandelbrot",
    "matrixMul",
    "mergeSort",
    "monteCarlo",
    "mri-q",
    "nbody",
    "needle",
    "recursiveGaussian",
    "reduction",
    "sad",
    "scalarProd",
    "sobelFilter",
    "sobolQRNG",
    "sortingNetworks",
    "srad",
    "vectorAdd",
    "volumeRender",
];

/// For the RFC paper, whose traces are not public: kernels after benchmarks of the hierarchy thesis, of its table 4.2, and bfs of its table 4.3.
pub const RFC_PAPER: &[&str] = &[
    "backprop",
    "bfs",
    "binomialOptions",
    "boxFilter",
    "convolutionSeparable",
    "convolutionTexture",
    "cp",
    "dct8x8",
    "dwtHaar1D",
    "dxtc",
    "eigenValues",
    "fastWalshTransform",
    "histogram",
    "hotspot",
    "imageDenoising",
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
    "volumeRender",
];

/// The six benchmarks that the hierarchy thesis's study of unified memory examines (7.1.1), needle with three tile sizes. cgemm stands for its DGEMM,
/// MUM for its GPU-mummer. The last ones have other data ([`other_data`]).
pub const UNIFIED_MEMORY: &[&str] = &[
    "bfs-unified",
    "cgemm-unified",
    "hotspot-unified",
    "MUM-unified",
    "needle16-unified",
    "needle32-unified",
    "needle64-unified",
    "pcr-unified",
    "bfs-unified-98304",
    "bfs-unified-lists",
    "MUM-unified-small",
    "needle16-unified-2048",
    "needle32-unified-2048",
    "needle64-unified-2048",
];

/// After the benchmarks of that study (table 4.3): kernels marked HU in `tests/kernels/README.md`.
#[cfg(test)]
const HIERARCHY_THESIS_UNIFIED: &[&str] = &[
    "backprop",
    "bfs-unified",
    "bicubicTexture-unified",
    "cgemm-unified",
    "hotspot-unified",
    "matrixMul",
    "MUM-unified",
    "nbody",
    "needle16-unified",
    "needle32-unified",
    "needle64-unified",
    "pcr-unified",
    "recursiveGaussian-unified",
    "sad",
    "scalarProd",
    "sgemv-unified",
    "sobolQRNG",
    "vectorAdd",
];

/// After the benchmarks of the hybrid paper (6.1): kernels marked HP in `tests/kernels/README.md`.
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

/// After the benchmarks of the suites that the stealing paper draws on (V-B): kernels marked SP in `tests/kernels/README.md`.
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

/// Suffix of a kernel name, and of its manifest, with the thesis's block sizes on large data.
const THESIS_BLOCKS: &str = "-fermi";
/// Suffix for an SM with 16 KB of scratchpad memory, used for data of any size: with other blocks, scratchpad memory would not limit the kernel.
const THESIS_SCRATCHPAD: &str = "-fermi-16k";
/// Suffix of a kernel name, and of its manifest, with the large data of the study of unified memory.
const UNIFIED: &str = "-unified";

/// The data of a run that is not a report's usual run of its kernel, by name: only experiments use them. Small runs have no other data.
pub fn other_data(name: &str) -> Option<&str> {
    name.split_once(UNIFIED)?.1.strip_prefix('-')
}

/// The manifest of one of the project's kernels, and the kernel's name in rows. On other data it has the name of its run.
pub fn manifest(name: &str, size: Size) -> (String, &str) {
    if other_data(name).is_some() {
        return (format!("{name}.toml"), name);
    }
    let small = size != Size::Large;
    let run_of_its_own = name.split_once(THESIS_BLOCKS).or_else(|| name.split_once(UNIFIED));
    match run_of_its_own {
        Some((kernel, _)) if small && !name.contains(THESIS_SCRATCHPAD) => (format!("{kernel}.toml"), kernel),
        Some((kernel, _)) => (format!("{name}.toml"), kernel),
        None if small => (format!("{name}.toml"), name),
        None => (format!("{name}-large.toml"), name),
    }
}

/// Kernels that registers limit on the machine of the sharing thesis's chapter 2, followed by kernels of its tables 2.1 and 2.4 that registers do not
/// limit here: for these, sharing must not change a cycle. Kernels of table 2.1 have its block sizes. `gameOfLife` would belong to the first group,
/// but it uses results of global atomic operations, for which one of the rules for locks is refused.
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

/// After table 2.2 of the sharing thesis, with its block sizes (`needle` is NW1 and NW2), and after table 2.4, whose kernels scratchpad memory does
/// not limit.
pub const SHARING_THESIS_SCRATCHPAD: &[&str] = &[
    "CONV1-fermi-16k",
    "CONV2-fermi-16k",
    "lavaMD-fermi-16k",
    "needle",
    "SRAD1-fermi-16k",
    "SRAD2-fermi-16k",
    "bfs",
    "gaussian",
    "NN",
];

/// After tables 3.3 and 3.4 of the sharing thesis, if their block sizes are known. MC2, of its section 3.4.1.9 alone, is not in its figures 3.8 to
/// 3.14.
pub const SHARING_THESIS_RELEASE: &[&str] = &[
    "backprop-fermi-16k",
    "DCT1-fermi-16k",
    "DCT2-fermi-16k",
    "DCT3-fermi-16k",
    "DCT4-fermi-16k",
    "NQU-fermi-16k",
    "SRAD1-fermi-16k-wide",
    "SRAD2-fermi-16k-wide",
    "FDTD3d-fermi-16k",
    "heartwall-fermi-16k",
    "histogram-fermi-16k",
    "MC1-fermi-16k",
    "bfs",
    "DCT5",
    "gaussian",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Each kernel has a manifest for large data, or one with the thesis's block sizes, a manifest for small data, and PTX beside each source.
    #[test]
    fn their_manifests_are_there() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels"));
        let lists = [HIERARCHY_THESIS, RFC_PAPER, HYBRID_PAPER, STEALING_PAPER, SHARING_THESIS_POWER];
        let others = [SHARING_THESIS_SCRATCHPAD, SHARING_THESIS_RELEASE, HIERARCHY_THESIS_UNIFIED, UNIFIED_MEMORY];
        let lists = [lists.concat(), SHARING_THESIS_REGISTERS.to_vec(), others.concat()].concat();
        for file in lists.iter().flat_map(|name| [Size::Large, Size::Small].map(|size| manifest(name, size).0)) {
            let found = gpurf_launch::Manifest::load(&folder.join(&file)).unwrap_or_else(|error| panic!("{error}"));
            let gpurf_launch::Source::File(source) = found.source else { panic!("{file}: it has a source") };
            assert!(source.with_extension("ptx").is_file(), "{file}");
        }
    }

    #[test]
    fn a_name_is_a_manifest_and_what_rows_call_it() {
        for (name, kernel, large, small) in [
            ("srad", "srad", "srad-large", "srad"),
            ("hotspot-fermi", "hotspot", "hotspot-fermi", "hotspot"),
            ("pcr-unified", "pcr", "pcr-unified", "pcr"),
            ("MUM-unified-small", "MUM-unified-small", "MUM-unified-small", "MUM-unified-small"),
            ("CONV1-fermi-16k", "CONV1", "CONV1-fermi-16k", "CONV1-fermi-16k"),
            ("SRAD1-fermi-16k-wide", "SRAD1", "SRAD1-fermi-16k-wide", "SRAD1-fermi-16k-wide"),
        ] {
            for (size, file) in [(Size::Large, large), (Size::Small, small)] {
                assert_eq!(manifest(name, size), (format!("{file}.toml"), kernel));
            }
        }
    }

    #[test]
    fn a_run_on_other_data_has_their_name() {
        assert_eq!(other_data("MUM-unified-small"), Some("small"));
        assert_eq!(["MUM-unified", "MUM", "SRAD1-fermi-16k-wide", "mri-q"].map(other_data), [None; 4]);
    }

    #[test]
    fn they_are_those_that_the_kernels_page_says() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/README.md")).unwrap();
        for (paper, kernels) in
            [("HT", HIERARCHY_THESIS), ("HU", HIERARCHY_THESIS_UNIFIED), ("HP", HYBRID_PAPER), ("SP", STEALING_PAPER)]
        {
            let kernels: Vec<&str> = kernels.iter().map(|name| manifest(name, Size::Small).1).collect();
            let cells = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
            let of_paper = cells.filter(|cells| cells.len() > 3 && cells[2].contains(paper));
            assert_eq!(of_paper.map(|cells| cells[1].to_owned()).collect::<Vec<_>>(), kernels);
        }
    }
}

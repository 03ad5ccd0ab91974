//! The test kernels: CUDA sources, the PTX that nvcc makes of them, launch manifests, and a reference of each in plain Rust.
//!
//! A kernel is a family of files in `tests/kernels`: `NAME.cu`, `NAME.ptx`, and two manifests, `NAME.toml` for a small run
//! (tens of thousands of cycles of an SM) and `NAME-large.toml` for one of a thousand thread blocks. Its reference computes
//! what must come out from what the manifest puts in: on the host, with Rust's own floating point, in double precision
//! wherever rounding does not decide about an integer. It shares no code with the model.
//!
//! `tests/kernels/README.md` has a table of the kernels.

mod b_plus_tree;
mod backprop;
pub mod bfs;
mod bicubic_texture;
mod binomial_options;
mod black_scholes;
mod box_filter;
mod case;
mod cgemm;
mod collatz;
mod compact;
mod convolution_separable;
mod convolution_texture;
mod count_bytes;
mod cp;
mod crc32;
mod dct;
mod dct8x8;
mod dwt_haar_1d;
pub mod dxtc;
mod eigen_values;
mod fast_walsh_transform;
mod fdtd_3d;
mod fourier;
mod game_of_life;
mod gaussian;
mod heartwall;
mod histogram;
mod hotspot;
mod image_denoising;
mod kmeans;
mod laplace3d;
mod launch;
mod lava_md;
mod lib_market;
mod mandelbrot;
pub mod marching_cubes;
mod matrix_mul;
mod matrix_vector;
mod merge_sort;
mod mersenne_twister;
mod monte_carlo;
mod mri_q;
pub mod mum;
mod nbody;
mod needle;
mod nn;
mod pathfinder;
mod pcr;
mod quasirandom_generator;
mod queens;
mod radix_sort;
mod recursive_gaussian;
mod reduction;
mod sad;
mod saxpy;
mod scalar_prod;
mod scan;
mod sgemm;
mod sgemv;
mod sobel_filter;
mod sobol_qrng;
mod sorting_networks;
mod spmv;
mod srad;
mod stencil;
mod transpose;
mod vector_add;
mod volume_render;

pub use case::{Case, Output, folder, path_of};

/// A test kernel.
pub struct Kernel {
    /// Name of its files.
    pub name: &'static str,
    /// Computes the final contents of the output buffers of one of its manifests.
    pub reference: fn(&Case) -> Vec<Output>,
}

impl Kernel {
    /// Names of its manifests: the small one, the large one.
    pub fn manifests(&self) -> [String; 2] {
        [self.name.to_owned(), format!("{}-large", self.name)]
    }
}

/// Kernels with a third manifest, `NAME-fermi`: modelled on those of table 2.1 of the sharing thesis, with the thesis's number of threads per block,
/// and a grid for one SM.
pub const FERMI: [(&str, u32); 8] = [
    ("backprop", 256),
    ("bPlusTree", 508),
    ("hotspot", 256),
    ("LIB", 192),
    ("MUM", 256),
    ("mri-q", 256),
    ("sgemm", 128),
    ("stencil", 512),
];

/// A run with the threads and the shared memory of a block that the sharing thesis gives: `MANIFEST.toml`.
pub struct Limited {
    /// Name of its manifest. Its source is that of the kernel, or one that includes it with other sizes.
    pub manifest: &'static str,
    /// The kernel whose reference it uses.
    pub kernel: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub bytes: u32,
}

const fn limited(manifest: &'static str, kernel: &'static str, threads: u32, bytes: u32) -> Limited {
    Limited { manifest, kernel, threads, bytes }
}

/// Runs in which 16 KB of shared memory limit the number of resident blocks: modelled on the kernels of tables 2.2 and 3.3 of the sharing thesis
/// (except for NW, which the runs of needle cover), and on MC2 of its section 3.4.1.9. A grid is for one SM.
pub const FERMI_16K: [Limited; 18] = [
    limited("backprop-fermi-16k", "backprop", 256, 9408),
    limited("CONV1-fermi-16k", "convolutionSeparable", 64, 2560),
    limited("CONV2-fermi-16k", "convolutionSeparable", 128, 5184),
    limited("DCT1-fermi-16k", "DCT1", 64, 2112),
    limited("DCT2-fermi-16k", "DCT2", 64, 2112),
    limited("DCT3-fermi-16k", "DCT3", 128, 2176),
    limited("DCT4-fermi-16k", "DCT4", 128, 2176),
    // The thesis's SM has 96 warps: with blocks of 512 threads ours would not be limited by shared memory.
    limited("FDTD3d-fermi-16k", "FDTD3d", 256, 3840),
    limited("heartwall-fermi-16k", "heartwall", 512, 11872),
    limited("histogram-fermi-16k", "histogram", 192, 9216),
    limited("lavaMD-fermi-16k", "lavaMD", 128, 7200),
    limited("MC1-fermi-16k", "marchingCubes", 32, 9216),
    limited("MC2-fermi-16k", "marchingCubes", 32, 13824),
    limited("NQU-fermi-16k", "NQU", 64, 10496),
    limited("SRAD1-fermi-16k", "SRAD1", 256, 6144),
    limited("SRAD1-fermi-16k-wide", "SRAD1", 576, 13824),
    limited("SRAD2-fermi-16k", "SRAD2", 256, 5120),
    limited("SRAD2-fermi-16k-wide", "SRAD2", 576, 11520),
];

/// Kernels with a manifest `NAME-unified`, for the study of unified memory in chapter 7 of the hierarchy thesis: a run of some million
/// cycles of an SM, most on data that a cache of 64 KB does not hold.
pub const UNIFIED: [&str; 13] = [
    "bfs",
    "bicubicTexture",
    "cgemm",
    "crc32",
    "hotspot",
    "MUM",
    "needle16",
    "needle32",
    "needle64",
    "pcr",
    "recursiveGaussian",
    "sgemv",
    "spmv",
];

/// Manifests with other data for some of these kernels, and the kernel: NAME, `NAME-unified-DATA`.
pub const UNIFIED_DATA: [(&str, &str); 6] = [
    ("bfs", "bfs-unified-98304"),
    ("bfs", "bfs-unified-lists"),
    ("MUM", "MUM-unified-small"),
    ("needle16", "needle16-unified-2048"),
    ("needle32", "needle32-unified-2048"),
    ("needle64", "needle64-unified-2048"),
];

/// Kernels that test how manifests describe launches: structs, pointers in memory, variables, names, loops; features of PTX that the machine does not
/// have: calls, atomic operations on 64 bits, half precision, barriers of the grid, textures and surfaces; and clocks. They lie in `launch/`, and each has one manifest. Their code is like that
/// of the others, so they need not run on every machine: they have no goldens.
pub const LAUNCH: [Kernel; 13] = [
    Kernel { name: "launch/atomics", reference: launch::atomics::reference },
    Kernel { name: "launch/calls", reference: launch::calls::reference },
    Kernel { name: "launch/chains", reference: launch::chains },
    Kernel { name: "launch/clocks", reference: launch::clocks },
    Kernel { name: "launch/grid", reference: launch::grid::reference },
    Kernel { name: "launch/halves", reference: launch::halves::reference },
    Kernel { name: "launch/loops", reference: launch::loops },
    Kernel { name: "launch/particles", reference: launch::particles },
    Kernel { name: "launch/pictures", reference: launch::pictures::reference },
    Kernel { name: "launch/ranking", reference: launch::ranking::reference },
    Kernel { name: "launch/report", reference: launch::report },
    Kernel { name: "launch/templates", reference: launch::templates },
    Kernel { name: "launch/variables", reference: launch::variables },
];

/// All test kernels, by name.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "backprop", reference: backprop::reference },
    Kernel { name: "bfs", reference: bfs::reference },
    Kernel { name: "bicubicTexture", reference: bicubic_texture::reference },
    Kernel { name: "binomialOptions", reference: binomial_options::reference },
    Kernel { name: "blackScholes", reference: black_scholes::reference },
    Kernel { name: "boxFilter", reference: box_filter::reference },
    Kernel { name: "bPlusTree", reference: b_plus_tree::reference },
    Kernel { name: "cgemm", reference: cgemm::reference },
    Kernel { name: "collatz", reference: collatz::reference },
    Kernel { name: "compact", reference: compact::reference },
    Kernel { name: "convolutionSeparable", reference: convolution_separable::reference },
    Kernel { name: "convolutionTexture", reference: convolution_texture::reference },
    Kernel { name: "countBytes", reference: count_bytes::reference },
    Kernel { name: "cp", reference: cp::reference },
    Kernel { name: "crc32", reference: crc32::reference },
    Kernel { name: "DCT1", reference: dct::forward },
    Kernel { name: "DCT2", reference: dct::inverse },
    Kernel { name: "DCT3", reference: dct::forward_short },
    Kernel { name: "DCT4", reference: dct::inverse_short },
    Kernel { name: "DCT5", reference: dct::forward },
    Kernel { name: "dct8x8", reference: dct8x8::reference },
    Kernel { name: "dwtHaar1D", reference: dwt_haar_1d::reference },
    Kernel { name: "dxtc", reference: dxtc::reference },
    Kernel { name: "eigenValues", reference: eigen_values::reference },
    Kernel { name: "fastWalshTransform", reference: fast_walsh_transform::reference },
    Kernel { name: "FDTD3d", reference: fdtd_3d::reference },
    Kernel { name: "FFT", reference: fourier::reference },
    Kernel { name: "gameOfLife", reference: game_of_life::reference },
    Kernel { name: "gaussian", reference: gaussian::reference },
    Kernel { name: "heartwall", reference: heartwall::reference },
    Kernel { name: "histogram", reference: histogram::reference },
    Kernel { name: "hotspot", reference: hotspot::reference },
    Kernel { name: "imageDenoising", reference: image_denoising::reference },
    Kernel { name: "kmeans", reference: kmeans::reference },
    Kernel { name: "laplace3d", reference: laplace3d::reference },
    Kernel { name: "lavaMD", reference: lava_md::reference },
    Kernel { name: "LIB", reference: lib_market::reference },
    Kernel { name: "mandelbrot", reference: mandelbrot::reference },
    Kernel { name: "marchingCubes", reference: marching_cubes::reference },
    Kernel { name: "matrixMul", reference: matrix_mul::reference },
    Kernel { name: "mergeSort", reference: merge_sort::reference },
    Kernel { name: "mersenneTwister", reference: mersenne_twister::reference },
    Kernel { name: "monteCarlo", reference: monte_carlo::reference },
    Kernel { name: "mri-q", reference: mri_q::reference },
    Kernel { name: "MUM", reference: mum::reference },
    Kernel { name: "MV", reference: matrix_vector::reference },
    Kernel { name: "nbody", reference: nbody::reference },
    Kernel { name: "needle", reference: needle::reference },
    Kernel { name: "needle16", reference: needle::reference },
    Kernel { name: "needle32", reference: needle::reference },
    Kernel { name: "needle64", reference: needle::reference },
    Kernel { name: "NN", reference: nn::reference },
    Kernel { name: "NQU", reference: queens::reference },
    Kernel { name: "pathfinder", reference: pathfinder::reference },
    Kernel { name: "pcr", reference: pcr::reference },
    Kernel { name: "quasirandomGenerator", reference: quasirandom_generator::reference },
    Kernel { name: "radixSort", reference: radix_sort::reference },
    Kernel { name: "recursiveGaussian", reference: recursive_gaussian::reference },
    Kernel { name: "reduction", reference: reduction::reference },
    Kernel { name: "sad", reference: sad::reference },
    Kernel { name: "saxpy", reference: saxpy::reference },
    Kernel { name: "scalarProd", reference: scalar_prod::reference },
    Kernel { name: "scan", reference: scan::reference },
    Kernel { name: "sgemm", reference: sgemm::reference },
    Kernel { name: "sgemv", reference: sgemv::reference },
    Kernel { name: "sobelFilter", reference: sobel_filter::reference },
    Kernel { name: "sobolQRNG", reference: sobol_qrng::reference },
    Kernel { name: "sortingNetworks", reference: sorting_networks::reference },
    Kernel { name: "spmv", reference: spmv::reference },
    Kernel { name: "srad", reference: srad::reference },
    Kernel { name: "SRAD1", reference: srad::reference_of_first },
    Kernel { name: "SRAD2", reference: srad::reference_of_second },
    Kernel { name: "stencil", reference: stencil::reference },
    Kernel { name: "transpose", reference: transpose::reference },
    Kernel { name: "vectorAdd", reference: vector_add::reference },
    Kernel { name: "volumeRender", reference: volume_render::reference },
];

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
mod bfs;
mod binomial_options;
mod black_scholes;
mod box_filter;
mod case;
mod collatz;
mod compact;
mod convolution_separable;
mod count_bytes;
mod cp;
mod crc32;
mod dct8x8;
mod dwt_haar_1d;
mod fast_walsh_transform;
mod game_of_life;
mod gaussian;
mod histogram;
mod hotspot;
mod kmeans;
mod laplace3d;
mod lava_md;
mod lib_market;
mod mandelbrot;
mod matrix_mul;
mod merge_sort;
mod mersenne_twister;
mod monte_carlo;
mod mri_q;
pub mod mum;
mod nbody;
mod needle;
mod nn;
mod pathfinder;
mod quasirandom_generator;
mod radix_sort;
mod reduction;
mod sad;
mod saxpy;
mod scalar_prod;
mod scan;
mod sgemm;
mod sobel_filter;
mod sobol_qrng;
mod sorting_networks;
mod spmv;
mod srad;
mod stencil;
mod transpose;
mod vector_add;

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

/// Kernels with a third manifest, `NAME-fermi`: after those of table 2.1 of the sharing thesis, with the thesis's threads of a
/// block, and a grid for one SM.
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

/// All test kernels, by name.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "backprop", reference: backprop::reference },
    Kernel { name: "bfs", reference: bfs::reference },
    Kernel { name: "binomialOptions", reference: binomial_options::reference },
    Kernel { name: "blackScholes", reference: black_scholes::reference },
    Kernel { name: "boxFilter", reference: box_filter::reference },
    Kernel { name: "bPlusTree", reference: b_plus_tree::reference },
    Kernel { name: "collatz", reference: collatz::reference },
    Kernel { name: "compact", reference: compact::reference },
    Kernel { name: "convolutionSeparable", reference: convolution_separable::reference },
    Kernel { name: "countBytes", reference: count_bytes::reference },
    Kernel { name: "cp", reference: cp::reference },
    Kernel { name: "crc32", reference: crc32::reference },
    Kernel { name: "dct8x8", reference: dct8x8::reference },
    Kernel { name: "dwtHaar1D", reference: dwt_haar_1d::reference },
    Kernel { name: "fastWalshTransform", reference: fast_walsh_transform::reference },
    Kernel { name: "gameOfLife", reference: game_of_life::reference },
    Kernel { name: "gaussian", reference: gaussian::reference },
    Kernel { name: "histogram", reference: histogram::reference },
    Kernel { name: "hotspot", reference: hotspot::reference },
    Kernel { name: "kmeans", reference: kmeans::reference },
    Kernel { name: "laplace3d", reference: laplace3d::reference },
    Kernel { name: "lavaMD", reference: lava_md::reference },
    Kernel { name: "LIB", reference: lib_market::reference },
    Kernel { name: "mandelbrot", reference: mandelbrot::reference },
    Kernel { name: "matrixMul", reference: matrix_mul::reference },
    Kernel { name: "mergeSort", reference: merge_sort::reference },
    Kernel { name: "mersenneTwister", reference: mersenne_twister::reference },
    Kernel { name: "monteCarlo", reference: monte_carlo::reference },
    Kernel { name: "mri-q", reference: mri_q::reference },
    Kernel { name: "MUM", reference: mum::reference },
    Kernel { name: "nbody", reference: nbody::reference },
    Kernel { name: "needle", reference: needle::reference },
    Kernel { name: "NN", reference: nn::reference },
    Kernel { name: "pathfinder", reference: pathfinder::reference },
    Kernel { name: "quasirandomGenerator", reference: quasirandom_generator::reference },
    Kernel { name: "radixSort", reference: radix_sort::reference },
    Kernel { name: "reduction", reference: reduction::reference },
    Kernel { name: "sad", reference: sad::reference },
    Kernel { name: "saxpy", reference: saxpy::reference },
    Kernel { name: "scalarProd", reference: scalar_prod::reference },
    Kernel { name: "scan", reference: scan::reference },
    Kernel { name: "sgemm", reference: sgemm::reference },
    Kernel { name: "sobelFilter", reference: sobel_filter::reference },
    Kernel { name: "sobolQRNG", reference: sobol_qrng::reference },
    Kernel { name: "sortingNetworks", reference: sorting_networks::reference },
    Kernel { name: "spmv", reference: spmv::reference },
    Kernel { name: "srad", reference: srad::reference },
    Kernel { name: "stencil", reference: stencil::reference },
    Kernel { name: "transpose", reference: transpose::reference },
    Kernel { name: "vectorAdd", reference: vector_add::reference },
];

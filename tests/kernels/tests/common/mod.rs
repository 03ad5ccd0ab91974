//! What the tests of marks share.

use std::fs;

use gpurf_compiler::{Options, Schedule, compile};
use gpurf_isa::Image;
use gpurf_kernels::Kernel;

/// A kernel, compiled for so many registers.
pub fn build(kernel: &Kernel, registers: u16) -> Image {
    build_in(Schedule::None, kernel, registers)
}

/// A kernel with its instructions in this order.
pub fn build_in(schedule: Schedule, kernel: &Kernel, registers: u16) -> Image {
    let path = gpurf_kernels::folder().join(format!("{}.ptx", kernel.name));
    let text = fs::read_to_string(&path).expect("PTX lies beside the source");
    let compiled = compile(&text, &path.display().to_string(), &Options { registers, schedule, ..Options::default() });
    compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}")).image
}

/// A share in percent.
pub fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

//! Writes the expected outputs of the small manifests anew, from the references: `tests/kernels/expected/NAME.BUFFER.bin`,
//! those of `launch/` beside their manifests.

use std::error::Error;
use std::fs;

use gpurf_kernels::{Case, KERNELS, LAUNCH, folder};

fn main() -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder().join("expected"))?;
    for kernel in KERNELS {
        for output in (kernel.reference)(&Case::load(kernel.name)?) {
            fs::write(folder().join("expected").join(format!("{}.{}.bin", kernel.name, output.buffer)), output.bytes)?;
        }
    }
    for kernel in LAUNCH {
        for output in (kernel.reference)(&Case::load(kernel.name)?) {
            fs::write(folder().join(format!("{}.{}.bin", kernel.name, output.buffer)), output.bytes)?;
        }
    }
    Ok(())
}

//! What tests of several modules need.

use gpurf_isa::image::Kernel;
use gpurf_oracle::{Geometry, Launch, Memory, Observer, Options, Oracle, Program};

/// Runs hand-written code, in blocks of one warp, and gives back who has watched.
pub fn observed<O: Observer>(code: &str, blocks: u32, mut observer: O) -> O {
    let code = gpurf_isa::assemble(code).unwrap();
    let kernel = Kernel {
        name: "test".into(),
        lines: vec![1; code.len()],
        code,
        registers: 32,
        static_shared: 128,
        ..Kernel::default()
    };
    let program = Program::new(&kernel, "test.ptx").unwrap();
    let geometry = Geometry { grid: [blocks, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &[] };
    Oracle::new(Options::default()).run_observed(&launch, &Memory::default(), &mut observer).unwrap();
    observer
}

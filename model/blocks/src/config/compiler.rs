//! The section of the configuration that is about the code of kernels; see `docs/compiler.md`. No strap and no parameter
//! follows from it: RTL and model run what they are given.

use serde::{Deserialize, Serialize};

use super::section;

section! {
    /// How kernels are compiled for the machine.
    pub struct CompilerConfig, CompilerLayer in compiler {
        /// Code: the order of the instructions in a basic block.
        pub schedule: Schedule = Schedule::None;
    }
}

/// The order of the instructions in a basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// That of the PTX.
    None,
    /// Each result before its first reader.
    Tree,
    /// By latency and register pressure.
    Latency,
}

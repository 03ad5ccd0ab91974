//! The section of the configuration that is about the code of kernels; see `docs/compiler.md`. No strap and no parameter
//! follows from it: RTL and model run what they are given.

use gpurf_isa::machine::{STACK_BYTES, STACK_LIMIT};
use serde::{Deserialize, Serialize};

use super::section;

section! {
    /// How kernels are compiled for the machine.
    pub struct CompilerConfig, CompilerLayer in compiler {
        /// Code: the order of the instructions in a basic block.
        pub schedule: Schedule = Schedule::None;
        /// Code: the order in which registers are named.
        pub register_order: RegisterOrder = RegisterOrder::Allocated;
        /// Code: instructions up to the next access within which a register stays ON; 0: no power states are marked.
        pub power_threshold: usize = 0, "a number from 0 to 31" if |threshold| threshold <= 31;
        /// Code: bytes of local memory of a thread for calls inside of each other of recursive functions.
        pub stack_bytes: usize = STACK_BYTES as usize, "a multiple of 16 from 0 to 196608" if |bytes| {
            bytes <= STACK_LIMIT as usize && bytes % 16 == 0
        };
        /// Code: which 64-bit loads and stores of memory that threads share are single operations.
        pub wide_accesses: WideAccesses = WideAccesses::Strong;
        /// Code: bits of a global address that accesses read.
        pub address_bits: usize = 64, "32 or 64" if |bits| matches!(bits, 32 | 64);
        /// Code: what fetches from textures become.
        pub textures: Textures = Textures::Unit;
        /// Code: bytes of a block's shared memory, from address 0 on, that it does not share with another block. Accesses that lie
        /// there are marked.
        pub private_shared: usize = 0, "a multiple of 4 from 0 to 65536" if |bytes| bytes <= 65536 && bytes % 4 == 0;
        /// Code: the order of a kernel's variables of shared memory.
        pub share_layout: ShareLayout = ShareLayout::Declared;
        /// Code: where threads release the shared part of shared memory.
        pub relssp: Relssp = Relssp::None;
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

/// The order in which registers are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegisterOrder {
    /// As the allocator names them.
    Allocated,
    /// In the order of first use in the code.
    FirstUse,
}

/// Which 64-bit loads and stores of memory that threads share are single operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WideAccesses {
    /// Those that are strong in the PTX memory model.
    Strong,
    /// All of global memory.
    All,
}

/// What fetches from textures become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Textures {
    /// Instructions of the texture unit, where it can perform them.
    Unit,
    /// Sequences of ordinary instructions.
    Sequence,
}

/// The order of a kernel's variables of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareLayout {
    /// As they are declared.
    Declared,
    /// Those first whose accesses would hold the shared part for long.
    Minimal,
}

/// Where threads release the shared part of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relssp {
    /// Where the program does.
    None,
    /// In the nearest block that all threads come to after their accesses.
    Postdom,
    /// On each way after the last access.
    Optimal,
}

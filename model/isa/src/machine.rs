//! Sizes and addresses that programs can rely on.

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// Bytes of the constant space: parameters first, then `__constant__` variables.
pub const CONSTANT_SPACE: u32 = PARAMETER_SPACE + (64 << 10);
/// Bytes of the constant space that the parameters of a kernel have, from address 0; `__constant__` variables begin after them, at the same address
/// for all kernels. In a program with a kernel whose parameters are larger, the variables begin after these parameters.
pub const PARAMETER_SPACE: u32 = 4 << 10;
/// Bytes of parameters that a kernel can have, at most (CUDA, from sm_70 on).
pub const PARAMETER_LIMIT: u32 = 32_764;

/// Upper word of a generic address in shared memory; the lower word is the address in shared memory. Any upper word other than this and the following
/// ones means global memory.
pub const SHARED_WINDOW: u32 = 1;
/// Upper word of a generic address in local memory.
pub const LOCAL_WINDOW: u32 = 2;
/// Upper word of a generic address in the constant space, which only loads may use.
pub const CONSTANT_WINDOW: u32 = 3;

/// Bytes of shared memory that a block can have, static and dynamic.
pub const SHARED_LIMIT: u32 = 64 << 10;
/// Bytes of local memory that a thread has for the frames of recursive functions, by default. Sixteen times CUDA's default: a frame holds all values
/// that are live across a call.
pub const STACK_BYTES: u32 = 16 << 10;
/// The most bytes that a thread can have for these frames: local memory has 65,535 words, and it holds other data too.
pub const STACK_LIMIT: u32 = 192 << 10;
/// Threads of a block, at most.
pub const BLOCK_THREADS: u32 = 1024;
/// Barriers of a block.
pub const BARRIERS: usize = 16;
/// Name of the variable in which the blocks of a grid count at a barrier of the grid; no variable of a program has it.
pub const GRID_BARRIER: &str = "grid barrier";
/// Its size in bytes. CUDA's cooperative groups count in the second word; all begin as zero.
pub const GRID_BARRIER_BYTES: u32 = 16;

/// Why a TRAP stops a kernel.
pub mod trap {
    /// `trap` in the PTX.
    pub const PROGRAM: u32 = 1;
    /// The address of a compare and swap has an upper word that is not zero.
    pub const WIDE_ADDRESS: u32 = 2;
    /// The path after a point that the program never reaches, e.g. after `__builtin_unreachable`.
    pub const UNREACHABLE: u32 = 3;
    /// `brkpt` in the PTX.
    pub const BREAKPOINT: u32 = 4;
    /// An assertion of the program failed.
    pub const ASSERTION: u32 = 5;

    /// A recursion that is deeper than the stack.
    pub const STACK: u32 = 6;
    /// A call through a pointer that holds no address of a function with such parameters.
    pub const NO_FUNCTION: u32 = 7;

    /// The address of a 64-bit atomic operation is no multiple of 8.
    pub const MISALIGNED: u32 = 8;

    /// An access to a surface that is outside of it.
    pub const SURFACE: u32 = 9;

    /// Describes a code in words.
    pub fn reason(code: u32) -> &'static str {
        match code {
            PROGRAM => "the program executed a trap",
            WIDE_ADDRESS => "the address of an atomicCAS lies above 4 GiB",
            UNREACHABLE => "execution reached code that the program declares unreachable",
            BREAKPOINT => "the program executed a breakpoint",
            ASSERTION => "an assertion failed",
            STACK => "a recursion is deeper than the stack (compiler.stack_bytes)",
            NO_FUNCTION => "a call through a pointer that holds no address of a function with such parameters",
            MISALIGNED => "the address of a 64-bit atomic operation is not a multiple of 8",
            SURFACE => "a surface was accessed outside of its bounds",
            _ => "the program executed a trap with a code of its own",
        }
    }
}

/// Buffers in global memory into which kernels write what the host prints (`docs/compiler.md`, "printf and assert"). All words have 32 bits.
pub mod print {
    /// Name of the variable into which `printf` writes; no variable of a program has it.
    pub const PRINTF_BUFFER: &str = "printf buffer";
    /// Name of the variable into which `assert` writes.
    pub const ASSERT_BUFFER: &str = "assert buffer";
    /// Bytes of the buffer of `printf` unless the manifest says otherwise: CUDA's default.
    pub const PRINTF_BYTES: u32 = 1 << 20;
    /// The number of threads with failed assertions for which there is room.
    pub const ASSERTIONS: u32 = 1024;

    /// Bytes before the records.
    pub const HEADER: u32 = 16;
    /// Offset in the header of the number of calls so far.
    pub const CALLS: u32 = 0;
    /// Offset in the header of the number of records that there is room for.
    pub const ROOM: u32 = 4;
    /// Offset in the header of the number of threads whose assertion record is complete.
    pub const COMPLETE: u32 = 8;
    /// Offset in the header of the size of a `printf` record in bytes.
    pub const RECORD: u32 = 12;

    /// Bytes of a record before its arguments: call, block, thread.
    pub const IDENTITY: u32 = 16;
    /// Bytes of a record of an assertion.
    pub const ASSERTION_RECORD: u32 = IDENTITY + 28;
    /// Most arguments of a `printf` (CUDA).
    pub const MOST_ARGUMENTS: usize = 32;
}

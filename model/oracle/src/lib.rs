//! The functional oracle: runs machine code with no notion of cycles.
//!
//! It says what a program computes. The cycle model and the RTL may order what they do as they like, but each warp must commit the writes that
//! the oracle gives for it, and memory must end equal. It shares the instruction set and the arithmetic with them, and no code of a pipeline.
//!
//! * [`Program`] is a kernel with its operands resolved once; [`Memory`] holds the buffers; [`Oracle`] runs a [`Launch`].
//! * A launch means: its blocks run one after the other, in ascending order, and the warps of a block take turns. Blocks run on several host
//!   threads where that makes no difference, and the oracle finds out by itself where it does (`conflict.rs`). So results do not depend on
//!   the number of threads.
//! * What a program does wrong ends the launch with a [`Fault`], which names kernel, block, thread, instruction and PTX line.
//! * [`Oracle::run_checked`] also looks for reads of registers that the thread has not written.
//! * [`Oracle::run_observed`] tells what each warp commits; [`Oracle::replay`] performs atomic operations in the order of another
//!   machine, and reads the time that this one has read.
//! * [`marks`] judges the control fields of a program by what its warps do.
//! * [`levels`] judges where it reads and writes its values in a register hierarchy.
//! * [`power`] judges which registers it puts to sleep and switches off.
//! * [`scratchpad`] judges which threads release the shared part of shared memory, and which accesses are called private.
//! * [`host`] does what the host side of a CUDA program does: it places buffers, packs arguments, repeats launches.

mod block;
mod commit;
mod conflict;
mod context;
mod execute;
mod fault;
pub mod host;
mod lanes;
mod launch;
pub mod levels;
pub mod marks;
mod memory;
mod oracle;
pub mod power;
mod program;
mod replay;
pub mod scratchpad;
mod shared;
mod stack;
mod undefined;
mod warp;

pub use commit::{Commit, Effect, Issue, Observer, Unobserved, WarpId};
pub use context::{Counts, Geometry};
pub use fault::{Access, Fault, FaultKind};
pub use lanes::{Lanes, Mask, lanes_of};
pub use launch::Launch;
pub use memory::{Buffer, BufferIndex, Memory, OutOfMemory};
pub use oracle::{Options, Oracle, Statistics};
pub use program::{CodeError, Program, commutes};
pub use replay::{AccessStep, Recording};

//! The functional oracle: runs machine code with no notion of cycles.
//!
//! The oracle defines what a program computes. The cycle model and the RTL may order operations freely, but each warp must commit the writes that the
//! oracle gives for it, and the final memory must be equal. The oracle shares the instruction set and the arithmetic with them, and no pipeline code.
//!
//! * [`Program`] is a kernel with its operands resolved once; [`Memory`] holds the buffers; [`Oracle`] runs a [`Launch`].
//! * The blocks of a launch run one after the other, in ascending order, and the warps of a block take turns. Blocks that wait for later ones take
//!   turns with them (`turns.rs`). Blocks run in parallel on several host threads where the result is the same; the oracle detects by itself where it
//!   is not (`conflict.rs`). So results do not depend on the number of threads.
//! * An error of the program ends the launch with a [`Fault`], which names kernel, block, thread, instruction and PTX line.
//! * [`Oracle::run_checked`] also looks for reads of registers that the thread has not written.
//! * [`Oracle::run_observed`] reports what each warp commits; [`Oracle::replay`] performs memory accesses in the order of another machine, and reads
//!   the times that the other machine has read.
//! * [`marks`] judges the control fields of a program by what its warps do.
//! * [`levels`] judges where a program reads and writes its values in a register hierarchy.
//! * [`power`] judges which registers a program puts to sleep and switches off.
//! * [`scratchpad`] judges which threads release the shared part of shared memory, and which accesses are marked private.
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
mod meter;
mod oracle;
pub mod power;
mod program;
mod replay;
pub mod scratchpad;
mod shared;
mod stack;
pub mod texture;
mod turns;
mod undefined;
mod warp;

pub use commit::{Commit, Effect, Issue, Observer, Unobserved, WarpId};
pub use context::{Counts, Geometry};
pub use fault::{Access, Fault, FaultKind};
pub use lanes::{Lanes, Mask, lanes_of};
pub use launch::Launch;
pub use memory::{Buffer, BufferIndex, Memory, OutOfMemory};
pub use meter::{Meter, Parts, Reading};
pub use oracle::{Options, Oracle, Statistics};
pub use program::{CodeError, Program, commutes};
pub use replay::{AccessStep, Recording};

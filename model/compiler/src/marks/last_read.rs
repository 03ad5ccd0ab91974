//! The bits "last read": no lane that executes the instruction reads the register's present value again.
//!
//! The mark is about the lanes that execute the instruction, so liveness of the lane is what it takes. A destination that
//! is also a source is no exception: the mark is about the old value, which the executing lanes replace, guarded or not.

use super::liveness;
use gpurf_isa::{Instruction, Slot};

/// Marks them. Both slots of a register that stands in two of them say the same.
pub fn mark(code: &mut [Instruction]) {
    let live = liveness::of_lane(code);
    for (instruction, live) in code.iter_mut().zip(live) {
        instruction.control.last_read = Slot::ALL.map(|slot| {
            let dead = |register| !live.contains(register) || instruction.destination() == Some(register);
            instruction.source(slot).is_some_and(dead)
        });
    }
}

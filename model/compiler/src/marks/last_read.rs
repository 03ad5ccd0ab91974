//! The bits "last read": no lane that executes the instruction reads the register's present value again.
//!
//! The mark concerns the lanes that execute the instruction, so liveness of the lane decides. A destination that is also a source is marked too: the
//! mark is about the old value, which the executing lanes replace, guarded or not.

use super::liveness;
use gpurf_isa::{Instruction, Slot};

/// Sets the bits. Two slots of the same register get the same bit.
pub fn mark(code: &mut [Instruction]) {
    let live = liveness::of_lane(code);
    for (instruction, live) in code.iter_mut().zip(live) {
        instruction.control.last_read = Slot::ALL.map(|slot| {
            let dead = |register| !live.contains(register) || instruction.destination() == Some(register);
            instruction.source(slot).is_some_and(dead)
        });
    }
}

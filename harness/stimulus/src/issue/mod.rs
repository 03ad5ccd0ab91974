//! Selection of instructions to issue, with their lanes and predicates.

gpurf_blocks::issue_blocks!(stimulus);

use gpurf_blocks::instruction::NO_REG;
use gpurf_lockstep::Rng;

/// A warp's instructions in flight, for the schedulers with slots: an instruction ends only after it has begun.
#[derive(Clone, Default)]
struct InFlight {
    /// Instructions in the operand stage.
    resident: usize,
    /// Registers that are to be written.
    registers: Vec<u8>,
}

impl InFlight {
    /// Whether the counts of instructions and of registers have room for more.
    fn has_room(&self) -> bool {
        self.resident < 60 && self.registers.len() < 200
    }

    fn is_idle(&self) -> bool {
        self.resident == 0 && self.registers.is_empty()
    }

    /// One of the registers is complete.
    fn complete(&mut self, rng: &mut Rng) -> u8 {
        self.registers.swap_remove(rng.below(self.registers.len() as u64) as usize)
    }

    /// An instruction issues that writes this register, or none if a write to it is pending already. Returns the register.
    fn issue(&mut self, register: u8) -> u8 {
        let register = if self.registers.contains(&register) { NO_REG } else { register };
        self.resident += 1;
        self.registers.extend((register != NO_REG).then_some(register));
        register
    }
}

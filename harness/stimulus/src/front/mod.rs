//! Fetch, decode and the instructions that wait for issue.

gpurf_blocks::front_blocks!(stimulus);

use gpurf_lockstep::Rng;

/// The opcodes that exist.
pub(crate) const OPCODES: [u8; 45] = [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x20, 0x21, 0x22, 0x23, 0x24,
    0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x40, 0x41, 0x42, 0x43, 0x44, 0x46,
];

/// Operation word and control word of an instruction. All fields are random, even those that the operation does not have. With the chance `free` the
/// opcode may be one that does not exist.
pub(crate) fn instruction(rng: &mut Rng, free: u32) -> (u64, u64) {
    let opcode =
        if rng.chance(free) { rng.below(128) } else { OPCODES[rng.below(OPCODES.len() as u64) as usize].into() };
    (rng.next_u64() & !0x7f | opcode, rng.next_u64())
}

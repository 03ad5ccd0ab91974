//! Fetch, decode and the instructions that wait for issue.

pub(crate) mod decode;
pub(crate) mod fetch;
pub(crate) mod instruction_buffer;

use gpurf_lockstep::Rng;

/// The opcodes that mean something, and what they are.
pub(crate) const OPERATIONS: &[(u8, &str)] = &[
    (0x01, "NOP"),
    (0x02, "BRA"),
    (0x03, "EXIT"),
    (0x04, "BAR"),
    (0x05, "WARPSYNC"),
    (0x06, "MEMBAR"),
    (0x07, "TRAP"),
    (0x10, "MOV"),
    (0x11, "SEL"),
    (0x12, "S2R"),
    (0x13, "SHFL"),
    (0x14, "VOTE"),
    (0x15, "BALLOT"),
    (0x16, "PLOP"),
    (0x20, "IADD"),
    (0x21, "IMAD"),
    (0x22, "IMNMX"),
    (0x23, "ISETP"),
    (0x24, "LOP3"),
    (0x25, "SHL"),
    (0x26, "SHR"),
    (0x27, "SHF"),
    (0x28, "BFE"),
    (0x29, "BFI"),
    (0x2a, "PRMT"),
    (0x2b, "POPC"),
    (0x2c, "CLZ"),
    (0x2d, "BREV"),
    (0x2e, "DP4A"),
    (0x2f, "DP2A"),
    (0x30, "FADD"),
    (0x31, "FMUL"),
    (0x32, "FFMA"),
    (0x33, "FMNMX"),
    (0x34, "FSETP"),
    (0x35, "I2F"),
    (0x36, "F2I"),
    (0x37, "FRND"),
    (0x38, "MUFU"),
    (0x40, "LD"),
    (0x41, "ST"),
    (0x42, "LDC"),
    (0x43, "ATOM"),
    (0x44, "CAS"),
];

/// Operation word and control word of an instruction: any fields, also where the operation has none; with the chance
/// `free` an opcode that may mean nothing.
pub(crate) fn instruction(rng: &mut Rng, free: u32) -> (u64, u64) {
    let opcode = if rng.chance(free) {
        rng.below(128)
    } else {
        OPERATIONS[rng.below(OPERATIONS.len() as u64) as usize].0.into()
    };
    (rng.next_u64() & !0x7f | opcode, rng.next_u64())
}

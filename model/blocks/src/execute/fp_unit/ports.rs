//! Ports and registers of `fp_unit`.

use crate::instruction::Instruction;
use crate::shape::SmShape;
use crate::{LANES, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Width of an exponent.
const EXPONENT_BITS: u32 = 10;

ports! {
    /// Inputs of [`FpUnit`](super::FpUnit).
    pub struct FpUnitIn(s: &SmShape) {
        /// Sources a, b, c.
        data_i: [WarpData; OPERANDS] = field(1024).count(OPERANDS).valid_by("src_valid_i"),
        /// Active lanes.
        mask_i: u32 = field(32).valid_by("valid_i"),
        /// The instruction.
        instruction_i: Instruction = packed::<Instruction>().valid_by("valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered.
        valid_i: u8 = field(1),
        /// Warp of the offered instruction.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Bit k: source k is a register.
        src_valid_i: u8 = field(OPERANDS),
        /// The result leaves at this edge if also valid.
        result_ready_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`FpUnit`](super::FpUnit).
    pub struct FpUnitOut(s: &SmShape) {
        /// Data of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early(),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early(),
        /// Lanes of the predicate.
        result_pred_data_o: u32 = field(32).valid_by("result_pred_valid_o").early(),
        /// The instruction is taken at this edge if also valid.
        ready_o: u8 = field(1),
        /// A result is offered.
        result_valid_o: u8 = field(1).early(),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early(),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early(),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early(),
        /// The result writes a predicate.
        result_pred_valid_o: u8 = field(1).early(),
        /// Predicate of the result.
        result_pred_o: u8 = field(3).valid_by("result_pred_valid_o").early(),
    }
}

ports! {
    /// Stages 1 and 2 of [`FpUnit`](super::FpUnit).
    pub struct FpUnitProbe(s: &SmShape) {
        /// Significand of x.
        x_significand1_q: [u64; LANES] = field(48).count(LANES).valid_by("valid1_q"),
        /// Significand of the sum.
        significand2_q: [u64; LANES] = field(63).count(LANES).valid_by("valid2_q"),
        /// Final value of each lane.
        value1_q: [u32; LANES] = field(32).count(LANES).valid_by("valid1_q"),
        /// Significand of y.
        y_significand1_q: [u32; LANES] = field(24).count(LANES).valid_by("valid1_q"),
        /// Final value of each lane.
        value2_q: [u32; LANES] = field(32).count(LANES).valid_by("valid2_q"),
        /// Active lanes.
        mask1_q: u32 = field(32).valid_by("valid1_q"),
        /// Lanes whose value is final.
        final1_q: u32 = field(32).valid_by("valid1_q"),
        /// Lanes of the predicate.
        pred_data1_q: u32 = field(32).valid_by("valid1_q"),
        /// Sign of x.
        x_negative1_q: u32 = field(32).valid_by("valid1_q"),
        /// Sign of y.
        y_negative1_q: u32 = field(32).valid_by("valid1_q"),
        /// Active lanes.
        mask2_q: u32 = field(32).valid_by("valid2_q"),
        /// Lanes whose value is final.
        final2_q: u32 = field(32).valid_by("valid2_q"),
        /// Lanes of the predicate.
        pred_data2_q: u32 = field(32).valid_by("valid2_q"),
        /// Sign of the sum.
        negative2_q: u32 = field(32).valid_by("valid2_q"),
        /// Exponent of x.
        x_exponent1_q: [u16; LANES] = field(EXPONENT_BITS).count(LANES).valid_by("valid1_q"),
        /// Exponent of y.
        y_exponent1_q: [u16; LANES] = field(EXPONENT_BITS).count(LANES).valid_by("valid1_q"),
        /// Exponent of the sum.
        exponent2_q: [u16; LANES] = field(EXPONENT_BITS).count(LANES).valid_by("valid2_q"),
        /// An instruction is in stage 1.
        valid1_q: u8 = field(1),
        /// Warp of the instruction in stage 1.
        warp1_q: u8 = field(WARP_BITS).valid_by("valid1_q"),
        /// The instruction in stage 1 writes a register.
        reg_valid1_q: u8 = field(1).valid_by("valid1_q"),
        /// Register that the instruction in stage 1 writes.
        reg1_q: u8 = field(REG_BITS).valid_by("reg_valid1_q"),
        /// The instruction in stage 1 writes a predicate.
        pred_valid1_q: u8 = field(1).valid_by("valid1_q"),
        /// Predicate that the instruction in stage 1 writes.
        pred1_q: u8 = field(3).valid_by("pred_valid1_q"),
        /// Rounding of the result in stage 1.
        rounding1_q: u8 = field(2).valid_by("valid1_q"),
        /// The instruction in stage 1 flushes subnormal results.
        ftz1_q: u8 = field(1).valid_by("valid1_q"),
        /// The instruction in stage 1 clamps.
        sat1_q: u8 = field(1).valid_by("valid1_q"),
        /// Stage 2 adds.
        add1_q: u8 = field(1).valid_by("valid1_q"),
        /// An instruction is in stage 2.
        valid2_q: u8 = field(1),
        /// Warp of the instruction in stage 2.
        warp2_q: u8 = field(WARP_BITS).valid_by("valid2_q"),
        /// The instruction in stage 2 writes a register.
        reg_valid2_q: u8 = field(1).valid_by("valid2_q"),
        /// Register that the instruction in stage 2 writes.
        reg2_q: u8 = field(REG_BITS).valid_by("reg_valid2_q"),
        /// The instruction in stage 2 writes a predicate.
        pred_valid2_q: u8 = field(1).valid_by("valid2_q"),
        /// Predicate that the instruction in stage 2 writes.
        pred2_q: u8 = field(3).valid_by("pred_valid2_q"),
        /// Rounding of the result in stage 2.
        rounding2_q: u8 = field(2).valid_by("valid2_q"),
        /// The instruction in stage 2 flushes subnormal results.
        ftz2_q: u8 = field(1).valid_by("valid2_q"),
        /// The instruction in stage 2 clamps.
        sat2_q: u8 = field(1).valid_by("valid2_q"),
    }
}

/// An exponent as the registers have it.
pub(super) fn exponent(exponent: i32) -> u16 {
    exponent as u16 & ((1 << EXPONENT_BITS) - 1)
}

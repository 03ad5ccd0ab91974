//! Ports and registers of `sfu`.

use super::GROUP;
use crate::instruction::Instruction;
use crate::shape::SmShape;
use crate::{REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Width of an exponent.
const EXPONENT_BITS: u32 = 11;
/// Width of the number of a group.
const BEAT_BITS: u32 = 2;

ports! {
    /// Inputs of [`Sfu`](super::Sfu).
    pub struct SfuIn(s: &SmShape) {
        /// Source a.
        data_i: WarpData = field(1024).valid_by("src_valid_i"),
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
        /// Source a is a register.
        src_valid_i: u8 = field(1),
        /// The result leaves at this edge if also valid.
        result_ready_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`Sfu`](super::Sfu).
    pub struct SfuOut(s: &SmShape) {
        /// Data of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("data_q"),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("result_mask_q"),
        /// The instruction is taken at this edge if also valid.
        ready_o: u8 = field(1),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("result_warp_q"),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early().shows_while("result_reg_valid_q", "result_valid_o"),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early().shows("result_reg_q"),
    }
}

ports! {
    /// The instruction at hand and stages 1 and 2 of [`Sfu`](super::Sfu).
    pub struct SfuProbe(s: &SmShape) {
        /// Arguments of the instruction at hand.
        argument_q: WarpData = field(1024).valid_by("busy_q"),
        /// Significand of each element.
        significand2_q: [u64; GROUP] = field(56).count(GROUP).valid_by("valid2_q"),
        /// Final value of each element.
        value1_q: [u32; GROUP] = field(32).count(GROUP).valid_by("valid1_q"),
        /// Place in the row's interval.
        t1_q: [u32; GROUP] = field(24).count(GROUP).valid_by("valid1_q"),
        /// Final value of each element.
        value2_q: [u32; GROUP] = field(32).count(GROUP).valid_by("valid2_q"),
        /// Active lanes.
        mask_q: u32 = field(32).valid_by("busy_q"),
        /// Active lanes.
        mask1_q: u32 = field(32).valid_by("valid1_q"),
        /// Active lanes.
        mask2_q: u32 = field(32).valid_by("valid2_q"),
        /// Exponent of each element.
        exponent1_q: [u16; GROUP] = field(EXPONENT_BITS).count(GROUP).valid_by("valid1_q"),
        /// Exponent of each element.
        exponent2_q: [u16; GROUP] = field(EXPONENT_BITS).count(GROUP).valid_by("valid2_q"),
        /// An instruction is at hand.
        busy_q: u8 = field(1),
        /// Lanes of the instruction at hand that go into stage 1 next.
        beat_q: u8 = field(BEAT_BITS),
        /// Warp of the instruction at hand.
        warp_q: u8 = field(WARP_BITS).valid_by("busy_q"),
        /// The instruction at hand writes a register.
        reg_valid_q: u8 = field(1).valid_by("busy_q"),
        /// Register that the instruction at hand writes.
        reg_q: u8 = field(REG_BITS).valid_by("reg_valid_q"),
        /// Function of the instruction at hand.
        function_q: u8 = field(3).valid_by("busy_q"),
        /// The instruction at hand flushes subnormals.
        ftz_q: u8 = field(1).valid_by("busy_q"),
        /// Elements are in stage 1.
        valid1_q: u8 = field(1),
        /// Lanes of the elements in stage 1.
        beat1_q: u8 = field(BEAT_BITS).valid_by("valid1_q"),
        /// Warp of the instruction in stage 1.
        warp1_q: u8 = field(WARP_BITS).valid_by("valid1_q"),
        /// The instruction in stage 1 writes a register.
        reg_valid1_q: u8 = field(1).valid_by("valid1_q"),
        /// Register that the instruction in stage 1 writes.
        reg1_q: u8 = field(REG_BITS).valid_by("reg_valid1_q"),
        /// Function of the instruction in stage 1.
        function1_q: u8 = field(3).valid_by("valid1_q"),
        /// The instruction in stage 1 flushes subnormals.
        ftz1_q: u8 = field(1).valid_by("valid1_q"),
        /// Elements whose value is final.
        final1_q: u8 = field(GROUP).valid_by("valid1_q"),
        /// Sines of small arguments.
        direct1_q: u8 = field(GROUP).valid_by("valid1_q"),
        /// Sign of each element.
        negative1_q: u8 = field(GROUP).valid_by("valid1_q"),
        /// Row of the function's table.
        row1_q: [u8; GROUP] = field(7).count(GROUP).valid_by("valid1_q"),
        /// Elements are in stage 2.
        valid2_q: u8 = field(1),
        /// Lanes of the elements in stage 2.
        beat2_q: u8 = field(BEAT_BITS).valid_by("valid2_q"),
        /// Warp of the instruction in stage 2.
        warp2_q: u8 = field(WARP_BITS).valid_by("valid2_q"),
        /// The instruction in stage 2 writes a register.
        reg_valid2_q: u8 = field(1).valid_by("valid2_q"),
        /// Register that the instruction in stage 2 writes.
        reg2_q: u8 = field(REG_BITS).valid_by("reg_valid2_q"),
        /// The instruction in stage 2 flushes subnormals.
        ftz2_q: u8 = field(1).valid_by("valid2_q"),
        /// Elements whose value is final.
        final2_q: u8 = field(GROUP).valid_by("valid2_q"),
        /// Sign of each element.
        negative2_q: u8 = field(GROUP).valid_by("valid2_q"),
    }
}

/// An exponent as the registers have it.
pub(super) fn exponent(exponent: i32) -> u16 {
    exponent as u16 & ((1 << EXPONENT_BITS) - 1)
}

//! `alu`: operations on integers, bits and predicates. `docs/blocks/alu.md`.

use gpurf_arith::integer::{
    FunnelMode, PermuteMode, bit_field_extract, bit_field_insert, dot_product_2, dot_product_4, funnel_left,
    funnel_right, lop3, mul_hi_signed, mul_hi_unsigned, permute, shift_left, shift_right,
};

use crate::execute::result::{UnitResult, destination, each_lane, keep, lanes_where, ones, select};
use crate::instruction::{Instruction, Issued, NO_PRED, NO_REG, constant, modifiers, opcode};
use crate::shape::SmShape;
use crate::{Block, LANES, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

ports! {
    /// Inputs of [`Alu`].
    pub struct AluIn(s: &SmShape) {
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
    /// Outputs of [`Alu`].
    pub struct AluOut(s: &SmShape) {
        /// Data of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("data_q"),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("mask_q"),
        /// Lanes of the predicate.
        result_pred_data_o: u32 = field(32).valid_by("result_pred_valid_o").early().shows("pred_data_q"),
        /// Mask that WARPSYNC asked for.
        fault_value_o: u32 = field(32).valid_by("fault_valid_o").early().shows("fault_value_q"),
        /// The instruction is taken at this edge if also valid.
        ready_o: u8 = field(1),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("warp_q"),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early(),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early(),
        /// The result writes a predicate.
        result_pred_valid_o: u8 = field(1).early(),
        /// Predicate of the result.
        result_pred_o: u8 = field(3).valid_by("result_pred_valid_o").early(),
        /// WARPSYNC found other lanes than its mask says.
        fault_valid_o: u8 = field(1).early().shows_while("fault_q", "result_valid_o"),
        /// Warp of the WARPSYNC at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early(),
    }
}

ports! {
    /// State of [`Alu`] that its outputs do not show.
    pub struct AluProbe(s: &SmShape) {
        /// Register that the result writes; 255: none.
        reg_q: u8 = field(REG_BITS).valid_by("result_valid_o"),
        /// Predicate that the result writes; 7: none.
        pred_q: u8 = field(3).valid_by("result_valid_o"),
    }
}

/// Thirty-two lanes of integer arithmetic, bits and predicates. It computes in the cycle in which it takes an instruction, into one register;
/// the `result_queue` after it sets the latency of a result (hierarchy thesis table 4.4: 8 cycles).
#[derive(Clone)]
pub struct Alu {
    data_q: WarpData,
    result_q: UnitResult,
    fault_q: Option<u32>,
    valid_q: bool,
}

/// The results of an operation besides the register.
#[derive(Clone, Copy, Default)]
struct Computed {
    /// Lanes of the predicate.
    pred: u32,
    /// A fault, and its value.
    fault: Option<u32>,
}

impl From<u32> for Computed {
    fn from(pred: u32) -> Self {
        Self { pred, fault: None }
    }
}

/// Inputs of an instruction.
struct Operands<'a> {
    a: &'a [u32; LANES],
    b: &'a [u32; LANES],
    c: &'a [u32; LANES],
    s: u32,
    t: u32,
    mask: u32,
}

/// The mask that maps the order of signed integers to that of unsigned ones.
#[inline]
fn flip(signed: bool) -> u32 {
    u32::from(signed) << 31
}

/// Combines two predicates.
#[inline]
fn combine(which: u32, x: u32, y: u32) -> u32 {
    match which {
        0 => x & y,
        1 => x | y,
        2 => x ^ y,
        _ => 0,
    }
}

/// The lanes in which `a compared with b` holds, and those in which they are equal.
#[inline]
fn compare(comparison: u32, signed: bool, a: &[u32; LANES], b: &[u32; LANES]) -> (u32, u32) {
    let flip = flip(signed);
    let equal = lanes_where(|l| a[l] == b[l]);
    let less = lanes_where(|l| a[l] ^ flip < b[l] ^ flip);
    let holds = match comparison {
        0 => equal,
        1 => !equal,
        2 => less,
        3 => less | equal,
        4 => !(less | equal),
        5 => !less,
        _ => 0,
    };
    (holds, equal)
}

impl Operands<'_> {
    /// Computes `x + y + s`, lane by lane; returns the carries.
    #[inline]
    fn add(&self, x: impl Fn(usize) -> u32, y: impl Fn(usize) -> u32, d: &mut [u32; LANES]) -> u32 {
        let s = ones(self.s);
        *d = each_lane(|l| x(l).wrapping_add(y(l)).wrapping_add(s[l]));
        // Bit 31 has a carry out where both summands have it, or one has it and the sum does not.
        let carry = each_lane(|l| x(l) & y(l) | (x(l) | y(l)) & !d[l]);
        lanes_where(|l| carry[l] >> 31 != 0)
    }

    /// A function of b and the other operands of a lane. Usually b is the same in all lanes, and shifts by one amount are shifts of vectors.
    #[inline]
    fn by_b(&self, value: impl Fn(usize, u32) -> u32) -> [u32; LANES] {
        let first = self.b[0];
        if self.b.iter().all(|&b| b == first) {
            each_lane(|l| value(l, first))
        } else {
            each_lane(|l| value(l, self.b[l]))
        }
    }

    /// The lanes of the mask in which WARPSYNC finds living lanes other than its own mask says.
    fn diverged(&self) -> u32 {
        self.mask & lanes_where(|l| self.b[l] & self.s != self.mask)
    }

    /// Performs the operation: one choice of the operation, then plain loops over the lanes. `d` is zero before; afterwards its lanes
    /// outside the mask have no meaning.
    fn compute(&self, opcode: u8, m: u32, d: &mut [u32; LANES]) -> Computed {
        let Self { a, b, c, .. } = *self;
        let flag = |bit: u32| m >> bit & 1 == 1;
        match opcode {
            // WARPSYNC
            0x05 => {
                let diverged = self.diverged();
                let fault = (diverged != 0).then(|| b[diverged.trailing_zeros() as usize]);
                return Computed { pred: 0, fault };
            }
            // MOV
            0x10 => *d = *b,
            // SEL
            0x11 => {
                let select = select(self.s);
                *d = each_lane(|l| a[l] & select[l] | b[l] & !select[l]);
            }
            // VOTE
            0x14 => {
                let (all, any) = (self.s & self.mask == self.mask, self.s & self.mask != 0);
                let vote = match m >> 7 & 3 {
                    0 => all,
                    1 => any,
                    2 => all || !any,
                    _ => false,
                };
                return u32::from(vote).wrapping_neg().into();
            }
            // BALLOT
            0x15 => *d = [self.s & self.mask; LANES],
            // PLOP
            0x16 => return combine(m >> 11 & 3, self.s, self.t).into(),
            // IADD
            0x20 => {
                let mode = m >> 7 & 3;
                let (invert_a, invert_b) = (u32::from(mode == 2).wrapping_neg(), u32::from(mode == 1).wrapping_neg());
                return self.add(|l| a[l] ^ invert_a, |l| b[l] ^ invert_b, d).into();
            }
            // IMAD
            0x21 => {
                let product = match (flag(7), flag(8)) {
                    (false, _) => each_lane(|l| a[l].wrapping_mul(b[l])),
                    (true, false) => each_lane(|l| mul_hi_unsigned(a[l], b[l])),
                    (true, true) => each_lane(|l| mul_hi_signed(a[l], b[l])),
                };
                return self.add(|l| product[l], |l| c[l], d).into();
            }
            // IMNMX
            0x22 => {
                let (which, flip) = (flag(0), flip(flag(1)));
                *d = each_lane(|l| if (a[l] ^ flip < b[l] ^ flip) != which { a[l] } else { b[l] });
            }
            // ISETP
            0x23 => {
                let (holds, equal) = compare(m >> 7 & 7, flag(10), a, b);
                let pred = match m >> 11 & 3 {
                    3 => equal & self.s | !equal & holds,
                    which => combine(which, holds, self.s),
                };
                return pred.into();
            }
            // LOP3
            0x24 => *d = each_lane(|l| lop3(a[l], b[l], c[l], m as u8)),
            // SHL
            0x25 => *d = self.by_b(|l, b| shift_left(a[l], b)),
            // SHR
            0x26 => *d = self.by_b(|l, b| shift_right(a[l], b, flag(0))),
            // SHF
            0x27 => {
                let mode = if flag(1) { FunnelMode::Wrap } else { FunnelMode::Clamp };
                *d = if flag(0) {
                    self.by_b(|l, b| funnel_right(a[l], c[l], b, mode))
                } else {
                    self.by_b(|l, b| funnel_left(a[l], c[l], b, mode))
                };
            }
            // BFE
            0x28 => *d = self.by_b(|l, b| bit_field_extract(a[l], b, b >> 8, flag(0))),
            // BFI
            0x29 => *d = self.by_b(|l, b| bit_field_insert(a[l], c[l], b, b >> 8)),
            // PRMT
            0x2a => *d = self.by_b(|l, b| permute(a[l], c[l], b, PermuteMode::Index)),
            // POPC
            0x2b => *d = each_lane(|l| a[l].count_ones()),
            // CLZ
            0x2c => *d = each_lane(|l| a[l].leading_zeros()),
            // BREV
            0x2d => *d = each_lane(|l| a[l].reverse_bits()),
            // DP4A
            0x2e => *d = each_lane(|l| dot_product_4(a[l], b[l], c[l], flag(0), flag(1))),
            // DP2A
            0x2f => *d = each_lane(|l| dot_product_2(a[l], b[l], c[l], flag(0), flag(1), flag(2))),
            _ => {}
        }
        Computed::default()
    }
}

impl Alu {
    /// Whether an instruction that is offered is taken at this edge.
    #[inline]
    pub fn ready(&self, result_ready: bool) -> bool {
        !self.valid_q || result_ready
    }

    /// The result that is offered.
    #[inline]
    pub fn result(&self) -> Option<&UnitResult> {
        self.valid_q.then_some(&self.result_q)
    }

    /// Data of the result that is offered; meaningful where it writes a register.
    #[inline]
    pub fn data(&self) -> &WarpData {
        &self.data_q
    }

    /// Value of the fault of the result that is offered.
    #[inline]
    pub fn fault(&self) -> Option<u32> {
        if self.valid_q { self.fault_q } else { None }
    }

    /// Clock edge at which an instruction is taken. Bit k of `src_valid`: source k is a register; other operands are not read.
    pub fn take(&mut self, issued: &Issued, src_valid: u8, data: [&WarpData; OPERANDS]) {
        let Issued { instruction, mask, warp } = *issued;
        let (op, roles) = (instruction.op(), instruction.roles());
        let given;
        let register = |k: usize| if src_valid >> k & 1 == 1 { data[k] } else { &WarpData::ZERO };
        let b = if src_valid >> 1 & 1 == 0 && roles.b_constant() != 0 {
            given = WarpData([constant(op); LANES]);
            &given
        } else {
            register(1)
        };
        let operands =
            Operands { a: &register(0).0, b: &b.0, c: &register(2).0, s: instruction.s(), t: instruction.t(), mask };
        self.data_q = WarpData::ZERO;
        let Computed { pred, fault } =
            operands.compute(opcode(op), modifiers(op, instruction.ctl()), &mut self.data_q.0);
        keep(&mut self.data_q.0, mask);
        let pred_data = pred & mask;
        let (reg, pred) = (destination(roles.d() != NO_REG, roles.d()), destination(roles.p() != NO_PRED, roles.p()));
        self.result_q = UnitResult { mask, pred_data, warp, reg, pred, done: true };
        self.fault_q = fault;
        self.valid_q = true;
    }

    /// Clock edge at which the result leaves and no instruction is taken.
    #[inline]
    pub fn leave(&mut self) {
        self.valid_q = false;
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.valid_q = false;
    }
}

impl Block for Alu {
    const NAME: &'static str = "alu";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = AluIn;
    type Out = AluOut;
    type Probe = AluProbe;

    fn new(_: &SmShape) -> Self {
        Self { data_q: WarpData::ZERO, result_q: UnitResult::default(), fault_q: None, valid_q: false }
    }

    fn early(&self, out: &mut AluOut) {
        let result = self.result().copied().unwrap_or_default();
        out.result_valid_o = self.valid_q.into();
        (out.result_warp_o, out.result_mask_o) = (result.warp, result.mask);
        out.result_reg_valid_o = result.reg.is_some().into();
        out.result_reg_o = result.reg.unwrap_or(0);
        if result.reg.is_some() {
            out.result_data_o = *self.data();
        }
        out.result_pred_valid_o = result.pred.is_some().into();
        out.result_pred_o = result.pred.unwrap_or(0);
        out.result_pred_data_o = if result.pred.is_some() { result.pred_data } else { 0 };
        let fault = self.fault();
        out.fault_valid_o = fault.is_some().into();
        out.fault_warp_o = if fault.is_some() { result.warp } else { 0 };
        out.fault_value_o = fault.unwrap_or(0);
    }

    fn late(&mut self, inputs: &AluIn, out: &mut AluOut) {
        out.ready_o = self.ready(inputs.result_ready_i != 0).into();
    }

    fn clock(&mut self, inputs: &AluIn, out: &AluOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else if inputs.valid_i != 0 && out.ready_o != 0 {
            let issued = Issued { instruction: inputs.instruction_i, mask: inputs.mask_i, warp: inputs.warp_i };
            self.take(&issued, inputs.src_valid_i, inputs.data_i.each_ref());
        } else if inputs.result_ready_i != 0 {
            self.leave();
        }
    }

    fn probe(&self, _: &AluIn, _: &AluOut, probe: &mut AluProbe) {
        (probe.reg_q, probe.pred_q) = (self.result_q.reg.unwrap_or(NO_REG), self.result_q.pred.unwrap_or(NO_PRED));
    }
}

#[cfg(test)]
mod tests;

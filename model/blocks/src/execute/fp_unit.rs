//! `fp_unit`: single precision. `docs/blocks/fp_unit.md`.

use gpurf_arith::float::Terms;

use crate::execute::result::{UnitResult, destination, keep};
use crate::instruction::{Issued, NO_PRED, NO_REG, constant, modifiers, opcode};
use crate::shape::SmShape;
use crate::{Block, LANES, OPERANDS, Ports, WarpData};

mod operation;
mod ports;

pub use ports::*;

use operation::{Lanes, Operation};

/// Stages of the unit.
const STAGES: usize = 2;

/// The stage whose result is offered.
const LAST: usize = STAGES - 1;

/// An instruction in the unit.
///
/// The twin computes the result when it takes the instruction. What the stages hold in the hardware follows from the operands, and
/// is computed when it is read.
#[derive(Clone)]
struct Slot {
    operands: [WarpData; OPERANDS],
    data: WarpData,
    result: UnitResult,
    operation: Operation,
    s: u32,
}

impl Slot {
    fn empty() -> Self {
        Self {
            operands: [WarpData::ZERO; OPERANDS],
            data: WarpData::ZERO,
            result: UnitResult::default(),
            operation: Operation::default(),
            s: 0,
        }
    }

    fn lanes(&self) -> Lanes<'_> {
        let [a, b, c] = self.operands.each_ref().map(|data| &data.0);
        Lanes { a, b, c, s: self.s, mask: self.result.mask }
    }
}

/// Thirty-two lanes of single precision arithmetic: stage 1 unpacks and multiplies the operands, stage 2 adds, and rounding follows. The further
/// latency of a result is set by the `result_queue`, whose register the rounded result goes to (hierarchy thesis table 4.4: 8 cycles).
#[derive(Clone)]
pub struct FpUnit {
    slots: Box<[Slot; STAGES]>,
    /// The slot of each stage.
    slot: [u8; STAGES],
    valid_q: [bool; STAGES],
}

impl FpUnit {
    /// Whether an instruction that is offered is taken at this edge: a stage advances if it is empty or the stage after it advances.
    #[inline]
    pub fn ready(&self, result_ready: bool) -> bool {
        result_ready || self.valid_q != [true; STAGES]
    }

    /// The result that is offered.
    #[inline]
    pub fn result(&self) -> Option<&UnitResult> {
        self.valid_q[LAST].then_some(&self.stage(LAST).result)
    }

    /// Data of the result that is offered; meaningful where it writes a register.
    #[inline]
    pub fn data(&self) -> &WarpData {
        &self.stage(LAST).data
    }

    /// Whether nothing is in flight.
    #[inline]
    pub fn idle(&self) -> bool {
        self.valid_q == [false; STAGES]
    }

    #[inline]
    fn stage(&self, stage: usize) -> &Slot {
        &self.slots[usize::from(self.slot[stage]) % STAGES]
    }

    /// First part of the clock edge: every stage that can advance does.
    #[inline]
    pub fn advance(&mut self, result_ready: bool) {
        if result_ready || !self.valid_q[LAST] {
            self.valid_q = [false, self.valid_q[0]];
            self.slot.swap(0, LAST);
        }
    }

    /// Second part of the clock edge: the first stage takes an instruction. Bit k of `src_valid`: source k is a register;
    /// other operands are not read.
    pub fn take(&mut self, issued: &Issued, src_valid: u8, data: [&WarpData; OPERANDS]) {
        let Issued { instruction, mask, warp } = *issued;
        let (op, roles) = (instruction.op(), instruction.roles());
        let slot = &mut self.slots[usize::from(self.slot[0]) % STAGES];
        for (k, (operand, data)) in slot.operands.iter_mut().zip(data).enumerate() {
            *operand = if src_valid >> k & 1 == 1 {
                *data
            } else if k == 1 && roles.b_constant() != 0 {
                WarpData([constant(op); LANES])
            } else {
                WarpData::ZERO
            };
        }
        slot.operation = Operation { opcode: opcode(op), modifiers: modifiers(op, instruction.ctl()) };
        slot.s = instruction.s();
        let (reg, pred) = (destination(roles.d() != NO_REG, roles.d()), destination(roles.p() != NO_PRED, roles.p()));
        slot.result = UnitResult { mask, pred_data: 0, warp, reg, pred, done: true };
        let (operation, lanes) = (slot.operation, slot.lanes());
        let (mut values, predicate) = (operation.compute(lanes), operation.predicate(lanes) & mask);
        keep(&mut values, mask);
        (slot.data.0, slot.result.pred_data) = (values, predicate);
        self.valid_q[0] = true;
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.valid_q = [false; STAGES];
    }

    /// The registers of both stages.
    pub fn state(&self, probe: &mut FpUnitProbe) {
        *probe = FpUnitProbe::zeroed();
        if self.valid_q[0] {
            self.first_stage(probe);
        }
        if self.valid_q[1] {
            self.second_stage(probe);
        }
    }

    fn first_stage(&self, probe: &mut FpUnitProbe) {
        let slot = self.stage(0);
        let (result, operation, lanes, mode) = (&slot.result, slot.operation, slot.lanes(), slot.operation.mode());
        probe.valid1_q = 1;
        (probe.warp1_q, probe.mask1_q) = (result.warp, result.mask);
        (probe.reg_valid1_q, probe.reg1_q) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        (probe.pred_valid1_q, probe.pred1_q) = (result.pred.is_some().into(), result.pred.unwrap_or(0));
        (probe.rounding1_q, probe.ftz1_q, probe.sat1_q) = (mode.rounding as u8, mode.ftz.into(), mode.sat.into());
        probe.add1_q = operation.adds().into();
        probe.pred_data1_q = operation.predicate(lanes) & result.mask;
        for l in (0..LANES).filter(|l| result.mask >> l & 1 == 1) {
            let (x, y) = match operation.terms(lanes.lane(l)) {
                Terms::Known(value) => {
                    probe.final1_q |= 1 << l;
                    probe.value1_q[l] = value;
                    continue;
                }
                Terms::One(x) => (x, None),
                Terms::Two(x, y) => (x, Some(y)),
            };
            probe.x_negative1_q |= u32::from(x.negative) << l;
            (probe.x_significand1_q[l], probe.x_exponent1_q[l]) = (x.significand, exponent(x.exponent));
            if let Some(y) = y {
                probe.y_negative1_q |= u32::from(y.negative) << l;
                (probe.y_significand1_q[l], probe.y_exponent1_q[l]) = (y.significand as u32, exponent(y.exponent));
            }
        }
    }

    fn second_stage(&self, probe: &mut FpUnitProbe) {
        let slot = self.stage(1);
        let (result, operation, lanes, mode) = (&slot.result, slot.operation, slot.lanes(), slot.operation.mode());
        probe.valid2_q = 1;
        (probe.warp2_q, probe.mask2_q) = (result.warp, result.mask);
        (probe.reg_valid2_q, probe.reg2_q) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        (probe.pred_valid2_q, probe.pred2_q) = (result.pred.is_some().into(), result.pred.unwrap_or(0));
        (probe.rounding2_q, probe.ftz2_q, probe.sat2_q) = (mode.rounding as u8, mode.ftz.into(), mode.sat.into());
        probe.pred_data2_q = operation.predicate(lanes) & result.mask;
        for l in (0..LANES).filter(|l| result.mask >> l & 1 == 1) {
            let terms = operation.terms(lanes.lane(l));
            if let Terms::Known(value) = terms {
                probe.final2_q |= 1 << l;
                probe.value2_q[l] = value;
            }
            if let Some(sum) = operation.sum(terms) {
                probe.negative2_q |= u32::from(sum.negative) << l;
                (probe.significand2_q[l], probe.exponent2_q[l]) = (sum.significand, exponent(sum.exponent));
            }
        }
    }
}

impl Block for FpUnit {
    const NAME: &'static str = "fp_unit";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = FpUnitIn;
    type Out = FpUnitOut;
    type Probe = FpUnitProbe;

    fn new(_: &SmShape) -> Self {
        Self {
            slots: Box::new(std::array::from_fn(|_| Slot::empty())),
            slot: std::array::from_fn(|stage| stage as u8),
            valid_q: [false; STAGES],
        }
    }

    fn early(&self, out: &mut FpUnitOut) {
        let result = self.result().copied().unwrap_or_default();
        out.result_valid_o = self.valid_q[LAST].into();
        (out.result_warp_o, out.result_mask_o) = (result.warp, result.mask);
        (out.result_reg_valid_o, out.result_reg_o) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        if result.reg.is_some() {
            out.result_data_o = *self.data();
        }
        (out.result_pred_valid_o, out.result_pred_o) = (result.pred.is_some().into(), result.pred.unwrap_or(0));
        out.result_pred_data_o = if result.pred.is_some() { result.pred_data } else { 0 };
    }

    fn late(&mut self, inputs: &FpUnitIn, out: &mut FpUnitOut) {
        out.ready_o = self.ready(inputs.result_ready_i != 0).into();
    }

    fn clock(&mut self, inputs: &FpUnitIn, out: &FpUnitOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        if !self.idle() {
            self.advance(inputs.result_ready_i != 0);
        }
        if inputs.valid_i != 0 && out.ready_o != 0 {
            let issued = Issued { instruction: inputs.instruction_i, mask: inputs.mask_i, warp: inputs.warp_i };
            self.take(&issued, inputs.src_valid_i, inputs.data_i.each_ref());
        }
    }

    fn probe(&self, _: &FpUnitIn, _: &FpUnitOut, probe: &mut FpUnitProbe) {
        self.state(probe);
    }
}

#[cfg(test)]
mod tests;

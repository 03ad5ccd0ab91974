//! `sfu`: special functions. `docs/blocks/sfu.md`.

use gpurf_arith::mufu::{Function, Reduced, approximate, reduce};

use crate::execute::result::{UnitResult, destination, keep};
use crate::instruction::{Issued, NO_REG, modifiers};
use crate::shape::SmShape;
use crate::{Block, LANES, Ports, WarpData};

mod ports;

pub use ports::*;

/// Lanes that go through the unit at once.
pub const GROUP: usize = 8;
/// Groups of a warp.
const BEATS: u8 = (LANES / GROUP) as u8;

/// What a stage stores of its instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    mask: u32,
    warp: u8,
    reg: Option<u8>,
    function: u8,
    ftz: bool,
}

impl Header {
    /// Stage 1 of an element: the argument reduced, or its final value.
    fn reduced(&self, argument: u32) -> Result<Reduced, u32> {
        match function(self.function) {
            Some(function) => reduce(function, argument, self.ftz),
            None => Err(0),
        }
    }

    /// The elements of a group that take part.
    fn elements(&self, beat: u8) -> impl Iterator<Item = usize> {
        let mask = self.mask >> (GROUP as u32 * u32::from(beat));
        (0..GROUP).filter(move |k| mask >> k & 1 == 1)
    }
}

/// A function by its number.
fn function(number: u8) -> Option<Function> {
    Function::ALL.get(usize::from(number)).copied()
}

/// Eight elements in flight. The twin computes values when they leave the last stage; what the stages hold in the hardware follows from
/// the arguments, and is computed when it is read.
#[derive(Clone, Copy, Default)]
struct Group {
    header: Header,
    beat: u8,
    arguments: [u32; GROUP],
}

/// Approximate functions, eight lanes a cycle: reduction of the argument, a parabola from a table, rounding. The rest of the latency
/// is set by the `result_queue` after the unit (hierarchy thesis table 4.4: 20 cycles).
#[derive(Clone)]
pub struct Sfu {
    argument_q: WarpData,
    data_q: WarpData,
    header_q: Header,
    busy_q: bool,
    beat_q: u8,
    first_q: Option<Group>,
    second_q: Option<Group>,
    result_q: UnitResult,
    result_valid_q: bool,
}

impl Sfu {
    /// Whether the whole unit stalls.
    #[inline]
    fn stalls(&self, result_ready: bool) -> bool {
        self.result_valid_q && !result_ready
    }

    /// Whether an instruction that is offered is taken at this edge.
    #[inline]
    pub fn ready(&self, result_ready: bool) -> bool {
        !self.stalls(result_ready) && (!self.busy_q || self.beat_q + 1 == BEATS)
    }

    /// The result that is offered.
    #[inline]
    pub fn result(&self) -> Option<&UnitResult> {
        self.result_valid_q.then_some(&self.result_q)
    }

    /// Data of the result that is offered; meaningful where it writes a register.
    #[inline]
    pub fn data(&self) -> &WarpData {
        &self.data_q
    }

    /// Whether nothing is in flight.
    #[inline]
    pub fn idle(&self) -> bool {
        !self.busy_q && self.first_q.is_none() && self.second_q.is_none() && !self.result_valid_q
    }

    /// First part of the clock edge: everything advances unless a result has to wait.
    #[inline]
    pub fn advance(&mut self, result_ready: bool) {
        if self.stalls(result_ready) {
            return;
        }
        self.result_valid_q = false;
        if let Some(group) = self.second_q {
            self.finish(&group);
        }
        self.second_q = self.first_q;
        self.first_q = None;
        if self.busy_q {
            let mut group = Group { header: self.header_q, beat: self.beat_q, arguments: [0; GROUP] };
            group.arguments.copy_from_slice(&self.argument_q.0[GROUP * usize::from(self.beat_q)..][..GROUP]);
            self.first_q = Some(group);
            self.beat_q = (self.beat_q + 1) % BEATS;
            self.busy_q = self.beat_q != 0;
        }
    }

    /// The last stage takes a group.
    fn finish(&mut self, group: &Group) {
        let Group { header, beat, arguments } = group;
        let data = &mut self.data_q.0[GROUP * usize::from(*beat)..][..GROUP];
        data.fill(0);
        if let Some(function) = function(header.function) {
            header.elements(*beat).for_each(|k| data[k] = approximate(function, arguments[k], header.ftz));
        }
        if beat + 1 == BEATS {
            let Header { mask, warp, reg, .. } = *header;
            self.result_q = UnitResult { mask, pred_data: 0, warp, reg, pred: None, done: true };
            self.result_valid_q = true;
        }
    }

    /// Second part of the clock edge: an instruction is taken. Without an argument, all lanes take 0.
    pub fn take(&mut self, issued: &Issued, argument: Option<&WarpData>) {
        let Issued { instruction, mask, warp } = *issued;
        let (m, roles) = (modifiers(instruction.op(), instruction.ctl()), instruction.roles());
        let reg = destination(roles.d() != NO_REG, roles.d());
        self.header_q = Header { mask, warp, reg, function: m as u8 & 7, ftz: m >> 3 & 1 == 1 };
        self.argument_q = argument.copied().unwrap_or_default();
        keep(&mut self.argument_q.0, mask);
        (self.busy_q, self.beat_q) = (true, 0);
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        (self.busy_q, self.beat_q, self.result_valid_q) = (false, 0, false);
        (self.first_q, self.second_q) = (None, None);
    }

    /// The registers in front of the last stage.
    pub fn state(&self, probe: &mut SfuProbe) {
        *probe = SfuProbe::zeroed();
        probe.beat_q = self.beat_q;
        if self.busy_q {
            let Header { mask, warp, reg, function, ftz } = self.header_q;
            probe.busy_q = 1;
            (probe.argument_q, probe.mask_q, probe.warp_q) = (self.argument_q, mask, warp);
            (probe.reg_valid_q, probe.reg_q) = (reg.is_some().into(), reg.unwrap_or(0));
            (probe.function_q, probe.ftz_q) = (function, ftz.into());
        }
        if let Some(group) = &self.first_q {
            group.first_stage(probe);
        }
        if let Some(group) = &self.second_q {
            group.second_stage(probe);
        }
    }
}

impl Group {
    fn first_stage(&self, probe: &mut SfuProbe) {
        let Header { mask, warp, reg, function, ftz } = self.header;
        (probe.valid1_q, probe.beat1_q) = (1, self.beat);
        (probe.mask1_q, probe.warp1_q) = (mask, warp);
        (probe.reg_valid1_q, probe.reg1_q) = (reg.is_some().into(), reg.unwrap_or(0));
        (probe.function1_q, probe.ftz1_q) = (function, ftz.into());
        for k in self.header.elements(self.beat) {
            match self.header.reduced(self.arguments[k]) {
                Ok(Reduced { negative, exponent: e, row, t, direct }) => {
                    probe.direct1_q |= u8::from(direct) << k;
                    probe.negative1_q |= u8::from(negative) << k;
                    (probe.exponent1_q[k], probe.row1_q[k], probe.t1_q[k]) = (exponent(e), row as u8, t);
                }
                Err(value) => {
                    probe.final1_q |= 1 << k;
                    probe.value1_q[k] = value;
                }
            }
        }
    }

    fn second_stage(&self, probe: &mut SfuProbe) {
        let Header { mask, warp, reg, ftz, .. } = self.header;
        (probe.valid2_q, probe.beat2_q) = (1, self.beat);
        (probe.mask2_q, probe.warp2_q) = (mask, warp);
        (probe.reg_valid2_q, probe.reg2_q) = (reg.is_some().into(), reg.unwrap_or(0));
        probe.ftz2_q = ftz.into();
        for k in self.header.elements(self.beat) {
            match (function(self.header.function), self.header.reduced(self.arguments[k])) {
                (Some(function), Ok(reduced)) => {
                    let value = reduced.interpolate(function);
                    probe.negative2_q |= u8::from(value.negative) << k;
                    (probe.exponent2_q[k], probe.significand2_q[k]) = (exponent(value.exponent), value.significand);
                }
                (_, value) => {
                    probe.final2_q |= 1 << k;
                    probe.value2_q[k] = value.err().unwrap_or(0);
                }
            }
        }
    }
}

impl Block for Sfu {
    const NAME: &'static str = "sfu";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = SfuIn;
    type Out = SfuOut;
    type Probe = SfuProbe;

    fn new(_: &SmShape) -> Self {
        Self {
            argument_q: WarpData::ZERO,
            data_q: WarpData::ZERO,
            header_q: Header::default(),
            busy_q: false,
            beat_q: 0,
            first_q: None,
            second_q: None,
            result_q: UnitResult::default(),
            result_valid_q: false,
        }
    }

    fn early(&self, out: &mut SfuOut) {
        let result = self.result().copied().unwrap_or_default();
        out.result_valid_o = self.result_valid_q.into();
        (out.result_warp_o, out.result_mask_o) = (result.warp, result.mask);
        (out.result_reg_valid_o, out.result_reg_o) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        // Lanes that are done are there before the result is.
        if !self.idle() {
            out.result_data_o = *self.data();
        }
    }

    fn late(&mut self, inputs: &SfuIn, out: &mut SfuOut) {
        out.ready_o = self.ready(inputs.result_ready_i != 0).into();
    }

    fn clock(&mut self, inputs: &SfuIn, out: &SfuOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        if !self.idle() {
            self.advance(inputs.result_ready_i != 0);
        }
        if inputs.valid_i != 0 && out.ready_o != 0 {
            let issued = Issued { instruction: inputs.instruction_i, mask: inputs.mask_i, warp: inputs.warp_i };
            self.take(&issued, (inputs.src_valid_i != 0).then_some(&inputs.data_i));
        }
    }

    fn probe(&self, _: &SfuIn, _: &SfuOut, probe: &mut SfuProbe) {
        self.state(probe);
    }
}

#[cfg(test)]
mod tests;

//! `constant_unit`: the current access to a constant or special register. `docs/blocks/constant_unit.md`.

use crate::instruction::{Instruction, Issued, NO_REG, cause, constant, modifiers, opcode};
use crate::memory::access::{Access, WORD, kind};
use crate::memory::address_unit::AddressFault;
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::{Block, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Width of a special register's number.
const SOURCE_BITS: u32 = 5;
/// Opcode of S2R; the unit's other one is LDC.
const S2R: u8 = 0x12;

ports! {
    /// Inputs of [`ConstantUnit`].
    pub struct ConstantUnitIn(s: &SmShape) {
        /// Source a, the base address.
        data_i: WarpData = field(1024).valid_by("src_valid_i"),
        /// Instruction that is offered.
        instruction_i: Instruction = packed::<Instruction>().valid_by("valid_i"),
        /// Lanes that execute the instruction.
        mask_i: u32 = field(32).valid_by("valid_i"),
        /// Lanes that constant memory serves at this edge.
        constant_served_i: u32 = field(32),
        /// Lanes that are given special registers.
        special_served_i: u32 = field(32),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered.
        valid_i: u8 = field(1),
        /// Warp of the offered instruction.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Source a is a register.
        src_valid_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`ConstantUnit`].
    pub struct ConstantUnitOut(s: &SmShape) {
        /// Address of each lane.
        addr_o: WarpData = field(1024).valid_by("busy_o").early().shows("addr_q"),
        /// Lanes offered in this pass.
        lanes_o: u32 = field(32).valid_by("busy_o").early().shows("lanes_q"),
        /// Value that belongs to the cause of the fault.
        fault_value_o: u32 = field(32).valid_by("fault_valid_o").early().shows("fault_value_q"),
        /// The instruction is taken at this edge if also valid.
        ready_o: u8 = field(1),
        /// An instruction is held.
        busy_o: u8 = field(1).early().shows("busy_q"),
        /// Lanes are offered to constant memory.
        constant_valid_o: u8 = field(1).early(),
        /// Lanes are offered to the special registers.
        special_valid_o: u8 = field(1).early(),
        /// No lane is left after this pass.
        last_o: u8 = field(1),
        /// Warp of the instruction held.
        warp_o: u8 = field(WARP_BITS).valid_by("busy_o").early().shows("warp_q"),
        /// Bytes as a power of two.
        size_o: u8 = field(2).valid_by("busy_o").early().shows("size_q"),
        /// Sign extension.
        signed_o: u8 = field(1).valid_by("busy_o").early().shows("signed_q"),
        /// Number of the special register.
        source_o: u8 = field(SOURCE_BITS).valid_by("busy_o").early().shows("source_q"),
        /// A register is written.
        reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "busy_o"),
        /// Register that is written.
        reg_o: u8 = field(REG_BITS).valid_by("reg_valid_o").early().shows("reg_q"),
        /// The instruction taken in the cycle before is at fault.
        fault_valid_o: u8 = field(1).early().shows("fault_q"),
        /// Warp of the instruction at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early().shows("fault_warp_q"),
        /// Cause of the fault.
        fault_cause_o: u8 = field(4).valid_by("fault_valid_o").early().shows("fault_cause_q"),
    }
}

ports! {
    /// State of [`ConstantUnit`] that no output shows.
    pub struct ConstantUnitProbe(s: &SmShape) {
        /// The instruction held is S2R.
        special_q: u8 = field(1).valid_by("busy_o"),
    }
}

/// The unit to which the lanes of the current instruction are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantServer {
    /// Constant memory.
    Constant,
    /// The special registers.
    Special,
}

/// Holds one LDC or S2R and offers its lanes to constant memory or to the special registers, beside the memory pipeline: a constant
/// is an operand and does not wait for a load.
#[derive(Clone)]
pub struct ConstantUnit {
    const_bytes: u64,
    /// Unit that serves the instruction that is held, if there is one.
    server_q: Option<ConstantServer>,
    lanes_q: u32,
    warp_q: u8,
    size_q: u8,
    signed_q: bool,
    source_q: u8,
    reg_q: Option<u8>,
    addr_q: WarpData,
    fault_q: Option<AddressFault>,
}

impl ConstantUnit {
    /// Lanes offered in this pass, and the unit they are offered to.
    #[inline]
    pub fn offer(&self) -> Option<(ConstantServer, u32)> {
        self.server_q.map(|server| (server, self.lanes_q))
    }

    /// The instruction, with the lanes that are left.
    #[inline]
    pub fn access(&self) -> Access<'_> {
        Access {
            lanes: self.lanes_q,
            warp: self.warp_q,
            kind: kind::LOAD,
            size: self.size_q,
            signed: self.signed_q,
            atomic: 0,
            reg: self.reg_q,
            addr: &self.addr_q,
            store: &WarpData::ZERO,
            compare: &WarpData::ZERO,
            bypass: false,
            texture: 0,
        }
    }

    /// Number of the special register.
    #[inline]
    pub fn source(&self) -> u8 {
        self.source_q
    }

    /// Whether no lane is left once these lanes are served.
    #[inline]
    pub fn last(&self, served: u32) -> bool {
        self.server_q.is_some() && self.lanes_q & !served == 0
    }

    /// Whether an instruction that is offered is taken at this edge.
    #[inline]
    pub fn ready(&self, served: u32) -> bool {
        self.server_q.is_none() || self.last(served)
    }

    /// Whether no instruction is held and none is at fault.
    #[inline]
    pub fn idle(&self) -> bool {
        self.server_q.is_none() && self.fault_q.is_none()
    }

    /// The fault of the instruction taken in the cycle before.
    #[inline]
    pub fn fault(&self) -> Option<AddressFault> {
        self.fault_q
    }

    /// Clock edge at which lanes are served; [`take`](Self::take) follows where an instruction is taken.
    #[inline]
    pub fn serve(&mut self, served: u32) {
        if self.last(served) {
            self.server_q = None;
        }
        self.lanes_q &= !served;
        self.fault_q = None;
    }

    /// Clock edge at which an instruction is taken, with source a if it is a register.
    pub fn take(&mut self, issued: &Issued, a: Option<&WarpData>) {
        let Issued { instruction, mask, warp } = *issued;
        let (op, d) = (instruction.op(), instruction.roles().d());
        let m = modifiers(op, instruction.ctl());
        (self.warp_q, self.lanes_q, self.source_q) = (warp, mask, (m & 31) as u8);
        self.reg_q = Some(d).filter(|&d| d != NO_REG);
        self.addr_q = WarpData::ZERO;
        if opcode(op) == S2R {
            self.server_q = Some(ConstantServer::Special);
            (self.size_q, self.signed_q) = (0, false);
            return;
        }
        // Unsigned and signed byte, the same of two bytes, word.
        let form = m & 7;
        self.size_q = (form >> 1).min(WORD.into()) as u8;
        self.signed_q = matches!(form, 1 | 3);
        let offset = (constant(op).cast_signed() >> 8).cast_unsigned();
        let base = |lane: usize| a.map_or(0, |a| a.0[lane]);
        for lane in set_bits(mask) {
            self.addr_q.0[lane] = base(lane).wrapping_add(offset);
        }
        let bytes = 1 << self.size_q;
        let align = match m >> 3 & 3 {
            0 => bytes,
            1 => 8,
            _ => 16,
        };
        let wrong = |address: u32| {
            if address & (align - 1) != 0 {
                Some(cause::MISALIGNED)
            } else {
                (u64::from(address) + u64::from(bytes) > self.const_bytes).then_some(cause::OUT_OF_BOUNDS)
            }
        };
        self.fault_q = set_bits(mask).find_map(|lane| {
            let value = self.addr_q.0[lane];
            wrong(value).map(|cause| AddressFault { warp, cause, value })
        });
        self.server_q = self.fault_q.is_none().then_some(ConstantServer::Constant);
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        (self.server_q, self.fault_q) = (None, None);
    }

    /// The lanes that are served by the unit to which they are offered.
    fn answer(&self, inputs: &ConstantUnitIn) -> u32 {
        match self.server_q {
            Some(ConstantServer::Constant) => inputs.constant_served_i,
            Some(ConstantServer::Special) => inputs.special_served_i,
            None => 0,
        }
    }
}

impl Block for ConstantUnit {
    const NAME: &'static str = "constant_unit";
    const PARAMETERS: &'static [&'static str] = &["ConstWords"];

    type Shape = SmShape;
    type In = ConstantUnitIn;
    type Out = ConstantUnitOut;
    type Probe = ConstantUnitProbe;

    fn new(shape: &SmShape) -> Self {
        const BYTES_OF_A_WORD: u64 = 4;
        Self {
            const_bytes: BYTES_OF_A_WORD * shape.const_words as u64,
            server_q: None,
            lanes_q: 0,
            warp_q: 0,
            size_q: 0,
            signed_q: false,
            source_q: 0,
            reg_q: None,
            addr_q: WarpData::ZERO,
            fault_q: None,
        }
    }

    fn early(&self, out: &mut ConstantUnitOut) {
        *out = crate::Ports::zeroed();
        if let Some(fault) = self.fault() {
            out.fault_valid_o = 1;
            (out.fault_warp_o, out.fault_cause_o, out.fault_value_o) = (fault.warp, fault.cause, fault.value);
        }
        let Some((server, lanes)) = self.offer() else { return };
        out.busy_o = 1;
        out.constant_valid_o = (server == ConstantServer::Constant).into();
        out.special_valid_o = (server == ConstantServer::Special).into();
        (out.lanes_o, out.warp_o, out.addr_o) = (lanes, self.warp_q, self.addr_q);
        (out.size_o, out.signed_o, out.source_o) = (self.size_q, self.signed_q.into(), self.source_q);
        (out.reg_valid_o, out.reg_o) = (self.reg_q.is_some().into(), self.reg_q.unwrap_or_default());
    }

    fn late(&mut self, inputs: &ConstantUnitIn, out: &mut ConstantUnitOut) {
        let served = self.answer(inputs);
        (out.ready_o, out.last_o) = (self.ready(served).into(), self.last(served).into());
    }

    fn clock(&mut self, inputs: &ConstantUnitIn, out: &ConstantUnitOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        self.serve(self.answer(inputs));
        if inputs.valid_i != 0 && out.ready_o != 0 {
            let issued = Issued { instruction: inputs.instruction_i, mask: inputs.mask_i, warp: inputs.warp_i };
            self.take(&issued, (inputs.src_valid_i != 0).then_some(&inputs.data_i));
        }
    }

    fn probe(&self, _: &ConstantUnitIn, _: &ConstantUnitOut, probe: &mut ConstantUnitProbe) {
        probe.special_q = (self.server_q == Some(ConstantServer::Special)).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::{InstructionFields, RolesFields};
    use crate::testing::{Driver, SM_SHAPES};

    const LDC: u64 = 0x42;

    /// A unit that is offered an instruction of warp 9 with lanes 0, 1 and 31.
    fn offered(opcode: u64, m: u64, offset: i32, d: u8) -> Driver<ConstantUnit> {
        let mut unit = Driver::<ConstantUnit>::new(&SM_SHAPES[0]);
        let offset = u64::from(offset.cast_unsigned() & 0xff_ffff);
        let op = opcode | (m & 15) << 28 | offset << 40;
        let roles = RolesFields { d, ..RolesFields::default() }.into();
        let inputs = &mut unit.inputs;
        inputs.instruction_i = InstructionFields { op, ctl: m >> 4 << 8, roles, ..Default::default() }.into();
        (inputs.valid_i, inputs.warp_i, inputs.mask_i) = (1, 9, 0x8000_0003);
        unit
    }

    /// The cycle after the instruction was taken, with nothing offered.
    fn taken(unit: &mut Driver<ConstantUnit>) -> ConstantUnitOut {
        assert_eq!(unit.cycle().ready_o, 1);
        unit.inputs.valid_i = 0;
        unit.cycle()
    }

    #[test]
    fn a_constant_has_an_address_in_each_lane_and_goes_pass_by_pass() {
        let mut unit = offered(LDC, 3, -4, 7);
        unit.inputs.src_valid_i = 1;
        unit.inputs.data_i = WarpData(std::array::from_fn(|lane| 4 + 2 * lane as u32));
        let out = taken(&mut unit);
        assert_eq!((out.busy_o, out.constant_valid_o, out.special_valid_o), (1, 1, 0));
        assert_eq!((out.lanes_o, out.warp_o, out.size_o, out.signed_o), (0x8000_0003, 9, 1, 1));
        assert_eq!((out.reg_valid_o, out.reg_o, out.last_o, out.ready_o), (1, 7, 0, 0));
        assert_eq!([0, 1, 2, 31].map(|lane: usize| out.addr_o.0[lane]), [0, 2, 0, 62]);
        unit.inputs.constant_served_i = 3;
        assert_eq!(unit.cycle().last_o, 0);
        unit.inputs.constant_served_i = 0x8000_0000;
        let out = unit.cycle();
        assert_eq!((out.lanes_o, out.last_o, out.ready_o), (0x8000_0000, 1, 1));
        unit.inputs.constant_served_i = 0;
        let out = unit.cycle();
        assert_eq!((out.busy_o, out.reg_valid_o, out.last_o, out.ready_o), (0, 0, 0, 1));
    }

    #[test]
    fn a_special_register_goes_at_once_and_another_instruction_follows() {
        let mut unit = offered(S2R.into(), 20, 0, NO_REG);
        unit.cycle();
        (unit.inputs.special_served_i, unit.inputs.warp_i) = (0x8000_0003, 10);
        let out = unit.cycle();
        assert_eq!((out.constant_valid_o, out.special_valid_o, out.source_o, out.warp_o), (0, 1, 20, 9));
        assert_eq!((out.reg_valid_o, out.size_o, out.signed_o, out.addr_o), (0, 0, 0, WarpData::ZERO));
        assert_eq!((out.last_o, out.ready_o, unit.probe().special_q), (1, 1, 1));
        unit.inputs.valid_i = 0;
        assert_eq!(unit.cycle().warp_o, 10);
    }

    #[test]
    fn the_lowest_lane_at_fault_says_why() {
        let end = 4 * SM_SHAPES[0].const_words as u32;
        // Kind and alignment, addresses of lanes 0, 1 and 31, cause and value.
        for (m, addresses, fault) in [
            (4, [0, end - 4, 4], None),
            (4, [0, end, 2], Some((cause::OUT_OF_BOUNDS, end))),
            (4, [0, 4, 2], Some((cause::MISALIGNED, 2))),
            (2, [0, 2, end - 1], Some((cause::MISALIGNED, end - 1))),
            (0, [0, 3, end - 1], None),
            (4, [0, 0xffff_fffc, end], Some((cause::OUT_OF_BOUNDS, 0xffff_fffc))),
            (4 | 1 << 3, [8, 16, 4], Some((cause::MISALIGNED, 4))),
            (4 | 2 << 3, [16, 8, 4], Some((cause::MISALIGNED, 8))),
            (4 | 3 << 3, [16, 32, 8], Some((cause::MISALIGNED, 8))),
        ] {
            let mut unit = offered(LDC, m, 0, 7);
            unit.inputs.src_valid_i = 1;
            for (lane, address) in [0, 1, 31].into_iter().zip(addresses) {
                unit.inputs.data_i.0[lane] = address;
            }
            // Lanes outside the mask do not matter.
            unit.inputs.data_i.0[2] = 1;
            let out = taken(&mut unit);
            let found = (out.fault_valid_o == 1).then_some((out.fault_cause_o, out.fault_value_o));
            assert_eq!((found, out.busy_o), (fault, fault.is_none().into()), "{m} {addresses:?}");
            assert_eq!(out.fault_warp_o, if fault.is_some() { 9 } else { 0 });
            assert_eq!(unit.cycle().fault_valid_o, 0);
        }
    }

    #[test]
    fn reset_empties_the_unit() {
        let mut unit = offered(LDC, 4, 0, 7);
        unit.cycle();
        unit.inputs.rst_ni = 0;
        assert_eq!(unit.cycle().busy_o, 1);
        let out = unit.cycle();
        assert_eq!((out.busy_o, out.constant_valid_o, out.reg_valid_o), (0, 0, 0));
    }
}

//! `fault_unit`: keeps the first fault. `docs/blocks/fault_unit.md`.

use crate::config::Config;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::{Block, Decode, NoProbe, WARP_BITS, field, ports};

/// Capacity of the twin: sources of faults with two issue ports.
pub const MAX_FAULT_SOURCES: usize = 2 * MAX_PORTS + 5;
/// Width of a fault's cause.
pub const CAUSE_BITS: u32 = 4;

ports! {
    /// Inputs of [`FaultUnit`].
    pub struct FaultUnitIn(s: &SmShape) {
        /// Value that belongs to the cause of source k's fault.
        value_i: [u32; MAX_FAULT_SOURCES] = field(32).count(s.sources).valid_by("valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A fault of source k.
        valid_i: u16 = field(s.sources),
        /// Warp of source k's fault.
        warp_i: [u8; MAX_FAULT_SOURCES] = field(WARP_BITS).count(s.sources).valid_by("valid_i"),
        /// Cause of source k's fault.
        cause_i: [u8; MAX_FAULT_SOURCES] =
            field(CAUSE_BITS).count(s.sources).valid_by("valid_i").shown(Decode::Enum(CAUSES)),
    }
}

ports! {
    /// Outputs of [`FaultUnit`].
    pub struct FaultUnitOut(s: &SmShape) {
        /// Value that belongs to the cause of the first fault.
        fault_value_o: u32 = field(32).valid_by("fault_o").early().shows("value_q"),
        /// A fault has occurred.
        fault_o: u8 = field(1).early().shows("fault_q"),
        /// Warp of the first fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_o").early().shows("warp_q"),
        /// Cause of the first fault.
        fault_cause_o: u8 =
            field(CAUSE_BITS).valid_by("fault_o").early().shown(Decode::Enum(CAUSES)).shows("cause_q"),
    }
}

/// Causes in words, from 0.
pub const CAUSES: &[&str] = &[
    "none",
    "TRAP",
    "unsupported operation",
    "barrier divergence",
    "misaligned address",
    "out of bounds",
    "global address with an upper word",
    "constant space written",
    "atomic operation on local memory",
    "unknown cause",
    "WARPSYNC divergence",
    "no such place in global memory",
    "thread count of a barrier",
    "not one block fits",
    "shared memory that the block has released",
];

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fault {
    /// Value that belongs to the cause.
    pub value: u32,
    /// Warp concerned.
    pub warp: u8,
    /// Cause of the fault: [`cause`](crate::instruction::cause).
    pub cause: u8,
}

/// Keeps the first fault until reset, and stops the SM: nothing issues any more.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultUnit {
    first: Option<Fault>,
}

impl FaultUnit {
    /// The first fault.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.first.as_ref()
    }

    /// Clock edge at which a fault occurs. Of several faults at once the one of the lowest source, reported first, is kept.
    #[inline]
    pub fn tell(&mut self, fault: Fault) {
        self.first.get_or_insert(fault);
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.first = None;
    }
}

impl Block for FaultUnit {
    const NAME: &'static str = "fault_unit";
    const PARAMETERS: &'static [&'static str] = &["Sources"];

    type Shape = SmShape;
    type In = FaultUnitIn;
    type Out = FaultUnitOut;
    type Probe = NoProbe<SmShape>;

    /// With as many sources as in the SM.
    fn shape_alone(config: &Config) -> SmShape {
        SmShape::new(config).with_fault_sources()
    }

    fn new(_: &SmShape) -> Self {
        Self::default()
    }

    fn early(&self, out: &mut FaultUnitOut) {
        let Fault { value, warp, cause } = self.first.unwrap_or_default();
        out.fault_o = self.first.is_some().into();
        (out.fault_value_o, out.fault_warp_o, out.fault_cause_o) = (value, warp, cause);
    }

    fn late(&mut self, _: &FaultUnitIn, _: &mut FaultUnitOut) {}

    fn clock(&mut self, inputs: &FaultUnitIn, _: &FaultUnitOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        for k in set_bits(inputs.valid_i) {
            self.tell(Fault { value: inputs.value_i[k], warp: inputs.warp_i[k], cause: inputs.cause_i[k] });
        }
    }

    fn probe(&self, _: &FaultUnitIn, _: &FaultUnitOut, _: &mut NoProbe<SmShape>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::cause;
    use crate::testing::Driver;

    const SHAPE: SmShape = SmShape { sources: MAX_FAULT_SOURCES, ..crate::testing::SM_SHAPES[1] };

    fn tell(unit: &mut Driver<FaultUnit>, source: usize, fault: Fault) {
        unit.inputs.valid_i |= 1 << source;
        unit.inputs.warp_i[source] = fault.warp;
        unit.inputs.cause_i[source] = fault.cause;
        unit.inputs.value_i[source] = fault.value;
    }

    fn shown(unit: &mut Driver<FaultUnit>) -> Option<Fault> {
        let out = unit.cycle();
        unit.inputs.valid_i = 0;
        let fault = Fault { value: out.fault_value_o, warp: out.fault_warp_o, cause: out.fault_cause_o };
        (out.fault_o != 0).then_some(fault)
    }

    const TRAP: Fault = Fault { value: 7, warp: 47, cause: cause::TRAP };
    const WIDE: Fault = Fault { value: u32::MAX, warp: 0, cause: cause::WIDE_ADDRESS };

    #[test]
    fn the_first_fault_stays() {
        let mut unit = Driver::<FaultUnit>::new(&SHAPE);
        tell(&mut unit, 7, TRAP);
        assert_eq!(shown(&mut unit), None);
        tell(&mut unit, 0, WIDE);
        assert_eq!(shown(&mut unit), Some(TRAP));
        assert_eq!(shown(&mut unit), Some(TRAP));
    }

    #[test]
    fn of_several_at_once_the_lowest_source_counts() {
        let mut unit = Driver::<FaultUnit>::new(&SHAPE);
        tell(&mut unit, 6, TRAP);
        tell(&mut unit, 2, WIDE);
        unit.cycle();
        assert_eq!(shown(&mut unit), Some(WIDE));
    }

    #[test]
    fn reset_forgets_and_keeps_nothing() {
        let mut unit = Driver::<FaultUnit>::new(&SHAPE);
        tell(&mut unit, 1, TRAP);
        unit.cycle();
        unit.inputs.rst_ni = 0;
        assert_eq!(shown(&mut unit), Some(TRAP));
        tell(&mut unit, 1, WIDE);
        assert_eq!(shown(&mut unit), None);
        unit.inputs.rst_ni = 1;
        assert_eq!(shown(&mut unit), None);
    }
}

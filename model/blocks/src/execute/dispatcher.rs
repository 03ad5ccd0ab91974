//! `dispatcher`: sends each instruction from the operand stage to its unit. `docs/blocks/dispatcher.md`.

use crate::instruction::{Instruction, Roles, unit};
use crate::mrf::MAX_PORTS;
use crate::shape::SmShape;
use crate::{Block, field, packed, ports};

ports! {
    /// Inputs of [`Dispatcher`].
    pub struct DispatcherIn(s: &SmShape) {
        /// Instruction offered on port p.
        dispatch_instruction_i: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("dispatch_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered on port p.
        dispatch_valid_i: u8 = field(s.ports()),
        /// ALU p takes an instruction.
        alu_ready_i: u8 = field(s.ports()),
        /// Single precision unit p takes an instruction.
        fp_ready_i: u8 = field(s.ports()),
        /// The memory pipeline takes an instruction.
        memory_ready_i: u8 = field(1),
        /// The special function unit takes an instruction.
        sfu_ready_i: u8 = field(1),
        /// The constant unit takes an instruction.
        constant_ready_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`Dispatcher`].
    pub struct DispatcherOut(s: &SmShape) {
        /// The offer on port p is taken at this edge.
        dispatch_ready_o: u8 = field(s.ports()),
        /// Port p's instruction is offered to ALU p.
        alu_valid_o: u8 = field(s.ports()),
        /// Port p's instruction is offered to single precision unit p.
        fp_valid_o: u8 = field(s.ports()),
        /// An instruction is offered to the memory pipeline.
        memory_valid_o: u8 = field(1),
        /// Port whose instruction is offered to the memory pipeline.
        memory_port_o: u8 = field(1),
        /// An instruction is offered to the special function unit.
        sfu_valid_o: u8 = field(1),
        /// Port whose instruction is offered to the special function unit.
        sfu_port_o: u8 = field(1),
        /// An instruction is offered to the constant unit.
        constant_valid_o: u8 = field(1),
        /// Port whose instruction is offered to the constant unit.
        constant_port_o: u8 = field(1),
        /// An instruction is offered to the barrier unit.
        barrier_valid_o: u8 = field(1),
        /// Port whose instruction is offered to the barrier unit.
        barrier_port_o: u8 = field(1),
    }
}

ports! {
    /// State of [`Dispatcher`].
    pub struct DispatcherProbe(s: &SmShape) {
        /// Port that goes first when both want the memory pipeline.
        memory_turn_q: u8 = field(1),
        /// Port that goes first when both want the special function unit.
        sfu_turn_q: u8 = field(1),
        /// Port that goes first when both want the constant unit.
        constant_turn_q: u8 = field(1),
        /// Port that goes first when both want the barrier unit.
        barrier_turn_q: u8 = field(1),
    }
}

/// The ports whose instructions want each of the units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// An ALU.
    pub alu: u8,
    /// A single precision unit.
    pub fp: u8,
    /// The memory pipeline.
    pub memory: u8,
    /// The special function unit.
    pub sfu: u8,
    /// The constant unit.
    pub constant: u8,
    /// The barrier unit.
    pub barrier: u8,
}

impl Wanted {
    /// Adds the instruction that is offered on a port.
    #[inline]
    pub fn add(&mut self, port: usize, roles: Roles) {
        let bit = 1 << port;
        match roles.unit() {
            unit::ALU => self.alu |= bit,
            unit::FP => self.fp |= bit,
            unit::MEMORY => self.memory |= bit,
            unit::SFU => self.sfu |= bit,
            unit::CONSTANT => self.constant |= bit,
            unit::BARRIER => self.barrier |= bit,
            _ => {}
        }
    }
}

/// The units that take an instruction at this edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ready {
    /// The ALUs.
    pub alu: u8,
    /// The single precision units.
    pub fp: u8,
    /// The memory pipeline.
    pub memory: bool,
    /// The special function unit.
    pub sfu: bool,
    /// The constant unit.
    pub constant: bool,
}

/// Sends each instruction that leaves the operand stage to its unit. There is an ALU and a single precision unit for each port, but one memory
/// pipeline, one special function unit, one constant unit and one barrier unit for all: where two ports want the same unit, they take
/// turns.
#[derive(Clone, Default)]
pub struct Dispatcher {
    memory_turn_q: u8,
    sfu_turn_q: u8,
    constant_turn_q: u8,
    barrier_turn_q: u8,
}

/// The port that goes first among those that want a unit, as a mask.
#[inline]
fn first(wanted: u8, turn: u8) -> u8 {
    if both(wanted) { 1 << turn } else { wanted }
}

/// Whether two ports want the unit.
#[inline]
fn both(wanted: u8) -> bool {
    wanted & wanted.wrapping_sub(1) != 0
}

impl Dispatcher {
    /// The port (as a mask) whose instruction is offered to the memory pipeline.
    #[inline]
    pub fn memory(&self, wanted: Wanted) -> u8 {
        first(wanted.memory, self.memory_turn_q)
    }

    /// The port (as a mask) whose instruction is offered to the special function unit.
    #[inline]
    pub fn sfu(&self, wanted: Wanted) -> u8 {
        first(wanted.sfu, self.sfu_turn_q)
    }

    /// The port (as a mask) whose instruction is offered to the constant unit.
    #[inline]
    pub fn constant(&self, wanted: Wanted) -> u8 {
        first(wanted.constant, self.constant_turn_q)
    }

    /// The port (as a mask) whose instruction goes to the barrier unit.
    #[inline]
    pub fn barrier(&self, wanted: Wanted) -> u8 {
        first(wanted.barrier, self.barrier_turn_q)
    }

    /// The ports whose offers are taken at this edge.
    #[inline]
    pub fn ready(&self, wanted: Wanted, ready: Ready) -> u8 {
        let memory = if ready.memory { self.memory(wanted) } else { 0 };
        let sfu = if ready.sfu { self.sfu(wanted) } else { 0 };
        let constant = if ready.constant { self.constant(wanted) } else { 0 };
        wanted.alu & ready.alu | wanted.fp & ready.fp | memory | sfu | constant | self.barrier(wanted)
    }

    /// Performs the clock edge.
    #[inline]
    pub fn advance(&mut self, wanted: Wanted, ready: Ready) {
        self.memory_turn_q ^= u8::from(ready.memory && both(wanted.memory));
        self.sfu_turn_q ^= u8::from(ready.sfu && both(wanted.sfu));
        self.constant_turn_q ^= u8::from(ready.constant && both(wanted.constant));
        self.barrier_turn_q ^= u8::from(both(wanted.barrier));
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.memory_turn_q, self.sfu_turn_q) = (0, 0);
        (self.constant_turn_q, self.barrier_turn_q) = (0, 0);
    }
}

fn wanted(inputs: &DispatcherIn) -> Wanted {
    let mut wanted = Wanted::default();
    for (port, instruction) in inputs.dispatch_instruction_i.iter().enumerate() {
        if inputs.dispatch_valid_i >> port & 1 == 1 {
            wanted.add(port, instruction.roles());
        }
    }
    wanted
}

fn ready(inputs: &DispatcherIn) -> Ready {
    Ready {
        alu: inputs.alu_ready_i,
        fp: inputs.fp_ready_i,
        memory: inputs.memory_ready_i != 0,
        sfu: inputs.sfu_ready_i != 0,
        constant: inputs.constant_ready_i != 0,
    }
}

impl Block for Dispatcher {
    const NAME: &'static str = "dispatcher";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts"];

    type Shape = SmShape;
    type In = DispatcherIn;
    type Out = DispatcherOut;
    type Probe = DispatcherProbe;

    fn new(_: &SmShape) -> Self {
        Self::default()
    }

    fn early(&self, _: &mut DispatcherOut) {}

    fn late(&mut self, inputs: &DispatcherIn, out: &mut DispatcherOut) {
        let wanted = wanted(inputs);
        let (memory, sfu, barrier) = (self.memory(wanted), self.sfu(wanted), self.barrier(wanted));
        let constant = self.constant(wanted);
        out.dispatch_ready_o = self.ready(wanted, ready(inputs));
        (out.alu_valid_o, out.fp_valid_o) = (wanted.alu, wanted.fp);
        // With two ports at most, the mask of one port gives its number: bit 1 is port 1.
        (out.memory_valid_o, out.memory_port_o) = ((memory != 0).into(), memory >> 1);
        (out.sfu_valid_o, out.sfu_port_o) = ((sfu != 0).into(), sfu >> 1);
        (out.constant_valid_o, out.constant_port_o) = ((constant != 0).into(), constant >> 1);
        (out.barrier_valid_o, out.barrier_port_o) = ((barrier != 0).into(), barrier >> 1);
    }

    fn clock(&mut self, inputs: &DispatcherIn, _: &DispatcherOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance(wanted(inputs), ready(inputs));
        }
    }

    fn probe(&self, _: &DispatcherIn, _: &DispatcherOut, probe: &mut DispatcherProbe) {
        (probe.memory_turn_q, probe.barrier_turn_q) = (self.memory_turn_q, self.barrier_turn_q);
        (probe.sfu_turn_q, probe.constant_turn_q) = (self.sfu_turn_q, self.constant_turn_q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::{InstructionFields, RolesFields};
    use crate::testing::{Driver, SM_SHAPES};

    /// A dispatcher of two ports with an instruction of these units on them.
    fn dispatcher(units: [u8; 2]) -> Driver<Dispatcher> {
        let mut dispatcher = Driver::<Dispatcher>::new(&SM_SHAPES[1]);
        dispatcher.inputs.dispatch_valid_i = 0b11;
        dispatcher.inputs.dispatch_instruction_i = units.map(|unit| {
            let roles = RolesFields { unit, ..RolesFields::default() }.into();
            InstructionFields { roles, ..InstructionFields::default() }.into()
        });
        dispatcher
    }

    #[test]
    fn each_port_has_its_own_alu_and_single_precision_unit() {
        for unit in [unit::ALU, unit::FP] {
            let mut dispatcher = dispatcher([unit, unit]);
            let offered = |valid: u8| if unit == unit::ALU { (valid, 0) } else { (0, valid) };
            for ready in 0..4 {
                let others = [0, 0b11][usize::from(ready) % 2];
                let inputs = &mut dispatcher.inputs;
                (inputs.alu_ready_i, inputs.fp_ready_i) =
                    if unit == unit::ALU { (ready, others) } else { (others, ready) };
                let out = dispatcher.cycle();
                assert_eq!(((out.alu_valid_o, out.fp_valid_o), out.dispatch_ready_o), (offered(0b11), ready));
                assert_eq!((out.memory_valid_o, out.sfu_valid_o, out.barrier_valid_o), (0, 0, 0));
            }
            dispatcher.inputs.dispatch_valid_i = 0b10;
            let out = dispatcher.cycle();
            let found = ((out.alu_valid_o, out.fp_valid_o), out.dispatch_ready_o);
            assert_eq!(found, (offered(0b10), 0b10), "not valid, not ready");
        }
    }

    /// Offer, port and turn of the unit that both ports share.
    fn shared(unit: u8, out: &DispatcherOut, probe: &DispatcherProbe) -> (u8, u8, u8) {
        match unit {
            unit::MEMORY => (out.memory_valid_o, out.memory_port_o, probe.memory_turn_q),
            unit::CONSTANT => (out.constant_valid_o, out.constant_port_o, probe.constant_turn_q),
            _ => (out.sfu_valid_o, out.sfu_port_o, probe.sfu_turn_q),
        }
    }

    #[test]
    fn two_ports_take_turns_at_a_unit_that_they_share_when_one_of_them_is_taken() {
        for unit in [unit::MEMORY, unit::SFU, unit::CONSTANT] {
            let mut dispatcher = dispatcher([unit, unit]);
            let set = |inputs: &mut DispatcherIn, ready: u8| {
                // The other units' readiness does not matter.
                let of = |other: u8| if unit == other { ready } else { ready ^ 1 };
                (inputs.memory_ready_i, inputs.sfu_ready_i) = (of(unit::MEMORY), of(unit::SFU));
                inputs.constant_ready_i = of(unit::CONSTANT);
            };
            for (ready, port) in [(0, 0), (0, 0), (1, 0), (1, 1), (0, 0), (1, 0), (0, 1), (1, 1)] {
                set(&mut dispatcher.inputs, ready);
                let out = dispatcher.cycle();
                assert_eq!(shared(unit, &out, dispatcher.probe()), (1, port, port));
                assert_eq!(out.dispatch_ready_o, ready << port);
            }
            // A port alone is served whoever's turn it is, and keeps the turn.
            for valid in [0b10, 0b10, 0b01] {
                dispatcher.inputs.dispatch_valid_i = valid;
                let out = dispatcher.cycle();
                assert_eq!(shared(unit, &out, dispatcher.probe()), (1, valid >> 1, 0));
                assert_eq!(out.dispatch_ready_o, valid);
            }
        }
    }

    #[test]
    fn two_ports_take_turns_at_the_barrier_unit_which_always_takes() {
        let mut dispatcher = dispatcher([unit::BARRIER, unit::BARRIER]);
        for port in [0, 1, 0, 1, 0] {
            let out = dispatcher.cycle();
            assert_eq!((out.barrier_valid_o, out.barrier_port_o, out.dispatch_ready_o), (1, port, 1 << port));
        }
        dispatcher.inputs.rst_ni = 0;
        dispatcher.cycle();
        assert_eq!(dispatcher.probe().barrier_turn_q, 1);
        dispatcher.cycle();
        assert_eq!(dispatcher.probe().barrier_turn_q, 0, "reset ends the turn");
    }

    #[test]
    fn several_units_are_served_at_once() {
        let mut dispatcher = dispatcher([unit::BARRIER, unit::MEMORY]);
        dispatcher.inputs.memory_ready_i = 1;
        let out = dispatcher.cycle();
        assert_eq!(out.dispatch_ready_o, 0b11);
        assert_eq!((out.memory_port_o, out.barrier_valid_o, out.barrier_port_o), (1, 1, 0));
        let mut dispatcher = self::dispatcher([unit::SFU, unit::FP]);
        (dispatcher.inputs.sfu_ready_i, dispatcher.inputs.fp_ready_i) = (1, 0b10);
        let out = dispatcher.cycle();
        assert_eq!((out.dispatch_ready_o, out.sfu_valid_o, out.sfu_port_o, out.fp_valid_o), (0b11, 1, 0, 0b10));
    }

    #[test]
    fn units_that_never_come_are_never_taken() {
        for none in [unit::CONTROL, unit::NOTHING, unit::UNSUPPORTED, 15] {
            let mut dispatcher = dispatcher([none, unit::ALU]);
            (dispatcher.inputs.alu_ready_i, dispatcher.inputs.memory_ready_i) = (0b11, 1);
            let out = dispatcher.cycle();
            assert_eq!((out.dispatch_ready_o, out.alu_valid_o), (0b10, 0b10));
            assert_eq!((out.memory_valid_o, out.barrier_valid_o), (0, 0));
        }
    }
}

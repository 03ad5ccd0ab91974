//! `dispatcher`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{Dispatcher, DispatcherIn, DispatcherOut, DispatcherProbe};
use gpurf_blocks::instruction::{RolesFields, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, any_instruction, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Dispatcher, DispatcherDriver, DispatcherCover>();

pub(crate) struct DispatcherDriver {
    ports: usize,
    reset: Reset,
}

knobs! {
    pub(crate) struct DispatcherKnobs {
        offer: "a port has an instruction" = [100, 500, 1000],
        alu: "it is for an ALU" = [100, 800],
        memory: "one that is not is for the memory pipeline" = [200, 800],
        strange: "an instruction is for a unit that is not there" = [0, 100],
        alu_ready: "an ALU takes one" = [100, 900],
        memory_ready: "the memory pipeline takes one" = [100, 500, 1000],
        floats: "one that is for the ALU or the memory pipeline is for its counterpart" = [100, 500],
        sfu_ready: "the special function unit takes one" = [100, 500, 1000],
        constant: "one that would be for the special function unit is for the constant unit" = [200, 600],
        constant_ready: "the constant unit takes one" = [100, 500, 1000],
        reset,
    }
}

/// Units that take no instruction from here, and numbers without a unit: each differs in one bit from the number of a unit that does.
const STRANGE: [u8; 10] = [unit::CONTROL, unit::NOTHING, unit::UNSUPPORTED, 9, 10, 11, 12, 13, 14, 15];

impl Driver for DispatcherDriver {
    type In = DispatcherIn;
    type Knobs = DispatcherKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { ports: shape.ports(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &DispatcherKnobs, inputs: &mut DispatcherIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.dispatch_valid_i = ports(rng, self.ports, knobs.offer);
        for instruction in &mut inputs.dispatch_instruction_i[..self.ports] {
            let unit = if rng.chance(knobs.strange) {
                STRANGE[rng.below(STRANGE.len() as u64) as usize]
            } else if rng.chance(knobs.alu) {
                [unit::ALU, unit::FP][usize::from(rng.chance(knobs.floats))]
            } else if rng.chance(knobs.memory) {
                let other = [unit::SFU, unit::CONSTANT][usize::from(rng.chance(knobs.constant))];
                [unit::MEMORY, other][usize::from(rng.chance(knobs.floats))]
            } else {
                unit::BARRIER
            };
            let mut given = any_instruction(rng);
            given.roles = RolesFields { unit, ..given.roles.fields() }.into();
            *instruction = given.into();
        }
        inputs.alu_ready_i = ports(rng, self.ports, knobs.alu_ready);
        inputs.fp_ready_i = ports(rng, self.ports, knobs.alu_ready);
        inputs.memory_ready_i = rng.chance(knobs.memory_ready).into();
        inputs.sfu_ready_i = rng.chance(knobs.sfu_ready).into();
        inputs.constant_ready_i = rng.chance(knobs.constant_ready).into();
    }
}

pub(crate) struct DispatcherCover {
    shape: SmShape,
}

#[cover]
impl DispatcherCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &DispatcherIn, o: &DispatcherOut, p: &DispatcherProbe, points: &mut Points) {
        let wants = |port: usize, of: u8| {
            i.dispatch_valid_i >> port & 1 == 1 && i.dispatch_instruction_i[port].roles().unit() == of
        };
        let mask = |of: u8| (0..self.shape.ports()).fold(0u8, |mask, port| mask | u8::from(wants(port, of)) << port);
        let (alu, memory, barrier) = (mask(unit::ALU), mask(unit::MEMORY), mask(unit::BARRIER));
        let (fp, sfu, constant) = (mask(unit::FP), mask(unit::SFU), mask(unit::CONSTANT));
        let (constant_ready, constant_1) = (i.constant_ready_i == 1, p.constant_turn_q == 1);
        let (ready, sfu_ready) = (i.memory_ready_i == 1, i.sfu_ready_i == 1);
        let (memory_1, sfu_1, barrier_1) = (p.memory_turn_q == 1, p.sfu_turn_q == 1, p.barrier_turn_q == 1);
        point!("ALU takes", alu & o.dispatch_ready_o != 0);
        point!("ALU busy", alu & !o.dispatch_ready_o != 0);
        point!("single precision unit takes", fp & o.dispatch_ready_o != 0);
        point!("single precision unit busy", fp & !o.dispatch_ready_o != 0);
        point!("special function unit takes", sfu & o.dispatch_ready_o != 0);
        point!("special function unit busy", sfu != 0 && !sfu_ready);
        point!("constant unit takes", constant & o.dispatch_ready_o != 0);
        point!("constant unit busy", constant != 0 && !constant_ready);
        point!("memory pipeline takes", memory & o.dispatch_ready_o != 0);
        point!("memory pipeline busy", memory != 0 && !ready);
        point!("barrier unit takes", barrier & o.dispatch_ready_o != 0);
        point!("a unit that is not there", i.dispatch_valid_i & !(alu | fp | memory | sfu | constant | barrier) != 0);
        #[given(self.shape.ports() == 2)]
        {
            point!("both want the special function unit, port 0 goes", sfu == 3 && sfu_ready && !sfu_1);
            point!("both want the special function unit, port 1 goes", sfu == 3 && sfu_ready && sfu_1);
            point!("both want the special function unit, which is busy", sfu == 3 && !sfu_ready);
            point!("port 1 alone wants the special function unit out of turn", sfu == 2 && !sfu_1);
            point!("both want the constant unit, port 0 goes", constant == 3 && constant_ready && !constant_1);
            point!("both want the constant unit, port 1 goes", constant == 3 && constant_ready && constant_1);
            point!("both want the constant unit, which is busy", constant == 3 && !constant_ready);
            point!("port 1 alone wants the constant unit out of turn", constant == 2 && !constant_1);
            point!("constant unit and memory pipeline at once", constant != 0 && memory != 0);
            point!("special function unit and memory pipeline at once", sfu != 0 && memory != 0);
            point!("special function unit and barrier unit at once", sfu != 0 && barrier != 0);
            point!("both single precision units at once", fp == 3 && i.fp_ready_i == 3);
            point!("one single precision unit takes, the other is busy", fp == 3 && i.fp_ready_i.count_ones() == 1);
            point!("ALU and single precision unit at once", alu & i.alu_ready_i != 0 && fp & i.fp_ready_i != 0);
            point!("both want the memory pipeline, port 0 goes", memory == 3 && ready && !memory_1);
            point!("both want the memory pipeline, port 1 goes", memory == 3 && ready && memory_1);
            point!("both want the memory pipeline, which is busy", memory == 3 && !ready);
            point!("port 1 alone wants the memory pipeline out of turn", memory == 2 && !memory_1);
            point!("both want the barrier unit, port 0 goes", barrier == 3 && !barrier_1);
            point!("both want the barrier unit, port 1 goes", barrier == 3 && barrier_1);
            point!("port 1 alone wants the barrier unit out of turn", barrier == 2 && !barrier_1);
            point!("memory pipeline and barrier unit at once", memory != 0 && barrier != 0);
            point!("both ALUs at once", alu == 3 && i.alu_ready_i == 3);
            point!("one ALU takes, the other is busy", alu == 3 && i.alu_ready_i.count_ones() == 1);
            point!("reset in port 1's turn", i.rst_ni == 0 && (memory_1 || sfu_1 || constant_1 || barrier_1));
        }
    }
}

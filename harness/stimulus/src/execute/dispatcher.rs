//! `dispatcher`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{DispatcherIn, DispatcherOut, DispatcherProbe};
use gpurf_blocks::instruction::{ROLES_BITS, Roles, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct DispatcherDriver {
    ports: usize,
    reset: Reset,
}

const OFFER: usize = 0;
const ALU: usize = 1;
const MEMORY: usize = 2;
const STRANGE: usize = 3;
const ALU_READY: usize = 4;
const MEMORY_READY: usize = 5;
const FLOATS: usize = 6;
const SFU_READY: usize = 7;

/// Bit of a role word at which the unit begins.
const UNIT_AT: u32 = ROLES_BITS - 3;

impl Driver for DispatcherDriver {
    type In = DispatcherIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "offer", doc: "a port has an instruction", values: &[100, 500, 1000] },
        Knob { name: "alu", doc: "it is for an ALU", values: &[100, 800] },
        Knob { name: "memory", doc: "one that is not is for the memory pipeline", values: &[200, 800] },
        Knob { name: "strange", doc: "an instruction is for a unit that is not there", values: &[0, 100] },
        Knob { name: "alu_ready", doc: "an ALU takes one", values: &[100, 900] },
        Knob { name: "memory_ready", doc: "the memory pipeline takes one", values: &[100, 500, 1000] },
        Knob {
            name: "floats",
            doc: "one that is for the ALU or the memory pipeline is for its counterpart",
            values: &[100, 500],
        },
        Knob { name: "sfu_ready", doc: "the special function unit takes one", values: &[100, 500, 1000] },
        RESET,
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { ports: shape.ports(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut DispatcherIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(8));
        inputs.dispatch_valid_i = ports(rng, self.ports, knobs.get(OFFER));
        for roles in &mut inputs.dispatch_roles_i[..self.ports] {
            let unit = if rng.chance(knobs.get(STRANGE)) {
                [unit::CONTROL, unit::NOTHING, unit::UNSUPPORTED][rng.below(3) as usize]
            } else if rng.chance(knobs.get(ALU)) {
                [unit::ALU, unit::FP][usize::from(rng.chance(knobs.get(FLOATS)))]
            } else if rng.chance(knobs.get(MEMORY)) {
                [unit::MEMORY, unit::SFU][usize::from(rng.chance(knobs.get(FLOATS)))]
            } else {
                unit::BARRIER
            };
            *roles = u64::from(unit) << UNIT_AT | rng.below(1 << UNIT_AT);
        }
        inputs.alu_ready_i = ports(rng, self.ports, knobs.get(ALU_READY));
        inputs.fp_ready_i = ports(rng, self.ports, knobs.get(ALU_READY));
        inputs.memory_ready_i = rng.chance(knobs.get(MEMORY_READY)).into();
        inputs.sfu_ready_i = rng.chance(knobs.get(SFU_READY)).into();
    }
}

pub(crate) struct DispatcherCover {
    ports: usize,
}

impl Cover for DispatcherCover {
    type In = DispatcherIn;
    type Out = DispatcherOut;
    type Probe = DispatcherProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "ALU takes",
            "ALU busy",
            "single precision unit takes",
            "single precision unit busy",
            "special function unit takes",
            "special function unit busy",
            "memory pipeline takes",
            "memory pipeline busy",
            "barrier unit takes",
            "a unit that is not there",
        ];
        if shape.ports() == 2 {
            points.extend([
                "both want the memory pipeline, port 0 goes",
                "both want the memory pipeline, port 1 goes",
                "both want the memory pipeline, which is busy",
                "port 1 alone wants the memory pipeline out of turn",
                "both want the special function unit, port 0 goes",
                "both want the special function unit, port 1 goes",
                "both want the special function unit, which is busy",
                "port 1 alone wants the special function unit out of turn",
                "special function unit and memory pipeline at once",
                "special function unit and barrier unit at once",
                "both single precision units at once",
                "one single precision unit takes, the other is busy",
                "ALU and single precision unit at once",
                "both want the barrier unit, port 0 goes",
                "both want the barrier unit, port 1 goes",
                "port 1 alone wants the barrier unit out of turn",
                "memory pipeline and barrier unit at once",
                "both ALUs at once",
                "one ALU takes, the other is busy",
                "reset in port 1's turn",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { ports: shape.ports() }
    }

    fn observe(&mut self, i: &DispatcherIn, o: &DispatcherOut, p: &DispatcherProbe, hit: &mut dyn FnMut(&'static str)) {
        let wants =
            |port: usize, of: u8| i.dispatch_valid_i >> port & 1 == 1 && Roles(i.dispatch_roles_i[port]).unit() == of;
        let mask = |of: u8| (0..self.ports).fold(0u8, |mask, port| mask | u8::from(wants(port, of)) << port);
        let (alu, memory, barrier) = (mask(unit::ALU), mask(unit::MEMORY), mask(unit::BARRIER));
        let (fp, sfu) = (mask(unit::FP), mask(unit::SFU));
        let (ready, sfu_ready) = (i.memory_ready_i == 1, i.sfu_ready_i == 1);
        let (memory_1, sfu_1, barrier_1) = (p.memory_turn_q == 1, p.sfu_turn_q == 1, p.barrier_turn_q == 1);
        let points = [
            ("ALU takes", alu & o.dispatch_ready_o != 0),
            ("ALU busy", alu & !o.dispatch_ready_o != 0),
            ("single precision unit takes", fp & o.dispatch_ready_o != 0),
            ("single precision unit busy", fp & !o.dispatch_ready_o != 0),
            ("special function unit takes", sfu & o.dispatch_ready_o != 0),
            ("special function unit busy", sfu != 0 && !sfu_ready),
            ("both want the special function unit, port 0 goes", sfu == 3 && sfu_ready && !sfu_1),
            ("both want the special function unit, port 1 goes", sfu == 3 && sfu_ready && sfu_1),
            ("both want the special function unit, which is busy", sfu == 3 && !sfu_ready),
            ("port 1 alone wants the special function unit out of turn", sfu == 2 && !sfu_1),
            ("special function unit and memory pipeline at once", sfu != 0 && memory != 0),
            ("special function unit and barrier unit at once", sfu != 0 && barrier != 0),
            ("both single precision units at once", fp == 3 && i.fp_ready_i == 3),
            ("one single precision unit takes, the other is busy", fp == 3 && i.fp_ready_i.count_ones() == 1),
            ("ALU and single precision unit at once", alu & i.alu_ready_i != 0 && fp & i.fp_ready_i != 0),
            ("memory pipeline takes", memory & o.dispatch_ready_o != 0),
            ("memory pipeline busy", memory != 0 && !ready),
            ("barrier unit takes", barrier & o.dispatch_ready_o != 0),
            ("a unit that is not there", i.dispatch_valid_i & !(alu | fp | memory | sfu | barrier) != 0),
            ("both want the memory pipeline, port 0 goes", memory == 3 && ready && !memory_1),
            ("both want the memory pipeline, port 1 goes", memory == 3 && ready && memory_1),
            ("both want the memory pipeline, which is busy", memory == 3 && !ready),
            ("port 1 alone wants the memory pipeline out of turn", memory == 2 && !memory_1),
            ("both want the barrier unit, port 0 goes", barrier == 3 && !barrier_1),
            ("both want the barrier unit, port 1 goes", barrier == 3 && barrier_1),
            ("port 1 alone wants the barrier unit out of turn", barrier == 2 && !barrier_1),
            ("memory pipeline and barrier unit at once", memory != 0 && barrier != 0),
            ("both ALUs at once", alu == 3 && i.alu_ready_i == 3),
            ("one ALU takes, the other is busy", alu == 3 && i.alu_ready_i.count_ones() == 1),
            ("reset in port 1's turn", i.rst_ni == 0 && (memory_1 || sfu_1 || barrier_1)),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}

//! `decode`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::front::{DecodeIn, DecodeOut};
use gpurf_blocks::instruction::{Roles, modifiers, opcode, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::front::{OPERATIONS, instruction};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct DecodeDriver;

const FREE: usize = 0;
const PLAIN: usize = 1;

impl Driver for DecodeDriver {
    type In = DecodeIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "free", doc: "the opcode may mean nothing", values: &[0, 100, 500] },
        Knob { name: "plain", doc: "the other bits are all ones or all zeros", values: &[0, 200] },
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut DecodeIn) {
        (inputs.op_i, inputs.ctl_i) = instruction(rng, knobs.get(FREE));
        if rng.chance(knobs.get(PLAIN)) {
            let fill = if rng.chance(500) { u64::MAX } else { 0 };
            (inputs.op_i, inputs.ctl_i) = (inputs.op_i & 0x7f | fill << 7, fill);
        }
    }
}

pub(crate) struct DecodeCover;

impl Cover for DecodeCover {
    type In = DecodeIn;
    type Out = DecodeOut;
    type Probe = NoProbe<SmShape>;

    fn points(_: &SmShape) -> Vec<&'static str> {
        let mut points: Vec<_> = OPERATIONS.iter().map(|(_, name)| *name).collect();
        points.extend([
            "opcode that means nothing",
            "b is a register",
            "b is a constant",
            "b is a register: single precision",
            "b is a constant: single precision",
            "bit of the constant where b is always a register",
            "bit of the constant without a b",
            "LD or ST with an upper word",
            "LD or ST without an upper word",
            "ATOM with an upper word",
            "ATOM without an upper word",
            "ATOM in the space that it does not have",
            "register and predicate written",
            "nothing written or read but the guard",
            "predicate 7 inverted",
        ]);
        points
    }

    fn new(_: &SmShape) -> Self {
        Self
    }

    fn observe(&mut self, i: &DecodeIn, o: &DecodeOut, _: &NoProbe<SmShape>, hit: &mut dyn FnMut(&'static str)) {
        let (opcode, roles, space) = (opcode(i.op_i), Roles(o.roles_o), modifiers(i.op_i, i.ctl_i) & 3);
        let known = OPERATIONS.iter().find(|row| row.0 == opcode);
        if let Some(&(_, name)) = known {
            hit(name);
        }
        let marked = i.op_i >> 7 & 1 == 1;
        let none = [roles.a(), roles.b(), roles.c(), roles.d()] == [255; 4] && roles.b_constant() == 0;
        let no_predicates = roles.p() == 7 && roles.s() == 7 && roles.t() == 7;
        let (access, atomic) = (matches!(opcode, 0x40 | 0x41), opcode == 0x43);
        let points = [
            ("opcode that means nothing", known.is_none()),
            ("b is a register", roles.unit() == unit::ALU && roles.b() != 255),
            ("b is a constant", roles.unit() == unit::ALU && roles.b_constant() == 1),
            ("b is a register: single precision", roles.unit() == unit::FP && roles.b() != 255),
            ("b is a constant: single precision", roles.unit() == unit::FP && roles.b_constant() == 1),
            ("bit of the constant where b is always a register", marked && opcode == 0x44),
            ("bit of the constant without a b", marked && matches!(opcode, 0x2b..=0x2d | 0x35..=0x38 | 0x42 | 0x12)),
            ("LD or ST with an upper word", access && matches!(space, 0 | 3)),
            ("LD or ST without an upper word", access && matches!(space, 1 | 2)),
            ("ATOM with an upper word", atomic && matches!(space, 0 | 3)),
            ("ATOM without an upper word", atomic && space == 1),
            ("ATOM in the space that it does not have", atomic && space == 2),
            ("register and predicate written", roles.d() != 255 && roles.p() != 7),
            ("nothing written or read but the guard", none && no_predicates),
            ("predicate 7 inverted", roles.guard() == 15 || roles.s() == 15 || roles.t() == 15),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}

//! Witnesses of comparisons, against a real Verilator: they begin after the first clock edge.

#[macro_use]
mod common;

use std::path::Path;

use gpurf_blocks::{NoProbe, erase, field, ports, view_mut};
use verilated::{Compared, Instance, Library, Options, Request, Toolchain};

#[derive(Clone, Debug)]
struct Shape;

impl gpurf_blocks::Shape for Shape {
    fn of(_: &gpurf_blocks::config::Config) -> Self {
        Self
    }

    fn parameter(&self, name: &str) -> u64 {
        unreachable!("no parameter {name}")
    }
}

ports! {
    struct In(s: &Shape) {
        /// What the register holds next.
        value_i: u8 = field(4),
        /// What it is compared with.
        name_i: u8 = field(4),
    }
}

ports! {
    struct Out(s: &Shape) {
        /// Whether they are equal.
        equal_o: u8 = field(1),
    }
}

declared!(Witness = "witness", parameters [], Shape: In => Out, NoProbe<Shape>);

/// A record, aligned as records are.
#[repr(align(64))]
struct Record([u8; 256]);

fn build() -> Library {
    // That of the checkout: Verilator's headers and its runtime are compiled once for all tests.
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/verilated");
    let tools = Toolchain::find(&cache).expect("Verilator and a C++ compiler");
    let request = Request {
        declaration: erase::<Witness>(&Shape).declaration().clone(),
        memories: Vec::new(),
        sources: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/witness.sv")],
        include_dirs: Vec::new(),
        defines: Vec::new(),
        options: Options { comparisons: 1, optimise: false, ..Options::default() },
        replaced: Vec::new(),
    };
    tools.build(&request).expect("a model")
}

#[test]
fn witnesses_begin_behind_the_first_clock_edge() {
    let library = build();
    let settle = |instance: &mut Instance, name: u8| {
        let mut record = Record([0; 256]);
        view_mut::<In>(&mut record.0).name_i = name;
        instance.settle(&mut record.0).expect("it settles");
    };
    // At power-up the register holds any of 16 values, among them those that differ from the name in one bit.
    let mut powered: Vec<_> = (0..64).map(|seed| library.instance(seed).expect("a model")).collect();
    for instance in &mut powered {
        settle(instance, 0);
    }
    assert_eq!(library.compared(), [Compared { bits: 0, alone: 0 }]);
    // What follows from an edge is evaluated with it: the second one makes the comparison after the first.
    for instance in &mut powered {
        for _ in 0..2 {
            instance.edge().expect("an edge");
            settle(instance, 0);
        }
    }
    assert_eq!(library.compared(), [Compared { bits: 4, alone: 0 }]);
    settle(&mut powered[0], 0b0100);
    assert_eq!(library.compared(), [Compared { bits: 4, alone: 0b0100 }]);
}

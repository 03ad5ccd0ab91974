//! The wiring of a small design, as Verilator elaborates it.

#[macro_use]
mod common;

use std::collections::BTreeSet;
use std::path::Path;

use gpurf_blocks::{NoProbe, erase, field, ports};
use verilated::{Net, Options, Part, Request, Toolchain, Wiring};

#[derive(Clone, Debug)]
struct Shape;

impl gpurf_blocks::Shape for Shape {
    fn of(_: &gpurf_blocks::config::Config) -> Self {
        Self
    }

    fn parameter(&self, _: &str) -> u64 {
        0
    }
}

ports! {
    struct In(s: &Shape) {
        /// Data.
        a_i: u8 = field(4),
    }
}

ports! {
    struct Out(s: &Shape) {
        /// Data.
        comb_o: u8 = field(4),
    }
}

declared!(Top = "wiring", parameters [], Shape: In => Out, NoProbe<Shape>);

fn read(source: &str, knob: u16) -> verilated::Result<Wiring> {
    let request = Request {
        declaration: erase::<Top>(&Shape).declaration().clone(),
        memories: Vec::new(),
        sources: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source)],
        include_dirs: vec![],
        defines: vec![],
        options: Options { knobs: vec!["mutant_sel".to_owned()], ..Options::default() },
        replaced: Vec::new(),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/verilated");
    Toolchain::find(&folder).expect("Verilator and a C++ compiler").wiring(&request, knob)
}

fn net(wiring: &Wiring, path: &str, element: Option<u32>, bit: Option<u32>) -> Net {
    let part = Part { elements: element.map(|e| (e, 1)), bits: bit.map(|b| (b, 1)) };
    Net { variable: wiring.variable(path).unwrap_or_else(|| panic!("no {path}")), part }
}

/// Of these nets, each a path and a bit, those that a net follows from.
fn sources(wiring: &Wiring, of: Net, nets: &[(&'static str, u32)]) -> BTreeSet<(&'static str, u32)> {
    let mut found = BTreeSet::new();
    wiring.visit_sources(of, &mut |source| {
        let is_it = |(path, bit): &(&str, u32)| {
            let net = net(wiring, path, None, Some(*bit));
            net.variable == source.variable && net.part.overlaps(&source.part)
        };
        found.extend(nets.iter().copied().filter(is_it));
        true
    });
    found
}

const INPUTS: &[(&str, u32)] = &[("a_i", 0), ("a_i", 1), ("a_i", 2), ("a_i", 3), ("b_i", 0)];
const STATES: &[(&str, u32)] = &[("gen_leaf[0].u_leaf.state_o", 0), ("gen_leaf[1].u_leaf.state_o", 0)];

#[test]
fn a_net_follows_from_what_it_reads_within_the_cycle() {
    let wiring = read("wiring.sv", 0).unwrap();
    let of = |path: &str, element, bit, nets| sources(&wiring, net(&wiring, path, element, bit), nets);
    // A function reads its argument, and a net besides: the other leaf's register.
    assert_eq!(of("comb_o", None, Some(3), INPUTS), BTreeSet::from([("b_i", 0)]));
    assert_eq!(of("comb_o", None, Some(3), STATES), BTreeSet::from([STATES[0]]));
    assert_eq!(of("comb_o", None, Some(0), STATES), BTreeSet::from([STATES[1]]));
    // A loop that is left early follows from all conditions.
    assert_eq!(of("picked", Some(1), Some(1), INPUTS), BTreeSet::from([("a_i", 2), ("a_i", 3)]));
    assert_eq!(of("picked", Some(1), Some(0), INPUTS), BTreeSet::new());
    // An edge cuts.
    assert_eq!(of("state_o", None, Some(0), INPUTS), BTreeSet::new());
    assert_eq!(of("state_o", None, Some(0), STATES), BTreeSet::from([STATES[0]]));
    assert!(wiring.is_register(wiring.variable("gen_leaf[1].u_leaf.table_q").unwrap()));
    assert!(!wiring.is_register(wiring.variable("gen_leaf[1].u_leaf.hidden").unwrap()));
}

#[test]
fn a_knob_chooses_what_a_net_follows_from() {
    for (knob, expected) in [(0, BTreeSet::new()), (1, BTreeSet::from([("b_i", 0)]))] {
        let wiring = read("wiring.sv", knob).unwrap();
        assert_eq!(sources(&wiring, net(&wiring, "early", None, Some(1)), INPUTS), expected, "{knob}");
    }
}

#[test]
fn the_driver_is_the_instance_behind_copies_or_the_one_with_the_logic() {
    let wiring = read("wiring.sv", 0).unwrap();
    let is_leaf = |module: &str| module == "wiring_leaf";
    let driver = |path: &str, element, bit| {
        let instance = &wiring.instances()[wiring.driver(net(&wiring, path, element, bit), &is_leaf, &|_| false)];
        (instance.module.clone(), instance.place)
    };
    let leaf = |place| ("wiring_leaf".to_owned(), Some(place));
    assert_eq!(driver("comb_o", None, Some(1)), leaf(0));
    assert_eq!(driver("comb_o", None, Some(2)), leaf(1));
    assert_eq!(driver("state_o", None, Some(1)), leaf(1));
    assert_eq!(driver("picked", Some(1), Some(0)), leaf(1));
    assert_eq!(driver("logic_o", None, None), ("wiring".to_owned(), None));
    assert_eq!(driver("gen_leaf[1].u_leaf.hidden", None, None), leaf(1));
    assert_eq!(wiring.holder("gen_leaf[1].u_leaf.nothing", &is_leaf), 2);
    // After a variable that ends the search the copy itself is at fault.
    let state = wiring.variable("state").unwrap();
    assert_eq!(wiring.driver(net(&wiring, "state_o", None, Some(1)), &is_leaf, &|variable| variable == state), 0);
}

#[test]
fn a_design_that_cannot_be_elaborated_has_no_wiring() {
    let error = read("toy.sv", 0).err().expect("another module");
    assert!(error.to_string().contains("wiring"), "{error}");
}

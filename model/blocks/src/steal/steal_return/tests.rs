use super::*;
use crate::Ports;
use crate::steal::shapes;
use crate::testing::{Driver, compare};

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };

impl Driver<StealReturn> {
    /// One cycle in which the value in a bank is read, with results in these queues.
    fn fetch(&mut self, bank: u8, heads: u8) -> StealReturnOut {
        (self.inputs.fetch_valid_i, self.inputs.fetch_bank_i, self.inputs.head_valid_i) = (1, bank, heads);
        let out = self.cycle();
        self.inputs.fetch_valid_i = 0;
        out
    }

    fn with(&mut self, heads: u8) -> StealReturnOut {
        self.inputs.head_valid_i = heads;
        self.cycle()
    }
}

#[test]
fn a_value_lands_one_cycle_after_it_has_been_read() {
    let mut back = Driver::<StealReturn>::new(&TWO_PORTS);
    (back.inputs.parked_bank_i[3], back.inputs.parked_entry_i[3]) = (5, 6);
    assert_eq!(back.fetch(3, 0).land_valid_o, 0);
    (back.inputs.parked_bank_i[3], back.inputs.parked_entry_i[3]) = (7, 8);
    let out = back.with(0);
    assert_eq!((out.land_valid_o, out.land_source_o, out.land_bank_o, out.land_entry_o), (1, 3, 5, 6));
    assert_eq!((out.land_port_o, out.turn_o), (0, 4));
    let out = back.with(0);
    assert_eq!((out.land_valid_o, out.turn_o), (0, 4));
    // After the last bank comes the first.
    back.fetch(15, 0);
    assert_eq!(back.with(0).turn_o, 0);
}

#[test]
fn it_takes_a_bus_without_a_result_or_else_without_a_landing_value() {
    let mut back = Driver::<StealReturn>::new(&TWO_PORTS);
    for (heads, free, port) in [(0b00, 1, 0), (0b01, 1, 1), (0b10, 1, 0), (0b11, 0, 0)] {
        let out = back.with(heads);
        assert_eq!((out.bus_free_o, out.bus_any_o, back.probe().bus_port), (free, 1, port), "{heads:b}");
    }
    // Bus 0 has a landing value.
    back.fetch(3, 0b11);
    let out = back.fetch(3, 0b11);
    assert_eq!((out.land_port_o, out.bus_free_o, out.bus_any_o, back.probe().bus_port), (0, 0, 1, 1));
    // Now bus 1 has a landing value.
    let out = back.with(0b11);
    assert_eq!((out.land_port_o, out.bus_any_o, back.probe().bus_port), (1, 1, 0));
    // A queue that is empty counts, whatever lands.
    back.fetch(3, 0b01);
    let out = back.with(0b01);
    assert_eq!((out.land_port_o, out.bus_free_o, back.probe().bus_port), (1, 1, 1));

    let mut back = Driver::<StealReturn>::new(&MrfShape::BASELINE);
    assert_eq!(back.fetch(3, 1).bus_any_o, 1);
    let out = back.with(1);
    assert_eq!((out.land_valid_o, out.bus_free_o, out.bus_any_o), (1, 0, 0));
    back.fetch(3, 1);
    assert_eq!(back.with(0).bus_any_o, 1);
}

#[test]
fn a_value_is_fresh_for_one_cycle() {
    let mut back = Driver::<StealReturn>::new(&TWO_PORTS);
    (back.inputs.park_valid_i, back.inputs.park_bank_i) = (0b11, [3, 9]);
    back.cycle();
    (back.inputs.park_valid_i, back.inputs.park_bank_i) = (0b10, [4, 5]);
    assert_eq!(back.cycle().fresh_o, 1 << 3 | 1 << 9);
    back.inputs.park_valid_i = 0;
    assert_eq!(back.cycle().fresh_o, 1 << 5);
    assert_eq!(back.cycle().fresh_o, 0);
}

#[test]
fn reset_forgets_what_is_on_its_way() {
    let mut back = Driver::<StealReturn>::new(&TWO_PORTS);
    back.fetch(3, 0);
    (back.inputs.park_valid_i, back.inputs.rst_ni) = (0b01, 0);
    back.fetch(3, 0);
    (back.inputs.park_valid_i, back.inputs.rst_ni) = (0, 1);
    let out = back.cycle();
    assert_eq!((out.land_valid_o, out.turn_o, out.fresh_o), (0, 0, 0));
}

/// A reference model, written from the page sentence by sentence.
#[derive(Default)]
struct Reference {
    landing: Option<(u8, u8, u16, u8)>,
    turn: usize,
    fresh: u32,
}

impl Reference {
    fn cycle(&mut self, shape: &MrfShape, inputs: &StealReturnIn) -> (StealReturnOut, StealReturnProbe) {
        let mut out = StealReturnOut::zeroed();
        let empty = |&p: &usize| inputs.head_valid_i >> p & 1 == 0;
        let lands = |p: usize| self.landing.is_some_and(|(_, _, _, port)| usize::from(port) == p);
        let free = (0..shape.issue_ports).find(empty);
        let any = free.or((0..shape.issue_ports).find(|&p| !lands(p)));
        let port = any.unwrap_or(0) as u8;
        (out.bus_free_o, out.bus_any_o) = (free.is_some().into(), any.is_some().into());
        (out.turn_o, out.fresh_o) = (self.turn as u8, self.fresh);
        if let Some(landing) = self.landing {
            out.land_valid_o = 1;
            (out.land_source_o, out.land_bank_o, out.land_entry_o, out.land_port_o) = landing;
        }
        self.landing = None;
        self.fresh = 0;
        if inputs.fetch_valid_i == 1 {
            let source = usize::from(inputs.fetch_bank_i);
            self.landing = Some((source as u8, inputs.parked_bank_i[source], inputs.parked_entry_i[source], port));
            self.turn = (source + 1) % shape.banks;
        }
        for p in (0..shape.issue_ports).filter(|&p| inputs.park_valid_i >> p & 1 == 1) {
            self.fresh |= 1 << inputs.park_bank_i[p];
        }
        if inputs.rst_ni == 0 {
            *self = Self::default();
        }
        (out, StealReturnProbe { bus_port: port })
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        let mut reference = Reference::default();
        compare::<StealReturn>(
            &shape,
            10_000,
            |random, inputs| inputs.rst_ni = (!random.chance(2)).into(),
            |inputs| reference.cycle(&shape, inputs),
        );
    }
}

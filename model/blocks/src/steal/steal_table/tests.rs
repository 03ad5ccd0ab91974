use super::*;
use crate::Ports;
use crate::steal::shapes;
use crate::testing::{Driver, compare};

/// Two ports, banks of 64 entries.
fn table() -> Driver<StealTable> {
    Driver::<StealTable>::new(&MrfShape { issue_ports: 2, ..MrfShape::BASELINE })
}

impl Driver<StealTable> {
    /// Runs one cycle, then clears all events.
    fn step(&mut self) -> StealTableOut {
        let out = self.cycle();
        self.inputs = StealTableIn { rst_ni: 1, ..StealTableIn::zeroed() };
        out
    }

    fn hint(&mut self, p: usize, bank: u8, entry: u16) {
        self.inputs.hint_valid_i |= 1 << p;
        (self.inputs.hint_bank_i[p], self.inputs.hint_entry_i[p]) = (bank, entry);
    }

    fn head(&mut self, p: usize, bank: u8, entry: u16) {
        self.inputs.write_valid_i |= 1 << p;
        (self.inputs.write_bank_i[p], self.inputs.write_entry_i[p]) = (bank, entry);
    }

    /// The head of queue `p` is parked in a bank.
    fn park(&mut self, p: usize, place: u8, bank: u8, entry: u16) {
        self.head(p, bank, entry);
        self.inputs.park_valid_i |= 1 << p;
        self.inputs.park_bank_i[p] = place;
    }

    /// The value in a bank is read.
    fn fetch(&mut self, bank: u8) {
        (self.inputs.fetch_valid_i, self.inputs.fetch_bank_i) = (1, bank);
    }

    /// A table in which bank 3 has a value of bank 5, entry 6.
    fn parked() -> Self {
        let mut table = table();
        table.hint(0, 3, 7);
        table.step();
        table.park(1, 3, 5, 6);
        table.step();
        table
    }
}

#[test]
fn a_hint_frees_an_entry_and_a_result_for_it_makes_it_alive() {
    let mut table = table();
    table.hint(0, 3, 7);
    table.hint(1, 4, 8);
    assert_eq!(table.step().hint_taken_o, 0b11);
    let out = table.step();
    assert_eq!((out.free_valid_o, out.free_entry_o[3], out.free_entry_o[4]), (1 << 3 | 1 << 4, 7, 8));
    table.inputs.alive_i = 1 << 3;
    table.step();
    assert_eq!(table.step().free_valid_o, 1 << 4);
    // The newer hint stays; at the same clock edge, a result that makes the old entry alive has no effect.
    table.hint(0, 4, 9);
    table.inputs.alive_i = 1 << 4;
    table.step();
    let out = table.step();
    assert_eq!((out.free_valid_o, out.free_entry_o[4]), (1 << 4, 9));
}

#[test]
fn of_two_hints_for_a_bank_that_of_the_higher_port_stays() {
    let mut table = table();
    table.hint(0, 3, 7);
    table.hint(1, 3, 8);
    assert_eq!(table.step().hint_taken_o, 0b11);
    assert_eq!(table.step().free_entry_o[3], 8);
}

#[test]
fn a_value_is_parked_until_it_is_fetched() {
    let mut table = Driver::parked();
    let out = table.step();
    assert_eq!((out.parked_o, out.parked_bank_o[3], out.parked_entry_o[3]), (1 << 3, 5, 6));
    assert_eq!((out.free_valid_o, out.free_entry_o[3]), (1 << 3, 7));
    // A result for the entry has to wait until then.
    table.inputs.alive_i = 1 << 3;
    table.step();
    table.inputs.alive_i = 1 << 3;
    table.fetch(3);
    assert_eq!(table.step().free_valid_o, 1 << 3);
    let out = table.step();
    assert_eq!((out.parked_o, out.free_valid_o), (0, 1 << 3));
}

#[test]
fn a_hint_does_not_rename_the_place_of_a_value() {
    let mut table = Driver::parked();
    table.hint(0, 3, 9);
    assert_eq!(table.step().hint_taken_o, 0);
    // Not when the value is read, either.
    table.hint(1, 3, 9);
    table.fetch(3);
    assert_eq!(table.step().hint_taken_o, 0);
    // Nor when it is parked.
    table.hint(0, 3, 9);
    table.hint(1, 4, 9);
    table.park(1, 3, 5, 6);
    assert_eq!(table.step().hint_taken_o, 0b10);
    let out = table.step();
    assert_eq!((out.parked_o, out.free_entry_o[3], out.free_entry_o[4]), (1 << 3, 7, 9));
}

#[test]
fn a_hint_for_a_register_whose_value_is_on_its_way_is_not_taken() {
    let mut table = Driver::parked();
    // Refused: the register is parked. The bank alone or the entry alone is another register.
    table.hint(0, 5, 6);
    table.hint(1, 5, 7);
    assert_eq!(table.step().hint_taken_o, 0b10);
    table.hint(0, 6, 6);
    assert_eq!(table.step().hint_taken_o, 0b01);
    // Refused: a result for the register is in a queue.
    table.hint(0, 8, 1);
    table.hint(1, 8, 2);
    table.head(1, 8, 1);
    assert_eq!(table.step().hint_taken_o, 0b10);
}

#[test]
fn what_is_dropped_is_gone_and_its_place_is_free() {
    let mut table = Driver::parked();
    (table.inputs.drop_valid_i, table.inputs.drop_bank_i) = (0b10, [0, 3]);
    let out = table.step();
    assert_eq!((out.parked_o, out.free_valid_o, out.free_entry_o[3]), (1 << 3, 1 << 3, 7));
    let out = table.step();
    assert_eq!((out.parked_o, out.free_valid_o, out.free_entry_o[3]), (0, 1 << 3, 7));
}

#[test]
fn a_new_grid_drops_what_is_parked_and_begins_with_the_last_row_or_with_nothing() {
    let mut table = Driver::parked();
    (table.inputs.clear_i, table.inputs.spare_i) = (1, 1);
    table.hint(0, 4, 9);
    table.park(1, 6, 5, 6);
    assert_eq!(table.step().hint_taken_o, 0);
    let out = table.step();
    assert_eq!((out.parked_o, out.free_valid_o), (0, 0xffff));
    assert_eq!(out.free_entry_o[..16], [63; 16]);
    (table.inputs.clear_i, table.inputs.spare_i) = (1, 0);
    table.step();
    assert_eq!(table.step().free_valid_o, 0);
}

#[test]
fn reset_forgets_everything() {
    let mut table = Driver::parked();
    table.hint(0, 4, 9);
    table.inputs.rst_ni = 0;
    table.step();
    let out = table.step();
    assert_eq!((out.parked_o, out.free_valid_o), (0, 0));
}

/// A reference model, written from the page sentence by sentence.
struct Reference {
    shape: MrfShape,
    free: [bool; MAX_BANKS],
    parked: [bool; MAX_BANKS],
    free_entry: [u16; MAX_BANKS],
    home: [(u8, u16); MAX_BANKS],
}

impl Reference {
    fn cycle(&mut self, inputs: &StealTableIn) -> StealTableOut {
        let MrfShape { banks, issue_ports, depth, .. } = self.shape;
        let mut out = StealTableOut::zeroed();
        for b in 0..banks {
            out.free_valid_o |= u32::from(self.free[b]) << b;
            out.parked_o |= u32::from(self.parked[b]) << b;
            out.free_entry_o[b] = self.free_entry[b];
            (out.parked_bank_o[b], out.parked_entry_o[b]) = self.home[b];
        }
        let bit = |mask: u8, p: usize| mask >> p & 1 == 1;
        let parks = |b: usize| {
            (0..issue_ports).find(|&p| bit(inputs.park_valid_i, p) && usize::from(inputs.park_bank_i[p]) == b)
        };
        let drops =
            |b: usize| (0..issue_ports).any(|p| bit(inputs.drop_valid_i, p) && usize::from(inputs.drop_bank_i[p]) == b);
        let hint = |p: usize| (inputs.hint_bank_i[p], inputs.hint_entry_i[p]);
        let head = |p: usize| (inputs.write_bank_i[p], inputs.write_entry_i[p]);
        let taken: [bool; MAX_PORTS] = std::array::from_fn(|p| {
            let bank = usize::from(hint(p).0);
            bit(inputs.hint_valid_i, p)
                && inputs.clear_i == 0
                && !self.parked[bank]
                && parks(bank).is_none()
                && !(0..banks).any(|b| self.parked[b] && self.home[b] == hint(p))
                && !(0..issue_ports).any(|q| bit(inputs.write_valid_i, q) && head(q) == hint(p))
        });
        out.hint_taken_o = u8::from(taken[0]) | u8::from(taken[1]) << 1;
        for b in 0..banks {
            if inputs.clear_i == 1 {
                (self.free[b], self.free_entry[b], self.parked[b]) = (inputs.spare_i == 1, depth as u16 - 1, false);
                continue;
            }
            if let Some(p) = (0..issue_ports).rev().find(|&p| taken[p] && usize::from(hint(p).0) == b) {
                (self.free[b], self.free_entry[b]) = (true, hint(p).1);
            } else if inputs.alive_i >> b & 1 == 1 && !self.parked[b] {
                self.free[b] = false;
            }
            if let Some(p) = parks(b) {
                (self.parked[b], self.home[b]) = (true, head(p));
            } else if inputs.fetch_valid_i == 1 && usize::from(inputs.fetch_bank_i) == b || drops(b) {
                self.parked[b] = false;
            }
        }
        if inputs.rst_ni == 0 {
            (self.free, self.parked) = ([false; MAX_BANKS], [false; MAX_BANKS]);
        }
        out
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        let (free, parked) = ([false; MAX_BANKS], [false; MAX_BANKS]);
        let mut reference = Reference { shape, free, parked, free_entry: [0; MAX_BANKS], home: [(0, 0); MAX_BANKS] };
        compare::<StealTable>(
            &shape,
            20_000,
            |random, inputs| {
                inputs.rst_ni = (!random.chance(1)).into();
                inputs.clear_i = random.chance(1).into();
                inputs.alive_i &= (random.next() & random.next() & random.next()) as u32;
                inputs.park_valid_i &= random.next() as u8;
                // Few entries, so that conflicts are frequent. Two results do not take one place.
                for entries in [&mut inputs.hint_entry_i, &mut inputs.write_entry_i] {
                    entries.iter_mut().for_each(|entry| *entry &= 3);
                }
                if inputs.park_valid_i == 0b11 && inputs.park_bank_i[0] == inputs.park_bank_i[1] {
                    inputs.park_valid_i = 0b01;
                }
            },
            |inputs| (reference.cycle(inputs), Ports::zeroed()),
        );
    }
}

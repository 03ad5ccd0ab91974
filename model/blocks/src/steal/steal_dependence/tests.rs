use super::*;
use crate::steal::shapes;
use crate::testing::{Driver, compare};
use crate::{OPERANDS, Ports};

/// Two ports; a forced fetch finds a bus. Bank 3 has a value of bank 5, entry 6, in its entry 7; bank 9 one of bank 5, entry 8, in its entry 1.
fn parked() -> Driver<StealDependence> {
    let mut driver = Driver::<StealDependence>::new(&MrfShape { issue_ports: 2, ..MrfShape::BASELINE });
    let inputs = &mut driver.inputs;
    inputs.bus_any_i = 1;
    for (place, free_entry, bank, entry) in [(3, 7, 5, 6), (9, 1, 5, 8)] {
        inputs.free_valid_i |= 1 << place;
        inputs.parked_i |= 1 << place;
        inputs.free_entry_i[place] = free_entry;
        (inputs.parked_bank_i[place], inputs.parked_entry_i[place]) = (bank, entry);
    }
    driver
}

impl Driver<StealDependence> {
    fn request(&mut self, slot: usize, bank: u8, entry: u16) {
        self.inputs.req_valid_i |= 1 << slot;
        (self.inputs.req_bank_i[slot], self.inputs.req_entry_i[slot]) = (bank, entry);
    }

    fn head(&mut self, p: usize, bank: u8, entry: u16) {
        self.inputs.write_valid_i |= 1 << p;
        (self.inputs.write_bank_i[p], self.inputs.write_entry_i[p]) = (bank, entry);
    }

    fn want(&mut self, source: usize, bank: u8, entry: u16) {
        self.inputs.want_valid_i |= 1 << source;
        (self.inputs.want_bank_i[source], self.inputs.want_entry_i[source]) = (bank, entry);
    }

    /// The forced fetch: the bank, and the causes read, write, alive.
    fn forced(&mut self) -> Option<(u8, [u8; 3])> {
        let out = self.cycle();
        let causes = [out.force_read_o, out.force_write_o, out.force_alive_o];
        if out.force_valid_o == 0 {
            assert_eq!(causes, [0; 3]);
        }
        (out.force_valid_o != 0).then_some((out.force_bank_o, causes))
    }
}

#[test]
fn a_read_of_a_parked_register_waits_and_forces_it_back() {
    let mut file = parked();
    file.request(4, 5, 6);
    // The bank alone or the entry alone is another register.
    file.request(5, 5, 7);
    file.request(6, 4, 6);
    let out = file.cycle();
    assert_eq!((out.req_parked_o, out.force_valid_o, out.force_bank_o), (1 << 4, 1, 3));
    assert_eq!(file.forced(), Some((3, [1, 0, 0])));
    // A value that is no longer parked belongs to no register.
    file.inputs.parked_i = 1 << 9;
    assert_eq!((file.cycle().req_parked_o, file.forced()), (0, None));
}

#[test]
fn a_result_for_a_parked_register_waits_and_forces_it_back() {
    let mut file = parked();
    file.head(1, 5, 8);
    let out = file.cycle();
    assert_eq!((out.write_parked_o, out.alive_o), (0b10, 0));
    assert_eq!(file.forced(), Some((9, [0, 1, 0])));
}

#[test]
fn a_result_for_a_free_entry_makes_it_alive_and_waits_while_it_is_taken() {
    let mut file = parked();
    file.head(0, 3, 7);
    let out = file.cycle();
    assert_eq!((out.write_parked_o, out.alive_o), (0b01, 1 << 3));
    assert_eq!(file.forced(), Some((3, [0, 0, 1])));
    file.inputs.parked_i = 0;
    let out = file.cycle();
    assert_eq!((out.write_parked_o, out.alive_o), (0, 1 << 3));
    assert_eq!(file.forced(), None);
    // Another entry of the bank; an entry that is not free.
    file.head(0, 3, 8);
    assert_eq!(file.cycle().alive_o, 0);
    file.head(0, 3, 7);
    file.inputs.free_valid_i = 0;
    assert_eq!(file.cycle().alive_o, 0);
}

#[test]
fn a_candidate_is_told_and_forces_nothing() {
    let mut file = parked();
    file.want(4, 5, 6);
    file.want(2, 5, 9);
    assert_eq!((file.cycle().want_parked_o, file.forced()), (1 << 4, None));
}

#[test]
fn the_cause_is_a_read_before_a_write_before_the_place() {
    let mut file = parked();
    file.head(0, 3, 7);
    file.head(1, 5, 6);
    assert_eq!(file.forced(), Some((3, [0, 1, 0])));
    file.request(0, 5, 6);
    assert_eq!(file.forced(), Some((3, [1, 0, 0])));
}

#[test]
fn the_first_needed_value_from_the_turn_on_is_forced_if_there_is_a_bus() {
    let mut file = parked();
    file.request(0, 5, 6);
    file.request(1, 5, 8);
    for (turn, bank) in [(0, 3), (3, 3), (4, 9), (9, 9), (10, 3)] {
        file.inputs.turn_i = turn;
        assert_eq!(file.forced(), Some((bank, [1, 0, 0])));
    }
    // A landing value uses the bank: the other parked value is not fetched instead.
    (file.inputs.land_valid_i, file.inputs.land_bank_i) = (1, 3);
    assert_eq!(file.forced(), None);
    file.inputs.land_bank_i = 9;
    assert_eq!(file.forced(), Some((3, [1, 0, 0])));
    file.inputs.land_valid_i = 0;
    assert_eq!(file.forced(), Some((3, [1, 0, 0])));
    file.inputs.bus_any_i = 0;
    assert_eq!((file.forced(), file.cycle().req_parked_o), (None, 0b11));
}

#[test]
fn a_redirected_read_is_told_where_its_value_is() {
    let mut file = parked();
    file.inputs.redirect_i = 1;
    file.request(4, 5, 8);
    file.request(5, 5, 7);
    let out = file.cycle();
    assert_eq!((out.req_parked_o, out.force_valid_o), (0, 0));
    assert_eq!((out.at_bank_o[4], out.at_entry_o[4]), (9, 1));
    assert_eq!((out.at_bank_o[5], out.at_entry_o[5]), (5, 7));
    // A result forces the value back all the same.
    file.head(0, 5, 8);
    assert_eq!(file.forced(), Some((9, [0, 1, 0])));
    file.inputs.redirect_i = 0;
    let out = file.cycle();
    assert_eq!((out.at_bank_o[4], out.at_entry_o[4], out.force_read_o), (5, 8, 1));
}

#[test]
fn a_whole_result_drops_what_it_overwrites_unless_that_is_forced_back() {
    let mut file = parked();
    file.inputs.drop_i = 1;
    file.head(0, 5, 6);
    file.head(1, 5, 8);
    file.inputs.write_full_i = 0b10;
    let out = file.cycle();
    assert_eq!((out.drop_valid_o, out.drop_bank_o[1], out.write_parked_o), (0b10, 9, 0b01));
    assert_eq!(file.forced(), Some((3, [0, 1, 0])));
    // A read forces the value back: the result waits in this cycle.
    file.request(2, 5, 8);
    file.inputs.turn_i = 9;
    let out = file.cycle();
    assert_eq!((out.force_valid_o, out.force_bank_o, out.force_read_o, out.write_parked_o), (1, 9, 1, 0b11));
    file.inputs.bus_any_i = 0;
    assert_eq!(file.cycle().write_parked_o, 0b01);
    // Without the strap both wait.
    file.inputs.drop_i = 0;
    let out = file.cycle();
    assert_eq!((out.drop_valid_o, out.write_parked_o), (0, 0b11));
}

/// A reference model, written from the page sentence by sentence.
fn reference(shape: &MrfShape, i: &StealDependenceIn) -> StealDependenceOut {
    let MrfShape { banks, collectors, issue_ports, .. } = *shape;
    let mut out = StealDependenceOut::zeroed();
    let bit = |mask: u64, i: usize| mask >> i & 1 == 1;
    let parked = |b: usize| bit(i.parked_i.into(), b);
    let home = |b: usize| (i.parked_bank_i[b], i.parked_entry_i[b]);
    let place = |register: (u8, u16)| (0..banks).rev().find(|&b| parked(b) && home(b) == register);
    let somewhere = |register: (u8, u16)| place(register).is_some();
    let read = |s: usize| (i.req_bank_i[s], i.req_entry_i[s]);
    let head = |p: usize| (i.write_bank_i[p], i.write_entry_i[p]);
    let reads: Vec<usize> = (0..OPERANDS * collectors).filter(|&s| bit(i.req_valid_i, s)).collect();
    let heads: Vec<usize> = (0..issue_ports).filter(|&p| bit(i.write_valid_i.into(), p)).collect();
    let alive =
        |b: usize| bit(i.free_valid_i.into(), b) && heads.iter().any(|&p| head(p) == (b as u8, i.free_entry_i[b]));
    for b in 0..banks {
        out.alive_o |= u32::from(alive(b)) << b;
    }
    for &s in &reads {
        out.req_parked_o |= u64::from(somewhere(read(s)) && i.redirect_i == 0) << s;
        (out.at_bank_o[s], out.at_entry_o[s]) = match place(read(s)) {
            Some(b) if i.redirect_i == 1 => (b as u8, i.free_entry_i[b]),
            _ => read(s),
        };
    }
    let drops = |p: usize| {
        let may = i.drop_i == 1 && bit(i.write_full_i.into(), p);
        place(head(p)).filter(|_| may)
    };
    for &p in &heads {
        if let Some(b) = drops(p) {
            out.drop_valid_o |= 1 << p;
            out.drop_bank_o[p] = b as u8;
        }
        let (bank, entry) = head(p);
        let b = usize::from(bank);
        let taken = bit(i.free_valid_i.into(), b) && i.free_entry_i[b] == entry && parked(b);
        out.write_parked_o |= u8::from(somewhere((bank, entry)) && drops(p).is_none() || taken) << p;
    }
    for k in (0..OPERANDS * issue_ports).filter(|&k| bit(i.want_valid_i.into(), k)) {
        out.want_parked_o |= u8::from(somewhere((i.want_bank_i[k], i.want_entry_i[k]))) << k;
    }
    let by_read = |b: usize| i.redirect_i == 0 && reads.iter().any(|&s| read(s) == home(b));
    let by_write = |b: usize| heads.iter().any(|&p| head(p) == home(b) && drops(p).is_none());
    let needed = |&b: &usize| parked(b) && (by_read(b) || by_write(b) || alive(b));
    let lands = |&b: &usize| i.land_valid_i == 1 && usize::from(i.land_bank_i) == b;
    let first = (0..banks).map(|k| (usize::from(i.turn_i) + k) % banks).find(needed);
    let forced = first.filter(|b| !lands(b));
    if let (Some(b), 1) = (forced, i.bus_any_i) {
        (out.force_valid_o, out.force_bank_o) = (1, b as u8);
        let cause = if by_read(b) {
            &mut out.force_read_o
        } else if by_write(b) {
            &mut out.force_write_o
        } else {
            &mut out.force_alive_o
        };
        *cause = 1;
        for &p in heads.iter().filter(|&&p| drops(p) == Some(b)) {
            out.write_parked_o |= 1 << p;
        }
    }
    out
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        compare::<StealDependence>(
            &shape,
            5000,
            |random, inputs| {
                inputs.req_valid_i &= random.next() & random.next();
                inputs.parked_i &= random.next() as u32;
                // Few entries, so that conflicts are frequent.
                inputs.req_entry_i.iter_mut().for_each(|entry| *entry &= 3);
                inputs.write_entry_i.iter_mut().for_each(|entry| *entry &= 3);
                inputs.want_entry_i.iter_mut().for_each(|entry| *entry &= 3);
                inputs.free_entry_i.iter_mut().for_each(|entry| *entry &= 3);
                inputs.parked_entry_i.iter_mut().for_each(|entry| *entry &= 3);
            },
            |inputs| (reference(&shape, inputs), Ports::zeroed()),
        );
    }
}

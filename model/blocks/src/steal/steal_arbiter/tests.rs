mod reference;

use super::*;
use crate::mrf::{MrfArbiter, MrfArbiterIn, MrfArbiterOut};
use crate::steal::shapes;
use crate::testing::{Driver, compare, event};
use crate::{LANES, Ports};
use reference::Reference;

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };
/// Straps.
const READS: u8 = 0b0010;
const WRITES: u8 = 0b0100;
const EAGER: u8 = 0b1000;
const UNREAD: u8 = 0b1_0000;

/// An arbiter where collector 0 is the oldest, and the others follow in order; a bus is free, results have all lanes.
fn arbiter(straps: u8) -> Driver<StealArbiter> {
    let mut driver = Driver::<StealArbiter>::new(&TWO_PORTS);
    let inputs = &mut driver.inputs;
    inputs.older_i = std::array::from_fn(|c| (1 << c) - 1);
    inputs.req_groups_i = [3; MAX_COLLECTORS];
    (inputs.write_groups_i, inputs.write_full_i) = ([5; MAX_PORTS], 0b11);
    (inputs.cfg_i, inputs.bus_free_i) = (straps, 1);
    driver
}

impl Driver<StealArbiter> {
    /// Only these slots request a read of the given bank and entry.
    fn request(&mut self, requests: &[(usize, u8, u16)]) {
        self.inputs.req_valid_i = 0;
        for &(slot, bank, entry) in requests {
            self.inputs.req_valid_i |= 1 << slot;
            (self.inputs.req_bank_i[slot], self.inputs.req_entry_i[slot]) = (bank, entry);
            (self.inputs.at_bank_i[slot], self.inputs.at_entry_i[slot]) = (bank, entry);
        }
    }

    /// The read of a slot is performed at the place of a parked value.
    fn redirect(&mut self, slot: usize, bank: u8, entry: u16) {
        (self.inputs.at_bank_i[slot], self.inputs.at_entry_i[slot]) = (bank, entry);
    }

    /// The result of a queue overwrites what is parked in a bank.
    fn drops(&mut self, queue: usize, bank: u8) {
        self.inputs.drop_valid_i |= 1 << queue;
        self.inputs.drop_bank_i[queue] = bank;
    }

    /// Only these queues request a write of the given bank and entry.
    fn write(&mut self, writes: &[(usize, u8, u16)]) {
        self.inputs.write_valid_i = 0;
        for &(queue, bank, entry) in writes {
            self.inputs.write_valid_i |= 1 << queue;
            (self.inputs.write_bank_i[queue], self.inputs.write_entry_i[queue]) = (bank, entry);
        }
    }

    /// Only these operands of candidates are wanted: source, bank and entry.
    fn want(&mut self, wants: &[(usize, u8, u16)]) {
        self.inputs.want_valid_i = 0;
        for &(source, bank, entry) in wants {
            self.inputs.want_valid_i |= 1 << source;
            (self.inputs.want_bank_i[source], self.inputs.want_entry_i[source]) = (bank, entry);
        }
    }

    /// These banks have a free entry, and nothing in it.
    fn free(&mut self, places: &[(usize, u16)]) {
        (self.inputs.free_valid_i, self.inputs.parked_i) = (0, 0);
        for &(bank, entry) in places {
            self.inputs.free_valid_i |= 1 << bank;
            self.inputs.free_entry_i[bank] = entry;
        }
    }

    /// A value that belongs to `home` is in the free entry of a bank.
    fn park(&mut self, bank: usize, entry: u16, home: u8) {
        self.inputs.free_valid_i |= 1 << bank;
        self.inputs.parked_i |= 1 << bank;
        (self.inputs.free_entry_i[bank], self.inputs.parked_bank_i[bank]) = (entry, home);
    }

    /// The value in a bank is needed by a read.
    fn force(&mut self, bank: u8) {
        (self.inputs.force_valid_i, self.inputs.force_bank_i, self.inputs.force_read_i) = (1, bank, 1);
    }

    fn land(&mut self, bank: u8, entry: u16, port: u8) {
        let inputs = &mut self.inputs;
        (inputs.land_valid_i, inputs.land_bank_i, inputs.land_entry_i, inputs.land_port_i) = (1, bank, entry, port);
    }
}

/// The count of an event that `mrf_arbiter` has as well.
fn counted(out: &StealArbiterOut, name: &str) -> u64 {
    event(MRF_ARBITER_EVENT, out.event_o, name)
}

fn theft(out: &StealArbiterOut, name: &str) -> u64 {
    event(STEAL_ARBITER_EVENT, out.steal_event_o, name)
}

fn places(out: &StealArbiterOut, name: &str) -> u64 {
    event(STEAL_PLACE_EVENT, out.place_event_o, name)
}

/// The events that only this arbiter has, and that are not zero.
fn events(out: &StealArbiterOut) -> Vec<(&'static str, u64)> {
    let count = |&(name, _): &(&'static str, u32)| (name, theft(out, name));
    STEAL_ARBITER_EVENT.iter().map(count).filter(|&(_, count)| count != 0).collect()
}

#[test]
fn the_event_word_is_as_wide_as_the_page_says() {
    assert_eq!(STEAL_ARBITER_EVENT.iter().map(|&(_, bits)| bits).sum::<u32>(), 57);
    assert_eq!(STEAL_PLACE_EVENT.iter().map(|&(_, bits)| bits).sum::<u32>(), 8);
    assert_eq!(ALL_GROUPS, u32::from(crate::LaneMask::ALL.groups()));
    assert_eq!(ALL_GROUPS as usize, LANES / crate::GROUP_LANES);
}

#[test]
fn an_idle_bank_that_two_operands_want_is_stolen() {
    for (first, second, stolen) in [(0, 2, 0b001), (1, 3, 0b1000), (4, 5, 0b010_000)] {
        let mut arbiter = arbiter(READS);
        arbiter.want(&[(first, 3, 10), (second, 3, 11)]);
        let out = arbiter.cycle();
        // The operand of the higher port is stolen, and among operands of one port the lowest source.
        assert_eq!((out.stolen_o, out.read_valid_o, out.grant_o), (stolen, 1 << 3, 0));
        assert_eq!(out.read_entry_o[3], if stolen == 0b1000 { 11 } else { 10 });
        let candidates = if first / 3 == second / 3 { 1 } else { 2 };
        assert_eq!(events(&out), [("candidate", candidates), ("sharing", 2), ("stolen", 1), ("steal", 1)]);
        assert_eq!((counted(&out, "read"), counted(&out, "read_groups")), (1, 0));
    }
}

#[test]
fn a_theft_removes_a_conflict_unless_it_is_eager() {
    for (straps, stolen) in [(0, 0), (READS, 0), (WRITES | EAGER, 0), (READS | EAGER, 0b001_001)] {
        let mut arbiter = arbiter(straps);
        arbiter.want(&[(0, 3, 10), (3, 4, 10)]);
        assert_eq!(arbiter.cycle().stolen_o, stolen);
    }
    for (straps, stolen) in [(WRITES, 0), (READS, 0b001_000)] {
        let mut arbiter = arbiter(straps);
        arbiter.want(&[(0, 3, 10), (3, 3, 10)]);
        assert_eq!(arbiter.cycle().stolen_o, stolen);
    }
    // Several banks at once, for both ports.
    let mut arbiter = arbiter(READS);
    arbiter.want(&[(0, 3, 10), (1, 4, 11), (2, 3, 12), (3, 4, 13), (4, 5, 14)]);
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.read_entry_o[3], out.read_entry_o[4]), (0b001_001, 10, 13));
    assert_eq!(events(&out), [("candidate", 2), ("sharing", 4), ("stolen", 2), ("steal", 2)]);
}

#[test]
fn a_parked_operand_is_not_stolen_and_is_no_conflict() {
    let mut arbiter = arbiter(READS);
    arbiter.want(&[(0, 3, 10), (3, 3, 11)]);
    arbiter.inputs.want_parked_i = 0b001_000;
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, events(&out)), (0, vec![("candidate", 2)]));
    arbiter.want(&[(0, 3, 10), (2, 3, 12), (3, 3, 11)]);
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.read_entry_o[3]), (0b001, 10));
}

#[test]
fn a_bank_that_is_requested_or_closed_is_not_stolen() {
    let mut arbiter = arbiter(READS | EAGER);
    arbiter.want(&[(0, 3, 10), (1, 4, 10), (2, 5, 10)]);
    arbiter.request(&[(7, 3, 1)]);
    arbiter.land(4, 9, 0);
    arbiter.force(5);
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.grant_o), (0, 1 << 7));
    assert_eq!((out.read_valid_o, out.bank_write_valid_o), (1 << 3 | 1 << 5, 1 << 4));
    // A read of a parked register does not request its bank.
    arbiter.inputs.req_parked_i = 1 << 7;
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.grant_o), (0b001, 0));
}

#[test]
fn a_result_goes_before_a_theft_and_parks_for_it_if_it_can() {
    let mut arbiter = arbiter(READS);
    arbiter.want(&[(0, 3, 10), (3, 3, 11)]);
    arbiter.write(&[(1, 3, 12)]);
    arbiter.free(&[(6, 20)]);
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.write_done_o, out.bank_write_valid_o), (0, 0b10, 1 << 3));
    assert_eq!(events(&out), [("candidate", 2), ("sharing", 2), ("write_normal", 1), ("places", 1)]);
    arbiter.inputs.cfg_i = READS | WRITES;
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.write_done_o, out.park_valid_o, out.park_bank_o[1]), (0b001_000, 0b10, 0b10, 6));
    assert_eq!((out.bank_write_valid_o, out.bank_write_port_o, out.bank_write_entry_o[6]), (1 << 6, 1 << 6, 20));
    assert_eq!((out.read_valid_o, out.read_entry_o[3]), (1 << 3, 11));
    let stolen = [("candidate", 2), ("sharing", 2), ("stolen", 1), ("steal", 1)];
    assert_eq!(events(&out), [&stolen[..], &[("write_parked", 1), ("places", 1)]].concat());
    // Without a place the theft fails.
    arbiter.free(&[]);
    let out = arbiter.cycle();
    assert_eq!((out.stolen_o, out.write_done_o, out.park_valid_o), (0, 0b10, 0));
    assert_eq!(events(&out), [("candidate", 2), ("sharing", 2), ("write_forced", 1)]);
}

#[test]
fn a_result_that_meets_a_read_is_parked_if_it_may_be() {
    // Straps, lanes: whether it is parked.
    for (straps, full, parked) in [(WRITES, 0b01, true), (WRITES, 0b10, false), (READS, 0b11, false)] {
        let mut arbiter = arbiter(straps);
        arbiter.request(&[(0, 3, 7)]);
        arbiter.write(&[(0, 3, 9)]);
        arbiter.free(&[(6, 20)]);
        arbiter.inputs.write_full_i = full;
        let out = arbiter.cycle();
        assert_eq!((out.write_done_o, out.park_valid_o, out.grant_o), (0b01, parked.into(), parked.into()));
        assert_eq!(out.bank_write_entry_o[if parked { 6 } else { 3 }], if parked { 20 } else { 9 });
        assert_eq!((counted(&out, "write"), counted(&out, "write_groups")), (1, 5));
        assert_eq!((counted(&out, "conflict_read_write"), counted(&out, "conflict_write")), ((!parked).into(), 0));
        let what = match (parked, straps) {
            (true, _) => &[("write_parked", 1)][..],
            (false, WRITES) => &[("write_forced", 1), ("write_partial", 1)],
            (false, _) => &[("write_normal", 1)],
        };
        assert_eq!(events(&out), [what, &[("places", 1)]].concat());
    }
    // The result conflicts with no other access.
    let mut arbiter = arbiter(WRITES);
    arbiter.request(&[(0, 4, 7)]);
    arbiter.write(&[(0, 3, 9)]);
    arbiter.free(&[(6, 20)]);
    let out = arbiter.cycle();
    assert_eq!((out.park_valid_o, out.write_done_o, out.bank_write_entry_o[3]), (0, 0b01, 9));
    assert_eq!(events(&out), [("write_normal", 1), ("places", 1)]);
}

#[test]
fn a_place_is_an_idle_bank_whose_free_entry_is_empty() {
    let parks = |change: fn(&mut Driver<StealArbiter>)| {
        let mut arbiter = arbiter(WRITES | READS);
        arbiter.free(&[(6, 20)]);
        arbiter.request(&[(0, 3, 7)]);
        arbiter.write(&[(0, 3, 9)]);
        change(&mut arbiter);
        arbiter.cycle().park_valid_o & 1 == 1
    };
    assert!(parks(|_| ()));
    assert!(!parks(|arbiter| arbiter.inputs.free_valid_i = 0), "no free entry");
    assert!(!parks(|arbiter| arbiter.park(6, 20, 1)), "a value is in it");
    assert!(!parks(|arbiter| arbiter.inputs.alive_i = 1 << 6), "a result is for it");
    assert!(!parks(|arbiter| arbiter.land(6, 1, 1)), "a value lands");
    assert!(!parks(|arbiter| arbiter.force(6)), "a value is fetched");
    assert!(!parks(|arbiter| arbiter.request(&[(0, 3, 7), (1, 6, 1)])), "a read");
    assert!(!parks(|arbiter| arbiter.want(&[(0, 6, 1), (1, 6, 2)])), "a theft");
    assert!(!parks(|arbiter| arbiter.write(&[(0, 3, 9), (1, 6, 1)])), "a result");
    assert!(parks(|arbiter| arbiter.want(&[(0, 6, 1)])), "an operand that is not stolen");
    // A read that waits for a value, and a result that is not written, request no bank.
    assert!(parks(|arbiter| {
        arbiter.request(&[(0, 3, 7), (1, 6, 1)]);
        arbiter.inputs.req_parked_i = 0b10;
    }));
    assert!(parks(|arbiter| {
        arbiter.write(&[(0, 3, 9), (1, 6, 1)]);
        arbiter.inputs.write_parked_i = 0b10;
    }));
}

#[test]
fn places_are_taken_in_turn() {
    let mut arbiter = arbiter(WRITES);
    arbiter.request(&[(0, 3, 7), (1, 4, 7)]);
    arbiter.free(&[(1, 20), (6, 21), (15, 22)]);
    let turns = |arbiter: &mut Driver<StealArbiter>| {
        let out = arbiter.cycle();
        (out.park_valid_o, out.park_bank_o, arbiter.probe().park_turn_q)
    };
    arbiter.write(&[(0, 3, 9)]);
    assert_eq!(turns(&mut arbiter), (0b01, [1, 0], 0));
    arbiter.write(&[(1, 3, 9)]);
    assert_eq!(turns(&mut arbiter), (0b10, [0, 6], 2));
    // Both at once: queue 0 first, then queue 1 from the same place on.
    arbiter.write(&[(0, 3, 9), (1, 4, 9)]);
    let out = arbiter.cycle();
    assert_eq!((out.park_valid_o, out.park_bank_o, arbiter.probe().park_turn_q), (0b11, [15, 1], 7));
    assert_eq!((out.bank_write_port_o, out.bank_write_valid_o), (1 << 1, 1 << 1 | 1 << 15));
    assert_eq!(arbiter.probe().park_turn_q, 7);
    // The turn continues after the bank taken last, and wraps.
    arbiter.write(&[(0, 3, 9)]);
    assert_eq!(turns(&mut arbiter), (0b01, [6, 0], 2));
    assert_eq!(turns(&mut arbiter), (0b01, [15, 0], 7));
    arbiter.write(&[]);
    assert_eq!(turns(&mut arbiter), (0, [0, 0], 0));
    arbiter.inputs.rst_ni = 0;
    arbiter.write(&[(0, 3, 9)]);
    arbiter.cycle();
    arbiter.cycle();
    assert_eq!(arbiter.probe().park_turn_q, 0);
}

#[test]
fn one_place_goes_to_queue_0() {
    let mut arbiter = arbiter(WRITES);
    arbiter.request(&[(0, 3, 7), (1, 4, 7)]);
    arbiter.free(&[(6, 20)]);
    arbiter.write(&[(0, 3, 9), (1, 4, 10)]);
    let out = arbiter.cycle();
    // The result of queue 1 is forced into its bank.
    assert_eq!((out.park_valid_o, out.write_done_o, out.bank_write_entry_o[4]), (0b01, 0b11, 10));
    assert_eq!((out.grant_o, out.bank_write_port_o), (0b01, 1 << 4));
    // A result without all lanes leaves the place to the other result.
    arbiter.inputs.write_full_i = 0b10;
    let out = arbiter.cycle();
    assert_eq!((out.park_valid_o, out.park_bank_o[1], out.bank_write_entry_o[3]), (0b10, 6, 9));
}

#[test]
fn a_result_that_is_held_is_not_parked_and_its_reader_goes_first() {
    let mut arbiter = arbiter(WRITES | READS);
    arbiter.free(&[(6, 20)]);
    arbiter.request(&[(0, 3, 7), (4, 3, 9)]);
    arbiter.write(&[(0, 3, 9), (1, 3, 2)]);
    let out = arbiter.cycle();
    // Collector 0 is older. The other result finds a place.
    assert_eq!((out.grant_o, out.read_entry_o[3], out.write_done_o, out.park_valid_o), (1 << 4, 9, 0b10, 0b10));
    assert_eq!((counted(&out, "write_held"), counted(&out, "conflict_write")), (1, 0));
    assert_eq!(events(&out), [("blocking_read", 1), ("write_parked", 1), ("places", 1)]);
    // Without a place the result waits for the reader.
    arbiter.free(&[]);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.write_done_o), (1 << 4, 0));
    assert_eq!((counted(&out, "write_held"), counted(&out, "conflict_write")), (1, 1));
    // A reader of a parked register holds as well, and blocks no access.
    arbiter.inputs.req_parked_i = 1 << 4;
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.write_done_o, out.bank_write_entry_o[3]), (0, 0b10, 2));
    assert_eq!((counted(&out, "write_held"), counted(&out, "conflict_read_write")), (1, 2));
    assert_eq!(events(&out), [("write_forced", 1), ("wait_parked", 1)]);
}

#[test]
fn a_result_waits_for_a_parked_value() {
    let mut arbiter = arbiter(WRITES);
    arbiter.free(&[(6, 20)]);
    arbiter.write(&[(0, 3, 9), (1, 4, 1)]);
    arbiter.inputs.write_parked_i = 0b01;
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, out.park_valid_o, counted(&out, "conflict_write")), (0b10, 0, 1));
    assert_eq!(events(&out), [("write_normal", 1), ("write_wait_parked", 1), ("places", 1)]);
    // A held result is counted only as held.
    arbiter.request(&[(0, 3, 9)]);
    let out = arbiter.cycle();
    assert_eq!((counted(&out, "conflict_write"), counted(&out, "write_held")), (0, 1));
    assert_eq!(event(STEAL_ARBITER_EVENT, out.steal_event_o, "write_wait_parked"), 0);
}

#[test]
fn a_landing_value_has_its_bank_and_its_bus() {
    let mut arbiter = arbiter(READS | WRITES);
    arbiter.free(&[(6, 20)]);
    arbiter.land(3, 9, 1);
    arbiter.request(&[(0, 3, 7), (1, 4, 7)]);
    arbiter.write(&[(0, 3, 1), (1, 5, 1)]);
    let out = arbiter.cycle();
    // Queue 0's result is opposed; queue 1's has no bus.
    assert_eq!((out.write_done_o, out.park_valid_o, out.park_bank_o[0]), (0b01, 0b01, 6));
    assert_eq!((out.bank_write_valid_o, out.bank_write_port_o), (1 << 3 | 1 << 6, 1 << 3));
    assert_eq!((out.bank_write_entry_o[3], out.bank_write_entry_o[6], out.grant_o), (9, 20, 0b10));
    assert_eq!((counted(&out, "write"), counted(&out, "write_groups")), (2, 5 + 8));
    assert_eq!((counted(&out, "conflict_read_write"), counted(&out, "conflict_write")), (1, 1));
    let landing = [("write_parked", 1), ("write_wait_bus", 1), ("land", 1), ("wait_return", 1), ("places", 1)];
    assert_eq!(events(&out), landing);
    // Without a place queue 0's result waits for its bank; who waits for a value besides is counted once.
    arbiter.free(&[]);
    arbiter.inputs.write_parked_i = 0b10;
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, counted(&out, "conflict_write")), (0, 2));
    assert_eq!(events(&out), [("write_wait_bus", 1), ("land", 1), ("wait_return", 1)]);
    // Held or not.
    arbiter.request(&[(0, 5, 1)]);
    assert_eq!(event(STEAL_ARBITER_EVENT, arbiter.cycle().steal_event_o, "write_wait_bus"), 1);
}

#[test]
fn a_forced_fetch_goes_before_everything() {
    let mut arbiter = arbiter(READS | WRITES);
    arbiter.park(3, 20, 5);
    arbiter.force(3);
    arbiter.inputs.bus_free_i = 0;
    // A blocking read, a result, another read.
    arbiter.request(&[(0, 3, 9), (1, 3, 7)]);
    arbiter.write(&[(0, 3, 9), (1, 3, 1)]);
    let out = arbiter.cycle();
    assert_eq!((out.fetch_valid_o, out.fetch_bank_o, out.fetch_forced_o), (1, 3, 1));
    assert_eq!((out.read_valid_o, out.read_entry_o[3], out.grant_o, out.write_done_o), (1 << 3, 20, 0, 0));
    assert_eq!((counted(&out, "read"), counted(&out, "read_groups"), counted(&out, "conflict_read_write")), (1, 8, 2));
    assert_eq!(events(&out), [("return_forced", 1), ("force_read", 1), ("wait_return", 2), ("parked", 1)]);
    (arbiter.inputs.force_read_i, arbiter.inputs.force_write_i) = (0, 1);
    let out = arbiter.cycle();
    assert_eq!(events(&out), [("return_forced", 1), ("force_write", 1), ("wait_return", 2), ("parked", 1)]);
    (arbiter.inputs.force_write_i, arbiter.inputs.force_alive_i) = (0, 1);
    let out = arbiter.cycle();
    assert_eq!(events(&out), [("return_forced", 1), ("force_alive", 1), ("wait_return", 2), ("parked", 1)]);
    // Without a forced fetch the causes have no meaning.
    arbiter.inputs.force_valid_i = 0;
    assert_eq!(event(STEAL_ARBITER_EVENT, arbiter.cycle().steal_event_o, "force_alive"), 0);
}

#[test]
fn a_value_is_fetched_when_bus_and_banks_are_free() {
    let fetches = |change: fn(&mut Driver<StealArbiter>)| {
        let mut arbiter = arbiter(READS | WRITES);
        arbiter.park(6, 20, 5);
        change(&mut arbiter);
        let out = arbiter.cycle();
        assert_eq!(out.fetch_forced_o, 0);
        (out.fetch_valid_o == 1).then(|| (out.fetch_bank_o, out.read_entry_o[usize::from(out.fetch_bank_o)]))
    };
    assert_eq!(fetches(|_| ()), Some((6, 20)));
    assert_eq!(fetches(|arbiter| arbiter.inputs.bus_free_i = 0), None);
    assert_eq!(fetches(|arbiter| arbiter.inputs.parked_i = 0), None);
    assert_eq!(fetches(|arbiter| arbiter.request(&[(0, 6, 1)])), None, "a read");
    assert_eq!(fetches(|arbiter| arbiter.write(&[(0, 6, 1)])), None, "a result");
    assert_eq!(fetches(|arbiter| arbiter.land(6, 1, 0)), None, "a landing");
    assert_eq!(fetches(|arbiter| arbiter.want(&[(0, 6, 1), (1, 6, 2)])), None, "a theft");
    // The destination's bank: it may be busy, but no read may be left over there.
    assert_eq!(fetches(|arbiter| arbiter.request(&[(0, 5, 1)])), Some((6, 20)));
    assert_eq!(fetches(|arbiter| arbiter.write(&[(0, 5, 1)])), Some((6, 20)));
    assert_eq!(fetches(|arbiter| arbiter.request(&[(0, 5, 1), (1, 5, 2)])), None);
    assert_eq!(fetches(|arbiter| arbiter.request(&[(0, 4, 1), (1, 4, 2)])), Some((6, 20)));
    // An instruction waits for a value that cannot be fetched now: no other value goes in front of it.
    assert_eq!(
        fetches(|arbiter| {
            arbiter.request(&[(0, 4, 1)]);
            arbiter.inputs.req_parked_i = 1;
        }),
        None,
        "a read"
    );
    assert_eq!(
        fetches(|arbiter| {
            arbiter.write(&[(0, 4, 1)]);
            arbiter.inputs.write_parked_i = 1;
        }),
        None,
        "a result"
    );
}

#[test]
fn the_first_value_from_the_turn_on_is_fetched_and_one_in_a_cycle() {
    let mut arbiter = arbiter(WRITES);
    arbiter.park(3, 20, 5);
    arbiter.park(9, 21, 5);
    for (turn, bank) in [(0, 3), (3, 3), (4, 9), (9, 9), (10, 3)] {
        arbiter.inputs.turn_i = turn;
        let out = arbiter.cycle();
        assert_eq!((out.fetch_bank_o, out.read_valid_o), (bank, 1 << bank));
        assert_eq!(events(&out), [("return_later", 1), ("parked", 2)]);
    }
    arbiter.inputs.fresh_i = 1 << 3;
    assert_eq!(events(&arbiter.cycle()), [("return_next", 1), ("parked", 2)]);
    // With a forced fetch there is no other fetch.
    arbiter.force(9);
    let out = arbiter.cycle();
    assert_eq!((out.fetch_bank_o, out.read_valid_o), (9, 1 << 9));
}

/// *Unread*: a result that the next instruction of its warp reads goes before reads, as if there were no place. The other queue's may have the
/// place.
#[test]
fn a_result_that_is_read_next_is_not_parked_if_unread() {
    // Straps, results that are read next: those that are parked, places left.
    for (straps, next, parked, places) in [
        (WRITES, 0b11, 0b01, 1),
        (WRITES | UNREAD, 0b00, 0b01, 1),
        (WRITES | UNREAD, 0b01, 0b10, 1),
        (WRITES | UNREAD, 0b10, 0b01, 1),
        (WRITES | UNREAD, 0b11, 0b00, 1),
    ] {
        let mut arbiter = arbiter(straps);
        arbiter.request(&[(0, 3, 7), (1, 4, 7)]);
        arbiter.write(&[(0, 3, 9), (1, 4, 9)]);
        arbiter.free(&[(6, 20)]);
        arbiter.inputs.write_next_i = next;
        let out = arbiter.cycle();
        assert_eq!((out.write_done_o, out.park_valid_o), (0b11, parked), "{straps:#b} {next:#b}");
        let (forced, kept) = (2 - u64::from(parked.count_ones()), if straps == WRITES { 0 } else { next.count_ones() });
        assert_eq!((theft(&out, "write_forced"), theft(&out, "write_next")), (forced, kept.into()));
        assert_eq!(theft(&out, "places"), places);
    }
}

#[test]
fn a_redirected_read_is_performed_at_the_place_of_its_value() {
    let mut arbiter = arbiter(WRITES);
    arbiter.request(&[(0, 3, 7), (3, 5, 8)]);
    // Slot 0 reads bank 5, entry 20, where the other one reads too: it is older.
    arbiter.park(5, 20, 3);
    arbiter.redirect(0, 5, 20);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.read_valid_o, out.read_entry_o[5], out.fetch_valid_o), (1, 1 << 5, 20, 0));
    assert_eq!((places(&out, "redirected"), counted(&out, "conflict_inter")), (1, 1));
    // Its own bank takes a result meanwhile; that of the place would have to be opposed.
    arbiter.write(&[(0, 3, 9), (1, 5, 9)]);
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, out.grant_o), (0b11, 0));
    assert_eq!(theft(&out, "write_forced"), 1);
    // A forced fetch uses the bank.
    arbiter.write(&[]);
    arbiter.force(5);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.fetch_valid_o, theft(&out, "wait_return")), (0, 1, 2));
}

#[test]
fn a_result_is_held_by_a_redirected_read_which_goes_first_at_the_place() {
    let mut arbiter = arbiter(WRITES);
    // An older read of the place's bank yields, as does a result for it.
    arbiter.request(&[(0, 5, 8), (3, 3, 7)]);
    arbiter.park(5, 20, 3);
    arbiter.redirect(3, 5, 20);
    arbiter.write(&[(0, 3, 7), (1, 5, 9)]);
    arbiter.drops(0, 5);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.write_done_o, out.drop_o), (1 << 3, 0, 0));
    assert_eq!((counted(&out, "write_held"), theft(&out, "blocking_read")), (1, 1));
}

#[test]
fn what_a_result_overwrites_is_dropped_when_it_goes_and_not_fetched_before() {
    let mut arbiter = arbiter(WRITES);
    arbiter.write(&[(1, 3, 7)]);
    arbiter.park(5, 20, 3);
    arbiter.drops(1, 5);
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, out.drop_o, out.fetch_valid_o, places(&out, "dropped")), (0b10, 0b10, 0, 1));
    // The result waits because a landing uses its bus: the parked value stays.
    arbiter.land(8, 3, 1);
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, out.drop_o, out.fetch_valid_o), (0, 0, 0));
    // The value is not overwritten but fetched.
    (arbiter.inputs.drop_valid_i, arbiter.inputs.land_valid_i) = (0, 0);
    let out = arbiter.cycle();
    assert_eq!((out.write_done_o, out.drop_o, out.fetch_valid_o), (0b10, 0, 1));
    // A result that is parked in another bank drops the old value too.
    arbiter.drops(1, 5);
    arbiter.request(&[(0, 3, 9)]);
    arbiter.inputs.free_valid_i |= 1 << 9;
    let out = arbiter.cycle();
    assert_eq!((out.park_valid_o, out.park_bank_o[1], out.drop_o), (0b10, 9, 0b10));
}

/// With both straps off and nothing parked the arbiter makes the decisions of `mrf_arbiter`, *eager* or not.
#[test]
fn without_stealing_it_is_the_arbiter_of_the_mrf() {
    for shape in shapes() {
        let mut plain = Driver::<MrfArbiter>::new(&shape);
        let mut steals = Driver::<StealArbiter>::new(&shape);
        let mut random = crate::testing::Random(5);
        let fields = StealArbiterIn::fields(&shape);
        for _ in 0..5000 {
            random.fill(&fields, &mut steals.inputs);
            let i = &mut steals.inputs;
            i.cfg_i &= 0b111_1001;
            (i.at_bank_i, i.at_entry_i, i.drop_valid_i) = (i.req_bank_i, i.req_entry_i, 0);
            i.rst_ni = (!random.chance(2)).into();
            i.req_valid_i &= random.next();
            (i.req_parked_i, i.write_parked_i, i.force_valid_i, i.land_valid_i, i.parked_i) = (0, 0, 0, 0, 0);
            let slot = random.below(shape.slots());
            if random.chance(30) {
                (i.write_bank_i[0], i.write_entry_i[0]) = (i.req_bank_i[slot], i.req_entry_i[slot]);
            }
            plain.inputs = MrfArbiterIn {
                req_valid_i: i.req_valid_i,
                req_entry_i: i.req_entry_i,
                older_i: i.older_i,
                write_entry_i: i.write_entry_i,
                rst_ni: i.rst_ni,
                cfg_i: i.cfg_i & 1,
                req_bank_i: i.req_bank_i,
                req_groups_i: i.req_groups_i,
                write_valid_i: i.write_valid_i,
                write_bank_i: i.write_bank_i,
                write_groups_i: i.write_groups_i,
            };
            let (out, expected): (_, MrfArbiterOut) = (steals.cycle(), plain.cycle());
            assert_eq!(
                (out.grant_o, out.event_o, out.write_done_o),
                (expected.grant_o, expected.event_o, expected.write_grant_o)
            );
            assert_eq!((out.read_valid_o, out.read_entry_o), (expected.read_valid_o, expected.read_entry_o));
            assert_eq!(
                (out.bank_write_valid_o, out.bank_write_port_o),
                (expected.bank_write_valid_o, expected.bank_write_port_o)
            );
            assert_eq!(out.bank_write_entry_o, expected.bank_write_entry_o);
            assert_eq!((out.stolen_o, out.park_valid_o, out.fetch_valid_o), (0, 0, 0));
            assert_eq!((out.drop_o, out.place_event_o), (0, 0));
            let (state, expected) = (steals.probe(), plain.probe());
            assert_eq!((state.rr_q, state.turn_q, state.park_turn_q), (expected.rr_q, expected.turn_q, 0));
        }
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        for strict in [false, true] {
            let mut reference = Reference::new(shape);
            compare::<StealArbiter>(
                &shape,
                10_000,
                |random, inputs| {
                    inputs.rst_ni = (!random.chance(2)).into();
                    let dense = random.chance(50);
                    inputs.req_valid_i &= random.next() & if dense { u64::MAX } else { random.next() & random.next() };
                    inputs.req_parked_i &= random.next() & random.next();
                    inputs.want_parked_i &= random.next() as u8;
                    inputs.write_parked_i &= (random.next() & random.next()) as u8;
                    inputs.alive_i &= (random.next() & random.next()) as u32;
                    inputs.force_valid_i &= random.next() as u8;
                    inputs.land_valid_i &= random.next() as u8;
                    inputs.drop_valid_i &= inputs.write_valid_i & random.next() as u8;
                    // Most reads are at their registers.
                    let moved = random.next() & random.next() & random.next();
                    for slot in (0..shape.slots()).filter(|slot| moved >> slot & 1 == 0 || strict) {
                        (inputs.at_bank_i[slot], inputs.at_entry_i[slot]) =
                            (inputs.req_bank_i[slot], inputs.req_entry_i[slot]);
                    }
                    if strict {
                        inputs.older_i = std::array::from_fn(|c| (1 << c) - 1);
                    }
                    for p in 0..shape.issue_ports {
                        // Often the same register as that of some slot.
                        let slot = random.below(shape.slots());
                        if random.chance(20) {
                            inputs.write_bank_i[p] = inputs.req_bank_i[slot];
                            inputs.write_entry_i[p] = inputs.req_entry_i[slot];
                        }
                    }
                    if random.chance(50) {
                        // Operands that conflict.
                        inputs.want_bank_i[random.below(3)] = inputs.want_bank_i[3];
                        inputs.want_bank_i[2] = inputs.want_bank_i[0];
                    }
                },
                |inputs| reference.cycle(inputs),
            );
        }
    }
}

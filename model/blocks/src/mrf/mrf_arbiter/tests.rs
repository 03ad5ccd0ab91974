use super::*;
use crate::testing::{Driver, SHAPES, compare, event};
use crate::{OPERANDS, Ports};

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };
const DUAL: MrfShape = MrfShape { dual_port: true, ..TWO_PORTS };

/// An arbiter where collector 0 is the oldest, and the others follow in order.
fn arbiter(shape: &MrfShape) -> Driver<MrfArbiter> {
    let mut driver = Driver::<MrfArbiter>::new(shape);
    driver.inputs.older_i = std::array::from_fn(|c| (1 << c) - 1);
    driver.inputs.req_groups_i = [8; MAX_COLLECTORS];
    driver.inputs.write_groups_i = [5; MAX_PORTS];
    driver
}

impl Driver<MrfArbiter> {
    /// Only these slots request a read of the given bank and entry.
    fn request(&mut self, requests: &[(usize, u8, u16)]) {
        self.inputs.req_valid_i = 0;
        for &(slot, bank, entry) in requests {
            self.inputs.req_valid_i |= 1 << slot;
            (self.inputs.req_bank_i[slot], self.inputs.req_entry_i[slot]) = (bank, entry);
        }
    }

    /// Only these queues request a write of the given bank and entry.
    fn write(&mut self, writes: &[(usize, u8, u16)]) {
        self.inputs.write_valid_i = 0;
        for &(queue, bank, entry) in writes {
            self.inputs.write_valid_i |= 1 << queue;
            (self.inputs.write_bank_i[queue], self.inputs.write_entry_i[queue]) = (bank, entry);
        }
    }
}

/// The events that are not zero.
fn events(out: &MrfArbiterOut) -> Vec<(&'static str, u64)> {
    let names = MRF_ARBITER_EVENT.iter().map(|&(name, _)| (name, event(MRF_ARBITER_EVENT, out.event_o, name)));
    names.filter(|&(_, count)| count != 0).collect()
}

#[test]
fn reads_of_different_banks_go_together() {
    let mut arbiter = arbiter(&TWO_PORTS);
    arbiter.request(&[(0, 3, 7), (2, 4, 8), (5, 15, 9)]);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.read_valid_o), (0b100_101, 1 << 3 | 1 << 4 | 1 << 15));
    assert_eq!((out.read_entry_o[3], out.read_entry_o[4], out.read_entry_o[15]), (7, 8, 9));
    assert_eq!(events(&out), [("read", 3), ("read_groups", 24)]);
}

#[test]
fn the_oldest_collector_reads_first_and_its_lowest_slot() {
    let mut arbiter = arbiter(&TWO_PORTS);
    // Collector 2 is the oldest, then 1.
    arbiter.inputs.older_i[0] = 0b110;
    arbiter.inputs.older_i[1] = 0b100;
    arbiter.inputs.older_i[2] = 0;
    arbiter.request(&[(0, 3, 1), (4, 3, 2), (7, 3, 3), (8, 3, 4)]);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.read_entry_o[3]), (1 << 7, 3));
    assert_eq!(events(&out), [("read", 1), ("read_groups", 8), ("conflict_intra", 1), ("conflict_inter", 2)]);
}

#[test]
fn without_a_strict_order_the_lowest_numbered_reads_or_none() {
    let mut arbiter = arbiter(&TWO_PORTS);
    arbiter.inputs.older_i = [0; MAX_COLLECTORS];
    arbiter.request(&[(3, 3, 1), (6, 3, 2)]);
    assert_eq!(arbiter.cycle().grant_o, 1 << 3);
    (arbiter.inputs.older_i[1], arbiter.inputs.older_i[2]) = (0b100, 0b010);
    let out = arbiter.cycle();
    assert_eq!((out.grant_o, out.read_valid_o), (0, 0));
    assert_eq!(events(&out), [("conflict_inter", 2)]);
}

#[test]
fn round_robin_goes_on_after_the_last_reader() {
    let mut arbiter = arbiter(&TWO_PORTS);
    arbiter.inputs.cfg_i = 1;
    // Collectors 0, 2 and 7, always. Collector 0 has two candidates.
    arbiter.request(&[(1, 3, 1), (2, 3, 1), (6, 3, 2), (21, 3, 3)]);
    let grants: Vec<_> = (0..4).map(|_| arbiter.cycle().grant_o.trailing_zeros()).collect();
    assert_eq!(grants, [1, 6, 21, 1]);
    assert_eq!(arbiter.probe().rr_q[3], 0);
    // After collector 7 the search begins at 0, after collector 0 at 1. Oldest-first order does not change that.
    arbiter.inputs.cfg_i = 0;
    arbiter.cycle();
    arbiter.cycle();
    assert_eq!((arbiter.probe().rr_q[3], arbiter.probe().rr_q[4]), (1, 0));
    arbiter.inputs.rst_ni = 0;
    arbiter.cycle();
    arbiter.cycle();
    assert_eq!(arbiter.probe().rr_q[3], 0);
}

#[test]
fn a_write_goes_before_reads_where_there_is_one_port() {
    for (shape, grant, counted) in [
        (TWO_PORTS, 0, [("write", 1), ("write_groups", 5), ("conflict_read_write", 2)].as_slice()),
        (
            DUAL,
            1,
            [("read", 1), ("read_groups", 8), ("write", 1), ("write_groups", 5), ("conflict_intra", 1)].as_slice(),
        ),
    ] {
        let mut arbiter = arbiter(&shape);
        arbiter.request(&[(0, 3, 7), (1, 3, 8)]);
        arbiter.write(&[(1, 3, 9)]);
        let out = arbiter.cycle();
        assert_eq!((out.write_grant_o, out.bank_write_valid_o, out.bank_write_port_o), (0b10, 1 << 3, 1 << 3));
        assert_eq!((out.bank_write_entry_o[3], out.grant_o), (9, grant));
        assert_eq!(events(&out), counted);
    }
}

#[test]
fn a_write_is_held_by_a_read_of_its_register_which_goes_first() {
    for shape in [TWO_PORTS, DUAL] {
        let mut arbiter = arbiter(&shape);
        // Collector 1 blocks; collector 0 is older and has to wait.
        arbiter.request(&[(0, 3, 7), (4, 3, 9)]);
        arbiter.write(&[(0, 3, 9), (1, 3, 2)]);
        let out = arbiter.cycle();
        assert_eq!((out.grant_o, out.read_entry_o[3]), (1 << 4, 9));
        // The other write waits at a single port.
        let (write_grant, waits) = if shape.dual_port { (0b10, 0) } else { (0, 1) };
        assert_eq!(out.write_grant_o, write_grant);
        assert_eq!(event(MRF_ARBITER_EVENT, out.event_o, "write_held"), 1);
        assert_eq!(event(MRF_ARBITER_EVENT, out.event_o, "conflict_write"), waits);
        assert_eq!(event(MRF_ARBITER_EVENT, out.event_o, "conflict_inter"), 1);
        // The bank performed the only write that was not held back: the turn does not change.
        arbiter.cycle();
        assert_eq!(arbiter.probe().turn_q, 0);
        // Once the register has been read, the write is granted.
        arbiter.request(&[]);
        arbiter.write(&[(0, 3, 9)]);
        assert_eq!(arbiter.cycle().write_grant_o, 0b01);
    }
}

#[test]
fn a_read_that_blocks_a_write_goes_before_a_stream_of_others() {
    let mut arbiter = arbiter(&TWO_PORTS);
    arbiter.request(&[(23, 3, 9)]);
    arbiter.write(&[(0, 3, 9), (1, 3, 1)]);
    assert_eq!(arbiter.cycle().grant_o, 1 << 23);
    // Without the held write the stream would continue.
    arbiter.write(&[(1, 3, 1)]);
    assert_eq!(arbiter.cycle().grant_o, 0);
}

#[test]
fn writes_of_one_bank_take_turns() {
    let mut arbiter = arbiter(&TWO_PORTS);
    arbiter.write(&[(0, 3, 1), (1, 3, 1)]);
    let grants: Vec<_> = (0..3).map(|_| arbiter.cycle().write_grant_o).collect();
    assert_eq!(grants, [0b01, 0b10, 0b01]);
    // Writes of different banks are granted together and leave the turn unchanged.
    arbiter.write(&[(0, 3, 1), (1, 4, 1)]);
    let out = arbiter.cycle();
    assert_eq!((out.write_grant_o, out.bank_write_port_o), (0b11, 1 << 4));
    assert_eq!(events(&out), [("write", 2), ("write_groups", 10)]);
    arbiter.write(&[(0, 3, 1), (1, 3, 1)]);
    let out = arbiter.cycle();
    assert_eq!(out.write_grant_o, 0b10);
    assert_eq!(events(&out), [("write", 1), ("write_groups", 5), ("conflict_write", 1)]);
    arbiter.inputs.rst_ni = 0;
    arbiter.write(&[(0, 3, 1)]);
    arbiter.cycle();
    arbiter.cycle();
    assert_eq!(arbiter.probe().turn_q, 0);
}

/// A reference model, written from the page sentence by sentence.
struct Reference {
    shape: MrfShape,
    rr: [usize; MAX_BANKS],
    turn: usize,
}

impl Reference {
    fn cycle(&mut self, inputs: &MrfArbiterIn) -> (MrfArbiterOut, MrfArbiterProbe) {
        let MrfShape { banks, dual_port, collectors, issue_ports, .. } = self.shape;
        let mut out = MrfArbiterOut::zeroed();
        let mut probe = MrfArbiterProbe::zeroed();
        probe.rr_q = self.rr.map(|c| c as u8);
        probe.turn_q = self.turn as u8;
        let requests: Vec<usize> = (0..OPERANDS * collectors).filter(|&i| inputs.req_valid_i >> i & 1 == 1).collect();
        let waits = |p: usize| inputs.write_valid_i >> p & 1 == 1;
        let meets = |i: usize, p: usize| {
            waits(p)
                && inputs.req_bank_i[i] == inputs.write_bank_i[p]
                && inputs.req_entry_i[i] == inputs.write_entry_i[p]
        };
        let held = |p: usize| requests.iter().any(|&i| meets(i, p));
        let blocking = |i: usize| (0..issue_ports).any(|p| meets(i, p));
        let mut counts = [0u64; 9];
        let (mut next_rr, mut next_turn) = (self.rr, self.turn);

        for (bank, next_rr) in next_rr.iter_mut().enumerate().take(banks) {
            let wanted: Vec<usize> =
                requests.iter().copied().filter(|&i| usize::from(inputs.req_bank_i[i]) == bank).collect();
            let is_blocked = wanted.iter().any(|&i| blocking(i));
            let takers: Vec<usize> = (0..issue_ports)
                .filter(|&p| waits(p) && usize::from(inputs.write_bank_i[p]) == bank && !held(p))
                .filter(|_| dual_port || !is_blocked)
                .collect();
            let writer = if takers.len() == 2 { Some(self.turn) } else { takers.first().copied() };
            if let Some(p) = writer {
                out.write_grant_o |= 1 << p;
                out.bank_write_valid_o |= 1 << bank;
                out.bank_write_port_o |= (p as u32) << bank;
                out.bank_write_entry_o[bank] = inputs.write_entry_i[p];
                counts[2] += 1;
                counts[3] += u64::from(inputs.write_groups_i[p]);
                if takers.len() == 2 {
                    next_turn = 1 - p;
                }
            }
            let shut = !dual_port && writer.is_some();
            let candidates: Vec<usize> = wanted.iter().copied().filter(|&i| !is_blocked || blocking(i)).collect();
            let has = |c: usize| candidates.iter().any(|i| i / OPERANDS == c);
            let oldest = |&c: &usize| has(c) && !(0..collectors).any(|d| has(d) && inputs.older_i[c] >> d & 1 == 1);
            let reader = if shut {
                None
            } else if inputs.cfg_i == 0 {
                (0..collectors).find(oldest)
            } else {
                (0..collectors).map(|k| (self.rr[bank] + k) % collectors).find(|&c| has(c))
            };
            let granted = reader.and_then(|c| candidates.iter().copied().find(|i| i / OPERANDS == c));
            if let (Some(c), Some(i)) = (reader, granted) {
                out.grant_o |= 1 << i;
                out.read_valid_o |= 1 << bank;
                out.read_entry_o[bank] = inputs.req_entry_i[i];
                counts[0] += 1;
                counts[1] += u64::from(inputs.req_groups_i[c]);
                if inputs.cfg_i == 1 {
                    *next_rr = (c + 1) % collectors;
                }
            }
            for &i in wanted.iter().filter(|&&i| Some(i) != granted) {
                counts[if shut {
                    6
                } else if reader == Some(i / OPERANDS) {
                    4
                } else {
                    5
                }] += 1;
            }
        }
        for p in (0..issue_ports).filter(|&p| waits(p)) {
            counts[7] += u64::from(!held(p) && out.write_grant_o >> p & 1 == 0);
            counts[8] += u64::from(held(p));
        }
        for (count, &(_, bits)) in counts.iter().zip(MRF_ARBITER_EVENT) {
            out.event_o = out.event_o << bits | count;
        }
        (self.rr, self.turn) = if inputs.rst_ni == 0 { ([0; MAX_BANKS], 0) } else { (next_rr, next_turn) };
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in SHAPES {
        for strict in [false, true] {
            let mut reference = Reference { shape, rr: [0; MAX_BANKS], turn: 0 };
            compare::<MrfArbiter>(
                &shape,
                5000,
                |random, inputs| {
                    inputs.rst_ni = (!random.chance(2)).into();
                    inputs.cfg_i = random.chance(50).into();
                    inputs.req_valid_i &= random.next() | random.next();
                    if strict {
                        inputs.older_i = std::array::from_fn(|c| (1 << c) - 1);
                    }
                    for p in 0..shape.issue_ports {
                        // Often the same register as that of some slot.
                        let slot = random.below(shape.slots());
                        if random.chance(30) {
                            inputs.write_bank_i[p] = inputs.req_bank_i[slot];
                            inputs.write_entry_i[p] = inputs.req_entry_i[slot];
                        }
                    }
                },
                |inputs| reference.cycle(inputs),
            );
        }
    }
}

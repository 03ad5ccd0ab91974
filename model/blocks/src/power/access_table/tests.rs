use super::*;
use crate::instruction::RolesFields;
use crate::testing::{Driver, SM_SHAPES, compare, event};

const NO: u8 = NO_REG;

/// Roles of an instruction with such sources, a result and a predicate.
fn roles(sources: [u8; 3], d: u8, p: u8) -> Roles {
    let [a, b, c] = sources;
    RolesFields { unit: 1, p, t: 7, s: 7, guard: 7, d, c, b, a, ..RolesFields::default() }.into()
}

/// The table with two ports, 8 warps, and such a number of entries.
fn table(power_entries: usize) -> Driver<AccessTable> {
    Driver::new(&SmShape { power_entries, ..SM_SHAPES[1] })
}

impl Driver<AccessTable> {
    fn push(&mut self, p: usize, w: u8, pc: u32, roles: Roles) {
        let inputs = &mut self.inputs;
        inputs.push_valid_i |= 1 << p;
        (inputs.push_warp_i[p], inputs.push_pc_i[p], inputs.push_roles_i[p]) = (w, pc, roles.0);
    }

    fn issue(&mut self, p: usize, w: u8, pc: u32, stays: bool) {
        let inputs = &mut self.inputs;
        inputs.issue_valid_i |= 1 << p;
        (inputs.issue_warp_i[p], inputs.issue_pc_i[p]) = (w, pc);
        inputs.issue_stays_i |= u8::from(stays) << p;
    }

    fn read(&mut self, p: usize, w: u8, pc: u32, roles: Roles) {
        let inputs = &mut self.inputs;
        inputs.read_valid_i |= 1 << p;
        (inputs.read_warp_i[p], inputs.read_pc_i[p], inputs.read_roles_i[p]) = (w, pc, roles.0);
    }

    fn write(&mut self, p: usize, w: u8, reg: u8) {
        self.inputs.reg_valid_i |= 1 << p;
        (self.inputs.reg_warp_i[p], self.inputs.reg_i[p]) = (w, reg);
    }

    fn decide(&mut self, p: usize, w: u8, pred: u8) {
        self.inputs.pred_valid_i |= 1 << p;
        (self.inputs.pred_warp_i[p], self.inputs.pred_i[p]) = (w, pred);
    }

    /// One cycle, after which nothing happens any more.
    fn step(&mut self) -> AccessTableOut {
        let out = self.cycle();
        self.inputs = AccessTableIn { rst_ni: 1, ..AccessTableIn::zeroed() };
        out
    }

    /// An instruction that is decoded, and one that issues after that.
    fn enter(&mut self, w: u8, pc: u32, roles: Roles) {
        self.push(0, w, pc, roles);
        self.step();
    }

    fn fly(&mut self, w: u8, pc: u32, roles: Roles) {
        self.enter(w, pc, roles);
        self.issue(0, w, pc, true);
        self.step();
    }

    /// Addresses and whether they have issued, of a warp's entries.
    fn entries(&mut self, w: usize) -> Vec<Option<(u32, bool)>> {
        let mut probe = AccessTableProbe::zeroed();
        self.block.probe(&self.inputs, &AccessTableOut::zeroed(), &mut probe);
        let entries = self.block.all.count_ones() as usize;
        let at = entries * w..entries * (w + 1);
        at.map(|e| (probe.valid_q[e] != 0).then(|| (probe.pc_q[e], probe.issued_q[e] != 0))).collect()
    }
}

fn happened(out: &AccessTableOut, name: &str) -> u64 {
    event(ACCESS_TABLE_EVENT, out.event_o.into(), name)
}

#[test]
fn it_is_empty_at_first_and_after_reset() {
    let mut table = table(2);
    assert_eq!(table.entries(0), [None, None]);
    table.fly(0, 5, roles([1, NO, NO], NO, 7));
    table.inputs.rst_ni = 0;
    table.push(0, 1, 5, roles([1, NO, NO], NO, 7));
    assert_eq!(happened(&table.step(), "used"), 1);
    assert_eq!((table.entries(0), table.entries(1)), (vec![None; 2], vec![None; 2]));
    assert_eq!(happened(&table.step(), "used"), 0);
}

#[test]
fn an_instruction_takes_the_lowest_free_entry_or_is_not_entered() {
    for entries in 1..=4 {
        let mut table = table(entries);
        for n in 0..entries as u32 {
            table.push(1, 3, n, roles([1, NO, NO], NO, 7));
            let out = table.step();
            assert_eq!((happened(&out, "used"), happened(&out, "full")), (n.into(), 0));
        }
        table.push(0, 3, 9, roles([1, NO, NO], NO, 7));
        table.push(1, 2, 9, roles([1, NO, NO], NO, 7));
        let out = table.step();
        assert_eq!((happened(&out, "used"), happened(&out, "full")), (entries as u64, 1));
        let all: Vec<_> = (0..entries as u32).map(|n| Some((n, false))).collect();
        assert_eq!((table.entries(3), table.entries(2)[0]), (all, Some((9, false))));
        // One that becomes free at this edge is not free yet.
        table.issue(0, 3, 0, false);
        table.push(1, 3, 8, roles([1, NO, NO], NO, 7));
        assert_eq!(happened(&table.step(), "full"), 1);
        assert_eq!(table.entries(3)[0], None);
        table.enter(3, 7, roles([1, NO, NO], NO, 7));
        assert_eq!(table.entries(3)[0], Some((7, false)));
    }
}

#[test]
fn two_that_find_no_entry_count_both() {
    let mut table = table(1);
    for w in [0, 1] {
        table.enter(w, 1, roles([NO; 3], NO, 7));
    }
    table.push(0, 0, 2, roles([NO; 3], NO, 7));
    table.push(1, 1, 2, roles([NO; 3], NO, 7));
    let out = table.step();
    assert_eq!((happened(&out, "used"), happened(&out, "full")), (2, 2));
}

#[test]
fn another_instruction_is_one_at_another_address_of_the_same_warp() {
    for slot in 0..4 {
        let mut names = [NO; 4];
        names[slot] = 40;
        let other = roles([names[0], names[1], names[2]], names[3], 7);
        let mut table = table(2);
        table.enter(4, 100, other);
        let used = roles([40, 41, 40], NO, 7);
        for (w, pc, keep) in [(4, 101, 0b101), (4, 100, 0), (5, 101, 0)] {
            table.read(1, w, pc, used);
            assert_eq!(table.step().read_keep_o, keep << 3, "slot {slot} at {pc}");
        }
        // No register is accessed by none.
        table.read(0, 4, 101, roles([NO; 3], NO, 7));
        table.write(0, 4, NO);
        let out = table.step();
        assert_eq!((out.read_keep_o, out.reg_keep_o), (0, 0));
    }
}

#[test]
fn the_address_of_a_result_is_that_of_the_issued_entry_that_writes_it() {
    let mut table = table(3);
    table.fly(0, 10, roles([1, NO, NO], 2, 7));
    // It reads what it writes.
    table.fly(0, 11, roles([3, NO, NO], 3, 7));
    for (reg, keep) in [(2, 0), (3, 0), (1, 2)] {
        table.write(1, 0, reg);
        assert_eq!((table.peek().reg_keep_o, reg), (keep, reg));
        table.inputs.reg_valid_i = 0;
    }
    // One at another address that reads it.
    table.enter(0, 12, roles([2, NO, NO], 3, 7));
    for (reg, keep) in [(2, 1), (3, 1), (1, 1)] {
        table.write(0, 0, reg);
        assert_eq!((table.peek().reg_keep_o, reg), (keep, reg));
    }
}

#[test]
fn a_second_round_of_a_loop_is_no_other_instruction() {
    let mut table = table(2);
    table.fly(0, 10, roles([1, NO, NO], 2, 7));
    table.enter(0, 10, roles([1, NO, NO], 2, 7));
    table.write(0, 0, 2);
    table.read(0, 0, 10, roles([1, NO, NO], 2, 7));
    let out = table.peek();
    assert_eq!((out.reg_keep_o, out.read_keep_o), (0, 0));
}

#[test]
fn of_a_result_without_an_entry_every_entry_is_another_instruction() {
    let mut table = table(1);
    // It is not issued: not the writer.
    table.enter(0, 10, roles([1, NO, NO], 2, 7));
    for (reg, keep) in [(1, 1), (2, 1), (3, 0)] {
        table.write(0, 0, reg);
        assert_eq!(table.peek().reg_keep_o, keep);
    }
}

#[test]
fn of_several_writers_the_lowest_numbered_one_counts() {
    let mut table = table(3);
    table.fly(0, 10, roles([NO; 3], 2, 7));
    table.fly(0, 11, roles([NO; 3], 2, 7));
    table.write(0, 0, 2);
    // The one at 11 is another one.
    assert_eq!(table.peek().reg_keep_o, 1);
    table.step();
    assert_eq!(table.entries(0), [None; 3]);
}

#[test]
fn an_instruction_that_issues_stays_or_goes() {
    let mut table = table(3);
    for (pc, stays, then) in [(10, true, Some((10, true))), (11, false, None)] {
        table.enter(1, pc, roles([NO; 3], 2, 7));
        // At another address, of another warp.
        table.issue(0, 1, 99, stays);
        table.issue(1, 2, pc, stays);
        table.step();
        assert!(table.entries(1).contains(&Some((pc, false))));
        table.issue(1, 1, pc, stays);
        table.step();
        assert!(!table.entries(1).contains(&Some((pc, false))));
        assert_eq!(table.entries(1).iter().flatten().find(|entry| entry.0 == pc).copied(), then);
    }
}

#[test]
fn the_lowest_entry_that_has_not_issued_issues() {
    let mut table = table(3);
    table.fly(0, 10, roles([NO; 3], 2, 7));
    table.enter(0, 10, roles([NO; 3], 2, 7));
    table.enter(0, 10, roles([NO; 3], 2, 7));
    table.issue(0, 0, 10, true);
    table.step();
    assert_eq!(table.entries(0), [Some((10, true)), Some((10, true)), Some((10, false))]);
    // The state before the edge counts: what is decoded now has not been.
    table.issue(0, 0, 11, true);
    table.push(1, 1, 11, roles([NO; 3], 2, 7));
    table.step();
    assert_eq!(table.entries(1)[0], Some((11, false)));
}

#[test]
fn dispatch_frees_what_writes_nothing() {
    let writes = [roles([1, NO, NO], 2, 7), roles([1, NO, NO], NO, 3), roles([1, NO, NO], NO, 7)];
    for (n, used) in writes.into_iter().enumerate() {
        let mut table = table(2);
        table.enter(0, 10, used);
        table.read(0, 0, 10, used);
        table.step();
        // It has not issued.
        assert_eq!(table.entries(0), [Some((10, false)), None]);
        table.issue(0, 0, 10, true);
        table.step();
        table.read(1, 0, 11, used);
        table.step();
        assert_eq!(table.entries(0), [Some((10, true)), None]);
        table.read(1, 0, 10, used);
        table.step();
        assert_eq!(table.entries(0)[0].is_none(), n == 2);
    }
}

#[test]
fn two_dispatches_of_one_address_free_one_entry() {
    let mut table = table(3);
    let store = roles([1, 2, NO], NO, 7);
    table.fly(0, 10, roles([NO; 3], 5, 7));
    table.fly(0, 20, store);
    table.fly(0, 20, store);
    table.read(0, 0, 20, store);
    table.read(1, 0, 20, store);
    table.step();
    assert_eq!(table.entries(0), [Some((10, true)), None, Some((20, true))]);
}

#[test]
fn a_result_frees_what_writes_it() {
    let mut table = table(4);
    table.fly(0, 10, roles([NO; 3], 2, 7));
    table.fly(0, 11, roles([2, NO, NO], 3, 4));
    table.fly(0, 12, roles([2, NO, NO], NO, 4));
    table.enter(0, 13, roles([NO; 3], 2, 7));
    table.write(0, 1, 2);
    table.decide(0, 1, 4);
    table.step();
    assert_eq!(table.entries(0), [Some((10, true)), Some((11, true)), Some((12, true)), Some((13, false))]);
    // A predicate frees what writes no register.
    table.decide(1, 0, 4);
    table.step();
    assert_eq!(table.entries(0), [Some((10, true)), Some((11, true)), None, Some((13, false))]);
    table.write(1, 0, 2);
    table.step();
    assert_eq!(table.entries(0), [None, Some((11, true)), None, Some((13, false))]);
    table.decide(0, 0, 3);
    table.write(0, 0, 3);
    assert_eq!(happened(&table.step(), "used"), 2);
    assert_eq!(happened(&table.step(), "used"), 1);
}

impl Driver<AccessTable> {
    /// The outputs of the cycle, without its edge.
    fn peek(&mut self) -> AccessTableOut {
        let mut out = AccessTableOut::zeroed();
        self.block.late(&self.inputs, &mut out);
        out
    }
}

/// A reference model from the page, entry by entry, with the registers of the state.
struct Page {
    probe: AccessTableProbe,
    entries: usize,
    warps: usize,
    ports: usize,
}

impl Page {
    fn of(&self, w: u8) -> std::ops::Range<usize> {
        self.entries * usize::from(w)..self.entries * (usize::from(w) + 1)
    }

    fn accesses(&self, e: usize, r: u8) -> bool {
        let q = &self.probe;
        r != NO && [q.a_q[e], q.b_q[e], q.c_q[e], q.d_q[e]].contains(&r)
    }

    fn lowest(&self, w: u8, so: impl Fn(&AccessTableProbe, usize) -> bool) -> Option<usize> {
        self.of(w).find(|&e| so(&self.probe, e))
    }

    fn cycle(&mut self, i: &AccessTableIn) -> (AccessTableOut, AccessTableProbe) {
        let q = self.probe;
        let mut out = AccessTableOut::zeroed();
        let valid = |set: u8, p: usize| set >> p & 1 == 1;
        let used = q.valid_q[..self.entries * self.warps].iter().filter(|&&valid| valid != 0).count() as u32;
        let mut full = 0;
        let mut next = q;
        for p in 0..self.ports {
            if valid(i.read_valid_i, p) {
                let others = self.of(i.read_warp_i[p]).filter(|&e| q.valid_q[e] == 1 && q.pc_q[e] != i.read_pc_i[p]);
                for (s, r) in Roles(i.read_roles_i[p]).sources().into_iter().enumerate() {
                    out.read_keep_o |= u8::from(others.clone().any(|e| self.accesses(e, r))) << (3 * p + s);
                }
                let done = |q: &AccessTableProbe, e: usize| {
                    q.valid_q[e] == 1
                        && q.issued_q[e] == 1
                        && q.pc_q[e] == i.read_pc_i[p]
                        && q.d_q[e] == NO
                        && q.p_q[e] == 7
                };
                let roles = Roles(i.read_roles_i[p]);
                if (roles.d(), roles.p()) == (NO, 7)
                    && let Some(e) = self.lowest(i.read_warp_i[p], done)
                {
                    next.valid_q[e] = 0;
                }
            }
            if valid(i.reg_valid_i, p) {
                let (w, r) = (i.reg_warp_i[p], i.reg_i[p]);
                let writes = |q: &AccessTableProbe, e: usize| q.valid_q[e] == 1 && q.issued_q[e] == 1 && q.d_q[e] == r;
                let pc = self.lowest(w, writes).map(|e| q.pc_q[e]);
                let others = self.of(w).filter(|&e| q.valid_q[e] == 1 && pc.is_none_or(|pc| q.pc_q[e] != pc));
                out.reg_keep_o |= u8::from(others.clone().any(|e| self.accesses(e, r))) << p;
                self.of(w).filter(|&e| writes(&q, e)).for_each(|e| next.valid_q[e] = 0);
            }
            if valid(i.pred_valid_i, p) {
                let writes = |e: &usize| {
                    q.valid_q[*e] == 1 && q.issued_q[*e] == 1 && q.d_q[*e] == NO && q.p_q[*e] == i.pred_i[p]
                };
                self.of(i.pred_warp_i[p]).filter(writes).for_each(|e| next.valid_q[e] = 0);
            }
        }
        for p in (0..self.ports).filter(|&p| valid(i.issue_valid_i, p)) {
            let meant = |q: &AccessTableProbe, e: usize| {
                q.valid_q[e] == 1 && q.issued_q[e] == 0 && q.pc_q[e] == i.issue_pc_i[p]
            };
            match self.lowest(i.issue_warp_i[p], meant) {
                Some(e) if valid(i.issue_stays_i, p) => next.issued_q[e] = 1,
                Some(e) => next.valid_q[e] = 0,
                None => {}
            }
        }
        for p in (0..self.ports).filter(|&p| valid(i.push_valid_i, p)) {
            let Some(e) = self.lowest(i.push_warp_i[p], |q, e| q.valid_q[e] == 0) else {
                full += 1;
                continue;
            };
            let roles = Roles(i.push_roles_i[p]);
            (next.valid_q[e], next.issued_q[e], next.pc_q[e], next.p_q[e]) = (1, 0, i.push_pc_i[p], roles.p());
            [next.a_q[e], next.b_q[e], next.c_q[e]] = roles.sources();
            next.d_q[e] = roles.d();
        }
        out.event_o = pack(ACCESS_TABLE_EVENT, [used, full]) as u16;
        self.probe = if i.rst_ni == 0 { AccessTableProbe::zeroed() } else { next };
        (out, q)
    }
}

#[test]
fn what_is_kept_follows_from_the_state() {
    for (shape, power_entries) in SM_SHAPES.iter().flat_map(|shape| (0..=4).map(move |entries| (shape, entries))) {
        let shape = SmShape { power_entries, ..*shape };
        let (warps, ports) = (shape.warps, shape.ports());
        let mut page = Page { probe: AccessTableProbe::zeroed(), entries: power_entries.max(1), warps, ports };
        let mut kept = [0u32; 2];
        compare::<AccessTable>(
            &shape,
            5000,
            |random, i| {
                i.rst_ni = u8::from(!random.chance(1));
                let mut few = |ports: usize| -> [u8; MAX_PORTS] {
                    std::array::from_fn(|p| (ports * random.below(3) + p.min(ports - 1)) as u8)
                };
                // Of an issue port each, so that two are of different warps; few warps, addresses and registers.
                (i.push_warp_i, i.issue_warp_i) = (few(ports), few(ports));
                (i.read_warp_i, i.reg_warp_i, i.pred_warp_i) = (few(ports), few(ports), few(ports));
                for p in 0..ports {
                    let mut name = || if random.chance(30) { NO } else { random.below(4) as u8 };
                    let all = [(); 7].map(|()| name());
                    i.push_roles_i[p] = roles([all[0], all[1], all[2]], all[3], 5 + all[6].min(2)).0;
                    i.read_roles_i[p] = roles([all[4], all[5], all[0]], all[1], 5 + all[2].min(2)).0;
                    i.reg_i[p] = random.below(4) as u8;
                    i.pred_i[p] = 5 + random.below(2) as u8;
                    for pc in [&mut i.push_pc_i, &mut i.issue_pc_i, &mut i.read_pc_i] {
                        pc[p] = random.below(3) as u32;
                    }
                }
            },
            |i| {
                let (out, probe) = page.cycle(i);
                kept[0] += u32::from(out.read_keep_o != 0);
                kept[1] += u32::from(out.reg_keep_o != 0);
                (out, probe)
            },
        );
        assert!(kept.iter().all(|&kept| kept > 100), "{power_entries}: {kept:?}");
    }
}

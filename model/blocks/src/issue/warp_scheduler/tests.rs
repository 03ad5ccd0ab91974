use super::*;
use crate::Ports;
use crate::testing::{Driver, Random, SM_SHAPES, compare};

/// One port, 32 warps.
const ONE: SmShape = SM_SHAPES[0];
/// Two ports, 8 warps.
const TWO: SmShape = SM_SHAPES[1];

fn scheduler(shape: &SmShape, greedy: bool, clear: u64) -> Driver<WarpScheduler> {
    let mut scheduler = Driver::<WarpScheduler>::new(shape);
    (scheduler.inputs.cfg_i, scheduler.inputs.clear_i, scheduler.inputs.ready_i) = (greedy.into(), clear, 0b11);
    scheduler
}

/// One cycle; the warp of each port.
fn issued(scheduler: &mut Driver<WarpScheduler>) -> [Option<u8>; MAX_PORTS] {
    let out = scheduler.cycle();
    let warps = [0, 1].map(|p| (out.issue_valid_o >> p & 1 == 1).then_some(out.issue_warp_o[p]));
    assert_eq!(out.pop_o, warps.iter().flatten().fold(0, |set, w| set | 1 << w));
    for (p, warp) in warps.iter().enumerate() {
        assert_eq!(out.issue_warp_o[p], warp.unwrap_or(0));
    }
    warps
}

/// Warps begin in this order.
fn start(scheduler: &mut Driver<WarpScheduler>, warps: &[u8]) {
    let clear = std::mem::take(&mut scheduler.inputs.clear_i);
    for &warp in warps {
        (scheduler.inputs.start_valid_i, scheduler.inputs.start_warp_i) = (1, warp);
        scheduler.cycle();
        scheduler.inputs.alive_i |= 1 << warp;
    }
    (scheduler.inputs.start_valid_i, scheduler.inputs.clear_i) = (0, clear);
}

#[test]
fn round_robin_begins_behind_the_last_and_wraps() {
    let mut scheduler = scheduler(&ONE, false, 1 << 31 | 1 << 4 | 1);
    let found: Vec<_> = (0..5).map(|_| issued(&mut scheduler)[0]).collect();
    assert_eq!(found, [0, 4, 31, 0, 4].map(Some));
    scheduler.inputs.clear_i = 0;
    assert_eq!((issued(&mut scheduler)[0], scheduler.probe().rr_q[0]), (None, 5));
    scheduler.inputs.clear_i = 1 << 31;
    issued(&mut scheduler);
    scheduler.inputs.clear_i = 0;
    issued(&mut scheduler);
    assert_eq!(scheduler.probe().rr_q[0], 0);
}

#[test]
fn what_goes_to_the_operand_stage_needs_its_port_ready() {
    let mut scheduler = scheduler(&TWO, false, 0b1111);
    (scheduler.inputs.operand_i, scheduler.inputs.ready_i) = (0b0111, 0b10);
    assert_eq!(issued(&mut scheduler), [None, Some(1)]);
    scheduler.inputs.ready_i = 0b01;
    assert_eq!(issued(&mut scheduler), [Some(0), Some(3)]);
    scheduler.inputs.ready_i = 0b00;
    assert_eq!(issued(&mut scheduler), [None, Some(3)]);
    // What is not clear has no say.
    scheduler.inputs.clear_i = 0b0011;
    assert_eq!(issued(&mut scheduler), [None, None]);
}

#[test]
fn each_of_two_ports_has_its_own_half_of_the_warps() {
    let mut scheduler = scheduler(&TWO, false, 0b1111_1111);
    let found: Vec<_> = (0..5).map(|_| issued(&mut scheduler)).collect();
    assert_eq!(found, [[0, 1], [2, 3], [4, 5], [6, 7], [0, 1]].map(|pair| pair.map(Some)));
    scheduler.inputs.clear_i = 0b0101_0101;
    assert_eq!(issued(&mut scheduler), [Some(2), None]);
}

#[test]
fn one_branch_a_cycle() {
    for greedy in [false, true] {
        let mut scheduler = scheduler(&TWO, greedy, 0b1111);
        scheduler.inputs.branch_i = 0b0011;
        assert_eq!(issued(&mut scheduler), [Some(0), Some(3)], "port 1 leaves its branch out");
        (scheduler.inputs.clear_i, scheduler.inputs.branch_i) = (0b0010, 0b0011);
        assert_eq!(issued(&mut scheduler), [None, Some(1)], "a branch that does not issue is in nobody's way");
        (scheduler.inputs.clear_i, scheduler.inputs.branch_i) = (0b1001, 0b1001);
        assert_eq!(issued(&mut scheduler), [Some(0), None]);
        (scheduler.inputs.clear_i, scheduler.inputs.branch_i) = (0b1001, 0b1000);
        assert_eq!(issued(&mut scheduler), [Some(0), Some(3)]);
    }
}

#[test]
fn nothing_issues_while_stopped() {
    let mut scheduler = scheduler(&TWO, false, 0b1111);
    scheduler.inputs.stop_i = 1;
    assert_eq!(issued(&mut scheduler), [None, None]);
    scheduler.inputs.stop_i = 0;
    assert_eq!(issued(&mut scheduler), [Some(0), Some(1)]);
}

#[test]
fn greedy_stays_with_its_warp_and_else_takes_the_oldest() {
    let mut scheduler = scheduler(&ONE, true, 0b111000);
    start(&mut scheduler, &[4, 3, 5]);
    assert_eq!(issued(&mut scheduler)[0], Some(4));
    assert_eq!(issued(&mut scheduler)[0], Some(4));
    scheduler.inputs.clear_i = 0b101000;
    assert_eq!(issued(&mut scheduler)[0], Some(3));
    scheduler.inputs.clear_i = 0b111000;
    assert_eq!(issued(&mut scheduler)[0], Some(3), "the greedy one, although 4 is older");
    // Warp 4 ends and begins anew: now it is the youngest.
    scheduler.inputs.alive_i = 0b101000;
    start(&mut scheduler, &[4]);
    scheduler.inputs.clear_i = 0b110000;
    assert_eq!(issued(&mut scheduler)[0], Some(5));
    assert_eq!(scheduler.probe().older_q[..6], [0, 0, 0, 0, 0b101000, 0b001000]);
}

#[test]
fn among_warps_without_an_age_the_lowest_goes() {
    let mut scheduler = scheduler(&ONE, true, 0);
    // 2 lived already when 1 began, which nobody has seen begin.
    let inputs = &mut scheduler.inputs;
    (inputs.start_valid_i, inputs.start_warp_i, inputs.alive_i) = (1, 1, 0b100);
    scheduler.cycle();
    scheduler.inputs.start_valid_i = 0;
    scheduler.inputs.clear_i = 0b110;
    assert_eq!(issued(&mut scheduler)[0], Some(2));
    let mut scheduler = self::scheduler(&ONE, true, 0b1100);
    assert_eq!(issued(&mut scheduler)[0], Some(2), "both without an elder");
}

#[test]
fn reset_forgets_ages_turns_and_the_greedy_warp() {
    let mut scheduler = scheduler(&ONE, true, 0b111000);
    start(&mut scheduler, &[4, 3, 5]);
    issued(&mut scheduler);
    (scheduler.inputs.rst_ni, scheduler.inputs.start_valid_i) = (0, 1);
    assert_eq!(issued(&mut scheduler)[0], Some(4), "reset takes effect at the edge");
    (scheduler.inputs.rst_ni, scheduler.inputs.start_valid_i) = (1, 0);
    assert_eq!(issued(&mut scheduler)[0], Some(3));
    let probe = WarpSchedulerProbe { ..*scheduler.probe() };
    assert_eq!((probe.rr_q[0], probe.greedy_valid_q, probe.older_q), (0, 0, [0; MAX_WARPS]));
}

/// The page, sentence by sentence.
struct Reference {
    shape: SmShape,
    rr: Vec<usize>,
    greedy: Vec<Option<usize>>,
    older: Vec<Vec<bool>>,
}

impl Reference {
    fn new(shape: &SmShape) -> Self {
        let ports = shape.ports();
        Self {
            shape: *shape,
            rr: vec![0; ports],
            greedy: vec![None; ports],
            older: vec![vec![false; shape.warps]; shape.warps],
        }
    }

    fn cycle(&mut self, inputs: &WarpSchedulerIn) -> (WarpSchedulerOut, WarpSchedulerProbe) {
        let (warps, ports) = (self.shape.warps, self.shape.ports());
        let bit = |mask: u64, w: usize| mask >> w & 1 == 1;
        let mut probe = WarpSchedulerProbe::zeroed();
        for (w, older) in self.older.iter().enumerate() {
            probe.older_q[w] = (0..warps).fold(0, |set, v| set | u64::from(older[v]) << v);
        }
        let mut out = WarpSchedulerOut::zeroed();
        let mut branches = true;
        for p in 0..ports {
            probe.rr_q[p] = self.rr[p] as u8;
            probe.greedy_valid_q |= u8::from(self.greedy[p].is_some()) << p;
            probe.greedy_q[p] = self.greedy[p].unwrap_or_default() as u8;
            let candidate = |w: usize| {
                w % ports == p
                    && bit(inputs.clear_i, w)
                    && (!bit(inputs.operand_i, w) || bit(inputs.ready_i.into(), p))
                    && inputs.stop_i == 0
                    && (branches || !bit(inputs.branch_i, w))
            };
            let eldest = |&w: &usize| candidate(w) && !(0..warps).any(|v| self.older[w][v] && candidate(v));
            let chosen = if inputs.cfg_i == 0 {
                (self.rr[p]..warps).chain(0..self.rr[p]).find(|&w| candidate(w))
            } else {
                self.greedy[p].filter(|&w| candidate(w)).or_else(|| (0..warps).find(eldest))
            };
            if let Some(w) = chosen {
                branches &= !bit(inputs.branch_i, w);
                out.issue_valid_o |= 1 << p;
                out.issue_warp_o[p] = w as u8;
                out.pop_o |= 1 << w;
                (self.rr[p], self.greedy[p]) = ((w + 1) % warps, Some(w));
            }
        }
        if inputs.start_valid_i == 1 {
            let w = usize::from(inputs.start_warp_i);
            self.older[w] = (0..warps).map(|v| bit(inputs.alive_i, v) && v != w).collect();
            (0..warps).filter(|&v| v != w).for_each(|v| self.older[v][w] = false);
        }
        if inputs.rst_ni == 0 {
            *self = Self::new(&self.shape);
        }
        (out, probe)
    }
}

#[test]
fn it_is_what_the_page_says() {
    for (shape, greedy) in [(ONE, 0), (ONE, 1), (TWO, 0), (TWO, 1)] {
        let mut reference = Reference::new(&shape);
        let drive = |random: &mut Random, inputs: &mut WarpSchedulerIn| {
            (inputs.rst_ni, inputs.cfg_i) = ((!random.chance(1)).into(), greedy);
            inputs.clear_i &= random.next() & random.next();
            inputs.stop_i = random.chance(10).into();
            inputs.start_valid_i = random.chance(30).into();
            inputs.start_warp_i = random.below(shape.warps) as u8;
        };
        compare::<WarpScheduler>(&shape, 20_000, drive, |inputs| reference.cycle(inputs));
    }
}

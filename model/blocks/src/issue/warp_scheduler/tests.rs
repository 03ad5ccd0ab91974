use super::*;
use crate::Ports;
use crate::shape::Shared;
use crate::testing::{Driver, Random, SM_SHAPES, compare, with_candidates};

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
        assert_eq!(issued(&mut scheduler), [None, Some(1)], "a branch that does not issue delays no other warp");
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
    // 2 lived already when 1 began, whose begin was not seen.
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

/// The candidates of the ports after one cycle.
fn named(scheduler: &mut Driver<WarpScheduler>) -> [Option<u8>; MAX_PORTS] {
    let out = scheduler.cycle();
    [0, 1].map(|p| {
        let valid = is_set(out.candidate_valid_o, p);
        assert!(valid || out.candidate_warp_o[p] == 0);
        valid.then_some(out.candidate_warp_o[p])
    })
}

/// What each cycle issues on port 0, with these words on whether the candidate issues.
fn sequence(scheduler: &mut Driver<WarpScheduler>, words: &[u8]) -> Vec<Option<u8>> {
    let issue = |&word: &u8| {
        scheduler.inputs.candidate_issue_i = word;
        issued(scheduler)[0]
    };
    words.iter().map(issue).collect()
}

#[test]
fn greedy_a_a_b_b_becomes_a_b_a_b_by_candidates() {
    // Wa has two instructions and then none, Wb likewise: two each.
    let (a, b) = (Some(3), Some(20));
    let mut straight = scheduler(&with_candidates(&ONE), true, 1 << 3 | 1 << 20);
    start(&mut straight, &[3, 20]);
    straight.inputs.operand_i = u64::MAX >> 32;
    assert_eq!(sequence(&mut straight, &[0, 0]), [a, a]);
    straight.inputs.clear_i = 1 << 20;
    assert_eq!(sequence(&mut straight, &[0, 0]), [b, b]);

    let mut scheduler = scheduler(&with_candidates(&ONE), true, 1 << 3 | 1 << 20);
    start(&mut scheduler, &[3, 20]);
    scheduler.inputs.operand_i = u64::MAX >> 32;
    assert_eq!(sequence(&mut scheduler, &[0, 1, 0, 1]), [a, b, a, b]);
    // The tree continues as if nothing had been stolen.
    let probe = scheduler.probe();
    assert_eq!((probe.greedy_q[0], probe.rr_q[0], probe.candidate_valid_q, probe.candidate_q[0]), (3, 4, 1, 20));
    // Stolen for, the winner of the cycle before issues too: it has become the candidate.
    assert_eq!(sequence(&mut scheduler, &[1, 0]), [a, a]);
}

#[test]
fn the_candidate_is_the_choice_of_the_half_that_lost() {
    // The even ones are 2 and 30.
    let mut scheduler = scheduler(&with_candidates(&ONE), false, 1 << 2 | 1 << 5 | 1 << 17 | 1 << 30);
    scheduler.inputs.operand_i = u64::MAX >> 32;
    // Round-robin from the turn on, in the other half than the winner's.
    let mut pairs = Vec::new();
    for _ in 0..4 {
        let candidate = named(&mut scheduler)[0];
        pairs.push((scheduler.probe().rr_q[0], candidate));
    }
    assert_eq!(pairs, [(0, Some(5)), (3, Some(30)), (6, Some(30)), (18, Some(5))]);
    // In one half there is no loser; and one that needs no operands is none, nor is there a third.
    scheduler.inputs.clear_i = 1 << 2 | 1 << 30;
    assert_eq!(named(&mut scheduler)[0], None);
    scheduler.inputs.clear_i = 1 << 2 | 1 << 5 | 1 << 17;
    scheduler.inputs.operand_i = 1 << 2 | 1 << 17;
    // The turn is after 2: 5 wins, then 17, then 2, which 5 loses to.
    assert_eq!((issued(&mut scheduler)[0], named(&mut scheduler)[0]), (Some(5), Some(2)));
    assert_eq!(
        (named(&mut scheduler)[0], scheduler.probe().candidate_q[0]),
        (None, 2),
        "5 is no instruction with operands"
    );
    // What waits for a collector is not among those that may issue, so it is no candidate.
    scheduler.inputs.operand_i = u64::MAX >> 32;
    scheduler.inputs.ready_i = 0;
    assert_eq!((issued(&mut scheduler)[0], named(&mut scheduler)[0]), (None, None));
}

#[test]
fn the_oldest_of_the_other_half_is_the_candidate() {
    let mut scheduler = scheduler(&with_candidates(&ONE), true, 1 << 1 | 1 << 16 | 1 << 20 | 1 << 31);
    start(&mut scheduler, &[31, 1, 20, 16]);
    scheduler.inputs.operand_i = u64::MAX >> 32;
    assert_eq!((named(&mut scheduler)[0], scheduler.inputs.clear_i &= !(1 << 31)), (Some(20), ()));
    assert_eq!((issued(&mut scheduler)[0], named(&mut scheduler)[0]), (Some(1), Some(20)));
}

#[test]
fn a_stolen_warp_issues_whatever_the_tree_says_and_the_winner_is_next() {
    let mut scheduler = scheduler(&with_candidates(&ONE), false, 1 << 4 | 1 << 21);
    scheduler.inputs.operand_i = u64::MAX >> 32;
    assert_eq!(named(&mut scheduler)[0], Some(21));
    // 21 wins by its turn, and is what has been stolen for: the other one is the candidate.
    scheduler.inputs.candidate_issue_i = 1;
    let out = scheduler.cycle();
    assert_eq!((out.issue_warp_o[0], out.candidate_warp_o[0], out.pop_o), (21, 4, 1 << 21));
    assert_eq!(scheduler.probe().rr_q[0], 5);
    // The collectors are taken and no warp wins: the stolen one issues all the same.
    scheduler.inputs.ready_i = 0;
    let out = scheduler.cycle();
    assert_eq!((out.issue_valid_o, out.issue_warp_o[0], out.candidate_valid_o), (1, 4, 0));
    assert_eq!(scheduler.cycle().issue_valid_o, 0, "without a candidate no warp issues out of turn");
    // Stopped, nothing issues and no warp is named.
    scheduler.inputs.ready_i = 1;
    scheduler.inputs.candidate_issue_i = 0;
    assert_eq!(scheduler.cycle().candidate_valid_o, 1);
    (scheduler.inputs.candidate_issue_i, scheduler.inputs.stop_i) = (1, 1);
    let out = scheduler.cycle();
    assert_eq!((out.issue_valid_o, out.candidate_valid_o, scheduler.probe().candidate_valid_q), (0, 0, 1));
    scheduler.inputs.stop_i = 0;
    assert_eq!((scheduler.cycle().candidate_valid_o, scheduler.probe().candidate_valid_q), (1, 0));
    scheduler.inputs.rst_ni = 0;
    scheduler.cycle();
    scheduler.cycle();
    assert_eq!(scheduler.probe().candidate_valid_q, 0);
}

#[test]
fn thefts_in_every_cycle_keep_no_turn_for_ever() {
    let mut scheduler = scheduler(&with_candidates(&ONE), false, 0b1111);
    (scheduler.inputs.operand_i, scheduler.inputs.candidate_issue_i) = (u64::MAX >> 32, 1);
    // The stolen one is each time the tree's winner, too: its turn is over, and the next one is the candidate.
    assert_eq!((0..6).map(|_| issued(&mut scheduler)[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1].map(Some));
}

#[test]
fn each_port_has_its_own_candidate_among_halves_of_its_own_warps() {
    // Port 0 chooses between 0 and 4, and 2 and 6; port 1 between 1 and 5, and 7.
    let mut scheduler = scheduler(&with_candidates(&TWO), false, 0b1111_0111);
    scheduler.inputs.operand_i = 0xff;
    assert_eq!(named(&mut scheduler), [Some(2), Some(7)]);
    scheduler.inputs.candidate_issue_i = 0b10;
    assert_eq!(issued(&mut scheduler), [Some(2), Some(7)]);
    let probe = scheduler.probe();
    assert_eq!((probe.rr_q, probe.candidate_q), ([1, 2], [2, 7]));
    // Port 1's turn is where it was; its candidate is 5, which the theft has kept from issuing.
    (scheduler.inputs.candidate_issue_i, scheduler.inputs.clear_i) = (0, 0xff);
    assert_eq!((issued(&mut scheduler), scheduler.probe().candidate_q), ([Some(4), Some(3)], [4, 5]));
}

#[test]
fn port_1_leaves_its_branch_out_behind_what_port_0_issues_not_behind_what_its_tree_chooses() {
    for (branch, expected) in [(1 << 0, None), (1 << 6, Some(7))] {
        let mut scheduler = scheduler(&with_candidates(&TWO), false, 1 << 0);
        scheduler.inputs.operand_i = 0xff;
        scheduler.cycle();
        scheduler.inputs.clear_i = 1 << 0 | 1 << 2 | 1 << 6;
        assert_eq!(named(&mut scheduler)[0], Some(0));
        // The turn is after 2: the tree chooses 6.
        scheduler.inputs.clear_i = 1 << 0 | 1 << 6 | 1 << 7;
        (scheduler.inputs.candidate_issue_i, scheduler.inputs.branch_i) = (1, branch | 1 << 7);
        assert_eq!(issued(&mut scheduler), [Some(0), expected]);
    }
}

/// A reference model from the page, sentence by sentence.
struct Reference {
    shape: SmShape,
    rr: Vec<usize>,
    greedy: Vec<Option<usize>>,
    older: Vec<Vec<bool>>,
    candidate: Vec<Option<usize>>,
}

impl Reference {
    fn new(shape: &SmShape) -> Self {
        let ports = shape.ports();
        Self {
            shape: *shape,
            rr: vec![0; ports],
            greedy: vec![None; ports],
            older: vec![vec![false; shape.warps]; shape.warps],
            candidate: vec![None; ports],
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
            probe.candidate_valid_q |= u8::from(self.candidate[p].is_some()) << p;
            probe.candidate_q[p] = self.candidate[p].unwrap_or_default() as u8;
            let may = |w: usize| {
                w % ports == p
                    && bit(inputs.clear_i, w)
                    && (!bit(inputs.operand_i, w) || bit(inputs.ready_i.into(), p))
                    && inputs.stop_i == 0
                    && (branches || !bit(inputs.branch_i, w))
            };
            let choice = |candidate: &dyn Fn(usize) -> bool| {
                let eldest = |&w: &usize| candidate(w) && !(0..warps).any(|v| self.older[w][v] && candidate(v));
                if inputs.cfg_i == 0 {
                    (self.rr[p]..warps).chain(0..self.rr[p]).find(|&w| candidate(w))
                } else {
                    self.greedy[p].filter(|&w| candidate(w)).or_else(|| (0..warps).find(eldest))
                }
            };
            let winner = choice(&may);
            let even = |w: usize| (w / ports).is_multiple_of(2);
            let other = winner.and_then(|winner| choice(&|w| may(w) && even(w) != even(winner)));
            let issues =
                self.shape.services().takes_candidates && bit(inputs.candidate_issue_i.into(), p) && inputs.stop_i == 0;
            let stolen = self.candidate[p].filter(|_| issues);
            let next = match stolen {
                Some(_) if stolen != winner => winner,
                _ => other,
            };
            self.candidate[p] = next.filter(|&w| self.shape.services().takes_candidates && bit(inputs.operand_i, w));
            if let Some(w) = self.candidate[p] {
                out.candidate_valid_o |= 1 << p;
                out.candidate_warp_o[p] = w as u8;
            }
            if let Some(w) = stolen.or(winner) {
                branches &= !bit(inputs.branch_i, w);
                out.issue_valid_o |= 1 << p;
                out.issue_warp_o[p] = w as u8;
                out.pop_o |= 1 << w;
                if stolen.is_none() || stolen == winner {
                    (self.rr[p], self.greedy[p]) = ((w + 1) % warps, Some(w));
                }
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
    let shapes = [ONE, TWO, with_candidates(&ONE), with_candidates(&TWO)];
    for (shape, greedy) in shapes.into_iter().flat_map(|shape| [(shape, 0), (shape, 1)]) {
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

/// Two ports, 8 warps, of which some are preferred.
const CLASSES: SmShape = SmShape { share: Shared::Registers, ..TWO };

#[test]
fn preferred_warps_issue_first_and_others_last() {
    for greedy in [false, true] {
        let mut scheduler = scheduler(&CLASSES, greedy, 0b0101_0101);
        start(&mut scheduler, &[0, 2, 4, 6]);
        (scheduler.inputs.lead_i, scheduler.inputs.last_i) = (0b0100_0000, 0b0000_0101);
        assert_eq!(issued(&mut scheduler)[0], Some(6), "the preferred one");
        scheduler.inputs.clear_i = 0b0001_0101;
        assert_eq!(issued(&mut scheduler)[0], Some(4), "then one of neither class");
        scheduler.inputs.clear_i = 0b0000_0101;
        assert_eq!(issued(&mut scheduler)[0], Some(0), "then the first one of the last");
        (scheduler.inputs.lead_i, scheduler.inputs.last_i) = (0b0100, 0b0101);
        assert_eq!(issued(&mut scheduler)[0], Some(2), "who is in both is preferred");
        // A preferred warp that cannot issue does not keep another one from issuing.
        (scheduler.inputs.operand_i, scheduler.inputs.ready_i) = (0b0100, 0);
        assert_eq!(issued(&mut scheduler)[0], Some(0));
    }
    // Without classes they are not read.
    let mut scheduler = scheduler(&TWO, false, 0b0101_0101);
    (scheduler.inputs.lead_i, scheduler.inputs.last_i) = (0b0100_0000, 0b0000_0101);
    assert_eq!(issued(&mut scheduler)[0], Some(0));
}

#[test]
fn each_port_has_its_own_best_class() {
    let mut scheduler = scheduler(&CLASSES, false, 0xff);
    (scheduler.inputs.lead_i, scheduler.inputs.last_i) = (0b0001_0000, 0b0000_1010);
    assert_eq!(issued(&mut scheduler), [Some(4), Some(5)]);
    // The branch of port 0 leaves port 1 those of the last class.
    scheduler.inputs.branch_i = 0b1111_0000;
    assert_eq!(issued(&mut scheduler), [Some(4), Some(1)]);
}

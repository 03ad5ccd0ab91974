use super::*;
use crate::testing::{Driver, SM_SHAPES, compare};

/// Roles that use nothing, of an ALU's instruction.
const NOTHING: Roles = Roles(1 << 49 | 7 << 45 | 0x7 << 41 | 0x7 << 37 | 0x7 << 33 | 0xffff_ffff);

/// [`NOTHING`] with another value in a field.
fn with(low: u32, bits: u32, value: u64) -> Roles {
    let mask = ((1 << bits) - 1) << low;
    Roles(NOTHING.0 & !mask | value << low)
}

/// Lowest bit of each field that names a register, and of each that names a predicate.
const REGISTERS: [u32; 4] = [0, 8, 16, 24];
const PREDICATES: [(u32, u32); 4] = [(33, 4), (37, 4), (41, 4), (45, 3)];

fn scoreboard() -> Driver<Scoreboard> {
    Driver::new(&SM_SHAPES[1])
}

impl Driver<Scoreboard> {
    fn set(&mut self, p: usize, w: u8, d: u8, n: u8) {
        self.inputs.set_valid_i |= 1 << p;
        (self.inputs.set_warp_i[p], self.inputs.set_d_i[p], self.inputs.set_p_i[p]) = (w, d, n);
    }

    fn finish(&mut self, k: usize, w: u8) {
        self.inputs.finish_valid_i |= 1 << k;
        self.inputs.finish_warp_i[k] = w;
    }

    fn head(&mut self, w: usize, roles: Roles) {
        self.inputs.head_valid_i |= 1 << w;
        self.inputs.head_roles_i[w] = roles.0;
    }

    /// One cycle, after which nothing happens any more; heads stay.
    fn step(&mut self) -> ScoreboardOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.set_valid_i, inputs.reg_valid_i, inputs.pred_valid_i, inputs.finish_valid_i) = (0, 0, 0, 0);
        out
    }
}

#[test]
fn a_head_waits_for_each_register_that_it_uses() {
    for r in [0u8, 63, 64, 200, 254] {
        for low in REGISTERS {
            let mut board = scoreboard();
            board.set(1, 5, r, 7);
            board.head(5, with(low, 8, r.into()));
            board.head(4, with(low, 8, r.into()));
            board.head(3, NOTHING);
            assert_eq!(board.step().clear_o, 0b11_1000, "the bits as they stand before the edge");
            assert_eq!(board.step().clear_o, 0b01_1000, "the same register of another warp is another one");
            board.head(5, with(low, 8, u64::from(r) ^ 1));
            assert_eq!(board.step().clear_o, 0b11_1000, "the neighbour");
            board.head(5, with(low, 8, r.into()));
            board.inputs.reg_valid_i = 0b10;
            (board.inputs.reg_warp_i[1], board.inputs.reg_i[1]) = (5, r);
            assert_eq!(board.step().clear_o, 0b01_1000);
            assert_eq!(board.step().clear_o, 0b11_1000);
        }
    }
}

#[test]
fn a_head_waits_for_each_predicate_that_it_uses() {
    for n in [0u8, 6] {
        for (low, bits) in PREDICATES {
            for inverted in 0..=u64::from(bits == 4) {
                let mut board = scoreboard();
                board.set(0, 5, 255, n);
                board.step();
                let roles = with(low, bits, u64::from(n) | inverted << 3);
                board.head(5, roles);
                board.head(4, roles);
                assert_eq!(board.step().clear_o, 0b01_0000);
                board.inputs.pred_valid_i = 0b01;
                (board.inputs.pred_warp_i[0], board.inputs.pred_i[0]) = (5, n);
                assert_eq!(board.step().clear_o, 0b01_0000);
                assert_eq!(board.step().clear_o, 0b11_0000);
            }
        }
    }
}

#[test]
fn none_is_never_pending() {
    let mut board = scoreboard();
    board.set(0, 2, 255, 7);
    board.head(2, NOTHING);
    board.step();
    assert_eq!(board.step().clear_o, 0b100);
    assert_eq!((board.probe().reg_q[4 * 2 + 3], board.probe().pred_q[2], board.probe().count_q[2]), (0, 0, 1));
}

#[test]
fn a_set_wins_over_a_clear_of_the_same_bit() {
    let mut board = scoreboard();
    board.set(0, 1, 70, 3);
    board.step();
    board.set(0, 1, 70, 3);
    board.inputs.reg_valid_i = 1;
    (board.inputs.reg_warp_i[0], board.inputs.reg_i[0]) = (1, 70);
    board.inputs.pred_valid_i = 1;
    (board.inputs.pred_warp_i[0], board.inputs.pred_i[0]) = (1, 3);
    board.step();
    board.step();
    assert_eq!((board.probe().reg_q[4 + 1], board.probe().pred_q[1]), (1 << 6, 1 << 3));
}

#[test]
fn all_of_a_cycle_count_together() {
    let mut board = scoreboard();
    for _ in 0..3 {
        board.set(0, 6, 255, 7);
        board.set(1, 6, 255, 7);
        board.step();
    }
    assert_eq!(board.step().idle_o, 0b1011_1111);
    assert_eq!(board.probe().count_q[6], 6);
    // Two begin and five end.
    board.set(0, 6, 255, 7);
    board.set(1, 6, 255, 7);
    (0..5).for_each(|k| board.finish(k, 6));
    board.step();
    board.step();
    assert_eq!(board.probe().count_q[6], 3);
    [0, 3, 5].into_iter().for_each(|k| board.finish(k, 6));
    board.step();
    assert_eq!(board.step().idle_o, 0xff);
}

#[test]
fn heads_are_told_by_their_unit() {
    let mut board = scoreboard();
    for w in 0..8 {
        board.head(w, with(49, 3, w as u64));
    }
    board.inputs.head_valid_i &= !0b0000_0100;
    let out = board.step();
    assert_eq!((out.operand_o, out.branch_o, out.clear_o), (0b0110_1010, 0b0000_0001, 0b1111_1011));
}

#[test]
fn reset_clears_everything() {
    let mut board = scoreboard();
    board.set(0, 6, 9, 2);
    board.head(6, with(0, 8, 9));
    board.step();
    assert_eq!(board.step().clear_o, 0);
    board.inputs.rst_ni = 0;
    board.set(1, 6, 10, 3);
    board.step();
    board.inputs.rst_ni = 1;
    let out = board.step();
    assert_eq!((out.clear_o, out.idle_o), (1 << 6, 0xff));
    assert!(board.probe().reg_q.iter().all(|&word| word == 0) && board.probe().pred_q == [0; MAX_WARPS]);
}

/// Against the page's sentences, with nothing kept from cycle to cycle but the bits and counts.
#[test]
fn what_is_kept_of_the_heads_never_shows() {
    for shape in SM_SHAPES {
        let mut regs = vec![false; 256 * shape.warps];
        let mut preds = vec![false; 8 * shape.warps];
        let mut counts = vec![0u8; shape.warps];
        let mut heads = [0; MAX_WARPS];
        compare::<Scoreboard>(
            &shape,
            4000,
            |random, inputs| {
                inputs.rst_ni = (!random.chance(1)).into();
                let warps = inputs.set_warp_i.iter_mut().chain(&mut inputs.reg_warp_i).chain(&mut inputs.pred_warp_i);
                warps.chain(&mut inputs.finish_warp_i).for_each(|w| *w = random.below(shape.warps.min(3)) as u8);
                // Few registers, and heads that stay for a while.
                inputs.set_d_i.iter_mut().chain(&mut inputs.reg_i).for_each(|r| *r |= 0xf8);
                for head in &mut heads[..shape.warps] {
                    if random.chance(20) {
                        *head = (random.next() & u64::MAX >> 12) | 0xf8f8_f8f8;
                    }
                }
                inputs.head_roles_i = heads;
                inputs.head_valid_i |= random.next() & ((1 << shape.warps) - 1);
            },
            |inputs| {
                let mut out = ScoreboardOut { clear_o: 0, operand_o: 0, branch_o: 0, idle_o: 0 };
                let mut probe =
                    ScoreboardProbe { reg_q: [0; WORDS * MAX_WARPS], pred_q: [0; MAX_WARPS], count_q: [0; MAX_WARPS] };
                for w in 0..shape.warps {
                    for r in (0..256).filter(|r| regs[256 * w + r]) {
                        probe.reg_q[4 * w + r / 64] |= 1 << (r % 64);
                    }
                    for n in (0..8).filter(|n| preds[8 * w + n]) {
                        probe.pred_q[w] |= 1 << n;
                    }
                    probe.count_q[w] = counts[w];
                    out.idle_o |= u64::from(counts[w] == 0) << w;
                    if inputs.head_valid_i >> w & 1 == 0 {
                        continue;
                    }
                    let roles = inputs.head_roles_i[w];
                    let part = |low: u32, bits: u32| (roles >> low) as usize & ((1 << bits) - 1);
                    let pending = REGISTERS.iter().any(|&low| regs[256 * w + part(low, 8)])
                        || PREDICATES.iter().any(|&(low, _)| preds[8 * w + part(low, 3)]);
                    out.clear_o |= u64::from(!pending) << w;
                    out.operand_o |= u64::from(matches!(part(49, 3), 1..=3 | 5 | 6)) << w;
                    out.branch_o |= u64::from(part(49, 3) == 0) << w;
                }
                let ports = |mask: u8| (0..MAX_FINISHES).filter(move |p| mask >> p & 1 == 1);
                for p in ports(inputs.reg_valid_i) {
                    regs[256 * usize::from(inputs.reg_warp_i[p]) + usize::from(inputs.reg_i[p])] = false;
                }
                for p in ports(inputs.pred_valid_i) {
                    preds[8 * usize::from(inputs.pred_warp_i[p]) + usize::from(inputs.pred_i[p])] = false;
                }
                for p in ports(inputs.set_valid_i) {
                    let w = usize::from(inputs.set_warp_i[p]);
                    regs[256 * w + usize::from(inputs.set_d_i[p])] |= inputs.set_d_i[p] != 255;
                    preds[8 * w + usize::from(inputs.set_p_i[p])] |= inputs.set_p_i[p] != 7;
                    counts[w] = counts[w].wrapping_add(1);
                }
                for k in ports(inputs.finish_valid_i) {
                    let count = &mut counts[usize::from(inputs.finish_warp_i[k])];
                    *count = count.wrapping_sub(1);
                }
                if inputs.rst_ni == 0 {
                    regs.fill(false);
                    preds.fill(false);
                    counts.fill(0);
                }
                (out, probe)
            },
        );
    }
}

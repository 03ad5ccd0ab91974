//! The page's rules one by one, and the block against a reading of them by the cycles since reset.

use super::*;
use crate::testing::{Driver, Random, SM_SHAPES, compare, event};

fn shape(throttle: usize) -> SmShape {
    SmShape { throttle, ..SM_SHAPES[1] }
}

fn throttle(period: usize) -> Driver<ShareThrottle> {
    Driver::new(&shape(period))
}

fn with(period: usize, reference: Reference) -> Driver<ShareThrottle> {
    Driver::new(&SmShape { reference, ..shape(period) })
}

impl Driver<ShareThrottle> {
    /// A whole period with so many stalls; gives the level in its cycles.
    fn period(&mut self, cycles: usize, stalls: u32) -> u64 {
        let mut left = stalls;
        let mut level = 0;
        for _ in 0..cycles {
            self.inputs.stall_i = left.min(2) as u8;
            left -= u32::from(self.inputs.stall_i);
            let out = self.cycle();
            level = count(&out, "throttle_level");
        }
        assert_eq!(left, 0, "they fit in a period");
        level
    }

    /// The level that a round leaves whose periods have so many stalls.
    fn round(&mut self, cycles: usize, stalls: [u32; PERIODS as usize]) -> u8 {
        for stalls in stalls {
            self.period(cycles, stalls);
        }
        self.block.level_q
    }
}

fn count(out: &ShareThrottleOut, name: &str) -> u64 {
    event(SHARE_THROTTLE_EVENT, out.event_o.into(), name)
}

#[test]
fn events_fill_their_word() {
    assert_eq!(SHARE_THROTTLE_EVENT.iter().map(|field| field.1).sum::<u32>(), THROTTLE_EVENT_BITS);
    assert_eq!(crate::share::SHARE_COUNT_EVENT.iter().map(|field| field.1).sum::<u32>(), 47);
    assert_eq!(crate::share::SHARE_COUNT_EVENT[..2], [("wait_lock", 6), ("wait_hold", 6)]);
    assert_eq!(crate::share::SHARE_COUNT_EVENT.last(), Some(&("throttle_allow", 1)));
    assert_eq!(crate::share::count_event(1, 3), 1 << 7 | 3);
}

#[test]
fn the_first_of_fourteen_periods_is_the_reference() {
    let mut block = throttle(3);
    for cycle in 0..3 * 14 * 3 {
        let out = block.cycle();
        let reference = cycle / 3 % 14 == 0;
        assert_eq!(count(&out, "throttle_period"), u64::from(cycle % 3 == 2), "{cycle}");
        assert_eq!(count(&out, "throttle_reference"), u64::from(reference), "{cycle}");
        // Nothing stalls: the level stays where it begins.
        assert_eq!((count(&out, "throttle_level"), out.allow_o), (10, u8::from(!reference)), "{cycle}");
        assert_eq!(count(&out, "throttle_allow"), u64::from(out.allow_o));
    }
}

#[test]
fn more_stalls_than_in_the_reference_lower_the_level_and_fewer_raise_it() {
    let mut block = throttle(5);
    let mut stalls = [4; 14];
    assert_eq!(block.round(5, stalls), 10, "as many");
    stalls[3] = 5;
    stalls[4] = 10;
    assert_eq!(block.round(5, stalls), 8, "twice more, whatever by how much");
    stalls[0] = 5;
    stalls[3..5].fill(5);
    stalls[7..].fill(5);
    assert_eq!(block.round(5, stalls), 10, "1, 2, 5 and 6 have fewer; it ends at 10");
    stalls = [9; 14];
    stalls[0] = 8;
    assert_eq!(block.round(5, stalls), 0, "it ends at 0");
    stalls[1..].fill(8);
    assert_eq!(block.round(5, stalls), 0);
    stalls[13] = 7;
    assert_eq!(block.round(5, stalls), 1);
}

#[test]
fn a_reference_period_leaves_the_level() {
    let mut block = throttle(4);
    block.period(4, 3);
    block.period(4, 8);
    assert_eq!((block.block.level_q, block.block.reference_q), (9, 3));
    for _ in 2..14 {
        block.period(4, 3);
    }
    assert_eq!((block.period(4, 8), block.block.level_q, block.block.reference_q), (9, 9, 8));
}

#[test]
fn a_reference_from_outside_is_compared_with_each_period() {
    let mut block = with(5, Reference::External);
    let mut period = |stalls: u32, reference: Option<u32>| {
        (block.inputs.reference_valid_i, block.inputs.reference_i) =
            (reference.is_some().into(), reference.unwrap_or(7));
        let level = block.period(5, stalls);
        (level, block.block.level_q)
    };
    // The first one, too.
    assert_eq!(period(4, Some(3)), (10, 9));
    for level in (0..9).rev() {
        assert_eq!(period(10, Some(9)).1, level);
    }
    assert_eq!((period(1, Some(0)).1, period(2, Some(2)).1, period(8, None).1, period(6, None).1), (0, 0, 0, 0));
    assert_eq!((period(0, Some(1)).1, period(9, Some(0x3ffff)).1, period(9, Some(0x20000)).1), (1, 2, 3));
    assert_eq!((block.block.reference_q, block.block.number_q), (0, 0));
}

/// What the reference is before a period's last cycle means nothing.
#[test]
fn a_reference_from_outside_means_something_in_the_last_cycle() {
    let mut block = with(3, Reference::External);
    for (cycle, reference) in [0, 0, 5, 9, 9, 1, 0, 0, 2].into_iter().enumerate() {
        (block.inputs.stall_i, block.inputs.reference_i) = (1, reference);
        block.inputs.reference_valid_i = u8::from(cycle < 8);
        let out = block.cycle();
        assert_eq!(count(&out, "throttle_reference"), 0);
        assert_eq!(block.block.level_q, [10, 10, 10, 10, 10, 9, 9, 9, 9][cycle], "{cycle}");
    }
}

#[test]
fn a_held_throttle_is_a_reference_for_ever() {
    let mut block = with(4, Reference::Held);
    for stalls in [3, 8, 0, 5] {
        // What comes from outside is nothing to it.
        (block.inputs.reference_valid_i, block.inputs.reference_i) = (1, 4);
        assert_eq!((block.period(4, stalls), block.block.reference_q, block.block.level_q), (10, stalls, 10));
        assert_eq!((block.out.allow_o, count(&block.out, "throttle_reference"), block.block.number_q), (0, 1, 0));
    }
}

/// The bits of the number, by hand: x^16 + x^14 + x^13 + x^11 + 1 gives 65535 numbers.
#[test]
fn every_number_but_0_has_its_turn() {
    let mut block = throttle(1);
    let mut seen = vec![false; 1 << 16];
    for _ in 0..0xffff {
        block.cycle();
        let number = usize::from(block.probe().random_q);
        assert!(!seen[number], "{number}");
        seen[number] = true;
    }
    assert!(!seen[0]);
    block.cycle();
    assert_eq!(block.probe().random_q, 1);
}

#[test]
fn a_level_is_how_often_in_ten_cycles_they_may() {
    for level in 0..=10 {
        let mut block = throttle(65535).block;
        (block.level_q, block.number_q, block.cycle_q) = (level, 1, 1);
        let allowed = (0..65534).filter(|_| {
            let allows = block.allows();
            block.advance(0, None);
            allows
        });
        let expected = 65535 * usize::from(level) / 10;
        assert!(allowed.count().abs_diff(expected) < 10, "{level}");
    }
}

#[test]
fn the_longest_period_counts_all_its_stalls() {
    let mut block = throttle(65535);
    for _ in 0..65535 {
        block.inputs.stall_i = 2;
        block.cycle();
    }
    assert_eq!((block.block.reference_q, block.block.count_q, block.block.number_q), (131_070, 0, 1));
}

#[test]
fn reset_begins_a_round() {
    let mut block = throttle(2);
    for _ in 0..9 {
        block.inputs.stall_i = 1 + u8::from(block.block.number_q > 0);
        block.cycle();
    }
    assert_ne!(block.block.level_q, 10);
    block.inputs.rst_ni = 0;
    block.cycle();
    block.cycle();
    let p = block.probe();
    let state = (p.cycle_q, p.number_q, p.count_q, p.reference_q, p.level_q, p.random_q);
    assert_eq!(state, (0, 0, 0, 0, 10, 1));
}

/// A reference model from the page, from what came since reset: nothing is kept but the stalls of each cycle.
struct Page {
    period: usize,
    from: Reference,
    stalls: Vec<u8>,
    /// The reference from outside in each of these cycles.
    outside: Vec<Option<u32>>,
}

impl Page {
    fn is_reference(&self, number: usize) -> bool {
        match self.from {
            Reference::Sampled => number.is_multiple_of(14),
            Reference::External => false,
            Reference::Held => true,
        }
    }

    fn cycle(&mut self, i: &ShareThrottleIn) -> (ShareThrottleOut, ShareThrottleProbe) {
        let (mut out, mut probe) = (ShareThrottleOut::zeroed(), ShareThrottleProbe::zeroed());
        let cycles = self.stalls.len();
        let sum = |stalls: &[u8]| stalls.iter().map(|&n| u32::from(n)).sum::<u32>();
        let (mut level, mut reference) = (10, 0);
        for (number, stalls) in self.stalls.chunks_exact(self.period).map(sum).enumerate() {
            let other = match (self.from, self.outside[(number + 1) * self.period - 1]) {
                (Reference::External, None) => continue,
                (Reference::External, Some(outside)) => outside,
                _ if self.is_reference(number) => {
                    reference = stalls;
                    continue;
                }
                _ => reference,
            };
            match stalls.cmp(&other) {
                std::cmp::Ordering::Greater if level > 0 => level -= 1,
                std::cmp::Ordering::Less if level < 10 => level += 1,
                _ => {}
            }
        }
        // The bits that have left the register, and those in it: each is the sum of four before it.
        let mut bits = vec![false; 16 + cycles];
        bits[15] = true;
        for at in 16..bits.len() {
            bits[at] = [16, 14, 13, 11].iter().filter(|&&back| bits[at - back]).count() % 2 == 1;
        }
        let random = bits[cycles..].iter().fold(0u16, |word, &bit| word << 1 | u16::from(bit));
        let is_reference = self.is_reference(cycles / self.period);
        let number = if self.from == Reference::Sampled { (cycles / self.period % 14) as u8 } else { 0 };
        let allow = !is_reference && random % 10 < level;
        (probe.cycle_q, probe.number_q) = ((cycles % self.period) as u16, number);
        (probe.count_q, probe.reference_q) = (sum(&self.stalls[cycles - cycles % self.period..]), reference);
        (probe.level_q, probe.random_q) = (level as u8, random);
        out.allow_o = allow.into();
        let last = cycles % self.period == self.period - 1;
        out.event_o = (level as u8) << 3 | u8::from(last) << 2 | u8::from(is_reference) << 1 | u8::from(allow);
        if i.rst_ni == 0 {
            self.stalls.clear();
            self.outside.clear();
        } else {
            self.stalls.push(i.stall_i);
            self.outside.push((i.reference_valid_i == 1).then_some(i.reference_i));
        }
        (out, probe)
    }
}

#[test]
fn the_block_does_what_the_page_says_of_all_cycles_since_reset() {
    let all = [Reference::Sampled, Reference::External, Reference::Held];
    for (period, from) in [1, 2, 3, 7].into_iter().flat_map(|period| all.map(|from| (period, from))) {
        let mut page = Page { period, from, stalls: Vec::new(), outside: Vec::new() };
        let mut rate = 50;
        let drive = |random: &mut Random, inputs: &mut ShareThrottleIn| {
            if random.chance(5) {
                rate = random.below(101);
            }
            inputs.stall_i = if random.chance(rate) { 1 + random.below(2) as u8 } else { 0 };
            inputs.reference_valid_i = u8::from(random.chance(90));
            inputs.reference_i = random.below(2 * period + 2) as u32;
            inputs.rst_ni = u8::from(random.below(700) != 0);
        };
        let shape = SmShape { reference: from, ..shape(period) };
        compare::<ShareThrottle>(&shape, 10_000, drive, |inputs| page.cycle(inputs));
    }
}

use super::*;
use crate::testing::Driver;

/// 16 entries are always on.
fn power(wake: u16, sleep: u16) -> Driver<HrfPower> {
    let mut power = Driver::<HrfPower>::new(&HrfShape::preset(&[]));
    power.inputs.cfg_i = 4 | wake << 4 | sleep << 8;
    power
}

impl Driver<HrfPower> {
    /// Cycles for which a result waits for the next entry.
    fn waits(&mut self, used: u8) -> usize {
        let mut cycles = 0;
        loop {
            self.inputs.used_i = used;
            self.inputs.need_i = self.block.closed(PowerStraps::of(self.inputs.cfg_i), used).into();
            if self.cycle().closed_o == 0 {
                return cycles;
            }
            cycles += 1;
        }
    }
}

#[test]
fn the_first_upper_entry_waits_for_power_and_no_other() {
    for (wake, cycles) in [(0, 1), (1, 1), (2, 2), (3, 3), (15, 15)] {
        let mut power = power(wake, 3);
        assert_eq!((power.waits(0), power.waits(15)), (0, 0));
        assert_eq!((power.waits(16), power.waits(17)), (cycles, 0), "{wake}");
    }
}

#[test]
fn entries_sleep_when_the_buffer_is_empty_and_a_need_waits_for_that() {
    let mut power = power(3, 3);
    power.waits(16);
    (power.inputs.used_i, power.inputs.need_i) = (0, 0);
    let out = power.cycle();
    assert_eq!((out.state_o, out.sleep_o), (Power::On as u8, 1));
    assert_eq!(power.cycle().state_o, Power::FallingAsleep as u8);
    // Two more cycles of sleep, then three to wake.
    assert_eq!(power.waits(16), 2 + 3);
    let mut power = self::power(3, 0);
    power.waits(16);
    (power.inputs.used_i, power.inputs.need_i) = (0, 0);
    power.cycle();
    assert_eq!(power.cycle().state_o, Power::Off as u8);
}

#[test]
fn without_a_threshold_nothing_is_gated() {
    let mut power = Driver::<HrfPower>::new(&HrfShape::preset(&[]));
    power.inputs.cfg_i = 3 << 4 | 3 << 8;
    assert_eq!((power.waits(0), power.waits(64)), (0, 0));
    let out = power.cycle();
    assert_eq!((out.wake_o, out.sleep_o, out.state_o), (0, 0, Power::Off as u8));
}

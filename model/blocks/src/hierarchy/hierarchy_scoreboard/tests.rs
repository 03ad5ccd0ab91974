use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::testing::Driver;

#[test]
fn a_head_that_names_a_place_which_waits_is_held_back() {
    let mut scoreboard = Driver::<HierarchyScoreboard>::new(&HIERARCHY_SHAPES[0]);
    scoreboard.inputs.clear_i = 0b1110;
    (scoreboard.inputs.slot_valid_i, scoreboard.inputs.slot_warp_i[3]) = (0b1000, 2);
    for (low, place) in [(27, 0), (32, 7), (37, 9), (42, 10)] {
        for both in [0, 16] {
            scoreboard.inputs.head_ctl_i[2] = (place + 1 + both) << low;
            scoreboard.inputs.wait_i[3] = 1 << place;
            assert_eq!(scoreboard.cycle().clear_o, 0b1010, "{low} {place}");
            scoreboard.inputs.wait_i[3] ^= 0x7ff;
            assert_eq!(scoreboard.cycle().clear_o, 0b1110, "{low} {place}");
        }
    }
    // Numbers of no place; a slot without a warp; another warp's slot.
    scoreboard.inputs.wait_i[3] = 0x7ff;
    scoreboard.inputs.head_ctl_i[2] = 12 << 27 | 15 << 42;
    assert_eq!(scoreboard.cycle().clear_o, 0b1110);
    scoreboard.inputs.head_ctl_i[2] = 1 << 27;
    scoreboard.inputs.slot_warp_i[3] = 1;
    assert_eq!(scoreboard.cycle().clear_o, 0b1110);
    (scoreboard.inputs.slot_warp_i[3], scoreboard.inputs.slot_valid_i) = (2, 0);
    assert_eq!(scoreboard.cycle().clear_o, 0b1110);
}

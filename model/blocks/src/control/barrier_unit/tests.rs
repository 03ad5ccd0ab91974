use super::*;
use crate::Packed;
use crate::instruction::{InstructionFields, Roles, RolesFields};
use crate::testing::{Driver, SM_SHAPES};

/// Eight warps, two ports.
const SHAPE: SmShape = SM_SHAPES[1];

/// Where a BAR has its number of threads.
#[derive(Clone, Copy)]
enum Threads {
    All,
    Constant(u32),
    Register(WarpData),
}

impl Driver<BarrierUnit> {
    fn with_blocks(slots: [u8; 8]) -> Self {
        let mut unit = Self::new(&SHAPE);
        unit.inputs.slot_i[..8].copy_from_slice(&slots);
        unit.inputs.alive_i = 0xff;
        unit
    }

    fn arrive(&mut self, p: usize, warp: u8, id: u64, threads: Threads) {
        let inputs = &mut self.inputs;
        (inputs.arrive_valid_i, inputs.arrive_port_i) = (1, p as u8);
        (inputs.arrive_warp_i[p], inputs.arrive_mask_i[p]) = (warp, u32::MAX);
        // What stands elsewhere is not looked at.
        inputs.arrive_src_valid_i = !(1 << (3 * p + 1)) & 0x3f;
        inputs.arrive_data_i = [WarpData([1; LANES]); OPERANDS * MAX_PORTS];
        let everything = Roles(u64::MAX >> (u64::BITS - Roles::BITS)).fields();
        let mut instruction = InstructionFields {
            roles: RolesFields { b_constant: 0, ..everything }.into(),
            op: 33 << 32 | id << 28,
            ..InstructionFields::default()
        };
        match threads {
            Threads::All => {}
            Threads::Constant(n) => {
                instruction.roles = everything.into();
                instruction.op = u64::from(n) << 32 | id << 28;
            }
            Threads::Register(data) => {
                inputs.arrive_src_valid_i |= 1 << (3 * p + 1);
                inputs.arrive_data_i[3 * p + 1] = data;
            }
        }
        inputs.arrive_instruction_i[p] = instruction.into();
    }

    fn hold(&mut self, p: usize, warp: u8) {
        self.inputs.hold_valid_i |= 1 << p;
        self.inputs.hold_warp_i[p] = warp;
    }

    fn step(&mut self) -> BarrierUnitOut {
        let out = self.cycle();
        (self.inputs.arrive_valid_i, self.inputs.hold_valid_i, self.inputs.start_valid_i) = (0, 0, 0);
        out
    }

    /// What opens within a whole round over the warps.
    fn opened(&mut self) -> u64 {
        (0..SHAPE.warps).fold(0, |open, _| open | self.step().open_o)
    }
}

#[test]
fn a_warp_is_held_from_issue_until_all_living_ones_of_its_block_have_arrived() {
    let mut unit = Driver::with_blocks([0, 0, 0, 1, 1, 1, 2, 2]);
    unit.hold(0, 0);
    unit.hold(1, 2);
    assert_eq!(unit.step().held_o, 0);
    assert_eq!(unit.step().held_o, 0b101);
    unit.arrive(0, 0, 5, Threads::All);
    let out = unit.step();
    assert_eq!((out.finish_valid_o, out.finish_warp_o), (1, 0));
    assert_eq!(unit.opened(), 0, "warps 1 and 2 are missing");
    unit.arrive(1, 2, 5, Threads::All);
    assert_eq!(unit.step().finish_warp_o, 2);
    assert_eq!(unit.opened(), 0, "warp 1 is missing");
    // It ends instead of coming.
    unit.inputs.alive_i &= !0b10;
    assert_eq!(unit.opened(), 0b101);
    let out = unit.step();
    assert_eq!((out.held_o, out.open_o, unit.probe().arrived_q), (0, 0, 0));
}

#[test]
fn blocks_and_numbers_are_kept_apart() {
    let mut unit = Driver::with_blocks([0, 0, 1, 1, 2, 2, 2, 2]);
    for (warp, id) in [(0, 3), (2, 3), (4, 1), (5, 2), (6, 1), (7, 2)] {
        unit.arrive(0, warp, id, Threads::All);
        unit.step();
    }
    assert_eq!(unit.opened(), 0, "all of block 2 have arrived, at two barriers");
    unit.arrive(0, 3, 3, Threads::All);
    unit.step();
    assert_eq!(unit.opened(), 0b1100);
}

#[test]
fn a_count_is_in_warps_and_enough_when_it_is_reached() {
    for threads in [Threads::Constant(64), Threads::Register(WarpData([64; LANES]))] {
        let mut unit = Driver::with_blocks([7; 8]);
        unit.arrive(1, 5, 0, threads);
        unit.step();
        assert_eq!((unit.opened(), unit.probe().count_q[5]), (0, 2));
        unit.arrive(0, 1, 0, threads);
        unit.step();
        assert_eq!(unit.opened(), 0b10_0010);
    }
    // More than enough: all go on that have arrived.
    let mut unit = Driver::with_blocks([7; 8]);
    for warp in [1, 2, 3] {
        unit.arrive(1, warp, 0, Threads::Constant(128));
        unit.step();
    }
    unit.arrive(1, 4, 0, Threads::Constant(96));
    unit.step();
    assert_eq!(unit.opened(), 0b1_1110);
}

#[test]
fn one_warp_a_cycle_is_looked_at_in_turn() {
    let mut unit = Driver::with_blocks([0, 1, 2, 3, 4, 5, 6, 7]);
    let scans = |unit: &mut Driver<BarrierUnit>, cycles: usize| -> Vec<u8> {
        let scan = |_| {
            unit.step();
            unit.probe().scan_q
        };
        (0..cycles).map(scan).collect()
    };
    assert_eq!(scans(&mut unit, 2), [0, 0], "nothing has arrived");
    for warp in [6, 1, 3] {
        unit.arrive(0, warp, 0, Threads::Constant(64));
        unit.step();
    }
    assert_eq!(scans(&mut unit, 5), [2, 4, 7, 2, 4]);
    // After the last warp the search begins anew.
    unit.arrive(0, 7, 0, Threads::Constant(64));
    assert_eq!(scans(&mut unit, 4), [7, 2, 4, 7]);
    assert_eq!(scans(&mut unit, 4), [0, 2, 4, 7]);
}

#[test]
fn a_wrong_number_of_threads_is_a_fault_and_no_arrival() {
    let mut uneven = WarpData([32; LANES]);
    uneven.0[30] = 64;
    let wrong = [
        (Threads::Constant(33), 33),
        (Threads::Constant(1568), 1568),
        (Threads::Register(WarpData([u32::MAX - 31; LANES])), u32::MAX - 31),
        (Threads::Register(uneven), 32),
    ];
    for (threads, value) in wrong {
        let mut unit = Driver::with_blocks([0; 8]);
        unit.hold(0, 3);
        unit.step();
        unit.arrive(1, 3, 0, threads);
        let out = unit.step();
        assert_eq!((out.finish_valid_o, out.fault_valid_o), (1, 0), "it counts as ended");
        let out = unit.step();
        assert_eq!((out.fault_valid_o, out.fault_warp_o, out.fault_value_o), (1, 3, value));
        let out = unit.step();
        assert_eq!((out.fault_valid_o, out.held_o, unit.probe().arrived_q), (0, 0b1000, 0));
    }
    // Only lanes of the mask count; the value is that of the lowest one.
    for (mask, valid) in [(!(1 << 30), 0), (1 << 30 | 1 << 31, 1), (1 << 30, 0)] {
        let mut unit = Driver::with_blocks([0; 8]);
        unit.arrive(0, 3, 0, Threads::Register(uneven));
        unit.inputs.arrive_mask_i[0] = mask;
        unit.step();
        let out = unit.step();
        assert_eq!((out.fault_valid_o, out.fault_value_o), (valid, 64 * u32::from(valid)));
    }
    let mut unit = Driver::with_blocks([0; 8]);
    unit.arrive(0, 3, 0, Threads::Constant(1536));
    unit.step();
    assert_eq!((unit.step().fault_valid_o, unit.probe().count_q[3]), (0, 48), "the most there can be");
}

#[test]
fn start_wins_over_hold_and_hold_over_opening() {
    let mut unit = Driver::with_blocks([0, 0, 1, 1, 1, 1, 1, 1]);
    unit.inputs.alive_i = 0b11;
    unit.arrive(0, 0, 0, Threads::All);
    unit.step();
    unit.arrive(0, 1, 0, Threads::All);
    unit.step();
    unit.hold(0, 0);
    assert_eq!(unit.step().open_o, 0b11);
    let out = unit.step();
    assert_eq!((out.held_o, unit.probe().arrived_q), (0b01, 0));
    unit.hold(1, 0);
    unit.arrive(0, 0, 0, Threads::All);
    (unit.inputs.start_valid_i, unit.inputs.start_warp_i) = (1, 0);
    unit.step();
    assert_eq!((unit.step().held_o, unit.probe().arrived_q), (0, 0));
}

#[test]
fn reset_forgets_who_waits() {
    let mut unit = Driver::with_blocks([0; 8]);
    unit.hold(0, 3);
    unit.arrive(0, 2, 0, Threads::All);
    unit.step();
    unit.step();
    unit.inputs.rst_ni = 0;
    unit.hold(0, 4);
    unit.arrive(0, 5, 0, Threads::Constant(1));
    unit.step();
    unit.inputs.rst_ni = 1;
    let out = unit.step();
    let probe = unit.probe();
    assert_eq!((out.held_o, out.fault_valid_o, probe.arrived_q, probe.scan_q), (0, 0, 0, 0));
}

use super::*;
use crate::designs::Organisation;
use crate::mrf::{MrfShape, MrfSizes};
use crate::testing::{Driver, SM_SHAPES, UNIFIED_SHAPES, organisation_with};

/// 32 warps, 16 banks of 64 rows, 64 KB of shared memory.
const SHAPE: SmShape = SM_SHAPES[0];

/// One block of one warp.
const SMALL: Launch = Launch {
    grid: Coordinates { x: 1, y: 1, z: 1 },
    block: Coordinates { x: 32, y: 1, z: 1 },
    threads: 32,
    registers: 1,
    share: false,
    private: 0,
    private_shared: 0,
    shared: 0,
    dynamic: 0,
    local_words: 0,
    partition: Partition::NOTHING,
    shared_rows: 0,
};

impl Driver<BlockLauncher> {
    fn launched(launch: &Launch) -> Self {
        Self::launched_in(&SHAPE, launch)
    }

    fn launched_in(shape: &SmShape, launch: &Launch) -> Self {
        let mut launcher = Self::divided(shape);
        launcher.inputs.idle_i = shape.all_warps();
        launcher.inputs.memory_idle_i = 1;
        launcher.launch(launch);
        launcher
    }

    /// With all block slots.
    fn divided(shape: &SmShape) -> Self {
        let mut launcher = Self::new(shape);
        launcher.inputs.cfg_i = BLOCK_SLOTS as u8;
        launcher
    }

    fn launch(&mut self, launch: &Launch) -> BlockLauncherOut {
        let inputs = &mut self.inputs;
        inputs.launch_valid_i = 1;
        (inputs.launch_share_i, inputs.launch_private_i) = (launch.share.into(), launch.private);
        (inputs.launch_grid_x_i, inputs.launch_grid_y_i, inputs.launch_grid_z_i) =
            (launch.grid.x, launch.grid.y, launch.grid.z);
        (inputs.launch_block_x_i, inputs.launch_block_y_i, inputs.launch_block_z_i) =
            (launch.block.x as u16, launch.block.y, launch.block.z as u8);
        (inputs.launch_threads_i, inputs.launch_registers_i) = (launch.threads, launch.registers);
        inputs.launch_private_shared_i = launch.private_shared;
        (inputs.launch_shared_i, inputs.launch_dynamic_i) = (launch.shared, launch.dynamic);
        inputs.launch_local_i = launch.local_words;
        inputs.launch_register_rows_i = launch.partition.register_rows;
        (inputs.launch_cache_i, inputs.launch_shared_rows_i) = (launch.partition.cache_log, launch.shared_rows);
        let out = self.cycle();
        self.inputs.launch_valid_i = 0;
        out
    }

    /// Goes on until `wanted`; gives that cycle's outputs.
    fn until(&mut self, wanted: impl Fn(&BlockLauncherOut) -> bool) -> BlockLauncherOut {
        (0..2000).map(|_| self.cycle()).find(|out| wanted(out)).expect("it comes soon")
    }

    /// The warp that begins in this cycle, which is alive from the next one on, and its lanes.
    fn start(&mut self) -> Option<(u8, u32)> {
        let out = self.cycle();
        if out.start_valid_o == 0 {
            return None;
        }
        self.inputs.alive_i |= 1 << out.start_warp_o;
        Some((out.start_warp_o, out.start_mask_o))
    }

    /// The block of a warp, and the warp's number in it.
    fn block_of(&mut self, warp: u8) -> (u8, [u32; 3]) {
        self.inputs.block_warp_i = warp;
        let out = self.cycle();
        (out.block_index_o, [out.block_x_o, out.block_y_o.into(), out.block_z_o.into()])
    }
}

/// Slots into which the SM is divided.
fn slots(launch: &Launch) -> u8 {
    let mut launcher = Driver::launched(launch);
    launcher.until(|out| out.tid_we_o == 1);
    launcher.probe().slots_q
}

#[test]
fn the_sm_is_divided_by_what_runs_out_first() {
    assert_eq!(slots(&SMALL), 16, "as many as there can be");
    let warps = |threads| slots(&Launch { threads, ..SMALL });
    assert_eq!([warps(33), warps(64), warps(65), warps(1024)], [16, 16, 10, 1]);
    // 64 rows of 16 registers.
    let registers = |registers, threads| slots(&Launch { registers, threads, ..SMALL });
    assert_eq!([registers(64, 32), registers(65, 32), registers(255, 32)], [16, 12, 4]);
    assert_eq!([registers(80, 96), registers(32, 512), registers(33, 512)], [4, 2, 1]);
    let shared = |shared| slots(&Launch { shared, ..SMALL });
    assert_eq!([shared(4096), shared(4097), shared(65536), shared(65409)], [16, 15, 1, 1]);
}

#[test]
fn slots_have_their_warps_rows_and_shared_memory() {
    let launch = Launch { threads: 65, shared: 300, dynamic: 20, local_words: 9, registers: 17, ..SMALL };
    let mut launcher = Driver::launched(&launch);
    let out = launcher.until(|out| out.tid_we_o == 1);
    assert_eq!((out.rows_o, out.shared_bytes_o, out.dynamic_o, out.local_words_o), (2, 300, 20, 9));
    assert_eq!(launcher.probe().slots_q, 10);
    for warp in 0..30u8 {
        launcher.inputs.place_warp_i = warp;
        launcher.inputs.block_warp_i = warp;
        let out = launcher.cycle();
        assert_eq!((out.slot_o[usize::from(warp)], out.block_index_o), (warp / 3, warp % 3));
        assert_eq!(out.place_base_o, 384 * u32::from(warp / 3));
    }
}

#[test]
fn a_block_that_does_not_fit_is_a_fault() {
    let too_large = [
        Launch { threads: 1024, registers: 33, ..SMALL },
        Launch { shared: 65537, ..SMALL },
        Launch { shared: 65536 + 128, ..SMALL },
    ];
    for launch in too_large {
        let mut launcher = Driver::launched(&launch);
        let out = launcher.cycle();
        assert_eq!((out.busy_o, out.fault_valid_o), (1, 0));
        let out = launcher.launch(&SMALL);
        assert_eq!((out.busy_o, out.fault_valid_o, out.done_o), (0, 1, 0));
        let out = launcher.cycle();
        assert_eq!((out.busy_o, out.fault_valid_o), (1, 0), "for one cycle, and the next grid has been taken");
    }
    // More warps than there are.
    let mut launcher = Driver::<BlockLauncher>::divided(&SM_SHAPES[1]);
    launcher.launch(&Launch { threads: 257, ..SMALL });
    assert_eq!(launcher.until(|out| out.busy_o == 0).fault_valid_o, 1);
}

#[test]
fn coordinates_count_x_first_for_all_lanes() {
    for (x, y, z) in [(32, 1, 1), (3, 5, 7), (1, 33, 1), (1, 1, 64), (2, 3, 11), (1024, 1, 1), (1, 1, 1)] {
        let threads = x as u16 * y * z;
        let mut launcher = Driver::launched(&Launch { block: Coordinates { x, y, z }, threads, ..SMALL });
        launcher.until(|out| out.fault_valid_o == 0 && out.tid_we_o == 0 && out.busy_o == 1);
        let mut out = launcher.until(|out| out.tid_we_o == 1);
        let lanes = u32::from(threads).next_multiple_of(32);
        for first in (0..lanes).step_by(4) {
            assert_eq!(
                (out.tid_we_o, out.tid_index_o, out.tid_group_o),
                (1, (first / 32) as u8, (first / 4 % 8) as u8)
            );
            for (lane, word) in (first..).zip(out.tid_data_o) {
                let (tx, ty, tz) = (lane % x, lane / x % u32::from(y), lane / x / u32::from(y));
                assert_eq!(word, (tz & 0x3f) << 20 | ty << 10 | tx, "lane {lane} of {x}, {y}, {z}");
            }
            out = launcher.cycle();
        }
        assert_eq!((out.tid_we_o, launcher.probe().state_q), (0, 3));
    }
}

#[test]
fn warps_of_a_block_begin_one_after_another_the_last_with_the_lanes_that_are_left() {
    for (threads, last) in [(65, 1), (95, u32::MAX >> 1), (96, u32::MAX)] {
        let grid = Coordinates { x: 2, y: 1, z: 1 };
        let mut launcher = Driver::launched(&Launch { threads, grid, ..SMALL });
        launcher.until(|out| out.tid_we_o == 1);
        let started: Vec<_> = (0..60).map(|_| launcher.start()).skip_while(Option::is_none).take(9).collect();
        let all = u32::MAX;
        let first = [Some((0, all)), Some((1, all)), Some((2, last)), None];
        let second = [Some((3, all)), Some((4, all)), Some((5, last)), None, None];
        assert_eq!(started, [&first[..], &second[..]].concat());
    }
}

#[test]
fn a_slot_takes_another_block_when_all_its_warps_have_ended() {
    let launch = Launch { threads: 256, grid: Coordinates { x: 2, y: 2, z: 2 }, ..SMALL };
    let mut launcher = Driver::launched(&launch);
    launcher.until(|out| out.tid_we_o == 1);
    let run = |launcher: &mut Driver<BlockLauncher>| {
        (0..60).fold(0u64, |set, _| set | launcher.start().map_or(0, |(warp, _)| 1 << warp))
    };
    launcher.until(|out| out.tid_we_o == 0);
    assert_eq!(run(&mut launcher), 0xffff_ffff);
    assert_eq!(launcher.out.slot_busy_o, 0b1111);
    assert_eq!(
        [0, 8, 16, 24].map(|w| launcher.block_of(w)),
        [(0, [0, 0, 0]), (0, [1, 0, 0]), (0, [0, 1, 0]), (0, [1, 1, 0])]
    );

    // Of slot 2 one warp is alive, of slot 1 something is in flight: neither is free. Slots 0 and 3 become free at one edge.
    launcher.inputs.alive_i = 1 << 20;
    launcher.inputs.idle_i &= !(1 << 15);
    launcher.cycle();
    launcher.cycle();
    assert_eq!(launcher.out.slot_busy_o, 0b0110);
    assert_eq!(run(&mut launcher), 0xff00_00ff);
    assert_eq!([7, 31].map(|w| launcher.block_of(w)), [(7, [0, 0, 1]), (7, [1, 0, 1])]);

    // The last two blocks, then nothing more.
    launcher.inputs.alive_i = 0;
    launcher.inputs.idle_i |= 1 << 15;
    launcher.inputs.memory_idle_i = 0;
    launcher.cycle();
    assert_eq!(run(&mut launcher), 0x0000_ffff);
    launcher.inputs.alive_i = 0;
    launcher.cycle();
    assert_eq!(launcher.cycle().busy_o, 1, "a request waits");
    launcher.inputs.memory_idle_i = 1;
    launcher.cycle();
    let out = launcher.launch(&SMALL);
    assert_eq!((out.busy_o, out.done_o), (0, 1));
    assert_eq!(launcher.cycle().done_o, 0);
}

#[test]
fn a_grid_that_is_drained_ends_with_the_blocks_that_have_begun() {
    let launch = Launch { threads: 128, grid: Coordinates { x: 20, y: 3, z: 2 }, ..SMALL };
    let mut launcher = Driver::launched(&launch);
    launcher.until(|out| out.start_valid_o == 1);
    // The second block has begun, of which three warps are to come.
    let begun: Vec<_> = (0..5).filter_map(|_| launcher.start()).map(|(warp, _)| warp).collect();
    assert_eq!(begun, [1, 2, 3, 4]);
    launcher.block.drain();
    let rest: Vec<_> = (0..60).filter_map(|_| launcher.start()).map(|(warp, _)| warp).collect();
    assert_eq!((rest, launcher.out.slot_busy_o), (vec![5, 6, 7], 0b11));
    assert_eq!((launcher.out.nctaid_x_o, launcher.out.nctaid_y_o, launcher.out.nctaid_z_o), (20, 3, 2));
    launcher.inputs.alive_i = 0;
    launcher.until(|out| out.done_o == 1);
    // The next grid is whole.
    launcher.launch(&Launch { grid: Coordinates { x: 2, y: 1, z: 1 }, ..SMALL });
    let next: Vec<_> = (0..60).filter_map(|_| launcher.start()).map(|(warp, _)| warp).collect();
    assert_eq!(next, [0, 1]);
}

#[test]
fn a_block_that_is_being_started_has_not_ended() {
    let mut launcher = Driver::launched(&Launch { threads: 128, ..SMALL });
    launcher.until(|out| out.start_valid_o == 1);
    // No warp ever comes to life.
    for _ in 0..3 {
        let out = launcher.cycle();
        assert_eq!((out.start_valid_o, launcher.out.slot_busy_o), (1, 1));
    }
    launcher.cycle();
    assert_eq!(launcher.out.slot_busy_o, 1);
    launcher.cycle();
    assert_eq!(launcher.out.slot_busy_o, 0);
}

#[test]
fn a_grid_in_progress_is_not_disturbed_and_reset_ends_it() {
    let mut launcher = Driver::launched(&Launch { threads: 65, shared: 5, ..SMALL });
    launcher.launch(&SMALL);
    let out = launcher.until(|out| out.start_valid_o == 1);
    assert_eq!((out.shared_bytes_o, launcher.probe().warps_q), (5, 3));
    launcher.inputs.rst_ni = 0;
    launcher.launch(&SMALL);
    launcher.inputs.rst_ni = 1;
    let out = launcher.cycle();
    let probe = launcher.probe();
    assert_eq!((out.busy_o, out.start_valid_o, probe.slots_q, out.slot_busy_o), (0, 0, 0, 0));
    assert_eq!((out.slot_o, probe.index_q, probe.slot_base_q), ([0; MAX_WARPS], [0; MAX_WARPS], [0; BLOCK_SLOTS]));
}

#[test]
fn a_divided_sm_is_fresh_until_warps_begin_and_has_rows_to_spare_or_not() {
    // Blocks of two warps: 64 rows are all taken by 32 warps with two rows and by 16 with four, not by 20 with three.
    for (registers, warps, spare) in [(32, 32, 0), (64, 16, 0), (33, 20, 1), (1, 32, 1)] {
        let mut launcher = Driver::launched(&Launch { threads: 64, registers, ..SMALL });
        assert_eq!(launcher.cycle().fresh_o, 0, "it is being divided");
        let out = launcher.until(|out| out.fresh_o == 1);
        assert_eq!((out.tid_we_o, out.spare_o, out.start_valid_o), (1, spare, 0));
        assert_eq!(out.end_warps_o, warps);
        let out = launcher.until(|out| out.fresh_o == 0);
        assert_eq!((out.busy_o, out.tid_we_o, out.start_valid_o), (1, 0, 0));
    }
}

#[test]
fn rows_are_counted_in_banks() {
    for (banks, registers, rows) in [(16, 16, 1), (16, 17, 2), (4, 255, 64), (2, 255, 128), (32, 1, 1)] {
        let mut launcher = Driver::<BlockLauncher>::divided(&SmShape { mrf: MrfShape { banks, ..SHAPE.mrf }, ..SHAPE });
        launcher.launch(&Launch { registers, ..SMALL });
        assert_eq!(launcher.cycle().rows_o, rows);
    }
}

#[test]
fn where_rows_are_paired_so_are_warps_and_they_have_64_registers_at_most() {
    let organisation = organisation_with(|services| services.pairs_rows && services.max_registers == 64);
    let shape = SmShape { mrf: MrfShape { banks: 2, depth: 512, ..SHAPE.mrf }, organisation, ..SHAPE };
    // Three blocks of five warps take the rows of 16, one of 17 those of 18.
    for (warps, registers, slots) in
        [(5, 64, 3), (5, 63, 3), (5, 66, 0), (15, 64, 1), (16, 64, 1), (17, 56, 1), (17, 58, 0)]
    {
        let mut launcher = Driver::<BlockLauncher>::divided(&shape);
        (launcher.inputs.idle_i, launcher.inputs.memory_idle_i) = (u64::MAX >> 32, 1);
        let threads = 32 * warps;
        let block = Coordinates { x: threads.into(), ..SMALL.block };
        launcher.launch(&Launch { registers, threads, block, ..SMALL });
        let out = launcher.until(|out| out.fault_valid_o != 0 || out.start_valid_o != 0);
        assert_eq!((out.fault_valid_o, launcher.probe().slots_q), (u8::from(slots == 0), slots), "{warps} {registers}");
    }
}

/// 48 warps, 1024 registers, 64 KB of shared memory, registers one by one.
fn with_places() -> SmShape {
    let organisation = Organisation::Mrf(MrfSizes { places: true });
    SmShape { mrf: MrfShape { places: true, ..SHAPE.mrf }, organisation, warps: 48, ..SHAPE }
}

/// The SM divided for a grid: slots, slots of hosts, warps of all slots, and the layout.
fn divided(most_slots: u8, launch: &Launch) -> (u8, u8, u8, RegisterLayoutFields) {
    let mut launcher = Driver::<BlockLauncher>::divided(&with_places());
    launcher.inputs.cfg_i = most_slots;
    launcher.launch(launch);
    let out = launcher.until(|out| out.tid_we_o == 1);
    let probe = launcher.probe();
    assert_eq!(probe.extending_q, 0);
    (probe.slots_q, probe.hosts_q, out.end_warps_o, RegisterLayout(out.layout_o).fields())
}

#[test]
fn block_slots_are_limited_by_the_strap() {
    for most_slots in 1..=16 {
        let (slots, ..) = divided(most_slots, &SMALL);
        assert_eq!(slots, most_slots);
    }
}

#[test]
fn registers_are_handed_out_one_by_one_and_shared_memory_in_words() {
    // 8 warps of 21 registers: 6 blocks take 1008 of 1024; in rows of 16 there would be 4.
    let launch = Launch { threads: 256, registers: 21, ..SMALL };
    let layout = RegisterLayoutFields { guest_base: 0, host_warps: 48, private_registers: 9, registers: 21 };
    assert_eq!(divided(16, &Launch { private: 9, ..launch }), (6, 0, 48, layout));
    let registers = |registers| divided(16, &Launch { threads: 256, registers, ..SMALL }).0;
    assert_eq!([registers(32), registers(33), registers(64), registers(65), registers(128)], [4, 3, 2, 1, 1]);
    // 3 blocks of 21844 bytes are 65532 of 65536; in lines of 128 bytes they are more.
    let shared = |shared| divided(16, &Launch { shared, ..SMALL }).0;
    assert_eq!([shared(21844), shared(21845), shared(16384), shared(16385)], [3, 2, 4, 3]);
    let mut launcher = Driver::launched_in(&with_places(), &Launch { shared: 5, ..SMALL });
    launcher.until(|out| out.tid_we_o == 1);
    assert_eq!((launcher.probe().shared_step_q, launcher.probe().slot_base_q[3]), (8, 24));
}

#[test]
fn guests_are_added_as_long_as_there_is_room() {
    let launch = Launch { threads: 256, registers: 36, share: true, private: 4, ..SMALL };
    let layout = |hosts: u8, launch: &Launch| RegisterLayoutFields {
        guest_base: u16::from(hosts) * u16::from(launch.registers) % 4096,
        host_warps: hosts,
        private_registers: launch.private,
        registers: launch.registers,
    };
    // 3 hosts of 288 registers leave 160 for private parts of 32: 48 warps are 6 blocks.
    assert_eq!(divided(16, &launch), (6, 3, 48, layout(24, &launch)));
    assert_eq!(divided(5, &launch), (5, 3, 40, layout(24, &launch)), "by slots");
    // 160 are enough for two private parts of 72.
    let halves = Launch { private: 9, ..launch };
    assert_eq!(divided(16, &halves), (5, 3, 40, layout(24, &halves)), "by registers");
    let shared = Launch { shared: 16384, private_shared: 16384, ..launch };
    assert_eq!(divided(16, &shared), (4, 3, 32, layout(24, &shared)), "by shared memory");
    // Two hosts of 8 warps, and no more guests than hosts.
    let few = Launch { registers: 60, private: 1, ..launch };
    assert_eq!(divided(16, &few), (4, 2, 32, layout(16, &few)), "by hosts");
    // What fits whole needs no guests; the layout is the same but for fields that only guests use.
    let whole = Launch { registers: 21, private: 3, ..launch };
    assert_eq!(divided(16, &whole), (6, 6, 48, layout(48, &whole)), "none");
    let alone = Launch { share: false, ..launch };
    let undivided = RegisterLayoutFields { guest_base: 0, ..layout(48, &launch) };
    assert_eq!(divided(16, &alone), (3, 0, 24, undivided), "not asked for");
}

#[test]
fn guests_and_hosts_have_their_warps_and_their_shared_memory() {
    let launch =
        Launch { threads: 256, registers: 36, share: true, private: 4, shared: 4097, private_shared: 4097, ..SMALL };
    let mut launcher = Driver::launched_in(&with_places(), &launch);
    launcher.until(|out| out.tid_we_o == 1);
    for warp in 0..48u8 {
        (launcher.inputs.place_warp_i, launcher.inputs.block_warp_i) = (warp, warp);
        let out = launcher.cycle();
        assert_eq!((out.slot_o[usize::from(warp)], out.block_index_o), (warp / 8, warp % 8));
        assert_eq!(out.place_base_o, 4100 * u32::from(warp / 8));
        assert_eq!(out.place_common_o, 4100 * u32::from(warp / 8 % 3), "that of the host");
    }
}

#[test]
fn guests_have_the_private_part_of_shared_memory_and_all_their_registers() {
    // 3 hosts of 20,001 bytes leave 5,524 of 65,536 for private parts of 2,001.
    let registers = Launch { threads: 32, registers: 10, share: true, private: 10, ..SMALL };
    let launch = Launch { shared: 20_001, private_shared: 2001, ..registers };
    let layout = RegisterLayoutFields { guest_base: 30, host_warps: 3, private_registers: 10, registers: 10 };
    assert_eq!(divided(16, &launch), (5, 3, 5, layout));
    assert_eq!(divided(4, &launch).0, 4, "by slots");
    assert_eq!(divided(16, &Launch { private_shared: 1840, ..launch }).0, 6, "by hosts");
    assert_eq!(divided(16, &Launch { private_shared: 5525, ..launch }).0, 3, "by shared memory");
    assert_eq!(divided(16, &Launch { registers: 255, private: 255, ..launch }).0, 4, "by registers");
    assert_eq!(
        divided(16, &Launch { share: false, ..launch }),
        (3, 0, 3, RegisterLayoutFields { guest_base: 0, host_warps: 48, ..layout })
    );
    let mut launcher = Driver::launched_in(&with_places(), &launch);
    launcher.until(|out| out.tid_we_o == 1);
    let place = |launcher: &mut Driver<BlockLauncher>, warp| {
        launcher.inputs.place_warp_i = warp;
        let out = launcher.cycle();
        assert_eq!((out.private_bytes_o, out.shared_bytes_o), (2001, 20_001));
        (out.place_base_o, out.place_common_o)
    };
    let places = [0, 1, 2, 3, 4].map(|warp| place(&mut launcher, warp));
    assert_eq!(places, [(0, 0), (20_004, 20_004), (40_008, 40_008), (60_012, 0), (62_016, 20_004)]);
    launcher.inputs.rst_ni = 0;
    launcher.cycle();
    launcher.inputs.rst_ni = 1;
    assert_eq!(place_alone(&mut launcher), (0, 0, 0));
}

/// After reset: bases and private bytes.
fn place_alone(launcher: &mut Driver<BlockLauncher>) -> (u32, u32, u32) {
    let out = launcher.cycle();
    (out.place_base_o, out.place_common_o, out.private_bytes_o)
}

#[test]
fn the_younger_block_of_a_pair_is_the_one_that_came_last() {
    let grid = Coordinates { x: 20, y: 1, z: 1 };
    let launch = Launch { threads: 256, registers: 36, share: true, private: 4, grid, ..SMALL };
    let mut launcher = Driver::launched_in(&with_places(), &launch);
    launcher.inputs.cfg_i = 5;
    let mut seen = vec![];
    let mut note = |launcher: &mut Driver<BlockLauncher>| {
        launcher.start();
        let out = launcher.cycle();
        seen.push((out.slot_busy_o, out.slot_young_o));
        seen.dedup();
    };
    (0..600).for_each(|_| note(&mut launcher));
    // Hosts 0, 1, 2, then guests 3 and 4, of hosts 0 and 1. Host 2 has no guest.
    let began = [(0, 0), (0b1, 0b1), (0b11, 0b11), (0b111, 0b11), (0b1111, 0b1010), (0b11111, 0b11000)];
    assert_eq!(seen, began);
    let mut end = |slot: u8| {
        launcher.inputs.alive_i &= !(0xff << (8 * slot));
        let mut last = (0, 0);
        for _ in 0..60 {
            launcher.start();
            let out = launcher.cycle();
            last = (out.slot_busy_o, out.slot_young_o);
        }
        last
    };
    // The next block in the place of host 0 is younger than guest 3; then guest 4 stays the younger one of its pair.
    assert_eq!([end(0), end(4), end(2), end(3)].map(|seen| seen.1), [0b10001, 0b10001, 0b10001, 0b11000]);
}

#[test]
fn reset_and_a_launch_forget_who_is_younger() {
    let launch = Launch { threads: 256, registers: 36, share: true, private: 4, ..SMALL };
    let mut launcher = Driver::launched_in(&with_places(), &launch);
    launcher.inputs.alive_i = 0;
    assert_eq!(launcher.until(|out| out.slot_busy_o == 1).slot_young_o, 1);
    launcher.until(|out| out.done_o == 1);
    launcher.launch(&Launch { share: false, ..launch });
    let out = launcher.cycle();
    assert_eq!((out.slot_young_o, launcher.probe().hosts_q, launcher.probe().share_q), (0, 0, 0));
    assert_eq!(launcher.until(|out| out.slot_busy_o == 1).slot_young_o, 0);
    launcher.inputs.rst_ni = 0;
    launcher.cycle();
    let out = launcher.cycle();
    assert_eq!((out.layout_o, out.slot_young_o, out.slot_busy_o), (0, 0, 0));
}

#[test]
fn without_places_there_is_no_layout_and_no_guest() {
    let launch = Launch { threads: 256, registers: 36, share: true, private: 4, private_shared: 8, ..SMALL };
    let mut launcher = Driver::launched(&launch);
    let out = launcher.until(|out| out.tid_we_o == 1);
    assert_eq!((out.private_bytes_o, out.place_common_o), (0, out.place_base_o));
    assert_eq!((out.layout_o, out.slot_young_o, out.end_warps_o, launcher.probe().slots_q), (0, 0, 16, 2));
}

#[test]
fn with_unified_memory_the_launch_divides_the_rows() {
    // 96 rows, of which the largest cache has four.
    let shape = &UNIFIED_SHAPES[0];
    let launch = |register_rows, shared_rows, cache_log| Launch {
        threads: 64,
        registers: 9,
        shared: 200,
        partition: Partition { register_rows, cache_log },
        shared_rows,
        ..SMALL
    };
    let slots = |launch: &Launch| {
        let mut launcher = Driver::launched_in(shape, launch);
        let out = launcher.until(|out| out.tid_we_o | out.fault_valid_o == 1);
        (out.fault_valid_o == 0).then(|| launcher.probe().slots_q)
    };
    // A block has two warps of three rows, and 256 bytes.
    assert_eq!([slots(&launch(24, 92 - 24, 4)), slots(&launch(23, 20, 3))], [Some(4), Some(3)]);
    assert_eq!([slots(&launch(24, 1, 0)), slots(&launch(24, 2, 0))], [Some(2), Some(4)]);
    assert_eq!([slots(&launch(5, 8, 0)), slots(&launch(6, 0, 0))], [None, None]);
    assert_eq!(slots(&launch(24, 93 - 24, 4)), None, "one row too many");
    assert_eq!(slots(&launch(24, 96 - 24, 0)), Some(4));

    let mut launcher = Driver::launched_in(shape, &launch(12, 7, 3));
    let out = launcher.until(|out| out.tid_we_o == 1);
    assert_eq!((out.register_rows_o, out.cache_log_o, launcher.probe().shared_rows_q), (12, 3, 7));
    launcher.inputs.place_warp_i = 3;
    assert_eq!(launcher.cycle().place_base_o, 256);
    launcher.inputs.rst_ni = 0;
    launcher.cycle();
    launcher.inputs.rst_ni = 1;
    let out = launcher.cycle();
    assert_eq!((out.register_rows_o, out.cache_log_o, launcher.probe().shared_rows_q), (0, 0, 0));
}

#[test]
fn shared_memory_of_unified_memory_may_lie_far_away() {
    // 768 rows of 512 bytes: places have 19 bits.
    let launch =
        Launch { shared: 40_000, partition: Partition { register_rows: 10, cache_log: 0 }, shared_rows: 758, ..SMALL };
    let mut launcher = Driver::launched_in(&UNIFIED_SHAPES[1], &launch);
    launcher.until(|out| out.tid_we_o == 1);
    assert_eq!(launcher.probe().slots_q, 9);
    launcher.inputs.place_warp_i = 8;
    assert_eq!(launcher.cycle().place_base_o, 8 * 40_064);
}

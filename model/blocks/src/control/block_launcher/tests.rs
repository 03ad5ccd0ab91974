use super::*;
use crate::mrf::MrfShape;
use crate::testing::{Driver, SM_SHAPES, organisation_with};

/// 32 warps, 16 banks of 64 rows, 64 KB of shared memory.
const SHAPE: SmShape = SM_SHAPES[0];

/// One block of one warp.
const SMALL: Launch = Launch {
    grid: Coordinates { x: 1, y: 1, z: 1 },
    block: Coordinates { x: 32, y: 1, z: 1 },
    threads: 32,
    registers: 1,
    shared: 0,
    dynamic: 0,
    local_words: 0,
};

impl Driver<BlockLauncher> {
    fn launched(launch: &Launch) -> Self {
        let mut launcher = Self::new(&SHAPE);
        launcher.inputs.idle_i = u64::MAX >> 32;
        launcher.inputs.memory_idle_i = 1;
        launcher.launch(launch);
        launcher
    }

    fn launch(&mut self, launch: &Launch) -> BlockLauncherOut {
        let inputs = &mut self.inputs;
        inputs.launch_valid_i = 1;
        (inputs.launch_grid_x_i, inputs.launch_grid_y_i, inputs.launch_grid_z_i) =
            (launch.grid.x, launch.grid.y, launch.grid.z);
        (inputs.launch_block_x_i, inputs.launch_block_y_i, inputs.launch_block_z_i) =
            (launch.block.x as u16, launch.block.y, launch.block.z as u8);
        (inputs.launch_threads_i, inputs.launch_registers_i) = (launch.threads, launch.registers);
        (inputs.launch_shared_i, inputs.launch_dynamic_i) = (launch.shared, launch.dynamic);
        inputs.launch_local_i = launch.local_words;
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
    let mut launcher = Driver::<BlockLauncher>::new(&SM_SHAPES[1]);
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
    assert_eq!(launcher.probe().slot_busy_q, 0b1111);
    assert_eq!(
        [0, 8, 16, 24].map(|w| launcher.block_of(w)),
        [(0, [0, 0, 0]), (0, [1, 0, 0]), (0, [0, 1, 0]), (0, [1, 1, 0])]
    );

    // Of slot 2 one warp is alive, of slot 1 something is in flight: neither is free. Slots 0 and 3 become free at one edge.
    launcher.inputs.alive_i = 1 << 20;
    launcher.inputs.idle_i &= !(1 << 15);
    launcher.cycle();
    launcher.cycle();
    assert_eq!(launcher.probe().slot_busy_q, 0b0110);
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
fn a_block_that_is_being_started_has_not_ended() {
    let mut launcher = Driver::launched(&Launch { threads: 128, ..SMALL });
    launcher.until(|out| out.start_valid_o == 1);
    // No warp ever comes to life.
    for _ in 0..3 {
        let out = launcher.cycle();
        assert_eq!((out.start_valid_o, launcher.probe().slot_busy_q), (1, 1));
    }
    launcher.cycle();
    assert_eq!(launcher.probe().slot_busy_q, 1);
    launcher.cycle();
    assert_eq!(launcher.probe().slot_busy_q, 0);
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
    assert_eq!((out.busy_o, out.start_valid_o, probe.slots_q, probe.slot_busy_q), (0, 0, 0, 0));
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
        assert_eq!(launcher.probe().first_q, warps);
        let out = launcher.until(|out| out.fresh_o == 0);
        assert_eq!((out.busy_o, out.tid_we_o, out.start_valid_o), (1, 0, 0));
    }
}

#[test]
fn rows_are_counted_in_banks() {
    for (banks, registers, rows) in [(16, 16, 1), (16, 17, 2), (4, 255, 64), (2, 255, 128), (32, 1, 1)] {
        let mut launcher = Driver::<BlockLauncher>::new(&SmShape { mrf: MrfShape { banks, ..SHAPE.mrf }, ..SHAPE });
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
        let mut launcher = Driver::<BlockLauncher>::new(&shape);
        (launcher.inputs.idle_i, launcher.inputs.memory_idle_i) = (u64::MAX >> 32, 1);
        let threads = 32 * warps;
        let block = Coordinates { x: threads.into(), ..SMALL.block };
        launcher.launch(&Launch { registers, threads, block, ..SMALL });
        let out = launcher.until(|out| out.fault_valid_o != 0 || out.start_valid_o != 0);
        assert_eq!((out.fault_valid_o, launcher.probe().slots_q), (u8::from(slots == 0), slots), "{warps} {registers}");
    }
}

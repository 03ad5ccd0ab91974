//! Residency against the tables and examples of the sharing thesis, against its equations, and against the block launcher.

use gpurf_blocks::Block as _;
use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::control::{BlockLauncher, Coordinates, Launch};
use gpurf_sm::residency::{Demand, Residency, Resource, Room, Sharing, table_bits};

use Resource::{Registers, Scratchpad};

/// The thesis's SM (table 2.3): 32,768 registers of threads, 1,536 threads, 8 blocks.
fn room(scratchpad: u32) -> Room {
    Room { warps: 48, blocks: 8, registers: 1024, register_step: 1, scratchpad, scratchpad_step: 4, pool: None }
}

fn demand(threads: u32, registers: u32, scratchpad: u32) -> Demand {
    Demand { warps: threads.div_ceil(32), registers, scratchpad }
}

/// A kernel: threads of a block, registers of a thread or bytes of a block, blocks that reside with the percentages of `SHARED`.
type Row = (&'static str, u32, u32, [u32; 6]);

/// The columns of tables 2.6 and 2.8.
const SHARED: [u32; 6] = [0, 10, 30, 50, 70, 90];

/// Tables 2.1 and 2.6.
const BY_REGISTERS: [Row; 8] = [
    ("backprop", 256, 24, [5, 5, 5, 5, 6, 6]),
    ("b+tree", 508, 24, [2, 2, 2, 3, 3, 3]),
    ("hotspot", 256, 36, [3, 3, 3, 4, 4, 6]),
    ("LIB", 192, 36, [4, 4, 5, 5, 6, 8]),
    ("MUM", 256, 28, [4, 4, 4, 5, 5, 6]),
    ("mri-q", 256, 24, [5, 5, 5, 5, 6, 6]),
    ("sgemm", 128, 48, [5, 5, 5, 5, 6, 8]),
    ("stencil", 512, 28, [2, 2, 2, 2, 2, 3]),
];

/// Tables 2.2 and 2.8.
const BY_SCRATCHPAD: [Row; 7] = [
    ("CONV1", 64, 2560, [6, 6, 6, 6, 7, 8]),
    ("CONV2", 128, 5184, [3, 3, 3, 3, 3, 4]),
    ("lavaMD", 128, 7200, [2, 2, 2, 2, 2, 4]),
    ("NW1", 16, 2180, [7, 7, 7, 8, 8, 8]),
    ("NW2", 16, 2180, [7, 7, 7, 8, 8, 8]),
    ("SRAD1", 256, 6144, [2, 2, 2, 3, 4, 4]),
    ("SRAD2", 256, 5120, [3, 3, 3, 3, 3, 5]),
];

/// The kernels of chapter 3, and the blocks that section 3.4.1.1 says reside without sharing and with 90 %: threads and bytes of a
/// block. (NW's bytes are not known: there one and two reside, and of its blocks of table 2.2 it would be more.)
const OF_CHAPTER_3: [(&str, u32, u32, [u32; 2]); 13] = [
    ("backprop", 256, 9408, [1, 2]),
    ("DCT1", 64, 2112, [7, 14]),
    ("DCT2", 64, 2112, [7, 14]),
    ("DCT3", 128, 2176, [7, 12]),
    ("DCT4", 128, 2176, [7, 12]),
    ("NQU", 64, 10496, [1, 2]),
    ("SRAD1", 576, 13824, [1, 2]),
    ("SRAD2", 576, 11520, [1, 2]),
    // The thesis says how many more there are with sharing.
    ("FDTD3d", 512, 3840, [4, 6]),
    ("heartwall", 512, 11872, [1, 2]),
    ("histogram", 192, 9216, [1, 2]),
    ("MC1", 32, 9216, [1, 2]),
    ("MC2", 32, 13824, [1, 2]),
];

fn sharing(resource: Resource, percent: u32) -> Option<Sharing> {
    (percent > 0).then(|| Sharing { resource, private_tenths: (100 - percent) / 10 })
}

fn blocks(room: &Room, demand: &Demand, resource: Resource) -> [u32; 6] {
    SHARED.map(|percent| room.residency(demand, sharing(resource, percent)).blocks())
}

#[test]
fn tables_2_6_and_2_8_come_out_exactly() {
    for (name, threads, registers, expected) in BY_REGISTERS {
        assert_eq!(blocks(&room(48 << 10), &demand(threads, registers, 0), Registers), expected, "{name}");
    }
    for (name, threads, bytes, expected) in BY_SCRATCHPAD {
        assert_eq!(blocks(&room(16 << 10), &demand(threads, 1, bytes), Scratchpad), expected, "{name}");
    }
}

#[test]
fn blocks_of_chapter_3_come_out_exactly() {
    // Table 3.2: 65,536 registers of threads, 3,072 threads, 16 blocks, 16 KB.
    let thesis = Room { warps: 96, blocks: 16, registers: 2048, ..room(16 << 10) };
    let half = Room { warps: 48, ..thesis };
    let blocks = |room: &Room, threads, bytes| {
        [None, sharing(Scratchpad, 90)].map(|sharing| room.residency(&demand(threads, 1, bytes), sharing).blocks())
    };
    for (name, threads, bytes, expected) in OF_CHAPTER_3 {
        assert_eq!(blocks(&thesis, threads, bytes), expected, "{name}");
        // An SM of 48 warps, as ours, has them too, but for FDTD3d; that one with half the threads.
        let threads = if name == "FDTD3d" { threads / 2 } else { threads };
        assert_eq!(blocks(&half, threads, bytes), expected, "{name}");
    }
    assert_eq!(blocks(&half, 512, 3840), [3, 3]);
}

/// Of DCT3's twelve blocks five pairs share, and two blocks do not.
#[test]
fn two_blocks_of_dct3_are_alone() {
    let sm = Room { warps: 96, blocks: 16, registers: 2048, ..room(16 << 10) };
    let found = sm.residency(&demand(128, 1, 2176), sharing(Scratchpad, 90));
    assert_eq!((found.hosts - found.guests, found.guests), (2, 5));
    // So it is for 2156 to 2180 bytes, and for no others.
    let bytes: Vec<u32> = (4..=16 << 10)
        .step_by(4)
        .filter(|&bytes| {
            let found = sm.residency(&demand(128, 1, bytes), sharing(Scratchpad, 90));
            (found.hosts, found.guests) == (7, 5)
        })
        .collect();
    assert_eq!((bytes.first(), bytes.last(), bytes.len()), (Some(&2156), Some(&2180), 7));
}

/// A register file that is handed out in rows of 16 gives none of the rows of table 2.6; one whose scratchpad is handed out in
/// lines of 128 bytes not those of NW.
#[test]
fn in_larger_steps_the_tables_do_not_come_out() {
    let rows = Room { register_step: 16, ..room(48 << 10) };
    for (name, threads, registers, thesis) in BY_REGISTERS {
        assert_ne!(blocks(&rows, &demand(threads, registers, 0), Registers), thesis, "{name}");
    }
    let lines = Room { scratchpad_step: 128, ..room(16 << 10) };
    let differ = BY_SCRATCHPAD
        .iter()
        .filter(|(_, threads, bytes, thesis)| blocks(&lines, &demand(*threads, 1, *bytes), Scratchpad) != *thesis);
    assert_eq!(differ.map(|row| row.0).collect::<Vec<_>>(), ["NW1", "NW2"]);
}

#[test]
fn what_is_wasted_is_that_of_examples_2_1_1_and_2_1_2() {
    let (hotspot, lava_md) = (demand(256, 36, 0), demand(128, 1, 7200));
    let (first, second) = (room(48 << 10), room(16 << 10));
    assert_eq!((first.residency(&hotspot, None).hosts, first.wasted(&hotspot, Registers) * 32), (3, 5120));
    assert_eq!((second.residency(&lava_md, None).hosts, second.wasted(&lava_md, Scratchpad)), (2, 1984));
}

/// 36 units, 10 of a block, t = 0.8: with every block in a pair there are two pairs, so that two blocks are sure of progress,
/// of the three that reside without sharing. Hosts are never fewer than those.
#[test]
fn example_2_2_4_is_not_shared() {
    let sm =
        Room { warps: 48, blocks: 8, registers: 36, register_step: 1, scratchpad: 0, scratchpad_step: 4, pool: None };
    let block = Demand { warps: 1, registers: 10, scratchpad: 0 };
    let pair = block.registers + 8;
    let naive_pairs = sm.registers / pair;
    assert_eq!((naive_pairs, sm.residency(&block, None).hosts), (2, 3));
    let found = sm.residency(&block, Some(Sharing { resource: Registers, private_tenths: 8 }));
    assert_eq!(found, Residency { hosts: 3, guests: 0, private: 8 });
}

/// Without a bound on the pairs, equation 2.4 gives more pairs than there are blocks without sharing.
#[test]
fn equation_2_4_needs_a_bound_on_the_pairs() {
    let pairs = |room: u32, block: u32| (room % block) * 10 / block;
    let beyond = |room: u32, rows: &[Row], block: fn(&Row) -> u32| -> Vec<&str> {
        rows.iter().filter(|row| pairs(room, block(row)) > room / block(row)).map(|row| row.0).collect()
    };
    let registers = beyond(32 << 10, &BY_REGISTERS, |row| row.1 * row.2);
    assert_eq!(registers, ["b+tree", "hotspot", "LIB", "MUM"]);
    assert_eq!(beyond(16 << 10, &BY_SCRATCHPAD, |row| row.2), ["SRAD1"]);
}

/// What the thesis's equations say, for every demand that can come: hosts are the blocks without sharing (2.1), everything has
/// room (2.2), and one more guest would not.
#[test]
fn hosts_and_guests_fill_the_sm_and_not_more() {
    let mut with_guests = 0;
    for registers in 1..=64 {
        for warps in 1..=16 {
            for bytes in [0, 4, 1000, 2180, 5000, 9000] {
                let (sm, block) = (room(16 << 10), Demand { warps, registers, scratchpad: bytes });
                let alone = sm.residency(&block, None);
                for (resource, private_tenths) in
                    [Registers, Scratchpad].into_iter().flat_map(|r| (1..10).map(move |t| (r, t)))
                {
                    let Residency { hosts, guests, private } =
                        sm.residency(&block, Some(Sharing { resource, private_tenths }));
                    assert_eq!((hosts, alone.guests), (alone.hosts, 0));
                    let asked = if resource == Registers { registers } else { bytes };
                    assert!(10 * private >= private_tenths * asked && 10 * private < private_tenths * asked + 80);
                    let fits = |guests: u32| {
                        let [of_registers, of_bytes] = match resource {
                            Registers => [hosts * registers + guests * private, (hosts + guests) * bytes],
                            Scratchpad => [(hosts + guests) * registers, hosts * bytes + guests * private],
                        };
                        let (blocks, all_warps) = (hosts + guests, (hosts + guests) * warps);
                        guests <= hosts
                            && blocks <= 8
                            && all_warps <= 48
                            && of_registers * warps <= 1024
                            && of_bytes <= 16 << 10
                    };
                    assert!(
                        fits(guests) && !fits(guests + 1),
                        "{block:?} {resource:?} {private_tenths} {hosts} {guests}"
                    );
                    with_guests += usize::from(guests > 0);
                }
            }
        }
    }
    assert!(with_guests > 1000, "{with_guests}");
}

/// The launcher's twin when it has divided the SM, or found that not one block fits; and the launch.
fn divided(config: &Config, threads: u32, registers: u32, scratchpad: u32) -> (BlockLauncher, Launch) {
    let mut launcher = BlockLauncher::new(&config.sm_shape());
    let one = Coordinates { x: 1, y: 1, z: 1 };
    let launch = Launch {
        grid: one,
        block: Coordinates { x: threads, ..one },
        threads: threads as u16,
        registers: registers as u8,
        share: config.share.present,
        private: config.share.private_registers(registers as u8),
        private_shared: config.share.private_shared(scratchpad),
        shared: scratchpad,
        dynamic: 0,
        local_words: 0,
        ..Launch::default()
    };
    let most = config.sm.blocks as u8;
    launcher.edge(most, Some(&launch), 0, u64::MAX, true);
    while launcher.busy() && launcher.fresh().is_none() {
        launcher.edge(most, None, 0, u64::MAX, true);
    }
    (launcher, launch)
}

/// Slots of a launcher. Warps that no slot has are in slot 0 too.
fn slots(launcher: &BlockLauncher) -> u32 {
    launcher.slots().iter().max().map_or(0, |&last| u32::from(last) + 1)
}

/// The presets of the thesis's machine, with its sizes of blocks.
#[test]
fn the_launcher_has_the_thesis_s_blocks() {
    let config = |preset, settings: &[&str]| {
        Config::load(Start::Preset(preset), settings).unwrap_or_else(|error| panic!("{error}"))
    };
    for (rows, fermi, sharing) in
        [(&BY_REGISTERS[..], "fermi", "share-registers"), (&BY_SCRATCHPAD, "fermi-16k", "share-scratchpad")]
    {
        for &(name, threads, amount, expected) in rows {
            let (registers, bytes) = if fermi == "fermi" { (amount, 0) } else { (1, amount) };
            let found = SHARED.map(|percent| {
                let private = format!("share.private={}", (100 - percent) / 10);
                let config = if percent == 0 { config(fermi, &[]) } else { config(sharing, &[&private]) };
                slots(&divided(&config, threads, registers, bytes).0)
            });
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// The launcher's twin divides the SM into as many slots, hosts first.
#[test]
fn the_launcher_has_as_many_slots() {
    let (mut fitting, mut refused, mut with_guests) = (0, 0, [0, 0]);
    for (preset, settings) in [
        ("baseline", &[][..]),
        ("baseline", &["mrf.banks=4", "sm.warps=48"]),
        ("baseline", &["mrf.kilobytes=32", "sm.shared_kilobytes=16", "sm.blocks=5"]),
        ("fermi", &[]),
        ("share-registers", &[]),
        ("share-registers", &["share.private=5", "mrf.kilobytes=32", "sm.blocks=16"]),
        ("share-registers", &["share.private=9", "mrf.kilobytes=64", "sm.shared_kilobytes=16"]),
        ("fermi-16k", &[]),
        ("share-scratchpad", &[]),
        ("share-scratchpad", &["share.private=5", "sm.shared_kilobytes=32", "sm.blocks=16"]),
        ("share-scratchpad", &["share.private=9", "mrf.kilobytes=64", "sm.shared_kilobytes=64"]),
        ("share-scratchpad", &["share.private=3", "sm.shared_kilobytes=8"]),
    ] {
        let config = Config::load(Start::Preset(preset), settings).expect("the settings are valid");
        let (sm, sharing) = (Room::of(&config), Sharing::of(&config));
        for threads in [1, 32, 33, 96, 160, 256, 508, 1024] {
            for registers in [1, 15, 16, 17, 24, 36, 64, 255] {
                for scratchpad in [0, 1, 127, 2180, 2303, 5120, 40_000] {
                    let (launcher, launch) = divided(&config, threads, registers, scratchpad);
                    let block = demand(threads, registers, scratchpad);
                    let found = sm.residency(&block, sharing);
                    if launcher.fault() {
                        assert_eq!(found.hosts, 0, "{settings:?} {launch:?}");
                        refused += 1;
                    } else {
                        assert_eq!(found.blocks(), slots(&launcher), "{settings:?} {launch:?}");
                        if found.guests > 0 {
                            let layout = launcher.layout();
                            let of_hosts = found.hosts * block.warps;
                            assert_eq!(u32::from(layout.host_warps()), of_hosts, "{settings:?} {launch:?}");
                            let (of_thread, of_block) = match sharing.map(|sharing| sharing.resource) {
                                Some(Scratchpad) => (registers, found.private),
                                _ => (found.private, scratchpad),
                            };
                            assert_eq!(u32::from(layout.private_registers()), of_thread);
                            assert_eq!(launcher.private_bytes(), of_block, "{settings:?} {launch:?}");
                            with_guests[usize::from(of_thread == registers)] += 1;
                        }
                        fitting += 1;
                    }
                }
            }
        }
    }
    assert!(fitting > 500 && refused > 100, "{fitting} {refused}");
    assert!(with_guests.iter().all(|&of| of > 50), "{with_guests:?}");
}

#[test]
fn tables_of_the_thesis_take_273_and_93_bits() {
    assert_eq!([table_bits(Registers, 48, 8), table_bits(Scratchpad, 48, 8)], [273, 93]);
    // Of chapter 3's machine: 1 + 16 * 5 + 2 * 64 + 32 * 6, and 1 + 16 * 5 + 64 + 8 * 4.
    assert_eq!([table_bits(Registers, 64, 16), table_bits(Scratchpad, 64, 16)], [401, 177]);
}

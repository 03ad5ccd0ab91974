//! Places by the page's formulas, and that those of a layout as the launcher makes them do not meet.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The layout of `hosts` and `guests` warps.
fn layout(hosts: usize, registers: usize, private: usize) -> RegisterLayout {
    RegisterLayoutFields {
        guest_base: (hosts * registers % (1 << PLACE_BITS)) as u16,
        host_warps: hosts as u8,
        private_registers: private as u8,
        registers: registers as u8,
    }
    .into()
}

fn file(banks: usize, depth: usize) -> RegisterPlaces {
    RegisterPlaces::new(&MrfShape { banks, depth, ..MrfShape::BASELINE })
}

#[test]
fn the_layout_is_the_page_s() {
    let fields = [(0xabc, 0, 0, 0), (0, 0x55, 0, 0), (0, 0, 0x9a, 0), (0, 0, 0, 0xbc)];
    let words = fields.map(|(guest_base, host_warps, private_registers, registers)| {
        RegisterLayout::from(RegisterLayoutFields { guest_base, host_warps, private_registers, registers }).0
    });
    assert_eq!(words, [0xabc << 23, 0x55 << 16, 0x9a << 8, 0xbc]);
    assert_eq!(<RegisterLayout as crate::Packed>::BITS, 35);
}

#[test]
fn bank_and_entry_follow_the_formulas() {
    for banks in [2, 4, 8, 16, 32] {
        for depth in [2, 64, 128] {
            let file = file(banks, depth);
            for (host_warps, guest_base, private, registers) in
                [(0, 0, 0, 0), (4, 40, 2, 10), (48, 0, 255, 255), (127, 4095, 7, 33), (3, 4000, 255, 1)]
            {
                let layout = RegisterLayoutFields { guest_base, host_warps, private_registers: private, registers };
                let numbers = [host_warps.into(), guest_base.into(), private.into(), registers.into()];
                let [hosts, base, private, registers]: [usize; 4] = numbers;
                for warp in 0..64 {
                    for reg in 0..256 {
                        let place = if warp < hosts {
                            warp * registers + reg
                        } else if reg < private {
                            base + (warp - hosts) * private + reg
                        } else {
                            (warp - hosts) * registers + reg
                        } % 4096;
                        let row = place / banks % depth;
                        let (bank, entry) = file.map(layout.into(), warp as u8, reg as u8);
                        assert_eq!((usize::from(bank), usize::from(entry)), ((place % banks + row) % banks, row));
                    }
                }
            }
        }
    }
}

/// All places of hosts, and the guests' private parts, in one file: each is there once, and within the file.
#[test]
fn places_do_not_meet_and_guests_find_their_hosts_registers() {
    let mut tight = 0;
    for (banks, depth) in [(2, 128), (4, 64), (16, 64), (32, 8), (32, 128)] {
        let (file, words) = (file(banks, depth), banks * depth);
        for registers in [1usize, 2, 7, 16, 21, 32, 63, 64, 128, 255] {
            for private in [1, 2, registers.div_ceil(10), registers.div_ceil(2), registers] {
                if private > registers {
                    continue;
                }
                for hosts in 1..=(words / registers).min(47) {
                    let guests = ((words - hosts * registers) / private).min(48 - hosts).min(hosts);
                    let layout = layout(hosts, registers, private);
                    let mut found = BTreeMap::new();
                    for warp in 0..hosts + guests {
                        for reg in 0..registers {
                            let at = file.map(layout, warp as u8, reg as u8);
                            assert!(usize::from(at.0) < banks && usize::from(at.1) < depth);
                            let owner = if warp < hosts || reg < private { warp } else { warp - hosts };
                            assert_eq!(*found.entry(at).or_insert((owner, reg)), (owner, reg), "{layout:?}");
                        }
                    }
                    assert_eq!(found.len(), hosts * registers + guests * private, "each has its own place");
                    tight += usize::from(found.len() == words);
                }
            }
        }
    }
    assert!(tight > 10, "files are full: {tight}");
}

/// "Registers of the same name in neighbouring warps are in different banks also where `registers` is a multiple of Banks."
#[test]
fn neighbouring_warps_have_a_register_in_different_banks() {
    let file = file(16, 64);
    for registers in [16, 32] {
        let layout = layout(32, registers, registers);
        let banks: BTreeSet<u8> = (0..4).map(|warp| file.map(layout, warp, 3).0).collect();
        assert_eq!(banks.len(), 4, "{registers}");
    }
}

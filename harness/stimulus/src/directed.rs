//! Short sequences that aim at one rule of a block's page each.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{Mrf, MrfIn, MrfShape};
use gpurf_blocks::{Block, OPERANDS, Ports, WarpData, view_mut};
use gpurf_lockstep::Records;

/// A directed sequence of the register file.
struct Directed {
    name: &'static str,
    summary: &'static str,
    write: fn(&mut Script),
}

const MRF: &[Directed] = &[
    Directed { name: "timing", summary: "one instruction, from issue to dispatch (Timing)", write: timing },
    Directed {
        name: "hazard-9",
        summary: "a result waits for an older read of its register, which other results to the bank do not starve",
        write: hazard_9,
    },
    Directed { name: "one-read", summary: "one register in all three sources is read once", write: one_read },
    Directed {
        name: "warp-order",
        summary: "a younger instruction of a warp does not overtake an older one that has a conflict",
        write: warp_order,
    },
    Directed { name: "masks", summary: "partial writes are put together lane by lane", write: masks },
    Directed { name: "reset-under-load", summary: "reset with everything in flight", write: reset_under_load },
];

/// Names and summaries of a block's directed sequences.
pub fn list(block: &str) -> Vec<(&'static str, &'static str)> {
    if block == Mrf::NAME { MRF.iter().map(|d| (d.name, d.summary)).collect() } else { Vec::new() }
}

/// The inputs of a directed sequence.
pub fn sequence(block: &str, name: &str, config: &Config) -> Option<Records> {
    let directed = MRF.iter().find(|d| block == Mrf::NAME && d.name == name)?;
    let size = size_of::<MrfIn>().next_multiple_of(64);
    let mut script =
        Script { records: Records::new(size), now: MrfIn::zeroed(), shape: config.shape(), straps: config.straps() };
    script.clear();
    (directed.write)(&mut script);
    script.wait(12);
    Some(script.records)
}

/// Writes inputs cycle by cycle.
struct Script {
    records: Records,
    now: MrfIn,
    shape: MrfShape,
    straps: u8,
}

impl Script {
    fn clear(&mut self) {
        self.now = MrfIn::zeroed();
        self.now.rst_ni = 1;
        self.now.cfg_i = self.straps;
        self.now.dispatch_ready_i = ((1u32 << self.shape.issue_ports) - 1) as u8;
    }

    /// Ends the cycle.
    fn step(&mut self) {
        self.records.resize(self.records.len() + 1);
        let last = self.records.len() - 1;
        *view_mut::<MrfIn>(self.records.get_mut(last)) = self.now;
        self.clear();
    }

    fn wait(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Offers an instruction on a port.
    fn issue(&mut self, port: usize, warp: u8, registers: &[u8], tag: u64) {
        let now = &mut self.now;
        now.issue_valid_i |= 1 << port;
        now.issue_warp_i[port] = warp;
        now.issue_mask_i[port] = u32::MAX;
        now.issue_tag_i[port] = tag & (u64::MAX >> (64 - self.shape.tag_w));
        for (source, &register) in registers.iter().enumerate() {
            now.issue_src_valid_i |= 1 << (OPERANDS * port + source);
            now.issue_src_reg_i[OPERANDS * port + source] = register;
        }
    }

    /// Offers a result on a bus.
    fn write(&mut self, port: usize, warp: u8, register: u8, mask: u32, value: u32) {
        let now = &mut self.now;
        now.write_valid_i |= 1 << port;
        now.write_warp_i[port] = warp;
        now.write_reg_i[port] = register;
        now.write_mask_i[port] = mask;
        now.write_data_i[port] = WarpData([value; 32]);
    }

    /// A register in the bank of register 0 of the same warp.
    fn same_bank(&self, number: usize) -> u8 {
        (number * self.shape.banks) as u8
    }
}

fn timing(s: &mut Script) {
    s.write(0, 1, 2, u32::MAX, 0x1234_5678);
    s.step();
    s.wait(3);
    s.issue(0, 1, &[2, 3], 0xa5);
    s.step();
}

fn hazard_9(s: &mut Script) {
    let (first, second, third) = (s.same_bank(0), s.same_bank(1), s.same_bank(2));
    for round in 0..8 {
        // Three reads of one bank; results to the same bank, the first of them to a register that is being read.
        s.issue(0, 0, &[first, second, third], round);
        s.write(0, 0, third, u32::MAX, 0x1000 + round as u32);
        s.step();
        for more in 0..6 {
            s.write(0, 0, s.same_bank(3), u32::MAX, more);
            s.step();
        }
        s.wait(6);
    }
}

fn one_read(s: &mut Script) {
    for register in 0..8 {
        s.issue(0, 5, &[register, register, register], register.into());
        s.step();
        s.wait(4);
    }
}

fn warp_order(s: &mut Script) {
    let registers = [s.same_bank(0), s.same_bank(1), s.same_bank(2)];
    for round in 0..4 {
        s.issue(0, 3, &registers, 2 * round);
        s.step();
        s.issue(0, 3, &[1], 2 * round + 1);
        s.step();
        s.wait(8);
    }
}

fn masks(s: &mut Script) {
    for (step, mask) in [u32::MAX, 0x0000_ffff, 0x8000_0001, 0, 0xf0f0_f0f0].into_iter().enumerate() {
        s.write(0, 7, 4, mask, 0x11 * (step as u32 + 1));
        s.step();
        s.wait(2);
        s.issue(0, 7, &[4], step as u64);
        s.step();
        s.wait(4);
    }
}

fn reset_under_load(s: &mut Script) {
    for round in 0..6u8 {
        for cycle in 0..round + 3 {
            s.issue(0, cycle, &[0, 1, 2], cycle.into());
            s.write(0, cycle, 3, u32::MAX, cycle.into());
            s.now.dispatch_ready_i = 0;
            s.step();
        }
        s.now.rst_ni = 0;
        s.step();
        s.wait(2);
    }
}

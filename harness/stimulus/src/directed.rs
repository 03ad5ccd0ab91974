//! Short sequences that aim at one rule of a block's page each.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfIn, MrfShape};
use gpurf_blocks::write::WriteWord;
use gpurf_blocks::{OPERANDS, Ports, WarpData, view_mut};
use gpurf_lockstep::Records;

/// A directed sequence. A block declares its own in its [`Entry`](crate::Entry).
pub(crate) struct Directed {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// Makes its inputs for a configuration.
    pub(crate) play: fn(&Config) -> Records,
}

/// Directed sequences of `mrf`.
pub(crate) const MRF: &[Directed] = &[
    Directed {
        name: "timing",
        summary: "one instruction, from issue to dispatch (Timing)",
        play: |config| play(config, timing),
    },
    Directed {
        name: "hazard-9",
        summary: "a result waits for an older read of its register, which other results to the bank do not starve",
        play: |config| play(config, hazard_9),
    },
    Directed {
        name: "one-read",
        summary: "one register in all three sources is read once",
        play: |config| play(config, one_read),
    },
    Directed {
        name: "warp-order",
        summary: "a younger instruction of a warp does not overtake an older one that has a conflict",
        play: |config| play(config, warp_order),
    },
    Directed {
        name: "masks",
        summary: "partial writes are put together lane by lane",
        play: |config| play(config, masks),
    },
    Directed {
        name: "reset-under-load",
        summary: "reset with everything in flight",
        play: |config| play(config, reset_under_load),
    },
];

fn of_block(block: &str) -> &'static [Directed] {
    crate::blocks().find(|entry| entry.name == block).map_or(&[], |entry| entry.directed)
}

/// Names and summaries of a block's directed sequences.
pub fn list(block: &str) -> Vec<(&'static str, &'static str)> {
    of_block(block).iter().map(|d| (d.name, d.summary)).collect()
}

/// The inputs of a directed sequence; `None` if the block has no sequence of this name.
pub fn sequence(block: &str, name: &str, config: &Config) -> Option<Records> {
    let directed = of_block(block).iter().find(|d| d.name == name)?;
    Some((directed.play)(config))
}

/// A mask of all dispatch ports.
pub(crate) fn all_ports(config: &Config) -> u8 {
    ((1u32 << config.mrf.issue_ports) - 1) as u8
}

fn play(config: &Config, write: fn(&mut Script<MrfIn>)) -> Records {
    let dispatch_ready_i = all_ports(config);
    Script::play(config, MrfIn { rst_ni: 1, cfg_i: config.straps(), dispatch_ready_i, ..MrfIn::zeroed() }, write)
}

/// Writes inputs cycle by cycle.
pub(crate) struct Script<I> {
    records: Records,
    pub(crate) now: I,
    /// Inputs of a cycle in which nothing happens.
    idle: I,
    pub(crate) shape: MrfShape,
}

impl<I: Ports + Copy> Script<I> {
    pub(crate) fn play(config: &Config, idle: I, write: impl FnOnce(&mut Self)) -> Records {
        let records = Records::new(size_of::<I>().next_multiple_of(64));
        let mut script = Self { records, now: idle, idle, shape: config.shape() };
        write(&mut script);
        script.wait(12);
        script.records
    }

    /// Ends the cycle: records its inputs, and makes those of the next one idle.
    pub(crate) fn step(&mut self) {
        self.records.resize(self.records.len() + 1);
        let last = self.records.len() - 1;
        *view_mut::<I>(self.records.get_mut(last)) = self.now;
        self.now = self.idle;
    }

    pub(crate) fn wait(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.step());
    }
}

impl Script<MrfIn> {
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
        now.write_i[port] = WriteWord::new(warp, register, mask);
        now.write_data_i[port] = WarpData([value; 32]);
    }

    /// A register in the bank of register 0 of the same warp.
    fn same_bank(&self, number: usize) -> u8 {
        (number * self.shape.banks) as u8
    }
}

fn timing(s: &mut Script<MrfIn>) {
    s.write(0, 1, 2, u32::MAX, 0x1234_5678);
    s.step();
    s.wait(3);
    s.issue(0, 1, &[2, 3], 0xa5);
    s.step();
}

fn hazard_9(s: &mut Script<MrfIn>) {
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

fn one_read(s: &mut Script<MrfIn>) {
    for register in 0..8 {
        s.issue(0, 5, &[register, register, register], register.into());
        s.step();
        s.wait(4);
    }
}

fn warp_order(s: &mut Script<MrfIn>) {
    let registers = [s.same_bank(0), s.same_bank(1), s.same_bank(2)];
    for round in 0..4 {
        s.issue(0, 3, &registers, 2 * round);
        s.step();
        s.issue(0, 3, &[1], 2 * round + 1);
        s.step();
        s.wait(8);
    }
}

fn masks(s: &mut Script<MrfIn>) {
    for (step, mask) in [u32::MAX, 0x0000_ffff, 0x8000_0001, 0, 0xf0f0_f0f0].into_iter().enumerate() {
        s.write(0, 7, 4, mask, 0x11 * (step as u32 + 1));
        s.step();
        s.wait(2);
        s.issue(0, 7, &[4], step as u64);
        s.step();
        s.wait(4);
    }
}

fn reset_under_load(s: &mut Script<MrfIn>) {
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

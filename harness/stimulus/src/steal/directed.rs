//! The stealing paper's worked examples.

use gpurf_blocks::config::Config;
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::steal::StealIn;
use gpurf_blocks::write::WriteWord;
use gpurf_blocks::{OPERANDS, Ports, WarpData};
use gpurf_lockstep::Records;

use crate::directed::{Directed, Script, all_ports};

/// Directed sequences of `steal`, with two issue ports.
pub(crate) const DIRECTED: &[Directed] = &[
    Directed {
        name: "figure-6",
        summary: "an operand is read in the cycle in which its warp issues, and a conflict is gone (stealing paper, figure 6)",
        play: |config| play(config, 0),
    },
    Directed {
        name: "figure-6-aborted",
        summary: "its bank is not idle in that cycle, and all is as without stealing (stealing paper, IV-B1)",
        play: |config| play(config, 2),
    },
];

/// The warps of figure 6.
const A: u8 = 0;
const B: u8 = 1;
const C: u8 = 2;
const D: u8 = 3;

fn play(config: &Config, bank: usize) -> Records {
    let (cfg_i, dispatch_ready_i) = (cfg_of_block(config, "steal") as u8, all_ports(config));
    let idle = StealIn { rst_ni: 1, cfg_i, dispatch_ready_i, ..StealIn::zeroed() };
    Script::play(config, idle, |script| figure(script, bank))
}

/// Wa and Wb issue while Wc and Wd are named as candidates. Then Wc and Wd issue, whose operands are in bank 2. Wa's operand is in `bank`.
fn figure(s: &mut Script<StealIn>, bank: usize) {
    for (warp, value) in [(C, 0xc), (D, 0xd)] {
        s.write(warp, 2, value);
        s.step();
        s.wait(2);
    }
    s.issue(0, A, bank);
    s.issue(1, B, 1);
    s.name(0, C, 2);
    s.name(1, D, 2);
    s.step();
    s.issue(0, C, 2);
    s.issue(1, D, 2);
    s.step();
}

impl Script<StealIn> {
    /// The register of a warp that is in this bank, in its first row.
    fn register(&self, warp: u8, bank: usize) -> u8 {
        ((bank + self.shape.banks - usize::from(warp) % self.shape.banks) % self.shape.banks) as u8
    }

    /// Offers an instruction of one operand; its tag is the warp.
    fn issue(&mut self, port: usize, warp: u8, bank: usize) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.issue_valid_i |= 1 << port;
        (now.issue_warp_i[port], now.issue_base_i[port]) = (warp, warp.into());
        (now.issue_mask_i[port], now.issue_tag_i[port]) = (u32::MAX, warp.into());
        now.issue_src_valid_i |= 1 << (OPERANDS * port);
        now.issue_src_reg_i[OPERANDS * port] = register;
    }

    /// Names a candidate with such an instruction.
    fn name(&mut self, port: usize, warp: u8, bank: usize) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.candidate_valid_i |= 1 << port;
        (now.candidate_warp_i[port], now.candidate_base_i[port]) = (warp, warp.into());
        now.candidate_src_valid_i |= 1 << (OPERANDS * port);
        now.candidate_src_reg_i[OPERANDS * port] = register;
    }

    /// Offers a result on bus 0.
    fn write(&mut self, warp: u8, bank: usize, value: u32) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.write_valid_i = 1;
        (now.write_i[0], now.write_base_i[0]) = (WriteWord::new(warp, register, u32::MAX), warp.into());
        now.write_data_i[0] = WarpData([value; 32]);
    }
}

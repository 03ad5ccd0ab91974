//! Worked examples of candidates (stealing paper, IV-B3).

use gpurf_blocks::Ports;
use gpurf_blocks::config::Config;
use gpurf_blocks::issue::WarpSchedulerIn;
use gpurf_blocks::shape::Straps;
use gpurf_lockstep::Records;

use crate::directed::{Directed, Script};

pub(crate) const DIRECTED: &[Directed] = &[
    Directed {
        name: "greedy",
        summary: "two warps of two instructions each: Wa Wa Wb Wb (stealing paper, IV-B3)",
        play: |config| play(config, greedy),
    },
    Directed {
        name: "greedy-stolen",
        summary: "an operand of the other one is read each time: Wa Wb Wa Wb (stealing paper, IV-B3)",
        play: |config| play(config, greedy_stolen),
    },
];

fn play(config: &Config, write: fn(&mut Script<WarpSchedulerIn>)) -> Records {
    let idle = WarpSchedulerIn { rst_ni: 1, cfg_i: Straps::of(config).scheduler, ..WarpSchedulerIn::zeroed() };
    Script::play(config, idle, write)
}

fn greedy(s: &mut Script<WarpSchedulerIn>) {
    for clear in [0b11, 0b11, 0b10, 0b10] {
        s.offer(clear, false);
    }
}

fn greedy_stolen(s: &mut Script<WarpSchedulerIn>) {
    for (cycle, clear) in [0b11, 0b11, 0b11, 0b10].into_iter().enumerate() {
        s.offer(clear, cycle > 0);
    }
}

impl Script<WarpSchedulerIn> {
    /// A cycle in which the warps of this set (bit 0: Wa, bit 1: Wb), which are neighbours at port 0, may issue.
    fn offer(&mut self, clear: u64, stolen: bool) {
        let (a, b) = (clear & 1, clear >> 1 & 1);
        self.now.clear_i = a | b << self.shape.issue_ports;
        (self.now.operand_i, self.now.ready_i) = (self.now.clear_i, 0b01);
        (self.now.alive_i, self.now.candidate_issue_i) = (1 | 1 << self.shape.issue_ports, stolen.into());
        self.step();
    }
}

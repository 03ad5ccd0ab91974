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
    /// A cycle in which these of Wa and Wb, neighbours at port 0, may issue.
    fn offer(&mut self, clear: u64, stolen: bool) {
        let (a, b) = (clear & 1, clear >> 1 & 1);
        self.now.clear_i = a | b << self.shape.issue_ports;
        (self.now.operand_i, self.now.ready_i) = (self.now.clear_i, 0b01);
        (self.now.alive_i, self.now.candidate_issue_i) = (1 | 1 << self.shape.issue_ports, stolen.into());
        self.step();
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::{Config, Scheduler, presets};
    use gpurf_blocks::issue::{WarpScheduler, WarpSchedulerOut};

    use crate::directed::{outputs, sequence};

    #[test]
    fn greedy_wa_wa_wb_wb_becomes_wa_wb_wa_wb() {
        let mut all = presets().map(|preset| preset.config);
        let takes_candidates = |config: &Config| config.sm_shape().services().takes_candidates;
        let mut config = all.find(takes_candidates).expect("a design takes candidates");
        config.sm.scheduler = Scheduler::GreedyThenOldest;
        let b = config.mrf.issue_ports as u8;
        for (name, expected) in [("greedy", [0, 0, b, b]), ("greedy-stolen", [0, b, 0, b])] {
            let inputs = sequence("warp_scheduler", name, &config).unwrap();
            let out: Vec<WarpSchedulerOut> = outputs::<WarpScheduler>(&config, &inputs);
            let issued: Vec<u8> = out.iter().filter(|o| o.issue_valid_o & 1 == 1).map(|o| o.issue_warp_o[0]).collect();
            assert_eq!(issued, expected, "{name}");
        }
    }
}

//! Directed sequences of the scheduler.

use gpurf_blocks::config::{Config, Scheduler, presets};
use gpurf_blocks::issue::{WarpScheduler, WarpSchedulerOut};
use gpurf_stimulus::directed::sequence;

use crate::outputs::outputs;

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

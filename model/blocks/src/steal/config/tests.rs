//! Configurations with bank stealing, and what is refused.

use super::*;
use crate::config::{MrfConfig, Scheduler, Start, preset};
use crate::testing::{file, set};

#[test]
fn stealing_needs_single_ported_banks_and_the_place_to_itself() {
    let steal = preset("steal-8").unwrap().config;
    assert_eq!((steal.mrf.banks, steal.shape().depth, steal.mrf.issue_ports, steal.sm.warps), (8, 128, 2, 48));
    assert_eq!(
        (steal.steal.present, steal.steal.read, steal.steal.write, steal.steal.eager),
        (true, true, true, false)
    );
    for (name, read, write) in
        [("banks-8", false, false), ("steal-read-8", true, false), ("steal-write-8", false, true)]
    {
        let config = preset(name).unwrap().config;
        assert_eq!((config.steal.read, config.steal.write), (read, write));
        assert_eq!((config.mrf, config.sm, config.steal.present), (steal.mrf, steal.sm, read || write));
    }
    let paper = preset("banks-16").unwrap().config;
    assert_eq!(Config { mrf: MrfConfig { banks: 8, ..paper.mrf }, ..paper }, preset("banks-8").unwrap().config);

    let config = set(&["steal.present=true", "steal.eager=true", "sm.active_warps=8", "mrf.banks=32"]).unwrap();
    assert_eq!((config.steal.present, config.steal.read, config.steal.eager), (true, false, true));
    assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
    assert_eq!(file(&config.to_toml()), Ok(config));

    let refused = |start: &str, settings: &[&str], allowed: &str| {
        let message = Config::load(Start::Preset(start), settings).unwrap_err().to_string();
        assert!(message.contains(&format!("steal.present = true is not allowed: it has to be {allowed}")), "{message}");
        message
    };
    let ports = "false where mrf.ports is 1r1w: what is stolen is the one port of a bank (mrf.ports=1rw)";
    assert!(refused("mrf-1r1w", &["steal.present=true"], ports).starts_with("--set: "));
    assert!(refused("steal-8", &["mrf.ports=1r1w"], ports).starts_with("preset steal-8: "));
    let alternating = "false where sm.alternate is true: that scheduler has one warp";
    refused("baseline", &["sm.active_warps=2", "sm.alternate=true", "steal.present=true"], alternating);
    let message = file("base = \"mrf-1r1w\"\n[steal]\npresent = true\n").unwrap_err();
    assert!(message.starts_with("FILE:3:11: steal.present = true is not allowed"), "{message}");
    // Policies of a design that is not selected have no effect, and are allowed.
    assert!(set(&["steal.read=true", "mrf.ports=1r1w"]).is_ok());
}

/// What the text of the stealing paper says of its machine (II, IV-A, V-B), and the choices of docs/papers.md.
#[test]
fn the_stealing_papers_machine_is_steal_8_with_few_collectors_and_eager() {
    let paper = preset("stealing-paper").unwrap().config;
    assert_eq!(Config::load(Start::Preset("steal-8"), &["mrf.collectors=4", "steal.eager=true"]), Ok(paper));
    assert_eq!((paper.mrf.banks, paper.mrf.ports, paper.mrf.kilobytes), (8, BankPorts::Shared, 128));
    assert_eq!((paper.sm.warps, paper.mrf.issue_ports), (48, 2));
    assert_eq!(paper.sm.scheduler, Scheduler::GreedyThenOldest);
    assert!(paper.steal.read && paper.steal.write);
}

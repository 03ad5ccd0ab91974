//! Counts of sharing: locks, warps that wait for them, the progress of the warps of non-owner blocks, and their throttling.

use gpurf_blocks::config::SharedResource;

use super::{Count, Part};

/// The part of a run's statistics; `None` if blocks do not share.
pub(super) fn part(run: &Count<'_>) -> Option<Part> {
    run.config.share.present.then(|| {
        let of = |name: &str| run.of(name);
        let waiting = of("non_owners");
        let mut part = Part::new("share");
        let averages = [
            // Warps of pairs of which both blocks are resident.
            ("owners", run.average("owners"), "warps of owners, on average"),
            ("non_owners", run.average("non_owners"), "warps of non-owners, on average"),
        ];
        part.averages(2, &averages);
        part.counts(&[
            ("non_owner_instructions", of("non_owner_issue"), "instructions of non-owners", of("issue")),
            // With the rule `oldest`, only warps of non-owners wait.
            ("wait_lock", of("wait_lock"), "warps waiting: for a lock", waiting),
            ("wait_hold", of("wait_hold"), "warps waiting: atomic operation of a younger block", waiting),
            ("locks_taken", of("lock_take"), "locks taken", 0),
            // At the end of the warp or block that held them, or when the block releases them.
            ("locks_given_up", of("lock_free"), "locks given up", 0),
        ]);
        if run.config.share.resource == SharedResource::Scratchpad {
            part.counts(&[
                ("locks_given_up_early", of("lock_early"), "locks given up by release", of("lock_free")),
                ("probes", of("probe"), "probes", of("issue")),
                ("probes_common", of("probe_common"), "probes that find the common area", of("probe")),
                ("releases", of("released"), "releases", of("issue")),
            ]);
        }
        if run.config.share.throttle != 0 {
            throttle(run, &mut part);
        }
        part
    })
}

/// Adds the effects of the throttle on non-owners.
fn throttle(run: &Count<'_>, part: &mut Part) {
    let (of, cycles) = (|name: &str| run.of(name), run.statistics.cycles);
    part.counts(&[
        ("wait_throttle", of("wait_throttle"), "warps waiting: throttled memory instruction", of("non_owners")),
        ("throttle_periods", of("throttle_period"), "periods of the throttle", 0),
        ("throttle_reference", of("throttle_reference"), "cycles of reference periods", cycles),
        ("throttle_allow", of("throttle_allow"), "cycles in which non-owners may use memory", cycles),
    ]);
    part.averages(2, &[("throttle_level", run.average("throttle_level"), "level of the throttle, on average")]);
}

//! The register file cache, and the last result file above it.

use gpurf_blocks::config::{Config, PowerMode};
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::rfc::RfcSizes;

use super::look::Look;
use super::unreached::{Exception, ONE_BUS, one_bus};
use super::{Group, Sums, handshakes, situations, sums};

fn cache(config: &Config) -> bool {
    config.rfc.entries != 0
}

/// Whether the words below the cache have power states.
fn states(config: &Config) -> bool {
    cache(config) && config.power.present && config.power.mode != PowerMode::AlwaysOn
}

/// Whether there is an LRF above the cache.
fn has_lrf(look: &Look<'_>) -> bool {
    matches!(look.shape.organisation, Organisation::Rfc(RfcSizes { lrf: true, .. }))
}

/// Whether something holds of a cache.
fn any(look: &Look<'_>, test: impl Fn(usize) -> bool) -> bool {
    (0..look.ports()).any(test)
}

/// The values that the ring of evictions has room for.
const PLACES: u8 = 4;

pub(super) const EXCEPTIONS: &[Exception] = &[
    ("rfc: a value for the MRF offered, not taken", one_bus, ONE_BUS),
    ("rfc_results: an eviction waits for the MRF's queue", one_bus, ONE_BUS),
];

pub(super) static GROUPS: &[Group] = &[
    situations! { "rfc_evictions", cache, |look| {
            let ring = &look.s.operand_stage.provider.rfc().evictions;
            let nets = &look.s.operand_stage.provider.rfc().nets;
        }
        "nothing is on its way": any(look, |p| ring[p].count_q == 0) && look.alive != 0;
        "one value is on its way": any(look, |p| ring[p].count_q == 1);
        "two or three values are on their way": any(look, |p| (2..PLACES).contains(&ring[p].count_q));
        "every place has a value": any(look, |p| ring[p].count_q == PLACES);
        "an eviction begins": nets.tags_evict_valid != 0;
        "a value has no data yet": any(look, |p| ring[p].arrived_q < ring[p].count_q);
    },
    situations! { "rfc_evictions", |c| cache(c) && !c.sm.stay, |look| {
            let ring = &look.s.operand_stage.provider.rfc().evictions;
            let emptied = look.o.warp_scheduler.flush_o & !look.o.operand_stage.flush_done_o;
        }
        "values of a slot that is emptied are on their way": emptied != 0 && any(look, |p| ring[p].count_q != 0);
    },
    situations! { "two_level_scheduler", cache, |look| {
            let (slots, idle) = (&look.o.warp_scheduler, look.o.scoreboard.idle_o);
            let ended = |s: usize| (idle & !look.alive) >> slots.slot_warp_o[s] & 1 == 1;
        }
        "a slot outlives the last instruction of its warp":
            (0..look.shape.slots()).any(|s| slots.slot_valid_o >> s & 1 == 1 && ended(s));
    },
    situations! { "rfc_power", states, |look| {
            let rfc = look.s.operand_stage.provider.rfc();
            let (nets, power) = (&rfc.nets, &rfc.power);
            let reading = power.reading_q.iter().filter(|&&reading| reading != 0).count();
        }
        "an instruction in T waits for a word": nets.power_look_valid & !nets.power_look_on != 0;
        "an eviction waits for its word": nets.evictions_offer_valid & !nets.power_write_on != 0;
        "a result around the cache waits for its word":
            nets.results_may & !nets.evictions_offer_valid & !nets.power_write_on != 0;
        "a value waits for the MRF's queue, and its word is ON":
            nets.power_write_valid & nets.power_write_on & !nets.mrf_write_ready != 0;
        "an instruction in T and a value wait for words":
            nets.power_look_valid & !nets.power_look_on != 0 && nets.power_write_valid & !nets.power_write_on != 0;
        "several instructions are read in the MRF": reading > 1;
        "a word is read and another one written": reading != 0 && power.writing_q != 0;
        "a warp ends while words of it are not OFF": {
            let over = !look.alive & look.o.scoreboard.idle_o;
            (0..look.shape.warps).any(|w| {
                over >> w & 1 == 1 && power.on_count_q[w] | power.asleep_count_q[w] != 0
            })
        };
    },
    handshakes! { "rfc", cache, |look|
        "an instruction for the collectors":
            look.s.operand_stage.provider.rfc().nets.mrf_issue_valid, look.s.operand_stage.provider.rfc().nets.mrf_issue_ready;
        "a value for the MRF":
            look.s.operand_stage.provider.rfc().nets.mrf_write_valid, look.s.operand_stage.provider.rfc().nets.mrf_write_ready;
    },
    situations! { "rfc_results", cache, |look| {
            let (nets, results) = (&look.s.operand_stage.provider.rfc().nets, &look.s.operand_stage.provider.rfc().results);
            let offered = nets.evictions_offer_valid;
            // Which of the two is the RTL's net depends on what stands above the tags.
            let ready = if has_lrf(look) { nets.results_op_ready } else { nets.tags_op_ready };
        }
        "a result is in a latch": results.valid_q != 0;
        "a result is performed in the cache": nets.results_op_valid & ready != 0;
        "a result waits for the cache": nets.results_op_valid & !ready != 0;
        "a result goes around the cache": nets.results_around != 0;
        "an eviction is taken": offered & nets.results_evict_ready != 0;
        "an eviction waits for the MRF's queue": offered & !nets.results_evict_ready != 0;
        "a result and an eviction want the MRF's queue": offered & nets.results_wait != 0;
    },
    situations! { "rfc", cache, |look| {
            let nets = &look.s.operand_stage.provider.rfc().nets;
            let partly = any(look, |p| {
                nets.tag_valid_q >> p & 1 != 0
                    && nets.last_q[p] != 0
                    && nets.mask_q[p] != look.o.simt_stack.live_o[usize::from(nets.warp_q[p])]
            });
        }
        "an instruction looks at the tags": nets.tag_valid_q != 0;
        "a last read by some of the living lanes (hazard 2)": partly;
        "a result is written to some lanes (hazards 1, 4)":
            any(look, |p| (nets.results_op_valid & !nets.results_op_kill) >> p & 1 != 0 && nets.results_op_mask[p] != u32::MAX);
    },
    situations! { "rfc_fills", |c| cache(c) && c.rfc.reads, |look| {
            let nets = &look.s.operand_stage.provider.rfc().nets;
        }
        "a latch holds fills": nets.fills_busy != 0;
        "a fill waits for the cache": nets.fills_fill_valid & !nets.tags_op_ready != 0;
        "a fill goes into the cache": nets.fills_fill_valid & nets.tags_op_ready != 0;
        "an instruction waits for the fills": nets.fills_busy != 0 && nets.operands_dispatch_valid != 0;
    },
    situations! { "rfc_lrf", |c| cache(c) && c.rfc.lrf, |look| {
            let nets = &look.s.operand_stage.provider.rfc().nets;
        }
        "a value makes room (spill)": nets.lrf_spill != 0;
        "a value of a slot that is emptied goes to the MRF": nets.lrf_flush_valid != 0;
        "a value of a slot that is emptied waits for the tags' eviction":
            nets.tags_evict_valid != 0 && look.o.warp_scheduler.flush_o != 0;
    },
];

pub(super) static SUMS: &[Sums] = &[
    sums! { "rfc_tags", cache,
        "rfc_hit": "all lanes of a source are there";
        "rfc_partial": "some lanes of a source are there (hazard 1)";
        "rfc_miss": "no lane of a source is there";
        "rfc_write_hit": "a result updates an entry";
        "rfc_allocate": "a result takes a new entry";
        "rfc_evict": "a value has to be written back";
    },
    sums! { "rfc_tags", |c| cache(c) && !c.sm.stay,
        "rfc_flush": "an entry is written back as its slot is emptied";
    },
    sums! { "rfc_tags", |c| cache(c) && (c.rfc.live || c.rfc.reads),
        "rfc_dead": "a value is dropped: no lane is dirty";
    },
    sums! { "rfc", cache,
        "rfc_stall_eviction": "an instruction waits: its register is on the way to the MRF (hazard 8)";
        "rfc_stall_collector": "an instruction waits for a collector";
        "rfc_stall_result": "an instruction waits: its register's result is in a latch (hazard 17)";
    },
    sums! { "rfc_results", cache,
        "rfc_wait": "a result waits in its latch";
    },
    sums! { "rfc_tags", |c| cache(c) && (!c.rfc.loads || c.rfc.bypass),
        "rfc_kill": "a result around the cache makes an entry's lanes invalid (hazard 6)";
    },
    sums! { "rfc_tags", |c| cache(c) && c.rfc.live,
        "rfc_marked": "a hit is the last read";
    },
    sums! { "rfc_lrf", |c| cache(c) && c.rfc.lrf,
        "rfc_lrf_read_groups": "a source is read from the LRF";
        "rfc_lrf_write_groups": "a result is written to the LRF";
        "rfc_lrf_flush_groups": "a value is written back from the LRF";
        "rfc_lrf_same": "a result updates the LRF's entry";
        "rfc_lrf_past": "a result bypasses the LRF";
    },
    sums! { "rfc_lrf", |c| cache(c) && c.rfc.lrf && c.rfc.live,
        "rfc_lrf_dead": "a value of the LRF is dropped";
        "rfc_lrf_marked": "a hit in the LRF is the last read";
    },
];

//! The test kernels on a machine whose registers have power states: they change nothing but time, and no access meets a register that is not ON.

mod common;

use std::sync::{Arc, Mutex};

use common::{FLOATS, INTEGERS, alone, compiled, run, settings};
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT, PowerStatesProbe};
use gpurf_kernels::{Case, KERNELS};
use gpurf_lockstep::Events;
use gpurf_machine::{Cycle, ModelEngine, Settings};
use gpurf_oracle::host::Session;
use gpurf_sm::SmIn;

/// Each mode, with the thesis's latencies and with others, with tables that are large and small, behind each scheduler.
const POWER: [&[&str]; 6] = [
    &["mrf.issue_ports=2", "sm.warps=48", "power.present=true", "compiler.power_threshold=3"],
    &["mrf.banks=32", "power.present=true", "power.mode=sleep_always", "sm.scheduler=round_robin"],
    &["mrf.issue_ports=2", "power.present=true", "power.mode=hints", "compiler.power_threshold=1"],
    &[
        "mrf.banks=4",
        "mrf.ports=1r1w",
        "sm.active_warps=8",
        "power.present=true",
        "power.table_entries=4",
        "power.wake_sleep=5",
        "power.wake_off=3",
        "compiler.power_threshold=1",
    ],
    &[
        "sm.active_warps=2",
        "sm.alternate=true",
        "power.present=true",
        "power.mode=sleep_always",
        "power.wake_sleep=15",
        "memory.latency=1",
    ],
    &[
        "mrf.issue_ports=2",
        "mrf.collectors=4",
        "mrf.banks=2",
        "sm.warps=8",
        "power.present=true",
        "power.table_entries=1",
        "power.wake_off=15",
        "compiler.power_threshold=2",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says_and_everything_happens() {
    let mut events = Events::new();
    for (k, kernel) in KERNELS.iter().enumerate() {
        for set in POWER.iter().skip(k % 3).step_by(3) {
            let statistics = run(kernel, set, 64);
            let judged = statistics.judged.unwrap();
            assert!(judged.undecided == 0 || kernel.name == "bfs", "{} {set:?}", kernel.name);
            assert!(judged.writes > 1000, "{} {set:?}", kernel.name);
            statistics.events.iter().for_each(|(name, count)| *events.entry(name).or_default() += count);
        }
    }
    let fields = [POWER_EVENT, POWER_COUNT_EVENT].into_iter().flatten();
    let never: Vec<&str> = fields.map(|(name, _)| *name).filter(|name| events[name] == 0).collect();
    assert_eq!(never, [""; 0]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    common::kernels::skips(&POWER);
}

/// Names of the events of power states.
fn fields() -> impl Iterator<Item = &'static str> {
    [POWER_EVENT, POWER_COUNT_EVENT].into_iter().flatten().map(|(name, _)| *name)
}

#[test]
fn always_on_is_the_machine_without_states() {
    for name in ["radixSort", "srad", "needle"] {
        let (without, buffers, _) = alone(name, settings(&["mrf.issue_ports=2"]));
        let always = ["mrf.issue_ports=2", "power.present=true", "power.mode=always_on"];
        let (mut with, same, _) = alone(name, settings(&always));
        assert!(fields().all(|field| !without.events.contains_key(field)), "{name}");
        for field in fields().filter(|&field| !["used", "full"].contains(&field)) {
            assert_eq!(with.events[field], 0, "{name}: {field}");
        }
        fields().for_each(|field| _ = with.events.remove(field));
        assert_eq!((with, same), (without, buffers), "{name}");
    }
}

/// A machine with hints, and these settings.
fn of_hints(mode: &str, wake: usize) -> Settings {
    let [mode, sleep] = [format!("power.mode={mode}"), format!("power.wake_sleep={wake}")];
    let off = format!("power.wake_off={wake}");
    settings(&["power.present=true", "compiler.power_threshold=3", &mode, &sleep, &off])
}

#[test]
fn a_longer_wake_up_costs_cycles_and_the_table_saves_wake_ups() {
    for name in ["radixSort", "srad", "crc32", "cp"] {
        let of = |mode: &str, wake: usize| {
            let (statistics, ..) = alone(name, of_hints(mode, wake));
            (statistics.cycles, statistics.events["wake_sleep"] + statistics.events["wake_off"], statistics.events)
        };
        let (hints, greener, sleep) = (of("hints", 1), of("greener", 1), of("sleep_always", 1));
        assert!(greener.1 < hints.1 && hints.1 < sleep.1, "{name}: {} {} {}", greener.1, hints.1, sleep.1);
        assert!(of("hints", 12).0 > hints.0, "{name}");
        assert!(of("sleep_always", 12).0 > sleep.0, "{name}");
        assert!(greener.2["kept"] > 0 && hints.2["kept"] == 0 && sleep.2["to_off"] == 0, "{name}");
    }
}

/// Looks at each cycle of the model: states, counts and accesses.
struct Observer {
    warps: usize,
    ports: usize,
    set: u64,
    read: u64,
    written: u64,
}

impl Observer {
    /// Whether a register is ON, and whether an access of it is in progress that changes its state.
    fn state(probe: &PowerStatesProbe, warp: u8, reg: u8) -> (bool, bool) {
        let (word, bit) = (4 * usize::from(warp) + usize::from(reg) / 64, usize::from(reg) % 64);
        let pending = is_set(probe.pending_q[word], bit);
        (pending || !is_set(probe.off_q[word] | probe.asleep_q[word], bit), pending)
    }

    fn look(&mut self, cycle: &Cycle<'_>) {
        let (outputs, probe) = (&cycle.probe.outputs, &cycle.probe.states.power_states);
        for p in set_bits(outputs.issue_stage.operand_valid_o) {
            let (warp, roles) = (outputs.warp_scheduler.issue_warp_o[p], outputs.issue_stage.instruction_o[p].roles());
            for reg in [roles.a(), roles.b(), roles.c(), roles.d()].into_iter().filter(|&reg| reg != NO_REG) {
                assert_eq!(Self::state(probe, warp, reg), (true, false), "R{reg} of warp {warp} as it issues");
                self.set += 1;
            }
        }
        let stage = &outputs.operand_stage;
        for p in set_bits(stage.dispatch_valid_o) {
            let (warp, roles): (u8, Roles) = (stage.dispatch_warp_o[p], stage.dispatch_instruction_o[p].roles());
            for reg in roles.sources().into_iter().filter(|&reg| reg != NO_REG) {
                assert!(Self::state(probe, warp, reg).0, "R{reg} of warp {warp} as it has been read");
                self.read += 1;
            }
        }
        for p in set_bits(outputs.writeback.reg_valid_o) {
            let (warp, reg) = (outputs.writeback.reg_warp_o[p], outputs.writeback.reg_o[p]);
            assert!(Self::state(probe, warp, reg).0, "R{reg} of warp {warp} as it is written");
            self.written += 1;
        }
        // The name of no register is OFF.
        let (mut on, mut asleep) = (0, 0);
        for k in 0..4 * self.warps {
            let (off, sleeps, pending) = (probe.off_q[k], probe.asleep_q[k], probe.pending_q[k]);
            on += (pending | !(off | sleeps)).count_ones();
            asleep += (sleeps & !pending).count_ones();
        }
        assert_eq!(cycle.out.power_event_o[0] >> 42, u64::from(on), "registers that are ON");
        assert_eq!(cycle.out.power_event_o[0] >> 28 & 0x3fff, u64::from(asleep), "registers in SLEEP");
        assert!(outputs.issue_stage.operand_valid_o >> self.ports == 0, "ports that there are");
    }
}

#[test]
fn no_access_meets_a_register_that_is_not_on() {
    for (k, name) in INTEGERS.into_iter().chain(FLOATS).enumerate().filter(|(k, _)| k % 3 == 0) {
        let settings = settings(POWER[k / 3]);
        let shape = settings.config.sm_shape();
        let observer = Observer { warps: shape.warps, ports: shape.ports(), set: 0, read: 0, written: 0 };
        let observer = Arc::new(Mutex::new(observer));
        let case = Case::load(name).unwrap();
        let image = compiled(name, 64, &settings.config).image;
        let mut session = Session::new(case.manifest(), &image).unwrap();
        let (inputs, seen) = (size_of::<SmIn>().next_multiple_of(64), Arc::clone(&observer));
        let watch = Box::new(move |record: &[u8]| {
            let (inputs, compared) = record.split_at(inputs);
            seen.lock().unwrap().look(&Cycle::of(inputs, compared));
        });
        let mut engine = ModelEngine::watched(settings, watch);
        session.run(&mut engine).unwrap_or_else(|error| panic!("{name}: {error}"));
        let observer = observer.lock().unwrap();
        assert!(observer.set.min(observer.read).min(observer.written) > 1000, "{name}");
    }
}

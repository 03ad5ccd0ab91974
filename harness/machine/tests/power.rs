//! The test kernels on registers with power states; their events are counted a third time, and a register that is OFF forgets.

mod common;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use common::kernels::{commits, skips};
use common::miscounts::{add, every_field_is_counted, is_found, value};
use common::{FLOATS, INTEGERS, Program, alone, compiled, run, settings};
use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT, PowerStatesProbe};
use gpurf_isa::{Instruction, Places, Slot};
use gpurf_kernels::{Case, KERNELS};
use gpurf_machine::{Cycle, LaunchError, ModelEngine, Settings};
use gpurf_oracle::host::Session;
use gpurf_sm::SmIn;

/// Each mode, one port and two, both kinds of banks, slow wake-ups, short and long latencies, slots; the last three below ORF and LRF.
const POWER: [&[&str]; 10] = [
    &["power.present=true", "compiler.power_threshold=3"],
    &["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "mrf.issue_ports=2", "sm.warps=48"],
    &["power.present=true", "power.mode=sleep_always", "mrf.issue_ports=2", "sm.scheduler=round_robin"],
    &[
        "power.present=true",
        "compiler.power_threshold=7",
        "power.wake_sleep=5",
        "power.wake_off=15",
        "power.table_entries=4",
        "mrf.ports=1rw",
        "mrf.issue_ports=2",
    ],
    &["power.present=true", "power.mode=sleep_always", "power.wake_sleep=4", "sm.active_warps=8", "sm.patience=3"],
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "power.table_entries=1",
        "mrf.banks=4",
        "mrf.collectors=4",
        "sm.warps=8",
        "memory.latency=1",
    ],
    &[
        "power.present=true",
        "power.mode=hints",
        "compiler.power_threshold=31",
        "sm.active_warps=2",
        "sm.alternate=true",
    ],
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "orf.entries=3",
        "lrf.banks=split",
    ],
    &[
        "power.present=true",
        "power.mode=hints",
        "compiler.power_threshold=1",
        "power.wake_sleep=3",
        "power.wake_off=7",
        "mrf.banks=4",
        "mrf.issue_ports=2",
        "sm.active_warps=4",
        "sm.patience=3",
        "orf.entries=8",
        "lrf.banks=unified",
    ],
    &[
        "power.present=true",
        "power.mode=sleep_always",
        "sm.active_warps=8",
        "sm.alu_latency=2",
        "orf.entries=1",
        "memory.latency=1",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&POWER, &[POWER_EVENT, POWER_COUNT_EVENT], &[]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&POWER);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    for set in [POWER[0], POWER[2], POWER[7]] {
        every_field_is_counted(set);
    }
}

#[test]
fn a_definition_that_both_sides_misread_is_found() {
    // Registers in SLEEP count as ones that are ON, too.
    is_found(
        POWER[2],
        |out| {
            let asleep = value(POWER_EVENT, out.power_event_o[0], "asleep");
            add(POWER_EVENT, &mut out.power_event_o[0], "on", asleep);
        },
        "on",
    );
}

#[test]
fn always_on_is_the_machine_without_power_states() {
    for kernel in KERNELS {
        for set in [&["mrf.issue_ports=2", "sm.scheduler=round_robin"][..], &["sm.active_warps=8"]] {
            let plain = run(kernel, set, 64);
            let with: Vec<&str> = set.iter().copied().chain(["power.present=true", "power.mode=always_on"]).collect();
            let on = run(kernel, &with, 64);
            assert_eq!(plain.cycles, on.cycles, "{} {set:?}", kernel.name);
            for (name, count) in &plain.events {
                assert_eq!(Some(count), on.events.get(name), "{} {set:?}: {name}", kernel.name);
            }
        }
    }
}

/// A register that this state leaves behind, and then is read.
fn reads_after(state: &str) -> Program {
    Program::new(
        &format!("MOV R9, 5 {{power=ON,ON,{state}}}\nIADD R10, PT, R9, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R10"),
        1,
        32,
    )
}

#[test]
fn a_register_that_is_off_forgets() {
    let said = |state: &str, mode: &str| {
        let mode = format!("power.mode={mode}");
        let set = ["power.present=true", "compiler.power_threshold=1", "power.table_entries=4", &mode];
        reads_after(state).run(&mut ModelEngine::judged(settings(&set)))
    };
    for mode in ["hints", "greener"] {
        assert_eq!(said("SLEEP", mode).unwrap()[..3], [5, 6, 7], "{mode}");
    }
    // The next instruction has been decoded when the result is written: the table keeps the register ON.
    assert!(said("OFF", "greener").is_ok());
    let lost = said("OFF", "hints");
    assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{lost:?}");
    // Modes that do not heed the states lose nothing.
    for mode in ["always_on", "sleep_always"] {
        assert_eq!(said("OFF", mode).unwrap()[..3], [5, 6, 7], "{mode}");
    }
}

/// R9 with this level and state, then a read of it at this level; what the program stores.
fn below_the_orf(result: &str, state: &str, source: &str, set: &[&str]) -> Result<Vec<u32>, LaunchError> {
    let code = format!(
        "MOV R9, 5 {{d={result} power=ON,ON,{state}}}\nNOP\nNOP\nNOP\nIADD R10, PT, R9, R0, !PT {{a={source}}}\n\
         ST.GLOBAL.B32 [R2:RZ], R10"
    );
    let hints = ["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "sm.active_warps=8"];
    let set: Vec<&str> = hints.iter().chain(set).copied().collect();
    Program::new(&code, 1, 32).run(&mut ModelEngine::judged(settings(&set)))
}

#[test]
fn the_word_of_a_register_forgets_and_the_orf_does_not() {
    let orf = ["orf.entries=3", "lrf.banks=split"];
    let value = |result: &str, state: &str, source: &str| below_the_orf(result, state, source, &orf);
    for (result, state, source) in [
        ("MRF+ORF1", "OFF", "ORF1"),
        ("MRF+LRF0", "OFF", "LRF0"),
        ("MRF+ORF1", "SLEEP", "MRF"),
        ("MRF", "SLEEP", "MRF>ORF0"),
        // The field of a result that is above alone means nothing.
        ("ORF2", "OFF", "ORF2"),
        // Levels that name no place are the main register file.
        ("ORF7", "SLEEP", "ORF7"),
    ] {
        assert_eq!(value(result, state, source).unwrap()[..3], [5, 6, 7], "{result} {state} {source}");
    }
    for (result, source) in [("MRF+ORF1", "MRF"), ("MRF+ORF1", "MRF>ORF1"), ("ORF7", "ORF7"), ("MRF", "LRF0")] {
        // A place that the machine does not have is the main register file, which has lost the value.
        let set = if source == "LRF0" { &orf[..1] } else { &orf[..] };
        let lost = below_the_orf(result, "OFF", source, set);
        assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{result} {source}: {lost:?}");
    }
}

#[test]
fn levels_above_save_wake_ups_of_the_main_register_file() {
    let below = ["power.present=true", "compiler.power_threshold=3", "sm.active_warps=8"];
    let with: Vec<&str> = below.iter().copied().chain(["orf.entries=3", "lrf.banks=split"]).collect();
    for name in ["blackScholes", "mandelbrot", "sobolQRNG", "srad"] {
        let wakes = |set: &[&str]| {
            let events = alone(name, settings(set)).0.events;
            (events["wake_sleep"] + events["wake_off"], events["on"])
        };
        let (plain, levels) = (wakes(&below), wakes(&with));
        assert!(levels.0 < plain.0 && levels.1 < plain.1, "{name}: {levels:?} {plain:?}");
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
    /// Places above the main register file.
    places: Places,
    ports: usize,
    /// Results that are on their way to the main register file.
    written_in_main: HashSet<(u8, u8)>,
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

    /// The registers that an instruction reads in the main register file, and the one that it writes there.
    fn accesses(&self, instruction: gpurf_blocks::instruction::Instruction) -> (Vec<u8>, Option<u8>) {
        let decoded = Instruction::decode([instruction.op(), instruction.ctl()]).expect("it executes");
        let sources = Slot::ALL.into_iter().filter_map(|slot| decoded.main_source(slot, self.places));
        (sources.map(|reg| reg.0).collect(), decoded.main_destination(self.places).map(|reg| reg.0))
    }

    fn look(&mut self, cycle: &Cycle<'_>) {
        let (outputs, probe) = (&cycle.probe.outputs, &cycle.probe.states.power_states);
        for p in set_bits(outputs.issue_stage.operand_valid_o) {
            let warp = outputs.warp_scheduler.issue_warp_o[p];
            let (sources, result) = self.accesses(outputs.issue_stage.instruction_o[p]);
            for reg in sources.into_iter().chain(result) {
                assert_eq!(Self::state(probe, warp, reg), (true, false), "R{reg} of warp {warp} as it issues");
                self.set += 1;
            }
            if let Some(reg) = result {
                self.written_in_main.insert((warp, reg));
            }
        }
        let stage = &outputs.operand_stage;
        for p in set_bits(stage.dispatch_valid_o) {
            let warp = stage.dispatch_warp_o[p];
            for reg in self.accesses(stage.dispatch_instruction_o[p]).0 {
                assert!(Self::state(probe, warp, reg).0, "R{reg} of warp {warp} as it has been read");
                self.read += 1;
            }
        }
        for p in set_bits(outputs.writeback.reg_valid_o) {
            let (warp, reg) = (outputs.writeback.reg_warp_o[p], outputs.writeback.reg_o[p]);
            let (on, pending) = Self::state(probe, warp, reg);
            if self.written_in_main.remove(&(warp, reg)) {
                assert!(on, "R{reg} of warp {warp} as it is written");
                self.written += 1;
            } else {
                assert!(!pending, "R{reg} of warp {warp} as it is written above alone");
            }
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
    for (k, name) in INTEGERS.into_iter().chain(FLOATS).enumerate().filter(|(k, _)| k % 2 == 0) {
        let settings = settings(POWER[k / 2]);
        let shape = settings.config.sm_shape();
        let places = Places { orf_entries: settings.config.orf.entries as u8, lrf: settings.config.lrf.banks };
        let observer = Observer {
            warps: shape.warps,
            places,
            ports: shape.ports(),
            written_in_main: HashSet::new(),
            set: 0,
            read: 0,
            written: 0,
        };
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

//! Power states of the main register file's words, below a register file cache.

use std::collections::{HashMap, HashSet};

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::every_field_is_counted;
use crate::common::power::watched;
use crate::common::{FLOATS, INTEGERS, Program, alone, settings};
use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_blocks::rfc::RfcPowerProbe;
use gpurf_isa::{Instruction, Places, PowerState};
use gpurf_machine::{Cycle, LaunchError, ModelEngine};

/// Modes, ports, entries, with and without last result files and reads that allocate.
const BELOW: [&[&str]; 3] = [
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "rfc.entries=6",
        "rfc.live=true",
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
        "rfc.entries=2",
        "rfc.lrf=true",
        "rfc.reads=true",
        "rfc.live=true",
        "rfc.loads=true",
    ],
    &[
        "power.present=true",
        "compiler.power_threshold=9",
        "sm.active_warps=8",
        "sm.alu_latency=2",
        "rfc.entries=1",
        "memory.latency=1",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&BELOW, &[POWER_EVENT, POWER_COUNT_EVENT], &["wait_read"]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&BELOW);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(BELOW[0]);
}

/// R9 is written, perhaps evicted, and read twice: the first time with this state. What the program stores.
fn lost(state: &str, entries: &str) -> Result<Vec<u32>, LaunchError> {
    // The value leaves a cache of one entry as R8 is written.
    let code = format!(
        "MOV R9, 5\nNOP\nMOV R8, 7\nNOP\nNOP\nNOP\nNOP\nNOP\nIADD R10, PT, R9, R0, !PT {{power={state},ON,ON}}\nNOP\nNOP\nNOP\nNOP\n\
         NOP\nNOP\nIADD R10, PT, R9, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R10"
    );
    let set = ["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "sm.active_warps=8", entries];
    Program::new(&code, 1, 32).run(&mut ModelEngine::judged(settings(&set)))
}

#[test]
fn the_word_of_a_register_forgets_and_the_cache_does_not() {
    for state in ["ON", "SLEEP"] {
        assert_eq!(lost(state, "rfc.entries=1").unwrap()[..3], [5, 6, 7], "{state}");
    }
    // It is in the cache, and its word has nothing to lose.
    assert_eq!(lost("OFF", "rfc.entries=8").unwrap()[..3], [5, 6, 7]);
    let lost = lost("OFF", "rfc.entries=1");
    assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{lost:?}");
}

#[test]
fn a_cache_above_saves_wake_ups_of_the_main_register_file() {
    let below = ["power.present=true", "compiler.power_threshold=3", "sm.active_warps=8"];
    let with: Vec<&str> = below.iter().copied().chain(["rfc.entries=6", "rfc.live=true"]).collect();
    for name in ["blackScholes", "mandelbrot", "sobolQRNG", "srad"] {
        let wakes = |set: &[&str]| {
            let statistics = alone(name, settings(set)).0;
            let events = &statistics.events;
            let leaks = ["on", "asleep"].map(|event| events[event] as f64 / statistics.cycles as f64);
            println!("{name}: {} cycles, ON, in SLEEP {leaks:.0?}, to OFF {}", statistics.cycles, events["to_off"]);
            events["wake_sleep"] + events["wake_off"]
        };
        let (plain, cached) = (wakes(&below), wakes(&with));
        assert!(cached < plain, "{name}: {cached} {plain}");
    }
}

/// A register of a warp.
type Word = (u8, u8);

/// Looks at each cycle of the model: states, counts, accesses, and values that are written back although they are dead.
#[derive(Default)]
struct Observer {
    /// Words of the MRF's queues, and those that are dead values'.
    queued: [Option<(Word, bool)>; 2],
    /// Registers that nothing reads any more, until they are written.
    dead: HashSet<Word>,
    /// Words in SLEEP after a dead value has been written.
    vain: HashSet<Word>,
    read: u64,
    written: u64,
    /// Of them dead values; cycles of words in SLEEP after these, and of all.
    dead_written: u64,
    vain_cycles: u64,
    asleep_cycles: u64,
}

impl Observer {
    fn state(probe: &RfcPowerProbe, (warp, reg): Word) -> PowerState {
        let (word, bit) = (4 * usize::from(warp) + usize::from(reg) / 64, usize::from(reg) % 64);
        match (is_set(probe.off_q[word], bit), is_set(probe.asleep_q[word], bit)) {
            (true, _) => PowerState::Off,
            (false, true) => PowerState::Sleep,
            (false, false) => PowerState::On,
        }
    }

    fn look(&mut self, cycle: &Cycle<'_>) {
        let (o, rfc) = (&cycle.probe.outputs, cycle.probe.states.operand_stage.provider.rfc());
        let (nets, probe) = (&rfc.nets, &rfc.power);
        let asleep: u32 = probe.asleep_q.iter().map(|word| word.count_ones()).sum();
        // The bits of elements after the last warp are 0.
        let on: u32 = probe
            .off_q
            .iter()
            .take(4 * 32)
            .zip(&probe.asleep_q)
            .map(|(off, sleeps)| (!(off | sleeps)).count_ones())
            .sum();
        assert_eq!(cycle.out.power_event_o[0] >> 42, u64::from(on), "words that are ON");
        assert_eq!(cycle.out.power_event_o[0] >> 28 & 0x3fff, u64::from(asleep), "words in SLEEP");
        self.asleep_cycles += u64::from(asleep);
        self.vain.retain(|&word| Self::state(probe, word) == PowerState::Sleep);
        self.vain_cycles += self.vain.len() as u64;
        for b in set_bits(nets.mrf_write_done) {
            let (word, dead) = self.queued[b].take().expect("it has been taken");
            assert_eq!(Self::state(probe, word), PowerState::On, "{word:?} as it is written");
            self.written += 1;
            if dead {
                self.dead_written += 1;
                self.vain.insert(word);
            } else {
                self.vain.remove(&word);
            }
        }
        for b in set_bits(nets.mrf_write_valid & nets.mrf_write_ready) {
            let word = (nets.mrf_write_warp[b], nets.mrf_write_reg[b]);
            assert_eq!(Self::state(probe, word), PowerState::On, "{word:?} as it is taken");
            self.queued[b] = Some((word, self.dead.contains(&word)));
        }
        for p in set_bits(o.writeback.write_valid_o & o.operand_stage.write_ready_o) {
            self.dead.remove(&o.writeback.write_o[p].register());
        }
        let stage = &o.operand_stage;
        for p in set_bits(stage.dispatch_valid_o & o.dispatcher.dispatch_ready_o) {
            let (warp, instruction) = (stage.dispatch_warp_o[p], stage.dispatch_instruction_o[p]);
            let sources = instruction.roles().sources();
            for k in set_bits(nets.mrf_dispatch_src_valid >> (3 * p) & 0b111) {
                let word = (warp, sources[k]);
                assert_eq!(Self::state(probe, word), PowerState::On, "{word:?} as it has been read");
                self.read += 1;
            }
            let decoded = Instruction::decode([instruction.op(), instruction.ctl()]).expect("it executes");
            let states: HashMap<u8, PowerState> =
                decoded.power_states(Places::NONE).map(|(register, state)| (register.0, state)).collect();
            for register in sources.into_iter().filter(|register| states.get(register) == Some(&PowerState::Off)) {
                self.dead.insert((warp, register));
            }
        }
    }
}

#[test]
fn every_access_meets_on_and_few_words_sleep_for_dead_values() {
    let (mut vain, mut asleep, mut dead, mut written) = (0, 0, 0, 0);
    for (k, name) in INTEGERS.into_iter().chain(FLOATS).enumerate() {
        let settings = settings(BELOW[k % 3]);
        let is_live = settings.config.rfc.live;
        let seen = watched(name, settings, Observer::default(), Observer::look);
        assert!(seen.read.min(seen.written) > 100, "{name}");
        println!(
            "{name}, live {is_live}: {} of {} values written are dead; {:.2} % of the words in SLEEP",
            seen.dead_written,
            seen.written,
            100.0 * seen.vain_cycles as f64 / seen.asleep_cycles as f64
        );
        if is_live {
            (vain, asleep) = (vain + seen.vain_cycles, asleep + seen.asleep_cycles);
            (dead, written) = (dead + seen.dead_written, written + seen.written);
        }
    }
    println!("with live: {dead} of {written} dead, {:.2} % of SLEEP", 100.0 * vain as f64 / asleep as f64);
    assert!(20 * vain < asleep, "{vain} of {asleep}");
}

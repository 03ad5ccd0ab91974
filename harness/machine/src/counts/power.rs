//! A replay of the power states of the main register file's words: the states that the marks of instructions and the thesis's sentences give (sharing thesis 4.2.3, 4.2.4).

use std::collections::HashMap;

use gpurf_blocks::config::{Config, PowerMode};
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_isa::image::Kernel;
use gpurf_isa::{Instruction, PowerState, ResultLevel, Slot, SourceLevel};

mod cached;

use super::seen::Seen;
use super::uses::Uses;
use super::words::{Place, Tally, Word};
use crate::job::Job;

/// The event words that are counted: both words, with all fields.
pub const WORDS: &[Word] = &[
    Word { fields: POWER_EVENT, at: Place::Power(0), only: &[] },
    Word { fields: POWER_COUNT_EVENT, at: Place::Power(1), only: &[] },
];

/// How an instruction affects the power of registers in the main register file.
struct Accesses {
    /// The registers that it accesses there, each once, with the state that the instruction leaves it in.
    states: Vec<(u8, PowerState)>,
    /// The registers that it reads.
    sources: Vec<u8>,
    destination: Option<u8>,
    predicate: Option<u8>,
}

impl Accesses {
    fn of(instruction: &Instruction, config: &Config) -> Self {
        let Uses { levels, result, long, .. } = Uses::of(instruction);
        // If the machine lacks a level, its operands are in the main register file.
        let places = config.places_above();
        let is_there = |place| places.has(place);
        let in_main = |slot: Slot| !matches!(levels[slot.index()], SourceLevel::Upper(place) if is_there(place));
        let result_in_main = long || !matches!(result, ResultLevel::Upper(place) if is_there(place));
        let destination = instruction.destination().map(|register| register.0).filter(|_| result_in_main);
        // The fields belong to the first two sources, wherever they are; a third source goes to SLEEP.
        let control = &instruction.control;
        let fields = control.source_power.into_iter().chain([PowerState::Sleep]);
        let sources = instruction.sources().zip(fields).filter(|((slot, _), _)| in_main(*slot));
        let sources: Vec<_> = sources.map(|((_, register), state)| (register.0, state)).collect();
        let mut states: Vec<(u8, PowerState)> = destination.map(|d| (d, control.result_power)).into_iter().collect();
        for &(register, state) in &sources {
            if states.iter().all(|&(there, _)| there != register) {
                states.push((register, state));
            }
        }
        if config.power.mode == PowerMode::SleepAlways {
            states.iter_mut().for_each(|(_, state)| *state = PowerState::Sleep);
        }
        Self {
            states,
            sources: sources.into_iter().map(|(register, _)| register).collect(),
            destination,
            predicate: instruction.predicate_destination().map(|predicate| predicate.number()),
        }
    }

    fn accesses(&self, register: u8) -> bool {
        self.states.iter().any(|&(one, _)| one == register)
    }
}

/// The power of a register of a warp.
#[derive(Clone, Copy, PartialEq)]
enum Power {
    Is(PowerState),
    /// ON; when the access in progress ends, it takes this state.
    Becomes(PowerState),
}

/// An instruction in the lookup table.
#[derive(Clone, Copy)]
struct Entry {
    pc: u32,
    issued: bool,
}

/// A warp slot.
#[derive(Default)]
struct Warp {
    /// Registers that are not OFF.
    registers: HashMap<u8, Power>,
    /// Number of these registers in SLEEP; the others are ON.
    asleep: usize,
    /// Remaining cycles of the wake-up in progress.
    waking: Option<usize>,
    /// The lookup table; a free entry is `None`.
    table: Vec<Option<Entry>>,
}

impl Warp {
    fn of(&self, register: u8) -> Power {
        self.registers.get(&register).copied().unwrap_or(Power::Is(PowerState::Off))
    }

    fn set(&mut self, register: u8, power: Power) {
        let before = match power {
            Power::Is(PowerState::Off) => self.registers.remove(&register),
            power => self.registers.insert(register, power),
        };
        self.asleep -= usize::from(before == Some(Power::Is(PowerState::Sleep)));
        self.asleep += usize::from(power == Power::Is(PowerState::Sleep));
    }

    fn clear(&mut self) {
        self.registers.clear();
        (self.asleep, self.waking) = (0, None);
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.table.iter().flatten().copied()
    }

    /// Frees the first entry for which a test holds.
    fn free(&mut self, test: impl Fn(Entry) -> bool) {
        if let Some(place) = self.table.iter_mut().find(|place| place.is_some_and(&test)) {
            *place = None;
        }
    }
}

/// The replay of an SM's power states.
pub struct Replay {
    config: Config,
    mode: PowerMode,
    wake_sleep: usize,
    wake_off: usize,
    program: Vec<Accesses>,
    warps: Vec<Warp>,
    registers: u8,
    /// Warp and address of the instruction at each place of the operand stage.
    collected: HashMap<usize, (usize, u32)>,
    /// Used if a cache is in front of the words: then accesses are known only later.
    below: Option<cached::States>,
}

/// An access that ends: the warp, the register, and whether another instruction still accesses it.
type Ended = (usize, u8, bool);

impl Replay {
    /// `None`: the configuration has no power states.
    pub fn new(config: &Config) -> Option<Self> {
        let power = &config.power;
        let warp = || Warp { table: vec![None; power.table_entries], ..Warp::default() };
        power.present.then(|| Self {
            config: *config,
            mode: power.mode,
            wake_sleep: power.wake_sleep,
            wake_off: power.wake_off,
            program: Vec::new(),
            warps: (0..MAX_WARPS).map(|_| warp()).collect(),
            registers: 0,
            collected: HashMap::new(),
            below: config.sm_shape().services().keeps_states.then(|| cached::States::new(config)),
        })
    }

    /// Called when a launch begins.
    pub fn begin(&mut self, kernel: &Kernel, job: &Job) {
        self.program = kernel.code.iter().map(|instruction| Accesses::of(instruction, &self.config)).collect();
        self.registers = job.registers;
    }

    /// Observes a cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        if let Err(what) = self.follow(seen, tally) {
            tally.object(|| what);
        }
    }

    fn follow(&mut self, seen: &Seen<'_>, tally: &mut Tally) -> Result<(), String> {
        tally.add("full", self.decoded(seen).count() as u64 - self.free_entries(seen));
        tally.add("used", self.warps.iter().flat_map(Warp::entries).count() as u64);
        let dispatched = self.dispatched(seen)?;
        if let Some(mut below) = self.below.take() {
            let followed = below.follow(self, seen, tally);
            self.below = Some(below);
            self.table_edge(seen, &dispatched);
            return followed;
        }
        let ended = self.ended(seen, &dispatched);
        self.table_edge(seen, &dispatched);
        if self.mode == PowerMode::AlwaysOn {
            return Ok(());
        }
        let asleep = self.warps.iter().map(|warp| warp.asleep).sum::<usize>();
        let powered = self.warps.iter().map(|warp| warp.registers.len()).sum::<usize>();
        tally.add("asleep", asleep as u64);
        tally.add("on", (powered - asleep) as u64);
        self.heads(seen, tally)?;
        for (w, register, keep) in ended {
            let Power::Becomes(state) = self.warps[w].of(register) else { continue };
            let kept = keep && self.mode == PowerMode::Greener;
            let state = if kept { PowerState::On } else { state };
            tally.add(
                match state {
                    PowerState::On => "kept",
                    PowerState::Sleep => "to_sleep",
                    PowerState::Off => "to_off",
                },
                1u64,
            );
            self.warps[w].set(register, Power::Is(state));
        }
        for taken in seen.taken.iter().flatten() {
            let warp = &mut self.warps[usize::from(taken.warp)];
            for &(register, state) in &self.program[taken.pc as usize].states {
                if warp.of(register) != Power::Is(PowerState::On) {
                    return Err(format!("warp slot {} issues at {} while R{register} is not ON", taken.warp, taken.pc));
                }
                if state != PowerState::On {
                    warp.set(register, Power::Becomes(state));
                }
            }
        }
        let o = &seen.cycle.probe.outputs;
        for w in set_bits(!o.simt_stack.alive_o & o.scoreboard.idle_o) {
            self.warps[w].clear();
        }
        if o.block_launcher.start_valid_o != 0 && self.mode == PowerMode::SleepAlways {
            let warp = &mut self.warps[usize::from(o.block_launcher.start_warp_o)];
            warp.clear();
            (0..self.registers).for_each(|register| warp.set(register, Power::Is(PowerState::Sleep)));
        }
        Ok(())
    }

    /// Heads that wait, and wake-ups that end.
    fn heads(&mut self, seen: &Seen<'_>, tally: &mut Tally) -> Result<(), String> {
        let o = &seen.cycle.probe.outputs;
        for w in set_bits(o.issue_gate.clear_o) {
            let pc = o.instruction_buffer.head_pc_o[w];
            let accesses = self.program.get(pc as usize).ok_or_else(|| format!("a head at {pc}, beyond the code"))?;
            let warp = &mut self.warps[w];
            let powers: Vec<_> = accesses.states.iter().map(|&(register, _)| (register, warp.of(register))).collect();
            if powers.iter().any(|(_, power)| matches!(power, Power::Becomes(_))) {
                tally.add("wait_read", 1u64);
                continue;
            }
            let latency = |state: PowerState| match state {
                PowerState::On => 0,
                PowerState::Sleep => self.wake_sleep,
                PowerState::Off => self.wake_off,
            };
            let slowest =
                powers.iter().map(|&(_, power)| if let Power::Is(state) = power { latency(state) } else { 0 });
            let slowest = slowest.max().unwrap_or(0);
            if slowest == 0 {
                continue;
            }
            tally.add("wait_wake", 1u64);
            let left = warp.waking.unwrap_or(slowest) - 1;
            warp.waking = (left > 0).then_some(left);
            if left == 0 {
                for (register, power) in powers {
                    match power {
                        Power::Is(PowerState::Sleep) => tally.add("wake_sleep", 1u64),
                        Power::Is(PowerState::Off) => tally.add("wake_off", 1u64),
                        _ => continue,
                    }
                    warp.set(register, Power::Is(PowerState::On));
                }
            }
        }
        Ok(())
    }

    /// Accesses that end in a cycle and change a state, with what the lookup table says of them.
    fn ended(&self, seen: &Seen<'_>, dispatched: &[(usize, u32)]) -> Vec<Ended> {
        let o = &seen.cycle.probe.outputs;
        let mut ended = Vec::new();
        for &(w, pc) in dispatched {
            let accesses = &self.program[pc as usize];
            for &(register, state) in &accesses.states {
                if accesses.sources.contains(&register)
                    && accesses.destination != Some(register)
                    && state != PowerState::On
                {
                    let other = |entry: Entry| entry.pc != pc && self.program[entry.pc as usize].accesses(register);
                    ended.push((w, register, self.warps[w].entries().any(other)));
                }
            }
        }
        for p in set_bits(o.writeback.reg_valid_o) {
            let (w, register) = (usize::from(o.writeback.reg_warp_o[p]), o.writeback.reg_o[p]);
            let writes = |entry: &Entry| entry.issued && self.program[entry.pc as usize].destination == Some(register);
            let own = self.warps[w].entries().find(writes).map(|entry| entry.pc);
            let other = |entry: Entry| Some(entry.pc) != own && self.program[entry.pc as usize].accesses(register);
            ended.push((w, register, self.warps[w].entries().any(other)));
        }
        ended
    }

    /// Warps and addresses of the instructions that are dispatched.
    fn dispatched(&self, seen: &Seen<'_>) -> Result<Vec<(usize, u32)>, String> {
        let place = |tag: &usize| {
            self.collected.get(tag).copied().ok_or_else(|| format!("an instruction leaves place {tag}, where none is"))
        };
        seen.dispatched.iter().flatten().map(place).collect()
    }

    /// Warps and addresses of the instructions that are decoded.
    fn decoded(&self, seen: &Seen<'_>) -> impl Iterator<Item = (usize, u32)> + use<> {
        let fetch = &seen.cycle.probe.outputs.fetch;
        let (valid, warps, pcs) = (fetch.decode_valid_o, fetch.decode_warp_o, fetch.decode_pc_o);
        set_bits(valid).map(move |p| (usize::from(warps[p]), pcs[p]))
    }

    /// Number of these instructions that find a free entry.
    fn free_entries(&self, seen: &Seen<'_>) -> u64 {
        self.decoded(seen).filter(|&(w, _)| self.warps[w].table.iter().any(Option::is_none)).count() as u64
    }

    /// Updates the lookup table at the clock edge.
    fn table_edge(&mut self, seen: &Seen<'_>, dispatched: &[(usize, u32)]) {
        let o = &seen.cycle.probe.outputs;
        let places: Vec<_> =
            self.decoded(seen).map(|(w, pc)| (w, pc, self.warps[w].table.iter().position(Option::is_none))).collect();
        for &(w, pc) in dispatched {
            let accesses = &self.program[pc as usize];
            if accesses.destination.is_none() && accesses.predicate.is_none() {
                self.warps[w].free(|entry| entry.issued && entry.pc == pc);
            }
        }
        for p in set_bits(o.writeback.reg_valid_o) {
            let (w, register) = (usize::from(o.writeback.reg_warp_o[p]), o.writeback.reg_o[p]);
            let program = &self.program;
            let writes = |entry: Entry| entry.issued && program[entry.pc as usize].destination == Some(register);
            self.warps[w].free(writes);
        }
        for p in set_bits(o.writeback.pred_valid_o) {
            let (w, predicate) = (usize::from(o.writeback.pred_warp_o[p]), o.writeback.pred_o[p]);
            let program = &self.program;
            self.warps[w].free(|entry| {
                let accesses = &program[entry.pc as usize];
                entry.issued && accesses.destination.is_none() && accesses.predicate == Some(predicate)
            });
        }
        for p in set_bits(o.warp_scheduler.issue_valid_o) {
            let (w, pc) = (usize::from(o.issue_stage.warp_o[p]), o.issue_stage.instruction_o[p].pc());
            let stays = seen.taken[p].is_some();
            let place = self.warps[w].table.iter_mut().find(|place| place.is_some_and(|e| !e.issued && e.pc == pc));
            if let Some(place) = place {
                *place = stays.then_some(Entry { pc, issued: true });
            }
        }
        for taken in seen.taken.iter().flatten() {
            self.collected.insert(taken.tag, (taken.warp.into(), taken.pc));
        }
        for (w, pc, place) in places {
            if let Some(place) = place {
                self.warps[w].table[place] = Some(Entry { pc, issued: false });
            }
        }
    }
}

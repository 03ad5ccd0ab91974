//! A block that a testbench drives.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use gpurf_blocks::config::{Config, ConfigError, DEFAULT_PRESET, Start};
use gpurf_blocks::{Declaration, Field, Role, Stepwise};
use gpurf_lockstep::{Comparator, RESET_CYCLES, Records, Stimulus, report};
use gpurf_sm::NoBlock;
use gpurf_stimulus::Coverage;

use crate::vector::Vector;

/// Why a call fails.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No block has this name.
    #[error(transparent)]
    NoBlock(#[from] NoBlock),
    /// The preset or the settings are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An index that is too large.
    #[error("{block} has no {what} {index}: it has {count}, counted from 0")]
    NoSuch {
        /// The block.
        block: &'static str,
        /// The kind of item.
        what: &'static str,
        /// The index.
        index: u64,
        /// Number of items.
        count: usize,
    },
    /// No signal has this name.
    #[error("{block} has no signal {name} in this shape; the block's page in docs/blocks lists them")]
    NoSignal {
        /// The block.
        block: &'static str,
        /// The name.
        name: String,
    },
    /// Only inputs can be set.
    #[error("{block}.{name} is not an input: it cannot be set")]
    NotAnInput {
        /// The block.
        block: &'static str,
        /// The signal.
        name: String,
    },
    /// Only outputs are compared.
    #[error("{block}.{name} is not an output: it is not compared")]
    NotAnOutput {
        /// The block.
        block: &'static str,
        /// The signal.
        name: String,
    },
    /// A value with bits above the signal's width.
    #[error("{block}.{name} has {bits} bits; the value has more")]
    TooWide {
        /// The block.
        block: &'static str,
        /// The signal.
        name: String,
        /// Its width.
        bits: u32,
    },
    /// A probe of a block that is not watched.
    #[error("{block}.{name} is inside the block: call gpurf_watch(block, 1) before the cycle is settled")]
    NotWatched {
        /// The block.
        block: &'static str,
        /// The signal.
        name: String,
    },
    /// Random inputs without a seed.
    #[error("{block} has no random inputs yet: call gpurf_seed first")]
    NoSeed {
        /// The block.
        block: &'static str,
    },
    /// The SM has no random inputs.
    #[error("{block} has no random inputs and no coverage of its own: programs run on it (gpurf program, gpurf run)")]
    NoStimulus {
        /// The block.
        block: &'static str,
    },
    /// An edge of a cycle that has not been settled.
    #[error("{block}: settle the cycle before its edge, and again after an input has changed")]
    NotSettled {
        /// The block.
        block: &'static str,
    },
    /// The twin has panicked.
    #[error(
        "{block}: the model failed in cycle {cycle}: {message}. Inputs that the block's page does not allow do that"
    )]
    Failed {
        /// The block.
        block: &'static str,
        /// The cycle.
        cycle: u64,
        /// The message of the panic.
        message: String,
    },
    /// A state of another block or shape.
    #[error("the saved state is that of {saved}, not of {block} with these parameters")]
    OtherState {
        /// The block.
        block: &'static str,
        /// The block that was saved.
        saved: &'static str,
    },
}

/// The signals that are compared with a user's RTL: the ports, and the probes that are valids of outputs. Also returns the bytes of these probes.
fn ports(declaration: &Declaration) -> (Declaration, Vec<Range<usize>>) {
    let signals = &declaration.signals;
    let is_port = |index: &usize| signals[*index].role != Role::Probe;
    let probes = (0..signals.len()).filter(is_port).filter_map(|index| signals[index].valid);
    let probes: BTreeSet<usize> = probes.filter(|valid| !is_port(valid)).collect();
    let kept: Vec<usize> = (0..signals.len()).filter(is_port).chain(probes.iter().copied()).collect();
    let mut ports = declaration.clone();
    ports.signals = kept.iter().map(|&index| signals[index].clone()).collect();
    for signal in &mut ports.signals {
        // A probe's own valid is dropped if it is not among them: both sides have the same value of the probe.
        signal.valid = signal.valid.and_then(|valid| kept.iter().position(|&index| index == valid));
    }
    let extent = |index: usize| {
        let field = &signals[index].field;
        field.offset..field.offset + field.count * field.elem_bytes
    };
    (ports, probes.into_iter().map(extent).collect())
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the model; a panic becomes an error with its text. The panic is not printed, because the caller reports the error.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let text = |payload: Box<dyn Any + Send>| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().copied().unwrap_or("without a message").to_owned(),
    };
    let outer = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(text);
    QUIET.set(outer);
    result
}

/// Random inputs.
struct Random {
    stimulus: Box<dyn Stimulus + Send>,
    /// Remaining cycles of reset.
    reset: usize,
}

/// The part of a bench that changes from cycle to cycle: [`Bench::save`] copies it, [`Bench::restore`] restores it.
pub struct State {
    twin: Box<dyn Stepwise>,
    record: Records,
    cycle: u64,
    /// Whether the outputs belong to the current inputs and state.
    settled: bool,
    /// Whether the last settling computed the probes.
    probed: bool,
    /// Whether there was an edge in reset, after which both sides have the same state.
    armed: bool,
}

impl State {
    fn copy(&self) -> Self {
        Self { twin: self.twin.copy(), record: self.record.clone(), ..*self }
    }
}

/// A block, the signals of its current cycle, and the settings of its testbench.
pub struct Bench {
    state: State,
    config: Config,
    inputs: Vector,
    outputs: Vector,
    /// The outputs of the testbench's RTL; the inputs are the model's.
    rtl: Records,
    comparator: Comparator,
    /// Bytes of the probes that are valids of outputs: the model's values stand for the RTL's.
    borrowed: Vec<Range<usize>>,
    reset: Option<usize>,
    watched: bool,
    failed: bool,
    random: Option<Random>,
    coverage: Option<Coverage>,
    /// Indices of the outputs that are not compared.
    ignored: Vec<usize>,
    report: String,
}

impl Bench {
    /// Creates a block, in the state after reset. `preset`: a name, or the path of a TOML file; empty: the default preset.
    ///
    /// # Errors
    /// There is no such block, or the configuration is wrong.
    pub fn new(block: &str, preset: &str, settings: &str) -> Result<Self, BenchError> {
        let entry = gpurf_sm::named(block)?;
        let start = match preset {
            "" => Start::Preset(DEFAULT_PRESET),
            path if path.ends_with(".toml") => Start::File(Path::new(path)),
            name => Start::Preset(name),
        };
        let settings: Vec<&str> = settings.split_whitespace().collect();
        let config = Config::load(start, &settings)?;
        let twin = (entry.stepwise)(&config);
        let declaration = twin.declaration().clone();
        let [record, rtl] = [(); 2].map(|()| Records::zeroed(declaration.record_bytes, 1));
        let (ports, borrowed) = ports(&declaration);
        let reset = declaration.signal("rst_ni").map(|signal| signal.field.offset);
        let mut bench = Self {
            inputs: Vector::of(&declaration, Role::Input),
            outputs: Vector::of(&declaration, Role::Output),
            comparator: Comparator::new(&ports, None),
            borrowed,
            state: State { twin, record, cycle: 0, settled: false, probed: false, armed: reset.is_none() },
            config,
            rtl,
            reset,
            watched: false,
            failed: false,
            random: None,
            coverage: None,
            ignored: Vec::new(),
            report: String::new(),
        };
        // A testbench that does not use reset need not drive it.
        if let Some(reset) = bench.reset {
            bench.state.record.get_mut(0)[reset] = 1;
        }
        Ok(bench)
    }

    /// The declaration of the signals.
    pub fn declaration(&self) -> &Declaration {
        self.state.twin.declaration()
    }

    fn block(&self) -> &'static str {
        self.declaration().block
    }

    /// The vector of the inputs.
    pub fn inputs(&self) -> &Vector {
        &self.inputs
    }

    /// The vector of the outputs.
    pub fn outputs(&self) -> &Vector {
        &self.outputs
    }

    /// The number of the current cycle: edges since the block was made.
    pub fn cycle(&self) -> u64 {
        self.state.cycle
    }

    /// Index of the signal of that name: a port's, or a probe's path.
    ///
    /// # Errors
    /// There is no such signal.
    pub fn find(&self, name: &str) -> Result<usize, BenchError> {
        let is = |field: &Field| name.strip_prefix(&field.scope[..]).is_some_and(|rest| rest == field.name);
        let found = self.declaration().signals.iter().position(|signal| is(&signal.field));
        found.ok_or_else(|| BenchError::NoSignal { block: self.block(), name: name.to_owned() })
    }

    fn no_such(&self, what: &'static str, index: u64, count: usize) -> BenchError {
        BenchError::NoSuch { block: self.block(), what, index, count }
    }

    /// The field of a signal, and the range of one of its elements in the record.
    fn element(&self, signal: usize, element: usize) -> Result<(Role, &Field, Range<usize>), BenchError> {
        let signals = &self.declaration().signals;
        let found = signals.get(signal).ok_or_else(|| self.no_such("signal", signal as u64, signals.len()))?;
        let field = &found.field;
        if element >= field.count {
            return Err(self.no_such("element", element as u64, field.count));
        }
        let start = field.offset + element * field.elem_bytes;
        Ok((found.role, field, start..start + field.elem_bytes))
    }

    /// Sets an element of an input; words are 32 bits, the lowest first, missing ones are 0.
    ///
    /// # Errors
    /// There is no such element, it is not an input, or the value is too wide.
    pub fn set(&mut self, signal: usize, element: usize, words: &[u32]) -> Result<(), BenchError> {
        let (role, field, range) = self.element(signal, element)?;
        let name = || format!("{}{}", field.scope, field.name);
        if role != Role::Input {
            return Err(BenchError::NotAnInput { block: self.block(), name: name() });
        }
        let bits = field.bits as usize;
        let above = |(at, &word): (usize, &u32)| {
            let low = at * 32;
            if low >= bits { word != 0 } else { bits - low < 32 && word >> (bits - low) != 0 }
        };
        if words.iter().enumerate().any(above) {
            return Err(BenchError::TooWide { block: self.block(), name: name(), bits: field.bits });
        }
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).chain(std::iter::repeat(0));
        for (to, byte) in self.state.record.get_mut(0)[range].iter_mut().zip(bytes) {
            *to = byte;
        }
        self.state.settled = false;
        Ok(())
    }

    /// Reads an element of any signal; words above its width are 0.
    ///
    /// # Errors
    /// There is no such element, or it is a probe that was not computed.
    pub fn get(&self, signal: usize, element: usize, words: &mut [u32]) -> Result<(), BenchError> {
        let (role, field, _) = self.element(signal, element)?;
        if role == Role::Probe && !(self.watched && self.state.probed) {
            let name = format!("{}{}", field.scope, field.name);
            return Err(BenchError::NotWatched { block: self.block(), name });
        }
        let found = field.words(self.state.record.get(0), element).chain(std::iter::repeat(0));
        words.iter_mut().zip(found).for_each(|(word, found)| *word = found);
        Ok(())
    }

    /// Whether an element is valid in this cycle.
    ///
    /// # Errors
    /// There is no such element.
    pub fn is_valid(&self, signal: usize, element: usize) -> Result<bool, BenchError> {
        self.element(signal, element)?;
        Ok(self.declaration().is_valid(self.state.record.get(0), signal, element))
    }

    /// Sets words of the inputs' vector, from word `first` on.
    pub fn put_inputs(&mut self, first: usize, words: &[u32]) {
        self.inputs.put(first, words, self.state.record.get_mut(0));
        self.state.settled = false;
    }

    /// Reads words of the inputs' vector.
    pub fn get_inputs(&self, first: usize, words: &mut [u32]) {
        self.inputs.get(first, words, self.state.record.get(0));
    }

    /// Sets words of the vector of outputs with which [`Bench::check`] compares.
    pub fn put_outputs(&mut self, first: usize, words: &[u32]) {
        self.outputs.put(first, words, self.rtl.get_mut(0));
    }

    /// Reads words of the model's outputs' vector.
    pub fn get_outputs(&self, first: usize, words: &mut [u32]) {
        self.outputs.get(first, words, self.state.record.get(0));
    }

    /// Sets whether probes are computed, from the next settling on.
    pub fn watch(&mut self, on: bool) {
        self.watched = on;
        self.state.settled = false;
    }

    fn run(&mut self, work: impl FnOnce(&mut Self)) -> Result<(), BenchError> {
        let (block, cycle) = (self.block(), self.state.cycle);
        if self.failed {
            let message = "it has failed before; go back with gpurf_restore".to_owned();
            return Err(BenchError::Failed { block, cycle, message });
        }
        caught(|| work(self)).map_err(|message| {
            self.failed = true;
            BenchError::Failed { block, cycle, message }
        })
    }

    fn needs_probes(&self) -> bool {
        self.watched || self.coverage.is_some() || !self.borrowed.is_empty()
    }

    /// Computes the outputs, and the probes if they are watched.
    ///
    /// # Errors
    /// The model fails.
    pub fn settle(&mut self) -> Result<(), BenchError> {
        let probed = self.needs_probes();
        self.run(|bench| {
            let input_bytes = bench.declaration().input_bytes;
            let (inputs, compared) = bench.state.record.get_mut(0).split_at_mut(input_bytes);
            bench.state.twin.settle(inputs, compared, probed);
            (bench.state.settled, bench.state.probed) = (true, probed);
        })
    }

    /// The clock edge.
    ///
    /// # Errors
    /// The cycle is not settled, or the model fails.
    pub fn edge(&mut self) -> Result<(), BenchError> {
        if !self.state.settled {
            return Err(BenchError::NotSettled { block: self.block() });
        }
        self.run(|bench| {
            let (inputs, compared) = bench.state.record.get(0).split_at(bench.state.twin.declaration().input_bytes);
            if let Some(coverage) =
                bench.coverage.as_mut().filter(|_| bench.reset.is_none_or(|reset| inputs[reset] != 0))
            {
                coverage.observe(inputs, compared);
            }
            bench.state.twin.edge(inputs, compared);
            bench.state.armed |= bench.reset.is_some_and(|reset| inputs[reset] == 0);
            bench.state.settled = false;
            bench.state.cycle += 1;
        })
    }

    /// [`settle`](Self::settle) and [`edge`](Self::edge).
    ///
    /// # Errors
    /// The model fails.
    pub fn step(&mut self) -> Result<(), BenchError> {
        self.settle()?;
        self.edge()
    }

    /// Leaves an output out of the comparison.
    ///
    /// # Errors
    /// There is no such output.
    pub fn ignore(&mut self, name: &str) -> Result<(), BenchError> {
        let signal = self.find(name)?;
        if self.declaration().signals[signal].role != Role::Output {
            return Err(BenchError::NotAnOutput { block: self.block(), name: name.to_owned() });
        }
        self.ignored.push(signal);
        Ok(())
    }

    /// Settles, compares the outputs with those of the RTL, and takes the edge. Returns the number of elements that differ.
    ///
    /// # Errors
    /// The model fails.
    pub fn check(&mut self) -> Result<usize, BenchError> {
        self.settle()?;
        self.report.clear();
        let declaration = self.state.twin.declaration();
        let in_reset = self.reset.is_some_and(|reset| self.state.record.get(0)[reset] == 0);
        let mut differences = Vec::new();
        if self.state.armed && !in_reset {
            let input_bytes = declaration.input_bytes;
            for range in std::iter::once(0..input_bytes).chain(self.borrowed.iter().cloned()) {
                self.rtl.get_mut(0)[range.clone()].copy_from_slice(&self.state.record.get(0)[range]);
            }
            differences = self.comparator.differences(self.state.record.get(0), self.rtl.get(0));
            differences.retain(|difference| !self.ignored.contains(&difference.signal));
        }
        for difference in &differences {
            let field = &declaration.signals[difference.signal].field;
            let [model, rtl] =
                [&self.state.record, &self.rtl].map(|side| report::value(field, side.get(0), difference.element));
            let line = format!(
                "cycle {} {}.{}: model {model}, rtl {rtl}: {}\n",
                self.state.cycle,
                declaration.block,
                report::name(declaration, difference),
                field.doc.lines().next().unwrap_or_default().trim_end_matches('.'),
            );
            self.report.push_str(&line);
        }
        self.edge()?;
        Ok(differences.len())
    }

    /// A line for each difference of the last comparison.
    pub fn report(&self) -> &str {
        self.report.trim_end()
    }

    fn stimulated(&self) -> Result<&'static str, BenchError> {
        let block = self.block();
        if block == gpurf_sm::ENTRY.name { Err(BenchError::NoStimulus { block }) } else { Ok(block) }
    }

    /// Begins the block's random inputs.
    ///
    /// # Errors
    /// The SM has none.
    pub fn seed(&mut self, seed: u64) -> Result<(), BenchError> {
        let stimulus = gpurf_stimulus::random(self.stimulated()?, &self.config, seed);
        self.random = Some(Random { stimulus, reset: if self.reset.is_some() { RESET_CYCLES } else { 0 } });
        Ok(())
    }

    /// Sets the inputs to the random ones of the next cycle.
    ///
    /// # Errors
    /// There is no seed.
    pub fn stimulate(&mut self) -> Result<(), BenchError> {
        let block = self.block();
        let input_bytes = self.declaration().input_bytes;
        let random = self.random.as_mut().ok_or(BenchError::NoSeed { block })?;
        let inputs = &mut self.state.record.get_mut(0)[..input_bytes];
        if random.reset > 0 {
            random.reset -= 1;
            inputs.fill(0);
        } else {
            random.stimulus.next(inputs);
        }
        self.state.settled = false;
        Ok(())
    }

    /// Starts to count the situations that the block's page describes.
    ///
    /// # Errors
    /// The block is the SM: its situations are counted elsewhere.
    pub fn cover(&mut self) -> Result<(), BenchError> {
        self.coverage = Some(gpurf_stimulus::coverage(self.stimulated()?, &self.config));
        self.state.settled = false;
        Ok(())
    }

    /// The situations and how often each one was reached; none before [`Bench::cover`].
    pub fn points(&self) -> Vec<(&'static str, u64)> {
        self.coverage.as_ref().map(Coverage::counts).unwrap_or_default()
    }

    /// Path, width of a word in bits, and number of words of each memory.
    pub fn memories(&mut self) -> Vec<(String, u32, usize)> {
        self.state.twin.memories().into_iter().map(|memory| (memory.path.clone(), memory.bits, memory.len())).collect()
    }

    /// Passes a word of a memory to `access`, as 32-bit words, the lowest first.
    fn word<T>(
        &mut self,
        memory: usize,
        word: u64,
        access: impl FnOnce(&mut [u32], u32) -> T,
    ) -> Result<T, BenchError> {
        let block = self.block();
        let mut memories = self.state.twin.memories();
        let no_such = |what, index, count| BenchError::NoSuch { block, what, index, count };
        let count = memories.len();
        let found = memories.get_mut(memory).ok_or(no_such("memory", memory as u64, count))?;
        let (stride, length) = (found.stride(), found.len());
        let at = usize::try_from(word).ok().filter(|&at| at < length).ok_or(no_such("word", word, length))?;
        let bits = found.bits;
        Ok(access(&mut found.words[at * stride..(at + 1) * stride], bits))
    }

    /// Reads a word of a memory; words above its width are 0.
    ///
    /// # Errors
    /// There is no such word.
    pub fn read(&mut self, memory: usize, word: u64, words: &mut [u32]) -> Result<(), BenchError> {
        self.word(memory, word, |found, _| {
            words.fill(0);
            let count = words.len().min(found.len());
            words[..count].copy_from_slice(&found[..count]);
        })
    }

    /// Writes a word of a memory; bits above its width are dropped, missing ones are 0.
    ///
    /// # Errors
    /// There is no such word.
    pub fn write(&mut self, memory: usize, word: u64, words: &[u32]) -> Result<(), BenchError> {
        self.word(memory, word, |found, bits| {
            for (at, to) in found.iter_mut().enumerate() {
                let width = (bits as usize - at * 32).min(32);
                *to = words.get(at).copied().unwrap_or(0) & (u64::MAX >> (64 - width)) as u32;
            }
        })?;
        self.state.settled = false;
        Ok(())
    }

    /// A copy of the state.
    pub fn save(&self) -> State {
        self.state.copy()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// It is that of another block or of other parameters.
    pub fn restore(&mut self, saved: &State) -> Result<(), BenchError> {
        let (mine, other) = (self.declaration(), saved.twin.declaration());
        if (mine.block, &mine.parameters, mine.record_bytes) != (other.block, &other.parameters, other.record_bytes) {
            return Err(BenchError::OtherState { block: mine.block, saved: other.block });
        }
        self.state = saved.copy();
        // The cycle may have been settled at a time when no probes were needed.
        self.state.settled &= self.state.probed || !self.needs_probes();
        self.failed = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A testbench may read a memory between the settling of a cycle and its edge; a write changes the state.
    #[test]
    fn a_settled_cycle_stays_settled_when_a_memory_is_read() {
        let mut bench = Bench::new("mrf", "", "").unwrap();
        bench.settle().unwrap();
        bench.read(0, 0, &mut [0]).unwrap();
        bench.edge().unwrap();
        bench.settle().unwrap();
        assert!(bench.write(0, u64::MAX, &[1]).is_err());
        bench.edge().unwrap();
        bench.settle().unwrap();
        bench.write(0, 0, &[1]).unwrap();
        assert!(matches!(bench.edge(), Err(BenchError::NotSettled { .. })));
    }

    /// A state that was settled without probes has none when it is restored.
    #[test]
    fn a_restored_state_has_the_probes_with_which_it_was_settled() {
        let mut bench = Bench::new("mrf", "", "").unwrap();
        assert!(bench.borrowed.is_empty(), "a block whose probes are always computed shows nothing here");
        let probe = bench.find("fill_q").unwrap();
        let get = |bench: &Bench| bench.get(probe, 0, &mut [0]);
        bench.settle().unwrap();
        let plain = bench.save();
        bench.watch(true);
        assert!(matches!(get(&bench), Err(BenchError::NotWatched { .. })));
        bench.settle().unwrap();
        let probed = bench.save();
        bench.restore(&plain).unwrap();
        assert!(matches!(get(&bench), Err(BenchError::NotWatched { .. })));
        assert!(matches!(bench.edge(), Err(BenchError::NotSettled { .. })));
        bench.restore(&probed).unwrap();
        get(&bench).unwrap();
        bench.edge().unwrap();
        // Without a need for probes, both states continue.
        bench.watch(false);
        for saved in [&plain, &probed] {
            bench.restore(saved).unwrap();
            bench.edge().unwrap();
        }
    }

    #[test]
    fn a_model_that_panics_is_an_error_until_a_state_is_restored() {
        let mut bench = Bench::new("mrf", "", "").unwrap();
        let saved = bench.save();
        bench.step().unwrap();
        let message = bench.run(|bench| panic!("no entry {}", bench.state.cycle)).unwrap_err().to_string();
        let cause = "mrf: the model failed in cycle 1: no entry 1. Inputs that the block's page does not allow do that";
        assert_eq!(message, cause);
        assert!(bench.step().unwrap_err().to_string().contains("go back with gpurf_restore"));
        bench.restore(&saved).unwrap();
        bench.step().unwrap();
        assert_eq!(bench.cycle(), 1);
    }
}

//! Measures what lockstep costs, as ratios of speeds within one run.
//!
//! Three programs do the same work, one after the other, several times: the lockstep, the plain Verilator model (built without probes and assertions,
//! without comparison), and the Rust model alone. For a block the work is a run of recorded inputs, for the SM a kernel with memory and host. A checksum
//! proves that all three did the same work.

mod compiler;
mod machine;
mod sizes;
mod stopwatch;

use std::time::Duration;

pub use compiler::{CompilerRow, compiler};
pub use machine::{machine, machine_name};
pub use sizes::{SizeRow, sweeps};

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfIn;
use gpurf_blocks::write::WriteWord;
use gpurf_blocks::{Declaration, Ports, Role, Twin, view_mut};
use gpurf_lockstep::{Comparator, RESET_CYCLES, Records};
use serde::Serialize;
use std::hash::Hasher;
use verilated::{Instance, Options, Toolchain};

use crate::{JobError, Project, RtlSources, request};
use stopwatch::Stopwatch;

/// Number of recorded cycles, which are run repeatedly. They begin with a reset, so that every pass starts from the same state.
const RECORDED: usize = 4096;
/// Cycles of one call, for a side that runs alone.
const CHUNK: usize = 64;
/// Cycles of one call in the lockstep.
const LOCKSTEP_CHUNK: usize = 16;
/// Records of the lockstep's flight recorder.
const RING: usize = 272;
/// Number of rounds; the median counts. Rounds are many and short: the three are compared within a round, and other load of the machine changes slowly.
const ROUNDS: usize = 25;

/// One row of the results.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Block and kind of load.
    pub name: String,
    /// Speed of the lockstep, in thousand cycles per second.
    pub lockstep: f64,
    /// Speed of plain Verilator.
    pub verilator: f64,
    /// Speed of the model alone.
    pub model: f64,
    /// Speed of the lockstep with the model on a second thread, in thousand cycles per second of wall time; for the SM only.
    pub threaded: Option<f64>,
    /// `lockstep / verilator`: the median of the rounds' ratios.
    pub lockstep_ratio: f64,
    /// `model / verilator`: the median of the rounds' ratios.
    pub model_ratio: f64,
    /// As `threaded_ratio`, but with the processor time of the RTL's thread: this ratio is not disturbed by other programs on the machine.
    pub follower_ratio: Option<f64>,
    /// Wall time of plain Verilator on one thread, divided by that of the lockstep on two: the median of the rounds' ratios.
    pub threaded_ratio: Option<f64>,
    /// Plain Verilator compiled with a profile, relative to plain Verilator without; present if the lockstep is compiled with one.
    pub trained_ratio: Option<f64>,
    /// Checksum of the outputs; equal for all three.
    pub checksum: String,
}

/// The name of a row.
pub fn mrf_name(config: &Config, idle: bool) -> String {
    let (shape, load) = (config.shape(), if idle { "idle" } else { "random" });
    format!("mrf, {} banks, {} collectors, {load}", shape.banks, shape.collectors)
}

/// Measures `mrf` in a configuration: `time` for each side, all rounds together. `idle`: the inputs never offer anything.
///
/// # Errors
/// When the RTL cannot be built, or the three checksums differ.
pub fn mrf(project: &Project, tools: &Toolchain, config: &Config, idle: bool, time: Duration) -> Result<Row, JobError> {
    let none = RtlSources::default();
    let probed = request(project, "mrf", config, &none, Options::default())?;
    let plain = Options { probes: false, assertions: false, settle_once: false, ..Options::default() };
    let plain = request(project, "mrf", config, &none, plain)?;
    let declaration = probed.declaration.clone();
    let inputs = record_inputs(&declaration, config, idle);
    let bench = Bench { comparator: Comparator::new(&declaration, None), declaration, inputs };

    let failed = |f: verilated::RtlFailure| JobError::Build(f.to_string());
    let (probed, plain) = (tools.build(&probed)?, tools.build(&plain)?);
    let twin = || gpurf_sm::find("mrf").map(|b| (b.twin)(config)).expect("a block of the list");
    let mut speeds: [Vec<f64>; 3] = Default::default();
    let mut sums = [0; 3];
    let time = time / ROUNDS as u32;
    for round in 0..=ROUNDS {
        // New instances in each round: the address at which a model happens to be allocated changes its speed by up to a tenth.
        let mut probed = probed.instance(1).map_err(failed)?;
        let mut plain = plain.instance(1).map_err(failed)?;
        let measured = [
            bench.lockstep(&mut *twin(), &mut probed, time)?,
            bench.plain(&mut plain, time),
            bench.model(&mut *twin(), time),
        ];
        for (side, (cycles, elapsed, sum)) in measured.into_iter().enumerate() {
            if round > 0 {
                speeds[side].push(cycles as f64 / elapsed.as_secs_f64() / 1e3);
            }
            sums[side] = sum;
        }
    }
    if sums[0] != sums[1] || sums[1] != sums[2] {
        return Err(JobError::Build(format!("the three did not do the same work: checksums {sums:x?}")));
    }
    let ratio = |side: usize| median(speeds[side].iter().zip(&speeds[1]).map(|(a, b)| a / b).collect());
    let (lockstep_ratio, model_ratio) = (ratio(0), ratio(2));
    let [lockstep, verilator, model] = speeds.map(median);
    Ok(Row {
        name: mrf_name(config, idle),
        lockstep,
        verilator,
        model,
        threaded: None,
        lockstep_ratio,
        model_ratio,
        follower_ratio: None,
        threaded_ratio: None,
        trained_ratio: None,
        checksum: format!("{:016x}", sums[0]),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Inputs of a run.
struct Inputs {
    /// A reset and a write to every register: the memories of the plain model cannot be initialised in another way.
    prelude: Records,
    /// The measured part, which is repeated: a reset, then random or idle cycles.
    body: Records,
}

/// Records the inputs of a run.
fn record_inputs(declaration: &Declaration, config: &Config, idle: bool) -> Inputs {
    let shape = config.shape();
    let mut prelude = Records::new(declaration.input_bytes);
    let mut row = MrfIn::zeroed();
    let mut push = |row: &MrfIn| {
        prelude.resize(prelude.len() + 1);
        let last = prelude.len() - 1;
        *view_mut(prelude.get_mut(last)) = *row;
    };
    (0..RESET_CYCLES).for_each(|_| push(&row));
    row.rst_ni = 1;
    for entry in 0..shape.depth {
        for register in 0..shape.banks {
            row.write_valid_i = 1;
            row.write_base_i[0] = entry as u16;
            row.write_i[0] = WriteWord::new(0, register as u8, u32::MAX);
            row.write_data_i[0].0.fill((entry * shape.banks + register) as u32);
            push(&row);
        }
    }
    row.write_valid_i = 0;
    // An idle cycle ends the last write; it is repeated up to a whole number of chunks.
    push(&row);
    let whole = prelude.len().next_multiple_of(CHUNK);
    while prelude.len() < whole {
        let last = prelude.get(prelude.len() - 1).to_vec();
        prelude.push(&last);
    }

    let mut stimulus = gpurf_stimulus::random("mrf", config, 7);
    let mut body = Records::zeroed(declaration.input_bytes, RECORDED);
    for cycle in 0..RECORDED {
        let record = body.get_mut(cycle);
        if !idle {
            stimulus.next(record);
        }
        view_mut::<MrfIn>(record).rst_ni = u8::from(cycle >= RESET_CYCLES);
    }
    Inputs { prelude, body }
}

struct Bench {
    declaration: Declaration,
    comparator: Comparator,
    inputs: Inputs,
}

/// Cycles, time, and the checksum of a pass that is not timed.
type Measured = (u64, Duration, u64);

impl Bench {
    /// The lockstep's inner loop: both sides, everything compared, the flight recorder kept.
    fn lockstep(&self, twin: &mut dyn Twin, rtl: &mut Instance, time: Duration) -> Result<Measured, JobError> {
        let (size, input_bytes) = (self.declaration.record_bytes, self.declaration.input_bytes);
        let mut ring = Records::zeroed(size, RING);
        let mut actual = Records::zeroed(size, LOCKSTEP_CHUNK);
        let mut differ = None;
        let measured = self.passes(time, LOCKSTEP_CHUNK, |inputs, start, sum| {
            let place = start % RING;
            fill(&mut ring, place, inputs, start, LOCKSTEP_CHUNK);
            for cycle in place..place + LOCKSTEP_CHUNK {
                let (driven, compared) = ring.get_mut(cycle).split_at_mut(input_bytes);
                twin.cycle(driven, compared);
            }
            // The prelude begins before reset has taken effect; it is not measured either.
            if std::ptr::eq(inputs, &raw const self.inputs.prelude) {
                fill(&mut actual, 0, inputs, start, LOCKSTEP_CHUNK);
                let (_, outcome) = rtl.cycles(actual.all_mut(), LOCKSTEP_CHUNK);
                outcome.unwrap_or_else(|f| differ = Some(f.to_string()));
            } else if let Err(text) = self.follow(rtl, &ring, place, actual.get_mut(0)) {
                differ = Some(text);
            }
            (place..place + LOCKSTEP_CHUNK).for_each(|cycle| self.add(sum, ring.get(cycle)));
        });
        differ.map_or(Ok(measured), |d| Err(JobError::Build(d)))
    }

    /// Lets the RTL follow the model's chunk and compares it.
    fn follow(&self, rtl: &mut Instance, ring: &Records, place: usize, actual: &mut [u8]) -> Result<(), String> {
        let mut done = 0;
        while done < LOCKSTEP_CHUNK {
            let followed = rtl.follow(&ring.all()[(place + done) * ring.size()..], LOCKSTEP_CHUNK - done, actual);
            followed.result.map_err(|f| f.to_string())?;
            done += followed.done;
            if followed.differs {
                if !self.comparator.differences(ring.get(place + done), actual).is_empty() {
                    return Err("the two sides differ: run the lockstep".to_owned());
                }
                rtl.edge().map_err(|f| f.to_string())?;
                done += 1;
            }
        }
        Ok(())
    }

    fn plain(&self, rtl: &mut Instance, time: Duration) -> Measured {
        let mut ring = Records::zeroed(self.declaration.record_bytes, CHUNK);
        self.passes(time, CHUNK, |inputs, start, sum| {
            fill(&mut ring, 0, inputs, start, CHUNK);
            // Assertions are not built in, so no failure is possible.
            let (_, _) = rtl.cycles(ring.all_mut(), CHUNK);
            (0..CHUNK).for_each(|cycle| self.add(sum, ring.get(cycle)));
        })
    }

    fn model(&self, twin: &mut dyn Twin, time: Duration) -> Measured {
        let mut model = Records::zeroed(self.declaration.record_bytes, 1);
        let input_bytes = self.declaration.input_bytes;
        self.passes(time, CHUNK, |inputs, start, sum| {
            for cycle in start..start + CHUNK {
                twin.cycle_unprobed(inputs.get(cycle), &mut model.get_mut(0)[input_bytes..]);
                self.add(sum, model.get(0));
            }
        })
    }

    /// Runs the prelude, whole passes over the body until the time is over, and one more pass for the checksum.
    fn passes(
        &self,
        time: Duration,
        step: usize,
        mut chunk: impl FnMut(&Records, usize, &mut Option<u64>),
    ) -> Measured {
        let mut run = |inputs: &Records, sum: &mut Option<u64>| {
            (0..inputs.len()).step_by(step).for_each(|start| chunk(inputs, start, sum));
        };
        run(&self.inputs.prelude, &mut None);
        run(&self.inputs.body, &mut None);
        let started = Stopwatch::start();
        let mut cycles = 0;
        while started.elapsed() < time {
            run(&self.inputs.body, &mut None);
            cycles += self.inputs.body.len() as u64;
        }
        let elapsed = started.elapsed();
        let mut sum = Some(0);
        run(&self.inputs.body, &mut sum);
        (cycles, elapsed, sum.unwrap_or_default())
    }

    /// Adds the outputs that are valid to the checksum, if there is one.
    fn add(&self, sum: &mut Option<u64>, record: &[u8]) {
        let Some(sum) = sum else { return };
        let mut hash = Fold(*sum);
        for (index, signal) in self.declaration.signals.iter().enumerate().filter(|(_, s)| s.role == Role::Output) {
            for element in 0..signal.field.count {
                if self.declaration.is_valid(record, index, element) {
                    hash.write(signal.field.bytes(record, element));
                }
            }
        }
        *sum = hash.finish();
    }
}

/// Copies a chunk of inputs into records from index `place` on.
fn fill(ring: &mut Records, place: usize, inputs: &Records, start: usize, count: usize) {
    for cycle in 0..count {
        ring.get_mut(place + cycle)[..inputs.size()].copy_from_slice(inputs.get(start + cycle));
    }
}

/// A fast hash: multiply and fold.
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

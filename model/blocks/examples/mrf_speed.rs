//! What a cycle of the register file's model costs, alone and under busy random traffic.
//!
//! `cargo run --release -p gpurf-blocks --example mrf_speed [cycles]`

use gpurf_blocks::mrf::{Mrf, MrfShape};
use gpurf_blocks::{Declaration, Decode, Role, Signal, Twin, erase};
use std::time::Instant;

/// Cycles of stimulus, made beforehand and repeated.
const STIMULUS: usize = 4096;
/// Outputs that are kept, as by a recorder.
const KEPT: usize = 64;
/// Timed runs. The fastest counts, because others share the machine.
const SAMPLES: usize = 400;
const ALIGN: usize = 64;

fn main() {
    let cycles = std::env::args().nth(1).map_or(8_000_000, |n| n.parse().expect("a number of cycles"));
    let baseline = MrfShape::BASELINE;
    let shapes = [
        ("baseline: 16 banks, 8 collectors, 1 port", baseline),
        ("1R1W banks", MrfShape { dual_port: true, ..baseline }),
        ("2 issue ports, 16 collectors", MrfShape { issue_ports: 2, collectors: 16, ..baseline }),
    ];
    for (name, shape) in shapes {
        let mut traffic = Traffic::new(&shape);
        println!("{name}");
        for (probed, what) in [(false, "outputs"), (true, "outputs and probes")] {
            let mut samples = [0.0; SAMPLES];
            for sample in &mut samples {
                let start = Instant::now();
                for _ in 0..cycles / SAMPLES {
                    traffic.cycle(probed);
                }
                *sample = start.elapsed().as_nanos() as f64 / (cycles / SAMPLES) as f64;
            }
            samples.sort_by(f64::total_cmp);
            println!("  {what}: {:.0} ns a cycle (median {:.0})", samples[0], samples[SAMPLES / 2]);
        }
        for (event, rate) in traffic.events() {
            println!("  {event}: {rate:.2} a cycle");
        }
    }
}

/// A register file under traffic.
struct Traffic {
    twin: Box<dyn Twin>,
    inputs: Aligned,
    outputs: Aligned,
    input_bytes: usize,
    output_bytes: usize,
    cycle: usize,
}

impl Traffic {
    fn new(shape: &MrfShape) -> Self {
        let twin = erase::<Mrf>(shape);
        let declaration = twin.declaration();
        let input_bytes = declaration.input_bytes;
        let output_bytes = declaration.record_bytes - input_bytes;
        let mut inputs = Aligned::new(STIMULUS * input_bytes);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for record in inputs.bytes_mut().chunks_mut(input_bytes) {
            fill(record, declaration, &mut random);
        }
        Self { inputs, outputs: Aligned::new(KEPT * output_bytes), twin, input_bytes, output_bytes, cycle: 0 }
    }

    /// One cycle; gives what is compared.
    fn cycle(&mut self, probed: bool) -> &[u8] {
        let inputs = &self.inputs.bytes()[self.cycle % STIMULUS * self.input_bytes..][..self.input_bytes];
        let outputs = &mut self.outputs.bytes_mut()[self.cycle % KEPT * self.output_bytes..][..self.output_bytes];
        if probed {
            self.twin.cycle(inputs, outputs);
        } else {
            self.twin.cycle_unprobed(inputs, outputs);
        }
        self.cycle += 1;
        outputs
    }

    /// Events a cycle.
    fn events(&mut self) -> Vec<(&'static str, f64)> {
        let event = self.twin.declaration().signal("event_o").expect("the register file has events").field.clone();
        let Decode::Packed(layout) = event.decode else { panic!("the events are packed") };
        let start = event.offset - self.input_bytes;
        let mut counts = vec![0; layout.len()];
        for _ in 0..STIMULUS {
            let word = self.cycle(false)[start..start + 8].try_into().expect("eight bytes");
            let mut word = u64::from_le_bytes(word);
            for (count, &(_, bits)) in counts.iter_mut().zip(layout).rev() {
                *count += word & ((1 << bits) - 1);
                word >>= bits;
            }
        }
        layout.iter().zip(counts).map(|(&(name, _), count)| (name, count as f64 / STIMULUS as f64)).collect()
    }
}

/// Random inputs of a cycle: valids and readies are high in three quarters of all cycles, masks full in half of them.
fn fill(record: &mut [u8], declaration: &Declaration, random: &mut Random) {
    for Signal { field, .. } in declaration.signals.iter().filter(|s| s.role == Role::Input) {
        for element in 0..field.count {
            let start = field.offset + element * field.elem_bytes;
            for word in record[start..start + field.elem_bytes].chunks_mut(8) {
                let all = u64::MAX >> (64 - field.bits.min(64));
                let value = match field.name {
                    "rst_ni" => 1,
                    "cfg_i" => 0,
                    "issue_valid_i" | "issue_src_valid_i" | "write_valid_i" | "dispatch_ready_i" => {
                        (random.next() | random.next()) & all
                    }
                    "issue_mask_i" if random.next() >> 63 == 0 => all,
                    "write_i" if random.next() >> 63 == 0 => random.next() & all | u64::from(u32::MAX),
                    _ => random.next() & all,
                };
                let length = word.len();
                word.copy_from_slice(&value.to_le_bytes()[..length]);
            }
        }
    }
}

/// A small generator of random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Zeroed bytes, aligned as a twin wants them.
struct Aligned {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Self {
        let memory = vec![0; length + ALIGN];
        let start = memory.as_ptr().align_offset(ALIGN);
        Self { memory, start, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..][..self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.length]
    }
}

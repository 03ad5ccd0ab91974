//! What a cycle of the register file's model costs, alone and under busy random traffic.
//!
//! `cargo run --release -p gpurf-blocks --example mrf_speed [cycles]`

use gpurf_blocks::mrf::{Mrf, MrfShape};
use gpurf_blocks::{Declaration, Role, Twin, erase};
use std::time::Instant;

/// Cycles of stimulus, made beforehand and repeated.
const STIMULUS: usize = 4096;
/// Outputs that are kept, as a recorder would.
const KEPT: usize = 61;
/// Runs of which the fastest counts: others share the machine.
const SAMPLES: usize = 400;
const ALIGN: usize = 64;

fn main() {
    let cycles = std::env::args().nth(1).map_or(2_000_000, |n| n.parse().expect("a number of cycles"));
    let baseline = MrfShape::BASELINE;
    let shapes = [
        ("baseline: 16 banks, 8 collectors, 1 port", baseline),
        ("1R1W banks", MrfShape { dual_port: true, ..baseline }),
        ("2 issue ports, 16 collectors", MrfShape { issue_ports: 2, collectors: 16, ..baseline }),
    ];
    for (name, shape) in shapes {
        let mut twin = erase::<Mrf>(&shape);
        let stimulus = Stimulus::random(twin.declaration());
        stimulus.run(&mut *twin, cycles / 10);
        let mut samples = Vec::new();
        let mut rates = Vec::new();
        for _ in 0..SAMPLES {
            let start = Instant::now();
            rates = stimulus.run(&mut *twin, cycles / SAMPLES);
            samples.push(start.elapsed().as_nanos() as f64 / (cycles / SAMPLES) as f64);
        }
        samples.sort_by(f64::total_cmp);
        println!("{name}: {:.0} ns a cycle (median {:.0})", samples[0], samples[SAMPLES / 2]);
        for (event, count) in rates {
            print!("  {event} {:.2}", count as f64 / (cycles / SAMPLES) as f64);
        }
        println!(" a cycle");
    }
}

/// Inputs of many cycles, one after the other.
struct Stimulus {
    inputs: Aligned,
    input_bytes: usize,
}

impl Stimulus {
    fn random(declaration: &Declaration) -> Self {
        let input_bytes = declaration.input_bytes;
        let mut inputs = Aligned::new(STIMULUS * input_bytes);
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for record in inputs.bytes_mut().chunks_mut(input_bytes) {
            for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
                let field = &signal.field;
                // Valids and readies are mostly high, bit for bit.
                let busy = matches!(
                    field.name,
                    "rst_ni" | "issue_valid_i" | "issue_src_valid_i" | "write_valid_i" | "dispatch_ready_i"
                );
                for element in 0..field.count {
                    let start = field.offset + element * field.elem_bytes;
                    for word in record[start..start + field.elem_bytes].chunks_mut(8) {
                        let mut value = random() & u64::MAX >> (64 - field.bits.min(64));
                        match field.name {
                            "rst_ni" => value = 1,
                            "cfg_i" => value = 0,
                            // Three quarters of all cycles; full warps in half of them.
                            _ if busy => value |= random() & u64::MAX >> (64 - field.bits),
                            "issue_mask_i" | "write_mask_i" if random() & 1 == 0 => value = u32::MAX.into(),
                            _ => {}
                        }
                        let length = word.len();
                        word.copy_from_slice(&value.to_le_bytes()[..length]);
                    }
                }
            }
        }
        Self { inputs, input_bytes }
    }

    /// Runs the model; gives what its events counted.
    fn run(&self, twin: &mut dyn Twin, cycles: usize) -> Vec<(&'static str, u64)> {
        let declaration = twin.declaration().clone();
        let compared = declaration.record_bytes - declaration.input_bytes;
        let mut kept = Aligned::new(KEPT * compared);
        let event = declaration.signal("event_o").expect("the register file has events").field.clone();
        let gpurf_blocks::Decode::Packed(layout) = event.decode else { panic!("events are packed") };
        let mut counts: Vec<_> = layout.iter().map(|&(name, _)| (name, 0)).collect();
        for cycle in 0..cycles {
            let inputs = &self.inputs.bytes()[cycle % STIMULUS * self.input_bytes..][..self.input_bytes];
            let out = &mut kept.bytes_mut()[cycle % KEPT * compared..][..compared];
            twin.cycle_unprobed(inputs, out);
            // A sample of the events is enough.
            if cycle % KEPT == 0 {
                let start = event.offset - declaration.input_bytes;
                let mut word = u64::from_le_bytes(out[start..start + 8].try_into().expect("eight bytes"));
                for (count, &(_, bits)) in counts.iter_mut().zip(layout).rev() {
                    count.1 += (word & ((1 << bits) - 1)) * KEPT as u64;
                    word >>= bits;
                }
            }
        }
        counts
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

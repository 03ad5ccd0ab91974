//! Properties that a testbench relies on, checked for every block of every design.

use gpurf::bench::{Bench, BenchError};
use gpurf_blocks::Role;
use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::write::WriteWord;
use gpurf_lockstep::{RESET_CYCLES, Rng};

/// Every block in the main preset of each design, and the name of both.
fn benches() -> impl Iterator<Item = (String, Bench)> {
    let presets = DESIGNS.iter().map(|design| design.main_preset);
    let random = |name: &str| name != gpurf_sm::ENTRY.name;
    let names = || gpurf_sm::all().map(|entry| entry.name);
    presets.flat_map(move |preset| names().filter(move |name| random(name)).map(move |name| (name, preset))).map(
        |(name, preset)| {
            let mut bench = Bench::new(name, preset, "").unwrap();
            bench.seed(5).unwrap();
            (format!("{name} at {preset}"), bench)
        },
    )
}

fn outputs(bench: &Bench) -> Vec<u32> {
    let mut words = vec![0; bench.outputs().words()];
    bench.get_outputs(0, &mut words);
    words
}

fn inputs(bench: &Bench) -> Vec<u32> {
    let mut words = vec![0; bench.inputs().words()];
    bench.get_inputs(0, &mut words);
    words
}

/// All valid elements of outputs, one after another.
fn meaning(bench: &Bench) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    for (index, signal) in bench.declaration().signals.iter().enumerate().filter(|(_, s)| s.role == Role::Output) {
        for element in (0..signal.field.count).filter(|&element| bench.is_valid(index, element).unwrap()) {
            let mut words = vec![0; (signal.field.bits as usize).div_ceil(32)];
            bench.get(index, element, &mut words).unwrap();
            found.push(words);
        }
    }
    found
}

/// Settling a cycle with other inputs first does not change its outputs, and a restored state continues with the same outputs.
#[test]
fn settling_changes_nothing_and_a_saved_state_goes_on_the_same() {
    for (name, mut bench) in benches() {
        let (mut stirred, mut rng) = (Vec::new(), Rng::new(9, "other inputs"));
        let saved = bench.save();
        let mut given: Vec<Vec<u32>> = Vec::new();
        let mut plain = Vec::new();
        for _ in 0..120 {
            bench.stimulate().unwrap();
            given.push(inputs(&bench));
            bench.step().unwrap();
            plain.push(meaning(&bench));
        }
        bench.restore(&saved).unwrap();
        assert_eq!(bench.cycle(), 0);
        for words in &given {
            // Inputs of another cycle, which may not be allowed in this state: the outputs for them are not checked.
            bench.put_inputs(0, &given[rng.below(RESET_CYCLES as u64 + 1) as usize]);
            bench.settle().unwrap();
            bench.put_inputs(0, words);
            bench.settle().unwrap();
            stirred.push(meaning(&bench));
            bench.edge().unwrap();
        }
        assert!(plain == stirred, "{name}");
    }
}

/// First bit in the outputs' vector and width of each valid element.
fn compared_bits(bench: &Bench) -> Vec<(usize, usize)> {
    let (mut found, mut low) = (Vec::new(), 0);
    for (index, signal) in bench.declaration().signals.iter().enumerate().filter(|(_, s)| s.role == Role::Output) {
        for element in 0..signal.field.count {
            if bench.is_valid(index, element).unwrap() {
                found.push((low, signal.field.bits as usize));
            }
            low += signal.field.bits as usize;
        }
    }
    found
}

/// The model's own outputs are equal; a flipped bit of a valid output is reported.
#[test]
fn each_flipped_bit_of_a_compared_output_is_found() {
    for (name, mut bench) in benches() {
        let mut rng = Rng::new(3, "flips");
        let reset = bench.find("rst_ni").ok();
        for cycle in 0..150 {
            bench.stimulate().unwrap();
            bench.settle().unwrap();
            let mut words = outputs(&bench);
            let bits = compared_bits(&bench);
            let mut level = [1];
            reset.map_or(Ok(()), |reset| bench.get(reset, 0, &mut level)).unwrap();
            let flip = cycle % 3 == 2 && !bits.is_empty() && level == [1];
            if flip {
                let (low, width) = bits[rng.below(bits.len() as u64) as usize];
                let bit = low + rng.below(width as u64) as usize;
                words[bit / 32] ^= 1 << (bit % 32);
            }
            bench.put_outputs(0, &words);
            let differences = bench.check().unwrap();
            assert_eq!(differences, usize::from(flip), "{name}, cycle {cycle}: {}", bench.report());
            let line = format!("cycle {cycle} {}.", bench.declaration().block);
            assert_eq!(bench.report().starts_with(&line), flip, "{name}: {}", bench.report());
        }
    }
}

/// Elements, vectors and chunks of vectors are views of the same bits.
#[test]
fn vectors_and_elements_agree() {
    for (name, mut bench) in benches() {
        let mut rng = Rng::new(4, "vector");
        let mut random = vec![0; bench.inputs().words()];
        rng.fill(&mut random);
        if let Some(last) = random.last_mut().filter(|_| !bench.inputs().bits().is_multiple_of(32)) {
            *last &= (1 << (bench.inputs().bits() % 32)) - 1;
        }
        // A word at a time, the last one first.
        for first in (0..random.len()).rev() {
            bench.put_inputs(first, &random[first..=first]);
        }
        assert_eq!(inputs(&bench), random, "{name}");
        let mut low = 0;
        let fields: Vec<_> =
            bench.declaration().signals.iter().map(|s| (s.role, s.field.bits, s.field.count)).collect();
        for (index, (_, bits, count)) in fields.into_iter().enumerate().filter(|(_, field)| field.0 == Role::Input) {
            for element in 0..count {
                let mut words = vec![0; (bits as usize).div_ceil(32)];
                bench.get(index, element, &mut words).unwrap();
                for bit in 0..bits as usize {
                    let [one, other] =
                        [(&words, bit), (&random, low + bit)].map(|(w, bit)| w[bit / 32] >> (bit % 32) & 1);
                    assert_eq!(one, other, "{name}: signal {index}[{element}], bit {bit}");
                }
                low += bits as usize;
                // A value that is set is read back, and setting it changes nothing else.
                let mut inverse: Vec<u32> = words.iter().map(|word| !word).collect();
                if let Some(last) = inverse.last_mut().filter(|_| !bits.is_multiple_of(32)) {
                    *last &= (1 << (bits % 32)) - 1;
                }
                let before = inputs(&bench);
                bench.set(index, element, &inverse).unwrap();
                let after = inputs(&bench);
                let changed: u32 = before.iter().zip(&after).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(changed, bits, "{name}: signal {index}[{element}]");
                bench.set(index, element, &words).unwrap();
            }
        }
        assert_eq!(low, bench.inputs().bits(), "{name}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let error = |result: Result<(), BenchError>| result.unwrap_err().to_string();
    let refused = |name, preset, settings| error(Bench::new(name, preset, settings).map(drop));
    assert!(refused("mrf_arbitr", "", "").starts_with("there is no block mrf_arbitr; there are: "));
    assert!(refused("mrf", "fast", "").starts_with("there is no preset fast; there are: baseline"));
    assert!(refused("mrf", "", "mrf.banks=3").contains("mrf.banks = 3 is not allowed"));
    assert!(refused("mrf", "/nowhere/my.toml", "").contains("/nowhere/my.toml"));
    let mut bench = Bench::new("mrf", "", "mrf.banks=8").unwrap();
    assert_eq!(error(bench.edge()), "mrf: settle the cycle before its edge, and again after an input has changed");
    let message = error(bench.find("issue_warp").map(drop));
    assert_eq!(message, "mrf has no signal issue_warp in this shape; the block's page in docs/blocks lists them");
    let warp = bench.find("issue_warp_i").unwrap();
    assert_eq!(error(bench.set(warp, 0, &[64])), "mrf.issue_warp_i has 6 bits; the value has more");
    assert_eq!(error(bench.set(warp, 0, &[0, 1])), "mrf.issue_warp_i has 6 bits; the value has more");
    assert_eq!(error(bench.set(warp, 1, &[0])), "mrf has no element 1: it has 1, counted from 0");
    let tag = bench.find("dispatch_tag_o").unwrap();
    assert_eq!(error(bench.set(tag, 0, &[0])), "mrf.dispatch_tag_o is not an input: it cannot be set");
    assert_eq!(error(bench.ignore("issue_warp_i")), "mrf.issue_warp_i is not an output: it is not compared");
    let state = bench.find("fill_q").unwrap();
    let message = error(bench.get(state, 0, &mut [0]));
    assert!(message.contains("call gpurf_watch(block, 1)"), "{message}");
    assert_eq!(error(bench.stimulate()), "mrf has no random inputs yet: call gpurf_seed first");
    let other = Bench::new("mrf", "", "mrf.banks=16").unwrap().save();
    assert!(error(bench.restore(&other)).starts_with("the saved state is that of mrf, not of mrf with these"));
    let mut sm = Bench::new("sm", "", "").unwrap();
    assert!(error(sm.seed(1)).contains("programs run on it"));
    sm.step().unwrap();
}

/// Inputs that the page does not allow never cause a panic; the block continues from a saved state.
#[test]
fn any_inputs_are_taken_or_are_an_error() {
    for (name, mut bench) in benches() {
        let saved = bench.save();
        let mut rng = Rng::new(6, "anything");
        let mut words = vec![0; bench.inputs().words()];
        for _ in 0..200 {
            rng.fill(&mut words);
            bench.put_inputs(0, &words);
            if let Err(error) = bench.step() {
                assert!(matches!(error, BenchError::Failed { .. }), "{name}: {error}");
                break;
            }
        }
        bench.restore(&saved).unwrap();
        bench.stimulate().unwrap();
        bench.step().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn memories_are_read_and_written_word_by_word() {
    let mut bench = Bench::new("mrf", "", "").unwrap();
    let memories = bench.memories();
    assert!(!memories.is_empty());
    for (index, (path, bits, words)) in memories.iter().enumerate() {
        assert_eq!(*bits, 1024, "{path}");
        let last = *words as u64 - 1;
        let value: Vec<u32> = (0..32).map(|lane| 1000 * index as u32 + lane).collect();
        bench.write(index, last, &value).unwrap();
        let mut read = [7; 33];
        bench.read(index, last, &mut read).unwrap();
        assert!(read[..32] == value[..] && read[32] == 0, "{path}");
        assert!(bench.read(index, last + 1, &mut read).is_err());
    }
    assert!(bench.read(memories.len(), 0, &mut []).is_err());
}

#[test]
fn situations_are_counted_after_cover() {
    let mut bench = Bench::new("mrf", "", "").unwrap();
    bench.seed(1).unwrap();
    assert!(bench.points().is_empty());
    bench.cover().unwrap();
    for _ in 0..3000 {
        bench.stimulate().unwrap();
        bench.step().unwrap();
    }
    let points = bench.points();
    assert!(points.len() > 10 && points.iter().filter(|point| point.1 > 0).count() > points.len() / 2, "{points:?}");
}

/// Probes show the inside of the block: the head of a write queue is what was pushed at the previous edge.
#[test]
fn probes_are_those_of_the_cycle() {
    let mut bench = Bench::new("mrf", "", "").unwrap();
    bench.watch(true);
    let write = WriteWord::new(0, 17, 0xffff).0;
    for (name, value) in [("write_valid_i", &[1][..]), ("write_i", &[write as u32, (write >> 32) as u32])] {
        let signal = bench.find(name).unwrap();
        bench.set(signal, 0, value).unwrap();
    }
    let [valid, register] = ["head_valid", "head_reg"].map(|name| bench.find(name).unwrap());
    let look = |bench: &Bench| {
        let [mut one, mut other] = [[0], [0]];
        bench.get(valid, 0, &mut one).unwrap();
        bench.get(register, 0, &mut other).unwrap();
        (one[0], other[0])
    };
    bench.step().unwrap();
    assert_eq!(look(&bench).0, 0);
    bench.settle().unwrap();
    assert_eq!(look(&bench), (1, 17));
}

/// Until a reset has been seen, and in reset, the RTL may have any outputs.
#[test]
fn nothing_is_compared_before_and_in_reset() {
    let mut bench = Bench::new("mrf", "", "").unwrap();
    let wrong: Vec<u32> = outputs(&bench).iter().map(|word| !word).collect();
    bench.put_outputs(0, &wrong);
    let reset = bench.find("rst_ni").unwrap();
    let mut found = Vec::new();
    for level in [1, 0, 1, 0, 1] {
        bench.set(reset, 0, &[level]).unwrap();
        found.push(bench.check().unwrap() > 0);
    }
    assert_eq!(found, [false, false, true, false, true]);
}

//! Random instructions survive encoding; random words are instructions that encode to themselves, or errors.

use super::*;

/// Encodes and decodes `count` random valid instructions, and decodes as many damaged and as many random pairs of
/// words. Returns how many of the damaged and random ones were instructions.
fn round_trips(count: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut valid = 0;
    for _ in 0..count {
        let instruction = random_instruction(&mut random);
        survives(&instruction);
        let mut damaged = instruction.encode();
        for _ in 0..1 + random.below(3) {
            let bit = random.below(128);
            damaged[bit / 64] ^= 1 << (bit % 64);
        }
        valid += u64::from(is_itself_or_an_error(damaged));
        valid += u64::from(is_itself_or_an_error([random.next(), random.next()]));
    }
    valid
}

/// Whether two words are an instruction; asserts that such an instruction encodes to the same words.
fn is_itself_or_an_error(words: [u64; 2]) -> bool {
    match Instruction::decode(words) {
        Ok(instruction) => {
            assert_eq!(instruction.encode(), words, "{instruction}");
            assert_eq!(instruction.check(), Ok(()));
            true
        }
        Err(error) => {
            assert!(error != DecodeError::Opcode { number: 0 } || words[0] & 0x7f == 0);
            false
        }
    }
}

use crate::encoding::DecodeError;

#[test]
fn random_words_are_themselves_or_errors() {
    let valid = round_trips(500_000, 1);
    // Three quarters of the damaged words still hold an instruction's fields, so that both outcomes are really tested.
    assert!((100_000..900_000).contains(&valid), "{valid}");
}

#[test]
#[ignore = "long: a hundred million instructions"]
fn a_hundred_million_random_words() {
    let start = std::time::Instant::now();
    let count = 100_000_000;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let valid: u64 = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|t| scope.spawn(move || round_trips(count / threads, t << 40))).collect();
        parts.into_iter().map(|part| part.join().unwrap()).sum()
    });
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} instructions and {} other words, of which {valid} are instructions, in {seconds:.0} s",
        2 * count
    );
    println!("{:.1} million words a second", 3.0 * count as f64 / seconds / 1e6);
}

#[test]
fn random_instructions_survive_text() {
    let mut random = Random(2);
    for _ in 0..50_000 {
        survives_text(&random_instruction(&mut random));
    }
}

//! The CRC-32 of messages, bit by bit in the reversed order in which it is usually computed, and a digest of each message.

use crate::{Case, Output};

/// The polynomial with its bits reversed.
const POLYNOMIAL: u32 = 0xedb8_8320;
const NAMES: [[&str; 2]; 2] = [["crcs", "digests"], ["longCrcs", "longDigests"]];

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let data = case.u8s("data");
    let outputs = (0..case.launches()).flat_map(|launch| {
        let of = |argument| case.u32s(case.buffer_argument(launch, argument));
        let messages = of(3).into_iter().zip(of(4));
        let results = messages.map(|(first, length)| crc_and_digest(&data[first as usize..][..length as usize]));
        let (crcs, digests): (Vec<u32>, Vec<u32>) = results.unzip();
        [Output::u32(NAMES[launch][0], &crcs), Output::u32(NAMES[launch][1], &digests)]
    });
    outputs.collect()
}

fn crc_and_digest(message: &[u8]) -> (u32, u32) {
    let mut crc = u32::MAX;
    let mut state = [0, 1, 2, 3, 4, 5, 6, 7];
    for &byte in message {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
        }
        // The kernel's remainder has its bits in the other order. Remainder and state's word, below it, are shifted left, and the upper word is kept.
        let word = &mut state[usize::from(byte % 8)];
        let both = u64::from(crc.reverse_bits()) << 32 | u64::from(*word);
        *word = ((both << (byte / 8) >> 32) as u32).wrapping_add(u32::from(byte));
    }
    let digest = state.iter().fold(0u32, |digest, word| digest.rotate_right(word.count_ones()) ^ word);
    (!crc, digest)
}

//! Sequences of the 3n + 1 problem, in rounds of three steps: the progress of each warp's sequences until the warp leaves the loop.

use crate::{Case, Output};

const ROUND: usize = 3;
const NAMES: [[&str; 3]; 2] = [["peak", "steps", "rounds"], ["longPeak", "longSteps", "longRounds"]];

struct Sequence {
    start: u64,
    value: u64,
    peak: u64,
    steps: i32,
    done: bool,
}

impl Sequence {
    fn new(start: u64) -> Self {
        Self { start, value: start, peak: start, steps: 0, done: start.is_multiple_of(2) }
    }

    /// Continues for one round, or until the value has fallen below its start.
    fn go_on(&mut self) {
        for _ in 0..ROUND {
            if self.done {
                return;
            }
            self.steps += 1;
            if self.value % 2 == 1 {
                self.value = (3 * u128::from(self.value)).div_ceil(2) as u64;
                self.peak = self.peak.max(self.value);
            } else {
                self.value >>= self.value.trailing_zeros();
                self.done = self.value < self.start;
            }
        }
    }
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let outputs = (0..case.launches()).flat_map(|launch| {
        let (first, stride, starts) = (case.u64(launch, 3), case.u64(launch, 4), case.size(launch, 5));
        let (goal, limit) = (case.u64(launch, 6), case.s32(launch, 7));
        let mut sequences: Vec<Sequence> = (0..starts as u64).map(|i| Sequence::new(first + stride * i)).collect();

        // The last block's warps beyond the last start have nothing to do: they vote once.
        let threads = case.launch(launch).block[0] as usize;
        let warps = threads.div_ceil(32) * case.launch(launch).grid[0] as usize;
        let mut rounds = vec![1; warps];
        let warps = sequences.chunks_mut(threads).map(|block| block.chunks_mut(32));
        for (round, warp) in rounds.iter_mut().zip(warps.flatten()) {
            *round = (1..=limit)
                .find(|_| {
                    warp.iter_mut().for_each(Sequence::go_on);
                    warp.iter().all(|sequence| sequence.done) || warp.iter().any(|sequence| sequence.peak > goal)
                })
                .unwrap_or(limit);
        }

        let [peak, steps, round] = NAMES[launch];
        [
            Output::u64(peak, &sequences.iter().map(|sequence| sequence.peak).collect::<Vec<_>>()),
            Output::s32(steps, &sequences.iter().map(|sequence| sequence.steps).collect::<Vec<_>>()),
            Output::s32(round, &rounds),
        ]
    });
    outputs.collect()
}

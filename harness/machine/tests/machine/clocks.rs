//! The machine's time: what clocks measure, that it continues across launches, and that the oracle finds a wrong time whoever agrees with it.

use crate::common::{Program, settings};
use gpurf_blocks::{Declaration, Memory, Twin, view_mut};
use gpurf_lockstep::Records;
use gpurf_machine::commits::Difference;
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings};
use gpurf_sm::SmIn;

/// Stores the difference of two reads of a word of the time around this code, then the time of the second one.
fn timed(word: &str, code: &str) -> Program {
    let code = format!(
        "MOV R4, 1
        S2R.{word} R8
        {code}
        S2R.{word} R9
        IADD.SUB R8, PT, R9, R8, PT
        ST.GLOBAL.B32 [R2:RZ], R8
        ST.GLOBAL.B32 [R2:RZ+0x80], R9"
    );
    Program::new(&code, 1, 32)
}

/// In front of the first addition stand the first read and what follows it at once, after the last one the second read: the latency of the last
/// addition is not waited for.
#[test]
fn a_chain_takes_the_latency_of_each_link_but_the_last() {
    for (setting, latency) in [("sm.alu_latency=8", 13), ("sm.alu_latency=3", 8), ("sm.alu_latency=2", 7)] {
        let elapsed = |links: usize| {
            let program = timed("TIME_LO", &"IADD R4, PT, R4, 1, !PT\n".repeat(links));
            let words = program.run(&mut ModelEngine::judged(crate::common::load("baseline", &[setting]))).unwrap();
            // All lanes of a warp read one time.
            assert!(words[..32].iter().all(|&word| word == words[0]));
            words[0]
        };
        let times: Vec<u32> = [1, 2, 3, 10, 11, 40].map(elapsed).to_vec();
        let links = |a: usize, b: usize| times[b] - times[a];
        assert_eq!([links(0, 1), links(1, 2), links(3, 4)], [latency; 3], "{setting}");
        assert_eq!([links(2, 3), links(4, 5)], [7 * latency, 29 * latency], "{setting}");
        assert!(times[0] <= latency, "{setting}: {times:?}");
    }
}

#[test]
fn time_goes_on_from_launch_to_launch_and_is_the_number_of_cycles() {
    let program = timed("TIME_LO", "");
    for set in [&[][..], &["sm.start_time=1000000"]] {
        let mut engine = ModelEngine::new(settings(set));
        let mut last = if set.is_empty() { 0 } else { 1_000_000 };
        for _ in 0..3 {
            let before = engine.statistics().cycles as u32;
            let time = program.run(&mut engine).unwrap()[32];
            let began = last;
            last = time;
            assert!(time > began);
            let base = if set.is_empty() { 0 } else { 1_000_000 };
            assert!((before + base..engine.statistics().cycles as u32 + base).contains(&time));
        }
    }
}

/// Cycles in which nothing happens may be skipped, and pass all the same.
#[test]
fn skipped_cycles_are_time() {
    let program = timed("TIME_LO", "LD.GLOBAL.B32 R5, [R2:RZ]\nIADD R5, PT, R5, R5, !PT");
    let run = |skip: bool| {
        let mut engine = ModelEngine::new(Settings { skip, ..settings(&[]) });
        (program.run(&mut engine).unwrap(), engine.skipped())
    };
    let ((fast, skipped), (slow, none)) = (run(true), run(false));
    assert!(skipped > 300 && none == 0);
    assert_eq!(fast, slow);
    assert!(fast[0] > 400, "{}", fast[0]);
}

#[test]
fn the_upper_word_is_that_of_the_whole_time() {
    let run = |start: u64| {
        let settings = settings(&[&format!("sm.start_time={start}")]);
        let words = timed("TIME_HI", &"IADD R4, PT, R4, 1, !PT\n".repeat(60)).run(&mut ModelEngine::judged(settings));
        let words = words.unwrap();
        (words[0], words[32])
    };
    assert_eq!(run(0), (0, 0));
    assert_eq!(run(0x7654_3210_0000_0000), (0, 0x7654_3210));
    // The lower word runs over between the two reads.
    assert_eq!(run(0x1_ffff_ffff - 400), (1, 2));
}

/// The model in a wrong time: what RTL and twin would both have got wrong.
struct Late(Box<dyn Twin>, fn(u64) -> u64);

impl Twin for Late {
    fn declaration(&self) -> &Declaration {
        self.0.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        let mut other = Records::zeroed(inputs.len(), 1);
        other.get_mut(0).copy_from_slice(inputs);
        let wrong = view_mut::<SmIn>(other.get_mut(0));
        wrong.time_i = self.1(wrong.time_i);
        self.0.cycle(other.get(0), compared);
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.cycle(inputs, compared);
    }
    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.0.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self(self.0.duplicate(), self.1))
    }
}

#[test]
fn the_oracle_finds_a_wrong_time() {
    let program = timed("TIME_LO", "IADD R4, PT, R4, 1, !PT");
    let run = |model| program.run(&mut ModelEngine::judged(Settings { model, ..settings(&[]) }));
    run(|config| Box::new(Late((gpurf_sm::ENTRY.twin)(config), |time| time))).unwrap();
    for model in [
        // Sampled a cycle late; a difference is right then.
        (|config| Box::new(Late((gpurf_sm::ENTRY.twin)(config), |time| time + 1)) as Box<dyn Twin>) as fn(&_) -> _,
        |config| Box::new(Late((gpurf_sm::ENTRY.twin)(config), |time| time.rotate_left(32))) as Box<dyn Twin>,
    ] {
        match run(model).unwrap_err() {
            LaunchError::Mismatch(mismatch) => match &mismatch.difference {
                Difference::Writes { key, first: Some(first), .. } => {
                    // Of the sequences that differ this one is shown.
                    assert_eq!((key.kind.to_string().as_str(), first.lane), ("memory", Some(0)), "{first:?}");
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other}"),
        }
    }
}

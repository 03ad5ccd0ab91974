//! Manifests with changed numbers, run on the oracle: sizes, counts and values that do not fit the kernel are an error with a message, and every run
//! ends.

use std::fs;
use std::time::{Duration, Instant};

use gpurf_compiler::{Module, Options as CompilerOptions};
use gpurf_isa::Image;
use gpurf_kernels::{Case, LAUNCH, folder};
use gpurf_launch::Manifest;
use gpurf_oracle::host::{OracleEngine, Session};
use gpurf_oracle::{Options, Oracle};

/// Time limit of a run: far more than so few instructions need, even on a busy machine.
const TIME: Duration = Duration::from_secs(60);
/// Maximum number of threads of a launch that is run, and of bytes of all buffers: larger ones are correct, but slow.
const MOST_THREADS: u64 = 1 << 14;
const MOST_BYTES: u64 = 1 << 22;

const NUMBERS: [&str; 14] =
    ["0", "1", "2", "3", "31", "33", "64", "128", "1024", "1025", "65536", "4294967295", "-1", "4294967296"];

/// The text with one or two of its numbers changed.
fn changed(text: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let mut text = text.to_owned();
    for _ in 0..1 + below(2) {
        let is_start = |(at, byte): (usize, &u8)| {
            let before = at.checked_sub(1).map_or(b' ', |at| text.as_bytes()[at]);
            (byte.is_ascii_digit() && b" =[,-".contains(&before)).then_some(at)
        };
        let starts: Vec<usize> = text.bytes().collect::<Vec<_>>().iter().enumerate().filter_map(is_start).collect();
        let start = starts[below(starts.len())];
        let length = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        text.replace_range(start..start + length, NUMBERS[below(NUMBERS.len())]);
    }
    text
}

/// Reads and runs a manifest; returns whether it was correct.
fn run(case: &Case, image: &Image, text: &str) -> Result<(), String> {
    let manifest = Manifest::parse(&case.manifest().path, text).map_err(|error| error.to_string())?;
    let threads = |launch: &gpurf_launch::Launch| {
        launch.grid.iter().chain(&launch.block).fold(1u64, |all, &size| all.saturating_mul(size.into()))
    };
    let sizes = manifest.buffers.iter().map(gpurf_launch::Buffer::size);
    let passes = (0..manifest.launches.len()).map(|number| match manifest.repetition_of(number) {
        gpurf_launch::Repetition::Times(passes) => passes,
        gpurf_launch::Repetition::WhileNonzero { max, .. } => max,
    });
    if manifest.launches.iter().any(|launch| threads(launch) > MOST_THREADS)
        || sizes.fold(0u64, u64::saturating_add) > MOST_BYTES
        || passes.max().unwrap_or(0) > 64
    {
        return Ok(());
    }
    let mut session = Session::new(&manifest, image).map_err(|error| error.to_string())?;
    let oracle = Oracle::new(Options { step_limit: 200_000, ..Options::default() });
    session.run(&mut OracleEngine::new(oracle)).map_err(|error| error.to_string())?;
    session.checks().map(|_| ()).map_err(|error| error.to_string())
}

fn campaign(seeds: std::ops::Range<u64>) -> [u64; 2] {
    let mut counts = [0; 2];
    let cases: Vec<_> = LAUNCH
        .iter()
        .map(|kernel| {
            let case = Case::load(kernel.name).unwrap();
            let text = fs::read_to_string(folder().join(format!("{}.ptx", kernel.name))).unwrap();
            let module = Module::parse(&text, kernel.name).unwrap();
            // A kernel that is refused is one that no manifest launches.
            let image = module.compile(&CompilerOptions::default(), &|_| true).unwrap().image;
            let manifest = fs::read_to_string(&case.manifest().path).unwrap();
            (case, image, manifest)
        })
        .collect();
    for seed in seeds {
        let (case, image, text) = &cases[seed as usize % cases.len()];
        let text = changed(text, seed);
        let start = Instant::now();
        let result = run(case, image, &text);
        assert!(start.elapsed() < TIME, "took {:?}:\n{text}", start.elapsed());
        counts[usize::from(result.is_err())] += 1;
        if let Err(message) = result {
            assert!(!message.is_empty() && !message.contains("panicked"), "{message}\n{text}");
        }
    }
    counts
}

#[test]
fn wrong_sizes_and_values_are_errors_or_run() {
    let [right, wrong] = campaign(1..300);
    assert!(right > 50 && wrong > 100, "{right} right, {wrong} wrong");
}

#[test]
#[ignore = "long: 100,000 manifests"]
fn many_wrong_sizes_and_values() {
    let start = Instant::now();
    let [right, wrong] = campaign(1000..101_000);
    println!("{right} right, {wrong} wrong, {:.0} s", start.elapsed().as_secs_f64());
}

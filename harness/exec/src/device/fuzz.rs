//! Sequences of requests as an erroneous program makes them: destroyed handles, sizes that are too large, freed memory, damaged fat binaries. A small
//! model of the device predicts each answer; correct requests between the errors have to succeed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::tests::{COUNT, FACTOR, OTHER, PTX, STUB, ask, bytes, fat, register, with_device};
use super::*;

/// Time limit of a sequence: far more than it needs, even on a busy machine.
const TIME: Duration = Duration::from_secs(60);

/// A generator of bits (xorshift), the same on all machines.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.bits() >> 11) % n
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len() as u64) as usize])
    }
}

/// The expected state of the device, as far as these requests change it.
#[derive(Default)]
struct Expected {
    /// Live allocations: address, bytes.
    live: BTreeMap<u64, Vec<u8>>,
    /// Those of them that are the host's.
    host: BTreeSet<u64>,
    freed: Vec<u64>,
    handles: [Vec<u64>; 2],
    gone: Vec<u64>,
    factor: [u8; 8],
    count: u32,
    broken: bool,
}

/// Number of requests that succeeded, and of those that failed.
#[derive(Default, Debug)]
struct Counts {
    right: u64,
    wrong: u64,
}

/// Sizes at which the behaviour may change; the last two are larger than the memory.
const SIZES: [u64; 9] = [1, 3, 4, 24, 255, 256, 4096, 1 << 32, u64::MAX];

impl Expected {
    fn new() -> Self {
        Self { count: 5, ..Self::default() }
    }

    /// An address: of an allocation or in the middle of one, of one that was freed, or of nothing.
    fn address(&self, random: &mut Random) -> u64 {
        let live: Vec<u64> = self.live.keys().copied().collect();
        match random.below(12) {
            0 => random.one(&self.freed).unwrap_or(0),
            1 => [0, 1 << 23, u64::MAX, u64::from(u32::MAX), STUB, COUNT][random.below(6) as usize],
            2 => random.one(&live).map_or(3, |at| at + random.below(300)),
            3 => random.one(&live).map_or(3, |at| at + self.live[&at].len() as u64),
            _ => random.one(&live).unwrap_or(0),
        }
    }

    /// The allocation that contains `size` bytes at an address, and their offset in it.
    fn place(&self, address: u64, size: u64) -> Option<(u64, usize)> {
        let (&begin, bytes) = self.live.range(..=address).next_back()?;
        let at = address - begin;
        (at.checked_add(size)? <= bytes.len() as u64).then_some((begin, at as usize))
    }

    fn part(&mut self, address: u64, size: u64) -> Option<&mut [u8]> {
        let (begin, at) = self.place(address, size)?;
        Some(&mut self.live.get_mut(&begin)?[at..at + size as usize])
    }

    /// Makes a request, and compares the answer with what is expected.
    fn step(&mut self, device: &mut Device<'_>, random: &mut Random) -> Result<Answer, CudaError> {
        #[track_caller]
        fn good(answer: &Result<Answer, CudaError>, is_good: bool, error: CudaError) {
            match answer {
                Ok(_) => assert!(is_good, "an error was expected: {error}"),
                Err(found) => assert!(!is_good && *found == error, "{found}, not {error}; good: {is_good}"),
            }
        }
        let what = if self.live.len() < 3 && random.below(2) == 0 { 0 } else { random.below(14) };
        match what {
            0 => {
                let size = SIZES[random.below(9) as usize];
                let calls = [Call::Allocate, Call::Allocate, Call::AllocateShared, Call::AllocateHost];
                let call = calls[random.below(4) as usize];
                let answer = ask(device, call, &[size], &[]);
                good(&answer, size < 1 << 32, CudaError::OutOfMemory);
                if let Ok(answer) = &answer {
                    let address = answer.words[0];
                    assert!(self.place(address, 0).is_none() && address.is_multiple_of(512));
                    self.freed.retain(|freed| *freed != address);
                    self.live.insert(address, vec![0; size as usize]);
                    if call == Call::AllocateHost {
                        self.host.insert(address);
                    }
                }
                answer
            }
            1 => {
                let address = self.address(random);
                let (is_host, is_wrong) = (self.host.contains(&address), random.below(8) == 0);
                let call = if is_host != is_wrong { Call::FreeHost } else { Call::Free };
                let answer = ask(device, call, &[address], &[]);
                good(&answer, self.live.contains_key(&address) && !is_wrong, CudaError::InvalidValue);
                if answer.is_ok() {
                    self.live.remove(&address);
                    self.host.remove(&address);
                    self.freed.push(address);
                }
                answer
            }
            2 | 3 => {
                let (address, size) = (self.address(random), random.below(300));
                let data: Vec<u8> = (0..size).map(|_| random.bits() as u8).collect();
                let answer = ask(device, Call::Write, &[address], &data);
                let there = self.part(address, size);
                good(&answer, there.is_some(), CudaError::InvalidValue);
                there.into_iter().for_each(|there| there.copy_from_slice(&data));
                answer
            }
            4 | 5 => {
                let size = if random.below(4) == 0 { SIZES[random.below(9) as usize] } else { random.below(300) };
                let address = self.address(random);
                let answer = ask(device, Call::Read, &[address, size], &[]);
                let there = self.part(address, size);
                good(&answer, there.is_some(), CudaError::InvalidValue);
                if let (Ok(answer), Some(there)) = (&answer, there) {
                    assert_eq!(answer.bytes, there);
                }
                answer
            }
            6 => {
                let (to, from, size) = (self.address(random), self.address(random), random.below(300));
                let answer = ask(device, Call::Copy, &[to, from, size], &[]);
                let data = self.part(from, size).map(|part| part.to_vec());
                let is_good = data.is_some() && self.part(to, size).is_some();
                good(&answer, is_good, CudaError::InvalidValue);
                if let (true, Some(data)) = (is_good, data) {
                    self.part(to, size).into_iter().for_each(|part| part.copy_from_slice(&data));
                }
                answer
            }
            7 => {
                let sizes = [0, 1, 4, 100, 255, 1 << 40, u64::MAX];
                let [pitch, width, height] = [(); 3].map(|()| sizes[random.below(7) as usize]);
                let (address, value) = (self.address(random), random.bits() & 0xff);
                let answer = ask(device, Call::Fill, &[address, pitch, width, height, value], &[]);
                let whole = height.checked_sub(1).and_then(|rows| rows.checked_mul(pitch)?.checked_add(width));
                let lies = whole.is_some_and(|whole| self.place(address, whole).is_some());
                let pitched = height <= 1 || pitch >= width.max(1);
                good(&answer, lies && pitched, if pitched { CudaError::InvalidValue } else { CudaError::InvalidPitch });
                for row in 0..if answer.is_ok() { height } else { 0 } {
                    self.part(address + row * pitch, width).expect("it lies there").fill(value as u8);
                }
                answer
            }
            8 => {
                // A stream or an event, made and destroyed.
                let kind = random.below(2) as usize;
                let [make, destroy] =
                    [[Call::CreateStream, Call::DestroyStream], [Call::CreateEvent, Call::DestroyEvent]][kind];
                if random.below(2) == 0 {
                    let answer = ask(device, make, &[0], &[]);
                    self.handles[kind].push(answer.as_ref().unwrap().words[0]);
                    return answer;
                }
                let handle = self.handle(kind, random);
                let answer = ask(device, destroy, &[handle], &[]);
                let known = self.handles[kind].iter().position(|known| *known == handle);
                good(&answer, known.is_some(), CudaError::InvalidHandle);
                if let Some(known) = known {
                    self.gone.push(self.handles[kind].swap_remove(known));
                }
                answer
            }
            9 => {
                let (stream, event) = (self.handle(0, random), self.handle(1, random));
                let answer = ask(device, Call::RecordEvent, &[event, stream], &[]);
                let streams = self.handles[0].contains(&stream) || DEFAULT_STREAMS.contains(&stream);
                good(&answer, streams && self.handles[1].contains(&event), CudaError::InvalidHandle);
                answer
            }
            10 => {
                let (shadow, size, room) = if random.below(2) == 0 { (FACTOR, 8, 12) } else { (COUNT, 4, 8) };
                let shadow = if random.below(5) == 0 { self.address(random) } else { shadow };
                let known = shadow == FACTOR || shadow == COUNT;
                let size = if shadow == FACTOR { 8 } else { size };
                let (offset, length) = (random.below(room), random.below(room));
                let data: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
                let answer = ask(device, Call::WriteSymbol, &[shadow, offset], &data);
                let size = if shadow == COUNT { 4 } else { size };
                let error = if known { CudaError::InvalidValue } else { CudaError::InvalidSymbol };
                good(&answer, known && offset + length <= size, error);
                if answer.is_ok() {
                    let mut count = self.count.to_le_bytes();
                    let variable = if shadow == FACTOR { &mut self.factor[..] } else { &mut count[..] };
                    variable[offset as usize..][..data.len()].copy_from_slice(&data);
                    self.count = u32::from_le_bytes(count);
                }
                answer
            }
            11 => {
                let [factor, count] = [(FACTOR, 8), (COUNT, 4)]
                    .map(|(shadow, size)| ask(device, Call::ReadSymbol, &[shadow, 0, size], &[]).unwrap().bytes);
                assert_eq!((factor, count), (self.factor.to_vec(), self.count.to_le_bytes().to_vec()));
                ask(device, Call::ReadSymbol, &[FACTOR, random.below(3), 6], &[])
            }
            12 => {
                // Invalid requests: wrong numbers of words, kernels that the compiler refuses, damaged fat binaries.
                match random.below(4) {
                    0 => {
                        let call = [Call::Launch, Call::Read, Call::Fill, Call::Elapsed][random.below(4) as usize];
                        let answer = ask(device, call, &vec![0; 10 + random.below(5) as usize], &[]);
                        good(&answer, false, CudaError::InvalidValue);
                        answer
                    }
                    1 => {
                        let answer = ask(device, Call::Launch, &[OTHER, 1, 1, 1, 1, 1, 1, 0, 0], &[0; 8]);
                        good(&answer, false, CudaError::NoImage);
                        answer
                    }
                    2 => {
                        let answer = ask(device, Call::Parameters, &[self.address(random) | 1], &[]);
                        good(&answer, false, CudaError::InvalidFunction);
                        answer
                    }
                    _ => damaged_module(device, random),
                }
            }
            _ => self.launch(device, random),
        }
    }

    /// A handle of this kind, of the other kind, a destroyed one, or one that never existed.
    fn handle(&self, kind: usize, random: &mut Random) -> u64 {
        let from = match random.below(6) {
            0 => &self.gone,
            1 => &self.handles[1 - kind],
            2 => return [0, 1, 2, 7, u64::MAX][random.below(5) as usize],
            _ => &self.handles[kind],
        };
        random.one(from).unwrap_or(99)
    }

    /// Launches `scale`, often with something wrong; a fault ends the device.
    fn launch(&mut self, device: &mut Device<'_>, random: &mut Random) -> Result<Answer, CudaError> {
        let (x, n) = (self.address(random), random.below(40) as u32);
        let mut sizes = [1, 1, 1, 1 + random.below(40), 1, 1, 0, 0];
        let mut parameters = [&x.to_ne_bytes()[..], &n.to_ne_bytes()].concat();
        let mut error = None;
        match random.below(8) {
            0 => (sizes[random.below(6) as usize], error) = (0, Some(CudaError::InvalidConfiguration)),
            1 => (sizes[4], error) = (2048, Some(CudaError::InvalidConfiguration)),
            2 => (sizes[6], error) = (1 << random.below(64).max(17), Some(CudaError::InvalidValue)),
            3 => (sizes[7], error) = (77, Some(CudaError::InvalidHandle)),
            4 => {
                parameters.resize(random.below(12) as usize, 0);
                error = Some(CudaError::InvalidValue);
            }
            _ => {}
        }
        let threads = sizes[3];
        let answer = ask(device, Call::Launch, &[&[STUB][..], &sizes].concat(), &parameters);
        if let Some(error) = error {
            assert_eq!(answer, Err(error), "{sizes:?} {parameters:?}");
            return answer;
        }
        let words = threads.min(n.into());
        let answer = answer.unwrap();
        let aligned = x.is_multiple_of(4) || words == 0;
        let factor = u32::from_le_bytes(self.factor[4..].try_into().unwrap());
        match self.part(x, 4 * words).filter(|_| aligned) {
            _ if words == 0 => assert_eq!(answer.words, [0]),
            Some(part) => {
                assert_eq!(answer.words, [0]);
                for word in part.chunks_exact_mut(4) {
                    let x = u32::from_le_bytes(word.try_into().unwrap());
                    word.copy_from_slice(&x.wrapping_mul(factor).to_le_bytes());
                }
                self.count = self.count.wrapping_add(words as u32);
            }
            None => {
                let faults = [CudaError::IllegalAddress, CudaError::MisalignedAddress].map(|error| error.code() as u64);
                // The memory of variables is valid for the device, but not tracked here: no address of this test lies in it.
                assert!(faults.contains(&answer.words[0]), "{:?} at {x:#x}", answer.words);
                self.broken = true;
            }
        }
        Ok(answer)
    }
}

/// Registers a fat binary with some changed bytes, and compiles its kernel.
fn damaged_module(device: &mut Device<'_>, random: &mut Random) -> Result<Answer, CudaError> {
    let mut fat = fat(PTX);
    for _ in 0..1 + random.below(4) {
        // Half of the changes are in the headers.
        let end = if random.below(2) == 0 { 80 } else { fat.len() as u64 };
        let at = random.below(end) as usize;
        fat[at] = if random.below(2) == 0 { random.bits() as u8 } else { b" {}();,.%0"[random.below(10) as usize] };
    }
    if random.below(4) == 0 {
        fat.truncate(random.below(fat.len() as u64) as usize);
    }
    let module = ask(device, Call::Module, &[1], &fat)?.words[0];
    let stub = 0x7000 + random.below(3);
    let function = ask(device, Call::Function, &[module, stub], b"scale")?;
    // The kernel is not launched: a damaged one might access other memory, and a fault would end the device, which is another test.
    ask(device, Call::Parameters, &[stub], &[]).map(|_| function)
}

/// Runs a sequence of `requests` requests.
fn sequence(seed: u64, requests: u32, counts: &mut Counts) {
    let start = Instant::now();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    with_device(|device| {
        register(device);
        let mut expected = Expected::new();
        for _ in 0..requests {
            match expected.step(device, &mut random) {
                Ok(_) => counts.right += 1,
                Err(_) => counts.wrong += 1,
            }
            if expected.broken {
                // Every call fails until the device is reset. Then it is in its initial state.
                let stream = ask(device, Call::Stream, &[0], &[]);
                assert!(matches!(stream, Err(CudaError::IllegalAddress | CudaError::MisalignedAddress)), "{stream:?}");
                ask(device, Call::Reset, &[], &[]).unwrap();
                expected = Expected::new();
            }
        }
        for (address, there) in &expected.live {
            let found = ask(device, Call::Read, &[*address, there.len() as u64], &[]).unwrap().bytes;
            assert_eq!(found, *there, "at {address:#x}");
        }
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[expected.count]));
    });
    assert!(start.elapsed() < TIME, "seed {seed} took {:?}", start.elapsed());
}

fn campaign(seeds: std::ops::Range<u64>, requests: u32) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut here = Counts::default();
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sequence(seed, requests, &mut here)));
        ran.unwrap_or_else(|_| panic!("seed {seed}"));
        (counts.right, counts.wrong) = (counts.right + here.right, counts.wrong + here.wrong);
    }
    counts
}

#[test]
fn wrong_programs_get_errors_and_right_requests_their_results() {
    let Counts { right, wrong } = campaign(1..40, 150);
    assert!(right > 2000 && wrong > 1000, "{right} right, {wrong} wrong");
}

#[test]
#[ignore = "long: 3 million requests"]
fn many_wrong_programs() {
    let start = Instant::now();
    let counts = campaign(1000..21_000, 150);
    println!("{counts:?} in {:.0} s", start.elapsed().as_secs_f64());
}

//! RAM cells of other sizes than warp registers, compared with the [`Words`] that twins of blocks with a narrow RAM use.

mod common;

use std::sync::atomic::AtomicBool;

use common::Faulty;
use gpurf_blocks::ram::Words;
use gpurf_blocks::{Block, Memory, NoProbe, Twin, erase, field, ports, view_mut};
use gpurf_lockstep::{Cause, Lockstep, Rng, RunOutcome, RunPlan, Stimulus, report};
use gpurf_regress::Project;
use verilated::{Error, Library, Options, Request, Toolchain};

/// Sizes of a RAM.
#[derive(Clone, Copy, Debug)]
struct Size {
    depth: usize,
    parts: u32,
    part_w: u32,
}

impl Size {
    fn entry_w(&self) -> u32 {
        self.depth.next_power_of_two().ilog2()
    }

    fn word_w(&self) -> u32 {
        self.parts * self.part_w
    }

    /// The bits of the parts in a mask.
    fn enable(&self, mask: u64) -> u64 {
        let part = u64::MAX >> (64 - self.part_w);
        (0..self.parts).filter(|p| mask >> p & 1 == 1).fold(0, |bits, p| bits | part << (p * self.part_w))
    }
}

impl gpurf_blocks::Shape for Size {
    fn of(_: &gpurf_blocks::config::Config) -> Self {
        unreachable!("made by hand")
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Depth" => self.depth as u64,
            "Parts" => self.parts.into(),
            _ => self.part_w.into(),
        }
    }
}

ports! {
    /// Inputs of a RAM with a read and a write port.
    struct In(s: &Size) {
        /// Data to write.
        wdata_i: u64 = field(s.word_w()),
        /// Parts to write.
        wmask_i: u64 = field(s.parts),
        /// Word to read.
        raddr_i: u8 = field(s.entry_w()),
        /// Word to write.
        waddr_i: u8 = field(s.entry_w()),
        /// Read.
        re_i: u8 = field(1),
        /// Write.
        we_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of a RAM.
    struct Out(s: &Size) {
        /// Word read last.
        rdata_o: u64 = field(s.word_w()).early(),
    }
}

#[derive(Clone)]
struct Ram {
    size: Size,
    words: Words,
}

impl Block for Ram {
    const NAME: &'static str = "ram_1r1w";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Parts", "PartW"];
    type Shape = Size;
    type In = In;
    type Out = Out;
    type Probe = NoProbe<Size>;

    fn new(size: &Size) -> Self {
        Self { size: *size, words: Words::new(size.depth, size.word_w()) }
    }
    fn early(&self, out: &mut Out) {
        out.rdata_o = self.words.rdata();
    }
    fn late(&mut self, _: &In, _: &mut Out) {}
    fn clock(&mut self, inputs: &In, _: &Out) {
        if inputs.re_i != 0 {
            self.words.read(inputs.raddr_i.into());
        }
        if inputs.we_i != 0 {
            self.words.write(inputs.waddr_i.into(), inputs.wdata_i, self.size.enable(inputs.wmask_i));
        }
    }
    fn probe(&self, _: &In, _: &Out, _: &mut NoProbe<Size>) {}
    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.words.memories("", Self::NAME).into()
    }
}

/// Random accesses within the depth.
struct Accesses(Rng, Size);

impl Stimulus for Accesses {
    fn next(&mut self, inputs: &mut [u8]) -> bool {
        let (rng, size) = (&mut self.0, self.1);
        let inputs: &mut In = view_mut(inputs);
        inputs.wdata_i = rng.next_u64() & u64::MAX >> (64 - size.word_w());
        inputs.wmask_i = rng.next_u64() & u64::MAX >> (64 - size.parts);
        [inputs.raddr_i, inputs.waddr_i] = std::array::from_fn(|_| rng.below(size.depth as u64) as u8);
        [inputs.re_i, inputs.we_i] = std::array::from_fn(|_| rng.chance(600).into());
        true
    }
}

const CYCLES: u64 = 20_000;

fn request(twin: &mut dyn Twin) -> Request {
    let memories = twin.memories().iter().map(Into::into).collect();
    let modules = ["ram/ram_1r1w"];
    let mut request = Request::from_tree(twin.declaration().clone(), memories, &Project::find().rtl(), &modules);
    request.options = Options { optimise: false, ..Options::default() };
    request
}

fn build(request: &Request) -> Result<Library, Error> {
    Toolchain::find(&Project::find().cache()).expect("Verilator and a C++ compiler").build(request)
}

fn run(mut twin: Box<dyn Twin>, library: &Library, size: Size) -> RunOutcome {
    assert!(twin.memories().iter().all(|m| m.bits == size.word_w()));
    let mut sides = Lockstep::new(twin, library.instance(1).unwrap());
    let plan = RunPlan { seed: 1, cycles: CYCLES, memory_every: 640, idle: None, threads: 1 };
    let mut accesses = Accesses(Rng::new(1, "accesses"), size);
    sides.run(&mut accesses, &plan, &mut |_, _| {}, &AtomicBool::new(false))
}

#[test]
fn cells_of_other_sizes_are_equal_and_compared_whole() {
    let sizes = [(5, 1, 17), (64, 4, 8), (3, 33, 1), (48, 8, 8)];
    for (depth, parts, part_w) in sizes {
        let size = Size { depth, parts, part_w };
        let library = build(&request(&mut *erase::<Ram>(&size))).unwrap();
        let outcome = run(erase::<Ram>(&size), &library, size);
        assert!(outcome.cause.is_none(), "{size:?}: {:?}", outcome.cause);
        assert_eq!(outcome.cycles, CYCLES);

        // A fault in the last cycle, so that no read can detect it.
        let twin = Faulty::boxed(erase::<Ram>(&size), |twin, cycle, _| {
            if cycle == CYCLES {
                *twin.memories()[0].words.last_mut().unwrap() ^= 2;
            }
        });
        let declaration = twin.declaration().clone();
        let outcome = run(twin, &library, size);
        let Some(Cause::Diverged(divergence)) = &outcome.cause else { panic!("{size:?}: {:?}", outcome.cause) };
        assert_eq!((divergence.cycle, divergence.differences.len()), (CYCLES, 0));
        let found = report::summary(&declaration, divergence, outcome.capture.as_ref().unwrap());
        assert_eq!(found.port, format!("mem_q[{}]", depth - 1), "{size:?}");
        let [model, rtl] = [&found.model, &found.rtl].map(|v| u64::from_str_radix(&v[2..], 16).unwrap());
        assert_eq!(model ^ rtl, if size.word_w() > 32 { 2 << 32 } else { 2 }, "{size:?}");
        assert_eq!(found.model.len(), 2 + size.word_w().div_ceil(4) as usize, "{found:?}");
    }
}

#[test]
fn a_memory_of_another_width_or_depth_is_refused() {
    let size = Size { depth: 5, parts: 1, part_w: 17 };
    for (words, bits) in [(5, 18), (4, 17)] {
        let mut request = request(&mut *erase::<Ram>(&size));
        (request.memories[0].words, request.memories[0].bits) = (words, bits);
        let Err(error) = build(&request) else { panic!("{words} words of {bits} bits") };
        let message = format!(
            "ram_1r1w has no memory mem_q of {words} words of {bits} bits (it is 5 words of 17 bits); without it reads cannot be compared"
        );
        assert_eq!(error.to_string(), message);
    }
}

//! Names of registers by first use: nothing else of a kernel changes, and warps get further before they name a shared register.

mod common;

use common::{build, build_with, observed, percent};
use gpurf_compiler::{Options, RegisterOrder};
use gpurf_isa::{Image, Instruction, Reg};
use gpurf_kernels::{Case, KERNELS, Kernel};
use gpurf_launch::BufferId;
use gpurf_oracle::host::{OracleEngine, Session};
use gpurf_oracle::{Issue, Observer, WarpId};
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../docs/compiler.md");

fn by_first_use(kernel: &Kernel, registers: u16) -> Image {
    build_with(&Options { registers, register_order: RegisterOrder::FirstUse, ..Options::default() }, kernel)
}

/// The registers that an instruction names, in the order a, b, c, d.
fn named(instruction: &Instruction) -> impl Iterator<Item = Reg> {
    instruction.sources().map(|(_, register)| register).chain(instruction.destination())
}

/// The final bytes of every buffer.
fn run(kernel: &Kernel, image: &Image) -> Vec<Vec<u8>> {
    let case = Case::load(kernel.name).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(case.manifest(), image).unwrap_or_else(|error| panic!("{error}"));
    session.run(&mut OracleEngine::default()).unwrap_or_else(|error| panic!("{error}"));
    (0..case.manifest().buffers.len()).map(|id| session.bytes(BufferId(id))).collect()
}

/// The same instructions with other names, each old name with one new one; and first uses in ascending order.
fn expect_renamed(kernel: &str, old: &[Instruction], new: &[Instruction]) {
    let mut names = BTreeMap::new();
    assert_eq!(old.len(), new.len(), "{kernel}");
    let mut next = 0;
    for (old, new) in old.iter().zip(new) {
        let nameless = |i: &Instruction| (i.op, i.guard, i.p, i.s, i.t, i.offset, i.reconvergence, i.b.immediate());
        assert_eq!(nameless(old), nameless(new), "{kernel}");
        assert!(named(old).count() == named(new).count(), "{kernel}: {old} became {new}");
        for (from, to) in named(old).zip(named(new)) {
            let is_first = !names.contains_key(&from);
            assert_eq!(*names.entry(from).or_insert(to), to, "{kernel}: {from} has two names");
            assert!(!is_first || to == Reg(next), "{kernel}: {from} is {to}, R{next} is next");
            next += u8::from(is_first);
        }
    }
}

#[test]
fn every_kernel_does_what_it_did() {
    for kernel in KERNELS {
        for registers in [16, 64] {
            let (old, new) = (build(kernel, registers), by_first_use(kernel, registers));
            for (old, new) in old.kernels.iter().zip(&new.kernels) {
                expect_renamed(&old.name, &old.code, &new.code);
                assert_eq!((old.registers, &old.lines, &old.added), (new.registers, &new.lines, &new.added));
            }
            assert_eq!(run(kernel, &old), run(kernel, &new), "{} with {registers} registers", kernel.name);
        }
    }
}

/// How far warps get before they name a shared register.
struct Progress {
    /// Registers that a warp has for itself: names below are private.
    private: u16,
    /// For each warp the number of instructions before its first shared register, or of all instructions if it names none; and whether it names one.
    warps: BTreeMap<WarpId, (u64, bool)>,
}

impl Progress {
    /// With a private part of `tenths` tenths.
    fn new(registers: u16, tenths: u16) -> Self {
        Self { private: (registers * tenths).div_ceil(10), warps: BTreeMap::new() }
    }

    /// Mean number of instructions of a warp.
    fn mean(&self) -> f64 {
        let instructions: u64 = self.warps.values().map(|(instructions, _)| instructions).sum();
        instructions as f64 / self.warps.len() as f64
    }
}

impl Observer for Progress {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        let (instructions, stopped) = self.warps.entry(at.warp).or_default();
        if !*stopped {
            *stopped = named(at.instruction).any(|register| u16::from(register.0) >= self.private);
            *instructions = at.number + u64::from(!*stopped);
        }
    }
}

/// The row of a table for all launches of all small runs, and its median.
fn row(name: &str, images: &[Image], tenths: u16) -> (f64, String) {
    let of = |(kernel, image): (&Kernel, &Image)| observed(kernel, image, |code| Progress::new(code.registers, tenths));
    let launches: Vec<Progress> = KERNELS.iter().zip(images).flat_map(of).collect();
    let mut means: Vec<f64> = launches.iter().map(Progress::mean).collect();
    means.sort_by(f64::total_cmp);
    let [least, quarter, half, three_quarters, most] =
        [0, 25, 50, 75, 100].map(|at| means[(means.len() - 1) * at / 100]);

    let warps = launches.iter().flat_map(|launch| launch.warps.values());
    let (all, never) = warps.fold((0, 0), |(all, never), (_, stopped)| (all + 1, never + u64::from(!stopped)));
    let never = percent(never, all);
    let numbers = format!("{least:.1} | {quarter:.1} | {half:.1} | {three_quarters:.1} | {most:.1} | {never:.1} %");
    (half, format!("| 0.{tenths} | `{name}` | {numbers} |"))
}

#[test]
fn warps_get_further_before_they_name_a_shared_register() {
    let old: Vec<Image> = KERNELS.iter().map(|kernel| build(kernel, 64)).collect();
    let new: Vec<Image> = KERNELS.iter().map(|kernel| by_first_use(kernel, 64)).collect();
    let mut missing = Vec::new();
    for tenths in [1, 3, 5, 7, 9] {
        let (half, allocated) = row("allocated", &old, tenths);
        let (further, first_use) = row("first_use", &new, tenths);
        assert!(half < further, "{allocated}\n{first_use}");
        missing.extend([allocated, first_use].into_iter().filter(|row| !PAGE.contains(row.as_str())));
    }
    assert!(missing.is_empty(), "docs/compiler.md lacks or has otherwise:\n{}", missing.join("\n"));
}

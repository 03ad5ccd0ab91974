//! How often a bank of the register file has no register that hardware knows to be free (stealing paper IV-C).
//!
//! Every warp updates a table with one register for each bank, as in the paper's figure 9: the last update counts, and is valid until the register is
//! written or its warp ends. Timing is not modelled: warps take turns, one instruction each.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use std::collections::BTreeMap;

use common::{build, percent};
use gpurf_compiler::marks::flow::Registers;
use gpurf_compiler::marks::liveness;
use gpurf_isa::image::Kernel;
use gpurf_isa::{Instruction, Reg};
use gpurf_kernels::{Case, KERNELS};
use gpurf_oracle::host::{Engine, KernelLaunch, OracleError, Session};
use gpurf_oracle::{Issue, Launch, Memory, Observer, Oracle, Program, WarpId};

/// Banks of the paper's file with stealing.
const BANKS: usize = 8;
/// Warp registers of the file.
const ENTRIES: usize = 1024;
/// Warps that the SM holds at most.
const WARPS: usize = 32;

/// The instructions that each warp executes.
#[derive(Default)]
struct Traces(BTreeMap<WarpId, Vec<u32>>);

impl Observer for Traces {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        self.0.entry(at.warp).or_default().push(at.pc);
    }
}

/// Pairs of an instruction and a bank, and how many of them have no known free register.
#[derive(Clone, Copy, Default)]
struct Count {
    all: u64,
    /// With one warp alone, the pairs without a dead register in the bank: none could be known.
    none: u64,
    /// With one warp alone.
    alone: u64,
    /// With as many warps as the file and the SM hold.
    together: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.none += other.none;
        self.alone += other.alone;
        self.together += other.together;
    }

    fn print(&self, name: &str) {
        let share = |part| percent(part, self.all);
        println!(
            "{name:24} {:5.1} % no dead register, {:5.1} % one warp alone, {:5.1} % all warps",
            share(self.none),
            share(self.alone),
            share(self.together),
        );
    }
}

fn bank(register: Reg, slot: usize) -> usize {
    (register.index() + slot) % BANKS
}

/// The registers of a warp: those of the kernel, rounded up as the allocation does.
fn registers(kernel: &Kernel) -> usize {
    usize::from(kernel.registers).next_multiple_of(BANKS)
}

/// The number of banks in which a register of a warp is dead.
fn dead_banks(kernel: &Kernel, live: Registers) -> usize {
    let registers = (0..registers(kernel)).map(|index| Reg(index as u8));
    let mut banks = [false; BANKS];
    registers.filter(|&register| !live.contains(register)).for_each(|register| banks[bank(register, 0)] = true);
    banks.iter().filter(|&&dead| dead).count()
}

/// Lets the warps of a launch take turns in this number of slots; returns how often a bank has no known free register.
fn unknown(kernel: &Kernel, traces: &[Vec<u32>], slots: usize) -> u64 {
    let mut waiting = traces.iter();
    let mut running: Vec<Option<std::slice::Iter<'_, u32>>> = vec![None; slots];
    let mut told: [Option<(usize, Reg)>; BANKS] = [None; BANKS];
    let mut unknown = 0;
    loop {
        let mut idle = true;
        for slot in 0..slots {
            let next = running[slot].as_mut().and_then(Iterator::next);
            let next = next.or_else(|| {
                told.iter_mut().filter(|told| told.is_some_and(|(by, _)| by == slot)).for_each(|told| *told = None);
                running[slot] = waiting.next().map(|trace| trace.iter());
                running[slot].as_mut().and_then(Iterator::next)
            });
            let Some(&pc) = next else { continue };
            idle = false;
            let instruction: &Instruction = &kernel.code[pc as usize];
            if let Some(register) = instruction.destination() {
                let place = &mut told[bank(register, slot)];
                *place = place.filter(|&known| known != (slot, register));
            }
            // Hardware ignores registers that the warp does not have.
            if let Some(register) = instruction.control.free_register.filter(|r| r.index() < registers(kernel)) {
                told[bank(register, slot)] = Some((slot, register));
            }
            unknown += told.iter().filter(|told| told.is_none()).count() as u64;
        }
        if idle {
            return unknown;
        }
    }
}

/// Runs launches and counts.
struct Counting(Count);

impl Engine for Counting {
    type Error = OracleError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
        let kernel = launch.kernel;
        let program = Program::new(kernel, launch.source)?;
        let mut traces = Traces::default();
        let run = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        Oracle::default().run_observed(&run, memory, &mut traces).map_err(OracleError::Fault)?;
        let traces: Vec<Vec<u32>> = traces.0.into_values().collect();
        let live = liveness::of_warp(&kernel.code);
        let slots = WARPS.min(ENTRIES / registers(kernel).max(BANKS));
        let none = |pc: u32| (BANKS - dead_banks(kernel, live[pc as usize])) as u64;
        self.0.add(&Count {
            all: traces.iter().map(|trace| (trace.len() * BANKS) as u64).sum(),
            none: traces.iter().flatten().map(|&pc| none(pc)).sum(),
            alone: unknown(kernel, &traces, 1),
            together: unknown(kernel, &traces, slots),
        });
        Ok(())
    }
}

/// With `--nocapture` it prints the shares of every kernel.
#[test]
fn banks_know_a_free_register_most_of_the_time() {
    for registers in [16, 64] {
        let mut all = Count::default();
        for kernel in KERNELS {
            let image = build(kernel, registers);
            let case = Case::load(kernel.name).unwrap_or_else(|error| panic!("{error}"));
            let mut counting = Counting(Count::default());
            let mut session = Session::new(case.manifest(), &image).unwrap_or_else(|error| panic!("{error}"));
            session.run(&mut counting).unwrap_or_else(|error| panic!("{error}"));
            let most = image.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0);
            counting.0.print(&format!("{} ({most})", kernel.name));
            all.add(&counting.0);
        }
        all.print(&format!("all, {registers} registers"));
        // Where no register is dead, none can be known; the registers of other warps make up for most of that.
        assert!(all.none <= all.alone);
        assert!(percent(all.together, all.all) < 15.0);
    }
}

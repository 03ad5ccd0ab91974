//! The field "free register": a register in which write stealing may park a value (stealing paper IV-C).
//!
//! Correctness decides which registers may be named. A register is free after an instruction if
//!
//! * no lane of the warp reads its present value again, including lanes that wait while the other side of a branch runs: liveness of the warp. It
//!   stays free until an instruction writes it, in whatever lanes;
//! * no write of it is in flight. Either nothing has written it yet, or an unguarded instruction has read it since, which had to wait for the write.
//!   Otherwise the late write would collide with the value that is parked in the register.
//!
//! Performance decides which of the free registers is named. Hardware stores one free register per bank, and all warps update it. So each instruction
//! names one: "when ra is used by the following instruction, its encoding will embed another register rb". The compiler knows neither the number of
//! banks nor the warp, which rotates the assignment to banks. So it considers every possible number of banks at once. It names the register with the
//! largest product of two values: how long its banks have not been updated, and how long it stays free. A bank of a small file is updated more often,
//! and is a larger part of its file. A register that the next instruction writes is better than none: the write arrives a whole pipeline later, and a
//! parked value is usually back within three cycles (IV-C).
//!
//! After a kernel's own registers come those by which its allocation is rounded up to whole rows of all banks. No instruction uses them, so they are
//! named too; their number depends on the number of banks. Hardware ignores a register that a warp does not have.

use super::flow::{Registers, graph, side, sources, successors};
use super::liveness;
use gpurf_isa::{Instruction, Op, Reg};

/// Numbers of banks that a file may have (`docs/blocks/mrf.md`).
pub const BANKS: [usize; 5] = [2, 4, 8, 16, 32];

/// The largest distance that is counted, in instructions: two rounds over the banks of the largest file.
const FAR: u32 = 64;

/// Marks the free registers of finished code.
pub fn mark(code: &mut [Instruction]) {
    let live = liveness::of_warp(code);
    mark_dead(code, &live, &BANKS);
}

/// Names registers that are not live after the instructions, for files with these numbers of banks.
pub fn mark_dead(code: &mut [Instruction], live: &[Registers], banks: &[usize]) {
    let named =
        code.iter().flat_map(|instruction| instruction.sources().map(|(_, r)| r).chain(instruction.destination()));
    let names = named.map(|register| register.index() + 1).max().unwrap_or(0);
    let coming = on_their_way(code);
    let mut news: Vec<News> = banks.iter().map(|&banks| News::of(banks, names)).collect();
    let most = news.iter().map(|news| news.registers).max().unwrap_or_default().min(Reg::ZERO.index());
    let written = until_written(code, most);
    // Numbers of banks are powers of two, so registers whose numbers differ by a multiple of the largest number share their banks in every file, and
    // have the same age. That holds for the kernel's own registers. The few registers after them, by which an allocation is rounded up, do not exist
    // in some files.
    let period = banks.iter().copied().max().unwrap_or(1);
    let mut ages = vec![0; period];
    for (pc, instruction) in code.iter_mut().enumerate() {
        if let Some(register) = instruction.destination() {
            news.iter_mut().for_each(|news| news.comes_alive(register));
        }
        let age = |index: usize| news.iter().map(|news| news.age(Reg(index as u8))).sum();
        ages.iter_mut().enumerate().take(names).for_each(|(index, sum)| *sum = age(index));
        // When a warp has ended, its registers belong to no warp.
        let ends = matches!(instruction.op, Op::Exit {} | Op::Trap {});
        let taken = live[pc].union(coming[pc]);
        // The first of the registers with the highest worth.
        let mut best: Option<(u32, Reg)> = None;
        for (index, &far) in written[pc].iter().enumerate().filter(|_| !ends) {
            let register = Reg(index as u8);
            if !taken.contains(register) {
                let worth = u32::from(far) * if index < names { ages[index % period] } else { age(index) };
                best = best.filter(|&(most, _)| most >= worth).or(Some((worth, register)));
            }
        }
        instruction.control.free_register = best.map(|(_, register)| register);
        news.iter_mut().for_each(|news| news.pass(instruction.control.free_register));
    }
}

/// The free registers that the banks of a file store, if instructions execute in the order of the code.
struct News {
    /// For each bank, the register that it stores and how many instructions ago it was named.
    told: Vec<(Option<Reg>, u32)>,
    /// Number of registers that a warp has: whole rows.
    registers: usize,
}

impl News {
    /// The state before the first instruction, for a kernel with `names` registers.
    fn of(banks: usize, names: usize) -> Self {
        Self { told: vec![(None, FAR); banks], registers: names.next_multiple_of(banks) }
    }

    /// The bank of a register, if the warp has it.
    fn bank(&self, register: Reg) -> Option<usize> {
        (register.index() < self.registers).then(|| register.index() % self.told.len())
    }

    /// The age of the entry in a register's bank, in rounds over the file, times the bank's share of the file; both relative to the largest file. 0
    /// if the warp does not have the register.
    fn age(&self, register: Reg) -> u32 {
        let part = (BANKS[BANKS.len() - 1] / self.told.len()) as u32;
        self.bank(register).map_or(0, |bank| self.told[bank].1 * part * part)
    }

    /// A register that is written is no longer free: removes it from its bank.
    fn comes_alive(&mut self, register: Reg) {
        if let Some(bank) = self.bank(register).filter(|&bank| self.told[bank].0 == Some(register)) {
            self.told[bank] = (None, FAR);
        }
    }

    /// Counts an instruction, and stores the register that it names.
    fn pass(&mut self, free: Option<Reg>) {
        self.told.iter_mut().for_each(|(_, age)| *age = FAR.min(*age + 1));
        if let Some(bank) = free.and_then(|register| self.bank(register)) {
            self.told[bank] = (free, 0);
        }
    }
}

/// For each instruction, the registers that may have been written and not read since.
fn on_their_way(code: &[Instruction]) -> Vec<Registers> {
    let mut ways = graph(code);
    for (from, to) in turns(code) {
        ways[from].push(to);
    }
    let read = |code: &Instruction| if code.is_guarded() { Registers::NONE } else { sources(code) };
    let steps: Vec<_> = code.iter().map(|instruction| (read(instruction), instruction.destination())).collect();
    let behind = |pc: usize, front: Registers| {
        let (read, written) = steps[pc];
        written.into_iter().fold(front.minus(read), Registers::with)
    };
    let mut fronts = vec![Registers::NONE; code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in 0..code.len() {
            let set = behind(pc, fronts[pc]);
            for &to in &ways[pc] {
                let new = fronts[to].union(set);
                changed |= fronts[to] != new;
                fronts[to] = new;
            }
        }
    }
    fronts.iter().enumerate().map(|(pc, &front)| behind(pc, front)).collect()
}

/// Control transfers of a warp that no single lane makes: a group of lanes has reached the end of its side of a branch, or its last lanes have ended,
/// and other lanes continue elsewhere.
fn turns(code: &[Instruction]) -> Vec<(usize, usize)> {
    let mut turns = Vec::new();
    for (pc, branch) in code.iter().enumerate().filter(|(_, instruction)| instruction.may_diverge()) {
        let Some(target) = branch.target().map(|target| target.index()) else { continue };
        let meet = branch.reconvergence.map(|meet| meet.index());
        let falling = side(code, pc + 1, meet);
        let taken = side(code, target, meet);
        for last in (0..code.len()).filter(|&last| falling[last] || taken[last]) {
            let ends = matches!(code[last].op, Op::Exit {});
            let meets = successors(code, last).any(|to| Some(to) == meet);
            let to_taken = (falling[last] && (ends || meets) && Some(target) != meet).then_some(target);
            turns.extend(to_taken.into_iter().chain(meet.filter(|_| ends)).map(|to| (last, to)));
        }
    }
    turns
}

/// For each instruction and register, the number of instructions until one writes the register, on the shortest path, at most [`FAR`]. Paths out of a
/// loop are not followed, since the lanes usually repeat the loop first.
fn until_written(code: &[Instruction], names: usize) -> Vec<Vec<u8>> {
    let back = |pc: usize| code[pc].target().map(|target| (target.index(), pc)).filter(|(first, last)| first <= last);
    let loops: Vec<(usize, usize)> = (0..code.len()).filter_map(back).collect();
    let leaves = |pc: usize, to: usize| {
        loops.iter().any(|&(first, last)| (first..=last).contains(&pc) && !(first..=last).contains(&to))
    };
    let ways = graph(code).into_iter().enumerate();
    let ways: Vec<Vec<usize>> = ways.map(|(pc, to)| to.into_iter().filter(|&to| !leaves(pc, to)).collect()).collect();
    let mut written = vec![vec![FAR as u8; names]; code.len()];
    let mut there = vec![0; names];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..code.len()).rev() {
            for &to in &ways[pc] {
                there.copy_from_slice(&written[to]);
                if let Some(register) = code[to].destination() {
                    there[register.index()] = 0;
                }
                for (here, &there) in written[pc].iter_mut().zip(&there) {
                    changed |= there + 1 < *here;
                    *here = (*here).min(there + 1);
                }
            }
        }
    }
    written
}

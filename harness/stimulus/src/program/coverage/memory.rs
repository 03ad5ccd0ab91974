//! Accesses: which memory, how many lines, banks, words.

use std::collections::BTreeSet;

use gpurf_isa::machine::{CONSTANT_WINDOW, LOCAL_WINDOW, SHARED_WINDOW};
use gpurf_isa::modifiers::{Alignment, Atomic, AtomicSpace, Modifier, Space, StoreType};
use gpurf_isa::{Instruction, Op};
use gpurf_oracle::{Issue, lanes_of};

use super::{Coverage, FAMILIES, Point};

/// Bytes of a line of memory, and banks of shared memory.
const LINE: u64 = 128;
const BANKS: u64 = 32;
/// The middle of global memory, 2 GiB.
const HALF: u64 = 1 << 31;

/// A memory, in the order of `SPACES`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Global,
    Shared,
    Local,
    Constant,
}

/// The memory that an access goes to; `None` if its address is a generic one.
fn memory_of(op: Op) -> Option<Memory> {
    match op {
        Op::Ld { space, .. } | Op::St { space, .. } => match space {
            Space::Global => Some(Memory::Global),
            Space::Shared => Some(Memory::Shared),
            Space::Local => Some(Memory::Local),
            Space::Generic => None,
        },
        Op::Atom { space, .. } | Op::Cas { space } => match space {
            AtomicSpace::Global => Some(Memory::Global),
            AtomicSpace::Shared => Some(Memory::Shared),
            AtomicSpace::Generic => None,
        },
        _ => Some(Memory::Constant),
    }
}

/// The memory and the address of a lane.
fn target(instruction: &Instruction, issue: &Issue<'_>, lane: usize) -> (Memory, u64) {
    let [low, high, _] = issue.sources.map(|lanes| lanes.0[lane]);
    let offset = i64::from(instruction.offset.bytes());
    if !instruction.has_wide_address() {
        let address = low.wrapping_add(offset as u32);
        return (memory_of(instruction.op).unwrap_or(Memory::Global), address.into());
    }
    let address = (u64::from(high) << 32 | u64::from(low)).wrapping_add(offset as u64);
    let memory = memory_of(instruction.op).unwrap_or(match (address >> 32) as u32 {
        SHARED_WINDOW => Memory::Shared,
        LOCAL_WINDOW => Memory::Local,
        CONSTANT_WINDOW => Memory::Constant,
        _ => Memory::Global,
    });
    (memory, address & u64::from(u32::MAX))
}

impl Coverage {
    pub(super) fn memory(&mut self, issue: &Issue<'_>) {
        let instruction = issue.instruction;
        if issue.mask == 0 || !(instruction.is_memory() || matches!(instruction.op, Op::Ldc { .. })) {
            return;
        }
        let targets: Vec<(usize, Memory, u64)> = lanes_of(issue.mask)
            .map(|lane| {
                let (memory, address) = target(instruction, issue, lane);
                (lane, memory, address)
            })
            .collect();
        let memories: BTreeSet<Memory> = targets.iter().map(|(_, memory, _)| *memory).collect();
        if instruction.has_wide_address() && memory_of(instruction.op).is_none() {
            self.hit_if(Point::GenericMixed, memories.len() > 1);
            for memory in &memories {
                self.hit(match memory {
                    Memory::Global => Point::GenericGlobal,
                    Memory::Shared => Point::GenericShared,
                    Memory::Local => Point::GenericLocal,
                    Memory::Constant => Point::GenericConstant,
                });
            }
        }
        let global =
            || targets.iter().filter(|(_, memory, _)| *memory == Memory::Global).map(|(_, _, address)| address);
        let (low, high) = (global().any(|&address| address < HALF), global().any(|&address| address >= HALF));
        self.hit_if(Point::HighAddress, high);
        self.hit_if(Point::AcrossHalf, low && high);
        self.hit_if(Point::OffsetNegative, instruction.offset.bytes() < 0);
        memories.iter().for_each(|memory| self.kind(instruction.op, *memory));
        self.alignment(instruction.op);
        self.places(instruction, &targets);
    }

    fn kind(&mut self, op: Op, memory: Memory) {
        match op {
            Op::Ld { kind, .. } | Op::Ldc { kind, .. } => {
                self.hit_family(FAMILIES.loads, 5 * memory as usize + kind.bits() as usize);
            }
            Op::St { kind, .. } => self.hit_family(FAMILIES.stores, 3 * memory as usize + kind.bits() as usize),
            Op::Atom { operation, .. } => {
                self.hit_family(FAMILIES.atomics, 13 * memory as usize + operation.bits() as usize);
            }
            Op::Cas { .. } => {
                self.hit_family(FAMILIES.atomics, 13 * memory as usize + Atomic::all().count());
            }
            _ => {}
        }
    }

    fn alignment(&mut self, op: Op) {
        if let Op::Ld { align, .. } | Op::St { align, .. } | Op::Ldc { align, .. } = op {
            self.hit_if(Point::Aligned8, align == Alignment::Bytes8);
            self.hit_if(Point::Aligned16, align == Alignment::Bytes16);
        }
    }

    fn places(&mut self, instruction: &Instruction, targets: &[(usize, Memory, u64)]) {
        let of = |wanted: Memory| targets.iter().filter(move |(_, memory, _)| *memory == wanted);
        // A line of local memory has a word of each lane.
        let global = of(Memory::Global).map(|(_, _, address)| (false, address / LINE));
        let local = of(Memory::Local).map(|(_, _, address)| (true, address / 4));
        let lines: BTreeSet<(bool, u64)> = global.chain(local).collect();
        let sizes = [(1, Point::Line1), (2, Point::Line2), (8, Point::Line3), (16, Point::Line9), (32, Point::Line17)];
        if !lines.is_empty() {
            self.hit_size(lines.len(), &sizes);
        }
        if matches!(instruction.op, Op::St { kind: StoreType::B32, .. }) && lines.len() == 1 {
            let all: BTreeSet<u64> = of(Memory::Global).map(|(_, _, address)| *address).collect();
            self.hit_if(Point::WholeLine, all.len() == 32 || of(Memory::Local).count() == 32);
        }
        self.hit_if(Point::LoadBypass, matches!(instruction.op, Op::Ld { bypass: true, .. }) && !lines.is_empty());
        let shared: BTreeSet<u64> = of(Memory::Shared).map(|(_, _, address)| address / 4).collect();
        let most = shared.iter().map(|word| shared.iter().filter(|o| **o % BANKS == word % BANKS).count()).max();
        let sizes = [(1, Point::Bank1), (2, Point::Bank2), (8, Point::Bank3), (16, Point::Bank9), (32, Point::Bank17)];
        if let Some(most) = most {
            self.hit_size(most, &sizes);
        }
        let loads = matches!(instruction.op, Op::Ld { .. });
        self.hit_if(Point::Broadcast, loads && shared.len() == 1 && of(Memory::Shared).count() == 32);
        let constants: BTreeSet<u64> = of(Memory::Constant).map(|(_, _, address)| address / 4).collect();
        let sizes = [(1, Point::Constant1), (8, Point::Constant2), (32, Point::Constant9)];
        if !constants.is_empty() {
            self.hit_size(constants.len(), &sizes);
        }
        // Two lanes never access the same local word.
        let shareable = targets.iter().filter(|(_, memory, _)| *memory != Memory::Local);
        let addresses: Vec<(Memory, u64)> = shareable.map(|(_, memory, address)| (*memory, *address)).collect();
        let distinct: BTreeSet<(Memory, u64)> = addresses.iter().copied().collect();
        let meet = distinct.len() < addresses.len();
        if instruction.is_atomic() {
            self.hit_if(Point::AtomicsMeet, meet);
            let used = instruction.destination().is_some();
            self.hit(if used { Point::AtomicResult } else { Point::AtomicSilent });
        } else {
            self.hit_if(Point::StoresMeet, meet && !loads && !matches!(instruction.op, Op::Ldc { .. }));
        }
    }
}

//! Faults of launches, as text.

use std::fmt;

use gpurf_blocks::control::CAUSES;
use gpurf_blocks::instruction::cause;
use gpurf_isa::image::Kernel;
use gpurf_isa::machine::trap;
use gpurf_launch::Cause;
use gpurf_oracle::host::{KernelLaunch, ReportedFault};
use gpurf_oracle::{Geometry, Memory, WarpId};
use gpurf_sm::SmProbe;

use crate::memory::{MemoryFault, Outside};
use crate::surroundings::End;

/// Why the SM did not complete a launch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct MachineFault {
    /// The kernel.
    pub kernel: String,
    /// Warp slot that caused the fault, if there is one.
    pub slot: Option<u8>,
    /// Block and warp in this slot, and the block's coordinates, if they are known.
    pub warp: Option<(WarpId, [u32; 3])>,
    /// Number of the cause (`docs/blocks/fault_unit.md`); `None` if memory reported the fault.
    pub cause: Option<u8>,
    /// Value that belongs to the cause; for an access outside global memory its address.
    pub value: Option<u32>,
    /// The fault as text.
    pub problem: String,
    /// The instruction, if it is known.
    pub place: Option<Place>,
}

/// An instruction of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Address of the instruction.
    pub pc: u32,
    /// PTX file; `line` is 0 if the line is not known.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Its text.
    pub instruction: String,
    /// File and line of the CUDA source, if the image has them: only of traps.
    pub cuda: Option<String>,
}

impl Place {
    /// The instruction with this address.
    pub fn of(kernel: &Kernel, file: &str, pc: u32) -> Self {
        let at = pc as usize;
        let instruction = kernel.code.get(at).map_or_else(String::new, ToString::to_string);
        Self {
            pc,
            file: file.to_owned(),
            line: kernel.lines.get(at).copied().unwrap_or(0),
            instruction,
            cuda: kernel.source_of(pc),
        }
    }
}

impl fmt::Display for MachineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { file, line, .. }) = &self.place {
            write!(f, "{file}:{line}: ")?;
        }
        write!(f, "kernel {}", self.kernel)?;
        if let Some((warp, [x, y, z])) = &self.warp {
            write!(f, ", block ({x}, {y}, {z}), warp {}", warp.warp)?;
        }
        if let Some(slot) = self.slot {
            write!(f, " (warp {slot} of the SM)")?;
        }
        write!(f, ": {}", self.problem)?;
        if let Some(Place { pc, instruction, cuda, .. }) = &self.place {
            if let Some(cuda) = cuda {
                write!(f, ", at {cuda}")?;
            }
            write!(f, "; instruction {pc}: {instruction}")?;
        }
        Ok(())
    }
}

/// The block and the warp that run in a warp slot, from the launcher's registers; `None` if the slot was never started.
pub fn owner(probe: &SmProbe, geometry: &Geometry, slot: usize) -> Option<(WarpId, [u32; 3])> {
    let launcher = &probe.states.block_launcher;
    let block_slot = usize::from(*probe.outputs.block_launcher.slot_o.get(slot)?);
    let block = [
        *launcher.ctaid_x_q.get(block_slot)?,
        (*launcher.ctaid_y_q.get(block_slot)?).into(),
        (*launcher.ctaid_z_q.get(block_slot)?).into(),
    ];
    let [x, y, z] = block.map(u64::from);
    let [grid_x, grid_y, _] = geometry.grid.map(u64::from);
    let warp = u32::from(*launcher.index_q.get(slot)?);
    Some((WarpId { block: x + grid_x * (y + grid_y * z), warp }, block))
}

impl MachineFault {
    /// The fault of a launch that ended in this way. `probe` and `pc` are given if inner signals were visible.
    pub fn new(
        end: &End,
        launch: &KernelLaunch<'_>,
        memory: &Memory,
        probe: Option<&SmProbe>,
        pc: Option<u32>,
    ) -> Option<Self> {
        let (slot, number, value, problem) = match *end {
            End::Done => return None,
            End::Fault { cause: cause::DOES_NOT_FIT, .. } => {
                (None, Some(cause::DOES_NOT_FIT), Some(0), words(cause::DOES_NOT_FIT, 0))
            }
            End::Fault { warp, cause: cause::NO_SUCH_PLACE, outside: Some(outside), .. } => {
                (Some(warp), Some(cause::NO_SUCH_PLACE), Some(outside.address), outside_words(&outside, memory))
            }
            End::Fault { warp, cause, value, .. } => (Some(warp), Some(cause), Some(value), words(cause, value)),
            End::Memory(MemoryFault::Outside(outside)) => {
                let problem = outside_words(&outside, memory);
                (Some(outside.warp), Some(cause::NO_SUCH_PLACE), Some(outside.address), problem)
            }
            End::Memory(MemoryFault::Nonsense(what)) => (None, None, None, format!("the SM asks memory for {what}")),
        };
        let warp = probe.zip(slot).and_then(|(probe, slot)| owner(probe, &launch.geometry, slot.into()));
        let place = pc.map(|pc| Place::of(launch.kernel, launch.source, pc));
        Some(Self { kernel: launch.kernel.name.clone(), slot, warp, cause: number, value, problem, place })
    }

    /// Whether the fault has this cause.
    pub fn is_of(&self, cause: Cause) -> bool {
        self.cause == Some(cause.number())
    }

    /// The fault in a form that can be compared with other engines; `None` if the SM made an invalid request.
    pub fn reported(&self) -> Option<ReportedFault> {
        let (warp, block) = self.warp.as_ref().map(|(id, block)| (id.warp, *block)).unzip();
        let instruction = self.place.as_ref().map(|place| place.pc);
        let cause = Cause::from_number(self.cause?)?;
        Some(ReportedFault { cause, value: self.value, block, warp, instruction })
    }
}

fn outside_words(outside: &Outside, memory: &Memory) -> String {
    let Outside { lane, access, address, bytes, .. } = outside;
    let nearest = memory.nearest((*address).into());
    format!("lane {lane}: {access} of {bytes} bytes at global address {address:#x} is out of bounds: {nearest}")
}

/// A cause and its value as text.
fn words(number: u8, value: u32) -> String {
    let name = CAUSES.get(usize::from(number)).copied().unwrap_or("unknown cause");
    match number {
        cause::TRAP => format!("trap {value}: {}", trap::reason(value)),
        cause::UNSUPPORTED => format!("{name}, opcode {value:#x}"),
        cause::BARRIER_DIVERGENCE => {
            format!("barrier {value} is reached by some living threads of the warp: the others are on another path")
        }
        cause::BARRIER_COUNT => format!("a barrier has the thread count {value}"),
        cause::WARP_DIVERGENCE => {
            format!("the mask {value:#010x} of a warp-wide operation includes threads that are not active")
        }
        cause::NO_SUCH_PLACE | cause::DOES_NOT_FIT => name.to_owned(),
        cause::RELEASED => format!(
            "address {value:#x} of shared memory is in common with another block, and all threads of this one have released it (RELSSP)"
        ),
        _ => format!("{name}, address {value:#x}"),
    }
}

//! A launch prepared for the SM: the data that the host writes and drives, and a check that the launch fits.

use std::sync::Arc;

use gpurf_blocks::config::{Config, LockRule, SharedResource};
use gpurf_blocks::control::shared_step;
use gpurf_blocks::front::roles;
use gpurf_blocks::instruction::returning_atomic;
use gpurf_isa::image::Kernel;
use gpurf_isa::{Image, Instruction, Op};
use gpurf_launch::{Cause, Manifest};
use gpurf_oracle::Geometry;
use gpurf_oracle::host::{KernelLaunch, named};
use gpurf_sm::partition::Division;
use gpurf_sm::residency::{Demand, Room};

/// A word that is not an instruction: the SM does not have its opcode.
const NO_INSTRUCTION: [u64; 2] = [u64::MAX; 2];

/// Why a launch does not fit the SM.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("kernel `{kernel}` does not fit this SM: {misfit}")]
pub struct Refusal {
    /// The kernel.
    pub kernel: String,
    /// What does not fit.
    pub misfit: Misfit,
}

/// What does not fit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Misfit {
    /// Too many instructions.
    #[error("it has {instructions} instructions, the code memory has room for {room} (sm.code_words)")]
    Code {
        /// Instructions of the kernel.
        instructions: usize,
        /// Instructions that the code memory holds.
        room: usize,
    },
    /// Too many constants.
    #[error("its parameters and constants take {bytes} bytes, the constant memory has {room} (sm.const_kilobytes)")]
    Constants {
        /// Bytes that it needs.
        bytes: usize,
        /// Bytes of the constant memory.
        room: usize,
    },
    /// Too much shared memory.
    #[error("a block takes {bytes} bytes of shared memory, there are {room} (sm.shared_kilobytes)")]
    Shared {
        /// Bytes of a block, rounded up to the unit of allocation.
        bytes: u32,
        /// Bytes of shared memory.
        room: u32,
    },
    /// Too much of unified memory.
    #[error(
        "a block takes {registers} rows for registers and {shared} for shared memory, there are {room} \
         (unified.kilobytes, without launch.cache_kilobytes)"
    )]
    Unified {
        /// Rows for registers of a block.
        registers: u32,
        /// Rows for shared memory of a block.
        shared: u32,
        /// Rows available for both.
        room: u32,
    },
    /// More threads than may be resident.
    #[error("a block has {threads} threads, {room} may be resident (launch.threads)")]
    Threads {
        /// Threads of a block.
        threads: u32,
        /// Threads that may be resident.
        room: u32,
    },
    /// Too many threads.
    #[error("a block has {warps} warps, the SM has {room} (sm.warps)")]
    Warps {
        /// Warps of a block.
        warps: u32,
        /// Warps of the SM.
        room: u32,
    },
    /// Too many registers.
    #[error(
        "a block of {warps} warps with {registers} registers takes {rows} rows of the register file, which has {room} \
         (mrf.kilobytes; --registers limits those of a thread)"
    )]
    Registers {
        /// Warps of a block.
        warps: u32,
        /// Registers of a thread.
        registers: u32,
        /// Rows that the registers take.
        rows: u32,
        /// Rows of the register file.
        room: u32,
    },
    /// Too many registers, if registers are allocated one by one.
    #[error(
        "a block of {warps} warps with {registers} registers takes {taken} registers of the register file, which has {room} \
         (mrf.kilobytes; --registers limits those of a thread)"
    )]
    Places {
        /// Warps of a block.
        warps: u32,
        /// Registers of a thread.
        registers: u32,
        /// Registers of the register file that the block takes.
        taken: u32,
        /// Registers of the register file.
        room: u32,
    },
    /// Blocks that could wait for each other forever.
    #[error(
        "instruction {instruction} is an atomic operation on global memory whose result is used. With share.lock = first a block that holds a \
         mutex may wait for its lock while its partner, which has it, waits for the mutex (share.lock=oldest)"
    )]
    Atomic {
        /// Number of the first such instruction.
        instruction: usize,
    },
    /// Too many registers for a thread.
    #[error(
        "a thread has {registers} registers, and this register file holds at most {room} for a warp; --registers limits them"
    )]
    WarpRegisters {
        /// Registers of a thread.
        registers: u32,
        /// Registers that it may have.
        room: u32,
    },
    /// Too much local memory.
    #[error("a thread has {words} words of local memory, it can have {room}")]
    Local {
        /// Words of a thread.
        words: u32,
        /// Words it may have.
        room: u32,
    },
}

/// Location of the shared memory of each block slot, by the same rule as the launcher's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedPlaces {
    /// Bytes from the shared memory of a host's slot to that of the next one.
    pub step: u32,
    /// Number of slots that have all their shared memory in one piece; all slots if no shared memory is shared between blocks.
    pub hosts: u32,
    /// Private bytes of a guest. It shares its other bytes with its host.
    pub private: u32,
}

impl SharedPlaces {
    /// The address in a block's shared memory of a byte of the SM's. A guest's byte that is neither its own nor its host's may get any address.
    pub fn of_block(&self, slot: u32, byte: u32) -> u32 {
        let Some(guest) = slot.checked_sub(self.hosts) else { return byte.wrapping_sub(slot * self.step) };
        let own = byte.wrapping_sub(self.hosts * self.step + guest * self.private);
        let common = byte.wrapping_sub(guest * self.step);
        if own < self.private {
            own
        } else if common >= self.private {
            common
        } else {
            u32::MAX
        }
    }
}

/// The resources that a block of a launch takes.
pub fn demand(kernel: &Kernel, geometry: &Geometry) -> Demand {
    Demand {
        warps: geometry.warps(),
        registers: u32::from(kernel.registers).max(1),
        scratchpad: kernel.static_shared + geometry.dynamic_shared,
    }
}

/// The resources that a launch of a manifest requests from the SM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchDemand<'a> {
    /// Its kernel.
    pub kernel: &'a str,
    /// Threads of a block.
    pub threads: u32,
    /// What a block takes.
    pub demand: Demand,
}

/// The requests of all launches of a manifest, except launches of kernels that the image does not have.
pub fn demands<'a>(manifest: &'a Manifest, image: &'a Image) -> impl Iterator<Item = LaunchDemand<'a>> {
    manifest.launches.iter().filter_map(|launch| {
        let kernel = named("kernel", &launch.kernel, &image.kernels, |kernel: &Kernel| &kernel.name).ok()?;
        let geometry = Geometry { grid: launch.grid, block: launch.block, dynamic_shared: launch.dynamic_shared };
        let demand = demand(kernel, &geometry);
        Some(LaunchDemand { kernel: &launch.kernel, threads: geometry.threads(), demand })
    })
}

/// A prepared launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The instructions: operation and control word. If execution can run beyond the end, a word follows that is not an instruction.
    pub code: Vec<[u64; 2]>,
    /// The words of the constant space.
    pub constants: Arc<[u32]>,
    /// Sizes of the launch.
    pub geometry: Geometry,
    /// Registers of a thread.
    pub registers: u8,
    /// Blocks may be added as guests.
    pub share: bool,
    /// Registers of a thread that are private to a guest.
    pub private: u8,
    /// Bytes of shared memory of a block that are private to a guest.
    pub private_shared: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared: u32,
    /// Words of local memory of a thread.
    pub local_words: u16,
    /// The partition of unified memory.
    pub division: Division,
    /// Location of the shared memory of block slots.
    pub places: SharedPlaces,
    /// Whether the launch is expected to end with a fault.
    pub fault: bool,
    /// Why not even one block fits, if this is the expected fault.
    pub misfit: Option<Misfit>,
}

impl Job {
    /// Prepares a launch for the SM of a configuration. A launch that is expected not to fit is not refused for the size of its blocks.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(config: &Config, launch: &KernelLaunch<'_>) -> Result<Self, Refusal> {
        let refused = |misfit| Refusal { kernel: launch.kernel.name.clone(), misfit };
        Self::fitting(config, launch).map_err(refused)
    }

    fn fitting(config: &Config, launch: &KernelLaunch<'_>) -> Result<Self, Misfit> {
        let (kernel, geometry, shape) = (launch.kernel, launch.geometry, config.sm_shape());
        let mut misfit = None;
        let mut refuse = |why| match launch.fault {
            Some(fault) if fault.cause == Cause::DoesNotFit => {
                misfit.get_or_insert(why);
                Ok(())
            }
            _ => Err(why),
        };
        let mut code: Vec<[u64; 2]> = kernel.code.iter().map(|instruction| instruction.encode()).collect();
        if code.len() > shape.code_words {
            return Err(Misfit::Code { instructions: code.len(), room: shape.code_words });
        }
        if can_be_passed(kernel) && code.len() < shape.code_words {
            code.push(NO_INSTRUCTION);
        }
        if launch.constant.len() > 4 * shape.const_words {
            return Err(Misfit::Constants { bytes: launch.constant.len(), room: 4 * shape.const_words });
        }
        let demand = demand(kernel, &geometry);
        let Demand { warps, registers, scratchpad: shared } = demand;
        let room = 4 * shape.shared_words as u32;
        let shared_step = shared.next_multiple_of(shared_step(shape.places()));
        if shared_step > room && !shape.unified() {
            refuse(Misfit::Shared { bytes: shared_step, room })?;
        }
        if warps > shape.warps as u32 {
            refuse(Misfit::Warps { warps, room: shape.warps as u32 })?;
        }
        let services = shape.services();
        // With paired rows an even warp and the next warp have the same rows.
        let placed = if services.pairs_rows { warps.next_multiple_of(2) } else { warps };
        let rows = placed * registers.div_ceil(shape.mrf.banks as u32);
        let (taken, all) = (warps * registers, (shape.mrf.banks * shape.mrf.depth) as u32);
        let too_many = if shape.places() {
            Misfit::Places { warps, registers, taken, room: all }
        } else {
            Misfit::Registers { warps, registers, rows, room: shape.mrf.depth as u32 }
        };
        if registers > u8::MAX.into() {
            return Err(too_many);
        }
        let room = services.max_registers as u32;
        if registers > room {
            return Err(Misfit::WarpRegisters { registers, room });
        }
        let fits = if shape.places() { taken <= all } else { rows <= shape.mrf.depth as u32 };
        if !fits && !shape.unified() {
            refuse(too_many)?;
        }
        let room = Room::of_launch(config, geometry.threads());
        if let Some(pool) = room.pool {
            let (registers, shared) = (room.register_rows(&demand, 1), room.shared_rows(&demand, 1));
            if registers + shared > pool.rows {
                refuse(Misfit::Unified { registers, shared, room: pool.rows })?;
            }
            if room.blocks == 0 {
                let most = config.launch.threads.number().unwrap_or_default() as u32;
                refuse(Misfit::Threads { threads: geometry.threads(), room: most })?;
            }
        }
        if config.share.present
            && config.share.lock == LockRule::First
            && let Some(instruction) = kernel.code.iter().position(returns_from_global_memory)
        {
            return Err(Misfit::Atomic { instruction });
        }
        let words = kernel.local_bytes.div_ceil(4);
        let local_words = u16::try_from(words).map_err(|_| Misfit::Local { words, room: u16::MAX.into() })?;
        let constants = launch.constant.chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        });
        let (constants, registers) = (constants.collect(), registers as u8);
        let (share, private) = (config.share.present, config.share.private_registers(registers));
        let private_shared = config.share.private_shared(shared);
        let scratchpad = share && config.share.resource == SharedResource::Scratchpad;
        let hosts = || Room::of(config).residency(&demand, None).hosts;
        let places = SharedPlaces {
            step: shared_step,
            hosts: if scratchpad { hosts() } else { u32::MAX },
            private: private_shared,
        };
        let fault = launch.fault.is_some();
        Ok(Self {
            code,
            constants,
            geometry,
            registers,
            share,
            private,
            private_shared,
            shared,
            division: Division::of(config, &demand, geometry.threads()),
            places,
            local_words,
            fault,
            misfit,
        })
    }
}

/// Whether an instruction is an atomic operation outside shared memory that writes its result to a register.
fn returns_from_global_memory(instruction: &Instruction) -> bool {
    let [op, ctl] = instruction.encode();
    returning_atomic(op, roles(op, ctl).d())
}

/// Whether execution can run beyond the end of the code.
fn can_be_passed(kernel: &Kernel) -> bool {
    let stops = |op| matches!(op, Op::Exit {} | Op::Bra {} | Op::Trap {});
    kernel.code.last().is_some_and(|last| last.is_guarded() || !stops(last.op))
}

#[cfg(test)]
mod tests;

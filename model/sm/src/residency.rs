//! How many blocks of a launch reside in an SM, without and with sharing (sharing thesis 2.2.4).
//!
//! A pair of blocks shares a resource: the *host* has all that a block takes, the *guest* has a private part of its own
//! and uses the host's for the rest. So all blocks that would reside without sharing do reside, as hosts, and there are as
//! many guests as private parts fit into what is left over. The thesis's equation 2.4 says the same of fractions; it lacks
//! the rule that a host has one guest at most. Its tables come out only if registers are allocated one by one, scratchpad by
//! words, and private parts are rounded up.

use gpurf_blocks::config::{Config, SharedResource};
use gpurf_blocks::control::shared_step;

use crate::partition::Pool;

/// The resources that an SM has for blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Warps.
    pub warps: u32,
    /// Blocks.
    pub blocks: u32,
    /// Registers of warps: the registers of all threads divided by the threads of a warp.
    pub registers: u32,
    /// Granule in which the registers of a warp are allocated.
    pub register_step: u32,
    /// Bytes of scratchpad.
    pub scratchpad: u32,
    /// Granule in which bytes of scratchpad are allocated.
    pub scratchpad_step: u32,
    /// With unified memory: the rows that registers and scratchpad have together.
    pub pool: Option<Pool>,
}

/// The resources that a block needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// Warps.
    pub warps: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of scratchpad, static and dynamic.
    pub scratchpad: u32,
}

/// What the blocks of a pair share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Registers: each warp with the warp at its position in the other block.
    Registers,
    /// Scratchpad.
    Scratchpad,
}

/// Sharing by pairs of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sharing {
    /// What is shared.
    pub resource: Resource,
    /// The part that each block has for itself, in tenths, 1 to 9: the thesis's threshold t. Its "percentage of resource sharing"
    /// is the rest.
    pub private_tenths: u32,
}

impl Sharing {
    /// The sharing of a configuration; none without sharing.
    pub fn of(config: &Config) -> Option<Self> {
        let resource = match config.share.resource {
            SharedResource::Registers => Resource::Registers,
            SharedResource::Scratchpad => Resource::Scratchpad,
        };
        let private_tenths = config.share.private as u32;
        config.share.present.then_some(Self { resource, private_tenths })
    }
}

/// The blocks that reside in an SM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Residency {
    /// Blocks that have everything they need. They make progress in any case; their number is that without sharing.
    pub hosts: u32,
    /// Blocks that share with one host each: the first guest with the first host, and so on. Without guests sharing is off.
    pub guests: u32,
    /// Registers of a thread, or bytes of a block, that are private to every block of a pair. Meaningless without guests.
    pub private: u32,
}

impl Residency {
    /// Blocks in the SM.
    pub const fn blocks(self) -> u32 {
        self.hosts + self.guests
    }
}

impl Room {
    /// The room of a configuration whose design does not place warps by a rule of its own.
    pub fn of(config: &Config) -> Self {
        let shape = config.sm_shape();
        let (banks, rows) = (shape.mrf.banks as u32, shape.mrf.depth as u32);
        Self {
            warps: shape.warps as u32,
            blocks: config.sm.blocks as u32,
            registers: banks * rows,
            register_step: if shape.places() { 1 } else { banks },
            scratchpad: (shape.shared_words * size_of::<u32>()) as u32,
            scratchpad_step: shared_step(shape.places()),
            pool: Pool::of(config),
        }
    }

    /// The blocks of a launch that reside; none when not one fits.
    pub fn residency(&self, demand: &Demand, sharing: Option<Sharing>) -> Residency {
        let registers = Supply::of_registers(self, demand);
        let scratchpad = Supply::of_scratchpad(self, demand);
        let others = (self.warps / demand.warps).min(self.blocks);
        let Some(sharing) = sharing else {
            let apart = registers.blocks(others).min(scratchpad.blocks(others));
            return Residency { hosts: self.in_pool(demand, apart), ..Residency::default() };
        };
        let (shared, most) = match sharing.resource {
            Resource::Registers => (registers, scratchpad.blocks(others)),
            Resource::Scratchpad => (scratchpad, registers.blocks(others)),
        };
        let hosts = shared.blocks(most);
        let (private, taken) = shared.private(sharing.private_tenths);
        // If another resource limits the number of blocks, `most` leaves no room for guests.
        let left = shared.room - hosts * shared.block();
        let guests = left.checked_div(taken).map_or(0, |fitting| fitting.min(hosts).min(most - hosts));
        Residency { hosts, guests, private }
    }

    /// The amount of a resource left over without sharing: registers of warps, or bytes.
    pub fn wasted(&self, demand: &Demand, resource: Resource) -> u32 {
        let blocks = self.residency(demand, None).hosts;
        let supply = match resource {
            Resource::Registers => Supply::of_registers(self, demand),
            Resource::Scratchpad => Supply::of_scratchpad(self, demand),
        };
        supply.room - blocks * supply.block()
    }
}

/// The supply of a resource and its allocation.
#[derive(Clone, Copy)]
struct Supply {
    room: u32,
    /// Parts of a block for which the resource is allocated separately: the warps, or one part.
    parts: u32,
    /// Amount that one part requests.
    asked: u32,
    /// Granule of the allocation.
    step: u32,
}

impl Supply {
    fn of_registers(room: &Room, demand: &Demand) -> Self {
        Self { room: room.registers, parts: demand.warps, asked: demand.registers, step: room.register_step }
    }

    fn of_scratchpad(room: &Room, demand: &Demand) -> Self {
        Self { room: room.scratchpad, parts: 1, asked: demand.scratchpad, step: room.scratchpad_step }
    }

    fn block(&self) -> u32 {
        self.parts * self.asked.next_multiple_of(self.step)
    }

    /// Blocks that have room, at most `most`.
    fn blocks(&self, most: u32) -> u32 {
        self.room.checked_div(self.block()).map_or(most, |blocks| blocks.min(most))
    }

    /// The private part of one of the block's parts, and the amount that a block with only private parts takes.
    fn private(&self, tenths: u32) -> (u32, u32) {
        let private = (self.asked * tenths).div_ceil(10).next_multiple_of(self.step);
        (private, self.parts * private)
    }
}

/// Bits that an SM of so many warps and blocks keeps for sharing in the thesis's own tables (2.4): whether sharing is on, the
/// partner of each block, the owner bit of each warp, a lock for each pair; and for registers whether each warp shares.
pub const fn table_bits(resource: Resource, warps: u32, blocks: u32) -> u32 {
    let partners = blocks * bits(blocks + 1);
    match resource {
        Resource::Registers => 1 + partners + 2 * warps + warps / 2 * bits(warps),
        Resource::Scratchpad => 1 + partners + warps + blocks / 2 * bits(blocks),
    }
}

/// Bits needed to distinguish `values` values.
const fn bits(values: u32) -> u32 {
    values.next_power_of_two().trailing_zeros()
}

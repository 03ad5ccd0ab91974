//! Decisions of the blocks in a cycle, from their state and the SM's inputs: made before the edge, and acted on at the edge.

use gpurf_blocks::cache::CachePass;
use gpurf_blocks::execute::{Offers, Ready, Source, UnitResult, Wanted};
use gpurf_blocks::front::Decoded;
use gpurf_blocks::instruction::Roles;
use gpurf_blocks::issue::{Chosen, Kind, Outer, Step, Turn, as_probe};
use gpurf_blocks::memory::{ConstantServer, LinePass, Server, SharedPass};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;

/// All decisions of a cycle.
#[derive(Clone, Default)]
pub(super) struct Decided {
    /// The instruction of each fetch path at decode, and its warp.
    pub(super) decoded: [Option<(u8, Decoded)>; MAX_PORTS],
    /// The warp that each path fetches for.
    pub(super) fetching: [Option<usize>; MAX_PORTS],
    /// The slots that are given up and taken, and the active warps; with a single level all warps are active.
    pub(super) outer: Outer,
    /// The decisions of the alternating scheduler, whose active and ready warps are also in `outer`.
    pub(super) turn: Turn,
    /// The warps that the scheduler lets issue, and the candidates.
    pub(super) chosen: Chosen,
    /// Ports that issue.
    pub(super) issuing: u8,
    /// The instructions that these ports issue; see [`issues`](Self::issues).
    pub(super) issue: [Issue; MAX_PORTS],
    /// The warps that issue, including those that issue a probe.
    pub(super) pops: u64,
    /// The pass of the memory pipeline.
    pub(super) pass: Pass,
    /// The pass of the constant unit.
    pub(super) constant: ConstantPass,
    /// The instructions that leave the operand stage.
    pub(super) dispatch: Dispatch,
    /// The units that have results.
    pub(super) offers: Offers,
    /// Ports whose single precision unit has a result that passes its queue.
    pub(super) fp_passes: u8,
    /// The constant unit has a result that passes its queue.
    pub(super) constant_passes: bool,
    /// Buses with a result.
    pub(super) offered: u8,
    /// Buses whose result leaves at this edge.
    pub(super) going: u8,
    /// The results; see [`results`](Self::results).
    pub(super) result: [BusResult; MAX_PORTS],
    /// Buses whose instruction ends as its register is written at this edge.
    pub(super) ends: u8,
    /// The registers reported to scoreboard and scheduler, with their warps.
    pub(super) reports: [Option<(u8, u8)>; MAX_PORTS],
    /// Warps of the barrier that opens.
    pub(super) opening: u64,
}

impl Decided {
    /// The ports that issue, and their instructions.
    #[inline]
    pub(super) fn issues(&self) -> impl Iterator<Item = (usize, &Issue)> {
        set_bits(self.issuing).map(|p| (p, &self.issue[p % MAX_PORTS]))
    }

    /// The results on the buses of a set.
    #[inline]
    pub(super) fn results(&self, buses: u8) -> impl Iterator<Item = (usize, &BusResult)> {
        set_bits(buses).map(|p| (p, &self.result[p % MAX_PORTS]))
    }
}

/// An instruction that issues.
#[derive(Clone, Copy)]
pub(super) struct Issue {
    pub(super) warp: u8,
    /// Slot of the warp; 0 with a single level.
    pub(super) slot: u8,
    pub(super) head: Decoded,
    /// The instruction issues as a probe: the head stays.
    pub(super) probe: bool,
    /// Kind of the instruction for the SIMT stack, and its effect there.
    pub(super) kind: Kind,
    pub(super) step: Step,
    /// Lanes that execute the instruction.
    pub(super) exec: u32,
    /// The instruction goes to the operand stage.
    pub(super) operands: bool,
    /// Cause and value of the instruction's fault.
    pub(super) fault: Option<(u8, u32)>,
}

impl Issue {
    /// The operation word and the roles that are passed on.
    #[inline]
    pub(super) fn goes(&self) -> (u64, Roles) {
        let Decoded { op, roles, .. } = self.head;
        if self.probe { as_probe(op, roles) } else { (op, roles) }
    }
}

impl Default for Issue {
    fn default() -> Self {
        Self {
            warp: 0,
            slot: 0,
            head: Decoded { op: 0, ctl: 0, roles: Roles(0), pc: 0 },
            probe: false,
            kind: Kind::Other,
            step: Step::NOTHING,
            exec: 0,
            operands: false,
            fault: None,
        }
    }
}

/// A pass of the memory pipeline.
#[derive(Clone, Copy, Default)]
pub(super) struct Pass {
    /// Lanes that are offered, and their unit.
    pub(super) offer: Option<(Server, u32)>,
    /// Lanes that are served.
    pub(super) served: u32,
    /// No lane is left once these lanes are served.
    pub(super) last: bool,
    /// The coalescer's part of the pass.
    pub(super) line: Option<LinePass>,
    /// The coalescer's request register is free or becomes free.
    pub(super) free: bool,
    /// How the request in this register proceeds, where there is a data cache.
    pub(super) cache: CachePass,
    /// Shared memory's part of the pass.
    pub(super) shared: SharedPass,
}

/// A pass of the constant unit.
#[derive(Clone, Copy, Default)]
pub(super) struct ConstantPass {
    /// Lanes that are offered, and their unit.
    pub(super) offer: Option<(ConstantServer, u32)>,
    /// Lanes that are served.
    pub(super) served: u32,
    /// No lane is left once these lanes are served.
    pub(super) last: bool,
}

impl ConstantPass {
    /// The lanes that a unit serves.
    #[inline]
    pub(super) fn by(&self, server: ConstantServer) -> u32 {
        if self.offer.is_some_and(|(to, _)| to == server) { self.served } else { 0 }
    }
}

/// Instructions that leave the operand stage: ports as masks.
#[derive(Clone, Copy, Default)]
pub(super) struct Dispatch {
    /// The unit that each port's instruction wants.
    pub(super) wanted: Wanted,
    /// The units that take an instruction.
    pub(super) units: Ready,
    /// The port that is offered to the memory pipeline.
    pub(super) memory: u8,
    /// The port that is offered to the special function unit.
    pub(super) sfu: u8,
    /// The port that is offered to the constant unit.
    pub(super) constant: u8,
    /// The port that goes to the barrier unit.
    pub(super) barrier: u8,
    /// Ports whose offers are taken.
    pub(super) ready: u8,
}

/// A result on its bus.
#[derive(Clone, Copy)]
pub(super) struct BusResult {
    pub(super) source: Source,
    pub(super) result: UnitResult,
}

impl Default for BusResult {
    fn default() -> Self {
        Self { source: Source::Alu, result: UnitResult::default() }
    }
}

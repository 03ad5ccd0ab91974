//! `barrier_unit`: warps that wait for each other. `docs/blocks/barrier_unit.md`.

use crate::control::Fault;
use crate::instruction::{Instruction, Issued, cause, constant, modifiers};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::{BLOCK_SLOTS, SmShape};
use crate::sizes::{MAX_WARPS, width};
use crate::{Block, LANES, OPERANDS, WARP_BITS, WarpData, field, packed, ports};

/// Width of a barrier's number.
const ID_BITS: u32 = 4;
/// Width of a number of warps.
const COUNT_BITS: u32 = WARP_BITS;
/// Most threads that a barrier may wait for.
const MAX_THREADS: u32 = (MAX_WARPS * LANES) as u32;
/// Capacity of the state: every warp number that fits its width.
const NUMBERS: usize = 1 << WARP_BITS;
/// The source that holds the number of threads: b.
const THREADS: usize = 1;

ports! {
    /// Inputs of [`BarrierUnit`].
    pub struct BarrierUnitIn(s: &SmShape) {
        /// Operands of each dispatch port.
        arrive_data_i: [WarpData; OPERANDS * MAX_PORTS] =
            field(1024).count(s.mrf.sources()).valid_by("arrive_src_valid_i"),
        /// Instruction of each dispatch port.
        arrive_instruction_i: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("arrive_valid_i"),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Lanes of each dispatch port.
        arrive_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("arrive_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A warp issues a BAR on port p.
        hold_valid_i: u8 = field(s.ports()),
        /// Warp that issues a BAR on port p.
        hold_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("hold_valid_i"),
        /// The BAR of a dispatch port arrives.
        arrive_valid_i: u8 = field(1),
        /// Dispatch port whose BAR arrives.
        arrive_port_i: u8 = field(1).valid_by("arrive_valid_i"),
        /// Warp of each dispatch port.
        arrive_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("arrive_valid_i"),
        /// Bit 3p+k: source k of port p is a register.
        arrive_src_valid_i: u8 = field(s.mrf.sources()),
        /// Block slot of each warp.
        slot_i: [u8; MAX_WARPS] = field(width(BLOCK_SLOTS)).count(s.warps),
        /// A warp begins: it waits for nothing.
        start_valid_i: u8 = field(1),
        /// Warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
    }
}

ports! {
    /// Outputs of [`BarrierUnit`].
    pub struct BarrierUnitOut(s: &SmShape) {
        /// The warp waits, or is about to.
        held_o: u64 = field(s.warps).early().shows("held_q"),
        /// The warps of a barrier that opens at this edge.
        open_o: u64 = field(s.warps),
        /// The wrong number of threads.
        fault_value_o: u32 = field(32).valid_by("fault_valid_o").early().shows("fault_value_q"),
        /// A BAR has come to its end.
        finish_valid_o: u8 = field(1),
        /// Warp of the BAR that has come to its end.
        finish_warp_o: u8 = field(WARP_BITS).valid_by("finish_valid_o"),
        /// The number of threads of a barrier was wrong.
        fault_valid_o: u8 = field(1).early().shows("fault_q"),
        /// Warp whose barrier had the wrong number of threads.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early().shows("fault_warp_q"),
    }
}

ports! {
    /// State of [`BarrierUnit`] that no output shows.
    pub struct BarrierUnitProbe(s: &SmShape) {
        /// The warp has arrived.
        arrived_q: u64 = field(s.warps),
        /// Warp at which the search for the next warp to look at begins.
        scan_q: u8 = field(WARP_BITS),
        /// The barrier at which each warp waits.
        id_q: [u8; MAX_WARPS] = field(ID_BITS).count(s.warps).valid_by("arrived_q"),
        /// Warps that the barrier is for; 0: all of the block.
        count_q: [u8; MAX_WARPS] = field(COUNT_BITS).count(s.warps).valid_by("arrived_q"),
    }
}

/// Number of the barrier.
fn id(instruction: &Instruction) -> u8 {
    modifiers(instruction.op(), instruction.ctl()) as u8 % (1 << ID_BITS)
}

/// The number of warps to wait for (0: all), or the number of threads if it is wrong.
fn count(issued: &Issued, b: Option<&WarpData>) -> Result<u8, u32> {
    let Issued { instruction, mask, .. } = issued;
    let (threads, same) = match b {
        Some(b) => {
            let first = b.0[mask.trailing_zeros() as usize % LANES];
            (first, set_bits(*mask).all(|lane| b.0[lane] == first))
        }
        None if instruction.roles().b_constant() != 0 => (constant(instruction.op()), true),
        None => (0, true),
    };
    let warps = threads / LANES as u32;
    if same && threads.is_multiple_of(LANES as u32) && threads <= MAX_THREADS { Ok(warps as u8) } else { Err(threads) }
}

/// Sixteen barriers for each block. A warp is held from the issue of its BAR until the barrier opens; it has arrived when the BAR leaves the operand
/// stage: by then its earlier accesses are in the memory pipeline.
///
/// The methods for an edge are called in the order of their priorities: [`advance`](Self::advance), [`arrive`](Self::arrive), [`hold`](Self::hold),
/// [`start`](Self::start).
#[derive(Clone)]
pub struct BarrierUnit {
    warps: usize,
    /// A bit for each warp. The bits of numbers that no warp has stay 0.
    all: u64,
    held_q: u64,
    arrived_q: u64,
    scan_q: u8,
    id_q: [u8; NUMBERS],
    count_q: [u8; NUMBERS],
    fault: Option<Fault>,
}

impl BarrierUnit {
    /// The warps that wait, or are about to.
    #[inline]
    pub fn held(&self) -> u64 {
        self.held_q
    }

    /// The wrong number of threads of the arrival in the cycle before.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The warp that the search examines in this cycle.
    #[inline]
    fn looked_at(&self) -> Option<usize> {
        if self.arrived_q == 0 {
            return None;
        }
        let from_scan = self.arrived_q >> self.scan_q << self.scan_q;
        let candidates = if from_scan == 0 { self.arrived_q } else { from_scan };
        Some(candidates.trailing_zeros() as usize)
    }

    /// The warps of the barrier that opens at this edge.
    #[inline]
    pub fn opening(&self, alive: u64, slots: &[u8; MAX_WARPS]) -> u64 {
        self.looked_at().map_or(0, |looked_at| self.opens(looked_at, alive, slots))
    }

    /// The warps of the barrier at which this warp waits, if the barrier opens.
    #[inline]
    fn opens(&self, looked_at: usize, alive: u64, slots: &[u8; MAX_WARPS]) -> u64 {
        let in_block = |w: usize| slots[w] == slots[looked_at];
        let waiting = set_bits(self.arrived_q)
            .filter(|&w| in_block(w) && self.id_q[w] == self.id_q[looked_at])
            .fold(0, |set, w| set | 1 << w);
        let complete = match self.count_q[looked_at] {
            0 => !set_bits(alive & !waiting).any(in_block),
            count => waiting.count_ones() >= count.into(),
        };
        if complete { waiting } else { 0 }
    }

    /// Whether no barrier opens, whichever warp is examined, as long as no warp arrives and no warp ends.
    pub fn is_still(&self, alive: u64, slots: &[u8; MAX_WARPS]) -> bool {
        self.fault.is_none() && set_bits(self.arrived_q).all(|w| self.opens(w, alive, slots) == 0)
    }

    /// Lets that many such cycles pass: only the search for the next warp to examine moves, round and round.
    pub fn pass(&mut self, cycles: u64) {
        let round = u64::from(self.arrived_q.count_ones());
        if cycles == 0 || round == 0 {
            return;
        }
        // The search may begin anywhere; from the first step on it is periodic.
        for _ in 0..=(cycles - 1) % round {
            self.advance(0);
        }
    }

    /// First method of a clock edge: the warps `open` continue.
    #[inline]
    pub fn advance(&mut self, open: u64) {
        if let Some(looked_at) = self.looked_at() {
            self.scan_q = ((looked_at + 1) % self.warps) as u8;
        }
        self.arrived_q &= !open;
        self.held_q &= !open;
        self.fault = None;
    }

    /// Clock edge at which a warp arrives.
    ///
    /// `b`: source b, where it is a register.
    pub fn arrive(&mut self, issued: &Issued, b: Option<&WarpData>) {
        let w = usize::from(issued.warp);
        match count(issued, b) {
            Ok(count) => {
                self.arrived_q |= 1 << w & self.all;
                (self.id_q[w], self.count_q[w]) = (id(&issued.instruction), count);
            }
            Err(value) => self.fault = Some(Fault { value, warp: issued.warp, cause: cause::BARRIER_COUNT }),
        }
    }

    /// Clock edge at which warp `w` issues a BAR.
    #[inline]
    pub fn hold(&mut self, w: usize) {
        self.held_q |= 1 << w & self.all;
    }

    /// Clock edge at which warp `w` begins.
    #[inline]
    pub fn start(&mut self, w: usize) {
        self.held_q &= !(1 << w);
        self.arrived_q &= !(1 << w);
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.held_q, self.arrived_q, self.scan_q) = (0, 0, 0);
        self.fault = None;
    }
}

impl Block for BarrierUnit {
    const NAME: &'static str = "barrier_unit";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = BarrierUnitIn;
    type Out = BarrierUnitOut;
    type Probe = BarrierUnitProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            warps: shape.warps,
            all: u64::MAX >> (u64::BITS as usize - shape.warps),
            held_q: 0,
            arrived_q: 0,
            scan_q: 0,
            id_q: [0; NUMBERS],
            count_q: [0; NUMBERS],
            fault: None,
        }
    }

    fn early(&self, out: &mut BarrierUnitOut) {
        out.held_o = self.held_q;
        out.fault_valid_o = self.fault.is_some().into();
        let Fault { value, warp, .. } = self.fault.unwrap_or_default();
        (out.fault_value_o, out.fault_warp_o) = (value, warp);
    }

    fn late(&mut self, inputs: &BarrierUnitIn, out: &mut BarrierUnitOut) {
        out.open_o = self.opening(inputs.alive_i, &inputs.slot_i);
        out.finish_valid_o = inputs.arrive_valid_i;
        let arriving = inputs.arrive_valid_i != 0;
        out.finish_warp_o = if arriving { inputs.arrive_warp_i[usize::from(inputs.arrive_port_i)] } else { 0 };
    }

    fn clock(&mut self, inputs: &BarrierUnitIn, out: &BarrierUnitOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        self.advance(out.open_o);
        if inputs.arrive_valid_i != 0 {
            let p = usize::from(inputs.arrive_port_i);
            let b = OPERANDS * p + THREADS;
            let issued = Issued {
                instruction: inputs.arrive_instruction_i[p],
                mask: inputs.arrive_mask_i[p],
                warp: inputs.arrive_warp_i[p],
            };
            self.arrive(&issued, is_set(inputs.arrive_src_valid_i, b).then_some(&inputs.arrive_data_i[b]));
        }
        for p in set_bits(inputs.hold_valid_i) {
            self.hold(inputs.hold_warp_i[p].into());
        }
        if inputs.start_valid_i != 0 {
            self.start(inputs.start_warp_i.into());
        }
    }

    fn probe(&self, _: &BarrierUnitIn, _: &BarrierUnitOut, probe: &mut BarrierUnitProbe) {
        (probe.arrived_q, probe.scan_q) = (self.arrived_q, self.scan_q);
        (probe.id_q, probe.count_q) = ([0; MAX_WARPS], [0; MAX_WARPS]);
        for w in set_bits(self.arrived_q) {
            (probe.id_q[w], probe.count_q[w]) = (self.id_q[w], self.count_q[w]);
        }
    }
}

#[cfg(test)]
mod tests;

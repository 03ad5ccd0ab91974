//! `mrf_allocator`: allocates collectors and selects those that dispatch. `docs/blocks/mrf_allocator.md`.

use crate::mrf::bits::{collectors_with, lowest, oldest, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS, MrfShape};
use crate::{Block, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`MrfAllocator`].
    pub struct MrfAllocatorIn(s: &MrfShape) {
        /// Collector c holds an instruction.
        busy_i: u16 = field(s.collectors),
        /// Collector c has all its operands.
        complete_i: u16 = field(s.collectors),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.issue_ports),
        /// Warp of the instruction offered on port p.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Warp of each collector.
        col_warp_i: [u8; MAX_COLLECTORS] = field(WARP_BITS).count(s.collectors).valid_by("busy_i"),
        /// The instruction offered on dispatch port p is taken.
        dispatch_ready_i: u8 = field(s.issue_ports),
    }
}

ports! {
    /// Outputs of [`MrfAllocator`].
    pub struct MrfAllocatorOut(s: &MrfShape) {
        /// Collector c takes an instruction at this edge.
        alloc_valid_o: u16 = field(s.collectors),
        /// Bit c: port whose instruction collector c takes; 0 where `alloc_valid_o[c]` is 0.
        alloc_port_o: u16 = field(s.collectors),
        /// Bit d of element c: d holds an older instruction than c.
        older_o: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors).early().shows("older_q"),
        /// Collector c is freed at this edge.
        free_o: u16 = field(s.collectors),
        /// At least p + 1 collectors are free.
        issue_ready_o: u8 = field(s.issue_ports),
        /// Port p offers an instruction.
        dispatch_valid_o: u8 = field(s.issue_ports),
        /// Collector of the instruction that port p offers.
        dispatch_col_o: [u8; MAX_PORTS] = field(s.col_w()).count(s.issue_ports).valid_by("dispatch_valid_o"),
    }
}

ports! {
    /// State of [`MrfAllocator`] that no output shows.
    pub struct MrfAllocatorProbe(s: &MrfShape) {
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors),
    }
}

/// The collector chosen for each port: a set with at most one member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice([u16; MAX_PORTS]);

impl Choice {
    /// The ports with a collector.
    #[inline]
    pub(crate) fn ports(&self) -> u8 {
        u8::from(self.0[0] != 0) | u8::from(self.0[1] != 0) << 1
    }

    /// The chosen collectors of all ports.
    #[inline]
    pub(crate) fn all(&self) -> u16 {
        self.0[0] | self.0[1]
    }

    /// The chosen collector of port 1, as a set.
    #[inline]
    pub(crate) fn second(&self) -> u16 {
        self.0[1]
    }

    /// The number of the collector of port `p`, which must have one.
    #[inline]
    pub(crate) fn of(&self, p: usize) -> usize {
        debug_assert_ne!(self.0[p], 0);
        self.0[p].trailing_zeros() as usize % MAX_COLLECTORS
    }

    /// The same choice, restricted to the ports in `ports`.
    #[inline]
    pub(crate) fn only(&self, ports: u8) -> Self {
        let keep = |p: usize| u16::from(ports >> p & 1).wrapping_neg();
        Self([self.0[0] & keep(0), self.0[1] & keep(1)])
    }
}

/// Allocates free collectors to the issue ports, records which instructions are older, and selects those to dispatch.
#[derive(Clone)]
pub struct MrfAllocator {
    /// All ports, then all collectors, as masks.
    ports: u8,
    collectors: u16,
    older_q: [u16; MAX_COLLECTORS],
    same_warp_q: [u16; MAX_COLLECTORS],
}

impl MrfAllocator {
    /// Bit d of element c: d holds an older instruction than c.
    #[inline]
    pub(crate) fn older(&self) -> &[u16; MAX_COLLECTORS] {
        &self.older_q
    }

    /// Bit d of element c: d is older than c and of the same warp.
    pub(crate) fn same_warp(&self) -> &[u16; MAX_COLLECTORS] {
        &self.same_warp_q
    }

    /// The collector that each issue port would fill.
    #[inline]
    pub(crate) fn free_collectors(&self, busy: u16) -> Choice {
        let free = self.collectors & !busy;
        let first = lowest(free);
        Choice([first, lowest(free & !first)]).only(self.ports)
    }

    /// The collector that each dispatch port offers: the oldest complete ones that follow no older one of their warp.
    #[inline]
    pub(crate) fn offers(&self, complete: u16) -> Choice {
        let eligible = set_bits(complete).fold(0, |set, c| set | u16::from(self.same_warp_q[c] == 0) << c);
        let first = match eligible & eligible.wrapping_sub(1) {
            0 => eligible,
            _ => lowest(oldest(eligible, &self.older_q)),
        };
        let second = match self.ports {
            0b01 => 0,
            _ => lowest(oldest(eligible & !first, &self.older_q)),
        };
        Choice([first, second])
    }

    /// The clock edge: collectors that are filled from each port, and collectors that are freed.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        busy: u16,
        filled: Choice,
        free: u16,
        issue_warp: &[u8; MAX_PORTS],
        col_warp: &[u8; MAX_COLLECTORS],
    ) {
        if free != 0 {
            self.older_q.iter_mut().for_each(|older| *older &= !free);
            self.same_warp_q.iter_mut().for_each(|older| *older &= !free);
        }
        let staying = busy & !free;
        for p in set_bits(filled.ports()) {
            let c = filled.of(p);
            let warp = issue_warp[p];
            // Port 0 is older than port 1.
            let first = if p == 1 { filled.only(0b01).all() } else { 0 };
            self.older_q[c] = staying | first;
            self.same_warp_q[c] = staying & collectors_with(col_warp, warp);
            if warp == issue_warp[0] {
                self.same_warp_q[c] |= first;
            }
        }
        for c in set_bits(free) {
            (self.older_q[c], self.same_warp_q[c]) = (0, 0);
        }
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        self.older_q = [0; MAX_COLLECTORS];
        self.same_warp_q = [0; MAX_COLLECTORS];
    }
}

impl Block for MrfAllocator {
    const NAME: &'static str = "mrf_allocator";
    const PARAMETERS: &'static [&'static str] = &["Collectors", "IssuePorts"];

    type Shape = MrfShape;
    type In = MrfAllocatorIn;
    type Out = MrfAllocatorOut;
    type Probe = MrfAllocatorProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            ports: u8::MAX >> (u8::BITS as usize - shape.issue_ports),
            collectors: u16::MAX >> (MAX_COLLECTORS - shape.collectors),
            older_q: [0; MAX_COLLECTORS],
            same_warp_q: [0; MAX_COLLECTORS],
        }
    }

    fn early(&self, out: &mut MrfAllocatorOut) {
        out.older_o = self.older_q;
    }

    fn late(&mut self, inputs: &MrfAllocatorIn, out: &mut MrfAllocatorOut) {
        let free = self.free_collectors(inputs.busy_i);
        let filled = free.only(inputs.issue_valid_i);
        out.issue_ready_o = free.ports();
        out.alloc_valid_o = filled.all();
        out.alloc_port_o = filled.second();
        let offers = self.offers(inputs.complete_i);
        out.dispatch_valid_o = offers.ports();
        out.dispatch_col_o = [0; MAX_PORTS];
        for p in set_bits(offers.ports()) {
            out.dispatch_col_o[p] = offers.of(p) as u8;
        }
        out.free_o = offers.only(inputs.dispatch_ready_i).all();
    }

    fn clock(&mut self, inputs: &MrfAllocatorIn, out: &MrfAllocatorOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let filled = self.free_collectors(inputs.busy_i).only(inputs.issue_valid_i);
        self.advance(inputs.busy_i, filled, out.free_o, &inputs.issue_warp_i, &inputs.col_warp_i);
    }

    fn probe(&self, _: &MrfAllocatorIn, _: &MrfAllocatorOut, probe: &mut MrfAllocatorProbe) {
        probe.same_warp_q = self.same_warp_q;
    }
}

#[cfg(test)]
mod tests;
